#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Judges the kustomize components of k8s/deploy/groups: a DaemonSet for a group of nodes besides that of the others.

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
WAIT = {"network.nvidia.com/operator.mofed.wait": "false"}
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
    return wrapped(f"overlays/{overlay}", *components)


def wrapped(folder, *components):
    """A kustomization of one's own around a folder of k8s/deploy."""
    with tempfile.TemporaryDirectory() as outer:
        deploy = os.path.relpath(DEPLOY, os.path.realpath(outer))
        with open(outer + "/kustomization.yaml", "w", encoding="utf-8") as f:
            json.dump({"resources": [f"{deploy}/{folder}"], "components": [f"{deploy}/{name}" for name in components]}, f)
        return built(outer)


def built(folder):
    done = subprocess.run([sys.argv[-1], "kustomize", folder], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and not done.stderr, done.stderr
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
def a_group_keeps_the_node_selector_of_what_it_is_added_to():
    for overlay in OVERLAYS:
        assert render(overlay, "others", "../components/mofed-wait")["spec"]["template"]["spec"]["nodeSelector"] == WAIT
        assert render(overlay, "../components/mofed-wait", "canary")["spec"]["template"]["spec"]["nodeSelector"] == {**WAIT, "rocelet.dev/group": "canary"}


@check
def no_node_gets_two():
    for overlay in OVERLAYS:
        others, canary = render(overlay, "others"), render(overlay, "canary")
        added = [term for term in terms(others) if term not in terms(render(overlay))]
        assert added == [{"key": "rocelet.dev/group", "operator": "DoesNotExist"}], added
        assert canary["spec"]["template"]["spec"]["nodeSelector"].keys() == {"rocelet.dev/group"}


@check
def removing_a_group_does_not_affect_the_others():
    """`kubectl delete -k` deletes all rendered objects: a group renders only its DaemonSet; the objects that it needs are rendered with the others."""
    for overlay in OVERLAYS:
        for platform in ((), ("components/openshift",)):
            others, canary = (all_of(overlay, *platform, f"groups/{name}") for name in ("others", "canary"))
            assert [d["kind"] for d in canary] == ["DaemonSet"], canary
            kinds = {d["kind"] for d in others}
            assert kinds == {d["kind"] for d in all_of(overlay, *platform)} >= {"Namespace", "ServiceAccount"}, kinds


@check
def a_trial_has_two_kinds_of_nodes_and_leaves_all_others_alone():
    """docs/fleet.md: `observe` on the nodes of the trial, `device-plugin` on those of them that are canaries."""
    observe, offers = (built(os.path.join(DEPLOY, "trial", name)) for name in ("observe", "device-plugin"))
    assert sorted(d["kind"] for d in observe) == ["DaemonSet", "Namespace", "ServiceAccount"], observe
    assert [d["kind"] for d in offers] == ["DaemonSet"], offers
    observer, offerer = (next(d for d in docs if d["kind"] == "DaemonSet") for docs in (observe, offers))
    assert observer["spec"]["template"]["spec"].pop("nodeSelector") == {"rocelet.dev/trial": "true"}
    assert observer == render("observe", "others")
    assert offerer == render("device-plugin", "canary")


@check
def a_fleet_moves_in_waves():
    """docs/fleet.md: `observe` on every node without a group, `device-plugin` on those of the group "fleet", and a canary beside both."""
    observe, offers = (built(os.path.join(DEPLOY, "fleet", name)) for name in ("observe", "offer"))
    assert sorted(d["kind"] for d in observe) == ["DaemonSet", "Namespace", "ServiceAccount"], observe
    assert [d["kind"] for d in offers] == ["DaemonSet"], offers
    assert next(d for d in observe if d["kind"] == "DaemonSet") == render("observe", "others")
    assert offers[0] == json.loads(json.dumps(render("device-plugin", "canary")).replace("canary", "fleet"))


@check
def the_end_of_a_trial_leaves_openshifts_constraints():
    """`kubectl delete -k` of the second DaemonSet must not delete the constraints that the first one needs: they are a kustomization of their own."""
    constraints, = built(os.path.join(DEPLOY, "components/openshift/scc"))
    assert constraints["kind"] == "SecurityContextConstraints"
    for folder in ("trial/device-plugin", "fleet/offer"):
        offers, = wrapped(folder, "components/openshift-pods")
        assert offers["kind"] == "DaemonSet" and offers["spec"]["template"]["spec"]["securityContext"] == {"seLinuxOptions": {"type": "spc_t"}}
    for overlay in OVERLAYS:
        pods, everything = all_of(overlay, "components/openshift-pods"), all_of(overlay, "components/openshift")
        assert [d for d in everything if d not in pods] == [constraints] and all(d in everything for d in pods), overlay


@check
def the_daemon_knows_its_nodes_name():
    env = {e["name"]: e for e in render("native")["spec"]["template"]["spec"]["containers"][0]["env"]}
    assert env["NODE_NAME"]["valueFrom"]["fieldRef"]["fieldPath"] == "spec.nodeName"


if __name__ == "__main__":
    sys.exit(run_checks(checks))
