// text.js - numbers, times and names for people. What is not known is "n/a", never 0.

const UNKNOWN = 'n/a';

function isKnown(v) {
	return v !== null && v !== undefined;
}

// Three digits, with the prefix that fits.
function scaled(v, unit) {
	const prefixes = ['', 'k', 'M', 'G', 'T', 'P'];
	let i = 0;
	while (Math.abs(v) >= 999.5 && i < prefixes.length - 1) {
		v /= 1000;
		i++;
	}
	return `${shortNumber(v)} ${prefixes[i]}${unit}`.trim();
}

function shortNumber(v) {
	if (v === 0)
		return '0';
	const digits = Math.abs(v) >= 100 ? 0 : Math.abs(v) >= 10 ? 1 : Math.abs(v) >= 1 ? 2 : 3;
	return Math.abs(v) < 0.001 ? v.toExponential(1) : String(Number(v.toFixed(digits)));
}

function bitRate(bytesPerSecond) {
	return isKnown(bytesPerSecond) ? scaled(bytesPerSecond * 8, 'bit/s') : UNKNOWN;
}

function lineRate(bitsPerSecond) {
	return isKnown(bitsPerSecond) ? scaled(bitsPerSecond, 'bit/s') : UNKNOWN;
}

function share(v) {
	return isKnown(v) ? `${shortNumber(v * 100)} %` : UNKNOWN;
}

function eventRate(v) {
	return isKnown(v) ? scaled(v, '/s').replace(' /s', '/s') : UNKNOWN;
}

function count(n, one, many) {
	return `${n} ${n === 1 ? one : many}`;
}

function span(ms) {
	const s = Math.max(0, ms) / 1000;
	if (s < 10)
		return `${s.toFixed(1)} s`;
	if (s < 120)
		return `${Math.round(s)} s`;
	if (s < 7200)
		return `${Math.round(s / 60)} min`;
	if (s < 172800)
		return `${Math.floor(s / 3600)} h ${Math.round(s % 3600 / 60)} min`;
	return `${Math.round(s / 86400)} days`;
}

function twoDigits(n) {
	return String(n).padStart(2, '0');
}

// Of the reader's clock; with the day where it is not today's.
function clock(unixMs) {
	const t = new Date(unixMs);
	const time = [t.getHours(), t.getMinutes(), t.getSeconds()].map(twoDigits).join(':');
	const day = [t.getFullYear(), t.getMonth() + 1, t.getDate()].map(twoDigits).join('-');
	return t.toDateString() === new Date().toDateString() ? time : `${day} ${time}`;
}

// A point in time, with the whole of it in UTC for whoever points at it.
function makeTime(unixMs) {
	const utc = new Date(unixMs).toISOString();
	return make('time', {datetime: utc, title: utc}, clock(unixMs));
}

// Names are other people's: what steers terminals or turns the direction of text is spelt out.
function shown(name) {
	if (!isKnown(name))
		return UNKNOWN;
	return String(name).replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
		(c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

// "mlx5_2" stands before "mlx5_10".
const naturalOrder = new Intl.Collator('en', {numeric: true}).compare;
