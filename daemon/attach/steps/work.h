/* work.h - what the steps of one run have in common: the record, the places where a device may be,
 * and how it is found there. Internal to attach/. */
#pragma once

#include "netdev_ops.h"
#include "netns.h"
#include "rdma_ops.h"
#include "steps.h"

/* A network namespace and the ways to ask in it, opened at their first use. */
struct place {
	int netns_fd; /* -1 = not opened */
	bool is_host;
	struct nlsock rtnl, rdma;
};

struct work {
	struct attach_job *job;
	const struct hw *hw;
	struct attach_record *record;
	struct err *err; /* the job's */
	struct place host, pod, elsewhere;
	/* Where the netdev was last seen; NULL = not looked yet, or it has been moved since. */
	struct place *at;
	struct netdev_seen seen;
	char came_as[IFNAMSIZ]; /* the name with which a netdev was brought home, "" = none was */
	int pf_ifindex;		/* 0 = not asked yet */
	uint8_t pf_mac[HW_ADDR_MAX]; /* its permanent one */
	unsigned pf_mac_len;	     /* 0 = unknown */
	enum rdma_netns_mode rdma_mode;
};

void work_begin(struct work *, struct attach_job *);
void work_end(struct work *);

/* The pod's namespace, the one that the record names; the record learns another path if it has one
 * by now. -ENOENT: it is gone; -EAGAIN: that cannot be told. */
int work_open_pod(struct work *);
/* The host's own. */
int work_open_host(struct work *);
/* Sockets in it; the place is open. */
int place_rtnl(struct place *, struct nlsock **ret, struct err *);
int place_rdma(struct place *, struct nlsock **ret, struct err *);

bool work_is_vf(const struct work *); /* not a macvlan or ipvlan */

/* Our mark on it. A macvlan's or ipvlan's ends with its name: others of the same pod have no other
 * origin. */
void work_alias(const struct work *, char ret[ATTACH_ALIAS_SIZE]);
/* Looks for the record's netdev in one place: by its function or, if it is a macvlan or ipvlan, by
 * its kind and its name or, if that has been changed, our mark. Sets `at` and `seen`. -ENODEV: it
 * is not there. */
int work_look(struct work *, struct place *);
/* In the host, then in the pod. -ENODEV: in neither. */
int work_find(struct work *);
/* For what the kernel or udev does meanwhile: sleeps a moment; false: it has been long enough. */
struct patience {
	unsigned looks;
};
bool work_wait(struct patience *);

/* In the host but for what is stacked, in the pod's namespace if there still is one, in every
 * other: there on the first and on the last look only, since that is a walk over all processes.
 * -ENODEV: the function has no netdev at all, wherever; -EAGAIN: it has, but in a namespace that is
 * on its way out. */
int work_find_anywhere(struct work *, const struct patience *);
