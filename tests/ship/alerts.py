#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Judges the alerts on rocelet itself in a real Prometheus that scrapes real daemons: none is there, all are well, one is killed, one hangs, their targets
are gone.

  alerts.py DAEMON MK_SYSFS PROMETHEUS

One line per check, "N passed, N failed" last.

run: {build}/rocelet {build}/bench/mk_sysfs {prometheus}/usr/bin/prometheus
proves: k8s/deploy/monitoring daemon/http
when: turns
"""
import contextlib
import os
import signal
import sys

from checks import TOP, check, end
from live_prometheus import Prometheus, becomes, free_port, quick_rules

sys.path[:0] = [os.path.join(TOP, "tests/interop"), os.path.join(TOP, "tests/lib")]
import daemon_python  # noqa: E402
import diagnosis_python  # noqa: E402

UNSEEN = "cluster:rocelet_unseen_nodes:count"
daemon_python.programs["daemon"], daemon_python.programs["mk_sysfs"] = sys.argv[1:3]


def firing(prometheus):
    """{(alert, node)} of those that speak of rocelet's own absence; None: it does not answer."""
    found = prometheus.ask('ALERTS{alertstate="firing", alertname=~"Rocelet(All)?Down"}')
    return None if found is None else {(f["metric"]["alertname"], f["metric"].get("node", "")) for f in found}


def fire(prometheus, what, unseen, *wanted):
    good = becomes(lambda: firing(prometheus) == set(wanted))
    check(what, "" if good else f"{firing(prometheus)} fire")
    value = [None]

    def counted():
        found = prometheus.ask(UNSEEN)
        value[0] = found and int(found[0]["value"][1])
        return value[0] == unseen
    if unseen is not None:
        check(f"  {unseen} nodes are unseen", "" if becomes(counted) else f"it says {value[0]}")


ALL, KILLED, HUNG = ("RoceletAllDown", ""), ("RoceletDown", "killed"), ("RoceletDown", "hung")
addresses = {name: f"127.0.0.1:{free_port()}" for name in ("killed", "hung")}
with contextlib.ExitStack() as stack:
    prometheus = stack.enter_context(Prometheus(sys.argv[3], ["rocelet"], quick_rules()))
    fire(prometheus, "no target at all is an outage", None, ALL)
    nodes = {name: stack.enter_context(diagnosis_python.Node(flags=["--listen", address])) for name, address in addresses.items()}
    prometheus.set_targets("rocelet", addresses)
    fire(prometheus, "two that answer end it", 0)
    nodes["killed"].process.kill()
    nodes["killed"].process.wait()
    fire(prometheus, "one that was killed is down, and no outage", 1, KILLED)
    nodes["hung"].process.send_signal(signal.SIGSTOP)
    fire(prometheus, "with one that hangs no target answers", 2, KILLED, HUNG, ALL)
    nodes["hung"].process.send_signal(signal.SIGCONT)
    fire(prometheus, "one that answers again ends the outage", 1, KILLED)
    prometheus.set_targets("rocelet", {"hung": addresses["hung"]})
    fire(prometheus, "a target that is gone is not down, and is unseen", 1)
    prometheus.set_targets("rocelet", {})
    fire(prometheus, "targets that are all gone are an outage", 2, ALL)
    nodes["killed"].process.returncode = 0  # killed by us: its end was no failure
end()
