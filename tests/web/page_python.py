#!/usr/bin/python3
"""Judges the page at "/" with a headless Chromium, against the real daemon over a synthetic sysfs tree whose counters are played.

  page_python.py DAEMON MK_SYSFS NGINX KUBECTL... [-- CHECK...]

One line per check, "N passed, N failed" last. Lines with "# " are figures.

run: {build}/rocelet {build}/bench/mk_sysfs {nginx}/usr/sbin/nginx {kubectls}
proves: daemon/web daemon/api daemon/http
when: core -- the_first_view_is_one_document a_verdict_appears_and_goes names_are_text by_keyboard places_can_be_pasted over_tls
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

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, "../..")
sys.path[:0] = [HERE, os.path.join(HERE, "../interop"), os.path.join(HERE, "../lib"), os.path.join(TOP, "daemon/web")]
import daemon_python  # noqa: E402
import diagnosis_python as played  # noqa: E402
import npm  # noqa: E402
from browser import Browser, PATIENCE  # noqa: E402
from daemon_python import PodResources, SLOT_POOL, checkpoint, registered  # noqa: E402
from diagnosis_python import MARKED, OTHER_PF, PF, QUICK, TRAFFIC, VF, VF_FUNCTION  # noqa: E402
from kubelet_python import equal, eventually  # noqa: E402
from page_node import LIVE, LOSS, PageNode, check, checks, figure, has, only_by_name, opened, run, silent  # noqa: E402
from prefix_proxy import PrefixProxy  # noqa: E402
from run_checks import run_checks  # noqa: E402
import page_reach  # noqa: E402,F401  its checks are ours, too

VIEWS = ["", "port/mlx5_0/1", "pods", "qps", "pools", "events", "config", "pod/train/job-7", "port/none/1"]


# --- what is there ----------------------------------------------------------------------------


@check
def the_first_view_is_one_document():
    with PageNode() as node:
        story = node.story(PF)
        story.play(TRAFFIC, MARKED)
        eventually("a verdict", lambda: node.verdict(PF, "fabric_congestion"))
        page = opened(node, height=700)
        has(page, "fabric_congestion")
        page.until("drawn", "performance.getEntriesByName('rocelet first view').length")
        silent(page, node.url)
        documents = page.run("performance.getEntriesByType('resource').filter((e) => e.initiatorType !== 'fetch').length")
        equal(documents, 0)
        size = page.bytes[page.requests[0][0]]
        assert size <= 120000, size
        took = page.run("performance.getEntriesByName('rocelet first view')[0].startTime - performance.getEntriesByType('navigation')[0].responseEnd")
        print(f"# the document: {size} bytes as sent; first view with numbers {took:.0f} ms after it arrived")
        top = page.run("document.querySelector('.verdict').getBoundingClientRect().bottom")
        assert top <= 700, top
        said = page.text(".verdict")
        for word in ("warning", "mlx5_0/1 (ens1np0)", "congested", "since "):
            assert word in said, (word, said)
        page.run("document.querySelector('.verdict summary').click()")
        for word in ("roce_ecn_ce_received_packets_total", "what to do", "it is something else if", "moved first"):
            has(page, word)
        page.until("numbers of the port", "/3\\d(\\.\\d)? Gbit\\/s/.test(document.querySelector('#ports-title ~ div table').innerText)")
        # What cannot be seen is not 0: these counters have no pause.
        equal(page.run("[...document.querySelectorAll('#ports-title ~ div tbody tr')].every((row) => row.cells[7].innerText === 'n/a')"), True)
        page.close()


@check
def a_verdict_appears_and_goes():
    with PageNode() as node:
        story = node.story(PF)
        story.play(TRAFFIC)
        node.judged(PF)
        page = opened(node)
        has(page, "Nothing is wrong with")
        story.play(TRAFFIC, LOSS)
        eventually("a verdict", lambda: node.verdict(PF, "packet_loss"))
        began = time.monotonic()
        has(page, "packet_loss")
        print(f"# a verdict is on the page {1000 * (time.monotonic() - began):.0f} ms after the daemon has it")
        assert "packets are lost" in page.text("#announcer"), page.text("#announcer")
        assert page.run("document.title").startswith("1 verdict"), page.run("document.title")
        story.play(TRAFFIC)
        page.until("over", "!document.querySelector('.verdict')")
        assert page.text("#announcer").startswith("over on mlx5_0/1"), page.text("#announcer")
        silent(page, node.url)
        page.close()


@check
def a_port_has_its_charts():
    with PageNode() as node:
        story = node.story(PF)
        story.play(TRAFFIC, LOSS)
        eventually("a verdict", lambda: node.verdict(PF, "packet_loss"))
        page = opened(node, "#port/mlx5_0/1")
        page.until("five charts", "document.querySelectorAll('.plot canvas[role=img]').length === 5")
        page.until("a sentence for each", "[...document.querySelectorAll('.plot canvas')].every((c) => c.getAttribute('aria-label').includes('at most'))")
        page.until("numbers in it", "/received: now \\d.*bit\\/s, at most \\d/.test(document.querySelector('.plot canvas').getAttribute('aria-label'))")
        has(page, "critical: packet_loss")
        has(page, "DiagnosisOnset")
        # By keyboard: all charts zoom together, and the standing view says so.
        page.run("document.querySelector('.plot').focus()")
        page.key("+", "Equal", 187, "+")
        has(page, "standing still")
        page.key("0", "Digit0", 48, "0")
        page.until("all of it again", "!document.body.innerText.includes('standing still')")
        # By pointer.
        box = page.run("(() => { const b = document.querySelector('.u-over').getBoundingClientRect(); return [b.left, b.top, b.width, b.height]; })()")
        for kind, x in (("mousePressed", 0.3), ("mouseMoved", 0.5), ("mouseMoved", 0.7), ("mouseReleased", 0.7)):
            page.call("Input.dispatchMouseEvent", type=kind, x=box[0] + x * box[2], y=box[1] + box[3] / 2, button="left", buttons=0 if kind == "mouseReleased" else 1, clickCount=1)
        has(page, "standing still")
        page.run("document.querySelector('.plots ~ details').open = true")
        page.until("a table", "document.querySelectorAll('.plots ~ details tbody tr').length === 15")
        silent(page, node.url)
        page.close()


@check
def places_can_be_pasted():
    with PageNode() as node:
        node.judged(PF)
        for place, text in (("#port/mlx5_1/1", "Port mlx5_1/1"), ("#pods", "No pod has a device."), ("#pools", "rocelet.dev/roce"), ("#config", "diagnosis"),
                            ("#events", "Nothing has happened"), ("#port/none/1", "There is no port none/1"), ("#pod/a/b", "a/b has no device"),
                            ("#%E0%A4%A", "What is wrong"), ("#" + "x/" * 500, "What is wrong")):
            page = opened(node, place)
            has(page, text)
            silent(page, node.url)
            page.close()
        page = opened(node)
        page.until("rows", "document.querySelector('tbody a')")
        page.run("document.querySelector('tbody a').click()")
        has(page, "Port mlx5_0/1")
        equal(page.run("location.hash"), "#port/mlx5_0/1")
        equal(page.run("document.activeElement.id"), "main")
        page.run("history.back()")
        page.until("the ports again", "document.querySelector('#ports-title')")
        page.close()


@check
def nothing_is_said_of_what_is_not_seen():
    with PageNode() as node:
        kubelet, pods = registered(node), PodResources(node.dir)
        pods.held = [("train", "job-7", "main", "rocelet.dev/roce", VF_FUNCTION)]
        checkpoint(node)
        eventually("held", lambda: "job-7" in node.get("/api/v1/pods"))
        node.judged(VF)
        page = opened(node, "#pod/train/job-7")
        has(page, "Nothing.")
        page.go(node.url + "#pod/train/job-8")
        has(page, "Not all is seen (it has no device here).")
        # As long as it takes to be called healthy.
        node.configure_keys(diagnosis={**QUICK, "warming_seconds": 900})
        page.go(node.url + "#pod/train/job-7")
        has(page, f"Not all is seen ({VF_FUNCTION}: warming up).")
        page.go(node.url + f"#port/{VF}/1")
        has(page, "Not all is seen (warming up).")
        node.configure_keys(diagnosis=QUICK)
        has(page, "Nothing.")
        # What a node cannot be made to be.
        equal(page.run("['unseen', 'not applicable', 'judged'].map((watch) => seenText({timeMs: 1, verdicts: [], nVerdicts: 0}, [], [doubt({timeMs: 1}, {watch})]))"),
              ["Not all is seen (cannot be read).", "Not all is seen (not applicable).", "Nothing."])
        equal(page.run("seenText(new Store(), [], [])"), "No sample has been judged yet.")
        equal(page.run("PodView.prototype.unseen.call(null, [], null, [])"), ["its devices are not known"])
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
        has(page, EVIL)
        # What steers terminals, or turns the direction of text, is spelt out; a kubelet that told such names would not be believed.
        equal(page.run("shown('a\\u001b[31m\\u202e')"), "a\\u001b[31m\\u202e")
        page.run("document.querySelector('tbody a').click()")
        has(page, f"Pod train/{EVIL}")
        page.go(node.url + "#")
        page.until("the overview", "!document.title.includes('evil')")
        has(page, EVIL)
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
        has(page, "critical: packet_loss")
        node.hang()
        page.until("it says so", "document.getElementById('state').dataset.state === 'stale'")
        assert "no new sample" in page.text("#state-text"), page.text("#state-text")
        equal(page.run("document.body.dataset.old"), "yes")
        node.wake()
        page.until("live again", LIVE)
        story.play(TRAFFIC)
        node.process.send_signal(signal.SIGKILL)
        node.process.wait()
        page.until("lost", "document.getElementById('state').dataset.state === 'lost'")
        assert "no answer since" in page.text("#state-text"), page.text("#state-text")
        page.complaints.clear()  # of connections that are refused
        node.restart()
        page.until("live again", LIVE)
        has(page, "was started anew")
        page.until("nothing of before", "!document.body.innerText.includes('critical: packet_loss')")
        page.close()


class RareNode(PageNode):
    interval, limits = "10", {key: 20 for key in QUICK}


@check
def samples_that_come_rarely():
    """Not old before three of them are missing, also where no history says how often they come."""
    with RareNode() as node:
        eventually("a sample", lambda: node.diagnosis()["ports"])
        page = opened(node, "#events")
        page.until("older than three seconds, and live", "/^live, sample [4-9]\\.\\d s old$/.test(document.getElementById('state-text').innerText)")
        node.hang()
        page.run("((real) => { Date.now = () => real() + 45e3; })(Date.now)")
        page.until("it says so", "document.getElementById('state').dataset.state === 'stale'")
        assert "no new sample" in page.text("#state-text"), page.text("#state-text")
        node.wake()
        page.until("live again", LIVE)
        silent(page, node.url)
        page.close()


@check
def nobody_looks():
    with PageNode() as node:
        story = node.story(PF)
        story.play(TRAFFIC)
        node.judged(PF)
        page = opened(node, "#port/mlx5_0/1")
        page.until("a chart", "document.querySelector('.plot canvas')")
        page.run("""Object.defineProperty(document, 'hidden', {configurable: true, get: () => window.asleep === true});
            window.asleep = true; document.dispatchEvent(new Event('visibilitychange'))""")
        quiet = {"n": -1}

        def no_more_questions():
            """One that waits is still answered."""
            before, quiet["n"] = quiet["n"], len(page.requests)
            node.judge_more(15)
            return len(page.requests) == before
        eventually("no questions", no_more_questions)
        page.run("window.asleep = false; document.dispatchEvent(new Event('visibilitychange'))")
        page.until("live", LIVE)
        page.until("asks again", f"performance.getEntriesByType('resource').length > 0 && {len(page.requests)} > 0")
        eventually("more questions", lambda: len(page.requests) > quiet["n"] + 2)
        # What was missed was read anew: no row twice, and in order.
        assert any("history" in asked for _, asked in page.requests[quiet["n"]:]), page.requests[quiet["n"]:]
        silent(page, node.url)
        page.close()


ASLEEP = """(() => { const real = Date.now; let shift = 0; Date.now = () => real() + shift;
    document.addEventListener('freeze', () => { shift = 86400e3; });
    document.addEventListener('resume', () => { window.woken = [document.getElementById('state').dataset.state, document.getElementById('state-text').innerText, document.body.dataset.old]; }); })()"""


@check
def a_day_asleep():
    """A browser freezes a page that nobody looks at. At its first moment awake it says how old it is; then it goes on with what is so now."""
    with PageNode() as node:
        story = node.story(PF)
        story.play(TRAFFIC)
        node.judged(PF)
        page = opened(node, "#port/mlx5_0/1")
        page.until("a chart", "document.querySelector('.plot canvas')")
        page.run(ASLEEP)
        page.call("Page.setWebLifecycleState", state="frozen")
        node.hang()  # so that it can be seen what is said before there is an answer
        page.call("Page.setWebLifecycleState", state="active")
        page.until("awake", "window.woken")
        state, said, old = page.run("window.woken")
        equal((state, old), ("stale", "yes"))
        assert re.search(r"no new sample: the last sample is of .*, 24 h \d+ min ago", said), said
        node.wake()
        story.play(TRAFFIC, LOSS)
        page.call("Emulation.setFocusEmulationEnabled", enabled=True)  # whoever freezes it hides it, too
        page.until("live again", LIVE)
        has(page, "critical: packet_loss")
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
            has(page, "Port mlx5_0/1")
            silent(page, proxy.url)
            page.close()


# --- who cannot see, or has little room --------------------------------------------------------


@check
def axe_finds_nothing():
    with open(npm.package(HERE + "/packages", TOP + "/build/npm", "axe-core") + "/axe.min.js", encoding="utf-8") as f:
        axe = f.read()
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
                page.until("filled", f"decodeURI(location.hash) === '#{view}'.replace(/^#$/, '') && document.querySelector('main h2') && !document.body.innerText.includes('It is being read')")
                page.run("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
                found = page.run("axe.run({resultTypes: ['violations']}).then((r) => r.violations.map((v) => [v.id, v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200) + ' ' + n.failureSummary)]))")
                equal((view, dark, found), (view, dark, []))
                equal((view, width, page.run("document.documentElement.scrollWidth <= innerWidth")), (view, width, True))
            page.close()
        pods.stop()
        kubelet.stop()


@check
def the_runbook():
    """What verdicts lead to: a document without scripts, whose links lead somewhere in it."""
    with open(npm.package(HERE + "/packages", TOP + "/build/npm", "axe-core") + "/axe.min.js", encoding="utf-8") as f:
        axe = f.read()
    with PageNode() as node:
        for dark, width in ((False, 1280), (True, 400)):
            page = run.browser.page(node.url + "docs/runbook.md#packet_loss", width=width, dark=dark)
            equal(page.run("document.querySelector(':target').innerText"), "packet_loss")
            equal(page.run("[...document.links].filter((a) => a.hash && !document.getElementById(a.hash.slice(1))).map((a) => a.hash)"), [])
            equal(page.run("document.scripts.length"), 0)
            page.run(axe + ";0")
            equal(page.run("axe.run({resultTypes: ['violations']}).then((r) => r.violations.map((v) => [v.id, v.nodes[0].html.slice(0, 200)]))"), [])
            equal(page.run("document.documentElement.scrollWidth <= innerWidth"), True)
            silent(page, node.url)
            page.close()


@check
def by_keyboard():
    with PageNode() as node:
        node.judged(PF)
        page = opened(node)
        page.until("rows", "document.querySelector('tbody a')")
        reached = []
        for _ in range(14):
            page.key("Tab", "Tab", 9)
            reached.append(page.run("(document.activeElement.id || document.activeElement.innerText || document.activeElement.getAttribute('aria-label')).slice(0, 30)"))
        equal(reached[0], "skip")
        equal(reached[1:7], ["Verdicts and ports", "Pods", "Queue pairs", "Pools", "Events", "Configuration"])
        equal(reached[7:9], ["filter-ports", "choice-ports"])
        assert "mlx5_0/1" in reached, reached
        page.run("[...document.querySelectorAll('tbody a')].find((a) => a.innerText === 'mlx5_0/1').focus()")
        page.key("Enter", "Enter", 13, "\r")
        has(page, "Port mlx5_0/1")
        silent(page, node.url)
        page.close()


FIRST_SHARE = "parseFloat([...document.querySelectorAll('.verdict:last-child td')].find((td) => td.innerText.endsWith('%')).innerText)"


@check
def evidence_is_new_where_the_focus_is():
    """Whoever unfolded it reads what is so now, without losing his place: by what is told anew, by what comes above it or goes."""
    with PageNode() as node:
        stories = [node.story(device) for device in (PF, OTHER_PF)]
        stories[0].play(TRAFFIC, MARKED)
        eventually("a verdict", lambda: node.verdict(PF, "fabric_congestion"))
        page = opened(node)
        has(page, "fabric_congestion")
        page.run("window.held = document.querySelector('.verdict summary'); held.focus(); held.click()")
        page.until("few marks", f"0 < {FIRST_SHARE} && {FIRST_SHARE} < 6")
        stories[0].play(TRAFFIC, {name: rate * 1.7 for name, rate in MARKED.items()})
        page.until("more marks", f"{FIRST_SHARE} > 7")
        stories[1].play(TRAFFIC, LOSS)
        page.until("a worse one above", "document.querySelector('.verdict').innerText.includes('packet_loss')")
        equal(page.run("document.activeElement === held && held.parentElement.open"), True)
        stories[1].play(TRAFFIC)
        page.until("it is over", "document.querySelectorAll('.verdict').length === 1")
        equal(page.run("document.activeElement === held && held.parentElement.open"), True)
        # What has to move keeps it, too.
        equal(page.run("""(() => { const parent = byId('main').appendChild(make('div')); const rows = new Rows(parent, String, (text) => make('button', {}, text), () => {});
            rows.show(['a', 'b']); parent.lastChild.focus(); rows.show(['b', 'a']); return parent.innerText.trim()[0] + document.activeElement.innerText; })()"""), "bb")
        silent(page, node.url)
        page.close()


# --- much --------------------------------------------------------------------------------------


class BigNode(PageNode):
    """8 PFs with 128 VFs, and a thousand pods that share a device beside those that have one."""
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
        page.until("136 rows", "document.querySelectorAll('tbody tr').length === 136")
        for place, rows in (("", 136), ("#pods", 200)):
            page.go(node.url + (place or "#"))
            page.until(f"{rows} rows", f"document.querySelectorAll('tbody tr').length === {rows}")
            times = page.run(FRAMES)
            print(f"# {place or 'ports'}: of 150 frames half take at most {times[75]:.0f} ms, 99 of 100 {times[148]:.0f} ms, all {times[149]:.0f} ms")
        page.run("[...document.querySelectorAll('button')].find((b) => b.innerText === 'all 1000').click()")
        page.until("all rows", "document.querySelectorAll('tbody tr').length === 1000")
        page.run("(() => { const f = document.querySelector('input[type=search]'); f.value = 'job-77'; f.dispatchEvent(new Event('input')); })()")
        page.until("eleven", "document.querySelectorAll('tbody tr').length === 11")
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
        # While a PF has a carrier, a VF's port that is down was taken down on purpose.
        for carrier in glob.glob(dir + "/sys/devices/pci*/*/net/*/carrier"):
            daemon_python.write(carrier, "0\n")


def over(n):
    """How many verdicts are over of so many by a document in which one of them is missing."""
    return f"""ask('api/v1/live').then((live) => {{ const store = new Store(); store.take(live, 0);
        return store.take({{...live, verdicts: live.verdicts.slice(0, -1), nVerdicts: {n}}}, 0).closed.length; }})"""


@check
def more_verdicts_than_are_shown():
    """The worst are, and of nothing else is it said that there is nothing."""
    with DarkNode() as node:
        eventually("80 verdicts", lambda: len(node.diagnosis()["verdicts"]) == 80)
        node.judged(OTHER_PF)
        page = opened(node)
        has(page, "Here only 64 of 80 verdicts are shown, the worst")
        node.story(PF).state("1: DOWN", "2: Polling")
        has(page, "Here only 64 of 81 verdicts are shown, the worst")
        page.until("it is the first", "document.querySelector('.verdict').innerText.includes('link_flap')")
        equal(page.run("[...document.querySelectorAll('tbody tr')].filter((row) => row.cells[1]?.innerText === 'nothing').length"), 0)
        equal(page.run("[...document.querySelectorAll('tbody tr')].find((row) => row.innerText.includes('mlx5_1/1')).cells[1].innerText"),
              "only 64 of 81 verdicts are shown")
        equal((page.run(over(80)), page.run(over(63))), (0, 1))
        page.go(node.url + "#port/mlx5_1/1")
        has(page, "Not all is seen (only 64 of 81 verdicts are shown).")
        silent(page, node.url)
        page.close()


class CalmNode(PageNode):
    """With the interval that people have."""
    interval = "1"
    limits = {key: 2 for key in ("release_seconds", "release_link_seconds", "release_storm_seconds", "release_idle_seconds", "clear_seconds")}


class SlowNode(CalmNode, BigNode):
    interval = "1"


class HugeNode(SlowNode):
    """With 1,024 VFs."""
    n_devices = 1032


def frames(page, what):
    """How long they take: a figure, for machines are busy. That there are 150 says that the page draws."""
    times = page.run(FRAMES)
    print(f"# {what}: of 150 frames half take at most {times[75]:.0f} ms, 99 of 100 {times[148]:.0f} ms, all {times[149]:.0f} ms")


@check
def a_thousand_vfs():
    with HugeNode() as node:
        node.judged(PF)
        page = opened(node)
        page.until("200 rows", "document.querySelectorAll('tbody tr').length === 200")
        frames(page, "1,032 ports, 200 rows")
        page.run("[...document.querySelectorAll('button')].find((b) => b.innerText === 'all 1032').click()")
        page.until("all rows", "document.querySelectorAll('tbody tr').length === 1032")
        frames(page, "1,032 ports, all rows")
        took = page.run("""new Promise((done) => { const f = document.querySelector('input[type=search]'), began = performance.now(); f.value = 'mlx5_77';
            f.dispatchEvent(new Event('input')); requestAnimationFrame(() => setTimeout(() => done(performance.now() - began))); })""")
        page.until("eleven", "document.querySelectorAll('tbody tr').length === 11")
        print(f"# 1,032 ports: what is typed has found its rows after {took:.0f} ms")
        page.go(node.url + "#port/mlx5_1000/1")
        page.until("charts", "document.querySelectorAll('.plot canvas[role=img]').length === 5")
        frames(page, "1,032 ports, one port's charts")
        silent(page, node.url)
        page.close()


def spent(process):
    """Seconds of the loop's thread, which answers (samples are the workers'), and MB of all."""
    with open(f"/proc/{process.pid}/task/{process.pid}/schedstat", encoding="utf-8") as f:
        seconds = int(f.read().split()[0]) / 1e9
    with open(f"/proc/{process.pid}/statm", encoding="utf-8") as f:
        return seconds, int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def ask_as_a_page(port, enough):
    """What a page asks for once it is open, as stream.js does, until an answer is enough."""
    there = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)

    def answered(path):
        there.request("GET", path, headers={"Accept-Encoding": "gzip"})
        return there.getresponse()

    def ask(path):
        try:
            answer = answered(path)
        except ConnectionError:  # a kept connection was closed to make room: browsers ask once more, too
            there.close()
            answer = answered(path)
        equal((path, answer.status), (path, 200))
        text = answer.read()
        return gzip.decompress(text) if answer.getheader("Content-Encoding") == "gzip" else text
    ask("/")
    live = json.loads(ask("/api/v1/live?since=0&events=0&wait=0"))
    for row in json.loads(ask("/api/v1/ports"))["ports"][:20]:
        ask(f"/api/v1/history?port={row['device']}%2F{row['port']}")
    end = time.monotonic() + 2 * PATIENCE
    while not enough(live):
        began = time.monotonic()
        assert began < end, live
        new = json.loads(ask(f"/api/v1/live?since={live['timeMs']}&events={live['events']['generation']}&wait=10"))
        time.sleep(max(0, (0.5 if new["timeMs"] != live["timeMs"] else 1) - (time.monotonic() - began)))
        live = new
    there.close()


def fifty_people(node, ports, n_pages):
    """Some have a page in the browser here, the others ask what one asks: each is told of a verdict, and nothing fails; what that costs the daemon."""
    def told(live):
        return any(v["cause"] == "packet_loss" for v in live["verdicts"])
    story = node.story(PF)
    story.play(TRAFFIC)
    node.judged(PF)
    node.connection = None  # where there is no room those that nobody uses are closed
    alone, began = spent(node.process), time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(50) as people:
        others = [people.submit(ask_as_a_page, node.port, told) for _ in range(50 - n_pages)]
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
        # A question may just have been sent on a connection that was closed to make room; it is asked again.
        page.complaints = [said for said in page.complaints if "net::ERR_" not in said]
        silent(page, node.url)
        page.close()
    assert after[1] - alone[1] < 16, (alone, after)


@check
def fifty_people_look():
    with CalmNode() as node:
        fifty_people(node, 6, 5)


# --- figures -----------------------------------------------------------------------------------


@figure
def twenty_and_fifty_pages():
    with SlowNode() as node:
        node.judged(PF)
        time.sleep(10)
        for n in (0, 20, 50):
            threads = [threading.Thread(target=ask_as_a_page, args=(node.port, lambda _, end=time.monotonic() + 40: time.monotonic() > end)) for _ in range(n)]
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
    """Fifty in one browser are more work for it than two cores do in time: this is no check."""
    with CalmNode() as node:
        fifty_people(node, 6, 50)


@figure
def fifty_pages_of_many_ports():
    with SlowNode() as node:
        fifty_people(node, 136, 50)


@figure
def pictures():
    """docs/images/page-*.png: an hour's troubles in a minute and a half."""
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
        for name, place, width, height, dark in (("ports", "", 1280, 620, False), ("port", "#port/mlx5_0/1", 1280, 1000, True),
                                                 ("ports-narrow", "", 400, 800, True), ("port-narrow", "#port/mlx5_0/1", 400, 800, False)):
            page = opened(node, place, width=width, height=height, dark=dark)
            has(page, "packet_loss")
            page.until("drawn", "document.querySelector(location.hash ? '.plot canvas' : 'canvas.spark')")
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
