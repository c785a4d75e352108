# SPDX-License-Identifier: Apache-2.0
"""imperfect.py - data of real nodes: failed reads, zeros, uneven and long intervals, random events, teardown. Each case states the right result, and why.

Many more, with every combination, are judged by build/bench/bench_verdicts; these can be read one by one.
"""
import math

from causes import once, paused, rates, simple, with_keys
from stories import busy, set_down
from world import EVENTS, SOLID, Port, Scenario, expected, packets, payload, scenario, series

N = packets(20e9)


def poisson(rng, mean):
    """A random number of events with this mean."""
    if mean == 0:
        return 0
    if mean > 50:
        return max(0, round(rng.gauss(mean, math.sqrt(mean))))
    n, product = -1, 1.0
    while product > math.exp(-mean):
        n += 1
        product *= rng.random()
    return n


def by_chance(name, wanted="none", seconds=3600, port=None, traffic=(20e9, 20e9), until=None, **means):
    """Random events with these means per second, for the whole time; until: for those that begin at 60."""
    port = port or Port()
    s = Scenario(name, [port], wanted if wanted == "none" else [wanted])

    def each(t):
        busy(port, *traffic)
        for event, mean in means.items():
            at_all = mean if t >= 60 or wanted == "none" else 0
            port.once[event] = poisson(s.rng, at_all)

    return s.run(until or seconds, each)


@scenario
def failed_reads():
    """Half of the counters cannot be read in one sample of 500, as when a source fails. RDMA bytes over 2 s must not be compared with those of the priorities over 1 s."""
    def without(words, every):
        p = Port(gbps=400)
        values = p.values
        count = [0]

        def some():
            count[0] += 1
            found = values()
            return {k: v for k, v in found.items() if count[0] % every or not any(w in k for w in words)}

        p.values = some
        return p

    def on_off(p, t, _):
        rate = 0.97 * payload(400) if int(t) % 2 else 0
        busy(p, rate, rate)

    def apart():
        """The node is idle except for one second. Its RDMA bytes are not read then, and 10 ms early in the next sample: 0.01 s of it come a sample later.
        Before, every other sample is read early, too."""
        p = Port(gbps=400)
        values = p.values
        rate, when = 0.3 * payload(400), [0]

        def burst(_, t, __):
            when[0] = int(t)
            busy(p, *([rate if when[0] == 600 else 1e4] * 2))

        def some():
            found = values()
            early = {600: math.nan, 601: 0.01 * rate}.get(when[0], when[0] % 2 * 0.02 * 1e4)
            return {k: v - early if "roce_bytes_total" in k else v for k, v in found.items() if not ("roce_bytes_total" in k and math.isnan(early))}

        p.values = some
        return simple("imperfect-failed-and-apart", burst, port=p, seconds=700)

    return [
        apart(),
        simple("imperfect-failed-rdma", on_off, port=without(("roce_bytes_total", "roce_packets_total"), 25), seconds=900),
        simple("imperfect-failed-priorities", on_off, port=without(("roce_priority_bytes_total",), 25), seconds=900),
        simple("imperfect-failed-and-slow", paused("sent", 0.3), expected("slow_receiver", "critical"), port=without(("pause",), 25), traffic=(12e9, 1e9)),
        # An event in the unread second is found in the next.
        simple("imperfect-failed-and-key", once(at=62, access_errors=1), expected("application_error", onset=(62, 65)),
               port=without(("roce_remote_access",), 64)),
    ]


