// SPDX-License-Identifier: Apache-2.0
/* attach_decide(): a table of situations, and random ones against invariants. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "decide.h"
#include "desired_fixture.h"
#include "reconcile.h"
#include "test_group.h"

#define N_VFS 4
#define NOW   1000000

static struct operation *const working = (void *)8;

/* VFs 1 to 4 of the fixture's node, each with an attachment or none, and its netdev somewhere. */
struct scene {
	struct desired_fixture *f;
	struct attachments all;
	struct attachment *items[N_VFS], of_vf[N_VFS];
	struct netdev *netdevs[N_VFS];
	struct attach_snapshot s;
};

static const char *const devices[N_VFS] = {"roce:1", "roce:2", "fast:3", "plain:4"};
static const char *const functions[N_VFS] = {"0000:03:00.1", "0000:03:00.2", "0000:03:00.3",
					     "0000:03:00.4"};

static void scene_begin(struct scene *c, struct desired_fixture *f)
{
	struct host *h = &f->pools->host;

	*c = (struct scene){.f = f};
	c->all.items = c->items;
	for (size_t i = 0; i < h->n_netdevs; i++)
		for (size_t vf = 0; vf < N_VFS; vf++)
			if (strcmp(h->netdevs[i].function, functions[vf]) == 0)
				c->netdevs[vf] = &h->netdevs[i];
	for (size_t i = 0; i < N_VFS; i++) {
		assert_non_null(c->netdevs[i]);
		c->netdevs[i]->nsid = NSID_HOST;
		c->netdevs[i]->origin[0] = c->netdevs[i]->origin_uid[0] = '\0';
		c->netdevs[i]->carrier = CARRIER_ON;
	}
	c->s = (struct attach_snapshot){.now_ms = NOW,
					.all = &c->all,
					.host = h,
					.devices_ms = NOW,
					.done_ms = NOW - 10,
					.pools = &f->pools->pools,
					.held = &f->held,
					.sandboxes = &f->sandboxes,
					.desired = &f->desired};
}

/* Attached to its pod without problems: ns/t, sandbox u1.0. */
static struct attachment *add(struct scene *c, size_t vf, enum attach_state state)
{
	struct attachment *a = &c->of_vf[vf];

	*a = (struct attachment){.retry_ms = NEVER,
				 .since_ms = NOW - 5000,
				 .check_ms = NOW + 60000,
				 .announced = true,
				 .life = NETNS_ALIVE,
				 .timeout_ms = POOL_ATTACH_MS};
	a->record = *add_record(c->f, devices[vf], "t", "u1.0");
	a->record.state = state;
	SET_TEXT(a->record.plan.ifname, "net1");
	c->items[c->all.n++] = a;
	if (state != ATTACH_FREE) {
		c->netdevs[vf]->nsid = NSID_ELSEWHERE;
		SET_TEXT(c->netdevs[vf]->origin, "v0");
		SET_TEXT(c->netdevs[vf]->origin_uid, "u1");
	}
	return a;
}

static int vf_of(const struct attach_action *action)
{
	const char *function = action->a	 ? action->a->record.function
			       : action->desired ? action->desired->function
						 : action->netdev->function;

	return function[11] - '0';
}

/* Returns a text such as "return 1 (its namespace was removed), attach 2", valid until the next
 * call. */
static const char *decided(struct scene *c, struct attach_actions *ret)
{
	static const char *const names[] = {
		[ACT_FOLLOW_POOL] = "follow", [ACT_UNDO] = "undo",   [ACT_RETURN] = "return",
		[ACT_SET_FREE] = "free",      [ACT_ADOPT] = "adopt", [ACT_ADOPT_ORPHAN] = "orphan",
		[ACT_ATTACH] = "attach",      [ACT_FAIL] = "fail",   [ACT_ANNOUNCE] = "announce",
		[ACT_CHECK] = "check",	      [ACT_DROP] = "drop",
	};
	static char text[1024];
	size_t n = 0;

	joined(c->f);
	assert_int_equal(attach_decide(&c->s, ret), 0);
	text[0] = '\0';
	for (size_t i = 0; i < ret->n && n < sizeof(text) - 100; i++) {
		const struct attach_action *a = &ret->items[i];

		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s %d%s%s%s", n ? ", " : "",
				      names[a->act], vf_of(a), a->why ? " (" : "",
				      a->why ? a->why : "", a->why ? ")" : "");
	}
	return text;
}

