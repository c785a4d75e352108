# SPDX-License-Identifier: Apache-2.0
"""The overview: a node with problems, or with unknown state."""
import re

from daemon_python import PodResources, checkpoint, registered
from diagnosis_python import MARKED, OTHER_PF, PF, QUICK, TRAFFIC, VF, VF_FUNCTION
from kubelet_python import equal, eventually
from page_node import AXE, LIVE, LOSS, PageNode, altered, axe_script, check, has, opened, silent

COUNT = "document.getElementById('count').innerText.trim()"
ICON = "decodeURIComponent(document.getElementById('icon').href).match(/stroke=\"(#\\w+)\"/)[1]"
HEAD_MARK = "document.querySelector('.headline .mark').dataset.kind"
RAIL = "[...document.querySelectorAll('.rails tbody tr')].find((row) => row.innerText.includes('%s/1'))"
GREEN, GREY, AMBER = "#1f8a4c", "#7d8793", "#c27803"
UNFOLD = "document.querySelector('.verdict h3 button').click()"


class PodNode(PageNode):
    """A node with a pod that has the first VF."""

    def __enter__(self):
        node = super().__enter__()
        self.kubelet, self.pods = registered(node), PodResources(node.dir)
        self.pods.held = [("train", "job-7", "main", "rocelet.dev/roce", VF_FUNCTION)]
        checkpoint(node)
        eventually("held", lambda: "job-7" in node.get("/api/v1/pods"))
        return node

    def __exit__(self, *what):
        self.pods.stop()
        self.kubelet.stop()
        return super().__exit__(*what)


# --- green ------------------------------------------------------------------------------------


@check
def green_is_what_was_judged():
    """The icon, the count and the headline have one source: before the first verdicts, or without ports, none of them is green."""
    with PageNode() as node:
        node.judged(PF)
        page = opened(node)
        page.until("all is well", f"{HEAD_MARK} === 'ok' && {ICON} === '{GREEN}' && {COUNT} === 'No problems'")
        node.configure_keys(diagnosis={**QUICK, "warming_seconds": 900})
        page.until("not known", f"{HEAD_MARK} === 'warming' && {ICON} === '{GREY}' && {COUNT} === 'Not known' && document.querySelector('#count .mark').dataset.kind === 'warming'")
        equal(page.run("document.getElementById('count').getAttribute('aria-label')"), "problems not known")
        silent(page, node.url)
        page.close()
        page = altered(node, "(path, document) => { if (path === 'ports') document.ports = []; }")
        has(page, "No RDMA ports found on this node")
        equal((page.run(ICON), page.run(COUNT), page.run("document.getElementById('count').hash")), (GREY, "Not known", ""))
        page.close()


@check
def a_pods_port_that_is_down_is_not_under_green():
    with PodNode() as node:
        story = node.story(VF)
        story.play(TRAFFIC)
        node.judged(VF)
        page = opened(node)
        page.until("all is well", f"{HEAD_MARK} === 'ok'")
        # Down while its PF has a link: there is no verdict about that.
        story.state("1: DOWN", "3: Disabled")
        page.until("not green", f"{HEAD_MARK} === 'warning' && {ICON} === '{AMBER}' && {COUNT} !== 'No problems' && document.querySelector('h1').innerText === '1 port of a pod is down'")
        page.until("which", "document.querySelector('.blind a[href=\"#port/mlx5_2/1\"]') && document.querySelector('.blind a[href=\"#pod/train/job-7\"]')")
        has(page, "No problems found on ")
        page.until("its cell", f"['critical', 'warning'].includes({RAIL % PF}.querySelector('a.cell[href=\"#port/mlx5_2/1\"]').dataset.kind)")
        silent(page, node.url)
        page.close()
        story.state("4: ACTIVE", "5: LinkUp")
        node.judged(VF)
        page = altered(node, f"(path, document) => {{ if (path === 'ports') document.ports.find((p) => p.device === '{VF}').watch = 'unseen'; }}")
        page.until("cannot be read", f"{HEAD_MARK} === 'unknown' && document.querySelector('h1').innerText === '1 port of a pod is not judged'")
        page.close()


@check
def a_rail_has_the_mark_of_its_port():
    """That of its PF, as in all views; a VF's state is in its cell."""
    with PageNode() as node:
        node.story(VF).play(TRAFFIC, LOSS)
        eventually("a verdict", lambda: node.verdict(VF, "packet_loss"))
        severity = node.verdict(VF, "packet_loss")["severity"]
        page = opened(node)
        page.until("its rail", f"{RAIL % PF}?.querySelector('.mark').dataset.kind === page.model.portByKey.get('{PF}/1').state.kind && {RAIL % PF}.querySelector('a.cell[data-kind={severity}]')")
        page.until("another one", f"{RAIL % OTHER_PF}.querySelector('.mark').dataset.kind === 'ok'")
        # Each severity has its cell and its place in the legend, and an unknown cell differs from an idle one.
        legend = "getComputedStyle(document.querySelector('.legend-list .cell[data-kind=%s]'))"
        equal(page.run("[...document.querySelectorAll('.legend-list li')].map((li) => li.innerText.trim()).slice(0, 3)"), ["in use", "critical", "warning"])
        colours = page.run(f"['critical', 'warning', 'unhealthy', 'idle'].map((kind) => getComputedStyle(document.querySelector(`.legend-list .cell[data-kind=${{kind}}]`)).backgroundColor)")
        equal(len(set(colours[:3])), 3)
        equal((page.run(f"{legend % 'unknown'}.borderStyle"), page.run(f"{legend % 'idle'}.borderStyle")), ("dotted", "solid"))
        node.hang()
        page.until("old", "document.body.dataset.old === 'yes' && document.querySelector('a.cell[data-kind=unknown]')")
        # A VF without a verdict is not known any more, and dotted. One with a verdict stays solid, and keeps its colour, faded.
        equal(page.run(f"['unknown', '{severity}'].map((kind) => getComputedStyle(document.querySelector(`a.cell[data-kind=${{kind}}]`)).borderStyle)"), ["dotted", "solid"])
        assert page.run(f"getComputedStyle(document.querySelector('a.cell[data-kind={severity}]')).backgroundColor") not in (page.run("tokenColour('--edge')"), page.run("tokenColour('--card')"), *colours)
        equal(page.run(f"getComputedStyle(document.querySelector('a.cell[data-kind={severity}]')).backgroundColor"), page.run(f"{legend % severity}.backgroundColor"))
        equal(page.run("[...document.querySelectorAll('.headline .mark, .headline .bar, .legend-list .cell, .rails .mark')].filter((e) => getComputedStyle(e).filter !== 'none').length"), 0)
        node.wake()
        page.close()


