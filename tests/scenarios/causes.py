# SPDX-License-Identifier: Apache-2.0
"""causes.py - for every cause at least two positives and two near misses. Near misses are as close to the limits of docs/reference/diagnosis.md as noise allows."""
from stories import busy, set_down
from world import SOLID, Port, Scenario, expected, packets, payload, scenario, series

IDLE = 0.05e9


def simple(name, behave, wanted="none", seconds=200, port=None, traffic=(20e9, 20e9), **header):
    """One port with steady traffic; behave(port, t, on) is called from t = 0, on from t = 60."""
    port = port or Port()
    s = Scenario(name, [port], [wanted] if isinstance(wanted, dict) else wanted, **header)

    def each(t):
        busy(port, *traffic)
        behave(port, t, t >= 60)

    return s.run(seconds, each)


def rates(**values):
    """behave() that sets rates while on."""
    return lambda p, t, on: p.rate.update({k: v if on else 0 for k, v in values.items()})


def paused(direction, share, **values):
    def behave(p, _, on):
        p.pause[direction] = share if on else 0
        p.rate.update({k: v if on else 0 for k, v in values.items()})

    return behave


def once(at=60, **values):
    def behave(p, t, _):
        if t == at:
            p.once.update(values)

    return behave


def with_keys(**what):
    """behave() that adds keys to the port's samples from t = 60 on."""
    def behave(p, t, _):
        if t == 60:
            p.extra = what

    return behave


@scenario
def fabric_congestion():
    n = packets(20e9)
    return [
        simple("fabric-congestion-warning", rates(ce=0.03 * n, cnp_sent=20e3), expected("fabric_congestion")),
        simple("fabric-congestion-critical", rates(ce=0.2 * n, cnp_sent=80e3), expected("fabric_congestion", "critical")),
        simple("fabric-congestion-bnxt", rates(ce=0.03 * n, cnp_sent=20e3), expected("fabric_congestion"), port=Port(driver="bnxt_re")),
        simple("fabric-congestion-below", rates(ce=0.008 * n, cnp_sent=8e3)),
        simple("fabric-congestion-one-burst", lambda p, t, on: p.rate.update(ce=0.1 * n if t == 60 else 0, cnp_sent=9e3 if t == 60 else 0)),
        simple("fabric-congestion-few-packets", rates(ce=5, cnp_sent=1), traffic=(1e5, 1e5)),
    ]


@scenario
def incast():
    n = packets(24e9)
    many = {"count": 64, "peers": 32}
    return [
        simple("incast-200g", rates(ce=0.08 * n, cnp_sent=200e3), expected("incast"), port=Port(qps=many), traffic=(24.2e9, 1e9)),
        simple("incast-critical", rates(ce=0.3 * n, cnp_sent=200e3), expected("incast", "critical"), port=Port(qps=many), traffic=(24.2e9, 1e9)),
        simple("incast-few-peers", rates(ce=0.08 * n, cnp_sent=100e3), expected("fabric_congestion"), port=Port(qps={"count": 3, "peers": 3}),
               traffic=(24.2e9, 1e9)),
        simple("incast-without-marks", rates(), port=Port(qps=many), traffic=(24.2e9, 1e9)),
        simple("incast-peers-unknown", rates(ce=0.08 * n, cnp_sent=100e3), expected("fabric_congestion"), port=Port(qps=None), traffic=(24.2e9, 1e9),
               undecided=[("mlx5_0", "incast")]),
    ]


@scenario
def slow_receiver():
    return [
        simple("slow-receiver-warning", paused("sent", 0.05), expected("slow_receiver"), port=Port()),
        simple("slow-receiver-critical", paused("sent", 0.3), expected("slow_receiver", "critical"), traffic=(12e9, 1e9)),
        simple("slow-receiver-drops", rates(discards=2000), expected("slow_receiver"), traffic=(12e9, 1e9)),
        simple("slow-receiver-pfc-only", paused("sent", 0.05), expected("slow_receiver"), cc="pfc_only"),
        simple("slow-receiver-below", paused("sent", 0.004)),
        simple("slow-receiver-full-line", paused("sent", 0.05), traffic=(0.97 * payload(200), 1e9)),
        simple("slow-receiver-one-pause", lambda p, t, on: p.pause.update(sent=0.6 if t == 60 else 0)),
        simple("slow-receiver-two-drops", once(discards=2)),
    ]


