# SPDX-License-Identifier: Apache-2.0
"""stories.py - twelve stories, with the arithmetic of each in its comments. A = sender, B = receiver, onset at t = 60."""
from world import Port, Scenario, expected, line, packets, payload, scenario


def busy(port, received=0.0, sent=0.0):
    port.received, port.sent = received, sent


@scenario
def story_01_incast():
    """16 to 1, 400G: B at 0.99 of the line's capacity, 8 % of its packets marked, one CNP for each of 16 flows every 50 us."""
    b = Port("mlx5_0", 400, qps={"count": 16, "peers": 16})
    s = Scenario("story-01-incast", [b], [expected("incast")])

    def behave(t):
        busy(b, (48.5e9 if t >= 60 else 20e9), 1e9)
        b.rate.update(ce=0.08 * packets(48.5e9) if t >= 60 else 0, cnp_sent=300e3 if t >= 60 else 0)

    return s.run(240, behave)


@scenario
def story_01_sender():
    """One of its senders: 3.03 GB/s, and notifications for 2.5 % of its packets."""
    a = Port("mlx5_0", 400)
    s = Scenario("story-01-sender", [a], [expected("fabric_congestion", "info")])

    def behave(t):
        busy(a, 1e9, 3.03e9 if t >= 60 else 6e9)
        a.rate.update(cnp_received=18.8e3 if t >= 60 else 0, cnp_handled=18.8e3 if t >= 60 else 0)

    return s.run(240, behave)


@scenario
def story_01_near_miss():
    """Two peers fill the line, nothing is marked."""
    b = Port("mlx5_0", 400, qps={"count": 2, "peers": 2})
    return Scenario("story-01-near-miss", [b]).run(240, lambda t: busy(b, 0.99 * payload(400), 1e9))


@scenario
def story_02_two_elephants():
    """Two flows share one uplink: each receiver half empty, 3 % of its 2.98 M packets a second marked, one peer."""
    ports = [Port(f"mlx5_{i}", 200, qps={"count": 8, "peers": 1}, pods=[f"train/rank-{i}"]) for i in range(8)]
    wanted = [expected("fabric_congestion", device=f"mlx5_{i}", pod=f"train/rank-{i}") for i in (0, 1)]
    s = Scenario("story-02-two-elephants", ports, wanted)

    def behave(t):
        for i, p in enumerate(ports):
            hit = i < 2 and t >= 60
            busy(p, 12.2e9 if hit else 24.4e9, 1e9)
            p.rate.update(ce=89e3 if hit else 0, cnp_sent=12e3 if hit else 0)

    return s.run(240, behave)


@scenario
def story_02_near_miss():
    """The same drop without a mark: the application became slower, and the network is reported as not the cause."""
    a = Port("mlx5_0", 200)
    s = Scenario("story-02-near-miss", [a], clear=["mlx5_0"])
    return s.run(240, lambda t: busy(a, 1e9, 10e9 if t >= 60 else 24.4e9))


@scenario
def story_03_half_width_slot():
    """B drains 27 GB/s of a 400G line over PCIe x8: it sends pause for 0.45 of the time, and waits for PCIe for 0.6. Its sender is paused for 0.4, without other symptoms."""
    b = Port("mlx5_0", 400, pods=["train/b"], settings={"pfc": [3], "pcie": {"width": 8, "max_width": 16, "gt_s": 32, "max_gt_s": 32}})
    a = Port("mlx5_1", 400, pods=["train/a"])
    s = Scenario("story-03-half-width-slot", [b, a], [
        expected("pcie_degraded", onset=(0, 3), pod="train/b", reason="explained"),
        expected("slow_receiver_pcie", "critical", pod="train/b", explains="pcie_degraded"),
        expected("paused_by_network", "warning", "mlx5_1", pod="train/a")])

    def behave(t):
        on = t >= 60
        busy(b, 27e9 if on else 20e9, 1e9)
        busy(a, 1e9, 27e9 if on else 20e9)
        b.pause["sent"] = 0.45 if on else 0
        a.pause["received"] = 0.4 if on else 0
        b.rate["pcie_seconds"] = 1 if on else 0
        b.gauge["pcie_stalled"] = 0.6 if on else 0.02

    return s.run(240, behave)


