/* SPDX-License-Identifier: Apache-2.0 */
/* pools.h - computes from configuration and host which devices each pool offers, and for every
 * function its pool, or the reason why it has none. Pure.
 *
 * A function goes to the first pool in the file that matches it; an HCA may be in several shared
 * pools. Exclusive pools follow sriov-network-device-plugin: a PF that has VFs is not
 * offered; a function that carries a default route (IPv4 or IPv6, itself or through the bond,
 * bridge or VLAN above it) is not offered. Shared pools may use a PF that has VFs and a function
 * with a default route, because the devices of shared pools stay in the host. A shared pool uses an
 * HCA only if its RDMA device is in the host's namespace and has a uverbs node.
 *
 * Allocations are identified by resource and ID. A function that is allocated to a container stays
 * in the exclusive pool that granted it, even if its attributes or the configuration change, and is
 * not granted again meanwhile. */
#pragma once

#include "model.h"
#include "plugin.h"
#include "pod_devices.h"
#include "pool_config.h"
#include "selectors.h"

/* Default number of slots. A container's address needs two entries of its HCA's GID table (RoCE v1
 * and v2), and the HCA itself has two, so 63 slots fit a table of 128 entries. Also used if the
 * size of the table is unknown. */
#define POOL_SLOTS_DEFAULT 63
#define POOL_HINT_SIZE	   352

/* One ID of a pool. */
struct offer {
	char id[PLUGIN_ID_SIZE];
	/* Its functions: members[first_member .. +n_members) of its pool. */
	size_t first_member, n_members;
	int numa;  /* -1 = none, or not to be reported */
	bool gone; /* allocated to a container, but all its functions were removed from the bus */
};

/* The current offers of one pool. members: bus names, in the host's order, followed by those of
 * exclusive offers that were removed. */
struct pool_view {
	const struct pool *pool;
	char (*members)[DEV_ID_SIZE];
	size_t n_members;
	struct offer *offers;
	size_t n_offers;
	unsigned gid_capacity; /* shared pools: number of slots that fit the HCAs' GID tables; 0 =
				* unknown */
	size_t n_taken;	       /* matching functions that are in another pool */
	unsigned *hits;	       /* number of matching functions, for each of the pool's selectors */
	uint64_t n_wanted;     /* shared pools: slots that the configuration requests */
	char hint[POOL_HINT_SIZE]; /* if there are no members: the reason, and the available values
				    */
};

enum verdict_kind {
	VERDICT_OFFERED,
	VERDICT_KEPT,	 /* allocated to a container: stays in the pool, although it would not be
			  * placed here now */
	VERDICT_HAS_VFS, /* a PF with VFs is not offered itself */
	VERDICT_DEFAULT_ROUTE, /* carries the node's default route */
	VERDICT_ELSEWHERE,     /* in another network namespace, but not allocated to a container
				* according to the kubelet */
	VERDICT_FOREIGN,  /* allocated to a container under the name of another resource, which is
			     not an exclusive pool of this configuration */
	VERDICT_NO_MATCH, /* `why` is the reason of the pool with the most passed tests */
};

/* The placement of one function. `pool` is the pool that offers it; if the function is excluded,
 * the first pool that it matched; if none matched, the pool with the most passed tests, and `why`
 * is the first failed test of that pool. */
struct verdict {
	char function[DEV_ID_SIZE];
	enum verdict_kind kind;
	const struct pool *pool; /* NULL = there are no pools */
	enum why_not why;
	/* Default route: the netdev that has it. Elsewhere: the namespace's name, "" = it has none.
	 * Foreign: the resource, truncated if necessary. */
	char detail[NETNS_NAME_SIZE];
};

struct pools {
	struct pool_view *views; /* one per pool of the configuration, in its order */
	size_t n_views;
	struct verdict *verdicts; /* one per function of the host, in its order */
	size_t n_verdicts;
};

/* Builds the views and the verdicts. held: the allocations; NULL, or source POD_SOURCE_NONE, if
 * they are unknown. Then a function in another namespace is offered, because it may be allocated to
 * a container. -ENOMEM leaves *ret empty.
 *
 * IDs of shared pools: ID_NUMBER counts from 0 over all HCAs; in POOL_SHARED_ONE in the order of
 * HCAs, so adding an HCA at the end does not change the numbers, but removing one from the middle
 * does. ID_DEVICE_SLOT counts per HCA; in POOL_SHARED_ALL, where a slot has no HCA of its own, it
 * is the same as ID_NUMBER. If the number of slots is not configured, it is derived from the
 * smallest GID table (POOL_SHARED_ONE: each HCA's own). Allocated IDs that the pool would not offer
 * any more are appended. */
int pools_build(struct pools *ret, const struct pool_config *, const struct host *,
		const struct pod_list *held);
void pools_done(struct pools *);
const struct pool_view *pools_find(const struct pools *, const char *resource);
const struct offer *pool_view_offer(const struct pool_view *, const char *id);

/* If no function matches, describes which values the host has instead of the selected ones ("there
 * is no PF ens785f9; there is ens785f0, ens785f1"); "" = a function matches. */
void pool_hint(const struct pool *, const struct host_index *, char *text, size_t size);

/* Returns the output of --check-config, on the heap, NULL when out of memory: a line for each
 * function ("0000:03:00.2 rocelet.dev/roce", "0000:01:00.0 not offered: carries the default route
 * (bond0)"), one for each pool, then warnings. */
char *pools_explain(const struct pools *);
/* Writes the text after the function's name on its line. */
void verdict_text(const struct verdict *, char *text, size_t size);
