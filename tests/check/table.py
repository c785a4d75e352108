#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/README.md, the table of tests and promises, from the heads of the test files and promises.txt.

  table.py            writes it
  table.py --check    fails if the file is out of date or a promise has no test
"""
import collections
import os
import re
import sys

import choice
import jobs as jobs_of

README = os.path.join(jobs_of.TOP, "tests/README.md")
PROMISES = os.path.join(jobs_of.TOP, "tests/check/promises.txt")
DOCUMENTS = ("README.md", "SECURITY.md")
PROMISING = re.compile(r"\b(always|never|clean|no pod)\b", re.I)

INTRODUCTION = """# The tests

`make check` runs the core of every kind of test, and `make soak` runs all tests. CI
(`tests/check.sh --ci`) runs

* the core and the linters;
* the tests of the folders that the current change touches;
* a third of the rest, except the tests marked *soak*. The file `.ci/turn` has the number of this
  third, the *turn*. Run `make turn` after a merge: it begins the next turn, and CI compares later
  changes with its commit.

`tests/check.sh --list --ci` prints the chosen tests, and why; `tests/check.sh KIND/TEST` runs one.

`make golden` generates this page from the heads of the test files (`proves:`, `when:`; see
`check/jobs.py`) and from `check/promises.txt`.
"""


def plain(text):
    return " ".join(text.split())


def document(name):
    with open(os.path.join(jobs_of.TOP, name)) as f:
        return plain(re.sub(r"```.*?```", "", f.read(), flags=re.S))


def read_promises():
    """[(document, quotation, [test...])]"""
    found = []
    with open(PROMISES) as f:
        for line in f:
            if line.startswith("\t"):
                found[-1][2].append(line.strip())
            elif line.strip() and not line.startswith("#"):
                name, _, quotation = line.strip().partition(": ")
                found.append((name, quotation, []))
    return found


def whens(everything):
    """{label: the most frequent `when`}"""
    best = {}
    for job in everything:
        best.setdefault(job.label, []).append(job.when)
    return {label: min(found, key=jobs_of.WHENS.index) for label, found in best.items()}


def faults(promises, when):
    """The problems of the list of promises, a sentence each."""
    for name, quotation, tests in promises:
        if quotation not in document(name):
            yield f"{name} does not contain: {quotation}"
        if not tests:
            yield f"no test proves: {quotation}"
        for test in tests:
            if test not in when:
                yield f"{quotation}: there is no test {test}"
        if tests and all(when.get(test) == "soak" for test in tests):
            yield f"only make soak proves: {quotation}"
    for name in DOCUMENTS:
        text = document(name)
        quoted = [m.span() for d, quotation, _ in promises if d == name for m in re.finditer(re.escape(quotation), text)]
        for word in PROMISING.finditer(text):
            sentence = text[max(text.rfind(". ", 0, word.start()), text.rfind("|", 0, word.start())) + 1:][:200]
            if not any(start <= word.start() < end for start, end in quoted):
                yield f"{name}: nothing in promises.txt quotes the '{word[0]}' of: {sentence}"


def rows(everything, when):
    files = collections.OrderedDict()
    for job in everything:
        if job.kind.name not in ("unit", "san", "threads", "lint"):
            files.setdefault((job.kind.name, job.name), job)
    for (kind, name), job in files.items():
        path = job.files[0].removeprefix("tests/")
        yield f"| {kind} | [{name}]({path}) | {' '.join(f'`{p}`' for p in job.proves)} | {describe(job.label, when[job.label])} |"


def describe(label, when):
    turn = next((choice.turn_of(job) for job in EVERYTHING if job.label == label and job.when == "turns"), None)
    if when == "core":
        return "core" if turn is None else f"core; with more: turn {turn + 1}"
    if when == "ci":
        return "every CI run"
    return "soak" if when == "soak" else f"turn {turn + 1}"


def made(everything, promises, when):
    lines = [INTRODUCTION, "## Tests\n", "The table does not list the unit tests. Each tests the folder of its name, and nearly all are core.\nUnder sanitizers most of them run in one turn of three.\n",
             "| kind | test | proves | when |", "|---|---|---|---|", *rows(everything, when), "", "## Promises\n",
             "CI tests each promise at least as often as the last column says: in every run, or once in three runs\nwith a turn each.\n", "| document | promise | tests | at least every |", "|---|---|---|---|"]
    for name, quotation, tests in promises:
        often = "run" if any(when.get(test) in ("core", "ci") for test in tests) else f"{choice.N_TURNS} runs"
        lines.append(f"| {name} | {quotation.replace('|', '/').replace('](docs/', '](../docs/')} | {', '.join(tests)} | {often} |")
    return "\n".join(lines) + "\n"


EVERYTHING = jobs_of.all_jobs()


def main():
    promises, when = read_promises(), whens(EVERYTHING)
    problems = list(faults(promises, when))
    text = made(EVERYTHING, promises, when)
    if sys.argv[1:] == ["--check"]:
        with open(README) as f:
            if f.read() != text:
                problems.append("tests/README.md differs from the heads of the tests: make golden")
    else:
        with open(README, "w") as f:
            f.write(text)
    print("\n".join(problems), file=sys.stderr)
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