# --- problems ---------------------------------------------------------------------------------

MANY = """(path, document) => { if (path === 'live') for (const v of document.verdicts ?? []) {
    v.podCount = 17; v.sentence += ' (direction: sent)'; v.causedBy = %s;
    v.evidence = [{name: 'peers', value: 3, unit: null, threshold: null}, {name: 'roce_pfc_pause_seconds_total{direction="sent"}', value: 0.182, unit: 'ratio', threshold: 0.1}]; v.firstSignal = 'pause_sent'; } }"""


CULPRIT = "[{namespace: 'train', name: 'job-9'}]"
PODS = "document.querySelector('.problem-pods')?.textContent"
TROUBLED = """(path, document) => { if (path === 'pods') for (const pod of document.pods) for (const device of pod.containers.flatMap((c) => c.devices))
    device.troubles = [['device', 'link_down'], ['attachment', 'drift']].map(([kind, word]) => ({kind, word, what: word, help: '', since: null, orEarlier: false})); }"""


@check
def a_problem_names_its_pod_and_its_number():
    with PodNode() as node:
        node.story(VF).play(TRAFFIC, LOSS)
        eventually("a verdict", lambda: (node.verdict(VF, "packet_loss") or {}).get("pods"))
        page = opened(node)
        page.until("its pod", "document.querySelector('.problem-head a[href=\"#pod/train/job-7\"]')")
        equal(page.run(PODS), "affects train/job-7")
        assert ", limit " in page.text(".problem-much").replace("\n", " "), page.text(".problem-much")
        page.close()
        page = altered(node, MANY % "[]")
        page.until("how many", f"{PODS} === 'affects train/job-7 and 16 more'")
        equal(page.text(".problem-much").split(), ["18.2", "%", "mean", "Pause", "out,", "limit", "10", "%"])
        equal("direction" in page.text(".problem h3"), False)
        page.run(UNFOLD)
        # The main number has a chart with its limit and a time axis, which ends with the row.
        page.until("a chart", "document.querySelector('.problem-body canvas[role=img]')?.getAttribute('aria-label').startsWith('Pause out')"
                   " || document.querySelector('.problem-body .chart')?.innerText.includes('Not counted on VFs')")
        equal(page.run("evidenceTitle('roce_transport_retries_exceeded_total') + '; ' + evidenceTitle('roce_phy_link_down_total in 12 h') + '; ' + evidenceTitle('peers')"),
              "Retries exceeded; Times down in 12 h; Peers")
        equal(page.run("getComputedStyle(document.querySelector('.evidence td')).whiteSpace"), "nowrap")
        page.run(UNFOLD)
        page.until("no chart", "page.problemCharts.panels.size === 0")
        page.close()
        # A trouble that the verdict covers has no banner in the pod's view; another one is below the verdicts.
        page = altered(node, TROUBLED, "#pod/train/job-7")
        page.until("the other one", "document.querySelector('.problems ~ .notice')?.innerText.startsWith(' Settings changed')")
        equal(page.run("[...document.querySelectorAll('.notice')].length"), 1)
        page.close()
        # The pod that is the cause is not shown as a victim.
        page = altered(node, MANY % CULPRIT)
        page.until("which pod", "document.querySelectorAll('.problem-pods')[1]?.textContent === 'caused by train/job-9'")
        page.run(UNFOLD)
        has(page, "Caused by")
        assert "train/job-7 and 16 more; caused by train/job-9" in page.run("ticketText(page.model, page.model.verdicts[0])")
        page.close()


MAIN = """((e) => mainEvidence({evidence: e.map(([value, threshold, unit], i) => ({name: String(i), value, threshold, unit: unit ?? '1/s'}))})?.name ?? null)(%s)"""
WHICH = (  # evidence as [value, limit], and the index of the main number
    ("[[0, 10], [811, 10], [0, 0]]", "1"), ("[[0.95, 0.9], [12, 8]]", "1"), ("[[0.3, 0.9], [0.12, 0.1]]", "1"), ("[[0.12, 0.1], [0.3, 0.9]]", "0"),
    ("[[5, null], [3, 12]]", "1"), ("[[9, 1], [4, 0]]", "0"), ("[[0.07, 0.1]]", "0"), ("[[0, 0], [0, null]]", "0"), ("[[null, 1], [7, null]]", "1"), ("[]", None))
