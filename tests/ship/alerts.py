#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Judges alerts in a real Prometheus that scrapes real daemons. About rocelet itself: none runs, all run, one is killed, one hangs, their targets are
removed. About a cable: a PF and its VF lose their link.

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
import time

from checks import TOP, check, end
from live_prometheus import Prometheus, becomes, free_port, quick_rules

sys.path[:0] = [os.path.join(TOP, "tests/interop"), os.path.join(TOP, "tests/lib")]
import daemon_python  # noqa: E402
import diagnosis_python  # noqa: E402

UNSEEN = "cluster:rocelet_unseen_nodes:count"
daemon_python.programs["daemon"], daemon_python.programs["mk_sysfs"] = sys.argv[1:3]


def firing(prometheus):
    """{(alert, node)} of those that speak of rocelet's own absence; None: it does not answer."""
    found = prometheus.ask('ALERTS{alertstate="firing", alertname=~"Rocelet((All)?Down|TargetMissing)"}')
    return None if found is None else {(f["metric"]["alertname"], f["metric"].get("node", "")) for f in found}


def cut(prometheus, node):
    """The links of a PF and of its VF go down: one cable, one alert of each kind."""
    def of_links():
        found = prometheus.ask('ALERTS{alertstate="firing", alertname=~"RoceletLink.*|RoceletDiagnosis.*"}') or []
        return {(f["metric"]["alertname"], f["metric"]["node"], f["metric"]["device"]) for f in found}
    for device in diagnosis_python.PF, diagnosis_python.VF:
        node.story(device).play(diagnosis_python.TRAFFIC)
    vf = f'function:roce_vf_info:pf{{instance="hung", device="{diagnosis_python.VF}", pf="{diagnosis_python.PF}"}}'
    check("a VF is known as one of its PF", "" if becomes(lambda: prometheus.ask(vf)) else str(prometheus.ask("function:roce_vf_info:pf")))
    in_use = f'port:roce_received:utilisation5m{{instance="hung", pf="{diagnosis_python.PF}"}} > 0.001'
    check("its port is in use", "" if becomes(lambda: prometheus.ask(in_use)) else str(prometheus.ask("port:roce_received:utilisation5m")))
    check("while links are up, none alerts", *(str(alert) for alert in of_links()))
    for device in diagnosis_python.PF, diagnosis_python.VF:
        node.stories[device].play()
        node.stories[device].state("1: DOWN", "3: Disabled")
    for netdev in "ens1np0", "ens1v0":
        node.link(netdev, False)
    wanted = {(alert, "hung", diagnosis_python.PF) for alert in ("RoceletLinkFlap", "RoceletLinkDown")}
    becomes(lambda: of_links() >= wanted)
    time.sleep(3)  # a VF's verdict comes a sample later
    check("a cable that is cut is one alert of each kind", "" if of_links() == wanted else f"{of_links()} fire")


def fire(prometheus, what, unseen, *wanted):
    good = becomes(lambda: firing(prometheus) == set(wanted))
    check(what, "" if good else f"{firing(prometheus)} fire")
    value = [None]

    def counted():
        found = prometheus.ask(UNSEEN)
        value[0] = found and int(found[0]["value"][1])
        return value[0] == unseen
    if unseen is not None:
        check(f"  {unseen} nodes are unseen", "" if becomes(counted) else f"the count is {value[0]}")


ALL, KILLED, HUNG = ("RoceletAllDown", ""), ("RoceletDown", "killed"), ("RoceletDown", "hung")
MISSING = [("RoceletTargetMissing", name) for name in ("killed", "hung")]
addresses = {name: f"127.0.0.1:{free_port()}" for name in ("killed", "hung")}
with contextlib.ExitStack() as stack:
    prometheus = stack.enter_context(Prometheus(sys.argv[3], ["rocelet"], quick_rules()))
    fire(prometheus, "no target at all is an outage", None, ALL)
    nodes = {name: stack.enter_context(diagnosis_python.Node(flags=["--listen", address])) for name, address in addresses.items()}
    prometheus.set_targets("rocelet", addresses)
    fire(prometheus, "two that answer end it", 0)
    cut(prometheus, nodes["hung"])
    nodes["killed"].process.kill()
    nodes["killed"].process.wait()
    fire(prometheus, "one that was killed is down, and no outage", 1, KILLED)
    nodes["hung"].process.send_signal(signal.SIGSTOP)
    fire(prometheus, "with one that hangs no target answers", 2, KILLED, HUNG, ALL)
    nodes["hung"].process.send_signal(signal.SIGCONT)
    fire(prometheus, "one that answers again ends the outage", 1, KILLED)
    prometheus.set_targets("rocelet", {"hung": addresses["hung"]})
    fire(prometheus, "a target that is gone is not down, but missing and unseen", 1, MISSING[0])
    prometheus.set_targets("rocelet", {})
    fire(prometheus, "targets that are all gone are an outage, and each is missing", 2, ALL, *MISSING)
    nodes["killed"].process.returncode = 0  # killed by us: its end was no failure
end()
