#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Judges rocectl pcap and sniff: scapy makes the packets and their ICRCs, tshark decodes each of them for comparison.

  capture_python.py PROGRAM      PROGRAM: build/rocectl

One line per check, "N passed, N failed" last.

run: {san}/rocectl
proves: hw/sniff daemon/capture include/roce_decode.h daemon/ctl
when: turns
needs: root
"""
import collections
import functools
import json
import logging
import os
import random
import struct
import subprocess
import sys
import tempfile
import time
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
logging.getLogger("scapy").setLevel(logging.ERROR)
from scapy.contrib.roce import BTH  # noqa: E402
from scapy.layers.inet import IP, UDP, IPOption_NOP  # noqa: E402
from scapy.layers.inet6 import ICMPv6MLReport2, IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrHopByHop, RouterAlert  # noqa: E402
from scapy.layers.l2 import CookedLinux, CookedLinuxV2, Dot1Q, Ether  # noqa: E402
from scapy.packet import Raw  # noqa: E402
from scapy.utils import PcapWriter  # noqa: E402
from run_checks import run_checks  # noqa: E402

PROGRAM = sys.argv[1]
SOON = 120  # timeout in seconds, far above what any step needs on a busy machine
ETHERNET, RAW_IP, COOKED, COOKED2 = 1, 101, 113, 276
OPERATIONS = ["send"] * 6 + ["write"] * 6 + ["readRequest"] + ["readResponse"] * 4 + ["ack", "atomicAck"] + ["atomic"] * 2 + ["other"] + ["send"] * 2
TRANSPORTS = {0: ("rc", 0xdfffff), 1: ("uc", 0xfff), 2: ("rd", 0x1fffff), 3: ("ud", 0x30), 5: ("xrc", 0xdfffff)}
NAKS = ["sequenceNak", "invalidRequestNak", "remoteAccessNak", "remoteOperationNak", "invalidRdNak"]
WITH_AETH = (0x0d, 0x0f, 0x10, 0x11, 0x12)
MACS = {"src": "02:00:00:00:00:01", "dst": "02:00:00:00:00:02"}
checks = []


def check(function):
    """The check is called with a temporary folder."""
    @functools.wraps(function)
    def in_a_folder():
        with tempfile.TemporaryDirectory() as folder:
            function(folder)
    checks.append(in_a_folder)
    return function


def equal(found, wanted, what=""):
    if found != wanted:
        raise AssertionError(f"{what}: found {found}, wanted {wanted}")


# --- packets -----------------------------------------------------------------------------------------------------------------------

def transport_packet(code, **fields):
    """A BTH and the headers of its opcode behind it, without an ICRC."""
    low, transport = code & 0x1f, code >> 5
    body = b""
    if transport == 2:  # RDETH, with a request DETH too
        body += bytes(4 if low in WITH_AETH else 12)
    if transport == 5 and low in (0x06, 0x0a, 0x0b, 0x0c):  # XRCETH
        body += bytes(4)
    if low in WITH_AETH:
        body += struct.pack(">I", fields.pop("syndrome", 0x1f) << 24)
    if low in (0x06, 0x0a, 0x0b, 0x0c):
        body += struct.pack(">QII", 0, 1, 4096)
    if low in (0x13, 0x14):
        body += bytes(28)
    bth = struct.pack(">BBHII", code, 0x80 * fields.get("solicited", 0), 0xffff, fields.get("qpn", 17),
                      fields.get("ask", 0) << 31 | fields.get("psn", 0))
    return bth + body + bytes(fields.get("payload", 32))


def icrc_of(network, rest):
    """The ICRC over an IPv6 header or GRH and what follows; scapy computes that of IPv4 only."""
    network, rest = bytearray(network), bytearray(rest)
    network[0] |= 0x0f
    network[1:4] = b"\xff" * 3
    network[7] = 0xff
    bth = 0 if network[6] == 0x1b else 8
    if bth:
        rest[6:8] = b"\xff" * 2
    rest[bth + 4] = 0xff
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + bytes(network + rest)))


def over_ip4(code, tos, **fields):
    packet = transport_packet(code, **fields)
    bth = BTH(packet[:12] + bytes(4))
    bth.icrc = None
    udp = UDP(sport=fields.get("sport", 49152), dport=4791, chksum=0)
    return bytes(IP(src=fields.get("src", "10.0.0.1"), dst=fields.get("dst", "10.0.0.2"), tos=tos) / udp / BTH(
        opcode=bth.opcode, solicited=bth.solicited, dqpn=bth.dqpn, ackreq=bth.ackreq, psn=bth.psn, migreq=0, pkey=0xffff) /
        Raw(packet[12:]))


def over_ip6(code, tos, **fields):
    rest = struct.pack(">HHHH", 49152, 4791, 8 + len(transport_packet(code, **dict(fields))) + 4, 0) + transport_packet(code, **dict(fields))
    network = bytes(IPv6(src="fd00::1", dst="fd00::2", tc=tos, fl=7, nh=17, hlim=64, plen=len(rest) + 4))
    return network + rest + icrc_of(network, rest)


def in_grh(code, tos, **fields):
    rest = transport_packet(code, **fields)
    network = struct.pack(">IHBB", 6 << 28 | tos << 20, len(rest) + 4, 0x1b, 64) + bytes(range(16)) + bytes(range(16, 32))
    return network + rest + icrc_of(network, rest)


def ether(network, *tags):
    kind = 0x8915 if network[6] == 0x1b and network[0] >> 4 == 6 else 0x86dd if network[0] >> 4 == 6 else 0x0800
    frame = Ether(**MACS, type=0x8100 if tags else kind)
    for i, tag in enumerate(tags):
        frame /= Dot1Q(vlan=tag, type=0x8100 if i + 1 < len(tags) else kind)
    return bytes(frame) + network


def every_opcode(make, *tags):
    """Each opcode with each ECN codepoint, some DSCPs, every class of syndrome; and CNPs."""
    codes = [transport << 5 | low for transport, (_, there) in TRANSPORTS.items() for low in range(32) if there >> low & 1]
    frames = [ether(make(code, (i * 7 % 64) << 2 | ecn, psn=i), *tags) for i, code in enumerate(codes) for ecn in range(4)]
    frames += [ether(make(0x11, 0x68, syndrome=s, psn=s), *tags) for s in [*range(0, 0x40, 5), 0x60, 0x61, 0x62, 0x63, 0x64, 0x60]]
    frames += [ether(make(0x81, 0xc2, payload=16, sport=0), *tags) for _ in range(5)]
    return frames


def save(name, frames, link=ETHERNET, endian="<", nano=False):
    with PcapWriter(name, linktype=link, endianness=endian, nano=nano, sync=True) as f:
        f.write_header(None)
        for i, frame in enumerate(frames):
            f.write_packet(frame, sec=1700000000 + i // 1000, usec=i % 1000)


# --- rocectl and tshark ------------------------------------------------------------------------------------------------------------

def ours(name, *options, code=0):
    done = subprocess.run([PROGRAM, "pcap", "--json", *options, name], capture_output=True, text=True, timeout=SOON)
    if done.returncode != code:
        raise AssertionError(f"exit {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


FIELDS = ["ip.dsfield", "ipv6.tclass", "infiniband.grh.tclass", "infiniband.bth.opcode", "infiniband.aeth.syndrome",
          "infiniband.bth.se", "frame.len"]


def number(text):
    return {"True": 1, "False": 0}.get(text) if text in ("True", "False") else int(text.split(",")[0], 0)


def theirs(name, *options):
    """Counts of the same file by tshark, in rocectl's form."""
    lines = subprocess.run(["tshark", "-n", "-r", name, "-Y", "infiniband.bth", "-T", "fields", *sum([["-e", f] for f in FIELDS], [])],
                           capture_output=True, text=True, timeout=SOON, check=True).stdout.splitlines()
    counts = collections.Counter()
    for line in lines:
        value = dict(zip(FIELDS, line.split("\t")))
        kinds = [("ipv4", "ip.dsfield"), ("ipv6", "ipv6.tclass"), ("v1", "infiniband.grh.tclass")]
        version, key = next((v, k) for v, k in kinds if value[k])
        code, tos = number(value["infiniband.bth.opcode"]), number(value[key])
        counts.update(["packets", version, ("tos", tos)])
        counts["bytes"] += number(value["frame.len"])
        counts["solicited"] += number(value["infiniband.bth.se"])
        counts[("op", code)] += 1
        if code >> 5 == 5 and code & 0x1f in WITH_AETH:  # tshark does not decode XRC responses; ours are all plain ACKs
            counts[("syndrome", 0x1f)] += 1
        if value["infiniband.aeth.syndrome"]:
            counts[("syndrome", number(value["infiniband.aeth.syndrome"]))] += 1
    return counts


