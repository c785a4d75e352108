// SPDX-License-Identifier: Apache-2.0
// problems.js - verdicts as rows that unfold. The row: cause, port, value, onset. Unfolded: evidence, next steps, and earlier events.

const GROUP_FROM = 2; // verdicts of one cause and severity become one row
const PORTS_NAMED = 4; // of a group
const PODS_NAMED = 8; // that are not folded
const BEFORE_MS = 120000;
const FAILURES = /^(QueuePair|Connection)/; // events of single failures
const ENDED_MS = 3600000; // for how long rocelet lists ended verdicts

const HELD_FROM = 0.5; // limits are halved while a verdict is open

// How far a number is above its limit; any number is 1 above a limit of 0.
function timesAbove({value, threshold}) {
	return threshold > 0 ? value / threshold : value > threshold ? 1 : 0;
}

// Causes whose number is below its limit, as in cause_table.c.
const LESS_IS_WORSE = new Set(['link_degraded', 'pcie_degraded', 'rail_behind']);

// Is the number beyond the limit beside it? A number without a limit says how much, and is.
function isBeyond(v, e) {
	return !isKnown(e.threshold) || (LESS_IS_WORSE.has(v.cause) ? e.value <= e.threshold : timesAbove(e) >= 1);
}

function greatestBy(list, valueOf) {
	return list.reduce((best, item) => (best === null || valueOf(item) > valueOf(best) ? item : best), null);
}

// The verdict's main number: that which is furthest above its limit, or, if none is above one, furthest below. Without limits, the first that is known.
function mainEvidence(v) {
	const known = v.evidence.filter((e) => isKnown(e.value)), limited = known.filter((e) => isKnown(e.threshold)), above = limited.filter((e) => timesAbove(e) >= HELD_FROM);
	return greatestBy(above, timesAbove) ?? greatestBy(limited.filter((e) => e.value > 0), (e) => 1 / timesAbove(e)) ?? limited[0] ?? known[0] ?? null;
}

// True if the main number is a rate of failures that has fallen to 0: then the number of failures and their time are shown.
function isOfFailures(main) {
	return main !== null && main.unit === '1/s' && main.value === 0;
}

// {n, lastMs} of the failures behind a verdict, as far as the port's history and the node's events know them; null: unknown.
function failuresOf(page, model, v) {
	const history = page.documents.history(portKey(v)), sinceS = Date.parse(v.onset) / 1000 - BEFORE_MS / 1000, found = {n: null, lastMs: null};
	const signal = history && ['failed', v.firstSignal].find((name) => history.values[name]?.some((x) => x > 0));
	if (signal)
		history.values[signal].forEach((x, i) => {
			if (x > 0 && history.times[i] >= sinceS)
				Object.assign(found, {n: found.n + x * (i > 0 ? history.times[i] - history.times[i - 1] : 1), lastMs: history.times[i] * 1000});
		});
	const listed = v.evidence.find((e) => !e.unit && !isKnown(e.threshold) && e.value > 0), p = model.portByKey.get(portKey(v));
	const events = p ? model.eventsOf(p).filter((e) => FAILURES.test(e.reason) && Date.parse(e.last) / 1000 >= sinceS) : [];
	return {n: listed?.value ?? (found.n === null ? events.length > 0 ? sumOf(events.map((e) => e.count)) : null : Math.max(1, Math.round(found.n))), name: listed?.name ?? null,
		lastMs: greatestOf([found.lastMs, ...events.map((e) => Date.parse(e.last))])};
}

function problemKey(v) {
	return `${verdictKey(v)} ${v.onsetMs}`;
}

// The signal of the verdict's main number; without one, the signal that moved first.
function mainSignal(v) {
	const main = mainEvidence(v);
	return (main && evidenceSignal(main.name)) ?? v.firstSignal;
}

// All signals that the verdict is about.
function verdictSignals(v) {
	return new Set([mainSignal(v), v.firstSignal, ...v.evidence.filter((e) => isKnown(e.threshold) && timesAbove(e) >= HELD_FROM).map((e) => evidenceSignal(e.name))]);
}

// The signals of the verdict's numbers beyond their limits; of packet loss also the lost packets.
function hotSignals(v) {
	return new Set([...v.cause === 'packet_loss' ? SIGNALS.loss.parts : [], ...v.evidence.filter((e) => isKnown(e.threshold) && isBeyond(v, e)).map((e) => evidenceSignal(e.name))]);
}

