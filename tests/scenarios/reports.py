# SPDX-License-Identifier: Apache-2.0
"""reports.py - issues of other health monitors of NICs (NVSentinel, gpud), as scenarios that must give the right result.

Not here: a misspelt threshold (mistake-05), the management port (mistake-06), a device that comes back under another name (mistake-07), one unreadable
device (mistake-08).
"""
from causes import rates, simple
from stories import busy, set_down
from world import Port, Scenario, expected, scenario


@scenario
def second_port_never_provisioned():
    """NVSentinel#1361, #1379, PR#1462: the second port of a card was never connected. Severity info, for any time; no verdict on its sibling."""
    first, second = Port("mlx5_0"), Port("mlx5_1", state=1, pods=[], qps={"count": 0, "peers": 0})
    s = Scenario("report-second-port", [first, second], [expected("port_never_up", "info", "mlx5_1", onset=(0, 2), pod=None, open_at_end=True)])

    def behave(_):
        busy(first, 20e9, 20e9)
        busy(second, 0, 0)

    return s.run(900, behave)


@scenario
def state_and_counter_in_one_poll():
    """NVSentinel#1488: a link goes down in the sample in which its errors begin. Both are recorded; errors that continue get a verdict when it is up again."""
    def behave(p, t, on):
        down = 60 <= t < 70
        set_down(p, down)
        if down:
            busy(p)
        p.rate["symbol_errors"] = 100 if on else 0
        if t == 60:
            p.once["link_down"] = 1

    return simple("report-both-at-once", behave, [expected("link_flap", "critical", onset=(59, 63)), expected("bad_link", "critical", onset=(59, 135), open_at_end=True)],
                  seconds=400)


@scenario
def issm_missing_by_design():
    """NVSentinel#1716: GB300 has no issm. That is no fault, and neither is an unused port beside it."""
    return simple("report-no-issm", rates(), port=Port(health={"no_uverbs": False, "no_umad": False}))


@scenario
def flap_recovers_by_itself():
    """gpud PR#1247: after a stable minute the flap is over, although its event is still there."""
    def behave(p, t, _):
        down = 60 <= t < 63
        set_down(p, down)
        if down:
            busy(p)
        if t == 60:
            p.once["link_down"] = 1

    return simple("report-flap-recovers", behave, expected("link_flap", "critical", onset=(59, 63), closed=(118, 132)), seconds=300)


@scenario
def the_only_device_disappears():
    """NVSentinel#1313. The observer reports the function without a device in place of the port."""
    port, rest = Port("mlx5_0"), Port("mlx5_1", health={"driverless": True}, state=0, pods=[])
    s = Scenario("report-only-device", [port, rest], [expected("nic_stuck", "critical", "mlx5_1", onset=(90, 96), pod=None, open_at_end=True)])

    def behave(t):
        busy(port, 20e9, 20e9)
        port.present = t < 60
        rest.present = t >= 60

    return s.run(300, behave)
