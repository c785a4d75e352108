// SPDX-License-Identifier: Apache-2.0
/* proposal_rate.c - rates a function by a sequence of tests; the first test that fails is the
 * reason to leave it out. */
#include "proposal_rate.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "pool_slots.h"
#include "search.h"
#include "selectors.h"

/* linux/pci_ids.h */
#define CLASS_BASE_ACCELERATOR 0x12

struct view {
	const struct host_index *index;
	const struct netdev **routes;
	const struct candidate *c;
};

__attribute__((format(printf, 2, 3))) static void leave_out(struct rated *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(r->why, sizeof(r->why), fmt, ap);
	va_end(ap);
}

/* --- netdevs ---------------------------------------------------------------------------------- */

const struct netdev *proposal_netdev(const struct fn_parts *p)
{
	for (size_t i = 0; i < p->n_netdevs; i++)
		if (part_netdev(p, i)->nsid == NSID_HOST && netdev_is_own(part_netdev(p, i)))
			return part_netdev(p, i);
	return NULL;
}

const struct netdev *proposal_bond(const struct host_index *ix, const struct fn_parts *p)
{
	const struct netdev *nd = proposal_netdev(p);
	const struct netdev *master = nd && nd->master
					      ? host_index_netdev(ix, NSID_HOST, nd->master)
					      : NULL;

	return master && (strcmp(master->kind, "bond") == 0 || strcmp(master->kind, "team") == 0)
		       ? master
		       : NULL;
}

const struct netdev *proposal_route(const struct host_index *ix, const struct netdev **routes,
				    const struct fn_parts *p)
{
	const struct netdev *all = ix->host->netdevs;

	for (size_t i = 0; i < p->n_netdevs; i++)
		if (routes[part_netdev(p, i) - all])
			return routes[part_netdev(p, i) - all];
	for (size_t i = 0; i < p->n_rdma; i++)
		for (unsigned j = 0; j < part_rdma(p, i)->n_ports; j++) {
			const struct rdma_port *port = &part_rdma(p, i)->ports[j];
			const struct netdev *nd = host_index_netdev(ix, port->netdev_nsid,
								    port->netdev_ifindex);

			if (nd && routes[nd - all])
				return routes[nd - all];
		}
	return NULL;
}

/* --- RDMA devices ----------------------------------------------------------------------------- */

static bool is_soft(const struct rdma_dev *rd)
{
	return strcmp(rd->driver, "rxe") == 0;
}

/* Returns the first RDMA device that is soft-RoCE, or the first that is not; ignores siw, which is
 * iWARP. */
static const struct rdma_dev *proposal_rdma_of(const struct fn_parts *p, bool soft)
{
	for (size_t i = 0; i < p->n_rdma; i++)
		if (is_soft(part_rdma(p, i)) == soft && strcmp(part_rdma(p, i)->driver, "siw") != 0)
			return part_rdma(p, i);
	return NULL;
}

static bool has_layer(const struct rdma_dev *rd, enum link_layer layer)
{
	return any_of(rd->n_ports, i, rd->ports[i].link_layer == layer);
}

/* False if the state of any port is unknown. */
static bool proposal_is_down(const struct rdma_dev *rd)
{
	for (unsigned i = 0; i < rd->n_ports; i++)
		if (rd->ports[i].state == PORT_ACTIVE || rd->ports[i].state == PORT_UNKNOWN)
			return false;
	return rd->n_ports > 0;
}

/* True if another member of the bond has an RDMA device. With RoCE LAG, the members share one. */
static bool other_member_has_rdma(const struct view *v, const struct netdev *bond)
{
	const struct host *h = v->index->host;

	for (size_t i = 0; i < h->n_netdevs; i++) {
		const struct netdev *nd = &h->netdevs[i];
		struct fn_parts p;

		if (nd->nsid != NSID_HOST || nd->master != bond->ifindex || !nd->function[0] ||
		    strcmp(nd->function, v->c->self.fn->id) == 0)
			continue;
		p = host_index_parts(v->index, nd->function);
		if (proposal_rdma_of(&p, false))
			return true;
	}
	return false;
}

/* True if the device is not RoCE. The ports of EFA have no link layer at all. */
static bool is_other_fabric(const struct function *fn, const struct rdma_dev *rd, struct rated *r)
{
	if (has_layer(rd, LINK_ETHERNET))
		return false;
	if (has_layer(rd, LINK_INFINIBAND))
		leave_out(r,
			  "InfiniBand; a pool can select it with \"linkTypes\": [\"infiniband\"]");
	else
		leave_out(r,
			  "the port of %s is not Ethernet; a pool can select it with \"%s\": "
			  "[\"%s\"]",
			  rd->name, fn->driver[0] ? "drivers" : "rdmaNames",
			  fn->driver[0] ? fn->driver : rd->name);
	return true;
}

/* --- exclusive use ---------------------------------------------------------------------------- */

