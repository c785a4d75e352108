// SPDX-License-Identifier: Apache-2.0
// parts.js - elements shared by the views: marks, names, numbers, panels, bars and sparklines.

// One shape per state, so that the state is readable without colour. Hidden from screen readers where the text beside it names the state.
function makeMark(kind, spoken = true) {
	return make('span', {class: 'mark', 'data-kind': kind, role: spoken ? 'img' : null, 'aria-label': spoken ? STATES[kind]?.label ?? 'ended' : null, 'aria-hidden': spoken ? null : 'true'});
}

// "(PF)", the only word that says that the fault is not the port's own, is never cut.
function makeState(state) {
	return make('span', {class: state.ofPf ? 'state of-pf' : 'state', 'data-kind': state.kind, 'data-tip': state.why}, state.ofPf ? [make('span', {}, state.text.slice(0, -5)), make('span', {}, ' (PF)')] : state.text);
}

// The number of characters of a name's end that are kept: its last word, or its last two, "…worker-4" and "…9b6-q4z7m".
function nameEnd(text) {
	const [end = ''] = text.match(/[^-_.:/]*[-_.:/][^-_.:/]*$/) ?? [];
	return Math.min(12, Math.max(8, end.length));
}

// Long names are cut in the middle, because siblings differ at the end; the tooltip shows the full name.
function cutName(name, tail = nameEnd(shown(name)), longFrom = 16) {
	const text = shown(name);
	if (text.length < longFrom)
		return make('bdi', {}, text);
	return make('bdi', {class: 'cut', 'data-tip': text}, make('span', {}, text.slice(0, -tail)), make('span', {}, text.slice(-tail)));
}

function makePortLink(port, text = null) {
	return make('a', {class: 'name', href: portLink(port)}, cutName(text ?? `${port.device}/${port.port}`));
}

const PREFIX_SHORT = 8; // characters of a namespace that is shown as a whole

// The part before a name, with its slash. A long one is shortened before the name is: "infere…/vllm-".
function makePrefix(text) {
	return text && [make('span', {class: text.length > PREFIX_SHORT + 1 ? 'prefix long' : 'prefix'}, text.slice(0, -1)), make('span', {class: 'prefix slash'}, text.slice(-1))];
}

function makePodLink(pod) {
	return make('a', {class: 'name pod', href: podLink(pod), 'aria-label': shown(podKey(pod))}, makePrefix(`${shown(pod.namespace)}/`), cutName(pod.name ?? pod.pod));
}

function makePoolLink(name) {
	const slash = name.lastIndexOf('/') + 1;
	return make('a', {class: 'name', href: placeLink(['pools'], {q: name}), 'aria-label': shown(name)}, makePrefix(shown(name.slice(0, slash))), cutName(name.slice(slash)));
}

// An event's message without the name of its device in front, which is shown beside it.
function eventMessage(model, e) {
	const [all, name] = /^(\S+?)(?: port \d+)?: /.exec(e.message ?? '') ?? [], isDevice = name && e.device && (name === e.device || model.portByName.get(e.device)?.facts.device === name);
	return inWords(shown(isDevice ? e.message.slice(all.length) : e.message));
}

