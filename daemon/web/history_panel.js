// SPDX-License-Identifier: Apache-2.0
// history_panel.js - the last 15 minutes of one or several ports: a time control, a strip with verdicts and events, and charts. The selected range is part of
// the page's address.

const RANGES = ['15', '5', '1']; // minutes
const LEAST_SPAN_S = 10;
const DASHBOARDS = {port: 'RoCE / port', pod: 'RoCE / pod'}; // titles in k8s/deploy/monitoring
const VF_SCALE = 1 / 20; // least scale of a VF's throughput, as a share of the link's rate

class HistoryPanel {
	constructor(page, specs, height) {
		Object.assign(this, {page, specs, height, charts: new Map(), tops: new Map(), events: [], verdicts: [], stateOf: (p) => p.state});
		this.sync = uPlot.sync(`panel ${++HistoryPanel.made}`);
		this.observer = new ResizeObserver(() => page.show());
		this.onTheme = () => this.redraw();
		darkSystem.addEventListener('change', this.onTheme);
		document.addEventListener('rocelet-theme', this.onTheme);
	}

	done() {
		this.observer.disconnect();
		darkSystem.removeEventListener('change', this.onTheme);
		document.removeEventListener('rocelet-theme', this.onTheme);
		this.all().forEach((chart) => chart.done());
	}

	all() {
		return [...this.charts.values()].flat();
	}

	redraw() {
		this.all().forEach((chart) => { chart.drawn = ''; });
		this.page.show();
	}

	// [from, to] of the address; null: the panel is live.
	fixed() {
		const {from, to} = this.page.query;
		return Number(to) > Number(from) && Number(from) > 0 ? [Number(from), Number(to)] : null;
	}

	// The length of the history in seconds, but at least that of an axis.
	ageSeconds() {
		const {startedMs} = this.page.store, age = startedMs === null ? HISTORY_S : (this.page.nowMs() - startedMs) / 1000;
		return Math.min(HISTORY_S, Math.max(LEAST_AXIS_S, age));
	}

	// The chosen time; null: as much history as there is.
	asked() {
		return RANGES.includes(this.page.query.range) ? 60 * Number(this.page.query.range) : null;
	}

	seconds() {
		return this.asked() ?? this.ageSeconds();
	}

	// The one of RANGES that is shown; null: all of a younger history.
	minutes() {
		return this.asked() !== null ? this.page.query.range : this.seconds() >= HISTORY_S ? RANGES[0] : null;
	}

	range() {
		return this.fixed() ?? [this.page.nowSeconds() - this.seconds(), this.page.nowSeconds()];
	}

	zoom(from, to) {
		const now = this.page.nowSeconds(), end = Math.min(to, now), begin = Math.max(from, now - HISTORY_S);
		if (end - begin >= HISTORY_S - 1)
			this.goLive();
		else
			this.page.ask({from: Math.min(begin, end - LEAST_SPAN_S).toFixed(0), to: end.toFixed(0), range: ''});
	}

	zoomBy(factor) {
		const [from, to] = this.range(), middle = (from + to) / 2, half = Math.max(LEAST_SPAN_S, (to - from) * factor) / 2;
		this.zoom(middle - half, middle + half);
	}

	// Moves the range by a part of its length.
	move(part) {
		const [from, to] = this.range(), length = to - from, now = this.page.nowSeconds();
		const end = Math.min(now, Math.max(now - HISTORY_S + length, to + part * length));
		this.zoom(end - length, end);
	}

	// Moves the cursor by a hundredth of the range. All charts show their values there; those of the chart with the focus are read out.
	moveCursor(chart, by) {
		const [from, to] = this.range(), step = Math.max((to - from) / 100, chart.history?.interval() ?? 1), at = chart.cursorTime();
		const time = Math.min(to, Math.max(from, at === null ? to : at + by * step));
		for (const other of this.all())
			other.putCursor(time);
		this.page.announce(chart.cursorText());
	}

	goLive(minutes = '') {
		this.page.ask({from: '', to: '', range: minutes});
	}

