#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A state folder on a full file system (a small tmpfs, in namespaces of its own) is reported before the first attachment, by log, event,
doctor and /readyz in the same words, until there is room again.

  full_state_python.py DAEMON

One line per check, "N passed, N failed" last.

run: {build}/rocelet
proves: daemon/attach daemon/api
when: turns
needs: root
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import time

SOON = 30
counts = {True: 0, False: 0}


def check(what, holds):
    counts[bool(holds)] += 1
    print("ok -" if holds else "not ok -", what, flush=True)


def eventually(condition):
    deadline = time.monotonic() + SOON
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def fill(path):
    """Fills the file system until not even an empty file can be created."""
    with open(path, "wb", buffering=0) as f:
        try:
            while True:
                f.write(b"x" * 4096)
        except OSError:
            pass
    for i in range(10000):
        try:
            with open(f"{path}{i}", "wb"):
                pass
        except OSError:
            return


def empty(folder, name):
    for file in os.listdir(folder):
        if file.startswith(name):
            os.unlink(f"{folder}/{file}")


def judge(daemon, folder, made_before):
    state = folder + "/state"
    what = "with a folder of records" if made_before else "with an empty folder"
    for path in ("state", "kubelet/device-plugins", "kubelet/pods", "kubelet/pod-resources"):
        os.makedirs(f"{folder}/{path}", exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k,nr_inodes=20", "tmpfs", state], check=True)
    if made_before:
        os.mkdir(state + "/devices", 0o700)
    with open(state + "/lock", "w", encoding="ascii"):
        pass
    fill(state + "/ballast")
    with open(folder + "/config.json", "w", encoding="ascii") as f:
        json.dump({"pools": [{"resourceName": "x", "selectors": {"pfNames": ["none"]}, "network": {}}]}, f)
    with open(folder + "/log", "w+", encoding="utf-8") as log, subprocess.Popen(
            [daemon, "--config", folder + "/config.json", "--run-dir", folder + "/run", "--state-dir", state, "--kubelet-dir", folder + "/kubelet",
             "--cni-path", folder, "--listen", "", "--no-bpf"], stdout=log, stderr=log, stdin=subprocess.DEVNULL) as process:
        def get(path):
            return subprocess.run(["curl", "-sS", "-m", "10", "--unix-socket", folder + "/run/rocelet.sock", "http://node" + path], capture_output=True,
                                  text=True, check=False).stdout

        def read_log():
            with open(folder + "/log", encoding="utf-8") as f:
                return f.read()

        def finding():
            try:
                return [f["what"] for f in json.loads(get("/api/v1/doctor"))["findings"] if f["kind"] == "journal"]
            except (ValueError, KeyError):
                return []

        try:
            check(f"{what}: /readyz is not ready", eventually(lambda: re.match(r"not ready: journal: .*No space left on device", get("/readyz"))))
            sentence = get("/readyz").splitlines()[0][len("not ready: "):]
            check(f"{what}: it names the folder", state + "/devices" in sentence)
            check(f"{what}: doctor has the same sentence", finding() == [f"the journal cannot be written: {sentence}"])
            events = [e["message"] for e in json.loads(get("/api/v1/events"))["events"] if e["reason"] == "JournalBad"]
            check(f"{what}: one event has it", len(events) == 1 and sentence in events[0])
            check(f"{what}: the log has it once", len(re.findall(re.escape(sentence), read_log())) == 1)
            empty(state, "ballast")
            check(f"{what}: no report any more when there is room", eventually(lambda: finding() == []) and "No space left" not in get("/readyz"))
            check(f"{what}: the probe leaves nothing", eventually(lambda: os.path.isdir(state + "/devices") and os.listdir(state + "/devices") == []))
        finally:
            process.terminate()
            check(f"{what}: the daemon exits", process.wait(SOON) == 0)
            subprocess.run(["umount", state], check=False)
            if counts[False]:
                print("#", read_log().replace("\n", "\n# "), flush=True)


def main():
    if os.environ.get("ROCELET_UNSHARED") != "yes":
        command = ["unshare", "--net", "--mount", "--pid", "--fork", "--mount-proc", sys.executable, *sys.argv]
        sys.exit(subprocess.run(command, env={**os.environ, "ROCELET_UNSHARED": "yes"}, check=False).returncode)
    for made_before in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            judge(os.path.abspath(sys.argv[1]), folder, made_before)
    print(f"{counts[True]} passed, {counts[False]} failed")
    sys.exit(counts[False] > 0)


if __name__ == "__main__":
    main()
