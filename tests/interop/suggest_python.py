#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Judges the configuration that rocelet proposes for a node without one, on trees of ten kinds of node: each device is in the pool that the comment names.

  suggest_python.py DAEMON ROCECTL [CHECK...]

The output of --suggest-config is the input of --check-config, whose result for every device is compared with the table of the check and the comments. One
line per check, "N passed, N failed" last.

run: {san}/rocelet {san}/rocectl
proves: daemon/config daemon/pools
when: turns
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib")]
from run_checks import run_checks  # noqa: E402

SOON = 60
programs = {}
checks = []


def check(function):
    checks.append(function)
    return function


def equal(got, wanted):
    assert got == wanted, f"\n  got    {got}\n  wanted {wanted}"


# --- trees ------------------------------------------------------------------------------------


class Tree:
    """A synthetic node: sysfs as far as a scan reads it, /dev/infiniband and the routes."""

    def __init__(self):
        self.temp = tempfile.TemporaryDirectory()
        self.dir = self.temp.name
        self.n_netdevs = self.n_rdma = 0
        for folder in ("sys/class/net", "sys/class/infiniband", "sys/bus/pci/devices", "dev/infiniband"):
            os.makedirs(f"{self.dir}/{folder}")
        self.put("proc/net/route", "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT")

    def put(self, path, text, mode="w"):
        path = f"{self.dir}/{path}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, mode, encoding="utf-8") as f:
            f.write(f"{text}\n")

    def put_all(self, folder, **files):
        for name, text in files.items():
            self.put(f"{folder}/{name}", text)

    def link(self, path, target):
        """Both paths are below the tree's root."""
        path = f"{self.dir}/{path}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.symlink(os.path.relpath(f"{self.dir}/{target}", os.path.dirname(path)), path)

    def netdev(self, below, name, carrier=1):
        self.n_netdevs += 1
        self.put_all(f"{below}/net/{name}", ifindex=10 + self.n_netdevs, operstate="up" if carrier else "down", flags="0x1003", carrier=carrier, mtu=9000, type=1,
                     iflink=10 + self.n_netdevs, address=f"a0:88:c2:03:00:{self.n_netdevs:02x}")
        self.link(f"sys/class/net/{name}", f"{below}/net/{name}")

    def rdma(self, below, name, netdev, layer="Ethernet", state="4: ACTIVE"):
        port, n = f"{below}/infiniband/{name}/ports/1", self.n_rdma
        self.n_rdma += 1
        self.put_all(port, link_layer=layer, state=state, phys_state="5: LinkUp", rate="400 Gb/sec (4X NDR)")
        self.put(port + "/gids/0", f"fe80:0000:0000:0000:a288:c2ff:fe03:{n:04x}")
        self.put(port + "/gid_attrs/types/0", "IB/RoCE v1")
        self.put(port + "/gid_attrs/ndevs/0", netdev)
        self.put(f"{below}/infiniband/{name}/node_type", "1: CA")
        self.link(f"sys/class/infiniband/{name}", f"{below}/infiniband/{name}")
        for kind, char in (("infiniband_verbs", "uverbs"), ("infiniband_mad", "umad")):
            self.put_all(f"{below}/{kind}/{char}{n}", ibdev=name, dev=f"231:{n}")
            self.link(f"sys/class/{kind}/{char}{n}", f"{below}/{kind}/{char}{n}")
            self.put(f"dev/infiniband/{char}{n}", "")

    def function(self, id, driver="mlx5_core", pci_class="0x020000", **files):
        path = f"sys/devices/pci0000:00/{id}"
        self.put_all(path, vendor="0x15b3", device="0x1021", numa_node=0, **{"class": pci_class}, **files)
        self.link(f"sys/bus/pci/devices/{id}", path)
        if driver:
            os.makedirs(f"{self.dir}/sys/bus/pci/drivers/{driver}", exist_ok=True)
            self.link(path + "/driver", f"sys/bus/pci/drivers/{driver}")
        return path

    def pf(self, id, netdev=None, rdma=None, driver="mlx5_core", total=16, carrier=1, pci_class="0x020000", **port):
        files = {"sriov_totalvfs": total, "sriov_numvfs": 0} if total else {}
        path = self.function(id, driver, pci_class, **files)
        if netdev:
            self.netdev(path, netdev, carrier)
        if rdma:
            self.rdma(path, rdma, netdev or "", **port)

    def vf(self, pf, index, netdev=None, rdma=None, driver="mlx5_core", **port):
        """Its PCI address follows that of its PF."""
        id = f"{pf[:-4]}{(index + 1) // 8:02x}.{(index + 1) % 8}"
        path = self.function(id, driver)
        self.link(path + "/physfn", f"sys/devices/pci0000:00/{pf}")
        self.link(f"sys/devices/pci0000:00/{pf}/virtfn{index}", path)
        if netdev:
            self.netdev(path, netdev)
        if rdma:
            self.rdma(path, rdma, netdev or "", **port)
        return id

    def sf(self, pf, number, netdev, rdma):
        id = f"mlx5_core.sf.{number}"
        path = f"sys/devices/pci0000:00/{pf}/{id}"
        self.put(path + "/sfnum", 80 + number)
        self.link(f"sys/bus/auxiliary/devices/{id}", path)
        self.netdev(path, netdev)
        if rdma:
            self.rdma(path, rdma, netdev)
        return id

    def master(self, name, kind, *members):
        path = f"sys/devices/virtual/net/{name}"
        self.netdev("sys/devices/virtual", name)
        self.put(path + "/uevent", f"DEVTYPE={kind}\nINTERFACE={name}")
        for member in members:
            place = os.path.relpath(os.path.realpath(f"{self.dir}/sys/class/net/{member}"), os.path.realpath(self.dir))
            self.link(place + "/master", path)

    def rxe(self, name, netdev):
        self.rdma("sys/devices/virtual", name, netdev)
        self.put(f"sys/devices/virtual/infiniband/{name}/parent", netdev)

    def default_route(self, netdev):
        self.put("proc/net/route", f"{netdev}\t00000000\t0100000A\t0003\t0\t0\t0\t00000000\t0\t0\t0", "a")

    def roots(self):
        return [f"--{root}-root={self.dir}/{place}" for root, place in (("sysfs", "sys"), ("dev", "dev"), ("proc", "proc"))]

    def rocelet(self, *flags):
        done = subprocess.run([programs["daemon"], *self.roots(), *flags], stdin=subprocess.DEVNULL, capture_output=True, timeout=SOON, check=False)
        return done.returncode, done.stdout.decode(), done.stderr.decode()


