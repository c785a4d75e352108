// SPDX-License-Identifier: Apache-2.0
#include "lab_netdev.h"

#include <linux/ethtool.h>

#include "lab_dcb.h"
#include "lab_rdma.h"

/* --- the link --------------------------------------------------------------------------------- */

static void follow_link(struct lab_nic *nic)
{
	bool up = nic->plugged && netif_running(nic->netdev);

	if (up == netif_carrier_ok(nic->netdev))
		return;
	if (up)
		netif_carrier_on(nic->netdev);
	else
		netif_carrier_off(nic->netdev);
	rdma_link_changed(nic);
}

static int open_link(struct net_device *netdev)
{
	follow_link(nic_of(netdev));
	return 0;
}

static int stop_link(struct net_device *netdev)
{
	netif_carrier_off(netdev);
	rdma_link_changed(nic_of(netdev));
	return 0;
}

static int change_carrier(struct net_device *netdev, bool carrier)
{
	nic_of(netdev)->plugged = carrier;
	follow_link(nic_of(netdev));
	return 0;
}

static netdev_tx_t transmit(struct sk_buff *skb, struct net_device *netdev)
{
	dev_kfree_skb(skb);
	return NETDEV_TX_OK;
}

/* The watchdog found the queue stopped for too long. */
static void reset_queue(struct net_device *netdev, unsigned int queue)
{
	netif_tx_wake_queue(netdev_get_tx_queue(netdev, queue));
}

static const struct net_device_ops netdev_ops = {
	.ndo_open = open_link,
	.ndo_stop = stop_link,
	.ndo_change_carrier = change_carrier,
	.ndo_start_xmit = transmit,
	.ndo_tx_timeout = reset_queue,
};

static ssize_t hang_store(struct device *dev, struct device_attribute *attr, const char *text,
			  size_t n)
{
	struct lab_nic *nic = dev_get_drvdata(dev);

	if (!nic->netdev)
		return -ENODEV;
	netif_trans_update(nic->netdev);
	netif_stop_queue(nic->netdev);
	return n;
}

static DEVICE_ATTR_WO(hang);

static struct attribute *attributes[] = {&dev_attr_hang.attr, NULL};
const struct attribute_group netdev_group = {.name = "lab", .attrs = attributes};

/* --- ethtool ---------------------------------------------------------------------------------- */

static int get_link(struct net_device *netdev, struct ethtool_link_ksettings *link)
{
	link->base.speed = nic_of(netdev)->speed;
	link->base.duplex = DUPLEX_FULL;
	link->base.port = PORT_FIBRE;
	return 0;
}

static int set_link(struct net_device *netdev, const struct ethtool_link_ksettings *link)
{
	nic_of(netdev)->speed = link->base.speed;
	return 0;
}

static void get_pause(struct net_device *netdev, struct ethtool_pauseparam *pause)
{
	pause->rx_pause = nic_of(netdev)->pause_receives;
	pause->tx_pause = nic_of(netdev)->pause_sends;
}

static int set_pause(struct net_device *netdev, struct ethtool_pauseparam *pause)
{
	nic_of(netdev)->pause_receives = pause->rx_pause;
	nic_of(netdev)->pause_sends = pause->tx_pause;
	return 0;
}

static int count_strings(struct net_device *netdev, int set)
{
	return set == ETH_SS_STATS ? counters_listed(&nic_of(netdev)->eth) : -EOPNOTSUPP;
}

static void get_strings(struct net_device *netdev, u32 set, u8 *to)
{
	const struct lab_counters *c = &nic_of(netdev)->eth;

	for (int i = 0; set == ETH_SS_STATS && i < c->n; i++)
		if (!c->items[i].gone)
			ethtool_sprintf(&to, "%s", c->items[i].name);
}

static void get_statistics(struct net_device *netdev, struct ethtool_stats *stats, u64 *to)
{
	counters_look(&nic_of(netdev)->eth, to);
}

static const struct ethtool_ops ethtool_ops = {
	.get_link = ethtool_op_get_link,
	.get_link_ksettings = get_link,
	.set_link_ksettings = set_link,
	.get_pauseparam = get_pause,
	.set_pauseparam = set_pause,
	.get_sset_count = count_strings,
	.get_strings = get_strings,
	.get_ethtool_stats = get_statistics,
};

/* --- from make to unmake ---------------------------------------------------------------------- */

int netdev_make(struct lab_nic *nic)
{
	struct net_device *netdev = alloc_etherdev(sizeof(nic));
	int r;

	if (!netdev)
		return -ENOMEM;
	*(struct lab_nic **)netdev_priv(netdev) = nic;
	SET_NETDEV_DEV(netdev, &nic->pci->dev);
	netdev->netdev_ops = &netdev_ops;
	netdev->ethtool_ops = &ethtool_ops;
	netdev->dcbnl_ops = &dcb_ops;
	netdev->max_mtu = 9216;
	netdev->watchdog_timeo = HZ;
	netif_carrier_off(netdev);
	eth_hw_addr_random(netdev);
	nic->netdev = netdev;
	r = register_netdev(netdev);
	if (r < 0) {
		nic->netdev = NULL;
		free_netdev(netdev);
	}
	return r;
}

void netdev_unmake(struct lab_nic *nic)
{
	if (!nic->netdev)
		return;
	unregister_netdev(nic->netdev);
	free_netdev(nic->netdev);
	nic->netdev = NULL;
}
