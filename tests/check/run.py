# SPDX-License-Identifier: Apache-2.0
"""Runs the chosen tests, several at a time, within the time limit. Each test is one process and ends with one line."""
import collections
import os
import queue
import re
import signal
import subprocess
import threading
import time

import jobs as jobs_of
from provisions import provision
from schedule import Task, fits, next_task, pace
from usual import OF_KIND, Usual
from verdicts import READERS, Verdict

LOGS = os.path.join(jobs_of.TOP, "build/check")
TAIL_LINES = 40
# Running tests are stopped this long before the limit, so that their results can still be printed.
MARGIN_S = 20
PATIENCE = 4  # factor on a kind's timeout_s, for busy machines

# A test with this word in `needs:` calls make in this checkout: no other make may run at the same time.
BUILD_LOCK = "build-lock"

CONDITIONS = {
    "root": ("needs root", lambda: os.geteuid() == 0),
    "clang-14": ("the rules are written for clang-format 14 and clang-tidy 14", lambda: "version 14." in output_of("clang-format", "--version")),
}


def output_of(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout
    except OSError:
        return ""


def clean_environment():
    """Without the variables of an outer make, which would reach the makes of tests."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}


class Process:
    """A command whose output goes to a file. stop() ends it with all its children."""

    def __init__(self, command, log, timeout_s, ended):
        self.command, self.log, self.began, self.stopped = command, log, time.monotonic(), False
        with open(log, "wb") as f:
            self.process = subprocess.Popen(command, cwd=jobs_of.TOP, stdin=subprocess.DEVNULL, stdout=f, stderr=subprocess.STDOUT,
                                            env=clean_environment(), start_new_session=True)
        threading.Thread(target=self._wait, args=(timeout_s, ended), daemon=True).start()

    def _wait(self, timeout_s, ended):
        try:
            self.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self.stop()
        status = self.process.wait()
        self._signal(signal.SIGKILL)  # left-over children
        self.seconds = time.monotonic() - self.began
        ended(self, status)

    def _signal(self, number):
        try:
            os.killpg(self.process.pid, number)
        except OSError:
            pass

    def stop(self):
        self.stopped = True
        self._signal(signal.SIGTERM)
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self._signal(signal.SIGKILL)

    def text(self):
        with open(self.log, errors="replace") as f:
            return f.read()


class Run:
    def __init__(self, chosen, limit_s=None, began=None, until_red=False):
        """limit_s: time limit, counted from began (monotonic clock); None: none. until_red: stop at the first failure."""
        self.began = time.monotonic() if began is None else began
        self.end = None if limit_s is None else self.began + limit_s - MARGIN_S
        self.limit_s, self.until_red = limit_s, until_red
        self.usual = Usual()
        self.counts = Verdict()
        self.failures, self.left_out, self.took = [], [], collections.Counter()
        self.found = {}  # values of provisions: {"prometheus": FOLDER}
        self.done, self.broken = set(), set()  # provisions
        self.paces = []
        self.ended = queue.Queue()
        self.running = {}  # Process: (Task, Chosen or Provision)
        self.provisions, self.waiting = {}, []
        for c in chosen:
            self._take(c)

    # --- the plan ----------------------------------------------------------------------

    def _take(self, chosen):
        job = chosen.job
        for need in job.needs:
            if need in CONDITIONS and not CONDITIONS[need][1]():
                self._skip(job.title, CONDITIONS[need][0])
                return
        needs = tuple(need for need in job.needs if need not in CONDITIONS and need != BUILD_LOCK)
        for need in needs:
            if need not in self.provisions:
                p = provision(need)
                self.provisions[need] = (Task(need, 1, self.usual.seconds(p.title) or 10, lock="make" if p.makes else need), p)
        seconds = self.usual.seconds(job.title) or (int(job.command[-1]) if job.kind.name == "fuzz" and job.command[-1].isdigit() else OF_KIND[job.kind.name])
        self.waiting.append((Task(job.title, job.kind.weight, seconds, needs, "make" if job.command[0] == "make" or BUILD_LOCK in job.needs else ""), chosen))

    def time_left(self):
        return None if self.end is None else self.end - time.monotonic()

    # --- output ----------------------------------------------------------------------------------

    def say(self, word, text):
        print(f"{word:^6} {text}", flush=True)

    def _skip(self, label, why, core=False):
        if core:
            self._fail(label, [why])
            self.counts.failed += 1
        else:
            self.say("skip", f"{label}: {why}")
            self.counts.skipped += 1

    def _fail(self, label, why):
        self.say("FAILED", label)
        for line in why:
            print(f"    {line}", flush=True)
        self.failures.append((label, why))

    def _usually(self, name):
        seconds = self.usual.seconds(name)
        return "" if not seconds or seconds < 5 else f", usually {seconds:.0f} s" if seconds < 90 else f", usually {seconds / 60:.0f} min"

    # --- execution -----------------------------------------------------------------------------------

    def run(self):
        """Returns the exit status, when every chosen test has passed, failed or been skipped."""
        os.makedirs(LOGS, exist_ok=True)
        try:
            while self.waiting or self.running:
                while self._start_one():
                    pass
                if self.running:
                    self._wait_for_one()
        except KeyboardInterrupt:
            self._stop_all("interrupted")
        return self._sum_up()

    def _start_one(self):
        left = self.time_left()
        if left is not None and left <= 0 or self.until_red and self.failures:
            self._stop_all("out of time" if left is not None and left <= 0 else "a test has failed")
            return False
        self._drop_what_cannot_run(left)
        task = next_task([t for t, _ in self.waiting], {key: t for key, (t, _) in self.provisions.items()},
                         [t for t, _ in self.running.values()], self.done)
        if task is None:
            return False
        if task.key in self.provisions:
            self._start_provision(task, self.provisions.pop(task.key)[1])
        else:
            index = next(i for i, (t, _) in enumerate(self.waiting) if t is task)
            self._start_test(*self.waiting.pop(index))
        return True

    def _drop_what_cannot_run(self, left):
        """Skips tests whose provisions failed, and those that would not end in time."""
        kept, slowness = [], pace(self.paces)
        for task, chosen in self.waiting:
            broken = [need for need in task.needs if need in self.broken]
            ahead = sum(self.provisions[need][0].seconds for need in task.needs if need in self.provisions)
            if broken:
                self._skip(task.key, f"{broken[0]} failed")
            elif not fits(Task(task.key, 1, task.seconds + ahead), left, slowness):
                why = f"needs about {(task.seconds + ahead) * slowness:.0f} s ({slowness:.1f} times the usual), {left:.0f} of {self.limit_s:.0f} s are left"
                self.left_out.append(task.key)
                self._skip(task.key, "not enough time: " + why, chosen.core)
            else:
                kept.append((task, chosen))
        self.waiting = kept

    def _log(self, label):
        return os.path.join(LOGS, re.sub(r"[^A-Za-z0-9_.-]+", "-", label) + ".log")

    def _on_ended(self, process, status):
        self.ended.put((process, status))

    def _start_provision(self, task, p):
        if p.built and subprocess.run(p.built, cwd=jobs_of.TOP, capture_output=True, stdin=subprocess.DEVNULL, env=clean_environment()).returncode == 0:
            self.done.add(task.key)
            return
        if p.built:
            self.say("...", f"{p.title}, made once{self._usually(p.title)}")
        process = Process(p.command, self._log(p.title), 3600, self._on_ended)
        self.running[process] = (task, p)

    def _start_test(self, task, chosen):
        job = chosen.job
        command = [word for arg in job.command for word in jobs_of.expand(arg, self.found)]
        if task.seconds >= 10:
            self.say("...", task.key + self._usually(task.key))
        self.running[Process(command, self._log(task.key), PATIENCE * job.kind.timeout_s, self._on_ended)] = (task, chosen)

    def _wait_for_one(self):
        left = self.time_left()
        try:
            process, status = self.ended.get(timeout=None if left is None else max(0.1, left))
        except queue.Empty:
            return
        task, what = self.running.pop(process)
        self.took[task.key.split(" ")[0] if hasattr(what, "job") else "building"] += process.seconds
        if hasattr(what, "job"):
            self._judge(task, what, process, status)
        else:
            self._provided(task, what, process, status)

    def _provided(self, task, p, process, status):
        if status != 0:
            self.broken.add(task.key)
            self.counts.failed += 1
            self._fail(f"{p.title} (exit {status})", [])
            self._tail(process.text())
            return
        self.done.add(task.key)
        text = process.text().strip()
        if p.value:
            self.found[p.name] = text.splitlines()[-1]
        if process.seconds >= 2:
            self.usual.remember(p.title, process.seconds)
            if not p.built:
                self.say("ok", f"{p.title}, {process.seconds:.0f} s")

    def _tail(self, text):
        for line in text.splitlines()[-TAIL_LINES:]:
            print("        " + line, flush=True)

    def _judge(self, task, chosen, process, status):
        text = process.text()
        verdict = READERS[chosen.job.kind.reads](status, text)
        if process.stopped:
            verdict.why.append(f"stopped after {process.seconds:.0f} s without a result")
        for count in ("passed", "failed", "skipped"):
            setattr(self.counts, count, getattr(self.counts, count) + getattr(verdict, count))
        note = f"{verdict.skipped} skipped: {verdict.note}" if verdict.skipped else verdict.note
        count = f"{verdict.passed}{', ' if note else ''}{note}"
        if verdict.failed:
            self._fail(f"{task.key}: {verdict.failed} of {verdict.passed + verdict.failed} (exit {status})", verdict.why)
            self._tail(text)
            return
        self.say("ok", f"{task.key}: {count}" + (f", {process.seconds:.0f} s" if process.seconds >= 10 else ""))
        for line in verdict.figures:
            print("        " + line, flush=True)
        idle = self.usual.idle(task.key)
        if idle and idle >= 5:
            self.paces.append((idle, process.seconds))
        if process.seconds >= 2:
            self.usual.remember(task.key, process.seconds)

    def _stop_all(self, why):
        """Stops running tests, leaves out waiting ones, and names each."""
        for process, (task, what) in list(self.running.items()):
            process.stop()
            if hasattr(what, "job"):
                self._skip(task.key, f"ended after {time.monotonic() - process.began:.0f} s: {why}", what.core)
                self.left_out.append(task.key)
        self.running.clear()
        for task, chosen in self.waiting:
            self._skip(task.key, why, chosen.core)
            self.left_out.append(task.key)
        self.waiting = []

    def _sum_up(self):
        print("took: " + ", ".join(f"{kind} {seconds:.0f} s" for kind, seconds in self.took.most_common())
              + f"; {(time.monotonic() - self.began) / 60:.1f} min in all, at {pace(self.paces):.1f} times the usual pace", flush=True)
        if self.left_out:
            print("left out: " + ", ".join(self.left_out))
        if self.failures:
            print("failed:")
            for label, why in self.failures:
                print("\n".join([f"    {label}"] + [f"        {line}" for line in why]))
        counts = self.counts
        print(f"{counts.passed} passed, {counts.failed} failed" + (f", {counts.skipped} skipped" if counts.skipped else ""), flush=True)
        return int(counts.failed != 0)
