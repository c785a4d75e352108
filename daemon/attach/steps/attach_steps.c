/* attach_steps.c - a device from the host into a pod. */
#include "attach_steps.h"

#include <net/if_arp.h>
#include <sys/random.h>

#include "attach_rdma.h"
#include "function_files.h"
#include "identity.h"
#include "kill_point.h"
#include "netdev_look.h"
#include "vf_admin.h"

/* --- record ----------------------------------------------------------------------------------- */

/* Whoever asked may know the namespace already; a path alone is made sure of here. */
static int identify_netns(struct work *w)
{
	struct netns_id *id = &w->record->owner.netns, seen;
	char path[sizeof(id->path)];
	int r;

	if (id->ino)
		return work_open_pod(w);
	memcpy(path, id->path, sizeof(path));
	w->pod.netns_fd = netns_open_path(w->hw, path, w->err);
	if (w->pod.netns_fd < 0)
		return w->pod.netns_fd;
	r = netns_identify(w->pod.netns_fd, path, &seen);
	if (r < 0)
		return err_set(w->err, r, "%s: %s", path, strerror(-r));
	*id = seen;
	return 0;
}

/* There it would be nobody's: it could neither be told from a free one nor be returned. */
static int refuse_host(struct work *w)
{
	const struct netns_id *id = &w->record->owner.netns;
	struct netns_id own;
	int r = work_open_host(w);

	if (r == 0)
		r = netns_identify(w->host.netns_fd, id->path, &own);
	if (r == 0 && own.dev == id->dev && own.ino == id->ino)
		return err_set(w->err, -EINVAL, "%s: that is the host's own network namespace",
			       id->path);
	return r;
}

static int look_in_host(struct work *w)
{
	const char *function = w->record->function;
	struct nlsock *s = NULL;
	int r = work_open_host(w);

	if (r == 0)
		r = place_rtnl(&w->host, &s, w->err);
	if (r == 0)
		r = netdev_by_function(s, function, function_ifindex(w->hw, function), &w->seen,
				       w->err);
	if (r == -ENODEV)
		return err_set(w->err, -EBUSY, "%s has no netdev in the host", function);
	if (r == 0)
		w->at = &w->host;
	return r;
}

static int check_unused(struct work *w)
{
	const struct netdev *nd = &w->seen.netdev;
	char origin[IFNAMSIZ], upper[IFNAMSIZ];

	if (attach_alias_origin(w->seen.alias, origin))
		return err_set(w->err, -EBUSY,
			       "%s is dirty: %s still bears the mark of an attachment, \"%s\"",
			       w->record->function, nd->name, w->seen.alias);
	if (w->seen.more_altnames)
		return err_set(w->err, -E2BIG,
			       "%s: %s has more alternative names than could be given back to it",
			       w->record->function, nd->name);
	if (nd->master)
		return err_set(w->err, -EBUSY, "%s is in use: %s belongs to a bond or bridge",
			       w->record->function, nd->name);
	if (netdev_upper_here(w->hw, nd->name, upper))
		return err_set(w->err, -EBUSY, "%s is in use: %s sits on %s", w->record->function,
			       upper, nd->name);
	return 0;
}

/* VFs are there, with their netdevs, before their PF counts them: sriov_numvfs is still written. */
static int read_settings(struct work *w, struct vf_settings *ret)
{
	struct patience p = {0};
	int r;

	while ((r = vf_admin_read(w, ret)) == -ENODEV && work_wait(&p))
		;
	return r;
}

static int fill_pf(struct work *w, struct link_origin *o)
{
	const char *function = w->record->function;
	int r = function_pf(w->hw, function, o->pf, &o->vf_index);

	if (r == 0)
		r = function_rdma(w->hw, function, o->rdma);
	if (r < 0)
		return err_set(w->err, r, "%s in sysfs: %s", function, strerror(-r));
	return o->pf[0] ? read_settings(w, &o->vf) : 0;
}

void attach_look_at_state(struct work *w, struct netdev_state *ret)
{
	const struct netdev *nd = &w->seen.netdev;
	struct nlsock *s = NULL;

	if (getrandom(ret->key, sizeof(ret->key), 0) == sizeof(ret->key) &&
	    place_rtnl(&w->host, &s, NULL) == 0)
		netdev_look(ret, w->hw, s, nd->ifindex, nd->name);
}

