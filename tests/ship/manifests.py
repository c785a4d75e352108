#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Judges k8s/deploy: every overlay, rendered by kubectl's own kustomize, and the examples.

  manifests.py DAEMON MK_SYSFS PROMTOOL KUBECTL..

Each kubectl renders the same without warnings, except the oldest in use, which is first and gets the files of before-1.30. Fields and their types are checked by Debian's python3-kubernetes, which is generated from
the API's description; the other rules are ours. One line per check, "N passed, N failed" last.

run: {build}/rocelet {build}/bench/mk_sysfs {prometheus}/usr/bin/promtool {kubectls}
proves: k8s/deploy docs/start/install.md docs/examples
when: core
needs: make:build/rocelet-cni
"""
import functools
import itertools
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
MULTUS, UNINSTALL = "multus", "multus-uninstall"
OVERLAYS = ["observe", "device-plugin", "native", SURGE, VERSIONED, MULTUS, UNINSTALL]
UNPRIVILEGED = ["observe", "device-plugin"]
BESIDE_EACH_OTHER = [SURGE, VERSIONED]
checks = []


def check(function):
    checks.append(function)
    return function


def render(folder, kubectl=KUBECTLS[1]):
    return json.loads(rendered(folder, kubectl))


@functools.lru_cache(maxsize=None)
def rendered(folder, kubectl):
    """As JSON text, so that each caller gets its own documents."""
    out = subprocess.run([kubectl, "kustomize", os.path.join(DEPLOY, folder)], capture_output=True, text=True)
    assert out.returncode == 0 and not out.stderr, f"{folder}: {out.stderr}"
    return json.dumps(sorted_lists(list(yaml.safe_load_all(out.stdout))))


def sorted_lists(x):
    """Versions of kustomize append to different ends of a list; sort by name."""
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
          # a number or a percentage; older versions of the model have "object"
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
            if kind == "V1SecurityContext" and key == "appArmorProfile":  # Kubernetes 1.30; not in Debian's model
                assert value in ({"type": "Unconfined"}, {"type": "RuntimeDefault"}), f"{where}: {value}"
                continue
            assert key in names, f"{where}: {kind} has no {key}"
            conforms(value, model.openapi_types[names[key]], f"{where}.{key}")


@check
def fields_and_types():
    docs = [d for o in OVERLAYS for d in render("overlays/" + o)] + [d for _, d in examples() if d["kind"] != NETWORK]
    for d in docs:
        conforms(d, KINDS[d["kind"]], d["kind"])
    wrong = json.loads(json.dumps(the("DaemonSet", docs[:3])))
    wrong["spec"]["template"]["spec"]["containers"][0]["securityContext"]["privilegd"] = False
    try:
        conforms(wrong, "V1DaemonSet", "DaemonSet")
    except AssertionError:
        return
    raise AssertionError("a misspelt key is not found")


def is_new(kubectl):
    answer = json.loads(subprocess.run([kubectl, "version", "--client", "-o", "json"], capture_output=True, text=True, check=True).stdout)
    return int(re.match(r"\d+", answer["clientVersion"]["minor"])[0]) >= 21


@check
def every_new_kubectl_renders_the_same():
    """The overlays, and each component with each of them."""
    new = [kubectl for kubectl in KUBECTLS if is_new(kubectl)]
    assert KUBECTLS[1] in new
    for other in new[1:]:
        for folder in ["overlays/" + o for o in OVERLAYS] + ["monitoring", "monitoring/dashboards"]:
            assert render(folder, other) == render(folder), f"{folder}: {other}"
        for overlay, name in itertools.product(OVERLAYS, COMPONENTS):
            assert with_component(overlay, name, other) == with_component(overlay, name), f"{overlay}, {name}: {other}"


@check
def every_old_kubectl_renders_monitoring():
    for kubectl in KUBECTLS:
        for folder in ("monitoring", "monitoring/dashboards"):
            assert render(folder, kubectl) == render(folder), f"{folder}: {kubectl}"


@check
def the_files_for_old_clusters_are_those_of_the_overlays():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([os.path.join(DEPLOY, "before-1.30.py"), KUBECTLS[1], folder], check=True)
        assert sorted(os.listdir(folder)) == sorted(os.listdir(os.path.join(DEPLOY, "before-1.30"))) == sorted(o + ".yaml" for o in OVERLAYS)
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), encoding="utf-8") as made, open(os.path.join(DEPLOY, "before-1.30", name), encoding="utf-8") as there:
                assert made.read() == there.read(), f"{name}: make golden"
    for overlay in OVERLAYS:
        with open(os.path.join(DEPLOY, f"before-1.30/{overlay}.yaml"), encoding="utf-8") as f:
            old = sorted_lists(list(yaml.safe_load_all(f)))
        new, template = render("overlays/" + overlay), the("DaemonSet", old)["spec"]["template"]
        annotation = template["metadata"]["annotations"].pop("container.apparmor.security.beta.kubernetes.io/rocelet", None)
        profile = the("DaemonSet", new)["spec"]["template"]["spec"]["containers"][0]["securityContext"].pop("appArmorProfile", None)
        assert (annotation, profile) == ((None, None) if overlay in UNPRIVILEGED else ("unconfined", {"type": "Unconfined"})), overlay
        assert old == new, overlay


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


def rules_of_the_monitor():
    endpoint, = the("PodMonitor", render("monitoring"))["spec"]["podMetricsEndpoints"]
    assert "port" not in endpoint and "targetPort" not in endpoint, "it would look for pods that name it"
    return [{re.sub("[A-Z]", lambda m: "_" + m[0].lower(), k): v for k, v in rule.items()} for rule in endpoint["relabelings"]]


def rules_of_the_page():
    with open(os.path.join(TOP, "docs/fleet.md"), encoding="utf-8") as f:
        job, = yaml.safe_load(re.search(r"```yaml\n(scrape_configs:\n.*?)```", f.read(), re.S)[1])["scrape_configs"]
    return job["relabel_configs"]


def relabelled(labels, rules=rules_of_the_monitor):
    """What the PodMonitor, or the job of docs/fleet.md, makes of a pod that was discovered, by Prometheus itself; None: no target."""
    return relabelled_once(tuple(sorted(labels.items())), rules)


@functools.lru_cache(maxsize=None)
def relabelled_once(labels, rules):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "pods.json"), "w") as f:
            json.dump([{"targets": ["discovered:1"], "labels": dict(labels)}], f)
        with open(os.path.join(folder, "prometheus.yml"), "w") as f:
            json.dump({"scrape_configs": [{"job_name": "pods", "relabel_configs": rules(), "file_sd_configs": [{"files": [os.path.join(folder, "pods.json")]}]}]}, f)
        out = subprocess.run([PROMTOOL, "check", "service-discovery", "--timeout=5s", os.path.join(folder, "prometheus.yml"), "pods"],
                             capture_output=True, text=True)
        found, = json.loads(out.stdout)
        return found["labels"] or None


@check
def the_monitor_finds_pods_that_name_no_port():
    """Labels as Prometheus' discovery of pods gives them."""
    pod = {"__meta_kubernetes_pod_ip": "192.0.2.7", "__meta_kubernetes_pod_node_name": "node-7", "__meta_kubernetes_pod_annotation_prometheus_io_port": "9907"}
    v4 = relabelled(pod)
    assert v4["__address__"] == "192.0.2.7:9907" and v4["node"] == "node-7", v4
    named = relabelled({**pod, "namespace": "rocelet", "pod": "rocelet-x", "container": "rocelet"})
    assert not named.keys() & {"namespace", "pod", "container"}, named  # the operator sets them, and they would pass for those of a device's pod
    v6 = {**pod, "__meta_kubernetes_pod_ip": "2001:db8::7"}
    assert relabelled(v6)["__address__"] == "[2001:db8::7]:9907", relabelled(v6)
    of_job = {"__meta_kubernetes_pod_label_app_kubernetes_io_name": "rocelet", "__meta_kubernetes_pod_container_init": "false"}
    for found in (pod, v6):
        assert relabelled({**found, **of_job}, rules_of_the_page)["__address__"] == relabelled(found)["__address__"], found
    without = {key: value for key, value in pod.items() if "annotation" not in key}
    assert relabelled(without) is None and relabelled({**without, **of_job}, rules_of_the_page) is None


