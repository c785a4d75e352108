// SPDX-License-Identifier: Apache-2.0
/* The digest of a netdev's state. It covers everything but values that change by themselves or that
 * are compared one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netlink/attr.h>

#include "genl.h"
#include "netdev_state_read.h"
#include "test_group.h"

#define FAMILY 21

static struct netdev_state read_link_state(unsigned flags, int attr, uint32_t value)
{
	struct nl_msg *m = nlmsg_alloc_simple(RTM_NEWLINK, 0);
	struct ifinfomsg ifi = {.ifi_index = 7, .ifi_flags = flags};
	struct netdev_state s = {.key = {1, 2}};

	assert_int_equal(nlmsg_append(m, &ifi, sizeof(ifi), NLMSG_ALIGNTO), 0);
	assert_int_equal(nla_put_string(m, IFLA_IFNAME, "net1"), 0);
	assert_int_equal(nla_put_u32(m, IFLA_TXQLEN, 1000), 0);
	if (attr)
		assert_int_equal(nla_put_u32(m, attr, value), 0);
	netdev_state_begin(&s);
	assert_int_equal(netdev_state_link(&s, nlmsg_hdr(m)), 0);
	nlmsg_free(m);
	return s;
}

static uint32_t differ(struct netdev_state a, struct netdev_state b)
{
	uint32_t unknown, different = netdev_state_differ(&a, &b, &unknown);

	assert_int_equal(unknown, 0);
	return different;
}

#define BIT(section) (1u << (section))

static void links(void **state)
{
	/* From a newer kernel, with unknown attributes. */
	const int new_attr = 777;
	(void)state;

	assert_int_equal(
		differ(read_link_state(IFF_MULTICAST, 0, 0), read_link_state(IFF_MULTICAST, 0, 0)),
		0);
	assert_int_equal(differ(read_link_state(IFF_MULTICAST, 0, 0), read_link_state(0, 0, 0)),
			 BIT(STATE_FLAGS));
	assert_int_equal(
		differ(read_link_state(IFF_UP | IFF_RUNNING, 0, 0), read_link_state(0, 0, 0)), 0);
	assert_int_equal(
		differ(read_link_state(0, IFLA_GROUP, 0), read_link_state(0, IFLA_GROUP, 7)),
		BIT(STATE_GROUP));
	assert_int_equal(differ(read_link_state(0, new_attr, 0), read_link_state(0, new_attr, 1)),
			 BIT(STATE_LINK));
	assert_int_equal(differ(read_link_state(0, 0, 0), read_link_state(0, new_attr, 0)),
			 BIT(STATE_LINK));
	assert_int_equal(differ(read_link_state(0, IFLA_CARRIER_CHANGES, 1),
				read_link_state(0, IFLA_CARRIER_CHANGES, 2)),
			 0);
	assert_int_equal(
		differ(read_link_state(0, IFLA_MTU, 1400), read_link_state(0, IFLA_MTU, 1500)), 0);
	assert_int_equal(differ(read_link_state(0, IFLA_PERM_ADDRESS, 1),
				read_link_state(0, IFLA_PERM_ADDRESS, 2)),
			 0);
}

static struct netdev_state read_rings(uint32_t rx, int error)
{
	struct nl_msg *m = genl_request(FAMILY, ETHTOOL_MSG_RINGS_GET_REPLY, 1, 0);
	struct netdev_state s = {.key = {1, 2}};
	enum netdev_section section = N_NETDEV_SECTIONS;
	struct nl_msg *question;
	size_t i = 0;

	assert_int_equal(nla_put_u32(m, ETHTOOL_A_RINGS_HEADER, rx), 0);
	assert_int_equal(nla_put_u32(m, ETHTOOL_A_RINGS_RX, rx & ~1u), 0);
	netdev_state_begin(&s);
	for (; (question = netdev_state_question(i, FAMILY, 7, &section)); i++) {
		nlmsg_free(question);
		if (section == STATE_RINGS)
			netdev_state_answer(&s, i, error ? NULL : nlmsg_hdr(m), error);
	}
	assert_true(i > 8);
	netdev_state_answer(&s, i, nlmsg_hdr(m), 0);
	nlmsg_free(m);
	return s;
}

static void ethtools_answers(void **state)
{
	struct netdev_state known = read_rings(512, 0), refused = read_rings(0, -EIO);
	uint32_t unknown;
	(void)state;

	/* The header contains the netdev's name. */
	assert_int_equal(differ(known, read_rings(513, 0)), 0);
	assert_int_equal(differ(known, read_rings(1024, 0)), BIT(STATE_RINGS));
	assert_int_equal(differ(read_rings(0, -EOPNOTSUPP), read_rings(0, -EOPNOTSUPP)), 0);
	assert_int_equal(netdev_state_differ(&known, &refused, &unknown), 0);
	assert_int_equal(unknown, BIT(STATE_RINGS));
	assert_int_equal(netdev_state_differ(&refused, &refused, &unknown), 0);
	assert_int_equal(unknown, BIT(STATE_RINGS));
}

