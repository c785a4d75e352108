// SPDX-License-Identifier: Apache-2.0
/* What is to be done with each attachment: every rule, and random histories against an oracle that
 * knows what really is the case. */
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
	GONE = 1,	   /* the namespace */
	HOST = 2,	   /* in the host's namespace */
	INTERRUPTED = 4,   /* by our death */
	DEAF = 8,	   /* the runtime does not answer */
	UNKNOWN_HELD = 16, /* the kubelet never answered */
	THERE = 32,	   /* the namespace is where it was */
	USED = 64,	   /* a process is in the namespace */
	HIDDEN = 128,	   /* whether one is cannot be seen */
	STAYS = 256	   /* the pod has the host's network */
};

/* The attachment is roce:1 of ns/t's u1.0. */
static const struct {
	const char *what, *held, *sandboxes;
	unsigned facts;
	uint64_t unheld_ms;
	const char *why; /* NULL = it is kept */
} rules[] = {
	{"all is well", "t:c:roce:1@100", "t/u1/0@150+", 0, 0, NULL},
	{"several containers", "t:a:roce:1 t:b:roce:1", "t/u1/0@150+", 0, 0, NULL},
	{"by uid", "#u1:c:roce:1", "t/u1/0@150+", 0, 0, NULL},
	{"times not known", "t:c:roce:1", "t/u1/0@0+", 0, 0, NULL},
	/* the namespace */
	{"namespace gone", "t:c:roce:1", "t/u1/0@150+", GONE, 0, "its namespace was removed"},
	{"namespace gone, nobody answers", "", "", GONE | DEAF | UNKNOWN_HELD, 0,
	 "its namespace was removed"},
	{"taken out", "t:c:roce:1", "t/u1/0@150+", HOST | THERE, 0, "it was moved out of its pod"},
	{"taken out, nobody answers", "", "", HOST | THERE | DEAF | UNKNOWN_HELD, 0,
	 "it was moved out of its pod"},
	{"returned by the kernel", "t:c:roce:1", "t/u1/0@150+", HOST, 0,
	 "its netdev is in the host again"},
	{"interrupted", "t:c:roce:1", "t/u1/0@150+", INTERRUPTED, 0,
	 "rocelet was stopped during the operation"},
	/* the sandbox */
	{"sandbox gone", "", "", 0, 0, "its sandbox was removed"},
	{"sandbox gone, given to another pod", "s:c:roce:1", "", 0, 0, "its sandbox was removed"},
	{"sandbox gone, given to another pod of that name", "t:c:roce:1", "t/u2/0@350+", 0, 0,
	 "its sandbox was removed"},
	{"sandbox gone, the kubelet does not answer", "", "", UNKNOWN_HELD, 0,
	 "its sandbox was removed"},
	{"sandbox has ended", "t:c:roce:1", "t/u1/0@150-", 0, 0, "its sandbox has ended"},
	/* what contradicts the runtime's list */
	{"not in the list, the kubelet names the pod", "t:c:roce:1", "", 0, 3600000, NULL},
	{"others are in the list, the kubelet names the pod", "t:c:roce:1", "s/u2/0@150+", 0,
	 3600000, NULL},
	{"not in the list, the kubelet names it by uid", "#u1:c:roce:1", "t/u2/0@350+", 0, 3600000,
	 NULL},
	{"not in the list, a process runs", "", "", USED, RECONCILE_USED_MS - 1, NULL},
	{"not in the list for long, a process runs", "", "", USED, RECONCILE_USED_MS,
	 "its sandbox was removed"},
	{"not in the list, a process runs, the kubelet names the pod", "t:c:roce:1", "", USED,
	 3600000, NULL},
	{"not in the list for long, a process runs, another pod's", "s:c:roce:1", "", USED,
	 RECONCILE_USED_MS, "its sandbox was removed"},
	{"not in the list, a process runs, the kubelet does not answer", "", "",
	 USED | UNKNOWN_HELD, 3600000, NULL},
	{"not ready, a process runs", "", "t/u1/0@150-", USED, RECONCILE_USED_MS - 1, NULL},
	{"not ready for long, a process runs", "", "t/u1/0@150-", USED, RECONCILE_USED_MS,
	 "its sandbox has ended"},
	{"not in the list, a process runs, namespace gone", "t:c:roce:1", "", USED | GONE, 0,
	 "its namespace was removed"},
	{"not in the list, a process runs, another sandbox of it does", "t:c:roce:1", "t/u1/1@200+",
	 USED, 0, "its pod has a newer sandbox"},
	{"not in the list, processes cannot be seen", "", "", HIDDEN, RECONCILE_UNHELD_MS - 1,
	 NULL},
	{"not in the list for long, processes cannot be seen", "", "", HIDDEN, RECONCILE_UNHELD_MS,
	 "its sandbox was removed"},
	{"not ready, processes cannot be seen, the kubelet names the pod", "t:c:roce:1",
	 "t/u1/0@150-", HIDDEN, 3600000, NULL},
	{"nothing but the runtime's list is known", "", "", HIDDEN | UNKNOWN_HELD, 3600000, NULL},
	{"stays in the host, not in the list, the kubelet does not answer", "", "",
	 STAYS | UNKNOWN_HELD, 3600000, NULL},
	{"stays in the host, not in the list", "", "", STAYS, RECONCILE_UNHELD_MS - 1, NULL},
	{"stays in the host, not in the list for long", "", "", STAYS, RECONCILE_UNHELD_MS,
	 "its sandbox was removed"},
	{"stays in the host, sandbox has ended", "t:c:roce:1", "t/u1/0@150-", STAYS, 0,
	 "its sandbox has ended"},
	{"made again", "t:c:roce:1@100", "t/u1/0@150+ t/u1/1@200+", 0, 0,
	 "its pod has a newer sandbox"},
	{"made again, the kubelet does not answer", "", "t/u1/0@150+ t/u1/1@200+", UNKNOWN_HELD, 0,
	 "its pod has a newer sandbox"},
	{"the newer one has ended", "t:c:roce:1@100", "t/u1/0@150+ t/u1/1@200-", 0, 0, NULL},
	{"the runtime does not answer", "t:c:roce:1", "", DEAF, 0, NULL},
	{"an old list says it has ended", "t:c:roce:1", "t/u1/0@150-", DEAF, 0, NULL},
	/* a pod of the same name */
	{"another uid", "t:c:roce:1@100", "t/u1/0@150+ t/u2/0@350+", 0, 0, NULL},
	{"another uid, times not known", "t:c:roce:1", "t/u1/0@150+ t/u2/0@350+", 0, 0, NULL},
	{"given to it, a container may end slowly", "t:c:roce:1@300", "t/u1/0@150+ t/u2/0@350+", 0,
	 0, NULL},
	{"given to it, its sandbox is to come", "t:c:roce:1@300", "t/u1/0@150+", 0, 0, NULL},
	{"given to it, all have ended", "t:c:roce:1@300", "t/u1/0@150- t/u2/0@350+", 0, 0,
	 "its sandbox has ended"},
	{"another uid, by uid", "#u2:c:roce:1", "t/u1/0@150+ t/u2/0@350+", 0, 0, NULL},
	{"another uid, by uid, the runtime does not answer", "#u2:c:roce:1", "", DEAF,
	 RECONCILE_UNHELD_MS, "another pod has it"},
	/* the kubelet's list */
	{"only reserved, before", "::roce:1@100", "t/u1/0@150+", 0, 0, NULL},
	{"only reserved, since", "::roce:1@300", "t/u1/0@150+", 0, 0, NULL},
	{"only reserved, time not known", "::roce:1", "t/u1/0@150+", 0, 0, NULL},
	{"another pod's, but a container may end slowly", "s:c:roce:1", "t/u1/0@150+", 0, 0, NULL},
	{"another pod's, the runtime does not answer yet", "s:c:roce:1", "", DEAF,
	 RECONCILE_UNHELD_MS - 1, NULL},
	{"another pod's, the runtime does not answer", "s:c:roce:1", "", DEAF, RECONCILE_UNHELD_MS,
	 "another pod has it"},
	{"another namespace's pod of that name is another", "#u9:c:roce:1", "", DEAF,
	 RECONCILE_UNHELD_MS, "another pod has it"},
	{"two pods'", "s:c:roce:1 t:c:roce:1", "t/u1/0@150+", 0, 0, NULL},
	{"nobody's", "t:c:roce:2", "t/u1/0@150+", 0, 3600000, NULL},
	{"nobody's, the runtime does not answer", "", "t/u1/0@150+", DEAF, RECONCILE_UNHELD_MS - 1,
	 NULL},
	{"nobody's for long, the runtime does not answer", "", "t/u1/0@150+", DEAF,
	 RECONCILE_UNHELD_MS, "no pod has it"},
	{"nobody knows anything", "", "", DEAF | UNKNOWN_HELD, 3600000, NULL},
};

