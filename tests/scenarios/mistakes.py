# SPDX-License-Identifier: Apache-2.0
"""mistakes.py - mistakes of other monitors, by the numbers of the issue's list, as scenarios that must give the right result.

Not here, because no scenario can show them: 2 (a subscriber that fails) and 29 (windows against the interval) concern the daemon; test_latch and test_diagnosis
test 4, 14 and 22 (everything that opens can end) and 18 (clearing is visible).
"""
import json

from causes import hidden, links, once, rates, simple, with_keys  # noqa: F401
from stories import busy, set_down
from world import EVENTS, Port, Scenario, expected, line, scenario, series

FLAP = expected("link_flap", "critical", onset=(60, 62))


def flap_at(*times, seconds=3):
    def behave(p, t, _):
        down = any(at <= t < at + seconds for at in times)
        set_down(p, down)
        if down:
            busy(p)
        if t in times:
            p.once["link_down"] = 1
    return behave


@scenario
def mistake_01_once_per_boot():
    def dirty_and_flapping(p, t, on):
        rates(symbol_errors=100)(p, t, on)
        flap_at(100)(p, t, on)

    return [
        simple("mistake-01-three-onsets", flap_at(60, 260, 460), {**FLAP, "severity": "critical", "onsets": 3}, seconds=640),
        simple("mistake-01-up-clears-nothing-else", dirty_and_flapping, [
            expected("bad_link", "critical", open_at_end=True), expected("link_flap", "critical", onset=(100, 102))], seconds=300),
    ]


@scenario
def mistake_03_one_failed_read():
    def missing(*times):
        def behave(p, t, on):
            p.pause["sent"] = 0.3 if on else 0
            p.present = t not in times
        return behave

    slow = expected("slow_receiver", "critical")
    return [
        simple("mistake-03-two-reads", missing(100, 101), {**slow, "open_at_end": True}, traffic=(12e9, 1e9)),
        simple("mistake-03-three-reads", missing(*range(100, 300)), {**slow, "closed": (101, 104), "reason": "gone"}, traffic=(12e9, 1e9)),
        simple("mistake-03-healthy-comes-and-goes", lambda p, t, on: setattr(p, "present", int(t) % 7 > 2)),
    ]


@scenario
def mistake_05_misspelt():
    s = simple("mistake-05-misspelt", rates(), thresholds={"ce_share_warnin": 0.5, "hold_seconds": -1, "storm_share": "high"},
               complaints=["unknown threshold ce_share_warnin"])
    t = simple("mistake-05-congestion-control", rates(), cc="dcqn", complaints=["dcqn is none of"])
    return [s, t]


@scenario
def mistake_06_management():
    def drops(p, t, on):
        rates(discards=3000)(p, t, on)
        p.pause["sent"] = 0.3 if on else 0

    return [
        simple("mistake-06-management", drops, expected("slow_receiver", "info", onset=(59, 63)),
               port=Port(management=True, qps={"count": 0, "peers": 0}), traffic=(1e9, 1e9)),
        simple("mistake-06-with-queue-pairs", drops, expected("slow_receiver", "critical"), port=Port(management=True), traffic=(1e9, 1e9)),
    ]


@scenario
def mistake_07_orphaned():
    a, b = Port("mlx5_0"), Port("mlx5_9")
    s = Scenario("mistake-07-renamed", [a, b], [expected("slow_receiver", "critical", closed=(101, 104), reason="gone"),
                                               expected("slow_receiver", "critical", "mlx5_9", onset=(100, 104))])
    b.present = False

    def behave(t):
        for p in (a, b):
            busy(p, 12e9, 1e9)
            p.pause["sent"] = 0.3 if t >= 60 else 0
        a.present, b.present = t < 100, t >= 100

    return s.run(200, behave)


@scenario
def mistake_08_one_unreadable():
    ports = [Port(f"mlx5_{i}") for i in range(8)]
    s = Scenario("mistake-08-one-unreadable", ports, [
        expected("pause_storm_source", "critical", f"mlx5_{i}", onset=(0, 2), opened_by=2.1) for i in range(8) if i != 3], jitter=0)
    ports[3].present = False

    def behave(_):
        for p in ports:
            p.pause["sent"] = 1

    return s.run(60, behave)


@scenario
def mistake_09_never_provisioned():
    never = Port(state=1)
    return [
        simple("mistake-09-never-up", lambda p, t, on: set_down(p, True), expected("port_never_up", "info", onset=(0, 2)), port=never,
               traffic=(0, 0)),
        simple("mistake-09-restart-between", lambda p, t, on: set_down(p, True), expected("link_flap", "critical", onset=(0, 2)),
               port=Port(state=1, was_active=True), traffic=(0, 0), seconds=300),
    ]


