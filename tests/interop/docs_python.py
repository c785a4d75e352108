#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the examples of the documents: every command, configuration, manifest, query and program in a block of code (tests/lint/docs.py finds them).

  docs_python.py DAEMON ROCECTL MK_SYSFS PROMTOOL KUBECTL..

rocectl talks to a daemon that runs here, on a synthetic node. kubectl has no API server: it may fail to connect, but only after it has read its
arguments and files. make only prints what it would do. One line per check, "N passed, N failed" last.

run: {build}/rocelet {build}/rocectl {build}/bench/mk_sysfs {prometheus}/usr/bin/promtool {kubectls}
proves: docs README.md
when: turns
"""
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

import yaml

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../lib"), os.path.join(HERE, "../lint")]
import docs  # noqa: E402
from run_checks import run_checks  # noqa: E402
from suggest_python import SOON, equal, until  # noqa: E402

DAEMON, ROCECTL, MK_SYSFS, PROMTOOL, *KUBECTLS = (os.path.abspath(path) for path in sys.argv[1:])
OFFLINE = ("connection", "refused", "no configuration has been provided", "couldn't get current server", "dial tcp", "unable to connect")
# Placeholders of the documents, and their values on the synthetic node.
STANDS_FOR = {"NODE": "node-17", "POD": "rocelet-abcde", "FILE": "FILE.json", "NAMESPACE": "rocelet", "$pod": "rocelet-abcde", "60": "1"}


def run(*command, folder=None, timeout=SOON, stdin=subprocess.DEVNULL, **environment):
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=timeout, check=False, stdin=stdin,
                          env={**os.environ, "KUBECONFIG": "/nonexistent", **environment})


def blocks(kind):
    found = [block for block in docs.blocks() if docs.runner(block) == kind]
    assert found, f"the documents have no block of the kind {kind}"
    return found


def each(kind, judge):
    """Judges all blocks of a kind and reports all mistakes together."""
    problems = []
    for block in blocks(kind):
        try:
            judge(block)
        except AssertionError as error:
            problems.append(f"{block.path}:{block.line}: {error}")
    assert not problems, "\n" + "\n".join(problems)


class Node:
    """Two PFs with VFs, and a daemon."""

    def __init__(self):
        self.temp = tempfile.TemporaryDirectory()
        self.dir = self.temp.name
        subprocess.run([MK_SYSFS, self.dir + "/sys", "2", "8", "upstream"], check=True, stdout=subprocess.DEVNULL)
        for folder in ("dev/infiniband", "proc", "kubelet/device-plugins"):
            os.makedirs(f"{self.dir}/{folder}")
        self.roots = [f"--{name}-root={self.dir}/{name_of}" for name, name_of in (("sysfs", "sys"), ("dev", "dev"), ("proc", "proc"))]
        self.socket = self.dir + "/run/rocelet.sock"
        self.daemon = None

    def start(self):
        self.daemon = subprocess.Popen([DAEMON, "--config", self.write("{}"), *self.roots, "--listen", "", "--run-dir", self.dir + "/run", "--state-dir",
                                        self.dir + "/state", "--kubelet-dir", self.dir + "/kubelet", "--sample-interval", "0.1"],
                                       stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until("rocectl is answered", lambda: run(ROCECTL, "devices", "--socket", self.socket).returncode == 0)

    def stop(self):
        if self.daemon:
            self.daemon.send_signal(signal.SIGTERM)
            equal(self.daemon.wait(SOON), 0)

    def write(self, text):
        path = self.dir + "/FILE.json"
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path


node = Node()
checks = []


def check(function):
    checks.append(function)
    return function


# --- configurations, queries, manifests --------------------------------------------------------


@check
def configurations():
    """--check-config accepts each. A part of a configuration (an entry of "pools") is put into a whole one first."""
    def judge(block):
        tree = json.loads(block.text)
        text = json.dumps({"pools": [tree]}) if "resourceName" in tree else block.text
        out = run(DAEMON, "--config", node.write(text), *node.roots, "--check-config")
        assert out.returncode == 0 and "unknown key" not in out.stdout, out.stdout + out.stderr
    each("configuration", judge)


# Two files with mistakes in the lines that the page names.
MISTAKES = ("""{
  "resourceList": [
    {
      "resourceName": "bad",
      "selectors": {
        "vendors": ["15b3"],
        "drivers": [
          "mlx5_core"
        ],
        "isRdma": true,

        "pfNames": ["ens1np0", "eth1#5-2"]
      }}, {"resourceName": "good", "selectors": {
        "vendors": ["15b3"], "pfName": 1
      }
    }
  ]
}
""", "\n" * 18 + """{
  "mode": "hca",
}
""")


@check
def messages():
    """The messages about a wrong configuration in docs/reference/pools.md."""
    shown = next(b.text for b in docs.blocks() if b.path == "docs/reference/pools.md" and docs.first_line(b).startswith("intel.com/bad is left out"))
    output = ""
    for text in MISTAKES:
        with open(node.dir + "/c.json", "w", encoding="utf-8") as f:
            f.write(text)
        output += run(DAEMON, "--config", "c.json", *node.roots, "--check-config", folder=node.dir).stderr
    missing = [line for line in shown.splitlines() if f" {line}\n" not in output]
    assert not missing, f"{missing} is not in:\n{output}"


def names_of_families():
    return set(re.findall(r"^\| `(\w+)` \| ", docs.read("docs/reference/metrics.md"), re.M)) | {"up"}


@check
def queries():
    known = names_of_families()
    recorded = set(re.findall(r"^ *- record: (\S+)$", docs.read("k8s/deploy/monitoring/rules.yaml"), re.M))

    def judge(block):
        expressions = re.findall(r"^\S.*(?:\n\s.*)*", block.text, re.M)
        rules = {"groups": [{"name": "docs", "rules": [{"record": f"docs:{i}", "expr": e} for i, e in enumerate(expressions)]}]}
        path = node.dir + "/rules.yaml"
        with open(path, "w", encoding="utf-8") as f:
            yaml.safe_dump(rules, f)
        out = run(PROMTOOL, "check", "rules", "--lint=none", path)
        assert out.returncode == 0, out.stdout + out.stderr
        unknown = set(re.findall(r"(?<![:\w])(?:roce|rocelet)_\w+", block.text)) - known
        assert not unknown, f"not in metrics.md: {unknown}"
        unknown = set(re.findall(r"\b\w+:\w+:\w+", block.text)) - recorded
        assert not unknown, f"not in rules.yaml: {unknown}"
    each("promql", judge)


def judge_pod(tree):
    annotation = tree["metadata"]["annotations"]["rocelet.dev/networks"]
    keys = set(re.findall(r"^\| `(\w+)`", docs.read("docs/reference/pools.md").split("## The annotation of a pod")[1], re.M))
    entries = json.loads(annotation)
    unknown = {key for entry in entries for key in entry} - keys
    assert entries and not unknown, f"not documented: {unknown}"
    if "spec" in tree:
        requested = {r for c in tree["spec"]["containers"] for r in c["resources"]["limits"]}
        assert {entry["resource"] for entry in entries} <= requested, "the annotation is of another resource"


def judge_prometheus(text):
    """Creates the files that the configuration names. Debian's promtool is built without Kubernetes discovery: its keys are checked here."""
    tree = yaml.safe_load(text)
    for job in tree["scrape_configs"]:
        for found in job.pop("kubernetes_sd_configs", []):
            assert set(found) <= {"role", "namespaces"} and found["role"] == "pod" and set(found["namespaces"]) == {"names"}, found
    text = yaml.safe_dump(tree)
    folder = node.dir + "/prometheus"
    os.makedirs(folder, exist_ok=True)
    for name in re.findall(r"/etc/prometheus/([\w.-]+)", text):
        with open(f"{folder}/{name}", "w", encoding="utf-8") as f:
            f.write("x")
    with open(folder + "/prometheus.yml", "w", encoding="utf-8") as f:
        f.write(text.replace("/etc/prometheus", folder))
    out = run(PROMTOOL, "check", "config", "--syntax-only", folder + "/prometheus.yml")
    assert out.returncode == 0, out.stdout + out.stderr


