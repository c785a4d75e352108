// SPDX-License-Identifier: Apache-2.0
/* Reports about functions: messages built by the test, configuration spaces in files, and this
 * machine, which has no faults. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <linux/devlink.h>
#include <linux/genetlink.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>

#include "genl.h"
#include "nlsock.h"
#include "rtnl_vf.h"
#include "scan.h"
#include "sysfs_fixture.h"
#include "test_group.h"
#include "tmptree.h"

/* --- VFs of a link ---------------------------------------------------------------------------- */

#define VFS_MAX 300

struct seen {
	enum vf_link links[VFS_MAX];
	uint64_t settings[VFS_MAX];
	int n, stop_at;
};

static int on_vf(int vf, enum vf_link link, uint64_t settings, void *arg)
{
	struct seen *s = arg;

	assert_in_range(vf, 0, VFS_MAX - 1);
	s->links[vf] = link;
	s->settings[vf] = settings;
	return ++s->n == s->stop_at ? -ENOMEM : 0;
}

static struct nl_msg *link_message(int type)
{
	struct nl_msg *m = nlmsg_alloc_size(128 * 1024);
	struct ifinfomsg ifi = {.ifi_index = 2};

	assert_non_null(m);
	assert_non_null(nlmsg_put(m, 0, 0, type, 0, 0));
	assert_int_equal(nlmsg_append(m, &ifi, sizeof(ifi), NLMSG_ALIGNTO), 0);
	assert_int_equal(nla_put_string(m, IFLA_IFNAME, "eth0"), 0);
	return m;
}

/* Writes a VF with the attributes that the kernel puts around the link state. */
static void put_vf(struct nl_msg *m, uint32_t vf, uint32_t state)
{
	struct ifla_vf_mac mac = {.vf = vf};
	struct ifla_vf_link_state s = {.vf = vf, .link_state = state};
	struct nlattr *info = nla_nest_start(m, IFLA_VF_INFO);

	assert_non_null(info);
	assert_int_equal(nla_put(m, IFLA_VF_MAC, sizeof(mac), &mac), 0);
	assert_int_equal(nla_put(m, IFLA_VF_LINK_STATE, sizeof(s), &s), 0);
	nla_nest_end(m, info);
}

static int decode_vfs(struct nl_msg *m, struct seen *s)
{
	int r = rtnl_decode_vfs(nlmsg_hdr(m), on_vf, s);

	nlmsg_free(m);
	return r;
}

static void test_link_states_of_vfs(void **state)
{
	struct nl_msg *m = link_message(RTM_NEWLINK);
	struct nlattr *list = nla_nest_start(m, IFLA_VFINFO_LIST);
	struct seen s = {0};
	(void)state;

	put_vf(m, 0, IFLA_VF_LINK_STATE_AUTO);
	put_vf(m, 1, IFLA_VF_LINK_STATE_ENABLE);
	put_vf(m, 7, IFLA_VF_LINK_STATE_DISABLE);
	put_vf(m, 8, 99);	/* a state of a newer kernel */
	put_vf(m, 1u << 31, 0); /* an impossible VF number */
	nla_put_u32(m, 99, 1);	/* an unknown attribute */
	nla_nest_end(m, list);
	assert_int_equal(decode_vfs(m, &s), 3);
	assert_int_equal(s.links[0], VF_LINK_AUTO);
	assert_int_equal(s.links[1], VF_LINK_ENABLE);
	assert_int_equal(s.links[7], VF_LINK_DISABLE);
	assert_int_equal(s.links[8], VF_LINK_UNKNOWN);
}

/* The digest of one VF with this trust and this many bytes received. */
static uint64_t settings_with(uint32_t trusted, uint64_t bytes)
{
	struct nl_msg *m = link_message(RTM_NEWLINK);
	struct nlattr *list = nla_nest_start(m, IFLA_VFINFO_LIST), *info, *stats;
	struct ifla_vf_link_state link = {.vf = 0};
	struct ifla_vf_trust trust = {.vf = 0, .setting = trusted};
	struct seen s = {0};

	info = nla_nest_start(m, IFLA_VF_INFO);
	assert_int_equal(nla_put(m, IFLA_VF_LINK_STATE, sizeof(link), &link), 0);
	assert_int_equal(nla_put(m, IFLA_VF_TRUST, sizeof(trust), &trust), 0);
	stats = nla_nest_start(m, IFLA_VF_STATS);
	assert_int_equal(nla_put_u64(m, IFLA_VF_STATS_RX_BYTES, bytes), 0);
	nla_nest_end(m, stats);
	nla_nest_end(m, info);
	nla_nest_end(m, list);
	assert_int_equal(decode_vfs(m, &s), 1);
	return s.settings[0];
}

