#!/usr/bin/python3
"""Makes dashboards/*.json of dashboards.yaml, for Grafana from 10.0 on.

  dashboards.py [FOLDER]    where they are written; beside this file
"""
import json
import os
import sys

import yaml

HERE = os.path.dirname(os.path.abspath(__file__))
SCHEMA = 38  # of Grafana 10.0; later ones read it
SELECTORS = {
    "fleet": 'cluster=~"$cluster"',
    "node": 'cluster=~"$cluster", instance="$instance"',
    "port": 'cluster=~"$cluster", instance="$instance", device="$device", port="$port"',
    "pod": 'cluster=~"$cluster", namespace="$namespace", pod="$pod"',
}
SOURCE = {"type": "prometheus", "uid": "${datasource}"}
RANKS = [{"type": "value", "options": {"1": {"text": "information", "color": "blue"}, "2": {"text": "warning", "color": "orange"},
                                       "3": {"text": "critical", "color": "red"}}}]
KINDS = {"series": "timeseries", "table": "table", "stat": "stat", "states": "state-timeline"}
HEIGHT = 8


def expanded(expression):
    for name, labels in SELECTORS.items():
        expression = expression.replace(f"<{name}>", labels)
    return expression


def variable(name, before):
    """One that the labels of roce_port_info choose, which every port has."""
    chosen = ", ".join(f'{label}=~"${label}"' for label in before)
    query = f"label_values(roce_port_info{{{chosen}}}, {name})" if chosen else f"label_values(roce_port_info, {name})"
    made = {"type": "query", "name": name, "datasource": SOURCE, "query": {"query": query, "refId": name}, "definition": query, "refresh": 2, "sort": 1}
    # A fleet without that label is a fleet, too.
    return {**made, "includeAll": True, "allValue": ".*", "current": {"text": "All", "value": "$__all"}} if name == "cluster" else made


def links(panel):
    return [{"title": "Runbook", "url": f"${{runbook}}#{panel['runbook']}", "targetBlank": True}] if "runbook" in panel else []


def field_config(panel):
    kind, defaults = panel.get("kind", "series"), {"unit": panel.get("unit", "short"), "noValue": "no value"}
    overrides = []
    if kind == "series":
        defaults["custom"] = {"lineWidth": 1, "fillOpacity": 5, "spanNulls": False, "showPoints": "never"}
        defaults["min"] = 0
    if kind == "states" or "roce_diagnosis{" in panel["queries"][0][1] and kind == "table":
        defaults["mappings"] = RANKS
    if kind == "table":
        overrides.append({"matcher": {"id": "byName", "options": "cause"},
                          "properties": [{"id": "links", "value": [{"title": "Runbook", "url": "${runbook}#${__value.text}", "targetBlank": True}]}]})
    return {"defaults": defaults, "overrides": overrides}


def target(i, panel, legend, expression):
    made = {"refId": chr(ord("A") + i), "datasource": SOURCE, "expr": expanded(expression), "legendFormat": legend or "__auto"}
    if panel.get("kind") == "table":
        return {**made, "format": "table", "instant": True, "range": False}
    return {**made, "instant": panel.get("kind") == "stat", "range": panel.get("kind") != "stat"}


def made_panel(number, panel, x, y):
    kind = panel.get("kind", "series")
    made = {
        "id": number, "type": KINDS[kind], "title": panel["title"], "description": panel.get("help", ""), "datasource": SOURCE,
        "gridPos": {"x": x, "y": y, "w": panel.get("width", 12), "h": HEIGHT}, "links": links(panel), "fieldConfig": field_config(panel),
        "targets": [target(i, panel, *query) for i, query in enumerate(panel["queries"])],
        "options": {"series": {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi", "sort": "desc"}}}.get(kind, {}),
    }
    if kind == "table":
        made["transformations"] = [{"id": "organize", "options": {"excludeByName": {"Time": True, "__name__": True, "job": True}}}]
    return made


def panels(rows):
    made, y = [], 0
    for row in rows:
        made.append({"id": len(made) + 1, "type": "row", "title": row["title"], "collapsed": False, "panels": [], "gridPos": {"x": 0, "y": y, "w": 24, "h": 1}})
        x, y = 0, y + 1
        for panel in row["panels"]:
            if x + panel.get("width", 12) > 24:
                x, y = 0, y + HEIGHT
            made.append(made_panel(len(made) + 1, panel, x, y))
            x += panel.get("width", 12)
        y += HEIGHT
    return made


def dashboard(source):
    names = source["variables"]
    templates = [{"type": "datasource", "name": "datasource", "query": "prometheus", "label": "Data source"}]
    templates += [variable(name, names[:i]) for i, name in enumerate(names)]
    templates.append({"type": "constant", "name": "runbook", "query": "docs/runbook.md", "hide": 2, "current": {"text": "docs/runbook.md", "value": "docs/runbook.md"}})
    return {
        "uid": f"rocelet-{source['name']}", "title": source["title"], "tags": ["rocelet"], "schemaVersion": SCHEMA, "version": 1, "editable": True,
        "timezone": "browser", "refresh": "30s", "time": {"from": "now-1h", "to": "now"}, "graphTooltip": 1,
        "links": [{"type": "dashboards", "tags": ["rocelet"], "title": "RoCE", "asDropdown": True, "keepTime": True, "includeVars": True}],
        "templating": {"list": templates}, "annotations": {"list": []}, "panels": panels(source["rows"]),
    }


if __name__ == "__main__":
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "dashboards")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(HERE, "dashboards.yaml"), encoding="utf-8") as f:
        sources = yaml.safe_load(f)["dashboards"]
    for source in sources:
        with open(os.path.join(folder, source["name"] + ".json"), "w", encoding="utf-8") as f:
            json.dump(dashboard(source), f, indent=1)
            f.write("\n")
