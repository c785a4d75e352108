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

// Gives an element the attributes and children of another one, by as few changes as it takes: what is alike stays, and with it the focus, what is
// folded open and what is being read. Attributes that only the element has are its reader's.
function become(element, other) {
	for (const {name, value} of other.attributes)
		setAttribute(element, name, value);
	const wanted = [...other.childNodes];
	wanted.forEach((want, i) => {
		const is = element.childNodes[i];
		if (!is)
			element.append(want);
		else if (is.nodeName !== want.nodeName)
			is.replaceWith(want);
		else if (want.nodeType === Node.ELEMENT_NODE)
			become(is, want);
		else if (is.data !== want.data)
			is.data = want.data;
	});
	[...element.childNodes].slice(wanted.length).forEach((child) => child.remove());
}

// A list of elements that follows a list of items: each item keeps its element (by key), and with it focus and what is folded open.
class Rows {
	// create(item) makes an element, update(element, item) brings it up to date.
	constructor(parent, keyOf, create, update) {
		Object.assign(this, {parent, keyOf, create, update, elements: new Map()});
	}

	show(items) {
		const held = document.activeElement;
		this.drop(new Set(items.map((item) => this.keyOf(item))));
		let at = this.parent.firstElementChild;
		for (const item of items) {
			const element = this.element(item);
			this.update(element, item);
			if (element === at)
				at = at.nextElementSibling;
			else
				this.parent.insertBefore(element, at);
		}
		// What is moved loses it.
		if (held !== document.activeElement && this.parent.contains(held))
			held.focus({preventScroll: true});
	}

	element(item) {
		const key = this.keyOf(item);
		if (!this.elements.has(key))
			this.elements.set(key, this.create(item));
		return this.elements.get(key);
	}

	drop(kept) {
		for (const [key, element] of this.elements) {
			if (kept.has(key))
				continue;
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
