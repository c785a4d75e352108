#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Judges the Helm chart: helm renders what `kubectl apply -k` applies, each value has its effect, and a wrong one is rejected by name.

  chart.py HELM KUBECTL

One line per check, "N passed, N failed" last.

run: {helm}
proves: k8s/deploy docs/start/install.md
when: turns
"""
import glob
import itertools
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile

import yaml

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, "../..")
DEPLOY = os.path.join(TOP, "k8s/deploy")
sys.path.insert(0, os.path.join(HERE, "../lib"))
from run_checks import run_checks  # noqa: E402

HELM, KUBECTL = sys.argv[1:3]
MODES = ["observe", "device-plugin", "native", "native-surge", "multus", "multus-uninstall"]
checks = []
WORK = tempfile.TemporaryDirectory()
CHART = os.path.join(WORK.name, "rocelet.tgz")


def check(function):
    checks.append(function)
    return function


def version():
    with open(os.path.join(TOP, "Makefile"), encoding="utf-8") as f:
        return re.search(r"^VERSION := (.*)$", f.read(), re.M)[1]


def make_chart(path):
    subprocess.run([os.path.join(DEPLOY, "helm/chart.py"), KUBECTL, version(), path], check=True)


def helm(*args):
    return subprocess.run([HELM, *args], capture_output=True, text=True, check=False, env={**os.environ, "HOME": WORK.name})


def values_file(values):
    """Mode native, unless the values have another."""
    values = {"mode": "native", **values}
    path = os.path.join(WORK.name, "values.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump(values, f)
    return path


def template(values, release="rocelet", namespace="rocelet", version="1.35.0"):
    done = helm("template", release, CHART, "-n", namespace, "--kube-version", version, "-f", values_file(values))
    assert done.returncode == 0, f"{values}: {done.stderr}"
    return [d for d in yaml.safe_load_all(done.stdout) if d]


def refused(values, *words):
    done = helm("template", "rocelet", CHART, "-f", values_file(values))
    assert done.returncode != 0 and all(word in done.stderr for word in words), f"{values}: {done.stderr}"


def overlay(folder):
    done = subprocess.run([KUBECTL, "kustomize", os.path.join(DEPLOY, folder)], capture_output=True, text=True, check=True)
    return list(yaml.safe_load_all(done.stdout))


def by_kind(docs):
    kinds = [d["kind"] for d in docs]
    assert len(set(kinds)) == len(kinds), kinds
    return {d["kind"]: d for d in docs}


def without_nulls(x):
    """Versions of kustomize differ in whether they keep a patch's null."""
    if isinstance(x, dict):
        return {k: without_nulls(v) for k, v in x.items() if v is not None}
    return [without_nulls(v) for v in x] if isinstance(x, list) else x


def container_of(docs):
    container, = by_kind(docs)["DaemonSet"]["spec"]["template"]["spec"]["containers"]
    return container


@check
def helm_finds_nothing_wrong():
    for mode in MODES:
        done = helm("lint", "--strict", CHART, "-f", values_file({"mode": mode, "config": {"pools": []}}))
        assert done.returncode == 0, done.stdout + done.stderr


@check
def each_mode_is_the_overlay_of_that_name():
    for mode in MODES:
        wanted = by_kind(overlay("overlays/" + mode))
        del wanted["Namespace"]  # helm install --create-namespace
        assert without_nulls(by_kind(template({"mode": mode}))) == without_nulls(wanted), mode


@check
def an_old_api_server_gets_the_annotation():
    for mode in MODES:
        with open(os.path.join(DEPLOY, f"before-1.30/{mode}.yaml"), encoding="utf-8") as f:
            wanted = by_kind(list(yaml.safe_load_all(f)))
        del wanted["Namespace"]
        for version in ("1.20.2", "1.29.15-gke.1"):
            assert without_nulls(by_kind(template({"mode": mode}, version=version))) == without_nulls(wanted), (mode, version)
        assert template({"mode": mode}, version="1.30.0-eks.1") == template({"mode": mode}), mode


def with_component(name, mode="native"):
    """The DaemonSet of a mode with that component, lists by name: a patch moves changed elements to the front."""
    with tempfile.TemporaryDirectory() as folder:
        deploy = os.path.relpath(DEPLOY, os.path.realpath(folder))
        with open(folder + "/kustomization.yaml", "w", encoding="utf-8") as f:
            json.dump({"resources": [f"{deploy}/overlays/{mode}"], "components": [f"{deploy}/components/{name}"]}, f)
        return by_name(by_kind(overlay(folder))["DaemonSet"])


def by_name(daemonset):
    pod = daemonset["spec"]["template"]["spec"]
    for named in (pod["volumes"], pod["containers"][0]["volumeMounts"]):
        named.sort(key=lambda v: v["name"])
    return without_nulls(daemonset)


