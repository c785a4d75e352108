/* SPDX-License-Identifier: Apache-2.0 */
/* packet_ports.h - attaches and detaches packet programs on workers according to the plan, and
 * provides views of them to the sampler.
 *
 * A port that cannot be watched is logged once with its reason, and retried when its interface
 * changes and every minute. The maps of all ports together stay within a budget: a port whose flow
 * table would exceed it is watched without one, and a port whose other maps would exceed it is not
 * watched.
 */
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

/* Starts without a plan. hw must outlive the result. */
int packet_ports_open(struct packet_ports **ret, struct uv_loop_s *, const struct hw *,
		      const struct packet_ports_opts *, struct err *);
/* Follows this plan, and copies it. If out of memory, keeps the previous plan. */
void packet_ports_follow(struct packet_ports *, const struct packet_plan *);
/* Returns every planned port, watched or not, in the plan's order; borrowed until the next change.
 * p may be NULL (no ports). */
size_t packet_ports_list(const struct packet_ports *, const struct packet_port **ret);
/* Detaches all programs; the object is freed when the loop has no handles left and all views were
 * released. May be NULL. */
void packet_ports_close(struct packet_ports *);

/* Returns a view of the watched ports, for one sample on another thread; its ports stay attached
 * until it is released. NULL: out of memory, or there are no ports (p may be NULL). Loop's thread
 * only. */
struct packet_view *packet_ports_view(struct packet_ports *);
void packet_view_put(struct packet_view *); /* releases the view; loop's thread only; may be NULL */
/* Reads the counters of the view on any thread, and replaces *ret. flows: also reads the flow
 * tables. A port that cannot be read has an error in the sample. -ENOMEM leaves *ret empty. */
int packet_view_read(const struct packet_view *, bool flows, struct packet_sample *ret);
