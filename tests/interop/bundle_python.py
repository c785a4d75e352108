#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Judges `rocectl support-bundle`: it has the files that docs/reference/rocectl.md lists, no secret, and is complete or absent.

  bundle_python.py DAEMON ROCECTL [CHECK...]

One line per check, "N passed, N failed" last.

run: {san}/rocelet {san}/rocectl
proves: daemon/ctl daemon/api
when: turns
"""
import io
import json
import os
import re
import signal
import stat
import subprocess
import sys
import tarfile
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../lib")]
from run_checks import run_checks  # noqa: E402
from suggest_python import SOON, Tree, equal, gpu_node, until  # noqa: E402

TOP = os.path.join(HERE, "../..")
programs = {}
checks = []


def check(function):
    checks.append(function)
    return function


# --- a node with secrets ----------------------------------------------------------------------

SECRETS = ["cfg-hunter2", "cfg-tok-1", "cfg-tok-2", "url-pass", "cfg-bearer", "MIIcfgkey", "jrnl-s3cret", "jrnl-tok", "elsewhere-secret", "unknown-key-value"]
IPAM = {"type": "static", "addresses": [], "password": SECRETS[0], "auth": {"tokens": SECRETS[1:3]}, "server": f"https://admin:{SECRETS[3]}@10.0.0.1/v1",
        "header": f"Bearer {SECRETS[4]}", "ca": f"-----BEGIN PRIVATE KEY-----\n{SECRETS[5]}\n-----END PRIVATE KEY-----\n"}
POOL = {"resourceName": "roce", "selectors": {"pfNames": ["ens1np0#0-15"], "isRdma": True}, "network": {"ipam": IPAM}}
CONFIG = json.dumps({"pools": [POOL], "apiToken": SECRETS[9]})


def journal_block(serial, record):
    text = json.dumps(record)
    return f"rocelet-journal 1 {serial} {len(text)} 12345\n{text}".ljust(16384, "\n")


def record(n, **more):
    return dict({"function": f"0000:18:00.{n}", "plan": {"ipam": json.dumps({"type": "x", "etcd_password": SECRETS[6], "url": "http://a"}), "note": SECRETS[6]},
                 "error": f"IPAM says token={SECRETS[7]}"}, **more)


class Node(Tree):
    """A tree with a configuration, a journal and, if so, a daemon."""

    def __init__(self, runs=True):
        self.__dict__.update(gpu_node(2).__dict__)
        os.makedirs(self.dir + "/kubelet/device-plugins")
        os.makedirs(self.dir + "/state/devices")
        # As in a mounted ConfigMap.
        self.put("etc/..2026/config.json", CONFIG)
        os.symlink("..2026", self.dir + "/etc/..data")
        os.symlink("..data/config.json", self.dir + "/etc/config.json")
        self.put("state/devices/0000:18:00.2", journal_block(1, record(2)) + journal_block(2, record(2, newer=True)))
        self.socket = self.dir + "/run/rocelet.sock"
        self.daemon = None
        if runs:
            self.start()

    def start(self):
        self.daemon = subprocess.Popen([programs["daemon"], *self.roots(), "--config", self.dir + "/etc/config.json", "--listen", "", "--run-dir", self.dir + "/run",
                                        "--state-dir", self.dir + "/state", "--kubelet-dir", self.dir + "/kubelet", "--sample-interval", "0.1"],
                                       stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until("it serves", lambda: os.path.exists(self.socket) and self.rocectl("devices").returncode == 0)
        until("the daemon answers every request", lambda: b"the daemon answers" not in self.member(self.bundle(), "not-read.txt"))

    def __enter__(self):
        return self

    def __exit__(self, *_what):
        if self.daemon:
            self.daemon.send_signal(signal.SIGTERM)
            equal(self.daemon.wait(SOON), 0)

    def rocectl(self, *words, **more):
        return subprocess.run([programs["rocectl"], "--socket", self.socket, *words], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=SOON, check=False,
                              cwd=self.dir, **dict({"stdout": subprocess.PIPE}, **more))

    def bundle(self, *words):
        """{name: content} of a bundle written to stdout."""
        done = self.rocectl("support-bundle", "-o", "-", "--config", self.dir + "/etc/config.json", "--state-dir", self.dir + "/state", *words)
        equal((done.returncode, done.stderr), (0, b""))
        return unpack(done.stdout)

    @staticmethod
    def member(bundle, name):
        return bundle["rocelet-support/" + name]


def unpack(data):
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as tar:
        members = tar.getmembers()
        assert all(m.isfile() and m.mode == 0o600 and m.uid == 0 for m in members), members
        return {m.name: tar.extractfile(m).read() for m in members}


def has_no_secret(bundle):
    for name, content in bundle.items():
        for secret in SECRETS:
            assert secret.encode() not in content, f"{secret} in {name}"


def documented_files():
    """The files of the table in docs/reference/rocectl.md."""
    with open(TOP + "/docs/reference/rocectl.md", encoding="utf-8") as f:
        part = f.read().split("\n## The support bundle\n")[1].split("\n## ")[0]
    return sorted({name for row in re.findall(r"^\| (`.*?) \|", part, re.M) for name in re.findall(r"`([^`]+)`", row)})


# --- checks -----------------------------------------------------------------------------------


@check
def documented_files_and_no_secret():
    with Node() as node:
        bundle = node.bundle()
        has_no_secret(bundle)
        there = {re.sub(r"journal/.*", "journal/DEVICE.json", name.split("/", 1)[1]) for name in bundle}
        missed = node.member(bundle, "not-read.txt").decode()
        if "kernel.log" not in there:
            assert "/dev/kmsg: " in missed, missed
            there.add("kernel.log")
        equal(sorted(there), documented_files())
        for name, content in bundle.items():
            if name.endswith(".json"):
                json.loads(content)
        config = json.loads(node.member(bundle, "config.json"))
        equal(config["pools"][0]["network"]["ipam"]["type"], "static")
        equal(config["pools"][0]["network"]["ipam"]["password"], "(masked)")
        equal(config["pools"][0]["network"]["ipam"]["server"], "https://(masked)@10.0.0.1/v1")
        answer = subprocess.run(["curl", "-sS", "-m", str(SOON), "--unix-socket", node.dir + "/run/rocelet.sock", "http://x/api/v1/config"], capture_output=True,
                               check=True).stdout
        has_no_secret({"/api/v1/config": answer})
        effective = json.loads(node.member(bundle, "api/config.json"))
        equal(effective["pools"][0]["network"]["ipam"]["password"], "(masked)")
        journal = json.loads(next(content for name, content in bundle.items() if "journal/0000:18:00.2" in name))
        equal([block["record"].get("newer") for block in journal], [None, True])
        assert re.search(rb"^rocelet [0-9.]+$", node.member(bundle, "versions.txt"), re.M), bundle
        assert b"roce_port_info{" in node.member(bundle, "metrics.txt")
        assert f"kernel Linux {os.uname().release} " in node.member(bundle, "host.txt").decode()


@check
def unmasked_secrets_are_found():
    """has_no_secret() finds the secrets in the unmasked files on the disk."""
    node = Node(runs=False)
    texts = {path: open(node.dir + path, "rb").read() for path in ("/etc/config.json", "/state/devices/0000:18:00.2")}
    found = {secret for secret in SECRETS for text in texts.values() if secret.encode() in text}
    equal(sorted(found), sorted(set(SECRETS) - {"elsewhere-secret"}))


@check
def an_output_file():
    with Node() as node:
        paths = ["--config", node.dir + "/etc/config.json", "--state-dir", node.dir + "/state"]
        os.umask(0)
        done = node.rocectl("support-bundle", *paths)
        equal((done.returncode, done.stderr), (0, b""))
        name = done.stdout.decode().splitlines()[0]
        assert re.fullmatch(r"rocelet-support-\d{8}-\d{6}\.tar\.gz", name), name
        equal(stat.S_IMODE(os.stat(f"{node.dir}/{name}").st_mode), 0o600)
        with open(f"{node.dir}/{name}", "rb") as f:
            has_no_secret(unpack(f.read()))
        listed = subprocess.run(["tar", "tzf", f"{node.dir}/{name}"], capture_output=True, check=True).stdout.decode().split()
        assert "rocelet-support/api/devices.json" in listed, listed
        node.put("there", "mine")
        os.symlink(node.dir + "/nowhere", node.dir + "/link")
        for path in ("there", "link", "no/folder"):
            done = node.rocectl("support-bundle", "-o", path, *paths)
            equal((path, done.returncode, done.stdout, len(done.stderr.splitlines())), (path, 1, b"", 1))
            assert done.stderr.startswith(f"rocectl: {path}: ".encode()), done.stderr
        equal(open(node.dir + "/there").read(), "mine\n")
        assert not os.path.exists(node.dir + "/nowhere")
        for words in (["-o"], ["--limit", "1"], ["x"]):
            equal((words, node.rocectl("support-bundle", *words).returncode), (words, 2))
        equal(node.rocectl("pods", "-o", "x").returncode, 2)


@check
def without_a_daemon():
    node = Node(runs=False)
    bundle = node.bundle()
    has_no_secret(bundle)
    missed = node.member(bundle, "not-read.txt").decode()
    assert "api/config.json, and the daemon's documents that follow: " in missed and "is rocelet running?" in missed, missed
    assert not any("/api/" in name for name in bundle), list(bundle)
    for name in ("config.json", "host.txt", "versions.txt", "journal/0000:18:00.2.json"):
        assert node.member(bundle, name), list(bundle)
    assert b"rocelet unknown: it does not answer\n" in node.member(bundle, "versions.txt")


@check
def a_socket_of_another_program():
    """Reported once, and nothing else is missing."""
    import socket
    import threading
    node = Node(runs=False)
    os.makedirs(node.dir + "/run")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(node.socket)
        server.listen()

        def serve():
            while True:
                try:
                    one, _ = server.accept()
                except OSError:
                    return
                one.recv(4096)
                one.sendall(b"hello\n")
                one.close()
        threading.Thread(target=serve, daemon=True).start()
        bundle = node.bundle()
    assert "not rocelet" in node.member(bundle, "not-read.txt").decode(), node.member(bundle, "not-read.txt")
    assert "rocelet-support/host.txt" in bundle


@check
def unreadable_files():
    """A state folder that is missing or a file; links and pipes in it; a configuration that is not JSON, or too long."""
    node = Node(runs=False)
    node.put("secret-file", SECRETS[8])
    os.symlink(node.dir + "/secret-file", node.dir + "/state/devices/link")
    os.symlink("../../secret-file", node.dir + "/state/devices/relative")
    os.mkfifo(node.dir + "/state/devices/pipe")
    os.mkdir(node.dir + "/state/devices/folder")
    node.put("state/devices/torn", "rocelet-journal 1 1 50 1\n{\"password\": \"" + SECRETS[7])
    node.put("state/devices/odd\x1b[31m", "no block at all " + SECRETS[7])
    bundle = node.bundle()
    has_no_secret(bundle)
    missed = node.member(bundle, "not-read.txt").decode()
    for line in ("journal/link: a symbolic link; not followed", "journal/relative: a symbolic link; not followed", "journal/pipe: not a regular file",
                 "journal/folder: not a regular file"):
        assert line in missed, missed
    assert not any("\x1b" in name for name in bundle), list(bundle)
    equal(json.loads(node.member(bundle, "journal/torn.json"))[0]["record"], None)
    for state, why in (("nowhere", "No such file"), ("secret-file", "Not a directory")):
        missed = node.member(node.bundle("--state-dir", f"{node.dir}/{state}"), "not-read.txt").decode()
        assert f"{node.dir}/{state}/devices: {why}" in missed, missed
    os.rename(node.dir + "/state/devices", node.dir + "/elsewhere")
    os.symlink("../elsewhere", node.dir + "/state/devices")
    bundle = node.bundle()
    assert "/devices: a symbolic link; not followed" in node.member(bundle, "not-read.txt").decode(), bundle
    for text, why in (("{\n\"password\": \"" + SECRETS[9] + "\",}", "line 2 is not valid JSON"), ('{"a": "' + "x" * (1 << 20) + '"}', "is not valid JSON")):
        node.put("etc/..2026/config.json", text)
        bundle = node.bundle()
        has_no_secret(bundle)
        assert "rocelet-support/config.json" not in bundle
        assert why in node.member(bundle, "not-read.txt").decode(), bundle
    os.unlink(node.dir + "/etc/config.json")
    os.symlink("../secret-file", node.dir + "/etc/config.json")
    bundle = node.bundle()
    has_no_secret(bundle)
    assert "config.json: a symbolic link; not followed" in node.member(bundle, "not-read.txt").decode(), bundle


@check
def a_full_disk():
    """One sentence, and no partial file is left."""
    node = Node(runs=False)
    with open("/dev/full", "wb") as full:
        done = node.rocectl("support-bundle", "-o", "-", stdout=full)
        equal((done.returncode, len(done.stderr.splitlines())), (1, 1))
        assert b"No space left" in done.stderr, done.stderr
    if os.getuid() != 0:
        print("# no root: no full disk")
        return
    os.mkdir(node.dir + "/small")
    script = 'mount -t tmpfs -o size=4k none "$0"/small && cd "$0"/small && "$1" --socket "$0"/x support-bundle -o b.tar.gz --state-dir "$0"/state; echo $?; ls -A'
    # Content that does not compress.
    node.put("state/devices/big", journal_block(1, {"x": os.urandom(7000).hex()}))
    done = subprocess.run(["unshare", "-m", "sh", "-c", script, node.dir, programs["rocectl"]], capture_output=True, timeout=SOON, check=False)
    equal((done.stdout, len(done.stderr.splitlines())), (b"1\n", 1))
    assert re.fullmatch(rb"rocectl: b\.tar\.gz: No space left on device, no support bundle is written\n", done.stderr), done.stderr


def main():
    programs["daemon"], programs["rocectl"] = (os.path.abspath(path) for path in sys.argv[1:3])
    sys.exit(run_checks(checks, sys.argv[3:]))


if __name__ == "__main__":
    main()
