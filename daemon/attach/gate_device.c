// SPDX-License-Identifier: Apache-2.0
#include "gate_device.h"

#include <stdio.h>
#include <string.h>

#include "pod_sandbox.h"
#include "search.h"

/* The pod that has the device according to the kubelet; NULL: not known. */
static const struct pod_device *holder(const struct gate_view *g)
{
	size_t n = 0;
	const struct pod_device *d = pod_list_find(g->view->held, g->resource, g->id, &n);

	return find_first(d, n, i, d[i].pod[0] || d[i].uid[0]);
}

/* Was the device attached after its last Allocate? Then it was not allocated again since, for
 * example to another pod of the same name. False if the times are equal: an attach needs more than
 * a millisecond. */
static bool is_of_last_allocate(const struct attachment *a, const struct pod_device *d)
{
	return d->reserved_ms && d->reserved_ms < a->since_ms;
}

/* Was the device attached to the sandbox of the pod that the kubelet names? */
static bool is_sandbox(const struct attach_engine *e, const struct attachment *a,
		       const struct pod_device *d)
{
	const struct sandbox_list *sandboxes = engine_sandboxes(e);
	const struct sandbox *s = pod_sandbox_find(sandboxes, d);

	if (!sandboxes->known)
		return is_of_last_allocate(a, d);
	return s && strcmp(s->id, a->record.owner.sandbox) == 0;
}

/* True if the device is attached to its current pod, and the namespace exists. */
static bool gate_is_attached(const struct attach_engine *e, const struct attachment *a,
			     const struct pod_device *d)
{
	const struct attach_owner *o = &a->record.owner;

	return a->record.state == ATTACH_IN_POD && held_by(d, o) && is_sandbox(e, a, d) &&
	       !a->why && a->problem.code != -ENODEV &&
	       (a->confirm_ms == 0 || engine_sandboxes(e)->asked_ms > a->confirm_ms) &&
	       e->ops->netns_exists(e->hw, &o->netns);
}

/* For a device that is neither attached nor desired: reports that the sandbox is missing, and
 * why. */
static void no_sandbox(const struct attach_engine *e, const struct pod_device *d, struct err *err)
{
	const struct sandbox_list *l = engine_sandboxes(e);
	const char *pod = d->pod[0] ? d->pod : d->uid;
	struct cri_status status = {.error = ""};

	if (l->known && !pod_sandbox_find(l, d) && pod_sandbox_may_be(l, d)) {
		err_set(err, -ETIMEDOUT,
			"a sandbox of pod %s/%s may belong to it or to an earlier pod of that "
			"name, which has not ended",
			d->namespace, pod);
		return;
	}
	if (l->known) {
		err_set(err, -ETIMEDOUT, "no sandbox of pod %s/%s yet", d->namespace, pod);
		return;
	}
	if (e->holders)
		e->ops->runtime(e->holders, &status);
	err_set(err, -ETIMEDOUT, "the container runtime does not answer: %s",
		status.error[0] ? status.error : "no socket found");
}

/* Reports what the attachment waits for. */
static void not_yet(const struct attachment *a, struct err *err)
{
	const struct attach_record *r = &a->record;
	char owner[OWNER_TEXT_SIZE];

	if (r->state == ATTACH_BAD)
		err_set(err, -ETIMEDOUT, "%s could not be cleaned: %s", r->function,
			a->problem.msg);
	else if (r->state == ATTACH_ATTACHING)
		err_set(err, -ETIMEDOUT, "%s is still being attached, step %s", r->function,
			a->step ? a->step : "none");
	else if (r->state == ATTACH_IN_POD && a->problem.code == -ENODEV)
		err_set(err, -ETIMEDOUT, "%s", a->problem.msg);
	else
		err_set(err, -ETIMEDOUT, "%s is still attached to %s, or returning", r->function,
			owner_text(&r->owner, owner));
}

static enum gate_answer gate_reject(const struct err *why, struct err *err)
{
	*err = *why;
	return GATE_REFUSES;
}

/* Rejects the container: another device may have the number of its device node by now. */
static enum gate_answer no_rdma(const struct attachment *a, struct err *err)
{
	err_set(err, -ENODEV,
		"the RDMA device %s of %s was deleted in its pod, or its driver was rebound; "
		"delete the pod, so that a device is allocated to it again",
		a->record.rdma, a->record.function);
	return GATE_REFUSES;
}

static bool has_host_network(const struct sandbox *s)
{
	return s && s->detailed && s->host_network;
}

/* Was the device, which stays in the host, recorded for this sandbox? */
static bool gate_is_recorded(const struct attachment *a, const struct sandbox *s)
{
	return a && a->record.plan.in_host && a->record.state == ATTACH_IN_POD && !a->why &&
	       strcmp(a->record.owner.sandbox, s->id) == 0;
}

/* Decides for a pod with the host's network. It can use the device in the host, once that is
 * recorded. A soft-RoCE device does not exist for it, because only an attach creates one. */
static enum gate_answer gate_judge_host_network(const struct gate_view *g,
						const struct attachment *a, const struct sandbox *s,
						struct err *err)
{
	const struct pool *pool = view_pool(g->view, g->resource);