@check
def values_for_platforms_are_the_components():
    native = by_name(by_kind(template({}))["DaemonSet"])
    usual = {v["name"]: v["hostPath"]["path"] for v in native["spec"]["template"]["spec"]["volumes"] if "hostPath" in v}
    for name in ("selinux", "openshift", "k3s", "rke2", "k0s", "microk8s"):
        wanted = with_component(name)
        pod = wanted["spec"]["template"]["spec"]
        paths = {v["name"]: v["hostPath"]["path"] for v in pod["volumes"] if "hostPath" in v}
        changed = {name: path for name, path in paths.items() if name in usual and path != usual[name]}
        values = {"hostPaths": changed, "seLinuxType": "spc_t" if name in ("selinux", "openshift") else "",
                  "extraVolumes": [v for v in pod["volumes"] if v["name"] in paths.keys() - usual.keys()],
                  "extraVolumeMounts": [m for m in pod["containers"][0]["volumeMounts"] if m["name"] in paths.keys() - usual.keys()]}
        assert changed or values["seLinuxType"], name
        assert by_name(by_kind(template(values))["DaemonSet"]) == wanted, name
        assert native != wanted, name


@check
def the_values_for_k3s_of_the_page_are_the_component():
    with open(os.path.join(TOP, "docs/start/platforms.md"), encoding="utf-8") as f:
        values = yaml.safe_load(re.search(r"^```yaml\n(hostPaths:.*?)^```$", f.read(), re.M | re.S)[1])
    assert by_name(by_kind(template(values))["DaemonSet"]) == with_component("k3s")


@check
def the_values_for_tls_of_the_page_fit_each_other():
    """The daemon reads the files of the mounted Secret, and the PodMonitor the same Secret."""
    with open(os.path.join(TOP, "docs/start/platforms.md"), encoding="utf-8") as f:
        values = yaml.safe_load(re.search(r"^```yaml\n(extraVolumes:.*?)^```$", f.read(), re.M | re.S)[1])
    rendered = template(values)
    docs, mount = by_kind(rendered), container_of(rendered)["volumeMounts"][-1]
    volume, config = docs["DaemonSet"]["spec"]["template"]["spec"]["volumes"][-1], json.loads(docs["ConfigMap"]["data"]["config.json"])
    assert volume["name"] == mount["name"] and {os.path.dirname(config[key]) for key in ("tls-cert", "tls-key", "auth-token-file")} == {mount["mountPath"]}, mount
    endpoint, = docs["PodMonitor"]["spec"]["podMetricsEndpoints"]
    ca, token = endpoint["tlsConfig"]["ca"]["secret"], endpoint["authorization"]["credentials"]
    assert endpoint["scheme"] == "https" and ca["name"] == token["name"] == volume["secret"]["secretName"], endpoint
    assert token["key"] == os.path.basename(config["auth-token-file"]), token


@check
def node_features_are_the_component():
    for mode in MODES:
        assert by_name(by_kind(template({"mode": mode, "nodeFeatures": True}))["DaemonSet"]) == with_component("node-features", mode), mode
    args = container_of(template({"nodeFeatures": True, "extraArgs": ["--log-level=debug"]}))["args"]
    assert args[-2:] == ["--features-dir=/etc/kubernetes/node-feature-discovery/features.d", "--log-level=debug"], args


def listens(docs):
    """What a release has of its port: the daemon's flag, the container's port, and the annotations; None for what is missing."""
    daemonset = by_kind(docs)["DaemonSet"]["spec"]["template"]
    container, annotations = daemonset["spec"]["containers"][-1], daemonset["metadata"]["annotations"] or {}
    port, = container.get("ports") or [{}]
    flags = [arg for arg in container["args"] if arg.startswith("--listen")]
    return flags, port.get("containerPort"), annotations.get("prometheus.io/port"), annotations.get("prometheus.io/scrape")


@check
def one_value_is_the_port_everywhere():
    """Also of a configuration in the values, and the port can be off. native-surge reserves no port."""
    for mode, (values, flags, port) in itertools.product(MODES, (
            ({}, [], 9907), ({"listen": None}, [], 9907), ({"listen": ":9917"}, ["--listen=:9917"], 9917), ({"listen": "10.0.0.1:80"}, ["--listen=10.0.0.1:80"], 80),
            ({"listen": "[::1]:9917"}, ["--listen=[::1]:9917"], 9917), ({"listen": ""}, ["--listen="], None),
            ({"config": {"listen": "127.0.0.1:9917"}}, [], 9917), ({"config": {"listen": ""}}, [], None),
            ({"config": {"listen": ":1"}, "listen": ":9918"}, ["--listen=:9918"], 9918))):
        wanted = (flags, None if mode == "native-surge" else port, str(port) if port else None, "true" if port else None)
        docs = template({"mode": mode, **values})
        assert listens(docs) == wanted, f"{mode}, {values}: {listens(docs)}"
    assert container_of(template({"listen": ":9917", "extraArgs": ["--no-bpf"]}))["args"][-2:] == ["--listen=:9917", "--no-bpf"]
    for value in ("9917", ":0", ":", ":x", "::1"):
        refused({"listen": value}, "listen")
    refused({"extraArgs": ["--listen=:9917"]}, "value listen")
    refused({"listen": "", "podMonitor": {"enabled": True}}, "podMonitor.enabled")
    _, canary = releases_of_groups({"listen": ":9917", "podMonitor": {"enabled": True}})
    assert listens(canary) == (["--listen=:9917"], 9917, "9917", "true"), listens(canary)


