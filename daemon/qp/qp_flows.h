/* qp_flows.h - queue pairs joined with the flows that the packet programs count. Pure.
 *
 * A flow is what one address sends to one queue pair of another. On a port of a queue pair's own
 * device, the flow to its number and one of its addresses is what it receives; the flow from its
 * address to its peer's number and address is what it sends. Where it is not known which addresses
 * a device has, its number and the peer's address decide. A flow that belongs to no queue pair of
 * the table (a mirror port shows those of other hosts) is a row of its own, told as its destination
 * receives it. */
#pragma once

#include "packet_sample.h"
#include "qp_table.h"
#include "sandbox.h"

enum qp_top {
	QP_TOP_NONE, /* by device and number, those that are not known last */
	QP_TOP_CE,
	QP_TOP_CNP,
	QP_TOP_NAKS, /* with RNR */
	QP_TOP_RETRANSMISSIONS,
	QP_TOP_RTT, /* by its mean */
	QP_TOP_PACKETS,
	N_QP_TOPS
};

/* "ce", "cnp", "naks", "retransmissions", "rtt", "packets"; false: none of them. */
bool qp_top_parse(const char *, enum qp_top *ret);

struct qp_question {
	enum qp_top top;
	size_t limit;
	const char
		*device; /* an RDMA device, netdev or function, as somebody calls it; NULL: all */
	const char *function; /* that it stands for; NULL: unknown */
	const char *pod;      /* "name", "namespace/name" or a uid; NULL: all */
};

/* How the table comes to be. */
struct qps_status {
	bool events;	  /* BPF events keep it as it is now */
	uint64_t read_ms; /* when RDMA netlink was last asked, in the loop's time; 0 = never */
	char error[256];  /* why it could not be, "" = it could */
};

/* NULL: there is none. */
struct qp_sources {
	const struct qp_table *table;
	const struct packet_sample *packets;
	const struct host *host;
	const struct sandbox_list *sandboxes;
};

struct qp_row {
	const struct qp *qp;		/* NULL: only a flow */
	const struct packet_port *port; /* where its flows were seen, NULL: they were not */
	const struct sandbox *pod;	/* NULL: of none, or only its uid is known */
	const uint8_t *address;		/* its own; NULL: unknown */
	const struct packet_flow *flow; /* of a row that is one */
	bool has_received, has_sent;
	struct roce_flow received, sent; /* sums, and when last */
};

typedef int qp_row_fn(const struct qp_row *, void *arg);

/* Calls fn for each of the first `limit` rows that were asked for, until it returns a negative
 * value, which is returned. *ret_total: how many there are without the limit. -ENOMEM. */
int qp_flows_each(const struct qp_sources *, const struct qp_question *, qp_row_fn *, void *arg,
		  size_t *ret_total);

/* The q-th part (0 to 1) of round trips took less than this; interpolated within its bucket, of
 * which the upper bound is twice the lower. UINT64_MAX: there are none. */
uint64_t roce_rtt_quantile(const struct roce_flow *, double q);
