// pools.js - what is offered to the kubelet: how many devices, how many of them are healthy and given away, and whether the kubelet takes them.

const POOL_COLUMNS = [['resource'], ['devices', 'number'], ['healthy', 'number'], ['given', 'number'], ['free', 'number'], ['kubelet', 'trouble'], ['remark']];

function poolRemark(pool) {
	const parts = [pool.shared ? 'shared' : null, pool.error, pool.hint, isKnown(pool.gidCapacity) && pool.gidCapacity < pool.devices ? `GID tables have room for ${pool.gidCapacity}` : null];
	return parts.filter(Boolean).map(shown).join('; ') || '–';
}

function updatePoolRow(row, pool) {
	const bad = pool.registration === 'refused' || pool.devices === 0 || pool.healthy < pool.devices;
	setCells(row, [shown(pool.name), String(pool.devices), String(pool.healthy), String(pool.allocated), String(Math.max(0, pool.devices - pool.allocated)),
		`${pool.registration === 'registered' ? '' : '▲ '}${shown(pool.registration)}`, poolRemark(pool)]);
	setAttribute(row, 'data-severity', bad ? 'warning' : null);
}

class PoolsView {
	constructor(page) {
		this.page = page;
		this.list = new List({label: 'pools', columns: POOL_COLUMNS, keyOf: (pool) => pool.name, create: () => {}, update: updatePoolRow,
			words: (pool) => [pool.name, pool.registration, pool.error]}, () => page.show());
		this.element = make('section', {'aria-labelledby': 'pools-title'}, make('h2', {id: 'pools-title'}, 'Pools'), this.list.element);
	}

	show() {
		const document = this.page.documents.get('api/v1/resources', ['resources', 'config']);
		this.list.show(document?.resources ?? [], this.page.missing('api/v1/resources', document, 'Nothing is offered: no pool is configured.'));
	}

	title() {
		return 'pools';
	}

	done() {}
}