@check
def another_port_and_none_are_the_components():
    """But that a component reserves no port of the host: an overlay may have none."""
    def plain(daemonset):
        daemonset["spec"]["template"]["spec"]["containers"][0].pop("ports", None)
        metadata = daemonset["spec"]["template"]["metadata"]
        metadata["annotations"] = metadata["annotations"] or {}
        return by_name(daemonset)
    for mode, (name, value) in itertools.product(MODES, (("port", ":9917"), ("no-port", ""))):
        assert plain(by_kind(template({"mode": mode, "listen": value}))["DaemonSet"]) == plain(with_component(name, mode)), (mode, name)


@check
def nodes_wait_for_nvidias_driver_as_with_the_component():
    for mode in MODES:
        assert by_name(by_kind(template({"mode": mode, "mofedWait": True}))["DaemonSet"]) == with_component("mofed-wait", mode), mode
    for docs in releases_of_groups({"mofedWait": True, "nodeSelector": {"rdma": "yes"}}):
        selector = by_kind(docs)["DaemonSet"]["spec"]["template"]["spec"]["nodeSelector"]
        assert selector.items() >= {"rdma": "yes", "network.nvidia.com/operator.mofed.wait": "false"}.items(), selector


@check
def links_are_made_with_the_plugin_and_removed_with_it():
    docs = by_kind(template({"mode": "multus", "cniLinks": ["sriov", "rdma"], "image": {"repository": "r.example/x", "tag": "7"}}))
    init, = docs["DaemonSet"]["spec"]["template"]["spec"]["initContainers"]
    assert init["args"] == ["--install-cni=/host/cni-bin", "--link=sriov,rdma"] and init["image"] == "r.example/x:7", init
    docs = by_kind(template({"mode": "multus", "cniLinks": ["sriov"], "cniSetAside": True}))
    init, = docs["DaemonSet"]["spec"]["template"]["spec"]["initContainers"]
    assert init["args"] == ["--install-cni=/host/cni-bin", "--link=sriov", "--set-aside"], init
    assert template({"mode": "multus-uninstall", "cniLinks": ["sriov"]}) == template({"mode": "multus-uninstall"})  # uninstall finds them itself
    for mode in MODES[:4]:
        refused({"mode": mode, "cniLinks": ["sriov"]}, "cniLinks")


@check
def a_prometheus_that_selects_by_label_finds_its_objects():
    values = {"podMonitor": {"enabled": True, "labels": {"release": "kps"}, "interval": "30s", "endpoint": {"scheme": "https", "tlsConfig": {"ca": {"secret": {"name": "s", "key": "ca"}}}}},
              "prometheusRule": {"enabled": True, "labels": {"release": "kps"}}}
    docs, usual = by_kind(template(values)), by_kind(template({"podMonitor": {"enabled": True}, "prometheusRule": {"enabled": True}}))
    for kind in ("PodMonitor", "PrometheusRule"):
        assert docs[kind]["metadata"]["labels"] == {"release": "kps", **usual[kind]["metadata"]["labels"]}, kind
    ours, before = (d["PodMonitor"]["spec"]["podMetricsEndpoints"][0] for d in (docs, usual))
    assert ours == {**before, "interval": "30s", **values["podMonitor"]["endpoint"]}, ours


@check
def the_mode_has_no_default():
    """Helm resets a value that an upgrade does not repeat: a default would make another mode of a node's daemon, with other permissions."""
    for values in ([], ["--set", "listen=:9917"], ["--set", "mode="], ["--set", "mode=null"]):
        done = helm("template", "rocelet", CHART, *values)
        assert done.returncode != 0 and "set mode:" in done.stderr and "--reuse-values" in done.stderr and "device-plugin" in done.stderr, f"{values}: {done.stderr}"


def commands(name):
    """The helm commands that install or upgrade this chart in a document, lines joined."""
    with open(os.path.join(TOP, name), encoding="utf-8") as f:
        text = " ".join(f.read().split())
    return re.findall(r"helm (?:install|upgrade) [\w-]+ \S+(?: (?:--?[a-z-]+|(?<=-[nf] )\S+|(?<=--set )\S+))*", text)


