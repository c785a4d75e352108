#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Judges the page at "/" with a headless Chromium, against the real daemon over a synthetic sysfs tree whose counters are played.

  page_python.py DAEMON MK_SYSFS NGINX KUBECTL... [-- CHECK...]

One line per check, "N passed, N failed" last. Lines with "# " are figures.

run: {build}/rocelet {build}/bench/mk_sysfs {nginx}/usr/sbin/nginx {kubectls}
proves: daemon/web daemon/api daemon/http
when: core -- the_first_view_is_one_document a_verdict_appears_and_goes lists_are_filtered_and_sorted_by_the_address names_are_text by_keyboard places_can_be_pasted over_tls
when: turns
"""
import concurrent.futures
import glob
import gzip
import http.client
import json
import math
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, "../..")
sys.path[:0] = [HERE, os.path.join(HERE, "../interop"), os.path.join(HERE, "../lib"), os.path.join(TOP, "daemon/web")]
import daemon_python  # noqa: E402
import diagnosis_python as played  # noqa: E402
from browser import Browser, PATIENCE  # noqa: E402
from daemon_python import PodResources, SLOT_POOL, checkpoint, registered  # noqa: E402
from diagnosis_python import MARKED, OTHER_PF, PF, QUICK, TRAFFIC, VF, VF_FUNCTION  # noqa: E402
from kubelet_python import equal, eventually  # noqa: E402
from page_node import AXE, LIVE, LOSS, PageNode, axe_script, check, checks, figure, has, only_by_name, opened, run, silent  # noqa: E402
from prefix_proxy import PrefixProxy  # noqa: E402
from run_checks import run_checks  # noqa: E402
import page_agree  # noqa: E402,F401  its checks are ours, too
import page_counts  # noqa: E402,F401  the same
import page_health  # noqa: E402,F401  the same
import page_honest  # noqa: E402,F401  the same
import page_layout  # noqa: E402,F401  the same
import page_overview  # noqa: E402,F401  its checks are ours, too
import page_reach  # noqa: E402,F401  its checks are ours, too
import page_views  # noqa: E402,F401  the same

VIEWS = ["", "ports", "port/mlx5_0/1", "port/mlx5_0/1?tab=minutes", "port/mlx5_0/1?tab=counters", "pods", "qps", "pools", "events", "agent", "pod/train/job-7", "port/none/1", "ports?q=none", "nosuchview"]


UNFOLD = "document.querySelector('.verdict h3 button').click()"
ROWS = "Number(document.querySelector('table.list').getAttribute('aria-rowcount')) - 1"  # all rows, including those out of sight

# --- content ---------------------------------------------------------------------------------


@check
def the_first_view_is_one_document():
    with PageNode() as node:
        story = node.story(PF)
        story.play(TRAFFIC, MARKED)
        eventually("a verdict", lambda: node.verdict(PF, "fabric_congestion"))
        page = run.browser.page(height=700)
        # The documents of the first view are requested once, before the browser has read the page's body.
        page.call("Page.addScriptToEvaluateOnNewDocument", source="""window.requested = []; const real = window.fetch;
            window.fetch = (address, ...more) => { requested.push([new URL(address).pathname, document.body !== null]); return real(address, ...more); };""")
        page.go(node.url)
        page.until("live", LIVE)
        has(page, "fabric_congestion")
        page.until("drawn", "performance.getEntriesByName('rocelet first view').length")
        equal(page.run("requested.slice(0, 2)"), [["/api/v1/live", False], ["/api/v1/ports", False]])
        equal(page.run("/live|ports$/.test(requested[2][0])"), False)
        silent(page, node.url)
        documents = page.run("performance.getEntriesByType('resource').filter((e) => e.initiatorType !== 'fetch').length")
        equal(documents, 0)
        size = page.bytes[page.requests[0][0]]
        assert size <= 120000, size
        took = page.run("performance.getEntriesByName('rocelet first view')[0].startTime - performance.getEntriesByType('navigation')[0].responseEnd")
        print(f"# the document: {size} bytes as sent; first view with numbers {took:.0f} ms after it arrived")
        top = page.run("document.querySelector('.verdict').getBoundingClientRect().bottom")
        assert top <= 700, top
        equal(page.text("h1"), "1 problem on 1 of 6 ports")
        assert page.run("document.title").startswith("(1) Overview"), page.run("document.title")
        verdict = page.text(".verdict")
        for word in ("mlx5_0/1", "ens1np0", "congested", "since ", "limit "):
            assert word in verdict, (word, verdict)
        equal(page.run("document.querySelector('.verdict .mark').getAttribute('aria-label')"), "warning")
        page.run(UNFOLD)
        for word in ("roce_ecn_ce_received_packets_total", "Next steps", "Ruled out if", "Moved first"):
            has(page, word)
        page.until("numbers of the rail", "/3\\d\\.\\d/.test(document.querySelector('.rails tbody .traffic').innerText)")
        # A missing value is not 0: these counters have no pause. Until a port is judged, it is unknown.
        page.until("no pause", "[...document.querySelectorAll('.rails tbody tr')].every((row) => row.cells[2].innerText === '–' && row.cells[3].innerText === '–')")
        page.close()


@check
def a_verdict_appears_and_goes():
    with PageNode() as node:
        story = node.story(PF)
        story.play(TRAFFIC)
        node.judged(PF)
        page = opened(node)
        has(page, "No problems found on ")
        story.play(TRAFFIC, LOSS)
        eventually("a verdict", lambda: node.verdict(PF, "packet_loss"))
        began = time.monotonic()
        has(page, "packet_loss")
        print(f"# a verdict is on the page {1000 * (time.monotonic() - began):.0f} ms after the daemon has it")
        assert "packets are lost" in page.text("#announcer"), page.text("#announcer")
        assert page.run("document.title").startswith("(1) Overview"), page.run("document.title")
        story.play(TRAFFIC)
        page.until("over", "!document.querySelector('.verdict:not([data-ended])')")
        assert page.text("#announcer").startswith("ended on mlx5_0/1"), page.text("#announcer")
        # It is still shown, as ended, also on a page that is opened later.
        has(page, "Ended ")
        has(page, "No problems found on ")
        has(page, "Earlier problems are not known: rocelet started at ")
        page.until("pale bands", "document.querySelector('.rails .band[data-ended]') && document.querySelector('.problem[data-ended] .band[data-ended]') && !document.querySelector('.spark .band:not([data-ended])')")
        assert page.run("document.title").startswith("Overview"), page.run("document.title")
        page.go(node.url + "#port/mlx5_0/1")
        page.until("its band", "document.querySelector('.band-label[data-ended]')?.innerText.includes('Packet loss')")
        silent(page, node.url)
        page.close()


@check
def a_port_has_its_charts():
    with PageNode() as node:
        story = node.story(PF)
        story.play(TRAFFIC, LOSS)
        eventually("a verdict", lambda: node.verdict(PF, "packet_loss"))
        page = opened(node, "#port/mlx5_0/1")
        page.until("five charts, and the reason for the missing sixth", "document.querySelectorAll('.plot canvas[role=img]').length === 5 && document.body.innerText.includes('No pause time is visible.')")
        page.until("a sentence for each", "[...document.querySelectorAll('.plot canvas')].every((c) => c.getAttribute('aria-label').includes('at most'))")
        page.until("numbers in it", "/Received: now \\d.*bit\\/s, at most \\d/.test(document.querySelector('.plot canvas').getAttribute('aria-label'))")
        page.until("a band", "document.querySelector('.band-label[data-severity=critical]')?.innerText.includes('Packet loss')")
        page.until("an event", "document.querySelector('.tick[aria-label^=\"Packet loss found\"]')")
        equal(page.run("[...document.querySelectorAll('.legend')].some((l) => l.innerText.includes('n/a'))"), False)
        # By keyboard: all charts zoom together, and the heading shows that the view is fixed.
        page.run("document.querySelector('.plot').focus()")
        page.key("+", "Equal", 187, "+")
        has(page, "(not live)")
        page.key("0", "Digit0", 48, "0")
        page.until("all of it again", "!document.body.innerText.includes('(not live)')")
        # Another span is in the address, and "back" leads to the previous one.
        page.run("[...document.querySelectorAll('.segments button')].find((b) => b.innerText === '5 min').click()")
        assert page.run("location.hash").endswith("range=5"), page.run("location.hash")
        page.run("history.back()")
        # By default the span is the whole history: no button is pressed while it is shorter than 15 minutes. The strip has the scale of the charts.
        page.until("the span before", "!location.hash.includes('range') && document.querySelector('.segments [aria-pressed=true]') === null && document.querySelector('.time').innerText.includes('all since rocelet started')")
        strip = "((v, [from, to]) => Math.abs(parseFloat(document.querySelector('.band-row > a').style.marginLeft) - 100 * (v.onsetMs_ - from) / (to - from)))({onsetMs_: Date.parse(page.model.verdicts[0].onset) / 1000}, page.view.history.range())"
        page.until("on the charts' scale", f"{strip} < 3")
        equal(page.run("(([from, to]) => Math.abs(to - from - Math.max(60, (page.nowMs() - page.store.startedMs) / 1000)) < 5)(page.view.history.range())"), True)
        # By pointer.
        box = page.run("(() => { const b = document.querySelector('.u-over').getBoundingClientRect(); return [b.left, b.top, b.width, b.height]; })()")
        for kind, x in (("mousePressed", 0.3), ("mouseMoved", 0.5), ("mouseMoved", 0.7), ("mouseReleased", 0.7)):
            page.call("Input.dispatchMouseEvent", type=kind, x=box[0] + x * box[2], y=box[1] + box[3] / 2, button="left", buttons=0 if kind == "mouseReleased" else 1, clickCount=1)
        has(page, "(not live)")
        page.run("document.querySelector('#tab-minutes').click()")
        page.until("a table", "document.querySelectorAll('.minutes tbody tr').length > 0")
        silent(page, node.url)
        page.close()


@check
def counters_of_a_port():
    with PageNode() as node:
        story = node.story(PF)
        story.play(TRAFFIC, LOSS)
        node.judged(PF)
        page = opened(node, "#port/mlx5_0/1?tab=counters", height=4000)  # only rows in sight are in the document
        row = "[...document.querySelectorAll('#tab-panel tbody tr')].find((r) => r.innerText.replaceAll('\u200b', '').includes('%s'))"
        received = row % 'roce_bytes_total{direction="received"}'
        page.until("a total and a rate", f"/^[\\d\u202f]+$/.test({received}?.querySelector('.c-total').innerText) && /^3\\d\\.\\d.Gbit/.test({received}.querySelector('.c-rate').innerText)")
        # Numbers are updated without a new view.
        page.run("window.rowBefore = " + received + "; window.totalBefore = window.rowBefore.querySelector('.c-total').innerText")
        page.until("the next sample", "window.rowBefore.isConnected && window.rowBefore.querySelector('.c-total').innerText !== window.totalBefore")
        # Those at 0 are folded until the reader opens them.
        equal(page.run(f"!!({row % 'roce_cnp_sent_packets_total'})"), False)
        page.run("[...document.querySelectorAll('#tab-panel button')].find((b) => /^Show \\d+ counters? at 0$/.test(b.innerText)).click()")
        page.until("the idle ones", f"{row % 'roce_cnp_sent_packets_total'}.querySelector('.c-total').innerText === '0'")
        assert "counters=all" in page.run("location.hash"), page.run("location.hash")
        # By rate, the greatest first; and by a word.
        page.run("[...document.querySelectorAll('#tab-panel thead button')].find((b) => b.innerText.startsWith('A second')).click()")
        page.until("sorted", "document.querySelector('#tab-panel tbody tr[data-row]').innerText.includes('roce_')")
        assert "bytes_total" in page.run("document.querySelector('#tab-panel tbody tr[data-row]').innerText.replaceAll('\u200b', '')")
        page.run("(() => { const i = document.getElementById('filter-counters'); i.value = 'nak'; i.dispatchEvent(new Event('input')); })()")
        page.until("few", "document.querySelectorAll('#tab-panel tbody tr[data-row]').length < 8")
        # Another tab, too, requests its own port.
        page.run("document.getElementById('tab-qps').click()")
        eventually("its queue pairs", lambda: any("/api/v1/qps?device=mlx5_0" in address for _, address in page.requests))
        page.run("document.getElementById('tab-counters').click()")
        page.until("the filter is kept", "document.querySelectorAll('#tab-panel tbody tr[data-row]').length > 0")
        equal(page.run("[...document.querySelectorAll('#tab-panel tbody tr[data-row]')].every((r) => /nak/i.test(r.innerText.replaceAll('\u200b', '') + r.querySelector('code').dataset.tip))"), True)
        silent(page, node.url)
        page.close()


TOTALS = """(() => {
	const lane = {children: []}, made = (bytes, include) => ({lane, facts: {bytesIncludeVfs: include}, now: {bytes_sent: bytes}});
	const head = lane.head = made(10, %s), vf = made(3, null), other = {lane: null, facts: {}, now: {bytes_sent: 100}}, self = Object.create(Model.prototype);
	lane.children.push(vf);
	return [self.valueOf([head, vf, other], 'bytes_sent'), self.isLeast([head, vf, other], 'bytes_sent'), self.valueOf([vf, other], 'bytes_sent')];
})()"""


@check
def bytes_of_vfs_count_once():
    with PageNode() as node:
        node.judged(PF)
        page = opened(node)
        # A driver's bytes of PFs without those of VFs, with them, and unknown.
        equal(page.run(TOTALS % "false"), [113, False, 103])
        equal(page.run(TOTALS % "true"), [110, False, 103])
        equal(page.run(TOTALS % "null"), [110, True, 103])
        # mlx5 counts each function separately.
        page.until("a known driver", "page.model.portByKey.get('mlx5_0/1')?.facts.bytesIncludeVfs === false")
        silent(page, node.url)
        page.close()


@check
def the_agents_parts():
    with PageNode() as node:
        node.story(PF).play(TRAFFIC)
        node.judged(PF)
        page = opened(node, "#agent")
        part = "[...document.querySelectorAll('.parts li')].find((li) => li.innerText.includes('%s'))"
        page.until("it samples", f"/Every 0.1 s, \\d+ taken/.test({part % 'Sampling'}?.innerText) && {part % 'Sampling'}.querySelector('.mark').dataset.kind === 'ok'")
        page.until("a source", f"/counters in sysfs, .* old, 0 errors/i.test({part % 'Source sysfs'}?.innerText)")
        has(page, "Privileges")
        silent(page, node.url)
        page.close()


COPIES = """(() => { window.copied = []; Object.defineProperty(navigator, 'clipboard', {configurable: true, value: {writeText: (text) => (%s ? (window.copied.push(text), Promise.resolve()) : Promise.reject(new Error('denied')))}}); })()"""
ANSWERS = "performance.getEntriesByType('resource').filter((e) => e.name.includes('/api/v1/live')).length"
PRESS = "document.querySelector('[data-ticket]').focus()"


@check
def a_verdict_for_a_ticket():
    with PageNode() as node:
        story = node.story(PF)
        story.play(TRAFFIC, LOSS)
        eventually("a verdict", lambda: node.verdict(PF, "packet_loss"))
        page = opened(node)
        has(page, "packet_loss")
        page.run(UNFOLD)
        page.run(COPIES % "true")
        page.run(PRESS)
        page.key("Enter", "Enter", 13, "\r")
        page.until("copied", "window.copied.length === 1 && document.querySelector('[data-ticket]').innerText === 'Copied'")
        text = page.run("window.copied[0]")
        for word in ("CRITICAL: ", "Node: ", "port mlx5_0/1, netdev ens1np0, PCI 0000:18:00.0", " UTC, still open", "Cause:    packet_loss", "Pods: ", "Evidence:\n  ",
                     ", limit ", "Next steps: ", "Ruled out if: ", "rocectl diagnose mlx5_0 (on ", f"{node.url}#port/mlx5_0/1", "rocelet "):
            assert word in text, (word, text)
        assert "undefined" not in text and "NaN" not in text, text
        # If the browser denies copying, the text is shown and selected, and Escape leads back.
        page.run(COPIES % "false")
        page.until("a button again", "document.querySelector('[data-ticket]').innerText === 'Copy for a ticket'")
        page.run(PRESS)
        page.key("Enter", "Enter", 13, "\r")
        page.until("the text", "document.activeElement.tagName === 'TEXTAREA' && document.activeElement.selectionEnd === document.activeElement.value.length && document.activeElement.selectionStart === 0")
        shown = page.run("document.activeElement.value")
        assert "Cause:    packet_loss" in shown, shown
        answers = page.run(ANSWERS)
        page.until("two more answers of the daemon are drawn", f"{ANSWERS} >= {answers + 2}")
        assert page.run("document.activeElement.tagName") == "TEXTAREA"
        page.key("Escape", "Escape", 27)
        page.until("back on the button", "document.activeElement.dataset.ticket && !document.querySelector('.ticket')")
        silent(page, node.url)
        page.close()


@check
def places_can_be_pasted():
    with PageNode() as node:
        node.judged(PF)
        for place, text in (("#port/mlx5_1/1", "mlx5_1/1"), ("#pods", "No pod has an RDMA device"), ("#pools", "rocelet.dev/roce"), ("#config", "Configuration in effect"),
                            ("#events", "since rocelet started"), ("#port/none/1", "There is no port none/1"), ("#pod/a/b", "a/b has no device"), ("#ports?q=nothing", "No ports match “nothing”"),
                            ("#%E0%A4%A", "No problems found on "), ("#" + "x/" * 500, "There is no view “x/x/")):
            page = opened(node, place)
            has(page, text)
            silent(page, node.url)
            page.close()
        page = opened(node)
        page.until("rows", "document.querySelector('tbody a')")
        page.run("document.querySelector('tbody a').click()")
        page.until("the port", "document.querySelector('h1').textContent === 'Port mlx5_0/1'")
        equal(page.run("location.hash"), "#port/mlx5_0/1")
        equal(page.run("document.activeElement.id"), "main")
        page.run("history.back()")
        page.until("the rails again", "document.querySelector('#rails-title')")
        page.close()


FIRST_NAMES = "[...document.querySelectorAll('table.list tbody th a')].map((a) => a.innerText).slice(0, 2)"


@check
def lists_are_filtered_and_sorted_by_the_address():
    with PageNode() as node:
        stories = [node.story(device) for device in (PF, OTHER_PF)]
        stories[0].play(TRAFFIC)
        stories[1].play(TRAFFIC, LOSS)
        eventually("a verdict", lambda: node.verdict(OTHER_PF, "packet_loss"))
        page = opened(node, "#ports")
        page.until("six, the worst first", f"{ROWS} === 6 && {FIRST_NAMES}[0] === 'mlx5_1/1'")
        page.run("[...document.querySelectorAll('.chip')].find((b) => b.innerText.startsWith('Problems')).click()")
        page.until("one", f"{ROWS} === 1")
        equal(page.run("location.hash"), "#ports?show=problems")
        page.run("[...document.querySelectorAll('.chip')].find((b) => b.innerText.startsWith('VF')).click()")
        has(page, "No ports match")
        page.run("[...document.querySelectorAll('.empty button')].find((b) => b.innerText === 'Clear filters').click()")
        page.until("all", f"{ROWS} === 6")
        page.run("history.back()")
        page.until("the previous choice", "location.hash === '#ports?show=problems&kind=vf'")
        page.go(node.url + "#ports?sort=-name")
        page.until("in that order", f"{FIRST_NAMES}[0] === 'mlx5_5/1' && document.querySelector('th[aria-sort=descending]').innerText.startsWith('Port')")
        page.run("document.querySelector('th[aria-sort] button').click()")
        page.until("the other way round", f"{FIRST_NAMES}[0] === 'mlx5_0/1' && location.hash === '#ports?sort=name'")
        # By any of its names.
        for name in ("0000:18:00.1", "ens1v0", "mlx5_2"):
            page.go(node.url + "#ports?q=" + name)
            page.until(f"found by {name}", f"{FIRST_NAMES}.includes('mlx5_2/1')")
        page.key("/", "Slash", 191, "/")
        page.until("a search", "document.querySelector('#search-dialog').open")
        page.call("Input.insertText", text="0000:18:00.1")
        page.until("it", "document.querySelector('[role=option]')?.innerText.includes('mlx5_2/1')")
        page.key("Enter", "Enter", 13, "\r")
        page.until("the port", "location.hash === '#port/mlx5_2/1'")
        silent(page, node.url)
        page.close()


@check
def old_numbers_have_no_live_colours():
    with PageNode() as node:
        story = node.story(PF)
        story.play(TRAFFIC, LOSS)
        eventually("a verdict", lambda: node.verdict(PF, "packet_loss"))
        page = opened(node)
        page.until("hot numbers", "document.querySelector('.rails [data-hot]')")
        colour = "getComputedStyle(document.querySelector('.rails [data-hot]')).color"
        live = page.run(colour)
        node.hang()
        page.until("it is marked as old", "document.body.dataset.old === 'yes'")
        has(page, "State unknown since ")
        has(page, "Last known: 1 problem")
        has(page, "rocelet has not answered since ")
        assert page.run("document.title").startswith("(?) "), page.run("document.title")
        assert page.run(colour) != live, live
        # Numbers and times are grey, also those in lists.
        grey = page.run("getComputedStyle(document.querySelector('.headline p.quiet')).color")
        equal(page.run("[...new Set([...document.querySelectorAll('.much, .rails .value, .figure .big, .problem-when, .affected .state')].map((e) => getComputedStyle(e).color))]"), [grey])
        equal(page.run("document.querySelectorAll('.mark[data-kind=ok]').length"), 0)
        equal(page.run("[...document.querySelectorAll('a.cell')].every((c) => c.dataset.kind === 'unknown')"), True)
        node.wake()
        page.until("live again", LIVE)
        silent(page, node.url)
        page.close()


@check
def unknown_state_is_not_shown_as_healthy():
    with PageNode() as node:
        kubelet, pods = registered(node), PodResources(node.dir)
        pods.held = [("train", "job-7", "main", "rocelet.dev/roce", VF_FUNCTION)]
        checkpoint(node)
        eventually("held", lambda: "job-7" in node.get("/api/v1/pods"))
        node.judged(VF)
        page = opened(node, "#pod/train/job-7")
        has(page, "No problem found: its ports were judged")
        page.go(node.url + "#pod/train/job-8")
        has(page, "train/job-8 has no device on this node")
        # Long enough for a verdict "healthy".
        node.configure_keys(diagnosis={**QUICK, "warming_seconds": 900})
        page.go(node.url + "#pod/train/job-7")
        has(page, "Warming up: No verdict yet: watched for ")
        page.go(node.url + f"#port/{VF}/1")
        has(page, " of 900 s.")
        page.go(node.url + "#")
        has(page, "No verdict yet")
        page.go(node.url + f"#port/{VF}/1")
        node.configure_keys(diagnosis=QUICK)
        page.until("judged", "document.querySelector('.view-head .state')?.innerText === 'No problem found'")
        # A link that is down, and states that the node cannot be brought into.
        node.story(VF).state("1: DOWN", "2: Polling")
        page.until("down", "/Link down|Port never up/.test(document.querySelector('main').innerText) && !document.querySelector('.view-head [data-kind=ok]')")
        state = "(facts, more = {}) => Model.prototype.portState.call(Object.assign(Object.create(Model.prototype), {store: {timeMs: 1}, dead: false, isCut: false, verdicts: []}, more), {verdicts: [], troubles: [], now: {}, device: null, facts: {kind: 'pf', pod: null, state: 'active', watch: 'judged', ...facts}}).kind"
        equal(page.run(f"[[{{}}], [{{watch: 'unseen'}}], [{{watch: 'not applicable'}}], [{{watch: 'down'}}], [{{watch: 'warming', watchedSinceMs: null}}], [{{watch: 'else'}}], [{{}}, {{isCut: true}}], [{{}}, {{dead: true, store: {{timeMs: null}}}}]].map((x) => ({state})(...x))"),
              ["ok", "unknown", "unknown", "unknown", "warming", "unknown", "unknown", "unknown"])
        # Of a pool only healthy devices are available.
        equal(page.run("poolParts(page.model, {name: 'r', devices: 10, healthy: 4, allocated: 3, free: 0}).find(([kind]) => kind === 'free') ?? null"), None)
        silent(page, node.url)
        page.close()
        pods.stop()
        kubelet.stop()


# --- bad input --------------------------------------------------------------------------------

EVIL = "<img src=x onerror=document.title='evil'><script>alert(1)</script>"


@check
def names_are_text():
    with PageNode() as node:
        kubelet, pods = registered(node), PodResources(node.dir)
        pods.held = [("train", EVIL, "main", "rocelet.dev/roce", VF_FUNCTION)]
        checkpoint(node)
        eventually("held", lambda: EVIL in node.get("/api/v1/pods"))
        page = opened(node, "#pods")
        page.until("its name", f"[...document.querySelectorAll('tbody .pod')].some((a) => a.textContent === {json.dumps('train/' + EVIL)})")
        # Control characters for terminals or text direction are escaped; such names from a kubelet would be rejected.
        equal(page.run("shown('a\\u001b[31m\\u202e')"), "a\\u001b[31m\\u202e")
        page.run("document.querySelector('tbody a').click()")
        page.until("the pod", f"document.querySelector('h1').textContent === {json.dumps('Pod train/' + EVIL)}")
        page.go(node.url + "#ports")
        page.until("the ports", "!document.title.includes('evil')")
        page.until("its name", f"[...document.querySelectorAll('td .pod')].some((a) => a.textContent === {json.dumps('train/' + EVIL)})")
        equal(page.run("document.querySelectorAll('main img, main script').length"), 0)
        silent(page, node.url)
        page.close()
        pods.stop()
        kubelet.stop()


@check
def a_restart_under_the_page():
    with PageNode() as node:
        story = node.story(PF)
        story.play(TRAFFIC, LOSS)
        eventually("a verdict", lambda: node.verdict(PF, "packet_loss"))
        page = opened(node, "#port/mlx5_0/1")
        has(page, "packet_loss")
        node.hang()
        page.until("it is stale", "document.getElementById('state').dataset.state === 'stale'")
        assert re.match(r"rocelet has not answered since \d\d:\d\d:\d\d UTC \(\d[\d.]*\ss\)\. Trying again\.", page.text("#banner")), page.text("#banner")
        equal(page.run("document.body.dataset.old"), "yes")
        node.wake()
        page.until("live again", LIVE)
        story.play(TRAFFIC)
        node.process.send_signal(signal.SIGKILL)
        node.process.wait()
        page.until("lost", "document.getElementById('state').dataset.state === 'lost'")
        assert "rocelet has not answered since " in page.text("#banner"), page.text("#banner")
        page.complaints.clear()  # about refused connections
        node.restart()
        page.until("live again", LIVE)
        has(page, "rocelet restarted at ")
        page.until("no earlier verdict", "!document.body.innerText.includes('packet_loss')")
        page.close()


class RareNode(PageNode):
    interval, limits = "10", {key: 20 for key in QUICK}


@check
def samples_that_come_rarely():
    """Not stale before three of them are missing, also without a history that shows their interval."""
    with RareNode() as node:
        eventually("a sample", lambda: node.diagnosis()["ports"])
        page = opened(node, "#events")
        page.until("older than three seconds, and live", "/^Live, [4-9]\\.\\d s old$/.test(document.getElementById('state-text').innerText)")
        node.hang()
        page.run("((real) => { Date.now = () => real() + 45e3; })(Date.now)")
        page.until("it is stale", "document.getElementById('state').dataset.state === 'stale'")
        assert "rocelet has not answered since " in page.text("#banner"), page.text("#banner")
        node.wake()
        page.until("live again", LIVE)
        silent(page, node.url)
        page.close()


@check
def a_hidden_page_asks_nothing():
    with PageNode() as node:
        story = node.story(PF)
        story.play(TRAFFIC)
        node.judged(PF)
        page = opened(node, "#port/mlx5_0/1")
        page.until("a chart", "document.querySelector('.plot canvas')")
        page.run("""Object.defineProperty(document, 'hidden', {configurable: true, get: () => window.asleep === true});
            window.asleep = true; document.dispatchEvent(new Event('visibilitychange'))""")
        quiet = {"n": -1}

        def no_more_requests():
            """A waiting request is still answered."""
            before, quiet["n"] = quiet["n"], len(page.requests)
            node.judge_more(15)
            return len(page.requests) == before
        eventually("no questions", no_more_requests)
        page.run("window.asleep = false; document.dispatchEvent(new Event('visibilitychange'))")
        page.until("live", LIVE)
        page.until("it requests again", f"performance.getEntriesByType('resource').length > 0 && {len(page.requests)} > 0")
        eventually("more questions", lambda: len(page.requests) > quiet["n"] + 2)
        # Missed events were read again: no row twice, and in order.
        assert any("history" in address for _, address in page.requests[quiet["n"]:]), page.requests[quiet["n"]:]
        silent(page, node.url)
        page.close()


ASLEEP = """(() => { const real = Date.now; let shift = 0; Date.now = () => real() + shift;
    document.addEventListener('freeze', () => { shift = 86400e3; });
    document.addEventListener('resume', () => { window.woken = [document.getElementById('state').dataset.state, document.getElementById('state-text').innerText, document.body.dataset.old]; }); })()"""


@check
def a_day_asleep():
    """A browser freezes a hidden page. When it is resumed, it first shows how old it is, then the current state."""
    with PageNode() as node:
        story = node.story(PF)
        story.play(TRAFFIC)
        node.judged(PF)
        page = opened(node, "#port/mlx5_0/1")
        page.until("a chart", "document.querySelector('.plot canvas')")
        page.run(ASLEEP)
        page.call("Page.setWebLifecycleState", state="frozen")
        node.hang()  # to see the text before the first answer
        page.call("Page.setWebLifecycleState", state="active")
        page.until("awake", "window.woken")
        state, text, old = page.run("window.woken")
        equal((state, old), ("stale", "yes"))
        assert re.search(r"Stale, 24 h \d+ min old", text), text
        node.wake()
        story.play(TRAFFIC, LOSS)
        page.call("Emulation.setFocusEmulationEnabled", enabled=True)  # freezing hides it, too
        page.until("live again", LIVE)
        has(page, "packet_loss")
        silent(page, node.url)
        page.close()


@check
def behind_proxies():
    with PageNode() as node:
        node.story(PF).play(TRAFFIC, LOSS)
        eventually("a verdict", lambda: node.verdict(PF, "packet_loss"))
        for prefix in ("/node-17/", "/api/v1/namespaces/rocelet/pods/rocelet-x:9907/proxy/", "/a%20b/%25/%C3%BC/(~)/"):
            for strips in (True, False):
                if not strips and "/api/" in prefix:
                    continue  # that one always strips
                with PrefixProxy(node.port, prefix, strips) as proxy:
                    page = run.browser.page(proxy.url)
                    page.until("live", LIVE)
                    has(page, "packet_loss")
                    silent(page, proxy.url)
                    page.close()
        # Without its last slash.
        with PrefixProxy(node.port, "/node-17", True) as proxy:
            page = run.browser.page(proxy.url + "?x#port/mlx5_0/1")
            page.until("live", LIVE)
            page.until("the port", "document.querySelector('h1').textContent === 'Port mlx5_0/1'")
            silent(page, proxy.url)
            page.close()


# --- accessibility, small screens --------------------------------------------------------------



@check
def axe_finds_nothing():
    axe = axe_script()
    with PageNode() as node:
        kubelet, pods = registered(node), PodResources(node.dir)
        pods.held = [("train", "job-7", "main", "rocelet.dev/roce", VF_FUNCTION)]
        checkpoint(node)
        node.story(PF).play(TRAFFIC, LOSS)
        eventually("a verdict", lambda: node.verdict(PF, "packet_loss"))
        for dark, width in ((False, 1280), (True, 400)):
            page = opened(node, width=width, dark=dark)
            page.run(axe + ";0")
            for view in VIEWS:
                page.run(f"location.hash = '#{view}'; scrollTo(0, 0)")
                page.until("filled", f"decodeURI(location.hash) === '#{view}'.replace(/^#$/, '') && document.querySelector('main h1') && !/Loading/.test(document.querySelector('main').innerText)")
                page.run("document.querySelectorAll('details').forEach((d) => { d.open = true; }); document.querySelectorAll('main [aria-expanded=false]').forEach((b) => b.click())")
                found = page.run(AXE)
                equal((view, dark, found), (view, dark, []))
                equal((view, width, page.run("document.documentElement.scrollWidth <= innerWidth")), (view, width, True))
            # The dialogs, and a stale page.
            page.run("page.search.open()")
            equal(page.run(AXE), [])
            page.run("byId('search-dialog').close(); page.keys.help()")
            equal(page.run(AXE), [])
            page.run("byId('keys-dialog').close(); location.hash = '#'")
            node.hang()
            page.until("old", "document.body.dataset.old === 'yes'")
            equal((dark, "old", page.run(AXE)), (dark, "old", []))
            node.wake()
            page.close()
        pods.stop()
        kubelet.stop()


def judge_runbook(page, node, axe):
    page.run(axe + ";0")
    equal(page.run("axe.run({resultTypes: ['violations']}).then((r) => r.violations.map((v) => [v.id, v.nodes[0].html.slice(0, 200)]))"), [])
    equal(page.run("document.documentElement.scrollWidth <= innerWidth"), True)
    silent(page, node.url)
    page.close()


@check
def the_runbook():
    """The runbook of verdicts: a document whose links lead to existing parts of it."""
    axe = axe_script()
    with PageNode() as node:
        for dark, width in ((False, 1280), (True, 400)):
            page = run.browser.page(node.url + "docs/runbook.md#packet_loss", width=width, dark=dark)
            equal(page.run("document.querySelector(':target').innerText"), "Packet loss packet_loss")
            equal(page.run("[...document.links].filter((a) => a.pathname === location.pathname && a.hash && !document.getElementById(a.hash.slice(1))).map((a) => a.hash)"), [])
            judge_runbook(page, node, axe)
            # One cause: a document of its own, whose links lead to those of other causes, to the whole and to this node.
            page = run.browser.page(node.url + "runbook/packet_loss", width=width, dark=dark)
            equal(page.run("[...document.querySelector('h1').childNodes].map((node) => node.textContent.trim())"), ["Packets are lost between the ports", "packet_loss"])
            links = page.run("[...document.links].map((a) => a.href)")
            equal([link for link in links if urllib.request.urlopen(link).status != 200], [])
            assert {node.url, node.url + "runbook/", node.url + "runbook/peer_gone"} <= set(links), links
            judge_runbook(page, node, axe)


@check
def by_keyboard():
    with PageNode() as node:
        node.judged(PF)
        page = opened(node)
        page.until("rows", "document.querySelector('tbody a')")
        reached = []
        for _ in range(20):
            page.key("Tab", "Tab", 9)
            reached.append(page.run("(document.activeElement.id || document.activeElement.innerText || document.activeElement.getAttribute('aria-label') || '').slice(0, 30)"))
        equal(reached[0], "skip")
        equal([name.rstrip("0123456789") for name in reached[2:9]], ["Overview", "Ports", "Pods", "Queue pairs", "Pools", "Events", "Agent"])
        equal(reached[9:14], ["search", "count", "state", "theme", "help"])
        assert "mlx5_0/1" in reached, reached
        # The VFs of a rail are one stop, and arrows lead from one to the next.
        page.run("document.querySelector('.cells a').focus()")
        page.key("ArrowRight", "ArrowRight", 39)
        equal(page.run("document.activeElement === document.querySelectorAll('.cells a')[1] && document.activeElement.tabIndex === 0 && document.querySelector('.cells a').tabIndex === -1"), True)
        page.key("2", "Digit2", 50, "2")
        page.until("ports", "location.hash === '#ports' && document.querySelector('table.list tbody a')")
        page.key("j", "KeyJ", 74, "j")
        page.key("j", "KeyJ", 74, "j")
        equal(page.run("document.activeElement.closest('tr').rowIndex >= 2"), True)
        page.run("[...document.querySelectorAll('tbody a')].find((a) => a.innerText === 'mlx5_0/1').focus()")
        page.key("Enter", "Enter", 13, "\r")
        page.until("the port", "document.querySelector('h1').textContent === 'Port mlx5_0/1'")
        page.key("]", "BracketRight", 221, "]")
        page.until("the next port", "document.querySelector('h1').textContent === 'Port mlx5_1/1'")
        page.key("t", "KeyT", 84, "t")
        equal(page.run("document.documentElement.dataset.theme"), "dark")
        page.run("localStorage.clear()")
        silent(page, node.url)
        page.close()


FIRST_SHARE = "parseFloat([...document.querySelectorAll('[data-severity=warning] .evidence td')].find((td) => td.innerText.endsWith('%')).innerText)"


@check
def unfolded_evidence_is_updated_in_place():
    """Unfolded evidence is updated without losing focus and position, also when rows above it are added or removed."""
    with PageNode() as node:
        stories = [node.story(device) for device in (PF, OTHER_PF)]
        stories[0].play(TRAFFIC, MARKED)
        eventually("a verdict", lambda: node.verdict(PF, "fabric_congestion"))
        page = opened(node)
        has(page, "fabric_congestion")
        page.run("window.held = document.querySelector('.verdict h3 button'); held.focus(); held.click()")
        page.until("few marks", f"0 < {FIRST_SHARE} && {FIRST_SHARE} < 6")
        stories[0].play(TRAFFIC, {name: rate * 1.7 for name, rate in MARKED.items()})
        page.until("more marks", f"{FIRST_SHARE} > 7")
        stories[1].play(TRAFFIC, LOSS)
        page.until("a worse one above", "document.querySelector('.verdict').innerText.includes('packet_loss')")
        equal(page.run("document.activeElement === held && held.getAttribute('aria-expanded') === 'true'"), True)
        stories[1].play(TRAFFIC)
        page.until("it is over", "document.querySelectorAll('.verdict:not([data-ended])').length === 1")
        equal(page.run("document.activeElement === held && held.getAttribute('aria-expanded') === 'true'"), True)
        # An element that moves keeps the focus, too.
        equal(page.run("""(() => { const parent = document.body.appendChild(make('div')), rows = (texts) => morphChildren(parent, texts.map((key) => make('button', {key}, key)));
            rows(['a', 'b']); parent.lastChild.focus(); rows(['b', 'a']); return parent.innerText.trim()[0] + document.activeElement.innerText; })()"""), "bb")
        silent(page, node.url)
        page.close()


# --- large nodes-------------------------------------------------------------------------------


class BigNode(PageNode):
    """8 PFs with 128 VFs, and a thousand pods that share a device besides pods with VFs."""
    n_devices, interval = 136, "0.5"

    def text(self):
        slots = dict(SLOT_POOL, slots=1000)
        return json.dumps({"pools": [played.POOL, slots], **self.keys})

    @classmethod
    def make(cls, dir):
        subprocess.run([daemon_python.programs["mk_sysfs"], dir + "/sys", "8", str(cls.n_devices - 8), "upstream"], env=dict(os.environ, BUS="1"), check=True,
                       stdout=subprocess.DEVNULL)
        for i in range(cls.n_devices):
            daemon_python.write(f"{dir}/dev/infiniband/uverbs{i}")
            daemon_python.write(f"{dir}/dev/infiniband/umad{i}")
        daemon_python.write(dir + "/dev/infiniband/rdma_cm")


FRAMES = """new Promise((done) => { const times = []; let last = performance.now();
    const step = (now) => { times.push(now - last); last = now; times.length < 150 ? requestAnimationFrame(step) : done(times.sort((a, b) => a - b)); };
    requestAnimationFrame(step); })"""


@check
def many_ports_and_pods():
    with BigNode() as node:
        kubelet, pods = registered(node, 2), PodResources(node.dir)
        pods.held = [("train", f"job-{i}", "main", "rocelet.dev/slot", str(i)) for i in range(1000)]
        checkpoint(node)
        node.judged(PF)
        eventually("held", lambda: "job-999" in node.get("/api/v1/pods"))
        page = opened(node)
        page.until("the rails", "document.querySelectorAll('.rails tbody tr').length === 8")
        for place, rows in (("#ports", 136), ("#pods", 1000)):
            page.go(node.url + place)
            page.until(f"{rows} rows", f"document.querySelector('table.list') && {ROWS} === {rows}")
            drawn = page.run("document.querySelectorAll('table.list tbody tr').length")
            assert drawn < 80, drawn
            times = page.run(FRAMES)
            print(f"# {place}: of 150 frames half take at most {times[75]:.0f} ms, 99 of 100 {times[148]:.0f} ms, all {times[149]:.0f} ms")
            took = page.run("""(() => { const times = []; for (let i = 0; i < 20; i++) { const began = performance.now(); document.querySelector('table.list th:first-child button').click();
                document.body.offsetHeight; times.push(performance.now() - began); } return times.sort((a, b) => a - b); })()""")
            print(f"# {place}: sorting takes {took[10]:.0f} ms, at most {took[19]:.0f} ms")
        # The last row exists once it is scrolled to, and the head stays in sight.
        page.run("scrollTo(0, document.body.scrollHeight)")
        page.until("the last row", "document.querySelector(`table.list tr[aria-rowindex='1001']`)")
        equal(page.run("document.querySelector('table.list thead th').getBoundingClientRect().top"), page.run("parseFloat(getComputedStyle(document.documentElement).getPropertyValue('--bar'))"))
        page.run("(() => { const f = document.querySelector('main input[type=search]'); f.value = 'job-77'; f.dispatchEvent(new Event('input')); })()")
        page.until("eleven", f"{ROWS} === 11")
        equal(page.run("location.hash.includes('q=job-77')"), True)
        silent(page, node.url)
        page.close()
        pods.stop()
        kubelet.stop()


class DarkNode(BigNode):
    """80 ports that never came up."""
    n_devices = 88

    @classmethod
    def make(cls, dir):
        super().make(dir)
        for folder in glob.glob(dir + "/sys/devices/pci*/*/infiniband/*/ports/1"):
            if os.path.exists(folder + "/../../../../physfn"):
                daemon_python.write(folder + "/state", "1: DOWN\n")
                daemon_python.write(folder + "/phys_state", "2: Polling\n")
        # While a PF has a carrier, a VF's port that is down is so on purpose.
        for carrier in glob.glob(dir + "/sys/devices/pci*/*/net/*/carrier"):
            daemon_python.write(carrier, "0\n")


def over(n):
    """An expression: the number of closed verdicts after a document that lacks one of n."""
    return f"""ask('api/v1/live').then((live) => {{ const store = new Store(); store.take(live, 0);
        return store.take({{...live, verdicts: live.verdicts.slice(0, -1), verdictCount: {n}}}, 0).closed.length; }})"""


@check
def more_verdicts_than_are_shown():
    """The worst are shown, and the page does not claim that there are no others."""
    with DarkNode() as node:
        eventually("80 verdicts", lambda: len(node.diagnosis()["verdicts"]) == 80)
        node.judged(OTHER_PF)
        page = opened(node)
        has(page, "80 problems on at least 64 of 88 ports; only the worst 64 are shown")
        node.story(PF).state("1: DOWN", "2: Polling")
        # The verdict on the PF explains those of its VFs.
        has(page, "71 problems on at least 64 of 88 ports; only the worst 64 are shown")
        page.until("it is the first", "document.querySelector('.problem').innerText.includes('link_flap')")
        # Verdicts of one cause and severity share a row.
        page.until("a group", "document.querySelector('.problem.group h3').innerText.endsWith(': 64 ports')")
        equal(page.run("document.querySelectorAll('.mark[data-kind=ok]').length"), 0)
        equal((page.run(over(70)), page.run(over(63))), (0, 1))
        page.go(node.url + "#port/mlx5_1/1")
        has(page, "Device mlx5_1-0 is unhealthy: link down")  # no verdict, and the API knows it
        silent(page, node.url)
        page.close()


class CalmNode(PageNode):
    """A node with the default interval."""
    interval = "1"
    limits = {key: 2 for key in ("release_seconds", "release_link_seconds", "release_storm_seconds", "release_idle_seconds", "clear_seconds")}


class SlowNode(CalmNode, BigNode):
    interval = "1"


class HugeNode(SlowNode):
    """A node with 1,024 VFs."""
    n_devices = 1032


def frames(page, what):
    """Prints the duration of 150 frames: a figure, not a check, since machines are busy. That they exist shows that the page draws."""
    times = page.run(FRAMES)
    print(f"# {what}: of 150 frames half take at most {times[75]:.0f} ms, 99 of 100 {times[148]:.0f} ms, all {times[149]:.0f} ms")


@check
def a_thousand_vfs():
    with HugeNode() as node:
        node.judged(PF)
        page = opened(node)
        page.until("8 rails", "document.querySelectorAll('.rails tbody tr').length === 8")
        frames(page, "1,032 ports, overview")
        page.go(node.url + "#ports")
        page.until("all rows", f"document.querySelector('table.list') && {ROWS} === 1032")
        frames(page, "1,032 ports, list")
        took = page.run("""new Promise((done) => { const f = document.querySelector('main input[type=search]'), began = performance.now(); f.value = 'mlx5_77';
            f.dispatchEvent(new Event('input')); requestAnimationFrame(() => setTimeout(() => done(performance.now() - began))); })""")
        page.until("eleven", f"{ROWS} === 11")
        print(f"# 1,032 ports: a typed word has filtered the rows after {took:.0f} ms")
        page.go(node.url + "#port/mlx5_1000/1")
        page.until("charts", "document.querySelectorAll('.plot canvas[role=img]').length >= 4")
        frames(page, "1,032 ports, one port's charts")
        silent(page, node.url)
        page.close()


def spent(process):
    """CPU seconds of the loop's thread, which answers requests, and resident MB of the process."""
    with open(f"/proc/{process.pid}/task/{process.pid}/schedstat", encoding="utf-8") as f:
        seconds = int(f.read().split()[0]) / 1e9
    with open(f"/proc/{process.pid}/statm", encoding="utf-8") as f:
        return seconds, int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def request_as_a_page(port, enough):
    """Sends the requests of an open page, as stream.js does, until `enough` is true of an answer."""
    there = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)

    def answered(path):
        there.request("GET", path, headers={"Accept-Encoding": "gzip"})
        return there.getresponse()

    def request(path):
        try:
            answer = answered(path)
        except ConnectionError:  # a kept connection was closed to make room: browsers retry once, too
            there.close()
            answer = answered(path)
        equal((path, answer.status), (path, 200))
        text = answer.read()
        return gzip.decompress(text) if answer.getheader("Content-Encoding") == "gzip" else text
    request("/")
    live = json.loads(request("/api/v1/live?since=0&events=0&wait=0"))
    for row in json.loads(request("/api/v1/ports"))["ports"][:20]:
        request(f"/api/v1/history?port={row['device']}%2F{row['port']}")
    end = time.monotonic() + 2 * PATIENCE
    while not enough(live):
        began = time.monotonic()
        assert began < end, live
        new = json.loads(request(f"/api/v1/live?since={live['timeMs']}&events={live['events']['generation']}&wait=10"))
        time.sleep(max(0, (0.5 if new["timeMs"] != live["timeMs"] else 1) - (time.monotonic() - began)))
        live = new
    there.close()


