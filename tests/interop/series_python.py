#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Judges how many series a node has: the budget of docs/reference/metrics.md, on a node with 8 PFs and 128 VFs, idle and at work, as text and as
OpenMetrics.

  series_python.py DAEMON MK_SYSFS

run: {build}/rocelet {build}/bench/mk_sysfs
proves: daemon/metrics docs/reference/metrics.md
when: turns
"""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../lib")]
import daemon_python  # noqa: E402
from daemon_python import Daemon, write  # noqa: E402
from kubelet_python import equal, eventually  # noqa: E402
from run_checks import run_checks  # noqa: E402

checks = []
PFS, VFS = 8, 128
with open(os.path.join(HERE, "../../docs/reference/metrics.md"), encoding="utf-8") as f:
    DOC = " ".join(f.read().split())
IDLE, BUSY = (int(number.replace(",", "")) for number in re.search(r"at most ([\d,]+) series if all VFs are idle, or ([\d,]+) ", DOC).groups())


def check(function):
    checks.append(function)
    return function


def make(dir, **environment):
    subprocess.run([daemon_python.programs["mk_sysfs"], dir + "/sys", str(PFS), str(VFS), "upstream"], env=dict(os.environ, BUS="1", **environment), check=True,
                   stdout=subprocess.DEVNULL)


class Large(Daemon):
    @staticmethod
    def make(dir):
        make(dir)
        for i in range(PFS + VFS):
            write(f"{dir}/dev/infiniband/uverbs{i}")
        write(dir + "/dev/infiniband/rdma_cm")

    def series(self, accept=""):
        if not self.connection:
            eventually("rocelet.sock listens", self.connect)
        self.connection.request("GET", "/metrics", headers={"Accept": accept} if accept else {})
        answer = self.connection.getresponse()
        text = answer.read().decode()
        return [line for line in text.splitlines() if line and not line.startswith("#")] if answer.status == 200 else []


def devices(series, family):
    return {re.search(r'device="(.*?)"', line)[1] for line in series if line.startswith(family + "{")}


POOL = {"resourceName": "roce", "selectors": {"isRdma": True}}
FLAGS = ["--sample-interval", "0.5", "--state-dir", "/dev/null/none"]


@check
def the_budget():
    assert BUSY <= 4000, BUSY
    with Large(pools=[POOL], flags=FLAGS) as node:
        eventually("a page of all PFs", lambda: len(devices(node.series(), "roce_port_state")) == PFS)
        for accept in ("", "application/openmetrics-text"):
            n = len(node.series(accept))
            assert 300 < n <= IDLE, f"{n} series, not {IDLE}"
        equal(devices(node.series(), "roce_sequence_nak_received_total"), {f"mlx5_{i}" for i in range(PFS)})
        # Every counter of every VF rises: none is idle any more.
        make(node.dir, TICK="7")
        eventually("all of them", lambda: len(devices(node.series(), "roce_sequence_nak_received_total")) == PFS + VFS)
        for accept in ("", "application/openmetrics-text"):
            # With all faults on all ports at once, every port has a verdict at some time.
            series = node.series(accept)
            verdicts, onsets = (sum(line.startswith(family + "{") for line in series) for family in ("roce_diagnosis", "roce_diagnosis_onset_timestamp_seconds"))
            equal(onsets, verdicts)
            n = len(series) - verdicts - onsets - sum(line.startswith("roce_diagnosis_pod_info{") for line in series)
            assert 2000 < n <= BUSY, f"{n} series and {verdicts} verdicts, not {BUSY}"
        equal(len(devices(node.series(), "roce_port_info")), PFS + VFS)


@check
def all_of_them_on_demand():
    with Large(pools=[POOL], flags=[*FLAGS, "--all-series"]) as node:
        eventually("a page of all ports", lambda: len(devices(node.series(), "roce_port_state")) == PFS + VFS)
        series = node.series()
        assert len(series) > 5000, len(series)
        equal(len(devices(series, "roce_slow_restarts_total")), PFS + VFS)
        eventually("the health of each", lambda: sum(line.startswith("rocelet_device_healthy{") for line in node.series()) >= VFS)


@check
def node_exporters_names_are_all_there():
    with Large(pools=[POOL], flags=[*FLAGS, "--compat", "node_exporter"]) as node:
        eventually("of idle VFs, too", lambda: len(devices(node.series(), "node_infiniband_info")) == PFS + VFS)


if __name__ == "__main__":
    daemon_python.programs["daemon"], daemon_python.programs["mk_sysfs"] = sys.argv[1:3]
    sys.exit(run_checks(checks, sys.argv[3:]))
