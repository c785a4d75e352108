// SPDX-License-Identifier: Apache-2.0
// stream.js - polls api/v1/live, each time for the changes since the last answer. Pauses while the page is hidden.
//
// The daemon answers when there is something new, so that verdicts arrive at once, also through proxies that buffer responses. If too many clients wait,
// the daemon answers at once, and the page waits before the next request.

const WAIT_MOST_S = 10;
const WAIT_LEAST_S = 3;
const LEAST_PERIOD_MS = 500; // between two requests
const IDLE_PERIOD_MS = 1000; // after an immediate answer without changes
const RETRY_MS = [500, 1000, 2000, 4000, 8000];

async function untilVisible() {
	while (document.hidden)
		await new Promise((done) => document.addEventListener('visibilitychange', done, {once: true}));
}

// How long the daemon may wait with its answer: three sample periods. A daemon that takes no samples answers then, and so differs from one that does not answer.
function waitSeconds(store) {
	return store.timeMs === null ? 0 : Math.min(WAIT_MOST_S, Math.max(WAIT_LEAST_S, Math.ceil(3 * (store.everyMs ?? 0) / 1000)));
}

async function askLive(store) {
	return ask('api/v1/live', {since: store.timeMs ?? 0, events: store.eventsGeneration, wait: waitSeconds(store)}, (WAIT_MOST_S + 10) * 1000);
}

// hooks: answered(live) merges a document and returns whether it had anything new; failed(error) is called for each failed request.
async function follow(store, hooks) {
	let failures = 0;
	for (;;) {
		await untilVisible();
		const began = performance.now();
		let rest = 0;
		try {
			const news = hooks.answered(await askLive(store));
			failures = 0;
			rest = (news ? LEAST_PERIOD_MS : IDLE_PERIOD_MS) - (performance.now() - began);
		} catch (error) {
			hooks.failed(error);
			// Random, so that not all pages send requests at the same time when the daemon is back.
			rest = RETRY_MS[Math.min(failures++, RETRY_MS.length - 1)] * (0.75 + Math.random() / 2);
		}
		await pause(Math.max(0, rest));
	}
}
