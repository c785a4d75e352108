// SPDX-License-Identifier: Apache-2.0
/* cmocka's assertions use longjmp(), which workers must not do: use MUST(), which aborts. */
#include "world_steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "attach_steps.h"
#include "cleanup.h"
#include "identity.h"
#include "pod_sandbox.h"
#include "soft_roce_nodes.h"
#include "world_ipam.h"

static struct world *world;

void world_steps_use(struct world *w)
{
	world = w;
}

struct world *world_of_steps(void)
{
	return world;
}

#define MUST(x)                                                                                    \
	do {                                                                                       \
		if (!(x)) {                                                                        \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #x);            \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

/* --- devices ---------------------------------------------------------------------------------- */

static struct world_device *device(const char *function)
{
	return &world->devices[world_vf_of(world, function)];
}

static uint64_t ns_of(const struct netns_id *id)
{
	const char *number = strrchr(id->path, '/');

	return number ? strtoull(number + 1, NULL, 10) : 0;
}

static uint64_t ino_of(uint64_t ns)
{
	return world->ino[ns];
}

/* The living namespace with this inode; 0: none. */
static uint64_t alive_with(uint64_t ino)
{
	for (uint64_t ns = 1; ns < WORLD_NAMESPACES; ns++)
		if (world->alive[ns] && world->ino[ns] == ino)
			return ns;
	return 0;
}

static int netns_gone(struct attach_job *job)
{
	return err_set(&job->err, -ENOENT, "its namespace was removed");
}

/* Like return_renew.c: reads a few sections, some of which a pod may have changed; one is sometimes
 * unreadable. */
static void look_at(const struct world_device *d, struct netdev_state *is)
{
	static const enum netdev_section sections[] = {STATE_TCX, STATE_OFFLOADS, STATE_RINGS};

	netdev_state_begin(is);
	for (unsigned i = 0; i < ARRAY_SIZE(sections); i++)
		if (d->traces & 1u << i)
			netdev_state_add(is, sections[i], 0, &i, sizeof(i));
	if (world->dim)
		netdev_state_unknown(is, STATE_RINGS);
}

static void renew(struct attach_job *job, struct world_device *d)
{
	const struct netdev_state *was = &job->record.origin.state;
	struct netdev_state is = {.key = {was->key[0], was->key[1]}};
	uint32_t different, unknown = 0;

	look_at(d, &is);
	different = netdev_state_differ(was, &is, &unknown);
	job->renewal = return_renewal(different, unknown, d->upper, job->record.plan.clean);
	job->traces[0] = '\0';
	if (job->renewal != RENEWAL_NONE) {
		d->traces = 0;
		d->upper = false;
	}
}

/* The lowest device number that no pod may open, unless the test sets one. */
static void give_number(struct attach_job *job)
{
	struct attach_record *r = &job->record;
	unsigned number = 0;

	do
		snprintf(r->uverbs, sizeof(r->uverbs), "uverbs%u", number++);
	while (soft_roce_number_is_taken(job, r->uverbs));
	if (world->number[0])
		snprintf(r->uverbs, sizeof(r->uverbs), "%s", world->number);
	r->rdma_id = (struct rdma_identity){.known = true, .index = 100 + number};
}

static int step_in(struct attach_job *job, struct world_device *d)
{
	struct attach_record *r = &job->record;
	uint64_t ns = ns_of(&r->owner.netns);

	switch ((enum attach_step)job->next) {
	case STEP_RECORD:
		MUST(r->state == ATTACH_FREE);
		if (d->ns || d->marked)
			return err_set(&job->err, -EBUSY, "it is not in the host");
		if (!r->plan.in_host && !world->alive[ns])
			return netns_gone(job);
		MUST(!d->traces && !d->upper);
		r->state = ATTACH_ATTACHING;
		r->serial++;
		r->owner.netns.dev = r->plan.in_host ? 0 : 1;
		r->owner.netns.ino = r->plan.in_host ? 0 : ino_of(ns);
		snprintf(r->origin.name, sizeof(r->origin.name), "v");
		r->origin.mtu = r->plan.no_netdev ? 0 : 1500;
		r->origin.state.key[0] = r->serial;
		look_at(d, &r->origin.state);
		r->origin.vf = (struct vf_settings){.fields = VF_VLAN, .vlan = d->vlan};
		d->settled = d->taken_out = false;
		memcpy(r->boot, world->boot, sizeof(r->boot));
		d->record = *r;
		return 0;
	case STEP_ADMIN:
		d->dirty = true;
		d->vlan = 100;
		return 0;
	case STEP_MOVE:
		MUST(d->ns == 0 && !d->marked);
		if (!world->alive[ns])
			return netns_gone(job);
		d->ns = ns;
		d->marked = true;
		return 0;
	case STEP_RDMA:
		if (r->plan.soft_roce)
			give_number(job);
		return world->alive[ns] ? 0 : netns_gone(job);
	case STEP_DONE:
		if (!r->plan.in_host && !world->alive[ns])
			return netns_gone(job);
		if (d->taken_out)
			return err_set(&job->err, -ENODEV, "it is not in the pod any more");
		MUST(d->ns == (r->plan.in_host || r->plan.no_netdev ? 0 : ns));
		r->state = ATTACH_IN_POD;
		d->record = *r;
		d->settled = true;
		return 0;
	default:
		return world->alive[ns] ? 0 : netns_gone(job);
	}
}

/* Is the original state known? Not if the journal was lost. */
static bool is_remembered(const struct attach_record *r, const struct world_device *d)
{
	return d->record.state == ATTACH_FREE ||
	       r->origin.state.key[0] == d->record.origin.state.key[0];
}

static int step_back(struct attach_job *job, struct world_device *d)
{
	const struct vf_settings *vf = &job->record.origin.vf;

	switch ((enum return_step)job->next) {
	case BACK_RECORD:
		job->settle_only = world->boot[0] &&
				   identity_is_of_another_boot(job->record.boot, world->boot,
							       d->ns || d->marked);
		job->record.state = ATTACH_RETURNING;
		MUST(is_remembered(&job->record, d));
		d->record = job->record;
		return 0;
	case BACK_MOVE:
		MUST(!d->ns || !d->settled || !world->entitled[d->ns]);
		MUST(strcmp(job->record.boot, world->boot) == 0);
		d->ns = 0;
		d->called[0] = '\0';
		d->marked = d->settled = false;
		return 0;
	case BACK_ADMIN:
		MUST(strcmp(job->record.boot, world->boot) == 0);
		d->dirty = false;
		d->vlan = vf->fields & VF_VLAN ? vf->vlan : 0;
		return 0;
	case BACK_RENEW:
		MUST(strcmp(job->record.boot, world->boot) == 0);
		renew(job, d);
		return 0;
	case BACK_DONE:
		MUST(!d->ns && !d->marked && !d->traces && !d->upper);
		MUST(world_ipam_is_settled(world, world_vf_of(world, d->function)));
		job->record.state = ATTACH_FREE;
		d->record = job->record;
		return 0;
	default:
		return 0;
	}
}

static bool is_passed_over(const struct attach_job *job)
{
	if (job->record.plan.in_host && !job->is_return)
		return job->next != STEP_RECORD && job->next != STEP_DONE;
	if (job->record.plan.no_netdev && !job->is_return &&
	    (job->next == STEP_MOVE || job->next == STEP_CONFIGURE || job->next == STEP_RDMA))
		return true;
	return job->settle_only && !return_step_settles((enum return_step)job->next);
}

static int step(struct attach_job *job, struct world_device *d)
{
	int wrong = job->is_return ? world->fail_back[job->next] : world->fail_in[job->next];

	if (wrong && job->is_return && world->n_fail_back && --world->n_fail_back == 0)
		world->fail_back[job->next] = 0;

	if (wrong)
		return err_set(&job->err, wrong, "failure of the test");
	return job->is_return ? step_back(job, d) : step_in(job, d);
}

static void enter(struct world_device *d)
{
	pthread_mutex_lock(&world->lock);
	MUST(!d->busy);
	d->busy = true;
	if (++world->n_inside > world->n_inside_max)
		world->n_inside_max = world->n_inside;
	while (world->hold || d < world->devices + world->n_stuck)
		pthread_cond_wait(&world->changed, &world->lock);
}

static void leave(struct world_device *d)
{
	d->busy = false;
	world->n_inside--;
	pthread_mutex_unlock(&world->lock);
}

struct journal {
	bool open;
};

/* False if the journal was closed: a worker must not use it then. */
static bool is_usable(const struct journal *j)
{
	return !j || j->open;
}

static int fake_run(struct attach_job *job)
{
	struct world_device *d = device(job->record.function);
	int n = job->is_return ? (int)N_RETURN_STEPS : (int)N_ATTACH_STEPS;
	int ours = job->is_return ? (int)BACK_IPAM : (int)STEP_IPAM, r = 0;
	bool stops = job->record.plan.ipam[0];

	enter(d);
	MUST(job->journal || job->is_return);
	MUST(is_usable(job->journal));
	while (r == 0 && job->next < n && !(stops && job->next == ours)) {
		r = job->next == ours || is_passed_over(job) ? 0 : step(job, d);
		job->next += r == 0;
	}
	leave(d);
	return r;
}

static int fake_check(struct attach_job *job, bool repair)
{
	struct world_device *d = device(job->record.function);
	int r = 0;

	enter(d);
	MUST(strcmp(job->record.boot, world->boot) == 0);
	world->n_checks++;
	world->n_repairs += repair;
	job->drift = world->drift;
	if (!world->alive[ns_of(&job->record.owner.netns)])
		r = netns_gone(job);
	else if (world->fail_check)
		r = err_set(&job->err, world->fail_check, "it is not in the pod any more");
	leave(d);
	return r;
}

static int fake_announce(struct attach_job *job)
{
	struct world_device *d = device(job->record.function);

	enter(d);
	MUST(strcmp(job->record.boot, world->boot) == 0);
	world->n_announced++;
	leave(d);
	return 0;
}

static bool fake_is_there(const struct hw *hw, const struct netns_id *id)
{
	uint64_t ns = ns_of(id);
	bool there;

	(void)hw;
	pthread_mutex_lock(&world->lock);
	there = world->alive[ns] && id->ino == ino_of(ns) &&
		(!world->moved[ns] || strncmp(id->path, "/moved/", 7) == 0);
	pthread_mutex_unlock(&world->lock);
	return there;
}

/* Searches by inode, which another namespace may have by now. */
static enum netns_life fake_search(const struct hw *hw, struct netns_id *id)
{
	enum netns_life life;
	uint64_t ns;

	(void)hw;
	pthread_mutex_lock(&world->lock);
	world->n_searches++;
	ns = alive_with(id->ino);
	life = world->blind ? NETNS_UNKNOWN : ns ? NETNS_ALIVE : NETNS_DEAD;
	if (life == NETNS_ALIVE)
		snprintf(id->path, sizeof(id->path), world->moved[ns] ? "/moved/%u" : "/ns/%u",
			 (unsigned)ns);
	pthread_mutex_unlock(&world->lock);
	return life;
}

static void fake_users(const struct hw *hw, const struct netns_id *ids, size_t n,
		       enum netns_use *ret_use, unsigned *ret_pid)
{
	(void)hw;
	pthread_mutex_lock(&world->lock);
	for (size_t i = 0; i < n; i++) {
		bool in_use = world->in_use[alive_with(ids[i].ino)];

		ret_use[i] = in_use ? NETNS_IN_USE : world->blind ? NETNS_USE_UNKNOWN : NETNS_EMPTY;
		ret_pid[i] = in_use ? 42 : 0;
	}
	pthread_mutex_unlock(&world->lock);
}

static void fake_boot_id(const struct hw *hw, char ret[BOOT_ID_SIZE])
{
	(void)hw;
	memcpy(ret, world->boot, BOOT_ID_SIZE);
}

static int fake_look_at_host(const struct hw *hw, const char *socket, struct err *e)
{
	(void)hw, (void)socket;
	return world->hidden ? err_set(e, -ESRCH, "the host is hidden.") : 0;
}

static int fake_find(const struct hw *hw, const char *path, struct netns_id *ret)
{
	*ret = (struct netns_id){.dev = 1};
	snprintf(ret->path, sizeof(ret->path), "%s", path);
	ret->ino = ino_of(ns_of(ret));
	return fake_is_there(hw, ret) ? 0 : -ENOENT;
}

/* --- the journal ------------------------------------------------------------------------------ */

static int fake_journal_open(struct journal **ret, const char *state_dir, struct err *e)
{
	static struct journal journals[64];
	struct journal *j = &journals[world->n_journal_opened % ARRAY_SIZE(journals)];

	(void)state_dir;
	world->n_journal_opened++;
	if (world->fail_journal)
		return err_set(e, world->fail_journal, "journal: failure of the test");
	pthread_mutex_lock(&world->lock);
	for (size_t i = 0; i < WORLD_VFS && world->journal_gone; i++) {
		struct world_device *d = &world->devices[i];

		d->rewriting = d->rewriting || d->record.state != ATTACH_FREE;
		memset(&d->record, 0, sizeof(d->record));
	}
	world->journal_gone = false;
	j->open = true;
	pthread_mutex_unlock(&world->lock);
	*ret = j;
	return 0;
}

static void fake_journal_close(struct journal *j)
{
	pthread_mutex_lock(&world->lock);
	if (j)
		j->open = false;
	pthread_mutex_unlock(&world->lock);
}

/* Journals are checked even after they were closed. */
static void fake_journal_sweep(struct journal *j)
{
	(void)j;
}

static bool fake_journal_is_gone(const struct journal *j)
{
	(void)j;
	return world->journal_gone;
}

static int fake_journal_write(struct journal *j, const struct attach_record *r, bool durable,
			      struct err *e)
{
	struct world_device *d = device(r->function);

	(void)j, (void)durable, (void)e;
	pthread_mutex_lock(&world->lock);
	MUST(!d->busy);
	d->record = *r;
	d->rewriting = false;
	pthread_mutex_unlock(&world->lock);
	return 0;
}

static int fake_journal_probe(struct journal *j, struct err *e)
{
	int wrong;

	pthread_mutex_lock(&world->lock);
	MUST(j->open);
	world->n_probed++;
	wrong = world->fail_probe;
	pthread_mutex_unlock(&world->lock);
	return wrong ? err_set(e, wrong, "failure of the test") : 0;
}

static int fake_journal_each(struct journal *j, journal_fn *fn, journal_bad_fn *bad, void *arg,
			     struct err *e)
{
	(void)j;
	for (size_t i = 0; i < WORLD_VFS; i++) {
		struct world_device *d = &world->devices[i];

		if (d->bad) { /* and the file is moved away */
			d->record = (struct attach_record){.state = ATTACH_FREE};
			bad(d->function, &(struct err){-EBADMSG, "it cannot be read"}, arg);
		} else if (d->record.function[0] && fn(&d->record, arg) < 0)
			return err_set(e, -ENOMEM, "out of memory");
	}
	return 0;
}

/* --- allocations ------------------------------------------------------------------------------ */

struct holders {
	uv_timer_t timer; /* the runtime's answer */
	bool watched;
	uint64_t asked_ms;
};

static struct holders *holders;

void world_query_new_sandboxes(struct world *w, uint64_t since_ms)
{
	if (!holders->watched || !pod_sandbox_needs_details(&w->held, &w->shown, since_ms))
		return;
	w->sandboxes_asked_ms = uv_now(&w->loop);
	world_ask_kubelet(w);
}

/* Creation times are by a clock that may have been set since. */
static void copy_sandboxes(struct sandbox_list *to, const struct sandbox_list *from,
			   uint64_t asked_ms)
{
	struct sandbox_list before = *to;
	uint64_t now_ms = uv_now(&world->loop);

	*to = (struct sandbox_list){.known = true, .asked_ms = asked_ms};
	for (size_t i = 0; i < from->n && !world->runtime_lies; i++) {
		const bool odd = strtoul(from->items[i].id + 1, NULL, 10) % 2;
		struct sandbox *s;

		if (world->runtime_halves && odd)
			continue;
		s = array_push(to->items, to->n);
		MUST(s);
		*s = from->items[i];
		s->ready = s->ready && !world->runtime_halves;
		s->networks = s->networks ? strdup(s->networks) : NULL;
	}
	sandbox_list_date(to, &before, now_ms, world_clock_ns(world));
	sandbox_list_done(&before);
}

static void on_answer(uv_timer_t *timer)
{
	struct holders *h = timer->data;

	if (world->runtime_dead) {
		world->shown.known = false;
	} else {
		copy_sandboxes(&world->shown, &world->runtime, h->asked_ms);
		world_query_new_sandboxes(world, 0);
	}
	attach_engine_inputs_changed(world->engine);
}

static void ask_runtime(struct holders *h)
{
	if (!h->watched)
		return;
	h->asked_ms = uv_now(&world->loop);
	uv_timer_start(&h->timer, on_answer, 0, 0);
}

void world_show_sandboxes(struct world *w)
{
	(void)w;
	ask_runtime(holders);
}

struct holders *world_holders_open(struct world *w)
{
	holders = calloc(1, sizeof(*holders));
	MUST(holders);
	uv_timer_init(&w->loop, &holders->timer);
	holders->timer.data = holders;
	return holders;
}

static void on_closed(uv_handle_t *handle)
{
	free(handle->data);
}

void world_holders_close(void)
{
	sandbox_list_done(&world->shown);
	uv_close((uv_handle_t *)&holders->timer, on_closed);
	holders = NULL;
}

static const struct pod_list *fake_held(const struct holders *h)
{
	(void)h;
	return &world->held;
}

static const struct sandbox_list *fake_sandboxes(const struct holders *h)
{
	(void)h;
	return &world->shown;
}

static void fake_ask(struct holders *h)
{
	world_ask_kubelet(world);
	ask_runtime(h);
}

static int fake_watch_sandboxes(struct holders *h, struct err *e)
{
	(void)e;
	if (!h->watched) {
		h->watched = true;
		ask_runtime(h);
	}
	return 0;
}

static void fake_expect_sandboxes(struct holders *h, bool has_waiters)
{
	(void)h, (void)has_waiters;
}

static bool fake_runtime(const struct holders *h, struct cri_status *ret)
{
	*ret = (struct cri_status){.error = "connection refused"};
	return h->watched;
}

static const struct granted_list *fake_granted(struct holders *h)
{
	(void)h;
	return &world->granted;
}

const struct attach_ops world_ops = {
	.journal_open = fake_journal_open,
	.journal_open_existing = fake_journal_open,
	.journal_close = fake_journal_close,
	.journal_each = fake_journal_each,
	.journal_sweep = fake_journal_sweep,
	.journal_is_removed = fake_journal_is_gone,
	.journal_write = fake_journal_write,
	.journal_probe = fake_journal_probe,
	.run = fake_run,
	.check = fake_check,
	.announce = fake_announce,
	.boot_id = fake_boot_id,
	.netns_exists = fake_is_there,
	.netns_search = fake_search,
	.netns_users = fake_users,
	.check_host = fake_look_at_host,
	.netns_find = fake_find,
	.ipam_start = world_ipam_start,
	.ipam_cancel = world_ipam_cancel,
	.held = fake_held,
	.granted = fake_granted,
	.sandboxes = fake_sandboxes,
	.request_lists = fake_ask,
	.watch_sandboxes = fake_watch_sandboxes,
	.expect_sandboxes = fake_expect_sandboxes,
	.runtime = fake_runtime,
};
