#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Judges the dashboards in k8s/deploy/monitoring: they are generated from their source; each query finds something in a real Prometheus that
scrapes a rocelet whose counters rise, and a page with every family of docs/reference/metrics.md, since no single driver has them all; and Grafana's own
types allow them.

  dashboards.py DAEMON MK_SYSFS PROMETHEUS

One line per check, "N passed, N failed" last.

run: {build}/rocelet {build}/bench/mk_sysfs {prometheus}/usr/bin/prometheus
proves: k8s/deploy/monitoring docs/reference/metrics.md
when: turns
"""
import glob
import http.server
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time

import yaml

import grafana_schema
from checks import MONITORING, TOP, check, end, read
from live_prometheus import Prometheus, becomes, free_port, quick_rules

sys.path[:0] = [os.path.join(TOP, "tests/interop"), os.path.join(TOP, "tests/lib")]
VARIABLES = {"cluster": ".*", "instance": "made", "device": "made0", "port": "1", "namespace": "train", "pod": "a", "__rate_interval": "30s", "__range": "30s", "__interval": "5s", "top": "10"}


STEADY = re.compile(r"\((.+)\) and topk\(\$top, max_over_time\(\(\1\)\[\$__range:\$__interval\] @ end\(\)\)\)")
DASHBOARDS = {os.path.basename(path): json.loads(read(path)) for path in sorted(glob.glob(MONITORING + "/dashboards/*.json"))}


def all_panels(dashboard):
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]


# --- the files ------------------------------------------------------------------------------------

def made_of_their_source():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["/usr/bin/python3", MONITORING + "/dashboards.py", folder], check=True)
        made = {name: json.loads(read(folder, name)) for name in sorted(os.listdir(folder))}
    check("they are made of dashboards.yaml (make golden)", *([] if made == DASHBOARDS and len(made) == 4 else ["they are not"]))


def overlap(a, b):
    return a["x"] < b["x"] + b["w"] and b["x"] < a["x"] + a["w"] and a["y"] < b["y"] + b["h"] and b["y"] < a["y"] + a["h"]


def texts_of(value):
    """Every string in a value."""
    if isinstance(value, str):
        return [value]
    return [text for inner in (value.values() if isinstance(value, dict) else value if isinstance(value, list) else []) for text in texts_of(inner)]


def explained(panel):
    """Every panel has a description, a unit and thresholds, and few lines."""
    defaults = panel["fieldConfig"]["defaults"]
    problems = [] if len(panel["description"]) > 20 else ["no description"]
    problems += [] if defaults.get("unit") else ["no unit"]
    problems += [] if defaults.get("thresholds", {}).get("steps") else ["no thresholds"]
    several = [query["expr"] for query in panel["targets"] if panel["type"] == "timeseries" and re.search(r"{{(device|pf)}}", query["legendFormat"])]
    problems += [f"a line for each port: {e}" for e in several if not STEADY.fullmatch(e)]
    # topk alone chooses other lines at each step.
    problems += [f"topk of each step: {query['expr']}" for query in panel["targets"] if query["range"] and "topk($top" in query["expr"] and not STEADY.fullmatch(query["expr"])]
    return [f"{panel['title']}: {problem}" for problem in problems]


def fields(panel):
    """{name of a value in the answer: its title} of a table."""
    organized = next(t["options"] for t in panel["transformations"] if t["id"] == "organize")
    return organized.get("renameByName", {})


def wrong_table(panel):
    """Several queries of a table are one table, and each number in it has a title."""
    if len(panel["targets"]) == 1:
        return []
    names = [f"Value #{query['refId']}" for query in panel["targets"]]
    hidden = next(t["options"] for t in panel["transformations"] if t["id"] == "organize")["excludeByName"]
    problems = [] if panel["transformations"][0]["id"] == "merge" else ["its queries are not one table"]
    problems += [f"{name} has no title" for name in names if not hidden.get(name) and not fields(panel).get(name)]
    return [f"{panel['title']}: {problem}" for problem in problems]


def wrong_sentences():
    """A description fits its panel: panels of two kinds do not share one, "worst first" is only on a sorted list, and no word is repeated."""
    panels = [(name, panel) for name, dashboard in DASHBOARDS.items() for panel in all_panels(dashboard)]
    kinds = {}
    for _, panel in panels:
        kinds.setdefault(panel["description"], set()).add(panel["type"])
    problems = [f"of panels of two kinds: {text}" for text, of in kinds.items() if len(of) > 1]
    problems += [f"{name}: {p['title']}: it is not sorted" for name, p in panels if "worst first" in p["description"] and not p["targets"][0]["expr"].startswith("sort_desc(")]
    problems += [f"{name}: {p['title']}: {p['description']}" for name, p in panels if re.search(r"\b(\w{4,})\b( of the | )\1\b", p["description"], re.I)]
    check("texts of panels fit them", *problems)


def named(board, title):
    return next((panel for panel in all_panels(DASHBOARDS[board]) if panel["title"] == title), None)


def at_night():
    """The first questions at night: does the agent answer, which nodes are unseen, which pods have verdicts, and which pool is exhausted."""
    first = [panel["title"] for panel in DASHBOARDS["node.json"]["panels"][:3]]
    check("a node begins with its agent and the age of its numbers", *([] if first == ["Agent", "Agent", "Last sample"] else [f"it begins with {first}"]))
    for board in "fleet.json", "node.json":
        pools = named(board, "Pools")
        titles = set(fields(pools).values()) if pools else set()
        check(f"{board} has the capacity of each pool", *(f"no {word}" for word in sorted({"Total", "Allocated", "Free", "Unhealthy"} - titles)))
    check("a port has its pods", *([] if named("port.json", "Pods") else ["it has not"]))


def nodes_by_name():
    """A node is chosen by its name where targets have one, and else by the address, as Grafana prints the series of query_result()."""
    chosen = [v for d in DASHBOARDS.values() for v in d["templating"]["list"] if v["name"] == "instance"]
    shown = {"{instance=\"1:9907\",node=\"gpu-1\"} 1 1790000000000": ("1:9907", "gpu-1"), "{instance=\"1:9907\"} 1 1790000000000": ("1:9907", None)}
    patterns = {v["regex"].strip("/").replace("(?<", "(?P<") for v in chosen}
    check("a node is chosen by its name", *([] if chosen else ["there is no such variable"]),
          *(f"{text}: {found and found.groupdict()}" for pattern in patterns for text, (value, name) in shown.items()
            if not (found := re.search(pattern, text)) or found.groupdict() != {"value": value, "text": name}))


def broken_links(dashboard):
    """Links to dashboards and the variables that they set."""
    by_uid = {d["uid"]: {v["name"] for v in d["templating"]["list"]} for d in DASHBOARDS.values()}
    problems = []
    for url in texts_of(dashboard):
        found = re.match(r"/d/([\w-]+)\?(.*)", url)
        if found:
            names = {name for name in re.findall(r"var-(\w+)=", found[2])}
            problems += [] if found[1] in by_uid else [f"{url}: no dashboard"]
            problems += [f"{url}: no variable {name}" for name in names - by_uid.get(found[1], names)]
    return problems


def by_links():
    """From the fleet to a node and a port, from a node to a port, from a port of a pod to its node."""
    leads = {name: {uid for text in texts_of(d["panels"]) for uid in re.findall(r"^/d/([\w-]+)\?", text)} for name, d in DASHBOARDS.items()}
    wanted = {"fleet.json": {"rocelet-node", "rocelet-port", "rocelet-pod"}, "node.json": {"rocelet-port", "rocelet-pod"}, "pod.json": {"rocelet-node", "rocelet-port"}}
    check("links lead from the fleet to its nodes and ports", *(f"{name} does not lead to {uid}" for name, uids in wanted.items() for uid in uids - leads[name]))


def as_grafanas_types():
    check("Grafana's own types allow them (@grafana/schema)", *grafana_schema.complaints({os.path.splitext(name)[0]: d for name, d in DASHBOARDS.items()}))
    # The check itself: a misspelt key, a value of another type and an option that does not exist.
    wrong = json.loads(read(MONITORING, "dashboards/fleet.json"))
    wrong["refersh"] = "1s"
    next(p for p in wrong["panels"] if p["type"] == "timeseries")["gridPos"]["w"] = "12"
    next(p for p in wrong["panels"] if p["type"] == "stat")["options"]["colourMode"] = "value"
    found = "\n".join(grafana_schema.complaints({"wrong": wrong}))
    check("  and refuse a wrong one", *(f"no complaint about {word}" for word in ("refersh", "colourMode", "'number'") if word not in found))


def as_grafana_requires():
    headings = set(re.findall(r"^## (\w+)$", read("docs/runbook.md"), re.M))
    families = set(re.findall(r"^\| `(\w+)` \| ", read("docs/reference/metrics.md"), re.M))
    recorded = {rule.get("record") for group in yaml.safe_load(read(MONITORING, "rules.yaml"))["groups"] for rule in group["rules"]}
    check("each has a name of its own", *([] if len({d["uid"] for d in DASHBOARDS.values()}) == len(DASHBOARDS) else ["it has not"]))
    for name, dashboard in DASHBOARDS.items():
        problems, places = [], [panel["gridPos"] for panel in dashboard["panels"]]
        problems += [f"{a} and {b} overlap" for i, a in enumerate(places) for b in places[:i] if overlap(a, b)]
        problems += [f"{place} is not in 24 columns" for place in places if place["x"] + place["w"] > 24]
        problems += [] if len({panel["id"] for panel in dashboard["panels"]}) == len(places) else ["two panels with one id"]
        variables = {v["name"] for v in dashboard["templating"]["list"]}
        for panel in all_panels(dashboard):
            for query in panel["targets"]:
                used = set(re.findall(r"\$(\w+)", query["expr"])) - {"__rate_interval", "__range", "__interval"}
                problems += [f"{panel['title']}: ${v} is chosen nowhere" for v in used - variables]
                bare = re.sub(r'"[^"]*"', "", query["expr"])
                names = set(re.findall(r"(?<![\w:])(?:roce|rocelet)_\w+", bare))
                problems += [f"{panel['title']}: no family {f}" for f in names if re.sub("_bucket$", "", f) not in families]
                problems += [f"{panel['title']}: no rule {r}" for r in set(re.findall(r"(?:port|cluster|node):\w+:\w+", bare)) - recorded]
                problems += [f"{panel['title']}: an average"] if re.search(r"\bavg\b", bare) else []
            problems += explained(panel)
            problems += wrong_table(panel) if panel["type"] == "table" else []
            problems += [f"{panel['title']}: {link['url']}" for link in panel["links"] if link["url"].removeprefix("http://$instance/runbook/") not in headings]
        problems += broken_links(dashboard)
        problems += [] if [a["name"] for a in dashboard["annotations"]["list"]] == ["Verdicts"] else ["verdicts are no annotations"]
        check(name, *problems)


# --- in Prometheus --------------------------------------------------------------------------------

# Values other than 1 that queries need; of the families that the recording rules are based on.
GAUGES = {"roce_port_state": 4, "roce_port_rate_bytes_per_second": 1e12, "rocelet_source_age_seconds": 1, "roce_diagnosis": 3}
INFO = {"link_layer": "Ethernet", "driver": "mlx5_core", "function": "pf", "parent": "", "pci": "0000:18:00.0", "netns": "", "kind": "qp"}


def labelled(name, column):
    """Each set of labels that a row of docs/reference/metrics.md describes: one for each value of one label, and the first value of the other labels."""
    described = dict(re.findall(r"`(\w+)`(?: \(([^)]*)\))?", column))
    described.pop("le", None)
    common = {"device": "made0", "port": "1"} if name.startswith("roce_") else {}
    common |= {"namespace": "train", "pod": "a", "container": "c"} if name.startswith("roce_") or "namespace" in described else {}
    first = {label: INFO.get(label, common.get(label, (values or "x").split(", ")[0])) for label, values in described.items()}
    sets = [{**common, **first}]
    for label, values in described.items():
        sets += [{**common, **first, label: value} for value in (values.split(", ")[1:] if values and label not in common else [])]
    return sets


def sample(name, labels, value):
    return f"{name}{{{','.join(f'{k}={json.dumps(v)}' for k, v in labels.items())}}} {value}\n"


# A VF of made0, in a pod of its own.
VF = {"device": "made1", "port": "1", "pci": "0000:18:00.1", "parent": INFO["pci"], "driver": INFO["driver"], "link_layer": "Ethernet", "function": "vf",
      "namespace": "train", "pod": "of-vf", "container": "c"}


def made_page(began):
    page, seconds = sample("roce_port_info", VF, 1), time.monotonic() - began
    # The verdict of made0 affects its pod, and not that of another VF.
    page += sample("roce_port_info", {**VF, "device": "made2", "pci": "0000:18:00.2", "pod": "untouched"}, 1)
    page += sample("roce_diagnosis_pod_info", {"device": "made0", "port": "1", "cause": "x", "role": "affected", "namespace": "train", "pod": "of-vf"}, 1)
    # It is down, and has no verdicts.
    of_vf = {label: VF[label] for label in ("device", "port", "namespace", "pod", "container")}
    page += sample("roce_port_state", of_vf, 1) + "".join(sample("roce_diagnosis_port_causes", {**of_vf, "decision": decision}, n)
                                                         for decision, n in (("judged", 0), ("undecided", 40)))
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| (.*?) \|", read("docs/reference/metrics.md"), re.M)
    for name, kind, column in {row[0]: row for row in rows}.values():
        for i, labels in enumerate(labelled(name, column)):
            grown = seconds * (0.3 if "seconds" in name else 1000 * (i + 1))
            if kind == "histogram":
                page += "".join(sample(name + "_bucket", {**labels, "le": le}, grown * share) for le, share in (("0.1", 0.5), ("1", 1), ("+Inf", 1)))
            else:
                page += sample(name, labels, grown if kind == "counter" else GAUGES.get(name, 1))
    return page.encode()


def quiet_page(began, age=1):
    """A port in a pod, with all causes judged and no verdict; age: of the source of its counters."""
    labels = {**VF, "device": "made0", "parent": "", "function": "pf", "pod": "quiet"}
    port = {label: labels[label] for label in ("device", "port", "namespace", "pod", "container")}
    page = sample("roce_port_info", labels, 1) + sample("roce_port_state", port, 4) + sample("roce_diagnosis_port_causes", {**port, "decision": "judged"}, 37)
    page += sample("rocelet_build_info", {"version": "1"}, 1) + sample("rocelet_source_age_seconds", {"source": "ethtool"}, age)
    return (page + sample("rocelet_samples_total", {}, time.monotonic() - began) + sample("rocelet_sample_timestamp_seconds", {}, time.time())).encode()


class MadePage(http.server.BaseHTTPRequestHandler):
    began = time.monotonic()

    @staticmethod
    def made(began):
        return made_page(began)

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.end_headers()
        self.wfile.write(self.made(self.began))

    def log_message(self, *args):
        pass


class QuietPage(MadePage):
    @staticmethod
    def made(began):
        return quiet_page(began)


class BlindPage(MadePage):
    @staticmethod
    def made(began):
        return quiet_page(began, age=120)


def set_in(expression, values):
    return re.sub(r"\$(\w+)", lambda m: values[m[1]], expression)


def find_something(daemon_path, mk_sysfs, prometheus):
    import daemon_python
    import diagnosis_python
    daemon_python.programs["daemon"], daemon_python.programs["mk_sysfs"] = daemon_path, mk_sysfs
    address = f"127.0.0.1:{free_port()}"
    served = {name: serve(page) for name, page in (("made", MadePage), ("quiet", QuietPage), ("beside", QuietPage), ("blind", BlindPage))}
    with diagnosis_python.Node(flags=["--listen", address]) as node:
        node.story(diagnosis_python.PF).play(diagnosis_python.TRAFFIC, diagnosis_python.MARKED)
        # Two targets that answered before and no longer do.
        gone = {name: serve(MadePage) for name in ("gone", "silent")}
        with Prometheus(prometheus, ["made", "real"], quick_rules()) as running:
            running.set_targets("made", {name: f"127.0.0.1:{server.server_port}" for name, server in {**served, **gone}.items()},
                                quiet="quiet", beside="partly", silent="partly", blind="blind")
            running.set_targets("real", {"real": address})
            check("Prometheus scrapes all of them", *([] if becomes(lambda: len(running.ask("up == 1 and on (instance) rocelet_build_info") or []) == 7) else ["it does not"]))
            finds(running, "fleet.json", "Critical", lambda found: found and found[0][1] > 0, cluster="partly")
            for server in gone.values():
                server.shutdown()
                server.server_close()
            judge_queries(running)
            judge_absence(running)
            judge_blindness(running)
    for server in served.values():
        server.shutdown()


def serve(page):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def finds(running, board, title, wanted, **chosen):
    """Checks that wanted() is true of the results of a panel's first query, [(labels, value)]."""
    panel, found = named(board, title), []

    def found_it():
        found[:] = [(r["metric"], float(r["value"][1])) for r in running.ask(set_in(panel["targets"][0]["expr"], {**VARIABLES, **chosen})) or []]
        return wanted(found)
    check(f"{board}: {title}, of {chosen or 'all'}", *([] if panel and becomes(found_it) else [f"it finds {found[:3]}"]))


