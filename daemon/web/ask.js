// ask.js - one question to the daemon: a document, or an error whose message is a sentence; isAnswer if somebody answered so.

// Beside the page. A name and a password in its address are the browser's: it knows them by now, and asks nothing of an address that has them.
function addressOf(path, words) {
	const address = new URL(path, location.href);
	address.username = address.password = '';
	address.search = new URLSearchParams(words);
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
