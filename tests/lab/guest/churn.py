#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Adds and removes a soft-RoCE device many times while it reads the daemon's API without pause, and measures the daemon.

  churn.py PID NETDEV ROUNDS

In every other round /api/v1/devices must show the device, and then that it was removed; the other rounds do not wait for the daemon. The page
is read once a round. Prints NAME=VALUE words: the daemon's resident memory (kB) and descriptors after the first quarter and at the
end, each time with nothing added, and its counters' growth meanwhile.
"""
import os, re, socket, struct, sys, time
from daemon import Devices

DEVICE, TIMEOUT_S = "rxe_churn", 20
NETLINK_RDMA, NLM_F_REQUEST, NLM_F_ACK, NLM_F_DUMP, NLMSG_ERROR, NLMSG_DONE = 20, 1, 4, 0x300, 2, 3
# linux/include/uapi/rdma/rdma_netlink.h: RDMA_NL_NLDEV with a command, and RDMA_NLDEV_ATTR_*
GET, NEWLINK, DELLINK = 5 << 10 | 1, 5 << 10 | 3, 5 << 10 | 4
DEV_INDEX, DEV_NAME, NDEV_NAME, LINK_TYPE = 1, 2, 51, 65


class Rdma:
    """`rdma link add` and `delete`. On an emulated processor starting the program takes longer than its work."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_RDMA)

    def add(self, name, netdev):
        self.request(NEWLINK, NLM_F_ACK, [(DEV_NAME, name), (LINK_TYPE, "rxe"), (NDEV_NAME, netdev)])

    def delete(self, name):
        self.request(DELLINK, NLM_F_ACK, [(DEV_INDEX, self.index(name))])

    def index(self, name):
        for attributes in self.request(GET, NLM_F_DUMP, []):
            if attributes[DEV_NAME].rstrip(b"\0").decode() == name:
                return struct.unpack("=I", attributes[DEV_INDEX])[0]
        sys.exit(f"the kernel has no {name}")

    def request(self, kind, flags, attributes):
        data = b"".join(attribute(*a) for a in attributes)
        self.socket.send(struct.pack("=IHHII", 16 + len(data), kind, NLM_F_REQUEST | flags, 1, 0) + data)
        answers = []
        while True:
            for answer, body in messages(self.socket.recv(65536)):
                if answer in (NLMSG_ERROR, NLMSG_DONE):
                    error = struct.unpack("=i", body[:4])[0]
                    if error:
                        sys.exit(f"RDMA netlink command {kind & 1023}: {os.strerror(-error)}")
                    return answers
                answers.append(dict(parts(body)))


def attribute(kind, value):
    value = struct.pack("=I", value) if isinstance(value, int) else value.encode() + b"\0"
    return struct.pack("=HH", 4 + len(value), kind) + value + bytes(-len(value) % 4)


def parts(body):
    while body:
        length, kind = struct.unpack("=HH", body[:4])
        yield kind & 0x3FFF, body[4:length]
        body = body[(length + 3) & ~3:]


def messages(datagram):
    while datagram:
        length, kind = struct.unpack("=IH", datagram[:6])
        yield kind, datagram[16:length]
        datagram = datagram[(length + 3) & ~3:]


class Churn:
    def __init__(self, pid, netdev):
        self.pid, self.netdev = pid, netdev
        self.devices, self.rdma = Devices(), Rdma()
        self.page, self.scrapes, self.oldest_s = "", 0, 0

    def until(self, condition, what):
        deadline = time.time() + TIMEOUT_S
        while not condition():
            if time.time() > deadline:
                sys.exit(f"not within {TIMEOUT_S} s: {what}")
            time.sleep(0.005)

    def until_seen(self, there):
        self.until(lambda: (DEVICE in self.devices.read()["rdma"]) == there, f"{DEVICE} {'seen' if there else 'gone'}")

    def scrape(self):
        self.page = self.devices.get("/metrics").decode()
        self.scrapes += 1
        sampled = float(re.search(r"^rocelet_sample_timestamp_seconds (\S+)$", self.page, re.M).group(1))
        self.oldest_s = max(self.oldest_s, time.time() - sampled)

    def metric(self, name):
        """The sum of its series."""
        self.scrape()
        return sum(float(value) for value in re.findall(rf"^{name}(?:{{.*}})? (\S+)$", self.page, re.M))

    def rounds(self, n):
        for i in range(n):
            self.rdma.add(DEVICE, self.netdev)
            if i % 2 == 0:
                self.until_seen(True)
            self.scrape()
            self.rdma.delete(DEVICE)
            if i % 2 == 0:
                self.until_seen(False)

    def measure(self, name, fds_before=0):
        """Measures once the samples cover the present devices, and programs of removed devices are unloaded."""
        self.until_seen(False)
        samples = self.metric("rocelet_samples_total")
        self.until(lambda: self.metric("rocelet_samples_total") >= samples + 2, "two samples more")
        with open(f"/proc/{self.pid}/status") as f:
            memory = int(re.search(r"RssAnon:\s+(\d+)", f.read()).group(1))
        fds, deadline = self.fds(), time.time() + TIMEOUT_S
        while fds_before and fds > fds_before and time.time() < deadline:
            fds = self.fds()
        print(f"MEMORY_{name}={memory} FDS_{name}={fds}")
        return fds

    def fds(self):
        """The least number of several counts: a sample or scan in progress has some more open."""
        counts = []
        for _ in range(40):
            counts.append(len(os.listdir(f"/proc/{self.pid}/fd")))
            time.sleep(0.025)
        return min(counts)


def main():
    churn, rounds, start = Churn(sys.argv[1], sys.argv[2]), int(sys.argv[3]), time.time()
    generation, samples = churn.metric("rocelet_inventory_generation"), churn.metric("rocelet_samples_total")
    churn.rounds(rounds // 4)
    fds = churn.measure("QUARTER")
    churn.rounds(rounds - rounds // 4)
    churn.measure("END", fds)
    print(f"TOOK_S={time.time() - start:.1f} SCRAPES={churn.scrapes} OLDEST_MS={churn.oldest_s * 1000:.0f}",
          f"GENERATIONS={churn.metric('rocelet_inventory_generation') - generation:.0f}",
          f"SAMPLES={churn.metric('rocelet_samples_total') - samples:.0f}",
          f"MALFORMED={churn.metric('rocelet_malformed_messages_total'):.0f}",
          f"OVERRUNS={churn.metric('rocelet_event_overruns_total'):.0f}",
          f"EVENTS={churn.metric('rocelet_events_total'):.0f} LOOKS={churn.metric('rocelet_rescans_total'):.0f}")


main()