def annotated(daemonset):
    """The labels that Prometheus' discovery makes of the pods' annotations."""
    annotations = daemonset["spec"]["template"]["metadata"].get("annotations") or {}
    return {"__meta_kubernetes_pod_annotation_" + re.sub("[^a-z0-9]", "_", key): value for key, value in annotations.items()}


@check
def one_number_is_the_port_everywhere():
    """Of the daemon, the annotation and the scrape job; also where it is another one, and where there is none."""
    for overlay, (name, flags, address) in itertools.product(OVERLAYS, ((None, [], "192.0.2.7:9907"), ("port", ["--listen=:9917"], "192.0.2.7:9917"), ("no-port", ["--listen="], None))):
        daemonset = the("DaemonSet", with_component(overlay, name) if name else render("overlays/" + overlay))
        container, = daemonset["spec"]["template"]["spec"]["containers"]
        assert [arg for arg in container["args"] if "listen" in arg] == flags, f"{overlay}, {name}"
        assert name is None or not container.get("ports"), f"{overlay}, {name}: a port of the host is reserved that is not used"
        labels = annotated(daemonset)
        found = relabelled({"__meta_kubernetes_pod_ip": "192.0.2.7", "__meta_kubernetes_pod_node_name": "node-7", **labels})
        assert (found and found["__address__"]) == address, f"{overlay}, {name}: {found}"
        assert (labels.get("__meta_kubernetes_pod_annotation_prometheus_io_scrape") == "true") == (address is not None), f"{overlay}, {name}: {labels}"
        # The rest is unchanged.
        usual = the("DaemonSet", render("overlays/" + overlay))
        for d in (daemonset, usual):
            d["spec"]["template"]["metadata"].pop("annotations", None)
            main, = d["spec"]["template"]["spec"]["containers"]
            main.pop("ports", None)
            main["args"] = [arg for arg in main["args"] if not arg.startswith("--listen=")]
        assert daemonset == usual, f"{overlay}, {name}"


