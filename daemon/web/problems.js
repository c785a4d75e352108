// SPDX-License-Identifier: Apache-2.0
// problems.js - verdicts as rows that unfold. The row: cause, port, value, onset. Unfolded: evidence, next steps, and earlier events.

const GROUP_FROM = 2; // verdicts of one cause and severity become one row
const PORTS_NAMED = 4; // of a group
const BEFORE_MS = 120000;
const ENDED_MS = 3600000; // for how long rocelet lists ended verdicts

function evidenceValue(v, unit) {
	if (!isKnown(v))
		return UNKNOWN;
	return unit === 'ratio' ? share(v) : unit === 'B/s' ? bitRate(v) : unit === '1/s' ? `${scaled(v)}/s` : `${scaled(v)}${unit ? ` ${shown(unit)}` : ''}`;
}

// A state is said in words.
function evidenceText(e) {
	return e.word ? shown(e.word) : evidenceValue(e.value, e.unit);
}

function evidenceName(name) {
	return /^[a-z0-9_]+(\{.*\})?$/.test(name) && name.includes('_') ? make('code', {}, shown(name).replaceAll('_', '_\u200b')) : sentenceCase(shown(name));
}

// The verdict's main number: the first evidence with a limit.
function mainEvidence(v) {
	return v.evidence.find((e) => isKnown(e.threshold) && isKnown(e.value)) ?? v.evidence.find((e) => isKnown(e.value)) ?? null;
}

function problemKey(v) {
	return `${verdictKey(v)} ${v.onsetMs}`;
}

