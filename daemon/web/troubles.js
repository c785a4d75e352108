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

// "Link down, settings changed"
function troubleTitles(troubles) {
	return [...new Set(troubles.map(troubleTitle))].map((title, i) => (i > 0 ? lowerFirst(title) : title)).join(', ');
}

// The state of a device that has troubles but no verdict.
function troubleState(troubles, isOfPod) {
	const [first] = troubles;
	return {kind: troubleKind(first, isOfPod), isTrouble: true, text: troubleTitles(troubles), why: troubleText(first).replace(/\.$/, '')};
}

// The troubles in the message of an event "Unhealthy", which only a pod's device has: they are critical.
function eventTroubles(e) {
	const [, words] = (e.reason === 'Unhealthy' && / is unhealthy: ([a-z_]+(?:, [a-z_]+)*)$/.exec(e.message ?? '')) || [];
	return words ? words.split(', ').map((word) => ({kind: 'device', severity: 'critical', level: 3, word})) : [];
}

const DEVICE_FINDINGS = new Set(['unhealthy', 'dirty', 'drift', 'chardev']);

// The state of the device that a finding is about, as in all views; null: the finding is about something else, or the device has no trouble now.
function findingState(model, f) {
	const p = model.portByName.get(f.object) ?? model.portByKey.get(f.object);
	if (!DEVICE_FINDINGS.has(f.kind) || !f.object)
		return null;
	if (p)
		return p.troubles.length === 0 ? null : model.uncovered(p, p.troubles).length > 0 ? troubleState(model.uncovered(p, p.troubles), model.isOfPod(p)) : p.state;
	const ofPods = (model.pods ?? []).flatMap((pod) => pod.troubles.filter(({device}) => device.id === f.object)), own = healthTroubles(model.deviceById.get(f.object), model.findings);
	return ofPods.length > 0 ? troubleState(ofPods, true) : own.length > 0 ? troubleState(own, false) : null;
}
