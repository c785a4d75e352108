# SPDX-License-Identifier: Apache-2.0
"""Reads the turn and the files that have changed since its beginning from git."""
import os
import subprocess

from jobs import TOP

TURN_FILE = ".ci/turn"
# A turn that is older than this at the last commit belongs to an earlier change.
STALE_S = 6 * 3600


def git(*args):
    """Its output, or None."""
    out = subprocess.run(["git", *args], cwd=TOP, capture_output=True, text=True)
    return out.stdout.strip() if out.returncode == 0 else None


def read_turn():
    with open(os.path.join(TOP, TURN_FILE)) as f:
        return int(f.read())


def begun():
    """(turn, commit that began it, problem). None: unknown."""
    try:
        turn = read_turn()
    except (OSError, ValueError):
        return None, None, f"{TURN_FILE} cannot be read"
    base = git("log", "-1", "--format=%H", "--", TURN_FILE)
    if not base or git("rev-parse", "--is-shallow-repository") != "false":
        return turn, None, "the history does not reach back to the turn's beginning"
    times = [git("log", "-1", "--format=%ct", commit) for commit in (base, "HEAD")]
    if int(times[1]) - int(times[0]) > STALE_S:
        return None, base, f"turn {turn} began {(int(times[1]) - int(times[0])) // 3600} hours before the last commit (make turn)"
    return turn, base, ""


def changed_since(base):
    """Paths that differ from a commit, committed or not; None if they cannot be determined."""
    if base is None:
        return None
    tracked, new = git("diff", "--name-only", "--no-renames", base), git("ls-files", "--others", "--exclude-standard")
    return None if tracked is None or new is None else sorted(set(tracked.splitlines() + new.splitlines()))
