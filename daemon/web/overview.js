// SPDX-License-Identifier: Apache-2.0
// overview.js - the node's state, its problems, the affected pods and the next steps.

const CELLS_MOST = 32; // VFs of a lane that are drawn one by one
const ODD_MOST = 7; // VFs of a larger lane that are drawn: only those in trouble
const EVENTS_SHOWN = 8;
const OBJECTS_NAMED = 3; // of findings with the same text
const BLIND_SHOWN = 4;
const BLIND_PODS = 3; // that a row names
const AFFECTED_SHOWN = 6;
const FIGURES = [['bytes_received', 'Received'], ['bytes_sent', 'Sent'], ['ce_share', 'CE marked'], ['pause_sent', 'Pause out'], ['pause_received', 'Pause in'], ['loss', 'Loss'], ['again', 'Retransmission']];
const RAILS_NARROW = window.matchMedia('(max-width: 699px)'); // rows are blocks there
const LANE_SIGNALS = ['pause_sent', 'pause_received', 'ce_share', 'loss', 'again'];

// True if a pod has the port, and the port has a trouble that is no verdict, or its state is unknown.
function isBlind(p) {
	return (p.facts.pod !== null || p.device?.attachment?.state === 'in_pod') && (p.state.isTrouble || p.state.kind === 'unknown');
}

// Pods' ports and devices without a verdict that are not known to be fine: such ports, and devices with a trouble that their port does not have. {key, what, word: for the title, state, port: or null, device: its ID, pod,
// troubles}
function blindItems(model) {
	const isOwn = ({device: {port}, ...trouble}) => !port ? true : model.uncovered(port, [trouble]).length > 0 && !port.state.ofPf && (port.troubles.length === 0 && port.verdicts.length === 0 && !isBlind(port));
	const ports = (model.isCut ? [] : model.ports.filter(isBlind)).map((p) => ({key: p.key, what: 'port', word: isDown(p) ? 'down' : p.state.isTrouble ? 'in trouble' : 'not judged', state: p.state, port: p, device: p.key, pod: p.facts.pod ? {namespace: p.facts.namespace, name: p.facts.pod} : null, troubles: p.troubles}));
	const devices = (model.pods ?? []).flatMap((pod) => [...groupBy(pod.troubles.filter(isOwn), ({device}) => device.id).values()].map((troubles) => ({key: `${pod.key} ${troubles[0].device.id}`, what: 'device', word: 'in trouble', state: troubleState(troubles, true), port: troubles[0].device.port, device: troubles[0].device.id, pod, troubles})));
	const byName = ({pod, device}) => (pod ? podKey(pod) : device);
	return [...ports, ...devices].sort((a, b) => stateRank(a.state) - stateRank(b.state) || naturalOrder(byName(a), byName(b)) || naturalOrder(a.device, b.device));
}

// {kind, title, items}, or null; found once for each drawing.
function blindness(model) {
	model.blind ??= [findBlindness(model)];
	return model.blind[0];
}

function findBlindness(model) {
	const items = blindItems(model).filter(({state}) => !model.dead || state.isTrouble); // what is not judged is not known by then
	if (items.length === 0)
		return null;
	const groups = [...groupBy(items, ({word}) => word).values()];
	const worst = worstState(items.map(({state}) => state));
	return {kind: worst.kind === 'unhealthy' ? 'warning' : worst.kind, items,
		title: groups.map((list) => `${count(list.length, list[0].what)} of ${list.length === 1 ? 'a pod is' : 'pods are'} ${list[0].word}`).join(', ')};
}

// Items with the same state and remedy are one row: {state, items, why}.
function blindGroups(items) {
	return [...groupBy(items, ({state, troubles}) => `${state.kind} ${state.text} ${troubles[0]?.help ?? state.why}`).values()].map((list) => ({state: list[0].state, items: list, help: list[0].troubles[0]?.help ?? '', why: list.length === 1 || new Set(list.map(({state}) => state.why)).size === 1 ? list[0].state.why : null}));
}

