#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Judges k8s/rpc with grpc-python as the other side of a unix socket, in both roles.

  grpc_python.py PROGRAM      PROGRAM: build/interop/grpc_echo

One line per check, "N passed, N failed" last.

run: {san}/interop/grpc_echo
proves: k8s/rpc
when: core -client_keepalive_pings
when: turns
"""
import concurrent.futures
import os
import subprocess
import sys
import tempfile
import threading
import time
import traceback

import grpc

PROGRAM = sys.argv[1]
MIB = 1 << 20
SOON = 120  # timeout in seconds, far above what any step needs on a busy machine
TEXT = "VF 0000:03:00.1 ist weg – 100 % % %41 \u00fc\u20ac\U0001f600\n\ttab"
checks = []


def check(function):
    checks.append(function)
    return function


def equal(found, wanted):
    if found != wanted:
        raise AssertionError(f"found {found!r}, wanted {wanted!r}")


def raises(code, function):
    try:
        function()
    except grpc.RpcError as error:
        equal(error.code(), code)
        return error
    raise AssertionError(f"no error, wanted {code}")


# --- their client, our server ----------------------------------------------------------------


class Server:
    """grpc_echo serve, and the lines that it prints."""

    def __init__(self, *arguments):
        self.dir = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.dir.name, "s")
        self.process = subprocess.Popen([PROGRAM, "serve", self.path, *arguments], stdout=subprocess.PIPE, text=True)
        self.lines, self.changed = [], threading.Condition()
        threading.Thread(target=self.read, daemon=True).start()
        self.wait("listening")

    def read(self):
        for line in self.process.stdout:
            with self.changed:
                self.lines.append(line.strip())
                self.changed.notify_all()

    def wait(self, start, count=1):
        with self.changed:
            if not self.changed.wait_for(lambda: sum(x.startswith(start) for x in self.lines) >= count, timeout=SOON):
                raise AssertionError(f"no {count} lines {start!r} in {self.lines}")

    def channel(self, *options):
        return grpc.insecure_channel("unix:" + self.path, options=[
            ("grpc.max_receive_message_length", 64 * MIB), ("grpc.max_send_message_length", 64 * MIB), *options])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        equal(self.process.wait(SOON), 0)
        self.dir.cleanup()


def unary(channel, method="Echo"):
    return channel.unary_unary("/t.T/" + method)


def stream(channel, method="Stream"):
    return channel.unary_stream("/t.T/" + method)


@check
def client_unary():
    with Server() as server, server.channel() as channel:
        for message in (b"", b"x", b"hello", bytes(range(256)) * 400):
            equal(unary(channel)(message, timeout=SOON), message)


@check
def client_three_mib():
    message = os.urandom(3 * MIB)
    with Server() as server, server.channel() as channel:
        equal(unary(channel)(message, timeout=SOON), message)


@check
def client_three_mib_through_small_windows():
    message = os.urandom(3 * MIB)
    with Server() as server, server.channel(("grpc.http2.lookahead_bytes", 1024), ("grpc.http2.bdp_probe", 0),
                                            ("grpc.http2.max_frame_size", 16384)) as channel:
        equal(unary(channel)(message, timeout=SOON), message)


@check
def client_stream():
    with Server() as server, server.channel() as channel:
        messages = list(stream(channel)(b"1000 1000", timeout=SOON))
        equal(len(messages), 1000)
        equal(messages[27], b"b" * 1000)


@check
def client_stream_of_large_messages():
    with Server() as server, server.channel() as channel:
        equal([len(m) for m in stream(channel)(b"8 3145728", timeout=SOON)], [3 * MIB] * 8)


@check
def client_stream_read_slowly():
    with Server() as server, server.channel(("grpc.http2.bdp_probe", 0)) as channel:
        answer, total = stream(channel)(b"64 262144", timeout=SOON), 0
        for message in answer:
            total += len(message)
            time.sleep(0.005)  # a slow reader: the server must wait for it
            if total == 262144:
                equal(unary(channel)(b"meanwhile", timeout=SOON), b"meanwhile")
        equal(total, 16 * MIB)


@check
def client_many_at_once():
    with Server() as server, server.channel() as channel:
        calls = [unary(channel).future(b"%d" % i * 100, timeout=SOON) for i in range(500)]
        for i, call in enumerate(calls):
            equal(call.result(), b"%d" % i * 100)


@check
def client_more_calls_than_the_server_accepts():
    with Server("4194304", "3") as server, server.channel() as channel:
        held = [stream(channel, "Hold")(b"%d" % i, timeout=SOON) for i in range(3)]
        server.wait("held", 3)
        waiting = unary(channel).future(b"later", timeout=SOON)
        held[0].cancel()
        equal(waiting.result(), b"later")


@check
def client_many_channels():
    with Server() as server:
        def one(i):
            with server.channel(("grpc.use_local_subchannel_pool", 1)) as channel:
                return unary(channel)(b"%d" % i, timeout=SOON)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            equal(list(pool.map(one, range(40))), [b"%d" % i for i in range(40)])


@check
def client_errors():
    with Server() as server, server.channel() as channel:
        for code in grpc.StatusCode:
            number, _ = code.value
            if number == 0:
                continue
            error = raises(code, lambda n=number: unary(channel, "Fail")(f"{n} {TEXT}".encode(), timeout=SOON))
            equal(error.details(), TEXT)
        error = raises(grpc.StatusCode.NOT_FOUND, lambda: unary(channel, "Fail")(b"5", timeout=SOON))
        equal(error.details(), "")
        error = raises(grpc.StatusCode.INTERNAL, lambda: unary(channel, "Fail")(b"13 " + b"\xff\xfe", timeout=SOON))
        error = raises(grpc.StatusCode.UNIMPLEMENTED, lambda: unary(channel, "Nothing")(b"", timeout=SOON))
        equal(error.details(), "unknown method")


@check
def client_too_large():
    with Server("1000") as server, server.channel() as channel:
        equal(len(unary(channel)(b"x" * 1000, timeout=SOON)), 1000)
        error = raises(grpc.StatusCode.RESOURCE_EXHAUSTED, lambda: unary(channel)(b"x" * 1001, timeout=SOON))
        equal(error.details(), "the request is larger than 1000 bytes")
        raises(grpc.StatusCode.RESOURCE_EXHAUSTED, lambda: unary(channel)(b"x" * 3 * MIB, timeout=SOON))
        equal(unary(channel)(b"x", timeout=SOON), b"x")


@check
def client_compressed():
    with Server() as server, server.channel() as channel:
        error = raises(grpc.StatusCode.UNIMPLEMENTED,
                       lambda: unary(channel)(b"x" * 10000, timeout=SOON, compression=grpc.Compression.Gzip))
        equal("compressed" in error.details(), True)


@check
def client_metadata():
    with Server() as server, server.channel() as channel:
        metadata = [("x-some", "value"), ("x-bytes-bin", bytes(range(256)))]
        equal(unary(channel)(b"x", timeout=SOON, metadata=metadata), b"x")
        error = raises(grpc.StatusCode.RESOURCE_EXHAUSTED,
                       lambda: unary(channel)(b"x", timeout=SOON, metadata=[("x-big", "v" * 20000)]))
        equal(unary(channel)(b"x", timeout=SOON), b"x")
        return error


@check
def client_authority_is_a_path():
    with Server() as server:
        with server.channel(("grpc.default_authority", "/var/lib/kubelet/device-plugins/x.sock")) as channel:
            equal(unary(channel)(b"x", timeout=SOON), b"x")


@check
def client_cancels():
    with Server() as server, server.channel() as channel:
        call = stream(channel, "Hold")(b"a", timeout=SOON)
        server.wait("held a")
        call.cancel()
        server.wait("cancel")
        call = stream(channel)(b"1000 100000", timeout=SOON)
        next(call)
        call.cancel()
        equal(unary(channel)(b"x", timeout=SOON), b"x")


@check
def client_deadline():
    with Server() as server, server.channel() as channel:
        equal(unary(channel)(b"x", timeout=SOON), b"x")  # connect before the deadline starts
        error = raises(grpc.StatusCode.DEADLINE_EXCEEDED, lambda: unary(channel, "Hold")(b"b", timeout=2))
        server.wait("cancel")
        equal(unary(channel)(b"x", timeout=SOON), b"x")
        return error


@check
def client_vanishes():
    with Server() as server:
        channel = server.channel()
        call = stream(channel, "Hold")(b"c", timeout=SOON)
        server.wait("held c")
        channel.close()
        server.wait("cancel")
        server.wait("closed")
        equal(call.code(), grpc.StatusCode.CANCELLED)


@check
def client_keepalive_pings():
    with Server() as server, server.channel(("grpc.keepalive_time_ms", 1000), ("grpc.keepalive_timeout_ms", 10000),
                                            ("grpc.http2.max_pings_without_data", 0)) as channel:
        call = stream(channel, "Hold")(b"d", timeout=13)
        raises(grpc.StatusCode.DEADLINE_EXCEEDED, lambda: next(call))  # and not UNAVAILABLE


@check
def client_receives_goaway():
    with Server() as server, server.channel() as channel:
        held = stream(channel, "Hold")(b"e", timeout=SOON)
        server.wait("held e")
        equal(unary(channel, "Quit")(b"", timeout=SOON), b"bye")
        equal(unary(channel)(b"elsewhere", timeout=SOON), b"elsewhere")  # over a connection of its own
        held.cancel()
        server.wait("closed done")


@check
def http1_is_named():
    with Server() as server:
        answer = subprocess.run(["curl", "-sS", "-i", "--unix-socket", server.path, "http://x/metrics"],
                                capture_output=True, text=True, check=False).stdout
        equal(answer.splitlines()[0], "HTTP/1.1 505 HTTP Version Not Supported")
        server.wait("closed the peer speaks HTTP/1, not gRPC")


# --- our client, their server ----------------------------------------------------------------


def their_echo(message, _):
    return message


def their_stream(message, _):
    for i in range(20):
        yield bytes([i]) * len(message)


def their_list(_, context):
    context.set_code(grpc.StatusCode.OK)
    yield b"l" * 3 * MIB


def their_failure(_, context):
    context.abort(grpc.StatusCode.FAILED_PRECONDITION, TEXT.replace("\n", " ").replace("\t", " "))


def their_late_failure(_, context):
    yield b"first"
    context.abort(grpc.StatusCode.DATA_LOSS, "later")


class Handlers(grpc.GenericRpcHandler):
    def __init__(self):
        self.cancelled, self.entered = threading.Event(), threading.Event()
        self.remaining = None

    def hold(self, message, context):
        context.add_callback(self.cancelled.set)
        self.remaining = context.time_remaining()
        self.entered.set()
        yield message
        self.cancelled.wait(SOON)

    def service(self, details):
        unary_of, stream_of = grpc.unary_unary_rpc_method_handler, grpc.unary_stream_rpc_method_handler
        return {
            "/t.T/Echo": unary_of(their_echo),
            "/t.T/Stream": stream_of(their_stream),
            "/t.T/List": stream_of(their_list),
            "/t.T/Fail": unary_of(their_failure),
            "/t.T/LateFail": stream_of(their_late_failure),
            "/t.T/Hold": stream_of(self.hold),
        }.get(details.method)


class Their:
    """A server of grpc-python."""

    def __init__(self, *options, compression=None):
        self.dir = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.dir.name, "s")
        self.handlers = Handlers()
        self.server = grpc.server(concurrent.futures.ThreadPoolExecutor(16), handlers=[self.handlers], options=options,
                                  compression=compression)
        self.server.add_insecure_port("unix:" + self.path)
        self.server.start()

    def call(self, method, timeout_ms=SOON * 1000, size=10, calls=1, cancel_at=0, ping_ms=0, n_pings=0):
        done = subprocess.run([PROGRAM, "call", self.path, "/t.T/" + method, str(timeout_ms), str(size), str(calls),
                               str(cancel_at), str(ping_ms), str(n_pings)], capture_output=True, text=True, timeout=SOON, check=True)
        return [line.rstrip() for line in done.stdout.splitlines() if line != "closed by us"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.handlers.cancelled.set()
        self.server.stop(None).wait()
        self.dir.cleanup()


@check
def server_unary():
    with Their() as their:
        equal(their.call("Echo"), [f"message 10 {10 * ord('x')}", "end OK"])
        equal(their.call("Echo", size=0), ["message 0 0", "end OK"])
        equal(their.call("Echo", size=3 * MIB), [f"message {3 * MIB} {3 * MIB * ord('x')}", "end OK"])


@check
def server_small_windows():
    with Their(("grpc.http2.lookahead_bytes", 1024), ("grpc.http2.bdp_probe", 0)) as their:
        equal(their.call("Echo", size=3 * MIB), [f"message {3 * MIB} {3 * MIB * ord('x')}", "end OK"])


@check
def server_stream():
    with Their() as their:
        equal(their.call("Stream", size=1000), [f"message 1000 {1000 * i}" for i in range(20)] + ["end OK"])
        equal(their.call("List"), [f"message {3 * MIB} {3 * MIB * ord('l')}", "end OK"])


@check
def server_many_at_once():
    with Their() as their:
        equal(their.call("Echo", size=1000, calls=100), ["end OK"] * 100)


@check
def server_few_at_once():
    with Their(("grpc.max_concurrent_streams", 2)) as their:
        equal(their.call("Echo", size=1000, calls=50), ["end OK"] * 50)


@check
def server_errors():
    with Their() as their:
        text = TEXT.replace("\n", " ").replace("\t", " ")
        equal(their.call("Fail"), ["end FAILED_PRECONDITION  " + text])
        equal(their.call("LateFail"), ["message 5 552", "end DATA_LOSS  later"])
        equal(their.call("Nothing"), ["end UNIMPLEMENTED  Method not found!"])


@check
def server_too_large_for_them():
    with Their(("grpc.max_receive_message_length", 1000)) as their:
        equal(their.call("Echo", size=3 * MIB)[0].split()[1], "RESOURCE_EXHAUSTED")


@check
def server_too_large_for_us():
    with Their(("grpc.max_send_message_length", 64 * MIB), ("grpc.max_receive_message_length", 64 * MIB)) as their:
        equal(their.call("Echo", size=5 * MIB),
              [f"end RESOURCE_EXHAUSTED  a message of the answer is larger than {4 * MIB} bytes: it has {5 * MIB}"])


@check
def server_deadline():
    with Their() as their:
        message, end = their.call("Hold", timeout_ms=2000)
        equal((message, end.split()[1]), (f"message 10 {10 * ord('x')}", "DEADLINE_EXCEEDED"))
        equal(their.handlers.cancelled.wait(SOON), True)
        equal(0 < their.handlers.remaining <= 2, True)


@check
def server_cancelled():
    with Their() as their:
        equal(their.call("Hold", timeout_ms=0, cancel_at=1), [f"message 10 {10 * ord('x')}", "end CANCELLED  cancelled"])
        equal(their.handlers.cancelled.wait(SOON), True)


@check
def server_answers_pings():
    with Their(("grpc.http2.min_ping_interval_without_data_ms", 10), ("grpc.http2.max_ping_strikes", 0)) as their:
        equal(their.call("Hold", ping_ms=50, n_pings=10)[1], "end CANCELLED  cancelled")
    with Their() as their:  # servers close connections of clients that ping too often
        equal(their.call("Hold", ping_ms=50)[1], "end UNAVAILABLE  Too many pings")


@check
def server_vanishes():
    with Their() as their:
        threading.Thread(target=lambda: (their.handlers.entered.wait(SOON), their.server.stop(0))).start()
        ends = [line.split()[1] for line in their.call("Hold") if line.startswith("end")]
        equal(ends in (["UNAVAILABLE"], ["CANCELLED"]), True)


@check
def server_compresses():
    with Their(compression=grpc.Compression.Gzip) as their:
        # Although our client does not announce gzip.
        equal(their.call("Echo", size=10000), ["end UNIMPLEMENTED  the answer is compressed, which is not supported"])


def main():
    failed = 0
    for function in checks:
        try:
            start = time.monotonic()
            function()
            print("  ok  ", function.__name__, f"{time.monotonic() - start:.1f} s", flush=True)
        except Exception:  # pylint: disable=broad-except
            failed += 1
            print("FAILED", function.__name__, flush=True)
            traceback.print_exc()
    print(f"{len(checks) - failed} passed, {failed} failed")
    return failed != 0


sys.exit(main())
