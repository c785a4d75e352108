# SPDX-License-Identifier: Apache-2.0
"""One health everywhere: of a cable that is cut, in the bar at the top, and in the names of events."""
import glob
import json
import os
import re

from diagnosis_python import PF, TRAFFIC, VF
from kubelet_python import equal, eventually
from page_node import AXE, LIVE, PageNode, altered, axe_script, check, has, opened, silent
from page_overview import COUNT, PodNode

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
DOWN, UP = ("1: DOWN", "3: Disabled"), ("4: ACTIVE", "5: LinkUp")
HEALTH = "page.model?.ports?.map((p) => [p.facts.device, p.state.kind])"


class CutNode(PodNode):
    """A node whose PF has lost its link, and with it the VF of a pod."""

    def __enter__(self):
        node = super().__enter__()
        for device in (PF, VF):
            node.story(device).play(TRAFFIC)
        node.judged(VF)
        self.link_to(*DOWN)
        eventually("a verdict", lambda: node.verdict(PF, "link_flap"))
        eventually("of the VF, too", lambda: self.health()[VF] == self.health()[PF] == node.verdict(PF, "link_flap")["severity"])
        return node

    def link_to(self, *state):
        for device in (PF, VF):
            self.stories[device].state(*state)

    def health(self):
        return {p["device"]: p["health"] for p in json.loads(self.get("/api/v1/ports"))["ports"]}


@check
def a_cut_cable_is_one_problem_everywhere():
    """The VF of a pod has the health that the API and rocectl report: in the lists, on the rails, in the counts, and on the pod's page. The overview names the cable once."""
    with CutNode() as node:
        severity = node.health()[VF]
        page = opened(node)
        page.until("of the VF", f"Object.fromEntries({HEALTH} ?? [])['{VF}'] === '{severity}'")
        page.until("on its rail", f"document.querySelector('.cell[data-pod=\"train/job-7\"]')?.dataset.kind === '{severity}'")
        page.until("in the count", f"/1 {severity}\\s+1 through their PF/.test(document.querySelector('.tally').innerText)")
        equal(page.run("[document.querySelector('.blind'), document.querySelectorAll('.problem').length, /nothing can be judged/.test(document.body.innerText)]"), [None, 1, False])
        page.until("its pod", "document.querySelector('.problem a[href=\"#pod/train/job-7\"]')")
        page.until("no finding beside it", "page.model.documents.doctor && ![...document.querySelectorAll('.agent-line')].some((e) => /Device unhealthy/.test(e.innerText))")
        for place, what in ((("ports", "Link down (PF)"), "[...document.querySelectorAll('table.list tbody tr')].find((tr) => tr.innerText.startsWith('mlx5_2/1'))?.querySelector('.c-state')"),
                            (("pod/train/job-7", "Link down (PF)"), "document.querySelector('table.list tbody tr .c-state')"), (("port/mlx5_2/1", "Link down (PF)"), "document.querySelector('.notice')")):
            page.go(node.url + "#" + place[0])
            page.until(place, f"{what}?.innerText.includes('{place[1]}')")
        for show in ("problems", "through"):
            page.go(node.url + f"#ports?show={show}")
            page.until(show, "Number(document.querySelector('table.list')?.getAttribute('aria-rowcount')) - 1 === 1")
        page.go(node.url + "#ports?show=unknown")
        page.until("neither", f"page.view.title() === 'Ports' && !document.querySelector('table.list tbody').innerText.includes('{VF}')")
        silent(page, node.url)
        page.close()


@check
def the_api_decides_the_health_of_a_port():
    """A note about a port does not hide a worse trouble of its device."""
    change = f"""(path, document) => {{ if (path === 'ports') Object.assign(document.ports.find((p) => p.device === '{VF}'), {{health: 'critical', troubles: [
        {{kind: 'device', word: 'no_chardev', severity: 'critical', level: 3, ofPf: false, since: null, orEarlier: false, what: 'it has no files', help: ''}},
        {{kind: 'verdict', word: 'blind_spot', severity: 'info', level: 1, ofPf: false, since: null, orEarlier: false, what: 'x', help: ''}}]}});
        if (path === 'live') document.verdicts = [{{device: '{VF}', port: 1, cause: 'blind_spot', severity: 'info', level: 1, sentence: 'x', onset: document.time, evidence: [], pods: [], podCount: 0, causedBy: [], symptoms: []}}], document.verdictCount = 1, document.problemCount = 0; }}"""
    with PodNode() as node:
        node.judged(VF)
        page = altered(node, change)
        page.until("the trouble", f"page.model?.portByKey.get('{VF}/1')?.state.text === 'No device files'")
        page.close()


