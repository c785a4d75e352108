// ask.js - one question to the daemon: a document, or an error whose message is a sentence.

async function ask(path, words = {}, timeoutMs = 20000) {
	const query = new URLSearchParams(words).toString();
	const ends = new AbortController();
	const timer = setTimeout(() => ends.abort(), timeoutMs);
	try {
		const answer = await fetch(query ? `${path}?${query}` : path, {cache: 'no-store', credentials: 'same-origin', signal: ends.signal});
		const text = await answer.text();
		if (!answer.ok)
			throw new Error(sentenceOf(text) || `${path} is answered with ${answer.status}`);
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
