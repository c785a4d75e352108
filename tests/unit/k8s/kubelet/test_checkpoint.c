// SPDX-License-Identifier: Apache-2.0
/* The kubelet's checkpoint file in both of its formats, and invalid files. */
#include <errno.h>
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "faults.h"
#include "fixture.h"
#include "pod_resources.h"
#include "test_group.h"
#include "tmptree.h"

#define UID "5b3e1f7a-0c43-4c5e-9f0a-3f5d6a0d8a11"

static struct pod_list parse_fixture(const char *path)
{
	struct pod_list l;
	struct err e = {0};
	size_t len;
	uint8_t *text = fixture_read(path, &len);

	assert_int_equal(pod_checkpoint_parse(&l, (char *)text, len, &e), 0);
	free(text);
	assert_int_equal(l.source, POD_SOURCE_CHECKPOINT);
	return l;
}

static void has(const struct pod_device *d, const char *container, const char *id)
{
	assert_string_equal(d->uid, UID);
	assert_string_equal(d->container, container);
	assert_string_equal(d->resource, "rocelet.dev/roce");
	assert_string_equal(d->id, id);
	assert_string_equal(d->namespace, "");
	assert_string_equal(d->pod, "");
}

/* A device of two NUMA nodes is listed under both, and counts once. */
static void ids_by_numa_node(void **state)
{
	struct pod_list l = parse_fixture("checkpoint/by_node.json");

	(void)state;
	assert_int_equal(l.n, 3);
	has(&l.devices[0], "main", "0000:03:00.2");
	has(&l.devices[1], "main", "0000:03:00.3");
	has(&l.devices[2], "side", "0000:03:00.4");
	pod_list_done(&l);
}

static void ids_as_a_list(void **state)
{
	struct pod_list l = parse_fixture("checkpoint/list.json");

	(void)state;
	assert_int_equal(l.n, 2);
	has(&l.devices[0], "main", "0000:03:00.2");
	has(&l.devices[1], "main", "0000:03:00.3");
	pod_list_done(&l);
}

static void a_checkpoint_without_entries(void **state)
{
	struct pod_list l = parse_fixture("checkpoint/empty.json");

	(void)state;
	assert_int_equal(l.n, 0);
	pod_list_done(&l);
}

#define ENTRIES(list) "{\"Data\":{\"PodDeviceEntries\":" list "}}"
#define ENTRY(ids)                                                                                 \
	ENTRIES("[{\"PodUID\":\"u\",\"ContainerName\":\"c\",\"ResourceName\":\"a/b\"," ids "}]")

static void is_refused(const char *text, const char *why)
{
	struct pod_list l = {.n = 77};
	struct err e = {0};

	assert_int_equal(pod_checkpoint_parse(&l, text, strlen(text), &e), -EBADMSG);
	assert_int_equal(e.code, -EBADMSG);
	if (!strstr(e.msg, why))
		fail_msg("\"%s\" does not contain \"%s\"", e.msg, why);
	assert_int_equal(l.n, 77);
}

static void invalid_checkpoints_are_rejected(void **state)
{
	(void)state;
	is_refused("", "line 1");
	is_refused("[]", "\"Data\"");
	is_refused("{}", "\"Data\"");
	is_refused("{\"Data\":[]}", "\"Data\"");
	is_refused("{\"Data\":\n{\n", "line 3");
	is_refused("{\"Data\":{}}", "PodDeviceEntries");
	is_refused(ENTRIES("{}"), "not a list");
	is_refused(ENTRIES("[1]"), "PodDeviceEntries[0].PodUID");
	is_refused(ENTRIES("[{\"PodUID\":\"u\"}]"), "PodDeviceEntries[0].ContainerName");
	is_refused(ENTRIES("[{\"PodUID\":\"u\",\"ContainerName\":\"c\"}]"), "ResourceName");
	is_refused(ENTRY("\"x\":0"), "DeviceIDs");
	is_refused(ENTRY("\"DeviceIDs\":\"a\""), "DeviceIDs");
	is_refused(ENTRY("\"DeviceIDs\":[1]"), "strings");
	is_refused(ENTRY("\"DeviceIDs\":{\"0\":3}"), "DeviceIDs");
	is_refused(ENTRY("\"DeviceIDs\":{\"0\":[{}]}"), "strings");
	is_refused(ENTRY("\"DeviceIDs\":[\"a\\u0000b\"]"), "line 1");
	is_refused(ENTRY("\"DeviceIDs\":[\"\xff\"]"), "line 1");
}