static const char *why_return(struct desired_fixture *f, struct attach_record *r, unsigned facts,
			      uint64_t unheld_ms)
{
	const struct attach_fact fact = {.record = r,
					 .netns_gone = facts & GONE,
					 .in_host = facts & HOST,
					 .netns_there = facts & THERE,
					 .interrupted = facts & INTERRUPTED,
					 .unheld_ms = unheld_ms,
					 .missed_ms = unheld_ms,
					 .use = facts & USED	 ? NETNS_IN_USE
						: facts & HIDDEN ? NETNS_USE_UNKNOWN
								 : NETNS_EMPTY};

	r->plan.in_host = facts & STAYS;
	f->sandboxes.known = !(facts & DEAF);
	if (facts & UNKNOWN_HELD)
		f->held.source = POD_SOURCE_NONE;
	return reconcile_attachment(
		&fact, &(struct reconcile_input){.held = &f->held, .sandboxes = &f->sandboxes});
}

static void test_every_rule(void **state)
{
	struct desired_fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		const char *wanted = rules[i].why ? rules[i].why : "", *why;

		desired_fixture_clear(f);
		add_held(f, rules[i].held);
		add_sandboxes(f, rules[i].sandboxes);
		why = why_return(f, add_record(f, "roce:1", "t", "u1.0"), rules[i].facts,
				 rules[i].unheld_ms);
		why = why ? why : "";
		if (strcmp(why, wanted) != 0)
			fail_msg("%s: '%s' instead of '%s'", rules[i].what, why, wanted);
	}
}

