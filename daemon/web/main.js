// SPDX-License-Identifier: Apache-2.0
// main.js - the page: selects the view, shows the age of its data, and announces changes to screen readers.

const STALE_MS = 3000; // or three samples
const TEXT_MS = 1000;
const SCROLL_REST_MS = 250;

const PORTS_CHANGE_WITH = ['ports', 'devices', 'resources', 'verdicts'];
const DIAGNOSIS_READ_MS = 60000;
const DOCTOR_READ_MS = 20000; // a file that is rejected changes no generation

const VIEWS = [
	{word: '', title: 'Overview', make: (page) => new OverviewView(page)},
	{word: 'ports', title: 'Ports', make: (page) => new PortsView(page)},
	{word: 'pods', title: 'Pods', make: (page) => new PodsView(page)},
	{word: 'qps', title: 'Queue pairs', make: (page) => new QueuePairsView(page)},
	{word: 'pools', title: 'Pools', make: (page) => new PoolsView(page)},
	{word: 'events', title: 'Events', make: (page) => new EventsView(page)},
	{word: 'agent', title: 'Agent', make: (page) => new AgentView(page)},
];
const VIEW_OF = {port: 'ports', pod: 'pods', config: 'agent', overview: ''}; // views without an entry in the navigation -> the entry above them

const ICON_COLOURS = {critical: '#d3302a', warning: '#c27803', info: '#c27803', ok: '#1f8a4c', unknown: '#7d8793'};

class NoView {
	constructor(name) {
		this.name = name.slice(0, 60);
	}

	render() {
		return [make('header', {class: 'view-head'}, make('h1', {}, this.title())), make('p', {}, make('a', {href: '#'}, 'Overview'))];
	}

	title() {
		return `There is no view “${shown(this.name)}”`;
	}

	done() {}
}

class Page {
	constructor() {
		this.store = new Store();
		this.documents = new Documents(this.store, () => this.show());
		this.lostMs = null; // time since which requests fail, null: they do not
		this.refusal = ''; // text of the last answer if that was an error
		this.frame = null;
		this.view = null;
		this.unfolded = new Set();
		this.cell = null; // the VF of the overview that the Tab key reaches
		this.headline = null; // {kind, title, lines} of the node, as it was drawn last
		this.kin = null; // the pod under the pointer
		this.after = [];
		this.tickets = new Tickets(this);
		this.problemCharts = new ProblemCharts(this);
		this.makeFrame();
		this.search = new Search(this);
		this.keys = new Keys(this, this.search);
		followTips();
		window.addEventListener('popstate', (event) => this.open(true, event.state?.y ?? 0));
		window.addEventListener('scroll', () => this.onScroll(), {passive: true});
		for (const width of [NARROW, RAILS_NARROW, LESS_ROOM])
			width.addEventListener('change', () => this.show());
		// A suspended page shows its state again before the user can take old data for current.
		for (const wakes of ['visibilitychange', 'resume'])
			document.addEventListener(wakes, () => this.showState());
		window.addEventListener('pageshow', () => this.showState());
		setInterval(() => { this.showState(); if (!document.hidden) this.show(); }, TEXT_MS);
		this.open(false);
		follow(this.store, {answered: (live) => this.answered(live), failed: (error) => this.failed(error)});
	}

	makeFrame() {
		setText(byId('zone'), `times are ${zoneName(Date.now())}${zoneName(Date.now()) === 'UTC' ? '' : ', this browser\u2019s zone; tooltips are UTC'}`);
		byId('views').append(...VIEWS.map(({word, title}) => make('li', {}, make('a', {href: `#${word}`}, title, word === 'agent' && make('span', {id: 'doctor', class: 'badge', hidden: true})))));
		byId('skip').addEventListener('click', (event) => { event.preventDefault(); byId('main').focus(); });
		byId('search').addEventListener('click', () => this.search.open());
		byId('theme').addEventListener('click', () => this.switchTheme());
		byId('help').addEventListener('click', () => this.keys.help());
	}

	switchTheme() {
		switchTheme();
		document.dispatchEvent(new Event('rocelet-theme'));
	}

	// --- views and their settings ---

