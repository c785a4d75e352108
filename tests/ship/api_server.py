#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs commands of docs/start against a real API server: back to the previous version, from kustomize to Helm, and the copy of an operator's plugin.

  api_server.py HELM KUBECTL

etcd, the API server and the controllers run on this machine; there are no nodes. One line per check, "N passed, N failed" last.

run: {helm}
proves: k8s/deploy docs/start
when: soak
needs: control-plane
"""
import base64
import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import textwrap
import time

import yaml

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, "../..")
sys.path.insert(0, os.path.join(HERE, "../lib"))
from run_checks import run_checks  # noqa: E402

HELM, KUBECTL = sys.argv[1:3]
START_S = 180
checks = []


def check(function):
    checks.append(function)
    return function


# --- the control plane --------------------------------------------------------------------------

def free_ports(n):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(n)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class ControlPlane:
    def __init__(self, folder):
        self.folder, self.processes = folder, []
        self.programs = subprocess.run([TOP + "/tests/kubelet/kubelet.sh", "build", "control-plane"], capture_output=True, text=True, check=True).stdout.split()[-1]
        self.config = folder + "/kubeconfig"

    def __enter__(self):
        client, peer, port = free_ports(3)
        token, keys = secrets.token_hex(16), self.folder + "/accounts.key"
        with open(self.folder + "/tokens", "w", encoding="utf-8") as f:
            f.write(f'{token},admin,admin,"system:masters"\n')
        subprocess.run(["openssl", "genrsa", "-out", keys, "2048"], check=True, capture_output=True)
        etcd = f"http://127.0.0.1:{client}"
        peers = f"http://127.0.0.1:{peer}"
        self.start("etcd", "--data-dir", self.folder + "/etcd", "--listen-client-urls", etcd, "--advertise-client-urls", etcd, "--listen-peer-urls", peers,
                   "--initial-advertise-peer-urls", peers, "--initial-cluster", "default=" + peers)
        # The advertised address is no loopback address, which the API server refuses; nothing connects to it.
        self.start("kube-apiserver", "--etcd-servers=" + etcd, "--bind-address=127.0.0.1", "--advertise-address=192.0.2.1", f"--secure-port={port}",
                   f"--cert-dir={self.folder}/api", f"--token-auth-file={self.folder}/tokens", "--authorization-mode=RBAC", "--service-cluster-ip-range=10.96.0.0/24",
                   "--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file=" + keys, "--service-account-signing-key-file=" + keys,
                   "--allow-privileged=true")
        certificate = self.folder + "/api/apiserver.crt"
        self.wait(lambda: os.path.exists(certificate) and os.path.getsize(certificate) > 0)
        with open(certificate, "rb") as f:
            cluster = {"server": f"https://127.0.0.1:{port}", "certificate-authority-data": base64.b64encode(f.read()).decode()}
        with open(self.config, "w", encoding="utf-8") as f:
            json.dump({"apiVersion": "v1", "kind": "Config", "current-context": "x", "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x"}}],
                       "clusters": [{"name": "x", "cluster": cluster}], "users": [{"name": "x", "user": {"token": token}}]}, f)
        self.wait(lambda: self.shell("kubectl get --raw /readyz").returncode == 0)
        self.start("kube-controller-manager", "--kubeconfig=" + self.config, "--leader-elect=false", "--port=0", "--secure-port=0",
                   "--service-account-private-key-file=" + keys, "--root-ca-file=" + certificate)
        return self

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.kill()
            process.wait()

    def start(self, name, *args):
        with open(f"{self.folder}/{name}.log", "w", encoding="utf-8") as log:
            self.processes.append(subprocess.Popen([f"{self.programs}/{name}", *args], stdin=subprocess.DEVNULL, stdout=log, stderr=log))

    def wait(self, condition):
        """Fails if a program exits, or none of them answers."""
        end = time.monotonic() + START_S
        while not condition():
            ended = [process.args[0] for process in self.processes if process.poll() is not None]
            assert not ended and time.monotonic() < end, f"the control plane does not start: {ended}"
            time.sleep(0.2)

    def shell(self, script, folder=None):
        """Runs commands as a document has them: `kubectl` and `helm` are those of the arguments."""
        tools = self.folder + "/bin"
        if not os.path.exists(tools):
            os.mkdir(tools)
            os.symlink(KUBECTL, tools + "/kubectl")
            os.symlink(HELM, tools + "/helm")
        return subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=folder or self.folder, capture_output=True, text=True, check=False,
                              env={**os.environ, "PATH": tools + ":" + os.environ["PATH"], "KUBECONFIG": self.config, "HOME": self.folder})

    def run(self, script, folder=None):
        done = self.shell(script, folder)
        assert done.returncode == 0, f"{script}: {done.stderr}"
        return done.stdout


# --- two versions -------------------------------------------------------------------------------

def version():
    with open(os.path.join(TOP, "Makefile"), encoding="utf-8") as f:
        return re.search(r"^VERSION := (.*)$", f.read(), re.M)[1]


def sources(name, change=lambda text: text):
    """A copy of k8s/deploy whose base is changed."""
    folder = f"{PLANE.folder}/{name}"
    shutil.copytree(os.path.join(TOP, "k8s/deploy"), folder + "/k8s/deploy")
    path = folder + "/k8s/deploy/base/daemonset.yaml"
    with open(path, encoding="utf-8") as f:
        text = f.read()
    with open(path, "w", encoding="utf-8") as f:
        f.write(change(text))
    return folder


def newer(text):
    """Another image, and fields that the previous version does not have."""
    text = text.replace(f"rocelet:{version()}", "rocelet:next")
    return text.replace("      hostNetwork: true\n", "      hostNetwork: true\n      hostIPC: true\n      nodeSelector:\n        next: version\n", 1)


def section(title, page="install"):
    """The blocks below a heading of a page in docs/start. The overlay is another one: the API server is older than the field appArmorProfile."""
    with open(f"{TOP}/docs/start/{page}.md", encoding="utf-8") as f:
        text = re.search(rf"^#+ {title}\n(.*?)^#+ ", f.read(), re.M | re.S)[1].replace("overlays/native", "overlays/device-plugin")
    return [textwrap.dedent(block) for block in re.findall(r"^ *```(?:yaml)?\n(.*?)^ *```$", text, re.M | re.S)]


def state():
    daemonset = json.loads(PLANE.run("kubectl -n rocelet get daemonset rocelet -o json"))
    template = daemonset["spec"]["template"]
    template["metadata"].get("annotations", {}).pop("kubectl.kubernetes.io/restartedAt", None)
    return daemonset["spec"], daemonset["metadata"]["labels"]


def settled(script, folder):
    """Runs it, and waits until the controller has recorded the revision."""
    PLANE.run(script, folder)
    PLANE.run("kubectl -n rocelet rollout status daemonset/rocelet --timeout=60s")


APPLY = "kubectl apply -k k8s/deploy/overlays/device-plugin"


@check
def the_configuration_goes_back():
    """Whether it was created or applied, and whatever has changed it since."""
    save, restore, *_ = section("Back to the previous version")
    for make in ("kubectl -n rocelet create configmap rocelet --from-file=config.json",
                 "kubectl -n rocelet create configmap rocelet --from-file=config.json --dry-run=client -o yaml | kubectl apply -f -"):
        before, after = '{"pools": []}\n', '{"pools": [], "log-level": "debug"}\n'
        PLANE.run(f"kubectl create namespace rocelet; echo -n '{before}' >config.json; {make}")
        PLANE.run(save)
        PLANE.run(f"echo -n '{after}' >config.json; kubectl -n rocelet create configmap rocelet --from-file=config.json --dry-run=client -o yaml | kubectl apply -f -")
        PLANE.run(restore)
        found = json.loads(PLANE.run("kubectl -n rocelet get configmap rocelet -o json"))["data"]
        assert found == {"config.json": before}, found
        PLANE.run("kubectl delete namespace rocelet")


@check
def the_previous_version_is_back():
    """Also after a restart of the pods, and nothing of the new version is left."""
    _, _, apply, _ = section("Back to the previous version")
    settled(APPLY, OLD)
    before = state()
    settled(APPLY, NEW)
    assert state() != before
    settled("kubectl -n rocelet rollout restart daemonset/rocelet", NEW)
    settled(apply, OLD)
    assert state() == before, state()
    PLANE.run("kubectl delete -k k8s/deploy/overlays/device-plugin", OLD)


@check
def fields_that_undo_has_left_are_removed():
    """undo changes the object without changing what `apply` compares with."""
    _, _, apply, replace = section("Back to the previous version")
    settled(APPLY, OLD)
    before = state()
    settled(APPLY, NEW)
    settled(APPLY, OLD)
    settled("kubectl -n rocelet rollout undo daemonset/rocelet", OLD)
    settled(apply, OLD)
    assert state() != before, "kubectl apply suffices: the page has a command too many"
    settled(replace, OLD)
    assert state() == before, state()
    assert "daemonset.apps/rocelet unchanged" in PLANE.run(APPLY, OLD)
    PLANE.run("kubectl delete -k k8s/deploy/overlays/device-plugin", OLD)


@check
def helm_takes_over_an_installation_by_kustomize():
    """With its ConfigMap, and without another change of the DaemonSet's pods."""
    command, = section("From kustomize to Helm")
    settled(APPLY, OLD)
    PLANE.run("""echo '{"pools": []}' >config.json; kubectl -n rocelet create configmap rocelet --from-file=config.json""")
    before = state()
    os.makedirs(OLD + "/build", exist_ok=True)
    subprocess.run([os.path.join(TOP, "k8s/deploy/helm/chart.py"), KUBECTL, version(), f"{OLD}/build/rocelet-{version()}.tgz"], check=True)
    with open(OLD + "/values.yaml", "w", encoding="utf-8") as f:
        f.write('mode: device-plugin\nconfig: {"pools": [], "log-level": "debug"}\n')
    refused = PLANE.shell(command.replace(" --take-ownership --force-conflicts", ""), OLD)
    assert refused.returncode != 0 and "invalid ownership metadata" in refused.stderr, refused.stderr
    PLANE.run(command, OLD)
    assert state()[0]["template"] == before[0]["template"], state()
    found = json.loads(PLANE.run("kubectl -n rocelet get configmap rocelet -o json"))
    assert json.loads(found["data"]["config.json"])["log-level"] == "debug", found
    PLANE.run("helm uninstall rocelet -n rocelet --wait")
    left = PLANE.run("kubectl -n rocelet get daemonset,configmap -o name").split()
    assert "configmap/rocelet" not in left and not [name for name in left if name.startswith("daemonset")], left