@scenario
def mistake_10_absent():
    p = Port(settings=None, qps=None)
    p.hidden.update(k.split("{")[0] for k in EVENTS.values())
    p.hidden.update(("roce_pfc_pause_seconds_total", "roce_priority_bytes_total", "roce_pause_seconds_total", "roce_phy_received_bytes_total",
                     "roce_pcie_stalled_seconds_total"))
    return simple("mistake-10-absent", rates(), port=p, undecided=[("mlx5_0", "packet_loss"), ("mlx5_0", "pause_storm_source")])


@scenario
def mistake_11_training():
    return simple("mistake-11-training", flap_at(8, 14, 20))


@scenario
def mistake_12_one_wipes_another():
    def first(p, t, on):
        p.pause["sent"] = 0.3 if 60 <= t < 120 else 0
        rates(symbol_errors=100)(p, t, on)

    def other(p, t, on):
        p.pause["sent"] = 0.3 if on else 0
        rates(symbol_errors=100)(p, t, 60 <= t < 100)

    slow, dirty = expected("slow_receiver", "critical"), expected("bad_link", "critical")
    return [
        simple("mistake-12-first", first, [{**slow, "closed": (145, 175)}, {**dirty, "open_at_end": True}], seconds=400, traffic=(12e9, 1e9)),
        simple("mistake-12-other", other, [{**slow, "open_at_end": True}, {**dirty, "closed": (200, 300)}], seconds=400, traffic=(12e9, 1e9)),
    ]


@scenario
def mistake_13_clearing_counts():
    def twice(*times):
        return lambda p, t, on: p.rate.update(length_errors=5 if any(at <= t < at + 10 for at in times) else 0)

    return [
        simple("mistake-13-two-onsets", twice(60, 260), expected("application_error", onsets=2), seconds=450),
        simple("mistake-13-three-onsets", twice(60, 260, 460), expected("application_error", "critical", onsets=3), seconds=650),
    ]


@scenario
def mistake_15_tumbling_windows():
    """121 errors in 60 s, across each boundary of a minute."""
    return [simple(f"mistake-15-from-{at}", lambda p, t, _, at=at: p.rate.update(symbol_errors=121 / 60 if at <= t < at + 60 else 0),
                   expected("bad_link", onset=(at, at + 3), opened_by=at + 16), traffic=(24e9, 1e9), seconds=250) for at in (90, 119, 150)]


@scenario
def mistake_16_backwards():
    marks = EVENTS["ce"]

    def wrap(p, t, _):
        p.rate.update(ce=50e3, cnp_sent=20e3)

    def jumps(p, t, _):
        if t == 60:
            p.count[marks] = 3
        if t in (90, 91, 92):
            p.count[EVENTS["nak"]] = p.count.get(EVENTS["nak"], 0) - 3

    wrapping = Port()
    wrapping.count[marks] = 2 ** 32 - 5e6
    values = wrapping.values

    def narrow():
        found = values()
        found[marks] %= 2 ** 32
        return found

    wrapping.values = narrow
    reset = Port(start=5e9)
    return [
        simple("mistake-16-wrap", wrap, expected("fabric_congestion", onset=(0, 3), open_at_end=True, onsets=1), port=wrapping, traffic=(10e9, 1e9),
               jitter=0),
        simple("mistake-16-one-reset", jumps, port=Port(start=1e6)),
        simple("mistake-16-all-reset", lambda p, t, on: setattr(p, "count", {k: 0 for k in p.count}) if t == 60 else None, port=reset),
        simple("mistake-16-gap", lambda p, t, on: setattr(p, "present", not 60 <= t < 660), seconds=720),
    ]


@scenario
def mistake_17_huge_rates():
    def nonsense(p, t, _):
        p.base[series("roce_bytes_total", direction="sent")] = 2 ** 64 - 1 if t == 100 else 1e9 + t * 20e9

    return simple("mistake-17-huge-rates", nonsense, may=["blind_spot"], noise=0, jitter=0)


@scenario
def mistake_19_stuck_flaps():
    flaps = [60 + 50 * i for i in range(30)]
    return simple("mistake-19-stays-while-flapping", flap_at(*flaps), expected("link_flap", "critical", onset=(60, 62), onsets=1, closed=(1560, 1600)),
                  seconds=1700)


@scenario
def mistake_20_not_applicable():
    ports = [Port("mlx5_0"), Port("mlx5_1", link_layer="infiniband")]
    s = Scenario("mistake-20-infiniband", ports, watch={"mlx5_1": "not applicable"})

    def behave(t):
        for p in ports:
            busy(p, 12e9, 12e9)
        ports[1].rate.update(symbol_errors=1000, discards=1e5)

    return s.run(150, behave)


@scenario
def mistake_21_restart():
    return simple("mistake-21-warming", lambda p, t, on: None, seconds=20, watch={"mlx5_0": "warming"})


