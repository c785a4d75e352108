/* step_run.h - what the steps of one run (attach_run(), a check) have in common: the record, the
 * network namespaces where the device may be, and how it is found there. Internal to attach/. */
#pragma once

#include "netdev_ops.h"
#include "netns.h"
#include "rdma_ops.h"
#include "steps.h"

/* A network namespace and the ways to ask in it, opened at their first use. */
struct netns_sockets {
	int netns_fd; /* -1 = not opened */
	bool is_host;
	struct nlsock rtnl, rdma;
};

struct step_run {
	struct attach_job *job;
	const struct hw *hw;
	struct attach_record *record;
	struct err *err; /* the job's */
	struct netns_sockets host, pod, elsewhere;
	/* Where the netdev was last seen; NULL = not looked yet, or it has been moved since. */
	struct netns_sockets *at;
	struct netdev_seen seen;
	/* A dead namespace handed it back under a name that udev is going to change, and udev has
	 * not yet: it would do so after us. */
	bool udev_is_next;
	char came_as[IFNAMSIZ]; /* the name with which a netdev was brought home, "" = none was */
	int pf_ifindex;		/* 0 = not asked yet */
	uint8_t pf_mac[HW_ADDR_MAX]; /* its permanent one */
	unsigned pf_mac_len;	     /* 0 = unknown */
	enum rdma_netns_mode rdma_mode;
};

#define NETNS_SOCKETS_CLOSED                                                                       \
	((struct netns_sockets){.netns_fd = -1, .rtnl = NLSOCK_CLOSED, .rdma = NLSOCK_CLOSED})

void run_begin(struct step_run *, struct attach_job *);
void run_end(struct step_run *);

/* The pod's namespace, the one that the record names; the record learns another path if it has one
 * by now. -ENOENT: it is gone; -EAGAIN: that cannot be told. */
int run_open_pod(struct step_run *);
/* The host's own. */
int run_open_host(struct step_run *);
/* The socket in it, which is open. */
int netns_sockets_rtnl(struct netns_sockets *, struct nlsock **ret, struct err *);
int netns_sockets_rdma(struct netns_sockets *, struct nlsock **ret, struct err *);
void netns_sockets_close(struct netns_sockets *);

bool run_is_vf(const struct step_run *); /* not a macvlan or ipvlan */

/* Our mark on it. A macvlan's or ipvlan's ends with its name: others of the same pod have no other
 * origin. */
void run_alias(const struct step_run *, char ret[ATTACH_ALIAS_SIZE]);
/* Looks for the record's netdev in one of them: by its function or, if it is a macvlan or ipvlan,
 * by its kind and its name or, if that has been changed, our mark. Sets `at` and `seen`. -ENODEV:
 * it is not there. */
int run_look(struct step_run *, struct netns_sockets *);
/* In the host, then in the pod. -ENODEV: in neither. */
int run_find(struct step_run *);
/* In the host and in every namespace that can be found: a walk over all processes. -ENODEV: in
 * none; -EAGAIN: in none, and not everything could be looked at. */
int run_search(struct step_run *);
/* In the namespace that the record names, as its path leads there. Sets `at` and `seen`. */
bool run_is_in_its_pod(struct step_run *);
/* For what the kernel or udev does meanwhile: sleeps a moment; false: it has been long enough. */
struct retries {
	unsigned n;
};
bool run_again_later(struct retries *);
/* It is the last look. */
bool run_is_last(const struct retries *);

/* In the host but for what is stacked, in the pod's namespace if there still is one, in every
 * other: there on the first and on the last look only, since that is a walk over all processes.
 * -ENODEV: the function has no netdev at all, wherever; -EAGAIN: it has, but in a namespace that is
 * on its way out. */
int run_find_anywhere(struct step_run *, const struct retries *);
