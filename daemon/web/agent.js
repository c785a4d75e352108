// SPDX-License-Identifier: Apache-2.0
// agent.js - the state of rocelet itself: doctor's findings, its parts and sources, causes that cannot be judged, the configuration in effect.

// The words of `rocectl doctor` in the words of a heading.
const FINDING_TITLES = {dirty: 'Device not clean', orphan: 'Device left behind', drift: 'Settings of a pod changed', chardev: 'No device files', unhealthy: 'Device unhealthy', setting: 'Setting of this host', journal: 'Journal', runtime: 'Container runtime',
	kubelet: 'Kubelet', config: 'Configuration', empty: 'Pool without devices', view: 'Pods not visible', privilege: 'Missing permission', stuck: 'Work does not end'};

function makeFindingTitle(model, f) {
	return make('strong', {'data-tip': `rocectl doctor: ${shown(f.kind)}`}, findingState(model, f)?.text ?? FINDING_TITLES[f.kind] ?? sentenceCase(shown(f.kind)));
}

// The mark of findings with one text: the worst state of their devices.
function makeFindingMark(model, group) {
	return makeMark(worstState(group.map((f) => findingState(model, f) ?? {kind: 'unhealthy'})).kind, false);
}

// Groups findings that differ only in their object.
function findingGroups(findings) {
	return [...groupBy(findings, (f) => `${f.kind} ${f.what} ${f.help}`).values()];
}

function makeFinding(model, group, i) {
	const [f] = group;
	return make('li', {key: String(i)}, make('p', {}, makeFindingMark(model, group), ' ', makeFindingTitle(model, f), group.map((one, n) => one.object && [n > 0 ? ', ' : ' ', makeObjectLink(model, one.object), one.pod && [make('span', {class: 'quiet'}, ' of '), makePodLink({namespace: one.namespace, name: one.pod})]])), make('p', {}, `${sentenceCase(inWords(shown(f.what))).replace(/\.$/, '')}.`),
		f.help && make('p', {class: 'quiet'}, withCode(sentenceCase(f.help).replace(/([^.?!])$/, '$1.')), f.fixable && [' At once: ', makeCode('rocectl doctor --fix')]));
}

