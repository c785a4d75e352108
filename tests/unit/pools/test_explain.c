// SPDX-License-Identifier: Apache-2.0
/* The output of `rocectl explain`, compared with a golden file; UPDATE_GOLDEN=1 rewrites it. */
#include "explain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "attachments.h"
#include "golden.h"
#include "resource_tables.h"
#include "test_group.h"

static void explain(FILE *f, const struct resource_table *t, const struct attach_status *a,
		    const char *function)
{
	struct resource_index *index = t ? resource_index_new(t) : NULL;
	const struct explain_input in = {.function = function,
					 .rdma = "",
					 .resources = index,
					 .attachment = a,
					 .epoch_ms = ATTACHMENTS_EPOCH};
	char text[EXPLAIN_SIZE];

	explain_device(&in, text);
	resource_index_free(index);
	fprintf(f, "%s: %s\n", function, text);
}

static void print(FILE *f)
{
	static const char *const functions[] = {"0000:03:00.0", "0000:03:00.2", "0000:03:00.3",
						"0000:03:00.4", "0000:05:00.0", "0000:09:00.0"};
	struct resource_table t, nothing = {0};
	struct attachments a;

	resource_table_small(&t);
	attachments_small(&a);
	for (size_t i = 0; i < 6; i++)
		explain(f, &t, NULL, functions[i]);
	for (size_t i = 0; i < a.list.n; i++)
		explain(f, &t, &a.status[i], a.records[i].function);
	a.records[0].owner.pod[0] = '\0';
	explain(f, &t, &a.status[0], "0000:03:00.2");
	a.records[0].state = ATTACH_FREE;
	explain(f, &t, &a.status[0], "0000:03:00.2");
	explain(f, NULL, NULL, "0000:03:00.2");
	explain(f, &nothing, NULL, "0000:03:00.2");
	strcpy(t.not_offered[0].why, "not offered: it has VFs (matches a/b)");
	explain(f, &t, NULL, "0000:05:00.0");
	t.held.devices[0] = (struct pod_device){.namespace = "default",
						.pod = "other",
						.container = "c",
						.resource = "intel.com/vf",
						.id = "0000:09:00.0"};
	pod_list_sort(&t.held);
	explain(f, &t, NULL, "0000:09:00.0");
	resource_table_done(&t);
}

static void test_sentences(void **state)
{
	(void)state;
	assert_golden("tests/golden/explain.txt", print);
}

/* In a pool of two HCAs, an HCA's sentence counts its own slots if the slots' IDs name their
 * HCA. */
static void test_one_hca_of_a_shared_pool(void **state)
{
	static struct resource_device slots[] = {
		{.id = "mlx5_0-0", .state = RESERVATION_HELD},
		{.id = "mlx5_0-1"},
		{.id = "mlx5_01-0"},
		{.id = "mlx5_1-0", .state = RESERVATION_HELD},
		{.id = "mlx5_1-1", .state = RESERVATION_HELD},
	};
	static char members[][DEV_ID_SIZE] = {"0000:03:00.0", "0000:04:00.0"};
	struct resource_info info = {.name = "a/b", .shared = true, .n_devices = 5, .n_members = 2};
	const struct resource_table t = {.generation = 1,
					 .resources = &info,
					 .n_resources = 1,
					 .devices = slots,
					 .n_devices = 5,
					 .members = members,
					 .n_members = 2};
	struct explain_input in = {.function = "0000:03:00.0", .rdma = "mlx5_0"};
	struct resource_index *index = resource_index_new(&t);
	char text[EXPLAIN_SIZE];

	(void)state;
	in.resources = index;
	explain_device(&in, text);
	assert_string_equal(text, "shared as a/b, 1 of its 2 slots allocated");
	in.refused = true;
	explain_device(&in, text);
	assert_string_equal(text, "not offered: the configuration file is rejected");
	in.refused = false;
	in.rdma = "mlx5_9";
	explain_device(&in, text);
	assert_string_equal(text, "shared as a/b, 3 of the 5 slots of 2 HCAs allocated");
	resource_index_free(index);
}

/* A sentence longer than the buffer is truncated. */
static void test_the_longest_sentence_is_cut(void **state)
{
	char text[EXPLAIN_SIZE];
	struct attachments a;
	struct explain_input in = {.function = "0000:03:00.2", .rdma = ""};

	(void)state;
	attachments_small(&a);
	memset(a.records[0].owner.pod, 'p', sizeof(a.records[0].owner.pod) - 1);
	memset(a.records[0].owner.namespace, 'n', sizeof(a.records[0].owner.namespace) - 1);
	memset(a.status[0].error, 'e', sizeof(a.status[0].error) - 1);
	a.status[0].drift = UINT32_MAX;
	a.status[0].tries = 9;
	in.attachment = &a.status[0];
	explain_device(&in, text);
	assert_int_equal(strlen(text), EXPLAIN_SIZE - 1);
}

TEST_GROUP(explain)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sentences),
		cmocka_unit_test(test_one_hca_of_a_shared_pool),
		cmocka_unit_test(test_the_longest_sentence_is_cut),
	};

	return test_group_run(tests, NULL, NULL);
}
