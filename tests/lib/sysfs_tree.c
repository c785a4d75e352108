// SPDX-License-Identifier: Apache-2.0
#include "sysfs_tree.h"

#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* build/tests/hw and build/bench/mk_sysfs are in folders side by side, in every build flavour. */
static void generator_path(char path[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
	char *slash;

	assert_true(n > 0);
	path[n] = '\0';
	for (int i = 0; i < 2; i++) {
		slash = strrchr(path, '/');
		assert_non_null(slash);
		*slash = '\0';
	}
	assert_true(strlen(path) + sizeof("/bench/mk_sysfs") <= PATH_MAX);
	strcat(path, "/bench/mk_sysfs");
}

void sysfs_tree_generate(const char *dir, unsigned pfs, unsigned vfs)
{
	char program[PATH_MAX], n_pfs[16], n_vfs[16];
	int status;
	pid_t pid;

	generator_path(program);
	snprintf(n_pfs, sizeof(n_pfs), "%u", pfs);
	snprintf(n_vfs, sizeof(n_vfs), "%u", vfs);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

		dup2(null, STDOUT_FILENO);
		execl(program, program, dir, n_pfs, n_vfs, (char *)NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

struct hw sysfs_tree_open(const char *dir)
{
	struct hw hw;
	struct err e = {0};

	assert_int_equal(hw_open(&hw, dir, dir, dir, &e), 0);
	return hw;
}
