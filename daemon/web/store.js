// SPDX-License-Identifier: Apache-2.0
// store.js - the page's data of the node, and how answers of the daemon are merged into it. Pure: the time is an argument.

const EVENTS_KEPT = 1000;

function portKey(port) {
	return `${port.device}/${port.port}`;
}

function verdictKey(verdict) {
	return `${portKey(verdict)} ${verdict.cause}`;
}

class Store {
	constructor() {
		this.startedMs = null; // start time of the daemon that all data below is from
		this.node = null;
		this.version = null;
		this.everyMs = null; // between two samples
		this.forget();
	}

	// Discards all data: it is from an earlier start of the daemon.
	forget() {
		this.timeMs = null; // of the newest sample, by the node's monotonic clock
		this.timeUnixMs = null;
		this.offsetMs = null; // from that clock to unix time
		this.serverNowMs = null; // time of the newest answer, by the same clock
		this.receivedMs = null; // and by the browser's
		this.signals = [];
		this.now = new Map(); // portKey -> {signal: value} of the newest sample
		this.histories = new Map(); // portKey -> PortHistory, of the ports that are shown
		this.vfsOf = new Map(); // portKey of a PF -> portKeys of its VFs
		this.verdicts = [];
		this.verdictCount = 0;
		this.problemCount = 0; // verdicts that are a warning or worse
		this.ended = []; // verdicts of the last hour, the newest first
		this.epoch = 0; // counts openings and ends of verdicts
		this.thin = new ThinHistory();
		this.thinState = 'none'; // of the document that fills `thin`: none, reading, read
		this.events = []; // the oldest first
		this.eventsGeneration = 0;
		this.generations = {};
		this.portsDigest = null;
	}

	// How old the newest sample is now, by the browser's clock; null: there is none.
	ageMs(nowMs) {
		if (this.timeMs === null)
			return null;
		return this.serverNowMs - this.timeMs + Math.max(0, nowMs - this.receivedMs);
	}

	unixSeconds(monotonicMs) {
		return (monotonicMs + this.offsetMs) / 1000;
	}

	// Merges a document of api/v1/live, and returns the changes.
	take(live, nowMs) {
		const change = {restarted: false, gap: false, opened: [], closed: [], documents: new Set()};
		if (this.startedMs !== null && this.startedMs !== live.startedMs) {
			change.restarted = true;
			this.forget();
		}
		this.startedMs = live.startedMs;
		this.node = live.node;
		this.version = live.version;
		this.everyMs = live.everyMs;
		this.serverNowMs = live.nowMs;
		this.receivedMs = nowMs;
		this.takeGenerations(live, change);
		this.takeEvents(live.events);
		if (live.timeMs !== null)
			this.takeReport(live, change);
		return change;
	}

	takeGenerations(live, change) {
		for (const [name, generation] of Object.entries(live.generations)) {
			if (this.generations[name] !== generation)
				change.documents.add(name);
		}
		this.generations = live.generations;
		if (isKnown(live.portsDigest) && this.portsDigest !== live.portsDigest) {
			change.documents.add('ports');
			this.portsDigest = live.portsDigest;
		}
	}

	// Adds events. A repeated event replaces its earlier entry.
	takeEvents(events) {
		const key = (e) => JSON.stringify([e.type, e.reason, e.namespace, e.pod, e.device, e.message]);
		const again = new Set(events.events.map(key));
		if (again.size > 0)
			this.events = [...this.events.filter((e) => !again.has(key(e))), ...events.events].slice(-EVENTS_KEPT);
		this.eventsGeneration = events.generation;
	}

	// Merges a document of api/v1/events, which has all events. Events that are known already are kept: they are the same, or newer.
	takeOlderEvents(all) {
		const newer = {generation: this.eventsGeneration, events: this.events};
		this.events = all.events;
		this.takeEvents(newer);
	}

	takeReport(live, change) {
		const first = this.timeMs === null;
		this.signals = live.signals;
		this.timeUnixMs = Date.parse(live.time);
		if (this.offsetMs === null)
			this.offsetMs = this.timeUnixMs - live.timeMs;
		if (!first && !live.complete) {
			change.gap = true;
			this.histories.clear();
			this.thin = new ThinHistory();
			this.thinState = 'none';
		}
		for (const row of live.rows)
			this.takeRow(row);
		this.takeVerdicts(live, first, change);
		this.timeMs = live.timeMs;
	}

	takeRow(row) {
		const time = this.unixSeconds(row.atMs);
		this.now = new Map();
		for (const [device, port, ...values] of row.ports) {
			const key = portKey({device, port});
			const named = Object.fromEntries(this.signals.map((signal, i) => [signal, values[i]]));
			this.now.set(key, named);
		}
		for (const [key, history] of this.histories) {
			const vfs = (this.vfsOf.get(key) ?? []).map((vf) => this.now.get(vf) ?? {}), sums = Object.fromEntries(Object.entries(VF_SUMS).map(([signal, sum]) => [sum, sumOf(vfs.map((values) => values[signal]))]));
			if (this.now.has(key))
				history.add(time, (signal) => this.now.get(key)[signal] ?? sums[signal] ?? null);
		}
		this.thin.add(row.atMs, this.now);
	}

	takeVerdicts(live, first, change) {
		const before = new Map(this.verdicts.map((v) => [verdictKey(v), v]));
		const after = new Map(live.verdicts.map((v) => [verdictKey(v), v]));
		this.verdicts = live.verdicts;
		this.verdictCount = live.verdictCount;
		this.problemCount = live.problemCount;
		this.ended = live.ended;
		if (first)
			return;
		change.opened = live.verdicts.filter((v) => !before.has(verdictKey(v)));
		// If the answer does not list all verdicts, those that are missing are no worse than the last one listed.
		const cut = live.verdicts.length < live.verdictCount ? live.verdicts.at(-1).level : 0;
		change.closed = [...before.values()].filter((v) => !after.has(verdictKey(v)) && v.level > cut);
		// The health of ports and pods in other documents follows the verdicts.
		if (change.opened.length + change.closed.length > 0 || live.verdicts.some((v) => before.get(verdictKey(v))?.level !== v.level))
			change.documents.add('verdicts');
		if (change.opened.length + change.closed.length > 0)
			this.epoch++;
	}

	// Makes the history of a port from a document of api/v1/history, which contains the rows that arrived meanwhile.
	takeHistory(key, document) {
		const history = new PortHistory(Object.keys(document.signals));
		document.atMs.forEach((at, i) => history.add(this.unixSeconds(at), (signal) => document.signals[signal]?.[i] ?? null));
		this.histories.set(key, history);
		return history;
	}
}
