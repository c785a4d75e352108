/* counters_setup.c - find out what every port has, and lay it out.
 *
 * Two steps, because netlink is asked for all ports at once: first all targets are added and
 * probed, then port by port every source is listed into slots. A source that a port does not have
 * adds nothing. */
#include "counters_setup.h"

#include <stdlib.h>

#include "nldev.h"

void setup_init(struct setup *s)
{
	*s = (struct setup){0};
	nicstats_init(&s->nics);
	nlpoll_init(&s->polls);
}

void setup_done(struct setup *s)
{
	layout_done(&s->layout);
	statfiles_done(&s->files);
	nicstats_done(&s->nics);
	nlpoll_done(&s->polls);
}

/* --- targets ---------------------------------------------------------------------------------- */

static void on_device(const char *name, uint32_t index, void *arg)
{
	struct plan *plan = arg;

	for (size_t i = 0; i < plan->n; i++)
		if (!strcmp(plan->ports[i].device, name)) {
			plan->ports[i].has_index = true;
			plan->ports[i].index = index;
		}
}

static void add_target(struct setup *s, struct plan_port *pp, enum nlpoll_kind kind)
{
	struct nlpoll_id id = {
		.dev = pp->index,
		.port = pp->port,
		.nsid = pp->netdev_nsid,
		.ifindex = pp->netdev_ifindex,
	};

	memcpy(id.ifname, pp->netdev, sizeof(id.ifname));
	pp->polls[kind] = nlpoll_add(&s->polls, kind, &id);
	s->layout.failed |= pp->polls[kind] == NO_SLOT;
}

static bool has_own_nic(const struct plan_port *pp)
{
	return !dict_is_software(pp->nic) && pp->netdev_ifindex > 0 &&
	       pp->netdev_nsid == NSID_HOST && pp->netdev[0];
}

static void add_targets(struct setup *s, struct plan_port *pp)
{
	for (size_t k = 0; k < N_POLL_KINDS; k++)
		pp->polls[k] = NO_SLOT;
	if (pp->has_index && pp->port)
		add_target(s, pp, POLL_STAT);
	/* bnxt's ports count their own. */
	if (pp->has_index && !pp->port && pp->nic != NIC_BNXT)
		add_target(s, pp, POLL_RESOURCES);
	if (has_own_nic(pp)) {
		add_target(s, pp, POLL_PAUSE);
		add_target(s, pp, pp->nic == NIC_BNXT ? POLL_DCB_FRAMES : POLL_DCB);
	}
	/* Elsewhere RDMA bypasses the netdev's own statistics. */
	if (dict_is_software(pp->nic) && pp->netdev_ifindex > 0 && pp->netdev_nsid >= NSID_HOST)
		add_target(s, pp, POLL_LINK);
}

static int probe(struct setup *s, struct plan *plan)
{
	for (size_t i = 0; i < plan->n; i++)
		plan->ports[i].has_index = false;
	nlpoll_devices(&s->polls, on_device, plan);
	for (size_t i = 0; i < plan->n; i++)
		add_targets(s, &plan->ports[i]);
	return nlpoll_probe(&s->polls);
}

/* --- slots ------------------------------------------------------------------------------------ */

struct listing {
	struct layout *layout;
	enum dict_place place;
	enum nic nic;
	enum source source;
	bool compat;
};

static uint32_t on_name(const char *name, void *arg)
{
	struct listing *l = arg;
	struct meaning meanings[DICT_MEANINGS + 1];
	size_t n = dict_lookup(l->place, l->nic, name, meanings);

	if (l->compat)
		n += dict_lookup_compat(l->place, name, meanings + n);
	return layout_slot(l->layout, l->source, name, meanings, n);
}

struct listing_ctx {
	struct setup *setup;
	const struct hw *hw;
	const struct counters_opts *opts;
};

static struct listing listing(const struct listing_ctx *x, const struct plan_port *pp,
			      enum dict_place place, enum source source)
{
	return (struct listing){&x->setup->layout, place, pp->nic, source, x->opts->compat};
}

/* Most ports lack most lists; but one that is there and cannot be read is an error. */
static void note_list(struct setup *s, enum source source, int r)
{
	s->layout.failed |= r == -ENOMEM;
	if (r == -EMFILE || r == -ENFILE || r == -EACCES || r == -EIO)
		s->unlisted[source]++;
}

static void list_files(const struct listing_ctx *x, const struct plan_port *pp,
		       enum dict_place place, const char *dir)
{
	struct listing l = listing(x, pp, place, SOURCE_SYSFS);
	char path[128];

