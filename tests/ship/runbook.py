#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compares docs/runbook.md with its subjects: the causes of docs/reference/diagnosis.md, which is generated from the code, the metrics and commands that it
names, the alerts and the verdicts that link to it. Checks every link of the documents.

  runbook.py ROCECTL
  runbook.py --write    put the list of causes, and each cause's sentence and exclusions into its section, from docs/reference/diagnosis.md;
                        and its sentence and first advice into rules.yaml, for the texts of alerts

One line per check, "N passed, N failed" last.

run: {build}/rocectl
proves: docs/runbook.md docs/reference/diagnosis.md docs/reference/metrics.md
when: core
"""
import glob
import os
import re
import runpy
import subprocess
import sys
import textwrap

import yaml

from checks import MONITORING, TOP, check, end, read

RUNBOOK = "docs/runbook.md"
PARTS = ["Means", "Impact", "Confirm", "On the host", "On the switch", "Not to be confused with", "Ruled out if"]
URGENCIES = ["Now for the job", "Now", "Today; now if it is critical", "Today", "At the next maintenance", "No hurry", "None"]  # the longer one first
COLUMNS = 100
SCREEN = 40  # lines: a cause fits on a screen
CONTENTS = "## All causes\n"
RULES = "k8s/deploy/monitoring/rules.yaml"
FLEET = "docs/fleet.md"
ALL_ALERTS = re.compile(r"^(## Alerts\n\n(?:[^|#\n].*\n)+\n)(?:\|.*\n)*\n?", re.M)  # in the page of the fleet
ADVISED = re.compile(r"^(# causes\n).*?^(# end of causes\n)", re.M | re.S)  # in the rules


def one_line(text):
    return " ".join(text.split())


def by_heading(level, text):
    """{heading: text}"""
    parts = re.split(rf"^{'#' * level} (\w+)\n", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def causes():
    """{cause: (sentence, exclusions)}"""
    listed = re.search(r"^## Causes\n.*?(?=^## )", read("docs/reference/diagnosis.md"), re.M | re.S)[0]
    found = {}
    for name, text in by_heading(3, listed).items():
        sentence = one_line(re.search(r"^((?:> .*\n)+)", text, re.M)[1].replace("\n> ", "\n")[2:])
        ruled_out = one_line(re.search(r"^\* Ruled out if (.*?)(?=^\*)", text, re.M | re.S)[1])
        found[name] = (re.sub(r" \(direction: \w+\)$", "", sentence), ruled_out)
    return found


def advice():
    """{cause: (worst severity, first advice)}"""
    return {name: (re.search(r"^\* Severity: (\w+)", text, re.M)[1], one_line(re.search(r"^\* Advice: (.*?)(?=^\*)", text, re.M | re.S)[1]).split(";")[0])
            for name, text in by_heading(3, re.search(r"^## Causes\n.*?(?=^## )", read("docs/reference/diagnosis.md"), re.M | re.S)[0]).items()}


def can_be_critical():
    """Causes whose own severity, or the severity at which their node is acted on, is critical."""
    return {name for name, text in by_heading(3, re.search(r"^## Causes\n.*?(?=^## )", read("docs/reference/diagnosis.md"), re.M | re.S)[0]).items()
            if re.search(r"^\* (Severity: critical|The node: .*at severity critical)", text, re.M)}


def advised():
    """The recording rules with the sentence and the first advice of each cause that has an alert by its verdict. Severity info has none."""
    def quoted(text):
        return "'" + text.replace("'", "''") + "'"
    return "".join(f"  - record: cause:roce_advice:info\n    expr: vector(1)\n    labels: {{cause: {name}, means: {quoted(causes()[name][0])}, first: {quoted(first)}}}\n"
                   for name, (severity, first) in advice().items() if severity != "info" and name != "link_flap")


def alerts():
    """The table of all alerts."""
    rows = "".join(f"| [{rule['alert']}](#{rule['alert'].lower()}) | {rule['labels']['severity']} | {rule['for']} | {meaning(rule)} |\n"
                   for group in yaml.safe_load(read(RULES))["groups"] for rule in group["rules"] if "alert" in rule)
    return "| alert | severity | for | meaning |\n|---|---|---|---|\n" + rows


def meaning(rule):
    """The summary without the labels that it begins with, and without the full stop. What a cause means is its own sentence."""
    text = re.sub(r"{{ with .*{{ end }}", f"what the cause of a {rule['labels']['severity']} verdict means", rule["annotations"]["summary"])
    text = re.sub(r"^{{ \$labels.cause }} on {{ [^}]* }}: ", "", text)
    return text[0].upper() + text[1:].rstrip(".")


def with_alerts(text):
    return ALL_ALERTS.sub(lambda found: found[1] + alerts() + "\n", text)


def with_advice(text):
    return ADVISED.sub(lambda found: found[1] + advised() + found[2], text)


def sections():
    return by_heading(2, read(RUNBOOK))


def quotation(sentence):
    return "\n".join(textwrap.wrap(sentence, COLUMNS, initial_indent="> ", subsequent_indent="> ", break_on_hyphens=False))


def ending(ruled_out):
    return "\n".join(textwrap.wrap(f"**Ruled out if** {ruled_out}.", COLUMNS, break_on_hyphens=False, break_long_words=False))


def contents():
    """The list of all causes, in the order of judgement."""
    lines = [textwrap.fill(f"* [{name}](#{name}): {sentence}", COLUMNS, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False)
             for name, (sentence, _) in causes().items()]
    return CONTENTS + "\n" + "\n".join(lines) + "\n\n"


def with_contents(text):
    return re.sub(rf"^{CONTENTS}.*?(?=^## )", lambda _: contents(), text, count=1, flags=re.M | re.S)


def made(name, text):
    """The section with the text of the table."""
    sentence, ruled_out = causes()[name]
    text = re.sub(r"^(?:> .*\n)+", lambda _: quotation(sentence) + "\n", text, count=1, flags=re.M)
    return re.sub(r"^\*\*Ruled out if\*\*.*?(?=\n\n|\n*\Z)", lambda _: ending(ruled_out), text, count=1, flags=re.M | re.S)


def write():
    text = with_contents(read(RUNBOOK))
    for name, section in sections().items():
        if name in causes():
            text = text.replace(f"## {name}\n{section}", f"## {name}\n{made(name, section)}")
    with open(os.path.join(TOP, RUNBOOK), "w", encoding="utf-8") as f:
        f.write(text)
    fleet = with_alerts(read(FLEET))
    with open(os.path.join(TOP, FLEET), "w", encoding="utf-8") as f:
        f.write(fleet)
    rules = with_advice(read(RULES))
    with open(os.path.join(TOP, RULES), "w", encoding="utf-8") as f:
        f.write(rules)


def anchors(path):
    headings = re.findall(r"^#+ (.*)$", read(path), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken(origin, link):
    """The problem of a link of a document, or nothing if its target exists."""
    path, _, anchor = link.partition("#")
    target = os.path.normpath(os.path.join(os.path.dirname(origin), path)) if path else origin
    if not os.path.exists(os.path.join(TOP, target)):
        return [f"{origin}: {link}: no such file"]
    return [f"{origin}: {link}: no such heading"] if anchor and anchor not in anchors(target) else []


def each_cause_has_its_section():
    known, written = causes(), sections()
    check("the causes are found", *([] if len(known) > 20 else [f"{len(known)} of them"]))
    check("each has a section, in the order of judgement, and nothing else has", *([] if list(known) == list(written) else sorted(known.keys() ^ written.keys())
                                                                                    or ["another order"]))
    check("the list of causes is that of the table: runbook.py --write", "" if CONTENTS in read(RUNBOOK) and with_contents(read(RUNBOOK)) == read(RUNBOOK) else "it is not")
    check("docs/fleet.md lists all alerts: runbook.py --write", "" if alerts() in read(FLEET) else "it does not")
    check("the rules have the words of the table: runbook.py --write", "" if ADVISED.search(read(RULES)) and with_advice(read(RULES)) == read(RULES) else "they have not")
    check(f"lines have at most {COLUMNS} columns", *[line for line in read(RUNBOOK).splitlines() if len(line) > COLUMNS])
    for cause in known.keys() & written.keys():
        found = re.findall(r"^\*\*(.*?)\.?\*\*", written[cause], re.M)
        problems = [] if found == PARTS else [f"its parts are {found}"]
        problems += [] if re.search(r"^\*\*Confirm\.\*\* `rocectl ", written[cause], re.M) else ["its first step is no command of rocelet's pod"]
        impact = re.search(r"^\*\*Impact\.\*\* (.*?)\n\n", written[cause], re.M | re.S)
        urgency = impact and next((words for words in URGENCIES if re.match(rf"{words}\b", one_line(impact[1]))), None)
        problems += [] if urgency else ["its impact does not begin with how soon to act"]
        problems += [] if (urgency in ("Now", "Today; now if it is critical")) == (cause in can_be_critical()) else [f"{urgency}: but only causes that can be critical page at night"]
        problems += [] if written[cause].strip().count("\n") < SCREEN else [f"is no screen: more than {SCREEN} lines"]
        problems += [] if made(cause, written[cause]) == written[cause] else ["differs from the table of causes: runbook.py --write"]
        check(cause, *problems)


def each_reason_has_its_section():
    """The words for which a device is unhealthy: the frequent ones have a section, the others are named."""
    known = set(re.findall(r'\[HEALTH_\w+\] = \{"(\w+)"', read("daemon/config/pool_config_native.c")))
    why = re.search(r"^## Why a device is unhealthy\n.*?(?=^## )", read(RUNBOOK), re.M | re.S)[0]
    check("each reason of an unhealthy device is explained", *(known - {word for pair in re.findall(r"^### (\w+)$|`(\w+)`", why, re.M) for word in pair}))


def alerts_and_reasons_are_served(rocectl):
    """Every node serves a document for each alert and reason: an alert's runbook_url leads there, and rocectl prints the reasons."""
    served = set(re.findall(r"\bX\((\w+), \d+\)", read(os.path.join(os.path.dirname(os.path.abspath(rocectl)), "gen/web_document.h"))))
    wanted = {rule["alert"] for group in yaml.safe_load(read(RULES))["groups"] for rule in group["rules"] if "alert" in rule}
    wanted |= set(re.findall(r'\[HEALTH_\w+\] = \{"(\w+)"', read("daemon/config/pool_config_native.c")))
    check("a node serves a document for each alert and reason", *sorted(wanted - served))


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def named_things_exist(rocectl):
    text, metrics = read("docs/runbook.md"), read("docs/reference/metrics.md") + read("docs/reference/diagnosis.md")
    check("its metrics", *sorted({name for name in re.findall(r"(?<![:\w])(?:roce|rocelet)_\w+", text) if not re.search(rf"\b{name}\b", metrics)}
                                 - set(re.findall(r"roce_(?:np|rp)", text))))
    usage = output_of(rocectl, "--help")
    check("its commands", *sorted({name for name in re.findall(r"rocectl ([a-z-]+)", text) if not re.search(rf"^  rocectl {name}\b", usage, re.M)}))
    check("their flags", *sorted({flag for line in re.findall(r"rocectl ([^`\n#]*)", text) for flag in re.findall(r"--[a-z-]+", line)
                                  if flag not in output_of(rocectl, "help", line.split()[0])}))
    reasons = set(re.findall(r"`([A-Z]\w+)`", re.search(r"^## Events\n.*?(?=^## )", read("docs/reference/rocectl.md"), re.M | re.S)[0]))
    named = re.findall(r"`rocectl events`\s+has\s+((?:[A-Z]\w+|and|,|\s)+)", text)
    check("its events", *sorted({word for words in named for word in re.findall(r"[A-Z]\w+", words)} - reasons))
    recorded = {rule["record"] for group in yaml.safe_load(read("k8s/deploy/monitoring/rules.yaml"))["groups"] for rule in group["rules"] if "record" in rule}
    check("its recording rules", *sorted(set(re.findall(r"\b(?:port|cluster):\w+:\w+", text)) - recorded))


