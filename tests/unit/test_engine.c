/* The attach engine: from what is told to what is done, with steps, kubelet and runtime that do
 * what the test says. */
#include "engine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "attach_world.h"
#include "cleanup.h"
#include "loop_helpers.h"
#include "tmptree.h"

#define PLAIN	"{\"timeoutMs\": 1000}"
#define IPAM	"{\"timeoutMs\": 20000, \"ipam\": {\"type\": \"plugin\"}}"
#define REPAIR	"{\"drift\": \"repair\"}"
#define BAD_POD "[{\"resource\": \"rocelet.dev/roce\", \"vlan\": 5000}]"

/* A pod that runs, with VF i, and everybody knows. */
static uint64_t run_pod(struct world *w, unsigned i, const char *pod)
{
	uint64_t ns = world_add_sandbox(w, pod, NULL);

	world_hold(w, i, pod);
	world_show_all(w);
	world_until_state(w, i, ATTACH_IN_POD);
	world_show_devices(w);
	return ns;
}

static struct world *start(const char *network)
{
	struct world *w = world_new(network, false);

	world_until_ready(w);
	return w;
}

static void end(struct world *w)
{
	assert_true(world_is_clean(w));
	world_free(w);
}

static void end_pod(struct world *w, unsigned i, uint64_t ns)
{
	world_end_sandbox(w, ns);
	world_unhold(w, i);
	world_end_namespace(w, ns);
	world_show_all(w);
	world_until_state(w, i, ATTACH_FREE);
}

static struct world_gate ordered;

static void on_order(const struct err *err, void *arg)
{
	struct world_gate *g = arg;

	g->told++;
	g->err = *err;
}

/* --- into a pod ------------------------------------------------------------------------------- */

static void test_before_the_gate(void **state)
{
	struct world *w = start(PLAIN);
	struct world_gate g;
	uint64_t ns = run_pod(w, 1, "b");
	const struct attach_status *list;
	struct attach_counters c;

	(void)state;
	assert_int_equal(w->devices[1].ns, ns);
	assert_int_equal(attach_engine_list(w->engine, &list), 1);
	assert_string_equal(list[0].record->owner.pod, "b");
	assert_string_equal(list[0].record->plan.ifname, "net1");
	world_ask(w, &g, 1);
	assert_int_equal(g.told, 1); /* from within */
	assert_int_equal(g.err.code, 0);
	world_settle(w);
	assert_int_equal(w->n_announced, 1);
	attach_engine_counters(w->engine, &c);
	assert_int_equal(c.attached, 1);
	assert_int_equal(c.in_pod, 1);
	assert_int_equal(c.gate_questions, 1);
	assert_string_equal(w->events[0].pod, "b");
	assert_false(attach_engine_is_dirty(w->engine, world_vf(1)));
	end_pod(w, 1, ns);
	assert_int_equal(world_events(w, "Returned"), 1);
	end(w);
}

/* The question comes before anything is known. */
static void test_gate_waits(void **state)
{
	struct world *w = start(PLAIN);
	struct world_gate g;
	uint64_t ns;

	(void)state;
	ns = world_add_sandbox(w, "b", NULL);
	world_hold(w, 0, "b");
	world_ask(w, &g, 0);
	assert_int_equal(g.told, 0);
	world_until_told(w, &g);
	assert_int_equal(g.err.code, 0);
	assert_int_equal(w->devices[0].ns, ns);
	world_end_namespace(w, ns);
	end_pod(w, 0, ns);
	end(w);
}

static void test_gate_deadlines(void **state)
{
	struct world *w = world_new("{\"timeoutMs\": 1000}", false);
	struct world_gate g;

	(void)state;
	w->config.pools[0].network->timeout_ms = 30;
	world_until_ready(w);
	world_ask(w, &g, 0);
	world_until_told(w, &g);
	assert_non_null(strstr(g.err.msg, "the kubelet does not say yet which pod has"));
	assert_non_null(strstr(g.err.msg, "(waited 30 ms)"));
	world_hold(w, 0, "b");
	world_ask(w, &g, 0);
	world_until_told(w, &g);
	assert_string_equal(g.err.msg, "no sandbox of pod a/b yet (waited 30 ms)");
	w->runtime_dead = true;
	world_show_all(w);
	world_settle(w);
	world_ask(w, &g, 0);
	world_until_told(w, &g);
	assert_non_null(strstr(g.err.msg, "does not answer: connection refused (waited"));
	w->view_known = false;
	world_ask(w, &g, 0);
	assert_int_equal(g.told, 0);
	attach_gate_cancel(g.gate);
	w->view_known = true;
	end(w);
}

