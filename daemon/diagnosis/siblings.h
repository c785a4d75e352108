/* siblings.h - what the physical ports of one kind of NIC on a node have in common. Pure.
 *
 * Made once for each sample, so that every port can be held against all others at once. */
#pragma once

#include "observation.h"

#define SIBLING_GROUPS 8

/* Which values a group's ports have, and how many of each. */
struct agreement {
	unsigned n; /* ports whose value is known */
	unsigned values[2], counts[2];
	bool more; /* than two values */
};

struct siblings {
	struct sibling_group {
		char driver[32];
		uint64_t rate_bps;
		struct agreement pfc, mtu;
	} groups[SIBLING_GROUPS];
	unsigned n;
};

/* Of ports that carry data: neither VFs nor management ports nor what is down. */
void siblings_make(struct siblings *, const struct observation *);
/* NULL: the port has none. */
const struct sibling_group *siblings_of(const struct siblings *, const struct port_observation *);
/* What at least two others all have, `own` being the port's own value; -1: there is no such
 * thing. */
int siblings_agree(const struct agreement *, unsigned own);