/* Of a pod whose sandbox the runtime does not list; granted: by the kubelet. */
static void test_a_cni_attachment_of_a_pod(void **state)
{
	static const struct {
		const char *what, *held;
		bool granted;
		unsigned facts;
		uint64_t missed_ms;
		bool returned;
	} rows[] = {
		{"nothing runs in it", "", false, 0, RECONCILE_MADE_MS, true},
		{"it is being made", "", false, 0, RECONCILE_MADE_MS - 1, false},
		{"its containers run, the list is another runtime's", "", false, USED, 3600000,
		 false},
		{"the same, and the kubelet names the pod", "t:c:roce:1", true, USED, 3600000,
		 false},
		{"the same, its namespace cannot be seen", "t:c:roce:1", true, HIDDEN, 3600000,
		 false},
		{"not granted, its namespace cannot be seen", "", false, HIDDEN, 3600000, false},
		{"the kubelet does not name it any more", "s:c:roce:1", true, USED,
		 RECONCILE_MADE_MS, true},
		{"that is not known", "", true, USED | UNKNOWN_HELD, 3600000, false},
		{"the runtime does not answer", "s:c:roce:1", true, USED | DEAF, 3600000, false},
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
		assert_non_null(why_return(f, r, GONE, 0));
		assert_non_null(why_return(f, r, INTERRUPTED, 0));
	}
}

static void test_only_what_is_on_its_way_there_or_there(void **state)
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
		assert_int_equal(why_return(f, r, GONE, 0) != NULL, returned[i].gone);
		assert_int_equal(why_return(f, r, HOST, 0) != NULL, returned[i].host);
		assert_int_equal(why_return(f, r, INTERRUPTED, 0) != NULL, returned[i].interrupted);
	}
}

static void test_what_may_be_attached(void **state)
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

static void test_what_is_an_orphan(void **state)
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

