// SPDX-License-Identifier: Apache-2.0
// overview.js - the node's state, its problems, the affected pods and the next steps.

const CELLS_MOST = 32; // VFs of a lane that are drawn one by one
const EVENTS_SHOWN = 8;
const FIGURES = [['bytes_received', 'Received'], ['bytes_sent', 'Sent'], ['ce_share', 'CE marked'], ['pause_sent', 'Pause out'], ['pause_received', 'Pause in'], ['loss', 'Loss'], ['again', 'Retransmission']];
const LANE_SIGNALS = ['pause_sent', 'pause_received', 'ce_share', 'loss', 'again'];

function tallyOf(model) {
	return STATE_ORDER.map((kind) => [kind, (model.ports ?? []).filter((p) => p.state.kind === kind).length]).filter(([, n]) => n > 0);
}

function problemsText(model) {
	const n = model.store.verdictCount, ports = new Set(model.verdicts.map(portKey)).size, more = model.isCut ? `; only the worst ${model.verdicts.length} are shown` : '';
	return `${count(n, 'problem')} on ${model.isCut ? 'at least ' : ''}${grouped(ports)} of ${count(model.ports?.length ?? 0, 'port')}${more}`;
}

// {kind, title, lines}: the summary of this node.
function headline(page, model) {
	const {store} = model;
	if (store.timeMs === null)
		return {kind: 'unknown', title: page.state.kind === 'lost' ? 'State unknown' : 'No verdict yet', lines: [page.state.kind === 'connecting' ? 'Connecting to rocelet.' : page.state.kind === 'lost' ? 'rocelet does not answer.' : 'No sample has been judged yet.']};
	if (model.dead)
		return {kind: 'unknown', title: `State unknown since ${clock(model.sampleMs())}`, lines: [`Last known: ${store.verdictCount ? problemsText(model) : 'no problems'}. ${page.state.kind === 'lost' ? 'rocelet does not answer.' : 'rocelet answers, but takes no samples.'}`]};
	if (store.verdictCount > 0)
		return {kind: model.verdicts[0].severity, title: problemsText(model), lines: []};
	if (model.ports === null)
		return {kind: 'unknown', title: 'No verdict yet', lines: [page.missing('api/v1/ports')]};
	if (model.ports.length === 0)
		return {kind: 'unknown', title: 'No RDMA ports found on this node', lines: ['A port is listed once its driver has made an RDMA device.', make('a', {href: '#agent'}, 'Agent health')]};
	const tally = Object.fromEntries(tallyOf(model)), judged = tally.ok ?? 0, warming = model.ports.find((p) => p.state.kind === 'warming');
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
	const rate = sumOf(model.lanes.map((lane) => lane.head.facts.rateBitsPerSecond)), hot = ports.map((p) => model.isHot(p, name)).find(Boolean) ?? null;
	const least = model.isLeast(ports, name);
	const [number, word] = unit === 'bits' && isKnown(v) ? scaled(v * 8, 'bit/s').split(NBSP) : [isKnown(v) ? inUnit(v, unit) : '–', UNITS[unit].name];
	const aside = unit === 'bits' ? (isKnown(v) && rate ? `${shortNumber(Number((100 * v * 8 / rate).toPrecision(2)))} % of ${lineRate(rate)}` : '')
		: !isKnown(v) ? 'not counted here' : most ? [isShare ? 'on ' : 'most on ', makePortLink(most.facts)] : 'on all ports';
	return make('div', {class: 'figure'}, make('h3', {}, title), make('p', {class: v === 0 ? 'big zero' : 'big', 'data-hot': hot}, least && makeLeast(), number, isKnown(v) && make('small', {}, ` ${word}`)), make('p', {class: 'quiet'}, aside || '–'),
		makeSpark(model, model.series(ports, name), [], {bits: 1e6, share: 0.001, events: 0.1}[unit]));
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

// The VFs of a lane are one Tab stop; arrow keys move between them.
function makeCells(page, model, lane) {
	const cells = lane.children;
	if (cells.length > CELLS_MOST)
		return make('a', {href: placeLink(['ports'], {rail: String(lane.n)})}, `${grouped(cells.filter((p) => model.isInUse(p)).length)} of ${count(cells.length, 'VF')} in use`);
	const at = Math.min(page.cellAt.get(lane.head.key) ?? 0, cells.length - 1);
	const move = (event) => {
		const by = {ArrowRight: 1, ArrowLeft: -1}[event.key], links = [...event.currentTarget.children], i = links.indexOf(document.activeElement);
		if (!by || i < 0)
			return;
		event.preventDefault();
		const to = Math.min(links.length - 1, Math.max(0, i + by));
		page.cellAt.set(lane.head.key, to);
		links.forEach((link, n) => link.setAttribute('tabindex', n === to ? '0' : '-1'));
		links[to].focus();
	};
	return make('div', {class: 'cells', onkeydown: move}, cells.map((p, i) => make('a', {class: 'cell', key: p.key, href: portLink(p.facts), 'data-kind': p.state.kind, 'data-fill': p.state.kind === 'unknown' ? null : String(fillOf(model, p)),
		'data-kin': page.kin !== null && p.facts.pod && podKey(p.facts) === page.kin ? 'yes' : null, 'data-pod': p.facts.pod ? podKey(p.facts) : null, tabindex: i === at ? '0' : '-1',
		'aria-label': `${shown(p.key)}, VF ${cellName(p)}: ${p.state.text}${p.facts.pod ? `, ${shown(podKey(p.facts))}` : ''}`, 'data-tip': `${shown(p.key)}: ${p.state.text}${p.facts.pod ? `, pod ${shown(podKey(p.facts))}` : ''}`}, cellName(p))));
}

function laneState(lane) {
	return lane.head.state;
}

function makeTraffic(model, lane) {
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
		return make('td', {class: 'number', 'data-head': SIGNALS[name].title}, make('span', {class: v === 0 ? 'zero' : 'value', 'data-hot': hot}, inUnit(v, SIGNALS[name].unit)));
	const [text, why] = model.missing(lane.head, name);
	return make('td', {class: 'number', 'data-head': SIGNALS[name].title}, makeAbsent(text, why));
}

function makeLane(page, model, lane) {
	const {head} = lane;
	return make('tr', {key: head.key, 'data-row': 'lane'}, make('th', {scope: 'row'}, make('div', {class: 'rail-name'}, makeMark(laneState(lane).kind), make('div', {}, makePortLink(head.facts), head.facts.netdev && make('div', {class: 'quiet'}, cutName(head.facts.netdev))))),
		make('td', {class: 'traffic'}, makeTraffic(model, lane)), LANE_SIGNALS.map((name) => makeLaneValue(model, lane, name)),
		make('td', {class: 'c-spark'}, trafficSpark(model, lane.ports)), make('td', {class: 'c-vfs'}, lane.children.length ? makeCells(page, model, lane) : make('span', {class: 'zero'}, 'none')));
}

function railLegend() {
	return make('ul', {class: 'legend-list', 'aria-label': 'legend of VFs'}, [['ok', 'in use'], ['critical', 'problem'], ['unhealthy', 'unhealthy'], ['warming', 'warming up'], ['unknown', 'unknown'], ['idle', 'not in use']]
		.map(([kind, text]) => make('li', {}, make('span', {class: 'cell small', 'data-kind': kind, 'data-fill': kind === 'ok' ? '4' : null, 'aria-hidden': 'true'}), ` ${text}`)));
}

function makeRails(page, model) {
	const onKin = (event) => { const kin = event.type === 'mouseover' ? event.target.closest('.cell')?.dataset.pod ?? null : null; if (kin !== page.kin) { page.kin = kin; page.show(); } };
	return make('section', {class: 'panel flush rails', 'aria-labelledby': 'rails-title', onmouseover: onKin, onmouseout: onKin}, make('header', {}, make('h2', {id: 'rails-title'}, 'Rails'), railLegend()),
		make('table', {}, make('caption', {class: 'unseen'}, 'rails: PFs, with sums over their VFs'), make('thead', {}, make('tr', {}, make('th', {scope: 'col'}, 'Rail'), make('th', {scope: 'col'}, 'Traffic ', make('small', {}, 'Gbit/s')),
			LANE_SIGNALS.map((name) => make('th', {scope: 'col', class: 'number', 'data-tip': sentenceCase(SIGNALS[name].about)}, `${SIGNALS[name].title} `, make('small', {}, UNITS[SIGNALS[name].unit].name))), make('th', {scope: 'col', class: 'c-spark'}, '15 min'), make('th', {scope: 'col', class: 'c-vfs'}, 'VFs'))),
		make('tbody', {}, model.lanes.slice(0, page.allLanes ? Infinity : 64).map((lane) => makeLane(page, model, lane)))),
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
			return make('div', {class: 'pool-line', key: pool.name}, make('p', {}, makePoolLink(pool.name), make('span', {}, pool.devices > 0 ? [make('strong', {}, model.dead ? '?' : availableText(model, pool)), ` of ${grouped(pool.devices)} available`] : make('span', {class: 'state', 'data-kind': state.kind}, state.text))),
				pool.devices > 0 && poolBar(model, pool), bad && make('p', {class: 'quiet clip', 'data-tip': shown(state.why)}, pool.devices > 0 && `${state.text}: `, shown(state.why)));
		}));
}

