/* SPDX-License-Identifier: Apache-2.0 */
/* port_counters.h - every reading of a few ports, with rates, for clients that show a port. Pure.
 *
 * A rate is the difference of two samples. So the readings of a port are kept from sample to sample
 * while a client needs them, and the first ones have no rates. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sample.h"

/* Maximum number of ports in the set. */
#define PORT_COUNTERS_MAX 8

struct port_name {
	char device[RDMA_NAME_SIZE];
	uint32_t port;
};

struct port_counter {
	const struct family *family;
	char *labels; /* owned; format as in struct reading */
	enum unit unit;
	bool of_device; /* it counts the device as a whole, not the port */
	bool is_known;	/* it could be read */
	uint64_t value; /* as it was read, in `unit` */
	double rate;	/* a second, in the base unit; NaN: unknown, or not a counter */
};

/* The readings of one port, in the order of the metrics page. */
struct port_counters {
	struct port_name name;
	struct port_counter *rows;
	size_t n;
	uint64_t layout, taken_ms,
		unix_ms;  /* layout and times of the sample; taken_ms 0 = none yet */
	uint64_t over_ms; /* time that the rates cover; 0 = no rates yet */
	uint64_t resets;
	bool is_new;	 /* changed by the last port_counters_take() */
	bool is_missing; /* the sample does not have the port */
};

/* Zero-initialised it is empty. */
struct port_counters_set {
	struct port_counters items[PORT_COUNTERS_MAX];
	size_t n;
};

/* Replaces the set of ports; keeps the readings of those that remain. n: at most PORT_COUNTERS_MAX.
 */
void port_counters_follow(struct port_counters_set *, const struct port_name *, size_t n);
/* Stores the readings of a sample, unless it was taken less than least_ms after the stored one:
 * rates over so short a time are inaccurate. If out of memory, the port keeps its previous readings
 * until the next sample. */
void port_counters_take(struct port_counters_set *, const struct sample *, uint64_t unix_ms,
			uint64_t least_ms);
/* Returns the readings of a port; NULL: the set does not have the port. */
const struct port_counters *port_counters_find(const struct port_counters_set *,
					       const struct port_name *);
bool port_name_equal(const struct port_name *, const struct port_name *);
void port_counters_done(struct port_counters_set *);
