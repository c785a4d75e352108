/* SPDX-License-Identifier: Apache-2.0 */
/* nlpoll.h - reads counters over netlink: all targets of a kind in one datagram, except those in
 * other network namespaces. Each of these gets a socket in its namespace, for this one request: a
 * socket that stays open would keep the namespace of a pod that has ended, and its devices.
 *
 * Add the targets, probe them once for their counter names, build the layout from the names, then
 * poll. */
#pragma once

#include "hw.h"
#include "layout.h"
#include "nldev.h"
#include "nlsock.h"

enum nlpoll_kind {
	POLL_STAT,	  /* hw counters of a port: RDMA STAT_GET */
	POLL_STAT_INSIDE, /* like POLL_STAT, of a device in another network namespace */
	POLL_RESOURCES,	  /* objects of an RDMA device: RES_GET. Slow: counted under a lock */
	POLL_PAUSE,	  /* 802.3x frames of a netdev */
	POLL_DCB,	  /* PFC mask of a netdev. Slow: a firmware command on mlx5 */
	POLL_DCB_FRAMES,  /* PFC mask and frames of a netdev, for drivers with live counts */
	POLL_LINK,	  /* bytes of a netdev, in any namespace */
	N_POLL_KINDS
};

/* Exceeds the number of names of any device; the rest of an answer is ignored. */
#define NLPOLL_NAMES_MAX 512

struct nlpoll_id {
	uint32_t dev, port;	     /* RDMA kinds: nldev index and port */
	int nsid, ifindex;	     /* netdev kinds */
	char ifname[IFNAMSIZ];	     /* POLL_DCB* */
	char netns[NETNS_NAME_SIZE]; /* POLL_STAT_INSIDE: the device's namespace */
};

/* The names that a target had when it was probed, and the destination of each number. */
struct nlpoll_target {
	struct nlpoll_id id;
	const char **names; /* interned by the nlpoll */
	uint32_t *slots;    /* NO_SLOT = ignored */
	size_t n;
	size_t next; /* index of the name expected next: answers keep their order */
	size_t heard;
};

struct nlpoll_group {
	struct nlpoll_target *targets;
	size_t n;
	struct nldev_batch batch; /* one request per target; POLL_STAT_INSIDE: empty */
};

struct nlpoll {
	const struct hw *hw; /* set before probing targets of POLL_STAT_INSIDE */
	struct nlpoll_group groups[N_POLL_KINDS];
	struct nlsock rdma, route, generic;
	uint16_t ethtool_family; /* 0 = unknown */
	struct intern names;
};

void nlpoll_init(struct nlpoll *);
void nlpoll_done(struct nlpoll *);

/* Returns the target's index within its kind, or NO_SLOT when out of memory. */
uint32_t nlpoll_add(struct nlpoll *, enum nlpoll_kind, const struct nlpoll_id *);
/* Queries all targets and stores their names; a target has none if the kernel or the device
 * rejected the request. */
int nlpoll_probe(struct nlpoll *);
/* Replaces slots by their cells, and drops targets without any. */
void nlpoll_trim(struct nlpoll *, const struct layout *);

enum source nlpoll_source(enum nlpoll_kind);
bool nlpoll_is_slow(enum nlpoll_kind);
/* Queries all targets of a kind. Returns the number of failed targets; sets *ret_stale if one has
 * other names than when it was probed. */
size_t nlpoll_read(struct nlpoll *, enum nlpoll_kind, struct layout *, bool *ret_stale);
/* Like nlpoll_read(), for the targets that feed these cells; adds their number to *asked. */
size_t nlpoll_read_cells(struct nlpoll *, enum nlpoll_kind, struct layout *, const struct cells *,
			 size_t *asked, bool *ret_stale);

/* Queries the kernel for all RDMA devices at once; fn gets each name with its nldev index. */
typedef void nlpoll_device_fn(const char *name, uint32_t index, void *arg);
int nlpoll_devices(struct nlpoll *, nlpoll_device_fn *, void *arg);

/* Pure: delivers one answer to its target. Returns 0, or negative if the answer cannot be decoded.
 */
int nlpoll_deliver(enum nlpoll_kind, struct nlpoll_target *, const struct nlmsghdr *,
		   uint16_t ethtool_family, struct layout *, bool *ret_stale);
