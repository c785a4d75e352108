# SPDX-License-Identifier: Apache-2.0
"""Unknown or outdated state is not shown as well; and one fact has one name, one colour and one time."""
import os
import re

from diagnosis_python import PF, TRAFFIC, VF
from kubelet_python import eventually, equal
from page_node import LIVE, LOSS, PageNode, altered, check, has, opened, silent
from page_overview import PodNode

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")

ENDED_AS = """(path, document) => { if (path === 'live') {
    document.ended = (document.verdicts ?? []).map((v) => ({...v, ended: document.time ?? new Date().toISOString(), endedMs: document.timeMs, endedAs: '%s'}));
    document.verdicts = []; document.verdictCount = document.problemCount = 0; } }"""


@check
def a_verdict_whose_counters_were_lost_has_not_ended():
    with PageNode() as node:
        node.story(PF).play(TRAFFIC, LOSS)
        eventually("a verdict", lambda: node.verdict(PF, "packet_loss"))
        for ended_as, words, mark in (("cleared", "Ended ", "ended"), ("unseen", "Counters lost ", "unknown"), ("gone", "Port removed ", "unknown")):
            page = altered(node, ENDED_AS % ended_as)
            page.until("its row", "document.querySelector('.problem-when strong')")
            equal((page.text(".problem-when strong").startswith(words), page.run("document.querySelector('.problem-head .mark').dataset.kind")), (True, mark))
            page.run("document.querySelector('.verdict h3 button').click()")
            page.until("unfolded", "document.querySelector('.problem-body')")
            silent(page, node.url)
            page.close()


COUNTS = """((readings, startedMs) => { const counts = new AgentCounts();
    for (const [at, samples, skipped, errors] of readings) counts.take({samples, samplesSkipped: skipped, sources: [{name: 'sysfs', errors}]}, at, 0, startedMs);
    return [isSlow(counts.sampling()), counts.newErrors('sysfs')]; })(%s)"""
READINGS = (  # [when, samples, skipped, errors], rocelet's start; expected: is it slow, new errors
    ("[[60e3, 69, 156, 26]], 0", [True, 26]),
    ("[[60e3, 100, 5, 0]], 0", [False, 0]),
    ("[[9e8, 1000, 5, 26], [9e8 + 5e3, 1010, 5, 26]], 0", [False, 0]),
    # Samples skipped long ago do not count, nor those of another process.
    ("[[9e8, 100, 900, 26], [9e8 + 5e3, 110, 900, 26], [9e8 + 5e5, 900, 901, 26], [9e8 + 6e5, 1000, 902, 28]], 0", [False, 2]),
    ("[[60e3, 69, 156, 26], [65e3, 5, 0, 0]], 63e3", [False, 0]),
)


@check
def an_agent_that_skips_samples_is_not_green():
    with PageNode() as node:
        node.judged(PF)
        page = altered(node, "(path, document) => { if (path === 'agent') { document.samples = 60; document.samplesSkipped = 140; document.sources.forEach((s) => { s.errors = 26; }); } }", "#agent")
        part = "[...document.querySelectorAll('.parts li')].find((li) => li.innerText.startsWith('%s'))"
        page.until("sampling", f"{part % 'Sampling'}?.querySelector('.mark').dataset.kind === 'warning' && {part % 'Sampling'}.innerText.includes('70 % skipped lately')")
        page.until("a source", f"{part % 'Source'}.querySelector('.mark').dataset.kind !== 'ok' && {part % 'Source'}.innerText.includes('26 of them lately')")
        assert " on average, " in page.text(".view-head"), page.text(".view-head")
        equal([page.run(COUNTS % readings) for readings, _ in READINGS], [expected for _, expected in READINGS])
        silent(page, node.url)
        page.close()


@check
def a_failed_request_has_our_message():
    with PageNode() as node:
        node.judged(PF)
        page = opened(node)
        node.hang()
        equal(page.run("ask('api/v1/agent', {}, 200).catch((error) => error.message)"), "rocelet did not answer within 0.2 s. Trying again.")
        node.wake()
        page.until("live again", LIVE)
        message = page.run("(() => { const real = window.fetch; window.fetch = async () => { throw new TypeError('Failed to fetch'); };"
                        " return ask('x').catch((error) => error.message).finally(() => { window.fetch = real; }); })()")
        equal(message, "rocelet does not answer. Trying again.")
        page.close()