@scenario
def zeros():
    """A counter that reads 0 once and then its total again has not restarted: 3 earlier link downs are none now. Nor is the total the growth in the
    second sample if the first one read 0: an idle node's 5 GB are not 5 GB/s, none of it on RDMA's priority."""
    def zero_at(times, words, start):
        p = Port(start=start)
        values = p.values
        count = [0]

        def some():
            count[0] += 1
            return {k: (0 if count[0] in times and any(w in k for w in words) else v) for k, v in values().items()}

        p.values = some
        return p

    def first(name, words):
        """In every other sample, RDMA bytes are read 20 ms before those of the priorities; that difference alone must not count."""
        p = zero_at((1,), words, 5e9)
        values, early = p.values, [0]

        def some():
            early[0] = 200 - early[0]
            return {k: v - early[0] if v and "roce_bytes_total" in k else v for k, v in values().items()}

        p.values = some
        return simple(f"imperfect-zero-first-{name}", rates(), port=p, traffic=(1e4, 1e4))

    return [
        *(first(name, words)
          for name, words in {"rdma": ("roce_bytes_total",), "priorities": ("roce_priority_bytes_total",), "events": ("nak", "timeouts", "link_down"),
                              "all": ("_total",)}.items()),
        simple("imperfect-zero-link-down", rates(), port=zero_at((100, 101), ("link_down",), 3)),
        simple("imperfect-zero-all", rates(), port=zero_at((100,), ("_total",), 5e6)),
        simple("imperfect-zero-naks", rates(nak=0.5), port=zero_at((90, 130), ("nak", "timeouts"), 4000)),
        simple("imperfect-zero-and-slow", paused("sent", 0.3), expected("slow_receiver", "critical", open_at_end=True),
               port=zero_at((100, 140), ("pause",), 0), traffic=(12e9, 1e9)),
    ]


# The counters of mlx5 in hw_counters/, which are read together; the others come from ethtool.
RDMA_COUNTERS = ("roce_ecn_ce_received", "roce_cnp_", "roce_out_of_sequence", "roce_sequence_nak", "roce_implied_nak", "roce_ack_timeouts", "roce_transport_retries", "roce_rnr_",
                 "roce_receive_wqe", "roce_icrc", "roce_cqe_", "roce_remote_", "roce_local_length", "roce_slow_restart")


@scenario
def on_a_nic():
    """Also played by the lab's NIC (pieces.py), in the half minute from 50 s on: failed reads of RDMA counters, zeros, counters that are no longer listed."""
    def read(change, start=0):
        p = Port(start=start)
        p.hidden.add("roce_cnp_received_packets_total")  # mlx5 has the sum of handled and ignored ones
        values, count = p.values, [0]

        def some():
            count[0] += 1
            return change(count[0], values())

        p.values = some
        return p

    def failing(every):
        return lambda n, values: {k: v for k, v in values.items() if n % every or not k.startswith(RDMA_COUNTERS)}

    def zero(*times, words=("_total",)):
        return lambda n, values: {k: 0 if n in times and any(w in k for w in words) else v for k, v in values.items()}

    def vanishing(since, words):
        return lambda n, values: {k: v for k, v in values.items() if n < since or not any(w in k for w in words)}

    lossy = rates(nak=1e-3 * N)
    return [
        simple("live-failed", rates(nak=0.5), port=read(failing(5))),
        simple("live-failed-and-lossy", lossy, expected("packet_loss", "critical"), port=read(failing(7))),
        simple("live-zeros", rates(nak=0.5), port=read(zero(56, 70, 79), 5e6)),
        simple("live-zeros-and-lossy", lossy, expected("packet_loss", "critical"), port=read(zero(57, 75), 5e6)),
        simple("live-vanished", rates(), port=read(vanishing(66, ("roce_pfc_pause", "roce_phy_symbol")))),
        simple("live-vanished-and-lossy", lossy, expected("packet_loss", "critical"), port=read(vanishing(72, ("roce_pfc_pause",)))),
    ]


@scenario
def chance():
    """Random events at a third of each limit, for an hour. Limits for 4.9 M packets a second: 4.9 NAKs or timeouts, 10 RNR NAKs, 1 ignored CNP."""
    return [
        by_chance("imperfect-chance-naks", nak=1.6),
        by_chance("imperfect-chance-few-packets", nak=0.1, timeouts=0.1, discards=0.1, traffic=(0.2e9, 0.2e9)),  # the floor is 3 in 10 s
        by_chance("imperfect-chance-ignored", cnp_ignored=0.33, cnp_received=1),
        by_chance("imperfect-chance-not-ready", rnr_nak=3.3, wqe_missing=3.3),
        by_chance("imperfect-chance-symbols", symbol_errors=0.066),  # 1e-12 of 2e11 bits a second is 0.2
        by_chance("imperfect-chance-loss", expected("packet_loss", onset=(59, 66)), seconds=240, nak=20),  # 4 times the limit
        by_chance("imperfect-chance-rp-off", expected("reaction_point_off", onset=(59, 66)), seconds=240, cnp_ignored=4, cnp_received=4),
    ]


