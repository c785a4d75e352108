# SPDX-License-Identifier: Apache-2.0
"""Checks of the layout: at each width, in each view and state, no text covers another one, and the room is given to what is read."""
from daemon_python import PodResources, checkpoint, registered
from diagnosis_python import OTHER_PF, PF, TRAFFIC, VF, VF_FUNCTION
from kubelet_python import equal, eventually
from page_node import LIVE, LOSS, PageNode, altered, check, opened, run, silent

# Pairs of texts whose visible ink overlaps: without what is clipped, folded or hidden, and without the sticky bar, which may cover the text below it.
COVERED = """(() => {
	const found = new Set(), texts = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), range = document.createRange();
	const visible = (rect, e) => {
		let {left, right, top, bottom} = rect;
		for (; e && e !== document.body; e = e.parentElement) {
			const style = getComputedStyle(e), box = e.getBoundingClientRect();
			if (style.clipPath.startsWith('inset('))
				return null;
			if (style.overflowX !== 'visible')
				[left, right, top, bottom] = [Math.max(left, box.left), Math.min(right, box.right), Math.max(top, box.top), Math.min(bottom, box.bottom)];
		}
		return right - left > 2 && bottom - top > 2 ? {left, right, top: top + (rect.height - 8) / 2, bottom: bottom - (rect.height - 8) / 2} : null;
	};
	while (walker.nextNode()) {
		const node = walker.currentNode, e = node.parentElement;
		if (!node.textContent.trim() || !e.checkVisibility() || e.closest('#tip, .skip, dialog:not([open])'))
			continue;
		range.selectNodeContents(node);
		for (const rect of range.getClientRects()) {
			const box = visible(rect, e);
			if (box)
				texts.push({...box, node, text: node.textContent.trim(), isBar: Boolean(e.closest('body > header, thead'))});
		}
	}
	texts.sort((a, b) => a.top - b.top);
	texts.forEach((a, i) => {
		for (const b of texts.slice(i + 1)) {
			if (b.top >= a.bottom)
				break;
			if (a.node !== b.node && a.isBar === b.isBar && Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - b.top > 1)
				found.add(`${a.text} | ${b.text}`);
		}
	});
	return [...found].slice(0, 8);
})()"""
COVER_WIDTHS = (320, 340, 360, 375, 400, 500, 600, 700, 800, 1024, 1180, 1440)
COVER_VIEWS = ("", "ports", "port/mlx5_0/1", "port/mlx5_0/1?tab=minutes", "port/mlx5_0/1?tab=counters", "pods", "pod/inference-prod/vllm-qwen-72b-predictor-6d9f8-q4z7m", "qps", "pools", "events", "agent")


def covered(page, what):
    """[(what, width, pair)] of the page as it is now."""
    found = []
    for width in COVER_WIDTHS:
        page.look(width, 900)
        page.run("document.querySelectorAll('.problem h3 [aria-expanded=false]').forEach((b) => b.click())")
        found += [(what, width, pair) for pair in page.run(COVERED)]
    return found


@check
def no_text_covers_another():
    """In all views, with problems on several ports, live and when rocelet does not answer; and in the runbook."""
    with PageNode() as node:
        kubelet, pods = registered(node), PodResources(node.dir)
        pods.held = [("inference-prod", "vllm-qwen-72b-predictor-6d9f8-q4z7m", "main", "rocelet.dev/roce", VF_FUNCTION)]
        checkpoint(node)
        for device in (PF, OTHER_PF, VF):
            node.story(device).play(TRAFFIC, LOSS)
        for device in (PF, OTHER_PF):
            eventually("a verdict", lambda device=device: node.verdict(device, "packet_loss"))
        found = []
        for place in ("runbook/", "runbook/packet_loss"):
            page = run.browser.page(node.url + place)
            found += covered(page, place)
            page.close()
        page = opened(node)
        page.until("a group", "document.querySelector('.problem.group')")
        for view in COVER_VIEWS:
            page.run(f"location.hash = '#{view}'")
            page.until("filled", "document.querySelector('main h1') && !/Loading/.test(document.querySelector('main').innerText)")
            found += covered(page, view)
        silent(page, node.url)
        node.hang()
        for view in ("", "port/mlx5_0/1", "events"):
            page.run(f"location.hash = '#{view}'")
            page.until("old", "document.body.dataset.old === 'yes' && document.querySelector('main h1')")
            found += covered(page, f"old {view}")
        node.wake()
        page.until("live again", LIVE)
        equal(found, [])
        page.close()
        pods.stop()
        kubelet.stop()


