// pods.js - which pod has which device, with its addresses, its traffic and what is wrong with it.

const POD_COLUMNS = [['pod'], ['container', 'wide'], ['resource', 'wide'], ['device'], ['interface'], ['addresses'], ['state'], ['received', 'number'],
	['sent', 'number'], ['what is wrong', 'trouble']];

// A row for each device of each container. ports: of the node, to know a device's traffic by.
function podItems(store, pods, ports) {
	const byDevice = new Map();
	for (const item of portItems(store, ports))
		for (const name of [item.facts.device, item.facts.function])
			if (name)
				byDevice.set(name, item);
	return pods.flatMap((pod) => pod.containers.flatMap((container) => container.devices.map((device) => ({
		key: JSON.stringify([pod.namespace, pod.name, container.name, device.resource, device.id]),
		pod, container: container.name, device, attachment: device.attachment,
		port: byDevice.get(device.attachment?.rdma ?? '') ?? byDevice.get(device.attachment?.function ?? '') ?? byDevice.get(device.id) ?? null,
	}))));
}

function fillPodRow(row, {pod}) {
	row.parts[0].append(make('a', {href: placeLink('pod', pod.namespace, pod.name)}, podName(pod)));
}

function attachmentText(attachment) {
	return attachment ? `${attachment.state}${attachment.error ? `: ${shown(attachment.error)}` : ''}` : 'given';
}

function updatePodRow(row, item) {
	const {attachment, device, port} = item;
	setCells(row, [null, shown(item.container), shown(device.resource), shown(device.id), attachment?.interface ? shown(attachment.interface) : '–',
		attachment?.ips.map(shown).join(', ') || '–', attachmentText(attachment), port ? bitRate(port.now.bytes_received) : UNKNOWN,
		port ? bitRate(port.now.bytes_sent) : UNKNOWN, port ? troubleText(port) : UNKNOWN]);
	setAttribute(row, 'data-severity', port?.verdicts[0]?.severity ?? null);
}

function podList(label, page) {
	return new List({label, columns: POD_COLUMNS, keyOf: (item) => item.key, create: fillPodRow, update: updatePodRow,
		words: ({pod, container, device, attachment}) => [`${pod.namespace}/${pod.name}`, container, device.resource, device.id, ...attachment?.ips ?? []]},
	() => page.show());
}

class PodsView {
	constructor(page) {
		this.page = page;
		this.list = podList('pods and their devices', page);
		this.element = make('section', {'aria-labelledby': 'pods-title'}, make('h2', {id: 'pods-title'}, 'Pods'), this.list.element);
	}

	show() {
		const pods = this.page.pods();
		this.list.show(podItems(this.page.store, pods ?? [], this.page.ports() ?? []), this.page.missing('api/v1/pods', pods, 'No pod has a device.'));
	}

	title() {
		return 'pods';
	}

	done() {}
}

// One pod: its devices, what is wrong with them, what happened with it.
class PodView {
	constructor(page, namespace, name) {
		Object.assign(this, {page, namespace, podName: name, name: podName({namespace, name})});
		this.list = podList(`devices of ${this.name}`, page);
		this.cards = make('div', {class: 'cards'});
		this.verdicts = new VerdictCards(this.cards);
		this.healthy = make('p', {});
		this.events = eventList(`events of ${this.name}`, page);
		this.element = make('div', {}, make('h2', {}, `Pod ${this.name}`),
			make('section', {'aria-label': 'what is wrong with it'}, make('h3', {}, 'What is wrong with it'), this.healthy, this.cards),
			make('section', {'aria-label': 'its devices'}, make('h3', {}, 'Devices'), this.list.element),
			make('section', {'aria-label': 'its events'}, make('h3', {}, 'Events'), this.events.element));
	}

	isOwn(pod) {
		return pod.namespace === this.namespace && (pod.name ?? pod.pod) === this.podName;
	}

	// What nobody looks at for this pod, in texts.
	unseen(pods, ports, items) {
		if (pods === null || ports === null)
			return ['its devices are not known'];
		if (items.length === 0)
			return ['it has no device here'];
		return items.map(({device, port}) => [device.id, port ? doubt(this.page.store, port.facts) : 'no port of it is known'])
			.filter(([, why]) => why).map(([id, why]) => `${shown(id)}: ${why}`);
	}

	show() {
		const {store} = this.page, pods = this.page.pods(), ports = this.page.ports();
		const items = podItems(store, (pods ?? []).filter((pod) => this.isOwn(pod)), ports ?? []);
		const keys = new Set(items.map((item) => item.port?.key));
		const verdicts = store.verdicts.filter((v) => v.pods.some((pod) => this.isOwn(pod)) || keys.has(portKey(v)));
		this.list.show(items, this.page.missing('api/v1/pods', pods, `${this.name} has no device on this node now.`));
		this.verdicts.show(verdicts);
		setText(this.healthy, seenText(store, verdicts, this.unseen(pods, ports, items)));
		this.events.show(eventItems(store.events.filter((e) => this.isOwn(e))), 'None.');
	}

	title() {
		return `pod ${this.name}`;
	}

	done() {}
}
