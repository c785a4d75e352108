// port.js - one port: what it is, what is wrong with it, its last quarter of an hour in charts and as a table.

const TABLE_STEP_S = 60;

function portFacts(facts) {
	const yes = (v, text = v) => (isKnown(v) ? text : null);
	return [['netdev', yes(facts.netdev, shown(facts.netdev))], ['function', yes(facts.function, shown(facts.function))],
		['VF of', yes(facts.parent, `${shown(facts.parent)}, number ${facts.vf}`)], ['driver', yes(facts.driver, shown(facts.driver))],
		['pod', yes(facts.pod, `${podName({namespace: facts.namespace, name: facts.pod})}, container ${shown(facts.container)}`)],
		['state', facts.state ?? UNKNOWN], ['speed', lineRate(facts.rateBps)], ['RoCE MTU', yes(facts.mtu, `${facts.mtu} bytes`)],
		['diagnosis', {judged: 'judged', warming: 'warming up', down: 'its link is down', unseen: 'it cannot be read at the moment'}[facts.watch] ?? facts.watch]]
		.filter(([, text]) => text !== null);
}

class PortView {
	constructor(page, device, port) {
		this.page = page;
		this.key = `${device}/${port}`;
		this.name = shown(this.key);
		this.heading = make('h2', {}, `Port ${this.name}`);
		this.missing = make('p', {hidden: true});
		this.facts = make('dl', {class: 'facts'});
		this.cards = make('div', {class: 'cards'});
		this.verdicts = new VerdictCards(this.cards);
		this.plots = make('div', {class: 'plots'});
		this.marks = make('ol', {class: 'marks'});
		this.table = make('details', {ontoggle: () => this.showTable()}, make('summary', {}, 'the same as a table, the greatest of each minute'));
		this.element = make('div', {}, this.heading, this.missing, this.facts, make('section', {'aria-label': 'what is wrong with it'}, make('h3', {}, 'What is wrong with it'), this.cards),
			make('section', {'aria-label': 'the last 15 minutes'}, make('h3', {}, 'The last 15 minutes'), this.tools(), this.plots, this.table,
				make('h4', {}, 'Marked on the time axis'), this.marks));
		this.healthy = make('p', {});
		this.cards.before(this.healthy);
	}

	tools() {
		const button = (text, does) => make('button', {type: 'button', onclick: () => this.charts && does(this.charts)}, text);
		this.range = make('span', {class: 'quiet'});
		return make('p', {class: 'controls'}, button('zoom in', (c) => c.zoomBy(0.5)), button('zoom out', (c) => c.zoomBy(2)), button('earlier', (c) => c.move(-0.25)),
			button('later', (c) => c.move(0.25)), button('all 15 minutes', (c) => c.reset()), this.range,
			make('span', {class: 'quiet'}, ' Drag in a chart to zoom; by keyboard + − ← → and 0.'));
	}

	show() {
		const ports = this.page.ports();
		const facts = ports?.find((p) => portKey(p) === this.key) ?? null;
		const own = this.page.store.verdicts.filter((v) => portKey(v) === this.key);
		this.missing.hidden = facts !== null;
		setText(this.missing, this.page.missing('api/v1/ports', ports, `There is no port ${this.name} on this node now.`));
		this.verdicts.show(own);
		setText(this.healthy, facts ? seenText(this.page.store, own, [doubt(this.page.store, facts)]) : '');
		if (!facts)
			return;
		this.showFacts(facts);
		const history = this.page.documents.history(this.key);
		if (history)
			this.showHistory(facts, history);
	}

	showFacts(facts) {
		const said = JSON.stringify(portFacts(facts));
		if (this.said === said)
			return;
		this.said = said;
		this.facts.replaceChildren(...portFacts(facts).map(([name, text]) => make('div', {}, make('dt', {}, name), make('dd', {}, text))));
	}

	showHistory(facts, history) {
		const marks = portMarks(this.page.store, facts);
		if (this.charts && this.charts.facts.rateBps !== facts.rateBps)
			this.charts.facts = facts;
		this.charts ??= this.makeCharts(facts);
		this.charts.show(history, marks, this.page.nowSeconds());
		this.showMarks(marks);
		this.history = history;
		setText(this.range, this.charts.view ? ` ${clock(this.charts.view.from * 1000)} to ${clock(this.charts.view.to * 1000)}, standing still.` : '');
	}

	makeCharts(facts) {
		const charts = new Charts(this.plots, facts);
		charts.onZoom = () => this.page.show();
		charts.onLook = () => {
			this.charts.done();
			this.plots.replaceChildren();
			this.charts = null;
			this.page.show();
		};
		return charts;
	}

	showMarks(marks) {
		const said = JSON.stringify(marks);
		if (this.saidMarks === said)
			return;
		this.saidMarks = said;
		this.marks.replaceChildren(...marks.slice(-50).reverse().map((m) => make('li', {}, makeTime(m.from * 1000), ` ${m.text}`)));
		if (marks.length === 0)
			this.marks.replaceChildren(make('li', {}, 'nothing'));
	}

	// Made when it is unfolded, and as it was then: what is being read shall not move.
	showTable() {
		this.table.querySelector('.scroll')?.remove();
		if (!this.table.open || !this.history)
			return;
		const signals = CHARTS.flatMap((chart) => chart.signals.filter((s) => s.key).map((s) => ({...s, chart})));
		const {box, body} = makeTable(`port ${this.name}, the greatest of each minute`, [['from'], ...signals.map((s) => [`${s.chart.title.split(/[:,]/)[0]}: ${s.label}`, 'number'])]);
		const end = Math.ceil(this.page.nowSeconds() / TABLE_STEP_S) * TABLE_STEP_S;
		for (let from = end - TABLE_STEP_S; from >= end - HISTORY_S; from -= TABLE_STEP_S)
			body.append(make('tr', {}, make('th', {scope: 'row'}, makeTime(from * 1000)),
				signals.map((s) => make('td', {class: 'number'}, s.chart.unit(this.history.greatest(s.key, from, from + TABLE_STEP_S))))));
		this.table.append(box);
	}

	title() {
		return `port ${this.name}`;
	}

	done() {
		this.charts?.done();
	}
}
