// SPDX-License-Identifier: Apache-2.0
// search.js - finds ports, pods, pools and causes by any of their names, and lists the keyboard shortcuts.

const FOUND_MOST = 12;

// The ways in which a name matches the typed text, best first.
const FITS = [(name, word) => name === word, (name, word) => name.startsWith(word), (name, word) => name.includes(word)];

function compareLists(a, b) {
	const at = a.findIndex((v, i) => v !== b[i]);
	return at < 0 ? 0 : a[at] - b[at];
}

// The search words for the problems of a port, a pod or a pool.
function troubleWords({state, verdicts}) {
	return [STATES[state.kind]?.label, state.text, state.kind === 'ok' ? null : state.why, ...verdicts.flatMap((v) => [v.severity, v.cause, verdictTitle(v), v.sentence])];
}

class Search {
	constructor(page) {
		this.page = page;
		this.at = 0;
		this.found = [];
		this.input = make('input', {type: 'search', id: 'search-input', autocomplete: 'off', spellcheck: 'false', role: 'combobox', 'aria-expanded': 'true', 'aria-controls': 'search-list', 'aria-autocomplete': 'list', 'aria-label': 'Search',
			placeholder: 'Port, netdev, PCI, GUID, pod, IP, pool, cause, trouble', oninput: () => this.find(), onkeydown: (event) => this.onKey(event)});
		this.list = make('ul', {id: 'search-list', role: 'listbox', 'aria-label': 'found'});
		this.none = make('p', {class: 'quiet', role: 'status'});
		this.dialog = byId('search-dialog');
		this.dialog.append(this.input, this.list, this.none);
		this.dialog.addEventListener('click', (event) => { if (event.target === this.dialog) this.dialog.close(); });
	}

	open() {
		if (this.dialog.open)
			return;
		this.input.value = '';
		this.dialog.showModal();
		this.find();
	}

	// All entries that can be found: {is: type, text, names: own names, about, kind, href, words: other search words}
	things() {
		const {model} = this.page;
		return [
			...model.verdicts.map((v) => ({is: 'Problem', text: portKey(v), names: [v.cause, verdictTitle(v), v.sentence], about: sentenceCase(verdictSentence(v)), kind: v.severity, href: portLink(v), words: [portKey(v), v.device, v.netdev, v.function, v.severity, ...v.symptoms.map(causeTitle), ...model.podsOf(v).flatMap((pod) => [podKey(pod), pod.name])]})),
			...(model.ports ?? []).map((p) => ({is: 'Port', text: p.key, names: [p.key, p.facts.device], about: [p.facts.netdev, p.facts.pod && podKey(p.facts), p.state.text].filter(Boolean).join(', '), kind: p.state.kind, href: portLink(p.facts), words: [...portWords(p), ...troubleWords(p)]})),
			...(model.pods ?? []).map((pod) => ({is: 'Pod', text: pod.key, names: [pod.key, pod.name], about: pod.state.text, kind: pod.state.kind, href: podLink(pod), words: [...podWords(pod), ...troubleWords(pod)]})),
			...(model.resources ?? []).map((pool) => [pool, model.poolState(pool)]).map(([pool, state]) => ({is: 'Pool', text: pool.name, names: [pool.name, pool.name.slice(pool.name.lastIndexOf('/') + 1)], about: state.kind === 'ok' ? '' : state.text, kind: state.kind, href: placeLink(['pools'], {q: pool.name}), words: troubleWords({state, verdicts: []})})),
			...(model.documents.doctor?.findings ?? []).map((f) => ({is: 'Finding', text: sentenceCase(f.what), names: [f.kind, f.object], about: f.object ?? '', kind: findingState(model, f)?.kind ?? 'unhealthy', href: '#agent', words: [f.what, f.help]})),
			...[...new Set([...model.verdicts, ...model.ended].map((v) => v.cause))].map((cause) => ({is: 'Cause', text: cause, names: [cause, causeTitle(cause)], about: '', kind: 'info', href: placeLink(['ports'], {q: cause}), words: []})),
			...VIEWS.map(({word, title}) => ({is: 'View', text: title, names: [title], about: '', kind: null, href: `#${word}`, words: []})),
		];
	}

