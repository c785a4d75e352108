#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Judges the fleet rules in k8s/deploy/monitoring: by promtool and the unit tests in rules/, and by rules of our own.

  rules.py PROMTOOL [mutants]

mutants: also removes each condition of an alert in turn, which a test must notice: a minute of CPU time.

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
# Families whose series have the label `cause`.
OF_CAUSES = {name for name in ALERTS if re.match("Rocelet(Link|Diagnosis)", name)}
FLEET = read(TOP, "docs/fleet.md")
# What the cause of a verdict means, in a summary.
MEANS = '''{{ with printf "group by (means) (cause:roce_advice:info{cause=%q})" $labels.cause | query }}{{ (first .).Labels.means }}{{ else }}`rocectl diagnose` on the node has the evidence{{ end }}.'''
SCREEN = 40  # lines
TEST_FILES = {name: read(TESTS, name) for name in sorted(os.listdir(TESTS))}


def promtool(*args):
    """Returns its error message, or nothing."""
    out = subprocess.run([PROMTOOL, *args], capture_output=True, text=True)
    return "" if out.returncode == 0 else out.stdout + out.stderr


def tested(rules, alert):
    """The result of an alert's unit tests with other rules; nothing if they pass."""
    complaints = ""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "rules.yaml"), "w") as f:
            f.write(rules)
        for text in TEST_FILES.values():
            of_file = yaml.load(text, yaml.BaseLoader)  # "0x100" means a hundred zeros, not a number
            of_file["tests"] = [{**test, "alert_rule_test": cases, "promql_expr_test": []} for test in of_file["tests"]
                                if (cases := [case for case in test.get("alert_rule_test", []) if case["alertname"] == alert])]
            with open(os.path.join(folder, "tests.yaml"), "w") as f:
                # In another order an alert would read recorded series a minute late.
                yaml.safe_dump({**of_file, "rule_files": ["rules.yaml"], "group_eval_order": [group["name"] for group in GROUPS]}, f)
            complaints += promtool("test", "rules", f.name) if of_file["tests"] else ""
    return complaints


# --- by promtool --------------------------------------------------------------------------------

def units():
    check("promtool accepts the rules", promtool("check", "rules", os.path.join(MONITORING, "rules.yaml")))
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
    """If any condition is removed from an alert, a test fails."""
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
        check(f"{rule.get('record') or rule['alert']} uses existing families", ", ".join(used - known))
    recorded = set()
    for rule in RULES:
        recorded |= {rule["record"]} if "record" in rule else set()  # a rule may read its own last value
        unknown = set(re.findall(r"[a-z]+:\w+:\w+", rule["expr"])) - recorded
        if unknown:
            check("recorded series are used after their rule", ", ".join(unknown))


def causes():
    """Each cause has an alert, also a new one: rules name only the causes with alerts of their own, and these exist. Those of events are also in a list of
    docs/fleet.md and are never critical."""
    existing = set(re.findall(r"^## (\w+)$", read(TOP, "docs/runbook.md"), re.M))
    taken = {cause for name in OF_CAUSES if name.startswith("RoceletLink") for cause in re.findall(r'roce_diagnosis\{cause="(\w+)"\}', ALERTS[name]["expr"])}
    events = {cause for names in re.findall(r'cause=~"([\w|]+)"', ALERTS["RoceletDiagnosisEvent"]["expr"]) for cause in names.split("|")}
    for name, own in ("RoceletDiagnosisCritical", taken), ("RoceletDiagnosisWarning", taken | events), ("RoceletDiagnosisRecurs", taken | events):
        left_out = {cause for names in re.findall(r'roce_diagnosis\{cause!(?:=|~)"([\w|]+)"\}', ALERTS[name]["expr"]) for cause in names.split("|")}
        check(f"{name} leaves out exactly the causes that have alerts of their own", *left_out ^ own, *own - existing)
    listed = re.search(r"\n### RoceletDiagnosisEvent\n(.*?)\n### ", FLEET, re.S)
    check("docs/fleet.md lists the causes that are events", *set(re.findall(r"^\| \[(\w+)\]", listed[1] if listed else "", re.M)) ^ events)
    worst = dict(re.findall(r"^\| \[(\w+)\]\(#\w+\) \| (\w+) \|", read(TOP, "docs/reference/diagnosis.md"), re.M))
    check("none of them is ever critical", *(cause for cause in events if worst.get(cause) != "warning"))


