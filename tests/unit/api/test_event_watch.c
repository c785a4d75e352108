// SPDX-License-Identifier: Apache-2.0
/* Waiting for events over HTTP, with the server, the routes, the ring and the watch; and rocectl
 * watch in its own process. */
#include "event_watch.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "ctl.h"
#include "event_ring.h"
#include "faults.h"
#include "http_client.h"
#include "loop_helpers.h"
#include "routes.h"
#include "self_counters.h"
#include "test_group.h"

struct node {
	uv_loop_t loop;
	struct http *http;
	struct self_counters self;
	struct event_ring ring;
	struct event_watch *watch;
	struct routes routes;
	char dir[32], path[64];
};

static struct node *start(void)
{
	struct node *n = calloc(1, sizeof(*n));
	struct err e = {0};

	strcpy(n->dir, "/tmp/test_watch.XXXXXX");
	assert_non_null(mkdtemp(n->dir));
	snprintf(n->path, sizeof(n->path), "%s/sock", n->dir);
	assert_int_equal(uv_loop_init(&n->loop), 0);
	assert_int_equal(event_ring_init(&n->ring), 0);
	assert_int_equal(event_watch_open(&n->watch, &n->loop, &n->ring, &e), 0);
	n->routes.events = &n->ring;
	n->routes.event_watch = n->watch;
	assert_int_equal(http_open(&n->http, &n->loop, &(struct http_opts){0}, &n->self,
				   routes_answer, &n->routes, &e),
			 0);
	assert_int_equal(http_listen_admin(n->http, n->path, 0600, &e), 0);
	return n;
}

/* In the daemon's order: the server closes last. */
static void stop(struct node *n)
{
	n->routes.event_watch = NULL;
	event_watch_close(n->watch);
	http_close(n->http, NULL, NULL);
	assert_int_equal(loop_end(&n->loop), 0);
	assert_int_equal(rmdir(n->dir), 0);
	event_ring_done(&n->ring);
	routes_done(&n->routes);
	free(n);
}

static void happen(struct node *n, const char *pod, const char *message)
{
	struct event e = {.type = EVENT_WARNING, .reason = "QueuePairFailed", .namespace = "train"};

	strcpy(e.pod, pod);
	strcpy(e.device, "0000:03:00.2");
	strcpy(e.message, message);
	e.first_ms = e.last_ms = 1700000000000;
	event_ring_add(&n->ring, &e);
	event_watch_wake(n->watch);
}

static void ask(struct node *n, struct client *c, const char *query)
{
	static char request[1024];

	snprintf(request, sizeof(request), "GET /api/v1/events%s HTTP/1.1\r\nHost: x\r\n\r\n",
		 query);
	client_unix(c, n->path);
	assert_true(c->fd >= 0);
	client_send(c, request, strlen(request));
	client_step(c);
}

static void assert_answer(struct node *n, struct client *c, unsigned status, const char *has,
			  const char *lacks)
{
	struct answer a;

	client_await(c, &n->loop, false, &a);
	if (a.status != status || !strstr(a.body, has) || (lacks && strstr(a.body, lacks)))
		fail_msg("%u %s", a.status, a.body);
	client_close(c);
}

struct count {
	const struct event_watch *watch;
	size_t n;
};

static bool are_waiting(void *arg)
{
	struct count *c = arg;

	return c->watch->waiters.n == c->n;
}

static void await_waiters(struct node *n, size_t how_many)
{
	struct count c = {n->watch, how_many};

	assert_true(loop_until(&n->loop, are_waiting, &c, PATIENCE_MS));
}

static void test_events_since_a_generation(void **state)
{
	struct node *n = start();
	struct client c;

	(void)state;
	ask(n, &c, "");
	assert_answer(n, &c, 200, "{\"generation\":0,\"events\":[]}", NULL);
	happen(n, "a", "one");
	happen(n, "a", "two");
	ask(n, &c, "?after=1&wait=25"); /* answered at once: event 2 exists */
	assert_answer(n, &c, 200, "two", "one");
	happen(n, "a", "one"); /* a repeated event */
	ask(n, &c, "?after=2");
	assert_answer(n, &c, 200, "\"count\":2", "two");
	ask(n, &c, "?after=3");
	assert_answer(n, &c, 200, "{\"generation\":3,\"events\":[]}", NULL);
	/* a generation of the previous daemon */
	ask(n, &c, "?after=100&wait=25");
	assert_answer(n, &c, 200, "two", NULL);
	stop(n);
}

