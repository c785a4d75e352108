#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Judges the fleet rules in k8s/deploy/monitoring: by promtool and the unit tests in rules/, and by rules of our own.

  rules.py PROMTOOL [mutants]

mutants: also removes one condition of an alert after the other, which a test has to notice: a minute of CPU time.

One line per check, "N passed, N failed" last.

run: {prometheus}/usr/bin/promtool
proves: k8s/deploy/monitoring docs/fleet.md
when: core
when: turns mutants
"""
import os
import re
import runpy
import subprocess
import sys
import tempfile

import yaml

from checks import MONITORING, TOP, check, end, read

LINKS = runpy.run_path(os.path.join(MONITORING, "rules.py"))["LINKS"]
TESTS = os.path.join(TOP, "tests/ship/rules")
PROMTOOL = sys.argv[1]
SOURCE = read(MONITORING, "rules.yaml")
GROUPS = yaml.safe_load(SOURCE)["groups"]
RULES = [rule for group in GROUPS for rule in group["rules"]]
ALERTS = {rule["alert"]: rule for rule in RULES if "alert" in rule}
RECORDS = [rule["record"] for rule in RULES if "record" in rule]
FLEET = read(TOP, "docs/fleet.md")
TEST_FILES = {name: read(TESTS, name) for name in sorted(os.listdir(TESTS))}


def promtool(*args):
    """Its complaint, or nothing."""
    out = subprocess.run([PROMTOOL, *args], capture_output=True, text=True)
    return "" if out.returncode == 0 else out.stdout + out.stderr


def tested(rules, alert):
    """What the unit tests of an alert say of other rules; nothing where they agree."""
    complaints = ""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "rules.yaml"), "w") as f:
            f.write(rules)
        for text in TEST_FILES.values():
            of_file = yaml.load(text, yaml.BaseLoader)  # "0x100" is a hundred zeros, no number
            of_file["tests"] = [{**test, "alert_rule_test": cases, "promql_expr_test": []} for test in of_file["tests"]
                                if (cases := [case for case in test.get("alert_rule_test", []) if case["alertname"] == alert])]
            with open(os.path.join(folder, "tests.yaml"), "w") as f:
                # In another order an alert sees what is recorded a minute late, and seems to wait for it.
                yaml.safe_dump({**of_file, "rule_files": ["rules.yaml"], "group_eval_order": [group["name"] for group in GROUPS]}, f)
            complaints += promtool("test", "rules", f.name) if of_file["tests"] else ""
    return complaints


# --- by promtool --------------------------------------------------------------------------------

def units():
    check("promtool takes the rules", promtool("check", "rules", os.path.join(MONITORING, "rules.yaml")))
    for name in TEST_FILES:
        check(f"unit tests of {name}", promtool("test", "rules", os.path.join(TESTS, name)))


def coverage():
    fires, silent = set(), set()
    for text in TEST_FILES.values():
        for test in yaml.safe_load(text)["tests"]:
            for case in test.get("alert_rule_test", []):
                (fires if case.get("exp_alerts") else silent).add(case["alertname"])
    for name in ALERTS:
        check(f"{name} has a test in which it fires and one in which it is silent", "" if name in fires & silent else "it has not")
    check("no test is of an alert that is not there", ", ".join((fires | silent) - ALERTS.keys()))


def mutants():
    """Whatever is left out of an alert, some test misses it."""
    for name in ALERTS:
        start = SOURCE.index(f"alert: {name}\n")
        end = SOURCE.index("labels:", start)
        rule = SOURCE[start:end]
        conditions = [line for line in rule.splitlines(True) if re.match(r" +(and|unless|for:(?! 0s)) ", line) and line.count("(") == line.count(")")]
        needless = [line.strip() for line in conditions if not tested(SOURCE[:start] + rule.replace(line, "", 1) + SOURCE[end:], name)]
        check(f"a test needs every condition of {name} ({len(conditions)})", "; ".join(needless))


# --- by rules of our own ------------------------------------------------------------------------

def families():
    known = set(re.findall(r"^\| `(\w+)` \| ", read(TOP, "docs/reference/metrics.md"), re.M)) | {"up"}
    for rule in RULES:
        words = re.sub(r'"[^"]*"|\b(on|by|without|group_left) *\([^)]*\)|\w+=~?"', "", rule["expr"])
        used = set(re.findall(r"(?<![\w:])(?:roce_|rocelet_|up\b)\w*(?![\w:])", words))
        check(f"{rule.get('record') or rule['alert']} uses families that there are", ", ".join(used - known))
    recorded = set()
    for rule in RULES:
        unknown = set(re.findall(r"[a-z]+:\w+:\w+", rule["expr"])) - recorded
        recorded |= {rule["record"]} if "record" in rule else set()
        if unknown:
            check("what is recorded is used after that", ", ".join(unknown))


def causes():
    """Each cause has an alert, also one that is new: rules name only the causes that have alerts of their own, and those exist."""
    existing = set(re.findall(r"^## (\w+)$", read(TOP, "docs/runbook.md"), re.M))
    taken = {cause for rule in RULES for cause in re.findall(r'roce_diagnosis\{cause="(\w+)"\}', rule["expr"])}
    for name in "RoceletDiagnosisCritical", "RoceletDiagnosisWarning":
        left_out = re.findall(r'roce_diagnosis\{cause!="(\w+)"\}', ALERTS[name]["expr"])
        check(f"{name} leaves out exactly the causes that have alerts of their own", *set(left_out) ^ taken, *taken - existing)


def leads(rule):
    """The labels that the links of an alert need: it must have each, or what opens is another port or node."""
    texts = " ".join(text for key, text in rule["annotations"].items() if key.endswith("_url"))
    return set(re.findall(r"\$labels\.(\w+)", texts)) - {"cluster"}


def conventions():
    for name, rule in ALERTS.items():
        texts, labels, problems = rule["annotations"], rule["labels"], []
        of_a_node = "page_url" in texts
        problems += [] if re.fullmatch(r"Rocelet([A-Z][a-z]+)+", name) else ["its name"]
        problems += [] if labels["severity"] in ("critical", "warning", "info") else ["severity"]
        problems += [] if set(labels) <= {"severity", "node", "device"} and ("node" in labels) == of_a_node else ["labels"]
        problems += [] if set(texts) - {"page_url"} == {"description", "summary", "runbook_url", "dashboard_url"} else ["annotations"]
        problems += ["a summary that is not fixed"] if "{{" in texts["summary"] else []
        problems += [] if "{{" in texts["description"] else ["a description of nothing"]
        problems += [] if not of_a_node or "{{ or $labels.node $labels.instance }}" in texts["description"] else ["a description without the node"]
        problems += [] if not of_a_node or "instance" in leads(rule) else ["links that lead to no node"]
        lead = "runbook.md#{{ $labels.cause }}" if "roce_diagnosis" in rule["expr"] else f"fleet.md#{name.lower()}"
        problems += [] if texts["runbook_url"] == f"{LINKS['docs']}/{lead}" and f"\n### {name}\n" in FLEET else ["runbook"]
        problems += [] if re.match(re.escape(LINKS["grafana"]) + r"/d/rocelet-(fleet|node|port)\?", texts["dashboard_url"]) else ["dashboard"]
        problems += [] if not of_a_node or texts["page_url"].startswith(LINKS["page"] + "/") else ["page"]
        problems += [] if rule.get("for") else ["no `for`"]
        check(f"{name} is as alerts are", ", ".join(problems))
    for record in RECORDS:
        used = FLEET.count(f"`{record}`") + sum(record in rule["expr"] for rule in RULES)
        check(f"{record} is named as records are, and for something",
              "" if re.fullmatch(r"(function|port|pool|node|cluster):[a-z_]+:[a-z_]*[a-z0-9]+", record) and used else "it is not")
    check("docs/fleet.md has no alert that there is not", ", ".join(set(re.findall(r"\n### (\w+)\n", FLEET)) - ALERTS.keys()))


def alertmanager():
    """The example in docs/fleet.md: its alerts are ours, and alerts that it groups or inhibits have those labels."""
    example = yaml.safe_load(re.search(r"```yaml\n(route:\n.*?)```", FLEET, re.S)[1])
    labels = {"alertname", "severity", "cluster", "instance", "node", "device", "port", "pf", "cause"}
    routes, inhibitions, problems = [example["route"], *example["route"]["routes"]], example["inhibit_rules"], []
    matchers = [m for r in routes for m in r.get("matchers", [])] + [m for r in inhibitions for side in ("source", "target") for m in r[side + "_matchers"]]
    for matcher in matchers:
        name, how, value = re.fullmatch(r'(\w+)\s*(=~|=)\s*"?([^"]*)"?', matcher).groups()
        if name == "alertname":
            problems += [] if any(re.fullmatch(value, alert) if how == "=~" else value == alert for alert in ALERTS) else [f"no alert is {value}"]
        problems += [] if name in labels else [f"no label {name}"]
    problems += [f"no label {name}" for r in routes for name in r.get("group_by", []) if name not in labels]
    problems += [f"no label {name}" for r in inhibitions for name in r["equal"] if name not in labels]
    of_causes = [r for r in routes if {"node", "cause"} <= set(r.get("group_by", []))]
    problems += [] if of_causes else ["no route groups by node and cause"]
    grouped = " ".join(m for r in of_causes for m in r["matchers"])
    problems += [f"{name} has a cause and is not grouped by it" for name, rule in ALERTS.items()
                 if "roce_diagnosis" in rule["expr"] and not re.fullmatch(re.search(r'alertname=~"([^"]*)"', grouped)[1], name)]
    check("the example for Alertmanager fits the alerts", *problems)


def page():
    """The first word of each link to a node's page is a view of the page."""
    source = read(TOP, "daemon/web/main.js")
    views = set(re.findall(r"{word: '(\w*)', title", source)) | set(re.findall(r"words\[0\] === '(\w+)' && words", source))
    words = {(name, word) for name, rule in ALERTS.items() for word in re.findall(r"#(\w+)", rule["annotations"].get("page_url", ""))}
    check("links to a node's page lead to views that it has", *(f"{name}: #{word}" for name, word in sorted(words) if word not in views))
    of_pools = {name for name, rule in ALERTS.items() if "rocelet_resource_" in rule["expr"] and "page_url" in rule["annotations"]}
    check("those of a pool lead to the pool", *(name for name in sorted(of_pools) if "#pools?q={{ $labels.resource }}" not in ALERTS[name]["annotations"]["page_url"]))