def classes(counts):
    """tshark's counts, in the classes of rocectl's output: operations, syndromes, DSCPs by ECN."""
    operations, answers, marks = collections.Counter(), collections.Counter(), collections.Counter()
    for key, n in counts.items():
        if key[0] == "op" and key[1] != 0x81:
            name, there = TRANSPORTS.get(key[1] >> 5, ("other", 0))
            low = key[1] & 0x1f
            operations[name, OPERATIONS[low] if there >> low & 1 else "other"] += n
        elif key[0] == "syndrome":
            s = key[1]
            answers["ack" if s < 0x20 else "rnrNak" if s < 0x40 else NAKS[s - 0x60]] += n
        elif key[0] == "tos":
            marks[key[1] >> 2, ["notEct", "ect1", "ect0", "ce"][key[1] & 3]] += n
    return operations, answers, marks


def compare(name, frames):
    found, counts = ours(name), theirs(name)
    roce = found["roce"]
    operations, answers, marks = classes(counts)
    equal(counts["packets"], frames, "tshark's packets")
    for key in ("packets", "bytes", "ipv4", "ipv6", "v1", "solicited"):
        equal(roce[key], counts[key], key)
    equal(roce["cnp"], counts["op", 0x81], "CNPs")
    equal({(o["transport"], o["operation"]): o["packets"] for o in roce["operations"]}, dict(operations), "operations")
    equal({k: n for k, n in roce["syndromes"].items() if n}, dict(answers), "syndromes")
    equal({(d["dscp"], k): d[k] for d in roce["dscp"] for k in ("notEct", "ect1", "ect0", "ce") if d[k]}, dict(marks), "ECN by DSCP")
    for i, codepoint in enumerate(["notEct", "ect1", "ect0", "ce"]):
        equal(roce["ecn"][codepoint], sum(n for (_, k), n in marks.items() if k == codepoint), codepoint)
    listed(name, roce)
    return found


