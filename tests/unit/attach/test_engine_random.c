// SPDX-License-Identifier: Apache-2.0
/* The attach engine in random histories. Pods start and end; pods of the same name follow before
 * they have ended, in namespaces with reused inodes; they leave residual state, rename their
 * netdevs and remove our alias. The runtime's list is another runtime's or truncated; notifications
 * are lost, steps and IPAM fail or hang, the clock is set, the state folder is removed, the engine
 * is restarted, and a second one is started. The simulation asserts that a device never has two
 * owners, is never given away dirty, that no address is leaked, and that no record of another boot
 * touches a device. Each gate request is answered once and correctly; once all problems are over
 * every pod gets its devices, and at the end everything is free and clean. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cleanup.h"
#include "loop_helpers.h"
#include "test_group.h"
#include "world_pods.h"
#include "world_trouble.h"

#define TURNS	   400
#define NAMESPACES 200
/* The kubelet retries: operations that run at the first request may still fail. */
#define LAST_TRIES 4
#define GATES	   (TURNS + LAST_TRIES * WORLD_VFS)
#define LIMIT_MS   60000
#define GATE_MS	   50000 /* no gate request may wait that long when everything works */
#define HOUR_NS	   INT64_C(3600000000000)

/* The state of each VF's pod. */
struct life {
	bool reserved, held, sandboxed, ended;
	uint64_t ns;
	char pod[16];
};

struct history {
	struct world *w;
	uint64_t seed;
	struct life lives[WORLD_VFS];
	struct gate_request {
		struct world_gate gate;
		unsigned vf;
		bool cancelled, kubelets; /* requested by the kubelet, and the pod has a sandbox */
	} gates[GATES];
	size_t n_gates;
	/* Namespaces of pods that the kubelet has removed but that have not ended. */
	uint64_t lingering[NAMESPACES];
	size_t n_lingering;
};

static struct history h;

/* Each of these results must occur. */
static struct {
	uint64_t attached, failed, returned, stuck, opened, refused, left, renewed, started, lied,
		removed, unmarked, renamed;
} sum;

static unsigned pick(unsigned n)
{
	h.seed ^= h.seed << 13;
	h.seed ^= h.seed >> 7;
	h.seed ^= h.seed << 17;
	return (unsigned)(h.seed % n);
}

/* --- events ----------------------------------------------------------------------------------- */

static void entitle(const struct life *l, bool entitled)
{
	pthread_mutex_lock(&h.w->lock);
	h.w->entitled[l->ns] = entitled && l->held && !l->reserved && l->sandboxed;
	pthread_mutex_unlock(&h.w->lock);
}

static void begin(unsigned i, struct life *l)
{
	if (l->held)
		return;
	*l = (struct life){.reserved = true, .held = true};
	snprintf(l->pod, sizeof(l->pod), "p%u", pick(3) ? i : 10 + i);
	world_reserve(h.w, i);
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
	} else {
		return;
	}
	entitle(l, !l->ended);
}

/* The containers of a removed pod end at last. */
static void end_lingering(size_t k)
{
	uint64_t ns = h.lingering[k];

	h.lingering[k] = h.lingering[--h.n_lingering];
	pthread_mutex_lock(&h.w->lock);
	h.w->entitled[ns] = false;
	pthread_mutex_unlock(&h.w->lock);
	world_end_sandbox(h.w, ns);
	world_end_namespace(h.w, ns);
}

/* The kubelet removes the pod and gives its device to another, while a container ignores
 * SIGTERM. */
static void forget(unsigned i, struct life *l)
{
	h.lingering[h.n_lingering++] = l->ns;
	world_unhold(h.w, i);
	*l = (struct life){.held = false};
}

