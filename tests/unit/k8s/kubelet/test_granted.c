// SPDX-License-Identifier: Apache-2.0
/* Device nodes granted to containers, read from the kubelet's checkpoint. */
#include <errno.h>
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "faults.h"
#include "fixture.h"
#include "granted_parse.h"
#include "test_group.h"
#include "tmptree.h"

/* Entries that cannot be decoded are counted, those without nodes left out. */
static void nodes_and_ids_of_each_container(void **state)
{
	struct granted_list l;
	struct err e = {0};
	size_t len;
	uint8_t *text = fixture_read("checkpoint/granted.json", &len);

	(void)state;
	assert_int_equal(granted_parse(&l, (char *)text, len, &e), 1);
	assert_int_equal(l.n, 3);
	assert_string_equal(l.items[0].uid, "5b3e1f7a");
	assert_string_equal(l.items[0].resource, "rocelet.dev/roce");
	assert_int_equal(l.items[0].n_ids, 2);
	assert_string_equal(l.items[0].ids[0], "0000:03:00.1");
	assert_string_equal(l.items[0].ids[1], "0000:03:00.2");
	assert_int_equal(l.items[0].n_nodes, 2);
	assert_string_equal(l.items[0].nodes[0], "infiniband/uverbs1");
	assert_string_equal(l.items[0].nodes[1], "infiniband/rdma_cm");
	assert_int_equal(l.items[1].n_ids, 1);
	assert_string_equal(l.items[1].ids[0], "0000:03:00.3");
	assert_int_equal(l.items[1].n_nodes, 1);
	assert_string_equal(l.items[1].nodes[0], "infiniband/uverbs3");
	assert_int_equal(l.items[2].n_nodes, 0);
	assert_true(granted_has_no_network(&l, "rocelet.dev/vf", "0000:03:00.4", 0));
	assert_false(granted_has_no_network(&l, "rocelet.dev/vf", "0000:03:00.3", 0));
	assert_false(granted_has_no_network(&l, "rocelet.dev/roce", "0000:03:00.3", 0));
	granted_list_done(&l);
	free(text);
}

#define ENTRY(answer)                                                                              \
	"{\"Data\":{\"PodDeviceEntries\":[{\"PodUID\":\"u\",\"ContainerName\":\"c\","              \
	"\"ResourceName\":\"a/b\",\"DeviceIDs\":[\"1\"],\"AllocResp\":" answer "}]}}"

static int left_out(const char *text)
{
	struct granted_list l;
	int r = granted_parse(&l, text, strlen(text), NULL);

	if (r < 0)
		return r;
	assert_int_equal(l.n, 0);
	granted_list_done(&l);
	return r;
}

static void invalid_answers_are_counted(void **state)
{
	(void)state;
	assert_int_equal(left_out(ENTRY("\"\"")), 0);
	assert_int_equal(left_out(ENTRY("\"===\"")), 1);
	assert_int_equal(left_out(ENTRY("\"====\"")), 1);
	assert_int_equal(left_out(ENTRY("\"ab!d\"")), 1);
	assert_int_equal(left_out(ENTRY("\"abc\"")), 1);
	assert_int_equal(left_out(ENTRY("1")), 1);
	assert_int_equal(left_out(ENTRY("\"////\"")), 1);
	assert_int_equal(left_out("{\"Data\":{\"PodDeviceEntries\":[1,null,[]]}}"), 3);
	assert_int_equal(left_out("{\"Data\":{\"PodDeviceEntries\":null}}"), 0);
	assert_int_equal(left_out("{\"Data\":[]}"), -EBADMSG);
	assert_int_equal(left_out("{\"Data\":{\"PodDeviceEntries\":{}}}"), -EBADMSG);
	assert_int_equal(left_out("x"), -EBADMSG);
}

static void any_failed_allocation_is_survived(void **state)
{
	size_t len;
	uint8_t *text = fixture_read("checkpoint/granted.json", &len);
	struct granted_list l;
	long n;

	(void)state;
	for (n = 0;; n++) {
		int r;

		faults_alloc(n);
		r = granted_parse(&l, (char *)text, len, NULL);
		if (r >= 0)
			granted_list_done(&l);
		if (!faults_end()) {
			assert_int_equal(r, 1);
			break;
		}
		assert_int_equal(r, -ENOMEM);
	}
	assert_true(n > 50);
	free(text);
}

/* The file is read again only after the kubelet has renamed a new one over it. */
static void a_file_is_read_once(void **state)
{
	char *dir = tmptree_new();
	struct stat known = {0};
	struct granted_list l;
	struct err e = {0};
	size_t len;
	uint8_t *text = fixture_read("checkpoint/granted.json", &len);

	(void)state;
	assert_int_equal(granted_read(&l, dir, &known, &e), -ENOENT);
	tmptree_write(dir, "device-plugins/kubelet_internal_checkpoint", "%.*s", (int)len,
		      (char *)text);
	assert_int_equal(granted_read(&l, dir, &known, &e), 1);
	granted_list_done(&l);
	assert_int_equal(granted_read(&l, dir, &known, &e), -EALREADY);
	tmptree_write(dir, "device-plugins/kubelet_internal_checkpoint", "%s", "{\"Data\":{}}");
	assert_int_equal(granted_read(&l, dir, &known, &e), 0);
	assert_int_equal(l.n, 0);
	granted_list_done(&l);
	tmptree_write(dir, "device-plugins/kubelet_internal_checkpoint", "%s", "no");
	assert_int_equal(granted_read(&l, dir, &known, &e), -EBADMSG);
	assert_non_null(strstr(e.msg, dir));
	tmptree_free(dir);
	free(text);
}

static void a_file_is_read_again_when_there_is_memory(void **state)
{
	char *dir = tmptree_new();
	size_t len;
	uint8_t *text = fixture_read("checkpoint/granted.json", &len);
	unsigned n_failed = 0;
	bool failed = true;

	(void)state;
	tmptree_write(dir, "device-plugins/kubelet_internal_checkpoint", "%.*s", (int)len,
		      (char *)text);
	for (long n = 0; failed; n++) {
		struct stat known = {0};
		struct granted_list l = {0};
		struct err e = {0};
		int r;

		faults_alloc(n);
		r = granted_read(&l, dir, &known, &e);
		failed = faults_end();
		n_failed += failed;
		assert_int_equal(r, failed ? -ENOMEM : 1);
		if (failed)
			r = granted_read(&l, dir, &known, &e);
		assert_int_equal(r, 1);
		granted_list_done(&l);
	}
	assert_true(n_failed > 50);
	tmptree_free(dir);
	free(text);
}

TEST_GROUP(granted)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_and_ids_of_each_container),
		cmocka_unit_test(invalid_answers_are_counted),
		cmocka_unit_test(any_failed_allocation_is_survived),
		cmocka_unit_test(a_file_is_read_once),
		cmocka_unit_test(a_file_is_read_again_when_there_is_memory),
	};

	return test_group_run(tests, NULL, NULL);
}
