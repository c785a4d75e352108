// charts.js - the charts of one port, drawn by uPlot: one time axis and one cursor for all, which can be zoomed by pointer and keyboard, with what happened
// marked on it.

const CHART_HEIGHT = 170;
const LEAST_SPAN_S = 10;

const CHARTS = [
	{title: 'Throughput', unit: bitRate, least: 1e6, signals: [
		{key: 'bytes_received', label: 'received', colour: '--first'},
		{key: 'bytes_sent', label: 'sent', colour: '--second'},
		{line: 'rate', label: 'link speed', colour: '--muted'},
	]},
	{title: 'Pause, share of time', unit: share, least: 0.01, signals: [
		{key: 'pause_received', label: 'the network pauses this port', colour: '--first'},
		{key: 'pause_sent', label: 'this port pauses the network', colour: '--second'},
	]},
	{title: 'Congestion: packets marked CE, share of those received', unit: share, least: 0.01, signals: [
		{key: 'ce_share', label: 'marked CE', colour: '--first'},
	]},
	{title: 'Congestion notifications (CNP)', unit: eventRate, least: 10, signals: [
		{key: 'cnp_received', label: 'received', colour: '--first'},
		{key: 'cnp_sent', label: 'sent', colour: '--second'},
	]},
	{title: 'Loss and retransmission', unit: eventRate, least: 10, signals: [
		{key: 'discards', label: 'dropped on arrival', colour: '--first'},
		{key: 'out_of_sequence', label: 'out of sequence', colour: '--second'},
		{key: 'nak', label: 'NAKs of lost packets', colour: '--third'},
		{key: 'timeouts', label: 'ACK timeouts', colour: '--fourth'},
		{key: 'not_ready', label: 'receiver not ready', colour: '--fifth'},
		{key: 'failed', label: 'queue pairs that failed', colour: '--bad'},
	]},
];

const DASHES = {'--second': [6, 3], '--third': [2, 3], '--fourth': [8, 3, 2, 3], '--fifth': [1, 2], '--muted': [4, 6]};

class Charts {
	// facts: the port's; view: {from, to} in unix seconds, null: the last quarter of an hour.
	constructor(parent, facts) {
		this.facts = facts;
		this.marks = [];
		this.view = null;
		this.begin = this.now = 0;
		this.sync = uPlot.sync(`port ${portKey(facts)}`);
		this.parent = parent;
		this.charts = CHARTS.map((chart) => this.makeChart(chart));
		this.observer = new ResizeObserver(() => this.fit());
		this.observer.observe(parent);
		this.themes = window.matchMedia('(prefers-color-scheme: dark)');
		this.onTheme = () => this.onLook?.();
		this.themes.addEventListener('change', this.onTheme);
	}

	done() {
		this.observer.disconnect();
		this.themes.removeEventListener('change', this.onTheme);
		this.charts.forEach(({plot}) => plot.destroy());
	}

	makeChart(chart) {
		const id = `chart-${chart.title.replace(/\W+/g, '-')}`;
		const box = make('div', {class: 'plot', tabindex: '0', role: 'group', 'aria-labelledby': id,
			onkeydown: (event) => this.onKey(event)});
		this.parent.append(make('section', {class: 'chart'}, make('h4', {id}, chart.title), box));
		const plot = new uPlot(this.options(chart), [[], ...chart.signals.map(() => [])], box);
		const canvas = plot.root.querySelector('canvas');
		canvas.setAttribute('role', 'img');
		plot.root.querySelector('.u-legend')?.setAttribute('aria-label', `${chart.title}, at the cursor`);
		return {chart, plot, canvas};
	}

