# SPDX-License-Identifier: Apache-2.0
"""The page's lists and views: states are true, rows are in the order of their heading, and nothing is cut or overlaps."""
import json

from daemon_python import PodResources, checkpoint, registered, write
from diagnosis_python import PF, TRAFFIC, VF, VF_FUNCTION
from kubelet_python import equal, eventually
from page_node import LIVE, LOSS, PageNode, altered, check, has, opened, run, silent
from page_overview import PodNode


def hold(node, *pods):
    """Pods with devices: (namespace, name, function)."""
    kubelet, lister = registered(node), PodResources(node.dir)
    lister.held = [(namespace, name, "main", "rocelet.dev/roce", function) for namespace, name, function in pods]
    checkpoint(node)
    eventually("held", lambda: all(name in node.get("/api/v1/pods") for _, name, _ in pods))
    return kubelet, lister


def healthy(node):
    devices = json.loads(node.get("/api/v1/devices"))["devices"]
    return {r["id"]: r["healthy"] for device in devices for r in device["resources"]}


def inject_events(page, *events):
    """As if they came by the stream: (reason, seconds ago)."""
    page.run(f"""page.store.takeEvents({{generation: page.store.eventsGeneration, events: {json.dumps(events)}.map(([reason, ago]) => ({{type: 'Normal', reason, namespace: null, pod: null, pods: [], device: null,
        message: 'm', count: 1, first: new Date(Date.now() - 1000 * ago).toISOString(), last: new Date(Date.now() - 1000 * ago).toISOString()}}))}}); page.draw()""")


# --- states ------------------------------------------------------------------------------------


@check
def a_device_is_as_fine_as_its_port():
    """In the list of a pool: being in a pod does not make it healthy; and with old numbers nothing is healthy."""
    with PageNode() as node:
        kubelet, lister = hold(node, ("train", "a-job-with-a-name-that-is-longer-than-its-column-0", VF_FUNCTION))
        story = node.story(VF)
        story.play(TRAFFIC, LOSS)
        eventually("a verdict", lambda: node.verdict(VF, "packet_loss"))
        page = opened(node, "#pools", width=1440)
        page.until("its devices", "document.querySelector('main button.link')")
        page.until("devices with problems, folded", "[...document.querySelectorAll('.pool-devices li')].map((li) => li.innerText.includes('mlx5_2')).join() === 'true'")
        # The heading counts them, the button all, and the pool's mark is that of the worst.
        total = page.run("page.model.resources[0].devices")
        equal(page.run("[document.querySelector('.pool-head h3').innerText, document.querySelector('.pool-head button').innerText, document.querySelector('.pool header .state').innerText]"), ["1 with a problem", f"Show all {total}", "1 with a problem"])
        equal(page.run("document.querySelector('.pool header .mark').dataset.kind === document.querySelector('.pool-devices .mark').dataset.kind"), True)
        page.run("document.querySelector('main button.link').click()")
        page.until("the others", "document.querySelectorAll('.pool-devices li').length > 1")
        row = "[...document.querySelectorAll('.pool-devices li')].find((li) => li.innerText.includes('mlx5_2'))"
        equal(page.run("document.querySelector('.pool-head button').innerText"), "Show fewer")
        page.until("the state of its port", f"['critical', 'warning'].includes({row}?.querySelector('.mark').dataset.kind)")
        assert page.run(f"{row}.querySelector('.mark').getAttribute('aria-label')") in ("critical", "warning")
        equal(page.run("[...document.querySelectorAll('.pool-devices li')].filter((li) => li.children[1].scrollWidth > li.children[1].clientWidth + 1 || li.children[1].getBoundingClientRect().right > li.children[2].getBoundingClientRect().left).map((li) => li.innerText)"), [])
        node.hang()
        page.until("old", "document.body.dataset.old === 'yes'")
        page.until("nothing is healthy", "document.querySelectorAll('.pool-devices .mark[data-kind=ok]').length === 0 && [...document.querySelectorAll('.numbers .big')].every((p) => p.classList.contains('quiet') && /^\\d/.test(p.innerText))")
        # The last split is kept, in grey; so are a port's problems, and the cells of VFs.
        equal(page.run("[getComputedStyle(document.querySelector('.pool > .bar')).filter, document.querySelector('.numbers').innerText.includes('last known')]"), ["grayscale(1)", True])
        page.run("location.hash = '#port/mlx5_2/1'")
        page.until("last known", "document.querySelector('.view-head .state')?.innerText === '1 problem, last known' && getComputedStyle(document.querySelector('.view-head > .mark')).filter === 'none'")
        page.run("location.hash = '#'")
        page.until("its cell, solid", "((style) => style?.borderTopStyle === 'solid' && style.backgroundImage === 'none')(document.querySelector('a.cell[data-kind=critical]') && getComputedStyle(document.querySelector('a.cell[data-kind=critical]')))")
        has(page, ", last known")
        page.run("location.hash = '#pools'")
        node.wake()
        page.until("live again", LIVE)
        silent(page, node.url)
        page.close()
        lister.stop()
        kubelet.stop()


