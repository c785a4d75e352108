// SPDX-License-Identifier: Apache-2.0
/* Settings of a host's ports: from a fake kernel, from files of sysfs and configfs, and from the
 * real kernel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include <errno.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netlink/attr.h>

#include "cleanup.h"
#include "fake_netlink.h"
#include "faults.h"
#include "host_builder.h"
#include "settings_answers.h"
#include "settings_read.h"
#include "sysfs_fixture.h"
#include "test_group.h"
#include "tmptree.h"

#define FAMILY 21
#define PF     "0000:05:00.0"
#define VF     "0000:05:00.1"

/* The fake kernel's answers about one netdev, and how often they were requested. */
struct fake_netdev {
	const char *netdev;
	int ifindex;
	const struct dcb_answer *dcb; /* NULL: -EOPNOTSUPP */
	bool has_pause, receives, sends;
	unsigned n_dcb_queries, n_pause_queries;
};

struct world {
	struct sysfs_fixture *f;
	struct host host;
	struct fake_netdev netdevs[8];
	size_t n;
	bool no_family; /* a kernel without ethtool netlink */
	struct settings_table table;
};

static struct fake_netdev *netdev_of(struct world *w, const char *name, int ifindex)
{
	for (size_t i = 0; i < w->n; i++)
		if (name ? strcmp(w->netdevs[i].netdev, name) == 0
			 : w->netdevs[i].ifindex == ifindex)
			return &w->netdevs[i];
	return NULL;
}

/* --- the kernel ------------------------------------------------------------------------------- */

static int send_dcb(struct fake_netlink *k, const struct nlmsghdr *req, struct world *w)
{
	struct nlattr *name = nlmsg_find_attr((struct nlmsghdr *)req, sizeof(struct dcbmsg),
					      DCB_ATTR_IFNAME);
	struct fake_netdev *t = name ? netdev_of(w, nla_data(name), 0) : NULL;

	if (!t)
		return -ENODEV;
	t->n_dcb_queries++;
	if (!t->dcb)
		return -EOPNOTSUPP;
	fake_netlink_send(k, req, dcb_answer_build(t->dcb, t->netdev));
	return 0;
}

static int send_pause(struct fake_netlink *k, const struct nlmsghdr *req, struct world *w)
{
	struct nlattr *header = nlmsg_find_attr((struct nlmsghdr *)req, sizeof(struct genlmsghdr),
						ETHTOOL_A_PAUSE_HEADER);
	struct nlattr *tb[ETHTOOL_A_HEADER_MAX + 1];
	struct fake_netdev *t;

	if (!header || nla_parse_nested(tb, ETHTOOL_A_HEADER_MAX, header, NULL) < 0 ||
	    !tb[ETHTOOL_A_HEADER_DEV_INDEX])
		return -EINVAL;
	/* A request for frame counts would query the hardware. */
	if (nla_get_u32(tb[ETHTOOL_A_HEADER_FLAGS]) != 0)
		return -EINVAL;
	t = netdev_of(w, NULL, (int)nla_get_u32(tb[ETHTOOL_A_HEADER_DEV_INDEX]));
	if (!t)
		return -ENODEV;
	t->n_pause_queries++;
	if (!t->has_pause)
		return -EOPNOTSUPP;
	fake_netlink_send(k, req, pause_answer_build(FAMILY, t->receives, t->sends));
	return 0;
}

static int send_family(struct fake_netlink *k, const struct nlmsghdr *req, struct world *w)
{
	struct genlmsghdr g = {.cmd = CTRL_CMD_NEWFAMILY, .version = 1};
	struct nl_msg *m;

	if (w->no_family)
		return -ENOENT;
	m = nlmsg_alloc_simple(GENL_ID_CTRL, 0);
	nlmsg_append(m, &g, sizeof(g), NLMSG_ALIGNTO);
	nla_put_u16(m, CTRL_ATTR_FAMILY_ID, FAMILY);
	fake_netlink_send(k, req, m);
	return 0;
}

static int kernel(struct fake_netlink *k, const struct nlmsghdr *req, void *arg)
{
	switch (req->nlmsg_type) {
	case RTM_GETDCB:
		return send_dcb(k, req, arg);
	case GENL_ID_CTRL:
		return send_family(k, req, arg);
	case FAMILY:
		return send_pause(k, req, arg);
	default:
		return -EOPNOTSUPP;
	}
}

