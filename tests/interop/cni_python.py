#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Judges rocelet-cni as Multus and libcni run it, against a stand-in for the daemon: entry rules, results of every version, chains, and each way to fail.

  cni_python.py PLUGIN DAEMON [CHECK...]

A check named row_N... is row N of the table of upstream cases (cni_rows.txt); its docstring names the upstream source in
containernetworking/cni (3f51e88), k8snetworkplumbingwg/sriov-cni and multus-cni. Rows about settings of a device, which only the daemon makes,
are tested with the attach engine: cni_rows.txt names the test of each row. One line per check, "N passed, N failed" last.

run: {build}/rocelet-cni {build}/rocelet
proves: k8s/cni daemon/client docs/reference/rocelet-cni.md
when: turns
needs: root
"""
import concurrent.futures
import contextlib
import json
import os
import random
import re
import signal
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
VERSIONS = ["0.1.0", "0.2.0", "0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0"]
VERBS = ("ADD", "DEL", "CHECK", "GC", "STATUS")
MIB = 1 << 20
programs = {}
checks = []


def check(function):
    checks.append(function)
    return function


def named(name, function):
    function.__name__ = name
    checks.append(function)


def equal(got, wanted):
    assert got == wanted, f"\n  got    {got}\n  wanted {wanted}"


# --- the stand-in for the daemon ---------------------------------------------------------------


def http(document, status=200, length=None):
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    return b"HTTP/1.1 %d X\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % (status, len(body) if length is None else length) + body


class Daemon:
    """answers: {command: bytes to send before the connection is closed, or a function of the request that returns them; None: no answer, ever}."""

    def __init__(self, path, answers, uid=None):
        self.path, self.answers, self.requests, self.heads = path, answers, [], []
        self.done = threading.Event()
        self.server = socket.socket(socket.AF_UNIX)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        self.server.bind(path)
        os.chmod(path, 0o666)
        self.child = None
        if uid is None:
            self.server.listen(64)
            threading.Thread(target=self.accept, daemon=True).start()
        else:
            self.listen_as(uid)

    def listen_as(self, uid):
        """SO_PEERCRED gives the credentials of the process that calls listen()."""
        ready_r, ready_w = os.pipe()
        self.child = os.fork()
        if self.child == 0:
            os.setuid(uid)
            self.server.listen(8)
            os.write(ready_w, b"x")
            signal.pause()
        os.read(ready_r, 1)

    def accept(self):
        while True:
            try:
                one, _ = self.server.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(one,), daemon=True).start()

    def serve(self, one):
        with one:
            data = b""
            while b"\r\n\r\n" not in data:
                data += (got := one.recv(65536))
                if not got:
                    return
            head, body = data.split(b"\r\n\r\n", 1)
            length = next(int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length"))
            while len(body) < length:
                body += (got := one.recv(65536))
                if not got:
                    return
            request = json.loads(body)
            self.heads.append((head.split(b"\r\n")[0].decode(), length))
            self.requests.append(request)
            answer = self.answers.get(request["command"], http({}))
            answer = answer(request) if callable(answer) else answer
            if answer is None:
                self.done.wait(SOON * 3)
            else:
                with contextlib.suppress(OSError):
                    one.sendall(answer)

    def commands(self):
        return [request["command"] for request in self.requests]

    def close(self):
        self.done.set()
        self.server.close()
        if self.child:
            os.kill(self.child, signal.SIGKILL)
            os.waitpid(self.child, 0)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


RESULT = {"interfaces": [{"name": "net1", "mac": "00:11:22:33:44:55", "mtu": 1500, "sandbox": "/netns", "pciID": "8086:9a01"}]}
ADDED = http({"result": RESULT})


# --- the runtime -------------------------------------------------------------------------------


class Netns:
    """A network namespace, by the path that runtimes pass."""

    def __init__(self):
        self.process = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
        self.path = f"/proc/{self.process.pid}/ns/net"
        deadline = time.monotonic() + SOON
        while os.stat(self.path).st_ino == os.stat("/proc/self/ns/net").st_ino:
            assert time.monotonic() < deadline
            time.sleep(0.01)


class Done:
    def __init__(self, status, out, err, seconds):
        self.status, self.out, self.err, self.seconds = status, out, err, seconds

    @property
    def error(self):
        assert self.status == 1, (self.status, self.out, self.err)
        document = json.loads(self.out)
        assert set(document) in ({"code", "msg"}, {"code", "msg", "details"}), document
        for text in (self.out.lower(), self.err.lower()):
            assert b"not found" not in text and b"no such file or directory" not in text, text
        return document

    @property
    def result(self):
        assert self.status == 0, (self.status, self.out, self.err)
        return json.loads(self.out)

    def is_silent(self):
        equal((self.status, self.out), (0, b""))


class Node:
    """A node's folders, and a runtime's calls of the plugin."""
    netns = None

    def __init__(self):
        Node.netns = Node.netns or Netns()
        self.temp = tempfile.TemporaryDirectory()
        self.dir = self.temp.name
        os.chmod(self.dir, 0o755)
        os.makedirs(self.dir + "/state")
        self.socket = self.dir + "/rocelet.sock"
        self.devinfo = self.dir + "/devinfo/cni"

    def daemon(self, uid=None, **answers):
        return Daemon(self.socket, answers, uid)

    def env(self, verb, **changes):
        """None: the variable is absent."""
        env = {"CNI_COMMAND": verb, "CNI_CONTAINERID": "some-container-id", "CNI_NETNS": self.netns.path, "CNI_IFNAME": "net1", "CNI_PATH": "/opt/cni/bin",
               "ROCELET_SOCKET": self.socket, "ROCELET_STATE_DIR": self.dir + "/state", "ROCELET_DEVINFO_DIR": self.devinfo,
               **changes}
        return {key: value for key, value in env.items() if value is not None}

    def run(self, verb, config=None, stdin=None, stdout=subprocess.PIPE, **changes):
        """config: a document or bytes."""
        if config is None:
            config = {"cniVersion": "1.1.0" if verb in ("GC", "STATUS") else "1.0.0", "name": "skel-test", "type": "rocelet-cni"}
        text = config if isinstance(config, bytes) else json.dumps(config).encode()
        began = time.monotonic()
        process = subprocess.Popen([programs["plugin"]], env=self.env(verb, **changes), stdin=subprocess.PIPE if stdin is None else stdin, stdout=stdout,
                                   stderr=subprocess.PIPE)
        out, err = process.communicate(text if stdin is None else None, timeout=SOON * 3)
        return Done(process.returncode, out or b"", err, time.monotonic() - began)

    def queued(self):
        folder = self.dir + "/state/cni/del"
        if not os.path.isdir(folder):
            return []
        equal([name for name in os.listdir(folder) if not name.endswith(".json") or name.startswith(".")], [])
        documents = []
        for name in sorted(os.listdir(folder)):
            with open(f"{folder}/{name}", encoding="utf-8") as f:
                documents.append(json.load(f))
        return documents


def refused(code, msg=None, details=None, verb="ADD", config=None, node=None, **changes):
    """One error object; the daemon receives nothing."""
    node = node or Node()
    with node.daemon(ADD=ADDED) as daemon:
        error = node.run(verb, config, **changes).error
        equal(daemon.requests, [])
    equal(error["code"], code)
    if msg is not None:
        assert msg in error["msg"], error
    if details is not None:
        equal(error.get("details"), details)
    equal(node.queued(), [])


# --- rows 1 to 32: entry rules -----------------------------------------------------------------


@check
def row_1_add_dispatch():
    """skel_test.go:123"""
    node = Node()
    config = {"cniVersion": "0.4.0", "name": "skel-test", "type": "x", "deviceID": "0000:03:00.2", "runtimeConfig": {"mac": "02:00:00:00:00:01"}}
    with node.daemon(ADD=ADDED) as daemon:
        equal(node.run("ADD", config, CNI_ARGS="IgnoreUnknown=1;A=b").result["interfaces"][0]["name"], "net1")
    equal(daemon.requests, [{"command": "ADD", "containerID": "some-container-id", "netns": node.netns.path, "ifname": "net1", "args": "IgnoreUnknown=1;A=b",
                             "path": "/opt/cni/bin", "config": config}])
    equal(daemon.heads[0][0], "POST /api/v1/cni HTTP/1.1")


for variable in ("CONTAINERID", "NETNS", "IFNAME", "PATH"):
    for verb in ("ADD", "CHECK"):
        def missing(verb=verb, variable=variable):
            """skel_test.go:121"""
            for value in (None, ""):
                refused(4, f"required env variables [CNI_{variable}] missing", verb=verb, **{"CNI_" + variable: value})
        named(f"row_2_6_{verb}_without_{variable}", missing)


@check
def row_6_args_may_be_missing():
    """skel_test.go:121"""
    node = Node()
    with node.daemon(ADD=ADDED) as daemon:
        assert node.run("ADD").result
        equal(daemon.requests[0]["args"], "")


@check
def row_7_several_missing():
    """skel_test.go:242"""
    refused(4, "required env variables [CNI_NETNS,CNI_IFNAME,CNI_PATH] missing", CNI_NETNS=None, CNI_IFNAME=None, CNI_PATH=None)
    refused(4, "required env variables [CNI_CONTAINERID,CNI_IFNAME,CNI_PATH] missing", verb="DEL", CNI_CONTAINERID=None, CNI_IFNAME=None, CNI_PATH=None)


@check
def row_8_container_id():
    """skel_test.go:133"""
    for bad in ("some-%%container-id", "-a", ".a", "a/b", "a b", "a\u00e4"):
        for verb in ("ADD", "DEL", "CHECK"):
            refused(4, "invalid characters in containerID", bad, verb=verb, CNI_CONTAINERID=bad)
    node = Node()
    with node.daemon(ADD=ADDED):
        assert node.run("ADD", CNI_CONTAINERID="9a_B.c-d").result


for number, (bad, reason) in enumerate({"1234567890123456": "too long", ".": "is . or ..", "..": "is . or ..", "test/test": "contains /", "test:test": "contains /",
                                      "test test1": "whitespace"}.items(), 9):
    def bad_ifname(bad=bad, reason=reason):
        """skel_test.go:145-205"""
        for verb in ("ADD", "DEL", "CHECK"):
            refused(4, reason, verb=verb, CNI_IFNAME=bad)
    named(f"row_{number}_ifname", bad_ifname)


@check
def row_15_no_version():
    """skel_test.go:264"""
    node = Node()
    with node.daemon(ADD=http({"result": {"ips": [{"address": "192.0.2.1/24"}]}})):
        for config in ({"name": "skel-test"}, {"name": "skel-test", "cniVersion": ""}, {"name": "skel-test", "cniVersion": None}):
            equal(node.run("ADD", config).result, {"cniVersion": "0.1.0", "ip4": {"ip": "192.0.2.1/24"}, "dns": {}})


@check
def row_16_incompatible_version():
    """skel_test.go:278"""
    ours = " ".join(f'"{version}"' for version in VERSIONS)
    for bad in ("4.3.2", "0.5.0", "1.1.1", "1.0", "adsfsadf", "2.0.0"):
        for verb in ("ADD", "DEL"):
            refused(1, "incompatible CNI versions", f'config is "{bad}", plugin supports [{ours}]', verb, {"name": "x", "cniVersion": bad})


@check
def row_17_check_at_0_3_0():
    """skel_test.go:346"""
    for version in ("0.3.0", "0.3.1", "0.1.0", None):
        refused(1, "config version does not allow CHECK", verb="CHECK", config={"name": "x", "cniVersion": version})


@check
def row_18_check_beyond_the_plugin():
    """skel_test.go:358"""
    refused(1, "plugin version does not allow CHECK", verb="CHECK", config={"name": "x", "cniVersion": "9.0.0"})
    refused(1, "plugin version does not allow CHECK", verb="CHECK", config={"name": "x", "cniVersion": "1.1.1"})


@check
def row_19_bad_version():
    """skel_test.go:371"""
    refused(6, verb="CHECK", config={"name": "x", "cniVersion": "adsfsadf"})
    for verb in VERBS:
        refused(6, verb=verb, config={"name": "x", "cniVersion": 4})


@check
def row_20_bad_name():
    """skel_test.go:383"""
    for verb in VERBS:
        for bad in ("te%%st", "-test", "a/b", "\u00e4", "a b"):
            refused(7, "network name", bad, verb=verb, config={"name": bad, "cniVersion": "1.1.0"})
        for none in ({}, {"name": ""}, {"name": None}):
            refused(7, "missing network name", verb=verb, config={"cniVersion": "1.1.0", **none})
        refused(6, verb=verb, config={"name": 1, "cniVersion": "1.1.0"})


for number, (code, config, changes) in enumerate(((4, None, {"CNI_PATH": None}), (1, {"name": "x", "cniVersion": "1.0.0"}, {}),
                                                  (6, {"name": "x", "cniVersion": "adsfsadf"}, {}), (7, {"name": "te%%st", "cniVersion": "1.1.0"}, {})), 21):
    for verb in ("GC", "STATUS"):
        def of_verb(verb=verb, code=code, config=config, changes=changes):
            """skel_test.go:408-517"""
            refused(code, f"config version does not allow {verb}" if code == 1 else None, verb=verb, config=config, **changes)
        named(f"row_{number}_{verb}", of_verb)


@check
def row_21_24_gc_and_status_need_only_a_path():
    """skel_test.go:408"""
    node = Node()
    for verb in ("GC", "STATUS"):
        with node.daemon() as daemon:
            node.run(verb, CNI_CONTAINERID=None, CNI_NETNS=None, CNI_IFNAME=None).is_silent()
            # Values are checked only for verbs that require them.
            node.run(verb, CNI_CONTAINERID="%%", CNI_IFNAME="a/b").is_silent()
            equal(daemon.commands(), [verb, verb])


@check
def row_25_del_without_netns():
    """skel_test.go:532"""
    node = Node()
    for netns in (None, "", "/run/netns/vanished"):
        with node.daemon() as daemon:
            node.run("DEL", CNI_NETNS=netns).is_silent()
            equal((daemon.commands(), daemon.requests[0]["netns"]), (["DEL"], netns or ""))


@check
def row_26_version():
    """skel_test.go:562, :589"""
    node = Node()
    for text in (b"{ broken", b"", b"x" * (2 * MIB)):
        reader, writer = os.pipe()
        os.write(writer, text[:4096])
        done = node.run("VERSION", stdin=reader, CNI_PATH=None, CNI_CONTAINERID=None, CNI_NETNS=None, CNI_IFNAME=None)
        equal(done.result, {"cniVersion": "1.1.0", "supportedVersions": VERSIONS})
        assert done.out.endswith(b"}\n") and done.out.count(b"\n") == 1
        os.close(writer)
        equal(os.read(reader, 8192), text[:4096])
        os.close(reader)


@check
def row_27_unknown_verb():
    """skel_test.go:616"""
    refused(4, "unknown CNI_COMMAND: NOPE", verb="NOPE")
    refused(4, "unknown CNI_COMMAND: add", verb="add")
    refused(6, verb="NOPE", config=b"{")


@check
def row_28_29_blank_verb():
    """skel_test.go:625, :634, :645"""
    for blank in (None, ""):
        done = Node().run(blank)
        equal((done.status, done.out), (0, b""))
        first, second = done.err.decode().splitlines()
        assert first.startswith("CNI plugin rocelet-cni v"), first
        equal(second, "CNI protocol versions supported: " + ", ".join(VERSIONS))


@check
def row_30_stdin_fails():
    """skel_test.go:671"""
    node = Node()
    for verb in VERBS:
        folder = os.open(node.dir, os.O_RDONLY)
        refused(5, "error reading from stdin", verb=verb, stdin=folder, node=node)
        os.close(folder)
    process = subprocess.run(["sh", "-c", 'exec "$0" <&-', programs["plugin"]], env=node.env("ADD"), capture_output=True, timeout=SOON, check=False)
    equal((process.returncode, json.loads(process.stdout)["code"]), (1, 5))


@check
def row_31_32_kinds_of_errors():
    """skel_test.go:690, :705"""
    node = Node()
    for verb in VERBS:
        answers = {verb: http({"error": {"code": 1234, "msg": "oops", "details": "why"}})}
        with node.daemon(**answers) as daemon:
            equal(node.run(verb).error, {"code": 1234, "msg": "oops", "details": "why"})
            equal(daemon.commands(), [verb])
        for error in ({"msg": "oops"}, {"code": None, "msg": "oops"}, {"code": 0, "msg": "oops"}):
            with node.daemon(**{verb: http({"error": error})}):
                equal(node.run(verb).error, {"code": 999, "msg": "oops"})
    equal(node.queued(), [])


# --- rows 33 to 48: results, arguments, GC and STATUS ------------------------------------------

WHOLE = {
    "cniVersion": "1.1.0",
    "interfaces": [{"name": "eth0", "mac": "00:11:22:33:44:55", "mtu": 1500, "sandbox": "/proc/3553/ns/net", "pciID": "8086:9a01", "socketPath": "/path/to/vhost/fd"}],
    "ips": [{"interface": 0, "address": "1.2.3.30/24", "gateway": "1.2.3.1"},
            {"interface": 0, "address": "abcd:1234:ffff::cdde/64", "gateway": "abcd:1234:ffff::1"}],
    "routes": [{"dst": "15.5.6.0/24", "gw": "15.5.6.8"}, {"dst": "1111:dddd::/80", "gw": "1111:dddd::aaaa"},
               {"dst": "10.0.0.0/8", "mtu": 9000, "advmss": 1400, "priority": 10, "table": 50, "scope": 0}],
    "dns": {"nameservers": ["1.2.3.4", "1::cafe"], "domain": "acompany.com", "search": ["somedomain.com"], "options": ["foo"]},
}


def golden(version):
    """The output of containernetworking/cni, from its types/020, 040 and 100 *_test.go."""
    if version in ("0.1.0", "0.2.0"):
        return {"cniVersion": version, "dns": WHOLE["dns"],
                "ip4": {"ip": "1.2.3.30/24", "gateway": "1.2.3.1", "routes": [{"dst": "15.5.6.0/24", "gw": "15.5.6.8"}, {"dst": "10.0.0.0/8"}]},
                "ip6": {"ip": "abcd:1234:ffff::cdde/64", "gateway": "abcd:1234:ffff::1", "routes": [{"dst": "1111:dddd::/80", "gw": "1111:dddd::aaaa"}]}}
    if version in ("0.3.0", "0.3.1", "0.4.0"):
        return {**WHOLE, "cniVersion": version, "interfaces": [{key: WHOLE["interfaces"][0][key] for key in ("name", "mac", "sandbox")}],
                "ips": [{"version": "6" if ":" in ip["address"] else "4", **ip} for ip in WHOLE["ips"]]}
    return {**WHOLE, "cniVersion": version}


for number, version in enumerate(VERSIONS, 33):
    def result_of(version=version):
        """types/020/types_test.go, types/040/types_test.go, types/100/types_test.go"""
        node = Node()
        config = {"cniVersion": version, "name": "x", "type": "sriov"}
        with node.daemon(ADD=http({"result": {key: value for key, value in WHOLE.items() if key != "cniVersion"}})):
            equal(node.run("ADD", config).result, golden(version))
        # An empty dns is printed up to 0.4.0.
        with node.daemon(ADD=http({"result": {"ips": [{"address": "1.2.3.30/24"}]}})):
            wanted = {"cniVersion": version, "ip4": {"ip": "1.2.3.30/24"}, "dns": {}} if version < "0.3" else {
                "cniVersion": version, "ips": [{"address": "1.2.3.30/24", **({"version": "4"} if version < "1" else {})}], **({"dns": {}} if version < "1" else {})}
            equal(node.run("ADD", config).result, wanted)
    named(f"row_{number}_result_{version}", result_of)


@check
def row_40_no_address_at_0_2_0():
    """types/020/types.go: a result that the version cannot express is an error, and the ADD is undone"""
    for version in ("0.1.0", "0.2.0"):
        node = Node()
        with node.daemon(ADD=ADDED) as daemon:
            error = node.run("ADD", {"cniVersion": version, "name": "x"}).error
            equal((error["code"], daemon.commands()), (999, ["ADD", "DEL"]))
            assert "no valid IP addresses" in error["msg"] and "rolled back" in error["details"], error


@check
def row_41_44_args():
    """args_test.go"""
    node = Node()
    for good in ("IgnoreUnknown=1;A=b", "A=b;IgnoreUnknown=TRUE", "IgnoreUnknown=True;A=b", "IP=192.0.2.9/24", "IgnoreUnknown=false;MAC=02:00:00:00:00:01",
                 "IgnoreUnknown=0", "IgnoreUnknown=true;K8S_POD_NAMESPACE=a;K8S_POD_NAME=b;K8S_POD_INFRA_CONTAINER_ID=c;K8S_POD_UID=d", "MAC=", ""):
        with node.daemon(ADD=ADDED, CHECK=http({})) as daemon:
            assert node.run("ADD", CNI_ARGS=good).result
            node.run("CHECK", CNI_ARGS=good).is_silent()
            equal([request["args"] for request in daemon.requests], [good, good])
    for bad in ("A=b", "IP=1=2", "IgnoreUnknown=1;IP=1=2", "IgnoreUnknown=maybe", "IgnoreUnknown=false;A=b", "IP", "IP=1;", ";", "IgnoreUnknown=1;;A=b"):
        refused(4, "ARGS", CNI_ARGS=bad)
        refused(4, "ARGS", verb="CHECK", CNI_ARGS=bad)
        # A DEL ignores mistakes in arguments that it does not need.
        with node.daemon() as daemon:
            node.run("DEL", CNI_ARGS=bad).is_silent()


class Libcni:
    """libcni's api.go: a list of plugins, the cache, and the order of calls. Plugins other than ours are functions of (verb, config)."""

    def __init__(self, node, conflist, cap=None):
        self.node, self.list, self.cap, self.cache = node, conflist, cap or {}, {}

    def config(self, plugin, previous, container, verb):
        config = {"cniVersion": self.list["cniVersion"], "name": self.list["name"], **{key: value for key, value in plugin.items() if key != "run"}}
        if previous is not None:
            config["prevResult"] = previous
        capabilities = {key: value for key, value in self.cap.items() if plugin.get("capabilities", {}).get(key)}
        if capabilities and verb not in ("GC", "STATUS"):
            config["runtimeConfig"] = capabilities
        return config

    def call(self, verb, plugin, config, container, **changes):
        if "run" in plugin:
            return plugin["run"](verb, config)
        done = self.node.run(verb, config, CNI_CONTAINERID=container, CNI_IFNAME="net1", **changes)
        return done.result if verb == "ADD" else done.is_silent()

    def add(self, container, **changes):
        previous = None
        for plugin in self.list["plugins"]:
            previous = self.call("ADD", plugin, self.config(plugin, previous, container, "ADD"), container, **changes)
        self.cache[container] = previous
        return previous

    def check(self, container):
        if str(self.list.get("disableCheck", False)).lower() == "true":
            return
        for plugin in self.list["plugins"]:
            self.call("CHECK", plugin, self.config(plugin, self.cache[container], container, "CHECK"), container)

    def delete(self, container, **changes):
        previous = self.cache.get(container) if self.list["cniVersion"] >= "0.4.0" else None
        for plugin in reversed(self.list["plugins"]):
            self.call("DEL", plugin, self.config(plugin, previous, container, "DEL"), container, **changes)
        self.cache.pop(container, None)

    def gc(self, valid):
        """valid: container IDs; None: the caller has no list."""
        if self.list.get("disableGC"):
            return
        for container in [c for c in self.cache if c not in (valid or [])]:
            self.delete(container)
        attachments = valid if valid is None else [{"containerID": c, "ifname": "net1"} for c in valid]
        for plugin in self.list["plugins"]:
            config = {**self.config(plugin, None, None, "GC"), "cni.dev/valid-attachments": attachments, "cni.dev/attachments": attachments}
            self.call("GC", plugin, config, None)

    def status(self):
        """The first error, or None."""
        for plugin in self.list["plugins"]:
            config = self.config(plugin, None, None, "STATUS")
            if "run" in plugin:
                plugin["run"]("STATUS", config)
                continue
            done = self.node.run("STATUS", config, CNI_CONTAINERID=None, CNI_NETNS=None, CNI_IFNAME=None)
            if done.status:
                return done.error
            done.is_silent()
        return None


