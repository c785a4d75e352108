// ports.js - the first view: what is wrong, and all ports as rows.

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

// Why there may be more wrong with a port than is told; '': it is judged.
function doubt(store, facts) {
	return store.timeMs === null ? 'not judged yet' : {judged: '', warming: 'warming up', down: 'its link is down', unseen: 'cannot be read'}[facts.watch] ?? facts.watch;
}

// Ports with what is said and measured of them now.
function portItems(store, ports) {
	const verdicts = new Map();
	for (const v of worstFirst(store.verdicts))
		verdicts.set(portKey(v), [...verdicts.get(portKey(v)) ?? [], v]);
	return ports.map((facts) => {
		const key = portKey(facts), own = verdicts.get(key) ?? [];
		return {key, facts, now: store.now.get(key) ?? {}, verdicts: own, level: own[0]?.level ?? 0, doubt: doubt(store, facts) || cutText(store)};
	});
}

function fillPortRow(row, {facts}) {
	row.spark = makeSpark();
	row.parts[0].append(make('a', {href: placeLink('port', facts.device, facts.port)}, `${shown(facts.device)}/${facts.port}`),
		make('span', {class: 'quiet'}, facts.netdev ? ` ${shown(facts.netdev)}` : ''));
	row.parts[row.parts.length - 1].append(row.spark);
}

function troubleText(item) {
	const words = item.verdicts.map((v) => `${SHAPES[v.severity]}\u00a0${v.cause}`);
	return words.join(', ') || item.doubt || 'nothing';
}

function updatePortRow(row, item) {
	const {facts, now} = item;
	setCells(row, [null, troubleText(item), facts.pod ? podName({namespace: facts.namespace, name: facts.pod}) : '–', facts.state ?? UNKNOWN,
		lineRate(facts.rateBps), bitRate(now.bytes_received), bitRate(now.bytes_sent), share(now.pause_received), share(now.pause_sent), share(now.ce_share),
		eventRate(now.cnp_received), eventRate(now.cnp_sent), eventRate(losses(now))]);
	setAttribute(row, 'data-severity', item.verdicts[0]?.severity ?? null);
	row.item = item;
}

class PortsView {
	constructor(page) {
		this.page = page;
		this.order = 'trouble';
		this.seen = new Set(); // rows that can be seen: only they are drawn
		this.summary = make('p', {class: 'summary'});
		this.cards = make('div', {class: 'cards'});
		this.verdicts = new VerdictCards(this.cards);
		this.observer = new IntersectionObserver((entries) => this.onSeen(entries), {rootMargin: '100px'});
		this.list = new List({
			label: 'ports', columns: COLUMNS, keyOf: (item) => item.key, update: updatePortRow,
			create: (row, item) => { fillPortRow(row, item); this.observer.observe(row); },
			words: (item) => [item.key, item.facts.netdev, `${item.facts.namespace}/${item.facts.pod}`, troubleText(item)],
		}, () => page.show());
		addChoice(this.list, ' by ', {trouble: 'what is wrong', name: 'name', received: 'received', sent: 'sent', pause: 'pause'},
			(order) => { this.order = order; page.show(); });
		this.element = make('div', {},
			make('section', {'aria-labelledby': 'verdicts-title'}, make('h2', {id: 'verdicts-title'}, 'What is wrong'), this.summary, this.cards),
			make('section', {'aria-labelledby': 'ports-title'}, make('h2', {id: 'ports-title'}, 'Ports'), this.list.element));
	}

	onSeen(entries) {
		for (const {target, isIntersecting} of entries)
			isIntersecting ? this.seen.add(target) : this.seen.delete(target);
		this.draw();
	}

	show() {
		const ports = this.page.ports();
		setText(this.summary, summary(this.page.store, ports));
		this.verdicts.show(this.page.store.verdicts);
		this.list.show(portItems(this.page.store, ports ?? []).sort(ORDERS[this.order]),
			this.page.missing('api/v1/ports', ports, 'No port is watched on this node.'));
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