	options(chart) {
		const axis = {stroke: () => colour('--text'), grid: {stroke: () => colour('--grid'), width: 1}, ticks: {stroke: () => colour('--grid'), width: 1}};
		return {
			width: this.width(),
			height: CHART_HEIGHT,
			series: [{label: 'at', value: (_, v) => (v === null ? '' : clock(v * 1000))}, ...chart.signals.map((s) => this.series(chart, s))],
			axes: [{...axis, values: (_, splits) => splits.map((s) => clock(s * 1000).slice(-8)), space: 70},
				{...axis, size: 88, values: (_, splits) => splits.map(chart.unit)}],
			scales: {x: {range: () => this.range()}, y: {range: (_, low, high) => [0, Math.max(high * 1.05, chart.least / (chart.unit === bitRate ? 8 : 1))]}},
			cursor: {sync: {key: this.sync.key}, drag: {x: true, y: false, setScale: false}},
			hooks: {setSelect: [(plot) => this.onSelect(plot)], draw: [(plot) => drawMarks(plot, this.marks)]},
			legend: {live: true},
		};
	}

	series(chart, s) {
		return {label: s.label, stroke: () => colour(s.colour), dash: DASHES[s.colour], width: 1.5, points: {show: false},
			value: (_, v) => (v === null ? UNKNOWN : chart.unit(v))};
	}

	width() {
		return Math.max(200, this.parent.clientWidth - 2);
	}

	fit() {
		const width = this.width();
		for (const {plot} of this.charts)
			if (plot.width !== width)
				plot.setSize({width, height: CHART_HEIGHT});
	}

	range() {
		return this.view ? [this.view.from, this.view.to] : [this.begin, this.now];
	}

	// now: unix seconds, where the axis ends.
	show(history, marks, now) {
		this.now = now;
		this.begin = history.begin(now);
		this.marks = marks;
		for (const {chart, plot, canvas} of this.charts) {
			const line = this.facts.rateBps ? this.facts.rateBps / 8 : null;
			plot.setData([history.times, ...chart.signals.map((s) => (s.line ? history.times.map(() => line) : history.values[s.key]))]);
			setAttribute(canvas, 'aria-label', this.sentence(chart, history));
		}
	}

	// What can be seen in it, for who cannot.
	sentence(chart, history) {
		const [from, to] = this.range();
		const parts = chart.signals.filter((s) => s.key).map((s) => `${s.label}: now ${chart.unit(history.latest(s.key))}, at most ` +
			chart.unit(history.greatest(s.key, from, to)));
		return `${chart.title}. ${parts.join('; ')}`;
	}

	// --- zoom ---

	zoom(from, to) {
		const end = Math.min(to, this.now), start = Math.max(from, this.begin);
		this.view = end - start >= this.now - this.begin - 1 ? null : {from: Math.min(start, end - LEAST_SPAN_S), to: end};
		for (const {plot} of this.charts)
			plot.setScale('x', {min: this.range()[0], max: this.range()[1]});
		this.onZoom?.(this.view);
	}

	zoomBy(factor) {
		const [from, to] = this.range(), middle = (from + to) / 2, half = Math.max(LEAST_SPAN_S, (to - from) * factor) / 2;
		this.zoom(middle - half, middle + half);
	}

	// By a share of what is seen; the span stays as it is.
	move(part) {
		const [from, to] = this.range(), length = to - from;
		const end = Math.min(this.now, Math.max(this.begin + length, to + part * length));
		this.zoom(end - length, end);
	}

	reset() {
		this.zoom(this.begin, this.now);
	}

	onSelect(plot) {
		const {left, width} = plot.select;
		if (width < 5)
			return;
		const from = plot.posToVal(left, 'x'), to = plot.posToVal(left + width, 'x');
		plot.setSelect({left: 0, width: 0, top: 0, height: 0}, false);
		this.zoom(from, to);
	}

	onKey(event) {
		const keys = {'+': () => this.zoomBy(0.5), '=': () => this.zoomBy(0.5), '-': () => this.zoomBy(2), '0': () => this.reset(),
			Escape: () => this.reset(), ArrowLeft: () => this.move(-0.25), ArrowRight: () => this.move(0.25)};
		if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey)
			return;
		event.preventDefault();
		keys[event.key]();
	}
}
