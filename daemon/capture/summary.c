#include "summary.h"

#include "frame.h"

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

static void note(struct capture_place *first, const struct capture_packet *p)
{
	if (first->number == 0)
		*first = (struct capture_place){p->number, p->offset};
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
		note(&s->bad_icrc, p);
}

/* A request that is sent again waits no more: whose ACK comes then cannot be told. */
static void await(struct capture_summary *s, const struct roce_packet *roce, uint64_t now,
		  bool again)
{
	struct roce_pending value = {.sent_ns = now, .qpn = roce->qpn};
	struct roce_pending_key key;

	roce_pending_key_of(roce, false, &key);
	if (again)
		pending_table_take(&s->pending, &key, &value);
	else
		pending_table_put(&s->pending, &key, &value);
}

static void answered(struct capture_summary *s, const struct roce_packet *roce, uint64_t now)
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
	bool again;

	roce_flow_key_of(roce, &key);
	again = roce_flow_count(flow_table_get(&s->flows, &key, s->packets), roce, bytes, now);
	s->retransmissions += again;
	if (now && roce_asks(roce))
		await(s, roce, now, again);
	else if (now && roce_answers(roce))
		answered(s, roce, now);
}

static void add_frame(struct capture_summary *s, const struct capture_packet *p,
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
		note(&s->malformed, p);
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
		add_frame(s, p, &frame, bytes);
	else
		s->cut++;
}
