/* packet_row.h - single RoCE packets of a capture: which of them are wanted, and each as a line or
 * as JSON. Pure. */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "err.h"
#include "frame.h"

/* Borrows the packet. */
struct packet_row {
	const struct capture_packet *packet;
	struct roce_packet roce;
	uint32_t bytes; /* of the frame, as on Ethernet */
	enum icrc_verdict icrc;
};

/* Zero-initialised, every packet is wanted. */
struct packet_filter {
	const char *only; /* one of PACKET_SIGNS; NULL = whatever */
	uint8_t addresses[2][16];
	unsigned n_addresses; /* each is the packet's source or destination */
	bool has_qpn;
	uint32_t qpn; /* its destination's */
};

/* CE marks, notifications, answers that are no ACK, ICRCs that are wrong. */
#define PACKET_SIGNS "cnp|ce|nak|bad-icrc"

/* False: it is not RoCE, or not whole enough to tell what it says. */
bool packet_row_of(struct packet_row *ret, const struct capture_packet *);
/* Addresses and the number of a queue pair, with commas: "10.0.0.1,10.0.0.2,17", in any order.
 * -EINVAL: a sentence. */
int packet_filter_flow(struct packet_filter *, const char *text, struct err *);
bool packet_is_wanted(const struct packet_filter *, const struct packet_row *);

/* What the columns of packet_row_put() are. */
void packet_row_heads(FILE *);
/* One line; its time is that since from_ns. */
void packet_row_put(const struct packet_row *, uint64_t from_ns, FILE *);
/* The caller's; NULL when out of memory. rocectl.md tells its keys. */
json_t *packet_row_json(const struct packet_row *);