	onKey(event, chart) {
		const keys = {'+': () => this.zoomBy(0.5), '=': () => this.zoomBy(0.5), '-': () => this.zoomBy(2), '0': () => this.goLive(), ArrowLeft: () => (event.shiftKey ? this.move(-0.25) : this.moveCursor(chart, -1)), ArrowRight: () => (event.shiftKey ? this.move(0.25) : this.moveCursor(chart, 1)),
			...(this.fixed() ? {Escape: () => this.goLive()} : {})};
		if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey)
			return;
		event.preventDefault();
		event.stopPropagation();
		keys[event.key]();
	}

	// The events of a port, and those without a device.
	eventsOn(p) {
		return this.events.filter((e) => !e.device || e.device === p.facts.function || e.device === p.facts.device);
	}

	// The upper end of a chart's scale. It is the same for all ports, so that they can be compared, and includes the line of the link's rate. A VF uses only a part of the
	// link: its scale follows its traffic, but noise stays flat.
	topOf(spec) {
		return this.tops.get(spec) ?? spec.least;
	}

	// The limits of a chart in its unit, [name, value]: of the problem that it is about, or those of the configuration.
	limitsOf(spec) {
		const {factor} = UNITS[spec.unit], set = this.page.model.documents.config?.diagnosis ?? {};
		return isKnown(spec.limit) ? [['Limit', spec.limit * factor]] : (spec.limits ?? []).map(([name, key]) => [name, isKnown(set[key]) ? set[key] * factor : null]).filter(([, v]) => v !== null);
	}

	// The limits that the scale includes: the lowest one, and the others once a number has reached it.
	nearLimits(spec, most) {
		const values = this.limitsOf(spec).map(([, v]) => v), least = Math.min(...values);
		return values.filter((v) => v === least || UNITS[spec.unit].factor * most >= least);
	}

	findTops() {
		const [from, to] = this.range();
		for (const spec of this.specs) {
			const seen = this.ports.flatMap((p) => { const history = this.page.historyOf(p); return history ? spec.signals.map(([key]) => history.greatest(key, from, to)) : []; });
			const rates = spec.line ? this.ports.map((p) => (p.facts.rateBitsPerSecond ?? 0) * (p.facts.kind === 'vf' ? VF_SCALE : 1)) : [];
			this.tops.set(spec, Math.max(spec.least, 1.1 * UNITS[spec.unit].factor * (greatestOf(seen) ?? 0), 1.1 * (greatestOf(this.nearLimits(spec, greatestOf(seen) ?? 0)) ?? 0), 1.02 * (greatestOf(rates) ?? 0) / 1e9));
		}
	}

	verdictsOn(p) {
		return this.verdicts.filter((v) => portKey(v) === p.key);
	}

	chartsOf(p) {
		if (!this.charts.has(p.key)) {
			const made = this.specs.map((spec) => new Chart(this, p, spec, this.height));
			made.forEach((chart) => this.observer.observe(chart.element));
			this.charts.set(p.key, made);
		}
		return this.charts.get(p.key);
	}

	// Elements for the view. Charts are drawn after the page has them in the document: their width is known then.
	// isCalm: no problem of the ports, or of their pod, is known.
	render(model, ports, verdicts, events, isCalm = ports.every((p) => p.state.kind === 'ok')) {
		const [from, to] = this.range();
		this.verdicts = verdicts;
		const eventsIn = (begin, end) => events.filter((e) => Date.parse(e.last) / 1000 >= begin && Date.parse(e.last) / 1000 <= end);
		this.events = eventsIn(from, to);
		this.ports = ports;
		this.isCalm = isCalm;
		const now = this.page.nowSeconds(), begin = this.fixed() ? now - this.ageSeconds() : from; // zoomed, the strip shows where
		this.page.afterShow(() => this.draw());
		return make('section', {class: 'panel history', 'aria-labelledby': 'history-title'}, make('h2', {id: 'history-title', class: 'unseen'}, 'The last 15 minutes'), this.control(), this.strip(model, begin, now, eventsIn(begin, now)),
			ports.length === 1 && this.specs === CHARTS ? make('div', {class: 'charts'}, this.chartsOf(ports[0]).map((chart) => chart.element))
				: make('div', {class: 'multiples'}, ports.map((p) => make('div', {key: p.key}, make('h3', {}, makeMark(this.stateOf(p).kind), makePortLink(p.facts), p.lane && make('span', {class: 'quiet'}, ` rail ${p.lane.n}`)), this.chartsOf(p).map((chart) => chart.element)))),
			make('p', {class: 'quiet earlier'}, `Earlier times: Prometheus, dashboard ${DASHBOARDS[this.specs === CHARTS ? 'port' : 'pod']}.`));
	}

	draw() {
		this.findTops();
		for (const p of this.ports) {
			const history = this.page.historyOf(p);
			const token = history && JSON.stringify([history.times.at(-1), history.times[0], this.range(), this.verdictsOn(p).map((v) => [v.onsetMs, v.endedMs, v.severity]), this.events.length, this.page.model.dead, [...this.tops.values()], this.specs.map((spec) => this.limitsOf(spec))]);
			for (const chart of this.chartsOf(p)) {
				chart.port = p;
				chart.fit();
				chart.show(history, token);
			}
		}
	}

	control() {
		const fixed = this.fixed(), minutes = this.minutes();
		return make('div', {class: 'time'}, make('div', {class: 'segments', role: 'group', 'aria-label': 'time shown'}, RANGES.map((m) => makeButton(`${m} min`, () => this.goLive(m), {'aria-pressed': String(!fixed && m === minutes)}))),
			fixed ? [make('span', {class: 'standing'}, `Showing ${clock(fixed[0] * 1000)} to ${clock(fixed[1] * 1000)} (not live), ${zoneName(fixed[0] * 1000)}`), makeButton('Back to live', () => this.goLive())] : make('span', {class: 'quiet'}, `${clock(this.range()[0] * 1000)} to ${this.page.model.dead ? clock(this.page.model.sampleMs()) : 'now'}, ${zoneName(Date.now())}${minutes === null ? ', all since rocelet started' : ''}`),
			make('span', {class: 'grow'}), make('span', {class: 'quiet hint'}, 'Drag in a chart to zoom; keys ← → + − 0'));
	}

	// Verdicts as labelled bands and events as triangles, on the scale of the charts; zoomed, of the whole history, and which part of it the charts show.
	strip(model, from, to, events) {
		const at = (s) => `${(100 * Math.min(1, Math.max(0, (s - from) / (to - from)))).toFixed(2)}%`;
		const bands = this.verdicts.filter((v) => Date.parse(v.onset) / 1000 < to && (!v.ended || Date.parse(v.ended) / 1000 > from));
		const [begin, end] = this.range(), isPart = this.fixed() && end - begin < to - from - 1, shade = isPart && make('div', {class: 'shade', style: {left: at(begin), width: `calc(${at(end)} - ${at(begin)})`}});
		if (bands.length + events.length === 0)
			return [make('p', {class: 'quiet strip-empty'}, `${this.isCalm ? 'No problems or events' : 'No event, and no verdict of diagnosis,'} ${historyNote(model, 1000 * (to - from) + 1000) ? `since ${clock(model.store.startedMs)}, when rocelet started` : `in the last ${count(Math.round((to - from) / 60), 'minute')}`}.`), isPart && make('div', {class: 'strip'}, shade)];
		return make('div', {class: 'strip'}, shade, bands.map((v) => make('div', {class: 'band-row', key: problemKey(v)}, make('a', {class: 'band-label', 'data-side': Date.parse(v.onset) / 1000 > from + 0.75 * (to - from) ? 'left' : null, href: portLink(v), 'data-severity': v.severity, 'data-ended': v.ended ? 'yes' : null,
			'data-tip': `${sentenceCase(verdictSentence(v))}, ${clock(Date.parse(v.onset))} to ${v.ended ? `${clock(Date.parse(v.ended))}, ${endOf(v).said}` : model.dead ? `at least ${clock(model.sampleMs())}` : 'now'}`,
			style: {'margin-left': at(Date.parse(v.onset) / 1000), 'margin-right': `calc(100% - ${v.ended ? at(Date.parse(v.ended) / 1000) : '100%'})`}}, make('span', {}, verdictMark(v), ` ${verdictTitle(v)}`)))),
		events.length > 0 && make('div', {class: 'ticks'}, events.map((e) => make('span', {class: 'tick', role: 'img', 'aria-label': `${eventTitle(e)} at ${clock(Date.parse(e.last))}`, 'data-type': e.type, 'data-tip': `${clock(Date.parse(e.last))} ${eventTitle(e)}: ${eventDetail(model, e)}`, style: {left: at(Date.parse(e.last) / 1000)}}))));
	}
}
HistoryPanel.made = 0;
