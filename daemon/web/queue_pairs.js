// queue_pairs.js - queue pairs, those in trouble first. The table is not part of the stream: it is read again while somebody looks at it.

const QP_READ_MS = 10000;
const QP_COLUMNS = [['queue pair'], ['peer'], ['pod'], ['state'], ['failure', 'trouble'], ['packets', 'number'], ['CE', 'number'], ['CNP', 'number'],
	['NAKs', 'number'], ['sent again', 'number'], ['round trip', 'number'], ['process', 'wide']];
const QP_ORDERS = {trouble: 'trouble', ce: 'CE', cnp: 'CNP', naks: 'NAKs', retransmissions: 'sent again', rtt: 'round trip', packets: 'packets'};

// Both ways; null: packets are not counted.
function bothWays(qp, what) {
	const seen = [qp.received, qp.sent].filter((flow) => flow !== null).map((flow) => flow[what]);
	return seen.length ? seen.reduce((a, b) => a + b, 0) : null;
}

function roundTrip(qp) {
	const times = [qp.received?.rtt, qp.sent?.rtt].filter(Boolean).map((rtt) => rtt.p99Ns ?? rtt.meanNs).filter(isKnown);
	return times.length ? Math.max(...times) : null;
}

// The greater, the earlier: failed ones first, then by what was lost, then by marks.
function qpTrouble(qp) {
	return [qp.failure || qp.state === 'ERR' ? 1 : 0, (bothWays(qp, 'naks') ?? 0) + (bothWays(qp, 'retransmissions') ?? 0), bothWays(qp, 'rnr') ?? 0, bothWays(qp, 'ce') ?? 0];
}

function byTrouble(a, b) {
	const one = qpTrouble(a.qp), other = qpTrouble(b.qp);
	const at = one.findIndex((v, i) => v !== other[i]);
	return at < 0 ? 0 : other[at] - one[at];
}

function countText(v) {
	return v === null ? UNKNOWN : scaled(v, '');
}

function updateQpRow(row, {qp}) {
	const rtt = roundTrip(qp);
	setCells(row, [`${shown(qp.device ?? qp.netdev)} ${qp.qpn}`, `${shown(qp.peerAddress)}${isKnown(qp.peerQpn) ? ` ${qp.peerQpn}` : ''}`,
		qp.pod ? podName({namespace: qp.namespace, name: qp.pod}) : '–', isKnown(qp.state) ? `${qp.type} ${qp.state}` : 'seen in packets', qp.failure ? `■ ${shown(qp.failure)}` : 'none',
		countText(bothWays(qp, 'packets')), countText(bothWays(qp, 'ce')), countText(bothWays(qp, 'cnp')), countText(bothWays(qp, 'naks')),
		countText(bothWays(qp, 'retransmissions')), rtt === null ? UNKNOWN : `${shortNumber(rtt / 1000)} µs`, qp.kernel ? 'kernel' : qp.comm ? `${shown(qp.comm)} ${qp.pid}` : '–']);
	setAttribute(row, 'data-severity', qp.failure ? 'critical' : null);
}

class QueuePairsView {
	constructor(page) {
		this.page = page;
		this.order = 'trouble';
		this.about = make('p', {});
		this.list = new List({label: 'queue pairs', columns: QP_COLUMNS, keyOf: (item) => item.key, create: () => {}, update: updateQpRow,
			words: ({qp}) => [qp.device, qp.netdev, qp.qpn, qp.peerAddress, `${qp.namespace}/${qp.pod}`, qp.comm, qp.failure, qp.state]}, () => page.show());
		addChoice(this.list, ' by ', QP_ORDERS, (order) => { this.order = order; page.show(); });
		this.element = make('section', {'aria-labelledby': 'qps-title'}, make('h2', {id: 'qps-title'}, 'Queue pairs'), this.about, this.list.element);
	}

	path() {
		return this.order === 'trouble' ? 'api/v1/qps' : `api/v1/qps?top=${this.order}`;
	}

	show() {
		const document = this.page.documents.get(this.path(), [], QP_READ_MS);
		const seen = new Map(); // two flows may be of one name
		const items = (document?.qps ?? []).map((qp) => {
			const name = JSON.stringify([qp.device, qp.port, qp.netdev, qp.qpn, qp.address, qp.peerAddress]), n = seen.get(name) ?? 0;
			seen.set(name, n + 1);
			return {qp, key: `${name} ${n}`};
		});
		if (this.order === 'trouble')
			items.sort(byTrouble);
		this.showAbout(document);
		this.list.show(items, this.page.missing(this.path(), document, 'There are no queue pairs, or nobody here can see them.'));
	}

	showAbout(document) {
		if (!document)
			return;
		const parts = [`${count(document.total ?? document.qps.length, 'queue pair', 'queue pairs')}, read at ${clock(this.page.documents.readAt(this.path()))}.`];
		if (document.error)
			parts.push(`${shown(document.error)}.`);
		if (!document.flows)
			parts.push('Packets are not counted by queue pair here: what they carry is not known.');
		if (document.dropped)
			parts.push(`${count(document.dropped, 'change was', 'changes were')} missed.`);
		setText(this.about, parts.join(' '));
	}

	title() {
		return 'queue pairs';
	}

	done() {}
}
