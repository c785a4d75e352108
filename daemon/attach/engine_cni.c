// SPDX-License-Identifier: Apache-2.0
/* engine_cni.c - ADD, DEL and CHECK requests of CNI plugins.
 *
 * Each step finds the attachment again by container and interface, because it may have been removed
 * meanwhile. */
#include <stdlib.h>
#include <string.h>

#include "engine_requests.h"

struct cni_waiting {
	struct waiter waiter; /* must be first: the object is freed as its waiter */
	struct attach_engine *engine;
	char container[SANDBOX_ID_SIZE], ifname[IFNAMSIZ];
	bool begun;
	/* DEL: a newer ADD began when there was no attachment. */
	bool nothing;
	unsigned tries;	   /* DEL: number of failed returns when it began */
	unsigned n_checks; /* CHECK: number of finished checks at which it is answered */
	attach_request_fn *fn;
	void *arg;
};

int attach_engine_cni_add(struct attach_engine *e, const char *function,
			  const struct attach_owner *owner, const struct net_plan *plan,
			  attach_wanted_fn *is_wanted, attach_request_fn *fn, void *arg,
			  struct err *err)
{
	struct engine_request *o;

	if (e->dry_run)
		return err_set(err, -EROFS, "rocelet attaches nothing (dry-run or observe)");
	o = engine_request_new(e, fn, arg);
	if (!o)
		return err_set(err, -ENOMEM, "out of memory");
	o->record = engine_request_record(function, owner, plan);
	o->is_wanted = is_wanted;
	o->early_ms = e->cni_early_ms;
	o->limit_ms = e->cni_add_ms;
	return engine_request_submit(o, err);
}

/* --- waiting ---------------------------------------------------------------------------------- */

static struct attachment *cni_attachment(const struct cni_waiting *o)
{
	return attachments_of_container(&o->engine->all, o->container, o->ifname);
}

static bool cni_is_known(const struct attach_engine *e, struct err *err)
{
	/* A journal that cannot be opened counts as read for requests that need no records. */
	if (e->journal_read && (e->journal || !e->counters.journal_error[0]))
		return true;
	err_set(err, -EAGAIN, "%s",
		e->journal_read ? e->counters.journal_error : "rocelet is still starting");
	return false;
}

static void cni_report(struct cni_waiting *o, const struct err *err)
{
	engine_soon(o->engine);
	if (o->fn)
		o->fn(err, o->arg);
	free(o);
}

static int cni_wait(struct attach_engine *e, const struct cni_waiting *like, const char *container,
		    const char *ifname, struct err *err)
{
	struct cni_waiting *o;

	if (e->dry_run)
		return err_set(err, -EROFS,
			       "rocelet attaches and returns nothing (dry-run or observe)");
	o = malloc(sizeof(*o));
	if (!o)
		return err_set(err, -ENOMEM, "out of memory");
	*o = *like;
	o->engine = e;
	o->waiter.since_ms = engine_now(e);
	o->waiter.deadline_ms = engine_now(e) + e->cni_wait_ms;
	snprintf(o->container, sizeof(o->container), "%s", container);
	snprintf(o->ifname, sizeof(o->ifname), "%s", ifname);
	waiters_add(&e->waiters, &o->waiter);
	engine_soon(e);
	return 0;
}

/* --- DEL -------------------------------------------------------------------------------------- */

static void cni_begin_return(struct cni_waiting *o, struct attachment *a)
{
	o->begun = true;
	o->tries = a->tries;
	engine_request_take_back(a, "its container's runtime deleted it");
	engine_soon(o->engine);
}

static bool cni_poll_del(struct waiter *w, const struct attach_view *view, struct err *err)
{
	struct cni_waiting *o = (struct cni_waiting *)w;
	struct attachment *a;

	(void)view;
	if (o->nothing)
		return true;
	if (!cni_is_known(o->engine, err))
		return false;
	a = cni_attachment(o);
	if (!a)
		return true;
	if (engine_check_visible(o->engine, err) < 0)
		return false;
	if (!o->begun)
		cni_begin_return(o, a);
	/* The engine retries the return. A DEL that fails repeatedly would prevent the end of its
	 * pod. */
	return a->record.state == ATTACH_BAD && a->tries > o->tries;
}

static void cni_answer_del(struct waiter *w, const struct err *err)
{
	static const struct err none;
	struct cni_waiting *o = (struct cni_waiting *)w;

	cni_report(o, err->code == -ETIMEDOUT && o->begun ? &none : err);
}