static void test_waiting(void **state)
{
	struct node *n = start();
	struct client c, other;

	(void)state;
	happen(n, "a", "before");
	ask(n, &c, "?after=1&wait=25&pod=a");
	await_waiters(n, 1);
	ask(n, &other, "?after=1&wait=25&pod=train/b");
	await_waiters(n, 2);
	happen(n, "a", "after");
	assert_answer(n, &c, 200, "after", "before");
	await_waiters(n, 1);
	happen(n, "b", "of another pod");
	assert_answer(n, &other, 200, "\"generation\":3", "after");
	stop(n);
}

static bool waits_for_b(void *arg)
{
	const struct event_watch *w = ((struct node *)arg)->watch;

	return w->waiters.n == 1 && ((struct event_waiter *)w->waiters.items)[0].pod;
}

static void test_a_disconnected_client_frees_its_place(void **state)
{
	struct node *n = start();
	struct client c, other;

	(void)state;
	ask(n, &c, "?wait=25");
	await_waiters(n, 1);
	client_close(&c);
	ask(n, &other, "?wait=25&pod=b");
	assert_true(loop_until(&n->loop, waits_for_b, n, PATIENCE_MS));
	happen(n, "b", "here");
	assert_answer(n, &other, 200, "here", NULL);
	stop(n);
}

static void test_long_names(void **state)
{
	struct node *n = start();
	char query[700] = "?wait=25&pod=";
	struct client c;

	(void)state;
	memset(query + strlen(query), 'a', 600);
	ask(n, &c, query);
	assert_answer(n, &c, 400, "at most", NULL);
	stop(n);
}

static void test_a_wait_that_times_out(void **state)
{
	struct node *n = start();
	struct client c;

	(void)state;
	ask(n, &c, "?wait=1");
	await_waiters(n, 1);
	assert_answer(n, &c, 200, "{\"generation\":0,\"events\":[]}", NULL);
	stop(n);
}

static void test_invalid_parameters(void **state)
{
	static const char *const wrong[] = {"?wait=x", "?wait=-1", "?after=", "?after=1x",
					    "?limit=0x1"};
	struct node *n = start();
	struct client c;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		ask(n, &c, wrong[i]);
		assert_answer(n, &c, 400, "is not a number", NULL);
	}
	assert_int_equal(n->watch->waiters.n, 0);
	stop(n);
}

/* The last of the waiting requests filters by pod. */
static bool are_all_waiting(void *arg)
{
	const struct event_watch *w = ((struct node *)arg)->watch;

	return w->waiters.n == 16 && ((struct event_waiter *)w->waiters.items)[15].pod;
}

/* At most 16 requests wait, a quarter of the 64 connections: the next gets 503, until another
 * client disconnects. */
static void test_too_many_waiting_requests(void **state)
{
	struct client clients[16], c;
	struct node *n = start();

	(void)state;
	for (size_t i = 0; i < 16; i++) {
		ask(n, &clients[i], "?wait=25");
		await_waiters(n, i + 1);
	}
	ask(n, &c, "?wait=25");
	assert_answer(n, &c, 503, "too many requests wait", NULL);
	client_close(&clients[3]);
	ask(n, &c, "?wait=25&pod=a");
	assert_true(loop_until(&n->loop, are_all_waiting, n, PATIENCE_MS));
	happen(n, "a", "at last");
	for (size_t i = 0; i < 16; i++)
		if (i != 3)
			assert_answer(n, &clients[i], 200, "at last", NULL);
	assert_answer(n, &c, 200, "at last", NULL);
	stop(n);
}

static void test_without_memory(void **state)
{
	struct event_watch watch = {.waiters.item_size = sizeof(struct event_waiter)};
	const struct event_filter filter = {.pod = "a", .device = "b", .reason = "c"};

	(void)state;
	for (long i = 0; i < 4; i++) {
		faults_alloc(i);
		assert_int_equal(event_watch_wait(&watch, NULL, &filter, 1), -ENOMEM);
		assert_true(faults_end());
	}
	assert_int_equal(watch.waiters.n, 0);
}

