#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the rules of rules.yaml with the addresses of your own documentation, Grafana and nodes in the links of their alerts.

  rules.py [--docs URL] [--grafana URL] [--page URL] [--operator]

  --docs URL      where docs/ is served; alerts link to runbook.md and fleet.md in it. Without it they link to the runbook on the node's page, or
                  on that of another node, if the alert is about no node or about one that does not answer
  --grafana URL   the Grafana that has the dashboards; without it, alerts have no dashboard_url
  --page URL      the page of a node, with {{ $labels.instance }} or another label of its target
  --operator      a PrometheusRule instead of a file for Prometheus
"""
import argparse
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
# The addresses in rules.yaml, which stand for yours; each of them is also a value of the Helm chart.
LINKS = {"docs": "https://rocelet.dev/docs", "grafana": "https://grafana.example", "page": "http://{{ $labels.instance }}"}
OPERATOR = """# Generated from rules.yaml by make golden.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: rocelet
  namespace: rocelet
  labels:
    app.kubernetes.io/name: rocelet
spec:
"""


# Without docs/, every alert leads to the section of its cause or its own on a page, which each node serves. Replacements as (regular expression, text, text).
# Of these alerts it is the page of a node that answers; the links use its labels, as for any other node.
ELSEWHERE = "roceletcnplost|roceletpausedwithoutecn|roceletalldown|roceletdown|rocelettargetmissing|roceletconfigurationsdiffer"
SERVED = [(rf"{re.escape(LINKS['docs'])}/fleet\.md#({ELSEWHERE})'",
           '{{ range printf "cluster:rocelet_page:info{cluster=%q}" $labels.cluster | query }}{{ $labels := .Labels }}' + LINKS["page"] + "/runbook/", "{{ end }}'"),
          (rf"{re.escape(LINKS['docs'])}/fleet\.md#(\w+)'", LINKS["page"] + "/runbook/", "'"),
          (rf"{re.escape(LINKS['docs'])}/runbook\.md#(\{{\{{ \$labels\.cause \}}\}})'", LINKS["page"] + "/runbook/", "'")]
# Annotations without an address, as regular expressions.
WITHOUT = {"grafana": r" *dashboard_url: .*\n"}


def linked(text, links):
    """Replaces the addresses, which are within single quotes in the file, and removes the links whose address is not given."""
    if not links["docs"]:
        for pattern, before, after in SERVED:
            text = re.sub(pattern, lambda found: before + found[1] + after, text)
    for name, url in LINKS.items():
        if links[name]:
            text = text.replace(url + "/", links[name].rstrip("/").replace("'", "''") + "/")
        elif name in WITHOUT:
            text = re.sub("(?m)^" + WITHOUT[name], "", text)
    return text


def for_operator(text):
    return OPERATOR + "".join(f"  {line}\n" if line else "\n" for line in text.splitlines() if not re.match(" *#", line))


def main():
    arguments = argparse.ArgumentParser()
    for name, url in LINKS.items():
        arguments.add_argument("--" + name, default=url if name == "page" else None)
    arguments.add_argument("--operator", action="store_true")
    given = arguments.parse_args()
    with open(os.path.join(HERE, "rules.yaml"), encoding="utf-8") as f:
        text = linked(f.read(), vars(given))
    print(for_operator(text) if given.operator else text, end="")


if __name__ == "__main__":
    main()
