// SPDX-License-Identifier: Apache-2.0
#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

uint8_t *fixture_read(const char *path, size_t *ret_len)
{
	char full[512];
	uint8_t *bytes;
	FILE *f;
	long len;

	snprintf(full, sizeof(full), "tests/fixtures/%s", path);
	f = fopen(full, "r");
	if (!f)
		fail_msg("%s: run from the repository's root", full);
	fseek(f, 0, SEEK_END);
	len = ftell(f);
	rewind(f);
	bytes = malloc(len ? (size_t)len : 1);
	assert_non_null(bytes);
	assert_int_equal(fread(bytes, 1, (size_t)len, f), len);
	fclose(f);
	*ret_len = (size_t)len;
	return bytes;
}

void assert_fixture(const char *path, uint8_t *bytes, size_t len)
{
	size_t want_len;
	uint8_t *want = fixture_read(path, &want_len);

	assert_int_equal(len, want_len);
	assert_memory_equal(bytes, want, len);
	free(want);
	free(bytes);
}
