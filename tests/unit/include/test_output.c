// SPDX-License-Identifier: Apache-2.0
/* The programs' behaviour when their output cannot be written. */
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cleanup.h"
#include "output.h"
#include "test_group.h"
#include "tmptree.h"

enum where { FULL, CLOSED, NO_READER };

static char said[4096];

/* The program in the folder above the tests'. */
static void program(const char *name, char path[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 64);

	assert_true(n > 0);
	path[n] = '\0';
	for (int i = 0; i < 2; i++)
		*strrchr(path, '/') = '\0';
	strcat(strcat(path, "/"), name);
}

static void print_to(enum where where)
{
	int fd, ends[2];

	switch (where) {
	case FULL:
		fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
		dup2(fd, STDOUT_FILENO);
		break;
	case CLOSED:
		close(STDOUT_FILENO);
		break;
	case NO_READER:
		signal(SIGPIPE, SIG_IGN);
		if (pipe(ends) < 0)
			_exit(126);
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		close(ends[1]);
		break;
	}
}

/* Returns the exit status; stderr is stored in `said`. */
static int run(enum where where, const char *words)
{
	char *copy = strdup(words), *argv[16], path[PATH_MAX];
	int ends[2], status, n = 0;
	size_t len = 0;
	ssize_t got;
	pid_t pid;

	for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
		argv[n++] = word;
	argv[n] = NULL;
	program(argv[0], path);
	assert_int_equal(pipe(ends), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		dup2(ends[1], STDERR_FILENO);
		close(ends[0]);
		close(ends[1]);
		print_to(where);
		execv(path, argv);
		_exit(127);
	}
	close(ends[1]);
	while ((got = read(ends[0], said + len, sizeof(said) - 1 - len)) > 0)
		len += (size_t)got;
	said[len] = '\0';
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	free(copy);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_every_way_to_print(void **state)
{
	static const char *const commands[] = {
		"rocelet --help",
		"rocelet --version",
		"rocelet --config %s/c.json --print-config",
		"rocectl --help",
		"rocectl --version",
		"rocectl help",
		"rocelet --config %s/c.json --check-config --sysfs-root %s/sys",
	};
	char *tree = tmptree_new(), words[4 * PATH_MAX];

	(void)state;
	tmptree_write(tree, "c.json", "{}\n");
	tmptree_write(tree, "sys/class/net/keep", "\n");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		snprintf(words, sizeof(words), commands[i], tree, tree);
		assert_true(run(FULL, words) > 0);
		assert_non_null(strstr(said, ": cannot write: No space left on device\n"));
		assert_true(run(CLOSED, words) > 0);
		assert_non_null(strstr(said, ": cannot write: Bad file descriptor\n"));
		assert_true(run(NO_READER, words) > 0);
		assert_null(strstr(said, "cannot write"));
	}
	tmptree_free(tree);
}

/* The write error is the only message. */
static void test_one_line(void **state)
{
	(void)state;
	assert_int_equal(run(FULL, "rocelet --version"), 1);
	assert_string_equal(said, "rocelet: cannot write: No space left on device\n");
	assert_int_equal(run(FULL, "rocectl --version"), 1);
	assert_string_equal(said, "rocectl: cannot write: No space left on device\n");
	assert_int_equal(run(NO_READER, "rocectl --help"), 1);
	assert_string_equal(said, "");
}

/* A failed write takes precedence over another status. */
static void test_a_failed_write_overrides_the_status(void **state)
{
	FILE *full = fopen("/dev/full", "we"), *fine = tmpfile();

	(void)state;
	assert_non_null(full);
	assert_non_null(fine);
	fputs("warning", full);
	assert_int_equal(output_end("rocectl", full, fine, 4), 1);
	assert_int_equal(output_end("rocectl", fine, stderr, 4), 4);
	fclose(fine);
	fclose(full);
}

TEST_GROUP(output)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_way_to_print),
		cmocka_unit_test(test_one_line),
		cmocka_unit_test(test_a_failed_write_overrides_the_status),
	};

	return test_group_run(tests, NULL, NULL);
}
