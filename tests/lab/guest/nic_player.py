#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Plays scenario files (docs/reference/scenarios.md) on the lab's NIC (tests/lab/module), each port on a function of its own.

  nic_player.py PAGE make FOLDER          binds functions and makes the ports of all files in FOLDER as their headers say
  nic_player.py PAGE play FOLDER LOG      plays them to the running daemon, one sample for each of its samples; LOG: its verdicts and their times

Beside each NAME.jsonl it leaves NAME.played.jsonl, the same with the times of the daemon's samples, and with growth over time scaled
accordingly. PAGE is docs/reference/metrics.md. The port with the highest number steps the others: the daemon must never read its counters between samples.
The program exits if a file needs something that this NIC cannot show.
"""
import glob
import json
import os
import re
import select
import subprocess
import sys
import time

from daemon import Connection
from nic_vendors import Vendor, counters

BUS = "/sys/bus/pci"
PF_IDS = ("0x8086", "0x10c9")  # the emulated NIC
DRIVERS = {"mlx5": "mlx5_core", "bnxt_re": "bnxt_en"}
# Counts below this are added at once; larger ones grow with the time, as rates.
FEW = 100
GAUGES = ("outbound_pci_stalled_", "active_")
# A counter that reads 0 for at most this many samples, and then its total again, counts on meanwhile.
DIP = 2
PCIE_SPEEDS = {2.5: 1, 5: 2, 8: 3, 16: 4, 32: 5, 64: 6}
ACTIVE = 4
PATIENCE_S = 180  # for a busy machine
# Keys of a sample that only has counters.
SILENT = {"t", "device", "port", "values"}


def put(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def get(path):
    with open(path, encoding="utf-8") as file:
        return file.read().strip()


def run(*command, text=""):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, input=text, encoding="utf-8")


def batch(program, lines):
    """One start of ip or dcb for all lines: on an emulated processor each start takes half a second."""
    if lines:
        run(program, "-b", "-", text="\n".join(lines) + "\n")


def wait_for(what, holds):
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        if time.monotonic() > deadline:
            sys.exit(f"still not true after {PATIENCE_S} s: {what}")
        time.sleep(0.02)


# --- functions --------------------------------------------------------------------------------


def physical_functions():
    return sorted(path for path in glob.glob(f"{BUS}/devices/*") if (get(f"{path}/vendor"), get(f"{path}/device")) == PF_IDS)


def unbind(path):
    if os.path.exists(f"{path}/driver"):
        put(f"{path}/driver/unbind", os.path.basename(path))


def bind(path, driver):
    unbind(path)
    put(f"{path}/driver_override", driver)
    put(f"{BUS}/drivers_probe", os.path.basename(path))


def make_vfs(path, n):
    if n == 0:
        return
    put(f"{path}/sriov_drivers_autoprobe", "0")
    put(f"{path}/sriov_numvfs", str(n))


# --- one port ---------------------------------------------------------------------------------


def number_of(device):
    return int(re.search(r"\d+$", device).group())


def is_dip(values, i):
    """True if value i is a 0 between totals that do not fall."""
    before = next((v for v in reversed(values[:i]) if v), 0)
    after = next((v for v in values[i + 1:i + 1 + DIP] if v), 0)
    return values[i] == 0 and 0 < before <= after


def counted(values, dips=True):
    """Fills in values that could not be read (None) or read 0 for a moment: linear growth in between, constant at the ends."""
    known = [i for i, v in enumerate(values) if v is not None and not (dips and is_dip(values, i))]
    filled = list(values)
    for i in set(range(len(values))) - set(known):
        low, high = max((k for k in known if k < i), default=known[0]), min((k for k in known if k > i), default=known[-1])
        filled[i] = values[low] + (values[high] - values[low]) * (i - low) / max(high - low, 1)
    return filled


def is_rate(name, grown):
    return grown >= FEW and not name.startswith(GAUGES)


class Port:
    """A port of a file: its header, its samples, the function that plays it."""

    def __init__(self, header, vendors):
        self.header, self.device = header, header["device"]
        self.vendor, self.driver = vendors[header["driver"]], DRIVERS[header["driver"]]
        self.lines, self.samples, self.path = [], [], None

    def add(self, line):
        """Adds a sample: the driver's counters and other values."""
        self.lines.append(line)
        values = dict(line["values"])
        others = {k: v for k, v in line.items() if k not in SILENT}
        others["state"] = values.pop("roce_port_state", line.get("state", self.header["state"]))
        values.pop("roce_port_rate_bytes_per_second", None)  # follows the state
        found, lacks = counters(self.vendor, values)
        if lacks:
            sys.exit(f"{self.device}: its driver counts nothing like {lacks}")
        self.samples.append((line["t"], found, others))

    def file(self, name):
        return f"{self.path}/lab/{name}"

    def netdev(self):
        return os.listdir(f"{self.path}/net")[0]

    # --- before the daemon starts

    def make(self):
        put(self.file("names"), "".join(f"{place} {name}\n" for place, name in self.samples[0][1]))
        put(self.file("script"), "".join(f"{place} {name} = {value:.0f}\n" for (place, name), value in self.samples[0][1].items()))
        put(self.file("device"), self.device)

    def set_up(self):
        speed = self.header["rate_bytes_per_second"] * 8e-6
        if speed != 200000:  # the module's default
            run("ethtool", "-s", self.netdev(), "speed", f"{speed:.0f}", "duplex", "full", "autoneg", "off")
        return self.settings(self.header.get("settings") or {})

    # --- while it plays

    def settings(self, settings):
        """Sets settings that are files; returns the arguments for `dcb`."""
        dcb = []
        for key, value in settings.items():
            if key == "pfc":
                dcb.append(f"pfc set dev {self.netdev()} prio-pfc all:off " + " ".join(f"{p}:on" for p in value))
            elif key == "peer_pfc":
                put(self.file("peer_pfc"), str(sum(1 << p for p in value)))
            elif key == "pcie":
                put(self.file("link"), f"{value['width']} {value['max_width']} {PCIE_SPEEDS[value['gt_s']]} {PCIE_SPEEDS[value['max_gt_s']]}")
            else:
                sys.exit(f"{self.device}: no setting {key} can be played")
        return dcb

    def change_settings(self, settings):
        batch("dcb", self.settings(settings))

    def health(self, health):
        for key, value in health.items():
            if key == "devlink_error":
                for _ in range(2):  # the first one is recovered
                    put(self.file("fault"), value)
            elif key == "unreachable":
                put(self.file("gone"), str(int(value)))
            else:
                sys.exit(f"{self.device}: no health {key} can be played")

    def link(self, state):
        put(f"{self.path}/net/{self.netdev()}/carrier", str(int(state == ACTIVE)))

    def change(self, i):
        """Makes the changes of sample i, other than counters, from the sample before. Returns False if there is none."""
        before, now = self.samples[i - 1][2], self.samples[i][2]
        changed = {k: v for k, v in now.items() if k != "state" or v != before["state"]}
        for key, value in changed.items():
            play = {"settings": self.change_settings, "health": self.health, "state": self.link}.get(key)
            if not play:
                sys.exit(f"{self.device}: {key} cannot be played")
            play(value)
        return bool(changed)

    def script(self):
        """The step of each sample from the second on: the growth of counters since the sample before."""
        grows = {}
        read = {name: [found.get(name) for _, found, _ in self.samples] for name in self.samples[0][1]}
        true = {name: counted(values, not name[1].startswith(GAUGES)) for name, values in read.items()}
        for i, ((t, *_), (then, *_)) in enumerate(zip(self.samples, self.samples[1:])):
            lines = []
            for name, values in true.items():
                lines += self.steps(name, values[i], values[i + 1], then - t, grows)
                lines += self.masks(name, [value == 0 != count for value, count in zip(read[name], values)][i:i + 2], "0")
            lines += self.failures(i)
            yield "\n".join(lines) + "\n"

    @staticmethod
    def masks(name, states, mask):
        """The change of a mask from one sample to the next."""
        if states[0] != states[1]:
            yield f"{name[0]} {name[1]} {mask} {states[1]:d}"

    def failures(self, i):
        """RDMA counters are missing together, when a read fails; those of ethtool one by one, when a driver no longer lists them."""
        def missing(k):
            return {name for name in self.samples[0][1] if name not in self.samples[k][1]}

        rdma = {name for name in self.samples[0][1] if name[0] == "hw"}
        states = [rdma & missing(k) for k in (i, i + 1)]
        if any(state not in (set(), rdma) for state in states):
            sys.exit(f"{self.device}: some RDMA counters without others cannot be played")
        yield from self.masks(("hw", "*"), [bool(state) for state in states], "!")
        for name in sorted((missing(i) ^ missing(i + 1)) - rdma):
            yield from self.masks(name, [name in missing(k) for k in (i, i + 1)], "-")

    @staticmethod
    def steps(name, before, now, seconds, grows):
        grown, rate = now - before, 0
        if is_rate(name[1], grown):
            rate = round(grown / seconds)
        if rate != grows.get(name, 0):
            grows[name] = rate
            yield f"{name[0]} {name[1]} ~ {rate}"
        if grown < 0 or (grown and name[1].startswith(GAUGES)):
            yield f"{name[0]} {name[1]} = {now:.0f}"
        elif grown and not rate:
            yield f"{name[0]} {name[1]} + {grown:.0f}"

    def played(self, times):
        """The lines with the values that were shown at these times."""
        shown = dict(self.lines[0]["values"])
        read = {series: [line["values"].get(series) for line in self.lines] for series in shown}
        true = {series: counted(values, self.is_counter(series)) for series, values in read.items()}
        yield {**self.lines[0], "t": times[0]}
        for i, (before, now) in enumerate(zip(self.lines, self.lines[1:])):
            stretched = (times[i + 1] - times[i]) / (now["t"] - before["t"])
            for series, values in true.items():
                shown[series] = self.shown(series, shown[series], values[i], values[i + 1], stretched)
            yield {**now, "t": times[i + 1],
                   "values": {series: 0 if value == 0 != true[series][i + 1] else shown[series] for series, value in now["values"].items()}}

    def is_counter(self, series):
        entry = self.vendor.find(series)
        return bool(entry) and not entry[1][0].startswith(GAUGES)

    def shown(self, series, shown, before, now, stretched):
        entry = self.vendor.find(series)
        if entry and is_rate(entry[1][0], (now - before) * entry[2]):
            return shown + (now - before) * stretched
        return now if now < before else shown + now - before


