// SPDX-License-Identifier: Apache-2.0
#include "routes_metrics.h"

#include <stdlib.h>

#include "accept.h"
#include "array.h"
#include "cleanup.h"
#include "page.h"
#include "reply.h"
#include "routes.h"

static void reply_page(struct page *page, enum metrics_format format, struct http_reply *reply)
{
	reply->status = 200;
	reply->content_type = accept_content_type(format);
	reply->page = page_ref(page);
	reply->page_format = (int)format;
}

/* Answers the requests that wait for a page. page NULL: drops only requests that timed out or lost
 * their client. */
static void answer_page_waiters(struct routes *r, struct page *page)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->n_page_waiters; i++) {
		const struct page_waiter w = r->page_waiters[i];
		bool has_left = http_client_disconnected(w.deferred);
		struct http_reply reply = {0};

		if (!page && !has_left) {
			r->page_waiters[kept++] = w;
			continue;
		}
		if (!has_left)
			reply_page(page, (enum metrics_format)w.format, &reply);
		http_answer(w.deferred, &reply);
	}
	r->n_page_waiters = kept;
	if (kept == 0)
		free(take_ptr(r->page_waiters));
}

/* Defers the reply until a page is rendered. False: out of memory. */
static bool wait_for_page(struct routes *r, struct http_deferred *deferred,
			  enum metrics_format format)
{
	struct page_waiter *w;

	answer_page_waiters(r, NULL);
	w = array_push(r->page_waiters, r->n_page_waiters);
	if (!w)
		return false;
	*w = (struct page_waiter){deferred, (int)format};
	http_keep(deferred);
	return true;
}

void routes_metrics(struct routes *r, const struct http_request *request, struct http_reply *reply)
{
	enum metrics_format format = accept_metrics(request->accept);

	if (r->want_page)
		r->want_page(r->want_page_arg);
	if (r->page)
		reply_page(r->page, format, reply);
	else if (!r->is_sampled)
		reply_string(reply, 503, REPLY_TEXT, "the first sample has not been taken yet\n");
	else if (!request->soon || !r->want_page || !wait_for_page(r, request->soon, format))
		reply_string(reply, 503, REPLY_TEXT, "the page is not rendered yet; retry later\n");
}

void routes_use_page(struct routes *r, struct page *page)
{
	page_unref(r->page);
	r->page = page ? page_ref(page) : NULL;
	r->is_sampled = true;
	if (page)
		answer_page_waiters(r, page);
}

void routes_metrics_done(struct routes *r)
{
	for (size_t i = 0; i < r->n_page_waiters; i++) {
		struct http_reply reply = {0};

		reply_string(&reply, 503, REPLY_TEXT, "the daemon is stopping\n");
		http_answer(r->page_waiters[i].deferred, &reply);
	}
	free(take_ptr(r->page_waiters));
	r->n_page_waiters = 0;
}
