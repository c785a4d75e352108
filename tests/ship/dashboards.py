#!/usr/bin/python3
"""Judges the dashboards in k8s/deploy/monitoring: that they are made of their source, and that each query finds something in a real Prometheus that
scrapes a rocelet whose counters move, and a page on which every family of docs/reference/metrics.md stands, since no one driver has them all.

  dashboards.py DAEMON MK_SYSFS PROMETHEUS

One line per check, "N passed, N failed" last.

run: {build}/rocelet {build}/bench/mk_sysfs {prometheus}/usr/bin/prometheus
proves: k8s/deploy/monitoring docs/reference/metrics.md
when: turns
"""
import glob
import http.server
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request

import yaml

from checks import MONITORING, TOP, check, end, read

sys.path[:0] = [os.path.join(TOP, "tests/interop"), os.path.join(TOP, "tests/lib")]
SOON = 120
VARIABLES = {"cluster": ".*", "instance": "made", "device": "made0", "port": "1", "namespace": "train", "pod": "a", "__rate_interval": "30s", "__range": "30s"}


DASHBOARDS = {os.path.basename(path): json.loads(read(path)) for path in sorted(glob.glob(MONITORING + "/dashboards/*.json"))}


def all_panels(dashboard):
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]


# --- as they stand --------------------------------------------------------------------------------

def made_of_their_source():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["/usr/bin/python3", MONITORING + "/dashboards.py", folder], check=True)
        made = {name: json.loads(read(folder, name)) for name in sorted(os.listdir(folder))}
    check("they are made of dashboards.yaml (make golden)", *([] if made == DASHBOARDS and len(made) == 4 else ["they are not"]))


def overlap(a, b):
    return a["x"] < b["x"] + b["w"] and b["x"] < a["x"] + a["w"] and a["y"] < b["y"] + b["h"] and b["y"] < a["y"] + a["h"]


def as_grafana_wants_them():
    headings = set(re.findall(r"^## (\w+)$", read("docs/runbook.md"), re.M))
    families = set(re.findall(r"^\| `(\w+)` \| ", read("docs/reference/metrics.md"), re.M))
    recorded = {rule.get("record") for group in yaml.safe_load(read(MONITORING, "rules.yaml"))["groups"] for rule in group["rules"]}
    check("each has a name of its own", *([] if len({d["uid"] for d in DASHBOARDS.values()}) == len(DASHBOARDS) else ["it has not"]))
    for name, dashboard in DASHBOARDS.items():
        problems, places = [], [panel["gridPos"] for panel in dashboard["panels"]]
        problems += [f"{a} and {b} overlap" for i, a in enumerate(places) for b in places[:i] if overlap(a, b)]
        problems += [f"{place} is not in 24 columns" for place in places if place["x"] + place["w"] > 24]
        problems += [] if len({panel["id"] for panel in dashboard["panels"]}) == len(places) else ["two panels with one id"]
        variables = {v["name"] for v in dashboard["templating"]["list"]}
        for panel in all_panels(dashboard):
            for query in panel["targets"]:
                used = set(re.findall(r"\$(\w+)", query["expr"])) - {"__rate_interval", "__range"}
                problems += [f"{panel['title']}: ${v} is chosen nowhere" for v in used - variables]
                bare = re.sub(r'"[^"]*"', "", query["expr"])
                names = set(re.findall(r"(?<![\w:])(?:roce|rocelet)_\w+", bare))
                problems += [f"{panel['title']}: no family {f}" for f in names if re.sub("_bucket$", "", f) not in families]
                problems += [f"{panel['title']}: no rule {r}" for r in set(re.findall(r"(?:port|cluster):\w+:\w+", bare)) - recorded]
                problems += [f"{panel['title']}: an average"] if re.search(r"\bavg\b", bare) else []
            problems += [f"{panel['title']}: {link['url']}" for link in panel["links"] if link["url"].partition("#")[2] not in headings]
        check(name, *problems)


# --- in Prometheus --------------------------------------------------------------------------------

# Where another value than 1 is needed for a query to find it; of the families that the recording rules stand on.
GAUGES = {"roce_port_state": 4, "roce_port_rate_bytes_per_second": 1e12, "rocelet_source_age_seconds": 1, "roce_diagnosis": 3}
INFO = {"link_layer": "Ethernet", "driver": "mlx5_core", "function": "pf", "parent": "", "pci": "0000:18:00.0", "netns": "", "kind": "qp"}


def labelled(name, column):
    """Each set of labels that a row of docs/reference/metrics.md describes: one for each value of one label, and the first of the others'."""
    described = dict(re.findall(r"`(\w+)`(?: \(([^)]*)\))?", column))
    described.pop("le", None)
    common = {"device": "made0", "port": "1"} if name.startswith("roce_") else {}
    common |= {"namespace": "train", "pod": "a", "container": "c"} if name.startswith("roce_") or "namespace" in described else {}
    first = {label: INFO.get(label, common.get(label, (values or "x").split(", ")[0])) for label, values in described.items()}
    sets = [{**common, **first}]
    for label, values in described.items():
        sets += [{**common, **first, label: value} for value in (values.split(", ")[1:] if values and label not in common else [])]
    return sets


