// SPDX-License-Identifier: Apache-2.0
/* DELs that are stored as files while no daemon answers. */
#include "cni_left.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "cni_door.h"
#include "loop_helpers.h"
#include "test_group.h"
#include "tmptree.h"
#include "world_pods.h"

struct left_world {
	struct world *w;
	struct cni_door *door;
	struct cni_left *left;
	char awaited[512]; /* a path that should appear or disappear */
};

static void left_world_open(struct left_world *l)
{
	struct err e = {0};

	l->w = world_start(WORLD_PLAIN);
	l->door = cni_door_new(l->w->engine, &l->w->loop, &l->w->inventory, l->w->dir, NULL);
	assert_non_null(l->door);
	assert_int_equal(cni_left_open(&l->left, &l->w->loop, l->w->dir, l->door, &e), 0);
}

static void left_world_close(struct left_world *l)
{
	cni_left_close(l->left);
	assert_true(world_is_clean(l->w));
	world_close(l->w);
	cni_door_free(l->door);
	uv_run(&l->w->loop, UV_RUN_DEFAULT);
	world_free(l->w);
}

static bool is_removed(void *arg)
{
	return access(((struct left_world *)arg)->awaited, F_OK) < 0;
}

static bool is_there(void *arg)
{
	return !is_removed(arg);
}

static void await(struct left_world *l, const char *name, bool (*is)(void *))
{
	snprintf(l->awaited, sizeof(l->awaited), "%s/cni/%s", l->w->dir, name);
	if (!loop_until(&l->w->loop, is, l, PATIENCE_MS))
		fail_msg("%s", l->awaited);
}

#define DEL_OF(container)                                                                          \
	"{\"command\": \"DEL\", \"containerID\": \"" container                                     \
	"\", \"ifname\": \"net1\", \"config\": {\"name\": \"fast\"}}"

static void test_files(void **state)
{
	struct left_world l;
	char path[512];

	(void)state;
	left_world_open(&l);
	tmptree_write(l.w->dir, "cni/del/.writing", "%s", "x");
	tmptree_write(l.w->dir, "cni/del/one", "%s", DEL_OF("s77"));
	await(&l, "del/one", is_removed);
	tmptree_write(l.w->dir, "cni/del/garbage", "%s", "{");
	await(&l, "bad/garbage", is_there);
	await(&l, "del/garbage", is_removed);
	tmptree_write(l.w->dir, "cni/del/add", "%s",
		      "{\"command\": \"STATUS\", \"config\": {\"name\": \"fast\"}}");
	await(&l, "bad/add", is_there);
	snprintf(path, sizeof(path), "%s/cni/del/link", l.w->dir);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	await(&l, "bad/link", is_there);
	snprintf(path, sizeof(path), "%s/cni/del/pipe", l.w->dir);
	assert_int_equal(mkfifo(path, 0600), 0);
	await(&l, "bad/pipe", is_there);
	snprintf(path, sizeof(path), "%s/cni/del/.writing", l.w->dir);
	assert_int_equal(access(path, F_OK), 0);
	left_world_close(&l);
}

/* A killed writer leaves its file, which is removed; a running writer holds a lock on it. Files of
 * other programs are kept. */
static void test_incomplete_files(void **state)
{
	static const char killed[] = "del/.00112233445566778899aabbccddeeff.json",
			  live[] = "del/.ffeeddccbbaa99887766554433221100.json",
			  others[] = "del/.00112233445566778899aabbccddeef.json";
	struct left_world l;
	char path[512];
	int fd;

	(void)state;
	left_world_open(&l);
	snprintf(path, sizeof(path), "%s/cni/%s", l.w->dir, live);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	assert_true(fd >= 0);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	tmptree_write(l.w->dir, "cni/del/.00112233445566778899aabbccddeef.json", "%s", "{");
	tmptree_write(l.w->dir, "cni/del/.00112233445566778899aabbccddeeff.json", "%s", "{");
	await(&l, killed, is_removed);
	/* When this later file is processed, the folder has been read again. */
	tmptree_write(l.w->dir, "cni/del/zero", "%s", DEL_OF("s78"));
	await(&l, "del/zero", is_removed);
	assert_int_equal(access(path, F_OK), 0);
	close(fd);
	/* Each change of the folder triggers a scan. */
	tmptree_write(l.w->dir, "cni/del/one", "%s", DEL_OF("s77"));
	await(&l, live, is_removed);
	snprintf(path, sizeof(path), "%s/cni/%s", l.w->dir, others);
	assert_int_equal(access(path, F_OK), 0);
	left_world_close(&l);
}

