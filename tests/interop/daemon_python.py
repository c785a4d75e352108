#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Judges the whole daemon with a kubelet made of grpc-python, over a synthetic sysfs tree with plain files as device nodes.

  daemon_python.py DAEMON MK_SYSFS [CHECK...]

Runs the checks of kubelet_python.py for any device plugin, then its own. One line per check, "N passed, N failed" last.

run: {san}/rocelet {san}/bench/mk_sysfs
proves: daemon/plugin daemon/pools daemon/pods daemon/metrics daemon/http daemon/compose
when: core -a_watcher_that_does_not_read -a_registry_that_the_kubelet_does_not_scan -a_kubelet_restart_causes_no_warning -a_wrong_file_at_the_start -a_wrong_file_at_a_restart -a_part_of_the_file_is_wrong_at_a_restart -vf_ranges_as_the_peer_reads_them -all_interfaces_report_the_same
when: turns
"""
import fcntl
import glob
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from concurrent import futures

import grpc

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../lib")]
import kube_api  # noqa: E402
import kubelet_python as base  # noqa: E402
import openapi  # noqa: E402
from kubelet_python import API, MIB, SOON, Kubelet, Plugin, Watch, dp, equal, eventually, raises  # noqa: E402

PODS = kube_api.messages("v1", kube_api.POD_RESOURCES)
ROCE = "rocelet.dev/roce"
VFS = ["0000:18:00.1", "0000:18:00.2"]
HOLD = {"linkDown": {"downMs": 0, "upMs": 0}, "portDown": {"downMs": 0, "upMs": 0}}
VF_POOL = {"resourceName": "roce", "selectors": {"isRdma": True, "pfNames": ["ens1np0"]}, "hold": HOLD}
SLOT_POOL = {"resourceName": "slot", "kind": "shared", "slots": 65536, "selectors": {"ifNames": ["ens2np0"]}, "hold": HOLD}
programs = {}
checks = []


def check(function):
    checks.append(function)
    return function


def write(path, text=""):
    """Writes a file atomically: a reader must not see half of a configuration."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    there = path + ".new" if path.endswith("/config.json") else path
    with open(there, "w", encoding="utf-8") as f:
        f.write(text)
    os.rename(there, path)


def make_tree(dir):
    """Two PFs with two VFs each, and a file for each of their nodes."""
    subprocess.run([programs["mk_sysfs"], dir + "/sys", "2", "4", "upstream"], env=dict(os.environ, BUS="1"), check=True, stdout=subprocess.DEVNULL)
    for i in range(6):
        write(f"{dir}/dev/infiniband/uverbs{i}")
        write(f"{dir}/dev/infiniband/umad{i}")
    write(dir + "/dev/infiniband/rdma_cm")


def command(dir, tree):
    return [programs["daemon"], "--config", tree + "/config.json", "--sysfs-root", tree + "/sys", "--dev-root", tree + "/dev", "--rescan-interval", "0.2",
            "--sample-interval", "0.1", "--listen", "", "--kubelet-dir", dir, "--run-dir", dir + "/run", "--devinfo-dir", dir + "/info",
            "--cdi-dir", dir + "/cdi"]


class Unix(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=SOON)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(SOON)
        self.sock.connect(self.path)


class Daemon(base.Host):
    """The real program as a host of plugins; its state is read over HTTP."""

    make = staticmethod(make_tree)

    def __init__(self, mode="legacy", pools=(VF_POOL,), flags=(), text=None, environment=(), missing=False):
        self.temp = tempfile.TemporaryDirectory()
        self.dir = self.temp.name
        self.connection = None
        self.compared = {}  # how often: (path, status)
        os.mkdir(self.dir + "/device-plugins")
        if mode == "registry":
            os.mkdir(self.dir + "/plugins_registry")
        self.make(self.dir)
        if text is None:
            self.configure(pools)
        else:
            write(self.dir + "/config.json", text)
        if missing:
            os.unlink(self.dir + "/config.json")
        environment = dict(os.environ, ASAN_OPTIONS="quarantine_size_mb=1", **dict(environment))
        self.process = subprocess.Popen([*self.command(), *flags], env=environment, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.log = []
        threading.Thread(target=lambda: base.iter_lines(self.process.stderr, self.log), daemon=True).start()

    def command(self):
        return command(self.dir, self.dir)

    def configure(self, pools):
        write(self.dir + "/config.json", json.dumps({"pools": pools}))

    def quit(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        if self.process.wait(SOON) != 0:
            raise AssertionError(f"exit {self.process.returncode}: " + "\n".join(self.log[-40:]))

    def connect(self):
        """A socket has a name before it listens."""
        connection = Unix(self.dir + "/run/rocelet.sock")
        try:
            connection.connect()
        except OSError:
            return False
        self.connection = connection
        return True

    def get(self, url):
        """Over one kept connection: the daemon rejects too many new ones per second."""
        if not self.connection:
            eventually("rocelet.sock listens", self.connect)
        self.connection.request("GET", url)
        answer = self.connection.getresponse()
        text = answer.read().decode()
        self.compare(url, answer.status, text)
        return text if answer.status == 200 else ""

    def compare(self, url, status, text):
        """Compares with the API's description. Polled paths are read often, so each a few times only, and a large document once."""
        path = openapi.served().path_of(url)
        limit = 20 if len(text) < 100000 else 1
        if path and self.compared.setdefault((path, status), 0) < limit:
            self.compared[path, status] += 1
            openapi.served().check(url, status, text)

    def device(self, id):
        return next(d for d in json.loads(self.get("/api/v1/devices"))["devices"] if d["id"] == id)

    def offer(self, id):
        """The one resource that offers the device; {}: none yet."""
        resources = self.device(id)["resources"]
        return resources[0] if resources else {"state": None}

    def value(self, series):
        """The value of a series of /metrics; None: no such series. A daemon that has just started has no page yet."""
        page = eventually("a page of metrics", lambda: self.get("/metrics"))
        found = re.search("^" + re.escape(series) + r" (\S+)$", page, re.M)
        return float(found.group(1)) if found else None

    def link(self, netdev, up):
        for folder in glob.glob(f"{self.dir}/sys/devices/pci*/*/net/{netdev}"):
            write(folder + "/operstate", "up\n" if up else "down\n")
            write(folder + "/carrier", "1\n" if up else "0\n")


class PodResources:
    """The kubelet's PodResources socket: held is a list of (namespace, pod, container, resource, id)."""

    def __init__(self, dir):
        self.held, self.calls, self.waiting, self.hanging = [], 0, 0, threading.Event()
        self.folder = dir + "/pod-resources"
        os.makedirs(self.folder, exist_ok=True)
        handlers = {"List": kube_api.handler(self.list, PODS["Empty"])}
        self.server = grpc.server(futures.ThreadPoolExecutor(4))
        self.server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("v1.PodResourcesLister", handlers),))
        self.server.add_insecure_port(f"unix:{self.folder}/kubelet.sock")
        self.server.start()

    def list(self, _request, _context):
        answer = PODS["ListPodResourcesResponse"]()
        self.calls += 1
        while self.hanging.is_set():  # as long as it is
            self.waiting += 1
            time.sleep(0.01)
        for namespace, pod, container, resource, id in self.held:
            entry = answer.pod_resources.add(name=pod, namespace=namespace)
            entry.containers.add(name=container).devices.add(resource_name=resource, device_ids=[id])
        return answer

    def stop(self):
        self.server.stop(None).wait()


