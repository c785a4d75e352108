# SPDX-License-Identifier: Apache-2.0
"""A running Prometheus, for the judges of this folder."""
import json
import re
import socket
import subprocess
import tempfile
import time
import urllib.parse
import urllib.request

from checks import MONITORING, read

SOON = 120


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def becomes(condition):
    end = time.monotonic() + SOON
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


def quick_rules():
    """The rules without waiting times: alerts fire and end at once."""
    return re.sub(r"^( +(?:(?:keep_firing_)?for|interval):) .*$", r"\1 1s", read(MONITORING, "rules.yaml"), flags=re.M)


class Prometheus:
    """Scrapes the targets in a job's file every second, and evaluates these rules."""

    def __init__(self, program, jobs, rules):
        self.program, self.temp, self.port = program, tempfile.TemporaryDirectory(), free_port()
        self.folder = self.temp.name
        self.put("rules.yaml", rules)
        for job in jobs:
            self.set_targets(job, {})
        self.put("prometheus.yml", json.dumps({
            "global": {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"}, "rule_files": [self.folder + "/rules.yaml"],
            "scrape_configs": [{"job_name": job, "file_sd_configs": [{"files": [f"{self.folder}/{job}.json"], "refresh_interval": "1s"}]} for job in jobs]}))

    def put(self, name, text):
        with open(f"{self.folder}/{name}", "w", encoding="utf-8") as f:
            f.write(text)

    def set_targets(self, job, addresses, **clusters):
        """addresses: {instance: host and port}; clusters: of instances that have one"""
        def labels(name):
            return {"instance": name, **({"cluster": clusters[name]} if name in clusters else {})}
        self.put(job + ".json", json.dumps([{"targets": [address], "labels": labels(name)} for name, address in addresses.items()]))

    def __enter__(self):
        self.log = open(self.folder + "/log", "wb")
        self.process = subprocess.Popen([self.program, "--config.file", self.folder + "/prometheus.yml", "--storage.tsdb.path", self.folder + "/data",
                                         "--web.listen-address", f"127.0.0.1:{self.port}"], stdout=self.log, stderr=self.log)
        return self

    def __exit__(self, *what):
        self.process.terminate()
        self.process.wait()
        self.log.close()
        self.temp.cleanup()

    def ask(self, expression):
        """The result of an expression; None: it does not answer."""
        url = f"http://127.0.0.1:{self.port}/api/v1/query?" + urllib.parse.urlencode({"query": expression})
        try:
            with urllib.request.urlopen(url, timeout=SOON) as answer:
                return json.load(answer)["data"]["result"]
        except urllib.error.HTTPError as e:
            if e.code == 503:  # it is still starting
                return None
            raise SystemExit(f"{expression}: {json.load(e)['error']}") from e
        except OSError:
            return None
