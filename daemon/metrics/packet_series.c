// SPDX-License-Identifier: Apache-2.0
/* packet_series.c - a table of the series that are always present, and a small writer for each
 * family whose series appear when first seen. */
#include "packet_series.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "host_series.h"
#include <stdio.h>

#include "number.h"

#define RX "direction=\"received\""
#define TX "direction=\"sent\""

static const char *const directions[N_ROCE_DIRECTIONS] = {[ROCE_RECEIVED] = RX, [ROCE_SENT] = TX};

/* --- families --------------------------------------------------------------------------------- */

static const char *const shared[] = {
	"roce_packets_total",
	"roce_bytes_total",
	"roce_ecn_ce_received_packets_total",
	"roce_cnp_sent_packets_total",
	"roce_cnp_received_packets_total",
	"roce_sequence_nak_received_total",
	"roce_rnr_nak_received_total",
	"roce_rnr_nak_sent_total",
};

const char *packet_shared_name(size_t index)
{
	return index < ARRAY_SIZE(shared) ? shared[index] : NULL;
}

enum packet_family {
	PACKET_ECN,
	PACKET_OPCODES,
	PACKET_NAKS,
	PACKET_FLAGS,
	PACKET_VERSIONS,
	PACKET_REQUESTED,
	PACKET_FRAGMENTS,
	PACKET_MALFORMED,
	PACKET_PAUSES,
	PACKET_VISIBLE,
	PACKET_EVICTIONS,
	PACKET_PORTS,
	PACKET_MEMORY,
	N_PACKET_FAMILIES
};

static const struct family families[N_PACKET_FAMILIES] = {
	[PACKET_ECN] = {"roce_ecn_packets_total",
			"RoCE packets counted by BPF, by ECN codepoint and DSCP.", METRIC_COUNTER},
	[PACKET_OPCODES] =
		{"roce_opcode_packets_total",
		 "RoCE packets counted by BPF, by transport and operation, without CNPs.",
		 METRIC_COUNTER},
	[PACKET_NAKS] = {"roce_nak_packets_total",
			 "Negative acknowledgements counted by BPF, by reason.", METRIC_COUNTER},
	[PACKET_FLAGS] = {"roce_flagged_packets_total",
			  "RoCE packets counted by BPF with this bit of the transport header set.",
			  METRIC_COUNTER},
	[PACKET_VERSIONS] = {"roce_version_packets_total",
			     "RoCE packets counted by BPF, by RoCE version and network protocol.",
			     METRIC_COUNTER},
	[PACKET_REQUESTED] = {"roce_requested_bytes_total",
			      "Bytes requested by RDMA reads and writes, counted by BPF.",
			      METRIC_COUNTER},
	[PACKET_FRAGMENTS] =
		{"roce_fragment_packets_total",
		 "IP fragments of RoCE packets counted by BPF; their contents are not decoded.",
		 METRIC_COUNTER},
	[PACKET_MALFORMED] = {"roce_malformed_packets_total",
			      "Truncated or inconsistent RoCE packets counted by BPF.",
			      METRIC_COUNTER},
	[PACKET_PAUSES] = {"roce_pause_frames_seen_total",
			   "Pause and PFC frames counted by BPF; most NICs do not pass them on.",
			   METRIC_COUNTER},
	[PACKET_VISIBLE] =
		{"rocelet_bpf_visible",
		 "1 if the netdev's RoCE packets pass through the kernel, 0 if they bypass it, as measured; absent until known.",
		 METRIC_GAUGE},
	[PACKET_EVICTIONS] = {"rocelet_bpf_flow_evictions_total",
			      "Flows that evicted another one from the netdev's table.",
			      METRIC_COUNTER},
	[PACKET_PORTS] =
		{"rocelet_bpf_ports",
		 "Netdevs whose RoCE packets should be counted, by hook; none: not possible.",
		 METRIC_GAUGE},
	[PACKET_MEMORY] = {"rocelet_bpf_map_bytes",
			   "Memory of the BPF maps with the counters of RoCE packets.",
			   METRIC_GAUGE},
};

const struct family *packet_family(size_t index)
{
	return index < N_PACKET_FAMILIES ? &families[index] : NULL;
}

/* --- series that are always present ----------------------------------------------------------- */