def sriov_list(version="1.1.0", *others, **members):
    return {"cniVersion": version, "name": "roce", "plugins": [{"type": "sriov", "deviceID": "0000:03:00.2", **members}, *others]}


@check
def row_45_gc_sequence():
    """libcni/api_test.go:1540-1600"""
    for disabled, valid, wanted in ((True, [], []), (False, ["kept"], ["GC"]), (False, [], ["DEL", "GC"])):
        node = Node()
        runtime = Libcni(node, {**sriov_list(), "disableGC": disabled})
        with node.daemon(ADD=ADDED) as daemon:
            runtime.add("kept")
            del daemon.requests[:]
            runtime.gc(valid)
            equal(daemon.commands(), wanted)
            for request in daemon.requests:
                if request["command"] == "GC":
                    attachments = [{"containerID": c, "ifname": "net1"} for c in valid]
                    equal([request["config"][key] for key in ("cni.dev/valid-attachments", "cni.dev/attachments")], [attachments] * 2)


@check
def row_46_status_stops():
    """libcni/api_test.go"""
    node, called = Node(), []
    other = {"type": "other", "run": lambda verb, config: called.append(verb)}
    with node.daemon(STATUS=http({"error": {"code": 50, "msg": "no journal"}})):
        equal(Libcni(node, sriov_list("1.1.0", other)).status(), {"code": 50, "msg": "no journal"})
    equal(called, [])
    with node.daemon():
        equal(Libcni(node, sriov_list("1.1.0", other)).status(), None)
    equal(called, ["STATUS"])


