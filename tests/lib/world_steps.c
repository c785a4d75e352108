/* On workers no assertion of cmocka may jump away: what must not be aborts. */
#include "world_steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"

static struct world *world;

void world_steps_use(struct world *w)
{
	world = w;
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
	for (size_t i = 0; i < WORLD_VFS; i++)
		if (strcmp(world->devices[i].function, function) == 0)
			return &world->devices[i];
	abort();
}

static uint64_t ns_of(const struct netns_id *id)
{
	return strncmp(id->path, "/ns/", 4) == 0 ? strtoull(id->path + 4, NULL, 10) : 0;
}

static int gone(struct attach_job *job)
{
	return err_set(&job->err, -ENOENT, "its namespace is gone");
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
		if (!world->alive[ns])
			return gone(job);
		r->state = ATTACH_ATTACHING;
		r->serial++;
		r->owner.netns.dev = 1;
		r->owner.netns.ino = ns;
		snprintf(r->origin.name, sizeof(r->origin.name), "v");
		d->record = *r;
		return 0;
	case STEP_ADMIN:
		d->dirty = true;
		return 0;
	case STEP_MOVE:
		MUST(d->ns == 0 && !d->marked);
		if (!world->alive[ns])
			return gone(job);
		d->ns = ns;
		d->marked = true;
		return 0;
	case STEP_DONE:
		if (!world->alive[ns])
			return gone(job);
		MUST(d->ns == ns);
		r->state = ATTACH_IN_POD;
		d->record = *r;
		return 0;
	default:
		return world->alive[ns] ? 0 : gone(job);
	}
}

static int step_back(struct attach_job *job, struct world_device *d)
{
	switch ((enum return_step)job->next) {
	case BACK_RECORD:
		job->record.state = ATTACH_RETURNING;
		d->record = job->record;
		return 0;
	case BACK_MOVE:
		d->ns = 0;
		d->marked = false;
		return 0;
	case BACK_ADMIN:
		d->dirty = false;
		return 0;
	case BACK_DONE:
		MUST(!d->ns && !d->marked);
		job->record.state = ATTACH_FREE;
		d->record = job->record;
		return 0;
	default:
		return 0;
	}
}

static int step(struct attach_job *job, struct world_device *d)
{
	int wrong = job->is_return ? world->fail_back[job->next] : world->fail_in[job->next];

	if (wrong)
		return err_set(&job->err, wrong, "somebody said so");
	return job->is_return ? step_back(job, d) : step_in(job, d);
}

static void enter(struct world_device *d)
{
	pthread_mutex_lock(&world->lock);
	MUST(!d->busy);
	d->busy = true;
	if (++world->n_inside > world->n_inside_max)
		world->n_inside_max = world->n_inside;
	while (world->hold)
		pthread_cond_wait(&world->changed, &world->lock);
}

static void leave(struct world_device *d)
{
	d->busy = false;
	world->n_inside--;
	pthread_mutex_unlock(&world->lock);
}

