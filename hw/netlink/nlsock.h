/* nlsock.h - a synchronous netlink request socket: every call ends exactly once, by answer or by
 * time-out.
 *
 * Worker threads ask; the loop's event sockets (daemon/inventory) never do. One socket per thread
 * at a time. */
#pragma once

#include <netlink/msg.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

struct nlsock {
	int fd; /* -1 = closed */
	uint32_t seq;
	uint8_t *buf; /* of the last datagram */
};

#define NLSOCK_CLOSED ((struct nlsock){.fd = -1})

/* protocol: NETLINK_ROUTE, NETLINK_RDMA, NETLINK_GENERIC. Answers are waited for 2 seconds at most.
 */
int nlsock_open(struct nlsock *, int protocol, struct err *);
/* The same for a socket that was opened elsewhere (inside another network namespace); takes fd. */
int nlsock_adopt(struct nlsock *, int fd);
void nlsock_close(struct nlsock *);

/* One message of an answer; borrowed for the call. A negative return ends the walk and becomes the
 * result (the rest of the answer is still drained). -ECANCELED: enough was seen of a dump whose
 * rest is not worth making; it is not drained, and the socket is good for closing only. */
typedef int nlsock_fn(const struct nlmsghdr *, void *arg);

/* Sends one request and walks its answer: a dump to its end, otherwise one reply. Sets
 * NLM_F_REQUEST, the sequence number and, unless it is a dump, NLM_F_ACK. `req` stays the caller's.
 * Kernel's extack text goes into err. -EAGAIN: a dump was interrupted (NLM_F_DUMP_INTR), ask again.
 * -ETIMEDOUT: no answer; -EMSGSIZE: one that is larger than any honest one. */
int nlsock_call(struct nlsock *, struct nl_msg *req, nlsock_fn *fn, void *arg, struct err *);

/* The same, and frees the request; NULL: there was no memory for it. */
int nlsock_ask(struct nlsock *, struct nl_msg *req, nlsock_fn *fn, void *arg, struct err *);

/* The number of a generic netlink family, over a NETLINK_GENERIC socket; 0: the kernel has none, or
 * does not say. */
uint16_t nlsock_family(struct nlsock *, const char *name);

/* The answer to request `index` of a batch: a message, or h == NULL and its error (negative errno,
 * 0 = plain ack). */
typedef void nlsock_batch_fn(size_t index, const struct nlmsghdr *h, int error, void *arg);

/* Sends n ready-made requests (not dumps, each aligned to 4 bytes) of `len` bytes together in one
 * datagram and walks their answers: each request gets one, its first. The sequence numbers in buf
 * are rewritten. Answers that do not fit the receive buffer are asked for again. Requests without
 * an answer are reported with the reason, -ETIMEDOUT as a rule, which is also returned. -EINVAL:
 * buf does not hold n requests, nothing was sent. */
int nlsock_batch(struct nlsock *, void *buf, size_t len, size_t n, nlsock_batch_fn *fn, void *arg);

/* Pure: walks the messages of one received datagram, skipping nothing and never reading past n
 * bytes. Returns the number of messages, or -EBADMSG when the framing lies (the good ones before it
 * were delivered). */
int nlsock_walk(const void *buf, size_t n, nlsock_fn *fn, void *arg);