def judge_kustomization(text):
    """Built by each kubectl, beside a copy of the manifests. A DaemonSet alone is a patch of the overlay `native`."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(os.path.join(docs.TOP, "k8s"), folder + "/rocelet/k8s")
        if text.startswith("apiVersion: apps/v1"):
            with open(folder + "/nodes.yaml", "w", encoding="utf-8") as f:
                f.write(text)
            text = "resources: [rocelet/k8s/deploy/overlays/native]\npatches: [{path: nodes.yaml}]\n"
        named = re.match("# ([a-z]+)/kustomization.yaml\n", text)  # the block's file, else it is beside the manifests
        own = f"{folder}/{named[1]}" if named else folder
        os.makedirs(own, exist_ok=True)
        with open(own + "/kustomization.yaml", "w", encoding="utf-8") as f:
            f.write(text)
        shutil.copy(node.write('{"pools": []}'), folder + "/config.json")
        shutil.copy(folder + "/rocelet/k8s/deploy/before-1.30/observe.yaml", own + "/objects.yaml")  # saved from a cluster
        for kubectl in KUBECTLS[1:]:  # the first is older than kustomize's words
            out = run(kubectl, "kustomize", own)
            assert out.returncode == 0, out.stderr
            assert any(d["kind"] == "DaemonSet" for d in yaml.safe_load_all(out.stdout))


def judge_application(tree):
    """Of Argo CD, whose description is not here: the keys that its documentation has. tests/ship/chart.py renders the values."""
    spec = tree["spec"]
    assert tree["apiVersion"] == "argoproj.io/v1alpha1" and set(spec) == {"project", "destination", "source", "syncPolicy"}, spec
    assert set(spec["source"]) in ({"repoURL", "path", "targetRevision"}, {"repoURL", "chart", "targetRevision", "helm"}), spec["source"]
    assert set(spec["source"].get("helm", {})) <= {"releaseName", "valuesObject"}, spec["source"]
    assert set(spec["syncPolicy"]) <= {"automated", "managedNamespaceMetadata", "syncOptions"} and set(spec["syncPolicy"]["automated"]) == {"selfHeal", "prune"}
    options = {"CreateNamespace=true", "ServerSideApply=true", "SkipDryRunOnMissingResource=true"}
    assert set(spec["syncPolicy"]["syncOptions"]) <= options, spec["syncPolicy"]
    assert spec["destination"]["namespace"] == "rocelet"


@check
def manifests():
    def judge(block):
        tree = yaml.safe_load(block.text)
        if "annotations" in tree.get("metadata", {}):
            judge_pod(tree)
        elif tree.get("kind") == "Application":
            judge_application(tree)
        elif "scrape_configs" in tree:
            judge_prometheus(block.text)
        else:
            judge_kustomization(block.text)
    each("manifest", judge)


# --- programs ----------------------------------------------------------------------------------


@check
def programs():
    """The programs read a pod's status file as the daemon writes it."""
    def judge(block):
        out = run("/usr/bin/python3", "-c", block.text, **{name: os.path.join(docs.TOP, "tests/golden/api_pod_status.json")
                                                         for name in re.findall(r'environ\["(\w+)"\]', block.text)})
        assert out.returncode == 0 and "packets are lost" in out.stdout, out.stdout + out.stderr
    each("python", judge)