@check
def a_link_is_down_until_it_is_back():
    """Its problem is called "Link down" while it is, and "Link went down" once it is back, in every view."""
    with CutNode() as node:
        page = opened(node)
        page.until("down", "document.querySelector('.problem h3')?.innerText === 'Link down' && /since \\d/i.test(document.querySelector('.problem-when').innerText)")
        page.run("document.querySelector('.problem h3 button').click()")
        equal(page.run("/Link flap|The link went down/.test(document.querySelector('main').innerText)"), False)
        page.until("the event", "page.model.store.events.map(eventTitle).includes('Link down found')")
        page.go(node.url + "#port/mlx5_0/1")
        page.until("its band", "document.querySelector('.band-label')?.innerText.trim().endsWith('Link down')")
        page.go(node.url + "#pods")
        page.until("its pod", "document.querySelector('table.list tbody .c-state')?.innerText.startsWith('Link down')")
        node.link_to(*UP)
        page.go(node.url + "#")
        page.until("back", "document.querySelector('.problem h3')?.innerText === 'Link went down'")
        silent(page, node.url)
        page.close()
        equal(sorted({*re.findall(r'"(link_flap)"', open(TOP + "/daemon/diagnosis/cause_table.c", encoding="utf-8").read())}), ["link_flap"])


FAILED = """(path, document) => { if (path === 'live') document.events.events.push({type: 'Warning', reason: 'QueuePairFailed', namespace: 'train', pod: 'job-7', device: '0000:18:00.0', message: 'queue pair 7 failed', count: 3, first: document.time, last: document.time}); }"""
REJECTED = """(path, document) => { if (path === 'doctor') document.findings = [{kind: 'config', about: 'rocelet', object: null, namespace: null, pod: null, what: 'the configuration file is rejected: /etc/rocelet/config.json:3: pools: unknown key', help: 'The previous configuration is in force.', fixable: false}]; }"""


@check
def the_bar_knows_more_than_ports():
    """It does not say "No problems" while queue pairs have failed or the configuration is rejected, and leads to what is wrong."""
    with PageNode() as node:
        node.story(PF).play(TRAFFIC)
        node.judged(PF)
        for change, text, label, to in ((FAILED, "3 failed QPs", "3 queue pairs failed in the last hour", "#events?topic=application"), (REJECTED, "Configuration rejected", "configuration rejected", "#agent")):
            page = altered(node, change)
            page.until(text, f"{COUNT} === '{text}' && document.getElementById('count').getAttribute('aria-label') === '{label}' && document.querySelector('#count .mark').dataset.kind === 'warning'")
            equal(page.run("document.getElementById('count').getAttribute('href')"), to)
            equal(page.run("document.querySelector('.headline .mark').dataset.kind"), "warning")
            silent(page, node.url)
            page.close()


def reasons():
    """All reasons of events in the daemon's source and in the reference."""
    found = set()
    for path in glob.glob(TOP + "/daemon/**/*.c", recursive=True):
        with open(path, encoding="utf-8") as f:
            text = f.read()
        found |= set(re.findall(r'(?:EVENT_WARNING|EVENT_NORMAL|reload_report\(\w+|\? "Config\w+" ?:|\.reason =|->reason = [^;]*?)[,\s]+"([A-Z]\w+)"', text))
        found |= set(re.findall(r'\[BPF_(?:CM|DCB)_\w+\] = "([A-Z]\w+)"', text)) | set(re.findall(r'[?:] "([A-Z][a-z]+[A-Z]\w+)"\n?', text) if "->reason" in text or "reload_report" in text else ())
    with open(TOP + "/docs/reference/rocectl.md", encoding="utf-8") as f:
        table = re.search(r"^## Events\n.*?(?=^## )", f.read(), re.M | re.S)[0]
    for names in re.findall(r"^\| (`[^|]*) \|", table, re.M):
        found |= set(re.findall(r"`([A-Z]\w+)`", names))
    return found - {"DiagnosisOnset", "DiagnosisWorse", "DiagnosisEnd"}


@check
def every_event_has_a_name_in_words():
    """Also the events from before the page was opened at their list."""
    found = reasons()
    assert {"ConfigRefused", "ConfigHeld", "AddressLeak", "TxTimeout", "QueuePairFailed", "Unhealthy"} <= found and len(found) > 30, found
    with PageNode() as node:
        node.judged(PF)
        page = altered(node, f"""(path, document) => {{ if (path === 'events') document.events = {json.dumps(sorted(found))}.map((reason, i) => ({{type: 'Warning', reason, namespace: null, pod: null, device: null, message: `m${{i}}`, count: 1, first: '2026-01-02T03:04:05Z', last: '2026-01-02T03:04:05Z'}})); }}""", "#events", height=4000)
        equal(page.run("Object.keys(EVENT_WORDS).toSorted()"), sorted(found))
        page.until("rows", f"document.querySelectorAll('td.c-reason').length >= {len(found)}")
        cells = page.run("[...document.querySelectorAll('td.c-reason [data-tip]')].map((e) => [e.dataset.tip, e.innerText])")
        equal([pair for pair in cells if pair[0] in found and re.search(r"[a-z][A-Z]", re.sub(r"RoCE", "", pair[1]))], [])
        equal({tip for tip, _ in cells} >= found, True)
        silent(page, node.url)
        page.close()


