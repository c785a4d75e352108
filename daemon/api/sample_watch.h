/* SPDX-License-Identifier: Apache-2.0 */
/* sample_watch.h - keeps requests until diagnosis has judged the next sample, and answers them with
 * that sample as a line of a scenario file (docs/reference/scenarios.md). A client that records a
 * node repeats the request. */
#pragma once

#include "deferred_list.h"

/* A request that has waited for this long is answered with null, and may be repeated. Shorter than
 * the server's own deadline, http_opts.kept_ms. */
#define SAMPLE_WAIT_MAX_MS 25000

/* Read-only for callers. */
struct sample_watch {
	struct deferred_list waiters; /* of struct deferred_item */
};

int sample_watch_open(struct sample_watch **ret, struct uv_loop_s *, struct err *);
/* Call from within the handler; keeps the deferred answer. -ENOMEM: not kept. */
int sample_watch_wait(struct sample_watch *, struct http_deferred *, uint64_t now_ms);
/* True if a request waits, so the next sample is needed. NULL is allowed: false. */
bool sample_watch_wants(const struct sample_watch *);
/* Answers all waiters with the line of a sample; NULL (out of memory): with null. The watch may be
 * NULL. */
void sample_watch_notify(struct sample_watch *, const char *line);
/* Answers all waiters with null. NULL is allowed. */
void sample_watch_close(struct sample_watch *);
