// SPDX-License-Identifier: Apache-2.0
// overview.js - the node's state, its problems, the affected pods and the next steps.

const CELLS_MOST = 32; // VFs of a lane that are drawn one by one
const EVENTS_SHOWN = 8;
const BLIND_SHOWN = 4;
const FIGURES = [['bytes_received', 'Received'], ['bytes_sent', 'Sent'], ['ce_share', 'CE marked'], ['pause_sent', 'Pause out'], ['pause_received', 'Pause in'], ['loss', 'Loss'], ['again', 'Retransmission']];
const LANE_SIGNALS = ['pause_sent', 'pause_received', 'ce_share', 'loss', 'again'];

function tallyOf(model) {
	return STATE_ORDER.map((kind) => [kind, (model.ports ?? []).filter((p) => p.state.kind === kind).length]).filter(([, n]) => n > 0);
}

function problemsText(model) {
	const n = model.store.verdictCount, ports = new Set(model.verdicts.map(portKey)).size, more = model.isCut ? `; only the worst ${model.verdicts.length} are shown` : '';
	return `${count(n, 'problem')} on ${model.isCut ? 'at least ' : ''}${grouped(ports)} of ${count(model.ports?.length ?? 0, 'port')}${more}`;
}

// A pod has it, and it is not known to be fine.
function isBlind(p) {
	return (p.facts.pod || p.device?.attachment?.state === 'in_pod') && ['unhealthy', 'unknown'].includes(p.state.kind);
}

function isDown({facts}) {
	return facts.watch === 'down' || (facts.state !== null && facts.state !== 'active');
}

// {kind, title, lines} of ports of pods that are not known to be fine, or null.
function blindness(model) {
	const blind = model.isCut ? [] : model.ports.filter(isBlind), more = blind.length - BLIND_SHOWN;
	if (blind.length === 0)
		return null;
	const groups = groupBy(blind, (p) => (isDown(p) ? 'down' : p.state.kind === 'unhealthy' ? 'unhealthy' : 'not judged'));
	return {kind: groups.has('down') || groups.has('unhealthy') ? 'warning' : 'unknown',
		title: [...groups].map(([word, ports]) => `${count(ports.length, 'port')} of ${ports.length === 1 ? 'a pod is' : 'pods are'} ${word}`).join(', '),
		lines: [...blind.slice(0, BLIND_SHOWN).map((p) => [makePortLink(p.facts), p.facts.pod && [' of ', makePodLink(p.facts)], `: ${p.state.text}`]), more > 0 && `And ${grouped(more)} more.`].filter(Boolean)};
}

// {kind, title, lines}: the summary of this node.
function headline(page, model) {
	const {store} = model;
	if (store.timeMs === null)
		return {kind: 'unknown', title: page.state.kind === 'lost' ? 'State unknown' : 'No verdict yet', lines: [page.state.kind === 'connecting' ? 'Connecting to rocelet.' : page.state.kind === 'lost' ? 'rocelet does not answer.' : 'No sample has been judged yet.']};
	if (model.dead)
		return {kind: 'unknown', title: `State unknown since ${clock(model.sampleMs())}`, lines: [`Last known: ${store.verdictCount ? problemsText(model) : 'no problems'}. ${page.state.kind === 'lost' ? 'rocelet does not answer.' : 'rocelet answers, but takes no samples.'}`]};
	if (store.verdictCount > 0)
		return {kind: model.verdicts[0].severity, title: problemsText(model), lines: [model.ports && blindness(model)?.title].filter(Boolean)};
	if (model.ports === null)
		return {kind: 'unknown', title: 'No verdict yet', lines: [page.missing('api/v1/ports')]};
	if (model.ports.length === 0)
		return {kind: 'unknown', title: 'No RDMA ports found on this node', lines: ['A port is listed once its driver has made an RDMA device.']};
	const tally = Object.fromEntries(tallyOf(model)), judged = tally.ok ?? 0, warming = model.ports.find((p) => p.state.kind === 'warming'), blind = blindness(model);
	if (blind !== null)
		return {...blind, lines: [...blind.lines, judged > 0 && `No problems found on ${count(judged, 'other port')} in use.`].filter(Boolean)};
	if (judged === 0 && warming)
		return {kind: 'warming', title: 'No verdict yet', lines: [`The ports are being ${model.watchedText(warming)}.`]};
	if (judged === 0)
		return {kind: 'unknown', title: 'No port could be judged', lines: ['No port in use has a link and counters that can be read.']};
	return {kind: 'ok', title: `No problems found on ${count(judged, 'port')} in use`, lines: ['Each was judged with the newest sample.', tally.unknown ? `${count(tally.unknown, 'port is', 'ports are')} not judged.` : null].filter(Boolean)};
}