# --- proposal and comments -------------------------------------------------------------------


def read_comments(text):
    """{device or (first, last): why it is left out}, {resource: its comment}."""
    config = json.loads(text)
    lines = config["_comment"]
    rest = lines[lines.index("Left out:") + 1:] if "Left out:" in lines else []
    left_out = {}
    for line in rest:
        found = re.fullmatch(r"(\S+)(?: to (\S+)| \([^)]*\))?: (.*)", line)
        assert found, line
        left_out[(found[1], found[2] or found[1])] = found[3]
    return left_out, {"rocelet.dev/" + pool["resourceName"]: pool["_comment"] for pool in config.get("pools", [])}


def judge(tree, wanted):
    """wanted: {device: resource, or words of why it is left out}. Returns the proposal and the output of --check-config."""
    status, text, err = tree.rocelet("--suggest-config")
    equal((status, err), (0, ""))
    tree.put("c.json", text)
    status, checked, err = tree.rocelet("--config", tree.dir + "/c.json", "--check-config", "--strict")
    equal((status, err, checked.splitlines()[-1]), (0, "", tree.dir + "/c.json: ok"))
    went = dict(line.split(None, 1) for line in checked.split("\n\n")[0].splitlines() if not line.endswith(": ok"))
    left_out, comments = read_comments(text)
    order = list(went)
    equal(sorted(order), sorted(wanted))
    reasons = {}
    for (first, last), why in left_out.items():
        for device in order[order.index(first):order.index(last) + 1]:
            assert device not in reasons, f"{device} is commented twice"
            reasons[device] = why
    for device, place in wanted.items():
        if place.startswith("rocelet.dev/"):
            equal((device, went[device], reasons.get(device)), (device, place, None))
        else:
            assert not went[device].startswith("rocelet.dev/"), (device, went[device])
            assert place in reasons.get(device, ""), f"{device}: no {place!r} in {reasons.get(device)!r}"
    equal(sorted(set(comments)), sorted({place for place in wanted.values() if place.startswith("rocelet.dev/")}))
    for resource, comment in comments.items():
        there = [device for device, place in went.items() if place == resource]
        count = re.match(r"(\d+) (?:VF|sub-function)s? of (\S+)", comment)
        if count:
            equal((resource, int(count[1])), (resource, len(there)))
        else:
            equal((resource, [comment.split()[0].rstrip(",")]), (resource, there))
    return text, checked