@check
def nodes_wait_for_nvidias_driver():
    """The label of NVIDIA's operator, beside node selectors that are there."""
    for overlay in OVERLAYS:
        pod = the("DaemonSet", with_component(overlay, "mofed-wait"))["spec"]["template"]["spec"]
        assert pod.pop("nodeSelector") == {"network.nvidia.com/operator.mofed.wait": "false"}, overlay
        assert pod == pod_of(overlay), overlay


@check
def kubectl_apply_can_keep_a_copy():
    """In an annotation, of which an object has 256 KiB at most; with room for a version to come."""
    for folder in ["overlays/" + o for o in OVERLAYS] + ["monitoring", "monitoring/dashboards"]:
        for d in render(folder):
            size = len(json.dumps(d, separators=(",", ":")))
            assert size < 210000, f"{folder}: {d['kind']} has {size} bytes"


@check
def used_names_exist():
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


@check
def a_new_pod_finds_the_last_good_configuration():
    """Each DaemonSet that offers devices has its state on the host: an emptyDir would end with the pod, and with it config.good. observe writes none."""
    for folder in ["overlays/" + o for o in OVERLAYS] + ["trial/observe", "trial/device-plugin", "fleet/observe", "fleet/offer"]:
        pod = the("DaemonSet", render(folder))["spec"]["template"]["spec"]
        container, = pod["containers"]
        state, = [{k: v for k, v in volume.items() if k != "name"} for volume in pod["volumes"] if volume["name"] == "state"]
        observes = "--observe" in container["args"]
        assert state == ({"emptyDir": {}} if observes else {"hostPath": {"path": "/var/lib/rocelet", "type": "DirectoryOrCreate"}}), f"{folder}: {state}"
        assert observes == folder.endswith("observe"), folder
        assert [m for m in container["volumeMounts"] if m["name"] == "state"] == [{"name": "state", "mountPath": "/var/lib/rocelet"}], folder


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
        assert overlay not in UNPRIVILEGED or ("add" not in context["capabilities"] and "hostPID" not in pod), overlay
        assert ("--unprivileged" in container_of(overlay)["args"]) == (overlay in UNPRIVILEGED), overlay
        assert ("--observe" in container_of(overlay)["args"]) == (overlay == "observe"), overlay
        assert not {"hostIPC", "shareProcessNamespace"} & pod.keys()
        assert overlay in (MULTUS, UNINSTALL) or "initContainers" not in pod
    hosts = {m["name"] for m in container_of("observe")["volumeMounts"]} - {"config", "run", "state"}
    assert hosts == {"pod-resources"} and all(m.get("readOnly") for m in container_of("observe")["volumeMounts"] if m["name"] == "pod-resources")


def with_component(overlay, name, kubectl=KUBECTLS[1]):
    return json.loads(rendered_with_component(overlay, name, kubectl))


