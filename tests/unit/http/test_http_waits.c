// SPDX-License-Identifier: Apache-2.0
/* GET requests that are answered later: limits on their number, and disconnecting clients. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fds.h"
#include "http_fixture.h"
#include "test_group.h"

static const struct http_opts defaults = {0};
static const struct http_opts small = {.max_connections = 8}; /* two of them may wait */
static const struct http_opts tiny = {.max_connections = 2};

struct count {
	struct http_fixture *f;
	unsigned n;
};

static bool has_deferred(void *arg)
{
	struct count *c = arg;

	return c->f->n_deferred == c->n;
}

static void await_deferred(struct http_fixture *f, unsigned n)
{
	struct count c = {f, n};

	assert_true(loop_until(&f->loop, has_deferred, &c, PATIENCE_MS));
}

static void ask(struct http_fixture *f, struct client *c, const char *request)
{
	client_tcp(c, f->port);
	assert_true(c->fd >= 0);
	client_send(c, request, strlen(request));
}

static void assert_answer(struct http_fixture *f, struct client *c, unsigned status,
			  const char *body)
{
	struct answer a;

	http_await(f, c, false, &a);
	assert_int_equal(a.status, status);
	if (body) {
		assert_int_equal(a.body_len, strlen(body));
		assert_memory_equal(a.body, body, a.body_len);
	}
	client_next(c, &a);
}

static void test_a_late_answer(void **state)
{
	struct http_fixture f;
	struct client c;
	struct answer a;

	(void)state;
	http_fixture_start(&f, &defaults);
	ask(&f, &c, GET("/later"));
	await_deferred(&f, 1);
	loop_wakeups(&f.loop, 50);
	client_step(&c);
	assert_false(client_answer(&c, false, &a));
	http_fixture_answer(f.deferred[0], "now");
	assert_answer(&f, &c, 200, "now");
	/* the connection can be used for further requests, and wait again */
	client_send(&c, GET("/text"), strlen(GET("/text")));
	assert_answer(&f, &c, 200, "hello\n");
	client_send(&c, GET("/later"), strlen(GET("/later")));
	await_deferred(&f, 2);
	http_fixture_answer(f.deferred[1], "again");
	assert_answer(&f, &c, 200, "again");
	assert_int_equal(f.self.http_connections, 1);
	client_close(&c);
	http_fixture_stop(&f);
}

static void test_a_head_may_wait_too(void **state)
{
	static const char request[] = "HEAD /later HTTP/1.1\r\nHost: x\r\n\r\n";
	struct http_fixture f;
	struct client c;
	struct answer a;

	(void)state;
	http_fixture_start(&f, &defaults);
	ask(&f, &c, request);
	await_deferred(&f, 1);
	http_fixture_answer(f.deferred[0], "four");
	http_await(&f, &c, true, &a);
	assert_int_equal(a.status, 200);
	client_close(&c);
	http_fixture_stop(&f);
}

/* Waiting requests must leave places for others. */
static void test_the_number_of_waiting_requests_is_limited(void **state)
{
	struct client waiting[2], late, reader;
	struct http_fixture f;

	(void)state;
	http_fixture_start(&f, &small);
	ask(&f, &waiting[0], GET("/later"));
	await_deferred(&f, 1);
	ask(&f, &waiting[1], GET("/later"));
	await_deferred(&f, 2);
	ask(&f, &late, GET("/later"));
	/* the fixture's answer to requests that may not wait */
	assert_answer(&f, &late, 404, NULL);
	ask(&f, &reader, GET("/text"));
	assert_answer(&f, &reader, 200, "hello\n");
	http_fixture_answer(f.deferred[0], "a");
	assert_answer(&f, &waiting[0], 200, "a");
	client_send(&late, GET("/later"), strlen(GET("/later")));
	await_deferred(&f, 3);
	http_fixture_answer(f.deferred[1], "b");
	http_fixture_answer(f.deferred[2], "c");
	assert_answer(&f, &waiting[1], 200, "b");
	assert_answer(&f, &late, 200, "c");
	client_close(&waiting[0]);
	client_close(&waiting[1]);
	client_close(&late);
	client_close(&reader);
	http_fixture_stop(&f);
}

