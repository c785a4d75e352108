// SPDX-License-Identifier: Apache-2.0
/* A port's settings from answers of DCB and ethtool netlink, as the kernel builds them, and damaged
 * ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <errno.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <stdlib.h>
#include <string.h>

#include "dcb.h"
#include "genl.h"
#include "settings_answers.h"
#include "test_group.h"

#define FAMILY 21

/* Values that no port has, to detect which fields are written. */
static struct port_settings untouched(void)
{
	struct port_settings s;

	memset(&s, 0x5a, sizeof(s));
	s.dscp_trusted = s.pause_receives = s.pause_sends = s.cm_roce_v2 = true;
	s.seen = 0;
	return s;
}

static int decode(const struct dcb_answer *a, struct port_settings *ret)
{
	struct nl_msg *m = dcb_answer_build(a, "ens1np0");
	int r = dcb_decode_settings(nlmsg_hdr(m), ret);

	nlmsg_free(m);
	return r;
}

/* --- DCB -------------------------------------------------------------------------------------- */

static void a_port_configured_as_vendors_recommend(void **state)
{
	const struct ieee_ets ets = {.ets_cap = 8,
				     .prio_tc = {0, 1, 2, 3, 4, 5, 6, 7},
				     .tc_tx_bw = {50, 0, 0, 50},
				     /* bandwidth of reception, which is not used */
				     .tc_rx_bw = {99, 99, 99, 99},
				     .tc_tsa = {2, 2, 2, 2, 2, 2, 0, 255}};
	const struct ieee_pfc pfc = {.pfc_cap = 8, .pfc_en = 1 << 3};
	const struct ieee_pfc peer = {.pfc_cap = 8, .pfc_en = 1 << 4};
	struct dcb_answer a = {.ets = &ets,
			       .pfc = &pfc,
			       .peer_pfc = &peer,
			       .has_dcbx = true,
			       .dcbx = DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE};
	struct port_settings s = untouched();

	(void)state;
	dcb_answer_dscp(&a, 26, 3);
	dcb_answer_dscp(&a, 48, 6);
	assert_int_equal(decode(&a, &s), 0);
	assert_int_equal(s.seen, SETTINGS_DSCP | SETTINGS_PFC | SETTINGS_PEER_PFC | SETTINGS_ETS |
					 SETTINGS_DCBX);
	assert_true(s.dscp_trusted);
	assert_int_equal(s.dscp_priority[26], 3);
	assert_int_equal(s.dscp_priority[48], 6);
	assert_int_equal(s.dscp_priority[0], NO_PRIORITY);
	assert_int_equal(s.dscp_priority[63], NO_PRIORITY);
	assert_int_equal(s.pfc, 8);
	assert_int_equal(s.peer_pfc, 16);
	assert_int_equal(s.dcbx, 9);
	assert_memory_equal(s.ets_class, ets.prio_tc, sizeof(s.ets_class));
	assert_memory_equal(s.ets_percent, ets.tc_tx_bw, sizeof(s.ets_percent));
	assert_memory_equal(s.ets_algorithm, ets.tc_tsa, sizeof(s.ets_algorithm));
}

/* The peer has not reported PFC, the driver has no ETS: both are unknown, not zero. */
static void absent_attributes_are_unknown(void **state)
{
	const struct ieee_pfc pfc = {.pfc_en = 0};
	struct dcb_answer a = {.pfc = &pfc};
	struct port_settings s = untouched(), before = untouched();

	(void)state;
	assert_int_equal(decode(&a, &s), 0);
	assert_int_equal(s.seen, SETTINGS_DSCP | SETTINGS_PFC);
	assert_int_equal(s.pfc, 0);
	assert_false(s.dscp_trusted);
	assert_int_equal(s.peer_pfc, before.peer_pfc);
	assert_int_equal(s.dcbx, before.dcbx);
	assert_memory_equal(s.ets_class, before.ets_class, sizeof(s.ets_class));
}

