// SPDX-License-Identifier: Apache-2.0
#include "granted_nodes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "health.h"
#include "search.h"

static const char rdma_folder[] = "infiniband/";

/* --- functions of a node -------------------------------------------------------------- */

static bool is_rdma_node(const char *node)
{
	return strncmp(node, rdma_folder, sizeof(rdma_folder) - 1) == 0;
}

static bool rdma_has_node(const struct rdma_dev *d, const char *node)
{
	const char *name = node + sizeof(rdma_folder) - 1;

	if (name[1] == 'v') /* "uverbs3" is the most frequent query */
		return strcmp(d->uverbs, name) == 0;
	return strcmp(d->umad, name) == 0 || strcmp(d->issm, name) == 0 ||
	       strcmp(d->ucm, name) == 0;
}

static bool function_has_node(const struct function *fn, const char *node)
{
	return strcmp(fn->vfio, node) == 0 || strcmp(fn->uio, node) == 0 ||
	       strcmp(fn->vdpa_node, node) == 0;
}

/* True if the node belongs to one device. rdma_cm, vfio/vfio, vhost-net and folders are shared by
 * all. */
static bool is_of_one_device(const char *node)
{
	static const char *const kinds[] = {"infiniband/uverbs", "infiniband/umad",
					    "infiniband/issm",	 "infiniband/ucm",
					    "vfio/noiommu-",	 "uio",
					    "vhost-vdpa-"};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strncmp(node, kinds[i], strlen(kinds[i])) == 0)
			return true;
	return strncmp(node, "vfio/", 5) == 0 && node[5] >= '0' && node[5] <= '9';
}

/* --- functions granted to a container ---------------------------------------------------- */

static bool offer_has(const struct pool_view *v, const struct offer *o, const char *function)
{
	return any_of(o->n_members, i, strcmp(v->members[o->first_member + i], function) == 0);
}

static bool node_conflicts_has_id(const struct granted *g, const char *id)
{
	return any_of(g->n_ids, i, strcmp(g->ids[i], id) == 0);
}

static bool is_member(const struct pool_view *v, const char *function)
{
	return any_of(v->n_members, i, strcmp(v->members[i], function) == 0);
}

/* True if the grant includes the function. The IDs of a shared pool may move from one HCA to
 * another, and its containers may share any of them. */
static bool has_function(const struct granted *g, const struct pool_view *v, const char *function)
{
	if (v && v->pool->kind != POOL_EXCLUSIVE)
		return is_member(v, function);
	for (size_t i = 0; v && i < g->n_ids; i++) {
		const struct offer *o = pool_view_offer(v, g->ids[i]);

		if (o && offer_has(v, o, function))
			return true;
	}
	return node_conflicts_has_id(g, function);
}

/* True if any ID of the grant is one of the pool, or a function of this host. */
static bool node_conflicts_is_known(const struct granted *g, const struct pool_view *v,
				    const struct host *h)
{
	return any_of(g->n_ids, i,
		      (v && pool_view_offer(v, g->ids[i])) || host_function(h, g->ids[i]));
}

/* --- the current owner of a node -------------------------------------------------------------- */

/* Searches for the functions that have a node. True if `g` has granted one of them; *ret_other: a
 * function that it has not granted. */
static bool is_own(const struct granted *g, const struct pool_view *v, const struct host *h,
		   const char *node, const char **ret_other)
{
	const bool rdma = is_rdma_node(node);
	const size_t n = rdma ? h->n_rdma : h->n_functions;

	*ret_other = NULL;
	for (size_t i = 0; i < n; i++) {
		const char *function = rdma ? rdma_function_id(&h->rdma[i]) : h->functions[i].id;

		if (!(rdma ? rdma_has_node(&h->rdma[i], node)
			   : function_has_node(&h->functions[i], node)))
			continue;
		if (has_function(g, v, function))
			return true;
		*ret_other = function;
	}
	return false;
}

/* True if no device has this RDMA node now, and the host sees all RDMA devices. If the pool
 * requires RDMA, health_judge() reports that the device or its node is missing. */
static bool node_conflicts_is_lost(const struct pool_view *v, const struct host *h,
				   const char *node)
{
	return is_rdma_node(node) && h->rdma_mode == RDMA_NETNS_SHARED && v &&
	       v->pool->kind == POOL_EXCLUSIVE && !health_requires_rdma(v->pool);
}

/* True if any function granted by `g` has a node of this kind now. If not, the node is unknown, not
 * changed. */
static bool node_conflicts_is_seen(const struct granted *g, const struct pool_view *v,
				   const struct host *h, const char *node)
{
	for (size_t i = 0; is_rdma_node(node) && i < h->n_rdma; i++)
		if (h->rdma[i].uverbs[0] && has_function(g, v, rdma_function_id(&h->rdma[i])))
			return true;
	for (size_t i = 0; !is_rdma_node(node) && i < h->n_functions; i++) {
		const struct function *fn = &h->functions[i];

		if ((fn->vfio[0] || fn->uio[0] || fn->vdpa_node[0]) && has_function(g, v, fn->id))
			return true;
	}
	return false;
}

/* True if an ID was allocated again after the checkpoint was read. Then this entry belongs to a pod
 * that has ended, because the kubelet writes its checkpoint after our answer to Allocate. */
static bool is_allocated_since(const struct granted_input *in, const struct granted *g)
{
	for (size_t i = 0; i < g->n_ids; i++) {
		const struct pod_device *d = pod_list_find(in->held, g->resource, g->ids[i], NULL);

		if (d && d->reserved_ms > in->granted->read_ms)
			return true;
	}
	return false;
}

