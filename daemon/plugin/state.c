// SPDX-License-Identifier: Apache-2.0
/* state.c - state shared by the plugin's files: resources and devices as of the last decision. Also
 * schedules the next decision (which devices to offer) and the next update of the table for the API
 * and the page. */
#include "state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "search.h"

/* The removal of a VF causes three events in a row: of its netdev, its RDMA device and its
 * function. */
#define SETTLE_MS 10
/* Delay of the table's update. The API and the page need no faster updates, and samples read the
 * table only once per sampling interval. */
#define SHOW_MS	  50

/* --- pending work ----------------------------------------------------------------------------- */

/* Schedules a decision. Does nothing between the two turns of a decision (to_judge): the second
 * turn rebuilds stale pools itself. */
void resources_decide_soon(struct resources *r)
{
	if (!r->closing && !r->to_judge)
		timer_within(&r->settle, SETTLE_MS);
}

void resources_show_soon(struct resources *r)
{
	if (!r->closing)
		timer_within(&r->show, SHOW_MS);
}

void resources_notify_engine(const struct resources *r)
{
	if (r->opts.engine && r->decided)
		attach_engine_offer(r->opts.engine, &r->pools);
}

/* --- a resource and its devices --------------------------------------------------------------- */

static bool dev_exists(const char *name, void *arg)
{
	const struct resources *r = arg;

	return faccessat(r->hw->dev_fd, name, F_OK, 0) == 0;
}

struct allocation_input resources_input(struct resources *r, const struct pool_view *view)
{
	return (struct allocation_input){
		.view = view,
		.host = &r->inventory->host,
		.exists = dev_exists,
		.arg = r,
		.pools = &r->pools,
	};
}

/* Returns the state of an ID; NULL: the resource has no such ID. */
static const struct tracked *resource_tracked(const struct resource *s, const char *id)
{
	return find_first(s->tracked, s->n_tracked, i, strcmp(s->tracked[i].id, id) == 0);
}

int resource_input(const struct resource *s, struct allocation_input *ret, struct err *e)
{
	struct resources *r = s->owner;

	*ret = resources_input(r, pools_find(&r->pools, s->name));
	return ret->view ? 0 : err_set(e, -ENOENT, "%s is no longer offered", s->name);
}

int resources_conflicts(struct resources *r, struct node_conflicts *ret)
{
	struct granted_input in = {
		.granted = holders_granted(r->holders),
		.pools = &r->pools,
		.host = &r->inventory->host,
		.held = holders_held(r->holders),
	};

	if (r->opts.engine)
		in.attachments.n = attach_engine_list(r->opts.engine, &in.attachments.items);
	return node_conflicts_build(ret, &in);
}

bool resource_is_attached(const struct resource *s)
{
	const struct pool_view *view = pools_find(&s->owner->pools, s->name);

	return s->owner->opts.engine && view && view->pool->network;
}

int resource_check_health(const struct resource *s, const char *id, unsigned ignored, struct err *e)
{
	const struct tracked *t = resource_tracked(s, id);
	unsigned reasons = t ? t->health.counted & ~ignored : 0;
	char text[128];

	if (!reasons)
		return 0;
	health_text(reasons, text, sizeof(text));
	return err_set(e, -ENODEV, "%s of %s is unhealthy: %s", id, s->name, text);
}

/* --- lists of IDs ----------------------------------------------------------------------------- */

int copy_ids(struct id_list *dst, const struct id_list *src)
{
	const char **ids = calloc(src->n + 1, sizeof(*ids));

	dst->ids = ids;
	for (; ids && dst->n < src->n; dst->n++) {
		ids[dst->n] = strdup(src->ids[dst->n]);
		if (!ids[dst->n])
			return -ENOMEM;
	}
	return ids ? 0 : -ENOMEM;
}

void free_ids(struct id_list *list)
{
	for (size_t k = 0; k < list->n; k++)
		free((char *)list->ids[k]);
	free((void *)list->ids);
}
