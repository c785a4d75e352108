# SPDX-License-Identifier: Apache-2.0
"""One count and one name of what is wrong, in all views."""
import json

from diagnosis_python import OTHER_PF, PF, TRAFFIC
from kubelet_python import eventually, equal
from page_node import LOSS, altered, check, silent
from page_overview import PodNode

ILL = "mlx5_3"  # a VF of the other PF
# A problem of a PF that affects the pod of its VF, and the VF of another pod that is down by itself.
ONE_OF_EACH = """(path, document) => { const trouble = {kind: 'device', word: 'link_down', severity: 'critical', level: 3, ofPf: false, since: null, orEarlier: false, what: 'no carrier', help: 'Check it.'};
    if (path === 'live') for (const v of document.verdicts ?? []) Object.assign(v, {pods: [{namespace: 'train', name: 'job-7'}], podCount: 12});
    if (path === 'live' && document.events?.events.length) document.events.events = [...document.events.events, {type: 'Warning', reason: 'Unhealthy', namespace: 'train', pod: 'job-8', pods: [{namespace: 'train', name: 'job-8'}], device: '%(function)s',
        message: 'the device of rocelet.dev/roce is unhealthy: link_down', count: 1, first: new Date().toISOString(), last: new Date().toISOString()}];
    if (path === 'ports') Object.assign(document.ports.find((p) => p.device === '%(ill)s'), {state: 'down', watch: 'down', namespace: 'train', pod: 'job-8', troubles: [trouble]});
    if (path === 'doctor') document.findings = [{kind: 'unhealthy', object: '%(ill)s', what: 'it is unhealthy (link_down)', help: 'Check it.', namespace: 'train', pod: 'job-8', fixable: false}];
    if (path === 'pods') { const [pod] = document.pods, [container] = pod.containers;
        document.pods = [pod, {...pod, name: 'job-8', containers: [{...container, devices: [{...container.devices[0], id: '%(function)s', attachment: null, troubles: [trouble]}]}]}]; } }"""
TALLY = "[...document.querySelectorAll('.tally a')].map((a) => a.innerText.trim())"
CHIP = "[...document.querySelectorAll('.chip')].map((chip) => chip.textContent.trim())"


class IllNode(PodNode):
    def __enter__(self):
        node = super().__enter__()
        node.story(PF).play(TRAFFIC, LOSS)
        eventually("a verdict", lambda: node.verdict(PF, "packet_loss"))
        return node

    def ill_function(self):
        return next(p["function"] for p in self.diagnosis_ports() if p["device"] == ILL)

    def diagnosis_ports(self):
        return json.loads(self.get("/api/v1/ports"))["ports"]

    def opened(self, place="", **look):
        return altered(self, ONE_OF_EACH % {"function": self.ill_function(), "ill": ILL}, place, **look)


@check
def one_count_of_what_is_wrong():
    """The heading, the title, the badge, the bar and the lists count a trouble as a problem, and a VF with a problem of its PF apart."""
    with IllNode() as node:
        page = node.opened()
        page.until("both", "document.querySelector('.blind') && document.querySelector('h1').innerText === '2 problems on 2 of 6 ports'")
        page.until("the badge", "document.getElementById('count').getAttribute('aria-label') === '2 critical'")
        assert page.run("document.title").startswith("(2) "), page.run("document.title")
        page.until("the tally", f"{TALLY}.slice(0, 2).join() === '2 critical,1 through their PF'")
        equal(page.run("document.querySelectorAll('.headline .bar [data-kind=through]').length"), 1)
        page.until("its pods", "document.getElementById('affected-title')?.innerText === '2 pods with problems'")
        page.go(node.url + "#ports")
        page.until("ports", f"{CHIP}.includes('Problems 2') && {CHIP}.includes('Through their PF 1')")
        page.go(node.url + "#pods")
        page.until("pods", f"{CHIP}.includes('Problems 2')")
        silent(page, node.url)
        page.close()


@check
def what_was_known_is_kept():
    """When the node does not answer, a trouble and the affected pods are still listed, in grey."""
    with IllNode() as node:
        page = node.opened()
        page.until("both", "document.querySelector('.blind') && document.querySelector('.affected')")
        node.hang()
        page.until("old", "document.body.dataset.old === 'yes'")
        page.until("last known", "document.querySelector('.headline p').innerText === 'Last known: 2 problems on 2 of 6 ports. 1 port of a pod is down.'")
        page.until("the trouble", "document.querySelector('.blind header')?.innerText.includes('last known')")
        equal(page.run("document.querySelectorAll('.affected li').length"), 2)
        equal(page.run("[...document.querySelectorAll('.blind .state, .event-lines .state')].every((e) => getComputedStyle(e).color === getComputedStyle(document.querySelector('footer')).color)"), True)
        node.wake()
        silent(page, node.url)
        page.close()


