// SPDX-License-Identifier: Apache-2.0
// events.js - the event log, newest first.

// The name of each event that is no verdict's. Its reason, as kubectl prints it, is in the tooltip.
const EVENT_WORDS = {
	Attached: 'Attached', AttachFailed: 'Attach failed', Returned: 'Returned', ReturnFailed: 'Return failed', Drift: 'Settings changed', Repaired: 'Settings repaired', Orphan: 'Device left behind', Adopted: 'Device without a record',
	RuntimeContradicted: 'Runtime contradicted', Unhealthy: 'Device unhealthy', Healthy: 'Device healthy again', AddressLeak: 'Address may be leaked', JournalBad: 'Journal damaged', HostNetwork: 'Pod in the host network',
	ConfigRefused: 'Configuration rejected', ConfigHeld: 'Configuration change held', Blind: 'Host namespaces not visible', NotReady: 'rocelet not ready', Ready: 'rocelet ready again',
	QueuePairFailed: 'Queue pair failed', ConnectionRejected: 'Connection rejected', ConnectionTimedOut: 'Connection timed out', ConnectionFailed: 'Connection failed',
	PortDown: 'Port down', PortActive: 'Port active', PortEvent: 'Port event', GidChanged: 'GIDs changed', DeviceFatal: 'Device failed', PfcChanged: 'PFC changed', EtsChanged: 'ETS changed', PriorityMapChanged: 'DSCP map changed',
	NicHealth: 'NIC reports an error', NicRecoveryAborted: 'NIC recovery aborted', TxTimeout: 'Transmit queue stuck',
};

const TOPICS = {
	diagnosis: /^Diagnosis/,
	devices: /Attach|Return|Drift|Repair|Orphan|Adopt|Device|Dirty/,
	network: /Link|Port|Pfc|Ets|Priority|Gid|Nic/,
	application: /QueuePair|Connection/,
	agent: /Config|Journal|Address|Kubelet|Runtime/,
};

// {cause, severity: null at the end} of a verdict's event; null for other events.
function eventVerdict(e) {
	const [, cause, severity] = /^Diagnosis/.test(e.reason) ? /^\S+ port \d+: ([a-z_]+)(?:(?:, | is now )(info|warning|critical)\b)?/.exec(e.message ?? '') ?? [] : [];
	return cause ? {cause, severity: severity ?? null} : null;
}

const EXPLAINED = /^\S+ port \d+: [a-z_]+ is (?:now )?(?:explained|absorbed) by ([a-z_]+\b)?/;

// Returns what the event's verdict did. A verdict that became a symptom of another one has not ended; nor has one whose port was removed or cannot be read.
function verdictChange(e) {
	if (e.reason === 'DiagnosisWorse')
		return `is now ${eventVerdict(e)?.severity ?? 'worse'}`;
	if (e.reason !== 'DiagnosisEnd')
		return 'found'; // a little later than the verdict's beginning, which is beside it
	const [isExplained, by] = EXPLAINED.exec(e.message) ?? [];
	return isExplained ? `now explained by ${by?.includes('_') ? lowerFirst(causeTitle(by)) : 'another cause'}` : / is over, the port was removed/.test(e.message) ? 'closed: port removed' : / is closed, /.test(e.message) ? 'closed: counters lost' : 'ended';
}

// Returns the rest of the event's message, without what verdictChange() shows. Names keep their letters.
function verdictDetail(e) {
	const rest = shown(e.message).replace(/^\S+ port \d+: [a-z_]+(, (info|warning|critical): | is (over(, the port was removed)?|closed, its counters are no longer visible|now (info|warning|critical)|(now )?(explained|absorbed) by (another cause|[a-z_]+( of [^,;]+)?))[,:;]? ?)/, '');
	return /^pods?: /.test(rest) ? rest.replace(/^pods: /, '') : sentenceCase(rest);
}

// The name of an event in all views: a verdict's is the cause and what became of it, as in "Packet loss found".
function eventTitle(e) {
	const verdict = eventVerdict(e);
	return verdict ? `${causeTitle(verdict.cause)} ${verdictChange(e)}` : troubleTitles(eventTroubles(e)) || (EVENT_WORDS[e.reason] ?? shown(e.reason));
}