def checkpoint(daemon):
    """Writes the file that a kubelet writes after each allocation."""
    write(daemon.dir + "/device-plugins/kubelet_internal_checkpoint.tmp", '{"Data": {"PodDeviceEntries": null, "RegisteredDevices": {}}, "Checksum": 0}')
    os.rename(daemon.dir + "/device-plugins/kubelet_internal_checkpoint.tmp", daemon.dir + "/device-plugins/kubelet_internal_checkpoint")


def registered(daemon, wanted=1):
    kubelet = Kubelet(daemon.dir).start()
    eventually("registered", lambda: len(kubelet.watches) == wanted and all(w.lists for w in list(kubelet.watches.values())))
    return kubelet


# --- the API ----------------------------------------------------------------------------------


@check
def the_list_and_the_grant():
    with Daemon() as daemon:
        kubelet = registered(daemon)
        equal([d.ID for d in kubelet.watch().lists[0]], VFS)
        equal([d.health for d in kubelet.watch().lists[0]], ["Healthy"] * 2)
        equal([d.topology.nodes[0].ID for d in kubelet.watch().lists[0]], [0, 0])
        equal((kubelet.last_options.pre_start_required, kubelet.last_options.get_preferred_allocation_available), (True, True))
        answer, = kubelet.client().allocate([VFS[1]])
        uverbs = "/dev/infiniband/" + daemon.device(VFS[1])["rdma"][0]["charDevices"]["uverbs"]
        nodes = {d.host_path: (d.container_path, d.permissions) for d in answer.devices}
        equal(nodes[uverbs], (uverbs, "rw"))
        equal(nodes["/dev/infiniband/rdma_cm"], ("/dev/infiniband/rdma_cm", "rw"))
        equal(answer.envs["PCIDEVICE_ROCELET_DEV_ROCE"], VFS[1])
        assert VFS[1] in json.loads(answer.envs["PCIDEVICE_ROCELET_DEV_ROCE_INFO"])
        equal(os.listdir(daemon.dir + "/info"), [f"rocelet.dev-roce-{VFS[1]}-device.json"])
        equal(kubelet.client().preferred(VFS, [VFS[1]], 1), [VFS[1]])
        kubelet.client().pre_start(VFS[1])
        os.unlink(daemon.dir + uverbs)
        assert VFS[1] in raises(grpc.StatusCode.NOT_FOUND, lambda: kubelet.client().allocate([VFS[1]]))
        assert VFS[1] in raises(grpc.StatusCode.NOT_FOUND, lambda: kubelet.client().pre_start(VFS[1]))
        kubelet.stop()


@check
def the_registry_and_its_words():
    with Daemon("registry") as daemon:
        path = daemon.socket("plugins_registry")
        kubelet = Kubelet(daemon.dir).start()
        found = Plugin(path)
        equal(found.info().name, ROCE)
        found.notify(False, "no such version")
        eventually("refused", lambda: daemon.value(f'rocelet_resource_registration_failures_total{{resource="{ROCE}"}}') == 1)
        equal(daemon.value(f'rocelet_resource_registered{{resource="{ROCE}"}}'), 0)
        assert any("no such version" in line for line in daemon.log)
        found.close()
        kubelet.find(path)
        eventually("registered", lambda: daemon.value(f'rocelet_resource_registered{{resource="{ROCE}"}}') == 1)
        equal([d.ID for d in kubelet.watch().lists[0]], VFS)
        equal(kubelet.requests, [])
        kubelet.stop()


@check
def watchers_and_cancellation():
    with Daemon() as daemon:
        kubelet = registered(daemon)
        second = Plugin(daemon.socket())
        watches = [kubelet.watch(), Watch(second)]
        daemon.link("ens1v0", False)
        for watch in watches:
            eventually("an unhealthy device", lambda: watch.healthy() == 1)
            equal([d.health for d in watch.lists[-1]], ["Unhealthy", "Healthy"])
        watches[1].call.cancel()
        watches[1].join(SOON)
        daemon.link("ens1v0", True)
        eventually("a healthy device", lambda: watches[0].healthy() == 2)
        equal(len(watches[0].lists), 3)
        second.close()
        kubelet.stop()


@check
def a_watcher_that_does_not_read():
    with Daemon(pools=(VF_POOL, SLOT_POOL)) as daemon:
        kubelet = registered(daemon, 2)
        fast = kubelet.watches["rocelet.dev/slot"]
        equal(len(fast.lists[0]), 65536)
        slow = socket.socket(socket.AF_UNIX)
        slow.connect(daemon.dir + "/device-plugins/rocelet.dev_slot.sock")
        slow.sendall(request("/v1beta1.DevicePlugin/ListAndWatch"))

        def flap(n):
            for _ in range(n):
                for healthy in (0, 65536):
                    daemon.link("ens2np0", healthy > 0)
                    eventually(f"{healthy} healthy", lambda: fast.healthy() == healthy)
                    fast.lists[:-1] = []
        flap(3)
        before = daemon.rss()
        flap(15)  # 30 lists of 2 MB
        grown = daemon.rss() - before
        print(f"# memory after 30 lists of 2 MB to a watcher that does not read: {before / MIB:.0f} MiB, {grown / MIB:+.1f} MiB")
        assert grown < 40 * MIB, grown # all of them would be 60
        slow.close()
        kubelet.stop()


@check
def restarts_of_the_kubelet():
    with Daemon(pools=(VF_POOL, dict(SLOT_POOL, slots=3))) as daemon:
        for i in range(4):
            kubelet = registered(daemon, 2)
            equal([d.ID for d in kubelet.watches[ROCE].lists[0]], VFS)
            equal(len(kubelet.watches["rocelet.dev/slot"].lists[0]), 3)
            eventually("the metrics socket", lambda: os.path.exists(daemon.dir + "/device-plugins/rocelet-metrics.sock"))
            eventually("counted", lambda: daemon.value(f'rocelet_resource_registrations_total{{resource="{ROCE}"}}') == i + 1)
            kubelet.stop(dead_file=i % 2 == 1)


