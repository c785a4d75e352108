// SPDX-License-Identifier: Apache-2.0
// port.js - one port: properties, problems, history, queue pairs, counters, events, and the history as a table.

const TABLE_STEP_S = 60;
const SEEK_MS = 1000; // after the first chart is drawn
const LINK_LAYERS = {ethernet: 'Ethernet', infiniband: 'InfiniBand'};

class PortView {
	constructor(page, device, port) {
		Object.assign(this, {page, device, key: `${device}/${port}`, name: shown(`${device}/${port}`)});
		this.history = new HistoryPanel(page, CHARTS, 150);
		this.queuePairs = new QueuePairTable(page, `api/v1/qps?device=${encodeURIComponent(device)}`, 'port', 'sort', 'No process uses this port now.');
		this.counters = new CountersTab(page, device, port);
		this.events = new Table({label: 'events', ...eventTable(page)}, (eventSort) => page.ask({eventSort}));
		this.onCellKey = (event) => moveInCells(page, event);
	}

	render(model) {
		const {page} = this, p = model.portByKey.get(this.key);
		if (!p)
			return [this.head(null, make('h1', {}, `Port ${this.name}`)), model.ports === null ? makeLoading(page.missing('api/v1/ports'))
				: makeEmpty(`There is no port ${this.name} on this node now`, 'It may have been renamed or removed.', make('a', {href: '#ports'}, 'All ports'))];
		const {facts} = p, isHead = p.lane?.head === p;
		const near = (p.lane?.ports ?? []).filter((other) => other !== p && other.verdicts.length > 0 && (other === p.lane.head ? !p.state.ofPf : isHead));
		return [this.head(p, makeMark(p.state.kind), make('h1', {}, make('span', {class: 'unseen'}, 'Port '), cutName(this.key)),
			make('span', {class: 'quiet'}, [facts.netdev && shown(facts.netdev), facts.kind === 'vf' ? `VF ${facts.vf}` : p.lane && `${facts.kind === 'pf' ? 'PF of ' : ''}rail ${p.lane.n}`].filter(Boolean).join(', ')),
			p.verdicts.length > 0 && make('span', {class: 'state', 'data-kind': p.state.kind}, [count(p.verdicts.filter(isProblemVerdict).length, 'problem'), count(p.verdicts.filter((v) => !isProblemVerdict(v)).length, 'note')].filter((text) => !text.startsWith('0 ')).join(', '), model.dead && ', last known'), p.state.kind === 'ok' && makeState(p.state)),
		p.verdicts.length === 0 && (p.troubles.length === 0 || model.dead) && p.state.kind !== 'ok' && makeNotice(p.state),
		makeProblems(page, model, p.verdicts, p.ended), near.length > 0 && make('p', {class: 'quiet'}, 'On the same rail: ', near.slice(0, 3).map((other) => [makePortLink(other.facts), ` ${other.state.why}. `])), !model.dead && makeTroubles(model.uncovered(p, p.troubles), model.isOfPod(p)), this.cards(model, p), this.history.render(model, [p], [...p.ended, ...p.verdicts], model.eventsOf(p)), this.tabs(model, p)];
	}

	// Scrolls to the tab that the address names, again and again until the charts above it are drawn.
	seekTab() {
		const stop = new AbortController();
		let until = null;
		for (const moves of ['wheel', 'touchstart', 'keydown', 'pointerdown'])
			window.addEventListener(moves, () => stop.abort(), {once: true, signal: stop.signal});
		const seek = () => {
			const panel = byId('tab-panel');
			if (panel && (document.querySelector('.plot canvas') || !document.querySelector('.plot:not([hidden])'))) // or no chart has anything to draw
				until ??= performance.now() + SEEK_MS;
			panel?.parentElement.scrollIntoView({block: 'start'});
			if ((until === null || performance.now() < until) && this.page.view === this && !stop.signal.aborted)
				this.page.afterShow(seek);
			else
				stop.abort();
		};
		seek();
		this.page.afterShow(seek);
	}

	head(p, ...children) {
		const parent = p && p.lane && p.lane.head !== p ? p.lane.head : null;
		return make('header', {class: 'view-head'}, make('nav', {'aria-label': 'breadcrumb'}, make('a', {href: '#ports'}, 'Ports'), ' / ', parent && [makePortLink(parent.facts), ' / ']), children,
			make('span', {class: 'grow'}), p && this.steps());
	}

