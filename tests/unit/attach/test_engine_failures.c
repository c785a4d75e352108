// SPDX-License-Identifier: Apache-2.0
/* The attach engine when a step or the IPAM plugin fails: the attach is undone, and the gate
 * returns the reason. */
#include "engine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cleanup.h"
#include "job.h"
#include "job_watch.h"
#include "loop_helpers.h"
#include "test_group.h"
#include "tmptree.h"
#include "world_pods.h"
#include "world_trouble.h"

/* A failed attach is undone at each step, the gate returns its reason, and the next request
 * retries. */
static void test_each_step_fails(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	struct world_gate g;

	(void)state;
	for (int step = 0; step < N_ATTACH_STEPS; step++) {
		uint64_t ns;

		if (step == STEP_IPAM)
			continue;
		w->fail_in[step] = -EOPNOTSUPP;
		ns = world_add_sandbox(w, "b", NULL);
		world_hold(w, 3, "b");
		world_ask(w, &g, 3);
		world_until_answered(w, &g);
		assert_int_equal(g.err.code, -EOPNOTSUPP);
		assert_non_null(strstr(g.err.msg, "failure of the test"));
		assert_non_null(strstr(g.err.msg, attach_step_name((enum attach_step)step)));
		assert_int_equal(world_events(w, "AttachFailed"), 1);
		assert_true(world_is_clean(w));
		world_show_all(w);
		world_settle(w);
		assert_int_equal(world_events(w, "AttachFailed"), 1);
		w->fail_in[step] = 0;
		world_ask(w, &g, 3);
		world_until_answered(w, &g);
		assert_int_equal(g.err.code, 0);
		world_end_pod(w, 3, ns);
		w->n_events = 0;
	}
	world_end(w);
}

/* The gate returns the attach's error, not that of the return that fails after it. */
static void test_both_fail(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	struct world_gate g;
	uint64_t ns;

	(void)state;
	w->fail_in[STEP_VERIFY] = -EPROTO;
	w->fail_back[BACK_MOVE] = -EBUSY;
	ns = world_add_sandbox(w, "b", NULL);
	world_hold(w, 3, "b");
	world_ask(w, &g, 3);
	world_until_answered(w, &g);
	assert_int_equal(g.err.code, -EPROTO);
	assert_int_equal(world_state(w, 3), ATTACH_BAD);
	w->fail_in[STEP_VERIFY] = w->fail_back[BACK_MOVE] = 0;
	world_ask(w, &g, 3); /* waits until the device is returned */
	attach_engine_fix(w->engine);
	world_until_answered(w, &g);
	assert_int_equal(g.err.code, 0);
	world_end_pod(w, 3, ns);
	world_end(w);
}

static void test_ipam(void **state)
{
	struct world *w = world_start(WORLD_IPAM);
	struct world_gate g;
	uint64_t ns;

	(void)state;
	world_plugin(
		w, "test $CNI_COMMAND = DEL || echo '{\"ips\": [{\"address\": \"10.0.0.5/8\"}]}'");
	ns = world_run_pod(w, 0, "b");
	assert_int_equal(w->devices[0].record.n_ips, 1);
	world_end_pod(w, 0, ns);
	assert_int_equal(world_events(w, "AddressLeak"), 0);

	/* The address cannot be released; the device is returned all the same. */
	world_plugin(w, "test $CNI_COMMAND = DEL && exit 7\n"
			"echo '{\"ips\": [{\"address\": \"10.0.0.5/8\"}]}'");
	ns = world_run_pod(w, 0, "b");
	world_end_pod(w, 0, ns);
	assert_int_equal(world_events(w, "AddressLeak"), 1);
	assert_non_null(strstr(world_message(w, "AddressLeak"), "exit status 7"));

	world_plugin(w, "echo '{\"msg\": \"range is full\", \"code\": 100}'; exit 1");
	ns = world_add_sandbox(w, "b", NULL);
	world_hold(w, 0, "b");
	world_ask(w, &g, 0);
	world_until_answered(w, &g);
	assert_non_null(strstr(g.err.msg, "range is full"));
	world_end_pod(w, 0, ns);

	tmptree_remove(w->dir, "plugin");
	ns = world_add_sandbox(w, "b", NULL);
	world_hold(w, 0, "b");
	world_ask(w, &g, 0);
	world_until_answered(w, &g);
	assert_non_null(strstr(g.err.msg, "no IPAM plugin"));
	world_end_pod(w, 0, ns);
	world_end(w);
}

static void test_close_during_ipam(void **state)
{
	struct world *w = world_start(WORLD_IPAM);
	struct world_gate g;

	(void)state;
	world_plugin(w, "sleep 1000");
	world_add_sandbox(w, "b", NULL);
	world_hold(w, 0, "b");
	world_ask(w, &g, 0);
	world_until_state(w, 0, ATTACH_ATTACHING);
	world_settle(w);
	world_close(w);
	assert_int_equal(g.answers, 1);
	assert_string_equal(g.err.msg, "rocelet is stopping");
	world_free(w);
}

