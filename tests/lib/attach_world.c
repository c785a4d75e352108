// SPDX-License-Identifier: Apache-2.0
#include "attach_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "host_builder.h"
#include "log.h"
#include "loop_helpers.h"
#include "tmptree.h"
#include "world_steps.h"
#include "world_trouble.h"

#define TEXT(dst, ...) snprintf((dst), sizeof(dst), __VA_ARGS__)

static void *must(void *p)
{
	if (!p)
		abort();
	return p;
}

/* --- the node --------------------------------------------------------------------------------- */

const char *world_vf(unsigned i)
{
	static char text[8][DEV_ID_SIZE];
	static unsigned next;
	char *s = text[next++ % 8];

	snprintf(s, DEV_ID_SIZE, "0000:03:%02x.0", i + 1);
	return s;
}

unsigned world_vf_of(const struct world *w, const char *function)
{
	for (unsigned i = 0; i < WORLD_VFS; i++)
		if (strcmp(w->devices[i].function, function) == 0)
			return i;
	abort();
}

/* The node with all devices in the host. */
static void build_host(struct host *h)
{
	struct function *f = build_function(h, FN_PF, "0000:03:00.0", "", 0);
	char name[16];

	f->vfs = WORLD_VFS;
	build_netdev(h, "eth0", f->id);
	for (unsigned i = 0; i < WORLD_VFS; i++) {
		f = build_function(h, FN_VF, world_vf(i), "0000:03:00.0", (int)i);
		TEXT(f->driver, "mlx5_core");
		TEXT(name, "v%u", i);
		build_netdev(h, name, world_vf(i));
	}
	host_sort(h);
}

static void ignore(const char *sentence, void *arg)
{
	(void)sentence, (void)arg;
}

static void build_pools(struct world *w)
{
	pools_done(&w->pools);
	assert_int_equal(pools_build(&w->pools, &w->config, &w->inventory.host, &w->held), 0);
}

/* --- the hooks -------------------------------------------------------------------------------- */

static void on_kubelet(uv_timer_t *timer)
{
	struct world *w = timer->data;

	if (!w->kubelet_dead)
		world_show_pods(w);
}

void world_ask_kubelet(struct world *w)
{
	w->pods_asked++;
	if (!uv_is_closing((uv_handle_t *)&w->kubelet_timer))
		uv_timer_start(&w->kubelet_timer, on_kubelet, 0, 0);
}

void world_offer(struct world *w)
{
	bool known = w->view_known && w->inventory.generation > 0;

	attach_engine_offer(w->engine, known ? &w->pools : NULL);
}

/* The receiver of a change reads the whole list. */
static void on_changed(void *arg)
{
	struct world *w = arg;
	const struct attach_status *list;
	size_t n = attach_engine_list(w->engine, &list);

	for (size_t i = 1; i < n; i++)
		assert_true(natural_cmp(list[i - 1].record->function, list[i].record->function) <=
			    0);
	w->n_changed++;
}

static void on_event(const struct event *event, void *arg)
{
	struct world *w = arg;

	w->events[w->n_events++ % 128] = *event;
}

static void on_moving(bool moving, void *arg)
{
	struct world *w = arg;

	assert_true(moving != w->moving);
	w->moving = moving;
	w->n_moving += moving;
}

/* --- life ------------------------------------------------------------------------------------- */

void world_open(struct world *w, bool dry_run)
{
	struct attach_engine_opts opts = {.state_dir = w->dir,
					  .ipam = {.path = w->dir},
					  .holders = world_holders_open(w),
					  .dry_run = dry_run,
					  .cni_add_ms = w->cni_add_ms,
					  .cni_early_ms = w->cni_early_ms,
					  .cni_wait_ms = w->cni_wait_ms,
					  .ops = &world_ops};
	struct attach_hooks hooks = {on_changed, on_event, on_moving, w};
	struct err e = {0};

	assert_int_equal(lock_take(&w->state_lock, &w->hw, w->dir, 0700, "the world's", &e), 0);
	w->moving = false; /* the engine before may have closed meanwhile */
	uv_timer_init(&w->loop, &w->kubelet_timer);
	w->kubelet_timer.data = w;
	assert_int_equal(
		attach_engine_open(&w->engine, &w->loop, &w->hw, &w->inventory, &opts, &hooks, &e),
		0);
	world_offer(w);
}

