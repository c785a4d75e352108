// SPDX-License-Identifier: Apache-2.0
/* Reports of changed names in a folder, and of folders that are created, removed or replaced. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "dir_watch.h"
#include "faults.h"
#include "fds.h"
#include "loop_helpers.h"
#include "test_group.h"
#include "tmptree.h"

static uv_loop_t loop;
static char *tmp;
static struct dir_watch *watch;
static unsigned n_fds;
static unsigned n_null, n_names;
static char last[NAME_MAX + 1];
static const char *waiting_for;
static bool seen, close_at_first;

static void on_hint(const char *name, void *arg)
{
	(void)arg;
	if (close_at_first) {
		dir_watch_close(watch);
		assert_int_equal(n_null + n_names, 0);
	}
	if (name) {
		n_names++;
		snprintf(last, sizeof(last), "%s", name);
	} else {
		n_null++;
	}
	if (waiting_for && (name ? strcmp(name, waiting_for) == 0 : waiting_for[0] == '\0'))
		seen = true;
}

static bool is_seen(void *arg)
{
	(void)arg;
	return seen;
}

/* Runs the loop until the name is reported; "" = the hint without a name. */
static void wait_for(const char *name)
{
	waiting_for = name;
	if (!loop_until(&loop, is_seen, NULL, PATIENCE_MS))
		fail_msg("\"%s\" was not reported", name);
	seen = false;
	waiting_for = NULL;
}

static int set_up(void **state)
{
	(void)state;
	n_fds = fds_open();
	tmp = tmptree_new();
	n_null = n_names = 0;
	seen = close_at_first = false;
	waiting_for = NULL;
	watch = NULL;
	return uv_loop_init(&loop);
}

static int tear_down(void **state)
{
	(void)state;
	dir_watch_close(watch);
	assert_int_equal(loop_end(&loop), 0);
	tmptree_free(tmp);
	assert_int_equal(fds_open(), n_fds);
	return 0;
}

static const char *in_tmp(const char *path)
{
	static char full[2][PATH_MAX];
	static unsigned i;

	i ^= 1;
	snprintf(full[i], PATH_MAX, "%s/%s", tmp, path);
	return full[i];
}

static void open_watch(const char *dir)
{
	struct err e = {0};

	if (dir_watch_open(&watch, &loop, in_tmp(dir), on_hint, NULL, &e) < 0)
		fail_msg("%s", e.msg);
}

static void make_dir(const char *dir)
{
	assert_int_equal(mkdir(in_tmp(dir), 0755), 0);
}

static void move(const char *from, const char *to)
{
	assert_int_equal(rename(in_tmp(from), in_tmp(to)), 0);
}

/* --- names ------------------------------------------------------------------------------------ */

static void names_in_a_folder(void **state)
{
	int fd;

	(void)state;
	make_dir("d");
	tmptree_write(tmp, "outside", "1");
	open_watch("d");
	fd = open(in_tmp("d/new"), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	wait_for("new");
	assert_int_equal(write(fd, "x", 1), 1);
	close(fd);
	wait_for("new"); /* written */
	chmod(in_tmp("d/new"), 0644);
	wait_for("new");
	move("outside", "d/in");
	wait_for("in");
	move("d/in", "outside");
	wait_for("in");
	tmptree_remove(tmp, "d/new");
	wait_for("new");
	assert_int_equal(n_null, 0);
}

static void reading_causes_no_event(void **state)
{
	(void)state;
	tmptree_write(tmp, "d/f", "1");
	open_watch("d");
	close(open(in_tmp("d/f"), O_RDONLY | O_CLOEXEC));
	chmod(in_tmp("d/f"), 0600); /* as an event to wait for */
	wait_for("f");
	assert_int_equal(n_null, 0);
	assert_int_equal(n_names, 1);
}

/* --- the folder itself ------------------------------------------------------------------------ */

static void works(const char *dir)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/probe", dir);
	tmptree_write(tmp, path, "1");
	wait_for("probe");
	tmptree_remove(tmp, path);
	wait_for("probe");
}

