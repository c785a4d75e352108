#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The host's half: garbage of every kind on the forwarded port; a connection from before is served all the time.
set -euo pipefail
: "${LAB_PORT:?host port that leads to the daemon}"
python3 - "$LAB_PORT" <<'END'
import http.client, random, socket, sys, threading, time

port, rng = int(sys.argv[1]), random.Random(7)
GARBAGE = [
    lambda: rng.randbytes(rng.randrange(1, 4000)),
    lambda: b"GET " + b"/" * 100000 + b" HTTP/1.1\r\n\r\n",
    lambda: b"GET / HTTP/1.1\r\nHost: x\r\n" + b"".join(b"A%d: %s\r\n" % (i, rng.randbytes(20).hex().encode()) for i in range(2000)),
    lambda: b"GET /metrics HTTP/1.1\r\nHost: x\r\n",  # and no more
    lambda: b"POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n" + bytes(1000),
    lambda: b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
    lambda: b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + rng.randbytes(500),  # TLS
    lambda: b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    lambda: b"GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n" * 50,
    lambda: b"GET /%00%ff/../../etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n",
    lambda: b"",
]

KEPT = []


def send_garbage():
    """Half of it on connections that are left as they are, for the daemon to deal with."""
    for i in range(4 * len(GARBAGE)):
        s = socket.create_connection(("127.0.0.1", port), timeout=20)
        s.settimeout(1)
        try:
            s.sendall(GARBAGE[i % len(GARBAGE)]())
        except OSError:
            pass  # rejected, or the daemon reads no more
        if i % 2:
            KEPT.append(s)
        else:
            s.close()


scraper = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
scraper.connect()
scraper.auto_open = 0
worst, scrapes = 0, 0
garbage = threading.Thread(target=send_garbage, daemon=True)
garbage.start()
while garbage.is_alive() or scrapes < 20:
    time.sleep(0.01)
    start = time.monotonic()
    scraper.request("GET", "/metrics")
    answer = scraper.getresponse()
    body = answer.read()
    worst, scrapes = max(worst, time.monotonic() - start), scrapes + 1
    if answer.status != 200 or b"roce_port_info{" not in body:
        sys.exit(f"scrape {scrapes}: {answer.status}, {body[:100]}")
if len(KEPT) != 2 * len(GARBAGE):
    sys.exit("the garbage could not be sent")
print(f"{scrapes} scrapes, the slowest took {worst * 1000:.0f} ms")
END