function makeTally(model) {
	const tally = tallyOf(model), total = model.ports?.length ?? 0;
	if (total === 0)
		return null;
	return [makeBar(tally.map(([kind, n]) => `${n} ${STATES[kind].label}`).join(', '), tally.map(([kind, n]) => [n, kind]), total),
		make('ul', {class: 'tally'}, tally.map(([kind, n]) => make('li', {key: kind}, make('a', {href: placeLink(['ports'], {show: STATES[kind].filter})}, makeMark(kind, false), make('strong', {}, grouped(n)), ` ${STATES[kind].label}`))), undecidedNote(model))];
}

function undecidedNote(model) {
	const causes = new Set((model.documents.diagnosis?.undecided ?? []).map((u) => u.cause)).size;
	return causes > 0 && make('li', {class: 'last', key: 'undecided'}, make('a', {href: '#agent'}, `${count(causes, 'cause')} cannot be judged on every port`));
}

function makeFigure(model, [name, title]) {
	const ports = model.ports, {unit} = SIGNALS[name], v = model.valueOf(ports, name), isShare = unit === 'share';
	const most = ports.reduce((best, p) => ((model.value(p, name) ?? -1) > (best === null ? 0 : model.value(best, name)) ? p : best), null);
	const rate = sumOf(model.lanes.map(({head}) => (isDown(head) ? null : head.facts.rateBitsPerSecond))), hot = ports.map((p) => model.isHot(p, name)).find(Boolean) ?? null;
	const least = model.isLeast(ports, name);
	const [number, word] = unit === 'bits' && isKnown(v) ? scaled(v * 8, 'bit/s').split(NBSP) : [isKnown(v) ? inUnit(v, unit) : '–', UNITS[unit].name];
	const aside = unit === 'bits' ? (isKnown(v) && rate ? `${shortNumber(Number((100 * v * 8 / rate).toPrecision(2)))} % of ${lineRate(rate)}` : '')
		: !isKnown(v) ? 'not counted here' : most ? [isShare ? 'on ' : 'most on ', makePortLink(most.facts)] : 'on all ports';
	return make('div', {class: 'figure'}, make('h3', {}, title), make('p', {class: v === 0 ? 'big zero' : 'big', 'data-hot': hot}, least && makeLeast(), number, isKnown(v) && make('small', {}, ` ${word}`)), make('p', {class: 'quiet'}, aside || '–'),
		makeSpark(model, model.series(ports, name), [], unit === 'bits' && rate ? rate / 8 : leastOf(unit)));
}

// --- rails ----------------------------------------------------------------------------------------

// The share of the link that a VF uses, in eighths; any traffic counts as at least one.
function fillOf(model, p) {
	const v = greatestOf([model.value(p, 'bytes_received'), model.value(p, 'bytes_sent')]), rate = p.facts.rateBitsPerSecond ?? p.lane?.head.facts.rateBitsPerSecond;
	return v && rate ? Math.min(8, Math.max(1, Math.ceil(64 * v / rate))) : 0;
}

function cellName(p) {
	return isKnown(p.facts.vf) ? String(p.facts.vf) : shown(p.facts.device).slice(-3);
}

function hasCells(lane) {
	return lane.children.length <= CELLS_MOST;
}

// The key of the VF that is the one Tab stop of all.
function reachedCell(page, model) {
	const keys = model.lanes.filter(hasCells).flatMap((lane) => lane.children.map((p) => p.key));
	return keys.includes(page.cell) ? page.cell : keys[0];
}

// Arrow keys move between the VFs of a lane, and to the next lane that has some.
function moveInCells(page, event) {
	const [down, right] = {ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0]}[event.key] ?? [0, 0], from = event.target.closest('.cells a');
	const rows = [...event.currentTarget.querySelectorAll('.cells')].map((cells) => [...cells.children]), y = rows.findIndex((row) => row.includes(from));
	const row = rows[y + down], to = row?.[Math.min(row.length - 1, Math.max(0, rows[y]?.indexOf(from) + right))];
	if (!from || (!down && !right) || !to)
		return;
	event.preventDefault();
	page.cell = to.key;
	from.setAttribute('tabindex', '-1');
	to.setAttribute('tabindex', '0');
	to.focus();
}

