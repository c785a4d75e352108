#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Judges how tests are chosen, scheduled and counted. One line per check, "N passed, N failed" last."""
import os
import sys
import tempfile
import types

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))

import choice
import jobs as jobs_of
import run
import table
import verdicts
from run_checks import run_checks
from schedule import Task, fits, next_task, pace


def job(name, when="turns", proves=("daemon/attach",), kind="lab", command=("true",), needs=()):
    return jobs_of.Job(jobs_of.KINDS[kind], name, when, tuple(command), proves, (f"tests/{name}.sh",), needs)


def labels(chosen, reason=None):
    return {c.job.label for c in chosen if reason in (None, c.reason)}


# --- choice ------------------------------------------------------------------------------------

def three_turns_in_a_row_run_everything():
    jobs = [job(f"t{i}") for i in range(50)] + [job("c", "core"), job("s", "soak")]
    seen = [labels(choice.choose(jobs, [], turn)) for turn in (7, 8, 9)]
    assert seen[0] | seen[1] | seen[2] == {j.label for j in jobs} - {"lab s"}
    assert all("lab c" in s for s in seen) and not seen[0] & seen[1] - {"lab c"}
    assert min(map(len, seen)) > 8, "one turn has too few tests"


def a_new_test_moves_no_other():
    old = [job(f"t{i}") for i in range(20)]
    before = labels(choice.choose(old, [], 1))
    assert before == labels(choice.choose([job("new")] + old, [], 1)) - {"lab new"}


def a_change_selects_what_proves_its_folder():
    jobs = [job("a"), job("b", proves=("daemon/http",)), job("c", proves=("daemon/attach/ipam",)), job("d", proves=(".",))]

    def hit(*changed):
        return labels(choice.choose(jobs, list(changed), 0), "touched")
    assert hit("daemon/attach/ipam/plugin_sandbox.c") == {"lab a", "lab c", "lab d"}
    assert hit("daemon/attach_other.c") == {"lab d"}, "a folder is not a prefix of a name"
    assert hit("tests/b.sh") == {"lab b", "lab d"}, "its own file"
    assert labels(choice.choose(jobs, None, 0), "touched") == {j.label for j in jobs}, "unknown is every path"


def an_unknown_turn_is_every_turn():
    jobs = [job(f"t{i}") for i in range(20)]
    assert labels(choice.choose(jobs, [], None)) == {j.label for j in jobs}


def of_two_variants_the_larger_runs_once_and_counts_as_core():
    jobs = [job("crash", "core", command=("few",)), job("crash", "turns", command=("many",)), job("crash", "soak")]
    chosen = choice.choose(jobs, ["daemon/attach/engine.c"], 0)
    assert [(c.job.command, c.core) for c in chosen] == [(("many",), True)]
    missed = choice.choose(jobs, [], choice.turn_of(jobs[1]) + 1)
    assert [(c.job.command, c.core) for c in missed] == [(("few",), True)]


def names_select():
    jobs = [job("x", "core"), job("x", "turns", command=("more",)), job("y", "soak"), job("z", kind="ship")]
    assert [c.job.command for c in choice.named(jobs, ["lab/x"])] == [("more",)]
    assert labels(choice.named(jobs, ["lab/y"])) == {"lab y"}
    assert labels(choice.named(jobs, ["lab"])) == {"lab x"}, "a kind's soak runs only when it is named"
    assert labels(choice.everything(jobs)) == {"lab x", "lab y", "ship z"} == labels(choice.named(jobs, ["lab", "ship"], most=True))
    try:
        choice.named(jobs, ["lab/unknown"])
        raise AssertionError("an unknown name was accepted")
    except KeyError:
        pass


# --- schedule ----------------------------------------------------------------------------------

def room_and_order():
    big, small, tiny = Task("big", 2, 1), Task("small", 1, 1), Task("tiny", 0.3, 1)
    assert next_task([big, small], {}, [], set()) is big
    assert next_task([big, small], {}, [tiny], set()) is None, "a large one is waited for, or it would never start"
    assert next_task([small, big], {}, [small, tiny], set()) is None
    assert next_task([tiny], {}, [small, tiny], set()) is tiny
    assert next_task([Task("huge", 9, 1)], {}, [], set()).key == "huge", "whatever it weighs, alone it runs"


def provisions_are_made_once_and_waited_for():
    program = Task("make:x", 1, 1, lock="make")
    first, second = Task("first", 0.3, 1, ("make:x",)), Task("second", 0.3, 1)
    assert next_task([first, second], {"make:x": program}, [], set()) is program
    assert next_task([first, second], {}, [program], set()) is second, "a test that does not need it starts"
    assert next_task([first, second], {}, [], {"make:x"}) is first
    other = Task("make:y", 1, 1, lock="make")
    assert next_task([Task("third", 1, 1, ("make:y",))], {"make:y": other}, [program], set()) is None, "one make at a time"


def remaining_time():
    assert fits(Task("t", 1, 100), None, 5)
    assert fits(Task("t", 1, 100), 200, 2) and not fits(Task("t", 1, 100), 199, 2)
    assert pace([]) == 1 and 1.9 < pace([(600, 1200)]) < 2.1
    assert pace([(1, 30)]) < 1.5, "one short test has little weight"


# --- verdicts ----------------------------------------------------------------------------------

