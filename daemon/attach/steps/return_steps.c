/* return_steps.c - a device from wherever an attach has left it back into the host, as it was. */
#include <ctype.h>
#include <linux/if_ether.h>
#include <net/if_arp.h>

#include "attach_rdma.h"
#include "attach_steps.h"
#include "function_files.h"
#include "identity.h"
#include "kill_point.h"
#include "soft_roce_nodes.h"
#include "vf_admin.h"

/* --- record ----------------------------------------------------------------------------------- */

/* What is on the disk already leads to a return, too: a disk that cannot be written keeps no device
 * from coming back. */
int return_step_record(struct work *w)
{
	struct err ignored = {0};
	int r = identity_check(w);

	if (r < 0)
		return r;
	w->job->settle_only = r > 0;
	if (w->job->settle_only)
		soft_roce_nodes_remove(w->hw, w->record->id, &ignored);
	w->record->state = ATTACH_RETURNING;
	journal_write(w->job->journal, w->record, false, &ignored);
	return 0;
}

/* A namespace lives as long as a socket in it, a descriptor that is on its way from one process to
 * another, or a mount that only a container sees. None of them lets anybody in. */
static int if_beyond(struct work *w, int r)
{
	return r == -EAGAIN && w->job->insist ? return_replace(w) : r;
}

int return_step_rdma(struct work *w)
{
	return if_beyond(w, attach_rdma_return(w));
}

/* --- move ------------------------------------------------------------------------------------- */

/* While somebody else has its name: unlike any name that a pod's interface or udev gives. */
static void spare_name(const char *function, char ret[IFNAMSIZ])
{
	char digits[DEV_ID_SIZE];
	size_t n = 0;

	for (const char *c = function; *c; c++)
		if (isalnum((unsigned char)*c))
			digits[n++] = *c;
	digits[n] = '\0';
	snprintf(ret, IFNAMSIZ, "roce%.11s", digits + (n > 11 ? n - 11 : 0));
}

/* In a pod's hands: away, or at home with our mark still on it. */
static bool is_away(const struct work *w)
{
	char ignored[IFNAMSIZ];

	return !w->at->is_host || attach_alias_origin(w->seen.alias, ignored);
}

/* Of a device that nobody has looked at before: what a driver starts with. */
static unsigned own_mtu(const struct work *w)
{
	if (w->record->origin.mtu || w->seen.netdev.type != ARPHRD_ETHER || !is_away(w))
		return w->record->origin.mtu;
	return ETH_DATA_LEN;
}

/* What is to change before it is as it was; the MAC follows when the PF allows it again. */
static struct netdev_change home_change(const struct work *w, const char *name)
{
	const struct link_origin *o = &w->record->origin;
	const struct netdev *nd = &w->seen.netdev;
	struct netdev_change c = {.netns_fd = -1, .up = -1};

	if (!w->at->is_host)
		c.netns_fd = w->host.netns_fd;
	if (c.netns_fd >= 0 || strcmp(nd->name, name) != 0)
		c.name = name;
	if (strcmp(w->seen.alias, o->alias) != 0)
		c.alias = o->alias;
	if (nd->mtu != own_mtu(w))
		c.mtu = own_mtu(w);
	c.clear = nd->flags & PODS_FLAGS;
	/* A name may change only while the device is down, before Linux 6.2; a move takes it down.
	 */
	if (c.name && c.netns_fd < 0 && nd->flags & IFF_UP)
		c.up = 0;
	return c;
}

static int take_down(struct work *w, struct nlsock *s)
{
	const struct netdev_change down = {.netns_fd = -1, .up = 0};

	return netdev_change(s, w->seen.netdev.ifindex, &down, w->err);
}

/* The alternative names that it had, but for those that are another's by now. */
static void free_altnames(struct work *w, char ret[ALTNAMES_SIZE])
{
	char had[ALTNAMES_SIZE], *rest = NULL;
	struct netdev_seen other;
	struct nlsock *s = NULL;
	size_t n = 0;

	memcpy(had, w->record->origin.altnames, sizeof(had));
	ret[0] = '\0';
	for (char *alt = strtok_r(had, " ", &rest); alt; alt = strtok_r(NULL, " ", &rest))
		if (w->at->is_host || place_rtnl(&w->host, &s, NULL) < 0 ||
		    netdev_by_name(s, alt, &other, NULL) < 0)
			n += (size_t)snprintf(ret + n, ALTNAMES_SIZE - n, "%s%s", n ? " " : "",
					      alt);
}

