// SPDX-License-Identifier: Apache-2.0
/* Each allocation of gRPC and nghttp2 fails once: nothing leaks (checked by the sanitizer), each
 * call ends exactly once, and no failed call ends with success. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "faults.h"
#include "grpc_pair.h"
#include "test_group.h"

static uint64_t now_ms;

struct sides {
	struct grpc_conn *client, *server;
	struct service service;
	bool is_lost;
};

static bool carry(struct sides *s, struct grpc_conn *from, struct grpc_conn *to)
{
	static uint8_t copy[1 << 20];
	const uint8_t *bytes;
	ssize_t n = grpc_take(from, &bytes);

	if (n <= 0)
		return false;
	assert_true((size_t)n <= sizeof(copy));
	memcpy(copy, bytes, (size_t)n);
	if (grpc_feed(to, copy, (size_t)n, now_ms, NULL) < 0)
		s->is_lost = true;
	return true;
}

static void tick(struct sides *s, struct grpc_conn *c)
{
	if (grpc_deadline(c) <= now_ms && grpc_tick(c, now_ms, NULL) < 0)
		s->is_lost = true;
}

/* Pumps bytes and closes lost connections, as an owner does. */
static void pump(struct sides *s)
{
	bool moved = true;

	while (moved && !s->is_lost) {
		moved = carry(s, s->client, s->server);
		if (!s->is_lost)
			moved |= carry(s, s->server, s->client);
		tick(s, s->client);
		tick(s, s->server);
	}
}

struct outcome {
	struct asked asked[5];
	bool is_started[5];
	unsigned n_requests, n_cancels, n_finished;
};

static void start(struct sides *s, struct outcome *o, unsigned i, const char *path,
		  const void *message, size_t len, uint32_t timeout_ms)
{
	struct grpc_reply reply = asked_reply(&o->asked[i]);

	o->asked[i].call = grpc_start(s->client, path, message, len, timeout_ms, &reply, now_ms);
	o->is_started[i] = o->asked[i].call;
}

static void talk(struct sides *s, struct outcome *o)
{
	static const uint8_t large[100000];

	start(s, o, 0, "/t.T/Echo", "hello", 5, 0);
	start(s, o, 1, "/t.T/Echo", large, sizeof(large), 0);
	pump(s);
	s->service.stream.n = 5;
	s->service.stream.size = 30000;
	start(s, o, 2, "/t.T/Stream", "", 0, 0);
	s->service.fail.status = GRPC_NOT_FOUND;
	s->service.fail.text = "no such thing, 100 %";
	start(s, o, 3, "/t.T/Fail", "", 0, 0);
	start(s, o, 4, "/t.T/Hold", "", 0, 100);
	pump(s);
	now_ms += 100;
	tick(s, s->client);
	tick(s, s->server);
	pump(s);
	if (!s->is_lost)
		grpc_shutdown(s->server);
	pump(s);
}

/* Returns false if not even the connections could be made. */
static bool run(struct outcome *o)
{
	struct sides s = {0};
	struct grpc_service hooks = service_hooks(&s.service);

	*o = (struct outcome){0};
	now_ms = 1000;
	if (grpc_client_new(&s.client, NULL, now_ms) == 0 &&
	    grpc_server_new(&s.server, NULL, &hooks, now_ms) == 0)
		talk(&s, o);
	else
		s.is_lost = true;
	grpc_conn_free(s.client);
	grpc_conn_free(s.server);
	o->n_requests = s.service.n_requests;
	o->n_cancels = s.service.n_cancels;
	return !s.is_lost;
}

/* The statuses that a call may end with after a failed allocation. */
static bool is_honest(enum grpc_status found, enum grpc_status wanted)
{
	return found == wanted || found == GRPC_UNAVAILABLE || found == GRPC_RESOURCE_EXHAUSTED ||
	       found == GRPC_INTERNAL || found == GRPC_CANCELLED;
}

static void check(const struct outcome *o, long nth)
{
	static const enum grpc_status wanted[] = {GRPC_OK, GRPC_OK, GRPC_OK, GRPC_NOT_FOUND,
						  GRPC_DEADLINE_EXCEEDED};
	static const unsigned n_messages[] = {1, 1, 5, 0, 0};

	for (unsigned i = 0; i < 5; i++) {
		const struct asked *a = &o->asked[i];

		if (a->n_ends != o->is_started[i])
			fail_msg("allocation %ld: call %u ended %u times", nth, i, a->n_ends);
		if (a->n_ends && !is_honest(a->status, wanted[i]))
			fail_msg("allocation %ld: call %u ended with %s", nth, i,
				 grpc_status_name(a->status));
		if (a->n_ends && a->status == GRPC_OK && a->n_messages != n_messages[i])
			fail_msg("allocation %ld: call %u is OK with %u messages", nth, i,
				 a->n_messages);
	}
}

static void test_each_allocation_fails(void **state)
{
	struct outcome o;
	long nth = 0;
	bool was_hit = true;
	unsigned n_survived = 0;

	(void)state;
	for (; was_hit; nth++) {
		faults_alloc(nth);
		n_survived += run(&o);
		was_hit = faults_end();
		check(&o, nth);
	}
	/* The last run was without a fault. */
	assert_int_equal(o.asked[2].n_messages, 5);
	assert_int_equal(o.asked[3].status, GRPC_NOT_FOUND);
	assert_int_equal(o.asked[4].status, GRPC_DEADLINE_EXCEEDED);
	assert_int_equal(o.n_requests, 5);
	assert_int_equal(o.n_cancels, 1);
	assert_in_range(nth, 50, 5000);
	print_message("%ld allocations failed, %u times the connection lived on\n", nth - 1,
		      n_survived - 1);
}

TEST_GROUP(grpc_faults)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_allocation_fails),
	};

	return test_group_run(tests, NULL, NULL);
}