static int fill_origin(struct work *w)
{
	struct link_origin *o = &w->record->origin;
	const struct netdev *nd = &w->seen.netdev;

	memset(o, 0, sizeof(*o));
	memcpy(o->name, nd->name, sizeof(o->name));
	memcpy(o->alias, w->seen.alias, sizeof(o->alias));
	memcpy(o->altnames, w->seen.altnames, sizeof(o->altnames));
	memcpy(o->addr, nd->addr, sizeof(o->addr));
	o->addr_len = nd->addr_len;
	o->mtu = nd->mtu;
	o->up = nd->flags & IFF_UP;
	attach_look_at_state(w, &o->state);
	return fill_pf(w, o);
}

/* From now on, whatever is called so in the pod is ours. */
static int fill_stacked(struct work *w)
{
	struct attach_record *rec = w->record;
	struct netdev_seen seen;
	struct nlsock *s = NULL;
	int r = place_rtnl(&w->pod, &s, w->err);

	memset(&rec->origin, 0, sizeof(rec->origin));
	memcpy(rec->origin.parent, w->seen.netdev.name, sizeof(rec->origin.parent));
	if (r == 0)
		r = netdev_by_name(s, rec->plan.ifname, &seen, w->err);
	if (r == 0)
		return err_set(w->err, -EEXIST, "the pod has an interface %s already",
			       rec->plan.ifname);
	return r == -ENODEV ? 0 : r;
}

static int look_and_fill(struct work *w)
{
	int r = identify_netns(w);

	if (r == 0)
		r = refuse_host(w);
	if (r == 0)
		r = look_in_host(w);
	if (r < 0 || !work_is_vf(w))
		return r < 0 ? r : fill_stacked(w);
	r = check_unused(w);
	return r < 0 ? r : fill_origin(w);
}

/* A record that is not free has its origin: what the device looks like now may be our own work. */
int attach_step_record(struct work *w)
{
	struct attach_record *rec = w->record;
	int r;

	if (rec->state == ATTACH_ATTACHING || rec->state == ATTACH_IN_POD)
		return work_open_pod(w);
	if (rec->state != ATTACH_FREE)
		return err_set(w->err, -EBUSY, "%s has not come back yet: it is %s", rec->function,
			       attach_state_name(rec->state));
	r = look_and_fill(w);
	if (r < 0)
		return r;
	identity_note(w);
	rec->state = ATTACH_ATTACHING;
	rec->serial++;
	r = journal_write(w->job->journal, rec, true, w->err);
	if (r < 0) {
		rec->state = ATTACH_FREE;
		rec->serial--;
	}
	return r;
}

/* --- admin ------------------------------------------------------------------------------------ */

/* Some drivers (igbvf) take a MAC that the PF set only with their next reset, and refuse to be told
 * the same; others (mlx5) want to be told. So it is tried on the closed device, and what came of it
 * is seen when it is up. */
static int set_own_mac(struct work *w)
{
	const struct net_plan *plan = &w->record->plan;
	struct netdev_change down = {.netns_fd = -1, .up = 0};
	struct netdev_change mac = {
		.netns_fd = -1, .addr = plan->mac, .addr_len = sizeof(plan->mac), .up = -1};
	struct err refused = {0};
	struct nlsock *s = NULL;
	int r = w->at ? 0 : work_find(w);

	if (r < 0)
		return r;
	if (!w->at->is_host || memcmp(w->seen.netdev.addr, plan->mac, sizeof(plan->mac)) == 0)
		return 0;
	r = place_rtnl(w->at, &s, w->err);
	if (r == 0 && w->seen.netdev.flags & IFF_UP)
		r = netdev_change(s, w->seen.netdev.ifindex, &down, w->err);
	if (r == 0)
		netdev_change(s, w->seen.netdev.ifindex, &mac, &refused);
	return r;
}

