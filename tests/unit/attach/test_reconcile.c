// SPDX-License-Identifier: Apache-2.0
/* reconcile_attachment(): every rule, and random histories checked against the simulation's
 * state. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "desired_fixture.h"
#include "reconcile.h"
#include "test_group.h"

/* --- rules ------------------------------------------------------------------------------------ */

enum {
	NETNS_GONE = 1,	   /* the namespace was removed */
	HOST = 2,	   /* in the host's namespace */
	INTERRUPTED = 4,   /* by the daemon's exit */
	NO_RUNTIME = 8,	   /* the runtime does not answer */
	UNKNOWN_HELD = 16, /* the kubelet never answered */
	THERE = 32,	   /* the namespace's path still leads to it */
	USED = 64,	   /* a process is in the namespace */
	HIDDEN = 128,	   /* whether a process is in it is unknown */
	STAYS = 256	   /* the pod has the host's network */
};

/* The attachment is roce:1 of ns/t's u1.0. */
static const struct {
	const char *what, *held, *sandboxes;
	unsigned facts;
	uint64_t unheld_ms;
	const char *why; /* NULL = it stays attached */
} rules[] = {
	{"all is well", "t:c:roce:1@100", "t/u1/0@150+", 0, 0, NULL},
	{"several containers", "t:a:roce:1 t:b:roce:1", "t/u1/0@150+", 0, 0, NULL},
	{"by uid", "#u1:c:roce:1", "t/u1/0@150+", 0, 0, NULL},
	{"times unknown", "t:c:roce:1", "t/u1/0@0+", 0, 0, NULL},
	/* the namespace */
	{"namespace removed", "t:c:roce:1", "t/u1/0@150+", NETNS_GONE, 0,
	 "its namespace was removed"},
	{"namespace removed, neither kubelet nor runtime answers", "", "",
	 NETNS_GONE | NO_RUNTIME | UNKNOWN_HELD, 0, "its namespace was removed"},
	{"moved to the host", "t:c:roce:1", "t/u1/0@150+", HOST | THERE, 0,
	 "it was moved out of its pod"},
	{"moved to the host, neither kubelet nor runtime answers", "", "",
	 HOST | THERE | NO_RUNTIME | UNKNOWN_HELD, 0, "it was moved out of its pod"},
	{"returned by the kernel", "t:c:roce:1", "t/u1/0@150+", HOST, 0,
	 "its netdev is in the host again"},
	{"interrupted", "t:c:roce:1", "t/u1/0@150+", INTERRUPTED, 0,
	 "rocelet was stopped during the operation"},
	/* the sandbox */
	{"sandbox removed", "", "", 0, 0, "its sandbox was removed"},
	{"sandbox removed, allocated to another pod", "s:c:roce:1", "", 0, 0,
	 "its sandbox was removed"},
	{"sandbox removed, allocated to a pod of the same name", "t:c:roce:1", "t/u2/0@350+", 0, 0,
	 "its sandbox was removed"},
	{"sandbox removed, the kubelet does not answer", "", "", UNKNOWN_HELD, 0,
	 "its sandbox was removed"},
	{"sandbox has ended", "t:c:roce:1", "t/u1/0@150-", 0, 0, "its sandbox has ended"},
	/* evidence against the runtime's list */
	{"not in the list, the kubelet lists the pod", "t:c:roce:1", "", 0, 3600000, NULL},
	{"others are in the list, the kubelet lists the pod", "t:c:roce:1", "s/u2/0@150+", 0,
	 3600000, NULL},
	{"not in the list, the kubelet lists it by uid", "#u1:c:roce:1", "t/u2/0@350+", 0, 3600000,
	 NULL},
	{"not in the list, a process runs", "", "", USED, RECONCILE_USED_MS - 1, NULL},
	{"not in the list for long, a process runs", "", "", USED, RECONCILE_USED_MS,
	 "its sandbox was removed"},
	{"not in the list, a process runs, the kubelet lists the pod", "t:c:roce:1", "", USED,
	 3600000, NULL},
	{"not in the list for long, a process runs, another pod's", "s:c:roce:1", "", USED,
	 RECONCILE_USED_MS, "its sandbox was removed"},
	{"not in the list, a process runs, the kubelet does not answer", "", "",
	 USED | UNKNOWN_HELD, 3600000, NULL},
	{"not ready, a process runs", "", "t/u1/0@150-", USED, RECONCILE_USED_MS - 1, NULL},
	{"not ready for long, a process runs", "", "t/u1/0@150-", USED, RECONCILE_USED_MS,
	 "its sandbox has ended"},
	{"not in the list, a process runs, namespace removed", "t:c:roce:1", "", USED | NETNS_GONE,
	 0, "its namespace was removed"},
	{"not in the list, a process runs, newer sandbox", "t:c:roce:1", "t/u1/1@200+", USED, 0,
	 "its pod has a newer sandbox"},
	{"not in the list, processes cannot be seen", "", "", HIDDEN, RECONCILE_UNHELD_MS - 1,
	 NULL},
	{"not in the list for long, processes cannot be seen", "", "", HIDDEN, RECONCILE_UNHELD_MS,
	 "its sandbox was removed"},
	{"not ready, processes cannot be seen, the kubelet lists the pod", "t:c:roce:1",
	 "t/u1/0@150-", HIDDEN, 3600000, NULL},
	{"nothing but the runtime's list is known", "", "", HIDDEN | UNKNOWN_HELD, 3600000, NULL},
	{"stays in the host, not in the list, the kubelet does not answer", "", "",
	 STAYS | UNKNOWN_HELD, 3600000, NULL},
	{"stays in the host, not in the list", "", "", STAYS, RECONCILE_UNHELD_MS - 1, NULL},
	{"stays in the host, not in the list for long", "", "", STAYS, RECONCILE_UNHELD_MS,
	 "its sandbox was removed"},
	{"stays in the host, sandbox has ended", "t:c:roce:1", "t/u1/0@150-", STAYS, 0,
	 "its sandbox has ended"},
	{"sandbox recreated", "t:c:roce:1@100", "t/u1/0@150+ t/u1/1@200+", 0, 0,
	 "its pod has a newer sandbox"},
	{"sandbox recreated, the kubelet does not answer", "", "t/u1/0@150+ t/u1/1@200+",
	 UNKNOWN_HELD, 0, "its pod has a newer sandbox"},
	{"the newer one has ended", "t:c:roce:1@100", "t/u1/0@150+ t/u1/1@200-", 0, 0, NULL},
	{"the runtime does not answer", "t:c:roce:1", "", NO_RUNTIME, 0, NULL},
	{"the runtime does not answer, its old list shows the end", "t:c:roce:1", "t/u1/0@150-",
	 NO_RUNTIME, 0, NULL},
	/* a pod of the same name */
	{"another uid", "t:c:roce:1@100", "t/u1/0@150+ t/u2/0@350+", 0, 0, NULL},
	{"another uid, times unknown", "t:c:roce:1", "t/u1/0@150+ t/u2/0@350+", 0, 0, NULL},
	{"allocated to the new pod, an old container may end slowly", "t:c:roce:1@300",
	 "t/u1/0@150+ t/u2/0@350+", 0, 0, NULL},
	{"allocated to the new pod, no sandbox yet", "t:c:roce:1@300", "t/u1/0@150+", 0, 0, NULL},
	{"allocated to the new pod, the old sandbox has ended", "t:c:roce:1@300",
	 "t/u1/0@150- t/u2/0@350+", 0, 0, "its sandbox has ended"},
	{"another uid, by uid", "#u2:c:roce:1", "t/u1/0@150+ t/u2/0@350+", 0, 0, NULL},
	{"another uid, by uid, the runtime does not answer", "#u2:c:roce:1", "", NO_RUNTIME,
	 RECONCILE_UNHELD_MS, "another pod has it"},
	/* the kubelet's list */
	{"only reserved, before the sandbox", "::roce:1@100", "t/u1/0@150+", 0, 0, NULL},
	{"only reserved, after the sandbox", "::roce:1@300", "t/u1/0@150+", 0, 0, NULL},
	{"only reserved, time unknown", "::roce:1", "t/u1/0@150+", 0, 0, NULL},
	{"another pod's, but a container may end slowly", "s:c:roce:1", "t/u1/0@150+", 0, 0, NULL},
	{"another pod's, the runtime does not answer yet", "s:c:roce:1", "", NO_RUNTIME,
	 RECONCILE_UNHELD_MS - 1, NULL},
	{"another pod's, the runtime does not answer", "s:c:roce:1", "", NO_RUNTIME,
	 RECONCILE_UNHELD_MS, "another pod has it"},
	{"another pod's by uid, the runtime does not answer", "#u9:c:roce:1", "", NO_RUNTIME,
	 RECONCILE_UNHELD_MS, "another pod has it"},
	{"allocated to two pods", "s:c:roce:1 t:c:roce:1", "t/u1/0@150+", 0, 0, NULL},
	{"allocated to no pod", "t:c:roce:2", "t/u1/0@150+", 0, 3600000, NULL},
	{"allocated to no pod, the runtime does not answer", "", "t/u1/0@150+", NO_RUNTIME,
	 RECONCILE_UNHELD_MS - 1, NULL},
	{"allocated to no pod for long, no runtime", "", "t/u1/0@150+", NO_RUNTIME,
	 RECONCILE_UNHELD_MS, "no pod has it"},
	{"neither kubelet nor runtime answers", "", "", NO_RUNTIME | UNKNOWN_HELD, 3600000, NULL},
};