def leads(rule):
    """The labels that the links of an alert need: without one of them the link would open another port or node."""
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
        # A summary is fixed, except that it begins with cause and node, and has what the cause means: Alertmanager's message is often only that line.
        fixed = texts["summary"].removeprefix("{{ $labels.cause }} on {{ or $labels.node $labels.instance }}: ") if name in OF_CAUSES else texts["summary"]
        problems += ["a summary that is not true of every cause"] if name.startswith("RoceletDiagnosis") and MEANS not in fixed else []
        fixed = fixed.replace(MEANS, "")
        problems += ["a summary that is not fixed"] if "{{" in fixed else []
        problems += ["a summary without cause and node"] if name in OF_CAUSES and fixed == texts["summary"] else []
        problems += ["a description without the other nodes"] if name in OF_CAUSES and "Other nodes with {{ $labels.cause }} now: " not in texts["description"] else []
        problems += [] if "{{" in texts["description"] else ["a description without a label"]
        problems += [] if not of_a_node or "{{ or $labels.node $labels.instance }}" in texts["description"] else ["a description without the node"]
        problems += [] if not of_a_node or "instance" in leads(rule) else ["links that lead to no node"]
        problems += [] if "First: " in texts["description"] else ["a description without a first step"]
        lead = "runbook.md#{{ $labels.cause }}" if name in OF_CAUSES else f"fleet.md#{name.lower()}"
        problems += [] if texts["runbook_url"] == f"{LINKS['docs']}/{lead}" and f"\n### {name}\n" in FLEET else ["runbook"]
        problems += [] if re.match(re.escape(LINKS["grafana"]) + r"/d/rocelet-(fleet|node|port)\?", texts["dashboard_url"]) else ["dashboard"]
        problems += [] if not of_a_node or texts["page_url"].startswith(LINKS["page"] + "/") else ["page"]
        problems += [] if rule.get("for") else ["no `for`"]
        check(f"{name} is as alerts are", ", ".join(problems))
    for record in sorted(set(RECORDS)):
        used = FLEET.count(f"`{record}`") + sum(record in str(rule) for rule in ALERTS.values()) + sum(record in rule["expr"] for rule in RULES)
        check(f"{record} has a name like other records, and is used",
              "" if re.fullmatch(r"(cause|function|port|pool|node|cluster):[a-z_]+:[a-z_]*[a-z0-9]+", record) and used else "it is not")
    check("docs/fleet.md has no alert that there is not", ", ".join(set(re.findall(r"\n### (\w+)\n", FLEET)) - ALERTS.keys()))


def one_screen():
    """An alert of rocelet itself is read at night: what it costs, how to see it, and what to do."""
    itself = re.search(r"\n## Alerts of rocelet itself\n(.*?)\n## ", FLEET, re.S)[1]
    found = dict(zip(*[iter(re.split(r"^### (\w+)\n", itself, flags=re.M)[1:])] * 2))
    check("alerts of rocelet itself are in a chapter of their own", *({name for name in ALERTS if "#agent" in ALERTS[name]["annotations"].get("page_url", "")} - found.keys()))
    for name, text in found.items():
        parts = re.findall(r"^\* \*\*([\w ]+)\*\*", text, re.M)
        problems = [] if parts[:3] == ["Impact", "Confirm", "Do"] and parts[3:] in ([], ["Cannot distinguish"]) else [f"its parts are {parts}"]
        problems += [] if "`" in (re.search(r"^\* \*\*Confirm\*\*(.*?)(?=^\* )", text, re.M | re.S) or [""])[0] else ["no command confirms it"]
        problems += [] if text.count("\n") < SCREEN else [f"more than {SCREEN} lines"]
        check(f"the section of {name} is one screen", *problems)


def alertmanager():
    """The example in docs/fleet.md: its alerts exist, and the alerts that it groups or inhibits have these labels."""
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
    problems += [f"{name} has a cause and is not grouped by it" for name in ALERTS
                 if name in OF_CAUSES and not re.fullmatch(re.search(r'alertname=~"([^"]*)"', grouped)[1], name)]
    check("the example for Alertmanager fits the alerts", *problems)


def page():
    """Each link to a node's page begins with a view of the page."""
    source = read(TOP, "daemon/web/main.js")
    views = set(re.findall(r"{word: '(\w*)', title", source)) | set(re.findall(r"words\[0\] === '(\w+)' && words", source))
    words = {(name, word) for name, rule in ALERTS.items() for word in re.findall(r"#(\w+)", rule["annotations"].get("page_url", ""))}
    check("links to a node's page lead to existing views", *(f"{name}: #{word}" for name, word in sorted(words) if word not in views))
    of_pools = {name for name, rule in ALERTS.items() if "rocelet_resource_" in rule["expr"] and "page_url" in rule["annotations"]}
    check("those of a pool lead to the pool", *(name for name in sorted(of_pools) if "#pools?q={{ $labels.resource }}" not in ALERTS[name]["annotations"]["page_url"]))


