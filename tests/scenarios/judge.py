#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes every scenario and judges the verdicts of rocectl on it.

  judge.py ROCECTL [NAME...]     runs those whose name has one of the words in it
  judge.py --write FOLDER [NAME...]   writes the files instead

A scenario passes if it has each verdict that its header expects, with its severity, pod and onset, and no other. One line for each that fails,
"N passed, N failed" last.

run: {build}/rocectl
proves: daemon/diagnosis
when: core
"""
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import causes  # noqa: E402,F401
import healthy  # noqa: E402,F401
import imperfect  # noqa: E402,F401
import mistakes  # noqa: E402,F401
import pods  # noqa: E402,F401
import reports  # noqa: E402,F401
import stories  # noqa: E402,F401
import world  # noqa: E402

LEVELS = {"info": 1, "warning": 2, "critical": 3}


def made(words):
    """Every scenario whose name has one of the words in it."""
    for maker in world.ALL:
        result = maker()
        for s in result if isinstance(result, list) else [result]:
            if not words or any(w in s.name for w in words):
                yield s


def pods_of(verdict, key="pods"):
    return [f"{p['namespace']}/{p['name']}" for p in verdict[key]]


def entries_of(document):
    """{(device, port, cause): severity, onsets, times of opening and closing, pods, evidence}."""
    found = {}
    for event in document["events"]:
        v = event["verdict"]
        entry = found.setdefault((v["device"], v["port"], v["cause"]), {"level": 0, "onsets": [], "opened": [], "closed": [], "reasons": [], "remarks": []})
        entry["remarks"].append(v["remark"])
        entry.update(verdict=v, level=max(entry["level"], v["level"]))
        if event["event"] == "opened":
            entry["onsets"].append(event["onset"])
            entry["opened"].append(event["t"])
        if event["event"] == "closed":
            entry["closed"].append(event["t"])
            entry["reasons"].append(event["reason"])
    for v in document["end"]["verdicts"]:
        found[(v["device"], v["port"], v["cause"])]["verdict"] = v
    return found


def check_expected(wanted, entry):
    """Yields the mistakes of an expected verdict."""
    if entry is None:
        yield "is not there"
        return
    v = entry["verdict"]
    if entry["level"] != LEVELS[wanted["severity"]]:
        yield f"is of level {entry['level']}, not {wanted['severity']}"
    low, high = wanted["onset"]
    if not low <= entry["onsets"][0] <= high:
        yield f"began at {entry['onsets'][0]}, not from {low} to {high}"
    if wanted.get("pod") and wanted["pod"] not in pods_of(v):
        yield f"names {pods_of(v)}, not {wanted['pod']}"
    if pods_of(v, "causedBy") != wanted.get("caused_by", []):
        yield f"is caused by {pods_of(v, 'causedBy')}, not {wanted.get('caused_by')}"
    if "onsets" in wanted and len(entry["onsets"]) != wanted["onsets"]:
        yield f"began {len(entry['onsets'])} times, not {wanted['onsets']}"
    if "opened_by" in wanted and entry["opened"][0] > wanted["opened_by"]:
        yield f"was reported at {entry['opened'][0]}, not by {wanted['opened_by']}"
    if "closed" in wanted and not (entry["closed"] and wanted["closed"][0] <= entry["closed"][-1] <= wanted["closed"][1]):
        yield f"ended at {entry['closed']}, not from {wanted['closed'][0]} to {wanted['closed'][1]}"
    if "reason" in wanted and wanted["reason"] not in entry["reasons"]:
        yield f"ended as {entry['reasons']}, not {wanted['reason']}"
    if "remark" in wanted and not any(wanted["remark"] in r if r and wanted["remark"] else r == wanted["remark"] for r in entry["remarks"]):
        yield f"remarks {entry['remarks']}, not {wanted['remark']!r}"
    if wanted.get("open_at_end") and len(entry["closed"]) == len(entry["opened"]):
        yield "is not open at the end"
    for key in ("explains", "first_moved", "peer", "evidence"):
        if key in wanted and wanted[key] not in {"explains": v["symptoms"], "first_moved": v["firstMoved"] or "", "peer": v["peer"] or "",
                                                 "evidence": " ".join(e["name"] for e in v["evidence"])}[key]:
            yield f"{key}: {wanted[key]} is missing"


def check_evidence(verdict):
    """Yields evidence that cannot be true, or that is not readable."""
    for e in verdict["evidence"]:
        if e["value"] is not None and e["value"] < 0:
            yield f"is negative: {e['name']} = {e['value']}"
        if (e["unit"] or "").startswith("mask") and (not e["word"] or e["threshold"] is not None):
            yield f"is a bit mask without its bits, or with a limit: {e['name']}"


def judge(header, document, complaints):
    """Yields all mistakes."""
    found = entries_of(document)
    more = header.get("judge", {})
    for verdict in [event["verdict"] for event in document["events"]] + document["end"]["verdicts"]:
        for problem in check_evidence(verdict):
            yield f"evidence of {verdict['cause']} on {verdict['device']} {problem}"
    wanted = header["expect"] if isinstance(header["expect"], list) else []
    for w in wanted:
        key = (w["device"], w["port"], w["cause"])
        for problem in check_expected(w, found.pop(key, None)):
            yield f"{w['cause']} on {w['device']} {problem}"
    for (device, _, cause), entry in found.items():
        if entry["opened"] and cause not in more.get("may", []) and entry["reasons"] != ["explained"]:
            yield f"{cause} on {device} was reported at {entry['opened']}, but is wrong"
    for (device, cause) in more.get("undecided", []):
        if not any(u["device"] == device and u["cause"] == cause for u in document["end"]["undecided"]):
            yield f"{cause} on {device} is not reported as undecided"
    for device in more.get("clear", []):
        if not any(c["device"] == device for c in document["end"]["notTheNetwork"]):
            yield f"{device} is not reported as clear"
    for device, watch in more.get("watch", {}).items():
        if not any(p["device"] == device and p["watch"] == watch for p in document["end"]["ports"]):
            yield f"{device} is not reported as {watch}"
    for device, n in more.get("affected", {}).items():
        if not any(v["device"] == device and (v["podCount"], len(set(pods_of(v)))) == (n, n) for v in document["end"]["verdicts"]):
            yield f"{device} does not affect {n} pods"
    for text in more.get("complaints", []):
        if text not in complaints:
            yield f"there is no complaint about {text!r}: {complaints[:200]!r}"


def run(rocectl, s):
    """(name, list of problems)"""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.write(s.text())
        file.flush()
        done = subprocess.run([rocectl, "diagnose", "--replay", file.name, "-o", "json"], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 4, 5):  # 4, 5: the worst verdict is a warning, is critical
        return s.name, [f"exit {done.returncode}: {done.stderr[-300:]}"]
    return s.name, list(judge(s.header, json.loads(done.stdout), done.stderr))


def write(folder, words):
    os.makedirs(folder, exist_ok=True)
    for s in made(words):
        with open(os.path.join(folder, f"{s.name}.jsonl"), "w", encoding="utf-8") as file:
            file.write(s.text())


def main():
    if sys.argv[1] == "--write":
        write(sys.argv[2], sys.argv[3:])
        return 0
    failed = passed = 0
    with ThreadPoolExecutor(2) as pool:
        for name, problems in pool.map(lambda s: run(sys.argv[1], s), made(sys.argv[2:])):
            passed += not problems
            failed += bool(problems)
            for problem in problems:
                print(f"not ok - {name}: {problem}")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


sys.exit(main())
