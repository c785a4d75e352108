#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the daemon's verdicts on what nic_player.py played with those of replay on the same files.

  nic_verdicts.py FOLDER LOG      FOLDER/NAME.played.jsonl is a piece, FOLDER/NAME.replay.json rocectl's output for it, LOG the player's log

Two lines for each piece, of its verdicts and of its counters on the metrics page at the end: "ok NAME: WHAT" or "bad NAME: WHY"; then "# ..." lines with the delays of the verdicts.

The same causes on the same ports, with the same severities. An onset may differ by a sample: events about links and health arrive between two
samples, and count for one or the other. An onset about settings may be two more samples late: no event reports their changes, the daemon reads them every
second sample.
"""
import datetime
import glob
import json
import os
import re
import sys

TOLERANCE, TOLERANCE_OF_SETTINGS = 1, 3  # samples
LEVELS = ("", "info", "warning", "critical")


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


class Verdict:
    """The verdict on one (device, cause)."""

    def __init__(self, onset):
        self.level, self.onset = 0, onset  # onset: number of a sample
        self.explained = False

    def __str__(self):
        return f"{LEVELS[self.level]} from sample {self.onset} on"


def nearest(times, t):
    return min(range(len(times)), key=lambda i: abs(times[i] - t))


class Piece:
    """A file: its devices, the times of their samples (common to all), and the tolerance of its onsets."""

    def __init__(self, path):
        self.name = os.path.basename(path)[:-len(".played.jsonl")]
        with open(path, encoding="utf-8") as file:
            header, *lines = map(json.loads, file)
        self.devices = {port["device"] for port in header["ports"]}
        self.lines = {device: [line for line in lines if line["device"] == device] for device in self.devices}
        self.times = sorted({line["t"] for line in lines})
        self.tolerance = TOLERANCE_OF_SETTINGS if any("settings" in line for line in lines) else TOLERANCE


def by_replay(document, times):
    found = {}
    for event in document["events"]:
        verdict = event["verdict"]
        reported = found.setdefault((verdict["device"], verdict["cause"]), Verdict(nearest(times, event["onset"])))
        reported.level = max(reported.level, verdict["level"])
        reported.explained |= event["reason"] == "explained"
    return found


def by_daemon(log):
    found, times = {}, [sample["monotonic"] for sample in log["samples"]]
    for report in log["reports"]:
        for verdict in report["verdicts"]:
            reported = found.setdefault((verdict["device"], verdict["cause"]), Verdict(nearest(times, verdict["onsetMs"])))
            reported.level = max(reported.level, verdict["level"])
    for (device, cause), reported in found.items():
        reported.explained = any(is_of(e, "DiagnosisEnd", device, cause) and "explained" in e["message"] for e in log["events"])
    return found


def is_of(event, reason, device, cause):
    return event["reason"] == reason and re.match(rf"{device} port \d+: {cause}\b", event["message"])


def compare(wanted, found, tolerance):
    """Yields differences. A verdict that one side reports alone is accepted if it became a symptom of another cause."""
    for key in {**wanted, **found}:
        name = f"{key[1]} of {key[0]}"
        a, b = wanted.get(key), found.get(key)
        if not (a and b):
            if not (a or b).explained:
                yield f"{name} is reported by {'replay' if a else 'the daemon'} alone, {a or b}"
        elif a.level != b.level:
            yield f"{name} is {b}, not {a}"
        elif abs(a.onset - b.onset) > tolerance:
            yield f"{name} is {b}, not {a}"


def delays(log, wanted):
    """(cause, seconds from the change to the verdict)"""
    for (device, cause), reported in wanted.items():
        event = next((e for e in log["events"] if is_of(e, "DiagnosisOnset", device, cause)), None)
        if not event or reported.onset < 2:  # the change was before the daemon's start
            continue
        changes = log["changes"].get(device)
        changed = changes[0] if changes else log["samples"][reported.onset - 1]
        yield cause, (event_ms(event) - changed["wall"]) / 1000


def event_ms(event):
    return datetime.datetime.fromisoformat(event["first"].replace("Z", "+00:00")).timestamp() * 1000


LABELS = re.compile(r'(\w+)="([^"]*)"')
# Seconds that counters may grow after the last sample, at the last rate; samples for that rate; error of a count by rounded rates.
GOES_ON, END, ROUNDED = 60, 5, 100


def totals(page):
    """{(device, family, labels): value} of counters of ports."""
    found = {}
    for family, labels, value in re.findall(r"^(\w+_total)\{([^}]*)\} (\S+)$", page, re.M):
        labels = dict(LABELS.findall(labels))
        key = labels.pop("device", ""), family, frozenset((k, v) for k, v in labels.items() if k not in ("port", "source"))
        found[key] = max(found.get(key, 0), float(value))
    return found


def rate_at_end(lines, series):
    """The rate per second in the last samples; a counter that fell has restarted."""
    known = [(line["t"], line["values"][series]) for line in lines[-END:] if line["values"].get(series) is not None]
    return max((max(now - before, 0) / (t - since) for (since, before), (t, now) in zip(known, known[1:])), default=0)


def differing(piece, found):
    """Yields counters of the page that differ from the values played last."""
    for device, lines in piece.lines.items():
        last = lines[-1]
        for series in lines[0]["values"]:
            family, _, labels = series.partition("{")
            shown = found.get((device, family, frozenset(LABELS.findall(labels))))
            now = last["values"].get(series)
            if not family.endswith("_total"):
                continue
            if now is None or shown is None:
                if (now is None) != (shown is None):
                    yield f"{series} of {device} is {'there' if now is None else 'missing'}"
                continue
            scale = 1e-4 if "_seconds_" in family else 1
            most = now + rate_at_end(lines, series) * GOES_ON
            if not now * 0.999 - ROUNDED * scale <= shown <= most * 1.001 + ROUNDED * scale:
                yield f"{series} of {device} is {shown:.9g}, not {now:.9g} to {most:.9g}"


def main():
    folder, log = sys.argv[1], load(sys.argv[2])
    found, lines = by_daemon(log), []
    for piece in map(Piece, sorted(glob.glob(f"{folder}/*.played.jsonl"))):
        wanted = by_replay(load(f"{folder}/{piece.name}.replay.json"), piece.times)
        problems = list(compare(wanted, {key: reported for key, reported in found.items() if key[0] in piece.devices}, piece.tolerance))
        what = ", ".join(f"{cause} of {device}, {reported}" for (device, cause), reported in wanted.items()) or "silence"
        print(f"bad {piece.name}: {'; '.join(problems)}" if problems else f"ok {piece.name}: {what}")
        differ = list(differing(piece, totals(log["page"])))
        print(f"bad {piece.name}: {len(differ)} counters differ: {'; '.join(differ[:3])}" if differ else f"ok {piece.name}: counters are as played")
        lines += [f"# {piece.name}: {cause} reported {seconds:.2f} s after the change" for cause, seconds in delays(log, wanted)]
    for line in lines:
        print(line)


main()