@check
def each_documented_command_has_a_mode():
    """Or it keeps the release's."""
    names = ["README.md", *(os.path.relpath(path, TOP) for path in glob.glob(TOP + "/docs/**/*.md", recursive=True))]
    found = [(name, command) for name in names for command in commands(name)]
    assert len(found) > 5 and {name for name, _ in found} >= {"README.md", "docs/start/install.md", "docs/tasks/groups.md"}, found
    for name, command in found:
        assert re.search(r"--set mode=|--reuse-values| -f ", command), f"{name}: {command}"


@check
def what_is_for_monitoring_is_the_same():
    docs = by_kind(template({"podMonitor": {"enabled": True}, "prometheusRule": {"enabled": True}, "dashboards": {"enabled": True}}))
    for d in overlay("monitoring") + overlay("monitoring/dashboards"):
        assert docs[d["kind"]] == d, d["kind"]


@check
def alerts_link_to_the_addresses_of_the_values():
    ours = {"docsUrl": "https://docs.example/rocelet/", "grafanaUrl": "https://g.example/sub", "pageUrl": "https://{{ $labels.node }}:9907"}
    groups = by_kind(template({"prometheusRule": {"enabled": True, **ours}}))["PrometheusRule"]["spec"]["groups"]
    alerts = {rule["alert"]: rule["annotations"] for group in groups for rule in group["rules"] if "alert" in rule}
    urls = alerts["RoceletDiagnosisCritical"]
    assert urls["runbook_url"] == "https://docs.example/rocelet/runbook.md#{{ $labels.cause }}", urls
    assert urls["dashboard_url"].startswith("https://g.example/sub/d/rocelet-port?"), urls
    assert urls["page_url"] == "https://{{ $labels.node }}:9907/#port/{{ $labels.device }}/{{ $labels.port }}", urls
    assert not [text for texts in alerts.values() for text in texts.values() if "rocelet.dev" in text or "grafana.example" in text]


@check
def alerts_have_no_link_without_an_address():
    for values in {}, {"docsUrl": "", "grafanaUrl": ""}:
        groups = by_kind(template({"prometheusRule": {"enabled": True, **values}}))["PrometheusRule"]["spec"]["groups"]
        alerts = {rule["alert"]: rule["annotations"] for group in groups for rule in group["rules"] if "alert" in rule}
        assert alerts["RoceletDiagnosisCritical"]["runbook_url"] == "http://{{ $labels.instance }}/runbook/{{ $labels.cause }}"
        assert not [text for texts in alerts.values() for text in texts.values() if "rocelet.dev" in text or "grafana.example" in text]
        assert alerts["RoceletPoolEmpty"]["runbook_url"] == "http://{{ $labels.instance }}/runbook/roceletpoolempty"
        assert alerts["RoceletAllDown"]["runbook_url"].endswith("{{ $labels := .Labels }}http://{{ $labels.instance }}/runbook/roceletalldown{{ end }}"), alerts["RoceletAllDown"]


@check
def a_configuration_is_the_file_that_the_daemon_reads():
    config = {"pools": [{"resourceName": "roce", "selectors": {"pfNames": ["ens1f0np0#0-3"]}}], "listen": "127.0.0.1:9907"}
    docs = by_kind(template({"config": config}))
    assert json.loads(docs["ConfigMap"]["data"]["config.json"]) == config
    volume, = [v for v in docs["DaemonSet"]["spec"]["template"]["spec"]["volumes"] if "configMap" in v]
    assert volume["configMap"]["name"] == docs["ConfigMap"]["metadata"]["name"]
    assert "ConfigMap" not in by_kind(template({}))


@check
def a_release_of_another_name_shares_nothing_with_this_one():
    values = {"config": {"pools": []}, "podMonitor": {"enabled": True}, "prometheusRule": {"enabled": True}, "dashboards": {"enabled": True}}
    here, there = template(values), template(values, "canary", "lab")
    for ours, other in zip(here, there):
        assert other["metadata"]["namespace"] == "lab" and other["metadata"]["name"].startswith("canary"), other["metadata"]
        assert other["kind"] == ours["kind"] and other["metadata"]["name"] != ours["metadata"]["name"]
    there = {d["kind"]: d for d in there}
    spec = there["DaemonSet"]["spec"]
    assert spec["selector"]["matchLabels"] == {"app.kubernetes.io/name": "canary"}
    assert spec["template"]["metadata"]["labels"]["app.kubernetes.io/name"] == "canary"
    assert spec["template"]["spec"]["serviceAccountName"] == there["ServiceAccount"]["metadata"]["name"]
    assert there["PodMonitor"]["spec"]["selector"]["matchLabels"] == {"app.kubernetes.io/name": "canary"}


