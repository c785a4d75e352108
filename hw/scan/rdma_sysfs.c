// SPDX-License-Identifier: Apache-2.0
/* rdma_sysfs.c - reads RDMA devices from class/infiniband.
 *
 * A file that cannot be read leaves only its own value unknown. Unused entries of a GID table read
 * as zeros, or fail with EINVAL: both are normal. */
#include "rdma_sysfs.h"

#include "array.h"
#include "cleanup.h"
#include "functions.h"
#include "sysfs.h"

/* Port numbers have 8 bits on the wire (IBTA); all known drivers comply. */
#define PORTS_MAX 256

/* --- the list ----------------------------------------------------------------------------- */

static int rdma_sysfs_on_port(int dir, const char *name, void *arg)
{
	struct rdma_dev *d = arg;
	struct rdma_port *p;
	uint64_t num;

	(void)dir;
	if (parse_u64(name, &num) < 0 || num > PORTS_MAX)
		return 0;
	p = array_push(d->ports, d->n_ports);
	if (!p)
		return -ENOMEM;
	p->num = (uint32_t)num;
	return 0;
}

static int cmp_port(const void *a, const void *b)
{
	const struct rdma_port *pa = a, *pb = b;

	return (pa->num > pb->num) - (pa->num < pb->num);
}

static int rdma_sysfs_on_device(int class_dir, const char *name, void *arg)
{
	struct host *h = arg;
	struct rdma_dev d = {.nsid = NSID_HOST, .index = RDMA_INDEX_NONE}, *new;
	char path[SYSFS_PATH_MAX];

	if (strlen(name) >= sizeof(d.name))
		return 0;
	memcpy(d.name, name, strlen(name) + 1);
	snprintf(path, sizeof(path), "%s/ports", name);
	if (sysfs_list(class_dir, path, rdma_sysfs_on_port, &d) == -ENOMEM)
		goto no_memory;
	if (d.n_ports)
		qsort(d.ports, d.n_ports, sizeof(*d.ports), cmp_port);
	new = array_push(h->rdma, h->n_rdma);
	if (!new)
		goto no_memory;
	*new = d;
	return 0;
no_memory:
	rdma_dev_done(&d);
	return -ENOMEM;
}

int rdma_sysfs_list(const struct hw *hw, struct host *h)
{
	int r = sysfs_list(hw->sys_fd, "class/infiniband", rdma_sysfs_on_device, h);

	return r < 0 ? r : 0;
}

/* --- one port ----------------------------------------------------------------------------- */

static enum link_layer link_layer_parse(const char *s)
{
	if (strcmp(s, "Ethernet") == 0)
		return LINK_ETHERNET;
	return strcmp(s, "InfiniBand") == 0 ? LINK_INFINIBAND : LINK_UNKNOWN;
}

/* Parses "4: ACTIVE"; a number beyond the enum is unknown. */
static unsigned rdma_sysfs_read_state(int dir, const char *file, unsigned max)
{
	char text[64];
	uint32_t v;

	if (sysfs_str(dir, text, sizeof(text), "%s", file) <= 0 ||
	    parse_leading_u32(text, &v) < 0 || v > max)
		return 0;
	return v;
}

static void fill_port(int ports_dir, struct rdma_port *p)
{
	AUTO_FD dir = sysfs_open_dir(ports_dir, "%u", p->num);
	uint32_t pkey;
	char text[64];

	if (dir < 0)
		return;
	if (p->state == PORT_UNKNOWN)
		p->state = rdma_sysfs_read_state(dir, "state", PORT_ACTIVE_DEFER);
	if (p->phys_state == PHYS_UNKNOWN)
		p->phys_state = rdma_sysfs_read_state(dir, "phys_state", PHYS_TEST);
	if (p->link_layer == LINK_UNKNOWN && sysfs_str(dir, text, sizeof(text), "link_layer") > 0)
		p->link_layer = link_layer_parse(text);
	if (p->rate_bps == 0 && sysfs_str(dir, text, sizeof(text), "rate") > 0)
		parse_rate(text, &p->rate_bps);
	/* Only ports of an InfiniBand fabric differ in their partition key, and each read queries
	 * the device. */
	if (p->link_layer == LINK_INFINIBAND && sysfs_u32(dir, &pkey, "pkeys/0") == 0)
		p->pkey = (uint16_t)pkey;
}

