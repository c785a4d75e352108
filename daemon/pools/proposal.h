/* proposal.h - which pools suit this node, for somebody who has no configuration yet: host in,
 * pools and reasons out, and of them a commented configuration. Pure.
 *
 * RoCE VFs and sub-functions go to an exclusive pool for each PF, RoCE HCAs that have neither to a
 * shared pool each: in a cluster of rails, each is a network of its own. HCAs that carry the
 * default route are shared only where there is nothing else, and RDMA in software stands in only
 * where there is none in hardware. Everything else is left out with a reason.
 *
 * The text is to fit all nodes of a kind. So a PF or an HCA is selected by the name of its netdev,
 * which udev makes of slots and ports, or an administrator of a rule; and by its PCI address where
 * the kernel has numbered the name in the order of its finding (eth0, ib0). */
#pragma once

#include "model.h"

#define PROPOSAL_LINE_SIZE 448

/* In the order of the pools. */
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
	const struct function *owner; /* the PF or HCA; the host's */
	char name[24];		      /* the resource's, without a prefix */
	const char *selector;	      /* "pfNames", "rootDevices", "ifNames" ... */
	char word[DEV_ID_SIZE + 16];  /* its one word: "ens1f0np0#0-15" */
	char driver[32];	      /* of soft VFs: keeps those of user space out */
	char about[320];	      /* what is in it, for people */
};

struct proposal {
	struct proposed_pool *pools;
	size_t n_pools;
	/* Of every function that no pool has, or some that stand together: "0000:03:00.0 (eth0):
	 * why". */
	char (*left_out)[PROPOSAL_LINE_SIZE];
	size_t n_left_out;
};

/* -ENOMEM leaves *ret empty. Whom a function goes to is what pools_build() makes of the pools. */
int proposal_build(struct proposal *ret, const struct host *);
void proposal_done(struct proposal *);
/* The configuration file, comments and all; heap, NULL when out of memory. */
char *proposal_text(const struct proposal *);
/* Both. */
char *proposal_of(const struct host *);
