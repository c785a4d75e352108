#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""How fast rocectl pcap reads a large capture, compared with tcpdump, which copies the same file to /dev/null.

  bench_capture.py ROCECTL [BYTES]      BYTES: size of the file, 2 GB; it is created in /dev/shm and removed

Two captures: packets of 1 KiB, mostly payload, and of 64 bytes, mostly headers.
"""
import json
import os
import resource
import struct
import subprocess
import sys
import tempfile
import zlib

ROCECTL = sys.argv[1]
SIZE = int(sys.argv[2]) if len(sys.argv) > 2 else 2_000_000_000
ADDRESS_SPACE = 128 << 20  # limit for rocectl, including its libraries
A, B = bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])


def packet(source, to, tos, opcode, qpn, psn, ask, payload):
    """RoCEv2 over IPv4 with a valid ICRC; checksums are 0, and masked fields are ones when the ICRC is computed."""
    bth = struct.pack(">BBHII", opcode, 0, 0xffff, qpn, ask << 31 | psn)
    size = len(bth) + len(payload) + 4

    def heads(tos, ttl, check, reserved):
        return (struct.pack(">BBHHHBBH", 0x45, tos, 28 + size, 0, 0, ttl, 17, check) + source + to +
                struct.pack(">HHHH", 49152, 4791, 8 + size, check) + bth[:4] + bytes([reserved]) + bth[5:] + payload)

    icrc = zlib.crc32(b"\xff" * 8 + heads(0xff, 0xff, 0xffff, 0xff))
    return b"\x02" * 12 + b"\x08\x00" + heads(tos, 64, 0, 0) + struct.pack("<I", icrc)


def generate(name, payload):
    """4,096 requests of 64 queue pairs and their ACKs, repeated."""
    with open(name, "wb") as f:
        f.write(struct.pack("<IHHIIII", 0xa1b2c3d4, 2, 4, 0, 0, 262144, 1))
        records = []
        for psn in range(4096):
            qpn = 17 + psn % 64
            frames = [packet(A, B, 106 | (psn % 50 == 0), 7, qpn, psn, psn % 16 == 0, bytes(payload))]
            if psn % 16 == 0:
                frames.append(packet(B, A, 104, 17, qpn + 1000, psn, 0, struct.pack(">I", 0x1f000000)))
            records += [struct.pack("<IIII", 1700000000, psn, len(p), len(p)) + p for p in frames]
        part = b"".join(records)
        for _ in range(SIZE // len(part)):
            f.write(part)
    return len(records) * (SIZE // len(part))


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))


def run(*command):
    """Returns wall-clock and CPU seconds, and the output."""
    with tempfile.TemporaryFile() as out:
        before = os.times().elapsed
        child = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL, preexec_fn=limit)
        _, status, usage = os.wait4(child.pid, 0)
        wall = os.times().elapsed - before
        out.seek(0)
        if status:
            raise SystemExit(f"{command[0]} failed")
        return wall, usage.ru_utime + usage.ru_stime, out.read()


def measure(payload):
    failed = False
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        name = os.path.join(folder, "x.pcap")
        n = generate(name, payload)
        size = os.path.getsize(name)
        best = {}
        for _ in range(3):
            for who, command in (("rocectl pcap", [ROCECTL, "pcap", "--json", name]), ("tcpdump -w", ["tcpdump", "-r", name, "-w", "/dev/null"])):
                wall, cpu, out = run(*command)
                if who not in best or cpu < best[who][1]:
                    best[who] = (wall, cpu)
                if out:
                    found = json.loads(out)["roce"]
                    failed |= (found["packets"], found["icrc"]["good"]) != (n, n)
    for who, (wall, cpu) in best.items():
        print(f"  {size / 1e9:.2f} GB, {n} packets of {payload + 58} bytes, {who:12}: "
              f"{size / cpu / 1e6:5.0f} MB/s and {n / cpu / 1e6:4.1f} M packets/s of CPU time, {size / wall / 1e6:5.0f} MB/s by the clock")
    return failed


if __name__ == "__main__":
    failures = [measure(payload) for payload in (1024, 16)]
    if any(failures):
        raise SystemExit("rocectl counted wrong")
