#!/usr/bin/python3
"""Short pieces of scenarios, for the lab's NIC to play: ten seconds before the fault begins, and half a minute of it.

  pieces.py FOLDER    writes FOLDER/ROUND/NAME.jsonl: what stands in one round is played at the same time, each piece on ports of its own

What no NIC without queue pairs and pods can show is taken out of them, and how long links are left alone is shorter.
"""
import json
import os
import sys

import causes
import mistakes
from stories import busy
from world import Port, Scenario, packets

BEFORE, AFTER = 10, 26
FAULT = 60  # where scenarios begin theirs
THRESHOLDS = {"settle_seconds": 3}
PCIE = {"width": 16, "max_width": 16, "gt_s": 32, "max_gt_s": 32}
# The port that every round has beside its pieces, with the highest number: how the others step hangs on it (tests/lab/module/lab_script.h).
HEALTHY = "healthy"

N = packets(20e9)
HALF = (12e9, 1e9)


def bnxt():
    return Port(driver="bnxt_re")


def healthy():
    return causes.simple(HEALTHY, causes.rates(), seconds=FAULT + AFTER)


def of_bnxt():
    """What causes.py has of mlx5 alone."""
    return [
        causes.simple("bnxt-loss", causes.rates(nak=1e-3 * N, timeouts=4), port=bnxt()),
        causes.simple("bnxt-slow-receiver", causes.paused("sent", 0.3), traffic=HALF, port=bnxt()),
        causes.simple("bnxt-storm-victim", causes.paused("received", 1), traffic=(20e9, 0), jitter=0, port=bnxt()),
        causes.simple("bnxt-nic-cache", lambda p, t, on: (causes.paused("sent", 0.2)(p, t, on), p.gauge.update(qps=40000, mrs=100)), traffic=HALF, port=bnxt()),
        causes.simple("bnxt-marks-below", causes.rates(ce=0.008 * N, cnp_sent=8e3), port=bnxt()),
    ]


def switched_off():
    """PFC of one port of three is switched off while all run."""
    ports = [Port(f"mlx5_{i}") for i in range(3)]

    def behave(t):
        for port in ports:
            busy(port, 10e9, causes.IDLE)
        if t == FAULT:
            ports[0].extra = {"settings": {**ports[0].identity["settings"], "pfc": []}}

    return [Scenario("pfc-switched-off", ports).run(FAULT + AFTER, behave)]


# Which maker has them, and which pieces are played at a time. Settings of one port are held against those of its siblings: of the ports of a
# round only one may stand out.
MAKERS = (causes.fabric_congestion, causes.slow_receiver, causes.slow_receiver_variants, causes.storms, causes.paused_by_network, causes.congestion_control,
          causes.settings, causes.global_pause, causes.links, causes.bad_link, causes.loss, causes.neighbours, causes.applications, causes.trust,
          mistakes.mistake_16_backwards, of_bnxt, switched_off)
ROUNDS = {
    "congestion": ("fabric-congestion-warning", "fabric-congestion-critical", "fabric-congestion-below", "slow-receiver-warning", "slow-receiver-drops",
                   "slow-receiver-one-pause", "pcie-stalled", "pcie-whole-seconds", "storm-source-moving", "storm-victim"),
    "loss": ("loss-warning", "loss-critical", "loss-below", "storm-source-10s", "global-pause-received", "paused-dcqcn", "np-off", "rp-off", "link-down-3s",
             "bad-link-critical"),
    "settings": ("priority-all-wrong", "pfc-peer", "pcie-narrow", "stuck-devlink", "stuck-unreachable", "stuck-counters", "mistake-16-all-reset",
                 "neighbour-noisy", "not-ready-sent", "wrong-key"),
    "bnxt": ("fabric-congestion-bnxt", "bnxt-loss", "bnxt-slow-receiver", "bnxt-storm-victim", "bnxt-nic-cache", "bnxt-marks-below",
             "pfc-switched-off", "contradiction-cnp"),
}


def scenarios():
    made = {}
    for maker in MAKERS:
        made.update({s.name: s for s in maker()})
    return made


def as_the_nic_has_it(port, names):
    """A port of the header: who counts its bytes, a PCIe link that can carry them, and nothing of queue pairs and pods."""
    port = {k: v for k, v in port.items() if k not in ("pods", "qps")}
    if port.get("settings"):
        port["settings"] = {"pcie": PCIE, **port["settings"]}
    return {**port, "device": names[port["device"]], "bytes_source": "ethtool" if port["driver"] == "mlx5" else "netlink"}


def piece(scenario, names):
    """The file's text, with its ports under other names."""
    header = {k: v for k, v in scenario.header.items() if k not in ("expect", "judge")}
    header.update(thresholds=THRESHOLDS, ports=[as_the_nic_has_it(p.header(), names) for p in scenario.ports])
    lines = [line for line in map(json.loads, scenario.lines) if FAULT - BEFORE <= round(line["t"]) <= FAULT + AFTER]
    start = lines[0]["t"]
    for line in lines:
        line.update(t=round(line["t"] - start, 4), device=names[line["device"]])
    return "\n".join(map(json.dumps, [header] + lines)) + "\n"


def write_round(folder, names, made):
    os.makedirs(folder)
    number = 0
    for name in (*names, HEALTHY):
        devices = {}
        for port in made[name].ports:
            kind = "bnxt_re" if port.driver == "bnxt_re" else "mlx5_"
            devices[port.device] = f"{kind}{number}"
            number += 1
        with open(os.path.join(folder, f"{name}.jsonl"), "w", encoding="utf-8") as file:
            file.write(piece(made[name], devices))


def main():
    made = {**scenarios(), HEALTHY: healthy()}
    for name, names in ROUNDS.items():
        write_round(os.path.join(sys.argv[1], name), names, made)


if __name__ == "__main__":
    main()