def links():
    """Whoever installs the rules sets three addresses, and all links follow."""
    given = {"docs": "https://docs.example/r", "grafana": "https://g.example", "page": "https://{{ $labels.node }}"}
    made = subprocess.run([MONITORING + "/rules.py", *(f"--{name}={url}/" for name, url in given.items())], capture_output=True, text=True, check=True).stdout
    urls = [text for group in yaml.safe_load(made)["groups"] for rule in group["rules"] for key, text in rule.get("annotations", {}).items() if key.endswith("_url")]
    check("rules.py puts other addresses into every link", *sorted({url for url in urls if not url.startswith(tuple(url + "/" for url in given.values()))}))
    check("and changes nothing else", "" if [line for line in made.splitlines() if "_url:" not in line] == [line for line in SOURCE.splitlines() if "_url:" not in line] else "it does")


def operator():
    made = yaml.safe_load(read(MONITORING, "prometheusrule.yaml"))
    check("the operator's rules are these (make golden)", "" if made["kind"] == "PrometheusRule" and made["spec"]["groups"] == GROUPS else "they are not")
    listed = yaml.safe_load(read(MONITORING, "kustomization.yaml"))["resources"]
    check("and are installed with the monitor", "" if "prometheusrule.yaml" in listed else "they are not")


for judge in units, coverage, families, causes, conventions, alertmanager, page, links, operator:
    judge()
if sys.argv[2:] == ["mutants"]:
    mutants()
end()
