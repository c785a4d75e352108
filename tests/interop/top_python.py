#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Judges `rocectl top` on a real terminal, tmux's: the screen, the keys, and that the terminal's settings are restored.

    top_python.py DAEMON ROCECTL MK_SYSFS

run: {san}/rocelet {san}/rocectl {san}/bench/mk_sysfs
proves: daemon/ctl daemon/api
when: turns
"""
import http.server
import json
import os
import pty
import re
import signal
import socketserver
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import daemon_python as daemon_judge  # noqa: E402

SOON = 60


class Terminal:
    """A tmux server of its own, without a configuration file."""

    def __init__(self, command, width=140, height=24, **environment):
        self.dir = tempfile.TemporaryDirectory()
        self.environment = {**{k: v for k, v in os.environ.items() if k not in ("TMUX", "NO_COLOR", "LC_ALL")}, "LANG": "C.UTF-8", **environment}
        self.tmux("new-session", "-d", "-x", str(width), "-y", str(height), f"{command}; echo ended $?; stty -a; sleep {10 * SOON}")

    def tmux(self, *words):
        return subprocess.run(["tmux", "-f", "/dev/null", "-S", self.dir.name + "/tmux", *words], env=self.environment, check=True, timeout=SOON,
                              stdout=subprocess.PIPE, text=True).stdout

    def text(self, *options):
        return self.tmux("capture-pane", "-p", *options)

    def press(self, *keys):
        self.tmux("send-keys", *keys)

    def until(self, what, true):
        end = time.monotonic() + SOON
        while not true(self.text()):
            if time.monotonic() > end:
                raise AssertionError(f"never: {what}\n{self.text()}")
            time.sleep(0.05)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(["tmux", "-S", self.dir.name + "/tmux", "kill-server"], check=False, stderr=subprocess.DEVNULL)
        self.dir.cleanup()


class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        document = self.server.documents.get(self.path.split("?")[0], 404)
        document = document() if callable(document) else document
        if document is None:
            self.server.closed.wait()
            return
        if isinstance(document, dict) and self.path == "/api/v1/ports":
            add_troubles(document, self.server.documents["/api/v1/diagnosis"])
        self.send_response(document if isinstance(document, int) else 200)
        self.end_headers()
        self.wfile.write(json.dumps(document).encode())

    def log_message(self, *_):
        pass


def add_troubles(ports, diagnosis):
    """Those that the daemon makes of the verdicts, the worst first."""
    verdicts = sorted((diagnosis or {}).get("verdicts", []), key=lambda v: -v["level"])
    for port in ports["ports"]:
        port["troubles"] = [{"kind": "verdict", "word": v["cause"], "level": v["level"], "ofPf": False, "what": v.get("sentence")}
                            for v in verdicts if (v["device"], v["port"]) == (port["device"], port["port"])]


class StandIn(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """A stand-in for the daemon. documents: {path: a document, a function that returns one, or None: no answer, ever}."""

    daemon_threads = True

    def __init__(self, documents):
        self.dir = tempfile.TemporaryDirectory()
        self.path = self.dir.name + "/socket"
        self.documents = {"/api/v1/diagnosis": {"verdicts": []}, **documents}
        self.asked = []
        self.closed = threading.Event()
        super().__init__(self.path, Answer)
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def times_asked(self, path):
        return sum(request.startswith(path) for request in self.asked)

    def __exit__(self, *_):
        self.closed.set()
        self.shutdown()
        self.server_close()
        self.dir.cleanup()


def now_ms():
    return int(time.clock_gettime(time.CLOCK_MONOTONIC) * 1000)


def ports(n, time_ms):
    return {"time": "2026-01-02T03:04:05.000Z", "timeMs": time_ms,
            "ports": [{"device": f"mlx5_{i}", "port": 1, "now": {"bytes_received": 1e9, "bytes_sent": 0}} for i in range(n)]}


def rows(text):
    return [line for line in text.splitlines()[4:] if "/1 " in line]


def drives_a_terminal(top):
    with Terminal(top) as t:
        t.until("the ports are there", lambda s: len(rows(s)) > 2 and "PORT" in s.splitlines()[3])
        first = rows(t.text())[0].split()[0]
        assert re.search(r"\x1b\[[0-9;]*7m(\x1b\[[0-9;]*m)*" + re.escape(first), t.text("-e")), repr(t.text("-e"))
        t.until("node, version and uptime", lambda s: re.match(r"\S+  rocelet \S+, up \d+[smhd]", s.splitlines()[0]) and "RX " in s.splitlines()[1])
        t.press("?")
        t.until("the keys", lambda s: "sort by verdict, use" in s and "PORT " not in s)
        t.press("?")
        t.press("L")
        t.until("an order of its own key", lambda s: "by loss" in s.splitlines()[1])
        t.press("V")
        t.press("s")
        t.until("another order", lambda s: "by use" in s.splitlines()[1])
        t.press("/", "e", "n", "s", "1", "n", "p", "0", "Enter")
        t.until("the filter", lambda s: len(rows(s)) == 1 and "ens1np0" in rows(s)[0])
        t.press("Escape")
        t.until("all of them again", lambda s: len(rows(s)) > 2)
        t.press("Space")
        t.until("it is frozen", lambda s: "FROZEN" in s.splitlines()[0])
        t.press("Space", "Enter")
        t.until("queue pairs", lambda s: "queue pairs of" in s and "queue pairs cannot be read: the sysfs root" in s)
        t.press("Escape")
        t.until("ports again", lambda s: first in s and len(rows(s)) > 2)
        t.tmux("resize-window", "-x", "40", "-y", "10")
        t.until("a smaller one", lambda s: "PAUSE" not in s and "PORT" in s)
        t.tmux("resize-window", "-x", "140", "-y", "24")
        t.press("q")
        t.until("it ends, and the terminal is restored", lambda s: "ended 0" in s and " echo " in s and " icanon " in s)


def has_colours_unless_no_color_is_set(top):
    for environment, wanted in (({}, True), ({"NO_COLOR": "1"}, False)):
        with Terminal(top, **environment) as t:
            t.until("the ports are there", lambda s: len(rows(s)) > 2)
            assert ("\x1b[32m" in t.text("-e")) == wanted, (environment, t.text("-e"))


def prints_plain_text_without_a_terminal(command):
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=SOON, check=True)
    assert "\x1b" not in done.stdout and len(rows(done.stdout)) > 2, done


def reports_that_the_daemon_has_exited(top, daemon):
    with Terminal(top) as t:
        t.until("the ports are there", lambda s: len(rows(s)) > 2)
        daemon.quit()
        t.until("the error is above the last rows", lambda s: "rocelet.sock" in s.splitlines()[2] and len(rows(s)) > 2)
        t.press("q")
        t.until("it ends", lambda s: "ended 0" in s)


def is_restored(screen):
    return "ended 1\n" in screen and " echo " in screen and " icanon " in screen


def restores_the_terminal_on_a_signal(top):
    with Terminal("trap : QUIT; " + top) as t:  # the shell around it keeps running
        t.until("the ports are there", lambda s: len(rows(s)) > 2)
        t.press("C-\\")
        t.until("it ends, and the terminal is restored", is_restored)
    # A signal from another process: the terminal stays.
    with tempfile.TemporaryDirectory() as folder, Terminal(f"sh -c 'echo $$ > {folder}/pid; exec {top}'") as t:
        t.until("the ports are there", lambda s: len(rows(s)) > 2)
        with open(folder + "/pid", encoding="ascii") as f:
            os.kill(int(f.read()), signal.SIGHUP)
        t.until("it ends, and the terminal is restored", is_restored)


def ends_with_its_terminal(command):
    """Also where SIGHUP is ignored, as below nohup."""
    pid, terminal = pty.fork()
    if pid == 0:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        os.execve(command[0], command, {**os.environ, "TERM": "xterm"})
    seen = b""
    while b"PORT" not in seen:
        seen += os.read(terminal, 65536)
    os.close(terminal)
    try:
        daemon_judge.eventually("it has ended", lambda: os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT))
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def text_of(rocectl, daemon):
    return subprocess.run([rocectl, "--socket", daemon.path, "top"], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=SOON, check=True).stdout


def waits_for_one_answer_at_most(rocectl):
    """If the first request for a port's history times out, those of the other ports are not sent; a 404 for one port does not hide the others' history."""
    for past, requests in ((None, 1), (404, 64)):
        with StandIn({"/api/v1/ports": ports(64, now_ms()), "/api/v1/history": past}) as daemon:
            assert text_of(rocectl, daemon).count("/1 ") == 64
            assert daemon.times_asked("/api/v1/history") == requests, daemon.asked


def reports_that_no_sample_comes(rocectl):
    """The daemon answers, with a sample as old as the machine; then with a new one each time."""
    old = re.compile(r"NO NEW SAMPLE FOR \d+ s\b")
    verdicts = {"verdicts": [{"device": "mlx5_0", "port": 1, "level": 3, "cause": "packet_loss"}]}
    with StandIn({"/api/v1/ports": ports(1, 1), "/api/v1/diagnosis": verdicts}) as daemon:
        assert old.match(text_of(rocectl, daemon))
        for width in (40, 80, 140):
            with Terminal(f"{rocectl} --socket {daemon.path} top", width=width) as t:
                t.until("it reports that first", lambda s: old.match(s) and len(rows(s)) == 1)
                assert not live_colours(t), t.text("-e")
                daemon.documents["/api/v1/ports"] = lambda: ports(1, now_ms())
                t.until("it does not any more", lambda s: "NO NEW SAMPLE" not in s and len(rows(s)) == 1)
                assert live_colours(t), t.text("-e")
                daemon.documents["/api/v1/ports"] = ports(1, 1)
        daemon.documents["/api/v1/ports"] = lambda: ports(1, now_ms())
        assert "NO NEW SAMPLE" not in text_of(rocectl, daemon)


def live_colours(terminal):
    """Red or green rows below the first one."""
    return re.search(r"\x1b\[(\d+;)*3[12]m", "\n".join(line for i, line in enumerate(terminal.text("-e").splitlines()) if i not in (0, 2)))


def reports_first_that_the_daemon_hangs(rocectl):
    """The daemon stops answering: the reason is before the path, and the shown uptime does not rise."""
    index = {"node": "vm", "version": "0.1.0", "upSeconds": 100}
    with StandIn({"/api/v1/ports": lambda: ports(3, now_ms()), "/api/v1": index}) as daemon:
        for width in (40, 80):
            daemon.documents["/api/v1/ports"] = lambda: ports(3, now_ms())
            with Terminal(f"{rocectl} --socket {daemon.path} top", width=width) as t:
                t.until("the ports are there", lambda s: len(rows(s)) == 3)
                daemon.documents["/api/v1/ports"] = None
                t.until("it hangs", lambda s: re.match(r"NO NEW SAMPLE FOR \d+ s\b", s) and s.splitlines()[2].startswith("no answer within 2 s ("))
                up = re.search(r"up (\d+)s", t.text())
                t.until("time goes on", lambda s: int(re.match(r"NO NEW SAMPLE FOR (\d+) s", s)[1]) > 8)
                later = re.search(r"up (\d+)s", t.text())
                assert (up and up[1]) == (later and later[1]) and bool(up) == (width == 80), (up, later)
                assert not live_colours(t), t.text("-e")


def names_the_pod_on_80_columns(rocectl):
    node = ports(60, 0)
    for port in node["ports"]:
        port.update(namespace="train", pod="llm-17", watch="judged")
        port["now"].update(discards=20, out_of_sequence=1.2)
    verdict = {"device": "mlx5_7", "port": 1, "level": 3, "cause": "slow_receiver", "onsetMs": now_ms() - 185000, "sentence": "this host cannot drain what it is sent"}
    answer = lambda: {**node, "timeMs": now_ms()}  # noqa: E731
    with StandIn({"/api/v1/ports": answer, "/api/v1/diagnosis": {"verdicts": [verdict]}}) as daemon:
        with Terminal(f"{rocectl} --socket {daemon.path} top", width=80) as t:
            t.until("pods, loss, which rows", lambda s: "train/llm-17" in "".join(rows(s)[:1]) and "loss 1272/s" in s.splitlines()[1] and "1-18 of 60 ports" in s.splitlines()[1])
            assert re.search(r"^mlx5_7/1: slow_receiver, train/llm-17, for 3m\d+s$", t.text().splitlines()[23]), t.text()
            assert "PAUSE" not in t.text() and "CE%" not in t.text(), t.text()
            t.press("/", "x", "x", "Enter")
            t.until("that nothing matches", lambda s: "no port matches /xx; Esc: all 60 ports" in s)


def keeps_queue_pairs_to_their_rows(rocectl):
    qps = [{"device": "mlx5_0", "port": 1, "qpn": 100 + i, "comm": "train", "pid": 4242, "state": "RTS", "type": "RC", "namespace": "default",
            "pod": f"a-job-with-a-name-that-no-narrow-terminal-has-room-for-{i}"} for i in range(3)]
    with StandIn({"/api/v1/ports": ports(1, now_ms()), "/api/v1/qps": {"qps": qps, "flows": False}}) as daemon:
        with Terminal(f"{rocectl} --socket {daemon.path} top", width=40) as t:
            t.until("the port is there", lambda s: len(rows(s)) == 1)
            t.press("Enter")
            t.until("queue pairs, one a row", lambda s: "queue pairs of" in s and [line.split()[1:2] for line in s.splitlines()[2:] if line] == [["100"], ["101"], ["102"]])
            requests = daemon.times_asked("/api/v1/ports")
            daemon_judge.eventually("the ports' seconds go on", lambda: daemon.times_asked("/api/v1/ports") > requests)


def shows_evidence_and_next_steps(rocectl):
    verdict = {"device": "mlx5_0", "port": 1, "level": 3, "severity": "critical", "cause": "packet_loss", "onset": "2026-01-02T03:04:05.000Z", "sentence": "packets are lost",
               "evidence": [{"name": "roce_sequence_nak_received_total", "value": 7.5, "unit": "per second", "threshold": 1}], "advice": "walk the path and look at every drop counter",
               "disproof": "the peer counts none", "runbook": "/runbook/packet_loss", "pods": [{"namespace": "train", "name": "job-7"}], "podCount": 1}
    with StandIn({"/api/v1/ports": ports(2, now_ms()), "/api/v1/qps": {"qps": [], "flows": False}, "/api/v1/diagnosis": {"verdicts": [verdict]}}) as daemon:
        for width in (80, 40):
            with Terminal(f"{rocectl} --socket {daemon.path} top", width=width, height=30) as t:
                t.until("the verdict decides the order", lambda s: len(rows(s)) == 2 and "mlx5_0/1" in rows(s)[0] and "crit" in rows(s)[0])
                t.press("Enter")
                t.until("evidence and advice", lambda s: re.search("total = 7.5 per second .*advice: walk .*every drop counter .*no queue pairs", " ".join(s.split())))
                t.press("Escape")
                t.until("ports again", lambda s: len(rows(s)) == 2)


def main():
    daemon_path, rocectl, mk_sysfs = (os.path.abspath(path) for path in sys.argv[1:4])
    daemon_judge.programs.update(daemon=daemon_path, mk_sysfs=mk_sysfs)
    with daemon_judge.Daemon(pools=(daemon_judge.VF_POOL,)) as daemon:
        command = [rocectl, "--socket", daemon.dir + "/run/rocelet.sock", "top"]
        top = " ".join(command)
        daemon_judge.eventually("samples", lambda: '"watch"' in daemon.get("/api/v1/ports"))
        everything = (
            (drives_a_terminal, top),
            (has_colours_unless_no_color_is_set, top),
            (prints_plain_text_without_a_terminal, command),
            (restores_the_terminal_on_a_signal, top),
            (ends_with_its_terminal, command),
            (reports_that_the_daemon_has_exited, top, daemon),
            (waits_for_one_answer_at_most, rocectl),
            (reports_that_no_sample_comes, rocectl),
            (reports_first_that_the_daemon_hangs, rocectl),
            (names_the_pod_on_80_columns, rocectl),
            (keeps_queue_pairs_to_their_rows, rocectl),
            (shows_evidence_and_next_steps, rocectl),
        )
        for check, *arguments in everything:
            check(*arguments)
            print("ok    ", check.__name__, flush=True)
    print(f"{len(everything)} passed, 0 failed", flush=True)
    os._exit(0)  # a silent kubelet's threads never end


if __name__ == "__main__":
    main()