@scenario
def story_03_near_miss():
    """PCIe stalls, the line is full, no port is paused."""
    b = Port("mlx5_0", 400)
    b.gauge["pcie_stalled"] = 0.6
    return Scenario("story-03-near-miss", [b]).run(240, lambda t: busy(b, 0.98 * payload(400), 1e9))


@scenario
def story_04_receiver_not_ready():
    """1,500 RNR NAKs a second: the receiver's CPU is throttled. A counts the NAKs, B the missing work requests."""
    a = Port("mlx5_0", 100, pods=["train/a"])
    b = Port("mlx5_1", 100, pods=["train/b"])
    s = Scenario("story-04-receiver-not-ready", [a, b], [
        expected("receiver_not_ready", device="mlx5_0", pod="train/a"), expected("receiver_not_ready", device="mlx5_1", pod="train/b")])

    def behave(t):
        on = t >= 60
        busy(a, 0.1e9, 1.1e9 if on else 12.2e9)
        busy(b, 1.1e9 if on else 12.2e9, 0.1e9)
        a.rate["rnr_nak"] = b.rate["wqe_missing"] = 1500 if on else 0

    return s.run(240, behave)


@scenario
def story_04_near_miss():
    """Five RNR NAKs while a job starts."""
    a = Port("mlx5_0", 100)
    s = Scenario("story-04-near-miss", [a])

    def behave(t):
        busy(a, 0.1e9, 12e9 if t >= 60 else 0)
        if t in (60, 61):
            a.once["rnr_nak"] = 2 if t == 60 else 3

    return s.run(200, behave)


@scenario
def story_05_storm_source():
    """B's host hangs: paused all the time from the first full sample; the NIC's watchdog ends that after 8 s, and drops 11.9 M packets a second."""
    b = Port("mlx5_0", 400)
    s = Scenario("story-05-storm-source", [b], [expected("pause_storm_source", "critical", opened_by=63, open_at_end=True)], jitter=0)

    def behave(t):
        on = t >= 60
        busy(b, 0 if on else 40e9, 0.1e9)
        b.other[("received", 0)] = 0.2e9
        b.pause["sent"] = 1 if 60 <= t < 68 else 0
        b.rate["discards"] = 11.9e6 if t >= 68 else 0
        if t == 66:
            b.once["storm_warnings"] = 1
        if t == 67:
            b.once["storm_errors"] = 1

    return s.run(200, behave)


@scenario
def story_05_near_miss():
    """Paused for one sample, while 20 GB/s arrive on that priority: a contradiction, not a storm."""
    b = Port("mlx5_0", 400)
    s = Scenario("story-05-near-miss", [b])

    def behave(t):
        busy(b, 20e9, 1e9)
        b.pause["sent"] = 1 if t == 60 else 0

    return s.run(200, behave)


@scenario
def story_06_storm_victim():
    """Nothing can be sent from 60 on; ACK timers fire one time-out later, and 16 queue pairs die at 94 s."""
    a = Port("mlx5_0", 400, qps={"count": 16, "peers": 4})
    s = Scenario("story-06-storm-victim", [a], [
        expected("pause_storm_victim", "critical", opened_by=63, first_moved="roce_pfc_pause_seconds_total", open_at_end=True)], jitter=0)

    def behave(t):
        on = t >= 60
        busy(a, 0.1e9, 0 if on else 40e9)
        a.other[("sent", 0)] = 0.2e9
        a.pause["received"] = 1 if on else 0
        a.rate["timeouts"] = 4 if 64 <= t < 94 else 0
        if t == 94:
            a.once.update(retries_exceeded=16, cqe_errors=16)

    return s.run(240, behave)


@scenario
def story_06_near_miss():
    """Paused for 0.97 of the time while 3 % of the line rate pass: severe, but not a storm."""
    a = Port("mlx5_0", 400)
    s = Scenario("story-06-near-miss", [a], [expected("paused_by_network", "warning")])

    def behave(t):
        on = t >= 60
        busy(a, 0.1e9, 0.03 * payload(400) if on else 30e9)
        a.pause["received"] = 0.97 if on else 0

    return s.run(200, behave)