struct world *world_new(const char *network, bool dry_run)
{
	struct world *w = calloc(1, sizeof(*w));
	struct err e = {0};
	char text[2048];

	log_init(getenv("WLOG") ? LOG_LVL_INFO : LOG_LVL_ERROR, LOG_FORMAT_TEXT);
	assert_non_null(w);
	assert_int_equal(uv_loop_init(&w->loop), 0);
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->changed, NULL);
	w->dir = tmptree_new();
	tmptree_write(w->dir, "devices/.keep", "%s", "");
	w->hw = (struct hw){.sys_fd = -1,
			    .dev_fd = -1,
			    .proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
	w->state_lock = LOCK_NONE;
	w->held.source = w->kubelet.source = POD_SOURCE_API;
	w->runtime.known = true;
	w->view_known = true;
	for (unsigned i = 0; i < WORLD_VFS; i++)
		TEXT(w->devices[i].function, "%s", world_vf(i));
	TEXT(text,
	     "{\"pools\": [{\"resourceName\": \"roce\", \"selectors\": {\"drivers\": "
	     "[\"mlx5_core\"]}, \"network\": %s}]}",
	     network);
	assert_int_equal(
		pool_config_parse(&w->config, text, strlen(text), "test", ignore, NULL, &e), 0);
	world_show_devices(w);
	world_steps_use(w);
	world_open(w, dry_run);
	return w;
}

void world_close(struct world *w)
{
	world_let_go(w);
	attach_engine_close(w->engine);
	w->engine = NULL;
	world_holders_close();
	uv_close((uv_handle_t *)&w->kubelet_timer, NULL);
	uv_run(&w->loop, UV_RUN_DEFAULT);
	for (unsigned i = 0; i < WORLD_VFS && w->journal_gone; i++)
		world_lose_record(w, i);
	for (unsigned i = 0; i < WORLD_VFS; i++)
		w->devices[i].rewriting = false; /* the new daemon has no record of it */
	w->journal_gone = false;
	lock_release(&w->state_lock);
}

void world_restart(struct world *w)
{
	if (w->engine)
		world_close(w);
	inventory_done(&w->inventory);
	pod_list_done(&w->held);
	for (unsigned i = 0; i < WORLD_VFS; i++)
		w->devices[i].reserved_ms = w->devices[i].start_ms = 0;
	world_open(w, false);
}

void world_free(struct world *w)
{
	if (w->engine)
		world_close(w);
	assert_int_equal(uv_loop_close(&w->loop), 0);
	pools_done(&w->pools);
	pool_config_done(&w->config);
	pod_list_done(&w->kubelet);
	pod_list_done(&w->held);
	sandbox_list_done(&w->runtime);
	sandbox_list_done(&w->shown);
	inventory_done(&w->inventory);
	pthread_mutex_destroy(&w->lock);
	pthread_cond_destroy(&w->changed);
	tmptree_free(w->dir);
	close(w->hw.proc_fd);
	free(w);
}

int64_t world_clock_ns(const struct world *w)
{
	return WORLD_EPOCH_NS + (int64_t)uv_now(&w->loop) * 1000000 + w->clock_set_ns;
}

/* --- pods ------------------------------------------------------------------------------------- */

static uint64_t free_inode(const struct world *w)
{
	bool taken[WORLD_NAMESPACES] = {true};
	uint64_t ino = 0;

	for (uint64_t ns = 1; ns < WORLD_NAMESPACES; ns++)
		if (w->alive[ns])
			taken[w->ino[ns]] = true;
	while (taken[ino])
		ino++;
	return ino;
}

