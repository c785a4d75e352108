// SPDX-License-Identifier: Apache-2.0
/* POST: permissions, bodies, and answers that come later. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "fds.h"
#include "http_fixture.h"
#include "test_group.h"

#define POST(path, body, length)                                                                   \
	"POST " path " HTTP/1.1\r\nHost: x\r\nContent-Length: " length "\r\n\r\n" body

static const struct http_opts defaults = {0};
static const struct http_opts impatient = {.kept_ms = 100};
static const struct http_opts small = {.max_connections = 4, .max_admin = 8};

/* The fixture with a socket for admin requests. */
struct admin_fixture {
	struct http_fixture f;
	char dir[32], path[64];
};

static void start(struct admin_fixture *o, const struct http_opts *opts)
{
	struct err e;

	strcpy(o->dir, "/tmp/test_http_admin.XXXXXX");
	assert_non_null(mkdtemp(o->dir));
	snprintf(o->path, sizeof(o->path), "%s/sock", o->dir);
	http_fixture_start(&o->f, opts);
	assert_int_equal(http_listen_admin(o->f.http, o->path, 0600, &e), 0);
}

static void stop(struct admin_fixture *o)
{
	http_fixture_stop(&o->f);
	assert_int_equal(rmdir(o->dir), 0);
}

static void ask(struct admin_fixture *o, struct client *c, const char *request)
{
	client_unix(c, o->path);
	assert_true(c->fd >= 0);
	client_send(c, request, strlen(request));
}

static void assert_answer(struct admin_fixture *o, struct client *c, unsigned status,
			  const char *body)
{
	struct answer a;

	http_await(&o->f, c, false, &a);
	assert_int_equal(a.status, status);
	if (body) {
		assert_int_equal(a.body_len, strlen(body));
		assert_memory_equal(a.body, body, a.body_len);
	}
	client_next(c, &a);
}

static bool has_deferred(void *arg)
{
	struct admin_fixture *o = arg;

	return o->f.n_deferred > 0;
}

static bool has_two_deferred(void *arg)
{
	struct admin_fixture *o = arg;

	return o->f.n_deferred > 1;
}

static void await(struct admin_fixture *o, bool (*what)(void *))
{
	assert_true(loop_until(&o->f.loop, what, o, PATIENCE_MS));
}

static void test_a_body_reaches_the_handler(void **state)
{
	struct admin_fixture o;
	struct client c;

	(void)state;
	start(&o, &defaults);
	ask(&o, &c, POST("/echo", "{\"a\":1}", "7"));
	assert_answer(&o, &c, 200, "{\"a\":1}");
	client_send(&c, POST("/echo", "", "0"), strlen(POST("/echo", "", "0")));
	assert_answer(&o, &c, 200, "");
	client_send(&c, GET("/text"), strlen(GET("/text")));
	assert_answer(&o, &c, 200, "hello\n");
	client_send(&c, POST("/nowhere", "", "0"), strlen(POST("/nowhere", "", "0")));
	assert_answer(&o, &c, 404, NULL);
	assert_int_equal(o.f.self.http_connections, 1);
	client_close(&c);
	stop(&o);
}

static void test_a_body_in_chunks(void **state)
{
	struct admin_fixture o;
	struct client c;

	(void)state;
	start(&o, &defaults);
	ask(&o, &c,
	    "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
	    "3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n");
	assert_answer(&o, &c, 200, "abcdefg");
	client_close(&c);
	stop(&o);
}

