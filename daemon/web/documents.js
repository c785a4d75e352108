// SPDX-License-Identifier: Apache-2.0
// documents.js - documents that are not part of the stream. A document is read when a view needs it, and again after the stream has reported a change.
// Also the histories of the ports on the screen.

const REREAD_MS = 2000; // minimum time between two reads of a document
const HISTORIES_AT_ONCE = 3;
const RETRY_HISTORY_MS = 5000;

class Documents {
	// onRead() is called after each read.
	constructor(store, onRead) {
		Object.assign(this, {store, onRead, documents: new Map(), pending: [], underway: new Set(), failed: new Map()});
	}

	// The document, or null until it was read. changesWith: names of the stream's generations; everyMs: the document is read again after this time, too.
	get(path, changesWith, everyMs = Infinity) {
		let entry = this.documents.get(path);
		if (!entry) {
			entry = {path, changesWith, content: null, error: null, old: true, reading: false, readMs: -Infinity, readAt: null};
			this.documents.set(path, entry);
		}
		if (entry.old || performance.now() - entry.readMs > everyMs)
			this.read(entry);
		return entry.content;
	}

	// The time at which the document was read, by the browser's clock.
	readAt(path) {
		return this.documents.get(path)?.readAt ?? null;
	}

	errorOf(path) {
		return this.documents.get(path)?.error ?? null;
	}

	// Marks documents as old after the stream has reported changes of these generations; null: of all.
	changed(words) {
		for (const entry of this.documents.values())
			if (words === null || entry.changesWith.some((word) => words.has(word)))
				entry.old = true;
	}

	async read(entry) {
		if (entry.reading)
			return;
		entry.reading = true;
		await pause(Math.max(0, entry.readMs + REREAD_MS - performance.now()));
		entry.old = false;
		entry.readMs = performance.now();
		try {
			entry.content = await ask(entry.path);
			entry.error = null;
			entry.readAt = Date.now();
		} catch (error) {
			entry.error = error.message;
			entry.old = true; // the next get() reads it again
		}
		entry.reading = false;
		this.onRead();
	}

	// The history of a port from the store; null until it was read. The latest requests are read first: they are for the ports on the screen.
	history(key) {
		const known = this.store.histories.get(key);
		const waits = this.underway.has(key) || this.pending.includes(key) || performance.now() < (this.failed.get(key) ?? 0);
		if (!known && !waits && this.store.timeMs !== null) {
			this.pending.push(key);
			this.readHistories();
		}
		return known ?? null;
	}

	// Reads the history of all ports for the sparklines: once, and again after a gap.
	async readThin() {
		const {store} = this, {thin, startedMs} = store;
		if (store.thinState !== 'none' || store.timeMs === null)
			return;
		store.thinState = 'reading';
		try {
			const document = await ask('api/v1/history', {every: STEP_MS / 1000, signals: THIN_SIGNALS.join(',')});
			if (store.startedMs === startedMs && store.thin === thin) {
				thin.take(document);
				store.thinState = 'read';
			}
			this.onRead();
		} catch {
			await pause(RETRY_HISTORY_MS);
			if (store.thin === thin)
				store.thinState = 'none';
		}
	}

	readHistories() {
		while (this.pending.length > 0 && this.underway.size < HISTORIES_AT_ONCE)
			this.readHistory(this.pending.pop());
	}

	async readHistory(key) {
		const started = this.store.startedMs;
		this.underway.add(key);
		try {
			const document = await ask('api/v1/history', {port: key});
			if (started === this.store.startedMs && this.store.timeMs !== null)
				this.store.takeHistory(key, document);
		} catch {
			this.failed.set(key, performance.now() + RETRY_HISTORY_MS); // a removed port has no history
		}
		this.underway.delete(key);
		this.readHistories();
		this.onRead();
	}
}