static void rate_without_rdma(const struct view *v, struct rated *r)
{
	const struct function *fn = v->c->self.fn;

	if (fn->driver[0] == '\0')
		leave_out(r, "bound to no driver");
	else if (strstr(fn->driver, "vfio") || strstr(fn->driver, "uio"))
		leave_out(r,
			  "bound to %s, for virtual machines or user space; a pool can select it "
			  "with \"drivers\": [\"%s\"]",
			  fn->driver, fn->driver);
	else {
		leave_out(r, "no RDMA device");
		if (fn->kind == FN_VF && proposal_netdev(&v->c->self)) {
			r->rating = RATED_SOFTWARE;
			r->kind = PROPOSED_SOFT_VFS;
		}
	}
}

/* Rates a VF or a sub-function. */
static void rate_part(const struct view *v, struct rated *r)
{
	const struct function *fn = v->c->self.fn;
	const struct rdma_dev *rd = proposal_rdma_of(&v->c->self, false);
	const struct netdev *route = proposal_route(v->index, v->routes, &v->c->self);

	r->owner = v->c->pf.fn;
	if (!r->owner)
		leave_out(r, "its PF %s is not visible", fn->parent);
	else if (route)
		leave_out(r, "carries the default route (%s)", route->name);
	else if (!rd)
		rate_without_rdma(v, r);
	else if (!is_other_fabric(fn, rd, r))
		*r = (struct rated){RATED_GOOD, fn->kind == FN_VF ? PROPOSED_VFS : PROPOSED_SFS,
				    r->owner, ""};
}

/* --- shared use ------------------------------------------------------------------------------- */

/* True if the device cannot be shared now. */
static bool is_out_of_reach(const struct view *v, const struct rdma_dev *rd, struct rated *r)
{
	const struct netdev *bond = proposal_bond(v->index, &v->c->self);

	if (rd->nsid != NSID_HOST)
		leave_out(r, "RDMA device %s is in another network namespace", rd->name);
	else if (rd->uverbs[0] == '\0' || rd->no_uverbs_node)
		leave_out(r,
			  "/dev/infiniband has no uverbs node of %s; is ib_uverbs loaded, and is "
			  "the host's /dev mounted (--dev-root)?",
			  rd->name);
	else if (strlen(rd->name) > SLOT_NAME_MAX)
		leave_out(r, "the name of its RDMA device is too long for a slot's ID");
	else if (proposal_is_down(rd))
		leave_out(r, "down: the port of %s is not active", rd->name);
	else if (bond && !is_soft(rd) && other_member_has_rdma(v, bond))
		leave_out(r, "a member of %s, which pods would bypass", bond->name);
	else
		return false;
	return true;
}

static void rate_hca(const struct view *v, struct rated *r)
{
	const struct fn_parts *self = &v->c->self;
	const struct rdma_dev *rd = proposal_rdma_of(self, false),
			      *soft = proposal_rdma_of(self, true);
	const struct netdev *bond = proposal_bond(v->index, self), *route;

	if (!rd && !soft) {
		rate_without_rdma(v, r);
		if (bond)
			leave_out(r, "a member of %s, without an RDMA device of its own",
				  bond->name);
		return;
	}
	if (is_other_fabric(self->fn, rd ? rd : soft, r) || is_out_of_reach(v, rd ? rd : soft, r))
		return;
	r->kind = rd ? PROPOSED_HCA : PROPOSED_SOFT_HCA;
	r->rating = rd ? RATED_GOOD : RATED_SOFTWARE;
	route = proposal_route(v->index, v->routes, self);
	if (!rd)
		leave_out(r, "soft-RoCE, but the node has RDMA hardware");
	else if (route) {
		r->rating = RATED_ROUTED;
		leave_out(r, "carries the default route (%s)", route->name);
	}
}

static size_t count_sub_functions(const struct view *v)
{
	const struct host *h = v->index->host;
	size_t n = 0;

	for (size_t i = 0; i < h->n_functions; i++)
		n += h->functions[i].kind == FN_SF &&
		     strcmp(h->functions[i].parent, v->c->self.fn->id) == 0;
	return n;
}

static void rate_whole(const struct view *v, struct rated *r)
{
	const struct function *fn = v->c->self.fn;
	size_t n_sfs = count_sub_functions(v);

	if (fn->vfs > 0)
		leave_out(r, "has %u VF%s, so it is not offered itself", fn->vfs,
			  fn->vfs == 1 ? "" : "s");
	else if (n_sfs > 0)
		leave_out(r, "has %zu sub-function%s, so it is not offered itself", n_sfs,
			  n_sfs == 1 ? "" : "s");
	else
		rate_hca(v, r);
}

void proposal_rate(struct rated *ret, const struct host_index *ix, const struct netdev **routes,
		   const struct function *fn)
{
	const struct candidate c = candidate_of(ix, fn);
	const struct view v = {ix, routes, &c};

	*ret = (struct rated){.rating = RATED_NEVER, .owner = fn};
	if (fn->class >> 16 == CLASS_BASE_ACCELERATOR)
		leave_out(ret, "an accelerator, not a network device");
	else if (fn->kind == FN_VF || fn->kind == FN_SF)
		rate_part(&v, ret);
	else
		rate_whole(&v, ret);
}
