# SPDX-License-Identifier: Apache-2.0
"""What several places of the page show is the same everywhere: one throughput, one unit for a cause, one state of a pod; and how it is found and read."""
import json
import os
import re
import urllib.error
import urllib.request

from diagnosis_python import CE, CNP_SENT, PF, TRAFFIC, VF, VF_FUNCTION
from kubelet_python import equal, eventually
from page_node import AXE, LOSS, PageNode, altered, axe_script, check, has, opened, run, silent
from page_overview import PodNode
from page_views import hold

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")

# --- one throughput -----------------------------------------------------------------------------

WIRE = "((p) => p && inUnit(page.model.value(p, 'bytes_received'), 'bits'))(page.model.portByKey.get('mlx5_0/1'))"
OWN = "page.model.ownValue(page.model.portByKey.get('mlx5_0/1'), 'bytes_received')"
IN_PAST = """((own, wire) => own && own.values.bytes_received.some((v, i) => v > 1e9 && own.values.vfs_received[i] === null && wire.values.bytes_received[i] > 1.2 * v))
    (page.documents.history('mlx5_0/1'), page.historyOf(page.model.portByKey.get('mlx5_0/1')))"""
BYTES = "[[false, 10, 3], [true, 10, 3], [null, 10, 3], [null, 2, 3], [true, null, 3], [false, null, null]].map(([include, own, vfs]) => wireBytes(own, vfs, include))"


@check
def a_pf_has_one_throughput():
    """That of its link, with its VFs: in the list, in the chart, also of the time before the page was opened, in the rail and in the figures."""
    with PageNode() as node:
        for device in (PF, VF):
            node.story(device).play(TRAFFIC)
        node.judged(VF)
        node.judge_more(20)
        page = opened(node, "#port/mlx5_0/1")
        page.until("the chart", f"document.querySelector('.chart .legend strong')?.innerText === {WIRE} && {WIRE} !== inUnit({OWN}, 'bits') && parseFloat({WIRE}) > 50")
        equal(page.run("document.querySelector('.chart h3').innerText"), "Throughput of PF and VFs Gbit/s")
        page.until("what was before", IN_PAST)
        page.until("its own part by name", f"document.querySelector('.cards').innerText.includes('PF itself') && document.querySelector('.cards').innerText.includes(withUnit({OWN}, 'bits'))")
        page.go(node.url + "#ports")
        row = "[...document.querySelectorAll('table.list tbody tr')].find((tr) => tr.innerText.startsWith('mlx5_0/1'))"
        page.until("the list", f"{row}?.querySelector('.c-bytes_received').innerText === {WIRE}")
        equal(page.run(f"/^PF and VFs; the PF itself \\d/.test({row}.querySelector('.c-bytes_received [data-tip]').dataset.tip)"), True)
        page.go(node.url + "#")
        page.until("the rail", f"[...document.querySelectorAll('.rails tbody tr')].find((tr) => tr.innerText.includes('mlx5_0/1'))?.querySelector('.traffic .number').innerText === {WIRE}")
        page.until("the sum", f"document.querySelector('.figure .big').innerText.startsWith({WIRE})")
        equal(page.run(BYTES), [13, 10, 10, 3, 3, None])
        # A VF has a part of the link: its scale follows its traffic. A PF's row has the bands of its own verdicts only.
        page.go(node.url + f"#port/{VF}/1")
        page.until("its scale", "((plot) => plot && plot.scales.y.max > 20 && plot.scales.y.max < 1.6 * Math.max(...plot.data.slice(1).flat().filter(isKnown)))(page.view.history?.all()[0]?.plot)")
        equal(page.run("((p) => ['p', '[]'].map((about) => trafficSpark(page.model, [p], about === 'p' ? [p] : []).querySelectorAll('.band').length))({...page.model.portByKey.get('mlx5_0/1'), ended: [], verdicts: [{severity: 'critical', onset: new Date(page.model.sampleMs() - 5000).toISOString(), ended: null}]})"), [1, 0])
        silent(page, node.url)
        page.close()


# --- evidence -----------------------------------------------------------------------------------

IN_UNIT = """((e, others) => { const found = inChartUnit({evidence: [e, ...others]}, e, 4e11); return [found.value, found.threshold, found.unit, chartText({evidence: [e, ...others]}, e, 4e11)]; })(...%s)"""
CASES = (  # evidence, and others of its verdict: value, limit and unit of the charts, and the number in words
    ([{"name": "received, share of the line's capacity", "value": 0.96, "threshold": 0.95, "unit": "ratio"}, []], [4.8e10, 4.75e10, "B/s", "384\u00a0Gbit/s"]),
    ([{"name": "sequence and implied NAKs per packet", "value": 0.001, "threshold": 0.0001, "unit": "ratio"},
      [{"name": "roce_sequence_nak_received_total", "value": 300, "unit": "1/s", "threshold": None}, {"name": "roce_implied_nak_total", "value": 200, "unit": "1/s", "threshold": None}]],
     [500, 50, "1/s", "500/s"]),
    ([{"name": "share of packets that arrive marked CE", "value": 0.05, "threshold": 0.01, "unit": "ratio"}, []], [0.05, 0.01, "ratio", None]),
    ([{"name": "timeouts per packet", "value": 0.05, "threshold": 0.01, "unit": "ratio"}, []], [0.05, 0.01, "ratio", None]))


