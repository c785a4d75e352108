// SPDX-License-Identifier: Apache-2.0
#include "request_checks.h"

#include <stdlib.h>
#include <string.h>

#include "attach_events.h"
#include "host_index.h"
#include "search.h"

static int request_refuse_holder(const char *function, const struct pod_device *d, struct err *err)
{
	return err_set(err, -EBUSY, "%s is allocated by the kubelet, to pod %s/%s (%s)", function,
		       d->namespace,
		       d->pod[0]   ? d->pod
		       : d->uid[0] ? d->uid
				   : "?",
		       d->resource);
}

int request_check_held(const struct attach_view *view, const char *function, struct err *err)
{
	const struct pod_device *d = find_first(view->held->devices, view->held->n, i,
						strcmp(view->held->devices[i].id, function) == 0);

	return d ? request_refuse_holder(function, d, err) : 0;
}

/* --- requests of CNI plugins ------------------------------------------------------------------ */

bool request_may_wait(const struct attachment *a, const struct attach_record *request)
{
	const bool leaves = a->record.state == ATTACH_RETURNING || a->why || a->life == NETNS_DEAD;

	return request->owner.door == DOOR_CNI && leaves && !attachment_has_problem(a);
}

static bool request_offers(const struct pool_view *p, const char *function)
{
	return any_of(p->n_members, i, strcmp(p->members[i], function) == 0);
}

/* Checks that the kubelet has granted the device to the request's pod. d: the n containers to which
 * it is allocated. */
static int check_holders(const struct attach_record *r, const struct pod_device *d, size_t n,
			 struct err *err)
{
	const struct pod_device *other = NULL;
	bool own = false;

	for (size_t i = 0; i < n; i++) {
		if (!d[i].pod[0] && !d[i].uid[0])
			continue; /* only a reservation */
		if (held_by(&d[i], &r->owner))
			own = true;
		else
			other = &d[i];
	}
	if (own)
		return 0;
	if (other)
		return err_set(err, -EBUSY, "the kubelet has granted %s to pod %s/%s", r->function,
			       other->namespace, other->pod[0] ? other->pod : other->uid);
	return err_set(err, -EAGAIN,
		       "the kubelet's list does not show yet to which pod it has granted %s",
		       r->function);
}

/* Rejects a pod without a grant: the kubelet may grant the device to another pod at any time. */
static int check_offered(const struct attach_view *view, const struct attach_record *r,
			 const char *resource, struct err *err)
{
	if (r->owner.pod[0])
		return err_set(err, -EAGAIN, "the kubelet has not granted %s (%s) to pod %s/%s",
			       r->function, resource, r->owner.namespace, r->owner.pod);
	if (view->held->source == POD_SOURCE_NONE)
		return err_set(err, -EAGAIN,
			       "the kubelet's list does not show yet whether %s is granted",
			       r->function);
	return 0;
}

static int check_grant(const struct attach_view *view, struct attach_record *r,
		       const struct pool_view *p, struct err *err)
{
	char resource[RESOURCE_NAME_SIZE];
	const struct pod_device *d;
	size_t n = 0;
	int error;

	pool_resource(p->pool, resource);
	d = pod_list_find(view->held, resource, r->function, &n);
	if (!d && !request_offers(p, r->function))
		return 0;
	if (d && p->pool->network)
		return err_set(err, -EBUSY,
			       "%s is granted as %s, which rocelet attaches without CNI "
			       "(\"network\" in its pool)",
			       r->function, resource);
	error = d ? check_holders(r, d, n, err) : check_offered(view, r, resource, err);
	if (error == 0 && d)
		memcpy(r->resource, resource, sizeof(r->resource));
	return error;
}

static int request_check_netns(const struct attach_engine *e, const struct attach_record *r,
			       struct err *err)
{
	const char *path = r->owner.netns.path;
	struct netns_id id, own;

	if (e->ops->netns_find(e->hw, path, &id) < 0)
		return err_set(err, -EBADF, "%s is not a network namespace", path);
	if (e->ops->netns_find(e->hw, "/proc/self/ns/net", &own) == 0 && own.dev == id.dev &&
	    own.ino == id.ino)
		return err_set(err, -EBADF, "%s is the host's own network namespace", path);
	return 0;
}