def of_the_operator(secret):
    """Objects as NVIDIA's operator makes them for sriovDevicePlugin; the ConfigMap `policy` is in place of the policy that owns them."""
    name, namespace = "network-operator-sriov-device-plugin", "nvidia-network-operator"
    PLANE.run(f"kubectl create namespace {namespace}; kubectl -n {namespace} create configmap policy; kubectl -n {namespace} create secret generic {secret}")
    uid = PLANE.run("kubectl -n nvidia-network-operator get configmap policy -o jsonpath={.metadata.uid}")
    meta = {"namespace": namespace, "labels": {"nvidia.network-operator.state": "state-SRIOV-device-plugin"},
            "ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "policy", "uid": uid, "controller": True, "blockOwnerDeletion": True}]}
    pod = {"serviceAccountName": name, "imagePullSecrets": [{"name": secret}], "nodeSelector": {"network.nvidia.com/operator.mofed.wait": "false"},
           "containers": [{"name": "kube-sriovdp", "image": "x", "securityContext": {"privileged": True}, "volumeMounts": [{"name": "config", "mountPath": "/etc/pcidp"}]}],
           "volumes": [{"name": "config", "configMap": {"name": "network-operator-sriovdp-config"}}]}
    labels = {"name": name, "app": "sriovdp"}
    docs = [{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {**meta, "name": name}},
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {**meta, "name": "network-operator-sriovdp-config"}, "data": {"config.json": "{}"}},
            {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {**meta, "name": name},
             "spec": {"selector": {"matchLabels": {"name": name}}, "template": {"metadata": {"labels": labels}, "spec": pod}}}]
    with open(PLANE.folder + "/operator.yaml", "w", encoding="utf-8") as f:
        yaml.safe_dump_all(docs, f)
    PLANE.run("kubectl create -f operator.yaml")