@scenario
def slow_receiver_variants():
    def stalled(share, seconds=0):
        def behave(p, t, on):
            paused("sent", 0.2)(p, t, on)
            p.gauge["pcie_stalled"] = share if on else 0.01
            p.rate["pcie_seconds"] = seconds if on else 0
        return behave

    def cached(qps, mrs):
        def behave(p, t, on):
            paused("sent", 0.2)(p, t, on)
            p.gauge.update(qps=qps, mrs=mrs, pcie_stalled=0.01)
        return behave

    def counted_late(p, t, on):
        """The counter is updated once a second by another clock: a sample has none or two of these updates."""
        stalled(0.5, 2 * (t % 2))(p, t, on)
        del p.gauge["pcie_stalled"]

    half = (12e9, 1e9)
    return [
        simple("pcie-whole-seconds", counted_late, expected("slow_receiver_pcie", "critical", explains="slow_receiver"), traffic=half),
        simple("pcie-stalled", stalled(0.5, 1), expected("slow_receiver_pcie", "critical", explains="slow_receiver"), traffic=half),
        simple("pcie-overflow", rates(pcie_overflow=50), expected("slow_receiver_pcie", "critical"), traffic=half),
        simple("pcie-not-stalled", stalled(0.02), expected("slow_receiver", "critical"), traffic=half),
        simple("pcie-stalled-alone", lambda p, t, on: p.gauge.update(pcie_stalled=0.9 if on else 0), traffic=half),
        simple("nic-cache-qps", cached(40000, 100), expected("slow_receiver_nic_cache", "critical", explains="slow_receiver"), traffic=half),
        simple("nic-cache-mrs", cached(10, 500000), expected("slow_receiver_nic_cache", "critical"), traffic=half),
        simple("nic-cache-few", cached(9000, 9000), expected("slow_receiver", "critical"), traffic=half),
        simple("nic-cache-many-alone", lambda p, t, on: p.gauge.update(qps=40000, mrs=500000), traffic=half),
    ]


@scenario
def storms():
    def stop(direction, share, left=0, hold=1000):
        def behave(p, t, on):
            on = on and t < 60 + hold
            p.pause[direction] = share if on else 0
            if on and direction == "sent":
                p.received = left
            elif on:
                p.sent = left
        return behave

    return [
        simple("storm-source-10s", stop("sent", 1, hold=10), expected("pause_storm_source", "critical", closed=(370, 380)), seconds=450, jitter=0),
        simple("storm-source-warning-event", once(storm_warnings=1), expected("pause_storm_source", "critical", open_at_end=True)),
        simple("storm-source-error-event", once(storm_errors=1), expected("pause_storm_source", "critical", open_at_end=True)),
        simple("storm-source-moving", stop("sent", 0.995, left=2e9), expected("slow_receiver", "critical"), jitter=0, may=["contradicting_counters"]),
        simple("storm-source-short-of", stop("sent", 0.9, left=0.3e9), expected("slow_receiver", "critical")),
        simple("storm-victim", stop("received", 1, hold=20), expected("pause_storm_victim", "critical"), jitter=0),
        simple("storm-victim-unknown-cc", stop("received", 1), expected("pause_storm_victim", "critical"), jitter=0, cc="unknown"),
        simple("storm-victim-moving", stop("received", 0.995, left=0.5e9), expected("paused_by_network"), jitter=0, may=["contradicting_counters"]),
        simple("storm-victim-short-of", stop("received", 0.8, left=0), expected("paused_by_network")),
    ]


@scenario
def paused_by_network():
    def both(p, t, on):
        p.pause["received"] = 0.03 if on else 0

    return [
        simple("paused-dcqcn", paused("received", 0.2), expected("paused_by_network")),
        simple("paused-a-little", paused("received", 0.03), expected("paused_by_network", "info")),
        simple("paused-pfc-only", paused("received", 0.4), expected("paused_by_network"), cc="pfc_only"),
        simple("paused-below", paused("received", 0.004)),
        simple("paused-pfc-only-below", both, cc="pfc_only"),
        simple("paused-one-sample", lambda p, t, on: p.pause.update(received=0.5 if t == 60 else 0)),
        simple("paused-cnp-unknown", paused("received", 0.2), port=hidden("roce_cnp_received_packets_total", "roce_cnp_handled_packets_total",
                                                                          "roce_cnp_ignored_packets_total"),
               undecided=[("mlx5_0", "paused_by_network")]),
    ]


def hidden(*families, **identity):
    p = Port(**identity)
    p.hidden.update(families)
    return p


