/* SPDX-License-Identifier: Apache-2.0 */
/* uds_link.h - a connected socket with one gRPC connection: I/O, timer and shutdown.
 *
 * It uses uv_poll on a descriptor of our own instead of uv_pipe: bytes go from grpc_take() into
 * send() without a copy, none is taken before the socket has room for it, and we decide what
 * happens at the end of a descriptor (such as unlink).
 *
 * Hooks of the gRPC connection are called from the loop, and while the link ends. They may end the
 * link, which takes effect when they have returned. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "err.h"
#include "grpc.h"
#include "timer.h"

/* Embedded in its owner's struct. */
struct uds_link {
	int fd;
	struct grpc_conn *conn; /* NULL once its calls have ended */
	uint64_t n_reads;	/* reads that returned data */
	struct err why; /* why it ended: the error of the socket or the connection; code 0 = EOF */
	bool is_ending; /* no new calls */
	/* The following members are private to uds_link.c. */
	uv_poll_t poll;
	struct timer timer;
	int polled; /* uv_poll events */
	unsigned n_busy, n_handles;
	bool is_over;
	uint8_t *rest; /* taken from conn, but not accepted by the socket yet */
	size_t rest_at, rest_len;
	/* The connection and its calls have ended. */
	void (*lost)(struct uds_link *);
	/* The link's memory can be freed. */
	void (*release)(struct uds_link *);
};

/* Takes ownership of descriptor and connection; both are closed on failure. lost and release must
 * be set. */
int uds_link_start(struct uds_link *, struct uv_loop_s *, int fd, struct grpc_conn *);
/* Like grpc_export(), when all queued bytes were sent; end the link after that. */
int uds_link_export(struct uds_link *, struct grpc_kept *ret);
/* Writes pending bytes soon, from the loop. */
void uds_link_kick(struct uds_link *);
/* Ends it, at once if none of its hooks is running. Queued bytes are sent if the socket accepts
 * them. */
void uds_link_end(struct uds_link *);
/* Ends it from the loop, after sending what is queued: may be called anywhere. */
void uds_link_end_soon(struct uds_link *);