static void end_life(unsigned i, struct life *l)
{
	unsigned what = pick(3);

	if (l->sandboxed && !l->ended && pick(3) == 0) {
		forget(i, l);
		return;
	}
	if (l->sandboxed && what < 2) {
		l->ended = true;
		entitle(l, false);
		world_note_start(h.w, i, false);
	}
	if (l->sandboxed && what == 0)
		world_end_sandbox(h.w, l->ns);
	else if (l->sandboxed && what == 1)
		world_end_namespace(h.w, l->ns);
	if (pick(2))
		return;
	if (l->sandboxed) {
		entitle(l, false);
		world_end_sandbox(h.w, l->ns);
		world_end_namespace(h.w, l->ns);
	}
	world_unhold(h.w, i);
	*l = (struct life){.held = false};
}

/* Clears the start time of the VF unless another of its containers waits. */
static void note_end(unsigned i)
{
	for (size_t k = 0; k < h.n_gates; k++)
		if (h.gates[k].vf == i && h.gates[k].kubelets && !h.gates[k].gate.answers &&
		    !h.gates[k].cancelled)
			return;
	world_note_start(h.w, i, false);
}

/* True if the runtime lists the sandbox as ready. */
static bool is_shown(uint64_t ns)
{
	for (size_t i = 0; i < h.w->shown.n; i++)
		if (h.w->shown.items[i].ready &&
		    strtoul(h.w->shown.items[i].id + 1, NULL, 10) == ns)
			return true;
	return false;
}

/* On success the device is in the pod that has it, unless that pod has ended meanwhile. A request
 * made before the pod had a sandbox may be answered for the previous pod, if no other was
 * listed. */
static void on_answer(const struct err *err, void *arg)
{
	struct gate_request *a = arg;
	const struct life *l = &h.lives[a->vf];
	const struct world_device *d = &h.w->devices[a->vf];
	bool misplaced;

	a->gate.answers++;
	a->gate.err = *err;
	a->gate.gate = NULL;
	note_end(a->vf);
	pthread_mutex_lock(&h.w->lock);
	misplaced = l->held && !l->reserved && l->sandboxed && h.w->alive[l->ns] &&
		    d->ns != l->ns && !d->taken_out && (a->kubelets || is_shown(l->ns));
	pthread_mutex_unlock(&h.w->lock);
	if (err->code == 0 && misplaced)
		fail_msg("VF %u is in namespace %u, not in %u", a->vf, (unsigned)d->ns,
			 (unsigned)l->ns);
}

static void request_gate(unsigned i)
{
	struct gate_request *a = &h.gates[h.n_gates];
	const char *id = world_vf(i);

	if (h.n_gates == GATES)
		fail_msg("too many gate requests");
	h.n_gates++;
	/* Only the kubelet's requests imply that the pod has a sandbox. */
	*a = (struct gate_request){.vf = i, .kubelets = h.lives[i].sandboxed && !h.lives[i].ended};
	if (a->kubelets)
		world_note_start(h.w, i, true);
	assert_int_equal(attach_engine_gate(h.w->engine, &a->gate.gate, WORLD_ROCE,
					    (struct id_list){&id, 1}, on_answer, a),
			 0);
}

static void cancel_one(void)
{
	struct gate_request *a = h.n_gates ? &h.gates[pick((unsigned)h.n_gates)] : NULL;

	if (!a || !a->gate.gate)
		return;
	attach_gate_cancel(a->gate.gate);
	a->gate.gate = NULL;
	a->cancelled = true;
	note_end(a->vf);
}

static void break_something(void)
{
	int in = (int)pick(N_ATTACH_STEPS), back = (int)pick(N_RETURN_STEPS);

	pthread_mutex_lock(&h.w->lock);
	h.w->fail_in[in] = h.w->fail_in[in] ? 0 : -EIO;
	if (back != BACK_RECORD && pick(2))
		h.w->fail_back[back] = h.w->fail_back[back] ? 0 : -EBUSY;
	h.w->hold = pick(3) == 0;
	h.w->dim = pick(4) == 0;
	pthread_mutex_unlock(&h.w->lock);
	if (!h.w->hold)
		world_let_go(h.w);
}

/* A failed release is retried after a pause, so the plugin is mostly missing. */
static void break_ipam(void)
{
	static const enum world_ipam how[] = {WORLD_IPAM_FAILS, WORLD_IPAM_HANGS,
					      WORLD_IPAM_IS_GONE, WORLD_IPAM_IS_GONE};

	if (h.w->ipam != WORLD_IPAM_PROGRAM)
		h.w->ipam = how[pick(4)];
}

