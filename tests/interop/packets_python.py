#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Judges the packet programs with scapy, which makes the packets, and tshark, which reads them: every opcode, syndrome, codepoint,
IPv4 and IPv6, VLAN tags, RoCEv1, over a veth pair that is watched at both ends.

  packets_python.py PROGRAM      PROGRAM: build/interop/packet_watch

One line per check, "N passed, N failed" last.

run: {san}/interop/packet_watch
proves: bpf daemon/packets
when: core
"""
import collections
import ctypes
import json
import logging
import os
import subprocess
import sys
import tempfile
import time

if ctypes.CDLL(None, use_errno=True).unshare(0x40000000) != 0:  # CLONE_NEWNET
    print("skipped: a network namespace of its own needs root")
    print("0 passed, 0 failed")
    sys.exit(0)
logging.getLogger("scapy").setLevel(logging.ERROR)

from scapy.contrib.roce import AETH, BTH, GRH, cnp  # noqa: E402
from scapy.layers.inet import IP, UDP, IPOption_NOP, fragment  # noqa: E402
from scapy.layers.inet6 import IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment, IPv6ExtHdrHopByHop, fragment6  # noqa: E402
from scapy.layers.l2 import Dot1Q, Dot1AD, Ether  # noqa: E402
from scapy.packet import Raw  # noqa: E402
from scapy.utils import wrpcap  # noqa: E402

PROGRAM = sys.argv[1]
NEAR, FAR = "near0", "far0"
SOON = 120  # timeout in seconds, far above what any step needs on a busy machine
CNP = 0x81
# Opcodes of a transport (IBTA volume 1, table 38), their operation in our counts, and whether they have an AETH or a RETH.
TRANSPORTS = {0: set(range(0x15)) | {0x16, 0x17}, 1: set(range(0x0c)), 2: set(range(0x15)), 3: {4, 5}, 5: set(range(0x15)) | {0x16, 0x17}}
OTHER, SEND, WRITE, READ, RESPONSE, ACK, ATOMIC, ATOMIC_ACK = range(8)
OPS = {**dict.fromkeys(range(0x06), SEND), **dict.fromkeys(range(0x06, 0x0c), WRITE), 0x0c: READ, **dict.fromkeys(range(0x0d, 0x11), RESPONSE),
       0x11: ACK, 0x12: ATOMIC_ACK, 0x13: ATOMIC, 0x14: ATOMIC, 0x15: OTHER, 0x16: SEND, 0x17: SEND}
WITH_AETH, WITH_RETH = {0x0d, 0x0f, 0x10, 0x11, 0x12}, {0x06, 0x0a, 0x0b, 0x0c}
SYNDROMES = {0: 0, 0x1f: 0, 0x20: 1, 0x2e: 1, 0x60: 2, 0x61: 3, 0x62: 4, 0x63: 5, 0x64: 6}
passed = failed = 0


def check(what, good, detail=""):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    print(("ok" if good else "not ok"), what, "" if good else detail, flush=True)


class Watch:
    """packet_watch on one end."""

    def __init__(self, netdev, how):
        self.process = subprocess.Popen([PROGRAM, netdev, how], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.first_line = self.process.stdout.readline().strip()

    def counts(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        return self.process.wait()


def network(kind, traffic_class):
    """The headers in front of the BTH. GRH's length is set later."""
    ether = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
    ip4 = IP(src="192.0.2.1", dst="192.0.2.2", tos=traffic_class)
    ip6 = IPv6(src="2001:db8::1", dst="2001:db8::2", tc=traffic_class)
    udp = UDP(sport=0 if traffic_class % 2 else 0xc000, dport=4791, chksum=0)
    return {
        "ip4": ether / ip4 / udp,
        "options": ether / IP(src="192.0.2.1", dst="192.0.2.2", tos=traffic_class, options=[IPOption_NOP()] * 8) / udp,
        "ip6": ether / ip6 / udp,
        "extensions": ether / ip6 / IPv6ExtHdrHopByHop() / IPv6ExtHdrDestOpt() / udp,
        "vlan": ether / Dot1Q(vlan=7, prio=3) / ip4 / udp,
        "vlan6": ether / Dot1Q(vlan=7) / ip6 / udp,
        "qinq": ether / Dot1AD(vlan=5) / Dot1Q(vlan=7) / ip4 / udp,
        "v1": ether / GRH(nexthdr=0x1b, hoplmt=64, tclass=traffic_class, sgid=1, dgid=2),
    }[kind]


def transport_headers(opcode, syndrome, length):
    """The headers behind the BTH, up to the ICRC."""
    transport, low = opcode >> 5, opcode & 0x1f
    aeth, reth = low in WITH_AETH and transport != 3, low in WITH_RETH and transport != 3
    before = {2: 12 if reth else 4, 5: 4 if reth else 0}.get(transport, 0) if aeth or reth else 8 if transport == 3 else 0
    data = bytes(before)
    if aeth:
        data += bytes(AETH(syndrome=syndrome, msn=7))
    if reth:
        data += (0x1000).to_bytes(8, "big") + bytes(4) + length.to_bytes(4, "big")
    return data + bytes(28 if low in (0x13, 0x14) else 8 if low == 0x12 else 0)


