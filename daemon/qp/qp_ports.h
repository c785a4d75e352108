/* SPDX-License-Identifier: Apache-2.0 */
/* qp_ports.h - sums over the queue pairs of each port, as input of the diagnosis. Pure. */
#pragma once

#include "observation.h"
#include "qp_table.h"

struct qp_port {
	char device[RDMA_NAME_SIZE];
	uint32_t port; /* 0: queue pairs without a port yet */
	struct observed_qps qps;
};

/* Zero-initialised it is the empty list. */
struct qp_ports {
	struct qp_port *items; /* sorted by device; owned */
	size_t n, room;	       /* room: allocated elements, for qp_ports_copy() */
};

void qp_ports_done(struct qp_ports *);
/* Fills an empty list from the queue pairs of users, without the kernel's own management ones. If
 * no traffic class is known on a port, `known` stays false: it is unknown how its packets are
 * marked. -ENOMEM leaves it empty. now_ns: CLOCK_MONOTONIC. */
int qp_ports_build(struct qp_ports *, const struct qp_table *, uint64_t now_ns);
/* Replaces the contents of dst, reusing its memory. -ENOMEM: dst is unchanged. */
int qp_ports_copy(struct qp_ports *dst, const struct qp_ports *src);
/* NULL: it has no queue pairs. */
const struct observed_qps *qp_ports_find(const struct qp_ports *, const char *device,
					 uint32_t port);
