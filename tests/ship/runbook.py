#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compares docs/runbook.md with its subjects: the causes of docs/reference/diagnosis.md, which is generated from the code, the metrics and commands that it
names, the alerts and the verdicts that link to it. Checks every link of the documents.

  runbook.py ROCECTL
  runbook.py --write    put the list of causes, and each cause's sentence and what rules it out into its section, from docs/reference/diagnosis.md

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
PARTS = ["Means", "Confirm", "On the host", "On the switch", "Not to be confused with", "Ruled out if"]
COLUMNS = 100
SCREEN = 40  # lines: a cause is read without scrolling
CONTENTS = "## All causes\n"


def one_line(text):
    return " ".join(text.split())


def by_heading(level, text):
    """{heading: text}"""
    parts = re.split(rf"^{'#' * level} (\w+)\n", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def causes():
    """{cause: (sentence, what rules it out)}"""
    listed = re.search(r"^## Causes\n.*?(?=^## )", read("docs/reference/diagnosis.md"), re.M | re.S)[0]
    found = {}
    for name, text in by_heading(3, listed).items():
        sentence = one_line(re.search(r"^((?:> .*\n)+)", text, re.M)[1].replace("\n> ", "\n")[2:])
        ruled_out = one_line(re.search(r"^\* Ruled out if (.*?)(?=^\*)", text, re.M | re.S)[1])
        found[name] = (re.sub(r" \(direction: \w+\)$", "", sentence), ruled_out)
    return found


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
    """A section with the words of the table."""
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


def anchors(path):
    headings = re.findall(r"^#+ (.*)$", read(path), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken(origin, link):
    """What is wrong with a link of a document; nothing if it leads somewhere."""
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
    check(f"lines have at most {COLUMNS} columns", *[line for line in read(RUNBOOK).splitlines() if len(line) > COLUMNS])
    for cause in known.keys() & written.keys():
        found = re.findall(r"^\*\*(.*?)\.?\*\*", written[cause], re.M)
        problems = [] if found == PARTS else [f"its parts are {found}"]
        problems += [] if written[cause].strip().count("\n") < SCREEN else [f"is no screen: more than {SCREEN} lines"]
        problems += [] if made(cause, written[cause]) == written[cause] else ["is not what the table of causes says: runbook.py --write"]
        check(cause, *problems)


def says(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def what_it_names_is_there(rocectl):
    text, metrics = read("docs/runbook.md"), read("docs/reference/metrics.md") + read("docs/reference/diagnosis.md")
    check("its metrics", *sorted({name for name in re.findall(r"(?<![:\w])(?:roce|rocelet)_\w+", text) if not re.search(rf"\b{name}\b", metrics)}
                                 - set(re.findall(r"roce_(?:np|rp)", text))))
    usage = says(rocectl, "--help")
    check("its commands", *sorted({name for name in re.findall(r"rocectl ([a-z-]+)", text) if not re.search(rf"^  rocectl {name}\b", usage, re.M)}))
    check("their flags", *sorted({flag for line in re.findall(r"rocectl ([^`\n#]*)", text) for flag in re.findall(r"--[a-z-]+", line)
                                  if flag not in says(rocectl, "help", line.split()[0])}))
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
what_it_names_is_there(sys.argv[1])
links_lead_somewhere()
end()
