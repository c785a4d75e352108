// SPDX-License-Identifier: Apache-2.0
// evidence.js - the evidence of a verdict: titles, and values in the units of the charts and lists. Pure.

// [pattern of a metric or of a sentence of the diagnosis, title, the signal that measures it or null]. Labels that do not change the title are left out.
const EVIDENCE_TITLES = [
	[/^roce_pfc_pause_seconds_total\{direction="sent".*/, 'Pause out', 'pause_sent'],
	[/^roce_pfc_pause_seconds_total\{direction="received".*/, 'Pause in', 'pause_received'],
	[/^roce_bytes_total\{direction="received".*/, 'Received', 'bytes_received'],
	[/^roce_bytes_total\{direction="sent".*/, 'Sent', 'bytes_sent'],
	[/^roce_bytes_total, over a minute$/, 'Traffic', null],
	[/^share of packets that arrive marked CE$/, 'CE marked', 'ce_share'],
	[/^sequence and implied NAKs per packet$/, 'NAKs', 'nak'],
	[/^timeouts per packet$/, 'Timeouts', 'timeouts'],
	[/^packets out of sequence per packet received$/, 'Out of sequence', 'out_of_sequence'],
	[/^packets marked by this NIC, share of those received$/, 'Marked by this NIC', null],
	[/^CNPs sent per packet received: a lower bound of the share marked CE$/, 'CNPs out', 'cnp_sent'],
	[/^CNPs received for each packet sent$/, 'CNPs in', 'cnp_received'],
	[/^received, share of the line's capacity$/, 'Received', 'bytes_received'],
	[/^times the link went down in 12 h$/, 'Times down in 12 h', null],
	[/^errors not corrected by FEC per bit received$/, 'Bit errors', null],
	[/^bits corrected by FEC, share of the line$/, 'FEC corrections', null],
	[/^time during which the NIC waits for PCIe$/, 'PCIe stalled', null],
	[/^roce_phy_link_down_total/, 'Times down', null],
	[/^roce_sequence_nak_received_total/, 'Sequence NAKs received', 'nak'],
	[/^roce_implied_nak_total/, 'Implied NAKs received', 'nak'],
	[/^roce_ack_timeouts_total/, 'ACK timeouts', 'timeouts'],
	[/^roce_out_of_sequence_packets_total/, 'Packets out of sequence', 'out_of_sequence'],
	[/^roce_port_discards_total/, 'Dropped on arrival', 'discards'],
	[/^roce_pcie_overflow_packets_total/, 'Dropped because PCIe is too slow', null],
	[/^roce_ecn_ce_received_packets_total/, 'Packets marked CE', null],
	[/^roce_cnp_received_packets_total/, 'CNPs received', 'cnp_received'],
	[/^roce_cnp_sent_packets_total/, 'CNPs sent', 'cnp_sent'],
	[/^roce_cnp_handled_packets_total/, 'CNPs handled', null],
	[/^roce_cnp_ignored_packets_total/, 'CNPs ignored', null],
	[/^roce_slow_restart_cnp_packets_total/, 'CNPs of slow restarts', null],
	[/^roce_rnr_nak_received_total/, 'Receiver not ready', 'not_ready'],
	[/^roce_receive_wqe_missing_total/, 'No receive posted', 'not_ready'],
	[/^roce_transport_retries_exceeded_total/, 'Retries exceeded', 'failed'],
	[/^roce_rnr_retries_exceeded_total/, 'RNR retries exceeded', 'failed'],
	[/^roce_pause_seconds_total/, '802.3x pause', null],
	[/^roce_pause_frames_total/, '802.3x pause frames', null],
	[/^roce_buffer_threshold_passed_total/, 'Receive buffer filled up', null],
	[/^roce_icrc_errors_total/, 'Packets with a wrong ICRC', null],
	[/^roce_phy_crc_errors_total/, 'Frames with a wrong checksum', null],
	[/^roce_phy_fec_blocks_total/, 'FEC blocks', null],
	[/^roce_port_rate_bytes_per_second/, 'Link rate', null],
	[/^roce_port_state/, 'Link state', null],
	[/^rocelet_source_age_seconds/, 'Age of the counters', null],
];

// Sentences whose number is a share of the line.
const SHARE_OF_LINE = /^received, share of the line's capacity$/;

function evidenceRow(name) {
	return EVIDENCE_TITLES.find(([pattern]) => pattern.test(name));
}

// The signal that a number of the evidence is measured by; null or undefined: none.
function evidenceSignal(name) {
	return evidenceRow(name)?.[2];
}

// 'roce_nic_faults_total{fault="reset"}' -> "NIC faults, reset"; a sentence stays one.
function evidenceTitle(name) {
	const known = evidenceRow(name), words = known ? name.replace(known[0], known[1]) : name.replace(/^roce_(\w+)/, (_, metric) => causeTitle(metric.replace(/(_seconds)?(_total)?$/, '')));
	return sentenceCase(shown(words.replace(/\{(.*)\}/, (_, labels) => `, ${labels.replace(/\w+=|"/g, '')}`)));
}

// The metric's name, if the number is named after a metric; else null.
function metricName(name) {
	return /^roce\w*_\w+/.test(name) ? name : null;
}

// text: digits for what is measured, shortNumber for limits.
function evidenceValue(v, unit, text = digits) {
	if (!isKnown(v))
		return UNKNOWN;
	return unit === 'ratio' ? share(v, text) : unit === 'B/s' ? scaled(v * 8, 'bit/s', text) : unit === '1/s' ? `${scaled(v, '', text)}/s` : unit === 's' ? (v < 10 ? `${text(v)}${NBSP}s` : span(v * 1000)) : unit ? `${scaled(v, '', text)} ${shown(unit)}` : scaledCount(v);
}

function evidenceLimit(e) {
	return `limit ${evidenceValue(e.threshold, e.unit, shortNumber)}`;
}

// The value as text; the value of a state is a word.
function evidenceText(e) {
	return e.word ? shown(e.word) : evidenceValue(e.value, e.unit);
}

// The factor from a share to the unit of its signal's charts, or null: for a share of the line, the line's rate; for a share of packets, the packet rate, from the rate of the signal's counters.
function perShare(v, e, rate) {
	if (SHARE_OF_LINE.test(e.name))
		return isKnown(rate) ? {of: rate / 8, unit: 'B/s'} : null;
	const signal = evidenceSignal(e.name), events = sumOf(v.evidence.filter((other) => other.unit === '1/s' && signal && evidenceSignal(other.name) === signal).map((other) => other.value));
	return events > 0 && e.value > 0 ? {of: events / e.value, unit: '1/s'} : null;
}

// A number of the evidence in the unit of the charts and lists: the number itself, or a converted copy. rate: bits per second of the port's link, or null.
function inChartUnit(v, e, rate) {
	const signal = evidenceSignal(e.name), per = e.unit === 'ratio' && signal && SIGNALS[signal].unit !== 'share' ? perShare(v, e, rate) : null, scale = (x) => (isKnown(x) ? x * per.of : null);
	return per ? {...e, value: scale(e.value), threshold: scale(e.threshold), unit: per.unit} : e;
}

// The same in words, or null where the charts count in the unit of the evidence. Such a limit moves with the traffic, so it is none to show.
function chartText(v, e, rate) {
	const counted = inChartUnit(v, e, rate);
	return counted === e ? null : evidenceText(counted);
}