@check
def row_47_48_gc_without_a_list():
    """Null and absent reach the daemon unchanged; an unknown list differs from an empty one."""
    node = Node()
    base = {"cniVersion": "1.1.0", "name": "roce", "type": "rocelet-cni"}
    for keys in ({}, {"cni.dev/valid-attachments": None, "cni.dev/attachments": None}):
        with node.daemon() as daemon:
            node.run("GC", {**base, **keys}).is_silent()
            equal(daemon.requests[0]["config"], {**base, **keys})


@check
def row_49_50_configurations():
    """sriov pkg/config/config_test.go:22, :40, :58"""
    node = Node()
    for text in (b"{ broken", b"", b"[]", b"null", b"3", b'"x"', b'{"name":"x"} trailing', b"\xff\xfe", b"\0", b'{"name":"x","a":"\\ud800"}', b"[" * 100000):
        for verb in VERBS:
            refused(6, verb=verb, config=text, node=node)
    config = {"cniVersion": "1.0.0", "name": "mynet", "type": "sriov", "deviceID": "0000:af:06.1", "vf": 0}
    with node.daemon(ADD=http({"error": {"code": 7, "msg": "deviceID is required"}})) as daemon:
        equal(node.run("ADD", config).error["code"], 7)
        equal(daemon.requests[0]["config"], config)


