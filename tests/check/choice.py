# SPDX-License-Identifier: Apache-2.0
"""Chooses tests. Pure: jobs, changed files and the turn in, chosen jobs with their reasons out."""
import dataclasses
import zlib

N_TURNS = 3


@dataclasses.dataclass(frozen=True)
class Chosen:
    job: object
    reason: str  # "core", "touched", "turn" or "named"

    @property
    def core(self):
        return self.reason in ("core", "named")


def turn_of(job):
    """The turn in which a job runs. A function of its label alone, so that a new test moves no other."""
    return zlib.crc32(job.label.encode()) % N_TURNS


def touched(job, changed):
    """changed: paths; None: unknown, which counts as every path."""
    if changed is None:
        return True
    return any(path in job.files or any(folder == "." or path == folder or path.startswith(folder + "/") for folder in job.proves) for path in changed)


def without_subsets(chosen):
    """Drops the core variant of a test whose larger variant is chosen too; the larger one counts as core."""
    always = [c for c in chosen if c.reason == "core"]
    larger = {c.job.label: c for c in chosen if c.reason != "core"}
    kept = [dataclasses.replace(larger[c.job.label], reason="core") if c.job.label in larger else c for c in always]
    return kept + [c for c in chosen if c.reason != "core" and all(k.job is not c.job for k in kept)]


def choose(jobs, changed, turn):
    """The tests of a CI run, the most valuable first. turn: a number; None: unknown, which counts as every turn."""
    core = [Chosen(job, "core") for job in jobs if job.when in ("core", "ci")]
    rest = [job for job in jobs if job.when == "turns"]
    hit = [Chosen(job, "touched") for job in rest if touched(job, changed)]
    others = [Chosen(job, "turn") for job in rest if not touched(job, changed) and (turn is None or turn_of(job) == turn % N_TURNS)]
    return without_subsets(core + hit + others)


def core_of(jobs):
    """The tests of `make check`."""
    return [Chosen(job, "core") for job in jobs if job.when == "core"]


def named(jobs, names, most=False):
    """The tests of a kind, or "KIND/NAME", with the largest arguments that CI uses; soak's variants only if there are no others. most: as in everything()."""
    chosen = []
    for name in names:
        kind, _, test = name.partition("/")
        found = [job for job in jobs if job.kind.name == kind and test in ("", job.name)]
        if not found:
            raise KeyError(name)
        if most:
            chosen += everything(found)
            continue
        widest = [job for job in found if job.when == "turns" or not any(o.label == job.label and o.when == "turns" for o in found)]
        regular = [job for job in widest if job.when != "soak"]
        chosen += [Chosen(job, "named") for job in regular or widest]
    return chosen


def everything(jobs):
    """The tests of `make soak`: each with the largest arguments in its head."""
    rank = {"core": 0, "ci": 0, "turns": 1, "soak": 2}
    best = {}
    for job in jobs:
        best.setdefault(job.label, []).append(job)
    return [Chosen(job, "named") for same in best.values() for top in [max(rank[job.when] for job in same)] for job in same if rank[job.when] == top]
