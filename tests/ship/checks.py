# SPDX-License-Identifier: Apache-2.0
"""What the judges of this folder share: a line for each check, and the count of both kinds last."""
import os
import sys

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
MONITORING = os.path.join(TOP, "k8s/deploy/monitoring")
failures, n_checks = 0, 0


def check(what, *problems):
    """Without problems, or with empty ones, it holds."""
    global failures, n_checks
    problems = [problem for problem in problems if problem]
    n_checks += 1
    failures += bool(problems)
    print(("not ok - " if problems else "ok - ") + what + "".join(f"\n    {problem}" for problem in problems))


def read(*path):
    """Of the project, or absolute."""
    with open(os.path.join(TOP, *path), encoding="utf-8") as f:
        return f.read()


def end():
    print(f"{n_checks - failures} passed, {failures} failed")
    sys.exit(failures > 0)
