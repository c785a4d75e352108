// SPDX-License-Identifier: Apache-2.0
/* Documents of attachments and events, compared with golden files; UPDATE_GOLDEN=1 rewrites
 * them. */
#include "api_attachments.h"
#include "doctor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api.h"
#include "api_resources.h"
#include "attachments.h"
#include "cleanup.h"
#include "golden.h"
#include "host_builder.h"
#include "resource_tables.h"
#include "test_group.h"

/* Compares the document with the file and frees it. */
static void assert_document(const char *path, char *text, size_t len)
{
	json_t *document;
	char *readable;

	assert_non_null(text);
	assert_int_equal(strlen(text), len);
	document = json_loadb(text, len, 0, NULL);
	assert_non_null(document);
	readable = json_dumps(document, JSON_INDENT(1));
	assert_golden_text(path, readable, strlen(readable));
	free(readable);
	json_decref(document);
	free(text);
}

static void test_attachments(void **state)
{
	struct attachments a;
	size_t len = 0;
	char *text;

	(void)state;
	attachments_small(&a);
	text = api_attachments(a.list, ATTACHMENTS_EPOCH, NULL, &len);
	assert_document("tests/golden/api_attachments.json", text, len);
}

static void test_no_attachments(void **state)
{
	struct attach_record free_one = {.state = ATTACH_FREE};
	struct attach_status status = {.record = &free_one};
	size_t len;
	char *text = api_attachments((struct attach_list){&status, 1}, 0, NULL, &len);

	(void)state;
	assert_string_equal(text, "{\"attachments\":[]}");
	free(text);
}

/* The attachments as part of the devices and pods. */
static void test_devices_and_pods_with_attachments(void **state)
{
	struct resource_table t;
	struct attachments a;
	struct host h = {0};
	struct api_input scene = {.host = &h, .resources = &t, .epoch_ms = ATTACHMENTS_EPOCH};
	struct condition_sources sources = {.host = &h, .epoch_ms = ATTACHMENTS_EPOCH};
	size_t len;
	char *text;

	(void)state;
	attachments_small(&a);
	resource_table_small(&t);
	build_function(&h, FN_PF, "0000:03:00.0", "", -1);
	build_function(&h, FN_VF, "0000:03:00.2", "0000:03:00.0", 0);
	scene.attachments = a.list;
	text = api_devices(&scene, &len);
	assert_document("tests/golden/api_devices_attached.json", text, len);
	sources.attachments = a.list;
	sources.resources = resource_index_new(&t);
	text = api_pods(&sources, NULL, &len);
	assert_document("tests/golden/api_pods_attached.json", text, len);
	resource_index_free((struct resource_index *)sources.resources);
	host_done(&h);
	resource_table_done(&t);
}

static void add(struct event_ring *ring, uint64_t ms, enum event_type type, const char *pod,
		const char *device, const char *message)
{
	struct event e = {.first_ms = ms, .last_ms = ms, .type = type, .reason = "Attached"};

	snprintf(e.namespace, sizeof(e.namespace), "%s", *pod ? "train" : "");
	snprintf(e.pod, sizeof(e.pod), "%s", pod);
	snprintf(e.device, sizeof(e.device), "%s", device);
	snprintf(e.message, sizeof(e.message), "%s", message);
	event_ring_add(ring, &e);
}

static void fill(struct event_ring *ring)
{
	assert_int_equal(event_ring_init(ring), 0);
	add(ring, 1767323045001, EVENT_NORMAL, "job-7", "0000:03:00.2", "one");
	add(ring, 1767323045002, EVENT_WARNING, "job-8", "0000:03:00.3", "two \xff");
	add(ring, 1767323045003, EVENT_NORMAL, "", "0000:03:00.2", "three");
	add(ring, 1767323045004, EVENT_NORMAL, "job-7", "0000:03:00.2", "one");
}

static void test_events(void **state)
{
	const struct event_filter all = {0};
	struct event_ring ring;
	size_t len = 0;
	char *text;

	(void)state;
	fill(&ring);
	text = api_events(&ring, &all, &len);
	assert_document("tests/golden/api_events.json", text, len);
	text = api_events(NULL, &all, &len);
	assert_string_equal(text, "{\"generation\":0,\"events\":[]}");
	free(text);
	event_ring_done(&ring);
}

/* Joins the messages of the events that the filter passes. */
static void assert_passes(const struct event_filter *f, const char *want)
{
	struct event_ring ring;
	char got[64] = "";
	json_t *document, *e;
	size_t len, i;
	char *text;

	fill(&ring);
	text = api_events(&ring, f, &len);
	document = json_loads(text, 0, NULL);
	json_array_foreach (json_object_get(document, "events"), i, e)
		strncat(got, json_string_value(json_object_get(e, "message")), 5);
	assert_string_equal(got, want);
	json_decref(document);
	free(text);
	event_ring_done(&ring);
}

static void test_filters(void **state)
{
	(void)state;
	assert_passes(&(struct event_filter){.pod = "job-7"}, "one");
	assert_passes(&(struct event_filter){.pod = "train/job-7"}, "one");
	assert_passes(&(struct event_filter){.pod = "other/job-7"}, "");
	assert_passes(&(struct event_filter){.pod = "trai/job-7"}, "");
	assert_passes(&(struct event_filter){.device = "0000:03:00.2"}, "threeone");
	assert_passes(&(struct event_filter){.device = "0000:03:00.2", .limit = 1}, "one");
	assert_passes(&(struct event_filter){.limit = 2}, "threeone");
	assert_passes(&(struct event_filter){.limit = 1, .pod = "job-8"}, "two \xef");
	assert_passes(&(struct event_filter){.reason = "None"}, "");
	assert_passes(&(struct event_filter){.has_type = true, .type = EVENT_WARNING}, "two \xef");
	assert_passes(&(struct event_filter){.since_ms = 1767323045003}, "threeone");
}

