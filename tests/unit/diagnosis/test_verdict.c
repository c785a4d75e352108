// SPDX-License-Identifier: Apache-2.0
/* The pods that a verdict concerns, its main evidence, and the texts of evidence. */
#include "verdict.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "test_group.h"

static void make(struct verdict *v, const char *device, enum cause cause, const char *pod)
{
	*v = (struct verdict){.port = 1, .cause = cause, .opened_ms = 1};
	strcpy(v->device, device);
	if (!pod)
		return;
	v->n_pods = 1;
	strcpy(v->pods[0].namespace, "train");
	strcpy(v->pods[0].name, pod);
}

/* Makes the verdict a symptom of a verdict of the PF. */
static void make_symptom(struct verdict *v, const char *pf, enum cause cause)
{
	v->explained = true;
	strcpy(v->pf, pf);
	v->led_by = CAUSE_BIT(cause);
}

static void assert_pods(const struct verdict *v, const struct verdict *all, size_t n,
			const char *wanted)
{
	const struct observed_pod *pod;
	char names[256] = "";
	size_t pos = 0;

	while ((pod = verdict_next_pod(v, all, n, &pos)) != NULL)
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s ", pod->name);
	assert_string_equal(names, wanted);
}

static void test_pods_of_its_own(void **state)
{
	struct verdict v[2];

	(void)state;
	make(&v[0], "mlx5_0", CAUSE_LINK_FLAP, NULL);
	make(&v[1], "mlx5_1", CAUSE_LINK_FLAP, "a");
	assert_pods(&v[0], v, 2, "");
	assert_pods(&v[1], v, 2, "a ");
	assert_pods(&v[1], NULL, 0, "a ");
}

static void test_pods_of_the_vfs(void **state)
{
	struct verdict v[8];

	(void)state;
	make(&v[0], "mlx5_1", CAUSE_LINK_FLAP, "a");
	make(&v[1], "mlx5_0", CAUSE_LINK_FLAP, NULL);
	make(&v[2], "mlx5_2", CAUSE_LINK_FLAP, "b");
	make(&v[3], "mlx5_2", CAUSE_PORT_OFF, "b"); /* the same pod */
	make(&v[4], "mlx5_3", CAUSE_LINK_FLAP, "c");
	make(&v[5], "mlx5_4", CAUSE_LINK_FLAP, "of another PF");
	make(&v[6], "mlx5_5", CAUSE_LINK_FLAP, "that ended");
	make(&v[7], "mlx5_6", CAUSE_PEER_GONE, "with another cause");
	for (int i = 0; i < 8; i++)
		if (i != 1 && i != 7)
			make_symptom(&v[i], i == 5 ? "mlx5_9" : "mlx5_0", CAUSE_LINK_FLAP);
	v[6].opened_ms = 0;
	assert_pods(&v[1], v, 8, "a b c ");
	/* The verdict already has copies of some pods. */
	v[1].n_pods = 3;
	v[1].pods[0] = v[0].pods[0];
	v[1].pods[1] = v[4].pods[0];
	v[1].pods[2] = v[2].pods[0];
	assert_pods(&v[1], v, 8, "a c b ");
	/* The cause that explains the PF's verdict also explains the VFs' verdicts. */
	v[7] = v[1];
	v[7].cause = CAUSE_NIC_STUCK;
	v[7].symptoms = CAUSE_BIT(CAUSE_LINK_FLAP);
	v[7].n_pods = 0;
	assert_pods(&v[7], v, 8, "a b c ");
	/* Another port of the PF has another link. */
	v[7].port = 2;
	assert_pods(&v[7], v, 8, "");
}

/* A pod that causes the fault is none of the affected ones, also if a verdict that is explained
 * names it. */
