// SPDX-License-Identifier: Apache-2.0
// table.js - a table of any number of rows with a sortable, sticky head. Only visible rows are in the document.

const ROW_HEIGHT = 30;
const TALL_HEIGHT = 37; // of rows with a message of two lines
const OVERSCAN = 12; // rows beyond the window's edges
const NARROW = window.matchMedia('(max-width: 699px)'); // rows are blocks of any height there
const NARROW_ROWS = 100;
const SORT_MS = 10000; // between two sortings by values that change

// "-pause_sent": sorted by that column, descending.
function readSort(text) {
	return text ? {id: text.replace(/^-/, ''), down: text.startsWith('-')} : null;
}

function compareValues(a, b) {
	if (!isKnown(a) || !isKnown(b))
		return (isKnown(a) ? 0 : 1) - (isKnown(b) ? 0 : 1);
	return typeof a === 'number' && typeof b === 'number' ? a - b : naturalOrder(String(a), String(b));
}

// A click anywhere on a row follows the link in its first cell.
function openRow(event) {
	const row = event.target.closest('tr[data-row]');
	if (row && !event.target.closest('a, button, input, summary') && getSelection().isCollapsed)
		row.querySelector('th a')?.click();
}

class Table {
	// what: {label, columns, keyOf(item), kindOf(item), sort: default}. A column: {id, title, unit, cell(item), sort(item), down: greatest first, number, class, isOptional: left out while no row has it,
	// isUncounted(item): left out, and named below the table, while it is true of each row}.
	// onSort(text) is called with the order that the user has chosen.
	constructor(what, onSort) {
		Object.assign(this, {what, onSort, items: [], uncounted: [], places: new Map(), order: '', due: '', isWaiting: false, all: false, first: 0, last: -1, hovered: false});
		this.rowHeight = what.columns.some(({id}) => id === 'message') ? TALL_HEIGHT : ROW_HEIGHT;
		this.rows = new Map(); // key -> row in the document
		this.head = make('tr', {'aria-rowindex': '1'});
		this.above = make('tr', {class: 'spacer', 'aria-hidden': 'true'}, make('td')); // one cell: a colspan would also count hidden columns
		this.below = make('tr', {class: 'spacer', 'aria-hidden': 'true'}, make('td'));
		this.body = make('tbody', {onclick: openRow, onmouseover: () => { this.hovered = true; }, onmouseout: () => { this.hovered = false; }}, this.above, this.below);
		this.more = makeButton('', () => { this.all = true; this.place(true); }, {class: 'more'});
		this.table = make('table', {class: this.rowHeight === TALL_HEIGHT ? 'list tall' : 'list'}, make('caption', {class: 'unseen'}, what.label), make('thead', {}, this.head), this.body);
		this.element = make('div', {class: 'table'}, this.table, this.more);
		this.element.isOwn = true;
		this.onScroll = () => this.place(false);
		window.addEventListener('scroll', this.onScroll, {passive: true});
		window.addEventListener('resize', this.onScroll, {passive: true});
	}

	done() {
		window.removeEventListener('scroll', this.onScroll);
		window.removeEventListener('resize', this.onScroll);
	}

	// True while the reader points at a row or has the focus in one: no row moves then.
	isHeld() {
		return this.hovered || this.body.contains(document.activeElement);
	}

	// epoch: rows are put in order again when it changes, those sorted by numbers also every SORT_MS; else each stays where it is. While the table is held, it waits.
	show(items, sortText, epoch) {
		const sort = readSort(sortText) ?? readSort(this.what.sort);
		this.uncounted = this.what.columns.filter((c) => c.isUncounted && c.id !== sort.id && items.length > 0 && items.every(c.isUncounted));
		this.columns = this.what.columns.filter((c) => !this.uncounted.includes(c) && (!c.isOptional || items.some((item) => isKnown(c.sort(item)))));
		const column = this.what.columns.find((c) => c.id === sort.id && c.sort) ?? this.what.columns[0];
		const due = `${epoch} ${column.number ? Math.floor(Date.now() / SORT_MS) : ''}`, order = `${sort.id} ${sort.down}`;
		this.isWaiting = this.isHeld() && order === this.order && due !== this.due && this.places.size > 0;
		if (!this.isWaiting && (order !== this.order || due !== this.due || this.places.size === 0)) {
			[this.order, this.due] = [order, due];
			this.places = new Map(this.inOrder(items, column, sort.down).map((item, i) => [this.what.keyOf(item), i]));
		}
		const place = (item) => this.places.get(this.what.keyOf(item)) ?? Infinity;
		this.items = [...items].sort((a, b) => (place(a) === place(b) ? 0 : place(a) - place(b)));
		this.items.forEach((item) => { const key = this.what.keyOf(item); if (!this.places.has(key)) this.places.set(key, this.places.size); });
		this.showHead(column, sort.down);
		this.table.setAttribute('aria-rowcount', String(this.items.length + 1));
		this.place(true);
	}