@check
def a_trouble_has_one_name_and_severity():
    """In the overview, the lists, the events and the findings; and a port has one mark, also on the rails."""
    with IllNode() as node:
        page = node.opened()
        page.until("the section", "document.querySelector('.blind .mark')?.dataset.kind === 'critical' && document.querySelector('.blind .state').innerText === 'Link down'")
        page.until("an event", "[...document.querySelectorAll('.event-lines .state')].some((e) => e.innerText === 'Link down' && e.dataset.kind === 'critical')")
        page.until("a finding", "((e) => e?.querySelector('.mark').dataset.kind === 'critical' && e.querySelector('strong').innerText === 'Link down')(document.querySelector('.agent-line'))")
        rail = f"[...document.querySelectorAll('.rails tbody tr')].find((row) => row.innerText.includes('{OTHER_PF}/1')).querySelector('.mark').dataset.kind"
        equal(page.run(f"{rail} === page.model.portByKey.get('{OTHER_PF}/1').state.kind"), True)
        page.go(node.url + "#ports")
        page.until("the link", f"[...document.querySelectorAll('table.list tbody tr')].find((tr) => tr.innerText.startsWith('{ILL}/1'))?.querySelector('.c-link [data-hot]')?.dataset.hot === 'critical'")
        page.go(node.url + "#events")
        page.until("in the list", "[...document.querySelectorAll('td.c-reason')].some((td) => td.innerText.trim() === 'Link down' && td.querySelector('.mark').dataset.kind === 'critical')")
        page.go(node.url + "#agent")
        page.until("in what the doctor finds", "((e) => e?.querySelector('.mark').dataset.kind === 'critical' && e.querySelector('strong').innerText === 'Link down')(document.querySelector('.findings li'))")
        silent(page, node.url)
        page.close()


@check
def events_name_all_their_pods():
    """A table counts the other pods, narrow blocks name the pod, too; and severities are filters."""
    with IllNode() as node:
        page = node.opened("#events")
        page.until("severities", f"{CHIP}.includes('Critical 2')")
        page.close()
        change = ONE_OF_EACH % {"function": node.ill_function(), "ill": ILL}
        more = change.replace("document.events.events = [...document.events.events,", "document.events.events = [...document.events.events.map((e) => ({...e, namespace: 'train', pod: 'a', pods: ['a', 'b', 'c'].map((name) => ({namespace: 'train', name}))})),")
        for width, shows in ((1440, True), (999, True), (800, True), (700, True), (600, True), (400, True)):
            page = altered(node, more, "#events", width=width)
            page.until((width, "the others"), "[...document.querySelectorAll('tbody td.c-pod')].some((td) => td.offsetHeight > 0 && /train\\/a\\s*\\+2/.test(td.innerText.replace(/\\n/g, '')))")
            equal((width, page.run("document.documentElement.scrollWidth <= innerWidth")), (width, shows))
            page.close()


LIMITS = """(path, document) => { if (path === 'live') for (const v of document.verdicts ?? []) Object.assign(v, {severity: 'critical', level: 3, cause: 'fabric_congestion', firstSignal: 'ce_share',
    evidence: [{name: 'share of packets that arrive marked CE', value: 0.045, unit: 'ratio', threshold: 0.1}]}); }"""


@check
def a_number_and_its_limits_are_one_story():
    """While a problem is open its number is red, and its row says where it begins and ends; a legend names no line that the axis does not have."""
    with IllNode() as node:
        page = altered(node, LIMITS)
        page.until("its number", "document.querySelector('.much')?.dataset.hot === 'critical'")
        equal(page.run("document.querySelector('.much-of > span:last-child').innerText.replace(/\\u00a0/g, ' ')"), "critical from 10 %")
        equal(page.run("limitText({severity: 'warning', cause: 'x'}, {name: 'x', value: 0.008, unit: 'ratio', threshold: 0.01}).replace(/\\u00a0/g, ' ')"), "warning from 1 %, ends below 0.5 %")
        page.go(node.url + "#port/mlx5_2/1")
        page.until("charts", "document.querySelector('.plot canvas')")
        equal(page.run("/Link/.test(document.querySelector('.charts .legend').innerText)"), False)
        page.go(node.url + "#port/mlx5_0/1")
        page.until("limits", "page.view.history?.all().some((chart) => chart.spec.title === 'CE marked')")
        equal(page.run("page.view.history.limitsOf(CHARTS[2]).map(([name]) => name)"), ["Warning", "Critical"])
        silent(page, node.url)
        page.close()


@check
def small_answers_say_what_is_known():
    """The search names the port of a problem first, a pool counts faults of PFs apart, and queue pairs that BPF does not list say so."""
    with IllNode() as node:
        page = node.opened()
        page.until("both", "document.querySelector('.blind') && page.model.pods")
        equal(page.run("page.search.things().filter(({is}) => is === 'Problem').map(({text}) => text)"), ["mlx5_0/1"])
        equal(page.run("[['critical', 'through', 'through'], ['through']].map((kinds) => poolProblems(kinds.map((kind) => ({kind}))))"), ["1 with a problem, 2 through their PF", "1 with a problem through its PF"])
        off = "{documents: {get: () => ({parts: [{name: 'BPF', works: null, what: 'switched off', why: null}]})}}"
        equal(page.run(f"queuePairsEmpty({off}, {{source: null, error: null}}, '').slice(0, 2)"), ["Queue pairs cannot be read", "BPF is switched off, and RDMA netlink has listed none."])
        silent(page, node.url)
        page.close()