def fifty_users(node, ports, n_pages):
    """Some have a page in this browser, the others send a page's requests: each gets the verdict, and nothing fails; prints the cost for the daemon."""
    def has_verdict(live):
        return any(v["cause"] == "packet_loss" for v in live["verdicts"])
    story = node.story(PF)
    story.play(TRAFFIC)
    node.judged(PF)
    node.connection = None  # without room, idle connections are closed
    alone, began = spent(node.process), time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(50) as people:
        others = [people.submit(request_as_a_page, node.port, has_verdict) for _ in range(50 - n_pages)]
        pages = list(people.map(lambda _: run.browser.page(node.url, 800, 600), range(n_pages)))
        for page in pages:
            page.until("live", LIVE)
        opening, before, at = time.monotonic() - began, spent(node.process), time.monotonic()
        node.judge_more(8)
        after, seconds = spent(node.process), time.monotonic() - at
        story.play(TRAFFIC, LOSS)
        eventually("a verdict", lambda: node.verdict(PF, "packet_loss"))
        at = time.monotonic()
        for page in pages:
            has(page, "packet_loss")
        for other in others:
            other.result(PATIENCE)
    print(f"# 50 people, {n_pages} in the browser here, {ports} ports: open within {opening:.0f} s, {100 * (after[0] - before[0]) / seconds:.1f} % of a core for the "
          f"loop, {after[1] - alone[1]:.1f} MB more resident; the last has a verdict {time.monotonic() - at:.1f} s after the daemon")
    for page in pages:
        page.until("live", LIVE)
        # A request may have been sent on a connection that was just closed to make room; it is repeated.
        page.complaints = [line for line in page.complaints if "net::ERR_" not in line]
        silent(page, node.url)
        page.close()
    assert after[1] - alone[1] < 16, (alone, after)


