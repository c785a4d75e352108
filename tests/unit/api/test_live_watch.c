// SPDX-License-Identifier: Apache-2.0
/* Waiting for new samples of a node over HTTP, with the server, the routes, a report, the ring and
 * the watch. */
#include "live_watch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "counters_watch.h"
#include "diagnosis_fixture.h"
#include "diagnosis_report.h"
#include "event_ring.h"
#include "faults.h"
#include "http_client.h"
#include "inventory.h"
#include "loop_helpers.h"
#include "page.h"
#include "report_reader.h"
#include "routes_metrics.h"
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
	struct counters_watch *counters;
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
	assert_int_equal(live_watch_open(&n->watch, &n->loop, routes_live_input, &n->routes, &e),
			 0);
	assert_int_equal(counters_watch_open(&n->counters, &n->loop, &e), 0);
	n->routes.counters_watch = n->counters;
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

/* In the daemon's order: the server closes last. */
static void stop(struct node *n)
{
	n->routes.live_watch = NULL;
	live_watch_close(n->watch);
	counters_watch_close(n->counters);
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

	return c->watch->waiters.n == c->n;
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

static void test_a_new_sample_answers(void **state)
{
	struct node *n = start();
	struct client c, other;

	(void)state;
	judge(n, 1000);
	ask(n, &c, "live?since=999&wait=25"); /* answered at once: sample 1000 exists */
	assert_answer(n, &c, 200, "\"timeMs\":1000", NULL);
	ask(n, &c, "live?since=1000&wait=25");
	await_waiters(n, 1);
	ask(n, &other, "live?since=2000&wait=25"); /* a time from before the machine's last boot */
	assert_answer(n, &other, 200, "\"timeMs\":1000", NULL);
	judge(n, 2000);
	assert_answer(n, &c, 200, "\"cause\":\"packet_loss\"", NULL);
	stop(n);
}

static void test_a_new_event_answers(void **state)
{
	struct node *n = start();
	struct client c;

	(void)state;
	judge(n, 1000);
	happen(n, "earlier");
	ask(n, &c, "live?since=1000&events=1&wait=25");
	await_waiters(n, 1);
	happen(n, "after");
	assert_answer(n, &c, 200, "after", "earlier");
	stop(n);
}

static void test_a_wait_that_times_out(void **state)
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

/* At most 16 requests wait, a quarter of the 64 connections: the next is answered at once with the
 * current sample. */
static void test_too_many_waiting_requests(void **state)
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

static void test_invalid_parameters(void **state)
{
	static const char *const numbers[] = {"live?events=-1", "live?wait=1x"};
	static const char *const moments[] = {"live?since=x",
					      "history?port=mlx5_0/1&since=", "events?since=x",
					      "diagnosis?since=10"};
	struct node *n = start();
	struct client c;

	(void)state;
	judge(n, 1000);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		ask(n, &c, numbers[i]);
		assert_answer(n, &c, 400, "is not a number", NULL);
	}
	for (size_t i = 0; i < sizeof(moments) / sizeof(moments[0]); i++) {
		ask(n, &c, moments[i]);
		assert_answer(n, &c, 400, "since is not an age such as 10m, a time of day", NULL);
	}
	ask(n, &c, "history?port=mlx5_0/1&since=10m");
	assert_answer(n, &c, 200, "\"atMs\":[]", NULL);
	ask(n, &c, "live?since=1970-01-01T00:00:00Z");
	assert_answer(n, &c, 200, "\"timeMs\":1000", NULL);
	ask(n, &c, "history?every=x");
	assert_answer(n, &c, 400, "is not a number", NULL);
	ask(n, &c, "history?every=9");
	assert_answer(n, &c, 400, "every: 10 to 900 seconds", NULL);
	ask(n, &c, "history?signals=nak,speed");
	assert_answer(n, &c, 400, "unknown signal speed", NULL);
	ask(n, &c, "history?signals=nak,timeouts&every=10");
	assert_answer(n, &c, 200, "\"stepMs\":10000", NULL);
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
	const struct live_query q = {0};
	struct live_watch watch = {.waiters.item_size = sizeof(struct live_waiter)};

	(void)state;
	faults_alloc(0);
	assert_int_equal(live_watch_wait(&watch, NULL, &q, 1), -ENOMEM);
	assert_true(faults_end());
}

