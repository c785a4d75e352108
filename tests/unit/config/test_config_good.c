// SPDX-License-Identifier: Apache-2.0
/* The kept configuration is used whole and unchanged, or not at all. */
#include "config_good.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test_group.h"
#include "tmptree.h"

static char *dir;
static char path[PATH_MAX];

static int setup(void **state)
{
	(void)state;
	dir = tmptree_new();
	snprintf(path, sizeof(path), "%s/" CONFIG_GOOD_FILE, dir);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	tmptree_free(dir);
	return 0;
}

static int read_code(void)
{
	struct config_file file = {0};
	struct err e = {0};
	uint64_t unix_ms;
	int r = config_good_read(&file, &unix_ms, dir, &e);

	assert_true(r == 0 || strstr(e.msg, "/" CONFIG_GOOD_FILE ": "));
	assert_true(r == 0 || !file.text);
	config_file_done(&file);
	return r;
}

static void keep(const char *text, size_t len)
{
	struct err e;

	assert_int_equal(config_good_write(dir, text, len, &e), 0);
}

static void test_the_text_comes_back(void **state)
{
	struct config_file file = {0};
	uint64_t unix_ms = 0;
	struct stat st;
	struct err e;

	(void)state;
	assert_int_equal(read_code(), -ENOENT);
	keep("{\"pools\": []}\n", 14);
	keep("{\n\0}", 4);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(config_good_read(&file, &unix_ms, dir, &e), 0);
	assert_int_equal(file.len, 4);
	assert_memory_equal(file.text, "{\n\0}", 5);
	assert_int_equal(unix_ms / 1000, st.st_mtim.tv_sec);
	config_file_done(&file);
	keep("", 0);
	assert_int_equal(read_code(), 0);
}

/* The time is that of the first use of the text. */
static void test_the_same_text_keeps_its_time(void **state)
{
	const struct timespec times[] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
	struct stat st;

	(void)state;
	for (int i = 0; i < 2; i++) {
		keep("{}", 2);
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(i > 0, st.st_mtim.tv_sec == 1000);
		assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	}
	keep("{ }", 3);
	assert_int_equal(stat(path, &st), 0);
	assert_true(st.st_mtim.tv_sec > 1000);
}

/* Cut anywhere, or with any byte changed. */
static void test_a_damaged_file_is_rejected(void **state)
{
	char bytes[128];
	FILE *f;
	size_t n;

	(void)state;
	keep("{\"pools\": []}\n", 14);
	f = fopen(path, "r");
	assert_non_null(f);
	n = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	for (size_t i = 0; i < n; i++) {
		f = fopen(path, "w");
		assert_int_equal(fwrite(bytes, 1, i, f), i);
		fclose(f);
		assert_int_equal(read_code(), -EBADMSG);
		bytes[i] ^= 1;
		f = fopen(path, "w");
		assert_int_equal(fwrite(bytes, 1, n, f), n);
		fclose(f);
		assert_int_equal(read_code(), -EBADMSG);
		bytes[i] ^= 1;
	}
}

static void test_only_a_private_file_of_limited_size_is_read(void **state)
{
	char other[PATH_MAX];

	(void)state;
	keep("{}", 2);
	chmod(path, 0620);
	assert_int_equal(read_code(), -EPERM);
	chmod(path, 0602);
	assert_int_equal(read_code(), -EPERM);
	chmod(path, 0600);
	assert_int_equal(read_code(), 0);
	if (geteuid() == 0) {
		assert_int_equal(chown(path, 1, 1), 0);
		assert_int_equal(read_code(), -EPERM);
		assert_int_equal(chown(path, 0, 0), 0);
	}
	assert_int_equal(truncate(path, CONFIG_FILE_MAX + 4096), 0);
	assert_int_equal(read_code(), -EFBIG);
	snprintf(other, sizeof(other), "%s/other", dir);
	assert_int_equal(rename(path, other), 0);
	assert_int_equal(symlink("other", path), 0);
	assert_int_equal(read_code(), -ELOOP);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(read_code(), -EPERM);
}

/* A link in the place of the new file is not followed; what cannot be removed there fails the
 * write, and an older configuration is not the last one. */
static void test_it_is_removed(void **state)
{
	struct err e = {0};

	(void)state;
	keep("{}", 2);
	assert_int_equal(config_good_remove(dir, &e), 0);
	assert_int_equal(read_code(), -ENOENT);
	assert_int_equal(config_good_remove(dir, &e), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_true(config_good_remove(dir, &e) < 0);
	assert_non_null(strstr(e.msg, "/" CONFIG_GOOD_FILE ": "));
	assert_int_equal(rmdir(path), 0);
}

static void test_what_is_in_the_way_of_a_write(void **state)
{
	char temp[PATH_MAX + 8], target[PATH_MAX];
	struct err e;

	(void)state;
	snprintf(temp, sizeof(temp), "%s.new", path);
	snprintf(target, sizeof(target), "%s/target", dir);
	assert_int_equal(symlink(target, temp), 0);
	keep("{}", 2);
	assert_int_equal(access(target, F_OK), -1);
	assert_int_equal(read_code(), 0);
	assert_int_equal(mkdir(temp, 0700), 0);
	keep("{}", 2);
	assert_int_equal(config_good_write(dir, "{ }", 3, &e), -EEXIST);
	assert_non_null(strstr(e.msg, "/" CONFIG_GOOD_FILE ": "));
	assert_int_equal(read_code(), -ENOENT);
}

TEST_GROUP(config_good)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_the_text_comes_back, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_damaged_file_is_rejected, setup, teardown),
		cmocka_unit_test_setup_teardown(test_only_a_private_file_of_limited_size_is_read,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_it_is_removed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_is_in_the_way_of_a_write, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_the_same_text_keeps_its_time, setup, teardown),
	};

	return test_group_run(tests, NULL, NULL);
}