@scenario
def congestion_control():
    n = packets(20e9)
    ect = {"count": 8, "peers": 4, "not_ect": 8}
    return [
        simple("ecn-not-capable-pause", paused("received", 0.2), expected("not_ecn_capable", onset=(0, 3)), port=Port(qps=ect)),
        simple("ecn-not-capable-config", rates(), expected("not_ecn_capable", "info", onset=(0, 3)), port=Port(qps=ect)),
        simple("ecn-not-capable-pfc-only", rates(), port=Port(qps=ect), cc="pfc_only"),
        simple("ecn-not-capable-unknown-cc", rates(), port=Port(qps=ect), cc="unknown"),
        simple("np-off", rates(ce=0.05 * n), expected("notification_point_off", explains="fabric_congestion")),
        simple("np-off-few-marks", rates(ce=0.004 * n), expected("notification_point_off")),
        simple("np-off-unknown-cc", rates(ce=0.004 * n), expected("notification_point_off", "info"), cc="unknown"),
        simple("np-off-pfc-only", rates(ce=0.004 * n), cc="pfc_only"),
        simple("np-on", rates(ce=0.004 * n, cnp_sent=300)),
        simple("np-marks-too-few", rates(ce=20)),
        simple("rp-off", rates(cnp_received=9e3, cnp_ignored=9e3), expected("reaction_point_off")),
        simple("rp-off-irdma", rates(cnp_ignored=9e3), expected("reaction_point_off"), port=Port(driver="irdma")),
        simple("rp-off-pfc-only", rates(cnp_received=9e3, cnp_ignored=9e3), cc="pfc_only"),
        simple("rp-one-ignored", once(cnp_ignored=1)),
        simple("rp-on", rates(cnp_received=9e3, cnp_handled=9e3)),
    ]


@scenario
def settings():
    def siblings(name, mask, others, wanted, cc="dcqcn"):
        ports = [Port(f"mlx5_{i}", settings={"pfc": mask if i == 0 else others}) for i in range(4)]
        s = Scenario(name, ports, wanted, cc=cc)
        return s.run(150, lambda t: [busy(p, 10e9, IDLE) for p in ports])

    def mixed(share):
        def behave(p, _, on):
            p.on_priority = {SOLID: 1 - share * on, 0: share * on}
        return behave

    def narrow(**link):
        return Port(settings={"pfc": [3], "pcie": {"width": 16, "max_width": 16, "gt_s": 32, "max_gt_s": 32, **link}})

    start = (0, 3)
    return [
        siblings("pfc-siblings", [4], [3], [expected("pfc_mismatch", onset=start), expected("wrong_priority", onset=start)]),
        siblings("pfc-siblings-lossy", [], [3], "none", "lossy"),
        siblings("pfc-siblings-agree", [3], [3], "none"),
        simple("pfc-peer", with_keys(settings={"pfc": [3], "peer_pfc": [4]}), expected("pfc_mismatch", onset=(60, 62))),
        simple("pfc-peer-agrees", with_keys(settings={"pfc": [3], "peer_pfc": [3]})),
        simple("priority-all-wrong", mixed(1), expected("wrong_priority")),
        simple("priority-some-wrong", mixed(0.1), expected("wrong_priority")),
        simple("priority-hardly-wrong", mixed(0.005)),
        simple("priority-wrong-lossy", mixed(1), cc="lossy"),
        simple("pcie-narrow", rates(), expected("pcie_degraded", onset=start), port=narrow(width=8)),
        simple("pcie-slow", rates(), expected("pcie_degraded", onset=start), port=narrow(gt_s=16)),
        simple("pcie-as-it-can", rates(), port=narrow()),
        simple("pcie-unknown", rates(), undecided=[("mlx5_0", "pcie_degraded")]),
        simple("mtu-path", with_keys(qps={"count": 8, "peers": 4, "path_mtu": 4096}), expected("mtu_mismatch", onset=(60, 62)), port=Port(mtu=1024)),
        simple("mtu-path-fits", with_keys(qps={"count": 8, "peers": 4, "path_mtu": 1024}), port=Port(mtu=1024)),
        mtu_of_siblings("mtu-siblings", 1024, [expected("mtu_mismatch", "info", onset=start)]),
        mtu_of_siblings("mtu-siblings-agree", 4096, "none"),
    ]


def mtu_of_siblings(name, mtu, wanted):
    ports = [Port(f"mlx5_{i}", mtu=mtu if i == 0 else 4096) for i in range(4)]
    return Scenario(name, ports, wanted).run(150, lambda t: [busy(p, 10e9, IDLE) for p in ports])


