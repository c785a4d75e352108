# SPDX-License-Identifier: Apache-2.0
"""The list of everything that can be run. Reads the heads of the test files; runs nothing.

Lines at the head of a test file:

  proves: FOLDER...       the folders whose promises it proves; a change in one of them selects it
  when: core [ARG...]     in `make check` and every CI run, with these arguments
  when: ci [ARG...]       in every CI run
  when: turns [ARG...]    in every third CI run, and whenever a folder that it proves has changed
  when: soak [ARG...]     only in `make soak`
  run: ARG...             a judge's own arguments, before those of `when`; {build}/x and {san}/x are built first, other words are provisions
  needs: WORD...          further provisions: see PROVISIONS in provisions.py

Without a `when` line a test runs in turns. A unit test needs no head: it proves the folder of the same name, and without a `when` line it is core.
"""
import dataclasses
import glob
import os
import re

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
HEAD_LINES = 40
HEAD_LINE = re.compile(r"^[\s#/*]*(proves|when|run|needs): *(.*?)[\s*/]*$")
EVERYTHING = "."

WHENS = ("core", "ci", "turns", "soak")


class HeadError(Exception):
    pass


@dataclasses.dataclass(frozen=True)
class Kind:
    """The properties that tests of one kind share."""
    name: str
    reads: str  # the reader of its output: see verdicts.py
    weight: float  # of the machine's two processors, while it runs
    timeout_s: int = 900  # the runner ends it after this time, on an idle machine
    needs: tuple = ()
    root: bool = False


# In the order in which they run: quick and informative tests first.
KINDS = {kind.name: kind for kind in (
    Kind("unit", "cmocka", 0.3),
    Kind("lint", "status", 2, needs=("lint-tools", "programs")),
    Kind("interop", "checks", 0.6),
    Kind("fuzz", "fuzz", 1),
    Kind("san", "cmocka", 0.3),
    Kind("threads", "cmocka", 1),
    Kind("ship", "checks", 1),
    Kind("page", "checks", 1.5, needs=("browser",)),
    Kind("kubelet", "checks", 1, needs=("programs", "kubelet"), root=True),
    # Alone: two emulated machines at once need more than twice the time of one.
    Kind("lab", "checks", 2, timeout_s=3600, needs=("programs", "lab-image", "kubelet"), root=True),
    Kind("cluster", "checks", 2, timeout_s=3600, needs=("image", "next-image", "programs", "lab-image", "control-plane"), root=True),
)}


@dataclasses.dataclass(frozen=True)
class Job:
    kind: Kind
    name: str  # with its kind's name in front, unique but for `when`
    when: str
    command: tuple
    proves: tuple
    files: tuple  # a change of one of them selects it
    needs: tuple
    args: tuple = ()  # of `when`

    @property
    def label(self):
        return f"{self.kind.name} {self.name}"

    @property
    def title(self):
        """Soak may run one test several times, each with arguments of its own."""
        return " ".join((self.label, *self.args)) if self.when == "soak" else self.label


def read_head(path):
    """{"proves": [...], "when": [...], ...}: the words of each such line, a list for each line."""
    head = {"proves": [], "when": [], "run": [], "needs": []}
    with open(path, errors="replace") as f:
        for _, line in zip(range(HEAD_LINES), f):
            if match := HEAD_LINE.match(line):
                head[match[1]].append(match[2].split())
    return head


def words(head, key):
    return tuple(word for line in head[key] for word in line)