@check
def a_new_configuration():
    with Daemon() as daemon:
        kubelet = registered(daemon)
        daemon.configure((dict(SLOT_POOL, slots=3),))
        eventually("the new resource", lambda: "rocelet.dev/slot" in kubelet.watches)
        kubelet.watches[ROCE].join(SOON)
        equal(len(kubelet.watches[ROCE].lists[-1]), 0)
        eventually("no socket", lambda: glob.glob(daemon.dir + "/device-plugins/*_roce.sock") == [])
        daemon.configure(({"resourceName": "bad name", "selectors": {}},))
        eventually("a failure", lambda: daemon.value('rocelet_config_reloads_total{result="failed"}') == 1)
        assert any("config.json:1:" in line for line in daemon.log), daemon.log
        assert kubelet.watches["rocelet.dev/slot"].is_alive()
        kubelet.stop()


PEER = "intel.com/a"


def peers(*resources):
    return json.dumps({"resourceList": resources})


def reloads(daemon):
    return sum(daemon.value(f'rocelet_config_reloads_total{{result="{result}"}}') or 0 for result in ("ok", "partial", "failed"))


def reported_everywhere(daemon, resource, what):
    """The metric, /readyz, doctor, the events and the log report it."""
    eventually("the gauge", lambda: daemon.value("rocelet_config_resources_refused") == 1)
    equal(daemon.value("rocelet_config_ok"), 0)
    eventually("ready", lambda: daemon.get("/readyz").startswith("ok\n"))
    ready = daemon.get("/readyz")
    assert resource in ready and what in ready, ready
    findings = [f for f in json.loads(daemon.get("/api/v1/doctor"))["findings"] if f["kind"] == "config"]
    equal([f["object"] for f in findings], [resource])
    assert what in findings[0]["what"], findings
    events = [e for e in json.loads(daemon.get("/api/v1/events"))["events"] if e["reason"] == "ConfigRefused"]
    assert any(resource in e["message"] and what in e["message"] for e in events), events
    eventually("the log", lambda: any(resource in line and what in line for line in daemon.log))


def all_right(daemon):
    eventually("the gauge", lambda: daemon.value("rocelet_config_ok") == 1)
    equal(daemon.value("rocelet_config_resources_refused"), 0)
    eventually("ready", lambda: daemon.get("/readyz") == "ok\n")
    equal([f for f in json.loads(daemon.get("/api/v1/doctor"))["findings"] if f["kind"] == "config"], [])


@check
def a_slip_in_a_live_edit():
    """A resource keeps its previous definition for as long as its new text is wrong."""
    good, other = ({"resourceName": name, "selectors": {"pfNames": [pf]}} for name, pf in (("a", "ens1np0#0-1"), ("b", "ens2np0")))
    slips = [dict(good, selectors=5), dict(good, selectors={"pfNames": ["ens1np0#x"]}), {"resourceName": "a"}, dict(good, resourcePrefix="a_b"),
             dict(good, resourceName="a/b"), {"selectors": {}}, 5, dict(good, deviceType="gpu")]
    with Daemon(text=peers(good)) as daemon:
        kubelet = registered(daemon)
        for i, slip in enumerate(slips):
            write(daemon.dir + "/config.json", peers(slip, other))
            eventually("read", lambda: reloads(daemon) == i + 1)
            eventually("the neighbour", lambda: "intel.com/b" in kubelet.watches and kubelet.watches["intel.com/b"].lists)
            assert kubelet.watches[PEER].is_alive(), slip
            equal([d.ID for d in kubelet.watches[PEER].lists[-1]], VFS)
            assert os.path.exists(daemon.dir + "/device-plugins/intel.com_a.sock"), slip
            reported_everywhere(daemon, PEER, "keeps its previous definition")
        equal(daemon.value('rocelet_config_reloads_total{result="ok"}'), 0)
        equal(len([r for r in kubelet.requests if r.resource_name == PEER]), 1)
        # Valid again, with another definition.
        write(daemon.dir + "/config.json", peers(dict(good, selectors={"pfNames": ["ens1np0#1"]}), other))
        eventually("the new text", lambda: [d.ID for d in kubelet.watches[PEER].lists[-1]] == VFS[1:])
        all_right(daemon)
        # The whole file is wrong.
        write(daemon.dir + "/config.json", '{"resourceList": [')
        eventually("the gauge", lambda: daemon.value("rocelet_config_ok") == 0)
        assert "config.json:1" in daemon.get("/readyz")
        equal(daemon.value('rocelet_config_reloads_total{result="failed"}'), 1)
        assert kubelet.watches[PEER].is_alive()
        write(daemon.dir + "/config.json", peers(good, other))
        all_right(daemon)
        # A resource that is no longer in the file is withdrawn, although the rest is wrong.
        write(daemon.dir + "/config.json", peers(dict(other, selectors=5)))
        kubelet.watches[PEER].join(SOON)
        reported_everywhere(daemon, "intel.com/b", "keeps its previous definition")
        assert kubelet.watches["intel.com/b"].is_alive()
        kubelet.stop()


@check
def a_wrong_resource_at_the_start():
    """It is left out; the others are offered."""
    with Daemon(text=peers({"resourceName": "a", "selectors": 5}, {"resourceName": "b", "selectors": {"pfNames": ["ens1np0#0-1"]}})) as daemon:
        kubelet = registered(daemon)
        equal([d.ID for d in kubelet.watches["intel.com/b"].lists[-1]], VFS)
        reported_everywhere(daemon, PEER, "is left out")
        kubelet.stop()


def not_ready_for(daemon, word):
    """/readyz and doctor give the reason, and nothing is offered to the kubelet."""
    status, text = curl(daemon, "/readyz")
    assert status == 503 and word in text, (status, text)
    equal(daemon.value("rocelet_config_ok"), 0)
    assert any(f["kind"] == "config" and word in f["what"] for f in json.loads(daemon.get("/api/v1/doctor"))["findings"])
    assert daemon.value('rocelet_samples_total') is not None
    equal(glob.glob(daemon.dir + "/device-plugins/*_*.sock"), [])


@check
def warnings_are_in_the_log_in_its_format():
    with Daemon(text=json.dumps({"lissten": ":1", "log-format": "json", "pools": [VF_POOL]})) as daemon:
        eventually("a page", lambda: daemon.value("rocelet_config_ok") == 1)
        words = 'unknown key "lissten" (did you mean "listen"?)'
        eventually("the line, as an object", lambda: any(words in json.dumps(json.loads(line)).replace('\\"', '"') for line in list(daemon.log)))


def not_ready(daemon, *words):
    """/readyz is 503, and its sentence has all the words."""
    status, text = curl(daemon, "/readyz")
    return status == 503 and text.startswith("not ready: ") and text.count("\n") == 1 and all(word in text for word in words)


