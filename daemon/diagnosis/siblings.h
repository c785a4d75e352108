/* siblings.h - what the physical ports of one kind of NIC on a node have in common. Pure.
 *
 * Made once for each sample, so that every port can be held against all others at once. */
#pragma once

#include "observation.h"

#define SIBLING_GROUPS 8

/* What others need to know of a port. */
struct port_load {
	double bytes;	  /* a second, both directions */
	double received;  /* of them */
	double ce_share;  /* recent */
	double minute;	  /* bytes a second of it, over about a minute */
	double corrected; /* bits a second that FEC corrects, likewise */
};

/* Which values a group's ports have, and how many of each. */
struct agreement {
	unsigned n; /* ports whose value is known */
	unsigned values[2], counts[2];
	bool more; /* than two values */
};

/* What each of them carries: the least two, and the most. */
struct carried {
	unsigned n;
	double least, second, most;
};

struct siblings {
	struct sibling_group {
		char driver[32];
		uint64_t rate_bps;
		unsigned n;
		struct agreement pfc, mtu;
		struct carried carried; /* bytes a second, over about a minute */
	} groups[SIBLING_GROUPS];
	unsigned n;
};

/* Of ports that carry data: neither VFs nor management ports nor what is down. */
void siblings_make(struct siblings *, const struct observation *, const struct port_load *);
/* The rate that all ports of the same driver have but this one, which is slower; 0: there is no
 * such rate, or fewer than three others. */
uint64_t siblings_rate(const struct siblings *, const struct port_observation *);
/* NULL: the port has none. */
const struct sibling_group *siblings_of(const struct siblings *, const struct port_observation *);
/* What at least two others all have, `own` being the port's own value; -1: there is no such
 * thing. */
int siblings_agree(const struct agreement *, unsigned own);