/* Waiting requests are answered when the daemon stops. */
static void test_stopping(void **state)
{
	struct node *n = start();
	struct client c;
	struct answer a;

	(void)state;
	ask(n, &c, "?wait=25");
	await_waiters(n, 1);
	stop(n);
	client_step(&c);
	client_step(&c);
	assert_true(client_answer(&c, false, &a));
	assert_int_equal(a.status, 200);
	client_close(&c);
}

/* --- rocectl ---------------------------------------------------------------------------------- */

struct child {
	pid_t pid;
	int out, status;
	char text[4096];
	size_t len, lines;
};

static bool has_lines(void *arg)
{
	struct child *c = arg;
	ssize_t n = read(c->out, c->text + c->len, sizeof(c->text) - 1 - c->len);
	size_t lines = 0;

	c->len += n > 0 ? (size_t)n : 0;
	for (size_t i = 0; i < c->len; i++)
		lines += c->text[i] == '\n';
	return lines >= c->lines;
}

static bool has_exited(void *arg)
{
	struct child *c = arg;

	return waitpid(c->pid, &c->status, WNOHANG) == c->pid;
}

static void watch(struct node *n, struct child *c, const char *option)
{
	char *argv[] = {(char *)"rocectl", (char *)"watch", (char *)"--socket",
			n->path,	   (char *)option,  NULL};
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	*c = (struct child){.out = fds[0], .pid = fork()};
	assert_true(c->pid >= 0);
	if (c->pid == 0) {
		FILE *out = fdopen(fds[1], "w"), *err = fopen("/dev/null", "w");

		_exit((int)ctl_run(option ? 5 : 4, argv, out, err));
	}
	close(fds[1]);
	assert_int_equal(fcntl(c->out, F_SETFL, O_NONBLOCK), 0);
}

static void test_rocectl(const char *option, const char *first, const char *second)
{
	struct node *n = start();
	struct child c;

	happen(n, "a", "before it watched");
	watch(n, &c, option);
	await_waiters(n, 1);
	happen(n, "job-7", "the \x1b[31m first");
	c.lines = 1;
	assert_true(loop_until(&n->loop, has_lines, &c, PATIENCE_MS));
	assert_string_equal(c.text, first);
	await_waiters(n, 1);
	happen(n, "job-7", "the \x1b[31m first");
	c.lines = 2;
	assert_true(loop_until(&n->loop, has_lines, &c, PATIENCE_MS));
	assert_string_equal(c.text + strlen(first), second);
	await_waiters(n, 1);
	stop(n);
	while (!has_exited(&c))
		usleep(1000);
	assert_int_equal(WEXITSTATUS(c.status), CTL_NO_DAEMON);
	close(c.out);
}

static void test_rocectl_watch(void **state)
{
	(void)state;
	test_rocectl(NULL,
		     "2023-11-14T22:13:20.000Z  Warning  QueuePairFailed  train/job-7  "
		     "0000:03:00.2  the ?[31m first\n",
		     "2023-11-14T22:13:20.000Z  Warning  QueuePairFailed  train/job-7  "
		     "0000:03:00.2  the ?[31m first (2 times)\n");
}

static void test_rocectl_watch_json(void **state)
{
#define EVENT                                                                                                                                          \
	"{\"type\":\"Warning\",\"reason\":\"QueuePairFailed\",\"namespace\":\"train\","                                                                \
	"\"pod\":\"job-7\",\"pods\":[{\"namespace\":\"train\",\"name\":\"job-7\"}],\"device\":\"0000:03:00.2\",\"message\":\"the \\u001B[31m first\"," \
	"\"count\":"
#define TIMES ",\"first\":\"2023-11-14T22:13:20.000Z\",\"last\":\"2023-11-14T22:13:20.000Z\"}\n"
	(void)state;
	test_rocectl("--json", EVENT "1" TIMES, EVENT "2" TIMES);
}

TEST_GROUP(event_watch)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events_since_a_generation),
		cmocka_unit_test(test_waiting),
		cmocka_unit_test(test_a_disconnected_client_frees_its_place),
		cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_a_wait_that_times_out),
		cmocka_unit_test(test_invalid_parameters),
		cmocka_unit_test(test_too_many_waiting_requests),
		cmocka_unit_test(test_without_memory),
		cmocka_unit_test(test_stopping),
		cmocka_unit_test(test_rocectl_watch),
		cmocka_unit_test(test_rocectl_watch_json),
	};

	return test_group_run(tests, NULL, NULL);
}