OF_NOW = """[[['live', false], 400, 1000], [['stale', true], 47000, 1000], [['stale', true], 47000, 46000], [['stale', true], 47000, 20000], [['lost', true], 47000, 1000], [['stale', true], null, 1000]]
    .map(([[kind, dead], sample, age]) => isOfNow({state: {kind}, staleMs: () => 3000}, {dead, store: {ageMs: () => sample}}, age))"""


@check
def the_agent_works_while_it_answers():
    with PageNode() as node:
        node.story(PF).play(TRAFFIC)
        node.judged(PF)
        page = opened(node, "#agent")
        part = "[...document.querySelectorAll('.parts li')].find((li) => li.textContent.includes('%s'))"
        page.until("it works", f"{part % 'Sampling'}?.textContent.endsWith(', works')")
        node.hang()
        page.until("old", "document.body.dataset.old === 'yes'")
        page.until("not known", f"{part % 'Sampling'}.textContent.includes('not known now')")
        equal(page.run("[...document.querySelectorAll('.parts li')].filter((li) => li.textContent.includes(', works') || li.querySelector('.mark').dataset.kind !== 'unknown').length"), 0)
        page.until("older and older", f"/ (\\d\\d|[3-9])(\\.\\d)? s old/.test({part % 'Source sysfs'}.textContent)")
        # A daemon that answers, but takes no samples, is trusted about its own state.
        equal(page.run(OF_NOW), [True, True, False, False, False, True])
        node.wake()
        page.until("works again", f"{part % 'Sampling'}.textContent.endsWith(', works')")
        silent(page, node.url)
        page.close()


STATE_RANKS = "page.view.table.items.map((p) => stateRank(p.state))"


@check
def rows_are_in_the_order_of_their_heading():
    """Also those whose state changes, and events that arrive while they are shown."""
    with PageNode() as node:
        kubelet, lister = hold(node, ("train", "job-7", VF_FUNCTION))
        node.story(PF).play(TRAFFIC)
        node.judged(PF)
        node.link("ens1v0", False)
        eventually("unhealthy", lambda: healthy(node)[VF_FUNCTION] is False)
        page = opened(node, "#ports")
        sorted_now = f"((ranks) => ranks.length === 6 && ranks.every((rank, i) => i === 0 || ranks[i - 1] <= rank))({STATE_RANKS})"
        first = "page.view.table.items[0].key === 'mlx5_2/1' && page.view.table.items[0].state.kind === 'critical'"  # as the API has it: a pod has the device
        page.until("the unhealthy one is the first", f"{first} && {sorted_now}")
        node.link("ens1v0", True)
        eventually("healthy", lambda: healthy(node)[VF_FUNCTION] is True)
        page.until("no more", f"page.view.table.items.findIndex((p) => p.key === 'mlx5_2/1') > 0 && {sorted_now}")
        # A later one, while the pointer is on the list: no row moves under it.
        page.run("page.view.table.hovered = true")
        node.link("ens1v0", False)
        page.until("unhealthy in its place", "page.view.table.items.findIndex((p) => p.state.kind === 'critical') > 0")
        page.run("page.view.table.hovered = false")
        page.until("the first again", f"{first} && {sorted_now}")
        page.go(node.url + "#events")
        page.until("events", "page.view instanceof EventsView")
        inject_events(page, ["Older", 60])
        inject_events(page, ["Newest", 0])
        page.until("the newest first", "document.querySelector('table.list tbody tr[data-row]').innerText.includes('Newest')")
        silent(page, node.url)
        page.close()
        lister.stop()
        kubelet.stop()


TAKE = """(() => { const table = page.view.table, rates = (table.rates ??= new Map()), column = table.what.columns.find(({id}) => id === 'bytes_sent'); column.sort = (p) => rates.get(p.key) ?? 0;
    table.items.forEach((p, i) => rates.set(p.key, i)); return table.items.at(-1).key; })()"""  # now the last row has the most
LATER = "((real, ms) => { Date.now = () => real() + ms; page.store.receivedMs += ms; })(Date.now, 10000)"
FIRST_ROW = "page.view.table.items[0].key"


@check
def rows_wait_while_the_reader_is_among_them():
    """Sorted by numbers, rows are put in order every ten seconds, but never under the pointer or the focus."""
    with PageNode() as node:
        node.judged(PF)
        page = opened(node, "#ports?sort=-bytes_sent")
        page.until("a list", "document.querySelectorAll('table.list tbody tr[data-row]').length === 6")
        for enters, leaves in (("document.querySelector('.list tbody td').dispatchEvent(new MouseEvent('mouseover', {bubbles: true}))", "document.querySelector('.list tbody td').dispatchEvent(new MouseEvent('mouseout', {bubbles: true}))"),
                               ("document.querySelector('.list tbody a').focus()", "document.activeElement.blur()")):
            page.run(enters)
            most = page.run(TAKE)
            page.run(LATER)
            page.until("the page says why", "document.querySelector('.held')?.hidden === false")
            assert page.run(FIRST_ROW) != most
            page.run(leaves)
            page.until("in order", f"{FIRST_ROW} === '{most}' && document.querySelector('.held').hidden")
        # Nothing moves before the ten seconds are over, and a heading that is clicked sorts at once.
        first = page.run("(() => { const {due} = page.view.table; Date.now = ((ms) => () => ms)(Math.floor(Date.now() / 10000) * 10000 + 1); page.draw(); return [due !== '', page.view.table.items[0].key]; })()")
        page.run(TAKE + ";page.draw()")
        equal(page.run(FIRST_ROW), first[1])
        page.run("document.querySelector('.list tbody a').focus(); page.ask({sort: 'bytes_sent'})")
        equal(page.run(FIRST_ROW), first[1])
        page.close()


