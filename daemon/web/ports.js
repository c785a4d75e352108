// ports.js - the first view: what is wrong, and all ports as rows.

const ROWS_AT_FIRST = 200;

const COLUMNS = [
	['port'], ['what is wrong', 'trouble'], ['pod', 'wide'], ['state'], ['speed', 'number wide'], ['received', 'number'], ['sent', 'number'],
	['paused', 'number'], ['pauses', 'number'], ['CE', 'number'], ['CNP received', 'number wide'], ['CNP sent', 'number wide'], ['lost', 'number'],
	['15 minutes', 'drawing'],
];
const LOSSES = ['discards', 'out_of_sequence', 'nak', 'timeouts', 'failed'];
const ORDERS = {
	trouble: (a, b) => b.level - a.level || naturalOrder(a.key, b.key),
	name: (a, b) => naturalOrder(a.key, b.key),
	received: (a, b) => (b.now.bytes_received ?? -1) - (a.now.bytes_received ?? -1),
	sent: (a, b) => (b.now.bytes_sent ?? -1) - (a.now.bytes_sent ?? -1),
	pause: (a, b) => Math.max(b.now.pause_received ?? -1, b.now.pause_sent ?? -1) - Math.max(a.now.pause_received ?? -1, a.now.pause_sent ?? -1),
};

// Events a second of all kinds of loss that are seen; null: none of them is.
function losses(now) {
	const seen = LOSSES.map((signal) => now[signal]).filter(isKnown);
	return seen.length ? seen.reduce((a, b) => a + b, 0) : null;
}

function makePortRow(item) {
	const cells = COLUMNS.map(([title, kind], i) => make(i === 0 ? 'th' : 'td', {scope: i === 0 ? 'row' : null, class: kind || null, 'data-title': title}));
	const row = make('tr', {}, cells);
	row.cells_ = cells;
	row.spark = makeSpark();
	cells[0].append(make('a', {href: placeLink('port', item.facts.device, item.facts.port)}, `${shown(item.facts.device)}/${item.facts.port}`),
		make('span', {class: 'quiet'}, item.facts.netdev ? ` ${shown(item.facts.netdev)}` : ''));
	cells[cells.length - 1].append(row.spark);
	return row;
}

function troubleText(item) {
	const words = item.verdicts.map((v) => `${SHAPES[v.severity]} ${v.cause}`);
	return words.length ? words.join(', ') : {judged: 'nothing', warming: 'warming up', unseen: 'cannot be read'}[item.facts.watch] ?? item.facts.watch;
}

function updatePortRow(row, item) {
	const {facts, now} = item;
	const texts = [null, troubleText(item), facts.pod ? podName({namespace: facts.namespace, name: facts.pod}) : '–', facts.state ?? UNKNOWN,
		lineRate(facts.rateBps), bitRate(now.bytes_received), bitRate(now.bytes_sent), share(now.pause_received), share(now.pause_sent), share(now.ce_share),
		eventRate(now.cnp_received), eventRate(now.cnp_sent), eventRate(losses(now))];
	texts.forEach((text, i) => text !== null && setText(row.cells_[i], text));
	setAttribute(row, 'data-severity', item.verdicts[0]?.severity ?? null);
	row.item = item;
}

class PortsView {
	constructor(page) {
		this.page = page;
		this.all = false;
		this.order = 'trouble';
		this.seen = new Set(); // rows that can be seen: only they are drawn
		this.summary = make('p', {class: 'summary'});
		this.cards = make('div', {class: 'cards'});
		this.verdicts = new VerdictCards(this.cards);
		const {box, body} = makeTable('ports', COLUMNS);
		this.observer = new IntersectionObserver((entries) => this.onSeen(entries), {rootMargin: '100px'});
		this.rows = new Rows(body, (item) => item.key, (item) => this.watch(makePortRow(item)), updatePortRow);
		this.more = make('button', {type: 'button', hidden: true, onclick: () => { this.all = true; page.show(); }});
		this.none = make('p', {hidden: true});
		this.element = make('div', {},
			make('section', {'aria-labelledby': 'verdicts-title'}, make('h2', {id: 'verdicts-title'}, 'What is wrong'), this.summary, this.cards),
			make('section', {'aria-labelledby': 'ports-title'}, make('h2', {id: 'ports-title'}, 'Ports'), this.controls(), this.none, box, this.more));
	}

	controls() {
		const orders = {trouble: 'what is wrong', name: 'name', received: 'received', sent: 'sent', pause: 'pause'};
		this.filter = make('input', {type: 'search', id: 'ports-filter', oninput: () => this.page.show()});
		return make('p', {class: 'controls'}, make('label', {for: 'ports-filter'}, 'show those with '), this.filter,
			make('label', {for: 'ports-order'}, ' by '),
			make('select', {id: 'ports-order', onchange: (event) => { this.order = event.target.value; this.page.show(); }},
				Object.entries(orders).map(([value, text]) => make('option', {value}, text))));
	}

	watch(row) {
		this.observer.observe(row);
		return row;
	}

	onSeen(entries) {
		for (const {target, isIntersecting} of entries)
			isIntersecting ? this.seen.add(target) : this.seen.delete(target);
		this.draw();
	}

	items(ports) {
		const {store} = this.page;
		const verdicts = new Map();
		for (const v of worstFirst(store.verdicts))
			verdicts.set(portKey(v), [...verdicts.get(portKey(v)) ?? [], v]);
		return ports.map((facts) => {
			const key = portKey(facts), own = verdicts.get(key) ?? [];
			return {key, facts, now: store.now.get(key) ?? {}, verdicts: own, level: own[0]?.level ?? 0};
		});
	}

	isWanted(item) {
		const word = this.filter.value.trim().toLowerCase();
		const {device, netdev, pod, namespace} = item.facts;
		return !word || [item.key, device, netdev, `${namespace}/${pod}`, troubleText(item)].some((text) => text && text.toLowerCase().includes(word));
	}

	show() {
		const ports = this.page.ports();
		setText(this.summary, summary(this.page.store, ports));
		this.verdicts.show(this.page.store.verdicts);
		const wanted = this.items(ports ?? []).filter((item) => this.isWanted(item)).sort(ORDERS[this.order]);
		const shownItems = this.all ? wanted : wanted.slice(0, ROWS_AT_FIRST);
		this.rows.show(shownItems);
		this.more.hidden = shownItems.length === wanted.length;
		setText(this.more, `all ${wanted.length} ports`);
		this.none.hidden = wanted.length > 0;
		setText(this.none, ports === null ? this.page.documents.errorOf('api/v1/ports') ?? 'The ports are being read.' : 'There are no such ports.');
		this.draw();
	}

	draw() {
		const now = this.page.nowSeconds();
		for (const row of this.seen) {
			if (!row.isConnected) {
				this.seen.delete(row);
				continue;
			}
			const history = this.page.documents.history(row.item.key);
			if (history)
				drawSpark(row.spark, history, now);
		}
	}

	title() {
		return 'what is wrong, ports';
	}

	done() {
		this.observer.disconnect();
	}
}