static const char *why_return(struct desired_fixture *f, struct attach_record *r, unsigned facts,
			      uint64_t unheld_ms)
{
	const struct attach_fact fact = {.record = r,
					 .netns_ended = facts & NETNS_GONE,
					 .in_host = facts & HOST,
					 .netns_there = facts & THERE,
					 .interrupted = facts & INTERRUPTED,
					 .unheld_ms = unheld_ms,
					 .missed_ms = unheld_ms,
					 .use = facts & USED	 ? NETNS_IN_USE
						: facts & HIDDEN ? NETNS_USE_UNKNOWN
								 : NETNS_EMPTY};

	r->plan.in_host = facts & STAYS;
	f->sandboxes.known = !(facts & NO_RUNTIME);
	if (facts & UNKNOWN_HELD)
		f->held.source = POD_SOURCE_NONE;
	return reconcile_attachment(
		&fact, &(struct reconcile_input){.held = &f->held, .sandboxes = &f->sandboxes});
}

static void test_every_rule(void **state)
{
	struct desired_fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		const char *expected = rules[i].why ? rules[i].why : "", *why;

		desired_fixture_clear(f);
		add_held(f, rules[i].held);
		add_sandboxes(f, rules[i].sandboxes);
		why = why_return(f, add_record(f, "roce:1", "t", "u1.0"), rules[i].facts,
				 rules[i].unheld_ms);
		why = why ? why : "";
		if (strcmp(why, expected) != 0)
			fail_msg("%s: '%s' instead of '%s'", rules[i].what, why, expected);
	}
}