/* Before it is at home, alternative names that it did not have before go: one that is taken keeps
 * it where it is, and one that is free would be taken by it. With the name that it is to have, udev
 * has been at work on a device that came home as net1. Of a device whose origin nobody knows, all
 * of them are the pod's until the mark is gone; udev gives the usual ones again. */
static int wash(struct work *w, struct nlsock *s)
{
	const struct netdev *nd = &w->seen.netdev;
	char keep[ALTNAMES_SIZE];

	if (w->seen.has_xdp)
		netdev_detach_xdp(s, nd->ifindex);
	if (!w->record->origin.mtu && !is_away(w))
		return 0;
	free_altnames(w, keep);
	return netdev_keep_altnames(s, nd->ifindex, keep, w->err);
}

static int change_home(struct work *w, const char *name)
{
	struct netdev_change c = home_change(w, name);
	struct nlsock *s = NULL;
	int r = place_rtnl(w->at, &s, w->err);

	if (r == 0)
		r = wash(w, s);
	if (r < 0 || (c.netns_fd < 0 && !c.name && !c.alias && !c.mtu && !c.clear))
		return r;
	if (c.up == 0)
		r = take_down(w, s);
	c.up = -1;
	if (r == 0)
		r = netdev_change(s, w->seen.netdev.ifindex, &c, w->err);
	if (r == 0 && c.netns_fd >= 0)
		snprintf(w->came_as, sizeof(w->came_as), "%s", name);
	return r;
}

/* udev renames a device that appears, and a dying namespace hands it back: both at any moment. */
static bool is_passing(int r)
{
	return r == -EBUSY || r == -EEXIST || r == -EAGAIN || err_is_gone(r);
}

/* A record that has none learns it from the mark, before that goes; without one, a device at home
 * keeps the name that it has. */
static void learn_name(struct work *w)
{
	struct link_origin *o = &w->record->origin;

	if (!o->name[0] && !attach_alias_origin(w->seen.alias, o->name) && w->at->is_host)
		memcpy(o->name, w->seen.netdev.name, sizeof(o->name));
}

/* Of a device that only its mark tells of, which its pod could write: the name of another interface
 * would keep it from being clean for as long as that is there. A new netdev, once udev has seen it,
 * has a name of its own. */
static bool keeps_its_name(const struct work *w)
{
	return w->record->renewing && !w->record->origin.mtu && w->at && w->at->is_host;
}

/* A quarter of a second: udev may just have given the name away, to this very device. */
#define OWN_NAME_LOOKS 7

/* A second and a half: udev, where it runs, is slow on a busy node. */
#define UDEV_LOOKS 12

/* A dead namespace has handed it back under a name that udev takes for none, and gives it another
 * (UDEV_ALLOWED_CHARS_INPUT of systemd): whoever renames it before would have it renamed again. */
static bool is_udevs_next(const struct work *w)
{
	const char *c = w->seen.netdev.name;

	while (isalnum((unsigned char)*c) || (*c && strchr("#+-.:=@_", *c)))
		c++;
	return w->at->is_host && *c;
}

/* Fine if the function has no netdev any more; one whose driver is just making it anew (IPoIB, when
 * the RDMA device has come back) is waited for. A name that stays taken leaves the netdev in the
 * host under whatever name: it is given a spare one, and not called clean. */
int return_bring_home(struct work *w)
{
	const char *name = w->record->origin.name;
	struct patience p = {0};
	char spare[IFNAMSIZ];
	int r;

	spare_name(w->record->function, spare);
	do {
		r = work_find_anywhere(w, &p);
		if (r == -ENODEV && !function_has(w->hw, w->record->function, "driver"))
			return 0;
		if (r == 0 && p.looks < UDEV_LOOKS && is_udevs_next(w)) {
			r = -EAGAIN;
		} else if (r == 0) {
			learn_name(w);
			r = change_home(w, *name ? name : spare);
		}
		if (r == -EEXIST && keeps_its_name(w)) {
			if (p.looks >= UDEV_LOOKS)
				memcpy(w->record->origin.name, w->seen.netdev.name, IFNAMSIZ);
		} else if (r == -EEXIST && p.looks >= OWN_NAME_LOOKS) {
			name = spare;
		}
	} while (is_passing(r) && work_wait(&p));
	if (r == -ENODEV)
		return 0;
	return r < 0 ? err_wrap(w->err, "%s: back into the host", w->record->function) : 0;
}

