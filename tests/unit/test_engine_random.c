/* The attach engine in random histories: pods come and go, hints are lost, steps fail, the engine
 * is restarted. Never has a device two owners (the steps see to that), every question is answered
 * once and truly, and at the end everything is free and clean. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "attach_world.h"
#include "cleanup.h"
#include "loop_helpers.h"

#define HISTORIES  20
#define TURNS	   400
#define NAMESPACES 200
#define GATES	   TURNS
#define LIMIT_MS   60000

/* What each VF's pod is up to. */
struct life {
	bool reserved, held, sandboxed;
	uint64_t ns;
	char pod[16];
};

struct history {
	struct world *w;
	uint64_t seed;
	struct life lives[WORLD_VFS];
	struct asked {
		struct world_gate gate;
		unsigned vf;
		bool cancelled;
	} gates[GATES];
	size_t n_gates;
	bool closing;
};

static struct history h;

static unsigned pick(unsigned n)
{
	h.seed ^= h.seed << 13;
	h.seed ^= h.seed >> 7;
	h.seed ^= h.seed << 17;
	return (unsigned)(h.seed % n);
}

/* --- what happens ----------------------------------------------------------------------------- */

static void begin(unsigned i, struct life *l)
{
	if (l->held)
		return;
	*l = (struct life){.reserved = true, .held = true};
	snprintf(l->pod, sizeof(l->pod), "p%u", pick(2) ? i : 10 + i);
	world_hold(h.w, i, "");
}

static void go_on(unsigned i, struct life *l)
{
	if (!l->held)
		return;
	if (l->reserved && pick(2)) {
		l->reserved = false;
		world_hold(h.w, i, l->pod);
	} else if (!l->sandboxed && h.w->n_namespaces < NAMESPACES) {
		l->sandboxed = true;
		l->ns = world_add_sandbox(h.w, l->pod, NULL);
	}
}

static void end_life(unsigned i, struct life *l)
{
	unsigned what = pick(3);

	if (l->sandboxed && what == 0)
		world_end_sandbox(h.w, l->ns);
	else if (l->sandboxed && what == 1)
		world_end_namespace(h.w, l->ns);
	if (pick(2))
		return;
	if (l->sandboxed) {
		world_end_sandbox(h.w, l->ns);
		world_end_namespace(h.w, l->ns);
	}
	world_unhold(h.w, i);
	*l = (struct life){.held = false};
}

/* Told that the device is there, it is: in the pod that has it, unless that has ended meanwhile. */
static void on_answer(const struct err *err, void *arg)
{
	struct asked *a = arg;
	const struct life *l = &h.lives[a->vf];
	const struct world_device *d = &h.w->devices[a->vf];

	a->gate.told++;
	a->gate.err = *err;
	a->gate.gate = NULL;
	if (err->code == 0 && l->held && !l->reserved && l->sandboxed && h.w->alive[l->ns] &&
	    d->ns != l->ns)
		fail_msg("VF %u is in namespace %u, not in %u", a->vf, (unsigned)d->ns,
			 (unsigned)l->ns);
}

static void ask(unsigned i)
{
	struct asked *a = &h.gates[h.n_gates];
	const char *id = world_vf(i);

	if (h.n_gates == GATES)
		return;
	h.n_gates++;
	*a = (struct asked){.vf = i};
	assert_int_equal(attach_engine_gate(h.w->engine, &a->gate.gate, WORLD_ROCE,
					    (struct id_list){&id, 1}, on_answer, a),
			 0);
}

static void cancel_one(void)
{
	struct asked *a = h.n_gates ? &h.gates[pick((unsigned)h.n_gates)] : NULL;

	if (!a || !a->gate.gate)
		return;
	attach_gate_cancel(a->gate.gate);
	a->gate.gate = NULL;
	a->cancelled = true;
}

static void break_something(void)
{
	int in = (int)pick(N_ATTACH_STEPS), back = (int)pick(N_RETURN_STEPS);

	pthread_mutex_lock(&h.w->lock);
	h.w->fail_in[in] = h.w->fail_in[in] ? 0 : -EIO;
	if (back != BACK_RECORD && pick(2))
		h.w->fail_back[back] = h.w->fail_back[back] ? 0 : -EBUSY;
	h.w->hold = pick(3) == 0;
	pthread_mutex_unlock(&h.w->lock);
	if (!h.w->hold)
		world_let_go(h.w);
}

