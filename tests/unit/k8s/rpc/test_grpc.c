// SPDX-License-Identifier: Apache-2.0
/* A gRPC client and server of ours, connected in memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "grpc_pair.h"
#include "test_group.h"

static struct pair pair;

static int setup(void **state)
{
	(void)state;
	pair = (struct pair){0};
	pair_open(&pair, NULL, NULL);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	asked_forget(true);
	pair_close(&pair);
	asked_forget(false);
	return 0;
}

static void assert_ended(const struct asked *a, enum grpc_status status, const char *text)
{
	assert_int_equal(a->n_ends, 1);
	assert_string_equal(grpc_status_name(a->status), grpc_status_name(status));
	assert_string_equal(a->text, text);
}

static void test_unary(void **state)
{
	struct asked a = {0};

	(void)state;
	pair_ask(&pair, &a, "/t.T/Echo", "hello", 5, 0);
	assert_int_equal(a.n_ends, 0);
	pair_pump(&pair);
	assert_ended(&a, GRPC_OK, "");
	assert_int_equal(a.n_messages, 1);
	assert_int_equal(a.sum, sum_of((const uint8_t *)"hello", 5));
	assert_string_equal(pair.service.path, "/t.T/Echo");
	assert_int_equal(pair.service.n_cancels, 0);
}

static void test_empty_message(void **state)
{
	struct asked a = {0};

	(void)state;
	pair_ask(&pair, &a, "/t.T/Echo", NULL, 0, 0);
	pair_pump(&pair);
	assert_ended(&a, GRPC_OK, "");
	assert_int_equal(a.n_messages, 1);
	assert_int_equal(a.n_bytes, 0);
}

static void test_stream(void **state)
{
	struct asked a = {0};

	(void)state;
	pair.service.stream.n = 1000;
	pair.service.stream.size = 100;
	pair_ask(&pair, &a, "/t.T/Stream", "", 0, 0);
	pair_pump(&pair);
	assert_ended(&a, GRPC_OK, "");
	assert_int_equal(a.n_messages, 1000);
	assert_int_equal(a.n_bytes, 100000);
}

static void test_byte_by_byte(void **state)
{
	pair.step = 1;
	test_unary(state);
	test_stream(state);
}

#define MIB (1u << 20)

static void ask_large(struct asked *a, uint8_t **ret, size_t len)
{
	*ret = malloc(len);
	assert_non_null(*ret);
	for (size_t i = 0; i < len; i++)
		(*ret)[i] = (uint8_t)(i * 2654435761u >> 13);
	pair_ask(&pair, a, "/t.T/Echo", *ret, len, 0);
}

static void test_large_message(void **state)
{
	struct asked a = {0};
	uint8_t *bytes;

	(void)state;
	ask_large(&a, &bytes, 3 * MIB);
	pair_pump(&pair);
	assert_ended(&a, GRPC_OK, "");
	assert_int_equal(a.n_bytes, 3 * MIB);
	assert_int_equal(a.sum, sum_of(bytes, 3 * MIB));
	free(bytes);
}

/* The largest allowed message, and one a byte longer, in both directions. */
static void test_message_limit(void **state)
{
	static const struct grpc_limits small = {1000, 10, 0}, large = {5000, 10, 0};
	static const uint8_t bytes[1001];
	struct asked a = {0}, b = {0}, c = {0}, d = {0};

	(void)state;
	pair_close(&pair);
	pair_open(&pair, &large, &small);
	pair_ask(&pair, &a, "/t.T/Echo", bytes, 1000, 0);
	pair_ask(&pair, &b, "/t.T/Echo", bytes, 1001, 0);
	pair_pump(&pair);
	assert_ended(&a, GRPC_OK, "");
	assert_ended(&b, GRPC_RESOURCE_EXHAUSTED, "the request is larger than 1000 bytes");
	pair.service.stream.n = 1;
	pair.service.stream.size = 5000;
	pair_ask(&pair, &c, "/t.T/Stream", "", 0, 0);
	pair_pump(&pair);
	assert_ended(&c, GRPC_OK, "");
	pair.service.stream.size = 5001;
	pair_ask(&pair, &d, "/t.T/Stream", "", 0, 0);
	pair_pump(&pair);
	assert_ended(&d, GRPC_RESOURCE_EXHAUSTED,
		     "a message of the answer is larger than 5000 bytes: it has 5001");
	assert_int_equal(d.n_messages, 0);
}

static void test_default_limits(void **state)
{
	static const struct grpc_limits none;
	struct asked a = {0};
	uint8_t *bytes;

	(void)state;
	pair_close(&pair);
	pair_open(&pair, &none, &none);
	ask_large(&a, &bytes, 4 * MIB);
	pair_pump(&pair);
	assert_ended(&a, GRPC_OK, "");
	free(bytes);
}

