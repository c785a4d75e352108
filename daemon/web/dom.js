// dom.js - elements made of text: what comes from the node is never markup, only text.

// An element. Attributes that are null or false are left out; "onclick" and the like are listeners. Children are elements and texts, null is nothing.
function make(tag, attributes = {}, ...children) {
	const element = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes)) {
		if (name.startsWith('on'))
			element.addEventListener(name.slice(2), value);
		else if (value !== null && value !== undefined && value !== false)
			element.setAttribute(name, value === true ? '' : value);
	}
	element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
	return element;
}

function byId(id) {
	return document.getElementById(id);
}

// Touches the document only if there is something new.
function setText(element, text) {
	if (element.textContent !== text)
		element.textContent = text;
}

function setAttribute(element, name, value) {
	if (value === null)
		element.removeAttribute(name);
	else if (element.getAttribute(name) !== value)
		element.setAttribute(name, value);
}

// A list of elements that follows a list of items: each item keeps its element (by key), and with it focus and what is folded open.
class Rows {
	// create(item) makes an element, update(element, item) brings it up to date.
	constructor(parent, keyOf, create, update) {
		Object.assign(this, {parent, keyOf, create, update, elements: new Map()});
	}

	show(items) {
		const gone = new Map(this.elements);
		let at = this.parent.firstElementChild;
		for (const item of items) {
			const key = this.keyOf(item);
			let element = this.elements.get(key);
			if (!element) {
				element = this.create(item);
				this.elements.set(key, element);
			}
			gone.delete(key);
			this.update(element, item);
			if (element === at)
				at = at.nextElementSibling;
			else
				this.parent.insertBefore(element, at);
		}
		for (const [key, element] of gone) {
			element.remove();
			this.elements.delete(key);
		}
	}
}

// A table in a box that scrolls sideways where it is too wide, also by keyboard. columns: [title, class].
function makeTable(label, columns) {
	const body = make('tbody');
	const head = make('tr', {}, columns.map(([title, kind]) => make('th', {scope: 'col', class: kind || null}, title)));
	const table = make('table', {}, make('caption', {class: 'unseen'}, label), make('thead', {}, head), body);
	return {box: make('div', {class: 'scroll', role: 'region', tabindex: '0', 'aria-label': `table of ${label}`}, table), body};
}
