/* packet_ports.h - the interfaces that are watched: follows the plan, attaching and detaching on
 * workers, and lets the sampler read.
 *
 * A port that cannot be watched is told once with its reason and tried again when its interface
 * changes, and every minute. */
#pragma once

#include "packet_plan.h"

struct uv_loop_s;
struct packet_ports;
struct packet_view;

int packet_ports_open(struct packet_ports **ret, struct uv_loop_s *, uint64_t memory_budget,
		      struct err *);
/* The plan as of now; copied. */
void packet_ports_follow(struct packet_ports *, const struct packet_plan *);
/* NULL is fine. Detaches everything. */
void packet_ports_close(struct packet_ports *);

/* What is watched now, for one sample on another thread; NULL when nothing is planned. Its ports
 * stay attached until it is put back. Loop's thread. */
struct packet_view *packet_ports_view(struct packet_ports *);
void packet_view_put(struct packet_view *); /* loop's thread; NULL is fine */
/* Any thread. -ENOMEM. */
int packet_view_read(struct packet_view *, struct packet_sample *ret);