def sample(name, labels, value):
    return f"{name}{{{','.join(f'{k}={json.dumps(v)}' for k, v in labels.items())}}} {value}\n"


def made_page(began):
    page, seconds = "", time.monotonic() - began
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| (.*?) \|", read("docs/reference/metrics.md"), re.M)
    for name, kind, column in {row[0]: row for row in rows}.values():
        for i, labels in enumerate(labelled(name, column)):
            grown = seconds * (0.3 if "seconds" in name else 1000 * (i + 1))
            if kind == "histogram":
                page += "".join(sample(name + "_bucket", {**labels, "le": le}, grown * share) for le, share in (("0.1", 0.5), ("1", 1), ("+Inf", 1)))
            else:
                page += sample(name, labels, grown if kind == "counter" else GAUGES.get(name, 1))
    return page.encode()


class MadePage(http.server.BaseHTTPRequestHandler):
    began = time.monotonic()

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.end_headers()
        self.wfile.write(made_page(self.began))

    def log_message(self, *args):
        pass


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def ask(port, expression):
    """What Prometheus finds; None: it does not answer."""
    url = f"http://127.0.0.1:{port}/api/v1/query?" + urllib.parse.urlencode({"query": expression})
    try:
        with urllib.request.urlopen(url, timeout=SOON) as answer:
            return json.load(answer)["data"]["result"]
    except urllib.error.HTTPError as e:
        if e.code == 503:  # it is still beginning
            return None
        raise SystemExit(f"{expression}: {json.load(e)['error']}") from e
    except OSError:
        return None


def becomes(condition):
    end = time.monotonic() + SOON
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


def set_in(expression, values):
    return re.sub(r"\$(\w+)", lambda m: values[m[1]], expression)


def find_something(daemon_path, mk_sysfs, prometheus):
    import daemon_python
    import diagnosis_python
    daemon_python.programs["daemon"], daemon_python.programs["mk_sysfs"] = daemon_path, mk_sysfs
    address = f"127.0.0.1:{free_port()}"
    made, port = http.server.ThreadingHTTPServer(("127.0.0.1", 0), MadePage), free_port()
    threading.Thread(target=made.serve_forever, daemon=True).start()
    with diagnosis_python.Node(flags=["--listen", address]) as node, tempfile.TemporaryDirectory() as folder:
        node.story(diagnosis_python.PF).play(diagnosis_python.TRAFFIC, diagnosis_python.MARKED)
        jobs = [{"job_name": name, "static_configs": [{"targets": [target], "labels": {"instance": name}}]}
                for name, target in (("made", f"127.0.0.1:{made.server_port}"), ("real", address))]
        with open(folder + "/prometheus.yml", "w", encoding="ascii") as f:
            json.dump({"global": {"scrape_interval": "1s", "evaluation_interval": "1s"}, "scrape_configs": jobs, "rule_files": [folder + "/rules.yaml"]}, f)
        with open(folder + "/rules.yaml", "w", encoding="utf-8") as f:
            f.write(read(MONITORING, "rules.yaml"))
        with open(folder + "/log", "wb") as log, subprocess.Popen([prometheus, "--config.file", folder + "/prometheus.yml", "--storage.tsdb.path", folder + "/data",
                                                                    "--web.listen-address", f"127.0.0.1:{port}"], stdout=log, stderr=log) as process:
            try:
                judge_queries(port)
            finally:
                process.terminate()
    made.shutdown()


def judge_queries(port):
    check("Prometheus scrapes both", *([] if becomes(lambda: len(ask(port, "up == 1") or []) == 2) else ["it does not"]))
    for name, dashboard in DASHBOARDS.items():
        for panel in all_panels(dashboard):
            for query in panel["targets"]:
                expression = set_in(query["expr"], VARIABLES)
                found = becomes(lambda e=expression: ask(port, e))
                check(f"{name}: {panel['title']}: {query['legendFormat']}", *([] if found else [expression]))
    # What the real one has moved, and said.
    real = {**VARIABLES, "instance": "real", "device": "mlx5_0"}
    for name, title in (("node.json", "Verdicts"), ("node.json", "Received, share of the line"), ("node.json", "Packets that arrive marked"),
                        ("port.json", "Marks and notifications"), ("port.json", "Against the line")):
        panel = next(p for p in all_panels(DASHBOARDS[name]) if p["title"] == title)
        expression = set_in(panel["targets"][0]["expr"], real)
        found = becomes(lambda e=expression: any(float(r["value"][1]) > 0 for r in ask(port, e) or []))
        check(f"of a real rocelet, {name}: {title}", *([] if found else [expression]))


made_of_their_source()
as_grafana_wants_them()
find_something(*sys.argv[1:4])
end()
