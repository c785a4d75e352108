// SPDX-License-Identifier: Apache-2.0
/* counters_setup.c - discovers the counters of every port and builds the layout.
 *
 * There are two steps, because netlink is queried for all ports at once. First, the netlink targets
 * of all ports are added and probed. Then each counter of each port gets a slot. A source that a
 * port does not have adds nothing. */
#include "counters_setup.h"

#include <stdlib.h>

#include "array.h"
#include "label.h"
#include "nldev.h"
#include "search.h"
#include "sysfs.h"

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

/* --- reachable ports, in the order of the host ------------------------------------------------ */

/* True if the name can be a part of a path. */
static bool is_file_name(const char *name)
{
	return name[0] && name[0] != '.' && !strchr(name, '/');
}

/* True for a device in another namespace: its files are not visible, and the kernel answers netlink
 * requests for it only there. */
static bool is_inside(const struct plan_port *pp)
{
	return pp->netns[0] != '\0';
}

/* Returns the name of a device's namespace, "" for the host's; NULL: the device cannot be read in
 * its namespace. */
static const char *counters_setup_netns(const struct rdma_dev *dev, const struct host *host)
{
	const struct netns *found;

	if (dev->nsid == NSID_HOST)
		return "";
	if (host_rdma_sampled(host, dev->name) != dev)
		return NULL;
	found = find_first(host->namespaces, host->n_namespaces, i,
			   host->namespaces[i].nsid == dev->nsid);
	return found && found->name[0] ? found->name : NULL;
}

static enum nic counters_setup_nic_of(const struct rdma_dev *dev, const struct host *host)
{
	const struct function *fn = dev->function[0] ? host_function(host, dev->function) : NULL;

	/* Use the vendor id only if the driver is unknown: a software device has the function of
	 * its netdev. */
	return dict_nic(dev->driver, fn && !dev->driver[0] ? fn->vendor : 0);
}

static bool counters_setup_add_label(char *labels, size_t size, const char *name, const char *value)
{
	size_t n = strlen(labels);
	int k = snprintf(labels + n, size - n, "%s%s=\"", n ? "," : "", name);

	if (k < 0 || n + (size_t)k + 1 >= size ||
	    !label_escape(labels + n + k, size - n - (size_t)k - 1, value)) {
		labels[n] = '\0';
		return false;
	}
	strcat(labels, "\"");
	return true;
}

static struct plan_port *counters_setup_add_port(struct plan *p, const struct rdma_dev *dev,
						 uint32_t port, enum nic nic, const char *netns)
{
	struct plan_port *pp = array_push(p->ports, p->n);

	if (!pp)
		return NULL;
	snprintf(pp->device, sizeof(pp->device), "%s", dev->name);
	snprintf(pp->netns, sizeof(pp->netns), "%s", netns);
	pp->has_index = is_inside(pp);
	pp->index = dev->index;
	pp->port = port;
	pp->nic = nic;
	for (size_t k = 0; k < N_POLL_KINDS; k++)
		pp->polls[k] = NO_SLOT;
	return pp;
}

static int counters_setup_add_device(struct plan *p, const struct rdma_dev *dev, enum nic nic,
				     const char *netns)
{
	struct plan_port *pp = counters_setup_add_port(p, dev, 0, nic, netns);

	if (!pp)
		return -ENOMEM;
	counters_setup_add_label(pp->info, sizeof(pp->info), "board_id", dev->board);
	counters_setup_add_label(pp->info, sizeof(pp->info), "firmware_version", dev->fw);
	counters_setup_add_label(pp->info, sizeof(pp->info), "hca_type", dev->hca_type);
	for (unsigned i = 0; i < dev->n_ports; i++) {
		const struct rdma_port *port = &dev->ports[i];

		pp = port->num ? counters_setup_add_port(p, dev, port->num, nic, netns) : NULL;
		if (!pp)
			return port->num ? -ENOMEM : 0;
		snprintf(pp->netdev, sizeof(pp->netdev), "%s", port->netdev);
		pp->netdev_nsid = port->netdev_nsid;
		pp->netdev_ifindex = port->netdev_ifindex;
		pp->state = port->state;
		pp->phys_state = port->phys_state;
		pp->rate_bps = port->rate_bps;
	}
	return 0;
}

