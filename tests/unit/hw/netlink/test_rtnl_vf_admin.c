// SPDX-License-Identifier: Apache-2.0
/* Settings of VFs: requests that set them, messages that report them, and invalid messages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>

#include "cleanup.h"
#include "err.h"
#include "netdev_ops.h"
#include "rtnl_vf.h"
#include "test_group.h"
#include "vf_fields.h"

#define ALL 0x1ffu

static const struct vf_settings whole = {
	.fields = ALL,
	.mac = {2, 0, 0, 0, 0, 9},
	.vlan = 100,
	.vlan_qos = 3,
	.vlan_proto = ETH_P_8021AD,
	.spoofchk = true,
	.trust = false,
	.link_state = VF_LINK_DISABLE,
	.min_rate = 10,
	.max_rate = 1000,
	.node_guid = UINT64_C(0x1122334455667788),
	.port_guid = UINT64_C(0x99aabbccddeeff00),
};

/* --- requests ------------------------------------------------------------------------------- */

/* The IFLA_VF_INFO of a request. */
static struct nlattr *info_of(struct nl_msg *m)
{
	const struct ifinfomsg *ifi = nlmsg_data(nlmsg_hdr(m));
	struct nlattr *list;

	assert_int_equal(nlmsg_hdr(m)->nlmsg_type, RTM_SETLINK);
	assert_int_equal(ifi->ifi_index, 7);
	assert_int_equal(ifi->ifi_change, 0);
	list = nlmsg_find_attr(nlmsg_hdr(m), sizeof(*ifi), IFLA_VFINFO_LIST);
	assert_non_null(list);
	assert_int_equal(nla_type(nla_data(list)), IFLA_VF_INFO);
	return nla_data(list);
}

static const void *value_of(struct nlattr *info, int type, size_t size)
{
	const struct nlattr *a = nla_find(nla_data(info), nla_len(info), type);

	assert_non_null(a);
	assert_int_equal(nla_len(a), size);
	assert_int_equal(*(const uint32_t *)nla_data(a), 5);
	return nla_data(a);
}

/* Attributes are aligned to 4 bytes, a GUID needs 8. */
static uint64_t guid_of(struct nlattr *info, int type)
{
	struct ifla_vf_guid guid;

	memcpy(&guid, value_of(info, type, sizeof(guid)), sizeof(guid));
	return guid.guid;
}

static void test_the_bytes_of_all_settings(void **state)
{
	struct nl_msg *m = rtnl_set_vf(7, 5, &whole, ALL);
	struct nlattr *info = info_of(m), *vlans;
	const struct ifla_vf_vlan_info *vlan;
	const struct ifla_vf_rate *rate;
	(void)state;

	assert_memory_equal(((const struct ifla_vf_mac *)value_of(info, IFLA_VF_MAC, 36))->mac,
			    whole.mac, 6);
	vlans = nla_find(nla_data(info), nla_len(info), IFLA_VF_VLAN_LIST);
	assert_non_null(vlans);
	vlan = value_of(vlans, IFLA_VF_VLAN_INFO, sizeof(*vlan));
	assert_int_equal(vlan->vlan, 100);
	assert_int_equal(vlan->qos, 3);
	assert_int_equal(vlan->vlan_proto, htons(0x88a8));
	rate = value_of(info, IFLA_VF_RATE, sizeof(*rate));
	assert_int_equal(rate->min_tx_rate, 10);
	assert_int_equal(rate->max_tx_rate, 1000);
	assert_null(nla_find(nla_data(info), nla_len(info), IFLA_VF_TX_RATE));
	assert_int_equal(((const uint32_t *)value_of(info, IFLA_VF_SPOOFCHK, 8))[1], 1);
	assert_int_equal(((const uint32_t *)value_of(info, IFLA_VF_TRUST, 8))[1], 0);
	assert_int_equal(((const uint32_t *)value_of(info, IFLA_VF_LINK_STATE, 8))[1],
			 IFLA_VF_LINK_STATE_DISABLE);
	assert_int_equal(guid_of(info, IFLA_VF_IB_NODE_GUID), whole.node_guid);
	assert_int_equal(guid_of(info, IFLA_VF_IB_PORT_GUID), whole.port_guid);
	nlmsg_free(m);
}

/* Returns the number of settings in a request, and their types as bits. */
static unsigned types_of(unsigned want_fields, unsigned which)
{
	struct vf_settings want = whole;
	struct nlattr *info, *a;
	unsigned types = 0;
	struct nl_msg *m;
	int left;

	want.fields = want_fields;
	m = rtnl_set_vf(7, 5, &want, which);
	info = info_of(m);
	nla_for_each_nested (a, info, left)
		types |= 1u << nla_type(a);
	nlmsg_free(m);
	return types;
}