/* Waiting requests are answered when the daemon stops. */
static void test_stopping(void **state)
{
	struct node *n = start();
	struct client c;
	struct answer a;

	(void)state;
	judge(n, 1000);
	ask(n, &c, "live?since=1000&wait=25");
	await_waiters(n, 1);
	n->routes.diagnosis = NULL; /* the sampler ends first */
	stop(n);
	client_step(&c);
	client_step(&c);
	assert_true(client_answer(&c, false, &a));
	assert_int_equal(a.status, 200);
	client_close(&c);
}

static void hold_reader(struct report_reader *reader, void *held)
{
	*(struct report_reader **)held = reader;
}

static bool is_held(void *held)
{
	return *(struct report_reader **)held;
}

static struct report_reader *ask_for_history(struct node *n, struct client *c,
					     struct report_reader **held, const char *path)
{
	*held = NULL;
	ask(n, c, path);
	assert_true(loop_until(&n->loop, is_held, held, 10000));
	return *held;
}

/* Other requests are answered while a worker renders the history. */
static void a_history_does_not_hold_up_the_loop(void **state)
{
	struct node *n = start();
	struct report_reader *held;
	struct client c, other;
	(void)state;

	n->routes.read_report = hold_reader;
	n->routes.read_report_arg = &held;
	judge(n, 5000);
	for (int i = 0; i < 3; i++) {
		const char *path = i == 2 ? "history?port=eth0/1" : "history?every=10";
		struct report_reader *reader = ask_for_history(n, &c, &held, path);

		ask(n, &other, "history?every=9");
		assert_answer(n, &other, 400, "every: 10 to 900 seconds", NULL);
		reader->read(reader, i == 1 ? NULL : &n->report);
		reader->done(reader);
		if (i == 0)
			assert_answer(n, &c, 200, "\"stepMs\":10000", "\"error\"");
		else if (i == 1)
			assert_answer(n, &c, 503, "the daemon is stopping", NULL);
		else
			assert_answer(n, &c, 404, "no such port is watched", NULL);
	}
	ask_for_history(n, &c, &held, "history");
	client_close(&c);
	held->read(held, &n->report);
	held->done(held);
	stop(n);
}

static void count_wish(void *wishes)
{
	++*(unsigned *)wishes;
}

static bool is_wished(void *wishes)
{
	return *(unsigned *)wishes > 0;
}

static void ask_for_metrics(struct node *n, struct client *c, unsigned *wishes)
{
	static const char request[] = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";

	*wishes = 0;
	client_unix(c, n->path);
	assert_true(c->fd >= 0);
	client_send(c, request, strlen(request));
	client_step(c);
	assert_true(loop_until(&n->loop, is_wished, wishes, 10000));
}

/* The first request after a pause causes a sample, and gets the page of that sample. */
static void metrics_are_rendered_on_request(void **state)
{
	struct node *n = start();
	struct page *page = page_new();
	struct client c, left, late;
	unsigned wishes;
	(void)state;

	n->routes.want_page = count_wish;
	n->routes.want_page_arg = &wishes;
	ask_for_metrics(n, &c, &wishes);
	assert_answer(n, &c, 503, "the first sample has not been taken yet", NULL);
	routes_use_page(&n->routes, NULL);
	ask_for_metrics(n, &left, &wishes);
	client_close(&left);
	ask_for_metrics(n, &c, &wishes);
	assert_int_equal(n->routes.n_page_waiters, 1);
	routes_use_page(&n->routes, NULL);
	assert_int_equal(n->routes.n_page_waiters, 1);
	assert_int_equal(page_begin(page, "x", "gauge", "x"), 0);
	text_addf(&page->text, "x 7\n");
	page_end(page);
	routes_use_page(&n->routes, page);
	assert_answer(n, &c, 200, "x 7\n", NULL);
	ask_for_metrics(n, &c, &wishes);
	assert_answer(n, &c, 200, "x 7\n", NULL);
	routes_use_page(&n->routes, NULL);
	page_unref(page);
	ask_for_metrics(n, &late, &wishes);
	routes_metrics_done(&n->routes);
	assert_answer(n, &late, 503, "the daemon is stopping", NULL);
	stop(n);
}

/* --- counters of a port ----------------------------------------------------------------------- */

static bool counters_wait(void *arg)
{
	return ((const struct node *)arg)->counters->waiters.n > 0;
}

