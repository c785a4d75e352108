// SPDX-License-Identifier: Apache-2.0
/* routes_admin.c - admin requests: the body is parsed, the device is looked up, and a hook carries
 * the request out and answers later. An invalid request is answered at once and changes nothing. */
#include "routes_admin.h"

#include <jansson.h>
#include <stdlib.h>

#include "api_attachments.h"
#include "cleanup.h"
#include "device_name.h"
#include "inventory.h"
#include "json_text.h"
#include "reply.h"

/* A request that is being carried out. */
struct pending {
	struct routes *routes;
	struct http_deferred *deferred;
	char function[DEV_ID_SIZE];
};

/* {"error":null,"device":"0000:03:00.2","attachment":...} */
static void reply_done(struct http_reply *reply, const struct pending *p)
{
	const struct routes *r = p->routes;
	const struct attach_status *a = attach_list_function(r->attachments, p->function);
	size_t len = 0;
	char *text = api_print(json_pack("{sn so so}", "error", "device", json_text(p->function),
					 "attachment", api_attachment(a, r->epoch_ms)),
			       &len);

	reply_document(reply, text);
}

static void on_admin_done(const struct err *e, void *arg)
{
	struct pending *p = arg;
	struct http_reply reply = {0};

	if (e && e->code < 0)
		reply_error(&reply, e);
	else
		reply_done(&reply, p);
	http_answer(p->deferred, &reply);
	free(p);
}

/* Looks the device up, and allocates *ret, the argument for a hook. Returns a negative errno, with
 * the message in *e, if it failed. */
static int pending_new(struct pending **ret, struct routes *r, struct http_deferred *deferred,
		       const char *device, struct err *e)
{
	const char *function;
	struct pending *p;

	if (!r->inventory)
		return err_set(e, -EAGAIN, "the host's devices have not been read yet, try again");
	function = device_by_name(&r->inventory->host, r->attachments, device, e);
	if (!function)
		return e->code;
	p = calloc(1, sizeof(*p));
	if (!p)
		return err_set(e, -ENOMEM, "out of memory");
	p->routes = r;
	p->deferred = deferred;
	snprintf(p->function, sizeof(p->function), "%s", function);
	*ret = p;
	return 0;
}

static int routes_admin_submit(struct routes *r, enum admin_request_kind kind,
			       const struct admin_request *o, struct pending *p, struct err *e)
{
	const struct admin_hooks *h = &r->admin;

	switch (kind) {
	case ADMIN_ATTACH:
		return h->attach(p->function, o, on_admin_done, p, e, h->arg);
	case ADMIN_DETACH:
		return h->detach(p->function, o->force, on_admin_done, p, e, h->arg);
	case ADMIN_FIX:
	case ADMIN_HAND_OVER:
		break;
	}
	return -EINVAL;
}

/* Replies {"error":null,"pod":"rocelet/rocelet-x7k2p"} before the hand-over, because the daemon
 * does not answer requests during it. */
static int begin_hand_over(struct routes *r, const struct http_request *request,
			   struct http_reply *reply, struct err *e)
{
	const char *pod = "";
	struct admin_request wanted;
	size_t len = 0;
	int error;

	if (!r->hand_over.begin)
		return err_set(e, -EOPNOTSUPP, "this daemon cannot hand over its node");
	error = admin_request_parse(&wanted, ADMIN_HAND_OVER, request->body, request->body_len, e);
	if (error == 0)
		error = r->hand_over.begin(&wanted.owner, &pod, e, r->hand_over.arg);
	if (error < 0)
		return error;
	reply_document(reply,
		       api_print(json_pack("{sn so}", "error", "pod", json_text(pod)), &len));
	return 0;
}

/* Replies at once: the repairs run in the background, and doctor reports them. */
static int begin_fix(struct routes *r, struct http_reply *reply)
{
	const struct pending no_device = {.routes = r};

	r->admin.fix(r->admin.arg);
	reply_done(reply, &no_device);
	return 0;
}

static int begin_admin_request(struct routes *r, enum admin_request_kind kind,
			       const struct http_request *request, struct http_reply *reply,
			       struct err *e)
{
	AUTO_FREE struct pending *p = NULL;
	struct admin_request wanted;
	int error;

	if (kind == ADMIN_HAND_OVER)
		return begin_hand_over(r, request, reply, e);
	if (!r->admin.attach)
		return err_set(e, -EOPNOTSUPP, "nothing is attached here: the engine does not run");
	error = admin_request_parse(&wanted, kind, request->body, request->body_len, e);
	if (error == 0 && kind == ADMIN_FIX)
		return begin_fix(r, reply);
	if (error == 0)
		error = pending_new(&p, r, request->deferred, wanted.device, e);
	if (error == 0)
		error = routes_admin_submit(r, kind, &wanted, p, e);
	if (error < 0)
		return error;
	http_keep(request->deferred);
	p = NULL; /* on_admin_done() frees it */
	return 0;
}

/* --- requests of CNI plugins ------------------------------------------------------------------ */

static void on_cni_reply(char *text, void *arg)
{
	struct http_reply reply = {0};

	reply_document(&reply, text);
	http_answer(arg, &reply);
}

static bool is_cni_wanted(void *arg)
{
	return !http_client_disconnected(arg);
}

static void routes_cni(struct routes *r, const struct http_request *request,
		       struct http_reply *reply)
{
	const struct cni_hook *h = &r->cni;
	char *text = NULL;

	if (!h->request) {
		reply_error(reply, &(struct err){-EOPNOTSUPP, "nothing is attached here: the "
							      "engine does not run"});
		return;
	}
	if (h->request(request->body, request->body_len, on_cni_reply, is_cni_wanted,
		       request->deferred, &text, h->arg))
		http_keep(request->deferred);
	else
		reply_document(reply, text);
}

void routes_admin(struct routes *r, const struct http_request *request, struct http_reply *reply)
{
	static const struct {
		const char *path;
		enum admin_request_kind kind;
	} table[] = {
		{"/api/v1/attach", ADMIN_ATTACH},
		{"/api/v1/detach", ADMIN_DETACH},
		{"/api/v1/doctor/fix", ADMIN_FIX},
		{"/api/v1/hand-over", ADMIN_HAND_OVER},
	};
	struct err e = {0};

	if (strcmp(request->path, ROUTES_CNI_PATH) == 0)
		routes_cni(r, request, reply);
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (strcmp(request->path, table[i].path) == 0 &&
		    begin_admin_request(r, table[i].kind, request, reply, &e) < 0)
			reply_error(reply, &e);
}