@check
def a_cause_has_one_unit_and_words():
    """The share that was judged comes first, with its fixed limit; beside it the number as its chart and the lists count it. The metric's name is below its words."""
    with PageNode() as node:
        node.story(PF).play(TRAFFIC, LOSS)
        eventually("a verdict", lambda: node.verdict(PF, "packet_loss"))
        page = opened(node)
        page.until("a problem", "document.querySelector('.verdict h3 button')")
        page.run("document.querySelector('.verdict h3 button').click()")
        page.until("a share, and packets a second", "/^[\\d.]+\\s(%|per million)\\s+[\\d.]+(\\s[kM])?\\/s\\s+NAKs,\\s+limit [\\d.]+\\s(%|per million)$/.test(document.querySelector('.problem-much').innerText.trim())")
        # The chart is of packets a second. A limit per packet moves with the traffic, so it is no line there.
        page.until("so is the chart", "document.querySelector('.problem-body .chart h3')?.innerText === 'NAKs /s' && document.querySelector('.problem-body .legend').innerText.includes('NAKs')")
        equal("Limit" in page.text(".problem-body .legend"), False)
        rows = page.run("[...document.querySelectorAll('.evidence tbody tr')].map((tr) => [tr.querySelector('th').firstChild.data, tr.querySelector('th small')?.innerText.replaceAll('\\u200b', '') ?? null, tr.cells[1].innerText])")
        first, named = rows[0], {words: below for words, below, _ in rows}
        assert first[0] == "NAKs" and first[1].startswith("Sequence and implied NAKs per packet: ") and first[1].endswith("/s") and first[2].endswith(("%", "per million")), rows
        equal((named["Sequence NAKs received"], named["ACK timeouts"]), ("roce_sequence_nak_received_total", "roce_ack_timeouts_total"))
        moved = page.run("[...document.querySelectorAll('.problem-body dl > div')].find((div) => div.innerText.startsWith('Moved first')).querySelector('dd').innerText.split('\\n')")
        assert not moved[0].startswith("roce_") and moved[1].startswith("roce_"), moved
        equal([page.run(IN_UNIT % json.dumps(case)) for case, _ in CASES], [expected for _, expected in CASES])
        # The names of a metric's labels are left out, and a sentence stays one.
        equal(page.run("""['roce_nic_faults_total{fault="reset"}', 'roce_pause_seconds_total{direction="sent"}', 'longest pause without any traffic'].map(evidenceTitle)"""),
              ["NIC faults, reset", "802.3x pause, sent", "Longest pause without any traffic"])
        silent(page, node.url)
        page.close()


# --- one state ----------------------------------------------------------------------------------

BAD = """(path, document) => { const a = {state: 'bad', error: 'residual state: 3 GIDs', since: '2026-11-30T01:02:03Z', drift: [], ips: [], interface: null, function: '%s', rdma: null, namespace: 'train', pod: 'job-7'};
    if (path === 'pods') for (const c of document.pods.flatMap((pod) => pod.containers)) for (const d of c.devices) %s; }"""
TROUBLES = "d.troubles = [{kind: 'resource', word: 'not_registered', severity: 'warning', level: 2, ofPf: false, since: null, orEarlier: false, what: 'resource rocelet.dev/roce is not registered', help: 'Run `rocectl doctor`.'}, {kind: 'verdict', word: 'packet_loss'}]"
PODS_ROW = "[...document.querySelectorAll('table.list tbody tr')].find((tr) => tr.innerText.includes('job-7'))"


@check
def a_pods_trouble_without_a_verdict():
    """An attachment that fails, a device without a port, what the API calls a trouble: on the overview, in the list and on the pod's page."""
    with PodNode() as node:
        node.story(PF).play(TRAFFIC)
        node.judged(VF)
        for what, change, title, said in (("an attachment", f"Object.assign(d, {{id: '0000:99:00.1', attachment: a, troubles: undefined}})", "Could not be cleaned", "Residual state: 3 GIDs"),
                                          ("a trouble of the API", f"Object.assign(d, {{id: '0000:99:00.1'}}); {TROUBLES}", "Pool not registered", "Resource rocelet.dev/roce is not registered"),
                                          ("an attachment of a device with a port", "d.attachment = {...a, function: d.attachment?.function ?? null}; delete d.troubles", "Could not be cleaned", None)):
            page = altered(node, BAD % ("0000:99:00.1", f"{{ {change} }}"))
            if not said:  # its port, which is fine, is named
                page.until(what, "document.querySelector('.blind a[href=\"#port/mlx5_2/1\"]') && document.getElementById('count').getAttribute('aria-label') === '1 warning'")
                page.go(node.url + "#pod/train/job-7")
                page.until(what, f"document.querySelector('.notice[data-kind=warning]')?.textContent.trim().startsWith('{title} on mlx5_2/1') && document.querySelector('.strip-empty') && !/No problems/.test(document.body.innerText)")
            else:
                page.until(what, f"document.querySelector('.blind a[href=\"#pod/train/job-7\"]') && document.querySelector('.blind').innerText.includes({json.dumps(title)}) && document.querySelector('.blind').innerText.includes({json.dumps(said)})")
                equal((page.text("h1"), page.run("document.querySelector('.headline .mark').dataset.kind"), page.text("#count").strip()), ("1 device of a pod is in trouble", "warning", "1"))
                page.go(node.url + "#pods?show=unhealthy")
                page.until("in the list", f"{PODS_ROW}?.querySelector('.c-state').innerText.startsWith({json.dumps(title)}) && {PODS_ROW}.querySelector('.mark').dataset.kind === 'warning'")
                page.go(node.url + "#pod/train/job-7")
                page.until("on its page", f"document.querySelector('.notice[data-kind=warning] strong')?.innerText.startsWith({json.dumps(title)}) && !/No problem/.test(document.querySelector('main').innerText)")
                silent(page, node.url)
            page.close()