def pools_of(text):
    return json.loads(text).get("pools", [])


# --- ten kinds of node ------------------------------------------------------------------------

RAILS = [f"0000:{24 + 18 * i:02x}:00.0" for i in range(8)]


def gpu_node(n_vfs=4, numbers=range(8), total=16):
    """Eight rails; `numbers` is the order in which the kernel found the HCAs."""
    tree = Tree()
    for rail, pf in enumerate(RAILS):
        tree.pf(pf, f"ens{rail + 1}np0", f"mlx5_{numbers[rail]}", total=total)
    for rail, pf in enumerate(RAILS):
        for i in range(n_vfs):
            tree.vf(pf, i, f"ens{rail + 1}v{i}", f"mlx5_{8 + numbers[rail] * n_vfs + i}")
    tree.pf("0000:01:00.0", "eno1", driver="tg3", total=0)
    tree.default_route("eno1")
    return tree


def rails_wanted(name, n_vfs):
    wanted = {"0000:01:00.0": "no RDMA device"}
    for rail, pf in enumerate(RAILS):
        wanted[pf] = f"has {n_vfs} VFs" if n_vfs else f"rocelet.dev/{name}{rail}"
        for i in range(n_vfs):
            wanted[f"{pf[:-1]}{i + 1}"] = f"rocelet.dev/{name}{rail}"
    return wanted


@check
def eight_rails_with_vfs():
    text, _checked = judge(gpu_node(), rails_wanted("roce", 4))
    equal([pool["selectors"]["pfNames"] for pool in pools_of(text)], [[f"ens{i + 1}np0#0-15"] for i in range(8)])
    assert all(pool["network"] == {} and "kind" not in pool for pool in pools_of(text)), text


@check
def eight_rails_before_their_vfs():
    text, _checked = judge(gpu_node(0), rails_wanted("hca", 0))
    assert all(pool["kind"] == "shared" and "it can have 16 VFs" in pool["_comment"] for pool in pools_of(text)), text


@check
def bonded_pfs():
    """RoCE LAG: one RDMA device for both ports; a bond without LAG; a bond whose PFs have VFs."""
    tree = Tree()
    tree.pf("0000:18:00.0", "ens1f0np0", "mlx5_bond_0")
    tree.pf("0000:18:00.1", "ens1f1np1")
    tree.pf("0000:2a:00.0", "ens2f0np0", "mlx5_2")
    tree.pf("0000:2a:00.1", "ens2f1np1", "mlx5_3")
    tree.pf("0000:3c:00.0", "ens3f0np0", "mlx5_4")
    tree.pf("0000:3c:00.1", "ens3f1np1", "mlx5_5")
    vfs = [tree.vf("0000:3c:00.0", 7 + i, f"ens3f0v{i}", f"mlx5_{6 + i}") for i in range(2)]
    tree.master("bond0", "bond", "ens1f0np0", "ens1f1np1")
    tree.master("bond1", "bond", "ens2f0np0", "ens2f1np1")
    tree.master("bond2", "bond", "ens3f0np0", "ens3f1np1")
    text, _checked = judge(tree, {
        "0000:18:00.0": "rocelet.dev/hca", "0000:18:00.1": "a member of bond0, without an RDMA device of its own",
        "0000:2a:00.0": "a member of bond1", "0000:2a:00.1": "a member of bond1", "0000:3c:00.0": "has 2 VFs", "0000:3c:00.1": "a member of bond2",
        vfs[0]: "rocelet.dev/roce", vfs[1]: "rocelet.dev/roce"})
    assert "the RoCE LAG of bond0" in text and "it is a member of bond2" in text, text


