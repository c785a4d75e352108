// SPDX-License-Identifier: Apache-2.0
// problem_chart.js - the chart of the number that each unfolded problem is judged by: always the last 15 minutes.

const PROBLEM_CHART_HEIGHT = 136;

const EVIDENCE_UNITS = {bits: 'B/s', share: 'ratio', events: '1/s'};

// The chart of a verdict, with its limit if that has the unit of the chart, or is a share of the line: a share of packets is no constant rate.
function problemChart(v, rate) {
	const signal = mainSignal(v), {title, unit} = SIGNALS[signal];
	const limit = v.evidence.filter((e) => e.unit === EVIDENCE_UNITS[unit] || SHARE_OF_LINE.test(e.name)).map((e) => inChartUnit(v, e, rate)).find((e) => isKnown(e.threshold) && e.threshold > 0 && e.unit === EVIDENCE_UNITS[unit] && evidenceSignal(e.name) === signal)?.threshold ?? null;
	return {key: v.cause, title, unit, least: {bits: 1, share: 1, events: 10}[unit], signals: [[signal, title, '--s1']], limit};
}

class ProblemChart extends HistoryPanel {
	fixed() {
		return null;
	}

	asked() {
		return null;
	}

	zoom() {}

	goLive() {}
}

class ProblemCharts {
	constructor(page) {
		Object.assign(this, {page, panels: new Map()});
	}

	elements(v, p, events) {
		const key = problemKey(v), panel = this.panels.get(key) ?? new ProblemChart(this.page, [problemChart(v, p.facts.rateBitsPerSecond)], PROBLEM_CHART_HEIGHT);
		this.panels.set(key, Object.assign(panel, {ports: [p], verdicts: [v], events}));
		panel.specs[0].limit = problemChart(v, p.facts.rateBitsPerSecond).limit; // limits are lower while a verdict is open
		return panel.chartsOf(p).map((chart) => chart.element);
	}

	// Draws the charts; call it once the page is drawn. Removes charts that are not on the page any more.
	show() {
		for (const [key, panel] of this.panels) {
			if (panel.all().some((chart) => chart.element.isConnected)) {
				panel.draw();
				continue;
			}
			panel.done();
			this.panels.delete(key);
		}
	}
}
