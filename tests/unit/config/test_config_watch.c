// SPDX-License-Identifier: Apache-2.0
/* Detects possible changes of the configuration file: writes, renames and symlinks. */
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "config_file.h"
#include "config_watch.h"
#include "faults.h"
#include "fds.h"
#include "loop_helpers.h"
#include "test_group.h"
#include "tmptree.h"

/* Longer than the time in which changes of a burst are collected. */
#define QUIET_MS 150

static uv_loop_t loop;
static char *tmp;
static struct config_watch *watch;
static unsigned n_changes, n_fds;
static bool close_on_change;

static void on_change(void *arg)
{
	(void)arg;
	n_changes++;
	if (close_on_change) {
		config_watch_close(watch);
		watch = NULL;
	}
}

static const char *in_tmp(const char *path)
{
	static char full[2][PATH_MAX];
	static unsigned i;

	i ^= 1;
	snprintf(full[i], PATH_MAX, "%s/%s", tmp, path);
	return full[i];
}

static int set_up(void **state)
{
	(void)state;
	n_fds = fds_open();
	tmp = tmptree_new();
	watch = NULL;
	n_changes = 0;
	close_on_change = false;
	return uv_loop_init(&loop);
}

static int tear_down(void **state)
{
	(void)state;
	config_watch_close(watch);
	assert_int_equal(loop_end(&loop), 0);
	tmptree_free(tmp);
	assert_int_equal(fds_open(), n_fds);
	return 0;
}

/* The first loop of a process opens a pipe for signals, which stays open. */
static int set_up_all(void **state)
{
	(void)state;
	return uv_loop_init(&loop) + uv_loop_close(&loop);
}

static void open_watch(const char *path)
{
	struct err e = {0};

	if (config_watch_open(&watch, &loop, in_tmp(path), on_change, NULL, &e) < 0)
		fail_msg("%s", e.msg);
}

static bool has_changed(void *arg)
{
	(void)arg;
	return n_changes > 0;
}

static void wait_change(void)
{
	assert_true(loop_until(&loop, has_changed, NULL, PATIENCE_MS));
	n_changes = 0;
}

static void assert_quiet(void)
{
	loop_wakeups(&loop, QUIET_MS);
	assert_int_equal(n_changes, 0);
}

static void swap_link(const char *path, const char *target)
{
	tmptree_link(tmp, "tmp-link", target);
	assert_int_equal(rename(in_tmp("tmp-link"), in_tmp(path)), 0);
}

static void test_a_file_that_is_written_or_replaced(void **state)
{
	(void)state;
	tmptree_write(tmp, "c.json", "1");
	open_watch("c.json");
	tmptree_write(tmp, "c.json", "2");
	wait_change();
	tmptree_write(tmp, "new", "3");
	assert_quiet(); /* another file in the folder */
	assert_int_equal(rename(in_tmp("new"), in_tmp("c.json")), 0);
	wait_change();
	tmptree_remove(tmp, "c.json");
	wait_change();
	tmptree_write(tmp, "c.json", "4");
	wait_change();
}

static void test_a_file_and_folders_created_later(void **state)
{
	(void)state;
	open_watch("etc/rocelet/c.json");
	assert_quiet();
	tmptree_write(tmp, "etc/rocelet/c.json", "1");
	wait_change();
	assert_quiet();
	tmptree_write(tmp, "etc/rocelet/c.json", "2");
	wait_change();
}

/* Like the kubelet: a new folder, and then one rename of the link to it. */
static void test_a_config_map_updated_repeatedly(void **state)
{
	(void)state;
	tmptree_write(tmp, "..v0/c.json", "0");
	tmptree_link(tmp, "..data", "..v0");
	tmptree_link(tmp, "c.json", "..data/c.json");
	open_watch("c.json");
	for (unsigned i = 1; i < 5; i++) {
		char path[32], dir[8];
		struct config_file f = {0};

		snprintf(dir, sizeof(dir), "..v%u", i);
		snprintf(path, sizeof(path), "%s/c.json", dir);
		tmptree_write(tmp, path, "%u", i);
		swap_link("..data", dir);
		wait_change();
		assert_int_equal(config_file_read(&f, in_tmp("c.json"), NULL), 0);
		assert_int_equal(f.text[0], '0' + i);
		config_file_done(&f);
		snprintf(path, sizeof(path), "..v%u/c.json", i - 1);
		tmptree_remove(tmp, path);
		snprintf(path, sizeof(path), "..v%u", i - 1);
		tmptree_remove(tmp, path);
		assert_quiet(); /* removing the old version is no change */
	}
}

static void test_links_to_links_in_other_folders(void **state)
{
	(void)state;
	tmptree_write(tmp, "c/real", "1");
	tmptree_write(tmp, "d/real", "2");
	tmptree_link(tmp, "b/link", "../c/real");
	tmptree_link(tmp, "a/c.json", "../b/link");
	open_watch("a/c.json");
	tmptree_write(tmp, "c/real", "3");
	wait_change();
	swap_link("b/link", "../d/real");
	wait_change();
	tmptree_write(tmp, "d/real", "4");
	wait_change();
	tmptree_write(tmp, "c/real", "5");
	assert_quiet(); /* no link leads there any more */
	swap_link("a/c.json", "/nowhere/c.json");
	wait_change();
	swap_link("a/c.json", "c.json"); /* to itself */
	wait_change();
	tmptree_remove(tmp, "a/c.json");
	wait_change();
	tmptree_write(tmp, "a/c.json", "6");
	wait_change();
}

static void test_a_burst_is_one_change(void **state)
{
	(void)state;
	tmptree_write(tmp, "c.json", "0");
	open_watch("c.json");
	for (unsigned i = 0; i < 100; i++)
		tmptree_write(tmp, "c.json", "%u", i);
	assert_true(loop_until(&loop, has_changed, NULL, PATIENCE_MS));
	loop_wakeups(&loop, QUIET_MS);
	assert_int_equal(n_changes, 1);
}

static void test_the_watch_may_be_closed_in_its_callback(void **state)
{
	(void)state;
	tmptree_write(tmp, "c.json", "0");
	open_watch("c.json");
	close_on_change = true;
	tmptree_write(tmp, "c.json", "1");
	wait_change();
	tmptree_write(tmp, "c.json", "2");
	assert_quiet();
	config_watch_close(NULL);
}

static void test_a_watch_without_memory(void **state)
{
	struct err e = {0};
	int r = -1;
	(void)state;

	tmptree_write(tmp, "d/real", "1");
	tmptree_link(tmp, "c.json", "d/real");
	for (long nth = 0; r < 0; nth++) {
		faults_alloc(nth);
		r = config_watch_open(&watch, &loop, in_tmp("c.json"), on_change, NULL, &e);
		assert_int_equal(r, faults_end() ? -ENOMEM : 0);
	}
}

TEST_GROUP(config_watch)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_a_file_that_is_written_or_replaced),
		TEST(test_a_file_and_folders_created_later),
		TEST(test_a_config_map_updated_repeatedly),
		TEST(test_links_to_links_in_other_folders),
		TEST(test_a_burst_is_one_change),
		TEST(test_the_watch_may_be_closed_in_its_callback),
		TEST(test_a_watch_without_memory),
	};

	return test_group_run(tests, set_up_all, NULL);
}