def links_lead_somewhere():
    for path in ["README.md", "CONTRIBUTING.md", "SECURITY.md", *sorted(glob.glob("docs/**/*.md", root_dir=TOP, recursive=True))]:
        links = re.findall(r"\]\(((?!\w+:)[^)\s]+)\)", re.sub(r"```.*?```", "", read(path), flags=re.S))
        check(f"links of {path}", *sum((broken(path, link) for link in links), []))
    base = re.search(r'^#define CAUSE_RUNBOOK "(.*)"$', read("daemon/diagnosis/cause.h"), re.M)[1]
    for cause in causes():
        check(f"a verdict of {cause} leads to its section", *broken("README.md", f"{base}#{cause}"))
    docs = runpy.run_path(os.path.join(MONITORING, "rules.py"))["LINKS"]["docs"]
    for group in yaml.safe_load(read("k8s/deploy/monitoring/rules.yaml"))["groups"]:
        for rule in group["rules"]:
            if "alert" in rule:
                url = rule["annotations"].get("runbook_url", "none").replace("{{ $labels.cause }}", next(iter(causes()))).replace(docs, "docs")
                check(f"{rule['alert']} leads to its section", *broken("README.md", url))


if sys.argv[1] == "--write":
    write()
    sys.exit()
each_cause_has_its_section()
each_reason_has_its_section()
alerts_and_reasons_are_served(sys.argv[1])
named_things_exist(sys.argv[1])
links_lead_somewhere()
end()