/* Requests that wait over TCP do not use up the places of local clients. */
static void test_unix_sockets_have_their_own_limit_of_waits(void **state)
{
	char dir[] = "/tmp/test_waits.XXXXXX", path[64];
	struct client far[2], near[3];
	struct http_fixture f;
	struct err e;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/sock", dir);
	http_fixture_start(&f, &small);
	assert_int_equal(http_listen_unix(f.http, path, 0600, &e), 0);
	for (unsigned i = 0; i < 2; i++) {
		ask(&f, &far[i], GET("/later"));
		await_deferred(&f, i + 1);
	}
	for (unsigned i = 0; i < 3; i++) {
		client_unix(&near[i], path);
		client_send(&near[i], GET("/later"), strlen(GET("/later")));
		if (i < 2)
			await_deferred(&f, i + 3);
		else
			/* local clients have a limit, too */
			assert_answer(&f, &near[i], 404, NULL);
	}
	for (unsigned i = 0; i < 4; i++)
		http_fixture_answer(f.deferred[i], "a");
	for (unsigned i = 0; i < 2; i++) {
		assert_answer(&f, &near[i], 200, "a");
		assert_answer(&f, &far[i], 200, "a");
		client_close(&near[i]);
		client_close(&far[i]);
	}
	client_close(&near[2]);
	http_fixture_stop(&f);
	assert_int_equal(rmdir(dir), 0);
}

/* Two places: one in use, and one kept for the next client. */
static void test_the_smallest_server_defers_no_request(void **state)
{
	struct http_fixture f;
	struct client c;

	(void)state;
	http_fixture_start(&f, &tiny);
	ask(&f, &c, GET("/later"));
	assert_answer(&f, &c, 404, NULL);
	client_close(&c);
	http_fixture_stop(&f);
}

/* A disconnected client's place is free at once; answering its request later is harmless. */
static void test_disconnected_clients_free_their_places(void **state)
{
	struct http_fixture f;
	struct client c;
	unsigned n_fds;

	(void)state;
	http_fixture_start(&f, &small);
	n_fds = fds_open();
	for (unsigned i = 0; i < 10; i++) {
		ask(&f, &c, GET("/later"));
		await_deferred(&f, i + 1);
		client_close(&c);
	}
	for (unsigned i = 0; i < 10; i++)
		http_fixture_answer(f.deferred[i], "not read by any client");
	http_await_fds(&f, n_fds);
	ask(&f, &c, GET("/text"));
	assert_answer(&f, &c, 200, "hello\n");
	client_close(&c);
	http_fixture_stop(&f);
}

static bool has_closed(void *arg)
{
	struct client *c = arg;

	client_step(c);
	return c->ended;
}

/* An answer given just before closing is still sent; other waiting clients see the end of the
 * connection. */
static void test_closing(void **state)
{
	struct client answered, waiting;
	struct http_fixture f;
	struct answer a;

	(void)state;
	http_fixture_start(&f, &defaults);
	ask(&f, &answered, GET("/later"));
	await_deferred(&f, 1);
	ask(&f, &waiting, GET("/later"));
	await_deferred(&f, 2);
	http_fixture_answer(f.deferred[0], "the last answer");
	http_close(f.http, NULL, NULL);
	assert_true(loop_until(&f.loop, has_closed, &answered, PATIENCE_MS));
	assert_true(client_answer(&answered, false, &a));
	assert_memory_equal(a.body, "the last answer", a.body_len);
	assert_true(loop_until(&f.loop, has_closed, &waiting, PATIENCE_MS));
	assert_false(client_answer(&waiting, false, &a));
	http_fixture_answer(f.deferred[1], "too late");
	assert_int_equal(loop_end(&f.loop), 0);
	client_close(&answered);
	client_close(&waiting);
}

TEST_GROUP(http_waits)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_late_answer),
		cmocka_unit_test(test_a_head_may_wait_too),
		cmocka_unit_test(test_the_number_of_waiting_requests_is_limited),
		cmocka_unit_test(test_unix_sockets_have_their_own_limit_of_waits),
		cmocka_unit_test(test_the_smallest_server_defers_no_request),
		cmocka_unit_test(test_disconnected_clients_free_their_places),
		cmocka_unit_test(test_closing),
	};

	return test_group_run(tests, NULL, NULL);
}
