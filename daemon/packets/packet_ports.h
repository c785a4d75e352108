/* SPDX-License-Identifier: Apache-2.0 */
/* packet_ports.h - the watched interfaces: follows the plan, attaching and detaching on workers,
 * and lets the sampler read them.
 *
 * A port that cannot be watched is logged once with its reason, and retried when its interface
 * changes and every minute. The maps of all ports together stay within a budget: a port whose flow
 * table does not fit is watched without it, and if nothing fits it is not watched. */
#pragma once

#include "err.h"
#include "hw.h"
#include "packet_plan.h"

struct uv_loop_s;
struct packet_ports;
struct packet_view;

/* Retry interval of a port that cannot be watched. */
#define PACKET_PORTS_RETRY_MS 60000

struct packet_ports_opts {
	uint64_t memory_budget; /* bytes */
	uint32_t retry_ms;
};

/* hw must outlive it. */
int packet_ports_open(struct packet_ports **ret, struct uv_loop_s *, const struct hw *,
		      const struct packet_ports_opts *, struct err *);
/* Follows this plan; copies it. If out of memory, the previous plan stays. */
void packet_ports_follow(struct packet_ports *, const struct packet_plan *);
/* Every planned port, watched or not, in the plan's order; borrowed until the next change. NULL is
 * fine (none). */
size_t packet_ports_list(const struct packet_ports *, const struct packet_port **ret);
/* NULL is fine. Detaches everything; freed when the loop has no handles left and all views were put
 * back. */
void packet_ports_close(struct packet_ports *);

/* A view of the watched ports, for one sample on another thread; its ports stay attached until it
 * is put back. NULL: no memory, or no ports (which may be NULL, too). Loop's thread only. */
struct packet_view *packet_ports_view(struct packet_ports *);
void packet_view_put(struct packet_view *); /* loop's thread; NULL is fine */
/* Any thread; replaces *ret. flows: also read the flow tables. A port that cannot be read has an
 * error in the sample. -ENOMEM leaves *ret empty. */
int packet_view_read(const struct packet_view *, bool flows, struct packet_sample *ret);