def jobs_of_file(kind, path, command, name, needs=()):
    """A job for each `when` of a file; command(args) makes its command line; needs: besides those of its kind and its head."""
    head = read_head(os.path.join(TOP, path))
    proves = words(head, "proves")
    if not proves:
        raise HeadError(f"{path}: its head has no line `proves: FOLDER...`")
    for folder in proves:
        if not os.path.exists(os.path.join(TOP, folder)):
            raise HeadError(f"{path}: proves: there is no {folder}")
    run = words(head, "run")
    for when, *args in head["when"] or [["turns"]]:
        if when not in WHENS:
            raise HeadError(f"{path}: when: {when} is not one of {', '.join(WHENS)}")
        all_needs = kind.needs + tuple(needs) + words(head, "needs") + tuple(n for arg in run for n in placeholders(arg)) + ("root",) * kind.root
        yield Job(kind, name, when, tuple(command(list(run) + args)), proves, (path,), tuple(dict.fromkeys(all_needs)), tuple(args))


def placeholders(arg):
    """The provisions that the words in braces of a judge's argument name."""
    for word, rest in re.findall(r"\{(\w+)\}(\S*)", arg):
        yield {"build": f"make:build{rest}", "san": f"make:SAN=1 build/san{rest}"}.get(word, word)


def expand(arg, found):
    """A judge's argument with its words in braces replaced; found: values of provisions. One argument may become several."""
    values = {"build": "build", "san": "build/san", **found}
    return re.sub(r"\{(\w+)\}", lambda match: values[match[1]], arg).split() if re.search(r"\{\w+\}", arg) else [arg]


def product_folder(test_path):
    """tests/unit/attach/ipam/test_X.c proves daemon/attach/ipam."""
    folder = os.path.dirname(test_path).removeprefix("tests/unit").strip("/")
    for candidate in (folder, f"daemon/{folder}"):
        if folder and os.path.isdir(os.path.join(TOP, candidate)):
            return candidate
    return folder.split("/")[0] if os.path.isdir(os.path.join(TOP, folder.split("/")[0])) and folder else "daemon"


def unit_program(path):
    """The program that a unit test is part of, as in the Makefile."""
    return path.removeprefix("tests/unit/").split("/")[0]


# Code that parses untrusted input: under sanitizers in every run.
SAN_CORE = ("k8s/rpc", "daemon/http", "hw/netlink", "daemon/config")
# Groups in which workers and the loop share data.
THREADS = {"node": "core", "sampler": "turns", "loop": "turns"}


def unit_jobs():
    for path in sorted(glob.glob("tests/unit/**/test_*.c", root_dir=TOP, recursive=True)):
        group, program, folder = os.path.basename(path)[5:-2], unit_program(path), product_folder(path)

        def job(kind, when, build, variable):
            # Some groups start these programs.
            needs = (f"make:{variable}{build}/rocelet {build}/rocectl {build}/bench/mk_sysfs", f"make:{variable}{build}/tests/{program}")
            return Job(KINDS[kind], group, when, (f"{build}/tests/{program}", group), (folder,), (path,), needs)
        whens = read_head(os.path.join(TOP, path))["when"]
        yield job("unit", whens[0][0] if whens else "core", "build", "")
        yield job("san", "core" if folder.startswith(SAN_CORE) else "turns", "build/san", "SAN=1 ")
        if group in THREADS:
            # Without address randomisation: the sanitizer of older compilers does not support all of it.
            tsan = job("threads", THREADS[group], "build/tsan", "SAN=thread ")
            yield dataclasses.replace(tsan, command=("setarch", "-R") + tsan.command)


LINT = (
    # NAME, WHEN, processors, COMMAND, provisions
    ("compile with clang", "ci", 2, "make CC=clang test-objects fuzz"),
    ("formatting", "core", 1, "make fmt-check", "clang-14"),
    ("include rules", "ci", 1, "make check-deps"),
    ("shellcheck", "ci", 2, "tests/check/shellcheck.sh"),
    ("tables of the tests", "core", 1, "tests/check/table.py --check"),
    ("documents", "core", 1, "tests/lint/docs.py"),
    ("licences", "core", 1, "tests/lint/spdx.py"),
    ("choice of the tests", "core", 1, "tests/check/test_choice.py"),
    ("clang-tidy", "ci", 2, "make tidy", "clang-14"),
    ("cppcheck", "ci", 2, "make cppcheck"),
)