/* --- the world -------------------------------------------------------------------------------- */

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	void *f = NULL;

	assert_non_null(w);
	assert_int_equal(sysfs_fixture_setup(&f), 0);
	w->f = f;
	w->f->hw.live = true;
	fake_netlink_behind_sockets(kernel, w);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;
	void *f = w->f;

	fake_netlink_behind_sockets(NULL, NULL);
	settings_done(&w->table);
	host_done(&w->host);
	sysfs_fixture_teardown(&f);
	free(w);
	return 0;
}

static struct fake_netdev *add_netdev(struct world *w, const char *name, const char *function)
{
	struct netdev *d = build_netdev(&w->host, name, function);
	struct fake_netdev *t = &w->netdevs[w->n++];

	*t = (struct fake_netdev){.netdev = name, .ifindex = d->ifindex};
	return t;
}

/* netdev: the device's, "" = none. */
static struct rdma_dev *add_rdma(struct world *w, const char *name, const char *function,
				 const char *netdev)
{
	struct rdma_dev *d = build_rdma(&w->host, name, function);

	d->ports[0].netdev_nsid = NSID_HOST;
	if (netdev[0])
		d->ports[0].netdev_ifindex = find_netdev(&w->host, netdev)->ifindex;
	return d;
}

static const struct port_settings *read_port(struct world *w, const char *device)
{
	const struct port_settings *s;

	settings_done(&w->table);
	assert_int_equal(settings_read(&w->f->hw, &w->host, &w->table), 0);
	s = settings_of(&w->table, device, 1);
	assert_non_null(s);
	return s;
}

static const struct ieee_ets ets = {
	.prio_tc = {0, 0, 0, 1}, .tc_tx_bw = {50, 50}, .tc_tsa = {2, 2}};
static const struct ieee_pfc pfc = {.pfc_en = 8}, no_pfc;
static const struct dcb_answer lossless = {
	.ets = &ets,
	.pfc = &pfc,
	.apps = {{.selector = IEEE_8021QAZ_APP_SEL_DSCP, .priority = 3, .protocol = 26}},
	.n_apps = 1,
	.has_dcbx = true,
	.dcbx = DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE};

#define DCB_PARTS (SETTINGS_DSCP | SETTINGS_PFC | SETTINGS_ETS | SETTINGS_DCBX)

/* A PF with its RDMA device and netdev, configured for RoCE. */
static struct fake_netdev *add_pf(struct world *w)
{
	struct fake_netdev *t;

	build_function(&w->host, FN_PF, PF, "", -1);
	t = add_netdev(w, "ens1np0", PF);
	t->dcb = &lossless;
	t->has_pause = t->sends = true;
	add_rdma(w, "mlx5_0", PF, "ens1np0");
	return t;
}

/* --- which netdev is queried ------------------------------------------------------------------ */

static void a_port_has_the_settings_of_its_netdev(void **state)
{
	struct world *w = *state;
	const struct port_settings *s;

	add_pf(w);
	s = read_port(w, "mlx5_0");
	assert_int_equal(s->seen, DCB_PARTS | SETTINGS_PAUSE);
	assert_int_equal(s->pfc, 8);
	assert_true(s->dscp_trusted);
	assert_int_equal(s->dscp_priority[26], 3);
	assert_int_equal(s->ets_class[3], 1);
	assert_int_equal(s->dcbx, 9);
	assert_true(s->pause_sends);
	assert_false(s->pause_receives);
	assert_int_equal(w->table.n, 1);
	assert_null(settings_of(&w->table, "mlx5_0", 2));
	assert_null(settings_of(&w->table, "mlx5_1", 1));
}

