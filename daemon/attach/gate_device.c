/* gate_device.c - see gate_device.h. */
#include "gate_device.h"

#include <stdio.h>
#include <string.h>

#include "pod_sandbox.h"

/* Who has it as the kubelet says; NULL: it does not say. */
static const struct pod_device *holder(const struct gate_view *g)
{
	size_t n = 0;
	const struct pod_device *d = pod_list_find(g->view->held, g->resource, g->id, &n);

	for (size_t i = 0; i < n; i++)
		if (d[i].pod[0] || d[i].uid[0])
			return &d[i];
	return NULL;
}

/* It was not given away anew since it was attached, to another pod of the same name perhaps: we
 * have seen it given away, and attached after that. No attach takes less than a millisecond. */
static bool is_of_last_allocate(const struct attachment *a, const struct pod_device *d)
{
	return d->reserved_ms && d->reserved_ms < a->since_ms;
}

/* It was attached to the sandbox of the pod that the kubelet means. */
static bool is_sandbox(const struct attach_engine *e, const struct attachment *a,
		       const struct pod_device *d)
{
	const struct sandbox_list *sandboxes = engine_sandboxes(e);
	const struct sandbox *s = pod_sandbox_find(sandboxes, d);

	if (!sandboxes->known)
		return is_of_last_allocate(a, d);
	return s && strcmp(s->id, a->record.owner.sandbox) == 0;
}

static bool gate_is_there(const struct attach_engine *e, const struct attachment *a,
			  const struct pod_device *d)
{
	const struct attach_owner *o = &a->record.owner;

	return a->record.state == ATTACH_IN_POD && held_by(d, o) && is_sandbox(e, a, d) &&
	       !a->why && a->trouble.code != -ENODEV &&
	       (a->doubt_ms == 0 || engine_sandboxes(e)->asked_ms > a->doubt_ms) &&
	       e->ops->netns_is_there(e->hw, &o->netns);
}