/* 40 MB wait for a reader; beyond this queue the connection needs almost no memory. */
static void test_back_pressure(void **state)
{
	struct asked a = {0};
	const uint8_t *bytes;

	(void)state;
	pair.service.held = NULL;
	pair_ask(&pair, &a, "/t.T/Hold", "", 0, 0);
	pair_pump(&pair);
	for (unsigned i = 0; i < 40; i++) {
		uint8_t *message = calloc(1, MIB);

		assert_int_equal(grpc_send(pair.service.held, message, MIB), 0);
		free(message);
	}
	assert_int_equal(grpc_backlog(pair.service.held), 40 * (MIB + 5));
	/* Without WINDOW_UPDATE a peer gets one window of data. */
	while (grpc_take(pair.server, &bytes) > 0)
		;
	assert_in_range(40 * (MIB + 5) - grpc_backlog(pair.service.held), MIB, MIB);
	grpc_finish(pair.service.held, GRPC_OK, NULL);
}

static void test_backlog_drains(void **state)
{
	struct asked a = {0};

	(void)state;
	pair_ask(&pair, &a, "/t.T/Hold", "", 0, 0);
	pair_pump(&pair);
	for (unsigned i = 1; i <= 3; i++) {
		assert_int_equal(grpc_send(pair.service.held, (const uint8_t *)"list", 4), 0);
		assert_int_equal(grpc_backlog(pair.service.held), 9);
		pair_pump(&pair);
		assert_int_equal(grpc_backlog(pair.service.held), 0);
		assert_int_equal(a.n_messages, i);
		assert_int_equal(a.n_ends, 0);
	}
	grpc_finish(pair.service.held, GRPC_UNAVAILABLE, "restarting");
	pair_pump(&pair);
	assert_ended(&a, GRPC_UNAVAILABLE, "restarting");
}

static void test_many_at_once(void **state)
{
	struct asked asked[100] = {0};
	char text[16];

	(void)state;
	for (unsigned i = 0; i < 100; i++) {
		snprintf(text, sizeof(text), "%u", i);
		pair_ask(&pair, &asked[i], "/t.T/Echo", text, strlen(text), 0);
	}
	pair_pump(&pair);
	for (unsigned i = 0; i < 100; i++) {
		snprintf(text, sizeof(text), "%u", i);
		assert_ended(&asked[i], GRPC_OK, "");
		assert_int_equal(asked[i].sum, sum_of((const uint8_t *)text, strlen(text)));
	}
	assert_int_equal(pair.service.n_requests, 100);
}

static void test_error_text(void **state)
{
	static const char text[] = "0000:03:00.1 \xe2\x80\x93 100 % \xf0\x9f\x98\x80\n\ttab";
	struct asked a = {0};

	(void)state;
	pair.service.fail.status = GRPC_FAILED_PRECONDITION;
	pair.service.fail.text = text;
	pair_ask(&pair, &a, "/t.T/Fail", "", 0, 0);
	pair_pump(&pair);
	assert_ended(&a, GRPC_FAILED_PRECONDITION, text);
}

static void test_unknown_method(void **state)
{
	struct asked a = {0};

	(void)state;
	pair_ask(&pair, &a, "/t.T/None", "", 0, 0);
	pair_pump(&pair);
	assert_ended(&a, GRPC_UNIMPLEMENTED, "unknown method");
}

/* Both sides apply the deadline; each reports it to its owner. */
static void test_deadline(void **state)
{
	struct asked a = {0};

	(void)state;
	pair_ask(&pair, &a, "/t.T/Hold", "", 0, 300);
	pair_pump(&pair);
	assert_non_null(pair.service.held);
	pair_advance(&pair, 299);
	assert_int_equal(a.n_ends, 0);
	pair_advance(&pair, 1);
	assert_ended(&a, GRPC_DEADLINE_EXCEEDED, "the deadline passed");
	assert_int_equal(pair.service.n_cancels, 1);
}

static void test_client_cancels(void **state)
{
	struct asked a = {0};

	(void)state;
	pair_ask(&pair, &a, "/t.T/Hold", "", 0, 0);
	pair_pump(&pair);
	grpc_cancel(a.call);
	assert_ended(&a, GRPC_CANCELLED, "cancelled");
	pair_pump(&pair);
	assert_int_equal(pair.service.n_cancels, 1);
	assert_int_equal(a.n_ends, 1);
}