	inOrder(items, column, down) {
		const keyed = items.map((item) => [column.sort(item), item]);
		keyed.sort((a, b) => {
			const unknown = compareValues(isKnown(a[0]) ? 0 : null, isKnown(b[0]) ? 0 : null);
			return unknown || (down ? -1 : 1) * compareValues(a[0], b[0]) || naturalOrder(this.what.keyOf(a[1]), this.what.keyOf(b[1]));
		});
		return keyed.map(([, item]) => item);
	}

	showHead(column, down) {
		const next = (c) => (c === column ? `${down ? '' : '-'}${c.id}` : `${c.down ? '-' : ''}${c.id}`);
		const arrow = (c, before) => c === column && make('span', {'aria-hidden': 'true'}, `${before}${down ? '↓' : '↑'} `); // in the shorter line
		morphChildren(this.head, this.columns.map((c) => make('th', {scope: 'col', class: this.classOf(c), 'aria-sort': c === column ? (down ? 'descending' : 'ascending') : null},
			c.sort ? makeButton([c.title, !(c.unit && c.number) && arrow(c, ' '), c.unit && make('small', {}, c.number === true && arrow(c, ''), c.unit)], () => this.onSort(next(c)), {'data-tip': c.about ?? null})
				: make('span', {}, c.title))));
	}

	classOf(column) {
		return [`c-${column.id}`, column.number ? 'number' : null, column.class].filter(Boolean).join(' ');
	}

	makeRow(item, index) {
		const kind = this.what.kindOf?.(item) ?? null;
		return make('tr', {'data-row': 'table', 'data-kind': kind, 'aria-rowindex': String(index + 2), class: index % 2 ? 'odd' : null}, this.columns.map((column, i) =>
			make(i === 0 ? 'th' : 'td', {scope: i === 0 ? 'row' : null, class: this.classOf(column), 'data-head': i === 0 ? null : `${column.title}${column.unit ? ` ${column.unit}` : ''}`}, i === 0 ? make('div', {class: 'first'}, column.cell(item)) : column.cell(item))));
	}

	// [first, last) of the items that are to be in the document.
	range() {
		const n = this.items.length;
		if (NARROW.matches)
			return [0, this.all ? n : Math.min(n, NARROW_ROWS)];
		const top = this.body.getBoundingClientRect().top, height = window.innerHeight;
		const first = Math.floor(-top / this.rowHeight) - OVERSCAN, last = Math.ceil((height - top) / this.rowHeight) + OVERSCAN;
		const begin = Math.max(0, Math.min(first - first % 2, n - 1));
		return [begin, Math.max(begin, Math.min(n, last))];
	}

	// fresh: all rows are made again; otherwise only those that have become visible.
	place(fresh) {
		if (!this.element.isConnected && !fresh)
			return;
		setAttribute(this.table, 'data-blocks', NARROW.matches ? 'yes' : null);
		const [first, last] = this.range();
		if (!fresh && first === this.first && last === this.last)
			return;
		[this.first, this.last] = [first, last];
		const kept = new Map(), wanted = [];
		for (let i = first; i < last; i++) {
			const item = this.items[i], key = this.what.keyOf(item), is = this.rows.get(key);
			const row = is && !fresh ? is : this.makeRow(item, i);
			if (is && fresh)
				morph(is, row);
			kept.set(key, is ?? row);
			wanted.push(is ?? row);
		}
		this.rows = kept;
		this.fill(wanted);
		const narrow = NARROW.matches;
		this.above.firstChild.style.height = `${narrow ? 0 : first * this.rowHeight}px`;
		this.below.firstChild.style.height = `${narrow ? 0 : (this.items.length - last) * this.rowHeight}px`;
		this.more.hidden = last >= this.items.length || !narrow;
		setText(this.more, `Show all ${grouped(this.items.length)}`);
	}

	fill(wanted) {
		const keep = new Set(wanted), held = document.activeElement;
		for (const row of [...this.body.children])
			if (row !== this.above && row !== this.below && !keep.has(row))
				row.remove();
		let at = this.above.nextSibling;
		for (const row of wanted) {
			if (row === at)
				at = at.nextSibling;
			else
				this.body.insertBefore(row, at);
		}
		if (held !== document.activeElement && this.body.contains(held))
			held.focus({preventScroll: true});
	}
}

// --- a view that is a list ----------------------------------------------------------------------

// A text that changes with the set of items in trouble. Items that are fine or idle are not included: they change too often to sort the rows again.
function troubleOf(items, keyOf) {
	return items.filter(({state}) => STATES[state.kind].filter !== 'ok' && STATES[state.kind].filter !== 'idle').map((item) => `${keyOf(item)} ${item.state.kind}`).sort().join();
}

