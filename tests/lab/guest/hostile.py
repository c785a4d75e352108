#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# An IPAM plugin that, as uid 0, tries to send requests to the host's services, and reports what it has reached: an error with "reached:" and every
# unix socket that accepted its connection (of those in /etc/hostile.sockets), "read:" and every file that it could read (/etc/hostile.files).
# Over rocelet's socket it requests to detach the device in /etc/hostile.victim.
import json
import socket


def words(path):
    with open(path) as f:
        return f.read().split()


def reaches(path):
    try:
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(5)
            s.connect(path.replace("@", "\0"))
            if path.endswith("/rocelet.sock"):
                body = json.dumps({"device": words("/etc/hostile.victim")[0], "force": True})
                s.sendall(f"POST /api/v1/detach HTTP/1.0\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
                s.recv(4096)
        return True
    except OSError:
        return False


def reads(path):
    try:
        with open(path, "rb") as f:
            return bool(f.read(1))
    except OSError:
        return False


reached = [path for path in words("/etc/hostile.sockets") if reaches(path)]
read = [path for path in words("/etc/hostile.files") if reads(path)]
print(json.dumps({"code": 100, "msg": f"reached: {' '.join(reached)}; read: {' '.join(read)};"}))
raise SystemExit(1)