@scenario
def global_pause():
    return [
        simple("global-pause-received", rates(global_received=0.217), expected("global_pause")),
        simple("global-pause-sent", rates(global_sent=0.05), expected("global_pause")),
        simple("global-pause-frames", rates(global_frames_received=500), expected("global_pause"),
               port=hidden("roce_pause_seconds_total")),
        simple("global-pause-rare", rates(global_received=0.0002)),
        simple("global-pause-no-rdma", rates(global_received=0.2), port=Port(qps={"count": 0, "peers": 0}), traffic=(0, 0)),
    ]


@scenario
def links():
    def down(seconds, count=True, since=60):
        def behave(p, t, _):
            set_down(p, since <= t < since + seconds)
            if since <= t < since + seconds:
                busy(p)
            if t == since and count:
                p.once["link_down"] = 1
        return behave

    def flaps(p, t, _):
        for i in range(3):
            down(3, since=60 + 100 * i)(p, t, True)
        if any(60 + 100 * i <= t < 63 + 100 * i for i in range(3)):
            set_down(p, True)

    fault = expected("link_flap", "critical", onset=(60, 62))
    return [
        simple("link-down-3s", down(3), {**fault, "closed": (115, 140)}),
        simple("link-down-stays", down(1000), {**fault, "open_at_end": True}, seconds=360),
        simple("link-down-uncounted", down(5, count=False), fault, port=hidden("roce_phy_link_down_total")),
        # Neither a pod nor RDMA used it: a warning, however long.
        simple("link-down-unused", down(1000), {**fault, "severity": "warning", "open_at_end": True, "pod": None}, port=Port(pods=[]), traffic=(0, 0), seconds=360),
        simple("link-flaps-3", flaps, expected("link_flap", "critical", onset=(60, 62)), seconds=400),
        simple("link-taken-down", lambda p, t, on: (down(1000)(p, t, on), with_keys(admin_down=True)(p, t, on)), expected("port_off", onset=(59, 62))),
        simple("link-taken-down-of-no-pod", lambda p, t, on: (down(1000)(p, t, on), with_keys(admin_down=True)(p, t, on)), port=Port(pods=[])),
        simple("link-training", down(4, since=10)),
        simple("link-old-count", rates(), port=Port(start=5000)),
        simple("never-up", lambda p, t, on: set_down(p, True), expected("port_never_up", "info", onset=(0, 2)), port=Port(state=1), traffic=(0, 0)),
        simple("never-up-short", lambda p, t, on: set_down(p, t < 20), port=Port(state=1), traffic=(0, 0)),
        simple("up-all-the-time", rates()),
    ]


@scenario
def bad_link():
    # At 200G a bit error ratio of 1e-12 is 0.2 errors a second.
    full = (24e9, 1e9)
    return [
        simple("bad-link-warning", rates(symbol_errors=4), expected("bad_link"), traffic=full),
        simple("bad-link-critical", rates(symbol_errors=100), expected("bad_link", "critical"), traffic=full),
        simple("bad-link-crc", rates(crc_errors=4), expected("bad_link"), traffic=full, port=Port(driver="irdma")),
        simple("bad-link-icrc", rates(icrc=20), expected("bad_link"), traffic=full),
        simple("bad-link-below", rates(symbol_errors=0.05), traffic=full),
        simple("bad-link-two-errors", lambda p, t, on: p.once.update({"symbol_errors": 1} if t in (60, 90) else {}), traffic=full),
        simple("bad-link-one-burst", once(symbol_errors=50), traffic=full),
        simple("bad-link-corrected", rates(corrected_bits=1e6), traffic=full),
    ]