static void test_gate_of_others(void **state)
{
	struct world *w = start(PLAIN);
	struct world_gate g;
	const char *id = "x";

	(void)state;
	/* Not ours to attach. */
	ordered = (struct world_gate){.told = 0};
	assert_int_equal(attach_engine_gate(w->engine, &g.gate, "other/x", (struct id_list){&id, 1},
					    on_order, &ordered),
			 0);
	assert_int_equal(ordered.told, 1);
	assert_null(g.gate);
	/* The host's network is the pod's: the device is there. */
	world_add_sandbox(w, "b", NULL);
	w->runtime.items[0].host_network = true;
	world_hold(w, 2, "b");
	world_ask(w, &g, 2);
	world_until_told(w, &g);
	assert_int_equal(g.err.code, 0);
	assert_int_equal(world_state(w, 2), ATTACH_FREE);
	end(w);
}

/* A reload takes the network from the pool while a container waits. */
static void test_pool_changes(void **state)
{
	struct world *w = start(PLAIN);
	struct pool_network *network = w->config.pools[0].network;
	struct world_gate g;

	(void)state;
	world_ask(w, &g, 0);
	assert_int_equal(g.told, 0);
	w->config.pools[0].network = NULL;
	world_show_pods(w);
	world_until_told(w, &g);
	assert_int_equal(g.err.code, -ECANCELED);
	w->config.pools[0].network = network;
	world_show_pods(w);
	end(w);
}

static void test_bad_annotation(void **state)
{
	struct world *w = start(PLAIN);
	struct world_gate g;

	(void)state;
	world_add_sandbox(w, "b", BAD_POD);
	world_hold(w, 2, "b");
	world_ask(w, &g, 2);
	world_until_told(w, &g);
	assert_non_null(strstr(g.err.msg, "pod a/b: "));
	assert_non_null(strstr(g.err.msg, "5000"));
	assert_int_equal(world_state(w, 2), ATTACH_FREE);
	end(w);
}

/* Four at a time, and those first whose containers wait. */
static void test_many(void **state)
{
	struct world *w = start(PLAIN);
	struct world_gate g;
	uint64_t ns[WORLD_VFS];
	char pod[8];

	(void)state;
	w->hold = true;
	for (unsigned i = 0; i < WORLD_VFS; i++) {
		snprintf(pod, sizeof(pod), "p%u", i);
		ns[i] = world_add_sandbox(w, pod, NULL);
		world_hold(w, i, pod);
	}
	world_show_all(w);
	world_until_state(w, 7, ATTACH_ATTACHING);
	world_ask(w, &g, 7);
	world_let_go(w);
	world_until_told(w, &g);
	assert_int_equal(g.err.code, 0);
	for (unsigned i = 0; i < WORLD_VFS; i++)
		world_until_state(w, i, ATTACH_IN_POD);
	assert_in_range(w->n_inside_max, 1, 4);
	for (unsigned i = 0; i < WORLD_VFS; i++)
		end_pod(w, i, ns[i]);
	end(w);
}

/* --- failures --------------------------------------------------------------------------------- */

/* Whatever step fails is undone; the gate gets its reason; it is tried again when asked again. */
static void test_each_step_fails(void **state)
{
	struct world *w = start(PLAIN);
	struct world_gate g;

	(void)state;
	for (int step = 0; step < N_ATTACH_STEPS; step++) {
		unsigned failed = world_events(w, "AttachFailed");
		uint64_t ns;

		if (step == STEP_IPAM)
			continue;
		w->fail_in[step] = -EOPNOTSUPP;
		ns = world_add_sandbox(w, "b", NULL);
		world_hold(w, 3, "b");
		world_ask(w, &g, 3);
		world_until_told(w, &g);
		assert_int_equal(g.err.code, -EOPNOTSUPP);
		assert_non_null(strstr(g.err.msg, "somebody said so"));
		assert_non_null(strstr(g.err.msg, attach_step_name((enum attach_step)step)));
		assert_int_equal(world_events(w, "AttachFailed"), failed + 1);
		assert_true(world_is_clean(w));
		world_show_all(w);
		world_settle(w);
		assert_int_equal(world_events(w, "AttachFailed"), failed + 1);
		w->fail_in[step] = 0;
		world_ask(w, &g, 3);
		world_until_told(w, &g);
		assert_int_equal(g.err.code, 0);
		end_pod(w, 3, ns);
		w->n_events = 0;
	}
	end(w);
}

