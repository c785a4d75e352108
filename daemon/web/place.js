// SPDX-License-Identifier: Apache-2.0
// place.js - the fragment of the address: view and settings, "#port/mlx5_0/1?range=5". Links can be shared, and the browser's back button works.

function placeLink(words, query = {}) {
	const settings = new URLSearchParams(Object.entries(query).filter(([, value]) => isKnown(value) && value !== '')).toString();
	return `#${words.map((word) => encodeURIComponent(word)).join('/')}${settings && `?${settings}`}`;
}

// {words: ["port", "mlx5_0", "1"], query: {range: "5"}}. An unknown fragment has no words.
function readPlace(hash) {
	const [path, settings = ''] = hash.replace(/^#/, '').split(/\?(.*)/s);
	try {
		return {words: path.split('/').filter(Boolean).map(decodeURIComponent), query: Object.fromEntries(new URLSearchParams(settings))};
	} catch {
		return {words: [], query: {}};
	}
}

function portLink(port) {
	return placeLink(['port', port.device, port.port]);
}

function podLink(pod) {
	return placeLink(['pod', pod.namespace, pod.name ?? pod.pod]);
}
