// SPDX-License-Identifier: Apache-2.0
/* Decoders of netlink answers with statistics: messages built with libnl as the kernel builds them,
 * and damaged ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <errno.h>
#include <linux/dcbnl.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <rdma/rdma_netlink.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "dcb.h"
#include "genl.h"
#include "nldev.h"
#include "test_group.h"

#define STAT_GET	RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_STAT_GET)
#define STAT_GET_STATUS RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_STAT_GET_STATUS)
#define RES_GET		RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_RES_GET)

struct heard {
	char names[16][64];
	uint64_t values[16];
	size_t n;
};

static void on_named(const char *name, uint64_t value, void *arg)
{
	struct heard *h = arg;

	assert_true(h->n < ARRAY_SIZE(h->names));
	strcpy(h->names[h->n], name);
	h->values[h->n++] = value;
}

static struct nl_msg *message(int type)
{
	struct nl_msg *m = nlmsg_alloc_simple(type, 0);

	nla_put_u32(m, RDMA_NLDEV_ATTR_DEV_INDEX, 0);
	nla_put_string(m, RDMA_NLDEV_ATTR_DEV_NAME, "mlx5_0");
	nla_put_u32(m, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	return m;
}

/* nla_nest_start() without the flag, as nldev.c does it. */
static struct nlattr *nest(struct nl_msg *m, int type)
{
	return nla_nest_start(m, type & ~NLA_F_NESTED);
}

static void put_counter(struct nl_msg *m, const char *name, uint64_t value)
{
	struct nlattr *e = nest(m, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY);

	nla_put_string(m, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, name);
	nla_put_u64(m, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE, value);
	nla_nest_end(m, e);
}