/* The DEL was stored before the daemon started. */
static void test_a_stored_del_is_processed_at_start(void **state)
{
	struct left_world l = {.left = NULL};
	struct attach_owner owner = {.door = DOOR_CNI, .sandbox = "c9", .netns = {.path = "/ns/1"}};
	struct net_plan plan = {.ifname = "net1"};
	struct world_gate g = {.answers = 0};
	uint64_t ns;
	struct err e = {0};

	(void)state;
	l.w = world_start(WORLD_PLAIN);
	l.door = cni_door_new(l.w->engine, &l.w->loop, &l.w->inventory, l.w->dir, NULL);
	ns = world_add_sandbox(l.w, "x", NULL);
	world_show_all(l.w);
	assert_int_equal(attach_engine_cni_add(l.w->engine, world_vf(2), &owner, &plan, NULL,
					       world_on_answer, &g, &e),
			 0);
	world_until_answered(l.w, &g);
	assert_string_equal(g.err.msg, "");
	tmptree_write(l.w->dir, "cni/del/x", "%s", DEL_OF("c9"));
	assert_int_equal(cni_left_open(&l.left, &l.w->loop, l.w->dir, l.door, &e), 0);
	await(&l, "del/x", is_removed);
	assert_int_equal(world_state(l.w, 2), ATTACH_FREE);
	world_end_namespace(l.w, ns);
	left_world_close(&l);
}

static bool journal_has_failed(void *arg)
{
	struct err e = {0};

	return attach_engine_cni_status(((struct world *)arg)->engine, &e) < 0 &&
	       strstr(e.msg, "failure of the test");
}

static void restart(struct left_world *l, int journal_error)
{
	l->w->fail_journal = journal_error;
	world_restart(l->w);
	cni_door_free(l->door);
	l->door = cni_door_new(l->w->engine, &l->w->loop, &l->w->inventory, l->w->dir, NULL);
	world_show_all(l->w);
}

/* Waits until a DEL has failed, and with it every DEL that began before. */
static void fail_a_del(struct left_world *l)
{
	struct world_gate g = {.answers = 0};
	struct err e = {0};

	assert_int_equal(attach_engine_cni_del(l->w->engine, "c9", "net1", world_on_answer, &g, &e),
			 0);
	world_until_answered(l->w, &g);
	assert_int_equal(g.err.code, -ETIMEDOUT);
}

/* The file of a failed DEL is kept, also for the next daemon. */
static void test_a_del_that_fails(void **state)
{
	struct left_world l = {.left = NULL};
	struct attach_owner owner = {.door = DOOR_CNI, .sandbox = "c9", .netns = {.path = "/ns/1"}};
	struct net_plan plan = {.ifname = "net1"};
	struct world_gate g = {.answers = 0};
	uint64_t ns;
	struct err e = {0};

	(void)state;
	l.w = world_start(WORLD_PLAIN);
	l.door = cni_door_new(l.w->engine, &l.w->loop, &l.w->inventory, l.w->dir, NULL);
	ns = world_add_sandbox(l.w, "x", NULL);
	world_show_all(l.w);
	assert_int_equal(attach_engine_cni_add(l.w->engine, world_vf(2), &owner, &plan, NULL,
					       world_on_answer, &g, &e),
			 0);
	world_until_answered(l.w, &g);
	l.w->cni_wait_ms = 50;
	restart(&l, -EIO);
	assert_true(loop_until(&l.w->loop, journal_has_failed, l.w, PATIENCE_MS));
	tmptree_write(l.w->dir, "cni/del/x", "%s", DEL_OF("c9"));
	assert_int_equal(cni_left_open(&l.left, &l.w->loop, l.w->dir, l.door, &e), 0);
	fail_a_del(&l); /* meanwhile the file's DEL begins */
	fail_a_del(&l);
	snprintf(l.awaited, sizeof(l.awaited), "%s/cni/del/x", l.w->dir);
	assert_true(is_there(&l));
	assert_int_equal(l.w->devices[2].ns, ns);
	cni_left_close(l.left);
	l.w->cni_wait_ms = 0;
	restart(&l, 0);
	world_until_ready(l.w);
	assert_int_equal(cni_left_open(&l.left, &l.w->loop, l.w->dir, l.door, &e), 0);
	await(&l, "del/x", is_removed);
	assert_int_equal(world_state(l.w, 2), ATTACH_FREE);
	world_end_namespace(l.w, ns);
	left_world_close(&l);
}