/* --- one device --------------------------------------------------------------------------- */

const char *rdma_driver_of(const char *driver)
{
	/* PCI driver and the RDMA driver on top of it; pairs with equal names are omitted. */
	static const char *const pairs[][2] = {
		{"mlx5_core", "mlx5"}, {"mlx4_core", "mlx4"}, {"bnxt_en", "bnxt_re"},
		{"ice", "irdma"},      {"i40e", "irdma"},     {"idpf", "irdma"},
		{"hns3", "hns"},       {"qede", "qedr"},
	};
	size_t n = strcspn(driver, "."); /* an auxiliary driver is "<module>.<name>" */

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++)
		if (strlen(pairs[i][0]) == n && strncmp(pairs[i][0], driver, n) == 0)
			return pairs[i][1];
	return driver;
}

static void rdma_sysfs_find_function(int class_dir, int dir, struct rdma_dev *d)
{
	char text[SYSFS_PATH_MAX];

	if (sysfs_target(class_dir, text, sizeof(text), "%s", d->name) == 0 &&
	    function_id_from_path(text, d->function))
		return;
	if (sysfs_link(dir, text, sizeof(text), "device") == 0 && is_function_id(text))
		snprintf(d->function, sizeof(d->function), "%.*s", DEV_ID_SIZE - 1, text);
}

/* Sets the driver. Of the software devices, only rxe has a file `parent`
 * (linux/drivers/infiniband/sw/rxe/rxe_verbs.c), on some kernels in addition to the link `device`;
 * siw has node type RNIC and no link `device`. */
static void find_driver(int dir, struct rdma_dev *d)
{
	char text[64];

	if (sysfs_exists(dir, "parent"))
		snprintf(d->driver, sizeof(d->driver), "rxe");
	else if (sysfs_link(dir, text, sizeof(text), "device/driver") == 0)
		snprintf(d->driver, sizeof(d->driver), "%.31s", rdma_driver_of(text));
	else if (!d->function[0] && sysfs_str(dir, text, sizeof(text), "node_type") > 0 &&
		 strcmp(text, "4: RNIC") == 0)
		snprintf(d->driver, sizeof(d->driver), "siw");
}

static void fill_texts(int dir, struct rdma_dev *d)
{
	char guid[32];

	if (!d->fw[0])
		sysfs_str(dir, d->fw, sizeof(d->fw), "fw_ver");
	if (!d->board[0])
		sysfs_str(dir, d->board, sizeof(d->board), "board_id");
	if (!d->hca_type[0])
		sysfs_str(dir, d->hca_type, sizeof(d->hca_type), "hca_type");
	if (!d->node_guid && sysfs_str(dir, guid, sizeof(guid), "node_guid") > 0)
		parse_guid(guid, &d->node_guid);
	if (!d->sys_image_guid && sysfs_str(dir, guid, sizeof(guid), "sys_image_guid") > 0)
		parse_guid(guid, &d->sys_image_guid);
}

void rdma_sysfs_fill(const struct hw *hw, struct rdma_dev *d)
{
	AUTO_FD class_dir = sysfs_open_dir(hw->sys_fd, "class/infiniband");
	AUTO_FD dir = class_dir < 0 ? -1 : sysfs_open_dir(class_dir, "%s", d->name);
	AUTO_FD ports = dir < 0 ? -1 : sysfs_open_dir(dir, "ports");

	if (dir < 0)
		return;
	if (!d->function[0])
		rdma_sysfs_find_function(class_dir, dir, d);
	if (!d->driver[0])
		find_driver(dir, d);
	fill_texts(dir, d);
	for (unsigned i = 0; i < d->n_ports && ports >= 0; i++)
		fill_port(ports, &d->ports[i]);
}

