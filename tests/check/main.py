#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of the project. Prints "N passed, N failed[, N skipped]" as the last line.

  check.sh                     the core of every kind, ten minutes on two idle cores
  check.sh --ci                as CI: the core, the linters, the tests that the change since the turn began touches, and a third of the rest
  check.sh --all               every test with its largest arguments; hours
  check.sh KIND[/TEST]...      only these, KIND one of: KINDS; with --all as --all runs them
      --list                   print the chosen tests and the reasons, and run nothing
      --turn N, --base COMMIT  for --ci: instead of .ci/turn and the commit that wrote it
      --until-red              end with the first failure

CI_MINUTES limits the time (80 with --ci, otherwise unlimited). Tests that are left out for lack of time are named and counted as skipped, tests of the
core as failed.
"""
import argparse
import collections
import os
import shutil
import signal
import sys
import time

import choice
import history
import jobs as jobs_of
import run
from usual import OF_KIND, Usual


def arguments(argv):
    usage = __doc__.replace("KIND one of: KINDS", "KIND one of: " + " ".join(jobs_of.KINDS))
    if {"-h", "--help"} & set(argv):
        print(usage, end="")
        sys.exit()
    parser = argparse.ArgumentParser(usage="see check.sh --help", add_help=False, allow_abbrev=False)
    parser.add_argument("--ci", action="store_true")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--until-red", action="store_true")
    parser.add_argument("--turn", type=int)
    parser.add_argument("--base")
    parser.add_argument("names", nargs="*")
    return parser.parse_args(argv)


def chosen_by_ci(args, everything):
    turn, base, sentence = history.begun()
    if args.turn is not None:
        turn, sentence = args.turn, ""
    if args.base:
        base = args.base
    changed = history.changed_since(base)
    chosen = choice.choose(everything, changed, turn)
    n = collections.Counter(c.reason for c in chosen)
    if sentence:
        print(f"{sentence}: running the tests of all turns, as far as time permits")
    print(f"turn {'of all' if turn is None else turn % choice.N_TURNS + 1} of {choice.N_TURNS}; "
          + ("the change is unknown" if changed is None else f"{len(changed)} files changed")
          + f"; {len(chosen)} tests: {n['core']} of the core, {n['touched']} touched by the change, {n['turn']} in their turn")
    return chosen


def show(chosen):
    usual = Usual()
    for c in chosen:
        seconds = usual.seconds(c.job.title) or OF_KIND[c.job.kind.name]
        print(f"{c.reason:8} {seconds:6.0f} s  {c.job.title}")
    print(f"{len(chosen)} tests")


def interrupted(*_):
    raise KeyboardInterrupt


def main(argv):
    args = arguments(argv)
    os.chdir(jobs_of.TOP)
    everything = jobs_of.all_jobs()
    if args.names:
        try:
            chosen = choice.named(everything, args.names, args.all)
        except KeyError as unknown:
            sys.exit(f"check.sh: there is no test {unknown}; check.sh --list --all prints all of them")
    elif args.ci:
        chosen = chosen_by_ci(args, everything)
    else:
        chosen = choice.everything(everything) if args.all else choice.core_of(everything)
    if args.list:
        show(chosen)
        return 0
    minutes = os.environ.get("CI_MINUTES", "80" if args.ci else "")
    # check.sh may have installed packages before.
    began = time.monotonic() - max(0.0, time.time() - float(os.environ.get("CHECK_BEGAN", time.time())))
    shutil.rmtree(run.LOGS, ignore_errors=True)
    # SIGINT too: a background job of a shell ignores it.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, interrupted)
    return run.Run(chosen, float(minutes) * 60 if minutes else None, began, args.until_red).run()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