@check
def states_have_one_look_everywhere():
    """The outline of an unhealthy device is solid as its mark; what the PF causes has a line below; views in the search have no mark."""
    with PageNode() as node:
        node.judged(PF)
        page = opened(node)
        style = "(([name, kind, of]) => { const e = make('span', {class: name, 'data-kind': kind, 'data-of': of}); byId('main').append(e); const {borderTopStyle, borderTopWidth, borderBottomWidth} = getComputedStyle(e); e.remove(); return [borderTopStyle, borderTopWidth, borderBottomWidth]; })"
        looks = [page.run(f"{style}({json.dumps(what)})") for what in (["cell", "unhealthy", None], ["cell small", "unhealthy", None], ["tag", "unhealthy", None], ["tag", "critical", "pf"], ["tag", "warning", "pf"])]
        equal(looks, 3 * [["solid", "2px", "2px"]] + 2 * [["solid", "1px", "3px"]])
        page.run("page.search.open()")
        page.until("views", "[...document.querySelectorAll('[role=option]')].some((e) => e.innerText.includes('Queue pairs'))")
        equal(page.run("[...document.querySelectorAll('[role=option]')].filter((e) => e.innerText.includes('View') && e.querySelector('.mark')).length"), 0)
        silent(page, node.url)
        page.close()


@check
def a_finding_has_a_heading_in_words():
    """Every word of the doctor has one; the word itself is in the tooltip, and the search finds it."""
    with open(TOP + "/daemon/api/doctor.c", encoding="utf-8") as f:
        kinds = re.findall(r'\[FINDING_\w+\] = "(\w+)"', f.read())
    with PageNode() as node:
        node.judged(PF)
        page = altered(node, f"""(path, document) => {{ if (path === 'doctor') document.findings = {json.dumps(kinds)}.map((kind) => ({{kind, about: 'rocelet', object: null, namespace: null, pod: null, what: kind, help: '', fixable: false}})); }}""", "#agent")
        page.until("findings", f"document.querySelectorAll('.findings li').length === {len(kinds)}")
        heads = page.run("[...document.querySelectorAll('.findings li strong')].map((e) => [e.innerText, e.dataset.tip])")
        equal([tip for _, tip in heads], ["rocectl doctor: " + kind for kind in kinds])
        equal(page.run("Object.keys(FINDING_TITLES).toSorted()"), sorted(kinds))
        page.close()


@check
def a_link_that_is_down_is_down_everywhere():
    """In the lists, on the pages of port and pod, and beside the charts, where nothing says that there is no problem."""
    with PodNode() as node:
        node.story(VF).play(TRAFFIC)
        node.judged(VF)
        node.link("ens1v0", False)
        health = lambda: next(p for p in json.loads(node.get("/api/v1/ports"))["ports"] if p["device"] == VF)["health"]
        eventually("the API's severity", lambda: health() == "critical")
        page = opened(node, "#ports")
        row = "[...document.querySelectorAll('table.list tbody tr')].find((tr) => tr.innerText.startsWith('mlx5_2/1'))"
        page.until("in the list", f"{row}?.querySelector('.c-state').innerText === 'Link down' && {row}.querySelector('.c-link').innerText === 'down'")
        for place in ("port/mlx5_2/1", "pod/train/job-7"):
            page.go(node.url + "#" + place)
            page.until(place, "document.querySelector('.view-head .mark')?.dataset.kind === 'critical' && document.querySelector('.notice[data-kind=critical] strong')?.innerText.startsWith('Link down')")
            page.until("its history", "document.querySelector('.strip, .strip-empty')")
            equal((place, page.run("/No problem/.test(document.querySelector('main').innerText)")), (place, False))
        page.go(node.url + "#port/mlx5_2/1")
        page.until("its cards", "document.querySelector('.cards')?.innerText.includes('has no carrier') && document.querySelector('.cards').innerText.includes('Unhealthy: Link down')")
        page.go(node.url + "#")
        page.until("on the overview", "document.querySelector('.headline .mark').dataset.kind === 'critical' && document.querySelector('.blind .mark').dataset.kind === 'critical' && document.querySelector('.cell[data-kind=critical]') && document.querySelector('.blind a[href=\"#port/mlx5_2/1\"]') && document.querySelector('.blind a[href=\"#pod/train/job-7\"]')")
        # A critical one is directly below the problems, above the sums.
        node.story(PF).play(TRAFFIC, LOSS)
        page.until("above the sums", "document.querySelector('.problem:not([data-ended])') && ((e) => e?.previousElementSibling.matches('.problems') && e.nextElementSibling.matches('.figures'))(document.querySelector('.blind'))")
        page.go(node.url + "#agent")
        page.until("in what the doctor finds", "document.querySelector('.findings a[href=\"#pod/train/job-7\"]')")
        silent(page, node.url)
        # Without an answer it is the last known state, as a verdict is.
        page.go(node.url + "#")
        tally = "document.querySelector('.tally').innerText.match(/\\d+ critical/)?.[0]"
        page.until("counted", f"/critical/.test({tally})")
        before = page.run(tally)
        node.hang()
        page.until("old", "document.body.dataset.old === 'yes'")
        equal((page.run(tally), page.run("page.model.pods[0].state.kind")), (before, "critical"))
        node.wake()
        page.close()