FAILED = """(path, document) => { if (path === 'live') for (const v of document.verdicts ?? []) {
    v.evidence = [{name: 'roce_transport_retries_exceeded_total', value: 0, unit: '1/s', threshold: 0}, {name: 'queue pairs that failed', value: 3, unit: null, threshold: null}]; } }"""


@check
def the_main_number_is_furthest_over_its_limit():
    with PageNode() as node:
        node.story(PF).play(TRAFFIC, LOSS)
        eventually("a verdict", lambda: node.verdict(PF, "packet_loss"))
        page = altered(node, FAILED)
        equal([page.run(MAIN % evidence) for evidence, _ in WHICH], [main for _, main in WHICH])
        equal(page.run("[202.8, 62.94, 5, 1087, 0.0312, 0].map((v) => tableNumber(v, 'events')).concat([202.8, 62.94, 5, 0.0312, 0].map((v) => tableNumber(v, 'bits')))"),
              ["203", "62.9", "5.0", "1.09\u00a0k", "<0.1", "0", "202.8", "62.9", "5.0", "<0.1", "0"])
        equal(page.run("[share(0.05), evidenceLimit({threshold: 0.05, unit: 'ratio'}), scaledCount(3), lineRate(4e11)]"), ["5.00\u00a0%", "limit 5\u00a0%", "3", "400\u00a0Gbit/s"])
        # Past failures are shown as a count and a time, not as a rate of 0.
        page.until("how many, and when", "/^3.×\\s+Queue pairs that failed,\\s+(last at|from) \\d\\d:\\d\\d:\\d\\d$/.test(document.querySelector('.problem-much')?.innerText.trim())")
        silent(page, node.url)
        page.close()


UNREAD = """(path, document) => { if (path === 'qps') Object.assign(document, {source: null, error: 'RDMA netlink: not permitted', qps: [], total: 0});
    if (path === 'agent') document.parts = [{name: 'BPF', works: null, what: 'switched off', why: null}];
    if (path === 'live' && document.events) document.events.events = []; }"""
STALE = """((answered) => { const {banner, rest} = Object.assign(Object.create(Page.prototype), {lostMs: null, store: {serverNowMs: 1, timeUnixMs: 0, everyMs: 1000, receivedMs: 0, ageMs: (now) => (now === 0 ? answered : 60000)},
    documents: {get: () => ({parts: [{name: 'sampling', works: false, why: 'source ethtool hangs'}]})}}).currentState(); return banner.replace(/ since.*/, '') + rest.replace(/ What.*/, ''); })(%d)"""


@check
def unwatched_sources_are_not_reported_as_empty():
    with PageNode() as node:
        node.story(PF).play(TRAFFIC, LOSS)
        eventually("a verdict", lambda: node.verdict(PF, "packet_loss"))
        page = altered(node, UNREAD)
        page.until("a problem", "document.querySelector('.verdict h3 button')")
        page.run(UNFOLD)
        has(page, "Changes by processes are not watched: BPF is switched off.")
        equal("No change was seen" in page.text(), False)
        page.go(node.url + "#qps")
        has(page, "Queue pairs cannot be read\n\nRDMA netlink: not permitted.")
        page.go(node.url + "#port/mlx5_0/1")
        has(page, "Queue pairs cannot be read")
        # A daemon that does not answer differs from one that answers without new samples.
        equal([page.run(STALE % age) for age in (500, 9000)], ["rocelet has not answered. Trying again.", "No new sample: rocelet answers, but does not sample: source ethtool hangs."])
        silent(page, node.url)
        page.close()


@check
def the_chart_of_a_problem_has_axes_and_a_limit():
    with PageNode() as node:
        node.story(PF).play(TRAFFIC, LOSS)
        eventually("a verdict", lambda: node.verdict(PF, "packet_loss"))
        page = altered(node, """(path, document) => { if (path === 'live') for (const v of document.verdicts ?? []) {
            v.evidence = [{name: 'share of packets that arrive marked CE', value: 0.05, unit: 'ratio', threshold: 0.01}]; v.firstSignal = 'ce_share'; } }""")
        page.until("a problem", "document.querySelector('.verdict')")
        page.run(UNFOLD)
        page.until("a chart", "document.querySelector('.problem-body canvas[role=img]')?.getAttribute('aria-label').startsWith('CE')")
        page.until("its limit", "/Limit\\s+1$/.test(document.querySelector('.problem-body .legend').innerText.trim())")
        # Lines across it are values; times have none.
        equal(page.run("[...page.problemCharts.panels.values()][0].all()[0].plot.axes.map((axis) => axis.grid.show)"), [False, True])
        # A limit per packet is no line in a chart of rates.
        limit = "problemChart({cause: 'x', evidence: [{name: 'sequence and implied NAKs per packet', value: 0.01, unit: 'ratio', threshold: 0.001}, {name: 'roce_sequence_nak_received_total', value: 50, unit: '1/s', threshold: %s}]}, 1e11)"
        equal([page.run(f"(({{unit, limit}}) => [unit, limit])({limit % threshold})") for threshold in ("null", "10")], [["events", None], ["events", 10]])
        # On the port's page, too, beside the port's own charts.
        page.go(node.url + "#port/mlx5_0/1")
        page.until("all charts", "document.querySelector('.problem-body canvas') && document.querySelectorAll('.history canvas').length === 5")
        equal(page.run("new Set([...document.querySelectorAll('[id]')].map((e) => e.id)).size === document.querySelectorAll('[id]').length"), True)
        silent(page, node.url)
        page.close()


