/* SPDX-License-Identifier: Apache-2.0 */
/* counters_setup.h - plans which counters are read from which source, and into which readings.
 * Built again when the hardware changes. Private to counters.c. */
#pragma once

#include "counters.h"
#include "nicstats.h"
#include "nlpoll.h"
#include "statfiles.h"

/* One port from the host's inventory. With port 0: one whole device. */
struct plan_port {
	char device[RDMA_NAME_SIZE];
	char netns[NETNS_NAME_SIZE]; /* the device's namespace; "" = the host's */
	uint32_t port;
	enum nic nic;
	bool has_index; /* index is the nldev device index */
	uint32_t index;
	char netdev[IFNAMSIZ];
	int netdev_nsid, netdev_ifindex; /* 0 = none */
	enum port_state state;
	enum phys_state phys_state;
	uint64_t rate_bps;
	/* Port 0: labels of node_infiniband_info, with room for escaping every byte. */
	char info[2 * (2 * RDMA_TEXT_SIZE + RDMA_FW_SIZE) + 64];
	/* By poll kind: index of the port's target in struct nlpoll, NO_SLOT = none. */
	uint32_t polls[N_POLL_KINDS];
};

struct plan {
	struct plan_port *ports;
	size_t n;
};

/* Lists the ports and devices to read; -ENOMEM leaves an empty plan. */
int plan_make(struct plan *, const struct host *);
void plan_done(struct plan *);

/* The sources and the layout that they fill. */
struct setup {
	struct layout layout;
	struct statfiles files;
	struct nicstats nics;
	struct nlpoll polls;
	size_t unlisted[N_SOURCES]; /* lists that exist but could not be read */
};

void setup_init(struct setup *);
void setup_done(struct setup *);
/* Lists and probes all sources and builds the layout. Keeps no counter file open yet. */
int setup_make(struct setup *, const struct hw *, const struct counters_opts *, struct plan *);
