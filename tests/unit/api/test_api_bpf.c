// SPDX-License-Identifier: Apache-2.0
/* The document of /api/v1/config, with the result of loading BPF. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs those above first */
#include <cmocka.h>

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "api_bpf.h"
#include "golden.h"
#include "test_group.h"

static const struct api_bpf_program programs[] = {
	{"netdev_moves", "kprobe", NULL},
	{"queue_pairs", "none", "Operation not permitted"},
};

static const struct packet_port ports[] = {
	{.netdev = "eth0",
	 .nsid = NSID_HOST,
	 .device = "rxe0",
	 .device_port = 1,
	 .hook = PACKET_HOOK_TCX,
	 .flows = 4096,
	 .memory = 1000000},
	{.netdev = "net1",
	 .nsid = 3,
	 .netns = "cni-1234",
	 .device = "rxe1",
	 .device_port = 1,
	 .function = "0000:03:00.2",
	 .role = PACKET_POD,
	 .hook = PACKET_HOOK_CLSACT,
	 .memory = 5000},
	{.netdev = "net1",
	 .nsid = NSID_ELSEWHERE,
	 .netns = "/run/netns/cni-\xff",
	 .role = PACKET_POD,
	 .error = -ENOSPC},
	{.netdev = "mir0", .nsid = NSID_HOST, .role = PACKET_MIRROR, .error = -ENODEV},
};

static const struct api_bpf bpf = {
	.on = true,
	.programs = programs,
	.n_programs = 2,
	.ports = ports,
	.n_ports = 4,
	.memory_budget = 32 << 20,
};

static void test_the_document_is_the_golden_one(void **state)
{
	size_t len;
	char *text = api_config("{\"listen\": \":9907\", \"no-bpf\": false}", &bpf, &len);

	(void)state;
	assert_non_null(text);
	assert_golden_text("tests/golden/api_config.json", text, len);
	free(text);
}

static void test_without_bpf_it_is_null(void **state)
{
	static const struct api_bpf none;
	size_t len;
	char *text = api_config("{}", &none, &len);
	json_t *root = json_loads(text, 0, NULL);

	(void)state;
	assert_int_equal(len, strlen(text));
	assert_true(json_is_null(json_object_get(root, "bpf")));
	json_decref(root);
	free(text);
}

static void test_a_configuration_that_is_no_object(void **state)
{
	size_t len;

	(void)state;
	assert_null(api_config("[]", &bpf, &len));
	assert_null(api_config("{", &bpf, &len));
}

TEST_GROUP(api_bpf)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_document_is_the_golden_one),
		cmocka_unit_test(test_without_bpf_it_is_null),
		cmocka_unit_test(test_a_configuration_that_is_no_object),
	};

	return test_group_run(tests, NULL, NULL);
}