TWICE = """(path, document) => { if (path === 'live' && document.verdicts?.length) { const [v] = document.verdicts, at = (s) => new Date(Date.now() - 1000 * s).toISOString();
    document.ended = [[600, 540], [300, 240]].map(([from, to]) => ({...v, device: 'mlx5_0', port: 1, onset: at(from), onsetMs: 1000 * from, ended: at(to), endedMs: 2000 * to, endedAs: 'cleared'}));
    document.verdicts = []; document.verdictCount = document.problemCount = 0; } }"""


@check
def problems_of_one_cause_are_one_row():
    with PageNode() as node:
        for device in (PF, OTHER_PF):
            node.story(device).play(TRAFFIC, LOSS)
        for device in (PF, OTHER_PF):
            eventually("a verdict", lambda device=device: node.verdict(device, "packet_loss"))
        page = opened(node)
        page.until("a group", "document.querySelector('.problem.group h3')?.innerText.endsWith(': 2 ports')")
        row = page.text(".problem.group .problem-head")
        for word in ("mlx5_0/1", "mlx5_1/1", "packet_loss", "worst port", "limit ", "For ", "since "):
            assert word in row, (word, row)
        page.until("a line", "document.querySelector('.problem.group .problem-line path')")
        page.run("document.querySelector('.problem.group h3 button').click()")
        page.until("both", "document.querySelectorAll('.problem.group .verdict').length === 2")
        silent(page, node.url)
        page.close()
        # Two on one port, one after the other, are not two ports, and have lasted as long as both together.
        page = altered(node, TWICE)
        page.until("how often", "document.querySelector('.problem.group h3')?.innerText.endsWith(': twice')")
        equal(page.run("[...document.querySelectorAll('.problem.group .problem-head a[href^=\"#port/\"]')].map((a) => a.innerText)"), ["mlx5_0/1"])
        equal(page.text(".problem.group .problem-when .quiet").split(", ")[1], "lasted 2 min")
        page.close()


# --- drawings and rows ------------------------------------------------------------------------

LONG = "rocep24s0f1v12_of_the_second_storage_and_management_rail"
RENAMED = f"""(path, document) => {{ const name = '{LONG}';
    if (path === 'ports') document.ports.filter((p) => p.device === 'mlx5_1').forEach((p) => {{ p.device = name; }});
    if (path === 'devices') document.devices.forEach((d) => d.rdma.filter((r) => r.name === 'mlx5_1').forEach((r) => {{ r.name = name; }}));
    if (path === 'live') for (const row of document.rows ?? []) row.ports.filter((p) => p[0] === 'mlx5_1').forEach((p) => {{ p[0] = name; }});
    if (path === 'live') document.verdicts = (document.verdicts ?? []).map((v) => ({{...v, device: v.device === 'mlx5_1' ? name : v.device}})); }}"""


@check
def a_long_name_leaves_the_rails_as_they_are():
    with PageNode() as node:
        node.story(OTHER_PF).play(TRAFFIC)
        node.judged(OTHER_PF)
        for width in (1440, 1200, 1024, 720):
            page = altered(node, RENAMED, width=width)
            page.until("its name", f"document.querySelector('.rails')?.innerText.includes('{LONG[-6:]}')")
            heights, widths = page.run("[[...document.querySelectorAll('.rails tbody tr')].map((row) => row.offsetHeight), [...document.querySelectorAll('.rails thead th.number')].map((th) => th.offsetWidth).filter(Boolean)]")
            equal((width, max(heights) <= 40, len(set(widths))), (width, True, 1))
            equal((width, page.run("[...document.querySelectorAll('.rails td.number, .rails .traffic .number')].filter((td) => td.scrollWidth > td.clientWidth && td.clientWidth > 0 && getComputedStyle(td).display !== 'inline').length")), (width, 0))
            equal((width, page.run("document.documentElement.scrollWidth <= innerWidth")), (width, True))
            page.close()


PAUSED = """(path, document) => { if (path === 'live') for (const at of ['pause_sent', 'pause_received'].map((name) => document.signals.indexOf(name) + 2))
    for (const row of document.rows) for (const p of row.ports) p[at] = 0.182; }"""


@check
def pause_is_in_sight_at_every_width():
    """It decides between a slow host and a slow network, so its columns give way to none."""
    with PageNode() as node:
        node.story(PF).play(TRAFFIC)
        node.judged(PF)
        for width in (1440, 1200, 1024, 900, 880, 720, 400):
            page = altered(node, PAUSED, width=width)
            for view, row in (("", ".rails"), ("ports", "table.list")):
                page.run(f"location.hash = '#{view}'")
                cells = f"['pause_sent', 'pause_received'].map((name) => document.querySelector('{row} tbody .c-' + name))"
                page.until(f"rows at {width}", f"{cells}.every((cell) => cell?.innerText.endsWith('18.2'))")
                equal((width, view, page.run(f"{cells}.filter((cell) => cell.offsetWidth === 0 || cell.scrollWidth > cell.clientWidth).length")), (width, view, 0))
                equal((width, page.run("document.documentElement.scrollWidth <= innerWidth")), (width, True))
            silent(page, node.url)
            page.close()