void plan_done(struct plan *p)
{
	free(p->ports);
	*p = (struct plan){0};
}

int plan_make(struct plan *p, const struct host *host)
{
	int r = 0;

	*p = (struct plan){0};
	for (size_t i = 0; i < host->n_rdma && r == 0; i++) {
		const struct rdma_dev *dev = &host->rdma[i];
		const char *netns = counters_setup_netns(dev, host);

		if (netns && is_file_name(dev->name))
			r = counters_setup_add_device(p, dev, counters_setup_nic_of(dev, host),
						      netns);
	}
	if (r < 0)
		plan_done(p);
	return r;
}

/* --- targets ---------------------------------------------------------------------------------- */

static void counters_setup_on_device(const char *name, uint32_t index, void *arg)
{
	struct plan *plan = arg;

	for (size_t i = 0; i < plan->n; i++)
		if (!is_inside(&plan->ports[i]) && !strcmp(plan->ports[i].device, name)) {
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
	memcpy(id.netns, pp->netns, sizeof(id.netns));
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
		add_target(s, pp, is_inside(pp) ? POLL_STAT_INSIDE : POLL_STAT);
	/* bnxt has its own resource counters per port. */
	if (pp->has_index && !pp->port && pp->nic != NIC_BNXT && !is_inside(pp))
		add_target(s, pp, POLL_RESOURCES);
	if (has_own_nic(pp)) {
		add_target(s, pp, POLL_PAUSE);
		add_target(s, pp, pp->nic == NIC_BNXT ? POLL_DCB_FRAMES : POLL_DCB);
	}
	/* Only for software devices: the RDMA traffic of hardware bypasses the netdev's statistics.
	 */
	if (dict_is_software(pp->nic) && pp->netdev_ifindex > 0 && pp->netdev_nsid >= NSID_HOST)
		add_target(s, pp, POLL_LINK);
}

static int targets_probe(struct setup *s, struct plan *plan)
{
	for (size_t i = 0; i < plan->n; i++)
		plan->ports[i].has_index = is_inside(&plan->ports[i]);
	nlpoll_devices(&s->polls, counters_setup_on_device, plan);
	for (size_t i = 0; i < plan->n; i++)
		add_targets(s, &plan->ports[i]);
	return nlpoll_probe(&s->polls);
}

/* --- optional counters ------------------------------------------------------------------------ */

/* Maximum number of a port's optional counters. The enabled ones are included, because a request
 * replaces the whole set. */

#define OPTIONAL_MAX 64

/* An optional counter of one port, as reported by the kernel. */
struct optional_counter {
	char name[DICT_NAME_MAX + 1];
	uint32_t index;
	bool enabled;
};

struct collect {
	struct optional_counter *counters;
	size_t n, size;
};

static void counters_setup_on_status(const struct nldev_stat_status *st, void *arg)
{
	struct collect *c = arg;
	struct optional_counter *oc = &c->counters[c->n];

	if (!st->optional || c->n == c->size || strlen(st->name) >= sizeof(oc->name))
		return;
	strcpy(oc->name, st->name);
	oc->index = st->index;
	oc->enabled = st->enabled;
	c->n++;
}

static int counters_setup_on_answer(const struct nlmsghdr *h, void *arg)
{
	return nldev_decode_stat_status(h, counters_setup_on_status, arg);
}

/* Reads up to `size` optional counters. Returns their number or a negative errno. */
static int counters_setup_optional_counters(struct nlsock *s, uint32_t dev, uint32_t port,
					    struct optional_counter *ret, size_t size)
{
	struct collect c = {ret, 0, size};
	struct nl_msg *req = nldev_request(RDMA_NLDEV_CMD_STAT_GET_STATUS, 0, dev, port);
	int r = nlsock_query(s, req, counters_setup_on_answer, &c, NULL);

	return r < 0 ? r : (int)c.n;
}

static bool counters_setup_is_wanted(const char *name, const char *const *names, size_t n)
{
	return any_of(n, i, !strcmp(names[i], name));
}

/* Enables the named counters of a port. It is no error if the port has no optional counters or the
 * kernel does not support them. */
static int enable_on_port(struct nlsock *s, uint32_t dev, uint32_t port, const char *const *names,
			  size_t n_names, struct err *e)
{
	struct optional_counter counters[OPTIONAL_MAX];
	uint32_t set[OPTIONAL_MAX];
	size_t n_set = 0;
	bool change = false;
	int n = counters_setup_optional_counters(s, dev, port, counters, OPTIONAL_MAX);

	for (int i = 0; i < n; i++) {
		bool wanted = counters_setup_is_wanted(counters[i].name, names, n_names);

		change |= wanted && !counters[i].enabled;
		if (wanted || counters[i].enabled)
			set[n_set++] = counters[i].index;
	}
	return change ? nlsock_query(s, nldev_stat_set(dev, port, set, n_set), NULL, NULL, e) : 0;
}

struct indices {
	const struct host *host;
	uint32_t *of; /* indexed like host->rdma, NLDEV_ANY = none */
};

static void on_optional_device(const char *name, uint32_t index, void *arg)
{
	struct indices *x = arg;

	for (size_t i = 0; i < x->host->n_rdma; i++)
		if (!strcmp(x->host->rdma[i].name, name))
			x->of[i] = index;
}

static int enable_all(struct nlsock *s, const struct indices *x, const char *const *names, size_t n,
		      struct err *e)
{
	int first = 0;

	for (size_t i = 0; i < x->host->n_rdma; i++) {
		const struct rdma_dev *dev = &x->host->rdma[i];

		for (unsigned k = 0; x->of[i] != NLDEV_ANY && k < dev->n_ports; k++) {
			struct err own = {0};
			int r = enable_on_port(s, x->of[i], dev->ports[k].num, names, n, &own);

			if (r < 0 && first == 0)
				first = err_set(e, r, "%s/%u: enabling optional counters: %s",
						dev->name, dev->ports[k].num, own.msg);
		}
	}
	return first;
}

int counters_enable_optional(const struct hw *hw, const struct host *host, const char *const *names,
			     size_t n, struct err *e)
{
	struct indices x = {host, malloc((host->n_rdma + 1) * sizeof(uint32_t))};
	struct nlpoll p;
	int r;

	if (!x.of)
		return err_set(e, -ENOMEM, "out of memory");
	for (size_t i = 0; i < host->n_rdma; i++)
		x.of[i] = NLDEV_ANY;
	nlpoll_init(&p);
	r = hw->live ? nlpoll_devices(&p, on_optional_device, &x) : -EOPNOTSUPP;
	if (r < 0)
		err_set(e, r, "optional counters: RDMA netlink: %s", strerror(-r));
	else
		r = enable_all(&p.rdma, &x, names, n, e);
	nlpoll_done(&p);
	free(x.of);
	return r;
}

/* --- slots ------------------------------------------------------------------------------------ */

struct listing {
	struct layout *layout;
	enum dict_place place;
	enum nic nic;
	enum source source;
	bool compat;
};

static uint32_t counters_setup_on_name(const char *name, void *arg)
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
	return (struct listing){&x->setup->layout, place, pp->nic, source,
				x->opts->compat && !is_inside(pp)};
}

