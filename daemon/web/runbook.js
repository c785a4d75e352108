// SPDX-License-Identifier: Apache-2.0
// runbook.js - the bar of the runbook: the switch of the theme, and the current tab in sight; and which causes are open on this node.

const PORTS_MOST = 4; // ports that a line names
const FRESH_MS = 3000; // a sample that is older is not what is true now

function showTab() {
	document.querySelector('header [aria-current]').scrollIntoView({block: 'nearest', inline: 'center'});
}

// Without the user name and password of the page's address: browsers do not fetch an address that contains credentials.
async function askLive() {
	const address = new URL('../api/v1/live?since=0&events=0&wait=0', location.href);
	address.username = address.password = '';
	const answer = await fetch(address, {cache: 'no-store', credentials: 'same-origin'});
	if (!answer.ok)
		throw new Error(String(answer.status));
	return answer.json();
}

function timeText(time) {
	return new Date(time).toLocaleTimeString('en-GB');
}

// {text, ports: verdicts to name, severity: of the worst, or null} of a cause; live: the daemon's document, or null if it does not answer. The list of verdicts has the worst only, so that a cause may be open though it is not in it.
function openState(live, cause) {
	const none = {ports: [], severity: null};
	if (!live)
		return {...none, text: 'Whether it is open on this node is not known: rocelet does not answer.'};
	if (!live.time)
		return {...none, text: 'Whether it is open on this node is not known: no sample is judged yet.'};
	const found = live.verdicts.filter((v) => v.cause === cause), isOld = live.nowMs - live.timeMs > Math.max(FRESH_MS, 3 * live.everyMs), isCut = live.verdicts.length < live.verdictCount;
	if (found.length === 0 && isCut)
		return {...none, text: `Not among the ${live.verdicts.length} worst of ${live.verdictCount} open problems at ${timeText(live.time)}.`};
	if (found.length === 0)
		return {...none, text: isOld ? `Whether it is open on this node is not known: no new sample since ${timeText(live.time)}.` : `No open problem of this cause on this node at ${timeText(live.time)}.`};
	const worst = found.reduce((a, b) => (b.level > a.level ? b : a));
	return {text: `${isOld ? 'Last known' : 'Open'} at ${timeText(live.time)} on ${isCut ? 'at least ' : ''}${found.length} ${found.length === 1 ? 'port' : 'ports'}:`, ports: found, severity: isOld ? null : worst.severity};
}

function makePort(v) {
	const link = document.createElement('a'), item = document.createElement('span'), name = `${v.device}/${v.port}`;
	link.href = `../#port/${encodeURIComponent(v.device)}/${v.port}`;
	link.textContent = name;
	item.append(' ', link, ` since ${timeText(v.onset)}${v.beforeStart ? ' or earlier' : ''}`);
	return item;
}

// The line of a cause's own document.
function showState(line, live) {
	const {text, ports, severity} = openState(live, line.dataset.cause);
	line.replaceChildren(text);
	ports.slice(0, PORTS_MOST).forEach((v, i) => line.append(i > 0 ? ',' : '', makePort(v)));
	if (ports.length > PORTS_MOST)
		line.append(`, and ${ports.length - PORTS_MOST} more`);
	line.dataset.severity = severity ?? '';
	line.hidden = false;
}

// In the contents, the causes that are open.
function markContents(live) {
	for (const link of document.querySelectorAll('.contents a')) {
		const {ports, severity} = openState(live, link.getAttribute('href').replace('#', ''));
		link.querySelector('.open')?.remove();
		if (!severity)
			continue;
		const mark = document.createElement('span');
		mark.className = 'open';
		mark.dataset.severity = severity;
		mark.textContent = ` ${ports.length} open`;
		link.append(mark);
	}
}

// Each line has its time, so it is read again only when the reader comes back.
async function showOpen() {
	const live = await askLive().catch(() => null), line = document.getElementById('open');
	if (line)
		showState(line, live);
	markContents(live);
}

document.addEventListener('DOMContentLoaded', () => {
	const button = document.getElementById('theme');
	button.hidden = false;
	button.addEventListener('click', switchTheme);
	addEventListener('resize', showTab);
	showTab();
	showOpen();
	document.addEventListener('visibilitychange', () => document.hidden || showOpen());
});