static void test_return_fails_and_heals(void **state)
{
	struct world *w = start(PLAIN);

	(void)state;
	for (int step = BACK_RDMA; step < N_RETURN_STEPS; step++) {
		uint64_t ns;

		if (step == BACK_IPAM)
			continue;
		ns = run_pod(w, 4, "b");
		w->fail_back[step] = -EBUSY;
		world_end_sandbox(w, ns);
		world_unhold(w, 4);
		world_end_namespace(w, ns);
		world_show_all(w);
		world_until_state(w, 4, ATTACH_BAD);
		assert_true(attach_engine_is_dirty(w->engine, world_vf(4)));
		world_until_state(w, 4, ATTACH_RETURNING);
		world_until_state(w, 4, ATTACH_BAD);
		assert_int_equal(world_events(w, "ReturnFailed"), 1);
		assert_non_null(strstr(attach_engine_find(w->engine, world_vf(4))->error,
				       "somebody said so"));
		w->fail_back[step] = 0;
		world_until_state(w, 4, ATTACH_FREE);
		assert_int_equal(world_events(w, "Returned"), 1);
		world_show_devices(w);
		w->n_events = 0;
	}
	end(w);
}

/* The attach's reason counts, not that of the return that fails after it. */
static void test_both_fail(void **state)
{
	struct world *w = start(PLAIN);
	struct world_gate g;
	uint64_t ns;

	(void)state;
	w->fail_in[STEP_VERIFY] = -EPROTO;
	w->fail_back[BACK_MOVE] = -EBUSY;
	ns = world_add_sandbox(w, "b", NULL);
	world_hold(w, 3, "b");
	world_ask(w, &g, 3);
	world_until_told(w, &g);
	assert_int_equal(g.err.code, -EPROTO);
	assert_int_equal(world_state(w, 3), ATTACH_BAD);
	w->fail_in[STEP_VERIFY] = w->fail_back[BACK_MOVE] = 0;
	world_ask(w, &g, 3); /* waits for its healing */
	attach_engine_fix(w->engine);
	world_until_told(w, &g);
	assert_int_equal(g.err.code, 0);
	end_pod(w, 3, ns);
	end(w);
}

static void test_unplugged(void **state)
{
	struct world *w = start(PLAIN);
	uint64_t ns = run_pod(w, 7, "b");

	(void)state;
	w->fail_back[BACK_MOVE] = -ENODEV;
	w->inventory.host.n_functions--; /* the last one */
	w->devices[7].marked = w->devices[7].dirty = false;
	w->devices[7].ns = 0;
	world_end_sandbox(w, ns);
	world_unhold(w, 7);
	world_show_pods(w);
	world_show_sandboxes(w);
	world_until_state(w, 7, ATTACH_FREE);
	assert_int_equal(world_events(w, "ReturnFailed"), 0);
	assert_int_equal(w->devices[7].record.state, ATTACH_FREE);
	world_free(w);
}

/* --- back ------------------------------------------------------------------------------------- */

static void test_each_hint_alone(void **state)
{
	struct world *w = start(PLAIN);
	uint64_t ns;

	(void)state;
	ns = run_pod(w, 0, "b");
	world_end_sandbox(w, ns);
	world_show_sandboxes(w);
	world_until_state(w, 0, ATTACH_FREE);
	assert_non_null(strstr(world_message(w, "Returned"), "sandbox is gone"));
	end_pod(w, 0, ns);

	ns = run_pod(w, 0, "b");
	world_end_namespace(w, ns);
	world_show_devices(w);
	world_until_state(w, 0, ATTACH_RETURNING);
	end_pod(w, 0, ns);

	ns = run_pod(w, 0, "b");
	world_hold(w, 0, "c"); /* it is another pod's now */
	world_show_pods(w);
	world_until_state(w, 0, ATTACH_FREE);
	assert_non_null(strstr(world_message(w, "Returned"), "another pod has it"));
	end_pod(w, 0, ns);
	end(w);
}