@scenario
def mistake_23_pcie():
    full = {"width": 16, "max_width": 16, "gt_s": 16, "max_gt_s": 16}
    slow = {"id": "0000:00:01.0", "width": 16, "max_width": 16, "gt_s": 16, "max_gt_s": 32}
    return [
        simple("mistake-23-gen5-in-gen4", rates(), port=Port(settings={"pfc": [3], "pcie": full})),
        simple("mistake-23-segment", rates(), expected("pcie_degraded", onset=(0, 3), evidence="PCIe rate per lane"),
               port=Port(settings={"pfc": [3], "pcie": full, "segment": slow})),
    ]


@scenario
def mistake_24_dead_before():
    return simple("mistake-24-dead-before", rates(), expected("nic_stuck", "critical", onset=(0, 2)),
                  port=Port(health={"driverless": True}, state=0), traffic=(0, 0))


@scenario
def mistake_25_totals():
    return simple("mistake-25-totals", rates(), port=Port(start=132e6), seconds=600)


@scenario
def mistake_26_direction():
    def pause(direction):
        return lambda p, t, on: p.pause.update({direction: 0.3 if on else 0})

    return [
        simple("mistake-26-sent", pause("sent"), expected("slow_receiver", "critical", evidence='direction="sent"'), traffic=(12e9, 1e9)),
        simple("mistake-26-received", pause("received"), expected("paused_by_network", evidence='direction="received"'), traffic=(1e9, 12e9)),
    ]


@scenario
def mistake_27_quanta():
    """The driver converts pause quanta with the rate of a link that has just gone down."""
    def behave(p, t, on):
        flap_at(60)(p, t, on)
        p.pause.update({"sent": 1, "received": 1} if 60 <= t < 64 else {"sent": 0, "received": 0})

    return simple("mistake-27-quanta", behave, FLAP, jitter=0)


@scenario
def mistake_28_storm_loop():
    """The watchdog stops the pause each time; missing traffic during the storm is no sign of health."""
    def behave(p, t, _):
        on = t >= 60 and int(t - 60) % 20 < 8
        p.pause["sent"] = 1 if on else 0
        if t >= 60:
            p.received = 0

    return simple("mistake-28-storm-loop", behave, expected("pause_storm_source", "critical", onsets=1, open_at_end=True), seconds=700, jitter=0)


@scenario
def mistake_30_one_drop():
    def foreign(p, t, _):
        p.other[("received", 0)] = 1e9
        p.rate["discards"] = 0

    return [
        simple("mistake-30-one-drop", once(discards=1)),
        simple("mistake-30-one-drop-when-idle", once(discards=1), traffic=(1e4, 1e4)),
        simple("mistake-30-ratio-above-one", rates(ce=2e5, cnp_sent=1e3), expected("fabric_congestion", "critical"), traffic=(0.2e9, 0.2e9)),
        simple("mistake-30-foreign", foreign),
    ]


@scenario
def mistake_31_app_made():
    """A rank dies elsewhere: time-outs, and nothing else."""
    return simple("mistake-31-time-outs", rates(timeouts=2))


class Raw:
    """A file that is not a Scenario: these lines unchanged."""

    def __init__(self, name, header, lines):
        self.name, self.header, self.lines = name, header, lines

    def text(self):
        return "\n".join([json.dumps(self.header)] + self.lines) + "\n"


@scenario
def bad_files():
    good = [json.dumps({"t": t, "device": "mlx5_0", "values": {'roce_bytes_total{direction="sent"}': t * 1e9}}) for t in range(5)]
    head = {"scenario": "bad", "ports": [{"device": "mlx5_0", "rate_bytes_per_second": line(200)}], "expect": "none"}
    bad = ["{", "[1]", "7", '{"t": -1}', '{"t": 1}', '{"device": "x"}', '{"t": 9, "device": ""}', '{"t": 10, "device": "mlx5_0", "values": {"roce_bytes_total": "x"}}',
           '{"t": 11, "device": "mlx5_0", "valeus": {}}', '{"t": 11, "device": "mlx5_0"}', '{"t": 12, "device": "mlx5_0", "values": {"node_cpu": 1}}', "\x00\xff"]
    return [
        Raw("bad-lines", {**head, "judge": {"complaints": ["line 7: not JSON", "time goes backwards", "unknown key valeus", "unknown series node_cpu",
                                                           "occurs twice at this time"]}}, good + bad),
        Raw("bad-header", {"expect": "none", "ports": [{"port": 1}, {"device": "b", "mtu_bytes": "x", "colour": 1}], "judge": {
            "complaints": ["without \"device\"", "mtu_bytes", "unknown key colour"]}}, good),
        Raw("bad-nothing", {"expect": "none"}, []),
    ]
