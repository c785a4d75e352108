// SPDX-License-Identifier: Apache-2.0
/* The pods of processes, found by the cgroup in an event or by /proc; events wait for the
 * result. */
#include "owners.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#include "cleanup.h"
#include "loop_helpers.h"
#include "process_owner.h"
#include "test_group.h"
#include "tmptree.h"

#define UID	 "8dbc5577-d0e2-4706-8787-57d52c03ddf2"
#define KUBEPODS "kubepods/burstable/pod" UID

struct world {
	uv_loop_t loop;
	char *dir; /* a /proc */
	struct hw hw;
	struct sandbox pod;
	struct sandbox_list pods;
	struct owners *owners;
	struct event last;
	unsigned n_events, n_answers, n_named;
};

static void on_event(const struct event *e, void *arg)
{
	struct world *w = arg;

	w->last = *e;
	w->n_events++;
}

static void on_named(const struct process_owner *owners, size_t n, void *arg)
{
	struct world *w = arg;

	(void)owners;
	w->n_answers++;
	w->n_named += n;
}

static const struct sandbox_list *list_pods(void *arg)
{
	return &((struct world *)arg)->pods;
}

static void put_process(struct world *w, unsigned pid, const char *cgroup)
{
	char path[64];

	snprintf(path, sizeof(path), "%u/cgroup", pid);
	tmptree_write(w->dir, path, "%s", cgroup);
	snprintf(path, sizeof(path), "%u/comm", pid);
	tmptree_write(w->dir, path, "dcb\n");
}

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	const struct owners_hooks hooks = {
		.named = on_named, .event = on_event, .sandboxes = list_pods, .arg = w};
	struct err e;

	w->dir = tmptree_new();
	w->hw = (struct hw){.sys_fd = -1, .dev_fd = -1};
	w->hw.proc_fd = open(w->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	put_process(w, 4711, "0::/" KUBEPODS "/x\n");
	w->pod = (struct sandbox){.namespace = "train", .pod = "job-7", .uid = UID};
	w->pods = (struct sandbox_list){.items = &w->pod, .n = 1, .known = true};
	assert_int_equal(uv_loop_init(&w->loop), 0);
	assert_int_equal(owners_open(&w->owners, &w->loop, &w->hw, &hooks, &e), 0);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	owners_close(w->owners);
	assert_int_equal(loop_end(&w->loop), 0);
	close(w->hw.proc_fd);
	tmptree_free(w->dir);
	free(w);
	return 0;
}

static bool has_event(void *arg)
{
	return ((struct world *)arg)->n_events > 0;
}

static bool has_answer(void *arg)
{
	return ((struct world *)arg)->n_answers > 0;
}

static bool has_all_events(void *arg)
{
	return ((struct world *)arg)->n_events >= 5000;
}

static void deliver(struct world *w, uint32_t pid, uint64_t cgroup)
{
	const struct event e = {.reason = "PfcChanged", .message = "PFC off"};

	owners_deliver(w->owners, pid, cgroup, &e);
}

static void deliver_and_wait(struct world *w, uint32_t pid, uint64_t cgroup)
{
	w->n_events = 0;
	deliver(w, pid, cgroup);
	assert_true(loop_until(&w->loop, has_event, w, PATIENCE_MS));
	assert_int_equal(w->n_events, 1);
}

/* --- events ----------------------------------------------------------------------------------- */

static void an_event_waits_for_its_pod_once(void **state)
{
	struct world *w = *state;

	deliver(w, 4711, 7);
	assert_int_equal(w->n_events, 0);
	assert_true(loop_until(&w->loop, has_event, w, PATIENCE_MS));
	assert_string_equal(w->last.namespace, "train");
	assert_string_equal(w->last.pod, "job-7");
	assert_string_equal(w->last.message, "PFC off");
	deliver(w, 4711, 7);
	assert_int_equal(w->n_events, 2); /* the pod is cached */
	assert_int_equal(w->n_named, 1);
	deliver(w, 4711, 8); /* another process with the same PID */
	assert_int_equal(w->n_events, 2);
}

static void an_event_of_the_kernel_or_an_exited_process_does_not_wait(void **state)
{
	struct world *w = *state;

	deliver(w, 0, 0);
	assert_int_equal(w->n_events, 1);
	deliver(w, 4712, 7);
	assert_true(loop_until(&w->loop, has_answer, w, PATIENCE_MS));
	assert_int_equal(w->n_events, 2); /* delivered with the result */
	assert_string_equal(w->last.pod, "");
	assert_string_equal(w->last.message, "PFC off");
	assert_int_equal(w->n_named, 0);
}

static void a_pod_unknown_to_the_runtime_is_named_by_its_uid(void **state)
{
	struct world *w = *state;

	w->pods.n = 0;
	deliver_and_wait(w, 4711, 7);
	assert_string_equal(w->last.pod, "");
	assert_string_equal(w->last.message, "PFC off; pod " UID);
}

static void many_events_at_once_are_all_delivered(void **state)
{
	struct world *w = *state;

	for (uint32_t i = 0; i < 5000; i++)
		deliver(w, 10000 + i, 7);
	assert_true(w->n_events > 4900); /* only a few events can wait */
	assert_true(w->n_events < 5000);
	assert_true(loop_until(&w->loop, has_all_events, w, PATIENCE_MS));
	assert_int_equal(w->n_events, 5000);
}

