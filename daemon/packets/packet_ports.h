/* packet_ports.h - the interfaces that are watched: follows the plan, attaching and detaching on
 * workers, and lets the sampler read.
 *
 * A port that cannot be watched is told once with its reason and tried again when its interface
 * changes, and every minute. The maps of all ports together stay within a budget: where a port's
 * table of flows does not fit it does without, and where nothing fits it is not watched. */
#pragma once

#include "err.h"
#include "hw.h"
#include "packet_plan.h"

struct uv_loop_s;
struct packet_ports;
struct packet_view;

/* When a port that cannot be watched is tried again. */
#define PACKET_PORTS_RETRY_MS 60000

struct packet_ports_opts {
	uint64_t memory_budget; /* bytes */
	uint32_t retry_ms;
};

/* hw must outlive it. */
int packet_ports_open(struct packet_ports **ret, struct uv_loop_s *, const struct hw *,
		      const struct packet_ports_opts *, struct err *);
/* The plan as of now; copied. Out of memory, the one before stays. */
void packet_ports_follow(struct packet_ports *, const struct packet_plan *);
/* Every port that is planned, watched or not, in the plan's order; borrowed until the next change.
 * Works with NULL (none). */
size_t packet_ports_list(const struct packet_ports *, const struct packet_port **ret);
/* NULL is fine. Detaches everything; the struct is gone when the loop has run out of handles and
 * all views were put back. */
void packet_ports_close(struct packet_ports *);

/* What is watched now, for one sample on another thread; NULL: no memory, or no ports (which may be
 * NULL too). Its ports stay attached until it is put back. Loop's thread. */
struct packet_view *packet_ports_view(struct packet_ports *);
void packet_view_put(struct packet_view *); /* loop's thread; NULL is fine */
/* Any thread; replaces *ret. flows: the tables of flows too. A port that cannot be read has an
 * error in the sample. -ENOMEM leaves it empty. */
int packet_view_read(const struct packet_view *, bool flows, struct packet_sample *ret);
