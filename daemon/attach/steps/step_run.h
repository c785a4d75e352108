/* SPDX-License-Identifier: Apache-2.0 */
/* step_run.h - shared by the steps of one run (attach_run(), a check): the record, the network
 * namespaces where the device may be, and the search for the device. Internal to attach/. */
#pragma once

#include "netdev_ops.h"
#include "netns.h"
#include "rdma_ops.h"
#include "steps.h"

/* A network namespace and its netlink sockets, which are opened at their first use. */
struct netns_sockets {
	int netns_fd; /* -1 = not open */
	bool is_host;
	struct nlsock rtnl, rdma;
};

struct step_run {
	struct attach_job *job;
	const struct hw *hw;
	struct attach_record *record;
	struct err *err; /* the job's */
	struct netns_sockets host, pod, elsewhere;
	/* the namespace in which the netdev was last found; NULL = not searched yet, or moved
	 * since */
	struct netns_sockets *at;
	struct netdev_seen seen;
	/* The netdev returned from a removed namespace under a name that udev will change after us.
	 */
	bool udev_renames;
	char arrived_name[IFNAMSIZ]; /* name under which a netdev was moved to the host, "" = no
				      * move */
	int pf_ifindex;		     /* 0 = not read yet */
	uint8_t pf_mac[HW_ADDR_MAX]; /* the PF's permanent MAC */
	unsigned pf_mac_len;	     /* 0 = unknown */
	enum rdma_netns_mode rdma_mode;
};

#define NETNS_SOCKETS_CLOSED                                                                       \
	((struct netns_sockets){.netns_fd = -1, .rtnl = NLSOCK_CLOSED, .rdma = NLSOCK_CLOSED})

void run_begin(struct step_run *, struct attach_job *);
void run_end(struct step_run *);

/* Opens the pod's namespace, as recorded. If its path has changed, the record gets the new one.
 * -ENOENT: it was removed; -EAGAIN: unknown. */
int run_open_pod(struct step_run *);
/* Opens the host's namespace. */
int run_open_host(struct step_run *);
/* Return a netlink socket in the namespace, opened if needed. */
int netns_sockets_rtnl(struct netns_sockets *, struct nlsock **ret, struct err *);
int netns_sockets_rdma(struct netns_sockets *, struct nlsock **ret, struct err *);
void netns_sockets_close(struct netns_sockets *);

bool run_is_vf(const struct step_run *); /* not a macvlan or ipvlan */

/* Writes the mark (ifalias) of the attachment. The mark of a macvlan or ipvlan ends with its name,
 * because others of the same pod have the same origin. */
void run_alias(const struct step_run *, char ret[ATTACH_ALIAS_SIZE]);
/* Searches one namespace for the record's netdev, by its function. A macvlan or ipvlan is found by
 * its kind and its name or, if the name was changed, by our mark. Sets `at` and `seen`. -ENODEV: it
 * is not there. */
int run_find_in(struct step_run *, struct netns_sockets *);
/* Searches the host, then the pod. -ENODEV: in neither. */
int run_find(struct step_run *);
/* Searches the host and, by a walk over all processes, every namespace that can be found. -ENODEV:
 * not found; -EAGAIN: not found, but not every namespace could be searched. */
int run_search(struct step_run *);
/* Searches the recorded namespace, if its path still leads to it. Sets `at` and `seen`. */
bool run_is_in_its_pod(struct step_run *);
/* Counts retries while waiting for the kernel or udev. run_again_later() sleeps briefly; it returns
 * false if no retry is left. */
struct retries {
	unsigned n;
};
bool run_again_later(struct retries *);
/* True if this is the last try. */
bool run_is_last(const struct retries *);

/* Searches the host (except for a macvlan or ipvlan), the pod's namespace if it still exists, and
 * every other one; the latter only in the first and the last try, since it is a walk over all
 * processes. -ENODEV: the function has no netdev in any namespace; -EAGAIN: it has, but in a
 * namespace that is being removed. */
int run_find_anywhere(struct step_run *, const struct retries *);
