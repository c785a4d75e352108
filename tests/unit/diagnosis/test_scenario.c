// SPDX-License-Identifier: Apache-2.0
/* Scenario files: their contents, their errors, and limits on their size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenario.h"
#include "test_group.h"

static char complaints[4096];
static struct thresholds limits;
static struct scenario *s;
static struct observation o;
static FILE *file;

static void complain(const char *message, void *arg)
{
	size_t n = strlen(complaints);

	(void)arg;
	snprintf(complaints + n, sizeof(complaints) - n, "%s\n", message);
}

static void open_text(const char *text)
{
	struct err e = {0};

	complaints[0] = '\0';
	thresholds_init(&limits);
	file = fmemopen((void *)text, strlen(text), "r");
	assert_non_null(file);
	assert_int_equal(scenario_open(&s, file, "F", &limits, complain, NULL, &e), 0);
}

static bool next(void)
{
	struct err e = {0};

	return scenario_next(s, &o, &e) == 1;
}

static int teardown(void **state)
{
	(void)state;
	scenario_free(s);
	if (file)
		fclose(file);
	s = NULL;
	file = NULL;
	return 0;
}

static void a_header_describes_ports(void **state)
{
	const struct port_observation *p;

	(void)state;
	open_text(
		"{\"scenario\":\"x\",\"start\":100,\"expect_congestion_control\":\"dcqcn\","
		"\"thresholds\":{\"hold_seconds\":5},\"ports\":[{\"device\":\"a\",\"port\":2,\"driver\":"
		"\"mlx5\",\"rate_bytes_per_second\":25e9,\"mtu_bytes\":1024,\"state\":\"down\","
		"\"pods\":[\"n/p\",{\"namespace\":\"m\",\"name\":\"q\",\"ended\":true}],\"qps\":{"
		"\"count\":3,\"failed\":1,\"peer\":\"10.0.0.1\"},\"health\":{\"devlink_error\":\"fw\"},"
		"\"settings\":{\"pfc\":[3,5],\"peer_pfc\":8,\"trust\":\"pcp\",\"cm_tos\":104,\"pcie\":{"
		"\"width\":8,\"max_width\":16,\"gt_s\":16,\"max_gt_s\":32}}}]}\n"
		"{\"t\":1.5,\"device\":\"a\",\"port\":2,\"values\":{\"roce_bytes_total{direction=\\\"sent\\\"}"
		"\":7,\"roce_port_state\":4,\"roce_pfc_enabled{priority=\\\"5\\\"}\":0}}\n");
	assert_string_equal(scenario_title(s), "x");
	assert_int_equal(limits.expected, CC_DCQCN);
	assert_true(limits.value[LIMIT_hold_seconds] == 5);
	assert_true(next());
	assert_int_equal(o.now_ms, SCENARIO_BASE_MS + 1500);
	assert_int_equal(o.unix_ms, 101500);
	assert_int_equal(o.n_ports, 1);
	p = &o.ports[0];
	assert_string_equal(p->device, "a");
	assert_int_equal(p->port, 2);
	assert_int_equal(p->state, PORT_ACTIVE);
	assert_int_equal(p->rate_bps, 200000000000);
	assert_int_equal(p->mtu, 1024);
	assert_int_equal(p->n_pods, 2);
	assert_string_equal(p->pods[0].namespace, "n");
	assert_string_equal(p->pods[1].name, "q");
	assert_true(p->pods[1].ended && !p->pods[0].ended);
	assert_true(p->qps.known && p->qps.failures_known);
	assert_string_equal(p->qps.peer, "10.0.0.1");
	assert_string_equal(p->health.devlink_error, "fw");
	assert_int_equal(p->settings->seen, SETTINGS_PFC | SETTINGS_PEER_PFC | SETTINGS_DSCP |
						    SETTINGS_CM_TOS | SETTINGS_PCIE);
	assert_int_equal(p->settings->pfc, 1 << 3);
	assert_int_equal(p->settings->pcie.max_mt_s, 32000);
	assert_true(p->value[SERIES_BYTES_SENT] == 7);
	assert_true(isnan(p->value[SERIES_BYTES_RECEIVED]));
	assert_false(next());
	assert_string_equal(complaints, "");
}

#define LINE_OF(t, device)                                                                         \
	"{\"t\":" t ",\"device\":\"" device                                                        \
	"\",\"values\":{\"roce_ecn_ce_received_packets_total\":1}}\n"

static void lines_of_one_moment_are_one_sample(void **state)
{
	(void)state;
	open_text(LINE_OF("1", "a") LINE_OF("1.1", "b") LINE_OF("2", "b") LINE_OF("2.01", "a")
			  LINE_OF("2.1", "a") "{\"t\":3}\n");
	assert_true(next());
	assert_int_equal(o.n_ports, 2);
	assert_int_equal(o.now_ms, SCENARIO_BASE_MS + 1000);
	assert_true(next());
	assert_int_equal(o.n_ports, 2);
	assert_false(o.partial);
	/* An early line with one port makes a partial sample; the other port is not removed. */
	assert_true(next());
	assert_int_equal(o.n_ports, 1);
	assert_true(o.partial);
	assert_true(next());
	assert_int_equal(o.n_ports, 2);
	assert_false(o.ports[0].visible || o.ports[1].visible);
	assert_false(next());
	assert_string_equal(complaints, "");
}