/* What really is: pods come, are made again, get new sandboxes, are deleted and end; kubelet and
 * runtime are asked now and then, so that what they told is old; ours decides at any time. */
#define N_DEVICES 6 /* roce:1, roce:2, fast:3, slot:0 .. slot:2 */
#define N_PODS	  48
#define N_STEPS	  400
#define N_RUNS	  300

struct real_pod {
	char name[8], uid[8];
	bool deleted;	  /* by force: the kubelet has forgotten it, its sandbox may still stand */
	bool ended;	  /* its sandbox */
	unsigned attempt; /* of its sandbox, from 1; 0 = it has none */
	int64_t created;  /* unix time, as the clock was then */
	unsigned devices; /* bits */
};

/* The clock is set by hours, a history takes minutes. */
#define HOUR_MS INT64_C(3600000)
#define STEP_MS 300

struct history {
	struct desired_fixture *f;
	unsigned run, seed;
	uint64_t now;	  /* loop time */
	int64_t clock_ms; /* what the wall clock is ahead of it */
	struct real_pod pods[N_PODS];
	size_t n_pods;
	/* Of Allocate, and since when a container waits to be started, as the reservations note it.
	 */
	uint64_t reserved[N_DEVICES], start[N_DEVICES];
	size_t holder[N_DEVICES];    /* of the records: pod, N_PODS = it is free */
	unsigned attempt[N_DEVICES]; /* of the sandbox that it is in */
};

static const char *const devices[N_DEVICES] = {"roce:1", "roce:2", "fast:3",
					       "slot:0", "slot:1", "slot:2"};

static unsigned draw(struct history *h, unsigned n)
{
	h->seed = h->seed * 1103515245 + 12345;
	return (h->seed >> 16) % n;
}

/* The kubelet's own book: a device is one pod's. */
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

/* Allocate: ours notes when. Names are few, so that pods of one name follow each other; there is
 * one of a name at a time. */
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

/* A sandbox comes after every Allocate of its pod; the one before is not ready any more. */
static void make_sandbox(struct history *h)
{
	struct real_pod *p = h->n_pods ? &h->pods[draw(h, (unsigned)h->n_pods)] : NULL;

	if (!p || p->deleted)
		return;
	p->attempt++;
	p->created = unix_now(h);
}

/* Deleted meanwhile, its kubelet still waits. */
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

/* Their times are of now, whatever the list is like. */
static void note_times(struct history *h)
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

static void ask_kubelet(struct history *h)
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
	fail_msg("%s is nobody's sandbox", id);
	return NULL;
}

/* What is in a pod is only taken from one that has ended, has another sandbox, or has lost it. */
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
			fail_msg("run %u: %s is taken from %s, which has it: %s", h->run,
				 devices[i], r.owner.sandbox, why);
		h->holder[i] = N_PODS;
	}
}

/* What is wanted belongs to the pod: it was given to it, also when it has ended since. */
static void attach_some(struct history *h)
{
	note_times(h);
	joined(h->f);
	for (size_t i = 0; i < N_DEVICES; i++) {
		const struct desired *w = wanted_of(h->f, devices[i]);
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
	note_times(h);
	return_some(h);
	attach_some(h);
}

/* When everybody waits to be started and everybody has been asked, every living pod has what it was
 * given, in its sandbox. */
static void check_at_rest(struct history *h)
{
	for (size_t i = 0; i < h->n_pods; i++)
		h->pods[i].ended = h->pods[i].deleted;
	for (size_t i = 0; i < N_DEVICES; i++)
		h->start[i] = h->now;
	h->now += STEP_MS;
	ask_runtime(h);
	h->now += STEP_MS;
	ask_kubelet(h);
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

static void live(struct history *h)
{
	static void (*const events[])(struct history *) = {
		admit,	     make_sandbox, delete_pod, end_pods,  ask_kubelet,
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
		live(&h);
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
		TEST(test_only_what_is_on_its_way_there_or_there),
		TEST(test_what_may_be_attached),
		TEST(test_what_is_an_orphan),
		TEST(test_random_histories),
	};

	return test_group_run(tests, NULL, NULL);
}