static void test_pods_that_cause_it(void **state)
{
	struct verdict v[4];

	(void)state;
	make(&v[0], "mlx5_0", CAUSE_NOISY_NEIGHBOUR, "b");
	v[0].n_culprits = 1;
	strcpy(v[0].culprits[0].namespace, "train");
	strcpy(v[0].culprits[0].name, "noisy");
	strcpy(v[0].function, "pf");
	make(&v[1], "mlx5_1", CAUSE_FABRIC_CONGESTION, "a");
	make(&v[2], "mlx5_2", CAUSE_PEER_GONE, "c");
	make(&v[3], "mlx5_3", CAUSE_FABRIC_CONGESTION, "noisy");
	make_symptom(&v[1], "mlx5_0", CAUSE_NOISY_NEIGHBOUR);
	make_symptom(&v[3], "mlx5_0", CAUSE_NOISY_NEIGHBOUR);
	assert_pods(&v[0], v, 4, "b a ");
	assert_true(verdict_is_culprit(&v[0], "train", "noisy"));
	assert_false(verdict_is_culprit(&v[0], "test", "noisy"));
	assert_false(verdict_is_culprit(&v[1], "train", "noisy"));
	/* It concerns every VF of the port, also those without a symptom. */
	assert_int_equal(verdict_relation(&v[0], v, 4, "mlx5_2", 1, "pf"), VERDICT_OF_PF);
	assert_int_equal(verdict_relation(&v[2], v, 4, "mlx5_2", 1, "pf"), VERDICT_OWN);
	assert_int_equal(verdict_relation(&v[0], v, 4, "mlx5_2", 1, "other"), VERDICT_UNRELATED);
}

static void test_main_evidence(void **state)
{
	const double none = (double)NAN;
	struct evidence e[] = {{"context", "", 1, none, -1, NULL},
			       {"unknown", "", none, 2, -1, NULL},
			       {"quiet", "1/s", 0, 10, -1, NULL},
			       {"beyond", "1/s", 811, 10, -1, NULL},
			       {"less", "", 3, 2, -1, NULL}};

	(void)state;
	assert_null(evidence_main(e, 0, false));
	assert_string_equal(evidence_main(e, 1, false)->name, "context");
	/* The evidence furthest beyond its limit comes first. */
	assert_string_equal(evidence_main(e, 5, false)->name, "beyond");
	assert_string_equal(evidence_main(e, 5, true)->name, "quiet");
	/* One event exceeds a limit of 0. */
	e[4] = (struct evidence){"one", "", 1, 0, -1, NULL};
	assert_string_equal(evidence_main(e, 5, false)->name, "one");
	evidence_sort(e, 5, false);
	assert_string_equal(e[0].name, "one");
	assert_string_equal(e[1].name, "context");
	assert_string_equal(e[4].name, "beyond");
}

static void assert_text(const char *unit, double value, const char *wanted)
{
	const struct evidence e = {"x", unit, value, (double)NAN, -1, NULL};
	char text[EVIDENCE_TEXT_SIZE];

	evidence_text(&e, text);
	assert_string_equal(text, wanted);
}

static void test_texts(void **state)
{
	const struct evidence word = {"state", "", 1, (double)NAN, -1, "down"},
			      lane = {"lane #, share", "ratio", 1, (double)NAN, 3, NULL};
	char text[EVIDENCE_TEXT_SIZE], name[EVIDENCE_NAME_SIZE];

	(void)state;
	assert_text("ratio", 0.0005195, "0.0519 %");
	assert_text("ratio", 1.003, "100 %");
	assert_text("ratio", 0.0005002, "0.05 %");
	assert_text("ratio", 1, "100 %");
	assert_text("ratio", 0, "0 %");
	assert_text("ratio", 2.5e-9, "2.5e-09");
	assert_text("1/s", 403, "403/s");
	assert_text("B/s", 12.5e9, "100 Gbit/s");
	assert_text("s", 1733, "28m");
	assert_text("s", 99.73, "99.73 s");
	assert_text("", 24000, "24,000");
	assert_text("", 3, "3");
	evidence_text(&word, text);
	assert_string_equal(text, "down");
	evidence_name(&lane, name);
	assert_string_equal(name, "lane 3, share");
}

static void test_masks_are_priorities(void **state)
{
	static const struct {
		double mask;
		const char *text;
	} rows[] = {{8, "3"}, {24, "3,4"}, {0, "none"}, {255, "0,1,2,3,4,5,6,7"}};
	char text[EVIDENCE_TEXT_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct evidence e = {.unit = EVIDENCE_PRIORITIES, .value = rows[i].mask};

		assert_true(evidence_is_word(&e));
		assert_string_equal(evidence_text(&e, text), rows[i].text);
	}
}

TEST_GROUP(verdict)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pods_of_its_own),
		cmocka_unit_test(test_pods_of_the_vfs),
		cmocka_unit_test(test_pods_that_cause_it),
		cmocka_unit_test(test_main_evidence),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_masks_are_priorities),
	};

	return test_group_run(tests, NULL, NULL);
}
