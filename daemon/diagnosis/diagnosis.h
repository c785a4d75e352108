/* SPDX-License-Identifier: Apache-2.0 */
/* diagnosis.h - finds causes of slow RDMA on this node: computes verdicts from samples. Pure.
 *
 * Each port of a sample is judged by the rules of cause_table.c. latch.h turns their answers into
 * verdicts, which stay listed as long as they are open. A verdict that another verdict explains is
 * listed as its symptom, and not reported itself.
 *
 * Memory is allocated when ports or verdicts are added or a port's counters begin to move: 1.5 KB
 * for a port at rest, 29 KB for one that carries traffic, 3.7 KB for a verdict. */
#pragma once

#include "observation.h"
#include "thresholds.h"
#include "undecided.h"
#include "verdict.h"

struct diagnosis;

/* Creates an empty engine. -ENOMEM: out of memory. */
int diagnosis_new(struct diagnosis **ret, const struct thresholds *);
void diagnosis_free(struct diagnosis *);
/* Sets the thresholds for the next samples; they also decide when open verdicts end. */
void diagnosis_set_thresholds(struct diagnosis *, const struct thresholds *);

/* Judges one sample. A port that is missing in three samples is removed and its verdicts are
 * closed. -ENOMEM: judges everything for which there was memory. */
int diagnosis_tick(struct diagnosis *, const struct observation *);

/* Verdicts that are open or were closed by the last tick, in order of opening; borrowed until the
 * next tick. Includes those with `explained` set, which are symptoms of others. */
const struct verdict *diagnosis_verdicts(const struct diagnosis *, size_t *ret_n);
/* Returns the number of verdicts reported for this cause since the start. */
uint64_t diagnosis_onsets(const struct diagnosis *, enum cause);

enum port_watch {
	WATCH_WARMING, /* not watched for long enough to be called healthy */
	WATCH_JUDGED,
	WATCH_DOWN,	     /* the link is down for any reason: judged, but not healthy */
	WATCH_UNSEEN,	     /* cannot be read at the moment */
	WATCH_NOT_APPLICABLE /* it carries no RoCE */
};

struct port_watched {
	const char *device;
	uint32_t port;
	enum port_watch watch;
	const char *bytes_source; /* of roce_bytes_total, as in struct port_observation */
	/* Start of the time in which the port has carried much traffic without any symptom, so that
	 * the network is not the bottleneck. 0: unknown, or it has symptoms or little traffic. */
	uint64_t clear_ms;
	uint64_t watched_ms; /* start of the present run of samples without a gap */
	bool held;	     /* a pod has the device */
	unsigned mtu;	     /* RoCE MTU in bytes, read or derived; 0 = unknown */
	uint32_t ignored;    /* rejected rates: more than the line can carry */
	uint32_t resets;     /* number of times its counters started over */
	/* Borrowed until the end of the next tick; NULL: every cause was decided. */
	const struct undecided_list *undecided;
	/* The rows are borrowed. All but the oldest one may be read until the end of the next tick,
	 * even during it. */
	struct window window;
};

size_t diagnosis_n_ports(const struct diagnosis *);
/* Describes a port. index: in the order in which the ports were added. *ret is borrowed until the
 * next tick. */
void diagnosis_port(const struct diagnosis *, size_t, struct port_watched *ret);
const struct timeline *diagnosis_timeline(const struct diagnosis *);
/* True if the cause could not be decided in the port's last sample; ret is the reason. */
bool diagnosis_undecided(const struct diagnosis *, size_t port, enum cause,
			 char ret[UNDECIDED_SIZE]);
const char *port_watch_name(enum port_watch);
/* Bytes in use. */
size_t diagnosis_memory(const struct diagnosis *);
