// SPDX-License-Identifier: Apache-2.0
/* bpf_source.c - decides which groups to load, runs the worker that does it, and reads the ring in
 * the loop.
 *
 * Happy path: create the maps -> poll the ring's epoll descriptor -> a worker loads the host's
 * group -> bpf_source_follow() reports RDMA devices -> a worker loads their groups. Can fail by: no
 * permission, no BTF, rejected programs: logged, and listed without a hook. */
#include "bpf_source.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "bpf_event_check.h"
#include "bpf_log.h"
#include "cleanup.h"
#include "job.h"
#include "log.h"
#include "self_counters.h"

/* Maximum number of events per turn, so that a storm does not block the loop. */
#define EVENTS_PER_TURN 512

#define RETRY_MS 60000

/* Owned by the worker while it runs. */
struct bpf_job {
	unsigned load, unload; /* bit masks of groups */
	const struct bpf_maps *maps;
	struct bpf_loaded *loaded[N_BPF_GROUPS];
	struct bpf_program_status status[N_BPF_POINTS];
};

struct bpf_source {
	uv_loop_t *loop;
	struct bpf_maps maps;
	struct ring_buffer *ring;
	uv_poll_t poll;
	bool polling, closing;
	unsigned taken; /* events of this turn */
	struct self_counters *self;
	uint64_t losses[N_BPF_LOSSES];
	struct bpf_source_hooks hooks;
	unsigned wanted, tried; /* bit masks of groups */
	unsigned again;		/* those of `tried` that failed temporarily */
	uint64_t again_ms;	/* loop time */
	struct job work;
	struct bpf_job job;
	struct bpf_program_status status[N_BPF_POINTS];
};

/* --- the ring --------------------------------------------------------------------------------- */

static int bpf_source_on_record(void *ctx, void *data, size_t size)
{
	struct bpf_source *b = ctx;

	if (bpf_event_check(data, size) < 0) {
		b->self->malformed_bpf++;
	} else {
		b->self->events_bpf++;
		b->hooks.event(data, b->hooks.arg);
	}
	return ++b->taken < EVENTS_PER_TURN ? 0 : -EAGAIN; /* stop; the descriptor stays readable */
}

static uint64_t new_losses(struct bpf_source *b, __u32 which)
{
	uint64_t n, before = b->losses[which];

	if (bpf_map_lookup_elem(b->maps.losses_fd, &which, &n) < 0)
		return 0;
	b->losses[which] = n;
	return n - before;
}

static void check_losses(struct bpf_source *b)
{
	b->self->suppressed_bpf += new_losses(b, BPF_SUPPRESSED);
	if (new_losses(b, BPF_LOST) == 0)
		return;
	b->self->overruns_bpf++;
	b->hooks.event(NULL, b->hooks.arg);
}

static bool is_empty(const struct bpf_source *b)
{
	struct pollfd ring = {.fd = ring_buffer__epoll_fd(b->ring), .events = POLLIN};

	return b->taken < EVENTS_PER_TURN || poll(&ring, 1, 0) == 0;
}

/* Lost events are newer than those in the ring. So losses are reported only after the ring is
 * empty: otherwise the rescan that they trigger would be followed by older events. */
static void bpf_source_on_readable(uv_poll_t *poll, int status, int events)
{
	struct bpf_source *b = poll->data;

	(void)status, (void)events;
	b->taken = 0;
	ring_buffer__consume(b->ring);
	if (is_empty(b))
		check_losses(b);
}

static int ring_start(struct bpf_source *b, struct err *e)
{
	int r = bpf_maps_open(&b->maps, e);

	if (r < 0)
		return r;
	b->ring = ring_buffer__new(b->maps.events_fd, bpf_source_on_record, b, NULL);
	if (!b->ring)
		return err_set(e, errno ? -errno : -ENOMEM, "ring buffer: %s", strerror(errno));
	r = uv_poll_init(b->loop, &b->poll, ring_buffer__epoll_fd(b->ring));
	if (r < 0)
		return err_set(e, r, "ring buffer: %s", uv_strerror(r));
	b->poll.data = b;
	b->polling = true;
	uv_poll_start(&b->poll, UV_READABLE, bpf_source_on_readable);
	return 0;
}

/* --- groups ----------------------------------------------------------------------------------- */

static const char *group_waits_for(enum bpf_group group)
{
	switch (group) {
	case BPF_GROUP_HOST:
		return "";
	case BPF_GROUP_RDMA:
		return "there are no RDMA devices";
	case BPF_GROUP_CM:
		return "there are no RDMA devices, or rdma_cm is not loaded";
	case BPF_GROUP_RXE:
		return "there are no soft-RoCE devices";
	case N_BPF_GROUPS:
		break;
	}
	return "";
}

static void list_without_hook(struct bpf_program_status *s, unsigned point, const char *why)
{
	*s = (struct bpf_program_status){.name = bpf_points[point].name, .hook = "none"};
	snprintf(s->error, sizeof(s->error), "%.*s", (int)sizeof(s->error) - 1, why);
}

static void log_program(const struct bpf_program_status *s)
{
	if (strcmp(s->hook, "none") == 0)
		log_warn("bpf", 0, "%s: %s, going on without it", s->name, s->error);
	else
		log_debug("bpf", 0, "%s: watched with %s%s%s", s->name, s->hook,
			  *s->error ? "; " : "", s->error);
}

static void load_groups(void *arg)
{
	struct bpf_job *j = &((struct bpf_source *)arg)->job;

	for (unsigned g = 0; g < N_BPF_GROUPS; g++) {
		if (j->unload & 1U << g) {
			bpf_loaded_free(j->loaded[g]);
			j->loaded[g] = NULL;
		}
		if (j->load & 1U << g)
			j->loaded[g] = bpf_group_load((enum bpf_group)g, j->maps, j->status);
	}
}

