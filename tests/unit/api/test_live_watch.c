/* Following a node over HTTP: the server, the routes, a report, the ring and the watch together. */
#include "live_watch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "diagnosis_fixture.h"
#include "diagnosis_report.h"
#include "event_ring.h"
#include "faults.h"
#include "http_client.h"
#include "inventory.h"
#include "loop_helpers.h"
#include "routes_ports.h"
#include "self_counters.h"
#include "test_group.h"

struct node {
	uv_loop_t loop;
	struct http *http;
	struct self_counters self;
	struct event_ring ring;
	struct inventory inventory;
	struct diagnosis_report report;
	struct live_watch *watch;
	struct routes routes;
	char dir[32], path[64];
};

static struct node *start(void)
{
	struct node *n = calloc(1, sizeof(*n));
	struct err e = {0};

	strcpy(n->dir, "/tmp/test_live.XXXXXX");
	assert_non_null(mkdtemp(n->dir));
	snprintf(n->path, sizeof(n->path), "%s/sock", n->dir);
	assert_int_equal(uv_loop_init(&n->loop), 0);
	assert_int_equal(event_ring_init(&n->ring), 0);
	assert_int_equal(live_watch_open(&n->watch, &n->loop, routes_live_look, &n->routes, &e), 0);
	n->routes.events = &n->ring;
	n->routes.live_watch = n->watch;
	n->routes.inventory = &n->inventory;
	n->inventory.generation = 3;
	assert_int_equal(http_open(&n->http, &n->loop, &(struct http_opts){0}, &n->self,
				   routes_answer, &n->routes, &e),
			 0);
	assert_int_equal(http_listen_unix(n->http, n->path, 0600, &e), 0);
	return n;
}

/* As the daemon does it: who serves goes last. */
static void stop(struct node *n)
{
	n->routes.live_watch = NULL;
	live_watch_close(n->watch);
	http_close(n->http, NULL, NULL);
	assert_int_equal(loop_end(&n->loop), 0);
	assert_int_equal(rmdir(n->dir), 0);
	event_ring_done(&n->ring);
	diagnosis_report_done(&n->report);
	routes_done(&n->routes);
	free(n);
}

static void judge(struct node *n, uint64_t now_ms)
{
	diagnosis_report_done(&n->report);
	diagnosis_report_small(&n->report);
	n->report.now_ms = now_ms;
	n->routes.diagnosis = &n->report;
	live_watch_sample(n->watch);
}

static void happen(struct node *n, const char *message)
{
	struct event e = {.reason = "LinkDown", .first_ms = 1000, .last_ms = 1000};

	strcpy(e.message, message);
	event_ring_add(&n->ring, &e);
	live_watch_event(n->watch);
}

static void ask(struct node *n, struct client *c, const char *path)
{
	static char request[1024];

	snprintf(request, sizeof(request), "GET /api/v1/%s HTTP/1.1\r\nHost: x\r\n\r\n", path);
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
	const struct live_watch *watch;
	size_t n;
};

static bool are_waiting(void *arg)
{
	struct count *c = arg;

	return c->watch->n == c->n;
}

static void await_waiters(struct node *n, size_t how_many)
{
	struct count c = {n->watch, how_many};

	assert_true(loop_until(&n->loop, are_waiting, &c, PATIENCE_MS));
}

static void test_before_the_first_sample(void **state)
{
	struct node *n = start();
	struct client c;

	(void)state;
	ask(n, &c, "live");
	assert_answer(n, &c, 200, "\"timeMs\":null", NULL);
	ask(n, &c, "ports");
	assert_answer(n, &c, 503, "no sample has been judged yet", NULL);
	ask(n, &c, "history?port=mlx5_0/1");
	assert_answer(n, &c, 503, "no sample has been judged yet", NULL);
	ask(n, &c, "live?wait=25");
	await_waiters(n, 1);
	judge(n, 1000);
	assert_answer(n, &c, 200, "\"timeMs\":1000", NULL);
	stop(n);
}

