// SPDX-License-Identifier: Apache-2.0
/* quiet.c - returns memory when nothing has happened for a while. */
#include "daemon.h"
#include "memory.h"

/* A start, a rescan with changes, and a series of Allocates leave free blocks all over the heap,
 * and map code that is not used when nothing happens: with 1,024 VFs, 3 MB. They are not released
 * while something happens, because the next request would have to map the code again. */
#define QUIET_MS 500

static void on_quiet(void *arg)
{
	(void)arg;
	memory_release();
}

int quiet_start(struct daemon *d, struct err *e)
{
	(void)e;
	timer_init(&d->quiet, &d->loop, on_quiet, NULL);
	return 0;
}

void quiet_stop(struct daemon *d)
{
	timer_close(&d->quiet, NULL);
}

void quiet_later(struct daemon *d)
{
	timer_in(&d->quiet, QUIET_MS);
}
