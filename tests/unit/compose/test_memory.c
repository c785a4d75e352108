// SPDX-License-Identifier: Apache-2.0
/* Unused code pages leave the resident set, and are read again when they are used. */
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

/* A forked process has only those code pages mapped that it has used. AddressSanitizer has redzones
 * between constants, which may be in the same segment. */
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

static void test_unused_pages_leave_the_resident_set(void **state)
{
	long before;

	(void)state;
	dl_iterate_phdr(read_code, NULL);
	before = resident_file_kb();
	memory_release();
	assert_true(resident_file_kb() < before);
}

static int changed = 1; /* in a modified page of its file */

static void test_modified_pages_are_kept(void **state)
{
	(void)state;
	changed = 2;
	memory_release();
	assert_int_equal(changed, 2);
}

static void test_code_and_constants_are_read_again(void **state)
{
	static const char text[] = "constants are read again";
	unsigned long before = crc32(0, (const unsigned char *)text, sizeof(text));

	(void)state;
	memory_release();
	memory_release();
	assert_string_equal(text, "constants are read again");
	assert_int_equal(crc32(0, (const unsigned char *)text, sizeof(text)), before);
}

TEST_GROUP(memory)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unused_pages_leave_the_resident_set),
		cmocka_unit_test(test_modified_pages_are_kept),
		cmocka_unit_test(test_code_and_constants_are_read_again),
	};

	return test_group_run(tests, NULL, NULL);
}