function makeCells(page, model, lane, reached) {
	const cells = lane.children;
	if (!hasCells(lane))
		return make('a', {href: placeLink(['ports'], {rail: String(lane.n)})}, `${grouped(cells.filter((p) => model.isInUse(p)).length)} of ${count(cells.length, 'VF')} in use`);
	return make('div', {class: 'cells'}, cells.map((p) => make('a', {class: 'cell', key: p.key, href: portLink(p.facts), 'data-kind': p.state.kind, 'data-fill': p.state.kind === 'unknown' ? null : String(fillOf(model, p)),
		'data-kin': page.kin !== null && p.facts.pod && podKey(p.facts) === page.kin ? 'yes' : null, 'data-pod': p.facts.pod ? podKey(p.facts) : null, tabindex: p.key === reached ? '0' : '-1',
		'aria-label': `${shown(p.key)}, VF ${cellName(p)}: ${p.state.text}${p.facts.pod ? `, ${shown(podKey(p.facts))}` : ''}`, 'data-tip': `${shown(p.key)}: ${p.state.text}${p.facts.pod ? `, pod ${shown(podKey(p.facts))}` : ''}`}, cellName(p))));
}

// The PF's state, unless one of its ports has a problem or is one of a pod that is not known to be fine.
function laneState(lane) {
	return worstState([lane.head.state, ...lane.ports.filter((p) => p.verdicts.length > 0 || isBlind(p)).map((p) => p.state)]);
}

function makeTraffic(model, lane) {
	if (isDown(lane.head))
		return make('span', {class: 'state', 'data-kind': 'warning'}, 'Link down');
	const rate = lane.head.facts.rateBitsPerSecond, line = (name, arrow, text) => {
		const v = model.valueOf(lane.ports, name);
		return make('div', {}, make('span', {'aria-hidden': 'true'}, arrow), make('span', {class: 'unseen'}, text), make('span', {class: v === 0 ? 'number zero' : 'number'}, model.isLeast(lane.ports, name) && makeLeast(), inUnit(v, 'bits')),
			make('span', {class: 'meter', 'data-series': name === 'bytes_received' ? '1' : '2'}, make('span', {style: {width: rate && v ? `${Math.min(100, 800 * v / rate).toFixed(1)}%` : '0'}})));
	};
	return [line('bytes_received', '↓', 'received '), line('bytes_sent', '↑', 'sent ')];
}

function makeLaneValue(model, lane, name) {
	const v = model.valueOf(lane.ports, name), hot = lane.ports.map((p) => model.isHot(p, name)).find(Boolean) ?? null;
	if (isKnown(v))
		return make('td', {class: `number c-${name}`, 'data-head': SIGNALS[name].title}, make('span', {class: v === 0 ? 'zero' : 'value', 'data-hot': hot}, inUnit(v, SIGNALS[name].unit)));
	const [text, why] = model.missing(lane.head, name);
	return make('td', {class: `number c-${name}`, 'data-head': SIGNALS[name].title}, makeAbsent(text, why));
}

function makeLane(page, model, lane, reached) {
	const {head} = lane;
	return make('tr', {key: head.key, 'data-row': 'lane'}, make('th', {scope: 'row'}, make('div', {class: 'rail-name'}, makeMark(laneState(lane).kind), make('div', {}, makePortLink(head.facts), head.facts.netdev && make('div', {class: 'quiet'}, cutName(head.facts.netdev))))),
		make('td', {class: 'traffic'}, makeTraffic(model, lane)), LANE_SIGNALS.map((name) => makeLaneValue(model, lane, name)),
		make('td', {class: 'c-spark'}, trafficSpark(model, lane.ports, (head.facts.rateBitsPerSecond ?? 0) / 8 || undefined)), make('td', {class: 'c-vfs'}, lane.children.length ? makeCells(page, model, lane, reached) : make('span', {class: 'zero'}, 'none')));
}

function railLegend() {
	return make('ul', {class: 'legend-list', 'aria-label': 'legend of VFs'}, [['ok', 'in use'], ['critical', 'critical'], ['warning', 'warning'], ['unhealthy', 'unhealthy'], ['warming', 'warming up'], ['unknown', 'unknown'], ['idle', 'not in use']]
		.map(([kind, text]) => make('li', {}, make('span', {class: 'cell small', 'data-kind': kind, 'data-fill': kind === 'ok' ? '4' : null, 'aria-hidden': 'true'}), ` ${text}`)));
}

