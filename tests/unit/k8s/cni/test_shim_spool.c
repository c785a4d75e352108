// SPDX-License-Identifier: Apache-2.0
/* DEL requests that the CNI plugin queues as files. */
#include "shim_io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "cleanup.h"
#include "faults.h"
#include "test_group.h"
#include "tmptree.h"

/* Counts the files of a queue; *ret_complete: those that the daemon would read. */
static unsigned spool_count(const char *dir, unsigned *ret_complete)
{
	char path[4096];
	unsigned n = 0;
	const struct dirent *entry;
	AUTO_DIR d = NULL;

	*ret_complete = 0;
	snprintf(path, sizeof(path), "%s/cni/del", dir);
	d = opendir(path);
	while (d && (entry = readdir(d)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
			n++;
			*ret_complete += entry->d_name[0] != '.';
		}
	return n;
}

static void spool_has(const char *dir, unsigned n)
{
	unsigned complete, found = spool_count(dir, &complete);

	assert_int_equal(found, n);
	assert_int_equal(complete, n);
}

static void test_requests_are_stored(void **state)
{
	char *dir = tmptree_new();
	char path[4096];
	struct err e = {0};
	struct stat st;

	(void)state;
	snprintf(path, sizeof(path), "%s/state", dir);
	assert_int_equal(shim_spool_put(path, "{\"a\": 1}", &e), 0);
	assert_int_equal(shim_spool_put(path, "{}", &e), 0);
	spool_has(path, 2);
	snprintf(path, sizeof(path), "%s/state/cni/del", dir);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	tmptree_free(dir);
}

/* The daemon reads every name without a leading dot, so such a name may appear only by a rename. */
static void test_a_request_appears_complete(void **state)
{
	char *dir = tmptree_new();
	char path[4096], buf[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	AUTO_FD watch = inotify_init1(IN_CLOEXEC);
	unsigned n_written = 0, n_renamed = 0;
	struct err e = {0};
	ssize_t len;

	(void)state;
	assert_int_equal(shim_spool_put(dir, "{}", &e), 0);
	snprintf(path, sizeof(path), "%s/cni/del", dir);
	assert_true(inotify_add_watch(watch, path, IN_CREATE | IN_MODIFY | IN_MOVED_TO) >= 0);
	assert_int_equal(shim_spool_put(dir, "{\"a\": 1}", &e), 0);
	len = read(watch, buf, sizeof(buf));
	assert_true(len > 0);
	for (ssize_t at = 0; at < len;) {
		const struct inotify_event *event = (const void *)(buf + at);

		n_written += event->name[0] == '.' && event->mask & IN_MODIFY;
		if (event->name[0] != '.') {
			assert_int_equal(event->mask, IN_MOVED_TO);
			assert_true(n_written > 0);
			n_renamed++;
		}
		at += (ssize_t)(sizeof(*event) + event->len);
	}
	assert_int_equal(n_renamed, 1);
	tmptree_free(dir);
}

/* A request that could not be written durably leaves no file. */
static void test_a_failed_write_leaves_no_file(void **state)
{
	char *dir = tmptree_new();
	struct err e = {0};
	unsigned n, complete;
	long nth = 0;

	(void)state;
	while (true) {
		int r;

		faults_write(nth++, ENOSPC);
		r = shim_spool_put(dir, "{}", &e);
		if (!faults_end()) {
			assert_int_equal(r, 0);
			break;
		}
		assert_int_equal(r, -ENOSPC);
		assert_non_null(strstr(e.msg, "ENOSPC"));
		n = spool_count(dir, &complete);
		assert_int_equal(n, complete);
	}
	assert_true(nth > 3); /* write(), and fsync() of the file and the folder */
	tmptree_free(dir);
}

static void spool_refused(const char *dir, int wanted)
{
	struct err e = {0};

	assert_int_equal(shim_spool_put(dir, "{}", &e), wanted);
	assert_null(strstr(e.msg, "No such"));
	spool_has(dir, 0);
}

/* The queue's folder belongs to another user, is a link or a file. */
static void test_folders(void **state)
{
	char *dir = tmptree_new(), *other = tmptree_new();
	char path[4096];

	(void)state;
	tmptree_link(dir, "cni", other);
	spool_refused(dir, -ENOTDIR);
	tmptree_remove(dir, "cni");
	tmptree_write(dir, "cni", "x");
	spool_refused(dir, -ENOTDIR);
	tmptree_remove(dir, "cni");
	snprintf(path, sizeof(path), "%s/cni", dir);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(chmod(path, 0770), 0);
	spool_refused(dir, -EPERM);
	assert_int_equal(chmod(path, 0700), 0);
	if (geteuid() == 0) {
		assert_int_equal(chown(path, 65534, 0), 0);
		spool_refused(dir, -EPERM);
	}
	tmptree_free(dir);
	tmptree_free(other);
}

/* --- a daemon that removes incomplete files -------------------------------------------------- */

#define SWEPT_PUTS 200

struct sweeper {
	char dir[4096];
	atomic_bool ends;
};

static void spool_sweep(int dir, const char *name)
{
	AUTO_FD fd = openat(dir, name, O_RDONLY | O_CLOEXEC);

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
		(void)unlinkat(dir, name, 0);
}

static void *spool_sweeper(void *arg)
{
	struct sweeper *s = arg;

	while (!s->ends) {
		const struct dirent *entry;
		AUTO_DIR d = opendir(s->dir);

		while (d && (entry = readdir(d)))
			if (entry->d_name[0] == '.' && entry->d_name[1] != '.' && entry->d_name[1])
				spool_sweep(dirfd(d), entry->d_name);
	}
	return NULL;
}

/* The daemon may run between the creation of a file and its lock. */
static void test_no_request_is_lost_to_the_sweeper(void **state)
{
	char *dir = tmptree_new();
	struct sweeper s = {.ends = false};
	struct err e = {0};
	pthread_t thread;

	(void)state;
	snprintf(s.dir, sizeof(s.dir), "%s/cni/del", dir);
	assert_int_equal(pthread_create(&thread, NULL, spool_sweeper, &s), 0);
	for (unsigned i = 0; i < SWEPT_PUTS; i++)
		assert_int_equal(shim_spool_put(dir, "{}", &e), 0);
	s.ends = true;
	assert_int_equal(pthread_join(thread, NULL), 0);
	spool_has(dir, SWEPT_PUTS);
	tmptree_free(dir);
}

TEST_GROUP(shim_spool)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_requests_are_stored),
		cmocka_unit_test(test_a_request_appears_complete),
		cmocka_unit_test(test_a_failed_write_leaves_no_file),
		cmocka_unit_test(test_folders),
		cmocka_unit_test(test_no_request_is_lost_to_the_sweeper),
	};

	return test_group_run(tests, NULL, NULL);
}