@check
def shared_hcas_only():
    """As in cloud machines, without SR-IOV. One HCA is down, one has no device node, one has a name numbered by the kernel."""
    tree = Tree()
    tree.pf("0000:18:00.0", "ens1np0", "mlx5_0", total=0)
    tree.pf("0000:2a:00.0", "eth2", "mlx5_1", total=0)
    tree.pf("0000:3c:00.0", "ens3np0", "mlx5_2", total=0, carrier=0, state="1: DOWN")
    tree.pf("0000:4e:00.0", "ens4np0", "mlx5_3", total=0)
    os.unlink(tree.dir + "/dev/infiniband/uverbs3")
    text, _checked = judge(tree, {"0000:18:00.0": "rocelet.dev/hca0", "0000:2a:00.0": "rocelet.dev/hca1", "0000:3c:00.0": "down: the port of mlx5_2 is not active",
                               "0000:4e:00.0": "no uverbs node of mlx5_3"})
    equal([pool["selectors"] for pool in pools_of(text)], [{"ifNames": ["ens1np0"]}, {"pciAddresses": ["0000:2a:00.0"]}])


@check
def infiniband_and_roce():
    tree = Tree()
    tree.pf("0000:18:00.0", "ibs1", "mlx5_0", layer="InfiniBand")
    tree.pf("0000:2a:00.0", "ens2np0", "mlx5_1")
    tree.pf("0000:3c:00.0", "ibs3", "mlx5_2", layer="InfiniBand")
    vfs = [tree.vf("0000:2a:00.0", 0, "ens2v0", "mlx5_3"), tree.vf("0000:3c:00.0", 0, "ibs3v0", "mlx5_4", layer="InfiniBand")]
    judge(tree, {"0000:18:00.0": "InfiniBand", "0000:2a:00.0": "has 1 VF,", "0000:3c:00.0": "has 1 VF,", vfs[0]: "rocelet.dev/roce", vfs[1]: "InfiniBand"})


@check
def sub_functions():
    tree = Tree()
    for pf, n in (("0000:18:00.0", 0), ("0000:18:00.1", 1)):
        tree.pf(pf, f"ens1f{n}np{n}", f"mlx5_{n}")
    sfs = [tree.sf(f"0000:18:00.{i // 2}", 4 + i, f"en4sf{i}", f"mlx5_{2 + i}" if i < 3 else None) for i in range(4)]
    vf = tree.vf("0000:18:00.0", 7, "ens1v7", "mlx5_9")
    text, _checked = judge(tree, {"0000:18:00.0": "has 1 VF,", "0000:18:00.1": "has 2 sub-functions", vf: "rocelet.dev/roce", sfs[0]: "rocelet.dev/sf0",
                               sfs[1]: "rocelet.dev/sf0", sfs[2]: "rocelet.dev/sf1", sfs[3]: "no "})
    assert pools_of(text)[1]["deviceType"] == "auxNetDevice", text


@check
def soft_roce_only():
    """On the only NIC, and on a bridge; left out on a node that has RDMA in hardware as well."""
    tree = Tree()
    tree.pf("0000:01:00.0", "ens1", driver="e1000e", total=0)
    tree.master("br0", "bridge")
    tree.rxe("rxe0", "ens1")
    tree.rxe("rxe1", "br0")
    tree.default_route("ens1")
    text, _checked = judge(tree, {"0000:01:00.0": "rocelet.dev/soft-hca0", "rxe1": "rocelet.dev/soft-hca1"})
    assert "carries the default route (ens1)" in text, text
    tree = Tree()
    tree.pf("0000:01:00.0", "ens1", driver="e1000e", total=0)
    tree.rxe("rxe0", "ens1")
    tree.pf("0000:18:00.0", "ens2np0", "mlx5_0")
    judge(tree, {"0000:01:00.0": "soft-RoCE, but the node has RDMA hardware", "0000:18:00.0": "rocelet.dev/hca"})


