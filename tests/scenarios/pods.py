# SPDX-License-Identifier: Apache-2.0
"""pods.py - ports of pods, and the cable that they share: single ports down, all ports of a cable down, and the VF at fault."""
from stories import busy, set_down
from world import Port, Scenario, expected, packets, scenario

PF_FUNCTION = "0000:01:00.0"


def vf(number, **identity):
    port = Port(f"mlx5_{number}", settings=None, **{"parent": PF_FUNCTION, "pods": [f"train/rank-{number}"], **identity})
    port.hidden.update(("roce_pfc_pause_seconds_total", "roce_priority_bytes_total"))
    return port


def node(name, n_vfs, behave, wanted="none", seconds=300, vfs=None, uplink=None, **more):
    """A PF without a pod, with VFs of pods; behave(t, pf, vfs) is called before each sample."""
    pf, vfs = uplink or Port("mlx5_0", pods=[]), vfs or [vf(i + 1) for i in range(n_vfs)]
    s = Scenario(name, [pf] + vfs, wanted, **more)

    def each(t):
        busy(pf, 1e6, 1e6)
        for port in vfs:
            if port.identity["state"] == 4:
                busy(port, 1e9, 1e9)
        behave(t, pf, vfs)

    return s.run(seconds, each)


def fall(port, down, off=None):
    """off: the port alone is down, its PF's link is up."""
    set_down(port, down)
    if down:
        busy(port)
    if off is not None:
        port.extra["admin_down"] = off


def off(since=60, until=100000, number=0):
    """behave() in which the port of one VF is off."""
    def behave(t, _, vfs):
        down = since <= t < until
        fall(vfs[number], down)
        if t in (since, until):
            vfs[number].extra["admin_down"] = down
    return behave


def together(*whats):
    def behave(t, pf, vfs):
        for what in whats:
            what(t, pf, vfs)
    return behave


def pods_change(at, pods, number=0):
    def behave(t, _, vfs):
        if t == at:
            vfs[number].extra["pods"] = pods
    return behave


def port_off(number=1, severity="warning", onset=(59, 62), **more):
    return expected("port_off", severity, f"mlx5_{number}", onset, f"train/rank-{number}", **more)


def cable(since, until, pf_since=None, pf_until=None):
    """behave() in which the PF's link is down, and the ports of its VFs with it."""
    def behave(t, pf, vfs):
        for port in vfs:
            fall(port, since <= t < until)
        down = (pf_since or since) <= t < (pf_until or until)
        set_down(pf, down)
        if down:
            busy(pf)
        if t == (pf_since or since):
            pf.once["link_down"] = 1
    return behave


@scenario
def ports_that_are_off():
    ended = [{"namespace": "train", "name": "rank-1", "ended": True}]
    other = [{"namespace": "train", "name": "rank-9", "ended": False}]
    down = [vf(1, state=1, admin_down=True), vf(2)]

    def never(t, _, vfs):
        fall(vfs[0], True)

    def pulled(t, _, vfs):
        """The image of its pod is pulled for five minutes."""
        fall(vfs[0], t < 300)
        if t == 300:
            vfs[0].extra["admin_down"] = False

    def moves(t, _, vfs):
        """Moves into the pod: down for a while, unreadable in between."""
        fall(vfs[0], 60 <= t < 80)
        if t in (60, 80):
            vfs[0].extra["admin_down"] = t == 60
        vfs[0].present = not 64 <= t < 66

    return [
        node("port-off-in-pod", 2, off(), [port_off(opened_by=94, open_at_end=True)]),
        node("port-off-for-a-while", 2, off(until=160), [port_off(closed=(185, 225))]),
        node("port-off-loses-its-peers", 1, together(off(), lambda t, _, vfs: vfs[0].once.update({"retries_exceeded": 8} if t == 69 else {})),
             [port_off(), expected("peer_gone", device="mlx5_1", onset=(68, 77), pod="train/rank-1", reason="explained")]),
        node("port-off-shortly", 2, off(until=85)),
        node("port-off-while-it-moves", 2, moves),
        node("port-off-of-no-pod", 2, off(), vfs=[vf(1, pods=[]), vf(2)]),
        node("port-off-as-its-pod-ends", 2, together(off(), pods_change(75, ended), pods_change(140, []))),
        node("port-off-until-its-pod-ends", 2, together(off(), pods_change(200, ended), pods_change(260, [])), [port_off(closed=(228, 240))]),
        node("port-off-of-the-next-pod", 2, together(off(), pods_change(80, other)), [expected("port_off", "info", "mlx5_1", (79, 82), "train/rank-9")],
             thresholds={"port_unused_seconds": 120}),
        node("port-off-before-its-pod", 2, together(off(), pods_change(100, [{"namespace": "train", "name": "rank-1", "ended": False}])),
             vfs=[vf(1, pods=[]), vf(2)]),
        node("port-off-never-up", 2, never, [port_off(1, "info", (0, 2), opened_by=604)], seconds=800, vfs=down),
        node("port-off-image-pulled", 2, pulled, seconds=400, vfs=[vf(1, state=1, admin_down=True), vf(2)]),
        node("port-off-after-a-restart", 2, never, [port_off(1, "warning", (0, 2), opened_by=34)], vfs=[vf(1, state=1, admin_down=True, was_active=True), vf(2)]),
        node("port-off-link-disabled", 2, together(off(), lambda t, _, vfs: vfs[0].extra.update({"link_disabled": True} if t == 60 else {})),
             [port_off(remark="VF link state")]),
    ]