// The devices of a group, by pod: a pod is named once.
function makeBlindPods(items, all) {
	const pods = [...groupBy(items, ({pod, key}) => (pod ? podKey(pod) : key)).values()], named = pods.slice(0, all ? Infinity : BLIND_PODS), more = pods.length - named.length;
	return [items.length > 1 && make('div', {}, `${count(items.length, 'device')}${items[0].pod ? ` of ${count(pods.length, 'pod')}` : ''}`), named.map((list) => make('div', {key: list[0].key}, list.map(({port, device}, i) => [i > 0 && ', ', port ? makePortLink(port.facts) : makeCode(device)]), list[0].pod && [make('span', {class: 'quiet'}, ' of '), makePodLink(list[0].pod)])),
		more > 0 && make('div', {class: 'quiet'}, `and ${grouped(more)} more`)];
}

// The section below the problems: pods' devices that are in trouble without a verdict.
function makeBlind(page, model) {
	const blind = model.ports ? blindness(model) : null;
	if (blind === null)
		return null;
	const all = page.unfolded.has('blind'), groups = blindGroups(blind.items), rows = groups.slice(0, all ? Infinity : BLIND_SHOWN);
	const isCut = rows.length < groups.length || (!all && rows.some(({items}) => new Set(items.map(({pod, key}) => (pod ? podKey(pod) : key))).size > BLIND_PODS));
	return make('section', {class: 'panel flush blind', 'aria-labelledby': 'blind-title', key: 'blind'}, make('header', {}, make('h2', {id: 'blind-title', tabindex: '-1'}, blind.title), model.dead && make('span', {class: 'quiet'}, 'last known')),
		make('ul', {}, rows.map(({state, items, why, help}) => make('li', {key: `${state.text} ${help}`}, makeMark(state.kind, true), make('strong', {class: 'state', 'data-kind': state.kind}, state.text), make('div', {}, makeBlindPods(items, all)),
			make('span', {class: 'quiet'}, why && `${sentenceCase(why)}.`, help && [' ', withCode(help)])))),
		isCut && makeButton(`Show all ${grouped(blind.items.length)}`, () => page.unfold('blind'), {class: 'more'}));
}

// The pods with problems, the worst first: those that the filter of their list shows.
function makeAffected(model) {
	const pods = (model.pods ?? []).filter(isProblem).sort((a, b) => stateRank(a.state) - stateRank(b.state) || naturalOrder(a.key, b.key)), more = pods.length - AFFECTED_SHOWN;
	return pods.length > 0 && make('section', {class: 'panel', 'aria-labelledby': 'affected-title', key: 'affected'}, make('header', {}, make('h2', {id: 'affected-title'}, `${count(pods.length, 'pod')} with problems`), make('a', {href: '#pods?show=problems', 'aria-label': 'all pods with problems'}, more > 0 ? `and ${grouped(more)} more` : 'All')),
		make('ul', {class: 'affected'}, pods.slice(0, AFFECTED_SHOWN).map((pod) => make('li', {key: pod.key}, makeMark(pod.state.kind), make('div', {}, make('p', {}, makePodLink(pod)), make('p', {}, podStateCell(pod)))))));
}

// What is wrong besides the ports: {text, short: the same for the bar, href}.
function otherTroubles(model) {
	const failures = sumOf(model.store.events.filter((e) => e.reason === 'QueuePairFailed' && Date.parse(e.last) > model.nowMs - ENDED_MS).map((e) => e.count)), config = rejectedConfig(model);
	return [config && {text: lowerFirst(config.title), short: config.title, href: '#agent'},
		failures > 0 && {text: `${count(failures, 'queue pair')} failed in the last hour`, short: `${grouped(failures)} failed ${failures === 1 ? 'QP' : 'QPs'}`, href: '#events?topic=application'}].filter(Boolean);
}

// A link to the section of makeBlind(), which has the same name. The view's address stays.
function makeBlindLink(title) {
	return makeButton(title, () => { const section = byId('blind-title'); section?.scrollIntoView({block: 'start'}); section?.focus({preventScroll: true}); }, {class: 'link in-text'});
}