/* Values read from other sources are kept. */
static void parts_are_added(void **state)
{
	struct dcb_answer a = {.has_dcbx = true, .dcbx = 5};
	struct port_settings s = {.seen = SETTINGS_CM_TOS | SETTINGS_PAUSE, .cm_tos = 106};

	(void)state;
	assert_int_equal(decode(&a, &s), 0);
	assert_int_equal(s.seen, SETTINGS_CM_TOS | SETTINGS_PAUSE | SETTINGS_DSCP | SETTINGS_DCBX);
	assert_int_equal(s.cm_tos, 106);
}

static void other_applications_do_not_affect_dscp(void **state)
{
	struct dcb_answer a = {
		.apps = {{.selector = IEEE_8021QAZ_APP_SEL_ETHERTYPE,
			  .priority = 3,
			  .protocol = 0x8915},
			 {.selector = IEEE_8021QAZ_APP_SEL_DGRAM, .priority = 3, .protocol = 4791},
			 {.selector = IEEE_8021QAZ_APP_SEL_ETHERTYPE,
			  .priority = 4,
			  .protocol = 26}},
		.n_apps = 3};
	struct port_settings s = untouched();

	(void)state;
	assert_int_equal(decode(&a, &s), 0);
	assert_false(s.dscp_trusted);
	for (int i = 0; i < N_DSCP; i++)
		assert_int_equal(s.dscp_priority[i], NO_PRIORITY);
}

static void impossible_entries_are_left_out(void **state)
{
	struct dcb_answer a = {0};
	struct port_settings s = untouched();

	(void)state;
	dcb_answer_dscp(&a, N_DSCP, 1);
	dcb_answer_dscp(&a, 65535, 1);
	dcb_answer_dscp(&a, 10, 8);
	assert_int_equal(decode(&a, &s), 0);
	assert_false(s.dscp_trusted);
	assert_int_equal(s.dscp_priority[10], NO_PRIORITY);
	dcb_answer_dscp(&a, 63, 7);
	assert_int_equal(decode(&a, &s), 0);
	assert_true(s.dscp_trusted);
	assert_int_equal(s.dscp_priority[63], 7);
}

/* Drivers that keep the older entry program the newer one, which is reported first. */
static void the_newest_entry_of_a_dscp_counts(void **state)
{
	struct dcb_answer a = {0};
	struct port_settings s = untouched();

	(void)state;
	dcb_answer_dscp(&a, 26, 5);
	dcb_answer_dscp(&a, 26, 3);
	assert_int_equal(decode(&a, &s), 0);
	assert_int_equal(s.dscp_priority[26], 5);
}

static void the_reported_trust_mode_overrides_the_entries(void **state)
{
	struct dcb_answer a = {.has_trust = true, .trust = {255}, .n_trust = 1};
	struct port_settings s = untouched();

	(void)state;
	dcb_answer_dscp(&a, 26, 3);
	assert_int_equal(decode(&a, &s), 0);
	assert_false(s.dscp_trusted);
	assert_int_equal(s.dscp_priority[26], 3);
	a.trust[1] = IEEE_8021QAZ_APP_SEL_DSCP;
	a.n_trust = 2;
	assert_int_equal(decode(&a, &s), 0);
	assert_true(s.dscp_trusted);
	a.n_trust = 0;
	assert_int_equal(decode(&a, &s), 0);
	assert_false(s.dscp_trusted);
	a = (struct dcb_answer){
		.has_trust = true, .trust = {IEEE_8021QAZ_APP_SEL_DSCP}, .n_trust = 1};
	assert_int_equal(decode(&a, &s), 0);
	assert_true(s.dscp_trusted);
}

static void impossible_classes_and_percents_are_unknown(void **state)
{
	struct ieee_ets ets = {.prio_tc = {0, 0, 0, 0, 0, 0, 0, 8}};
	struct dcb_answer a = {.ets = &ets};
	struct port_settings s = untouched();

	(void)state;
	assert_int_equal(decode(&a, &s), 0);
	assert_false(s.seen & SETTINGS_ETS);
	ets = (struct ieee_ets){.tc_tx_bw = {0, 101}};
	assert_int_equal(decode(&a, &s), 0);
	assert_false(s.seen & SETTINGS_ETS);
	ets = (struct ieee_ets){.tc_tx_bw = {0, 100}, .prio_tc = {7}};
	assert_int_equal(decode(&a, &s), 0);
	assert_true(s.seen & SETTINGS_ETS);
}

