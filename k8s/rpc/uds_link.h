/* uds_link.h - a connected socket that carries one gRPC connection: bytes to and fro, its timer,
 * its end.
 *
 * A uv_poll handle on a descriptor of our own, and not a uv_pipe: bytes go from grpc_take() into
 * send() without a copy, none is taken before the socket has room for it, and what a descriptor
 * does at its end (unlink, for one) is ours to say.
 *
 * Hooks of the gRPC connection are called from the loop, and while the link ends. They may end the
 * link: it then ends when they have returned. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "due.h"
#include "err.h"
#include "grpc.h"

/* Part of its owner's struct. */
struct uds_link {
	int fd;
	struct grpc_conn *conn; /* NULL once its calls have ended */
	uint64_t n_reads;	/* that brought something */
	struct err why;		/* it ended: what the socket or the connection said; code 0 = EOF */
	bool is_ending;		/* no more calls here */
	/* From here on: uds_link.c's own. */
	uv_poll_t poll;
	struct due due;
	int polled; /* uv_poll events */
	unsigned n_busy, n_handles;
	bool is_over;
	uint8_t *rest; /* taken from conn, but not by the socket yet */
	size_t rest_at, rest_len;
	/* The connection has ended and so have its calls. */
	void (*lost)(struct uds_link *);
	/* Its memory is not needed any more. */
	void (*release)(struct uds_link *);
};

/* Takes descriptor and connection over; both are gone when it fails. lost and release are set. */
int uds_link_start(struct uds_link *, struct uv_loop_s *, int fd, struct grpc_conn *);
/* As grpc_export(), when what is queued has left; the link is then to end. */
int uds_link_export(struct uds_link *, struct grpc_kept *ret);
/* There may be something to write: soon, from the loop. */
void uds_link_kick(struct uds_link *);
/* Ends it, at once if none of its hooks runs. What is queued is still sent as far as the socket
 * takes it. */
void uds_link_end(struct uds_link *);
/* From the loop, with what is still to be said: allowed anywhere. */
void uds_link_end_soon(struct uds_link *);
