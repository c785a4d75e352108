/* fake_netlink.h - a kernel that answers netlink requests as the test says, over a socket pair. */
#pragma once

#include <netlink/msg.h>
#include <stdbool.h>

#include "nlsock.h"

struct fake_netlink;

/* Answers one request on a thread of its own: appends messages to be sent first with
 * fake_netlink_tell(), and returns the code of the ack (or of the end of a dump). */
typedef int fake_netlink_fn(struct fake_netlink *, const struct nlmsghdr *req, void *arg);

/* Opens `s` to it. */
struct fake_netlink *fake_netlink_start(struct nlsock *s, fake_netlink_fn *fn, void *arg);
/* Takes the message. */
void fake_netlink_tell(struct fake_netlink *, const struct nlmsghdr *req, struct nl_msg *);
/* The kernel's sentence that goes with the next answer that is a refusal. */
void fake_netlink_say(struct fake_netlink *, const char *sentence);
/* Closes s and ends the thread. */
void fake_netlink_stop(struct fake_netlink *, struct nlsock *s);

/* From now on every socket that our code opens by itself (nlsock_open()) leads to such a kernel;
 * NULL: to the real one again, and the threads of those are waited for, whose sockets must be
 * closed. */
void fake_netlink_behind_sockets(fake_netlink_fn *fn, void *arg);
/* Opens `s` to it; false: the real one is to answer. */
bool fake_netlink_open(struct nlsock *s);