@scenario
def few_packets():
    """68 packets a second, which soft-RoCE manages on a path with 2 % loss, with 0.5 NAKs: far above the critical share, but sometimes fewer than 3 in 10 s."""
    def slow():
        return Port(driver="rxe", gbps=25, mtu=512)

    def by_turns(p, t, on):
        if int(t) in (120, 220):
            p.once["nak"] = 6  # one fault makes several, in one sample

    def least(name, wanted="none", **more):
        return by_chance(name, wanted, port=slow(), traffic=(35e3, 35e3), **more)

    lossy = expected("packet_loss", "critical", onset=(59, 160))
    return [
        least("imperfect-few-packets-lossy", {**lossy, "opened_by": 165}, seconds=240, nak=0.5, soft_timeouts=0.4, timeouts=0.9),
        least("imperfect-few-packets-naks", {**lossy, "opened_by": 165}, seconds=240, nak=0.5),
        least("imperfect-few-packets-quickly", {**lossy, "onset": (59, 63), "opened_by": 76}, seconds=240, nak=2),
        least("imperfect-few-packets-rarely", {**lossy, "onset": (59, 260), "opened_by": 300}, seconds=480, nak=0.1),
        least("imperfect-few-packets-timeouts", seconds=1800, timeouts=0.1),  # a third of 3 in 10 s: peers that exit
        least("imperfect-few-packets-chance", nak=2e-5, timeouts=2e-5),  # a third of the limit
        simple("imperfect-few-packets-at-once", once(nak=40), port=slow(), traffic=(35e3, 35e3)),
        simple("imperfect-few-packets-by-turns", by_turns, seconds=900, port=slow(), traffic=(35e3, 35e3)),
    ]


@scenario
def onsets():
    """Loss at twice the limit comes and goes 4 times: a warning each time, as it is far below the critical limit (1e-4 of 4.9 M: 490)."""
    def four(rate):
        return lambda p, t, _: p.rate.update(nak=rate if t >= 60 and int(t - 60) % 300 < 40 else 0)

    return [
        simple("imperfect-onsets-far", four(12), expected("packet_loss", "warning"), seconds=1260),
        simple("imperfect-onsets-near", four(300), expected("packet_loss", "critical"), seconds=1260),
    ]


@scenario
def timeouts():
    """The last packets of messages are lost: no gap, so no NAK. At 2 GB/s, 488,000 packets a second, 6 timeouts are 1.2e-5, 60 are 1.2e-4."""
    def slow(rate):
        def behave(p, t, on):
            busy(p, *((2e9, 2e9) if on else (20e9, 20e9)))
            p.rate["timeouts"] = rate if on else 0
        return behave

    def dead(p, t, on):
        """Eight queue pairs to one peer wait 1.07 s each, eight times, and fail; the others continue."""
        busy(p, 20e9, 17e9 if on else 20e9)
        p.rate["timeouts"] = 8 if 60 <= t < 69 else 0
        p.once.update({"retries_exceeded": 8} if t == 69 else {})

    return [
        simple("imperfect-timeouts-6", slow(6), expected("packet_loss", "warning", onset=(59, 64))),
        simple("imperfect-timeouts-60", slow(60), expected("packet_loss", "critical")),
        simple("imperfect-timeouts-600", slow(600), expected("packet_loss", "critical")),
        simple("imperfect-timeouts-dead-peer", dead, expected("peer_gone", onset=(59, 63))),
        simple("imperfect-timeouts-nothing-passes", lambda p, t, on: (busy(p, *((0, 0) if on else (20e9, 20e9))), p.rate.update(timeouts=6 * on)),
               undecided=[("mlx5_0", "packet_loss")]),
    ]


