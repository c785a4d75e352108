#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Holds what the daemon said of what nic_player.py played against what replay says of the same files.

  nic_told.py FOLDER LOG      FOLDER/NAME.played.jsonl is a piece, FOLDER/NAME.replay.json what rocectl said of it, LOG the player's

Two lines for each piece, of its verdicts and of its counters on the metrics page at the end: "ok NAME: WHAT" or "bad NAME: WHY"; then "# ..." lines, how soon verdicts stood.

The same causes on the same ports, with the same severities. An onset may lie a sample beside: what the daemon hears of links and health comes between two
samples, and is in the one or the other. Of settings it may lie two samples later than that: nobody tells that they changed, the daemon asks for them every
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


class Told:
    """What was told of one (device, cause)."""

    def __init__(self, onset):
        self.level, self.onset = 0, onset  # onset: number of a sample
        self.explained = False

    def __str__(self):
        return f"{LEVELS[self.level]} from sample {self.onset} on"


def nearest(times, t):
    return min(range(len(times)), key=lambda i: abs(times[i] - t))


class Piece:
    """A file: whose ports, when they have samples (all of them at the same times), and how exactly onsets are known."""

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
        told = found.setdefault((verdict["device"], verdict["cause"]), Told(nearest(times, event["onset"])))
        told.level = max(told.level, verdict["level"])
        told.explained |= event["reason"] == "explained"
    return found


def by_daemon(log):
    found, times = {}, [sample["monotonic"] for sample in log["samples"]]
    for report in log["reports"]:
        for verdict in report["verdicts"]:
            told = found.setdefault((verdict["device"], verdict["cause"]), Told(nearest(times, verdict["onsetMs"])))
            told.level = max(told.level, verdict["level"])
    for (device, cause), told in found.items():
        told.explained = any(is_of(e, "DiagnosisEnd", device, cause) and "explained" in e["message"] for e in log["events"])
    return found


def is_of(event, reason, device, cause):
    return event["reason"] == reason and re.match(rf"{device} port \d+: {cause}\b", event["message"])


def compare(wanted, found, tolerance):
    """Yields what differs. What became a symptom of another cause soon is nobody's verdict."""
    for key in {**wanted, **found}:
        name = f"{key[1]} of {key[0]}"
        a, b = wanted.get(key), found.get(key)
        if not (a and b):
            if not (a or b).explained:
                yield f"{name} is told by {'replay' if a else 'the daemon'} alone, {a or b}"
        elif a.level != b.level:
            yield f"{name} is {b}, not {a}"
        elif abs(a.onset - b.onset) > tolerance:
            yield f"{name} is {b}, not {a}"


def delays(log, wanted):
    """(cause, seconds from what changed to when it was told)"""
    for (device, cause), told in wanted.items():
        event = next((e for e in log["events"] if is_of(e, "DiagnosisOnset", device, cause)), None)
        if not event or told.onset < 2:  # it was so before the daemon began
            continue
        changes = log["changes"].get(device)
        changed = changes[0] if changes else log["samples"][told.onset - 1]
        yield cause, (event_ms(event) - changed["wall"]) / 1000


def event_ms(event):
    return datetime.datetime.fromisoformat(event["first"].replace("Z", "+00:00")).timestamp() * 1000


LABELS = re.compile(r'(\w+)="([^"]*)"')
# Seconds that counters may have gone on after the last sample, as quickly as at the end; what rounding of rates makes of a count.
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
    """A second, in the last samples; a counter that fell began anew."""
    known = [(line["t"], line["values"][series]) for line in lines[-END:] if line["values"].get(series) is not None]
    return max((max(now - before, 0) / (t - since) for (since, before), (t, now) in zip(known, known[1:])), default=0)


def differing(piece, found):
    """Yields counters of the page that are not what was played last."""
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
        problems = list(compare(wanted, {key: told for key, told in found.items() if key[0] in piece.devices}, piece.tolerance))
        what = ", ".join(f"{cause} of {device}, {told}" for (device, cause), told in wanted.items()) or "silence"
        print(f"bad {piece.name}: {'; '.join(problems)}" if problems else f"ok {piece.name}: {what}")
        differ = list(differing(piece, totals(log["page"])))
        print(f"bad {piece.name}: {len(differ)} counters differ: {'; '.join(differ[:3])}" if differ else f"ok {piece.name}: counters are what was played")
        lines += [f"# {piece.name}: {cause} stood {seconds:.2f} s after what it is about had changed" for cause, seconds in delays(log, wanted)]
    for line in lines:
        print(line)


main()
