#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Judges the status file that a container reads about its own devices (podStatus): the running daemon over a synthetic sysfs tree, a kubelet made of grpc-python, and an open
descriptor of the folder in place of the container's mount.

  pod_status_python.py DAEMON MK_SYSFS ROCECTL [CHECK...]

One line per check, "N passed, N failed" last.

run: {san}/rocelet {san}/bench/mk_sysfs {san}/rocectl
proves: daemon/plugin daemon/api daemon/pools
when: turns
"""
import fcntl
import glob
import json
import os
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../lib")]
import daemon_python  # noqa: E402
import diagnosis_python as diagnosis  # noqa: E402
from daemon_python import HOLD, PodResources, checkpoint, registered  # noqa: E402
from diagnosis_python import NAK, OUT_OF_SEQUENCE, TRAFFIC  # noqa: E402
from kubelet_python import SOON, equal, eventually  # noqa: E402
from run_checks import run_checks  # noqa: E402

checks = []
ROCE = "rocelet.dev/roce"
VFS = ["0000:18:00.1", "0000:18:00.2"]
NAMES = [id.replace(":", "-") for id in VFS]
RDMA = ["mlx5_2", "mlx5_3"]
VARIABLE = "ROCELET_STATUS_ROCELET_DEV_ROCE"


def check(function):
    checks.append(function)
    return function


class Node(diagnosis.Node):
    """A node whose pool has podStatus, unless a test turns it off."""

    pool = {"resourceName": "roce", "selectors": {"isRdma": True, "pfNames": ["ens1np0"]}, "hold": HOLD, "podStatus": True}

    def text(self):
        return json.dumps({"pools": [self.pool], **self.keys}, indent=1)

    def set_pod_status(self, on):
        self.pool = dict(self.pool, podStatus=on)
        self.configure_keys(**self.keys)
        eventually("reloaded", lambda: f'"podStatus": {str(on).lower()}' in self.get("/api/v1/config").replace('":', '": ').replace("  ", " "))

    def folder(self, i=0):
        return f"{self.dir}/run/pod-status/{NAMES[i]}"

    def folders(self):
        """Without hidden ones, which are being removed."""
        return sorted(name for name in os.listdir(self.dir + "/run/pod-status") if not name.startswith("."))

    def hold(self, *pods):
        """The kubelet's list: (pod, number of the VF)."""
        self.pods.held = [("train", pod, "worker", ROCE, VFS[i]) for pod, i in pods]
        checkpoint(self)

    def state(self, i=0):
        return self.offer(VFS[i])["state"]


class Mount:
    """A container's mount: the folder, even if it is renamed later."""

    def __init__(self, answer, id):
        name = id.replace(":", "-")
        mount, = [m for m in answer.mounts if m.container_path == f"/run/rocelet/{name}"]
        assert mount.read_only
        self.path = mount.host_path
        self.fd = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)

    def read(self):
        """None: there is no file."""
        try:
            fd = os.open("status.json", os.O_RDONLY, dir_fd=self.fd)
        except FileNotFoundError:
            return None
        with open(fd, encoding="utf-8") as f:
            return json.load(f)

    def text(self):
        return json.dumps(self.read())

    def verdicts(self):
        return {v["cause"]: v for v in (self.read() or {"verdicts": []})["verdicts"]}

    def now(self, signal):
        document = self.read()
        return document["ports"][0]["now"][signal] if document and document["ports"] else None


class Scene:
    """A daemon, its kubelet and the pods with devices."""

    def __init__(self, *args, **more):
        self.node = Node(*args, **more)
        self.node.pods = PodResources(self.node.dir)

    def __enter__(self):
        self.kubelet = registered(self.node)
        return self.node, self.kubelet

    def __exit__(self, *what):
        self.kubelet.stop()
        self.node.pods.stop()
        return self.node.__exit__(*what)


def labels_of(text):
    return set(re.findall(r'(\w+)="([^"]*)"', text))


def scraped_of(node, device, name):
    """The value of a device's series that has these labels besides those of its owner."""
    family, labels = re.fullmatch(r"(\w+)(\{.*\})?", name).groups()
    found = [float(value) for mine, value in re.findall(r"^%s(\{.*\}) (\S+)$" % family, node.get("/metrics"), re.M)
             if labels_of(mine) >= labels_of(labels or "") | {("device", device)}]
    equal((name, len(found)), (name, 1))
    return found[0]