@functools.lru_cache(maxsize=None)
def rendered_with_component(overlay, name, kubectl):
    with tempfile.TemporaryDirectory() as folder:
        deploy = os.path.relpath(DEPLOY, os.path.realpath(folder))
        with open(folder + "/kustomization.yaml", "w", encoding="utf-8") as f:
            json.dump({"resources": [f"{deploy}/overlays/{overlay}"], "components": [f"{deploy}/components/{name}"]}, f)
        return rendered(folder, kubectl)


FEATURES = ["node-features", "node-features-uninstall"]
PLATFORMS = ["selinux", "openshift", "openshift-pods", "k3s", "rke2", "k0s", "microk8s"]
COMPONENTS = PLATFORMS + FEATURES + ["before-1.30", "port", "no-port", "mofed-wait"]


@check
def components_change_nothing_but_paths_and_the_type():
    """In every overlay: a component does not add what the overlay does not use."""
    assert sorted(os.listdir(os.path.join(DEPLOY, "components"))) == sorted(COMPONENTS)
    with open(os.path.join(TOP, "docs/start/platforms.md"), encoding="utf-8") as f:
        page = f.read()
    for overlay in OVERLAYS:
        for name in PLATFORMS:
            docs, usual = with_component(overlay, name), pod_of(overlay)
            pod = the("DaemonSet", docs)["spec"]["template"]["spec"]
            if name == "openshift":
                refused = selinux_refusals(the("SecurityContextConstraints", docs)["seLinuxContext"], pod)
                assert not refused, f"{overlay}: OpenShift admits no pod: {refused}"
            security = pod.pop("securityContext", None)
            assert security == ({"seLinuxOptions": {"type": "spc_t"}} if name in ("selinux", "openshift", "openshift-pods") else None), name
            if name == "k3s" and overlay not in UNPRIVILEGED:  # its plugins are links to a program elsewhere
                volume, mount = taken(pod["volumes"], "k3s-data"), taken(pod["containers"][0]["volumeMounts"], "k3s-data")
                assert mount["readOnly"] and mount["mountPath"] == volume["hostPath"]["path"], name
                assert next(v for v in pod["volumes"] if v["name"] == "cni-bin")["hostPath"]["path"].startswith(mount["mountPath"] + "/"), name
            for mine, before in zip(pod["volumes"], usual["volumes"], strict=True):
                if mine != before:
                    path = mine["hostPath"].pop("path")
                    assert f"`{path}`" in page, f"docs/start/platforms.md does not name {path}"
                    mine["hostPath"]["path"] = before["hostPath"]["path"]
            assert pod == usual, f"{overlay}, {name}"


def taken(named, name):
    """Removes and returns the element with this name."""
    found, = [x for x in named if x["name"] == name]
    named.remove(found)
    return found


@check
def node_features_add_one_folder_and_take_it_back():
    for overlay in OVERLAYS:
        usual = pod_of(overlay)
        pod = the("DaemonSet", with_component(overlay, "node-features"))["spec"]["template"]["spec"]
        container, = pod["containers"]
        volume, mount = (taken(named, "features") for named in (pod["volumes"], container["volumeMounts"]))
        container["args"].remove(f"--features-dir={mount['mountPath']}")
        assert volume["name"] == mount["name"] and not mount.get("readOnly"), overlay
        assert volume["hostPath"]["path"] == mount["mountPath"] == "/etc/kubernetes/node-feature-discovery/features.d", overlay
        assert pod == usual, overlay
        pod = the("DaemonSet", with_component(overlay, "node-features-uninstall"))["spec"]["template"]["spec"]
        remover, = [c for c in pod["initContainers"] if c["name"] == "remove-features"]
        assert remover["image"] == pod["containers"][0]["image"], overlay
        assert remover["args"] == ["--remove-features=" + remover["volumeMounts"][0]["mountPath"]], overlay
        assert remover["securityContext"] == {k: v for k, v in container_of("observe")["securityContext"].items()}, overlay
        assert [v for v in pod["volumes"] if v["name"] == "features"] == [volume], overlay
        assert not [a for a in pod["containers"][0]["args"] if "features" in a], overlay


