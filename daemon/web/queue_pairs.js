// SPDX-License-Identifier: Apache-2.0
// queue_pairs.js - the queue pairs, those with errors first. They are not part of the stream; the page polls them while they are shown.

const QP_READ_MS = 10000;
const CE_NOTABLE = 0.01;
const AGAIN_NOTABLE = 100;

// The sum of both directions; null: packets are not counted.
function bothWays(qp, what) {
	return sumOf([qp.received, qp.sent].filter(Boolean).map((flow) => flow[what]));
}

function roundTrip(qp) {
	return greatestOf([qp.received?.rtt, qp.sent?.rtt].filter(Boolean).map((rtt) => rtt.p99Ns ?? rtt.meanNs));
}

// Rows with a greater weight come first.
function queuePairState(qp) {
	const again = (bothWays(qp, 'naks') ?? 0) + (bothWays(qp, 'retransmissions') ?? 0), packets = bothWays(qp, 'packets'), rnr = bothWays(qp, 'rnr') ?? 0;
	const marked = packets ? (bothWays(qp, 'ce') ?? 0) / packets : 0;
	if (qp.failure || qp.state === 'ERR')
		return {kind: 'critical', text: sentenceCase(shown(qp.failure ?? 'in state ERR')), why: 'Its connection failed', weight: 1e9 + again};
	if (again > AGAIN_NOTABLE)
		return {kind: 'warning', text: `${scaledCount(again)} NAKs and retrans.`, why: 'Packets of it were lost', weight: 1e6 + Math.min(again, 1e8)};
	if (marked > CE_NOTABLE)
		return {kind: 'warning', text: `${share(marked)} marked CE`, why: 'Its path is congested', weight: 1e5 + marked};
	if (rnr > 0)
		return {kind: 'info', text: `Receiver not ready ${scaledCount(rnr)} times`, why: 'The application posted too few receive requests', weight: 1e4 + Math.min(rnr, 1e4)};
	if (packets === null)
		return {kind: 'unknown', text: 'Not counted', why: 'Packets are not counted by queue pair here', weight: 1};
	return {kind: 'idle', text: again > 0 ? `${scaledCount(again)} NAKs and retrans.` : 'None seen', why: 'Neither loss nor marks nor a failure was seen', weight: 2 + Math.min(again, 100)};
}

// Two flows can have the same name.
function queuePairItems(document) {
	const seen = new Map();
	return (document?.qps ?? []).map((qp) => {
		const name = JSON.stringify([qp.device, qp.port, qp.netdev, qp.qpn, qp.address, qp.peerAddress]), n = seen.get(name) ?? 0;
		seen.set(name, n + 1);
		return {qp, key: `${name} ${n}`, state: queuePairState(qp)};
	});
}

function queuePairCount(id, title) {
	return {id, title, number: true, down: true, cell: ({qp}) => { const v = bothWays(qp, id); return isKnown(v) ? make('span', {class: v === 0 ? 'zero' : 'value'}, scaledCount(v)) : make('span', {class: 'absent', 'data-tip': 'Packets are not counted by queue pair here'}, UNKNOWN); }, sort: ({qp}) => bothWays(qp, id)};
}

// of: 'node', 'port' or 'pod', whose name is not repeated.
function queuePairTable(of) {
	return {keyOf: (item) => item.key, kindOf: (item) => item.state.kind, sort: '-trouble', columns: [
		{id: 'qpn', title: 'Queue pair', cell: ({qp, state}) => [makeMark(state.kind, false), make('strong', {}, String(qp.qpn)), make('span', {class: 'quiet beside'}, isKnown(qp.state) ? shown(qp.state === 'RTS' ? qp.type : qp.state) : 'in packets')], sort: ({qp}) => qp.qpn},
		{id: 'trouble', title: 'Trouble', down: true, cell: ({state}) => makeState(state), sort: ({state}) => state.weight},
		of !== 'port' && {id: 'port', title: 'Port', cell: ({qp}) => (qp.device ? makePortLink({device: qp.device, port: qp.port ?? 1}) : cutName(qp.netdev)), sort: ({qp}) => qp.device ?? qp.netdev},
		of !== 'pod' && {id: 'pod', title: 'Pod', cell: ({qp}) => (qp.pod ? makePodLink(qp) : make('span', {class: 'zero'}, '–')), sort: ({qp}) => qp.pod && podKey(qp)},
		{id: 'peer', title: 'Peer', cell: ({qp}) => make('span', {class: 'mono peer'}, cutName(qp.peerAddress, 10), isKnown(qp.peerQpn) && make('span', {class: 'quiet'}, String(qp.peerQpn))), sort: ({qp}) => qp.peerAddress},
		queuePairCount('packets', 'Packets'), queuePairCount('ce', 'CE'), queuePairCount('naks', 'NAKs'), queuePairCount('retransmissions', 'Retrans.'),
		{id: 'rtt', title: 'RTT', unit: 'µs', number: true, down: true, cell: ({qp}) => (roundTrip(qp) === null ? make('span', {class: 'absent', 'data-tip': 'No round trip was measured'}, '–') : scaled(roundTrip(qp) / 1000)), sort: ({qp}) => roundTrip(qp)},
		{id: 'process', title: 'Process', cell: ({qp}) => (qp.kernel ? 'kernel' : qp.comm ? make('span', {class: 'peer'}, cutName(qp.comm, 5), make('span', {}, String(qp.pid))) : '–'), sort: ({qp}) => qp.comm},
	].filter(Boolean)};
}

