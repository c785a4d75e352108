#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Sends RoCE packets of every kind that a NIC could, a known number of each, as scapy makes them; or writes them to a file.

  inject.py NETDEV DESTINATION_MAC SOURCE_IP DESTINATION_IP      on the netdev, in this network namespace
  inject.py --file FILE                                          a capture file, to try the judge with

Prints their number.
"""
import logging, sys
logging.getLogger("scapy").setLevel(logging.ERROR)  # it cannot compute the ICRC of all of these
from scapy.config import conf
from scapy.arch import get_if_hwaddr
from scapy.compat import raw
from scapy.contrib.roce import AETH, BTH, CNPPadding, cnp
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrHopByHop
from scapy.layers.l2 import Dot1AD, Dot1Q, Ether
from scapy.packet import Raw

PORT, QP, ROCE_V1 = 4791, 0xBAD17, 0x8915  # an unused queue pair
ECN = {"not_ect": 0, "ect1": 1, "ect0": 2, "ce": 3}
ACKNOWLEDGE, CNP = 0x11, 0x81
# RC, UC, RD, UD and XRC: the opcodes that each has (IBTA volume 1, table 38; annex A14).
TRANSPORTS = {0x00: [*range(0x15), 0x16, 0x17], 0x20: range(0x0C), 0x40: range(0x15), 0x60: [4, 5], 0xA0: [*range(0x15), 0x16, 0x17]}
SYNDROMES = [0x00, 0x1F, 0x20, 0x2E, 0x3F, 0x60, 0x61, 0x62, 0x63, 0x64]


# The headers that follow a BTH, zeroed, and data: longer than any opcode needs.
PAYLOAD = bytes(44)


def data():
    return Raw(PAYLOAD)


def bth(opcode, psn=0, **fields):
    return BTH(opcode=opcode, dqpn=QP, psn=psn, **fields)


def ack(syndrome, psn):
    return bth(ACKNOWLEDGE, psn) / AETH(syndrome=syndrome, msn=1)


class Packets:
    def __init__(self, destination_mac, source, destination):
        self.ether = Ether(dst=destination_mac)
        self.ip = IP(src=source, dst=destination)
        self.ip6 = IPv6(src="fd00::1", dst="fd00::2")
        self.udp = UDP(sport=0xC123, dport=PORT, chksum=0)

    def v4(self, transport, tos=0, **fields):
        ip = self.ip.copy()
        ip.tos = tos
        for name, value in fields.items():
            setattr(ip, name, value)
        return self.ether / ip / self.udp / transport

    def v6(self, transport, tc=0, *extensions):
        packet = self.ether / self.ip6.copy()
        packet[IPv6].tc = tc
        for header in extensions:
            packet /= header
        return packet / self.udp / transport

    def v1(self, transport, tc=0):
        """A GRH looks like an IPv6 header whose next header is 0x1b; it avoids the layers that scapy would bind to IPv6."""
        body = raw(transport) + bytes(4)
        grh = IPv6(src="fe80::1", dst="fe80::2", tc=tc, nh=0x1B, hlim=64, plen=len(body))
        return Ether(dst=self.ether.dst, type=ROCE_V1) / Raw(raw(grh) + body)

    def tagged(self, packet, *tags):
        """Adds VLAN tags behind the addresses."""
        head = Ether(src=packet.src, dst=packet.dst)
        for tag in tags:
            head /= tag
        head.lastlayer().type = packet.type
        return head / packet.payload

    def all(self):
        yield from self.opcodes()
        yield from self.naks()
        yield from self.traffic_classes()
        yield from self.carriers()
        yield from self.others()

    def opcodes(self):
        for transport, opcodes in TRANSPORTS.items():
            for opcode in opcodes:
                yield self.v4(bth(transport | opcode) / data())

    def naks(self):
        for n, syndrome in enumerate(SYNDROMES):
            for psn in range(n + 1):
                yield self.v4(ack(syndrome, psn))
                yield self.v6(ack(syndrome, psn))
                yield self.v1(ack(syndrome, psn))

    def traffic_classes(self):
        for n, (dscp, ecn) in enumerate((d, e) for d in (0, 26, 48) for e in ECN.values()):
            for psn in range(n + 1):
                for make in (self.v4, self.v6, self.v1):
                    yield make(bth(0x0A, psn) / data(), dscp << 2 | ecn)

    def carriers(self):
        write = bth(0x0A) / data()
        yield self.v4(write, options=b"\x01\x01\x01\x00")
        yield self.v6(write, 0, IPv6ExtHdrHopByHop(), IPv6ExtHdrDestOpt())
        for vlan in (1, 100):
            yield self.tagged(self.v4(write, 3), Dot1Q(vlan=vlan, prio=3))
            yield self.tagged(self.v6(write, 106), Dot1Q(vlan=vlan, prio=3))
            yield self.tagged(self.v4(write, 106), Dot1AD(vlan=vlan), Dot1Q(vlan=7))
            yield self.tagged(self.v1(write, 2), Dot1Q(vlan=vlan))

    def others(self):
        """CNPs, one as scapy makes it and some from a source port of 0; bits; and packets that are not RoCE."""
        yield self.ether / self.ip / self.udp / cnp(QP)
        for _ in range(4):
            packet = self.v4(BTH(opcode=CNP, becn=1, dqpn=QP) / CNPPadding(), 0xC2)
            packet[UDP].sport = 0
            yield packet
        yield self.v6(BTH(opcode=CNP, becn=1, dqpn=QP) / CNPPadding(), 0xC2)
        yield self.v4(bth(0x04, fecn=1, solicited=1) / data())
        yield self.ether / self.ip / UDP(sport=PORT, dport=PORT + 1) / Raw(bytes(64))


def main():
    if sys.argv[1] == "--file":
        packets = list(Packets("02:00:00:00:00:02", "10.9.0.1", "10.9.0.2").all())
        from scapy.utils import wrpcap
        wrpcap(sys.argv[2], packets)
    else:
        netdev, mac, source, destination = sys.argv[1:]
        packets = list(Packets(mac, source, destination).all())
        s, own = conf.L2socket(iface=netdev), get_if_hwaddr(netdev)
        for packet in packets:
            packet.src = own
            s.send(packet)
    print(len(packets))


main()
