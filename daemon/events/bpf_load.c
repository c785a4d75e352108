// SPDX-License-Identifier: Apache-2.0
/* bpf_load.c - see bpf_load.h.
 *
 * Success: open the group's object -> for each point choose the first hook whose function exists in
 * the kernel -> share the maps -> load -> attach. Failures: no BTF, a missing function, rejection
 * by the kernel (lockdown and kernels without trampolines reject fentry). */
#include "bpf_load.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bpf_log.h"
#include "cleanup.h"
#include "search.h"

#define RING_SIZE (256 * 1024)

struct bpf_loaded {
	struct bpf_object *objects[N_BPF_POINTS];
	struct bpf_link *links[2 * N_BPF_POINTS];
	unsigned n_objects, n_links;
};

/* One combination of hooks to try: the index of each point's hook, -1 = skip the point. */
struct choice {
	int hook[N_BPF_POINTS];
};

/* --- the shared maps -------------------------------------------------------------------------- */

int bpf_maps_open(struct bpf_maps *ret, struct err *e)
{
	struct bpf_maps m = {.events_fd = -1, .losses_fd = -1, .soft_counts_fd = -1};
	int r;

	m.events_fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "rocelet_events", 0, 0, RING_SIZE, NULL);
	if (m.events_fd >= 0)
		m.losses_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "rocelet_losses", sizeof(__u32),
					     sizeof(__u64), N_BPF_LOSSES, NULL);
	if (m.losses_fd >= 0)
		m.soft_counts_fd = bpf_map_create(
			BPF_MAP_TYPE_LRU_HASH, "rocelet_soft", sizeof(struct bpf_soft_key),
			sizeof(struct bpf_soft_counts), BPF_SOFT_DEVICES_MAX, NULL);
	if (m.soft_counts_fd < 0) {
		r = -errno;
		bpf_maps_close(&m);
		return err_set(e, r, "BPF maps: %s", strerror(-r));
	}
	*ret = m;
	return 0;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void bpf_maps_close(struct bpf_maps *m)
{
	close_fd(&m->events_fd);
	close_fd(&m->losses_fd);
	close_fd(&m->soft_counts_fd);
}

static bool bpf_has_key(const struct bpf_soft_device *d, unsigned n, const struct bpf_soft_key *key)
{
	return any_of(n, i, memcmp(&d[i].key, key, sizeof(*key)) == 0);
}

/* Skips duplicates: if the previous key was removed in the meantime, the kernel restarts the
 * iteration. */
unsigned bpf_maps_soft_counts(const struct bpf_maps *m, struct bpf_soft_device *ret, unsigned cap)
{
	struct bpf_soft_key key, before;
	unsigned n = 0;

	for (unsigned steps = 0; n < cap && steps < 2 * BPF_SOFT_DEVICES_MAX; steps++) {
		if (bpf_map_get_next_key(m->soft_counts_fd, steps ? &before : NULL, &key) < 0)
			break;
		before = key;
		if (bpf_has_key(ret, n, &key) ||
		    bpf_map_lookup_elem(m->soft_counts_fd, &key, &ret[n].counts) < 0)
			continue;
		ret[n++].key = key;
	}
	return n;
}

static int share(struct bpf_object *o, const char *name, int fd)
{
	struct bpf_map *map = bpf_object__find_map_by_name(o, name);

	return map ? bpf_map__reuse_fd(map, fd) : 0;
}

static int share_maps(struct bpf_object *o, const struct bpf_maps *maps)
{
	int r = share(o, "events", maps->events_fd);

	if (r == 0)
		r = share(o, "losses", maps->losses_fd);
	if (r == 0)
		r = share(o, "soft_counts", maps->soft_counts_fd);
	return r;
}

/* --- one object ------------------------------------------------------------------------------- */

static struct bpf_program *bpf_program_of(struct bpf_object *o, const char *name)
{
	return name ? bpf_object__find_program_by_name(o, name) : NULL;
}

/* Chooses the first function that exists. The function of a kprobe is only looked up when it is
 * attached. */
