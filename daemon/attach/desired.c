// SPDX-License-Identifier: Apache-2.0
/* desired.c - collects one item per device, sorts the items of each pod, and turns every item into
 * a desired attachment. Addresses are compared last, when all attachments are known. */
#include "desired.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "desired_claims.h"
#include "host_index.h"
#include "pod_sandbox.h"
#include "search.h"

/* linux/if_arp.h */
#define ARPHRD_ETHER 1

struct item {
	const struct pod_device *d;
	const struct pool_view *view;
	const struct sandbox *sandbox;
	size_t at;   /* index in `desired` */
	size_t rank; /* position of its resource in the pod's annotation */
	const struct network_request *request; /* NULL = none, the pool's settings apply */
};

struct building {
	const struct pools *pools;
	const struct pod_list *held;
	const struct sandbox_list *sandboxes;
	struct host_index index;
	struct item *items;
	size_t n;
	struct desired *desired;
};

/* --- which devices ---------------------------------------------------------------------------- */

static bool desired_names_pod(const struct pod_device *d)
{
	return d->pod[0] || d->uid[0];
}

static bool desired_same_device(const struct pod_device *a, const struct pod_device *b)
{
	return strcmp(a->id, b->id) == 0 && strcmp(a->resource, b->resource) == 0;
}

static bool is_preferred(const struct sandbox *s, const struct sandbox *than)
{
	return s && (!than || sandbox_is_younger(s, than));
}

/* Chooses among the n entries of one device the one whose pod has the youngest sandbox. */
static void desired_choose(const struct building *j, const struct pod_device *entries, size_t n,
			   struct item *ret)
{
	for (size_t i = 0; i < n; i++) {
		const struct sandbox *s = desired_names_pod(&entries[i])
						  ? pod_sandbox_find(j->sandboxes, &entries[i])
						  : NULL;

		if (!is_preferred(s, ret->sandbox))
			continue;
		ret->d = &entries[i];
		ret->sandbox = s;
	}
}

/* Can the device be used by a pod with the host's network? Functions can. A soft-RoCE device needs
 * a pod interface. A slot leaves nothing behind, so it need not be recorded. */
static bool can_stay(const struct pool *pool)
{
	return pool->kind == POOL_EXCLUSIVE && !pool->network->plan.soft_roce;
}

static bool can_be_joined(const struct building *j, const struct pool *pool,
			  const struct sandbox *s)
{
	return s && s->detailed && (!s->host_network || can_stay(pool)) &&
	       !pod_sandbox_is_younger(s, j->held);
}

/* Collects one item per device. The kubelet's list is sorted by device, so the items are sorted,
 * too. */
static int desired_collect(struct building *j)
{
	const struct pool_view *view = NULL;
	size_t n;

	for (size_t i = 0; i < j->held->n; i += n) {
		const struct pod_device *d = &j->held->devices[i];
		struct item item = {0}, *slot;

		if (i == 0 || strcmp(d[-1].resource, d->resource) != 0)
			view = pools_find(j->pools, d->resource);
		for (n = 1; i + n < j->held->n && desired_same_device(d, &d[n]);)
			n++;
		if (!view || !view->pool->network)
			continue;
		desired_choose(j, d, n, &item);
		if (!can_be_joined(j, view->pool, item.sandbox))
			continue;
		slot = array_push(j->items, j->n);
		if (!slot)
			return -ENOMEM;
		item.view = view;
		item.at = j->n - 1;
		*slot = item;
	}
	return 0;
}

/* --- the function ----------------------------------------------------------------------------- */

static bool has_ethernet(const struct building *j, const char *function)
{
	struct fn_parts parts = host_index_parts(&j->index, function);

	for (size_t i = 0; i < parts.n_netdevs; i++) {
		const struct netdev *nd = part_netdev(&parts, i);

		if (nd->nsid == NSID_HOST && (nd->type == ARPHRD_ETHER || nd->type == 0))
			return true;
	}
	return false;
}

/* Finds the slot's first HCA with a netdev that can be the parent of a macvlan or ipvlan. */
static int desired_find_parent(const struct building *j, const struct item *item, struct desired *w)
{
	const struct offer *o = pool_view_offer(item->view, item->d->id);

	for (size_t i = 0; o && i < o->n_members; i++) {
		const char *member = item->view->members[o->first_member + i];

		if (!has_ethernet(j, member))
			continue;
		memcpy(w->function, member, sizeof(w->function));
		return 0;
	}
	return err_set(&w->err, -ENODEV, "%s of %.100s has no HCA with an Ethernet netdev",
		       item->d->id, item->d->resource);
}

static int check_function(const struct building *j, struct desired *w)
{
	const struct function *fn = host_index_function(&j->index, w->function);

	if (!fn)
		return err_set(&w->err, -ENODEV, "%s was removed from the bus", w->function);
	return network_on_function(&w->plan, fn, &w->err);
}

/* Returns the MTU of the function's netdev in the host; 0 = it is not in the host (a pod may have
 * changed the MTU). */
