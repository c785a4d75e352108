// SPDX-License-Identifier: Apache-2.0
// history.js - the last 15 minutes of one port: times, and one list of numbers per signal, null where there is no sample. Pure.

const HISTORY_S = 900;
const LEAST_AXIS_S = 60;
const HISTORY_ROWS = 2000; // more than a row a second, and gaps

// The history of a PF also has the sums of its VFs, from samples that arrived after the history was read.
const VF_SUMS = {bytes_received: 'vfs_received', bytes_sent: 'vfs_sent'};

class PortHistory {
	constructor(signals) {
		this.times = []; // unix seconds
		this.values = Object.fromEntries([...signals, ...Object.values(VF_SUMS)].map((signal) => [signal, []]));
	}

	// Adds a row; one that is older than the last row is known already. A time without rows is a gap, over which no line is drawn.
	add(time, valueOf) {
		const last = this.times[this.times.length - 1];
		if (last !== undefined && time <= last)
			return;
		if (last !== undefined && time - last > 3 * Math.max(1, this.interval()))
			this.push((last + time) / 2, () => null);
		this.push(time, valueOf);
	}

	push(time, valueOf) {
		this.times.push(time);
		for (const [signal, list] of Object.entries(this.values))
			list.push(valueOf(signal));
		let old = Math.max(0, this.times.length - HISTORY_ROWS);
		while (this.times[old] < time - HISTORY_S)
			old++;
		if (old > 0)
			for (const list of [this.times, ...Object.values(this.values)])
				list.splice(0, old);
	}

	// The beginning of a time axis that ends now: a quarter of an hour ago, or the first row of a younger daemon.
	begin(now) {
		return Math.max(now - HISTORY_S, Math.min(this.times[0] ?? now, now - LEAST_AXIS_S));
	}

	// Seconds between the last two rows.
	interval() {
		const n = this.times.length;
		return n < 2 ? 1 : this.times[n - 1] - this.times[n - 2];
	}

	// The greatest value in [from, to); null: there is none.
	greatest(signal, from = -Infinity, to = Infinity) {
		let found = null;
		this.values[signal].forEach((v, i) => {
			if (v !== null && this.times[i] >= from && this.times[i] < to && (found === null || v > found))
				found = v;
		});
		return found;
	}

	// The last value that is not after a time.
	before(signal, time) {
		return this.values[signal][this.times.findLastIndex((at) => at <= time)] ?? null;
	}

	latest(signal) {
		return this.values[signal][this.times.length - 1] ?? null;
	}
}

// The bytes of a PF with its VFs. include: whether the PF's counter includes its VFs; null: not known, so the result is the greater of both, a lower bound.
function wireBytes(own, vfs, include) {
	return include === false ? sumOf([own, vfs]) : include ? own ?? vfs : greatestOf([own, vfs]);
}

// The history of a PF, including the bytes of its VFs. Before the page was opened, only the means of the sparklines' steps are known for these.
function wireHistory(store, p, own) {
	const {thin} = store, keys = p.lane.children.map((child) => child.key), token = `${own.times.length} ${own.times.at(-1)} ${store.thinState} ${keys.length}`;
	if (own.wire?.token === token)
		return own.wire;
	const wire = Object.assign(Object.create(PortHistory.prototype), {token, times: own.times, values: {...own.values}});
	for (const [signal, vfSum] of Object.entries(VF_SUMS)) {
		const means = thin.series(keys, [signal], false), meanAt = (time) => means[STEPS - 1 - (thin.last - Math.floor((time * 1000 - store.offsetMs) / STEP_MS))];
		wire.values[signal] = own.values[signal].map((v, i) => {
			const mean = v === null ? null : meanAt(own.times[i]), vfs = own.values[vfSum][i] ?? (isKnown(mean) ? mean : null);
			return wireBytes(v, vfs, p.facts.bytesIncludeVfs);
		});
	}
	own.wire = wire;
	return wire;
}
