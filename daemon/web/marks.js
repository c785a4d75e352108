// marks.js - what happened, on the time axis: verdicts from onset to end, events at their time.

// Of a port: {from, to, kind, text}, times in unix seconds; to null: it lasts, or is a point in time.
function portMarks(store, facts) {
	const verdicts = store.verdicts.filter((v) => portKey(v) === portKey(facts)).map((v) => ({
		from: Date.parse(v.onset) / 1000, to: null, kind: v.severity, lasts: true, text: `${v.severity}: ${v.cause}`}));
	const events = store.events.filter((e) => e.device !== null && (e.device === facts.function || e.device === facts.device)).map((e) => ({
		from: Date.parse(e.last) / 1000, to: null, kind: e.type === 'Warning' ? 'warning' : 'info', lasts: false,
		text: `${e.reason}: ${shown(e.message)}${e.count > 1 ? ` (${e.count} times)` : ''}`}));
	return [...verdicts, ...events].sort((a, b) => a.from - b.from);
}

function markColour(kind) {
	return colour(kind === 'critical' ? '--bad' : kind === 'warning' ? '--warn' : '--muted');
}

// uPlot's draw hook.
function drawMarks(plot, marks) {
	const {ctx: context} = plot, {left, top, width, height} = plot.bbox;
	context.save();
	context.beginPath();
	context.rect(left, top, width, height);
	context.clip();
	for (const mark of marks) {
		const x = Math.round(plot.valToPos(mark.from, 'x', true));
		if (x > left + width)
			continue;
		context.fillStyle = context.strokeStyle = markColour(mark.kind);
		drawMark(context, mark, x, top, height, left + width);
	}
	context.restore();
}

// A verdict is a band with an edge, an event a dashed line with a triangle on top.
function drawMark(context, mark, x, top, height, right) {
	const ratio = window.devicePixelRatio || 1;
	if (mark.lasts) {
		context.globalAlpha = 0.12;
		context.fillRect(x, top, right - x, height);
		context.globalAlpha = 1;
	}
	context.lineWidth = ratio;
	context.setLineDash(mark.lasts ? [] : [3 * ratio, 3 * ratio]);
	context.beginPath();
	context.moveTo(x, top);
	context.lineTo(x, top + height);
	context.stroke();
	context.beginPath();
	context.moveTo(x - 4 * ratio, top);
	context.lineTo(x + 4 * ratio, top);
	context.lineTo(x, top + 6 * ratio);
	context.fill();
}