def listed(name, roce):
    """The listed packets are the counted ones, with every filter."""
    def packets(*options):
        done = subprocess.run([PROGRAM, "pcap", name, "--packets", "-o", "json", *options], capture_output=True, text=True, timeout=SOON, check=True)
        return [json.loads(line) for line in done.stdout.splitlines()]
    rows = packets()
    equal(len(rows), roce["packets"], "listed packets")
    equal(sum(row["bytes"] for row in rows), roce["bytes"], "their bytes")
    equal(collections.Counter(row["ecn"] for row in rows), collections.Counter({word: n for word, n in roce["ecn"].items() if n}), "their codepoints")
    equal(len(packets("--only", "cnp")), roce["cnp"], "listed CNPs")
    equal(len(packets("--only", "ce")), roce["ecn"]["ce"], "listed CE marks")
    equal(len(packets("--only", "nak")), sum(n for word, n in roce["syndromes"].items() if word != "ack"), "listed NAKs")
    equal(len(packets("--only", "bad-icrc")), roce["icrc"]["bad"], "listed bad ICRCs")
    if rows:
        flow = (rows[0]["source"], rows[0]["destination"], str(rows[0]["qpn"]))
        ends = {flow[0], flow[1]}
        equal(packets("--flow", ",".join(flow)), [row for row in rows if row["qpn"] == rows[0]["qpn"] and ends <= {row["source"], row["destination"]}],
              "a flow's packets")


def judge(folder, frames):
    name = os.path.join(folder, "x.pcap")
    save(name, frames)
    found = compare(name, len(frames))
    equal(found["roce"]["icrc"], {"good": len(frames), "bad": 0, "unverifiable": 0, "firstBad": None}, "ICRCs")


# --- checks ------------------------------------------------------------------------------------------------------------------------

@check
def ip4(folder):
    judge(folder, every_opcode(over_ip4))


@check
def ip6(folder):
    judge(folder, every_opcode(over_ip6))


@check
def roce_v1(folder):
    judge(folder, every_opcode(in_grh))


@check
def vlan(folder):
    judge(folder, every_opcode(over_ip4, 5) + every_opcode(over_ip6, 5) + every_opcode(in_grh, 5))