/* Counts a list that exists but cannot be read; a missing list is normal. */
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

	if (is_inside(pp))
		return;
	if (pp->port)
		snprintf(path, sizeof(path), "class/infiniband/%s/ports/%u/%s", pp->device,
			 pp->port, dir);
	else
		snprintf(path, sizeof(path), "class/infiniband/%s/%s", pp->device, dir);
	note_list(x->setup, SOURCE_SYSFS,
		  statfiles_add(&x->setup->files, x->hw->sys_fd, path, counters_setup_on_name, &l));
}

/* Returns whether the target reported any names when it was probed. */
static bool list_target(const struct listing_ctx *x, const struct plan_port *pp,
			enum nlpoll_kind kind, enum dict_place place)
{
	struct listing l = listing(x, pp, place, nlpoll_source(kind));
	struct nlpoll_target *t;

	if (pp->polls[kind] == NO_SLOT)
		return false;
	t = &x->setup->polls.groups[kind].targets[pp->polls[kind]];
	for (size_t i = 0; i < t->n; i++)
		t->slots[i] = counters_setup_on_name(t->names[i], &l);
	return t->n > 0;
}

static void list_optional(const struct listing_ctx *x, const struct plan_port *pp)
{
	struct optional_counter counters[OPTIONAL_MAX];
	struct meaning m[DICT_MEANINGS];
	int n;

	if (!pp->has_index || is_inside(pp))
		return;
	n = counters_setup_optional_counters(&x->setup->polls.rdma, pp->index, pp->port, counters,
					     OPTIONAL_MAX);
	for (int i = 0; i < n; i++)
		if (dict_lookup(DICT_OPTIONAL, pp->nic, counters[i].name, m))
			layout_constant(&x->setup->layout, SOURCE_NETLINK, m->family, m->labels,
					counters[i].enabled);
}

