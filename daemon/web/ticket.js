// SPDX-License-Identifier: Apache-2.0
// ticket.js - a verdict as plain text, for a ticket or a chat: cause, port, onset, pods, evidence, next steps, and the command that shows it again.

const COPIED_MS = 3000;

// A line of evidence as rocectl prints it, in the unit of its limit.
function ticketEvidence(e) {
	const limit = isKnown(e.threshold) ? `, ${evidenceLimit(e)}` : '';
	return `  ${shown(e.name)}: ${evidenceText(e)}${limit}`;
}

// The page's address without the user name and password that it may have.
function ticketLink(v) {
	const address = new URL(location.href);
	address.username = address.password = '';
	address.hash = portLink(v);
	return address.href;
}

// All names of the verdict's port.
function ticketPlace(model, v) {
	const p = model.portByKey.get(portKey(v)), pci = v.function ?? p?.facts.function, netdev = v.netdev ?? p?.facts.netdev;
	return [`port ${shown(portKey(v))}`, netdev && `netdev ${shown(netdev)}`, pci && `PCI ${shown(pci)}`].filter(Boolean).join(', ');
}

function ticketPods(model, v) {
	const pods = model.podsOf(v), more = v.podCount - pods.length;
	const affected = pods.length > 0 ? `${pods.map((pod) => shown(podKey(pod))).join(', ')}${more > 0 ? ` and ${more} more` : ''}` : 'none known';
	return v.causedBy.length > 0 ? `${affected}; caused by ${v.causedBy.map((pod) => shown(podKey(pod))).join(', ')}` : affected;
}

function ticketText(model, v) {
	const {store} = model, ended = v.ended ? `, ${endOf(v).said} ${utcTip(Date.parse(v.ended))}` : model.dead ? ', not known now' : ', still open';
	return [`${v.severity.toUpperCase()}: ${sentenceCase(shown(verdictSentence(v)))}`,
		`Node:     ${shown(store.node)}`,
		`Where:    ${ticketPlace(model, v)}`,
		`Since:    ${utcTip(Date.parse(v.onset))}${ended}`,
		`As of:    ${utcTip(model.sampleMs())}`,
		`Cause:    ${v.cause}`,
		`Pods:     ${ticketPods(model, v)}`,
		'Evidence:', ...v.evidence.map(ticketEvidence),
		...v.firstMoved ? [`Moved first: ${shown(v.firstMoved)}`] : [],
		`Next steps: ${sentenceCase(shown(v.advice))}.`,
		`Ruled out if: ${sentenceCase(shown(v.disproof))}.`,
		`See again: rocectl diagnose ${v.device} (on ${shown(store.node)})`,
		`Page:     ${ticketLink(v)}`,
		`rocelet ${shown(store.version)}`].join('\n').replaceAll(NBSP, ' ').replaceAll('\u202f', ' ');
}

// Copies a text. False: the browser does not allow it, as on a page that came without TLS.
async function copyText(text) {
	try {
		await navigator.clipboard.writeText(text);
		return true;
	} catch {
		return false;
	}
}

// The buttons that copy a verdict. If the browser does not allow that, the text is shown and selected, to be copied by keyboard or mouse.
class Tickets {
	constructor(page) {
		Object.assign(this, {page, copied: null, open: null});
	}

	button(model, v, key) {
		return makeButton(this.copied === key ? 'Copied' : 'Copy for a ticket', () => this.copy(ticketText(model, v), key), {'data-ticket': key});
	}

	// text: the verdict at the moment when the button was pressed.
	async copy(text, key) {
		if (await copyText(text))
			this.showCopied(key);
		else
			this.show(text, key);
	}

	showCopied(key) {
		this.copied = key;
		this.open = null;
		this.page.announce('Copied');
		this.page.draw();
		setTimeout(() => { if (this.copied === key) { this.copied = null; this.page.show(); } }, COPIED_MS);
	}

	show(text, key) {
		const area = make('textarea', {readonly: true, rows: String(text.split('\n').length + 1), 'aria-label': 'text for a ticket', spellcheck: 'false'});
		area.value = text;
		area.isOwn = true;
		this.open = {key, area};
		this.page.afterShow(() => { area.focus(); area.select(); });
		this.page.draw();
		this.page.announce('Selected. Press Ctrl-C to copy.');
	}

	close(key) {
		this.open = null;
		this.page.draw();
		document.querySelector(`[data-ticket="${CSS.escape(key)}"]`)?.focus();
	}

	// The text of this verdict, if the user has to copy it.
	text(key) {
		return this.open?.key === key && make('div', {class: 'ticket', key: 'ticket', onkeydown: (event) => { if (event.key === 'Escape') { event.stopPropagation(); this.close(key); } }},
			make('p', {class: 'quiet'}, 'This browser does not let the page copy. The text is selected: Ctrl-C (or ⌘C) copies it.'), this.open.area, makeButton('Close', () => this.close(key)));
	}
}
