// SPDX-License-Identifier: Apache-2.0
/* nlpoll.c - polls counters of all kinds over netlink.
 *
 * Every kind has a request, a socket and a decoder that calls back with (name, value) pairs.
 * Probing stores the names; reading expects the same names, usually in the same order, and writes
 * the values into the cells. A new or missing name (an optional counter was switched) makes the
 * layout stale. Errors: the kernel has no such family or command (probing finds no names); the
 * device was removed (its readings are absent); timeout (all readings of that kind are absent). */
#include "nlpoll.h"

#include <linux/ethtool_netlink.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <stdio.h>
#include <stdlib.h>

#include "array.h"
#include "cleanup.h"
#include "dcb.h"
#include "genl.h"
#include "netns.h"
#include "nlmsg.h"
#include "rtnl.h"

/* --- kinds of targets ------------------------------------------------------------------------- */

struct nlpoll_kind_ops {
	int protocol; /* NETLINK_* */
	enum source source;
	bool slow, inside;
	/* family: generic netlink id of "ethtool"; NULL when out of memory */
	struct nl_msg *(*request)(const struct nlpoll_id *, uint16_t family);
	/* Negative: another message, or malformed. */
	int (*decode)(const struct nlmsghdr *, uint16_t family, named_value_fn *, void *arg);
};

static struct nl_msg *stat_request(const struct nlpoll_id *id, uint16_t family)
{
	(void)family;
	return nldev_request(RDMA_NLDEV_CMD_STAT_GET, 0, id->dev, id->port);
}

static int decode_stat(const struct nlmsghdr *h, uint16_t family, named_value_fn *fn, void *arg)
{
	(void)family;
	return nldev_decode_stat(h, fn, arg);
}

static struct nl_msg *resource_request(const struct nlpoll_id *id, uint16_t family)
{
	(void)family;
	return nldev_request(RDMA_NLDEV_CMD_RES_GET, 0, id->dev, NLDEV_ANY);
}

static int decode_resources(const struct nlmsghdr *h, uint16_t family, named_value_fn *fn,
			    void *arg)
{
	(void)family;
	return nldev_decode_resources(h, fn, arg);
}

static struct nl_msg *pause_frames_request(const struct nlpoll_id *id, uint16_t family)
{
	return pause_request(family, id->ifindex, true);
}

static struct nl_msg *dcb_request(const struct nlpoll_id *id, uint16_t family)
{
	(void)family;
	return dcb_ieee_request(id->ifname);
}

static void deliver_pfc(const char *what, int priority, uint64_t value, named_value_fn *fn,
			void *arg)
{
	char name[32];

	snprintf(name, sizeof(name), "%s%d", what, priority);
	fn(name, value, arg);
}

static int decode_dcb(const struct nlmsghdr *h, uint16_t family, named_value_fn *fn, void *arg)
{
	struct pfc pfc;
	int r = dcb_decode_pfc(h, &pfc);

	(void)family;
	for (int i = 0; r == 0 && i < N_PRIORITIES; i++)
		deliver_pfc("enabled", i, pfc.enabled >> i & 1, fn, arg);
	return r;
}

static int decode_dcb_frames(const struct nlmsghdr *h, uint16_t family, named_value_fn *fn,
			     void *arg)
{
	struct pfc pfc;
	int r = decode_dcb(h, family, fn, arg);

	if (r < 0 || dcb_decode_pfc(h, &pfc) < 0)
		return r;
	for (int i = 0; i < N_PRIORITIES; i++) {
		deliver_pfc("requests", i, pfc.requests[i], fn, arg);
		deliver_pfc("indications", i, pfc.indications[i], fn, arg);
	}
	return 0;
}

static struct nl_msg *nlpoll_link_request(const struct nlpoll_id *id, uint16_t family)
{
	struct ifinfomsg ifi = {.ifi_family = AF_UNSPEC, .ifi_index = id->ifindex};
	struct nl_msg *msg = nlmsg_build(RTM_GETLINK, NLM_F_REQUEST, &ifi, sizeof(ifi));
	int r = msg ? 0 : -1;

	(void)family;
	if (r == 0 && id->nsid >= 0)
		r = nla_put_s32(msg, IFLA_TARGET_NETNSID, id->nsid);
	return nlmsg_finished(msg, r);
}

static int decode_link(const struct nlmsghdr *h, uint16_t family, named_value_fn *fn, void *arg)
{
	struct rtnl_link link;
	struct rtnl_stats stats;
	int r = rtnl_decode_link(h, &link, &stats);

	(void)family;
	if (r < 0 || !stats.known)
		return r;
	fn("rx_bytes", stats.rx_bytes, arg);
	fn("tx_bytes", stats.tx_bytes, arg);
	return 0;
}