@scenario
def intervals():
    """The same faults, seen every 8, 15, 60 and 600 s: a window has at least three samples."""
    made = []
    for every in (8, 15, 60, 600):
        start, end = 10 * every, 30 * every
        onset = (start - every, start + 2 * every)

        def marked(p, t, _, at=start):
            busy(p, 20e9, 20e9)
            p.rate.update(ce=0.03 * N if t >= at else 0, cnp_sent=5e3 if t >= at else 0)

        def pausing(p, t, _, at=start):
            busy(p, 12e9, 1e9)
            p.pause["sent"] = 0.2 if t >= at else 0

        def losing(p, t, _, at=start):
            p.rate["nak"] = 1e-3 * N if t >= at else 0

        for what, behave, wanted in (("marks", marked, expected("fabric_congestion", onset=onset)),
                                     ("pause", pausing, expected("slow_receiver", "critical", onset=onset)),
                                     ("loss", losing, expected("packet_loss", "critical", onset=onset))):
            made.append(simple(f"imperfect-every-{every}-{what}", behave, wanted, seconds=end, interval=every))
        made.append(simple(f"imperfect-every-{every}-healthy", rates(ce=0.003 * N, cnp_sent=0.001 * N, nak=0.5), seconds=end, interval=every))
    return made


@scenario
def other_priorities():
    """Bursts of TCP on priority 0 are dropped and paused there; RDMA on 3 has no gap."""
    def tcp(p, t, on):
        burst = on and int(t) % 3 == 0
        p.other[("received", 0)] = 3e9 if burst else 0.5e9
        p.rate["discards"] = p.rate[series("roce_priority_discards_total", priority=0, reason="no_buffer")] = 4000 if burst else 0
        p.pause[("sent", 0)] = 0.2 if burst else 0

    def whole(p, t, on):
        tcp(p, t, on)
        p.rate.pop(series("roce_priority_discards_total", priority=0, reason="no_buffer"))

    def own(p, t, on):
        tcp(p, t, on)
        p.pause[("sent", SOLID)] = 0.2 if on else 0

    half = (12e9, 1e9)
    return [
        simple("imperfect-tcp", tcp, traffic=half), simple("imperfect-tcp-port-discards", whole, traffic=half),
        simple("imperfect-tcp-and-rdma", own, expected("slow_receiver", "critical"), traffic=half),
    ]


@scenario
def teardown():
    ended = [{"namespace": "train", "name": "train-7", "ended": True}]

    def ends(p, t, _):
        """Its peers still write after its memory is freed; the runtime reports the end two seconds later."""
        busy(p, *((20e9, 20e9) if t < 60 else (0, 0)))
        p.once.update({"access_errors": 3, "cqe_errors": 3} if t == 59 else {})
        p.extra.update({"pods": ended} if t == 61 else {})

    def moved(p, t, on):
        """No link went down; all 8 queue pairs send from a source address that gets no answers, and fail after 8.6 s."""
        busy(p, 0.1e9, 0 if on else 20e9)
        p.extra.update({"gid_moved": t < 90} if t in (60, 90) else {})
        p.rate["timeouts"] = 8 if 60 <= t < 69 else 0
        p.once.update({"retries_exceeded": 8} if t == 69 else {})

    def unused(p, t, _):
        set_down(p, True)
        p.once.update({"link_down": 1} if t % 50 == 0 else {})

    return [
        simple("imperfect-teardown", ends),
        simple("imperfect-gid-moved", moved, expected("gid_moved", onset=(59, 63))),
        simple("imperfect-unused-port", unused, expected("port_never_up", "info", onset=(0, 2)), port=Port(state=1), traffic=(0, 0)),
        simple("imperfect-admin-down", lambda p, t, on: set_down(p, True), port=Port(state=1, admin_down=True), traffic=(0, 0), watch={"mlx5_0": "down"}),
        simple("imperfect-held-and-down", lambda p, t, on: (set_down(p, on), with_keys(admin_down=True)(p, t, on), busy(p)), expected("port_off", onset=(59, 62)),
               watch={"mlx5_0": "down"}),
    ]