@check
def vfs_without_rdma():
    """Soft-RoCE in the pod on a node without RDMA in hardware; not for VFs with a user-space driver."""
    tree = Tree()
    tree.pf("0000:01:00.0", "ens1", driver="igb", total=7)
    vfs = [tree.vf("0000:01:00.0", i, f"ens1v{i}" if i < 2 else None, driver="igbvf" if i < 2 else "vfio-pci") for i in range(4)]
    text, _checked = judge(tree, {"0000:01:00.0": "has 4 VFs", vfs[0]: "rocelet.dev/soft-roce", vfs[1]: "rocelet.dev/soft-roce", vfs[2]: "bound to vfio-pci",
                               vfs[3]: "bound to vfio-pci"})
    equal(pools_of(text)[0]["selectors"], {"pfNames": ["ens1#0-6"], "drivers": ["igbvf"]})
    tree.pf("0000:18:00.0", "ens2np0", "mlx5_0")
    judge(tree, {"0000:01:00.0": "has 4 VFs", vfs[0]: "no RDMA device", vfs[1]: "no RDMA device", vfs[2]: "bound to vfio-pci", vfs[3]: "bound to vfio-pci",
                 "0000:18:00.0": "rocelet.dev/hca"})


@check
def a_management_nic():
    """RDMA-capable, with the default route over a VLAN on a bond of it. As the only NIC it is shared all the same."""
    tree = Tree()
    tree.pf("0000:01:00.0", "eno1np0", "mlx5_0", total=0)
    tree.pf("0000:18:00.0", "ens1np0", "mlx5_1", total=0)
    tree.default_route("eno1np0")
    judge(tree, {"0000:01:00.0": "carries the default route (eno1np0)", "0000:18:00.0": "rocelet.dev/hca"})
    tree = Tree()
    tree.pf("0000:01:00.0", "eno1np0", "mlx5_bond_0", total=0)
    tree.pf("0000:01:00.1", "eno2np1", total=0)
    tree.master("bond0", "bond", "eno1np0", "eno2np1")
    tree.default_route("bond0")
    text, _checked = judge(tree, {"0000:01:00.0": "rocelet.dev/hca", "0000:01:00.1": "a member of bond0"})
    assert "carries the default route (bond0), but is the only device that can be shared" in text, text
    tree = Tree()
    tree.pf("0000:01:00.0", "eno1np0", "mlx5_0")
    vfs = [tree.vf("0000:01:00.0", i, f"eno1v{i}", f"mlx5_{1 + i}") for i in range(2)]
    tree.default_route("eno1np0")
    text, _checked = judge(tree, {"0000:01:00.0": "has 2 VFs", vfs[0]: "rocelet.dev/roce", vfs[1]: "rocelet.dev/roce"})
    assert "it carries the default route (eno1np0), but its VFs do not" in text, text
    tree.default_route("eno1v1")
    judge(tree, {"0000:01:00.0": "has 2 VFs", vfs[0]: "rocelet.dev/roce", vfs[1]: "carries the default route (eno1v1)"})


@check
def vfs_of_virtual_machines():
    """All VFs of one PF, some of the other; one VF without a driver. The first PF's netdev has a name numbered by the kernel."""
    tree = Tree()
    tree.pf("0000:18:00.0", "eth1", "mlx5_0")
    tree.pf("0000:2a:00.0", "ens2np0", "mlx5_1")
    first = [tree.vf("0000:2a:00.0", i, driver="vfio-pci") for i in range(3)]
    second = [tree.vf("0000:18:00.0", 0, driver="vfio-pci"), tree.vf("0000:18:00.0", 1, "eth3", "mlx5_2"), tree.vf("0000:18:00.0", 2, driver=None)]
    text, _checked = judge(tree, {"0000:18:00.0": "has 3 VFs", "0000:2a:00.0": "has 3 VFs", second[0]: "bound to vfio-pci", second[1]: "rocelet.dev/roce",
                               second[2]: "bound to no driver", **{vf: "\"drivers\": [\"vfio-pci\"]" for vf in first}})
    equal(pools_of(text)[0]["selectors"], {"rootDevices": ["0000:18:00.0#0-15"], "isRdma": True})
    assert "0000:2a:00.1 to 0000:2a:00.3: bound to vfio-pci" in text, text