@check
def axe_finds_nothing_in_troubles():
    """Nor in the parts of a pool and the settings that were found; and nothing is wider than the window."""
    axe = axe_script()
    with PodNode() as node:
        node.judged(VF)
        for width, dark in ((1280, True), (400, False)):
            page = altered(node, BAD % ("0000:99:00.1", "Object.assign(d, {id: '0000:99:00.1', attachment: a, troubles: undefined})"), width=width, dark=dark)
            page.run(axe + ";0")
            for view, drawn in (("", ".blind li"), ("pod/train/job-7", ".notice"), ("pods", "table.list tbody tr[data-row]"), ("pools", ".pool .part"), ("agent?q=share", ".settings dt")):
                page.run(f"location.hash = '#{view}'")
                page.until(view, f"document.querySelector('{drawn}')")
                equal((view, width, page.run(AXE)), (view, width, []))
                equal((view, width, page.run("document.documentElement.scrollWidth <= innerWidth")), (view, width, True))
            page.close()


SINCE = """((r) => [healthTroubles({why: 'x', resources: [{healthy: false, reasons: ['link_down', 'not_clean'], ...r}]}, null).map((t) => troubleSince(t)), troubleState(healthTroubles({why: 'x', resources: [{healthy: false, reasons: ['link_down', 'not_clean'], ...r}]}, null)).text])(%s)"""


@check
def since_when_and_in_which_zone():
    """Times are those of the browser's zone, which is named; their tooltips are in UTC. What was there when rocelet started may be older."""
    with PageNode() as node:
        node.story(PF).play(TRAFFIC, LOSS)
        eventually("a verdict", lambda: node.verdict(PF, "packet_loss"))
        page = run.browser.page()
        page.call("Emulation.setTimezoneOverride", timezoneId="Asia/Kolkata")
        page.go(node.url + "#events")
        page.until("the zone", "document.querySelector('footer').innerText.includes('times are UTC+05:30') && document.querySelector('.c-time').innerText.includes('UTC+05:30')")
        page.until("UTC in the tip", "/^\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d UTC$/.test(document.querySelector('tbody time')?.dataset.tip)")
        page.go(node.url + "#port/mlx5_0/1")
        page.until("beside the charts", "document.querySelector('.time').innerText.includes('to now, UTC+05:30')")
        page.until("in a problem's row", "document.querySelector('.problem-when time[data-tip$=UTC]')")
        equal(page.run("[0, 30, -345].map((m) => { const real = Date.prototype.getTimezoneOffset; Date.prototype.getTimezoneOffset = () => m; try { return zoneName(0); } finally { Date.prototype.getTimezoneOffset = real; } })"), ["UTC", "UTC−00:30", "UTC+05:45"])
        at = "new Date(Date.now() - 60000).toISOString()"
        equal(page.run(f"((at, time) => [{SINCE % '{}'}, {SINCE % '{unhealthySince: at, orEarlier: false}'}[0][0] === `since ${{time}}`, {SINCE % '{unhealthySince: at, orEarlier: true}'}[0][0] === `since before ${{time}}`])({at}, clock(Date.parse({at})))"),
              [[["", ""], "Link down, not clean"], True, True])
        silent(page, node.url)
        page.close()


# --- pods of a PF ----------------------------------------------------------------------------------

NAMED = """(path, document) => { if (path === 'live') for (const v of document.verdicts ?? []) Object.assign(v, {podCount: %d, pods: [{namespace: 'train', name: 'job-6'}]}); }"""


@check
def a_pfs_verdict_names_all_pods_of_its_vfs():
    """Also those that the API only counts; and they know of it."""
    with PodNode() as node:
        node.story(PF).play(TRAFFIC, LOSS)
        eventually("a verdict", lambda: node.verdict(PF, "packet_loss"))
        page = altered(node, NAMED % 3)
        page.until("a problem", "document.querySelector('.verdict h3 button') && page.model.pods?.length === 1 && page.model.portByKey.get('mlx5_2/1')?.facts.pod")
        page.run("document.querySelector('.verdict h3 button').click()")
        page.until("both", "document.querySelector('.problem-body a[href=\"#pod/train/job-6\"]') && document.querySelector('.problem-body a[href=\"#pod/train/job-7\"]') && document.querySelector('.problem-body').innerText.includes('and 1 that are not known now')")
        assert "train/job-6, train/job-7 and 1 more" in page.run("ticketText(page.model, page.model.verdicts[0])")
        page.go(node.url + "#pods")
        page.until("the pod knows", f"{PODS_ROW}?.querySelector('.c-state').innerText.startsWith('Packet loss')")
        page.go(node.url + "#ports")
        page.until("the PF's row", "[...document.querySelectorAll('table.list tbody tr')].find((tr) => tr.innerText.startsWith('mlx5_0/1'))?.querySelector('.c-pod').innerText === '1 pod on VFs'")
        page.go(node.url + "#pod/train/job-7")
        page.until("this pod, without a link to this page", "document.querySelector('.problem-pods')?.innerText.replace(/\\s+/g, ' ') === 'affects this pod and 2 more' && !document.querySelector('.problem-pods a')")
        page.go(node.url + "#port/mlx5_0/1")
        page.until("its card", "document.querySelector('.cards a[href=\"#pod/train/job-7\"]')")
        silent(page, node.url)
        page.close()


