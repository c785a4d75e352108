/* bpf_source.c - skeleton, hook choice, ring buffer in the loop.
 *
 * Happy path: find the hook's name in the kernel's BTF -> open -> fentry load and attach, or a
 * second try with the kprobe -> poll the ring buffer's epoll descriptor. Can fail by: no BTF, no
 * permission (lockdown answers EPERM to fentry), no such function: told in the log, and the program
 * is listed without a hook. */
#include "bpf_source.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "cleanup.h"
#include "log.h"
#include "netdev_moves.skel.h"
#include "self_counters.h"

struct bpf_source {
	struct netdev_moves_bpf *skel;
	struct ring_buffer *ring;
	uv_poll_t poll;
	bool polling;
	struct self_counters *self;
	uint64_t dropped_seen;
	bpf_event_fn *on_event;
	void *arg;
	struct bpf_program_status status;
};

/* Newest first; see bpf/netdev_moves.bpf.c. */
static const char *const move_functions[] = {
	"netif_change_net_namespace",
	"__dev_change_net_namespace",
	"dev_change_net_namespace",
};

static int on_libbpf(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	static struct log_site site;

	(void)level; /* a refused program is told once, in our words; the details are for debugging
		      */
	log_v(&site, LOG_LVL_DEBUG, "libbpf", 0, fmt, ap);
	return 0;
}

static const char *move_function(void)
{
	struct btf *btf = btf__load_vmlinux_btf();
	const char *found = NULL;

	for (size_t i = 0; btf && !found && i < ARRAY_SIZE(move_functions); i++)
		if (btf__find_by_name_kind(btf, move_functions[i], BTF_KIND_FUNC) > 0)
			found = move_functions[i];
	btf__free(btf);
	return found;
}

int bpf_event_check(const void *data, unsigned long size)
{
	const struct bpf_event *e = data;

	if (size != sizeof(*e) || e->version != BPF_EVENT_VERSION ||
	    e->kind != BPF_EVENT_NETDEV_MOVED)
		return -EBADMSG;
	if (memchr(e->comm, '\0', sizeof(e->comm)) == NULL ||
	    memchr(e->name, '\0', sizeof(e->name)) == NULL)
		return -EBADMSG;
	return 0;
}

static int on_record(void *ctx, void *data, size_t size)
{
	struct bpf_source *b = ctx;

	if (bpf_event_check(data, size) < 0) {
		b->self->malformed_bpf++;
		return 0;
	}
	b->self->events_bpf++;
	b->on_event(data, b->arg);
	return 0;
}

static void check_dropped(struct bpf_source *b)
{
	uint64_t dropped = b->skel->bss->dropped; /* mapped by the load that succeeded */

	if (dropped == b->dropped_seen)
		return;
	b->dropped_seen = dropped;
	b->self->overruns_bpf++;
	b->on_event(NULL, b->arg);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
	struct bpf_source *b = poll->data;

	(void)status, (void)events;
	ring_buffer__poll(b->ring, 0);
	check_dropped(b);
}

/* Loads and attaches with one of the two hooks; leaves no skeleton behind on failure. */
static int try_hook(struct bpf_source *b, const char *function, bool fentry)
{
	struct netdev_moves_bpf *skel = netdev_moves_bpf__open();
	int r;

	if (!skel)
		return errno ? -errno : -ENOMEM;
	bpf_program__set_autoload(skel->progs.netdev_move_fentry, fentry);
	bpf_program__set_autoload(skel->progs.netdev_move_kprobe, !fentry);
	r = fentry ? bpf_program__set_attach_target(skel->progs.netdev_move_fentry, 0, function)
		   : 0;
	if (r == 0)
		r = netdev_moves_bpf__load(skel);
	if (r == 0 && fentry) {
		r = netdev_moves_bpf__attach(skel);
	} else if (r == 0) {
		skel->links.netdev_move_kprobe = bpf_program__attach_kprobe(
			skel->progs.netdev_move_kprobe, false, function);
		r = skel->links.netdev_move_kprobe ? 0 : -errno;
	}
	if (r < 0) {
		netdev_moves_bpf__destroy(skel);
		return r;
	}
	b->skel = skel;
	return 0;
}

static int load(struct bpf_source *b, struct err *e)
{
	const char *function = move_function();
	int r, fentry_error;

	if (!function)
		return err_set(
			e, -EOPNOTSUPP,
			"this kernel's BTF is missing or knows no function that moves netdevs");
	r = fentry_error = try_hook(b, function, true);
	b->status.hook = "fentry";
	if (r < 0) {
		r = try_hook(b, function, false);
		b->status.hook = "kprobe";
	}
	if (r == 0)
		return 0;
	return err_set(e, r, "%s: fentry refused (%s), kprobe refused (%s)", function,
		       strerror(-fentry_error), strerror(-r));
}

/* Leaves the list of programs, and nothing in the kernel. */
static void detach(struct bpf_source *b)
{
	ring_buffer__free(b->ring);
	netdev_moves_bpf__destroy(b->skel);
	b->ring = NULL;
	b->skel = NULL;
	b->status.hook = "none";
}

static int start(struct bpf_source *b, struct uv_loop_s *loop, struct err *e)
{
	int r = load(b, e);

	if (!b->skel)
		return r;
	b->ring = ring_buffer__new(bpf_map__fd(b->skel->maps.events), on_record, b, NULL);
	if (!b->ring)
		return err_set(e, errno ? -errno : -ENOMEM, "ring buffer: %s", strerror(errno));
	r = uv_poll_init(loop, &b->poll, ring_buffer__epoll_fd(b->ring));
	if (r < 0)
		return err_set(e, r, "ring buffer: %s", uv_strerror(r));
	b->poll.data = b;
	b->polling = true;
	uv_poll_start(&b->poll, UV_READABLE, on_readable);
	return 0;
}

int bpf_source_open(struct bpf_source **ret, struct uv_loop_s *loop, struct self_counters *self,
		    bpf_event_fn *on_event, void *arg, struct err *e)
{
	struct bpf_source *b = calloc(1, sizeof(*b));
	struct err why = {0};

	if (!b)
		return err_set(e, -ENOMEM, "out of memory");
	libbpf_set_print(on_libbpf);
	b->self = self;
	b->on_event = on_event;
	b->arg = arg;
	b->status = (struct bpf_program_status){.name = "netdev_moves", .hook = "none"};
	if (start(b, loop, &why) < 0) {
		detach(b);
		log_warn("bpf", 0, "%s: %s, going on without it", b->status.name, why.msg);
	}
	malloc_trim(0); /* the kernel's BTF was 10 MB of heap that is not needed again */
	*ret = b;
	return 0;
}

static void on_closed(uv_handle_t *h)
{
	struct bpf_source *b = h->data;

	detach(b);
	free(b);
}

void bpf_source_close(struct bpf_source *b)
{
	if (b && b->polling)
		uv_close((uv_handle_t *)&b->poll, on_closed);
	else
		free(b);
}

unsigned bpf_source_programs(const struct bpf_source *b, const struct bpf_program_status **ret)
{
	if (!b)
		return 0;
	*ret = &b->status;
	return 1;
}