@check
def the_runbook_has_the_bar_of_the_page():
    """The same bar and theme, the current tab in sight, the room of a wide window used, and no file's name in place of a link."""
    with PageNode() as node:
        node.judged(PF)
        page = opened(node, width=1440)
        heights = {}
        for width in (1440, 1024, 400):
            page.look(width, 900)
            heights[width] = page.run("document.querySelector('body > header').offsetHeight")
        page.run("if (!isDark()) switchTheme()")
        for place in ("runbook/", "runbook/packet_loss"):
            page.go(node.url + place)
            equal(page.run("document.documentElement.dataset.theme"), "dark")
            for width, height in heights.items():
                page.look(width, 900)
                equal((width, page.run("document.querySelector('body > header').offsetHeight")), (width, height))
                page.run("document.querySelector('header [aria-current]').scrollIntoView({block: 'nearest', inline: 'center'})")
                equal((width, page.run("((tab, nav) => tab.left >= nav.left && tab.right <= nav.right)(...['header [aria-current]', 'header nav'].map((e) => document.querySelector(e).getBoundingClientRect()))")), (width, True))
            page.look(1440, 900)
            assert page.run("innerWidth - Math.max(...[...document.querySelectorAll('main, .contents a')].map((e) => e.getBoundingClientRect().right))") < 48
            equal(page.run("document.body.innerText.match(/\\b\\w+\\.md\\b/g)"), None)
        # The switch is the same setting.
        page.run("document.getElementById('theme').click()")
        equal(page.run("document.documentElement.dataset.theme"), "light")
        page.go(node.url)
        page.until("live", LIVE)
        equal(page.run("document.documentElement.dataset.theme"), "light")
        silent(page, node.url)
        page.close()


@check
def lists_are_tables_down_to_700():
    """Name, state, pod, traffic and loss of a port in one row; below 700 px rows are blocks. Nothing is wider than its cell."""
    with PageNode() as node:
        node.story(PF).play(TRAFFIC, LOSS)
        eventually("a verdict", lambda: node.verdict(PF, "packet_loss"))
        page = opened(node, "#ports", width=700)
        page.until("rows", "document.querySelectorAll('table.list tbody tr[data-row]').length === 6")
        for width, height in ((899, 30), (800, 30), (700, 30), (699, None)):
            page.look(width, 900)
            page.until("drawn", f"document.querySelector('table.list').hasAttribute('data-blocks') === {'false' if height else 'true'}")
            equal((width, page.run("document.documentElement.scrollWidth <= innerWidth")), (width, True))
            if height:
                equal((width, page.run("[...new Set([...document.querySelectorAll('table.list tbody tr[data-row]')].map((tr) => tr.offsetHeight))]")), (width, [height]))
                equal((width, page.run("['name', 'state', 'pod', 'bytes_received', 'bytes_sent', 'loss'].filter((id) => !document.querySelector(`td.c-${id}, th.c-${id}`)?.offsetWidth)")), (width, []))
                equal((width, page.run("[...document.querySelectorAll('.list thead th')].filter((th) => th.offsetWidth > 0 && th.firstChild.scrollWidth > th.clientWidth).map((th) => th.innerText)")), (width, []))
        silent(page, node.url)
        page.close()


OF_PF = """(path, document) => { if (path === 'live') for (const v of document.verdicts ?? []) if (v.device === 'mlx5_0') Object.assign(v, {cause: 'fabric_congestion', pods: [{namespace: 'train', name: 'job-7'}], podCount: 1}); }"""