# --- room -------------------------------------------------------------------------------------------

FILLS = """(() => { const table = document.querySelector('table.list'), heads = [...table.tHead.rows[0].cells].filter((th) => th.offsetWidth > 0), panel = table.closest('.table').getBoundingClientRect();
    return [Math.round(panel.right - heads.at(-1).getBoundingClientRect().right), document.documentElement.scrollWidth <= innerWidth]; })()"""
CUT = """(() => { const cells = [...document.querySelectorAll('table.list tbody td.number:not(.c-lane)')].filter((td) => td.offsetWidth > 0);
    cells.forEach((td) => { td.replaceChildren(make('span', {}, '149.9')); }); return [cells.length > 0, cells.filter((td) => td.scrollWidth > td.clientWidth).map((td) => td.className)]; })()"""
ALIGNED = """(() => { const heads = [...document.querySelectorAll('table.list thead th')].filter((th) => th.offsetWidth > 0), edge = (th) => th.getBoundingClientRect().right - parseFloat(getComputedStyle(th).paddingRight);
    return [parseFloat(getComputedStyle(document.querySelector(`table.list tbody .${heads.at(-1).classList[0] === 'number' ? heads.at(-1).classList[1] : heads.at(-1).classList[0]}`)).paddingRight),
        heads.filter((th) => th.matches('.number') && [...th.querySelectorAll('*')].some((e) => e.getBoundingClientRect().right > edge(th) + 1)).map((th) => th.className)]; })()"""


BAND = "[...document.querySelectorAll('.rejected dl > div')].map((row) => [...row.children].map((e) => e.innerText.trim()))"
CONFIG_PART = "[...document.querySelectorAll('.parts li')].find((e) => e.innerText.startsWith('Configuration'))"
CONFIG_FINDING = """(path, document) => { if (path === 'doctor') document.findings = [{kind: 'config', about: 'rocelet', object: null, namespace: null, pod: null, what: '%s /etc/c.json:2: "mtu": is not a number', help: '%s', fixable: false}]; }"""
NOTHING_OFFERED = CONFIG_FINDING % ("the configuration file is rejected:", "Nothing is offered until the file is corrected; devices in pods are still managed.")
LAST_GOOD = CONFIG_FINDING % ("running with the last good configuration of 2026-11-30T10:00:00.000Z, because", "The node offers and manages its devices as before the restart.")
OTHER_FINDING = """(path, document) => { if (path === 'doctor') document.findings = [{kind: 'config', about: 'rocelet', object: 'listen', namespace: null, pod: null, what: 'the certificate in use has expired', help: 'Replace it.', fixable: false}]; }"""
HELD = """(path, document) => { if (path === 'doctor') document.findings = [{kind: 'config', about: 'rocelet', object: null, namespace: null, pod: null, what: 'the configuration file is held: "pools": rocelet.dev/roce would lose all devices', help: 'The previous configuration stays in use.', fixable: false}]; }"""


@check
def a_rejected_configuration_is_a_band():
    """It names the file, the line, the key, the error, and what is in force meanwhile; other findings about the configuration have none."""
    with PageNode() as node:
        node.judged(PF)
        path = node.dir + "/config.json"
        write(path, json.dumps({"pools": [], "diagnosis": {"warming_seconds": "soon"}}).replace(", ", ",\n"))
        eventually("it is rejected", lambda: "warming_seconds" in node.get("/api/v1/doctor"))
        page = opened(node, "#agent")
        page.until("a band", "document.querySelector('.rejected')")
        equal(page.text(".rejected h2").strip(), "Configuration rejected")
        # It is in one place: the findings do not repeat it. All parts of the page and the daemon have one word and one severity for it.
        equal(page.run("[...document.querySelectorAll('.findings li')].filter((e) => /warming_seconds/.test(e.innerText)).length"), 0)
        rows = dict(page.run(BAND))
        equal((rows["File"], rows["Key"], rows["Error"]), (f"{path}, line\u00a02", "diagnosis.warming_seconds", "Is not a number"))
        assert rows["In force"].startswith("The previous configuration stays in use until the file is corrected; "), rows
        equal(page.run("[document.querySelector('.rejected').dataset.kind, document.querySelector('.rejected a').hash]"), ["warning", "#config"])
        page.until("the part's severity", f"{CONFIG_PART}?.querySelector('.mark').dataset.kind === 'warning'")
        equal(page.run("/refused/.test(document.body.innerText)"), False)
        # On the overview it is one line, above the problems.
        page.go(node.url + "#")
        page.until("a line", "document.querySelector('.rejected-line')")
        equal(page.text(".rejected-line").strip(), "Configuration rejected: config.json line\u00a02, diagnosis.warming_seconds is not a number. The previous one stays in use. Details")
        equal(page.run("[document.querySelector('.rejected-line').dataset.kind, document.querySelector('.rejected-line a').hash, document.querySelector('.rejected-line').offsetHeight < 40]"), ["warning", "#agent", True])
        equal(page.run("[...document.querySelectorAll('.agent-line')].filter((e) => /warming_seconds/.test(e.innerText)).length"), 0)
        silent(page, node.url)
        page.close()
        for change, kind in ((NOTHING_OFFERED, "critical"), (LAST_GOOD, "warning")):
            page = altered(node, change, "#agent")
            page.until(kind, f"document.querySelector('.rejected')?.dataset.kind === '{kind}' && {CONFIG_PART}?.querySelector('.mark').dataset.kind === '{kind}' && !document.querySelector('.findings')")
            equal(dict(page.run(BAND))["Error"], "Is not a number")
            page.close()
        page = altered(node, OTHER_FINDING, "#agent")
        has(page, "The certificate in use has expired")
        equal(page.run("document.querySelector('.rejected')"), None)
        page.close()
        page = altered(node, HELD, "#agent", width=400)
        page.until("a band", "document.querySelector('.rejected')")
        equal(page.text(".rejected h2").strip(), "Configuration change held")
        equal(page.run(BAND), [["Key", "pools"], ["Reason", "rocelet.dev/roce would lose all devices"], ["In force", "The previous configuration stays in use."]])
        equal(page.run("document.documentElement.scrollWidth <= innerWidth"), True)
        page.close()