@scenario
def pre_fec_errors():
    # At 200G a ratio of 1e-5 is 2e6 bits a second.
    full = (24e9, 1e9)

    def node(name, bits, wanted):
        ports = [Port(f"mlx5_{i}") for i in range(4)]
        s = Scenario(name, ports, wanted)

        def behave(t):
            for port, rate in zip(ports, bits):
                busy(port, *full)
                port.rate["corrected_bits"] = rate(t)

        return s.run(400, behave)

    def steady(rate):
        return lambda t: rate

    def worn(p, t, on):
        p.rate["corrected_bits"] = 1e6 if t < 300 else 20e6

    def spoilt(p, t, on):
        worn(p, t, on)
        rates(symbol_errors=100 if t >= 300 else 0)(p, t, on)

    def returns(p, t, on):
        """Its switch was down for five minutes."""
        down = 200 <= t < 500
        set_down(p, down)
        busy(p, *((0, 0) if down else full))
        p.once["link_down"] = int(t == 200)
        p.rate["corrected_bits"] = 0 if down else 6e6

    # The mean of a minute is ten times the usual about 30 s after the rise.
    return [
        simple("pre-fec-rises", worn, expected("pre_fec_errors", onset=(310, 350)), seconds=500, traffic=full),
        simple("pre-fec-after-an-outage", returns, expected("link_flap", "critical", onset=(199, 203)), seconds=900, traffic=full),
        simple("pre-fec-from-nothing", lambda p, t, on: p.rate.update(corrected_bits=20e6 if t >= 300 else 0), expected("pre_fec_errors", onset=(299, 340)),
               seconds=500, traffic=full),
        simple("pre-fec-with-damage", spoilt, expected("bad_link", "critical", onset=(299, 303)), seconds=500, traffic=full),
        node("pre-fec-odd-one", [steady(3e6), steady(1e5), steady(2e5), steady(1e5)], [expected("pre_fec_errors", "info", onset=(28, 70))]),
        node("pre-fec-all-alike", [steady(3e6)] * 4, "none"),
        node("pre-fec-all-rise", [lambda t: 3e6 if t > 200 else 1e5] * 4, "none"),
        simple("pre-fec-usual", rates(corrected_bits=1e5), traffic=full),
        simple("pre-fec-one-burst", lambda p, t, on: p.once.update({"corrected_bits": 1e6} if t == 100 else {}), traffic=full),
    ]


@scenario
def storms_by_frames():
    """irdma counts PFC frames and no time. At 200G a frame pauses for at most 65535 * 512 / 200e9 = 168 us: 5,960 a second pause all the time."""
    def frames(direction, rate, traffic):
        name = series("roce_pfc_pause_frames_total", direction=direction, priority=SOLID)

        def behave(p, t, on):
            p.rate[name] = rate if on else 0
            if on:
                busy(p, *traffic)
        return behave

    def unread(p, t, on):
        """mlx5 counts both; its pauses are short, and for four seconds their time cannot be read."""
        p.rate[series("roce_pfc_pause_frames_total", direction="received", priority=SOLID)] = 8000 if on else 0
        p.hidden = {"roce_pfc_pause_seconds_total"} if 100 <= t < 104 else set()

    irdma = dict(driver="irdma")
    storm = expected("pause_storm_victim", "critical", onset=(59, 64))
    return [
        simple("frames-storm-victim", frames("received", 8000, (20e9, 0)), storm, port=Port(**irdma)),
        simple("frames-storm-source", frames("sent", 8000, (0, 20e9)), {**storm, "cause": "pause_storm_source"}, port=Port(**irdma)),
        simple("frames-few", frames("received", 2000, (20e9, 0)), port=Port(**irdma)),
        simple("frames-and-failed-reads", unread, port=Port(), traffic=(0, 0)),
        simple("frames-while-it-moves", frames("received", 8000, (20e9, 10e9)), port=Port(**irdma)),
    ]


@scenario
def device_nodes():
    return [
        simple("node-no-uverbs", rates(), expected("no_device_node", onset=(0, 2)), port=Port(health={"no_uverbs": True})),
        simple("node-no-umad", rates(), expected("no_device_node", "info", onset=(0, 2)), port=Port(health={"no_umad": True})),
        simple("node-none-while-down", lambda p, t, on: busy(p), port=Port(health={"no_uverbs": True}, state=0, was_active=False, admin_down=True), traffic=(0, 0)),
    ]