def links():
    """With three addresses set, as by an installation, all links follow."""
    given = {"docs": "https://docs.example/r", "grafana": "https://g.example", "page": "https://{{ $labels.node }}"}
    made = subprocess.run([MONITORING + "/rules.py", *(f"--{name}={url}/" for name, url in given.items())], capture_output=True, text=True, check=True).stdout
    urls = [text for group in yaml.safe_load(made)["groups"] for rule in group["rules"] for key, text in rule.get("annotations", {}).items() if key.endswith("_url")]
    check("rules.py puts other addresses into every link", *sorted({url for url in urls if not url.startswith(tuple(url + "/" for url in given.values()))}))
    check("and nothing else changes", "" if [line for line in made.splitlines() if "_url:" not in line] == [line for line in SOURCE.splitlines() if "_url:" not in line] else "it does")


def without_addresses():
    """The addresses in rules.yaml are examples: without yours, no alert has a dead link."""
    groups = yaml.safe_load(subprocess.run([MONITORING + "/rules.py"], capture_output=True, text=True, check=True).stdout)["groups"]
    alerts = {rule["alert"]: rule["annotations"] for group in groups for rule in group["rules"] if "alert" in rule}
    dead = {f"{name}: {text}" for name, texts in alerts.items() for text in texts.values() if LINKS["docs"] in text or LINKS["grafana"] in text}
    check("without addresses no link is dead", *sorted(dead))
    runbook = {name: LINKS["page"] + "/runbook/" + ("{{ $labels.cause }}" if name in OF_CAUSES else name.lower()) for name in alerts}
    absent = {name for name in ALERTS if "instance" not in leads(ALERTS[name])} | {"RoceletDown", "RoceletTargetMissing"}  # no page of their own answers
    check("every alert leads to the runbook on a page", *(name for name, texts in sorted(alerts.items()) if runbook[name] not in texts.get("runbook_url", "")))
    check("of its own node, if that can answer", *(name for name, texts in sorted(alerts.items()) if ("cluster:rocelet_page:info" in texts.get("runbook_url", "")) != (name in absent)))
    away_from_the_node()
    check("and to the node's page", *(name for name, texts in sorted(alerts.items()) if texts.get("page_url") != ALERTS[name]["annotations"].get("page_url")))
    return groups


def away_from_the_node():
    """The links of an alert about a node that does not answer, as installed by default and with an address of our own."""
    made = {}
    for flag in (), ("--page=https://{{ $labels.node }}:9907",):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "rules.yaml"), "w") as f:
                f.write(subprocess.run([MONITORING + "/rules.py", *flag], capture_output=True, text=True, check=True).stdout)
            series = [(f'up{{instance="{n}:9907",node="{n}",job="rocelet"}}', values) for n, values in (("dead", "1 0x20"), ("well", "1x21"))]
            series += [(f'rocelet_build_info{{instance="{n}:9907",node="{n}",job="rocelet"}}', values) for n, values in (("dead", "1 stale"), ("well", "1x21"))]
            case = {"alertname": "RoceletDown", "eval_time": "10m", "exp_alerts": []}
            test = {"interval": "1m", "input_series": [{"series": name, "values": values} for name, values in series], "alert_rule_test": [case]}
            with open(os.path.join(folder, "tests.yaml"), "w") as f:
                yaml.safe_dump({"rule_files": ["rules.yaml"], "evaluation_interval": "1m", "group_eval_order": [group["name"] for group in GROUPS], "tests": [test]}, f)
            made[flag] = promtool("test", "rules", f.name)
    check("RoceletDown leads to the page of a node that answers", "" if 'runbook_url="http://well:9907/runbook/roceletdown"' in made[()] else made[()])
    check("by an address of our own, too", *("" if 'runbook_url="https://well:9907/runbook/roceletdown"' in text else text for flag, text in made.items() if flag))


def operator():
    made = yaml.safe_load(read(MONITORING, "prometheusrule.yaml"))
    check("the operator's rules are these (make golden)", "" if made["kind"] == "PrometheusRule" and made["spec"]["groups"] == without_addresses() else "they are not")
    listed = yaml.safe_load(read(MONITORING, "kustomization.yaml"))["resources"]
    check("and are installed with the monitor", "" if "prometheusrule.yaml" in listed else "they are not")


for judge in units, coverage, families, causes, conventions, one_screen, alertmanager, page, links, operator:
    judge()
if sys.argv[2:] == ["mutants"]:
    mutants()
end()