// What the name and the pod beside it leave out.
function eventDetail(model, e) {
	const text = /^Config/.test(e.reason) ? configErrorText(configError(e.message)) : eventVerdict(e) ? inWords(verdictDetail(e)) : sentenceCase(eventMessage(model, e)), own = `; pods: ${podKey(e)}`;
	return text.endsWith(own) ? text.slice(0, -own.length) : text;
}

// The severity of the event's verdict or trouble; for other events a warning or null.
function eventKind(e) {
	return eventVerdict(e)?.severity ?? eventTroubles(e)[0]?.severity ?? (e.type === 'Warning' ? 'warning' : null);
}

// {pods: those that the event names, n: how many there are}
function eventPods(e) {
	const pods = e.pods?.length > 0 ? e.pods : e.pod ? [{namespace: e.namespace, name: e.pod}] : [], [, more] = / and (\d+) more/.exec(e.message ?? '') ?? [];
	return {pods, n: pods.length + (pods.length > 1 && more ? Number(more) : 0)};
}

function makeEventPods(e) {
	const {pods, n} = eventPods(e);
	return pods.length === 0 ? make('span', {class: 'zero'}, '–') : make('span', {class: 'stated'}, makePodLink(pods[0]), n > 1 && make('span', {class: 'quiet', 'data-tip': pods.map((pod) => shown(podKey(pod))).join(', ')}, `+${grouped(n - 1)}`));
}

// A repeated event updates its row.
function eventKey(e) {
	return JSON.stringify([e.type, e.reason, e.namespace, e.pod, e.device, e.message]);
}

function eventItems(events) {
	return events.map((event, i) => ({event, key: eventKey(event), place: i}));
}

// Keeps the newest events first, also those that arrive while the list is shown.
function eventEpoch(items) {
	return `${items.length} ${items.at(-1)?.event.last}`;
}

function eventTable(page) {
	return {keyOf: (item) => item.key, kindOf: ({event}) => eventKind(event), sort: '-time', columns: [
		{id: 'time', title: 'Time', get unit() { return zoneName(Date.now()); }, down: true, cell: ({event}) => [makeTime(Date.parse(event.last)), make('span', {class: 'quiet beside'}, `${ageText(page.model, event.last)} ago`)], sort: ({event, place}) => Date.parse(event.last) + place / 1e4},
		{id: 'reason', title: 'Event', cell: ({event}) => [makeMark(eventKind(event) ?? 'ended', eventKind(event) !== null), make('span', {class: eventKind(event) ? 'state' : null, 'data-kind': eventKind(event), 'data-tip': shown(event.reason)}, eventTitle(event)), event.count > 1 && make('span', {class: 'quiet'}, ` ×${scaledCount(event.count)}`)], sort: ({event}) => eventTitle(event)},
		{id: 'device', title: 'Device', cell: ({event}) => makeObjectLink(page.model, event.device), sort: ({event}) => event.device},
		{id: 'pod', title: 'Pod', cell: ({event}) => makeEventPods(event), sort: ({event}) => event.pod && `${event.namespace}/${event.pod}`},
		{id: 'message', title: 'Message', cell: ({event}) => make('span', {class: 'message', tabindex: '0', 'data-tip': eventMessage(page.model, event)}, eventDetail(page.model, event))},
	]};
}

class EventsView extends ListView {
	constructor(page) {
		super(page, {title: 'Events', ...eventTable(page), words: ({event}) => [event.reason, eventTitle(event), event.message, ...eventPods(event).pods.map(podKey), event.device, page.model.portByName.get(event.device)?.key, event.type],
			items: (model) => eventItems(model.store.events), epoch: eventEpoch, note: (model) => (model.store.startedMs === null ? '' : `since rocelet started at ${clock(model.store.startedMs)}`),
			filters: () => ({severity: PROBLEM_KINDS.map((kind) => ({value: kind, label: sentenceCase(STATES[kind].label), kind, test: ({event}) => eventKind(event) === kind})),
				topic: Object.entries(TOPICS).map(([value, reasons]) => ({value, label: sentenceCase(value), test: ({event}) => reasons.test(event.reason)}))}),
			missing: () => '', empty: () => ['No events', 'Events are kept since rocelet started.']});
		this.readAll();
	}

	// Reads all events: of those before the page was opened, the stream has only the newest.
	async readAll() {
		const {store} = this.page, started = store.startedMs;
		try {
			const all = await ask('api/v1/events');
			if (started === null || store.startedMs === started)
				store.takeOlderEvents(all);
		} catch {
			// The events of the stream remain.
		}
		this.page.show();
	}
}