function makeRails(page, model) {
	const onKin = (event) => { const kin = event.type === 'mouseover' ? event.target.closest('.cell')?.dataset.pod ?? null : null; if (kin !== page.kin) { page.kin = kin; page.show(); } };
	const reached = reachedCell(page, model);
	return make('section', {class: 'panel flush rails', 'aria-labelledby': 'rails-title', onmouseover: onKin, onmouseout: onKin, onkeydown: (event) => moveInCells(page, event)}, make('header', {}, make('h2', {id: 'rails-title'}, 'Rails'), railLegend()),
		make('table', {}, make('caption', {class: 'unseen'}, 'rails: PFs, with sums over their VFs'), make('thead', {}, make('tr', {}, make('th', {scope: 'col'}, 'Rail'), make('th', {scope: 'col'}, 'Traffic ', make('small', {}, 'Gbit/s')),
			LANE_SIGNALS.map((name) => make('th', {scope: 'col', class: `number c-${name}`, 'data-tip': sentenceCase(SIGNALS[name].about)}, `${SIGNALS[name].title} `, make('small', {}, UNITS[SIGNALS[name].unit].name))), make('th', {scope: 'col', class: 'c-spark'}, '15 min'), make('th', {scope: 'col', class: 'c-vfs'}, 'VFs'))),
		make('tbody', {}, model.lanes.slice(0, page.allLanes ? Infinity : 64).map((lane) => makeLane(page, model, lane, reached)))),
		!page.allLanes && model.lanes.length > 64 && makeButton(`Show all ${model.lanes.length} rails`, () => { page.allLanes = true; page.show(); }, {class: 'more'}));
}

// --- beside ---------------------------------------------------------------------------------------

function poolBar(model, pool) {
	const {least, most} = model.available(pool), unfit = Math.max(0, pool.devices - pool.healthy), unsure = most - least, used = Math.max(0, pool.devices - unfit - most);
	return makeBar(`${used} not available, ${least} available${unsure ? `, ${unsure} not known` : ''}, ${unfit} unhealthy`, model.dead ? [[pool.devices, 'unknown']] : [[used, 'used'], [least, 'free'], [unsure, 'unknown'], [unfit, 'unhealthy']], Math.max(1, pool.devices));
}

function availableText(model, pool) {
	const {least, most} = model.available(pool);
	return least === most ? grouped(least) : `${grouped(least)} to ${grouped(most)}`;
}

function makePoolsBeside(page, model) {
	const pools = model.resources;
	return makePanel('Pools', make('a', {href: '#pools', 'aria-label': 'all pools'}, 'All'), pools === null ? make('p', {class: 'quiet'}, page.missing('api/v1/resources')) : pools.length === 0 ? make('p', {class: 'quiet'}, 'No pool is configured.')
		: pools.slice(0, 8).map((pool) => {
			const state = model.poolState(pool), bad = !['ok', 'unhealthy', 'unknown'].includes(state.kind);
			return make('div', {class: 'pool-line', key: pool.name}, make('p', {}, makePoolLink(pool.name), make('span', {}, pool.devices > 0 && state.kind !== 'critical' ? [make('strong', {}, model.dead ? '?' : availableText(model, pool)), ` of ${grouped(pool.devices)} available`] : make('span', {class: 'state', 'data-kind': state.kind}, state.text))),
				pool.devices > 0 && poolBar(model, pool), bad && make('p', {class: 'quiet clip', 'data-tip': shown(state.why)}, pool.devices > 0 && state.kind !== 'critical' && `${state.text}: `, sentenceCase(shown(state.why))));
		}));
}

// The newest first; what follows each other with one reason and pod is one: lists of events.
function eventRuns(events) {
	const runs = [];
	for (const e of [...events].reverse()) {
		const [last] = runs.at(-1) ?? [];
		if (last && e.pod && last.reason === e.reason && last.pod === e.pod && last.namespace === e.namespace)
			runs.at(-1).push(e);
		else
			runs.push([e]);
	}
	return runs;
}

function makeAgo(model, unixMs) {
	const s = (model.nowMs - unixMs) / 1000, [by, unit] = s < 60 ? [1, 's'] : s < 3600 ? [60, 'min'] : s < 172800 ? [3600, 'h'] : [86400, 'days'];
	const time = makeTime(unixMs);
	time.dataset.tip = `${time.textContent}, ${time.dataset.tip}`;
	setText(time, `${Math.max(0, Math.floor(s / by))} ${unit} ago`);
	return time;
}

