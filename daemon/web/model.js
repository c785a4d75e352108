// SPDX-License-Identifier: Apache-2.0
// model.js - joins the documents: ports with lane, device, pod and state; pods with their ports; pools. Built once per rendering of the page.

// The measured values of a port. `parts`: signals of the API that are summed in one column.
const SIGNALS = {
	bytes_received: {title: 'Received', unit: 'bits', about: 'RDMA traffic that arrived'},
	bytes_sent: {title: 'Sent', unit: 'bits', about: 'RDMA traffic that left'},
	pause_sent: {title: 'Pause out', unit: 'share', about: 'share of time in which this port paused the network, because its host did not accept packets'},
	pause_received: {title: 'Pause in', unit: 'share', about: 'share of time in which the network paused this port'},
	ce_share: {title: 'CE', unit: 'share', about: 'share of received packets that switches marked as congested'},
	cnp_received: {title: 'CNP in', unit: 'events', about: 'congestion notifications received'},
	cnp_sent: {title: 'CNP out', unit: 'events', about: 'congestion notifications sent'},
	loss: {title: 'Loss', unit: 'events', parts: ['discards', 'out_of_sequence'], about: 'packets dropped on arrival or missing in their sequence'},
	again: {title: 'Retrans.', unit: 'events', parts: ['nak', 'timeouts'], about: 'NAKs of lost packets and ACK timeouts: what this port sends again'},
	discards: {title: 'Dropped on arrival', unit: 'events'},
	out_of_sequence: {title: 'Out of sequence', unit: 'events'},
	nak: {title: 'NAKs', unit: 'events'},
	timeouts: {title: 'Timeouts', unit: 'events'},
	not_ready: {title: 'Receiver not ready', unit: 'events'},
	failed: {title: 'Failed', unit: 'events'},
	phy_errors: {title: 'Link errors', unit: 'events'},
};

// Worst first. filter: the filter of the port list that shows these ports.
const STATES = {
	critical: {label: 'critical', filter: 'problems'},
	warning: {label: 'warning', filter: 'problems'},
	info: {label: 'information', filter: 'problems'},
	unhealthy: {label: 'unhealthy', filter: 'unhealthy'},
	unknown: {label: 'unknown', filter: 'unknown'},
	warming: {label: 'warming up', filter: 'unknown'},
	ok: {label: 'no problem found', filter: 'ok'},
	idle: {label: 'not in use', filter: 'idle'},
};
const STATE_ORDER = Object.keys(STATES);

function stateRank(state) {
	return STATE_ORDER.indexOf(state.kind);
}

function worstState(states) {
	return [...states].sort((a, b) => stateRank(a) - stateRank(b))[0];
}

function worstFirst(verdicts) {
	return [...verdicts].sort((a, b) => b.level - a.level || Date.parse(a.onset) - Date.parse(b.onset) || naturalOrder(portKey(a), portKey(b)));
}

function podKey(pod) {
	return `${pod.namespace}/${pod.name ?? pod.pod}`;
}

function verdictState(v) {
	return {kind: v.severity, text: causeTitle(v.cause), why: sentenceCase(v.sentence)};
}

function sumOf(values) {
	const seen = values.filter(isKnown);
	return seen.length ? seen.reduce((a, b) => a + b, 0) : null;
}

function greatestOf(values) {
	const seen = values.filter(isKnown);
	return seen.length ? Math.max(...seen) : null;
}

// Ports as groups whose bytes can be added: a PF with its VFs, if both are among the ports, and all others. include: whether the PF's bytes contain its VFs'.
function trafficGroups(ports) {
	const among = new Set(ports), groups = [];
	const rest = ports.filter((p) => !(p.lane && p !== p.lane.head && among.has(p.lane.head)) && !(p.lane?.head === p && p.lane.children.some((child) => among.has(child))));
	const alone = new Set(rest);
	for (const p of ports)
		if (p.lane?.head === p && !alone.has(p))
			groups.push({head: p, children: p.lane.children.filter((child) => among.has(child)), include: p.facts.bytesIncludeVfs});
	return [...groups, {head: null, children: rest, include: false}];
}

function addSeries(list) {
	const result = new Float64Array(STEPS).fill(NaN);
	for (const values of list)
		values.forEach((v, i) => { if (!Number.isNaN(v)) result[i] = Number.isNaN(result[i]) ? v : result[i] + v; });
	return result;
}