@check
def small_drawings_do_not_exaggerate():
    with PageNode() as node:
        node.story(PF).play(TRAFFIC)
        node.judged(PF)
        page = opened(node)
        page.until("rails", "document.querySelector('.rails .c-spark path')")
        # Received and sent are two lines, on the scale of the link.
        equal(page.run("document.querySelector('.rails .c-spark svg').querySelectorAll('path').length"), 2)
        tops = "[...%s.matchAll(/[ML][\\d.]+ ([\\d.]+)/g)].map((m) => Number(m[1])).reduce((a, b) => Math.min(a, b), 24)"
        line = "makeSpark(page.model, new Float64Array(STEPS).fill(%s), [], leastOf('%s')).querySelector('path').getAttribute('d')"
        equal([page.run(tops % (line % pair)) > 18 for pair in (("0.001", "share"), ("0.5", "events"))], [True, True])
        figure = "[...document.querySelectorAll('.figure')].find((f) => f.innerText.startsWith('Received')).querySelector('path').getAttribute('d')"
        page.until("32 of 2 x 400 Gbit/s is low in its box", f"/[ML]/.test({figure}) && {tops % figure} > 16")
        # Many verdicts make one band per severity.
        bands = """makeSpark(page.model, new Float64Array(STEPS).fill(1), [600, 500, 400, 300].map((s, i) => ({severity: i === 3 ? 'critical' : 'warning', onset: new Date(page.model.sampleMs() - 1000 * s).toISOString(),
            ended: i === 1 ? new Date(page.model.sampleMs() - 450e3).toISOString() : null}))).querySelectorAll('.band').length"""
        equal(page.run(bands), 2)
        silent(page, node.url)
        page.close()


LONG_PODS = """(path, document) => { if (path === 'live') for (const v of document.verdicts ?? []) Object.assign(v, {podCount: 17, pods: [{namespace: 'inference-prod', name: 'vllm-qwen-72b-predictor-6d9f8-q4z7m'}]}); }"""
OVERLAPS = """(() => { const box = (e) => e.getBoundingClientRect(), out = (what) => [...what.querySelectorAll('*')].filter((e) => e.offsetWidth > 1 && box(e).right > box(what).right + 1);
    return [...document.querySelectorAll('.problem-what')].flatMap(out).map((e) => e.outerHTML.slice(0, 80)); })()"""


@check
def nothing_lies_over_its_neighbour():
    """A problem's pod with a long name stays left of the number, and the cards beside the problems are below each other."""
    with PageNode() as node:
        node.story(PF).play(TRAFFIC, LOSS)
        eventually("a verdict", lambda: node.verdict(PF, "packet_loss"))
        page = altered(node, LONG_PODS)
        for width in (1440, 1320, 1200, 1024, 800, 400):
            page.look(width, 900)
            page.until("its pod", "document.querySelector('.problem-pods a')")
            equal((width, page.run(OVERLAPS), page.run("document.documentElement.scrollWidth <= innerWidth")), (width, [], True))
        page.run("location.hash = '#port/mlx5_0/1'")
        for width in (1440, 1200, 1024):
            page.look(width, 900)
            page.until("on the port's page", "document.querySelector('.cards') && document.querySelector('.problem-pods a')")
            equal((width, page.run(OVERLAPS), page.run("document.documentElement.scrollWidth <= innerWidth")), (width, [], True))
        page.run("location.hash = '#'")
        page.until("the overview", "document.querySelector('.overview .problem-pods a')")
        page.look(1024, 900)
        # A pool's name is whole beside its state, or above it.
        page.run("document.body.append(make('div', {id: 'narrow', style: {width: '290px'}}, make('div', {class: 'pool-line'}, make('p', {}, makePoolLink('rocelet.dev/roce'), make('span', {}, 'Not registered with the kubelet')))))")
        equal(page.run("[...document.querySelectorAll('#narrow .prefix')].filter((e) => e.scrollWidth > e.clientWidth).length"), 0)
        # A namespace that is cut has an ellipsis and its slash: "infere…/vllm-…", not "inferevllm-…".
        for width in (200, 240, 280):
            page.run(f"document.getElementById('narrow').replaceChildren(make('div', {{style: {{width: '{width}px', display: 'flex'}}}}, makePodLink({{namespace: 'inference-prod', name: 'vllm-qwen-72b-predictor-6d9f8-q4z7m'}})))")
            equal((width, page.run("(([rest, slash], name) => [rest.scrollWidth > rest.clientWidth, rest.clientWidth >= 36, slash.textContent, slash.scrollWidth <= slash.clientWidth + 1, name.getBoundingClientRect().right <= document.getElementById('narrow').firstChild.getBoundingClientRect().right + 1])(document.querySelectorAll('#narrow .prefix'), document.querySelector('#narrow .cut'))")), (width, [True, True, "/", True, True]))
        gap = page.run("((cards) => cards[2].getBoundingClientRect().top - cards[0].getBoundingClientRect().bottom)(document.querySelectorAll('.overview > .column:last-child > .panel'))")
        assert 0 < gap < 20, gap
        silent(page, node.url)
        page.close()


@check
def what_is_not_known_has_a_ground():
    """In a small drawing as in a chart: the time before the first value is no zero. The colours of a legend are those of the cells, also when they are old."""
    with PageNode() as node:
        node.story(VF).play(TRAFFIC, LOSS)
        eventually("a verdict", lambda: node.verdict(VF, "packet_loss"))
        page = opened(node)
        ground = "[...makeSpark(page.model, Float64Array.from({length: STEPS}, (_, i) => (%s ? 1 : NaN))).querySelectorAll('.ground')].map((e) => Number(e.getAttribute('width')) > 10)"
        equal([page.run(ground % known) for known in ("i > page.model.sparkFirst() + (STEPS - page.model.sparkFirst()) / 2", "true", "false")], [[True], [], []])
        page.until("a legend", "document.querySelector('.rails .legend-list .cell')")
        severity = node.verdict(VF, "packet_loss")["severity"]
        colours = f"['.legend-list .cell', 'a.cell'].map((e) => getComputedStyle(document.querySelector(`.rails ${{e}}[data-kind={severity}]`)).backgroundColor)"
        live = page.run(colours)
        equal(live[0], live[1])
        node.hang()
        page.until("old, and faded", f"document.body.dataset.old === 'yes' && (([legend, cell]) => legend === cell && cell !== '{live[0]}')({colours})")
        node.wake()
        page.close()