/* Adds the interval in ms for which the kernel caches its last reading; set by the driver or an
 * administrator. Not available over RDMA netlink. */
static void list_lifespan(const struct listing_ctx *x, const struct plan_port *pp)
{
	uint64_t ms;

	if (sysfs_u64(x->hw->sys_fd, &ms, "class/infiniband/%s/ports/%u/hw_counters/lifespan",
		      pp->device, pp->port) == 0)
		layout_constant(&x->setup->layout, SOURCE_SYSFS, dict_compat_gauge(COMPAT_LIFESPAN),
				"", ms / 1000);
}

static void list_compat(const struct listing_ctx *x, const struct plan_port *pp)
{
	struct layout *l = &x->setup->layout;

	if (!x->opts->compat || is_inside(pp))
		return;
	if (!pp->port)
		layout_constant(l, SOURCE_SYSFS, dict_compat_gauge(COMPAT_INFO), pp->info, 1);
	if (pp->port) {
		/* node_exporter reports 0 ("no change") for an unknown state, too. */
		layout_constant(l, SOURCE_SYSFS, dict_compat_gauge(COMPAT_STATE_ID), "", pp->state);
		layout_constant(l, SOURCE_SYSFS, dict_compat_gauge(COMPAT_PHYSICAL_STATE_ID), "",
				pp->phys_state);
		list_lifespan(x, pp);
	}
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

	if (!list_target(x, pp, POLL_STAT, DICT_HW) &&
	    !list_target(x, pp, POLL_STAT_INSIDE, DICT_HW))
		list_files(x, pp, DICT_HW, "hw_counters");
	if (x->opts->port_counters)
		list_files(x, pp, DICT_PORT, "counters");
	if (x->opts->port_counters && x->opts->compat)
		list_files(x, pp, DICT_PORT_EXT, "counters_ext");
	if (x->hw->live && has_own_nic(pp))
		note_list(x->setup, SOURCE_ETHTOOL,
			  nicstats_add(&x->setup->nics, pp->netdev, counters_setup_on_name, &nic));
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
	int r;

	s->polls.hw = hw;
	r = hw->live ? targets_probe(s, plan) : 0;

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
