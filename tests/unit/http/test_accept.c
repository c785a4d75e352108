// SPDX-License-Identifier: Apache-2.0
#include "accept.h"
#include "test_group.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define OPENMETRICS "application/openmetrics-text"

static const struct {
	const char *accept;
	enum metrics_format format;
} cases[] = {
	/* no header */
	{"", METRICS_PROMETHEUS},
	{"*/*", METRICS_PROMETHEUS},
	{"application/*", METRICS_PROMETHEUS},
	/* Prometheus 2.42 */
	{"application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q="
	 "0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
	 METRICS_OPENMETRICS},
	/* Prometheus 3.x, defaults */
	{"application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/"
	 "openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,"
	 "text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
	 METRICS_OPENMETRICS},
	/* Prometheus 3.x with native histograms */
	{"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding="
	 "delimited;q=0.6,application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,"
	 "application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;escaping=allow-"
	 "utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1",
	 METRICS_OPENMETRICS},
	/* Prometheus 3.x configured for the text format only */
	{"text/plain;version=0.0.4;q=0.7,*/*;q=0.6", METRICS_PROMETHEUS},
	/* a browser */
	{"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", METRICS_PROMETHEUS},
	/* weights */
	{OPENMETRICS, METRICS_OPENMETRICS},
	{OPENMETRICS ";q=0.5, text/plain;q=0.5", METRICS_OPENMETRICS},
	{OPENMETRICS ";q=0.5, text/plain;q=0.501", METRICS_PROMETHEUS},
	{OPENMETRICS ";q=0.5, text/plain", METRICS_PROMETHEUS},
	{OPENMETRICS ";q=0.5, text/*;q=0.6, */*;q=0.1", METRICS_PROMETHEUS},
	{OPENMETRICS ";q=0.5, text/plain;q=0.2, text/*;q=0.6, */*", METRICS_OPENMETRICS},
	{OPENMETRICS ";q=0", METRICS_PROMETHEUS},
	{OPENMETRICS ";q=0.000, text/plain;q=0", METRICS_PROMETHEUS},
	{OPENMETRICS "; Q=1.000 ,\ttext/plain ; q=0.999", METRICS_OPENMETRICS},
	{"Application/OpenMetrics-Text; version=1.0.0", METRICS_OPENMETRICS},
	{OPENMETRICS ";version=\"1.0.0\"", METRICS_OPENMETRICS},
	/* an unsupported version */
	{OPENMETRICS ";version=0.0.1", METRICS_PROMETHEUS},
	{OPENMETRICS ";version=2.0.0, text/plain;q=0.1", METRICS_PROMETHEUS},
	/* malformed weights are ignored */
	{OPENMETRICS ";q=", METRICS_PROMETHEUS},
	{OPENMETRICS ";q=2", METRICS_PROMETHEUS},
	{OPENMETRICS ";q=1.001", METRICS_PROMETHEUS},
	{OPENMETRICS ";q=0.1234", METRICS_PROMETHEUS},
	{OPENMETRICS ";q=0,5", METRICS_PROMETHEUS},
	{OPENMETRICS ";q=-1", METRICS_PROMETHEUS},
	/* separators inside quotes, unterminated quotes, empty elements */
	{"text/x;a=\",application/openmetrics-text\"", METRICS_PROMETHEUS},
	{"text/x;a=\"\\\",\", " OPENMETRICS, METRICS_OPENMETRICS},
	{"text/x;a=\"\\", METRICS_PROMETHEUS},
	{",, ;;," OPENMETRICS ",", METRICS_OPENMETRICS},
};

static void test_metrics_format(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (accept_metrics(cases[i].accept) != cases[i].format)
			fail_msg("wrong format for \"%s\"", cases[i].accept);
}

static void test_gzip(void **state)
{
	(void)state;
	assert_true(accept_gzip("gzip"));
	assert_true(accept_gzip("deflate, GZIP;q=1.0, *;q=0.5"));
	assert_true(accept_gzip("gzip, deflate, br, zstd"));
	assert_true(accept_gzip("x-gzip"));
	assert_true(accept_gzip("*"));
	assert_true(accept_gzip("*;q=0, gzip;q=0.001"));
	assert_false(accept_gzip(""));
	assert_false(accept_gzip("identity"));
	assert_false(accept_gzip("gzip;q=0"));
	assert_false(accept_gzip("gzip;q=0, *"));
	assert_false(accept_gzip("gzipped, br"));
}

static void test_html(void **state)
{
	(void)state;
	assert_true(accept_html("text/html,application/xhtml+xml,*/*;q=0.8"));
	assert_true(accept_html("application/json, TEXT/HTML;q=0.1"));
	assert_false(accept_html(""));
	assert_false(accept_html("*/*"));
	assert_false(accept_html("text/*, text/html;q=0"));
}

static void test_content_types(void **state)
{
	(void)state;
	assert_string_equal(accept_content_type(METRICS_PROMETHEUS),
			    "text/plain; version=0.0.4; charset=utf-8");
	assert_string_equal(accept_content_type(METRICS_OPENMETRICS),
			    "application/openmetrics-text; version=1.0.0; charset=utf-8");
}

TEST_GROUP(accept)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_metrics_format),
		cmocka_unit_test(test_gzip),
		cmocka_unit_test(test_html),
		cmocka_unit_test(test_content_types),
	};

	return test_group_run(tests, NULL, NULL);
}
