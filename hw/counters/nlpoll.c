/* nlpoll.c - the one way through the table of kinds (nlpoll_kinds.c).
 *
 * Every kind is a request, a socket and a decoder that calls back with (name, value) pairs. Probing
 * writes the names down; reading expects the same names again, in the same order as a rule, and
 * writes the values into the slots. A name that is new or missing (an optional counter was
 * switched) makes the layout stale. Can fail by: no such family or command in this kernel (the
 * probe finds no names); the device went away (its reading is absent); no answer in time (all of
 * that kind are absent). */
#include "nlpoll.h"

#include <linux/ethtool_netlink.h>
#include <stdlib.h>

#include "array.h"
#include "genl.h"
#include "nlpoll_kinds.h"

enum source nlpoll_source(enum nlpoll_kind kind)
{
	return nlpoll_kinds[kind].source;
}

bool nlpoll_is_slow(enum nlpoll_kind kind)
{
	return nlpoll_kinds[kind].slow;
}

/* --- life ------------------------------------------------------------------------------------- */

void nlpoll_init(struct nlpoll *p)
{
	*p = (struct nlpoll){
		.rdma = NLSOCK_CLOSED, .route = NLSOCK_CLOSED, .generic = NLSOCK_CLOSED};
}

static void target_done(struct nlpoll_target *t)
{
	free(t->names);
	free(t->slots);
}

static void drop_targets(struct nlpoll_group *g)
{
	while (g->n)
		target_done(&g->targets[--g->n]);
}

void nlpoll_done(struct nlpoll *p)
{
	for (size_t k = 0; k < N_POLL_KINDS; k++) {
		drop_targets(&p->groups[k]);
		free(p->groups[k].targets);
		nldev_batch_done(&p->groups[k].batch);
	}
	nlsock_close(&p->rdma);
	nlsock_close(&p->route);
	nlsock_close(&p->generic);
	intern_done(&p->names);
	nlpoll_init(p);
}

uint32_t nlpoll_add(struct nlpoll *p, enum nlpoll_kind kind, const struct nlpoll_id *id)
{
	struct nlpoll_group *g = &p->groups[kind];
	struct nlpoll_target *t = array_push(g->targets, g->n);

	if (!t)
		return NO_SLOT;
	t->id = *id;
	return (uint32_t)g->n - 1;
}

static struct nlsock *open_socket(struct nlpoll *p, int protocol)
{
	struct nlsock *s = protocol == NETLINK_RDMA    ? &p->rdma
			   : protocol == NETLINK_ROUTE ? &p->route
						       : &p->generic;

	if (s->fd < 0 && nlsock_open(s, protocol, NULL) < 0)
		return NULL;
	return s;
}

static void find_family(struct nlpoll *p)
{
	struct nlsock *s = open_socket(p, NETLINK_GENERIC);

	if (s)
		p->ethtool_family = nlsock_family(s, ETHTOOL_GENL_NAME);
}

/* --- asking ----------------------------------------------------------------------------------- */

static int make_batch(struct nlpoll *p, enum nlpoll_kind kind)
{
	struct nlpoll_group *g = &p->groups[kind];
	int r = 0;

	nldev_batch_done(&g->batch);
	for (size_t i = 0; i < g->n && r == 0; i++)
		r = nldev_batch_add(&g->batch, nlpoll_kinds[kind].request(&g->targets[i].id,
									  p->ethtool_family));
	return r;
}

static int ask(struct nlpoll *p, enum nlpoll_kind kind, nlsock_batch_fn *fn, void *arg)
{
	struct nldev_batch *b = &p->groups[kind].batch;
	struct nlsock *s = b->n ? open_socket(p, nlpoll_kinds[kind].protocol) : NULL;

	if (!s)
		return b->n ? -EPROTONOSUPPORT : 0;
	return nlsock_batch(s, b->buf, b->len, b->n, fn, arg);
}

/* --- probing ---------------------------------------------------------------------------------- */

struct probe {
	struct nlpoll *p;
	enum nlpoll_kind kind;
	struct nlpoll_target *target;
	int error;
};

static void on_probed_name(const char *name, uint64_t value, void *arg)
{
	struct probe *pr = arg;
	struct nlpoll_target *t = pr->target;
	const char *kept = t->n < NLPOLL_NAMES_MAX ? intern(&pr->p->names, name) : NULL;
	const char **slot = kept ? array_push(t->names, t->n) : NULL;

	(void)value;
	if (slot)
		*slot = kept;
	else if (t->n < NLPOLL_NAMES_MAX)
		pr->error = -ENOMEM;
}

static void on_probed(size_t index, const struct nlmsghdr *h, int error, void *arg)
{
	struct probe *pr = arg;

	(void)error;
	pr->target = &pr->p->groups[pr->kind].targets[index];
	if (h)
		nlpoll_kinds[pr->kind].decode(h, pr->p->ethtool_family, on_probed_name, pr);
}

static int make_slots(struct nlpoll_target *t)
{
	t->slots = malloc((t->n + 1) * sizeof(*t->slots));
	for (size_t i = 0; t->slots && i < t->n; i++)
		t->slots[i] = NO_SLOT;
	return t->slots ? 0 : -ENOMEM;
}

static int probe_kind(struct nlpoll *p, enum nlpoll_kind kind)
{
	struct probe pr = {.p = p, .kind = kind};
	struct nlpoll_group *g = &p->groups[kind];
	int r = make_batch(p, kind);

	if (r == 0)
		ask(p, kind, on_probed, &pr);
	for (size_t i = 0; i < g->n && r == 0; i++)
		r = make_slots(&g->targets[i]);
	return r < 0 ? r : pr.error;
}