static void test_only_desired_settings_are_sent(void **state)
{
	(void)state;
	assert_int_equal(types_of(VF_MAC, ALL), 1u << IFLA_VF_MAC);
	assert_int_equal(types_of(ALL, VF_TRUST), 1u << IFLA_VF_TRUST);
	assert_int_equal(types_of(VF_VLAN | VF_LINK_STATE, ALL),
			 1u << IFLA_VF_VLAN_LIST | 1u << IFLA_VF_LINK_STATE);
	/* Only the newer attribute has the minimum; it holds both rates. */
	assert_int_equal(types_of(VF_MAX_RATE, ALL), 1u << IFLA_VF_TX_RATE);
	assert_int_equal(types_of(VF_MIN_RATE, ALL), 1u << IFLA_VF_RATE);
	assert_int_equal(types_of(VF_NODE_GUID, ALL), 1u << IFLA_VF_IB_NODE_GUID);
	assert_int_equal(types_of(VF_PORT_GUID, ALL), 1u << IFLA_VF_IB_PORT_GUID);
}

static void test_link_states(void **state)
{
	static const struct {
		enum vf_link link;
		uint32_t wire;
	} cases[] = {{VF_LINK_AUTO, 0}, {VF_LINK_ENABLE, 1}, {VF_LINK_DISABLE, 2}};
	(void)state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct vf_settings want = {.fields = VF_LINK_STATE, .link_state = cases[i].link};
		struct nl_msg *m = rtnl_set_vf(7, 5, &want, ALL);

		assert_int_equal(((const uint32_t *)value_of(info_of(m), IFLA_VF_LINK_STATE, 8))[1],
				 cases[i].wire);
		nlmsg_free(m);
	}
}

/* --- answers -------------------------------------------------------------------------------- */

static struct nl_msg *new_answer(void)
{
	struct nl_msg *m = nlmsg_alloc_size(1 << 20);
	struct ifinfomsg ifi = {.ifi_index = 7};

	assert_non_null(m);
	nlmsg_put(m, 0, 0, RTM_NEWLINK, 0, 0);
	nlmsg_append(m, &ifi, sizeof(ifi), NLMSG_ALIGNTO);
	nla_put_string(m, IFLA_IFNAME, "ens1f0");
	return m;
}

/* As rtnl_fill_vfinfo() writes it. */
static void put_vf(struct nl_msg *m, uint32_t vf, uint32_t spoofchk, uint32_t trust)
{
	struct nlattr *info = nla_nest_start(m, IFLA_VF_INFO), *vlans;
	struct ifla_vf_mac mac = {.vf = vf, .mac = {2, 0, 0, 0, 1, (uint8_t)vf}};
	struct ifla_vf_vlan vlan = {vf, 100, 3};
	struct ifla_vf_vlan_info vlan_info = {vf, 100, 3, htons(ETH_P_8021AD)};
	uint32_t words[3] = {vf, 10, 1000};

	nla_put(m, IFLA_VF_MAC, sizeof(mac), &mac);
	nla_put(m, IFLA_VF_VLAN, sizeof(vlan), &vlan);
	nla_put(m, IFLA_VF_RATE, 12, words);
	words[1] = 1000;
	nla_put(m, IFLA_VF_TX_RATE, 8, words);
	words[1] = spoofchk;
	nla_put(m, IFLA_VF_SPOOFCHK, 8, words);
	words[1] = IFLA_VF_LINK_STATE_ENABLE;
	nla_put(m, IFLA_VF_LINK_STATE, 8, words);
	words[1] = trust;
	nla_put(m, IFLA_VF_TRUST, 8, words);
	vlans = nla_nest_start(m, IFLA_VF_VLAN_LIST);
	nla_put(m, IFLA_VF_VLAN_INFO, sizeof(vlan_info), &vlan_info);
	nla_nest_end(m, vlans);
	nla_nest_end(m, info);
}

static int decode(struct nl_msg *m, int vf, struct vf_settings *ret)
{
	int r = rtnl_decode_vf(nlmsg_hdr(m), vf, ret);

	nlmsg_free(m);
	return r;
}

