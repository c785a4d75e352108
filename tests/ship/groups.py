#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Judges the kustomize components of k8s/deploy/groups: a DaemonSet for a group of nodes beside that of the others.

  groups.py KUBECTL..

The last kubectl renders: components need kustomize 3.7. One line per check.

run: {kubectls}
proves: k8s/deploy
when: core
"""
import copy
import functools
import json
import os
import subprocess
import sys
import tempfile

import yaml

HERE = os.path.dirname(os.path.abspath(__file__))
DEPLOY = os.path.join(HERE, "../../k8s/deploy")
sys.path.insert(0, os.path.join(HERE, "../lib"))
from run_checks import run_checks  # noqa: E402

OVERLAYS = ("device-plugin", "native")
checks = []


def check(function):
    checks.append(function)
    return function


def render(overlay, *components):
    return copy.deepcopy(rendered(overlay, *components))


@functools.lru_cache
def rendered(overlay, *components):
    found, = [d for d in all_of(overlay, *(f"groups/{name}" for name in components)) if d["kind"] == "DaemonSet"]
    return found


def all_of(overlay, *components):
    with tempfile.TemporaryDirectory() as folder:
        deploy = os.path.relpath(DEPLOY, os.path.realpath(folder))
        with open(folder + "/kustomization.yaml", "w", encoding="utf-8") as f:
            json.dump({"resources": [f"{deploy}/overlays/{overlay}"], "components": [f"{deploy}/{name}" for name in components]}, f)
        done = subprocess.run([sys.argv[-1], "kustomize", folder], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return list(yaml.safe_load_all(done.stdout))


def terms(daemon_set):
    affinity = daemon_set["spec"]["template"]["spec"]["affinity"]["nodeAffinity"]
    term, = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    return term["matchExpressions"]


@check
def a_group_has_a_daemon_set_of_its_own():
    for overlay in OVERLAYS:
        usual, canary = render(overlay), render(overlay, "canary")
        spec = canary["spec"]["template"]["spec"]
        assert (usual["metadata"]["name"], canary["metadata"]["name"]) == ("rocelet", "rocelet-canary")
        labels = canary["spec"]["selector"]["matchLabels"]
        assert labels.items() <= canary["spec"]["template"]["metadata"]["labels"].items() and labels["rocelet.dev/group"] == "canary", overlay
        assert spec.pop("nodeSelector") == {"rocelet.dev/group": "canary"}
        group = spec["containers"][0]["env"].pop()
        assert group == {"name": "ROCELET_GROUP", "value": "canary"}, group
        assert spec == usual["spec"]["template"]["spec"], overlay


@check
def no_node_gets_two():
    for overlay in OVERLAYS:
        others, canary = render(overlay, "others"), render(overlay, "canary")
        added = [term for term in terms(others) if term not in terms(render(overlay))]
        assert added == [{"key": "rocelet.dev/group", "operator": "DoesNotExist"}], added
        assert canary["spec"]["template"]["spec"]["nodeSelector"].keys() == {"rocelet.dev/group"}


@check
def what_ends_a_group_takes_nothing_from_the_others():
    """`kubectl delete -k` deletes all that is rendered: a group's is its DaemonSet alone, and what it needs comes with that of the others."""
    for overlay in OVERLAYS:
        for platform in ((), ("components/openshift",)):
            others, canary = (all_of(overlay, *platform, f"groups/{name}") for name in ("others", "canary"))
            assert [d["kind"] for d in canary] == ["DaemonSet"], canary
            kinds = {d["kind"] for d in others}
            assert kinds == {d["kind"] for d in all_of(overlay, *platform)} >= {"Namespace", "ServiceAccount"}, kinds


@check
def the_daemon_knows_its_nodes_name():
    env = {e["name"]: e for e in render("native")["spec"]["template"]["spec"]["containers"][0]["env"]}
    assert env["NODE_NAME"]["valueFrom"]["fieldRef"]["fieldPath"] == "spec.nodeName"


if __name__ == "__main__":
    sys.exit(run_checks(checks))
