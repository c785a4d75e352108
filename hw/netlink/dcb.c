// SPDX-License-Identifier: Apache-2.0
#include "dcb.h"

#include <errno.h>
#include <linux/dcbnl.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <string.h>

#include "nlmsg.h"

_Static_assert(sizeof(struct ieee_pfc) == 136, "ABI of dcbnl.h");
_Static_assert(sizeof(struct ieee_ets) == 59, "ABI of dcbnl.h");
_Static_assert(sizeof(struct dcb_app) == 4, "ABI of dcbnl.h");

struct nl_msg *dcb_ieee_request(const char *ifname)
{
	struct dcbmsg d = {.dcb_family = AF_UNSPEC, .cmd = DCB_CMD_IEEE_GET};
	struct nl_msg *msg = nlmsg_build(RTM_GETDCB, NLM_F_REQUEST, &d, sizeof(d));

	return nlmsg_finished(msg, msg ? nla_put_string(msg, DCB_ATTR_IFNAME, ifname) : -1);
}

static int copy_pfc(struct pfc *ret, struct nlattr *a)
{
	struct ieee_pfc p;

	if ((size_t)nla_len(a) < sizeof(p))
		return -EBADMSG;
	memcpy(&p, nla_data(a), sizeof(p));
	ret->enabled = p.pfc_en;
	ret->classes = p.pfc_cap;
	ret->delay = p.delay;
	for (int i = 0; i < N_PRIORITIES; i++) {
		ret->requests[i] = p.requests[i];
		ret->indications[i] = p.indications[i];
	}
	return 0;
}

/* Not in the headers of some supported build machines (6.1). */
#define ATTR_APP_TRUST_TABLE 11 /* DCB_ATTR_DCB_APP_TRUST_TABLE, Linux 6.2 */

/* The attributes of the answer and of its IEEE 802.1Qaz nest; the latter are NULL if the device has
 * none. */
struct ieee_answer {
	struct nlattr *top[DCB_ATTR_DCBX + 1];
	struct nlattr *ieee[ATTR_APP_TRUST_TABLE + 1];
};

static int parse_ieee(const struct nlmsghdr *h, struct ieee_answer *ret)
{
	static const struct nla_policy policy[DCB_ATTR_DCBX + 1] = {
		[DCB_ATTR_IEEE] = {.type = NLA_NESTED},
		[DCB_ATTR_DCBX] = {.type = NLA_U8},
	};
	static const struct nla_policy ieee_policy[ATTR_APP_TRUST_TABLE + 1] = {
		[DCB_ATTR_IEEE_APP_TABLE] = {.type = NLA_NESTED},
		[ATTR_APP_TRUST_TABLE] = {.type = NLA_NESTED},
	};

	*ret = (struct ieee_answer){0};
	if (h->nlmsg_type != RTM_GETDCB || !nlmsg_valid_hdr(h, sizeof(struct dcbmsg)) ||
	    ((const struct dcbmsg *)nlmsg_data(h))->cmd != DCB_CMD_IEEE_GET)
		return -EPROTO;
	if (nlmsg_parse((struct nlmsghdr *)h, sizeof(struct dcbmsg), ret->top, DCB_ATTR_DCBX,
			policy) < 0)
		return -EBADMSG;
	if (ret->top[DCB_ATTR_IEEE] && nla_parse_nested(ret->ieee, ATTR_APP_TRUST_TABLE,
							ret->top[DCB_ATTR_IEEE], ieee_policy) < 0)
		return -EBADMSG;
	return 0;
}

int dcb_decode_pfc(const struct nlmsghdr *h, struct pfc *ret)
{
	struct ieee_answer a;
	int r = parse_ieee(h, &a);

	if (r < 0)
		return r;
	if (!a.ieee[DCB_ATTR_IEEE_PFC])
		return -ENODATA;
	return copy_pfc(ret, a.ieee[DCB_ATTR_IEEE_PFC]);
}

/* --- settings --------------------------------------------------------------------------------- */

/* Adds an entry unless the DSCP has one. The table may have several entries for one DSCP, the
 * newest first (dcb_app_add()), and drivers program the newest one into the hardware. */