@scenario
def nic_resets():
    """A queue that hangs for five seconds is one timeout; a port that is paused all the time has them, too. Without a counter there is no verdict."""
    watched = {"tx_timeouts": 0, "health_reports": 0}

    def some(at=60, **values):
        def behave(p, t, on):
            p.rate.update(watched)
            once(at, **values)(p, t, on)
        return behave

    def paused_for_good(p, t, on):
        p.rate.update(watched)
        busy(p, 20e9, 0 if on else 20e9)
        p.pause["received"] = 1 if on else 0
        p.once.update({"tx_timeouts": 1} if t in (66, 72) else {})

    def resets_the_port(p, t, on):
        some(tx_timeouts=1)(p, t, on)
        set_down(p, 61 <= t < 64)
        p.once.update({"link_down": 1} if t == 61 else {})

    def begins_late(p, t, on):
        """Timeouts before the program was attached: the first value is only a base."""
        if t >= 80:
            some(at=80, tx_timeouts=5)(p, t, on)

    def three_times(p, t, on):
        p.rate.update(watched)
        p.once.update({"health_reports": 1} if t in (60, 360, 660) else {})

    return [
        simple("nic-reset-queue", some(tx_timeouts=1), expected("nic_reset", onset=(60, 63))),
        simple("nic-reset-report", some(health_reports=1), expected("nic_reset", onset=(60, 63))),
        simple("nic-reset-thrice", three_times, expected("nic_reset", "critical", onset=(60, 63)), seconds=800),
        simple("nic-reset-and-link", resets_the_port, [expected("nic_reset", onset=(60, 63)), expected("link_flap", "critical", onset=(60, 63))]),
        simple("nic-reset-of-a-storm", paused_for_good, expected("pause_storm_victim", "critical"), jitter=0),
        simple("nic-reset-none", some(at=500)),
        simple("nic-reset-before", begins_late),
    ]


@scenario
def one_paths():
    """16 queue pairs to one peer. Flow label 0 means a source port from their numbers, so it does not count as one path; soft-RoCE and Broadcom do not use the label for the port."""
    def qps(n, **more):
        return {"count": 16, "peers": 1, "not_ect": 0, "one_label": n, **more}

    def idle(p, t, _):
        busy(p, 1e3, 1e3)

    return [
        simple("one-path", rates(), expected("one_path", "info", onset=(0, 63)), port=Port(qps=qps(16))),
        simple("one-path-few", rates(), port=Port(qps=qps(7))),
        simple("one-path-none", rates(), port=Port(qps=qps(0))),
        simple("one-path-idle", idle, port=Port(qps=qps(16)), traffic=(0, 0)),
        simple("one-path-bnxt", rates(), port=Port(driver="bnxt_re", qps=qps(16)), undecided=[("mlx5_0", "one_path")]),
        simple("one-path-unknown", rates(), undecided=[("mlx5_0", "one_path")]),
    ]


@scenario
def slow_restarts():
    n = packets(20e9)
    return [
        simple("slow-restarts", rates(slow_restarts=200, slow_restart_cnps=50), expected("slow_restarts", "info", onset=(59, 63))),
        simple("slow-restarts-few", rates(slow_restarts=2)),
        # 30,000 CNPs against 10,000 marks contradict each other, unless slow restarts made 20,000 of them.
        simple("slow-restarts-make-cnps", rates(ce=0.004 * n, cnp_sent=0.004 * n + 20e3, slow_restarts=4, slow_restart_cnps=20e3)),
    ]


@scenario
def marks_by_cnps():
    """hns counts no marks; each CNP answers at least one."""
    n = packets(20e9)
    hns = dict(driver="hns")
    return [
        simple("cnps-prove-marks", rates(cnp_sent=0.03 * n), expected("fabric_congestion"), port=Port(**hns)),
        simple("cnps-prove-many-marks", rates(cnp_sent=0.2 * n), expected("fabric_congestion", "critical"), port=Port(**hns)),
        simple("cnps-too-few", rates(cnp_sent=0.004 * n), port=Port(**hns)),
    ]


@scenario
def loss():
    n = packets(20e9)
    return [
        simple("loss-warning", rates(nak=2e-5 * n), expected("packet_loss")),
        simple("loss-critical", rates(nak=1e-3 * n, timeouts=4), expected("packet_loss", "critical")),
        simple("loss-of-answers", rates(implied_nak=300), expected("packet_loss"), traffic=(20e9, 0.1e9)),
        simple("loss-rxe", rates(nak=500, timeouts=600, soft_timeouts=2), expected("packet_loss", "critical"), port=Port(driver="rxe", gbps=25),
               traffic=(0.1e9, 1e9)),
        simple("loss-below", rates(nak=2e-7 * n)),
        simple("loss-lossy", rates(nak=2e-5 * n), cc="lossy"),
        simple("loss-once", once(nak=40)),
        simple("timeouts-alone", rates(timeouts=2)),
        simple("reordering", rates(oos=0.001 * n), expected("reordering", "info")),
        simple("reordering-bnxt", rates(oos=5000), expected("reordering", "info"), port=Port(driver="bnxt_re")),
        simple("reordering-rare", rates(oos=5)),
        simple("reordering-short", lambda p, t, on: p.rate.update(oos=5000 if 60 <= t < 75 else 0)),
    ]


