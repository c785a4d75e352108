// SPDX-License-Identifier: Apache-2.0
/* Is it the network? Each kind of trouble gives its answer, and the unknown is never "no". */
#include "network_answer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test_group.h"

#define SINCE_MS 1767323045000 /* 2026-01-02T03:04:05Z */

static struct condition judged(size_t clear)
{
	return (struct condition){.watch = "judged", .n_ports = 1, .n_judged = 1, .n_clear = clear};
}

static struct trouble verdict_of(enum cause cause, enum severity severity)
{
	const struct cause_row *row = cause_row(cause);
	struct trouble t = {.kind = TROUBLE_VERDICT,
			    .severity = severity,
			    .side = row->side,
			    .word = row->name,
			    .since_unix_ms = SINCE_MS};

	snprintf(t.what, sizeof(t.what), "%s", row->sentence);
	return t;
}

static struct trouble trouble_of(enum trouble_word word)
{
	const struct trouble_row *row = trouble_row(word);
	struct trouble t = {.kind = TROUBLE_DEVICE,
			    .severity = SEVERITY_CRITICAL,
			    .side = row->side,
			    .word = row->word,
			    .what = "device 0000:03:00.2 is unhealthy"};

	return t;
}

static void assert_answer(const struct network_answer *a, enum network_word word,
			  const char *sentence)
{
	char text[NETWORK_ANSWER_SIZE];

	assert_int_equal(network_answer_text(a, text, sizeof(text)), word);
	assert_string_equal(text, sentence);
}

/* The answer of one device with one trouble. */
static void assert_one(struct trouble t, enum network_word word, const char *sentence)
{
	struct network_answer a = {0};
	struct condition c = judged(0);

	c.troubles[0] = t;
	c.n = 1;
	network_answer_add(&a, "mlx5_2", &c);
	assert_answer(&a, word, sentence);
}

static void test_no_trouble(void **state)
{
	struct network_answer a = {0};
	struct condition c = judged(1), busy = judged(0);

	(void)state;
	network_answer_add(&a, "mlx5_2", &c);
	assert_answer(&a, NETWORK_NO, "No: the network is certainly not the bottleneck");
	network_answer_add(&a, "mlx5_3", &busy);
	assert_answer(&a, NETWORK_NO,
		      "No fault of the network is visible from this node, on 2 judged ports");
}

static void test_each_side(void **state)
{
	struct trouble t = verdict_of(CAUSE_LINK_FLAP, SEVERITY_CRITICAL);

	(void)state;
	assert_one(t, NETWORK_YES,
		   "Yes: mlx5_2: the link went down (link_flap, critical) since "
		   "2026-01-02T03:04:05Z");
	t.of_pf = t.or_earlier = true;
	assert_one(t, NETWORK_YES,
		   "Yes: mlx5_2: the link went down (link_flap of its PF, critical) since "
		   "2026-01-02T03:04:05Z or earlier");
	assert_one(trouble_of(WORD_NO_RDMA), NETWORK_NO,
		   "No fault of the network is visible from this node. This node is at fault: "
		   "mlx5_2: the function has no RDMA device in the host (no_rdma, critical)");
	assert_one(verdict_of(CAUSE_RECEIVER_NOT_READY, SEVERITY_WARNING), NETWORK_NO,
		   "No fault of the network is visible from this node. An application is at "
		   "fault: mlx5_2: requests arrive for which no receive work request is "
		   "posted (receiver_not_ready, warning) since 2026-01-02T03:04:05Z");
	assert_one(verdict_of(CAUSE_FABRIC_CONGESTION, SEVERITY_INFO), NETWORK_NO,
		   "No fault of the network is visible from this node, on 1 judged port");
}

#define CAUSE_OF(c, why)                                                                           \
	(struct undecided)                                                                         \
	{                                                                                          \
		why, CAUSE_##c, -1                                                                 \
	}

/* A no names what could not be judged, the causes with one reason together. */
static void test_what_was_not_judged(void **state)
{
	static const char phy[] = "no counter of PHY errors is visible",
			  pause[] = "no pause time is visible";
	struct network_answer a = {0};
	struct condition c = judged(0), other = judged(0);

	(void)state;
	c.unjudged[c.n_unjudged++] = CAUSE_OF(BAD_LINK, phy);
	c.unjudged[c.n_unjudged++] = CAUSE_OF(PAUSE_STORM_VICTIM, pause);
	c.unjudged[c.n_unjudged++] = CAUSE_OF(PAUSED_BY_NETWORK, pause);
	network_answer_add(&a, "mlx5_2", &c);
	assert_answer(&a, NETWORK_NO,
		      "No fault of the network is visible from this node, on 1 judged port; not "
		      "judged: bad_link (no counter of PHY errors is visible); "
		      "pause_storm_victim, paused_by_network (no pause time is visible)");
	other.unjudged[other.n_unjudged++] = CAUSE_OF(BAD_LINK, phy);
	other.troubles[other.n++] = trouble_of(WORD_NO_RDMA);
	network_answer_add(&a, "mlx5_3", &other);
	assert_answer(
		&a, NETWORK_NO,
		"No fault of the network is visible from this node. This node is at fault: "
		"mlx5_3: the function has no RDMA device in the host (no_rdma, critical); not "
		"judged: bad_link (no counter of PHY errors is visible); "
		"pause_storm_victim, paused_by_network of mlx5_2 (no pause time is visible)");
	/* Symptoms that are all visible leave no doubt. */
	c.n_clear = 1;
	a = (struct network_answer){0};
	network_answer_add(&a, "mlx5_2", &c);
	assert_answer(&a, NETWORK_NO, "No: the network is certainly not the bottleneck");
}

