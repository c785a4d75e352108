// SPDX-License-Identifier: Apache-2.0
// troubles.js - problems of a device besides verdicts: it is unhealthy, its attachment fails, its link is down. Pure.

const HEALTH_WORDS = {gone: 'Removed', no_driver: 'No driver', no_chardev: 'No device files', no_rdma: 'No RDMA device', link_down: 'Link down', port_down: 'Port down', pci: 'PCI error', devlink: 'Firmware reports an error',
	not_clean: 'Not clean', leaving: 'Leaving', node_changed: 'Device files changed', node_held: 'Device files held'};
const LINK_WORDS = new Set(['link_down', 'port_down']);
const ATTACHMENT_WORDS = {attaching: 'Attach fails', returning: 'Return fails', bad: 'Could not be cleaned', drift: 'Settings changed', attach_failed: 'Attach failed'};
const RESOURCE_WORDS = {not_registered: 'Pool not registered', no_files: 'No device files'};

const AGE_UNITS_MS = {d: DAY_MS, h: 3600000, m: 60000, s: 1000};

// A message of the daemon with times, durations ("394 s", "1h5m") and reasons ("link_down") as the page writes them.
function inWords(text) {
	return text.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, (iso) => clock(Date.parse(iso)))
		.replace(/\b\d{3,} s\b/g, (seconds) => span(1000 * parseInt(seconds, 10)))
		.replace(/(?<=: |limit )(?:\d+[dhms])+(?=$|[ ;,)])/g, (age) => span(sumOf(age.match(/\d+[dhms]/g).map((part) => parseInt(part, 10) * AGE_UNITS_MS[part.at(-1)]))))
		.replace(/\b[a-z]+_[a-z]+\b/g, (word) => (HEALTH_WORDS[word] ? lowerFirst(HEALTH_WORDS[word]) : word));
}

function troubleTitle({kind, word}) {
	const words = {attachment: ATTACHMENT_WORDS, resource: RESOURCE_WORDS}[kind] ?? HEALTH_WORDS;
	return words[word] ?? sentenceCase(shown(word).replaceAll('_', ' '));
}

// The troubles of an attachment, in the form of "troubles" in the API: {kind, word, what, help, since, orEarlier}.
function attachmentTroubles(a) {
	if (!a)
		return [];
	const fails = a.state === 'bad' || (a.error !== null && a.state !== 'in_pod');
	return [fails && {kind: 'attachment', severity: 'warning', level: 2, word: a.state, what: a.error ?? 'it could not be cleaned after its pod', help: '`rocectl doctor --fix` retries.', since: a.since, orEarlier: false},
		a.state === 'in_pod' && a.drift?.length > 0 && {kind: 'attachment', severity: 'warning', level: 2, word: 'drift', what: `${a.drift.join(', ')} ${a.drift.length === 1 ? 'differs' : 'differ'} from the plan${a.error === null ? '' : `: ${a.error}`}`, help: '`rocectl doctor --fix` repairs what it can.', since: null, orEarlier: false}].filter(Boolean);
}

// The troubles of a device of an exclusive pool. findings: the doctor's findings about unhealthy devices, by the names of the devices.
function healthTroubles(device, findings) {
	const r = (device?.resources ?? []).find((one) => one.healthy === false), said = r && [device.id, ...(device.rdma ?? []).map((rd) => rd.name)].map((name) => findings?.get(name)).find(Boolean);
	return (r?.reasons ?? []).map((word) => ({kind: 'device', word, what: said?.what ?? device.why, help: said?.help ?? '', since: r.unhealthySince ?? null, orEarlier: r.orEarlier === true}));
}

// "Since 14:03:21" of a trouble; one that was there when rocelet started may be older.
function troubleSince({since, orEarlier}) {
	return since ? `since ${orEarlier ? 'before ' : ''}${clock(Date.parse(since))}` : '';
}

// "What it is, since when." in a sentence.
function troubleText(trouble) {
	const since = troubleSince(trouble);
	return `${sentenceCase(inWords(shown(trouble.what))).replace(/\.$/, '')}${since && `, ${since}`}.`;
}

// A trouble of a pod's device has the API's severity; a device that no pod has is only not available.
function troubleKind({severity, level}, isOfPod) {
	return isOfPod && level >= 2 ? severity : 'unhealthy';
}

// The state of a device that has troubles but no verdict.
function troubleState(troubles, isOfPod) {
	const [first] = troubles, titles = [...new Set(troubles.map(troubleTitle))];
	return {kind: troubleKind(first, isOfPod), isTrouble: true, text: titles.join(', ').replace(/(?<=, )[A-Z](?=[a-z ])/g, (c) => c.toLowerCase()), why: troubleText(first).replace(/\.$/, '')};
}