static int choose_function(struct bpf_object *o, const struct bpf_point *p,
			   const struct bpf_hook *h)
{
	struct bpf_program *prog = bpf_program_of(o, h->program);
	int r = -ENOENT;

	if (!prog)
		return -EINVAL;
	bpf_program__set_autoload(prog, true);
	if (h->kind == BPF_HOOK_KPROBE) {
		if (h->returned)
			bpf_program__set_autoload(bpf_program_of(o, h->returned), true);
		return 0;
	}
	for (unsigned i = 0; i < BPF_POINT_FUNCTIONS && p->functions[i] && r < 0; i++)
		r = bpf_program__set_attach_target(prog, 0, p->functions[i]);
	return r;
}

/* Deselects all programs of the object. */
static void deselect_all(struct bpf_object *o)
{
	struct bpf_program *prog = NULL;

	while ((prog = bpf_object__next_program(o, prog)))
		bpf_program__set_autoload(prog, false);
}

static int choose_functions(struct bpf_object *o, struct choice *c)
{
	int r = 0;

	for (unsigned i = 0; i < N_BPF_POINTS && r == 0; i++)
		if (c->hook[i] >= 0)
			r = choose_function(o, &bpf_points[i], &bpf_points[i].hooks[c->hook[i]]);
	return r;
}

/* Loads an object with the chosen hooks. If that fails, loads the object without programs: choosing
 * functions has read the kernel's BTF, which libbpf frees only when an object is loaded. */
static int load_object(struct bpf_object **ret, enum bpf_group group, struct choice *c,
		       const struct bpf_maps *maps)
{
	size_t size;
	const void *elf = bpf_group_elf(group, &size);
	struct bpf_object *o = bpf_object__open_mem(elf, size, NULL);
	int r, loaded;

	if (!o)
		return errno ? -errno : -ENOMEM;
	deselect_all(o);
	r = share_maps(o, maps);
	if (r == 0)
		r = choose_functions(o, c);
	if (r < 0)
		deselect_all(o);
	loaded = bpf_object__load(o);
	if (r == 0)
		r = loaded;
	if (r < 0) {
		bpf_object__close(o);
		return r;
	}
	*ret = o;
	return 0;
}

static int keep_link(struct bpf_loaded *l, struct bpf_link *link)
{
	if (!link)
		return errno ? -errno : -EINVAL;
	l->links[l->n_links++] = link;
	return 0;
}

static int attach_kprobe(struct bpf_loaded *l, struct bpf_object *o, const struct bpf_point *p,
			 const struct bpf_hook *h)
{
	int r = -ENOENT;

	for (unsigned i = 0; i < BPF_POINT_FUNCTIONS && p->functions[i] && r < 0; i++) {
		r = keep_link(l, bpf_program__attach_kprobe(bpf_program_of(o, h->program), false,
							    p->functions[i]));
		if (r == 0 && h->returned)
			r = keep_link(l, bpf_program__attach_kprobe(bpf_program_of(o, h->returned),
								    true, p->functions[i]));
	}
	return r;
}

static int attach_hook(struct bpf_loaded *l, struct bpf_object *o, const struct bpf_point *p,
		       const struct bpf_hook *h)
{
	if (h->kind == BPF_HOOK_KPROBE)
		return attach_kprobe(l, o, p, h);
	return keep_link(l, bpf_program__attach_trace(bpf_program_of(o, h->program)));
}

/* --- a group ---------------------------------------------------------------------------------- */

/* Loads and attaches the chosen hooks, all or nothing. */
static int try_choice(struct bpf_loaded *l, enum bpf_group group, struct choice *c,
		      const struct bpf_maps *maps)
{
	unsigned links_before = l->n_links;
	struct bpf_object *o = NULL;
	int r = load_object(&o, group, c, maps);

	if (r < 0)
		return r;
	for (unsigned i = 0; i < N_BPF_POINTS && r == 0; i++)
		if (c->hook[i] >= 0)
			r = attach_hook(l, o, &bpf_points[i], &bpf_points[i].hooks[c->hook[i]]);
	if (r == 0) {
		l->objects[l->n_objects++] = o;
		return 0;
	}
	while (l->n_links > links_before)
		bpf_link__destroy(l->links[--l->n_links]);
	bpf_object__close(o);
	return r;
}

static void choose_nothing(struct choice *c)
{
	for (unsigned i = 0; i < N_BPF_POINTS; i++)
		c->hook[i] = -1;
}