// spec: {title, columns, keyOf, kindOf, sort, words(item): searchable texts, filters(model): {name: [{value, label, kind: of its mark, or 'worst', test(item)}]}, items(model): null while
// loading, epoch(items): rows are put in order again when it changes, note(model), isUnread(): true if the list is empty because its items cannot be read, empty(model): [title, line...], missing(): why there are no items yet}.
class ListView {
	constructor(page, spec) {
		Object.assign(this, {page, spec});
		this.table = new Table({label: spec.title.toLowerCase(), columns: spec.columns, keyOf: spec.keyOf, kindOf: spec.kindOf, sort: spec.sort}, (sort) => page.ask({sort}));
		const id = `filter-${spec.title.replace(/\W+/g, '-').toLowerCase()}`;
		this.input = make('input', {type: 'search', id, autocomplete: 'off', spellcheck: 'false', placeholder: 'Filter', 'aria-label': `Filter ${spec.title.toLowerCase()}`,
			oninput: () => page.ask({q: this.input.value.trim()}, true),
			onkeydown: (event) => { if (event.key === 'Escape' && this.input.value) { event.stopPropagation(); this.input.value = ''; page.ask({q: ''}, true); } }});
		this.input.isOwn = true;
	}

	matches(item, words) {
		const texts = this.spec.words(item).filter(isKnown).map((text) => String(text).toLowerCase());
		return words.every((word) => texts.some((text) => text.includes(word)));
	}

	chips(name, choices, items) {
		const {query} = this.page;
		return make('div', {class: 'chips', role: 'group', 'aria-label': name}, choices.some((choice) => choice.isShort) && make('span', {class: 'quiet'}, sentenceCase(name)), choices.map(({value, label, kind, test, isShort}) => {
			const chosen = items.filter(test), n = chosen.length, on = query[name] === value, mark = kind === 'worst' ? worstState(chosen.map(({state}) => state))?.kind : kind;
			return (n > 0 || on) && makeButton([mark && makeMark(mark, false), label, !isShort && make('span', {class: 'n'}, ` ${grouped(n)}`)], () => this.page.ask({[name]: on ? '' : value}), {class: 'chip', 'aria-pressed': String(on), 'aria-label': isShort ? `${name} ${label}, ${n}` : null});
		}));
	}

	render(model) {
		const {spec, page} = this, {query} = page, items = spec.items(model), filters = spec.filters?.(model) ?? {};
		const words = (query.q ?? '').toLowerCase().split(/\s+/).filter(Boolean);
		if (document.activeElement !== this.input && this.input.value !== (query.q ?? ''))
			this.input.value = query.q ?? '';
		const chosen = Object.entries(filters).map(([name, choices]) => choices.find((choice) => choice.value === query[name])).filter(Boolean);
		const wanted = (items ?? []).filter((item) => chosen.every((choice) => choice.test(item)) && this.matches(item, words));
		const isFiltered = chosen.length > 0 || words.length > 0;
		this.table.show(wanted, query.sort, `${page.store.epoch} ${this.ownEpoch(model, wanted)} ${chosen.map((c) => c.value)} ${words}`);
		return [make('header', {class: 'view-head'}, make('h1', {}, spec.title), items && !spec.isUnread?.() && make('span', {class: 'quiet'}, isFiltered ? `${grouped(wanted.length)} of ${grouped(items.length)}` : grouped(items.length)),
			spec.note?.(model) && make('span', {class: 'quiet'}, spec.note(model)), make('span', {class: 'quiet held', hidden: !this.table.isWaiting}, 'Order kept while you are in the table')),
		make('div', {class: 'filters'}, this.input, Object.entries(filters).map(([name, choices]) => this.chips(name, choices, items ?? []))),
		make('div', {class: 'panel flush'}, this.table.element, this.emptiness(model, items, wanted, isFiltered)), this.uncounted(items)];
	}

	// The columns that are left out.
	uncounted(items) {
		const {uncounted} = this.table;
		return items !== null && uncounted.length > 0 && make('p', {class: 'quiet uncounted'}, `Not counted on any port listed here: ${uncounted.map(({title}) => title).join(', ')}.`);
	}

	// Rows that are in the view's own order keep it while their states change; when all become unknown at once, each stays where it is.
	ownEpoch(model, wanted) {
		const own = readSort(this.spec.sort), sort = readSort(this.page.query.sort) ?? own;
		if (!model.dead || this.epoch === undefined)
			this.epoch = `${model.devices !== null} ${sort.id === own.id ? this.spec.epoch?.(wanted) ?? '' : ''}`;
		return this.epoch;
	}

	emptiness(model, items, wanted, isFiltered) {
		this.table.element.hidden = wanted.length === 0;
		if (items === null)
			return makeLoading(this.spec.missing());
		if (items.length === 0)
			return makeEmpty(...this.spec.empty(model));
		if (wanted.length === 0 && isFiltered)
			return makeEmpty(`No ${this.spec.title.toLowerCase()} match${this.page.query.q ? ` “${shown(this.page.query.q)}”` : ''}`,
				makeButton('Clear filters', () => this.page.clearFilters()));
		return null;
	}

	title() {
		return this.spec.title;
	}

	done() {
		this.table.done();
	}
}
