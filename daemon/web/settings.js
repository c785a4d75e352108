// SPDX-License-Identifier: Apache-2.0
// settings.js - the configuration in effect: what differs from the defaults first, the rest folded by subject, all of it searchable.

// key -> [default or null, what it is], and the same of each key below "diagnosis"; document.py puts in here what docs/reference/config.schema.json has.
const SETTING_FACTS = /*@SETTINGS@*/ {};

const SETTING_GROUPS = {
	Pools: ['pools', 'resourceList', 'configList', 'mode', 'pfNetdevices', 'periodicUpdateInterval', 'resource-prefix', 'lost-pool', 'observe', 'groups', 'group'],
	Access: ['listen', 'tls-cert', 'tls-key', 'auth-token-file', 'basic-auth-file', 'max-connections', 'request-timeout'],
	'Kubelet and runtime': ['kubelet-dir', 'pod-resources', 'cri-socket', 'registration', 'shutdown-policy', 'use-cdi', 'cdi-dir', 'devinfo-dir', 'features-dir'],
	Attaching: ['cni-path', 'cni-ipam-needs', 'state-dir', 'run-dir', 'take-over', 'lock-wait', 'dry-run'],
	'Sampling and series': ['sample-interval', 'port-counters', 'all-series', 'optional-counters', 'compat', 'rescan-interval', 'event-source', 'event-buffer', 'settle-ms'],
	'Packets and BPF': ['no-bpf', 'bpf-memory', 'mirrors', 'mirror-flows', 'packet-ports', 'packet-pods', 'packet-flows', 'bpf'],
	Process: ['sysfs-root', 'dev-root', 'proc-root', 'log-level', 'log-format', 'seccomp', 'unprivileged'],
	Diagnosis: ['expect-congestion-control', 'diagnosis'],
};

function settingGroup(key) {
	return Object.entries(SETTING_GROUPS).find(([, keys]) => keys.includes(key.split('.')[0]))?.[0] ?? 'Other';
}

function isSet(value) {
	return value !== null && value !== '' && !(typeof value === 'object' && Object.keys(value).length === 0);
}

// [{key, value, usual: the default, null or undefined: it has none, about, group, differs}] in the order of the document; the keys of "diagnosis" one by one. What is no key of the file, such as the state of BPF, does not differ.
function settingRows(config) {
	const rows = (object, facts, prefix) => Object.entries(object).map(([key, value]) => {
		const [usual, about = ''] = facts?.[key] ?? [];
		return {key: prefix + key, value, usual, about, group: settingGroup(prefix + key), differs: facts?.[key] !== undefined && (isSet(value) || isSet(usual ?? null)) && JSON.stringify(usual ?? null) !== JSON.stringify(value)};
	});
	const {diagnosis, ...others} = config;
	return [...rows(others, SETTING_FACTS, ''), ...rows(diagnosis ?? {}, SETTING_FACTS.diagnosis, 'diagnosis.')];
}

function settingText(value) {
	return isSet(value) ? (typeof value === 'string' ? value : JSON.stringify(value)) : 'not set';
}

function shownLines(text) {
	return text.split('\n').map(shown).join('\n');
}

function makeSettingValue({key, value}) {
	if (!isSet(value) || typeof value !== 'object' || value.every?.((item) => typeof item !== 'object'))
		return isSet(value) ? makeCode(settingText(value)) : make('span', {class: 'quiet'}, 'not set');
	return make('details', {}, make('summary', {}, Array.isArray(value) ? count(value.length, 'entry', 'entries') : count(Object.keys(value).length, 'key')), make('pre', {tabindex: '0', 'aria-label': key}, shownLines(JSON.stringify(value, null, 2))));
}

function makeSetting(row) {
	return make('div', {key: row.key}, make('dt', {}, makeCode(row.key), row.about && make('small', {}, sentenceCase(row.about))), make('dd', {}, makeSettingValue(row), row.differs && isKnown(row.usual) && make('small', {}, `default ${shown(settingText(row.usual))}`)));
}

function makeSettingList(rows) {
	return make('dl', {class: 'settings'}, rows.map(makeSetting));
}

// The panel, with a field that finds settings by key, value and meaning.
class Settings {
	constructor(page) {
		this.page = page;
		this.input = make('input', {type: 'search', id: 'filter-settings', autocomplete: 'off', spellcheck: 'false', placeholder: 'Setting, value or meaning', 'aria-label': 'Filter settings', oninput: () => page.ask({q: this.input.value.trim()}, true)});
		this.input.isOwn = true;
	}

	render(config) {
		const rows = settingRows(config), words = (this.page.query.q ?? '').toLowerCase().split(/\s+/).filter(Boolean);
		if (document.activeElement !== this.input && this.input.value !== (this.page.query.q ?? ''))
			this.input.value = this.page.query.q ?? '';
		const found = rows.filter((row) => words.every((word) => `${row.key} ${settingText(row.value)} ${row.about} ${row.group}`.toLowerCase().includes(word)));
		return [make('div', {class: 'filters'}, this.input, make('span', {class: 'quiet'}, words.length > 0 ? `${found.length} of ${rows.length}` : count(rows.length, 'setting'))), words.length === 0 ? this.groups(rows)
			: found.length > 0 ? makeSettingList(found) : make('p', {class: 'quiet'}, `No settings match “${shown(this.page.query.q)}”`)];
	}

	groups(rows) {
		const differ = rows.filter((row) => row.differs);
		return [make('h3', {}, differ.length > 0 ? `${grouped(differ.length)} differ from the defaults` : 'All settings have their defaults'), differ.length > 0 && makeSettingList(differ),
			make('h3', {}, 'All by subject'), [...Object.keys(SETTING_GROUPS), 'Other'].map((name) => [name, rows.filter((row) => row.group === name)]).filter(([, list]) => list.length > 0)
				.map(([name, list]) => make('details', {class: 'setting-group', key: name}, make('summary', {}, name, make('span', {class: 'quiet'}, ` ${count(list.length, 'setting')}`)), makeSettingList(list)))];
	}
}
