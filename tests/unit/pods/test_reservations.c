// SPDX-License-Identifier: Apache-2.0
/* Allocations: reservations by Allocate, and when the kubelet's list confirms or ends them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "faults.h"
#include "reservations.h"
#include "test_group.h"

#define R	      "a.b/roce"
#define S	      "a.b/other"
#define SETTLED	      (1000 + RESERVATION_GRACE_MS)
#define INIT	      "u1"
#define SET(dst, src) snprintf((dst), sizeof(dst), "%s", (src))

/* an empty checkpoint */
static const struct pod_list none;

static int setup(void **state)
{
	*state = reservations_new();
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	reservations_free(*state);
	return 0;
}

static void add(struct pod_list *l, const char *resource, const char *id, const char *pod)
{
	const struct pod_device d = {.resource = resource, .id = id, .pod = pod};

	assert_int_equal(pod_list_push(l, &d), 0);
	l->source = POD_SOURCE_API;
}

/* Applies a list with these IDs of resource R, separated by blanks. */
static int apply(struct reservations *l, const char *ids, uint64_t asked_ms)
{
	struct pod_list list = {.source = POD_SOURCE_API};
	char copy[256], *at = copy, *id;
	int r;

	SET(copy, ids);
	while ((id = strsep(&at, " ")))
		if (id[0])
			add(&list, R, id, "pod");
	r = reservations_apply(l, &list, &none, asked_ms);
	pod_list_done(&list);
	return r;
}

static void reserve(struct reservations *l, const char *id, uint64_t now_ms)
{
	assert_int_equal(reservations_add(l, R, id, now_ms), 0);
}

/* Returns IDs and pods: "0:pod 1:-". */
static const char *listed(const struct reservations *l)
{
	static char text[512];
	const struct pod_list *list = reservations_list(l);
	size_t n = 0;

	text[0] = '\0';
	for (size_t i = 0; i < list->n; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s:%s", n ? " " : "",
				      list->devices[i].id,
				      list->devices[i].pod[0] ? list->devices[i].pod : "-");
	return text;
}

static void test_nothing_is_allocated_at_first(void **state)
{
	struct reservations *l = *state;

	assert_int_equal(reservations_state(l, R, "1"), RESERVATION_FREE);
	assert_int_equal(reservations_list(l)->n, 0);
	assert_int_equal(reservations_list(l)->source, POD_SOURCE_NONE);
	assert_true(reservations_request_at(l) == UINT64_MAX);
	reservations_free(NULL);
}

static void test_reserved_then_held_then_free(void **state)
{
	struct reservations *l = *state;

	reserve(l, "1", 1000);
	assert_int_equal(reservations_state(l, R, "1"), RESERVATION_RESERVED);
	assert_int_equal(reservations_state(l, S, "1"), RESERVATION_FREE);
	assert_int_equal(reservations_state(l, R, "2"), RESERVATION_FREE);
	assert_true(reservations_request_at(l) == SETTLED);
	assert_int_equal(apply(l, "1", SETTLED), 1);
	assert_int_equal(reservations_state(l, R, "1"), RESERVATION_HELD);
	assert_true(reservations_request_at(l) == UINT64_MAX);
	assert_int_equal(apply(l, "", SETTLED + 1), 1);
	assert_int_equal(reservations_state(l, R, "1"), RESERVATION_FREE);
}

static void test_an_unconfirmed_reservation_ends(void **state)
{
	struct reservations *l = *state;

	reserve(l, "1", 1000);
	/* The kubelet's list may not contain it yet. */
	assert_int_equal(apply(l, "", 999), 1); /* the source of the list is new */
	assert_int_equal(apply(l, "", 1000), 0);
	assert_int_equal(apply(l, "", SETTLED - 1), 0);
	assert_int_equal(reservations_state(l, R, "1"), RESERVATION_RESERVED);
	assert_int_equal(apply(l, "", SETTLED), 1);
	assert_int_equal(reservations_state(l, R, "1"), RESERVATION_FREE);
	assert_true(reservations_request_at(l) == UINT64_MAX);
}

