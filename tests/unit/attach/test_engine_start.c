// SPDX-License-Identifier: Apache-2.0
/* The attach engine starts: on journals of every kind, without one, without a runtime, and only to
 * watch. */
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

static void leave(struct world *w, unsigned i, enum attach_state state, uint64_t ns)
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
	uint64_t ns = world_add_sandbox(w, "b", NULL), unknown = world_add_sandbox(w, "e", NULL);
	struct world_gate g;

	(void)state;
	world_close(w);
	world_end_sandbox(w, unknown);
	leave(w, 0, ATTACH_ATTACHING, ns);
	leave(w, 1, ATTACH_IN_POD, ns);
	leave(w, 2, ATTACH_RETURNING, ns);
	leave(w, 3, ATTACH_BAD, ns);
	w->devices[4].bad = true;
	w->devices[4].traces = 1; /* and its pod has taken the mark away */
	w->devices[5].bad = true;
	w->devices[5].marked = true;
	w->devices[5].ns = unknown;
	w->devices[6].marked = true; /* nobody knows of it */
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
	world_until_told(w, &g);
	assert_int_equal(g.err.code, 0);
	assert_int_equal(world_events(w, "Attached"), 0);
	w->devices[4].bad = w->devices[5].bad = false;
	world_end_pod(w, 1, ns);
	world_end(w);
}

/* Of a device that has left the bus, or was never there, nothing is to be returned. */
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

/* The node is started anew: devices are as the kernel and an administrator have made them since,
 * and a namespace that looks like the old one is another's. Whatever state they were in. */
static void test_journal_of_another_boot(void **state)
{
	static const enum attach_state states[] = {ATTACH_ATTACHING, ATTACH_IN_POD,
						   ATTACH_RETURNING, ATTACH_BAD};
	struct world *w = world_start(WORLD_PLAIN);
	uint64_t ns = world_add_sandbox(w, "b", NULL);

	(void)state;
	world_close(w);
	for (unsigned i = 0; i < 4; i++) {
		leave(w, i, states[i], ns);
		snprintf(w->devices[i].record.boot, BOOT_ID_SIZE, "the one before");
		w->devices[i].ns = 0;
		w->devices[i].marked = false; /* and dirty: that is the administrator's */
	}
	snprintf(w->boot, sizeof(w->boot), "this one");
	world_hold(w, 1, "b");
	world_open(w, false);
	world_show_all(w);
	world_until_events(w, "Returned", 4);
	assert_non_null(strstr(world_message(w, "Returned"), "was rebooted"));
	world_until_state(w, 1, ATTACH_IN_POD); /* again, for the list says so */
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

/* The journal is lost, the pod runs on: what mark, kubelet and runtime tell is enough. */
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
	world_until_told(w, &g);
	assert_int_equal(g.err.code, 0);
	w->devices[2].bad = false;
	world_end_pod(w, 1, ns);
	world_end_pod(w, 2, other);
	world_end(w);
}

/* As long as nobody says who has it, it stays where it is. */
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

/* A kubelet that has just been started does not name all yet. The pod lives: it keeps its device.
 */
static void test_journal_lost_while_the_kubelet_learns_its_pods(void **state)
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

/* The kubelet has given it to another pod, while a container of its pod still runs. */
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

/* What tells of a device in the host is its record alone. */
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

/* Its pod has ended, and nobody names it. */
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

/* Whoever may set an alias sets ours. */
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

/* Without a runtime nothing is taken from anybody. */
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
	world_until_ready(w); /* pools that attach nothing do not wait for it */
	world_add_sandbox(w, "b", NULL);
	world_hold(w, 0, "b");
	world_ask(w, &g, 0);
	world_until_told(w, &g);
	assert_int_equal(g.err.code, -EROFS);
	assert_non_null(strstr(g.err.msg, "journal: somebody said so"));
	w->devices[4].marked = true; /* what is away is returned */
	world_show_devices(w);
	world_until_events(w, "Returned", 1);
	attach_engine_counters(w->engine, &c);
	assert_string_equal(c.journal_error, "journal: somebody said so");
	assert_int_equal(world_events(w, "JournalBad"), 1);
	world_end(w);
}

static bool journal_works(void *arg)
{
	struct attach_counters c;

	attach_engine_counters(((struct world *)arg)->engine, &c);
	return !c.journal_error[0];
}

static bool journal_was_tried_again(void *arg)
{
	return ((struct world *)arg)->n_journal_opened > 1;
}

/* Nothing else happens on this node meanwhile. */
static void test_opening_the_journal_is_retried(void **state)
{
	struct world *w = world_new(WORLD_PLAIN, false);

	(void)state;
	world_close(w);
	w->fail_journal = -EROFS;
	w->n_journal_opened = 0;
	world_open(w, false);
	world_until_ready(w);
	assert_true(loop_until(&w->loop, journal_was_tried_again, w, PATIENCE_MS));
	w->fail_journal = 0;
	assert_true(loop_until(&w->loop, journal_works, w, PATIENCE_MS));
	world_end(w);
}

/* Whatever is away is on record again before anything else is attached. */
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

/* Its parent is gone, too, as where a container's mount has lost what it was of. */
static void test_a_removed_folder_that_cannot_be_made_again(void **state)
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
	assert_string_equal(c.journal_error, "journal: somebody said so");
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

/* --- blind ------------------------------------------------------------------------------------ */

/* A daemon that was started without the host's processes: everything looks as if it were gone. */
static void test_without_a_view_of_the_host_nothing_is_changed(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	uint64_t ns = world_run_pod(w, 1, "b");
	struct world_gate g, order = {0};
	struct attach_counters c;
	struct err e = {0};

	(void)state;
	world_close(w);
	leave(w, 3, ATTACH_BAD, ns);
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
	world_until_told(w, &g);
	assert_non_null(strstr(g.err.msg, "the host is hidden"));
	assert_int_equal(attach_engine_detach(w->engine, world_vf(1), true, world_tell, &order, &e),
			 -EAGAIN);
	assert_non_null(strstr(e.msg, "the host is hidden"));
	assert_int_equal(world_state(w, 1), ATTACH_IN_POD);
	assert_int_equal(w->devices[1].ns, ns);
	assert_int_equal(w->devices[2].ns, 0);
	assert_int_equal(w->devices[3].ns, ns);
	assert_false(attach_engine_is_ready(w->engine));
	attach_engine_counters(w->engine, &c);
	assert_string_equal(c.view_error, "the host is hidden.");
	assert_int_equal(world_events(w, "Blind"), 1); /* told once */

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
	leave(w, 3, ATTACH_BAD, ns);
	leave(w, 4, ATTACH_RETURNING, ns);
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
		cmocka_unit_test(test_a_removed_folder_that_cannot_be_made_again),
		cmocka_unit_test(test_journal_lost_without_runtime),
		cmocka_unit_test(test_journal_lost_while_the_kubelet_learns_its_pods),
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