@check
def scenarios():
    """The output of --replay is the one that the page shows next."""
    def judge(block):
        out = run(ROCECTL, "diagnose", "--replay", node.write(block.text), "-o", "json")
        got = json.loads(out.stdout)
        shown = next(b.text for b in docs.blocks() if b.path == block.path and b.text.startswith('{"scenario": "slow",\n'))
        equal([got["samples"], got["events"][0]["t"], got["events"][0]["event"], got["events"][0]["onset"]],
              [int(re.search(r'"samples": (\d+)', shown)[1]), float(re.search(r'"t": ([\d.]+)', shown)[1]), "opened",
               float(re.search(r'"onset": ([\d.]+)', shown)[1])])
    each("scenario", judge)


def storm():
    """A port that receives 12 GB/s for a minute, and then sends pause without a break."""
    yield {"scenario": "storm", "ports": [{"device": "mlx5_0", "rate_bytes_per_second": 50e9, "mtu_bytes": 4096, "settings": {"pfc": [3]}}]}
    for second in range(66):
        received, paused = 12e9 * min(second, 60), max(second - 60, 0)
        yield {"t": second, "device": "mlx5_0", "values": {
            'roce_bytes_total{direction="received"}': received, 'roce_priority_bytes_total{direction="received",priority="3"}': received,
            'roce_pfc_pause_seconds_total{direction="sent",priority="3"}': paused}}