static void test_a_new_reservation_outlives_the_init_container(void **state)
{
	struct reservations *l = *state;

	assert_int_equal(apply(l, "1", 500), 1);
	/* Allocate for a container that reuses an init container's device. */
	reserve(l, "1", 1000);
	assert_int_equal(reservations_state(l, R, "1"), RESERVATION_RESERVED);
	assert_int_equal(apply(l, "1", 1500), 1);
	assert_int_equal(apply(l, "", 1600), 1);
	assert_int_equal(reservations_state(l, R, "1"), RESERVATION_RESERVED);
	assert_int_equal(apply(l, "1", SETTLED), 1);
	assert_int_equal(apply(l, "", SETTLED + 1), 1);
	assert_int_equal(reservations_state(l, R, "1"), RESERVATION_FREE);
}

static void test_an_allocation_disproves_the_holders(void **state)
{
	struct pod_list list = {.source = POD_SOURCE_API};
	struct reservations *l = *state;
	uint64_t generation;

	add(&list, R, "1", "job-1");
	add(&list, R, "1", "job-2");
	add(&list, R, "2", "job-1");
	assert_int_equal(reservations_apply(l, &list, &none, 500), 1);
	generation = reservations_generation(l);
	reserve(l, "1", 1000);
	assert_string_equal(listed(l), "1:- 2:job-1");
	assert_int_equal(reservations_state(l, R, "1"), RESERVATION_RESERVED);
	assert_true(reservations_generation(l) > generation);
	/* A list requested before the Allocate still contains the old holders. */
	assert_int_equal(reservations_apply(l, &list, &none, 999), 0);
	assert_string_equal(listed(l), "1:- 2:job-1");
	assert_int_equal(apply(l, "1 2", 1001), 1);
	assert_string_equal(listed(l), "1:pod 2:pod");
	pod_list_done(&list);
}

static void test_reserving_again_extends_the_grace_period(void **state)
{
	struct reservations *l = *state;
	uint64_t generation;

	reserve(l, "1", 0);
	generation = reservations_generation(l);
	reserve(l, "1", 1000);
	assert_true(reservations_generation(l) == generation);
	assert_int_equal(reservations_list(l)->n, 1);
	apply(l, "", SETTLED - 1);
	assert_int_equal(reservations_state(l, R, "1"), RESERVATION_RESERVED);
}

static void test_an_old_or_missing_list_changes_nothing(void **state)
{
	struct reservations *l = *state;
	struct pod_list missing = {0};

	assert_int_equal(apply(l, "1", 5000), 1);
	assert_int_equal(apply(l, "", 4999), 0);
	assert_int_equal(reservations_apply(l, &missing, &none, 9000), 0);
	reserve(l, "2", 5000);
	assert_int_equal(reservations_apply(l, &missing, &none, 90000), 0);
	assert_string_equal(listed(l), "1:pod 2:-");
	/* The missing list's later time does not make this one old. */
	assert_int_equal(apply(l, "1 2", 8000), 1);
	assert_int_equal(reservations_list(l)->source, POD_SOURCE_API);
}

static void test_the_list_is_sorted_and_complete(void **state)
{
	struct reservations *l = *state;
	struct pod_list list = {0};

	reserve(l, "5", 1000);
	reserve(l, "1", 1000);
	reserve(l, "3", 1000);
	assert_int_equal(reservations_add(l, S, "9", 1000), 0);
	assert_string_equal(listed(l), "9:- 1:- 3:- 5:-"); /* a.b/other first */
	add(&list, R, "4", "q");
	add(&list, R, "3", "p2");
	add(&list, R, "3", "p1");
	add(&list, S, "0", "q");
	assert_int_equal(reservations_apply(l, &list, &none, 1500), 1);
	pod_list_done(&list);
	assert_string_equal(listed(l), "0:q 9:- 1:- 3:p1 3:p2 4:q 5:-");
	assert_int_equal(reservations_state(l, R, "3"), RESERVATION_HELD);
	reserve(l, "31", 1600);
	assert_string_equal(listed(l), "0:q 9:- 1:- 3:p1 3:p2 31:- 4:q 5:-");
}

