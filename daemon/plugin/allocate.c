// SPDX-License-Identifier: Apache-2.0
/* allocate.c - Allocate and GetPreferredAllocation, answered from the last decision.
 *
 * Answers are immediate, with one exception: if the kubelet allocates an ID that, according to the
 * kubelet's last list, a container has. Either that container has ended, or there is an error; a
 * new list of the kubelet shows which. We wait for that list if the kubelet serves its API, but at
 * most WAIT_MS, because the kubelet starts no other pod meanwhile. */
#include <stdlib.h>
#include <string.h>

#include "allocation.h"
#include "log.h"
#include "state.h"

#define WAIT_MS 500

struct pending_allocate {
	struct pending_allocate *next;
	struct resource *resource;
	struct plugin_answer *answer;
	uint64_t since_ms;
	struct id_list *containers; /* owned, including the IDs */
	size_t n;
};

/* --- Allocate --------------------------------------------------------------------------------- */

static bool allocate_is_held(const struct resource *s, const char *id)
{
	return reservations_state(holders_reservations(s->owner->holders), s->name, id) ==
	       RESERVATION_HELD;
}

static bool any_held(const struct resource *s, const struct id_list *containers, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < containers[i].n; k++)
			if (allocate_is_held(s, containers[i].ids[k]))
				return true;
	return false;
}

static int check_free(const struct resource *s, const char *id, struct err *e)
{
	const struct pod_device *d;

	if (!allocate_is_held(s, id))
		return 0;
	d = pod_list_find(holders_held(s->owner->holders), s->name, id, NULL);
	if (d && d->stale)
		return 0;
	return err_set(e, -EBUSY, "%s of %s is in use by container %s of pod %s/%s", id, s->name,
		       d ? d->container : "?", d ? d->namespace : "?", d ? d->pod : "?");
}

/* Rejects an ID that an earlier container of the request has. allocation_grant() rejects one that
 * occurs twice in a container. */
static int check_once(const struct id_list *containers, size_t container, size_t k, struct err *e)
{
	const char *id = containers[container].ids[k];

	for (size_t i = 0; i < container; i++)
		for (size_t j = 0; j < containers[i].n; j++)
			if (strcmp(containers[i].ids[j], id) == 0)
				return err_set(e, -EINVAL, "%s is requested twice", id);
	return 0;
}

/* Returns the reasons that do not prevent a grant. A device that is returning from another pod may
 * be granted if we attach it: PreStartContainer waits until it is clean. */
static unsigned not_before_grant(const struct resource *s)
{
	return resource_is_attached(s) ? HEALTH_BIT(HEALTH_NOT_CLEAN) | HEALTH_BIT(HEALTH_LEAVING)
				       : 0;
}

/* Names the pod of another plugin, because of which a device is not offered any more. */
static void allocate_name_other(const struct resource *s, const struct id_list *ids, struct err *e)
{
	for (size_t k = 0; k < ids->n; k++) {
		const struct pod_device *d = pod_list_find_other(holders_held(s->owner->holders),
								 s->name, ids->ids[k]);

		if (!d)
			continue;
		err_set(e, -ENOENT, "%s has no device %s any more: pod %s/%s has it as %s", s->name,
			ids->ids[k], d->namespace, d->pod[0] ? d->pod : d->uid, d->resource);
		return;
	}
}

static int grant_one(const struct resource *s, const struct allocation_input *in,
		     const struct id_list *containers, size_t i, bool sure,
		     struct container_grant *ret, struct err *e)
{
	int r = 0;

	for (size_t k = 0; k < containers[i].n && r == 0; k++) {
		r = check_once(containers, i, k, e);
		if (r == 0 && sure)
			r = check_free(s, containers[i].ids[k], e);
		if (r == 0)
			r = resource_check_health(s, containers[i].ids[k], not_before_grant(s), e);
	}
	if (r == 0)
		r = allocation_grant(ret, in, containers[i], e);
	if (r == -ENOENT && in->view->pool->kind == POOL_EXCLUSIVE)
		allocate_name_other(s, &containers[i], e);
	return r;
}

/* Reserves all IDs. If out of memory, some are missing; the next list of the kubelet corrects that.
 */
