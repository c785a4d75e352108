// SPDX-License-Identifier: Apache-2.0
// counters.js - every counter of a port, with totals and rates. They are not part of the stream; the page polls them while they are shown.

const COUNTERS_READ_MS = 2000;

// Counters that equal a signal of the stream, so that their last 15 minutes are known.
const COUNTER_SIGNALS = {
	'roce_bytes_total{direction="received"}': 'bytes_received',
	'roce_bytes_total{direction="sent"}': 'bytes_sent',
	'roce_out_of_sequence_packets_total': 'out_of_sequence',
	'roce_sequence_nak_received_total': 'nak',
	'roce_ack_timeouts_total': 'timeouts',
};

// Counts are grouped by thousands; bytes, seconds and shares have their unit.
function counterTotal({value, unit}) {
	return unit === 'ratio' ? share(value) : unit === 's' ? `${digits(value)}${NBSP}s` : grouped(value);
}

function counterRate({rate, unit}) {
	return unit === 'B' ? bitRate(rate) : unit === 's' ? share(rate) : `${scaled(rate)}/s`;
}

const COUNTER_SHOWS = {
	moving: {label: 'Moving', test: (c) => c.rate > 0},
	counted: {label: 'Counted', test: (c) => c.value !== 0 && isKnown(c.value)},
	idle: {label: 'At 0', test: (c) => c.value === 0},
	unread: {label: 'Not readable', test: (c) => !isKnown(c.value)},
};

class CountersTab {
	constructor(page, device, port) {
		Object.assign(this, {page, key: `${device}/${port}`, path: `api/v1/counters?port=${encodeURIComponent(`${device}/${port}`)}`});
		this.table = new Table({label: 'counters', keyOf: (c) => `${c.name} ${c.ofDevice}`, sort: 'name', columns: [
			{id: 'counter', title: 'Counter', cell: (c) => [make('code', {'data-tip': shown(c.help)}, shown(c.name).replaceAll('_', '_\u200b')), c.ofDevice && make('span', {class: 'quiet beside'}, 'whole device')], sort: (c) => c.name},
			{id: 'total', title: 'Total', number: true, down: true, cell: (c) => this.number(c, c.value, counterTotal), sort: (c) => c.value},
			{id: 'rate', title: 'A second', number: true, down: true, cell: (c) => (c.type === 'gauge' ? makeAbsent('–', 'A gauge has no rate') : this.number(c, c.rate, counterRate)), sort: (c) => c.rate},
			{id: 'spark', get title() { return sparkTitle(page.model); }, cell: (c) => this.spark(c)},
		]}, (counterSort) => page.ask({counterSort}));
		this.input = make('input', {type: 'search', id: 'filter-counters', autocomplete: 'off', spellcheck: 'false', placeholder: 'Filter', 'aria-label': 'Filter counters', oninput: () => page.ask({cq: this.input.value.trim()}, true),
			onkeydown: (event) => { if (event.key === 'Escape' && this.input.value) { event.stopPropagation(); this.input.value = ''; page.ask({cq: ''}, true); } }});
		this.input.isOwn = true;
	}

	number(c, v, text) {
		if (!isKnown(v))
			return makeAbsent(UNKNOWN, isKnown(c.value) ? 'No rate: the counters of this port have just started over' : 'It could not be read with the newest sample');
		return make('span', {class: v === 0 ? 'zero' : 'value'}, v === 0 ? '0' : text(c));
	}

	spark(c) {
		const signal = COUNTER_SIGNALS[c.name], {model} = this.page, p = model.portByKey.get(this.key);
		return signal && p ? makeSpark(model, model.series([p], signal), [...p.ended, ...p.verdicts].filter((v) => v.firstSignal === signal)) : null;
	}

	// The counters to show: without those at 0, unless the user has chosen them or filters by name.
	chosen(all, words) {
		const show = COUNTER_SHOWS[this.page.query.counters], found = all.filter((c) => words.every((word) => `${c.name} ${c.help}`.toLowerCase().includes(word)));
		return show ? found.filter(show.test) : words.length > 0 || this.page.query.counters === 'all' ? found : found.filter((c) => c.value !== 0);
	}

	chips(all) {
		const {page} = this;
		return make('div', {class: 'chips', role: 'group', 'aria-label': 'counters shown'}, Object.entries(COUNTER_SHOWS).map(([value, {label, test}]) => {
			const n = all.filter(test).length, on = page.query.counters === value;
			return (n > 0 || on) && makeButton([label, make('span', {class: 'n'}, ` ${grouped(n)}`)], () => page.ask({counters: on ? '' : value}), {class: 'chip', 'aria-pressed': String(on)});
		}));
	}

	render() {
		const {page} = this, document = page.documents.get(this.path, [], COUNTERS_READ_MS), words = (page.query.cq ?? '').toLowerCase().split(/\s+/).filter(Boolean);
		if (document === null)
			return makeLoading(page.missing(this.path));
		if (globalThis.document.activeElement !== this.input && this.input.value !== (page.query.cq ?? ''))
			this.input.value = page.query.cq ?? '';
		const all = document.counters, wanted = this.chosen(all, words), folded = !page.query.counters && words.length === 0 ? all.length - wanted.length : 0;
		this.table.show(wanted, page.query.counterSort, `${page.query.counters} ${words}`);
		this.table.element.hidden = wanted.length === 0;
		return [make('div', {class: 'filters inside'}, this.input, this.chips(all), make('span', {class: 'quiet', role: 'status'}, this.note(document, wanted, all))), this.table.element,
			wanted.length === 0 && (words.length > 0 || page.query.counters ? makeEmpty(`No counters match${words.length ? ` “${shown(page.query.cq)}”` : ''}`, makeButton('Clear filters', () => page.ask({cq: '', counters: ''}))) : makeEmpty('No counter of this port has counted anything yet')),
			folded > 0 && makeButton(`Show ${count(folded, 'counter')} at 0`, () => page.ask({counters: 'all'}), {class: 'more'}),
			page.query.counters === 'all' && makeButton('Hide counters at 0', () => page.ask({counters: ''}), {class: 'more'})];
	}

	// The time of the numbers, and whether they could not be read again since.
	note(document, wanted, all) {
		const error = this.page.missing(this.path), isOld = this.page.documents.errorOf(this.path) !== null;
		return [`${grouped(wanted.length)} of ${grouped(all.length)}`, `read at ${clock(Date.parse(document.time))}`, `rates over ${span(document.overMs)}`, document.resets > 0 && `started over ${count(document.resets, 'time')}`, isOld && `not read again: ${shown(error)}`].filter(Boolean).join(', ');
	}

	done() {
		this.table.done();
	}
}
