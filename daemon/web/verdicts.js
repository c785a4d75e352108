// verdicts.js - what is wrong with RDMA on this node, in sentences, the worst first.

const SHAPES = {critical: '■', warning: '▲', info: '●'};

function worstFirst(verdicts) {
	return [...verdicts].sort((a, b) => b.level - a.level || Date.parse(a.onset) - Date.parse(b.onset) || naturalOrder(portKey(a), portKey(b)));
}

function podName(pod) {
	return `${shown(pod.namespace)}/${shown(pod.name ?? pod.pod)}`;
}

function portText(v) {
	return `${shown(v.device)}/${v.port}${v.netdev ? ` (${shown(v.netdev)})` : ''}`;
}

function evidenceValue(v, unit) {
	if (!isKnown(v))
		return UNKNOWN;
	return unit === 'ratio' ? share(v) : unit === 'B/s' ? bitRate(v) : `${scaled(v, '')}${unit ? ` ${shown(unit)}` : ''}`;
}

function evidenceTable(v) {
	const {box, body} = makeTable('evidence', [['number'], ['value', 'number'], ['limit', 'number']]);
	body.append(...v.evidence.map((e) => make('tr', {}, make('th', {scope: 'row'}, make('code', {}, shown(e.name))),
		make('td', {class: 'number'}, evidenceValue(e.value, e.unit)), make('td', {class: 'number'}, isKnown(e.threshold) ? evidenceValue(e.threshold, e.unit) : '–'))));
	return box;
}

function concerned(v) {
	if (v.pods.length === 0)
		return null;
	const more = v.podCount - v.pods.length;
	return make('p', {}, `Of ${v.podCount === 1 ? 'pod' : 'pods'} ${v.pods.map(podName).join(', ')}${more > 0 ? ` and ${more} more` : ''}.`);
}

function makeCard(v) {
	const facts = [['what to do', v.advice], ['it is something else if', v.disproof], ['moved first', v.firstMoved], ['it also explains', v.symptoms.join(', ')],
		['remark', v.remark], ['peer', v.peer && shown(v.peer)], ['sure by', share(v.confidence)]].filter(([, text]) => text);
	return make('article', {class: 'verdict', 'data-severity': v.severity},
		make('h3', {}, make('span', {class: 'badge', 'data-severity': v.severity}, make('span', {'aria-hidden': 'true'}, SHAPES[v.severity]), ` ${v.severity}`),
			' ', make('a', {href: placeLink('port', v.device, v.port)}, portText(v)), `: ${v.sentence}`),
		make('p', {class: 'quiet'}, make('code', {}, v.cause), ' since ', makeTime(Date.parse(v.onset)), v.clearingSinceMs ? ', getting better' : '',
			v.managementPort ? ', on the management port' : ''),
		concerned(v) ?? '', // what follows keeps its place
		make('p', {}, make('a', {href: v.runbook, target: '_blank', rel: 'noopener'}, `runbook on ${v.cause}`)),
		make('details', {}, make('summary', {}, `evidence and advice on ${v.cause} of ${shown(v.device)}/${v.port}`),
			make('dl', {}, facts.map(([name, text]) => [make('dt', {}, name), make('dd', {}, text)])), evidenceTable(v)));
}

// Cards of verdicts; those that are told in another way now become what they would be.
class VerdictCards {
	constructor(parent) {
		this.rows = new Rows(parent, verdictKey, makeCard, (card, v) => {
			const said = JSON.stringify(v);
			if (card.said && card.said !== said)
				become(card, makeCard(v));
			card.said = said;
		});
	}

	show(verdicts) {
		this.rows.show(worstFirst(verdicts));
	}
}

// That not all verdicts that are open are here; '': they are.
function cutText(store) {
	const n = store.verdicts.length;
	return n < store.nVerdicts ? `only ${n} of ${store.nVerdicts} verdicts are shown` : '';
}

// What is said beside verdicts, or in place of them: that there is nothing only where nothing can be hidden. unseen: texts of what is, '' where it is not.
function seenText(store, verdicts, unseen) {
	const doubts = [...unseen, cutText(store)].filter(Boolean);
	if (store.timeMs === null)
		return 'No sample has been judged yet.';
	if (doubts.length > 0)
		return `Not all is seen (${doubts.join(', ')}).`;
	return verdicts.length > 0 ? '' : 'Nothing.';
}

// What is said of all ports where nothing, or something, is wrong.
function summary(store, ports) {
	const n = store.nVerdicts, cut = cutText(store) && ` Here ${cutText(store)}, the worst; rocectl diagnose tells all.`;
	const by = (watch) => (ports ?? []).filter((p) => p.watch === watch).length;
	const parts = [];
	if (store.timeMs === null)
		return 'No sample has been judged yet.';
	if (ports === null)
		return n === 0 ? 'Nothing is known to be wrong.' : `${count(n, 'thing is', 'things are')} wrong.${cut}`;
	parts.push(n === 0 ? `Nothing is wrong with ${count(by('judged'), 'port', 'ports')}.` : `${count(n, 'thing is', 'things are')} wrong on ${count(ports.length, 'port', 'ports')}.${cut}`);
	if (by('warming'))
		parts.push(`${count(by('warming'), 'port has', 'ports have')} not been watched for long enough to be called healthy.`);
	if (by('down'))
		parts.push(`The link of ${count(by('down'), 'port', 'ports')} is down.`);
	if (by('unseen'))
		parts.push(`${count(by('unseen'), 'port', 'ports')} cannot be read.`);
	const clear = ports.filter((p) => p.clearSinceMs !== null).length;
	if (clear)
		parts.push(`${count(clear, 'port moves', 'ports move')} much without any sign of trouble: there the network is not what is slow.`);
	return parts.join(' ');
}
