// SPDX-License-Identifier: Apache-2.0
/* routes_qps.c - parses the query, refreshes the table if needed, then replies. */
#include "routes_qps.h"

#include <stdlib.h>
#include <string.h>

#include "device_name.h"
#include "inventory.h"
#include "reply.h"

/* A request with copies of its parameters, because the reply may be deferred. */
struct qps_request {
	struct routes *routes;
	struct http_deferred *deferred;
	struct qp_query query;
	char device[128], function[DEV_ID_SIZE], pod[384];
	uint64_t now_ms;
};

static int routes_take_word(const struct http_request *request, const char *name, char *ret,
			    size_t size, const char **ret_word, struct err *e)
{
	const char *word = http_param(request, name);

	if (!word)
		return 0;
	if (strlen(word) >= size)
		return err_set(e, -EINVAL, "%s is too long for a name", name);
	strcpy(ret, word);
	*ret_word = ret;
	return 0;
}

static int take_limit(const struct http_request *request, size_t *ret, struct err *e)
{
	const char *text = http_param(request, "limit");
	char *end = NULL;
	unsigned long n = text ? strtoul(text, &end, 10) : API_QPS_DEFAULT;

	if (text && (text[0] < '0' || text[0] > '9' || *end != '\0'))
		return err_set(e, -EINVAL, "limit is not a number");
	*ret = n < API_QPS_MAX ? n : API_QPS_MAX;
	return 0;
}

static int take_top(const struct http_request *request, enum qp_top *ret, struct err *e)
{
	const char *text = http_param(request, "top");

	if (text && !qp_top_parse(text, ret))
		return err_set(e, -EINVAL, "top is ce, cnp, naks, retransmissions, rtt or packets");
	return 0;
}

/* Finds the function of the device. A name without a function may be a device or netdev in a
 * pod. */
static void routes_find_function(struct qps_request *a)
{
	const struct routes *r = a->routes;
	const char *function = NULL;

	if (a->query.device && r->inventory)
		function = device_by_name(&r->inventory->host, r->attachments, a->device, NULL);
	if (!function)
		return;
	snprintf(a->function, sizeof(a->function), "%s", function);
	a->query.function = a->function;
}

static int take_query(struct qps_request *a, const struct http_request *request, struct err *e)
{
	struct qp_query *q = &a->query;
	int r = routes_take_word(request, "device", a->device, sizeof(a->device), &q->device, e);

	if (r == 0)
		r = routes_take_word(request, "pod", a->pod, sizeof(a->pod), &q->pod, e);
	if (r == 0)
		r = take_limit(request, &q->limit, e);
	if (r == 0)
		r = take_top(request, &q->top, e);
	if (r == 0)
		routes_find_function(a);
	return r;
}

static void reply_qps(const struct qps_request *a, struct http_reply *reply)
{
	const struct routes *r = a->routes;
	struct api_qps_input input = {.epoch_ms = r->epoch_ms, .now_ms = a->now_ms};
	size_t len = 0;

	if (r->qp_hooks.fill)
		r->qp_hooks.fill(&input.sources, &input.status, r->qp_hooks.arg);
	input.sources.host = r->inventory ? &r->inventory->host : NULL;
	reply_document(reply, api_qps(&input, &a->query, &len));
}

static void on_fresh(uint64_t now_ms, void *arg)
{
	struct qps_request *a = arg;
	struct http_reply reply = {0};

	a->now_ms = now_ms;
	if (!http_client_disconnected(a->deferred))
		reply_qps(a, &reply);
	http_answer(a->deferred, &reply);
	free(a);
}

/* Defers the reply until the table is fresh; false: reply now with the current table. */
static bool wait_for_flows(struct qps_request *a, struct http_deferred *later)
{
	const struct qp_hooks *h = &a->routes->qp_hooks;

	if (!later || !h->refresh)
		return false;
	a->deferred = later;
	if (h->refresh(on_fresh, a, h->arg) <= 0)
		return false;
	http_keep(later);
	return true;
}

void routes_qps(struct routes *r, const struct http_request *request, struct http_reply *reply)
{
	struct qps_request *a = calloc(1, sizeof(*a));
	struct err e = {0};

	if (!a) {
		reply_document(reply, NULL);
		return;
	}
	a->routes = r;
	a->now_ms = request->now_ms;
	if (take_query(a, request, &e) < 0)
		reply_error(reply, &e);
	else if (wait_for_flows(a, request->later))
		return; /* on_fresh() frees a */
	else
		reply_qps(a, reply);
	free(a);
}