# --- all of them ------------------------------------------------------------------------------


class Piece:
    """A file."""

    def __init__(self, path, vendors):
        self.path = path
        with open(path, encoding="utf-8") as file:
            self.header, *self.lines = map(json.loads, file)
        self.ports = {p["device"]: Port(p, vendors) for p in self.header["ports"]}
        for line in self.lines:
            self.ports[line["device"]].add(line)

    def write_played(self, times):
        lines = sorted((line for port in self.ports.values() for line in port.played(times)), key=lambda line: line["t"])
        put(f"{self.path[:-len('.jsonl')]}.played.jsonl", "".join(json.dumps(line) + "\n" for line in [self.header] + lines))


def load(folder, vendors):
    return [Piece(path, vendors) for path in glob.glob(f"{folder}/*.jsonl") if not path.endswith(".played.jsonl")]


def parent_of(port, ports):
    """The physical function's port; ports of one file are adjacent."""
    return next(p for p in reversed(ports[:ports.index(port)]) if p.header["function"] == port.header["parent"])


def place(ports):
    """Assigns a function to each port."""
    free = iter(physical_functions())
    for port in ports:
        if not port.header.get("parent"):
            port.path = next(free)
    for port in ports:
        if port.header.get("parent"):
            siblings = [p for p in ports if p.header.get("parent") and parent_of(p, ports) is parent_of(port, ports)]
            port.path = os.path.realpath(f"{parent_of(port, ports).path}/virtfn{siblings.index(port)}")