/* Settings change the digest; traffic does not. */
static void test_settings_of_vfs(void **state)
{
	(void)state;
	assert_true(settings_with(0, 1) != 0);
	assert_true(settings_with(0, 1) == settings_with(0, 2));
	assert_true(settings_with(0, 1) != settings_with(1, 1));
}

static void test_links_without_vfs(void **state)
{
	struct seen s = {0};
	struct nl_msg *m;
	(void)state;

	assert_int_equal(decode_vfs(link_message(RTM_NEWLINK), &s), 0);
	assert_int_equal(decode_vfs(link_message(RTM_DELLINK), &s), -EPROTO);
	assert_int_equal(decode_vfs(nlmsg_alloc_simple(RTM_NEWLINK, 0), &s), -EPROTO);
	m = link_message(RTM_NEWLINK);
	nla_put(m, IFLA_VFINFO_LIST, 3, "abc");
	assert_int_equal(decode_vfs(m, &s), 0);
	assert_int_equal(s.n, 0);
}

/* In older kernels the length of a long list wraps around. */
static void test_a_list_that_is_longer_than_its_length(void **state)
{
	struct nl_msg *m = link_message(RTM_NEWLINK);
	struct nlattr *list = nla_nest_start(m, IFLA_VFINFO_LIST);
	struct seen s = {0};
	(void)state;

	for (uint32_t i = 0; i < VFS_MAX; i++)
		put_vf(m, i, IFLA_VF_LINK_STATE_ENABLE);
	nla_nest_end(m, list);
	list->nla_len = 2000;
	assert_in_range(decode_vfs(m, &s), 10, VFS_MAX - 1);
	for (int i = 0; i < s.n; i++)
		assert_int_equal(s.links[i], VF_LINK_ENABLE);
}

static void test_a_walk_that_is_ended(void **state)
{
	struct nl_msg *m = link_message(RTM_NEWLINK);
	struct nlattr *list = nla_nest_start(m, IFLA_VFINFO_LIST);
	struct seen s = {.stop_at = 2};
	(void)state;

	for (uint32_t i = 0; i < 5; i++)
		put_vf(m, i, IFLA_VF_LINK_STATE_AUTO);
	nla_nest_end(m, list);
	assert_int_equal(decode_vfs(m, &s), -ENOMEM);
	assert_int_equal(s.n, 2);
}

static void test_the_request(void **state)
{
	struct nl_msg *m = rtnl_get_vfs(5);
	const struct ifinfomsg *ifi;
	(void)state;

	assert_non_null(m);
	ifi = nlmsg_data(nlmsg_hdr(m));
	assert_int_equal(nlmsg_hdr(m)->nlmsg_type, RTM_GETLINK);
	assert_int_equal(nlmsg_hdr(m)->nlmsg_flags & NLM_F_DUMP, 0);
	assert_int_equal(ifi->ifi_index, 5);
	assert_true(nla_get_u32(nlmsg_find_attr(nlmsg_hdr(m), sizeof(*ifi), IFLA_EXT_MASK)) &
		    RTEXT_FILTER_VF);
	nlmsg_free(m);
}

/* --- devlink ---------------------------------------------------------------------------------- */

#define FAMILY 30

static struct nl_msg *reporter_message(uint8_t cmd, const char *bus, const char *dev)
{
	struct nl_msg *m = genl_request(FAMILY, cmd, 1, 0);

	assert_non_null(m);
	nla_put_string(m, DEVLINK_ATTR_BUS_NAME, bus);
	nla_put_string(m, DEVLINK_ATTR_DEV_NAME, dev);
	return m;
}

static void put_reporter(struct nl_msg *m, const char *name, int state)
{
	struct nlattr *nest = nla_nest_start(m, DEVLINK_ATTR_HEALTH_REPORTER);

	nla_put_string(m, DEVLINK_ATTR_HEALTH_REPORTER_NAME, name);
	if (state >= 0)
		nla_put_u8(m, DEVLINK_ATTR_HEALTH_REPORTER_STATE, (uint8_t)state);
	nla_put_u64(m, DEVLINK_ATTR_HEALTH_REPORTER_ERR_COUNT, 3);
	nla_nest_end(m, nest);
}