UNJUDGED = """(path, document) => { const on = (device, cause, why) => ({device, port: 1, cause, why});
    if (path === 'agent') document.sources = [{name: 'sysfs', errors: 0, ageMs: 10}, ...(%s ? [{name: 'ethtool', errors: 0, ageMs: 10}] : [])];
    if (path === 'diagnosis') document.undecided = ['mlx5_0', 'mlx5_1', 'mlx5_2', 'mlx5_3', 'mlx5_4', 'mlx5_5'].flatMap((device) => [on(device, 'pause_storm_source', 'no pause time is visible'),
        on(device, 'pre_fec_errors', 'bits corrected by FEC are not counted'), on(device, 'one_path', 'flow labels of queue pairs are not visible (BPF reads them, with the overlay native)'),
        on(device, 'cnp_lost', 'no node can decide it alone: the alert RoceletCnpLost compares the sums of all nodes'), on(device, 'not_seen_before', 'a reason that is new')])
        .concat([on('mlx5_2', 'fabric_congestion', 'the link is not up, or was not in the whole sample')]); }"""
REASONS = "[...document.querySelectorAll('.reason')].map((r) => [r.querySelector('h3').innerText, r.querySelector('header .quiet').innerText, r.querySelector('summary').innerText])"


@check
def causes_not_judged_are_grouped_by_their_reason():
    """What can be done about it is one group: a source that is not read, programs that do not run, a driver without the counter. The words of each cause are below."""
    with PageNode() as node:
        node.judged(PF)
        page = altered(node, UNJUDGED % "false", "#agent")
        page.until("reasons", "document.querySelectorAll('.reason').length === 5")
        equal(page.run(REASONS), [["Driver statistics are not read", "2 causes", "Pause storm source, pre FEC errors"], ["BPF is switched off", "1 cause", "One path"], ["Judged by an alert", "1 cause", "CNP lost"],
                                  ["Missing counters or settings", "1 cause", "Not seen before"], ["No link, or too short a time", "1 cause on 1 port", "Fabric congestion"]])
        equal(page.run("[...document.querySelectorAll('.undecided li')].filter((li) => li.checkVisibility()).length"), 0)
        page.run("document.querySelector('.reason summary').click()")
        has(page, "Bits corrected by FEC are not counted")
        page.run("page.draw()")
        equal(page.run("document.querySelector('.reason details').open"), True)
        silent(page, node.url)
        page.close()
        # If the source is read, its driver lacks the counters.
        page = altered(node, UNJUDGED % "true", "#agent")
        page.until("reasons", "document.querySelectorAll('.reason').length === 4")
        equal(page.run(REASONS)[0][:2], ["Missing counters or settings", "3 causes"])
        page.close()


@check
def lists_use_their_room():
    """Every list is as wide as its panel, with the same margin at the right; no number is cut, and each is below its heading."""
    with PageNode() as node:
        kubelet, lister = hold(node, ("train", "job-7", VF_FUNCTION))
        node.story(PF).play(TRAFFIC)
        node.judged(PF)
        page = opened(node)
        inject_events(page, ["Older", 60])
        for width in (1440, 1200, 1024, 920):
            page.look(width, 900)
            for view in ("ports", "pods", "events"):
                page.run(f"location.hash = '#{view}'")
                page.until("rows", f"location.hash === '#{view}' && document.querySelector('table.list tbody tr[data-row]')")
                gap, fits = page.run(FILLS)
                assert abs(gap) <= 2 and fits, (width, view, gap, fits)
                equal((width, view, page.run(ALIGNED)), (width, view, [14, []]))
                if view != "events":
                    equal((width, view, page.run(CUT)), (width, view, [True, []]))
                elif width == 1440:
                    equal(page.run("(([th]) => th.offsetWidth >= 230)(document.querySelectorAll('.list thead .c-reason'))"), True)
                page.run("page.draw()")
        # On a narrow screen the chips scroll, and name and mark are in one line.
        page.look(400, 900)
        page.run("location.hash = '#ports'")
        page.until("chips", "document.querySelector('.chips .chip')")
        equal(page.run("[...document.querySelectorAll('.chips')].filter((c) => c.childElementCount > 0).every((c) => c.clientHeight < 44 && c.getBoundingClientRect().right <= innerWidth)"), True)
        page.run("location.hash = '#pods'")
        page.until("a pod", "document.querySelector('table.list .first .pod')")
        equal(page.run("((first) => Math.abs(first.firstChild.getBoundingClientRect().top - first.lastChild.getBoundingClientRect().top) < 15)(document.querySelector('table.list .first'))"), True)
        equal(page.run("document.documentElement.scrollWidth <= innerWidth"), True)
        page.run("location.hash = '#events'")
        page.until("its tab is in sight", "((box) => box.left >= 0 && box.right <= innerWidth)(document.querySelector('#views [aria-current]').getBoundingClientRect())")
        equal(page.run("/^\\d/.test(document.getElementById('state').dataset.short) && document.getElementById('state-text').offsetWidth <= 1"), True)
        silent(page, node.url)
        page.close()
        lister.stop()
        kubelet.stop()