// "FILE:LINE[:COLUMN]: "KEY": what is wrong", of which all but the last may be missing.
const CONFIG_ERROR = /^(?:([^\s"]+?):(\d+)(?::\d+)?: )?(?:"([^"]+)": )?(.*)$/s;

function configError(text) {
	const [, file, line, key, error] = CONFIG_ERROR.exec(text);
	return {file, line, key, error};
}

const CONFIG_STATES = /^(?:the configuration file is (?:rejected|(held)): |running with the last good configuration of \S+, because )/;

// What is in use in place of the file, by the doctor's advice: [pattern, in short, severity].
const CONFIG_IN_USE = [[/^The previous/, 'The previous one stays in use.', 'warning'], [/as before the restart/, 'The last good one is in use.', 'warning'], [/observes/, 'rocelet only observes.', 'critical'], [/^/, 'Nothing is offered.', 'critical']];

// {found: the doctor's finding, isHeld, title, kind, inUse, file, line, key, error} of a configuration file that is not in use, or null. Its kind is the one severity of it in all views.
function rejectedConfig(model) {
	const found = model.documents.doctor?.findings.find((f) => f.kind === 'config' && CONFIG_STATES.test(f.what));
	if (!found)
		return null;
	const [about, held] = CONFIG_STATES.exec(found.what), error = configError(found.what.slice(about.length)), [, inUse, kind] = CONFIG_IN_USE.find(([pattern]) => pattern.test(found.help));
	return {found, isHeld: Boolean(held), title: held ? EVENT_WORDS.ConfigHeld : EVENT_WORDS.ConfigRefused, kind, inUse, ...error};
}

// The band about a configuration file that is not in use, or null.
function makeConfigNotice(model) {
	const rejected = rejectedConfig(model);
	if (!rejected)
		return null;
	const {found, isHeld, title, kind, file, line, key, error} = rejected;
	return make('section', {class: 'notice rejected', key: 'config', 'data-kind': kind, 'aria-labelledby': 'rejected-title'}, make('header', {}, make('h2', {id: 'rejected-title'}, makeMark(kind, false), ` ${title}`), make('a', {href: '#config'}, 'Configuration in effect')),
		makeFacts([['File', file && [makeCode(file), `, line${NBSP}${line}`]], ['Key', key && makeCode(key)], [isHeld ? 'Reason' : 'Error', sentenceCase(shown(error))], ['In force', withCode(found.help)]]));
}

// "config.json line 2, diagnosis.warming_seconds is not a number"
function configErrorText({file, line, key, error}) {
	return `${file ? `${shown(file.split('/').at(-1))} line${NBSP}${line}, ` : ''}${key ? `${shown(key)} ` : ''}${shown(error)}`;
}

// The same in one line, for the overview.
function makeConfigLine(model) {
	const rejected = rejectedConfig(model);
	if (!rejected)
		return null;
	const {title, kind, inUse} = rejected;
	return make('p', {class: 'notice rejected-line', key: 'config', 'data-kind': kind}, makeMark(kind, false), ' ', make('strong', {}, title), `: ${configErrorText(rejected)}. ${inUse} `, make('a', {href: '#agent'}, 'Details'));
}

// The source of counters that a reason is about, on most drivers.
const UNDECIDED_SOURCES = [[/pause time|discards|802\.3x|FEC|PHY|PCIe stall/, 'ethtool'], [/lossless priorities/, 'dcb']];

// [title, what helps] of the reason why a cause is not judged: what is one thing to change is one title.
function undecidedReason(agent, why) {
	const [, source] = UNDECIDED_SOURCES.find(([pattern]) => pattern.test(why)) ?? [];
	if (/BPF/.test(why))
		return [agent?.parts.some((part) => part.name === 'BPF' && part.works !== true) ? 'BPF is switched off' : 'Not seen by BPF', 'The overlay native loads the programs.'];
	if (/no node can decide/.test(why))
		return ['Judged by an alert', 'It compares all nodes.'];
	if (/link is not up|for a minute/.test(why))
		return ['No link, or too short a time', 'A sample without a gap is needed.'];
	if (agent && source && !agent.sources.some((s) => s.name === source && isKnown(s.ageMs)))
		return [`${sentenceCase(SOURCE_NAMES[source])} are not read`, `On most drivers these are from the source ${source}.`];
	return ['Missing counters or settings', 'The driver, its firmware or this container does not show them.'];
}

// The causes that are not judged, by reason; the words of the diagnosis for each cause are folded.
function makeUndecided(model, agent) {
	const {diagnosis} = model.documents, reasons = [...groupBy(diagnosis?.undecided ?? [], (u) => undecidedReason(agent, u.why)[0])].map(([title, list]) => ({title, list, causes: [...groupBy(list, (u) => u.cause).values()], ports: new Set(list.map(portKey)).size}));
	const portsText = (n) => (n === model.ports?.length ? '' : ` on ${count(n, 'port')}`), lower = (text, i) => (i > 0 ? lowerFirst(text) : text);
	if (reasons.length === 0)
		return make('p', {class: 'quiet'}, diagnosis === null ? 'Loading' : (model.ports?.length ?? 0) > 0 ? 'All causes are judged on all ports.' : 'There is no port to judge.');
	return reasons.sort((a, b) => b.list.length - a.list.length).map(({title, list, causes, ports}) => make('section', {class: 'reason', key: title}, make('header', {}, make('h3', {}, title), make('span', {class: 'quiet'}, `${count(causes.length, 'cause')}${portsText(ports)}`)), make('p', {class: 'quiet'}, undecidedReason(agent, list[0].why)[1]),
		make('details', {}, make('summary', {}, causes.map(([u]) => causeTitle(u.cause)).map(lower).join(', ')),
			make('ul', {class: 'undecided'}, [...groupBy(list, (u) => `${u.cause} ${u.why}`).values()].map(([u, ...more]) => make('li', {key: `${u.cause} ${u.why}`}, make('span', {}, causeTitle(u.cause)), make('span', {class: 'quiet'}, sentenceCase(shown(u.why)), portsText(more.length + 1))))))));
}

const AGENT_PATH = 'api/v1/agent';
const AGENT_READ_MS = 5000;
const SOURCE_OLD_MS = 30000;
const SOURCE_NAMES = {netlink: 'RDMA netlink: hardware counters', sysfs: 'counters in sysfs', ethtool: 'driver statistics', pause: '802.3x pause', dcb: 'PFC masks and frames', netdev: 'link statistics'};

const RECENT_MS = 300000;
const LEAST_RECENT_MS = 30000;
const SKIPPED_MOST = 0.1; // share of the expected samples

// rocelet's own counts in the last five minutes, so that older errors are not reported as trouble.
class AgentCounts {
	constructor() {
		this.list = []; // {atMs, samples, skipped, errors: {source: n}}, the oldest first
	}

	// Adds a document. readAt: when it was read, by the browser's clock; offsetMs: how far the node's clock is ahead. At startedMs all counts were 0.
	take(agent, readAt, offsetMs, startedMs) {
		const atMs = readAt + offsetMs;
		if (readAt === this.readAt)
			return;
		this.readAt = readAt;
		if (this.list.length === 0 || agent.samples < this.list.at(-1).samples)
			this.list = [{atMs: startedMs, samples: 0, skipped: 0, errors: {}}];
		this.list.push({atMs, samples: agent.samples, skipped: agent.samplesSkipped, errors: Object.fromEntries(agent.sources.map((s) => [s.name, s.errors]))});
		while (this.list.length > 2 && this.list[0].atMs < atMs - RECENT_MS && this.list[1].atMs < atMs - LEAST_RECENT_MS)
			this.list.shift();
	}

	// {skipped: share of the expected samples, periodMs: between the samples that were taken}, or null.
	sampling() {
		const first = this.list[0], last = this.list.at(-1), taken = last ? last.samples - first.samples : 0, skipped = last ? last.skipped - first.skipped : 0;
		return taken > 0 && taken + skipped > 0 ? {skipped: skipped / (taken + skipped), periodMs: (last.atMs - first.atMs) / taken} : null;
	}

	// The number of errors of a source in the last minutes; 0 if the counts cover a longer time.
	newErrors(name) {
		const first = this.list[0], last = this.list.at(-1);
		return last && last.atMs - first.atMs < 1.2 * RECENT_MS ? (last.errors[name] ?? 0) - (first.errors[name] ?? 0) : 0;
	}
}

const agentCounts = new AgentCounts();

function isSlow(sampling) {
	return sampling !== null && sampling.skipped > SKIPPED_MOST;
}

// "a sample every 0.5 s", or the actual period if samples are skipped.
function samplingText(model, sampling) {
	return isSlow(sampling) ? `a sample every ${span(sampling.periodMs)} on average, ${span(model.store.everyMs)} configured` : `a sample every ${span(model.store.everyMs)}`;
}

const PART_STATES = {true: ['ok', 'works'], false: ['critical', 'does not work'], null: ['idle', 'not in use'], undefined: ['unknown', 'not known now'], impaired: ['warning', 'works in part']};

// works: true, false, 'impaired', null: not in use, undefined: not known now.
function makePart(name, works, what, why) {
	const [kind, text] = PART_STATES[works];
	return make('li', {key: name}, makeMark(kind, false), make('span', {}, name), make('span', {}, sentenceCase(inWords(shown(what))), make('span', {class: 'unseen'}, `, ${text}`),
		why && make('span', {class: 'quiet'}, `: ${inWords(shown(why))}`)));
}

// Is a report of this age about the daemon's parts still valid? If there are no new samples, only one from after the last sample is.
function isOfNow(page, model, ageMs) {
	return !model.dead || (page.state.kind !== 'lost' && ageMs < 2 * AGENT_READ_MS && (model.store.ageMs(Date.now()) ?? Infinity) - ageMs > page.staleMs());
}

// The daemon's parts and the sources of its counters: works, does not work, is not in use, or is not known now.
function makeParts(page, model, agent) {
	if (agent === null)
		return make('p', {class: 'quiet'}, page.missing(AGENT_PATH));
	const ageMs = Date.now() - page.documents.readAt(AGENT_PATH), isKnownNow = isOfNow(page, model, ageMs), sinceMs = isKnownNow ? 0 : ageMs, sampling = agentCounts.sampling(), rejected = rejectedConfig(model);
	const now = (works, isImpaired) => (!isKnownNow ? undefined : works && isImpaired ? 'impaired' : works);
	return make('ul', {class: 'parts'}, agent.parts.map((part) => makePart(sentenceCase(part.name), now(...(part.name === 'configuration' && rejected ? [rejected.kind === 'warning', true] : [part.works, part.name === 'sampling' && isSlow(sampling)])), part.what, part.why ?? (part.name === 'sampling' && isSlow(sampling) ? `${shortNumber(100 * sampling.skipped)} % skipped lately` : null))),
		agent.sources.map((s) => makePart(`Source ${s.name}`, now(isKnown(s.ageMs) && s.ageMs < SOURCE_OLD_MS, agentCounts.newErrors(s.name) > 0), `${SOURCE_NAMES[s.name] ?? s.name}, ${isKnown(s.ageMs) ? `${span(s.ageMs + sinceMs)} old` : 'never read'}, ${count(s.errors, 'error')}`, agentCounts.newErrors(s.name) > 0 ? `${grouped(agentCounts.newErrors(s.name))} of them lately` : null)));
}

class AgentView {
	constructor(page) {
		Object.assign(this, {page, settings: new Settings(page)});
	}

	render(model) {
		const {page} = this, {store} = model, {doctor, config} = model.documents, findings = (doctor?.findings ?? []).filter((f) => f !== rejectedConfig(model)?.found), agent = page.documents.get(AGENT_PATH, ['config', 'resources'], AGENT_READ_MS);
		if (agent && store.startedMs !== null)
			agentCounts.take(agent, page.documents.readAt(AGENT_PATH), model.nowMs - Date.now(), store.startedMs);
		const runs = model.dead && page.state.kind === 'lost' ? `started at ${clock(store.startedMs)}, last sample at ${clock(model.sampleMs())}` : `running for ${span(model.nowMs - store.startedMs)}, ${model.dead ? `last sample at ${clock(model.sampleMs())}` : samplingText(model, agentCounts.sampling())}`;
		return [make('header', {class: 'view-head'}, make('h1', {}, 'Agent'), store.startedMs !== null && make('span', {class: 'quiet'}, `rocelet ${shown(store.version)}, ${runs}`)),
			model.dead && makeNotice({kind: 'unknown', text: 'Not known now', why: page.state.text}), makeConfigNotice(model),
			make('div', {class: 'halves'}, make('div', {class: 'column'},
				makePanel('Findings', makeCode('rocectl doctor'), doctor === null ? make('p', {class: 'quiet'}, page.missing('api/v1/doctor')) : findings.length === 0 ? make('p', {class: 'quiet'}, model.dead ? 'Not known: the newest sample is too old.' : doctor.findings.length > 0 ? 'Agent health: no other findings.' : 'Agent health: no findings.') : make('ul', {class: 'findings'}, findingGroups(findings).map((group, i) => makeFinding(model, group, i)))),
				makePanel('Causes not judged', make('span', {class: 'quiet'}, 'by what is missing'), makeUndecided(model, agent))),
			make('div', {class: 'column'}, makePanel('Parts of rocelet', null, makeParts(page, model, agent)), makePanel('Configuration in effect', makeCode('rocelet --print-config'), config === null ? make('p', {class: 'quiet'}, page.missing('api/v1/config')) : this.settings.render(config))))];
	}

	title() {
		return 'Agent';
	}

	done() {}
}