/* An attachment by CNI for a pod whose sandbox the runtime does not list. granted: the kubelet
 * allocated the device. */
static void test_a_cni_attachment_of_a_pod(void **state)
{
	static const struct {
		const char *what, *held;
		bool granted;
		unsigned facts;
		uint64_t missed_ms;
		bool returned;
	} rows[] = {
		{"no process is in its namespace", "", false, 0, RECONCILE_MADE_MS, true},
		{"its sandbox is being created", "", false, 0, RECONCILE_MADE_MS - 1, false},
		{"its containers run, the list is another runtime's", "", false, USED, 3600000,
		 false},
		{"a process runs, and the kubelet lists the pod", "t:c:roce:1", true, USED, 3600000,
		 false},
		{"the kubelet lists the pod, processes cannot be seen", "t:c:roce:1", true, HIDDEN,
		 3600000, false},
		{"not granted, processes cannot be seen", "", false, HIDDEN, 3600000, false},
		{"the kubelet no longer lists the pod", "s:c:roce:1", true, USED, RECONCILE_MADE_MS,
		 true},
		{"a process runs, the kubelet does not answer", "", true, USED | UNKNOWN_HELD,
		 3600000, false},
		{"the runtime does not answer", "s:c:roce:1", true, USED | NO_RUNTIME, 3600000,
		 false},
	};
	struct desired_fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct attach_record *r;
		const char *why;

		desired_fixture_clear(f);
		add_held(f, rows[i].held);
		add_sandboxes(f, "");
		r = add_record(f, "roce:1", "t", "u1.0");
		r->owner.door = DOOR_CNI;
		if (!rows[i].granted)
			r->resource[0] = '\0';
		why = why_return(f, r, rows[i].facts, rows[i].missed_ms);
		if ((why != NULL) != rows[i].returned)
			fail_msg("%s: %s", rows[i].what, why ? why : "stays");
	}
}

