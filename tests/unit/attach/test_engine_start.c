// SPDX-License-Identifier: Apache-2.0
/* The attach engine starts: with journals of every kind, without one, without a runtime, and as a
 * dry run. */
#include "engine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "loop_helpers.h"
#include "test_group.h"
#include "world_pods.h"
#include "world_trouble.h"

/* --- journals -------------------------------------------------------------------------------- */

static void leave_record(struct world *w, unsigned i, enum attach_state state, uint64_t ns)
{
	struct world_device *d = &w->devices[i];
	struct attach_record *r = &d->record;

	*r = (struct attach_record){.state = state, .serial = 5};
	snprintf(r->resource, sizeof(r->resource), WORLD_ROCE);
	snprintf(r->id, sizeof(r->id), "%s", world_vf(i));
	snprintf(r->function, sizeof(r->function), "%s", world_vf(i));
	snprintf(r->owner.namespace, sizeof(r->owner.namespace), "a");
	snprintf(r->owner.pod, sizeof(r->owner.pod), "b");
	snprintf(r->owner.uid, sizeof(r->owner.uid), "u%u", (unsigned)ns);
	snprintf(r->owner.sandbox, sizeof(r->owner.sandbox), "s%u", (unsigned)ns);
	snprintf(r->owner.netns.path, sizeof(r->owner.netns.path), "/ns/%u", (unsigned)ns);
	r->owner.netns.ino = ns;
	d->ns = ns;
	d->marked = d->dirty = true;
}

static void test_journal_of_every_state(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	uint64_t ns = world_add_sandbox(w, "b", NULL), ended = world_add_sandbox(w, "e", NULL);
	struct world_gate g;

	(void)state;
	world_close(w);
	world_end_sandbox(w, ended);
	leave_record(w, 0, ATTACH_ATTACHING, ns);
	leave_record(w, 1, ATTACH_IN_POD, ns);
	leave_record(w, 2, ATTACH_RETURNING, ns);
	leave_record(w, 3, ATTACH_BAD, ns);
	w->devices[4].bad = true;
	w->devices[4].traces = 1; /* its pod has removed the alias */
	w->devices[5].bad = true;
	w->devices[5].marked = true;
	w->devices[5].ns = ended;
	w->devices[6].marked = true; /* without a record */
	world_hold(w, 1, "b");
	world_open(w, false);
	world_show_all(w);
	world_until_ready(w);
	world_until_state(w, 0, ATTACH_FREE);
	world_until_state(w, 2, ATTACH_FREE);
	world_until_state(w, 3, ATTACH_FREE);
	world_until_state(w, 5, ATTACH_FREE);
	world_until_state(w, 6, ATTACH_FREE);
	world_until_state(w, 4, ATTACH_FREE);
	assert_int_equal(w->devices[4].traces, 0);
	assert_int_equal(world_state(w, 1), ATTACH_IN_POD);
	assert_int_equal(w->devices[1].ns, ns);
	assert_int_equal(world_events(w, "JournalBad"), 2);
	assert_int_equal(world_events(w, "Orphan"), 1);
	world_settle(w);
	world_ask(w, &g, 1);
	world_until_answered(w, &g);
	assert_int_equal(g.err.code, 0);
	assert_int_equal(world_events(w, "Attached"), 0);
	w->devices[4].bad = w->devices[5].bad = false;
	world_end_pod(w, 1, ns);
	world_end(w);
}

/* The device of an unreadable record was removed or never existed: nothing is returned. */
static void test_unreadable_record_of_an_absent_device(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);

	(void)state;
	world_close(w);
	w->devices[7].bad = true;
	snprintf(w->devices[7].function, sizeof(w->devices[7].function), "0000:99:00.0");
	world_open(w, false);
	world_show_all(w);
	world_until_ready(w);
	world_settle(w);
	assert_int_equal(world_events(w, "JournalBad"), 1);
	assert_null(attach_engine_find(w->engine, "0000:99:00.0"));
	world_free(w);
}

/* The node was rebooted: devices have the settings of the kernel and an administrator, and a
 * namespace with the same inode is another one. Records in any state are dropped. */