UNDECIDED = """(path, document) => { if (path === 'diagnosis') { const ports = page.model.ports.filter((p) => p.facts.watch === 'judged').map((p) => p.facts);
    document.undecided = [...ports.map(({device, port}) => ({device, port, cause: 'pause_storm', why: 'no pause time'})), {device: ports[0].device, port: ports[0].port, cause: 'pfc_mismatch', why: 'no settings'}]; } }"""


@check
def causes_of_no_port_are_counted_apart():
    with PageNode() as node:
        node.judged(PF)
        page = altered(node, "(path, document) => { if (path === 'diagnosis' && window.change) window.change(path, document); }")
        page.until("all is well", "document.querySelector('.headline .mark').dataset.kind === 'ok' && page.model.documents.diagnosis")
        page.run(f"window.change = {UNDECIDED}; page.documents.changed(null); page.show()")
        has(page, "1 cause is judged on no port, 1 more on some ports only")
        equal(page.run("document.querySelector('.headline p').innerText"), "Each was judged with the newest sample.")
        silent(page, node.url)
        page.close()


@check
def an_outage_has_one_moment():
    with PageNode() as node:
        node.story(PF).play(TRAFFIC, LOSS)
        eventually("a verdict", lambda: node.verdict(PF, "packet_loss"))
        page = opened(node)
        node.hang()
        page.until("old", "document.body.dataset.old === 'yes' && document.querySelector('h1').innerText.startsWith('State unknown since ')")
        moments = page.run("[document.querySelector('h1'), document.getElementById('banner')].map((e) => /since (\\d\\d:\\d\\d:\\d\\d)/.exec(e.innerText)?.[1])")
        equal(moments[0], moments[1])
        # The reason is in the banner only.
        equal("answer" in page.text(".headline"), False)
        node.wake()
        page.until("live again", LIVE)
        page.close()


HOT = """(path, document) => { if (path === 'live') for (const v of document.verdicts ?? []) {
    v.cause = 'fabric_congestion'; v.evidence = [{name: 'share of packets that arrive marked CE', value: 0.05, unit: 'ratio', threshold: 0.01}]; v.firstSignal = 'cnp_sent'; } }"""


@check
def colour_and_chart_are_of_the_number_over_its_limit():
    with PageNode() as node:
        node.story(PF).play(TRAFFIC, LOSS)
        eventually("a verdict", lambda: node.verdict(PF, "packet_loss"))
        page = opened(node)
        # NAKs are over their limit, and packets are lost: retransmissions and losses have the colour; nothing else has.
        page.until("hot", "document.querySelector('.rails .c-again [data-hot]') && document.querySelector('.rails .c-loss [data-hot]') && !document.querySelector('.rails .c-ce_share [data-hot]')")
        page.close()
        page = altered(node, HOT)
        page.until("a problem, and its port", "document.querySelector('.verdict h3 button') && page.model.portByKey.get('mlx5_0/1')")
        equal(page.run("[page.model.isHot(page.model.portByKey.get('mlx5_0/1'), 'ce_share') !== null, page.model.isHot(page.model.portByKey.get('mlx5_0/1'), 'loss')]"), [True, None])
        page.run("document.querySelector('.verdict h3 button').click()")
        page.until("its chart", "document.querySelector('.problem-body .chart h3')?.innerText.startsWith('CE')")
        silent(page, node.url)
        page.close()


SHARED = """(() => { const worst = (state) => Model.prototype.slotState.call({}, {devices: [{}], sharedPorts: [{state}]});
    return [worst({kind: 'critical', text: 'Packet loss', why: 'x'}), worst({kind: 'warning', text: 'PFC mismatch', why: 'x'}), worst({kind: 'ok'})].map(({kind, text}) => [kind, text]); })()"""


OF_PF = """(path, document) => { if (path === 'live') for (const v of document.verdicts ?? []) if (v.device === 'mlx5_0') Object.assign(v, {pods: [{namespace: 'train', name: 'job-7'}], podCount: 1}); }"""


