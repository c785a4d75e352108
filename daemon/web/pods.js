// SPDX-License-Identifier: Apache-2.0
// pods.js - the list of pods with RDMA devices, and the view of one pod: ports, problems, history.

function podSignalColumn(page, name) {
	const {title, unit, about} = SIGNALS[name];
	const value = (pod) => (pod.ports.length ? page.model.hotValueOf(pod.ports, name).v : null);
	return {id: name, title, unit: UNITS[unit].name, about: sentenceCase(about), number: true, down: true, isUncounted: (pod) => pod.ports.every((p) => isUncounted(page.model, p, name)), sort: value, cell: (pod) => {
		const v = value(pod), [text, why] = pod.ports.length ? page.model.missing(pod.ports[0], name) : ['–', 'Not counted by pod: a slot of a shared device'];
		return isKnown(v) ? make('span', {class: v === 0 ? 'zero' : 'value', 'data-hot': page.model.hotValueOf(pod.ports, name).hot}, inUnit(v, unit)) : makeAbsent(text, why);
	}};
}

function podSince(pod) {
	const times = pod.devices.map((d) => d.attachment?.since).filter(Boolean).map((iso) => Date.parse(iso));
	return times.length ? Math.min(...times) : null;
}

// The number of tags that fit, with numbers and with names.
const TAGS_MOST = {short: 5, long: 2};
const TAGS_NARROW = {short: 3, long: 1};
const LESS_ROOM = window.matchMedia('(max-width: 1179px)');
const SLOT_TAGS_LESS = 2;
const TAG_TAIL = 6; // characters of a long name's end

// The worst port first. "mlx5_40" becomes "40" if all names have that form; other names are cut in the middle.
function podPorts(pod) {
	const isSlot = pod.ports.length === 0, ports = isSlot ? pod.sharedPorts ?? [] : pod.ports;
	if (ports.length === 0)
		return make('span', {class: 'quiet'}, pod.devices.length ? count(pod.devices.length, 'slot') : '–');
	const worst = [...ports].sort((a, b) => stateRank(stateInPod(pod, a)) - stateRank(stateInPod(pod, b)) || naturalOrder(a.key, b.key)), names = worst.map((p) => shown(p.facts.device)), stateOf = (p) => stateInPod(pod, p);
	const isShort = names.every((name) => /^mlx5_\d+$/.test(name)), room = (LESS_ROOM.matches ? TAGS_NARROW : TAGS_MOST)[isShort ? 'short' : 'long'] - (isSlot ? SLOT_TAGS_LESS : 0), n = worst.length === room + 1 ? room + 1 : room;
	return [isSlot && make('span', {class: 'quiet'}, `${count(pod.devices.length, 'slot')} of `), worst.slice(0, n).map((p, i) => make('a', {class: 'tag', href: portLink(p.facts), 'data-kind': stateOf(p).kind, 'data-of': stateOf(p).ofPf ? 'pf' : null, 'aria-label': `${shown(p.key)}: ${stateOf(p).text}`, 'data-tip': `${shown(p.key)}: ${stateOf(p).text}`},
		isShort ? names[i].slice(5) : cutName(names[i], TAG_TAIL, TAG_TAIL + 2))), worst.length > n && make('span', {class: 'quiet'}, `+${worst.length - n}`)];
}

// The state of a pod, with the port that it is about: that may be the PF, which is not the pod's own.
function podStateCell({state}) {
	return [makeState(state), state.at && make('span', {class: 'quiet beside'}, makePortLink(state.at, state.at.device), state.more > 0 && ` +${state.more}`)];
}

function podColumns(page) {
	return [
		{id: 'name', title: 'Pod', class: 'c-pod-name', cell: (pod) => [makeMark(pod.state.kind), makePodLink(pod)], sort: (pod) => pod.key},
		{id: 'state', title: 'State', cell: podStateCell, sort: (pod) => stateRank(pod.state)},
		{id: 'ports', title: 'Ports', cell: podPorts, sort: (pod) => pod.devices.length, down: true},
		{id: 'pool', title: 'Pool', cell: (pod) => (pod.devices[0] ? [makePoolLink(pod.devices[0].resource)] : '–'), sort: (pod) => pod.devices[0]?.resource},
		...['bytes_received', 'bytes_sent', 'ce_share', 'loss', 'again'].map((name) => podSignalColumn(page, name)),
		{id: 'age', title: 'Attached', number: true, isOptional: true, cell: (pod) => (podSince(pod) === null ? makeAbsent('–', 'rocelet did not attach it') : span(page.model.nowMs - podSince(pod))), sort: podSince},
		{id: 'spark', get title() { return sparkTitle(page.model); }, cell: (pod) => (pod.ports.length ? trafficSpark(page.model, pod.ports) : null)},
	];
}

function podWords(pod) {
	return [pod.key, pod.uid, pod.state.text, ...pod.verdicts.map((v) => v.cause), ...pod.devices.flatMap((d) => [d.id, d.resource, d.container, d.port?.key, d.attachment?.interface, ...(d.attachment?.ips ?? [])])];
}