def make(ports):
    for path in physical_functions():
        unbind(path)
    place(ports)
    vfs = [p for p in ports if p.header.get("parent")]
    for port in ports:
        if port not in vfs:
            bind(port.path, port.driver)
            make_vfs(port.path, sum(parent_of(vf, ports) is port for vf in vfs))
    place(ports)
    for port in vfs:
        bind(port.path, port.driver)
    for port in ports:
        port.make()
    run("udevadm", "settle", "--timeout=60")  # udev renames each once
    batch("dcb", [line for port in ports for line in port.set_up()])
    batch("ip", [f"link set {port.netdev()} up" for port in ports])
    # A management port is one with the default route.
    batch("ip", [f"route add default dev {port.netdev()} metric {i + 1}" for i, port in enumerate(ports) if port.header.get("management")])
    beat(ports[-1])


def beat(port):
    """From here on each read of its counters is a step; makes one, so that counters start with the first sample."""
    put(port.file("beat"), "1")
    stats = glob.glob(f"{port.path}/infiniband/*/ports/1/hw_counters")[0]
    get(f"{stats}/{next(name for name in os.listdir(stats) if name != 'lifespan')}")


# --- playing ----------------------------------------------------------------------------------


class Steps:
    """Waits for the module's steps."""

    def __init__(self, port):
        self.fd = os.open(port.file("step"), os.O_RDONLY)
        self.poll = select.poll()
        self.poll.register(self.fd, select.POLLPRI | select.POLLERR)

    def now(self):
        return int(os.pread(self.fd, 32, 0))

    def wait(self, n):
        while self.now() < n:
            if not self.poll.poll(PATIENCE_S * 1000):
                sys.exit(f"no sample in {PATIENCE_S} s")