@check
def room_goes_to_what_is_read():
    """A column that no port counts gives its room away and is named below the list. A state is whole; "(PF)" is, at any width, and has one spelling in all views."""
    with PageNode() as node:
        kubelet, pods = registered(node), PodResources(node.dir)
        pods.held = [("train", "job-7", "main", "rocelet.dev/roce", VF_FUNCTION)]
        checkpoint(node)
        node.story(PF).play(TRAFFIC, LOSS)
        eventually("a verdict", lambda: node.verdict(PF, "packet_loss"))
        page = altered(node, OF_PF, "#ports", width=1440)
        page.until("judged", "page.model.ports?.every((p) => p.facts.watch !== 'warming')")
        page.until("no pause", "document.querySelector('.list tbody tr[data-row]') && !document.querySelector('.list .c-pause_sent')")
        assert "Pause out, Pause in" in page.text(".uncounted"), page.text(".uncounted")
        # It is there for those who sort by it.
        page.run("page.ask({sort: '-pause_sent'})")
        page.until("the column", "document.querySelector('.list th.c-pause_sent')")
        for view, row in (("ports", "mlx5_2/1"), ("pods", "train/job-7"), ("pod/train/job-7", "mlx5_2/1")):
            page.run(f"location.hash = '#{view}'")
            state = f"[...document.querySelectorAll('table.list tbody tr')].find((tr) => tr.querySelector('th')?.innerText.replaceAll('\\n', '').startsWith('{row}'))?.querySelector('.c-state .state')"
            page.until(view, f"{state}?.innerText === 'Fabric congestion (PF)'")
            for width in (1440, 1180, 1024, 700):
                page.look(width, 900)
                whole, isInside = page.run(f"((state, cell) => [state.firstChild.scrollWidth <= state.firstChild.offsetWidth, state.lastChild.getBoundingClientRect().right <= cell.getBoundingClientRect().right])({state}, {state}.closest('td'))")
                equal((view, width, whole or width == 700, isInside), (view, width, True, True))
        silent(page, node.url)
        page.close()
        pods.stop()
        kubelet.stop()


MANY = """(path, document) => { if (path === 'live' && document.verdicts?.length) { const [v] = document.verdicts;
    document.verdicts = [['packet_loss', 'packets are lost between the ports'], ['fabric_congestion', 'the fabric is congested, and congestion control slows senders down'], ['bad_link', 'the link has errors'], ['port_off', "the port of a pod's device is down, although no link went down"], ['peer_gone', 'a peer does not answer']]
        .map(([cause, sentence]) => ({...v, cause, sentence, podCount: 12, pods: [{namespace: 'inference-prod', name: 'vllm-qwen-72b-predictor-6d9f8-q4z7m'}]})); document.verdictCount = 5; } }"""


@check
def the_first_screen_shows_the_rails():
    """Problems are rows of two lines, so that the rails begin on the first screen; figures have one width; at 400 px every view of the bar is in sight."""
    with PageNode() as node:
        node.story(PF).play(TRAFFIC, LOSS)
        eventually("a verdict", lambda: node.verdict(PF, "packet_loss"))
        page = altered(node, MANY, width=1440)
        page.until("five rows", "document.querySelectorAll('.problem-head').length === 5")
        for width in (1440, 1180):
            page.look(width, 900)
            heights = page.run("[...document.querySelectorAll('.problem-head')].map((row) => row.offsetHeight)")
            assert max(heights) <= 60, (width, heights)
            equal((width, page.run("[...document.querySelectorAll('.problem-what, .problem h3 button')].filter((e) => e.getBoundingClientRect().right > e.closest('.problem-head').querySelector('.problem-much').getBoundingClientRect().left).length")), (width, 0))
            widths = page.run("[...document.querySelectorAll('.figure')].map((e) => Math.round(e.getBoundingClientRect().width))")
            assert max(widths) - min(widths) <= 1, (width, widths)
        page.look(1440, 900)
        top = page.run("document.querySelector('.rails').getBoundingClientRect().top - (document.querySelector('.problems > .note')?.offsetHeight ?? 0)")
        assert top <= 560, top
        page.run("byId('doctor').hidden = false; byId('doctor').innerText = '12'")
        page.look(400, 900)
        equal(page.run("[...document.querySelectorAll('#views a, #doctor')].filter((e) => e.offsetWidth > 0).every((e) => e.getBoundingClientRect().left >= 0 && e.getBoundingClientRect().right <= innerWidth)"), True)
        # A message of two lines does not touch the rules of its row.
        page.run("location.hash = '#events'")
        page.look(1024, 900)
        page.until("rows", "document.querySelector('td.c-message')")
        equal(page.run("[...document.querySelectorAll('td.c-message .message')].filter((e) => e.offsetHeight + 4 > e.closest('td').offsetHeight).length"), 0)
        silent(page, node.url)
        page.close()