@check
def a_pods_state_names_its_port():
    with PodNode() as node:
        node.story(PF).play(TRAFFIC, LOSS)
        eventually("a verdict", lambda: node.verdict(PF, "packet_loss"))
        page = opened(node)
        equal(page.run(SHARED), [["info", "Shares a port with packet loss"], ["info", "Shares a port with PFC mismatch"], ["ok", "No problem found"]])
        cell = page.run("""((cell) => [cell.textContent, cell.querySelector('a').hash])(make('p', {}, podStateCell({state: {kind: 'warning', text: 'Fabric congestion', why: '', at: {device: 'mlx5_6', port: 1}, more: 1}})))""")
        equal(cell, ["Fabric congestionmlx5_6 +1", "#port/mlx5_6/1"])
        page.close()
        # A problem of the PF is that of the pod's VF, in its colour: an outline, because the VF has none.
        page = altered(node, OF_PF, "#pods")
        page.until("its port", "document.querySelector('.list .tag[data-of=pf]')?.getAttribute('aria-label') === 'mlx5_2/1: Packet loss (PF)'")
        equal(page.run("((style) => [style.backgroundColor, style.borderBottomWidth])(getComputedStyle(document.querySelector('.list .tag[data-of=pf]')))"), ["rgba(0, 0, 0, 0)", "3px"])
        page.go(node.url + "#pod/train/job-7")
        page.until("its state", "document.querySelector('.list .c-state .state')?.innerText === 'Packet loss (PF)' && document.querySelector('.list .c-state .state').dataset.kind === document.querySelector('.list .c-name .mark').dataset.kind")
        equal(page.run("document.querySelector('.list .c-name .mark').dataset.kind"), "critical")
        silent(page, node.url)
        page.close()


@check
def a_tab_in_the_address_is_seen():
    with PageNode() as node:
        node.story(PF).play(TRAFFIC)
        node.judged(PF)
        page = opened(node, "#port/mlx5_0/1?tab=counters", width=1440, height=700)
        page.until("in sight", "document.querySelector('.plot canvas') && ((top) => top >= 0 && top < innerHeight - 60)(document.getElementById('tab-panel').getBoundingClientRect().top)")
        page.close()


@check
def events_do_not_repeat_the_problems():
    with PageNode() as node:
        for device in (PF, VF):
            node.story(device).play(TRAFFIC, LOSS)
        for device in (PF, VF):
            eventually("a verdict", lambda device=device: node.verdict(device, "packet_loss"))
        page = opened(node)
        page.until("the problems", "document.querySelector('.problem')")
        page.until("the events", "page.store.events.some((e) => e.reason === 'DiagnosisOnset')")
        page.until("not twice", "[...document.querySelectorAll('.event-lines .state')].every((e) => e.innerText !== 'Packet loss found')")
        # Nor that one became worse, or what was after its end.
        equal(page.run("""['DiagnosisOnset', 'DiagnosisWorse', 'DiagnosisEnd'].map((reason) => isOpenOnset(page.model, {...page.store.events.find((e) => e.reason === 'DiagnosisOnset' && e.message.includes('packet_loss')), reason}))"""), [True, True, False])
        kinds = page.run("page.store.events.filter((e) => e.reason === 'DiagnosisOnset' && e.message.includes('packet_loss')).map((e) => [eventKind(e), eventTitle(e)])")
        equal(set(map(tuple, kinds)), {("critical", "Packet loss found")})
        page.close()


BELOW = "((value, threshold, cause) => isBeyond({cause}, {value, threshold}))(%s)"
FLAP = """(path, document) => { if (path === 'live') for (const v of document.verdicts ?? []) {
    v.cause = 'link_flap'; v.evidence = [{name: 'link down for', value: %d, unit: 's', threshold: 240}]; } }"""


@check
def a_number_is_red_while_its_problem_is_open():
    """Also one that is below its limit now, which the text beside it says."""
    with PageNode() as node:
        node.story(PF).play(TRAFFIC, LOSS)
        eventually("a verdict", lambda: node.verdict(PF, "packet_loss"))
        for seconds in (34, 300):
            page = altered(node, FLAP % seconds)
            page.until("its number", "document.querySelector('.much')?.innerText.length > 0")
            equal(page.run("document.querySelector('.much').dataset.hot"), "critical")
            page.close()
        page = opened(node)
        equal([page.run(BELOW % case) for case in ("5, 10, 'link_flap'", "3, null, 'link_flap'", "0.5, 0.9, 'link_degraded'", "0.95, 0.9, 'link_degraded'", "1, 0, 'nic_fault'")], [False, True, True, False, True])
        # The causes whose number is below its limit are those of the daemon.
        with open(TOP + "/daemon/diagnosis/cause_table.c", encoding="utf-8") as f:
            rows = re.split(r"\[CAUSE_(\w+)\] =", f.read())
        less = {name.lower() for name, row in zip(rows[1::2], rows[2::2]) if ".less_is_worse = true" in row}
        equal(set(page.run("[...LESS_IS_WORSE]")), less)
        page.close()