def write_scripts(ports):
    """Writes the scripts while no step is made."""
    put(ports[-1].file("beat"), "0")
    for port in ports:
        for text in port.script():
            put(port.file("script"), text)
    put(ports[-1].file("beat"), "1")


def now():
    return {"monotonic": time.monotonic() * 1000, "wall": time.time() * 1000}


def play(pieces, ports, log):
    daemon = Connection()
    steps = Steps(ports[-1])
    wait_for("every port is judged", lambda: len(json.loads(daemon.get("/api/v1/diagnosis"))["ports"]) >= len(ports))
    write_scripts(ports)
    # The daemon's sample that makes the next step is the first one of the files.
    first = steps.now() + 1
    record = {"samples": [], "changes": {}, "reports": []}
    n = max(len(p.samples) for p in ports)
    for i in range(n):
        steps.wait(first + i)
        record["samples"].append(now())
        for port in ports:
            if i + 1 < len(port.samples) and port.change(i + 1):
                record["changes"].setdefault(port.device, []).append(now())
        record["reports"].append(json.loads(daemon.get("/api/v1/diagnosis")))
    steps.wait(first + n)
    record["reports"].append(json.loads(daemon.get("/api/v1/diagnosis")))
    record["page"] = daemon.get("/metrics").decode()
    record["events"] = json.loads(daemon.get("/api/v1/events"))["events"]
    put(log, json.dumps(record))
    for piece in pieces:
        piece.write_played([(sample["monotonic"] - record["samples"][0]["monotonic"]) / 1000 for sample in record["samples"]])


def main():
    page, command, folder = sys.argv[1:4]
    text = get(page)
    pieces = load(folder, {rdma: Vendor(text, rdma, netdev) for rdma, netdev in DRIVERS.items()})
    ports = sorted((port for piece in pieces for port in piece.ports.values()), key=lambda port: number_of(port.device))
    if command == "make":
        make(ports)
    else:
        place(ports)
        play(pieces, ports, sys.argv[4])


main()