	// The ports before and after it, by name.
	neighbour(step) {
		const all = [...this.page.model.ports].sort((a, b) => naturalOrder(a.key, b.key)), i = all.findIndex((p) => p.key === this.key);
		return all[(i + step + all.length) % all.length];
	}

	steps() {
		const step = (by, text, key) => { const to = this.neighbour(by); return make('a', {class: 'button', href: portLink(to.facts), 'data-tip': `${shown(to.key)} (${key})`, 'data-step': key}, text); };
		return [step(-1, '‹ Previous', '['), step(1, 'Next ›', ']')];
	}

	cards(model, p) {
		const {facts, device} = p, netdev = device?.netdevs[0] ?? null, rd = device?.rdma.find((r) => r.name === facts.device) ?? null, port = rd?.ports.find((x) => x.port === facts.port) ?? null;
		const head = p.lane?.head ?? p, settings = port?.settings ?? head.device?.rdma.flatMap((r) => r.ports).find((x) => x.settings)?.settings ?? null;
		return make('div', {class: 'cards'},
			makePanel('Link', null, makeFacts([['State', facts.state ? make('span', {class: isDown(p) ? 'state' : null, 'data-kind': model.isInUse(p) ? 'warning' : 'idle'}, facts.state === 'active' && isDown(p) ? `Active, but ${netdev?.name ? shown(netdev.name) : 'its netdev'} has no carrier` : sentenceCase(facts.state)) : UNKNOWN],
				['Speed', isKnown(facts.rateBitsPerSecond) ? `${lineRate(facts.rateBitsPerSecond)}${facts.linkLayer ? `, ${LINK_LAYERS[facts.linkLayer] ?? shown(facts.linkLayer)}` : ''}` : UNKNOWN], ['RoCE MTU', facts.activeMtu], ['Netdev MTU', netdev?.mtu], ['MAC', netdev?.mac && makeCode(netdev.mac)],
				['Diagnosis', this.watchText(model, p)], ['Counter resets', facts.resets || null], ['Not the network', facts.clearSinceMs && 'It moves much data without any sign of trouble']])),
			makePanel('Function', null, makeFacts([['PCI', makeCode(facts.function)], ['VFs', isKnown(device?.numVfs) ? `${device.numVfs} of ${device.totalVfs}, ${p.lane?.children.filter((c) => c.facts.pod).length ?? 0} in use` : null],
				['PF itself', isWire(p) && p.facts.bytesIncludeVfs !== true && isKnown(model.ownValue(p, 'bytes_received')) && `${withUnit(model.ownValue(p, 'bytes_received'), 'bits')} in, ${withUnit(model.ownValue(p, 'bytes_sent'), 'bits')} out`], ['PF', head !== p && makePortLink(head.facts)], ['Driver', facts.driver && shown(facts.driver)], ['Firmware', rd?.firmware && shown(rd.firmware)], ['NUMA node', device?.numaNode], ['PCIe', this.pcieText(settings, head !== p)]])),
			makePanel('RoCE', null, makeFacts([['PFC', this.pfcText(settings) ?? this.unknownPfc(model, p, settings)], ['Trust', isKnown(settings?.dscpTrusted) ? (settings.dscpTrusted ? 'DSCP' : 'PCP') : null],
				['DSCP map', settings?.dscpPriorities && Object.entries(settings.dscpPriorities).map(([dscp, priority]) => `${dscp} to ${priority}`).join(', ')], ['Default ToS', settings?.rdmaCm && `${settings.rdmaCm.tos}, ${shown(settings.rdmaCm.type)}`],
				['Node GUID', rd?.nodeGuid && makeCode(rd.nodeGuid)], ['GIDs', port && (port.gids.length ? make('details', {}, make('summary', {}, count(port.gids.length, 'GID')), port.gids.map((gid) => make('div', {}, `${gid.index} `, makeCode(gid.gid), ` ${shown(gid.type)}`))) : 'None')]])),
			this.allocation(model, p));
	}

