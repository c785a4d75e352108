// spark.js - a small drawing of what a port did in the last quarter of an hour: bytes both ways, and a mark where it was paused or lost something. The
// numbers stand beside it, so it is hidden from who cannot see it.

const SPARK_WIDTH = 160;
const SPARK_HEIGHT = 26;
const TROUBLE = {pause_received: 0.01, pause_sent: 0.01, discards: 0, out_of_sequence: 0, nak: 0, timeouts: 0, failed: 0};

function colour(name) {
	return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function makeSpark() {
	const ratio = window.devicePixelRatio || 1;
	return make('canvas', {class: 'spark', width: SPARK_WIDTH * ratio, height: SPARK_HEIGHT * ratio, 'aria-hidden': 'true'});
}

function sparkLine(context, history, signal, x, y) {
	let drawing = false;
	context.beginPath();
	history.values[signal].forEach((v, i) => {
		if (v === null) {
			drawing = false;
			return;
		}
		if (drawing)
			context.lineTo(x(history.times[i]), y(v));
		else
			context.moveTo(x(history.times[i]), y(v));
		drawing = true;
	});
	context.stroke();
}

function sparkMarks(context, history, x, height) {
	context.fillStyle = colour('--bad');
	for (const [signal, limit] of Object.entries(TROUBLE))
		history.values[signal]?.forEach((v, i) => {
			if (v !== null && v > limit)
				context.fillRect(x(history.times[i]), height - 3, 1.5, 3);
		});
}

// now: unix seconds, where the drawing ends.
function drawSpark(canvas, history, now) {
	const context = canvas.getContext('2d');
	const {width, height} = canvas;
	const greatest = Math.max(1, history.greatest('bytes_received') ?? 0, history.greatest('bytes_sent') ?? 0);
	const begin = history.begin(now);
	const x = (time) => (time - begin) / (now - begin) * width;
	const y = (v) => height - 4 - v / greatest * (height - 6);
	context.clearRect(0, 0, width, height);
	context.lineWidth = width / SPARK_WIDTH;
	context.strokeStyle = colour('--first');
	sparkLine(context, history, 'bytes_received', x, y);
	context.strokeStyle = colour('--second');
	sparkLine(context, history, 'bytes_sent', x, y);
	sparkMarks(context, history, x, height);
}