static void test_other_doors_end_with_their_namespace(void **state)
{
	static const enum attach_door doors[] = {DOOR_CNI, DOOR_ADMIN};
	struct desired_fixture *f = *state;

	add_held(f, "s:c:roce:1@300");
	for (size_t i = 0; i < ARRAY_SIZE(doors); i++) {
		struct attach_record *r = add_record(f, "roce:1", "", "");

		r->owner.door = doors[i];
		assert_null(why_return(f, r, 0, 3600000));
		assert_non_null(why_return(f, r, HOST, 0));
		assert_non_null(why_return(f, r, NETNS_GONE, 0));
		assert_non_null(why_return(f, r, INTERRUPTED, 0));
	}
}

static void test_only_attaching_and_attached_devices_are_returned(void **state)
{
	static const struct {
		enum attach_state state;
		bool gone, host, interrupted;
	} returned[] = {
		{ATTACH_FREE, false, false, true}, {ATTACH_ATTACHING, true, false, true},
		{ATTACH_IN_POD, true, true, true}, {ATTACH_RETURNING, false, false, true},
		{ATTACH_BAD, false, false, true},
	};
	struct desired_fixture *f = *state;
	struct attach_record *r = add_record(f, "roce:1", "t", "u1.0");

	add_held(f, "t:c:roce:1");
	add_sandboxes(f, "t/u1/0@150+");
	for (size_t i = 0; i < ARRAY_SIZE(returned); i++) {
		r->state = returned[i].state;
		assert_int_equal(why_return(f, r, NETNS_GONE, 0) != NULL, returned[i].gone);
		assert_int_equal(why_return(f, r, HOST, 0) != NULL, returned[i].host);
		assert_int_equal(why_return(f, r, INTERRUPTED, 0) != NULL, returned[i].interrupted);
	}
}

static void test_which_devices_may_be_attached(void **state)
{
	struct desired w = {0};
	struct attach_record r = {.state = ATTACH_FREE};
	(void)state;

	assert_true(reconcile_may_attach(&w, NULL));
	assert_true(reconcile_may_attach(&w, &r));
	for (r.state = ATTACH_ATTACHING; r.state <= ATTACH_BAD; r.state++)
		assert_false(reconcile_may_attach(&w, &r));
	w.err.code = -EBUSY;
	assert_false(reconcile_may_attach(&w, NULL));
}

static void test_orphans(void **state)
{
	struct netdev nd = {.name = "net1", .origin = "v0", .nsid = NSID_HOST};
	struct attach_record r = {.state = ATTACH_FREE};
	(void)state;

	assert_true(reconcile_is_orphan(&nd, NULL));
	assert_true(reconcile_is_orphan(&nd, &r));
	nd.nsid = 4;
	assert_true(reconcile_is_orphan(&nd, NULL));
	for (r.state = ATTACH_ATTACHING; r.state <= ATTACH_BAD; r.state++)
		assert_false(reconcile_is_orphan(&nd, &r));
	nd.origin[0] = '\0';
	assert_false(reconcile_is_orphan(&nd, NULL));
}