@check
def a_pod_reads_its_own_ports_only():
    with Scene(flags=["--all-series"]) as (node, kubelet):
        story = node.story(RDMA[0])
        story.play(TRAFFIC)
        node.judged(RDMA[0])
        node.hold(("other", 1))
        eventually("the other's", lambda: node.state(1) == "held")
        answer, = kubelet.client().allocate([VFS[0]])
        # Before Allocate is answered, the folder exists, empty and owned by root.
        equal(answer.envs[VARIABLE], f"/run/rocelet/{NAMES[0]}/status.json")
        equal([(m.host_path, m.container_path, m.read_only) for m in answer.mounts], [(node.folder(), f"/run/rocelet/{NAMES[0]}", True)])
        mount = Mount(answer, VFS[0])
        equal(stat.S_IMODE(os.fstat(mount.fd).st_mode), 0o755)
        node.hold(("job", 0), ("other", 1))
        eventually("a file", mount.read)
        equal(stat.S_IMODE(os.stat("status.json", dir_fd=mount.fd).st_mode), 0o644)
        document = mount.read()
        equal(list(document), ["time", "timeMs", "everyMs", "function", "ports", "verdicts"])
        equal((document["function"], document["everyMs"], document["verdicts"]), (VFS[0], 1000, []))
        # The same object as in the API, without members that are not the pod's.
        port, = document["ports"]
        theirs = next(p for p in json.loads(node.get("/api/v1/ports"))["ports"] if p["device"] == RDMA[0])
        equal(list(port), [*(key for key in theirs if key not in ("health", "troubles")), "counters"])
        equal({k: v for k, v in port.items() if k not in ("now", "counters") and v != theirs[k]}, dict.fromkeys(["parent", "namespace", "pod", "container"]))
        equal(list(port["now"]), list(theirs["now"]))
        # Values that cannot be read are null, not 0.
        equal({k for k, v in port["now"].items() if v is None}, {k for k, v in theirs["now"].items() if v is None})
        # The file is updated, and its clock is monotonic.
        eventually("figures", lambda: (mount.now("bytes_received") or 0) > 1e9)
        age = time.clock_gettime(time.CLOCK_MONOTONIC) * 1000 - mount.read()["timeMs"]
        assert 0 <= age < 5000, age
        before = mount.read()["timeMs"]
        eventually("a newer one", lambda: mount.read()["timeMs"] > before)
        story.play()
        eventually("silence", lambda: mount.now("bytes_received") == 0)
        # The counters equal those of /metrics.
        counters = mount.read()["ports"][0]["counters"]
        assert counters['roce_bytes_total{direction="received"}'] > 1e9, counters
        equal({name: scraped_of(node, RDMA[0], name) for name in counters}, counters)
        # A verdict on this port has its advice; one on the other VF is not in the file.
        other = node.story(RDMA[1])
        other.play(TRAFFIC, {NAK: 500})
        eventually("the other's verdict", lambda: node.verdict(RDMA[1], "packet_loss"))
        story.play(TRAFFIC, {NAK: 500, OUT_OF_SEQUENCE: 500})
        eventually("a verdict", lambda: "packet_loss" in mount.verdicts())
        eventually("it is critical", lambda: mount.verdicts().get("packet_loss", {}).get("level") == 3)
        equal(list(mount.verdicts()), ["packet_loss"])
        verdict, api = mount.verdicts()["packet_loss"], node.verdict(RDMA[0], "packet_loss")
        for key in ("device", "port", "cause", "severity", "level", "onset", "onsetMs", "sentence", "advice", "disproof"):
            equal((key, verdict[key]), (key, api[key]))
        equal(verdict["runbook"], "/runbook/packet_loss")
        with open(os.path.join(HERE, "../../docs/runbook.md"), encoding="utf-8") as f:
            assert "\n## packet_loss\n" in f.read()
        for secret in (VFS[1], RDMA[1], "0000:18:00.0", diagnosis.PF + '"', "job", "other", "train", "worker", '"peer"', '"pods"', '"evidence"'):
            assert secret not in mount.text(), (secret, mount.text())
        story.play(TRAFFIC)
        eventually("it is over", lambda: mount.verdicts() == {})
        # The other VF was allocated without an Allocate call to this daemon: its folder exists all the same.
        equal(node.folders(), NAMES)


