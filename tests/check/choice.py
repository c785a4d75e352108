"""Which tests run. Pure: jobs, changed files and the turn in, the chosen ones with their reasons out."""
import dataclasses
import zlib

N_TURNS = 3


@dataclasses.dataclass(frozen=True)
class Chosen:
    job: object
    reason: str  # "core", "touched", "turn" or "asked"

    @property
    def core(self):
        return self.reason in ("core", "asked")


def turn_of(job):
    """In which of three runs in a row a job takes its turn. By its label alone: no other test's arrival moves it."""
    return zlib.crc32(job.label.encode()) % N_TURNS


def touched(job, changed):
    """changed: paths, or None when they cannot be known, which may be any."""
    if changed is None:
        return True
    return any(path in job.files or any(folder == "." or path == folder or path.startswith(folder + "/") for folder in job.proves) for path in changed)


def without_subsets(chosen):
    """Of a test that was chosen with the core's arguments and with more, the larger one stays, in the core's place."""
    larger = {c.job.label: c for c in chosen if c.job.when != "core"}
    kept = [dataclasses.replace(larger[c.job.label], reason="core") if c.job.label in larger else c for c in chosen if c.job.when == "core"]
    return kept + [c for c in chosen if c.job.when != "core" and all(k.job is not c.job for k in kept)]


def choose(jobs, changed, turn):
    """What CI runs, the most valuable first. turn: a number, or None when it cannot be known, which is every turn's."""
    core = [Chosen(job, "core") for job in jobs if job.when == "core"]
    rest = [job for job in jobs if job.when == "turns"]
    hit = [Chosen(job, "touched") for job in rest if touched(job, changed)]
    others = [Chosen(job, "turn") for job in rest if not touched(job, changed) and (turn is None or turn_of(job) == turn % N_TURNS)]
    return without_subsets(core + hit + others)


def core_of(jobs):
    """What `make check` runs."""
    return [Chosen(job, "core") for job in jobs if job.when == "core"]


def named(jobs, names, most=False):
    """Those of a kind, or "KIND/NAME": the widest that a CI run may choose, soak's only if it is named and has no other; with most, as everything()."""
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
        chosen += [Chosen(job, "asked") for job in regular or widest]
    return chosen


def everything(jobs):
    """What `make soak` runs: each test with the most that its head knows."""
    rank = {"core": 0, "turns": 1, "soak": 2}
    best = {}
    for job in jobs:
        best.setdefault(job.label, []).append(job)
    return [Chosen(job, "asked") for same in best.values() for top in [max(rank[job.when] for job in same)] for job in same if rank[job.when] == top]