// How far the main number is beyond its limit, on whichever side.
function excess(v) {
	const main = mainEvidence(v), times = main && isKnown(main.threshold) ? timesAbove(main) : 0;
	return times >= HELD_FROM ? times : times > 0 ? 1 / times : main?.value ?? 0;
}

// The texts for each kind of end. Only after "cleared" is the port known to be fine again.
const ENDS = {
	cleared: {said: 'ended', mark: 'ended', lasted: 'lasted', detail: ''},
	gone: {said: 'port removed', mark: 'unknown', lasted: 'was open for', detail: ', the port was removed'},
	explained: {said: 'explained by another problem', mark: 'unknown', lasted: 'was open for', detail: ', another problem explains it'},
	unseen: {said: 'counters lost', mark: 'unknown', lasted: 'was open for', detail: ', its counters cannot be read; whether it is over is not known'},
};

function endOf(v) {
	return ENDS[v.endedAs] ?? ENDS.cleared;
}

function verdictMark(v) {
	return makeMark(v.ended ? endOf(v).mark : v.severity, true);
}

// Of ended verdicts: when the last ended, and the whole time in which one was open.
function problemTimes(model, verdicts) {
	const onset = Math.min(...verdicts.map((v) => Date.parse(v.onset))), ended = Math.max(...verdicts.map((v) => Date.parse(v.ended)));
	if (verdicts[0].ended)
		return [`${sentenceCase(endOf(verdicts[0]).said)} ${span(model.nowMs - ended)} ago`, `${verdicts[0].severity}, ${endOf(verdicts[0]).lasted} ${span(sumOf(bandsOf(model, verdicts).map(({from, to}) => to - from)))}`];
	if (model.dead)
		return [['Since ', makeTime(onset)], 'not known now'];
	if (verdicts.length === 1 && /\bdown for$/.test(mainEvidence(verdicts[0])?.name ?? '')) // the number is the time already
		return [['Since ', makeTime(onset)], verdicts[0].clearingSinceMs ? 'improving' : ''];
	return [`For ${span(model.nowMs - onset)}`, verdicts.every((v) => v.clearingSinceMs) ? 'improving' : ['since ', makeTime(onset)]];
}

// One verdict for each port.
function onePerPort(verdicts) {
	return [...new Map(verdicts.map((v) => [portKey(v), v])).values()];
}

// On how many ports a cause is, or how often it was on the only one.
function groupText(verdicts) {
	const n = onePerPort(verdicts).length;
	return n > 1 ? count(n, 'port') : verdicts.length === 2 ? 'twice' : `${verdicts.length} times`;
}

// The pods that cause a verdict, in words with links: ["caused by", link].
function makeCulprits(verdicts) {
	const pods = [...new Map(verdicts.flatMap((v) => v.causedBy).map((pod) => [podKey(pod), pod])).values()];
	return pods.length > 0 && make('span', {class: 'quiet problem-pods'}, make('span', {}, 'caused by '), makePodLink(pods[0]), pods.length > 1 && make('span', {}, ` and ${grouped(pods.length - 1)} more`));
}

// The pods that verdicts affect: the first as a link, and how many more there are.
function makeProblemPods(page, model, verdicts) {
	const pods = [...new Map(verdicts.flatMap((v) => v.pods).map((pod) => [podKey(pod), pod])).values()], n = verdicts.reduce((sum, v) => sum + v.podCount - v.pods.length, pods.length);
	if (pods.length === 0)
		return n > 0 ? make('span', {class: 'quiet'}, `affects ${count(n, 'pod')}`) : verdicts.every((v) => v.managementPort) && make('span', {class: 'quiet'}, 'management port');
	if (verdicts.length > 1 && n > 1) // the ports need the room; the pods are listed below the rails, and in the unfolded row
		return make('span', {class: 'quiet'}, `affects ${count(n, 'pod')}`);
	const isOwn = verdicts.some((v) => model.podsOf(v).some((pod) => podKey(pod) === page.view.key)); // on the pod's page
	return make('span', {class: 'quiet problem-pods'}, make('span', {}, isOwn ? 'affects this pod' : 'affects '), !isOwn && makePodLink(pods[0]), n > 1 && make('span', {}, ` and ${grouped(n - 1)} more`));
}