static void heal(void)
{
	if (h.w->ipam != WORLD_IPAM_PROGRAM)
		h.w->ipam = WORLD_IPAM_WORKS;
	pthread_mutex_lock(&h.w->lock);
	h.w->dim = false;
	memset(h.w->fail_in, 0, sizeof(h.w->fail_in));
	memset(h.w->fail_back, 0, sizeof(h.w->fail_back));
	pthread_mutex_unlock(&h.w->lock);
	world_let_go(h.w);
}

static void on_request(const struct err *err, void *arg)
{
	(void)err;
	++*(unsigned *)arg;
}

static void request_detach(unsigned i)
{
	static unsigned answers;
	struct err e;

	h.lives[i].ended = true;
	pthread_mutex_lock(&h.w->lock);
	memset(h.w->entitled, 0, sizeof(h.w->entitled));
	pthread_mutex_unlock(&h.w->lock);
	attach_engine_detach(h.w->engine, world_vf(i), pick(2), on_request, &answers, &e);
}

static bool lies(void)
{
	return h.w->runtime_lies || h.w->runtime_halves;
}

/* The first scan may come at once. The journal may have lost one record, or all. */
static void restart(void)
{
	unsigned lost = lies() ? 2 : pick(6);

	world_close(h.w);
	for (unsigned i = 0; i < WORLD_VFS; i++)
		if (lost == 0 || (lost == 1 && pick(WORLD_VFS) == 0))
			world_lose_record(h.w, i);
	world_restart(h.w);
	if (pick(2))
		world_show_devices(h.w);
}

/* The kubelet keeps the pods, and they get new sandboxes. */
static void reboot(void)
{
	world_reboot(h.w, (uint16_t)pick(3));
	for (unsigned i = 0; i < WORLD_VFS; i++)
		h.lives[i].sandboxed = h.lives[i].ended = false;
	h.n_lingering = 0;
	if (pick(2))
		world_show_devices(h.w);
}

/* By hours, or by 20 ms. */
static void set_clock(void)
{
	int64_t by = (int64_t)pick(7) - 3;

	h.w->clock_set_ns += by * (pick(2) ? HOUR_NS : 20000000);
}

/* Changes what identifies a device. The runtime's list is wrong only while all devices are on
 * record: for a device without a record, nothing else identifies its pod. */
static void confuse(unsigned i)
{
	static const char *const names[] = {"v0", "v1", "v2", "eth0", "net1"};

	switch (pick(6)) {
	case 0:
		h.w->runtime_lies = pick(4) == 0 && world_is_on_record(h.w);
		sum.lied += h.w->runtime_lies;
		break;
	case 1:
		h.w->runtime_halves = pick(4) == 0 && world_is_on_record(h.w);
		sum.lied += h.w->runtime_halves;
		break;
	case 2:
		sum.removed += !lies() && world_remove_journal(h.w);
		break;
	case 3:
		sum.renamed += world_rename(h.w, i, names[pick(ARRAY_SIZE(names))]);
		break;
	case 4:
		world_renumber(h.w, i);
		break;
	default:
		sum.unmarked += world_unmark(h.w, i);
	}
}

/* Problems of the node. */
static void trouble(unsigned i)
{
	switch (pick(10)) {
	case 0:
		if (pick(2))
			restart();
		else if (pick(2))
			reboot();
		break;
	case 1:
		world_take_out(h.w, i);
		break;
	case 2:
		world_set_up(h.w, i, (uint16_t)pick(3));
		break;
	case 3 ... 4:
		world_move(h.w, h.lives[i].ns, pick(3) > 0, pick(2));
		break;
	case 5:
		world_start_another(h.w);
		break;
	case 6:
		break_ipam();
		break;
	case 7 ... 8:
		set_clock();
		break;
	default:
		world_show_young(h.w, pick(1u << WORLD_VFS));
	}
}

