/* packet_clsact.h - two programs as filters below an interface's clsact qdisc, for kernels before
 * tcx (6.6). Synchronous, for workers. */
#pragma once

#include "err.h"

struct packet_clsact;

/* On the thread that is in the interface's namespace already; netns_fd: that namespace, duplicated
 * to find the way back (it is kept alive until then), -1 = ours. At the first priority that can be
 * had from 1 on, with a handle of our own: filters outlive a process that is killed, and the next
 * one replaces them. One of us per interface: a second one takes the first one's place. */
int packet_clsact_attach(struct packet_clsact **ret, int netns_fd, int ifindex, int ingress_fd,
			 int egress_fd, struct err *);
/* NULL is fine. The qdisc goes too if we made it and no filter of others is there. A negative
 * errno: the namespace could not be entered or a filter not be removed; *c is freed all the same.
 */
int packet_clsact_detach(struct packet_clsact *);
