// SPDX-License-Identifier: Apache-2.0
// parts.js - elements shared by the views: marks, names, numbers, panels, bars and sparklines.

// One shape per state, so that the state is readable without colour. Hidden from screen readers where the text beside it names the state.
function makeMark(kind, spoken = true) {
	return make('span', {class: 'mark', 'data-kind': kind, role: spoken ? 'img' : null, 'aria-label': spoken ? STATES[kind]?.label ?? 'ended' : null, 'aria-hidden': spoken ? null : 'true'});
}

function makeState(state) {
	return make('span', {class: 'state', 'data-kind': state.kind, 'data-tip': state.why}, state.text);
}

// Long names are cut in the middle, because siblings differ at the end; the tooltip shows the full name.
function cutName(name, tail = 8) {
	const text = shown(name);
	if (text.length < 16)
		return make('bdi', {}, text);
	return make('bdi', {class: 'cut', 'data-tip': text}, make('span', {}, text.slice(0, -tail)), make('span', {}, text.slice(-tail)));
}

function makePortLink(port, text = null) {
	return make('a', {class: 'name', href: portLink(port)}, cutName(text ?? `${port.device}/${port.port}`));
}

function makePodLink(pod) {
	return make('a', {class: 'name pod', href: podLink(pod), 'aria-label': shown(podKey(pod))}, make('span', {class: 'prefix'}, shown(pod.namespace), '/'), cutName(pod.name ?? pod.pod));
}

function makePoolLink(name) {
	const slash = name.lastIndexOf('/') + 1;
	return make('a', {class: 'name', href: placeLink(['pools'], {q: name}), 'aria-label': shown(name)}, make('span', {class: 'prefix'}, shown(name.slice(0, slash))), cutName(name.slice(slash)));
}

// The object of an event or finding: a port, a pool or a plain name.
function makeObjectLink(model, name) {
	if (!name)
		return make('span', {class: 'zero'}, '–');
	const p = model.portByName.get(name);
	if (p)
		return makePortLink(p.facts, p.facts.device);
	return model.resources?.some((r) => r.name === name) ? makePoolLink(name) : cutName(name);
}

// Narrow lists show "n/a", and omit "–" and 0.
function makeAbsent(text, why) {
	return make('span', {class: text === '–' ? 'absent zero' : 'absent', 'data-tip': why}, text);
}

// A value of a port, or the reason why it is missing.
function makeValue(model, p, name) {
	const v = model.value(p, name);
	if (!isKnown(v)) {
		const [text, why] = model.missing(p, name);
		return makeAbsent(text, why);
	}
	return make('span', {class: v === 0 ? 'zero' : 'value', 'data-hot': model.isHot(p, name)}, inUnit(v, SIGNALS[name].unit));
}

// Before a sum that may lack something.
function makeLeast() {
	return make('span', {class: 'quiet', tabindex: '0', 'data-tip': 'At least: it is not known whether this driver counts the bytes of VFs in their PF as well, so they are not added', 'aria-label': 'at least'}, '≥\u202f');
}

function makePanel(title, aside, ...children) {
	const id = `panel-${title.replace(/\W+/g, '-').toLowerCase()}`;
	return make('section', {class: 'panel', 'aria-labelledby': id}, make('header', {}, make('h2', {id}, title), aside), children);
}

// pairs: [name, content]; pairs whose content is null are omitted.
function makeFacts(pairs) {
	return make('dl', {class: 'facts'}, pairs.filter(([, content]) => isKnown(content) && content !== '' && content !== false).map(([name, content]) => make('div', {}, make('dt', {}, name), make('dd', {}, content))));
}

function makeCode(text) {
	return make('code', {}, shown(text));
}

function makeEmpty(title, ...lines) {
	return make('div', {class: 'empty'}, make('p', {}, make('strong', {}, title)), lines.filter(Boolean).map((line) => make('p', {}, line)));
}