@check
def dates_and_ages_are_beside_each_other():
    with PageNode() as node:
        node.judged(PF)
        page = opened(node, "#events", width=1440)
        page.until("live", LIVE)
        inject_events(page, ["Old", 3 * 86400], ["Yesterday", 23.9 * 3600])
        page.until("both", "document.querySelectorAll('table.list tbody tr[data-row]').length >= 2")
        equal(page.run("/^\\d\\d:\\d\\d:\\d\\d$/.test(clock(Date.now() - 23.9 * 3600e3)) && /^\\d\\d? [A-Z][a-z]{2}( \\d{4})? \\d\\d:\\d\\d$/.test(clock(Date.now() - 3 * 86400e3))"), True)
        equal(page.run("/ \\d{4} /.test(clock(Date.now() - 400 * 86400e3))"), True)
        over = "[...document.querySelectorAll('table.list .c-time .first')].filter((d) => d.children[0].getBoundingClientRect().right > d.children[1].getBoundingClientRect().left || d.children[1].scrollWidth > d.children[1].clientWidth + 1).map((d) => d.innerText)"
        equal(page.run(over), [])
        # Cut text can be read by keyboard.
        page.run("document.querySelector('table.list .message').focus()")
        equal(page.run("document.getElementById('tip').hidden === false && document.getElementById('tip').innerText"), "m")
        silent(page, node.url)
        page.close()


PORTS_OF_A_POD = """(() => { const of = (kinds, name) => podPorts({devices: [], ports: kinds.map((kind, i) => ({key: `${name}${i}/1`, facts: {device: `${name}${i}`, port: 1}, state: {kind, text: kind}}))}).flat().filter(Boolean).map((e) => e.innerText || e.textContent);
    return [of(['ok', 'ok', 'ok', 'ok', 'warning', 'ok', 'ok', 'unknown'], 'mlx5_'), of(['ok', 'ok', 'ok', 'critical', 'ok'], 'rocep24s0_'), of(Array(12).fill('ok'), 'mlx5_').at(-1)]; })()"""


@check
def a_pods_worst_port_comes_first():
    with PageNode() as node:
        node.judged(PF)
        page = opened(node, "#pods")
        page.look(1440, 900)
        equal(page.run(PORTS_OF_A_POD), [["4", "7", "0", "1", "2", "+3"], ["rocep24s0_3", "rocep24s0_0", "+3"], "+7"])
        # A slot of a shared device shows the device's ports, and is no problem of the pod.
        equal(page.run("Model.prototype.slotState({devices: [{}], sharedPorts: [{state: {kind: 'ok'}}, {state: {kind: 'critical', text: 'Link flap', why: 'x'}}]})"), {"kind": "info", "text": "Shares a port with link flap", "why": "A port that it shares: x", "isShared": True})
        equal(page.run("Model.prototype.slotState({devices: [{}], sharedPorts: []}).kind"), "idle")
        equal(page.run("[['ok', 'held'], ['idle', 'free'], ['critical', 'held'], ['unhealthy', 'free']].map(([kind, state]) => [deviceRank({kind, r: {state, healthy: true}}), kind]).sort(([a], [b]) => a - b).map(([, kind]) => kind)"), ["critical", "unhealthy", "ok", "idle"])
        # The mark of a filter is that of the worst row it shows.
        equal(page.run("new ListView(page, {title: 'x', columns: [{id: 'a'}], keyOf: () => ''}).chips('show', [{value: 'problems', label: 'Problems', kind: 'worst', test: isProblem}], [{state: {kind: 'ok'}}, {state: {kind: 'warning'}}]).querySelector('.mark').dataset.kind"), "warning")
        # Filled with the colour of its state, which is also in its label.
        equal(page.run("""((tag) => { document.querySelector('main').append(tag); const style = getComputedStyle(tag), found = [style.backgroundColor !== 'rgba(0, 0, 0, 0)', tag.getAttribute('aria-label')]; tag.remove(); return found; })
            (podPorts({devices: [], ports: [{key: 'mlx5_4/1', facts: {device: 'mlx5_4', port: 1}, state: {kind: 'warning', text: 'Packet loss'}}]}).flat().filter(Boolean)[0])"""), [True, "mlx5_4/1: Packet loss"])
        silent(page, node.url)
        page.close()