/* One value of a port. ce: the sum of that codepoint. */
static const struct row {
	size_t shared; /* index into the shared families, if family is N_PACKET_FAMILIES */
	enum packet_family family; /* N_PACKET_FAMILIES: a shared family */
	enum roce_direction direction;
	const char *labels; /* besides direction, and source in a shared family */
	size_t offset;	    /* into struct roce_counts */
	bool bare;	    /* no direction label, because the name implies it */
	bool ce;
} rows[] = {
#define NONE	  SIZE_MAX
#define AT(field) offsetof(struct roce_counts, field)
#define SHARED(i, dir, field)                                                                      \
	{                                                                                          \
		i, N_PACKET_FAMILIES, dir, "", AT(field), .bare = (i) >= 2                         \
	}
#define BOTH(family, labels, field)                                                                \
	{NONE, family, ROCE_RECEIVED, labels, AT(field), false, false},                            \
	{                                                                                          \
		NONE, family, ROCE_SENT, labels, AT(field), false, false                           \
	}
	SHARED(0, ROCE_RECEIVED, packets),
	SHARED(0, ROCE_SENT, packets),
	SHARED(1, ROCE_RECEIVED, bytes),
	SHARED(1, ROCE_SENT, bytes),
	{2, N_PACKET_FAMILIES, ROCE_RECEIVED, "", 0, .bare = true, .ce = true},
	SHARED(3, ROCE_SENT, cnp),
	SHARED(4, ROCE_RECEIVED, cnp),
	SHARED(5, ROCE_RECEIVED, syndromes[ROCE_SYN_SEQUENCE]),
	SHARED(6, ROCE_RECEIVED, syndromes[ROCE_SYN_RNR]),
	SHARED(7, ROCE_SENT, syndromes[ROCE_SYN_RNR]),
	BOTH(PACKET_NAKS, "reason=\"rnr\"", syndromes[ROCE_SYN_RNR]),
	BOTH(PACKET_NAKS, "reason=\"sequence\"", syndromes[ROCE_SYN_SEQUENCE]),
	BOTH(PACKET_NAKS, "reason=\"invalid_request\"", syndromes[ROCE_SYN_INVALID_REQUEST]),
	BOTH(PACKET_NAKS, "reason=\"remote_access\"", syndromes[ROCE_SYN_REMOTE_ACCESS]),
	BOTH(PACKET_NAKS, "reason=\"remote_operation\"", syndromes[ROCE_SYN_REMOTE_OPERATION]),
	BOTH(PACKET_NAKS, "reason=\"invalid_rd_request\"", syndromes[ROCE_SYN_INVALID_RD]),
	BOTH(PACKET_NAKS, "reason=\"other\"", syndromes[ROCE_SYN_OTHER]),
	BOTH(PACKET_FLAGS, "flag=\"fecn\"", fecn),
	BOTH(PACKET_FLAGS, "flag=\"becn\"", becn),
	BOTH(PACKET_FLAGS, "flag=\"solicited\"", solicited),
	BOTH(PACKET_VERSIONS, "version=\"1\"", v1),
	BOTH(PACKET_VERSIONS, "version=\"2\",ip=\"4\"", ip4),
	BOTH(PACKET_VERSIONS, "version=\"2\",ip=\"6\"", ip6),
	BOTH(PACKET_REQUESTED, "op=\"read\"", requested_read_bytes),
	BOTH(PACKET_REQUESTED, "op=\"write\"", requested_write_bytes),
	BOTH(PACKET_FRAGMENTS, "", fragments),
	BOTH(PACKET_MALFORMED, "", malformed),
	BOTH(PACKET_PAUSES, "", pauses),
#undef SHARED
#undef BOTH
};

static uint64_t packet_value_of(const struct row *row, const struct roce_counts *c)
{
	uint64_t v;

	if (row->ce)
		return roce_counts_marked(c);
	memcpy(&v, (const char *)c + row->offset, sizeof(v));
	return v;
}

/* --- labels ----------------------------------------------------------------------------------- */

static void packet_add_named(struct text *t, const char *name, const char *value)
{
	text_addf(t, ",%s=", name);
	text_add_label(t, value);
}

/* Appends `{device="rxe0",port="1",netdev="eth0"`, without the parts that are unknown. */
static void add_port_labels(struct text *t, const struct packet_port *p,
			    const struct pod_device *holder)
{
	if (p->device[0]) {
		text_add_port(t, p->device, p->device_port, holder);
		packet_add_named(t, "netdev", p->netdev);
	} else {
		text_addf(t, "{netdev=");
		text_add_label(t, p->netdev);
		text_add_holder(t, holder);
	}
	if (p->netns[0])
		packet_add_named(t, "netns", p->netns);
}

