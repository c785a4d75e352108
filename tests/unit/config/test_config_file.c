// SPDX-License-Identifier: Apache-2.0
/* The configuration file is read completely and from one version, or an error is returned. */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "config_file.h"
#include "test_group.h"

static char dir[] = "/tmp/rocelet-config-file-XXXXXX";

static int setup(void **state)
{
	(void)state;
	return mkdtemp(dir) ? chdir(dir) : -1;
}

static int teardown(void **state)
{
	(void)state;
	return chdir("/") + rmdir(dir);
}

static void write_file(const char *name, const char *text, size_t len)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, len), len);
	close(fd);
}

static void test_a_file_is_read_through_symlinks(void **state)
{
	struct config_file f = {0};
	struct err e = {0};
	(void)state;

	assert_int_equal(mkdir("..v1", 0700), 0);
	write_file("..v1/c.json", "{\"a\":1}", 7);
	assert_int_equal(symlink("..v1", "..data"), 0);
	assert_int_equal(symlink("..data/c.json", "c.json"), 0);
	assert_int_equal(config_file_read(&f, "c.json", &e), 0);
	assert_int_equal(f.len, 7);
	assert_string_equal(f.text, "{\"a\":1}");
	config_file_done(&f);
	assert_null(f.text);
	config_file_done(&f);
	unlink("c.json");
	unlink("..data");
	unlink("..v1/c.json");
	rmdir("..v1");
}

static void test_files_that_cannot_be_read(void **state)
{
	struct config_file f = {.text = (char *)0x5a, .len = 0x5a};
	struct err e = {0};
	char path[64];
	(void)state;

	assert_int_equal(config_file_read(&f, "absent", &e), -ENOENT);
	assert_string_equal(e.msg, "absent: No such file or directory");
	assert_int_equal(config_file_read(&f, dir, &e), -EINVAL);
	snprintf(path, sizeof(path), "%s: not a file", dir);
	assert_string_equal(e.msg, path);
	assert_int_equal(mkfifo("fifo", 0600), 0);
	assert_int_equal(config_file_read(&f, "fifo", &e), -EINVAL); /* without blocking */
	unlink("fifo");
	assert_int_equal(symlink("loop", "loop"), 0);
	assert_int_equal(config_file_read(&f, "loop", &e), -ELOOP);
	unlink("loop");
	write_file("large", "", 0);
	assert_int_equal(truncate("large", 10 * 1024 * 1024), 0);
	assert_int_equal(config_file_read(&f, "large", &e), -EFBIG);
	assert_string_equal(e.msg, "large: larger than 1048576 bytes");
	assert_int_equal(truncate("large", CONFIG_FILE_MAX), 0);
	assert_int_equal(config_file_read(&f, "large", &e), 0);
	assert_int_equal(f.len, CONFIG_FILE_MAX);
	config_file_done(&f);
	unlink("large");
}

/* --- a ConfigMap updated during the read
 * ------------------------------------------------------- */

static volatile bool stop;

static void *swap_links(void *arg)
{
	(void)arg;
	for (unsigned i = 0; !stop; i++) {
		(void)!symlink(i % 2 ? "a" : "b", "tmp");
		(void)!rename("tmp", "link");
	}
	return NULL;
}

static void test_a_swapped_symlink_yields_one_of_both_files(void **state)
{
	enum { SIZE = 200000, ROUNDS = 300 };
	char *text = malloc(SIZE);
	pthread_t thread;
	(void)state;

	memset(text, 'a', SIZE);
	write_file("a", text, SIZE);
	memset(text, 'b', SIZE);
	write_file("b", text, SIZE);
	assert_int_equal(symlink("a", "link"), 0);
	stop = false;
	assert_int_equal(pthread_create(&thread, NULL, swap_links, NULL), 0);
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct config_file f = {0};
		struct err e = {0};

		assert_int_equal(config_file_read(&f, "link", &e), 0);
		assert_int_equal(f.len, SIZE);
		memset(text, f.text[0], SIZE);
		assert_memory_equal(f.text, text, SIZE);
		config_file_done(&f);
	}
	stop = true;
	pthread_join(thread, NULL);
	unlink("a");
	unlink("b");
	unlink("link");
	unlink("tmp");
	free(text);
}

static void test_a_file_that_keeps_changing_is_an_error(void **state)
{
	struct config_file f = {0};
	struct err e = {0};
	(void)state;

	/* procfs reports 0 bytes and returns more, like a file that grows during the read. */
	assert_int_equal(config_file_read(&f, "/proc/self/stat", &e), -EAGAIN);
	assert_string_equal(e.msg, "/proc/self/stat: keeps changing while it is read");
	assert_null(f.text);
}

TEST_GROUP(config_file)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_file_is_read_through_symlinks),
		cmocka_unit_test(test_files_that_cannot_be_read),
		cmocka_unit_test(test_a_swapped_symlink_yields_one_of_both_files),
		cmocka_unit_test(test_a_file_that_keeps_changing_is_an_error),
	};

	return test_group_run(tests, setup, teardown);
}
