// SPDX-License-Identifier: Apache-2.0
#include "tmptree.h"

#include <errno.h>
#include <ftw.h>
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

#define PATH_SIZE 512

char *tmptree_new(void)
{
	char *dir = strdup("/tmp/rocelet-test-XXXXXX");

	assert_non_null(dir);
	assert_non_null(mkdtemp(dir));
	return dir;
}

static void make_parents(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		assert_true(mkdir(path, 0755) == 0 || errno == EEXIST);
		*slash = '/';
	}
}

static void full_path(char full[PATH_SIZE], const char *dir, const char *path)
{
	assert_true((size_t)snprintf(full, PATH_SIZE, "%s/%s", dir, path) < PATH_SIZE);
}

void tmptree_write(const char *dir, const char *path, const char *fmt, ...)
{
	char full[PATH_SIZE];
	va_list ap;
	FILE *f;

	full_path(full, dir, path);
	make_parents(full);
	f = fopen(full, "w");
	assert_non_null(f);
	va_start(ap, fmt);
	vfprintf(f, fmt, ap);
	va_end(ap);
	fclose(f);
}

void tmptree_link(const char *dir, const char *path, const char *target)
{
	char full[PATH_SIZE];

	full_path(full, dir, path);
	make_parents(full);
	assert_int_equal(symlink(target, full), 0);
}

void tmptree_remove(const char *dir, const char *path)
{
	char full[PATH_SIZE];

	full_path(full, dir, path);
	assert_int_equal(remove(full), 0);
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st, (void)flag, (void)ftw;
	return remove(path);
}

void tmptree_free(char *dir)
{
	nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(dir);
}
