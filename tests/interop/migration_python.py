#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Judges docs/start/migration.md: its examples "before" and "after" give the same resources with the same devices, and the queries find their series.

  migration_python.py DAEMON ROCECTL MK_SYSFS [CHECK...]

One line per check, "N passed, N failed" last.

run: {san}/rocelet {san}/rocectl {san}/bench/mk_sysfs
proves: daemon/config docs/start/migration.md daemon/metrics
when: turns
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../lib")]
from run_checks import run_checks  # noqa: E402
from suggest_python import SOON, equal, until  # noqa: E402

programs = {}
checks = []


def check(function):
    checks.append(function)
    return function


class Node:
    """Two PFs with two VFs each."""

    def __init__(self):
        self.temp = tempfile.TemporaryDirectory()
        self.dir = self.temp.name
        subprocess.run([programs["mk_sysfs"], self.dir + "/sys", "2", "4", "upstream"], env=dict(os.environ, BUS="1"), check=True, stdout=subprocess.DEVNULL)
        for folder in ("dev/infiniband", "proc", "kubelet/device-plugins"):
            os.makedirs(f"{self.dir}/{folder}")
        for name in [f"{kind}{i}" for kind in ("uverbs", "umad") for i in range(6)] + ["rdma_cm"]:
            with open(f"{self.dir}/dev/infiniband/{name}", "wb"):
                pass

    def command(self, text, *flags):
        with open(self.dir + "/c.json", "w", encoding="utf-8") as f:
            f.write(text)
        return [programs["daemon"], "--config", self.dir + "/c.json", *[f"--{name}-root={self.dir}/{place}" for name, place in
                                                                       (("sysfs", "sys"), ("dev", "dev"), ("proc", "proc"))], *flags]

    def check_config(self, text):
        done = subprocess.run(self.command(text, "--check-config"), capture_output=True, timeout=SOON, check=False)
        equal((done.returncode, done.stderr), (0, b""))
        return done.stdout.decode()


def section(title):
    with open(HERE + "/../../docs/start/migration.md", encoding="utf-8") as f:
        return f.read().split(f"\n## {title}\n")[1].split("\n## ")[0]


def same_devices(title, resource, count):
    before, after = re.findall(r"^```json\n(.*?)^```", section(title), re.M | re.S)
    assert "pools" in json.loads(after) and "pools" not in json.loads(before)
    node = Node()
    output = node.check_config(before)
    equal(node.check_config(after), output)
    assert f"\n{resource}: {count}" in output, output
    return node, before, after


@check
def sriov_network_device_plugin():
    same_devices("sriov-network-device-plugin, sriov-cni and rdma-cni", "example.com/roce_vf", "2 devices")


@check
def k8s_rdma_shared_dev_plugin():
    """The same devices, and --print-config shows the same pool."""
    node, *texts = same_devices("k8s-rdma-shared-dev-plugin", "rdma/hca_shared_devices_a", "63 slots, each on all of 2 HCAs")
    printed = []
    for text in texts:
        done = subprocess.run(node.command(text, "--print-config"), capture_output=True, timeout=SOON, check=True)
        printed.append(json.loads(done.stdout)["pools"])
    equal(printed[1], printed[0])


def page_of(node, wanted, *flags):
    """Returns the names of /metrics once it has all that are wanted; raises after a minute."""
    daemon = subprocess.Popen(node.command("{}", "--listen", "", "--run-dir", node.dir + "/run", "--state-dir", node.dir + "/state", "--kubelet-dir", node.dir + "/kubelet",
                                           "--sample-interval", "0.1", *flags), stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def names():
        done = subprocess.run(["curl", "-s", "--unix-socket", node.dir + "/run/rocelet.sock", "http://rocelet/metrics"], capture_output=True, timeout=SOON, check=False)
        return set(re.findall(r"^([a-z_]+)[{ ]", done.stdout.decode(), re.M))
    try:
        until(f"{wanted} on the page", lambda: wanted <= names())
        return names()
    finally:
        daemon.send_signal(signal.SIGTERM)
        equal(daemon.wait(SOON), 0)


@check
def node_exporter():
    rows = re.findall(r"^\| `(.*?)` \| `(.*?)` \|$", section("node_exporter's InfiniBand dashboards"), re.M)
    before, after = ({re.search(r"(?:node_infiniband|roce)_\w+", row[i])[0] for row in rows} for i in (0, 1))
    equal((len(before), len(after)), (7, 7))
    there = page_of(Node(), before | after, "--compat", "node_exporter")
    assert before <= there
    without = page_of(Node(), after)
    equal([name for name in without if name.startswith("node_infiniband")], [])


def main():
    programs["daemon"], programs["rocectl"], programs["mk_sysfs"] = (os.path.abspath(path) for path in sys.argv[1:4])
    sys.exit(run_checks(checks, sys.argv[4:]))


if __name__ == "__main__":
    main()