/* An event that names several pods belongs to each of them. */
static void test_an_event_of_several_pods(void **state)
{
	static const struct {
		const char *others, *pod;
		bool want;
	} rows[] = {
		{"train/llm-1,serve/web-0", "llm-0", true},
		{"train/llm-1,serve/web-0", "train/llm-1", true},
		{"train/llm-1,serve/web-0", "llm-1", true},
		{"train/llm-1,serve/web-0", "serve/web-0", true},
		{"train/llm-1,serve/web-0", "train/web-0", false},
		{"train/llm-10", "train/llm-1", false},
		{"", "llm-1", false},
		{"train", "train", false},
		{",train/llm-1", "llm-1", false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct event_filter filter = {.pod = rows[i].pod};
		struct event e = {.count = 1, .namespace = "train", .pod = "llm-0"};
		struct event_ring ring;

		assert_int_equal(event_ring_init(&ring), 0);
		e.other_pods = rows[i].others;
		event_ring_add(&ring, &e);
		if (api_events_any(&ring, &filter) != rows[i].want)
			fail_msg("%s of %s", rows[i].pod, rows[i].others);
		event_ring_done(&ring);
	}
}

/* An event belongs to the time between its first and its last occurrence. */
static void test_events_of_a_time(void **state)
{
	const struct event e = {.count = 2, .first_ms = 1000, .last_ms = 5000};
	static const struct {
		uint64_t since_ms, until_ms;
		bool want;
	} rows[] = {{0, 0, true},    {5000, 0, true},	 {5001, 0, false},   {0, 1000, true},
		    {0, 999, false}, {2000, 3000, true}, {6000, 7000, false}};
	struct event_ring ring;

	(void)state;
	assert_int_equal(event_ring_init(&ring), 0);
	event_ring_add(&ring, &e);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct event_filter filter = {.since_ms = rows[i].since_ms,
						    .until_ms = rows[i].until_ms};

		assert_int_equal(api_events_any(&ring, &filter), rows[i].want);
	}
	event_ring_done(&ring);
}

static void test_doctor(void **state)
{
	struct doctor_finding findings[] = {
		{FINDING_DIRTY, true, "0000:03:00.2", "could not be cleaned", "a", "b", "wait"},
		{FINDING_JOURNAL, false, "", "cannot be written", "", "", "look"},
	};
	struct doctor d = {.findings = findings, .n = 2};
	size_t len;
	char *text = api_doctor(&d, NULL, &len);

	(void)state;
	assert_string_equal(
		text,
		"{\"findings\":[{\"kind\":\"dirty\",\"about\":\"rocelet\",\"object\":\"0000:03:00.2\",\"namespace\":\"a\","
		"\"pod\":\"b\",\"what\":\"could not be cleaned\",\"help\":\"wait\",\"fixable\":true},{\"kind\":\"journal\",\"about\":\"rocelet\","
		"\"object\":null,\"namespace\":null,\"pod\":null,\"what\":\"cannot be written\",\"help\":\"look\",\"fixable\":"
		"false}],\"unchecked\":[]}");
	free(text);
}

/* --- out of memory, in every place ------------------------------------------------------------ */

static long allocations_left;

static void *failing_malloc(size_t n)
{
	return allocations_left-- > 0 ? malloc(n) : NULL;
}

static char *make_attachments(size_t *len)
{
	static struct attachments a;

	attachments_small(&a);
	return api_attachments(a.list, ATTACHMENTS_EPOCH, NULL, len);
}

static char *make_events(size_t *len)
{
	const struct event_filter all = {0};
	struct event_ring ring;
	char *text;

	fill(&ring);
	text = api_events(&ring, &all, len);
	event_ring_done(&ring);
	return text;
}

static char *make_doctor(size_t *len)
{
	struct doctor_finding findings[] = {{.what = "a"}, {.help = "b"}};
	const struct doctor d = {.findings = findings, .n = 2};

	return api_doctor(&d, NULL, len);
}

/* Leaks are found by the sanitizer. */
static void test_any_failed_allocation(void **state)
{
	static char *(*const documents[])(size_t *) = {make_attachments, make_events, make_doctor};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		char *text = NULL;
		size_t len;
		long n;

		json_set_alloc_funcs(failing_malloc, free);
		for (n = 0; !text; n++) {
			allocations_left = n;
			text = documents[i](&len);
			assert_true(n < 100000);
		}
		json_set_alloc_funcs(malloc, free);
		assert_true(n > 10);
		free(text);
	}
}

TEST_GROUP(api_attachments)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_attachments),
		cmocka_unit_test(test_no_attachments),
		cmocka_unit_test(test_devices_and_pods_with_attachments),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_filters),
		cmocka_unit_test(test_an_event_of_several_pods),
		cmocka_unit_test(test_events_of_a_time),
		cmocka_unit_test(test_doctor),
		cmocka_unit_test(test_any_failed_allocation),
	};

	return test_group_run(tests, NULL, NULL);
}