@check
def ready_means_that_a_resource_is_registered():
    with Daemon(pools=(VF_POOL, SLOT_POOL)) as daemon:
        eventually("it names the kubelet's socket", lambda: not_ready(daemon, "knows none of the configured resources (2)", "device-plugins/kubelet.sock: No such"))
        kubelet = Kubelet(daemon.dir, "refusing").start()
        eventually("it names the answer", lambda: not_ready(daemon, "accepts none", ROCE, "unsupported, 100 %"))
        kubelet.manner = "good"
        eventually("ready", lambda: daemon.get("/readyz") == "ok\n")
        kubelet.stop()
        eventually("the kubelet is gone", lambda: not_ready(daemon, "knows none"))
        kubelet = registered(daemon, 2)
        eventually("ready again", lambda: daemon.get("/readyz") == "ok\n")
        daemon.configure(())
        kubelet.stop()
        eventually("nothing to register", lambda: daemon.get("/readyz") == "ok\n")


@check
def ready_means_that_its_folders_can_be_used():
    with Daemon(pools=(dict(VF_POOL, cdi=True),)) as daemon:
        kubelet = registered(daemon)
        eventually("ready", lambda: daemon.get("/readyz") == "ok\n")
        shutil.rmtree(daemon.dir + "/cdi")
        write(daemon.dir + "/cdi", "no folder")
        daemon.configure((dict(VF_POOL, cdi=True), dict(VF_POOL, resourceName="other")))
        eventually("a specification cannot be written", lambda: not_ready(daemon, daemon.dir + "/cdi"))
        assert any((f["object"] or "").startswith(ROCE) and daemon.dir + "/cdi" in f["what"] for f in json.loads(daemon.get("/api/v1/doctor"))["findings"])
        os.unlink(daemon.dir + "/cdi")
        daemon.configure((dict(VF_POOL, cdi=True),))
        eventually("ready again", lambda: daemon.get("/readyz") == "ok\n")
        kubelet.stop()
    with Daemon() as daemon:
        os.rename(daemon.dir + "/device-plugins", daemon.dir + "/before")  # sockets are made in it
        eventually("the kubelet's folder is gone", lambda: not_ready(daemon, "no folder " + daemon.dir + "/device-plugins: not mounted"))
        write(daemon.dir + "/device-plugins", "no folder")
        eventually("it is no folder", lambda: not_ready(daemon, "device-plugins/kubelet.sock: Not a directory"))
        os.unlink(daemon.dir + "/device-plugins")
        os.mkdir(daemon.dir + "/device-plugins")
        kubelet = registered(daemon)
        eventually("ready", lambda: daemon.get("/readyz") == "ok\n")
        kubelet.stop()


@check
def a_wrong_file_at_the_start():
    """The daemon only observes. It serves pools once they are corrected; corrected options need a restart."""
    with Daemon(text='{"pools": [{"resourceName": "roce", "selectors": {"pfNames": 5}}]}') as daemon:
        kubelet = Kubelet(daemon.dir).start()
        eventually("a page", lambda: daemon.value("rocelet_config_ok") == 0)
        not_ready_for(daemon, "pfNames")
        daemon.configure((VF_POOL,))
        eventually("registered", lambda: kubelet.watches and kubelet.watch().lists)
        all_right(daemon)
        kubelet.stop()
    for text in ('{"pools": [', '{"sample-interval": "x"}', "pools:\n- resourceName: roce\n"):
        with Daemon(text=text) as daemon:
            kubelet = Kubelet(daemon.dir).start()
            eventually("a page", lambda: daemon.value("rocelet_config_ok") == 0)
            not_ready_for(daemon, "config.json")
            refusals = [e["message"] for e in json.loads(daemon.get("/api/v1/events"))["events"] if e["reason"] == "ConfigRefused"]
            assert len(refusals) == 1 and refusals[0].endswith(", only observing until it is corrected"), refusals
            write(daemon.dir + "/config.json", '{"pools": 5}')
            eventually("another mistake", lambda: daemon.value('rocelet_config_reloads_total{result="failed"}') == 2)
            refusals = [e["message"] for e in json.loads(daemon.get("/api/v1/events"))["events"] if e["reason"] == "ConfigRefused"]
            assert len(refusals) == 2 and all(sentence.endswith(", only observing until it is corrected") for sentence in refusals), refusals
            assert not os.path.exists(daemon.dir + "/state"), "the state folder may be configured elsewhere"
            write(daemon.dir + "/config.json", "{")
            eventually("read", lambda: daemon.value('rocelet_config_reloads_total{result="failed"}') == 2)
            equal(daemon.process.poll(), None)
            daemon.configure((VF_POOL,))
            equal(daemon.process.wait(SOON), 0)  # its supervisor restarts it
            assert any("to be restarted" in line for line in daemon.log)
            kubelet.stop()


def refusals_of(daemon):
    return [e["message"] for e in json.loads(daemon.get("/api/v1/events"))["events"] if e["reason"] == "ConfigRefused"]


LAST_GOOD = r"running with the last good configuration of \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z, because "


def digest_of(daemon):
    return re.search(r'rocelet_config_info\{.*digest="([^"]+)"', daemon.get("/metrics"))[1]


def findings_of(daemon, kind):
    return [f for f in json.loads(daemon.get("/api/v1/doctor"))["findings"] if f["kind"] == kind]


def uses_last_good(daemon, word):
    """The pools are offered; /readyz, doctor, the event and the metrics give the reason."""
    kubelet = registered(daemon)
    equal([d.ID for d in kubelet.watch().lists[-1]], VFS)
    eventually("registered", lambda: curl(daemon, "/readyz")[1].count("\n") == 1)
    status, ready = curl(daemon, "/readyz")
    assert status == 503 and re.fullmatch("not ready: " + LAST_GOOD + ".*\n", ready) and word in ready, (status, ready)
    equal((daemon.value("rocelet_config_ok"), daemon.value("rocelet_config_last_good")), (0, 1))
    [event] = refusals_of(daemon)
    assert word in event and event.endswith(", using the last good configuration until it is corrected"), event
    [finding] = findings_of(daemon, "config")
    assert re.match(LAST_GOOD, finding["what"]) and word in finding["what"], finding
    return kubelet