@scenario
def hosts():
    """Marks of the NIC itself, while its host waits for PCIe 0.55 of the time, are no congestion of the fabric."""
    def marked(p, t, on):
        p.rate["ce"] = p.rate[series("roce_host_ecn_marked_packets_total", priority=SOLID)] = 0.05 * N if on else 0
        p.rate["cnp_sent"] = 5e3 if on else 0
        p.gauge["pcie_stalled"] = 0.55 if on else 0.02

    return [
        simple("imperfect-host-marks", marked, expected("slow_receiver_pcie"), traffic=(20e9, 1e9)),
        simple("imperfect-overflow-few", rates(pcie_overflow=1), expected("slow_receiver_pcie", "warning", onset=(59, 125)), seconds=240, traffic=(12e9, 1e9)),
        full_line(),
    ]


def full_line():
    """Two VFs with half of a full line each: their marks do not mean that the receiver has spare capacity."""
    pf = Port("mlx5_0", pods=[])
    vfs = [Port(f"mlx5_{i + 1}", parent="0000:01:00.0", pods=[f"team/pod-{i + 1}"], settings=None) for i in range(2)]
    s = Scenario("imperfect-vfs-of-a-full-line", [pf] + vfs, [expected("fabric_congestion", device=f"mlx5_{i}", pod=f"team/pod-{i}", remark=None) for i in (1, 2)])

    def behave(t):
        busy(pf, 1e6, 1e6)
        for vf in vfs:
            busy(vf, 12.1e9, 1e9)
            vf.rate.update(ce=0.03 * packets(12.1e9) * (t >= 60), cnp_sent=9e3 * (t >= 60))

    return s.run(150, behave)


@scenario
def degraded():
    def slower(p, t, on):
        busy(p, 8e9, 8e9)
        p.base["roce_port_rate_bytes_per_second"] = 12.5e9 if on else 25e9

    def links(name, speeds, wanted):
        ports = [Port(f"mlx5_{i}", gbps) for i, gbps in enumerate(speeds)]
        return Scenario(name, ports, wanted).run(120, lambda t: [busy(p, 5e9, 5e9) for p in ports])

    def rails(name, shares, wanted):
        ports = [Port(f"mlx5_{i}", 400, pods=[f"train/rank-{i}"]) for i in range(len(shares))]

        def behave(t):
            for p, share in zip(ports, shares):
                busy(p, 0.4 * payload(400) * (share if t >= 200 else 1), 0.4 * payload(400) * (share if t >= 200 else 1))

        return Scenario(name, ports, wanted).run(600, behave)

    return [
        simple("imperfect-link-slower", slower, expected("link_degraded", onset=(60, 63))),
        links("imperfect-link-of-siblings", (200, 200, 200, 100), [expected("link_degraded", "info", "mlx5_3", onset=(0, 2))]),
        links("imperfect-links-of-two-kinds", (200, 200, 100, 100), "none"),
        links("imperfect-link-of-two-siblings", (200, 200, 100), "none"),
        rails("imperfect-rail-behind", (1, 1, 0.3, 1, 1), [expected("rail_behind", "info", "mlx5_2", onset=(200, 300), pod="train/rank-2")]),
        rails("imperfect-rails-uneven", (1, 0.68, 0.3, 1, 0.8), "none"),
        rails("imperfect-rails-too-few", (1, 1, 0.3), "none"),
    ]


@scenario
def garbage():
    return [
        simple("imperfect-stood", with_keys(stood={"received": 1e308, "sent": 1e308})),
        simple("imperfect-garbage-gauges", lambda p, t, on: (paused("sent", 0.05)(p, t, on), p.gauge.update(pcie_stalled=1e308, qps=1e308) if on else None),
               expected("slow_receiver"), traffic=(12e9, 1e9)),
        simple("imperfect-garbage-counters", lambda p, t, on: p.count.update({EVENTS["nak"]: 1e300 * (t - 99)} if 100 <= t < 104 else {}), may=["blind_spot"]),
    ]