/* Cancels in the message hook, at each message of a stream; also fed byte by byte. */
static void test_cancel_at_every_message(void **state)
{
	(void)state;
	pair.service.stream.n = 12;
	pair.service.stream.size = 30000;
	for (unsigned i = 1; i <= 12; i++) {
		struct asked a = {.cancel_at = i};

		pair.step = i % 2 ? 0 : 4097;
		pair_ask(&pair, &a, "/t.T/Stream", "", 0, 0);
		pair_pump(&pair);
		assert_ended(&a, GRPC_CANCELLED, "cancelled");
		assert_int_equal(a.n_messages, i);
	}
	pair.step = 0;
	test_unary(state);
}

/* Cancels after any number of bytes from the server. */
static void test_cancel_at_every_byte(void **state)
{
	uint8_t bytes[4096];
	size_t n = 1;

	(void)state;
	for (size_t at = 0; at < n; at++) {
		struct asked a = {0};

		pair_close(&pair);
		pair = (struct pair){0};
		pair_open(&pair, NULL, NULL);
		pair_ask(&pair, &a, "/t.T/Echo", "hello", 5, 0);
		n = take_all(pair.client, bytes, sizeof(bytes));
		assert_int_equal(grpc_feed(pair.server, bytes, n, 1000, NULL), 0);
		n = take_all(pair.server, bytes, sizeof(bytes));
		assert_int_equal(grpc_feed(pair.client, bytes, at, 1000, NULL), 0);
		if (a.call)
			grpc_cancel(a.call);
		assert_int_equal(a.n_ends, 1);
		assert_int_equal(grpc_feed(pair.client, bytes + at, n - at, 1000, NULL), 0);
		pair_pump(&pair);
		assert_int_equal(a.n_ends, 1);
		assert_int_equal(pair.server_r, 0);
		assert_int_equal(pair.client_r, 0);
	}
}

static void test_shutdown_of_the_server(void **state)
{
	struct asked a = {0}, b = {0};
	struct grpc_reply reply = asked_reply(&b);

	(void)state;
	pair_ask(&pair, &a, "/t.T/Hold", "", 0, 0);
	pair_pump(&pair);
	grpc_shutdown(pair.server);
	pair_pump(&pair);
	assert_true(grpc_is_closing(pair.client));
	assert_null(grpc_start(pair.client, "/t.T/Echo", NULL, 0, 0, &reply, 1000));
	assert_false(grpc_is_done(pair.server));
	assert_false(grpc_is_done(pair.client));
	assert_int_equal(grpc_send(pair.service.held, (const uint8_t *)"bye", 3), 0);
	grpc_finish(pair.service.held, GRPC_OK, NULL);
	pair_pump(&pair);
	assert_ended(&a, GRPC_OK, "");
	assert_int_equal(a.n_messages, 1);
	assert_true(grpc_is_done(pair.server));
	assert_true(grpc_is_done(pair.client));
}

static void test_shutdown_of_the_client(void **state)
{
	struct asked a = {0};

	(void)state;
	pair_ask(&pair, &a, "/t.T/Echo", "", 0, 0);
	grpc_shutdown(pair.client);
	assert_true(grpc_is_closing(pair.client));
	pair_pump(&pair);
	assert_ended(&a, GRPC_OK, "");
	assert_true(grpc_is_done(pair.client));
	assert_true(grpc_is_done(pair.server));
}

static void test_free_ends_everything(void **state)
{
	struct asked a = {0}, b = {0};

	(void)state;
	pair_ask(&pair, &a, "/t.T/Hold", "", 0, 0);
	pair.service.stream.n = 100;
	pair.service.stream.size = 100000;
	pair_pump(&pair);
	pair_ask(&pair, &b, "/t.T/Stream", "", 0, 0);
	pair_close(&pair);
	assert_ended(&a, GRPC_UNAVAILABLE, "the connection ended");
	assert_ended(&b, GRPC_UNAVAILABLE, "the connection ended");
	assert_int_equal(pair.service.n_cancels, 1);
	pair_open(&pair, NULL, NULL);
}

/* A hook that starts the next call when the last one ends. */
struct chain {
	struct grpc_conn *conn;
	unsigned left, n_ends;
	enum grpc_status last;
};

static void on_chain_end(struct grpc_call *call, enum grpc_status status, const char *text,
			 void *arg)
{
	struct chain *chain = arg;
	struct grpc_reply reply = {.end = on_chain_end, .arg = chain};

	(void)call;
	(void)text;
	chain->n_ends++;
	chain->last = status;
	if (chain->left > 0 &&
	    grpc_start(chain->conn, "/t.T/Echo", (const uint8_t *)"x", 1, 0, &reply, 1000))
		chain->left--;
}

/* --- messages in parts ------------------------------------------------------------------------ */

struct parts {
	size_t n, n_bytes, left, n_whole, cancel_at;
	uint32_t sum;
	enum grpc_status status;
};

