#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Generates dashboards/*.json from dashboards.yaml, for Grafana 10.0 and newer.

  dashboards.py [FOLDER]    FOLDER: where to write them; default: dashboards beside this file
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
    "device": 'cluster=~"$cluster", instance="$instance", device=~"$device"',
    "port": 'cluster=~"$cluster", instance="$instance", device="$device", port="$port"',
    "pod": 'cluster=~"$cluster", namespace="$namespace", pod=~"$pod"',  # several
}
SOURCE = {"type": "prometheus", "uid": "${datasource}"}
OF_ONE_NODE = ("node", "port")  # dashboards with the variable `instance`
CHOSEN = "var-datasource=${datasource}&${__url_time_range}"
NODE = {"title": "Node", "url": f"/d/rocelet-node?var-cluster=$cluster&var-instance=%s&{CHOSEN}"}
PORT = {"title": "Port", "url": f"/d/rocelet-port?var-cluster=$cluster&var-instance=%s&var-device=%s&var-port=%s&{CHOSEN}"}
POD = {"title": "Pod", "url": f"/d/rocelet-pod?var-cluster=$cluster&var-namespace=%s&var-pod=%s&{CHOSEN}"}
TOP = ["5", "10", "20", "50"]
RANKS = [{"type": "value", "options": {"1": {"text": "information", "color": "blue"}, "2": {"text": "warning", "color": "orange"},
                                       "3": {"text": "critical", "color": "red"}}}]
# Unknown values are grey, which is not the colour of a threshold.
UNKNOWN = [{"type": "special", "options": {"match": "null+nan", "result": {"text": "unknown", "color": "#808080"}}}]
KINDS = {"series": "timeseries", "table": "table", "stat": "stat", "states": "state-timeline"}
HEIGHT = 8  # default height of a row's panels


def expanded(expression):
    for name, labels in SELECTORS.items():
        expression = expression.replace(f"<{name}>", labels)
    return expression


def of_the_range(expression):
    """Selects the same lines at every step: those with the greatest values in the whole range. topk alone selects again at each step, so its lines have gaps."""
    start = "topk($top, "
    if not expression.startswith(start):
        return expression
    inner = expression[len(start):-1]
    return f"({inner}) and {start}max_over_time(({inner})[$__range:$__interval] @ end()))"


def variable(name, before, several=False):
    """A variable with the values of a label of roce_port_info, which every port has."""
    chosen = ", ".join(f'{label}=~"${label}"' for label in before)
    query = f"label_values(roce_port_info{{{chosen}}}, {name})" if chosen else f"label_values(roce_port_info, {name})"
    made = {"type": "query", "name": name, "datasource": SOURCE, "query": {"query": query, "refId": name}, "refresh": 2, "sort": 1}
    if name == "instance":
        # The node's name is shown where targets have the label `node`; the value is the label that every target has.
        made |= {"label": "Node", "query": {"query": f"query_result(group by (instance, node) (roce_port_info{{{chosen}}}))", "refId": name},
                 "regex": '/instance="(?<value>[^"]+)"(?:,node="(?<text>[^"]+)")?/'}
    # Also matches series without the label.
    everything = {"includeAll": True, "allValue": ".*", "current": {"text": "All", "value": "$__all"}}
    return {**made, **(everything if name == "cluster" or several else {}), **({"multi": True} if several else {})}


def top():
    """The variable for the maximum number of lines of a panel."""
    options = [{"text": n, "value": n, "selected": n == TOP[1]} for n in TOP]
    return {"type": "custom", "name": "top", "label": "Lines", "query": ",".join(TOP), "options": options, "current": {"text": TOP[1], "value": TOP[1]}}


def runbook(instance, cause):
    """Every node serves the runbook on its page."""
    return f"http://{instance}/runbook/{cause}"


def links(board, panel):
    return [{"title": "Runbook", "type": "link", "url": runbook("$instance", panel["runbook"]), "targetBlank": True, "asDropdown": False, "icon": "", "includeVars": False,
             "keepTime": False, "tags": [], "tooltip": ""}] if "runbook" in panel and board in OF_ONE_NODE else []


def link_to(to, *values):
    return {"title": to["title"], "url": to["url"] % values}