/* A new pod of the same name, and the runtime is late to tell. */
static void test_same_name_again(void **state)
{
	struct world *w = start(PLAIN);
	uint64_t old = run_pod(w, 0, "b"), ns;
	struct world_gate g;

	(void)state;
	world_hold(w, 0, ""); /* given away anew: nobody's yet */
	world_show_pods(w);
	world_settle(w);
	world_end_sandbox(w, old);
	ns = world_add_sandbox(w, "b", NULL);
	world_hold(w, 0, "b");
	world_ask(w, &g, 0);
	world_until_told(w, &g);
	assert_int_equal(g.err.code, 0);
	assert_int_equal(w->devices[0].ns, ns);
	end_pod(w, 0, ns);
	end(w);
}

/* It looks for itself: nobody has told that the namespace is gone, or whose the device is now. */
static void test_gate_is_careful(void **state)
{
	struct world *w = start(PLAIN);
	uint64_t old = run_pod(w, 0, "b"), ns;
	struct world_gate g;

	(void)state;
	world_settle(w);
	world_hold(w, 0, "");
	world_show_pods(w);
	world_settle(w);
	world_hold(w, 0, "b");
	world_show_pods(w);
	world_settle(w);
	world_ask(w, &g, 0);
	assert_int_equal(g.told, 0);
	world_until_told(w, &g);
	assert_int_equal(g.err.code, 0);

	world_end_namespace(w, old);
	world_end_sandbox(w, old);
	ns = world_add_sandbox(w, "b", NULL);
	world_ask(w, &g, 0);
	assert_int_equal(g.told, 0);
	world_until_told(w, &g);
	assert_int_equal(g.err.code, 0);
	assert_int_equal(w->devices[0].ns, ns);
	end_pod(w, 0, ns);
	end(w);
}

/* Its pod ends while it is attached: at its next step it turns back. */
static void test_turns_back(void **state)
{
	struct world *w = start(PLAIN);
	uint64_t ns = world_add_sandbox(w, "b", NULL);

	(void)state;
	w->hold = true;
	world_hold(w, 0, "b");
	world_show_all(w);
	world_until_state(w, 0, ATTACH_ATTACHING);
	world_end_sandbox(w, ns);
	world_show_all(w);
	world_settle(w);
	world_let_go(w);
	world_until_state(w, 0, ATTACH_FREE);
	assert_int_equal(world_events(w, "Attached"), 0);
	end(w);
}

/* --- IPAM ------------------------------------------------------------------------------------- */

static void plugin(const struct world *w, const char *script)
{
	char path[256];

	tmptree_write(w->dir, "plugin", "#!/bin/sh\n%s\n", script);
	snprintf(path, sizeof(path), "%s/plugin", w->dir);
	assert_int_equal(chmod(path, 0755), 0);
}

static void test_ipam(void **state)
{
	struct world *w = start(IPAM);
	struct world_gate g;
	uint64_t ns;

	(void)state;
	plugin(w, "echo $CNI_COMMAND >> ${CNI_PATH}/log\n"
		  "test $CNI_COMMAND = DEL || echo '{\"ips\": [{\"address\": \"10.0.0.5/8\"}]}'");
	ns = run_pod(w, 0, "b");
	assert_int_equal(w->devices[0].record.n_ips, 1);
	end_pod(w, 0, ns);
	assert_int_equal(world_events(w, "AddressLeak"), 0);

	/* Its address cannot be given back: the device comes all the same. */
	plugin(w, "test $CNI_COMMAND = DEL && exit 7\n"
		  "echo '{\"ips\": [{\"address\": \"10.0.0.5/8\"}]}'");
	ns = run_pod(w, 0, "b");
	end_pod(w, 0, ns);
	assert_int_equal(world_events(w, "AddressLeak"), 1);
	assert_non_null(strstr(world_message(w, "AddressLeak"), "exit status 7"));

	plugin(w, "echo '{\"msg\": \"range is full\", \"code\": 100}'; exit 1");
	ns = world_add_sandbox(w, "b", NULL);
	world_hold(w, 0, "b");
	world_ask(w, &g, 0);
	world_until_told(w, &g);
	assert_non_null(strstr(g.err.msg, "range is full"));
	end_pod(w, 0, ns);

	tmptree_remove(w->dir, "plugin");
	ns = world_add_sandbox(w, "b", NULL);
	world_hold(w, 0, "b");
	world_ask(w, &g, 0);
	world_until_told(w, &g);
	assert_non_null(strstr(g.err.msg, "no IPAM plugin"));
	end_pod(w, 0, ns);
	end(w);
}

