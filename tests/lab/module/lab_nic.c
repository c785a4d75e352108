/* lab_nic.c - a NIC for the lab that has what no emulated one has: DCB settings and a devlink
 * health reporter. It carries no packets.
 *
 * labnic0 takes what `dcb` sets. Each write to /sys/devices/platform/lab_nic/fault is a report of
 * its reporter "fw" with that text; the first is recovered from, a second one too soon is not. */
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <net/dcbnl.h>
#include <net/devlink.h>

#define GRACE_MS 3600000

struct lab_nic {
	struct platform_device *platform;
	struct net_device *netdev;
	struct devlink_health_reporter *reporter;
	struct ieee_ets ets;
	struct ieee_pfc pfc;
};

static struct devlink *devlink;

static struct lab_nic *nic_of(const struct net_device *netdev)
{
	return *(struct lab_nic **)netdev_priv(netdev);
}

static int get_ets(struct net_device *netdev, struct ieee_ets *ets)
{
	*ets = nic_of(netdev)->ets;
	ets->ets_cap = IEEE_8021QAZ_MAX_TCS;
	return 0;
}

static int set_ets(struct net_device *netdev, struct ieee_ets *ets)
{
	nic_of(netdev)->ets = *ets;
	return 0;
}

static int get_pfc(struct net_device *netdev, struct ieee_pfc *pfc)
{
	*pfc = nic_of(netdev)->pfc;
	pfc->pfc_cap = IEEE_8021QAZ_MAX_TCS;
	return 0;
}

static int set_pfc(struct net_device *netdev, struct ieee_pfc *pfc)
{
	nic_of(netdev)->pfc = *pfc;
	return 0;
}

static u8 get_dcbx(struct net_device *netdev)
{
	return DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE;
}

static const struct dcbnl_rtnl_ops dcb_ops = {
	.ieee_getets = get_ets,
	.ieee_setets = set_ets,
	.ieee_getpfc = get_pfc,
	.ieee_setpfc = set_pfc,
	.ieee_setapp = dcb_ieee_setapp,
	.ieee_delapp = dcb_ieee_delapp,
	.getdcbx = get_dcbx,
};

static netdev_tx_t transmit(struct sk_buff *skb, struct net_device *netdev)
{
	dev_kfree_skb(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops netdev_ops = {.ndo_start_xmit = transmit};

static int recover(struct devlink_health_reporter *reporter, void *context,
		   struct netlink_ext_ack *extack)
{
	return 0;
}

static const struct devlink_health_reporter_ops reporter_ops = {.name = "fw", .recover = recover};
static const struct devlink_ops devlink_ops;

static ssize_t fault_store(struct device *dev, struct device_attribute *attr, const char *text,
			   size_t n)
{
	struct lab_nic *nic = devlink_priv(devlink);
	char message[64];

	strscpy(message, text, sizeof(message));
	strim(message);
	devlink_health_report(nic->reporter, message, NULL);
	return n;
}

static DEVICE_ATTR_WO(fault);

static int make_netdev(struct lab_nic *nic)
{
	int r;

	nic->netdev = alloc_etherdev(sizeof(nic));
	if (!nic->netdev)
		return -ENOMEM;
	*(struct lab_nic **)netdev_priv(nic->netdev) = nic;
	strscpy(nic->netdev->name, "labnic0", IFNAMSIZ);
	SET_NETDEV_DEV(nic->netdev, &nic->platform->dev);
	nic->netdev->netdev_ops = &netdev_ops;
	nic->netdev->dcbnl_ops = &dcb_ops;
	eth_hw_addr_random(nic->netdev);
	r = register_netdev(nic->netdev);
	if (r < 0)
		free_netdev(nic->netdev);
	return r;
}

static int make_reporter(struct lab_nic *nic)
{
	nic->reporter = devlink_health_reporter_create(devlink, &reporter_ops, GRACE_MS, nic);
	return PTR_ERR_OR_ZERO(nic->reporter);
}

static int __init lab_nic_init(void)
{
	struct platform_device *platform = platform_device_register_simple("lab_nic", -1, NULL, 0);
	struct lab_nic *nic;
	int r;

	if (IS_ERR(platform))
		return PTR_ERR(platform);
	devlink = devlink_alloc(&devlink_ops, sizeof(*nic), &platform->dev);
	if (!devlink) {
		platform_device_unregister(platform);
		return -ENOMEM;
	}
	nic = devlink_priv(devlink);
	nic->platform = platform;
	r = make_netdev(nic);
	if (r < 0)
		goto no_netdev;
	r = make_reporter(nic);
	if (r < 0)
		goto no_reporter;
	r = device_create_file(&platform->dev, &dev_attr_fault);
	if (r < 0)
		goto no_file;
	devlink_register(devlink);
	return 0;
no_file:
	devlink_health_reporter_destroy(nic->reporter);
no_reporter:
	unregister_netdev(nic->netdev);
	free_netdev(nic->netdev);
no_netdev:
	devlink_free(devlink);
	platform_device_unregister(platform);
	return r;
}

static void __exit lab_nic_exit(void)
{
	struct lab_nic *nic = devlink_priv(devlink);
	struct platform_device *platform = nic->platform;

	devlink_unregister(devlink);
	device_remove_file(&platform->dev, &dev_attr_fault);
	devlink_health_reporter_destroy(nic->reporter);
	unregister_netdev(nic->netdev);
	free_netdev(nic->netdev);
	devlink_free(devlink);
	platform_device_unregister(platform);
}

module_init(lab_nic_init);
module_exit(lab_nic_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A NIC with DCB settings and a devlink health reporter, for rocelet's lab");
