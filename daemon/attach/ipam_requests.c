// SPDX-License-Identifier: Apache-2.0
#include "ipam_requests.h"

#include <stdlib.h>

#include "cleanup.h"
#include "engine_state.h"

/* A CHECK of the device itself takes up to 10 s, and rocelet-cni waits 20 s for both. */
#define IPAM_REQUEST_MS	  5000
#define IPAM_REQUESTS_MAX 32

struct ipam_request {
	struct ipam_request *next;
	struct attach_engine *engine;
	struct ipam_call *call;
	attach_request_fn *fn;
	void *arg;
};

/* Reports the result of a request that was removed from the list, and frees it. */
static void ipam_request_end(struct ipam_request *o, const struct err *err)
{
	o->engine->n_ipam_requests--;
	o->fn(err, o->arg);
	free(o);
}

static void ipam_request_unlink(struct ipam_request *o)
{
	struct ipam_request **at = &o->engine->ipam_requests;

	while (*at != o)
		at = &(*at)->next;
	*at = o->next;
}

static void on_ipam_request(const char *text, size_t len, const struct err *err, void *arg)
{
	(void)text, (void)len;
	ipam_request_unlink(arg);
	ipam_request_end(arg, err);
}

int attach_engine_cni_ipam(struct attach_engine *e, enum ipam_verb verb,
			   const struct attach_record *r, const struct json_t *more,
			   attach_request_fn *fn, void *arg, struct err *err)
{
	struct ipam_request *o;
	int error;

	if (e->closing)
		return err_set(err, -ECANCELED, "rocelet is stopping");
	if (e->n_ipam_requests == IPAM_REQUESTS_MAX)
		return err_set(err, -EAGAIN, "%u IPAM plugins are running", e->n_ipam_requests);
	o = malloc(sizeof(*o));
	if (!o)
		return err_set(err, -ENOMEM, "out of memory");
	*o = (struct ipam_request){.engine = e, .fn = fn, .arg = arg};
	error = e->ops->ipam_start(&o->call, e->loop, verb, r, more, &e->ipam_host, IPAM_REQUEST_MS,
				   on_ipam_request, o, err);
	if (error < 0) {
		free(o);
		return error;
	}
	o->next = e->ipam_requests;
	e->ipam_requests = o;
	e->n_ipam_requests++;
	return 0;
}

void ipam_requests_close(struct attach_engine *e)
{
	struct ipam_request *next;
	struct err err;

	err_set(&err, -ECANCELED, "rocelet is stopping");
	for (struct ipam_request *o = take_ptr(e->ipam_requests); o; o = next) {
		next = o->next;
		e->ops->ipam_cancel(o->call);
		ipam_request_end(o, &err);
	}
}