static void several_ports_in_a_line(void **state)
{
	(void)state;
	open_text(
		"{\"t\":0,\"ports\":[{\"device\":\"a\",\"values\":{\"roce_implied_nak_total\":1}},{"
		"\"device\":\"b\",\"port\":2}],\"sources\":{\"ethtool\":4}}\n{\"t\":1}\n");
	assert_true(next());
	assert_int_equal(o.n_ports, 2);
	assert_true(o.ports[0].value[SERIES_IMPLIED_NAK] == 1);
	assert_true(o.sources[SOURCE_ETHTOOL].used);
	assert_int_equal(o.now_ms - o.sources[SOURCE_ETHTOOL].read_ms, 4000);
	assert_true(next());
	assert_int_equal(o.now_ms, o.sources[SOURCE_ETHTOOL].read_ms);
	assert_false(next());
}

static void mistakes_are_reported_once_and_skipped(void **state)
{
	unsigned n = 0;

	(void)state;
	open_text("{\"ports\":[{\"device\":\"a\",\"colour\":1,\"size\":2}]}\n"
		  "\n   \nno json\n{\n[]\n{\"t\":\"1\"}\n" LINE_OF("5", "a") LINE_OF("5", "a")
			  LINE_OF("4",
				  "a") "{\"t\":6,\"values\":{}}\n"
				       "{\"t\":7,\"device\":\"a\",\"port\":-1}\n"
				       "{\"t\":8,\"device\":\"a\",\"values\":{\"roce_bytes_total{"
				       "direction=\\\"sent\\\"}\":\"x\",\"up\":1}}\n");
	while (next())
		n++;
	scenario_sum_up(s);
	assert_int_equal(n, 4);
	assert_non_null(strstr(complaints, "F: line 1: unknown key colour"));
	assert_null(strstr(complaints, "unknown key size"));
	assert_non_null(strstr(complaints, "F: line 4: not JSON"));
	assert_null(strstr(complaints, "line 5:"));
	assert_non_null(strstr(complaints, "F: line 6: not a JSON object"));
	assert_non_null(strstr(complaints, "F: line 7: \"t\" missing"));
	assert_non_null(strstr(complaints, "F: line 9: a occurs twice at this time"));
	assert_non_null(strstr(complaints, "F: line 10: time goes backwards"));
	assert_non_null(strstr(complaints, "F: line 11: port without \"device\""));
	assert_non_null(strstr(complaints, "F: line 12: port: invalid value"));
	assert_non_null(strstr(complaints, "F: line 13: unknown series up"));
	assert_non_null(strstr(complaints, "F: 3 more mistakes like these"));
}

/* Lines above SCENARIO_LINE_MAX are skipped, the next one is read. */
static void too_long_lines_are_skipped(void **state)
{
	size_t len = SCENARIO_LINE_MAX + 1000;
	char *text = malloc(len + 200);

	(void)state;
	memset(text, 'x', len);
	strcpy(text + len, "\n" LINE_OF("1", "a"));
	open_text(text);
	assert_true(next());
	assert_int_equal(o.n_ports, 1);
	assert_false(next());
	assert_non_null(strstr(complaints, "F: line 1: longer than"));
	free(text);
}

static void the_number_of_ports_is_limited(void **state)
{
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	(void)state;
	for (int i = 0; i < SCENARIO_PORTS_MAX + 10; i++)
		fprintf(f, "{\"t\":1,\"device\":\"d%d\"}\n", i);
	fclose(f);
	open_text(text);
	assert_true(next());
	assert_int_equal(o.n_ports, SCENARIO_PORTS_MAX);
	assert_non_null(strstr(complaints, "more than 1024 ports; d1024"));
	free(text);
}

static void an_empty_file_has_no_samples(void **state)
{
	(void)state;
	open_text("\n");
	assert_false(next());
	assert_string_equal(complaints, "");
}

TEST_GROUP(scenario)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_header_describes_ports, teardown),
		cmocka_unit_test_teardown(lines_of_one_moment_are_one_sample, teardown),
		cmocka_unit_test_teardown(several_ports_in_a_line, teardown),
		cmocka_unit_test_teardown(mistakes_are_reported_once_and_skipped, teardown),
		cmocka_unit_test_teardown(too_long_lines_are_skipped, teardown),
		cmocka_unit_test_teardown(the_number_of_ports_is_limited, teardown),
		cmocka_unit_test_teardown(an_empty_file_has_no_samples, teardown),
	};

	return test_group_run(tests, NULL, NULL);
}
