// SPDX-License-Identifier: Apache-2.0
// ask.js - one request to the daemon: resolves to a document or fails with an error whose message is a sentence. isAnswer: the error is an HTTP response.

// The request that early.js has begun, or a new one.
function takeRequest(address) {
	const begun = early.get(address.href);
	early.delete(address.href);
	return begun ?? request(address);
}

async function ask(path, words = {}, timeoutMs = 20000) {
	const {ends, answer: underway} = takeRequest(addressOf(path, words));
	const timer = setTimeout(() => ends.abort(), timeoutMs);
	try {
		const answer = await underway;
		const text = await answer.text();
		if (!answer.ok)
			throw Object.assign(new Error(sentenceOf(text) || `${path} is answered with ${answer.status}`), {isAnswer: true});
		return JSON.parse(text);
	} catch (error) {
		throw error.isAnswer ? error : new Error(sentenceOfFailure(error, ends.signal.aborted, timeoutMs));
	} finally {
		clearTimeout(timer);
	}
}

// A sentence for a failed request; browsers' own messages differ.
function sentenceOfFailure(error, isLate, timeoutMs) {
	return isLate ? `rocelet did not answer within ${timeoutMs / 1000} s. Trying again.` : error instanceof SyntaxError ? 'The answer is not rocelet\'s: it is not JSON.' : 'rocelet does not answer. Trying again.';
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