function makeFailures(page, model, v, main) {
	const {n, name, lastMs} = failuresOf(page, model, v), title = evidenceTitle(name ?? main.name);
	return [make('p', {class: 'much', 'data-hot': v.ended ? null : v.severity}, n === null ? 'Seen' : `${scaledCount(n)}${NBSP}×`),
		make('p', {class: 'quiet much-of', 'data-tip': title}, make('span', {class: 'clip'}, `${title},`), make('span', {}, lastMs === null ? `from ${clock(Date.parse(v.onset))}` : `last at ${clock(lastMs)}`))];
}

// The limit beside a number. A number that is below it while the problem is open does not end the problem: a warning ends below half of its limit.
function limitText(v, main) {
	if (v.ended || isBeyond(v, main) || LESS_IS_WORSE.has(v.cause) || !['ratio', '1/s', 'B/s'].includes(main.unit))
		return evidenceLimit(main);
	const limit = (value) => evidenceLimit({...main, threshold: value}).replace('limit ', '');
	return `${v.severity} from ${limit(main.threshold)}${v.severity === 'warning' ? `, ends below ${limit(HELD_FROM * main.threshold)}` : ''}`;
}

// Bits per second of the link of a verdict's port, or null.
function linkRate(model, v) {
	return model.portByKey.get(portKey(v))?.facts.rateBitsPerSecond ?? null;
}

// What is beside the number of a row: whether it is a mean, and of several ports the worst.
function muchWords(main, n, counted) {
	const isMean = ['ratio', '1/s', 'B/s'].includes(main.unit);
	return [isMean && (n > 1 || !counted) && 'mean', n > 1 && 'worst port', n === 1 && counted].filter(Boolean).join(', ');
}

function makeMuch(page, model, verdicts) {
	const v = verdicts.reduce((a, b) => (excess(b) > excess(a) ? b : a)), main = mainEvidence(v), isLimited = main && isKnown(main.threshold);
	if (isOfFailures(main))
		return makeFailures(page, model, v, main);
	const counted = main && chartText(v, main, linkRate(model, v));
	const words = main && muchWords(main, onePerPort(verdicts).length, counted);
	return main && [make('p', {class: 'much', 'data-hot': v.ended ? null : v.severity}, evidenceText(main), words && make('small', {}, ` ${words}`)),
		make('p', {class: 'quiet much-of', 'data-tip': [sentenceCase(shown(main.name)), counted].filter(Boolean).join(': ')}, make('span', {class: 'clip'}, isLimited ? `${evidenceTitle(main.name)},` : evidenceTitle(main.name)), isLimited && make('span', {}, limitText(v, main)))];
}

function makeProblemSpark(model, verdicts) {
	const [v] = verdicts, signal = [mainSignal(v), v.firstSignal].find((name) => THIN_SIGNALS.includes(name)), ports = onePerPort(verdicts).map((one) => model.portByKey.get(portKey(one))).filter(Boolean);
	return ports.length > 0 && signal && makeSpark(model, model.series(ports, signal), verdicts, leastOf(SIGNALS[signal].unit));
}

// A row of one verdict, or of several with the same cause and severity. The netdev is left out if there are pods, which need its place.
function problemHead(page, model, verdicts, key, unfolded) {
	const [v] = verdicts, byPort = onePerPort(verdicts), times = problemTimes(model, verdicts), title = (v.cause === 'link_flap' ? verdictTitle(v) : sentenceCase(v.sentence)).replace(/ \(direction: \w+\)/, '');
	const name = verdicts.length > 1 ? [make('span', {}, title), make('span', {class: 'together'}, `: ${groupText(verdicts)}`)] : make('span', {}, title);
	return make('div', {class: 'problem-head', onclick: (event) => event.target.closest('a') || page.unfold(key)},
		verdictMark(v),
		make('div', {class: 'problem-what'},
			make('h3', {}, makeButton(name, (event) => { event.stopPropagation(); page.unfold(key); }, {'aria-expanded': String(unfolded), 'data-row': 'problem'})),
			make('p', {}, byPort.slice(0, PORTS_NAMED).map((one) => makePortLink(one)), byPort.length > PORTS_NAMED && make('span', {class: 'quiet'}, `and ${byPort.length - PORTS_NAMED} more`),
				byPort.length === 1 && v.netdev && v.podCount === 0 && make('span', {class: 'quiet'}, shown(v.netdev)), make('code', {}, v.cause), makeProblemPods(page, model, byPort), makeCulprits(byPort))),
		make('div', {class: 'problem-much'}, makeMuch(page, model, verdicts)),
		make('div', {class: 'problem-line'}, makeProblemSpark(model, verdicts)),
		make('div', {class: 'problem-when'}, make('p', {}, make('strong', {}, times[0])), make('p', {class: 'quiet'}, times[1])),
		make('span', {class: 'fold', 'data-open': unfolded ? 'yes' : null, 'aria-hidden': 'true'}));
}

