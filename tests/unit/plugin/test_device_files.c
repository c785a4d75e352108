// SPDX-License-Identifier: Apache-2.0
/* Files for other programs: written atomically, only if changed, and only with a valid name. */
#include "device_files.h"

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

#include "test_group.h"
#include "tmptree.h"

static char *tree, path[512];
static struct device_folder folder;
static struct err err;

static int set_up(void **state)
{
	(void)state;
	tree = tmptree_new();
	snprintf(path, sizeof(path), "%s/devinfo/dp", tree);
	folder = (struct device_folder){.path = path};
	err = (struct err){0};
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	tmptree_free(tree);
	return 0;
}

/* The file's content, NULL = no such file; the name is relative to the tree. */
static const char *content(const char *name)
{
	static char text[16384];
	char full[1024];
	FILE *f;
	size_t n;

	snprintf(full, sizeof(full), "%s/%s", path, name);
	f = fopen(full, "r");
	if (!f)
		return NULL;
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = '\0';
	fclose(f);
	return text;
}

static struct stat status(const char *name)
{
	char full[1024];
	struct stat st;

	snprintf(full, sizeof(full), "%s/%s", path, name);
	assert_int_equal(lstat(full, &st), 0);
	return st;
}

static unsigned entries(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	unsigned n = 0;

	assert_non_null(d);
	while ((e = readdir(d)) != NULL)
		n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
	closedir(d);
	return n;
}

static int put(const char *name, const char *text)
{
	return device_files_write(&folder, name, text, &err);
}

/* --- writing ---------------------------------------------------------------------------------- */

static void test_a_file_and_its_folder(void **state)
{
	mode_t old = umask(077);
	(void)state;

	assert_int_equal(put("a.json", "{}"), 1);
	umask(old);
	assert_string_equal(content("a.json"), "{}");
	assert_int_equal(status("a.json").st_mode & 07777, 0644);
	assert_int_equal(entries(path), 1); /* no temporary file */
	assert_int_equal(put("a.json", "{\"b\":1}"), 1);
	assert_string_equal(content("a.json"), "{\"b\":1}");
	assert_int_equal(entries(path), 1);
}

static void test_an_equal_file_is_not_written_again(void **state)
{
	char big[10001], full[1024];
	ino_t was;
	(void)state;

	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	assert_int_equal(put("a.json", big), 1);
	was = status("a.json").st_ino;
	assert_int_equal(put("a.json", big), 0);
	assert_true(status("a.json").st_ino == was);
	/* Longer, shorter, different in the last byte, another mode: written again. */
	big[9999] = 'y';
	assert_int_equal(put("a.json", big), 1);
	big[9999] = '\0';
	assert_int_equal(put("a.json", big), 1);
	big[9999] = 'x';
	assert_int_equal(put("a.json", big), 1);
	snprintf(full, sizeof(full), "%s/a.json", path);
	assert_int_equal(chmod(full, 0600), 0);
	assert_int_equal(put("a.json", big), 1);
	assert_int_equal(put("a.json", ""), 1);
	assert_int_equal(put("a.json", ""), 0);
}

