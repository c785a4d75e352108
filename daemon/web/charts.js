// SPDX-License-Identifier: Apache-2.0
// charts.js - the charts of one port, drawn by uPlot: verdicts as bands, events as triangles, one shared cursor per panel.

// The title of the RDMA traffic on the link, which for a PF includes its VFs.
function throughputTitle(p) {
	return isWire(p) ? 'Throughput of PF and VFs' : 'Throughput';
}

const CHARTS = [
	{title: 'Throughput', titleOf: throughputTitle, unit: 'bits', least: 1, signals: [['bytes_received', 'Received', '--s1'], ['bytes_sent', 'Sent', '--s2']], line: true},
	{title: 'Pause', unit: 'share', least: 1, signals: [['pause_sent', 'Pause out', '--s1'], ['pause_received', 'Pause in', '--s2']], limits: [['Warning out', 'pause_sent_warning'], ['Critical out', 'pause_sent_critical'], ['Warning in', 'pause_received_warning']]},
	{title: 'CE marked', unit: 'share', least: 1, signals: [['ce_share', 'CE', '--s1']], limits: [['Warning', 'ce_share_warning'], ['Critical', 'ce_share_critical']]},
	{title: 'Congestion notifications', unit: 'events', least: 10, signals: [['cnp_received', 'CNP in', '--s1'], ['cnp_sent', 'CNP out', '--s2']]},
	{title: 'Loss', unit: 'events', least: 10, signals: [['discards', 'Dropped on arrival', '--s1'], ['out_of_sequence', 'Out of sequence', '--s2'], ['phy_errors', 'Link errors', '--s3']]},
	{title: 'Retransmission', unit: 'events', least: 10, signals: [['nak', 'NAKs', '--s1'], ['timeouts', 'Timeouts', '--s2'], ['not_ready', 'RNR', '--s3'], ['failed', 'Failed', '--s4']], limits: [['RNR limit', 'not_ready_rate']]},
];
const POD_CHARTS = [CHARTS[0], CHARTS[2], CHARTS[5]];
const DASHES = [undefined, [6, 3], [2, 3], [8, 3, 2, 3]];
const BAND_COLOURS = {critical: '--red', warning: '--amber', info: '--accent'};

// One chart: heading, legend with values, and the drawing or the reason why there is none.
class Chart {
	constructor(panel, p, spec, height) {
		Object.assign(this, {panel, spec, height, port: p, plot: null, drawn: '', cursor: null});
		const id = `chart-${p.key}-${spec.key ?? ''}-${spec.title}`.replace(/\W+/g, '-');
		this.legend = make('p', {class: 'legend'});
		this.title = make('span', {}, spec.title);
		this.box = make('div', {class: 'plot', tabindex: '0', role: 'group', 'aria-labelledby': id, onkeydown: (event) => panel.onKey(event, this), onblur: () => this.panel.all().forEach((chart) => chart.putCursor(null))});
		this.reason = make('p', {class: 'quiet', hidden: true});
		this.element = make('div', {class: 'chart', role: 'group', 'aria-labelledby': id}, make('header', {}, make('h3', {id}, this.title, make('small', {}, ` ${UNITS[spec.unit].name}`)), this.legend), this.box, this.reason);
		this.element.isOwn = true;
	}

	done() {
		this.plot?.destroy();
		this.plot = null;
	}

	options(width) {
		const axis = {stroke: () => tokenColour('--quiet'), grid: {stroke: () => tokenColour('--line'), width: 1}, ticks: {show: false}, font: '11px system-ui, sans-serif'};
		return {
			width, height: this.height, legend: {show: false}, padding: [6, 26, 0, 0],
			series: [{}, ...this.spec.signals.map(([, label, colour], i) => ({label, stroke: () => tokenColour(colour), width: 1.5, dash: DASHES[i], points: {show: false},
				fill: i === 0 ? () => tokenColour(colour).replace('rgb(', 'rgba(').replace(')', ', 0.08)') : undefined}))],
			axes: [{...axis, grid: {show: false}, space: 56, size: 26, values: (_, splits, __, ___, step) => splits.map((s) => timeOfDay(s * 1000).slice(0, step >= 60 ? 5 : 8))},
				{...axis, size: 48, space: 30, values: (_, splits) => splits.map((v) => scaled(v, '', shortNumber))}],
			scales: {x: {range: () => this.panel.range()}, y: {range: () => [0, this.panel.topOf(this.spec)]}},
			cursor: {sync: {key: this.panel.sync.key}, drag: {x: true, y: false, setScale: false}, points: {size: 5}},
			hooks: {setSelect: [(plot) => this.onSelect(plot)], drawClear: [(plot) => this.drawGround(plot)], draw: [(plot) => this.drawMarks(plot)], setCursor: [(plot) => this.onCursor(plot)]},
		};
	}