def judge_absence(running):
    finds(running, "node.json", "Agent", lambda found: [value for _, value in found] == [1], instance="made")
    finds(running, "node.json", "Agent", lambda found: [value for _, value in found] == [0], instance="gone")
    finds(running, "node.json", "Last sample", lambda found: found and found[0][1] > 60, instance="gone")
    finds(running, "node.json", "Open problems", lambda found: found == [], instance="gone")
    finds(running, "fleet.json", "Nodes that are not seen", lambda found: {labels["instance"] for labels, _ in found} == {"gone", "silent", "blind"})
    finds(running, "fleet.json", "Devices out of use", lambda found: any(labels.get("reason") == "bad" for labels, _ in found))
    finds(running, "fleet.json", "Alerts", lambda found: found and found[0][1] == 3 and any(labels["alertname"] == "RoceletConfigurationHeld" for labels, _ in found))
    finds(running, "fleet.json", "Pods of verdicts", lambda found: {labels["pod"] for labels, _ in found} == {"a", "of-vf"} and all("cause" in labels and "role" in labels for labels, _ in found))
    finds(running, "fleet.json", "Verdicts", lambda found: any(labels.get("pod") == "a" and labels.get("namespace") == "train" for labels, _ in found))
    # A verdict on a PF concerns those pods with its VFs that the daemon names.
    finds(running, "pod.json", "Verdicts of the pod", lambda found: any(labels["device"] == "made0" for labels, _ in found), pod="of-vf")
    finds(running, "pod.json", "Verdicts of the pod", lambda found: found == [], pod="untouched")
    finds(running, "pod.json", "Verdicts of the pod", lambda found: {labels["pod"] for labels, _ in found} == {"a", "of-vf"}, pod="(a|of-vf|untouched)")


