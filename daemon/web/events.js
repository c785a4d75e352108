// SPDX-License-Identifier: Apache-2.0
// events.js - the event log, newest first.

const TOPICS = {
	diagnosis: /^Diagnosis/,
	devices: /Attach|Return|Drift|Repair|Orphan|Adopt|Device|Dirty/,
	network: /Link|Port|Pfc|Ets|Priority|Gid|Nic/,
	application: /QueuePair|Connection/,
	agent: /Config|Journal|Address|Kubelet|Runtime/,
};

// A repeated event updates its row.
function eventKey(e) {
	return JSON.stringify([e.type, e.reason, e.namespace, e.pod, e.device, e.message]);
}

function eventItems(events) {
	return events.map((event, i) => ({event, key: eventKey(event), place: i}));
}

// The newest come first, also those that come while it is shown.
function eventEpoch(items) {
	return `${items.length} ${items.at(-1)?.event.last}`;
}

function eventTable(page) {
	return {keyOf: (item) => item.key, kindOf: ({event}) => (event.type === 'Warning' ? 'warning' : null), sort: '-time', columns: [
		{id: 'time', title: 'Time', down: true, cell: ({event}) => [makeTime(Date.parse(event.last)), make('span', {class: 'quiet beside'}, `${ageText(page.model, event.last)} ago`)], sort: ({event, place}) => Date.parse(event.last) + place / 1e4},
		{id: 'reason', title: 'Reason', cell: ({event}) => [event.type === 'Warning' && makeMark('warning'), make(event.type === 'Warning' ? 'strong' : 'span', {}, shown(event.reason)), event.count > 1 && make('span', {class: 'quiet'}, ` ×${scaled(event.count)}`)], sort: ({event}) => event.reason},
		{id: 'device', title: 'Device', cell: ({event}) => makeObjectLink(page.model, event.device), sort: ({event}) => event.device},
		{id: 'pod', title: 'Pod', cell: ({event}) => (event.pod ? makePodLink({namespace: event.namespace, name: event.pod}) : make('span', {class: 'zero'}, '–')), sort: ({event}) => event.pod && `${event.namespace}/${event.pod}`},
		{id: 'message', title: 'Message', cell: ({event}) => make('span', {class: 'message', tabindex: '0', 'data-tip': shown(event.message)}, shown(event.message))},
	]};
}

class EventsView extends ListView {
	constructor(page) {
		super(page, {title: 'Events', ...eventTable(page), words: ({event}) => [event.reason, event.message, `${event.namespace}/${event.pod}`, event.device, page.model.portByName.get(event.device)?.key, event.type],
			items: (model) => eventItems(model.store.events), epoch: eventEpoch, note: (model) => (model.store.startedMs === null ? '' : `since rocelet started at ${clock(model.store.startedMs)}`),
			filters: () => ({type: [{value: 'Warning', label: 'Warnings', kind: 'warning', test: ({event}) => event.type === 'Warning'}],
				topic: Object.entries(TOPICS).map(([value, reasons]) => ({value, label: sentenceCase(value), test: ({event}) => reasons.test(event.reason)}))}),
			missing: () => '', empty: () => ['No events', 'Events are kept since rocelet started.']});
		this.readAll();
	}

	// The stream has only the newest of those before the page was opened.
	async readAll() {
		const {store} = this.page, started = store.startedMs;
		try {
			const all = await ask('api/v1/events');
			if (store.startedMs === started)
				store.takeOlderEvents(all);
		} catch {
			// Those of the stream remain.
		}
		this.page.show();
	}
}