static void stat_names_and_values(void **state)
{
	struct nl_msg *m = message(STAT_GET);
	struct nlattr *t = nest(m, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
	struct heard h = {.n = 0};

	(void)state;
	put_counter(m, "rx_write_requests", 7);
	put_counter(m, "np_cnp_sent", UINT64_MAX);
	nla_nest_end(m, t);
	assert_int_equal(nldev_decode_stat(nlmsg_hdr(m), on_named, &h), 2);
	assert_string_equal(h.names[1], "np_cnp_sent");
	assert_int_equal(h.values[0], 7);
	assert_int_equal(h.values[1], UINT64_MAX);
	assert_int_equal(nldev_decode_resources(nlmsg_hdr(m), on_named, &h), -EPROTO);
	nlmsg_free(m);
}

static void a_stat_without_its_table_is_malformed(void **state)
{
	struct nl_msg *m = message(STAT_GET);
	struct heard h = {.n = 0};

	(void)state;
	assert_int_equal(nldev_decode_stat(nlmsg_hdr(m), on_named, &h), -EBADMSG);
	nlmsg_free(m);
}

/* Each `how` damages one entry; earlier entries are delivered. */
static void put_bent(struct nl_msg *m, int how)
{
	struct nlattr *e = nest(m, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY);

	if (how == 0) /* 0: a name without a terminating NUL */
		nla_put(m, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, 3, "abc");
	else if (how != 1) /* 1: no name */
		nla_put_string(m, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, "abc");
	if (how == 2) /* 2: a value of four bytes; 3: no value */
		nla_put_u32(m, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE, 1);
	else if (how != 3)
		nla_put_u64(m, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE, 1);
	nla_nest_end(m, e);
}

static void malformed_entries_are_rejected(void **state)
{
	(void)state;
	for (int how = 0; how < 4; how++) {
		struct nl_msg *m = message(STAT_GET);
		struct nlattr *t = nest(m, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
		struct heard h = {.n = 0};

		put_counter(m, "good", 1);
		put_bent(m, how);
		nla_nest_end(m, t);
		assert_int_equal(nldev_decode_stat(nlmsg_hdr(m), on_named, &h), -EBADMSG);
		assert_int_equal(h.n, 1);
		nlmsg_free(m);
	}
}

static void a_message_cut_anywhere_is_safe(void **state)
{
	struct nl_msg *m = message(STAT_GET);
	struct nlattr *t = nest(m, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);

	(void)state;
	put_counter(m, "rx_write_requests", 7);
	nla_nest_end(m, t);
	for (uint32_t n = NLMSG_HDRLEN; n < nlmsg_hdr(m)->nlmsg_len; n++) {
		struct nlmsghdr *cut = malloc(n);
		struct heard h = {.n = 0};

		memcpy(cut, nlmsg_hdr(m), n);
		cut->nlmsg_len = n;
		assert_true(nldev_decode_stat(cut, on_named, &h) <= 0);
		assert_int_equal(h.n, 0);
		free(cut);
	}
	nlmsg_free(m);
}

static void resources_by_kind(void **state)
{
	struct nl_msg *m = message(RES_GET);
	struct nlattr *t = nest(m, RDMA_NLDEV_ATTR_RES_SUMMARY), *e;
	struct heard h = {.n = 0};

	(void)state;
	e = nest(m, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY);
	nla_put_string(m, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME, "qp");
	nla_put_u64(m, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR, 12);
	nla_nest_end(m, e);
	nla_nest_end(m, t);
	assert_int_equal(nldev_decode_resources(nlmsg_hdr(m), on_named, &h), 1);
	assert_string_equal(h.names[0], "qp");
	assert_int_equal(h.values[0], 12);
	nlmsg_free(m);
}

static void put_status(struct nl_msg *m, const char *name, uint32_t index, int optional)
{
	struct nlattr *e = nest(m, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY);

	nla_put_string(m, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, name);
	nla_put_u32(m, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_INDEX, index);
	if (optional >= 0)
		nla_put_u8(m, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_DYNAMIC, (uint8_t)optional);
	nla_nest_end(m, e);
}

struct statuses {
	struct nldev_stat_status s[4];
	size_t n;
};

static void on_status(const struct nldev_stat_status *st, void *arg)
{
	struct statuses *s = arg;

	assert_true(s->n < ARRAY_SIZE(s->s));
	s->s[s->n++] = *st;
}

static void status_of_optional_counters(void **state)
{
	struct nl_msg *m = message(STAT_GET_STATUS);
	struct nlattr *t = nest(m, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
	struct statuses s = {.n = 0};

	(void)state;
	put_status(m, "out_of_buffer", 4, -1);
	put_status(m, "cc_rx_ce_pkts", 31, 0);
	put_status(m, "cc_tx_cnp_pkts", 33, 1);
	nla_nest_end(m, t);
	assert_int_equal(nldev_decode_stat_status(nlmsg_hdr(m), on_status, &s), 3);
	assert_false(s.s[0].optional);
	assert_true(s.s[0].enabled);
	assert_true(s.s[1].optional);
	assert_false(s.s[1].enabled);
	assert_int_equal(s.s[2].index, 33);
	assert_true(s.s[2].enabled);
	nlmsg_free(m);
}

/* The set is a nest of u32 entries, which is present even if empty. */
static void the_request_to_set_carries_the_whole_set(void **state)
{
	static const uint32_t indices[] = {31, 33};

	(void)state;
	for (size_t n = 0; n <= 2; n++) {
		struct nl_msg *m = nldev_stat_set(5, 1, indices, n);
		struct nlattr *tb[RDMA_NLDEV_ATTR_MAX], *a;
		size_t i = 0;
		int left;

		assert_non_null(m);
		assert_int_equal(nlmsg_hdr(m)->nlmsg_type,
				 RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_STAT_SET));
		assert_int_equal(nlmsg_parse(nlmsg_hdr(m), 0, tb, RDMA_NLDEV_ATTR_MAX - 1, NULL),
				 0);
		assert_int_equal(nla_get_u32(tb[RDMA_NLDEV_ATTR_DEV_INDEX]), 5);
		assert_non_null(tb[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS]);
		nla_for_each_nested (a, tb[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS], left) {
			assert_int_equal(nla_type(a), RDMA_NLDEV_ATTR_STAT_HWCOUNTER_INDEX);
			assert_int_equal(nla_get_u32(a), indices[i++]);
		}
		assert_int_equal(i, n);
		nlmsg_free(m);
	}
}

/* --- pause ------------------------------------------------------------------------------------ */

#define FAMILY 21

static struct nl_msg *genl(uint16_t type, uint8_t cmd)
{
	struct genlmsghdr g = {.cmd = cmd, .version = 1};
	struct nl_msg *m = nlmsg_alloc_simple(type, 0);

	nlmsg_append(m, &g, sizeof(g), NLMSG_ALIGNTO);
	return m;
}

static void pause_frames(void **state)
{
	struct nl_msg *m = genl(FAMILY, ETHTOOL_MSG_PAUSE_GET_REPLY);
	struct heard h = {.n = 0};
	struct nlattr *t;

	(void)state;
	nla_put_u8(m, ETHTOOL_A_PAUSE_RX, 1);
	t = nest(m, ETHTOOL_A_PAUSE_STATS);
	nla_put_u64(m, ETHTOOL_A_PAUSE_STAT_TX_FRAMES, 3);
	nla_put_u64(m, ETHTOOL_A_PAUSE_STAT_RX_FRAMES, 4);
	nla_nest_end(m, t);
	assert_int_equal(pause_decode(nlmsg_hdr(m), FAMILY, on_named, &h), 2);
	assert_string_equal(h.names[0], "rx_frames");
	assert_int_equal(h.values[0], 4);
	assert_int_equal(h.values[1], 3);
	assert_int_equal(pause_decode(nlmsg_hdr(m), FAMILY + 1, on_named, &h), -EPROTO);
	nlmsg_free(m);
}

static void pause_without_statistics_has_no_counters(void **state)
{
	struct nl_msg *m = genl(FAMILY, ETHTOOL_MSG_PAUSE_GET_REPLY);
	struct heard h = {.n = 0};
	struct nlattr *t;

	(void)state;
	assert_int_equal(pause_decode(nlmsg_hdr(m), FAMILY, on_named, &h), 0);
	t = nest(m, ETHTOOL_A_PAUSE_STATS);
	nla_put_u16(m, ETHTOOL_A_PAUSE_STAT_TX_FRAMES, 3);
	nla_nest_end(m, t);
	assert_int_equal(pause_decode(nlmsg_hdr(m), FAMILY, on_named, &h), -EBADMSG);
	nlmsg_free(m);
}

static void the_family_is_found_by_name(void **state)
{
	struct nl_msg *m = genl(GENL_ID_CTRL, CTRL_CMD_NEWFAMILY);
	uint16_t family = 0;

	(void)state;
	assert_int_equal(genl_decode_family(nlmsg_hdr(m), &family), -EBADMSG);
	nla_put_u16(m, CTRL_ATTR_FAMILY_ID, FAMILY);
	assert_int_equal(genl_decode_family(nlmsg_hdr(m), &family), 0);
	assert_int_equal(family, FAMILY);
	nlmsg_free(m);
}

static void the_request_for_pause_asks_for_statistics(void **state)
{
	struct nl_msg *m = pause_request(FAMILY, 7, true);
	struct nlattr *tb[ETHTOOL_A_PAUSE_MAX + 1], *header[ETHTOOL_A_HEADER_MAX + 1];

	(void)state;
	assert_int_equal(nlmsg_hdr(m)->nlmsg_type, FAMILY);
	assert_int_equal(
		nlmsg_parse(nlmsg_hdr(m), sizeof(struct genlmsghdr), tb, ETHTOOL_A_PAUSE_MAX, NULL),
		0);
	assert_true(tb[ETHTOOL_A_PAUSE_HEADER]->nla_type & NLA_F_NESTED);
	assert_int_equal(
		nla_parse_nested(header, ETHTOOL_A_HEADER_MAX, tb[ETHTOOL_A_PAUSE_HEADER], NULL),
		0);
	assert_int_equal(nla_get_u32(header[ETHTOOL_A_HEADER_DEV_INDEX]), 7);
	assert_int_equal(nla_get_u32(header[ETHTOOL_A_HEADER_FLAGS]), ETHTOOL_FLAG_STATS);
	nlmsg_free(m);
}

/* --- DCB -------------------------------------------------------------------------------------- */

static struct nl_msg *dcb(uint8_t cmd, const void *pfc, int size)
{
	struct dcbmsg d = {.cmd = cmd};
	struct nl_msg *m = nlmsg_alloc_simple(RTM_GETDCB, 0);
	struct nlattr *t;

	nlmsg_append(m, &d, sizeof(d), NLMSG_ALIGNTO);
	nla_put_string(m, DCB_ATTR_IFNAME, "ens1np0");
	t = nest(m, DCB_ATTR_IEEE);
	nla_put_u32(m, DCB_ATTR_IEEE_ETS, 0);
	if (size)
		nla_put(m, DCB_ATTR_IEEE_PFC, size, pfc);
	nla_nest_end(m, t);
	return m;
}

static void pfc_mask_and_frames(void **state)
{
	struct ieee_pfc in = {.pfc_cap = 8, .pfc_en = 1 << 3, .delay = 77};
	struct pfc pfc;
	struct nl_msg *m;

	(void)state;
	in.requests[3] = 11;
	in.indications[7] = 12;
	m = dcb(DCB_CMD_IEEE_GET, &in, sizeof(in));
	assert_int_equal(dcb_decode_pfc(nlmsg_hdr(m), &pfc), 0);
	assert_int_equal(pfc.enabled, 8);
	assert_int_equal(pfc.classes, 8);
	assert_int_equal(pfc.delay, 77);
	assert_int_equal(pfc.requests[3], 11);
	assert_int_equal(pfc.indications[7], 12);
	nlmsg_free(m);
}

static void a_device_without_pfc_is_enodata(void **state)
{
	struct ieee_pfc in = {.pfc_en = 1};
	struct pfc pfc = {.enabled = 99};
	struct nl_msg *m = dcb(DCB_CMD_IEEE_GET, NULL, 0);

	(void)state;
	assert_int_equal(dcb_decode_pfc(nlmsg_hdr(m), &pfc), -ENODATA);
	nlmsg_free(m);
	m = dcb(DCB_CMD_IEEE_GET, &in, sizeof(in) - 1);
	assert_int_equal(dcb_decode_pfc(nlmsg_hdr(m), &pfc), -EBADMSG);
	nlmsg_free(m);
	m = dcb(DCB_CMD_PFC_GCFG, &in, sizeof(in));
	assert_int_equal(dcb_decode_pfc(nlmsg_hdr(m), &pfc), -EPROTO);
	nlmsg_free(m);
	assert_int_equal(pfc.enabled, 99);
}

static void the_request_for_pfc_names_the_netdev(void **state)
{
	struct nl_msg *m = dcb_ieee_request("ens1np0");
	struct nlattr *tb[DCB_ATTR_IFNAME + 1];

	(void)state;
	assert_int_equal(nlmsg_hdr(m)->nlmsg_type, RTM_GETDCB);
	assert_int_equal(
		nlmsg_parse(nlmsg_hdr(m), sizeof(struct dcbmsg), tb, DCB_ATTR_IFNAME, NULL), 0);
	assert_string_equal(nla_get_string(tb[DCB_ATTR_IFNAME]), "ens1np0");
	nlmsg_free(m);
}

TEST_GROUP(stat_decode)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stat_names_and_values),
		cmocka_unit_test(a_stat_without_its_table_is_malformed),
		cmocka_unit_test(malformed_entries_are_rejected),
		cmocka_unit_test(a_message_cut_anywhere_is_safe),
		cmocka_unit_test(resources_by_kind),
		cmocka_unit_test(status_of_optional_counters),
		cmocka_unit_test(the_request_to_set_carries_the_whole_set),
		cmocka_unit_test(pause_frames),
		cmocka_unit_test(pause_without_statistics_has_no_counters),
		cmocka_unit_test(the_family_is_found_by_name),
		cmocka_unit_test(the_request_for_pause_asks_for_statistics),
		cmocka_unit_test(pfc_mask_and_frames),
		cmocka_unit_test(a_device_without_pfc_is_enodata),
		cmocka_unit_test(the_request_for_pfc_names_the_netdev),
	};

	return test_group_run(tests, NULL, NULL);
}