static void test_generations_count_changes(void **state)
{
	struct reservations *l = *state;
	uint64_t g = reservations_generation(l);

	reserve(l, "1", 1000);
	assert_true(reservations_generation(l) > g);
	g = reservations_generation(l);
	assert_int_equal(apply(l, "1", SETTLED), 1);
	assert_true(reservations_generation(l) > g);
	g = reservations_generation(l);
	assert_int_equal(apply(l, "1", SETTLED + 1), 0);
	assert_true(reservations_generation(l) == g);
}

/* The checkpoint has only the pods' uids. */
static void test_a_pod_known_by_uid_holds_its_device(void **state)
{
	struct reservations *l = *state;
	struct pod_list list = {0};

	reserve(l, "1", 1000);
	add(&list, R, "1", "");
	list.devices[0].uid = "0b0c";
	list.source = POD_SOURCE_CHECKPOINT;
	assert_int_equal(reservations_apply(l, &list, &none, 1001), 1);
	pod_list_done(&list);
	assert_int_equal(reservations_state(l, R, "1"), RESERVATION_HELD);
	/* A device is also held if the kubelet does not name its pod. */
	list = (struct pod_list){0};
	add(&list, R, "2", "");
	assert_int_equal(reservations_apply(l, &list, &none, SETTLED), 1);
	pod_list_done(&list);
	assert_int_equal(reservations_state(l, R, "2"), RESERVATION_HELD);
}

/* The list contains the times of Allocate, of a container's wait, and of the query. */
static void test_times_are_recorded(void **state)
{
	struct reservations *l = *state;
	struct pod_list list = {0};

	assert_int_equal(reservations_add(l, R, "1", 1000), 0);
	assert_int_equal(reservations_list(l)->devices[0].reserved_ms, 1000);
	assert_int_equal(reservations_add(l, R, "1", 1100), 0); /* again for an init container */
	assert_int_equal(reservations_list(l)->devices[0].reserved_ms, 1100);
	add(&list, R, "1", "p");
	add(&list, R, "1", "q");
	add(&list, R, "2", "r");
	assert_int_equal(reservations_apply(l, &list, &none, 1500), 1);
	assert_string_equal(listed(l), "1:p 1:q 2:r");
	assert_int_equal(reservations_list(l)->devices[0].reserved_ms, 1100);
	assert_int_equal(reservations_list(l)->devices[1].reserved_ms, 1100);
	assert_int_equal(reservations_list(l)->devices[2].reserved_ms, 0);
	assert_int_equal(reservations_list(l)->asked_ms, 1500);
	assert_int_equal(reservations_note_start(l, R, "1", 1600), 0);
	assert_int_equal(reservations_apply(l, &list, &none, SETTLED), 0); /* nothing else is new */
	assert_int_equal(reservations_list(l)->asked_ms, SETTLED);
	assert_int_equal(reservations_list(l)->devices[0].reserved_ms, 1100);
	assert_int_equal(reservations_list(l)->devices[1].start_ms, 1600);
	assert_int_equal(reservations_list(l)->devices[2].start_ms, 0);
	reservations_note_end(l, R, "1");
	assert_int_equal(reservations_list(l)->devices[1].start_ms, 0);
	assert_int_equal(reservations_note_start(l, R, "1", 8000), 0);
	assert_int_equal(reservations_add(l, R, "1", 9000), 0);
	assert_string_equal(listed(l), "1:- 2:r");
	assert_int_equal(reservations_list(l)->devices[0].reserved_ms, 9000);
	assert_int_equal(reservations_list(l)->devices[0].start_ms, 0); /* the previous holder's */
	pod_list_done(&list);
	assert_int_equal(apply(l, "2", 9000 + RESERVATION_GRACE_MS), 1);
	assert_int_equal(apply(l, "1 2", 9001 + RESERVATION_GRACE_MS), 1);
	assert_int_equal(reservations_list(l)->devices[0].reserved_ms, 0);
	reservations_note_end(l, R, "3"); /* not in the list any more */
}

/* --- init containers -------------------------------------------------------------------------- */

/* Applies a list with the ID `listed_id` of a pod, and a checkpoint with the ID `saved_id`; "" =
 * none. */