SAID = (  # the end of a verdict's event; expected: what changed, and the rest
    ("port_off is now explained by another cause; pods: train/llm-1", ["now explained by another cause", "train/llm-1"]),
    ("port_off is now explained by link_flap of mlx5_0, lasted 9 s; pods: train/llm-1", ["now explained by link down", "Lasted 9 s; pods: train/llm-1"]),
    ("port_off is absorbed by link_flap; pods: train/llm-1", ["now explained by link down", "train/llm-1"]),
    ("port_off is over, lasted 72 s; pods: train/llm-1", ["ended", "Lasted 72 s; pods: train/llm-1"]),
    ("port_off is over, the port was removed, lasted 72 s", ["closed: port removed", "Lasted 72 s"]),
    ("port_off is closed, its counters are no longer visible, lasted 72 s", ["closed: counters lost", "Lasted 72 s"]))
SAYS = """((e) => [verdictChange(e), verdictDetail(e)])({reason: 'DiagnosisEnd', device: '0000:18:00.2', message: 'mlx5_4 port 1: %s'})"""


@check
def what_another_cause_explains_has_not_ended():
    """In the recent events; and pods have their names as they are."""
    with PageNode() as node:
        node.judged(PF)
        page = opened(node)
        equal([page.run(SAYS % text) for text, _ in SAID], [expected for _, expected in SAID])
        equal(page.run("""((e) => [verdictChange(e), verdictDetail(e)])({reason: 'DiagnosisOnset', device: null, message: 'mlx5_4 port 1: port_off, warning: the port is down; pods: train/llm-1'})"""), ["found", "The port is down; pods: train/llm-1"])
        equal(page.run("""((e) => [verdictChange(e), verdictDetail(e), eventKind(e)])({reason: 'DiagnosisWorse', device: null, message: 'mlx5_0 port 1: link_flap is now critical; link down for: 8 s; pods: train/llm-1'})"""), ["is now critical", "Link down for: 8 s; pods: train/llm-1", "critical"])
        equal(page.run("endOf({endedAs: 'explained'}).said"), "explained by another problem")
        silent(page, node.url)
        page.close()


@check
def the_card_of_events_names_what_it_omits():
    with PageNode() as node:
        node.story(PF).play(TRAFFIC)
        node.judged(PF)
        title = "document.getElementById(document.querySelector('.event-lines, .panel a[href=\"#events\"]').closest('.panel').getAttribute('aria-labelledby')).innerText"
        page = opened(node)
        equal(page.run(title), "Recent events")
        node.story(PF).play(TRAFFIC, LOSS)
        eventually("a verdict", lambda: node.verdict(PF, "packet_loss"))
        page.until("a problem is listed beside it", f"document.querySelector('.problem') && {title} === 'Other recent events'")
        silent(page, node.url)
        page.close()


NO_PAUSE = """(path, document) => { if (path === 'diagnosis') document.undecided = [{device: '%s', port: 1, cause: 'pause_storm', why: 'pause time is not visible'}];
    if (path === 'live') { const at = document.signals.indexOf('pause_sent') + 2; for (const row of document.rows) for (const p of row.ports) if (p[0] === '%s') p[at] = %s; } }"""
MISSING = "page.model.missing(page.model.portByKey.get('%s/1'), 'pause_sent')[1]"


@check
def what_is_not_visible_is_not_said_to_be_uncounted():
    with PageNode() as node:
        node.judged(PF)
        page = altered(node, NO_PAUSE % (PF, PF, "null"))
        page.until("the reason", f"page.model.documents.diagnosis && {MISSING % PF} === 'Pause time is not visible'")
        equal(page.run(MISSING % VF), "Not counted on VFs, and not visible on the PF mlx5_0/1")
        page.close()
        page = altered(node, NO_PAUSE % (PF, PF, "0.01"))
        page.until("the PF has it", f"{MISSING % VF} === 'Not counted on VFs; the PF counts it: mlx5_0/1'")
        silent(page, node.url)
        page.close()


DOWN = """(path, document) => { if (path === 'ports') for (const p of document.ports) if ([%s].includes(p.device))
    Object.assign(p, {state: 'down', watch: 'down', troubles: [{kind: 'device', word: 'link_down', severity: 'warning', level: 2, ofPf: false, since: null, orEarlier: false, what: 'no carrier', help: ''}],
        namespace: 'train', pod: p.device === '%s' ? 'job-7' : p.pod}); }"""