# Each value of the schema, with its effect in the DaemonSet.
POD = ("spec", "template", "spec")
EFFECTS = {
    "image": ({"repository": "r.example/x", "tag": "7", "pullPolicy": "Always", "pullSecrets": [{"name": "s"}]}, POD + ("containers", 0, "image"), "r.example/x:7"),
    "extraArgs": (["--log-level=debug"], POD + ("containers", 0, "args", -1), "--log-level=debug"),
    "resources": ({"limits": {"memory": "1Gi"}}, POD + ("containers", 0, "resources"), {"limits": {"memory": "1Gi"}}),
    "tolerations": ([{"key": "gpu"}], POD + ("tolerations",), [{"key": "gpu"}]),
    "affinity": ({"podAffinity": {}}, POD + ("affinity",), {"podAffinity": {}}),
    "updateStrategy": ({"type": "OnDelete"}, ("spec", "updateStrategy"), {"type": "OnDelete"}),
    "nodeSelector": ({"rdma": "yes"}, POD + ("nodeSelector",), {"rdma": "yes"}),
    "podAnnotations": ({"a": "b"}, ("spec", "template", "metadata", "annotations", "a"), "b"),
    "podLabels": ({"a": "b"}, ("spec", "template", "metadata", "labels", "a"), "b"),
    "extraVolumes": ([{"name": "x", "secret": {"secretName": "s"}}], POD + ("volumes", -1), {"name": "x", "secret": {"secretName": "s"}}),
    "extraVolumeMounts": ([{"name": "x", "mountPath": "/x"}], POD + ("containers", 0, "volumeMounts", -1), {"name": "x", "mountPath": "/x"}),
    "priorityClassName": ("other", POD + ("priorityClassName",), "other"),
}
ELSEWHERE = {"mode", "config", "podMonitor", "prometheusRule", "dashboards", "global", "hostPaths", "seLinuxType", "nodeFeatures", "cniLinks", "cniSetAside", "group", "leaveGroups", "listen", "mofedWait"}


@check
def each_value_has_its_effect_in_each_mode():
    with open(os.path.join(DEPLOY, "helm/values.schema.json"), encoding="utf-8") as f:
        assert set(json.load(f)["properties"]) == set(EFFECTS) | ELSEWHERE
    rendered = {mode: by_kind(template({"mode": mode, **{key: value for key, (value, _, _) in EFFECTS.items()}}))["DaemonSet"] for mode in MODES}
    for mode, (key, (_, path, wanted)) in itertools.product(MODES, EFFECTS.items()):
        found = rendered[mode]
        for step in path:
            found = found[step]
        assert found == wanted, f"{mode}, {key}: {found}"
    docs = template({"image": EFFECTS["image"][0]})
    assert container_of(docs)["imagePullPolicy"] == "Always"
    assert by_kind(docs)["DaemonSet"]["spec"]["template"]["spec"]["imagePullSecrets"] == [{"name": "s"}]
    assert len(container_of(template({"mode": "native", "extraArgs": ["--no-bpf"]}))["args"]) == len(container_of(template({"mode": "native"}))["args"]) + 1


@check
def a_wrong_value_is_refused_by_name():
    for values, named in (({"mode": "nativ"}, "mode"), ({"image": {"tags": "1"}}, "tags"), ({"networks": {}}, "networks"), ({"config": "x"}, "config"),
                          ({"extraArgs": ["listen"]}, "extraArgs"), ({"image": {"pullPolicy": "Maybe"}}, "pullPolicy"), ({"podMonitor": {"enabled": "yes"}}, "podMonitor"), ({"podMonitor": {"endpoint": {"interval": "1s"}}}, "interval"),
                          ({"cniLinks": ["a,b"]}, "cniLinks"), ({"extraVolumes": [{"secret": {}}]}, "extraVolumes"),
                          ({"hostPaths": {"containerd": "run/k3s"}}, "containerd"), ({"hostPaths": {"socket": "/x"}}, "socket"), ({"seLinuxType": "a b"}, "seLinuxType"), ({"nodeFeatures": "on"}, "nodeFeatures")):
        refused(values, named)


