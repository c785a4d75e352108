/* SPDX-License-Identifier: Apache-2.0 */
/* packet_clsact.h - attaches two programs as filters of an interface's clsact qdisc, for kernels
 * before tcx (6.6). Synchronous, for workers. */
#pragma once

#include "err.h"

struct packet_clsact;

/* Attaches the programs. Call on a thread that is in the interface's namespace; netns_fd: that
 * namespace, duplicated for the detach and thus kept until then, -1 = ours. Uses the first free
 * priority from 1 on, with our own handle: filters outlive a killed process, and the next attach
 * replaces them. Only one instance per interface: a second one replaces the first one's filters. */
int packet_clsact_attach(struct packet_clsact **ret, int netns_fd, int ifindex, int ingress_fd,
			 int egress_fd, struct err *);
/* Detaches the programs; c may be NULL. Removes the qdisc if we created it and it has no other
 * filters. A negative errno: the namespace could not be entered, or a filter could not be removed;
 * *c is freed anyway. */
int packet_clsact_detach(struct packet_clsact *);