function makeButton(text, onclick, attributes = {}) {
	return make('button', {type: 'button', onclick, ...attributes}, text);
}

function makeNotice(state) {
	return make('p', {class: 'notice', 'data-kind': state.kind}, makeMark(state.kind, false), ` ${state.text}: ${state.why}.`);
}

// parts: [n, kind]; parts with n = 0 are omitted.
function makeBar(label, parts, total) {
	return make('div', {class: 'bar', role: 'img', 'aria-label': label}, parts.filter(([n]) => n > 0)
		.map(([n, kind]) => make('span', {'data-kind': kind, style: {'flex-grow': String(n / total)}})));
}

const SPARK_WIDTH = 120;
const SPARK_HEIGHT = 24;

function sparkPath(values, top) {
	let path = '', open = false;
	values.forEach((v, i) => {
		if (Number.isNaN(v)) {
			open = false;
			return;
		}
		const x = (i + 0.5) / STEPS * SPARK_WIDTH, y = SPARK_HEIGHT - 2 - v / top * (SPARK_HEIGHT - 4);
		path += `${open ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}${open ? '' : 'h.1'}`;
		open = true;
	});
	return path;
}

// What a sparkline's scale has at least, so that what is next to nothing looks so.
function leastOf(unit) {
	return {bits: 1e6, share: 0.02, events: 5}[unit];
}

// [{severity, from, to}] in unix ms: of each severity what overlaps is one.
function bandsOf(model, verdicts) {
	const bands = [];
	for (const v of [...verdicts].sort((a, b) => Date.parse(a.onset) - Date.parse(b.onset))) {
		const from = Date.parse(v.onset), to = v.ended ? Date.parse(v.ended) : model.sampleMs(), over = bands.find((band) => band.severity === v.severity && band.to >= from);
		if (over)
			over.to = Math.max(over.to, to);
		else
			bands.push({severity: v.severity, from, to});
	}
	return bands;
}

// A sparkline of 15 minutes: series of thin.js, verdicts as bands, grey where there is no history. Hidden from screen readers: the numbers are beside it.
function makeSparkLines(model, lines, verdicts, least) {
	const isBlank = (i) => lines.every((values) => Number.isNaN(values[i]));
	const top = Math.max(least, ...lines.flatMap((values) => [...values].filter((v) => !Number.isNaN(v))));
	const now = model.sampleMs(), x = (ms) => Math.min(SPARK_WIDTH, Math.max(0, (1 - (now - ms) / (STEP_MS * STEPS)) * SPARK_WIDTH));
	const first = Array.from({length: STEPS}, (_, i) => i).findIndex((i) => !isBlank(i));
	const blank = first < 0 ? SPARK_WIDTH : first / STEPS * SPARK_WIDTH;
	return make('svg', {class: 'spark', viewBox: `0 0 ${SPARK_WIDTH} ${SPARK_HEIGHT}`, preserveAspectRatio: 'none', 'aria-hidden': 'true'},
		blank > 0 && make('rect', {class: 'blank', width: blank.toFixed(1), height: SPARK_HEIGHT}),
		bandsOf(model, verdicts).map(({severity, from, to}) => x(to) > x(from) && make('rect', {class: 'band', 'data-kind': severity, x: x(from).toFixed(1), width: Math.max(1, x(to) - x(from)).toFixed(1), height: SPARK_HEIGHT})),
		lines.map((values, i) => make('path', {'data-series': String(i + 1), d: sparkPath(values, top)})).reverse());
}

function makeSpark(model, values, verdicts = [], least = 1e-9) {
	return makeSparkLines(model, [values], verdicts, least);
}

// least: bytes per second.
function trafficSpark(model, ports, least = leastOf('bits')) {
	return makeSparkLines(model, ['bytes_received', 'bytes_sent'].map((name) => model.series(ports, name)), ports.flatMap((p) => [...p.ended, ...p.verdicts]), least);
}

function ageText(model, iso) {
	return span(model.nowMs - Date.parse(iso));
}
