// SPDX-License-Identifier: Apache-2.0
#include "port_packets.h"

#include <math.h>
#include <string.h>

#include "cleanup.h"

/* The value of port_observation.bytes_source. */
#define BYTES_SOURCE "bpf"

/* The series and their counts; without CE, which is a sum. */
static const struct rows {
	enum series series;
	enum roce_direction direction;
	size_t offset; /* offset into struct roce_counts */
} rows[] = {
#define ROW(name, dir, field)                                                                      \
	{                                                                                          \
		SERIES_##name, ROCE_##dir, offsetof(struct roce_counts, field)                     \
	}
	ROW(PACKETS_RECEIVED, RECEIVED, packets),
	ROW(PACKETS_SENT, SENT, packets),
	ROW(BYTES_RECEIVED, RECEIVED, bytes),
	ROW(BYTES_SENT, SENT, bytes),
	ROW(CNP_RECEIVED, RECEIVED, cnp),
	ROW(CNP_SENT, SENT, cnp),
	ROW(SEQUENCE_NAK, RECEIVED, syndromes[ROCE_SYN_SEQUENCE]),
	ROW(RNR_NAK, RECEIVED, syndromes[ROCE_SYN_RNR]),
	ROW(RNR_NAK_SENT, SENT, syndromes[ROCE_SYN_RNR]),
	/* the requester receives the NAK, the responder sends it */
	ROW(ACCESS_ERRORS, RECEIVED, syndromes[ROCE_SYN_REMOTE_ACCESS]),
	ROW(ACCESS_ERRORS_RESP, SENT, syndromes[ROCE_SYN_REMOTE_ACCESS]),
	ROW(INVALID_REQUESTS, RECEIVED, syndromes[ROCE_SYN_INVALID_REQUEST]),
#undef ROW
};

static const struct counted {
	enum series series;
	enum bpf_soft_kind kind;
} counted[] = {
	{SERIES_SOFT_TIMEOUTS, BPF_SOFT_RETRANSMIT_TIMEOUT},
	{SERIES_ICRC_ERRORS, BPF_SOFT_ICRC},
};

static void forget(struct port_observation *o)
{
	o->value[SERIES_CE] = (double)NAN;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		o->value[rows[i].series] = (double)NAN;
	for (size_t i = 0; i < ARRAY_SIZE(counted); i++)
		o->value[counted[i].series] = (double)NAN;
}

/* --- packets ---------------------------------------------------------------------------------- */

/* True if the port's packets are counted. They are assumed to be visible before one was seen: the
 * first change of a counter is lost unless its previous value is known. */
static bool port_packets_is_seen(const struct packet_port *p)
{
	return p->role != PACKET_MIRROR && p->device_port && p->hook != PACKET_HOOK_NONE &&
	       p->error == 0 && p->visible != PACKET_VISIBLE_NO;
}

static void port_packets_set_direction(struct port_observation *o, const struct roce_counts *c,
				       enum roce_direction direction)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t v;

		if (rows[i].direction != direction)
			continue;
		memcpy(&v, (const char *)c + rows[i].offset, sizeof(v));
		o->value[rows[i].series] = (double)v;
	}
}

static void port_packets_set_counts(struct port_observation *o, const struct packet_port *p,
				    const struct roce_counts counts[N_ROCE_DIRECTIONS])
{
	o->value[SERIES_CE] = (double)roce_counts_marked(&counts[ROCE_RECEIVED]);
	port_packets_set_direction(o, &counts[ROCE_RECEIVED], ROCE_RECEIVED);
	if (p->hook != PACKET_HOOK_XDP)
		port_packets_set_direction(o, &counts[ROCE_SENT], ROCE_SENT);
	if (!o->bytes_source[0])
		strcpy(o->bytes_source, BYTES_SOURCE);
}

/* --- events ----------------------------------------------------------------------------------- */

/* Sets the event counts of the device's only port. */
static void port_packets_set_events(struct port_observation *o, const struct bpf_soft_device *d,
				    const bool watched[N_BPF_SOFT])
{
	for (size_t i = 0; i < ARRAY_SIZE(counted); i++)
		if (watched[counted[i].kind])
			o->value[counted[i].series] = (double)d->counts.n[counted[i].kind];
}

/* --- all ports -------------------------------------------------------------------------------- */

/* Finds a soft-RoCE port; NULL: it is not among the ports, or not soft-RoCE. *hint: where to start
 * the search. */
static struct port_observation *soft_port(struct port_observation *ports, size_t n,
					  const char *device, uint32_t port, size_t *hint)
{
	size_t at = observed_port(ports, n, device, port, *hint);

	if (at == SIZE_MAX || !is_soft_roce(&ports[at]))
		return NULL;
	*hint = at;
	return &ports[at];
}

void port_packets_set(struct port_observation *ports, size_t n_ports,
		      const struct packet_sample *packets, const struct event_summary *events)
{
	size_t hint = 0;
	bool any = false;

	for (size_t i = 0; i < n_ports; i++)
		if (is_soft_roce(&ports[i])) {
			forget(&ports[i]);
			any = true;
		}
	if (!any)
		return;
	for (size_t i = 0; packets && i < packets->n_ports; i++) {
		const struct packet_port *p = &packets->ports[i];
		struct port_observation *o = soft_port(ports, n_ports, p->device, p->device_port,
						       &hint);

		if (o && port_packets_is_seen(p))
			port_packets_set_counts(o, p, packets->counts[i]);
	}
	hint = 0;
	for (unsigned i = 0; events && i < events->n_soft; i++) {
		const struct bpf_soft_device *d = &events->soft[i];
		struct port_observation *o = soft_port(ports, n_ports, d->key.device, 1, &hint);

		if (o)
			port_packets_set_events(o, d, events->soft_watched);
	}
}