@check
def fifty_users_watch():
    with CalmNode() as node:
        fifty_users(node, 6, 5)


# --- figures -----------------------------------------------------------------------------------


@figure
def twenty_and_fifty_pages():
    with SlowNode() as node:
        node.judged(PF)
        time.sleep(10)
        for n in (0, 20, 50):
            threads = [threading.Thread(target=request_as_a_page, args=(node.port, lambda _, end=time.monotonic() + 40: time.monotonic() > end)) for _ in range(n)]
            for thread in threads:
                thread.start()
            time.sleep(8)
            before = spent(node.process)
            time.sleep(25)
            after = spent(node.process)
            print(f"# 136 ports, {n} pages: {100 * (after[0] - before[0]) / 25:.2f} % of a core for the loop, {after[1]:.1f} MB resident")
            for thread in threads:
                thread.join()


@figure
def fifty_pages():
    """Fifty pages in one browser are too much work for two cores: this is no check."""
    with CalmNode() as node:
        fifty_users(node, 6, 50)


@figure
def fifty_pages_of_many_ports():
    with SlowNode() as node:
        fifty_users(node, 136, 50)


@figure
def pictures():
    """docs/images/page-*.png: an hour's problems in a minute and a half."""
    docs = os.path.join(TOP, "docs/images")
    with PageNode() as node:
        kubelet, pods = registered(node), PodResources(node.dir)
        pods.held = [("train", "job-7", "main", "rocelet.dev/roce", VF_FUNCTION)]
        checkpoint(node)
        stories = [node.story(device) for device in ("mlx5_0", "mlx5_1", "mlx5_2")]
        for second in range(92):
            load = 0.6 + 0.3 * math.sin(second / 5)
            busy = {name: rate * 4 * load for name, rate in TRAFFIC.items()}
            stories[0].play(busy, MARKED if 30 <= second < 45 else {}, LOSS if second >= 70 else {})
            stories[1].play({name: rate * 2 * (1.3 - load) for name, rate in TRAFFIC.items()})
            stories[2].play({name: rate / 2 for name, rate in busy.items()})
            time.sleep(1)
        eventually("a verdict", lambda: node.verdict(PF, "packet_loss"))
        for name, place, width, height, dark in (("overview", "", 1440, 640, False), ("ports", "#ports", 1440, 480, False), ("port", "#port/mlx5_0/1", 1440, 1100, True),
                                                 ("overview-narrow", "", 400, 900, True), ("port-narrow", "#port/mlx5_0/1", 400, 900, False)):
            page = opened(node, place, width=width, height=height, dark=dark)
            page.until("the problem", "/packet.loss/i.test(document.body.innerText)")
            page.until("drawn", "document.querySelector(location.hash.startsWith('#port/') ? '.plot canvas' : '.spark path')")
            node.judge_more(20)
            page.picture(f"{docs}/page-{name}.png")
            page.close()
        pods.stop()
        kubelet.stop()


def main():
    words = sys.argv[1:]
    only = words[words.index("--") + 1:] if "--" in words else []
    programs = words[:words.index("--")] if "--" in words else words
    if len(programs) < 4:
        sys.exit(__doc__)
    daemon_python.programs.update(daemon=programs[0], mk_sysfs=programs[1])
    run.nginx, run.kubectls = programs[2], programs[3:]
    with Browser() as run.browser:
        failed = run_checks(checks + (only_by_name if only else []), only)
    sys.stdout.flush()
    os._exit(failed)  # threads of gRPC never end


if __name__ == "__main__":
    main()