int packet_text_init(struct packet_text *x, const struct packet_sample *s,
		     const struct resource_table *table)
{
	*x = (struct packet_text){.sample = s};
	x->starts = calloc(s->n_ports + 1, sizeof(*x->starts));
	for (size_t i = 0; x->starts && i < s->n_ports; i++) {
		const struct packet_port *p = &s->ports[i];

		add_port_labels(&x->text, p,
				table ? resource_table_holder(table, p->function, p->device)
				      : NULL);
		x->starts[i + 1] = x->text.len;
	}
	return x->starts && !x->text.failed ? 0 : -ENOMEM;
}

void packet_text_done(struct packet_text *x)
{
	text_done(&x->text);
	free(x->starts);
	*x = (struct packet_text){0};
}

/* --- samples ---------------------------------------------------------------------------------- */

static char *put_label(char *dst, const char *label, size_t n)
{
	if (n == 0)
		return dst;
	*dst++ = ',';
	return mempcpy(dst, label, n);
}

/* Appends `name{PORT,first,second} value`; empty labels are left out. */
static void packet_add_sample(struct text *t, const char *name, const struct packet_text *x,
			      size_t port, const char *first, const char *second, uint64_t value)
{
	size_t labels = x->starts[port + 1] - x->starts[port];
	size_t n = strlen(name), a = strlen(first), b = strlen(second);
	char *start = text_reserve(t, n + labels + a + b + NUMBER_MAX + 5), *dst = start;

	if (!start)
		return;
	dst = mempcpy(dst, name, n);
	if (labels)
		dst = mempcpy(dst, x->text.data + x->starts[port], labels);
	dst = put_label(dst, first, a);
	dst = put_label(dst, second, b);
	dst = mempcpy(dst, "} ", 2);
	dst += number_u64(dst, value);
	*dst++ = '\n';
	t->len += (size_t)(dst - start);
}

static bool packet_shows(const struct packet_port *p, enum roce_direction direction)
{
	return p->visible == PACKET_VISIBLE_YES &&
	       (direction == ROCE_RECEIVED || p->hook != PACKET_HOOK_XDP);
}

void packet_series_shared(struct text *t, const struct packet_text *x, size_t index)
{
	const struct packet_sample *s = x->sample;

	for (size_t k = 0; k < ARRAY_SIZE(rows); k++)
		for (size_t i = 0; rows[k].shared == index && i < s->n_ports; i++)
			if (packet_shows(&s->ports[i], rows[k].direction))
				packet_add_sample(
					t, shared[index], x, i,
					rows[k].bare ? "" : directions[rows[k].direction],
					"source=\"bpf\"",
					packet_value_of(&rows[k],
							&s->counts[i][rows[k].direction]));
}

static void packet_add_rows(struct text *t, const struct packet_text *x, enum packet_family f)
{
	const struct packet_sample *s = x->sample;

	for (size_t k = 0; k < ARRAY_SIZE(rows); k++)
		for (size_t i = 0; rows[k].family == f && i < s->n_ports; i++)
			if (packet_shows(&s->ports[i], rows[k].direction))
				packet_add_sample(
					t, families[f].name, x, i, directions[rows[k].direction],
					rows[k].labels,
					packet_value_of(&rows[k],
							&s->counts[i][rows[k].direction]));
}

/* --- series that appear when first seen ------------------------------------------------------- */

typedef void counts_fn(struct text *, const struct packet_text *, size_t port, enum roce_direction,
		       const struct roce_counts *);

static void each_counts(struct text *t, const struct packet_text *x, counts_fn *fn)
{
	for (size_t i = 0; i < x->sample->n_ports; i++)
		for (enum roce_direction d = 0; d < N_ROCE_DIRECTIONS; d++)
			if (packet_shows(&x->sample->ports[i], d))
				fn(t, x, i, d, &x->sample->counts[i][d]);
}

static void add_ecn(struct text *t, const struct packet_text *x, size_t port, enum roce_direction d,
		    const struct roce_counts *c)
{
	/* RFC 3168 */
	static const char *const names[] = {"not_ect", "ect1", "ect0", "ce"};
	char labels[48];

	for (unsigned i = 0; i < ARRAY_SIZE(c->traffic_class); i++) {
		if (!c->traffic_class[i])
			continue;
		snprintf(labels, sizeof(labels), "ecn=\"%s\",dscp=\"%u\"", names[i & 3], i >> 2);
		packet_add_sample(t, families[PACKET_ECN].name, x, port, directions[d], labels,
				  c->traffic_class[i]);
	}
}

