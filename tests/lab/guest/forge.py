#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Sends forged kernel messages to each netlink socket on which a process listens to events; needs root.

  forge.py PID NETDEV

A link that is gone to rtnetlink, a device that is gone to RDMA netlink, a health report to devlink, a removal to the uevent monitors. Prints the protocol number
of each socket that got a message.
"""
import os, socket, struct, sys

ROUTE, UEVENT, GENERIC, RDMA = 0, 15, 16, 20
RTM_DELLINK, IFLA_IFNAME = 17, 3
RDMA_MONITOR = 5 << 10 | 28  # RDMA_NL_NLDEV, RDMA_NLDEV_CMD_MONITOR (linux/include/uapi/rdma/rdma_netlink.h)
RDMA_DEV_INDEX, RDMA_EVENT_TYPE, RDMA_UNREGISTER = 1, 102, 1


def attribute(kind, value):
    return struct.pack("=HH", 4 + len(value), kind) + value + bytes(-len(value) % 4)


def message(kind, body):
    return struct.pack("=IHHII", 16 + len(body), kind, 0, 0, 0) + body


def link_gone(netdev):
    body = struct.pack("=BxHiII", socket.AF_UNSPEC, 1, socket.if_nametoindex(netdev), 0, 0xFFFFFFFF)
    return message(RTM_DELLINK, body + attribute(IFLA_IFNAME, netdev.encode() + b"\0"))


def rdma_gone():
    return message(RDMA_MONITOR, attribute(RDMA_DEV_INDEX, struct.pack("=I", 0)) +
                   attribute(RDMA_EVENT_TYPE, struct.pack("=B", RDMA_UNREGISTER)))


def health_report():
    """DEVLINK_CMD_HEALTH_REPORTER_RECOVER of any family: its number does not matter, since the sender is not the kernel."""
    return message(0x1F, struct.pack("=BBH", 55, 1, 0))


def uevent(netdev):
    path = os.path.realpath(f"/sys/class/net/{netdev}")[4:]
    return f"remove@{path}\0ACTION=remove\0DEVPATH={path}\0SUBSYSTEM=net\0INTERFACE={netdev}\0SEQNUM=1\0".encode()


def listeners(pid):
    """(protocol, port) of the process's sockets that are in a group: columns 2 to 4 and 10 of proc(5), net/netlink."""
    own = set()
    for fd in os.listdir(f"/proc/{pid}/fd"):
        target = os.readlink(f"/proc/{pid}/fd/{fd}")
        if target.startswith("socket:["):
            own.add(target[8:-1])
    with open("/proc/net/netlink") as f:
        rows = [line.split() for line in f][1:]
    return [(int(r[1]), int(r[2])) for r in rows if r[9] in own and int(r[3], 16)]


def main():
    pid, netdev = sys.argv[1], sys.argv[2]
    forged = {ROUTE: link_gone(netdev), RDMA: rdma_gone(), GENERIC: health_report(), UEVENT: uevent(netdev)}
    for protocol, port in listeners(pid):
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol) as s:
            s.sendto(forged[protocol], (port, 0))
        print(protocol)


main()