static void allocate_reserve(struct resource *s, const struct id_list *containers, size_t n)
{
	struct resources *r = s->owner;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < containers[i].n; k++)
			holders_reserve(r->holders, s->name, containers[i].ids[k]);
	s->allocations += n;
	holders_request(r->holders);
	resources_notify_engine(r);
}

static void allocate_reject(struct resource *s, struct plugin_answer *answer, const struct err *e)
{
	log_warn("resources", 0, "allocation refused: %s", e->msg);
	s->refusals++;
	plugin_answer_error(answer, e);
}

/* Answers an Allocate. sure: the allocations are from a list of the kubelet that was requested
 * after this Allocate. */
static void answer_allocate(struct resource *s, struct plugin_answer *answer,
			    const struct id_list *containers, size_t n, bool sure)
{
	struct container_grant *grants = calloc(n + 1, sizeof(*grants));
	struct allocation_input in = {0};
	struct err e = {0};
	int r = grants ? resource_input(s, &in, &e) : err_set(&e, -ENOMEM, "out of memory");

	for (size_t i = 0; i < n && r == 0; i++)
		r = grant_one(s, &in, containers, i, sure, &grants[i], &e);
	if (r == 0)
		r = files_ensure_cdi(s, &in, &e);
	if (r < 0) {
		allocate_reject(s, answer, &e);
	} else {
		allocate_reserve(s, containers, n);
		for (size_t i = 0; i < n; i++) {
			files_write_info(s->owner, &in, containers[i]);
			status_grant(s->owner, in.view->pool, containers[i], &grants[i]);
		}
		plugin_answer_allocate(answer, grants, n);
	}
	for (size_t i = 0; grants && i < n; i++)
		container_grant_done(&grants[i]);
	free(grants);
	resources_show_soon(s->owner);
}

/* --- waiting for the kubelet's list ----------------------------------------------------------- */

static void allocate_free(struct pending_allocate *w)
{
	for (size_t i = 0; w->containers && i < w->n; i++)
		free_ids(&w->containers[i]);
	free(w->containers);
	free(w);
}

static struct pending_allocate *allocate_new(struct resource *s, struct plugin_answer *answer,
					     const struct id_list *containers, size_t n)
{
	struct pending_allocate *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->resource = s;
	w->answer = answer;
	w->since_ms = uv_now(s->owner->loop);
	w->n = n;
	w->containers = calloc(n + 1, sizeof(*w->containers));
	for (size_t i = 0; w->containers && i < n; i++) {
		if (copy_ids(&w->containers[i], &containers[i]) == 0)
			continue;
		allocate_free(w);
		return NULL;
	}
	if (w->containers)
		return w;
	allocate_free(w);
	return NULL;
}

/* Logs that an Allocate is trusted, if that is unusual. A kubelet without PodResources has only
 * its checkpoint, which it writes after our answer. A kubelet that has just started may not serve
 * the API yet. */
static void log_trusted_allocate(const struct resource *s)
{
	if (holders_held(s->owner->holders)->source != POD_SOURCE_CHECKPOINT)
		log_info("resources", 0,
			 "%s: the kubelet allocates a device that is in use in its last list, "
			 "and does not answer; trusting the Allocate",
			 s->name);
}

static void allocate_run_timer(struct resources *r)
{
	uint64_t at = TIMER_NEVER;

	for (const struct pending_allocate *w = r->allocates; w; w = w->next)
		if (w->since_ms + WAIT_MS < at)
			at = w->since_ms + WAIT_MS;
	timer_at(&r->allocate_deadline, at);
}

/* Answers the requests that arrived before before_ms. */
static void allocate_answer_waiting(struct resources *r, uint64_t before_ms, bool sure)
{
	struct pending_allocate **at = &r->allocates;

	while (*at) {
		struct pending_allocate *w = *at;

		if (w->since_ms >= before_ms) {
			at = &w->next;
			continue;
		}
		*at = w->next;
		if (!sure)
			log_trusted_allocate(w->resource);
		answer_allocate(w->resource, w->answer, w->containers, w->n, sure);
		allocate_free(w);
	}
	allocate_run_timer(r);
}

/* Answers only requests that arrived before asked_ms: in the same millisecond, the list may be
 * older than the request. */