	if (!pool->network->plan.soft_roce && pool->kind != POOL_EXCLUSIVE)
		return GATE_OPENS;
	if (!pool->network->plan.soft_roce && gate_is_recorded(a, s))
		return GATE_OPENS;
	if (!pool->network->plan.soft_roce)
		return GATE_WAITS;
	err_set(err, -EINVAL,
		"pod %s/%.63s uses hostNetwork: without a pod interface, the soft-RoCE device of "
		"%s %s cannot be created",
		s->namespace, s->pod, g->resource, g->id);
	return GATE_REFUSES;
}

static enum gate_answer check_held(const struct gate_view *g, const struct pod_device *d,
				   struct err *err)
{
	const struct attach_engine *e = g->engine;
	const struct attachment *a = attachments_of_id(&e->all, g->resource, g->id);
	const struct desired *w = desired_find(&e->desired, g->resource, g->id);
	const struct sandbox *s = pod_sandbox_find(engine_sandboxes(e), d);
	bool fresh = engine_sandboxes(e)->asked_ms >= g->since_ms,
	     seen = engine_sandboxes(e)->known;
	enum gate_answer answer;

	if ((!a || a->record.state == ATTACH_FREE) &&
	    granted_has_no_network(e->ops->granted(e->holders), g->resource, g->id, d->reserved_ms))
		return GATE_OPENS;
	if (a && gate_is_attached(e, a, d))
		return a->drift & ATTACH_DRIFT_RDMA ? no_rdma(a, err) : GATE_OPENS;
	if (fresh && has_host_network(s) &&
	    (answer = gate_judge_host_network(g, a, s, err)) != GATE_WAITS)
		return answer;
	if (a && a->failure.code &&
	    (a->record.state == ATTACH_FREE || a->record.state == ATTACH_BAD))
		return gate_reject(&a->failure, err);
	if (w && w->err.code && fresh)
		return gate_reject(&w->err, err);
	if (w && w->err.code)
		*err = w->err;
	else if (a && a->record.state != ATTACH_FREE && (seen || a->record.state != ATTACH_IN_POD))
		not_yet(a, err);
	else
		no_sandbox(e, d, err);
	return GATE_WAITS;
}

/* Rejects the container: the configuration has changed while it waited, and the device will not be
 * attached. */
static enum gate_answer no_pool(const struct gate_view *g, struct err *err)
{
	err_set(err, -ECANCELED, "%s is not attached to pods any more", g->resource);
	return GATE_REFUSES;
}

enum gate_answer gate_judge_device(const struct gate_view *g, struct err *err)
{
	const char *journal = g->engine->counters.journal_error;
	const struct pod_device *d;
	const struct pool *pool;

	if (!g->view || !g->engine->journal_read) {
		err_set(err, -ETIMEDOUT, "rocelet is still starting%s%s", journal[0] ? ": " : "",
			journal);
		return GATE_WAITS;
	}
	pool = view_pool(g->view, g->resource);
	if (!pool || !pool->network)
		return g->attached ? no_pool(g, err) : GATE_OPENS;
	if (engine_check_visible(g->engine, err) < 0)
		return GATE_WAITS;
	d = holder(g);
	if (d)
		return check_held(g, d, err);
	err_set(err, -ETIMEDOUT, "the kubelet's list does not show yet which pod has %s of %s",
		g->id, g->resource);
	return GATE_WAITS;
}

/* Remembers sandbox and device. False if they were reported already: containers may be restarted
 * many times in one sandbox. */
static bool gate_is_first_report(struct attach_engine *e, const struct sandbox *s, const char *id)
{
	char key[HOST_NETWORK_SIZE];

	snprintf(key, sizeof(key), "%s %s", s->id, id);
	for (size_t i = 0; i < HOST_NETWORKS_MAX; i++)
		if (strcmp(e->reported_host_network[i], key) == 0)
			return false;
	memcpy(e->reported_host_network[e->n_reported_host_network++ % HOST_NETWORKS_MAX], key,
	       sizeof(key));
	return true;
}

void gate_report_host_network(const struct gate_view *g)
{
	struct attach_engine *e = g->engine;
	const struct host *host = &e->inventory->host;
	struct attach_record r = {.state = ATTACH_FREE};
	const struct pool *pool = view_pool(g->view, g->resource);
	const struct pod_device *d = pool && pool->network ? holder(g) : NULL;
	const struct sandbox *s = d ? pod_sandbox_find(engine_sandboxes(e), d) : NULL;
	char device[DEVICE_TEXT_SIZE];

	if (!has_host_network(s) || !gate_is_first_report(e, s, g->id))
		return;
	snprintf(r.resource, sizeof(r.resource), "%s", g->resource);
	snprintf(r.id, sizeof(r.id), "%s", g->id);
	if (host_function(host, g->id))
		snprintf(r.function, sizeof(r.function), "%s", g->id);
	memcpy(r.owner.namespace, s->namespace, sizeof(r.owner.namespace));
	memcpy(r.owner.pod, s->pod, sizeof(r.owner.pod));
	memcpy(r.owner.uid, s->uid, sizeof(r.owner.uid));
	engine_event(
		e, EVENT_WARNING, "HostNetwork", &r,
		"pod %s/%.63s uses the host's network: %s stays in the host, the container only "
		"gets its device nodes",
		s->namespace, s->pod, device_text(&r, device));
}