int attach_step_admin(struct work *w)
{
	const struct attach_record *rec = w->record;
	const struct vf_settings want = vf_admin_wanted(rec);
	int r;

	if (!want.fields)
		return 0;
	if (!rec->origin.pf[0])
		return err_set(w->err, -EOPNOTSUPP,
			       "%s is no virtual function: it has no PF that could set what is "
			       "wanted",
			       rec->function);
	r = vf_admin_write(w, &want);
	return r == 0 && rec->plan.has_mac ? set_own_mac(w) : r;
}

/* --- move ------------------------------------------------------------------------------------- */

/* The kernel says no more than that something exists. */
static bool is_name_taken(struct work *w)
{
	struct netdev_seen other;
	struct nlsock *s = NULL;

	return place_rtnl(&w->pod, &s, NULL) == 0 &&
	       netdev_by_name(s, w->record->plan.ifname, &other, NULL) == 0;
}

static int move_failed(struct work *w, int r)
{
	if (r == -EEXIST && is_name_taken(w))
		return err_set(w->err, r, "the pod has an interface %s already",
			       w->record->plan.ifname);
	return err_wrap(w->err, "%s: moving %s into the pod", w->record->function,
			w->seen.netdev.name);
}

/* What the interface is to be; alias: room for one. */
static struct netdev_change wanted_link(const struct work *w, char alias[ATTACH_ALIAS_SIZE])
{
	const struct attach_record *rec = w->record;
	struct netdev_change c = {.netns_fd = -1,
				  .name = rec->plan.ifname,
				  .alias = alias,
				  .mtu = rec->plan.mtu,
				  .up = -1};

	work_alias(w, alias);
	if (rec->plan.has_mac && !rec->origin.pf[0]) {
		c.addr = rec->plan.mac;
		c.addr_len = sizeof(rec->plan.mac);
	}
	return c;
}

int attach_settle_in_pod(struct work *w)
{
	const struct netdev *nd = &w->seen.netdev;
	char alias[ATTACH_ALIAS_SIZE];
	struct netdev_change c = wanted_link(w, alias);
	struct nlsock *s = NULL;
	int r = place_rtnl(w->at, &s, w->err);

	if (strcmp(nd->name, c.name) == 0)
		c.name = NULL;
	if (strcmp(w->seen.alias, alias) == 0)
		c.alias = NULL;
	if (nd->mtu == c.mtu)
		c.mtu = 0;
	if (c.addr_len && memcmp(nd->addr, c.addr, c.addr_len) == 0)
		c.addr_len = 0;
	if (r < 0 || (!c.name && !c.alias && !c.mtu && !c.addr_len))
		return r;
	r = netdev_change(s, nd->ifindex, &c, w->err);
	return r < 0 ? move_failed(w, r) : 0;
}

static int move_from_host(struct work *w)
{
	char alias[ATTACH_ALIAS_SIZE];
	struct netdev_change c = wanted_link(w, alias);
	struct nlsock *s = NULL;
	int r = work_open_pod(w);

	if (r == 0)
		r = place_rtnl(&w->host, &s, w->err);
	if (r < 0)
		return r;
	c.netns_fd = w->pod.netns_fd;
	r = netdev_change(s, w->seen.netdev.ifindex, &c, w->err);
	w->at = NULL;
	return r < 0 ? move_failed(w, r) : 0;
}

/* The RDMA device takes its IPoIB netdev down and makes it anew where it goes, so it goes first;
 * the new one comes when it is ready. */
static int move_ipoib_first(struct work *w)
{
	struct patience p = {0};
	int r = attach_rdma_moves(w);

	if (r <= 0)
		return r;
	r = attach_rdma_move(w);
	kill_point("attach-move-2", "before");
	while (r == 0 && (r = work_find(w)) == -ENODEV && work_wait(&p))
		r = 0;
	return r;
}

static int move_function(struct work *w)
{
	int r = w->at ? 0 : work_find(w);

	if (r == 0 && w->seen.netdev.type == ARPHRD_INFINIBAND && w->at->is_host)
		r = move_ipoib_first(w);
	if (r < 0)
		return r == -ENODEV
			       ? err_set(w->err, r, "%s has no netdev in the host nor in the pod",
					 w->record->function)
			       : r;
	return w->at->is_host ? move_from_host(w) : attach_settle_in_pod(w);
}

