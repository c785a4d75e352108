// SPDX-License-Identifier: Apache-2.0
// problems.js - verdicts as rows that unfold. The row: cause, port, value, onset. Unfolded: evidence, next steps, and earlier events.

const GROUP_FROM = 3; // verdicts of one cause and severity become one row
const BEFORE_MS = 120000;

function evidenceValue(v, unit) {
	if (!isKnown(v))
		return UNKNOWN;
	return unit === 'ratio' ? share(v) : unit === 'B/s' ? bitRate(v) : unit === '1/s' ? `${scaled(v)}/s` : `${scaled(v)}${unit ? ` ${shown(unit)}` : ''}`;
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

function problemTimes(model, v) {
	const onset = Date.parse(v.onset);
	if (v.ended)
		return [`Ended ${span(model.nowMs - Date.parse(v.ended))} ago`, `lasted ${span(Date.parse(v.ended) - onset)}`];
	if (model.dead)
		return [`Since ${clock(onset)}`, 'not known now'];
	return [`For ${span(model.nowMs - onset)}`, v.clearingSinceMs ? 'improving' : `since ${clock(onset)}`];
}

function affectedText(v) {
	return v.podCount > 0 ? `affects ${count(v.podCount, 'pod')}` : v.managementPort ? 'management port' : null;
}

function problemHead(page, model, v, unfolded) {
	const main = mainEvidence(v), times = problemTimes(model, v), key = problemKey(v), p = model.portByKey.get(portKey(v));
	const title = sentenceCase(v.sentence);
	return make('div', {class: 'problem-head', onclick: (event) => event.target.closest('a') || page.unfold(key)},
		makeMark(v.ended ? 'ended' : v.severity, true),
		make('div', {class: 'problem-what'},
			make('h3', {}, makeButton(title, (event) => { event.stopPropagation(); page.unfold(key); }, {'aria-expanded': String(unfolded), 'data-row': 'problem'})),
			make('p', {}, makePortLink(v), v.netdev && make('span', {class: 'quiet'}, shown(v.netdev)), make('code', {}, v.cause), affectedText(v) && make('span', {class: 'quiet'}, affectedText(v)))),
		make('div', {class: 'problem-much'}, main && [make('p', {class: 'much', 'data-hot': v.ended ? null : v.severity}, evidenceValue(main.value, main.unit)),
			make('p', {class: 'quiet'}, isKnown(main.threshold) ? `limit ${evidenceValue(main.threshold, main.unit)}` : '')]),
		make('div', {class: 'problem-line'}, p && v.firstSignal && THIN_SIGNALS.includes(v.firstSignal) ? makeSpark(model, model.series([p], v.firstSignal), [v]) : null),
		make('div', {class: 'problem-when'}, make('p', {}, make('strong', {}, times[0])), make('p', {class: 'quiet'}, times[1])),
		make('span', {class: 'fold', 'aria-hidden': 'true'}, unfolded ? '⌃' : '⌄'));
}

function evidenceTable(v) {
	return make('table', {class: 'evidence'}, make('caption', {class: 'unseen'}, `evidence of ${v.cause}`),
		make('thead', {class: 'unseen'}, make('tr', {}, ['number', 'value', 'limit', 'times the limit'].map((head) => make('th', {scope: 'col'}, head)))),
		make('tbody', {}, v.evidence.map((e) => make('tr', {}, make('th', {scope: 'row'}, evidenceName(e.name)), make('td', {}, evidenceValue(e.value, e.unit)),
			make('td', {class: 'quiet'}, isKnown(e.threshold) ? `limit ${evidenceValue(e.threshold, e.unit)}` : ''),
			make('td', {class: 'quiet'}, isKnown(e.threshold) && e.threshold > 0 && isKnown(e.value) ? `${shortNumber(e.value / e.threshold)} ×` : '')))));
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
		make('div', {}, p && v.firstSignal && THIN_SIGNALS.includes(v.firstSignal) && [make('h4', {}, `Moved first: ${SIGNALS[v.firstSignal].title}`),
			make('div', {class: 'wide-line'}, makeSpark(model, model.series([p], v.firstSignal), [v]))],
		makeFacts([['Moved first', v.firstMoved && [makeCode(v.firstMoved), v.sameSample ? ', others in the same sample' : '']], ['Changed before', beforeList(model, v)],
			['Affects', v.pods.length > 0 && [v.pods.map((pod) => make('div', {}, makePodLink(pod))), more > 0 && make('div', {class: 'quiet'}, `and ${more} more`)]],
			['Ended', v.ended && [makeTime(Date.parse(v.ended)), {cleared: '', gone: ', the port was removed', unseen: ', its counters cannot be read'}[v.endedAs] ?? '']]])), page.tickets.text(problemKey(v)));
}

