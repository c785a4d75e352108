/* SPDX-License-Identifier: Apache-2.0 */
/* counters_watch.h - holds requests for a port's counters until a sample has the port's rates. A
 * page sends a request every few seconds, so a port's readings are kept for a while after each
 * request.
 */
#pragma once

#include "deferred_list.h"
#include "port_counters.h"

/* A request that has waited for this long is answered with an error. */
#define COUNTERS_WAIT_MAX_MS 15000
/* A port is still read for this long after its last request was answered. */
#define COUNTERS_KEEP_MS     10000

struct counters_waiter {
	struct deferred_item item; /* first */
	struct port_name name;
};

struct counters_wanted {
	struct port_name name;
	uint64_t until_ms;
};

/* Read-only for callers. */
struct counters_watch {
	struct deferred_list waiters; /* of struct counters_waiter */
	struct counters_wanted wanted[PORT_COUNTERS_MAX];
	size_t n_wanted;
};

int counters_watch_open(struct counters_watch **ret, struct uv_loop_s *, struct err *);
/* Call from within the handler; keeps the deferred answer. -EAGAIN: clients request too many other
 * ports. -ENOMEM: not kept. */
int counters_watch_wait(struct counters_watch *, struct http_deferred *, const struct port_name *,
			uint64_t now_ms);
/* The ports whose readings are needed; at most PORT_COUNTERS_MAX. The watch may be NULL: none. */
size_t counters_watch_ports(struct counters_watch *, uint64_t now_ms, struct port_name *ret);
/* Answers requests for which these readings are enough. The watch may be NULL. */
void counters_watch_deliver(struct counters_watch *, const struct port_counters_set *);
/* Answers all waiters with an error. NULL is allowed. */
void counters_watch_close(struct counters_watch *);
