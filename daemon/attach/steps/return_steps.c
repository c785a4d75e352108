// SPDX-License-Identifier: Apache-2.0
/* return_steps.c - the steps that return a device to the host in its original state, from wherever
 * an attach has left it. */
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

/* A failed write is ignored: the record on the disk leads to a return after a restart, too. */
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

/* Gives the function a new netdev if the old one is in an unreachable namespace: one that is pinned
 * by a socket in it, by a descriptor in transit between two processes, or by a mount that only a
 * container sees. A namespace cannot be entered through any of these. */
static int replace_if_unreachable(struct step_run *run, int r)
{
	return r == -EAGAIN && run->job->may_replace ? return_replace(run) : r;
}

int return_step_rdma(struct step_run *run)
{
	return replace_if_unreachable(run, attach_rdma_return(run));
}

/* --- move ------------------------------------------------------------------------------------- */

/* Returns a name to use while another interface has the original one. It differs from all names of
 * pod interfaces and of udev. */
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

/* Is the netdev still the pod's: in another namespace, or in the host with our mark? */
static bool is_away(const struct step_run *run)
{
	char ignored[IFNAMSIZ];

	return !run->at->is_host || attach_alias_origin(run->seen.alias, ignored);
}

/* Returns the value to restore. If none was recorded (mtu 0): the driver's default for an Ethernet
 * netdev that still has the pod's settings, otherwise 0, which means no change. */
static uint32_t own_value(const struct step_run *run, size_t field)
{
	const struct link_origin *o = &run->record->origin;

	if (o->mtu || run->seen.netdev.type != ARPHRD_ETHER || !is_away(run))
		return o->link[field];
	return link_fields[field].initial;
}

/* The changes that restore the original state, except the MAC, which can be set only after the PF's
 * settings. */
static struct netdev_change origin_change(const struct step_run *run, const char *name)
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
	/* Before Linux 6.2 a name can only be changed while the netdev is down. A move takes it
	 * down. */
	if (c.name && c.netns_fd < 0 && flags & IFF_UP)
		c.up = 0;
	return c;
}

static int take_down(struct step_run *run, struct nlsock *s)
{
	const struct netdev_change down = {.netns_fd = -1, .up = 0};

	return netdev_change(s, run->seen.netdev.ifindex, &down, run->err);
}

/* Returns the original alternative names, except those that another netdev in the host has by
 * now. */
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

/* Removes the alternative name that equals the name to set: udev adds it to new netdevs, and then
 * the kernel rejects the name. */
static int drop_altname(struct step_run *run, struct nlsock *s, const char *name)
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

/* Removes XDP programs and alternative names that the netdev did not have originally. This precedes
 * the move to the host: a name that is in use there would make the move fail, and a free one would
 * be occupied. The original name may be among them, if udev has processed a netdev that returned as
 * net1. If the original state is unknown, all alternative names count as the pod's while the netdev
 * has our mark; udev adds the usual ones again. */
static int return_strip(struct step_run *run, struct nlsock *s, const char *name)
{
	const struct netdev *nd = &run->seen.netdev;
	char keep[ALTNAMES_SIZE];

	if (run->seen.has_xdp)
		netdev_detach_xdp(s, nd->ifindex);
	if (!run->record->origin.mtu && !is_away(run))
		return name ? drop_altname(run, s, name) : 0;
	free_altnames(run, keep);
	return netdev_keep_altnames(s, nd->ifindex, keep, run->err);
}

static int change_to_origin(struct step_run *run, const char *name)
{
	struct netdev_change c = origin_change(run, name);
	struct nlsock *s = NULL;
	int r = netns_sockets_rtnl(run->at, &s, run->err);

	if (r == 0)
		r = return_strip(run, s, c.name);
	if (r < 0 || netdev_change_is_empty(&c))
		return r;
	if (c.up == 0)
		r = take_down(run, s);
	c.up = -1;
	if (r == 0)
		r = netdev_change(s, run->seen.netdev.ifindex, &c, run->err);
	if (r == 0 && c.netns_fd >= 0)
		snprintf(run->arrived_name, sizeof(run->arrived_name), "%s", name);
	return r;
}

/* Is the error temporary? udev may rename the netdev at any moment, and the kernel may return it to
 * the host from a namespace that is being removed. */
static bool return_is_temporary(int r)
{
	return r == -EBUSY || r == -EEXIST || r == -EAGAIN || err_is_not_found(r);
}