/* --- GID tables --------------------------------------------------------------------------- */

enum gid_type gid_type_parse(const char *s, enum link_layer layer)
{
	if (strcmp(s, "RoCE v2") == 0)
		return GID_ROCE_V2;
	if (strcmp(s, "IB/RoCE v1") != 0 || layer == LINK_UNKNOWN)
		return GID_UNKNOWN;
	return layer == LINK_ETHERNET ? GID_ROCE_V1 : GID_IB;
}

struct gid_walk {
	int port_dir;
	struct rdma_port *port;
};

static bool rdma_sysfs_is_zero(const uint8_t raw[16])
{
	static const uint8_t zero[16];

	return memcmp(raw, zero, sizeof(zero)) == 0;
}

static int on_gid(int dir, const char *name, void *arg)
{
	const struct gid_walk *w = arg;
	struct gid g = {0}, *new;
	char text[64];
	uint64_t index;

	if (parse_u64(name, &index) < 0 || index > UINT16_MAX ||
	    sysfs_str(dir, text, sizeof(text), "%s", name) <= 0 || parse_gid(text, g.raw) < 0 ||
	    rdma_sysfs_is_zero(g.raw))
		return 0;
	g.index = (uint32_t)index;
	if (sysfs_str(w->port_dir, text, sizeof(text), "gid_attrs/types/%u", g.index) > 0)
		g.type = gid_type_parse(text, w->port->link_layer);
	sysfs_str(w->port_dir, g.netdev, sizeof(g.netdev), "gid_attrs/ndevs/%u", g.index);
	new = array_push(w->port->gids, w->port->n_gids);
	if (!new)
		return -ENOMEM;
	*new = g;
	return 0;
}

static int cmp_gid(const void *a, const void *b)
{
	const struct gid *ga = a, *gb = b;

	return (ga->index > gb->index) - (ga->index < gb->index);
}

static void read_gids(int port_dir, struct rdma_port *p)
{
	struct gid_walk w = {port_dir, p};
	int n = sysfs_list(port_dir, "gids", on_gid, &w);

	if (n > 0)
		p->gid_table_len = (unsigned)n;
	if (p->n_gids)
		qsort(p->gids, p->n_gids, sizeof(*p->gids), cmp_gid);
}

void rdma_sysfs_gids(const struct hw *hw, struct rdma_dev *d)
{
	for (unsigned i = 0; i < d->n_ports; i++) {
		struct rdma_port *p = &d->ports[i];
		AUTO_FD dir = p->gid_table_len
				      ? -1
				      : sysfs_open_dir(hw->sys_fd, "class/infiniband/%s/ports/%u",
						       d->name, p->num);

		if (dir >= 0)
			read_gids(dir, p);
	}
}

/* Uses the netdev of each port's first GID. Every GID of a RoCE port belongs to the port's netdev
 * or to one stacked on it; the first GID is the link-local address of the port's netdev. */
void rdma_sysfs_netdevs(const struct hw *hw, struct rdma_dev *d)
{
	for (unsigned i = 0; i < d->n_ports; i++) {
		struct rdma_port *p = &d->ports[i];
		int ifindex;

		if (p->n_gids == 0 || !p->gids[0].netdev[0] ||
		    sysfs_int(hw->sys_fd, &ifindex, "class/net/%s/ifindex", p->gids[0].netdev) <
			    0 ||
		    ifindex <= 0)
			continue;
		p->netdev_nsid = NSID_HOST;
		p->netdev_ifindex = ifindex;
		memcpy(p->netdev, p->gids[0].netdev, IFNAMSIZ);
	}
}