static void heal(void)
{
	pthread_mutex_lock(&h.w->lock);
	memset(h.w->fail_in, 0, sizeof(h.w->fail_in));
	memset(h.w->fail_back, 0, sizeof(h.w->fail_back));
	pthread_mutex_unlock(&h.w->lock);
	world_let_go(h.w);
}

static void on_order(const struct err *err, void *arg)
{
	(void)err;
	++*(unsigned *)arg;
}

static void order(unsigned i)
{
	static unsigned told;
	struct err e;

	attach_engine_detach(h.w->engine, world_vf(i), pick(2), on_order, &told, &e);
}

static void restart(void)
{
	world_close(h.w);
	world_open(h.w, false);
}

static void turn(void)
{
	unsigned i = pick(WORLD_VFS);

	switch (pick(32)) {
	case 0 ... 4:
		begin(i, &h.lives[i]);
		break;
	case 5 ... 14:
		go_on(i, &h.lives[i]);
		break;
	case 15 ... 17:
		end_life(i, &h.lives[i]);
		break;
	case 18 ... 22:
		ask(i);
		break;
	case 23:
		cancel_one();
		break;
	case 24:
		break_something();
		break;
	case 25 ... 26:
		heal();
		break;
	case 27:
		order(i);
		break;
	case 28:
		h.w->kubelet_dead = pick(3) == 0;
		h.w->runtime_dead = pick(3) == 0;
		break;
	case 29:
		if (pick(8) == 0)
			restart();
		break;
	case 30:
		world_show_sandboxes(h.w);
		break;
	default:
		world_show_devices(h.w);
	}
}

/* --- the end ---------------------------------------------------------------------------------- */

static bool is_over(void *arg)
{
	(void)arg;
	for (unsigned i = 0; i < WORLD_VFS; i++)
		if (world_state(h.w, i) != ATTACH_FREE)
			return false;
	return attach_engine_is_ready(h.w->engine) && world_is_clean(h.w);
}

static void end_all(void)
{
	heal();
	h.w->kubelet_dead = h.w->runtime_dead = false;
	for (unsigned i = 0; i < WORLD_VFS; i++)
		world_unhold(h.w, i);
	for (uint64_t ns = 1; ns <= h.w->n_namespaces; ns++) {
		world_end_sandbox(h.w, ns);
		world_end_namespace(h.w, ns);
	}
	attach_engine_fix(h.w->engine);
	world_show_all(h.w);
	if (!loop_until(&h.w->loop, is_over, NULL, LIMIT_MS))
		fail_msg("something is not clean at the end");
}

/* Each kind of end is to be among them. */
static struct {
	uint64_t attached, failed, returned, stuck, opened, refused;
} sum;

static void count(void)
{
	struct attach_counters c;

	attach_engine_counters(h.w->engine, &c);
	sum.attached += c.attached;
	sum.failed += c.attach_failures;
	sum.returned += c.returned;
	sum.stuck += c.return_failures;
	sum.opened += c.gate_questions - c.gate_refusals;
	sum.refused += c.gate_refusals;
}

static void live(uint64_t seed)
{
	memset(&h, 0, sizeof(h));
	h.seed = seed * 0x9e3779b97f4a7c15 + 1;
	h.w = world_new("{\"timeoutMs\": 1000}", false);
	h.w->config.pools[0].network->timeout_ms = 100;
	for (int t = 0; t < TURNS; t++) {
		turn();
		for (unsigned n = pick(6); n > 0; n--) {
			uv_sleep(pick(2));
			uv_run(&h.w->loop, UV_RUN_NOWAIT);
		}
	}
	end_all();
	count();
	world_free(h.w);
	for (size_t i = 0; i < h.n_gates; i++)
		assert_int_equal(h.gates[i].gate.told, !h.gates[i].cancelled);
}

static void test_histories(void **state)
{
	const char *given = getenv("SEED");

	(void)state;
	for (uint64_t seed = 1; seed <= HISTORIES && !given; seed++) {
		print_message("history %u\n", (unsigned)seed);
		live(seed);
	}
	if (given) {
		live(strtoull(given, NULL, 10));
		return;
	}
	print_message(
		"%u attached, %u failed, %u returned, %u stuck, %u gates opened, %u refused\n",
		(unsigned)sum.attached, (unsigned)sum.failed, (unsigned)sum.returned,
		(unsigned)sum.stuck, (unsigned)sum.opened, (unsigned)sum.refused);
	assert_true(sum.attached && sum.failed && sum.returned && sum.stuck && sum.opened &&
		    sum.refused);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_histories),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
