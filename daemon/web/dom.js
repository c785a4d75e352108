// SPDX-License-Identifier: Apache-2.0
// dom.js - creates and updates elements. Text from the node is never parsed as markup.

const SVG_TAGS = new Set(['svg', 'g', 'path', 'rect', 'line', 'circle', 'polygon']);
const HANDLERS = ['onclick', 'oninput', 'onkeydown', 'onchange', 'onmouseover', 'onmouseout', 'ontoggle', 'onfocusin', 'onsubmit'];

// Creates an element. Attributes that are null or false are omitted; "onclick" and the like are handlers. `style` is an object of CSS properties: the CSP forbids
// style attributes, but allows the CSSOM. `key` identifies the element among its siblings for morph(). Children are elements and texts; null and false are skipped.
function make(tag, attributes = {}, ...children) {
	const element = SVG_TAGS.has(tag) ? document.createElementNS('http://www.w3.org/2000/svg', tag) : document.createElement(tag);
	for (const [name, value] of Object.entries(attributes)) {
		if (value === null || value === undefined || value === false)
			continue;
		if (name === 'key' || name.startsWith('on'))
			element[name] = value;
		else if (name === 'style')
			Object.entries(value).forEach(([property, text]) => element.style.setProperty(property, text));
		else
			element.setAttribute(name, value === true ? '' : value);
	}
	element.append(...nodesOf(children));
	return element;
}

function nodesOf(children) {
	return children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false && child !== '').map((child) => (child.isOwn ? slotFor(child) : child));
}

// A placeholder for an element that updates itself. Such an element must stay in the document while its view is rebuilt, or it loses focus and scroll position.
function slotFor(element) {
	const slot = document.createComment('');
	slot.holds = element;
	return slot;
}

// Replaces placeholders by their elements in a newly built part of the document.
function fillSlots(root) {
	const walker = document.createTreeWalker(root, NodeFilter.SHOW_COMMENT), slots = [];
	while (walker.nextNode())
		slots.push(walker.currentNode);
	slots.filter((slot) => slot.holds).forEach((slot) => slot.replaceWith(slot.holds));
}

function byId(id) {
	return document.getElementById(id);
}

// Changes the document only if the text differs.
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

// Makes an element equal to another one with as few changes as possible. Equal parts are kept, and with them focus, selection and unfolded parts.
// An element with `isOwn` updates itself: it is not changed, and not moved if it is in the right place.
function morph(element, other) {
	for (const {name, value} of other.attributes)
		if (name !== 'style')
			setAttribute(element, name, value);
	for (const {name} of [...element.attributes])
		if (name !== 'style' && name !== 'open' && !other.hasAttribute(name))
			element.removeAttribute(name);
	if (element.style.cssText !== other.style.cssText)
		element.style.cssText = other.style.cssText;
	for (const handler of HANDLERS)
		if (element[handler] !== other[handler])
			element[handler] = other[handler];
	morphChildren(element, [...other.childNodes]);
}

// The child to turn into `want`: `want` itself, the child with its key, or the next child with the same tag.
function counterpart(element, at, keyed, want) {
	if (want.holds)
		return want.holds;
	if (want.key !== undefined)
		return keyed.get(want.key) ?? null;
	return at && !at.isOwn && at.key === undefined && at.nodeName === want.nodeName ? at : null;
}

function morphChildren(element, wanted) {
	const held = document.activeElement;
	const keyed = new Map([...element.childNodes].filter((child) => child.key !== undefined).map((child) => [child.key, child]));
	let at = element.firstChild;
	for (const want of wanted) {
		const is = counterpart(element, at, keyed, want) ?? want;
		if (is !== at)
			element.insertBefore(is, at);
		else
			at = at.nextSibling;
		if (is === want)
			fillSlots(is);
		if (is === want || is.isOwn)
			continue;
		if (want.nodeType === Node.ELEMENT_NODE)
			morph(is, want);
		else if (is.data !== want.data)
			is.data = want.data;
	}
	while (at) {
		const next = at.nextSibling;
		at.remove();
		at = next;
	}
	// A moved element loses the focus.
	if (held !== document.activeElement && held !== document.body && element.contains(held))
		held.focus({preventScroll: true});
}