uint64_t world_add_sandbox(struct world *w, const char *pod, const char *networks)
{
	uint64_t ns = ++w->n_namespaces;
	struct sandbox *s = must(array_push(w->runtime.items, w->runtime.n));

	assert_true(ns < WORLD_NAMESPACES);
	TEXT(s->id, "s%u", (unsigned)ns);
	TEXT(s->uid, "u%u", (unsigned)ns);
	TEXT(s->namespace, "a");
	TEXT(s->pod, "%s", pod);
	TEXT(s->netns, "/ns/%u", (unsigned)ns);
	s->created_ns = world_clock_ns(w);
	s->ready = s->detailed = true;
	s->networks = networks ? strdup(networks) : NULL;
	sandbox_list_sort(&w->runtime);
	pthread_mutex_lock(&w->lock);
	w->ino[ns] = free_inode(w);
	w->alive[ns] = w->in_use[ns] = true;
	pthread_mutex_unlock(&w->lock);
	return ns;
}

void world_end_sandbox(struct world *w, uint64_t ns)
{
	pthread_mutex_lock(&w->lock);
	w->in_use[ns] = false;
	pthread_mutex_unlock(&w->lock);
	for (size_t i = 0; i < w->runtime.n; i++)
		if (strtoul(w->runtime.items[i].id + 1, NULL, 10) == ns)
			w->runtime.items[i].ready = false;
}

void world_remove_sandbox(struct world *w, uint64_t ns)
{
	world_end_sandbox(w, ns);
	for (size_t i = 0; i < w->runtime.n; i++) {
		struct sandbox *s = &w->runtime.items[i];

		if (strtoul(s->id + 1, NULL, 10) != ns)
			continue;
		free(s->networks);
		memmove(s, s + 1, (w->runtime.n - i - 1) * sizeof(*s));
		w->runtime.n--;
		return;
	}
}

void world_end_namespace(struct world *w, uint64_t ns)
{
	pthread_mutex_lock(&w->lock);
	w->alive[ns] = w->entitled[ns] = w->in_use[ns] = false;
	for (size_t i = 0; i < WORLD_VFS; i++)
		if (w->devices[i].ns == ns)
			w->devices[i].ns = 0;
	pthread_mutex_unlock(&w->lock);
}

static void date_pods(struct world *w)
{
	for (size_t k = 0; k < w->held.n; k++)
		for (unsigned i = 0; i < WORLD_VFS; i++)
			if (strcmp(w->held.devices[k].id, w->devices[i].function) == 0) {
				w->held.devices[k].reserved_ms = w->devices[i].reserved_ms;
				w->held.devices[k].start_ms = w->devices[i].start_ms;
			}
}

static void forget(struct world *w, unsigned i)
{
	size_t n = 0;

	for (size_t k = 0; k < w->kubelet.n; k++)
		if (strcmp(w->kubelet.devices[k].id, world_vf(i)) != 0)
			w->kubelet.devices[n++] = w->kubelet.devices[k];
	w->kubelet.n = n;
}

void world_unhold(struct world *w, unsigned i)
{
	forget(w, i);
	w->devices[i].reserved_ms = w->devices[i].start_ms = 0;
}

void world_hold(struct world *w, unsigned i, const char *pod)
{
	struct pod_device d = {.resource = WORLD_ROCE, .id = world_vf(i)};

	forget(w, i);
	if (pod[0]) {
		d.namespace = "a";
		d.pod = pod;
		d.container = "c";
	}
	assert_int_equal(pod_list_push(&w->kubelet, &d), 0);
	pod_list_sort(&w->kubelet);
}

/* An Allocate shows that the previous holder no longer has the device, as in
 * pods/reservations.c. */
static void disprove(struct world *w, unsigned i)
{
	for (size_t k = 0; k < w->held.n; k++)
		if (strcmp(w->held.devices[k].id, world_vf(i)) == 0)
			w->held.devices[k].namespace = w->held.devices[k].pod =
				w->held.devices[k].container = w->held.devices[k].uid = "";
}