/* The first RSS context and those that a pod left. */
static struct netdev_state read_contexts(unsigned n, uint32_t index)
{
	struct netdev_state s = {.key = {1, 2}};

	netdev_state_begin(&s);
	for (unsigned i = 0; i < n; i++) {
		struct nl_msg *m = genl_request(FAMILY, 38, 1, 0);

		assert_int_equal(nla_put_u32(m, 1, index), 0);
		assert_int_equal(nla_put_u32(m, 2, i), 0);
		netdev_state_rss(&s, nlmsg_hdr(m));
		nlmsg_free(m);
	}
	return s;
}

static void rss_contexts(void **state)
{
	struct nl_msg *dump = netdev_state_rss_dump(FAMILY, 7);
	struct nl_msg *cut = nlmsg_alloc_simple(FAMILY, 0);
	struct netdev_state s = read_contexts(1, 7), was = s;
	uint32_t unknown;
	(void)state;

	assert_int_equal(nlmsg_hdr(dump)->nlmsg_flags & NLM_F_DUMP, NLM_F_DUMP);
	assert_true(genl_is(nlmsg_hdr(dump), FAMILY, 38));
	assert_int_equal(differ(read_contexts(1, 7), read_contexts(1, 9)), 0);
	assert_int_equal(differ(read_contexts(1, 7), read_contexts(2, 7)), BIT(STATE_RSS));
	netdev_state_rss(&s, nlmsg_hdr(cut));
	netdev_state_differ(&was, &s, &unknown);
	assert_int_equal(unknown, BIT(STATE_RSS));
	nlmsg_free(dump);
	nlmsg_free(cut);
}

static struct netdev_state read_napi(uint32_t id, uint32_t defer)
{
	struct nl_msg *m = genl_request(FAMILY, 11, 1, 0);
	struct netdev_state s = {.key = {1, 2}};

	assert_int_equal(nla_put_u32(m, 2, id), 0);
	assert_int_equal(nla_put_u32(m, 5, defer), 0);
	netdev_state_begin(&s);
	assert_int_equal(netdev_state_napi(&s, nlmsg_hdr(m)), 0);
	nlmsg_free(m);
	return s;
}

static void napi(void **state)
{
	(void)state;
	assert_int_equal(differ(read_napi(8193, 0), read_napi(8200, 0)), 0);
	assert_int_equal(differ(read_napi(8193, 0), read_napi(8193, 7)), BIT(STATE_NAPI));
}

/* Knowing one state must not allow constructing another one with the same digest. */
static void digests_have_a_key(void **state)
{
	struct netdev_state a = {.key = {1, 2}}, b = {.key = {3, 2}};
	(void)state;

	netdev_state_begin(&a);
	netdev_state_begin(&b);
	for (unsigned i = 0; i < N_NETDEV_SECTIONS; i++) {
		netdev_state_add(&a, (enum netdev_section)i, 0, "x", 1);
		netdev_state_add(&b, (enum netdev_section)i, 0, "x", 1);
	}
	assert_int_equal(differ(a, b), BIT(N_NETDEV_SECTIONS) - 1);
}

/* A pod can set XPS, but so can a driver when the netdev is used. */
static void xps_that_was_unset_is_unknown(void **state)
{
	struct netdev_state unset = {.key = {1, 2}}, set = {.key = {1, 2}};
	uint32_t unknown;
	(void)state;

	netdev_state_begin(&unset);
	netdev_state_begin(&set);
	netdev_state_add(&set, STATE_XPS, 0, "f", 1);
	assert_int_equal(netdev_state_differ(&unset, &set, &unknown), 0);
	assert_int_equal(unknown, BIT(STATE_XPS));
	assert_int_equal(differ(set, unset), BIT(STATE_XPS));
	assert_int_equal(differ(unset, unset), 0);
}

static void sections_have_names(void **state)
{
	char text[400], small[12];
	(void)state;

	netdev_sections_text(BIT(STATE_TCX) | BIT(STATE_LINK_MODE), text, sizeof(text));
	assert_string_equal(text, "link mode, tcx program");
	netdev_sections_text(BIT(N_NETDEV_SECTIONS) - 1, text, sizeof(text));
	assert_null(strstr(text, "(null)"));
	netdev_sections_text(BIT(N_NETDEV_SECTIONS) - 1, small, sizeof(small));
	assert_int_equal(strlen(small), sizeof(small) - 1);
}

TEST_GROUP(netdev_state)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(links),
		cmocka_unit_test(ethtools_answers),
		cmocka_unit_test(rss_contexts),
		cmocka_unit_test(napi),
		cmocka_unit_test(digests_have_a_key),
		cmocka_unit_test(xps_that_was_unset_is_unknown),
		cmocka_unit_test(sections_have_names),
	};

	return test_group_run(tests, NULL, NULL);
}