/* --- random histories ------------------------------------------------------------------------- */

/* The simulation's state: pods are created, get new sandboxes, are deleted and end. The kubelet and
 * the runtime are queried now and then, so their lists are old; decisions are made at any time. */
#define N_DEVICES 6 /* roce:1, roce:2, fast:3, slot:0 .. slot:2 */
#define N_PODS	  48
#define N_STEPS	  400
#define N_RUNS	  300

struct real_pod {
	char name[8], uid[8];
	bool deleted;	  /* by force: the kubelet has removed it, its sandbox may still be ready */
	bool ended;	  /* its sandbox */
	unsigned attempt; /* of its sandbox, from 1; 0 = it has none */
	int64_t created;  /* unix time, by the clock at that time */
	unsigned devices; /* bits */
};

/* The clock is set by hours, a history takes minutes. */
#define HOUR_MS INT64_C(3600000)
#define STEP_MS 300

struct history {
	struct desired_fixture *f;
	unsigned run, seed;
	uint64_t now;	  /* loop time */
	int64_t clock_ms; /* the wall clock minus the loop time */
	struct real_pod pods[N_PODS];
	size_t n_pods;
	/* Times of Allocate, and since when a container waits for its start, as in
	 * reservations.h. */
	uint64_t reserved[N_DEVICES], start[N_DEVICES];
	size_t holder[N_DEVICES];    /* the pod of each record, N_PODS = free */
	unsigned attempt[N_DEVICES]; /* of the sandbox that the device is in */
};

static const char *const devices[N_DEVICES] = {"roce:1", "roce:2", "fast:3",
					       "slot:0", "slot:1", "slot:2"};

static unsigned draw(struct history *h, unsigned n)
{
	h->seed = h->seed * 1103515245 + 12345;
	return (h->seed >> 16) % n;
}

/* The kubelet's allocations: a device belongs to one pod. */
static struct real_pod *owner_of(struct history *h, size_t device)
{
	for (size_t i = 0; i < h->n_pods; i++)
		if (!h->pods[i].deleted && h->pods[i].devices & 1u << device)
			return &h->pods[i];
	return NULL;
}

static void delete_name(struct history *h, const char *name)
{
	for (size_t i = 0; i < h->n_pods; i++)
		if (strcmp(h->pods[i].name, name) == 0)
			h->pods[i].deleted = true;
}

/* Allocate. There are few names, so pods of the same name follow each other; only one of a name
 * exists at a time. */
static void admit(struct history *h)
{
	struct real_pod *p = &h->pods[h->n_pods];
	char name[8];

	if (h->n_pods == N_PODS)
		return;
	snprintf(name, sizeof(name), "p%u", draw(h, 3));
	delete_name(h, name);
	h->n_pods++;
	SET_TEXT(p->name, name);
	snprintf(p->uid, sizeof(p->uid), "u%zu", h->n_pods);
	for (size_t i = 0; i < N_DEVICES; i++) {
		if (owner_of(h, i) || draw(h, 3))
			continue;
		p->devices |= 1u << i;
		h->reserved[i] = h->now;
		h->start[i] = 0;
	}
}

static int64_t unix_now(const struct history *h)
{
	return ((int64_t)h->now + h->clock_ms) * 1000000;
}

static void set_clock(struct history *h)
{
	h->clock_ms += ((int64_t)draw(h, 7) - 3) * HOUR_MS;
}

/* A sandbox is created after every Allocate of its pod, and the pod's previous one is not ready. */
static void make_sandbox(struct history *h)
{
	struct real_pod *p = h->n_pods ? &h->pods[draw(h, (unsigned)h->n_pods)] : NULL;

	if (!p || p->deleted)
		return;
	p->attempt++;
	p->created = unix_now(h);
}

