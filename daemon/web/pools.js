// SPDX-License-Identifier: Apache-2.0
// pools.js - the pools registered with the kubelet: capacity, free devices, and why devices cannot be allocated.

const TROUBLE_MOST = 6; // devices in trouble that are listed where the others are folded

// The state of a device: that of its port, because an allocated device may have problems, too; "through" if only its PF has them.
function deviceKind(model, device, r) {
	const p = model.portByName.get(device.id);
	return p ? (r.healthy !== false && ownKind(p) === 'through' ? 'through' : p.state.kind) : model.dead ? 'unknown' : r.healthy === false ? 'unhealthy' : r.state === 'free' ? 'idle' : 'unknown';
}

// Those in trouble first, then those in use, then those that are free.
function deviceRank({r, kind}) {
	const trouble = stateRank({kind});
	return trouble < stateRank({kind: 'warming'}) ? trouble : r.healthy === false ? stateRank({kind: 'unhealthy'}) : STATE_ORDER.length + (r.state === 'free' ? 1 : 0);
}

function hasDeviceProblem({r, kind}) {
	return r.healthy === false || isProblem({state: {kind}}) || ['through', 'unhealthy'].includes(kind);
}

// "2 with a problem, 24 through their PF"
function poolProblems(bad) {
	const through = bad.filter(({kind}) => kind === 'through').length, own = bad.length - through;
	return [own > 0 && `${grouped(own)} with a problem`, through > 0 && `${grouped(through)}${own > 0 ? '' : ' with a problem'} through ${through === 1 ? 'its' : 'their'} PF`].filter(Boolean).join(', ');
}

// What the pool knows of a device. Until the kubelet's list is read, none is known to be free.
function allocationOf(pool, device) {
	const r = device.resources.find((one) => one.resource === pool.name);
	return isListUnread(pool) && r.state === 'free' ? {...r, state: 'not known yet'} : r;
}

// {device, r: what the pool knows of it, kind} of the devices of an exclusive pool, in the order of their list.
function poolRows(model, pool) {
	const nameOf = ({device}) => model.portByName.get(device.id)?.key ?? device.id;
	return (pool.shared ? [] : model.devicesOf(pool.name) ?? []).map((device) => ({device, r: allocationOf(pool, device)})).map(({device, r}) => ({device, r, kind: deviceKind(model, device, r)}))
		.sort((a, b) => deviceRank(a) - deviceRank(b) || naturalOrder(nameOf(a), nameOf(b)));
}

// The troubles of a device with their beginning, the problem of its port, or whether it is free.
function makeDeviceState(model, device, r, pool, kind) {
	const ills = healthTroubles({...device, resources: [r]}, null), p = model.portByName.get(device.id);
	if (ills.length > 0)
		return make('span', {class: 'state', 'data-kind': kind, 'data-tip': sentenceCase(inWords(shown(device.why)))}, troubleState(ills, false).text, troubleSince(ills[0]) && make('span', {class: 'quiet'}, `, ${troubleSince(ills[0])}`));
	return p && stateRank(p.state) <= stateRank({kind: 'info'}) ? makeState(p.state) : !r.holder && make('span', {class: 'quiet'}, `${sentenceCase(shown(r.state))}${r.state === 'free' && pool.registration !== 'registered' ? ', not offered' : ''}`);
}

function poolDevices(page, model, pool, rows) {
	if (pool.shared)
		return make('p', {}, `${count(pool.devices, 'slot')} of shared devices. `, make('a', {href: placeLink(['pods'], {q: pool.name})}, 'Pods that have one'));
	if (rows.length === 0)
		return null;
	const unfolded = page.unfolded.has(`pool ${pool.name}`), bad = rows.filter(hasDeviceProblem), listed = unfolded ? rows : bad.slice(0, TROUBLE_MOST);
	return [make('div', {class: 'pool-head'}, bad.length > 0 && make('h3', {}, `${poolProblems(bad)}${listed.length < bad.length ? `; ${listed.length} listed` : ''}`),
		makeButton(unfolded ? 'Show fewer' : `Show all ${grouped(rows.length)}`, () => page.unfold(`pool ${pool.name}`), {class: 'link', 'aria-expanded': String(unfolded), 'aria-label': `${unfolded ? 'Show fewer' : `Show all ${grouped(rows.length)}`} devices of ${shown(pool.name)}`})),
		listed.length > 0 && make('ul', {class: 'pool-devices'}, listed.map(({device, r, kind}) =>
			make('li', {key: device.id}, makeMark(kind), ' ', makeObjectLink(model, device.id), ' ', makeDeviceState(model, device, r, pool, kind), r.holder && makePodLink({namespace: r.holder.namespace, name: r.holder.pod}))))];
}

function makePool(page, model, pool) {
	const state = model.poolState(pool), rows = poolRows(model, pool), bad = rows.filter(hasDeviceProblem), worst = model.dead ? state : worstState([state, ...bad.map(({kind}) => ({kind}))]), number = (title, n) => make('div', {}, make('p', {class: 'quiet'}, title), make('p', {class: model.dead || !isKnown(n) ? 'big quiet' : 'big', 'data-tip': isKnown(n) ? null : UNREAD_LIST}, isKnown(n) ? grouped(n) : 'Unknown'));
	const explained = state.kind !== 'ok' && state.kind !== 'unhealthy' && (!model.dead || pool.devices === 0);
	return make('section', {class: 'panel pool', key: pool.name, 'aria-label': shown(pool.name)}, make('header', {}, make('h2', {}, makeMark(worst.kind), ' ', make('span', {class: 'prefix'}, shown(pool.name.slice(0, pool.name.lastIndexOf('/') + 1))), make('bdi', {}, shown(pool.name.slice(pool.name.lastIndexOf('/') + 1)))),
		pool.shared && make('span', {class: 'quiet'}, 'shared'), make('span', {class: 'grow'}), makeState(['ok', 'unhealthy'].includes(state.kind) && bad.length > 0 ? {...state, kind: worst.kind, text: `${poolProblems(bad)}${state.kind === 'unhealthy' ? `, ${grouped(pool.devices - pool.healthy)} unhealthy` : ''}`} : state)),
	explained && make('p', {class: 'quiet'}, `${sentenceCase(shown(state.why))}.`),
	isListUnread(pool) && state.why !== UNREAD_LIST && pool.devices > 0 && make('p', {class: 'quiet'}, `${UNREAD_LIST}.`),
	pool.devices > 0 && [make('div', {class: 'numbers'}, number('Total', pool.devices), number('Healthy', pool.healthy), number('Allocated', pool.allocated), number(model.dead ? 'Available, last known' : 'Available', pool.free)), poolBar(model, pool), poolLegend(model, pool)],
	poolDevices(page, model, pool, rows));
}

class PoolsView {
	constructor(page) {
		this.page = page;
	}

	render(model) {
		const {page} = this, word = (page.query.q ?? '').toLowerCase(), all = model.resources, pools = (all ?? []).filter((pool) => pool.name.toLowerCase().includes(word));
		return [make('header', {class: 'view-head'}, make('h1', {}, 'Pools'), make('span', {class: 'quiet'}, 'offered to the kubelet'), word && makeButton(`Show all ${all?.length ?? ''}`, () => page.clearFilters())),
			all === null ? makeLoading(page.missing('api/v1/resources')) : all.length === 0 ? makeEmpty('No pools', 'No pool is configured, so nothing is offered to the kubelet.') : pools.length === 0 ? makeEmpty(`No pools match “${shown(page.query.q)}”`) : pools.map((pool) => makePool(page, model, pool))];
	}

	title() {
		return 'Pools';
	}

	done() {}
}