static void closing_delivers_waiting_events(void **state)
{
	struct world *w = *state;

	deliver(w, 4711, 7);
	assert_int_equal(w->n_events, 0);
	owners_close(take_ptr(w->owners));
	assert_int_equal(w->n_events, 1);
	owners_close(NULL);
}

/* --- processes -------------------------------------------------------------------------------- */

/* Returns the mount point of cgroup v2, "" = none. */
static void find_cgroup2(char *ret, size_t size)
{
	FILE *mounts = setmntent("/proc/self/mounts", "r");
	const struct mntent *m;

	ret[0] = '\0';
	while (mounts && !ret[0] && (m = getmntent(mounts)))
		if (strcmp(m->mnt_type, "cgroup2") == 0)
			snprintf(ret, size, "%s", m->mnt_dir);
	if (mounts)
		endmntent(mounts);
}

/* A container's cgroup and its parents. */
static const char *const cgroups[] = {"", "/kubepods", "/kubepods/burstable", "/" KUBEPODS,
				      "/" KUBEPODS "/x"};

static bool make_cgroups(const char *root)
{
	char path[512];

	for (size_t i = 0; i < ARRAY_SIZE(cgroups); i++) {
		snprintf(path, sizeof(path), "%s%s", root, cgroups[i]);
		if (mkdir(path, 0755) < 0)
			return false;
	}
	return true;
}

static void remove_cgroups(const char *root)
{
	char path[512];

	for (size_t i = ARRAY_SIZE(cgroups); i-- > 0;) {
		snprintf(path, sizeof(path), "%s%s", root, cgroups[i]);
		rmdir(path);
	}
}

static uint64_t cgroup_id(const char *root)
{
	char path[512];
	struct stat st;

	snprintf(path, sizeof(path), "%s%s", root, cgroups[ARRAY_SIZE(cgroups) - 1]);
	assert_int_equal(stat(path, &st), 0);
	return st.st_ino;
}

/* A tool that sets PFC exits before its /proc folder can be read. */
static void an_exited_process_is_found_by_its_cgroup(void **state)
{
	struct world *w = *state;
	char mount[256], root[300];
	uint64_t id;

	find_cgroup2(mount, sizeof(mount));
	snprintf(root, sizeof(root), "%s/rocelet-test-%d", mount, getpid());
	if (!mount[0] || !make_cgroups(root)) {
		print_message("no cgroup v2 that can be written\n");
		skip();
	}
	tmptree_link(w->dir, "self", "/proc/self");
	tmptree_link(w->dir, "1/root/sys/fs/cgroup", mount);
	id = cgroup_id(root);
	deliver_and_wait(w, 4712, id);
	remove_cgroups(root);
	assert_string_equal(w->last.pod, "job-7");
	deliver_and_wait(w, 4713, id); /* the cgroup was removed, too */
	assert_string_equal(w->last.pod, "");
	deliver_and_wait(w, 4711, id); /* this process still exists */
	assert_string_equal(w->last.pod, "job-7");
}

static void each_process_is_read_once_in_order(void **state)
{
	struct world *w = *state;
	struct process_owner requested[] = {{.pid = 4712}, {.pid = 0},	  {.pid = 4711},
					    {.pid = 4712}, {.pid = 4713}, {.pid = 4711}};
	struct process_owner *owners;

	put_process(w, 4713, "0::/system.slice/x.service\n");
	assert_int_equal(process_owners(w->hw.proc_fd, requested, ARRAY_SIZE(requested), &owners),
			 2);
	assert_int_equal(owners[0].pid, 4711);
	assert_string_equal(owners[0].comm, "dcb");
	assert_string_equal(owners[0].pod_uid, UID);
	assert_int_equal(owners[1].pid, 4713);
	assert_string_equal(owners[1].pod_uid, "");
	free(owners);
}

static void the_process_of_a_thread(void **state)
{
	struct world *w = *state;

	tmptree_write(w->dir, "4713/status",
		      "Name:\tpython3\nState:\tS\nTgid:\t4711\nPid:\t4713\n");
	tmptree_write(w->dir, "4714/status", "Name:\tpython3\n");
	assert_int_equal(process_of_thread(w->hw.proc_fd, 4713), 4711);
	assert_int_equal(process_of_thread(w->hw.proc_fd, 4714), 0);
	assert_int_equal(process_of_thread(w->hw.proc_fd, 4715), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

TEST_GROUP(owners)
{
	const struct CMUnitTest tests[] = {
		TEST(an_event_waits_for_its_pod_once),
		TEST(an_event_of_the_kernel_or_an_exited_process_does_not_wait),
		TEST(a_pod_unknown_to_the_runtime_is_named_by_its_uid),
		TEST(many_events_at_once_are_all_delivered),
		TEST(closing_delivers_waiting_events),
		TEST(an_exited_process_is_found_by_its_cgroup),
		TEST(each_process_is_read_once_in_order),
		TEST(the_process_of_a_thread),
	};

	return test_group_run(tests, NULL, NULL);
}
