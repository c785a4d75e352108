# SPDX-License-Identifier: Apache-2.0
"""Shared by the judges of this folder: a line for each check, and the counts last."""
import os
import sys

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
MONITORING = os.path.join(TOP, "k8s/deploy/monitoring")
failures, n_checks = 0, 0


def check(what, *problems):
    """The check passes without problems, or if all are empty."""
    global failures, n_checks
    problems = [problem for problem in problems if problem]
    n_checks += 1
    failures += bool(problems)
    print(("not ok - " if problems else "ok - ") + what + "".join(f"\n    {problem}" for problem in problems))


def read(*path):
    """Reads a file; the path is relative to the project or absolute."""
    with open(os.path.join(TOP, *path), encoding="utf-8") as f:
        return f.read()


def end():
    print(f"{n_checks - failures} passed, {failures} failed")
    sys.exit(failures > 0)
