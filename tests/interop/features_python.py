#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Judges node facts for other programs: the feature file for Node Feature Discovery, and `rocectl node-problem` as node-problem-detector runs it; of the running
daemon over a synthetic sysfs tree.

  features_python.py DAEMON MK_SYSFS ROCECTL CNI [CHECK...]

One line per check, "N passed, N failed" last.

run: {build}/rocelet {build}/bench/mk_sysfs {build}/rocectl {build}/rocelet-cni
proves: daemon/api daemon/compose daemon/client k8s/cni k8s/deploy
when: turns
"""
import datetime
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../lib")]
import daemon_python  # noqa: E402
import diagnosis_python as diagnosis  # noqa: E402
from diagnosis_python import NAK, OUT_OF_SEQUENCE, PF, TRAFFIC  # noqa: E402
from kubelet_python import SOON, equal, eventually  # noqa: E402
from run_checks import run_checks  # noqa: E402

checks = []
ROCECTL = CNI = None
PREFIX = "feature.node.kubernetes.io/rocelet."
NPD = os.path.join(HERE, "../../k8s/deploy/node-problem-detector.json")
PAGE = os.path.join(HERE, "../../docs/tasks/node-facts.md")
# k8s.io/apimachinery/pkg/util/validation
VALUE = r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"


def check(function):
    checks.append(function)
    return function


class Node(diagnosis.Node):
    """A daemon that writes the feature file, unless the flags say otherwise."""

    def __init__(self, flags=(), **more):
        self.features = tempfile.mkdtemp()
        super().__init__(flags=["--features-dir", self.features, *flags], **more)

    def __exit__(self, *what):
        try:
            return super().__exit__(*what)
        finally:
            shutil.rmtree(self.features, ignore_errors=True)

    def file(self):
        try:
            with open(self.features + "/rocelet.features", encoding="ascii") as f:
                return f.read()
        except FileNotFoundError:
            return ""

    def labels(self):
        """Parses the file as NFD does: comments are not labels, and an unknown directive is an error."""
        found = {}
        for line in self.file().splitlines():
            if line.startswith("# +"):
                assert line.startswith("# +expiry-time="), line
            elif not line.startswith("#"):
                key, value = line.split("=", 1)
                assert key.startswith(PREFIX) and re.fullmatch(VALUE, value), line
                found[key[len(PREFIX):]] = value
        return found

    def expires(self):
        text = re.search(r"^# \+expiry-time=(.*)$", self.file(), re.M)[1]
        return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() - time.time()

    def fail(self):
        """Starts packet loss on a port."""
        self.story(PF).play(TRAFFIC, {NAK: 3e3, OUT_OF_SEQUENCE: 3e3})

    def becomes(self, verdict):
        eventually(f"the label is {verdict}", lambda: self.labels().get("verdict") == verdict)


def npd(folder, *words):
    """(exit status, line, seconds) of the command that NPD runs. The CNI binary, which takes one argument only, must print the same."""
    began = time.monotonic()
    done = subprocess.run([ROCECTL, "--socket", folder + "/run/rocelet.sock", "node-problem", *words], capture_output=True, text=True, timeout=SOON,
                          check=False)
    equal(done.stderr, "")
    equal((done.stdout.count("\n"), done.stdout[-1:]), (1, "\n"))
    assert len(done.stdout) <= 81, done.stdout
    if len(words) == 1:
        other = subprocess.run([CNI, "node-problem", *words], capture_output=True, text=True, timeout=SOON, check=False,
                               env={"ROCELET_SOCKET": folder + "/run/rocelet.sock"})
        equal((other.returncode, other.stdout, other.stderr), (done.returncode, done.stdout, ""))
    return done.returncode, done.stdout[:-1], time.monotonic() - began


# --- Node Feature Discovery -------------------------------------------------------------------


@check
def labels_follow_the_node():
    with Node() as node:
        node.judged(PF)
        node.becomes("ok")
        labels = node.labels()
        equal((labels["ports"], labels["ports-active"]), ("2", "2"))
        with open(PAGE, encoding="utf-8") as f:
            documented = set(re.findall(r"`rocelet\.([\w-]+)`", f.read()))
        equal(documented - {"features"}, set(labels) | {"config-group"})
        equal(labels["config"], re.search(r'rocelet_config_info\{digest="(\w+)"', node.get("/metrics"))[1])
        assert float(labels["speed-max-gbps"]) >= float(labels["speed-min-gbps"]) > 0, labels
        assert 600 < node.expires() <= 901, node.expires()
        equal(os.listdir(node.features), ["rocelet.features"])
        equal(os.stat(node.features + "/rocelet.features").st_mode & 0o7777, 0o644)
        before = node.file()
        node.fail()
        node.becomes("critical")
        assert before != node.file()


@check
def a_file_that_does_not_change_is_not_written():
    with Node() as node:
        node.becomes("ok")
        before = os.stat(node.features + "/rocelet.features")
        samples = node.samples()
        eventually("120 more samples", lambda: node.samples() >= samples + 120)
        after = os.stat(node.features + "/rocelet.features")
        equal((before.st_ino, before.st_mtime_ns), (after.st_ino, after.st_mtime_ns))


@check
def it_stays_over_a_restart_and_is_removed_with_the_policy_zero():
    with Node() as node:
        node.becomes("ok")
        path = node.features + "/rocelet.features"
        node.process.send_signal(signal.SIGTERM)
        node.process.wait(SOON)
        equal(node.labels()["verdict"], "ok")
        done = subprocess.run([daemon_python.programs["daemon"], "--remove-features", node.features], check=False, capture_output=True, text=True)
        equal((done.returncode, done.stderr, os.path.exists(path)), (0, "", False))
        done = subprocess.run([daemon_python.programs["daemon"], "--remove-features", node.features], check=False, capture_output=True, text=True)
        equal((done.returncode, done.stderr), (0, ""))
    with Node(flags=["--shutdown-policy", "zero"]) as node:
        node.becomes("ok")
        node.quit()
        equal(os.listdir(node.features), [])


@check
def an_unwritable_folder_is_logged_once_and_reported_by_doctor():
    with Node(flags=["--features-dir", "/proc/1/rocelet"]) as node:
        def finding():
            text = node.get("/api/v1/doctor")
            return [f for f in json.loads(text)["findings"] if f["object"] == "features-dir"] if text else []

        eventually("doctor reports it", finding)
        assert "/proc/1/rocelet" in finding()[0]["what"], finding()
        samples = node.samples()
        eventually("it is tried again", lambda: node.samples() >= samples + 70)
        equal(sum("node labels are not updated" in line for line in node.log), 1)


@check
def a_dry_run_writes_nothing():
    with Node(flags=["--dry-run"]) as node:
        eventually("it logs what it would write", lambda: any("would write" in line and "rocelet.features" in line for line in node.log))
        equal(os.listdir(node.features), [])


# --- node-problem-detector --------------------------------------------------------------------


@check
def npd_gets_ok_problem_and_unknown():
    with Node(flags=["--features-dir", ""]) as node:
        node.judged(PF)
        status, line, _ = npd(node.dir, "rdma")
        equal((status, line[:15]), (0, "no such verdict"))
        node.fail()
        eventually("a verdict", lambda: node.verdict(PF, "packet_loss"))
        eventually("it is a problem", lambda: npd(node.dir, "rdma")[0] == 1)
        status, line, _ = npd(node.dir, "rdma")
        assert re.match(r"packet_loss \(critical\) on mlx5_0/1", line), line
        equal(npd(node.dir, "rdma", "--severity", "warning")[0], 1)
        equal(npd(node.dir, "rocelet")[0], 1)  # the pool is not registered with a kubelet
        assert "kubelet" in npd(node.dir, "rocelet")[1]


@check
def npd_is_not_kept_waiting_by_a_daemon_that_hangs():
    with Node(flags=["--features-dir", ""]) as node:
        node.judged(PF)
        node.process.send_signal(signal.SIGSTOP)
        try:
            status, line, seconds = npd(node.dir, "rdma")
            equal((status, seconds < 2 * 3 + 2), (2, True))
            assert "no answer within" in line, line
            equal(npd(node.dir, "rocelet", "--timeout", "1")[0], 1)
        finally:
            node.process.send_signal(signal.SIGCONT)


@check
def npd_without_a_daemon():
    with tempfile.TemporaryDirectory() as folder:
        equal(npd(folder, "rdma")[0], 2)
        equal(npd(folder, "rocelet")[0], 1)


@check
def npd_accepts_the_configuration():
    with open(NPD, encoding="utf-8") as f:
        config = json.load(f)
    equal(config["plugin"], "custom")
    # NPD's own validation: no rule's timeout exceeds the global one, and all conditions of rules are defined.
    conditions = {c["type"] for c in config["conditions"]}
    assert int(config["pluginConfig"]["max_output_length"]) == 80
    for rule in config["rules"]:
        assert rule["condition"] in conditions and rule["type"] == "permanent", rule
        assert int(rule.get("timeout", "5s")[:-1]) > 3, "longer than rocectl waits"
        equal(rule["path"], "/opt/rocelet/rocelet-cni")
        done = subprocess.run([CNI, *rule["args"]], capture_output=True, text=True, check=False, env={"ROCELET_SOCKET": "/nonexistent/s"})
        assert done.returncode in (1, 2) and "/nonexistent/s" in done.stdout, done


def main():
    global ROCECTL, CNI
    daemon, mk_sysfs, ROCECTL, CNI, *names = sys.argv[1:]
    diagnosis.ROCECTL = ROCECTL
    daemon_python.programs.update(daemon=daemon, mk_sysfs=mk_sysfs)
    sys.exit(run_checks(checks, names))


if __name__ == "__main__":
    main()