/* Reserved by Allocate, before the kubelet's next list. */
void world_reserve(struct world *w, unsigned i)
{
	const struct pod_device d = {.resource = WORLD_ROCE, .id = w->devices[i].function};

	world_hold(w, i, "");
	w->devices[i].reserved_ms = uv_now(&w->loop);
	w->devices[i].start_ms = 0;
	disprove(w, i);
	if (!pod_list_find(&w->held, d.resource, d.id, NULL)) {
		assert_int_equal(pod_list_push(&w->held, &d), 0);
		pod_list_sort(&w->held);
		build_pools(w);
	}
	date_pods(w);
	world_offer(w);
}

void world_note_start(struct world *w, unsigned i, bool waits)
{
	w->devices[i].start_ms = waits ? uv_now(&w->loop) : 0;
	date_pods(w);
}

/* --- showing lists to the engine -------------------------------------------------------------- */

void world_show_pods(struct world *w)
{
	pod_list_done(&w->held);
	assert_int_equal(pod_list_copy(&w->held, &w->kubelet), 0);
	w->held.asked_ms = uv_now(&w->loop);
	date_pods(w);
	build_pools(w);
	world_query_new_sandboxes(w, w->sandboxes_asked_ms);
	world_offer(w);
}

static void show_device(struct netdev *nd, const struct world_device *d, unsigned i)
{
	if (d->called[0] && (d->ns || strcmp(d->called, "net1") == 0))
		TEXT(nd->name, "%s", d->called);
	else if (d->called[0]) /* the name exists in the host */
		TEXT(nd->name, "dev%u", i);
	else
		TEXT(nd->name, "v%u", i);
	nd->ifindex = (int)(100 + i + 1000 * d->renumbered);
	nd->nsid = d->ns ? (int)d->ns : NSID_HOST;
	nd->carrier = d->ns ? CARRIER_ON : CARRIER_OFF;
	TEXT(nd->origin, "%s", d->marked ? "v" : "");
	nd->origin_uid[0] = '\0';
	if (d->marked && d->ns)
		TEXT(nd->origin_uid, "u%u", (unsigned)d->ns);
}

/* The result of a scan: of the netdevs; the first scan is of everything. */
static struct scan make_scan(struct world *w)
{
	struct scan scan = {.parts = SCAN_NETDEVS};
	const struct host *h = &w->inventory.host;

	if (w->inventory.generation == 0) {
		build_host(&scan.host);
		scan.parts |= SCAN_FUNCTIONS;
	}
	for (size_t k = 0; k < h->n_netdevs; k++)
		*(struct netdev *)must(
			array_push(scan.host.netdevs, scan.host.n_netdevs)) = h->netdevs[k];
	pthread_mutex_lock(&w->lock);
	for (size_t k = 0; k < scan.host.n_netdevs; k++)
		for (unsigned i = 0; i < WORLD_VFS; i++)
			if (strcmp(scan.host.netdevs[k].function, w->devices[i].function) == 0)
				show_device(&scan.host.netdevs[k], &w->devices[i], i);
	pthread_mutex_unlock(&w->lock);
	return scan;
}

void world_show_devices(struct world *w)
{
	struct scan scan;

	/* Advance by a millisecond, so that the list is newer than all previous changes. */
	uv_sleep(1);
	uv_update_time(&w->loop);
	scan = make_scan(w);
	inventory_apply(&w->inventory, &scan, uv_now(&w->loop));
	scan_done(&scan);
	build_pools(w);
	if (w->engine)
		world_offer(w);
}

void world_show_all(struct world *w)
{
	world_show_devices(w);
	world_show_pods(w);
	world_show_sandboxes(w);
}

/* --- conditions ------------------------------------------------------------------------------- */

enum attach_state world_state(const struct world *w, unsigned i)
{
	const struct attach_status *s = attach_engine_find(w->engine, world_vf(i));