static void add_opcodes(struct text *t, const struct packet_text *x, size_t port,
			enum roce_direction d, const struct roce_counts *c)
{
	static const char *const transports[N_ROCE_TRANSPORTS] = {
		"rc", "uc", "rd", "ud", "other", "xrc", "other_6", "other_7"};
	static const char *const ops[N_ROCE_OPS] = {
		[ROCE_SEND] = "send",
		[ROCE_WRITE] = "write",
		[ROCE_READ_REQUEST] = "read_request",
		[ROCE_READ_RESPONSE] = "read_response",
		[ROCE_ACK] = "ack",
		[ROCE_ATOMIC] = "atomic",
		[ROCE_ATOMIC_ACK] = "atomic_ack",
		[ROCE_OP_OTHER] = "other",
	};
	char labels[64];

	for (unsigned i = 0; i < ARRAY_SIZE(c->ops); i++) {
		if (!c->ops[i])
			continue;
		snprintf(labels, sizeof(labels), "transport=\"%s\",op=\"%s\"",
			 transports[i / N_ROCE_OPS], ops[i % N_ROCE_OPS]);
		packet_add_sample(t, families[PACKET_OPCODES].name, x, port, directions[d], labels,
				  c->ops[i]);
	}
}

/* --- about the programs ----------------------------------------------------------------------- */

static void add_visible(struct text *t, const struct packet_text *x)
{
	for (size_t i = 0; i < x->sample->n_ports; i++) {
		enum packet_visibility v = x->sample->ports[i].visible;

		if (v != PACKET_VISIBLE_UNKNOWN)
			packet_add_sample(t, families[PACKET_VISIBLE].name, x, i, "", "",
					  v == PACKET_VISIBLE_YES);
	}
}

static void add_evictions(struct text *t, const struct packet_text *x)
{
	for (size_t i = 0; i < x->sample->n_ports; i++) {
		const struct roce_counts *c = x->sample->counts[i];

		if (x->sample->ports[i].flows && !x->sample->ports[i].error)
			packet_add_sample(t, families[PACKET_EVICTIONS].name, x, i, "", "",
					  c[ROCE_RECEIVED].flow_evictions +
						  c[ROCE_SENT].flow_evictions);
	}
}

static void packet_add_ports(struct text *t, const struct packet_sample *s)
{
	uint64_t n[N_PACKET_HOOKS] = {0};

	for (size_t i = 0; i < s->n_ports; i++)
		n[s->ports[i].hook]++;
	for (enum packet_hook h = 0; h < N_PACKET_HOOKS; h++)
		text_addf(t, "%s{hook=\"%s\"} %" PRIu64 "\n", families[PACKET_PORTS].name,
			  packet_hook_name(h), n[h]);
}

static void add_memory(struct text *t, const struct packet_sample *s)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < s->n_ports; i++)
		sum += s->ports[i].memory;
	text_addf(t, "%s %" PRIu64 "\n", families[PACKET_MEMORY].name, sum);
}

static void add_family(struct text *t, const struct packet_text *x, enum packet_family f)
{
	switch (f) {
	case PACKET_ECN:
		each_counts(t, x, add_ecn);
		break;
	case PACKET_OPCODES:
		each_counts(t, x, add_opcodes);
		break;
	case PACKET_NAKS:
	case PACKET_FLAGS:
	case PACKET_VERSIONS:
	case PACKET_REQUESTED:
	case PACKET_FRAGMENTS:
	case PACKET_MALFORMED:
	case PACKET_PAUSES:
		packet_add_rows(t, x, f);
		break;
	case PACKET_VISIBLE:
		add_visible(t, x);
		break;
	case PACKET_EVICTIONS:
		add_evictions(t, x);
		break;
	case PACKET_PORTS:
		packet_add_ports(t, x->sample);
		break;
	case PACKET_MEMORY:
		add_memory(t, x->sample);
		break;
	case N_PACKET_FAMILIES:
		break;
	}
}

int packet_series(struct page *p, const struct packet_text *x)
{
	for (enum packet_family f = 0; f < N_PACKET_FAMILIES; f++) {
		if (page_begin(p, families[f].name,
			       families[f].type == METRIC_COUNTER ? "counter" : "gauge",
			       families[f].help) < 0)
			return -ENOMEM;
		add_family(&p->text, x, f);
		page_end(p);
	}
	return p->text.failed ? -ENOMEM : 0;
}
