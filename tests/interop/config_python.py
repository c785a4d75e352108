#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Judges configurations as found in the field and with every kind of mistake, command lines, live edits, and the messages about them.

  config_python.py DAEMON ROCECTL MK_SYSFS [CHECK...]

One row of a table is one text, the exit status of --check-config, and words of its output; a start with the same text must come to the same
result. One line per check, "N passed, N failed" last.

run: {san}/rocelet {san}/rocectl {san}/bench/mk_sysfs
proves: daemon/config daemon/compose daemon/ctl
when: core -output_that_cannot_be_written -a_printed_configuration_means_the_same -as_go -empty_pools -small -plans -native -not_ok
when: turns
"""
import concurrent.futures
import json
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../lib")]
import daemon_python as daemon_judge  # noqa: E402
from daemon_python import Daemon, checkpoint, equal, eventually, make_tree, peers, registered, reloads, reported_everywhere, write  # noqa: E402
from hanging_folder import HangingFolder  # noqa: E402
from kubelet_python import SOON  # noqa: E402
from run_checks import run_checks  # noqa: E402

TREE = tempfile.TemporaryDirectory()
programs = daemon_judge.programs
checks = []


def check(function):
    checks.append(function)
    return function


# --- the node: two PFs with two VFs each, and on the first one two sub-functions --------------


def copy_part(source, target, words):
    """Copies a folder of the tree to another name, with the words in its names, files and links replaced."""
    def new(text):
        for old, word in words.items():
            text = text.replace(old, word)
        return text
    for folder, _folders, files in os.walk(source):
        there = target + new(folder[len(source):])
        os.makedirs(there, exist_ok=True)
        for name in files:
            path = os.path.join(folder, name)
            if os.path.islink(path):
                os.symlink(new(os.readlink(path)), os.path.join(there, new(name)))
            else:
                with open(path, "rb") as f:
                    content = f.read()
                with open(os.path.join(there, new(name)), "wb") as f:
                    f.write(content if b"\0" in content or b"\xff" in content else new(content.decode()).encode())


def add_sub_function(dir, n):
    """Adds a sub-function as of mlx5: on the auxiliary bus, below its PF, with a netdev and an RDMA device."""
    function, sf = dir + "/sys/devices/pci0000:00/0000:18:00", f"mlx5_core.sf.{4 + n}"
    words = {"0000:18:00.1": sf, "mlx5_2": f"mlx5_{6 + n}", "ens1v0": f"en4sf{n}", "uverbs2": f"uverbs{6 + n}", "umad2": f"umad{6 + n}",
             "issm2": f"issm{6 + n}", "231:194": f"231:{198 + n}", "231:2": f"231:{6 + n}"}
    for part in ("infiniband", "net", "infiniband_verbs", "infiniband_mad"):
        copy_part(f"{function}.1/{part}", f"{function}.0/{sf}/{part}", words)
    write(f"{function}.0/{sf}/sfnum", f"{88 + n}\n")
    for kind, name in (("infiniband", f"mlx5_{6 + n}"), ("net", f"en4sf{n}"), ("infiniband_verbs", f"uverbs{6 + n}"), ("infiniband_mad", f"umad{6 + n}")):
        os.symlink(f"../../devices/pci0000:00/0000:18:00.0/{sf}/{kind}/{name}", f"{dir}/sys/class/{kind}/{name}")
    os.makedirs(dir + "/sys/bus/auxiliary/devices", exist_ok=True)
    os.symlink(f"../../../devices/pci0000:00/0000:18:00.0/{sf}", f"{dir}/sys/bus/auxiliary/devices/{sf}")
    write(f"{dir}/dev/infiniband/uverbs{6 + n}")
    write(f"{dir}/dev/infiniband/umad{6 + n}")


def make_node(dir):
    make_tree(dir)
    for n in range(2):
        add_sub_function(dir, n)


# --- one command ------------------------------------------------------------------------------


class Result:
    """A program's output and exit status. Paths in it are relative: c.json is the configuration, node the tree."""

    def __init__(self, argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, seconds=SOON):
        done = subprocess.run(argv, stdin=stdin, stdout=stdout, stderr=subprocess.PIPE, timeout=seconds, check=False, cwd=TREE.name)
        self.status = done.returncode
        self.out = (done.stdout or b"").decode()
        self.err = done.stderr.decode()
        self.all = self.err + self.out

    def __str__(self):
        return f"status {self.status}\n--- stdout\n{self.out}--- stderr\n{self.err}"


def configure(text):
    with open(TREE.name + "/c.json", "wb") as f:
        f.write(text if isinstance(text, bytes) else text.encode())


def rocelet(*flags, **more):
    return Result([programs["daemon"], "--config", "c.json", "--sysfs-root", "node/sys", "--dev-root", "node/dev", "--cni-path", "/bin", *flags], **more)


def rocectl(*words, **more):
    return Result([programs["rocectl"], *words], **more)


# --- texts ------------------------------------------------------------------------------------

ROWS = {}  # theme: [(name, text, status of the check, result of a start, words of the output, flags)]
# USELESS: the file can be read, but leaves no resource.
STARTS, REFUSED, USELESS = None, "serves, and is not ready", "the same, of a file that defines nothing"


def row(theme, name, text, *words, status=0, start=STARTS, flags=()):
    if not isinstance(text, (str, bytes)):
        text = json.dumps(text)
    ROWS.setdefault(theme, []).append((name, text, status, REFUSED if status == 2 and start is STARTS else start, words, flags))


def pool(**keys):
    return {"pools": [dict({"resourceName": "p", "selectors": {}}, **keys)]}


def resource(**keys):
    return {"resourceList": [dict({"resourceName": "a", "selectors": {}}, **keys)]}


# As the README of k8s-rdma-shared-dev-plugin shows them, names of interfaces aside.
SHARED = """{
  "periodicUpdateInterval": 300,
  "configList": [
    {
      "resourceName": "hca_shared_devices_a",
      "rdmaHcaMax": 1000,
      "devices": ["ens1np0"]
    },
    {
      "resourceName": "hca_shared_devices_b",
      "resourcePrefix": "example_prefix",
      "rdmaHcaMax": 500,
      "selectors": {"vendors": ["15b3"], "deviceIDs": ["1017"], "ifNames": ["ib3", "ib4"]}
    }
  ]
}
"""
LEFT_OUT = "1 resource left out"

# One mistake in a peer's file leaves out one resource, as in the peer itself.
row("one_slip", "a prefix", SHARED, "hca_shared_devices_b is left out: c.json:11: ", "'example_prefix'", "rdma/hca_shared_devices_a: 1000 slots", LEFT_OUT)
row("one_slip", "a prefix of three", {"resourceList": [
    {"resourceName": "a", "selectors": {"pfNames": ["ens1np0"]}}, {"resourceName": "b", "resourcePrefix": "Intel.com", "selectors": {}},
    {"resourceName": "c", "selectors": {"pfNames": ["ens2np0"]}}]},
    "b is left out", "'Intel.com'", "intel.com/a: 2 devices", "intel.com/c: 2 devices", LEFT_OUT)
row("one_slip", "of a type", {"configList": [{"resourceName": "a", "devices": "ens1np0"}, {"resourceName": "b", "devices": ["ens2np0"]}]},
    'rdma/a is left out: c.json:1: "devices": is not a list of strings', "rdma/b: ", LEFT_OUT)
row("one_slip", "no name", {"resourceList": [{"selectors": {}}, {"resourceName": "b", "selectors": {}}]}, '"resourceName" is missing', "intel.com/b: ", LEFT_OUT)
row("one_slip", "the same resource twice", {"resourceList": [{"resourceName": "a", "selectors": {}}, {"resourceName": "a", "selectors": {}}]},
    "intel.com/a is left out", "already defined in line 1", LEFT_OUT)
row("one_slip", "all are wrong", {"resourceList": [{"resourceName": "a", "selectors": 5}, 5]}, "2 resources left out", "no resource is left", status=2, start=USELESS)
row("one_slip", "in our own grammar the file", {"pools": [{"resourceName": "a", "resourcePrefix": "example_prefix", "selectors": {}},
                                                          {"resourceName": "b", "selectors": {}}]}, "c.json:1: ", "'example_prefix'", status=2)

# What Go's encoding/json accepts.
row("as_go", "a key twice", '{"resourceList": [{"resourceName": "a",\n "resourceName": "b", "selectors": {}}]}',
    "c.json:2: duplicate", "resourceName", "the last one counts", "intel.com/b: ", "ok, 1 warning")
row("as_go", "a grammar's key twice", '{"configList": [{"resourceName": "a", "devices": ["ens1np0"]}],\n "configList": [{"resourceName": "b", "devices": ["ens2np0"]}]}',
    "c.json:2: duplicate", "configList", "rdma/b: ")
row("as_go", "a selector twice", '{"resourceList": [{"resourceName": "a", "selectors": {"pfNames": ["ens9"], "pfNames": ["ens1np0#0"]}}]}',
    "duplicate", "intel.com/a: 1 device\n")
row("as_go", "in two spellings", '{"resourceList": [{"resourceName": "a", "selectors": 5,\n"Selectors": {}}]}', "c.json:2: \"Selectors\": appears twice", "intel.com/a: ")
row("as_go", "no UTF-8", b'{"resourceList": [{"resourceName": "a", "selectors": {}}],\n\n"comment": "caf\xe9"}',
    "c.json:3: byte 0xe9 is not UTF-8", 'unknown key "comment"', "intel.com/a: ")
row("as_go", "no UTF-8 in additionalInfo", b'{"resourceList": [{"resourceName": "a", "selectors": {}, "additionalInfo": {"*": {"k": "\xff"}}}]}', "byte 0xff", "intel.com/a: ")
row("as_go", "no UTF-8 in a name", b'{"resourceList": [{"resourceName": "a\xff", "selectors": {}}, {"resourceName": "b", "selectors": {}}]}',
    "'a?' is not a resource name", "intel.com/b: ", LEFT_OUT)
row("as_go", "and a comma too many", '{"resourceList": [{"resourceName": "a", "resourceName": "b", "selectors": {}},\n]}', "c.json:1: a trailing comma", status=2)
row("as_go", "no UTF-8 and a comma too many", b'{"resourceList": [{"resourceName": "a", "selectors": {}, "x": "\xff"},\n\n]}', "c.json:1: a trailing comma", status=2)
row("as_go", "rejected in our own grammar: a key twice", '{"pools": [{"resourceName": "a", "selectors": {}}],\n"pools": []}', "c.json:2", "duplicate", status=2)
row("as_go", "rejected in our own grammar: no UTF-8", b'{"pools": [{"resourceName": "a", "selectors": {}}],\n"x": "\xff"}', "c.json:2", "0xff", status=2)