static unsigned mtu_of(const struct building *j, const char *function)
{
	struct fn_parts parts = host_index_parts(&j->index, function);

	for (size_t i = 0; i < parts.n_netdevs; i++)
		if (part_netdev(&parts, i)->nsid == NSID_HOST)
			return part_netdev(&parts, i)->mtu;
	return 0;
}

static bool is_of_other_plugin(const struct building *j, const struct pod_device *d, const char *id)
{
	return (d->pod[0] || d->uid[0]) && strcmp(d->id, id) == 0 &&
	       !pools_find(j->pools, d->resource);
}

/* Rejects a function that another plugin's pod has, too: its CNI plugin, or a process with a user
 * space driver, may be using it. */
static int desired_check_other(const struct building *j, const struct item *item, struct desired *w)
{
	/* Two of our own resources: the engine attaches one of them. */
	const struct pod_device *other = find_first(
		j->held->devices, j->held->n, i,
		is_of_other_plugin(j, &j->held->devices[i], item->d->id));

	if (!other)
		return 0;
	return err_set(&w->err, -EBUSY,
		       "the kubelet has granted %s as %.80s to pod %.60s/%.60s, too", w->function,
		       other->resource, other->namespace, other->pod[0] ? other->pod : other->uid);
}

static int desired_find_function(const struct building *j, const struct item *item,
				 struct desired *w)
{
	int r;

	if (item->view->pool->kind != POOL_EXCLUSIVE)
		return desired_find_parent(j, item, w);
	snprintf(w->function, sizeof(w->function), "%s", item->d->id);
	r = desired_check_other(j, item, w);
	if (r == 0)
		r = check_function(j, w);
	if (r < 0 || !item->request)
		return r;
	return network_mtu_allowed(w->network, item->request, mtu_of(j, w->function), &w->err);
}

/* --- one device ------------------------------------------------------------------------------- */

static void desired_set_owner(struct attach_owner *o, const struct item *item)
{
	const struct sandbox *s = item->sandbox;

	o->door = DOOR_NATIVE;
	memcpy(o->namespace, s->namespace, sizeof(o->namespace));
	memcpy(o->pod, s->pod, sizeof(o->pod));
	snprintf(o->container, sizeof(o->container), "%s", item->d->container);
	memcpy(o->uid, s->uid, sizeof(o->uid));
	memcpy(o->sandbox, s->id, sizeof(o->sandbox));
	memcpy(o->netns.path, s->netns, sizeof(o->netns.path));
}

/* Prefixes the error with the pod's name, which is truncated so that the message still fits. */
static int name_pod(struct desired *w)
{
	return err_wrap(&w->err, "pod %s/%.63s", w->owner.namespace, w->owner.pod);
}

/* Plans a device for a pod with the host's network: it stays in the host, and the annotation and
 * the pool's network settings do not apply. */
static void make_in_host(const struct building *j, const struct item *item, struct desired *w)
{
	w->plan = (struct net_plan){
		.kind = PLAN_VF, .in_host = true, .clean = w->network->plan.clean};
	snprintf(w->function, sizeof(w->function), "%s", item->d->id);
	if (!host_index_function(&j->index, w->function)) {
		err_set(&w->err, -ENODEV, "%s was removed from the bus", w->function);
		name_pod(w);
	}
}

/* mistake: the error in the pod's annotation, code 0 = none. */
static void desired_make(const struct building *j, const struct item *item, unsigned number,
			 const struct err *mistake)
{
	struct desired *w = &j->desired[item->at];
	int r;

	snprintf(w->resource, sizeof(w->resource), "%s", item->d->resource);
	snprintf(w->id, sizeof(w->id), "%s", item->d->id);
	w->network = item->view->pool->network;
	desired_set_owner(&w->owner, item);
	if (item->sandbox->host_network) {
		make_in_host(j, item, w);
		return;
	}
	r = network_plan(&w->plan, w->network, item->request, number, &w->err);
	if (r == 0)
		r = desired_find_function(j, item, w);
	if (r == 0 && w->plan.soft_roce && item->sandbox->user_namespace)
		r = err_set(&w->err, -EINVAL,
			    "softRoce: the nodes in /dev/rocelet cannot be mounted into a pod with "
			    "its own user namespace (hostUsers: false)");
	if (r == 0 && w->owner.netns.path[0] == '\0')
		r = err_set(&w->err, -ENOENT, "the runtime reports no network namespace");
	if (mistake->code) {
		w->err = *mistake;
		r = mistake->code;
	}
	if (r < 0)
		name_pod(w);
}

/* --- one pod ---------------------------------------------------------------------------------- */

static int desired_by_rank(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int r = (x->rank > y->rank) - (x->rank < y->rank);

	if (r == 0)
		r = strcmp(x->d->resource, y->d->resource);
	return r ? r : natural_cmp(x->d->id, y->d->id);
}

static void rank(struct item *items, size_t n, const struct network_requests *reqs)
{
	for (size_t i = 0; i < n; i++) {
		items[i].rank = 0;
		while (items[i].rank < reqs->n &&
		       strcmp(reqs->items[items[i].rank].resource, items[i].d->resource) != 0)
			items[i].rank++;
	}
	qsort(items, n, sizeof(*items), desired_by_rank);
}