@check
def a_rail_without_a_link():
    with PodNode() as node:
        node.judged(PF)
        page = altered(node, "(path, document) => { if (path === 'ports') Object.assign(document.ports.find((p) => p.device === 'mlx5_1'), {state: 'down', watch: 'down'}); }")
        page.until("the rail shows it", f"{RAIL % OTHER_PF}?.querySelector('.traffic').innerText.trim() === 'Link down'")
        page.until("a capacity without it", "[...document.querySelectorAll('.figure')].find((f) => f.innerText.startsWith('Received')).innerText.includes('of 400')")
        page.close()


CELLS = "[...document.querySelectorAll('.cells')].map((cells) => [...cells.children])"


@check
def the_cells_are_one_stop():
    with PageNode() as node:
        node.judged(PF)
        page = opened(node)
        page.until("cells", "document.querySelectorAll('.cells').length === 2")
        equal(page.run("document.querySelectorAll('.cells [tabindex=\"0\"]').length"), 1)
        page.run("document.querySelector('.cells a').focus()")
        for key, number, place in (("ArrowRight", 39, [0, 1]), ("ArrowDown", 40, [1, 1]), ("ArrowUp", 38, [0, 1]), ("ArrowLeft", 37, [0, 0])):
            page.key(key, key, number)
            equal((key, page.run(f"{CELLS}.map((row, y) => [y, row.indexOf(document.activeElement)]).find(([, x]) => x >= 0)")), (key, place))
        node.judge_more(10)
        equal(page.run("[document.activeElement.tabIndex, document.querySelectorAll('.cells [tabindex=\"0\"]').length]"), [0, 1])
        # Of more than 32 only those with problems are drawn, the worst first.
        equal(page.run("((kinds) => [32, 33].map((n) => cellsOf({children: [...kinds, ...Array(n - 3).fill('ok')].map((kind) => ({state: {kind}}))}).map((p) => p.state.kind)))(['warning', 'idle', 'critical']).map((kinds, i) => (i ? kinds : kinds.length))"), [32, ["critical", "warning"]])
        # Those of a port are one stop, too; arrows lead to the others.
        page.go(node.url + "#port/mlx5_0/1")
        page.until("its cells", "document.querySelectorAll('.cards .cells a').length > 1")
        equal(page.run("document.querySelectorAll('.cards .cells [tabindex=\"0\"]').length"), 1)
        page.run("document.querySelector('.cards .cells a').focus()")
        page.key("ArrowRight", "ArrowRight", 39)
        equal(page.run("[...document.querySelectorAll('.cards .cells a')].indexOf(document.activeElement)"), 1)
        silent(page, node.url)
        page.close()


# --- other panels -----------------------------------------------------------------------------


@check
def a_node_without_rdma_shows_what_is_there():
    with PageNode() as node:
        node.judged(PF)
        page = altered(node, """(path, document) => { if (path === 'ports') document.ports = [];
            if (path === 'devices') document.devices = [{...document.devices[0], rdma: [], driver: 'virtio_net', why: 'not offered: it has no RDMA device'}];
            if (path === 'doctor') document.findings = [{kind: 'rdma', object: '0000:01:00.0', what: 'mlx5_core has no RDMA device for it', help: 'Is the module loaded?', fixable: false}]; }""")
        for text in ("What is here instead", "virtio_net: not offered", "Next steps", "mlx5_core has no RDMA device for it.", "Is the module loaded?"):
            has(page, text)
        page.close()


@check
def a_pool_that_no_pod_can_have():
    with PageNode() as node:
        node.judged(PF)
        page = altered(node, "(path, document) => { if (path === 'resources') document.resources.forEach((r) => Object.assign(r, {registration: 'refused', error: 'version mismatch'})); }")
        page.until("the pool's state", "document.querySelector('.pool-line .state[data-kind=critical]')?.innerText === 'Refused by the kubelet'")
        equal("available" in page.text(".pool-line"), False)
        has(page, "Version mismatch")
        page.close()


@check
def normal_states_have_no_colour():
    with PageNode() as node:
        node.story(PF).play(TRAFFIC, {name: rate / 10 for name, rate in MARKED.items()})
        node.judged(PF)
        page = opened(node, "#ports")
        page.until("ports", "document.querySelector('.list .state[data-kind=ok]') && document.querySelector('.list .absent.zero')")
        quiet = page.run("getComputedStyle(document.querySelector('.quiet')).color")
        equal(page.run("getComputedStyle(document.querySelector('.list .state[data-kind=ok]')).color"), quiet)
        equal(page.run("getComputedStyle(document.querySelector('.list .absent.zero')).textDecorationLine"), "none")
        equal(page.run("getComputedStyle(document.querySelector('.list tbody th .name')).fontWeight"), "600")
        page.go(node.url + "#")
        page.look(1240, 900)
        page.until("figures that are not cut", "document.querySelector('.figure p.quiet') && [...document.querySelectorAll('.figure p.quiet')].every((p) => p.scrollWidth <= p.clientWidth)")
        page.until("figures without lines", "((a) => a && getComputedStyle(a).textDecorationLine === 'none')(document.querySelector('.figure p.quiet a'))")
        silent(page, node.url)
        page.close()