# --- charts -------------------------------------------------------------------------------------------

RECEIVED = "Number(document.querySelector('.legend strong')?.innerText)"
CHART = "page.view.history.all()[0]"


@check
def charts_name_their_content():
    with PageNode() as node:
        story = node.story(PF)
        node.judged(PF)
        page = opened(node, "#port/mlx5_0/1")
        page.until("a chart", "document.querySelector('.plot canvas')")
        before = page.run("Math.floor(page.nowSeconds())")
        page.until("later", f"page.nowSeconds() > {before} + 2")
        story.play(TRAFFIC)
        page.until("traffic", f"{RECEIVED} > 20")
        # On a scale that has its link's line in it.
        equal(page.run("document.querySelector('.chart h3').innerText"), "Throughput of PF and VFs Gbit/s")
        page.until("the link", f"{CHART}.plot.scales.y.max >= page.model.portByKey.get('mlx5_0/1').facts.rateBitsPerSecond / 1e9")
        page.until("the PF alone", "/PF itself\\s+3\\d\\.\\d.Gbit.s in, 3\\d\\.\\d.Gbit.s out/.test(document.querySelector('.cards').innerText)")
        # Values by keyboard, read out.
        page.run("document.querySelector('.plot').focus()")
        page.key("ArrowLeft", "ArrowLeft", 37)
        page.until("at the cursor", "/^\\d\\d:\\d\\d:\\d\\d: Received \\d.*, Sent \\d/.test(document.getElementById('announcer').innerText)")
        equal(page.run("document.body.innerText.includes('(not live)')"), False)
        page.run("document.activeElement.blur()")
        equal(page.run(f"{CHART}.cursor"), None)
        # A time in the past: its last numbers, not the current ones; and its place in the 15 minutes.
        page.run(f"location.hash = '#port/mlx5_0/1?from={before - 20}&to={before}'")
        has(page, "(not live)")
        page.until("the numbers of that time", f"{RECEIVED} === 0")
        page.until("in words, too", "document.querySelector('.plot canvas').getAttribute('aria-label').includes('Received: at the end 0')")
        equal(page.run("((shade) => shade.width > 0 && shade.width < document.querySelector('.strip').clientWidth / 2)(document.querySelector('.strip .shade').getBoundingClientRect())"), True)
        silent(page, node.url)
        page.close()


@check
def a_pods_charts_can_be_compared():
    """On one scale, each with its own port's events; and the pod's queue pairs are shown."""
    with PageNode() as node:
        node.judged(VF)
        other = next(function for function in healthy(node) if function != VF_FUNCTION)
        kubelet, lister = hold(node, ("train", "job-7", VF_FUNCTION), ("train", "job-7", other))
        node.story(VF).play(TRAFFIC)
        page = opened(node, "#pod/train/job-7")
        page.until("charts of both", "page.view.history?.all().filter((chart) => chart.plot).length >= 4")
        page.run("page.view.history.specs.forEach((spec) => { if (spec.line) spec.line = false; })")
        page.until("one scale", "((tops) => tops.length === 2 && tops[0] === tops[1] && tops[0] > 20)(page.view.history.all().filter((chart) => chart.spec.unit === 'bits').map((chart) => chart.plot.scales.y.max))")
        equal(page.run("""((panel, [a, b]) => { panel.events = [{device: a.facts.function}, {device: a.facts.device}, {device: b.facts.device}, {device: null}]; return [panel.eventsOn(a).length, panel.eventsOn(b).length]; })
            (page.view.history, page.view.history.ports)"""), [3, 2])
        page.until("queue pairs", "[...document.querySelectorAll('main .panel h2')].some((h) => h.innerText === 'Queue pairs')")
        eventually("its own", lambda: any("/api/v1/qps?pod=train%2Fjob-7" in address for _, address in page.requests))
        silent(page, node.url)
        page.close()
        lister.stop()
        kubelet.stop()


# --- words, search, rows ------------------------------------------------------------------------------

PFC = "[[[], [3]], [[3], []], [[3], [3]], [[], null]].map(([pfc, peerPfc]) => ((e) => (e.textContent === undefined ? [e, null] : [e.textContent, e.dataset.kind]))(PortView.prototype.pfcText({pfc, peerPfc})))"
PCIE = "[[8, 32000], [16, 16000], [16, 32000]].map(([width, speed]) => PortView.prototype.pcieText({pcie: {width, maxWidth: 16, speed, maxSpeed: 32000}}, false)[0].textContent)"
IDLE = """Model.prototype.portState.call(Object.assign(Object.create(Model.prototype), {store: {timeMs: 1}, dead: false, isCut: false, verdicts: []}),
    {verdicts: [], troubles: [], now: {}, device: {resources: [], attachment: {state: 'returning'}}, facts: {kind: 'vf', pod: null, state: 'down', watch: 'down'}}).text"""


