// list.js - a table of many rows: those that have a word in them, and of those as many as can be read.

const ROWS_AT_FIRST = 200;

class List {
	// what: {label, columns: [title, class], keyOf(item), create(item, cells) fills a new row's cells, update(row, item), words(item) to be found by}.
	constructor(what, onLook) {
		const {box, body} = makeTable(what.label, what.columns);
		const id = `filter-${what.label.replace(/\W+/g, '-')}`;
		Object.assign(this, {what, onLook, all: false});
		this.rows = new Rows(body, what.keyOf, (item) => this.makeRow(item), what.update);
		this.filter = make('input', {type: 'search', id, autocomplete: 'off', oninput: () => onLook()});
		this.controls = make('p', {class: 'controls'}, make('label', {for: id}, 'show those with '), this.filter);
		this.more = make('button', {type: 'button', hidden: true, onclick: () => { this.all = true; onLook(); }});
		this.none = make('p', {hidden: true});
		this.box = box;
		this.element = make('div', {}, this.controls, this.none, box, this.more);
	}

	makeRow(item) {
		const cells = this.what.columns.map(([, kind], i) => make(i === 0 ? 'th' : 'td', {scope: i === 0 ? 'row' : null, class: kind || null}));
		const row = make('tr', {}, cells);
		row.parts = cells;
		this.what.create(row, item);
		return row;
	}

	isWanted(item, word) {
		return this.what.words(item).some((text) => isKnown(text) && String(text).toLowerCase().includes(word));
	}

	// Items in the order in which they are to stand. empty: what is said where there are none.
	show(items, empty) {
		const word = this.filter.value.trim().toLowerCase();
		const wanted = word ? items.filter((item) => this.isWanted(item, word)) : items;
		this.rows.show(this.all ? wanted : wanted.slice(0, ROWS_AT_FIRST));
		this.more.hidden = this.all || wanted.length <= ROWS_AT_FIRST;
		setText(this.more, `all ${wanted.length}`);
		this.none.hidden = wanted.length > 0;
		this.box.hidden = wanted.length === 0;
		setText(this.none, items.length > 0 ? 'None has that in it.' : empty);
	}
}

// Texts into the cells of a row, from the first one on; null leaves a cell as it is.
function setCells(row, texts) {
	texts.forEach((text, i) => text !== null && setText(row.parts[i], text));
}

// A choice beside the filter. choices: {value: text}.
function addChoice(list, label, choices, onChoice) {
	const id = `choice-${list.what.label.replace(/\W+/g, '-')}`;
	list.controls.append(make('label', {for: id}, label), make('select', {id, onchange: (event) => onChoice(event.target.value)},
		Object.entries(choices).map(([value, text]) => make('option', {value}, text))));
}
