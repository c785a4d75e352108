/* return_steps.c - a device from wherever an attach has left it back into the host, as it was. */
#include <ctype.h>
#include <linux/if_ether.h>
#include <net/if_arp.h>
#include <unistd.h>

#include "attach_rdma.h"
#include "attach_steps.h"
#include "function_files.h"
#include "identity.h"
#include "kill_point.h"
#include "soft_roce_nodes.h"
#include "stacked.h"
#include "vf_admin.h"
#include "vf_fields.h"

/* --- record ----------------------------------------------------------------------------------- */

/* What is on the disk already leads to a return, too: a disk that cannot be written keeps no device
 * from coming back. */
int return_step_record(struct step_run *run)
{
	struct err ignored = {0};
	int r = identity_check(run);

	if (r < 0)
		return r;
	run->job->superseded = r == 0 && identity_is_superseded(run);
	run->job->settle_only = r > 0 || run->job->superseded;
	if (r > 0)
		soft_roce_nodes_remove(run->hw, run->record->id, &ignored);
	run->record->state = ATTACH_RETURNING;
	journal_write(run->job->journal, run->record, false, &ignored);
	return 0;
}

/* A namespace lives as long as a socket in it, a descriptor that is on its way from one process to
 * another, or a mount that only a container sees. None of them lets anybody in. */
static int if_beyond(struct step_run *run, int r)
{
	return r == -EAGAIN && run->job->insist ? return_replace(run) : r;
}

