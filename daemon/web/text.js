// SPDX-License-Identifier: Apache-2.0
// text.js - formats numbers, times and names. Unknown values are "n/a", never 0.

const UNKNOWN = 'n/a';
const NBSP = '\u00a0';

function isKnown(v) {
	return v !== null && v !== undefined && !Number.isNaN(v);
}

// Three digits and a unit prefix.
function scaled(v, unit = '') {
	const prefixes = ['', 'k', 'M', 'G', 'T', 'P'];
	let i = 0;
	if (!isKnown(v))
		return UNKNOWN;
	while (Math.abs(v) >= 999.5 && i < prefixes.length - 1) {
		v /= 1000;
		i++;
	}
	return `${shortNumber(v)}${NBSP}${prefixes[i]}${unit}`.trim();
}

function shortNumber(v) {
	if (v === 0)
		return '0';
	const digits = Math.abs(v) >= 100 ? 0 : Math.abs(v) >= 10 ? 1 : Math.abs(v) >= 1 ? 2 : 3;
	return Math.abs(v) < 0.001 ? v.toExponential(1) : String(Number(v.toFixed(digits)));
}

// One decimal, so that columns align; a non-zero value is never shown as 0.
function oneDecimal(v) {
	if (!isKnown(v))
		return UNKNOWN;
	if (v === 0)
		return '0';
	return v < 0.1 ? '<0.1' : v < 1000 ? v.toFixed(1) : scaled(v);
}

// Per unit: its name, and the conversion from the API's unit (bytes per second, shares, events per second).
const UNITS = {
	bits: {name: 'Gbit/s', factor: 8e-9},
	share: {name: '%', factor: 100},
	events: {name: '/s', factor: 1},
};

function inUnit(v, unit) {
	return oneDecimal(isKnown(v) ? v * UNITS[unit].factor : v);
}

function withUnit(v, unit) {
	return isKnown(v) ? `${inUnit(v, unit)}${unit === 'events' ? '' : NBSP}${UNITS[unit].name}` : UNKNOWN;
}

function bitRate(bytesPerSecond) {
	return isKnown(bytesPerSecond) ? scaled(bytesPerSecond * 8, 'bit/s') : UNKNOWN;
}

function lineRate(bitsPerSecond) {
	return isKnown(bitsPerSecond) ? scaled(bitsPerSecond, 'bit/s') : UNKNOWN;
}

// Shares below 0.01 % are shown as parts per million.
function share(v) {
	if (!isKnown(v))
		return UNKNOWN;
	return v > 0 && v < 1e-4 ? `${shortNumber(v * 1e6)} per million` : `${shortNumber(v * 100)}${NBSP}%`;
}

function count(n, one, many = `${one}s`) {
	return `${grouped(n)} ${n === 1 ? one : many}`;
}

function grouped(n) {
	return isKnown(n) ? String(n).replace(/\B(?=(\d{3})+$)/g, '\u202f') : UNKNOWN;
}

function span(ms) {
	const s = Math.max(0, ms) / 1000;
	if (s < 9.95)
		return `${s.toFixed(1)} s`;
	if (s < 120)
		return `${Math.round(s)} s`;
	if (s < 7200)
		return `${Math.round(s / 60)} min`;
	if (s < 172800)
		return `${Math.floor(s / 3600)} h ${Math.floor(s % 3600 / 60)} min`;
	return `${Math.floor(s / 86400)} days`;
}

function twoDigits(n) {
	return String(n).padStart(2, '0');
}

// In the browser's time zone, as are all times.
function timeOfDay(unixMs) {
	const t = new Date(unixMs);
	return [t.getHours(), t.getMinutes(), t.getSeconds()].map(twoDigits).join(':');
}

const DAY_MS = 86400000;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

// The time of the last 24 hours; "28 Nov 23:56" beyond them.
function clock(unixMs) {
	const t = new Date(unixMs), now = Date.now();
	if (Math.abs(now - unixMs) < DAY_MS)
		return timeOfDay(unixMs);
	const year = t.getFullYear() === new Date(now).getFullYear() ? '' : ` ${t.getFullYear()}`;
	return `${t.getDate()} ${MONTHS[t.getMonth()]}${year} ${timeOfDay(unixMs).slice(0, 5)}`;
}

// A time; the tooltip shows it in UTC.
function makeTime(unixMs) {
	const utc = new Date(unixMs).toISOString();
	return make('time', {datetime: utc, 'data-tip': `${utc.slice(0, 19).replace('T', ' ')} UTC`}, clock(unixMs));
}

// Replaces control and bidirectional formatting characters by their code points: names come from pods and cannot be trusted.
function shown(name) {
	if (!isKnown(name))
		return UNKNOWN;
	return String(name).replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
		(c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

// A first word with "_" is a name, and stays as it is.
function sentenceCase(text) {
	return /^\w*_/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
}

// "slow_receiver_pcie" -> "Slow receiver PCIe"
const ACRONYMS = {pcie: 'PCIe', nic: 'NIC', mtu: 'MTU', pfc: 'PFC', ecn: 'ECN', cnp: 'CNP', gid: 'GID', fec: 'FEC', phy: 'PHY', nak: 'NAK', rnr: 'RNR', ack: 'ACK'};

function causeTitle(cause) {
	return sentenceCase(cause.split('_').map((word) => ACRONYMS[word] ?? word).join(' '));
}

// "mlx5_2" comes before "mlx5_10".
const naturalOrder = new Intl.Collator('en', {numeric: true}).compare;