int attach_engine_cni_del(struct attach_engine *e, const char *container, const char *ifname,
			  attach_request_fn *fn, void *arg, struct err *err)
{
	const struct cni_waiting like = {
		.waiter = {.look = cni_poll_del, .answer = cni_answer_del}, .fn = fn, .arg = arg};

	engine_requests_cancel(e, container, ifname);
	return cni_wait(e, &like, container, ifname, err);
}

void engine_cni_attaches(struct attach_engine *e, const struct attach_record *r)
{
	for (struct waiter *w = e->waiters.first; w; w = w->next) {
		struct cni_waiting *o = (struct cni_waiting *)w;

		if (w->look == cni_poll_del && r->owner.door == DOOR_CNI &&
		    strcmp(o->container, r->owner.sandbox) == 0 &&
		    strcmp(o->ifname, r->plan.ifname) == 0)
			o->nothing = true;
	}
}

/* --- CHECK ------------------------------------------------------------------------------------ */

/* -ENOENT means an unknown container, so a removed namespace gets another error. A device that left
 * the bus gets another error than one that was moved or renamed. */
static void cni_checked(const struct attach_engine *e, const struct attachment *a, struct err *err)
{
	*err = a->checked;
	if (!err_is_not_found(err->code))
		return;
	if (err->code == -ENOENT)
		err->code = -EBADF;
	else if (!host_function(&e->inventory->host, a->record.function))
		err->code = -ENODEV;
	else
		err->code = -ESTALE;
}

static bool cni_poll_in_pod(struct cni_waiting *o, struct attachment *a, struct err *err)
{
	if (!o->begun) {
		/* A check in progress may have begun before this request. */
		o->n_checks = a->n_checks + 1 + (a->op != NULL);
		o->begun = true;
	}
	if (a->n_checks >= o->n_checks) {
		cni_checked(o->engine, a, err);
		return true;
	}
	if (!a->op && !a->check_now) {
		a->check_now = true;
		engine_soon(o->engine);
	}
	return false;
}

static bool cni_poll_check(struct waiter *w, const struct attach_view *view, struct err *err)
{
	struct cni_waiting *o = (struct cni_waiting *)w;
	struct attachment *a;

	(void)view;
	if (!cni_is_known(o->engine, err))
		return false;
	a = cni_attachment(o);
	if (!a) {
		err_set(err, -ENOENT, "container %s has no interface %s of rocelet", o->container,
			o->ifname);
		return true;
	}
	if (engine_check_visible(o->engine, err) < 0)
		return false;
	switch (a->record.state) {
	case ATTACH_IN_POD:
		return cni_poll_in_pod(o, a, err);
	case ATTACH_ATTACHING:
		return false;
	case ATTACH_FREE:
	case ATTACH_RETURNING:
	case ATTACH_BAD:
		break;
	}
	err_set(err, -ESTALE, "%s of container %s is %s", o->ifname, o->container,
		attach_state_name(a->record.state));
	return true;
}

static void cni_answer_check(struct waiter *w, const struct err *err)
{
	cni_report((struct cni_waiting *)w, err);
}

int attach_engine_cni_check(struct attach_engine *e, const char *container, const char *ifname,
			    attach_request_fn *fn, void *arg, struct err *err)
{
	const struct cni_waiting like = {
		.waiter = {.look = cni_poll_check, .answer = cni_answer_check},
		.fn = fn,
		.arg = arg};

	return cni_wait(e, &like, container, ifname, err);
}

/* --- attachments ---------------------------------------------------------------------------- */

const struct attach_status *attach_engine_cni_find(const struct attach_engine *e,
						   const char *container, const char *ifname)
{
	struct attachment *a = attachments_of_container(&e->all, container, ifname);

	return a ? attachment_status(a) : NULL;
}

const char *attach_engine_cni_ipam_answer(const struct attach_engine *e, const char *container,
					  const char *ifname)
{
	const struct attachment *a = attachments_of_container(&e->all, container, ifname);

	return a ? a->ipam_answer : NULL;
}

const struct attach_record *attach_engine_cni_next(const struct attach_engine *e,
						   const char *network, size_t *at)
{
	while (*at < e->all.n) {
		const struct attach_record *r = &e->all.items[(*at)++]->record;

		/* Only requests of CNI name a network. */
		if (strcmp(r->owner.network, network) == 0)
			return r;
	}
	return NULL;
}

int attach_engine_cni_status(const struct attach_engine *e, struct err *err)
{
	if (e->dry_run)
		return err_set(err, -EROFS, "rocelet runs with --dry-run and attaches nothing");
	if (!e->journal_read)
		return err_set(err, -EROFS, "rocelet is still starting");
	if (e->counters.journal_error[0])
		return err_set(err, -EROFS, "%s", e->counters.journal_error);
	return e->counters.view_error[0] ? err_set(err, -EROFS, "%s", e->counters.view_error) : 0;
}
