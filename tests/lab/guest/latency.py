#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the delay from the kernel's message to a change in /api/v1/devices, or in the list sent to the kubelet.

  latency.py ROUNDS CASES-FILE [list RESOURCE]

Each line of the file: NAME | COMMAND | MESSAGE | CONDITION | UNDO | UNDONE
  MESSAGE      regular expression on the output of `ip -ts -o monitor link` or `udevadm monitor --kernel`; the first match
               after the command counts
  CONDITION    Python expression over the document: functions {id: device}, netdevs {name: netdev}, rdma {name: device};
               over the list: healthy, unhealthy (sets of IDs)
  UNDO, UNDONE command that takes the change back between rounds and after the last one, and the condition that it did

Prints "NAME MILLISECONDS.." per line; a change that never becomes visible ends the run. The document is read over the
daemon's unix socket, one request after the other on one connection; the list is watched as the kubelet does.
"""
import json, re, subprocess, sys, threading, time
from daemon import Devices

TIMEOUT_S = 30


class Messages:
    """Both monitors, every line with the wall-clock time that the monitor itself printed."""

    def __init__(self):
        self.lines, self.lock, self.since = [], threading.Lock(), time.time()
        # Both print their own time stamps: seconds of the monotonic clock (udevadm), local time (ip).
        self.offset = time.time() - time.clock_gettime(time.CLOCK_MONOTONIC)
        self.start(["udevadm", "monitor", "--kernel", "--subsystem-match=pci", "--subsystem-match=net",
                    "--subsystem-match=infiniband"], self.udevadm_time)
        self.start(["ip", "-ts", "-o", "monitor", "link"], self.ip_time)

    def start(self, argv, time_of):
        monitor = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
        threading.Thread(target=self.read, args=(monitor.stdout, time_of), daemon=True).start()
        while not listens(monitor.pid):
            time.sleep(0.01)

    def read(self, stream, time_of):
        for line in stream:
            stamp = time_of(line)
            if stamp:
                with self.lock:
                    self.lines.append((stamp, line))

    def udevadm_time(self, line):
        m = re.match(r"KERNEL\[(\d+\.\d+)\]", line)
        return float(m.group(1)) + self.offset if m else None

    def ip_time(self, line):
        m = re.match(r"\[(\d+-\d+-\d+T\d+:\d+:\d+)\.(\d+)\]", line)
        return time.mktime(time.strptime(m.group(1), "%Y-%m-%dT%H:%M:%S")) + int(m.group(2)) / 1e6 if m else None

    def times(self, pattern, since):
        with self.lock:
            return [t for t, line in self.lines if t >= since and re.search(pattern, line)]


def listens(pid):
    """The monitor has bound its netlink socket: the third column is its port, which is its process id."""
    with open("/proc/net/netlink") as f:
        return any(line.split()[2] == str(pid) for line in f)


def holds(condition, doc):
    try:
        return eval(condition, {}, doc)
    except (KeyError, IndexError):
        return False  # an object of the condition does not exist


def wait_visible(devices, condition):
    deadline = time.time() + TIMEOUT_S
    while time.time() < deadline:
        doc = devices.read()
        if holds(condition, doc):
            return devices.arrived
        time.sleep(0.003)  # polling, too, competes with the daemon for a processor
    sys.exit(f"never visible: {condition}\n{json.dumps(doc)}")


def message_time(messages, pattern, since):
    deadline = time.time() + TIMEOUT_S
    while time.time() < deadline:
        times = messages.times(pattern, since)
        if times:
            return min(times)
        time.sleep(0.01)
    sys.exit(f"no message matches {pattern}")


def run(command):
    if subprocess.run(["bash", "-c", command]).returncode != 0:
        sys.exit(f"command failed: {command}")


def one_round(messages, devices, command, pattern, condition):
    if holds(condition, devices.read()):
        sys.exit(f"already true before: {condition}")
    since = time.time()
    change = subprocess.Popen(["bash", "-c", command])
    visible = wait_visible(devices, condition)
    message = message_time(messages, pattern, since)
    if change.wait(TIMEOUT_S) != 0:
        sys.exit(f"command failed: {command}")
    return (visible - message) * 1000


def run_case(messages, devices, rounds, name, command, pattern, condition, undo, undone):
    times = []
    for _ in range(rounds):
        times.append(one_round(messages, devices, command, pattern, condition))
        run(undo)
        wait_visible(devices, undone)
    print(name, *(f"{ms:.1f}" for ms in times), flush=True)


def source():
    if len(sys.argv) == 3:
        return Devices()
    from kubelet import List  # only here: loading it takes seconds
    return List(sys.argv[4])


def main():
    messages, devices = Messages(), source()
    with open(sys.argv[2]) as cases:
        for line in cases:
            if line.strip() and not line.startswith("#"):
                run_case(messages, devices, int(sys.argv[1]), *(part.strip() for part in line.split(" | ")))


main()