static const struct nlpoll_kind_ops nlpoll_kinds[N_POLL_KINDS] = {
	[POLL_STAT] = {NETLINK_RDMA, SOURCE_NETLINK, false, false, stat_request, decode_stat},
	[POLL_STAT_INSIDE] = {NETLINK_RDMA, SOURCE_NETLINK, false, true, stat_request, decode_stat},
	[POLL_RESOURCES] = {NETLINK_RDMA, SOURCE_NETLINK, true, false, resource_request,
			    decode_resources},
	[POLL_PAUSE] = {NETLINK_GENERIC, SOURCE_PAUSE, false, false, pause_frames_request,
			pause_decode},
	[POLL_DCB] = {NETLINK_ROUTE, SOURCE_DCB, true, false, dcb_request, decode_dcb},
	[POLL_DCB_FRAMES] = {NETLINK_ROUTE, SOURCE_DCB, false, false, dcb_request,
			     decode_dcb_frames},
	[POLL_LINK] = {NETLINK_ROUTE, SOURCE_NETDEV, false, false, nlpoll_link_request,
		       decode_link},
};

/* --- targets ---------------------------------------------------------------------------------- */

enum source nlpoll_source(enum nlpoll_kind kind)
{
	return nlpoll_kinds[kind].source;
}

bool nlpoll_is_slow(enum nlpoll_kind kind)
{
	return nlpoll_kinds[kind].slow;
}

/* --- setup ------------------------------------------------------------------------------------ */

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

static struct nlsock *nlpoll_open_socket(struct nlpoll *p, int protocol)
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
	struct nlsock *s = nlpoll_open_socket(p, NETLINK_GENERIC);

	if (s)
		p->ethtool_family = nlsock_family(s, ETHTOOL_GENL_NAME);
}

/* --- requests --------------------------------------------------------------------------------- */

static int nlpoll_add_request(struct nldev_batch *b, const struct nlpoll *p, enum nlpoll_kind kind,
			      const struct nlpoll_target *t)
{
	return nldev_batch_add(b, nlpoll_kinds[kind].request(&t->id, p->ethtool_family));
}

static int make_batch(struct nlpoll *p, enum nlpoll_kind kind)
{
	struct nlpoll_group *g = &p->groups[kind];
	int r = 0;

	nldev_batch_done(&g->batch);
	for (size_t i = 0; i < g->n && r == 0 && !nlpoll_kinds[kind].inside; i++)
		r = nlpoll_add_request(&g->batch, p, kind, &g->targets[i]);
	return r;
}

static int nlpoll_query(struct nlpoll *p, enum nlpoll_kind kind, const struct nldev_batch *b,
			nlsock_batch_fn *fn, void *arg)
{
	struct nlsock *s = b->n ? nlpoll_open_socket(p, nlpoll_kinds[kind].protocol) : NULL;

	if (!s)
		return b->n ? -EPROTONOSUPPORT : 0;
	return nlsock_batch(s, b->buf, b->len, b->n, fn, arg);
}

/* Sends the request from inside the device's namespace. It contains the device's index, which is
 * unique among all namespaces; so if the namespace's name now leads to another namespace, the
 * kernel finds no device. */
static void nlpoll_query_inside(const struct nlpoll *p, const struct nlpoll_id *id,
				const struct nldev_batch *b, nlsock_batch_fn *fn, void *arg)
{
	AUTO_FD netns = netns_open(p->hw, id->netns);
	struct nlsock s;

	if (netns < 0 || netns_nlsock(&s, netns, NETLINK_RDMA, NULL) < 0)
		return;
	nlsock_batch(&s, b->buf, b->len, b->n, fn, arg);
	nlsock_close(&s);
}

/* Queries one target. fn is not called if no request can be sent. */
static void nlpoll_query_target(struct nlpoll *p, enum nlpoll_kind kind,
				const struct nlpoll_target *t, nlsock_batch_fn *fn, void *arg)
{
	struct nldev_batch one = {0};

	if (nlpoll_add_request(&one, p, kind, t) == 0 && nlpoll_kinds[kind].inside)
		nlpoll_query_inside(p, &t->id, &one, fn, arg);
	else
		nlpoll_query(p, kind, &one, fn, arg);
	nldev_batch_done(&one);
}

/* --- probing ---------------------------------------------------------------------------------- */

struct probe {
	struct nlpoll *p;
	enum nlpoll_kind kind;
	struct nlpoll_target *targets; /* targets of the requests, in the same order */
	struct nlpoll_target *target;  /* target of this answer */
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
	pr->target = &pr->targets[index];
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
	struct nlpoll_group *g = &p->groups[kind];
	struct probe pr = {.p = p, .kind = kind, .targets = g->targets};
	int r = make_batch(p, kind);