/* The pod runs, but no container waits at the gate. */
static void test_a_failed_attach_is_retried(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	uint64_t ns = world_add_sandbox(w, "b", NULL);

	(void)state;
	w->fail_in[STEP_MOVE] = -ENODEV;
	world_hold(w, 0, "b");
	world_show_all(w);
	world_until_events(w, "AttachFailed", 1);
	world_until_state(w, 0, ATTACH_FREE);
	w->fail_in[STEP_MOVE] = 0;
	world_until_state(w, 0, ATTACH_IN_POD);
	assert_int_equal(w->devices[0].ns, ns);
	assert_int_equal(world_events(w, "AttachFailed"), 1);
	world_end_pod(w, 0, ns);
	world_end(w);
}

/* Stuck steps of several devices, more than run at a time, do not delay other devices. */
static void test_stuck_devices_do_not_block_others(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	struct job_status jobs[JOB_THREADS];
	struct world_gate stuck[5], g;
	struct job_watch watch;
	uint64_t ns[5], other;

	(void)state;
	job_watch_open(&watch, &w->loop, 20);
	w->n_stuck = ARRAY_SIZE(stuck);
	for (unsigned i = 0; i < ARRAY_SIZE(stuck); i++) {
		const char pod[] = {(char)('b' + i), '\0'};

		ns[i] = world_add_sandbox(w, pod, NULL);
		world_hold(w, i, pod);
		world_ask(w, &stuck[i], i);
	}
	other = world_add_sandbox(w, "x", NULL);
	world_hold(w, 6, "x");
	world_ask(w, &g, 6);
	world_until_answered(w, &g);
	assert_int_equal(g.err.code, 0);
	assert_int_equal(world_state(w, 6), ATTACH_IN_POD);
	assert_true(job_list(jobs, ARRAY_SIZE(jobs), 0) >= 5);
	assert_string_equal(jobs[0].text,
			    "the attach of rocelet.dev/roce 0000:03:01.0, at step record,");
	assert_true(jobs[0].has_thread);
	world_let_go(w);
	for (unsigned i = 0; i < ARRAY_SIZE(stuck); i++) {
		world_until_answered(w, &stuck[i]);
		world_until_state(w, i, ATTACH_IN_POD);
		world_end_pod(w, i, ns[i]);
	}
	world_end_pod(w, 6, other);
	job_watch_close(&watch);
	world_end(w);
}

/* A journal stays open until the steps that write to it have ended; others do not wait for that. */
static void test_a_stuck_step_keeps_its_journal_open(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	struct world_gate stuck;
	struct job_watch watch;
	uint64_t ns, other;

	(void)state;
	job_watch_open(&watch, &w->loop, 20);
	w->n_stuck = 1;
	ns = world_add_sandbox(w, "b", NULL);
	world_hold(w, 0, "b");
	world_ask(w, &stuck, 0);
	world_until_state(w, 0, ATTACH_ATTACHING);
	assert_true(world_remove_journal(w));
	other = world_run_pod(w, 1, "c");
	world_until_events(w, "JournalBad", 1);
	world_let_go(w);
	world_until_state(w, 0, ATTACH_IN_POD);
	world_end_pod(w, 0, ns);
	world_end_pod(w, 1, other);
	job_watch_close(&watch);
	world_end(w);
}

static bool has_probed(void *arg)
{
	return ((struct world *)arg)->n_probed > 0;
}

static bool can_attach(void *arg)
{
	struct err err;

	return attach_engine_cni_status(((struct world *)arg)->engine, &err) == 0;
}

/* One write has failed, and no later attach shows that the journal works again. */
static void test_a_journal_that_recovers(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	struct err err = {0};
	struct world_gate g;
	uint64_t ns;

	(void)state;
	w->fail_in[STEP_RECORD] = -EIO;
	w->fail_probe = -EIO;
	ns = world_add_sandbox(w, "b", NULL);
	world_hold(w, 3, "b");
	world_ask(w, &g, 3);
	world_until_answered(w, &g);
	assert_int_equal(g.err.code, -EIO);
	assert_true(loop_until(&w->loop, has_probed, w, PATIENCE_MS));
	world_settle(w);
	assert_int_equal(attach_engine_cni_status(w->engine, &err), -EROFS);
	assert_non_null(strstr(err.msg, "failure of the test"));
	w->fail_probe = 0;
	assert_true(loop_until(&w->loop, can_attach, w, PATIENCE_MS));
	assert_int_equal(world_state(w, 3), ATTACH_FREE);
	w->fail_in[STEP_RECORD] = 0;
	world_end_pod(w, 3, ns);
	world_end(w);
}

TEST_GROUP(engine_failures)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_failed_attach_is_retried),
		cmocka_unit_test(test_each_step_fails),
		cmocka_unit_test(test_both_fail),
		cmocka_unit_test(test_ipam),
		cmocka_unit_test(test_close_during_ipam),
		cmocka_unit_test(test_stuck_devices_do_not_block_others),
		cmocka_unit_test(test_a_stuck_step_keeps_its_journal_open),
		cmocka_unit_test(test_a_journal_that_recovers),
	};
	char threads[12];

	snprintf(threads, sizeof(threads), "%d", JOB_THREADS); /* as the daemon does */
	setenv("UV_THREADPOOL_SIZE", threads, 1);
	return test_group_run(tests, NULL, NULL);
}