@check
def nothing_at_all():
    text, checked = judge(Tree(), {})
    assert "pools" not in json.loads(text) and "Without pools, rocelet only observes." in text, text
    assert "not ok" not in checked, checked
    tree = Tree()
    tree.pf("0000:01:00.0", "eno1", driver="tg3", total=0)
    tree.function("0000:c1:00.0", driver="habanalabs", pci_class="0x120000")
    tree.default_route("eno1")
    judge(tree, {"0000:01:00.0": "no RDMA device", "0000:c1:00.0": "not a network device"})


@check
def an_efa_has_a_hint():
    """EFA has no RoCE, so it is not proposed; the selector in the hint offers it."""
    tree = Tree()
    tree.pf("0000:01:00.0", "eno1", driver="ena", total=0)
    tree.pf("0000:c1:00.0", rdma="rdmap193s0", driver="efa", total=0, layer="Unspecified")
    tree.pf("0000:c2:00.0", rdma="rdmap194s0", driver="efa", total=0, layer="Unspecified")
    tree.default_route("eno1")
    hint = 'a pool can select it with "drivers": ["efa"]'
    judge(tree, {"0000:01:00.0": "no RDMA device", "0000:c1:00.0": hint, "0000:c2:00.0": hint})
    tree.put("efa.json", json.dumps({"pools": [{"resourceName": "efa", "selectors": {"drivers": ["efa"]}}]}))
    status, checked, _err = tree.rocelet("--config", tree.dir + "/efa.json", "--check-config")
    equal(status, 0)
    assert "rocelet.dev/efa: 2 devices" in checked, checked


# --- a fleet ----------------------------------------------------------------------------------


@check
def a_fleet_gets_one_answer():
    """HCAs found in another order, VFs not created yet or created again: the same pools with the same devices, and never a PF."""
    node, other = gpu_node(), gpu_node(numbers=[3, 1, 7, 0, 2, 6, 5, 4])
    text, checked = judge(node, rails_wanted("roce", 4))
    judge(other, rails_wanted("roce", 4))
    equal(pools_without_comments(other), pools_without_comments(node))
    rebooted = gpu_node(0)
    rebooted.put("c.json", text)
    status, checked, _err = rebooted.rocelet("--config", rebooted.dir + "/c.json", "--check-config")
    equal(status, 0)
    for pf in RAILS:
        assert re.search(rf"^{pf}\s+no pool: ", checked, re.M), checked


def pools_without_comments(tree):
    status, text, err = tree.rocelet("--config", tree.dir + "/c.json", "--print-config")
    equal((status, err), (0, ""))
    assert "_comment" not in text, text
    return json.loads(text)["pools"]


@check
def comments_are_ignored():
    """In every object of the file, except in objects that rocelet passes on unchanged."""
    tree = gpu_node()
    config = {"_comment": "of the file", "log-level": "warn", "pools": [
        {"_comment": ["of a pool", {"a": 1}], "resourceName": "a", "selectors": {"_comment": 5, "pfNames": ["ens1np0#0-15"]}, "hold": {"_comment": None},
         "network": {"_comment": "n", "ipam": {"type": "static", "_comment": "the plugin's"}}, "additionalInfo": {"*": {"_comment": "a container's"}}}]}
    tree.put("c.json", json.dumps(config))
    tree.put("plugins/static", "")
    os.chmod(tree.dir + "/plugins/static", 0o755)
    status, checked, err = tree.rocelet("--config", tree.dir + "/c.json", "--check-config", "--strict", "--cni-path", tree.dir + "/plugins")
    equal((status, err), (0, ""))
    assert "rocelet.dev/a: 4 devices" in checked, checked
    pool, = json.loads(tree.rocelet("--config", tree.dir + "/c.json", "--print-config")[1])["pools"]
    equal(pool["network"]["ipam"]["_comment"], "the plugin's")
    equal(pool["additionalInfo"], {"*": {"_comment": "a container's"}})
    equal(json.dumps(pool).count("_comment"), 2)
    for key in ("_Comment", "_comments", "comment"):
        tree.put(key + ".json", json.dumps({"pools": [{"resourceName": "a", "selectors": {}, key: "x"}]}))
        assert f'unknown key "{key}"' in "".join(tree.rocelet("--config", f"{tree.dir}/{key}.json", "--check-config")[1:]).replace(f'"{key}": unknown key', f'unknown key "{key}"')
    peers = {"_comment": "1", "configList": [{"_comment": "2", "resourceName": "a", "devices": ["ens1np0"]}]}
    tree.put("peers.json", json.dumps(peers))
    equal(tree.rocelet("--config", tree.dir + "/peers.json", "--check-config", "--strict")[2], "")


