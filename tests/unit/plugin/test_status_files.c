// SPDX-License-Identifier: Apache-2.0
/* Folders that pods read: with foreign files in their place, and with open descriptors. */
#include "status_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "cleanup.h"
#include "faults.h"
#include "test_group.h"
#include "tmptree.h"

#define NAME "0000-03-00.2"

struct tree {
	char *dir;
	int all;
	struct err err;
};

static int set_up(void **state)
{
	struct tree *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	t->dir = tmptree_new();
	t->all = status_files_open(t->dir, true, &t->err);
	assert_true(t->all >= 0);
	*state = t;
	return 0;
}

static int tear_down(void **state)
{
	struct tree *t = *state;

	close(t->all);
	tmptree_free(t->dir);
	free(t);
	return 0;
}

static void put(struct tree *t, const char *text)
{
	AUTO_FD folder = status_files_folder(t->all, NAME);

	assert_true(folder >= 0);
	assert_int_equal(status_files_write(folder, text, strlen(text), &t->err), 0);
}

/* The file's content, "" = it does not exist, or is a link; the name is relative to pod-status. */
static const char *content(const struct tree *t, const char *name)
{
	static char text[64];
	AUTO_FD fd = openat(t->all, name, O_RDONLY | O_NOFOLLOW);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	text[n < 0 ? 0 : n] = '\0';
	return text;
}

static unsigned entries(int folder)
{
	DIR *dir = fdopendir(openat(folder, ".", O_RDONLY | O_DIRECTORY));
	unsigned n = 0;

	assert_non_null(dir);
	for (const struct dirent *e = readdir(dir); e; e = readdir(dir))
		n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
	closedir(dir);
	return n;
}

static bool is_stale(const char *name, void *expected)
{
	return strcmp(name, expected) != 0;
}