/* The pod may have been deleted, and the kubelet still waits. */
static void start_container(struct history *h)
{
	const struct real_pod *p = h->n_pods ? &h->pods[draw(h, (unsigned)h->n_pods)] : NULL;

	for (size_t i = 0; p && i < N_DEVICES; i++)
		if (owner_of(h, i) == p && p->attempt > 0)
			h->start[i] = h->now;
}

static void delete_pod(struct history *h)
{
	if (h->n_pods)
		h->pods[draw(h, (unsigned)h->n_pods)].deleted = true;
}

static void end_pods(struct history *h)
{
	for (size_t i = 0; i < h->n_pods; i++)
		h->pods[i].ended = h->pods[i].ended || (h->pods[i].deleted && draw(h, 2));
}

/* Sets the current times of reservations in an old list. */
static void set_times(struct history *h)
{
	struct pod_list *l = &h->f->held;

	for (size_t i = 0; i < N_DEVICES; i++) {
		char resource[RESOURCE_NAME_SIZE], id[PLUGIN_ID_SIZE];
		const struct pod_device *d;
		size_t n;

		device_of(devices[i], resource, id);
		d = pod_list_find(l, resource, id, &n);
		if (!d && h->reserved[i] && owner_of(h, i)) { /* only reserved */
			char text[32];

			snprintf(text, sizeof(text), "::%s", devices[i]);
			add_held(h->f, text);
			d = pod_list_find(l, resource, id, &n);
		}
		for (size_t k = 0; d && k < n; k++) {
			struct pod_device *entry = &l->devices[d - l->devices + (ptrdiff_t)k];

			entry->reserved_ms = h->reserved[i];
			entry->start_ms = h->start[i];
		}
	}
}

static void request_kubelet_list(struct history *h)
{
	char text[64];

	pod_list_done(&h->f->held);
	h->f->held.source = POD_SOURCE_API;
	h->f->held.asked_ms = h->now;
	for (size_t i = 0; i < N_DEVICES; i++) {
		const struct real_pod *p = owner_of(h, i);

		if (!p)
			continue;
		snprintf(text, sizeof(text), "%s:c:%s", p->name, devices[i]);
		add_held(h->f, text);
	}
}

static struct sandbox *sandbox_at(const struct sandbox_list *l, const char *uid)
{
	return &l->items[sandbox_of_pod(l, uid) - l->items];
}

static void ask_runtime(struct history *h)
{
	struct sandbox_list before = h->f->sandboxes;
	char text[64];

	h->f->sandboxes = (struct sandbox_list){.known = true, .asked_ms = h->now};
	for (size_t i = 0; i < h->n_pods; i++) {
		const struct real_pod *p = &h->pods[i];

		if (p->attempt == 0 || (p->ended && draw(h, 2)))
			continue;
		snprintf(text, sizeof(text), "%s/%s/%u@0%c", p->name, p->uid, p->attempt,
			 p->ended ? '-' : '+');
		add_sandboxes(h->f, text);
		sandbox_at(&h->f->sandboxes, p->uid)->created_ns = p->created;
	}
	sandbox_list_date(&h->f->sandboxes, &before, h->now, unix_now(h));
	sandbox_list_done(&before);
}

static struct real_pod *pod_of_sandbox(struct history *h, const char *id)
{
	for (size_t i = 0; i < h->n_pods; i++) {
		size_t n = strlen(h->pods[i].uid);

		if (strncmp(id, h->pods[i].uid, n) == 0 && id[n] == '.')
			return &h->pods[i];
	}
	fail_msg("%s is no pod's sandbox", id);
	return NULL;
}