# Not JSON at all: the message names the line and the mistake.
for grammar in ("resourceList", "configList", "pools"):
    row("no_json", "a comma too many in " + grammar, '{"%s": [\n{"resourceName": "a", "selectors": {}}\n,\n]}' % grammar, "c.json:3: a trailing comma", status=2)
    row("no_json", "a comma too many in an object of " + grammar, '{"%s": [\n{"resourceName": "a",\n"selectors": {"vendors": ["15b3"],\n}}]}' % grammar,
        "c.json:3: a trailing comma", status=2)
row("no_json", "a comma too many at the end", '{"resourceList": [],\n\n}', "c.json:1: a trailing comma", status=2)
row("no_json", "a comma in a string", '{"resourceList": [{"resourceName": "a,]", "selectors": {}}]}', "'a,]'", "no resource is left", status=2, start=USELESS)
row("no_json", "a byte order mark", b"\xef\xbb\xbf{}", "c.json:1: ", "byte order mark", status=2)
row("no_json", "UTF-16", '{"pools": []}'.encode("utf-16"), "c.json:1: ", "UTF-16", status=2)
row("no_json", "a zero byte", b'{"pools":\n[\0]}', "c.json:2: a zero byte", status=2)
row("no_json", "an escaped zero", '{"pools": [\n{"resourceName": "a\\u0000"}]}', "c.json:2: \\u0000 in a string", status=2)
row("no_json", "an escaped zero in a key", '{"resourceList": [\n{"a\\u0000": 1}]}', "c.json:2: \\u0000 in a string", status=2)
for name, text in (("an empty file", ""), ("blanks", " \n\t\n")):
    row("no_json", name, text, "c.json:1: the file is empty", status=2)
for text in ("[]", "null", "5", '"x"', "true"):
    row("no_json", text, text, "c.json:1: the file is not a JSON object", status=2)
row("no_json", "a manifest", '{"apiVersion": "v1",\n"kind": "ConfigMap", "data": {"config.json": "{}"}}', "c.json:2: ", "the file is a manifest (ConfigMap)", status=2)
row("no_json", "cut", '{"pools": [\n{"resourceName": "a"', "c.json:2", status=2)

# --check-config never reports ok for a configuration that cannot work.
row("not_ok", "an unknown key, and no resource", {"pool": [{"resourceName": "a", "selectors": {}}]},
    'unknown key "pool" (did you mean "pools"?)', "no resource is configured, probably because a key is misspelt", "c.json: not ok, 1 warning", status=2, start=USELESS)
row("not_ok", "another unknown key, and no resource", {"resourcelists": []}, '(did you mean "resourceList"?)', "c.json: not ok", status=2, start=USELESS)
for key in ("network", "networks"):
    row("not_ok", f"a pool's key at the top: {key}", {key: []}, f'unknown key "{key}" (did you mean "pools"? "network" is a key of its items)', "c.json: not ok", status=2, start=USELESS)
row("not_ok", "a pool at the top", {"resourceName": "a"}, '(did you mean "pools"? "resourceName" is a key of its items)', "c.json: not ok", status=2, start=USELESS)
row("not_ok", "an unknown key, and no resource", {"resources": []}, 'unknown key "resources"', "c.json: not ok", status=2, start=USELESS)
row("not_ok", "groups misspelt", {"group": [{"name": "here", "match": {}, "pools": []}]}, '"group" is a flag', "c.json: not ok", status=2, start=USELESS)
row("not_ok", "pools misspelt in the group", {"groups": [{"name": "here", "match": {}, "pool": []}]}, '(did you mean "pools"?)', "c.json: not ok", status=2, start=USELESS)
row("not_ok", "pools misspelt in another group", {"groups": [{"name": "here", "match": {}, "pools": []}, {"name": "there", "pool": []}]},
    '(did you mean "pools"?)', "c.json: not ok", status=2, start=0)
row("not_ok", "a flag in the file", {"config": "/x", **pool()}, 'c.json:1: "config" is a flag, not a key of the file, ignoring it', "c.json: ok, 1 warning\n")
row("not_ok", "no certificate yet", {"tls-cert": "/nope.pem", "tls-key": "/nope.pem"}, 'c.json:1: "tls-cert": /nope.pem: No such file or directory', status=1)
row("not_ok", "no tokens yet", {"auth-token-file": "/nope"}, 'c.json:1: "auth-token-file": /nope: No such file or directory', status=1)
row("not_ok", "a netdev that may come", {"mirrors": ["ens1np0", "nosuch0"]}, 'c.json:1: "mirrors": there is no netdev nosuch0', "c.json: ok, 1 warning\n")
row("not_ok", "folders that may come", '{"dev-root": "/nope",\n"proc-root": "/nope"}', 'c.json:1: "dev-root": there is no folder /nope', 'c.json:2: "proc-root": there is no folder /nope',
    "c.json: ok, 2 warnings\n")
row("not_ok", "no sysfs", pool(), "no sysfs to scan", "c.json: not ok", status=1, flags=("--sysfs-root", "node/dev"))
row("not_ok", "a root that does not exist", pool(), "nowhere", "c.json: not ok", status=1, start=1, flags=("--sysfs-root", "nowhere"))
row("not_ok", "a value out of its range", {"sample-interval": 0}, "c.json:1: \"sample-interval\"", status=2)
row("not_ok", "an empty list is no mistake", {"pools": []}, '"pools": is empty', "c.json: ok, 1 warning")
row("not_ok", "an empty object is no mistake", {}, "c.json: ok\n")
row("not_ok", "a peer's empty list is no mistake", {"configList": [], "periodicUpdateInterval": 60}, "c.json: ok, 1 warning")

# A wrong value of any option: the file is rejected, also while rocelet runs; a start with it only observes.
for address in (":99999", "9907", "localhost:9907", "localhost:http", ":9907,:9908", "[::1", "::1:80", ":"):
    row("values", f"an address like {address}", {"listen": address}, 'c.json:1: "listen": ', " is not ", status=2)
row("values", "an address out of range", {"listen": "300.1.1.1:80"}, "c.json:1: \"listen\": '300.1.1.1' is not an IP address", status=2)
for key in ("sysfs-root", "dev-root", "proc-root", "kubelet-dir", "pod-resources", "cri-socket", "tls-cert", "tls-key", "auth-token-file", "basic-auth-file", "run-dir",
            "state-dir", "cni-path", "cdi-dir", "devinfo-dir", "features-dir"):
    row("values", f"a relative {key}", {key: "some/folder"}, f"c.json:1: \"{key}\": 'some/folder' does not begin with \"/\"", status=2)
row("values", "a relative one among folders", {"cni-path": "/opt/cni/bin:bin"}, "\"cni-path\": 'bin' does not begin with", status=2)
row("values", "a scheme", {"cri-socket": "unix:///run/containerd/containerd.sock"}, '"cri-socket": ', status=2)
row("values", "a prefix", {"resource-prefix": "Example_com"}, "\"resource-prefix\": 'Example_com' is not a resource prefix", status=2)
row("values", "a prefix of Kubernetes'", {"resource-prefix": "x.kubernetes.io"}, "belongs to Kubernetes", status=2)
row("values", "a certificate without its key", '{"pools": [],\n"tls-cert": "/x.pem"}', 'c.json:2: "tls-cert": is given without tls-key', status=2)
row("values", "a key without its certificate, in a group", '{"groups": [{"name": "g", "match": {},\n"tls-key": "/x.pem"}]}', 'c.json:2: "tls-key": is given without tls-cert', status=2)
row("values", "a key without its certificate, in another group", '{"groups": [{"name": "g", "match": {}},\n{"name": "other", "tls-key": "/x.pem"}]}',
    'c.json:2: "tls-key": is given without tls-cert', status=2, start=0)
row("values", "a window in a group", '{"groups": [{"name": "g", "match": {},\n"diagnosis": {\n"clear_seconds": 1}}]}', 'c.json:3: "diagnosis.clear_seconds": 1 is less than', status=2)
row("values", "an address in a group", {"groups": [{"name": "g", "match": {}, "listen": ":x"}]}, 'c.json:1: "listen": ', status=2)
row("values", "a level with a line break", {"log-level": "lo\nud"}, "'lo?ud' is none of", status=2)
row("values", "valid values", {"listen": "", "cni-path": "/nope:/bin:", "pod-resources": "", "resource-prefix": "a-b.example"}, "c.json: ok\n")

# Warnings are counted; with --strict they are errors.
for status, flags in ((0, ()), (1, ("--strict",))):
    row("strict", f"unknown keys, {flags}", {"resourceList": [{"resourceName": "a", "selectors": {}, "selektor": 1}], "lissten": ":1"},
        '(did you mean "selectors"?)', '(did you mean "listen"?)', "c.json: not ok, 2 warnings (--strict)\n" if status else "c.json: ok, 2 warnings\n", status=status, flags=flags)
    row("strict", f"a pool without devices, {flags}", pool(selectors={"vendors": ["8086"]}), "rocelet.dev/p has no devices",
        "c.json: ok, but not for this node, rocelet.dev/p offers nothing on this node, 1 warning (--strict)\n" if status else
        "c.json: ok, rocelet.dev/p offers nothing on this node, 1 warning\n", status=3 * status, flags=flags)
    row("strict", f"slots 0, {flags}", pool(kind="shared", slots=0, selectors={"ifNames": ["ens1np0"]}),
        "warning: rocelet.dev/p has no devices: the number of its slots is 0", "rocelet.dev/p offers nothing on this node, 1 warning", status=3 * status, flags=flags)
    row("strict", f"a peer's slots 0, {flags}", {"configList": [{"resourceName": "a", "rdmaHcaMax": 0, "devices": ["ens1np0"]}]},
        "warning: rdma/a has no devices: the number of its slots is 0", "rdma/a offers nothing on this node, 1 warning", status=3 * status, flags=flags)
    row("strict", f"a netdev that may come, {flags}", {"mirrors": ["nosuch0"], **pool()}, "there is no netdev nosuch0", ", 1 warning", status=3 * status, flags=flags)
    row("strict", f"a mistake and a pool without devices, {flags}", {"lissten": ":1", **pool(selectors={"vendors": ["8086"]})},
        "rocelet.dev/p offers nothing on this node, 2 warnings", status=status, flags=flags)
    row("strict", f"a resource left out, {flags}", SHARED, LEFT_OUT, status=status, flags=flags)
