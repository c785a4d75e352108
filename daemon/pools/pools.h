/* pools.h - configuration x host -> what each pool offers, and for every function where it went and
 * why. Pure.
 *
 * The first pool of the file that matches takes a function; shared pools may share their HCAs with
 * other shared pools. Exclusive pools, as sriov-network-device-plugin does it: a PF that has VFs is
 * not offered; a function that carries a default route (IPv4 or IPv6, itself or the bond, bridge or
 * VLAN above it) is not offered. Shared pools may use both: they take nothing away from the host.
 * An HCA of a shared pool has an RDMA device in the host's namespace, and its uverbs node.
 *
 * What containers hold is known by resource and ID. A function that a container holds stays in the
 * exclusive pool that gave it, whatever its attributes or the configuration say now, and nobody
 * else gets it. */
#pragma once

#include "model.h"
#include "plugin.h"
#include "pod_devices.h"
#include "pool_config.h"
#include "selectors.h"

/* A container's address takes two entries of its HCA's GID table (RoCE v1 and v2), and two are the
 * HCA's own, so 128 entries are room for 63 slots: also the number where no table is known. */
#define POOL_SLOTS_DEFAULT 63
#define POOL_HINT_SIZE	   352

/* One ID of a pool. */
struct offer {
	char id[PLUGIN_ID_SIZE];
	/* The functions behind it: members[first_member .. +n_members) of its pool. */
	size_t first_member, n_members;
	int numa;  /* -1 = none or not to be told */
	bool gone; /* held by a container, and none of its functions is on the bus any more */
};

/* What one pool offers now. members: bus names, in the host's order; behind them those of exclusive
 * offers that are gone. */
struct pool_view {
	const struct pool *pool;
	char (*members)[DEV_ID_SIZE];
	size_t n_members;
	struct offer *offers;
	size_t n_offers;
	unsigned gid_capacity; /* shared pools: slots that the HCAs' GID tables have room for; 0 =
				  unknown */
	size_t n_taken;	       /* functions that match, and another pool has them */
	unsigned *hits;	       /* functions that match, for each of the pool's selectors */
	uint64_t n_wanted;     /* shared pools: slots that the configuration asks for */
	char hint[POOL_HINT_SIZE]; /* no members: why, and what there is instead */
};

enum verdict_kind {
	VERDICT_OFFERED,
	VERDICT_KEPT,	       /* held by a container: stays although it would not come here now */
	VERDICT_HAS_VFS,       /* a PF with VFs is not given away itself */
	VERDICT_DEFAULT_ROUTE, /* carries the node's default route */
	VERDICT_ELSEWHERE,     /* sits in another network namespace, and no container of the kubelet
				  holds it */
	VERDICT_FOREIGN,  /* a container holds it as a resource that no exclusive pool here has */
	VERDICT_NO_MATCH, /* `why` of the nearest pool's selectors */
};

/* Where one function went. Offered: the first pool that has it. Barred: the first that it matched.
 * No match: the pool that came nearest and the first list that failed there. */
struct verdict {
	char function[DEV_ID_SIZE];
	enum verdict_kind kind;
	const struct pool *pool; /* NULL = there are no pools */
	enum why_not why;
	/* Default route: the netdev that has it. Elsewhere: the namespace's name, "" = it has none.
	 * Foreign: the resource, cut if need be. */
	char detail[NETNS_NAME_SIZE];
};

struct pools {
	struct pool_view *views; /* one per pool of the configuration, in its order */
	size_t n_views;
	struct verdict *verdicts; /* one per function of the host, in its order */
	size_t n_verdicts;
};

/* held: what containers hold; NULL, or of source POD_SOURCE_NONE, when that is not known: then a
 * function in another namespace is offered, for it may be a container's. -ENOMEM leaves *ret empty.
 *
 * IDs of shared pools: ID_NUMBER counts through, HCA after HCA in POOL_SHARED_ONE, so that an HCA
 * behind the others renumbers nothing; one that vanishes from among them does. ID_DEVICE_SLOT
 * counts for each HCA; in POOL_SHARED_ALL, where a slot is no HCA's, it is ID_NUMBER. Slots not
 * given are derived from the smallest GID table (POOL_SHARED_ONE: each HCA's own). IDs that
 * containers hold and that the pool would not offer any more are offered too, behind the others. */
int pools_build(struct pools *ret, const struct pool_config *, const struct host *,
		const struct pod_list *held);
void pools_done(struct pools *);
const struct pool_view *pools_find(const struct pools *, const char *resource);
const struct offer *pool_view_offer(const struct pool_view *, const char *id);

/* What the host has instead of what a pool selects, as far as its selectors keep every function out
 * ("there is no PF ens785f9; there is ens785f0, ens785f1"); "" = a function matches. */
void pool_hint(const struct pool *, const struct host_index *, char *text, size_t size);

/* For --check-config, heap, NULL when out of memory: a line for each function ("0000:03:00.2
 * rocelet.dev/roce", "0000:01:00.0  not offered: carries the default route (bond0)"), one for each
 * pool, then warnings. */
char *pools_explain(const struct pools *);
/* What follows the function's name on its line. */
void verdict_text(const struct verdict *, char *text, size_t size);
