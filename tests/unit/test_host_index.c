/* An index finds what a walk over the whole host finds, in the same order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host_index.h"

#define N 200

static struct function functions[N];
static struct netdev netdevs[N];
static struct rdma_dev rdma[N];
static const struct host host = {.functions = functions,
				 .n_functions = N,
				 .netdevs = netdevs,
				 .n_netdevs = N,
				 .rdma = rdma,
				 .n_rdma = N};

/* Functions in an order that is not their names'; some have several netdevs, some none. */
static int fill(void **state)
{
	(void)state;
	for (unsigned i = 0; i < N; i++) {
		snprintf(functions[i].id, DEV_ID_SIZE, "0000:%02x:00.0", i * 37 % N);
		snprintf(netdevs[i].function, DEV_ID_SIZE, "0000:%02x:00.0", i * i % 50);
		snprintf(rdma[i].function, DEV_ID_SIZE, "0000:%02x:00.0", i * 7 % 100);
	}
	return 0;
}

static void test_both_find_the_same(void **state)
{
	struct host_index none = host_index_none(&host), ix;
	(void)state;

	host_index_init(&ix, &host);
	assert_non_null(ix.netdevs.items);
	for (unsigned i = 0; i < N + 10; i++) {
		size_t a = 0, b = 0, n = 0;
		const struct netdev *d;
		char id[DEV_ID_SIZE];

		snprintf(id, sizeof(id), "0000:%02x:00.0", i);
		assert_ptr_equal(host_index_function(&ix, id), host_function(&host, id));
		assert_ptr_equal(host_index_function(&none, id), host_function(&host, id));
		do {
			d = host_index_netdev(&none, id, &a);
			assert_ptr_equal(host_index_netdev(&ix, id, &b), d);
			n += d != NULL;
		} while (d);
		for (unsigned k = 0; k < N; k++)
			n -= strcmp(netdevs[k].function, id) == 0;
		assert_int_equal(n, 0);
		a = b = 0;
		assert_ptr_equal(host_index_rdma(&ix, id, &a), host_index_rdma(&none, id, &b));
	}
	host_index_done(&ix);
}

static void test_an_empty_host(void **state)
{
	const struct host empty = {0};
	struct host_index ix;
	size_t at = 0;
	(void)state;

	host_index_init(&ix, &empty);
	assert_null(host_index_function(&ix, "0000:18:00.0"));
	assert_null(host_index_netdev(&ix, "", &at));
	assert_null(host_index_netdev(&ix, "", &at));
	host_index_done(&ix);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_find_the_same),
		cmocka_unit_test(test_an_empty_host),
	};

	return cmocka_run_group_tests(tests, fill, NULL);
}