@check
def openshift_allows_what_the_overlays_need_and_no_more():
    pod, container = pod_of("native"), container_of("native")
    scc = the("SecurityContextConstraints", with_component("native", "openshift"))
    account = the("ServiceAccount", render("overlays/native"))["metadata"]
    assert scc["users"] == [f"system:serviceaccount:{account['namespace']}:{account['name']}"] and scc["groups"] == []
    assert sorted(scc["allowedCapabilities"]) == sorted(container["securityContext"]["capabilities"]["add"])
    assert (scc["allowHostNetwork"], scc["allowHostPID"], scc["allowHostIPC"], scc["allowHostPorts"]) == (pod["hostNetwork"], pod["hostPID"], False, True)
    assert (scc["allowPrivilegedContainer"], scc["allowPrivilegeEscalation"], scc["readOnlyRootFilesystem"]) == (False, False, True)
    kinds = {kind for overlay in OVERLAYS for volume in pod_of(overlay)["volumes"] for kind in volume if kind != "name"}
    assert set(scc["volumes"]) - {"secret"} == kinds, "secret is for the files that guard the port"


def selinux_refusals(strategy, pod):
    """The objections of OpenShift's admission to a pod's SELinux options. RunAsAny accepts any. MustRunAs sets its own on a container without options, and compares
    all four fields otherwise; a level that it does not name is the namespace's."""
    if strategy["type"] == "RunAsAny":
        return []
    wanted = {"level": "the namespace's", **strategy.get("seLinuxOptions", {})}
    contexts = [c.get("securityContext", {}) for c in pod.get("initContainers", []) + pod["containers"]]
    options = [o for o in (c.get("seLinuxOptions") for c in [pod.get("securityContext", {}), *contexts]) if o]
    return [f"{key}: {o.get(key)!r} must be {wanted.get(key)!r}" for o in options for key in ("user", "role", "type", "level") if o.get(key) != wanted.get(key)]


@check
def options_of_a_pod_are_compared_with_those_of_its_constraints():
    bare = {"containers": [{"name": "c", "securityContext": {}}]}
    spc = {**bare, "securityContext": {"seLinuxOptions": {"type": "spc_t"}}}
    level = {**bare, "securityContext": {"seLinuxOptions": {"type": "spc_t", "level": "s0"}}}
    must = {"type": "MustRunAs", "seLinuxOptions": {"type": "spc_t"}}
    with_level = {"type": "MustRunAs", "seLinuxOptions": {"type": "spc_t", "level": "s0"}}
    for strategy, pod, n in (({"type": "RunAsAny"}, spc, 0), (must, bare, 0), (must, spc, 1), (must, level, 1), (with_level, level, 0), (with_level, spc, 1)):
        assert len(selinux_refusals(strategy, pod)) == n, f"{strategy} {pod}"


def pod_security_level(spec):
    """The level of the Pod Security Standards that a pod needs."""
    contexts = [c.get("securityContext", {}) for c in spec["containers"] + spec.get("initContainers", [])]
    usual = {"AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"}
    added = {cap for c in contexts for cap in c.get("capabilities", {}).get("add", [])}
    if (any(spec.get(key) for key in ("hostNetwork", "hostPID", "hostIPC")) or any("hostPath" in v for v in spec.get("volumes", [])) or added - usual or
            any(c.get("privileged") or c.get("appArmorProfile", {}).get("type") == "Unconfined" for c in contexts)):
        return "privileged"
    restricted = all(c.get("runAsNonRoot") and c.get("capabilities", {}).get("drop") == ["ALL"] and c.get("allowPrivilegeEscalation") is False and
                     c.get("seccompProfile", {}).get("type") == "RuntimeDefault" for c in contexts)
    return "restricted" if restricted and added <= {"NET_BIND_SERVICE"} else "baseline"


@check
def documents_have_the_pod_security_level():
    with open(os.path.join(TOP, "docs/start/platforms.md"), encoding="utf-8") as f:
        documented = dict(re.findall(r"^\| `([\w.-]+)` \| (privileged|baseline|restricted) \|", f.read(), re.M))
    found = {overlay: pod_security_level(pod_of(overlay)) for overlay in OVERLAYS}
    for name, d in examples():
        if d["kind"] in ("Pod", "Job"):
            found[name] = pod_security_level(d["spec"] if d["kind"] == "Pod" else d["spec"]["template"]["spec"])
    assert documented == found, f"{documented} {found}"
    assert pod_security_level({"containers": [{}]}) == "baseline"
    assert set(the("Namespace", render("base"))["metadata"]["labels"].items()) >= {(f"pod-security.kubernetes.io/{mode}", "privileged")
                                                                                    for mode in ("enforce", "audit", "warn")}


