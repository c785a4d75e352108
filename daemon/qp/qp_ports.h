/* SPDX-License-Identifier: Apache-2.0 */
/* qp_ports.h - computes sums over the queue pairs of each port, for the diagnosis. Pure. */
#pragma once

#include "observation.h"
#include "qp_table.h"

struct qp_port {
	char device[RDMA_NAME_SIZE];
	uint32_t port; /* 0: queue pairs without a port yet */
	struct observed_qps qps;
};

/* Zero-initialised: the empty list. */
struct qp_ports {
	struct qp_port *items; /* sorted by device; owned */
	size_t n, room;	       /* room: allocated elements, for qp_ports_copy() */
};

void qp_ports_done(struct qp_ports *);
/* Fills an empty list from the queue pairs of users, without the kernel's own management queue
 * pairs. `known` stays false if no traffic class is known on a port, so that the marking of its
 * packets is unknown. -ENOMEM leaves the list empty. now_ns: CLOCK_MONOTONIC. */
int qp_ports_build(struct qp_ports *, const struct qp_table *, uint64_t now_ns);
/* Replaces the contents of dst, reusing its memory. -ENOMEM: dst is unchanged. */
int qp_ports_copy(struct qp_ports *dst, const struct qp_ports *src);
/* Returns the sums of a port; NULL: it has no queue pairs. */
const struct observed_qps *qp_ports_find(const struct qp_ports *, const char *device,
					 uint32_t port);