	if (pp->port)
		snprintf(path, sizeof(path), "class/infiniband/%s/ports/%u/%s", pp->device,
			 pp->port, dir);
	else
		snprintf(path, sizeof(path), "class/infiniband/%s/%s", pp->device, dir);
	note_list(x->setup, SOURCE_SYSFS,
		  statfiles_add(&x->setup->files, x->hw->sys_fd, path, on_name, &l));
}

/* Returns whether the target told anything when it was probed. */
static bool list_target(const struct listing_ctx *x, const struct plan_port *pp,
			enum nlpoll_kind kind, enum dict_place place)
{
	struct listing l = listing(x, pp, place, nlpoll_source(kind));
	struct nlpoll_target *t;

	if (pp->polls[kind] == NO_SLOT)
		return false;
	t = &x->setup->polls.groups[kind].targets[pp->polls[kind]];
	for (size_t i = 0; i < t->n; i++)
		t->slots[i] = on_name(t->names[i], &l);
	return t->n > 0;
}

static void list_optional(const struct listing_ctx *x, const struct plan_port *pp)
{
	struct optional_counter counters[OPTIONAL_MAX];
	struct meaning m[DICT_MEANINGS];
	int n;

	if (!pp->has_index)
		return;
	n = optional_counters(&x->setup->polls.rdma, pp->index, pp->port, counters, OPTIONAL_MAX);
	for (int i = 0; i < n; i++)
		if (dict_lookup(DICT_OPTIONAL, pp->nic, counters[i].name, m))
			layout_constant(&x->setup->layout, SOURCE_NETLINK, m->family, m->labels,
					counters[i].enabled);
}

static void list_compat(const struct listing_ctx *x, const struct plan_port *pp)
{
	struct layout *l = &x->setup->layout;

	if (!x->opts->compat)
		return;
	if (!pp->port)
		layout_constant(l, SOURCE_SYSFS, dict_compat_gauge(COMPAT_INFO), pp->info, 1);
	if (pp->state != PORT_UNKNOWN)
		layout_constant(l, SOURCE_SYSFS, dict_compat_gauge(COMPAT_STATE_ID), "", pp->state);
	if (pp->phys_state != PHYS_UNKNOWN)
		layout_constant(l, SOURCE_SYSFS, dict_compat_gauge(COMPAT_PHYSICAL_STATE_ID), "",
				pp->phys_state);
	if (pp->rate_bps)
		layout_constant(l, SOURCE_SYSFS, dict_compat_gauge(COMPAT_RATE), "",
				pp->rate_bps / 8);
}

static void list_device(const struct listing_ctx *x, const struct plan_port *pp)
{
	list_files(x, pp, DICT_HW_DEVICE, "hw_counters");
	list_target(x, pp, POLL_RESOURCES, DICT_RESOURCE);
	list_compat(x, pp);
}

static void list_port(const struct listing_ctx *x, const struct plan_port *pp)
{
	struct listing nic = listing(x, pp, DICT_ETHTOOL, SOURCE_ETHTOOL);

	if (!list_target(x, pp, POLL_STAT, DICT_HW))
		list_files(x, pp, DICT_HW, "hw_counters");
	if (x->opts->port_counters)
		list_files(x, pp, DICT_PORT, "counters");
	if (x->hw->live && has_own_nic(pp))
		note_list(x->setup, SOURCE_ETHTOOL,
			  nicstats_add(&x->setup->nics, pp->netdev, on_name, &nic));
	list_target(x, pp, POLL_PAUSE, DICT_PAUSE);
	list_target(x, pp, POLL_DCB, DICT_DCB);
	list_target(x, pp, POLL_DCB_FRAMES, DICT_DCB);
	list_target(x, pp, POLL_LINK, DICT_NETDEV);
	list_optional(x, pp);
	list_compat(x, pp);
}

int setup_make(struct setup *s, const struct hw *hw, const struct counters_opts *opts,
	       struct plan *plan)
{
	struct listing_ctx x = {s, hw, opts};
	int r = hw->live ? probe(s, plan) : 0;

	for (size_t i = 0; i < plan->n && r == 0; i++) {
		const struct plan_port *pp = &plan->ports[i];

		layout_port(&s->layout, pp->device, pp->port);
		if (pp->port)
			list_port(&x, pp);
		else
			list_device(&x, pp);
	}
	if (r == 0)
		r = layout_finish(&s->layout);
	if (r == 0)
		r = statfiles_trim(&s->files, &s->layout);
	if (r < 0)
		return r;
	nicstats_trim(&s->nics, &s->layout);
	nlpoll_trim(&s->polls, &s->layout);
	layout_trim(&s->layout);
	return 0;
}
