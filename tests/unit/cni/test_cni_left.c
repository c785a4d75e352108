// SPDX-License-Identifier: Apache-2.0
/* DELs that are left as files while no daemon answers. */
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
	char awaited[512]; /* a path that is to be there, or to be gone */
};

static void left_world_open(struct left_world *l)
{
	struct err e = {0};

	l->w = world_start(WORLD_PLAIN);
	l->door = cni_door_new(l->w->engine, &l->w->inventory, l->w->dir, NULL);
	assert_non_null(l->door);
	assert_int_equal(cni_left_open(&l->left, &l->w->loop, l->w->dir, l->door, &e), 0);
}

static void left_world_close(struct left_world *l)
{
	cni_left_close(l->left);
	world_end(l->w);
	cni_door_free(l->door);
}

static bool is_gone(void *arg)
{
	return access(((struct left_world *)arg)->awaited, F_OK) < 0;
}

static bool is_there(void *arg)
{
	return !is_gone(arg);
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
	await(&l, "del/one", is_gone);
	tmptree_write(l.w->dir, "cni/del/garbage", "%s", "{");
	await(&l, "bad/garbage", is_there);
	await(&l, "del/garbage", is_gone);
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

/* A writer that was killed leaves its file, a living one has it locked. What another program left
 * is not ours. */
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
	await(&l, killed, is_gone);
	/* By the time another file is done, the folder was read again. */
	tmptree_write(l.w->dir, "cni/del/zero", "%s", DEL_OF("s78"));
	await(&l, "del/zero", is_gone);
	assert_int_equal(access(path, F_OK), 0);
	close(fd);
	/* Each change of the folder is a reason to read it. */
	tmptree_write(l.w->dir, "cni/del/one", "%s", DEL_OF("s77"));
	await(&l, live, is_gone);
	snprintf(path, sizeof(path), "%s/cni/%s", l.w->dir, others);
	assert_int_equal(access(path, F_OK), 0);
	left_world_close(&l);
}

/* Before the daemon was started. */
static void test_a_device_that_waits(void **state)
{
	struct left_world l = {.left = NULL};
	struct attach_owner owner = {.door = DOOR_CNI, .sandbox = "c9", .netns = {.path = "/ns/1"}};
	struct net_plan plan = {.ifname = "net1"};
	struct world_gate g = {.told = 0};
	uint64_t ns;
	struct err e = {0};

	(void)state;
	l.w = world_start(WORLD_PLAIN);
	l.door = cni_door_new(l.w->engine, &l.w->inventory, l.w->dir, NULL);
	ns = world_add_sandbox(l.w, "x", NULL);
	world_show_all(l.w);
	assert_int_equal(attach_engine_cni_add(l.w->engine, world_vf(2), &owner, &plan, NULL,
					       world_tell, &g, &e),
			 0);
	world_until_told(l.w, &g);
	assert_string_equal(g.err.msg, "");
	tmptree_write(l.w->dir, "cni/del/x", "%s", DEL_OF("c9"));
	assert_int_equal(cni_left_open(&l.left, &l.w->loop, l.w->dir, l.door, &e), 0);
	await(&l, "del/x", is_gone);
	assert_int_equal(world_state(l.w, 2), ATTACH_FREE);
	world_end_namespace(l.w, ns);
	left_world_close(&l);
}

TEST_GROUP(cni_left)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_incomplete_files),
		cmocka_unit_test(test_a_device_that_waits),
	};

	return test_group_run(tests, NULL, NULL);
}
