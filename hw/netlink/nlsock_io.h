/* nlsock_io.h - what nlsock.c and nlsock_batch.c share, for nobody else. */
#pragma once

#include <sys/types.h>

#include "nlsock.h"

int nlsock_send(const struct nlsock *, const void *buf, size_t n);
/* One datagram of the kernel's, into s->buf; returns its size. flags: 0 or MSG_DONTWAIT.
 * -ETIMEDOUT: none came (or, with MSG_DONTWAIT, none is waiting); -ENOBUFS: some were lost, said
 * once, before those that did fit. */
ssize_t nlsock_receive(struct nlsock *, int flags);
/* Pure: the errno that an NLMSG_ERROR or NLMSG_DONE begins with; -EBADMSG when it is too short for
 * one. */
int nlsock_end_code(const struct nlmsghdr *);
