// SPDX-License-Identifier: Apache-2.0
// ports.js - the list of ports.

function signalColumn(name, modelOf) {
	const {title, unit, about} = SIGNALS[name];
	return {id: name, title, unit: UNITS[unit].name, about: sentenceCase(about), number: true, down: true, isUncounted: (p) => isUncounted(modelOf(), p, name), cell: (p) => makePortValue(modelOf(), p, name), sort: (p) => modelOf().value(p, name)};
}

// True if the port has no such counter. A number that is only not known yet, or not now, keeps its column.
function isUncounted(model, p, name) {
	return !isKnown(model.value(p, name)) && model.missing(p, name)[0] === '–';
}

function makePortValue(model, p, name) {
	const value = makeValue(model, p, name);
	if (SIGNALS[name].unit !== 'bits' || !isWire(p) || !isKnown(model.value(p, name)))
		return value;
	value.setAttribute('data-tip', `PF and VFs; the PF itself ${withUnit(model.ownValue(p, name), 'bits')}`);
	return model.isLeast(p.lane.ports, name) ? [makeLeast(), value] : value;
}

const PORT_SIGNALS = ['bytes_received', 'bytes_sent', 'pause_sent', 'pause_received', 'ce_share', 'cnp_received', 'loss', 'again'];

function linkText(p) {
	const {facts} = p;
	if (isDown(p))
		return 'down';
	return isKnown(facts.rateBitsPerSecond) ? `${shortNumber(facts.rateBitsPerSecond / 1e9)} G` : UNKNOWN;
}

// The severity of a link that is down: of its own problem, that of its PF, or the trouble of its pod's device.
function linkSeverity(p) {
	return (p.verdicts.find(isProblemVerdict) ?? (isDown(p.lane?.head ?? p) ? p.pfVerdict : null))?.severity ?? (p.state.isTrouble && isProblem(p) ? p.state.kind : null);
}

// The number of pods with VFs of a PF, which share its link; null: none.
function makeVfPods(p) {
	const pods = isWire(p) ? [...new Set(p.lane.children.filter((vf) => vf.facts.pod).map((vf) => podKey(vf.facts)))] : [];
	return pods.length > 0 ? make('a', {href: placeLink(['ports'], {rail: String(p.lane.n), show: 'used'}), 'data-tip': pods.map(shown).join(', ')}, `${count(pods.length, 'pod')} on VFs`) : null;
}

// stateOf(p): the state that is shown.
function portColumns(modelOf, stateOf = (p) => p.state) {
	return [
		{id: 'name', title: 'Port', cell: (p) => [makeMark(stateOf(p).kind), makePortLink(p.facts), p.facts.netdev && make('span', {class: 'quiet beside'}, cutName(p.facts.netdev, 5))], sort: (p) => p.key},
		{id: 'state', title: 'State', cell: (p) => make('span', {class: 'stated'}, makeState(stateOf(p)), p.verdicts.length > 1 && make('span', {class: 'quiet'}, `+${p.verdicts.length - 1}`)), sort: (p) => stateRank(stateOf(p))},
		{id: 'pod', title: 'Pod', cell: (p) => (p.facts.pod ? makePodLink(p.facts) : makeVfPods(p) ?? make('span', {class: 'zero'}, p.facts.kind === 'pf' ? 'host' : '–')), sort: (p) => (p.facts.pod ? podKey(p.facts) : null)},
		{id: 'lane', title: 'Rail', number: true, cell: (p) => (p.lane ? make('a', {href: placeLink(['ports'], {rail: String(p.lane.n)})}, String(p.lane.n)) : '–'), sort: (p) => p.lane?.n},
		{id: 'link', title: 'Link', number: true, cell: (p) => make('span', {class: isDown(p) ? 'quiet' : null, 'data-hot': isDown(p) ? linkSeverity(p) : null}, linkText(p)), sort: (p) => (isDown(p) ? 0 : p.facts.rateBitsPerSecond)},
		...PORT_SIGNALS.map((name) => signalColumn(name, modelOf)),
		{id: 'spark', get title() { return sparkTitle(modelOf()); }, cell: (p) => trafficSpark(modelOf(), wirePorts(p), [p])},
	];
}

// All names of a port.
function portWords(p) {
	const {facts, device} = p;
	return [p.key, facts.netdev, facts.function, facts.pod && podKey(facts), facts.container, p.state.text, ...p.verdicts.map((v) => v.cause),
		...(device?.netdevs ?? []).flatMap((nd) => [nd.name, nd.mac, ...nd.altnames]), ...(device?.attachment?.ips ?? []), device?.attachment?.interface,
		...(device?.rdma ?? []).flatMap((rd) => [rd.nodeGuid, rd.sysImageGuid, ...rd.ports.flatMap((port) => port.gids.map((gid) => gid.gid))])];
}

function isKind(...kinds) {
	return (item) => kinds.includes(item.state.kind);
}

function portFilters(model) {
	return {
		show: [{value: 'problems', label: 'Problems', kind: 'worst', test: isOwnProblem}, {value: 'through', label: 'Through their PF', kind: 'through', test: (p) => ownKind(p) === 'through'}, {value: 'info', label: 'Information', kind: 'info', test: isKind('info')}, {value: 'unhealthy', label: 'Unhealthy', kind: 'unhealthy', test: isKind('unhealthy')},
			{value: 'unknown', label: 'Not judged', kind: 'unknown', test: isKind('unknown', 'warming')}, {value: 'used', label: 'In use', test: (p) => model.isInUse(p)},
			{value: 'down', label: 'Down', test: (p) => isDown(p) && p.state.kind !== 'idle'}, {value: 'ok', label: 'No problem found', test: isKind('ok')},
			{value: 'idle', label: 'Not in use', test: isKind('idle')}],
		kind: [{value: 'pf', label: 'PF', test: (p) => p.facts.kind === 'pf'}, {value: 'vf', label: 'VF', test: (p) => p.facts.kind === 'vf'}],
		rail: model.lanes.length > 1 && model.lanes.length <= 16 ? model.lanes.map((lane) => ({value: String(lane.n), label: String(lane.n), isShort: true, test: (p) => p.lane === lane})) : [],
	};
}

class PortsView extends ListView {
	constructor(page) {
		super(page, {title: 'Ports', columns: portColumns(() => page.model), keyOf: (p) => p.key, kindOf: (p) => p.state.kind, sort: 'state', words: portWords, filters: portFilters, epoch: (items) => troubleOf(items, (p) => p.key),
			items: (model) => model.ports, missing: () => page.missing('api/v1/ports'), empty: () => ['No RDMA ports found on this node', 'A port is listed once its driver has made an RDMA device.']});
	}
}
