// SPDX-License-Identifier: Apache-2.0
// tally.js - the one count of what is wrong on the node, for the heading, the title, the bar, the legend, the filters and the pods. Pure.

const PROBLEM_KINDS = ['critical', 'warning'];

// The state that a port has of its own; "through": only its PF has the problem.
function ownKind(p) {
	if (!p.state.ofPf)
		return p.state.kind;
	return p.verdicts.some(isProblemVerdict) ? p.verdicts[0].severity : 'through';
}

// True if a pod, or a port in a pod's view, has a problem, from wherever.
function isProblem({state}) {
	return PROBLEM_KINDS.includes(state.kind);
}

function isOwnProblem(p) {
	return PROBLEM_KINDS.includes(ownKind(p));
}

// {critical, warning: listed open problems and troubles of pods' devices, of this severity; problems: all of them, of which the node may have more than it lists; ports, devices: how many have one, devices without
// a port; kinds: [kind, number of ports of this kind]}. Found once for each drawing.
function nodeTally(model) {
	model.tally ??= countNode(model);
	return model.tally;
}

function countNode(model) {
	const troubles = (model.ports ? blindness(model)?.items ?? [] : []).filter((item) => item.state.isTrouble && isProblem(item));
	const bySeverity = Object.fromEntries(PROBLEM_KINDS.map((severity) => [severity, model.problems.filter((v) => v.severity === severity).length + troubles.filter(({state}) => state.kind === severity).length]));
	const ports = new Set([...model.problems.map(portKey), ...troubles.filter(({port}) => port).map(({port}) => port.key)]), devices = new Set(troubles.filter(({port}) => !port).map(({device}) => device));
	const kinds = STATE_ORDER.map((kind) => [kind, (model.ports ?? []).filter((p) => ownKind(p) === kind).length]).filter(([, n]) => n > 0);
	return {...bySeverity, problems: model.store.problemCount + troubles.length, ports: ports.size, devices: devices.size, kinds};
}

// "8 problems on 7 of 136 ports and 1 device"
function problemsText(model) {
	const {problems, ports, devices} = nodeTally(model), more = model.isProblemCut ? `; only the worst ${model.problems.length} are shown` : '';
	return `${count(problems, 'problem')} on ${model.isProblemCut ? 'at least ' : ''}${grouped(ports)} of ${count(model.ports?.length ?? 0, 'port')}${devices > 0 ? ` and ${count(devices, 'device')}` : ''}${more}`;
}