row("strict", "many pools without devices", {"pools": [{"resourceName": f"pool-{i:02}", "selectors": {"vendors": ["8086"]}} for i in range(60)]},
    "c.json: ok, rocelet.dev/pool-00, rocelet.dev/pool-01, ", "rocelet.dev/pool-22 and 37 more offer nothing on this node, 60 warnings\n")
row("strict", "a schema for editors", {"$schema": "config.schema.json", **pool()}, "c.json: ok\n", flags=("--strict",))
row("strict", "no warnings", pool(), "rocelet.dev/p: ", "c.json: ok\n", flags=("--strict",))
row("strict", "a group that offers nothing on purpose", {"groups": [{"name": "g", "match": {}, "pools": []}]}, "group g applies", "c.json: ok\n", flags=("--strict",))
row("strict", "a file without pools", {"pools": []}, '"pools": is empty, it offers no resource', "c.json: not ok, 1 warning (--strict)\n", status=1, flags=("--strict",))

# A pool without devices: the message of --check-config and doctor names what the node has instead.
EMPTY = (
    ("pf", {"pfNames": ["ens1np9"]}, "there is no PF ens1np9; there is ens1np0, ens2np0"),
    ("driver", {"drivers": ["mlx5_ib"]}, "there is no device with driver mlx5_ib; there is mlx5_core"),
    ("vendor", {"vendors": ["8086"]}, "there is no vendor 8086; there is 15b3"),
    ("device", {"devices": ["1018"]}, "there is no device id 1018; there is 1021, 101e"),
    ("number", {"pfNames": ["ens1np0#7"]}, "no VF of ens1np0 has a number that is selected"),
    ("address", {"pciAddresses": ["0000:18:00.7"]}, "there is no device 0000:18:00.7; there is 0000:18:00.0, 0000:18:00.1"),
    ("root", {"rootDevices": ["0000:19:00.0"]}, "there is no PF 0000:19:00.0; there is 0000:18:00.0, 0000:2a:00.0"),
    ("interface", {"ifNames": ["ens1"]}, "there is no interface ens1; there is ens1np0"),
    ("rdma", {"rdmaNames": ["mlx4_0"]}, "there is no RDMA device mlx4_0; there is mlx5_0"),
    ("link", {"linkTypes": ["infiniband"]}, "there is no link of type infiniband; there is ether"),
)
for name, selectors, sentence in EMPTY:
    row("empty_pools", name, pool(selectors=selectors), "warning: rocelet.dev/p has no devices: " + sentence)
row("empty_pools", "of those of a vendor", pool(selectors={"devices": ["101e"], "drivers": ["vfio-pci"]}),
    "there is no device with driver vfio-pci among the 4 that match all before that; there is mlx5_core")
row("empty_pools", "what matches has VFs", pool(selectors={"ifNames": ["ens1np0"]}),
    "warning: rocelet.dev/p has no devices: 0000:18:00.0 is not offered: it has VFs (matches rocelet.dev/p)")
row("empty_pools", "another pool has the devices", {"pools": [{"resourceName": name, "selectors": {"pfNames": ["ens1np0"]}} for name in "pq"]},
    "rocelet.dev/p: 2 devices", "warning: rocelet.dev/q has no devices: another pool has the 2 matching devices")
row("empty_pools", "no vDPA", pool(selectors={"vdpaType": "virtio"}), "the pool requires another vDPA type, and there is none")
row("empty_pools", "a peer's pool", resource(selectors={"pfNames": ["ens1np9"]}), "warning: intel.com/a has no devices: there is no PF ens1np9; there is ens1np0, ens2np0")
row("empty_pools", "shared", {"configList": [{"resourceName": "a", "devices": ["ens9"]}]}, "warning: rdma/a has no devices: there is no interface ens9; there is ens1np0")

# Devices that can never be a pod's interface.
row("native", "a user-space driver", pool(network={}, selectors={"drivers": ["vfio-pci"]}), "vfio-pci a device has no netdev", status=2)
row("native", "a user-space driver among others", pool(network={}, selectors={"drivers": ["mlx5_core", "vfio-pci"]}), "vfio-pci a device has no netdev", status=2)
row("native", "a user-space driver in one of several selectors", pool(network={}, selectors=[{}, {"drivers": ["uio_pci_generic"]}]), "uio_pci_generic", "has no netdev", status=2)
row("native", "vhost", pool(network={}, selectors={"vdpaType": "vhost"}), "has no netdev", status=2)
row("native", "soft-RoCE where there is RDMA", pool(softRoce=True, selectors={"isRdma": True}), "isRdma: softRoce creates an RDMA device where there is none", status=2)
row("native", "soft-RoCE on an RDMA device by name", pool(softRoce=True, selectors={"rdmaNames": ["mlx5_0"]}), "rdmaNames: softRoce", status=2)
row("native", "an accelerator", pool(network={}, deviceType="accelerator"), "accelerators, which have no netdev", status=2)
row("native", "a slot", pool(network={}, kind="shared"), '"interface": "macvlan"', status=2)
row("native", "a user-space driver in a pool without network", pool(selectors={"drivers": ["vfio-pci"]}), "rocelet.dev/p: 0 devices")
row("native", "a VF", pool(network={"mtu": 4200}, selectors={"pfNames": ["ens1np0"]}), "rocelet.dev/p: 2 devices", "c.json: ok\n")

# Addresses that no interface can have, keys that exclude each other, values that do not fit.
for name, network, words in (
        ("network address", {"ips": ["10.9.0.0/24"]}, ('"ips": item 1', "10.9.0.0/24")),
        ("broadcast address", {"ips": ["10.9.0.255/24"]}, ('"ips": item 1', "10.9.0.255/24")),
        ("loopback", {"ips": ["127.0.0.1/8"]}, ('"ips": item 1', "127.0.0.1/8")),
        ("multicast", {"ips": ["224.0.0.1/24"]}, ('"ips": item 1', "224.0.0.1/24")),
        ("ips and ipam", {"ips": ["10.9.0.1/24"], "ipam": {"type": "sh"}}, ('"ipam": excludes "ips"',)),
        ("IPv6 with a small MTU", {"mtu": 1279, "ips": ["fd00::1/64"]}, ('"mtu": is below 1280',)),
        ("a VLAN out of range", {"vlan": 4095}, ("4095 is not between 0 and 4094",)),
        ("priority without VLAN", {"vlanQoS": 1}, ('"vlanQoS": needs a "vlan"',)),
        ("more least than most", {"maxTxRate": 10, "minTxRate": 11}, ("is more than",))):
    row("plans", name, pool(network=network), *words, status=2)

# Small things.
row("small", "a PF with VFs may be shared", pool(kind="shared", slots=1, selectors={"ifNames": ["ens1np0"]}), "0000:18:00.0    rocelet.dev/p", "1 slot, each on one of 1 HCA")
row("small", "a PF with VFs is not allocated exclusively", pool(selectors={"ifNames": ["ens1np0"]}), "0000:18:00.0    not offered: it has VFs", "has no devices")
row("small", "auxiliary devices of any type", resource(deviceType="auxNetDevice"), "auxiliary devices of every type", '"auxTypes": ["sf"]', "intel.com/a: 2 devices")
row("small", "auxiliary devices of one type", resource(deviceType="auxNetDevice", selectors={"auxTypes": ["sf"]}), "intel.com/a: 2 devices", "c.json: ok\n")
row("small", "permissions", pool(permissions="rx"), "\"permissions\": 'rx' must consist of r, w and m", status=2)
row("small", "additionalInfo", resource(additionalInfo={"*": {"k": 5}}), '"k": of "*" in "additionalInfo" is not a string', status=2, start=USELESS)
row("small", "additionalInfo of no device", resource(additionalInfo={"0000:zz": {}}), '"0000:zz": in "additionalInfo"', status=2, start=USELESS)
row("small", "a reason of hold", pool(hold={"temperature": {"downMs": 5}}), '"temperature": unknown key (there are gone, noDriver, noChardev',
    "pci, devlink, notClean, leaving, nodeChanged and nodeHeld)", status=2)
row("small", "a number of bytes", {"event-buffer": 1}, '"event-buffer": 1 is not between 1024 and 1073741824', status=2)
row("small", "ranges as the peer reads them", resource(selectors={"pfNames": ["ens1np0#0-1,"]}), "ens1np0#0-1,", "intel.com/a: 2 devices", "1 warning")
row("small", "ranges in our own grammar", pool(selectors={"pfNames": ["ens1np0#0-1,"]}), "ens1np0#0-1,", status=2)
row("small", "a key without effect", pool(softRoce=True, umad=False), 'c.json:1: "umad": has no effect with "softRoce": true', "1 warning")
row("small", "a key without effect in a strict check", pool(softRoce=True, umad=False), '"umad": has no effect', status=1, flags=("--strict",))


# Unknown keys at every depth of our own grammar: each would make a pool, a group or a limit differ from what its author meant.
for name, text, words in (
        ("of a pool", pool(networks={}), ('c.json:1: "networks": unknown key (did you mean "network"?)',)),
        ("of a pool, like no other", pool(colour=1), ('"colour": unknown key',)),
        ("of a shared pool", pool(kind="shared", slot=4), ('(did you mean "slots"?)',)),
        ("of selectors", pool(selectors={"pfName": []}), ('(did you mean "pfNames"?)',)),
        ("of one of several selectors", pool(selectors=[{}, {"driver": []}]), ('(did you mean "drivers"?)',)),
        ("of hold", pool(hold={"linkdwn": {"downMs": 5}}), ('(did you mean "linkDown"?)',)),
        ("of a reason of hold", pool(hold={"linkDown": {"down": 5}}), ('"down": unknown key',)),
        ("of a network", pool(network={"subnet": []}), ('(did you mean "subnets"?)',)),
        ("of a route", pool(network={"subnets": ["10.9.0.0/24"], "routes": [{"dst": "0.0.0.0/0", "gateway": "10.9.0.1"}]}), ('"gateway": unknown key',)),
        ("of what a plugin needs", pool(network={"ipam": {"type": "dhcp", "needs": {"networks": "host"}}}), ("needs: networks: unknown key",)),
        ("of a group's pool", {"groups": [{"name": "g", "match": {}, "pools": [{"resourceName": "p", "selectors": {}, "networks": {}}]}]},
         ('(did you mean "network"?)',)),
        ("of a match", {"groups": [{"name": "g", "match": {"node": ["*"]}}]}, ('(did you mean "nodes"?)',)),
        ("of a device of a match", {"groups": [{"name": "g", "match": {"devices": [{"model": "*:*", "counts": 1}]}}]}, ('(did you mean "count"?)',)),
        ("of the diagnosis", {"diagnosis": {"hold_second": 1}}, ('did you mean "hold_seconds"?',)),
        ("of soft-RoCE's neighbour", pool(softRoCe2=True), ('(did you mean "softRoce"?)',))):
    row("unknown_keys", name, text, *words, status=2)