static void expect_decision(struct scene *c, const char *expected, uint64_t recheck_ms)
{
	struct attach_actions actions;
	const char *text = decided(c, &actions);

	assert_string_equal(text, expected);
	assert_int_equal(actions.recheck_ms, recheck_ms);
	attach_actions_done(&actions);
}

#define HELD	"t:c:roce:1@100"
#define SANDBOX "t/u1/0@150+"

static struct attachment *in_pod(struct scene *c, struct desired_fixture *f)
{
	desired_fixture_clear(f);
	add_held(f, HELD);
	add_sandboxes(f, SANDBOX);
	scene_begin(c, f);
	return add(c, 0, ATTACH_IN_POD);
}

/* --- the table -------------------------------------------------------------------------------- */

static void test_nothing_to_do(void **state)
{
	struct scene c;

	in_pod(&c, *state);
	expect_decision(&c, "", NOW + 60000);
}

static void test_desired_devices_are_attached(void **state)
{
	struct desired_fixture *f = *state;
	struct scene c;

	desired_fixture_clear(f);
	add_held(f, HELD " t:c:fast:3@100");
	add_sandboxes(f, SANDBOX);
	scene_begin(&c, f);
	expect_decision(&c, "attach 3, attach 1", NEVER);
	c.s.journal_missing = "no journal";
	expect_decision(&c, "fail 3 (no journal), fail 1 (no journal)", NEVER);
	c.s.dry_run = true;
	expect_decision(&c, "attach 3, attach 1", NEVER);
	c.s.desired = NULL;
	expect_decision(&c, "", NEVER);
}

/* The kubelet's list may be inconsistent: one function in two resources and two pods. */
static void test_a_function_desired_twice_is_attached_once(void **state)
{
	struct desired_fixture *f = *state;
	struct scene c;

	desired_fixture_clear(f);
	add_held(f, HELD " s:c:fast:1@100");
	add_sandboxes(f, SANDBOX " s/u2/0@160+");
	scene_begin(&c, f);
	assert_string_equal(joined(f), "fast:1>u2.0=net1 roce:1>u1.0=net1");
	expect_decision(&c, "attach 1", NEVER);
	add(&c, 0, ATTACH_ATTACHING)->op = working;
	expect_decision(&c, "", NEVER);
}

static void test_a_failed_attach_is_retried(void **state)
{
	struct desired_fixture *f = *state;
	struct attachment *a;
	struct scene c;

	in_pod(&c, f);
	c.all.n = 0;
	a = add(&c, 0, ATTACH_FREE);
	c.netdevs[0]->nsid = NSID_HOST;
	c.netdevs[0]->origin[0] = '\0';
	joined(f);
	a->record.plan = desired_of(f, "roce:1")->plan;
	err_set(&a->failure, -EIO, "it failed");
	a->again_ms = NOW + 500;
	expect_decision(&c, "", NOW + 500);
	a->again_ms = NOW;
	expect_decision(&c, "attach 1", NEVER);
	a->failure.code = -ECANCELED; /* detached by an administrator */
	expect_decision(&c, "", NEVER);
	SET_TEXT(a->record.owner.sandbox, "u1.7");
	expect_decision(&c, "attach 1", NEVER);
	a->n_requests = 1; /* its request has not been answered yet */
	expect_decision(&c, "", NEVER);
	a->n_requests = 0;
	pod_list_done(&f->held);
	f->held.source = POD_SOURCE_API;
	expect_decision(&c, "drop 1", NEVER);
}

static void test_returned(void **state)
{
	struct attachment *a;
	struct scene c;

	a = in_pod(&c, *state);
	a->life = NETNS_DEAD; /* but the runtime lists its sandbox as ready */
	expect_decision(&c, "", NOW + 60000);
	c.f->sandboxes.items[0].ready = false;
	expect_decision(&c, "return 1 (its namespace was removed)", NEVER);
	a->op = working;
	expect_decision(&c, "undo 1 (its namespace was removed)", NEVER);
	a->why = "its namespace was removed";
	expect_decision(&c, "", NEVER);
	a->op = NULL;
	expect_decision(&c, "return 1 (its namespace was removed)", NEVER);
	c.s.desired = NULL; /* a return in progress needs no list */
	expect_decision(&c, "return 1 (its namespace was removed)", NEVER);
}

