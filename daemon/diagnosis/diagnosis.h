/* diagnosis.h - why RDMA is slow on this node: samples in, verdicts out. Pure.
 *
 * Each sample is judged by the rules of cause_table.c, port by port; what they say becomes verdicts
 * by latch.h. Verdicts are levels: as long as one is open it is in the list, whoever has heard of
 * it. Of what a verdict explains nothing is told beside it.
 *
 * Memory is taken when ports or verdicts come, not while both stay as they are: 31 KB for a port,
 * 1.3 KB for a verdict. */
#pragma once

#include "observation.h"
#include "thresholds.h"
#include "verdict.h"

#define UNDECIDED_SIZE 160

struct diagnosis;

/* -ENOMEM. */
int diagnosis_new(struct diagnosis **ret, const struct thresholds *);
void diagnosis_free(struct diagnosis *);
/* From the next sample on; open verdicts end by the new ones. */
void diagnosis_set_thresholds(struct diagnosis *, const struct thresholds *);

/* Judges one sample. Ports that it has not any more are gone after three samples; what is open on
 * them is closed. -ENOMEM: what there was no memory for is not judged, all else is. */
int diagnosis_tick(struct diagnosis *, const struct observation *);

/* Verdicts that are open, or were closed by the last tick, in order of opening; borrowed until the
 * next one. Those that are `explained` are told under others. */
const struct verdict *diagnosis_verdicts(const struct diagnosis *, size_t *ret_n);
/* Verdicts told since the start, by cause. */
uint64_t diagnosis_onsets(const struct diagnosis *, enum cause);

enum port_watch {
	WATCH_WARMING, /* not seen for long enough to be called healthy */
	WATCH_JUDGED,
	WATCH_DOWN,	     /* its link is down, for whatever reason: judged, and not healthy */
	WATCH_UNSEEN,	     /* it cannot be read at the moment */
	WATCH_NOT_APPLICABLE /* it carries no RoCE */
};

struct port_watched {
	const char *device;
	uint32_t port;
	enum port_watch watch;
	/* Since when it has been moving much, without any sign of trouble: the network is not what
	 * is slow. 0: that cannot be said. */
	uint64_t clear_ms;
	bool held;	  /* by a pod */
	uint32_t ignored; /* rates that no line can carry */
	uint32_t resets;  /* times its counters started over */
	/* Its rows are borrowed: all but the oldest may be read until the end of the next tick,
	 * also while that runs. */
	struct window window;
};

size_t diagnosis_n_ports(const struct diagnosis *);
/* In order of coming; borrowed until the next tick. */
void diagnosis_port(const struct diagnosis *, size_t, struct port_watched *ret);
const struct timeline *diagnosis_timeline(const struct diagnosis *);
/* False: the cause was decided in the port's last sample. True: why it could not be. */
bool diagnosis_undecided(const struct diagnosis *, size_t port, enum cause,
			 char ret[UNDECIDED_SIZE]);
const char *port_watch_name(enum port_watch);
/* Bytes in use. */
size_t diagnosis_memory(const struct diagnosis *);
