// SPDX-License-Identifier: Apache-2.0
/* A gRPC server and client, connected by a loop that copies bytes. To simulate a watcher that does
 * not read, its bytes are not copied. */
#include "list_watch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "deviceplugin.pb-c.h"
#include "grpc.h"
#include "test_group.h"

#define N_BIG 20000

struct fixture {
	struct list_watch lists;
	struct grpc_conn *server, *client;
	struct grpc_call *watch;
	unsigned got;
	size_t n_devices, n_healthy;
	bool ended;
	struct plugin_device *big;
};

static void on_request(struct grpc_call *call, const char *path, const uint8_t *message, size_t len,
		       void *arg)
{
	struct fixture *f = arg;

	(void)path, (void)message, (void)len;
	assert_int_equal(list_watch_add(&f->lists, call), 0);
}

static void on_cancel(struct grpc_call *call, void *arg)
{
	struct fixture *f = arg;

	assert_true(list_watch_remove(&f->lists, call));
	assert_false(list_watch_remove(&f->lists, call));
}

static void on_message(struct grpc_call *call, const uint8_t *message, size_t len, void *arg)
{
	V1beta1__ListAndWatchResponse *list = v1beta1__list_and_watch_response__unpack(NULL, len,
										       message);
	struct fixture *f = arg;

	(void)call;
	assert_non_null(list);
	f->got++;
	f->n_devices = list->n_devices;
	f->n_healthy = 0;
	for (size_t i = 0; i < list->n_devices; i++)
		f->n_healthy += strcmp(list->devices[i]->health, "Healthy") == 0;
	v1beta1__list_and_watch_response__free_unpacked(list, NULL);
}

static void on_end(struct grpc_call *call, enum grpc_status status, const char *text, void *arg)
{
	(void)call, (void)status, (void)text;
	((struct fixture *)arg)->ended = true;
}

/* Copies all pending bytes from one to the other; returns false if there were none. */
static bool carry(struct grpc_conn *from, struct grpc_conn *to)
{
	const uint8_t *bytes;
	bool some = false;
	struct err e = {0};
	ssize_t n;

	while ((n = grpc_take(from, &bytes)) > 0) {
		assert_true(grpc_feed(to, bytes, (size_t)n, 0, &e) >= 0);
		some = true;
	}
	assert_int_equal(n, 0);
	return some;
}

static void carry_all(struct fixture *f)
{
	bool there, back;

	do {
		there = carry(f->client, f->server);
		back = carry(f->server, f->client);
	} while (there || back);
}

static void open_watch(struct fixture *f)
{
	struct grpc_reply reply = {.message = on_message, .end = on_end, .arg = f};

	f->watch = grpc_start(f->client, "/v1beta1.DevicePlugin/ListAndWatch", (const uint8_t *)"",
			      0, 0, &reply, 0);
	assert_non_null(f->watch);
}

static void start(struct fixture *f)
{
	struct grpc_service service = {.request = on_request, .cancel = on_cancel, .arg = f};
	size_t i;

	*f = (struct fixture){.got = 0};
	assert_int_equal(list_watch_init(&f->lists), 0);
	assert_int_equal(grpc_server_new(&f->server, NULL, &service, 0), 0);
	assert_int_equal(grpc_client_new(&f->client, NULL, 0), 0);
	f->big = calloc(N_BIG, sizeof(*f->big));
	assert_non_null(f->big);
	for (i = 0; i < N_BIG; i++) {
		snprintf(f->big[i].id, sizeof(f->big[i].id), "device-%zu", i);
		f->big[i].healthy = true;
		f->big[i].numa = -1;
	}
}

static void stop(struct fixture *f)
{
	grpc_conn_free(f->client);
	grpc_conn_free(f->server);
	assert_int_equal(f->lists.n_watchers, 0);
	list_watch_done(&f->lists);
	free(f->big);
}

static void set(struct fixture *f, size_t n, int want)
{
	size_t left_out = 99;

	assert_int_equal(list_watch_set(&f->lists, f->big, n, &left_out), want);
	assert_int_equal(left_out, 0);
}

static void test_the_empty_list_is_a_list(void **state)
{
	struct fixture f;

	(void)state;
	start(&f);
	open_watch(&f);
	carry_all(&f);
	assert_int_equal(f.got, 1);
	assert_int_equal(f.n_devices, 0);
	set(&f, 0, 0);
	assert_int_equal(list_watch_send(&f.lists), 0);
	carry_all(&f);
	assert_int_equal(f.got, 1);
	stop(&f);
}

