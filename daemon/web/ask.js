// SPDX-License-Identifier: Apache-2.0
// ask.js - one request to the daemon: resolves to a document or fails with an error whose message is a sentence. isAnswer: the error is an HTTP response.

// Relative to the page, without the user name and password of its address: browsers refuse to fetch an address with credentials, and already have them.
function addressOf(path, words) {
	const address = new URL(path, location.href);
	address.username = address.password = '';
	Object.entries(words).forEach(([name, value]) => address.searchParams.set(name, value));
	return address;
}

async function ask(path, words = {}, timeoutMs = 20000) {
	const ends = new AbortController();
	const timer = setTimeout(() => ends.abort(), timeoutMs);
	try {
		const answer = await fetch(addressOf(path, words), {cache: 'no-store', credentials: 'same-origin', signal: ends.signal});
		const text = await answer.text();
		if (!answer.ok)
			throw Object.assign(new Error(sentenceOf(text) || `${path} is answered with ${answer.status}`), {isAnswer: true});
		return JSON.parse(text);
	} finally {
		clearTimeout(timer);
	}
}

function sentenceOf(text) {
	try {
		return JSON.parse(text).error;
	} catch {
		return text.startsWith('<') ? '' : text.trim().slice(0, 200);
	}
}

function pause(ms) {
	return new Promise((done) => setTimeout(done, ms));
}