int return_step_rdma(struct step_run *run)
{
	return if_beyond(run, attach_rdma_return(run));
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
static bool is_away(const struct step_run *run)
{
	char ignored[IFNAMSIZ];

	return !run->at->is_host || attach_alias_origin(run->seen.alias, ignored);
}

/* Of a device that nobody has looked at before: what a driver starts with. */
static uint32_t own_value(const struct step_run *run, size_t field)
{
	const struct link_origin *o = &run->record->origin;

	if (o->mtu || run->seen.netdev.type != ARPHRD_ETHER || !is_away(run))
		return o->link[field];
	return link_fields[field].initial;
}

/* What is to change before it is as it was; the MAC follows when the PF allows it again. */
static struct netdev_change home_change(const struct step_run *run, const char *name)
{
	const struct link_origin *o = &run->record->origin;
	const unsigned flags = run->seen.netdev.flags;
	struct netdev_change c = {.netns_fd = run->at->is_host ? -1 : run->host.netns_fd,
				  .name = name,
				  .alias = o->alias,
				  .up = -1,
				  .clear = flags & PODS_FLAGS};

	for (size_t i = 0; i < N_LINK_FIELDS; i++)
		c.link[i] = own_value(run, i);
	netdev_change_trim(&c, &run->seen);
	/* A name may change only while the device is down, before Linux 6.2; a move takes it down.
	 */
	if (c.name && c.netns_fd < 0 && flags & IFF_UP)
		c.up = 0;
	return c;
}

static int take_down(struct step_run *run, struct nlsock *s)
{
	const struct netdev_change down = {.netns_fd = -1, .up = 0};

	return netdev_change(s, run->seen.netdev.ifindex, &down, run->err);
}

/* The alternative names that it had, but for those that are another's by now. */
static void free_altnames(struct step_run *run, char ret[ALTNAMES_SIZE])
{
	char had[ALTNAMES_SIZE], *rest = NULL;
	struct netdev_seen other;
	struct nlsock *s = NULL;
	size_t n = 0;

	memcpy(had, run->record->origin.altnames, sizeof(had));
	ret[0] = '\0';
	for (char *alt = strtok_r(had, " ", &rest); alt; alt = strtok_r(NULL, " ", &rest))
		if (run->at->is_host || netns_sockets_rtnl(&run->host, &s, NULL) < 0 ||
		    netdev_by_name(s, alt, &other, NULL) < 0)
			n += (size_t)snprintf(ret + n, ALTNAMES_SIZE - n, "%s%s", n ? " " : "",
					      alt);
}

/* Its own alternative name keeps it from being called so: udev gives a new netdev the usual ones.
 */
static int give_up_altname(struct step_run *run, struct nlsock *s, const char *name)
{
	char has[ALTNAMES_SIZE], keep[ALTNAMES_SIZE] = "", *rest = NULL;
	bool found = false;
	size_t n = 0;

	memcpy(has, run->seen.altnames, sizeof(has));
	for (char *alt = strtok_r(has, " ", &rest); alt; alt = strtok_r(NULL, " ", &rest))
		if (strcmp(alt, name) == 0)
			found = true;
		else
			n += (size_t)snprintf(keep + n, sizeof(keep) - n, "%s%s", n ? " " : "",
					      alt);
	return found ? netdev_keep_altnames(s, run->seen.netdev.ifindex, keep, run->err) : 0;
}

/* Before it is at home, alternative names that it did not have before go: one that is taken keeps
 * it where it is, and one that is free would be taken by it. With the name that it is to have, udev
 * has been at work on a device that came home as net1. Of a device whose origin nobody knows, all
 * of them are the pod's until the mark is gone; udev gives the usual ones again. */
static int wash(struct step_run *run, struct nlsock *s, const char *name)
{
	const struct netdev *nd = &run->seen.netdev;
	char keep[ALTNAMES_SIZE];

	if (run->seen.has_xdp)
		netdev_detach_xdp(s, nd->ifindex);
	if (!run->record->origin.mtu && !is_away(run))
		return name ? give_up_altname(run, s, name) : 0;
	free_altnames(run, keep);
	return netdev_keep_altnames(s, nd->ifindex, keep, run->err);
}

static int change_home(struct step_run *run, const char *name)
{
	struct netdev_change c = home_change(run, name);
	struct nlsock *s = NULL;
	int r = netns_sockets_rtnl(run->at, &s, run->err);

	if (r == 0)
		r = wash(run, s, c.name);
	if (r < 0 || netdev_change_is_empty(&c))
		return r;
	if (c.up == 0)
		r = take_down(run, s);
	c.up = -1;
	if (r == 0)
		r = netdev_change(s, run->seen.netdev.ifindex, &c, run->err);
	if (r == 0 && c.netns_fd >= 0)
		snprintf(run->came_as, sizeof(run->came_as), "%s", name);
	return r;
}

/* udev renames a device that appears, and a dying namespace hands it back: both at any moment. */
static bool return_is_passing(int r)
{
	return r == -EBUSY || r == -EEXIST || r == -EAGAIN || err_is_gone(r);
}

/* A record that has none learns it from the mark, before that goes. */
static void learn_name(struct step_run *run)
{
	struct link_origin *o = &run->record->origin;

	if (!o->name[0])
		attach_alias_origin(run->seen.alias, o->name);
}

/* Without a mark, a device at home keeps the name that it has; its pod may have chosen it, so it is
 * not recorded: a new netdev has another. */
static const char *name_to_give(const struct step_run *run, const char *own, const char *spare)
{
	if (own[0])
		return own;
	return run->at->is_host ? run->seen.netdev.name : spare;
}

/* Of a device that only its mark tells of, which its pod could write: the name of another interface
 * would keep it from being clean for as long as that is there. A new netdev, once udev has seen it,
 * has a name of its own. */
static bool keeps_its_name(const struct step_run *run)
{
	return run->record->renewing && !run->record->origin.mtu && run->at && run->at->is_host;
}

/* Of the host: a container has no /run/udev of its own. */
static bool udev_has(const struct step_run *run, const char *file)
{
	char path[64];

	snprintf(path, sizeof(path), "1/root/run/udev/%s", file);
	return faccessat(run->hw->proc_fd, path, F_OK, 0) == 0;
}

/* What only the mark has told may be a name that the pod chose, and udev keeps a name that somebody
 * has given (NamePolicy=keep of systemd.link): a new netdev is left to udev where it runs. */
void return_forget_told_name(struct step_run *run)
{
	if (!run->record->origin.mtu && udev_has(run, "control"))
		run->record->origin.name[0] = '\0';
}

/* udev is about to name a new netdev; it notes those that it is done with. */
static bool awaits_udev(const struct step_run *run)
{
	char noted[32];

	if (!run->at->is_host || !run->record->renewing || run->record->origin.mtu ||
	    run->record->origin.name[0] || !udev_has(run, "control"))
		return false;
	snprintf(noted, sizeof(noted), "data/n%d", run->seen.netdev.ifindex);
	return !udev_has(run, noted);
}

/* A quarter of a second: udev may just have given the name away, to this very device. */
#define OWN_NAME_RETRIES 7

/* A second and a half: udev, where it runs, is slow on a busy node. */
#define UDEV_RETRIES 12

/* A dead namespace has handed it back under a name that udev takes for none, and gives it another
 * (UDEV_ALLOWED_CHARS_INPUT of systemd): whoever renames it before would have it renamed again. */
static bool is_udevs_next(const struct step_run *run)
{
	const char *c = run->seen.netdev.name;

	while (isalnum((unsigned char)*c) || (*c && strchr("#+-.:=@_", *c)))
		c++;
	return run->at->is_host && *c;
}

/* Fine if the function has no netdev any more; one whose driver is just making it anew (IPoIB, when
 * the RDMA device has come back) is waited for. A name that stays taken leaves the netdev in the
 * host under whatever name: it is given a spare one, and not called clean. */
int return_bring_home(struct step_run *run)
{
	const char *name = run->record->origin.name;
	struct retries retries = {0};
	char spare[IFNAMSIZ];
	int r;

	spare_name(run->record->function, spare);
	do {
		r = run_find_anywhere(run, &retries);
		if (r == -ENODEV && !function_has(run->hw, run->record->function, "driver"))
			return 0;
		if (r == 0 && retries.n < UDEV_RETRIES &&
		    (is_udevs_next(run) || awaits_udev(run))) {
			r = -EAGAIN;
		} else if (r == 0) {
			run->udev_is_next |= is_udevs_next(run);
			learn_name(run);
			r = change_home(run, name_to_give(run, name, spare));
		}
		if (r == -EEXIST && keeps_its_name(run)) {
			if (retries.n >= UDEV_RETRIES)
				memcpy(run->record->origin.name, run->seen.netdev.name, IFNAMSIZ);
		} else if (r == -EEXIST && retries.n >= OWN_NAME_RETRIES) {
			name = spare;
		}
	} while (return_is_passing(r) && run_again_later(&retries));
	if (r == -ENODEV)
		return 0;
	return r < 0 ? err_wrap(run->err, "%s: back into the host", run->record->function) : 0;
}

int return_step_move(struct step_run *run)
{
	return run_is_vf(run) ? if_beyond(run, return_bring_home(run)) : stacked_delete(run);
}

/* --- admin ------------------------------------------------------------------------------------ */

int return_look_at_home(struct step_run *run)
{
	int r = run_open_host(run);

	return r < 0 ? r : run_look(run, &run->host);
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
static int forget_mac(struct step_run *run, const struct vf_settings *is)
{
	const struct vf_settings none = {.fields = VF_MAC};
	int r = is->fields & VF_MAC && vf_settings_differ(&none, is) ? vf_admin_write(run, &none)
								     : 0;

	return r == -EOPNOTSUPP || r == -EINVAL || r == -EADDRNOTAVAIL ? 0 : r;
}

/* Of a device that only its mark is known of: what the PF has set for it is set to what drivers
 * start with. */
static int assume_settings(struct step_run *run)
{
	static const struct vf_settings initial = {
		.vlan_proto = ETH_P_8021Q, .spoofchk = true, .link_state = VF_LINK_AUTO};
	struct link_origin *o = &run->record->origin;
	unsigned known;
	int r;

	if (o->mtu || o->pf[0])
		return 0;
	r = function_pf(run->hw, run->record->function, o->pf, &o->vf_index);
	if (r == 0 && o->pf[0])
		r = vf_admin_read(run, &o->vf);
	if (r == 0 && o->pf[0])
		r = forget_mac(run, &o->vf);
	if (r < 0) {
		o->pf[0] = '\0';
		return err_is_gone(r) ? 0 : r;
	}
	known = o->vf.fields & ~(unsigned)(VF_MAC | VF_GUIDS);
	vf_settings_copy(&o->vf, &initial, known);
	o->vf.fields = known;
	return 0;
}

static int restore_settings(struct step_run *run)
{
	struct vf_settings want, is;
	int r = assume_settings(run);

	if (r < 0)
		return r;
	want = run->record->origin.vf;
	if (!run->record->origin.pf[0])
		return 0;
	r = vf_admin_read(run, &is);
	if (r == -ENODEV && !function_is_there(run->hw, run->record->function))
		return 0;
	if (r < 0)
		return r;
	want.fields = whole_fields(vf_admin_changed(run->record, &is), want.fields);
	if (!want.fields)
		return 0;
	r = vf_admin_write(run, &want);
	return r == 0 && want.fields & VF_GUIDS ? return_bring_home(run) : r;
}

/* A crash may have left it without a driver, or without a netdev: its driver was to take new GUIDs,
 * or to make a new netdev. The record does not say so where it could not be written; a function
 * that has no driver at all had one when it was attached. */
static int restore_driver(struct step_run *run)
{
	const char *function = run->record->function;
	struct retries retries = {0};
	int r;

	if (!function_is_there(run->hw, function) || function_has(run->hw, function, "net"))
		return 0;
	if (function_has(run->hw, function, "driver") && !run->record->renewing &&
	    !(run->record->plan.vf.fields & VF_GUIDS))
		return 0;
	r = function_bind(run->hw, run->record->function, run->err);
	while (r == 0 && (r = return_look_at_home(run)) == -ENODEV && run_again_later(&retries))
		r = 0;
	return r < 0 ? r : return_bring_home(run);
}

bool return_has_own_mac(const struct step_run *run)
{
	const struct link_origin *o = &run->record->origin;
	const struct netdev *nd = &run->seen.netdev;

	return nd->type != ARPHRD_ETHER || o->addr_len != nd->addr_len ||
	       memcmp(nd->addr, o->addr, o->addr_len) == 0;
}

/* The PF has said it already. A driver that lets nobody say it again (igbvf) takes it over when it
 * resets the device, which it does on the way down. */
static int adopt_mac(struct step_run *run, struct nlsock *s)
{
	const struct link_origin *o = &run->record->origin;
	const struct netdev_change up = {.netns_fd = -1, .up = 1};
	int r;

	if (!(o->vf.fields & VF_MAC) || memcmp(o->vf.mac, o->addr, sizeof(o->vf.mac)) != 0)
		return -EADDRNOTAVAIL;
	r = netdev_change(s, run->seen.netdev.ifindex, &up, run->err);
	if (r == 0)
		r = take_down(run, s);
	if (r == 0)
		r = return_look_at_home(run);
	return r == 0 && !return_has_own_mac(run) ? -EADDRNOTAVAIL : r;
}

/* InfiniBand's address is made of what the device is, and is not ours to set. */
static int restore_mac(struct step_run *run, struct nlsock *s)
{
	const struct link_origin *o = &run->record->origin;
	const struct netdev_change mac = {
		.netns_fd = -1, .addr = o->addr, .addr_len = o->addr_len, .up = -1};
	struct err refused = {0};
	int r;

	if (return_has_own_mac(run))
		return 0;
	if (run->seen.netdev.flags & IFF_UP) {
		r = take_down(run, s);
		if (r < 0)
			return r;
		run->seen.netdev.flags &= ~(unsigned)IFF_UP;
	}
	r = netdev_change(s, run->seen.netdev.ifindex, &mac, &refused);
	if (r < 0 && adopt_mac(run, s) < 0)
		return err_set(run->err, r, "%s: its own MAC: %s", run->seen.netdev.name,
			       refused.msg);
	return 0;
}

/* A pod that is alive may put another interface, a veth or the like, in the place where we saw the
 * function's, with the same index. The name was free here before, so what bears it is what came. */
static void send_away(struct step_run *run)
{
	struct netdev_seen other;
	struct nlsock *s = NULL;

	if (run->came_as[0] && netns_sockets_rtnl(&run->host, &s, NULL) == 0 &&
	    netdev_by_name(s, run->came_as, &other, NULL) == 0 && other.netdev.kind[0])
		netdev_delete(s, other.netdev.ifindex, NULL);
	run->came_as[0] = '\0';
}

/* Seen by its function: an index is anybody's. */
static int look_what_came(struct step_run *run)
{
	struct retries retries = {0};
	int r = return_look_at_home(run);

	while (r == -ENODEV && function_has(run->hw, run->record->function, "net")) {
		send_away(run);
		r = return_bring_home(run);
		if (r == 0)
			r = return_look_at_home(run);
		if (r == -ENODEV && !run_again_later(&retries))
			return err_set(run->err, -EAGAIN,
				       "%s: its netdev does not stay in the host",
				       run->record->function);
	}
	return r;
}

static int restore_link(struct step_run *run, bool *ret_own_mac)
{
	struct netdev_change state = {.netns_fd = -1, .up = run->record->origin.up};
	struct nlsock *s = NULL;
	int r = look_what_came(run);

	if (r < 0)
		return r == -ENODEV ? 0 : r;
	*ret_own_mac = return_has_own_mac(run);
	r = netns_sockets_rtnl(&run->host, &s, run->err);
	if (r == 0)
		r = restore_mac(run, s);
	if (r == 0 && !(run->seen.netdev.flags & IFF_UP) == run->record->origin.up)
		r = netdev_change(s, run->seen.netdev.ifindex, &state, run->err);
	return r;
}

/* A VF that is given its MAC tells its PF, which, if it trusts the VF, takes it for the one that an
 * administrator had set. */
int return_restore(struct step_run *run)
{
	bool own_mac = true;
	int r = restore_settings(run);

	if (r == 0)
		r = restore_driver(run);
	kill_point("back-admin-2", "before");
	if (r == 0)
		r = restore_link(run, &own_mac);
	return r < 0 || own_mac ? r : restore_settings(run);
}

int return_step_admin(struct step_run *run)
{
	return run_is_vf(run) ? return_restore(run) : 0;
}

/* --- done ------------------------------------------------------------------------------------- */

/* Whatever the disk says instead when the machine dies: that is of another boot then, and nothing
 * is done to a device for it (identity.h). */
int return_step_done(struct step_run *run)
{
	int r;

	run->record->state = ATTACH_FREE;
	run->record->renewing = false;
	r = journal_write(run->job->journal, run->record, false, run->err);
	if (r < 0)
		run->record->state = ATTACH_RETURNING;
	return r;
}
