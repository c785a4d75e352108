// SPDX-License-Identifier: Apache-2.0
/* vf_settings.c - reads and sets the settings of a VF through its PF.
 *
 * Success: one request sets all of them.
 * Errors: the PF has no such VF; the driver rejects a setting. In the second case the kernel stops
 * at that setting without naming it, so each is set by a request of its own, and the message names
 * all that fail. */
#include "netdev_ops.h"
#include "rtnl_vf.h"
#include "vf_fields.h"

void vf_fields_text(unsigned bits, char *text, size_t size)
{
	size_t n = 0;

	if (size)
		text[0] = '\0';
	for (size_t i = 0; i < N_VF_FIELDS && n < size; i++)
		if (bits & vf_fields[i].bit)
			n += (size_t)snprintf(text + n, size - n, "%s%s", n ? ", " : "",
					      vf_fields[i].name);
}

/* Compares the VLANs; the protocols only if there is a VLAN. */
static bool is_same_vlan(const struct vf_settings *a, const struct vf_settings *b)
{
	if (a->vlan == 0 && b->vlan == 0)
		return a->vlan_qos == b->vlan_qos;
	return a->vlan == b->vlan && a->vlan_qos == b->vlan_qos && a->vlan_proto == b->vlan_proto;
}

static bool vf_is_same(const struct vf_field_row *row, const struct vf_settings *a,
		       const struct vf_settings *b)
{
	if (row->bit == VF_VLAN)
		return is_same_vlan(a, b);
	return memcmp((const char *)a + row->at, (const char *)b + row->at, row->size) == 0;
}

unsigned vf_settings_differ(const struct vf_settings *want, const struct vf_settings *is)
{
	unsigned differ = 0;

	for (size_t i = 0; i < N_VF_FIELDS; i++)
		if ((want->fields & vf_fields[i].bit) &&
		    (!(is->fields & vf_fields[i].bit) || !vf_is_same(&vf_fields[i], want, is)))
			differ |= vf_fields[i].bit;
	return differ;
}

/* --- get ------------------------------------------------------------------------------------ */

struct vf_question {
	int vf;
	struct vf_settings *ret;
	int result;
};

static int on_pf(const struct nlmsghdr *h, void *arg)
{
	struct vf_question *q = arg;

	q->result = rtnl_decode_vf(h, q->vf, q->ret);
	return 0;
}

int vf_settings_get(struct nlsock *s, int pf_ifindex, int vf, struct vf_settings *ret,
		    struct err *e)
{
	struct vf_question q = {.vf = vf, .ret = ret, .result = -ENODEV};
	int r = nlsock_query(s, rtnl_get_vfs(pf_ifindex), on_pf, &q, e);

	if (r < 0) {
		err_wrap(e, "VF %d", vf);
		return r;
	}
	return q.result < 0 ? err_set(e, q.result, "the PF has no VF %d", vf) : 0;
}

/* --- set ------------------------------------------------------------------------------------ */

static int set_fields(struct nlsock *s, int pf_ifindex, int vf, const struct vf_settings *want,
		      unsigned which, struct err *e)
{
	return nlsock_query(s, rtnl_set_vf(pf_ifindex, vf, want, which), NULL, NULL, e);
}

/* True for errors that may concern a single setting, not the PF, the VF or our permissions. */
static bool is_about_a_field(int code)
{
	return code == -EOPNOTSUPP || code == -EINVAL || code == -ERANGE ||
	       code == -EPROTONOSUPPORT;
}

/* Sets each setting separately. Returns the error of the first one that failed, with a message that
 * names all failed ones. */
static int set_one_by_one(struct nlsock *s, int pf_ifindex, int vf, const struct vf_settings *want,
			  struct err *e)
{
	struct err first = {0}, now;
	unsigned failed = 0;
	char names[128];

	for (size_t i = 0; i < N_VF_FIELDS; i++) {
		if (!(want->fields & vf_fields[i].bit) ||
		    set_fields(s, pf_ifindex, vf, want, vf_fields[i].bit, &now) == 0)
			continue;
		if (!failed)
			first = now;
		failed |= vf_fields[i].bit;
	}
	if (!failed)
		return 0;
	vf_fields_text(failed, names, sizeof(names));
	return err_set(e, first.code, "VF %d: the PF's driver rejects %s: %s", vf, names,
		       first.msg);
}

/* Adds the current maximum rate to the settings: a request that sets the minimum rate also sets the
 * maximum (rtnl_set_vf()). Fails if the maximum is unknown, because 0 would remove the limit. */
static int keep_max_rate(struct nlsock *s, int pf_ifindex, int vf, struct vf_settings *want,
			 struct err *e)
{
	struct vf_settings is = {0};
	int r;

	if ((want->fields & (VF_MIN_RATE | VF_MAX_RATE)) != VF_MIN_RATE)
		return 0;
	r = vf_settings_get(s, pf_ifindex, vf, &is, e);
	if (r == 0 && !(is.fields & VF_MAX_RATE))
		r = err_set(
			e, -EOPNOTSUPP,
			"VF %d: setting a minimum rate would remove the maximum, which the PF does not report",
			vf);
	want->max_rate = is.max_rate;
	return r;
}

int vf_settings_set(struct nlsock *s, int pf_ifindex, int vf, const struct vf_settings *settings,
		    struct err *e)
{
	struct vf_settings want = *settings;
	struct err refused;
	int r;

	if (!want.fields)
		return 0;
	r = keep_max_rate(s, pf_ifindex, vf, &want, e);
	if (r < 0)
		return r;
	r = set_fields(s, pf_ifindex, vf, &want, want.fields, &refused);
	if (r == 0)
		return 0;
	if (is_about_a_field(r))
		return set_one_by_one(s, pf_ifindex, vf, &want, e);
	return err_set(e, r, "VF %d: %s", vf, refused.msg);
}
