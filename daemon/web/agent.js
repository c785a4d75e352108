// SPDX-License-Identifier: Apache-2.0
// agent.js - the state of rocelet itself: doctor's findings, its parts and sources, causes that cannot be judged, the configuration in effect.

function shownLines(text) {
	return text.split('\n').map(shown).join('\n');
}

function makeSetting([key, value]) {
	const isTree = value !== null && typeof value === 'object';
	return make('div', {key}, make('dt', {}, makeCode(key)), make('dd', {}, isTree ? make('details', {}, make('summary', {}, Array.isArray(value) ? count(value.length, 'entry', 'entries') : count(Object.keys(value).length, 'key')), make('pre', {tabindex: '0', 'aria-label': key}, shownLines(JSON.stringify(value, null, 2))))
		: makeCode(value === null ? '–' : JSON.stringify(value))));
}

// Text with `code` in it.
function withCode(text) {
	return shown(text).split('`').map((part, i) => (i % 2 ? make('code', {}, part) : part));
}

function makeFinding(model, f, i) {
	return make('li', {key: String(i)}, make('p', {}, makeMark('unhealthy', false), ' ', makeCode(f.kind), ' ', f.object && makeObjectLink(model, f.object)), make('p', {}, `${sentenceCase(shown(f.what)).replace(/\.$/, '')}.`),
		f.help && make('p', {class: 'quiet'}, withCode(f.help), f.fixable && [' At once: ', makeCode('rocectl doctor --fix')]));
}

// One line per cause, with the number of ports.
function makeUndecided(model) {
	const groups = [...groupBy(model.documents.diagnosis?.undecided ?? [], (u) => `${u.cause} ${u.why}`).values()];
	if (groups.length === 0)
		return make('p', {class: 'quiet'}, model.documents.diagnosis === null ? 'Loading' : (model.ports?.length ?? 0) > 0 ? 'Every cause can be judged on every port.' : 'There is no port to judge.');
	return make('ul', {class: 'findings'}, groups.map((group) => make('li', {key: `${group[0].cause} ${group[0].why}`}, make('p', {}, makeCode(group[0].cause), group.length === model.ports?.length ? ' on all ports' : ` on ${count(group.length, 'port')}`), make('p', {class: 'quiet'}, `${sentenceCase(shown(group[0].why))}.`))));
}

const AGENT_PATH = 'api/v1/agent';
const AGENT_READ_MS = 5000;
const SOURCE_OLD_MS = 30000;
const SOURCE_NAMES = {netlink: 'RDMA netlink: hardware counters', sysfs: 'counters in sysfs', ethtool: 'driver statistics', pause: '802.3x pause', dcb: 'PFC masks and frames', netdev: 'link statistics'};

// works: true, false, null: not in use, undefined: not known now.
function makePart(name, works, what, why) {
	const [kind, text] = works === undefined ? ['unknown', 'not known now'] : works === null ? ['idle', 'not in use'] : works ? ['ok', 'works'] : ['critical', 'does not work'];
	return make('li', {key: name}, makeMark(kind, false), make('strong', {}, name), make('span', {}, sentenceCase(shown(what)), make('span', {class: 'unseen'}, `, ${text}`),
		why && make('span', {class: 'quiet'}, ` ${sentenceCase(shown(why)).replace(/\.$/, '')}.`)));
}

// Does what the daemon said of itself at that age still hold? Without new samples only what it said after they had stopped.
function isOfNow(page, model, ageMs) {
	return !model.dead || (page.state.kind !== 'lost' && ageMs < 2 * AGENT_READ_MS && (model.store.ageMs(Date.now()) ?? Infinity) - ageMs > page.staleMs());
}

// The daemon's parts and the sources of its counters: works, does not work, is not in use, or is not known now.
function makeParts(page, model, agent) {
	if (agent === null)
		return make('p', {class: 'quiet'}, page.missing(AGENT_PATH));
	const ageMs = Date.now() - page.documents.readAt(AGENT_PATH), isKnownNow = isOfNow(page, model, ageMs), sinceMs = isKnownNow ? 0 : ageMs, now = (works) => (isKnownNow ? works : undefined);
	return make('ul', {class: 'parts'}, agent.parts.map((part) => makePart(sentenceCase(part.name), now(part.works), part.what, part.why)),
		agent.sources.map((s) => makePart(`Source ${s.name}`, now(isKnown(s.ageMs) && s.ageMs < SOURCE_OLD_MS), `${SOURCE_NAMES[s.name] ?? s.name}, ${isKnown(s.ageMs) ? `${span(s.ageMs + sinceMs)} old` : 'never read'}, ${count(s.errors, 'error')}`, null)));
}

class AgentView {
	constructor(page) {
		this.page = page;
	}

	render(model) {
		const {page} = this, {store} = model, {doctor, config} = model.documents, agent = page.documents.get(AGENT_PATH, ['config', 'resources'], AGENT_READ_MS);
		return [make('header', {class: 'view-head'}, make('h1', {}, 'Agent'), store.startedMs !== null && make('span', {class: 'quiet'}, `rocelet ${shown(store.version)}, running for ${span(model.nowMs - store.startedMs)}, a sample every ${span(store.everyMs)}`)),
			model.dead && makeNotice({kind: 'unknown', text: 'Not known now', why: page.state.text}),
			make('div', {class: 'halves'}, make('div', {class: 'column'},
				makePanel('Findings', makeCode('rocectl doctor'), doctor === null ? make('p', {class: 'quiet'}, page.missing('api/v1/doctor')) : doctor.findings.length === 0 ? make('p', {class: 'quiet'}, model.dead ? 'Not known: the newest sample is too old.' : 'Agent health: no findings.') : make('ul', {class: 'findings'}, doctor.findings.map((f, i) => makeFinding(model, f, i)))),
				makePanel('What cannot be judged here', null, makeUndecided(model))),
			make('div', {class: 'column'}, makePanel('Parts', null, makeParts(page, model, agent)), makePanel('Configuration in effect', makeCode('rocelet --print-config'), config === null ? make('p', {class: 'quiet'}, page.missing('api/v1/config')) : make('dl', {class: 'settings'}, Object.entries(config).map(makeSetting)))))];
	}

	title() {
		return 'Agent';
	}

	done() {}
}