static void test_journal_of_another_boot(void **state)
{
	static const enum attach_state states[] = {ATTACH_ATTACHING, ATTACH_IN_POD,
						   ATTACH_RETURNING, ATTACH_BAD};
	struct world *w = world_start(WORLD_PLAIN);
	uint64_t ns = world_add_sandbox(w, "b", NULL);

	(void)state;
	world_close(w);
	for (unsigned i = 0; i < 4; i++) {
		leave_record(w, i, states[i], ns);
		snprintf(w->devices[i].record.boot, BOOT_ID_SIZE, "the one before");
		w->devices[i].ns = 0;
		w->devices[i].marked = false; /* dirty: set up by the administrator */
	}
	snprintf(w->boot, sizeof(w->boot), "this one");
	world_hold(w, 1, "b");
	world_open(w, false);
	world_show_all(w);
	world_until_events(w, "Returned", 4);
	assert_non_null(strstr(world_message(w, "Returned"), "was rebooted"));
	world_until_state(w, 1, ATTACH_IN_POD); /* attached again, because the kubelet lists it */
	for (unsigned i = 0; i < 4; i++) {
		assert_true(w->devices[i].dirty);
		w->devices[i].dirty = i == 1;
		if (i != 1)
			assert_int_equal(world_state(w, i), ATTACH_FREE);
	}
	assert_string_equal(w->devices[1].record.boot, "this one");
	world_end_pod(w, 1, ns);
	world_end(w);
}

/* The journal is lost, the pod runs on: alias, kubelet and runtime identify the pod. */
static void test_journal_lost(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	uint64_t ns = world_run_pod(w, 1, "b"), other = world_run_pod(w, 2, "c");
	struct world_gate g;

	(void)state;
	world_close(w);
	w->devices[1].record = (struct attach_record){.state = ATTACH_FREE};
	w->devices[2].bad = true;
	w->n_events = 0;
	world_open(w, false);
	world_show_all(w);
	world_until_state(w, 1, ATTACH_IN_POD);
	world_until_state(w, 2, ATTACH_IN_POD);
	world_settle(w);
	assert_int_equal(w->devices[1].ns, ns);
	assert_int_equal(w->devices[2].ns, other);
	assert_int_equal(world_events(w, "Adopted"), 2);
	assert_int_equal(world_events(w, "Returned"), 0);
	world_ask(w, &g, 1);
	world_until_answered(w, &g);
	assert_int_equal(g.err.code, 0);
	w->devices[2].bad = false;
	world_end_pod(w, 1, ns);
	world_end_pod(w, 2, other);
	world_end(w);
}

/* While its owner is unknown, the device stays where it is. */
static void test_journal_lost_without_runtime(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	uint64_t ns = world_run_pod(w, 1, "b");

	(void)state;
	world_close(w);
	w->devices[1].record = (struct attach_record){.state = ATTACH_FREE};
	w->runtime_dead = true;
	world_open(w, false);
	world_show_all(w);
	world_until_state(w, 1, ATTACH_BAD);
	world_settle(w);
	assert_int_equal(w->devices[1].ns, ns);
	w->runtime_dead = false;
	world_show_all(w);
	world_until_state(w, 1, ATTACH_IN_POD);
	world_end_pod(w, 1, ns);
	world_end(w);
}

/* A restarted kubelet does not list all pods yet. The pod runs, so it keeps its device. */
static void test_journal_lost_while_the_kubelet_lists_only_some_pods(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	uint64_t ns = world_run_pod(w, 1, "b");

	(void)state;
	world_close(w);
	world_lose_record(w, 1);
	world_unhold(w, 1);
	world_restart(w);
	world_show_all(w);
	world_until_state(w, 1, ATTACH_BAD);
	world_settle(w);
	assert_int_equal(w->devices[1].ns, ns);
	world_hold(w, 1, "b");
	world_show_all(w);
	world_until_state(w, 1, ATTACH_IN_POD);
	world_end_pod(w, 1, ns);
	world_end(w);
}

