/* summary_json.c - see summary.h. A value that cannot be made for want of memory fails the
 * json_pack() around it. Pure. */
#include <arpa/inet.h>
#include <stdlib.h>

#include "cleanup.h"
#include "frame.h"
#include "summary.h"
#include "utc_text.h"

#define NUMBER(n) ((json_int_t)(n))

/* Takes both; NULL when either is none or cannot be appended to. */
static json_t *push(json_t *list, json_t *item)
{
	if (!item || json_array_append_new(list, item) < 0) {
		json_decref(list);
		return NULL;
	}
	return list;
}

/* --- counts ----------------------------------------------------------------------------------- */

static json_t *ecn_json(const struct roce_counts *c)
{
	uint64_t sums[4] = {0};

	for (size_t i = 0; i < 256; i++)
		sums[i & 3] += c->traffic_class[i];
	return json_pack("{sI sI sI sI}", "notEct", NUMBER(sums[0]), "ect1", NUMBER(sums[1]),
			 "ect0", NUMBER(sums[2]), "ce", NUMBER(sums[3]));
}

static json_t *dscp_json(const struct roce_counts *c)
{
	json_t *list = json_array();

	for (size_t dscp = 0; list && dscp < 64; dscp++) {
		const __u64 *n = &c->traffic_class[dscp << 2];

		if (n[0] + n[1] + n[2] + n[3] == 0)
			continue;
		list = push(list, json_pack("{sI sI sI sI sI}", "dscp", NUMBER(dscp), "notEct",
					    NUMBER(n[0]), "ect1", NUMBER(n[1]), "ect0",
					    NUMBER(n[2]), "ce", NUMBER(n[3])));
	}
	return list;
}

static const char *const transport_names[N_ROCE_TRANSPORTS] = {
	[ROCE_RC] = "rc", [ROCE_UC] = "uc",   [ROCE_RD] = "rd", [ROCE_UD] = "ud",
	[4] = "cnp",	  [ROCE_XRC] = "xrc", [6] = "6",	[7] = "7",
};

static const char *const op_names[N_ROCE_OPS] = {
	[ROCE_SEND] = "send",
	[ROCE_WRITE] = "write",
	[ROCE_READ_REQUEST] = "readRequest",
	[ROCE_READ_RESPONSE] = "readResponse",
	[ROCE_ACK] = "ack",
	[ROCE_ATOMIC] = "atomic",
	[ROCE_ATOMIC_ACK] = "atomicAck",
	[ROCE_OP_OTHER] = "other",
};

static json_t *operations_json(const struct roce_counts *c)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < N_ROCE_TRANSPORTS * N_ROCE_OPS; i++)
		if (c->ops[i])
			list = push(list, json_pack("{ss ss sI}", "transport",
						    transport_names[i / N_ROCE_OPS], "operation",
						    op_names[i % N_ROCE_OPS], "packets",
						    NUMBER(c->ops[i])));
	return list;
}

static json_t *syndromes_json(const __u64 n[N_ROCE_SYNDROMES])
{
	return json_pack("{sI sI sI sI sI sI sI sI}", "ack", NUMBER(n[ROCE_SYN_ACK]), "rnrNak",
			 NUMBER(n[ROCE_SYN_RNR]), "sequenceNak", NUMBER(n[ROCE_SYN_SEQUENCE]),
			 "invalidRequestNak", NUMBER(n[ROCE_SYN_INVALID_REQUEST]),
			 "remoteAccessNak", NUMBER(n[ROCE_SYN_REMOTE_ACCESS]), "remoteOperationNak",
			 NUMBER(n[ROCE_SYN_REMOTE_OPERATION]), "invalidRdNak",
			 NUMBER(n[ROCE_SYN_INVALID_RD]), "other", NUMBER(n[ROCE_SYN_OTHER]));
}

static json_t *place_json(const struct capture_place *p)
{
	if (p->number == 0)
		return json_null();
	return json_pack("{sI sI}", "packet", NUMBER(p->number), "offset", NUMBER(p->offset));
}

static json_t *icrc_json(const struct capture_summary *s)
{
	return json_pack("{sI sI sI so}", "good", NUMBER(s->icrc[ICRC_GOOD]), "bad",
			 NUMBER(s->icrc[ICRC_BAD]), "unverifiable",
			 NUMBER(s->icrc[ICRC_UNVERIFIABLE]), "firstBad", place_json(&s->bad_icrc));
}

/* --- flows ------------------------------------------------------------------------------------ */

uint64_t rtt_quantile(const uint32_t rtt[ROCE_RTT_BUCKETS], double share)
{
	double total = 0, below = 0, want;

	for (size_t i = 0; i < ROCE_RTT_BUCKETS; i++)
		total += rtt[i];
	want = total * share;
	for (size_t i = 0; i < ROCE_RTT_BUCKETS; i++) {
		uint64_t high = 1ull << (ROCE_RTT_SHIFT + i), low = i ? high / 2 : 0;

		if (rtt[i] && below + rtt[i] >= want)
			return low + (uint64_t)((double)(high - low) * (want - below) / rtt[i]);
		below += rtt[i];
	}
	return 0;
}