	open(moves, y = 0) {
		const place = readPlace(location.hash), path = place.words.join('/');
		this.query = place.query;
		if (this.view !== null && path === this.path) {
			this.show();
			return;
		}
		this.view?.done();
		this.view = this.makeView(place.words);
		this.path = path;
		this.after = [];
		byId('main').replaceChildren();
		const current = VIEW_OF[place.words[0]] ?? place.words[0] ?? '';
		for (const link of byId('views').querySelectorAll('a'))
			setAttribute(link, 'aria-current', link.getAttribute('href') === `#${current}` ? 'page' : null);
		byId('views').querySelector('[aria-current]')?.scrollIntoView({block: 'nearest', inline: 'center'});
		// The first view is drawn with the next frame: in most cases its documents have arrived by then.
		if (moves)
			this.draw();
		else
			this.show();
		if (moves) {
			byId('main').focus({preventScroll: true});
			window.scrollTo(0, y);
			this.announce(this.view.title());
		}
		if (y === 0 && place.query.tab)
			this.view.seekTab?.();
	}

	// Keeps the scroll position in the entry of the browser's history, for the way back.
	onScroll() {
		clearTimeout(this.scrollTimer);
		this.scrollTimer = setTimeout(() => history.replaceState({y: window.scrollY}, ''), SCROLL_REST_MS);
	}

	makeView(words) {
		if (words[0] === 'port' && words.length === 3)
			return new PortView(this, words[1], words[2]);
		if (words[0] === 'pod' && words.length === 3)
			return new PodView(this, words[1], words[2]);
		const word = VIEW_OF[words[0]] ?? words[0] ?? '', view = VIEWS.find((one) => one.word === word);
		return view ? view.make(this) : new NoView(words.join('/'));
	}

	// Changes settings of the view in the address; '' removes one. replaces: replaces the entry of the browser's history, as typing does, instead of adding one.
	ask(changes, replaces = false) {
		const {words} = readPlace(location.hash), address = placeLink(words, {...this.query, ...changes});
		if (replaces)
			history.replaceState({y: window.scrollY}, '', address);
		else
			history.pushState({y: window.scrollY}, '', address);
		this.query = readPlace(address).query;
		this.draw();
	}

	clearFilters() {
		const {sort} = this.query;
		this.ask(Object.fromEntries(Object.keys(this.query).map((name) => [name, name === 'sort' ? sort : ''])));
	}

	unfold(key) {
		if (!this.unfolded.delete(key))
			this.unfolded.add(key);
		this.draw();
	}

	// --- drawing ---

	// Draws with the next frame, once for all changes until then; draws the first numbers at once.
	show() {
		if (!this.marked && this.hasNumbers())
			this.draw();
		else
			this.frame ??= requestAnimationFrame(() => this.draw());
	}

	hasNumbers() {
		return this.store.timeMs !== null && this.documents.get('api/v1/ports', PORTS_CHANGE_WITH) !== null;
	}

	afterShow(act) {
		this.after.push(act);
	}

	draw() {
		if (this.frame !== null)
			cancelAnimationFrame(this.frame);
		this.frame = null;
		this.showState();
		this.model = new Model(this.store, this.read(), this.state.kind !== 'live', this.nowMs());
		this.headline = headline(this, this.model);
		this.documents.readThin();
		this.showTitle();
		this.showIcon();
		this.showProblemCount();
		morphChildren(byId('main'), nodesOf(this.view.render(this.model)));
		this.after.splice(0).forEach((act) => act());
		this.problemCharts.show();
		document.dispatchEvent(new Event('rocelet-drawn'));
		this.markFirst();
	}

	// Reads the documents that the view needs; first only the ports, which every view needs.
	read() {
		const get = (path, words, everyMs) => this.documents.get(`api/v1/${path}`, words, everyMs);
		const ports = get('ports', PORTS_CHANGE_WITH);
		if (ports === null)
			return {ports, devices: null, pods: null, resources: null, doctor: null, config: null, diagnosis: null};
		return {ports, devices: get('devices', ['devices', 'resources', 'attachments', 'settings']), pods: get('pods', ['resources', 'attachments', 'verdicts']), resources: get('resources', ['resources', 'config']),
			doctor: get('doctor', ['config', 'resources', 'attachments', 'devices', 'verdicts'], DOCTOR_READ_MS), config: [AgentView, PortView, PodView].some((view) => this.view instanceof view) ? get('config', ['config']) : null,
			diagnosis: [AgentView, PortView, OverviewView].some((view) => this.view instanceof view) ? get('diagnosis', ['ports'], DIAGNOSIS_READ_MS) : null};
	}