static void test_a_sample_is_told(void **state)
{
	struct node *n = start();
	struct client c, other;

	(void)state;
	judge(n, 1000);
	ask(n, &c, "live?since=999&wait=25"); /* there is one already */
	assert_answer(n, &c, 200, "\"timeMs\":1000", NULL);
	ask(n, &c, "live?since=1000&wait=25");
	await_waiters(n, 1);
	ask(n, &other, "live?since=2000&wait=25"); /* as another start of the machine counted */
	assert_answer(n, &other, 200, "\"timeMs\":1000", NULL);
	judge(n, 2000);
	assert_answer(n, &c, 200, "\"cause\":\"packet_loss\"", NULL);
	stop(n);
}

static void test_an_event_is_told(void **state)
{
	struct node *n = start();
	struct client c;

	(void)state;
	judge(n, 1000);
	happen(n, "before");
	ask(n, &c, "live?since=1000&events=1&wait=25");
	await_waiters(n, 1);
	happen(n, "after");
	assert_answer(n, &c, 200, "after", "before");
	stop(n);
}

static void test_in_vain(void **state)
{
	struct node *n = start();
	struct client c;

	(void)state;
	judge(n, 1000);
	ask(n, &c, "live?since=1000&wait=1");
	await_waiters(n, 1);
	assert_answer(n, &c, 200, "\"rows\":[]", NULL);
	stop(n);
}

/* Sixteen of 64 places; the next gets what there is, and can ask again after a while. */
static void test_too_many_wait(void **state)
{
	struct client clients[16], c;
	struct node *n = start();

	(void)state;
	judge(n, 1000);
	for (size_t i = 0; i < 16; i++) {
		ask(n, &clients[i], "live?since=1000&wait=25");
		await_waiters(n, i + 1);
	}
	ask(n, &c, "live?since=1000&wait=25");
	assert_answer(n, &c, 200, "\"timeMs\":1000", NULL);
	client_close(&clients[3]);
	judge(n, 2000);
	for (size_t i = 0; i < 16; i++)
		if (i != 3)
			assert_answer(n, &clients[i], 200, "\"timeMs\":2000", NULL);
	await_waiters(n, 0);
	stop(n);
}

static void test_wrong_questions(void **state)
{
	static const char *const numbers[] = {"live?since=x", "live?events=-1", "live?wait=1x",
					      "history?port=mlx5_0/1&since="};
	struct node *n = start();
	struct client c;

	(void)state;
	judge(n, 1000);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		ask(n, &c, numbers[i]);
		assert_answer(n, &c, 400, "is not a number", NULL);
	}
	ask(n, &c, "history");
	assert_answer(n, &c, 400, "port is missing", NULL);
	ask(n, &c, "history?port=eth0/1");
	assert_answer(n, &c, 404, "no such port", NULL);
	ask(n, &c, "history?port=mlx5_1/1");
	assert_answer(n, &c, 200, "\"atMs\":[]", NULL);
	ask(n, &c, "ports");
	assert_answer(n, &c, 200, "\"device\":\"mlx5_1\"", NULL);
	stop(n);
}

static void test_without_memory(void **state)
{
	const struct live_question q = {0};
	struct live_watch watch = {.n = 0};

	(void)state;
	faults_alloc(0);
	assert_int_equal(live_watch_wait(&watch, NULL, &q, 1), -ENOMEM);
	assert_true(faults_end());
}

/* The end of the daemon is an answer. */
static void test_stopping(void **state)
{
	struct node *n = start();
	struct client c;
	struct answer a;

	(void)state;
	judge(n, 1000);
	ask(n, &c, "live?since=1000&wait=25");
	await_waiters(n, 1);
	n->routes.diagnosis = NULL; /* the sampler has ended before */
	stop(n);
	client_step(&c);
	client_step(&c);
	assert_true(client_answer(&c, false, &a));
	assert_int_equal(a.status, 200);
	client_close(&c);
}

TEST_GROUP(live_watch)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_before_the_first_sample),
		cmocka_unit_test(test_a_sample_is_told),
		cmocka_unit_test(test_an_event_is_told),
		cmocka_unit_test(test_in_vain),
		cmocka_unit_test(test_too_many_wait),
		cmocka_unit_test(test_wrong_questions),
		cmocka_unit_test(test_without_memory),
		cmocka_unit_test(test_stopping),
	};

	return test_group_run(tests, NULL, NULL);
}