/* All functions of the port share one request. */
static void vfs_share_their_pfs_settings(void **state)
{
	struct world *w = *state;
	struct fake_netdev *pf = add_pf(w);
	struct rdma_dev *away;

	build_function(&w->host, FN_VF, VF, PF, 0);
	build_function(&w->host, FN_VF, "0000:05:00.2", PF, 1);
	build_function(&w->host, FN_SF, "mlx5_core.sf.4", PF, 7);
	add_netdev(w, "ens1v0", VF)->dcb = &lossless;
	add_rdma(w, "mlx5_1", VF, "ens1v0");
	/* In a pod, so its own netdev is not visible. */
	away = add_rdma(w, "mlx5_2", "0000:05:00.2", "");
	away->nsid = away->ports[0].netdev_nsid = 3;
	add_rdma(w, "mlx5_3", "mlx5_core.sf.4", "");
	assert_int_equal(read_port(w, "mlx5_1")->seen, DCB_PARTS | SETTINGS_PAUSE);
	assert_int_equal(settings_of(&w->table, "mlx5_2", 1)->pfc, 8);
	assert_int_equal(settings_of(&w->table, "mlx5_2", 1)->seen, DCB_PARTS | SETTINGS_PAUSE);
	assert_int_equal(settings_of(&w->table, "mlx5_3", 1)->seen, DCB_PARTS | SETTINGS_PAUSE);
	assert_int_equal(w->table.n, 4);
	/* Queried for the PF's port and used by all others. */
	assert_in_range(pf->n_dcb_queries, 1, 1);
	assert_in_range(pf->n_pause_queries, 1, 1);
	assert_int_equal(w->netdevs[1].n_dcb_queries, 0);
}

static void representors_are_not_the_port(void **state)
{
	struct world *w = *state;
	struct fake_netdev *rep;

	add_pf(w);
	rep = add_netdev(w, "ens1pf0vf0", PF);
	snprintf(find_netdev(&w->host, "ens1pf0vf0")->port_name, 16, "pf0vf0");
	snprintf(find_netdev(&w->host, "ens1np0")->port_name, 16, "p0");
	build_function(&w->host, FN_VF, VF, PF, 0);
	add_rdma(w, "mlx5_1", VF, "");
	assert_int_equal(read_port(w, "mlx5_1")->pfc, 8);
	assert_int_equal(rep->n_dcb_queries, 0);
}

/* A PF with two ports: a VF may use either. */
static void a_vf_of_two_ports_is_unknown(void **state)
{
	struct world *w = *state;

	add_pf(w);
	add_netdev(w, "ens1np1", PF)->dcb = &lossless;
	build_function(&w->host, FN_VF, VF, PF, 0);
	add_rdma(w, "mlx5_1", VF, "");
	assert_int_equal(read_port(w, "mlx5_1")->seen, 0);
	assert_true(settings_of(&w->table, "mlx5_0", 1)->seen & SETTINGS_PFC);
}

static void a_pf_in_another_namespace_is_unknown(void **state)
{
	struct world *w = *state;
	struct fake_netdev *pf = add_pf(w), *other;

	find_netdev(&w->host, "ens1np0")->nsid = 3;
	find_rdma(&w->host, "mlx5_0")->ports[0].netdev_nsid = 3;
	build_function(&w->host, FN_VF, VF, PF, 0);
	add_rdma(w, "mlx5_1", VF, "");
	/* Interface indices belong to a namespace: in ours the index belongs to another netdev. */
	other = add_netdev(w, "eth0", "");
	other->dcb = &lossless;
	find_netdev(&w->host, "eth0")->ifindex = other->ifindex = pf->ifindex;
	assert_int_equal(read_port(w, "mlx5_0")->seen, 0);
	assert_int_equal(settings_of(&w->table, "mlx5_1", 1)->seen, 0);
	assert_int_equal(pf->n_dcb_queries + other->n_dcb_queries, 0);
}

/* --- missing answers -------------------------------------------------------------------------- */

static void rejected_settings_are_unknown(void **state)
{
	struct world *w = *state;
	struct fake_netdev *pf = add_pf(w);

	pf->dcb = NULL;
	assert_int_equal(read_port(w, "mlx5_0")->seen, SETTINGS_PAUSE);
	pf->has_pause = false;
	assert_int_equal(read_port(w, "mlx5_0")->seen, 0);
	pf->dcb = &lossless;
	assert_int_equal(read_port(w, "mlx5_0")->seen, DCB_PARTS);
	w->no_family = pf->has_pause = true;
	assert_int_equal(read_port(w, "mlx5_0")->seen, DCB_PARTS);
}