	// The rank of an entry: first names that equal the text, then names that begin with it, then names that contain it; among equal ones problems first, then own names
	// before other search words. Null: the entry matches neither the whole text nor each of its words.
	rank(thing, text) {
		const each = text.split(/\s+/), whole = this.fit(thing, text), fit = whole ?? (each.length > 1 && each.every((word) => this.fit(thing, word)) ? [FITS.length, 0] : null);
		return fit && [fit[0], stateRank(thing) < stateRank({kind: 'info'}) ? stateRank(thing) : STATE_ORDER.length, fit[1]];
	}

	// [index in FITS, 0: an own name matches, 1: another word matches]; null: nothing matches.
	fit(thing, word) {
		const lower = (names) => names.filter(isKnown).map((name) => String(name).toLowerCase()), own = lower(thing.names), others = lower(thing.words);
		const at = FITS.findIndex((fits) => own.some((name) => fits(name, word)) || others.some((name) => fits(name, word)));
		return at < 0 ? null : [at, own.some((name) => FITS[at](name, word)) ? 0 : 1];
	}

	find() {
		const word = this.input.value.trim().toLowerCase(), things = this.things();
		const ranked = word ? things.map((thing) => [this.rank(thing, word), thing]).filter(([rank]) => rank !== null) : things.filter((thing) => thing.is === 'Problem' || thing.is === 'View').map((thing, i) => [[i], thing]);
		ranked.sort((a, b) => compareLists(a[0], b[0]) || stateRank(a[1]) - stateRank(b[1]) || naturalOrder(a[1].text, b[1].text));
		this.found = ranked.slice(0, FOUND_MOST).map(([, thing]) => thing);
		this.at = 0;
		setText(this.none, word && this.found.length === 0 ? `Nothing on this node has “${shown(word)}” in its names or troubles.` : ranked.length > FOUND_MOST ? `${grouped(ranked.length - FOUND_MOST)} more` : '');
		this.showFound();
	}

	showFound() {
		morphChildren(this.list, this.found.map((thing, i) => make('li', {role: 'option', id: `found-${i}`, 'aria-selected': String(i === this.at), onclick: () => this.go(i)}, thing.kind && makeMark(thing.kind, false), make('strong', {}, cutName(thing.text)), make('span', {class: 'quiet'}, shown(thing.about)), make('span', {class: 'grow'}), make('small', {}, thing.is))));
		setAttribute(this.input, 'aria-activedescendant', this.found.length ? `found-${this.at}` : null);
		this.list.hidden = this.found.length === 0;
	}

	onKey(event) {
		const by = {ArrowDown: 1, ArrowUp: -1}[event.key];
		if (by && this.found.length) {
			event.preventDefault();
			this.at = (this.at + by + this.found.length) % this.found.length;
			this.showFound();
		} else if (event.key === 'Enter' && this.found.length) {
			event.preventDefault();
			this.go(this.at);
		} else if (event.key === 'Escape') { // at once: browsers would empty the input first
			event.preventDefault();
			this.dialog.close();
		}
	}

	go(i) {
		const {href} = this.found[i];
		this.dialog.close();
		location.hash = href;
	}
}

const KEYS = [['/ Ctrl-K', 'search'], ['j k', 'next, previous row'], ['← → ↑ ↓', 'VFs of the rails; tabs'], ['Enter', 'open or unfold'], ['1 to 7', 'views'], ['[ ]', 'previous, next port'], ['← →', 'values of a chart that has the focus'], ['Shift ← →', 'move in time'], ['+ − 0', 'zoom, and all of it again'],
	['Esc', 'close, clear, back to live'], ['t', 'light or dark'], ['?', 'these keys']];