@check
def the_next_pod_has_another_folder():
    with Scene() as (node, kubelet):
        story = node.story(RDMA[0])
        story.play(TRAFFIC, {NAK: 500})
        first = Mount(kubelet.client().allocate([VFS[0]])[0], VFS[0])
        node.hold(("first", 0))
        eventually("a file", first.read)
        # When the pod ends, its files are removed, also from the open mount.
        node.hold()
        eventually("no folder", lambda: not os.path.exists(node.folder()))
        eventually("the folder is empty", lambda: os.listdir(first.fd) == [])
        eventually("no folder is left", lambda: os.listdir(node.dir + "/run/pod-status") == [])
        # Allocated again while the kubelet still lists the first pod: neither reads the other's file.
        second = Mount(kubelet.client().allocate([VFS[0]])[0], VFS[0])
        node.hold(("second", 0))
        eventually("a file", second.read)
        equal(os.listdir(first.fd), [])
        node.hold()
        eventually("free", lambda: node.state() == "free")
        third = Mount(kubelet.client().allocate([VFS[0]])[0], VFS[0])
        equal(third.read(), None)
        node.hold(("third", 0))
        eventually("a file", third.read)
        equal((os.listdir(first.fd), os.listdir(second.fd)), ([], []))
        node.hold()
        eventually("free", lambda: node.state() == "free")
        # The device of an init container, which the kubelet does not list, is allocated again to a container of the same pod.
        init = Mount(kubelet.client().allocate([VFS[0]])[0], VFS[0])
        again = Mount(kubelet.client().allocate([VFS[0]])[0], VFS[0])
        since = time.clock_gettime(time.CLOCK_MONOTONIC) * 1000
        eventually("a file", again.read)
        assert again.read()["timeMs"] >= since - 1, "of a sample before the Allocate"
        eventually("the folders are empty", lambda: (os.listdir(third.fd), os.listdir(init.fd)) == ([], []))


@check
def counts_from_before_the_pod_are_not_in_its_first_file():
    interval = 2
    with Scene({key: 2 * interval for key in diagnosis.QUICK}, flags=["--sample-interval", str(interval)]) as (node, kubelet):
        story = node.story(RDMA[0])
        story.play(TRAFFIC, {OUT_OF_SEQUENCE: 5000})
        first = Mount(kubelet.client().allocate([VFS[0]])[0], VFS[0])
        node.hold(("first", 0))
        eventually("traffic", lambda: first.now("out_of_sequence"))
        node.hold()
        eventually("free", lambda: node.state() == "free")
        # The last counts are added between the last sample and the next pod's Allocate.
        node.judge_more(1)
        story.jump(OUT_OF_SEQUENCE, 5000)
        story.play()
        second = Mount(kubelet.client().allocate([VFS[0]])[0], VFS[0])
        node.hold(("second", 0))
        eventually("a file", second.read)
        equal((second.now("out_of_sequence"), second.now("bytes_received")), (0, 0))


@check
def a_removed_folder_is_created_again():
    with Scene() as (node, kubelet):
        mount = Mount(kubelet.client().allocate([VFS[0]])[0], VFS[0])
        node.hold(("job", 0))
        eventually("a file", mount.read)
        for n, path in enumerate((node.folder(), node.dir + "/run/pod-status"), 1):
            shutil.rmtree(path)
            eventually("a file for the next start", lambda: os.path.exists(node.folder() + "/status.json"))
            eventually("it is logged once", lambda: len([line for line in node.log if "removed or replaced by another process" in line]) == n)
            # Another removal before the folder has existed for a round is not logged again.
            before = json.loads(open(node.folder() + "/status.json", encoding="utf-8").read())["timeMs"]
            eventually("rounds", lambda: json.loads(open(node.folder() + "/status.json", encoding="utf-8").read())["timeMs"] > before + 1000)


