/* attach_steps.h - what the steps do, one function each. Internal to attach/. Each returns 0, or a
 * negative errno with the sentence in the job. */
#pragma once

#include "step_run.h"

int attach_step_record(struct step_run *);
int attach_step_admin(struct step_run *);
int attach_step_move(struct step_run *);
int attach_step_configure(struct step_run *);
int attach_step_rdma(struct step_run *);
int attach_step_verify(struct step_run *);
int attach_step_done(struct step_run *);

int return_step_record(struct step_run *);
int return_step_rdma(struct step_run *);
int return_step_move(struct step_run *);
int return_step_admin(struct step_run *);
int return_step_renew(struct step_run *);
int return_step_verify(struct step_run *);
int return_step_done(struct step_run *);

/* What whoever has a netdev may have set, and a move keeps. Not IFF_NOARP: the sysctls that a move
 * makes anew depend on it (accept_dad, ipv6_add_dev() in linux/net/ipv6/addrconf.c), and taking it
 * away afterwards leaves them so; it is answered with a new netdev, like other flags. */
#define PODS_FLAGS ((unsigned)(IFF_PROMISC | IFF_ALLMULTI))
/* Name, alias, MTU and flags as they were, wherever the netdev is; then settings of the PF, MAC, up
 * or down. */
int return_bring_home(struct step_run *);
/* Once the old netdev is gone: a name that only the mark has told is none where udev names the new
 * one. */
void return_forget_told_name(struct step_run *);
int return_restore(struct step_run *);
/* Gives the function a new netdev, which is at home: the old one, or its RDMA device, is where
 * nobody can get it. -EAGAIN: that must not be. */
int return_replace(struct step_run *);
/* Before it goes into a pod: if an interface of whichever namespace sits on the netdev of `seen`,
 * or that cannot be seen, the function gets a new one, on which none does. -EBUSY: it must not; one
 * of which nothing can be seen and that must not get one stays as it is. */
int return_renew_before(struct step_run *);
/* Why a function gets a new netdev, of what netdev_state_differ() tells and of what sits on the
 * netdev: 1, something; negative, nobody can tell. Pure. */
enum renewal return_renewal(uint32_t different, uint32_t unknown, int uppers, enum clean_mode);
/* What the netdev of `seen`, in the host, is like, with a new secret; nothing without one: there
 * would be nothing to compare with later. */
void attach_look_at_state(struct step_run *, struct netdev_state *ret);
/* `at` and `seen` are the host's. -ENODEV: it is not there. */
int return_look_at_home(struct step_run *);
/* The MAC of `seen` is the one that it had. */
bool return_has_own_mac(const struct step_run *);

/* Compares the attachment in its pod with what is wanted. *ret_drift: bits as in struct attach_job;
 * *first: the first difference in a sentence. 0, or why it could not be compared. */
int attach_compare(struct step_run *, unsigned *ret_drift, struct err *first);
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
int attach_settle_in_pod(struct step_run *);
