// SPDX-License-Identifier: Apache-2.0
// model.js - joins the documents: ports with lane, device, pod and state; pods with their ports; pools. Built once per rendering of the page.

// The measured values of a port. `parts`: signals of the API that are summed in one column.
const SIGNALS = {
	bytes_received: {title: 'Received', unit: 'bits', about: 'RDMA traffic that arrived; of a PF with that of its VFs'},
	bytes_sent: {title: 'Sent', unit: 'bits', about: 'RDMA traffic that left; of a PF with that of its VFs'},
	pause_sent: {title: 'Pause out', unit: 'share', about: 'share of time in which this port paused the network, because its host did not accept packets'},
	pause_received: {title: 'Pause in', unit: 'share', about: 'share of time in which the network paused this port'},
	ce_share: {title: 'CE', unit: 'share', about: 'share of received packets that switches marked as congested'},
	cnp_received: {title: 'CNP in', unit: 'events', about: 'congestion notifications received'},
	cnp_sent: {title: 'CNP out', unit: 'events', about: 'congestion notifications sent'},
	loss: {title: 'Loss', unit: 'events', parts: ['discards', 'out_of_sequence'], about: 'packets dropped on arrival or missing in their sequence'},
	again: {title: 'Retrans.', unit: 'events', parts: ['nak', 'timeouts'], about: 'NAKs of lost packets and ACK timeouts, after which this port retransmits'},
	discards: {title: 'Dropped on arrival', unit: 'events'},
	out_of_sequence: {title: 'Out of sequence', unit: 'events'},
	nak: {title: 'NAKs', unit: 'events'},
	timeouts: {title: 'Timeouts', unit: 'events'},
	not_ready: {title: 'Receiver not ready', unit: 'events'},
	failed: {title: 'Failed', unit: 'events'},
	phy_errors: {title: 'Link errors', unit: 'events'},
};

// Of a signal: what diagnosis calls it where it cannot judge a cause.
const UNDECIDED_WORDS = [[/^pause/, /pause/], [/^ce_share/, /\bCE\b|ECN/i], [/^cnp/, /CNP/i], [/^discards|^loss/, /discard/]];