static int decode_reporter(struct nl_msg *m, struct devlink_reporter *ret)
{
	int r = devlink_decode_reporter(nlmsg_hdr(m), FAMILY, ret);

	nlmsg_free(m);
	return r;
}

static void test_reporters(void **state)
{
	struct nl_msg *m;
	struct devlink_reporter r;
	(void)state;

	m = reporter_message(DEVLINK_CMD_HEALTH_REPORTER_GET, "pci", "0000:03:00.0");
	put_reporter(m, "fw_fatal", 1);
	assert_int_equal(decode_reporter(m, &r), 0);
	assert_string_equal(r.function, "0000:03:00.0");
	assert_string_equal(r.name, "fw_fatal");
	assert_true(r.error);
	m = reporter_message(DEVLINK_CMD_HEALTH_REPORTER_GET, "auxiliary", "mlx5_core.sf.4");
	nla_put_u32(m, DEVLINK_ATTR_PORT_INDEX, 1);
	put_reporter(m, "tx", 0);
	assert_int_equal(decode_reporter(m, &r), 0);
	assert_string_equal(r.function, "mlx5_core.sf.4");
	assert_false(r.error);
	m = reporter_message(DEVLINK_CMD_HEALTH_REPORTER_GET, "netdevsim", "netdevsim1");
	put_reporter(m, "a reporter with a name that does not fit", 1);
	assert_int_equal(decode_reporter(m, &r), 0);
	assert_string_equal(r.function, "");
	assert_string_equal(r.name, "");
}

static void test_other_messages_than_reporters(void **state)
{
	struct devlink_reporter r = {.name = "before"};
	struct nl_msg *m;
	(void)state;

	m = reporter_message(DEVLINK_CMD_HEALTH_REPORTER_DIAGNOSE, "pci", "0000:03:00.0");
	assert_int_equal(decode_reporter(m, &r), -EPROTO);
	m = reporter_message(DEVLINK_CMD_HEALTH_REPORTER_GET, "pci", "0000:03:00.0");
	assert_int_equal(devlink_decode_reporter(nlmsg_hdr(m), FAMILY + 1, &r), -EPROTO);
	assert_int_equal(decode_reporter(m, &r), -EBADMSG);
	m = reporter_message(DEVLINK_CMD_HEALTH_REPORTER_GET, "pci", "0000:03:00.0");
	put_reporter(m, "fw", -1);
	assert_int_equal(decode_reporter(m, &r), -EBADMSG);
	m = reporter_message(DEVLINK_CMD_HEALTH_REPORTER_GET, "pci", "0000:03:00.0");
	nla_put(m, DEVLINK_ATTR_HEALTH_REPORTER, 2, "ab");
	assert_int_equal(decode_reporter(m, &r), -EBADMSG);
	assert_string_equal(r.name, "before");
	m = devlink_dump_reporters(FAMILY);
	assert_int_equal(nlmsg_hdr(m)->nlmsg_flags & NLM_F_DUMP, NLM_F_DUMP);
	assert_true(genl_is(nlmsg_hdr(m), FAMILY, DEVLINK_CMD_HEALTH_REPORTER_GET));
	nlmsg_free(m);
}

static void test_health_events(void **state)
{
	struct nl_msg *m = reporter_message(DEVLINK_CMD_HEALTH_REPORTER_RECOVER, "pci",
					    "0000:03:00.0");
	(void)state;

	assert_true(devlink_is_health_event(nlmsg_hdr(m), FAMILY));
	assert_false(devlink_is_health_event(nlmsg_hdr(m), FAMILY + 1));
	nlmsg_free(m);
	m = reporter_message(DEVLINK_CMD_PORT_NEW, "pci", "0000:03:00.0");
	assert_false(devlink_is_health_event(nlmsg_hdr(m), FAMILY));
	nlmsg_free(m);
}

/* --- families --------------------------------------------------------------------------------- */

static int on_family(const struct nlmsghdr *h, void *arg)
{
	uint16_t family = 0;
	uint32_t *group = arg, other;

	assert_int_equal(genl_decode_family(h, &family), 0);
	assert_int_equal(family, GENL_ID_CTRL);
	assert_int_equal(genl_decode_group(h, "notify", group), 0);
	assert_int_equal(genl_decode_group(h, "no such group", &other), -ENOENT);
	return 0;
}