/* Nothing is attached, and nothing wanted of it is known. */
static void no_sandbox(const struct attach_engine *e, const struct pod_device *d, struct err *err)
{
	const struct sandbox_list *l = engine_sandboxes(e);
	const char *pod = d->pod[0] ? d->pod : d->uid;
	struct cri_status status = {.error = ""};

	if (l->known && !pod_sandbox_find(l, d) && pod_sandbox_may_be(l, d)) {
		err_set(err, -ETIMEDOUT,
			"it cannot be told yet whether a sandbox of pod %s/%s is its own or of "
			"another pod of that name, which has not ended",
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
		status.error[0] ? status.error : "no socket of one was found");
}

/* What an attachment waits for. */
static void not_yet(const struct attachment *a, struct err *err)
{
	const struct attach_record *r = &a->record;
	char owner[OWNER_TEXT_SIZE];

	if (r->state == ATTACH_BAD)
		err_set(err, -ETIMEDOUT, "%s could not be cleaned: %s", r->function,
			a->trouble.msg);
	else if (r->state == ATTACH_ATTACHING)
		err_set(err, -ETIMEDOUT, "%s is still being attached, step %s", r->function,
			a->step ? a->step : "none");
	else if (r->state == ATTACH_IN_POD && a->trouble.code == -ENODEV)
		err_set(err, -ETIMEDOUT, "%s", a->trouble.msg);
	else
		err_set(err, -ETIMEDOUT, "%s is still with %s, or on its way back", r->function,
			owner_text(&r->owner, owner));
}

static enum gate_answer gate_refuse(const struct err *why, struct err *err)
{
	*err = *why;
	return GATE_REFUSES;
}

/* The container would be given the number of a node that another device may have by now. */
static enum gate_answer no_rdma(const struct attachment *a, struct err *err)
{
	err_set(err, -ENODEV,
		"the RDMA device %s of %s was deleted in its pod, or its driver was bound again; "
		"delete the pod, so that a device is given to it again",
		a->record.rdma, a->record.function);
	return GATE_REFUSES;
}

static bool has_host_network(const struct sandbox *s)
{
	return s && s->detailed && s->host_network;
}

/* It stays where it is, and what it was like before has been recorded for this sandbox. */
static bool gate_is_recorded(const struct attachment *a, const struct sandbox *s)
{
	return a && a->record.plan.in_host && a->record.state == ATTACH_IN_POD && !a->why &&
	       strcmp(a->record.owner.sandbox, s->id) == 0;
}

/* The device is there, where the pod sees it; but a soft-RoCE device is made with the attachment.
 */
static enum gate_answer look_host_network(const struct gate_view *g, const struct attachment *a,
					  const struct sandbox *s, struct err *err)
{
	const struct pool *pool = view_pool(g->view, g->resource);

	if (!pool->network->plan.soft_roce && pool->kind != POOL_EXCLUSIVE)
		return GATE_OPENS;
	if (!pool->network->plan.soft_roce && gate_is_recorded(a, s))
		return GATE_OPENS;
	if (!pool->network->plan.soft_roce)
		return GATE_WAITS;
	err_set(err, -EINVAL,
		"pod %s/%.63s has hostNetwork, so there is no interface of its own to make the "
		"soft-RoCE device of %s %s on: it can have one network or the other",
		s->namespace, s->pod, g->resource, g->id);
	return GATE_REFUSES;
}

static enum gate_answer look_held(const struct gate_view *g, const struct pod_device *d,
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
	if (a && gate_is_there(e, a, d))
		return a->drift & ATTACH_DRIFT_RDMA ? no_rdma(a, err) : GATE_OPENS;
	if (fresh && has_host_network(s) &&
	    (answer = look_host_network(g, a, s, err)) != GATE_WAITS)
		return answer;
	if (a && a->failure.code &&
	    (a->record.state == ATTACH_FREE || a->record.state == ATTACH_BAD))
		return gate_refuse(&a->failure, err);
	if (w && w->err.code && fresh)
		return gate_refuse(&w->err, err);
	if (w && w->err.code)
		*err = w->err;
	else if (a && a->record.state != ATTACH_FREE && (seen || a->record.state != ATTACH_IN_POD))
		not_yet(a, err);
	else
		no_sandbox(e, d, err);
	return GATE_WAITS;
}

/* Its configuration has changed meanwhile: nobody brings what was waited for. */
static enum gate_answer no_pool(const struct gate_view *g, struct err *err)
{
	err_set(err, -ECANCELED, "%s is not attached to pods any more", g->resource);
	return GATE_REFUSES;
}

enum gate_answer gate_look(const struct gate_view *g, struct err *err)
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
	if (engine_refuse_blind(g->engine, err) < 0)
		return GATE_WAITS;
	d = holder(g);
	if (d)
		return look_held(g, d, err);
	err_set(err, -ETIMEDOUT, "the kubelet does not say yet which pod has %s of %s", g->id,
		g->resource);
	return GATE_WAITS;
}

/* A container may start many times in one sandbox. */
static bool gate_is_news(struct attach_engine *e, const struct sandbox *s, const char *id)
{
	char told[HOST_NETWORK_SIZE];

	snprintf(told, sizeof(told), "%s %s", s->id, id);
	for (size_t i = 0; i < HOST_NETWORKS_MAX; i++)
		if (strcmp(e->told_host_network[i], told) == 0)
			return false;
	memcpy(e->told_host_network[e->n_told_host_network++ % HOST_NETWORKS_MAX], told,
	       sizeof(told));
	return true;
}

void gate_tell_host_network(const struct gate_view *g)
{
	struct attach_engine *e = g->engine;
	const struct host *host = &e->inventory->host;
	struct attach_record r = {.state = ATTACH_FREE};
	const struct pool *pool = view_pool(g->view, g->resource);
	const struct pod_device *d = pool && pool->network ? holder(g) : NULL;
	const struct sandbox *s = d ? pod_sandbox_find(engine_sandboxes(e), d) : NULL;
	char device[DEVICE_TEXT_SIZE];

	if (!has_host_network(s) || !gate_is_news(e, s, g->id))
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
		"pod %s/%.63s uses the host's network: %s stays in the host, the container gets "
		"its device nodes and nothing else",
		s->namespace, s->pod, device_text(&r, device));
}