void allocate_continue(struct resources *r, uint64_t asked_ms)
{
	allocate_answer_waiting(r, asked_ms > 0 ? asked_ms : UINT64_MAX, asked_ms > 0);
	if (r->allocates)
		holders_request(r->holders);
}

void allocate_expire(void *arg)
{
	struct resources *r = arg;

	allocate_answer_waiting(r, uv_now(r->loop) - WAIT_MS + 1, false);
}

/* Drops the requests with this answer, or for this resource; both NULL: all requests. */
static void forget_requests(struct resources *r, const struct plugin_answer *answer,
			    const struct resource *s)
{
	struct pending_allocate **at = &r->allocates;

	while (*at) {
		struct pending_allocate *w = *at;

		if ((answer && w->answer != answer) || (s && w->resource != s)) {
			at = &w->next;
			continue;
		}
		*at = w->next;
		allocate_free(w);
	}
}

void allocate_drop(struct resources *r, const struct resource *s)
{
	forget_requests(r, NULL, s);
	prestart_drop(r, NULL, s);
}

/* True if the kubelet's current allocations can be requested. */
static bool can_be_sure(const struct resource *s)
{
	if (holders_kubelet_answers(s->owner->holders))
		return true;
	log_trusted_allocate(s);
	return false;
}

static void on_allocate(struct plugin_answer *answer, const struct id_list *containers, size_t n,
			void *arg)
{
	struct resource *s = arg;
	struct pending_allocate *w = any_held(s, containers, n) && can_be_sure(s)
					     ? allocate_new(s, answer, containers, n)
					     : NULL;

	if (!w) {
		answer_allocate(s, answer, containers, n, false);
		return;
	}
	w->next = s->owner->allocates;
	s->owner->allocates = w;
	allocate_run_timer(s->owner);
	holders_request(s->owner->holders);
}

static void on_gone(struct plugin_answer *answer, void *arg)
{
	struct resources *r = ((struct resource *)arg)->owner;

	forget_requests(r, answer, NULL);
	prestart_drop(r, answer, NULL);
}

/* --- GetPreferredAllocation ------------------------------------------------------------------- */

/* True if the ID is in use by a container according to our list (the kubelet's may be newer), or is
 * returning. */
static bool is_busy(const char *id, void *arg)
{
	const struct resource *s = arg;
	const struct attach_engine *engine = s->owner->opts.engine;
	const struct attach_status *a = engine ? attach_engine_find(engine, id) : NULL;

	return reservations_state(holders_reservations(s->owner->holders), s->name, id) !=
		       RESERVATION_FREE ||
	       (a && a->record->state != ATTACH_FREE);
}

/* Chooses the IDs for one container; *ret has pointers into the request. */
static int prefer(struct resource *s, const struct allocation_input *in,
		  const struct preference_request *request, struct id_list *ret, struct err *e)
{
	const char **ids = calloc(request->size + 1, sizeof(*ids));
	int n = ids ? allocation_prefer(ids, in->view, in->host, request, is_busy, s) : -ENOMEM;

	ret->ids = ids;
	ret->n = n > 0 ? (size_t)n : 0;
	if (n == -ENOMEM)
		return err_set(e, n, "out of memory");
	return n < 0 ? err_set(e, n, "cannot choose %zu devices that include the required ones",
			       request->size)
		     : 0;
}

static void on_preferred(struct plugin_answer *answer, const struct preference_request *requests,
			 size_t n, void *arg)
{
	struct resource *s = arg;
	struct id_list *lists = calloc(n + 1, sizeof(*lists));
	struct allocation_input in = {0};
	struct err e = {0};
	int r = lists ? resource_input(s, &in, &e) : err_set(&e, -ENOMEM, "out of memory");

	for (size_t i = 0; lists && i < n && r == 0; i++)
		r = prefer(s, &in, &requests[i], &lists[i], &e);
	if (r < 0)
		plugin_answer_error(answer, &e);
	else
		plugin_answer_preferred(answer, lists, n);
	for (size_t i = 0; lists && i < n; i++)
		free((void *)lists[i].ids);
	free(lists);
}

const struct plugin_hooks plugin_calls = {
	.allocate = on_allocate,
	.preferred = on_preferred,
	.pre_start = prestart_request,
	.gone = on_gone,
};