// {kind, title, lines}: the summary of this node; a line is a list of texts and elements.
function headline(page, model) {
	const {store} = model, {problems, kinds} = nodeTally(model), blind = model.ports && blindness(model), verdict = model.problems[0];
	if (store.timeMs === null)
		return {kind: 'unknown', title: page.state.kind === 'lost' ? 'State unknown' : 'No verdict yet', lines: [page.state.kind === 'connecting' ? 'Connecting to rocelet.' : page.state.kind === 'lost' ? 'rocelet does not answer.' : 'No sample has been judged yet.']};
	if (model.dead)
		return {kind: 'unknown', title: `State unknown since ${clock(model.sampleMs())}`, lines: [`Last known: ${problems > 0 ? problemsText(model) : 'no problems'}.`, ...blind ? [[makeBlindLink(blind.title), '.']] : []]};
	if (store.problemCount > 0)
		return {kind: worstState([verdictState(verdict), ...blind ? [blind] : []]).kind, title: problemsText(model), lines: blind ? [[makeBlindLink(blind.title), '.']] : []};
	if (model.ports === null)
		return {kind: 'unknown', title: 'No verdict yet', lines: [page.missing('api/v1/ports')]};
	if (model.ports.length === 0)
		return {kind: 'unknown', title: 'No RDMA ports found on this node', lines: ['A port is listed once its driver has made an RDMA device.']};
	const tally = Object.fromEntries(kinds), judged = (tally.ok ?? 0) + (tally.info ?? 0), warming = model.ports.find((p) => p.state.kind === 'warming');
	if (blind !== null)
		return {...blind, lines: [judged > 0 && `No problems found on ${count(judged, 'other port')} in use.`].filter(Boolean)};
	if (judged === 0 && warming)
		return {kind: 'warming', title: 'No verdict yet', lines: [`The ports have been ${model.watchedText(warming)}.`]};
	if (judged === 0)
		return {kind: 'unknown', title: 'No port could be judged', lines: ['No port in use has a link and counters that can be read.']};
	const others = otherTroubles(model);
	return {kind: others.length > 0 ? 'warning' : 'ok', others, title: `No problems found on ${count(judged, 'port')} in use`, lines: [others.length > 0 && `But ${others.map(({text}) => text).join(', ')}.`, 'Each was judged with the newest sample.', tally.info ? `${count(tally.info, 'port has', 'ports have')} a note below.` : null, tally.unknown ? `${count(tally.unknown, 'port is', 'ports are')} not judged.` : null].filter(Boolean)};
}

function makeTally(model) {
	const tally = nodeTally(model).kinds, total = model.ports?.length ?? 0;
	if (total === 0)
		return null;
	return [makeBar(tally.map(([kind, n]) => `${n} ${STATES[kind].label}`).join(', '), tally.map(([kind, n]) => [n, kind]), total),
		make('ul', {class: 'tally'}, tally.map(([kind, n]) => make('li', {key: kind}, make('a', {href: placeLink(['ports'], {show: STATES[kind].filter})}, makeMark(kind, false), make('strong', {}, grouped(n)), ` ${STATES[kind].label}`))), undecidedNote(model))];
}

// Causes that are not judged: {none: those judged on no port, some: those judged on some ports only}
function undecidedCauses(model) {
	const judged = new Set(model.ports?.filter((p) => p.facts.watch === 'judged').map((p) => p.key)), lists = {none: [], some: []};
	for (const [cause, list] of groupBy(model.documents.diagnosis?.undecided ?? [], (u) => u.cause))
		lists[new Set(list.map(portKey).filter((key) => judged.has(key))).size < judged.size ? 'some' : 'none'].push(causeTitle(cause));
	return lists;
}

// As two counts: "not judged on all ports" would be read as "judged on some".
function undecidedText(model) {
	const {none, some} = undecidedCauses(model);
	return [none.length && `${count(none.length, 'cause is', 'causes are')} judged on no port`, some.length && (none.length ? `${grouped(some.length)} more on some ports only` : `${count(some.length, 'cause is', 'causes are')} judged on some ports only`)].filter(Boolean).join(', ');
}

function undecidedNote(model) {
	const text = undecidedText(model), {none, some} = undecidedCauses(model);
	return text && make('li', {class: 'last', key: 'undecided'}, make('a', {href: '#agent', 'data-tip': [...none, ...some].join(', ')}, text));
}