@check
def row_64_67_mac_in_the_result():
    """sriov pkg/config/config_test.go:183-216"""
    node = Node()
    for mac in ("60:00:00:00:00:e1", "", None):
        with node.daemon(ADD=http({"result": {"interfaces": [{"name": "net1", "mac": mac, "sandbox": "/netns"}]}})):
            equal(node.run("ADD").result["interfaces"], [{"name": "net1", **({"mac": mac} if mac else {}), "sandbox": "/netns"}])


# --- rows 125 to 130: runtimes -----------------------------------------------------------------


@check
def row_125_cri_o():
    """ADD, CHECK at once, CHECK at pod status"""
    for version in ("0.4.0", "1.0.0", "1.1.0"):
        node = Node()
        runtime = Libcni(node, sriov_list(version))
        with node.daemon(ADD=ADDED) as daemon:
            result = runtime.add("sandbox-1")
            runtime.check("sandbox-1")
            runtime.check("sandbox-1")
            runtime.delete("sandbox-1")
            equal(daemon.commands(), ["ADD", "CHECK", "CHECK", "DEL"])
            equal([request["config"].get("prevResult") for request in daemon.requests[1:]], [result] * 3)


class Multus(Libcni):
    """One delegate of multus-cni 4.3: pkg/multus/multus.go, pkg/types/conf.go."""
    ARGS = "IgnoreUnknown=true;K8S_POD_NAMESPACE=default;K8S_POD_NAME=pod-1;K8S_POD_INFRA_CONTAINER_ID=sandbox-1;K8S_POD_UID=0b4c"

    def __init__(self, node, conflist, device, cap=None):
        self.device = device
        super().__init__(node, conflist, {"deviceID": device, "CNIDeviceInfoFile": node.devinfo + "/roce-sandbox-1_net1", **(cap or {})})
        for plugin in conflist["plugins"]:
            plugin.setdefault("deviceID", device)
            plugin.setdefault("pciBusID", device)

    def add(self, container, **changes):
        return super().add(container, CNI_ARGS=self.ARGS, **changes)

    def lossy_delete(self, container):
        """multus-cni#1449: before 4.3.1 the cache of a conflist has lost most keys."""
        for plugin in reversed(self.list["plugins"]):
            config = {"cniVersion": self.list["cniVersion"], "name": self.list["name"], "type": plugin["type"], "ipam": {}, "dns": {}}
            self.call("DEL", plugin, config, container, CNI_ARGS=self.ARGS)


@check
def multus_delegate():
    """multus-cni pkg/types/conf.go: injected keys, capabilities and arguments reach the daemon."""
    node = Node()
    conflist = {"cniVersion": "1.0.0", "name": "roce", "plugins": [{"type": "sriov", "vlan": 100, "capabilities": {"mac": True, "ips": True, "deviceID": True,
                                                                                                                    "CNIDeviceInfoFile": True}}]}
    runtime = Multus(node, conflist, "0000:03:00.2", {"mac": "02:00:00:00:00:01", "ips": ["192.0.2.9/24"], "portMappings": []})
    with node.daemon(ADD=ADDED) as daemon:
        runtime.add("sandbox-1")
    request = daemon.requests[0]
    equal(request["args"], Multus.ARGS)
    equal([request["config"][key] for key in ("deviceID", "pciBusID", "vlan")], ["0000:03:00.2", "0000:03:00.2", 100])
    equal(request["config"]["runtimeConfig"], {"deviceID": "0000:03:00.2", "CNIDeviceInfoFile": node.devinfo + "/roce-sandbox-1_net1",
                                               "mac": "02:00:00:00:00:01", "ips": ["192.0.2.9/24"]})


@check
def row_126_lossy_del():
    """multus-cni#1449"""
    node = Node()
    runtime = Multus(node, sriov_list("1.0.0"), "0000:03:00.2")
    with node.daemon(ADD=ADDED) as daemon:
        runtime.add("sandbox-1")
        runtime.lossy_delete("sandbox-1")
    request = daemon.requests[1]
    equal([request[key] for key in ("command", "containerID", "ifname")], ["DEL", "sandbox-1", "net1"])
    assert "deviceID" not in request["config"]


@check
def row_127_del_texts():
    """containerd internal/cri/server/sandbox_stop.go takes these texts for success."""
    node = Node()
    for text in ("link not found", "open /run/x: no such file or directory", "No Such File or Directory: Not Found not found", "No such file or directory" * 40,
                 "link n\not found", "not\nfound", "n\no such file or directory"):
        with node.daemon(DEL=http({"error": {"code": 999, "msg": text, "details": text}})):
            error = node.run("DEL").error  # which checks the texts
            assert error["msg"] and error["details"]


@check
def row_129_chain():
    """Before and after other plugins: prevResult is passed on, in every version."""
    previous = {
        "0.2.0": {"ip4": {"ip": "10.1.0.5/16", "gateway": "10.1.0.1", "routes": [{"dst": "0.0.0.0/0"}]}, "dns": {"nameservers": ["10.1.0.1"]}},
        "0.4.0": {"interfaces": [{"name": "cni0"}, {"name": "eth0", "sandbox": "/netns"}], "dns": {},
                  "ips": [{"version": "4", "interface": 1, "address": "10.1.0.5/16", "gateway": "10.1.0.1"}], "routes": [{"dst": "0.0.0.0/0"}]},
        "1.1.0": {"interfaces": [{"name": "cni0"}, {"name": "eth0", "sandbox": "/netns", "mtu": 1450}],
                  "ips": [{"interface": 1, "address": "10.1.0.5/16", "gateway": "10.1.0.1"}], "routes": [{"dst": "0.0.0.0/0", "mtu": 1400}]},
    }
    ours = {"interfaces": [{"name": "net1", "mac": "02:00:00:00:00:01", "sandbox": "/netns"}], "ips": [{"interface": 0, "address": "192.0.2.9/24"}]}
    for version, before in previous.items():
        node = Node()
        first = {"type": "first", "run": lambda verb, config, before=before: {"cniVersion": config["cniVersion"], **before}}
        last = {"type": "tuning", "run": lambda verb, config: config.get("prevResult")}
        conflist = {"cniVersion": version, "name": "roce", "plugins": [first, {"type": "sriov"}, last]}
        # No part appears twice, whether or not the daemon repeats the previous plugin's part.
        whole = {"interfaces": before.get("interfaces", []) + ours["interfaces"], "routes": before.get("routes", []), "ips": [
            *before.get("ips", [{"address": "10.1.0.5/16", "gateway": "10.1.0.1"}]),
            {"interface": len(before.get("interfaces", [])), "address": "192.0.2.9/24"}]}
        results = []
        for result in (ours, whole):
            with node.daemon(ADD=http({"result": result})) as daemon:
                results.append(Libcni(node, conflist).add("sandbox-1"))
                equal(daemon.requests[0]["config"]["prevResult"], {"cniVersion": version, **before})
        if version == "0.2.0":
            equal(results[0], {"cniVersion": version, **before})
            continue
        equal(results[0], results[1])
        equal([i["name"] for i in results[0]["interfaces"]], ["cni0", "eth0", "net1"])
        equal([(ip["interface"], ip["address"]) for ip in results[0]["ips"]], [(1, "10.1.0.5/16"), (2, "192.0.2.9/24")])
        equal(results[0]["routes"], before["routes"])


@check
def row_130_unknown_keys():
    """SPEC.md, appendix: dbnet"""
    node = Node()
    config = {"cniVersion": "1.1.0", "name": "dbnet", "type": "sriov", "bridge": "cni0", "keyA": ["some more", "plugin specific", "configuration"],
              "ipam": {"type": "host-local", "subnet": "10.1.0.0/16"}, "dns": {"nameservers": ["10.1.0.1"]}, "args": {"labels": {"appVersion": "1.0"}},
              "capabilities": {"portMappings": True, "x": 1}}
    with node.daemon(ADD=ADDED) as daemon:
        assert node.run("ADD", config, TRACEPARENT="00-x", BAGGAGE="a=b", CNI_NOT_YET_INVENTED="1").result
        equal(daemon.requests[0]["config"], config)


