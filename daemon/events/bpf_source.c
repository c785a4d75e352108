// SPDX-License-Identifier: Apache-2.0
/* bpf_source.c - decides which groups to load, runs the worker that does it, and reads the ring in
 * the loop.
 *
 * Success: create the maps -> poll the ring's epoll descriptor -> a worker loads the host's group
 * -> bpf_source_follow() reports RDMA devices -> a worker loads their groups. Failures: no
 * permission, no BTF, rejected programs (logged, and listed without a hook). */
#include "bpf_source.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "bpf_log.h"
#include "cleanup.h"
#include "job.h"
#include "log.h"
#include "self_counters.h"

#define TERMINATED(text) (memchr(text, '\0', sizeof(text)) != NULL)

static const size_t sizes[N_BPF_EVENT_KINDS] = {
	[BPF_EVENT_NETDEV_MOVED] = sizeof(struct bpf_event_netdev_moved),
	[BPF_EVENT_QP] = sizeof(struct bpf_event_qp),
	[BPF_EVENT_QP_FAILED] = sizeof(struct bpf_event_qp_failed),
	[BPF_EVENT_PORT] = sizeof(struct bpf_event_port),
	[BPF_EVENT_CM] = sizeof(struct bpf_event_cm),
	[BPF_EVENT_HEALTH] = sizeof(struct bpf_event_health),
	[BPF_EVENT_DCB] = sizeof(struct bpf_event_dcb),
	[BPF_EVENT_TX_TIMEOUT] = sizeof(struct bpf_event_tx_timeout),
};

static bool is_netdev_moved(const struct bpf_event_netdev_moved *e)
{
	return TERMINATED(e->name);
}

static bool is_qp(const struct bpf_event_qp *e)
{
	return TERMINATED(e->device) && e->change < N_BPF_QP_CHANGES;
}

static bool is_health(const struct bpf_event_health *e)
{
	return TERMINATED(e->bus) && TERMINATED(e->device) && TERMINATED(e->driver) &&
	       TERMINATED(e->reporter) && TERMINATED(e->message);
}

static bool is_dcb(const struct bpf_event_dcb *e)
{
	return TERMINATED(e->name) && e->what < N_BPF_DCB;
}

static bool is_tx_timeout(const struct bpf_event_tx_timeout *e)
{
	return TERMINATED(e->device) && TERMINATED(e->name) && TERMINATED(e->driver);
}

/* True if the fields are valid for the event's kind. */
static bool is_valid_event(const struct bpf_event *e)
{
	switch ((enum bpf_event_kind)e->kind) {
	case BPF_EVENT_NETDEV_MOVED:
		return is_netdev_moved((const struct bpf_event_netdev_moved *)e);
	case BPF_EVENT_QP:
		return is_qp((const struct bpf_event_qp *)e);
	case BPF_EVENT_QP_FAILED:
		return TERMINATED(((const struct bpf_event_qp_failed *)e)->device);
	case BPF_EVENT_PORT:
		return TERMINATED(((const struct bpf_event_port *)e)->device);
	case BPF_EVENT_CM:
		return ((const struct bpf_event_cm *)e)->what < N_BPF_CM;
	case BPF_EVENT_HEALTH:
		return is_health((const struct bpf_event_health *)e);
	case BPF_EVENT_DCB:
		return is_dcb((const struct bpf_event_dcb *)e);
	case BPF_EVENT_TX_TIMEOUT:
		return is_tx_timeout((const struct bpf_event_tx_timeout *)e);
	case N_BPF_EVENT_KINDS:
		break;
	}
	return false;
}

int bpf_event_check(const void *data, size_t size)
{
	const struct bpf_event *e = data;

	if (size < sizeof(*e) || e->version != BPF_EVENT_VERSION || e->kind >= N_BPF_EVENT_KINDS ||
	    size != sizes[e->kind] || size != e->size || !TERMINATED(e->comm))
		return -EBADMSG;
	return is_valid_event(e) ? 0 : -EBADMSG;
}

/* Maximum number of events per turn, so that many events do not block the loop. */
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
	unsigned again;		/* groups of `tried` that failed temporarily */
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

/* Counts lost and suppressed events, and reports the losses. */
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

/* Reads events, and checks for losses only when the ring is empty: lost events are newer than those
 * in the ring, so otherwise older events would follow the rescan that the loss triggers. */
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

/* Returns the groups that failed temporarily and have no loaded program: reloading a partly loaded
 * group would miss events. */
static unsigned groups_to_retry(const struct bpf_job *j)
{
	unsigned groups = 0;

	for (unsigned i = 0; i < N_BPF_POINTS; i++) {
		enum bpf_group group = bpf_points[i].group;

		if (j->load & 1U << group && !j->loaded[group] && j->status[i].may_be_temporary)
			groups |= 1U << group;
	}
	return groups;
}

static void close_poll(struct bpf_source *b);
static void start_job(struct bpf_source *b);

static void on_loaded(void *arg)
{
	struct bpf_source *b = arg;

	b->tried = (b->tried & ~b->job.unload) | b->job.load;
	b->again = (b->again & b->tried & ~b->job.load) | groups_to_retry(&b->job);
	b->again_ms = uv_now(b->loop) + RETRY_MS;
	take_status(b);
	if (b->closing) {
		close_poll(b);
		return;
	}
	b->hooks.programs(b->hooks.arg);
	start_job(b);
}

/* Loads and unloads groups. Each is tried once, because the kernel's decision does not change;
 * temporary failures are retried after RETRY_MS, at the next call. */
static void start_job(struct bpf_source *b)
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
	start_job(b);
}

/* --- open and close --------------------------------------------------------------------------- */

static void bpf_source_release(struct bpf_source *b)
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
		bpf_source_release(b);
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

	bpf_source_release(b);
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