/* A rejected netdev does not affect the next one. */
static void refusals_stay_with_their_netdev(void **state)
{
	struct world *w = *state;
	struct fake_netdev *other;

	add_pf(w)->dcb = NULL;
	build_function(&w->host, FN_VIRTUAL, "rxe0", "", -1);
	add_netdev(w, "veth0", "")->has_pause = false;
	add_rdma(w, "rxe0", "rxe0", "veth0");
	build_function(&w->host, FN_PF, "0000:06:00.0", "", -1);
	other = add_netdev(w, "ens2np0", "0000:06:00.0");
	other->dcb = &lossless;
	add_rdma(w, "mlx5_6", "0000:06:00.0", "ens2np0");
	assert_int_equal(read_port(w, "mlx5_0")->seen, SETTINGS_PAUSE);
	assert_int_equal(settings_of(&w->table, "rxe0", 1)->seen, 0);
	assert_int_equal(settings_of(&w->table, "mlx5_6", 1)->seen, DCB_PARTS);
}

/* This machine's netlink is not combined with a copied tree. */
static void a_copied_tree_causes_no_queries(void **state)
{
	struct world *w = *state;
	struct fake_netdev *pf = add_pf(w);

	w->f->hw.live = false;
	assert_int_equal(read_port(w, "mlx5_0")->seen, 0);
	assert_int_equal(pf->n_dcb_queries + pf->n_pause_queries, 0);
}

/* The host's order compares numbers in names as numbers, so mlx5_10 comes after mlx5_2. */
static void each_port_is_found_by_its_name(void **state)
{
	static const char *const names[] = {"mlx5_2", "mlx5_10", "mlx5_1", "bnxt_re0"};
	struct world *w = *state;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char path[128];

		build_function(&w->host, FN_VIRTUAL, names[i], "", -1);
		add_rdma(w, names[i], names[i], "");
		snprintf(path, sizeof(path), "kernel/config/rdma_cm/%s/ports/1/default_roce_tos",
			 names[i]);
		tmptree_write(w->f->dir, path, "%zu\n", i);
	}
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_int_equal(read_port(w, names[i])->cm_tos, i);
	assert_null(settings_of(&w->table, "mlx5_3", 1));
}

static void a_host_without_ports(void **state)
{
	struct world *w = *state;

	assert_int_equal(settings_read(&w->f->hw, &w->host, &w->table), 0);
	assert_int_equal(w->table.n, 0);
}

/* --- drivers ---------------------------------------------------------------------------------- */

static void zeros_of_bnxt_are_unknown(void **state)
{
	static const struct ieee_ets no_ets;
	struct dcb_answer unset = {.ets = &no_ets,
				   .pfc = &no_pfc,
				   .has_dcbx = true,
				   .dcbx = DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE};
	struct world *w = *state;

	add_pf(w)->dcb = &unset;
	assert_int_equal(read_port(w, "mlx5_0")->seen, DCB_PARTS | SETTINGS_PAUSE);
	snprintf(find_function(&w->host, PF)->driver, 32, "bnxt_en");
	assert_int_equal(read_port(w, "mlx5_0")->seen,
			 SETTINGS_DSCP | SETTINGS_DCBX | SETTINGS_PAUSE);
	/* Values other than zero count, and zeros do if the firmware configures the port. */
	unset.pfc = &pfc;
	unset.ets = &ets;
	assert_int_equal(read_port(w, "mlx5_0")->seen, DCB_PARTS | SETTINGS_PAUSE);
	unset.pfc = &no_pfc;
	unset.dcbx = DCB_CAP_DCBX_LLD_MANAGED;
	assert_int_equal(read_port(w, "mlx5_0")->seen, DCB_PARTS | SETTINGS_PAUSE);
}

static void a_drivers_trust_file_overrides_the_table(void **state)
{
	struct dcb_answer none = {.pfc = &pfc};
	struct world *w = *state;
	struct fake_netdev *pf = add_pf(w);

	tmptree_write(w->f->dir, "class/net/ens1np0/qos/trust", "pcp\n");
	assert_false(read_port(w, "mlx5_0")->dscp_trusted);
	tmptree_write(w->f->dir, "class/net/ens1np0/qos/trust", "dscp\n");
	pf->dcb = &none;
	assert_true(read_port(w, "mlx5_0")->dscp_trusted);
	tmptree_write(w->f->dir, "class/net/ens1np0/qos/trust", "dscp\x1b[2J\n");
	assert_false(read_port(w, "mlx5_0")->dscp_trusted);
	tmptree_write(w->f->dir, "class/net/ens1np0/qos/trust", "%080d\n", 0);
	assert_false(read_port(w, "mlx5_0")->dscp_trusted);
	/* Without the table, trust alone is not exported. */
	pf->dcb = NULL;
	assert_false(read_port(w, "mlx5_0")->seen & SETTINGS_DSCP);
}