static int add_conflicts(struct node_conflicts *c, const struct granted *g)
{
	const struct pool_view *v = pools_find(c->in.pools, g->resource);

	if (!node_conflicts_is_known(g, v, c->in.host) || is_allocated_since(&c->in, g))
		return 0;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const char *node = g->nodes[i];
		struct node_conflict *at;
		const char *other;

		if (!is_of_one_device(node) || is_own(g, v, c->in.host, node, &other) ||
		    (!other && !node_conflicts_is_seen(g, v, c->in.host, node) &&
		     !node_conflicts_is_lost(v, c->in.host, node)))
			continue;
		at = array_push(c->items, c->n);
		if (!at)
			return -ENOMEM;
		*at = (struct node_conflict){g, NULL, node, other};
	}
	return 0;
}

/* Adds a conflict if another device has the number of a soft-RoCE device that was created for a
 * pod. */
static int add_attachment(struct node_conflicts *c, const struct attach_record *r)
{
	const struct host *h = c->in.host;
	struct node_conflict *at;

	for (size_t i = 0; r->uverbs[0] && i < h->n_rdma; i++) {
		const struct rdma_dev *d = &h->rdma[i];

		if (strcmp(d->uverbs, r->uverbs) != 0 || d->index == r->rdma_id.index ||
		    d->index == RDMA_INDEX_NONE)
			continue;
		at = array_push(c->items, c->n);
		if (!at)
			return -ENOMEM;
		*at = (struct node_conflict){NULL, r, r->uverbs, rdma_function_id(d)};
	}
	return 0;
}

int node_conflicts_build(struct node_conflicts *ret, const struct granted_input *in)
{
	struct node_conflicts c = {.in = *in};
	int r = 0;

	for (size_t i = 0; r == 0 && i < in->granted->n; i++)
		r = add_conflicts(&c, &in->granted->items[i]);
	for (size_t i = 0; r == 0 && i < in->attachments.n; i++)
		if (in->attachments.items[i].record->state == ATTACH_IN_POD)
			r = add_attachment(&c, in->attachments.items[i].record);
	if (r < 0)
		node_conflicts_done(&c);
	*ret = c;
	return r;
}

void node_conflicts_done(struct node_conflicts *c)
{
	free(c->items);
	*c = (struct node_conflicts){0};
}

/* --- affected containers ---------------------------------------------------------------------- */

/* Returns the allocation to a container with an ID of this entry; NULL: none. The kubelet keeps the
 * entries of ended pods in its checkpoint until its next allocation. */
static const struct pod_device *node_conflicts_holder_of(const struct node_conflicts *c,
							 const struct granted *g)
{
	const struct pod_device *d = NULL;

	for (size_t i = 0; !d && i < g->n_ids; i++)
		d = pod_list_find(c->in.held, g->resource, g->ids[i], NULL);
	return d;
}

/* True if the node was granted to the container with this ID. */
static bool is_given_with(const struct node_conflict *x, const struct pool_view *v, const char *id)
{
	char name[RESOURCE_NAME_SIZE];

	pool_resource(v->pool, name);
	return x->given && strcmp(x->given->resource, name) == 0 &&
	       node_conflicts_has_id(x->given, id);
}

static bool is_of_offer(const struct node_conflict *x, const struct pool_view *v,
			const struct offer *o)
{
	return x->function && offer_has(v, o, x->function);
}

unsigned node_conflicts_judge(const struct node_conflicts *c, const struct pool_view *v,
			      const struct offer *o)
{
	unsigned reasons = 0;

	for (size_t i = 0; i < c->n; i++) {
		const struct node_conflict *x = &c->items[i];

		if (x->given && !node_conflicts_holder_of(c, x->given))
			continue;
		if (is_given_with(x, v, o->id))
			reasons |= HEALTH_BIT(HEALTH_NODE_CHANGED);
		if (is_of_offer(x, v, o))
			reasons |= HEALTH_BIT(HEALTH_NODE_HELD);
	}
	return reasons;
}

static int changed(const struct node_conflict *x, const char *id, struct err *e)
{
	return err_set(e, -ESTALE,
		       "%s: its container was given /dev/%s, which is now %s%s; delete the pod, so "
		       "that devices are allocated to it again",
		       id, x->node, x->function ? "a node of " : "no device's node",
		       x->function ? x->function : "");
}

static int node_conflicts_is_held(const struct node_conflict *x, const char *namespace,
				  const char *pod, struct err *e)
{
	return err_set(e, -EBUSY,
		       "/dev/%s%s of %s was given to pod %s%s%s for another device, and its "
		       "containers may open it until that pod has ended",
		       x->given ? "" : rdma_folder, x->node, x->function, namespace,
		       namespace[0] ? "/" : "", pod);
}

static int check_one(const struct node_conflicts *c, const struct node_conflict *x,
		     const struct pool_view *v, const char *id, struct err *e)
{
	const struct offer *o = pool_view_offer(v, id);
	const struct pod_device *d;

	if (is_given_with(x, v, id))
		return changed(x, id, e);
	if (!o || !is_of_offer(x, v, o))
		return 0;
	if (x->record)
		return node_conflicts_is_held(x, x->record->owner.namespace, x->record->owner.pod,
					      e);
	d = node_conflicts_holder_of(c, x->given);
	return d ? node_conflicts_is_held(x, d->namespace, d->pod[0] ? d->pod : x->given->uid, e)
		 : 0;
}

int node_conflicts_check(const struct node_conflicts *c, const struct pool_view *v,
			 struct id_list ids, struct err *e)
{
	int r = 0;

	for (size_t i = 0; i < c->n; i++)
		for (size_t k = 0; r == 0 && k < ids.n; k++)
			r = check_one(c, &c->items[i], v, ids.ids[k], e);
	return r;
}