static void test_post_works_on_the_admin_socket_only(void **state)
{
	char other[80];
	struct admin_fixture o;
	struct client c;
	struct err e;

	(void)state;
	start(&o, &defaults);
	client_tcp(&c, o.f.port);
	client_send(&c, POST("/echo", "x", "1"), strlen(POST("/echo", "x", "1")));
	assert_answer(&o, &c, 405, "{\"error\":\"only GET and HEAD are served here\"}");
	client_close(&c);
	snprintf(other, sizeof(other), "%s/other", o.dir);
	assert_int_equal(http_listen_unix(o.f.http, other, 0600, &e), 0);
	client_unix(&c, other);
	client_send(&c, POST("/echo", "x", "1"), strlen(POST("/echo", "x", "1")));
	assert_answer(&o, &c, 405, NULL);
	client_close(&c);
	ask(&o, &c, "DELETE /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
	assert_answer(&o, &c, 405, NULL);
	client_close(&c);
	assert_int_equal(o.f.asked, 0);
	stop(&o);
}

/* Runs as another user; returns 0 if a POST is rejected and a GET answered. */
static int ask_as_other_user(const char *path)
{
	static const char post[] = POST("/echo", "x", "1"), get[] = GET("/text");
	char answer[1024];
	struct client c;
	ssize_t n;

	if (setgid(65534) < 0 || setuid(65534) < 0)
		return 2;
	client_unix(&c, path);
	if (c.fd < 0)
		return 3;
	send(c.fd, post, strlen(post), 0);
	do
		n = recv(c.fd, answer, sizeof(answer), 0);
	while (n < 0);
	if (n < 12 || memcmp(answer, "HTTP/1.1 403", 12) != 0)
		return 4;
	client_close(&c);
	client_unix(&c, path);
	send(c.fd, get, strlen(get), 0);
	do
		n = recv(c.fd, answer, sizeof(answer), 0);
	while (n < 0);
	return n < 12 || memcmp(answer, "HTTP/1.1 200", 12) != 0 ? 5 : 0;
}

struct child {
	pid_t pid;
	int status;
};

static bool has_exited(void *arg)
{
	struct child *child = arg;

	return waitpid(child->pid, &child->status, WNOHANG) == child->pid;
}

/* File permissions alone would let other users in. */
static void test_other_users_may_not_post(void **state)
{
	struct child child;
	struct admin_fixture o;

	(void)state;
	if (geteuid() != 0)
		skip();
	start(&o, &defaults);
	assert_int_equal(chmod(o.dir, 0755), 0);
	assert_int_equal(chmod(o.path, 0666), 0);
	child.pid = fork();
	assert_true(child.pid >= 0);
	if (child.pid == 0)
		_exit(ask_as_other_user(o.path));
	assert_true(loop_until(&o.f.loop, has_exited, &child, PATIENCE_MS));
	assert_true(WIFEXITED(child.status));
	assert_int_equal(WEXITSTATUS(child.status), 0);
	assert_int_equal(o.f.asked, 1);
	stop(&o);
}

static void test_too_large_bodies_are_rejected(void **state)
{
	static const char head[] =
		"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n10001\r\n";
	static const char tail[] = "\r\n0\r\n\r\n";
	const size_t size = 65537;
	char *request = malloc(size + 256), *at = request;
	struct admin_fixture o;
	struct client c;

	(void)state;
	start(&o, &defaults);
	ask(&o, &c, POST("/echo", "", "65537"));
	assert_answer(&o, &c, 413, NULL);
	client_close(&c);
	ask(&o, &c, POST("/echo", "", "99999999999999999999"));
	http_await_end(&o.f, &c);
	client_close(&c);

	at = stpcpy(at, head);
	memset(at, 'x', size);
	memcpy(at + size, tail, sizeof(tail));
	ask(&o, &c, "");
	client_send(&c, request, strlen(head) + size + strlen(tail));
	assert_answer(&o, &c, 413, NULL);
	client_close(&c);
	assert_int_equal(o.f.asked, 0);

	sprintf(request, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 65536\r\n\r\n");
	at = request + strlen(request);
	memset(at, 'x', 65536);
	ask(&o, &c, "");
	client_send(&c, request, (size_t)(at - request) + 65536);
	assert_answer(&o, &c, 200, NULL);
	client_close(&c);
	stop(&o);
	free(request);
}

static void test_a_late_answer(void **state)
{
	struct admin_fixture o;
	struct client c;
	struct answer a;

	(void)state;
	start(&o, &defaults);
	ask(&o, &c, POST("/later", "x", "1"));
	await(&o, has_deferred);
	loop_wakeups(&o.f.loop, 50);
	client_step(&c);
	assert_false(client_answer(&c, false, &a));
	http_fixture_answer(o.f.deferred[0], "done");
	assert_answer(&o, &c, 200, "done");
	client_send(&c, GET("/text"), strlen(GET("/text")));
	assert_answer(&o, &c, 200, "hello\n");
	client_close(&c);
	stop(&o);
}

static void test_concurrent_admin_requests_and_reads(void **state)
{
	struct client first, second, reader;
	struct admin_fixture o;

	(void)state;
	start(&o, &defaults);
	ask(&o, &first, POST("/later", "1", "1"));
	await(&o, has_deferred);
	ask(&o, &second, POST("/later", "2", "1"));
	await(&o, has_two_deferred);
	ask(&o, &reader, GET("/text"));
	assert_answer(&o, &reader, 200, "hello\n");
	http_fixture_answer(o.f.deferred[1], "second");
	assert_answer(&o, &second, 200, "second");
	http_fixture_answer(o.f.deferred[0], "first");
	assert_answer(&o, &first, 200, "first");
	client_close(&first);
	client_close(&second);
	client_close(&reader);
	stop(&o);
}

/* More than there are places for readers: one request for each device of a large node. */
#define MANY DEFERRED_MAX

static bool has_many_deferred(void *arg)
{
	struct admin_fixture *o = arg;

	return o->f.n_deferred == MANY;
}

static void test_a_request_for_each_device_at_once(void **state)
{
	static struct client c[MANY];
	struct client reader;
	struct admin_fixture o;
	struct rlimit fds;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &fds), 0);
	fds.rlim_cur = fds.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &fds), 0);
	start(&o, &defaults);
	for (int i = 0; i < MANY; i++) {
		ask(&o, &c[i], POST("/later", "", "0"));
		uv_run(&o.f.loop, UV_RUN_NOWAIT); /* the backlog is short */
	}
	await(&o, has_many_deferred);
	client_tcp(&reader, o.f.port);
	client_send(&reader, GET("/text"), strlen(GET("/text")));
	assert_answer(&o, &reader, 200, "hello\n");
	client_close(&reader);
	for (int i = 0; i < MANY; i++)
		http_fixture_answer(o.f.deferred[i], "done");
	for (int i = 0; i < MANY; i++) {
		assert_answer(&o, &c[i], 200, "done");
		client_close(&c[i]);
	}
	assert_int_equal(o.f.self.http_evictions, 0);
	stop(&o);
}

