// SPDX-License-Identifier: Apache-2.0
/* verbs.c - the only file that uses libibverbs for the scan.
 *
 * Success, per device: open a context, query its ports, query its GID table, close. Errors: no
 * device node or no permission for it (the device's values stay unknown); a port that was removed
 * meanwhile. */
#include "scan.h"

#include <infiniband/verbs.h>
#include <stdlib.h>

static unsigned verbs_mtu_bytes(enum ibv_mtu mtu)
{
	return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096 ? 128u << mtu : 0;
}

static enum gid_type gid_type_of(uint32_t type)
{
	switch (type) {
	case IBV_GID_TYPE_IB:
		return GID_IB;
	case IBV_GID_TYPE_ROCE_V1:
		return GID_ROCE_V1;
	case IBV_GID_TYPE_ROCE_V2:
		return GID_ROCE_V2;
	default: /* a number from the kernel, not one of our enums */
		return GID_UNKNOWN;
	}
}

static int query_port(struct ibv_context *ctx, struct rdma_port *p)
{
	struct ibv_port_attr attr;
	int r = p->num > UINT8_MAX ? EINVAL : ibv_query_port(ctx, (uint8_t)p->num, &attr);

	if (r)
		return -r;
	p->active_mtu = verbs_mtu_bytes(attr.active_mtu);
	p->max_mtu = verbs_mtu_bytes(attr.max_mtu);
	p->gid_table_len = attr.gid_tbl_len > 0 ? (unsigned)attr.gid_tbl_len : 0;
	return 0;
}

/* Sets the name of a GID's netdev. The ifindex in the table is relative to the netdev's namespace,
 * which is ours or that of the port's netdev. */
static void name_netdev(const struct rdma_port *p, uint32_t ifindex, char ret[IFNAMSIZ])
{
	if (ifindex == 0)
		return;
	if (p->netdev_ifindex == (int)ifindex)
		memcpy(ret, p->netdev, IFNAMSIZ);
	else if (p->netdev_ifindex && p->netdev_nsid == NSID_HOST && !if_indextoname(ifindex, ret))
		ret[0] = '\0';
}

static int take_gids(struct rdma_port *p, const struct ibv_gid_entry *entries, size_t n)
{
	unsigned n_gids = 0;
	struct gid *gids;

	for (size_t i = 0; i < n; i++)
		n_gids += entries[i].port_num == p->num;
	if (n_gids == 0)
		return 0;
	gids = calloc(n_gids, sizeof(*gids));
	if (!gids)
		return -ENOMEM;
	n_gids = 0;
	for (size_t i = 0; i < n; i++) {
		struct gid *g = &gids[n_gids];

		if (entries[i].port_num != p->num)
			continue;
		g->index = entries[i].gid_index;
		g->type = gid_type_of(entries[i].gid_type);
		memcpy(g->raw, entries[i].gid.raw, sizeof(g->raw));
		name_netdev(p, entries[i].ndev_ifindex, g->netdev);
		n_gids++;
	}
	p->gids = gids;
	p->n_gids = n_gids;
	return 0;
}

/* Reads the whole device's table in one call, which returns valid entries only. */
static int query_gids(struct ibv_context *ctx, struct rdma_dev *d)
{
	struct ibv_gid_entry *entries;
	size_t room = 0;
	ssize_t n;
	int r = 0;

	for (unsigned i = 0; i < d->n_ports; i++)
		room += d->ports[i].gid_table_len;
	if (room == 0)
		return 0;
	entries = calloc(room, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	n = ibv_query_gid_table(ctx, entries, room, 0);
	for (unsigned i = 0; i < d->n_ports && n > 0 && r == 0; i++)
		r = take_gids(&d->ports[i], entries, (size_t)n);
	free(entries);
	return n < 0 ? (int)n : r;
}

static int verbs_read_device(struct ibv_device *dev, struct rdma_dev *d)
{
	struct ibv_context *ctx;
	int r = 0;

	errno = 0;
	ctx = ibv_open_device(dev);
	if (!ctx)
		return errno ? -errno : -ENODEV;
	for (unsigned i = 0; i < d->n_ports; i++) {
		int one = query_port(ctx, &d->ports[i]);

		r = r ? r : one;
	}
	if (r == 0)
		r = query_gids(ctx, d);
	ibv_close_device(ctx);
	return r;
}

static struct ibv_device *verbs_device(struct ibv_device **list, int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (strcmp(ibv_get_device_name(list[i]), name) == 0)
			return list[i];
	return NULL;
}

/* True if the device is being removed: uverbs returns EIO then (ib_uverbs_remove_one() in
 * linux/drivers/infiniband/core/uverbs_main.c). A broken device may return EIO, too; it stays
 * stale. */
static bool verbs_is_leaving(int r)
{
	return r == -EIO || err_is_not_found(r);
}

void verbs_read(struct rdma_dev *devs, size_t n, struct err *e)
{
	int n_list = 0, failed = 0;
	struct ibv_device **list = ibv_get_device_list(&n_list);

	if (!list) {
		err_set(e, -errno, "verbs: listing devices: %s", strerror(errno));
		for (size_t i = 0; i < n; i++)
			devs[i].stale = true;
		return;
	}
	for (size_t i = 0; i < n; i++) {
		/* Devices of other namespaces may have the same name. */
		struct ibv_device *dev = devs[i].nsid == NSID_HOST
						 ? verbs_device(list, n_list, devs[i].name)
						 : NULL;
		int r = dev ? verbs_read_device(dev, &devs[i]) : 0;

		devs[i].stale |= r < 0;
		if (r < 0 && !verbs_is_leaving(r) && failed++ == 0)
			err_set(e, r, "verbs: %s: %s", devs[i].name, strerror(-r));
	}
	ibv_free_device_list(list);
}
