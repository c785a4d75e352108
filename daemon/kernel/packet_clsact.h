/* packet_clsact.h - two programs as filters below an interface's clsact qdisc, for kernels before
 * tcx (6.6). Synchronous, for workers. */
#pragma once

#include "err.h"

struct packet_clsact;

/* On the thread that is in the interface's namespace already; netns_fd: that namespace, duplicated
 * to find the way back (it is kept alive until then), -1 = ours. Before the others' filters. */
int packet_clsact_attach(struct packet_clsact **ret, int netns_fd, int ifindex, int ingress_fd,
			 int egress_fd, struct err *);
/* NULL is fine. The qdisc goes too if we made it and no filter of others is there. */
void packet_clsact_detach(struct packet_clsact *);
