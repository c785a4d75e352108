/* port_events.h - whose RDMA port an event is about, and whether it is news that it went down: a
 * device that changes its network namespace goes down on the way (__dev_close() in
 * linux/net/core/dev.c, of which soft-RoCE and the vendors' drivers make IB_EVENT_PORT_ERR). Pure.
 */
#pragma once

#include "attach_status.h"
#include "bpf_event.h"
#include "event.h"
#include "model.h"

#define NETNS_EXITS 16

/* The network namespaces that netdevs were lately asked out of; zero-initialised there are none. */
struct netns_exits {
	struct {
		uint32_t netns;	  /* inode number */
		uint64_t time_ns; /* CLOCK_MONOTONIC */
	} last[NETNS_EXITS];
	unsigned next;
};

void netns_exits_add(struct netns_exits *, const struct bpf_event_netdev_moved *);

/* Completes what bpf_event_tell() made of the event: the pod that has the device, which is known by
 * its index, recorded or in the host; and no warning
 * where the device is on its way into the pod or back, or leaves because the pod's namespace ends,
 * which may be seen before the pod's end is. */
void port_event_complete(struct event *, const struct bpf_event_port *, const struct host *,
			 struct attach_list, const struct netns_exits *);