static void take_status(struct bpf_source *b)
{
	for (unsigned i = 0; i < N_BPF_POINTS; i++) {
		unsigned group = 1U << bpf_points[i].group;

		if (b->job.load & group) {
			b->status[i] = b->job.status[i];
			log_program(&b->status[i]);
		} else if (b->job.unload & group) {
			list_without_hook(&b->status[i], i, group_waits_for(bpf_points[i].group));
		}
	}
}

/* Only groups of which nothing was loaded: reloading a partly loaded group would miss events. */
static unsigned refused_for_now(const struct bpf_job *j)
{
	unsigned groups = 0;

	for (unsigned i = 0; i < N_BPF_POINTS; i++) {
		enum bpf_group group = bpf_points[i].group;

		if (j->load & 1U << group && !j->loaded[group] && j->status[i].may_pass)
			groups |= 1U << group;
	}
	return groups;
}

static void close_poll(struct bpf_source *b);
static void catch_up(struct bpf_source *b);

static void on_loaded(void *arg)
{
	struct bpf_source *b = arg;

	b->tried = (b->tried & ~b->job.unload) | b->job.load;
	b->again = (b->again & b->tried & ~b->job.load) | refused_for_now(&b->job);
	b->again_ms = uv_now(b->loop) + RETRY_MS;
	take_status(b);
	if (b->closing) {
		close_poll(b);
		return;
	}
	b->hooks.programs(b->hooks.arg);
	catch_up(b);
}

/* Loads and unloads groups. Each is tried once, because the kernel's decision does not change;
 * temporary failures are retried after RETRY_MS, at the next call. */
static void catch_up(struct bpf_source *b)
{
	if (b->work.running || b->closing || !b->polling)
		return;
	if (b->again && uv_now(b->loop) >= b->again_ms)
		b->tried &= ~(b->again & b->wanted);
	if (b->wanted == b->tried)
		return;
	b->job.load = b->wanted & ~b->tried;
	b->job.unload = b->tried & ~b->wanted;
	b->job.maps = &b->maps;
	job_begin(&b->work, b->loop, "loading event programs", load_groups, on_loaded, b);
}

void bpf_source_follow(struct bpf_source *b, const struct bpf_presence *p)
{
	if (!b)
		return;
	b->wanted = 1U << BPF_GROUP_HOST;
	if (p->rdma_devices)
		b->wanted |= 1U << BPF_GROUP_RDMA;
	if (p->rdma_devices && p->rdma_cm)
		b->wanted |= 1U << BPF_GROUP_CM;
	if (p->soft_devices)
		b->wanted |= 1U << BPF_GROUP_RXE;
	catch_up(b);
}

/* --- life ------------------------------------------------------------------------------------- */

static void let_go(struct bpf_source *b)
{
	ring_buffer__free(b->ring);
	for (unsigned g = 0; g < N_BPF_GROUPS; g++)
		bpf_loaded_free(b->job.loaded[g]);
	bpf_maps_close(&b->maps);
	b->ring = NULL;
}

int bpf_source_open(struct bpf_source **ret, struct uv_loop_s *loop, struct self_counters *self,
		    const struct bpf_source_hooks *hooks, struct err *e)
{
	struct bpf_source *b = calloc(1, sizeof(*b));
	struct err why = {0};

	if (!b)
		return err_set(e, -ENOMEM, "out of memory");
	bpf_log_follow();
	b->loop = loop;
	b->self = self;
	b->hooks = *hooks;
	b->maps = (struct bpf_maps){.events_fd = -1, .losses_fd = -1, .soft_counts_fd = -1};
	if (ring_start(b, &why) < 0) {
		let_go(b);
		log_warn("bpf", 0, "%s, going on without BPF programs", why.msg);
	}
	for (unsigned i = 0; i < N_BPF_POINTS; i++)
		list_without_hook(&b->status[i], i,
				  b->polling ? group_waits_for(bpf_points[i].group) : why.msg);
	bpf_source_follow(b, &(struct bpf_presence){0});
	*ret = b;
	return 0;
}

static void bpf_source_on_closed(uv_handle_t *h)
{
	struct bpf_source *b = h->data;

	let_go(b);
	free(b);
}

static void close_poll(struct bpf_source *b)
{
	if (b->polling)
		uv_close((uv_handle_t *)&b->poll, bpf_source_on_closed);
	else
		free(b);
}

void bpf_source_close(struct bpf_source *b)
{
	if (!b)
		return;
	b->closing = true;
	if (b->polling)
		uv_poll_stop(&b->poll);
	if (!b->work.running)
		close_poll(b);
}

/* --- status ---------------------------------------------------------------------------------- */

unsigned bpf_source_programs(const struct bpf_source *b, const struct bpf_program_status **ret)
{
	if (!b)
		return 0;
	*ret = b->status;
	return N_BPF_POINTS;
}

bool bpf_source_runs(const struct bpf_source *b, const char *program)
{
	const struct bpf_program_status *p;
	unsigned n = bpf_source_programs(b, &p);

	for (unsigned i = 0; i < n; i++)
		if (strcmp(p[i].name, program) == 0)
			return strcmp(p[i].hook, "none") != 0;
	return false;
}

unsigned bpf_source_soft_counts(const struct bpf_source *b, struct bpf_soft_device *ret,
				unsigned cap)
{
	return b && b->polling ? bpf_maps_soft_counts(&b->maps, ret, cap) : 0;
}

void bpf_source_soft_forget(struct bpf_source *b, const struct bpf_soft_key *key)
{
	bpf_map_delete_elem(b->maps.soft_counts_fd, key);
}