@check
def a_folder_that_cannot_be_purged_is_logged_once():
    with Scene() as (node, kubelet):
        for _ in range(3):
            mount = Mount(kubelet.client().allocate([VFS[0]])[0], VFS[0])
            os.makedirs(mount.path + "/status.json/in/the/way")
            node.hold(("job", 0))
            eventually("held", lambda: node.state() == "held")
            node.hold()
            eventually("free", lambda: node.state() == "free")
            eventually("it is logged", lambda: [line for line in node.log if "not removing it" in line])
        node.judge_more(5)
        equal(len([line for line in node.log if "not removing it" in line]), 1)


@check
def a_refused_allocation_changes_no_folder():
    with Scene() as (node, kubelet):
        mount = Mount(kubelet.client().allocate([VFS[0]])[0], VFS[0])
        node.hold(("job", 0))
        eventually("a file", mount.read)
        node.link("ens1v1", False)
        eventually("unhealthy", lambda: kubelet.watch().healthy() == 1)
        daemon_python.raises(daemon_python.grpc.StatusCode.NOT_FOUND, lambda: kubelet.client().allocate([VFS[1], "0000:18:00.9"]))
        daemon_python.raises(daemon_python.grpc.StatusCode.UNAVAILABLE, lambda: kubelet.client().allocate([VFS[0]]))
        before = mount.read()["timeMs"]
        eventually("it goes on", lambda: mount.read()["timeMs"] > before)
        equal(node.folders(), [NAMES[0]])


@check
def folders_found_after_a_crash():
    with Scene() as (node, kubelet):
        mount = Mount(kubelet.client().allocate([VFS[0]])[0], VFS[0])
        node.hold(("job", 0))
        eventually("a file", mount.read)
        node.process.send_signal(signal.SIGKILL)
        node.process.wait(SOON)
        stopped = mount.read()["timeMs"]
        # Manipulated meanwhile: a folder without an owner, a half-written file, a file in the place of a folder.
        os.makedirs(node.folder(1))
        daemon_python.write(node.folder(1) + "/status.json", "{}")
        daemon_python.write(node.folder() + "/.status.json", "half")
        os.makedirs(node.dir + "/run/pod-status/.aside-0")
        daemon_python.write(node.dir + "/run/pod-status/.aside-0/status.json", "{}")
        time.sleep(0.3)
        equal(mount.read()["timeMs"], stopped)  # the time does not advance: that is how a reader notices
        node.restart()
        eventually("it goes on", lambda: mount.read()["timeMs"] > stopped)
        eventually("the folder without an owner is removed", lambda: sorted(os.listdir(node.dir + "/run/pod-status")) == [NAMES[0]])
        equal(os.listdir(mount.fd), ["status.json"])
        # After a reboot no folder exists, and the kubelet starts containers with their previous mounts.
        node.process.send_signal(signal.SIGKILL)
        node.process.wait(SOON)
        shutil.rmtree(node.dir + "/run/pod-status")
        node.restart()
        eventually("the folder is made", lambda: os.path.exists(node.folder() + "/status.json"))
        equal(node.folders(), [NAMES[0]])
        # After an orderly end pods keep their files.
        node.quit()
        equal(node.folders(), [NAMES[0]])


@check
def unknown_owners_change_nothing():
    with Scene() as (node, kubelet):
        mount = Mount(kubelet.client().allocate([VFS[0]])[0], VFS[0])
        node.hold(("job", 0))
        eventually("a file", mount.read)
        # The kubelet does not answer, before and after a restart.
        node.pods.stop()
        os.unlink(node.pods.folder + "/kubelet.sock") if os.path.exists(node.pods.folder + "/kubelet.sock") else None
        os.makedirs(node.folder(1))
        checkpoint(node)
        node.process.send_signal(signal.SIGKILL)
        node.process.wait(SOON)
        os.unlink(node.dir + "/device-plugins/kubelet_internal_checkpoint")
        node.restart()
        eventually("it judges", lambda: node.diagnosis()["ports"])
        node.judge_more(30)
        equal(node.folders(), NAMES)
        equal(os.listdir(mount.fd), ["status.json"])