static void too_long_names_are_counted(void **state)
{
	char text[512], id64[65] = "";
	struct pod_list l;

	(void)state;
	memset(id64, 'i', 64);
	snprintf(text, sizeof(text), ENTRY("\"DeviceIDs\":{\"0\":[\"%s\",\"ok\"],\"1\":null}"),
		 id64);
	assert_int_equal(pod_checkpoint_parse(&l, text, strlen(text), NULL), 1);
	assert_int_equal(l.n, 1);
	assert_string_equal(l.devices[0].id, "ok");
	pod_list_done(&l);
}

static void every_cut_is_survived(void **state)
{
	size_t len;
	uint8_t *text = fixture_read("checkpoint/by_node.json", &len);

	(void)state;
	for (size_t n = 0; n < len; n++) {
		char *cut = malloc(n ? n : 1);
		struct pod_list l;
		struct err e = {0};

		memcpy(cut, text, n);
		assert_int_equal(pod_checkpoint_parse(&l, cut, n, &e), -EBADMSG);
		assert_true(e.msg[0] != '\0');
		free(cut);
	}
	free(text);
}

static void any_failed_allocation_is_survived(void **state)
{
	size_t len;
	uint8_t *text = fixture_read("checkpoint/list.json", &len);
	struct pod_list l;
	long n;

	(void)state;
	for (n = 0;; n++) {
		struct err e = {0};
		int r;

		faults_alloc(n);
		r = pod_checkpoint_parse(&l, (char *)text, len, &e);
		if (!faults_end()) {
			assert_int_equal(r, 0);
			break;
		}
		assert_int_equal(r, -ENOMEM);
		assert_true(e.msg[0] != '\0');
	}
	pod_list_done(&l);
	assert_true(n > 50);
	free(text);
}

/* Only one of the two pods still has its folder. */
static void removed_pods_are_left_out(void **state)
{
	char *dir = tmptree_new();
	struct pod_list l = {0};
	struct err e = {0};
	size_t len;
	uint8_t *text = fixture_read("checkpoint/list.json", &len);

	(void)state;
	assert_int_equal(pod_checkpoint_read(&l, dir, &e), -ENOENT);
	tmptree_write(dir, "device-plugins/kubelet_internal_checkpoint", "%.*s", (int)len,
		      (char *)text);
	assert_int_equal(pod_checkpoint_read(&l, dir, &e), 0);
	assert_int_equal(pod_list_push(&l, &(struct pod_device){.uid = "x", .id = "1"}), 0);
	assert_int_equal(pod_list_push(&l, &(struct pod_device){.uid = "", .id = "2"}), 0);
	assert_int_equal(pod_list_push(&l, &(struct pod_device){.uid = "../pods", .id = "3"}), 0);
	assert_int_equal(l.n, 5);
	tmptree_write(dir, "pods/" UID "/etc-hosts", "%s", "");
	pod_checkpoint_drop_ended(&l, dir);
	assert_int_equal(l.n, 2);
	has(&l.devices[0], "main", "0000:03:00.2");
	has(&l.devices[1], "main", "0000:03:00.3");
	pod_list_done(&l);
	tmptree_write(dir, "device-plugins/kubelet_internal_checkpoint", "%s", "no");
	assert_int_equal(pod_checkpoint_read(&l, dir, &e), -EBADMSG);
	assert_non_null(strstr(e.msg, dir));
	tmptree_free(dir);
	free(text);
}

TEST_GROUP(checkpoint)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ids_by_numa_node),
		cmocka_unit_test(ids_as_a_list),
		cmocka_unit_test(a_checkpoint_without_entries),
		cmocka_unit_test(invalid_checkpoints_are_rejected),
		cmocka_unit_test(too_long_names_are_counted),
		cmocka_unit_test(removed_pods_are_left_out),
		cmocka_unit_test(every_cut_is_survived),
		cmocka_unit_test(any_failed_allocation_is_survived),
	};

	return test_group_run(tests, NULL, NULL);
}
