#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""dirt.py - residual state on an interface that no tool of the guest can create.

  dirt.py tcx NETDEV ingress|egress [link]   a BPF program that drops everything; link: pinned by a BPF link
  dirt.py xdp NETDEV [link]                  and not by the netdev
  dirt.py promiscuous NETDEV                 a packet socket in promiscuous mode
  dirt.py xsk NETDEV                         an XDP socket, bound to its first queue
  dirt.py nft NETDEV                         a filter at its ingress that drops everything
  dirt.py napi NETDEV [ATTRIBUTE=VALUE]      prints the settings of its NAPI instances, or sets one of all
  dirt.py socket PID                         a socket in the network namespace of a process
  dirt.py links PID FD                       prints the links of the namespace that a file of a process keeps

A process that must keep something open becomes "sleep 1000".
"""
import ctypes
import fcntl
import mmap
import os
import socket
import struct
import sys

libc = ctypes.CDLL(None, use_errno=True)
SYS_BPF, SYS_PIDFD_OPEN, SYS_PIDFD_GETFD = 321, 434, 438  # x86-64
PROG_LOAD, PROG_ATTACH, LINK_CREATE = 5, 8, 28
SCHED_CLS, XDP = 3, 6
TCX, TO_XDP = {"ingress": 46, "egress": 47}, 37
XDP_SKB_MODE = 2
SIOCGSKNS = 0x894C
DUMP, ACK = 0x300, 4

# linux/include/uapi/linux/netdev.h: the number of each, and its format
NAPI_GET, NAPI_SET = 11, 14
NAPI = {"defer-hard-irqs": (5, "<I"), "gro-flush-timeout": (6, "<Q"), "irq-suspend-timeout": (7, "<Q"), "threaded": (8, "<I")}


def system_call(name, *arguments):
    result = libc.syscall(*arguments)
    if result < 0:
        sys.exit(name + ": " + os.strerror(ctypes.get_errno()))
    return result


def bpf(command, attributes):
    buffer = ctypes.create_string_buffer(attributes.ljust(152, b"\0"))
    return system_call("bpf", SYS_BPF, command, buffer, 152)


def load(kind, verdict):
    code = ctypes.create_string_buffer(struct.pack("<BBhiBBhi", 0xB7, 0, 0, verdict, 0x95, 0, 0, 0))
    licence = ctypes.create_string_buffer(b"GPL")
    return bpf(PROG_LOAD, struct.pack("<IIQQ", kind, 2, ctypes.addressof(code), ctypes.addressof(licence)))


def keep(fd):
    """Keeps fd open until its process, a sleep, is ended; the process keeps nothing else of the pod."""
    os.set_inheritable(fd, True)
    if os.fork():
        return
    enter("/proc/1/ns/net")
    null = os.open("/dev/null", os.O_RDWR)
    for standard in range(3):
        os.dup2(null, standard)
    os.execvp("sleep", ["sleep", "1000"])


def link(index, program, point, flags):
    keep(bpf(LINK_CREATE, struct.pack("<IIII", program, index, point, flags)))


# ---- netlink


def attribute(kind, value):
    return struct.pack("<HH", 4 + len(value), kind) + value.ljust((len(value) + 3) & ~3, b"\0")


def attributes(data):
    found = {}
    while len(data) >= 4:
        size, kind = struct.unpack_from("<HH", data)
        found[kind & 0x3FFF] = data[4:size]
        data = data[(size + 3) & ~3 :]
    return found


def request(netlink, kind, flags, body):
    """Returns the bodies of the answers."""
    netlink.send(struct.pack("<IHHII", 16 + len(body), kind, flags | 1, 1, 0) + body)
    answers = []
    while True:
        data = netlink.recv(65536)
        while data:
            size, kind = struct.unpack_from("<IH", data)
            if kind == 2 and struct.unpack_from("<i", data, 16)[0]:
                sys.exit("netlink: " + os.strerror(-struct.unpack_from("<i", data, 16)[0]))
            if kind in (2, 3):
                return answers
            answers.append(data[16:size])
            data = data[(size + 3) & ~3 :]


def request_napi(command, flags, attrs):
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16) as netlink:
        family = request(netlink, 16, ACK, struct.pack("<BBH", 3, 1, 0) + attribute(2, b"netdev\0"))
        number = struct.unpack("<H", attributes(family[0][4:])[1])[0]
        answers = request(netlink, number, flags, struct.pack("<BBH", command, 1, 0) + attrs)
        return [attributes(answer[4:]) for answer in answers]


def links():
    """The links of our namespace."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as netlink:
        for answer in request(netlink, 18, DUMP, struct.pack("<BBHiII", 0, 0, 0, 0, 0, 0)):
            yield attributes(answer[16:])[3].rstrip(b"\0").decode()