static void on_part(struct grpc_call *call, const uint8_t *bytes, size_t len, size_t left,
		    void *arg)
{
	struct parts *p = arg;

	for (size_t i = 0; i < len; i++) /* each byte can be read */
		p->sum += bytes[i];
	p->n_bytes += len;
	assert_true(len > 0 || left == 0);
	assert_true(p->left == 0 || p->left == left + len);
	p->n++;
	p->left = left;
	p->n_whole += left == 0;
	if (p->n == p->cancel_at)
		grpc_cancel(call);
}

static void on_parts_end(struct grpc_call *call, enum grpc_status status, const char *text,
			 void *arg)
{
	(void)call, (void)text;
	((struct parts *)arg)->status = status;
}

static struct parts ask_parts(unsigned n, size_t size, size_t cancel_at)
{
	struct parts p = {.cancel_at = cancel_at, .status = GRPC_UNKNOWN};
	struct grpc_reply reply = {.part = on_part, .end = on_parts_end, .arg = &p};

	pair.service.stream.n = n;
	pair.service.stream.size = size;
	assert_non_null(grpc_start(pair.client, "/t.T/Stream", NULL, 0, 0, &reply, 1000));
	pair_pump(&pair);
	return p;
}

static void test_messages_in_parts(void **state)
{
	const struct grpc_limits small = {.max_message = 100000};
	struct parts p;

	(void)state;
	pair_close(&pair);
	pair_open(&pair, &small, NULL);
	pair.step = 1000;
	p = ask_parts(2, 100000, 0);
	assert_int_equal(p.status, GRPC_OK);
	assert_int_equal(p.n_whole, 2);
	assert_int_equal(p.n_bytes, 200000);
	assert_true(p.n > 100); /* parts were passed on, not collected */
	p = ask_parts(3, 0, 0);
	assert_int_equal(p.status, GRPC_OK);
	assert_int_equal(p.n, 3);
	assert_int_equal(p.n_whole, 3);
	p = ask_parts(1, 100001, 0);
	assert_int_equal(p.status, GRPC_RESOURCE_EXHAUSTED);
	assert_int_equal(p.n, 0);
	p = ask_parts(2, 5000, 2);
	assert_int_equal(p.status, GRPC_CANCELLED);
	assert_int_equal(p.n, 2);
}

static void test_calls_started_by_hooks(void **state)
{
	struct chain chain = {pair.client, 9, 0, GRPC_UNKNOWN};
	struct grpc_reply reply = {.end = on_chain_end, .arg = &chain};

	(void)state;
	assert_non_null(grpc_start(pair.client, "/t.T/Echo", NULL, 0, 0, &reply, 1000));
	pair_pump(&pair);
	assert_int_equal(chain.n_ends, 10);
	assert_int_equal(chain.last, GRPC_OK);
	/* When the connection ends, no further call is started. */
	chain = (struct chain){pair.client, 5, 0, GRPC_UNKNOWN};
	assert_non_null(grpc_start(pair.client, "/t.T/Hold", NULL, 0, 0, &reply, 1000));
	pair_pump(&pair);
	grpc_conn_free(pair.client);
	pair.client = NULL;
	assert_int_equal(chain.n_ends, 1);
	assert_int_equal(chain.left, 5);
	assert_int_equal(chain.last, GRPC_UNAVAILABLE);
}

static void test_call_data(void **state)
{
	struct asked a = {0};
	int mine;

	(void)state;
	pair_ask(&pair, &a, "/t.T/Hold", "", 0, 0);
	assert_null(grpc_call_data(a.call));
	grpc_call_set_data(a.call, &mine);
	assert_ptr_equal(grpc_call_data(a.call), &mine);
	assert_null(grpc_start(pair.server, "/t.T/Hold", NULL, 0, 0, NULL, 0));
}

TEST_GROUP(grpc)
{
	const struct CMUnitTest tests[] = {
#define TEST(x) cmocka_unit_test_setup_teardown(x, setup, teardown)
		TEST(test_unary),
		TEST(test_empty_message),
		TEST(test_stream),
		TEST(test_byte_by_byte),
		TEST(test_large_message),
		TEST(test_message_limit),
		TEST(test_default_limits),
		TEST(test_back_pressure),
		TEST(test_backlog_drains),
		TEST(test_many_at_once),
		TEST(test_error_text),
		TEST(test_unknown_method),
		TEST(test_deadline),
		TEST(test_client_cancels),
		TEST(test_cancel_at_every_message),
		TEST(test_cancel_at_every_byte),
		TEST(test_shutdown_of_the_server),
		TEST(test_shutdown_of_the_client),
		TEST(test_free_ends_everything),
		TEST(test_messages_in_parts),
		TEST(test_calls_started_by_hooks),
		TEST(test_call_data),
	};

	return test_group_run(tests, NULL, NULL);
}