@check
def a_wrong_file_at_a_restart():
    """The last good configuration stays in use: its pools are registered, and the daemon is not ready until the file is correct."""
    wrong = (('{"pools": [{"resourceName": "roce", "selectors": {"pfNames": 5}}]}', 'config.json:1: "pfNames"'), ('{"sample-interval": "x"}', "sample-interval"),
             ('{"pools": [', "config.json:1"), ('{"pool": []}', '"pool"'))
    with tempfile.TemporaryDirectory() as state:
        flags = ("--state-dir", state)
        kept = state + "/config.good"
        with Daemon(flags=flags) as daemon:
            registered(daemon).stop()
            eventually("the file is kept", lambda: os.path.exists(kept))
            equal(os.stat(kept).st_mode & 0o7777, 0o600)
            equal(daemon.value("rocelet_config_last_good"), 0)
            digest, inode = digest_of(daemon), os.stat(kept).st_ino
        for text, word in wrong:
            with Daemon(flags=flags, text=text) as daemon:
                kubelet = uses_last_good(daemon, word)
                equal(digest_of(daemon), digest)
                write(daemon.dir + "/config.json", "[]")
                eventually("another mistake", lambda d=daemon: len(refusals_of(d)) == 2)
                equal(curl(daemon, "/readyz")[0], 503)
                daemon.configure((VF_POOL,))
                eventually("ready", lambda d=daemon: d.get("/readyz") == "ok\n")
                eventually("a page", lambda d=daemon: (d.value("rocelet_config_ok"), d.value("rocelet_config_last_good")) == (1, 0))
                eventually("no findings", lambda d=daemon: not findings_of(d, "config"))
                equal(len(kubelet.watches), 1)
                kubelet.stop()
        # The text was the same each time, so its time is that of its first use.
        equal(os.stat(kept).st_ino, inode)
        # A file that another user could have written is not used, nor one that is damaged or that this version rejects; then nothing is offered.
        good = open(kept, "rb").read()
        text = b'{"sample-interval": "of an older version"}'
        refused = b"rocelet-config 1 %016x %d\n" % (fnv1a(text), len(text)) + text
        for mode, content, reason in ((0o622, good, "another user can write it"), (0o600, good[:-1], "it is not complete, or was changed"), (0o600, refused, "in place of the file: ")):
            with open(kept, "wb") as f:
                f.write(content)
            os.chmod(kept, mode)
            with Daemon(flags=flags, text=wrong[0][0]) as daemon:
                eventually("a page", lambda d=daemon: d.value("rocelet_config_ok") == 0)
                not_ready_for(daemon, "pfNames")
                equal(daemon.value("rocelet_config_last_good"), 0)
                assert any("config.good" in line and reason in line for line in daemon.log), daemon.log
                assert any("config.good" in f["what"] and reason in f["what"] for f in findings_of(daemon, "config"))
                daemon.configure((VF_POOL,))
                eventually("it is replaced", lambda: open(kept, "rb").read() == good and os.stat(kept).st_mode & 0o7777 == 0o600)
                eventually("no findings", lambda d=daemon: not findings_of(d, "config"))
        # Without it, the next start with a wrong file is empty.
        os.unlink(kept)
        with Daemon(flags=flags, text=wrong[0][0]) as daemon:
            eventually("a page", lambda: daemon.value("rocelet_config_ok") == 0)
            not_ready_for(daemon, "pfNames")
            equal(len(findings_of(daemon, "config")), 1)


def fnv1a(text):
    h = 0xcbf29ce484222325
    for byte in text:
        h = (h ^ byte) * 0x100000001b3 % 2**64
    return h