@check
def documented_configurations():
    """Before and after other plugins: the daemon gets its own plugin's part of the list only."""
    n_blocks = 0
    for page in ("start/migration.md", "reference/rocelet-cni.md"):
        with open(f"{HERE}/../../docs/{page}", encoding="utf-8") as f:
            blocks = [json.loads(text) for text in re.findall(r"^```json\n(.*?)^```", f.read(), re.M | re.S) if '"cniVersion"' in text]
        for block in blocks:
            n_blocks += 1
            plugins = block.get("plugins") or [{key: value for key, value in block.items() if key not in ("cniVersion", "name")}]
            ours = [plugin for plugin in plugins if plugin["type"] in ("rocelet-cni", "sriov", "ib-sriov", "rdma", "host-device")]
            for plugin in plugins:
                if plugin not in ours:
                    plugin["run"] = lambda verb, config: config.get("prevResult")
            node = Node()
            runtime = Multus(node, {**block, "plugins": plugins}, "0000:03:00.2")
            with node.daemon(ADD=ADDED) as daemon:
                equal([i["name"] for i in runtime.add("sandbox-1")["interfaces"]], ["net1"])
                runtime.check("sandbox-1") if block["cniVersion"] >= "0.4" else None
                runtime.delete("sandbox-1")
                verbs = ["ADD", "CHECK", "DEL"] if block["cniVersion"] >= "0.4" else ["ADD", "DEL"]
                equal(sorted(daemon.commands()), sorted(verbs * len(ours)))
                for plugin, request in zip(ours, daemon.requests):
                    assert plugin.items() <= request["config"].items(), (plugin, request["config"])
    equal(n_blocks, 7)


# --- device-info -------------------------------------------------------------------------------

INFO = {"type": "pci", "version": "1.1.0", "pci": {"pci-address": "0000:03:00.2", "pf-pci-address": "0000:03:00.0", "rdma-device": "mlx5_2"}}


class DeviceInfo:
    """A runtime that requests the file, as Multus does: network-attachment-definition-client pkg/utils/cniconfig.go."""

    def __init__(self, name="default-roce-some-container-id_net1", answer=None):
        self.node = Node()
        self.path = f"{self.node.devinfo}/{name}"
        self.answer = {"result": RESULT, "deviceInfo": INFO} if answer is None else answer

    def config(self, path=None):
        return {"cniVersion": "1.0.0", "name": "roce", "type": "sriov", "runtimeConfig": {"CNIDeviceInfoFile": self.path if path is None else path}}

    def add(self, **changes):
        with self.node.daemon(ADD=http(self.answer)) as daemon:
            done = self.node.run("ADD", self.config(), **changes)
            self.commands = daemon.commands()
        return done

    def put(self, text):
        os.makedirs(self.node.devinfo, exist_ok=True)
        with open(self.path, "w", encoding="utf-8") as f:
            f.write(text)

    def names(self):
        return os.listdir(self.node.devinfo) if os.path.isdir(self.node.devinfo) else []

    def read(self):
        with open(self.path, encoding="utf-8") as f:
            return json.load(f)


@check
def device_info_is_written_and_removed():
    """Written atomically and readable by all, before ADD prints its result; removed by DEL, with or without a daemon."""
    info = DeviceInfo()
    equal(info.add().result["interfaces"][0]["name"], "net1")
    equal((info.read(), info.names()), (INFO, [os.path.basename(info.path)]))
    equal(os.stat(info.path).st_mode & 0o777, 0o444)
    # A killed plugin's partial file is removed, too.
    part = f"{info.node.devinfo}/.{os.path.basename(info.path)}"
    for whole in (False, True):
        with open(part, "wb") as f:
            f.write(b"{")
        os.chmod(part, 0o444)
        if whole:
            break
        os.unlink(info.path)
        equal((info.add().status, info.names()), (0, [os.path.basename(info.path)]))
    with info.node.daemon():
        info.node.run("DEL", info.config()).is_silent()
    equal(info.names(), [])
    info.add()
    os.unlink(info.node.socket)
    info.node.run("DEL", info.config()).is_silent()
    equal((info.names(), len(info.node.queued())), ([], 1))


@check
def existing_device_info_is_kept_or_replaced():
    """A file that Multus copied from the device plugin stays, as it has more; one of another device, or an invalid one, is replaced."""
    for text, kept in ((json.dumps({**INFO, "pci": {**INFO["pci"], "vhost-net": "/dev/vhost-net"}}), True), (json.dumps({**INFO, "pci": {"pci-address": "0000:09:00.0"}}), False),
                       ("", False), ("[]", False), ('{"type": "pci", "pci": 3}', False), ("{", False), ("x" * 100000, False)):
        info = DeviceInfo()
        info.put(text)
        equal(info.add().status, 0)
        equal(info.read(), json.loads(text) if kept else INFO)
    for make in (lambda path: os.symlink("/etc/passwd", path), os.mkfifo):
        info = DeviceInfo()
        os.makedirs(info.node.devinfo)
        make(info.path)
        equal(info.add().status, 0)
        assert not os.path.islink(info.path) and info.read() == INFO


@check
def device_info_of_a_sub_function():
    """The format has no sub-functions: no file, no error. The same without the capability."""
    info = DeviceInfo(answer={"result": RESULT})
    equal((info.add().status, info.names()), (0, []))
    info = DeviceInfo()
    with info.node.daemon(ADD=http(info.answer)):
        for path in ("", None):
            config = {**info.config(), "runtimeConfig": {"CNIDeviceInfoFile": path}}
            equal(info.node.run("ADD", config).status, 0)
    equal(info.names(), [])


@check
def device_info_elsewhere():
    """The author of the configuration must not choose where root writes, nor another pod's file: nothing is sent, nothing is written. A DEL works."""
    info = DeviceInfo()
    folder, right = info.node.devinfo, os.path.basename(info.path)
    os.makedirs(folder + "/sub")
    others = folder + "/default-roce-other_net1"
    with open(others, "wb") as f:
        f.write(b"{}")
    for bad in ("/etc/passwd", "relative-some-container-id_net1", f"{folder}/sub/{right}", f"{folder}/../{right}", f"{folder}//{right}", folder, folder + "/", f"{folder}/.{right}",
                folder + "x/" + right, others, f"{folder}/roce-some-container-id_net2", f"{folder}/-some-container-id_net1", f"{folder}/{'x' * 240}-some-container-id_net1", 3, ["x"],
                {"a": 1}, f"{folder}/a\n-some-container-id_net1/.."):
        refused(7, "runtimeConfig.CNIDeviceInfoFile: is not ", config=info.config(bad), node=info.node)
        with info.node.daemon() as daemon:
            info.node.run("DEL", info.config(bad)).is_silent()
            equal(daemon.commands(), ["DEL"])
    equal(sorted(info.names()), sorted(["sub", os.path.basename(others)]))


@check
def device_info_that_cannot_be_written():
    """The ADD is rolled back, with one sentence."""
    info = DeviceInfo()
    os.makedirs(os.path.dirname(info.node.devinfo))
    with open(info.node.devinfo, "wb"):
        pass
    error = info.add().error
    equal((error["code"], info.commands), (5, ["ADD", "DEL"]))
    assert "cannot write " in error["msg"] and "ENOTDIR" in error["msg"] and "rolled back" in error["details"], error
    with open("/dev/full", "wb", buffering=0) as full:
        info = DeviceInfo()
        equal((info.add(stdout=full).status, info.commands, info.names()), (1, ["ADD", "DEL"], []))


# --- namespaces --------------------------------------------------------------------------------


@check
def own_netns():
    """Code 8 before anything is configured; a DEL works all the same."""
    node = Node()
    for verb in ("ADD", "CHECK"):
        refused(8, "should not be the same", verb=verb, CNI_NETNS="/proc/self/ns/net", node=node)
        for yes in ("1", "TRUE", "true"):
            with node.daemon(ADD=ADDED) as daemon:
                equal(node.run(verb, CNI_NETNS="/proc/self/ns/net", CNI_NETNS_OVERRIDE=yes).status, 0)
        refused(8, verb=verb, CNI_NETNS="/proc/self/ns/net", CNI_NETNS_OVERRIDE="0", node=node)
    with node.daemon() as daemon:
        node.run("DEL", CNI_NETNS="/proc/self/ns/net").is_silent()
        equal(daemon.commands(), ["DEL"])


@check
def netns_that_is_invalid():
    """A file, a device node, a pipe that would block, another kind of namespace, and a missing path."""
    node = Node()
    os.mkfifo(node.dir + "/pipe")
    for path in (node.dir, programs["plugin"], "/dev/null", "/dev/zero", node.dir + "/pipe", "/proc/self/ns/mnt", "/proc/self/ns/user"):
        for verb in ("ADD", "CHECK"):
            refused(8, "is not a network namespace", verb=verb, CNI_NETNS=path, node=node)
    refused(8, "ENOENT", CNI_NETNS=node.dir + "/absent", node=node)
    refused(8, "ENAMETOOLONG", CNI_NETNS="/" + "x" * 5000, node=node)


# --- an ADD that ends badly --------------------------------------------------------------------


def undone(answer, code, words, stdout=subprocess.PIPE, after=http({}), version="1.0.0"):
    node = Node()
    with node.daemon(ADD=answer, DEL=after) as daemon:
        done = node.run("ADD", {"cniVersion": version, "name": "x", "deviceID": "0000:03:00.2"}, stdout=stdout)
        equal(daemon.commands(), ["ADD", "DEL"])
        equal({**daemon.requests[0], "command": "DEL"}, daemon.requests[1])
    equal(done.status, 1)
    if stdout != subprocess.PIPE:
        assert words in done.err.decode(), done.err
        return
    error = done.error
    assert error["code"] == code and words in error["msg"] and "not rocelet" not in done.out.decode(), error
    assert "rolled back" in error["details"], error