static void turn(void)
{
	unsigned i = pick(WORLD_VFS);

	switch (pick(35)) {
	case 0 ... 4:
		begin(i, &h.lives[i]);
		break;
	case 5 ... 14:
		go_on(i, &h.lives[i]);
		break;
	case 15 ... 16:
		end_life(i, &h.lives[i]);
		break;
	case 17:
		if (h.n_lingering)
			end_lingering(pick((unsigned)h.n_lingering));
		break;
	case 18 ... 21:
		request_gate(i);
		break;
	case 22:
		sum.left += world_leave(h.w, i, (uint8_t)pick(8), pick(2));
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
		request_detach(i);
		break;
	case 28:
		h.w->kubelet_dead = pick(3) == 0;
		h.w->runtime_dead = pick(3) == 0;
		break;
	case 29 ... 30:
		trouble(i);
		break;
	case 31:
		world_show_sandboxes(h.w);
		break;
	case 32 ... 33:
		confuse(i);
		break;
	default:
		world_show_devices(h.w);
	}
}

/* A device that is offered must be exactly as its administrator left it. */
static void check_offers(void)
{
	for (unsigned i = 0; i < WORLD_VFS; i++)
		if (world_is_offered(h.w, i) && !world_is_unused(h.w, i))
			fail_msg("VF %u is offered, and not clean", i);
}

/* --- at rest ---------------------------------------------------------------------------------- */

/* The kubelet removes ended sandboxes of pods that it no longer has. */
static void remove_ended(void)
{
	for (uint64_t ns = 1; ns <= h.w->n_namespaces; ns++)
		if (!h.w->in_use[ns])
			world_remove_sandbox(h.w, ns);
}

/* Everything works, and every pod has either its sandbox or ended. */
static void calm(void)
{
	heal();
	h.w->kubelet_dead = h.w->runtime_dead = false;
	h.w->runtime_lies = h.w->runtime_halves = false;
	h.w->config.pools[0].network->timeout_ms = GATE_MS;
	memset(h.w->moved, 0, sizeof(h.w->moved));
	world_move(h.w, 0, false, false);
	while (h.n_lingering)
		end_lingering(0);
	remove_ended();
	for (unsigned i = 0; i < WORLD_VFS; i++) {
		struct life *l = &h.lives[i];

		while (l->ended)
			end_life(i, l);
		while (l->held && (l->reserved || !l->sandboxed))
			go_on(i, l);
	}
	attach_engine_fix(h.w->engine);
	world_show_all(h.w);
}

static bool all_answered(void *arg)
{
	const size_t *first = arg;

	for (size_t i = *first; i < h.n_gates; i++)
		if (!h.gates[i].gate.answers)
			return false;
	return true;
}

/* Returns a text such as "0000:03:00.1 bad, step none, tries 3: why", valid until the next call. */
static const char *status_text(void)
{
	static char text[2048];
	const struct attach_status *list;
	size_t n = attach_engine_list(h.w->engine, &list), len = 0;

	text[0] = '\0';
	for (size_t i = 0; i < n && len < sizeof(text); i++)
		len += (size_t)snprintf(
			text + len, sizeof(text) - len, "%s %s, step %s, tries %u: %s; ",
			list[i].record->function, attach_state_name(list[i].record->state),
			list[i].step ? list[i].step : "none", list[i].tries, list[i].error);
	return text;
}

/* Returns those of the VFs (bits) whose containers do not start. */
static unsigned start(unsigned vfs, const char **ret_why)
{
	size_t first = h.n_gates;
	unsigned left = 0;

	for (unsigned i = 0; i < WORLD_VFS; i++)
		if (vfs & 1u << i)
			request_gate(i);
	if (!loop_until(&h.w->loop, all_answered, &first, LIMIT_MS))
		fail_msg("a container waits for ever: %s", status_text());
	for (size_t i = first; i < h.n_gates; i++) {
		if (!h.gates[i].gate.err.code)
			continue;
		if (strstr(h.gates[i].gate.err.msg, "(waited "))
			fail_msg("a container waits for ever: %s; %s", h.gates[i].gate.err.msg,
				 status_text());
		left |= 1u << h.gates[i].vf;
		*ret_why = h.gates[i].gate.err.msg;
	}
	return left;
}

