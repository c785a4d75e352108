/* SPDX-License-Identifier: Apache-2.0 */
/* port_rates.h - the rates of one port, kept from sample to sample. Pure.
 *
 * Most ports of a large node are VFs without traffic. For such a port only the values of its
 * counters are stored: while they do not change, all rates are 0. Full rates are allocated when a
 * counter first moves, and freed when no counter has moved for RATES_REST_SAMPLES samples. */
#pragma once

#include "rates.h"

#define RATES_REST_SAMPLES 60

struct port_rates {
	struct rates *moving; /* owned; NULL: the port is at rest */
	/* The following members are used at rest. */
	uint64_t seen[(N_SERIES + 63) / 64]; /* a set of series */
	/* values of the series in `seen`, in their order; owned */
	double *values;
	/* only one sample was taken, so there are no rates yet */
	bool is_base;
	unsigned n_still;	  /* consecutive samples without movement */
	uint32_t ignored, resets; /* as in struct rates */
};

/* Initialises a port that has not been sampled. */
void port_rates_init(struct port_rates *);
void port_rates_done(struct port_rates *);
/* rates_update() for a port. Returns its rates, in *room or in the port; the caller may change
 * them until the next call for any port. Out of memory: all rates are unknown and *ret_code is
 * -ENOMEM. */
struct rates *port_rates_update(struct port_rates *, struct rates *room,
				const double value[N_SERIES], double interval_s, double gap_s,
				double line, int *ret_code);
/* Returns the rates of the last update again, in *room or in the port. Those in *room are without
 * the caller's changes. */
struct rates *port_rates_again(struct port_rates *, struct rates *room, double interval_s);
/* Calls rates_restart() for the port. */
void port_rates_restart(struct port_rates *);
uint32_t port_rates_ignored(const struct port_rates *);
uint32_t port_rates_resets(const struct port_rates *);
/* Bytes in use besides the struct. */
size_t port_rates_memory(const struct port_rates *);