static void add_app(const struct dcb_app *app, struct port_settings *s)
{
	if (app->selector != IEEE_8021QAZ_APP_SEL_DSCP || app->protocol >= N_DSCP ||
	    app->priority >= SETTINGS_PRIOS)
		return;
	s->dscp_trusted = true;
	if (s->dscp_priority[app->protocol] == NO_PRIORITY)
		s->dscp_priority[app->protocol] = app->priority;
}

static int add_apps(struct nlattr *table, struct port_settings *s)
{
	struct nlattr *a;
	int left;

	s->dscp_trusted = false;
	memset(s->dscp_priority, NO_PRIORITY, sizeof(s->dscp_priority));
	nla_for_each_nested (a, table, left) {
		struct dcb_app app;

		if ((size_t)nla_len(a) < sizeof(app))
			return -EBADMSG;
		memcpy(&app, nla_data(a), sizeof(app));
		if (nla_type(a) == DCB_ATTR_IEEE_APP)
			add_app(&app, s);
	}
	return 0;
}

/* True if DSCP is one of the trusted selectors, which the table lists in order of precedence. */
static bool is_dscp_trusted(struct nlattr *table)
{
	struct nlattr *a;
	int left;

	nla_for_each_nested (a, table, left)
		if (nla_len(a) >= 1 && nla_get_u8(a) == IEEE_8021QAZ_APP_SEL_DSCP)
			return true;
	return false;
}

/* Adds the DSCP table and the trust mode. Without an attribute for the trust mode (drivers of RoCE
 * NICs do not report it), DSCP is trusted if the table has an entry for any DSCP. */
static void add_dscp(const struct ieee_answer *a, struct port_settings *s)
{
	struct nlattr *table = a->ieee[DCB_ATTR_IEEE_APP_TABLE];
	struct port_settings with = *s;

	if (!table || add_apps(table, &with) < 0)
		return;
	if (a->ieee[ATTR_APP_TRUST_TABLE])
		with.dscp_trusted = is_dscp_trusted(a->ieee[ATTR_APP_TRUST_TABLE]);
	with.seen |= SETTINGS_DSCP;
	*s = with;
}

static void add_ets(struct nlattr *a, struct port_settings *s)
{
	struct ieee_ets ets;

	if (!a || (size_t)nla_len(a) < sizeof(ets))
		return;
	memcpy(&ets, nla_data(a), sizeof(ets));
	for (int i = 0; i < SETTINGS_PRIOS; i++)
		if (ets.prio_tc[i] >= SETTINGS_PRIOS || ets.tc_tx_bw[i] > 100)
			return;
	memcpy(s->ets_class, ets.prio_tc, sizeof(s->ets_class));
	memcpy(s->ets_algorithm, ets.tc_tsa, sizeof(s->ets_algorithm));
	memcpy(s->ets_percent, ets.tc_tx_bw, sizeof(s->ets_percent));
	s->seen |= SETTINGS_ETS;
}

static void add_pfc(struct nlattr *a, enum settings_part part, uint8_t *mask,
		    struct port_settings *s)
{
	struct pfc pfc;

	if (!a || copy_pfc(&pfc, a) < 0)
		return;
	*mask = pfc.enabled;
	s->seen |= part;
}

int dcb_decode_settings(const struct nlmsghdr *h, struct port_settings *ret)
{
	struct ieee_answer a;
	int r = parse_ieee(h, &a);

	if (r < 0)
		return r;
	add_dscp(&a, ret);
	add_pfc(a.ieee[DCB_ATTR_IEEE_PFC], SETTINGS_PFC, &ret->pfc, ret);
	add_pfc(a.ieee[DCB_ATTR_IEEE_PEER_PFC], SETTINGS_PEER_PFC, &ret->peer_pfc, ret);
	add_ets(a.ieee[DCB_ATTR_IEEE_ETS], ret);
	if (a.top[DCB_ATTR_DCBX]) {
		ret->dcbx = nla_get_u8(a.top[DCB_ATTR_DCBX]);
		ret->seen |= SETTINGS_DCBX;
	}
	return 0;
}
