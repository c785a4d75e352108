# SPDX-License-Identifier: Apache-2.0
"""healthy.py - two minutes to an hour without a fault, of all kinds of nodes. None may get a verdict. test_healthy runs another thousand node-hours."""
from stories import busy
from world import DRIVERS, Port, Scenario, packets, payload, scenario

QUARTER = 900


def quiet(name, behave, ports=None, seconds=QUARTER, **header):
    ports = ports or [Port(f"mlx5_{i}", 400) for i in range(2)]
    return Scenario(f"healthy-{name}", ports, **header).run(seconds, lambda t: [behave(p, t) for p in ports])


def training(p, t):
    """One second of full load, one idle; 0.3 % of the packets marked, hardly any pause."""
    on = int(t) % 2 == 0
    rate = 0.97 * payload(p.gbps) if on else 0
    busy(p, rate, rate)
    p.rate.update(ce=0.003 * packets(rate), cnp_sent=0.001 * packets(rate), cnp_received=0.001 * packets(rate), cnp_handled=0.001 * packets(rate),
                  corrected_bits=4e5)
    p.pause.update(sent=0.0005, received=0.0005)


def storage(p, t):
    share = (0.2, 0.5, 0.35, 0.6)[int(t / 7) % 4]
    busy(p, share * payload(p.gbps), (0.7 - share) * payload(p.gbps))
    p.rate.update(ce=0.001 * packets(p.received), cnp_sent=0.0003 * packets(p.received), oos=0.3, rnr_nak=0.5)


def checkpoint(p, t):
    writes = 300 <= t < 600
    busy(p, 0.1e9, 0.99 * payload(p.gbps) if writes else 2e9)


def saw_tooth(p, t):
    """Congestion control at work: marks for two seconds of twenty, then recovery."""
    busy(p, (0.6 + 0.018 * (int(t) % 20)) * payload(p.gbps), 1e9)
    marked = int(t) % 20 < 2
    p.rate.update(ce=0.03 * packets(p.received) if marked else 0, cnp_sent=0.005 * packets(p.received) if marked else 0)


def idle(p, _):
    """64 probes a second."""
    busy(p, 64 * 154, 64 * 154)


def nothing(p, _):
    busy(p)


def steady(p, _):
    busy(p, 0.6 * payload(p.gbps), 0.6 * payload(p.gbps))


@scenario
def quarters():
    made = [
        quiet("training", training), quiet("storage", storage), quiet("checkpoint", checkpoint), quiet("saw-tooth", saw_tooth), quiet("idle", idle),
        quiet("nothing", nothing), quiet("steady-unknown-cc", steady, cc="unknown"), quiet("steady-pfc-only", steady, cc="pfc_only"),
        quiet("steady-lossy", steady, cc="lossy"),
        quiet("cpu-load", training, jitter=0.35), quiet("ten-seconds", steady, interval=10, seconds=3600),
        quiet("after-a-boot", lambda p, t: (steady(p, t), p.rate.update(symbol_errors=200 if t < 10 else 0))),
        quiet("small-mtu", steady, ports=[Port("mlx5_0", 200, mtu=1024)]),
        quiet("many-ports", training, ports=[Port(f"mlx5_{i}", 400) for i in range(8)], seconds=120),
    ]
    made += [quiet(f"driver-{d}", steady, ports=[Port(f"{d}_0", 100, driver=d)], seconds=300) for d in DRIVERS]
    return made


@scenario
def clock_step():
    """The wall clock is set back and forth by an hour; t is not affected."""
    p = Port()

    def behave(t):
        busy(p, 10e9, 10e9)
        p.extra = {"wall": 1.8e9 + t + (3600 if 100 <= t < 200 else -3600 if 200 <= t < 300 else 0)}

    return Scenario("healthy-clock-step", [p]).run(400, behave)
