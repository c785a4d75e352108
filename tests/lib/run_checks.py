# SPDX-License-Identifier: Apache-2.0
"""Runs a judge's checks: all of them, even if some fail, and prints their number in the last line."""
import os
import time
import traceback


def run_checks(functions, only=()):
    """Runs the checks with these names, or all, except those given as "-NAME"; returns the exit status."""
    passed = failed = 0
    without = [name[1:] for name in only if name.startswith("-")]
    only = [name for name in only if not name.startswith("-")]
    names = [function.__name__ for function in functions]
    for name in without:
        assert name in names, f"-{name}: there is no such check"
    for function in functions:
        if function.__name__ in without or only and function.__name__ not in only:
            continue
        began = time.monotonic()
        try:
            function()
            passed += 1
            print(f"ok     {function.__name__} {time.monotonic() - began:.1f} s", flush=True)
        except Exception as error:  # the next check must run, too
            failed += 1
            # On one line, so that the end of a log shows it. The first frame is this file's, the second the check's.
            frame = traceback.extract_tb(error.__traceback__)[1:2]
            where = f" ({os.path.basename(frame[0].filename)}:{frame[0].lineno})" if frame else ""
            print(f"FAILED {function.__name__}{where}: {' '.join(repr(error).split())[:300]}", flush=True)
            traceback.print_exc()
    print(f"{passed} passed, {failed} failed", flush=True)
    return int(failed != 0)