@check
def a_value_that_kubernetes_would_refuse_is_refused():
    for values, named in (({"podLabels": {"app.kubernetes.io/name": "x"}}, "podLabels"), ({"updateStrategy": {"type": "Foo"}}, "updateStrategy"),
                          ({"updateStrategy": {"rollingUpdate": {"maxUnavailable": "a tenth"}}}, "maxUnavailable"), ({"resources": {"limits": {"memory": "lots"}}}, "memory"),
                          ({"resources": {"limit": {}}}, "limit"), ({"extraVolumes": [{"name": "foo"}]}, "extraVolumes"), ({"extraVolumeMounts": [{"name": "foo"}]}, "mountPath"),
                          ({"tolerations": [{"keys": "gpu"}]}, "tolerations"), ({"affinity": {"nodeAfinity": {}}}, "affinity")):
        refused(values, named)
    for values in ({"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "10%", "maxSurge": 0}}}, {"podLabels": {"app.kubernetes.io/part-of": "x"}},
                   {"resources": {"limits": {"memory": "1.5Gi", "cpu": 2}, "requests": {"cpu": "100m", "memory": "1e9"}}}, {"tolerations": [{"operator": "Exists"}]}):
        template(values)


def strategy(values):
    return by_kind(template(values))["DaemonSet"]["spec"]["updateStrategy"]


@check
def a_surge_is_one_that_kubernetes_accepts():
    """Kubernetes sets maxUnavailable to 1 where it is missing, and refuses it beside maxSurge; the daemons of other modes do not run beside each other."""
    def rolling(**values):
        return {"rollingUpdate": values}
    for given, wanted in ((rolling(maxSurge=1), {"maxSurge": 1, "maxUnavailable": 0}), (rolling(maxSurge="5%"), {"maxSurge": "5%", "maxUnavailable": 0}),
                          (rolling(maxSurge=1, maxUnavailable=0), {"maxSurge": 1, "maxUnavailable": 0}), (rolling(maxUnavailable=1), {"maxUnavailable": 1}),
                          (rolling(maxSurge=0, maxUnavailable=1), {"maxSurge": 0, "maxUnavailable": 1}), (rolling(maxSurge="0%"), {"maxSurge": "0%"})):
        found = strategy({"mode": "native-surge", "updateStrategy": given})
        assert found == {"rollingUpdate": wanted}, f"{given}: {found}"
    assert strategy({"mode": "native-surge", "updateStrategy": {"type": "OnDelete"}}) == {"type": "OnDelete"}
    refused({"mode": "native-surge", "updateStrategy": rolling(maxSurge=1, maxUnavailable=1)}, "updateStrategy", "maxUnavailable", "maxSurge")
    for mode in MODES:
        if mode != "native-surge":
            refused({"mode": mode, "updateStrategy": rolling(maxSurge="10%")}, "updateStrategy", "native-surge")
            assert strategy({"mode": mode, "updateStrategy": rolling(maxSurge=0)}) == rolling(maxSurge=0), mode


@check
def the_notes_name_a_pod_by_its_node():
    """`exec ds/NAME` picks a pod by the labels of that DaemonSet, which the pods of a group's DaemonSet have, too."""
    for values, name in (({}, "rocelet"), ({"config": {"pools": []}}, "rocelet"), ({"group": {"name": "canary", "release": "first"}}, "first")):
        done = helm("install", "rocelet", CHART, "-n", "lab", "--dry-run=client", "-f", values_file(values))
        assert done.returncode == 0, done.stderr
        notes = done.stdout.split("NOTES:\n", 1)[1]
        assert "exec ds/" not in notes and f"get pods -l app.kubernetes.io/name={name} --field-selector spec.nodeName=NODE" in notes, notes
        assert "kubectl -n lab exec POD -- rocectl doctor" in notes, notes


@check
def an_unknown_flag_is_refused():
    for flag in ("--nobpf", "--no-bpf=yes", "--log-level", "--listen", "--pools=x", "--"):
        refused({"extraArgs": [flag]}, "extraArgs")
    for flag in ("--no-bpf", "--no-bpf=false", "--log-level=debug", "--group=a", "--strict", "--mirrors=a,b", "--unprivileged"):
        template({"extraArgs": [flag]})


@check
def a_configuration_that_the_daemon_rejects_is_rejected():
    for config, word in (({"network": []}, "network"), ({"pools": {}}, "pools"), ({"pools": [{"resourceName": "a/b", "selectors": {}}]}, "resourceName"),
                         ({"listen": ":99999"}, "listen"), ({"groups": [{"name": "g", "pools": [{"resourceName": "p", "selector": {}}]}]}, "selector"),
                         ({"resourceList": [{"resourceName": "a", "selectors": 5}]}, "selectors"), ({"cni-path": "bin"}, "cni-path")):
        refused({"config": config}, "config", word)
    for path in glob.glob(TOP + "/docs/examples/*.json"):
        with open(path, encoding="utf-8") as f:
            config = json.load(f)
        assert json.loads(by_kind(template({"config": config}))["ConfigMap"]["data"]["config.json"]) == config, path


def commands_of_groups():
    """The arguments of the helm commands in docs/tasks/groups.md for a second release, in their order."""
    with open(os.path.join(TOP, "docs/tasks/groups.md"), encoding="utf-8") as f:
        block = re.search(r"^```\n(helm upgrade .*?)^```$", f.read(), re.M | re.S)[1]
    return [line.split()[1:] for line in block.splitlines() if line.startswith("helm ")]


def releases_of_groups(values):
    """Runs the documented commands on a first release with these values. Returns the documents with both DaemonSets, and the first release's values as `helm get` prints them."""
    upgrade, get, install = commands_of_groups()
    assert get == ["get", "values", "rocelet", "-n", "rocelet", "-o", "yaml", ">values.yaml"], get
    assert upgrade[:5] == ["upgrade", "rocelet", f"build/rocelet-{version()}.tgz", "-n", "rocelet"] and upgrade[5:7] == ["--reuse-values", "--set"], upgrade
    assert install[:6] == ["install", "rocelet-canary", f"build/rocelet-{version()}.tgz", "-n", "rocelet", "-f"] and install[6:8] == ["values.yaml", "--set"], install
    given, made = dict(values), []
    for name, settings in (("rocelet", upgrade[7]), ("rocelet-canary", install[8])):
        done = helm("template", name, CHART, "-n", "rocelet", "--kube-version", "1.35.0", "-f", values_file(given), "--set", settings)
        assert done.returncode == 0, done.stderr
        made.append([d for d in yaml.safe_load_all(done.stdout) if d])
        if name == "rocelet":
            key, value = settings.split("=")
            given[key] = yaml.safe_load(value)
    return made


@check
def two_releases_of_a_canary_are_the_components_of_kustomize():
    """The first is the component others, the second nothing but the DaemonSet of the component canary."""
    for mode in MODES:
        others, canary = releases_of_groups({"mode": mode})
        assert by_name(by_kind(others)["DaemonSet"]) == with_component("../groups/others", mode), mode
        assert {d["kind"] for d in canary} == {"DaemonSet"}
        assert by_name(canary[0]) == with_component("../groups/canary", mode), mode


@check
def two_releases_of_waves_are_the_kustomizations():
    """docs/fleet.md: the first one observes, the second one offers devices on the nodes of the group."""
    observe, offer = by_kind(overlay("fleet/observe")), by_kind(overlay("fleet/offer"))
    first = by_kind(template({"mode": "observe", "leaveGroups": True}))
    second = by_kind(template({"mode": "device-plugin", "group": {"name": "fleet"}}, "rocelet-fleet"))
    assert by_name(first["DaemonSet"]) == by_name(observe["DaemonSet"])
    assert set(second) == {"DaemonSet"} and by_name(second["DaemonSet"]) == by_name(offer["DaemonSet"])


@check
def a_canary_makes_nothing_that_the_first_release_has():
    """No ConfigMap, no ServiceAccount, which OpenShift's constraints would not list, and no job of Prometheus, which would be removed with it."""
    values = {"config": {"pools": []}, **{key: {"enabled": True} for key in ("podMonitor", "prometheusRule", "dashboards")}}
    others, canary = releases_of_groups(values)
    assert {d["kind"] for d in others} == {"DaemonSet", "ServiceAccount", "ConfigMap", "PodMonitor", "PrometheusRule"}, [d["kind"] for d in others]
    assert [(d["kind"], d["metadata"]["name"]) for d in canary] == [("DaemonSet", "rocelet-canary")], canary
    others, pod = by_kind([d for d in others if d["metadata"]["name"] != "rocelet-dashboards"]), canary[0]["spec"]["template"]
    selected = others["PodMonitor"]["spec"]["selector"]["matchLabels"]
    assert selected.items() <= pod["metadata"]["labels"].items(), selected
    assert pod["spec"]["serviceAccountName"] == others["ServiceAccount"]["metadata"]["name"]
    volume, = [v for v in pod["spec"]["volumes"] if "configMap" in v]
    assert volume["configMap"]["name"] == others["ConfigMap"]["metadata"]["name"]


def admits(pod, labels):
    """True if the scheduler may place the pod on a node with these labels: nodeSelector and the terms of affinity that occur here."""
    tests = {"In": lambda e: labels.get(e["key"]) in e["values"], "NotIn": lambda e: labels.get(e["key"]) not in e["values"], "Exists": lambda e: e["key"] in labels,
             "DoesNotExist": lambda e: e["key"] not in labels}
    required = pod.get("affinity", {}).get("nodeAffinity", {}).get("requiredDuringSchedulingIgnoredDuringExecution", {})
    terms = required.get("nodeSelectorTerms", [{"matchExpressions": []}])
    return pod.get("nodeSelector", {}).items() <= labels.items() and any(all(tests[e["operator"]](e) for e in term.get("matchExpressions", [])) for term in terms)


@check
def each_node_has_one_of_two_releases():
    """Whatever affinity and node selector the first release has."""
    rdma = {"key": "rdma", "operator": "Exists"}
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    for values in ({}, {"nodeSelector": {"rdma": "yes"}}, {"affinity": {"podAffinity": {}}}, {"affinity": {"nodeAffinity": {required: {"nodeSelectorTerms": [{"matchExpressions": [rdma]}]}}}},
                   {"affinity": {"nodeAffinity": {required: {"nodeSelectorTerms": [{"matchExpressions": [rdma]}, {"matchExpressions": [{**rdma, "key": "x"}]}]}}}}):
        others, canary = (by_kind(docs)["DaemonSet"]["spec"]["template"]["spec"] for docs in releases_of_groups(values))
        node = {"kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64", "rdma": "yes"}
        for group, wanted in ((None, (True, False)), ("canary", (False, True)), ("other", (False, False))):
            labels = {**node, **({"rocelet.dev/group": group} if group else {})}
            assert (admits(others, labels), admits(canary, labels)) == wanted, (values, group)
        if "affinity" in values:
            assert canary["affinity"] == values["affinity"], canary["affinity"]
            assert by_kind(template(values))["DaemonSet"]["spec"]["template"]["spec"]["affinity"] == values["affinity"]
        if "rdma" in values.get("nodeSelector", {}):
            assert not admits(canary, {"rocelet.dev/group": "canary"})


@check
def a_group_that_would_have_no_node_or_no_release_is_refused():
    left = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "rocelet.dev/group", "operator": "DoesNotExist"}]}]}}}
    refused({"group": {"name": "canary"}}, "group.release")  # the release's name is rocelet
    refused({"group": {"name": "canary", "release": "first"}, "affinity": left}, "affinity", "group.name")
    refused({"group": {"name": "-x"}}, "group")
    refused({"podLabels": {"rocelet.dev/group": "x"}}, "podLabels")
    for without in ({"group": None, "leaveGroups": None}, {"group": {"name": ""}}):  # as with --reuse-values of an older release
        assert template(without) == template({}), without


