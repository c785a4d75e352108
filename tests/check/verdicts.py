# SPDX-License-Identifier: Apache-2.0
"""Reads a test's output: the numbers of passed, failed and skipped checks, and the lines that explain a failure."""
import dataclasses
import re


@dataclasses.dataclass
class Verdict:
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    note: str = ""  # printed after the count
    why: list = dataclasses.field(default_factory=list)  # the checks that failed
    figures: list = dataclasses.field(default_factory=list)  # lines that begin with "# "


def read_status(status, text):
    return Verdict(passed=int(status == 0), failed=int(status != 0), figures=re.findall(r"^# .*", text, re.M))


def read_cmocka(status, text):
    """A cmocka group: its tests are counted one by one."""
    passed = len(re.findall(r"^\[       OK \]", text, re.M))
    # cmocka prints each name twice: when the test fails and at the end.
    failed = sorted(set(re.findall(r"^\[  (?:FAILED |ERROR  ) \] (\w+)$", text, re.M)))
    skipped = set(re.findall(r"^\[  SKIPPED \] (\w+)$", text, re.M))
    n_failed = len(failed)
    if n_failed == 0 and (status != 0 or passed + len(skipped) == 0):
        n_failed, failed = 1, [f"exit status {status}, {passed} tests had passed"]
    reason = re.search(r"skipped: (.*)", text)
    return Verdict(passed, n_failed, len(skipped), reason[1] if skipped and reason else "", failed)


def read_checks(status, text):
    """A judge or a scenario: it counts its own checks in its last line."""
    counts = re.findall(r"^(\d+) passed, (\d+) failed", text, re.M)
    figures = re.findall(r"^# .*", text, re.M)
    # Lines of figures directly before a failed check are what it has printed about it.
    why = "\n".join(re.findall(r"^(?:# .*\n){0,5}(?:not ok|FAILED |failed \(status).*", text, re.M)).splitlines()
    if not counts:
        return Verdict(failed=1, why=why + [f"exit status {status}, and no count at the end"])
    passed, failed = map(int, counts[-1])
    if passed + failed == 0:
        failed, why = 1, why + ["no check has run"]
    if status != 0 and failed == 0:
        failed, why = 1, why + [f"exit status {status}"]
    return Verdict(passed, failed, 0, "", why, figures)


def read_fuzz(status, text):
    runs = re.search(r"number_of_executed_units: *(\d+)", text)
    return Verdict(int(status == 0), int(status != 0), 0, f"{runs[1]} runs" if runs else "")


READERS = {"status": read_status, "cmocka": read_cmocka, "checks": read_checks, "fuzz": read_fuzz}
