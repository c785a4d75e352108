// SPDX-License-Identifier: Apache-2.0
/* An event is added to the ring and logged once. */
#include "events.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "log.h"
#include "test_group.h"

/* Captures what one event writes to stderr. */
static void log_event(struct event_ring *ring, const struct event *e, char *text, size_t size)
{
	int saved = dup(STDERR_FILENO);
	FILE *f = tmpfile();
	size_t n;

	assert_non_null(f);
	log_init(LOG_LVL_INFO, LOG_FORMAT_JSON);
	assert_true(dup2(fileno(f), STDERR_FILENO) >= 0);
	events_add(ring, e);
	dup2(saved, STDERR_FILENO);
	close(saved);
	rewind(f);
	n = fread(text, 1, size - 1, f);
	text[n] = '\0';
	fclose(f);
}

static void assert_field(const json_t *line, const char *key, const char *expected)
{
	const char *got = json_string_value(json_object_get(line, key));

	if (expected)
		assert_string_equal(got, expected);
	else
		assert_null(got);
}

static void test_ring_and_log(void **state)
{
	struct event e = {.first_ms = 1,
			  .last_ms = 1,
			  .type = EVENT_WARNING,
			  .reason = "AttachFailed",
			  .namespace = "train",
			  .pod = "job-7",
			  .device = "0000:03:00.2",
			  .message = "no such address"};
	struct event_ring ring;
	char text[2048];
	json_t *line;

	(void)state;
	assert_int_equal(event_ring_init(&ring), 0);
	log_event(&ring, &e, text, sizeof(text));
	line = json_loads(text, 0, NULL); /* fails unless it is one line */
	assert_non_null(line);
	assert_field(line, "level", "warn");
	assert_field(line, "msg", "no such address");
	assert_field(line, "type", "Warning");
	assert_field(line, "reason", "AttachFailed");
	assert_field(line, "object", "pod/train/job-7");
	assert_field(line, "device", "0000:03:00.2");
	json_decref(line);
	assert_int_equal(ring.n, 1);

	e = (struct event){.last_ms = 2, .reason = "Orphan", .message = "m"};
	log_event(&ring, &e, text, sizeof(text));
	line = json_loads(text, 0, NULL);
	assert_field(line, "level", "info");
	assert_field(line, "object", NULL);
	assert_field(line, "device", NULL);
	json_decref(line);
	assert_int_equal(ring.n, 2);
	event_ring_done(&ring);
}

TEST_GROUP(events)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ring_and_log),
	};

	return test_group_run(tests, NULL, NULL);
}
