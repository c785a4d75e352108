# SPDX-License-Identifier: Apache-2.0
"""Usual durations in seconds: checked in for two idle cores, and measured on this machine."""
import fcntl
import os

from jobs import TOP

CHECKED_IN = os.path.join(TOP, "tests/check.seconds")
CACHE = "/var/cache/rocelet-check"
# The default for a test without a record.
OF_KIND = {"unit": 1, "san": 2, "threads": 20, "fuzz": 5, "interop": 20, "ship": 30, "page": 100, "kubelet": 30, "lab": 90, "cluster": 600, "lint": 30}


def here():
    """The file with this machine's measurements."""
    try:
        os.makedirs(CACHE, exist_ok=True)
    except OSError:
        pass
    return os.path.join(CACHE, "seconds") if os.access(CACHE, os.W_OK) else os.path.join(TOP, "build/check.seconds")


def read(path):
    """{name: seconds}: a line for each, "SECONDS NAME"."""
    try:
        with open(path) as f:
            return {name.strip(): float(seconds) for seconds, _, name in (line.partition(" ") for line in f)}
    except (OSError, ValueError):
        return {}


class Usual:
    def __init__(self):
        self.checked_in, self.last = read(CHECKED_IN), read(here())

    def seconds(self, name):
        """This machine's measurement, else the checked-in one, else None."""
        return self.last.get(name, self.checked_in.get(name))

    def idle(self, name):
        return self.checked_in.get(name)

    def remember(self, name, seconds):
        self.last[name] = round(seconds, 1)
        path = here()
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path + ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            merged = {**read(path), name: self.last[name]}
            with open(path + ".new", "w") as f:
                f.writelines(f"{s:g} {n}\n" for n, s in sorted(merged.items()))
            os.replace(path + ".new", path)