static void a_folder_that_is_created_later(void **state)
{
	(void)state;
	open_watch("a/b/c");
	make_dir("a");
	wait_for("");
	make_dir("a/b");
	wait_for("");
	make_dir("a/b/c");
	wait_for("");
	works("a/b/c");
}

/* The folder and its files are created between two iterations of the loop. */
static void a_folder_and_its_files_at_once(void **state)
{
	(void)state;
	open_watch("a/b/c");
	tmptree_write(tmp, "a/b/c/f", "1");
	wait_for("");
	works("a/b/c");
}

static void a_folder_that_is_created_again(void **state)
{
	(void)state;
	make_dir("d");
	open_watch("d");
	for (int i = 0; i < 50; i++) {
		tmptree_remove(tmp, "d");
		if (i % 2)
			wait_for("");
		make_dir("d");
		wait_for("");
		works("d");
	}
}

static void a_folder_that_is_replaced(void **state)
{
	(void)state;
	make_dir("d");
	make_dir("other");
	open_watch("d");
	move("d", "old");
	move("other", "d");
	wait_for("");
	works("d");
	n_names = 0;
	tmptree_write(tmp, "old/f", "1");
	works("d");
	assert_in_range(n_names, 2, 3); /* creation and writing may be one event */
}

/* This process's watches in the kernel. */
static unsigned n_watches(void)
{
	DIR *d = opendir("/proc/self/fdinfo");
	struct dirent *entry;
	unsigned n = 0;

	while ((entry = readdir(d))) {
		char path[PATH_MAX], line[512];
		FILE *f;

		snprintf(path, sizeof(path), "/proc/self/fdinfo/%s", entry->d_name);
		f = fopen(path, "r");
		while (f && fgets(line, sizeof(line), f))
			n += strncmp(line, "inotify wd:", 11) == 0;
		if (f)
			fclose(f);
	}
	closedir(d);
	return n;
}

static void watches_do_not_pile_up(void **state)
{
	unsigned before = n_watches(), first;
	char name[32] = "d";

	(void)state;
	make_dir("d");
	open_watch("d");
	first = n_watches() - before;
	assert_in_range(first, 2, 10);
	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "old%d", i);
		move("d", name);
		make_dir("d");
		wait_for("");
	}
	works("d");
	assert_int_equal(n_watches() - before, first);
}

static void a_parent_that_is_replaced(void **state)
{
	(void)state;
	tmptree_write(tmp, "p/d/f", "1");
	tmptree_write(tmp, "q/d/f", "1");
	open_watch("p/d");
	move("p", "old");
	wait_for("");
	move("q", "p");
	wait_for("");
	works("p/d");
}

static void a_file_in_the_place_of_the_folder(void **state)
{
	(void)state;
	tmptree_write(tmp, "d", "1");
	open_watch("d");
	tmptree_remove(tmp, "d");
	make_dir("d");
	wait_for("");
	works("d");
}

/* --- links ------------------------------------------------------------------------------------ */

static void a_link_that_is_swapped(void **state)
{
	(void)state;
	make_dir("one");
	make_dir("two");
	tmptree_link(tmp, "d", "one");
	tmptree_link(tmp, "next", "two");
	open_watch("d");
	works("one");
	move("next", "d");
	wait_for("");
	works("two");
}

static void a_link_to_a_folder_created_later(void **state)
{
	(void)state;
	tmptree_link(tmp, "run/d", "../data/x/kubelet");
	tmptree_link(tmp, "run/abs", in_tmp("data/x"));
	open_watch("run/d/plugins");
	make_dir("data");
	wait_for("");
	make_dir("data/x");
	wait_for("");
	tmptree_write(tmp, "data/x/kubelet/plugins/f", "1");
	wait_for("");
	works("data/x/kubelet/plugins");
	dir_watch_close(watch);
	open_watch("run/abs/kubelet/../kubelet//plugins/");
	works("data/x/kubelet/plugins");
}

static void circular_links(void **state)
{
	(void)state;
	tmptree_link(tmp, "a", "b");
	tmptree_link(tmp, "b", "a");
	open_watch("a/d");
	tmptree_remove(tmp, "b");
	make_dir("b");
	wait_for("");
	make_dir("b/d");
	wait_for("");
	works("b/d");
}