static bool is_other_pods(const struct pod_device *d, const struct attach_record *r)
{
	return (d->pod[0] || d->uid[0]) && strcmp(d->id, r->function) == 0 &&
	       strcmp(d->resource, r->resource) != 0 && !held_by(d, &r->owner);
}

/* Rejects a function that another plugin has given to another pod. The pod itself may have it as a
 * resource of another plugin, which its NetworkAttachmentDefinition names. */
static int request_check_other(const struct attach_view *view, const struct attach_record *r,
			       struct err *err)
{
	const struct pod_device *d = find_first(view->held->devices, view->held->n, i,
						is_other_pods(&view->held->devices[i], r));

	return d ? request_refuse_holder(r->function, d, err) : 0;
}

int request_check_cni(const struct attach_engine *e, const struct attach_view *view,
		      struct attach_record *r, struct err *err)
{
	int error = request_check_netns(e, r, err);

	if (error == 0 && attachments_of_container(&e->all, r->owner.sandbox, r->plan.ifname))
		error = err_set(err, -EEXIST, "container %s has %s already", r->owner.sandbox,
				r->plan.ifname);
	for (size_t i = 0; i < view->pools->n_views && error == 0; i++)
		if (view->pools->views[i].pool->kind == POOL_EXCLUSIVE)
			error = check_grant(view, r, &view->pools->views[i], err);
	return error < 0 ? error : request_check_other(view, r, err);
}

/* --- all requests ----------------------------------------------------------------------------- */

static int check_stacked(const struct attach_engine *e, const char *function, struct err *err)
{
	char owner[OWNER_TEXT_SIZE];

	for (size_t i = 0; i < e->all.n; i++) {
		const struct attach_record *r = &e->all.items[i]->record;

		if (record_is_stacked(r) && r->state != ATTACH_FREE &&
		    strcmp(r->function, function) == 0)
			return err_set(err, -EBUSY, "an interface of %s is stacked on %s",
				       owner_text(&r->owner, owner), function);
	}
	return 0;
}

static bool has_member(const struct pool_view *p, const struct offer *o, const char *function)
{
	return any_of(o->n_members, i, strcmp(p->members[o->first_member + i], function) == 0);
}

/* Is a slot of the shared function allocated? */
static int check_slots(const struct attach_view *view, const char *function, struct err *err)
{
	for (size_t i = 0; i < view->held->n; i++) {
		const struct pod_device *d = &view->held->devices[i];
		const struct pool_view *p = pools_find(view->pools, d->resource);
		const struct offer *o = p && p->pool->kind != POOL_EXCLUSIVE
						? pool_view_offer(p, d->id)
						: NULL;

		if (o && has_member(p, o, function))
			return err_set(err, -EBUSY, "%s is shared, and %s is allocated", function,
				       d->id);
	}
	return 0;
}

/* Rejects a function that carries the default route: the node would lose its network connection. */
static int check_routes(const struct host *host, const char *function, struct err *err)
{
	const struct netdev **routes = NULL;
	struct host_index index;
	int r = host_index_init(&index, host);

	if (r == 0)
		routes = default_routes(&index);
	if (!routes)
		r = err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; routes && r == 0 && i < host->n_netdevs; i++)
		if (routes[i] && strcmp(host->netdevs[i].function, function) == 0)
			r = err_set(err, -EBUSY, "%s carries the default route (%s)", function,
				    routes[i]->name);
	free(routes);
	host_index_done(&index);
	return r;
}

int request_check_unused(const struct attach_engine *e, const struct attach_view *view,
			 const char *function, struct err *err)
{
	const struct host *host = &e->inventory->host;
	const struct function *fn = host_function(host, function);
	int r = 0;

	if (fn && fn->vfs > 0)
		r = err_set(err, -EBUSY, "%s has VFs", function);
	if (r == 0)
		r = check_stacked(e, function, err);
	if (r == 0)
		r = check_slots(view, function, err);
	return r < 0 ? r : check_routes(host, function, err);
}
