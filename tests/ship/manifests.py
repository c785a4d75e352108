#!/usr/bin/python3
"""Judges k8s/deploy: every overlay, rendered by kubectl's own kustomize, and the examples.

  manifests.py DAEMON MK_SYSFS PROMTOOL KUBECTL..

Each kubectl (the oldest in use first) renders the same. Fields and their types are judged by Debian's python3-kubernetes, which is made from the API's
description; the rules are ours. One line per check, "N passed, N failed" last.

run: {build}/rocelet {build}/bench/mk_sysfs {prometheus}/usr/bin/promtool {kubectls}
proves: k8s/deploy docs/start/install.md docs/examples
when: core
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import traceback

import yaml
from kubernetes.client import models

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, "../..")
DEPLOY = os.path.join(TOP, "k8s/deploy")
DAEMON, MK_SYSFS, PROMTOOL, *KUBECTLS = sys.argv[1:]
SURGE, VERSIONED = "native-surge", "native-versioned"
OVERLAYS = ["observe", "device-plugin", "native", SURGE, VERSIONED]
BESIDE_EACH_OTHER = [SURGE, VERSIONED]
checks = []


def check(function):
    checks.append(function)
    return function


def render(folder, kubectl=KUBECTLS[0]):
    out = subprocess.run([kubectl, "kustomize", os.path.join(DEPLOY, folder)], capture_output=True, text=True)
    assert out.returncode == 0, f"{folder}: {out.stderr}"
    return sorted_lists(list(yaml.safe_load_all(out.stdout)))


def sorted_lists(x):
    """Kustomizes differ in which end of a list they merge into; names are what counts."""
    if isinstance(x, dict):
        return {k: sorted_lists(v) for k, v in x.items()}
    if isinstance(x, list):
        x = [sorted_lists(v) for v in x]
        return sorted(x, key=lambda v: json.dumps(v.get("name", v), sort_keys=True)) if all(isinstance(v, dict) for v in x) else x
    return x


def the(kind, docs):
    found, = [d for d in docs if d["kind"] == kind]
    return found


def pod_of(overlay):
    return the("DaemonSet", render("overlays/" + overlay))["spec"]["template"]["spec"]


def container_of(overlay):
    container, = pod_of(overlay)["containers"]
    return container


# --- fields and types, by the API's description -----------------------------------------------

KINDS = {"DaemonSet": "V1DaemonSet", "ConfigMap": "V1ConfigMap", "Namespace": "V1Namespace", "ServiceAccount": "V1ServiceAccount",
         "Pod": "V1Pod", "Job": "V1Job"}
SIMPLE = {"str": str, "int": int, "float": (int, float), "bool": bool, "object": object, "datetime": str,
          # a number or a percentage; the model of older versions says object
          "IntOrString": (int, str)}


def conforms(x, kind, where):
    inner = re.fullmatch(r"(list|dict)[\[(](?:str, )?(.*)[\])]", kind)
    if inner:
        assert isinstance(x, {"list": list, "dict": dict}[inner[1]]), f"{where}: {x!r} is no {kind}"
        for key, value in (enumerate(x) if inner[1] == "list" else x.items()):
            assert inner[1] == "list" or isinstance(key, str), f"{where}: {key!r} is no string"
            conforms(value, inner[2], f"{where}.{key}")
    elif kind == "str" and ".resources." in where:
        assert isinstance(x, (str, int)), f"{where}: {x!r} is no quantity"
    elif kind in SIMPLE:
        assert isinstance(x, SIMPLE[kind]) and not (kind == "int" and isinstance(x, bool)), f"{where}: {x!r} is no {kind}"
    else:
        model = getattr(models, kind)
        names = {json_name: attribute for attribute, json_name in model.attribute_map.items()}
        assert isinstance(x, dict), f"{where}: {x!r} is no {kind}"
        for key, value in x.items():
            assert key in names, f"{where}: {kind} has no {key}"
            conforms(value, model.openapi_types[names[key]], f"{where}.{key}")


@check
def fields_and_types():
    docs = [d for o in OVERLAYS for d in render("overlays/" + o)] + [d for _, d in examples()]
    for d in docs:
        conforms(d, KINDS[d["kind"]], d["kind"])
    wrong = json.loads(json.dumps(the("DaemonSet", docs[:3])))
    wrong["spec"]["template"]["spec"]["containers"][0]["securityContext"]["privilegd"] = False
    try:
        conforms(wrong, "V1DaemonSet", "DaemonSet")
    except AssertionError:
        return
    raise AssertionError("a slip in a key is not seen")


@check
def every_kubectl_renders_the_same():
    for folder in ["overlays/" + o for o in OVERLAYS] + ["monitoring", "monitoring/dashboards"]:
        first = render(folder)
        for other in KUBECTLS[1:]:
            assert render(folder, other) == first, f"{folder}: {other}"


# --- rules -------------------------------------------------------------------------------------

@check
def selectors_match_labels():
    for overlay in OVERLAYS:
        docs = render("overlays/" + overlay)
        daemonset = the("DaemonSet", docs)["spec"]
        labels = daemonset["template"]["metadata"]["labels"]
        selector = daemonset["selector"]["matchLabels"]
        assert selector.items() <= labels.items()
        monitor = the("PodMonitor", render("monitoring"))
        assert monitor["spec"]["selector"]["matchLabels"].items() <= labels.items()
        assert monitor["metadata"]["namespace"] == the("DaemonSet", docs)["metadata"]["namespace"] == the("Namespace", docs)["metadata"]["name"]
        if overlay in BESIDE_EACH_OTHER:
            assert not daemonset["template"]["spec"]["containers"][0].get("ports"), "a port of the host's network keeps the next pod from being scheduled beside this one"


def relabelled(labels):
    """What the PodMonitor makes of a pod that was discovered, by Prometheus itself."""
    endpoint, = the("PodMonitor", render("monitoring"))["spec"]["podMetricsEndpoints"]
    assert "port" not in endpoint and "targetPort" not in endpoint, "it would look for pods that name it"
    rules = [{re.sub("[A-Z]", lambda m: "_" + m[0].lower(), k): v for k, v in rule.items()} for rule in endpoint["relabelings"]]
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "pods.json"), "w") as f:
            json.dump([{"targets": ["discovered:1"], "labels": labels}], f)
        with open(os.path.join(folder, "prometheus.yml"), "w") as f:
            json.dump({"scrape_configs": [{"job_name": "pods", "relabel_configs": rules, "file_sd_configs": [{"files": [os.path.join(folder, "pods.json")]}]}]}, f)
        out = subprocess.run([PROMTOOL, "check", "service-discovery", "--timeout=5s", os.path.join(folder, "prometheus.yml"), "pods"],
                             capture_output=True, text=True)
        found, = json.loads(out.stdout)
        return found["labels"]


@check
def the_monitor_finds_pods_that_name_no_port():
    """Labels as Prometheus' discovery of pods gives them."""
    v4 = relabelled({"__meta_kubernetes_pod_ip": "192.0.2.7", "__meta_kubernetes_pod_node_name": "node-7"})
    assert v4["__address__"] == "192.0.2.7:9907" and v4["node"] == "node-7", v4
    v6 = relabelled({"__meta_kubernetes_pod_ip": "2001:db8::7", "__meta_kubernetes_pod_node_name": "node-7"})
    assert v6["__address__"] == "[2001:db8::7]:9907", v6