@check
def the_values_for_argo_cd_render_the_same_each_time():
    """docs/tasks/gitops.md: nothing but what Git has, and no hook, decides what is applied."""
    with open(os.path.join(TOP, "docs/tasks/gitops.md"), encoding="utf-8") as f:
        applications = [yaml.safe_load(text) for text in re.findall(r"^```yaml\n(apiVersion: argoproj.*?)^```$", f.read(), re.M | re.S)]
    source, = [a["spec"]["source"] for a in applications if "chart" in a["spec"]["source"]]
    assert source["targetRevision"] == version()
    docs = template(source["helm"]["valuesObject"], source["helm"]["releaseName"])
    assert docs == template(source["helm"]["valuesObject"], source["helm"]["releaseName"])
    assert {d["kind"] for d in docs} == {"DaemonSet", "ServiceAccount", "ConfigMap", "PodMonitor", "PrometheusRule"}
    assert not [d for d in docs if any(key.startswith("helm.sh/hook") for key in d["metadata"].get("annotations") or {})]
    assert not any("-" in d["metadata"]["name"] for d in docs), "a name with a hash"


@check
def a_kubectl_that_is_there_makes_the_chart():
    """That of KUBECTL, or of PATH if it knows components; else one is fetched."""
    script = os.path.join(DEPLOY, "kubectl.sh")
    with tempfile.TemporaryDirectory() as folder:
        def kubectl(minor, name="kubectl"):
            path = os.path.join(folder, name)
            with open(path, "w", encoding="utf-8") as f:
                f.write(f"""#!/bin/sh\nprintf '{{\n  "clientVersion": {{\n    "major": "1",\n    "minor": "{minor}",\n  }}\n}}\n'\n""")
            os.chmod(path, 0o755)
            return path

        def found(given=""):
            return subprocess.run([script], capture_output=True, text=True, check=False, env={**os.environ, "PATH": folder + ":" + os.environ["PATH"], "KUBECTL": given})
        for minor in ("21+", "35"):
            path = kubectl(minor)
            assert found().stdout.strip() == path, found()
        other = kubectl("22", "other")
        assert found(other).stdout.strip() == other, found(other)
        kubectl("20")
        assert found().stdout.strip() == KUBECTL, found()
        for wrong in (kubectl("20", "old"), "/nonexistent", "/bin/true"):
            assert found(wrong).returncode == 1 and f"KUBECTL={wrong}: not a kubectl 1.21 or newer" in found(wrong).stderr, found(wrong)


@check
def the_chart_names_its_version_and_is_made_the_same_each_time():
    shown = yaml.safe_load(helm("show", "chart", CHART).stdout)
    assert shown["version"] == shown["appVersion"] == version()
    again = os.path.join(WORK.name, "again.tgz")
    make_chart(again)
    with open(CHART, "rb") as a, open(again, "rb") as b:
        assert a.read() == b.read()
    with tarfile.open(CHART) as tar:
        assert all(m.name.startswith("rocelet/") and m.isfile() for m in tar)


if __name__ == "__main__":
    make_chart(CHART)
    sys.exit(run_checks(checks, sys.argv[3:]))