# The top level may have other programs' keys: warnings. A file that names no resource is not ok.
row("unknown_keys", "at the top", dict(pool(), lissten=":1"), 'unknown key "lissten" (did you mean "listen"?)', "1 warning")
row("unknown_keys", "of a group, of its options", {"groups": [{"name": "g", "match": {}, "lissten": ":1", **pool()}]}, '(did you mean "listen"?)')
row("unknown_keys", "of a group, of its pools", {"groups": [{"name": "g", "match": {}, "pool": []}]}, '(did you mean "pools"?)', status=2, start=USELESS)

# A missing plugin may be installed later; with --strict it is an error.
NO_PLUGIN = pool(network={"subnets": ["10.9.0.0/24"], "ipam": {"type": "no-such-ipam"}}, selectors={"pfNames": ["ens1np0"]})
row("ipam_types", "a missing plugin", NO_PLUGIN, 'c.json:1: "type": no IPAM plugin "no-such-ipam" in node:/nowhere (--cni-path), no pod gets a device',
    "c.json: ok, 1 warning\n", flags=("--cni-path", "node:/nowhere"))
row("ipam_types", "a missing plugin, with --strict", NO_PLUGIN, 'c.json:1: "type": no IPAM plugin "no-such-ipam" in node:/nowhere (--cni-path)\n', status=2,
    flags=("--cni-path", "node:/nowhere", "--strict"))
row("ipam_types", "an installed plugin", pool(network={"ipam": {"type": "sh"}}, selectors={"pfNames": ["ens1np0"]}), "c.json: ok\n",
    flags=("--cni-path", "/nowhere:/bin", "--strict"))
row("ipam_types", "a missing plugin of another group's nodes", {"groups": [dict(NO_PLUGIN, name="there"), {"name": "here", "match": {}, "pools": []}]}, "group here applies",
    flags=("--cni-path", "/nowhere", "--strict"))


def one_clear_line(result):
    """A rejection is one printable line that begins with the program's name."""
    assert re.fullmatch(r"rocelet: c\.json:\d+(:\d+)?: [ -~]+\n", result.err), result


def judge(name, text, status, start, words, flags):
    configure(text)
    result = rocelet("--check-config", *flags)
    equal((name, result.status), (name, status))
    for word in words:
        assert word in result.all, f"{name}: no {word!r} in {result}"
    if start == REFUSED:
        one_clear_line(result)
        equal((name, result.out), (name, ""))
    else:
        last = result.out.splitlines()[-1]
        assert last.startswith("c.json: "), result
        printed = len(re.findall(r"^warning: |, ignoring it$|counts$|going on without|is empty, it|every type", result.all, re.M))
        assert not printed or "warning" in last, result
    begun = begin(text, flags)
    equal((name, begun), (name, REFUSED if start == USELESS else start if start else 0))


def begin(text, flags):
    """The exit status of a start; 0: the daemon serves; REFUSED: it serves, but nothing from the file."""
    listen = () if "listen\"" in str(text) else ("--listen", "")
    with tempfile.TemporaryDirectory() as dir:
        folders = [f"--{name}-dir={dir}/{name}" for name in ("kubelet", "run", "state", "cdi", "devinfo")]
        os.makedirs(dir + "/kubelet/device-plugins")
        daemon = subprocess.Popen([programs["daemon"], "--config", "c.json", "--sysfs-root", "node/sys", "--dev-root", "node/dev", *listen, *folders,
                                   *flags], cwd=TREE.name, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True)
        log = []
        reader = threading.Thread(target=lambda: log.extend(daemon.stderr), daemon=True)
        reader.start()
        socket = daemon_judge.Unix(dir + "/run/rocelet.sock")

        ready = []  # its answer once it has read the file: status and text

        def has_read():
            try:
                socket.request("GET", "/readyz")
                answer = socket.getresponse()
                text = answer.read().decode()
            except OSError:
                socket.close()
                return False
            ready[:] = [answer.status, text]
            return answer.status == 200 or "configuration file is rejected" in text or "of the configured resources" in text
        try:
            eventually("it is ready, rejects the file or ends", lambda: daemon.poll() is not None or has_read())
        except AssertionError as error:
            daemon.kill()
            raise AssertionError("".join(log)) from error
        refused = daemon.poll() is None and ready[0] == 503 and "of the configured resources" not in ready[1]
        if refused:
            assert ready[1].startswith("not ready: the configuration file is rejected: c.json:"), ready
        if daemon.poll() is None:
            daemon.send_signal(signal.SIGTERM)
        status = daemon.wait(SOON)
        reader.join(SOON)
        return REFUSED if refused and status == 0 else status


def table(theme):
    def run():
        bad = []
        for columns in ROWS[theme]:
            try:
                judge(*columns)
            except AssertionError as error:
                bad.append(f"{columns[0]}: {error}")
        assert not bad, f"{len(bad)} of {len(ROWS[theme])}:\n" + "\n".join(bad)
    run.__name__ = theme
    return check(run)


for _theme in list(ROWS):
    table(_theme)


# plugin: (the "needs" that docs/tasks/addresses.md gives for it, another value that opens the sandbox as far)
PLUGIN_NEEDS = {"nv-ipam": ({"write": ["/var/lib/cni/nv-ipam"]}, {"network": "host"}), "dhcp": ({"write": ["/run/cni"]}, {"network": "host"}),
                "whereabouts": ({"network": "host"}, {"write": ["/run/cni"]})}


@check
def a_plugin_without_what_it_needs_is_not_ok():
    with tempfile.TemporaryDirectory() as plugins:
        for name, (right, wrong) in PLUGIN_NEEDS.items():
            write(f"{plugins}/{name}")
            os.chmod(f"{plugins}/{name}", 0o755)
            for needs, status in ((None, 1), (wrong, 1), (right, 0)):
                ipam = {"type": name, **({"needs": needs} if needs else {})}
                here = pool(selectors={"pfNames": ["ens1np0"]}, network={"ipam": ipam})
                for text in (here, {"groups": [dict(here, name="there"), {"name": "here", "match": {}, "pools": []}]}):
                    configure(json.dumps(text).replace('"ipam"', '\n"ipam"'))
                    result = rocelet("--check-config", "--strict", "--cni-path", plugins)
                    sentence = f'c.json:2: "ipam": {name} works only with "needs": {json.dumps(right)}, no pod gets a device'
                    equal((name, needs, result.status if "groups" not in text else 1, sentence in result.err), (name, needs, status if "groups" not in text else 1, status == 1))


@check
def a_pool_that_needs_capabilities_is_not_ok_without_them():
    """With the capabilities dropped by the flag or by the file; not for another group's nodes, nor for a pool without network."""
    network = pool(selectors={"pfNames": ["ens1np0"]}, network={})
    sentence = 'c.json:2: "network": needs capabilities and unprivileged keeps none, no pod gets a device of the pool'
    for text, flags, status in ((network, ("--unprivileged",), 1), (dict(network, unprivileged=True), (), 1), (network, (), 0),
                                (pool(selectors={"pfNames": ["ens1np0"]}), ("--unprivileged",), 0)):
        configure(json.dumps(text).replace('"network"', '\n"network"'))
        result = rocelet("--check-config", "--strict", *flags)
        equal((text, flags, result.status, sentence in result.err), (text, flags, status, status == 1))
    configure(json.dumps({"groups": [dict(network, name="there"), {"name": "here", "match": {}, "unprivileged": True, "pools": []}]}))
    assert "capabilities" not in rocelet("--check-config").all
    configure(json.dumps(pool(kind="shared", interface="macvlan", selectors={"pfNames": ["ens1np0"]}, network={})))
    assert "needs capabilities" in rocelet("--check-config", "--unprivileged").err
    configure(json.dumps(pool(selectors={"pfNames": ["ens1np0"]}, softRoce=True)))
    assert '"softRoce": needs capabilities' in rocelet("--check-config", "--unprivileged").err


@check
def a_file_is_checked_from_stdin():
    """stdin as `kubectl exec -i` connects it: the same output as for a file, named stdin. A daemon does not start with it."""
    def piped(text, *flags):
        with tempfile.TemporaryFile() as file:
            file.write(text)
            file.seek(0)
            return Result([programs["daemon"], "--config", "-", "--sysfs-root", "node/sys", "--dev-root", "node/dev", "--cni-path", "/bin", *flags], stdin=file)
    for text in (pool(selectors={"pfNames": ["ens1np0"]}), pool(networks={}), {"pool": []}, {"lissten": ":1"}, "", "x" * 2000):
        text = text if isinstance(text, str) else json.dumps(text)
        for action in ("--check-config", "--print-config"):
            configure(text)
            file, result = rocelet(action), piped(text.encode(), action)
            equal((result.status, result.all), (file.status, file.all.replace("c.json", "stdin")))
    result = piped(b" " * (1 << 20) + b"{}", "--check-config")
    equal((result.status, result.all), (2, "rocelet: stdin: larger than 1048576 bytes\n"))
    equal(piped(b" " * ((1 << 20) - 2) + b"{}", "--check-config").status, 0)
    equal(piped(b"{}", "--check-config").out.splitlines()[-1], "stdin: ok")
    result = piped(b"{}")
    equal((result.status, result.all), (2, "rocelet: --config -: stdin is read with --check-config and --print-config only\n"))


@check
def the_last_duplicate_counts():
    """The last one of a duplicate key is in the printed configuration."""
    configure('{"resourceList": [{"resourceName": "a", "resourceName": "b", "selectors": {"pfNames": ["x"], "pfNames": ["ens2np0"]}}]}')
    result = rocelet("--print-config")
    found, = json.loads(result.out)["pools"]
    equal((found["resourceName"], found["selectors"][0]["pfNames"]), ("b", ["ens2np0"]))