static bool journal_works(void *arg)
{
	struct err e = {0};

	return attach_engine_cni_status(((struct world *)arg)->engine, &e) == 0;
}

struct left_add {
	char *answer;
};

static void on_added(char *text, void *arg)
{
	((struct left_add *)arg)->answer = text;
}

static bool is_added(void *arg)
{
	return ((struct left_add *)arg)->answer;
}

/* A DEL that has failed is tried again a second later. By then the runtime has made the same
 * interface again (nerdctl and podman keep a container's ID over a restart). */
static void test_an_add_after_a_stored_del(void **state)
{
	struct left_world l = {.left = NULL};
	struct left_add add = {.answer = NULL};
	struct err e = {0};
	char request[512];
	uint64_t ns;

	(void)state;
	l.w = world_start(WORLD_PLAIN);
	l.door = cni_door_new(l.w->engine, &l.w->loop, &l.w->inventory, l.w->dir, NULL);
	ns = world_add_sandbox(l.w, "x", NULL);
	l.w->cni_wait_ms = 50;
	restart(&l, -EIO);
	assert_true(loop_until(&l.w->loop, journal_has_failed, l.w, PATIENCE_MS));
	tmptree_write(l.w->dir, "cni/del/x", "%s", DEL_OF("c9"));
	tmptree_write(l.w->dir, "cni/del/y", "%s", DEL_OF("c9"));
	assert_int_equal(cni_left_open(&l.left, &l.w->loop, l.w->dir, l.door, &e), 0);
	fail_a_del(&l);
	fail_a_del(&l);
	l.w->fail_journal = 0;
	assert_true(loop_until(&l.w->loop, journal_works, l.w, PATIENCE_MS));
	snprintf(request, sizeof(request),
		 "{\"command\": \"ADD\", \"containerID\": \"c9\", \"netns\": \"/ns/1\", "
		 "\"ifname\": \"net1\", \"config\": {\"name\": \"fast\", \"deviceID\": \"%s\"}}",
		 world_vf(2));
	if (cni_door_request(l.door, request, strlen(request), on_added, NULL, &add, &add.answer))
		assert_true(loop_until(&l.w->loop, is_added, &add, PATIENCE_MS));
	assert_non_null(strstr(add.answer, "\"result\""));
	free(add.answer);
	await(&l, "del/x", is_removed);
	await(&l, "del/y", is_removed);
	world_settle(l.w);
	assert_int_equal(world_state(l.w, 2), ATTACH_IN_POD);
	assert_int_equal(l.w->devices[2].ns, ns);
	world_end_namespace(l.w, ns);
	world_show_all(l.w);
	world_until_state(l.w, 2, ATTACH_FREE);
	left_world_close(&l);
}

TEST_GROUP(cni_left)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_incomplete_files),
		cmocka_unit_test(test_a_stored_del_is_processed_at_start),
		cmocka_unit_test(test_a_del_that_fails),
		cmocka_unit_test(test_an_add_after_a_stored_del),
	};

	return test_group_run(tests, NULL, NULL);
}