def packet(kind, traffic_class, opcode, n, syndrome=0):
    """n varies the fields that differ between packets."""
    bth = BTH(opcode=opcode, solicited=n & 1, fecn=n >> 1 & 1, becn=n >> 2 & 1, ackreq=n >> 3 & 1, dqpn=n, psn=n * 7 % 2**24, icrc=0)
    if opcode == CNP:
        bth, payload = cnp(n)[BTH], b""
    else:
        payload = transport_headers(opcode, syndrome, 1000 + n) + bytes(4 * (n % 20))
    frame = network(kind, traffic_class)
    if kind == "v1":
        inner = bytes(BTH(bytes(bth) if opcode == CNP else bytes(bth)[:12] + payload + bytes(4)))
        frame[GRH].paylen = len(inner)
        return Ether(bytes(frame) + inner)
    if opcode == CNP:
        return frame / bth
    return frame / Raw(bytes(bth)[:12] + payload + bytes(4))


def all_packets():
    kinds, result, n = ["ip4", "options", "ip6", "extensions", "vlan", "vlan6", "qinq", "v1"], [], 0
    for kind in kinds:
        for transport, lows in TRANSPORTS.items():
            for low in sorted(lows):
                result.append((kind, n % 256, transport << 5 | low, 0))
                n += 1
        for syndrome in SYNDROMES:
            result.append((kind, n % 256, 0x11, syndrome))
            n += 1
        for traffic_class in range(256):
            result.append((kind, traffic_class, (0x04, 0x07, CNP)[traffic_class % 3], 0))
    return [(i, spec, packet(*spec[:3], i, spec[3])) for i, spec in enumerate(result)]


def fragments():
    """Fragments of packets to RoCE's port, and the number of packets; of each, our counters count one fragment, the first."""
    whole = [Ether() / IP(id=i) / UDP(sport=i, dport=4791, chksum=0) / Raw(bytes(2000 + 8 * i)) for i in range(1, 30)]
    frames = [f for packet in whole for f in fragment(packet, fragsize=600)]
    whole6 = [Ether() / IPv6() / IPv6ExtHdrFragment(id=i) / UDP(sport=i, dport=4791) / Raw(bytes(2000 + 8 * i)) for i in range(1, 20)]
    return frames + [Ether() / f for packet in whole6 for f in fragment6(packet[IPv6], 700)], len(whole) + len(whole6)


def malformed():
    """Packets to RoCE's port that are not RoCE: truncated in each header, or longer than their frame."""
    rc = {"BTH": (0x04, 12 + 4), "AETH": (0x11, 12 + 4 + 4), "RETH": (0x06, 12 + 16 + 4)}
    bodies = [bytes([opcode]) + bytes(n - 1) for opcode, size in rc.values() for n in range(1, size)]
    frames = [Ether() / IP() / UDP(dport=4791, chksum=0) / Raw(b) for b in bodies]
    frames += [Ether() / IPv6() / UDP(dport=4791) / Raw(b) for b in bodies]
    frames += [Ether() / IP() / UDP(dport=4791, len=n, chksum=0) / Raw(bytes(40)) for n in (0, 7, 49, 65535)]
    return frames + [Ether() / IP(len=1000) / UDP(dport=4791, len=980, chksum=0) / Raw(bytes(40))]


def empty():
    return {"traffic_class": collections.Counter(), "ops": collections.Counter(), "syndromes": collections.Counter(),
            **dict.fromkeys(["packets", "bytes", "cnp", "fecn", "becn", "solicited", "read", "write", "v1", "ip4", "ip6", "fragments",
                             "malformed"], 0)}


def account(sum_, traffic_class, opcode, syndrome, length):
    """Adds one packet to the counts; `length`: that of its RETH, or None."""
    sum_["packets"] += 1
    sum_["traffic_class"][str(traffic_class)] += 1
    if opcode == CNP:
        sum_["cnp"] += 1
        return
    transport, low = opcode >> 5, opcode & 0x1f
    sum_["ops"][str(transport * 8 + (OPS.get(low, OTHER) if low in TRANSPORTS.get(transport, ()) else OTHER))] += 1
    if syndrome is not None:
        sum_["syndromes"][str(SYNDROMES[syndrome])] += 1
    if length is not None:
        sum_["read" if low == 0x0c else "write"] += length


def by_scapy(packets):
    """The expected counts, from the fields given to scapy."""
    sum_ = empty()
    for i, (kind, traffic_class, opcode, syndrome), frame in packets:
        low, transport = opcode & 0x1f, opcode >> 5
        plain = opcode != CNP and transport != 3
        account(sum_, traffic_class, opcode, syndrome if plain and low in WITH_AETH else None,
                1000 + i if plain and low in WITH_RETH else None)
        family = "v1" if kind == "v1" else "ip6" if IPv6 in frame else "ip4"
        sum_[family] += 1
        sum_["bytes"] += len(frame)
        sum_["fecn"] += i >> 1 & 1 if opcode != CNP else 0
        sum_["becn"] += i >> 2 & 1 if opcode != CNP else 1
        sum_["solicited"] += i & 1 if opcode != CNP else 0
    return sum_