static int fake_run(struct attach_job *job)
{
	struct world_device *d = device(job->record.function);
	int n = job->is_return ? (int)N_RETURN_STEPS : (int)N_ATTACH_STEPS;
	int ours = job->is_return ? (int)BACK_IPAM : (int)STEP_IPAM, r = 0;

	enter(d);
	MUST(job->journal || job->is_return);
	while (r == 0 && job->next < n && job->next != ours) {
		r = step(job, d);
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
	world->n_checks++;
	world->n_repairs += repair;
	job->drift = world->drift;
	if (!world->alive[ns_of(&job->record.owner.netns)])
		r = gone(job);
	leave(d);
	return r;
}

static int fake_announce(struct attach_job *job)
{
	struct world_device *d = device(job->record.function);

	enter(d);
	world->n_announced++;
	leave(d);
	return 0;
}

static bool fake_is_alive(const struct hw *hw, const struct netns_id *id)
{
	bool alive;

	(void)hw;
	pthread_mutex_lock(&world->lock);
	alive = world->alive[ns_of(id)];
	pthread_mutex_unlock(&world->lock);
	return alive;
}

static int fake_find(const struct hw *hw, const char *path, struct netns_id *ret)
{
	*ret = (struct netns_id){.dev = 1};
	snprintf(ret->path, sizeof(ret->path), "%s", path);
	ret->ino = ns_of(ret);
	return fake_is_alive(hw, ret) ? 0 : -ENOENT;
}

/* --- the journal ------------------------------------------------------------------------------ */

struct journal {
	int unused;
};

static int fake_journal_open(struct journal **ret, const char *state_dir, struct err *e)
{
	static struct journal journal;

	(void)state_dir;
	if (world->fail_journal)
		return err_set(e, world->fail_journal, "journal: somebody said so");
	*ret = &journal;
	return 0;
}

static void fake_journal_close(struct journal *j)
{
	(void)j;
}

static int fake_journal_each(struct journal *j, journal_fn *fn, journal_bad_fn *bad, void *arg,
			     struct err *e)
{
	(void)j;
	for (size_t i = 0; i < WORLD_VFS; i++) {
		struct world_device *d = &world->devices[i];

		if (d->bad)
			bad(d->function, &(struct err){-EBADMSG, "it cannot be read"}, arg);
		else if (d->record.function[0] && fn(&d->record, arg) < 0)
			return err_set(e, -ENOMEM, "out of memory");
	}
	return 0;
}

/* --- the runtime ------------------------------------------------------------------------------ */

struct cri {
	uv_timer_t timer;
	cri_fn *fn;
	void *arg;
	uint64_t asked_ms;
};

static struct cri *runtime;

static void copy_sandboxes(struct sandbox_list *to, const struct sandbox_list *from)
{
	sandbox_list_done(to);
	for (size_t i = 0; i < from->n; i++) {
		struct sandbox *s = array_push(to->items, to->n);

		MUST(s);
		*s = from->items[i];
		s->networks = s->networks ? strdup(s->networks) : NULL;
	}
	to->known = true;
}

static void on_answer(uv_timer_t *timer)
{
	struct cri *c = timer->data;

	if (world->runtime_dead)
		world->shown.known = false;
	else
		copy_sandboxes(&world->shown, &world->runtime);
	c->fn(&world->shown, world->runtime_dead ? 0 : c->asked_ms, c->arg);
}

static void fake_cri_refresh(struct cri *c)
{
	c->asked_ms = uv_now(&world->loop);
	uv_timer_start(&c->timer, on_answer, 0, 0);
}

void world_show_sandboxes(struct world *w)
{
	(void)w;
	if (runtime)
		fake_cri_refresh(runtime);
}

static int fake_cri_open(struct cri **ret, struct uv_loop_s *loop, const char *socket, cri_fn *fn,
			 void *arg, struct err *e)
{
	(void)socket, (void)e;
	runtime = calloc(1, sizeof(*runtime));
	MUST(runtime);
	runtime->fn = fn;
	runtime->arg = arg;
	uv_timer_init(loop, &runtime->timer);
	runtime->timer.data = runtime;
	fake_cri_refresh(runtime);
	*ret = runtime;
	return 0;
}

static void fake_cri_expect(struct cri *c, bool expect)
{
	(void)c, (void)expect;
}

static const struct sandbox_list *fake_cri_sandboxes(const struct cri *c)
{
	(void)c;
	return &world->shown;
}

static void fake_cri_status(const struct cri *c, struct cri_status *ret)
{
	(void)c;
	*ret = (struct cri_status){.error = "connection refused"};
}

static void on_closed(uv_handle_t *handle)
{
	free(handle->data);
}

static void fake_cri_close(struct cri *c)
{
	runtime = NULL;
	sandbox_list_done(&world->shown);
	uv_close((uv_handle_t *)&c->timer, on_closed);
}

const struct attach_ops world_ops = {
	.journal_open = fake_journal_open,
	.journal_look = fake_journal_open,
	.journal_close = fake_journal_close,
	.journal_each = fake_journal_each,
	.run = fake_run,
	.check = fake_check,
	.announce = fake_announce,
	.netns_is_alive = fake_is_alive,
	.netns_find = fake_find,
	.cri_open = fake_cri_open,
	.cri_refresh = fake_cri_refresh,
	.cri_expect = fake_cri_expect,
	.cri_sandboxes = fake_cri_sandboxes,
	.cri_status = fake_cri_status,
	.cri_close = fake_cri_close,
};