@scenario
def story_07_pfc_missing():
    """Loss events of 1e-3 on 5.5 M packets a second: 5.5 k NAKs a second at A, the gaps at B."""
    a = Port("mlx5_0", 200, pods=["train/a"])
    b = Port("mlx5_1", 200, pods=["train/b"])
    s = Scenario("story-07-pfc-missing", [a, b], [expected("packet_loss", "critical", pod="train/a")], may=["reordering"])

    def behave(t):
        on = t >= 60
        busy(a, 1e9, 22.9e9 if on else 24.3e9)
        busy(b, 20.4e9 if on else 24.3e9, 1e9)
        a.rate.update(nak=5500 if on else 0, implied_nak=20 if on else 0, timeouts=8 if on else 0)
        b.rate["oos"] = 5600 if on else 0

    return s.run(240, behave)


@scenario
def story_07_near_miss():
    """Adaptive routing: 20 k packets a second out of order, no NAK, no time-out, full rate."""
    b = Port("mlx5_0", 200)
    s = Scenario("story-07-near-miss", [b], [expected("reordering", "info")])

    def behave(t):
        busy(b, 24.3e9, 1e9)
        b.rate["oos"] = 20e3 if t >= 60 else 0

    return s.run(240, behave)


@scenario
def story_08_dirty_optic():
    """50 symbol errors a second of 4e11 bits: 1.2e-10, nearly all on lane 2; and the resulting gaps."""
    b = Port("mlx5_0", 400, lossless=(3,))
    lanes = {f'roce_phy_lane_errors_total{{lane="{i}"}}': 0 for i in range(4)}
    b.rate.update(lanes)
    s = Scenario("story-08-dirty-optic", [b], [
        expected("bad_link", "critical", evidence='lane="2"', first_moved="roce_phy_symbol_errors_total")], may=["reordering"])

    def behave(t):
        on = t >= 60
        busy(b, 48e9, 1e9)
        b.rate.update(symbol_errors=50 if on else 0, crc_errors=30 if on else 0, corrected_bits=4e6 if on else 4e5, oos=29 if on else 0)
        b.rate.update({k: (48 if '"2"' in k else 1) * on for k in lanes})

    return s.run(240, behave)


@scenario
def story_08_near_miss():
    """Corrected bits on all eight ports, nothing uncorrectable: normal for PAM4."""
    ports = [Port(f"mlx5_{i}", 400) for i in range(8)]
    s = Scenario("story-08-near-miss", ports)

    def behave(_):
        for p in ports:
            busy(p, 40e9, 1e9)
            p.rate["corrected_bits"] = 4e5

    return s.run(180, behave)


def set_down(port, down):
    port.base["roce_port_state"] = 1 if down else 4
    port.base["roce_port_rate_bytes_per_second"] = 0 if down else line(port.gbps)


@scenario
def story_09_flap_and_moved_gid():
    """Down for 3 s; an address moves; the old queue pairs die 8.6 s later."""
    a = Port("mlx5_0", 200, qps={"count": 16, "peers": 4})
    s = Scenario("story-09-flap-and-moved-gid", [a], [expected("link_flap", "critical", onset=(60, 62), opened_by=62, remark="another GID index")])

    def behave(t):
        busy(a, 0, 0 if t >= 60 else 20e9)
        set_down(a, 60 <= t < 63)
        if t == 60:
            a.once["link_down"] = 1
        if t == 63:
            a.extra = {"gid_moved": True}
        a.rate["timeouts"] = 2 if 61 <= t < 69 else 0
        if t == 69:
            a.once["retries_exceeded"] = 16

    return s.run(240, behave)


@scenario
def story_09_near_miss():
    """The driver is reloaded: the device is missing for 2 s, every counter restarts."""
    a = Port("mlx5_0", 200, start=1e9)
    s = Scenario("story-09-near-miss", [a])

    def behave(t):
        busy(a, 1e9, 0 if 60 <= t < 70 else 20e9)
        a.present = not 60 <= t < 62
        if t == 61:
            a.count = {k: 0 for k in a.count}

    return s.run(200, behave)