@check
def a_noisy_pod_and_its_victims():
    """The verdict names both, each has the state and the events of it, and the VF of the noisy one has the same state in every list."""
    other = "mlx5_4"
    with PageNode() as node:
        kubelet, _ = hold(node, ("train", "llm-0", VF_FUNCTION), ("train", "llm-1", "0000:18:00.2"))
        for device in (PF, VF, other):
            node.story(device).play(TRAFFIC)
        eventually("the pods are known", lambda: sum(p["held"] for p in node.diagnosis()["ports"]) == 2)
        node.stories[VF].play({name: 10 * rate for name, rate in TRAFFIC.items()}, {CE: 6e5, CNP_SENT: 2e5})
        page = opened(node)
        page.until("a verdict", "document.querySelector('.verdict')?.textContent.includes('affects train/llm-1') && document.querySelector('.verdict').textContent.includes('caused by train/llm-0')")
        assert "train/llm-1; caused by train/llm-0" in page.run("ticketText(page.model, page.model.verdicts.find((v) => v.cause === 'noisy_neighbour'))")
        for pod in ("llm-0", "llm-1"):
            page.go(node.url + f"#pod/train/{pod}")
            page.until(f"the problem of {pod}", "document.querySelector('.verdict')?.innerText.includes('noisy_neighbour')")
            page.until(f"the events of {pod}", f"page.model.eventsOfPod(page.model.podByKey.get('train/{pod}')).some((e) => e.message.includes('noisy_neighbour, warning')) && !document.body.innerText.includes('No events of this pod')")
        for view, rows in (("ports", ("mlx5_2/1", "mlx5_4/1")), ("pods", ("train/llm-0", "train/llm-1"))):
            page.go(node.url + f"#{view}")
            for row in rows:
                page.until(f"{row} in {view}", f"[...document.querySelectorAll('table.list tbody tr')].find((tr) => tr.textContent.includes('{row}'))?.querySelector('.c-state').innerText.startsWith('Noisy neighbour')")
        silent(page, node.url)
        page.close()
        kubelet.stop()


# --- pools, settings, search ----------------------------------------------------------------------

PARTS = """((pool, devices) => poolParts({devicesOf: () => devices}, pool).map(([kind, n, text]) => `${n} ${text}`))(%s)"""
POOLS = (
    ("{name: 'r', devices: 10, healthy: 4, allocated: 3, free: 0}, []", ["3 allocated", "1 reserved or returning", "6 unhealthy"]),
    ("{name: 'r', shared: true, devices: 49, healthy: 40, allocated: 9, free: 0, gidCapacity: 1}, null", ["9 allocated", "31 without a RoCE address left", "9 unhealthy"]),
    ("{name: 'r', devices: 6, healthy: 3, allocated: 2, free: 2}, [['link_down', null], ['not_clean', null], ['link_down', {}]].map(([reason, holder]) => ({resources: [{resource: 'r', healthy: false, reasons: [reason], holder}]}))",
     ["1 allocated and healthy", "1 allocated and unhealthy", "2 available", "2 unhealthy: 1 link down; 1 not clean"]),
    ("{name: 'r', devices: 10, healthy: 8, allocated: null, free: null}, []", ["8 healthy, perhaps allocated", "2 unhealthy"]),
    ("{name: 'r', devices: 10, healthy: 8, allocated: null, free: 0}, []", ["8 healthy, none available", "2 unhealthy"]))


@check
def parts_of_a_pool_can_be_told_apart():
    """Each reason why a device cannot be allocated has its own look and its number, and they add up."""
    with PageNode() as node:
        node.judged(PF)
        page = altered(node, "(path, document) => { if (path === 'resources') document.resources.forEach((r) => Object.assign(r, {devices: 49, healthy: 40, allocated: 12, free: 5, gidCapacity: 20, registration: 'registered'})); }", "#pools")
        equal([page.run(PARTS % pool) for pool, _ in POOLS], [parts for _, parts in POOLS])
        page.until("a bar", "document.querySelectorAll('.pool .bar span').length === 4")
        equal(page.text(".pool header .state"), "RoCE addresses for 20 of 49 pods only")
        looks = page.run("[...document.querySelectorAll('.pool .bar span')].map((e) => getComputedStyle(e).background)")
        equal((len(set(looks)), page.run("[...document.querySelectorAll('.pool .legend-list .part')].map((e) => e.dataset.kind)"), page.run("document.querySelector('.pool .bar').offsetHeight >= 12")), (4, ["used", "blocked", "free", "unhealthy"], True))
        equal(page.run("[...document.querySelectorAll('.pool .legend-list strong')].reduce((sum, e) => sum + Number(e.innerText), 0)"), 49)
        silent(page, node.url)
        page.close()


@check
def an_unread_list_is_not_free():
    """Until the kubelet's list is read, no device of a pool is shown as free, and the page says why."""
    with PageNode() as node:
        node.judged(PF)
        page = altered(node, "(path, document) => { if (path === 'resources') document.resources.forEach((r) => Object.assign(r, {devices: 4, healthy: 4, allocated: null, free: null, gidCapacity: null, registration: 'registered'})); }", "#pools")
        has(page, "The kubelet's list of allocated devices has not been read yet.")
        equal(page.run("[...document.querySelectorAll('.pool .numbers .big')].map((e) => e.innerText)"), ["4", "4", "Unknown", "Unknown"])
        equal(page.run("[...document.querySelectorAll('.pool .bar span, .pool h2 .mark')].map((e) => e.dataset.kind)"), ["unknown", "unknown"])
        page.run("[...document.querySelectorAll('.pool button')].find((b) => b.innerText.startsWith('Show all')).click()")
        equal(page.run("/\\bFree\\b/.test(document.querySelector('.pool-devices').innerText)"), False)
        page.run("location.hash = '#'")
        page.until("beside the rails, too", "document.querySelector('.pool-line')?.innerText.includes('availability not known yet')")
        silent(page, node.url)
        page.close()