@check
def a_printed_configuration_means_the_same():
    for _name, text, status, _start, _words, flags in [r for rows in ROWS.values() for r in rows]:
        if status != 0:
            continue
        configure(text)
        first = rocelet("--print-config", *flags)
        equal(first.status, 0)
        configure(first.out)
        again = rocelet("--print-config", *flags)
        equal((again.status, again.out), (0, first.out))


# --- command lines ----------------------------------------------------------------------------

PCAP_147 = struct.pack("<IHHIIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 147) + struct.pack("<IIII", 0, 0, 4, 4) + b"abcd"
LINES = (
    # program, arguments, status, words of the output
    ("daemon", "-h", 0, ("usage: rocelet", "--check-config")),
    ("daemon", "--help", 0, ("usage: rocelet",)),
    ("daemon", "-V", 0, ("rocelet ",)),
    ("daemon", "--lisen=:1", 2, ("did you mean --listen?",)),
    ("daemon", "--no-such-flag", 2, ("--no-such-flag", "--help")),
    ("daemon", "--event-buffer=1", 2, ("1 is not between 1024 and 1073741824",)),
    ("daemon", "--event-buffer=99999999999", 2, ("99999999999 is not between 1024 and 1073741824",)),
    ("daemon", "--log-level=loud", 2, ("'loud' is none of error, warn, info, debug",)),
    ("daemon", "--kubelet-dir= --check-config", 2, ("--kubelet-dir: is empty",)),
    ("daemon", "--state-dir= --check-config", 2, ("--state-dir: is empty",)),
    ("daemon", "--config= --check-config", 2, ("--config: is empty",)),
    ("daemon", "--listen=localhost:80 --check-config", 2, ("--listen: 'localhost' is not an IP address",)),
    ("daemon", "--resource-prefix=A --check-config", 2, ("--resource-prefix: 'A' is not a resource prefix",)),
    ("daemon", "--config ./nowhere.json --check-config", 2, (". has c.json, odd.pcap, but no nowhere.json",)),
    ("rocectl", "-h", 0, ("rocectl pods",)),
    ("rocectl", "podz", 2, ('did you mean "pods"?',)),
    ("rocectl", "docter", 2, ('did you mean "doctor"?',)),
    ("rocectl", "prots", 2, ('did you mean "ports"?',)),
    ("rocectl", "bogus", 2, ('unknown command "bogus"', "--help")),
    ("rocectl", "--jsn pods", 2, ("did you mean --json?",)),
    ("rocectl", "pods --forse", 2, ("did you mean --force?",)),
    ("rocectl", "--bogus pods", 2, ("--bogus", "--help")),
    ("rocectl", "explain", 2, ("DEVICE|POD|CAUSE is missing",)),
    ("rocectl", "pods --socket nowhere", 3, ("nowhere",)),
    ("rocectl", "pcap odd.pcap", 0, ("147",)),
    ("rocectl", "pcap nowhere.pcap", 1, ("nowhere.pcap",)),
    ("rocectl", "suggest --merge nodes", 0, ('"groups": [',)),
    ("rocectl", "suggest --merge nodes -o yaml", 0, ("groups:\n- name: group1\n",)),
    ("rocectl", "suggest --merge nodes --configmap a -o json", 2, ("--configmap is always YAML",)),
    ("rocectl", "pods -o json --no-headers", 2, ("pods: --no-headers is only for tables",)),
)


@check
def command_lines():
    configure("{}")
    with open(TREE.name + "/odd.pcap", "wb") as f:
        f.write(PCAP_147)
    os.mkdir(TREE.name + "/nodes")
    write(TREE.name + "/nodes/node-1.json", json.dumps(pool()))
    bad = []
    for program, words, status, wanted in LINES:
        result = Result([programs[program], *words.split()])
        if result.status != status or not all(word in result.all for word in wanted):
            bad.append(f"{program} {words}: {result}")
        if result.status == 2 and (result.out or result.err.count("\n") != 1):
            bad.append(f"{program} {words}, in one line: {result}")
    assert not bad, "\n".join(bad)


@check
def output_that_cannot_be_written():
    """Every command of both programs, with stdout on /dev/full: a failing status and one line on stderr."""
    with Daemon(pools=(daemon_judge.VF_POOL,)) as daemon, open("/dev/full", "wb") as full:
        eventually("rocelet.sock listens", daemon.connect)
        write(daemon.dir + "/config.json", "{")
        eventually("devices", lambda: "ens1v0" in daemon.get("/api/v1/devices"))
        eventually("pods", lambda: daemon.get("/api/v1/pods"))
        eventually("an event", lambda: json.loads(daemon.get("/api/v1/events"))["events"])
        socket = ["--socket", daemon.dir + "/run/rocelet.sock"]
        configure(json.dumps(pool()))
        with open(TREE.name + "/empty.pcap", "wb") as f:
            f.write(PCAP_147[:24])
        commands_with_json = [["pods"], ["devices"], ["explain", "ens1v0"], ["events"], ["doctor"], ["qps"], ["suggest"]]
        empty = (["pods"], ["qps"])  # their lists are empty: the text form prints that on stderr
        commands = [["rocectl", *words, *more, *socket] for words in commands_with_json for more in ([], ["--json"]) if more or words not in empty]
        commands += [["rocectl", "devices", "-o", format, *socket] for format in ("wide", "yaml")] + [["rocectl", "pods", "-o", "yaml", *socket]]
        commands += [["rocectl", "devices", "-o", "name", *socket], ["rocectl", "completion", "bash"], ["rocectl", "pods", "--help"]]
        commands += [["rocectl", "pcap", "empty.pcap"], ["rocectl", "pcap", "empty.pcap", "--json"], ["rocectl", "--help"], ["rocectl", "help"],
                     ["rocectl", "--version"], ["rocectl", "version"], ["rocectl", "-h"], ["rocectl", "-V"]]
        commands += [["daemon", "--config", "c.json", *words] for words in (["--help"], ["-h"], ["--version"], ["-V"], ["--print-config"],
                                                                           ["--check-config", "--sysfs-root", "node/sys", "--dev-root", "node/dev"],
                                                                           ["--suggest-config", "--sysfs-root", "node/sys"])]
        if os.getuid() == 0:
            commands += [["rocectl", "sniff", "lo", "--packets", "1", "--seconds", "1", *more] for more in ([], ["--json"])]
        bad = []
        for program, *words in commands:
            fine = Result([programs[program], *words])
            result = Result([programs[program], *words], stdout=full)
            lines = [line for line in result.err.splitlines() if re.fullmatch(r"(rocelet|rocectl): cannot write: .*", line)]
            if not fine.out or result.status == 0 or len(lines) != 1 or len(result.err.splitlines()) != len(fine.err.splitlines()) + 1:
                bad.append(f"{program} {' '.join(words)}: {result}")
        assert not bad, "\n".join(bad)
        print(f"# {len(commands)} commands whose output cannot be written")


@check
def a_watcher_that_cannot_write_ends():
    for words in ([], ["--json"]):
        with Daemon() as daemon, open("/dev/full", "wb") as full:
            eventually("rocelet.sock listens", daemon.connect)
            watcher = subprocess.Popen([programs["rocectl"], "watch", *words, "--socket", daemon.dir + "/run/rocelet.sock"], stdout=full, stderr=subprocess.PIPE,
                                       text=True)
            edits = 0

            def ended():
                nonlocal edits
                edits += 1
                write(daemon.dir + "/config.json", f'{{"pools": [{{"resourceName": "{edits}"')  # another event
                return watcher.poll() is not None
            eventually("the watcher ends", ended)
            equal(watcher.returncode, 1)
            result = watcher.stderr.read()
            assert re.fullmatch(r"rocectl: cannot write: .*\n", result), result


@check
def bash_completes():
    """A real bash, which splits words at colons, and device names from the daemon."""
    script = """source <("$1" completion bash); COMP_WORDBREAKS=$' \\t\\n"\\'><=;|&(:'
        COMP_LINE="$1 $2"; COMP_POINT=${#COMP_LINE}; _rocectl 2>/dev/null; printf '%s\\n' "${COMPREPLY[@]}" """
    with Daemon(pools=(daemon_judge.VF_POOL,)) as daemon:
        eventually("devices", lambda: "ens1v0" in daemon.get("/api/v1/devices"))
        devices = [d["id"] for d in json.loads(daemon.get("/api/v1/devices"))["devices"]]
        socket = "--socket " + daemon.dir + "/run/rocelet.sock "

        def completed(line):
            return Result(["bash", "--norc", "-c", script, "bash", programs["rocectl"], line]).out.split()
        equal(completed("de"), ["devices", "detach"])
        equal(completed("pods --no"), ["--no-headers"])
        equal(completed("pods -o w"), ["wide"])
        equal(completed("qps --top=ce"), ["ce"])
        equal(completed(socket + "explain ens1v0"), ["ens1v0"])
        equal(sorted(completed(socket + "explain 0000:")), sorted(d[5:] for d in devices if d.startswith("0000:")))
        equal(completed("explain "), [])  # without a daemon


# --- with a daemon ----------------------------------------------------------------------------


class Node(Daemon):
    """A daemon on a node with sub-functions."""

    make = staticmethod(make_node)

    def rocectl(self, *words):
        return rocectl("--socket", self.dir + "/run/rocelet.sock", *words)


@check
def doctor_names_what_the_node_has_instead():
    pools = [{"resourceName": name, "selectors": selectors} for name, selectors, _sentence in EMPTY]
    with Node(pools=pools) as daemon:
        eventually("the pools' devices are counted", lambda: daemon.value('rocelet_resource_devices{resource="rocelet.dev/pf",health="healthy"}') == 0)
        result = daemon.rocectl("doctor")
        equal(result.status, 1)
        for name, _selectors, sentence in EMPTY:
            assert any(line.startswith(f"  rocelet.dev/{name}: it has no devices: {sentence}") for line in result.out.splitlines()), (name, str(result))
        findings = {f["object"]: f["what"] for f in json.loads(daemon.rocectl("doctor", "--json").out)["findings"] if f["kind"] == "empty"}
        equal(sorted(findings), sorted(f"rocelet.dev/{name}" for name, _selectors, _sentence in EMPTY))
        for name, _selectors, sentence in EMPTY:
            assert sentence in findings[f"rocelet.dev/{name}"], findings


@check
def sub_functions_of_a_shared_resource():
    """k8s-rdma-shared-dev-plugin offers PCI functions only; our key subFunctions adds the sub-functions."""
    def nodes(daemon, name):
        kubelet = daemon.kubelet
        answer, = daemon_judge.Plugin(daemon.dir + f"/device-plugins/rdma_{name}.sock").allocate([kubelet.watches["rdma/" + name].lists[-1][0].ID])
        return {d.host_path.rsplit("/", 1)[1] for d in answer.devices if "uverbs" in d.host_path}
    text = json.dumps({"configList": [{"resourceName": "a", "rdmaHcaMax": 2, "selectors": {"vendors": ["15b3"]}},
                                      {"resourceName": "b", "rdmaHcaMax": 2, "selectors": {"vendors": ["15b3"]}, "subFunctions": True}]})
    with Node(text=text) as daemon:
        daemon.kubelet = registered(daemon, 2)
        eventually("all devices", lambda: json.loads(daemon.get("/api/v1/devices"))["devices"][-1]["resources"])
        functions = {f"uverbs{i}" for i in range(6)}
        equal(nodes(daemon, "a"), functions)
        equal(nodes(daemon, "b"), functions | {"uverbs6", "uverbs7"})
        daemon.kubelet.stop()


@check
def one_hca_of_several():
    """explain reports the HCA's own slots, not the pool's."""
    with Node(pools=({"resourceName": "hca", "kind": "shared", "slots": 3, "selectors": {"ifNames": ["ens1np0", "ens2np0"]}},)) as daemon:
        kubelet = registered(daemon)
        eventually("all slots", lambda: len(kubelet.watch().lists[-1]) == 6)
        for hca in ("mlx5_0", "mlx5_1"):
            eventually("its own slots", lambda: daemon.rocectl("explain", hca).out.endswith(": shared as rocelet.dev/hca, 0 of its 3 slots allocated\n"))
        kubelet.client().allocate(["mlx5_1-0"])
        eventually("one is allocated", lambda: "1 of its 3 slots" in daemon.rocectl("explain", "mlx5_1").out)
        assert "0 of its 3 slots" in daemon.rocectl("explain", "mlx5_0").out
        kubelet.stop()


A, B = "intel.com/a", "intel.com/b"
IN_USE = peers({"resourceName": "a", "selectors": {"pfNames": ["ens1np0#0-1"]}}, {"resourceName": "b", "selectors": {"pfNames": ["ens2np0"]}})
EDITS = (
    # what is edited, the new text, what is rejected (a resource, several, "file" or nothing), a word of the message
    ("a prefix", IN_USE.replace('{"resourceName": "b"', '{"resourceName": "b", "resourcePrefix": "example_prefix"'), B, "example_prefix"),
    ("a comma behind a range", IN_USE.replace("#0-1", "#0-1,"), None, "ens1np0#0-1,"),
    ("a key twice", IN_USE.replace('"resourceName": "a"', '"resourceName": "x", "resourceName": "a"'), None, "the last one counts"),
    ("no UTF-8", IN_USE.replace('"resourceName": "a"', '"resourceName": "a", "comment": "\udce9"'), None, "0xe9"),
    ("a key of the file misspelt", IN_USE.replace("resourceList", "resourceLst"), "file", "intel.com/a would be withdrawn"),
    ("a key of the file twice", IN_USE[:-1] + ', "resourceList": [%s]}' % json.dumps({"resourceName": "c", "selectors": {"pfNames": ["ens2np0"]}}),
     "file", "intel.com/a would be withdrawn"),
    ("a prefix's key misspelt", IN_USE.replace('{"resourceName": "b"', '{"resourceName": "b", "resourcePrefx": "intel.com"'), None, "resourcePrefx"),
    ("a level too many", '{"configuration": ' + IN_USE + "}", "file", "intel.com/a would be withdrawn"),
    ("a name twice", IN_USE.replace('"resourceName": "b"', '"resourceName": "a"'), (A, B), "already defined"),
    ("a comma too many", IN_USE.replace("]}", "],}", 1).replace("}}", "}\n}"), "file", "a trailing comma"),
)


@check
def live_edits():
    """Harmless edits of a peer's file change nothing for allocated devices; wrong ones are reported in all places."""
    with Node(text=IN_USE) as daemon:
        kubelet = registered(daemon, 2)
        devices = {name: [d.ID for d in kubelet.watches[name].lists[-1]] for name in (A, B)}
        equal([len(list) for list in devices.values()], [2, 2])
        for name, text, refused, word in EDITS:
            before, lines = reloads(daemon), len(daemon.log)
            with open(daemon.dir + "/config.json", "wb") as f:
                f.write(text.encode(errors="surrogateescape"))
            eventually("read", lambda: reloads(daemon) > before)
            if refused == "file":
                eventually("the file is rejected", lambda: daemon.value("rocelet_config_ok") == 0)
                equal(daemon.value("rocelet_config_resources_refused"), 0)
                assert re.search(r"config\.json:\d+: .*" + word, daemon.get("/readyz")), (name, daemon.get("/readyz"))
                assert word in daemon.rocectl("doctor").out, name
            elif isinstance(refused, tuple):
                eventually("the resources are rejected", lambda: daemon.value("rocelet_config_resources_refused") == len(refused))
                for one in refused:
                    assert f"{one} keeps its previous definition" in daemon.get("/readyz"), (name, daemon.get("/readyz"))
                    assert one in daemon.rocectl("doctor").out, name
            elif refused:
                reported_everywhere(daemon, refused, "keeps its previous definition")
                assert refused in daemon.rocectl("doctor").out, name
            else:
                eventually("right", lambda: daemon.value("rocelet_config_ok") == 1)
                equal((name, daemon.get("/readyz")), (name, "ok\n"))
            eventually("the log has the reason", lambda: any(word in line for line in daemon.log[lines:]))
            for resource_name, ids in devices.items():
                assert kubelet.watches[resource_name].is_alive(), (name, resource_name)
                equal([d.ID for d in kubelet.watches[resource_name].lists[-1]], ids)
            before = reloads(daemon)
            write(daemon.dir + "/config.json", IN_USE)
            eventually("read again", lambda: reloads(daemon) > before)
            eventually("right again", lambda: daemon.value("rocelet_config_ok") == 1)
        equal(len(kubelet.requests), 2)
        kubelet.stop()


GROUPS = {"groups": [
    {"name": "here", "match": {"nodes": ["gpu-*"]}, "resourceList": [{"resourceName": "a", "selectors": {"pfNames": ["ens1np0"]}}]},
    {"name": "there", "match": {"nodes": ["cpu-*"]}, "resourceList": [{"resourceName": "b", "selectors": {"pfNames": ["ens2np0"]}}]},
]}


@check
def an_edit_that_would_take_all_devices_waits():
    """An edit that withdraws a pool whose devices are in pods (its group no longer matches) is held back until the pods have ended."""
    os.environ["NODE_NAME"] = "gpu-7"
    try:
        with Node(text=json.dumps(GROUPS)) as daemon:
            pods = daemon_judge.PodResources(daemon.dir)
            kubelet = registered(daemon, 1)
            ids = [d.ID for d in kubelet.watches[A].lists[-1]]
            info = 'rocelet_config_info{digest="%s",group="here",generation="1"}'
            eventually("a page", lambda: "rocelet_config_info{" in daemon.get("/metrics"))
            digest = re.search(r'rocelet_config_info{digest="([0-9a-f]{16})"', daemon.get("/metrics"))[1]
            equal(daemon.value(info % digest), 1)
            pods.held = [("train", "job-7", "main", A, ids[0])]
            checkpoint(daemon)
            eventually("held", lambda: "job-7" in daemon.get("/api/v1/pods"))
            edit = json.dumps(GROUPS).replace("gpu-*", "gpu-x*")
            write(daemon.dir + "/config.json", edit)
            eventually("the edit is held", lambda: daemon.value("rocelet_config_held") == 1)
            equal((daemon.value("rocelet_config_ok"), daemon.value(info % digest)), (0, 1))
            equal(daemon.value("rocelet_config_unmatched"), 0)
            assert re.search(r"ok\nthe configuration file is held: .*intel.com/a would lose all of its 2 devices", daemon.get("/readyz")), daemon.get("/readyz")
            assert "the configuration file is held" in daemon.rocectl("doctor").out
            assert '"ConfigHeld"' in daemon.get("/api/v1/events")
            equal([d.ID for d in kubelet.watches[A].lists[-1]], ids)
            # Another edit meanwhile replaces the held one; a wrong one is rejected, not held.
            write(daemon.dir + "/config.json", edit + "}")
            eventually("rejected", lambda: daemon.value("rocelet_config_held") == 0)
            write(daemon.dir + "/config.json", edit)
            eventually("held again", lambda: daemon.value("rocelet_config_held") == 1)
            pods.held = []
            checkpoint(daemon)
            eventually("it counts when the pod has ended", lambda: daemon.value("rocelet_config_ok") == 1)
            eventually("and the node has no group", lambda: daemon.value("rocelet_config_held") == 0 and 'group="",generation="2"' in daemon.get("/metrics"))
            equal(daemon.value("rocelet_config_unmatched"), 1)
            for generation, text in ((3, '{"groups": [{"name": "canary", "pools": []}]}'), (4, edit), (5, "{}")):
                write(daemon.dir + "/config.json", text)
                # Without "match" a group applies by name only.
                wanted = f"rocelet_config_unmatched {int(text == edit)}\n"
                eventually("in use", lambda n=generation, w=wanted: f'generation="{n}"' in (page := daemon.get("/metrics")) and w in page)
            assert any("no group matches" in line and "node gpu-7" in line for line in daemon.log), daemon.log
            kubelet.stop()
            pods.stop()
    finally:
        del os.environ["NODE_NAME"]


OBSERVES = "observes only (--observe): the configured pools ({}) are not offered"


@check
def observe_ignores_pools():
    """With --observe (the overlay `observe`) pools of the top level or of a group that matches neither register, nor need device nodes, capabilities
    or a kubelet: rocelet is ready and has no finding about them, and says that it does not offer them. The file is checked as without it."""
    native = {"resourceName": "c", "selectors": {"pfNames": ["ens2np0"]}, "network": {"ipam": {"type": "missing"}}}
    top = json.dumps({"pools": [daemon_judge.VF_POOL, native]})
    group = json.dumps({"groups": [{"name": "g", "match": {}, "pools": [native]}]})
    for text, n in ((top, 2), (group, 1)):
        with Node(text=text, flags=["--observe", "--unprivileged"]) as daemon:
            sentence = OBSERVES.format(n)
            eventually("ready", lambda d=daemon, s=sentence: d.get("/readyz") == f"ok\n{s}\n")
            findings = daemon.rocectl("doctor", "--json").out
            assert not [f for f in json.loads(findings)["findings"] if f["kind"] in ("chardev", "empty", "kubelet", "config", "privilege")], findings
            assert "rocelet observes only (--observe), and does not offer them" in daemon.rocectl("doctor").out, daemon.rocectl("doctor")
            for words in (["resources"], ["devices"]):
                result = daemon.rocectl(*words)
                equal((words, result.status, f"rocelet {sentence}\n" in result.err), (words, 0, True))
            config = json.loads(daemon.get("/api/v1/config"))
            equal((config["observe"], config.get("pools", [])), (True, []))
            eventually("the metric", lambda d=daemon, k=n: d.value("rocelet_config_resources_ignored") == k)
            equal(daemon.value("rocelet_config_ok"), 1)
            assert any(sentence in line for line in daemon.log), daemon.log
            # An edit counts, and a wrong one is rejected; it is never a question of devices that would be lost.
            write(daemon.dir + "/config.json", json.dumps({"pools": [native]}))
            eventually("the edit is read", lambda d=daemon: reloads(d) > 0 and OBSERVES.format(1) in d.get("/readyz"))
            write(daemon.dir + "/config.json", '{"pools": [')
            eventually("rejected", lambda d=daemon: d.value("rocelet_config_ok") == 0)
            write(daemon.dir + "/config.json", "{}")
            eventually("no pool is left to ignore", lambda d=daemon: d.get("/readyz") == "ok\n")


@check
def a_misspelt_key_of_a_group_withdraws_nothing():
    text = json.dumps({"groups": [{"name": "g", "match": {}, "pools": [daemon_judge.VF_POOL]}]})
    with Node(text=text) as daemon:
        kubelet = registered(daemon)
        write(daemon.dir + "/config.json", text.replace('"pools"', '"pool"'))
        eventually("rejected", lambda: daemon.value("rocelet_config_ok") == 0)
        assert 'unknown key (did you mean "pools"?); rocelet.dev/roce would be withdrawn' in daemon.get("/readyz"), daemon.get("/readyz")
        assert kubelet.watch().is_alive()
        kubelet.stop()


@check
def an_edit_that_would_take_all_devices_can_be_forced_or_rejected():
    with Node(text=IN_USE) as daemon:
        pods = daemon_judge.PodResources(daemon.dir)
        kubelet = registered(daemon, 2)
        only_b = peers({"resourceName": "b", "selectors": {"pfNames": ["ens2np0"]}})[:-1]
        write(daemon.dir + "/config.json", only_b + ', "lost-pool": "refuse"}')
        eventually("rejected", lambda: daemon.value("rocelet_config_ok") == 0)
        equal(daemon.value("rocelet_config_held"), 0)
        assert "the configuration file is rejected" in daemon.get("/readyz"), daemon.get("/readyz")
        pods.held = [("train", "job-7", "main", A, kubelet.watches[A].lists[-1][0].ID)]
        checkpoint(daemon)
        eventually("held", lambda: "job-7" in daemon.get("/api/v1/pods"))
        write(daemon.dir + "/config.json", only_b + ', "lost-pool": "accept"}')
        eventually("accepted", lambda: daemon.value("rocelet_config_ok") == 1)
        kubelet.stop()
        pods.stop()


@check
def a_file_that_leaves_no_resource_is_rejected():
    """--check-config exits with 2. A file that offers nothing on purpose is accepted."""
    def ids():
        return [d.ID for d in kubelet.watches["rocelet.dev/roce"].lists[-1]]
    with Node() as daemon:
        kubelet = registered(daemon)
        before = ids()
        write(daemon.dir + "/config.json", '{"resourceList": [{"resourceName": "a"}]}')
        eventually("rejected", lambda: daemon.value("rocelet_config_ok") == 0)
        equal(daemon.value('rocelet_config_reloads_total{result="failed"}'), 1)
        assert "no resource is left" in daemon.get("/readyz") and "no resource is left" in daemon.rocectl("doctor").out, daemon.get("/readyz")
        assert kubelet.watches["rocelet.dev/roce"].is_alive()
        equal(ids(), before)
        write(daemon.dir + "/config.json", '{"pools": []}')
        kubelet.watches["rocelet.dev/roce"].join(SOON)
        eventually("right", lambda: daemon.value("rocelet_config_ok") == 1)
        kubelet.stop()


@check
def a_wrong_value_is_rejected_live_and_at_the_start():
    """A running daemon keeps its configuration; a start with such a value only observes."""
    for text in ('{"listen": ":99999", "pools": []}', '{"cni-path": "bin"}', '{"tls-cert": "/x"}'):
        key = text[2:].split('"')[0]
        with Node() as daemon:
            kubelet = registered(daemon)
            write(daemon.dir + "/config.json", text)
            eventually("rejected", lambda: daemon.value("rocelet_config_ok") == 0)
            eventually("the text of readyz", lambda: re.search(rf'the configuration file is rejected: \S+config\.json:1: "{key}": ', daemon.get("/readyz")))
            assert kubelet.watches["rocelet.dev/roce"].is_alive()
            kubelet.stop()


@check
def a_missing_ipam_plugin_is_reported_until_it_is_installed():
    """By doctor, /readyz, the status and a metric, and again when the plugin is removed."""
    with tempfile.TemporaryDirectory() as plugins:
        pools = [{"resourceName": "p", "selectors": {"pfNames": ["ens1np0"]}, "network": {"ipam": {"type": "whereabout", "range": "10.9.0.0/16"}}}]
        with Node(pools=pools, flags=("--cni-path", plugins)) as daemon:
            def status():
                return daemon.rocectl("status").out

            def is_reported():
                what = f'no IPAM plugin "whereabout" in {plugins} (--cni-path)'
                eventually("the metric", lambda: daemon.value("rocelet_config_resources_unusable") == 1)
                equal(daemon.value("rocelet_config_ok"), 1)
                eventually("the text of readyz", lambda: daemon.get("/readyz") == f"ok\nrocelet.dev/p: {what}\n")
                result = daemon.rocectl("doctor")
                assert result.status == 1 and f"rocelet.dev/p: {what}" in result.out, result
                assert what in status(), status()

            def is_not_reported():
                eventually("the metric", lambda: daemon.value("rocelet_config_resources_unusable") == 0)
                equal(daemon.get("/readyz"), "ok\n")
                assert "IPAM" not in daemon.rocectl("doctor").out + status()
            kubelet = registered(daemon)
            is_reported()
            write(plugins + "/whereabout", "#!/bin/sh\n")
            os.chmod(plugins + "/whereabout", 0o755)
            is_not_reported()
            os.unlink(plugins + "/whereabout")
            is_reported()
            daemon.configure(())
            is_not_reported()
            kubelet.stop()


@check
def a_key_without_effect_is_reported_while_it_is_there():
    """By the log and doctor, from the start on and after an edit."""
    idle = {"resourceName": "p", "selectors": {"pfNames": ["ens1np0"]}, "softRoce": True, "issm": True}
    sentence = '"issm": has no effect with "softRoce": true'
    with Node(pools=[idle]) as daemon:
        kubelet = registered(daemon)
        result = daemon.rocectl("doctor")
        assert result.status == 1 and re.search(rf"rocelet.dev/p: \S+/config.json:\d+: {sentence}", result.out), result
        assert any(sentence in line for line in daemon.log), daemon.log
        del idle["issm"]
        daemon.configure([idle])
        eventually("no finding", lambda: "issm" not in daemon.rocectl("doctor").out)
        kubelet.stop()


def answers(daemon):
    """The daemon answers sooner than a loop could that waits for a folder."""
    assert daemon_judge.curl(daemon, "/healthz", "--max-time", "5")[0] == 200


@check
def a_folder_of_plugins_that_hangs_stops_nothing():
    """As with an unreachable NFS server: the daemon reads the file and edits and answers requests. It reports missing plugins once the folder answers."""
    pools = [{"resourceName": "p", "selectors": {"pfNames": ["ens1np0"]}, "network": {"ipam": {"type": "whereabout", "range": "10.9.0.0/16"}}}]
    with HangingFolder() as plugins:
        plugins.hang()
        with Node(pools=pools, flags=("--cni-path", plugins.path)) as daemon:
            kubelet = registered(daemon)
            answers(daemon)
            daemon.configure(pools + [{"resourceName": "q", "selectors": {"pfNames": ["ens2np0"]}}])
            eventually("the edit is in use", lambda: '"q"' in daemon.get("/api/v1/config"))
            eventually("doctor reports it", lambda: "the search for IPAM plugins" in daemon.rocectl("doctor").out)
            answers(daemon)
            plugins.let_go()
            eventually("the metric", lambda: daemon.value("rocelet_config_resources_unusable") == 1)
            kubelet.stop()


@check
def a_strict_reload_from_a_folder_that_hangs_stops_nothing():
    """With --strict the search for plugins is part of reading the file."""
    def pools(name):
        return [{"resourceName": name, "selectors": {"pfNames": ["ens1np0"]}, "network": {"ipam": {"type": "sh", "range": "10.9.0.0/16"}}}]
    with HangingFolder() as plugins:
        os.symlink("/bin/sh", plugins.path + "/sh")
        with Node(pools=pools("p"), flags=("--strict", "--cni-path", plugins.path)) as daemon:
            kubelet = registered(daemon)
            plugins.hang()
            daemon.configure(pools("q"))
            eventually("doctor reports it", lambda: "reading the configuration" in daemon.rocectl("doctor").out)
            answers(daemon)
            equal(json.loads(daemon.get("/api/v1/config"))["pools"][0]["resourceName"], "p")
            plugins.let_go()
            eventually("it found none", lambda: daemon.value("rocelet_config_ok") == 0)
            daemon.configure(pools("q"))
            eventually("it is in use", lambda: json.loads(daemon.get("/api/v1/config"))["pools"][0]["resourceName"] == "q")
            kubelet.stop()


@check
def a_check_counts_the_unhealthy():
    """--check-config prints them per pool with the reasons, and no such line for a pool whose devices are all healthy. Missing character devices are a warning."""
    configure('{"pools": [{"resourceName": "a", "selectors": {"pfNames": ["ens1np0"], "isRdma": true}}, {"resourceName": "b", "selectors": {"pfNames": ["ens2np0"], "isRdma": true}}]}')
    assert "unhealthy" not in rocelet("--check-config").all
    lacking = f"{TREE.name}/node/dev/infiniband/uverbs2"
    os.rename(lacking, lacking + ".away")
    try:
        result = rocelet("--check-config", "--strict")
    finally:
        os.rename(lacking + ".away", lacking)
    equal((result.status, [line for line in result.out.splitlines() if "unhealthy" in line]), (3, ["rocelet.dev/a: 1 of 2 devices unhealthy now: no_chardev"]))
    assert "warning: rocelet.dev/a: 1 of 2 devices without character devices in node/dev/infiniband (no_chardev), no container gets them: " in result.out, result
    equal(result.out.splitlines()[-1], "c.json: ok, but not for this node, 1 warning (--strict)")
    assert "no_chardev" not in rocelet("--check-config", "--strict").all
    result = rocelet("--check-config", "--strict", "--dev-root", "node")
    equal((result.status, result.out.splitlines()[-1]), (3, "c.json: ok, but not for this node, rocelet.dev/a, rocelet.dev/b offer nothing on this node, 2 warnings (--strict)"))


@check
def a_start_that_waits_for_a_folder_ends_with_the_reason():
    """Before its loop runs the daemon cannot report what it waits for. --check-config ends the same way."""
    with HangingFolder() as plugins:
        configure('{"pools": [{"resourceName": "p", "network": {"ipam": {"type": "sh", "range": "10.9.0.0/16"}}}]}')
        plugins.hang()
        with concurrent.futures.ThreadPoolExecutor() as both:
            ended = list(both.map(lambda action: Result([programs["daemon"], action, "--config", "c.json", "--cni-path", plugins.path], seconds=4 * SOON),
                                  ("--strict", "--check-config")))
        for result in ended:
            equal((result.status, result.err), (1, "rocelet: reading the configuration has not ended after 30 s: a file system does not answer, giving up\n"))


class OfThisKernel(Node):
    """A daemon without --sysfs-root."""

    def command(self):
        daemon, config, path, _sysfs, _root, *flags = super().command()
        return ["unshare", "-n", daemon, config, path, *flags]


@check
def a_sysfs_that_is_not_there_is_rejected():
    """--check-config rejects it, and a start with it only observes."""
    configure('{"sysfs-root": "/nope"}')
    result = Result([programs["daemon"], "--check-config", "--config", "c.json"])
    equal((result.status, result.err), (2, 'rocelet: c.json:1: "sysfs-root": there is no folder /nope\n'))
    with OfThisKernel(text='{"sysfs-root": "/nope"}') as daemon:
        eventually("it observes", lambda: daemon.value("rocelet_config_ok") == 0)
        status, text = daemon_judge.curl(daemon, "/readyz")
        assert status == 503 and 'config.json:1: "sysfs-root": there is no folder /nope' in text, text
        write(daemon.dir + "/config.json", "{}")
        equal(daemon.process.wait(SOON), 0)
    # A flag overrides the file.
    equal(rocelet("--check-config").status, 0)


class Etc(Node):
    """Runs without --config, with a folder of its own as /etc/rocelet."""

    def make(self, dir):
        make_node(dir)
        os.mkdir(dir + "/etc")

    def configure(self, pools):
        write(self.dir + "/etc/config.yaml", json.dumps({"pools": pools}))

    def command(self):
        daemon, *flags = daemon_judge.command(self.dir, self.dir)
        mounts = 'mount -t tmpfs none /etc && mkdir /etc/rocelet && mount --bind "$0/etc" /etc/rocelet && exec "$@"'
        return ["unshare", "-m", "sh", "-c", mounts, self.dir, daemon, *flags[2:]]


@check
def a_file_of_another_name_is_reported():
    """A ConfigMap whose key is not config.json: nothing is offered, and doctor, status, /readyz and the log give the reason."""
    with Etc() as daemon:
        sentence = "/etc/rocelet has config.yaml, but no config.json"
        eventually("the text of readyz", lambda: daemon_judge.curl(daemon, "/readyz") == (503, f"not ready: {sentence}\n"))
        eventually("the metric", lambda: daemon.value("rocelet_config_ok") == 0)
        assert any(e["reason"] == "ConfigRefused" and sentence in e["message"] for e in json.loads(daemon.get("/api/v1/events"))["events"])
        result = daemon.rocectl("doctor")
        assert result.status == 1 and sentence in result.out, result
        result = daemon.rocectl("status")
        assert result.status == 1 and sentence in result.out, result
        assert any(sentence in line for line in daemon.log), daemon.log
        os.rename(daemon.dir + "/etc/config.yaml", daemon.dir + "/etc/config.json")
        kubelet = registered(daemon)
        eventually("ready", lambda: daemon.get("/readyz") == "ok\n")
        os.rename(daemon.dir + "/etc/config.json", daemon.dir + "/etc/pools")
        eventually("removed while it runs", lambda: "config.json was removed" in daemon.get("/readyz"))
        kubelet.stop()
    with Etc(flags=("--auth-token-file", "/etc/rocelet/config.yaml")) as daemon:
        eventually("a file that another option names is not reported", lambda: daemon.get("/readyz") == "ok\n")


@check
def the_log_has_every_rejection():
    """Edits in quick succession: the log has the rejection of each."""
    with Node(text=IN_USE) as daemon:
        kubelet = registered(daemon, 2)
        for i in range(40):
            write(daemon.dir + "/config.json", '{"log-level": "loud%d"}' % i)
            eventually("rejected", lambda: f"loud{i}'" in daemon.get("/readyz"))
        eventually("the last one", lambda: any("loud39'" in line for line in daemon.log))
        equal([i for i in range(40) if not any(f"loud{i}'" in line for line in daemon.log)], [])
        kubelet.stop()


@check
def groups_are_checked_on_every_node():
    broken = {"groups": [{"name": "here", "match": {}, "pools": []}, {"name": "there", "pools": [{"resourceName": "p", "selectors": {}, "kind": "x"}]}]}
    configure(json.dumps(broken))
    result = rocelet("--check-config")
    equal(result.status, 2)
    assert "c.json:1: \"kind\": 'x' is none of exclusive, shared" in result.err and "group here applies" in result.out, result
    broken["groups"][1]["pools"] = []
    configure(json.dumps(broken))
    equal(rocelet("--check-config").status, 0)
    equal(rocelet("--check-config", "--group", "nowhere").status, 2)
    result = rocelet("--check-config", "--group", "there")
    assert result.status == 0 and "group there applies" in result.out, result


@check
def an_edit_while_another_one_ends():
    """A rolling update: the new one has read the file, and waits for the old one."""
    with Node(text=IN_USE) as old, tempfile.TemporaryDirectory() as state:
        eventually("the old one serves", lambda: old.value('rocelet_resource_devices{resource="intel.com/a",health="healthy"}') == 2)
        log = []
        new = subprocess.Popen([*daemon_judge.command(old.dir, old.dir), "--state-dir", state, "--lock-wait", "60"], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        threading.Thread(target=lambda: log.extend(new.stderr), daemon=True).start()
        eventually("the new one waits", lambda: any(old.dir + "/run" in line for line in log))
        write(old.dir + "/config.json", IN_USE.replace("#0-1", "#1"))
        eventually("the old one has read it", lambda: old.value('rocelet_resource_devices{resource="intel.com/a",health="healthy"}') == 1)
        old.connection, ending = None, old.process
        ending.send_signal(signal.SIGTERM)
        equal(ending.wait(SOON), 0)
        old.process = new
        eventually("the new one has read it", lambda: old.value('rocelet_resource_devices{resource="intel.com/a",health="healthy"}') == 1)
        equal(old.value("rocelet_config_ok"), 1)


# Labels whose values are not known before.
OPEN_LABELS = {"resource", "device", "netdev", "id", "pci"}


def counters(page):
    """name{labels} of every sample of a counter, and its value."""
    kinds = dict(re.findall(r"^# TYPE (\S+) (\S+)$", page, re.M))
    samples = re.findall(r"^([a-z_]+)(\{.*\})? (\S+)$", page, re.M)
    return {name + labels: float(value) for name, labels, value in samples if kinds.get(name) == "counter"}


@check
def every_counter_is_born_at_0():
    """rate() cannot see the rise of a series that begins above 0, so later events create no new series of a counter."""
    with Node(pools=(dict(daemon_judge.VF_POOL, network={}),)) as daemon:
        eventually("the pool's devices are counted", lambda: daemon.value(f'rocelet_resource_devices{{resource="{daemon_judge.ROCE}",health="healthy"}}') == 2)
        first = counters(daemon.get("/metrics"))
        kubelet = registered(daemon)
        kubelet.client().allocate([daemon_judge.VFS[0]])
        daemon_judge.raises(daemon_judge.grpc.StatusCode.NOT_FOUND, lambda: kubelet.client().allocate(["0000:99:00.0"]))
        for text in ("{", json.dumps({"pools": [daemon_judge.VF_POOL]}), peers({"resourceName": "a", "selectors": 5})):
            before = reloads(daemon)
            write(daemon.dir + "/config.json", text)
            eventually("read", lambda: reloads(daemon) == before + 1)
        for url in ("/", "/nothing", "/metrics", "/api/v1/qps"):
            daemon_judge.curl(daemon, url)
        daemon_judge.curl(daemon, "/api/v1/attach", "--data", "{}")
        daemon_judge.curl(daemon, "/metrics", "--compressed")
        daemon_judge.curl(daemon, "/metrics", "-HAccept: application/openmetrics-text")
        daemon.link("ens1v1", False)
        kubelet.stop()
        eventually("a later page", lambda: daemon.value('rocelet_config_reloads_total{result="failed"}') >= 1)
        last = counters(daemon.get("/metrics"))
        late = [series for series in last if series not in first and not OPEN_LABELS & set(re.findall(r'(\w+)="', series))]
        equal(late, [])
        assert any(value > first[series] for series, value in last.items() if series in first), "no counter has risen"
        resource_series = [series for series in first if f'resource="{daemon_judge.ROCE}"' in series]
        equal([series for series in resource_series if first[series] != 0 and "registration" not in series and "lists" not in series], [])
        print(f"# {len(first)} counters at the start, {len(last)} at the end")


def main():
    programs["daemon"], programs["rocectl"], programs["mk_sysfs"] = (os.path.abspath(path) for path in sys.argv[1:4])
    make_node(TREE.name + "/node")
    failed = run_checks(checks, sys.argv[4:])
    TREE.cleanup()
    os._exit(failed)  # a silent kubelet's threads never end


if __name__ == "__main__":
    main()
