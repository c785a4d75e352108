// SPDX-License-Identifier: Apache-2.0
#include "lab_rdma.h"

#include <net/addrconf.h>

struct lab_rdma {
	struct ib_device ib; /* the first: freed with it */
	struct lab_nic *nic;
	struct rdma_stat_desc descs[COUNTERS_MAX];
};

static struct lab_nic *nic_of_ib(struct ib_device *ib)
{
	return container_of(ib, struct lab_rdma, ib)->nic;
}

/* --- attributes ------------------------------------------------------------------------------ */

static int query_device(struct ib_device *ib, struct ib_device_attr *attr, struct ib_udata *udata)
{
	*attr = (struct ib_device_attr){.max_pkeys = 1};
	return 0;
}

/* The speed as drivers of such NICs report it: number and speed of lanes. */
static void fill_speed(u32 mbps, struct ib_port_attr *attr)
{
	attr->active_width = mbps > 50000 ? IB_WIDTH_4X : IB_WIDTH_1X;
	switch (attr->active_width == IB_WIDTH_4X ? mbps / 4 : mbps) {
	case 100000:
		attr->active_speed = IB_SPEED_NDR;
		break;
	case 50000:
		attr->active_speed = IB_SPEED_HDR;
		break;
	default:
		attr->active_speed = IB_SPEED_EDR;
	}
}

static int query_port(struct ib_device *ib, u32 port, struct ib_port_attr *attr)
{
	const struct lab_nic *nic = nic_of_ib(ib);
	bool up = netif_carrier_ok(nic->netdev);

	attr->state = up ? IB_PORT_ACTIVE : IB_PORT_DOWN;
	attr->phys_state = up ? IB_PORT_PHYS_STATE_LINK_UP : IB_PORT_PHYS_STATE_DISABLED;
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = IB_MTU_4096;
	attr->gid_tbl_len = 16;
	attr->pkey_tbl_len = 1;
	attr->max_msg_sz = 1 << 31;
	fill_speed(nic->speed, attr);
	return 0;
}

static int get_immutable(struct ib_device *ib, u32 port, struct ib_port_immutable *immutable)
{
	immutable->pkey_tbl_len = 1;
	immutable->gid_tbl_len = 16;
	/* Neither MADs nor connections: those need queue pairs. */
	immutable->core_cap_flags = RDMA_CORE_CAP_PROT_ROCE | RDMA_CORE_CAP_PROT_ROCE_UDP_ENCAP;
	return 0;
}

static enum rdma_link_layer get_link_layer(struct ib_device *ib, u32 port)
{
	return IB_LINK_LAYER_ETHERNET;
}

static int query_pkey(struct ib_device *ib, u32 port, u16 index, u16 *pkey)
{
	*pkey = 0xffff; /* the default one, full member */
	return 0;
}

/* With these the core keeps the port's GID table. */
static int change_gid(const struct ib_gid_attr *attr, void **context)
{
	return 0;
}

/* The core moves a device to another network namespace only if it can disconnect its processes. No
 * process can open this one. */
static void cut_off(struct ib_ucontext *context)
{
}

/* --- counters --------------------------------------------------------------------------------- */

static struct rdma_hw_stats *alloc_stats(struct ib_device *ib, u32 port)
{
	struct lab_rdma *rdma = container_of(ib, struct lab_rdma, ib);
	const struct lab_counters *c = &rdma->nic->hw;

	for (int i = 0; i < c->n; i++)
		rdma->descs[i].name = c->items[i].name;
	return rdma_alloc_hw_stats_struct(rdma->descs, c->n, RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

static int get_stats(struct ib_device *ib, struct rdma_hw_stats *stats, u32 port, int index)
{
	struct lab_nic *nic = nic_of_ib(ib);

	int r = counters_look(&nic->hw, stats->value);

	script_beat(nic);
	return r < 0 ? r : nic->hw.n;
}

/* --- from make to unmake ---------------------------------------------------------------------- */

static const struct ib_device_ops ops = {
	.owner = THIS_MODULE,
	/* The user-space drivers of these names could not open it. */
	.driver_id = RDMA_DRIVER_UNKNOWN,
	.query_device = query_device,
	.query_port = query_port,
	.get_port_immutable = get_immutable,
	.get_link_layer = get_link_layer,
	.query_pkey = query_pkey,
	.add_gid = change_gid,
	.del_gid = change_gid,
	.disassociate_ucontext = cut_off,
};

/* The core does not accept an empty list. */
static const struct ib_device_ops counter_ops = {
	.alloc_hw_port_stats = alloc_stats,
	.get_hw_stats = get_stats,
};

static int register_device(struct lab_rdma *rdma, const char *name)
{
	struct ib_device *ib = &rdma->ib;
	int r;

	ib->node_type = RDMA_NODE_IB_CA;
	ib->phys_port_cnt = 1;
	ib->num_comp_vectors = 1;
	ib->dev.parent = &rdma->nic->pci->dev;
	addrconf_addr_eui48((u8 *)&ib->node_guid, rdma->nic->netdev->dev_addr);
	ib_set_device_ops(ib, &ops);
	if (rdma->nic->hw.n > 0)
		ib_set_device_ops(ib, &counter_ops);
	r = ib_device_set_netdev(ib, rdma->nic->netdev, 1);
	return r < 0 ? r : ib_register_device(ib, name, NULL);
}

int rdma_make(struct lab_nic *nic, const char *name)
{
	struct lab_rdma *rdma = ib_alloc_device(lab_rdma, ib);
	int r;

	if (!rdma)
		return -ENOMEM;
	rdma->nic = nic;
	r = register_device(rdma, name);
	if (r < 0)
		ib_dealloc_device(&rdma->ib);
	else
		nic->rdma = rdma;
	return r;
}

void rdma_unmake(struct lab_nic *nic)
{
	struct lab_rdma *rdma = nic->rdma;

	if (!rdma)
		return;
	nic->rdma = NULL;
	ib_unregister_device(&rdma->ib);
	ib_dealloc_device(&rdma->ib);
}

void rdma_link_changed(struct lab_nic *nic)
{
	struct ib_event event = {.element.port_num = 1};

	if (!nic->rdma)
		return;
	event.device = &nic->rdma->ib;
	event.event = netif_carrier_ok(nic->netdev) ? IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR;
	ib_dispatch_event(&event);
}