/* Returns the resource's next item that has no entry of the annotation yet. Returns NULL, and in
 * *ret_n the number of the resource's items, if all have one. */
static struct item *next_of(struct item *items, size_t n, const char *resource, size_t *ret_n)
{
	*ret_n = 0;
	for (size_t i = 0; i < n; i++) {
		if (strcmp(items[i].d->resource, resource) != 0)
			continue;
		++*ret_n;
		if (!items[i].request)
			return &items[i];
	}
	return NULL;
}

static int assign(struct item *items, size_t n, const struct network_requests *reqs, struct err *e)
{
	for (size_t i = 0; i < reqs->n; i++) {
		const struct network_request *q = &reqs->items[i];
		size_t n_of;
		struct item *item = next_of(items, n, q->resource, &n_of);

		if (item)
			item->request = q;
		else if (n_of == 0)
			return err_set(e, -EINVAL,
				       NETWORKS_KEY ": entry %zu: resource: the pod has no %.80s "
						    "to attach",
				       i + 1, q->resource);
		else
			return err_set(e, -EINVAL,
				       NETWORKS_KEY ": entry %zu: resource: the pod has only %zu "
						    "of %.80s",
				       i + 1, n_of, q->resource);
	}
	return 0;
}

/* Checks that a pod's interface names differ. A requested name may equal the requested or default
 * name of another device; the later of the two gets the error. */
static void desired_check_names(const struct building *j, const struct item *items, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *name = j->desired[items[i].at].plan.ifname;

		if (!items[i].request || items[i].request->plan.ifname[0] == '\0' ||
		    name[0] == '\0') /* a device that stays in the host */
			continue;
		for (size_t k = 0; k < n; k++) {
			struct desired *w = &j->desired[items[k > i ? k : i].at];

			if (k == i || w->err.code ||
			    strcmp(j->desired[items[k].at].plan.ifname, name) != 0)
				continue;
			err_set(&w->err, -EINVAL, "interface: %s is already used by another device",
				name);
			name_pod(w);
		}
	}
}

static int make_pod(const struct building *j, struct item *items, size_t n)
{
	struct network_requests reqs = {0};
	struct err mistake = {0};
	int r = networks_parse(&reqs, items[0].sandbox->networks, &mistake);

	if (r == -ENOMEM)
		return r;
	rank(items, n, &reqs);
	if (r == 0)
		assign(items, n, &reqs, &mistake);
	for (size_t i = 0; i < n; i++)
		desired_make(j, &items[i], (unsigned)i + 1, &mistake);
	desired_check_names(j, items, n);
	network_requests_done(&reqs);
	return 0;
}

/* --- all pods --------------------------------------------------------------------------------- */

static int by_sandbox(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	return (x->sandbox > y->sandbox) - (x->sandbox < y->sandbox);
}

static int desired_make_all(struct building *j)
{
	size_t n;
	int r = 0;

	j->desired = calloc(j->n + 1, sizeof(*j->desired));
	if (!j->desired)
		return -ENOMEM;
	if (j->n)
		qsort(j->items, j->n, sizeof(*j->items), by_sandbox);
	for (size_t i = 0; i < j->n && r == 0; i += n) {
		for (n = 1; i + n < j->n && j->items[i + n].sandbox == j->items[i].sandbox;)
			n++;
		r = make_pod(j, &j->items[i], n);
	}
	return r;
}

static int build(struct building *j, const struct attach_record *const *others, size_t n_others)
{
	const struct sandbox **sandboxes;
	int r = desired_collect(j);

	if (r == 0)
		r = desired_make_all(j);
	sandboxes = r == 0 ? calloc(j->n + 1, sizeof(struct sandbox *)) : NULL;
	if (r == 0 && !sandboxes)
		r = -ENOMEM;
	for (size_t i = 0; i < j->n && r == 0; i++)
		sandboxes[j->items[i].at] = j->items[i].sandbox;
	if (r == 0)
		r = desired_claims(j->desired, sandboxes, j->n, others, n_others);
	free(sandboxes);
	return r;
}

int desired_build(struct desired_list *ret, const struct pools *pools, const struct host *host,
		  const struct pod_list *held, const struct sandbox_list *sandboxes,
		  const struct attach_record *const *others, size_t n_others)
{
	struct building j = {.pools = pools, .held = held, .sandboxes = sandboxes};
	int r = host_index_init(&j.index, host);

	*ret = (struct desired_list){0};
	if (r < 0)
		return r;
	r = build(&j, others, n_others);
	if (r == 0)
		*ret = (struct desired_list){j.desired, j.n};
	else
		free(j.desired);
	free(j.items);
	host_index_done(&j.index);
	return r;
}

void desired_list_done(struct desired_list *l)
{
	free(l->items);
	*l = (struct desired_list){0};
}

const struct desired *desired_find(const struct desired_list *l, const char *resource,
				   const char *id)
{
	size_t low = 0, high = l->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct desired *w = &l->items[mid];
		int r = strcmp(w->resource, resource);

		if (r == 0)
			r = strcmp(w->id, id);
		if (r == 0)
			return w;
		if (r < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}