/* A namespace that is gone has taken it along. */
static int delete_stacked(struct work *w)
{
	struct nlsock *s = NULL;
	int r = work_open_pod(w);

	if (r == 0)
		r = work_look(w, &w->pod);
	if (r == 0)
		r = place_rtnl(&w->pod, &s, w->err);
	if (r == 0)
		r = netdev_delete(s, w->seen.netdev.ifindex, w->err);
	w->at = NULL;
	return err_is_gone(r) ? 0 : r;
}

int return_step_move(struct work *w)
{
	return work_is_vf(w) ? if_beyond(w, return_bring_home(w)) : delete_stacked(w);
}

/* --- admin ------------------------------------------------------------------------------------ */

int return_look_at_home(struct work *w)
{
	int r = work_open_host(w);

	return r < 0 ? r : work_look(w, &w->host);
}

/* Rates are set in one attribute, both. */
static unsigned whole_fields(unsigned fields, unsigned known)
{
	if (fields & (VF_MIN_RATE | VF_MAX_RATE))
		fields |= known & (VF_MIN_RATE | VF_MAX_RATE);
	return fields;
}

/* Without one of the PF's, the VF chooses its own with its next reset; a driver that knows no such
 * thing keeps the one there is. */
static int forget_mac(struct work *w, const struct vf_settings *is)
{
	const struct vf_settings none = {.fields = VF_MAC};
	int r = is->fields & VF_MAC && vf_settings_differ(&none, is) ? vf_admin_write(w, &none) : 0;

	return r == -EOPNOTSUPP || r == -EINVAL || r == -EADDRNOTAVAIL ? 0 : r;
}

/* Of a device that only its mark is known of: what the PF has set for it is set to what drivers
 * start with. */
static int assume_settings(struct work *w)
{
	struct link_origin *o = &w->record->origin;
	int r;

	if (o->mtu || o->pf[0])
		return 0;
	r = function_pf(w->hw, w->record->function, o->pf, &o->vf_index);
	if (r == 0 && o->pf[0])
		r = vf_admin_read(w, &o->vf);
	if (r == 0 && o->pf[0])
		r = forget_mac(w, &o->vf);
	if (r < 0) {
		o->pf[0] = '\0';
		return err_is_gone(r) ? 0 : r;
	}
	o->vf.fields &= ~(unsigned)(VF_MAC | VF_GUIDS);
	o->vf.vlan = 0;
	o->vf.vlan_qos = 0;
	o->vf.vlan_proto = ETH_P_8021Q;
	o->vf.spoofchk = true;
	o->vf.trust = false;
	o->vf.link_state = VF_LINK_AUTO;
	o->vf.min_rate = o->vf.max_rate = 0;
	return 0;
}

static int restore_settings(struct work *w)
{
	struct vf_settings want, is;
	int r = assume_settings(w);

	if (r < 0)
		return r;
	want = w->record->origin.vf;
	if (!w->record->origin.pf[0])
		return 0;
	r = vf_admin_read(w, &is);
	if (r == -ENODEV && !function_is_there(w->hw, w->record->function))
		return 0;
	if (r < 0)
		return r;
	want.fields = whole_fields(vf_admin_changed(w->record, &is), want.fields);
	if (!want.fields)
		return 0;
	r = vf_admin_write(w, &want);
	return r == 0 && want.fields & VF_GUIDS ? return_bring_home(w) : r;
}

/* A crash may have left it without: its driver was to take new GUIDs, or to make a new netdev. */
static int restore_driver(struct work *w)
{
	struct patience p = {0};
	int r;

	if ((!(w->record->plan.vf.fields & VF_GUIDS) && !w->record->renewing) ||
	    !function_is_there(w->hw, w->record->function) ||
	    function_has(w->hw, w->record->function, "net"))
		return 0;
	r = function_bind(w->hw, w->record->function, w->err);
	while (r == 0 && (r = return_look_at_home(w)) == -ENODEV && work_wait(&p))
		r = 0;
	return r < 0 ? r : return_bring_home(w);
}

bool return_has_own_mac(const struct work *w)
{
	const struct link_origin *o = &w->record->origin;
	const struct netdev *nd = &w->seen.netdev;

	return nd->type != ARPHRD_ETHER || o->addr_len != nd->addr_len ||
	       memcmp(nd->addr, o->addr, o->addr_len) == 0;
}

/* The PF has said it already. A driver that lets nobody say it again (igbvf) takes it over when it
 * resets the device, which it does on the way down. */
