// SPDX-License-Identifier: Apache-2.0
/* Changes of verdicts that cause an event, and its text. */
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
	struct verdict v; /* an opened verdict of a pod's device */
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

	assert_true(verdict_event(&f->v, &f->v, 1, 17, &f->e));
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
	assert_true(verdict_event(&f->v, &f->v, 1, 17, &f->e));
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
		[CLOSE_EXPLAINED] = "mlx5_1 port 1: peer_gone is now explained by link_flap; pods",
	};
	struct fixture *f = *state;

	f->v.change = VERDICT_CLOSED;
	f->v.explained_by = CAUSE_LINK_FLAP;
	strcpy(f->v.explained_on, "mlx5_1");
	for (int why = CLOSE_CLEARED; why <= CLOSE_EXPLAINED; why++) {
		f->v.closed = (enum close_reason)why;
		assert_true(verdict_event(&f->v, &f->v, 1, 17, &f->e));
		assert_int_equal(f->e.type, EVENT_NORMAL);
		assert_string_equal(f->e.reason, "DiagnosisEnd");
		assert_ptr_equal(strstr(f->e.message, texts[why]), f->e.message);
		assert_non_null(strstr(f->e.message, "; pods: train/job-7"));
	}
	strcpy(f->v.explained_on, "mlx5_0");
	assert_true(verdict_event(&f->v, &f->v, 1, 17, &f->e));
	assert_non_null(strstr(f->e.message, "is now explained by link_flap of mlx5_0; pods"));
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
	assert_true(verdict_event(&f->v, &f->v, 1, 17, &f->e));
	assert_string_equal(
		f->e.message,
		"mlx5_1 port 1: peer_gone is over, lasted 75 s; at its worst, "
		"packets of priority 3: 0.07 %; pods: train/job-7, train/job-8, train/job-9, "
		"train/job-10, train/job-11, train/job-12 and 2 more");
	/* The fault continues as a symptom of another cause. */
	f->v.closed = CLOSE_EXPLAINED;
	assert_true(verdict_event(&f->v, &f->v, 1, 17, &f->e));
	assert_non_null(
		strstr(f->e.message, "peer_gone is now explained by another cause; pods: "));
}

static void test_all_pods_are_named(void **state)
{
	struct fixture *f = *state;
	struct verdict all[2] = {f->v, f->v};

	for (uint32_t i = 1; i < VERDICT_PODS_MAX; i++) {
		all[0].pods[i] = f->v.pods[0];
		snprintf(all[0].pods[i].name, sizeof(all[0].pods[i].name), "job-7%u", i);
	}
	all[0].n_pods = VERDICT_PODS_MAX + 3;
	all[0].before_start = true;
	assert_true(verdict_event(&all[0], all, 1, 17, &f->e));
	assert_non_null(strstr(f->e.message, "; since before rocelet's start; pods: train/job-7, "
					     "train/job-71, train/job-72, "));
	assert_non_null(strstr(f->e.message, "train/job-75 and 3 more"));
	assert_string_equal(f->e.pod, "job-7");
	/* Pods whose names do not fit are counted, too. */
	all[0].n_culprits = 1;
	strcpy(all[0].culprits[0].namespace, "train");
	strcpy(all[0].culprits[0].name, "noisy");
	assert_true(verdict_event(&all[0], all, 1, 0, &f->e));
	assert_non_null(strstr(f->e.message, " more; caused by: train/noisy"));
	/* Without an affected pod it is the event of the pod that causes it. */
	all[0].n_pods = 0;
	assert_true(verdict_event(&all[0], all, 1, 0, &f->e));
	assert_string_equal(f->e.pod, "noisy");
	all[0].n_pods = VERDICT_PODS_MAX + 3;
	all[0].n_culprits = 0;
	memset(all[0].pods[1].name, 'x', sizeof(all[0].pods[1].name) - 1);
	memset(all[0].pods[2].name, 'y', sizeof(all[0].pods[2].name) - 1);
	assert_true(verdict_event(&all[0], all, 1, 17, &f->e));
	assert_null(strstr(f->e.message, "yy"));
	assert_non_null(strstr(f->e.message, "x and 7 more"));
}

/* The event of a pod that slows others names both, the affected first. */
static void test_the_culprit_and_its_victims(void **state)
{
	struct fixture *f = *state;
	struct verdict v = f->v;

	v.cause = CAUSE_NOISY_NEIGHBOUR;
	v.n_culprits = 1;
	v.culprits[0] = v.pods[0];
	v.n_pods = 1;
	strcpy(v.pods[0].name, "victim");
	assert_true(verdict_event(&v, &v, 1, 17, &f->e));
	assert_string_equal(f->e.pod, "victim");
	assert_non_null(strstr(f->e.message, "; pods: train/victim; caused by: train/job-7"));
}

static void test_a_higher_severity(void **state)
{
	struct fixture *f = *state;

	f->v.change = VERDICT_SEVERITY;
	f->v.remark = NULL;
	f->v.n_pods = 1;
	f->v.n_evidence = 1;
	f->v.evidence[0] = (struct evidence){"link down for", "s", 241, 240, -1, NULL};
	assert_true(verdict_event(&f->v, &f->v, 1, 17, &f->e));
	assert_int_equal(f->e.type, EVENT_WARNING);
	assert_string_equal(f->e.reason, "DiagnosisWorse");
	assert_string_equal(f->e.message,
			    "mlx5_1 port 1: peer_gone is now critical; link down for: "
			    "4m1s (limit 4m); pods: train/job-7");
	f->v.evidence[0].threshold = (double)NAN;
	f->v.n_pods = 0;
	assert_true(verdict_event(&f->v, &f->v, 1, 17, &f->e));
	assert_non_null(strstr(f->e.message, "link down for: 4m1s"));
	assert_null(strstr(f->e.message, "limit"));
	f->v.remark = "why";
	assert_true(verdict_event(&f->v, &f->v, 1, 17, &f->e));
	assert_string_equal(f->e.message, "mlx5_1 port 1: peer_gone is now critical: why");
	f->v.explained = true;
	assert_false(verdict_event(&f->v, &f->v, 1, 17, &f->e));
}

static void test_changes_that_cause_no_event(void **state)
{
	struct fixture *f = *state;

	f->v.change = VERDICT_SAME;
	assert_false(verdict_event(&f->v, &f->v, 1, 17, &f->e));
	/* An explained verdict was never reported. */
	f->v.explained = true;
	f->v.change = VERDICT_OPENED;
	assert_false(verdict_event(&f->v, &f->v, 1, 17, &f->e));
	f->v.change = VERDICT_CLOSED;
	f->v.closed = CLOSE_CLEARED;
	assert_false(verdict_event(&f->v, &f->v, 1, 17, &f->e));
	f->v.closed = CLOSE_EXPLAINED;
	assert_true(verdict_event(&f->v, &f->v, 1, 17, &f->e));
}

TEST_GROUP(verdict_event)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_onset, setup, teardown),
		cmocka_unit_test_setup_teardown(test_end, setup, teardown),
		cmocka_unit_test_setup_teardown(test_an_end_has_its_length_and_its_worst_value,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_all_pods_are_named, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_culprit_and_its_victims, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_higher_severity, setup, teardown),
		cmocka_unit_test_setup_teardown(test_changes_that_cause_no_event, setup, teardown),
	};

	return test_group_run(tests, NULL, NULL);
}