int nlpoll_probe(struct nlpoll *p)
{
	int r = 0;

	if (p->groups[POLL_PAUSE].n)
		find_family(p);
	/* A request without a family would never be answered. */
	if (!p->ethtool_family)
		drop_targets(&p->groups[POLL_PAUSE]);
	for (enum nlpoll_kind kind = 0; kind < N_POLL_KINDS && r == 0; kind++)
		r = probe_kind(p, kind);
	return r;
}

/* From slots to cells; false: there are none. */
static bool find_cells(const struct nlpoll_target *t, const struct layout *l)
{
	bool any = false;

	for (size_t i = 0; i < t->n; i++) {
		t->slots[i] = layout_cell(l, t->slots[i]);
		any |= t->slots[i] != NO_SLOT;
	}
	return any;
}

void nlpoll_trim(struct nlpoll *p, const struct layout *l)
{
	for (enum nlpoll_kind kind = 0; kind < N_POLL_KINDS; kind++) {
		struct nlpoll_group *g = &p->groups[kind];
		size_t kept = 0;

		for (size_t i = 0; i < g->n; i++) {
			if (find_cells(&g->targets[i], l))
				g->targets[kept++] = g->targets[i];
			else
				target_done(&g->targets[i]);
		}
		g->n = kept;
		/* Without memory for the smaller batch there is nothing to ask. */
		if (make_batch(p, kind) < 0)
			nldev_batch_done(&g->batch);
	}
}

/* --- reading ---------------------------------------------------------------------------------- */

static void forget(const struct nlpoll_target *t, struct layout *l)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->slots[i] != NO_SLOT)
			l->cells[t->slots[i]].ok = false;
}

struct delivery {
	struct nlpoll_target *target;
	struct layout *layout;
	bool *stale;
};

/* Index of the name, searched from where it is expected; t->n when it is new. */
static size_t find_name(const struct nlpoll_target *t, const char *name)
{
	for (size_t i = 0; i < t->n; i++) {
		size_t at = (t->next + i) % t->n;

		if (!strcmp(t->names[at], name))
			return at;
	}
	return t->n;
}

static void on_value(const char *name, uint64_t value, void *arg)
{
	struct delivery *d = arg;
	struct nlpoll_target *t = d->target;
	size_t at = find_name(t, name);
	struct widen *cell;

	if (at == t->n) {
		*d->stale |= t->n < NLPOLL_NAMES_MAX;
		return;
	}
	t->next = at + 1;
	t->heard++;
	if (t->slots[at] == NO_SLOT)
		return;
	cell = &d->layout->cells[t->slots[at]];
	cell->raw = value;
	cell->ok = true;
}

int nlpoll_deliver(enum nlpoll_kind kind, struct nlpoll_target *t, const struct nlmsghdr *h,
		   uint16_t ethtool_family, struct layout *l, bool *ret_stale)
{
	struct delivery d = {t, l, ret_stale};
	int r;

	t->next = t->heard = 0;
	r = nlpoll_kinds[kind].decode(h, ethtool_family, on_value, &d);
	if (r < 0) {
		forget(t, l);
		return r;
	}
	if (t->heard < t->n)
		*ret_stale = true;
	return 0;
}

struct reading_pass {
	struct nlpoll *p;
	enum nlpoll_kind kind;
	struct layout *layout;
	bool *stale;
	size_t answered;
};

static void on_answer(size_t index, const struct nlmsghdr *h, int error, void *arg)
{
	struct reading_pass *pass = arg;
	struct nlpoll_target *t = &pass->p->groups[pass->kind].targets[index];

	(void)error;
	if (h && nlpoll_deliver(pass->kind, t, h, pass->p->ethtool_family, pass->layout,
				pass->stale) == 0)
		pass->answered++;
}

size_t nlpoll_read(struct nlpoll *p, enum nlpoll_kind kind, struct layout *l, bool *ret_stale)
{
	struct reading_pass pass = {.p = p, .kind = kind, .layout = l, .stale = ret_stale};

	for (size_t i = 0; i < p->groups[kind].n; i++)
		forget(&p->groups[kind].targets[i], l);
	ask(p, kind, on_answer, &pass);
	return p->groups[kind].n - pass.answered;
}

/* --- devices ---------------------------------------------------------------------------------- */

struct device_walk {
	nlpoll_device_fn *fn;
	void *arg;
};

static int on_device(const struct nlmsghdr *h, void *arg)
{
	const struct device_walk *w = arg;
	struct nldev_dev dev;

	if (nldev_decode_dev(h, &dev) == 0)
		w->fn(dev.name, dev.index, w->arg);
	return 0;
}

int nlpoll_devices(struct nlpoll *p, nlpoll_device_fn *fn, void *arg)
{
	struct device_walk w = {fn, arg};
	struct nlsock *s = open_socket(p, NETLINK_RDMA);
	struct nl_msg *msg;
	int r;

	if (!s)
		return -EPROTONOSUPPORT;
	msg = nldev_request(RDMA_NLDEV_CMD_GET, NLM_F_DUMP, NLDEV_ANY, NLDEV_ANY);
	r = msg ? nlsock_call(s, msg, on_device, &w, NULL) : -ENOMEM;
	nlmsg_free(msg);
	return r;
}