@check
def a_port_in_words():
    with PageNode() as node:
        node.judged(PF)
        page = opened(node, "#port/mlx5_0/1")
        has(page, "Judged, watched for ")
        equal(page.run("document.querySelector('.cards').innerText.includes(', Ethernet')"), True)
        equal(page.run(PFC), [["Off here, on for 3 at the peer", "warning"], ["On for 3 here, off at the peer", "warning"], ["On for priority 3", None], ["Off", None]])
        equal(page.run(PCIE), ["x8 of x16, 32 GT/s", "x16, 16 of 32 GT/s", "x16, 32 GT/s"])
        equal(page.run(IDLE), "Returning")
        equal(page.run("queuePairState({failure: 'transport retries exceeded'}).text"), "Transport retries exceeded")
        # An unused port does not match the filter "down".
        equal(page.run("['idle', 'unknown'].map((kind) => portFilters(page.model).show.find((f) => f.value === 'down').test({facts: {state: 'down'}, state: {kind}}))"), [False, True])
        equal(page.run("make('p', {}, withCode('run `a <b>` now')).innerHTML"), "run <code>a &lt;b&gt;</code> now")
        silent(page, node.url)
        page.close()


@check
def search_finds_what_was_typed():
    with PageNode() as node:
        kubelet, lister = hold(node, ("train", "job-7", VF_FUNCTION))
        node.story(PF).play(TRAFFIC, LOSS)
        eventually("a verdict", lambda: node.verdict(PF, "packet_loss"))
        page = opened(node)
        page.until("all documents", "page.model.pods?.length === 1 && page.model.portByKey.get('mlx5_2/1').facts.pod")
        page.key("/", "Slash", 191, "/")
        found = "[...document.querySelectorAll('[role=option]')].map((li) => [li.querySelector('strong').textContent, li.querySelector('small').innerText])"
        page.until("problems first", f"((list) => list[0][1] === 'Problem' && list.at(-1)[1] === 'View' && list.find(([, is]) => is === 'View')[0] === 'Overview')({found})")
        page.call("Input.insertText", text="job-7")
        page.until("the pod, then its port", f"JSON.stringify({found}.slice(0, 2)) === JSON.stringify([['train/job-7', 'Pod'], ['mlx5_2/1', 'Port']])")
        # Also by problem, in words that are not adjacent.
        page.run("page.search.input.value = 'lost mlx5_0'; page.search.find()")
        page.until("the problem and its port", f"JSON.stringify({found}.map(([, is]) => is).slice(0, 2).sort()) === JSON.stringify(['Port', 'Problem'])")
        page.key("Escape", "Escape", 27)
        equal(page.run("document.getElementById('search-dialog').open"), False)
        page.until("the focus is back", "document.activeElement === document.body")
        page.key("?", "Slash", 191, "?")
        page.until("one key for each", "['k', 'Ctrl-K', '↑'].every((key) => [...document.querySelectorAll('#keys-dialog kbd')].some((kbd) => kbd.innerText === key))")
        page.key("Escape", "Escape", 27)
        # A click anywhere on a row opens it.
        page.go(node.url + "#ports")
        page.until("rows", "document.querySelector('table.list tbody tr[data-row] .c-loss')")
        page.run("[...document.querySelectorAll('table.list tbody tr[data-row]')].find((tr) => tr.innerText.startsWith('mlx5_1/1')).querySelector('.c-loss').click()")
        page.until("the port", "location.hash === '#port/mlx5_1/1'")
        silent(page, node.url)
        page.close()
        page = run.browser.page(node.url + "docs/runbook.md")
        equal(page.run("[document.querySelector('.home').innerText, getComputedStyle(document.querySelector('blockquote p'), '::first-letter').textTransform]"), [json.loads(node.get("/api/v1/live"))["node"], "uppercase"])
        page.close()
        lister.stop()
        kubelet.stop()


@check
def a_sorted_heading_stays_as_it_is():
    """Its arrow takes no line of its own, and it does not leave its column."""
    with PageNode() as node:
        node.judged(PF)
        for width in (1440, 1024):
            page = opened(node, "#ports", width=width)
            page.until("a list", "document.querySelector('table.list tbody tr')")
            height = page.run("document.querySelector('.list thead tr').offsetHeight")
            for column in ("bytes_received", "pause_received", "again", "ce_share"):
                page.run(f"page.ask({{sort: '-{column}'}})")
                page.until("sorted", f"document.querySelector('th.c-{column}')?.getAttribute('aria-sort') === 'descending'")
                equal((width, column, page.run("document.querySelector('.list thead tr').offsetHeight")), (width, column, height))
                equal(page.run("[...document.querySelectorAll('.list thead th')].filter((th) => th.offsetWidth > 0 && th.firstChild.offsetWidth > th.clientWidth + 1).map((th) => th.innerText)"), [])
            page.close()


LONG_PODS = """(path, document) => { if (path === 'pods') for (const pod of document.pods) pod.name = 'llama3-70b-sft-worker-4-' + pod.name; }"""


@check
def a_pods_name_has_room():
    with PodNode() as node:
        node.judged(PF)
        for width in (1440, 1024):
            page = altered(node, LONG_PODS, "#pods", width=width)
            page.until("its row", "document.querySelector('tbody th.c-pod-name .cut')")
            inner, cell = page.run("[document.querySelector('tbody th.c-pod-name .cut > span:last-child').getBoundingClientRect().right, document.querySelector('tbody th.c-pod-name').getBoundingClientRect().right]")
            assert inner <= cell, (width, inner, cell)
            room = page.run("document.querySelector('tbody th.c-pod-name').offsetWidth")
            assert room >= 240, (width, room)
            page.close()