/* No gate request waits for ever. */
static void start_all(void)
{
	const char *why = "";
	unsigned left = 0;

	calm();
	for (unsigned i = 0; i < WORLD_VFS; i++) {
		left |= h.lives[i].held ? 1u << i : 0;
		sum.started += h.lives[i].held;
	}
	for (unsigned i = 0; i < LAST_TRIES && left; i++)
		left = start(left, &why);
	if (left)
		fail_msg("a container does not start: %s", why);
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

static void count(void)
{
	struct attach_counters c;

	attach_engine_counters(h.w->engine, &c);
	sum.attached += c.attached;
	sum.failed += c.attach_failures;
	sum.returned += c.returned;
	sum.stuck += c.return_failures;
	sum.renewed += c.renewals[RENEWAL_DIRTY] + c.renewals[RENEWAL_UNKNOWN];
	sum.opened += c.gate_questions - c.gate_refusals;
	sum.refused += c.gate_refusals;
}

static void run_history(uint64_t seed)
{
	memset(&h, 0, sizeof(h));
	h.seed = seed * 0x9e3779b97f4a7c15 + 1;
	h.w = world_new(seed % 2 ? WORLD_PLAIN : WORLD_IPAM, false);
	h.w->ipam = seed % 2 ? WORLD_IPAM_PROGRAM : WORLD_IPAM_WORKS;
	h.w->config.pools[0].network->timeout_ms = 100;
	snprintf(h.w->boot, sizeof(h.w->boot), "boot");
	for (int t = 0; t < TURNS; t++) {
		turn();
		for (unsigned n = pick(6); n > 0; n--) {
			uv_sleep(pick(2));
			uv_run(&h.w->loop, UV_RUN_NOWAIT);
			check_offers();
		}
	}
	start_all();
	end_all();
	count();
	world_free(h.w);
	for (size_t i = 0; i < h.n_gates; i++)
		assert_int_equal(h.gates[i].gate.answers, !h.gates[i].cancelled);
}

/* So many histories produce each kind of result. */
#define ENOUGH 20

static unsigned long from_environment(const char *name, unsigned long otherwise)
{
	const char *text = getenv(name);

	return text ? strtoul(text, NULL, 10) : otherwise;
}

/* Environment: HISTORIES=n runs n histories (default 20), beginning with SEED=n (default 1); SEED
 * alone runs that one. */
static void test_histories(void **state)
{
	unsigned long n = from_environment("HISTORIES", getenv("SEED") ? 1 : ENOUGH);
	unsigned long first = from_environment("SEED", 1);

	(void)state;
	setlinebuf(stdout); /* a crash leaves the failing seed in the last line */
	for (unsigned long i = 0; i < n; i++) {
		print_message("SEED=%lu\n", first + i);
		run_history(first + i);
	}
	print_message(
		"%u attached, %u failed, %u returned, %u stuck, %u gates opened, %u refused, "
		"%u left dirty, %u renewed, %u started at the end; %u lies, %u folders removed, "
		"%u marks removed, %u renamed\n",
		(unsigned)sum.attached, (unsigned)sum.failed, (unsigned)sum.returned,
		(unsigned)sum.stuck, (unsigned)sum.opened, (unsigned)sum.refused,
		(unsigned)sum.left, (unsigned)sum.renewed, (unsigned)sum.started,
		(unsigned)sum.lied, (unsigned)sum.removed, (unsigned)sum.unmarked,
		(unsigned)sum.renamed);
	assert_true(n < ENOUGH ||
		    (sum.attached && sum.failed && sum.returned && sum.stuck && sum.opened &&
		     sum.refused && sum.left && sum.renewed && sum.started && sum.lied &&
		     sum.removed && sum.unmarked && sum.renamed));
}

TEST_GROUP(engine_random)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_histories),
	};

	return test_group_run(tests, NULL, NULL);
}
