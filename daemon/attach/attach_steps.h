/* attach_steps.h - what the steps do, one function each. Internal to attach/. Each returns 0, or a
 * negative errno with the sentence in the job. */
#pragma once

#include "work.h"

int attach_step_record(struct work *);
int attach_step_admin(struct work *);
int attach_step_move(struct work *);
int attach_step_configure(struct work *);
int attach_step_rdma(struct work *);
int attach_step_verify(struct work *);
int attach_step_done(struct work *);

int return_step_record(struct work *);
int return_step_rdma(struct work *);
int return_step_move(struct work *);
int return_step_admin(struct work *);
int return_step_verify(struct work *);
int return_step_done(struct work *);

/* What whoever has a netdev may have set, and a move keeps. */
#define PODS_FLAGS ((unsigned)(IFF_PROMISC | IFF_ALLMULTI | IFF_NOARP))
/* `at` and `seen` are the host's. -ENODEV: it is not there. */
int return_look_at_home(struct work *);
/* The MAC of `seen` is the one that it had. */
bool return_has_own_mac(const struct work *);

/* Compares the attachment in its pod with what is wanted. *ret_drift: bits as in struct attach_job;
 * *first: the first difference in a sentence. 0, or why it could not be compared. */
int attach_compare(struct work *, unsigned *ret_drift, struct err *first);
/* Everything that the pod's interface is to have: the plan's and IPAM's. */
struct wanted_net {
	struct ip_prefix ips[2 * PLAN_IPS_MAX];
	size_t n_ips;
	struct net_route routes[2 * PLAN_ROUTES_MAX];
	size_t n_routes;
};
void attach_wanted_net(const struct attach_record *, struct wanted_net *ret);
/* Name, alias, MTU and (if the PF does not keep it) MAC of the interface in the pod, as far as they
 * differ; `at` and `seen` are its. */
int attach_settle_in_pod(struct work *);