static void test_a_file_is_complete_and_readable_for_all(void **state)
{
	struct tree *t = *state;
	struct stat st;

	assert_int_equal(status_files_folder(t->all, NAME), -ENOENT);
	umask(077);
	assert_int_equal(status_files_renew(t->all, NAME, &t->err), 0);
	assert_false(status_files_has_file(t->all, NAME));
	put(t, "one");
	assert_true(status_files_has_file(t->all, NAME));
	put(t, "two");
	umask(022);
	assert_string_equal(content(t, NAME "/status.json"), "two");
	assert_int_equal(fstatat(t->all, NAME, &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0755);
	assert_int_equal(fstatat(t->all, NAME "/status.json", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
}

/* A process with the old folder open, such as a bind mount of a pod, never sees the new one's
 * files. */
static void test_an_open_folder_is_not_used_again(void **state)
{
	struct tree *t = *state;
	AUTO_FD before = -1;

	assert_int_equal(status_files_renew(t->all, NAME, &t->err), 0);
	before = status_files_folder(t->all, NAME);
	put(t, "one");
	assert_int_equal(status_files_renew(t->all, NAME, &t->err), 0);
	assert_string_equal(content(t, NAME "/status.json"), "");
	put(t, "two");
	assert_int_equal(status_files_purge(t->all, &t->err), 0);
	assert_int_equal(entries(before), 0);
	assert_int_equal(entries(t->all), 1);
	assert_int_equal(status_files_write(before, "x", 1, NULL), -ENOENT);
	assert_string_equal(content(t, NAME "/status.json"), "two");
}

static void put_link(struct tree *t)
{
	tmptree_link(t->dir, "pod-status/" NAME, "../theirs");
}

static void put_file(struct tree *t)
{
	tmptree_write(t->dir, "pod-status/" NAME, "a file");
}

static void put_dangling_link(struct tree *t)
{
	tmptree_link(t->dir, "pod-status/" NAME, "nowhere");
}

static void put_open_folder(struct tree *t)
{
	assert_int_equal(mkdirat(t->all, NAME, 0700), 0);
	assert_int_equal(fchmodat(t->all, NAME, 0777, 0), 0);
}

static void test_foreign_files_in_place_of_a_folder(void **state)
{
	static void (*const obstacles[])(struct tree *) = {put_link, put_file, put_dangling_link,
							   put_open_folder};
	struct tree *t = *state;
	struct stat st;

	tmptree_write(t->dir, "theirs/status.json", "theirs");
	for (size_t i = 0; i < 2 * ARRAY_SIZE(obstacles); i++) {
		obstacles[i / 2](t);
		if (i % 2)
			assert_int_equal(status_files_renew(t->all, NAME, &t->err), 0);
		else
			assert_int_equal(status_files_ensure(t->all, NAME, &t->err), 0);
		assert_int_equal(fstatat(t->all, NAME, &st, AT_SYMLINK_NOFOLLOW), 0);
		assert_int_equal(st.st_mode, S_IFDIR | 0755);
		put(t, "ours");
		assert_int_equal(status_files_sweep(t->all, is_stale, (void *)"none", &t->err), 1);
		assert_int_equal(status_files_purge(t->all, &t->err), 0);
		assert_int_equal(entries(t->all), 0);
	}
	assert_string_equal(content(t, "../theirs/status.json"), "theirs");
}

/* Foreign links in place of the file, and of the temporary file. */
static void test_foreign_files_in_a_folder(void **state)
{
	struct tree *t = *state;

	tmptree_write(t->dir, "theirs", "theirs");
	assert_int_equal(status_files_renew(t->all, NAME, &t->err), 0);
	tmptree_link(t->dir, "pod-status/" NAME "/.status.json", "../../theirs");
	tmptree_link(t->dir, "pod-status/" NAME "/status.json", "../../theirs");
	put(t, "ours");
	assert_string_equal(content(t, NAME "/status.json"), "ours");
	assert_string_equal(content(t, "../theirs"), "theirs");
	tmptree_write(t->dir, "pod-status/" NAME "/.status.json", "half");
	put(t, "again");
	assert_string_equal(content(t, NAME "/status.json"), "again");
}

static void test_ensuring_keeps_our_folder(void **state)
{
	struct tree *t = *state;

	assert_int_equal(status_files_ensure(t->all, NAME, &t->err), 0);
	put(t, "one");
	assert_int_equal(status_files_ensure(t->all, NAME, &t->err), 0);
	assert_string_equal(content(t, NAME "/status.json"), "one");
	tmptree_write(t->dir, "pod-status/other/status.json", "x");
	assert_int_equal(status_files_sweep(t->all, is_stale, (void *)NAME, &t->err), 1);
	assert_int_equal(status_files_sweep(t->all, is_stale, (void *)NAME, &t->err), 0);
	assert_string_equal(content(t, NAME "/status.json"), "one");
}

static void test_the_parent_folder_must_be_ours(void **state)
{
	struct tree *t = *state;

	assert_int_equal(fchmod(t->all, 0777), 0);
	assert_int_equal(status_files_open(t->dir, true, &t->err), -EPERM);
	assert_non_null(strstr(t->err.msg, "pod-status"));
	assert_int_equal(status_files_open(t->dir, false, &t->err), -EPERM);
	assert_non_null(strstr(t->err.msg, "other users can write there"));
	assert_int_equal(unlinkat(t->all, "../pod-status", AT_REMOVEDIR), 0);
	assert_int_equal(status_files_open(t->dir, false, &t->err), -ENOENT);
	tmptree_link(t->dir, "pod-status", "theirs");
	assert_true(status_files_open(t->dir, true, &t->err) < 0);
}

static void test_a_full_file_system(void **state)
{
	struct tree *t = *state;
	AUTO_FD folder = -1;

	assert_int_equal(status_files_renew(t->all, NAME, &t->err), 0);
	put(t, "one");
	folder = status_files_folder(t->all, NAME);
	faults_write(0, ENOSPC);
	assert_int_equal(status_files_write(folder, "two", 3, &t->err), -ENOSPC);
	assert_true(faults_end());
	assert_non_null(strstr(t->err.msg, "No space left"));
	assert_string_equal(content(t, NAME "/status.json"), "one");
	assert_int_equal(entries(folder), 1);
}

/* Nested folders are not ours: an error is returned, and they stay. */
static void test_a_nested_folder_is_not_removed(void **state)
{
	struct tree *t = *state;

	tmptree_write(t->dir, "pod-status/x/y/z", "%s", "");
	assert_int_equal(status_files_sweep(t->all, is_stale, (void *)"none", &t->err), 1);
	assert_int_equal(status_files_purge(t->all, &t->err), -ENOTEMPTY);
	assert_int_equal(status_files_renew(t->all, NAME, &t->err), 0);
	assert_int_equal(status_files_renew(t->all, NAME, &t->err), 0);
	assert_int_equal(status_files_purge(t->all, &t->err), -ENOTEMPTY);
	assert_int_equal(entries(t->all), 2);
}

#define FILES_TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

TEST_GROUP(status_files)
{
	const struct CMUnitTest tests[] = {
		FILES_TEST(test_a_file_is_complete_and_readable_for_all),
		FILES_TEST(test_an_open_folder_is_not_used_again),
		FILES_TEST(test_foreign_files_in_place_of_a_folder),
		FILES_TEST(test_foreign_files_in_a_folder),
		FILES_TEST(test_ensuring_keeps_our_folder),
		FILES_TEST(test_the_parent_folder_must_be_ours),
		FILES_TEST(test_a_full_file_system),
		FILES_TEST(test_a_nested_folder_is_not_removed),
	};

	return test_group_run(tests, NULL, NULL);
}