/* The kubelet has allocated the device to another pod, while a container of the old pod still
 * runs. */
static void test_journal_lost_pod_ends_slowly(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	uint64_t ns = world_run_pod(w, 1, "b"), next;

	(void)state;
	world_close(w);
	world_lose_record(w, 1);
	world_restart(w);
	world_hold(w, 1, "c");
	next = world_add_sandbox(w, "c", NULL);
	world_show_all(w);
	world_until_state(w, 1, ATTACH_BAD);
	world_settle(w);
	assert_int_equal(w->devices[1].ns, ns);
	world_end_sandbox(w, ns);
	world_show_all(w);
	world_until_state(w, 1, ATTACH_IN_POD);
	assert_int_equal(w->devices[1].ns, next);
	world_end_namespace(w, ns);
	world_end_pod(w, 1, next);
	world_end(w);
}

/* Only the record identifies a device that stays in the host. */
static void test_journal_bad_of_a_pod_with_the_hosts_network(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	uint64_t ns = world_add_sandbox(w, "b", NULL);

	(void)state;
	w->runtime.items[0].host_network = true;
	w->runtime.items[0].netns[0] = '\0';
	world_hold(w, 1, "b");
	world_show_all(w);
	world_until_state(w, 1, ATTACH_IN_POD);
	world_close(w);
	w->devices[1].bad = true;
	w->n_events = 0;
	world_restart(w);
	world_show_all(w);
	world_until_events(w, "JournalBad", 1);
	world_until_events(w, "Attached", 1);
	world_until_state(w, 1, ATTACH_IN_POD);
	assert_int_equal(world_events(w, "Returned"), 0);
	world_end_pod(w, 1, ns);
	world_end(w);
}

/* The pod has ended and is in no list. */
static void test_journal_lost_pod_ended(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	uint64_t ns = world_run_pod(w, 1, "b");

	(void)state;
	world_close(w);
	world_lose_record(w, 1);
	world_unhold(w, 1);
	world_restart(w);
	world_show_all(w);
	world_until_state(w, 1, ATTACH_BAD);
	world_end_sandbox(w, ns);
	world_show_all(w);
	world_until_state(w, 1, ATTACH_FREE);
	world_end(w);
}

/* Any process with CAP_NET_ADMIN can set our alias on a netdev. */
static void test_forged_mark(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	const struct pod_device d = {.resource = "other/x",
				     .id = world_vf(3),
				     .namespace = "a",
				     .pod = "b",
				     .container = "c"};
	uint64_t ns = world_add_sandbox(w, "b", NULL);

	(void)state;
	assert_int_equal(pod_list_push(&w->kubelet, &d), 0);
	w->devices[3].marked = true;
	w->devices[3].ns = ns;
	world_show_all(w);
	world_settle(w);
	assert_int_equal(w->devices[3].ns, ns);
	assert_int_equal(world_events(w, "Orphan"), 0);
	w->devices[3].marked = false;
	w->devices[3].ns = 0;
	world_end(w);
}

/* Without a runtime no device is returned. */
static void test_start_without_runtime(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	uint64_t ns = world_run_pod(w, 1, "b");

	(void)state;
	world_close(w);
	w->runtime_dead = true;
	world_open(w, false);
	world_show_all(w);
	world_until_ready(w);
	assert_int_equal(world_state(w, 1), ATTACH_IN_POD);
	w->runtime_dead = false;
	world_end_pod(w, 1, ns);
	world_end(w);
}

static void test_no_journal(void **state)
{
	struct world *w = world_new(WORLD_PLAIN, false);
	struct world_gate g;
	struct attach_counters c;

	(void)state;
	world_close(w);
	w->fail_journal = -EROFS;
	world_open(w, false);
	world_until_ready(w); /* pools without "network" do not need it */
	world_add_sandbox(w, "b", NULL);
	world_hold(w, 0, "b");
	world_ask(w, &g, 0);
	world_until_answered(w, &g);
	assert_int_equal(g.err.code, -EROFS);
	assert_non_null(strstr(g.err.msg, "journal: failure of the test"));
	w->devices[4].marked = true; /* devices in pods are returned */
	world_show_devices(w);
	world_until_events(w, "Returned", 1);
	attach_engine_counters(w->engine, &c);
	assert_string_equal(c.journal_error, "journal: failure of the test");
	assert_int_equal(world_events(w, "JournalBad"), 1);
	world_end(w);
}