@check
def a_vf_is_down_by_its_pfs_problem():
    """Its state is that of the PF's verdict, and it is not listed as without one; if it is down alone, it is."""
    with PageNode() as node:
        node.story(PF).play(TRAFFIC, LOSS)
        eventually("a verdict", lambda: node.verdict(PF, "packet_loss"))
        severity = node.verdict(PF, "packet_loss")["severity"]
        state = f"page.model.portByKey.get('{VF}/1')?.state"
        for down, kind, listed in ((f"'{PF}', '{VF}'", severity, False), (f"'{VF}'", "warning", True)):
            page = altered(node, DOWN % (down, VF))
            page.until("its state", f"{state}?.kind === '{kind}' && document.querySelector('.problem')")
            equal(page.run("document.querySelector('.blind') !== null"), listed)
            if listed:  # the headline's line has the name of the section, and leads to it
                equal(page.run("[document.querySelector('.headline p button').innerText, document.getElementById('blind-title').innerText]"), 2 * ["1 port of a pod is down"])
                page.run("document.querySelector('.headline p button').click()")
                equal(page.run("[document.activeElement.id, location.hash]"), ["blind-title", ""])
            silent(page, node.url)
            page.close()


OTHER_MOST = """(path, document) => { if (path === 'live') { const at = document.signals.indexOf('ce_share') + 2;
    for (const row of document.rows) for (const p of row.ports) p[at] = p[0] === 'mlx5_1' ? 0.3 : p[0] === 'mlx5_0' ? 0.05 : p[at];
    for (const v of document.verdicts ?? []) v.evidence = [{name: 'share of packets that arrive marked CE', value: 0.05, unit: 'ratio', threshold: 0.01}]; } }"""
CE_FIGURE = "[...document.querySelectorAll('.figure')].find((f) => f.innerText.startsWith('CE marked'))"


@check
def the_colour_of_a_figure_is_its_ports():
    """A share has the colour of a problem only with the number and the name of the port that has the problem."""
    with PageNode() as node:
        node.story(PF).play(TRAFFIC, LOSS)
        eventually("a verdict", lambda: node.verdict(PF, "packet_loss"))
        page = altered(node, OTHER_MOST)
        page.until("its port", f"{CE_FIGURE}?.querySelector('.big').dataset.hot && {CE_FIGURE}.querySelector('a').hash === '#port/mlx5_0/1' && {CE_FIGURE}.querySelector('.big').innerText.startsWith('5.0')")
        page.close()


@check
def what_was_never_read_does_not_load_for_ever():
    with PageNode() as node:
        node.judged(PF)
        page = opened(node)
        page.until("ports", "page.model.ports !== null")
        node.hang()
        page.until("no answer", "page.state.kind === 'lost'")
        page.run("location.hash = '#port/mlx5_0/1'")
        page.until("why there is no chart", "[...document.querySelectorAll('.chart')].length > 0 && [...document.querySelectorAll('.chart')].every((chart) => chart.innerText.includes('Not read before rocelet stopped answering'))")
        page.until("nor a list", "!document.body.innerText.includes('Loading')")
        node.wake()
        page.close()


@check
def minutes_begin_with_rocelet():
    with PageNode() as node:
        node.judged(PF)
        page = opened(node, "#port/mlx5_0/1?tab=minutes")
        page.until("few rows", "((rows) => rows.length > 0 && rows.length < 8)([...document.querySelectorAll('.minutes tbody tr')])")
        page.until("what a number is, and since when, below the table", "/^Each number is the greatest of its minute. History begins at /.test(document.querySelector('#tab-panel > .scroll + .note')?.innerText)")
        equal(page.run("[...document.querySelectorAll('.minutes td')].some((td) => td.innerText === 'n/a' && !td.querySelector('.absent'))"), False)
        silent(page, node.url)
        page.close()


FINDING = """(path, document) => { if (path === 'doctor') document.findings = [{kind: 'unhealthy', object: 'mlx5_0', what: 'port ens1np0 is down since 2026-11-30T04:12:37Z: 2 devices not offered', help: '', fixable: false}]; }"""


@check
def a_finding_has_the_times_of_the_page():
    with PageNode() as node:
        node.judged(PF)
        page = altered(node, FINDING)
        for place in ("", "#agent"):
            page.go(node.url + place)
            page.until("its time", "/is down since [^TZ]*\\d\\d:\\d\\d(:\\d\\d)?: 2 devices/.test(document.querySelector('main').innerText)")
        silent(page, node.url)
        page.close()


