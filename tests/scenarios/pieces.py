#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Short pieces of scenarios, for the lab's NIC to play: ten seconds before the fault begins, and half a minute of it.

  pieces.py FOLDER          writes FOLDER/ROUND/NAME.jsonl: the pieces of a round are played at the same time, each on ports of its own
  pieces.py FOLDER PAGE     more rounds, all-1, all-2 ..: every other scenario whose samples that NIC can show

Keys that a NIC without queue pairs and pods cannot show are removed, and the settling time of links is shorter. PAGE is docs/reference/metrics.md, which has
the drivers' counters.
"""
import json
import os
import sys

import causes
import healthy as hours  # noqa: F401
import imperfect
import mistakes
import stories  # noqa: F401
import world
from stories import busy
from world import Port, Scenario, packets

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lab/guest"))
from nic_vendors import Vendor, counters  # noqa: E402

BEFORE, AFTER = 10, 26
FAULT = 60  # the time at which scenarios begin theirs
THRESHOLDS = {"settle_seconds": 3}
PCIE = {"width": 16, "max_width": 16, "gt_s": 32, "max_gt_s": 32}
# The port that every round has beside its pieces, with the highest number: its reads step the others (tests/lab/module/lab_script.h).
HEALTHY = "healthy"

N = packets(20e9)
HALF = (12e9, 1e9)


def bnxt():
    return Port(driver="bnxt_re")


def healthy(cc):
    return causes.simple(HEALTHY, causes.rates(), seconds=FAULT + AFTER, cc=cc)


def of_bnxt():
    """Scenarios that causes.py has for mlx5 only."""
    return [
        causes.simple("bnxt-loss", causes.rates(nak=1e-3 * N, timeouts=4), port=bnxt()),
        causes.simple("bnxt-slow-receiver", causes.paused("sent", 0.3), traffic=HALF, port=bnxt()),
        causes.simple("bnxt-storm-victim", causes.paused("received", 1), traffic=(20e9, 0), jitter=0, port=bnxt()),
        causes.simple("bnxt-nic-cache", lambda p, t, on: (causes.paused("sent", 0.2)(p, t, on), p.gauge.update(qps=40000, mrs=100)), traffic=HALF, port=bnxt()),
        causes.simple("bnxt-marks-below", causes.rates(ce=0.008 * N, cnp_sent=8e3), port=bnxt()),
    ]


def switched_off():
    """PFC of one of three ports is switched off while all have traffic."""
    ports = [Port(f"mlx5_{i}") for i in range(3)]

    def behave(t):
        for port in ports:
            busy(port, 10e9, causes.IDLE)
        if t == FAULT:
            ports[0].extra = {"settings": {**ports[0].identity["settings"], "pfc": []}}

    return [Scenario("pfc-switched-off", ports).run(FAULT + AFTER, behave)]


# Rounds: the makers of their scenarios, and the pieces that are played at a time. A port's settings are compared with those of its siblings: of the ports of a
# round only one may differ.
MAKERS = (causes.fabric_congestion, causes.slow_receiver, causes.slow_receiver_variants, causes.storms, causes.paused_by_network, causes.congestion_control,
          causes.settings, causes.global_pause, causes.links, causes.bad_link, causes.loss, causes.neighbours, causes.applications, causes.trust,
          mistakes.mistake_16_backwards, of_bnxt, switched_off, imperfect.on_a_nic)
ROUNDS = {
    "congestion": ("fabric-congestion-warning", "fabric-congestion-critical", "fabric-congestion-below", "slow-receiver-warning", "slow-receiver-drops",
                   "slow-receiver-one-pause", "pcie-stalled", "pcie-whole-seconds", "storm-source-moving", "storm-victim"),
    "loss": ("loss-warning", "loss-critical", "loss-below", "storm-source-10s", "global-pause-received", "paused-dcqcn", "np-off", "rp-off", "link-down-3s",
             "bad-link-critical"),
    "settings": ("priority-all-wrong", "pfc-peer", "pcie-narrow", "stuck-devlink", "stuck-unreachable", "stuck-counters", "mistake-16-all-reset",
                 "neighbour-noisy", "not-ready-sent", "wrong-key"),
    "bnxt": ("fabric-congestion-bnxt", "bnxt-loss", "bnxt-slow-receiver", "bnxt-storm-victim", "bnxt-nic-cache", "bnxt-marks-below",
             "pfc-switched-off", "contradiction-cnp"),
    "imperfect": ("live-failed", "live-failed-and-lossy", "live-zeros", "live-zeros-and-lossy", "live-vanished", "live-vanished-and-lossy"),
}


def scenarios():
    made = {}
    for maker in MAKERS:
        made.update({s.name: s for s in maker()})
    return made


# --- all others -------------------------------------------------------------------------------

# The functions of the lab's NIC (tests/lab/guest/nic_player.py): physical ones, one of them for the healthy port, and virtual ones of each.
PFS, VFS = 11, 7
NETDEV_DRIVERS = {"mlx5": "mlx5_core", "bnxt_re": "bnxt_en"}
# Keys of ports and samples that it can show; those of queue pairs, pods and the wall clock are removed.
PORT_AS_MADE = {"state": 4, "mtu_bytes": 4096, "settings": {"pfc": [3]}}
PORT_CAN_SAY = {"device", "port", "driver", "function", "parent", "rate_bytes_per_second", "mtu_bytes", "bytes_source", "state", "settings", "management",
                "pods", "qps"}
CAN_CHANGE = {"t", "device", "port", "values", "state", "health"}
TAKEN_OUT = {"qps", "pods", "wall"}
HEALTH = {"devlink_error", "unreachable"}


def with_values(lines):
    """The lines without removed keys."""
    return [{k: v for k, v in line.items() if k not in TAKEN_OUT} for line in lines]


def port_can_be_played(port):
    has = port.header()
    as_made = all(has.get(k) == v for k, v in PORT_AS_MADE.items() if k != "settings" or not has.get("parent"))  # VFs have none
    return port.driver in NETDEV_DRIVERS and as_made and {k for k, v in has.items() if v} <= PORT_CAN_SAY


def line_can_be_played(line, vendor):
    values = {k: v for k, v in line.get("values", {}).items() if k not in ("roce_port_state", "roce_port_rate_bytes_per_second")}
    return set(line) <= CAN_CHANGE and set(line.get("health", {})) <= HEALTH and not counters(vendor, values)[1]


def can_be_played(scenario, vendors):
    """True if all of its ports have all samples, one a second, with the same counters, and nothing that this NIC cannot show."""
    lines = with_values(window(scenario))
    if scenario.interval != 1 or scenario.header.get("thresholds") or not all(port_can_be_played(p) for p in scenario.ports):
        return False
    for port in scenario.ports:
        own = [line for line in lines if line.get("device") == port.device]
        if len(own) != BEFORE + AFTER + 1 or len(lines) != len(own) * len(scenario.ports) or any(set(o["values"]) != set(own[0]["values"]) for o in own):
            return False
        if set(own[0]) & {"state", "health"} or not all(line_can_be_played(line, vendors[port.driver]) for line in own):
            return False
    return True


def functions_of(scenario):
    """The number of physical functions that it needs; None: it needs more virtual ones than those have."""
    parents = [p.header().get("parent") for p in scenario.ports]
    return parents.count(None) if all(parents.count(p) <= VFS for p in parents if p) else None


def all_rounds(page):
    """(name, congestion control, scenarios) of rounds, filled as far as possible."""
    vendors = {rdma: Vendor(page, rdma, netdev) for rdma, netdev in NETDEV_DRIVERS.items()}
    named = {name for names in ROUNDS.values() for name in names}
    rounds, left_out = {}, []
    for maker in world.ALL:
        result = maker()
        for s in result if isinstance(result, list) else [result]:
            if s.name in named:
                continue
            if isinstance(s, Scenario) and functions_of(s) and can_be_played(s, vendors):
                add_to_round(rounds.setdefault(s.header["expect_congestion_control"], [[]]), s)
            else:
                left_out.append(s.name)
    number = 0
    for cc, of_cc in rounds.items():
        for scenarios_of_round in of_cc:
            number += 1
            yield f"all-{number}", cc, scenarios_of_round
    print(f"# {len(left_out)} scenarios need what the lab's NIC cannot show: {' '.join(left_out)}")


def add_to_round(rounds, scenario):
    if sum(map(functions_of, rounds[-1])) + functions_of(scenario) > PFS:
        rounds.append([])
    rounds[-1].append(scenario)


# --- files ------------------------------------------------------------------------------------


def as_the_nic_has_it(port, names):
    """A port of the header: the source of its bytes, a PCIe link that can carry them, and no queue pairs and pods."""
    port = {k: v for k, v in port.items() if k not in ("pods", "qps")}
    if port.get("settings"):
        port["settings"] = {"pcie": PCIE, **port["settings"]}
    return {**port, "device": names[port["device"]], "bytes_source": "ethtool" if port["driver"] == "mlx5" else "netlink"}


def begins(scenario):
    """The expected onset of the first verdict, otherwise the time of faults; faults from the start stay at the start."""
    wanted = scenario.header["expect"]
    onsets = [sum(w["onset"]) / 2 for w in wanted] if isinstance(wanted, list) else []
    first = min(onsets, default=FAULT)
    return round(first) if first > BEFORE else FAULT


def window(scenario):
    fault = begins(scenario)
    return [line for line in map(json.loads, scenario.lines) if fault - BEFORE <= round(line["t"]) <= fault + AFTER]


def piece(scenario, names):
    """The file's text, with its ports renamed."""
    header = {k: v for k, v in scenario.header.items() if k not in ("expect", "judge")}
    header.update(thresholds=THRESHOLDS, ports=[as_the_nic_has_it(p.header(), names) for p in scenario.ports])
    lines = with_values(window(scenario))
    start = lines[0]["t"]
    for line in lines:
        line.update(t=round(line["t"] - start, 4), device=names[line["device"]])
    return "\n".join(map(json.dumps, [header] + lines)) + "\n"


def write_round(folder, played):
    """The last scenario is the healthy one."""
    os.makedirs(folder)
    number = 0
    for scenario in played:
        devices = {}
        for port in scenario.ports:
            kind = "bnxt_re" if port.driver == "bnxt_re" else "mlx5_"
            devices[port.device] = f"{kind}{number}"
            number += 1
        with open(os.path.join(folder, f"{scenario.name}.jsonl"), "w", encoding="utf-8") as file:
            file.write(piece(scenario, devices))


def main():
    folder, *page = sys.argv[1:]
    if page:
        with open(page[0], encoding="utf-8") as file:
            rounds = [(name, played, cc) for name, cc, played in all_rounds(file.read())]
    else:
        made = scenarios()
        rounds = [(name, [made[n] for n in names], "dcqcn") for name, names in ROUNDS.items()]
    for name, played, cc in rounds:
        write_round(os.path.join(folder, name), played + [healthy(cc)])


if __name__ == "__main__":
    main()
