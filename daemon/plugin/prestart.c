// SPDX-License-Identifier: Apache-2.0
/* prestart.c - PreStartContainer: allows or rejects the start of a container.
 *
 * Success: the engine reports that the devices are in the container's pod (or the pool attaches
 * nothing), and the container's device nodes exist and still belong to its devices -> allow the
 * start. Failures: no attachment in time, an unhealthy device, a missing node, a node that belongs
 * to another device now. The kubelet puts the error into the pod's status, and retries with
 * backoff. */
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "log.h"
#include "state.h"

/* Reasons that can be repaired while the container runs do not prevent its start. */
#define NOT_BEFORE_START (HEALTH_BIT(HEALTH_LINK_DOWN) | HEALTH_BIT(HEALTH_PORT_DOWN))

struct prestart {
	struct prestart *next;
	struct resource *resource;
	struct plugin_answer *answer;
	struct id_list ids; /* owned */
	struct attach_gate *gate;
};

static void prestart_reject(struct plugin_answer *answer, const struct err *e)
{
	log_warn("resources", 0, "container not started: %s", e->msg);
	plugin_answer_error(answer, e);
}

/* Checks the nodes of a container. The kubelet restarts a container with the nodes that it was
 * given at Allocate; check that they still belong to its devices. */
static int check_nodes(const struct resource *s, const struct pool_view *view, struct id_list ids,
		       struct err *e)
{
	struct node_conflicts conflicts;
	int r = resources_conflicts(s->owner, &conflicts);

	if (r < 0)
		return err_set(e, r, "%s: out of memory", s->name);
	r = node_conflicts_check(&conflicts, view, ids, e);
	node_conflicts_done(&conflicts);
	return r;
}

/* Answers the request. in_pod: the engine has confirmed that the devices are in the pod. Otherwise
 * a device that is not clean prevents the start. */
static void answer_start(const struct resource *s, struct plugin_answer *answer, struct id_list ids,
			 bool in_pod)
{
	unsigned not_clean = HEALTH_BIT(HEALTH_NOT_CLEAN) | HEALTH_BIT(HEALTH_LEAVING);
	unsigned ignored = NOT_BEFORE_START | (in_pod ? not_clean : 0);
	struct allocation_input in = {0};
	struct err e = {0};
	int r = resource_input(s, &in, &e);

	if (r == 0)
		r = check_nodes(s, in.view, ids, &e);
	/* Before the health, because its error names the missing node. */
	if (r == 0)
		r = allocation_check(&in, ids, &e);
	for (size_t i = 0; i < ids.n && r == 0; i++)
		r = resource_check_health(s, ids.ids[i], ignored, &e);
	if (r == 0)
		plugin_answer_started(answer);
	else
		prestart_reject(answer, &e);
}

/* --- the gate --------------------------------------------------------------------------------- */

/* True if another request waits for the device. A restarted kubelet may repeat its request before
 * we detect that its previous connection has closed. */
static bool prestart_is_awaited(const struct resource *resource, const char *id)
{
	for (const struct prestart *s = resource->owner->prestarts; s; s = s->next)
		for (size_t i = 0; s->resource == resource && i < s->ids.n; i++)
			if (strcmp(s->ids.ids[i], id) == 0)
				return true;
	return false;
}

/* Frees a request that was removed from the list. */
static void prestart_free(struct prestart *s)
{
	for (size_t i = 0; i < s->ids.n; i++)
		if (!prestart_is_awaited(s->resource, s->ids.ids[i]))
			holders_note_end(s->resource->owner->holders, s->resource->name,
					 s->ids.ids[i]);
	free_ids(&s->ids);
	free(s);
}

static void take_out(struct resources *r, const struct prestart *s)
{
	struct prestart **at = &r->prestarts;

	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
}

static void on_gate(const struct err *e, void *arg)
{
	struct prestart *s = arg;

	take_out(s->resource->owner, s);
	if (e->code < 0)
		prestart_reject(s->answer, e);
	else
		answer_start(s->resource, s->answer, s->ids, true);
	prestart_free(s);
}

/* True if the ID exists. A function in a pod may exist without being offered, if no list names it.
 */
static bool exists(const struct resource *s, const char *id)
{
	const struct pool_view *view = pools_find(&s->owner->pools, s->name);

	return (view && pool_view_offer(view, id)) || host_function(&s->owner->inventory->host, id);
}

/* Notes that a container waits to be started. Our list may not have the device of an init
 * container, which may start late, or we may have restarted since. If out of memory, the kubelet
 * repeats its request. */
static void note_start(const struct resource *s, const struct id_list *ids)
{
	struct resources *r = s->owner;

	for (size_t i = 0; i < ids->n; i++)
		if (exists(s, ids->ids[i]))
			holders_note_start(r->holders, s->name, ids->ids[i]);
	resources_decide_soon(r);
}

/* Waits for the engine, which may answer synchronously; `s` is freed then. */
static int prestart_wait(struct resource *resource, struct plugin_answer *answer,
			 const struct id_list *ids)
{
	struct resources *r = resource->owner;
	struct prestart *s = calloc(1, sizeof(*s));
	struct attach_gate *gate = NULL;
	int error = s ? copy_ids(&s->ids, ids) : -ENOMEM;

	if (s)
		s->resource = resource;
	if (error < 0) {
		if (s)
			prestart_free(s);
		return error;
	}
	note_start(resource, ids);
	s->answer = answer;
	s->next = r->prestarts;
	r->prestarts = s;
	error = attach_engine_gate(r->opts.engine, &gate, resource->name, s->ids, on_gate, s);
	if (error < 0) {
		take_out(r, s);
		prestart_free(s);
	} else if (gate) {
		s->gate = gate;
	}
	return error;
}

void prestart_request(struct plugin_answer *answer, const struct id_list *ids, void *arg)
{
	struct resource *s = arg;
	struct err e = {0};
	int error;

	if (!resource_is_attached(s)) {
		answer_start(s, answer, *ids, false);
		return;
	}
	error = prestart_wait(s, answer, ids);
	if (error < 0) {
		err_set(&e, error, "%s: out of memory", s->name);
		prestart_reject(answer, &e);
	}
}

void prestart_drop(struct resources *r, const struct plugin_answer *answer,
		   const struct resource *resource)
{
	struct prestart **at = &r->prestarts;

	while (*at) {
		struct prestart *s = *at;

		if ((answer && s->answer != answer) || (resource && s->resource != resource)) {
			at = &s->next;
			continue;
		}
		*at = s->next;
		attach_gate_cancel(s->gate);
		prestart_free(s);
	}
}