@check
def the_operators_plugin_is_copied():
    """The copy refers to its own objects, has nothing by which the operator or the garbage collector would delete it, and selects no node yet."""
    of_the_operator("registry")
    save, kustomization, apply = section("Node by node, over weeks: run the plugin yourself", "migration")
    PLANE.run(save.replace(" -o yaml", " secret/registry -o yaml"))
    with open(PLANE.folder + "/old-plugin/kustomization.yaml", "w", encoding="utf-8") as f:
        f.write(kustomization)
    PLANE.run(apply)
    copies = json.loads(PLANE.run("kubectl -n old-plugin get daemonset,configmap,serviceaccount,secret -l app=old-plugin -o json"))["items"]
    names = {d["kind"]: d["metadata"]["name"] for d in copies}
    assert set(names) == {"DaemonSet", "ConfigMap", "ServiceAccount", "Secret"} and all(name.startswith("old-") for name in names.values()), names
    for meta in (d["metadata"] for d in copies):
        assert "ownerReferences" not in meta and not [key for key in meta["labels"] if key.startswith("nvidia.")], meta
    spec, = [d["spec"] for d in copies if d["kind"] == "DaemonSet"]
    pod = spec["template"]["spec"]
    assert pod["serviceAccountName"] == pod["serviceAccount"] == names["ServiceAccount"] and pod["imagePullSecrets"] == [{"name": names["Secret"]}], pod
    assert pod["volumes"][0]["configMap"]["name"] == names["ConfigMap"], pod["volumes"]
    assert pod["nodeSelector"] == {"network.nvidia.com/operator.mofed.wait": "false", "rocelet.dev/device-plugin": "old"}, pod["nodeSelector"]
    assert spec["selector"]["matchLabels"] == {"name": "old-plugin", "app": "old-plugin"} and spec["template"]["metadata"]["labels"]["app"] != "sriovdp", spec


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="rocelet-api-server.") as work, ControlPlane(work) as PLANE:
        OLD, NEW = sources("old"), sources("new", newer)
        status = run_checks(checks, sys.argv[3:])
    sys.exit(status)
