/* SPDX-License-Identifier: Apache-2.0 */
/* fake_netlink.h - a fake kernel that answers netlink requests over a socket pair, as the test
 * decides. */
#pragma once

#include <netlink/msg.h>
#include <stdbool.h>

#include "nlsock.h"

struct fake_netlink;

/* Answers one request, on the fake's own thread: sends messages with fake_netlink_send(), then
 * returns the code of the ack or of the end of the dump. */
typedef int fake_netlink_fn(struct fake_netlink *, const struct nlmsghdr *req, void *arg);

/* Connects `s` to the fake kernel. */
struct fake_netlink *fake_netlink_start(struct nlsock *s, fake_netlink_fn *fn, void *arg);
/* Sends the message and frees it. */
void fake_netlink_send(struct fake_netlink *, const struct nlmsghdr *req, struct nl_msg *);
/* Extack message to send with the next error. */
void fake_netlink_say(struct fake_netlink *, const char *sentence);
/* Closes s and ends the thread. */
void fake_netlink_stop(struct fake_netlink *, struct nlsock *s);

/* Connects every socket that is opened by nlsock_open() from now on to a fake kernel. NULL: to the
 * real kernel again; waits for the threads of the fakes, whose sockets must have been closed. */
void fake_netlink_behind_sockets(fake_netlink_fn *fn, void *arg);
/* Connects `s` to the fake kernel; false: use the real one. */
bool fake_netlink_open(struct nlsock *s);