static bool journal_works(void *arg)
{
	struct attach_counters c;

	attach_engine_counters(((struct world *)arg)->engine, &c);
	return !c.journal_error[0];
}

static bool journal_open_was_retried(void *arg)
{
	return ((struct world *)arg)->n_journal_opened > 1;
}

/* Nothing else triggers the retry on this node. */
static void test_opening_the_journal_is_retried(void **state)
{
	struct world *w = world_new(WORLD_PLAIN, false);

	(void)state;
	world_close(w);
	w->fail_journal = -EROFS;
	w->n_journal_opened = 0;
	world_open(w, false);
	world_until_ready(w);
	assert_true(loop_until(&w->loop, journal_open_was_retried, w, PATIENCE_MS));
	w->fail_journal = 0;
	assert_true(loop_until(&w->loop, journal_works, w, PATIENCE_MS));
	world_end(w);
}

/* All devices in pods are recorded again before another one is attached. */
static void test_the_journals_folder_is_removed(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	uint64_t first = world_run_pod(w, 0, "a"), second;

	(void)state;
	assert_true(world_remove_journal(w));
	second = world_run_pod(w, 1, "b");
	world_until_events(w, "JournalBad", 1);
	assert_non_null(
		strstr(world_message(w, "JournalBad"), "created again, with the records of 1 "));
	assert_int_equal(w->devices[0].record.state, ATTACH_IN_POD);
	assert_int_equal(w->devices[1].record.state, ATTACH_IN_POD);
	world_restart(w);
	world_show_all(w);
	world_until_ready(w);
	world_settle(w);
	assert_int_equal(world_state(w, 0), ATTACH_IN_POD);
	assert_int_equal(w->devices[0].ns, first);
	assert_int_equal(world_events(w, "Orphan") + world_events(w, "Adopted"), 0);
	world_end_pod(w, 0, first);
	world_end_pod(w, 1, second);
	world_end(w);
}

/* The parent folder is missing too, as when a container's mount lost its source. */
static void test_a_removed_folder_that_cannot_be_created_again(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	uint64_t first = world_run_pod(w, 0, "a"), second;
	struct attach_counters c;

	(void)state;
	assert_true(world_remove_journal(w));
	w->fail_journal = -ENOENT;
	world_show_all(w);
	world_until_events(w, "JournalBad", 1);
	attach_engine_counters(w->engine, &c);
	assert_string_equal(c.journal_error, "journal: failure of the test");
	second = world_add_sandbox(w, "b", NULL);
	world_hold(w, 1, "b");
	world_show_all(w);
	world_until_events(w, "AttachFailed", 1);
	w->fail_journal = 0;
	assert_true(loop_until(&w->loop, journal_works, w, PATIENCE_MS));
	world_until_state(w, 1, ATTACH_IN_POD);
	assert_int_equal(w->devices[0].record.state, ATTACH_IN_POD);
	assert_int_equal(w->devices[0].ns, first);
	world_end_pod(w, 0, first);
	world_end_pod(w, 1, second);
	world_end(w);
}

/* --- without a view of the host --------------------------------------------------------------- */

