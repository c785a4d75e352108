// SPDX-License-Identifier: Apache-2.0
/* Which changes of verdicts are worth an event. */
#include "verdict_event.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "diagnosis_fixture.h"
#include "test_group.h"

struct fixture {
	struct diagnosis_report report;
	struct verdict v; /* a pod's, opened */
	struct event e;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	diagnosis_report_small(&f->report);
	f->v = f->report.verdicts[1];
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	diagnosis_report_done(&f->report);
	free(f);
	return 0;
}

static void test_onset(void **state)
{
	struct fixture *f = *state;

	assert_true(verdict_event(&f->v, 17, &f->e));
	assert_int_equal(f->e.type, EVENT_WARNING);
	assert_string_equal(f->e.reason, "DiagnosisOnset");
	assert_string_equal(f->e.namespace, "train");
	assert_string_equal(f->e.pod, "job-7");
	assert_string_equal(f->e.device, "0000:03:00.2");
	assert_int_equal(f->e.first_ms, 17);
	assert_int_equal(f->e.last_ms, 17);
	assert_int_equal(f->e.count, 1);
	assert_ptr_equal(strstr(f->e.message, "mlx5_1 port 1: peer_gone, critical: "),
			 f->e.message);
	f->v.severity = SEVERITY_INFO;
	f->v.n_pods = 0;
	assert_true(verdict_event(&f->v, 17, &f->e));
	assert_int_equal(f->e.type, EVENT_NORMAL);
	assert_string_equal(f->e.pod, "");
}

static void test_end(void **state)
{
	static const char *const texts[] = {
		[CLOSE_CLEARED] = "mlx5_1 port 1: peer_gone is over",
		[CLOSE_GONE] = "mlx5_1 port 1: peer_gone is over, the port was removed",
		[CLOSE_UNSEEN] =
			("mlx5_1 port 1: peer_gone is closed, its counters are no longer visible"),
		[CLOSE_EXPLAINED] = "mlx5_1 port 1: peer_gone is now explained by another cause",
	};
	struct fixture *f = *state;

	f->v.change = VERDICT_CLOSED;
	for (int why = CLOSE_CLEARED; why <= CLOSE_EXPLAINED; why++) {
		f->v.closed = (enum close_reason)why;
		assert_true(verdict_event(&f->v, 17, &f->e));
		assert_int_equal(f->e.type, EVENT_NORMAL);
		assert_string_equal(f->e.reason, "DiagnosisEnd");
		assert_string_equal(f->e.message, texts[why]);
	}
}

static void test_an_end_has_its_length_and_its_worst_value(void **state)
{
	struct fixture *f = *state;

	f->v.change = VERDICT_CLOSED;
	f->v.closed = CLOSE_CLEARED;
	f->v.over_ms = f->v.onset_ms + 75400;
	f->v.worst.n_evidence = 2;
	f->v.worst.evidence[0] = (struct evidence){"peers", "", 7, (double)NAN, -1, NULL};
	f->v.worst.evidence[1] = (struct evidence){
		"packets of priority #", "ratio", 0.0007, 0.0001, 3, NULL};
	assert_true(verdict_event(&f->v, 17, &f->e));
	assert_string_equal(f->e.message,
			    "mlx5_1 port 1: peer_gone is over, lasted 75 s, at worst 0.07 %: "
			    "packets of priority 3");
	/* It goes on, under another name. */
	f->v.closed = CLOSE_EXPLAINED;
	assert_true(verdict_event(&f->v, 17, &f->e));
	assert_string_equal(f->e.message,
			    "mlx5_1 port 1: peer_gone is now explained by another cause");
}

static void test_changes_that_cause_no_event(void **state)
{
	struct fixture *f = *state;

	f->v.change = VERDICT_SAME;
	assert_false(verdict_event(&f->v, 17, &f->e));
	f->v.change = VERDICT_SEVERITY;
	assert_false(verdict_event(&f->v, 17, &f->e));
	/* It was never reported. */
	f->v.explained = true;
	f->v.change = VERDICT_OPENED;
	assert_false(verdict_event(&f->v, 17, &f->e));
	f->v.change = VERDICT_CLOSED;
	f->v.closed = CLOSE_CLEARED;
	assert_false(verdict_event(&f->v, 17, &f->e));
	f->v.closed = CLOSE_EXPLAINED;
	assert_true(verdict_event(&f->v, 17, &f->e));
}

TEST_GROUP(verdict_event)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_onset, setup, teardown),
		cmocka_unit_test_setup_teardown(test_end, setup, teardown),
		cmocka_unit_test_setup_teardown(test_an_end_has_its_length_and_its_worst_value,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_changes_that_cause_no_event, setup, teardown),
	};

	return test_group_run(tests, NULL, NULL);
}