/* A quarter of the places is kept for admin requests that do not wait. */
#define FEW 6

static bool has_a_few_deferred(void *arg)
{
	struct admin_fixture *o = arg;

	return o->f.n_deferred == FEW;
}

static void test_too_many_admin_requests(void **state)
{
	struct client c[FEW], refused, reader;
	struct admin_fixture o;

	(void)state;
	start(&o, &small);
	for (int i = 0; i < FEW; i++)
		ask(&o, &c[i], POST("/later", "", "0"));
	await(&o, has_a_few_deferred);
	ask(&o, &refused, POST("/later", "", "0"));
	assert_answer(&o, &refused, 503, NULL);
	client_close(&refused);
	for (int i = 0; i < 5; i++) {
		ask(&o, &reader, GET("/text"));
		assert_answer(&o, &reader, 200, "hello\n");
		client_close(&reader);
	}
	for (int i = 0; i < FEW; i++) {
		http_fixture_answer(o.f.deferred[i], "a");
		assert_answer(&o, &c[i], 200, "a");
		client_close(&c[i]);
	}
	stop(&o);
}

static void test_a_client_that_disconnects(void **state)
{
	struct admin_fixture o;
	struct client c;
	unsigned n_fds;

	(void)state;
	start(&o, &defaults);
	n_fds = fds_open();
	ask(&o, &c, POST("/later", "x", "1"));
	await(&o, has_deferred);
	client_close(&c);
	loop_wakeups(&o.f.loop, 20);
	http_fixture_answer(o.f.deferred[0], "not read by any client");
	http_await_fds(&o.f, n_fds);
	ask(&o, &c, GET("/text"));
	assert_answer(&o, &c, 200, "hello\n");
	client_close(&c);
	stop(&o);
}

static void test_a_request_that_waits_too_long_times_out(void **state)
{
	struct admin_fixture o;
	struct client c;

	(void)state;
	start(&o, &impatient);
	ask(&o, &c, POST("/later", "x", "1"));
	await(&o, has_deferred);
	assert_answer(&o, &c, 504, NULL);
	client_send(&c, GET("/text"), strlen(GET("/text")));
	assert_answer(&o, &c, 200, "hello\n");
	http_fixture_answer(o.f.deferred[0], "too late");
	client_close(&c);

	/* disconnected before the deadline, answered after it */
	ask(&o, &c, POST("/later", "x", "1"));
	await(&o, has_two_deferred);
	client_close(&c);
	loop_wakeups(&o.f.loop, 200);
	http_fixture_answer(o.f.deferred[1], "too late");
	stop(&o);
}

/* The engine finishes its work after the server was closed; the answers are dropped. */
static void test_closing_during_an_admin_request(void **state)
{
	struct client c, gone;
	struct admin_fixture o;

	(void)state;
	start(&o, &defaults);
	ask(&o, &c, POST("/later", "x", "1"));
	await(&o, has_deferred);
	ask(&o, &gone, POST("/later", "x", "1"));
	await(&o, has_two_deferred);
	client_close(&gone);
	stop(&o);
	http_fixture_answer(o.f.deferred[0], "too late");
	http_fixture_answer(o.f.deferred[1], "too late");
	client_close(&c);
}

static void test_a_waiting_request_causes_no_wakeups(void **state)
{
	struct admin_fixture o;
	struct client c;

	(void)state;
	start(&o, &defaults);
	ask(&o, &c, POST("/later", "x", "1"));
	await(&o, has_deferred);
	assert_true(loop_sleeps(&o.f.loop, 100, 2));
	http_fixture_answer(o.f.deferred[0], "x");
	assert_answer(&o, &c, 200, "x");
	client_close(&c);
	stop(&o);
}

TEST_GROUP(http_admin)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_body_reaches_the_handler),
		cmocka_unit_test(test_a_body_in_chunks),
		cmocka_unit_test(test_post_works_on_the_admin_socket_only),
		cmocka_unit_test(test_other_users_may_not_post),
		cmocka_unit_test(test_too_large_bodies_are_rejected),
		cmocka_unit_test(test_a_late_answer),
		cmocka_unit_test(test_concurrent_admin_requests_and_reads),
		cmocka_unit_test(test_a_request_for_each_device_at_once),
		cmocka_unit_test(test_too_many_admin_requests),
		cmocka_unit_test(test_a_client_that_disconnects),
		cmocka_unit_test(test_a_request_that_waits_too_long_times_out),
		cmocka_unit_test(test_closing_during_an_admin_request),
		cmocka_unit_test(test_a_waiting_request_causes_no_wakeups),
	};

	return test_group_run(tests, NULL, NULL);
}
