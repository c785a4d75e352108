// SPDX-License-Identifier: Apache-2.0
#include "attachment_set.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "log.h"
#include "pod_devices.h"

/* --- finding ---------------------------------------------------------------------------------- */

bool record_is_stacked(const struct attach_record *r)
{
	return r->plan.kind != PLAN_VF;
}

static bool attachment_set_is_id(const struct attach_record *r, const char *resource,
				 const char *id)
{
	return strcmp(r->id, id) == 0 && strcmp(r->resource, resource) == 0;
}

struct attachment *attachments_of_function(const struct attachments *s, const char *function)
{
	for (size_t i = 0; i < s->n; i++)
		if (!record_is_stacked(&s->items[i]->record) &&
		    strcmp(s->items[i]->record.function, function) == 0)
			return s->items[i];
	return NULL;
}

struct attachment *attachments_of_id(const struct attachments *s, const char *resource,
				     const char *id)
{
	for (size_t i = 0; i < s->n; i++)
		if (attachment_set_is_id(&s->items[i]->record, resource, id))
			return s->items[i];
	return NULL;
}

static struct attachment *attachment_set_find_slot(const struct attachments *s,
						   const struct attach_record *r)
{
	for (size_t i = 0; i < s->n; i++)
		if (record_is_stacked(&s->items[i]->record) &&
		    attachment_set_is_id(&s->items[i]->record, r->resource, r->id))
			return s->items[i];
	return NULL;
}

struct attachment *attachments_find(const struct attachments *s, const struct attach_record *r)
{
	return record_is_stacked(r) ? attachment_set_find_slot(s, r)
				    : attachments_of_function(s, r->function);
}

/* --- add, remove, change state ---------------------------------------------------------------- */

struct attachment *attachments_add(struct attachments *s, const struct attach_record *record,
				   uint64_t now_ms)
{
	struct attachment *a = calloc(1, sizeof(*a));
	struct attachment **items = a ? array_room(s->items, s->n, sizeof(void *)) : NULL;

	if (!items) {
		free(a);
		return NULL;
	}
	s->items = items;
	s->items[s->n++] = a;
	s->changed = true;
	a->record = *record;
	a->retry_ms = NEVER;
	a->since_ms = now_ms;
	return a;
}

void attachments_drop(struct attachments *s, struct attachment *a)
{
	size_t i = 0;

	while (s->items[i] != a)
		i++;
	s->items[i] = s->items[--s->n];
	s->changed = true;
	a->next = s->dropped;
	s->dropped = a;
}

void attachments_move(struct attachments *s, struct attachment *a, enum attach_state to,
		      uint64_t now_ms)
{
	enum attach_state from = a->record.state;

	if (!attach_state_may_become(from, to)) {
		log_error("attach", 0, "bug: %s: invalid change of state from %s to %s",
			  a->record.function, attach_state_name(from), attach_state_name(to));
		abort();
	}
	a->record.state = to;
	if (to == ATTACH_ATTACHING)
		a->life = NETNS_UNKNOWN;
	a->since_ms = now_ms;
	s->changed = true;
}

/* --- one attachment --------------------------------------------------------------------------- */

bool attachment_is_idle(const struct attachment *a)
{
	return a->record.state == ATTACH_FREE && !a->op && a->n_requests == 0;
}

bool attachment_has_problem(const struct attachment *a)
{
	if (a->problem.code == -EAGAIN)
		return a->tries >= RETURN_TRIES_QUIET;
	return a->tries > 0 || a->record.state == ATTACH_BAD;
}

const struct netdev *record_netdev(const struct attach_record *r, const struct host *h)
{
	return record_is_stacked(r) ? NULL : host_function_netdev(h, r->function);
}

bool held_by(const struct pod_device *d, const struct attach_owner *o)
{
	if (d->uid[0] && o->uid[0])
		return strcmp(d->uid, o->uid) == 0;
	return strcmp(d->pod, o->pod) == 0 && strcmp(d->namespace, o->namespace) == 0;
}

/* --- published list --------------------------------------------------------------------------- */

/* While the device cannot be returned, the error of the return is more important than that of the
 * attach. */
static const struct err *current_error(const struct attachment *a)
{
	bool is_returning = a->record.state == ATTACH_RETURNING || a->record.state == ATTACH_BAD;

	return a->failure.code && !(is_returning && a->problem.code) ? &a->failure : &a->problem;
}

static void fill_status(const struct attachment *a, struct attach_status *status)
{
	const struct err *e = current_error(a);

	status->record = &a->record;
	status->step = a->step;
	status->drift = a->drift;
	status->tries = a->tries;
	status->since_ms = a->since_ms;
	snprintf(status->error, sizeof(status->error), "%s", e->code ? e->msg : "");
}

bool attachment_is_granted(const struct attachment *a)
{
	const struct attach_record *r = &a->record;

	return r->owner.door == DOOR_NATIVE || (r->owner.door == DOOR_CNI && r->resource[0]);
}

struct attachment *attachments_of_container(const struct attachments *all, const char *container,
					    const char *ifname)
{
	for (size_t i = 0; i < all->n; i++) {
		const struct attach_record *r = &all->items[i]->record;

		if (r->owner.door == DOOR_CNI && r->state != ATTACH_FREE &&
		    strcmp(r->owner.sandbox, container) == 0 && strcmp(r->plan.ifname, ifname) == 0)
			return all->items[i];
	}
	return NULL;
}

const struct attach_status *attachment_status(struct attachment *a)
{
	fill_status(a, &a->status);
	return &a->status;
}

static int attachment_set_by_function(const void *a, const void *b)
{
	const struct attach_record *x = ((const struct attach_status *)a)->record;
	const struct attach_record *y = ((const struct attach_status *)b)->record;
	int order = natural_cmp(x->function, y->function);

	if (order == 0)
		order = strcmp(x->resource, y->resource);
	return order ? order : natural_cmp(x->id, y->id);
}

static void attachment_free(struct attachment *a)
{
	free(a->ipam_answer);
	free(a);
}

static void free_dropped(struct attachments *s)
{
	while (s->dropped) {
		struct attachment *a = s->dropped;

		s->dropped = a->next;
		attachment_free(a);
	}
}

int attachments_publish(struct attachments *s)
{
	struct attach_status *items = calloc(s->n + 1, sizeof(*items));

	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < s->n; i++)
		fill_status(s->items[i], &items[i]);
	qsort(items, s->n, sizeof(*items), attachment_set_by_function);
	free((void *)s->list.items);
	s->list = (struct attach_list){items, s->n};
	s->changed = false;
	free_dropped(s);
	return 0;
}

void attachments_done(struct attachments *s)
{
	while (s->n > 0)
		attachment_free(s->items[--s->n]);
	free(s->items);
	free_dropped(s);
	free((void *)s->list.items);
}