/* --- malformed -------------------------------------------------------------------------------- */

/* Returns what is decoded from an answer with one attribute of this size in its nest, or in an
 * inner nest. */
static uint32_t seen_sized(int attribute, int inner, size_t size)
{
	static const uint8_t zeros[256];
	struct dcbmsg d = {.cmd = DCB_CMD_IEEE_GET};
	struct nl_msg *m = nlmsg_alloc_simple(RTM_GETDCB, 0);
	struct port_settings s = untouched(), before = untouched();
	struct nlattr *ieee, *table = NULL;

	nlmsg_append(m, &d, sizeof(d), NLMSG_ALIGNTO);
	ieee = nla_nest_start(m, DCB_ATTR_IEEE);
	if (inner)
		table = nla_nest_start(m, attribute);
	nla_put(m, inner ? inner : attribute, (int)size, zeros);
	if (inner)
		nla_nest_end(m, table);
	nla_nest_end(m, ieee);
	nla_put_u8(m, DCB_ATTR_DCBX, 9);
	assert_int_equal(dcb_decode_settings(nlmsg_hdr(m), &s), 0);
	/* An invalid part does not affect others. */
	assert_true(s.seen & SETTINGS_DCBX);
	assert_int_equal(s.dcbx, 9);
	if (s.seen == SETTINGS_DCBX) {
		before.seen = s.seen;
		before.dcbx = s.dcbx;
		assert_memory_equal(&s, &before, sizeof(s));
	}
	nlmsg_free(m);
	return s.seen & ~(uint32_t)SETTINGS_DCBX;
}

static void parts_of_the_wrong_size_are_unknown(void **state)
{
	const int app = DCB_ATTR_IEEE_APP;

	(void)state;
	assert_int_equal(seen_sized(DCB_ATTR_IEEE_ETS, 0, sizeof(struct ieee_ets)), SETTINGS_ETS);
	assert_int_equal(seen_sized(DCB_ATTR_IEEE_ETS, 0, sizeof(struct ieee_ets) - 1), 0);
	assert_int_equal(seen_sized(DCB_ATTR_IEEE_PFC, 0, sizeof(struct ieee_pfc)), SETTINGS_PFC);
	assert_int_equal(seen_sized(DCB_ATTR_IEEE_PFC, 0, sizeof(struct ieee_pfc) - 1), 0);
	assert_int_equal(seen_sized(DCB_ATTR_IEEE_PEER_PFC, 0, 1), 0);
	assert_int_equal(seen_sized(DCB_ATTR_IEEE_APP_TABLE, app, 4), SETTINGS_DSCP);
	assert_int_equal(seen_sized(DCB_ATTR_IEEE_APP_TABLE, app, 3), 0);
	/* A selector without bytes is invalid. */
	assert_int_equal(seen_sized(11, app, 0), 0);
	/* A newer kernel may report more. */
	assert_int_equal(seen_sized(DCB_ATTR_IEEE_ETS, 0, sizeof(struct ieee_ets) + 8),
			 SETTINGS_ETS);
}

/* Of a truncated message nothing past the end is read (checked by ASan). */
static void every_cut_is_survived(void **state)
{
	const struct ieee_pfc pfc = {.pfc_en = 8};
	struct dcb_answer a = {.pfc = &pfc, .has_dcbx = true, .has_trust = true, .n_trust = 3};
	struct nl_msg *m;
	size_t len;

	(void)state;
	dcb_answer_dscp(&a, 26, 3);
	m = dcb_answer_build(&a, "ens1np0");
	len = nlmsg_hdr(m)->nlmsg_len;
	for (size_t n = sizeof(struct nlmsghdr); n < len; n++) {
		struct nlmsghdr *cut = malloc(n);
		struct port_settings s = untouched(), before = untouched();

		assert_non_null(cut);
		memcpy(cut, nlmsg_hdr(m), n);
		cut->nlmsg_len = (uint32_t)n;
		if (dcb_decode_settings(cut, &s) < 0)
			assert_memory_equal(&s, &before, sizeof(s));
		free(cut);
	}
	nlmsg_free(m);
}

