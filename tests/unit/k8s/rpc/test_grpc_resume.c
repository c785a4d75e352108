// SPDX-License-Identifier: Apache-2.0
/* A server's connection is exported and resumed by another server; the client notices nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cleanup.h"
#include "grpc_pair.h"
#include "test_group.h"

/* Calls: /t.T/List is answered with lists, /t.T/Wait later, /t.T/Echo with the request. */
struct lists {
	struct grpc_call *list, *wait;
	size_t first; /* bytes of the first list */
	char waits_for[64];
	bool keeps;
};

static uint8_t bytes[300000];

static void on_request(struct grpc_call *call, const char *path, const uint8_t *message, size_t len,
		       void *arg)
{
	struct lists *l = arg;

	if (strcmp(path, "/t.T/Echo") == 0) {
		grpc_send(call, message, len);
		grpc_finish(call, GRPC_OK, NULL);
		return;
	}
	if (l->keeps)
		grpc_keep_request(call);
	if (strcmp(path, "/t.T/List") == 0) {
		l->list = call;
		grpc_send(call, bytes, l->first);
	} else {
		l->wait = call;
		snprintf(l->waits_for, sizeof(l->waits_for), "%.*s", (int)len,
			 (const char *)message);
	}
}

static void new_server(struct grpc_conn **ret, struct lists *l)
{
	const struct grpc_service service = {.request = on_request, .arg = l};

	assert_int_equal(grpc_server_new(ret, NULL, &service, 0), 0);
}

static void start(struct pair *p, struct lists *l)
{
	pair_open(p, NULL, NULL);
	grpc_conn_free(p->server);
	new_server(&p->server, l);
}

/* The second server takes over in the middle of the connection. */
static void change_servers(struct pair *p, struct lists *next)
{
	struct grpc_conn *server;
	struct grpc_kept kept;

	assert_int_equal(grpc_export(p->server, 0, &kept), 0);
	new_server(&server, next);
	assert_int_equal(grpc_resume(server, &kept, 0), 0);
	free(kept.requests);
	grpc_conn_free(p->server);
	p->server = server;
	pair_pump(p);
	assert_int_equal(p->client_r, 0);
	assert_int_equal(p->server_r, 0);
}

static void echoes(struct pair *p)
{
	struct asked a = {0};

	pair_ask(p, &a, "/t.T/Echo", "abc", 3, 0);
	pair_pump(p);
	assert_int_equal(a.n_ends, 1);
	assert_int_equal(a.status, GRPC_OK);
	assert_int_equal(a.n_bytes, 3);
}

/* Lists of all sizes: the successor knows the client's remaining windows, so it neither stalls nor
 * sends more than the client accepts. */
static void lists_continue(void **state)
{
	static const size_t sizes[] = {0, 10, 5000, 16384, 40000, 65000, 200000};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct lists l[3] = {{.keeps = true, .first = sizes[i]},
				     {.keeps = true, .first = sizes[ARRAY_SIZE(sizes) - 1 - i]},
				     {.keeps = true, .first = 7}};
		struct asked a = {0};
		struct pair p;
		size_t n;

		start(&p, &l[0]);
		pair_ask(&p, &a, "/t.T/List", "", 0, 0);
		pair_pump(&p);
		echoes(&p);
		change_servers(&p, &l[1]);
		n = l[0].first + l[1].first;
		assert_int_equal(a.n_messages, 2);
		assert_int_equal(a.n_bytes, n);
		echoes(&p);
		for (int j = 1; j <= 20; j++) {
			grpc_send(l[1].list, bytes, 30000);
			pair_pump(&p);
			assert_int_equal(a.n_messages, 2 + j);
		}
		change_servers(&p, &l[2]);
		assert_int_equal(a.n_messages, 23);
		echoes(&p);
		assert_int_equal(a.n_ends, 0);
		grpc_finish(l[2].list, GRPC_OK, NULL);
		pair_pump(&p);
		assert_int_equal(a.n_ends, 1);
		pair_close(&p);
	}
}

static void open_requests_are_repeated(void **state)
{
	struct lists l[2] = {{.keeps = true, .first = 5}, {.keeps = true, .first = 5}};
	struct asked a = {0}, b = {0};
	struct pair p;

	(void)state;
	start(&p, &l[0]);
	pair_ask(&p, &a, "/t.T/List", "", 0, 0);
	pair_pump(&p);
	pair_ask(&p, &b, "/t.T/Wait", "for me", 6, 5000);
	pair_pump(&p);
	change_servers(&p, &l[1]);
	assert_string_equal(l[1].waits_for, "for me");
	grpc_send(l[1].wait, (const uint8_t *)"yes", 3);
	grpc_finish(l[1].wait, GRPC_OK, NULL);
	pair_pump(&p);
	assert_int_equal(b.status, GRPC_OK);
	assert_int_equal(b.n_bytes, 3);
	assert_int_equal(a.n_messages, 2);
	pair_close(&p);
}

/* -ENOENT: nothing to resume, the connection can just close; -EBUSY: the client would notice. */
static void connections_that_cannot_be_exported(void **state)
{
	struct lists l = {.keeps = true, .first = 5}, forgets = {.first = 5};
	struct asked a = {0}, b = {0};
	struct grpc_kept kept;
	struct pair p;

	(void)state;
	start(&p, &l);
	assert_int_equal(grpc_export(p.server, 0, &kept), -EBUSY); /* before the handshake */
	echoes(&p);
	assert_int_equal(grpc_export(p.server, 0, &kept), -ENOENT);
	pair_ask(&p, &a, "/t.T/List", "", 0, 0);
	pair_ask(&p, &b, "/t.T/List", "", 0, 0);
	pair_pump(&p);
	assert_int_equal(grpc_export(p.server, 0, &kept), -EBUSY);
	pair_close(&p);

	start(&p, &forgets);
	pair_ask(&p, &a, "/t.T/List", "", 0, 0);
	pair_pump(&p);
	assert_int_equal(grpc_export(p.server, 0, &kept), -EBUSY);
	pair_close(&p);
}

/* The successor does not know the method or has no list. */
static void a_service_that_does_not_resume(void **state)
{
	struct lists l[2] = {{.keeps = true, .first = 5}, {0}};
	struct asked a = {0};
	struct grpc_kept kept;
	struct grpc_conn *server;
	struct pair p;
	char *path;

	(void)state;
	start(&p, &l[0]);
	pair_ask(&p, &a, "/t.T/List", "", 0, 0);
	pair_pump(&p);
	assert_int_equal(grpc_export(p.server, 0, &kept), 0);
	path = memmem(kept.requests, kept.len, "List", 4);
	assert_non_null(path);
	memcpy(path, "Echo", 4);
	new_server(&server, &l[1]);
	assert_int_equal(grpc_resume(server, &kept, 0), -EPROTO);
	grpc_conn_free(server);
	memcpy(path, "Wait", 4);
	new_server(&server, &l[1]);
	assert_int_equal(grpc_resume(server, &kept, 0), -EPROTO);
	grpc_conn_free(server);
	free(kept.requests);
	pair_close(&p);
}

TEST_GROUP(grpc_resume)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_continue),
		cmocka_unit_test(open_requests_are_repeated),
		cmocka_unit_test(connections_that_cannot_be_exported),
		cmocka_unit_test(a_service_that_does_not_resume),
	};

	return test_group_run(tests, NULL, NULL);
}