@check
def add_whose_connection_is_cut():
    for answer in (b"", b"HTTP/1.1 200 OK\r\n", ADDED[:-10]):
        undone(answer, 11, "the connection to rocelet ended")


@check
def add_whose_answer_is_malformed():
    for answer in (b"SSH-2.0-x\r\n\r\n", http(b"not JSON"), http([]), http({"result": RESULT}, 500)):
        undone(answer, 999, "rocelet")
    for result in (None, [], "x", {"ips": [{}]}, {"ips": [{"address": 3}]}, {"ips": [{"address": "192.0.2.1/24", "interface": "x"}]}, {"interfaces": [{"mac": "x"}]},
                   {"interfaces": {}}, {"routes": [{"gw": "192.0.2.1"}]}, {"dns": []}, {"dns": {"search": [1]}}):
        undone(http({"result": result}), 6, "rocelet's result")
    undone(http({}), 6, "rocelet's result")


@check
def add_whose_result_cannot_be_printed():
    """The disk or pipe of the runtime is full, or the runtime has exited."""
    with open("/dev/full", "wb", buffering=0) as full:
        undone(ADDED, 5, "cannot write the result", stdout=full)
    reader, writer = os.pipe()
    os.close(reader)
    undone(ADDED, 5, "cannot write the result", stdout=writer)
    os.close(writer)
    node = Node()
    with node.daemon(ADD=ADDED) as daemon:
        process = subprocess.run(["sh", "-c", 'exec "$0" >&-', programs["plugin"]], env=node.env("ADD"), input=b'{"name":"x","cniVersion":"1.0.0"}',
                                 capture_output=True, timeout=SOON, check=False)
        equal((process.returncode, daemon.commands()), (1, ["ADD", "DEL"]))


@check
def add_that_cannot_be_undone_at_once():
    """The daemon has exited before the DEL, too: it is queued."""
    node = Node()
    with node.daemon() as daemon:
        def leave(_):
            daemon.server.close()
            os.unlink(node.socket)
            return b""
        daemon.answers["ADD"] = leave
        error = node.run("ADD").error
        equal(error["code"], 11)
        assert "the connection to rocelet ended" in error["msg"], error
    equal([(request["command"], request["containerID"], request["ifname"]) for request in node.queued()], [("DEL", "some-container-id", "net1")])


@check
def del_that_the_daemon_cannot_do_now():
    """Queued: CRI-O does not send a DEL again. Other errors are returned to the runtime."""
    for code, queued in ((11, True), (50, True), (100, False)):
        node = Node()
        with node.daemon(DEL=http({"error": {"code": code, "msg": "it cannot be done now"}})):
            done = node.run("DEL")
        equal((done.status, len(node.queued())), (0, 1) if queued else (1, 0))


@check
def add_that_the_daemon_refuses():
    """After an error the daemon has cleaned up itself; before it has read the request, there is nothing to undo. Code 11 may mean that it was stopped half-way."""
    node = Node()
    with node.daemon(ADD=http({"error": {"code": 11, "msg": "rocelet is stopping"}})) as daemon:
        error = node.run("ADD").error
        equal((error["code"], daemon.commands()), (11, ["ADD", "DEL"]))
        assert "rolled back" in error["details"], error
    for answer, code in ((http({"error": {"code": 102, "msg": "another pod has it"}}), 102), (http({"error": "busy"}, 503), 11), (http({"error": "?"}, 400), 999),
                         (http(b"", 404), 999)):
        with node.daemon(ADD=answer) as daemon:
            error = node.run("ADD").error
            equal((error["code"], daemon.commands()), (code, ["ADD"]))
    equal(node.queued(), [])


@check
def add_with_a_bad_previous_result():
    """Checked before the request is sent."""
    for bad in ("x", [], 3, {"ips": [{}]}, {"interfaces": 3}):
        refused(6, "prevResult", config={"cniVersion": "1.0.0", "name": "x", "prevResult": bad})
    for family in ({}, "x", {"ip": 7}, {"ip": ""}, {"ip": "192.0.2.1/24", "gateway": ["192.0.2.254"]}, {"ip": "192.0.2.1/24", "routes": [{}]}):
        refused(6, "prevResult", config={"cniVersion": "0.2.0", "name": "x", "prevResult": {"ip4": family}})
    node = Node()
    for bad in ("x", [], 3):
        with node.daemon():
            node.run("DEL", {"cniVersion": "1.0.0", "name": "x", "prevResult": bad}).is_silent()


@check
def nulls_in_results():
    """The Go library writes null and -1 for a missing interface."""
    node = Node()
    parts = {"ips": [{"interface": None, "address": "192.0.2.1/24", "gateway": None}, {"interface": -1, "address": "192.0.2.2/24"},
                     {"interface": 0, "address": "192.0.2.3/24"}], "dns": None, "routes": None, "interfaces": [{"name": "net1", "mac": None, "mtu": 0}]}
    wanted = [{"address": "192.0.2.1/24"}, {"address": "192.0.2.2/24"}, {"interface": 0, "address": "192.0.2.3/24"}]
    with node.daemon(ADD=http({"result": parts})):
        equal(node.run("ADD").result["ips"], wanted)
    with node.daemon(ADD=http({"result": {"dns": None, "interfaces": None, "ips": None}})):
        result = node.run("ADD", {"cniVersion": "1.0.0", "name": "x", "prevResult": parts}).result
        equal((result["ips"], result.get("dns")), (wanted, None))


# --- a DEL that must not be lost ---------------------------------------------------------------


def del_is_queued(node, config=None, **changes):
    before = len(node.queued())
    done = node.run("DEL", config, **changes)
    done.is_silent()
    queue = node.queued()
    equal(len(queue), before + 1)
    return done


@check
def del_without_a_daemon():
    """No socket, one without a server, a cut connection, a malformed answer: the DEL is queued, and the pod ends."""
    node = Node()
    config = {"cniVersion": "1.0.0", "name": "x", "type": "sriov", "deviceID": "0000:03:00.2"}
    assert del_is_queued(node, config, CNI_NETNS="").seconds < 5
    equal(node.queued(), [{"command": "DEL", "containerID": "some-container-id", "netns": "", "ifname": "net1", "args": "", "path": "/opt/cni/bin",
                           "config": config}])
    lone = socket.socket(socket.AF_UNIX)
    lone.bind(node.socket)
    assert del_is_queued(node).seconds < 5
    lone.close()
    for answer in (b"", ADDED[:20], b"garbage\r\n\r\n", http(b"not JSON"), http({}, 500), http({}, 404), http({"error": "busy"}, 503)):
        with node.daemon(DEL=answer):
            del_is_queued(node)
    names = os.listdir(node.dir + "/state/cni/del")
    equal(len({name[:8] for name in names}), 9)
    for folder in ("cni", "cni/del"):
        equal(os.stat(f"{node.dir}/state/{folder}").st_mode & 0o777, 0o700)
    equal({os.stat(f"{node.dir}/state/cni/del/{name}").st_mode & 0o777 for name in names}, {0o600})


@check
def del_of_a_state_folder_that_is_absent():
    node = Node()
    state = node.dir + "/a/b"
    node.run("DEL", ROCELET_STATE_DIR=state).is_silent()
    equal(len(os.listdir(state + "/cni/del")), 1)


@check
def del_that_cannot_be_queued():
    """Links, folders of others, a full or absent place: an error, and nothing is written elsewhere."""
    def broken(prepare, words):
        node = Node()
        state = node.dir + "/state"
        prepare(state)
        error = node.run("DEL").error
        assert error["code"] == 11 and words in error["msg"], error
        equal(os.listdir(node.dir + "/elsewhere") if os.path.isdir(node.dir + "/elsewhere") else [], [])

    def link(name):
        def prepare(state):
            os.makedirs(os.path.dirname(state) + "/elsewhere")
            os.makedirs(os.path.dirname(f"{state}/{name}"), exist_ok=True)
            os.symlink(os.path.dirname(state) + "/elsewhere", f"{state}/{name}")
        return prepare

    def writable(state):
        os.makedirs(state + "/cni/del")
        os.chmod(state + "/cni/del", 0o777)

    def foreign(state):
        os.makedirs(state + "/cni/del")
        os.chown(state + "/cni", 1000, 1000)

    def file(state):
        os.makedirs(state + "/cni")
        with open(state + "/cni/del", "wb"):
            pass
    broken(link("cni"), "cni")
    broken(link("cni/del"), "del")
    broken(writable, "users other than root")
    broken(foreign, "users other than root")
    broken(file, "ENOTDIR")


@check
def del_in_parallel():
    """Sixteen at once without a daemon, each has its file."""
    node = Node()
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        for done in pool.map(lambda i: node.run("DEL", CNI_CONTAINERID=f"c{i}"), range(16)):
            done.is_silent()
    equal(sorted(request["containerID"] for request in node.queued()), sorted(f"c{i}" for i in range(16)))