static void test_close_during_ipam(void **state)
{
	struct world *w = start(IPAM);
	struct world_gate g;

	(void)state;
	plugin(w, "touch ${CNI_PATH}/begun; sleep 1000");
	world_add_sandbox(w, "b", NULL);
	world_hold(w, 0, "b");
	world_ask(w, &g, 0);
	world_until_state(w, 0, ATTACH_ATTACHING);
	world_settle(w);
	world_close(w);
	assert_int_equal(g.told, 1);
	assert_string_equal(g.err.msg, "rocelet is stopping");
	world_free(w);
}

/* --- start ------------------------------------------------------------------------------------ */

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
	struct world *w = start(PLAIN);
	uint64_t ns = world_add_sandbox(w, "b", NULL);
	struct world_gate g;

	(void)state;
	world_close(w);
	leave(w, 0, ATTACH_ATTACHING, ns);
	leave(w, 1, ATTACH_IN_POD, ns);
	leave(w, 2, ATTACH_RETURNING, ns);
	leave(w, 3, ATTACH_BAD, ns);
	w->devices[4].bad = true;
	w->devices[5].bad = true;
	w->devices[5].marked = true;
	w->devices[5].ns = ns;
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
	end_pod(w, 1, ns);
	end(w);
}

/* The journal is lost, the pod runs on: what mark, kubelet and runtime tell is enough. */
static void test_journal_lost(void **state)
{
	struct world *w = start(PLAIN);
	uint64_t ns = run_pod(w, 1, "b"), other = run_pod(w, 2, "c");
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
	end_pod(w, 1, ns);
	end_pod(w, 2, other);
	end(w);
}

/* As long as nobody says who has it, it stays where it is. */
static void test_journal_lost_without_runtime(void **state)
{
	struct world *w = start(PLAIN);
	uint64_t ns = run_pod(w, 1, "b");

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
	end_pod(w, 1, ns);
	end(w);
}

/* Whoever may set an alias sets ours. */
static void test_forged_mark(void **state)
{
	struct world *w = start(PLAIN);
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
	end(w);
}

/* Without a runtime nothing is taken from anybody. */
static void test_start_without_runtime(void **state)
{
	struct world *w = start(PLAIN);
	uint64_t ns = run_pod(w, 1, "b");

	(void)state;
	world_close(w);
	w->runtime_dead = true;
	world_open(w, false);
	world_show_all(w);
	world_until_ready(w);
	assert_int_equal(world_state(w, 1), ATTACH_IN_POD);
	w->runtime_dead = false;
	end_pod(w, 1, ns);
	end(w);
}

static void test_no_journal(void **state)
{
	struct world *w = world_new(PLAIN, false);
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
	end(w);
}

/* --- the rest --------------------------------------------------------------------------------- */

static void test_drift(void **state)
{
	struct world *w = start(REPAIR);
	uint64_t ns = run_pod(w, 1, "b");

	(void)state;
	world_settle(w);
	w->drift = VF_MAC | ATTACH_DRIFT_MTU;
	for (size_t i = 0; i < w->inventory.host.n_netdevs; i++)
		if (strcmp(w->inventory.host.netdevs[i].function, world_vf(1)) == 0)
			w->inventory.host.netdevs[i].mtu = 9000;
	attach_engine_look(w->engine);
	world_until_events(w, "Repaired", 1);
	assert_non_null(strstr(world_message(w, "Drift"), "mac"));
	assert_int_equal(w->n_checks, w->n_repairs);
	end_pod(w, 1, ns);
	end(w);
}

static void test_dry_run(void **state)
{
	struct world *w = world_new(PLAIN, true);

	(void)state;
	world_until_ready(w);
	world_add_sandbox(w, "b", NULL);
	world_hold(w, 0, "b");
	world_show_all(w);
	world_settle(w);
	assert_int_equal(w->n_inside_max, 0);
	assert_int_equal(world_state(w, 0), ATTACH_FREE);
	end(w);
}

