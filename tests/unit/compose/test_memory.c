// SPDX-License-Identifier: Apache-2.0
/* Unused code pages leave the resident set, and are read again when they are used. */
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include "cleanup.h"
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

/* Documentation/admin-guide/mm/pagemap.rst of the kernel: bit 63 is set if the page is mapped. */
static bool is_mapped(int pagemap_fd, uintptr_t address)
{
	uint64_t entry = 0;
	off_t at = (off_t)(address / (uintptr_t)sysconf(_SC_PAGESIZE) * sizeof(entry));

	assert_int_equal(pread(pagemap_fd, &entry, sizeof(entry), at), sizeof(entry));
	return entry >> 63;
}

struct libraries {
	uintptr_t start[64];
	size_t n;
};

static int list_library(struct dl_phdr_info *object, size_t size, void *arg)
{
	struct libraries *l = arg;

	(void)size;
	if (strstr(object->dlpi_name, "/lib") && l->n < 64)
		l->start[l->n++] = object->dlpi_addr;
	return 0;
}

/* The kernel maps the pages around a page that is read, so the libraries that are in use have
 * their first page mapped. */
static void test_most_libraries_have_no_headers_in_the_resident_set(void **state)
{
	AUTO_FD fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	struct libraries l = {0};
	size_t n_mapped = 0;

	(void)state;
	assert_true(fd >= 0);
	dl_iterate_phdr(list_library, &l);
	memory_release();
	for (size_t i = 0; i < l.n; i++)
		n_mapped += is_mapped(fd, l.start[i]);
	assert_true(l.n > 8);
	assert_in_range(n_mapped, 0, l.n / 2);
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
		cmocka_unit_test(test_most_libraries_have_no_headers_in_the_resident_set),
		cmocka_unit_test(test_modified_pages_are_kept),
		cmocka_unit_test(test_code_and_constants_are_read_again),
	};

	return test_group_run(tests, NULL, NULL);
}
