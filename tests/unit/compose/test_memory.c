// SPDX-License-Identifier: Apache-2.0
/* Unused pages of code leave the resident set, and come back when they are called. */
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "memory.h"
#include "test_group.h"

/* proc(5), status: resident file mappings in kB. */
static long resident_file_kb(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	long kb = -1;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "RssFile: %ld", &kb) == 1)
			break;
	fclose(f);
	assert_true(kb >= 0);
	return kb;
}

/* A forked process has no page of code mapped that it has not used itself. AddressSanitizer has
 * redzones between constants, which may be in the same segment. */
__attribute__((no_sanitize_address)) static int read_code(struct dl_phdr_info *object, size_t size,
							  void *arg)
{
	(void)size;
	(void)arg;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
		const volatile char *code = (const char *)object->dlpi_addr + segment->p_vaddr;

		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
			continue;
		for (size_t at = 0; at < segment->p_memsz; at += 4096)
			(void)code[at];
	}
	return 1; /* the first object is the program */
}

static void test_unused_pages_leave(void **state)
{
	long before;

	(void)state;
	dl_iterate_phdr(read_code, NULL);
	before = resident_file_kb();
	memory_give_back_code();
	assert_true(resident_file_kb() < before);
}

static int changed = 1; /* in a page of its file that is modified */

static void test_modified_pages_are_kept(void **state)
{
	(void)state;
	changed = 2;
	memory_give_back_code();
	assert_int_equal(changed, 2);
}

static void test_code_and_constants_come_back(void **state)
{
	static const char text[] = "constants are read again";
	unsigned long before = crc32(0, (const unsigned char *)text, sizeof(text));

	(void)state;
	memory_give_back_code();
	memory_give_back_code();
	assert_string_equal(text, "constants are read again");
	assert_int_equal(crc32(0, (const unsigned char *)text, sizeof(text)), before);
}

TEST_GROUP(memory)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unused_pages_leave),
		cmocka_unit_test(test_modified_pages_are_kept),
		cmocka_unit_test(test_code_and_constants_come_back),
	};

	return test_group_run(tests, NULL, NULL);
}
