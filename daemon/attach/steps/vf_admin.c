// SPDX-License-Identifier: Apache-2.0
/* vf_admin.c - reads and writes the settings of a VF through its PF. */
#include "vf_admin.h"

#include "function_files.h"
#include "kill_point.h"
#include "vf_fields.h"

struct vf_settings vf_admin_planned(const struct attach_record *r)
{
	struct vf_settings want = r->plan.vf;

	if (r->plan.has_mac && r->origin.pf[0]) {
		want.fields |= VF_MAC;
		memcpy(want.mac, r->plan.mac, sizeof(want.mac));
	}
	return want;
}

struct vf_settings vf_admin_kept(const struct attach_record *r)
{
	struct vf_settings want = vf_admin_planned(r);
	const struct vf_settings *was = &r->origin.vf;

	vf_settings_copy(&want, was,
			 was->fields & ~want.fields & (VF_VLAN | VF_SPOOFCHK | VF_TRUST));
	return want;
}

static bool is_mac(const uint8_t mac[6], const uint8_t other[6])
{
	return memcmp(mac, other, 6) == 0;
}

unsigned vf_admin_changed(const struct attach_record *r, const struct vf_settings *is)
{
	static const uint8_t none[6];
	const struct link_origin *o = &r->origin;
	const bool has_own = o->addr_len == sizeof(is->mac);
	const bool was_set = !is_mac(o->vf.mac, none) && !(has_own && is_mac(o->vf.mac, o->addr));
	const bool is_own = has_own && is_mac(is->mac, o->addr);
	unsigned changed = vf_settings_differ(&o->vf, is);

	if (!was_set && (!r->plan.has_mac || is_own))
		changed &= ~(unsigned)VF_MAC;
	return changed;
}

/* Unknown compares equal. */
static bool is_same_pf(const struct step_run *run)
{
	const struct function_identity *was = &run->record->origin.identity;

	return was->pf_mac_len == 0 || run->pf_mac_len == 0 ||
	       (was->pf_mac_len == run->pf_mac_len &&
		memcmp(was->pf_mac, run->pf_mac, was->pf_mac_len) == 0);
}

static int find_pf_of(struct step_run *run, struct nlsock *s)
{
	struct netdev_seen pf;
	const char *function = run->record->origin.pf;
	int r = netdev_by_function(s, function, function_ifindex(run->hw, function), &pf, run->err);

	if (r < 0)
		return err_wrap(run->err, "%s: its PF %s", run->record->function, function);
	memcpy(run->pf_mac, pf.perm_addr, pf.perm_addr_len);
	run->pf_mac_len = pf.perm_addr_len;
	if (!is_same_pf(run))
		return err_set(run->err, -ESTALE,
			       "%s: its PF %s is another device now: its MAC differs",
			       run->record->function, run->record->origin.pf);
	run->pf_ifindex = pf.netdev.ifindex;
	return 0;
}

/* Finds the PF, which stays in the host. */
static int find_pf(struct step_run *run, struct nlsock **ret)
{
	int r = run_open_host(run);

	if (r == 0)
		r = netns_sockets_rtnl(&run->host, ret, run->err);
	return r < 0 || run->pf_ifindex ? r : find_pf_of(run, *ret);
}

int vf_admin_find_pf(struct step_run *run)
{
	struct nlsock *s = NULL;

	return find_pf(run, &s);
}

int vf_admin_read(struct step_run *run, struct vf_settings *ret)
{
	struct nlsock *s = NULL;
	int r = find_pf(run, &s);

	if (r < 0)
		return r;
	r = vf_settings_get(s, run->pf_ifindex, run->record->origin.vf_index, ret, run->err);
	return r < 0 ? err_wrap(run->err, "%s: settings of its VF %d", run->record->origin.pf,
				run->record->origin.vf_index)
		     : 0;
}

int vf_admin_wait_for_netdev(struct step_run *run)
{
	struct retries retries = {0};
	int r;

	while ((r = run_find_in(run, &run->host)) == -ENODEV && run_again_later(&retries))
		;
	return r < 0 ? err_wrap(run->err, "%s: after rebinding its driver", run->record->function)
		     : 0;
}

static int apply_guids(struct step_run *run)
{
	int r = function_unbind(run->hw, run->record->function, run->err);

	if (r < 0)
		return r;
	kill_point("attach-admin-2", "before");
	r = function_bind(run->hw, run->record->function, run->err);
	return r < 0 ? r : vf_admin_wait_for_netdev(run);
}

int vf_admin_write(struct step_run *run, const struct vf_settings *want)
{
	struct nlsock *s = NULL;
	int r = find_pf(run, &s);

	if (r < 0)
		return r;
	r = vf_settings_set(s, run->pf_ifindex, run->record->origin.vf_index, want, run->err);
	if (r < 0)
		return err_wrap(run->err, "%s: settings of its VF %d", run->record->origin.pf,
				run->record->origin.vf_index);
	/* The function reads new GUIDs at a reset. A function without a netdev is reset by the
	 * program in the pod. */
	return want->fields & VF_GUIDS && !run->record->plan.no_netdev ? apply_guids(run) : 0;
}