@check
def qinq(folder):
    judge(folder, every_opcode(over_ip4, 5, 6))


@check
def every_file_format(folder):
    frames = every_opcode(over_ip4) + every_opcode(over_ip6, 7)
    want = None
    for i, (endian, nano) in enumerate([("<", False), (">", False), ("<", True), (">", True)]):
        name = os.path.join(folder, f"{i}.pcap")
        save(name, frames, endian=endian, nano=nano)
        found = compare(name, len(frames))
        want = want or found["roce"]
        equal(found["roce"]["operations"], want["operations"])
    for kind in ("pcapng", "nsecpcap", "modpcap"):
        name = os.path.join(folder, kind)
        subprocess.run(["editcap", "-F", kind, os.path.join(folder, "0.pcap"), name], check=True)
        equal(compare(name, len(frames))["roce"], dict(want), kind)


@check
def sections_and_interfaces(folder):
    """mergecap keeps an interface for each file, with its own link type and resolution of time."""
    parts = [(every_opcode(over_ip4), ETHERNET, False), ([b"\0" * 14 + b"\x08\0" + over_ip4(4, 3)] * 7, COOKED, False),
             ([over_ip6(4, 1)] * 3, RAW_IP, True)]
    names = []
    for i, (frames, link, nano) in enumerate(parts):
        names.append(os.path.join(folder, f"{i}.pcap"))
        save(names[-1], frames, link=link, nano=nano)
    merged = os.path.join(folder, "merged.pcapng")
    subprocess.run(["mergecap", "-F", "pcapng", "-a", "-w", merged, *names], check=True)
    found, counts = ours(merged), theirs(merged)
    equal(found["roce"]["packets"], counts["packets"], "packets")
    equal(found["roce"]["packets"], sum(len(p[0]) for p in parts))
    with open(merged, "rb") as f:
        twice = f.read() * 2
    with open(merged, "wb") as f:
        f.write(twice)
    equal(ours(merged)["roce"]["packets"], 2 * counts["packets"])
    equal(ours(merged)["start"], found["start"])


@check
def cooked_links(folder):
    packets = [over_ip4(4, tos) for tos in range(8)] + [over_ip6(0x11, 0xc2, syndrome=0x60)]
    kinds = [0x800] * 8 + [0x86dd]
    cooked = [bytes(CookedLinux(proto=kind)) + p for p, kind in zip(packets, kinds)]
    cooked2 = [bytes(CookedLinuxV2(proto=kind)) + p for p, kind in zip(packets, kinds)]
    for frames, link, head in ((packets, RAW_IP, 0), (cooked, COOKED, 16), (cooked2, COOKED2, 20)):
        name = os.path.join(folder, f"{link}.pcap")
        save(name, frames, link=link)
        found, counts = ours(name), theirs(name)
        operations, answers, marks = classes(counts)
        equal(found["roce"]["icrc"]["good"], 9)
        equal(found["roce"]["packets"], counts["packets"])
        equal(found["roce"]["bytes"], counts["bytes"] + (14 - head) * 9, "bytes as of Ethernet")
        equal({(d["dscp"], k): d[k] for d in found["roce"]["dscp"] for k in ("notEct", "ect1", "ect0", "ce") if d[k]}, dict(marks))
        equal({k: n for k, n in found["roce"]["syndromes"].items() if n}, dict(answers))


@check
def wrong_icrcs_are_found(folder):
    """A flipped bit anywhere behind the link header; the ICRC does not cover the fields that routers change."""
    random.seed(4791)
    good = [ether(over_ip4(4, 2)), ether(over_ip6(4, 2)), ether(in_grh(4, 2))]
    changing = [{15, 22, 24, 25, 40, 41, 46}, {15, 16, 17, 21, 60, 61, 66}, {15, 16, 17, 21, 58}]
    structure = [{14, 16, 17, 20, 21, 23, 36, 37, 38, 39, 42}, {14, 18, 19, 20, 56, 57, 58, 59, 62}, {14, 18, 19, 20, 54}]
    frames, n_bad, first = [], 0, None
    for frame, free, fixed in zip(good, changing, structure):
        for at in range(14, len(frame)):
            if at in fixed:
                continue
            broken = bytearray(frame)
            broken[at] ^= 1 << random.randrange(4 if at == 15 and frame[12] != 8 else 8)
            if at not in free:
                n_bad += 1
                first = first or len(frames) + 1
            frames.append(bytes(broken))
    name = os.path.join(folder, "x.pcap")
    save(name, frames)
    found = ours(name)["roce"]["icrc"]
    equal((found["bad"], found["good"]), (n_bad, len(frames) - n_bad))
    equal(found["firstBad"]["packet"], first)
    with open(name, "rb") as f:
        f.seek(found["firstBad"]["offset"] + 16)
        equal(f.read(len(frames[first - 1])), frames[first - 1])


