"""What starts next. Pure: what waits, what runs and how long things take in, one decision out."""
import dataclasses

PROCESSORS = 2.0
# While nothing is known of a test.
UNKNOWN_S = 20


@dataclasses.dataclass(frozen=True)
class Task:
    """A test or a provision, as the schedule sees it."""
    key: str
    weight: float
    seconds: float  # usual, on two idle cores
    needs: tuple = ()  # keys of tasks that have to end well before
    lock: str = ""  # no two with the same one at a time


def pace(ended):
    """How much slower than usual this machine is: (usual, taken) of what has ended. Little is known of it at first."""
    usual, taken = 60.0, 60.0
    for usual_s, taken_s in ended:
        usual, taken = usual + usual_s, taken + taken_s
    return max(0.5, taken / usual)


def fits(task, left_s, slowness):
    """Is it likely to end in the time that is left? Without a limit, left_s is None."""
    return left_s is None or task.seconds * slowness <= left_s


def startable(task, running):
    used = sum(t.weight for t in running)
    return (not running or used + task.weight <= PROCESSORS + 1e-6) and not (task.lock and any(t.lock == task.lock for t in running))


def next_task(waiting, provisions, running, done):
    """The task to start now, or None: wait for one that runs.

    waiting: tests in their order. provisions: {key: Task} of those not yet begun. running: tasks. done: keys of what has been provided.
    A test whose needs are being made is passed over, one that only finds no room is not: large ones would never start.
    """
    for test in waiting:
        missing = [key for key in test.needs if key not in done]
        if not missing:
            return test if startable(test, running) else None
        for key in missing:
            if key in provisions and startable(provisions[key], running):
                return provisions[key]
    return None
