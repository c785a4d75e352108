/* sample_watch.h - answers those who wait for the next sample that is judged, as a line of a
 * scenario file (docs/reference/scenarios.md): who records a node asks again and again. */
#pragma once

#include "due.h"
#include "http.h"

/* Whoever has waited for so long is answered with null, and may ask again: an answer that comes
 * later has a deadline of its own, see http_opts.order_ms. */
#define SAMPLE_WAIT_MAX_MS 25000

struct sample_waiter {
	struct http_deferred *deferred; /* kept */
	uint64_t until_ms;
};

/* To be read; changed by the functions below. */
struct sample_watch {
	struct due due;
	struct sample_waiter *items; /* owned; as many as the server lets wait */
	size_t n;
};

int sample_watch_open(struct sample_watch **ret, struct uv_loop_s *, struct err *);
/* Keeps the deferred answer, from within the handler. -ENOMEM: it does not. */
int sample_watch_wait(struct sample_watch *, struct http_deferred *, uint64_t now_ms);
/* Does anybody wait? Then the next sample is to be told. NULL is fine: nobody. */
bool sample_watch_wants(const struct sample_watch *);
/* The line of a sample; NULL: there was no memory for it. Everybody is answered. NULL as the watch
 * is fine. */
void sample_watch_tell(struct sample_watch *, const char *line);
/* Answers everybody. NULL is fine. */
void sample_watch_close(struct sample_watch *);
