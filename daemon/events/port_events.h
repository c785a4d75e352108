/* SPDX-License-Identifier: Apache-2.0 */
/* port_events.h - finds the pod of an RDMA port's event, and decides whether a port-down event is a
 * warning: a device that changes its network namespace goes down (__dev_close() in
 * linux/net/core/dev.c, for which soft-RoCE and the vendors' drivers send IB_EVENT_PORT_ERR). Pure.
 */
#pragma once

#include "attach_status.h"
#include "bpf_event.h"
#include "event.h"
#include "model.h"

#define NETNS_EXITS 16

/* The network namespaces that netdevs recently left; zero-initialised: none. */
struct netns_exits {
	struct {
		uint32_t netns;	  /* inode number */
		uint64_t time_ns; /* CLOCK_MONOTONIC */
	} last[NETNS_EXITS];
	unsigned next;
};

void netns_exits_add(struct netns_exits *, const struct bpf_event_netdev_moved *);

/* Completes an event made by bpf_event_to_event(): adds the pod that has the device, found by the
 * device's index in the attachment records or in the host; and changes a warning to a normal event
 * if the device is attaching or returning, or leaves because the pod's namespace ends. The end of
 * the namespace may be visible before the end of the pod. */
void port_event_complete(struct event *, const struct bpf_event_port *, const struct host *,
			 struct attach_list, const struct netns_exits *);