// An evidence's short name, and the signal that it is of.
const EVIDENCE_TITLES = [
	[/^roce_pfc_pause_seconds_total\{direction="sent".*/, 'Pause out', 'pause_sent'],
	[/^roce_pfc_pause_seconds_total\{direction="received".*/, 'Pause in', 'pause_received'],
	[/^share of packets that arrive marked CE$/, 'CE marked', 'ce_share'],
	[/^roce_phy_link_down_total/, 'Times down', null],
];

// "roce_transport_retries_exceeded_total" -> "Transport retries exceeded"
function evidenceTitle(name) {
	const known = EVIDENCE_TITLES.find(([pattern]) => pattern.test(name));
	if (known)
		return shown(name.replace(known[0], known[1]));
	return sentenceCase(shown(name.replace(/^roce_(\w+)/, (_, words) => causeTitle(words.replace(/(_seconds)?_total$/, ''))).replace(/\{(.*)\}/, (_, labels) => `, ${labels.replace(/\w+=|"/g, '')}`)));
}

// How far the main number is beyond its limit, on whichever side.
function excess(v) {
	const {value = 0, threshold = 0} = mainEvidence(v) ?? {}, times = threshold > 0 && value > 0 ? value / threshold : 0;
	return times > 0 ? Math.max(times, 1 / times) : value ?? 0;
}

// From the first onset to the last end.
function problemTimes(model, verdicts) {
	const onset = Math.min(...verdicts.map((v) => Date.parse(v.onset))), ended = Math.max(...verdicts.map((v) => Date.parse(v.ended)));
	if (verdicts[0].ended)
		return [`Ended ${span(model.nowMs - ended)} ago`, `lasted ${span(ended - onset)}`];
	if (model.dead)
		return [`Since ${clock(onset)}`, 'not known now'];
	return [`For ${span(model.nowMs - onset)}`, verdicts.every((v) => v.clearingSinceMs) ? 'improving' : `since ${clock(onset)}`];
}

function isCaused(v) {
	return v.role === 'cause';
}

// The pods of verdicts: the first as a link, and how many more there are.
function makeProblemPods(verdicts) {
	const pods = [...new Map(verdicts.flatMap((v) => v.pods).map((pod) => [podKey(pod), pod])).values()], n = verdicts.reduce((sum, v) => sum + v.podCount - v.pods.length, pods.length);
	const word = verdicts.every(isCaused) ? 'caused by' : 'affects';
	if (pods.length === 0)
		return n > 0 ? make('span', {class: 'quiet'}, `${word} ${count(n, 'pod')}`) : verdicts.every((v) => v.managementPort) && make('span', {class: 'quiet'}, 'management port');
	return make('span', {class: 'quiet problem-pods'}, make('span', {}, `${word} `), makePodLink(pods[0]), n > 1 && make('span', {}, ` and ${grouped(n - 1)} more`));
}

function makeMuch(verdicts) {
	const v = verdicts.reduce((a, b) => (excess(b) > excess(a) ? b : a)), main = mainEvidence(v);
	return main && [make('p', {class: 'much', 'data-hot': v.ended ? null : v.severity}, evidenceText(main), verdicts.length > 1 && make('small', {}, ' at worst')),
		make('p', {class: 'quiet much-of'}, make('span', {class: 'clip', 'data-tip': evidenceTitle(main.name)}, isKnown(main.threshold) ? `${evidenceTitle(main.name)},` : evidenceTitle(main.name)), isKnown(main.threshold) && make('span', {}, `limit ${evidenceValue(main.threshold, main.unit)}`))];
}

function makeProblemSpark(model, verdicts) {
	const [{firstSignal}] = verdicts, ports = verdicts.map((v) => model.portByKey.get(portKey(v))).filter(Boolean);
	return ports.length > 0 && THIN_SIGNALS.includes(firstSignal) && makeSpark(model, model.series(ports, firstSignal), verdicts, leastOf(SIGNALS[firstSignal].unit));
}

// A row of one verdict, or of several with the same cause and severity.
function problemHead(page, model, verdicts, key, unfolded) {
	const [v] = verdicts, times = problemTimes(model, verdicts), title = sentenceCase(v.sentence).replace(/ \(direction: \w+\)/, '');
	return make('div', {class: 'problem-head', onclick: (event) => event.target.closest('a') || page.unfold(key)},
		makeMark(v.ended ? 'ended' : v.severity, true),
		make('div', {class: 'problem-what'},
			make('h3', {}, makeButton(verdicts.length > 1 ? `${title}: ${count(verdicts.length, 'port')}` : title, (event) => { event.stopPropagation(); page.unfold(key); }, {'aria-expanded': String(unfolded), 'data-row': 'problem'})),
			make('p', {}, verdicts.slice(0, PORTS_NAMED).map((one) => makePortLink(one)), verdicts.length > PORTS_NAMED && make('span', {class: 'quiet'}, `and ${verdicts.length - PORTS_NAMED} more`),
				verdicts.length === 1 && v.netdev && make('span', {class: 'quiet'}, shown(v.netdev)), make('code', {}, v.cause), makeProblemPods(verdicts))),
		make('div', {class: 'problem-much'}, makeMuch(verdicts)),
		make('div', {class: 'problem-line'}, makeProblemSpark(model, verdicts)),
		make('div', {class: 'problem-when'}, make('p', {}, make('strong', {}, times[0])), make('p', {class: 'quiet'}, times[1])),
		make('span', {class: 'fold', 'data-open': unfolded ? 'yes' : null, 'aria-hidden': 'true'}));
}

function evidenceTable(v) {
	return make('table', {class: 'evidence'}, make('caption', {class: 'unseen'}, `evidence of ${v.cause}`),
		make('thead', {class: 'unseen'}, make('tr', {}, ['number', 'value', 'limit', 'times the limit'].map((head) => make('th', {scope: 'col'}, head)))),
		make('tbody', {}, v.evidence.map((e) => make('tr', {}, make('th', {scope: 'row'}, evidenceName(e.name)), make('td', {class: 'number'}, evidenceText(e)),
			make('td', {class: 'number quiet'}, isKnown(e.threshold) ? `limit ${evidenceValue(e.threshold, e.unit)}` : ''),
			make('td', {class: 'number quiet'}, isKnown(e.threshold) && e.threshold > 0 && isKnown(e.value) ? `${oneDecimal(e.value / e.threshold)}${NBSP}×` : '')))));
}

// Events on the node shortly before the onset, without the verdict's own.
function eventsBefore(model, v) {
	const onset = Date.parse(v.onset);
	return model.store.events.filter((e) => Date.parse(e.last) <= onset + 1000 && Date.parse(e.last) >= onset - BEFORE_MS && !e.reason.startsWith('Diagnosis')).slice(-5);
}

function beforeList(model, v) {
	const before = eventsBefore(model, v);
	if (before.length === 0)
		return 'No change was seen on this node in the 2 minutes before.';
	return before.map((e) => make('div', {}, makeTime(Date.parse(e.last)), ' ', make('strong', {}, shown(e.reason)), ` ${shown(e.message)}`));
}

function problemBody(page, model, v) {
	const more = v.podCount - v.pods.length, p = model.portByKey.get(portKey(v));
	return make('div', {class: 'problem-body'},
		make('div', {}, make('h4', {}, 'Evidence'), evidenceTable(v),
			makeFacts([['Next steps', make('strong', {}, `${sentenceCase(v.advice)}.`)], ['Ruled out if', `${sentenceCase(v.disproof)}.`], ['Also explains', v.symptoms.map(causeTitle).join(', ')],
				['Remark', v.remark && `${sentenceCase(v.remark)}.`], ['Peer', v.peer && makeCode(v.peer)], ['Confidence', `${shortNumber(v.confidence * 100)} %`]]),
			make('p', {class: 'actions'}, make('a', {class: 'button', href: portLink(v)}, 'Open port'), make('a', {class: 'button', href: `runbook/${encodeURIComponent(v.cause)}`, target: '_blank', rel: 'noopener'}, 'Runbook'), page.tickets.button(model, v, problemKey(v)))),
		make('div', {}, p && SIGNALS[v.firstSignal] && page.problemCharts.elements(v, p, eventsBefore(model, v)),
		makeFacts([['Moved first', v.firstMoved && [makeCode(v.firstMoved), v.sameSample ? ', others in the same sample' : '']], ['Changed before', beforeList(model, v)],
			[isCaused(v) ? 'Caused by' : 'Affects', v.pods.length > 0 && [v.pods.map((pod) => make('div', {}, makePodLink(pod))), more > 0 && make('div', {class: 'quiet'}, `and ${more} more`)]],
			['Ended', v.ended && [makeTime(Date.parse(v.ended)), {cleared: '', gone: ', the port was removed', unseen: ', its counters cannot be read'}[v.endedAs] ?? '']]])), page.tickets.text(problemKey(v)));
}

function makeProblem(page, model, v) {
	const key = problemKey(v), unfolded = page.unfolded.has(key);
	return make('article', {class: 'problem verdict', key, 'data-severity': v.severity, 'data-ended': v.ended ? 'yes' : null, 'aria-label': `${v.ended ? 'ended: ' : ''}${causeTitle(v.cause)} on ${shown(portKey(v))}`},
		problemHead(page, model, [v], key, unfolded), unfolded && problemBody(page, model, v));
}

function makeGroup(page, model, verdicts) {
	const [v] = verdicts, key = `group ${v.cause} ${v.severity} ${v.ended ? 'ended' : ''}`, unfolded = page.unfolded.has(key);
	return make('article', {class: 'problem group', key, 'data-severity': v.severity, 'data-ended': v.ended ? 'yes' : null, 'aria-label': `${v.ended ? 'ended: ' : ''}${causeTitle(v.cause)} on ${count(verdicts.length, 'port')}`},
		problemHead(page, model, verdicts, key, unfolded), unfolded && make('div', {class: 'members'}, verdicts.map((one) => makeProblem(page, model, one))));
}

function problemRows(page, model, verdicts) {
	return [...groupBy(verdicts, (v) => `${v.cause} ${v.severity}`).values()].flatMap((group) => (group.length >= GROUP_FROM ? [makeGroup(page, model, group)] : group.map((v) => makeProblem(page, model, v))));
}

// Where a list begins that covers so many milliseconds.
function historyNote(model, covered) {
	const {startedMs} = model.store, young = startedMs !== null && model.nowMs - startedMs < covered;
	return young ? `History begins at ${clock(startedMs)}, when rocelet started.` : null;
}

function makeProblems(page, model, open, ended) {
	if (open.length + ended.length === 0)
		return null;
	return make('section', {class: 'panel problems', 'aria-labelledby': 'problems-title'}, make('h2', {id: 'problems-title', class: 'unseen'}, 'Problems'), problemRows(page, model, open), problemRows(page, model, ended),
		historyNote(model, ENDED_MS) ? make('p', {class: 'quiet note'}, historyNote(model, ENDED_MS)) : ended.length > 0 && make('p', {class: 'quiet note'}, 'Problems that ended earlier are in ', make('a', {href: '#events'}, 'Events'), '.'));
}