@check
def long_configurations():
    """Over 1 MiB: one error of code 6, but a DEL works by container ID and interface name."""
    node = Node()
    base = {"cniVersion": "1.1.0", "name": "x", "type": "sriov", "deviceID": "0000:03:00.2"}
    texts = (json.dumps({**base, "unknown": "x" * 2 * MIB}).encode(), b"x" * 10 * MIB, json.dumps({**base, "a": "x" * 10 * MIB}).encode(), b"[" * 2 * MIB,
             json.dumps({"name": "%%", "a": "x" * 2 * MIB}).encode(), json.dumps({"a": "x" * 2 * MIB}).encode())
    for text in texts:
        for verb in ("ADD", "CHECK", "GC", "STATUS"):
            refused(6, "exceeds 1048576 bytes", verb=verb, config=text, node=node)
        with node.daemon() as daemon:
            node.run("DEL", text).is_silent()
            equal([(r["command"], r["containerID"], r["ifname"]) for r in daemon.requests], [("DEL", "some-container-id", "net1")])
            assert daemon.heads[0][1] <= MIB
    for keep in ({"prevResult": {"x": "y" * MIB}}, {"unknown": "y" * MIB}):
        with node.daemon() as daemon:
            node.run("DEL", {**base, **keep}).is_silent()
            equal(daemon.requests[0]["config"], base)
    for member in ("ipam", "name", "cniVersion", "args", "deviceID"):
        with node.daemon() as daemon:
            node.run("DEL", {**base, member: "1" * MIB}).is_silent()
            assert daemon.heads[0][1] <= MIB


@check
def long_requests():
    """Short of 1 MiB as a text, but longer as a request."""
    node = Node()
    base = {"cniVersion": "1.1.0", "name": "x", "type": "sriov"}
    numbers = b'{"cniVersion":"1.1.0","name":"x","type":"sriov","deviceID":"d","a":[' + b",".join([b"1.1"] * 200000) + b"]}"
    previous = b'{"cniVersion":"1.1.0","name":"x","type":"sriov","deviceID":"d","prevResult":{"a":[' + b",".join([b"1.1"] * 200000) + b"]}}"
    for text in (numbers, previous):
        assert len(text) < MIB
        refused(6, "exceed", config=text, node=node)
        with node.daemon() as daemon:
            node.run("DEL", text).is_silent()
            equal(daemon.requests[0]["config"], {**base, "deviceID": "d"})
    # Environment variables may be long, and need not be UTF-8.
    with node.daemon() as daemon:
        node.run("DEL", {**base, "a": "x" * (MIB - 200000)}, CNI_ARGS="\1" * 100000, CNI_PATH="\1" * 100000, CNI_NETNS="\1" * 100000,
                 CNI_CONTAINERID="c" * 100000).is_silent()
        equal((len(daemon.requests[0]["containerID"]), daemon.requests[0]["config"]), (100000, base))
    for variable in ("CNI_ARGS", "CNI_PATH", "CNI_NETNS"):
        with node.daemon() as daemon:
            node.run("DEL", base, **{variable: b"\xff\xfe"}).is_silent()
            equal(daemon.requests[0]["containerID"], "some-container-id")
    refused(4, "not UTF-8", CNI_PATH=b"\xff\xfe", node=node)


@check
def huge_numbers():
    """Under unknown keys they do no harm; under known ones they are out of range for the daemon."""
    node = Node()
    for number in (b"18446744073709551615", b"-18446744073709551615", b"1e400", b"-1e400", b"1E309", b"9" * 400, b"9" * 400 + b".5", b"1e-400", b"0." + b"1" * 4000,
                   b"9223372036854775808"):
        text = b'{"cniVersion":"1.1.0","name":"x","unknown":[%s,{"a":%s}],"vlan":%s,"text":"1e400 \\" 1e400"}' % (number, number, number)
        for verb in VERBS:
            with node.daemon(ADD=ADDED) as daemon:
                equal(node.run(verb, text).status, 0)
                equal(daemon.requests[0]["config"]["text"], '1e400 " 1e400')
                if b"e-" not in number and not number.startswith(b"0."):
                    assert abs(daemon.requests[0]["config"]["vlan"]) >= 1 << 62
    with node.daemon() as daemon:
        node.run("DEL", b'{"cniVersion":"1.1.0","name":"x","a":9223372036854775807,"b":-9223372036854775808,"c":1.5}').is_silent()
        equal(daemon.requests[0]["config"], {"cniVersion": "1.1.0", "name": "x", "a": (1 << 63) - 1, "b": -(1 << 63), "c": 1.5})


# --- missing daemons, and deadlines ------------------------------------------------------------


@check
def no_daemon():
    """The plugin waits for a daemon that restarts; then "try again later", and 50 for STATUS."""
    node = Node()
    for verb, code in (("ADD", 11), ("CHECK", 11), ("GC", 11), ("STATUS", 50)):
        done = node.run(verb)
        equal(done.error["code"], code)
        assert done.seconds < 10
    equal(node.queued(), [])
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        later = pool.submit(node.run, "ADD")
        time.sleep(0.3)
        with node.daemon(ADD=ADDED):
            assert later.result().result


@check
def socket_of_another_user():
    """No request is sent: root would print its answer."""
    node = Node()
    with node.daemon(uid=65534):
        for verb, code in (("ADD", 999), ("CHECK", 999), ("GC", 999), ("STATUS", 50)):
            error = node.run(verb).error
            equal(error["code"], code)
            assert "served by user 65534, not by root" in error["msg"], error
        equal(node.queued(), [])
        del_is_queued(node)


class Hanging:
    """Every verb against a daemon that never answers, in parallel with the other checks, as it takes long."""
    limits = {"ADD": 60 + 20, "DEL": 20, "CHECK": 20, "GC": 60, "STATUS": 5}

    def __init__(self):
        self.nodes = {verb: Node() for verb in VERBS}
        self.daemons = {verb: node.daemon(**{v: None for v in VERBS}) for verb, node in self.nodes.items()}
        pool = concurrent.futures.ThreadPoolExecutor(len(VERBS))
        self.runs = {verb: pool.submit(node.run, verb) for verb, node in self.nodes.items()}


@check
def a_daemon_that_hangs():
    """Each verb has one deadline for all its steps; a DEL is queued."""
    hanging = programs["hanging"]
    for verb, run in hanging.runs.items():
        done = run.result()
        assert hanging.limits[verb] - 1 < done.seconds < hanging.limits[verb] + 8, (verb, done.seconds)
        if verb == "DEL":
            done.is_silent()
            equal(len(hanging.nodes[verb].queued()), 1)
            continue
        error = done.error
        equal(error["code"], 50 if verb == "STATUS" else 11)
        assert "did not answer within" in error["msg"], error
    equal(hanging.daemons["ADD"].commands(), ["ADD", "DEL"])
    equal(len(hanging.nodes["ADD"].queued()), 1)
    for daemon in hanging.daemons.values():
        daemon.close()


@check
def a_daemon_that_dribbles():
    """A byte now and then does not lengthen the deadline."""
    node = Node()
    server = socket.socket(socket.AF_UNIX)
    server.bind(node.socket)
    server.listen(4)

    def serve():
        one, _ = server.accept()
        with contextlib.suppress(OSError):
            while True:
                one.sendall(b"H")
                time.sleep(0.2)
    threading.Thread(target=serve, daemon=True).start()
    done = node.run("STATUS")
    equal(done.error["code"], 50)
    assert done.seconds < 10, done.seconds


@check
def a_backlog_that_is_full():
    """connect() itself blocks."""
    node = Node()
    server = socket.socket(socket.AF_UNIX)
    server.bind(node.socket)
    server.listen(0)
    waiting = []
    while True:
        one = socket.socket(socket.AF_UNIX)
        one.setblocking(False)
        waiting.append(one)
        try:
            one.connect(node.socket)
        except BlockingIOError:
            break
    done = node.run("STATUS")
    equal(done.error["code"], 50)
    assert done.seconds < 10, done.seconds


@check
def standard_input_that_stays_open():
    node = Node()
    reader, writer = os.pipe()
    done = node.run("ADD", stdin=reader)
    equal(done.error["code"], 5)
    assert done.seconds < 20, done.seconds
    os.close(reader)
    os.close(writer)


@check
def random_bytes():
    """Random input or answers: one error object or a result."""
    node, dice = Node(), random.Random(1)
    good = json.dumps({"cniVersion": "1.1.0", "name": "x", "prevResult": golden("1.1.0"), "runtimeConfig": {"mac": "x"}}).encode()
    whole = http({"result": {key: value for key, value in WHOLE.items() if key != "cniVersion"}})

    def damaged(text):
        text = bytearray(text)
        for _ in range(dice.randrange(1, 4)):
            at = dice.randrange(len(text))
            text[at:at + dice.randrange(3)] = bytes([dice.randrange(256)])
        return bytes(text)
    for _ in range(60):
        with node.daemon(ADD=damaged(whole)):
            done = node.run("ADD", damaged(good) if dice.random() < 0.5 else good)
            assert done.result if done.status == 0 else done.error