# ---- the commands


def tcx(index, direction, how=None):
    program = load(SCHED_CLS, 2)
    if how:
        link(index, program, TCX[direction], 0)
    else:
        bpf(PROG_ATTACH, struct.pack("<IIII", index, program, TCX[direction], 0))


def xdp(index, how=None):
    program = load(XDP, 1)
    if how:
        link(index, program, TO_XDP, XDP_SKB_MODE)
        return
    nested = attribute(1, struct.pack("<i", program)) + attribute(3, struct.pack("<I", XDP_SKB_MODE))
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as netlink:
        request(netlink, 19, ACK, struct.pack("<BBHiII", 0, 0, 0, index, 0, 0) + attribute(43 | 0x8000, nested))


def promiscuous(index):
    packets = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.ntohs(3))
    packets.setsockopt(263, 1, struct.pack("<iHH8s", index, 1, 0, b""))  # PACKET_ADD_MEMBERSHIP, PACKET_MR_PROMISC
    keep(packets.fileno())


def xsk(index):
    packets = socket.socket(44, socket.SOCK_RAW, 0)  # linux/include/uapi/linux/if_xdp.h
    memory = mmap.mmap(-1, 1 << 18)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    packets.setsockopt(283, 4, struct.pack("<QQIII4x", start, len(memory), 4096, 0, 0))
    for ring in (5, 6, 2):
        packets.setsockopt(283, ring, 64)
    if libc.bind(packets.fileno(), struct.pack("<HHIII", 44, 0, index, 0, 0), 16) < 0:
        sys.exit("bind: " + os.strerror(ctypes.get_errno()))
    keep(packets.fileno())


def nft(netdev):
    """A chain of the family netdev (5) whose policy is to drop."""
    number = lambda n: struct.pack(">I", n)
    hook = attribute(1, number(0)) + attribute(2, number(0)) + attribute(3, netdev.encode() + b"\0")
    table = attribute(1, b"dirt\0")
    chain = table + attribute(3, b"drops\0") + attribute(4 | 0x8000, hook) + attribute(5, number(0)) + attribute(7, b"filter\0")
    batch = b""
    for kind, family, body in ((16, 0, b""), (0xA00, 5, table), (0xA03, 5, chain), (17, 0, b"")):
        flags = 1 | (0x400 | ACK if family else 0)
        batch += struct.pack("<IHHIIBBH", 20 + len(body), kind, flags, 1, 0, family, 0, 0 if family else 0x0A00) + body
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 12) as netlink:
        netlink.send(batch)
        for _ in range(2):
            error = struct.unpack_from("<i", netlink.recv(4096), 16)[0]
            if error:
                sys.exit("nft: " + os.strerror(-error))


def napi(index, setting=None):
    for instance in request_napi(NAPI_GET, DUMP, attribute(1, struct.pack("<I", index))):
        if setting:
            name, value = setting.split("=")
            kind, form = NAPI[name]
            request_napi(NAPI_SET, ACK, attribute(2, instance[2]) + attribute(kind, struct.pack(form, int(value))))
        else:
            print("napi", {name: instance[kind].hex() for name, (kind, _) in NAPI.items() if kind in instance})


def enter(path):
    with open(path, "rb") as namespace:
        if libc.setns(namespace.fileno(), 0) < 0:
            sys.exit(path + ": " + os.strerror(ctypes.get_errno()))


def socket_in(pid):
    home = os.open("/proc/self/ns/net", os.O_RDONLY)
    enter("/proc/" + pid + "/ns/net")
    inside = socket.socket()
    libc.setns(home, 0)
    os.close(home)
    keep(inside.detach())


def links_behind(pid, fd):
    process = system_call("pidfd_open", SYS_PIDFD_OPEN, int(pid), 0)
    theirs = system_call("pidfd_getfd", SYS_PIDFD_GETFD, process, int(fd), 0)
    if os.readlink("/proc/self/fd/%d" % theirs).startswith("socket:"):
        theirs = fcntl.ioctl(theirs, SIOCGSKNS)
    enter("/proc/self/fd/%d" % theirs)
    print(*(name for name in links() if name != "lo"))


what, arguments = sys.argv[1], sys.argv[2:]
if what in ("tcx", "xdp", "promiscuous", "xsk", "napi"):
    arguments[0] = socket.if_nametoindex(arguments[0])
ways = {"tcx": tcx, "xdp": xdp, "promiscuous": promiscuous, "xsk": xsk, "nft": nft, "napi": napi, "socket": socket_in, "links": links_behind}
ways[what](*arguments)