static void test_a_netdev_in_the_host_is_returned(void **state)
{
	struct attachment *a;
	struct scene c;

	a = in_pod(&c, *state);
	c.netdevs[0]->nsid = NSID_HOST;
	a->since_ms = NOW; /* the scan began before that */
	expect_decision(&c, "", NOW + 60000);
	a->since_ms = NOW - 1;
	expect_decision(&c, "return 1 (it was moved out of its pod)", NEVER);
	a->life = NETNS_UNKNOWN; /* its path no longer leads to it */
	expect_decision(&c, "return 1 (its netdev is in the host again)", NEVER);
}

static void test_a_pod_missing_from_the_lists(void **state)
{
	struct attachment *a;
	struct scene c;

	a = in_pod(&c, *state);
	pod_list_done(&c.f->held);
	c.f->held.source = POD_SOURCE_API;
	a->unheld_ms = NOW - 4000;
	expect_decision(&c, "", NOW + 60000); /* its sandbox is ready */
	c.f->sandboxes.known = false;
	c.s.cri_silent_ms = NOW - 1000;
	expect_decision(&c, "", NOW - 1000 + RECONCILE_UNHELD_MS);
	c.s.now_ms = c.s.cri_silent_ms + RECONCILE_UNHELD_MS - 1;
	expect_decision(&c, "return 1 (no pod has it)", NEVER);
}

static void expect_contradiction(struct scene *c, const struct attachment *by, size_t n,
				 bool lacks_all)
{
	struct attach_actions actions;

	decided(c, &actions);
	assert_ptr_equal(actions.contradicting, by);
	assert_int_equal(actions.n_contradicting, n);
	assert_int_equal(actions.lacks_all, lacks_all);
	attach_actions_done(&actions);
}

/* The socket of another runtime, whose list has none of the running sandboxes. */
static void test_the_runtimes_list_is_contradicted(void **state)
{
	struct attachment *a, *b;
	struct scene c;

	a = in_pod(&c, *state);
	expect_contradiction(&c, NULL, 0, false);
	sandbox_list_done(&c.f->sandboxes);
	c.f->sandboxes.known = true;
	a->missed_ms = NOW - CONTRADICTION_MS + 1;
	a->use = NETNS_IN_USE;
	expect_decision(&c, "", NOW + 1); /* normal for a moment while a pod ends */
	expect_contradiction(&c, NULL, 0, false);
	a->missed_ms--;
	expect_contradiction(&c, a, 1, true);
	b = add(&c, 1, ATTACH_IN_POD);
	SET_TEXT(b->record.owner.sandbox, "u2.0");
	add_sandboxes(c.f, "s/u2/0@150+");
	expect_contradiction(&c, a, 1, false);
	a->life = NETNS_DEAD;
	expect_contradiction(&c, NULL, 0, false);
}

/* A runtime's list that one running pod contradicts is not trusted for unrecorded devices
 * either. */
static void test_lost_while_the_list_is_contradicted(void **state)
{
	struct attachment *a, *lost;
	struct scene c;

	a = in_pod(&c, *state);
	lost = add(&c, 1, ATTACH_BAD);
	lost->lost = true;
	SET_TEXT(c.netdevs[1]->origin_uid, "u7");
	expect_decision(&c, "return 2", NOW + 60000);
	sandbox_list_done(&c.f->sandboxes);
	c.f->sandboxes.known = true;
	a->missed_ms = NOW - 2 * RECONCILE_UNHELD_MS;
	a->use = NETNS_IN_USE;
	expect_decision(&c, "", NOW + 60000);
	c.all.items[0] = lost; /* no running pod contradicts the list */
	c.all.n = 1;
	c.netdevs[0]->nsid = NSID_HOST;
	c.netdevs[0]->origin[0] = '\0';
	expect_decision(&c, "return 2", NEVER);
	add_held(c.f, "x:c:roce:2"); /* its pod, or the device's next pod */
	expect_decision(&c, "", NEVER);
	add_sandboxes(c.f, "x/u9/0@150+");
	expect_decision(&c, "return 2", NEVER);
}

static void test_bad(void **state)
{
	struct attachment *a;
	struct scene c;

	a = in_pod(&c, *state);
	a->record.state = ATTACH_BAD;
	a->why = "before";
	a->retry_ms = NOW + 100;
	expect_decision(&c, "", NOW + 100);
	a->retry_ms = NOW;
	expect_decision(&c, "return 1 (before)", NEVER);
	a->op = working;
	expect_decision(&c, "", NEVER);
}