	if (r == 0)
		nlpoll_query(p, kind, &g->batch, on_probed, &pr);
	for (size_t i = 0; i < g->n && nlpoll_kinds[kind].inside; i++) {
		pr.targets = &g->targets[i];
		nlpoll_query_target(p, kind, &g->targets[i], on_probed, &pr);
	}
	for (size_t i = 0; i < g->n && r == 0; i++)
		r = make_slots(&g->targets[i]);
	return r < 0 ? r : pr.error;
}

int nlpoll_probe(struct nlpoll *p)
{
	int r = 0;

	if (p->groups[POLL_PAUSE].n)
		find_family(p);
	/* Without the id of the ethtool family, the kernel would reject the requests. */
	if (!p->ethtool_family)
		drop_targets(&p->groups[POLL_PAUSE]);
	for (enum nlpoll_kind kind = 0; kind < N_POLL_KINDS && r == 0; kind++)
		r = probe_kind(p, kind);
	return r;
}

/* Replaces the slots by their cells; false if the target has no cells. */
static bool nlpoll_find_cells(const struct nlpoll_target *t, const struct layout *l)
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
			if (nlpoll_find_cells(&g->targets[i], l))
				g->targets[kept++] = g->targets[i];
			else
				target_done(&g->targets[i]);
		}
		g->n = kept;
		/* If out of memory for the smaller batch, send no requests of this kind. */
		if (make_batch(p, kind) < 0)
			nldev_batch_done(&g->batch);
	}
}

/* --- reading ---------------------------------------------------------------------------------- */

static void mark_unread(const struct nlpoll_target *t, struct layout *l)
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

/* Returns the index of the name, t->n if the name is new. Searches from the expected position. */
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
		mark_unread(t, l);
		return r;
	}
	if (t->heard < t->n)
		*ret_stale = true;
	return 0;
}

struct reading_pass {
	struct nlpoll *p;
	enum nlpoll_kind kind;
	struct nlpoll_target *targets; /* targets of the requests, in the same order */
	struct layout *layout;
	bool *stale;
	size_t answered;
};

static void nlpoll_on_answer(size_t index, const struct nlmsghdr *h, int error, void *arg)
{
	struct reading_pass *pass = arg;

	(void)error;
	if (h && nlpoll_deliver(pass->kind, &pass->targets[index], h, pass->p->ethtool_family,
				pass->layout, pass->stale) == 0)
		pass->answered++;
}

/* Reads one target; returns whether it has answered. */
static bool nlpoll_read_target(struct nlpoll *p, enum nlpoll_kind kind, struct nlpoll_target *t,
			       struct layout *l, bool *ret_stale)
{
	struct reading_pass pass = {p, kind, t, l, ret_stale, 0};

	mark_unread(t, l);
	nlpoll_query_target(p, kind, t, nlpoll_on_answer, &pass);
	return pass.answered > 0;
}

size_t nlpoll_read(struct nlpoll *p, enum nlpoll_kind kind, struct layout *l, bool *ret_stale)
{
	struct nlpoll_group *g = &p->groups[kind];
	struct reading_pass pass = {p, kind, g->targets, l, ret_stale, 0};

	for (size_t i = 0; i < g->n; i++)
		mark_unread(&g->targets[i], l);
	nlpoll_query(p, kind, &g->batch, nlpoll_on_answer, &pass);
	for (size_t i = 0; i < g->n && nlpoll_kinds[kind].inside; i++)
		pass.answered += nlpoll_read_target(p, kind, &g->targets[i], l, ret_stale);
	return g->n - pass.answered;
}

/* True if the target feeds these cells. It feeds cells of one port only, so its first cell decides.
 */
static bool feeds(const struct nlpoll_target *t, const struct cells *cells)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->slots[i] != NO_SLOT)
			return cells_have(cells, t->slots[i]);
	return false;
}

size_t nlpoll_read_cells(struct nlpoll *p, enum nlpoll_kind kind, struct layout *l,
			 const struct cells *cells, size_t *asked, bool *ret_stale)
{
	struct nlpoll_group *g = &p->groups[kind];
	size_t failed = 0;

	for (size_t i = 0; i < g->n; i++) {
		if (!feeds(&g->targets[i], cells))
			continue;
		failed += !nlpoll_read_target(p, kind, &g->targets[i], l, ret_stale);
		(*asked)++;
	}
	return failed;
}

/* --- devices ---------------------------------------------------------------------------------- */

struct device_walk {
	nlpoll_device_fn *fn;
	void *arg;
};

static int nlpoll_on_device(const struct nlmsghdr *h, void *arg)
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
	struct nlsock *s = nlpoll_open_socket(p, NETLINK_RDMA);

	if (!s)
		return -EPROTONOSUPPORT;
	return nlsock_query(s, nldev_request(RDMA_NLDEV_CMD_GET, NLM_F_DUMP, NLDEV_ANY, NLDEV_ANY),
			    nlpoll_on_device, &w, NULL);
}