static void test_one_of_several(void **state)
{
	struct nl_msg *m = new_answer();
	struct nlattr *list = nla_nest_start(m, IFLA_VFINFO_LIST);
	struct vf_settings s;
	(void)state;

	for (uint32_t vf = 0; vf < 4; vf++)
		put_vf(m, vf, vf & 1, UINT32_MAX);
	nla_nest_end(m, list);
	nla_put_u32(m, IFLA_GROUP, 0);
	assert_int_equal(rtnl_decode_vf(nlmsg_hdr(m), 4, &s), -ENODEV);
	assert_int_equal(rtnl_decode_vf(nlmsg_hdr(m), -1, &s), -ENODEV);
	assert_int_equal(rtnl_decode_vf(nlmsg_hdr(m), 2, &s), 0);
	assert_false(s.spoofchk);
	assert_int_equal(decode(m, 3, &s), 0);
	/* The driver does not report trust: -1. */
	assert_int_equal(s.fields, VF_MAC | VF_VLAN | VF_SPOOFCHK | VF_LINK_STATE | VF_MIN_RATE |
					   VF_MAX_RATE);
	assert_int_equal(s.mac[5], 3);
	assert_int_equal(s.vlan, 100);
	assert_int_equal(s.vlan_qos, 3);
	assert_int_equal(s.vlan_proto, ETH_P_8021AD);
	assert_true(s.spoofchk);
	assert_int_equal(s.link_state, VF_LINK_ENABLE);
	assert_int_equal(s.min_rate, 10);
	assert_int_equal(s.max_rate, 1000);
}

static void test_encoded_settings_decode_equally(void **state)
{
	struct vf_settings want = whole, s;
	struct nl_msg *m;
	(void)state;

	for (size_t i = 0; i < N_VF_FIELDS; i++)
		want.fields |= vf_fields[i].bit;
	m = rtnl_set_vf(7, 5, &want, want.fields);
	nlmsg_hdr(m)->nlmsg_type = RTM_NEWLINK;
	assert_int_equal(decode(m, 5, &s), 0);
	assert_int_equal(s.fields, want.fields);
	assert_int_equal(vf_settings_differ(&whole, &s), 0);
}

/* The list of 400 VFs exceeds its 16-bit length, which wraps around in the kernel's message. */
static void test_a_list_longer_than_its_length(void **state)
{
	struct nl_msg *m = new_answer();
	struct nlattr *list = nla_nest_start(m, IFLA_VFINFO_LIST);
	struct vf_settings s;
	(void)state;

	for (uint32_t vf = 0; vf < 400; vf++)
		put_vf(m, vf, 1, 1);
	list->nla_len = (uint16_t)((uint8_t *)nlmsg_tail(nlmsg_hdr(m)) - (uint8_t *)list);
	assert_int_equal(rtnl_decode_vf(nlmsg_hdr(m), 399, &s), 0);
	assert_int_equal(s.mac[5], 399 & 0xff);
	assert_int_equal(decode(m, 400, &s), -ENODEV);
}

/* Malformed values are left out; the MAC, which is valid, is decoded. */
static void test_malformed_values_are_unknown(void **state)
{
	static const struct {
		int type;
		size_t size;
		uint32_t words[4];
	} lies[] = {
		{IFLA_VF_SPOOFCHK, 4, {5}},
		{IFLA_VF_SPOOFCHK, 8, {5, 2}},
		{IFLA_VF_TRUST, 8, {6, 1}},
		{IFLA_VF_LINK_STATE, 8, {5, 3}},
		{IFLA_VF_LINK_STATE, 7, {5, 1}},
		{IFLA_VF_RATE, 8, {5, 1}},
		{IFLA_VF_VLAN, 12, {5, 4096, 0}},
		{IFLA_VF_VLAN, 12, {5, 1, 8}},
		{IFLA_VF_VLAN, 8, {5, 1}},
		{IFLA_VF_TX_RATE, 8, {4, 1}},
		{IFLA_VF_IB_NODE_GUID, 12, {5, 1}},
		{IFLA_VF_IB_PORT_GUID, 16, {0, 1}},
		{IFLA_VF_VLAN_LIST, 4, {0x00100010}},
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_SIZE(lies); i++) {
		struct nl_msg *m = new_answer();
		struct nlattr *list = nla_nest_start(m, IFLA_VFINFO_LIST);
		struct nlattr *info = nla_nest_start(m, IFLA_VF_INFO);
		struct ifla_vf_mac mac = {.vf = 5};
		struct vf_settings s;

		nla_put(m, IFLA_VF_MAC, sizeof(mac), &mac);
		nla_put(m, lies[i].type, (int)lies[i].size, lies[i].words);
		nla_nest_end(m, info);
		nla_nest_end(m, list);
		assert_int_equal(decode(m, 5, &s), 0);
		if (s.fields != VF_MAC)
			fail_msg("lie %zu is believed: %x", i, s.fields);
	}
}

static void test_other_messages(void **state)
{
	struct vf_settings s = {.fields = 77};
	struct nl_msg *m = new_answer();
	(void)state;

	assert_int_equal(rtnl_decode_vf(nlmsg_hdr(m), 0, &s), -ENODEV); /* no list */
	nlmsg_hdr(m)->nlmsg_type = RTM_DELLINK;
	assert_int_equal(rtnl_decode_vf(nlmsg_hdr(m), 0, &s), -EPROTO);
	nlmsg_hdr(m)->nlmsg_type = RTM_NEWLINK;
	nlmsg_hdr(m)->nlmsg_len = NLMSG_HDRLEN + 4;
	assert_int_equal(decode(m, 0, &s), -EPROTO);
	assert_int_equal(s.fields, 77);
}