function makeEventsBeside(model) {
	const events = model.store.events.slice(-EVENTS_SHOWN).reverse();
	return makePanel('Recent events', make('a', {href: '#events', 'aria-label': 'all events'}, 'All'), events.length === 0 ? make('p', {class: 'quiet'}, 'No events since rocelet started.')
		: make('ul', {class: 'event-lines'}, events.map((e) => make('li', {key: eventKey(e)}, makeTime(Date.parse(e.last)), make('div', {}, make('p', {}, make('strong', {class: 'state', 'data-kind': e.type === 'Warning' ? 'warning' : null}, shown(e.reason)), e.count > 1 && ` ×${scaled(e.count)}`, e.device && [' ', makeObjectLink(model, e.device)]),
			make('p', {class: 'quiet clip', 'data-tip': shown(e.message)}, shown(e.message)))))));
}

function makeAgentBeside(page, model) {
	const {doctor} = model.documents;
	return makePanel('Agent', make('a', {href: '#agent', 'aria-label': 'all about the agent'}, 'All'), doctor === null ? make('p', {class: 'quiet'}, page.missing('api/v1/doctor')) : doctor.findings.length === 0 ? make('p', {class: 'quiet'}, model.dead ? 'Not known now.' : 'Agent health: no findings.')
		: doctor.findings.slice(0, 4).map((f, i) => make('div', {key: String(i)}, make('p', {}, makeCode(f.kind), ' ', f.object && makeObjectLink(model, f.object)), make('p', {class: 'quiet clip', 'data-tip': shown(f.what)}, sentenceCase(shown(f.what))))));
}

class OverviewView {
	constructor(page) {
		this.page = page;
	}

	render(model) {
		const {page} = this, {kind, title, lines} = headline(page, model), hasPorts = model.ports !== null && model.ports.length > 0;
		return [make('header', {class: 'headline'}, make('div', {class: 'view-head'}, makeMark(kind), make('h1', {}, title)), lines.map((line) => make('p', {class: 'quiet'}, line)), makeTally(model)),
			make('div', {class: 'overview'}, make('div', {class: 'column'}, makeProblems(page, model, model.verdicts, model.ended), hasPorts && make('section', {class: 'panel figures', 'aria-labelledby': 'figures-title'}, make('h2', {id: 'figures-title', class: 'unseen'}, 'All ports'), FIGURES.map((figure) => makeFigure(model, figure))), hasPorts && makeRails(page, model)),
				make('div', {class: 'column'}, makePoolsBeside(page, model), makeEventsBeside(model), makeAgentBeside(page, model)))];
	}

	title() {
		return 'Overview';
	}

	done() {}
}