@check
def settings_that_differ_come_first():
    with PageNode() as node:
        node.judged(PF)
        page = opened(node, "#agent")
        page.until("what differs", "document.querySelector('.settings')?.innerText.includes('sample-interval')")
        first = "[...document.querySelector('.settings').children].map((row) => [row.querySelector('code').innerText, row.querySelector('dd').innerText.replace(/\\s+/g, ' ')])"
        found = dict(page.run(first))
        equal((found["sample-interval"], found["diagnosis.warming_seconds"], "log-level" in found), ("0.1 default 1", "1 default 60", False))
        # All others are folded, by subject; none is without one.
        equal(page.run("[...document.querySelectorAll('.setting-group')].every((d) => !d.open) && document.querySelectorAll('.setting-group').length > 5"), True)
        equal(page.run("[...Object.keys(SETTING_FACTS), ...Object.keys(page.model.documents.config)].filter((key) => settingGroup(key) === 'Other')"), [])
        page.run("(() => { const f = document.getElementById('filter-settings'); f.value = 'lowest level'; f.dispatchEvent(new Event('input')); })()")
        page.until("found by what it means", f"JSON.stringify({first}) === JSON.stringify([['log-level', 'info']]) && location.hash === '#agent?q=lowest+level'")
        page.run("(() => { const f = document.getElementById('filter-settings'); f.value = 'nosuchkey'; f.dispatchEvent(new Event('input')); })()")
        has(page, "No settings match “nosuchkey”")
        silent(page, node.url)
        page.close()


ORDER = """((things, word) => things.map((thing) => [page.search.rank({kind: 'ok', words: [], ...thing}, word), thing]).filter(([rank]) => rank).sort((a, b) => compareLists(a[0], b[0])).map(([, thing]) => thing.is))
    ([{is: 'within, bad', kind: 'critical', names: ['xmlx5_1']}, {is: 'begins', names: ['mlx5_10/1']}, {is: 'begins, bad', kind: 'warning', names: ['mlx5_11/1']}, {is: 'another is it', kind: 'critical', names: ['packets'], words: ['mlx5_1']},
    {is: 'is it', kind: 'critical', names: ['mlx5_1/1', 'mlx5_1']}, {is: 'begins, idle', kind: 'idle', names: ['mlx5_12']}, {is: 'no', kind: 'critical', names: ['mlx4']}, {is: 'apart', names: ['mlx4_0'], words: ['zebra']}], '%s')"""


@check
def search_has_an_order():
    """Exactly so, then what begins so, then what has it within; of each, problems first."""
    with PageNode() as node:
        node.story(PF).play(TRAFFIC, LOSS)
        eventually("a verdict", lambda: node.verdict(PF, "packet_loss"))
        page = opened(node)
        equal(page.run(ORDER % "mlx5_1"), ["is it", "another is it", "begins, bad", "begins", "begins, idle", "within, bad"])
        equal(page.run(ORDER % "zebra mlx4_0"), ["apart"])
        page.until("a problem", "page.model.verdicts.length > 0")
        page.run("page.search.open(); page.search.input.value = 'mlx5_0'; page.search.find()")
        equal(page.run("[...document.querySelectorAll('[role=option] small')].map((e) => e.innerText).slice(0, 2)"), ["Port", "Problem"])
        silent(page, node.url)
        page.close()


# --- room -----------------------------------------------------------------------------------------

QPS = """(path, document) => { const flow = {packets: 9e5, bytes: 4e9, ce: 9e4, cnp: 0, naks: 700, rnr: 0, retransmissions: 650, rtt: null, lastSeen: null};
    if (path === 'qps') Object.assign(document, {source: 'netlink', error: null, flows: true, total: 3, qps: [0, 1, 2].map((i) => ({device: i ? 'mlx5_2' : 'rocep24s0f1v12', port: 1, netdev: 'ens1v0', qpn: 4211 + i, address: '10.46.3.2',
        peerQpn: 90210, peerAddress: i ? '10.46.3.17' : 'fd00:1234:5678:9abc::4', type: 'RC', state: i === 2 ? 'ERR' : 'RTS', namespace: 'train', pod: i ? 'job-7' : 'llama3-70b-sft-worker-0', uid: null, pid: 24117, comm: 'python3.11', kernel: false, mtu: 4096,
        failure: i === 1 ? 'transport retries exceeded' : null, received: flow, sent: null}))}); }"""
CLIPPED = """(() => { const panel = document.querySelector('.table').getBoundingClientRect(), cells = [...document.querySelectorAll('table.list tbody tr[data-row] > *')].filter((cell) => cell.offsetWidth > 0);
    return [cells.filter((cell) => cell.getBoundingClientRect().right > panel.right + 1 || [...cell.querySelectorAll('*')].some((e) => e.offsetWidth > 0 && !e.querySelector('*') && e.getBoundingClientRect().right > cell.getBoundingClientRect().right + 1)).map((cell) => cell.className),
        cells.filter((cell) => cell.matches('.c-trouble, .c-qpn, .number') && cell.scrollWidth > cell.clientWidth).map((cell) => `${cell.className} ${cell.innerText}`)]; })()"""


