// SPDX-License-Identifier: Apache-2.0
// problem_chart.js - the chart of what moved first, of each unfolded problem: always the last 15 minutes.

const PROBLEM_CHART_HEIGHT = 136;

function firstMovedChart(v) {
	const {title, unit} = SIGNALS[v.firstSignal], main = mainEvidence(v), isOfIt = EVIDENCE_TITLES.some(([pattern, , signal]) => signal === v.firstSignal && pattern.test(main?.name ?? ''));
	return {key: v.cause, title: `Moved first: ${title}`, unit, least: {bits: 1, share: 1, events: 10}[unit], signals: [[v.firstSignal, title, '--s1']], limit: isOfIt ? main.threshold : null};
}

class ProblemChart extends HistoryPanel {
	fixed() {
		return null;
	}

	minutes() {
		return HISTORY_S / 60;
	}

	zoom() {}

	goLive() {}
}

class ProblemCharts {
	constructor(page) {
		Object.assign(this, {page, panels: new Map()});
	}

	elements(v, p, events) {
		const key = problemKey(v), panel = this.panels.get(key) ?? new ProblemChart(this.page, [firstMovedChart(v)], PROBLEM_CHART_HEIGHT);
		this.panels.set(key, Object.assign(panel, {ports: [p], verdicts: [v], events}));
		return panel.chartsOf(p).map((chart) => chart.element);
	}

	// Once the page is drawn. A chart that is not on it any more ends.
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