@check
def what_cannot_be_verified(folder):
    with_options = bytes(IP(src="10.0.0.1", dst="10.0.0.2", options=[IPOption_NOP()] * 4) / UDP(dport=4791) /
                         Raw(transport_packet(4) + bytes(4)))
    extended = bytes(IPv6(src="fd00::1", dst="fd00::2") / IPv6ExtHdrDestOpt() / UDP(dport=4791) / Raw(transport_packet(4) + bytes(4)))
    whole = ether(over_ip4(4, 2, payload=512))
    name = os.path.join(folder, "x.pcap")
    save(name, [ether(extended), ether(with_options), whole])
    cut = os.path.join(folder, "cut.pcap")
    subprocess.run(["editcap", "-F", "pcap", "-s", "100", name, cut], check=True)
    equal(ours(name)["roce"]["icrc"], {"good": 1, "bad": 0, "unverifiable": 2, "firstBad": None})
    found = ours(cut)["roce"]
    equal(found["icrc"], {"good": 0, "bad": 0, "unverifiable": 3, "firstBad": None})
    equal(found["bytes"], len(ether(extended)) + len(ether(with_options)) + len(whole))


@check
def flows_and_round_trips(folder):
    """A request each millisecond, its ACK 100 us later; one request again, one RNR NAK, one NAK."""
    name = os.path.join(folder, "x.pcap")
    back = {"src": "10.0.0.2", "dst": "10.0.0.1", "qpn": 99}
    with PcapWriter(name, linktype=ETHERNET, nano=True, sync=True) as f:
        f.write_header(None)
        for psn in range(100):
            f.write_packet(ether(over_ip4(4, 3 if psn % 10 == 0 else 2, psn=psn, ask=1)), sec=1, usec=psn * 1000000)
            f.write_packet(ether(over_ip4(0x11, 2, psn=psn, **back)), sec=1, usec=psn * 1000000 + 100000)
        f.write_packet(ether(over_ip4(4, 2, psn=98, ask=1)), sec=2, usec=0)
        f.write_packet(ether(over_ip4(0x11, 2, psn=99, syndrome=0x20, **back)), sec=2, usec=1000)
        f.write_packet(ether(over_ip4(0x11, 2, psn=99, syndrome=0x60, **back)), sec=2, usec=2000)
        f.write_packet(ether(over_ip4(0x81, 2, payload=16, **back)), sec=2, usec=3000)
    found = ours(name)
    request, answer = sorted(found["flows"], key=lambda f: f["qpn"])
    equal((request["source"], request["destination"], request["qpn"], request["packets"]), ("10.0.0.1", "10.0.0.2", 17, 101))
    equal((request["ce"], request["retransmissions"]), (10, 1))
    equal((answer["naks"], answer["rnrNaks"], answer["cnp"]), (1, 1, 1))
    equal((request["rtt"]["count"], request["rtt"]["meanNs"]), (100, 100000))
    for key in ("p50Ns", "p99Ns"):
        assert 65536 <= request["rtt"][key] <= 131072, request["rtt"]
    equal(answer["rtt"], None)
    equal(found["roce"]["retransmissions"], 1)
    equal(len(ours(name, "--flows", "1")["flows"]), 1)


@check
def a_file_that_ends_early(folder):
    name = os.path.join(folder, "x.pcap")
    frames = every_opcode(over_ip4)[:20]
    save(name, frames)
    os.truncate(name, os.path.getsize(name) - 5)
    found = ours(name, code=1)
    equal(found["roce"]["packets"], 19)
    assert f"at byte {os.path.getsize(name)}: the file ends within the packet" in found["error"], found["error"]


# --- sniff -------------------------------------------------------------------------------------------------------------------------