# The values of a panel about health if all nodes were seen, if a part was not, and if none was.
NONE_SEEN, UNKNOWN = [-1], []


def judge_blindness(running):
    """Unseen state is never shown as 0, active or answering."""
    def shows(board, title, values, **chosen):
        finds(running, board, title, lambda found: [value for _, value in found] == values, **chosen)
    for title in "Critical", "Warnings":
        shows("fleet.json", title, [0], cluster="quiet")
        shows("fleet.json", title, NONE_SEEN, cluster="partly")
        shows("fleet.json", title, NONE_SEEN, cluster="blind")
        shows("fleet.json", title, UNKNOWN, cluster="nothing")
    of = {"quiet": {"cluster": "quiet", "instance": "quiet", "pod": "quiet"}, "blind": {"cluster": "blind", "instance": "blind", "pod": "quiet"},
          "silent": {"cluster": "partly", "instance": "silent", "pod": "a"}}
    for board, title, *values in (("node.json", "Agent", [1], [3], [0]), ("node.json", "Open problems", [0], NONE_SEEN, UNKNOWN), ("node.json", "Ports not judged", [0], UNKNOWN, UNKNOWN),
                                  ("node.json", "Port state", [4], UNKNOWN, UNKNOWN), ("node.json", "Causes judged", [37], UNKNOWN, UNKNOWN),
                                  ("port.json", "State", [4], UNKNOWN, UNKNOWN), ("port.json", "State over time", [4], UNKNOWN, UNKNOWN), ("port.json", "Causes judged", [37], UNKNOWN, UNKNOWN),
                                  ("pod.json", "Problems of the pod", [0], NONE_SEEN, UNKNOWN), ("pod.json", "State of its ports", [4], UNKNOWN, UNKNOWN)):
        for (name, chosen), expected in zip(of.items(), values):
            shows(board, title, expected, **chosen)
    words = {board: [m for p in all_panels(d) for m in p["fieldConfig"]["defaults"]["mappings"] if m["type"] == "value"] for board, d in DASHBOARDS.items()}
    check("unseen values are grey", *(f"{board}: {m['options']['-1']}" for board, of_board in words.items() for m in of_board
                                        if "-1" in m["options"] and m["options"]["-1"] != {"text": "none seen", "color": "#808080"}))