static int apply_both(struct reservations *l, const char *listed_id, const char *saved_id,
		      uint64_t asked_ms)
{
	struct pod_list list = {.source = POD_SOURCE_API}, checkpoint = {0};
	const struct pod_device d = {
		.resource = R, .id = saved_id, .container = "init", .uid = INIT};
	int r;

	if (listed_id[0])
		add(&list, R, listed_id, "pod");
	if (saved_id[0])
		assert_int_equal(pod_list_push(&checkpoint, &d), 0);
	r = reservations_apply(l, &list, &checkpoint, asked_ms);
	pod_list_done(&checkpoint);
	pod_list_done(&list);
	return r;
}

/* The kubelet's list never contains it; it is allocated as long as the checkpoint contains it. */
static void test_an_init_containers_device(void **state)
{
	struct pod_list list = {.source = POD_SOURCE_API};
	struct reservations *l = *state;

	assert_false(reservations_need_checkpoint(l, &list));
	assert_int_equal(reservations_add(l, R, "1", 1000), 0);
	assert_true(reservations_need_checkpoint(l, &list));
	assert_int_equal(apply_both(l, "", "1", 1100), 1);
	assert_string_equal(reservations_list(l)->devices[0].uid, INIT);
	assert_string_equal(reservations_list(l)->devices[0].container, "init");
	assert_int_equal(reservations_list(l)->devices[0].reserved_ms, 1000);
	assert_int_equal(reservations_list(l)->n, 1);
	/* The kubelet may allocate it again. */
	assert_int_equal(reservations_state(l, R, "1"), RESERVATION_RESERVED);
	assert_int_equal(apply_both(l, "", "1", SETTLED), 0);
	assert_int_equal(apply_both(l, "", "1", 9000), 0);
	assert_true(reservations_need_checkpoint(l, &list));
	assert_true(reservations_request_at(l) == UINT64_MAX);
	assert_int_equal(reservations_list(l)->devices[0].reserved_ms, 1000);
	assert_int_equal(apply_both(l, "", "", 9100), 1);
	assert_int_equal(reservations_state(l, R, "1"), RESERVATION_FREE);
	assert_int_equal(apply_both(l, "", "1", 9200), 0);
}

/* The list takes precedence over the checkpoint, and a device that was never reserved is free. */
static void test_the_checkpoint_does_not_replace_the_list(void **state)
{
	struct reservations *l = *state;

	assert_int_equal(apply_both(l, "", "1", 900), 1); /* the source of the list is new */
	assert_int_equal(reservations_list(l)->n, 0);
	reserve(l, "1", 1000);
	assert_int_equal(apply_both(l, "1", "1", 1100), 1);
	assert_string_equal(listed(l), "1:pod");
	assert_int_equal(reservations_state(l, R, "1"), RESERVATION_HELD);
	/* The pod has ended, and there was no Allocate since. */
	assert_int_equal(apply_both(l, "1", "1", SETTLED), 0);
	assert_int_equal(apply_both(l, "", "1", SETTLED + 100), 1);
	assert_int_equal(reservations_list(l)->n, 0);
	/* A container reuses an init container's device. */
	reserve(l, "2", 5000);
	assert_int_equal(apply_both(l, "", "2", 5100), 1);
	reserve(l, "2", 5200);
	assert_int_equal(apply_both(l, "2", "2", 5300), 1);
	assert_string_equal(listed(l), "2:pod");
}

static void test_a_container_start_implies_a_reservation(void **state)
{
	struct reservations *l = *state;

	assert_int_equal(reservations_note_start(l, R, "1", 1000), 0);
	assert_int_equal(reservations_state(l, R, "1"), RESERVATION_RESERVED);
	assert_int_equal(reservations_list(l)->devices[0].reserved_ms, 0);
	assert_int_equal(reservations_list(l)->devices[0].start_ms, 1000);
	assert_int_equal(apply_both(l, "", "1", 1100), 1);
	assert_int_equal(reservations_note_start(l, R, "1", 9000), 0);
	assert_int_equal(apply_both(l, "", "", 9100), 1);
	assert_int_equal(reservations_state(l, R, "1"), RESERVATION_FREE);
}