/* The daemon was started without access to the host's processes: all namespaces appear removed. */
static void test_without_a_view_of_the_host_nothing_is_changed(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	uint64_t ns = world_run_pod(w, 1, "b");
	struct world_gate g, request = {0};
	struct attach_counters c;
	struct err e = {0};

	(void)state;
	world_close(w);
	leave_record(w, 3, ATTACH_BAD, ns);
	w->n_events = 0;
	w->hidden = w->blind = w->moved[ns] = true;
	world_open(w, false);
	world_show_all(w);
	world_until_events(w, "Blind", 1);
	world_end_sandbox(w, ns);
	world_add_sandbox(w, "c", NULL);
	world_hold(w, 2, "c");
	world_show_all(w);
	world_ask(w, &g, 2);
	world_until_answered(w, &g);
	assert_non_null(strstr(g.err.msg, "the host is hidden"));
	assert_int_equal(
		attach_engine_detach(w->engine, world_vf(1), true, world_on_answer, &request, &e),
		-EAGAIN);
	assert_non_null(strstr(e.msg, "the host is hidden"));
	assert_int_equal(world_state(w, 1), ATTACH_IN_POD);
	assert_int_equal(w->devices[1].ns, ns);
	assert_int_equal(w->devices[2].ns, 0);
	assert_int_equal(w->devices[3].ns, ns);
	assert_false(attach_engine_is_ready(w->engine));
	attach_engine_counters(w->engine, &c);
	assert_string_equal(c.view_error, "the host is hidden.");
	assert_int_equal(world_events(w, "Blind"), 1); /* emitted once */

	w->hidden = w->blind = w->moved[ns] = false;
	world_until_state(w, 1, ATTACH_FREE);
	world_until_state(w, 2, ATTACH_IN_POD);
	world_until_state(w, 3, ATTACH_FREE);
	attach_engine_counters(w->engine, &c);
	assert_string_equal(c.view_error, "");
	world_end_pod(w, 2, w->devices[2].ns);
	world_end(w);
}

/* --- dry run --------------------------------------------------------------------------------- */

static void test_dry_run(void **state)
{
	struct world *w = world_new(WORLD_PLAIN, true);

	(void)state;
	world_until_ready(w);
	world_add_sandbox(w, "b", NULL);
	world_hold(w, 0, "b");
	world_show_all(w);
	world_settle(w);
	assert_int_equal(w->n_inside_max, 0);
	assert_int_equal(world_state(w, 0), ATTACH_FREE);
	world_end(w);
}

static void test_dry_run_returns_nothing(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	uint64_t ns = world_add_sandbox(w, "b", NULL);
	unsigned changed;

	(void)state;
	world_close(w);
	leave_record(w, 3, ATTACH_BAD, ns);
	leave_record(w, 4, ATTACH_RETURNING, ns);
	w->devices[5].bad = w->devices[5].marked = true;
	w->devices[6].marked = true;
	world_open(w, true);
	world_show_all(w);
	world_until_ready(w);
	world_until_state(w, 6, ATTACH_BAD);
	world_settle(w);
	changed = w->n_changed;
	world_show_all(w);
	world_settle(w);
	assert_int_equal(w->n_inside_max, 0);
	assert_int_equal(w->n_changed, changed);
	assert_int_equal(world_events(w, "Orphan"), 1);
	world_free(w);
}

TEST_GROUP(engine_start)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_journal_of_every_state),
		cmocka_unit_test(test_journal_of_another_boot),
		cmocka_unit_test(test_unreadable_record_of_an_absent_device),
		cmocka_unit_test(test_journal_lost),
		cmocka_unit_test(test_the_journals_folder_is_removed),
		cmocka_unit_test(test_a_removed_folder_that_cannot_be_created_again),
		cmocka_unit_test(test_journal_lost_without_runtime),
		cmocka_unit_test(test_journal_lost_while_the_kubelet_lists_only_some_pods),
		cmocka_unit_test(test_journal_lost_pod_ends_slowly),
		cmocka_unit_test(test_journal_lost_pod_ended),
		cmocka_unit_test(test_journal_bad_of_a_pod_with_the_hosts_network),
		cmocka_unit_test(test_forged_mark),
		cmocka_unit_test(test_start_without_runtime),
		cmocka_unit_test(test_no_journal),
		cmocka_unit_test(test_opening_the_journal_is_retried),
		cmocka_unit_test(test_without_a_view_of_the_host_nothing_is_changed),
		cmocka_unit_test(test_dry_run),
		cmocka_unit_test(test_dry_run_returns_nothing),
	};

	return test_group_run(tests, NULL, NULL);
}