@check
def other_files_in_the_place_of_a_folder():
    with Scene() as (node, kubelet):
        target = node.dir + "/target"
        os.makedirs(target)
        daemon_python.write(target + "/status.json", "theirs")
        os.makedirs(node.dir + "/run/pod-status")
        for make in (lambda path: os.symlink(target, path), lambda path: daemon_python.write(path, "a file"), lambda path: os.mkfifo(path)):
            make(node.folder())
            mount = Mount(kubelet.client().allocate([VFS[0]])[0], VFS[0])
            assert stat.S_ISDIR(os.lstat(node.folder()).st_mode)
            node.hold(("job", 0))
            eventually("a file", mount.read)
            # And while the pod has the device, in the place of its files.
            os.symlink(target + "/status.json", node.folder() + "/.status.json")
            before = mount.read()["timeMs"]
            eventually("a newer one", lambda: mount.read()["timeMs"] > before)
            node.hold()
            eventually("no folder", lambda: not os.path.lexists(node.folder()))
            eventually("free", lambda: node.state() == "free")
        equal(os.listdir(target), ["status.json"])
        with open(target + "/status.json", encoding="utf-8") as f:
            equal(f.read(), "theirs")


@check
def a_lease_of_a_pod_does_not_block_the_daemon():
    """Root in a container owns the file and may take leases on it: opening it for writing would block for up to 45 s."""
    with Scene() as (node, kubelet):
        mounts = [Mount(kubelet.client().allocate([id])[0], id) for id in VFS]
        node.hold(("job", 0), ("other", 1))
        eventually("files", lambda: all(m.read() for m in mounts))
        fd = os.open("status.json", os.O_RDONLY, dir_fd=mounts[0].fd)
        signal.signal(signal.SIGIO, signal.SIG_IGN)
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        before = [m.read()["timeMs"] for m in mounts]
        eventually("newer ones", lambda: all(m.read()["timeMs"] > t for m, t in zip(mounts, before)))
        node.hold()
        eventually("the folder is removed", lambda: node.folders() == [])
        eventually("no folder is left", lambda: os.listdir(node.dir + "/run/pod-status") == [])
        # The file was not opened for writing: that would have started to break the lease.
        equal(fcntl.fcntl(fd, fcntl.F_GETLEASE), fcntl.F_RDLCK)
        os.close(fd)


@check
def where_nothing_can_be_written_pods_get_their_devices():
    with Scene() as (node, kubelet):
        daemon_python.write(node.dir + "/run/pod-status", "a file where the folder should be")
        for _ in range(3):
            answer, = kubelet.client().allocate([VFS[0]])
            equal((len(answer.mounts), VARIABLE in answer.envs), (0, False))
            assert answer.devices and answer.envs["PCIDEVICE_ROCELET_DEV_ROCE"] == VFS[0]
        node.hold(("job", 0))
        node.judge_more(30)
        failures = [line for line in node.log if "status files of pods are not updated" in line]
        equal(len(failures), 1)
        assert "pod-status" in failures[0], failures
        # The cause ends: the folder exists for the next container, and the log reports it.
        os.unlink(node.dir + "/run/pod-status")
        node.hold(("job", 0), ("other", 1))
        eventually("files", lambda: os.path.exists(node.folder() + "/status.json"))
        eventually("it is logged", lambda: any("status files of pods are updated again" in line for line in node.log))


@check
def others_may_not_write_there():
    with Scene() as (node, kubelet):
        os.makedirs(node.dir + "/run/pod-status")
        os.chmod(node.dir + "/run/pod-status", 0o777)
        answer, = kubelet.client().allocate([VFS[0]])
        equal(len(answer.mounts), 0)
        eventually("it is logged", lambda: any("other users can write there" in line or "Operation not permitted" in line for line in node.log))
        equal(os.listdir(node.dir + "/run/pod-status"), [])


class Silent(Node):
    pool = {k: v for k, v in Node.pool.items() if k != "podStatus"}


class SilentScene(Scene):
    def __init__(self):
        self.node = Silent()
        self.node.pods = PodResources(self.node.dir)


