// events.js - the log of events, the newest first, as they come.

const EVENT_COLUMNS = [['when'], ['what', 'trouble'], ['message'], ['pod', 'wide'], ['device', 'wide'], ['times', 'number']];

// The newest first. An event that comes again is the same row, which moves up.
function eventItems(events) {
	return events.map((event) => ({event, key: JSON.stringify([event.type, event.reason, event.namespace, event.pod, event.device, event.message])})).reverse();
}

function updateEventRow(row, {event}) {
	const utc = event.last;
	if (row.at !== utc) {
		row.parts[0].replaceChildren(makeTime(Date.parse(utc)));
		row.at = utc;
	}
	setCells(row, [null, `${event.type === 'Warning' ? '▲ ' : ''}${shown(event.reason)}`, shown(event.message),
		event.pod ? podName({namespace: event.namespace, name: event.pod}) : '–', event.device ? shown(event.device) : '–', String(event.count)]);
	setAttribute(row, 'data-severity', event.type === 'Warning' ? 'warning' : null);
}

function eventList(label, page) {
	return new List({label, columns: EVENT_COLUMNS, keyOf: (item) => item.key, create: () => {}, update: updateEventRow,
		words: ({event}) => [event.reason, event.message, `${event.namespace}/${event.pod}`, event.device, event.type]}, () => page.show());
}

class EventsView {
	constructor(page) {
		this.page = page;
		this.list = eventList('events', page);
		this.element = make('section', {'aria-labelledby': 'events-title'}, make('h2', {id: 'events-title'}, 'Events'), this.list.element);
		this.readAll();
	}

	// The stream tells only the newest of those that were there before the page.
	async readAll() {
		const {store} = this.page, started = store.startedMs;
		try {
			const all = await ask('api/v1/events');
			if (store.startedMs === started)
				store.takeOlderEvents(all);
		} catch {
			// What the stream tells stays.
		}
		this.page.show();
	}

	show() {
		this.list.show(eventItems(this.page.store.events), 'Nothing has happened since rocelet began.');
	}

	title() {
		return 'events';
	}

	done() {}
}
