# SPDX-License-Identifier: Apache-2.0
"""Decides which task starts next. Pure: waiting and running tasks with their usual times in, one decision out."""
import dataclasses

PROCESSORS = 2.0

@dataclasses.dataclass(frozen=True)
class Task:
    """A test or a provision, as the schedule sees it."""
    key: str
    weight: float
    seconds: float  # usual, on two idle cores
    needs: tuple = ()  # keys of provisions that must be done before
    lock: str = ""  # tasks with the same lock never run together


def pace(ended):
    """The factor by which this machine is slower than usual, from (usual, taken) of ended tests. Starts near 1 and learns."""
    usual, taken = 60.0, 60.0
    for usual_s, taken_s in ended:
        usual, taken = usual + usual_s, taken + taken_s
    return max(0.5, taken / usual)


def fits(task, left_s, slowness):
    """True if it is likely to end within left_s; None: no limit."""
    return left_s is None or task.seconds * slowness <= left_s


def startable(task, running):
    used = sum(t.weight for t in running)
    return (not running or used + task.weight <= PROCESSORS + 1e-6) and not (task.lock and any(t.lock == task.lock for t in running))


def next_task(waiting, provisions, running, done):
    """The task to start now; None: wait until a running one ends.

    waiting: tests in their order. provisions: {key: Task}, those not yet begun. running: tasks. done: keys of finished provisions.
    A test whose provisions are being made is passed over. One that only lacks room is not, or large ones would never start.
    """
    for test in waiting:
        missing = [key for key in test.needs if key not in done]
        if not missing:
            return test if startable(test, running) else None
        for key in missing:
            if key in provisions and startable(provisions[key], running):
                return provisions[key]
    return None
