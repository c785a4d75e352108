/* SPDX-License-Identifier: Apache-2.0 */
/* lab_counters.h - the counters of one kind, and their rates.
 *
 * A read returns the values of one moment: base + rate * time since. A change of rates applies from
 * the last read on, so that every read sees the growth since the previous one at the current rates,
 * however late it is. */
#pragma once

#include <linux/ethtool.h>
#include <linux/types.h>

#define COUNTERS_MAX	 160
#define COUNTER_NAME_MAX 40

struct lab_counter {
	char name[COUNTER_NAME_MAX];
	u64 base, rate; /* at `since`; a second */
	bool zero;	/* reads 0, but keeps counting */
	bool gone;	/* no longer listed */
};

struct lab_counters {
	struct lab_counter *items; /* room for COUNTERS_MAX; NULL: none */
	int n;
	u64 since, looked; /* ns */
	bool fails;	   /* reads fail, but all keep counting */
};

/* Copies the values of the listed counters; counts as a read. -EIO: reads fail. */
int counters_look(struct lab_counters *, u64 *ret);
/* The number of listed counters. */
int counters_listed(const struct lab_counters *);
/* Around changes of rates and bases of items, which apply from the last read on. */
void counters_lock(void);
void counters_rebase(struct lab_counters *);
void counters_unlock(void);
/* The counter's index, or -ENOENT. */
int counters_find(const struct lab_counters *, const char *name);
void counters_done(struct lab_counters *);
