#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the daemon's counts on one interface with tshark's counts of captures of the same packets.

  judge.py NETDEV PAGE_BEFORE PAGE_AFTER RECEIVED.pcap SENT.pcap [LEFT_OUT..]

The pages are the daemon's metrics before and after; NETDEV is followed by a colon and a network namespace's name if it is in one. LEFT_OUT:
directions, or direction:family, which the captures do not show (a qdisc marks and drops behind our program). Prints the figures and
each difference; status 1 if there is one.
"""
import collections, re, subprocess, sys

FIELDS = ["frame.len", "udp.dstport", "ip.dsfield", "ipv6.tclass", "infiniband.grh.tclass", "infiniband.bth.opcode",
          "infiniband.aeth.syndrome", "infiniband.bth.se", "infiniband.bth", "_ws.col.Info"]
ECN = ["not_ect", "ect1", "ect0", "ce"]
# tshark's names of these NAKs; it has none for RNR and for undefined NAK codes (IBTA volume 1, 9.7.5.2.2).
NAKS = {"PSN Sequence Error": "sequence", "Invalid Request": "invalid_request", "Remote Access Error": "remote_access",
        "Remote Operational Error": "remote_operation", "Invalid RD Request": "invalid_rd_request"}
OPS = [("RDMA Write", "write"), ("RDMA Read Request", "read_request"), ("RDMA Read Response", "read_response"), ("Send", "send"),
       ("Atomic Acknowledge", "atomic_ack"), ("Acknowledge", "ack"), ("Compare Swap", "atomic"), ("Fetch Add", "atomic")]
# tshark has no names for opcodes of XRC and some of RD: the first opcode of each kind, by the opcode's low five bits (table 38; annex A14).
UNNAMED = {0x00: "send", 0x06: "write", 0x0C: "read_request", 0x0D: "read_response", 0x11: "ack", 0x12: "atomic_ack", 0x13: "atomic",
           0x15: "other", 0x16: "send", 0x18: "other"}
TRANSPORTS = ["rc", "uc", "rd", "ud", "4", "xrc", "6", "7"]
CNP = 0x81


def rows(path):
    command = ["tshark", "-n", "-r", path, "-T", "fields", "-E", "separator=/t", "-E", "occurrence=l"]
    for field in FIELDS:
        command += ["-e", field]
    out = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    for line in out.splitlines():
        yield dict(zip(FIELDS, line.split("\t")))


def op_of(opcode, info):
    for words, op in OPS:
        if re.match(rf"(RC|UC|RD|UD|DC) {words}", info):
            return op
    return UNNAMED[max(first for first in UNNAMED if first <= opcode & 0x1F)]


def count(path, direction):
    n = collections.Counter()
    for row in rows(path):
        if row["udp.dstport"] not in ("", "4791") or not row["infiniband.bth.opcode"]:
            continue
        opcode, info = int(row["infiniband.bth.opcode"]), row["_ws.col.Info"]
        tclass = int(row["infiniband.grh.tclass"] or row["ipv6.tclass"] or row["ip.dsfield"], 0)
        version = ("1",) if row["infiniband.grh.tclass"] else ("2", "6" if row["ipv6.tclass"] else "4")
        n["roce_packets_total", direction] += 1
        n["roce_bytes_total", direction] += int(row["frame.len"])
        n["roce_ecn_packets_total", direction, ECN[tclass & 3], str(tclass >> 2)] += 1
        n[("roce_version_packets_total", direction) + version] += 1
        for flag in flags_of(row):
            n["roce_flagged_packets_total", direction, flag] += 1
        if opcode == CNP:
            n[f"roce_cnp_{direction}_packets_total",] += 1
            continue
        n["roce_opcode_packets_total", direction, TRANSPORTS[opcode >> 5], op_of(opcode, info)] += 1
        nak = nak_of(row["infiniband.aeth.syndrome"], info)
        if nak:
            n["roce_nak_packets_total", direction, nak] += 1
    return n


def flags_of(row):
    """FECN and BECN, which tshark does not name: the first bits of the fifth byte (annex A17.9.3)."""
    fifth = int(row["infiniband.bth"].replace(":", "")[8:10], 16)
    flags = {"solicited": row["infiniband.bth.se"] in ("1", "True"), "fecn": fifth & 0x80, "becn": fifth & 0x40}
    return [name for name, is_set in flags.items() if is_set]


def nak_of(syndrome, info):
    for words, name in NAKS.items():
        if f"[{words}]" in info:
            return name
    if syndrome and int(syndrome) & 0xE0 == 0x20:
        return "rnr"
    return None


# The identifying labels of each family, in the order of the keys above.
LABELS = {"roce_packets_total": ["direction"], "roce_bytes_total": ["direction"],
          "roce_ecn_packets_total": ["direction", "ecn", "dscp"], "roce_version_packets_total": ["direction", "version", "ip"],
          "roce_flagged_packets_total": ["direction", "flag"], "roce_cnp_received_packets_total": [], "roce_cnp_sent_packets_total": [],
          "roce_opcode_packets_total": ["direction", "transport", "op"], "roce_nak_packets_total": ["direction", "reason"],
          "roce_malformed_packets_total": ["direction"], "roce_fragment_packets_total": ["direction"]}
HARDWARE_TOO = {"roce_packets_total", "roce_bytes_total", "roce_cnp_received_packets_total", "roce_cnp_sent_packets_total"}


def page(path, netdev, netns):
    values = {}
    with open(path) as f:
        for line in f:
            match = re.match(r"(\w+)\{(.*)\} (\S+)$", line)
            if not match or match.group(1) not in LABELS:
                continue
            name, labels = match.group(1), dict(re.findall(r'(\w+)="([^"]*)"', match.group(2)))
            if labels.get("netdev") != netdev or (netns and labels.get("netns") != netns):
                continue
            if name in HARDWARE_TOO and labels.get("source") != "bpf":
                continue
            values[(name, *(labels[k] for k in LABELS[name] if k in labels))] = int(float(match.group(3)))
    return values


def left_out(key, words):
    return any(word in (key[1] if len(key) > 1 else "", f"{key[1] if len(key) > 1 else ''}:{key[0]}") for word in words)


def main():
    (netdev, _, netns), before, after, received, sent = sys.argv[1].partition(":"), *sys.argv[2:6]
    old, new = page(before, netdev, netns), page(after, netdev, netns)
    ours = {key: value - old.get(key, 0) for key, value in new.items()}
    theirs = count(received, "received") + count(sent, "sent")
    if not ours:
        sys.exit(f"the page has no series of {sys.argv[1]}")
    equal, differences = 0, 0
    for key in sorted(set(ours) | set(theirs)):
        if left_out(key, sys.argv[6:]):
            continue
        a, b = ours.get(key, 0), theirs.get(key, 0)
        if a != b:
            differences += 1
            print(f"DIFFERENT {' '.join(key)}: we {a}, tshark {b}")
        elif b:
            equal += 1
            print(f"equal {' '.join(key)}: {b}")
    print(f"# {sys.argv[1]}: {theirs['roce_packets_total', 'received']} packets received, {theirs['roce_packets_total', 'sent']} sent;"
          f" {equal} figures equal tshark's, {differences} do not")
    sys.exit(differences > 0)


main()
