/* SPDX-License-Identifier: Apache-2.0 */
/* lab_counters.h - the counters of one vocabulary, and how fast they grow.
 *
 * What a look is told are true values of one moment: base + rate * time since. A change of rates
 * holds from the last look on, so that every look sees what has happened since the one before, at
 * the rates that are to hold now, however late it comes. */
#pragma once

#include <linux/ethtool.h>
#include <linux/types.h>

#define COUNTERS_MAX	 160
#define COUNTER_NAME_MAX 40

struct lab_counter {
	char name[COUNTER_NAME_MAX];
	u64 base, rate; /* at `since`; a second */
	bool zero;	/* reads 0, and counts on */
	bool gone;	/* is not listed any more */
};

struct lab_counters {
	struct lab_counter *items; /* room for COUNTERS_MAX; NULL: none */
	int n;
	u64 since, looked; /* ns */
	bool fails;	   /* looks fail, and all count on */
};

/* Copies the values of those that are listed; counts as a look. -EIO: looks fail. */
int counters_look(struct lab_counters *, u64 *ret);
/* How many are listed. */
int counters_listed(const struct lab_counters *);
/* From the last look on other rates hold: between these, set rates and bases of items. */
void counters_lock(void);
void counters_rebase(struct lab_counters *);
void counters_unlock(void);
/* Its place, or -ENOENT. */
int counters_find(const struct lab_counters *, const char *name);
void counters_done(struct lab_counters *);