WORDED = [("fabric_congestion is over, lasted 394 s; at its worst, link down for: 1h5m (limit 4m)", "fabric_congestion is over, lasted 7 min; at its worst, link down for: 65 min (limit 4 min)"),
          ("the device of rocelet.dev/roce is unhealthy: link_down", "the device of rocelet.dev/roce is unhealthy: link down"), ("attach of mlx5_no_driver: 30 s", "attach of mlx5_no_driver: 30 s"),
          ("it is unhealthy (no_chardev, not_clean), with 12m5 and 4m in it", "it is unhealthy (no device files, not clean), with 12m5 and 4m in it")]


@check
def messages_have_the_words_of_the_page():
    """Durations and reasons in a message of the daemon are written as everywhere else on the page."""
    with PageNode() as node:
        node.judged(PF)
        page = altered(node, """(path, document) => { if (path === 'events') document.events = [{type: 'Warning', reason: 'Unhealthy', namespace: null, pod: null, device: 'mlx5_0', message: 'the device of rocelet.dev/roce is unhealthy: link_down', count: 1, first: '2026-01-02T03:04:05Z', last: '2026-01-02T03:04:05Z'},
            {type: 'Normal', reason: 'DiagnosisEnd', namespace: null, pod: null, device: 'mlx5_0', message: 'mlx5_0 port 1: fabric_congestion is over, lasted 394 s; at its worst, CE marked: 0.2', count: 1, first: '2026-01-02T03:04:06Z', last: '2026-01-02T03:04:06Z'}]; }""", "#events")
        page.until("both", "document.querySelectorAll('td.c-message').length >= 2")
        texts = page.run("[...document.querySelectorAll('td.c-message')].map((e) => e.innerText)")
        for text in ("The device of rocelet.dev/roce is unhealthy: link down", "Lasted 7 min; at its worst, CE marked: 0.2"):
            assert text in texts, (text, texts)
        for text, wanted in WORDED:
            equal(page.run(f"inWords({json.dumps(text)})"), wanted)
        silent(page, node.url)
        page.close()


@check
def charts_name_where_earlier_times_are():
    with PageNode() as node:
        node.story(PF).play(TRAFFIC)
        node.judged(PF)
        page = opened(node, "#port/mlx5_0/1")
        has(page, "Earlier times: Prometheus, dashboard RoCE / port")
        with open(TOP + "/k8s/deploy/monitoring/dashboards.yaml", encoding="utf-8") as f:
            titles = re.findall(r"^  title: (RoCE / \w+)$", f.read(), re.M)
        equal(page.run("Object.values(DASHBOARDS)"), [title for title in ("RoCE / port", "RoCE / pod") if title in titles])
        silent(page, node.url)
        page.close()


@check
def axe_finds_nothing_in_a_cut_cable():
    """Nor is a view wider than the window."""
    axe = axe_script()
    with CutNode() as node:
        for width, dark in ((1320, True), (1180, False), (400, False)):
            page = opened(node, width=width, dark=dark)
            page.run(axe + ";0")
            for view, drawn in (("", ".problem"), ("ports", "table.list tbody tr[data-row]"), ("pod/train/job-7", "table.list tbody tr[data-row]"), ("port/mlx5_2/1", ".notice"), ("events", "table.list tbody tr[data-row]")):
                page.run(f"location.hash = '#{view}'")
                page.until(view, f"document.querySelector('{drawn}')")
                equal((view, width, page.run(AXE)), (view, width, []))
                equal((view, width, page.run("document.documentElement.scrollWidth <= innerWidth")), (view, width, True))
            silent(page, node.url)
            # Nor while the data is old.
            page.run("location.hash = '#'")
            page.until("the overview", "document.querySelector('a.cell')")
            node.hang()
            page.until("old", "document.body.dataset.old === 'yes' && document.querySelector('.headline h1').innerText.startsWith('State unknown')")
            equal(("old", width, page.run(AXE)), ("old", width, []))
            node.wake()
            page.until("live again", LIVE)
            page.close()


@check
def the_bar_says_that_all_is_well():
    """In words wherever there is room: a second green dot beside that of "Live" says nothing."""
    with PageNode() as node:
        node.story(PF).play(TRAFFIC)
        node.judged(PF)
        page = opened(node)
        page.until("all is well", f"{COUNT} === 'No problems'")
        found = []
        for width in (1440, 1180, 1024, 800, 700):
            page.look(width, 900)
            page.until("drawn", f"innerWidth === {width}")
            found.append((width, page.run("document.querySelector('#count .wide').offsetWidth > 0"), page.run("document.documentElement.scrollWidth <= innerWidth && document.getElementById('count').offsetTop === document.getElementById('state').offsetTop")))
        equal(found, [(width, True, True) for width, _, _ in found])
        for width in (699, 400, 320):
            page.look(width, 900)
            page.until("drawn", f"innerWidth === {width}")
            page.run("page.store.node = 'gpu-h100-017-rack-12'; page.showState()")
            equal((width, page.run(COUNT), page.run("document.documentElement.scrollWidth <= innerWidth && document.getElementById('count').offsetTop === document.getElementById('state').offsetTop")), (width, "OK", True))
        page.close()
