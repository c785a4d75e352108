/* pools.h - configuration x host -> what each pool offers, and for every function where it went and
 * why. Pure.
 *
 * sriov-network-device-plugin's rules for exclusive pools: the first pool that matches takes a
 * function; a PF that has VFs is not offered; a function that carries a default route (IPv4 or
 * IPv6, itself or the bond, bridge or VLAN above it) is not offered. Shared pools may share their
 * HCAs with other shared pools. A function that a container holds stays in the pool that gave it,
 * whatever its attributes or the configuration say now. */
#pragma once

#include "model.h"
#include "plugin.h"
#include "pod_devices.h"
#include "pool_config.h"
#include "selectors.h"

/* One ID of a pool. */
struct offer {
	char id[PLUGIN_ID_SIZE];
	/* The functions behind it: members[first_member .. +n_members) of its pool. */
	size_t first_member, n_members;
	int numa;  /* -1 = none or not to be told */
	bool gone; /* held by a container, and none of its functions is on the bus any more */
};

/* What one pool offers now. members: bus names, in the host's order. */
struct pool_view {
	const struct pool *pool;
	char (*members)[DEV_ID_SIZE];
	size_t n_members;
	struct offer *offers;
	size_t n_offers;
	unsigned gid_capacity; /* shared pools: slots that the HCAs' GID tables have room for; 0 =
				  unknown */
};

enum verdict_kind {
	VERDICT_OFFERED,
	VERDICT_DEFAULT_ROUTE, /* carries the node's default route */
	VERDICT_HAS_VFS,       /* a PF with VFs is not given away itself */
	VERDICT_TAKEN,	       /* an earlier pool has it */
	VERDICT_NO_MATCH,      /* `why` of the nearest pool's selectors */
	VERDICT_KEPT,	       /* held by a container: stays although it does not match any more */
};

/* Where one function went. For no match: the pool that came nearest and the first list that failed
 * there. */
struct verdict {
	char function[DEV_ID_SIZE];
	enum verdict_kind kind;
	const struct pool *pool; /* NULL = there are no pools */
	enum why_not why;
};

struct pools {
	struct pool_view *views; /* one per pool of the configuration, in its order */
	size_t n_views;
	struct verdict *verdicts; /* one per function of the host, in its order */
	size_t n_verdicts;
};

/* held: what containers hold, by resource and ID; may be NULL. The configuration must outlive the
 * result. -ENOMEM leaves *ret empty. */
int pools_build(struct pools *ret, const struct pool_config *, const struct host *,
		const struct pod_list *held);
void pools_done(struct pools *);
const struct pool_view *pools_find(const struct pools *, const char *resource);
const struct offer *pool_view_offer(const struct pool_view *, const char *id);

/* "0000:03:00.2: rocelet.dev/roce" or "...: not offered: it carries the default route", one line
 * each, for --check-config; heap, NULL when out of memory. */
char *pools_explain(const struct pools *, const struct pool_config *);
/* One sentence about a verdict, for people and the API. */
void verdict_text(const struct verdict *, char *text, size_t size);