def cmocka_counts():
    v = verdicts.read_cmocka(1, "[       OK ] a\n[  FAILED  ] b\n[  FAILED  ] b\n[  SKIPPED ] c\nskipped: no root\n")
    assert (v.passed, v.failed, v.skipped, v.why, v.note) == (1, 1, 1, ["b"], "no root")
    assert verdicts.read_cmocka(0, "").failed == 1, "no test ran"
    assert verdicts.read_cmocka(139, "[       OK ] a\n").failed == 1, "it crashed"


def checks_count():
    assert verdicts.read_checks(0, "ok - a\n3 passed, 0 failed\n").passed == 3
    assert verdicts.read_checks(1, "3 passed, 0 failed\n").failed == 1, "a status counts"
    assert verdicts.read_checks(0, "ok - a\n").failed == 1, "it was cut off"
    assert verdicts.read_checks(0, "0 passed, 0 failed\n").failed == 1, "no check ran"
    v = verdicts.read_checks(1, "not ok - a\n# 5 ms\n2 passed, 1 failed\n")
    assert v.why == ["not ok - a"] and v.figures == ["# 5 ms"]
    v = verdicts.read_checks(1, "# far\nok - a\n# what was found\nnot ok - b\n1 passed, 1 failed\n")
    assert v.why == ["# what was found", "not ok - b"], "what a check prints about itself is before its line"


# --- heads -------------------------------------------------------------------------------------

def heads_are_read():
    with tempfile.NamedTemporaryFile("w", suffix=".c") as f:
        f.write("/* Any bytes.\n *\n * proves: k8s/rpc hw\n * when: core 2\n * when: turns 10 */\nint proves;\n")
        f.flush()
        head = jobs_of.read_head(f.name)
    assert head["proves"] == [["k8s/rpc", "hw"]] and head["when"] == [["core", "2"], ["turns", "10"]]


def every_test_has_a_head_and_every_promise_a_proof():
    everything = jobs_of.all_jobs()
    assert len({(j.label, j.when, j.command) for j in everything}) == len(everything)
    assert list(table.faults(table.read_promises(), table.whens(everything))) == []
    for j in everything:
        for need in j.needs:
            assert need in run.CONDITIONS or need == run.BUILD_LOCK or run.provision(need)


def a_promise_without_proof_is_found():
    when = {"lab a": "turns", "lab s": "soak"}
    found = list(table.faults([("README.md", "no such words", ["lab a"]), ("README.md", "RoCE", ["lab x"]), ("README.md", "RDMA", ["lab s"])], when))
    for words in ("does not contain", "no test lab x", "only make soak", "nothing in promises.txt quotes"):
        assert any(words in fault for fault in found), words


# --- a whole run -------------------------------------------------------------------------------

class Quiet(run.Run):
    def say(self, word, text):
        self.__dict__.setdefault("said", []).append((word, text))

    def _tail(self, text):
        pass


def ran(jobs, limit_s=None, usual=None, core=True, **more):
    chosen = [choice.Chosen(j, "core" if core else "turn") for j in jobs]
    r = Quiet([], limit_s, **more)
    r.usual = types.SimpleNamespace(seconds=lambda name: (usual or {}).get(name), idle=lambda name: None, remember=lambda *_: None)
    for c in chosen:
        r._take(c)
    with open(os.devnull, "w") as null:
        stdout, sys.stdout = sys.stdout, null
        try:
            return r.run(), r
        finally:
            sys.stdout = stdout


def sh(name, script, kind="ship", **more):
    return job(name, kind=kind, command=("sh", "-c", script), **more)


def everything_that_was_chosen_is_counted():
    status, r = ran([sh("good", "echo '2 passed, 0 failed'"), sh("bad", "echo 'not ok - x'; echo '1 passed, 1 failed'; exit 1")])
    assert status == 1 and (r.counts.passed, r.counts.failed) == (3, 1) and r.failures[0][1] == ["not ok - x"]


def without_time_the_core_fails_and_the_rest_is_skipped():
    usual = {"ship long": 1000.0}
    status, r = ran([sh("long", "echo '1 passed, 0 failed'")], 60, usual, core=False)
    assert status == 0 and r.counts.skipped == 1 and r.left_out == ["ship long"]
    status, r = ran([sh("long", "echo '1 passed, 0 failed'")], 60, usual, core=True)
    assert status == 1 and r.counts.failed == 1


def running_tests_are_ended_with_all_children_when_time_is_up():
    status, r = ran([sh("stuck", "sleep 1000 & wait")], run.MARGIN_S + 1, {"ship stuck": 0.1}, core=False)
    assert status == 0 and r.counts.skipped == 1 and r.left_out == ["ship stuck"]


def until_red_ends_with_the_first_failure():
    status, r = ran([sh("bad", "exit 1"), sh("slow", "sleep 1000"), sh("never", "sleep 1000")], until_red=True, core=False)
    assert status == 1 and r.counts.failed == 1 and r.counts.skipped == 2


def a_test_whose_provision_is_broken_is_not_run():
    run.provision.__globals__["PROVISIONS"]["broken"] = run.provision("image").__class__("broken", "broken thing", ("false",))
    status, r = ran([sh("needy", "echo '1 passed, 0 failed'", needs=("broken",))])
    assert status == 1 and (r.counts.passed, r.counts.failed, r.counts.skipped) == (0, 1, 1)


if __name__ == "__main__":
    checks = [f for f in list(globals().values()) if isinstance(f, types.FunctionType) and f.__module__ == "__main__" and f.__code__.co_argcount == 0
              and f.__name__ not in ("run_checks",)]
    sys.exit(run_checks(checks, sys.argv[1:]))