static void test_lost(void **state)
{
	static const struct pools no_pools;
	struct attachment *a;
	struct scene c;

	a = in_pod(&c, *state);
	a->record.state = ATTACH_BAD;
	a->lost = true;
	expect_decision(&c, "adopt 1", NEVER);
	SET_TEXT(c.netdevs[0]->origin_uid, "u7"); /* this pod does not run */
	expect_decision(&c, "return 1", NEVER);
	c.f->sandboxes.known = false;
	expect_decision(&c, "", NEVER);
	c.netdevs[0]->nsid = NSID_HOST;
	expect_decision(&c, "return 1", NEVER);
	c.netdevs[0]->origin[0] = '\0';
	expect_decision(&c, "", NEVER); /* its pod may have the host's network */
	c.f->sandboxes.known = true;
	expect_decision(&c, "return 1", NEVER); /* its pod may have removed the alias */
	c.s.pools = &no_pools;
	expect_decision(&c, "free 1 (is in the host, and no pool with \"network\" selects it)",
			NEVER);
}

/* Without an alias: its pod runs on the host's network. */
static void test_lost_in_the_host(void **state)
{
	struct attachment *a;
	struct scene c;

	a = in_pod(&c, *state);
	a->record.state = ATTACH_BAD;
	a->lost = true;
	c.netdevs[0]->nsid = NSID_HOST;
	c.netdevs[0]->origin[0] = c.netdevs[0]->origin_uid[0] = '\0';
	c.f->sandboxes.items[0].host_network = true;
	expect_decision(&c, "free 1 (is in use by a pod with the host's network)", NEVER);
	c.f->held.devices[0].start_ms = NOW; /* its container waits: clean the device first */
	expect_decision(&c, "return 1", NEVER);
	c.f->held.devices[0].start_ms = 0;
	c.f->sandboxes.known = c.f->sandboxes.items[0].ready = false;
	expect_decision(&c, "", NEVER);
	c.f->sandboxes.known = true;
	c.f->held.source = POD_SOURCE_NONE;
	expect_decision(&c, "", NEVER);
	c.f->held.source = POD_SOURCE_API;
	expect_decision(&c, "return 1", NEVER);
}

/* CNI attaches the devices of VF 4's pool: without a record it is reclaimed only in the host. */
static void test_orphans(void **state)
{
	struct desired_fixture *f = *state;
	const char *recorded = "0000:03:00.4";
	struct scene c;

	desired_fixture_clear(f);
	add_held(f, HELD);
	add_sandboxes(f, SANDBOX);
	scene_begin(&c, f);
	SET_TEXT(c.netdevs[0]->origin, "v0");
	SET_TEXT(c.netdevs[3]->origin, "v3");
	expect_decision(&c, "orphan 1, orphan 4", NEVER); /* and not attached */
	c.netdevs[3]->nsid = 3;
	expect_decision(&c, "orphan 1", NEVER);
	c.s.recorded = &recorded;
	c.s.n_recorded = 1;
	expect_decision(&c, "orphan 1, orphan 4", NEVER);
	c.s.devices_ms = c.s.done_ms; /* the scan is older than the last operation */
	expect_decision(&c, "attach 1", NEVER);
}

static void test_announcements_and_checks(void **state)
{
	struct attachment *a;
	struct scene c;

	a = in_pod(&c, *state);
	a->announced = false;
	expect_decision(&c, "announce 1", NEVER);
	c.netdevs[0]->nsid = 3;
	c.netdevs[0]->carrier = CARRIER_OFF;
	expect_decision(&c, "", NOW + 60000);
	a->announced = true;
	a->check_now = true;
	expect_decision(&c, "check 1", NEVER);
	/* Requested checks run in parallel up to a limit; periodic ones run one at a time. */
	c.s.n_checking = ATTACH_CHECKS_MAX - 1;
	expect_decision(&c, "check 1", NEVER);
	c.s.n_checking = ATTACH_CHECKS_MAX;
	expect_decision(&c, "", NEVER);
	a->check_now = false;
	a->check_ms = NOW;
	c.s.n_checking = 1;
	expect_decision(&c, "", NEVER);
	c.s.n_checking = 0;
	expect_decision(&c, "check 1", NEVER);
	a->check_now = true;
	c.s.dry_run = true;
	expect_decision(&c, "", NEVER);
	a->timeout_ms = 7;
	expect_decision(&c, "follow 1", NEVER);
}