@check
def names_that_are_used_exist():
    for overlay in OVERLAYS:
        docs, pod = render("overlays/" + overlay), pod_of(overlay)
        volumes = {v["name"]: v for v in pod["volumes"]}
        mounts = pod["containers"][0]["volumeMounts"]
        assert {m["name"] for m in mounts} == set(volumes), f"{overlay}: a volume is not mounted, or a mount has none"
        assert len({m["mountPath"] for m in mounts}) == len(mounts)
        assert all(len(v) == 2 for v in volumes.values()), f"{overlay}: a volume of two kinds"
        assert volumes["config"]["configMap"] == {"name": "rocelet", "optional": True}
        assert not [d for d in docs if d["kind"] == "ConfigMap"], "applied with the next version, it would put an end to the pools"
        assert pod["serviceAccountName"] == the("ServiceAccount", docs)["metadata"]["name"]
        ports = {p["name"] for p in pod["containers"][0].get("ports", [])} or {9907}
        for probe in ("livenessProbe", "readinessProbe"):
            assert "exec" in pod["containers"][0][probe] or pod["containers"][0][probe]["httpGet"]["port"] in ports


@check
def no_rights_at_the_api_server():
    for overlay in OVERLAYS:
        docs = render("overlays/" + overlay)
        assert pod_of(overlay)["automountServiceAccountToken"] is False
        assert the("ServiceAccount", docs)["automountServiceAccountToken"] is False
        assert not [d["kind"] for d in docs if "Role" in d["kind"]]