EVENTS = """(path, document) => { if (path === 'live' && document.events.events.length > 0) { const at = (s) => new Date(Date.now() - 1000 * s).toISOString();
    document.events.events = [[200000, 'Returned', null], [90, 'Attached', 'a'], [80, 'Attached', 'a'], [70, 'Attached', 'b'], [7, 'DiagnosisOnset', null]].map(([s, reason, pod]) => (
        {type: reason[0] === 'D' ? 'Warning' : 'Normal', reason, namespace: pod && 'train', pod, device: 'mlx5_0', message: `m${s}`, count: 1, first: at(s), last: at(s)})); } }"""


@check
def events_have_their_time_and_runs_are_one():
    with PageNode() as node:
        node.story(PF).play(TRAFFIC, LOSS)
        eventually("a verdict", lambda: node.verdict(PF, "packet_loss"))
        page = altered(node, EVENTS)
        page.until("four", "document.querySelectorAll('.event-lines li').length === 4")
        lines = page.run("[...document.querySelectorAll('.event-lines li')].map((li) => li.innerText.replace(/\\s+/g, ' '))")
        # The device is beside the message, and not repeated in it under any of its names.
        equal(page.run("[['mlx5_0', 'mlx5_0 port 1: a'], ['0000:18:00.0', 'mlx5_0 port 1: b'], ['mlx5_0', 'queue pair 7: c'], [null, 'x: d']].map(([device, message]) => eventMessage(page.model, {device, message}))"), ["a", "b", "queue pair 7: c", "x: d"])
        # The page counts from the node's clock at the time of the document: a second less, or more on a slow machine.
        # The time is that of the list of events; pointer and focus show the age.
        assert re.match(r"\d\d:\d\d:\d\d DiagnosisOnset", lines[0]), lines
        assert re.match(r"\d+ \w{3}( \d{4})? \d\d:\d\d Returned", lines[3]), lines
        equal("Attached ×2" in lines[2], True)
        tips = page.run("[...document.querySelectorAll('.event-lines time')].map((time) => [time.tabIndex, time.dataset.tip])")
        assert re.fullmatch(r"([5-9]|[1-5][0-9]) s ago, \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", tips[0][1]) and tips[3][1].startswith("2 days ago, "), tips
        equal({index for index, _ in tips}, {0})
        page.run("document.querySelector('.event-lines time').focus()")
        page.until("its age", "!document.getElementById('tip').hidden && document.getElementById('tip').innerText.includes(' s ago')")
        # The whole list is one link away, with a name of its own.
        equal(page.run("((a) => [a.hash, a.innerText])(document.querySelector('.panel:has(.event-lines) header a'))"), ["#events", "All events"])
        equal(page.run("document.querySelectorAll('.event-lines a[href=\"#pod/train/a\"]').length"), 1)
        equal(page.run("[...document.querySelectorAll('.event-lines .state[data-kind=warning]')].map((e) => e.innerText)"), ["DiagnosisOnset"])
        page.close()


TIP = "document.getElementById('tip')"
OVER = "document.querySelector('%s').dispatchEvent(new MouseEvent('mouseover', {bubbles: true}))"


@check
def tips_are_where_something_is_hidden():
    with PageNode() as node:
        node.judged(PF)
        page = opened(node)
        page.until("figures", "document.querySelector('main [data-tip]')")
        # A new view takes the focus, which must not open the tip of its first word.
        page.key("2", "Digit2", 50, "2")
        page.until("ports", "location.hash === '#ports' && document.querySelector('table.list tbody a') && document.activeElement.id === 'main'")
        equal(page.run(f"{TIP}.hidden"), True)
        page.run("document.body.prepend(make('p', {id: 'wide', style: {width: '900px'}}, cutName('a-name-of-twenty-characters')), make('p', {id: 'narrow', style: {width: '80px'}}, cutName('a-name-of-twenty-characters')),"
                 " make('a', {id: 'link', href: '#ports', style: {display: 'block', width: '80px'}}, cutName('a-name-of-twenty-characters')))")
        shown = page.run(f"(() => {{ {OVER % '#narrow .cut'}; const narrow = !{TIP}.hidden; {OVER % '#wide .cut'}; return [narrow, !{TIP}.hidden]; }})()")
        equal(shown, [True, False])
        page.key("Tab", "Tab", 9)  # by keyboard: the focus is visible
        equal(page.run(f"(() => {{ byId('link').focus(); return !{TIP}.hidden; }})()"), True)
        silent(page, node.url)
        page.close()


@check
def an_address_that_leads_nowhere():
    with PageNode() as node:
        node.judged(PF)
        page = opened(node, "#nosuchview")
        page.until("the heading", "document.querySelector('h1')?.innerText === 'There is no view “nosuchview”'")
        page.run("document.querySelector('main a').click()")
        has(page, "No problems found on ")
        silent(page, node.url)
        page.close()


REMOVED = """(path, document) => { if (path === 'pods') { const [pod] = document.pods, [{devices: [device], ...container}] = pod.containers;
    document.pods = ['a', 'b', 'c', 'd', 'e'].map((name) => ({...pod, name, containers: [{...container, devices: [1, 2].map((n) => ({...device, id: `${name}${n}`, attachment: null,
        troubles: [{kind: 'device', word: 'gone', what: `${name}${n} is gone`, help: 'Were the VFs created again?', since: null, orEarlier: false}]}))}]})); } }"""