// Single-key shortcuts can be disabled, for users of speech input (WCAG 2.1.4).
class Keys {
	constructor(page, search) {
		Object.assign(this, {page, search, dialog: byId('keys-dialog'), off: remembered('keys') === 'off'});
		document.addEventListener('keydown', (event) => this.onKey(event));
		this.dialog.addEventListener('click', (event) => { if (event.target === this.dialog) this.dialog.close(); });
	}

	help() {
		if (this.dialog.open)
			return;
		this.dialog.replaceChildren(make('h2', {id: 'keys-title'}, 'Keyboard shortcuts'), makeFacts(KEYS.map(([key, text]) => [key.split(' ').map((word) => (word === 'to' ? ' to ' : [make('kbd', {}, word), ' '])), sentenceCase(text)])),
			make('p', {}, make('label', {}, make('input', {type: 'checkbox', checked: !this.off, onchange: (event) => { this.off = !event.target.checked; remember('keys', this.off ? 'off' : 'on'); }}), ' Single keys')),
			makeButton('Close', () => this.dialog.close()));
		this.dialog.showModal();
	}

	step(by) {
		const rows = [...document.querySelectorAll('main [data-row]')], held = document.activeElement?.closest('[data-row]');
		const row = rows[Math.min(rows.length - 1, Math.max(0, held ? rows.indexOf(held) + by : 0))];
		(row?.matches('button') ? row : row?.querySelector('a, button'))?.focus();
	}

	onKey(event) {
		if ((event.ctrlKey || event.metaKey) && event.key === 'k') {
			event.preventDefault();
			this.search.open();
			return;
		}
		if (this.off || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || event.target.closest('input, textarea, select, dialog'))
			return;
		const acts = {'/': () => this.search.open(), '?': () => this.help(), j: () => this.step(1), k: () => this.step(-1), t: () => this.page.switchTheme(), '[': () => document.querySelector('[data-step="["]')?.click(), ']': () => document.querySelector('[data-step="]"]')?.click()};
		const act = acts[event.key] ?? (VIEWS[Number(event.key) - 1] && (() => { location.hash = `#${VIEWS[Number(event.key) - 1].word}`; }));
		if (act) {
			event.preventDefault();
			act();
		}
	}
}

// True if the text is not cut, so that its tooltip would only repeat it.
function isWhole(element) {
	const parts = [element, ...element.querySelectorAll('*'), element.closest('td, th')];
	return element.matches('.cut, .clip') && parts.every((part) => !part || part.scrollWidth <= part.clientWidth);
}

// The tooltip of the element under the pointer or with the focus: full names and reasons.
function followTips() {
	const tip = byId('tip');
	let holder = null;
	const hide = () => { tip.hidden = true; };
	const show = (event) => {
		const inside = event.type === 'focusin' && event.target.matches('a:focus-visible, button:focus-visible') ? event.target.querySelector('[data-tip]') : null;
		const held = event.target.closest?.('[data-tip]') ?? inside;
		if (!held || isWhole(held))
			return hide();
		holder = held;
		setText(tip, held.dataset.tip);
		tip.hidden = false;
		const box = held.getBoundingClientRect(), own = tip.getBoundingClientRect();
		tip.style.left = `${Math.max(4, Math.min(box.left, innerWidth - own.width - 4))}px`;
		tip.style.top = `${box.bottom + own.height + 6 > innerHeight ? Math.max(4, box.top - own.height - 4) : box.bottom + 4}px`;
	};
	document.addEventListener('mouseover', show);
	document.addEventListener('focusin', show);
	document.addEventListener('focusout', hide);
	document.addEventListener('rocelet-drawn', () => { if (holder && !holder.isConnected) hide(); });
	document.addEventListener('scroll', hide, {passive: true});
	document.addEventListener('keydown', (event) => { if (event.key === 'Escape') hide(); });
}