@check
def the_history_of_a_young_daemon_is_not_fifteen_minutes():
    with PageNode() as node:
        node.judged(PF)
        page = opened(node, "#port/mlx5_0/1")
        page.until("since when", "/since \\d\\d:\\d\\d:\\d\\d, when rocelet started\\./.test(document.querySelector('.strip-empty')?.innerText)")
        page.close()


SORTED = """((pods) => blindItems({isCut: false, ports: pods.map((pod, i) => ({key: `mlx5_${i}/1`, facts: {namespace: 'train', pod}, device: null, state: {kind: 'warning', isTrouble: true}, troubles: []})), pods: []}).map(({pod}) => pod.name))(['job-10', 'job-1', 'job-2'])"""


@check
def what_lacks_a_verdict_is_in_natural_order():
    with PageNode() as node:
        node.judged(PF)
        page = opened(node)
        equal(page.run(SORTED.replace("facts: {namespace", "facts: {watch: 'judged', state: 'active', namespace")), ["job-1", "job-2", "job-10"])
        page.close()


@check
def a_narrow_bar_has_one_line_without_an_answer():
    with PageNode() as node:
        node.judged(PF)
        page = opened(node, width=400)
        height = page.run("document.querySelector('.top-row').offsetHeight")
        node.hang()
        page.until("no answer", "page.state.kind === 'lost'")
        equal(page.run("document.querySelector('.top-row').offsetHeight"), height)
        equal(page.run("getComputedStyle(document.getElementById('banner')).color === getComputedStyle(document.getElementById('state')).color"), True)
        node.wake()
        page.close()


@check
def a_devices_health_is_not_its_traffics():
    """A card that says "Healthy" below a critical problem says for whom."""
    with PageNode() as node:
        node.story(VF).play(TRAFFIC, LOSS)
        eventually("a verdict", lambda: node.verdict(VF, "packet_loss"))
        page = opened(node, f"#port/{VF}/1")
        has(page, "Healthy for the kubelet, which does not know the problem above")
        silent(page, node.url)
        page.close()


@check
def the_overview_has_its_name_as_an_address():
    with PageNode() as node:
        node.judged(PF)
        page = opened(node, "#overview")
        has(page, "No problems found on ")
        silent(page, node.url)
        page.close()


MEAN = """(path, document) => { if (path === 'live') for (const v of document.verdicts ?? []) { v.severity = 'critical'; v.level = 3;
    v.evidence = [{name: 'share of packets that arrive marked CE', value: %s, unit: 'ratio', threshold: 0.1}]; } }"""


@check
def a_number_below_its_limit_says_so():
    """A mean that is below the limit at the moment is not taken for a mistake; the worst of several ports is a mean, too."""
    with PageNode() as node:
        node.story(PF).play(TRAFFIC, LOSS)
        eventually("a verdict", lambda: node.verdict(PF, "packet_loss"))
        for value, much, limit in ((0.07, "7.00 % mean", "critical from 10 %"), (0.2, "20.0 % mean", "limit 10 %")):
            page = altered(node, MEAN % value)
            page.until("its number", "document.querySelector('.problem .much')")
            equal(page.run("[document.querySelector('.much').innerText.replace(/\\u00a0/g, ' '), document.querySelector('.much-of > span:last-child').innerText.replace(/\\u00a0/g, ' ')]"), [much, limit])
            equal(page.run("(() => { const v = page.model.verdicts[0]; return makeMuch(page, page.model, [v, {...v, port: 2}])[0].innerText.replace(/\\u00a0/g, ' ').endsWith(' mean, worst port'); })()"), True)
            equal(page.run("document.querySelector('.problem-much').scrollWidth <= document.querySelector('.problem-much').clientWidth"), True)
            page.close()


@check
def a_pool_that_is_not_registered_offers_nothing():
    """Free devices of a pool that the kubelet does not know are neither reserved nor available."""
    with PageNode() as node:
        node.judged(PF)
        page = opened(node)
        for registration, words in (("registered", ["20 reserved or returning"]), ("pending", ["20 not offered"])):
            equal(page.run(f"poolParts({{devicesOf: () => []}}, {{name: 'r', devices: 20, healthy: 20, allocated: 0, free: 0, registration: '{registration}'}}).map(([kind, n, text]) => `${{n}} ${{text}}`)"), words)
        equal(page.run("['registered', 'pending'].map((registration) => makeDeviceState(page.model, {id: 'x'}, {state: 'free', healthy: true}, {registration}).innerText)"), ["Free", "Free, not offered"])
        page.close()