@scenario
def story_10_wrong_class():
    """DevX queue pairs send DSCP 0: 0.9 of 44.9 GB/s are on priority 0, and some of it is lost."""
    a = Port("mlx5_0", 400, lossless=(5,), settings={"pfc": [5], "trust": "dscp"})
    s = Scenario("story-10-wrong-class", [a], [expected("wrong_priority")])

    def behave(t):
        on = t >= 60
        busy(a, 0, 44.9e9)
        a.on_priority = {5: 44 / 44.9 / (1 + 58 / 4096), 0: 0.02} if on else {5: 1}
        a.rate["timeouts"] = 3 if on else 0
        if t == 150:
            a.once["retries_exceeded"] = 1

    return s.run(240, behave)


@scenario
def story_10_near_miss():
    """2 GB/s of TCP on priority 0 beside RDMA on its own."""
    a = Port("mlx5_0", 400, lossless=(5,), settings={"pfc": [5]})
    a.on_priority = {5: 1}
    a.other[("sent", 0)] = 2e9
    return Scenario("story-10-near-miss", [a]).run(180, lambda t: busy(a, 0, 40e9))


def silent_pause(name, cc, wanted, **identity):
    a = Port("mlx5_0", 200, **identity)
    s = Scenario(name, [a], wanted, cc=cc)

    def behave(t):
        on = t >= 60
        busy(a, 0.1e9, 6.1e9 if on else 20e9)
        a.pause["received"] = 0.75 if on else 0

    return s.run(240, behave)


@scenario
def story_11_ecn_never_acts():
    """Paused 0.75 of the time, no notification: not ECN capable if the queue pairs report that, undecided otherwise; severity info on a fabric with PFC only."""
    return [
        silent_pause("story-11-not-ecn-capable", "unknown", [expected("not_ecn_capable", "info", explains="paused_by_network")],
                     qps={"count": 8, "peers": 1, "not_ect": 8}),
        silent_pause("story-11-undecided", "dcqcn", [expected("paused_by_network", "warning")]),
        silent_pause("story-11-unknown", "unknown", [expected("paused_by_network", "info")]),
        silent_pause("story-11-pfc-only", "pfc_only", [expected("paused_by_network", "warning")], qps={"count": 8, "peers": 1, "not_ect": 8}),
    ]


@scenario
def story_11_near_miss():
    """The same pause with 20 k notifications a second: the loop works, and late."""
    a = Port("mlx5_0", 200)
    s = Scenario("story-11-near-miss", [a], [expected("fabric_congestion", "warning")])

    def behave(t):
        on = t >= 60
        busy(a, 0.1e9, 6.1e9 if on else 20e9)
        a.pause["received"] = 0.75 if on else 0
        a.rate.update(cnp_received=20e3 if on else 0, cnp_handled=20e3 if on else 0)

    return s.run(240, behave)


@scenario
def story_12_peer_vanishes():
    """One of eight peers is killed: time-outs, then its queue pair dies after 8.6 s; all others continue."""
    a = Port("mlx5_0", 200, qps={"count": 8, "peers": 8})
    s = Scenario("story-12-peer-vanishes", [a], [expected("peer_gone", "warning", onset=(60, 63), peer="10.1.0.7")])

    def behave(t):
        busy(a, 10e9, 20e9 if t < 60 else 17.5e9)
        a.rate["timeouts"] = 1 if 61 <= t < 69 else 0
        if t == 69:
            a.once.update(retries_exceeded=1, cqe_errors=1)
            a.extra = {"qps": {"count": 8, "peers": 8, "failed": 1, "failed_peers": 1, "peer": "10.1.0.7"}}

    return s.run(240, behave)


@scenario
def story_12_job_ends():
    """All queue pairs of one pod die at once, traffic ends, and its container ends half a minute later."""
    a = Port("mlx5_0", 200, qps={"count": 8, "peers": 8})
    s = Scenario("story-12-job-ends", [a], [expected("job_ended", "info", onset=(60, 92))])

    def behave(t):
        busy(a, 10e9 if t < 60 else 0, 20e9 if t < 60 else 0)
        a.rate["timeouts"] = 8 if 61 <= t < 69 else 0
        if t == 69:
            a.once["retries_exceeded"] = 8
        if t == 80:
            a.extra = {"pods": [{"namespace": "train", "name": "train-7", "ended": True}]}

    return s.run(240, behave)
