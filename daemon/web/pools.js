// SPDX-License-Identifier: Apache-2.0
// pools.js - the pools registered with the kubelet: capacity, free devices, and why devices cannot be allocated.

// What is known of a device: its port's state, for a device that is allocated is not therefore fine.
function deviceKind(model, device, r) {
	const p = model.portByName.get(device.id);
	return p ? p.state.kind : model.dead ? 'unknown' : r.healthy === false ? 'unhealthy' : r.state === 'free' ? 'idle' : 'unknown';
}

// Unhealthy ones first, then those that are free.
function deviceRank(r) {
	return r.healthy === false ? 0 : r.state === 'free' ? 1 : 2;
}

function poolDevices(page, model, pool) {
	const devices = model.devicesOf(pool.name) ?? [];
	if (pool.shared)
		return make('p', {}, `${count(pool.devices, 'slot')} of shared devices. `, make('a', {href: placeLink(['pods'], {q: pool.name})}, 'Pods that have one'));
	if (devices.length === 0)
		return null;
	const unfolded = page.unfolded.has(`pool ${pool.name}`);
	return [make('p', {}, makeButton(count(devices.length, 'device'), () => page.unfold(`pool ${pool.name}`), {class: 'link', 'aria-expanded': String(unfolded)})),
		unfolded && make('ul', {class: 'pool-devices'}, devices.map((device) => ({device, r: device.resources.find((one) => one.resource === pool.name)})).sort((a, b) => deviceRank(a.r) - deviceRank(b.r)).map(({device, r}) => {
			return make('li', {key: device.id}, makeMark(deviceKind(model, device, r)), ' ', makeObjectLink(model, device.id), ' ', r.holder ? makePodLink({namespace: r.holder.namespace, name: r.holder.pod}) : make('span', {class: 'quiet'}, r.healthy === false ? sentenceCase(shown(device.why)) : sentenceCase(shown(r.state))));
		}))];
}

function makePool(page, model, pool) {
	const state = model.poolState(pool), number = (title, text) => make('div', {}, make('p', {class: 'quiet'}, title), make('p', {class: model.dead ? 'big quiet' : 'big'}, text));
	const explained = state.kind !== 'ok' && state.kind !== 'unhealthy';
	return make('section', {class: 'panel pool', key: pool.name, 'aria-label': shown(pool.name)}, make('header', {}, make('h2', {}, makeMark(state.kind), ' ', make('span', {class: 'prefix'}, shown(pool.name.slice(0, pool.name.lastIndexOf('/') + 1))), make('bdi', {}, shown(pool.name.slice(pool.name.lastIndexOf('/') + 1)))),
		pool.shared && make('span', {class: 'quiet'}, 'shared'), make('span', {class: 'grow'}), makeState(state)),
	explained && make('p', {class: 'quiet'}, `${sentenceCase(shown(state.why))}.`),
	pool.devices > 0 && [make('div', {class: 'numbers'}, number('Total', grouped(pool.devices)), number('Healthy', grouped(pool.healthy)), number('Allocated', grouped(pool.allocated)), number('Available', model.dead ? '?' : availableText(model, pool))), poolBar(model, pool)],
	poolDevices(page, model, pool));
}

class PoolsView {
	constructor(page) {
		this.page = page;
	}

	render(model) {
		const {page} = this, word = (page.query.q ?? '').toLowerCase(), all = model.resources, pools = (all ?? []).filter((pool) => pool.name.toLowerCase().includes(word));
		return [make('header', {class: 'view-head'}, make('h1', {}, 'Pools'), make('span', {class: 'quiet'}, 'offered to the kubelet'), word && makeButton(`Show all ${all?.length ?? ''}`, () => page.clearFilters())),
			all === null ? makeEmpty('Loading', page.missing('api/v1/resources')) : all.length === 0 ? makeEmpty('No pools', 'No pool is configured, so nothing is offered to the kubelet.') : pools.length === 0 ? makeEmpty(`No pools match “${shown(page.query.q)}”`) : pools.map((pool) => makePool(page, model, pool))];
	}

	title() {
		return 'Pools';
	}

	done() {}
}
