#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sends admin requests to rocelet, all at once, each on a connection of its own.

    at_once.py attach|detach < LINES

LINES: the JSON of one request each. Prints the milliseconds from the first byte sent to the last
answer; exits with 1 and the first answer that is not a success.
"""
import selectors
import socket
import sys
import time

SOCKET = "/run/rocelet/rocelet.sock"
DEADLINE_S = 60


def request(path, body):
    head = f"POST /api/v1/{path} HTTP/1.1\r\nHost: node\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
    return (head + body).encode()


def connect():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    s.connect(SOCKET)
    return s


def main():
    path = sys.argv[1]
    bodies = [line.strip() for line in sys.stdin if line.strip()]
    answers = {connect(): b"" for _ in bodies}
    began = time.monotonic()
    waits = selectors.DefaultSelector()
    for s, body in zip(answers, bodies):
        s.sendall(request(path, body))
        waits.register(s, selectors.EVENT_READ)
    while waits.get_map():
        ready = waits.select(began + DEADLINE_S - time.monotonic())
        if not ready:
            sys.exit(f"no answer to {len(waits.get_map())} requests")
        for key, _ in ready:
            piece = key.fileobj.recv(65536)
            answers[key.fileobj] += piece
            if not piece:
                waits.unregister(key.fileobj)
    took = time.monotonic() - began
    for answer in answers.values():
        if b" 200 " not in answer.split(b"\r\n", 1)[0]:
            sys.exit(answer.decode(errors="replace"))
    print(f"{took * 1000:.1f}")


main()