/* The one family that every kernel has: the generic netlink controller. */
static void test_a_family_of_this_kernel(void **state)
{
	struct nl_msg *req = genl_family_request("nlctrl");
	struct err e = {0};
	struct nlsock s;
	uint32_t group = 0;
	(void)state;

	assert_int_equal(nlsock_open(&s, NETLINK_GENERIC, &e), 0);
	assert_int_equal(nlsock_call(&s, req, on_family, &group, &e), 0);
	assert_int_not_equal(group, 0);
	nlmsg_free(req);
	req = genl_family_request("no such family");
	assert_int_equal(nlsock_call(&s, req, on_family, &group, NULL), -ENOENT);
	nlmsg_free(req);
	nlsock_close(&s);
	req = reporter_message(DEVLINK_CMD_HEALTH_REPORTER_GET, "pci", "0000:03:00.0");
	assert_int_equal(genl_decode_group(nlmsg_hdr(req), "notify", &group), -EPROTO);
	nlmsg_free(req);
}

/* --- configuration spaces --------------------------------------------------------------------- */

static void put(struct sysfs_fixture *f, const char *id, const char *file, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "bus/pci/devices/%s/%s", id, file);
	tmptree_write(f->dir, path, "%s", text);
}

static void read_all(struct sysfs_fixture *f)
{
	scan_done(&f->scan);
	hw_scan(&f->hw, SCAN_FUNCTIONS | SCAN_REPORTS, &f->scan);
	assert_int_equal(f->scan.parts, SCAN_FUNCTIONS | SCAN_REPORTS);
}

static bool is_unreachable(struct sysfs_fixture *f, const char *id)
{
	const struct function *fn = host_function(&f->scan.host, id);

	assert_non_null(fn);
	return fn->unreachable;
}

static void test_a_pf_that_does_not_answer(void **state)
{
	static const char pf[] = "0000:18:00.0", vf[] = "0000:18:00.1", other[] = "0000:19:00.0";
	struct sysfs_fixture *f = *state;

	put(f, pf, "class", "0x020000");
	put(f, pf, "config", "\xb3\x15\x21\x10");
	put(f, vf, "class", "0x020000");
	put(f, vf, "config", "\xff\xff\xff\xff"); /* as a VF's config space always reads */
	tmptree_link(f->dir, "bus/pci/devices/0000:18:00.1/physfn", "../0000:18:00.0");
	put(f, other, "class", "0x020000");
	put(f, other, "config", "\xff\xff");	     /* cut short: cannot be decoded */
	put(f, "0000:1a:00.0", "class", "0x010802"); /* not a network function */
	put(f, "0000:1a:00.0", "config", "\xff\xff\xff\xff");
	read_all(f);
	assert_int_equal(f->scan.host.n_reports, 0);
	assert_false(is_unreachable(f, pf));
	put(f, pf, "config", "\xff\xff\xff\xff");
	read_all(f);
	assert_true(is_unreachable(f, pf));
	assert_true(is_unreachable(f, vf));
	assert_false(is_unreachable(f, other));
	put(f, pf, "power/runtime_status", "suspended\n"); /* reading would wake the device */
	read_all(f);
	assert_false(is_unreachable(f, pf));
	put(f, pf, "power/runtime_status", "active\n");
	read_all(f);
	assert_true(is_unreachable(f, vf));
}

static void test_this_machine(void **state)
{
	struct scan s;
	struct err e = {0};
	struct hw hw;
	(void)state;

	assert_int_equal(hw_open(&hw, "/sys", "/dev", "/proc", &e), 0);
	hw_scan(&hw, SCAN_REPORTS, &s);
	assert_int_equal(s.parts, SCAN_REPORTS);
	for (int i = 0; i < N_SCAN_SOURCES; i++)
		assert_int_equal(s.problem[i].code, 0);
	scan_done(&s);
	hw_close(&hw);
}

TEST_GROUP(reports)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_link_states_of_vfs),
		cmocka_unit_test(test_settings_of_vfs),
		cmocka_unit_test(test_links_without_vfs),
		cmocka_unit_test(test_a_list_that_is_longer_than_its_length),
		cmocka_unit_test(test_a_walk_that_is_ended),
		cmocka_unit_test(test_the_request),
		cmocka_unit_test(test_reporters),
		cmocka_unit_test(test_other_messages_than_reporters),
		cmocka_unit_test(test_health_events),
		cmocka_unit_test(test_a_family_of_this_kernel),
		cmocka_unit_test_setup_teardown(test_a_pf_that_does_not_answer, sysfs_fixture_setup,
						sysfs_fixture_teardown),
		cmocka_unit_test(test_this_machine),
	};

	return test_group_run(tests, NULL, NULL);
}