/* --- character devices ------------------------------------------------------------------------ */

/* Each class device has a file `ibdev` with the RDMA device's name and, for umad and issm, a file
 * `port`: linux/drivers/infiniband/core/{uverbs_main,user_mad}.c. RDMA netlink's GET_CHARDEV has
 * the same information, but loads a kernel module if a device has no such client. A scan must not
 * load modules. */

enum chardev_kind { CHARDEV_UVERBS, CHARDEV_UMAD, CHARDEV_ISSM, CHARDEV_UCM };

struct chardev {
	char rdma[RDMA_NAME_SIZE];
	char name[CHARDEV_NAME_SIZE];
	uint32_t port;
	enum chardev_kind kind;
};

static bool rdma_sysfs_kind_of(const char *name, enum chardev_kind *ret)
{
	static const char *const prefixes[] = {[CHARDEV_UVERBS] = "uverbs",
					       [CHARDEV_UMAD] = "umad",
					       [CHARDEV_ISSM] = "issm",
					       [CHARDEV_UCM] = "ucm"};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		size_t n = strlen(prefixes[i]);

		if (strncmp(name, prefixes[i], n) == 0 && name[n] >= '0' && name[n] <= '9') {
			*ret = (enum chardev_kind)i;
			return true;
		}
	}
	return false;
}

static int rdma_sysfs_on_chardev(int class_dir, const char *name, void *arg)
{
	struct chardev_table *t = arg;
	struct chardev c = {0}, *new;

	if (strlen(name) >= sizeof(c.name) || !rdma_sysfs_kind_of(name, &c.kind) ||
	    sysfs_str(class_dir, c.rdma, sizeof(c.rdma), "%s/ibdev", name) <= 0)
		return 0;
	memcpy(c.name, name, strlen(name) + 1);
	if (c.kind == CHARDEV_UMAD || c.kind == CHARDEV_ISSM)
		sysfs_u32(class_dir, &c.port, "%s/port", name);
	new = array_push(t->items, t->n);
	if (!new)
		return -ENOMEM;
	*new = c;
	return 0;
}

static int cmp_chardev(const void *pa, const void *pb)
{
	const struct chardev *a = pa, *b = pb;
	int r = strcmp(a->rdma, b->rdma);

	if (r == 0)
		r = (a->port > b->port) - (a->port < b->port);
	return r ? r : natural_cmp(a->name, b->name);
}

int chardevs_read(const struct hw *hw, struct chardev_table *ret)
{
	static const char *const classes[] = {"class/infiniband_verbs", "class/infiniband_mad",
					      "class/infiniband_cm"};

	*ret = (struct chardev_table){0};
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (sysfs_list(hw->sys_fd, classes[i], rdma_sysfs_on_chardev, ret) == -ENOMEM) {
			chardevs_done(ret);
			return -ENOMEM;
		}
	if (ret->n)
		qsort(ret->items, ret->n, sizeof(*ret->items), cmp_chardev);
	return 0;
}

void chardevs_done(struct chardev_table *t)
{
	free(t->items);
	*t = (struct chardev_table){0};
}

static char *slot(struct rdma_dev *d, enum chardev_kind kind)
{
	switch (kind) {
	case CHARDEV_UVERBS:
		return d->uverbs;
	case CHARDEV_UMAD:
		return d->umad;
	case CHARDEV_ISSM:
		return d->issm;
	case CHARDEV_UCM:
		return d->ucm;
	}
	return NULL;
}

void chardevs_assign(const struct chardev_table *t, struct rdma_dev *d)
{
	size_t at = lower_bound(t->n, i, strcmp(t->items[i].rdma, d->name) < 0);

	for (; at < t->n && !strcmp(t->items[at].rdma, d->name); at++) {
		char *name = slot(d, t->items[at].kind);

		if (name && !name[0])
			memcpy(name, t->items[at].name, sizeof(t->items[at].name));
	}
}