/* Changes of the pool apply to attached devices, also just before they are returned. */
static void test_the_pool_is_followed(void **state)
{
	struct attachment *a;
	struct scene c;

	a = in_pod(&c, *state);
	a->record.plan.clean = CLEAN_RESTORE;
	expect_decision(&c, "follow 1", NOW + 60000);
	a->life = NETNS_DEAD;
	c.f->sandboxes.items[0].ready = false;
	pod_list_done(&c.f->held);
	c.f->held.source = POD_SOURCE_API; /* the pod ended while the daemon was stopped */
	expect_decision(&c, "follow 1, return 1 (its namespace was removed)", NEVER);
	a->record.state = ATTACH_BAD;
	a->retry_ms = NOW;
	a->why = "before";
	expect_decision(&c, "follow 1, return 1 (before)", NEVER);
	a->record.owner.door = DOOR_ADMIN;
	expect_decision(&c, "return 1 (before)", NEVER);
}

/* --- random situations ------------------------------------------------------------------------ */

static unsigned pick(unsigned n)
{
	return (unsigned)rand() % n;
}

static bool chance(unsigned percent)
{
	return pick(100) < percent;
}

static void random_lists(struct desired_fixture *f)
{
	static const char *const held[] = {"",
					   "t:c:roce:1@100",
					   "s:c:roce:1@100",
					   "#u1:c:roce:1@100 t:c:fast:3",
					   "t:c:roce:1@100 t:c:roce:2@100",
					   "::roce:1@300",
					   "t:c:roce:1@100 s:c:fast:1@100",
					   "s:c:roce:2@100 s:c:fast:3 t:c:plain:4"};
	static const char *const sandboxes[] = {"",
						"t/u1/0@150+",
						"t/u1/0@150-",
						"t/u1/0@150+ t/u1/1@200+",
						"s/u2/0@150+",
						"t/u1/0@150- s/u2/0@160+",
						"t/u1/0@150+ s/u2/0@160+"};

	desired_fixture_clear(f);
	add_held(f, held[pick(ARRAY_SIZE(held))]);
	add_sandboxes(f, sandboxes[pick(ARRAY_SIZE(sandboxes))]);
	f->sandboxes.known = chance(80);
	if (chance(10))
		f->held.source = POD_SOURCE_NONE;
}

static uint64_t some_time(void)
{
	static const uint64_t times[] = {0, 1, NOW - 1, NOW, NOW + 1, NOW + 5000, NEVER};

	return times[pick(ARRAY_SIZE(times))];
}

static void random_attachment(struct scene *c, size_t vf)
{
	struct attachment *a = add(c, vf, (enum attach_state)pick(ATTACH_BAD + 1));

	a->op = chance(30) ? working : NULL;
	a->why = chance(20) ? "before" : NULL;
	a->interrupted = chance(15);
	a->lost = a->record.state == ATTACH_BAD && chance(40);
	a->life = (enum netns_life)pick(3);
	a->announced = chance(80);
	a->check_now = chance(10);
	a->n_requests = chance(10);
	a->since_ms = NOW - pick(20);
	a->retry_ms = some_time();
	a->again_ms = some_time();
	a->check_ms = some_time();
	a->unheld_ms = chance(50) ? 0 : NOW - pick(2 * RECONCILE_UNHELD_MS);
	a->missed_ms = chance(50) ? 0 : NOW - pick(2 * RECONCILE_UNHELD_MS);
	a->use = (enum netns_use)pick(3);
	a->failure.code = chance(30) ? -EIO : 0;
}

static void random_scene(struct scene *c, struct desired_fixture *f)
{
	random_lists(f);
	scene_begin(c, f);
	for (size_t i = 0; i < N_VFS; i++) {
		if (chance(70))
			random_attachment(c, i);
		if (chance(30))
			c->netdevs[i]->nsid = (int)pick(3) - 2;
		if (chance(20))
			SET_TEXT(c->netdevs[i]->origin, chance(50) ? "v0" : "");
	}
	c->s.devices_ms = NOW - pick(20);
	c->s.done_ms = NOW - pick(20);
	c->s.n_checking = pick(ATTACH_CHECKS_MAX + 1);
	c->s.dry_run = chance(10);
	c->s.cri_silent_ms = f->sandboxes.known ? 0 : NOW - pick(2 * RECONCILE_UNHELD_MS);
	c->s.journal_missing = chance(10) ? "no journal" : NULL;
	if (chance(10))
		c->s.desired = NULL;
}

