// SPDX-License-Identifier: Apache-2.0
/* docs/reference/metrics.md and docs/reference/diagnosis.md are generated from the code:
 * UPDATE_GOLDEN=1 (`make docs`) rewrites them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "diagnosis_doc.h"
#include "dictionary.h"
#include "golden.h"
#include "metrics.h"
#include "metrics_doc.h"
#include "test_group.h"

static void metrics_md_matches_the_code(void **state)
{
	(void)state;
	assert_golden("docs/reference/metrics.md", metrics_doc);
}

static void diagnosis_md_matches_the_code(void **state)
{
	(void)state;
	assert_golden("docs/reference/diagnosis.md", diagnosis_doc);
}

static char *document(void)
{
	size_t len;
	char *text = NULL;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	metrics_doc(f);
	fclose(f);
	return text;
}

/* Whether a table has a row that begins with this name. */
static bool documents(const char *text, const char *name)
{
	char row[128];

	snprintf(row, sizeof(row), "\n| `%s` | ", name);
	return strstr(text, row) != NULL;
}

static void every_family_has_a_row(void **state)
{
	char *text = document();
	const struct family *f;

	(void)state;
	for (size_t i = 0; (f = metrics_family(i)); i++)
		if (!documents(text, f->name))
			fail_msg("%s is missing", f->name);
	for (size_t i = 0; (f = dict_family(i)); i++)
		if (!documents(text, f->name))
			fail_msg("%s is missing", f->name);
	assert_false(documents(text, "roce_no_such_family"));
	free(text);
}

static void every_vendor_name_is_shown(void **state)
{
	char *text = document(), name[DICT_NAME_MAX + 3];
	struct dict_row row;

	(void)state;
	for (size_t i = 0; dict_row(i, &row); i++) {
		const char *twin = strncmp(row.name, "vport_", 6) == 0 ? row.name + 6 : row.name;

		snprintf(name, sizeof(name), "`%s`", twin);
		if (!strstr(text, name))
			fail_msg("%s is missing", row.name);
	}
	free(text);
}

TEST_GROUP(docs)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(metrics_md_matches_the_code),
		cmocka_unit_test(diagnosis_md_matches_the_code),
		cmocka_unit_test(every_family_has_a_row),
		cmocka_unit_test(every_vendor_name_is_shown),
	};

	return test_group_run(tests, NULL, NULL);
}
