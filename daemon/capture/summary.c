// SPDX-License-Identifier: Apache-2.0
#include "summary.h"

#include <stdlib.h>

#include "cleanup.h"
#include "frame.h"
#include "json_text.h"
#include "packet_sample.h"
#include "utc_text.h"

int summary_init(struct capture_summary *s)
{
	int r;

	*s = (struct capture_summary){0};
	r = flow_table_init(&s->flows, FLOW_TABLE_SIZE);
	if (r == 0)
		r = pending_table_init(&s->pending);
	if (r < 0)
		summary_done(s);
	return r;
}

void summary_done(struct capture_summary *s)
{
	flow_table_done(&s->flows);
	pending_table_done(&s->pending);
}

static void position_note(struct capture_position *first, const struct capture_packet *p)
{
	if (first->number == 0)
		*first = (struct capture_position){p->number, p->offset};
}

static void add_time(struct capture_summary *s, uint64_t ns)
{
	if (ns && (s->first_ns == 0 || ns < s->first_ns))
		s->first_ns = ns;
	if (ns > s->last_ns)
		s->last_ns = ns;
}

static void add_icrc(struct capture_summary *s, const struct capture_packet *p,
		     const struct roce_frame *frame, const struct roce_packet *roce)
{
	enum icrc_verdict verdict = icrc_check(frame, roce);

	s->icrc[verdict]++;
	if (verdict == ICRC_BAD)
		position_note(&s->bad_icrc, p);
}

/* Stores a request that waits for its ACK. A retransmitted one is removed, because its ACK may be
 * for either copy. */
static void summary_add_request(struct capture_summary *s, const struct roce_packet *roce,
				uint64_t now, bool is_retransmission)
{
	struct roce_pending value = {.sent_ns = now, .qpn = roce->qpn};
	struct roce_pending_key key;

	roce_pending_key_of(roce, false, &key);
	if (is_retransmission)
		pending_table_take(&s->pending, &key, &value);
	else
		pending_table_put(&s->pending, &key, &value);
}

/* Adds the round-trip time of an ACK to the flow of its request. */
static void summary_end_request(struct capture_summary *s, const struct roce_packet *roce,
				uint64_t now)
{
	struct roce_pending_key key;
	struct roce_pending request;
	struct roce_flow_key flow_key;
	struct roce_flow *flow;

	roce_pending_key_of(roce, true, &key);
	if (!pending_table_take(&s->pending, &key, &request) || now < request.sent_ns)
		return;
	roce_pending_flow(&key, &request, &flow_key);
	flow = flow_table_find(&s->flows, &flow_key);
	if (flow)
		roce_flow_round_trip(flow, now - request.sent_ns);
}

static void add_to_flow(struct capture_summary *s, const struct roce_packet *roce, uint32_t bytes,
			uint64_t now)
{
	struct roce_flow_key key;
	bool is_retransmission;

	roce_flow_key_of(roce, &key);
	is_retransmission = roce_flow_count(flow_table_get(&s->flows, &key, s->packets), roce,
					    bytes, now);
	s->retransmissions += is_retransmission;
	if (now && roce_requests_ack(roce))
		summary_add_request(s, roce, now, is_retransmission);
	else if (now && roce_is_ack(roce))
		summary_end_request(s, roce, now);
}

static void summary_add_frame(struct capture_summary *s, const struct capture_packet *p,
			      const struct roce_frame *frame, uint32_t bytes)
{
	struct roce_packet roce = {0};
	enum roce_verdict verdict = roce_decode(frame, &roce);

	roce_count(&s->counts, verdict, &roce, bytes);
	switch (verdict) {
	case ROCE_OTHER:
		s->others++;
		break;
	case ROCE_PACKET:
		add_to_flow(s, &roce, bytes, p->time_ns);
		add_icrc(s, p, frame, &roce);
		break;
	case ROCE_MALFORMED:
		position_note(&s->malformed, p);
		break;
	case ROCE_CUT:
		s->cut++;
		break;
	case ROCE_FRAGMENT:
	case ROCE_PAUSE:
		break;
	}
}

static void note_unknown_link(struct capture_summary *s, uint32_t link)
{
	if (s->unknown_links++ == 0)
		s->unknown_link = link;
}

void summary_add(struct capture_summary *s, const struct capture_packet *p)
{
	struct roce_frame frame;
	uint32_t bytes;

	s->packets++;
	s->bytes += p->length;
	add_time(s, p->time_ns);
	if (!link_is_known(p->link))
		note_unknown_link(s, p->link);
	else if (frame_of(&frame, &bytes, p))
		summary_add_frame(s, p, &frame, bytes);
	else
		s->cut++;
}

/* --- as JSON ---------------------------------------------------------------------------------- */

/* NULL values, from failed allocations, make the json_pack() around them fail. */

#define NUMBER(n) ((json_int_t)(n))

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
		list = json_push(list, json_pack("{sI sI sI sI sI}", "dscp", NUMBER(dscp), "notEct",
						 NUMBER(n[0]), "ect1", NUMBER(n[1]), "ect0",
						 NUMBER(n[2]), "ce", NUMBER(n[3])));
	}
	return list;
}

static json_t *operations_json(const struct roce_counts *c)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < N_ROCE_TRANSPORTS * N_ROCE_OPS; i++)
		if (c->ops[i])
			list = json_push(list,
					 json_pack("{ss ss sI}", "transport",
						   roce_transport_name((unsigned)(i / N_ROCE_OPS)),
						   "operation",
						   roce_op_name((enum roce_op)(i % N_ROCE_OPS)),
						   "packets", NUMBER(c->ops[i])));
	return list;
}