# --- the table of upstream cases ---------------------------------------------------------------


def rows_of_the_table():
    """[(first, last, file or "none", the tests' names or the reason)]"""
    rows = []
    with open(f"{HERE}/cni_rows.txt", encoding="utf-8") as f:
        for line in f:
            if match := re.fullmatch(r"(\d+)(?:-(\d+))? ([^ :]+): (.+)\n", line):
                rows.append((int(match[1]), int(match[2] or match[1]), match[3], match[4]))
            else:
                assert line.startswith("#") or not line.strip(), line
    return rows


@check
def every_row_has_a_test():
    """All 130 rows are listed, every named test exists, and a row without a test has a reason."""
    rows = rows_of_the_table()
    equal(sorted({number for first, last, _, _ in rows for number in range(first, last + 1)}), list(range(1, 131)))
    for first, _, path, rest in rows:
        if path == "none":
            assert len(rest.split()) > 3, (first, rest)
            continue
        with open(f"{HERE}/../../{path}", encoding="utf-8") as f:
            text = f.read()
        for quoted, name in re.findall(r'"([^"]+)"|(\S+)', rest):
            assert re.search(rf"{re.escape(quoted)}" if quoted else rf"\b{re.escape(name)}", text), f"row {first}: no {quoted or name} in {path}"


# --- the program -------------------------------------------------------------------------------


@check
def no_key_chooses_a_path():
    """The author of a NetworkAttachmentDefinition must not choose where root writes."""
    node = Node()
    elsewhere = node.dir + "/elsewhere"
    os.makedirs(elsewhere)
    keys = {key: elsewhere for key in ("socket", "stateDir", "state-dir", "state_dir", "daemonSocket", "cniDir", "logFile", "runDir", "dataDir")}
    node.run("DEL", {"cniVersion": "1.0.0", "name": "x", **keys}).is_silent()
    equal((os.listdir(elsewhere), len(node.queued())), ([], 1))


class Bin:
    """A host's folder of plugins."""

    def __init__(self):
        self.temp = tempfile.TemporaryDirectory()
        self.dir = self.temp.name

    def run(self, *args):
        return subprocess.run([programs["daemon"], *args], capture_output=True, text=True, timeout=SOON, check=False)

    def install(self, *links):
        return self.run(f"--install-cni={self.dir}", *[f"--link={links_of}" for links_of in links])

    def state(self):
        """{name: the target of a link, or whether it is the plugin}"""
        found = {}
        for name in os.listdir(self.dir):
            path = f"{self.dir}/{name}"
            if os.path.islink(path):
                found[name] = os.readlink(path)
            else:
                with open(path, "rb") as f, open(programs["plugin"], "rb") as plugin:
                    found[name] = f.read() == plugin.read()
        return found

    def put(self, name, text=b"another plugin"):
        with open(f"{self.dir}/{name}", "wb") as f:
            f.write(text)


@check
def installation():
    """Written and renamed, with links; again, while a runtime executes it; and removed."""
    host = Bin()
    equal(host.install().returncode, 0)
    equal(host.state(), {"rocelet-cni": True})
    equal(os.stat(host.dir + "/rocelet-cni").st_mode & 0o7777, 0o755)
    before = os.stat(host.dir + "/rocelet-cni").st_ino
    reader, writer = os.pipe()
    process = subprocess.Popen([host.dir + "/rocelet-cni"], env=Node().env("STATUS"), stdin=reader, stdout=subprocess.DEVNULL)
    equal(host.install("sriov,rdma").returncode, 0)
    equal(host.install("sriov,rdma").returncode, 0)
    process.kill()
    process.wait()
    os.close(reader)
    os.close(writer)
    assert os.stat(host.dir + "/rocelet-cni").st_ino != before
    equal(host.state(), {"rocelet-cni": True, "sriov": "rocelet-cni", "rdma": "rocelet-cni"})
    host.put("host-local")
    host.put(".rocelet-cni.0123456789abcdef")
    os.symlink("host-local", host.dir + "/other")
    equal(host.run(f"--uninstall-cni={host.dir}").returncode, 0)
    equal(host.state(), {"host-local": False, "other": "host-local"})
    equal(host.run(f"--uninstall-cni={host.dir}").returncode, 0)


@check
def installation_beside_others():
    """Files of other plugins stay and are named; an unreadable configuration does not matter."""
    for name, prepare in (("sriov", lambda host: host.put("sriov")), ("sriov", lambda host: os.symlink("elsewhere", host.dir + "/sriov")),
                          ("sriov", lambda host: os.makedirs(host.dir + "/sriov/x"))):
        host = Bin()
        prepare(host)
        done = host.install("rdma,sriov")
        equal(done.returncode, 1)
        assert "sriov is another plugin" in done.stderr, done.stderr
        equal(os.listdir(host.dir), ["sriov"])
    for bad in ("a/b", ".x", "..", "rocelet-cni"):
        host = Bin()
        equal((host.install(bad).returncode, os.listdir(host.dir)), (1, []))
    host = Bin()
    host.put("rocelet-cni")
    done = host.run(f"--uninstall-cni={host.dir}")
    equal((done.returncode, host.state()), (1, {"rocelet-cni": False}))
    assert "another program" in done.stderr, done.stderr
    equal(host.run(f"--install-cni={host.dir}/absent").returncode, 1)
    host.put("c.json", b"{ broken")
    equal(host.run("--config", host.dir + "/c.json", f"--install-cni={host.dir}").returncode, 0)
    assert host.state()["rocelet-cni"] is True


@check
def others_are_set_aside_and_come_back():
    """--set-aside keeps another plugin under a second name, which is never overwritten, and --uninstall-cni gives it its name back."""
    host = Bin()
    host.put("sriov", b"their sriov")
    for _again in range(2):
        equal(host.run(f"--install-cni={host.dir}", "--link=sriov,rdma", "--set-aside").returncode, 0)
        equal(host.state(), {"rocelet-cni": True, "sriov": "rocelet-cni", "rdma": "rocelet-cni", "sriov.before-rocelet": False})
    # A second one of the name: two cannot be kept.
    os.unlink(host.dir + "/sriov")
    host.put("sriov", b"a later sriov")
    done = host.run(f"--install-cni={host.dir}", "--link=sriov", "--set-aside")
    equal(done.returncode, 1)
    assert "sriov is another plugin" in done.stderr, done.stderr
    equal(host.run(f"--uninstall-cni={host.dir}").returncode, 0)
    equal(host.state(), {"sriov": False, "sriov.before-rocelet": False})
    os.unlink(host.dir + "/sriov")
    # The link was already removed, as after a crash.
    equal(host.run(f"--uninstall-cni={host.dir}").returncode, 0)
    equal(os.listdir(host.dir), ["sriov"])
    with open(host.dir + "/sriov", "rb") as f:
        equal(f.read(), b"their sriov")
    equal(host.run(f"--install-cni={host.dir}", "--link=sriov", "--set-aside").returncode, 0)
    equal(host.run(f"--uninstall-cni={host.dir}").returncode, 0)
    equal(os.listdir(host.dir), ["sriov"])


@check
def the_binary_is_small():
    """Static and at most 1 MB stripped, or dynamic with libc and jansson only and at most 100 KiB."""
    with tempfile.NamedTemporaryFile() as stripped:
        subprocess.run(["strip", "-o", stripped.name, programs["plugin"]], check=True)
        size = os.stat(stripped.name).st_size
    needed = subprocess.run(["readelf", "-d", programs["plugin"]], capture_output=True, text=True, check=True).stdout
    assert "NEEDED" not in needed and size <= 1000000, (size, needed)


def start_seconds(program, env):
    """fork, exec and exit."""
    began = time.monotonic()
    os.waitpid(os.posix_spawn(program, [program], env, file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)]), 0)
    return time.monotonic() - began


def it_starts_fast():
    """The fastest of a hundred: within 2 ms, or on a slow machine as fast as the smallest program of the system. Runs only if it is named (make bench)."""
    env = Node().env("VERSION")
    times = [(start_seconds(programs["plugin"], env), start_seconds("/bin/true", {})) for _ in range(100)]
    ours, smallest = (min(each) for each in zip(*times))
    print(f"# rocelet-cni starts in {ours * 1000:.2f} ms, {ours / smallest:.2f} times as long as /bin/true")
    assert ours < max(0.002, smallest * 1.25), (ours, smallest)


if __name__ == "__main__":
    programs["plugin"], programs["daemon"] = (os.path.abspath(path) for path in sys.argv[1:3])
    only = sys.argv[3:]
    if not only or a_daemon_that_hangs.__name__ in only:
        programs["hanging"] = Hanging()
    # Last, because its deadlines have passed by then.
    checks.sort(key=lambda function: function is a_daemon_that_hangs)
    try:
        status = run_checks(checks + [it_starts_fast] * (it_starts_fast.__name__ in only), only)
    finally:
        if Node.netns:
            Node.netns.process.kill()
    sys.exit(status)
