"""What judges end with: every check runs, whatever became of the others, and the last line counts them."""
import time
import traceback


def run_checks(functions, only=()):
    """Those with these names, or all; the exit status."""
    passed = failed = 0
    for function in functions:
        if only and function.__name__ not in only:
            continue
        began = time.monotonic()
        try:
            function()
            passed += 1
            print(f"ok     {function.__name__} {time.monotonic() - began:.1f} s", flush=True)
        except Exception as error:  # whatever it is, the next one runs
            failed += 1
            # On one line: who keeps only the end of a log shall see what it was.
            print(f"FAILED {function.__name__}: {' '.join(repr(error).split())[:300]}", flush=True)
            traceback.print_exc()
    print(f"{passed} passed, {failed} failed", flush=True)
    return int(failed != 0)