	watchText(model, p) {
		const {watchedSinceMs} = p.facts, watched = isKnown(watchedSinceMs) && isKnown(model.store.timeMs) ? `, watched for ${span(model.store.timeMs - watchedSinceMs)}` : '';
		return {judged: `${model.dead ? 'Was judged' : 'Judged'}${watched}`, warming: sentenceCase(model.watchedText(p)), down: 'Its link is down', unseen: 'Cannot be read at the moment'}[p.facts.watch] ?? sentenceCase(p.facts.watch);
	}

	pcieText(settings, ofHead) {
		const pcie = settings?.pcie;
		if (!pcie)
			return null;
		const isNarrow = pcie.width < pcie.maxWidth, isSlow = pcie.speed < pcie.maxSpeed;
		return [make('span', {class: isNarrow || isSlow ? 'state' : null, 'data-kind': 'warning'}, `x${pcie.width}${isNarrow ? ` of x${pcie.maxWidth}` : ''}, ${pcie.speed / 1000}${isSlow ? ` of ${pcie.maxSpeed / 1000}` : ''} GT/s`), ofHead && make('span', {class: 'quiet'}, ' (PF)')];
	}

	pfcText(settings) {
		if (!settings?.pfc)
			return null;
		const {pfc, peerPfc} = settings, text = (priorities) => (priorities.length ? `on for ${priorities.join(', ')}` : 'off');
		return peerPfc && peerPfc.join() !== pfc.join() ? make('span', {class: 'state', 'data-kind': 'warning'}, `${sentenceCase(text(pfc))} here, ${text(peerPfc)} at the peer`)
			: sentenceCase(pfc.length ? `on for priority ${pfc.join(', ')}` : 'off');
	}

	// The reason why PFC is not known: the one that diagnosis gives for its causes about PFC, if there is one.
	unknownPfc(model, p, settings) {
		const {undecided} = model.documents.diagnosis ?? {}, own = undecided?.find((u) => portKey(u) === p.key && ['pfc_mismatch', 'wrong_priority'].includes(u.cause));
		const why = settings ? own?.why ?? 'the driver does not report it (dcbnl)' : p.device?.unreachable ? 'its network namespace cannot be entered' : own?.why ?? `no settings of ${p.lane && p.lane.head !== p ? 'its PF' : 'this port'} can be read`;
		return [make('span', {class: 'absent', 'data-tip': 'Not known'}, UNKNOWN), make('span', {class: 'quiet'}, `, ${shown(why)}`)];
	}

	allocation(model, p) {
		const {facts, device} = p, offered = device?.resources ?? [], a = device?.attachment ?? null, [ill] = healthTroubles(device, null);
		if (p.lane?.head === p && p.lane.children.length > 0)
			return makePanel('VFs', make('a', {href: placeLink(['ports'], {rail: String(p.lane.n)})}, 'List'), make('div', {onkeydown: this.onCellKey}, makeCells(this.page, model, p.lane, reachedCell(this.page, [p.lane]))), makeFacts([['Pods', this.vfPods(p)], ['Shared as', offered.filter((r) => r.shared).map((r) => makePoolLink(r.resource))]].filter(([, list]) => list?.length)));
		return makePanel('Allocation', null, makeFacts([['Pool', offered.length ? offered.map((r) => makePoolLink(r.resource)) : device && 'None'], ['Pod', facts.pod ? makePodLink(facts) : 'None'], ['Container', facts.container && shown(facts.container)],
			['Interface', a?.interface && [shown(a.interface), ' ', a.ips.map((ip) => [makeCode(ip), ' '])]], ['Attachment', a && sentenceCase(shown(a.state).replaceAll('_', ' '))], ['Error', a?.error && make('span', {class: 'state', 'data-kind': 'warning'}, shown(a.error))], ['Drift', a?.drift.length ? a.drift.map(shown).join(', ') : null],
			['Device health', offered.some((r) => !r.shared) && (ill ? [make('span', {class: 'state', 'data-kind': 'unhealthy'}, 'Unhealthy'), `: ${sentenceCase(healthTroubles(device, null).map(troubleTitle).join(', ').toLowerCase())}`, ill.since && `, ${troubleSince(ill)}`] : p.verdicts.some(isProblemVerdict) ? 'Healthy for the kubelet, which does not know the problem above' : 'Healthy')], ['Why', device?.why && !facts.pod && sentenceCase(inWords(shown(device.why)))]]));
	}

