#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests tests/lint/lint.py with a small project: which sources are analyzed again after which change.

One line per check, "N passed, N failed" last.

run:
proves: tests/lint
when: turns
needs: lint-tools
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../ship"))
from checks import check, end  # noqa: E402

OPTIONS = {
    "clang-tidy": ["-Iinclude"],
    "cppcheck": ["--enable=warning", "--suppress=checkersReport", "-Iinclude"],
}
CONFIG = "Checks: '-*,clang-analyzer-*'\nWarningsAsErrors: '*'\nHeaderFilterRegex: '.*'\n"
FILES = {
    ".clang-tidy": CONFIG,
    "include/number.h": "static inline int number(void)\n{\n\treturn 1;\n}\n",
    "include/between.h": "#include <number.h>\n",
    "src/uses.c": '#include "between.h"\nint uses(void);\nint uses(void)\n{\n\treturn number();\n}\n',
    "src/alone.c": "int alone(int n);\nint alone(int n)\n{\n\treturn n;\n}\n",
}
SOURCES = ["src/uses.c", "src/alone.c"]
# Both analyzers find a null pointer that is read.
FAULT = "static inline int number(void)\n{\n\tint *p = 0;\n\treturn *p;\n}\n"
FAULTY = "int alone(int n);\nint alone(int n)\n{\n\tint *p = 0;\n\treturn *p + n;\n}\n"


def write(top, name, text):
    path = os.path.join(top, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def make_project(top):
    for name, text in FILES.items():
        write(top, name, text)


class Project:
    """A project in a folder, an analyzer and a cache."""

    def __init__(self, work, tool):
        self.top, self.cache, self.tool = os.path.join(work, "first"), os.path.join(work, "cache"), tool
        make_project(self.top)

    def lint(self, *more, top=None, **environment):
        """(exit status, sources analyzed, sources with findings, output)"""
        env = {**os.environ, "LINT_CACHE": self.cache, "LINT_ALL": "0", **environment}
        done = subprocess.run([sys.executable, os.path.join(HERE, "lint.py"), self.tool, *SOURCES, "--", *OPTIONS[self.tool], *more],
                              cwd=top or self.top, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", check=False)
        counts = re.search(r"^\S+: 2 sources, (\d+) analyzed, (\d+) with findings$", done.stdout, re.M)
        return (done.returncode, *(map(int, counts.groups()) if counts else (None, None)), done.stdout)

    def expect(self, what, status, analyzed, bad, *more, mentions="", **how):
        got = self.lint(*more, **how)
        check(f"{self.tool}: {what}", *[] if got[:3] == (status, analyzed, bad) and mentions in got[3] else
              [f"exit status, analyzed, with findings: {got[:3]}, expected {(status, analyzed, bad)}", got[3]])


def judge(work, tool):
    project = Project(work, tool)
    top = project.top
    project.expect("every source is analyzed at first", 0, 2, 0)
    project.expect("clean results are cached", 0, 0, 0)
    project.expect("LINT_ALL=1 analyzes every source", 0, 2, 0, LINT_ALL="1")
    project.expect("LINT_ALL=1 fills the cache", 0, 0, 0)

    write(top, "src/alone.c", FAULTY)
    project.expect("a fault in a source is found; the other source is not analyzed", 1, 1, 1, mentions="src/alone.c:5")
    project.expect("a finding is not cached", 1, 1, 1, mentions="src/alone.c:5")
    write(top, "src/alone.c", FILES["src/alone.c"])
    project.expect("the previous contents are still cached", 0, 0, 0)

    write(top, "include/number.h", FAULT)
    project.expect("a fault in a header of a header is found where it is included", 1, 1, 1, mentions="number.h:4")
    write(top, "include/number.h", FILES["include/number.h"])

    write(top, "src/number.h", FILES["include/number.h"] + "// another\n")
    project.expect("a file with the header's name outside the search path changes nothing", 0, 0, 0)
    write(top, "src/between.h", "#include <number.h>\n#define HIDES 1\n")
    project.expect("a new header that hides another one is analyzed", 0, 1, 0)
    for name in ("src/number.h", "src/between.h"):
        os.unlink(os.path.join(top, name))

    project.expect("another option: every source is analyzed", 0, 2, 0, "-DOTHER")
    second = os.path.join(work, "second", "folder")
    make_project(second)
    project.expect("a checkout in another folder has the same entries", 0, 0, 0, top=second)

    for entry in os.scandir(project.cache):
        os.utime(entry.path, (0, 0))
    write(top, "src/alone.c", FILES["src/alone.c"] + "// another\n")
    project.expect("a comment, which could suppress findings, is part of the source", 0, 1, 0)
    used = [entry for entry in os.scandir(project.cache) if entry.stat().st_mtime > 0]
    check(f"{tool}: entries without a hit for 30 days are removed, others are not", *[] if len(used) == len(os.listdir(project.cache)) == 2 else
          [f"{len(used)} used of {len(os.listdir(project.cache))}, expected 2 of 2"])

    without = os.path.join(work, "without")
    os.mkdir(without)
    project.expect("a missing tool is reported with its package", 1, None, None, PATH=without, mentions=f"{tool} is not installed; it is in the package {tool}")


def judge_tool_changes(work):
    """Configuration files, which only clang-tidy has, and changes that need a substitute for the analyzer."""
    project = Project(work, "clang-tidy")
    project.lint()
    write(project.top, ".clang-tidy", CONFIG.replace("'-*,clang-analyzer-*'", "'-*,clang-analyzer-*,portability-*'"))
    project.expect("another configuration: every source is analyzed", 0, 2, 0)
    write(project.top, "src/.clang-tidy", CONFIG)
    project.expect("a configuration of a folder: its sources are analyzed", 0, 2, 0)

    played = os.path.join(work, "played")
    path = f"{played}:{os.environ['PATH']}"
    script = os.path.join(played, "clang-tidy")
    for version, analyzed in (("1", 2), ("1", 0), ("2", 2)):
        write(played, "clang-tidy", f"#!/bin/sh\n[ $1 != --version ] || echo {version}\n")
        os.chmod(script, 0o755)
        project.expect(f"version {version}: {analyzed} are analyzed", 0, analyzed, 0, PATH=path)
    write(played, "clang-tidy", "#!/bin/sh\nif [ $1 = --version ]; then echo 3; else echo '// edited' >>$2; fi\n")
    project.expect("sources that change during the analysis are analyzed", 0, 2, 0, PATH=path)
    for name in SOURCES:
        write(project.top, name, FILES[name])
    project.expect("their previous contents are not cached", 0, 2, 0, PATH=path)
    write(played, "clang-tidy", "#!/bin/sh\nif [ $1 = --version ]; then echo 4; else kill -KILL $$; fi\n")
    project.expect("a tool that is killed is a finding", 1, 2, 2, PATH=path)


if __name__ == "__main__":
    for case in ("clang-tidy", "cppcheck", None):
        if case and not shutil.which(case):
            check(f"{case} is installed", "it is not")
            continue
        with tempfile.TemporaryDirectory() as folder:
            if case:
                judge(folder, case)
            else:
                judge_tool_changes(folder)
    end()
