// SPDX-License-Identifier: Apache-2.0
#include "packet_sample.h"

#include <stdlib.h>

const char *packet_hook_name(enum packet_hook hook)
{
	switch (hook) {
	case PACKET_HOOK_NONE:
	case N_PACKET_HOOKS:
		break;
	case PACKET_HOOK_TCX:
		return "tcx";
	case PACKET_HOOK_CLSACT:
		return "clsact";
	case PACKET_HOOK_XDP:
		return "xdp";
	}
	return "none";
}

const char *packet_role_name(enum packet_role role)
{
	switch (role) {
	case PACKET_SOFT_ROCE:
		break;
	case PACKET_MIRROR:
		return "mirror";
	case PACKET_POD:
		return "pod";
	case PACKET_PORT:
		return "port";
	}
	return "soft-roce";
}

/* RFC 3168: the low two bits of the traffic class */
#define ECN_CE 3

uint64_t roce_counts_marked(const struct roce_counts *c)
{
	uint64_t n = 0;

	for (size_t i = ECN_CE; i < sizeof(c->traffic_class) / sizeof(c->traffic_class[0]); i += 4)
		n += c->traffic_class[i];
	return n;
}

void packet_sample_done(struct packet_sample *s)
{
	free(s->ports);
	free(s->counts);
	free(s->flows);
	*s = (struct packet_sample){0};
}

/* Returns the lower bound of the last bucket for quantiles in it, because it has no upper bound. */
uint64_t roce_rtt_quantile(const uint32_t rtt[ROCE_RTT_BUCKETS], double q)
{
	uint64_t n = 0, below = 0;
	double rank;

	for (size_t i = 0; i < ROCE_RTT_BUCKETS; i++)
		n += rtt[i];
	if (n == 0)
		return UINT64_MAX;
	rank = q * (double)n;
	for (size_t i = 0; i + 1 < ROCE_RTT_BUCKETS; i++) {
		uint64_t high = (uint64_t)1 << (ROCE_RTT_SHIFT + i), low = i ? high / 2 : 0;

		if (rtt[i] && (double)(below + rtt[i]) >= rank)
			return low +
			       (uint64_t)((double)(high - low) * (rank - (double)below) / rtt[i]);
		below += rtt[i];
	}
	return (uint64_t)1 << (ROCE_RTT_SHIFT + ROCE_RTT_BUCKETS - 2);
}
