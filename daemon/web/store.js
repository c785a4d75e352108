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
		this.startedMs = null; // of which start of the daemon everything below is
		this.node = null;
		this.version = null;
		this.everyMs = null; // between two samples
		this.forget();
	}

	// Nothing of what was told before holds any more.
	forget() {
		this.timeMs = null; // of the newest sample, by the node's monotonic clock
		this.timeUnixMs = null;
		this.offsetMs = null; // from that clock to unix time
		this.serverNowMs = null; // when it said so, by the same clock
		this.receivedMs = null; // and by ours
		this.signals = [];
		this.now = new Map(); // portKey -> {signal: value} of the newest sample
		this.histories = new Map(); // portKey -> PortHistory, of those that somebody looks at
		this.verdicts = [];
		this.verdictCount = 0;
		this.ended = []; // verdicts of the last hour, the newest first
		this.epoch = 0; // counts openings and ends of verdicts
		this.thin = new ThinHistory();
		this.thinState = 'none'; // of its document: none, reading, read
		this.events = []; // the oldest first
		this.eventsGeneration = 0;
		this.generations = {};
		this.portsDigest = null;
	}

	// How old the newest sample is now, by our clock; null: there is none.
	ageMs(nowMs) {
		if (this.timeMs === null)
			return null;
		return this.serverNowMs - this.timeMs + Math.max(0, nowMs - this.receivedMs);
	}

	unixSeconds(monotonicMs) {
		return (monotonicMs + this.offsetMs) / 1000;
	}

	// Takes a document of api/v1/live and says what has changed.
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

	// One that comes again takes the place of its last time.
	takeEvents(events) {
		const key = (e) => JSON.stringify([e.type, e.reason, e.namespace, e.pod, e.device, e.message]);
		const again = new Set(events.events.map(key));
		if (again.size > 0)
			this.events = [...this.events.filter((e) => !again.has(key(e))), ...events.events].slice(-EVENTS_KEPT);
		this.eventsGeneration = events.generation;
	}

	// A document of api/v1/events, with all there are: those that are known already are the same ones, or newer.
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
			this.histories.get(key)?.add(time, (signal) => named[signal] ?? null);
		}
		this.thin.add(row.atMs, this.now);
	}

	takeVerdicts(live, first, change) {
		const before = new Map(this.verdicts.map((v) => [verdictKey(v), v]));
		const after = new Map(live.verdicts.map((v) => [verdictKey(v), v]));
		this.verdicts = live.verdicts;
		this.verdictCount = live.verdictCount;
		this.ended = live.ended;
		if (first)
			return;
		change.opened = live.verdicts.filter((v) => !before.has(verdictKey(v)));
		// Where not all are told, those that are not are no worse than the last one that is.
		const cut = live.verdicts.length < live.verdictCount ? live.verdicts.at(-1).level : 0;
		change.closed = [...before.values()].filter((v) => !after.has(verdictKey(v)) && v.level > cut);
		if (change.opened.length + change.closed.length > 0)
			this.epoch++;
	}

	// Takes a document of api/v1/history; rows that came meanwhile are in it.
	takeHistory(key, document) {
		const history = new PortHistory(Object.keys(document.signals));
		document.atMs.forEach((at, i) => history.add(this.unixSeconds(at), (signal) => document.signals[signal][i]));
		this.histories.set(key, history);
		return history;
	}
}