	return s ? s->record->state : ATTACH_FREE;
}

unsigned world_events(const struct world *w, const char *reason)
{
	unsigned n = 0;

	for (unsigned i = 0; i < w->n_events && i < 128; i++)
		n += strcmp(w->events[i].reason, reason) == 0;
	return n;
}

const char *world_message(const struct world *w, const char *reason)
{
	for (unsigned i = w->n_events < 128 ? w->n_events : 128; i-- > 0;)
		if (strcmp(w->events[i].reason, reason) == 0)
			return w->events[i].message;
	return "";
}

struct waiting {
	struct world *w;
	unsigned i, n;
	enum attach_state state;
	const char *reason;
};

static bool has_state(void *arg)
{
	struct waiting *x = arg;

	return world_state(x->w, x->i) == x->state;
}

void world_until_state(struct world *w, unsigned i, enum attach_state state)
{
	struct waiting x = {.w = w, .i = i, .state = state};

	if (!loop_until(&w->loop, has_state, &x, PATIENCE_MS))
		fail_msg("%s is %s, not %s", world_vf(i), attach_state_name(world_state(w, i)),
			 attach_state_name(state));
}

static bool is_ready(void *arg)
{
	return attach_engine_is_ready(((struct world *)arg)->engine);
}

void world_until_ready(struct world *w)
{
	assert_true(loop_until(&w->loop, is_ready, w, PATIENCE_MS));
}

static bool has_events(void *arg)
{
	struct waiting *x = arg;

	return world_events(x->w, x->reason) >= x->n;
}

void world_until_events(struct world *w, const char *reason, unsigned n)
{
	struct waiting x = {.w = w, .reason = reason, .n = n};

	if (!loop_until(&w->loop, has_events, &x, PATIENCE_MS))
		fail_msg("%u events %s, not %u", world_events(w, reason), reason, n);
}

bool world_is_clean(struct world *w)
{
	bool clean = true;

	pthread_mutex_lock(&w->lock);
	for (unsigned i = 0; i < WORLD_VFS; i++) {
		const struct world_device *d = &w->devices[i];

		clean = clean && !d->ns && !d->marked && !d->dirty && !d->busy && !d->traces &&
			!d->upper && d->vlan == d->home_vlan && !d->lease.held &&
			d->record.state == ATTACH_FREE;
	}
	pthread_mutex_unlock(&w->lock);
	return clean;
}

void world_let_go(struct world *w)
{
	pthread_mutex_lock(&w->lock);
	w->hold = false;
	w->n_stuck = 0;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
}

void world_settle(struct world *w)
{
	unsigned quiet = 0, events = w->n_events, changed = w->n_changed;

	while (quiet++ < 20) {
		loop_wakeups(&w->loop, 1);
		if (events != w->n_events || changed != w->n_changed)
			quiet = 0;
		events = w->n_events;
		changed = w->n_changed;
	}
}

/* --- the gate --------------------------------------------------------------------------------- */

void world_on_answer(const struct err *err, void *arg)
{
	struct world_gate *g = arg;

	g->answers++;
	g->err = *err;
	g->gate = NULL;
	if (g->w)
		world_note_start(g->w, g->i, false);
}

void world_ask(struct world *w, struct world_gate *g, unsigned i)
{
	const char *id = world_vf(i);

	*g = (struct world_gate){.w = w, .i = i};
	world_note_start(w, i, true);
	assert_int_equal(attach_engine_gate(w->engine, &g->gate, WORLD_ROCE,
					    (struct id_list){&id, 1}, world_on_answer, g),
			 0);
	assert_true((g->gate == NULL) == (g->answers == 1));
}

static bool is_answered(void *arg)
{
	return ((struct world_gate *)arg)->answers > 0;
}

void world_until_answered(struct world *w, struct world_gate *g)
{
	assert_true(loop_until(&w->loop, is_answered, g, PATIENCE_MS));
	assert_int_equal(g->answers, 1);
}