class Model {
	// documents: {ports, devices, pods, resources}, each null until it was read; dead: nothing is known to be so now.
	constructor(store, documents, dead, nowMs) {
		Object.assign(this, {store, dead, nowMs, documents});
		this.verdicts = worstFirst(store.verdicts);
		this.ended = store.ended.filter((v) => v.endedAs !== 'explained');
		this.isCut = store.verdicts.length < store.verdictCount;
		this.byPort = groupBy(this.verdicts, portKey);
		this.endedByPort = groupBy(this.ended, portKey);
		this.joinDevices(documents.devices);
		this.joinPorts(documents.ports);
		this.joinPods(documents.pods);
		this.resources = documents.resources?.resources ?? null;
	}

	joinDevices(document) {
		this.devices = document?.devices ?? null;
		this.deviceById = new Map((this.devices ?? []).map((d) => [d.id, d]));
		this.deviceByRdma = new Map((this.devices ?? []).flatMap((d) => d.rdma.map((r) => [r.name, d])));
	}

	joinPorts(document) {
		this.warmingMs = document?.warmingMs ?? null;
		this.ports = document?.ports.map((facts) => ({facts, key: portKey(facts), device: this.deviceById.get(facts.function) ?? this.deviceByRdma.get(facts.device) ?? null,
			now: this.store.now.get(portKey(facts)) ?? {}})) ?? null;
		this.portByKey = new Map((this.ports ?? []).map((p) => [p.key, p]));
		this.portByName = new Map();
		for (const p of this.ports ?? [])
			for (const name of [p.facts.function, p.facts.device])
				if (name && !this.portByName.has(name))
					this.portByName.set(name, p);
		this.makeLanes();
		for (const p of this.ports ?? []) {
			p.verdicts = this.byPort.get(p.key) ?? [];
			p.ended = this.endedByPort.get(p.key) ?? [];
			p.state = this.portState(p);
		}
	}

	// A lane is a PF with its VFs, or a port without a PF.
	makeLanes() {
		const isChild = (p) => p.facts.parent !== null && this.portByName.has(p.facts.parent) && this.portByName.get(p.facts.parent) !== p;
		const heads = (this.ports ?? []).filter((p) => !isChild(p)).sort((a, b) => naturalOrder(a.key, b.key));
		this.lanes = heads.map((head, n) => ({head, n, children: [], ports: [head]}));
		const laneOf = new Map(this.lanes.map((lane) => [lane.head, lane]));
		for (const p of this.ports ?? []) {
			p.lane = laneOf.get(p) ?? laneOf.get(this.portByName.get(p.facts.parent)) ?? null;
			if (isChild(p) && p.lane) {
				p.lane.children.push(p);
				p.lane.ports.push(p);
			}
		}
		for (const lane of this.lanes)
			lane.children.sort((a, b) => (a.facts.vf ?? 0) - (b.facts.vf ?? 0) || naturalOrder(a.key, b.key));
	}

	joinPods(document) {
		this.pods = document?.pods.map((pod) => {
			const devices = pod.containers.flatMap((container) => container.devices.map((device) => ({...device, container: container.name, port: this.portOfDevice(device)})));
			const ports = [...new Set(devices.map((d) => d.port).filter(Boolean))];
			return {...pod, key: podKey(pod), devices, ports};
		}) ?? null;
		this.podByKey = new Map((this.pods ?? []).map((pod) => [pod.key, pod]));
		for (const pod of this.pods ?? []) {
			pod.verdicts = this.ofPod(this.verdicts, pod);
			pod.ended = this.ofPod(this.ended, pod);
			pod.state = this.podState(pod);
		}
	}

	portOfDevice({id, attachment}) {
		return this.portByName.get(attachment?.rdma) ?? this.portByName.get(attachment?.function) ?? this.portByName.get(id) ?? null;
	}

	ofPod(verdicts, pod) {
		const keys = new Set(pod.ports.map((p) => p.key));
		return verdicts.filter((v) => keys.has(portKey(v)) || v.pods.some((other) => podKey(other) === pod.key));
	}

	// What a device lacks: {why, reasons}, or null.
	unhealthy(device) {
		const offered = (device?.resources ?? []).find((r) => r.healthy === false);
		return offered ? {why: device.why, reasons: offered.reasons} : null;
	}