// The length of the sparklines' history.
function sparkTitle(model) {
	const minutes = Math.round((STEPS - (model?.sparkFirst() ?? 0)) * STEP_MS / 60000);
	return `${minutes} min`;
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

// The sign ≥ before a sum that may be incomplete.
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

// why: of Page.missing().
function makeLoading(why) {
	return why === 'Loading.' ? makeEmpty('Loading') : makeEmpty('Not known', why);
}

function makeButton(text, onclick, attributes = {}) {
	return make('button', {type: 'button', onclick, ...attributes}, text);
}

function makeNotice(state) {
	return make('p', {class: 'notice', 'data-kind': state.kind}, makeMark(state.kind, false), ` ${state.text}: ${state.why}.`);
}

// Text with `code` in it.
function withCode(text) {
	return shown(text).split('`').map((part, i) => (i % 2 ? make('code', {}, part) : part));
}

// Troubles as notices; a trouble of a pod's device names its port.
function makeTroubles(troubles, isOfPod) {
	return troubles.map((t) => make('p', {class: 'notice', 'data-kind': troubleKind(t, isOfPod), key: `trouble ${t.kind} ${t.word} ${t.device?.id ?? ''}`}, makeMark(troubleKind(t, isOfPod), false), ' ', make('strong', {}, troubleTitle(t)), t.device && [' on ', t.device.port ? makePortLink(t.device.port.facts) : makeCode(t.device.id)],
		`: ${troubleText(t)}`, t.help && make('span', {class: 'quiet'}, ' ', withCode(t.help))));
}

// parts: [n, kind]; parts with n = 0 are omitted.
function makeBar(label, parts, total) {
	return make('div', {class: 'bar', role: 'img', 'aria-label': label}, parts.filter(([n]) => n > 0)
		.map(([n, kind]) => make('span', {'data-kind': kind, style: {'flex-grow': String(n / total)}})));
}

const SPARK_WIDTH = 120;
const SPARK_HEIGHT = 24;

function sparkPath(values, top, first) {
	let path = '', open = false;
	values.forEach((v, i) => {
		if (Number.isNaN(v)) {
			open = false;
			return;
		}
		const x = (i - first) / (STEPS - 1 - first) * SPARK_WIDTH, y = SPARK_HEIGHT - 2 - v / top * (SPARK_HEIGHT - 4);
		path += `${open ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}${open ? '' : 'h.1'}`;
		open = true;
	});
	return path;
}

// The least maximum of a sparkline's scale, so that negligible values look flat.
function leastOf(unit) {
	return {bits: 1e6, share: 0.02, events: 5}[unit];
}

// [{severity, from, to, isEnded: all of its verdicts}] in unix ms; overlapping verdicts of one severity are merged.
function bandsOf(model, verdicts) {
	const bands = [];
	for (const v of [...verdicts].sort((a, b) => Date.parse(a.onset) - Date.parse(b.onset))) {
		const from = Date.parse(v.onset), to = v.ended ? Date.parse(v.ended) : model.sampleMs(), over = bands.find((band) => band.severity === v.severity && band.to >= from);
		if (over)
			Object.assign(over, {to: Math.max(over.to, to), isEnded: over.isEnded && Boolean(v.ended)});
		else
			bands.push({severity: v.severity, from, to, isEnded: Boolean(v.ended)});
	}
	return bands;
}

// A sparkline of 15 minutes, or of the shorter history of a young daemon: series of thin.js, verdicts as bands. Hidden from screen readers: the numbers are beside it.
function makeSparkLines(model, lines, verdicts, least) {
	const top = Math.max(least, ...lines.flatMap((values) => [...values].filter((v) => !Number.isNaN(v))));
	const now = model.sampleMs(), first = model.sparkFirst(), x = (ms) => Math.min(SPARK_WIDTH, Math.max(0, (1 - (now - ms) / (STEP_MS * (STEPS - first))) * SPARK_WIDTH));
	const begins = Math.min(...lines.map((values) => values.findIndex((v) => !Number.isNaN(v))).filter((i) => i >= 0)), unknown = (begins - first) / (STEPS - 1 - first) * SPARK_WIDTH; // before it nothing was read
	return make('svg', {class: 'spark', viewBox: `0 0 ${SPARK_WIDTH} ${SPARK_HEIGHT}`, preserveAspectRatio: 'none', 'aria-hidden': 'true'},
		unknown > 0 && unknown < Infinity && make('rect', {class: 'ground', width: unknown.toFixed(1), height: SPARK_HEIGHT}),
		bandsOf(model, verdicts).map(({severity, from, to, isEnded}) => x(to) > x(from) && make('rect', {class: 'band', 'data-kind': severity, 'data-ended': isEnded ? 'yes' : null, x: x(from).toFixed(1), width: Math.max(1, x(to) - x(from)).toFixed(1), height: SPARK_HEIGHT})),
		lines.map((values, i) => make('path', {'data-series': String(i + 1), d: sparkPath(values, top, first)})).reverse());
}

function makeSpark(model, values, verdicts = [], least = 1e-9) {
	return makeSparkLines(model, [values], verdicts, least);
}

// Bytes per second of the ports' links.
function linkBytes(ports) {
	const heads = new Set(ports.map((p) => p.lane?.head ?? p));
	return sumOf([...heads].map((p) => p.facts.rateBitsPerSecond)) / 8 || leastOf('bits');
}

// about: the ports whose verdicts are bands. The scale is the line's own maximum, so that its shape can be seen, but at least a twentieth of the links: noise on an idle port stays flat.
function trafficSpark(model, ports, about = ports) {
	const least = linkBytes(ports) / 20;
	return makeSparkLines(model, ['bytes_received', 'bytes_sent'].map((name) => model.series(ports, name)), about.flatMap((p) => [...p.ended, ...p.verdicts]), least);
}

function ageText(model, iso) {
	return span(model.nowMs - Date.parse(iso));
}
