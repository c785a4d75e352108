#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The privileges of the running daemon: from the kernel's status of every thread, and by system calls that it is forced to make. Needs root.

  privileges_python.py DAEMON

One line per check, "N passed, N failed" last.

run: {build}/rocelet
proves: daemon/privileges daemon/compose
when: core
needs: root
"""
import contextlib
import errno
import glob
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time

from foreign_calls import foreign_calls

SOON = 60
# linux/capability.h
CHOWN, DAC_OVERRIDE, DAC_READ_SEARCH, KILL, SETUID, SETPCAP, NET_BIND_SERVICE, NET_BROADCAST, NET_ADMIN, NET_RAW = 0, 1, 2, 5, 7, 8, 10, 11, 12, 13
SYS_PTRACE, SYS_ADMIN, SYS_NICE, MKNOD, PERFMON, BPF = 19, 21, 23, 27, 38, 39
OBSERVE = {NET_ADMIN, NET_BROADCAST, SYS_ADMIN}
PROGRAMS = {NET_ADMIN, SYS_ADMIN, SYS_PTRACE, DAC_READ_SEARCH, BPF, PERFMON}
ATTACH = {NET_ADMIN, NET_RAW, NET_BIND_SERVICE, SYS_ADMIN, SYS_PTRACE, DAC_READ_SEARCH, MKNOD, CHOWN, SETPCAP, SETUID}
# Only one daemon that may change devices can run per node, i.e. per network namespace.
OWN_NODE = ["unshare", "--net"] if subprocess.run(["unshare", "--net", "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0 else []
counts = {True: 0, False: 0}


def check(what, holds):
    counts[bool(holds)] += 1
    print("ok -" if holds else "not ok -", what, flush=True)


def mask(capabilities):
    """Only the capabilities of this program itself, which may run in a container."""
    with open("/proc/self/status", encoding="ascii") as f:
        ours = int(re.search(r"CapEff:\s*(\w+)", f.read())[1], 16)
    return sum(1 << c for c in capabilities) & ours


@contextlib.contextmanager
def daemon(*flags):
    with tempfile.TemporaryDirectory() as folder:
        log, config = os.path.join(folder, "log"), os.path.join(folder, "config.json")
        with open(config, "w", encoding="ascii") as f:
            f.write("{}")
        with open(log, "wb") as f:
            process = subprocess.Popen([*OWN_NODE, sys.argv[1], "--config", config, "--run-dir", folder + "/run", "--state-dir", folder + "/state", "--kubelet-dir",
                                        folder, "--listen", "", *flags], stdout=f, stderr=f, stdin=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + SOON
            while not os.path.exists(folder + "/run/rocelet.sock") or len(glob.glob(f"/proc/{process.pid}/task/*")) < 2:
                if process.poll() is not None or time.monotonic() > deadline:
                    with open(log, encoding="utf-8") as f:
                        raise AssertionError("the daemon does not serve: " + f.read())
                time.sleep(0.02)
            yield process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                process.wait(SOON)


def threads(process, key):
    """The values of this line in /proc/PID/task/*/status, of all threads."""
    values = set()
    for path in glob.glob(f"/proc/{process.pid}/task/*/status"):
        with open(path, encoding="ascii") as f:
            values.add(re.search(rf"^{key}:\s*(\w+)", f.read(), re.M)[1])
    return values


def refused_calls(pid):
    """From the kernel's log, which may be unreadable."""
    log = subprocess.run(["dmesg"], capture_output=True, text=True, check=False)
    return re.findall(rf"type=1326 .* pid={pid} .* (syscall=\d+)", log.stdout)


def kernel_reports():
    for name, flags, expected in [("every feature", (), OBSERVE | PROGRAMS | ATTACH), ("without BPF", ("--no-bpf",), OBSERVE | ATTACH),
                                ("one that changes nothing", ("--dry-run", "--no-bpf"), OBSERVE),
                                ("one without any", ("--unprivileged",), set()),
                                ("a low port", ("--dry-run", "--no-bpf", "--listen", "127.0.0.1:1"), OBSERVE | {NET_BIND_SERVICE})]:
        with daemon(*flags) as process:
            for key in ("CapEff", "CapPrm", "CapBnd"):
                check(f"{name}: every thread's {key} has what that needs", threads(process, key) == {"%016x" % mask(expected)})
            for key in ("CapInh", "CapAmb"):
                check(f"{name}: every thread's {key} is empty", threads(process, key) == {"0" * 16})
            check(f"{name}: no thread gets new ones", threads(process, "NoNewPrivs") == {"1"})
            check(f"{name}: every thread is under the filter", threads(process, "Seccomp") == {"2"})
        check(f"{name}: it made no call that is not listed, until its end", process.returncode == 0 and not refused_calls(process.pid))
    with daemon("--seccomp", "off", "--no-bpf") as process:
        check("--seccomp off: no filter", threads(process, "Seccomp") == {"0"})
        check("--seccomp off: still no new privileges", threads(process, "NoNewPrivs") == {"1"})


