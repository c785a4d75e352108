/* routes_orders.c - an order on its way: body -> order -> function -> hook -> (later) the answer.
 * What is wrong with it is answered at once, and nothing has been done then. */
#include "routes_orders.h"

#include <jansson.h>
#include <stdlib.h>

#include "api_attachments.h"
#include "cleanup.h"
#include "device_name.h"
#include "inventory.h"
#include "json_text.h"
#include "reply.h"

/* An order that somebody works on. */
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

static void on_order_done(const struct err *e, void *arg)
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

/* *ret: what to give to a hook, NULL = failed, with the sentence in *e. */
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

static int routes_give_order(struct routes *r, enum order_kind kind, const struct order *o,
			     struct pending *p, struct err *e)
{
	const struct order_hooks *h = &r->orders;

	switch (kind) {
	case ORDER_ATTACH:
		return h->attach(p->function, o, on_order_done, p, e, h->arg);
	case ORDER_DETACH:
		return h->detach(p->function, o->force, on_order_done, p, e, h->arg);
	case ORDER_FIX:
	case ORDER_HAND_OVER:
		break;
	}
	return -EINVAL;
}

/* {"error":null,"pod":"rocelet/rocelet-x7k2p"}: answered before it is carried out, since we answer
 * nobody then. */
static int begin_hand_over(struct routes *r, const struct http_request *request,
			   struct http_reply *reply, struct err *e)
{
	const char *pod = "";
	struct order order;
	size_t len = 0;
	int error;

	if (!r->hand_over.begin)
		return err_set(e, -EOPNOTSUPP, "nothing is handed over here");
	error = order_parse(&order, ORDER_HAND_OVER, request->body, request->body_len, e);
	if (error == 0)
		error = r->hand_over.begin(&order.owner, &pod, e, r->hand_over.arg);
	if (error < 0)
		return error;
	reply_document(reply,
		       api_print(json_pack("{sn so}", "error", "pod", json_text(pod)), &len));
	return 0;
}

/* Nothing to wait for. */
static int begin_fix(struct routes *r, struct http_reply *reply)
{
	const struct pending nobody = {.routes = r};

	r->orders.fix(r->orders.arg);
	reply_done(reply, &nobody);
	return 0;
}

static int begin_order(struct routes *r, enum order_kind kind, const struct http_request *request,
		       struct http_reply *reply, struct err *e)
{
	AUTO_FREE struct pending *p = NULL;
	struct order order;
	int error;

	if (kind == ORDER_HAND_OVER)
		return begin_hand_over(r, request, reply, e);
	if (!r->orders.attach)
		return err_set(e, -EOPNOTSUPP, "nothing is attached here: the engine does not run");
	error = order_parse(&order, kind, request->body, request->body_len, e);
	if (error == 0 && kind == ORDER_FIX)
		return begin_fix(r, reply);
	if (error == 0)
		error = pending_new(&p, r, request->deferred, order.device, e);
	if (error == 0)
		error = routes_give_order(r, kind, &order, p, e);
	if (error < 0)
		return error;
	http_keep(request->deferred);
	p = NULL; /* on_done() frees it */
	return 0;
}

void routes_order(struct routes *r, const struct http_request *request, struct http_reply *reply)
{
	static const struct {
		const char *path;
		enum order_kind kind;
	} table[] = {
		{"/api/v1/attach", ORDER_ATTACH},
		{"/api/v1/detach", ORDER_DETACH},
		{"/api/v1/doctor/fix", ORDER_FIX},
		{"/api/v1/hand-over", ORDER_HAND_OVER},
	};
	struct err e = {0};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (strcmp(request->path, table[i].path) == 0 &&
		    begin_order(r, table[i].kind, request, reply, &e) < 0)
			reply_error(reply, &e);
}