static int adopt_mac(struct work *w, struct nlsock *s)
{
	const struct link_origin *o = &w->record->origin;
	const struct netdev_change up = {.netns_fd = -1, .up = 1};
	int r;

	if (!(o->vf.fields & VF_MAC) || memcmp(o->vf.mac, o->addr, sizeof(o->vf.mac)) != 0)
		return -EADDRNOTAVAIL;
	r = netdev_change(s, w->seen.netdev.ifindex, &up, w->err);
	if (r == 0)
		r = take_down(w, s);
	if (r == 0)
		r = return_look_at_home(w);
	return r == 0 && !return_has_own_mac(w) ? -EADDRNOTAVAIL : r;
}

/* InfiniBand's address is made of what the device is, and is not ours to set. */
static int restore_mac(struct work *w, struct nlsock *s)
{
	const struct link_origin *o = &w->record->origin;
	const struct netdev_change mac = {
		.netns_fd = -1, .addr = o->addr, .addr_len = o->addr_len, .up = -1};
	struct err refused = {0};
	int r;

	if (return_has_own_mac(w))
		return 0;
	if (w->seen.netdev.flags & IFF_UP) {
		r = take_down(w, s);
		if (r < 0)
			return r;
		w->seen.netdev.flags &= ~(unsigned)IFF_UP;
	}
	r = netdev_change(s, w->seen.netdev.ifindex, &mac, &refused);
	if (r < 0 && adopt_mac(w, s) < 0)
		return err_set(w->err, r, "%s: its own MAC: %s", w->seen.netdev.name, refused.msg);
	return 0;
}

/* A pod that is alive may put another interface, a veth or the like, in the place where we saw the
 * function's, with the same index. The name was free here before, so what bears it is what came. */
static void send_away(struct work *w)
{
	struct netdev_seen other;
	struct nlsock *s = NULL;

	if (w->came_as[0] && place_rtnl(&w->host, &s, NULL) == 0 &&
	    netdev_by_name(s, w->came_as, &other, NULL) == 0 && other.netdev.kind[0])
		netdev_delete(s, other.netdev.ifindex, NULL);
	w->came_as[0] = '\0';
}

/* Seen by its function: an index is anybody's. */
static int look_what_came(struct work *w)
{
	struct patience p = {0};
	int r = return_look_at_home(w);

	while (r == -ENODEV && function_has(w->hw, w->record->function, "net")) {
		send_away(w);
		r = return_bring_home(w);
		if (r == 0)
			r = return_look_at_home(w);
		if (r == -ENODEV && !work_wait(&p))
			return err_set(w->err, -EAGAIN, "%s: its netdev does not stay in the host",
				       w->record->function);
	}
	return r;
}

static int restore_link(struct work *w, bool *ret_own_mac)
{
	struct netdev_change state = {.netns_fd = -1, .up = w->record->origin.up};
	struct nlsock *s = NULL;
	int r = look_what_came(w);

	if (r < 0)
		return r == -ENODEV ? 0 : r;
	*ret_own_mac = return_has_own_mac(w);
	r = place_rtnl(&w->host, &s, w->err);
	if (r == 0)
		r = restore_mac(w, s);
	if (r == 0 && !(w->seen.netdev.flags & IFF_UP) == w->record->origin.up)
		r = netdev_change(s, w->seen.netdev.ifindex, &state, w->err);
	return r;
}

/* A VF that is given its MAC tells its PF, which, if it trusts the VF, takes it for the one that an
 * administrator had set. */
int return_restore(struct work *w)
{
	bool own_mac = true;
	int r = restore_settings(w);

	if (r == 0)
		r = restore_driver(w);
	kill_point("back-admin-2", "before");
	if (r == 0)
		r = restore_link(w, &own_mac);
	return r < 0 || own_mac ? r : restore_settings(w);
}

int return_step_admin(struct work *w)
{
	return work_is_vf(w) ? return_restore(w) : 0;
}

/* --- done ------------------------------------------------------------------------------------- */

/* Whatever the disk says instead when the machine dies: that is of another boot then, and nothing
 * is done to a device for it (identity.h). */
int return_step_done(struct work *w)
{
	int r;

	w->record->state = ATTACH_FREE;
	w->record->renewing = false;
	r = journal_write(w->job->journal, w->record, false, w->err);
	if (r < 0)
		w->record->state = ATTACH_RETURNING;
	return r;
}