/* Cut to each length: nothing is read past the end (checked by the sanitizers). */
static void test_cut_short_anywhere(void **state)
{
	struct nl_msg *m = new_answer();
	struct nlattr *list = nla_nest_start(m, IFLA_VFINFO_LIST);
	struct vf_settings s;
	uint32_t whole_len;
	(void)state;

	put_vf(m, 0, 1, 1);
	put_vf(m, 1, 1, 1);
	nla_nest_end(m, list);
	whole_len = nlmsg_hdr(m)->nlmsg_len;
	for (uint32_t n = NLMSG_HDRLEN; n <= whole_len; n++) {
		uint8_t *copy = malloc(n);

		assert_non_null(copy);
		memcpy(copy, nlmsg_hdr(m), n);
		((struct nlmsghdr *)copy)->nlmsg_len = n;
		assert_true(rtnl_decode_vf((struct nlmsghdr *)copy, 1, &s) == 0 || n < whole_len);
		free(copy);
	}
	nlmsg_free(m);
}

/* --- differences ---------------------------------------------------------------------------- */

static void test_differences(void **state)
{
	struct vf_settings is = whole;
	(void)state;

	assert_int_equal(vf_settings_differ(&whole, &is), 0);
#define DIFFERS(field, statement)                                                                  \
	do {                                                                                       \
		is = whole;                                                                        \
		statement;                                                                         \
		assert_int_equal(vf_settings_differ(&whole, &is), field);                          \
	} while (0)
	DIFFERS(VF_MAC, is.mac[0] = 6);
	DIFFERS(VF_VLAN, is.vlan = 101);
	DIFFERS(VF_VLAN, is.vlan_qos = 0);
	DIFFERS(VF_VLAN, is.vlan_proto = ETH_P_8021Q);
	DIFFERS(VF_SPOOFCHK, is.spoofchk = false);
	DIFFERS(VF_TRUST, is.trust = true);
	DIFFERS(VF_LINK_STATE, is.link_state = VF_LINK_AUTO);
	DIFFERS(VF_MIN_RATE, is.min_rate = 0);
	DIFFERS(VF_MAX_RATE, is.max_rate = 0);
	DIFFERS(VF_NODE_GUID, is.node_guid++);
	DIFFERS(VF_PORT_GUID, is.port_guid++);
	/* An unknown setting differs from the desired one; a setting that is not desired may have
	 * any value. */
	DIFFERS(VF_TRUST, is.fields &= ~(unsigned)VF_TRUST);
	DIFFERS(ALL, is.fields = 0);
#undef DIFFERS
	assert_int_equal(vf_settings_differ(&(struct vf_settings){0}, &whole), 0);
}

static void test_no_vlan_has_no_protocol(void **state)
{
	struct vf_settings want = {.fields = VF_VLAN}, is = want;
	(void)state;

	is.vlan_proto = ETH_P_8021Q;
	assert_int_equal(vf_settings_differ(&want, &is), 0);
}

static void test_fields_in_words(void **state)
{
	char text[128], small[8];
	(void)state;

	vf_fields_text(0, text, sizeof(text));
	assert_string_equal(text, "");
	vf_fields_text(VF_VLAN | VF_MAC, text, sizeof(text));
	assert_string_equal(text, "mac, vlan");
	vf_fields_text(ALL, text, sizeof(text));
	assert_string_equal(text, "mac, vlan, min_rate, max_rate, spoofchk, link_state, trust, "
				  "node_guid, port_guid");
	vf_fields_text(ALL, small, sizeof(small));
	assert_string_equal(small, "mac, vl");
}

TEST_GROUP(rtnl_vf_admin)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_bytes_of_all_settings),
		cmocka_unit_test(test_only_desired_settings_are_sent),
		cmocka_unit_test(test_link_states),
		cmocka_unit_test(test_one_of_several),
		cmocka_unit_test(test_encoded_settings_decode_equally),
		cmocka_unit_test(test_a_list_longer_than_its_length),
		cmocka_unit_test(test_malformed_values_are_unknown),
		cmocka_unit_test(test_other_messages),
		cmocka_unit_test(test_cut_short_anywhere),
		cmocka_unit_test(test_differences),
		cmocka_unit_test(test_no_vlan_has_no_protocol),
		cmocka_unit_test(test_fields_in_words),
	};

	return test_group_run(tests, NULL, NULL);
}