// The title of a number; below it the metric's name or the whole sentence, and the number in the unit of the charts (counted, or null).
function evidenceHead(e, counted) {
	const title = evidenceTitle(e.name), metric = metricName(e.name), sentence = sentenceCase(shown(e.name)), below = metric ? make('code', {}, shown(metric).replaceAll('_', '_\u200b')) : title === sentence ? null : sentence;
	return [title, (below || counted) && make('small', {}, below, below && counted && ': ', counted)];
}

// The numbers with a limit come first, because the diagnosis judges them.
function evidenceTable(model, v) {
	const rows = [...v.evidence].sort((a, b) => Number(isKnown(b.threshold)) - Number(isKnown(a.threshold)));
	return make('table', {class: 'evidence'}, make('caption', {class: 'unseen'}, `evidence of ${v.cause}`),
		make('thead', {class: 'unseen'}, make('tr', {}, ['number', 'value', 'limit', 'times the limit'].map((head) => make('th', {scope: 'col'}, head)))),
		make('tbody', {}, rows.map((e) => make('tr', {}, make('th', {scope: 'row'}, evidenceHead(e, chartText(v, e, linkRate(model, v)))), make('td', {class: 'number'}, evidenceText(e)),
			make('td', {class: 'number quiet'}, isKnown(e.threshold) ? evidenceLimit(e) : ''),
			make('td', {class: 'number quiet'}, isKnown(e.threshold) && e.threshold > 0 && isKnown(e.value) ? `${scaled(e.value / e.threshold)}${NBSP}×` : '')))));
}

// Events on the node shortly before the onset, without the verdict's own.
function eventsBefore(model, v) {
	const onset = Date.parse(v.onset);
	return model.store.events.filter((e) => Date.parse(e.last) <= onset + 1000 && Date.parse(e.last) >= onset - BEFORE_MS && !e.reason.startsWith('Diagnosis')).slice(-5);
}

// A sentence about the daemon's programs for events that do not run, or null.
function unwatched(page) {
	const parts = page.documents.get(AGENT_PATH, ['config'], DIAGNOSIS_READ_MS)?.parts;
	if (!parts)
		return `It is not known what is watched: ${page.missing(AGENT_PATH)}`;
	const bpf = parts.filter((part) => part.name.startsWith('BPF') && part.works !== true && (part.name === 'BPF' || part.works === false));
	if (bpf.length === 0)
		return null;
	return bpf.some((part) => part.name === 'BPF') ? 'Changes by processes are not watched: BPF is switched off.' : `Not all changes are watched: ${bpf.map((part) => `${shown(part.name)} is ${shown(part.what)}`).join(', ')}.`;
}

// What to do with the node first, as node_action_text() of the daemon.
const NODE_ACTIONS = {keep: 'Keep it in service.', cordon: 'Cordon it, so that no new job starts on it.', drain: 'Drain it, and restart its jobs elsewhere.'};

function beforeList(page, model, v) {
	const before = eventsBefore(model, v), blind = unwatched(page);
	if (before.length === 0)
		return blind === null ? 'No change was seen on this node in the 2 minutes before.' : [make('div', {}, blind), make('div', {class: 'quiet'}, 'No event in the 2 minutes before.')];
	return before.map((e) => make('div', {}, makeTime(Date.parse(e.last)), ' ', make('strong', {}, eventTitle(e)), ` ${eventDetail(model, e)}`));
}