/* Delivers the counters of the requested ports, as the sampler does. */
static void deliver_counters(struct node *n, uint64_t over_ms, bool is_missing)
{
	static const struct family family = {"roce_bytes_total", "RDMA bytes.", METRIC_COUNTER};
	static char labels[] = "direction=\"sent\"";
	struct port_counter row = {.family = &family,
				   .labels = labels,
				   .is_known = true,
				   .value = 9007199254740993, /* not representable as a double */
				   .rate = 1.5};
	struct port_counters_set set = {.n = 1};
	struct port_name names[PORT_COUNTERS_MAX];

	assert_int_equal(counters_watch_ports(n->counters, uv_now(&n->loop), names), 1);
	set.items[0] = (struct port_counters){.name = names[0],
					      .rows = &row,
					      .n = 1,
					      .taken_ms = 4000,
					      .over_ms = over_ms,
					      .is_new = true,
					      .is_missing = is_missing};
	counters_watch_deliver(n->counters, &set);
}

static void test_counters_wait_for_rates(void **state)
{
	struct node *n = start();
	struct client c;

	(void)state;
	judge(n, 1000);
	ask(n, &c, "counters?port=mlx5_0/1");
	assert_true(loop_until(&n->loop, counters_wait, n, PATIENCE_MS));
	deliver_counters(n, 0, false);
	assert_int_equal(n->counters->waiters.n, 1); /* the first sample has no rates */
	deliver_counters(n, 1000, false);
	assert_answer(n, &c, 200,
		      "{\"name\":\"roce_bytes_total{direction=\\\"sent\\\"}\",\"type\":\"counter\","
		      "\"unit\":\"B\",\"ofDevice\":false,\"value\":9007199254740993,\"rate\":1.5,"
		      "\"help\":\"RDMA bytes.\"}",
		      NULL);
	ask(n, &c, "counters?port=mlx5_0/1");
	assert_true(loop_until(&n->loop, counters_wait, n, PATIENCE_MS));
	deliver_counters(n, 0, true);
	assert_answer(n, &c, 404, "no counters are read for this port", NULL);
	stop(n);
}

static void test_counters_of_wrong_ports(void **state)
{
	struct node *n = start();
	struct client c;

	(void)state;
	ask(n, &c, "counters?port=mlx5_0/1");
	assert_answer(n, &c, 503, "no sample has been judged yet", NULL);
	judge(n, 1000);
	ask(n, &c, "counters");
	assert_answer(n, &c, 400, "port is missing", NULL);
	ask(n, &c, "counters?port=mlx5_9/1");
	assert_answer(n, &c, 404, "no such port is watched", NULL);
	n->routes.counters_watch = NULL;
	ask(n, &c, "counters?port=mlx5_0/1");
	assert_answer(n, &c, 503, "too many requests wait for counters", NULL);
	stop(n);
}

/* Ports are read until a while after the last request for them, and only a limited number at
 * once. */
static void test_the_number_of_ports_at_once_is_limited(void **state)
{
	struct node *n = start();
	struct port_name names[PORT_COUNTERS_MAX];
	struct client c;

	(void)state;
	judge(n, 1000);
	for (uint32_t i = 0; i < PORT_COUNTERS_MAX; i++) {
		n->counters->wanted[i] = (struct counters_wanted){
			{"other", i}, uv_now(&n->loop) + COUNTERS_KEEP_MS};
		n->counters->n_wanted++;
	}
	ask(n, &c, "counters?port=mlx5_0/1");
	assert_answer(n, &c, 503, "too many requests wait for counters", NULL);
	assert_int_equal(
		counters_watch_ports(n->counters, uv_now(&n->loop) + COUNTERS_KEEP_MS + 1, names),
		0);
	ask(n, &c, "counters?port=mlx5_0/1");
	assert_true(loop_until(&n->loop, counters_wait, n, PATIENCE_MS));
	counters_watch_close(n->counters);
	assert_answer(n, &c, 503, "the daemon is stopping", NULL);
	n->routes.counters_watch = n->counters = NULL;
	stop(n);
}

TEST_GROUP(live_watch)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_history_does_not_hold_up_the_loop),
		cmocka_unit_test(metrics_are_rendered_on_request),
		cmocka_unit_test(test_before_the_first_sample),
		cmocka_unit_test(test_a_new_sample_answers),
		cmocka_unit_test(test_a_new_event_answers),
		cmocka_unit_test(test_a_wait_that_times_out),
		cmocka_unit_test(test_too_many_waiting_requests),
		cmocka_unit_test(test_invalid_parameters),
		cmocka_unit_test(test_without_memory),
		cmocka_unit_test(test_stopping),
		cmocka_unit_test(test_counters_wait_for_rates),
		cmocka_unit_test(test_counters_of_wrong_ports),
		cmocka_unit_test(test_the_number_of_ports_at_once_is_limited),
	};

	return test_group_run(tests, NULL, NULL);
}
