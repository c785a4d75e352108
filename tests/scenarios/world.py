# SPDX-License-Identifier: Apache-2.0
"""world.py - the parts of scenarios: ports whose counters grow by rates, and files of docs/reference/scenarios.md.

The arithmetic is that of RC WRITE middle packets over IPv4: 12 BTH + 8 UDP + 20 IP + 14 Ethernet + 4 ICRC beside the payload, and 4 FCS + 20 gap and
preamble on the wire.
"""
import json
import random

HEADERS = 58
WIRE = HEADERS + 24
SOLID = 3  # the default lossless priority of a port


def line(gbps):
    """Bytes a second of a line."""
    return gbps * 1e9 / 8


def payload(gbps, mtu=4096):
    """Payload bytes a second of a full line."""
    return line(gbps) * mtu / (mtu + WIRE)


def packets(rate, mtu=4096):
    """Packets a second that carry these payload bytes a second."""
    return rate / mtu


def series(family, **labels):
    text = ",".join(f'{key}="{value}"' for key, value in sorted(labels.items()))
    return f"{family}{{{text}}}" if text else family


# Short names, as in the stories.
EVENTS = {
    "ce": "roce_ecn_ce_received_packets_total", "cnp_sent": "roce_cnp_sent_packets_total", "cnp_received": "roce_cnp_received_packets_total",
    "cnp_handled": "roce_cnp_handled_packets_total", "cnp_ignored": "roce_cnp_ignored_packets_total",
    "oos": "roce_out_of_sequence_packets_total", "nak": "roce_sequence_nak_received_total", "implied_nak": "roce_implied_nak_total",
    "timeouts": "roce_ack_timeouts_total", "retries_exceeded": "roce_transport_retries_exceeded_total", "rnr_nak": "roce_rnr_nak_received_total",
    "rnr_exceeded": "roce_rnr_retries_exceeded_total", "wqe_missing": "roce_receive_wqe_missing_total", "icrc": "roce_icrc_errors_total",
    "cqe_errors": series("roce_cqe_errors_total", side="req"), "cqe_flushed": series("roce_cqe_flush_errors_total", side="req"),
    "access_errors": series("roce_remote_access_errors_total", side="req"), "invalid_requests": "roce_remote_invalid_requests_total",
    "length_errors": "roce_local_length_errors_total", "discards": series("roce_port_discards_total", direction="received"),
    "storm_warnings": series("roce_pause_storms_total", severity="warning"), "storm_errors": series("roce_pause_storms_total", severity="error"),
    "pcie_overflow": "roce_pcie_overflow_packets_total", "corrected_bits": "roce_phy_corrected_bit_errors_total",
    "symbol_errors": "roce_phy_symbol_errors_total", "crc_errors": "roce_phy_crc_errors_total", "link_down": "roce_phy_link_down_total",
    "global_frames_sent": series("roce_pause_frames_total", direction="sent"),
    "global_frames_received": series("roce_pause_frames_total", direction="received"),
    "optional_ce": series("roce_optional_congestion_packets_total", kind="ce_received"),
    "slow_restarts": "roce_slow_restarts_total", "slow_restart_cnps": "roce_slow_restart_cnp_packets_total",
    "tx_timeouts": series("roce_nic_faults_total", kind="tx_timeout"), "health_reports": series("roce_nic_faults_total", kind="health_report"),
    "soft_timeouts": series("roce_soft_events_total", kind="retransmit_timeout"), "rnr_sent": "roce_rnr_nak_sent_total",
}
SECONDS = {
    "pcie_seconds": series("roce_pcie_stalled_seconds_total", op="write"),
    "global_sent": series("roce_pause_seconds_total", direction="sent"), "global_received": series("roce_pause_seconds_total", direction="received"),
}
GAUGES = {"pcie_stalled": series("roce_pcie_stalled_ratio", op="write"), "qps": series("roce_resource_active", kind="qp"),
          "mrs": series("roce_resource_active", kind="mr")}
# The drivers' counters besides bytes and packets.
DRIVERS = {
    "mlx5": [k for k in EVENTS if k not in ("optional_ce", "soft_timeouts", "rnr_sent", "tx_timeouts", "health_reports")] + list(SECONDS),
    "bnxt_re": ["ce", "cnp_sent", "cnp_received", "oos", "nak", "timeouts", "retries_exceeded", "rnr_nak", "wqe_missing", "discards", "symbol_errors",
                "crc_errors", "link_down", "access_errors", "invalid_requests"],
    "irdma": ["ce", "cnp_sent", "cnp_handled", "cnp_ignored", "discards", "crc_errors"],
    "hns": ["cnp_sent", "cnp_received", "discards", "crc_errors"],
    "rxe": ["oos", "nak", "timeouts", "soft_timeouts", "retries_exceeded", "rnr_nak", "rnr_sent", "rnr_exceeded", "ce"],
}
HAS_PAUSE = ("mlx5", "bnxt_re", "hns")


