// SPDX-License-Identifier: Apache-2.0
/* The daemon's own families, compared with golden files; UPDATE_GOLDEN=1 rewrites them. */
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

#include "cleanup.h"
#include "golden.h"
#include "page_text.h"
#include "self_metrics.h"
#include "test_group.h"
#include "version.h"

/* Every value is different, so that a swapped field is noticed. */
static void fill(struct self_metrics *m)
{
	uint64_t n = 0;

	*m = (struct self_metrics){
		.revision = "0123abc",
		.log_lines_dropped = 101,
		.start_unix_ms = 1700000000123,
		.inventory_generation = 102,
		.rescan_us = {103, 1000104, 60000000, 7},
		.loop_lag_us = 7,
		.sample_us = 1234567,
		.cpu_us = 98765432,
		.sample_unix_ms = 1700000005678,
		.rss_bytes = 8 << 20,
		.virtual_bytes = 9 << 20,
		.open_fds = 105,
		.open_fds_max = 1048576,
		.n_programs = 2,
		.programs = {{"netdev_moves", "fentry"}, {"refused", "none"}},
	};
#define X(field, labels, family, help) m->counters.field = ++n;
	SELF_COUNTERS(X)
#undef X
	m->counters.http_requests = UINT64_MAX;
}

static char *render(const struct self_metrics *m, enum metrics_format format)
{
	struct page *p = page_new();
	char *text;

	assert_int_equal(self_metrics_render(p, m), 0);
	text = page_text(p, format, NULL);
	page_unref(p);
	return text;
}

/* Compares without the version, which changes with every release. */
static void assert_golden_but_version(const char *path, const char *text)
{
	static const char version[] = "version=\"" ROCELET_VERSION "\"";
	const char *at = strstr(text, version);
	char *without = NULL;
	size_t len;
	FILE *f = open_memstream(&without, &len);

	assert_non_null(at);
	assert_non_null(f);
	fprintf(f, "%.*sversion=\"...\"%s", (int)(at - text), text, at + strlen(version));
	fclose(f);
	assert_golden_text(path, without, len);
	free(without);
}

static void test_the_families_match_the_golden_files(void **state)
{
	struct self_metrics m;
	AUTO_FREE char *prometheus = NULL;
	AUTO_FREE char *openmetrics = NULL;
	(void)state;

	fill(&m);
	prometheus = render(&m, METRICS_PROMETHEUS);
	openmetrics = render(&m, METRICS_OPENMETRICS);
	assert_golden_but_version("tests/golden/self.prom", prometheus);
	assert_golden_but_version("tests/golden/self.openmetrics", openmetrics);
}

static void test_each_family_has_one_header(void **state)
{
	struct self_metrics m;
	AUTO_FREE char *text = NULL;
	(void)state;

	fill(&m);
	text = render(&m, METRICS_PROMETHEUS);
	for (char *line = strstr(text, "# TYPE "); line; line = strstr(line + 1, "# TYPE ")) {
		size_t n = strcspn(line + 7, " ") + 8; /* including the space after the name */
		AUTO_FREE char *head = strndup(line, n);

		assert_null(strstr(line + 1, head));
	}
}

static void test_unknown_values_are_absent(void **state)
{
	struct self_metrics m;
	AUTO_FREE char *text = NULL;
	(void)state;

	fill(&m);
	m.rss_bytes = 0;
	m.n_programs = 0;
	text = render(&m, METRICS_PROMETHEUS);
	assert_null(strstr(text, "process_resident_memory_bytes"));
	assert_null(strstr(text, "rocelet_bpf_program_loaded"));
	assert_non_null(strstr(text, "process_max_fds"));
}

/* A page that ran out of memory is not published. */
static void test_a_failed_text_fails_the_page(void **state)
{
	struct self_metrics m;
	struct page *p = page_new();
	(void)state;

	fill(&m);
	p->text.failed = true;
	assert_int_equal(self_metrics_render(p, &m), -ENOMEM);
	page_unref(p);
}

TEST_GROUP(self_metrics)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_families_match_the_golden_files),
		cmocka_unit_test(test_each_family_has_one_header),
		cmocka_unit_test(test_unknown_values_are_absent),
		cmocka_unit_test(test_a_failed_text_fails_the_page),
	};

	return test_group_run(tests, NULL, NULL);
}
