// SPDX-License-Identifier: Apache-2.0
#include "schema_about.h"

#include <stdio.h>
#include <string.h>

#include "api_attachments.h"
#include "api_resources.h"
#include "attachment.h"
#include "cause.h"
#include "cleanup.h"
#include "diagnosis.h"
#include "doctor.h"
#include "event_ring.h"
#include "model.h"
#include "network_answer.h"
#include "pool_config.h"
#include "search.h"
#include "verdict.h"

/* --- closed sets of words --------------------------------------------------------------------- */

#define WORDS(name, function, type)                                                                \
	static const char *name(int i)                                                             \
	{                                                                                          \
		return function((type)i);                                                          \
	}

WORDS(of_kind, fn_kind_name, enum fn_kind)
WORDS(of_netns_mode, rdma_netns_mode_name, enum rdma_netns_mode)
WORDS(of_vf_link, vf_link_name, enum vf_link)
WORDS(of_port_state, port_state_name, enum port_state)
WORDS(of_phys_state, phys_state_name, enum phys_state)
WORDS(of_link_layer, link_layer_name, enum link_layer)
WORDS(of_gid_type, gid_type_name, enum gid_type)
WORDS(of_reason, health_reason_name, enum health_reason)
WORDS(of_registration, registration_name, enum registration_state)
WORDS(of_reservation, reservation_name, enum reservation_state)
WORDS(of_watch, port_watch_name, enum port_watch)
WORDS(of_event_type, event_type_name, enum event_type)
WORDS(of_finding, finding_kind_name, enum finding_kind)
WORDS(of_trouble, trouble_kind_name, enum trouble_kind)
WORDS(of_answer, network_word_name, enum network_word)
WORDS(of_node_action, node_action_name, enum node_action)

/* Without "none": a verdict or trouble has a severity. */
static const char *of_severity(int i)
{
	return i == SEVERITY_NONE ? NULL : severity_name((enum severity)i);
}

/* Of a port or device: "ok", or the severity of the worst trouble. */
static const char *of_health(int i)
{
	return i == SEVERITY_NONE ? "ok" : severity_name((enum severity)i);
}

static const char *of_cause(int i)
{
	return cause_row((enum cause)i)->name;
}

/* An attachment that is free is not listed. */
static const char *of_attach_state(int i)
{
	return i == ATTACH_FREE ? NULL : attach_state_name((enum attach_state)i);
}

static const char *of_about(int i)
{
	return i ? "host" : "rocelet";
}

static const char *of_source(int i)
{
	return i ? "checkpoint" : "api";
}

static const char *of_door(int i)
{
	return api_door_name((enum attach_door)i);
}

#define KIND	    of_kind, FN_VIRTUAL + 1
#define SEVERITY    of_severity, SEVERITY_CRITICAL + 1
#define HEALTH	    of_health, SEVERITY_CRITICAL + 1
#define WATCH	    of_watch, WATCH_NOT_APPLICABLE + 1
#define CAUSE	    of_cause, N_CAUSES
#define PORTSTATE   of_port_state, PORT_ACTIVE_DEFER + 1
#define LAYER	    of_link_layer, LINK_INFINIBAND + 1
#define ANY	    NULL, 0
#define NODE_ACTION of_node_action, N_NODE_ACTIONS

/* --- members ---------------------------------------------------------------------------------- */