@check
def devices_with_one_trouble_are_one_row():
    with PodNode() as node:
        node.judged(VF)
        page = altered(node, REMOVED)
        page.until("one row", "document.querySelectorAll('.blind li').length === 1")
        text = page.run("document.querySelector('.blind li').textContent")
        for words in ("10 devices of 5 pods", "a1, a2 of train/a", "c1, c2 of train/c", "and 2 more", "Were the VFs created again?"):
            assert words in text, (words, text)
        equal(text.count("Were the VFs"), 1)
        page.run("document.querySelector('.blind .more').click()")
        page.until("all of them", "document.querySelector('.blind li').textContent.includes('e1, e2 of train/e')")
        page.close()


@check
def the_numbers_come_before_the_lists_of_pods():
    """Below the problems, in all widths: the figures and the map of the rails; then the pods of the problems, the worst first, with port and cause."""
    with PodNode() as node:
        node.story(VF).play(TRAFFIC, LOSS)
        eventually("a verdict", lambda: (node.verdict(VF, "packet_loss") or {}).get("pods"))
        for width in (1440, 1024, 400):
            page = opened(node, width=width)
            page.until("its pod", "document.querySelector('.affected a[href=\"#pod/train/job-7\"]')")
            equal(page.text("#affected-title"), "1 pod with problems")
            assert re.search(r"Packet loss\s*mlx5_2", page.text(".affected li")), page.text(".affected li")
            tops = page.run("['.headline', '.problems', '.figures', '.rails', '.affected'].map((what) => document.querySelector(what).getBoundingClientRect().top)")
            equal((width, tops), (width, sorted(tops)))
            equal((width, page.run("document.documentElement.scrollWidth <= innerWidth")), (width, True))
            page.close()


@check
def an_address_of_a_problem():
    """The runbook links to the open problems of its cause."""
    with PageNode() as node:
        for device in (PF, OTHER_PF):
            node.story(device).play(TRAFFIC, LOSS)
        for device in (PF, OTHER_PF):
            eventually("a verdict", lambda device=device: node.verdict(device, "packet_loss"))
        page = opened(node, "#overview?problem=packet_loss")
        page.until("unfolded, with its members", "document.querySelectorAll('.problem.verdict .evidence').length === 2")
        # It can be folded again.
        page.run("document.querySelector('.problem.group h3 button').click()")
        page.until("folded", "document.querySelectorAll('.evidence').length === 0")
        page.close()
        page = opened(node, "#overview?problem=peer_gone")
        has(page, "No problem with the cause peer_gone is open here.")
        silent(page, node.url)
        page.close()


@check
def an_event_has_one_name():
    """In the overview, in the list, and in the charts: the cause and what became of it."""
    with PageNode() as node:
        story = node.story(PF)
        story.play(TRAFFIC, LOSS)
        eventually("a verdict", lambda: node.verdict(PF, "packet_loss"))
        story.play(TRAFFIC)
        eventually("its end", lambda: node.events("DiagnosisEnd", "packet_loss"))
        page = opened(node)
        page.until("on the overview", "document.querySelector('.event-lines .state')?.innerText === 'Packet loss ended'")
        page.go(node.url + "#events")
        page.until("in the list", "[...document.querySelectorAll('td.c-reason')].some((td) => td.innerText.trim() === 'Packet loss ended')")
        equal(page.run("[...document.querySelectorAll('.list tbody')].some((list) => /Diagnosis(Onset|End)|packet_loss/.test(list.innerText))"), False)
        # The reason, by which kubectl and rocectl know it, is in the tip and finds it.
        page.run("(() => { const f = document.querySelector('main input[type=search]'); f.value = 'DiagnosisEnd'; f.dispatchEvent(new Event('input')); })()")
        page.until("one row", "document.querySelectorAll('tr[data-row]').length === 1 && document.querySelector('td.c-reason [data-tip]').dataset.tip === 'DiagnosisEnd'")
        page.close()
        page = opened(node, "#port/mlx5_0/1")
        page.until("at the charts", "document.querySelector('.tick[aria-label^=\"Packet loss ended\"]')")
        page.close()


# --- axe in rare states ----------------------------------------------------------------------

RARE = {
    "no ports": "(path, document) => { if (path === 'ports') document.ports = []; }",
    "a pod's port that is not judged": "(path, document) => { if (path === 'ports') document.ports.find((p) => p.device === 'mlx5_2').watch = 'unseen'; if (path === 'live') { document.verdicts = []; document.verdictCount = 0; } }",
    "a group that a pod has caused": MANY % CULPRIT,
}


@check
def axe_finds_nothing_in_rare_states():
    axe = axe_script()
    with PodNode() as node:
        for device in (PF, VF):
            node.story(device).play(TRAFFIC, LOSS)
        for device in (PF, VF):
            eventually("a verdict", lambda device=device: node.verdict(device, "packet_loss"))
        for (what, change), dark in zip(RARE.items(), (False, True, True)):
            page = altered(node, change, dark=dark, width=400 if dark else 1280)
            page.until("ports", "page.model.ports !== null")
            page.run(axe + ";0")
            page.run("document.querySelectorAll('.group h3 button').forEach((b) => b.click()); document.querySelectorAll('.verdict h3 button').forEach((b) => b.click())")
            equal((what, page.run(AXE)), (what, []))
            equal((what, page.run("document.documentElement.scrollWidth <= innerWidth")), (what, True))
            page.close()