@check
def a_column_that_no_row_has_takes_no_room():
    with PodNode() as node:
        node.judged(PF)
        page = opened(node, "#pods")
        page.until("its row", "document.querySelector('tbody th.c-pod-name')")
        equal(page.run("document.querySelector('.list .c-age')"), None)
        page.close()
        page = altered(node, "(path, document) => { if (path === 'pods') for (const pod of document.pods) pod.containers[0].devices[0].attachment = {state: 'in_pod', since: new Date().toISOString(), drift: [], error: null, ips: [], interface: 'net1'}; }", "#pods")
        page.until("the column", "document.querySelector('.list thead .c-age') && /\\d s/.test(document.querySelector('.list tbody .c-age').innerText)")
        page.close()


NAMED = """(path, document) => { if (path === 'live') {
    for (const v of document.verdicts ?? []) Object.assign(v, {podCount: 4, pods: [{namespace: 'train', name: 'llama3-70b-sft-worker-4'}]});
    document.events.events = ['fabric_congestion is now critical; x: 1', 'packet_loss, warning: packets are lost', 'fabric_congestion, warning: y'].map((text, i) => ({type: 'Warning', reason: i ? 'DiagnosisOnset' : 'DiagnosisWorse', namespace: 'train', pod: 'llama3-70b-sft-worker-4', device: '0000:18:00.0', message: `mlx5_0 port 1: ${text}`, count: 1, first: document.time, last: document.time})); } }"""
COLLIDE = """(() => { const boxes = [...document.querySelectorAll('.problem-pods *')].filter((e) => !e.querySelector('*') && e.offsetWidth > 0).map((e) => e.getBoundingClientRect()), end = document.querySelector('.problem-what').getBoundingClientRect().right;
    return boxes.some((a, i) => a.right > end + 1 || boxes.slice(i + 1).some((b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1)); })()"""
VERBS_CUT = "[...document.querySelectorAll('td.c-reason .state')].filter((e) => e.getBoundingClientRect().right > e.closest('td').getBoundingClientRect().right + 1 || e.closest('td').scrollWidth > e.closest('td').clientWidth + 1).map((e) => e.innerText)"


@check
def what_happened_is_not_cut():
    """The names of pods in a problem do not lie over each other, and a title of an event keeps its verb, at any width."""
    with PageNode() as node:
        node.story(PF).play(TRAFFIC, LOSS)
        eventually("a verdict", lambda: node.verdict(PF, "packet_loss"))
        page = altered(node, NAMED)
        page.until("its pods", "document.querySelector('.problem-pods')")
        found = []
        for width in (1440, 1180, 1024, 900, 759, 720, 700, 400, 320):
            page.look(width, 900)
            page.until("drawn", f"innerWidth === {width} && document.querySelector('.problem-pods')")
            found.append((width, page.run(COLLIDE)))
        equal([width for width, collides in found if collides], [])
        page.run("location.hash = '#events'")
        page.until("rows", "document.querySelectorAll('td.c-reason').length >= 3")
        found = []
        for width in (1440, 1320, 1180, 1024, 960, 900):
            page.look(width, 900)
            page.until("drawn", f"innerWidth === {width}")
            found += [(width, text) for text in page.run(VERBS_CUT)] + ([] if page.run("document.documentElement.scrollWidth <= innerWidth") else [(width, "wide")])
        equal(found, [])
        page.close()


LONG = """(path, document) => { if (path === 'ports') for (const p of document.ports) if (p.kind === 'vf') Object.assign(p, {namespace: 'ml-platform-serving', pod: 'vllm-deepseek-r1-7d5fc8d9b6-q4z7m'});
    if (path === 'live') document.events.events = [{type: 'Warning', reason: 'AttachFailed', namespace: 'ml-platform-serving', pod: 'vllm-deepseek-r1-7d5fc8d9b6-q4z7m', device: '0000:18:00.1', message: 'x', count: 1, first: document.time, last: document.time}]; }"""
ENDS_CUT = """[...document.querySelectorAll('table.list td .name.pod')].filter((e) => e.offsetWidth > 0).filter((e) => { const end = e.querySelector('.cut > span:last-child'), cell = e.closest('td').getBoundingClientRect();
    return end.getBoundingClientRect().right > Math.min(cell.right, e.getBoundingClientRect().right) + 1; }).length"""


@check
def the_end_of_a_pods_name_is_not_cut_off():
    """Siblings differ there: what does not fit is shortened before it, or has an ellipsis."""
    with PageNode() as node:
        node.judged(VF)
        page = altered(node, LONG, "#ports")
        found = []
        for place in ("ports", "events"):
            page.run(f"location.hash = '#{place}'")
            page.until(place, f"page.path === '{place}' && document.querySelector('table.list td .name.pod')")
            for width in (1440, 1320, 1180, 1024, 900):
                page.look(width, 900)
                page.until("drawn", f"innerWidth === {width}")
                found += [(place, width)] if page.run(ENDS_CUT) else []
        equal(found, [])
        page.close()
