#include "port_packets.h"

#include <math.h>
#include <string.h>

#include "cleanup.h"

/* As port_observation.bytes_source. */
#define BYTES_SOURCE "bpf"

/* CE is not among them, as it is a sum. */
static const struct told {
	enum series series;
	enum roce_direction direction;
	size_t offset; /* into struct roce_counts */
} told[] = {
#define TOLD(name, dir, field)                                                                     \
	{                                                                                          \
		SERIES_##name, ROCE_##dir, offsetof(struct roce_counts, field)                     \
	}
	TOLD(PACKETS_RECEIVED, RECEIVED, packets),
	TOLD(PACKETS_SENT, SENT, packets),
	TOLD(BYTES_RECEIVED, RECEIVED, bytes),
	TOLD(BYTES_SENT, SENT, bytes),
	TOLD(CNP_RECEIVED, RECEIVED, cnp),
	TOLD(CNP_SENT, SENT, cnp),
	TOLD(SEQUENCE_NAK, RECEIVED, syndromes[ROCE_SYN_SEQUENCE]),
	TOLD(RNR_NAK, RECEIVED, syndromes[ROCE_SYN_RNR]),
	TOLD(RNR_NAK_SENT, SENT, syndromes[ROCE_SYN_RNR]),
	/* The requester is told, the responder tells. */
	TOLD(ACCESS_ERRORS, RECEIVED, syndromes[ROCE_SYN_REMOTE_ACCESS]),
	TOLD(ACCESS_ERRORS_RESP, SENT, syndromes[ROCE_SYN_REMOTE_ACCESS]),
	TOLD(INVALID_REQUESTS, RECEIVED, syndromes[ROCE_SYN_INVALID_REQUEST]),
#undef TOLD
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
	for (size_t i = 0; i < ARRAY_SIZE(told); i++)
		o->value[told[i].series] = (double)NAN;
	for (size_t i = 0; i < ARRAY_SIZE(counted); i++)
		o->value[counted[i].series] = (double)NAN;
}

/* --- packets ---------------------------------------------------------------------------------- */

/* Before any packet has passed it is not known that they are seen; of soft-RoCE it can be expected,
 * and the first that matters would be lost otherwise: a counter has to be seen before it moves. */
static bool port_packets_is_seen(const struct packet_port *p)
{
	return p->role != PACKET_MIRROR && p->device_port && p->hook != PACKET_HOOK_NONE &&
	       p->error == 0 && p->visible != PACKET_VISIBLE_NO;
}

static void tell_direction(struct port_observation *o, const struct roce_counts *c,
			   enum roce_direction direction)
{
	for (size_t i = 0; i < ARRAY_SIZE(told); i++) {
		uint64_t v;

		if (told[i].direction != direction)
			continue;
		memcpy(&v, (const char *)c + told[i].offset, sizeof(v));
		o->value[told[i].series] = (double)v;
	}
}

static void tell_packets(struct port_observation *o, const struct packet_port *p,
			 const struct roce_counts counts[N_ROCE_DIRECTIONS])
{
	o->value[SERIES_CE] = (double)roce_counts_marked(&counts[ROCE_RECEIVED]);
	tell_direction(o, &counts[ROCE_RECEIVED], ROCE_RECEIVED);
	if (p->hook != PACKET_HOOK_XDP)
		tell_direction(o, &counts[ROCE_SENT], ROCE_SENT);
	if (!o->bytes_source[0])
		strcpy(o->bytes_source, BYTES_SOURCE);
}

/* --- events ----------------------------------------------------------------------------------- */

/* soft-RoCE devices have one port. */
static void tell_events(struct port_observation *o, const struct bpf_soft_device *d,
			const bool watched[N_BPF_SOFT])
{
	for (size_t i = 0; i < ARRAY_SIZE(counted); i++)
		if (watched[counted[i].kind])
			o->value[counted[i].series] = (double)d->counts.n[counted[i].kind];
}

/* --- all ports -------------------------------------------------------------------------------- */

/* NULL: it is not among the ports, or no soft-RoCE's. *hint: where the one before was. */
static struct port_observation *soft_port(struct port_observation *ports, size_t n,
					  const char *device, uint32_t port, size_t *hint)
{
	size_t at = observed_port(ports, n, device, port, *hint);

	if (at == SIZE_MAX || !is_soft_roce(&ports[at]))
		return NULL;
	*hint = at;
	return &ports[at];
}

void port_packets_tell(struct port_observation *ports, size_t n_ports,
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
			tell_packets(o, p, packets->counts[i]);
	}
	hint = 0;
	for (unsigned i = 0; events && i < events->n_soft; i++) {
		const struct bpf_soft_device *d = &events->soft[i];
		struct port_observation *o = soft_port(ports, n_ports, d->key.device, 1, &hint);

		if (o)
			tell_events(o, d, events->soft_watched);
	}
}
