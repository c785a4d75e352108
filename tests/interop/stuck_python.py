#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""All worker threads of a daemon are frozen by ptrace: it reports that, keeps answering, and exits all the same.

  stuck_python.py DAEMON

One line per check, "N passed, N failed" last. As root, or as a user that may trace the daemon.

run: {build}/rocelet
proves: include/loop daemon/compose daemon/api
when: turns
needs: root
"""
import contextlib
import ctypes
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

LONG = 120
PTRACE_SEIZE, PTRACE_INTERRUPT, PTRACE_DETACH = 0x4206, 0x4207, 17
WALL = 0x40000000
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
counts = {True: 0, False: 0}


def check(what, holds):
    counts[bool(holds)] += 1
    print("ok -" if holds else "not ok -", what, flush=True)
    return holds


def eventually(condition, within=LONG):
    deadline = time.monotonic() + within
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def ptrace(request, task):
    if libc.ptrace(request, task, None, None) < 0:
        raise OSError(ctypes.get_errno(), "ptrace")


def freeze(task):
    """Stops it only while it waits for work: a thread frozen with a lock of libuv or malloc would be another fault."""
    while True:
        ptrace(PTRACE_SEIZE, task)
        ptrace(PTRACE_INTERRUPT, task)
        os.waitpid(task, WALL)
        with open(f"/proc/{task}/syscall", encoding="ascii") as g:
            if g.read().split()[0] == FUTEX:
                return
        ptrace(PTRACE_DETACH, task)
        time.sleep(0.01)


FUTEX = {"x86_64": "202", "aarch64": "98"}[os.uname().machine]


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def judge(daemon, folder):
    write(folder + "/sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n")
    write(folder + "/sys/class/infiniband/mlx5_0/node_guid", "0002:c903:0000:0001\n")
    write(folder + "/config.json", "{}")
    os.makedirs(folder + "/kubelet/device-plugins")
    process = subprocess.Popen([daemon, "--config", folder + "/config.json", "--sysfs-root", folder + "/sys", "--listen", "", "--run-dir", folder + "/run",
                                "--kubelet-dir", folder + "/kubelet", "--state-dir", folder + "/state", "--sample-interval", "0.1"],
                               stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    log, frozen = [], []
    threading.Thread(target=lambda: log.extend(iter(process.stderr.readline, "")), daemon=True).start()

    def logged(words):
        return any(re.search(words, line) for line in list(log))

    def has_ended():
        """Collects traced threads, too: their process ends only after their tracer has waited for them."""
        for task in frozen:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(task, WALL | os.WNOHANG)
        return process.poll() is not None

    def get(path):
        answer = subprocess.run(["curl", "-sS", "-m", "60", "--unix-socket", folder + "/run/rocelet.sock", "http://localhost" + path],
                                capture_output=True, text=True, check=False)
        return answer.stdout

    try:
        check("it is ready", eventually(lambda: "rocelet_oldest_work_seconds" in get("/metrics")))
        frozen.extend(task for task in map(int, os.listdir(f"/proc/{process.pid}/task")) if task != process.pid)
        for task in frozen:
            freeze(task)
        check("the log names the waiting work", eventually(lambda: logged(r"warn +worker: .* has been waiting for a thread for \d+ s")))
        check("doctor reports it", eventually(lambda: any(f["kind"] == "stuck" for f in json.loads(get("/api/v1/doctor"))["findings"])))
        check("the daemon answers", get("/healthz"))
        process.send_signal(signal.SIGTERM)
        check("it ends all the same", eventually(has_ended))
        check("it exits with status 1", process.returncode == 1)
        check("and logs the reason", eventually(lambda: logged(r"has been running for \d+ s: exiting without waiting"), 10))
    finally:
        if process.poll() is None:
            process.kill()
            eventually(has_ended)
        print("#", "# ".join(line for line in log if "worker" in line or "ending" in line), flush=True)


with tempfile.TemporaryDirectory() as name:
    judge(sys.argv[1], name)
print(f"{counts[True]} passed, {counts[False]} failed")
sys.exit(counts[False] > 0)