@check
def queue_pairs_have_room():
    """At any width nothing runs out of its column, and what is wrong is not cut."""
    with PageNode() as node:
        node.judged(PF)
        for width in (1440, 1320, 1180, 1024, 900, 720, 400):
            page = altered(node, QPS, "#qps", width=width)
            page.until("rows", "document.querySelectorAll('table.list tbody tr[data-row]').length === 3")
            equal((width, page.run(CLIPPED), page.run("document.documentElement.scrollWidth <= innerWidth")), (width, [[], []], True))
            if width >= 1024:
                equal((width, page.run("['ce', 'naks', 'retransmissions'].every((id) => document.querySelector(`td.c-${id}`).offsetWidth > 0)")), (width, True))
            silent(page, node.url)
            page.close()


@check
def narrow_rows_have_two_lines():
    """At 400 pixels: name and state, and below them the numbers, both directions with one unit."""
    with PodNode() as node:
        for device in (PF, VF):
            node.story(device).play(TRAFFIC)
        node.judged(VF)
        page = opened(node, "#ports", width=400)
        cell = "((row, name) => row?.querySelector(name)?.getBoundingClientRect())([...document.querySelectorAll('table.list tbody tr')].find((tr) => tr.innerText.startsWith('mlx5_1/1') || tr.innerText.startsWith('mlx5_0/1')), '%s')"
        page.until("a row", f"{cell % '.c-bytes_received'}")
        tops = page.run(f"['.c-name', '.c-state', '.c-bytes_received', '.c-bytes_sent'].map((name) => document.querySelector(`table.list tbody tr ${{name}}`).getBoundingClientRect().top)")
        assert abs(tops[0] - tops[1]) < 8 and tops[2] > tops[0] + 10 and abs(tops[2] - tops[3]) < 4, tops
        equal(page.run("getComputedStyle(document.querySelector('td.c-bytes_sent'), '::after').content"), '" Gbit/s"')
        equal(page.run("document.documentElement.scrollWidth <= innerWidth"), True)
        silent(page, node.url)
        page.close()


@check
def the_runbook_looks_like_the_page():
    with PageNode() as node:
        node.judged(PF)
        page = opened(node)
        look = "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.querySelector('header')).backgroundColor, document.querySelector('header').offsetHeight, getComputedStyle(document.body).fontFamily, getComputedStyle(document.querySelector('h1')).fontSize]"
        own = page.run(look)
        page.close()
        for path, current in (("runbook/packet_loss", "Runbook"), ("runbook/", "Runbook")):
            page = run.browser.page(node.url + path)
            equal((path, page.run(look)), (path, own))
            equal((path, page.run("document.querySelector('nav [aria-current]').innerText"), page.run("document.querySelector('.card h1') !== null")), (path, current, True))
            page.close()
        page = run.browser.page(node.url + "runbook/packet_loss")
        equal(page.run("[...document.querySelectorAll('p > strong:first-child')].map((e) => e.innerText).slice(0, 2)"), ["Means", "Impact"])
        equal(page.run("[...document.querySelectorAll('.actions a')].map((a) => a.getAttribute('href'))"), ["../#overview?problem=packet_loss", "../#ports?q=packet_loss", "../#events?q=packet_loss"])
        page.close()


@check
def the_runbook_says_what_is_open():
    """A cause names the ports where it is open, and since when; the contents mark it; what is not known is not called over."""
    with PageNode() as node:
        node.story(PF).play(TRAFFIC, LOSS)
        eventually("a verdict", lambda: node.verdict(PF, "packet_loss"))
        page = run.browser.page(node.url + "runbook/packet_loss")
        page.until("its port", "/^Open at .* on 1 port: mlx5_0\\/1 since /.test(document.getElementById('open').innerText)")
        equal(page.run("document.querySelector('#open a').getAttribute('href')"), "../#port/mlx5_0/1")
        equal(page.run("document.querySelector('.contents [aria-current] .open').innerText.trim()"), "1 open")
        page.run(axe_script() + ";0")
        equal(page.run(AXE), [])
        page.go(node.url + "runbook/nic_stuck")
        has(page, "No open problem of this cause on this node at ")
        silent(page, node.url)
        equal(page.run("[document.createElement('p')].map((line) => { line.dataset.cause = 'nic_stuck'; showState(line, null); return line.innerText; })"), ["Whether it is open on this node is not known: rocelet does not answer."])
        page.close()


GROUPS = "[...document.querySelectorAll('.contents p')].map((p) => [p.innerText, p.nextElementSibling.innerText.split('\\n').filter(Boolean)])"


@check
def the_runbook_is_ordered_by_urgency():
    """Its bar has the views of the page; its contents have the causes in words, by how soon to act; each cause begins with that."""
    with open(TOP + "/docs/runbook.md", encoding="utf-8") as f:
        impacts = dict(re.findall(r"^## (\w+)\n(?:(?!^## ).)*?^\*\*Impact\.\*\* (Now for the job|Now|Today; now if it is critical|Today|At the next maintenance|No hurry|None)\b",
                                  f.read(), re.M | re.S))
    titles = {"Now": "Act now", "Today; now if it is critical": "Act now if critical", "Now for the job": "Act now for the job", "Today": "Act today", "At the next maintenance": "At the next maintenance", "No hurry": "No hurry", "None": "Nothing to do"}
    with PageNode() as node:
        node.judged(PF)
        page = opened(node)
        views = page.run("[...document.querySelectorAll('#views a')].map((a) => [a.firstChild.data, a.hash || '#'])")
        page.close()
        for path in ("runbook/", "runbook/packet_loss"):
            page = run.browser.page(node.url + path)
            equal(page.run("[...document.querySelectorAll('header nav li a')].map((a) => [a.innerText, a.getAttribute('href').replace('../', '')])")[:len(views)], views)
            groups = dict(page.run(GROUPS))
            equal([title for title in groups if title in titles.values()], list(titles.values()))
            equal({title: len(groups[title]) for title in titles.values()}, {title: list(impacts.values()).count(word) for word, title in titles.items()})
            assert "PFC mismatch" in groups["Act today"] and "Packet loss" in groups["Act now if critical"] and "NIC stuck" in groups["Act now"], groups
            page.close()
        page = run.browser.page(node.url + "runbook/packet_loss")
        equal(page.run("((e) => [e.innerText, e.dataset.urgency])(document.querySelector('.urgency'))"), ["Act today; now if it is critical", "today"])
        page.go(node.url + "runbook/")
        equal(page.run("document.querySelectorAll('h2 + .urgency').length"), len(impacts))
        equal(page.run("document.getElementById('packet_loss').innerText"), "Packet loss packet_loss")
        page.look(400, 900)
        page.until("its tab is in sight", "document.querySelector('header [aria-current]').getBoundingClientRect().right <= innerWidth")
        silent(page, node.url)
        page.close()