FIELDS = ["infiniband.bth.opcode", "infiniband.aeth.syndrome", "infiniband.reth.dmalen", "infiniband.bth.se", "ip.dsfield", "ipv6.tclass",
          "infiniband.grh.tclass", "frame.len", "eth.type", "vlan.etype"]


def number(text):
    return int(text.split(",")[-1], 0) if text and text not in ("True", "False") else int(text == "True")


def by_tshark(pcap):
    """FECN and BECN by bit: tshark has no names for them."""
    command = ["tshark", "-r", pcap, "-Y", "infiniband.bth", "-T", "fields", "-E", "separator=;"]
    for field in FIELDS:
        command += ["-e", field]
    sum_ = empty()
    for line in subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines():
        opcode, syndrome, length, solicited, ip4, ip6, grh, size, *_ = line.split(";")
        opcode = number(opcode)
        account(sum_, number(grh or ip6 or ip4), opcode, number(syndrome) if syndrome else None,
                number(length) if length else None)
        sum_["v1" if grh else "ip6" if ip6 else "ip4"] += 1
        sum_["bytes"] += number(size)
        sum_["solicited"] += number(solicited) if opcode != CNP else 0
    return sum_


def fragments_by_tshark(pcap):
    command = ["tshark", "-r", pcap, "-o", "ip.defragment:FALSE", "-o", "ipv6.defragment:FALSE", "-Y",
               "udp.dstport == 4791 && ((ip.flags.mf == 1 && ip.frag_offset == 0) || (ipv6.fraghdr.more == 1 && ipv6.fraghdr.offset == 0))"]
    return len(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines())


def send(frames):
    import socket
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as s:
        s.bind((NEAR, 0))
        for frame in frames:
            s.send(bytes(frame))


def wait_for(watch, direction, n):
    deadline = time.monotonic() + SOON
    while time.monotonic() < deadline and watch.counts()[direction]["packets"] < n:
        time.sleep(0.01)
    return watch.counts()[direction]


def without(counted, some):
    return {k: {i: n - v[i] for i, n in counted[k].items() if n != v[i]} if isinstance(v, dict) else counted[k] - v for k, v in some.items()}


def differences(got, wanted, names=None):
    return {k: (got[k], wanted[k]) for k in names or wanted if got[k] != (dict(wanted[k]) if isinstance(wanted[k], dict) else wanted[k])}


def run():
    packets, broken = all_packets(), malformed()
    scapy = by_scapy(packets)
    parts, scapy["fragments"] = fragments()
    scapy["malformed"] = len(broken)
    subprocess.run(f"ip link add {NEAR} type veth peer name {FAR} && sysctl -qw net.ipv6.conf.all.disable_ipv6=1; "
                   f"ip link set {NEAR} up && ip link set {FAR} up", shell=True, check=True, stderr=subprocess.DEVNULL)
    watches = [(Watch(NEAR, "tc"), "sent"), (Watch(NEAR, "clsact"), "sent"), (Watch(FAR, "tc"), "received"), (Watch(FAR, "xdp"), "received")]
    if not all(w.first_line.startswith("watching") for w, _ in watches):
        print("skipped:", [w.first_line for w, _ in watches])
        return
    send(parts + broken)
    send(frame for _, _, frame in packets)
    # Packets that are not RoCE.
    send([Ether() / IP() / UDP(sport=4791, dport=53) / Raw(bytes(40)), Ether() / IP(frag=5) / UDP(dport=4791) / Raw(bytes(40)),
          Ether() / IP(proto=6) / Raw(bytes(40))])
    got = {}
    for watch, direction in watches:
        what = f"{watch.first_line[9:]}, {direction}"
        got[what] = wait_for(watch, direction, scapy["packets"])
        for name in scapy:
            wrong = differences(got[what], scapy, [name])
            check(f"{what}: {name} as scapy made them", not wrong, str(wrong)[:400])
    # tshark decodes the headers of these: RC, UC, UD and notifications.
    known = [p for p in packets if p[1][2] >> 5 in (0, 1, 3, 4)]
    with tempfile.TemporaryDirectory() as folder:
        pcap = os.path.join(folder, "packets.pcap")
        wrpcap(pcap, [frame for _, _, frame in known])
        tshark = by_tshark(pcap)
        one = without(next(iter(got.values())), by_scapy([p for p in packets if p not in known]))
        wrpcap(pcap, parts)
        tshark["fragments"] = fragments_by_tshark(pcap)
        for name in sorted(set(tshark) - {"fecn", "becn", "malformed"}):
            wrong = differences(one, tshark, [name])
            check(f"{name} as tshark reads them", not wrong, str(wrong)[:400])
    check("every program ends", all(w.close() == 0 for w, _ in watches))
    print(f"# {scapy['packets']} packets, {len(scapy['ops'])} kinds of operation, {len(scapy['traffic_class'])} codepoints, "
          f"{scapy['fragments']} fragments, {scapy['malformed']} malformed")


run()
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
