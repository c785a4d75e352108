/* qp_ports.h - the queue pairs of each port in sum, as diagnosis is told of them. Pure. */
#pragma once

#include "observation.h"
#include "qp_table.h"

struct qp_port {
	char device[RDMA_NAME_SIZE];
	uint32_t port; /* 0: of queue pairs that have none yet */
	struct observed_qps qps;
};

/* Zero-initialised it is the empty list. */
struct qp_ports {
	struct qp_port *items; /* by device; owned */
	size_t n, room;	       /* room: of a copy */
};

void qp_ports_done(struct qp_ports *);
/* Into an empty list: those of users, not the kernel's own for management. Of a port on which no
 * queue pair's traffic class is known nothing is known: nobody could tell how they are marked.
 * -ENOMEM leaves it empty. now_ns: CLOCK_MONOTONIC. */
int qp_ports_build(struct qp_ports *, const struct qp_table *, uint64_t now_ns);
/* In place of what the copy held, whose memory it goes on using. -ENOMEM: it is as it was. */
int qp_ports_copy(struct qp_ports *dst, const struct qp_ports *src);
/* NULL: it has no queue pairs. */
const struct observed_qps *qp_ports_find(const struct qp_ports *, const char *device,
					 uint32_t port);
