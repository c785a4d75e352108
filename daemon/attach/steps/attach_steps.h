/* SPDX-License-Identifier: Apache-2.0 */
/* attach_steps.h - the steps, one function each. Internal to attach/. Each returns 0, or a negative
 * errno with the message in the job. */
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
int return_step_done(struct step_run *);

/* Flags that a pod may have set on its netdev, and that a move keeps. IFF_NOARP is not included:
 * the sysctls that a move recreates depend on it (accept_dad, ipv6_add_dev() in
 * linux/net/ipv6/addrconf.c), and clearing the flag afterwards does not reset them. So a changed
 * IFF_NOARP, like other flags, requires a new netdev. */
#define PODS_FLAGS ((unsigned)(IFF_PROMISC | IFF_ALLMULTI))
/* Moves the netdev to the host, from whichever namespace it is in, and restores name, alias, MTU
 * and flags. */
int return_move_to_host(struct step_run *);
/* Called after the old netdev was deleted: clears an original name that is known only from the
 * mark, if udev names the new netdev. */
void return_forget_reported_name(struct step_run *);
/* Restores the PF's settings, the MAC, and whether the netdev is up. */
int return_restore(struct step_run *);
/* Gives the function a new netdev in the host, because the old one, or its RDMA device, is in a
 * namespace that cannot be entered. -EAGAIN: the function must not get a new netdev. */
int return_replace(struct step_run *);
/* Called before an attach. If an interface of any namespace is stacked on the netdev of `seen`, or
 * if that is unknown, the function gets a new netdev. -EBUSY: an interface is stacked, and the
 * function must not get a new netdev. If only the search failed, such a function keeps its netdev.
 */
int return_renew_before_attach(struct step_run *);
/* Why a function gets a new netdev, according to netdev_state_differ() and to `uppers`: > 0, an
 * interface is stacked on the netdev, or its RDMA device is open; < 0, unknown. Pure. */
enum renewal return_renewal(uint32_t different, uint32_t unknown, int uppers, enum clean_mode);
/* Takes a snapshot of the netdev of `seen`, in the host, with a new secret. Without a secret the
 * snapshot stays empty: it could not be compared later. */
void attach_take_snapshot(struct step_run *, struct netdev_state *ret);
/* Finds the netdev in the host; sets `at` and `seen`. -ENODEV: not found. */
int return_find_in_host(struct step_run *);
/* True if the netdev of `seen` has its original MAC. */
bool return_has_own_mac(const struct step_run *);

/* Compares the attachment in its pod with its plan. *ret_drift: bits as in struct attach_job;
 * *first: the message of the first difference. Returns 0, or the error of a comparison that could
 * not be made. */
int attach_compare(struct step_run *, unsigned *ret_drift, struct err *first);
/* The addresses and routes of the pod's interface: the plan's and IPAM's. */
struct planned_net {
	struct ip_prefix ips[2 * PLAN_IPS_MAX];
	size_t n_ips;
	struct net_route routes[2 * PLAN_ROUTES_MAX];
	size_t n_routes;
};
void attach_planned_net(const struct attach_record *, struct planned_net *ret);
/* Sets name, alias, MTU and (if the PF does not keep it) MAC of the interface in the pod, if they
 * differ. `at` and `seen` must be the interface's. */
int attach_settle_in_pod(struct step_run *);