class Port:
    """One port. Rates are attributes of `rate` by short name; a counter without a rate does not change."""

    def __init__(self, device="mlx5_0", gbps=200, mtu=4096, driver="mlx5", pods=("train/train-7",), lossless=(SOLID,), start=0, **identity):
        self.device, self.gbps, self.mtu, self.driver = device, gbps, mtu, driver
        self.rate, self.gauge, self.pause, self.extra = {}, {}, {}, {}
        self.hidden, self.once, self.base = set(), {}, {}
        self.count = {}
        self.start = start
        self.lossless = lossless
        self.sent = self.received = 0  # payload bytes a second
        self.on_priority = None  # of sent RDMA bytes, {priority: share}
        self.other = {}  # bytes a second of others, {(direction, priority): rate}
        self.present = True
        self.identity = {
            "device": device, "port": 1, "driver": driver, "rate_bytes_per_second": line(gbps), "mtu_bytes": mtu, "bytes_source": "sysfs",
            "state": 4, "pods": list(pods), "function": f"0000:{int(device.rsplit('_')[-1]) + 1:02x}:00.0" if device[-1].isdigit() else "",
            "settings": {"pfc": list(lossless)}, "qps": {"count": 8, "peers": 4, "not_ect": 0}, **identity}

    def header(self):
        return {k: v for k, v in self.identity.items() if v is not None}

    def _growth(self):
        """Every series of this sample: growth per second."""
        names = DRIVERS[self.driver]
        grows = {EVENTS[k]: self.rate.get(k, 0) for k in names if k in EVENTS}
        grows.update({EVENTS[k]: v for k, v in self.rate.items() if k in EVENTS})
        grows.update({SECONDS[k]: min(self.rate.get(k, 0), 1) for k in names if k in SECONDS})
        grows.update({k: v for k, v in self.rate.items() if k not in EVENTS and k not in SECONDS})
        for direction, rate in (("received", self.received), ("sent", self.sent)):
            grows[series("roce_bytes_total", direction=direction)] = rate
            grows[series("roce_packets_total", direction=direction)] = packets(rate, self.mtu)
        if self.driver in HAS_PAUSE:
            for direction in ("received", "sent"):
                for priority in range(8):
                    grows[series("roce_pfc_pause_seconds_total", direction=direction, priority=priority)] = \
                        self.pause.get((direction, priority), self.pause.get(direction, 0) if priority == SOLID else 0)
                    grows[series("roce_priority_bytes_total", direction=direction, priority=priority)] = self._on(direction, priority)
        if self.driver in ("mlx5", "bnxt_re"):
            grows["roce_phy_received_bytes_total"] = self.received * (self.mtu + WIRE) / self.mtu + sum(
                v for (d, _), v in self.other.items() if d == "received")
        return grows

    def _on(self, direction, priority):
        rate = self.sent if direction == "sent" else self.received
        shares = self.on_priority if self.on_priority and direction == "sent" else {SOLID: 1}
        # The port counts frames, RDMA payload.
        return rate * shares.get(priority, 0) * (1 + HEADERS / self.mtu) + self.other.get((direction, priority), 0)

    def step(self, seconds, noise, rng):
        """Advances the counters by these seconds. One random factor for all rates of a sample: traffic varies as a whole."""
        ebb = 1 + rng.uniform(-noise, noise)
        for name, rate in self._growth().items():
            exact = "seconds_total" in name
            grown = rate * seconds * (1 if exact else ebb)
            self.count[name] = self.count.get(name, self.start) + (grown if exact or rate >= 100 else self._few(grown, rng))
        for name, n in self.once.items():
            key = EVENTS.get(name, name)
            self.count[key] = self.count.get(key, self.start) + n
        self.once = {}

    @staticmethod
    def _few(expected, rng):
        """Rare events are whole numbers."""
        whole = int(expected)
        return whole + (rng.random() < expected - whole)

    def values(self):
        values = {k: round(v, 6) if "seconds" in k else int(v) for k, v in self.count.items()}
        values.update({GAUGES[k]: v for k, v in self.gauge.items()})
        values.update(self.base)
        return {k: v for k, v in values.items() if k not in self.hidden and k.split("{")[0] not in self.hidden}


class Scenario:
    """A file: run() calls behave(t) before each sample, which sets the ports' behaviour from then on."""

    def __init__(self, name, ports, expect="none", cc="dcqcn", seed=None, start=1.8e9, noise=0.03, jitter=0.015, interval=1, thresholds=None,
                 **judge):
        self.name, self.ports, self.noise, self.jitter, self.interval = name, ports, noise, jitter, interval
        self.rng = random.Random(seed if seed is not None else name)
        self.header = {"scenario": name, "start": start, "interval": interval, "expect_congestion_control": cc, "expect": expect}
        self.header.update({"judge": judge} if judge else {})
        self.header.update({"thresholds": thresholds} if thresholds else {})
        self.lines = []
        self.now = None

    def run(self, seconds, behave, since=0):
        for i in range(int(seconds / self.interval) + 1):
            t = since + i * self.interval
            at = max(0, t + self.rng.uniform(-self.jitter, self.jitter)) if i else t
            for port in self.ports:
                port.step(at - self.now if self.now is not None else 0, self.noise, self.rng)
            if i == 0:
                # So that the header has the state at the start.
                behave(t)
            for port in self.ports:
                if port.present:
                    self.lines.append(json.dumps({"t": round(at, 4), "device": port.device, "port": 1, "values": port.values(), **port.extra}))
                    port.extra = {}
            if not any(p.present for p in self.ports):
                self.lines.append(json.dumps({"t": round(at, 4)}))
            self.now = at
            behave(t)
        return self

    def text(self):
        return "\n".join([json.dumps({**self.header, "ports": [p.header() for p in self.ports]})] + self.lines) + "\n"


def expected(cause, severity="warning", device="mlx5_0", onset=(59, 63), pod="train/train-7", **more):
    """One expected verdict."""
    return {"cause": cause, "severity": severity, "device": device, "port": 1, "onset": list(onset), "pod": pod, **more}


ALL = []


def scenario(function):
    """Registers a maker of one scenario, or of several."""
    ALL.append(function)
    return function


def from_60(change):
    """behave() that changes something once, at t = 60."""
    done = []

    def behave(t):
        if t >= 60 and not done:
            done.append(t)
            change()

    return behave