@scenario
def neighbours():
    def node(name, shares, wanted, ce=0.04):
        pf = Port("mlx5_0", pods=[])
        vfs = [Port(f"mlx5_{i + 1}", parent="0000:01:00.0", pods=[f"team/pod-{i + 1}"], settings=None) for i in range(len(shares))]
        for vf in vfs:
            vf.hidden.update(("roce_pfc_pause_seconds_total", "roce_priority_bytes_total"))
        s = Scenario(name, [pf] + vfs, wanted)

        def behave(t):
            busy(pf, 1e6, 1e6)
            for vf, share in zip(vfs, shares):
                busy(vf, 24e9 * share, 1e9 * share)
                marks = ce * packets(24e9 * share) * (t >= 60)
                vf.rate.update(ce=marks, cnp_sent=marks / 50)

        return s.run(200, behave)

    noisy = expected("noisy_neighbour", onset=(59, 65), pod="team/pod-2", caused_by=["team/pod-1"])
    marked = [expected("fabric_congestion", device=f"mlx5_{i}", pod=f"team/pod-{i}") for i in (1, 2)]
    return [
        # The marks of its VFs are its symptoms, not a congested fabric.
        node("neighbour-noisy", (0.9, 0.1), [noisy]),
        node("neighbour-noisy-of-three", (0.8, 0.1, 0.1), [noisy]),
        node("neighbour-alone", (1, 0), [marked[0]]),
        node("neighbour-uncongested", (0.95, 0.05), "none", ce=0),
        node("neighbour-fair", (0.5, 0.5), marked),
    ]


@scenario
def applications():
    def failing(p, t, _):
        if t == 60:
            p.once.update(retries_exceeded=4)
        if t >= 60:
            busy(p)

    def idle_after(p, t, on):
        """One of the queue pairs dies while the others go on for 15 s; then the job is idle."""
        busy(p, *((20e9, 20e9) if t < 75 else (0, 0)))
        p.once.update(dict(retries_exceeded=1, cqe_errors=1) if t == 60 else {})

    return [
        simple("peer-gone-then-idle", idle_after, expected("peer_gone", onset=(60, 68), onsets=1), thresholds={"hold_seconds": 10, "release_seconds": 3}),
        simple("not-ready-sent", rates(rnr_nak=200), expected("receiver_not_ready")),
        simple("not-ready-exceeded", once(rnr_nak=1, rnr_exceeded=1), expected("receiver_not_ready", "critical")),
        simple("not-ready-few", rates(rnr_nak=3)),
        simple("not-ready-burst", once(wqe_missing=8)),
        simple("peer-gone", once(retries_exceeded=1, cqe_errors=1), expected("peer_gone", onset=(60, 68))),
        simple("peer-gone-all", failing, expected("peer_gone", onset=(60, 92))),
        simple("peer-flushed", rates(cqe_flushed=100)),
        simple("peer-slow", rates(timeouts=0.5)),
        simple("job-ended-at-once", lambda p, t, on: (failing(p, t, on), with_keys(pods=[{"namespace": "train", "name": "train-7", "ended": True}])(p, t, on)),
               expected("job_ended", "info", onset=(60, 62))),
        simple("job-ended-later", lambda p, t, on: (failing(p, t, on), p.extra.update(
            {"pods": [{"namespace": "train", "name": "train-7", "ended": True}]} if t == 75 else {})), expected("job_ended", "info", onset=(60, 77))),
        simple("job-ended-clean", lambda p, t, on: (busy(p, *((0, 0) if on else (20e9, 20e9))), with_keys(pods=[
            {"namespace": "train", "name": "train-7", "ended": True}])(p, t, on))),
        simple("job-goes-on", rates()),
        simple("wrong-key", once(access_errors=1, cqe_errors=1), expected("application_error")),
        simple("wrong-length", rates(length_errors=3), expected("application_error")),
        simple("wrong-request", once(invalid_requests=2), expected("application_error")),
        simple("completions-flushed", once(cqe_flushed=64)),
        simple("completions-with-errors", once(cqe_errors=2)),
    ]


