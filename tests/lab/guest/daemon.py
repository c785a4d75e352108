# SPDX-License-Identifier: Apache-2.0
"""The daemon's API for programs in the guest, over one kept connection to its unix socket.

With as little Python as possible per read: it is emulated, and competes with the daemon for a processor.
"""
import json, re, socket, time

SOCKET = "/run/rocelet/rocelet.sock"


class Connection:
    def __init__(self):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(SOCKET)

    def get(self, path):
        """Returns the body; any status but 200 ends the program."""
        self.socket.sendall(b"GET %s HTTP/1.1\r\nHost: x\r\n\r\n" % path.encode())
        answer = self.receive()
        while b"\r\n\r\n" not in answer:
            answer += self.receive()
        head, _, body = answer.partition(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200 "):
            raise SystemExit(f"{path}: {head.decode(errors='replace')}")
        length = int(re.search(rb"Content-Length: (\d+)", head).group(1))
        while len(body) < length:
            body += self.receive()
        return body

    def receive(self):
        data = self.socket.recv(1 << 20)
        if not data:
            raise SystemExit("the daemon closed the connection")
        return data


class Devices(Connection):
    """/api/v1/devices, parsed when it changed; `arrived` is the time of its arrival."""

    def __init__(self):
        super().__init__()
        self.last, self.doc, self.arrived = None, None, None

    def read(self):
        body, self.arrived = self.get("/api/v1/devices"), time.time()
        if body != self.last:
            self.last, self.doc = body, names(json.loads(body))
        return self.doc


def names(doc):
    functions = {d["id"]: d for d in doc["devices"]}
    netdevs = {n["name"]: n for d in doc["devices"] for n in d.get("netdevs", [])}
    rdma = {r["name"]: r for d in doc["devices"] for r in d.get("rdma", [])}
    return {"functions": functions, "netdevs": netdevs, "rdma": rdma}