@check
def the_capabilities_are_the_measured_ones():
    with open(os.path.join(TOP, "SECURITY.md")) as f:
        rows = re.findall(r"^\| `CAP_([A-Z_]+)` \|[^|]*\|[^|]*\| (yes|no) \|", f.read(), re.M)
    assert len(rows) > 10
    assert sorted(container_of("native")["securityContext"]["capabilities"]["add"]) == sorted(name for name, native in rows if native == "yes")


@check
def memory_is_limited_and_requested():
    for overlay in OVERLAYS:
        resources = container_of(overlay)["resources"]
        assert {"cpu", "memory"} <= resources["requests"].keys() and "memory" in resources["limits"]
        assert "cpu" not in resources["limits"], "a throttled daemon is late when pods start"


@check
def folders_of_the_host():
    """Each is documented with its purpose; folders that a host may lack are created, and mounts in folders that change are propagated."""
    for overlay in OVERLAYS:
        pod = pod_of(overlay)
        for volume in pod["volumes"]:
            if "hostPath" not in volume:
                continue
            path, kind = volume["hostPath"]["path"], volume["hostPath"].get("type")
            assert kind in ("Directory", "DirectoryOrCreate"), f"{path}: a mounted file would be stale once it is replaced"
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
                assert lines[i - 1].lstrip().startswith("#"), f"{file}:{i + 1}: {line.strip()} without a reason"
            lists += "            - " in line
        capabilities = [i for i, line in enumerate(lines) if re.match(r"            - [A-Z_]+$", line)]
        for i in capabilities:
            above = lines[i - 1].strip()
            assert above.startswith("#") or i - 1 in capabilities, f"{file}:{i + 1}: {lines[i].strip()} without a reason"


@check
def a_surge_is_native_with_take_over():
    """Its own arguments are behind those of `native`: the patch replaces the whole list."""
    args, added = container_of("native")["args"], ["--take-over", "--lock-wait=120", "--registration=legacy"]
    assert container_of(SURGE)["args"] == args + added
    assert {k: v for k, v in container_of(SURGE).items() if k not in ("args", "ports")} == {
        k: v for k, v in container_of("native").items() if k not in ("args", "ports")}
    assert {k: v for k, v in pod_of(SURGE).items() if k != "containers"} == {k: v for k, v in pod_of("native").items() if k != "containers"}


@check
def multus_is_native_with_the_plugin():
    """The daemon's container is the same, except its socket's folder; the plugin is installed where `native` searches IPAM plugins."""
    native, pod = pod_of("native"), pod_of(MULTUS)
    init, = pod.pop("initContainers")
    volumes = {v["name"]: v for v in pod.pop("volumes")}
    assert volumes.pop("run") == {"name": "run", "hostPath": {"path": "/run/rocelet", "type": "DirectoryOrCreate"}}
    assert volumes == {v["name"]: v for v in native.pop("volumes") if v["name"] != "run"}
    assert pod == native
    main = container_of(MULTUS)
    assert init["image"] == main["image"] and init["args"] == ["--install-cni=/host/cni-bin"]
    assert init["volumeMounts"] == [{"name": "cni-bin", "mountPath": "/host/cni-bin"}]
    assert init["securityContext"] == container_of("observe")["securityContext"]
    paths = {m["name"]: m["mountPath"] for m in main["volumeMounts"]}
    with open(os.path.join(TOP, "daemon/client/client.h")) as f:
        assert f'"{paths["run"]}/rocelet.sock"' in f.read()
    with open(os.path.join(TOP, "k8s/cni/rocelet_cni.c")) as f:
        assert f'"{paths["state"]}"' in f.read() and volumes["state"]["hostPath"]["path"] == paths["state"]