function problemBody(page, model, v) {
	const pods = model.podsOf(v), more = v.podCount - pods.length, p = model.portByKey.get(portKey(v));
	return make('div', {class: 'problem-body'},
		make('div', {}, make('h4', {}, 'Evidence', make('small', {}, ' means over the time judged')), evidenceTable(model, v),
			makeFacts([['Node', NODE_ACTIONS[v.nodeAction]], ['Next steps', make('strong', {}, `${sentenceCase(v.advice)}.`)], ['Ruled out if', `${sentenceCase(v.disproof)}.`], ['Also explains', v.symptoms.map(causeTitle).join(', ')],
				['Remark', v.remark && `${sentenceCase(v.remark)}.`], ['Peer', v.peer && makeCode(v.peer)]]),
			make('p', {class: 'actions'}, make('a', {class: 'button', href: portLink(v)}, 'Open port'), make('a', {class: 'button', href: `runbook/${encodeURIComponent(v.cause)}`, target: '_blank', rel: 'noopener'}, 'Runbook'), page.tickets.button(model, v, problemKey(v)))),
		make('div', {}, p && SIGNALS[mainSignal(v)] && page.problemCharts.elements(v, p, eventsBefore(model, v)),
		makeFacts([['Moved first', v.firstMoved && [`${evidenceTitle(v.firstMoved)}${v.sameSample ? ', others in the same sample' : ''}`, metricName(v.firstMoved) && make('small', {}, makeCode(v.firstMoved))]], ['Changed before', beforeList(page, model, v)],
			['Caused by', v.causedBy.length > 0 && v.causedBy.map((pod) => make('div', {}, makePodLink(pod)))],
			['Affects', pods.length > 0 && [pods.slice(0, PODS_NAMED).map((pod) => make('div', {}, makePodLink(pod))), pods.length > PODS_NAMED && make('details', {}, make('summary', {}, `${grouped(pods.length - PODS_NAMED)} more`), pods.slice(PODS_NAMED).map((pod) => make('div', {}, makePodLink(pod)))), more > 0 && make('div', {class: 'quiet'}, `and ${more} that are not known now`)]],
			[sentenceCase(endOf(v).said), v.ended && [makeTime(Date.parse(v.ended)), endOf(v).detail]]])), page.tickets.text(problemKey(v)));
}

function makeProblem(page, model, v) {
	const key = problemKey(v), unfolded = page.unfolded.has(key);
	return make('article', {class: 'problem verdict', key, 'data-severity': v.severity, 'data-ended': v.ended ? 'yes' : null, 'aria-label': `${v.ended ? `${endOf(v).said}: ` : ''}${verdictTitle(v)} on ${shown(portKey(v))}`},
		problemHead(page, model, [v], key, unfolded), unfolded && problemBody(page, model, v));
}

function groupKey(v) {
	return `group ${verdictTitle(v)} ${v.severity} ${v.ended ? endOf(v).said : ''}`;
}

function makeGroup(page, model, verdicts) {
	const [v] = verdicts, key = groupKey(v), unfolded = page.unfolded.has(key);
	return make('article', {class: 'problem group', key, 'data-severity': v.severity, 'data-ended': v.ended ? 'yes' : null, 'aria-label': `${v.ended ? `${endOf(v).said}: ` : ''}${verdictTitle(v)}: ${groupText(verdicts)}`},
		problemHead(page, model, verdicts, key, unfolded), unfolded && make('div', {class: 'members'}, verdicts.map((one) => makeProblem(page, model, one))));
}

function problemRows(page, model, verdicts) {
	return [...groupBy(verdicts, (v) => `${verdictTitle(v)} ${v.severity} ${endOf(v).said}`).values()].flatMap((group) => (group.length >= GROUP_FROM ? [makeGroup(page, model, group)] : group.map((v) => makeProblem(page, model, v))));
}

// A note if the daemon has not run for all of the `covered` milliseconds that a list is about; else null.
function historyNote(model, covered) {
	const {startedMs} = model.store, young = startedMs !== null && model.nowMs - startedMs < covered;
	return young ? `History begins at ${clock(startedMs)}, when rocelet started.` : null;
}

function makeProblems(page, model, open, ended) {
	if (open.length + ended.length === 0)
		return null;
	return make('section', {class: 'panel problems', 'aria-labelledby': 'problems-title'}, make('h2', {id: 'problems-title', class: 'unseen'}, 'Problems'), problemRows(page, model, open), problemRows(page, model, ended),
		historyNote(model, HISTORY_S * 1000) ? make('p', {class: 'quiet note'}, `Earlier problems are not known: rocelet started at ${clock(model.store.startedMs)}.`) : ended.length > 0 && make('p', {class: 'quiet note'}, 'Problems that ended earlier are in ', make('a', {href: '#events'}, 'Events'), '.'));
}