@check
def the_runbook_is_a_part_of_the_page():
    """The node's name, the tab order of the page, a way in without the slash, links for an unknown cause, and no sentence twice."""
    with PageNode() as node:
        node.judged(PF)
        name = json.loads(node.get("/api/v1/live"))["node"]
        page = run.browser.page(node.url + "runbook", width=400)
        equal((page.run("location.pathname"), page.run("document.title")), ("/runbook/", f"Runbook · {name} · rocelet"))
        equal([page.run(f"document.getElementById('{cause}').nextElementSibling.className") for cause in ("packet_loss", "nic_stuck")], ["urgency", "urgency"])
        impacts = "[...document.querySelectorAll('p > strong:first-child')].filter((e) => e.innerText === 'Impact').map((e) => e.parentElement.innerText.split('\\n').pop())"
        equal([text for text in page.run(impacts) if re.match(r"(?:Now|Today|At the next|No hurry|None)\\b|[^A-Z`]", text)], [])
        equal(page.run("[...document.querySelectorAll('pre')].filter((e) => e.scrollWidth > e.clientWidth).length"), 0)
        silent(page, node.url)
        page.close()
        page = run.browser.page(node.url + "runbook/packet_loss")
        equal(page.run("document.querySelector('.home').innerText"), name)
        reached = []
        for _ in range(11):
            page.key("Tab", "Tab", 9)
            reached.append(page.run("document.activeElement.innerText"))
        equal(reached, ["Skip to contents", name, "Overview", "Ports", "Pods", "Queue pairs", "Pools", "Events", "Agent", "Runbook", "◐"])
        equal(page.run(f"{impacts}[0].startsWith('Jobs on the port')"), True)
        page.go(node.url + "runbook/no_such_cause")
        equal(page.run("[document.querySelector('h1').innerText, document.querySelector('.home').innerText]"), ["No such cause", name])
        equal(page.run("['./', '../#', 'packet_loss', 'nic_stuck'].filter((href) => !document.querySelector(`main a[href='${href}'], .contents a[href='${href}']`))"), [])
        equal([address for address in page.run("[...document.links].filter((a) => a.pathname !== location.pathname).map((a) => a.href)") if urllib.request.urlopen(address).status != 200], [])
        page.close()
        # Other clients get no document.
        try:
            urllib.request.urlopen(node.url + "runbook/no_such_cause")
            raise AssertionError("found")
        except urllib.error.HTTPError as e:
            equal((e.code, e.headers.get_content_type() == "text/html"), (404, False))


@check
def the_runbook_leads_to_its_parts():
    """Contents, anchors, neighbours, and the way back to the problems; the contents stay in sight where there is room."""
    with PageNode() as node:
        node.judged(PF)
        for width, position in ((1440, "sticky"), (400, "static")):
            page = run.browser.page(node.url + "runbook/packet_loss#on-the-switch", width=width)
            equal(page.run("document.querySelector(':target strong').innerText"), "On the switch")
            equal(page.run("[...document.querySelectorAll('.contents a[href^=\"#\"]')].map((a) => [a.innerText, document.getElementById(a.hash.slice(1)) !== null]).slice(0, 3)"), [["Means", True], ["Impact", True], ["Confirm", True]])
            equal(page.run("[...document.querySelectorAll('.contents [aria-current]')].map((a) => a.innerText)"), ["Packet loss"])
            equal(page.run("getComputedStyle(document.querySelector('.contents')).position"), position)
            equal(page.run("document.querySelector('.to-contents').offsetWidth > 0"), width == 400)
            # Every cause is reached by "next", and each leads back.
            names = page.run("[...document.querySelectorAll('.contents a:not([href^=\"#\"])')].map((a) => a.getAttribute('href'))")
            i = names.index("packet_loss")
            equal(page.run("['prev', 'next'].map((rel) => document.querySelector(`.turn [rel=${rel}]`).getAttribute('href'))"), [names[i - 1], names[i + 1]])
            page.go(node.url + "runbook/" + names[0])
            equal(page.run("document.querySelector('[rel=prev]')"), None)
            page.go(node.url + "runbook/")
            equal(page.run("[...document.querySelectorAll('.contents a[href^=\"#\"]')].filter((a) => !document.getElementById(a.hash.slice(1))).length"), 0)
            # The others lead to the documents of alerts.
            alert = page.run("document.querySelector('.contents a:not([href^=\"#\"])').getAttribute('href')")
            page.go(node.url + "runbook/" + alert)
            equal(page.run("document.querySelector('h1').innerText"), alert)
            silent(page, node.url)
            page.close()