def judge_queries(running):
    for name, dashboard in DASHBOARDS.items():
        for panel in all_panels(dashboard):
            for query in panel["targets"]:
                expression = set_in(query["expr"], VARIABLES)
                found = becomes(lambda e=expression: running.ask(e))
                check(f"{name}: {panel['title']}: {query['legendFormat']}", *([] if found else [expression]))
        for annotation in dashboard["annotations"]["list"]:
            expression = set_in(annotation["expr"], VARIABLES)
            check(f"{name}: annotation {annotation['name']}", *([] if becomes(lambda e=expression: running.ask(e)) else [expression]))
    # The counters and verdicts of the real daemon.
    real = {**VARIABLES, "instance": "real", "device": "mlx5_0"}
    for name, title in (("node.json", "Verdicts"), ("node.json", "Receive utilisation"), ("node.json", "Packets that arrive marked"),
                        ("port.json", "Marks and notifications"), ("port.json", "Throughput vs link rate")):
        panel = next(p for p in all_panels(DASHBOARDS[name]) if p["title"] == title)
        expression = set_in(panel["targets"][0]["expr"], real)
        found = becomes(lambda e=expression: any(float(r["value"][1]) > 0 for r in running.ask(e) or []))
        check(f"of a real rocelet, {name}: {title}", *([] if found else [expression]))


made_of_their_source()
as_grafana_requires()
by_links()
nodes_by_name()
wrong_sentences()
at_night()
as_grafanas_types()
find_something(*sys.argv[1:4])
end()
