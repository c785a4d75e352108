/* SPDX-License-Identifier: Apache-2.0 */
/* nlsock.h - a synchronous netlink request socket: every call completes exactly once, by answer or
 * by timeout.
 *
 * For worker threads; the loop's event sockets (daemon/inventory) are separate. A socket may be
 * used by one thread at a time. */
#pragma once

#include <netlink/msg.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

struct nlsock {
	int fd; /* -1 = closed */
	uint32_t seq;
	uint8_t *buf; /* buffer for the last datagram */
};

#define NLSOCK_CLOSED ((struct nlsock){.fd = -1})

/* Opens a socket; protocol: NETLINK_ROUTE, NETLINK_RDMA, NETLINK_GENERIC. The timeout of answers is
 * 2 seconds. */
int nlsock_open(struct nlsock *, int protocol, struct err *);
/* Like nlsock_open(), for a socket opened elsewhere (inside another network namespace); takes
 * ownership of fd, also on failure. */
int nlsock_adopt(struct nlsock *, int fd);
void nlsock_close(struct nlsock *);

/* Handles one message of an answer; the message is borrowed for the call. A negative return becomes
 * the result; the rest of the answer is read and dropped. -ECANCELED aborts a dump: the rest is not
 * read, and the socket must be closed. */
typedef int nlsock_fn(const struct nlmsghdr *, void *arg);

/* Sends one request and calls fn for its answer: a whole dump, otherwise one reply. Sets
 * NLM_F_REQUEST, the sequence number and, except for dumps, NLM_F_ACK. The caller keeps `req`. err
 * gets the kernel's extack text. -EAGAIN: a dump was interrupted (NLM_F_DUMP_INTR), retry.
 * -ETIMEDOUT: no answer; -EMSGSIZE: an answer exceeds the buffer. */
int nlsock_call(struct nlsock *, struct nl_msg *req, nlsock_fn *fn, void *arg, struct err *);

/* Like nlsock_call(), but frees the request; -ENOMEM if the request is NULL. */
int nlsock_query(struct nlsock *, struct nl_msg *req, nlsock_fn *fn, void *arg, struct err *);

/* Queries the id of a generic netlink family, over a NETLINK_GENERIC socket; 0: the kernel has no
 * such family, or the request failed. */
uint16_t nlsock_family(struct nlsock *, const char *name);

/* Receives the answer to request `index` of a batch: a message, or h == NULL and its error
 * (negative errno, 0 = plain ack). */
typedef void nlsock_batch_fn(size_t index, const struct nlmsghdr *h, int error, void *arg);

/* Sends n prepared requests (not dumps, each aligned to 4 bytes) of `len` bytes together in one
 * datagram and calls fn once per request, with its first answer. Rewrites the sequence numbers in
 * buf. Requests whose answers did not fit the receive buffer are repeated. Requests without an
 * answer are reported with the error, usually -ETIMEDOUT, which is also returned. -EINVAL: buf does
 * not hold n requests, nothing was sent. */
int nlsock_batch(struct nlsock *, void *buf, size_t len, size_t n, nlsock_batch_fn *fn, void *arg);

/* Pure: calls fn for each message of one received datagram of n bytes and never reads beyond.
 * Returns the number of messages, or -EBADMSG for invalid framing (messages before it were
 * delivered). */
int nlsock_walk(const void *buf, size_t n, nlsock_fn *fn, void *arg);