static void test_only_changed_lists_are_sent(void **state)
{
	struct fixture f;

	(void)state;
	start(&f);
	set(&f, 3, 1);
	open_watch(&f);
	carry_all(&f);
	set(&f, 3, 0);
	list_watch_send(&f.lists);
	set(&f, 4, 1);
	set(&f, 3, 1);
	list_watch_send(&f.lists);
	carry_all(&f);
	assert_int_equal(f.got, 1);
	f.big[0].healthy = false;
	set(&f, 3, 1);
	list_watch_send(&f.lists);
	carry_all(&f);
	assert_int_equal(f.got, 2);
	assert_int_equal(f.n_healthy, 2);
	assert_int_equal(f.lists.given, 2);
	stop(&f);
}

/* The list changes a thousand times meanwhile: only the list already queued is delivered. */
static void test_a_watcher_that_does_not_read(void **state)
{
	struct fixture f;
	unsigned i;

	(void)state;
	start(&f);
	set(&f, N_BIG, 1);
	open_watch(&f);
	carry(f.client, f.server);
	for (i = 0; i < 1000; i++) {
		f.big[0].healthy = i % 2 == 1;
		set(&f, N_BIG, 1);
		/* Every other list equals the one already queued. */
		assert_int_equal(list_watch_send(&f.lists), i % 2 == 0);
	}
	f.big[0].healthy = f.big[1].healthy = false;
	set(&f, N_BIG, 1);
	assert_int_equal(f.lists.given, 1);
	carry_all(&f);
	assert_int_equal(f.got, 1);
	assert_int_equal(f.n_healthy, N_BIG);
	assert_int_equal(list_watch_send(&f.lists), 0);
	carry_all(&f);
	assert_int_equal(f.got, 2);
	assert_int_equal(f.n_devices, N_BIG);
	assert_int_equal(f.n_healthy, N_BIG - 2);
	stop(&f);
}

static void test_two_watchers_one_slow(void **state)
{
	struct grpc_service service;
	struct fixture fast, slow;

	(void)state;
	start(&slow);
	start(&fast);
	/* Both watch the lists of `slow`. */
	grpc_conn_free(fast.server);
	service = (struct grpc_service){.request = on_request, .cancel = on_cancel, .arg = &slow};
	assert_int_equal(grpc_server_new(&fast.server, NULL, &service, 0), 0);
	set(&slow, N_BIG, 1);
	open_watch(&slow);
	carry(slow.client, slow.server);
	open_watch(&fast);
	carry_all(&fast);
	assert_int_equal(fast.got, 1);
	set(&slow, 5, 1);
	assert_int_equal(list_watch_send(&slow.lists), 1);
	carry_all(&fast);
	assert_int_equal(fast.got, 2);
	assert_int_equal(fast.n_devices, 5);
	/* The slow watcher disconnects with a list in its queue. */
	grpc_cancel(slow.watch);
	carry_all(&slow);
	assert_int_equal(slow.lists.n_watchers, 1);
	assert_int_equal(list_watch_send(&slow.lists), 0);
	stop(&fast);
	stop(&slow);
}

static void test_a_list_is_cut_at_whole_devices(void **state)
{
	enum { N = 200000 };
	struct fixture f;
	size_t left_out = 0, i;

	(void)state;
	start(&f);
	free(f.big);
	f.big = calloc(N, sizeof(*f.big));
	assert_non_null(f.big);
	for (i = 0; i < N; i++) { /* short IDs first, then long ones */
		snprintf(f.big[i].id, sizeof(f.big[i].id), i < N / 2 ? "%zu" : "%063zu", i);
		f.big[i].numa = -1;
	}
	assert_int_equal(list_watch_set(&f.lists, f.big, N, &left_out), 1);
	assert_true(left_out > 0 && left_out < N);
	open_watch(&f);
	carry_all(&f);
	assert_int_equal(f.got, 1);
	assert_int_equal(f.n_devices, N - left_out);
	assert_int_equal(list_watch_set(&f.lists, f.big, 1, &left_out), 1);
	assert_int_equal(left_out, 0);
	stop(&f);
}

TEST_GROUP(list_watch)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_empty_list_is_a_list),
		cmocka_unit_test(test_only_changed_lists_are_sent),
		cmocka_unit_test(test_a_watcher_that_does_not_read),
		cmocka_unit_test(test_two_watchers_one_slow),
		cmocka_unit_test(test_a_list_is_cut_at_whole_devices),
	};

	return test_group_run(tests, NULL, NULL);
}