@check
def least_rights():
    for overlay in OVERLAYS:
        pod, context = pod_of(overlay), container_of(overlay)["securityContext"]
        assert context["privileged"] is False and context["allowPrivilegeEscalation"] is False and context["readOnlyRootFilesystem"] is True, overlay
        assert context["capabilities"]["drop"] == ["ALL"] and context["seccompProfile"] == {"type": "RuntimeDefault"}, overlay
        assert overlay.startswith("native") or ("add" not in context["capabilities"] and "hostPID" not in pod), overlay
        assert not {"hostIPC", "initContainers", "shareProcessNamespace"} & pod.keys()
    hosts = {m["name"] for m in container_of("observe")["volumeMounts"]} - {"config", "run", "state"}
    assert hosts == {"pod-resources"} and all(m.get("readOnly") for m in container_of("observe")["volumeMounts"] if m["name"] == "pod-resources")


@check
def the_capabilities_are_those_that_were_measured():
    with open(os.path.join(TOP, "SECURITY.md")) as f:
        rows = re.findall(r"^\| `CAP_([A-Z_]+)` \|[^|]*\|[^|]*\| (yes|no) \|", f.read(), re.M)
    assert len(rows) > 10
    assert sorted(container_of("native")["securityContext"]["capabilities"]["add"]) == sorted(name for name, native in rows if native == "yes")


@check
def memory_is_limited_and_asked_for():
    for overlay in OVERLAYS:
        resources = container_of(overlay)["resources"]
        assert {"cpu", "memory"} <= resources["requests"].keys() and "memory" in resources["limits"]
        assert "cpu" not in resources["limits"], "a throttled daemon is late when pods start"


@check
def folders_of_the_host():
    """Each stands in documentation that says what needs it; what a host may lack is made, and what comes and goes is followed."""
    for overlay in OVERLAYS:
        pod = pod_of(overlay)
        for volume in pod["volumes"]:
            if "hostPath" not in volume:
                continue
            path, kind = volume["hostPath"]["path"], volume["hostPath"].get("type")
            assert kind in ("Directory", "DirectoryOrCreate"), f"{path}: a file would be lost when it is made anew"
            must_be_there = re.match(r"/(dev|sys|proc)$|/var/lib/kubelet/(device-plugins|plugins_registry|pod-resources|pods)$", path)
            assert (kind == "Directory") == bool(must_be_there), f"{overlay}: {path} is {kind}"
    mounts = {m["name"]: m for m in container_of("native")["volumeMounts"]}
    assert mounts["netns"]["mountPropagation"] == "HostToContainer"
    assert not any(m.get("mountPropagation") == "Bidirectional" for m in mounts.values())


@check
def every_mount_and_capability_has_its_reason():
    for file in ["base/daemonset.yaml"] + [f"overlays/{o}/daemonset.yaml" for o in OVERLAYS if o != VERSIONED]:
        with open(os.path.join(DEPLOY, file)) as f:
            lines = f.read().splitlines()
        lists = 0
        for i, line in enumerate(lines):
            if re.match(r"      - name: ", line) and "  containers:" not in lines[i - 1]:
                assert lines[i - 1].lstrip().startswith("#"), f"{file}:{i + 1}: {line.strip()} without a word why"
            lists += "            - " in line
        capabilities = [i for i, line in enumerate(lines) if re.match(r"            - [A-Z_]+$", line)]
        for i in capabilities:
            above = lines[i - 1].strip()
            assert above.startswith("#") or i - 1 in capabilities, f"{file}:{i + 1}: {lines[i].strip()} without a word why"


@check
def a_surge_is_native_that_takes_over():
    """What it adds to the arguments of `native` it adds at their end: the list is replaced whole."""
    args, added = container_of("native")["args"], ["--take-over", "--lock-wait=120", "--registration=legacy"]
    assert container_of(SURGE)["args"] == args + added
    assert {k: v for k, v in container_of(SURGE).items() if k not in ("args", "ports", "livenessProbe", "readinessProbe")} == {
        k: v for k, v in container_of("native").items() if k not in ("args", "ports", "livenessProbe", "readinessProbe")}
    assert {k: v for k, v in pod_of(SURGE).items() if k != "containers"} == {k: v for k, v in pod_of("native").items() if k != "containers"}


@check
def a_version_of_its_own_is_a_surge_with_another_name():
    with open(os.path.join(TOP, "Makefile")) as f:
        version = re.search(r"^VERSION := (.*)$", f.read(), re.M)[1]
    surge, versioned = (the("DaemonSet", render("overlays/" + o)) for o in BESIDE_EACH_OTHER)
    surge["metadata"]["name"] += "-" + version
    for labels in (surge["spec"]["selector"]["matchLabels"], surge["spec"]["template"]["metadata"]["labels"]):
        labels["app.kubernetes.io/version"] = version
    surge["spec"]["updateStrategy"] = STRATEGIES[VERSIONED]
    assert versioned == surge


STRATEGIES = {SURGE: {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "10%", "maxUnavailable": 0}}, VERSIONED: {"type": "OnDelete"}}


