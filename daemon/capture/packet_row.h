/* SPDX-License-Identifier: Apache-2.0 */
/* packet_row.h - filters the RoCE packets of a capture, and prints each as a line or as JSON.
 * Pure. */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "err.h"
#include "frame.h"

/* Borrows the packet. */
struct packet_row {
	const struct capture_packet *packet;
	struct roce_packet roce;
	uint32_t bytes; /* size of the Ethernet frame */
	enum icrc_verdict icrc;
};

/* Zero-initialised, it accepts every packet. */
struct packet_filter {
	const char *only; /* one of PACKET_SIGNS; NULL = any */
	uint8_t addresses[2][16];
	unsigned n_addresses; /* each must be the packet's source or destination */
	bool has_qpn;
	uint32_t qpn; /* destination queue pair */
};

/* CNPs, CE marks, negative acknowledgements, wrong ICRCs. */
#define PACKET_SIGNS "cnp|ce|nak|bad-icrc"

/* Decodes a packet. False: it is not RoCE, or not complete enough to decode. */
bool packet_row_of(struct packet_row *ret, const struct capture_packet *);
/* Parses addresses and a queue pair number, separated by commas, in any order:
 * "10.0.0.1,10.0.0.2,17". -EINVAL with a message. */
int packet_filter_flow(struct packet_filter *, const char *text, struct err *);
/* True if the filter accepts the packet. */
bool packet_matches(const struct packet_filter *, const struct packet_row *);

/* Prints the column headings of packet_row_put(). */
void packet_row_heads(FILE *);
/* Prints one line; its time is relative to from_ns. */
void packet_row_put(const struct packet_row *, uint64_t from_ns, FILE *);
/* Returns the row as JSON, owned by the caller; NULL: out of memory. rocectl.md documents the keys.
 */
json_t *packet_row_json(const struct packet_row *);