	isInUse(p) {
		const {facts, now} = p;
		return facts.kind !== 'vf' || facts.pod !== null || p.device?.attachment?.state === 'in_pod' || (now.bytes_received ?? 0) + (now.bytes_sent ?? 0) > 0;
	}

	// What is known of a port. It is "ok" only if it was judged by the newest sample, that sample is new, and nothing was found.
	portState(p) {
		const {facts} = p, ill = this.unhealthy(p.device);
		if (p.verdicts.length > 0)
			return verdictState(p.verdicts[0]);
		if (this.dead)
			return {kind: 'unknown', text: 'Unknown', why: this.store.timeMs === null ? 'No sample has been judged yet' : `No new sample since ${clock(this.sampleMs())}`};
		if (this.isCut)
			return {kind: 'unknown', text: 'Not shown', why: `Only the worst ${this.verdicts.length} of ${this.store.verdictCount} problems are shown here`};
		if (facts.watch === 'unseen')
			return {kind: 'unknown', text: 'Cannot be read', why: 'Its counters cannot be read at the moment'};
		if (facts.watch === 'not applicable')
			return {kind: 'unknown', text: 'Not judged', why: 'It carries no RoCE'};
		if (ill)
			return {kind: 'unhealthy', text: sentenceCase(ill.reasons.join(', ').replaceAll('_', ' ')) || 'Unhealthy', why: sentenceCase(ill.why)};
		if (!this.isInUse(p))
			return {kind: 'idle', text: p.device?.attachment ? sentenceCase(p.device.attachment.state.replaceAll('_', ' ')) : 'Not in use', why: sentenceCase(p.device?.why ?? 'No pod has it')};
		if (facts.watch === 'down' || (facts.state !== null && facts.state !== 'active'))
			return {kind: 'unknown', text: 'Link down', why: 'Without a link nothing can be judged'};
		if (facts.watch === 'warming')
			return {kind: 'warming', text: 'Warming up', why: `No verdict yet: ${this.watchedText(p)}`};
		if (facts.watch !== 'judged')
			return {kind: 'unknown', text: 'Not judged', why: sentenceCase(facts.watch)};
		return {kind: 'ok', text: 'No problem found', why: 'Judged with the newest sample'};
	}

	watchedText(p) {
		const {watchedSinceMs} = p.facts;
		if (watchedSinceMs === null || this.store.timeMs === null || this.warmingMs === null)
			return 'not watched for long enough';
		return `watched for ${Math.floor(Math.min(this.warmingMs, Math.max(0, this.store.timeMs - watchedSinceMs)) / 1000)} of ${Math.round(this.warmingMs / 1000)} s`;
	}

	podState(pod) {
		if (pod.verdicts.length > 0)
			return verdictState(pod.verdicts[0]);
		if (this.ports === null)
			return {kind: 'unknown', text: 'Unknown', why: 'Its ports are not known yet'};
		const blind = pod.devices.find((d) => !d.port);
		if (pod.ports.length === 0)
			return {kind: 'unknown', text: 'Not judged', why: pod.devices.length ? 'It has slots of shared devices, which are not judged by pod' : 'It has no device here'};
		const worst = worstState(pod.ports.map((p) => p.state));
		return blind && stateRank(worst) > stateRank({kind: 'unknown'}) ? {kind: 'unknown', text: 'Partly judged', why: `${shown(blind.id)}: no port of it is known`} : worst;
	}

	// Unix time of the newest sample.
	sampleMs() {
		return this.store.timeUnixMs ?? this.nowMs;
	}

	value(p, name) {
		const {parts} = SIGNALS[name];
		return parts ? sumOf(parts.map((part) => p.now[part])) : p.now[name] ?? null;
	}

	// Of several ports: the greatest share, the sum of all else; of bytes without those that a PF counts again for its VFs.
	valueOf(ports, name) {
		const {unit} = SIGNALS[name], valuesOf = (list) => list.map((p) => this.value(p, name));
		if (unit !== 'bits')
			return (unit === 'share' ? greatestOf : sumOf)(valuesOf(ports));
		return sumOf(trafficGroups(ports).map(({head, children, include}) => {
			const own = head && this.value(head, name), vfs = sumOf(valuesOf(children));
			return include === false ? sumOf([own, vfs]) : include ? own ?? vfs : greatestOf([own, vfs]);
		}));
	}

