// SPDX-License-Identifier: Apache-2.0
/* Attach and return with each send, write and allocation failing once, and with the process killed
 * at each named place (KILL_POINTS=1 make): after any failure, a return leaves everything clean.
 *
 * when: ci */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "attach_bench.h"
#include "faults.h"
#include "fds.h"
#include "namespaces.h"
#include "netdev_state_read.h"
#include "test_group.h"

static int open_bench(void **state)
{
	struct attach_bench *b = attach_bench_open(true);

	if (b) {
		fake_rdma = &b->rdma;
		b->rdma.mode = RDMA_NETNS_SHARED;
		/* The loaded program stays loaded during the tests. */
		netdev_inside_read(&b->hw, 1, &(struct netdev_inside){0});
	}
	*state = b;
	return 0;
}

static void plan(struct attach_bench *b)
{
	struct net_plan *p = &b->job.record.plan;

	attach_bench_plan(b);
	p->soft_roce = true;
	p->has_mac = true;
	memcpy(p->mac, "\x02\x11\x22\x33\x44\x55", 6);
	p->vf.fields = VF_VLAN;
	p->vf.vlan = 100;
	p->vf.vlan_proto = 0x8100;
}

static void return_ok(struct attach_bench *b, long n)
{
	if (attach_bench_return(b) < 0)
		fail_msg("%ld: step %d: %s", n, b->job.next, b->job.err.msg);
	attach_bench_is_clean(b);
	assert_int_equal(b->pf.vfs[3].vlan, 0);
	assert_int_equal(b->rdma.devices[0].netns, 0);
}

typedef void fail_fn(long nth);

static void fail_send(long nth)
{
	faults_send(nth, ENOBUFS);
}

static void fail_write(long nth)
{
	faults_write(nth, EIO);
}

static void sweep_attach(struct attach_bench *b, fail_fn *fail_nth, long least)
{
	unsigned n_fds = 0;
	long n;

	for (n = 0;; n++) {
		int r;

		plan(b);
		fail_nth(n);
		r = attach_bench_attach(b);
		if (!faults_end()) {
			assert_int_equal(r, 0);
			break;
		}
		if (r < 0 && b->job.record.state == ATTACH_FREE)
			attach_bench_is_clean(b);
		else
			return_ok(b, n);
		assert_true(!n_fds || n_fds == fds_open());
		n_fds = fds_open();
	}
	return_ok(b, n);
	assert_true(n >= least);
}

static void sweep_return(struct attach_bench *b, fail_fn *fail_nth, long least)
{
	long n;

	for (n = 0;; n++) {
		bool hit;

		plan(b);
		if (attach_bench_attach(b) < 0)
			fail_msg("%s", b->job.err.msg);
		fail_nth(n);
		attach_bench_return(b);
		hit = faults_end();
		return_ok(b, n);
		if (!hit)
			break;
	}
	assert_true(n >= least);
}

static void any_failed_send_of_an_attach_is_undone(void **state)
{
	sweep_attach(attach_bench_need(state), fail_send, 10);
}

static void any_failed_send_of_a_return_is_retried(void **state)
{
	sweep_return(attach_bench_need(state), fail_send, 8);
}

static void any_failed_write_of_an_attach_is_undone(void **state)
{
	sweep_attach(attach_bench_need(state), fail_write, 8);
}

static void any_failed_write_of_a_return_is_retried(void **state)
{
	sweep_return(attach_bench_need(state), fail_write, 2);
}

static void any_failed_allocation_of_an_attach_is_undone(void **state)
{
	sweep_attach(attach_bench_need(state), faults_alloc, 3);
}

static void any_failed_allocation_of_a_return_is_retried(void **state)
{
	sweep_return(attach_bench_need(state), faults_alloc, 3);
}

/* --- killed ----------------------------------------------------------------------------------- */

#ifdef ROCELET_KILL_POINTS

static int keep_record(const struct attach_record *r, void *arg)
{
	*(struct attach_record *)arg = *r;
	return 0;
}

static void no_bad(const char *key, const struct err *e, void *arg)
{
	(void)key, (void)arg;
	fail_msg("%s", e->msg);
}

/* Runs it in a child process; returns whether that was killed. */
static bool run_killed(struct attach_bench *b, const char *point, int (*run)(struct attach_bench *))
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		setenv("ROCELET_KILL_AT", point, 1);
		_exit(run(b) < 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

/* Reads the record as a new process would. */
static void read_journal(struct attach_bench *b)
{
	struct attach_record r = {0};

	assert_int_equal(journal_each(b->job.journal, keep_record, no_bad, &r, NULL), 0);
	if (r.function[0])
		b->job.record = r;
	else
		b->job.record.state = ATTACH_FREE;
}

/* Changes of the fakes are lost with the process; the netdev is real. */
static void kill_at(struct attach_bench *b, const char *name, const char *when, bool is_return)
{
	char point[64];

	snprintf(point, sizeof(point), "%s-%s", name, when);
	for (int again = 0; again < 2; again++) {
		attach_bench_plan(b);
		if (is_return && attach_bench_attach(b) < 0)
			fail_msg("%s", b->job.err.msg);
		if (!run_killed(b, point, is_return ? attach_bench_return : attach_bench_attach))
			fail_msg("%s: there is no such place", point);
		read_journal(b);
		/* A new attach may also continue. */
		if (again && b->job.record.state == ATTACH_ATTACHING && attach_bench_attach(b) < 0)
			fail_msg("%s: %s", point, b->job.err.msg);
		if (b->job.record.state != ATTACH_FREE && attach_bench_return(b) < 0)
			fail_msg("%s: %s", point, b->job.err.msg);
		attach_bench_is_clean(b);
	}
}

static void a_kill_anywhere_is_repaired(void **state)
{
	static const char *const when[] = {"before", "after"};
	struct attach_bench *b = attach_bench_need(state);
	char name[32];

	for (int i = 0; i < 2 * N_ATTACH_STEPS; i++) {
		if (i / 2 == STEP_IPAM)
			continue;
		snprintf(name, sizeof(name), "attach-%s",
			 attach_step_name((enum attach_step)(i / 2)));
		kill_at(b, name, when[i % 2], false);
	}
	for (int i = 0; i < 2 * N_RETURN_STEPS; i++)
		if (i / 2 != BACK_IPAM)
			kill_at(b, return_step_name((enum return_step)(i / 2)), when[i % 2], true);
	kill_at(b, "attach-configure-2", "before", false);
	kill_at(b, "back-admin-2", "before", true);
}

#endif

TEST_GROUP(steps_faults)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_bench, attach_bench_teardown)
	const struct CMUnitTest tests[] = {
		TEST(any_failed_send_of_an_attach_is_undone),
		TEST(any_failed_send_of_a_return_is_retried),
		TEST(any_failed_write_of_an_attach_is_undone),
		TEST(any_failed_write_of_a_return_is_retried),
		TEST(any_failed_allocation_of_an_attach_is_undone),
		TEST(any_failed_allocation_of_a_return_is_retried),
#ifdef ROCELET_KILL_POINTS
		TEST(a_kill_anywhere_is_repaired),
#endif
	};

	namespaces_enter_pids();
	return test_group_run(tests, NULL, NULL);
}