// Worst first. filter: the filter of the port list that shows these ports.
const STATES = {
	critical: {label: 'critical', filter: 'problems'},
	warning: {label: 'warning', filter: 'problems'},
	info: {label: 'information', filter: 'info'},
	through: {label: 'through their PF', filter: 'through'},
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

// A problem is an open verdict that is a warning or worse; there is one for each port and cause.
function isProblemVerdict(v) {
	return v.level >= 2;
}

// True if the link is down: that of the RDMA port, or of its netdev in the host.
function isDown({facts, device}) {
	return facts.watch === 'down' || (facts.state !== null && facts.state !== 'active') || device?.netdevs.some((netdev) => netdev.name === facts.netdev && netdev.carrier === false) === true;
}

function podKey(pod) {
	return `${pod.namespace}/${pod.name ?? pod.pod}`;
}

// True while the link is down that the verdict is about.
function isOfLinkDown(v) {
	return v.cause === 'link_flap' && !v.ended && !v.clearingSinceMs && v.evidence.some(({name, word}) => name === 'link down for' || (name === 'roce_port_state' && isKnown(word) && word !== 'active'));
}

// The name of a verdict in all views.
function verdictTitle(v) {
	return v.cause === 'link_flap' && !isOfLinkDown(v) ? 'Link went down' : causeTitle(v.cause);
}

function verdictSentence(v) {
	return isOfLinkDown(v) ? 'the link is down' : v.sentence;
}

function verdictState(v) {
	return {kind: v.severity, text: verdictTitle(v), why: sentenceCase(verdictSentence(v))};
}

// The state of what has a verdict only through its PF.
function stateOfPf(v) {
	return {...verdictState(v), text: `${verdictTitle(v)} (PF)`, why: `Its PF ${shown(portKey(v))}: ${verdictSentence(v)}`, ofPf: true};
}

// The state of a pod's port in views of the pod: a VF without a finding of its own has that of its PF, if that affects the pod.
function stateInPod(pod, p) {
	const head = p.lane?.head, isBetter = head && head !== p && stateRank(p.state) > stateRank({kind: 'unhealthy'}), v = p.state.ofPf ? p.pfVerdict : isBetter ? pod.verdicts.find((one) => isProblemVerdict(one) && portKey(one) === head.key) : null;
	return v ? stateOfPf(v) : p.state;
}

// The severity of a trouble as a number, as that of a verdict.
function troubleLevel(trouble) {
	return trouble ? trouble.level ?? 2 : 0;
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

// A PF with VFs: its link carries the bytes of all of them.
function isWire(p) {
	return p.lane?.head === p && p.lane.children.length > 0;
}

// The ports whose bytes a port shows.
function wirePorts(p) {
	return isWire(p) ? p.lane.ports : [p];
}

function addSeries(list) {
	const result = new Float64Array(STEPS).fill(NaN);
	for (const values of list)
		values.forEach((v, i) => { if (!Number.isNaN(v)) result[i] = Number.isNaN(result[i]) ? v : result[i] + v; });
	return result;
}

const UNREAD_LIST = 'The kubelet\'s list of allocated devices has not been read yet';

function isListUnread(pool) {
	return !isKnown(pool.free) || !isKnown(pool.allocated);
}

class Model {
	// documents: {ports, devices, pods, resources}, each null until it was read; dead: the data is not current.
	constructor(store, documents, dead, nowMs) {
		Object.assign(this, {store, dead, nowMs, documents});
		this.verdicts = worstFirst(store.verdicts);
		this.ended = store.ended.filter((v) => v.endedAs !== 'explained');
		this.isCut = store.verdicts.length < store.verdictCount;
		this.problems = this.verdicts.filter(isProblemVerdict);
		this.isProblemCut = this.problems.length < store.problemCount;
		this.byPort = groupBy(this.verdicts, portKey);
		this.endedByPort = groupBy(this.ended, portKey);
		this.findings = new Map((documents.doctor?.findings ?? []).filter((f) => f.kind === 'unhealthy').map((f) => [f.object, f]));
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
			p.troubles = this.portTroubles(p);
			p.pfVerdict = this.verdictOfPf(p);
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
		this.store.vfsOf = new Map(this.lanes.filter((lane) => lane.children.length > 0).map((lane) => [lane.head.key, lane.children.map((p) => p.key)]));
	}

	joinPods(document) {
		this.pods = document?.pods.map((pod) => {
			const devices = pod.containers.flatMap((container) => container.devices.map((device) => ({...device, container: container.name, port: this.portOfDevice(device)})));
			const ports = [...new Set(devices.map((d) => d.port).filter(Boolean))];
			return {...pod, key: podKey(pod), devices, ports, sharedPorts: ports.length > 0 ? [] : this.sharedPorts(devices)};
		}) ?? null;
		this.podByKey = new Map((this.pods ?? []).map((pod) => [pod.key, pod]));
		this.nameAllPods();
		const about = new Map(); // pod -> verdicts that affect it, or that it causes
		for (const v of [...this.verdicts, ...this.ended])
			for (const pod of [...this.podsOf(v), ...v.causedBy])
				about.set(podKey(pod), (about.get(podKey(pod)) ?? new Set()).add(v));
		for (const pod of this.pods ?? []) {
			pod.verdicts = this.ofPod(this.verdicts, pod, about);
			pod.ended = this.ofPod(this.ended, pod, about);
			pod.troubles = pod.devices.flatMap((d) => this.deviceTroubles(d).map((trouble) => ({...trouble, device: d})));
			pod.state = this.podState(pod);
		}
	}

	// The ports behind the slots of shared devices.
	sharedPorts(devices) {
		this.portsOfPool ??= groupBy((this.ports ?? []).flatMap((p) => (p.device?.resources ?? []).filter((r) => r.shared).map((r) => ({p, pool: r.resource}))), ({pool}) => pool);
		return [...new Set([...new Set(devices.map((d) => d.resource))].flatMap((pool) => (this.portsOfPool.get(pool) ?? []).map(({p}) => p)))];
	}

	portOfDevice({id, attachment}) {
		return this.portByName.get(attachment?.rdma) ?? this.portByName.get(attachment?.function) ?? this.portByName.get(id) ?? null;
	}

	ofPod(verdicts, pod, about) {
		const keys = new Set(pod.ports.map((p) => p.key)), named = about.get(pod.key);
		return verdicts.filter((v) => keys.has(portKey(v)) || named?.has(v));
	}

	// Finds all pods of the verdicts. A verdict lists only the first ones; the others are the pods of its port and, if it is about a PF, of the VFs.
	nameAllPods() {
		this.allPods = new Map(); // verdict -> pods, for verdicts that do not list all
		const cut = [...this.verdicts, ...this.ended].filter((v) => v.podCount > v.pods.length), podsByPort = new Map();
		for (const pod of cut.length > 0 ? this.pods ?? [] : [])
			for (const p of [...pod.ports, ...pod.sharedPorts])
				podsByPort.set(p, [...podsByPort.get(p) ?? [], {namespace: pod.namespace, name: pod.name}]);
		for (const v of cut) {
			const p = this.portByKey.get(portKey(v)), culprits = new Set(v.causedBy.map(podKey)), known = [...v.pods, ...(p ? wirePorts(p) : []).flatMap((port) => podsByPort.get(port) ?? [])].filter((pod) => !culprits.has(podKey(pod)));
			this.allPods.set(v, [...new Map(known.map((pod) => [podKey(pod), pod])).values()].slice(0, v.podCount));
		}
	}

	podsOf(v) {
		return this.allPods.get(v) ?? v.pods;
	}

	// The troubles of a port's device besides verdicts: from the API, or else from the device and its attachment.
	portTroubles(p) {
		const {facts, device} = p;
		const attachment = attachmentTroubles(device?.attachment), isBad = attachment.some(({word}) => word === 'bad'); // which is why it is not clean
		const found = facts.troubles?.filter((trouble) => trouble.kind !== 'verdict') ?? [...healthTroubles(device, this.findings).filter(({word}) => word !== 'not_clean' || !isBad), ...attachment];
		return found.length === 0 && !facts.troubles?.length && this.isOfPod(p) && isDown(p) ? [{kind: 'link', severity: 'warning', level: 2, word: 'link_down', what: "the link of a pod's port is down", help: 'Check the cable, the switch port and the PF.', since: null, orEarlier: false}] : found;
	}

	// The troubles of a pod's device, which may have no port.
	deviceTroubles({id, port, attachment, troubles}) {
		if (troubles)
			return troubles.filter((trouble) => trouble.kind !== 'verdict');
		const device = this.deviceById.get(attachment?.function ?? id) ?? null;
		const found = port?.troubles ?? healthTroubles(device, this.findings); // a slot's attachment is none of its port's
		return found.some(({kind}) => kind === 'attachment') ? found : [...found, ...attachmentTroubles(attachment ?? device?.attachment)];
	}

	// The problem of a PF without a link explains that a pod's VF has none; null: the VF is down by itself, or something else is wrong with it.
	linkVerdict(p) {
		const head = p.lane?.head;
		return head && head !== p && this.isOfPod(p) && isDown(p) && isDown(head) && p.troubles.every(({word}) => LINK_WORDS.has(word)) ? (this.byPort.get(head.key) ?? []).find(isProblemVerdict) ?? null : null;
	}

	// The worst verdict of a PF that affects the pod of its VF, as the API's health of the VF; null: there is none. The verdicts are newer than the document of ports.
	verdictOfPf(p) {
		const head = p.lane?.head, isOf = (v) => p.facts.troubles?.some(({kind, ofPf, word}) => kind === 'verdict' && ofPf && word === v.cause) || (p.facts.pod !== null && [...v.pods, ...v.causedBy].some((pod) => podKey(pod) === podKey(p.facts)));
		return head && head !== p ? (this.byPort.get(head.key) ?? []).find(isOf) ?? this.linkVerdict(p) : null;
	}

	// The troubles that no open problem covers: that of a port, or of a VF's PF, says why its link is down.
	uncovered(p, troubles) {
		return p && (p.verdicts.some(isProblemVerdict) || this.linkVerdict(p)) ? troubles.filter(({word}) => !LINK_WORDS.has(word)) : troubles;
	}

	isOfPod(p) {
		return p.facts.pod !== null || p.device?.attachment?.state === 'in_pod';
	}

	isInUse(p) {
		const {facts, now} = p;
		return facts.kind !== 'vf' || this.isOfPod(p) || (now.bytes_received ?? 0) + (now.bytes_sent ?? 0) > 0;
	}

	// The state of a port. It is "ok" only if it was judged by the newest sample, that sample is new, and nothing was found.
	portState(p) {
		const {facts} = p;
		const found = worstFirst([p.verdicts[0], p.pfVerdict].filter(Boolean))[0], isWorse = found && troubleLevel(p.troubles[0]) > found.level;
		if (found && !isWorse)
			return p.verdicts[0]?.level === found.level ? verdictState(p.verdicts[0]) : stateOfPf(found);
		if (isWorse || (this.dead && this.isOfPod(p) && p.troubles.length > 0)) // last known, as verdicts are
			return troubleState(p.troubles, this.isOfPod(p));
		if (this.dead)
			return {kind: 'unknown', text: 'Unknown', why: this.store.timeMs === null ? 'No sample has been judged yet' : `No new sample since ${clock(this.sampleMs())}`};
		if (this.isCut)
			return {kind: 'unknown', text: 'Not shown', why: `Only the worst ${this.verdicts.length} of ${this.store.verdictCount} verdicts are shown here`};
		if (facts.watch === 'unseen')
			return {kind: 'unknown', text: 'Cannot be read', why: 'Its counters cannot be read at the moment'};
		if (facts.watch === 'not applicable')
			return {kind: 'unknown', text: 'Not judged', why: 'It carries no RoCE'};
		if (p.troubles.length > 0)
			return troubleState(p.troubles, this.isOfPod(p));
		if (!this.isInUse(p))
			return {kind: 'idle', text: p.device?.attachment ? sentenceCase(p.device.attachment.state.replaceAll('_', ' ')) : 'Not in use', why: sentenceCase(p.device?.why ?? 'No pod has it')};
		if (isDown(p))
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
		const isWorse = troubleLevel(pod.troubles[0]) > (pod.verdicts[0]?.level ?? 0);
		if (pod.verdicts.length > 0 && !isWorse) {
			// Of the worst verdicts, prefer one on a port of the pod's own.
			const [worst] = pod.verdicts, own = new Set(pod.ports.map((p) => p.key)), v = pod.verdicts.find((one) => one.level === worst.level && own.has(portKey(one))) ?? worst;
			return {...(own.has(portKey(v)) || pod.ports.length === 0 ? verdictState(v) : stateOfPf(v)), at: v, more: new Set(pod.verdicts.map(portKey)).size - 1};
		}
		if (this.ports === null)
			return {kind: 'unknown', text: 'Unknown', why: 'Its ports are not known yet'};
		const blind = pod.devices.find((d) => !d.port), [trouble] = pod.troubles;
		if (trouble)
			return {...troubleState(pod.troubles, true), at: trouble.device.port?.facts ?? null, more: new Set(pod.troubles.map(({device}) => device.id)).size - 1};
		if (pod.ports.length === 0)
			return this.slotState(pod);
		const worst = worstState(pod.ports.map((p) => p.state));
		return blind && stateRank(worst) > stateRank({kind: 'unknown'}) ? {kind: 'unknown', text: 'Partly judged', why: `${shown(blind.id)}: no port of it is known`} : worst;
	}

	// The state of a pod that has only slots of shared devices. A problem of their worst port is a note here, because the pod need not be affected. If no port is known, the pod is not judged, and is listed last.
	slotState({devices, sharedPorts}) {
		const worst = sharedPorts?.length ? worstState(sharedPorts.map((p) => p.state)) : null;
		if (worst === null)
			return {kind: 'idle', text: 'Not judged', why: devices.length ? 'The ports of its shared devices are not known' : 'It has no device here'};
		if (worst.kind === 'ok')
			return {kind: 'ok', text: 'No problem found', why: 'The ports of its shared devices were judged with the newest sample'};
		if (stateRank(worst) >= stateRank({kind: 'info'}))
			return {...worst, why: `A port that it shares: ${worst.why}`};
		return {kind: 'info', text: `Shares a port with ${worst.text.replace(/^[A-Z](?=[a-z ])/, (c) => c.toLowerCase())}`, why: `A port that it shares: ${worst.why}`, isShared: true};
	}

	// Unix time of the newest sample.
	sampleMs() {
		return this.store.timeUnixMs ?? this.nowMs;
	}

	// The value that a port shows. The throughput of a PF is that of its link, and includes its VFs.
	value(p, name) {
		return SIGNALS[name].unit === 'bits' && isWire(p) ? this.valueOf(p.lane.ports, name) : this.ownValue(p, name);
	}

	// The value of the port's own counters.
	ownValue(p, name) {
		const {parts} = SIGNALS[name];
		return parts ? sumOf(parts.map((part) => p.now[part])) : p.now[name] ?? null;
	}

	// The value of several ports: the greatest share, or the sum of anything else. Bytes of VFs that their PF counts, too, are added once.
	valueOf(ports, name) {
		const {unit} = SIGNALS[name], valuesOf = (list) => list.map((p) => this.ownValue(p, name));
		if (unit !== 'bits')
			return (unit === 'share' ? greatestOf : sumOf)(valuesOf(ports));
		return sumOf(trafficGroups(ports).map(({head, children, include}) => {
			return wireBytes(head && this.ownValue(head, name), sumOf(valuesOf(children)), include);
		}));
	}

	// True if valueOf() is only a lower bound: it is not known whether the bytes of a PF include those of its VFs, and both have some.
	isLeast(ports, name) {
		return SIGNALS[name].unit === 'bits' && trafficGroups(ports).some(({head, children, include}) => head && include === null && this.ownValue(head, name) > 0 && children.some((p) => this.ownValue(p, name) > 0));
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
		if (p.facts.kind === 'vf' && /^(pause|phy)/.test(name)) {
			const head = p.lane?.head, isCounted = head && head !== p && isKnown(this.ownValue(head, name));
			return ['–', isCounted ? `Not counted on VFs; the PF counts it: ${shown(head.key)}` : `Not counted on VFs, and not visible on ${head && head !== p ? `the PF ${shown(head.key)}` : 'their PF'}`];
		}
		if (p.facts.watch === 'warming')
			return [UNKNOWN, 'No rate yet'];
		if (name === 'ce_share' && p.now.bytes_received === 0)
			return ['–', 'No packets arrive that could be marked'];
		return ['–', this.unseenWhy(p, name)];
	}

	// Whether the NIC counts it at all is not known: no source delivers it. What diagnosis lacks for its causes says why, if they are about this number.
	unseenWhy(p, name) {
		const words = UNDECIDED_WORDS.find(([pattern]) => pattern.test(name))?.[1];
		const own = words && this.documents.diagnosis?.undecided?.find((u) => portKey(u) === p.key && words.test(u.why));
		return own ? sentenceCase(shown(own.why)) : 'Not visible here: no source of counters delivers it';
	}

	// The severity of an open verdict that is about this value of the port; null: there is none.
	isHot(p, name) {
		const parts = SIGNALS[name].parts ?? [name];
		const v = p.verdicts.find((verdict) => isProblemVerdict(verdict) && (parts.includes(mainSignal(verdict)) || (this.ownValue(p, name) > 0 && parts.some((part) => hotSignals(verdict).has(part)))));
		return v ? v.severity : null;
	}

	// The port whose open verdict is about this number: the gravest, then the one with the most; null: none.
	hotPort(ports, name) {
		const rank = (p) => stateRank({kind: this.isHot(p, name)});
		return ports.filter((p) => this.isHot(p, name)).sort((a, b) => rank(a) - rank(b) || (this.ownValue(b, name) ?? 0) - (this.ownValue(a, name) ?? 0))[0] ?? null;
	}

	// Of several ports: what valueOf() says, but of a share that of the port with a problem, and the problem's severity or null. A colour belongs to the number that has it.
	hotValueOf(ports, name) {
		const p = this.hotPort(ports, name), own = p && SIGNALS[name].unit === 'share' ? this.ownValue(p, name) : null;
		return {v: own ?? this.valueOf(ports, name), hot: p && this.isHot(p, name), p};
	}

	// Devices of an exclusive resource, or null while they are not known.
	devicesOf(resource) {
		return this.devices?.filter((d) => d.resources.some((r) => r.resource === resource)) ?? null;
	}

	poolState(pool) {
		if (this.dead)
			return pool.devices === 0 ? {kind: 'unknown', text: 'No devices', why: pool.hint ?? 'No device matches its selectors'} : {kind: 'unknown', text: 'Unknown', why: 'rocelet has no new sample'};
		if (pool.registration !== 'registered')
			return {kind: 'critical', text: pool.registration === 'refused' ? 'Refused by the kubelet' : 'Not registered with the kubelet', why: pool.error ?? 'The kubelet has not accepted it yet'};
		if (pool.devices === 0)
			return {kind: 'warning', text: 'No devices', why: pool.hint ?? 'No device matches its selectors'};
		if (isKnown(pool.gidCapacity) && pool.gidCapacity < pool.devices)
			return {kind: 'warning', text: `RoCE addresses for ${grouped(pool.gidCapacity)} of ${grouped(pool.devices)} pods only`, why: `The ports' tables of RoCE addresses (GIDs) have room for ${count(pool.gidCapacity, 'pod')}, and a pod without an address cannot use RoCE`};
		if (pool.healthy < pool.devices)
			return {kind: 'unhealthy', text: count(pool.devices - pool.healthy, 'device unhealthy', 'devices unhealthy'), why: 'They are reported to the kubelet as unhealthy'};
		if (isListUnread(pool))
			return {kind: 'unknown', text: 'Registered, allocations not known yet', why: UNREAD_LIST};
		return {kind: 'ok', text: 'Registered', why: 'The kubelet has accepted it'};
	}

	// The first step of the sparklines: where the history of 15 minutes begins, or that of a younger daemon.
	sparkFirst() {
		const {startedMs} = this.store, steps = startedMs === null ? STEPS : Math.ceil((this.sampleMs() - startedMs) / STEP_MS);
		return STEPS - Math.min(STEPS, Math.max(LEAST_STEPS, steps));
	}

	eventsOf(p) {
		return this.store.events.filter((e) => e.device !== null && (e.device === p.facts.function || e.device === p.facts.device));
	}

	eventsOfPod(pod) {
		return this.store.events.filter((e) => eventPods(e).pods.some((one) => podKey(one) === pod.key));
	}
}

function groupBy(list, keyOf) {
	const groups = new Map();
	for (const item of list)
		groups.set(keyOf(item), [...groups.get(keyOf(item)) ?? [], item]);
	return groups;
}

