/* nlpoll.h - counters that are asked for over netlink: all targets of a kind in one datagram.
 *
 * Add the targets, probe them once to learn what each one tells, lay the names out, then poll. */
#pragma once

#include "hw.h"
#include "layout.h"
#include "nldev.h"
#include "nlsock.h"

enum nlpoll_kind {
	POLL_STAT,	 /* hw counters of a port: RDMA STAT_GET */
	POLL_RESOURCES,	 /* objects of an RDMA device: RES_GET. Slow: it walks them under a lock */
	POLL_PAUSE,	 /* 802.3x frames of a netdev */
	POLL_DCB,	 /* PFC mask of a netdev. Slow: a firmware command on mlx5 */
	POLL_DCB_FRAMES, /* PFC mask and frames of a netdev, where they are live */
	POLL_LINK,	 /* bytes of a netdev, also of one in another namespace */
	N_POLL_KINDS
};

/* More names than any device has; the rest of an answer is not looked at. */
#define NLPOLL_NAMES_MAX 512

struct nlpoll_id {
	uint32_t dev, port;    /* RDMA kinds: nldev index and port */
	int nsid, ifindex;     /* netdev kinds */
	char ifname[IFNAMSIZ]; /* POLL_DCB* */
};

/* What one target told when it was probed, and where each number goes. */
struct nlpoll_target {
	struct nlpoll_id id;
	const char **names; /* interned by the nlpoll */
	uint32_t *slots;    /* NO_SLOT = nowhere */
	size_t n;
	size_t next; /* the name expected next: answers keep their order */
	size_t heard;
};

struct nlpoll_group {
	struct nlpoll_target *targets;
	size_t n;
	struct nldev_batch batch; /* one request per target */
};

struct nlpoll {
	struct nlpoll_group groups[N_POLL_KINDS];
	struct nlsock rdma, route, generic;
	uint16_t ethtool_family; /* 0 = unknown */
	struct intern names;
};

void nlpoll_init(struct nlpoll *);
void nlpoll_done(struct nlpoll *);

/* Returns the target's index within its kind, or NO_SLOT when out of memory. */
uint32_t nlpoll_add(struct nlpoll *, enum nlpoll_kind, const struct nlpoll_id *);
/* Asks all targets and fills their names; none = the kernel or the device refused. */
int nlpoll_probe(struct nlpoll *);
/* Leads what the targets read to the cells of their slots, and forgets targets without any. */
void nlpoll_trim(struct nlpoll *, const struct layout *);

enum source nlpoll_source(enum nlpoll_kind);
bool nlpoll_is_slow(enum nlpoll_kind);
/* Asks all targets of a kind. Returns the number of failed targets; *ret_stale is set when one told
 * other names than when it was probed. */
size_t nlpoll_read(struct nlpoll *, enum nlpoll_kind, struct layout *, bool *ret_stale);
/* The same of those that feed these cells alone; *asked grows by how many those are. */
size_t nlpoll_read_cells(struct nlpoll *, enum nlpoll_kind, struct layout *, const struct cells *,
			 size_t *asked, bool *ret_stale);

/* nldev index of an RDMA device by name, for all devices at once: fn is called for each. A plain
 * question to the kernel, because 0 is a valid index and cannot mean unknown here. */
typedef void nlpoll_device_fn(const char *name, uint32_t index, void *arg);
int nlpoll_devices(struct nlpoll *, nlpoll_device_fn *, void *arg);

/* Pure: hands one answer to its target. 0, or negative for an answer that cannot be read. */
int nlpoll_deliver(enum nlpoll_kind, struct nlpoll_target *, const struct nlmsghdr *,
		   uint16_t ethtool_family, struct layout *, bool *ret_stale);
