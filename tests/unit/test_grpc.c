/* A gRPC client and server of ours, back to back in memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "grpc_pair.h"

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
	pair_close(&pair);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(x) cmocka_unit_test_setup_teardown(x, setup, teardown)
		TEST(test_unary),
		TEST(test_empty_message),
		TEST(test_stream),
		TEST(test_byte_by_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
