/* SPDX-License-Identifier: Apache-2.0 */
/* pools.h - from configuration and host computes what each pool offers, and for every function its
 * pool or the reason why it has none. Pure.
 *
 * The first matching pool of the file gets a function; shared pools may share their HCAs with other
 * shared pools. Exclusive pools follow sriov-network-device-plugin: a PF that has VFs is not
 * offered; a function that carries a default route (IPv4 or IPv6, itself or through the bond,
 * bridge or VLAN above it) is not offered. Shared pools may use both, because they take nothing
 * away from the host. An HCA of a shared pool has an RDMA device in the host's namespace, and its
 * uverbs node.
 *
 * Allocations are known by resource and ID. A function held by a container stays in the exclusive
 * pool that granted it, whatever its attributes or the configuration are now, and is not granted
 * again meanwhile. */
#pragma once

#include "model.h"
#include "plugin.h"
#include "pod_devices.h"
#include "pool_config.h"
#include "selectors.h"

/* Default number of slots. A container's address takes two entries of its HCA's GID table (RoCE v1
 * and v2), and the HCA itself has two, so a table of 128 entries has room for 63 slots. Also used
 * if the size of the table is unknown. */
#define POOL_SLOTS_DEFAULT 63
#define POOL_HINT_SIZE	   352

/* One ID of a pool. */
struct offer {
	char id[PLUGIN_ID_SIZE];
	/* Its functions: members[first_member .. +n_members) of its pool. */
	size_t first_member, n_members;
	int numa;  /* -1 = none, or not to be reported */
	bool gone; /* held by a container, but none of its functions is on the bus any more */
};

/* What one pool offers now. members: bus names, in the host's order, followed by those of exclusive
 * offers that are gone. */
struct pool_view {
	const struct pool *pool;
	char (*members)[DEV_ID_SIZE];
	size_t n_members;
	struct offer *offers;
	size_t n_offers;
	unsigned gid_capacity; /* shared pools: slots that the HCAs' GID tables have room for; 0 =
				  unknown */
	size_t n_taken;	       /* matching functions that are in another pool */
	unsigned *hits;	       /* number of matching functions, for each of the pool's selectors */
	uint64_t n_wanted;     /* shared pools: slots that the configuration requests */
	char hint[POOL_HINT_SIZE]; /* if there are no members: why, and what exists instead */
};

enum verdict_kind {
	VERDICT_OFFERED,
	VERDICT_KEPT, /* held by a container: stays in the pool although it would not be placed here
			 now */
	VERDICT_HAS_VFS,       /* a PF with VFs is not offered itself */
	VERDICT_DEFAULT_ROUTE, /* carries the node's default route */
	VERDICT_ELSEWHERE, /* in another network namespace, but not held by a container according to
			      the kubelet */
	VERDICT_FOREIGN,   /* held by a container under a resource that is no exclusive pool here */
	VERDICT_NO_MATCH,  /* `why` is for the pool that it came closest to */
};

/* The placement of one function. Offered: the first pool that has it. Excluded: the first pool that
 * it matched. No match: the pool that it came closest to, and the first failed test there. */
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

/* held: the allocations; NULL, or of source POD_SOURCE_NONE, if these are unknown: then a function
 * in another namespace is offered, because a container may hold it. -ENOMEM leaves *ret empty.
 *
 * IDs of shared pools: ID_NUMBER counts from 0 over all HCAs; in POOL_SHARED_ONE in the order of
 * HCAs, so an HCA added at the end renumbers nothing, but removing one from the middle does.
 * ID_DEVICE_SLOT counts per HCA; in POOL_SHARED_ALL, where a slot has no HCA of its own, it is
 * ID_NUMBER. If the number of slots is not configured, it is derived from the smallest GID table
 * (POOL_SHARED_ONE: each HCA's own). IDs that containers hold and that the pool would not offer any
 * more are appended. */
int pools_build(struct pools *ret, const struct pool_config *, const struct host *,
		const struct pod_list *held);
void pools_done(struct pools *);
const struct pool_view *pools_find(const struct pools *, const char *resource);
const struct offer *pool_view_offer(const struct pool_view *, const char *id);

/* If no function matches, describes what the host has instead of what the pool selects ("there is
 * no PF ens785f9; there is ens785f0, ens785f1"); "" = a function matches. */
void pool_hint(const struct pool *, const struct host_index *, char *text, size_t size);

/* The output of --check-config, on the heap, NULL when out of memory: a line for each function
 * ("0000:03:00.2  rocelet.dev/roce", "0000:01:00.0  not offered: carries the default route
 * (bond0)"), one for each pool, then warnings. */
char *pools_explain(const struct pools *);
/* The text after the function's name on its line. */
void verdict_text(const struct verdict *, char *text, size_t size);