/* Takes a missing original name from the mark, before the mark is removed. */
static void learn_name(struct step_run *run)
{
	struct link_origin *o = &run->record->origin;

	if (!o->name[0])
		attach_alias_origin(run->seen.alias, o->name);
}

/* If the original name is unknown, a netdev in the host keeps its current one. The pod may have
 * chosen that name, so it is not recorded, and a new netdev gets another name. */
static const char *name_to_restore(const struct step_run *run, const char *own, const char *spare)
{
	if (own[0])
		return own;
	return run->at->is_host ? run->seen.netdev.name : spare;
}

/* May a new netdev keep the name from udev? Yes, if the original name is known only from the mark,
 * which the pod could write. With another interface's name in the mark, the device would not be
 * clean as long as that interface exists. */
static bool keeps_its_name(const struct step_run *run)
{
	return run->record->renewing && !run->record->origin.mtu && run->at && run->at->is_host;
}

/* Does the host's /run/udev have that file? A container has no /run/udev of its own. */
static bool udev_has(const struct step_run *run, const char *file)
{
	char path[64];

	snprintf(path, sizeof(path), "1/root/run/udev/%s", file);
	return faccessat(run->hw->proc_fd, path, F_OK, 0) == 0;
}

/* A name that comes only from the mark may be the pod's choice, and udev keeps names that were set
 * explicitly (NamePolicy=keep of systemd.link). So where udev runs, it names the new netdev. */
void return_forget_reported_name(struct step_run *run)
{
	if (!run->record->origin.mtu && udev_has(run, "control"))
		run->record->origin.name[0] = '\0';
}

/* Does udev still have to name the new netdev? It has a file for each netdev that it has
 * processed. */
static bool awaits_udev(const struct step_run *run)
{
	char noted[32];

	if (!run->at->is_host || !run->record->renewing || run->record->origin.mtu ||
	    run->record->origin.name[0] || !udev_has(run, "control"))
		return false;
	snprintf(noted, sizeof(noted), "data/n%d", run->seen.netdev.ifindex);
	return !udev_has(run, noted);
}

/* A quarter of a second: udev may just be giving the name to this very netdev. */
#define OWN_NAME_RETRIES 7

/* A second and a half: udev is slow on a busy node. */
#define UDEV_RETRIES 12

/* Will udev rename the netdev? A netdev that returns from a removed namespace may have a name that
 * udev does not accept (UDEV_ALLOWED_CHARS_INPUT of systemd). If we rename it first, udev renames
 * it again. */
static bool will_udev_rename(const struct step_run *run)
{
	const char *c = run->seen.netdev.name;

	while (isalnum((unsigned char)*c) || (*c && strchr("#+-.:=@_", *c)))
		c++;
	return run->at->is_host && *c;
}

/* Success if the function has no netdev any more. Waits for a netdev that its driver is recreating
 * (IPoIB, when the RDMA device has returned). If the original name stays taken, the netdev gets a
 * spare one in the host, and is not reported as clean. */
int return_move_to_host(struct step_run *run)
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
		    (will_udev_rename(run) || awaits_udev(run))) {
			r = -EAGAIN;
		} else if (r == 0) {
			run->udev_renames |= will_udev_rename(run);
			learn_name(run);
			r = change_to_origin(run, name_to_restore(run, name, spare));
		}
		if (r == -EEXIST && keeps_its_name(run)) {
			if (retries.n >= UDEV_RETRIES)
				memcpy(run->record->origin.name, run->seen.netdev.name, IFNAMSIZ);
		} else if (r == -EEXIST && retries.n >= OWN_NAME_RETRIES) {
			name = spare;
		}
	} while (return_is_temporary(r) && run_again_later(&retries));
	if (r == -ENODEV)
		return 0;
	return r < 0 ? err_wrap(run->err, "%s: moving to the host", run->record->function) : 0;
}

int return_step_move(struct step_run *run)
{
	return run_is_vf(run) ? replace_if_unreachable(run, return_move_to_host(run))
			      : stacked_delete(run);
}

/* --- admin ------------------------------------------------------------------------------------ */

int return_find_in_host(struct step_run *run)
{
	int r = run_open_host(run);

	return r < 0 ? r : run_find_in(run, &run->host);
}

/* Adds the second rate if one of the two is to be written: one attribute sets both. */
static unsigned whole_fields(unsigned fields, unsigned known)
{
	if (fields & (VF_MIN_RATE | VF_MAX_RATE))
		fields |= known & (VF_MIN_RATE | VF_MAX_RATE);
	return fields;
}

