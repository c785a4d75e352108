#!/usr/bin/python3
"""Holds docs/runbook.md against what it is about: the causes of docs/reference/diagnosis.md, which is made from the code, the metrics and the commands that it
names, the alerts and the verdicts that lead to it, and every link.

  runbook.py ROCECTL

One line per check, "N passed, N failed" last.

run: {build}/rocectl
proves: docs/runbook.md docs/reference/diagnosis.md docs/reference/metrics.md
when: core
"""
import glob
import os
import re
import subprocess
import sys

import yaml

from checks import TOP, check, end, read

PARTS = ["Means", "Confirm", "On the host", "On the switch", "Not to be taken for"]


def causes():
    """{cause: (sentence, what would show that it is something else)}"""
    table = re.search(r"^## Causes, .*?(?=^##)", read("docs/reference/diagnosis.md"), re.M | re.S)[0]
    rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in table.splitlines() if line.startswith("| `")]
    return {re.match(r"`(\w+)`", row[0])[1]: (re.sub(r" \(direction: \w+\)$", "", row[4]), row[6]) for row in rows}


def sections():
    """{heading: text}"""
    parts = re.split(r"^## (\w+)\n", read("docs/runbook.md"), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


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
    for cause in known.keys() & written.keys():
        sentence, disproof = known[cause]
        quoted, found = re.search(r"^> (.*)$", written[cause], re.M), re.findall(r"^\*\*(.*?)\.?\*\*", written[cause], re.M)
        problems = [] if quoted and quoted[1] == sentence else [f"does not begin with: {sentence}"]
        problems += [] if found == PARTS else [f"its parts are {found}"]
        problems += [] if written[cause].rstrip().endswith(f"It is something else if {disproof}.") else [f"does not end with: {disproof}"]
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
    recorded = {rule["record"] for group in yaml.safe_load(read("k8s/deploy/monitoring/rules.yaml"))["groups"] for rule in group["rules"] if "record" in rule}
    check("its recording rules", *sorted(set(re.findall(r"\b(?:port|cluster):\w+:\w+", text)) - recorded))


def links_lead_somewhere():
    for path in ["README.md", "CONTRIBUTING.md", "SECURITY.md", *sorted(glob.glob("docs/**/*.md", root_dir=TOP, recursive=True))]:
        links = re.findall(r"\]\(((?!\w+:)[^)\s]+)\)", re.sub(r"```.*?```", "", read(path), flags=re.S))
        check(f"links of {path}", *sum((broken(path, link) for link in links), []))
    base = re.search(r'^#define CAUSE_RUNBOOK "(.*)"$', read("daemon/diagnosis/cause.h"), re.M)[1]
    for cause in causes():
        check(f"a verdict of {cause} leads to its section", *broken("README.md", f"{base}#{cause}"))
    for group in yaml.safe_load(read("k8s/deploy/monitoring/rules.yaml"))["groups"]:
        for rule in group["rules"]:
            if "alert" in rule:
                url = rule["annotations"].get("runbook_url", "none").replace("{{ $labels.cause }}", next(iter(causes())))
                check(f"{rule['alert']} leads to its section", *broken("README.md", url))


each_cause_has_its_section()
what_it_names_is_there(sys.argv[1])
links_lead_somewhere()
end()