@check
def upgrades_and_probes():
    for overlay in OVERLAYS:
        spec = the("DaemonSet", render("overlays/" + overlay))["spec"]
        assert spec["updateStrategy"] == STRATEGIES.get(overlay, {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "10%"}})
        container = spec["template"]["spec"]["containers"][0]
        assert container["livenessProbe"]["httpGet"]["path"] == "/healthz"
        probe = {k: v for k, v in container["readinessProbe"].items() if k in ("httpGet", "exec") and v}
        if overlay in BESIDE_EACH_OTHER:
            assert probe == {"exec": {"command": ["rocectl", "ready"]}}, "the port may be another pod's"
        else:
            assert probe["httpGet"]["path"] == "/readyz"
        assert spec["template"]["spec"]["priorityClassName"] == "system-node-critical"


# --- what the daemon itself says ---------------------------------------------------------------

def daemon(*args):
    return subprocess.run([DAEMON, *args], capture_output=True, text=True)


@check
def the_daemon_takes_arguments_and_configuration():
    with tempfile.TemporaryDirectory() as folder:
        tree = os.path.join(folder, "tree")
        subprocess.run([MK_SYSFS, tree, "2", "8"], check=True, capture_output=True)
        for overlay in OVERLAYS:
            args = container_of(overlay).get("args", [])
            out = daemon(*args, "--sysfs-root", tree, "--check-config", "--strict")
            assert out.returncode == 0, f"{overlay}: {out.stdout}{out.stderr}"


@check
def the_image_is_this_version():
    with open(os.path.join(TOP, "Makefile")) as f:
        version = re.search(r"^VERSION := (.*)$", f.read(), re.M)[1]
    assert {container_of(o)["image"] for o in OVERLAYS} == {f"localhost/rocelet:{version}"}
    assert daemon("--version").stdout.strip() == f"rocelet {version}"


# --- examples -----------------------------------------------------------------------------------

def examples():
    folder = os.path.join(DEPLOY, "examples")
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name)) as f:
            for d in yaml.safe_load_all(f):
                yield name, d


def resources_of(d):
    spec = d["spec"] if d["kind"] == "Pod" else d["spec"]["template"]["spec"]
    return {r for c in spec["containers"] for r in c["resources"]["limits"] if r.startswith("rocelet.dev/")}


@check
def examples_ask_for_what_their_pools_offer():
    docs = list(examples())
    pools = the("ConfigMap", [d for _, d in docs])
    namespace = the("Namespace", render("base"))["metadata"]["name"]
    assert (pools["metadata"]["name"], pools["metadata"]["namespace"]) == ("rocelet", namespace), "the overlays look for another one"
    with tempfile.TemporaryDirectory() as folder:
        path, tree = os.path.join(folder, "config.json"), os.path.join(folder, "tree")
        subprocess.run([MK_SYSFS, tree, "2", "16"], check=True, capture_output=True)
        with open(path, "w") as f:
            f.write(pools["data"]["config.json"].replace("ens1f0np0", "ens1np0").replace("ens1f1np1", "ens2np0"))
        out = daemon("--config", path, "--sysfs-root", tree, "--check-config", "--strict")
        offered = set(re.findall(r"rocelet\.dev/\w+", out.stdout))
        assert out.returncode == 0 and offered == {"rocelet.dev/roce", "rocelet.dev/vf", "rocelet.dev/hca"}, out.stdout + out.stderr
    asked = set()
    for name, d in docs:
        if d["kind"] == "ConfigMap":
            continue
        meta = d["metadata"] if d["kind"] == "Pod" else d["spec"]["template"]["metadata"]
        networks = json.loads(meta.get("annotations", {}).get("rocelet.dev/networks", "[]"))
        assert {n["resource"] for n in networks} <= resources_of(d), f"{name}: the annotation is of another resource"
        asked |= resources_of(d)
    assert asked == offered


@check
def addresses_of_examples_differ():
    seen = [ip for _, d in examples() for n in json.loads(
        (d["metadata"] if d["kind"] == "Pod" else d.get("spec", {}).get("template", {}).get("metadata", {})).get("annotations", {}).get("rocelet.dev/networks", "[]"))
        for ip in n["ips"]]
    assert len(seen) == len(set(seen)) == 3


def main():
    failed = 0
    for function in checks:
        name = function.__name__.replace("_", " ")
        try:
            function()
            print("ok -", name)
        except Exception as e:  # a check may fail in any way
            failed += 1
            print("not ok -", name)
            print("    " + (str(e) if isinstance(e, AssertionError) and str(e) else traceback.format_exc()))
    print(f"{len(checks) - failed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