	// The last 15 minutes of a port, as it shows them, or null while they are read.
	historyOf(p) {
		const own = this.documents.history(p.key);
		return own && isWire(p) ? wireHistory(this.store, p, own) : own;
	}

	// Marks the time of the first view with numbers, for measurements.
	markFirst() {
		if (this.marked || !this.hasNumbers())
			return;
		this.marked = true;
		performance.mark('rocelet first view');
	}

	// The reason why a document is missing.
	missing(path) {
		return this.documents.errorOf(path.startsWith('api/') ? path : `api/v1/${path}`) ?? (this.state.kind === 'lost' ? 'rocelet does not answer. Trying again.' : 'Loading.');
	}

	// The node's time, by its clock and the time since its last answer.
	nowMs() {
		const {store} = this;
		return store.timeMs === null ? Date.now() : store.timeMs + store.offsetMs + store.ageMs(Date.now());
	}

	nowSeconds() {
		return this.nowMs() / 1000;
	}

	// --- the stream ---

	answered(live) {
		const before = this.store.timeMs, events = this.store.eventsGeneration;
		const change = this.store.take(live, Date.now());
		if (this.lostMs !== null)
			this.announce('rocelet answers again');
		this.lostMs = null;
		if (change.restarted)
			this.restarted(live);
		else
			this.documents.changed(change.documents);
		this.compareVersions(live);
		this.announceVerdicts(change);
		this.show();
		return this.store.timeMs !== before || this.store.eventsGeneration !== events;
	}

	failed(error) {
		if (this.lostMs === null) {
			this.lostMs = Date.now();
			this.announce('rocelet does not answer');
		}
		this.refusal = error.isAnswer ? error.message : '';
		this.show();
		this.showState();
	}

	restarted(live) {
		this.documents.changed(null);
		this.notice(`rocelet restarted at ${clock(live.startedMs)}; earlier history is gone.`);
	}

	compareVersions(live) {
		const own = document.querySelector('meta[name=version]').content;
		if (live.version !== own)
			this.notice(`This page is of rocelet ${own}, the node now runs ${shown(live.version)}: reload the page.`);
	}

	announceVerdicts(change) {
		const texts = [...change.opened.map((v) => `${v.severity} on ${shown(portKey(v))}: ${verdictSentence(v)}`), ...change.closed.map((v) => `${endOf(this.store.ended.find((end) => verdictKey(end) === verdictKey(v) && end.onsetMs === v.onsetMs) ?? v).said} on ${shown(portKey(v))}: ${verdictTitle(v)}`)];
		if (texts.length > 0)
			this.announce(texts.slice(0, 3).join('. ') + (texts.length > 3 ? `. And ${texts.length - 3} more` : ''));
	}

	announce(text) {
		byId('announcer').textContent = text;
	}

	notice(text) {
		setText(byId('notice'), text);
		byId('notice').hidden = false;
	}

	// --- age of the data ---

	// {kind, text: in the bar, banner: the sentence below it, ageMs: shown in it, rest: of it}
	currentState() {
		const {store} = this, age = store.ageMs(Date.now());
		const since = `since ${clock(this.sampleMs())} ${zoneName(this.sampleMs())}`, last = ' What is below was last known then.', lost = `rocelet has not answered ${since}`;
		if (this.lostMs !== null && age === null)
			return {kind: 'lost', text: 'No answer, no sample yet', banner: 'rocelet does not answer', rest: `${this.refusal && `: ${this.refusal}`}. Trying again.`};
		if (this.lostMs !== null)
			return {kind: 'lost', text: `No answer for ${span(age)}`, banner: lost, ageMs: age, rest: `${this.refusal && `: ${this.refusal}`}. Trying again.${last}`};
		if (store.serverNowMs === null)
			return {kind: 'connecting', text: 'Connecting', banner: ''};
		if (age === null)
			return {kind: 'stale', text: 'No sample yet', banner: 'rocelet answers, but has not judged a sample yet.'};
		if (age > this.staleMs())
			return {kind: 'stale', text: `Stale, ${span(age)} old`, ageMs: age, ...this.answersNot() ? {banner: lost, rest: `. Trying again.${last}`} : {banner: `No new sample ${since}`, rest: `: ${this.staleWhy()}`}};
		return {kind: 'live', text: `Live, ${span(age)} old`, banner: ''};
	}

	// The time of the newest sample, by the node's clock. The page uses it everywhere as the beginning of an outage.
	sampleMs() {
		return this.store.timeUnixMs;
	}