/* Reasons that do not fit are counted. */
static void test_many_reasons(void **state)
{
	static char why[NETWORK_UNJUDGED_MAX][UNDECIDED_SIZE];
	char text[NETWORK_ANSWER_SIZE];
	struct network_answer a = {0};
	struct condition c = judged(0);

	(void)state;
	for (size_t i = 0; i < NETWORK_UNJUDGED_MAX; i++) {
		memset(why[i], 'a' + (int)i, sizeof(why[i]) - 1);
		c.unjudged[c.n_unjudged++] = (struct undecided){why[i], (enum cause)i, -1};
	}
	network_answer_add(&a, "mlx5_2", &c);
	assert_int_equal(network_answer_text(&a, text, sizeof(text)), NETWORK_NO);
	assert_string_equal(text + strlen(text) - strlen("; and 11 more"), "; and 11 more");
}

/* Doubtful counters, even as information, and ports that are not judged. */
static void test_the_unknown(void **state)
{
	static const struct {
		const char *watch, *sentence;
	} rows[] = {
		{"warming", "Unknown: mlx5_2 has been watched for less than a minute"},
		{"unseen", "Unknown: mlx5_2 has counters that cannot be read now"},
		{"down", "Unknown: mlx5_2 is down"},
		{"not applicable", "Unknown: mlx5_2 carries no RoCE"},
		{NULL, "Unknown: mlx5_2 has no RDMA port that is watched"},
	};
	struct network_answer none = {0};

	(void)state;
	assert_one(verdict_of(CAUSE_BLIND_SPOT, SEVERITY_INFO), NETWORK_UNKNOWN,
		   "Unknown: mlx5_2: required counters are not visible or not plausible "
		   "(blind_spot, info) since 2026-01-02T03:04:05Z");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct condition c = {.watch = rows[i].watch, .n_ports = rows[i].watch != NULL};
		struct condition fine = judged(1);
		struct network_answer a = {0};

		network_answer_add(&a, "mlx5_1", &fine);
		network_answer_add(&a, "mlx5_2", &c);
		assert_answer(&a, NETWORK_UNKNOWN, rows[i].sentence);
	}
	assert_answer(&none, NETWORK_UNKNOWN, "Unknown: the pod has no device");
}

/* A fault of the network is certain, whatever else is unknown; the worst one is named. */
static void test_the_worst(void **state)
{
	struct network_answer a = {0};
	struct condition c = {.watch = "warming", .n_ports = 1};

	(void)state;
	c.troubles[c.n++] = trouble_of(WORD_DRIFT);
	network_answer_add(&a, "mlx5_1", &c);
	assert_answer(&a, NETWORK_UNKNOWN,
		      "Unknown: mlx5_1 has been watched for less than a minute; found: mlx5_1: a "
		      "setting of the device is not the one that was set for the pod (drift, "
		      "critical)");
	c.troubles[c.n++] = verdict_of(CAUSE_PACKET_LOSS, SEVERITY_WARNING);
	network_answer_add(&a, "mlx5_2", &c);
	c = judged(0);
	c.troubles[c.n++] = verdict_of(CAUSE_LINK_FLAP, SEVERITY_CRITICAL);
	network_answer_add(&a, "mlx5_3", &c);
	assert_answer(&a, NETWORK_YES,
		      "Yes: mlx5_3: the link went down (link_flap, critical) since "
		      "2026-01-02T03:04:05Z; and 1 more");
}

/* Every cause and every word has a side, so that a new one is not forgotten. */
static void test_what_is_unclear(void **state)
{
	static const char *const unclear[] = {"contradicting_counters", "blind_spot", "peer_gone",
					      "port_down"};
	size_t n = 0;

	(void)state;
	for (int i = 0; i < N_CAUSES; i++)
		n += cause_row((enum cause)i)->side == SIDE_UNCLEAR;
	for (int i = 0; i < N_TROUBLE_WORDS; i++)
		n += trouble_row((enum trouble_word)i)->side == SIDE_UNCLEAR;
	assert_int_equal(n, sizeof(unclear) / sizeof(unclear[0]));
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(cause_row((enum cause)cause_by_name(unclear[i]))->side,
				 SIDE_UNCLEAR);
	assert_int_equal(trouble_row_find(unclear[3])->side, SIDE_UNCLEAR);
}

TEST_GROUP(network_answer)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_was_not_judged), cmocka_unit_test(test_many_reasons),
		cmocka_unit_test(test_no_trouble),	    cmocka_unit_test(test_each_side),
		cmocka_unit_test(test_the_unknown),	    cmocka_unit_test(test_the_worst),
		cmocka_unit_test(test_what_is_unclear),
	};

	return test_group_run(tests, NULL, NULL);
}