/* --- errors ----------------------------------------------------------------------------------- */

static unsigned queue_length(void)
{
	unsigned n = 16384;
	FILE *f = fopen("/proc/sys/fs/inotify/max_queued_events", "r");

	if (f && fscanf(f, "%u", &n) != 1)
		n = 16384;
	if (f)
		fclose(f);
	return n;
}

static void lost_events_are_reported(void **state)
{
	unsigned n = queue_length() + 2;

	(void)state;
	if (n > 200000)
		skip();
	tmptree_write(tmp, "d/a", "1");
	tmptree_write(tmp, "d/b", "1");
	open_watch("d");
	/* alternating names, as the kernel merges equal consecutive events */
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(chmod(in_tmp(i % 2 ? "d/a" : "d/b"), i & 2 ? 0600 : 0644), 0);
	wait_for("");
	assert_true(n_names > 1000);
	works("d");
}

static void a_watch_closed_by_its_hint(void **state)
{
	(void)state;
	make_dir("d");
	open_watch("d");
	close_at_first = true;
	tmptree_write(tmp, "d/a", "1");
	tmptree_write(tmp, "d/b", "1");
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(n_names, 1);
	watch = NULL;
}

static void invalid_paths(void **state)
{
	char path[PATH_MAX + 2];
	struct err e = {0};

	(void)state;
	memset(path, 'x', sizeof(path));
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(dir_watch_open(&watch, &loop, path, on_hint, NULL, &e), -ENAMETOOLONG);
	assert_int_equal(e.code, -ENAMETOOLONG);
	path[NAME_MAX + 5] = '\0';
	assert_int_equal(dir_watch_open(&watch, &loop, path, on_hint, NULL, NULL), -ENAMETOOLONG);
	assert_int_equal(dir_watch_open(&watch, &loop, "", on_hint, NULL, &e), -EINVAL);
	dir_watch_close(NULL);
}

static void any_failed_allocation_is_survived(void **state)
{
	char dir[PATH_MAX];
	long n;
	int r;

	(void)state;
	make_dir("d");
	snprintf(dir, sizeof(dir), "%s", in_tmp("d"));
	for (n = 0;; n++) {
		struct err e = {0};

		faults_alloc(n);
		r = dir_watch_open(&watch, &loop, dir, on_hint, NULL, &e);
		if (!faults_end())
			break;
		assert_int_equal(r, -ENOMEM);
		assert_int_equal(e.code, -ENOMEM);
	}
	assert_int_equal(r, 0);
	assert_true(n > 6);
	works("d");
	/* Out of memory when the path has changed: retried after a second. */
	tmptree_remove(tmp, "d");
	make_dir("d");
	faults_alloc(0);
	wait_for("");
	assert_true(faults_end());
	wait_for("");
	works("d");
}

/* The first loop of a process opens descriptors that stay open. */
static int first_loop(void **state)
{
	(void)state;
	assert_int_equal(uv_loop_init(&loop), 0);
	return loop_end(&loop);
}

#define WATCH_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

TEST_GROUP(dir_watch)
{
	const struct CMUnitTest tests[] = {
		WATCH_TEST(names_in_a_folder),
		WATCH_TEST(reading_causes_no_event),
		WATCH_TEST(a_folder_that_is_created_later),
		WATCH_TEST(a_folder_and_its_files_at_once),
		WATCH_TEST(a_folder_that_is_created_again),
		WATCH_TEST(a_folder_that_is_replaced),
		WATCH_TEST(watches_do_not_pile_up),
		WATCH_TEST(a_parent_that_is_replaced),
		WATCH_TEST(a_file_in_the_place_of_the_folder),
		WATCH_TEST(a_link_that_is_swapped),
		WATCH_TEST(a_link_to_a_folder_created_later),
		WATCH_TEST(circular_links),
		WATCH_TEST(lost_events_are_reported),
		WATCH_TEST(a_watch_closed_by_its_hint),
		WATCH_TEST(invalid_paths),
		WATCH_TEST(any_failed_allocation_is_survived),
	};

	return test_group_run(tests, first_loop, NULL);
}
