# SPDX-License-Identifier: Apache-2.0
"""Provisions: things that tests need. Each is made for the first test that needs it, at most once per run."""
import dataclasses

MAKE = ("make", "--no-print-directory", "--silent", "-j2")


@dataclasses.dataclass(frozen=True)
class Provision:
    name: str
    title: str
    command: tuple
    # Exit status 0 means present. For provisions that are kept from run to run; the others are cheap to make again.
    built: tuple = ()
    # Runs make in this checkout: one at a time.
    makes: bool = False
    # The last line of its output is the value of {NAME} in a judge's arguments.
    value: bool = False


NEXT_VERSION = "VERSION=$(sed -n 's/^VERSION := //p' Makefile)-next"

PROVISIONS = {row.name: row for row in (
    Provision("programs", "build programs", (*MAKE, "all", "tests"), makes=True),
    Provision("kill-points", "build with kill points", (*MAKE, "KILL_POINTS=1", "build/kill/rocelet", "build/kill/rocelet-cni"), makes=True),
    Provision("image", "build image", (*MAKE, "image"), makes=True),
    # The version that the cluster is updated to. Builds the current image afterwards, since both use build/.
    Provision("next-image", "build next image", ("sh", "-c", f'make --no-print-directory --silent -j2 image {NEXT_VERSION} && make --no-print-directory --silent -j2 image'), makes=True),
    Provision("kubelet", "kubelet from source", ("tests/kubelet/kubelet.sh", "build"), ("tests/kubelet/kubelet.sh", "built")),
    Provision("control-plane", "control plane from source", ("tests/kubelet/kubelet.sh", "build", "control-plane"),
              ("tests/kubelet/kubelet.sh", "built", "control-plane")),
    Provision("lab-image", "lab image", ("tests/lab/lab.sh", "image"), ("tests/lab/lab.sh", "built")),
    Provision("lint-tools", "tools of lint", ("tests/deps.sh", "lint")),
    Provision("browser", "browser", ("tests/deps.sh", "page"), ("sh", "-c", "command -v chromium")),
    Provision("nginx", "nginx", ("tests/lib/debtool.sh", "nginx"), value=True),
    Provision("prometheus", "prometheus", ("tests/lib/debtool.sh", "prometheus"), value=True),
    Provision("exporter", "prometheus-node-exporter", ("tests/lib/debtool.sh", "prometheus-node-exporter"), value=True),
    Provision("helm", "helm", ("tests/ship/helm.sh",), value=True),
    Provision("kubectls", "kubectl", ("tests/ship/kubectl.sh",), value=True),
)}


def provision(need):
    """The provision of a word of `needs:`, or of "make:TARGETS"."""
    if need.startswith("make:"):
        words = need.removeprefix("make:").split()
        return Provision(need, "build " + " ".join(words), (*MAKE, *words), makes=True)
    return PROVISIONS[need]