@scenario
def ports_of_one_cable():
    one = expected("link_flap", "critical", device="mlx5_0", onset=(59, 62), pod="train/rank-1")
    late = [{**one, "onset": [60, 63]}]

    def stays(t, pf, vfs):
        """The cable is back after a minute; one VF stays down, because its PF disabled it meanwhile."""
        cable(60, 120)(t, pf, vfs)
        if t >= 60:
            fall(vfs[1], True)
        if t == 120:
            vfs[1].extra["admin_down"] = True

    def first_off(t, pf, vfs):
        cable(120, 240)(t, pf, vfs)
        fall(vfs[0], t >= 60)
        if t == 60:
            vfs[0].extra["admin_down"] = True

    return [
        node("one-cable", 6, cable(60, 63), [{**one, "closed": (115, 140)}]),
        node("one-cable-critical", 6, cable(60, 1000), [{**one, "severity": "critical", "open_at_end": True}], seconds=400, affected={"mlx5_0": 6}),
        node("one-cable-of-a-management-port", 2, cable(60, 1000), [{**one, "severity": "critical", "open_at_end": True}], seconds=400,
             uplink=Port("mlx5_0", pods=[], management=True, qps={"count": 0, "peers": 0})),
        node("one-cable-vfs-first", 3, cable(60, 90, pf_since=61, pf_until=91), late),
        node("one-cable-vfs-last", 3, cable(61, 91, pf_since=60, pf_until=90), [one]),
        node("one-cable-thrice", 3, together(*[lambda t, pf, vfs, at=at: cable(at, at + 5)(t, pf, vfs) if at <= t < at + 100 else None for at in (60, 160, 260)]),
             [{**one, "severity": "critical"}], seconds=400),
        node("one-cable-vf-stays-down", 3, stays, [one, port_off(2, onset=(119, 122), open_at_end=True)]),
        node("one-cable-vf-was-off", 3, first_off, [port_off(1, onsets=2, open_at_end=True, reason="explained"),
                                                   {**one, "onset": [119, 122]}], seconds=500),
        node("one-cable-without-its-pf", 2, lambda t, pf, vfs: [fall(v, 60 <= t < 90) for v in vfs],
             [expected("link_flap", "critical", device=f"mlx5_{i}", onset=(59, 62), pod=f"train/rank-{i}") for i in (1, 2)],
             vfs=[vf(1, parent="0000:99:00.0"), vf(2, parent="0000:99:00.0")]),
    ]


@scenario
def links_and_since_when():
    def unmasked(t, _, vfs):
        fall(vfs[0], t >= 60)
        if t in (60, 140):
            vfs[0].extra["admin_down"] = t == 60

    wanted = expected("link_flap", "critical", device="mlx5_1", onset=(59, 62), pod=None, evidence="times the link went down in 12 h")
    return [node("link-down-since", 1, unmasked, [wanted], seconds=200, vfs=[vf(1, pods=[], parent="0000:99:00.0")])]


@scenario
def neighbours_of_a_full_port():
    def shares(name, of, total, wanted, ce=0.04, pause=0.0):
        def behave(t, pf, vfs):
            for port, share in zip(vfs, of(t)):
                busy(port, total * share, 1e9 * share)
                marks = ce * packets(total * share) * (t >= 60)
                port.rate.update(ce=marks, cnp_sent=marks / 50)
            pf.pause["sent"] = pause if t >= 60 else 0
        return node(name, len(of(0)), behave, wanted)

    noisy = expected("noisy_neighbour", device="mlx5_0", onset=(59, 65), pod="train/rank-2", caused_by=["train/rank-1"])
    marked = [expected("fabric_congestion", device=f"mlx5_{i}", pod=f"train/rank-{i}") for i in (1, 2)]
    return [
        shares("neighbour-not-full", lambda t: (0.9, 0.1), 8e9, marked),
        shares("neighbour-full", lambda t: (0.9, 0.1), 24e9, [noisy]),
        shares("neighbour-paused", lambda t: (0.9, 0.1), 8e9, [noisy], ce=0, pause=0.2),
        shares("neighbour-becomes-fair", lambda t: (0.9, 0.1) if t < 120 else (0.5, 0.5), 24e9, [{**noisy, "closed": (148, 200)}] + marked),
        shares("neighbour-of-three-becomes-fair", lambda t: (0.8, 0.1, 0.1) if t < 120 else (0.36, 0.34, 0.3), 24e9, [{**noisy, "closed": (148, 200)}] + marked + [
            expected("fabric_congestion", device="mlx5_3", pod="train/rank-3")]),
    ]