@check
def output_of_a_replay():
    """Compared line by line, up to "..."."""
    shown = next(b.text for b in docs.blocks() if b.path == "docs/reference/scenarios.md" and "--replay storm.jsonl" in b.text).splitlines()[1:]
    with open(node.dir + "/storm.jsonl", "w", encoding="utf-8") as f:
        f.writelines(json.dumps(line) + "\n" for line in storm())
    got = run(ROCECTL, "diagnose", "--replay", "storm.jsonl", folder=node.dir).stdout.splitlines()
    expected = shown[:[line.strip() for line in shown].index("...")]
    equal(got[:len(expected)], expected)


# --- command lines -----------------------------------------------------------------------------


def words_of(call):
    return [STANDS_FOR.get(word, word) for word in shlex.split(call)]


def run_make(args, _):
    out = run("make", "-n", "--no-print-directory", *args, folder=docs.TOP, timeout=300)
    assert out.returncode == 0, out.stderr[-300:]


def run_rocelet(args, _):
    path = node.write('{"pools": [{"resourceName": "roce", "selectors": {"pfNames": ["ens1np0#0-3"], "isRdma": true}}]}')
    with open(path, encoding="utf-8") as config:  # among the documented commands only "--config -" reads stdin
        out = run(DAEMON, *args, *node.roots, folder=node.dir, stdin=config)
    # 3: the file is right, but the simulated node has no device nodes, so --strict reports that nothing is offered there.
    assert out.returncode == 0 or out.returncode == 3 and "ok, but not for this node" in out.stdout + out.stderr, out.stdout + out.stderr


def run_rocectl(args, _):
    """Fails for a wrong command line or a missing daemon only: the pod or device of the example may not exist on this node."""
    if args[0].isupper():
        return  # a synopsis, not a command
    if "--replay" in args:
        args = [node.write('{"t": 0}\n') if word.endswith(".jsonl") else word for word in args]
    elif "--device" in args or args[0] == "explain":
        listed = run(ROCECTL, "devices", "-o", "name", "--socket", node.socket).stdout.split()[0]
        args = [listed if i and (args[i - 1] == "--device" or args[0] == "explain") else word for i, word in enumerate(args)]
    out = run(ROCECTL, *args, "--socket", node.socket, folder=node.dir)
    assert out.returncode in (0, 1, 4, 5) and "usage" not in out.stderr, f"{out.returncode} {out.stderr}"


def run_kubectl(args, _):
    for i, word in enumerate(args[:-1]):
        if word in ("-f", "-k") and args[i + 1].startswith("k8s/"):
            assert os.path.exists(os.path.join(docs.TOP, args[i + 1])), args[i + 1]
    if "--" in args:
        run_call(shlex.join(args[args.index("--") + 1:]))
    if args[0] == "proxy":
        return  # serves until it is stopped, even without an API server
    args = ["--from-file=" + node.write("{}") if word.startswith("--from-file=") else word for word in args]
    for kubectl in KUBECTLS[1:] if "-k" in args or args[0] == "kustomize" else KUBECTLS:
        out = run(kubectl, "--server=http://127.0.0.1:1", *args, folder=docs.TOP)
        output = (out.stdout + out.stderr).lower()
        # By a previous command or block.
        written = re.search("does not exist|not a valid directory", output) and re.search("rocelet.yaml|old-plugin", output)
        piped = args[-2:] == ["-f", "-"] and "no objects passed" in output  # the previous command of a pipe writes them
        assert out.returncode == 0 or written or piped or any(word in output for word in OFFLINE), out.stderr


RUNNERS = {"make": run_make, "rocelet": run_rocelet, "rocectl": run_rocectl, "kubectl": run_kubectl}


def run_call(call):
    program, *args = words_of(call)
    RUNNERS[program](args, call)


@check
def commands():
    def judge(block):
        for line in docs.commands(block.text):
            for call in docs.simple_commands(line):
                try:
                    run_call(call)
                except AssertionError as error:
                    raise AssertionError(f"{call}: {error}") from error
    node.start()
    try:
        each("shell", judge)
    finally:
        node.stop()


@check
def an_unknown_flag_is_found():
    """The checks above can fail."""
    node.start()
    try:
        for call in ("rocectl events --devise mlx5_0", "rocectl evnets", "rocelet --chek-config", "kubectl get nodes --colour", "kubectl -n rocelet exec p -- rocectl nothing",
                     "make no-such-target", "kubectl apply -k k8s/deploy/overlays/nowhere"):
            try:
                run_call(call)
            except AssertionError:
                continue
            raise AssertionError(f"not refused: {call}")
    finally:
        node.stop()


if __name__ == "__main__":
    sys.exit(run_checks(checks))