/* --- rdma_cm ---------------------------------------------------------------------------------- */

#define CM "kernel/config/rdma_cm/mlx5_0/ports/1/"

static void defaults_of_rdma_cm(void **state)
{
	struct world *w = *state;
	const struct port_settings *s;

	add_pf(w);
	tmptree_write(w->f->dir, CM "default_roce_mode", "RoCE v2\n");
	tmptree_write(w->f->dir, CM "default_roce_tos", "106\n");
	s = read_port(w, "mlx5_0");
	assert_int_equal(s->seen, DCB_PARTS | SETTINGS_PAUSE | SETTINGS_CM_TYPE | SETTINGS_CM_TOS);
	assert_true(s->cm_roce_v2);
	assert_int_equal(s->cm_tos, 106);
	tmptree_write(w->f->dir, CM "default_roce_mode", "IB/RoCE v1\n");
	tmptree_write(w->f->dir, CM "default_roce_tos", "0\n");
	s = read_port(w, "mlx5_0");
	assert_true(s->seen & SETTINGS_CM_TYPE);
	assert_false(s->cm_roce_v2);
	assert_true(s->seen & SETTINGS_CM_TOS);
	assert_int_equal(s->cm_tos, 0);
}

static void invalid_values_of_rdma_cm_are_unknown(void **state)
{
	static const char *const modes[] = {"", "RoCE v3\n", "RoCE v2\x1b[31m\n", "roce v2\n",
					    "RoCE v2 and so much more than there is room for\n"};
	static const char *const toses[] = {"", "256\n", "-1\n", "106 \x1b[0m\n", "many\n"};
	struct world *w = *state;

	add_pf(w);
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		tmptree_write(w->f->dir, CM "default_roce_mode", "%s", modes[i]);
		tmptree_write(w->f->dir, CM "default_roce_tos", "%s", toses[i]);
		assert_false(read_port(w, "mlx5_0")->seen & (SETTINGS_CM_TYPE | SETTINGS_CM_TOS));
	}
	tmptree_write(w->f->dir, CM "default_roce_tos", "0x6a\n");
	assert_int_equal(read_port(w, "mlx5_0")->cm_tos, 106);
	assert_false(settings_of(&w->table, "mlx5_0", 1)->seen & SETTINGS_CM_TYPE);
}

/* A mkdir() there would create an entry and change the host. */
static void no_folder_is_created_in_configfs(void **state)
{
	struct world *w = *state;
	struct stat st;

	add_pf(w);
	tmptree_write(w->f->dir, "kernel/config/rdma_cm/other/ports/1/default_roce_tos", "1\n");
	assert_false(read_port(w, "mlx5_0")->seen & (SETTINGS_CM_TYPE | SETTINGS_CM_TOS));
	assert_int_equal(fstatat(w->f->hw.sys_fd, "kernel/config/rdma_cm/other", &st, 0), 0);
	assert_int_equal(fstatat(w->f->hw.sys_fd, "kernel/config/rdma_cm/mlx5_0", &st, 0), -1);
}

/* InfiniBand ports report "IB/RoCE v1", too. */
static void infiniband_has_no_roce_type(void **state)
{
	struct world *w = *state;

	add_pf(w);
	find_rdma(&w->host, "mlx5_0")->ports[0].link_layer = LINK_INFINIBAND;
	tmptree_write(w->f->dir, CM "default_roce_mode", "IB/RoCE v1\n");
	assert_false(read_port(w, "mlx5_0")->seen & SETTINGS_CM_TYPE);
}

/* --- PCIe ------------------------------------------------------------------------------------- */