static void test_resources_are_independent(void **state)
{
	struct reservations *l = *state;

	reserve(l, "1", 1000);
	assert_int_equal(reservations_add(l, S, "1", 3000), 0);
	assert_int_equal(apply(l, "", SETTLED), 1);
	assert_int_equal(reservations_state(l, R, "1"), RESERVATION_FREE);
	assert_int_equal(reservations_state(l, S, "1"), RESERVATION_RESERVED);
}

static void test_many(void **state)
{
	struct reservations *l = *state;
	char id[16], first[16] = "v0000";

	for (int i = 999; i >= 0; i--) {
		snprintf(id, sizeof(id), "v%04d", i);
		reserve(l, id, 1000);
	}
	assert_int_equal(reservations_list(l)->n, 1000);
	for (size_t i = 1; i < 1000; i++)
		assert_true(strcmp(reservations_list(l)->devices[i - 1].id,
				   reservations_list(l)->devices[i].id) < 0);
	assert_int_equal(apply(l, first, SETTLED), 1);
	assert_string_equal(listed(l), "v0000:pod");
	for (int i = 0; i < 9; i++) { /* the arrays grow again after they have shrunk */
		snprintf(id, sizeof(id), "w%d", i);
		reserve(l, id, 1000);
	}
	assert_int_equal(reservations_list(l)->n, 10);
}

static void fill(struct reservations *l)
{
	reserve(l, "1", 1000);
	reserve(l, "2", 1000);
	apply(l, "5", 1500);
}

static void test_any_allocation_may_fail(void **state)
{
	bool failed = true;
	unsigned n;
	(void)state;

	for (n = 0; failed; n++) {
		struct reservations *l = reservations_new();
		struct pod_list list = {0};
		char before[512];
		int r;

		assert_non_null(l);
		fill(l);
		add(&list, R, "7", "p");
		add(&list, R, "8", "p");
		SET(before, listed(l));
		faults_alloc(n);
		r = reservations_apply(l, &list, &none, 1600);
		failed = faults_end();
		assert_int_equal(r, failed ? -ENOMEM : 1);
		if (failed)
			assert_string_equal(listed(l), before);
		pod_list_done(&list);
		reservations_free(l);
	}
	assert_in_range(n, 3, 50);
}

static void test_a_reservation_may_fail(void **state)
{
	bool failed = true;
	unsigned n;
	(void)state;

	for (n = 0; failed; n++) {
		struct reservations *l = reservations_new();
		uint64_t generation;
		int r;

		assert_non_null(l);
		reserve(l, "1", 1000);
		reserve(l, "2", 1000); /* both arrays are full */
		generation = reservations_generation(l);
		faults_alloc(n);
		r = reservations_add(l, R, "3", 1000);
		failed = faults_end();
		assert_int_equal(r, failed ? -ENOMEM : 0);
		assert_int_equal(reservations_state(l, R, "3"),
				 failed ? RESERVATION_FREE : RESERVATION_RESERVED);
		assert_true((reservations_generation(l) == generation) == failed);
		assert_true(reservations_request_at(l) == SETTLED);
		assert_int_equal(reservations_add(l, R, "3", 1000), 0);
		assert_string_equal(listed(l), "1:- 2:- 3:-");
		reservations_free(l);
	}
	assert_int_equal(n, 3);
}

TEST_GROUP(reservations)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_nothing_is_allocated_at_first),
		TEST(test_reserved_then_held_then_free),
		TEST(test_an_unconfirmed_reservation_ends),
		TEST(test_a_new_reservation_outlives_the_init_container),
		TEST(test_an_allocation_disproves_the_holders),
		TEST(test_reserving_again_extends_the_grace_period),
		TEST(test_an_old_or_missing_list_changes_nothing),
		TEST(test_the_list_is_sorted_and_complete),
		TEST(test_generations_count_changes),
		TEST(test_a_pod_known_by_uid_holds_its_device),
		TEST(test_times_are_recorded),
		TEST(test_an_init_containers_device),
		TEST(test_the_checkpoint_does_not_replace_the_list),
		TEST(test_a_container_start_implies_a_reservation),
		TEST(test_resources_are_independent),
		TEST(test_many),
		TEST(test_any_allocation_may_fail),
		TEST(test_a_reservation_may_fail),
	};

	return test_group_run(tests, NULL, NULL);
}
