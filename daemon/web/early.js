// SPDX-License-Identifier: Apache-2.0
// early.js - a separate script in the head: requests the documents of the first view while the browser still reads the page.
'use strict';

// A proxy may drop the trailing slash; relative addresses would then resolve to the parent folder.
if (!location.pathname.endsWith('/'))
	history.replaceState(null, '', `${location.pathname}/${location.search}${location.hash}`);

// Relative to the page, without the user name and password of its address: browsers do not fetch an address that contains credentials, and send those that they have anyway.
function addressOf(path, words = {}) {
	const address = new URL(path, location.href);
	address.username = address.password = '';
	Object.entries(words).forEach(([name, value]) => address.searchParams.set(name, value));
	return address;
}

function request(address) {
	const ends = new AbortController();
	return {ends, answer: fetch(address, {cache: 'no-store', credentials: 'same-origin', signal: ends.signal})};
}

// Address -> its request; ask() uses each once. A hidden page requests nothing.
const early = new Map();
for (const address of document.hidden ? [] : [addressOf('api/v1/live', {since: 0, events: 0, wait: 0}), addressOf('api/v1/ports')]) {
	early.set(address.href, request(address));
	early.get(address.href).answer.catch(() => {}); // reported by ask()
}