static json_t *rtt_json(const uint32_t rtt[ROCE_RTT_BUCKETS], uint64_t sum_ns, uint64_t count)
{
	if (count == 0)
		return json_null();
	return json_pack("{sI sI sI sI}", "count", NUMBER(count), "meanNs", NUMBER(sum_ns / count),
			 "p50Ns", NUMBER(rtt_quantile(rtt, 0.5)), "p99Ns",
			 NUMBER(rtt_quantile(rtt, 0.99)));
}

/* Of the flows that are still in the table. */
static json_t *all_rtt_json(const struct flow_table *t)
{
	uint32_t rtt[ROCE_RTT_BUCKETS] = {0};
	uint64_t sum_ns = 0, count = 0;

	for (size_t i = 0; i < t->n_sets * FLOW_WAYS; i++) {
		const struct roce_flow *f = &t->entries[i].flow;

		for (size_t k = 0; k < ROCE_RTT_BUCKETS; k++)
			rtt[k] += f->rtt[k];
		sum_ns += f->rtt_sum_ns;
		count += f->rtt_count;
	}
	return rtt_json(rtt, sum_ns, count);
}

static json_t *address_json(const uint8_t a[16])
{
	static const uint8_t ip4[12] = {[10] = 0xff, [11] = 0xff};
	char text[INET6_ADDRSTRLEN] = "";

	if (memcmp(a, ip4, sizeof(ip4)) == 0)
		inet_ntop(AF_INET, a + 12, text, sizeof(text));
	else
		inet_ntop(AF_INET6, a, text, sizeof(text));
	return json_string(text);
}

static json_t *flow_json(const struct flow_entry *e)
{
	const struct roce_flow *f = &e->flow;

	return json_pack("{so so sI sI sI sI sI sI sI sI so}", "source", address_json(e->key.saddr),
			 "destination", address_json(e->key.daddr), "qpn", NUMBER(e->key.qpn),
			 "packets", NUMBER(f->packets), "bytes", NUMBER(f->bytes), "ce",
			 NUMBER(f->ce), "cnp", NUMBER(f->cnp), "naks", NUMBER(f->naks), "rnrNaks",
			 NUMBER(f->rnr_naks), "retransmissions", NUMBER(f->retransmissions), "rtt",
			 rtt_json(f->rtt, f->rtt_sum_ns, f->rtt_count));
}

static json_t *flows_json(const struct flow_table *t, size_t n)
{
	AUTO_FREE const struct flow_entry **top = calloc(n + 1, sizeof(struct flow_entry *));
	json_t *list = top ? json_array() : NULL;
	size_t n_top = top ? flow_table_top(t, top, n) : 0;

	for (size_t i = 0; list && i < n_top; i++)
		list = push(list, flow_json(top[i]));
	return list;
}

/* --- all -------------------------------------------------------------------------------------- */

static json_t *roce_json(const struct capture_summary *s)
{
	const struct roce_counts *c = &s->counts;

	return json_pack("{sI sI sI sI sI sI sI so sI sI sI sI sI sI sI so so so so so so}",
			 "packets", NUMBER(c->packets), "bytes", NUMBER(c->bytes), "v1",
			 NUMBER(c->v1), "ipv4", NUMBER(c->ip4), "ipv6", NUMBER(c->ip6), "fragments",
			 NUMBER(c->fragments), "malformed", NUMBER(c->malformed), "firstMalformed",
			 place_json(&s->malformed), "cnp", NUMBER(c->cnp), "fecn", NUMBER(c->fecn),
			 "becn", NUMBER(c->becn), "solicited", NUMBER(c->solicited),
			 "requestedReadBytes", NUMBER(c->requested_read_bytes),
			 "requestedWriteBytes", NUMBER(c->requested_write_bytes), "retransmissions",
			 NUMBER(s->retransmissions), "ecn", ecn_json(c), "dscp", dscp_json(c),
			 "operations", operations_json(c), "syndromes",
			 syndromes_json(c->syndromes), "icrc", icrc_json(s), "rtt",
			 all_rtt_json(&s->flows));
}

static json_t *time_json(uint64_t ns)
{
	char text[UTC_TEXT_SIZE];

	utc_text(ns / 1000000, text);
	return text[0] ? json_string(text) : json_null();
}

/* {"type":105,"name":"IEEE802_11"}; null: every link is known, or has no name. */
static json_t *unknown_link_json(const struct capture_summary *s)
{
	const char *name = link_name(s->unknown_link);

	if (s->unknown_links == 0)
		return json_null();
	return json_pack("{sI ss?}", "type", NUMBER(s->unknown_link), "name", *name ? name : NULL);
}

json_t *summary_json(const struct capture_summary *s, size_t n_flows)
{
	return json_pack("{sI sI so sf sI sI sI so sI so so sI sI}", "packets", NUMBER(s->packets),
			 "bytes", NUMBER(s->bytes), "start", time_json(s->first_ns), "seconds",
			 (double)(s->last_ns - s->first_ns) / 1e9, "otherPackets",
			 NUMBER(s->others), "cutPackets", NUMBER(s->cut), "unknownLinkPackets",
			 NUMBER(s->unknown_links), "unknownLink", unknown_link_json(s),
			 "pauseFrames", NUMBER(s->counts.pauses), "roce", roce_json(s), "flows",
			 flows_json(&s->flows, n_flows), "flowsSeen", NUMBER(s->flows.inserts),
			 "flowsPushedOut", NUMBER(s->flows.evictions));
}