/* Clears the MAC that the PF has set; the VF then chooses its own with its next reset. A driver
 * that cannot clear it keeps the current one. */
static int forget_mac(struct step_run *run, const struct vf_settings *is)
{
	const struct vf_settings none = {.fields = VF_MAC};
	int r = is->fields & VF_MAC && vf_settings_differ(&none, is) ? vf_admin_write(run, &none)
								     : 0;

	return r == -EOPNOTSUPP || r == -EINVAL || r == -EADDRNOTAVAIL ? 0 : r;
}

/* If only the mark is known, the drivers' defaults become the original PF settings. */
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
		return err_is_not_found(r) ? 0 : r;
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
	if (r == -ENODEV && !function_is_on_bus(run->hw, run->record->function))
		return 0;
	if (r < 0)
		return r;
	want.fields = whole_fields(vf_admin_changed(run->record, &is), want.fields);
	if (!want.fields)
		return 0;
	r = vf_admin_write(run, &want);
	return r == 0 && want.fields & VF_GUIDS && !run->record->plan.no_netdev
		       ? return_move_to_host(run)
		       : r;
}

/* Binds the driver if a crash has left the function without a driver or netdev, while it was
 * unbound to apply new GUIDs or to make a new netdev. The record may not show this if it could not
 * be written; but a function without any driver had a driver when it was attached. */
static int restore_driver(struct step_run *run)
{
	const char *function = run->record->function;
	struct retries retries = {0};
	int r;

	if (!function_is_on_bus(run->hw, function) || function_has(run->hw, function, "net"))
		return 0;
	if (function_has(run->hw, function, "driver") && !run->record->renewing &&
	    !(run->record->plan.vf.fields & VF_GUIDS))
		return 0;
	r = function_bind(run->hw, run->record->function, run->err);
	while (r == 0 && (r = return_find_in_host(run)) == -ENODEV && run_again_later(&retries))
		r = 0;
	return r < 0 ? r : return_move_to_host(run);
}

bool return_has_own_mac(const struct step_run *run)
{
	const struct link_origin *o = &run->record->origin;
	const struct netdev *nd = &run->seen.netdev;

	return nd->type != ARPHRD_ETHER || o->addr_len != nd->addr_len ||
	       memcmp(nd->addr, o->addr, o->addr_len) == 0;
}

/* Makes the driver apply the MAC that the PF has set already. A driver that rejects the MAC on the
 * netdev (igbvf) applies it at a reset, which happens when the netdev goes down. */
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
		r = return_find_in_host(run);
	return r == 0 && !return_has_own_mac(run) ? -EADDRNOTAVAIL : r;
}

/* Restores the MAC. An InfiniBand address is derived from the device and cannot be set. */
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
		return err_set(run->err, r, "%s: restoring its MAC: %s", run->seen.netdev.name,
			       refused.msg);
	return 0;
}

/* Deletes an interface that was moved to the host by mistake: a running pod may replace the
 * function's netdev, after we saw it, by a veth or the like with the same ifindex. The name was
 * free in the host before, so the interface that has it now is the one that was moved. */
static void delete_wrong_netdev(struct step_run *run)
{
	struct netdev_seen other;
	struct nlsock *s = NULL;

	if (run->arrived_name[0] && netns_sockets_rtnl(&run->host, &s, NULL) == 0 &&
	    netdev_by_name(s, run->arrived_name, &other, NULL) == 0 && other.netdev.kind[0])
		netdev_delete(s, other.netdev.ifindex, NULL);
	run->arrived_name[0] = '\0';
}

/* Finds the netdev by its function: another interface may have its ifindex. */
static int find_arrived(struct step_run *run)
{
	struct retries retries = {0};
	int r = return_find_in_host(run);

	while (r == -ENODEV && function_has(run->hw, run->record->function, "net")) {
		delete_wrong_netdev(run);
		r = return_move_to_host(run);
		if (r == 0)
			r = return_find_in_host(run);
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
	int r = find_arrived(run);

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

/* Setting a VF's MAC informs its PF. A PF that trusts the VF treats it as if an administrator had
 * set it, so the PF's settings are restored again afterwards. */
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
	if (run->record->plan.no_netdev)
		return restore_settings(run);
	return run_is_vf(run) ? return_restore(run) : 0;
}

/* --- done ------------------------------------------------------------------------------------- */

/* Writes the record without fsync: after a crash of the machine, an older record on the disk is of
 * another boot, and causes no change of a device (identity.h). */
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