def series_links(board, panel):
    """Links from a line to the dashboards of the node and port in its labels."""
    legends = " ".join(legend for legend, _ in panel["queries"])
    instance = "${__field.labels.instance}" if "{{instance}}" in legends else "$instance"
    label = "pf" if "{{pf}}" in legends else "device" if "{{device}}" in legends else None
    made = [link_to(NODE, instance)] if "{{instance}}" in legends and board != "node" else []
    if label and board != "port":
        made.append(link_to(PORT, instance, f"${{__field.labels.{label}}}", "${__field.labels.port}" if "{{port}}" in legends else "1"))
    return made


def column(name, *shown):
    return {"matcher": {"id": "byName", "options": name}, "properties": [{"id": "links", "value": list(shown)}]}


def table_columns(board):
    """Settings of single columns: links from a cell to the object that it names, words and colours of severities, and times."""
    def field(name):
        return f'${{__data.fields["{name}"]}}'

    def shown_as(name, **properties):
        return {"matcher": {"id": "byName", "options": name}, "properties": [{"id": key.replace("_", "."), "value": value} for key, value in properties.items()]}
    return [column("cause", {"title": "Runbook", "url": runbook("$instance" if board in OF_ONE_NODE else field("instance"), "${__value.text}"), "targetBlank": True}), column("instance", link_to(NODE, "${__value.text}")),
            column("device", link_to(PORT, field("instance"), "${__value.text}", field("port"))), column("pod", link_to(POD, field("namespace"), "${__value.text}")),
            shown_as("Severity", mappings=RANKS, custom_cellOptions={"type": "color-text"}), shown_as("Since", unit="dateTimeAsIsoNoDateIfToday")]


def thresholds(panel):
    steps = [{"color": "green" if {"warning", "critical"} & panel.keys() else "blue", "value": None}]
    steps += [{"color": color, "value": panel[name]} for name, color in (("warning", "orange"), ("critical", "red")) if name in panel]
    return {"mode": "absolute", "steps": steps}


def field_config(board, panel):
    kind = panel.get("kind", "series")
    defaults = {"unit": panel.get("unit", "short"), "noValue": panel.get("absent", "unknown" if kind == "stat" else "no value"), "thresholds": thresholds(panel), "mappings": UNKNOWN if kind == "stat" else []}
    if kind == "series":
        drawn = "dashed" if len(defaults["thresholds"]["steps"]) > 1 else "off"
        defaults["custom"] = {"lineWidth": 1, "fillOpacity": 5, "spanNulls": False, "showPoints": "never", "thresholdsStyle": {"mode": drawn}}
        defaults["min"] = 0
    if kind in ("series", "states"):
        defaults["links"] = series_links(board, panel)
    if "roce_diagnosis{" in panel["queries"][0][1] and kind == "states":
        defaults["mappings"] = RANKS
    if "words" in panel:
        defaults["mappings"] = UNKNOWN + [{"type": "value", "options": {str(value): {"text": text, "color": color} for value, (text, color) in panel["words"].items()}}]
    return {"defaults": defaults, "overrides": table_columns(board) if kind == "table" else []}


