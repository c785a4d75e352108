// SPDX-License-Identifier: Apache-2.0
// text.js - formats numbers, times and names. Unknown values are "n/a", never 0.

const UNKNOWN = 'n/a';
const NBSP = '\u00a0';

function isKnown(v) {
	return v !== null && v !== undefined && !Number.isNaN(v);
}

// Three significant digits, the one precision of what is measured: "203", "62.9", "5.00". From 1000 on with a prefix.
function digits(v) {
	return v === 0 ? '0' : Math.abs(v) < 1e-4 ? v.toExponential(2) : v.toPrecision(3);
}

// The same without zeros at the end, for what is set or counted: limits, axes, capacities.
function shortNumber(v) {
	return v !== 0 && Math.abs(v) < 1e-4 ? v.toExponential(1) : String(Number(v.toPrecision(3)));
}

// Three digits and a unit prefix.
function scaled(v, unit = '', text = digits) {
	const prefixes = ['', 'k', 'M', 'G', 'T', 'P'];
	let i = 0;
	if (!isKnown(v))
		return UNKNOWN;
	while (Math.abs(v) >= 999.5 && i < prefixes.length - 1) {
		v /= 1000;
		i++;
	}
	return `${text(v)}${NBSP}${prefixes[i]}${unit}`.trim();
}

// A whole number has no decimals.
function scaledCount(n) {
	return isKnown(n) && Number.isInteger(n) && Math.abs(n) < 1000 ? String(n) : scaled(n);
}

// For columns: one decimal, so that the points are in line; none of events from 100 a second on, and a prefix from 1000 on. A non-zero value is never shown as 0.
function tableNumber(v, unit) {
	if (!isKnown(v) || v === 0)
		return isKnown(v) ? '0' : UNKNOWN;
	if (v < 0.1)
		return '<0.1';
	return unit !== 'events' || v < 99.95 ? v.toFixed(1) : v < 999.5 ? v.toFixed(0) : scaled(v);
}

// Per unit: its name, and the conversion from the API's unit (bytes per second, shares, events per second).
const UNITS = {
	bits: {name: 'Gbit/s', factor: 8e-9},
	share: {name: '%', factor: 100},
	events: {name: '/s', factor: 1},
};

function inUnit(v, unit) {
	return tableNumber(isKnown(v) ? v * UNITS[unit].factor : v, unit);
}

function withUnit(v, unit) {
	return isKnown(v) ? `${inUnit(v, unit)}${unit === 'events' ? '' : NBSP}${UNITS[unit].name}` : UNKNOWN;
}

function bitRate(bytesPerSecond) {
	return isKnown(bytesPerSecond) ? scaled(bytesPerSecond * 8, 'bit/s') : UNKNOWN;
}

function lineRate(bitsPerSecond) {
	return isKnown(bitsPerSecond) ? scaled(bitsPerSecond, 'bit/s', shortNumber) : UNKNOWN;
}

// Shares below 0.01 % are shown as parts per million.
function share(v, text = digits) {
	if (!isKnown(v))
		return UNKNOWN;
	return v > 0 && v < 0.99995e-4 ? `${text(v * 1e6)} per million` : `${text(v * 100)}${NBSP}%`;
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

// The one rule for times: they are in the browser's zone, which the footer names; their tooltips are in UTC.
function zoneName(unixMs) {
	const minutes = -new Date(unixMs).getTimezoneOffset(), m = Math.abs(minutes);
	return minutes === 0 ? 'UTC' : `UTC${minutes < 0 ? '−' : '+'}${twoDigits(Math.floor(m / 60))}:${twoDigits(m % 60)}`;
}

function utcTip(unixMs) {
	return `${new Date(unixMs).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
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
	return make('time', {datetime: new Date(unixMs).toISOString(), 'data-tip': utcTip(unixMs)}, clock(unixMs));
}

// Replaces control and bidirectional formatting characters by their code points: names come from pods and cannot be trusted.
function shown(name) {
	if (!isKnown(name))
		return UNKNOWN;
	return String(name).replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
		(c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

// A first word with "_", "." or "[" in it is a name, and stays as it is.
function sentenceCase(text) {
	return /^\w*(_|\.\w|\[)/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
}

// "Link down" -> "link down"; "PFC mismatch" stays.
function lowerFirst(text) {
	return text.replace(/^[A-Z](?=[a-z ])/, (c) => c.toLowerCase());
}

// "slow_receiver_pcie" -> "Slow receiver PCIe"
const ACRONYMS = {pcie: 'PCIe', nic: 'NIC', mtu: 'MTU', pfc: 'PFC', ecn: 'ECN', cnp: 'CNP', gid: 'GID', fec: 'FEC', phy: 'PHY', nak: 'NAK', rnr: 'RNR', ack: 'ACK'};

// The verdict link_flap is open while a link is down, and for a while after it is back.
const CAUSE_WORDS = {link_flap: 'Link down'};

function causeTitle(cause) {
	return CAUSE_WORDS[cause] ?? sentenceCase(cause.split('_').map((word) => ACRONYMS[word] ?? word).join(' '));
}

// "mlx5_2" comes before "mlx5_10".
const naturalOrder = new Intl.Collator('en', {numeric: true}).compare;