/* A reader with the old file open still reads the old text. */
static void test_readers_see_the_old_or_the_new_file(void **state)
{
	char full[1024], text[8] = "";
	int fd;
	(void)state;

	assert_int_equal(put("a.json", "old"), 1);
	snprintf(full, sizeof(full), "%s/a.json", path);
	fd = open(full, O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(put("a.json", "new"), 1);
	assert_int_equal(read(fd, text, sizeof(text)), 3);
	assert_string_equal(text, "old");
	close(fd);
}

static void test_links_are_replaced_not_followed(void **state)
{
	(void)state;
	tmptree_write(tree, "elsewhere", "precious");
	tmptree_link(path, "a.json", "../../elsewhere");
	assert_int_equal(put("a.json", "precious"), 1);
	assert_true(S_ISREG(status("a.json").st_mode));
	assert_int_equal(put("a.json", "new"), 1);
	assert_string_equal(content("../../elsewhere"), "precious");
}

static void test_names_that_lead_out_of_the_folder(void **state)
{
	static const char *const bad[] = {"",	      ".",	 "..",		"../a.json",
					  "a/b.json", "/a.json", ".hidden.json"};
	char long_name[300];
	(void)state;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(put(bad[i], "x"), -EINVAL);
		assert_non_null(strstr(err.msg, "is not a valid file name"));
		assert_int_equal(device_files_remove(&folder, bad[i], &err), -EINVAL);
	}
	assert_int_equal(access(path, F_OK), -1); /* the folder was not created either */
	memset(long_name, 'a', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	assert_int_equal(put(long_name, "x"), -ENAMETOOLONG);
	assert_int_equal(entries(path), 0);
}

static void test_errors_name_the_obstacle(void **state)
{
	char expected[1024];
	(void)state;

	tmptree_write(tree, "devinfo", "not a folder");
	assert_int_equal(put("a.json", "x"), -ENOTDIR);
	snprintf(expected, sizeof(expected), "making %s: Not a directory", path);
	assert_string_equal(err.msg, expected);
	tmptree_remove(tree, "devinfo");
	tmptree_write(path, "a.json/in-it", "x");
	assert_int_equal(put("a.json", "x"), -EISDIR);
	snprintf(expected, sizeof(expected), "writing %s/a.json: Is a directory", path);
	assert_string_equal(err.msg, expected);
	assert_int_equal(entries(path), 1); /* the temporary file was removed */
	assert_int_equal(device_files_remove(&folder, "a.json", &err), -EISDIR);
}

static void test_a_path_of_any_length(void **state)
{
	static char long_path[5000];
	(void)state;

	memset(long_path, 'a', sizeof(long_path) - 1);
	folder.path = long_path;
	assert_int_equal(put("a.json", "x"), -ENAMETOOLONG);
	assert_int_equal(device_files_remove(&folder, "a.json", &err), -ENAMETOOLONG);
}

/* --- removing --------------------------------------------------------------------------------- */

static void test_removing(void **state)
{
	(void)state;
	assert_int_equal(device_files_remove(&folder, "a.json", &err), 0);
	assert_int_equal(put("a.json", "x"), 1);
	assert_int_equal(device_files_remove(&folder, "a.json", &err), 1);
	assert_null(content("a.json"));
}

static bool starts_with_ours(const char *name, void *arg)
{
	(void)arg;
	return strncmp(name, "ours-", 5) == 0 && strcmp(name, "ours-kept.json") != 0;
}

static void test_sweeping(void **state)
{
	(void)state;
	assert_int_equal(device_files_sweep(&folder, starts_with_ours, NULL, &err), 0);
	tmptree_write(path, "ours-1.json", "x");
	tmptree_write(path, "ours-kept.json", "x");
	tmptree_write(path, "theirs.json", "x");
	tmptree_write(path, ".rocelet-abc123", "half a");
	tmptree_write(path, "ours-2.json/in-it", "x"); /* a folder: cannot be removed with unlink */
	assert_int_equal(device_files_sweep(&folder, starts_with_ours, NULL, &err), -EISDIR);
	assert_non_null(strstr(err.msg, "ours-2.json"));
	assert_int_equal(entries(path), 3);
	tmptree_remove(path, "ours-2.json/in-it");
	tmptree_remove(path, "ours-2.json");
	tmptree_write(path, "ours-3.json", "x");
	assert_int_equal(device_files_sweep(&folder, starts_with_ours, NULL, &err), 1);
	assert_non_null(content("ours-kept.json"));
	assert_non_null(content("theirs.json"));
	assert_int_equal(entries(path), 2);
}

/* --- dry run ---------------------------------------------------------------------------------- */

static void test_a_dry_run_changes_nothing(void **state)
{
	(void)state;
	folder.dry_run = true;
	assert_int_equal(put("a.json", "x"), 1);
	assert_int_equal(access(path, F_OK), -1);
	tmptree_write(path, "ours-1.json", "x");
	tmptree_write(path, ".rocelet-abc123", "x");
	assert_int_equal(put("ours-1.json", "y"), 1);
	assert_int_equal(device_files_remove(&folder, "ours-1.json", &err), 1);
	assert_int_equal(device_files_remove(&folder, "unknown.json", &err), 0);
	assert_int_equal(device_files_sweep(&folder, starts_with_ours, NULL, &err), 2);
	assert_string_equal(content("ours-1.json"), "x");
	assert_int_equal(entries(path), 2);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

TEST_GROUP(device_files)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_file_and_its_folder),
		TEST(test_an_equal_file_is_not_written_again),
		TEST(test_readers_see_the_old_or_the_new_file),
		TEST(test_links_are_replaced_not_followed),
		TEST(test_names_that_lead_out_of_the_folder),
		TEST(test_errors_name_the_obstacle),
		TEST(test_a_path_of_any_length),
		TEST(test_removing),
		TEST(test_sweeping),
		TEST(test_a_dry_run_changes_nothing),
	};

	return test_group_run(tests, NULL, NULL);
}