static void write_link(struct world *w, const char *id)
{
	char path[256];
	static const char *const files[][2] = {{"current_link_speed", "16.0 GT/s PCIe"},
					       {"max_link_speed", "32.0 GT/s PCIe"},
					       {"current_link_width", "8"},
					       {"max_link_width", "16"}};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		snprintf(path, sizeof(path), "bus/pci/devices/%s/%s", id, files[i][0]);
		tmptree_write(w->f->dir, path, "%s\n", files[i][1]);
	}
}

/* Also read in a copied tree, and for a VF in a pod. */
static void the_link_is_the_physical_functions(void **state)
{
	struct world *w = *state;
	const struct port_settings *s;

	add_pf(w);
	snprintf(find_function(&w->host, PF)->path, PCI_PATH_SIZE, "pci0000:00/0000:00:01.0");
	build_function(&w->host, FN_VF, VF, PF, 0);
	find_function(&w->host, VF)->path[0] = '\0';
	add_rdma(w, "mlx5_1", VF, "")->ports[0].netdev_nsid = 3;
	write_link(w, PF);
	write_link(w, "0000:00:01.0");
	w->f->hw.live = false;
	s = read_port(w, "mlx5_1");
	assert_int_equal(s->seen, SETTINGS_PCIE | SETTINGS_PCIE_SEGMENT);
	assert_int_equal(s->pcie.mt_s, 16000);
	assert_int_equal(s->pcie.max_width, 16);
	assert_int_equal(settings_of(&w->table, "mlx5_0", 1)->pcie.width, 8);
}

/* --- memory, and the real kernel -------------------------------------------------------------- */

/* Fails each allocation in turn: the result is the whole table, or -ENOMEM and no table. */
static void without_memory_there_is_no_table(void **state)
{
	struct world *w = *state;
	int n_failed = 0;

	fake_netlink_behind_sockets(NULL, NULL);
	add_pf(w);
	find_rdma(&w->host, "mlx5_0")->ports[0].netdev_ifindex =
		find_netdev(&w->host, "ens1np0")->ifindex = (int)if_nametoindex("lo");
	snprintf(find_netdev(&w->host, "ens1np0")->name, IFNAMSIZ, "lo");
	for (long nth = 0; nth < 100; nth++) {
		int r;

		faults_alloc(nth);
		r = settings_read(&w->f->hw, &w->host, &w->table);
		if (!faults_end()) {
			assert_int_equal(r, 0);
			assert_int_equal(w->table.n, 1);
			assert_true(n_failed > 2);
			return;
		}
		assert_true(r == 0 || r == -ENOMEM);
		n_failed += r < 0;
		assert_int_equal(w->table.n, r == 0);
		settings_done(&w->table);
	}
	fail();
}

/* The loopback device supports none of these on any kernel. */
static void this_machines_kernel_refuses_for_loopback(void **state)
{
	struct world *w = *state;

	fake_netlink_behind_sockets(NULL, NULL);
	build_function(&w->host, FN_VIRTUAL, "rxe0", "", -1);
	build_netdev(&w->host, "lo", "")->ifindex = (int)if_nametoindex("lo");
	if (find_netdev(&w->host, "lo")->ifindex == 0) {
		print_message("no loopback device here\n");
		skip();
	}
	add_rdma(w, "rxe0", "rxe0", "lo");
	assert_int_equal(read_port(w, "rxe0")->seen, 0);
}

TEST_GROUP(settings_read)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_port_has_the_settings_of_its_netdev),
		T(vfs_share_their_pfs_settings),
		T(representors_are_not_the_port),
		T(a_vf_of_two_ports_is_unknown),
		T(a_pf_in_another_namespace_is_unknown),
		T(rejected_settings_are_unknown),
		T(refusals_stay_with_their_netdev),
		T(a_copied_tree_causes_no_queries),
		T(each_port_is_found_by_its_name),
		T(a_host_without_ports),
		T(zeros_of_bnxt_are_unknown),
		T(a_drivers_trust_file_overrides_the_table),
		T(defaults_of_rdma_cm),
		T(invalid_values_of_rdma_cm_are_unknown),
		T(no_folder_is_created_in_configfs),
		T(infiniband_has_no_roce_type),
		T(the_link_is_the_physical_functions),
		T(without_memory_there_is_no_table),
		T(this_machines_kernel_refuses_for_loopback),
	};
#undef T

	return test_group_run(tests, NULL, NULL);
}
