// SPDX-License-Identifier: Apache-2.0
// history.js - the last 15 minutes of one port: times, and one list of numbers per signal, null where there is no sample. Pure.

const HISTORY_S = 900;
const LEAST_AXIS_S = 60;
const HISTORY_ROWS = 2000; // more than a row a second, and gaps

class PortHistory {
	constructor(signals) {
		this.times = []; // unix seconds
		this.values = Object.fromEntries(signals.map((signal) => [signal, []]));
	}

	// A row; what is older than the last one is known already. A time without rows is a gap, over which no line is drawn.
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

	// Where a time axis begins that ends now: a quarter of an hour ago, or with the first row of a daemon that is younger.
	begin(now) {
		return Math.max(now - HISTORY_S, Math.min(this.times[0] ?? now, now - LEAST_AXIS_S));
	}

	// Seconds between the last two rows.
	interval() {
		const n = this.times.length;
		return n < 2 ? 1 : this.times[n - 1] - this.times[n - 2];
	}

	// The greatest in [from, to), null: nothing was seen.
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