function makeProblem(page, model, v) {
	const unfolded = page.unfolded.has(problemKey(v));
	return make('article', {class: 'problem verdict', key: problemKey(v), 'data-severity': v.severity, 'data-ended': v.ended ? 'yes' : null, 'aria-label': `${v.ended ? 'ended: ' : ''}${causeTitle(v.cause)} on ${shown(portKey(v))}`},
		problemHead(page, model, v, unfolded), unfolded && problemBody(page, model, v));
}

function makeGroup(page, model, verdicts) {
	const [v] = verdicts, key = `group ${v.cause} ${v.severity} ${v.ended ? 'ended' : ''}`, unfolded = page.unfolded.has(key);
	const oldest = verdicts.reduce((a, b) => (Date.parse(a.onset) < Date.parse(b.onset) ? a : b));
	return make('article', {class: 'problem group', key, 'data-severity': v.severity, 'aria-label': `${causeTitle(v.cause)} on ${count(verdicts.length, 'port')}`},
		make('div', {class: 'problem-head', onclick: (event) => event.target.closest('a') || page.unfold(key)}, makeMark(v.ended ? 'ended' : v.severity, true),
			make('div', {class: 'problem-what'}, make('h3', {}, makeButton(`${sentenceCase(v.sentence)}: ${count(verdicts.length, 'port')}`, (event) => { event.stopPropagation(); page.unfold(key); }, {'aria-expanded': String(unfolded), 'data-row': 'problem'})),
				make('p', {}, make('code', {}, v.cause), verdicts.slice(0, 4).map((one) => makePortLink(one)), verdicts.length > 4 && make('span', {class: 'quiet'}, `and ${verdicts.length - 4} more`))),
			make('div', {class: 'problem-much'}), make('div', {class: 'problem-line'}),
			make('div', {class: 'problem-when'}, make('p', {}, make('strong', {}, problemTimes(model, oldest)[0])), make('p', {class: 'quiet'}, 'the first of them')),
			make('span', {class: 'fold', 'aria-hidden': 'true'}, unfolded ? '⌃' : '⌄')),
		unfolded && make('div', {class: 'members'}, verdicts.map((one) => makeProblem(page, model, one))));
}

function problemRows(page, model, verdicts) {
	return [...groupBy(verdicts, (v) => `${v.cause} ${v.severity}`).values()].flatMap((group) => (group.length >= GROUP_FROM ? [makeGroup(page, model, group)] : group.map((v) => makeProblem(page, model, v))));
}

// The period that the list of ended problems covers.
function historyNote(model) {
	const {startedMs} = model.store, young = startedMs !== null && model.nowMs - startedMs < HISTORY_S * 1000;
	return young ? `History begins at ${clock(startedMs)}, when rocelet started.` : null;
}

function makeProblems(page, model, open, ended) {
	if (open.length + ended.length === 0)
		return null;
	return make('section', {class: 'panel problems', 'aria-labelledby': 'problems-title'}, make('h2', {id: 'problems-title', class: 'unseen'}, 'Problems'), problemRows(page, model, open), problemRows(page, model, ended),
		historyNote(model) && make('p', {class: 'quiet note'}, historyNote(model)));
}