static const char *hook_failure_reason(enum bpf_hook_kind kind, int error)
{
	switch (error) {
	case -ESRCH:
	case -ENOENT:
		return kind == BPF_HOOK_KPROBE ? "no such function, or no kprobes"
					       : "not in the kernel's BTF";
	case -EPERM:
		return "not permitted";
	default:
		return strerror(-error);
	}
}

/* True if the error is a lack of resources: what the kernel does not support or permit now, it will
 * reject later, too. */
static bool may_be_temporary(int error)
{
	switch (error) {
	case -EAGAIN:
	case -EBUSY:
	case -EINTR:
	case -EMFILE:
	case -ENFILE:
	case -ENOMEM:
		return true;
	default:
		return false;
	}
}

static void report_refused(struct bpf_program_status *s, enum bpf_hook_kind kind, int error)
{
	const char *words = bpf_log_take_words();
	size_t n = strlen(s->error);

	snprintf(s->error + n, sizeof(s->error) - n, "%s%s: %s%s%s", n ? "; " : "",
		 bpf_hook_name(kind), hook_failure_reason(kind, error), words[0] ? ": " : "",
		 words);
	s->may_be_temporary |= may_be_temporary(error);
}

/* Loads a point with the first of its hooks that the kernel accepts. A kind of hook that is not
 * permitted is not tried for later points. */
static void load_point(struct bpf_loaded *l, unsigned i, const struct bpf_maps *maps,
		       int refused[static BPF_HOOK_KPROBE + 1], struct bpf_program_status *s)
{
	const struct bpf_point *p = &bpf_points[i];
	struct choice c;

	choose_nothing(&c);
	for (int h = 0; h < BPF_POINT_HOOKS && p->hooks[h].program; h++) {
		enum bpf_hook_kind kind = p->hooks[h].kind;
		int r = refused[kind];

		c.hook[i] = h;
		if (r == 0)
			r = try_choice(l, p->group, &c, maps);
		if (r == 0) {
			s->hook = bpf_hook_name(kind);
			return;
		}
		if (r == -EPERM)
			refused[kind] = r;
		report_refused(s, kind, r);
	}
}

/* Loads all points of a group as one object, each with its first hook. False: that failed. */
static bool load_together(struct bpf_loaded *l, enum bpf_group group, const struct bpf_maps *maps,
			  struct bpf_program_status status[N_BPF_POINTS])
{
	struct choice c;

	choose_nothing(&c);
	for (unsigned i = 0; i < N_BPF_POINTS; i++)
		if (bpf_points[i].group == group)
			c.hook[i] = 0;
	if (try_choice(l, group, &c, maps) < 0) {
		bpf_log_take_words(); /* each program reports its own failure below */
		return false;
	}
	for (unsigned i = 0; i < N_BPF_POINTS; i++)
		if (c.hook[i] >= 0)
			status[i].hook = bpf_hook_name(bpf_points[i].hooks[0].kind);
	return true;
}

struct bpf_loaded *bpf_group_load(enum bpf_group group, const struct bpf_maps *maps,
				  struct bpf_program_status status[N_BPF_POINTS])
{
	int refused[BPF_HOOK_KPROBE + 1] = {0};
	struct bpf_loaded *l = calloc(1, sizeof(*l));

	for (unsigned i = 0; i < N_BPF_POINTS; i++)
		if (bpf_points[i].group == group)
			status[i] = (struct bpf_program_status){
				.name = bpf_points[i].name, .hook = "none", .may_be_temporary = !l};
	if (!l)
		return NULL;
	if (!load_together(l, group, maps, status))
		for (unsigned i = 0; i < N_BPF_POINTS; i++)
			if (bpf_points[i].group == group)
				load_point(l, i, maps, refused, &status[i]);
	malloc_trim(0); /* the kernel's BTF used 10 MB of heap, which are not needed again */
	if (l->n_objects > 0)
		return l;
	free(l);
	return NULL;
}

void bpf_loaded_free(struct bpf_loaded *l)
{
	if (!l)
		return;
	while (l->n_links > 0)
		bpf_link__destroy(l->links[--l->n_links]);
	while (l->n_objects > 0)
		bpf_object__close(l->objects[--l->n_objects]);
	free(l);
}