@check
def a_daemon_that_cannot_attach_gets_no_network():
    """With --unprivileged no pool has a "network", so the proposal causes no warning there."""
    tree = gpu_node()
    status, text, err = tree.rocelet("--suggest-config", "--unprivileged")
    equal((status, err), (0, ""))
    assert len(json.loads(text)["pools"]) == len(RAILS) and not any("network" in pool for pool in json.loads(text)["pools"]), text
    tree.put("c.json", text)
    status, checked, err = tree.rocelet("--config", tree.dir + "/c.json", "--check-config", "--strict", "--unprivileged")
    equal((status, err), (0, ""))
    assert "rocelet.dev/roce0: 4 devices" in checked, checked


@check
def a_wrong_file_does_not_prevent_a_proposal():
    tree = gpu_node()
    tree.put("wrong.json", "{")
    equal(tree.rocelet("--config", tree.dir + "/wrong.json", "--suggest-config"), tree.rocelet("--suggest-config"))
    status, out, err = tree.rocelet("--suggest-config", "--sysfs-root", tree.dir + "/nowhere")
    equal((status, out, len(err.splitlines())), (1, "", 1))


def until(what, holds):
    ends = time.monotonic() + SOON
    while not holds():
        assert time.monotonic() < ends, "not within a minute: " + what
        time.sleep(0.02)


@check
def the_daemon_proposes_the_same():
    """rocectl suggest prints it as a file and as a ConfigMap."""
    tree = gpu_node()
    socket = tree.dir + "/run/rocelet.sock"
    os.makedirs(tree.dir + "/kubelet/device-plugins")
    tree.put("c.json", "{}")
    daemon = subprocess.Popen([programs["daemon"], *tree.roots(), "--config", tree.dir + "/c.json", "--listen", "", "--run-dir", tree.dir + "/run", "--state-dir",
                               tree.dir + "/state", "--kubelet-dir", tree.dir + "/kubelet"], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def rocectl(*words):
        done = subprocess.run([programs["rocectl"], "--socket", socket, *words], capture_output=True, timeout=SOON, check=False)
        return done.returncode, done.stdout.decode(), done.stderr.decode()
    try:
        until("it serves", lambda: os.path.exists(socket) and rocectl("devices")[0] == 0)
        _status, text, _err = tree.rocelet("--suggest-config")
        until("the daemon has found all devices", lambda: rocectl("suggest") == (0, text, ""))
        equal(rocectl("suggest", "--json"), (0, text, ""))
        status, manifest, err = rocectl("suggest", "--configmap", "kube-system/rocelet")
        equal((status, err), (0, ""))
        head, body = manifest.split("  config.json: |\n")
        equal(head, 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: "rocelet"\n  namespace: "kube-system"\ndata:\n')
        assert all(line.startswith("    ") for line in body.splitlines()), body
        equal("".join(line[4:] for line in body.splitlines(True)), text)
        assert "namespace" not in rocectl("suggest", "--configmap", "rocelet")[1]
        for wrong in ("", "/", "a/", "/a", "A", "a/b/c", "a_b", "-a", "a-", "a.b/c", "a..b", "a.-b", "a\nb", "a" * 254):
            equal((wrong, rocectl("suggest", "--configmap", wrong)[0]), (wrong, 2))
        equal(rocectl("devices", "--configmap", "a")[0], 2)
    finally:
        daemon.send_signal(signal.SIGTERM)
        equal(daemon.wait(SOON), 0)
    equal(rocectl("suggest")[0], 3)


def main():
    programs["daemon"], programs["rocectl"] = (os.path.abspath(path) for path in sys.argv[1:3])
    sys.exit(run_checks(checks, sys.argv[3:]))


if __name__ == "__main__":
    main()
