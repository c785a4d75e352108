"""What tests need before they can run, each made at most once a run, and by the first test that needs it."""
import dataclasses

MAKE = ("make", "--no-print-directory", "--silent", "-j2")


@dataclasses.dataclass(frozen=True)
class Provision:
    name: str
    title: str
    command: tuple
    # Exit status 0: it is there. Without it the command itself finds out, quickly. Such a thing is kept from run to run.
    built: tuple = ()
    # One make at a time in a checkout; other provisions may run beside it.
    makes: bool = False
    # Its output's last line is the value of {NAME} in a judge's arguments.
    value: bool = False


NEXT_VERSION = "VERSION=$(sed -n 's/^VERSION := //p' Makefile)-next"

PROVISIONS = {row.name: row for row in (
    Provision("programs", "build programs", (*MAKE, "all", "tests"), makes=True),
    Provision("kill-points", "build with kill points", (*MAKE, "KILL_POINTS=1", "build/kill/rocelet"), makes=True),
    Provision("image", "build image", (*MAKE, "image"), makes=True),
    # What a cluster is updated to; before `image`, since both leave their programs in build/.
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
    Provision("kubectls", "kubectl", ("tests/ship/kubectl.sh",), value=True),
)}


def provision(need):
    """The provision of a word of `needs:`, or of "make:TARGET"; None for "root", which nothing can provide."""
    if need == "root":
        return None
    if need.startswith("make:"):
        words = need.removeprefix("make:").split()
        return Provision(need, "build " + " ".join(words), (*MAKE, *words), makes=True)
    return PROVISIONS[need]
