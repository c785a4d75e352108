// SPDX-License-Identifier: Apache-2.0
#include "golden.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void write_file(const char *path, const char *text, size_t len)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, len, f), len);
	fclose(f);
}

/* Fails with the first line that differs. */
static void fail_with_line(const char *path, const char *want, const char *got)
{
	unsigned line = 1;
	size_t i = 0, start = 0;

	for (; want[i] == got[i] && want[i] != '\0'; i++)
		if (want[i] == '\n') {
			line++;
			start = i + 1;
		}
	fail_msg("%s:%u differs\n  file: %.*s\n  code: %.*s\n(make golden rewrites it)", path, line,
		 (int)strcspn(want + start, "\n"), want + start, (int)strcspn(got + start, "\n"),
		 got + start);
}

void assert_golden_text(const char *path, const char *text, size_t len)
{
	char *want = calloc(1, len + 2), *got = calloc(1, len + 1);
	size_t n;
	FILE *f;

	if (getenv("UPDATE_GOLDEN"))
		write_file(path, text, len);
	f = fopen(path, "r");
	if (!f)
		fail_msg("%s is missing (make golden writes it)", path);
	n = fread(want, 1, len + 1, f);
	fclose(f);
	memcpy(got, text, len);
	if (n != len || memcmp(want, got, len) != 0)
		fail_with_line(path, want, got);
	free(want);
	free(got);
}

void assert_golden(const char *path, void (*print)(FILE *))
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	print(f);
	fclose(f);
	assert_golden_text(path, text, len);
	free(text);
}
