// main.js - the page: which view is open, how old what it shows is, and what is said aloud.

const STALE_MS = 3000; // or three samples

const PORTS_CHANGE_WITH = ['ports', 'devices', 'resources'];

const VIEWS = [
	{word: '', title: 'Verdicts and ports', make: (page) => new PortsView(page)},
	{word: 'pods', title: 'Pods', make: (page) => new PodsView(page)},
	{word: 'qps', title: 'Queue pairs', make: (page) => new QueuePairsView(page)},
	{word: 'pools', title: 'Pools', make: (page) => new PoolsView(page)},
	{word: 'events', title: 'Events', make: (page) => new EventsView(page)},
	{word: 'config', title: 'Configuration', make: (page) => new ConfigView(page)},
];

class Page {
	constructor() {
		this.store = new Store();
		this.documents = new Documents(this.store, () => this.show());
		this.lostMs = null; // since when there is no answer
		this.refusal = ''; // or one that says no: what it says
		this.frame = null;
		this.view = null;
		byId('views').append(...VIEWS.map(({word, title}) => make('li', {}, make('a', {href: `#${word}`}, title))));
		byId('skip').addEventListener('click', (event) => { event.preventDefault(); byId('main').focus(); });
		window.addEventListener('hashchange', () => this.open(true));
		// Before anybody sees what was shown when it fell asleep.
		for (const wakes of ['visibilitychange', 'resume'])
			document.addEventListener(wakes, () => this.showState());
		window.addEventListener('pageshow', () => this.showState());
		setInterval(() => this.showState(), 1000);
		this.open(false);
		follow(this.store, {answered: (live) => this.answered(live), failed: (error) => this.failed(error)});
	}

	// --- views ---

	open(moves) {
		const words = placeWords(location.hash);
		this.view?.done();
		this.view = this.makeView(words);
		byId('main').replaceChildren(this.view.element);
		for (const link of byId('views').querySelectorAll('a'))
			setAttribute(link, 'aria-current', link.getAttribute('href') === `#${words[0] ?? ''}` ? 'page' : null);
		this.show();
		if (moves) {
			byId('main').focus({preventScroll: true});
			window.scrollTo(0, 0);
			this.announce(this.view.title());
		}
	}

	// For who measures: when the first view was there with numbers in it.
	markFirst() {
		if (this.marked || this.store.timeMs === null || this.documents.get('api/v1/ports', PORTS_CHANGE_WITH) === null)
			return;
		this.marked = true;
		performance.mark('rocelet first view');
	}

	makeView(words) {
		if (words[0] === 'port' && words.length === 3)
			return new PortView(this, words[1], words[2]);
		if (words[0] === 'pod' && words.length === 3)
			return new PodView(this, words[1], words[2]);
		return (VIEWS.find((view) => view.word === words[0]) ?? VIEWS[0]).make(this);
	}

	// Once for all that comes together.
	show() {
		this.frame ??= requestAnimationFrame(() => {
			this.frame = null;
			this.showState();
			this.view.show();
			this.markFirst();
		});
	}

	ports() {
		return this.documents.get('api/v1/ports', PORTS_CHANGE_WITH)?.ports ?? null;
	}

	pods() {
		return this.documents.get('api/v1/pods', ['resources', 'attachments'])?.pods ?? null;
	}

	// Why there is nothing of a document: it has not come, and why, or it has nothing.
	missing(path, content, empty) {
		return content !== null ? empty : this.documents.errorOf(path) ?? 'It is being read.';
	}

	// Where time axes end: the newest sample's time and how old that is, by our clock.
	nowSeconds() {
		const {store} = this;
		return store.timeMs === null ? Date.now() / 1000 : (store.timeMs + store.offsetMs + store.ageMs(Date.now())) / 1000;
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
		this.tellVerdicts(change);
		this.show();
		return this.store.timeMs !== before || this.store.eventsGeneration !== events;
	}

	failed(error) {
		if (this.lostMs === null) {
			this.lostMs = Date.now();
			this.announce('rocelet does not answer');
		}
		this.refusal = error.isAnswer ? `: ${error.message}` : '';
		this.showState();
	}

	restarted(live) {
		this.documents.changed(null);
		this.notice(`rocelet was started anew at ${clock(live.startedMs)}: what is shown begins there.`);
	}

	compareVersions(live) {
		const own = document.querySelector('meta[name=version]').content;
		if (live.version !== own)
			this.notice(`This page is of rocelet ${own}, the node now runs ${shown(live.version)}: load the page anew.`);
	}

	tellVerdicts(change) {
		const texts = [...change.opened.map((v) => `${v.severity} on ${portText(v)}: ${v.sentence}`), ...change.closed.map((v) => `over on ${portText(v)}: ${v.cause}`)];
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

	// --- how old it is ---

	state() {
		const {store} = this, age = store.ageMs(Date.now());
		const sample = age === null ? '' : `the last sample is of ${clock(Date.now() - age)}, ${span(age)} ago`;
		if (this.lostMs !== null)
			return ['lost', '✕', `no answer since ${clock(this.lostMs)}${this.refusal}, trying again${sample && `; ${sample}`}`];
		if (store.serverNowMs === null)
			return ['connecting', '○', 'connecting'];
		if (age === null)
			return ['stale', '○', 'rocelet has not judged a sample yet'];
		if (age > this.staleMs())
			return ['stale', '▲', `no new sample: ${sample}`];
		return ['live', '●', `live, sample ${span(age)} old`];
	}

	staleMs() {
		return Math.max(STALE_MS, 3 * (this.store.everyMs ?? 0));
	}

	showState() {
		const [state, mark, text] = this.state();
		setAttribute(byId('state'), 'data-state', state);
		setText(byId('state-mark'), mark);
		setText(byId('state-text'), text);
		setAttribute(document.body, 'data-old', state === 'live' ? null : 'yes');
		setText(byId('node'), this.store.node ? ` on ${shown(this.store.node)}` : '');
		const n = this.store.nVerdicts;
		const title = [n > 0 ? count(n, 'verdict', 'verdicts') : null, this.view.title(), this.store.node && shown(this.store.node), 'rocelet'].filter(Boolean).join(' · ');
		if (document.title !== title)
			document.title = title;
	}
}

new Page();