def lint_jobs():
    for name, when, weight, command, *needs in LINT:
        program, *args = command.split()
        if program == "make":
            args = ["--no-print-directory", "--silent", "-j2"] + args
        kind = dataclasses.replace(KINDS["lint"], weight=weight)
        yield Job(kind, name, when, (program, *args), (EVERYTHING,), (), kind.needs + tuple(needs))


PROGRAMS = (
    # NAME, WHEN, COMMAND, the folders that it proves; their exit status is the result
    ("bench_verdicts", "ci", "build/bench/bench_verdicts 100 540", ("daemon/diagnosis",)),
    ("bench_verdicts", "soak", "build/bench/bench_verdicts 20000 27000", ("daemon/diagnosis",)),
)


def program_jobs():
    kind = dataclasses.replace(KINDS["interop"], reads="status")
    for name, when, command, proves in PROGRAMS:
        program, *args = command.split()
        yield Job(kind, name, when, (program, *args), proves, (f"tests/bench/{name}.c",), (f"make:{program}",), tuple(args))


def file_jobs():
    python = ["/usr/bin/python3", "-B"]
    rows = (
        # KIND, FILES, COMMAND of the file, its base name and its arguments
        ("interop", ("tests/interop/*.py", "tests/scenarios/*.py", "tests/lint/*.py"), lambda path, _, args: python + [path] + args),
        ("ship", ("tests/ship/*.py",), lambda path, _, args: python + [path] + args),
        ("ship", ("tests/ship/*.sh",), lambda path, _, args: [path] + args),
        ("page", ("tests/web/*.py",), lambda path, _, args: python + [path] + args),
        ("fuzz", ("tests/fuzz/fuzz_*.c",), lambda _, name, args: ["tests/check/fuzz.sh", f"build/fuzz/{name}"] + args),
        ("kubelet", ("tests/kubelet/scenarios/*.sh",), lambda _, name, args: ["tests/kubelet/kubelet.sh", "run", name] + args),
        ("lab", ("tests/lab/scenarios/*.sh",), lambda _, name, args: ["tests/lab/lab.sh", "run", "--forward", f"{LAB_PORT}:9907"] + args_of_lab(name, args)),
        ("cluster", ("tests/lab/cluster/scenarios/*.sh",), lambda _, name, args: ["tests/lab/lab.sh", "cluster", name] + args),
    )
    for kind, patterns, command in rows:
        for path in sorted(path for pattern in patterns for path in glob.glob(pattern, root_dir=TOP)):
            name = os.path.basename(path).rsplit(".", 1)[0]
            judge = kind in ("interop", "ship", "page")
            # A file without `run:` in a judges' folder is a helper. Host halves and demos are no tests.
            if name.endswith(".host") or name.startswith("demo") or judge and not read_head(os.path.join(TOP, path))["run"]:
                continue
            needs = (f"make:build/fuzz/{name}",) if kind == "fuzz" else ()
            yield from jobs_of_file(KINDS[kind], path, lambda args, path=path, name=name: command(path, name, args), name, needs)


LAB_PORT = os.environ.get("LAB_PORT", "0")  # on 127.0.0.1, for scenarios with a part on the host; 0 = any that is free


def args_of_lab(name, args):
    """Options of lab.sh come before the scenario's name: `when: soak --kernel 6.1 -- ARG`."""
    if args and args[0].startswith("--") and "--" not in args:
        raise ValueError(f"{name}: 'when: ... {' '.join(args)}' has options of lab.sh, but no -- after them")
    options = args[:args.index("--")] if "--" in args else []
    return options + [name] + args[len(options) + bool(options):]


def all_jobs():
    order = list(KINDS)
    found = [*unit_jobs(), *lint_jobs(), *program_jobs(), *file_jobs()]
    return sorted(found, key=lambda job: order.index(job.kind.name))