@check
def a_part_of_the_file_is_wrong_at_a_restart():
    """The rejected resource keeps its last good definition, as at a reload; a file that would withdraw one by mistake, and a missing file, are rejected."""
    b = {"resourceName": "b", "selectors": {"pfNames": ["ens1np0#1"]}}
    good = peers({"resourceName": "a", "selectors": {"pfNames": ["ens1np0#0"]}}, b)
    partly = peers({"resourceName": "a", "selectors": 5}, b)
    with tempfile.TemporaryDirectory() as state:
        kept = state + "/config.good"
        with Daemon(flags=("--state-dir", state), text=good) as daemon:
            eventually("the file is kept", lambda: os.path.exists(kept))
            write(daemon.dir + "/config.json", partly)
            eventually("a resource keeps its definition", lambda: daemon.value("rocelet_config_resources_refused") == 1)
        assert open(kept, "rb").read().endswith(good.encode())
        with Daemon(flags=("--state-dir", state), text=partly) as daemon:
            kubelet = registered(daemon, 2)
            equal(sorted(len(w.lists[-1]) for w in list(kubelet.watches.values())), [1, 1])
            eventually("ready", lambda: curl(daemon, "/readyz")[0] == 200)
            equal(daemon.value("rocelet_config_last_good"), 0)
            assert "intel.com/a keeps its previous definition: " in curl(daemon, "/readyz")[1]
            kubelet.stop()
        for text, word in (('{"resourceList": [], "poools": []}', "poools"), (None, "config.json: No such file or directory")):
            with Daemon(flags=("--state-dir", state), text=text or "{}", missing=text is None) as daemon:
                kubelet = registered(daemon, 2)
                status, ready = curl(daemon, "/readyz")
                assert status == 503 and re.match("not ready: " + LAST_GOOD, ready) and word in ready, (status, ready)
                kubelet.stop()
        # The default file, which may be missing on a node that offers nothing.
        with tempfile.TemporaryDirectory() as dir:
            os.mkdir(dir + "/device-plugins")
            make_tree(dir)
            line = command(dir, dir)
            del line[1:3]
            with subprocess.Popen([*line, "--state-dir", state], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
                log = iter(process.stderr.readline, "")
                assert any("/etc/rocelet/config.json does not exist, using the last good configuration" in line for line in log)
                process.terminate()
                log = list(log)
                equal((process.wait(SOON), log[-1].endswith("stopped\n")), (0, True))
        # A file without resources is no mistake, and is kept.
        with Daemon(flags=("--state-dir", state), pools=()) as daemon:
            eventually("kept", lambda: open(kept, "rb").read().endswith(b'{"pools": []}'))
            eventually("it is right", lambda: daemon.value("rocelet_config_ok") == 1)


@check
def the_configuration_of_an_idle_node_is_not_left():
    """An end in good order removes config.good if the file is correct and no pod has a device: an uninstalled rocelet leaves nothing."""
    def end(listed=True, held=(), wrong=False, fails=False):
        def is_in_use(document):
            return document.get("source") == "api" and len(document["pods"]) == len(held)

        with tempfile.TemporaryDirectory() as state, Daemon(flags=("--state-dir", state)) as daemon:
            pods = PodResources(daemon.dir) if listed else None
            kubelet = registered(daemon)
            eventually("the file is kept", lambda: os.path.exists(state + "/config.good"))
            if listed:
                pods.held = list(held)
                checkpoint(daemon)
                eventually("the list is in use", lambda: is_in_use(json.loads(daemon.get("/api/v1/pods") or "{}")))
            if wrong:
                write(daemon.dir + "/config.json", "[]")
                eventually("rejected", lambda: len(refusals_of(daemon)) == 1)
            if fails:
                pods.stop()
                checkpoint(daemon)  # makes the daemon list the pods
                eventually("doctor reports it", lambda: "pod-resources" in daemon.get("/api/v1/doctor"))
            kubelet.stop()
            daemon.quit()
            if listed and not fails:
                pods.stop()
            return os.listdir(state)

    kept = ["config.good"]
    equal(end(), [])
    equal(end(listed=False), kept)
    equal(end(held=[("ns", "a", "c", ROCE, VFS[0])]), kept)
    equal(end(held=[("ns", "a", "c", "other.org/roce", VFS[0])]), [])
    equal(end(wrong=True), kept)
    equal(end(fails=True), kept)


@check
def a_state_folder_that_cannot_keep_the_configuration():
    """An older configuration is not the last one: it is removed when a newer one cannot be written, and the log says so."""
    with tempfile.TemporaryDirectory() as state:
        kept = state + "/config.good"
        with Daemon(flags=("--state-dir", state)) as daemon:
            eventually("the file is kept", lambda: os.path.exists(kept))
            os.mkdir(kept + ".new")
            daemon.configure((dict(VF_POOL, resourceName="other"),))
            eventually("logged", lambda: any("config.good" in line and "is not kept, so a restart with a wrong file would offer nothing" in line for line in daemon.log))
            assert not os.path.exists(kept)
            os.rmdir(kept + ".new")
            daemon.configure((VF_POOL,))
            eventually("kept again", lambda: os.path.exists(kept))


@check
def vf_ranges_as_the_peer_reads_them():
    for word, n in (("ens1np0#0-1,", 2), ("ens1np0#0-1, 5", 2), ("ens1np0#5-2,1", 1), ("ens1np0#0-1-2,0", 1)):
        with Daemon(text=peers({"resourceName": "a", "selectors": {"pfNames": [word]}})) as daemon:
            kubelet = registered(daemon)
            equal(len(kubelet.watch().lists[0]), n)
            assert any(word in line for line in daemon.log), daemon.log
            eventually("the gauge", lambda: daemon.value("rocelet_config_resources_refused") == 0)
            kubelet.stop()


@check
def a_socket_that_is_deleted_comes_back():
    """The socket alone, its folder, and its folder replaced by one that another process has locked."""
    with Daemon() as daemon:
        run = daemon.dir + "/run"

        def answers():
            daemon.connection = None
            return os.path.exists(run + "/rocelet.sock") and daemon.connect() and "rocelet" in daemon.get("/")

        def lines_with(word):
            return sum(word in line for line in daemon.log)
        eventually("it is served", answers)
        os.unlink(run + "/rocelet.sock")
        eventually("it is back, and logged", lambda: answers() and lines_with("was deleted, creating it again") == 1)
        os.rename(run, run + ".old")
        eventually("it is back in a new folder, and logged", lambda: answers() and lines_with("was deleted, creating it again") == 2)
        second = subprocess.run([*command(daemon.dir, daemon.dir), "--lock-wait", "0"], stdin=subprocess.DEVNULL, capture_output=True, timeout=SOON, check=False)
        equal(second.returncode, 3)
        write(run + ".new/lock")
        with open(run + ".new/lock", "r+", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            daemon.process.send_signal(signal.SIGSTOP)
            os.rename(run, run + ".older")
            os.rename(run + ".new", run)
            daemon.process.send_signal(signal.SIGCONT)
            eventually("logged", lambda: lines_with("is in use by another rocelet"))
            assert not os.path.exists(run + "/rocelet.sock")
        eventually("it is back once the folder is free", answers)
        equal(lines_with("is in use by another rocelet"), 1)


# --- reports ----------------------------------------------------------------------------------


@check
def a_registry_that_the_kubelet_does_not_scan():
    """The folder exists but the kubelet does not scan it: the daemon calls Register, and leaves nothing in the folder."""
    with Daemon("registry") as daemon:
        found = daemon.socket("plugins_registry")
        kubelet = registered(daemon)
        equal(kubelet.requests[0].resource_name, ROCE)
        equal((os.listdir(daemon.dir + "/plugins_registry"), os.path.exists(found)), ([], False))
        assert any("does not scan" in line for line in daemon.log), daemon.log
        eventually("doctor reports it", lambda: "does not scan plugins_registry for resources" in daemon.get("/api/v1/doctor"))
        kubelet.stop()
        kubelet = registered(daemon)
        equal((len(kubelet.requests), os.listdir(daemon.dir + "/plugins_registry")), (1, []))
        kubelet.stop()


@check
def a_node_without_rdma_cm():
    with Daemon() as daemon:
        def findings():
            return [f["what"] for f in json.loads(daemon.get("/api/v1/doctor"))["findings"] if "rdma_cm" in f["what"]]
        write(daemon.dir + "/sys/class/misc/fuse/dev", "10:229")
        eventually("documents", lambda: daemon.get("/api/v1/doctor"))
        os.unlink(daemon.dir + "/dev/infiniband/rdma_cm")
        eventually("no module", lambda: findings() == ["there is no /dev/infiniband/rdma_cm: the module rdma_ucm is not loaded"])
        write(daemon.dir + "/sys/class/misc/rdma_cm/dev", "10:58")
        eventually("no node", lambda: findings() == ["the kernel has rdma_cm, but there is no /dev/infiniband/rdma_cm"])
        write(daemon.dir + "/dev/infiniband/rdma_cm")
        eventually("nothing", lambda: findings() == [])


@check
def a_kubelet_restart_causes_no_warning():
    """Failures that end within a moment are not logged as warnings; one that lasts is."""
    with Daemon() as daemon:
        def warnings():
            return [line for line in daemon.log if " warn " in line and "kubelet" in line]
        pods = PodResources(daemon.dir)
        kubelet = registered(daemon)
        pods.held = [("train", "job-7", "main", ROCE, VFS[0])]
        checkpoint(daemon)
        eventually("held", lambda: daemon.offer(VFS[0])["state"] == "held")
        for _ in range(3):
            kubelet.stop(dead_file=True)
            pods.stop()
            checkpoint(daemon)  # makes the daemon list the pods
            eventually("doctor reports it", lambda: "pod-resources" in daemon.get("/api/v1/doctor"))
            pods = PodResources(daemon.dir)
            pods.held = [("train", "job-7", "main", ROCE, VFS[0])]
            kubelet = registered(daemon)
            eventually("held", lambda: daemon.offer(VFS[0])["state"] == "held")
        equal(warnings(), [])
        pods.stop()
        checkpoint(daemon)
        eventually("a warning", lambda: any("cannot read the allocations of pods" in line for line in warnings()))
        kubelet.stop()


@check
def all_interfaces_report_the_same():
    with Daemon() as daemon:
        pods = PodResources(daemon.dir)
        kubelet = registered(daemon)
        kubelet.client().allocate([VFS[0]])
        eventually("reserved", lambda: daemon.offer(VFS[0])["state"] == "reserved")
        pods.held = [("train", "job-7", "main", ROCE, VFS[0])]
        checkpoint(daemon)
        eventually("held", lambda: daemon.offer(VFS[0])["state"] == "held")
        first, second = (daemon.offer(vf) for vf in VFS)
        equal((first["resource"], first["id"], first["healthy"]), (ROCE, VFS[0], True))
        equal((first["holder"]["namespace"], first["holder"]["pod"], first["holder"]["container"]), ("train", "job-7", "main"))
        equal((second["state"], second["holder"]), ("free", None))
        listed = json.loads(daemon.get("/api/v1/pods"))
        equal(listed["source"], "api")
        pod, = listed["pods"]
        device, = pod["containers"][0]["devices"]
        equal((pod["namespace"], pod["name"]), ("train", "job-7"))
        equal([device[key] for key in ("resource", "id", "troubles", "attachment")], [ROCE, VFS[0], [], None])
        labels = 'namespace="train",pod="job-7",container="main"'
        eventually("the page", lambda: daemon.value(f'rocelet_device_allocated_info{{resource="{ROCE}",id="{VFS[0]}",{labels}}}') == 1)
        equal(daemon.value(f'rocelet_resource_allocated{{resource="{ROCE}"}}'), 1)
        equal(daemon.value(f'rocelet_allocations_total{{resource="{ROCE}",result="given"}}'), 1)
        devices = [f'device="{daemon.device(vf)["rdma"][0]["name"]}"' for vf in VFS]
        lines = [line for line in daemon.get("/metrics").splitlines() if line.startswith("roce_") and labels in line]
        names = [[line.split("{")[0] for line in lines if device in line] for device in devices]
        assert len(names[0]) > 10, names
        equal(names[1], [])
        # In use, so another allocation fails.
        text = raises(grpc.StatusCode.UNAVAILABLE, lambda: kubelet.client().allocate([VFS[0]]))
        assert "train/job-7" in text and VFS[0] in text, text
        daemon.link("ens1v1", False)
        eventually("an unhealthy device", lambda: kubelet.watch().healthy() == 1)
        eventually("in the page", lambda: daemon.value(f'rocelet_device_unhealthy{{resource="{ROCE}",id="{VFS[1]}",reason="link_down"}}') == 1)
        equal(daemon.offer(VFS[1])["reasons"], ["link_down"])
        pods.held = []
        checkpoint(daemon)
        eventually("free", lambda: daemon.offer(VFS[0])["state"] == "free")
        eventually("no label", lambda: 'pod="job-7"' not in daemon.get("/metrics"))
        equal(json.loads(daemon.get("/api/v1/pods"))["pods"], [])
        kubelet.stop()
        pods.stop()


@check
def owners_after_a_restart():
    """A restarted kubelet lists its pods one by one: each listed owner counts at once, also for a device that another pod had before."""
    with Daemon(flags=["--rescan-interval", "60"]) as daemon:
        pods = PodResources(daemon.dir)
        kubelet = registered(daemon)
        pods.held = [("train", "a", "main", ROCE, VFS[0]), ("train", "b", "main", ROCE, VFS[1])]
        checkpoint(daemon)

        def holders():
            named = [daemon.offer(vf).get("holder") for vf in VFS]
            return [holder["pod"] if holder else None for holder in named]

        def series(pod, vf):
            return daemon.value(f'rocelet_device_allocated_info{{resource="{ROCE}",id="{vf}",namespace="train",pod="{pod}",container="main"}}')
        eventually("a and b", lambda: holders() == ["a", "b"])
        kubelet.stop()
        pods.stop()
        pods = PodResources(daemon.dir)
        eventually("an empty list", lambda: pods.calls > 1)
        equal(holders(), ["a", "b"])
        kubelet = registered(daemon)
        kubelet.client().allocate([VFS[1]])
        pods.held = [("train", "c", "main", ROCE, VFS[1])]  # a is not readmitted yet
        began = time.monotonic()
        eventually("b's device is c's", lambda: holders() == ["a", "c"], 25)  # if the list lacks it, the daemon lists again every 30 s
        eventually("/metrics has the new owners", lambda: series("c", VFS[1]) == 1 and series("b", VFS[1]) is None and series("a", VFS[0]) == 1, 25)
        print(f"# c is known as the owner {(time.monotonic() - began) * 1000:.0f} ms after a list names it")
        pods.held.append(("train", "a", "main", ROCE, VFS[0]))
        assert not any("believing" in line for line in daemon.log), daemon.log
        kubelet.stop()
        pods.stop()


@check
def a_kubelet_that_does_not_list_its_pods():
    """Its previous list stays in use, and doctor reports the failure while it lasts."""
    def problems(daemon):
        findings = json.loads(daemon.get("/api/v1/doctor"))["findings"]
        return [f["what"] for f in findings if f["kind"] == "kubelet" and not f["object"]]
    with Daemon() as daemon:
        kubelet = registered(daemon)
        pods = PodResources(daemon.dir)
        pods.held = [("train", "a", "main", ROCE, VFS[0])]
        checkpoint(daemon)
        eventually("held", lambda: daemon.offer(VFS[0])["state"] == "held")
        eventually("no problem", lambda: problems(daemon) == [])
        path = pods.folder + "/kubelet.sock"
        pods.stop()
        eventually("its socket is removed", lambda: any("does not exist" in what for what in problems(daemon)))
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(path)
            s.listen()

            def hang_up():
                try:
                    while True:
                        s.accept()[0].close()
                except OSError:
                    pass
            threading.Thread(target=hang_up, daemon=True).start()
            eventually("it hangs up", lambda: any("UNAVAILABLE" in what for what in problems(daemon)))
            equal(daemon.offer(VFS[0])["holder"]["pod"], "a")
            s.shutdown(socket.SHUT_RDWR)
        os.unlink(path)
        pods = PodResources(daemon.dir)
        pods.held = [("train", "a", "main", ROCE, f"{i:020}") for i in range(20000)]
        eventually("too many", lambda: any("bytes) names more than 16384 devices" in what for what in problems(daemon)))
        pods.held = [("train", "b", "main", ROCE, VFS[0])]
        eventually("no problem any more", lambda: problems(daemon) == [])
        eventually("another pod", lambda: daemon.offer(VFS[0])["holder"]["pod"] == "b")
        kubelet.stop()
        pods.stop()


@check
def a_dry_run_is_not_noticed():
    with Daemon(flags=["--dry-run", "--use-cdi"]) as daemon:
        kubelet = Kubelet(daemon.dir).start()
        eventually("decided", lambda: daemon.value(f'rocelet_resource_devices{{resource="{ROCE}",health="healthy"}}') == 2)
        equal(kubelet.requests, [])
        equal(glob.glob(daemon.dir + "/device-plugins/*_roce.sock"), [])
        equal([os.path.exists(daemon.dir + name) for name in ("/cdi", "/info")], [False, False])
        kubelet.stop()


# --- malformed input --------------------------------------------------------------------------


def frame(type, flags, stream, payload=b""):
    return len(payload).to_bytes(3, "big") + bytes([type, flags]) + stream.to_bytes(4, "big") + payload


def headers(*fields):
    """HPACK, literals without indexing or Huffman code (RFC 7541, 6.2.2)."""
    text = b""
    for field in fields:
        text += b"\0" + b"".join(bytes([len(part)]) + part.encode() for part in field)
    return text


PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0)


def request(path, message=b"\0\0\0\0\0", content_type="application/grpc", method="POST"):
    fields = ((":method", method), (":scheme", "http"), (":path", path), (":authority", "localhost"), ("content-type", content_type), ("te", "trailers"))
    return PREFACE + frame(1, 4, 1, headers(*fields)) + frame(0, 1, 1, message)


def exchange(daemon, text):
    """Sends and returns everything that the daemon answers until it closes the connection."""
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(SOON)
        s.connect(daemon.socket())
        answer = b""
        try:
            s.sendall(text)
            s.shutdown(socket.SHUT_WR)
            while part := s.recv(65536):
                answer += part
        except ConnectionError:
            pass
        return answer


@check
def bad_input():
    with Daemon() as daemon:
        kubelet = registered(daemon)
        allocate = API + "Allocate"
        good = request(API + "GetDevicePluginOptions")
        exchange(daemon, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        exchange(daemon, b"")
        exchange(daemon, os.urandom(4096))
        for n in range(1, len(good), 7):
            exchange(daemon, good[:n])
        exchange(daemon, request(allocate, content_type="text/plain"))
        exchange(daemon, request(allocate, b"\x01\0\0\0\x02ab"))  # compressed
        exchange(daemon, request(allocate, b"\0\xff\xff\xff\xff"))  # 4 GiB to come
        exchange(daemon, request(allocate, b"\0\0\0\0\x04\xff\xff\xff\xff"))
        exchange(daemon, request(allocate, method="GET"))
        exchange(daemon, request("/" + "x" * 120))
        exchange(daemon, good + frame(0, 0, 7, b"what stream?") + frame(250, 0, 1, b"?") + frame(3, 0, 0, b"\0\0\0\0"))
        exchange(daemon, good + frame(6, 0, 0, b"12345678") * 2000)  # pings
        exchange(daemon, PREFACE + frame(4, 0, 0, b"\0\4\0\0\0\0") * 2000)
        raw = kubelet.client().channel.unary_unary(allocate)
        raises(grpc.StatusCode.RESOURCE_EXHAUSTED, lambda: raw(b"\x0a" * (5 * MIB), timeout=SOON))
        raises(grpc.StatusCode.UNIMPLEMENTED, lambda: kubelet.client().unary(API + "Frobnicate", dp.Empty(), dp.Empty))
        squeezed = grpc.insecure_channel("unix:" + daemon.socket(), compression=grpc.Compression.Gzip,
                                         options=[("grpc.use_local_subchannel_pool", 1)])
        call = squeezed.unary_unary(allocate, request_serializer=lambda m: m.SerializeToString())
        raises(grpc.StatusCode.UNIMPLEMENTED, lambda: call(base.allocation(["x" * 60] * 100), timeout=SOON))
        squeezed.close()
        # Forty idle connections cannot keep the kubelet out.
        idle = [socket.socket(socket.AF_UNIX) for _ in range(40)]
        for s in idle:
            s.connect(daemon.socket())
        fresh = Plugin(daemon.socket())
        fresh.options()
        fresh.close()
        for s in idle:
            s.close()
        equal(len(kubelet.requests), 1)
        assert kubelet.watch().error is None
        kubelet.client().allocate([VFS[0]])
        kubelet.stop()


# --- HTTP requests ----------------------------------------------------------------------------


def curl(daemon, url, *flags):
    """Returns the status and the text."""
    command = ["curl", "--silent", "--max-time", str(SOON), "--globoff", "--path-as-is", "--unix-socket", daemon.dir + "/run/rocelet.sock",
               "--write-out", "\n%{http_code}", *flags, "http://node" + url]
    text, _, status = subprocess.run(command, capture_output=True, text=True, check=False).stdout.rpartition("\n")
    return int(status), text


@check
def requests_of_any_size():
    with Daemon() as daemon:
        eventually("rocelet.sock listens", daemon.connect)
        for n in (0, 1, 31, 32, 33, 230, 240, 250, 300, 1000, 4000, 20000):
            status, text = curl(daemon, "/healthz?" + "&".join(["a=1"] * n))
            equal(status, 200 if n <= 32 else 400 if n <= 1000 else 414)
            assert text and text.count("\n") <= 1, (n, text)
        for n in (10, 100, 200, 215, 230, 300, 1000):
            status, text = curl(daemon, "/healthz", *[f"-HX-{i}: 1" for i in range(n)])
            assert (n <= 100 and status == 200) or status in (200, 431), (n, status)
            assert text, n
        for n in (4000, 10000, 14000, 15000, 15900, 16000, 16100, 16300, 50000):
            equal(curl(daemon, "/healthz?a=" + "x" * n)[0], 200 if n == 4000 else 414)
            status, text = curl(daemon, "/healthz", "-HX: " + "x" * n)
            equal((n, status), (n, 200 if n <= 10000 else 431))
            assert text, n
        for query, wanted in (("?", 400), ("?device=%", 404), ("?device=%zz", 404), ("?device=%00", 404), ("?device=%ff%fe", 404), ("?&&&=&", 400),
                              ("?device=a&device=b", 400), ("?device", 404), ("?a=1#device=b", 400), ("?device=" + "%41" * 1000, 404)):
            status, text = curl(daemon, "/api/v1/explain" + query)
            equal((query, status), (query, wanted))
            assert text, query
        equal(curl(daemon, "/healthz"), (200, "ok\n"))


def main():
    programs["daemon"], programs["mk_sysfs"] = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as tree:
        make_tree(tree)
        write(tree + "/config.json", json.dumps({"pools": [VF_POOL]}))
        base.Host.command = " ".join(f"'{part}'" for part in command("{dir}", tree))
        failed = base.run_checks([f for f, needs_host in base.checks if not needs_host] + checks, sys.argv[3:])
    os._exit(failed)  # a silent kubelet's threads never end


if __name__ == "__main__":
    main()
