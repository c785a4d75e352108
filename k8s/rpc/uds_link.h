/* SPDX-License-Identifier: Apache-2.0 */
/* uds_link.h - a connected socket with one gRPC connection: I/O, timer and shutdown.
 *
 * It uses uv_poll on a descriptor of our own instead of uv_pipe, for two reasons: bytes go from
 * grpc_take() to send() without a copy, and only as fast as the socket accepts them; and we decide
 * what closing a descriptor does (uv_pipe may unlink the file).
 *
 * Hooks of the gRPC connection are called from the loop, and while the link ends. If a hook ends
 * the link, this takes effect when the hook has returned. */
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
	/* Called when the connection and its calls have ended. */
	void (*lost)(struct uds_link *);
	/* Called when the link's memory can be freed. */
	void (*release)(struct uds_link *);
};

/* Takes ownership of descriptor and connection; both are closed on failure. lost and release must
 * be set. */
int uds_link_start(struct uds_link *, struct uv_loop_s *, int fd, struct grpc_conn *);
/* Sends the queued bytes, then calls grpc_export(). -EBUSY also if the socket does not accept all
 * of them yet; -ENOENT also if the link is ending; or the error of the socket. On success the
 * caller must end the link. */
int uds_link_export(struct uds_link *, struct grpc_kept *ret);
/* Writes pending bytes soon, from the loop. */
void uds_link_kick(struct uds_link *);
/* Ends the link, at once if none of its hooks is running. Queued bytes are sent if the socket
 * accepts them. */
void uds_link_end(struct uds_link *);
/* Ends the link from the loop, after sending queued bytes. May be called anywhere. */
void uds_link_end_soon(struct uds_link *);