def without_capabilities():
    """The daemon as the overlays observe and device-plugin start it: no warning; with a pool that needs more, doctor names what is missing."""
    bare = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]
    attaching = {"pools": [{"resourceName": "x", "selectors": {"pfNames": ["none"]}, "network": {}}]}
    for name, flags, config, lacks in [("--unprivileged", ("--unprivileged",), {}, False), ("usual", (), {}, True),
                                       ("--unprivileged with an attaching pool", ("--unprivileged",), attaching, True)]:
        with tempfile.TemporaryDirectory() as folder:
            for path in ("kubelet/device-plugins", "kubelet/pods", "kubelet/pod-resources"):
                os.makedirs(f"{folder}/{path}")
            with open(folder + "/config.json", "w", encoding="ascii") as f:
                json.dump(config, f)
            with open(folder + "/log", "w+", encoding="utf-8") as log, subprocess.Popen(
                    [*OWN_NODE, *bare, sys.argv[1], "--config", folder + "/config.json", "--run-dir", folder + "/run", "--state-dir", folder + "/state",
                     "--kubelet-dir", folder + "/kubelet", "--listen", "", *flags], stdout=log, stderr=log, stdin=subprocess.DEVNULL) as process:
                curl = ["curl", "-sS", "--unix-socket", folder + "/run/rocelet.sock"]
                deadline = time.monotonic() + SOON
                while not re.match("not ready: (?!.* yet\n)|ok", ready := subprocess.run([*curl, "http://node/readyz"], capture_output=True, text=True,
                                                                                      check=False).stdout):
                    if time.monotonic() > deadline:
                        break
                    time.sleep(0.05)
                found = json.loads(subprocess.run([*curl, "http://node/api/v1/doctor"], capture_output=True, text=True, check=True).stdout)["findings"]
                process.terminate()
                process.wait(SOON)
                log.seek(0)
                text = log.read()
        check(f"no capability, {name}: doctor {'names' if lacks else 'finds'} {'what is missing' if lacks else 'no privilege missing'}",
              bool([f for f in found if f["kind"] == "privilege"]) == lacks)
        if lacks:
            check(f"no capability, {name}: the log names what is missing", "is missing" in text)
        else:
            warnings = [line for line in text.splitlines() if re.search(r" (warn|error) ", line)]
            check(f"no capability, {name}: no warning at the start {warnings}", not warnings)
            check(f"no capability, {name}: it is ready", ready == "ok\n")
    check(f"no capability, an attaching pool: it is not ready, and names the capability {ready!r}", re.match("not ready: .*CAP_", ready))


def forced_calls():
    number = {"x86_64": {"umount2": 166, "unshare": 272, "sethostname": 170, "setpriority": 141, "mount": 165, "reboot": 169, "socket": 41, "getpid": 39,
                         "kill": 62, "openat": 257},
              "aarch64": {"umount2": 39, "unshare": 97, "sethostname": 161, "setpriority": 140, "mount": 40, "reboot": 142, "socket": 198,
                          "getpid": 172, "kill": 129, "openat": 56}}[os.uname().machine]
    with daemon("--no-bpf") as process, tempfile.NamedTemporaryFile() as other, subprocess.Popen(["sleep", "1000"], user=12345) as stranger:
        os.chmod(other.name, 0)
        os.chown(other.name, 12345, 12345)
        results = foreign_calls(process.pid, (number["getpid"],), (number["umount2"], "/nowhere", 0), (number["unshare"], 0x10000000),
                             (number["sethostname"], "x", 1), (number["mount"], "x", "/nowhere", "tmpfs", 0, 0), (number["socket"], 40, 1, 0),
                             (number["setpriority"], 0, 0, -20), (number["kill"], stranger.pid, 9), (number["openat"], -100, other.name, 2))
        results += [None] * (9 - len(results))
        check("an allowed call works", results[0] == process.pid)
        for i, what in enumerate(("umount2", "unshare", "sethostname", "mount of a file system", "a socket of another family"), 1):
            check(f"the daemon cannot call {what}", results[i] == -errno.ENOSYS)
        check("CAP_SYS_NICE is dropped", results[6] == -errno.EACCES)
        check("CAP_KILL is dropped", results[7] == -errno.EPERM and stranger.poll() is None)
        check("CAP_DAC_OVERRIDE is dropped", results[8] == -errno.EACCES)
        check("the daemon still runs", process.poll() is None)
        stranger.kill()
        foreign_calls(process.pid, (number["reboot"], 0, 0, 0, 0))
        try:
            process.wait(SOON)
        except subprocess.TimeoutExpired:
            pass
        check("a call that it may never make ends it", process.returncode == -signal.SIGSYS)


resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
kernel_reports()
forced_calls()
without_capabilities()
print(f"{counts[True]} passed, {counts[False]} failed")
sys.exit(counts[False] > 0)