	// history: PortHistory, or null while it is read.
	show(history, token) {
		const {signals, unit} = this.spec;
		setText(this.title, this.titleText());
		const counted = history !== null && signals.some(([key]) => history.values[key].some(isKnown));
		this.history = history;
		const isLost = history === null && this.panel.page.model.dead;
		this.box.hidden = isLost || (history !== null && !counted);
		this.reason.hidden = !this.box.hidden;
		setAttribute(this.element, 'data-uncounted', this.box.hidden ? 'yes' : null);
		if (this.box.hidden) {
			const {model} = this.panel.page;
			setText(this.reason, isLost ? `Not read before rocelet stopped answering, at ${clock(model.sampleMs())}.` : `${sentenceCase(model.missing(this.port, signals[0][0])[1])}.`);
			this.legend.replaceChildren();
			return;
		}
		if (history === null || !this.box.isConnected || this.drawn === token)
			return;
		this.drawn = token;
		const data = [history.times, ...signals.map(([key]) => history.values[key].map((v) => (v === null ? null : v * UNITS[unit].factor)))];
		this.plot ??= this.makePlot(data);
		this.fit();
		this.plot.setData(data);
		setAttribute(this.canvas, 'aria-label', this.sentence());
		this.showLegend();
	}

	makePlot(data) {
		const plot = new uPlot(this.options(this.width()), data, this.box);
		this.canvas = plot.root.querySelector('canvas');
		this.canvas.setAttribute('role', 'img');
		return plot;
	}

	width() {
		return Math.max(200, this.box.clientWidth);
	}

	fit() {
		if (this.plot && this.plot.width !== this.width())
			this.plot.setSize({width: this.width(), height: this.height});
	}

	// Values that are drawn as a line across, [name, value]; not those beyond the axis.
	levels() {
		const {rateBitsPerSecond} = this.port.facts;
		return [['Link', this.spec.line && isKnown(rateBitsPerSecond) ? rateBitsPerSecond / 1e9 : null], ...this.panel.limitsOf(this.spec)].filter(([, v]) => v !== null && v <= this.panel.topOf(this.spec));
	}

	titleText() {
		return this.spec.titleOf?.(this.port) ?? this.spec.title;
	}

	// The newest value in the shown range: the current one, or that at the end of the range that the user has chosen.
	endValue(key) {
		const fixed = this.panel.fixed();
		return fixed ? this.history.before(key, fixed[1]) : this.history.latest(key);
	}

	// The chart in a sentence, for screen readers.
	sentence() {
		const [from, to] = this.panel.range(), when = this.panel.fixed() ? 'at the end' : 'now';
		return `${this.titleText()}. ${this.spec.signals.map(([key, label]) => `${label}: ${when} ${withUnit(this.endValue(key), this.spec.unit)}, at most ${withUnit(this.history.greatest(key, from, to), this.spec.unit)}`).join('; ')}`;
	}

	// The time at the cursor, in unix seconds; null: there is no cursor.
	cursorTime() {
		return this.cursor === null ? null : this.history?.times[this.cursor] ?? null;
	}

	putCursor(time) {
		this.plot?.setCursor(time === null ? {left: -10, top: -10} : {left: this.plot.valToPos(time, 'x'), top: 0}, true, false);
	}

	cursorText() {
		const time = this.cursorTime();
		return time === null ? '' : `${timeOfDay(time * 1000)}: ${this.spec.signals.map(([key, label]) => `${label} ${withUnit(this.history.values[key][this.cursor], this.spec.unit)}`).join(', ')}`;
	}

	onCursor(plot) {
		this.cursor = plot.cursor.idx ?? null;
		if (this.history)
			this.showLegend();
	}