static json_t *syndromes_json(const __u64 n[N_ROCE_SYNDROMES])
{
	json_t *object = json_object();

	for (int i = 0; i < N_ROCE_SYNDROMES; i++)
		if (object && json_object_set_new(object, roce_syndrome_name((enum roce_syndrome)i),
						  json_integer(NUMBER(n[i]))) < 0) {
			json_decref(object);
			object = NULL;
		}
	return object;
}

static json_t *position_json(const struct capture_position *p)
{
	if (p->number == 0)
		return json_null();
	return json_pack("{sI sI}", "packet", NUMBER(p->number), "offset", NUMBER(p->offset));
}

static json_t *icrc_json(const struct capture_summary *s)
{
	return json_pack("{sI sI sI so}", "good", NUMBER(s->icrc[ICRC_GOOD]), "bad",
			 NUMBER(s->icrc[ICRC_BAD]), "unverifiable",
			 NUMBER(s->icrc[ICRC_UNVERIFIABLE]), "firstBad",
			 position_json(&s->bad_icrc));
}

/* --- flows ------------------------------------------------------------------------------------ */

static json_t *rtt_json(const uint32_t rtt[ROCE_RTT_BUCKETS], uint64_t sum_ns, uint64_t count)
{
	if (count == 0)
		return json_null();
	return json_pack("{sI sI sI sI}", "count", NUMBER(count), "meanNs", NUMBER(sum_ns / count),
			 "p50Ns", NUMBER(roce_rtt_quantile(rtt, 0.5)), "p99Ns",
			 NUMBER(roce_rtt_quantile(rtt, 0.99)));
}

/* Returns the round-trip times of all flows that are still in the table. */
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

static json_t *summary_address_json(const uint8_t address[16])
{
	char text[INET6_ADDRSTRLEN];

	roce_address_text(address, text);
	return json_string(text);
}

static json_t *flow_json(const struct flow_entry *e)
{
	const struct roce_flow *f = &e->flow;

	return json_pack("{so so sI sI sI sI sI sI sI sI so}", "source",
			 summary_address_json(e->key.saddr), "destination",
			 summary_address_json(e->key.daddr), "qpn", NUMBER(e->key.qpn), "packets",
			 NUMBER(f->packets), "bytes", NUMBER(f->bytes), "ce", NUMBER(f->ce), "cnp",
			 NUMBER(f->cnp), "naks", NUMBER(f->naks), "rnrNaks", NUMBER(f->rnr_naks),
			 "retransmissions", NUMBER(f->retransmissions), "rtt",
			 rtt_json(f->rtt, f->rtt_sum_ns, f->rtt_count));
}

static json_t *flows_json(const struct flow_table *t, size_t n)
{
	AUTO_FREE const struct flow_entry **top = calloc(n + 1, sizeof(struct flow_entry *));
	json_t *list = top ? json_array() : NULL;
	size_t n_top = top ? flow_table_top(t, top, n) : 0;

	for (size_t i = 0; list && i < n_top; i++)
		list = json_push(list, flow_json(top[i]));
	return list;
}

/* --- the document ----------------------------------------------------------------------------- */

static json_t *roce_json(const struct capture_summary *s)
{
	const struct roce_counts *c = &s->counts;

	return json_pack(
		"{sI sI sI sI sI sI sI so sI sI sI sI sI sI sI so so so so so so}", "packets",
		NUMBER(c->packets), "bytes", NUMBER(c->bytes), "v1", NUMBER(c->v1), "ipv4",
		NUMBER(c->ip4), "ipv6", NUMBER(c->ip6), "fragments", NUMBER(c->fragments),
		"malformed", NUMBER(c->malformed), "firstMalformed", position_json(&s->malformed),
		"cnp", NUMBER(c->cnp), "fecn", NUMBER(c->fecn), "becn", NUMBER(c->becn),
		"solicited", NUMBER(c->solicited), "requestedReadBytes",
		NUMBER(c->requested_read_bytes), "requestedWriteBytes",
		NUMBER(c->requested_write_bytes), "retransmissions", NUMBER(s->retransmissions),
		"ecn", ecn_json(c), "dscp", dscp_json(c), "operations", operations_json(c),
		"syndromes", syndromes_json(c->syndromes), "icrc", icrc_json(s), "rtt",
		all_rtt_json(&s->flows));
}

static json_t *summary_time_json(uint64_t ns)
{
	char text[UTC_TEXT_SIZE];

	utc_text(ns / 1000000, text);
	return text[0] ? json_string(text) : json_null();
}

/* Returns an object such as {"type":105,"name":"IEEE802_11"}; null: every link type is supported.
 * An unknown name is null. */
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
			 "bytes", NUMBER(s->bytes), "start", summary_time_json(s->first_ns),
			 "seconds", (double)(s->last_ns - s->first_ns) / 1e9, "otherPackets",
			 NUMBER(s->others), "cutPackets", NUMBER(s->cut), "unknownLinkPackets",
			 NUMBER(s->unknown_links), "unknownLink", unknown_link_json(s),
			 "pauseFrames", NUMBER(s->counts.pauses), "roce", roce_json(s), "flows",
			 flows_json(&s->flows, n_flows), "flowsSeen", NUMBER(s->flows.inserts),
			 "flowsPushedOut", NUMBER(s->flows.evictions));
}