@check
def the_plugin_is_uninstalled():
    """The same pod, except for the arguments of its init container, which run here in a folder in place of the host's."""
    calls = {}
    for overlay in (MULTUS, UNINSTALL):
        init, = pod_of(overlay)["initContainers"]
        calls[overlay] = init.pop("args")
        assert {**pod_of(overlay), "initContainers": [init]} == {**pod_of(MULTUS), "initContainers": [{k: v for k, v in pod_of(MULTUS)["initContainers"][0].items() if k != "args"}]}
    with tempfile.TemporaryDirectory() as host:
        with open(os.path.join(host, "host-local"), "w") as f:
            f.write("another plugin")

        def call(overlay, *more):
            out = daemon(*[arg.replace("/host/cni-bin", host) for arg in calls[overlay]], *more)
            assert out.returncode == 0, f"{overlay}: {out.stdout}{out.stderr}"
            return sorted(os.listdir(host))
        assert call(MULTUS, "--link=sriov,rdma") == ["host-local", "rdma", "rocelet-cni", "sriov"]
        assert call(UNINSTALL) == ["host-local"]
        assert call(UNINSTALL) == ["host-local"]  # a node without the plugin
        assert call(MULTUS) == ["host-local", "rocelet-cni"]


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
        for name, command in (("livenessProbe", "alive"), ("readinessProbe", "ready")):
            assert container[name]["exec"] == {"command": ["rocectl", command]}, "the port may be another program's"
            assert not {"httpGet", "tcpSocket", "grpc"} & container[name].keys()
        assert container["livenessProbe"]["timeoutSeconds"] > 20, "rocectl alive waits for 20 s"
        assert spec["template"]["spec"]["priorityClassName"] == "system-node-critical"


# --- the daemon itself -------------------------------------------------------------------------

def daemon(*args):
    return subprocess.run([DAEMON, *args], capture_output=True, text=True)


@check
def the_daemon_accepts_arguments_and_configuration():
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


NETWORK = "NetworkAttachmentDefinition"  # a kind of Multus; not in Debian's model


def resources_of(d):
    spec = d["spec"] if d["kind"] == "Pod" else d["spec"]["template"]["spec"]
    return {r for c in spec["containers"] for r in c["resources"]["limits"] if r.startswith("rocelet.dev/")}


@check
def examples_request_what_their_pools_offer():
    docs = list(examples())
    pools = the("ConfigMap", [d for _, d in docs])
    namespace = the("Namespace", render("base"))["metadata"]["name"]
    assert (pools["metadata"]["name"], pools["metadata"]["namespace"]) == ("rocelet", namespace), "the overlays mount another one"
    with tempfile.TemporaryDirectory() as folder:
        path, tree = os.path.join(folder, "config.json"), os.path.join(folder, "tree")
        subprocess.run([MK_SYSFS, tree, "2", "16"], check=True, capture_output=True)
        with open(path, "w") as f:
            f.write(pools["data"]["config.json"].replace("ens1f0np0", "ens1np0").replace("ens1f1np1", "ens2np0"))
        out = daemon("--config", path, "--sysfs-root", tree, "--check-config", "--strict")
        offered = set(re.findall(r"rocelet\.dev/\w+", out.stdout))
        assert out.returncode in (0, 3) and offered == {"rocelet.dev/roce", "rocelet.dev/vf", "rocelet.dev/hca"}, out.stdout + out.stderr
    requested = set()
    for name, d in docs:
        if d["kind"] in ("ConfigMap", NETWORK):
            continue
        meta = d["metadata"] if d["kind"] == "Pod" else d["spec"]["template"]["metadata"]
        networks = json.loads(meta.get("annotations", {}).get("rocelet.dev/networks", "[]"))
        assert {n["resource"] for n in networks} <= resources_of(d), f"{name}: the annotation is of another resource"
        requested |= resources_of(d)
    assert requested == offered


@check
def a_pod_of_multus_requests_the_resource_of_its_network():
    """The pool of that resource has no "network": otherwise rocelet would attach the device itself, and reject Multus' request."""
    docs = [d for _, d in examples()]
    network, config = the(NETWORK, docs), json.loads(the("ConfigMap", docs)["data"]["config.json"])
    resource = network["metadata"]["annotations"]["k8s.v1.cni.cncf.io/resourceName"]
    pods = [d for d in docs if d["kind"] == "Pod" and d["metadata"].get("annotations", {}).get("k8s.v1.cni.cncf.io/networks") == network["metadata"]["name"]]
    assert [resources_of(d) for d in pods] == [{resource}]
    pool, = [pool for pool in config["pools"] if "rocelet.dev/" + pool["resourceName"] == resource]
    assert "network" not in pool and pool.get("kind") != "shared"
    plugin, = json.loads(network["spec"]["config"])["plugins"]
    assert plugin["type"] == "rocelet-cni" and "needs" not in plugin["ipam"]


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
        except Exception as e:  # checks may fail with any exception
            failed += 1
            print("not ok -", name)
            print("    " + (str(e) if isinstance(e, AssertionError) and str(e) else traceback.format_exc()))
    print(f"{len(checks) - failed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
