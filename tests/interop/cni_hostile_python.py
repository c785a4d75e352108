#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Hostile network configurations and a hostile runtime against a real daemon: each gets one error with its code, in time, and the daemon keeps running.

  cni_hostile_python.py PLUGIN DAEMON [CHECK...]

The daemon has a network namespace of its own, so it can attach no device of this machine: the checks judge what it reads and leaves alone.
In a container it may log that it cannot see the host's processes; the checks accept that.
One line per check, "N passed, N failed" last.

run: {build}/rocelet-cni {build}/rocelet
proves: daemon/cni k8s/cni
when: turns
needs: root
"""
import collections
import concurrent.futures
import contextlib
import http.client
import json
import os
import random
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../lib")]
from run_checks import run_checks  # noqa: E402

SOON = 60
MIB = 1 << 20
programs = {}
checks = []


def check(function):
    checks.append(function)
    return function


def equal(got, wanted):
    assert got == wanted, f"\n  got    {got}\n  wanted {wanted}"


class Unix(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=SOON)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(SOON)
        self.sock.connect(self.path)


class Daemon:
    """One daemon for all checks: damage by one shows in the next."""

    def __init__(self):
        self.temp = tempfile.TemporaryDirectory()
        self.dir = self.temp.name
        for name in ("kubelet/device-plugins", "state", "cni", "elsewhere"):
            os.makedirs(f"{self.dir}/{name}")
        self.write("config.json", "{}")
        self.log = open(self.dir + "/log", "wb")
        self.socket = self.dir + "/run/rocelet.sock"
        self.box = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
        self.netns = f"/proc/{self.box.pid}/ns/net"
        self.start()
        self.until(lambda: os.stat(self.netns).st_ino != os.stat("/proc/self/ns/net").st_ino)

    def start(self):
        self.process = subprocess.Popen(
            ["unshare", "--net", programs["daemon"], "--config", self.dir + "/config.json", "--listen", "", "--run-dir", self.dir + "/run", "--kubelet-dir",
             self.dir + "/kubelet", "--state-dir", self.dir + "/state", "--cni-path", self.dir + "/cni", "--pod-resources", self.dir + "/absent", "--cri-socket",
             self.dir + "/absent"], stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        self.until(self.is_well)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def write(self, name, text):
        with open(f"{self.dir}/{name}", "w", encoding="utf-8") as f:
            f.write(text)

    def until(self, condition):
        deadline = time.monotonic() + SOON
        while not condition():
            assert self.process.poll() is None, "the daemon has ended"
            assert time.monotonic() < deadline, condition
            time.sleep(0.02)

    def is_well(self):
        with contextlib.suppress(OSError, http.client.HTTPException):
            answer = self.request({"command": "STATUS", "config": {"cniVersion": "1.1.0", "name": "x"}})
            return answer == {} or re.search("of the host is not accessible|host's processes are not visible", answer["error"]["msg"])
        return False

    def post(self, body):
        connection = Unix(self.socket)
        connection.request("POST", "/api/v1/cni", body)
        reply = connection.getresponse()
        return reply.status, reply.read()

    def request(self, request):
        status, body = self.post(json.dumps(request))
        equal(status, 200)
        return json.loads(body)

    def run(self, verb, config, **changes):
        env = {"CNI_COMMAND": verb, "CNI_CONTAINERID": "c1", "CNI_NETNS": self.netns, "CNI_IFNAME": "net1", "CNI_PATH": self.dir + "/cni", "ROCELET_SOCKET": self.socket,
               "ROCELET_STATE_DIR": self.dir + "/state", "ROCELET_DEVINFO_DIR": self.dir + "/devinfo", **changes}
        text = config if isinstance(config, bytes) else json.dumps(config).encode()
        began = time.monotonic()
        done = subprocess.run([programs["plugin"]], env={key: value for key, value in env.items() if value is not None}, input=text, capture_output=True,
                              timeout=SOON * 2, check=False)
        return done, time.monotonic() - began

    def refuses(self, codes, config, verb="ADD", within=15, **changes):
        """One error object with one of these codes; the daemon keeps running."""
        done, seconds = self.run(verb, config, **changes)
        output = done.stdout[:300]
        assert done.returncode == 1, (done.returncode, output, str(config)[:200])
        error = json.loads(done.stdout)
        assert error["code"] in codes, (error, str(config)[:200])
        assert error["msg"] and "\n" not in error["msg"], error
        assert seconds < within, (seconds, output)
        self.goes_on()
        return error

    def goes_on(self):
        assert self.process.poll() is None, "the daemon has ended"
        assert self.is_well()

    def memory(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as f:
            return next(int(line.split()[1]) for line in f if line.startswith("VmRSS"))

    def close(self):
        for process in (self.process, self.box):
            process.kill()
            process.wait()
        self.log.close()


def sriov(**members):
    return {"cniVersion": "1.1.0", "name": "roce", "type": "sriov", "deviceID": "0000:ff:1f.7", **members}


# --- an author of configurations ---------------------------------------------------------------


@check
def invalid_devices():
    daemon = programs["node"]
    for device in ("0000:ff:1f.7", "../../../etc/passwd", "lo", "eth0", "0000:00:00.0/..", "x" * 255, "\u00e4\u0301", "a b", "%s%n", "\t", "0000:ff:1f.7\n0000:00:00.0"):
        for key in ("deviceID", "pciBusID", "device", "hwaddr", "kernelpath"):
            config = sriov(**{key: device})
            if key != "deviceID":
                del config["deviceID"]
            daemon.refuses((7, 101), config)
    for device in (0, 1.5, True, [], {}, ["0000:ff:1f.7"], {"a": 1}, "x" * 100000):
        daemon.refuses((7,), sriov(deviceID=device))


@check
def settings_of_every_kind():
    """Each key of the replaced plugins, with values of each type."""
    daemon = programs["node"]
    values = (-1, 1 << 40, -(1 << 63), (1 << 63) - 1, 1.5, 1e308, True, "", "x", "\u0000", "100", [], [1], {}, {"a": {"b": []}}, "x" * 5000)
    dice = random.Random(30)
    for key in ("vlan", "vlanQoS", "vlanProto", "mac", "spoofchk", "trust", "link_state", "min_tx_rate", "max_tx_rate", "guid", "mtu", "txqlen", "ips", "routes", "gateway", "ipam",
                "softRoce", "rdmaIsolation", "args", "runtimeConfig", "dns", "prevResult", "interface", "clean", "kind", "in_host", "no_netdev", "allow", "drift"):
        for value in dice.sample(values, 5):
            daemon.refuses((2, 6, 7, 101), sriov(**{key: value}))
    for value in values:
        for member in ("mac", "ips", "infinibandGUID", "deviceID", "bandwidth", "ipRanges", "CNIDeviceInfoFile"):
            daemon.refuses((2, 6, 7, 101), sriov(runtimeConfig={member: value}))


@check
def bandwidths():
    daemon = programs["node"]
    for rate in (-1, -(1 << 63), (1 << 63) - 1, 1 << 62, 4294967296000001):
        daemon.refuses((7,), sriov(runtimeConfig={"bandwidth": {"egressRate": rate}}))
    for number in (b"1e400", b"9" * 400, b"18446744073709551616"):
        text = json.dumps(sriov(runtimeConfig={"bandwidth": {"egressRate": "N"}})).encode().replace(b'"N"', number)
        daemon.refuses((6, 7, 101), text)


@check
def plugins_for_addresses():
    """A type is only a name in the folder of plugins, and no key opens its sandbox."""
    daemon = programs["node"]
    marker = daemon.dir + "/elsewhere/ran"
    program = daemon.dir + "/elsewhere/evil"
    with open(program, "w", encoding="utf-8") as f:
        f.write(f"#!/bin/sh\necho x >{marker}\n")
    os.chmod(program, 0o755)
    os.symlink(program, daemon.dir + "/cni/linked")
    for kind in ("../elsewhere/evil", program, "./../elsewhere/evil", "..", ".", "", "a/b", "x" * 300, "evil\u0000", "-c", "linked;evil", "$(evil)", 3, [], {}):
        for verb in ("ADD", "CHECK", "STATUS", "GC"):
            config = sriov(ipam={"type": kind})
            if verb == "GC":
                config["cni.dev/valid-attachments"] = []
            daemon.run(verb, config)
            daemon.goes_on()
    for needs in ({}, {"network": "host"}, [], True, None):
        config = sriov(ipam={"type": "host-local", "needs": needs})
        assert "ipam.needs: " in daemon.refuses((7,), config)["msg"]
    assert not os.path.exists(marker)


@check
def results_of_others():
    """prevResult of every shape, up to the size limit of a request."""
    daemon = programs["node"]
    for previous in ({"interfaces": [{"name": "x" * 1000}] * 500}, {"ips": [{"address": "192.0.2.1/24", "interface": 1 << 40}]}, {"ips": [{"address": "192.0.2.1/999"}]},
                     {"routes": [{"dst": "x", "gw": "y"}]}, {"dns": {"nameservers": ["x" * 100000]}}, {"interfaces": [{"name": "net1", "sandbox": 3}]},
                     {"interfaces": [{"name": "net1", "mtu": -5, "sandbox": "x", "mac": "x"}]}):
        for verb, codes in (("ADD", (6, 7, 101)), ("CHECK", (3, 6, 7))):
            daemon.refuses(codes, sriov(prevResult={"cniVersion": "1.1.0", **previous}), verb)
        daemon.refuses((6, 7), {**sriov(prevResult={"cniVersion": "1.1.0", **previous}), "type": "rdma"})


# --- a runtime ---------------------------------------------------------------------------------


@check
def invalid_bodies():
    """Sent to the socket directly, without the plugin."""
    daemon = programs["node"]
    whole = json.dumps({"command": "ADD", "containerID": "c", "netns": daemon.netns, "ifname": "net1", "args": "", "path": "/x", "config": sriov()}).encode()
    for body in (b"", b"{", b"[]", b"null", b"3", b'"x"', b"[" * 500000, b'{"a":' * 100000, b"\xff\xfe" * 100, b"\0" * 1000, whole[:-1], whole + b"x", whole.replace(b"ADD", b"add")):
        status, text = daemon.post(body)
        assert status in (200, 400, 413), (status, body[:40])
        assert status != 200 or json.loads(text)["error"]["code"] in (4, 6), (text, body[:40])
        daemon.goes_on()
    # The daemon answers before it has received all, and closes the connection.
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        equal(daemon.post(whole[:-1] + b" " * (2 * MIB) + b"}")[0], 413)
    daemon.goes_on()
    for key in ("command", "containerID", "netns", "ifname", "args", "config"):
        for value in (None, 3, True, [], {}, "x" * 5000, "\u0000", "a\nb", "../..", "%s%n"):
            answer = daemon.request({**json.loads(whole), key: value})
            assert key == "args" or "error" in answer, (key, value, answer)
    dice = random.Random(7)
    for _ in range(400):
        text = bytearray(whole)
        for _ in range(dice.randrange(1, 5)):
            text[dice.randrange(len(text))] = dice.randrange(256)
        status, _ = daemon.post(bytes(text))
        assert status in (200, 400), status
    daemon.goes_on()


@check
def invalid_namespaces():
    daemon = programs["node"]
    os.mkfifo(daemon.dir + "/elsewhere/pipe")
    for path in ("/etc/passwd", "/dev/zero", "/dev/null", daemon.dir + "/elsewhere/pipe", "/proc/self/ns/mnt", f"/proc/{daemon.process.pid}/ns/net", f"/proc/{daemon.process.pid}/ns/pid",
                 "/", "/absent", "relative", "/" + "x" * 4000):
        request = {"command": "ADD", "containerID": "c", "netns": path, "ifname": "net1", "config": sriov()}
        answer = daemon.request(request)
        assert answer["error"]["code"] in (4, 8, 101), (path, answer)
    daemon.goes_on()


@check
def lists_of_gc():
    daemon = programs["node"]
    base = {"cniVersion": "1.1.0", "name": "roce", "type": "sriov"}
    for bad in (3, "x", {}, True, [1], ["c"], [{}], [{"containerID": 1, "ifname": "net1"}], [{"containerID": "c"}], [None], [[]]):
        daemon.refuses((7,), {**base, "cni.dev/valid-attachments": bad}, "GC")
    many = [{"containerID": f"c{i}", "ifname": "net1"} for i in range(15000)]
    done, seconds = daemon.run("GC", {**base, "cni.dev/valid-attachments": many})
    equal((done.returncode, seconds < 10), (0, True))
    daemon.goes_on()


@check
def queued_deletions():
    """Any content of the queue folder: no link is followed, no file stops the next, and memory does not grow."""
    daemon = programs["node"]
    folder, bad = daemon.dir + "/state/cni/del", daemon.dir + "/state/cni/bad"
    good = json.dumps({"command": "DEL", "containerID": "c", "ifname": "net1", "config": {}})
    texts = {"empty": "", "nested": "[" * 500000, "add": good.replace("DEL", "ADD"), "gc": good.replace("DEL", "GC"), "long": "x" * (2 * MIB), "new\nline": "{", "no-id": good.replace('"c"', '""'),
             "ifname": good.replace("net1", "../../x"), "\u00e4": "{"}
    os.mkdir(folder + "/folder")
    daemon.write("elsewhere/good", good)
    os.symlink(daemon.dir + "/elsewhere/good", folder + "/link")
    os.symlink(folder, folder + "/loop")
    os.mkfifo(folder + "/pipe")

    def put(name, text):
        daemon.write("state/cni/del/.part", text)
        os.rename(folder + "/.part", f"{folder}/{name}")
    for name, text in texts.items():
        put(name, text)
    for i in range(2000):
        put(f"good{i}", good)
    daemon.until(lambda: not any(name.startswith("good") for name in os.listdir(folder)))
    daemon.until(lambda: not os.listdir(folder))
    equal(sorted(os.listdir(bad)), sorted([*texts, "folder", "link", "loop", "pipe"]))
    assert os.path.islink(bad + "/link") and os.path.exists(daemon.dir + "/elsewhere/good")
    daemon.goes_on()


@check
def many_at_once():
    """Clients that disconnect half-way, among clients that wait."""
    daemon = programs["node"]
    before = daemon.memory()
    body = json.dumps({"command": "ADD", "containerID": "c", "netns": daemon.netns, "ifname": "net1", "config": sriov()}).encode()

    def leave(i):
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as one:
            one.connect(daemon.socket)
            one.sendall((b"POST /api/v1/cni HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body)[:20 + i * 3])

    def stay(i):
        return daemon.run("ADD" if i % 2 else "DEL", sriov(), CNI_CONTAINERID=f"c{i}")[0]
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        left = [pool.submit(leave, i) for i in range(100)]
        stayed = [(i, pool.submit(stay, i)) for i in range(40)]
        for one in left:
            one.result()
        for i, one in stayed:
            done = one.result()
            assert (done.returncode, json.loads(done.stdout)["code"]) == (1, 101) if i % 2 else (done.returncode, done.stdout) == (0, b""), done
    daemon.goes_on()
    assert daemon.memory() < before + 32 * 1024, (before, daemon.memory())


@check
def one_container_while_the_daemon_dies():
    """Every verb at once, in namespaces that are removed, while the daemon is killed and started again: one error with its code each, no DEL fails, none stays queued."""
    daemon = Daemon()
    previous = {"cniVersion": "1.1.0", "interfaces": [{"name": "net1", "sandbox": "/netns"}], "ips": [{"address": "192.0.2.1/24", "interface": 0}]}
    configs = {"ADD": sriov(prevResult=previous), "DEL": sriov(prevResult=previous), "CHECK": sriov(prevResult=previous), "GC": sriov(**{"cni.dev/valid-attachments": []}),
               "STATUS": sriov()}
    # 3: no such attachment; 8: the namespace was removed; 11, 50: no daemon, or one that is starting; 101: no such device.
    codes = {"ADD": {8, 11, 101}, "CHECK": {3, 8, 11}, "GC": {11}, "STATUS": {50}}
    over = threading.Event()
    n_done = collections.Counter()

    def runtime(seed):
        dice = random.Random(seed)
        while not over.is_set():
            verb = dice.choice(list(configs))
            box = subprocess.Popen(["unshare", "--net", "sleep", str(dice.random() / 10)])
            done, seconds = daemon.run(verb, configs[verb], CNI_NETNS=dice.choice((daemon.netns, f"/proc/{box.pid}/ns/net")))
            box.wait()
            assert done.returncode == 0 and verb != "ADD" or verb != "DEL" and json.loads(done.stdout)["code"] in codes[verb], (verb, done)
            assert seconds < 70, (verb, seconds)
            n_done[verb, done.returncode] += 1
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        runtimes = [pool.submit(runtime, seed) for seed in range(8)]
        try:
            for _ in range(4):
                before = n_done.total()
                daemon.until(lambda before=before: n_done.total() > before + 20 or any(one.done() for one in runtimes))
                daemon.kill()
                daemon.start()
        finally:
            over.set()
        for one in runtimes:
            one.result()
    assert n_done["DEL", 0] and n_done["ADD", 1], n_done
    daemon.until(lambda: not os.listdir(daemon.dir + "/state/cni/del"))
    equal(os.listdir(daemon.dir + "/state/cni/bad"), [])
    daemon.goes_on()
    daemon.close()


if __name__ == "__main__":
    programs["plugin"], programs["daemon"] = (os.path.abspath(path) for path in sys.argv[1:3])
    programs["node"] = Daemon()
    try:
        status = run_checks(checks, sys.argv[3:])
    finally:
        programs["node"].close()
    sys.exit(status)
