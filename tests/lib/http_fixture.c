// SPDX-License-Identifier: Apache-2.0
#include "http_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "accept.h"
#include "fds.h"
#include "page.h"

static void reply_heap(struct http_reply *reply, char *body, size_t len)
{
	reply->status = 200;
	reply->content_type = "text/plain; charset=utf-8";
	reply->body = body;
	reply->body_len = len;
}

static void on_request(const struct http_request *request, struct http_reply *reply, void *arg)
{
	struct http_fixture *f = arg;

	f->last = *request;
	f->last.path = f->last.accept = NULL;
	f->asked++;
	if (strcmp(request->path, "/text") == 0)
		reply_heap(reply, strdup("hello\n"), 6);
	if (strcmp(request->path, "/big") == 0)
		reply_heap(reply, calloc(1, BIG_SIZE), BIG_SIZE);
	if (strcmp(request->path, "/echo") == 0 && request->deferred)
		reply_heap(reply, strdup(request->body ? request->body : ""), request->body_len);
	if (strcmp(request->path, "/later") == 0 && (request->deferred || request->later)) {
		assert_true(f->n_deferred < DEFERRED_MAX);
		f->deferred[f->n_deferred] = request->deferred ? request->deferred : request->later;
		http_keep(f->deferred[f->n_deferred++]);
	}
	if (strcmp(request->path, "/fixed") == 0) {
		static const char *const headers[] = {"X-First", "1", "X-Second", "2", NULL};

		*reply = (struct http_reply){
			.status = 200, .fixed = "fixed\n", .body_len = 6, .headers = headers};
	}
	if (strcmp(request->path, "/page") == 0) {
		reply->status = 200;
		reply->page = page_ref(f->page);
		reply->page_format = (int)accept_metrics(request->accept);
		reply->content_type = accept_content_type(accept_metrics(request->accept));
	}
}

void http_fixture_answer(struct http_deferred *deferred, const char *text)
{
	struct http_reply reply = {0};

	reply_heap(&reply, strdup(text), strlen(text));
	http_answer(deferred, &reply);
}

void http_fixture_start(struct http_fixture *f, const struct http_opts *opts)
{
	struct err e = {0};

	memset(f, 0, sizeof(*f));
	assert_int_equal(uv_loop_init(&f->loop), 0);
	if (http_open(&f->http, &f->loop, opts, &f->self, on_request, f, &e) < 0 ||
	    http_listen_tcp(f->http, "127.0.0.1:0", &f->port, &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_not_equal(f->port, 0);
}

static void on_closed(void *arg)
{
	((struct http_fixture *)arg)->closed = true;
}

void http_fixture_stop(struct http_fixture *f)
{
	http_close(f->http, on_closed, f);
	assert_int_equal(loop_end(&f->loop), 0);
	assert_true(f->closed);
	if (f->page)
		assert_int_equal(f->page->refs, 1);
	page_unref(f->page);
}

static bool has_ended(void *arg)
{
	client_step(arg);
	return ((struct client *)arg)->ended;
}

void http_await(struct http_fixture *f, struct client *c, bool to_head, struct answer *ret)
{
	client_await(c, &f->loop, to_head, ret);
}

void http_await_end(struct http_fixture *f, struct client *c)
{
	assert_true(loop_until(&f->loop, has_ended, c, PATIENCE_MS));
}

static bool are_open(void *arg)
{
	return fds_open() == *(unsigned *)arg;
}

void http_await_fds(struct http_fixture *f, unsigned n)
{
	assert_true(loop_until(&f->loop, are_open, &n, PATIENCE_MS));
}

void http_ask(struct http_fixture *f, struct client *c, const char *request, struct answer *ret)
{
	client_tcp(c, f->port);
	assert_true(c->fd >= 0);
	client_send(c, request, strlen(request));
	http_await(f, c, strncmp(request, "HEAD", 4) == 0, ret);
}
