/* order_checks.c - see order_checks.h. */
#include "order_checks.h"

#include <stdlib.h>
#include <string.h>

#include "attach_events.h"
#include "default_route.h"

static int check_stacked(const struct attach_engine *e, const char *function, struct err *err)
{
	char owner[OWNER_TEXT_SIZE];

	for (size_t i = 0; i < e->all.n; i++) {
		const struct attach_record *r = &e->all.items[i]->record;

		if (record_is_stacked(r) && r->state != ATTACH_FREE &&
		    strcmp(r->function, function) == 0)
			return err_set(err, -EBUSY, "an interface of %s hangs on %s",
				       owner_text(&r->owner, owner), function);
	}
	return 0;
}

static bool has_member(const struct pool_view *p, const struct offer *o, const char *function)
{
	for (size_t i = 0; i < o->n_members; i++)
		if (strcmp(p->members[o->first_member + i], function) == 0)
			return true;
	return false;
}

/* A container uses a slot of it. */
static int check_slots(const struct attach_view *view, const char *function, struct err *err)
{
	for (size_t i = 0; i < view->held->n; i++) {
		const struct pod_device *d = &view->held->devices[i];
		const struct pool_view *p = pools_find(view->pools, d->resource);
		const struct offer *o = p && p->pool->kind != POOL_EXCLUSIVE
						? pool_view_offer(p, d->id)
						: NULL;

		if (o && has_member(p, o, function))
			return err_set(err, -EBUSY, "%s is shared, and %s is given away", function,
				       d->id);
	}
	return 0;
}

/* The node would lose its way to the rest of the world. */
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

int order_check_unused(const struct attach_engine *e, const struct attach_view *view,
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