@scenario
def trust():
    def frozen(p, _, on):
        if on:
            for d in ("received", "sent"):
                p.base[f'roce_packets_total{{direction="{d}"}}'] = p.frozen[d]
        else:
            p.frozen = {d: p.values()[f'roce_packets_total{{direction="{d}"}}'] for d in ("received", "sent")}

    def all_frozen(p, t, on):
        """No RDMA counter changes; those of the priorities, which another part of the driver reads, keep rising."""
        for family in ("roce_bytes_total", "roce_packets_total"):
            for d in ("received", "sent"):
                name = f'{family}{{direction="{d}"}}'
                if not on:
                    p.frozen = {**getattr(p, "frozen", {}), name: p.values().get(name, 0)}
                else:
                    p.base[name] = p.frozen[name]

    ill = (60, 62)
    return [
        simple("stuck-devlink", with_keys(health={"devlink_error": "fw_fatal"}), expected("nic_stuck", "critical", onset=ill)),
        simple("stuck-unreachable", with_keys(health={"unreachable": True}), expected("nic_stuck", "critical", onset=ill)),
        simple("stuck-counters", frozen, expected("nic_stuck", onset=(60, 75))),
        simple("stuck-all-counters", all_frozen, expected("nic_stuck", onset=(60, 75)), may=["wrong_priority"]),
        simple("stuck-others-traffic", lambda p, t, on: p.other.update({("sent", SOLID): 5e9}), traffic=(0, 0)),
        simple("stuck-driverless", rates(), expected("nic_stuck", "critical", onset=(0, 2)), port=Port(health={"driverless": True})),
        simple("stuck-idle", rates(), traffic=(0, 0)),
        simple("stuck-commands", lambda p, t, on: p.extra.update({"health": {"command_failures": 100 + 5 * on}} if t in (0, 60) else {}),
               expected("nic_stuck", onset=ill)),
        simple("stuck-old-failures", rates(), port=Port(health={"command_failures": 900})),
        simple("restricted", rates(), expected("function_restricted", "info", onset=(0, 2)), port=Port(health={"restricted": "ACCESS_REG"})),
        simple("restricted-later", with_keys(health={"restricted": "ACCESS_REG"}), expected("function_restricted", "info", onset=ill)),
        simple("not-restricted", with_keys(health={})),
        simple("not-restricted-either", with_keys(health={"restricted": ""})),
        simple("contradiction-cnp", rates(ce=1000, cnp_sent=5000), expected("contradicting_counters", onset=(60, 75))),
        simple("contradiction-optional", rates(ce=1000, cnp_sent=500, optional_ce=9000), expected("contradicting_counters", onset=(60, 75))),
        simple("contradiction-short", lambda p, t, on: p.rate.update(ce=1000 if on else 0, cnp_sent=5000 if 60 <= t < 64 else 100 * on)),
        simple("contradiction-coalesced", rates(ce=6200, cnp_sent=100)),
        simple("blind-source", lambda p, t, on: p.extra.update({"sources": {"ethtool": max(0, t - 60)}}), expected("blind_spot", "info", onset=(69, 75), pod="train/train-7")),
        simple("blind-beyond-line", lambda p, t, on: busy(p, *(90e9 if on else 10e9, 1e9)), expected("blind_spot", "info", onset=(60, 63))),
        simple("blind-fresh", lambda p, t, on: p.extra.update({"sources": {"ethtool": 3}})),
        simple("blind-unused", rates()),
        simple("cnp-lost-is-nobodys", rates(), undecided=[("mlx5_0", "cnp_lost")]),
    ]


@scenario
def two_at_once():
    """Two faults: neither hides the other, unless it explains it."""
    n = packets(20e9)

    def a_and_b(p, t, on):
        rates(ce=0.04 * n, cnp_sent=9e3)(p, t, on)
        p.once.update({"access_errors": 1} if t == 80 else {})

    def dirty_and_congested(p, t, on):
        rates(ce=0.04 * n, cnp_sent=9e3, symbol_errors=100, crc_errors=80)(p, t, on)

    def slow_and_lossy(p, t, on):
        p.pause["sent"] = 0.2 if on else 0
        rates(nak=2e-5 * n, symbol_errors=100)(p, t, on)

    return [
        simple("two-congestion-and-key", a_and_b, [expected("fabric_congestion"), expected("application_error", onset=(80, 82))]),
        simple("two-optic-and-congestion", dirty_and_congested, [expected("fabric_congestion"), expected("bad_link", "critical")]),
        simple("two-optic-and-slow-host", slow_and_lossy, [expected("bad_link", "critical", explains="packet_loss"),
                                                         expected("slow_receiver", "critical")], traffic=(12e9, 20e9)),
        simple("two-flap-explains-loss", lambda p, t, on: (rates(nak=1e-4 * n)(p, t, 60 <= t < 80), once(link_down=1)(p, t, on)),
               expected("link_flap", onset=(60, 62), explains="packet_loss")),
    ]