/* A device is returned only if its pod has ended, has a newer sandbox, or lost the device. */
static void return_some(struct history *h)
{
	for (size_t i = 0; i < N_DEVICES; i++) {
		struct attach_record r = {.state = ATTACH_IN_POD};
		const struct real_pod *p;
		const char *why;

		if (h->holder[i] == N_PODS)
			continue;
		p = &h->pods[h->holder[i]];
		device_of(devices[i], r.resource, r.id);
		SET_TEXT(r.owner.namespace, "ns");
		SET_TEXT(r.owner.pod, p->name);
		SET_TEXT(r.owner.uid, p->uid);
		snprintf(r.owner.sandbox, sizeof(r.owner.sandbox), "%s.%u", p->uid, h->attempt[i]);
		why = why_return(h->f, &r, 0, 0);
		if (!why)
			continue;
		if (!p->deleted && p->devices & 1u << i && p->attempt == h->attempt[i])
			fail_msg("run %u: %s is returned from %s, which holds it: %s", h->run,
				 devices[i], r.owner.sandbox, why);
		h->holder[i] = N_PODS;
	}
}

/* A desired device was allocated to the pod, which may have ended since. */
static void attach_some(struct history *h)
{
	set_times(h);
	joined(h->f);
	for (size_t i = 0; i < N_DEVICES; i++) {
		const struct desired *w = desired_of(h->f, devices[i]);
		struct real_pod *p;

		if (!w || w->err.code)
			continue;
		p = pod_of_sandbox(h, w->owner.sandbox);
		if (!(p->devices & 1u << i))
			fail_msg("run %u: %s goes to %s, which never had it", h->run, devices[i],
				 w->owner.sandbox);
		if (h->holder[i] != N_PODS)
			continue;
		h->holder[i] = (size_t)(p - h->pods);
		h->attempt[i] = (unsigned)atoi(strchr(w->owner.sandbox, '.') + 1);
	}
}

static void decide_all(struct history *h)
{
	set_times(h);
	return_some(h);
	attach_some(h);
}

/* When every container waits for its start and all lists are current, every running pod has its
 * devices in its sandbox. */
static void check_at_rest(struct history *h)
{
	for (size_t i = 0; i < h->n_pods; i++)
		h->pods[i].ended = h->pods[i].deleted;
	for (size_t i = 0; i < N_DEVICES; i++)
		h->start[i] = h->now;
	h->now += STEP_MS;
	ask_runtime(h);
	h->now += STEP_MS;
	request_kubelet_list(h);
	decide_all(h);
	decide_all(h);
	for (size_t i = 0; i < N_DEVICES; i++) {
		const struct real_pod *p = owner_of(h, i);

		if (!p || p->attempt == 0)
			continue;
		assert_int_equal(h->holder[i], p - h->pods);
		assert_int_equal(h->attempt[i], p->attempt);
	}
}

static void run_history(struct history *h)
{
	static void (*const events[])(struct history *) = {
		admit,	     make_sandbox, delete_pod, end_pods,  request_kubelet_list,
		ask_runtime, decide_all,   decide_all, set_clock, start_container,
	};

	for (unsigned i = 0; i < N_STEPS; i++) {
		h->now += STEP_MS;
		events[draw(h, ARRAY_SIZE(events))](h);
	}
	check_at_rest(h);
}

static void test_random_histories(void **state)
{
	struct history h;

	for (unsigned run = 0; run < N_RUNS; run++) {
		h = (struct history){.f = *state,
				     .run = run,
				     .seed = run,
				     .now = 1000000,
				     .clock_ms = INT64_C(1700000000000)};
		for (size_t i = 0; i < N_DEVICES; i++)
			h.holder[i] = N_PODS;
		desired_fixture_clear(h.f);
		run_history(&h);
	}
}

#define TEST(name)                                                                                 \
	cmocka_unit_test_setup_teardown(name, desired_fixture_setup, desired_fixture_teardown)

TEST_GROUP(reconcile)
{
	const struct CMUnitTest tests[] = {
		TEST(test_every_rule),
		TEST(test_a_cni_attachment_of_a_pod),
		TEST(test_other_doors_end_with_their_namespace),
		TEST(test_only_attaching_and_attached_devices_are_returned),
		TEST(test_which_devices_may_be_attached),
		TEST(test_orphans),
		TEST(test_random_histories),
	};

	return test_group_run(tests, NULL, NULL);
}