function makeFigure(model, [name, title]) {
	const ports = model.ports, {unit} = SIGNALS[name], {v, hot, p: ill} = model.hotValueOf(ports, name), isShare = unit === 'share';
	const greatest = ports.reduce((best, p) => ((model.value(p, name) ?? -1) > (best === null ? 0 : model.value(best, name)) ? p : best), null), most = isShare ? ill ?? greatest : greatest;
	const rate = sumOf(model.lanes.map(({head}) => (isDown(head) ? null : head.facts.rateBitsPerSecond))); // of links that are up
	const least = model.isLeast(ports, name);
	const [number, word] = unit === 'bits' && isKnown(v) ? scaled(v * 8, 'bit/s').split(NBSP) : [isKnown(v) ? inUnit(v, unit) : '–', UNITS[unit].name];
	const aside = unit === 'bits' ? (isKnown(v) && rate ? `${shortNumber(Number((100 * v * 8 / rate).toPrecision(2)))} % of ${lineRate(rate)}` : '')
		: !isKnown(v) ? (ports.some((p) => p.state.kind === 'warming') ? 'no rate yet' : 'not counted here') : ill && ill !== most ? [`${withUnit(model.value(ill, name), unit)} on `, makePortLink(ill.facts)] : most ? [isShare ? 'on ' : 'most on ', makePortLink(most.facts)] : 'on all ports';
	return make('div', {class: 'figure'}, make('h3', {}, title), make('p', {class: v ? 'big' : 'big zero', 'data-hot': hot}, least && makeLeast(), number, isKnown(v) && make('small', {}, ` ${word}`)), make('p', {class: 'quiet'}, aside || '–'),
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

function hasAllCells(lane) {
	return lane.children.length <= CELLS_MOST;
}

// The VFs that are drawn: of many only those in trouble, the worst first.
function cellsOf(lane) {
	return hasAllCells(lane) ? lane.children : lane.children.filter((p) => stateRank(p.state) < stateRank({kind: 'warming'})).sort((a, b) => stateRank(a.state) - stateRank(b.state)).slice(0, ODD_MOST);
}

// The key of the VF that is the one Tab stop of all cells in a view.
function reachedCell(page, lanes) {
	const keys = lanes.flatMap((lane) => cellsOf(lane).map((p) => p.key));
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
	const all = lane.children, cells = cellsOf(lane);
	return [!hasAllCells(lane) && make('a', {href: placeLink(['ports'], {rail: String(lane.n)})}, `${grouped(all.filter((p) => model.isInUse(p)).length)} of ${count(all.length, 'VF')} in use`), cells.length > 0 && makeCellRow(page, model, cells, reached)];
}

function makeCellRow(page, model, cells, reached) {
	return make('div', {class: 'cells'}, cells.map((p) => make('a', {class: 'cell', key: p.key, href: portLink(p.facts), 'data-kind': p.state.kind, 'data-fill': p.state.kind === 'unknown' ? null : String(fillOf(model, p)),
		'data-kin': page.kin !== null && p.facts.pod && podKey(p.facts) === page.kin ? 'yes' : null, 'data-pod': p.facts.pod ? podKey(p.facts) : null, tabindex: p.key === reached ? '0' : '-1',
		'aria-label': `${shown(p.key)}, VF ${cellName(p)}: ${p.state.text}${p.facts.pod ? `, ${shown(podKey(p.facts))}` : ''}`, 'data-tip': `${shown(p.key)}: ${p.state.text}${p.facts.pod ? `, pod ${shown(podKey(p.facts))}` : ''}`}, cellName(p))));
}

function makeTraffic(model, lane) {
	if (isDown(lane.head))
		return make('span', {class: 'state', 'data-kind': lane.head.verdicts.find(isProblemVerdict)?.severity ?? 'warning'}, 'Link down');
	const rate = lane.head.facts.rateBitsPerSecond, line = (name, arrow, text) => {
		const v = model.valueOf(lane.ports, name);
		return make('div', {}, make('span', {'aria-hidden': 'true'}, arrow), make('span', {class: 'unseen'}, text), make('span', {class: v === 0 ? 'number zero' : 'number'}, model.isLeast(lane.ports, name) && makeLeast(), inUnit(v, 'bits')),
			make('span', {class: 'meter', 'data-series': name === 'bytes_received' ? '1' : '2'}, make('span', {style: {width: rate && v ? `${Math.min(100, 800 * v / rate).toFixed(1)}%` : '0'}})));
	};
	return [line('bytes_received', '↓', 'received '), line('bytes_sent', '↑', 'sent ')];
}

function makeLaneValue(model, lane, name) {
	const {v, hot} = model.hotValueOf(lane.ports, name);
	if (isKnown(v))
		return make('td', {class: `number c-${name}`, 'data-head': SIGNALS[name].title}, make('span', {class: v === 0 ? 'zero' : 'value', 'data-hot': hot}, inUnit(v, SIGNALS[name].unit)));
	const [text, why] = model.missing(lane.head, name);
	return make('td', {class: `number c-${name}`, 'data-head': SIGNALS[name].title}, makeAbsent(text, why));
}

function makeLane(page, model, lane, reached) {
	const {head} = lane;
	return make('tr', {key: head.key, 'data-row': 'lane'}, make('th', {scope: 'row'}, make('div', {class: 'rail-name'}, makeMark(head.state.kind), make('div', {}, makePortLink(head.facts), head.facts.netdev && make('div', {class: 'quiet'}, cutName(head.facts.netdev))))),
		make('td', {class: 'traffic'}, makeTraffic(model, lane)), LANE_SIGNALS.map((name) => makeLaneValue(model, lane, name)),
		make('td', {class: 'c-spark'}, trafficSpark(model, lane.ports)), make('td', {class: 'c-vfs'}, lane.children.length ? makeCells(page, model, lane, reached) : make('span', {class: 'zero'}, 'none')));
}

function railLegend() {
	return make('ul', {class: 'legend-list', 'aria-label': 'legend of VFs'}, [['ok', 'in use'], ['critical', 'critical'], ['warning', 'warning'], ['unhealthy', 'unhealthy'], ['warming', 'warming up'], ['unknown', 'unknown'], ['idle', 'not in use']]
		.map(([kind, text]) => make('li', {}, make('span', {class: 'cell small', 'data-kind': kind, 'data-fill': kind === 'ok' ? '4' : null, 'aria-hidden': 'true'}), ` ${text}`)));
}

function makeRails(page, model) {
	const onKin = (event) => { const kin = event.type === 'mouseover' ? event.target.closest('.cell')?.dataset.pod ?? null : null; if (kin !== page.kin) { page.kin = kin; page.show(); } };
	const reached = reachedCell(page, model.lanes);
	return make('section', {class: 'panel flush rails', 'aria-labelledby': 'rails-title', onmouseover: onKin, onmouseout: onKin, onkeydown: (event) => moveInCells(page, event)}, make('header', {}, make('h2', {id: 'rails-title'}, 'Rails'), railLegend()),
		make('table', {'data-blocks': RAILS_NARROW.matches ? 'yes' : null}, make('caption', {class: 'unseen'}, 'rails: PFs, with sums over their VFs'), make('thead', {}, make('tr', {}, make('th', {scope: 'col'}, 'Rail'), make('th', {scope: 'col'}, 'Traffic ', make('small', {}, 'Gbit/s')),
			LANE_SIGNALS.map((name) => make('th', {scope: 'col', class: `number c-${name}`, 'data-tip': sentenceCase(SIGNALS[name].about)}, `${SIGNALS[name].title} `, make('small', {}, UNITS[SIGNALS[name].unit].name))), make('th', {scope: 'col', class: 'c-spark'}, sparkTitle(model)), make('th', {scope: 'col', class: 'c-vfs'}, 'VFs'))),
		make('tbody', {}, model.lanes.slice(0, page.allLanes ? Infinity : 64).map((lane) => makeLane(page, model, lane, reached)))),
		!page.allLanes && model.lanes.length > 64 && makeButton(`Show all ${model.lanes.length} rails`, () => { page.allLanes = true; page.show(); }, {class: 'more'}));
}

// --- beside ---------------------------------------------------------------------------------------

// [reason in words, number] of the unhealthy devices that no pod has; empty for shared pools, whose devices are not listed.
function unfitReasons(model, pool) {
	const free = pool.shared ? [] : (model.devicesOf(pool.name) ?? []).map((d) => d.resources.find((r) => r.resource === pool.name)).filter((r) => r.healthy === false && !r.holder);
	return [...groupBy(free, (r) => r.reasons.map((word) => troubleTitle({kind: 'device', word}).toLowerCase()).join(', '))].map(([text, list]) => [text, list.length]);
}

// The parts of a pool, which add up to its devices: [kind, n, text]. The number of free devices is from the daemon, as in rocectl and the metrics.
function poolParts(model, pool) {
	const unfit = Math.max(0, pool.devices - pool.healthy);
	if (isListUnread(pool))
		return [['unknown', pool.devices - unfit, `healthy, ${pool.free === 0 ? 'none available' : 'perhaps allocated'}`], ['unhealthy', unfit, 'unhealthy']].filter(([, n]) => n > 0);
	const used = Math.max(0, pool.devices - unfit - pool.free), allocated = Math.min(used, pool.allocated), heldUnfit = Math.min(unfit, pool.allocated - allocated);
	const reasons = unfitReasons(model, pool), isExplained = sumOf(reasons.map(([, n]) => n)) === unfit - heldUnfit;
	return [['used', allocated, heldUnfit > 0 ? 'allocated and healthy' : 'allocated'], ['used-unhealthy', heldUnfit, 'allocated and unhealthy'], ['blocked', used - allocated, pool.registration !== 'registered' && isKnown(pool.registration) ? 'not offered' : isKnown(pool.gidCapacity) && pool.gidCapacity < pool.devices ? 'without a RoCE address left' : 'reserved or returning'],
		['free', pool.free, 'available'], ['unhealthy', unfit - heldUnfit, `unhealthy${isExplained && reasons.length > 0 ? `: ${reasons.map(([text, n]) => (reasons.length > 1 ? `${n} ${text}` : text)).join('; ')}` : ''}`]].filter(([, n]) => n > 0);
}

function poolBar(model, pool) {
	const parts = poolParts(model, pool);
	return makeBar(parts.map(([, n, text]) => `${n} ${text}`).join(', '), parts.map(([kind, n]) => [n, kind]), Math.max(1, pool.devices));
}

// The legend of the bar: its parts with their numbers.
function poolLegend(model, pool) {
	return make('ul', {class: 'legend-list', 'aria-label': 'parts of the pool'}, poolParts(model, pool).map(([kind, n, text]) => make('li', {key: kind}, make('span', {class: 'part', 'data-kind': kind, 'aria-hidden': 'true'}), make('strong', {}, ` ${grouped(n)}`), ` ${text}`)));
}

// How many devices of a pool are available, also if that is not known yet.
function makeAvailable(model, pool) {
	const quiet = {class: model.dead ? 'quiet' : null};
	return isKnown(pool.free) ? make('span', quiet, make('strong', {}, grouped(pool.free)), ` of ${grouped(pool.devices)}${model.dead ? ', last known' : ' available'}`)
		: make('span', {class: 'quiet', 'data-tip': UNREAD_LIST}, 'availability not known yet');
}

function makePoolsBeside(page, model) {
	const pools = model.resources;
	return makePanel('Pools', make('a', {href: '#pools', 'aria-label': 'all pools'}, 'All'), pools === null ? make('p', {class: 'quiet'}, page.missing('api/v1/resources')) : pools.length === 0 ? make('p', {class: 'quiet'}, 'No pool is configured.')
		: pools.slice(0, 8).map((pool) => {
			const state = model.poolState(pool), bad = pool.devices === 0 || !['ok', 'unhealthy', 'unknown'].includes(state.kind);
			return make('div', {class: 'pool-line', key: pool.name}, make('p', {}, makePoolLink(pool.name), make('span', {}, pool.devices > 0 && state.kind !== 'critical' ? makeAvailable(model, pool) : make('span', {class: 'state', 'data-kind': state.kind}, state.text))),
				pool.devices > 0 && poolBar(model, pool), bad && make('p', {class: 'quiet clip two', 'data-tip': sentenceCase(shown(state.why))}, pool.devices > 0 && state.kind !== 'critical' ? state.text : sentenceCase(shown(state.why))));
		}));
}

// Is the event the onset of a verdict that is listed among the problems, or did that become worse?
function isOpenOnset(model, e) {
	const verdict = /^Diagnosis(Onset|Worse)$/.test(e.reason) && eventVerdict(e), p = model.portByName.get(e.device);
	return Boolean(verdict && p?.verdicts.some((v) => v.cause === verdict.cause && Date.parse(v.onset) <= Date.parse(e.last) + 1000));
}

// Groups of events, the newest first: consecutive events with the same reason and the same cause or pod are one group.
function eventRuns(events) {
	const runs = [];
	for (const e of [...events].reverse()) {
		const [last] = runs.at(-1) ?? [], cause = eventVerdict(e)?.cause;
		if (last && last.reason === e.reason && (cause ? eventVerdict(last)?.cause === cause : e.pod && last.pod === e.pod && last.namespace === e.namespace))
			runs.at(-1).push(e);
		else
			runs.push([e]);
	}
	return runs;
}

// The time of an event, as in the list of events; pointer and focus show its age.
function makeEventTime(model, unixMs) {
	const s = (model.nowMs - unixMs) / 1000, [by, unit] = s < 60 ? [1, 's'] : s < 3600 ? [60, 'min'] : s < 172800 ? [3600, 'h'] : [86400, 'days'];
	const time = makeTime(unixMs);
	time.dataset.tip = `${Math.max(0, Math.floor(s / by))} ${unit} ago, ${time.dataset.tip}`;
	time.tabIndex = 0;
	return time;
}

function makeEventRun(model, run) {
	const [e] = run, n = sumOf(run.map((one) => one.count)), kind = eventKind(e), verdict = eventVerdict(e), devices = [...new Set(run.map((one) => one.device).filter(Boolean))];
	const what = run.length === 1 ? [e.device && makeObjectLink(model, e.device), make('span', {class: 'quiet clip two', 'data-tip': eventMessage(model, e)}, eventDetail(model, e))]
		: verdict ? [makeObjectLink(model, devices[0]), devices.length > 1 && make('span', {class: 'quiet'}, `and ${devices.length - 1} more`)] : makePodLink(e);
	return make('li', {key: eventKey(e)}, makeEventTime(model, Date.parse(e.last)), make('div', {}, make('p', {}, make('span', {class: 'state', 'data-kind': kind}, eventTitle(e)), n > 1 && ` ×${scaledCount(n)}`), make('p', {class: 'event-what'}, what)));
}

function makeEventsBeside(model) {
	const {events} = model.store, others = events.filter((e) => !isOpenOnset(model, e)), runs = eventRuns(others).slice(0, EVENTS_SHOWN);
	return makePanel(others.length < events.length ? 'Other recent events' : 'Recent events', make('a', {href: '#events'}, 'All events'), runs.length === 0 ? make('p', {class: 'quiet'}, events.length > 0 ? 'No events but the problems listed here.' : 'No events since rocelet started.')
		: make('ul', {class: 'event-lines'}, runs.map((run) => makeEventRun(model, run))));
}

// Is the finding about a device whose problem is listed?
function isOfProblem(model, f) {
	const p = f.kind === 'unhealthy' ? model.portByName.get(f.object) ?? model.portByKey.get(f.object) : null;
	return Boolean(p && [p, p.lane?.head ?? p].some((one) => isDown(one) && one.verdicts.some(isProblemVerdict)) && p.troubles.every(({word}) => LINK_WORDS.has(word)));
}

function makeAgentBeside(page, model) {
	const {doctor} = model.documents, findings = (doctor?.findings ?? []).filter((f) => !isOfProblem(model, f) && f !== rejectedConfig(model)?.found), elsewhere = (doctor?.findings.length ?? 0) - findings.length;
	return makePanel('Agent', make('a', {href: '#agent', 'aria-label': 'all about the agent'}, 'All'), doctor === null ? make('p', {class: 'quiet'}, page.missing('api/v1/doctor')) : findings.length === 0 ? make('p', {class: 'quiet'}, model.dead ? 'Not known now.' : doctor.findings.length > 0 ? 'Agent health: no findings but those listed here.' : 'Agent health: no findings.')
		: findingGroups(findings).slice(0, 4).map((group, i) => [group[0], group, i]).map(([f, group, i]) => make('div', {class: 'agent-line', key: String(i)}, make('p', {}, makeFindingMark(model, group), ' ', makeFindingTitle(model, f), group.slice(0, OBJECTS_NAMED).map((one, n) => one.object && [n > 0 ? ', ' : ' ', makeObjectLink(model, one.object)]), group.length > OBJECTS_NAMED && ` and ${group.length - OBJECTS_NAMED} more`), make('p', {class: 'quiet clip two', 'data-tip': inWords(shown(f.what))}, sentenceCase(inWords(shown(f.what)))))),
	findings.length > 0 && elsewhere > 0 && make('p', {class: 'quiet'}, `and ${count(elsewhere, 'finding')} among the problems`));
}

// What to check on a node whose agent has no findings.
const NO_PORTS_STEPS = ['`lspci` lists the NICs of this node.', '`rdma link` lists the RDMA devices that their drivers have made.', 'A NIC without one: load the RDMA module of its driver, for example `modprobe mlx5_ib`.'];

// Shown in place of problems, figures and rails if the node has no port.
function makeNoPorts(page, model) {
	const {devices} = model, {doctor} = model.documents;
	return make('div', {class: 'halves'},
		makePanel('What is here instead', null, devices === null ? make('p', {class: 'quiet'}, page.missing('api/v1/devices')) : devices.length === 0 ? make('p', {class: 'quiet'}, 'No network device was found.')
			: make('ul', {class: 'findings'}, devices.map((d) => make('li', {key: d.id}, make('p', {}, d.netdevs.map((netdev) => [make('strong', {}, cutName(netdev.name)), ' ']), makeCode(d.id)), make('p', {class: 'quiet'}, [d.driver, d.why].filter(Boolean).map(shown).join(': ')))))),
		makePanel('Next steps', make('a', {href: '#agent'}, 'Agent health'), doctor === null ? make('p', {class: 'quiet'}, page.missing('api/v1/doctor')) : doctor.findings.length === 0 ? make('ul', {class: 'findings'}, NO_PORTS_STEPS.map((step) => make('li', {key: step}, withCode(step))))
			: make('ul', {class: 'findings'}, findingGroups(doctor.findings).map((group, i) => makeFinding(model, group, i)))));
}

class OverviewView {
	constructor(page) {
		this.page = page;
	}

	// "#overview?problem=CAUSE", to which the runbook links: its problems are unfolded, and scrolled to. Returns a notice if there are none.
	seek(model) {
		const {page} = this, cause = page.query.problem, found = model.verdicts.filter((v) => v.cause === cause);
		if (!cause || this.sought === cause || page.store.timeMs === null)
			return cause && found.length === 0 && page.store.timeMs !== null ? make('p', {class: 'notice'}, `No problem with the cause ${shown(cause)} is open here.`) : null;
		this.sought = cause;
		found.flatMap((v) => [problemKey(v), groupKey(v)]).forEach((key) => page.unfolded.add(key));
		page.afterShow(() => document.querySelector('.problem:has([aria-expanded=true])')?.scrollIntoView({block: 'start'}));
		return found.length > 0 ? null : this.seek(model);
	}

	render(model) {
		const {page} = this, notice = this.seek(model), {kind, title, lines} = page.headline, hasPorts = (model.ports ?? []).length > 0, isEmpty = model.ports !== null && !hasPorts;
		const isBlindFirst = hasPorts && blindness(model)?.kind === 'critical'; // as urgent as the problems above it
		return [make('header', {class: 'headline'}, make('div', {class: 'view-head'}, makeMark(kind), make('h1', {}, title)), lines.length > 0 && make('p', {class: 'quiet'}, lines.flatMap((line, i) => [i > 0 && ' ', line])), makeTally(model)), notice,
			make('div', {class: 'overview'}, make('div', {class: 'column'}, isEmpty && makeNoPorts(page, model), makeConfigLine(model), hasPorts && model.verdicts.length === 0 && makeBlind(page, model), makeProblems(page, model, model.verdicts, model.ended), hasPorts && isBlindFirst && model.verdicts.length > 0 && makeBlind(page, model), hasPorts && make('section', {class: 'panel figures', 'aria-labelledby': 'figures-title'}, make('h2', {id: 'figures-title', class: 'unseen'}, 'All ports'), FIGURES.map((figure) => makeFigure(model, figure))), hasPorts && makeRails(page, model), hasPorts && !isBlindFirst && model.verdicts.length > 0 && makeBlind(page, model)),
				make('div', {class: 'column'}, makePoolsBeside(page, model), makeEventsBeside(model), hasPorts && makeAffected(model), !isEmpty && makeAgentBeside(page, model)))];
	}

	title() {
		return 'Overview';
	}

	done() {}
}