SENDER = """
import socket, sys, time
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind((sys.argv[1], 0))
for line in sys.stdin:
    s.send(bytes.fromhex(line))
"""


class Pair:
    """A veth pair between two namespaces of our own."""

    def __init__(self):
        self.names = [f"rocelet-{os.getpid()}-{i}" for i in range(2)]

    def __enter__(self):
        self.run(f"ip netns add {self.names[0]} && ip netns add {self.names[1]} && "
                 f"ip -n {self.names[0]} link add west type veth peer name east netns {self.names[1]} && "
                 f"ip -n {self.names[0]} link set west up && ip -n {self.names[1]} link set east up")
        return self

    def __exit__(self, *_):
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)

    @staticmethod
    def run(command):
        subprocess.run(command, shell=True, check=True)

    def sniff(self, *options):
        """Starts sniff; returns when its socket is open."""
        child = subprocess.Popen([PROGRAM, "sniff", "east", "--netns", f"/run/netns/{self.names[1]}", "--json", *options],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while child.poll() is None:
            with open(f"/proc/{child.pid}/net/packet") as f:
                if any(" 0003 " in line for line in f):
                    break
            time.sleep(0.01)
        return child

    def send(self, frames):
        subprocess.run(["ip", "netns", "exec", self.names[0], sys.executable, "-c", SENDER, "west"], text=True, check=True,
                       input="".join(frame.hex() + "\n" for frame in frames))


@check
def sniffed_is_what_was_sent(folder):
    """Among other traffic; tshark reads the written file and finds the same."""
    frames = every_opcode(over_ip4) + every_opcode(over_ip6) + every_opcode(in_grh) + every_opcode(over_ip4, 5)
    noise = [bytes(Ether(**MACS) / IP(src="10.0.0.1", dst="10.0.0.2") / UDP(dport=53) / Raw(b"x"))] * 50
    # Packets whose headers the kernel's filter cannot parse.
    noise += [bytes(Ether(**MACS) / IPv6(src="fe80::1", dst="ff02::16") / IPv6ExtHdrHopByHop(options=RouterAlert()) / ICMPv6MLReport2())] * 50
    name = os.path.join(folder, "written.pcap")
    with Pair() as pair:
        child = pair.sniff("--seconds", "60", "--packets", str(len(frames)), "--write", name)
        pair.send(noise + frames + noise)
        out, err = child.communicate(timeout=SOON)
    equal(child.returncode, 0, err)
    found = json.loads(out)
    equal((found["method"], found["dropped"], found["packets"]), ("packet socket", 0, len(frames)))
    equal(found["roce"]["icrc"]["good"], len(frames))
    written = compare(name, len(frames))
    equal(written["roce"], found["roce"])


@check
def sniffing_ends_with_its_time(folder):
    with Pair() as pair:
        child = pair.sniff("--seconds", "1")
        out, err = child.communicate(timeout=SOON)
        equal((child.returncode, json.loads(out)["roce"]["packets"]), (0, 0), err)
        child = pair.sniff("--seconds", "600")
        child.terminate()
        out, err = child.communicate(timeout=SOON)
        equal((child.returncode, json.loads(out)["error"]), (0, None), err)
        child = pair.sniff("--seconds", "600")
        Pair.run(f"ip -n {pair.names[0]} link del west")
        out, err = child.communicate(timeout=SOON)
        equal(child.returncode, 1)
        assert "Network is down" in err, err


@check
def sniffing_that_cannot_start(folder):
    def fails(arguments, words, code=1, **how):
        done = subprocess.run([PROGRAM, "sniff", *arguments], capture_output=True, text=True, timeout=SOON, **how)
        equal(done.returncode, code, done.stderr)
        assert words in done.stderr and done.stderr.count("\n") == 1, done.stderr

    fails(["nothing-here"], "No such device")
    fails(["lo", "--netns", "/run/netns/nothing-here"], "nothing-here")
    fails(["lo", "--netns", "/etc/passwd"], "/etc/passwd")
    fails(["lo", "--pod", "job", "--socket", "/nothing/here"], "/nothing/here", code=3)
    fails(["lo", "--write", "/nothing/here"], "/nothing/here")
    fails(["lo"], "needs root", preexec_fn=lambda: os.setuid(65534))


def main():
    sys.exit(run_checks(checks, sys.argv[2:]))


if __name__ == "__main__":
    main()