// Why there are none in a document, [title, line]: it is no answer if nothing could be read.
function queuePairsEmpty(page, document, none) {
	if (isKnown(document.source))
		return ['No queue pairs', sentenceCase(shown(document.error ?? none))];
	const parts = [make('a', {href: '#agent', class: 'in-text'}, 'Agent'), ' lists which parts of rocelet work.'];
	const bpf = page.documents.get(AGENT_PATH, ['config'], DIAGNOSIS_READ_MS)?.parts.find((part) => part.name === 'BPF' && part.works !== true);
	if (!document.error && bpf)
		return ['Queue pairs cannot be read', `BPF is ${shown(bpf.what)}, and RDMA netlink has listed none.`, parts];
	return document.error ? ['Queue pairs cannot be read', `${sentenceCase(shown(document.error)).replace(/\.$/, '')}.`, parts] : ['Queue pairs have not been read yet', 'Neither BPF events nor RDMA netlink have listed them.', parts];
}

// The queue pairs of a port or a pod, as a part of its view.
class QueuePairTable {
	constructor(page, path, of, sortName, none) {
		Object.assign(this, {page, path, sortName, none});
		this.table = new Table({label: 'queue pairs', ...queuePairTable(of)}, (sort) => page.ask({[sortName]: sort}));
	}

	render() {
		const {page, path, table} = this, document = page.documents.get(path, [], QP_READ_MS), items = queuePairItems(document);
		table.show(items, page.query[this.sortName], page.documents.readAt(path));
		table.element.hidden = items.length === 0;
		return [table.element, items.length === 0 && (document === null ? makeLoading(page.missing(path)) : makeEmpty(...queuePairsEmpty(page, document, this.none)))];
	}

	done() {
		this.table.done();
	}
}

class QueuePairsView extends ListView {
	constructor(page) {
		super(page, {title: 'Queue pairs', ...queuePairTable('node'), items: () => this.items(), epoch: (items) => troubleOf(items, (item) => item.key), note: () => this.note(),
			words: ({qp, state}) => [qp.device, qp.netdev, qp.qpn, qp.address, qp.peerAddress, qp.pod && podKey(qp), qp.comm, qp.failure, qp.state, state.text],
			filters: () => ({show: [{value: 'failed', label: 'Failed', kind: 'critical', test: isKind('critical')}, {value: 'trouble', label: 'In trouble', kind: 'worst', test: isKind('critical', 'warning', 'info')}]}),
			missing: () => page.missing('api/v1/qps'), isUnread: () => this.document?.source === null, empty: () => queuePairsEmpty(page, this.document, 'No process uses RDMA here now.')});
	}

	items() {
		this.document = this.page.documents.get('api/v1/qps', [], QP_READ_MS);
		return this.document && queuePairItems(this.document);
	}

	note() {
		const {document} = this;
		if (!document || (document.source === null && document.qps.length === 0))
			return '';
		const total = document.total ?? document.qps.length;
		return [total > document.qps.length ? `the worst of ${grouped(total)}` : null, `read at ${clock(this.page.documents.readAt('api/v1/qps'))}`, document.error && shown(document.error),
			document.flows ? null : 'packets are not counted by queue pair here', document.dropped ? `${count(document.dropped, 'change was', 'changes were')} missed` : null].filter(Boolean).join(', ');
	}
}