	// Shows the values at the cursor, or at the end of the range.
	showLegend() {
		const {spec, history, cursor} = this;
		const at = (key) => (cursor === null || history.times[cursor] === undefined ? this.endValue(key) : history.values[key][cursor]);
		morphChildren(this.legend, [...spec.signals.map(([key, label], i) => make('span', {}, make('span', {class: 'swatch', 'data-series': String(i + 1), 'aria-hidden': 'true'}), ` ${label} `, this.legendValue(key, at(key)))),
			...this.levels().map(([name, v]) => make('span', {}, make('span', {class: 'swatch', 'data-series': 'limit', 'aria-hidden': 'true'}), ` ${name} `, make('strong', {}, shortNumber(v))))]);
	}

	legendValue(key, v) {
		if (isKnown(v) || this.history.values[key].some(isKnown))
			return make('strong', {}, inUnit(v, this.spec.unit));
		return makeAbsent(...this.panel.page.model.missing(this.port, key));
	}

	onSelect(plot) {
		const {left, width} = plot.select;
		if (width < 5)
			return;
		const from = plot.posToVal(left, 'x'), to = plot.posToVal(left + width, 'x');
		plot.setSelect({left: 0, width: 0, top: 0, height: 0}, false);
		this.panel.zoom(from, to);
	}

	clipped(plot, draw) {
		const {ctx: context, bbox: {left, top, width, height}} = plot;
		context.save();
		context.beginPath();
		context.rect(left, top, width, height);
		context.clip();
		draw(context, left, top, width, height, window.devicePixelRatio || 1);
		context.restore();
	}

	// Draws the background: grey where there is no history, and verdicts as bands in the charts that they are about. The upper edge of the band is solid for an open verdict, dashed for an ended one.
	drawGround(plot) {
		this.clipped(plot, (context, left, top, width, height, ratio) => {
			const x = (s) => plot.valToPos(s, 'x', true), first = this.history.times[0];
			context.fillStyle = tokenColour('--sunk');
			if (first === undefined || x(first) > left)
				context.fillRect(left, top, first === undefined ? width : x(first) - left, height);
			for (const v of this.panel.verdictsOn(this.port)) {
				const from = x(Date.parse(v.onset) / 1000), to = v.ended ? x(Date.parse(v.ended) / 1000) : left + width;
				context.fillStyle = context.strokeStyle = this.panel.page.model.dead ? tokenColour('--quiet') : tokenColour(BAND_COLOURS[v.severity]);
				// A chart that the verdict is not about only gets a thin line at its onset.
				if (!this.isAbout(v)) {
					context.globalAlpha = 0.5;
					context.fillRect(from, top, ratio, height);
					context.globalAlpha = 1;
					continue;
				}
				context.globalAlpha = 0.1;
				context.fillRect(from, top, to - from, height);
				context.globalAlpha = 1;
				context.lineWidth = 3 * ratio;
				context.setLineDash(v.ended ? [3 * ratio, 3 * ratio] : []);
				context.beginPath();
				context.moveTo(from, top + 1.5 * ratio);
				context.lineTo(to, top + 1.5 * ratio);
				context.stroke();
			}
		});
	}

	// Throughput shows all: it is what a problem costs.
	isAbout(v) {
		const signals = verdictSignals(v);
		return this.spec.line === true || this.spec.signals.some(([key]) => signals.has(key));
	}

	drawMarks(plot) {
		this.clipped(plot, (context, left, top, width, height, ratio) => {
			context.strokeStyle = tokenColour('--edge');
			context.lineWidth = ratio;
			context.setLineDash([4 * ratio, 4 * ratio]);
			for (const [, v] of this.levels()) {
				const y = plot.valToPos(v, 'y', true);
				context.beginPath();
				context.moveTo(left, y);
				context.lineTo(left + width, y);
				context.stroke();
			}
			for (const e of this.panel.eventsOn(this.port)) {
				const x = plot.valToPos(Date.parse(e.last) / 1000, 'x', true), y = top + height;
				context.fillStyle = e.type === 'Warning' && !this.panel.page.model.dead ? tokenColour('--amber') : tokenColour('--edge');
				context.beginPath();
				context.moveTo(x - 4 * ratio, y);
				context.lineTo(x + 4 * ratio, y);
				context.lineTo(x, y - 6 * ratio);
				context.fill();
			}
		});
	}
}