function makeEventRun(model, run) {
	const [e] = run, n = sumOf(run.map((one) => one.count)), isWarning = e.type === 'Warning';
	return make('li', {key: eventKey(e)}, makeAgo(model, Date.parse(e.last)), make('div', {}, make('p', {}, make(isWarning ? 'strong' : 'span', {class: 'state', 'data-kind': isWarning ? 'warning' : null}, shown(e.reason)), n > 1 && ` ×${scaled(n)}`, run.length === 1 && e.device && [' ', makeObjectLink(model, e.device)]),
		run.length > 1 ? make('p', {}, makePodLink(e)) : make('p', {class: 'quiet clip', 'data-tip': shown(e.message)}, shown(e.message))));
}

function makeEventsBeside(model) {
	const runs = eventRuns(model.store.events).slice(0, EVENTS_SHOWN);
	return makePanel('Recent events', make('a', {href: '#events', 'aria-label': 'all events'}, 'All'), runs.length === 0 ? make('p', {class: 'quiet'}, 'No events since rocelet started.')
		: make('ul', {class: 'event-lines'}, runs.map((run) => makeEventRun(model, run))));
}

function makeAgentBeside(page, model) {
	const {doctor} = model.documents;
	return makePanel('Agent', make('a', {href: '#agent', 'aria-label': 'all about the agent'}, 'All'), doctor === null ? make('p', {class: 'quiet'}, page.missing('api/v1/doctor')) : doctor.findings.length === 0 ? make('p', {class: 'quiet'}, model.dead ? 'Not known now.' : 'Agent health: no findings.')
		: doctor.findings.slice(0, 4).map((f, i) => make('div', {key: String(i)}, make('p', {}, makeCode(f.kind), ' ', f.object && makeObjectLink(model, f.object)), make('p', {class: 'quiet clip', 'data-tip': shown(f.what)}, sentenceCase(shown(f.what))))));
}

// In place of problems, figures and rails.
function makeNoPorts(page, model) {
	const {devices} = model, {doctor} = model.documents;
	return make('div', {class: 'halves'},
		makePanel('What is here instead', null, devices === null ? make('p', {class: 'quiet'}, page.missing('api/v1/devices')) : devices.length === 0 ? make('p', {class: 'quiet'}, 'No network device was found.')
			: make('ul', {class: 'findings'}, devices.map((d) => make('li', {key: d.id}, make('p', {}, d.netdevs.map((netdev) => [make('strong', {}, cutName(netdev.name)), ' ']), makeCode(d.id)), make('p', {class: 'quiet'}, [d.driver, d.why].filter(Boolean).map(shown).join(': ')))))),
		makePanel('Next steps', make('a', {href: '#agent'}, 'Agent health'), doctor === null ? make('p', {class: 'quiet'}, page.missing('api/v1/doctor')) : doctor.findings.length === 0 ? make('p', {class: 'quiet'}, 'Agent health: no findings.')
			: make('ul', {class: 'findings'}, doctor.findings.map((f, i) => makeFinding(model, f, i)))));
}

class OverviewView {
	constructor(page) {
		this.page = page;
	}

	render(model) {
		const {page} = this, {kind, title, lines} = page.headline, hasPorts = (model.ports ?? []).length > 0, isEmpty = model.ports !== null && !hasPorts;
		return [make('header', {class: 'headline'}, make('div', {class: 'view-head'}, makeMark(kind), make('h1', {}, title)), lines.map((line) => make('p', {class: 'quiet'}, line)), makeTally(model)),
			make('div', {class: 'overview'}, make('div', {class: 'column'}, isEmpty && makeNoPorts(page, model), makeProblems(page, model, model.verdicts, model.ended), hasPorts && make('section', {class: 'panel figures', 'aria-labelledby': 'figures-title'}, make('h2', {id: 'figures-title', class: 'unseen'}, 'All ports'), FIGURES.map((figure) => makeFigure(model, figure))), hasPorts && makeRails(page, model)),
				make('div', {class: 'column'}, makePoolsBeside(page, model), makeEventsBeside(model), !isEmpty && makeAgentBeside(page, model)))];
	}

	title() {
		return 'Overview';
	}

	done() {}
}
