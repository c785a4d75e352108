// SPDX-License-Identifier: Apache-2.0
// thin.js - 15 minutes of all ports in steps of 15 s, for sparklines: the mean of each step, NaN without a sample. Pure.

const STEP_MS = 15000;
const STEPS = 60;
const LEAST_STEPS = 4; // that a sparkline shows
const THIN_SIGNALS = ['bytes_received', 'bytes_sent', 'pause_received', 'pause_sent', 'ce_share', 'discards', 'out_of_sequence', 'nak', 'timeouts', 'not_ready', 'failed', 'cnp_sent'];

class ThinHistory {
	constructor() {
		this.last = null; // number of the newest step, by the node's monotonic clock
		this.samples = 0; // in the newest step
		this.ports = new Map(); // portKey -> {signal: Float64Array(STEPS)}, the newest step last
	}

	port(key) {
		if (!this.ports.has(key))
			this.ports.set(key, Object.fromEntries(THIN_SIGNALS.map((signal) => [signal, new Float64Array(STEPS).fill(NaN)])));
		return this.ports.get(key);
	}

	moveTo(step) {
		const by = Math.min(STEPS, step - this.last);
		for (const signals of this.ports.values())
			for (const values of Object.values(signals)) {
				values.copyWithin(0, by);
				values.fill(NaN, STEPS - by);
			}
		this.last = step;
		this.samples = 0;
	}

	// Adds a sample of all ports. now: a map portKey -> {signal: value}.
	add(atMs, now) {
		const step = Math.floor(atMs / STEP_MS);
		if (this.last === null)
			this.last = step;
		else if (step > this.last)
			this.moveTo(step);
		this.samples++;
		for (const [key, values] of now) {
			const signals = this.port(key);
			for (const signal of THIN_SIGNALS) {
				const v = values[signal], mean = signals[signal][STEPS - 1];
				if (isKnown(v))
					signals[signal][STEPS - 1] = Number.isNaN(mean) ? v : mean + (v - mean) / this.samples;
			}
		}
	}

	// Merges a document of api/v1/history of all ports; steps after its end are kept.
	take(document) {
		const newest = Math.floor((document.atMs.at(-1) ?? 0) / STEP_MS);
		if (document.atMs.length === 0)
			return;
		if (this.last === null)
			this.last = newest;
		for (const {device, port, signals} of document.ports) {
			const own = this.port(portKey({device, port}));
			for (const signal of THIN_SIGNALS)
				document.atMs.forEach((at, i) => {
					const place = STEPS - 1 - (this.last - Math.floor(at / STEP_MS)), given = signals[signal];
					if (place >= 0 && place < STEPS && (place < STEPS - 1 || Number.isNaN(own[signal][place])))
						own[signal][place] = (Array.isArray(given) ? given[i] : given) ?? NaN;
				});
		}
	}

	// The series of several ports and signals: sums, or the greatest values of shares.
	series(keys, signals, isShare) {
		const result = new Float64Array(STEPS).fill(NaN);
		for (const key of keys) {
			const own = this.ports.get(key);
			for (const signal of own ? signals : [])
				own[signal].forEach((v, i) => {
					if (!Number.isNaN(v))
						result[i] = Number.isNaN(result[i]) ? v : isShare ? Math.max(result[i], v) : result[i] + v;
				});
		}
		return result;
	}
}
