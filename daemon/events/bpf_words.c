// SPDX-License-Identifier: Apache-2.0
#include "bpf_words.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "cleanup.h"

const char *ib_event_words(__u32 event)
{
	static const char *const words[] = {
		"completion queue overrun",
		"fatal error of a queue pair",
		"invalid request from the peer",
		"access violation by the peer",
		"communication established",
		"send queue drained",
		"path migrated",
		"path migration failed",
		"fatal error of the device",
		"port is active",
		"port is down",
		"LID changed",
		"partition keys changed",
		"subnet manager changed",
		"error of a shared receive queue",
		"shared receive queue runs low",
		"last work request reached",
		"clients have to register again",
		"GIDs changed",
		"fatal error of a work queue",
	};

	return event < ARRAY_SIZE(words) ? words[event] : "an unknown event";
}

const char *cm_event_words(__u32 event)
{
	static const char *const words[] = {
		[1] = "the address cannot be resolved",
		[3] = "there is no route",
		[6] = "error while connecting",
		[7] = "unreachable",
		[8] = "rejected",
	};

	return event < ARRAY_SIZE(words) && words[event] ? words[event] : "unknown reason";
}

const char *port_event_reason(__u32 event, bool *ret_warning)
{
	switch (event) {
	case PORT_EVENT_FATAL:
		*ret_warning = true;
		return "DeviceFatal";
	case PORT_EVENT_ACTIVE:
		return "PortActive";
	case PORT_EVENT_DOWN:
		*ret_warning = true;
		return "PortDown";
	case PORT_EVENT_GID:
		return "GidChanged";
	default:
		return "PortEvent";
	}
}

/* --- rejects ---------------------------------------------------------------------------------- */

static const struct {
	const char *label, *meaning;
} rejects[] = {
	[1] = {"no_qp", "the peer has no queue pair for it"},
	[2] = {"no_eec", "the peer has no end-to-end context for it"},
	[3] = {"no_resources", "the peer is out of resources"},
	[4] = {"timeout", "the peer waited too long for the next step"},
	[5] = {"unsupported", "the peer does not support this request"},
	[6] = {"invalid_comm_id", "the peer does not know this connection"},
	[7] = {"invalid_comm_instance", "the peer does not know this connection"},
	[8] = {"invalid_service_id", "no process listens on that port"},
	[9] = {"invalid_transport_type", "the peer does not serve this transport"},
	[10] = {"stale_connection", "the peer still has an old connection of this queue pair"},
	[11] = {"rdc_not_exist", "the peer has no such datagram channel"},
	[12] = {"invalid_gid", "the peer does not accept the GID"},
	[13] = {"invalid_lid", "the peer does not accept the LID"},
	[14] = {"invalid_sl", "the peer does not accept the service level"},
	[15] = {"invalid_traffic_class", "the peer does not accept the traffic class"},
	[16] = {"invalid_hop_limit", "the peer does not accept the hop limit"},
	[17] = {"invalid_packet_rate", "the peer does not accept the packet rate"},
	[18] = {"invalid_alternate_path", "the peer does not accept the alternate path"},
	[19] = {"invalid_alternate_path", "the peer does not accept the alternate path"},
	[20] = {"invalid_alternate_path", "the peer does not accept the alternate path"},
	[21] = {"invalid_alternate_path", "the peer does not accept the alternate path"},
	[22] = {"invalid_alternate_path", "the peer does not accept the alternate path"},
	[23] = {"invalid_alternate_path", "the peer does not accept the alternate path"},
	[24] = {"redirect", "the peer redirects to another port"},
	[25] = {"redirect", "the peer redirects to another port"},
	[26] = {"invalid_mtu", "the peer does not accept the path MTU"},
	[27] = {"insufficient_resources", "the peer serves fewer RDMA reads at a time"},
	[28] = {"consumer_defined", "the peer's application refuses it"},
	[29] = {"invalid_rnr_retry", "the peer does not accept the RNR retry count"},
	[30] = {"duplicate_comm_id", "the peer has a connection of this number already"},
	[31] = {"invalid_class_version", "the peer speaks another version"},
	[32] = {"invalid_flow_label", "the peer does not accept the flow label"},
	[33] = {"invalid_alternate_path", "the peer does not accept the alternate path"},
	[35] = {"vendor_option", "the peer does not support a vendor's option"},
};

static bool is_reject(int reason)
{
	if (reason < 0 || (size_t)reason >= ARRAY_SIZE(rejects))
		return false;
	return rejects[reason].label != NULL;
}

const char *cm_reject_label(int reason)
{
	return is_reject(reason) ? rejects[reason].label : "other";
}

const char *cm_reject_meaning(int reason)
{
	return is_reject(reason) ? rejects[reason].meaning : "for a reason that has no name";
}

void bpf_address_text(const __u8 address[16], char *buf, size_t size)
{
	static const __u8 mapped[12] = {[10] = 0xff, [11] = 0xff};
	bool ip4 = memcmp(address, mapped, sizeof(mapped)) == 0;

	if (!inet_ntop(ip4 ? AF_INET : AF_INET6, ip4 ? address + 12 : address, buf,
		       (socklen_t)size))
		snprintf(buf, size, "?");
}