	// The pods that have VFs of a PF: problems of its link affect them.
	vfPods(p) {
		const pods = [...new Map(p.lane.children.filter((vf) => vf.facts.pod).map((vf) => [podKey(vf.facts), vf.facts])).values()], links = pods.map((facts) => make('div', {}, makePodLink(facts)));
		return pods.length === 0 ? null : [links.slice(0, PODS_NAMED), links.length > PODS_NAMED && make('details', {}, make('summary', {}, `${links.length - PODS_NAMED} more`), links.slice(PODS_NAMED))];
	}

	// --- tabs ---

	tabs(model, p) {
		const {page} = this, events = eventItems(model.eventsOf(p));
		const chosen = ['qps', 'counters', 'events', 'minutes'].includes(page.query.tab) ? page.query.tab : 'qps';
		const tab = (id, text) => makeButton(text, () => page.ask({tab: id === 'qps' ? '' : id, sort: ''}), {role: 'tab', id: `tab-${id}`, 'aria-selected': String(id === chosen), 'aria-controls': 'tab-panel', tabindex: id === chosen ? '0' : '-1'});
		const body = {qps: () => this.queuePairs.render(), counters: () => this.counters.render(), events: () => this.eventTab(events), minutes: () => this.minuteTable()}[chosen]();
		return make('section', {class: 'panel flush', 'aria-label': 'details'}, make('div', {class: 'tabs', role: 'tablist', 'aria-label': 'details', onkeydown: (event) => this.onTabKey(event)}, tab('qps', 'Queue pairs'), tab('counters', 'Counters'), tab('events', `Events ${events.length}`), tab('minutes', 'By minute')),
			make('div', {role: 'tabpanel', id: 'tab-panel', 'aria-labelledby': `tab-${chosen}`, tabindex: '0'}, body));
	}

	onTabKey(event) {
		const all = [...event.currentTarget.children], i = all.indexOf(document.activeElement), to = all[i + ({ArrowRight: 1, ArrowLeft: -1}[event.key] ?? NaN)];
		if (to) {
			to.focus();
			to.click();
		}
	}

	eventTab(items) {
		this.events.show(items, this.page.query.eventSort, eventEpoch(items));
		this.events.element.hidden = items.length === 0;
		return [this.events.element, items.length === 0 && makeEmpty('No events of this port')];
	}

	// The charts as a table: the greatest value of each minute.
	minuteTable() {
		const p = this.page.model.portByKey.get(this.key), history = p && this.page.historyOf(p), signals = CHARTS.flatMap((chart) => chart.signals.map(([key, label]) => [key, label, chart.unit]));
		if (!history)
			return makeLoading('Loading.');
		const end = Math.ceil(this.page.nowSeconds() / TABLE_STEP_S) * TABLE_STEP_S, {startedMs} = this.page.store;
		const starts = Array.from({length: HISTORY_S / TABLE_STEP_S}, (_, i) => end - (i + 1) * TABLE_STEP_S).filter((from) => startedMs === null || (from + TABLE_STEP_S) * 1000 > startedMs);
		const isCounted = Object.fromEntries(signals.map(([key]) => [key, history.values[key]?.some(isKnown)])), cell = (key, v, unit) => (isKnown(v) ? inUnit(v, unit) : makeAbsent(...(isCounted[key] ? [UNKNOWN, 'It was not read in this minute'] : this.page.model.missing(p, key))));
		return [make('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'the greatest of each minute'}, make('table', {class: 'minutes'}, make('caption', {class: 'unseen'}, `${this.name}: the greatest of each minute`),
			make('thead', {}, make('tr', {}, make('th', {scope: 'col'}, 'From'), signals.map(([, label, unit]) => make('th', {scope: 'col', class: 'number'}, `${label} `, make('small', {}, UNITS[unit].name))))),
			make('tbody', {}, starts.map((from) => make('tr', {key: from}, make('th', {scope: 'row'}, makeTime(from * 1000)), signals.map(([key, , unit]) => make('td', {class: 'number'}, cell(key, history.greatest(key, from, from + TABLE_STEP_S), unit)))))))), make('p', {class: 'quiet note'}, 'Each number is the greatest of its minute. ', historyNote(this.page.model, HISTORY_S * 1000))];
	}

	title() {
		return `Port ${this.name}`;
	}

	done() {
		this.history.done();
		this.queuePairs.done();
		this.counters.done();
		this.events.done();
	}
}