/* True if, as far as the lists show, the pod has the device. */
static bool is_running(const struct scene *c, const struct attachment *a)
{
	const struct sandbox *s = sandbox_find(&c->f->sandboxes, a->record.owner.sandbox);
	const struct netdev *nd = record_netdev(&a->record, c->s.host);

	if (a->record.state != ATTACH_IN_POD || a->why || a->interrupted ||
	    !c->f->sandboxes.known || nd->nsid == NSID_HOST)
		return false;
	return (s && s->ready && c->f->sandboxes.n == 1) ||
	       (a->use == NETNS_IN_USE && a->life == NETNS_ALIVE && c->f->sandboxes.n < 2);
}

static bool is_dead(const struct scene *c, const struct attachment *a)
{
	const struct sandbox *s = sandbox_find(&c->f->sandboxes, a->record.owner.sandbox);

	return a->record.state == ATTACH_IN_POD && !a->op && c->s.desired &&
	       c->f->sandboxes.known && a->use == NETNS_EMPTY && s && !s->ready;
}

static bool begins(enum attach_act act)
{
	return act != ACT_FOLLOW_POOL && act != ACT_UNDO;
}

static void judge(const struct scene *c, const struct attach_actions *actions, const char *text)
{
	const struct attach_action *of[N_VFS + 1] = {NULL};
	unsigned n_checks = 0;

	for (size_t i = 0; i < actions->n; i++) {
		const struct attach_action *a = &actions->items[i];
		int vf = vf_of(a);

		if (!begins(a->act))
			continue;
		/* At most one operation of each device starts; only a drop allows another at
		 * once. */
		if (of[vf] && of[vf]->act != ACT_DROP)
			fail_msg("two operations at once: %s", text);
		if (a->a && a->a->op)
			fail_msg("started during another operation: %s", text);
		if (a->act == ACT_RETURN && is_running(c, a->a))
			fail_msg("returned from a running pod: %s", text);
		if (a->act == ACT_ATTACH && a->desired->err.code)
			fail_msg("attached although impossible: %s", text);
		n_checks += a->act == ACT_CHECK;
		of[vf] = a;
	}
	for (size_t i = 0; i < c->all.n; i++)
		if (is_dead(c, c->items[i]) &&
		    (!of[c->items[i]->record.function[11] - '0'] ||
		     of[c->items[i]->record.function[11] - '0']->act != ACT_RETURN))
			fail_msg("not returned: %s", text);
	assert_true(n_checks + c->s.n_checking <= ATTACH_CHECKS_MAX);
	assert_true(actions->recheck_ms > c->s.now_ms);
}

static void test_anything(void **state)
{
	struct desired_fixture *f = *state;
	const char *seed = getenv("SEED"), *n = getenv("HISTORIES");
	unsigned long long n_actions = 0;

	srand(seed ? (unsigned)atoi(seed) : 1);
	for (int i = 0; i < (n ? atoi(n) : 100000); i++) {
		struct attach_actions actions;
		struct attachment before[N_VFS];
		struct scene c;
		const char *text;

		random_scene(&c, f);
		memcpy(before, c.of_vf, sizeof(before));
		text = decided(&c, &actions);
		judge(&c, &actions, text);
		assert_memory_equal(before, c.of_vf, sizeof(before));
		n_actions += actions.n;
		attach_actions_done(&actions);
	}
	print_message("%llu actions\n", n_actions);
}

#define T(test)                                                                                    \
	cmocka_unit_test_setup_teardown(test, desired_fixture_setup, desired_fixture_teardown)

TEST_GROUP(decide)
{
	const struct CMUnitTest tests[] = {
		T(test_nothing_to_do),
		T(test_desired_devices_are_attached),
		T(test_a_function_desired_twice_is_attached_once),
		T(test_a_failed_attach_is_retried),
		T(test_returned),
		T(test_a_netdev_in_the_host_is_returned),
		T(test_a_pod_missing_from_the_lists),
		T(test_the_runtimes_list_is_contradicted),
		T(test_bad),
		T(test_lost_while_the_list_is_contradicted),
		T(test_lost),
		T(test_lost_in_the_host),
		T(test_orphans),
		T(test_announcements_and_checks),
		T(test_the_pool_is_followed),
		T(test_anything),
	};

	return test_group_run(tests, NULL, NULL);
}