@check
def without_the_key_there_are_no_files():
    with SilentScene() as (node, kubelet):
        answer, = kubelet.client().allocate([VFS[0]])
        equal((len(answer.mounts), [k for k in answer.envs if k.startswith("ROCELET")]), (0, []))
        node.hold(("job", 0))
        eventually("held", lambda: node.state() == "held")
        node.judge_more(20)
        assert not os.path.exists(node.dir + "/run/pod-status")


@check
def the_key_is_set_and_unset():
    with Scene() as (node, kubelet):
        mount = Mount(kubelet.client().allocate([VFS[0]])[0], VFS[0])
        node.hold(("job", 0))
        eventually("a file", mount.read)
        node.set_pod_status(False)
        # The path stays, empty: the kubelet restarts the container with this mount.
        eventually("no file", lambda: os.path.isdir(node.folder()) and os.listdir(node.folder()) == [] and os.listdir(mount.fd) == [])
        answer, = kubelet.client().allocate([VFS[1]])
        equal(len(answer.mounts), 0)
        node.hold(("job", 0), ("other", 1))
        node.judge_more(15)
        equal((node.folders(), os.listdir(node.folder())), ([NAMES[0]], []))
        node.set_pod_status(True)
        eventually("a file where its container is started again", lambda: os.path.exists(node.folder() + "/status.json"))
        node.hold()
        eventually("no folder", lambda: node.folders() == [])


@check
def many_devices():
    """CPU time for 128 devices; useful figures need SPAN=20 (seconds)."""
    class Large(Node):
        pool = {"resourceName": "roce", "selectors": {"isRdma": True, "drivers": ["mlx5_core"]}, "hold": HOLD, "podStatus": True}

        @staticmethod
        def make(dir):
            subprocess.run([daemon_python.programs["mk_sysfs"], dir + "/sys", "8", "128", "upstream"], env=dict(os.environ, BUS="1"), check=True,
                           stdout=subprocess.DEVNULL)
            for i in range(136):
                daemon_python.write(f"{dir}/dev/infiniband/uverbs{i}")
                daemon_python.write(f"{dir}/dev/infiniband/umad{i}")
            daemon_python.write(dir + "/dev/infiniband/rdma_cm")

    class LargeScene(Scene):
        def __init__(self):
            self.node = Large({key: 3 for key in diagnosis.QUICK}, flags=["--sample-interval", "1", "--rescan-interval", "60"])
            self.node.pods = PodResources(self.node.dir)

    def cpu(pid):
        with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
            fields = f.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def seconds_of_cpu(node, span=float(os.environ.get("SPAN", 3))):
        before = cpu(node.process.pid)
        time.sleep(span)
        return (cpu(node.process.pid) - before) / span

    with LargeScene() as (node, kubelet):
        ids = [d.ID for d in kubelet.watch().lists[-1]]
        eventually("a sample", lambda: node.diagnosis()["ports"])
        begin = time.monotonic()
        for id in ids:
            answer, = kubelet.client().allocate([id])
            equal(len(answer.mounts), 1)
        took = time.monotonic() - begin
        node.pods.held = [("train", f"pod-{i}", "worker", ROCE, id) for i, id in enumerate(ids)]
        checkpoint(node)
        eventually("all files", lambda: len(glob.glob(node.dir + "/run/pod-status/*/status.json")) == len(ids))
        size = os.path.getsize(glob.glob(node.dir + "/run/pod-status/*/status.json")[0])
        busy = seconds_of_cpu(node)
        node.set_pod_status(False)
        eventually("no file", lambda: not glob.glob(node.dir + "/run/pod-status/*/status.json"))
        silent = seconds_of_cpu(node)
        print(f"# {len(ids)} devices: {1e3 * took / len(ids):.2f} ms for each Allocate, {size} bytes in each file, "
              f"{100 * busy:.2f} % of a core with and {100 * silent:.2f} % without the status files")
        node.pods.held = []
        checkpoint(node)
        eventually("no folder", lambda: os.listdir(node.dir + "/run/pod-status") == [])


def main():
    daemon_python.programs["daemon"], daemon_python.programs["mk_sysfs"], diagnosis.ROCECTL = sys.argv[1:4]
    failed = run_checks(checks, sys.argv[4:])
    os._exit(failed)  # a kubelet's threads never end


if __name__ == "__main__":
    main()
