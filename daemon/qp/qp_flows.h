/* SPDX-License-Identifier: Apache-2.0 */
/* qp_flows.h - joins queue pairs with the flows counted by the packet programs. Pure.
 *
 * A flow is the traffic from one address to one queue pair at another address. On a port of its own
 * device, a queue pair receives the flow to its number and one of the device's addresses. It sends
 * the flow from such an address to its peer's number and address. If the addresses of a device are
 * unknown, the number and the peer's address decide. A flow that belongs to no queue pair of the
 * table (as on a mirror port) has its own row, and is counted as received by its destination. */
#pragma once

#include "packet_sample.h"
#include "qp_table.h"
#include "sandbox.h"

enum qp_top {
	QP_TOP_NONE, /* by device and number; rows that are only flows are last */
	QP_TOP_CE,
	QP_TOP_CNP,
	QP_TOP_NAKS, /* including RNR NAKs */
	QP_TOP_RETRANSMISSIONS,
	QP_TOP_RTT, /* by the mean */
	QP_TOP_PACKETS,
	N_QP_TOPS
};

/* Parses "ce", "cnp", "naks", "retransmissions", "rtt" or "packets"; false: unknown. */
bool qp_top_parse(const char *, enum qp_top *ret);

struct qp_query {
	enum qp_top top;
	size_t limit;
	const char *device;   /* name of an RDMA device, netdev or function; NULL: all */
	const char *function; /* the function that `device` names; NULL: unknown */
	const char *pod;      /* "name", "namespace/name" or a uid; NULL: all */
};

/* How current the table is. */
struct qps_status {
	bool events;	  /* BPF events keep it up to date */
	uint64_t read_ms; /* loop time of the last dump from RDMA netlink; 0 = never */
	char error[256];  /* why the dump failed, "" = it succeeded */
	bool given_up;	  /* they are never read, because of the error */
};

/* The data to join. Each may be NULL: not available. */
struct qp_sources {
	const struct qp_table *table;
	const struct packet_sample *packets;
	const struct host *host;
	const struct sandbox_list *sandboxes;
};

struct qp_row {
	const struct qp *qp;		/* NULL: the row is only a flow */
	const struct packet_port *port; /* where its flows were counted, NULL: it has none */
	const struct sandbox *pod;	/* NULL: not in a pod, or only its uid is known */
	const uint8_t *address;		/* its own; NULL: unknown */
	const struct packet_flow *flow; /* set in a row that is only a flow */
	bool has_received, has_sent;
	struct roce_flow received, sent; /* sums of its flows, and the latest times */
};

typedef int qp_row_fn(const struct qp_row *, void *arg);

/* Calls fn for each of the first `limit` requested rows, until it returns a negative value, which
 * is returned. *ret_total: number of rows without the limit. -ENOMEM. */
int qp_flows_each(const struct qp_sources *, const struct qp_query *, qp_row_fn *, void *arg,
		  size_t *ret_total);
