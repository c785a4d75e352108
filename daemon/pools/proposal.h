/* SPDX-License-Identifier: Apache-2.0 */
/* proposal.h - proposes pools, with reasons, for a node without a configuration, and prints them as
 * a configuration file with comments. Pure.
 *
 * RoCE VFs and sub-functions become an exclusive pool per PF. Each RoCE HCA without VFs and
 * sub-functions becomes a shared pool, because in a rail-optimised cluster each HCA is a network of
 * its own. HCAs that carry the default route are proposed only if there is nothing better, and
 * soft-RoCE only if there is no RDMA hardware. Everything else is left out with a reason.
 *
 * The proposal should fit all nodes of a kind. So a PF or an HCA is selected by the name of its
 * netdev, if udev derived it from slot and port or an administrator set it by a rule. If the kernel
 * numbered it in the order of discovery (eth0, ib0), the PCI address is used. */
#pragma once

#include <stdbool.h>

#include "model.h"

#define PROPOSAL_LINE_SIZE 448

/* In the order of the pools in the file. */
enum proposed_kind {
	PROPOSED_VFS,	   /* exclusive: VFs with RDMA */
	PROPOSED_SFS,	   /* exclusive: sub-functions with RDMA */
	PROPOSED_HCA,	   /* shared: an HCA */
	PROPOSED_SOFT_VFS, /* exclusive: VFs that get soft-RoCE in the pod */
	PROPOSED_SOFT_HCA, /* shared: a soft-RoCE device */
	N_PROPOSED_KINDS
};

struct proposed_pool {
	enum proposed_kind kind;
	const struct function *owner; /* the PF or HCA; borrowed from the host */
	char name[24];		      /* resource name without a prefix */
	const char *selector;	      /* "pfNames", "rootDevices", "ifNames" ... */
	char word[DEV_ID_SIZE + 16];  /* the selector's only word: "ens1f0np0#0-15" */
	char driver[32];	      /* soft VFs: the kernel driver that the pool selects */
	char about[320];	      /* description for people */
};

struct proposal {
	struct proposed_pool *pools;
	size_t n_pools;
	/* For every function without a pool, or several adjacent ones: "0000:03:00.0 (eth0):
	 * why". */
	char (*left_out)[PROPOSAL_LINE_SIZE];
	size_t n_left_out;
	bool attaches; /* the daemon can attach, so exclusive pools get a "network" */
};

/* Proposes pools; pools_build() decides which functions the pools get. attaches false: for a daemon
 * that cannot attach (--unprivileged); then no pool has a "network", and VFs without RDMA have no
 * pool. -ENOMEM leaves *ret empty. */
int proposal_build(struct proposal *ret, const struct host *, bool attaches);
void proposal_done(struct proposal *);
/* Returns the configuration file with comments, on the heap; NULL when out of memory. */
char *proposal_text(const struct proposal *);
/* Calls proposal_build() and proposal_text(). */
char *proposal_of(const struct host *, bool attaches);