	// Is the data old although the last answer had a new sample?
	answersNot() {
		return this.store.ageMs(this.store.receivedMs) <= this.staleMs();
	}

	// The reason for old data if rocelet answers.
	staleWhy() {
		const why = this.documents.get(AGENT_PATH, [], AGENT_READ_MS)?.parts.find((part) => part.name === 'sampling' && part.works === false)?.why;
		return `rocelet answers, but does not sample${why ? `: ${shown(why)}` : ''}.`;
	}

	staleMs() {
		return Math.max(STALE_MS, 3 * (this.store.everyMs ?? 0));
	}

	showState() {
		this.state = this.currentState();
		const {kind, text, banner, ageMs, rest = ''} = this.state, was = byId('state').dataset.state;
		setAttribute(byId('state'), 'data-state', kind);
		setText(byId('state-text'), text);
		setAttribute(byId('state'), 'data-short', {live: () => span(this.store.ageMs(Date.now())), lost: () => 'No answer', stale: () => 'Stale'}[kind]?.() ?? null);
		setAttribute(byId('banner'), 'data-state', kind);
		setText(byId('banner-text'), banner);
		setText(byId('banner-age'), isKnown(ageMs) ? ` (${span(ageMs).replace(/ /g, NBSP)})` : '');
		setText(byId('banner-rest'), rest);
		byId('banner').hidden = banner === '';
		setAttribute(document.body, 'data-old', kind === 'live' ? null : 'yes');
		morphChildren(byId('node'), [cutName(this.store.node ?? 'rocelet')]);
		this.showTitle();
		this.showIcon();
		if (was !== kind && this.view !== null)
			this.show();
	}

	// "(2) Ports · node-17 · rocelet"; "(?)" when it is not known now.
	titleText() {
		const n = this.model ? nodeTally(this.model).problems : this.store.problemCount, mark = this.state.kind === 'live' ? (n > 0 ? `(${n}) ` : '') : '(?) ';
		return mark + [this.view?.title(), this.store.node && shown(this.store.node), 'rocelet'].filter(Boolean).join(' · ');
	}

	showTitle() {
		const title = this.titleText();
		if (document.title !== title)
			document.title = title;
	}

	showIcon() {
		const colour = ICON_COLOURS[this.state.kind === 'live' ? this.headline?.kind : 'unknown'] ?? ICON_COLOURS.unknown;
		const picture = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M1 11h3l2-7 3 10 2-6h4" fill="none" stroke="${colour}" stroke-width="2"/></svg>`;
		setAttribute(byId('icon'), 'href', `data:image/svg+xml,${encodeURIComponent(picture)}`);
	}

	showProblemCount() {
		const {model} = this, {kind} = this.headline, tally = nodeTally(model), [other] = this.headline.others ?? [], ill = model.ports && !model.dead ? blindness(model)?.items.filter(({state}) => state.isTrouble).length ?? 0 : 0;
		const [none, short] = kind === 'ok' ? ['No problems', 'OK'] : other ? [other.short, grouped(this.headline.others.length)] : ill > 0 ? [`${grouped(ill)} in trouble`, grouped(ill)] : ['Not known', '?'];
		const parts = PROBLEM_KINDS.map((severity) => [severity, tally[severity]]).filter(([, n]) => n > 0);
		morphChildren(byId('count'), parts.length ? parts.flatMap(([severity, n]) => [makeMark(severity, false), make('strong', {}, `${n}${model.isProblemCut ? '+' : ''}`)]) : [makeMark(kind, false), make('span', {class: 'wide'}, none), make('span', {class: 'short', 'aria-hidden': 'true'}, short)]);
		setAttribute(byId('count'), 'aria-label', `${model.dead ? 'last known: ' : ''}${parts.length ? parts.map(([severity, n]) => `${n} ${STATES[severity].label}`).join(', ') : kind === 'ok' ? 'no problems' : other ? other.text : ill > 0 ? `${count(ill, 'device')} of pods in trouble` : 'problems not known'}`);
		setAttribute(byId('count'), 'href', tally.ports > 0 || kind === 'ok' ? '#ports?show=problems' : other?.href ?? '#');
		const findings = model.documents.doctor?.findings.length ?? 0, badge = byId('doctor');
		badge.hidden = findings === 0;
		setText(badge, findings ? String(findings) : '');
		setAttribute(badge, 'aria-label', findings ? count(findings, 'finding') : null);
	}
}

const page = new Page();