static int make_stacked(struct work *w)
{
	const struct attach_record *rec = w->record;
	struct netdev_seen parent;
	char alias[ATTACH_ALIAS_SIZE];
	struct nlsock *s = NULL;
	int r = work_open_host(w);

	work_alias(w, alias);
	if (r == 0)
		r = place_rtnl(&w->host, &s, w->err);
	if (r == 0)
		r = netdev_by_function(s, rec->function, function_ifindex(w->hw, rec->function),
				       &parent, w->err);
	if (r == 0)
		r = netdev_make_stacked(s, &rec->plan, parent.netdev.ifindex, w->pod.netns_fd,
					alias, w->err);
	return r < 0 ? err_wrap(w->err, "%s: an interface on it for the pod", rec->function) : 0;
}

static int ensure_stacked(struct work *w)
{
	int r = work_open_pod(w);

	if (r == 0)
		r = work_look(w, &w->pod);
	if (r == -ENODEV)
		return make_stacked(w);
	return r < 0 ? r : attach_settle_in_pod(w);
}

int attach_step_move(struct work *w)
{
	return work_is_vf(w) ? move_function(w) : ensure_stacked(w);
}

/* --- configure -------------------------------------------------------------------------------- */

/* Neighbours learn of new addresses by themselves, and addresses are usable at once while duplicate
 * detection runs (RFC 4429). A kernel that lacks one does without. */
static int set_sysctls(struct work *w)
{
	static const struct sysctl_setting settings[] = {
		{AF_INET, "arp_notify", "1"},
		{AF_INET6, "ndisc_notify", "1"},
		{AF_INET6, "optimistic_dad", "1"},
		{AF_INET6, "use_optimistic", "1"},
	};
	int r = netns_sysctl(w->pod.netns_fd, w->record->plan.ifname, settings,
			     sizeof(settings) / sizeof(settings[0]), w->err);

	return r == -ENOENT ? 0 : r;
}

void attach_wanted_net(const struct attach_record *r, struct wanted_net *ret)
{
	ret->n_ips = r->plan.n_ips + r->n_ips;
	memcpy(ret->ips, r->plan.ips, r->plan.n_ips * sizeof(r->ips[0]));
	memcpy(ret->ips + r->plan.n_ips, r->ips, r->n_ips * sizeof(r->ips[0]));
	ret->n_routes = r->plan.n_routes + r->n_routes;
	memcpy(ret->routes, r->plan.routes, r->plan.n_routes * sizeof(r->routes[0]));
	memcpy(ret->routes + r->plan.n_routes, r->routes, r->n_routes * sizeof(r->routes[0]));
}

int attach_step_configure(struct work *w)
{
	struct wanted_net net;
	struct nlsock *s = NULL;
	int r = work_open_pod(w);

	if (r == 0)
		r = set_sysctls(w);
	kill_point("attach-configure-2", "before");
	if (r == 0)
		r = place_rtnl(&w->pod, &s, w->err);
	if (r == 0)
		r = netdev_by_name(s, w->record->plan.ifname, &w->seen, w->err);
	if (r < 0)
		return r;
	attach_wanted_net(w->record, &net);
	r = netdev_configure(s, w->seen.netdev.ifindex, net.ips, net.n_ips, net.routes,
			     net.n_routes, true, w->err);
	w->at = NULL;
	return r < 0 ? err_wrap(w->err, "%s in the pod", w->record->plan.ifname) : 0;
}

/* --- the rest --------------------------------------------------------------------------------- */

int attach_step_rdma(struct work *w)
{
	return w->record->plan.soft_roce ? attach_rdma_make(w) : attach_rdma_move(w);
}

/* A MAC that the driver takes over from the PF may arrive a moment after the interface is up. */
int attach_step_verify(struct work *w)
{
	struct patience p = {0};
	struct err first;
	unsigned drift = 0;
	int r;

	do {
		first = (struct err){0};
		r = attach_compare(w, &drift, &first);
	} while (r == 0 && drift == VF_MAC && work_wait(&p));
	if (r < 0 || !drift)
		return r < 0 ? r : attach_rdma_verify(w);
	*w->err = first;
	return first.code;
}

int attach_step_done(struct work *w)
{
	w->record->state = ATTACH_IN_POD;
	return journal_write(w->job->journal, w->record, false, w->err);
}