static const struct schema_about rows[] = {
	/* Common to several objects */
	{"device", "the RDMA device", ANY},
	{"port", "number of the port", ANY},
	{"namespace", "Kubernetes namespace of the pod", ANY},
	{"pod", "name of the pod that has the device", ANY},
	{"container", "name of the container", ANY},
	{"uid", "UID of the pod", ANY},
	{"name", "its name", ANY},
	{"time", "time of the newest judged sample", ANY},
	{"timeMs", "the same in ms of the node's monotonic clock", ANY},
	{"generation", "a number that differs after each change", ANY},
	{"resource", "the resource, PREFIX/NAME", ANY},
	{"resources", "resources offered to the kubelet", ANY},
	{"netdev", "the port's netdev", ANY},
	{"function", "bus name of the function", ANY},
	{"driver", "the driver in use", ANY},
	{"kind", "PF, VF, sub-function, or an RDMA device without hardware", KIND},
	{"parent", "bus name of the VF's PF, or of the sub-function's PCI function", ANY},
	{"vf", "index of the VF on its PF", ANY},
	{"rdma", "the name of its RDMA device", ANY},
	{"netns", "network namespace: a path or name", ANY},
	{"nsid", "the kernel's ID of the network namespace; -1: the host's", ANY},
	{"mac", "MAC address", ANY},
	{"mtu", "MTU in bytes", ANY},
	{"node", "the node's name", ANY},
	{"version", "version of rocelet", ANY},
	{"started", "when rocelet started", ANY},
	{"error", "the last error, a sentence; null: none", ANY},
	{"watch", "how the port is watched; only a judged one can be called healthy", WATCH},
	{"health", "severity of the worst trouble; null: unknown", HEALTH},
	{"troubles", "all troubles, the worst first", ANY},
	{"severity", "how bad it is", SEVERITY},
	{"level", "the severity as a number, 1 to 3", ANY},
	{"since", "since when; null: unknown", ANY},
	{"orEarlier", "it already existed when it was first judged", ANY},
	{"what", "a sentence", ANY},
	{"why", "a sentence with the reason", ANY},
	{"help", "what to do", ANY},
	{"cause", "cause of the verdict; the runbook has a section for each", CAUSE},
	{"pods", "pods that it affects", ANY},
	{"attachment", "its interface in a pod; null: none", ANY},
	{"settings", "settings of the host that concern RoCE", ANY},
	{"resets", "number of times that the port's counters started over", ANY},
	{"ignoredRates", "rejected rates: more than the line can carry", ANY},
	{"clearSinceMs",
	 "since when the network is certainly not the bottleneck of the port; null: not certain",
	 ANY},
	{"state", "its state", ANY},
	{"linkLayer", "link layer of the port", LAYER},
	{"rateBitsPerSecond", "rate of the link", ANY},
	{"activeMtu", "RoCE MTU in use, in bytes", ANY},
	{"ports", "the ports", ANY},
	{"devices", "the devices", ANY},
	{"verdicts", "open verdicts, the worst first", ANY},
	{"ended", "verdicts that ended in the last hour", ANY},
	{"everyMs", "interval of the samples", ANY},
	{"speed", "speed in MT/s", ANY},
	{"maxSpeed", "highest speed in MT/s", ANY},
	{"width", "number of lanes", ANY},
	{"maxWidth", "highest number of lanes", ANY},
	{"dscp", "differentiated services codepoint", ANY},
	{"tos", "type of service of new connections", ANY},
	{"type", "its type", ANY},
	{"atMs", "time of each sample", ANY},
	{"signals", "values of each signal, one for each time", ANY},
	{"unit", "unit of the value; null: none", ANY},
	{"value", "the value; null: not visible", ANY},

	{"Error.error", "what was wrong with the request", ANY},
	{"Index.upSeconds", "how long rocelet has been running", ANY},
	{"Index.routes", "all paths", ANY},
	{"Route.path", "the path", ANY},
	{"Route.query", "parameters of its query", ANY},
	{"Route.what", "the document", ANY},
	{"Parameter.type", "type of JSON Schema", ANY},
	{"Parameter.what", "its meaning", ANY},

	{"Devices.rdmaNetnsMode", "whether RDMA devices belong to network namespaces",
	 of_netns_mode, RDMA_NETNS_EXCLUSIVE + 1},
	{"Device.id", "bus name, or the name of an RDMA device without hardware", ANY},
	{"Device.sf", "number of the sub-function", ANY},
	{"Device.vendor", "PCI vendor ID, hexadecimal", ANY},
	{"Device.device", "PCI device ID, hexadecimal", ANY},
	{"Device.class", "PCI class code, hexadecimal", ANY},
	{"Device.numaNode", "NUMA node", ANY},
	{"Device.numVfs", "number of VFs", ANY},
	{"Device.totalVfs", "highest number of VFs", ANY},
	{"Device.pciPath", "bus names from the root complex to the parent", ANY},
	{"Device.acpiIndex", "the firmware's index of an on-board device", ANY},
	{"Device.vfio", "node of the IOMMU group below /dev", ANY},
	{"Device.uio", "UIO node below /dev", ANY},
	{"Device.vdpa", "its vDPA device", ANY},
	{"Device.vfLinkState", "VF link state that the PF sets", of_vf_link, VF_LINK_DISABLE + 1},
	{"Device.unreachable", "reads from its configuration space return only ones", ANY},
	{"Device.devlinkError", "devlink health reporter in state error", ANY},
	{"Device.netdevs", "its netdevs in all namespaces", ANY},
	{"Device.rdma", "its RDMA devices", ANY},
	{"Device.resources", "the resources that offer it", ANY},
	{"Device.notOffered", "a sentence on why no resource offers it; null: one does", ANY},
	{"Device.why", "one sentence: its owner, or why it has none", ANY},
	{"Vdpa.driver", "driver on the vDPA bus", ANY},
	{"Vdpa.node", "node below /dev", ANY},
	{"Netdev.altnames", "alternative names", ANY},
	{"Netdev.ifindex", "index in its namespace", ANY},
	{"Netdev.operstate", "RFC 2863 state", ANY},
	{"Netdev.carrier", "whether it has carrier", ANY},
	{"Netdev.up", "whether it is set up", ANY},
	{"Netdev.master", "bond or bridge that it is in", ANY},
	{"Netdev.portName", "name of the port on the NIC's switch", ANY},
	{"Netdev.defaultRoute", "whether a default route uses it", ANY},
	{"RdmaDevice.index", "the kernel's index of the device", ANY},
	{"RdmaDevice.firmware", "version of the firmware", ANY},
	{"RdmaDevice.board", "ID of the board", ANY},
	{"RdmaDevice.hcaType", "type of the card", ANY},
	{"RdmaDevice.nodeGuid", "node GUID", ANY},
	{"RdmaDevice.sysImageGuid", "system image GUID, the same for all functions of a card", ANY},
	{"RdmaDevice.charDevices", "its character devices", ANY},
	{"CharDevices.uverbs", "node in /dev/infiniband for verbs", ANY},
	{"CharDevices.umad", "node for management datagrams", ANY},
	{"CharDevices.issm", "node for subnet managers", ANY},
	{"CharDevices.ucm", "node for connection management", ANY},
	{"RdmaPort.state", "logical state", PORTSTATE},
	{"RdmaPort.physicalState", "physical state", of_phys_state, PHYS_TEST + 1},
	{"RdmaPort.maxMtu", "highest RoCE MTU in bytes", ANY},
	{"RdmaPort.pkey", "first partition key", ANY},
	{"RdmaPort.gidTableLength", "number of entries of the GID table", ANY},
	{"RdmaPort.gids", "entries in use", ANY},
	{"Gid.index", "index in the GID table", ANY},
	{"Gid.gid", "the GID", ANY},
	{"Gid.type", "protocol", of_gid_type, GID_ROCE_V2 + 1},
	{"Gid.netdev", "netdev of the address", ANY},
	{"Settings.pfc", "priorities with PFC", ANY},
	{"Settings.peerPfc", "priorities with PFC of the peer, by LLDP", ANY},
	{"Settings.dscpTrusted", "whether DSCP decides the priority", ANY},
	{"Settings.dscpPriorities", "priority of each DSCP", ANY},
	{"Settings.ets", "traffic classes", ANY},
	{"Settings.pause", "global pause", ANY},
	{"Settings.dcbx", "DCBX modes", ANY},
	{"Settings.rdmaCm", "defaults of rdma_cm", ANY},
	{"Settings.pcie", "the PCIe link", ANY},
	{"Settings.slowSegments", "PCIe links above that are slower than they could be", ANY},
	{"Ets.classes", "traffic class of each priority", ANY},
	{"Ets.algorithms", "selection algorithm of each traffic class", ANY},
	{"Ets.percents", "bandwidth of each traffic class in percent", ANY},
	{"Pause.receives", "pause frames of the peer are obeyed", ANY},
	{"Pause.sends", "pause frames are sent", ANY},
	{"RdmaCm.type", "GID type of new connections", ANY},
	{"Segment.bridge", "bus name of the bridge", ANY},
	{"DeviceResource.id", "ID for the kubelet; null for a shared resource", ANY},
	{"shared", "several containers may have the same device", ANY},
	{"DeviceResource.healthy", "as reported to the kubelet", ANY},
	{"DeviceResource.reasons", "why it is unhealthy", of_reason, N_HEALTH_REASONS},
	{"DeviceResource.unhealthySince", "since when; null: healthy, or unknown", ANY},
	{"DeviceResource.state", "whether the kubelet has allocated it", of_reservation,
	 RESERVATION_HELD + 1},
	{"DeviceResource.holder", "the container that has it", ANY},
	{"Attachment.state", "state of the interface", of_attach_state, ATTACH_BAD + 1},
	{"Attachment.id", "ID for the kubelet", ANY},
	{"Attachment.door", "how it was requested", of_door, DOOR_ADMIN + 1},
	{"Attachment.interface", "name in the pod", ANY},
	{"Attachment.name", "name in the host, restored on return", ANY},
	{"Attachment.rdma", "RDMA device in the pod", ANY},
	{"Attachment.ips", "addresses", ANY},
	{"Attachment.vlan", "VLAN; null: unchanged", ANY},
	{"Attachment.mac", "requested MAC address; null: unchanged", ANY},
	{"Attachment.mtu", "requested MTU; null: unchanged", ANY},
	{"Attachment.step", "the step that runs; null: none", ANY},
	{"Attachment.drift", "settings that differ from the plan", ANY},
	{"Attachment.tries", "failed attempts", ANY},
	{"Attachments.attachments", "interfaces in pods, and devices in transit", ANY},

	{"Resource.name", "the resource, PREFIX/NAME", ANY},
	{"Resource.devices", "number of devices", ANY},
	{"Resource.healthy", "number of healthy devices", ANY},
	{"Resource.allocated",
	 "number of devices that containers have, or get; null until the kubelet's list of "
	 "containers is read",
	 ANY},
	{"Resource.free", "number of devices that new pods can get; null while this is unknown",
	 ANY},
	{"Resource.gidCapacity", "number of containers for which the GID tables have room", ANY},
	{"Resource.registration", "whether the kubelet knows the resource", of_registration,
	 REGISTRATION_REFUSED + 1},
	{"Resource.hint", "why it has no devices", ANY},
	{"Resource.registrations", "successful registrations", ANY},
	{"Resource.registrationFailures", "failed registrations", ANY},
	{"Resource.listsSent", "lists sent to the kubelet", ANY},

	{"Pods.source", "where the allocations were read; null: they are unknown", of_source, 2},
	{"Pods.error", "why the kubelet does not report the allocations now, so these may be old",
	 ANY},
	{"Pods.pods", "pods with devices", ANY},
	{"Pod.name", "name of the pod", ANY},
	{"Pod.network", "is it the network?", ANY},
	{"Pod.containers", "its containers with devices", ANY},
	{"NetworkAnswer.answer", "whether the network is at fault", of_answer, N_NETWORK_WORDS},
	{"NetworkAnswer.why", "the answer as a sentence", ANY},
	{"ContainerDevice.id", "ID for the kubelet", ANY},
	{"Trouble.kind", "what it is a trouble of", of_trouble, N_TROUBLE_KINDS},
	{"DeviceTrouble.kind", "what it is a trouble of", of_trouble, N_TROUBLE_KINDS},
	{"Trouble.word", "its word; `rocectl explain WORD` explains it", ANY},
	{"DeviceTrouble.word", "its word; `rocectl explain WORD` explains it", ANY},
	{"DeviceTrouble.device", "ID of the device", ANY},
	{"ofPf", "a verdict on the port of the VF's PF", ANY},

	{"Events.events", "the oldest first", ANY},
	{"Live.events", "events after the client's", ANY},
	{"Event.type", "type as in Kubernetes", of_event_type, EVENT_WARNING + 1},
	{"Event.reason", "what happened, one word", ANY},
	{"Event.device", "bus name of the device", ANY},
	{"Event.message", "a sentence", ANY},
	{"Event.count", "how often it happened", ANY},
	{"Event.first", "when it first happened", ANY},
	{"Event.last", "when it last happened", ANY},
	{"Event.pod", "the first of the pods", ANY},
	{"Event.pods", "pods that the event is about", ANY},

	{"QueuePairs.source", "events (as of now) or netlink (see ageSeconds)", ANY},
	{"QueuePairs.ageSeconds", "age of the table", ANY},
	{"QueuePairs.retries", "false: rocelet has given up reading them, see error", ANY},
	{"QueuePairs.dropped", "queue pairs for which there was no room", ANY},
	{"QueuePairs.flows", "whether flows are counted", ANY},
	{"QueuePairs.qps", "the queue pairs", ANY},
	{"QueuePairs.total", "their number before the limit", ANY},
	{"QueuePair.qpn", "number of the queue pair", ANY},
	{"QueuePair.address", "its address", ANY},
	{"QueuePair.peerQpn", "number of the peer's queue pair", ANY},
	{"QueuePair.peerAddress", "address of the peer", ANY},
	{"QueuePair.pid", "process that created it", ANY},
	{"QueuePair.comm", "name of that process", ANY},
	{"QueuePair.kernel", "it belongs to the kernel", ANY},
	{"QueuePair.trafficClass", "traffic class in the IP header", ANY},
	{"QueuePair.ecn", "ECN bits", ANY},
	{"QueuePair.timeout", "exponent of the acknowledgement timeout", ANY},
	{"QueuePair.retryCount", "retries after a timeout", ANY},
	{"QueuePair.rnrRetry", "retries after receiver-not-ready", ANY},
	{"QueuePair.failure", "why it failed; null: it did not", ANY},
	{"QueuePair.received", "the flow to it", ANY},
	{"QueuePair.sent", "the flow to its peer", ANY},
	{"Flow.packets", "packets", ANY},
	{"Flow.bytes", "bytes", ANY},
	{"Flow.ce", "packets marked congestion experienced", ANY},
	{"Flow.cnp", "congestion notification packets", ANY},
	{"Flow.naks", "negative acknowledgements", ANY},
	{"Flow.rnr", "receiver-not-ready answers", ANY},
	{"Flow.retransmissions", "packets sent again", ANY},
	{"Flow.rtt", "round trips", ANY},
	{"lastSeen", "when it was last seen", ANY},
	{"Rtt.count", "measurements", ANY},
	{"Rtt.meanNs", "mean", ANY},
	{"Rtt.p50Ns", "median", ANY},
	{"Rtt.p99Ns", "99th percentile", ANY},

	{"Diagnosis.undecided", "causes that cannot be decided", ANY},
	{"Diagnosis.notTheNetwork", "ports whose bottleneck is certainly not the network", ANY},
	{"Diagnosis.troubles", "troubles of pods' devices that no verdict explains", ANY},
	{"Diagnosis.since", "with ended: begin of the requested time; null: not limited", ANY},
	{"Diagnosis.until", "with ended: end of the requested time; null: not limited", ANY},
	{"Diagnosis.knownSince", "with ended: every verdict that ended since then is listed", ANY},
	{"rule", "number of the rule in docs/reference/diagnosis.md", ANY},
	{"onset", "time of the first bad sample", ANY},
	{"onsetMs", "the same in ms of the node's monotonic clock", ANY},
	{"beforeStart", "it began before rocelet's start", ANY},
	{"firstMoved", "the counter that moved first", ANY},
	{"firstSignal", "its signal in /api/v1/history", ANY},
	{"sameSample", "others moved in the same sample", ANY},
	{"clearingSinceMs", "since when the rule says no; null: it still says yes", ANY},
	{"evidence", "the main piece first", ANY},
	{"podCount", "number of the affected pods", ANY},
	{"causedBy", "pods that cause it", ANY},
	{"peer", "address of the peer", ANY},
	{"managementPort", "the port has the node's default route", ANY},
	{"symptoms", "causes that this verdict explains", CAUSE},
	{"sentence", "what is wrong", ANY},
	{"remark", "what the numbers show beyond that", ANY},
	{"advice", "what to do", ANY},
	{"nodeAction", "what to do with the node first", NODE_ACTION},
	{"disproof", "what rules the cause out", ANY},
	{"runbook", "path of the cause's section of the runbook on this server", ANY},
	{"EndedVerdict.ended", "when it ended", ANY},
	{"endedMs", "the same in ms of the node's monotonic clock", ANY},
	{"endedAs", "how it ended: cleared, gone, unseen or explained", ANY},
	{"explainedBy", "the cause that explains it", CAUSE},
	{"Evidence.name", "what was measured", ANY},
	{"Evidence.word", "a value that is no number", ANY},
	{"Evidence.threshold", "the limit of the severity", ANY},
	{"held", "a pod has the device", ANY},

	{"Explanation.device", "bus name of the device", ANY},
	{"Agent.samples", "samples taken", ANY},
	{"Agent.samplesSkipped", "samples skipped because one was still running", ANY},
	{"Agent.sources", "sources of numbers", ANY},
	{"Agent.parts", "parts of rocelet", ANY},
	{"Source.errors", "failed reads", ANY},
	{"Source.ageMs", "time since the last value", ANY},
	{"Part.works", "null: not in use, or unknown", ANY},
	{"Doctor.findings", "problems, grouped by kind", ANY},
	{"Doctor.unchecked", "checks that were not possible", ANY},
	{"Finding.kind", "kind of the problem", of_finding, N_FINDING_KINDS},
	{"Finding.about", "a problem of rocelet itself, or of the host", of_about, 2},
	{"Finding.object", "device or resource; null: the node", ANY},
	{"Finding.fixable", "`rocectl doctor --fix` handles it", ANY},

	{"Ports.warmingMs", "how long a port is watched before it is judged", ANY},
	{"Port.state", "logical state", PORTSTATE},
	{"Port.bytesIncludeVfs", "the PF's byte counters include those of its VFs", ANY},
	{"watchedSinceMs", "start of the present run of samples", ANY},
	{"now", "values of the newest sample by signal", ANY},
	{"Counters.overMs", "time over which the rates are computed", ANY},
	{"Counters.counters", "every counter of the port", ANY},
	{"Counter.type", "type of Prometheus", ANY},
	{"Counter.ofDevice", "it counts for the whole device", ANY},
	{"Counter.rate", "per second", ANY},
	{"Counter.help", "its meaning", ANY},
	{"Histories.stepMs", "time between two values", ANY},

	{"nowMs", "the node's monotonic clock", ANY},
	{"startedMs", "Unix time of rocelet's start", ANY},
	{"generations", "a number per document that differs after each change", ANY},
	{"portsDigest", "changes when the list of ports does", ANY},
	{"Live.signals", "names of the signals of each row", ANY},
	{"complete", "the rows are all that there are, not only those since the client's", ANY},
	{"Live.rows", "samples, the oldest first", ANY},
	{"verdictCount", "number of verdicts", ANY},
	{"problemCount", "number of verdicts of at least a warning", ANY},
	{"Generations.devices", "of /api/v1/devices", ANY},
	{"Generations.resources", "of /api/v1/resources", ANY},
	{"Generations.attachments", "of /api/v1/attachments", ANY},
	{"Generations.settings", "of the settings in /api/v1/devices", ANY},
	{"Generations.config", "of /api/v1/config", ANY},
	{"LiveRow.ports", "name and values of each port", ANY},
};

const struct schema_about *schema_about(const char *object, const char *member)
{
	char full[128];
	const struct schema_about *own;

	snprintf(full, sizeof(full), "%s.%s", object, member);
	own = find_first(rows, ARRAY_SIZE(rows), i, strcmp(rows[i].member, full) == 0);
	return own ? own
		   : find_first(rows, ARRAY_SIZE(rows), i, strcmp(rows[i].member, member) == 0);
}

const struct schema_about *schema_about_row(size_t i)
{
	return i < ARRAY_SIZE(rows) ? &rows[i] : NULL;
}
