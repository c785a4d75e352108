// SPDX-License-Identifier: Apache-2.0
/* GET /api/v1/qps over the server: its query parameters, and that it waits for the next read of
 * queue pairs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <unistd.h>
#include <uv.h>

#include "http_client.h"
#include "loop_helpers.h"
#include "routes.h"
#include "self_counters.h"
#include "test_group.h"

struct node {
	uv_loop_t loop;
	struct http *http;
	struct self_counters self;
	struct routes routes;
	struct qp_table table;
	char dir[32], path[64];
	int answer; /* returned by the hook */
	unsigned n_asked;
	void (*done)(uint64_t now_ms, void *arg);
	void *done_arg;
};

static void get_sources(struct qp_sources *ret, struct qps_status *ret_status, void *arg)
{
	struct node *n = arg;

	*ret = (struct qp_sources){.table = &n->table};
	*ret_status = (struct qps_status){.read_ms = 1};
}

static int refresh(void (*done)(uint64_t now_ms, void *done_arg), void *done_arg, void *arg)
{
	struct node *n = arg;

	n->n_asked++;
	n->done = done;
	n->done_arg = done_arg;
	return n->answer;
}

static struct node *start(void)
{
	struct node *n = calloc(1, sizeof(*n));
	struct err e;

	strcpy(n->dir, "/tmp/test_qps.XXXXXX");
	assert_non_null(mkdtemp(n->dir));
	snprintf(n->path, sizeof(n->path), "%s/sock", n->dir);
	assert_int_equal(uv_loop_init(&n->loop), 0);
	n->routes.qp_hooks = (struct qp_hooks){get_sources, refresh, n};
	assert_int_equal(http_open(&n->http, &n->loop, &(struct http_opts){0}, &n->self,
				   routes_answer, &n->routes, &e),
			 0);
	assert_int_equal(http_listen_unix(n->http, n->path, 0600, &e), 0);
	return n;
}

static void stop(struct node *n)
{
	http_close(n->http, NULL, NULL);
	assert_int_equal(loop_end(&n->loop), 0);
	assert_int_equal(rmdir(n->dir), 0);
	qp_table_done(&n->table);
	routes_done(&n->routes);
	free(n);
}

static void add(struct node *n, const char *device, uint32_t qpn)
{
	struct bpf_event_qp e = {.qpn = qpn};

	strcpy(e.device, device);
	qp_table_event(&n->table, &e);
}

static void ask(struct node *n, struct client *c, const char *query)
{
	char request[1024];

	snprintf(request, sizeof(request), "GET /api/v1/qps%s HTTP/1.1\r\nHost: x\r\n\r\n", query);
	client_unix(c, n->path);
	client_send(c, request, strlen(request));
	client_step(c);
}

static void assert_answer(struct node *n, struct client *c, unsigned status, const char *has)
{
	struct answer a;

	client_await(c, &n->loop, false, &a);
	if (a.status != status || !strstr(a.body, has))
		fail_msg("%u %s", a.status, a.body);
	client_close(c);
}

static void assert_asked(struct node *n, const char *query, unsigned status, const char *has)
{
	struct client c;

	ask(n, &c, query);
	assert_answer(n, &c, status, has);
}

static void test_query_parameters(void **state)
{
	struct node *n = start();
	char query[512] = "?pod=";

	(void)state;
	add(n, "rxe_a", 17);
	add(n, "rxe_b", 18);
	assert_asked(n, "", 200, "\"total\":2}");
	assert_asked(n, "?limit=1&top=ce", 200, "\"qpn\":17");
	assert_asked(n, "?device=rxe_b", 200, "\"qpn\":18");
	assert_asked(n, "?pod=other", 200, "\"qps\":[],\"total\":0}");
	assert_asked(n, "?limit=999999999999", 200, "\"total\":2}");
	assert_asked(n, "?limit=-1", 400, "limit is not a number");
	assert_asked(n, "?limit=", 400, "limit is not a number");
	assert_asked(n, "?top=speed", 400, "top is not one of ce");
	assert_asked(n, "?top", 400, "top is not one of ce");
	memset(query + 5, 'x', 400);
	assert_asked(n, query, 400, "pod is too long");
	stop(n);
}

static bool has_asked(void *arg)
{
	return ((struct node *)arg)->n_asked > 0;
}

static void test_waiting(void **state)
{
	struct node *n = start();
	struct client c;

	(void)state;
	n->answer = 1;
	ask(n, &c, "?device=rxe_b");
	assert_true(loop_until(&n->loop, has_asked, n, PATIENCE_MS));
	add(n, "rxe_a", 17); /* arrives with that read */
	add(n, "rxe_b", 18);
	n->done(5001, n->done_arg);
	assert_answer(n, &c, 200, "\"ageSeconds\":5");
	stop(n);
}

static void test_without_a_table_the_source_is_null(void **state)
{
	struct node *n = start();

	(void)state;
	n->routes.qp_hooks = (struct qp_hooks){0};
	assert_asked(n, "", 200, "\"source\":null");
	stop(n);
}

TEST_GROUP(routes_qps)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_query_parameters),
		cmocka_unit_test(test_waiting),
		cmocka_unit_test(test_without_a_table_the_source_is_null),
	};

	return test_group_run(tests, NULL, NULL);
}