static void test_dry_run_returns_nothing(void **state)
{
	struct world *w = start(PLAIN);
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

static int order(struct world *w, unsigned i, uint64_t ns, struct err *e)
{
	struct attach_owner owner = {.door = DOOR_ADMIN};
	struct net_plan plan = {.ifname = "net1"};

	snprintf(owner.netns.path, sizeof(owner.netns.path), "/ns/%u", (unsigned)ns);
	ordered = (struct world_gate){.told = 0};
	return attach_engine_attach(w->engine, world_vf(i), &owner, &plan, on_order, &ordered, e);
}

static int take_back(struct world *w, unsigned i, bool force, struct err *e)
{
	ordered = (struct world_gate){.told = 0};
	return attach_engine_detach(w->engine, world_vf(i), force, on_order, &ordered, e);
}

static void test_orders(void **state)
{
	struct world *w = start(PLAIN);
	uint64_t ns = world_add_sandbox(w, "x", NULL), other;
	struct err e;

	(void)state;
	assert_int_equal(order(w, 2, ns, &e), 0);
	assert_int_equal(ordered.told, 0);
	world_until_told(w, &ordered);
	assert_int_equal(ordered.err.code, 0);
	assert_int_equal(w->devices[2].ns, ns);
	assert_true(attach_engine_is_dirty(w->engine, world_vf(2)));
	assert_int_equal(order(w, 2, ns, &e), -EBUSY);
	assert_int_equal(take_back(w, 3, false, &e), -ENOENT);
	assert_int_equal(take_back(w, 2, false, &e), 0);
	world_until_told(w, &ordered);
	assert_int_equal(ordered.err.code, 0);
	assert_true(world_is_clean(w));

	w->fail_in[STEP_MOVE] = -EPERM;
	assert_int_equal(order(w, 2, ns, &e), 0);
	world_until_told(w, &ordered);
	assert_int_equal(ordered.err.code, -EPERM);
	w->fail_in[STEP_MOVE] = 0;

	/* A pod's is taken only by force, and not brought back until its container asks. */
	world_show_devices(w);
	other = run_pod(w, 2, "b");
	assert_int_equal(order(w, 2, ns, &e), -EBUSY);
	assert_int_equal(take_back(w, 2, false, &e), -EBUSY);
	assert_int_equal(take_back(w, 2, true, &e), 0);
	world_until_told(w, &ordered);
	assert_int_equal(ordered.err.code, 0);
	world_settle(w);
	assert_int_equal(world_state(w, 2), ATTACH_FREE);
	assert_int_equal(order(w, 2, ns, &e), -EBUSY); /* it is still given away */
	end_pod(w, 2, other);
	world_end_namespace(w, ns);
	end(w);
}

/* What the node, or somebody else, needs is not given away. */
static void test_orders_of_used_functions(void **state)
{
	struct world *w = start(PLAIN);
	uint64_t ns = world_add_sandbox(w, "x", NULL);
	struct attach_owner owner = {.door = DOOR_ADMIN, .netns = {.path = "/ns/1"}};
	struct net_plan plan = {.ifname = "net1"};
	struct netdev *nd = NULL;
	struct err e;

	(void)state;
	assert_int_equal(attach_engine_attach(w->engine, "0000:03:00.0", &owner, &plan, on_order,
					      &ordered, &e),
			 -EBUSY);
	assert_string_equal(e.msg, "0000:03:00.0 has VFs");
	for (size_t i = 0; i < w->inventory.host.n_netdevs; i++)
		if (strcmp(w->inventory.host.netdevs[i].function, world_vf(2)) == 0)
			nd = &w->inventory.host.netdevs[i];
	assert_non_null(nd);
	nd->default_route = true;
	assert_int_equal(order(w, 2, ns, &e), -EBUSY);
	assert_non_null(strstr(e.msg, "carries the default route (v2)"));
	nd->default_route = false;
	w->runtime_dead = true;
	world_show_all(w);
	world_settle(w);
	w->devices[2].marked = true; /* and nobody knows how it came there */
	w->devices[2].ns = ns;
	world_hold(w, 2, "x");
	world_show_all(w);
	world_until_state(w, 2, ATTACH_BAD);
	assert_int_equal(take_back(w, 2, true, &e), -EAGAIN);
	w->runtime_dead = false;
	world_end_sandbox(w, ns);
	world_unhold(w, 2);
	world_show_all(w);
	world_until_state(w, 2, ATTACH_FREE);
	end(w);
}

/* It comes during the last visit to a worker, when nothing is left to turn back at. */
static void test_order_during_attach(void **state)
{
	struct world *w = start(IPAM);
	struct err e;

	(void)state;
	plugin(w, "test $CNI_COMMAND = DEL && exit 0\n"
		  "while test ! -e ${CNI_PATH}/go; do sleep 0.01; done\n"
		  "echo '{\"ips\": [{\"address\": \"10.0.0.5/8\"}]}'");
	world_add_sandbox(w, "b", NULL);
	world_hold(w, 0, "b");
	world_show_all(w);
	world_until_state(w, 0, ATTACH_ATTACHING);
	while (strcmp(attach_engine_find(w->engine, world_vf(0))->step, "ipam") != 0)
		loop_wakeups(&w->loop, 1);
	w->hold = true;
	tmptree_write(w->dir, "go", "%s", "");
	while (strcmp(attach_engine_find(w->engine, world_vf(0))->step, "ipam") == 0)
		loop_wakeups(&w->loop, 1);
	assert_int_equal(take_back(w, 0, true, &e), 0);
	world_let_go(w);
	world_until_told(w, &ordered);
	assert_int_equal(ordered.err.code, 0);
	assert_int_equal(world_state(w, 0), ATTACH_FREE);
	end(w);
}

/* The pod lives, and has put the device into another namespace. */
static void test_astray(void **state)
{
	struct world *w = start(PLAIN);
	uint64_t ns = run_pod(w, 1, "b");
	struct world_gate g;

	(void)state;
	world_settle(w);
	w->fail_check = -ENODEV;
	attach_engine_fix(w->engine);
	world_until_events(w, "Drift", 1);
	assert_int_equal(attach_engine_find(w->engine, world_vf(1))->drift, ATTACH_DRIFT_NAME);
	world_ask(w, &g, 1);
	assert_int_equal(g.told, 0);
	w->fail_check = 0; /* it is back */
	attach_engine_fix(w->engine);
	world_until_told(w, &g);
	assert_int_equal(g.err.code, 0);
	end_pod(w, 1, ns);
	end(w);
}

static void test_close_with_everything(void **state)
{
	struct world *w = start(PLAIN);
	struct world_gate g[WORLD_VFS];
	struct err e;
	char pod[8];

	(void)state;
	w->hold = true;
	assert_int_equal(order(w, 0, world_add_sandbox(w, "x", NULL), &e), 0);
	for (unsigned i = 1; i < WORLD_VFS; i++) {
		snprintf(pod, sizeof(pod), "p%u", i);
		world_add_sandbox(w, pod, NULL);
		world_hold(w, i, pod);
		world_ask(w, &g[i], i);
	}
	world_until_state(w, 5, ATTACH_ATTACHING);
	world_close(w);
	assert_int_equal(ordered.told, 1);
	assert_int_equal(ordered.err.code, -ECANCELED);
	for (unsigned i = 1; i < WORLD_VFS; i++) {
		assert_int_equal(g[i].told, 1);
		assert_int_equal(g[i].err.code, -ECANCELED);
	}
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_before_the_gate),
		cmocka_unit_test(test_gate_waits),
		cmocka_unit_test(test_gate_deadlines),
		cmocka_unit_test(test_gate_of_others),
		cmocka_unit_test(test_pool_changes),
		cmocka_unit_test(test_bad_annotation),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_each_step_fails),
		cmocka_unit_test(test_return_fails_and_heals),
		cmocka_unit_test(test_both_fail),
		cmocka_unit_test(test_unplugged),
		cmocka_unit_test(test_each_hint_alone),
		cmocka_unit_test(test_same_name_again),
		cmocka_unit_test(test_gate_is_careful),
		cmocka_unit_test(test_turns_back),
		cmocka_unit_test(test_ipam),
		cmocka_unit_test(test_close_during_ipam),
		cmocka_unit_test(test_journal_of_every_state),
		cmocka_unit_test(test_journal_lost),
		cmocka_unit_test(test_journal_lost_without_runtime),
		cmocka_unit_test(test_forged_mark),
		cmocka_unit_test(test_start_without_runtime),
		cmocka_unit_test(test_no_journal),
		cmocka_unit_test(test_drift),
		cmocka_unit_test(test_dry_run),
		cmocka_unit_test(test_dry_run_returns_nothing),
		cmocka_unit_test(test_orders),
		cmocka_unit_test(test_orders_of_used_functions),
		cmocka_unit_test(test_order_during_attach),
		cmocka_unit_test(test_astray),
		cmocka_unit_test(test_close_with_everything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
