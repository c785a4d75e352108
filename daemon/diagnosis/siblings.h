/* SPDX-License-Identifier: Apache-2.0 */
/* siblings.h - compares the physical ports on a node that have the same driver and rate. Pure.
 *
 * Made once per sample, for all ports. */
#pragma once

#include "observation.h"

#define SIBLING_GROUPS 8

/* Values of a port that the rules of other ports need. */
struct port_load {
	double bytes; /* per second, both directions */
	/* Recent bytes a second on the wire: of a PF with its VFs, which share it; of a VF those of
	 * its PF's wire. NaN: unknown. */
	double wire_received, wire_sent;
	double ce_share;  /* recent share of the packets received that are marked CE */
	double minute;	  /* bytes a second, mean of about a minute */
	double corrected; /* bits a second that FEC corrects, mean of about a minute */
};

/* The values that a group's ports have, and how many ports have each. */
struct agreement {
	unsigned n; /* ports whose value is known */
	unsigned values[2], counts[2];
	bool more; /* more than two different values */
};

/* Traffic per port: the two lowest, and the highest. */
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
		struct carried carried; /* bytes a second, mean of about a minute */
	} groups[SIBLING_GROUPS];
	unsigned n;
};

/* Groups the ports that carry data: no VFs, no management ports, none that is down. */
void siblings_make(struct siblings *, const struct observation *, const struct port_load *);
/* Returns the rate that all other ports of the same driver have in common, if this port is slower.
 * 0: otherwise, or if there are fewer than three others. */
uint64_t siblings_rate(const struct siblings *, const struct port_observation *);
/* Returns the port's group; NULL: it is in none. */
const struct sibling_group *siblings_of(const struct siblings *, const struct port_observation *);
/* Returns the value that all other ports have in common; own: this port's value. -1: their values
 * differ, or they are fewer than two. */
int siblings_agree(const struct agreement *, unsigned own);