class PodsView extends ListView {
	constructor(page) {
		super(page, {title: 'Pods', columns: podColumns(page), keyOf: (pod) => pod.key, kindOf: (pod) => pod.state.kind, sort: 'state', words: podWords, items: (model) => model.pods, epoch: (items) => troubleOf(items, (pod) => pod.key),
			filters: (model) => {
				const spaces = [...new Set((model.pods ?? []).map((pod) => pod.namespace))].sort(naturalOrder);
				return {show: [{value: 'problems', label: 'Problems', kind: 'worst', test: isProblem}, {value: 'unhealthy', label: 'Device in trouble', kind: 'worst', test: (pod) => pod.state.isTrouble === true}, {value: 'shared', label: 'Shared port in trouble', kind: 'info', test: (pod) => pod.state.isShared === true}, {value: 'unknown', label: 'Not judged', kind: 'unknown', test: isKind('unknown', 'warming')}],
					namespace: spaces.length > 1 ? spaces.slice(0, 12).map((name) => ({value: name, label: cutName(name), test: (pod) => pod.namespace === name})) : []};
			},
			missing: () => page.missing('api/v1/pods'), empty: () => ['No pod has an RDMA device', 'Pods are listed once the kubelet has allocated a device of a pool to them.']});
	}
}

const ADDRESS = {id: 'address', title: 'Address', isOptional: true, cell: (p) => { const a = p.device?.attachment; return a?.interface ? [`${shown(a.interface)} `, make('span', {class: 'mono'}, a.ips.map(shown).join(', '))] : make('span', {class: 'zero'}, '–'); }, sort: (p) => p.device?.attachment?.ips[0] ?? p.device?.attachment?.interface};
const PCI = {id: 'pci', title: 'PCI', cell: (p) => make('span', {class: 'mono'}, shown(p.facts.function)), sort: (p) => p.facts.function};

class PodView {
	constructor(page, namespace, name) {
		Object.assign(this, {page, key: `${namespace}/${name}`, podName: name});
		const stateOf = (p) => stateInPod(page.model.podByKey.get(this.key), p), own = portColumns(() => page.model, stateOf), pick = (...ids) => own.filter((c) => ids.includes(c.id));
		this.queuePairs = new QueuePairTable(page, `api/v1/qps?pod=${encodeURIComponent(this.key)}`, 'pod', 'qpSort', 'No process of this pod uses RDMA now.');
		this.ports = new Table({label: `ports of ${shown(this.key)}`, keyOf: (p) => p.key, kindOf: (p) => stateOf(p).kind, sort: 'lane',
			columns: [...pick('name', 'state'), ADDRESS, PCI, ...pick('lane', 'bytes_received', 'bytes_sent', 'ce_share', 'loss', 'again', 'spark')]}, (sort) => page.ask({sort}));
		this.events = new Table({label: 'events', ...eventTable(page)}, (eventSort) => page.ask({eventSort}));
		this.history = Object.assign(new HistoryPanel(page, POD_CHARTS, 110), {stateOf});
	}

	render(model) {
		const pod = model.podByKey.get(this.key);
		if (!pod)
			return [make('header', {class: 'view-head'}, make('nav', {'aria-label': 'breadcrumb'}, make('a', {href: '#pods'}, 'Pods'), ' /'), make('h1', {}, `Pod ${shown(this.key)}`)),
				model.pods === null ? makeLoading(this.page.missing('api/v1/pods')) : makeEmpty(`${shown(this.key)} has no device on this node`, 'It may have ended.', make('a', {href: placeLink(['events'], {q: this.podName})}, 'Its events'))];
		const isSlot = pod.ports.length === 0, ports = isSlot ? pod.sharedPorts : pod.ports;
		this.ports.show(ports, this.page.query.sort, `${model.store.epoch} ${troubleOf(ports, (p) => p.key)}`);
		const events = eventItems(model.eventsOfPod(pod)), hasEvents = events.length > 0;
		this.events.show(events, this.page.query.eventSort, eventEpoch(events));
		const since = podSince(pod);
		this.events.element.hidden = !hasEvents;
		return [make('header', {class: 'view-head'}, make('nav', {'aria-label': 'breadcrumb'}, make('a', {href: '#pods'}, 'Pods'), ' /'), makeMark(pod.state.kind),
			make('h1', {}, make('span', {class: 'unseen'}, 'Pod '), make('span', {class: 'prefix'}, `${shown(pod.namespace)}/`), make('bdi', {}, shown(pod.name))),
			make('span', {class: 'quiet'}, `${count(pod.devices.length, 'device')}${since === null ? '' : `, attached for ${span(model.nowMs - since)}`}`), pod.uid && makeCode(pod.uid)),
		pod.verdicts.length === 0 && (pod.troubles.length === 0 || model.dead) && pod.state.kind !== 'ok' && makeNotice(pod.state),
		pod.verdicts.length === 0 && pod.state.kind === 'ok' && make('p', {class: 'calm'}, makeMark('ok', false), ' No problem found: its ports were judged with the newest sample.'),
		makeProblems(this.page, model, pod.verdicts, pod.ended), !model.dead && makeTroubles(pod.troubles.filter((trouble) => model.uncovered(trouble.device.port, [trouble]).length > 0), true),
		makePanel(isSlot ? 'Shared ports' : 'Ports', isSlot && make('span', {class: 'quiet'}, `It has ${count(pod.devices.length, 'slot')} of shared devices; the numbers are those of all pods that share them`), ports.length > 0 ? this.ports.element : make('p', {class: 'quiet'}, 'The ports of its shared devices are not known.')),
		pod.ports.length > 0 && this.history.render(model, pod.ports, [...pod.ended, ...pod.verdicts], model.eventsOfPod(pod), pod.state.kind === 'ok'),
		makePanel('Queue pairs', null, this.queuePairs.render()),
		makePanel('Events', make('a', {href: placeLink(['events'], {q: pod.name})}, 'All'), this.events.element, !hasEvents && make('p', {class: 'quiet'}, 'No events of this pod.'))];
	}

	title() {
		return `Pod ${shown(this.key)}`;
	}

	done() {
		this.ports.done();
		this.queuePairs.done();
		this.events.done();
		this.history.done();
	}
}