	// True if the driver does not say whether a PF's bytes contain its VFs' that have some: the sum is at least valueOf().
	isLeast(ports, name) {
		return SIGNALS[name].unit === 'bits' && trafficGroups(ports).some(({head, children, include}) => head && include === null && this.value(head, name) > 0 && children.some((p) => this.value(p, name) > 0));
	}

	series(ports, name) {
		const {parts, unit} = SIGNALS[name], {thin} = this.store, of = (list) => thin.series(list.map((p) => p.key), parts ?? [name], unit === 'share');
		if (unit !== 'bits')
			return of(ports);
		return addSeries(trafficGroups(ports).map(({head, children, include}) => {
			const own = of(head ? [head] : []), vfs = of(children);
			return include === false ? addSeries([own, vfs]) : include ? own : own.map((v, i) => (Number.isNaN(v) || vfs[i] > v ? vfs[i] : v));
		}));
	}

	// Why a value is not known: [text, reason]. "–": not counted here; "n/a": could not be read.
	missing(p, name) {
		if (p.facts.watch === 'unseen')
			return [UNKNOWN, 'Its counters cannot be read at the moment'];
		if (p.facts.kind === 'vf' && /^(pause|phy)/.test(name))
			return ['–', `Not counted on VFs; the PF counts it${p.lane ? `: ${shown(p.lane.head.key)}` : ''}`];
		if (p.facts.watch === 'warming')
			return [UNKNOWN, 'No rate yet'];
		return ['–', 'This NIC does not count it'];
	}

	// Is an open verdict of the port about this number?
	isHot(p, name) {
		const parts = SIGNALS[name].parts ?? [name];
		const v = p.verdicts.find((verdict) => parts.includes(verdict.firstSignal));
		return v ? v.severity : null;
	}

	// Devices of an exclusive resource, or null while they are not known.
	devicesOf(resource) {
		return this.devices?.filter((d) => d.resources.some((r) => r.resource === resource)) ?? null;
	}

	// What a pool can still give: {least, most}. Unhealthy devices are never available.
	available(pool) {
		if (!pool.shared && this.devices) {
			const n = this.devices.filter((d) => d.resources.some((r) => r.resource === pool.name && r.healthy === true && r.state === 'free')).length;
			return {least: n, most: n};
		}
		const room = isKnown(pool.gidCapacity) ? Math.max(0, pool.gidCapacity - pool.allocated) : Infinity;
		return {least: Math.min(room, Math.max(0, pool.healthy - pool.allocated)), most: Math.min(room, pool.healthy, Math.max(0, pool.devices - pool.allocated))};
	}

	poolState(pool) {
		if (this.dead)
			return {kind: 'unknown', text: 'Unknown', why: 'rocelet has no new sample'};
		if (pool.registration !== 'registered')
			return {kind: 'critical', text: pool.registration === 'refused' ? 'Refused by the kubelet' : 'Not registered with the kubelet', why: pool.error ?? 'The kubelet has not accepted it yet'};
		if (pool.devices === 0)
			return {kind: 'warning', text: 'No devices', why: pool.hint ?? 'No device matches its selectors'};
		if (isKnown(pool.gidCapacity) && pool.gidCapacity < pool.devices)
			return {kind: 'warning', text: `GID tables have room for ${pool.gidCapacity} of ${pool.devices} slots`, why: 'A pod that gets no GID cannot use RoCE'};
		if (pool.healthy < pool.devices)
			return {kind: 'unhealthy', text: count(pool.devices - pool.healthy, 'device unhealthy', 'devices unhealthy'), why: 'They are reported to the kubelet as unhealthy'};
		return {kind: 'ok', text: 'Registered', why: 'The kubelet has accepted it'};
	}

	eventsOf(p) {
		return this.store.events.filter((e) => e.device !== null && (e.device === p.facts.function || e.device === p.facts.device));
	}

	eventsOfPod(pod) {
		return this.store.events.filter((e) => e.pod === pod.name && e.namespace === pod.namespace);
	}
}

function groupBy(list, keyOf) {
	const groups = new Map();
	for (const item of list)
		groups.set(keyOf(item), [...groups.get(keyOf(item)) ?? [], item]);
	return groups;
}