static void other_messages_are_rejected(void **state)
{
	struct dcb_answer a = {.has_dcbx = true};
	struct nl_msg *m = dcb_answer_build(&a, "ens1np0");
	struct port_settings s = untouched(), before = untouched();

	(void)state;
	((struct dcbmsg *)nlmsg_data(nlmsg_hdr(m)))->cmd = DCB_CMD_GDCBX;
	assert_int_equal(dcb_decode_settings(nlmsg_hdr(m), &s), -EPROTO);
	((struct dcbmsg *)nlmsg_data(nlmsg_hdr(m)))->cmd = DCB_CMD_IEEE_GET;
	nlmsg_hdr(m)->nlmsg_type = RTM_SETDCB;
	assert_int_equal(dcb_decode_settings(nlmsg_hdr(m), &s), -EPROTO);
	assert_memory_equal(&s, &before, sizeof(s));
	nlmsg_free(m);
}

/* --- pause ------------------------------------------------------------------------------------ */

static void pause_in_each_direction(void **state)
{
	(void)state;
	for (int on = 0; on < 4; on++) {
		struct nl_msg *m = pause_answer_build(FAMILY, on & 1, on & 2);
		struct port_settings s = {.seen = SETTINGS_PFC};

		assert_int_equal(pause_decode_settings(nlmsg_hdr(m), FAMILY, &s), 0);
		assert_int_equal(s.seen, SETTINGS_PFC | SETTINGS_PAUSE);
		assert_int_equal(s.pause_receives, on & 1);
		assert_int_equal(s.pause_sends, (on & 2) != 0);
		assert_int_equal(pause_decode_settings(nlmsg_hdr(m), FAMILY + 1, &s), -EPROTO);
		nlmsg_free(m);
	}
}

static void incomplete_pause_settings_are_rejected(void **state)
{
	struct genlmsghdr g = {.cmd = ETHTOOL_MSG_PAUSE_GET_REPLY, .version = 1};
	struct nl_msg *m = nlmsg_alloc_simple(FAMILY, 0);
	struct port_settings s = untouched(), before = untouched();

	(void)state;
	nlmsg_append(m, &g, sizeof(g), NLMSG_ALIGNTO);
	assert_int_equal(pause_decode_settings(nlmsg_hdr(m), FAMILY, &s), -EBADMSG);
	nla_put_u8(m, ETHTOOL_A_PAUSE_RX, 1);
	assert_int_equal(pause_decode_settings(nlmsg_hdr(m), FAMILY, &s), -EBADMSG);
	nla_put(m, ETHTOOL_A_PAUSE_TX, 0, NULL);
	assert_int_equal(pause_decode_settings(nlmsg_hdr(m), FAMILY, &s), -EBADMSG);
	assert_memory_equal(&s, &before, sizeof(s));
	nlmsg_free(m);
}

TEST_GROUP(settings_decode)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_port_configured_as_vendors_recommend),
		cmocka_unit_test(absent_attributes_are_unknown),
		cmocka_unit_test(parts_are_added),
		cmocka_unit_test(other_applications_do_not_affect_dscp),
		cmocka_unit_test(impossible_entries_are_left_out),
		cmocka_unit_test(the_newest_entry_of_a_dscp_counts),
		cmocka_unit_test(the_reported_trust_mode_overrides_the_entries),
		cmocka_unit_test(impossible_classes_and_percents_are_unknown),
		cmocka_unit_test(parts_of_the_wrong_size_are_unknown),
		cmocka_unit_test(every_cut_is_survived),
		cmocka_unit_test(other_messages_are_rejected),
		cmocka_unit_test(pause_in_each_direction),
		cmocka_unit_test(incomplete_pause_settings_are_rejected),
	};

	return test_group_run(tests, NULL, NULL);
}