OPTIONS = {
    "series": {"legend": {"displayMode": "list", "placement": "bottom", "showLegend": True, "calcs": []}, "tooltip": {"mode": "multi", "sort": "desc"}},
    "stat": {"colorMode": "value", "graphMode": "none", "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False}},
    "states": {"mergeValues": True, "showValue": "never", "rowHeight": 0.8, "legend": {"displayMode": "list", "placement": "bottom", "showLegend": False, "calcs": []},
               "tooltip": {"mode": "single", "sort": "none"}},
    "table": {"showHeader": True, "cellHeight": "sm"},
}


def target(i, panel, legend, expression):
    made = {"refId": chr(ord("A") + i), "datasource": SOURCE, "expr": expanded(expression), "legendFormat": legend or "__auto"}
    if panel.get("kind") == "table":
        return {**made, "format": "table", "instant": True, "range": False}
    if panel.get("kind") == "stat":
        return {**made, "instant": True, "range": False}
    return {**made, "expr": of_the_range(made["expr"]), "instant": False, "range": True}


def transformations(panel):
    """The queries as one table: each number under its title, and without labels that are the same everywhere."""
    names = ["Value"] if len(panel["queries"]) == 1 else [f"Value #{chr(ord('A') + i)}" for i in range(len(panel["queries"]))]
    titles = {name: title for name, (title, _) in zip(names, panel["queries"]) if title}
    hidden = {name: True for name in ("Time", "__name__", "job", *names) if name not in titles}
    return [*([{"id": "merge", "options": {}}] if len(names) > 1 else []), {"id": "organize", "options": {"excludeByName": hidden, "renameByName": titles}}]


def made_panel(board, number, panel, x, y, height):
    kind = panel.get("kind", "series")
    made = {
        "id": number, "type": KINDS[kind], "title": panel["title"], "description": panel["help"], "datasource": SOURCE,
        "gridPos": {"x": x, "y": y, "w": panel.get("width", 12), "h": height}, "links": links(board, panel), "fieldConfig": field_config(board, panel),
        "targets": [target(i, panel, *query) for i, query in enumerate(panel["queries"])], "options": OPTIONS[kind],
    }
    if kind == "table":
        made["transformations"] = transformations(panel)
        if panel["queries"][0][0] == "Severity":
            # Grafana merges several queries into one table, and does not keep their order.
            made["options"] = {**OPTIONS[kind], "sortBy": [{"displayName": "Severity", "desc": True}]}
    return made


def panels(board, rows):
    made, y = [], 0
    for row in rows:
        made.append({"id": len(made) + 1, "type": "row", "title": row["title"], "collapsed": False, "panels": [], "gridPos": {"x": 0, "y": y, "w": 24, "h": 1}})
        x, y, height = 0, y + 1, row.get("height", HEIGHT)
        for panel in row["panels"]:
            if x + panel.get("width", 12) > 24:
                x, y = 0, y + height
            made.append(made_panel(board, len(made) + 1, panel, x, y, height))
            x += panel.get("width", 12)
        y += height
    return made


def annotations(board):
    """Shows open verdicts on every chart; on the fleet's dashboard only critical ones."""
    verdicts = {"fleet": "roce_diagnosis{<fleet>} == 3", "pod": "roce_diagnosis{<fleet>} and on (cluster, instance, device, port, cause) roce_diagnosis_pod_info{<pod>}"}
    shown = verdicts.get(board, f"roce_diagnosis{{<{board}>}}")
    return [{"name": "Verdicts", "datasource": SOURCE, "enable": True, "hide": False, "iconColor": "red", "titleFormat": "{{cause}}",
             "textFormat": "{{instance}} {{device}}/{{port}}", "tagKeys": "cause",
             "expr": expanded(f"max by (instance, device, port, cause) ({shown})")}]


def dashboard(source):
    names = source["variables"]
    templates = [{"type": "datasource", "name": "datasource", "query": "prometheus", "label": "Data source"}]
    templates += [{**variable(name, names[:i]), **({"multi": True} if name in source.get("several", []) else {})} for i, name in enumerate(names)]
    templates += [variable(name, names, several=True) for name in source.get("choose", [])]
    templates += [top()] if any("$top" in expression for row in source["rows"] for panel in row["panels"] for _, expression in panel["queries"]) else []
    return {
        "uid": f"rocelet-{source['name']}", "title": source["title"], "description": source["help"], "tags": ["rocelet"], "schemaVersion": SCHEMA, "version": 1, "editable": True,
        "timezone": "browser", "refresh": "30s", "time": {"from": "now-1h", "to": "now"}, "graphTooltip": 1,
        "links": [{"type": "dashboards", "tags": ["rocelet"], "title": "RoCE", "asDropdown": True, "keepTime": True, "includeVars": True, "icon": "", "targetBlank": False,
                   "tooltip": "", "url": ""}],
        "templating": {"list": templates}, "annotations": {"list": annotations(source["name"])}, "panels": panels(source["name"], source["rows"]),
    }


def text_of(made):
    """JSON with a line for each panel and variable. `kubectl apply` copies the ConfigMap into an annotation, which has a limit of 256 KiB; fully indented dashboards would exceed it."""
    def shown(value):
        return "[\n" + ",\n".join(json.dumps(item) for item in value) + "\n]" if isinstance(value, list) else json.dumps(value)
    return "{\n" + ",\n".join(f"{json.dumps(key)}: {shown(value)}" for key, value in made.items()) + "\n}\n"


if __name__ == "__main__":
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "dashboards")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(HERE, "dashboards.yaml"), encoding="utf-8") as f:
        sources = yaml.safe_load(f)["dashboards"]
    for source in sources:
        with open(os.path.join(folder, source["name"] + ".json"), "w", encoding="utf-8") as f:
            f.write(text_of(dashboard(source)))
