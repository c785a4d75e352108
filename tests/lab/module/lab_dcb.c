// SPDX-License-Identifier: Apache-2.0
#include "lab_dcb.h"

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

static int get_peer_pfc(struct net_device *netdev, struct ieee_pfc *pfc)
{
	if (!nic_of(netdev)->has_peer)
		return -EOPNOTSUPP;
	*pfc = nic_of(netdev)->peer_pfc;
	return 0;
}

static u8 get_dcbx(struct net_device *netdev)
{
	return DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE;
}

const struct dcbnl_rtnl_ops dcb_ops = {
	.ieee_getets = get_ets,
	.ieee_setets = set_ets,
	.ieee_getpfc = get_pfc,
	.ieee_setpfc = set_pfc,
	.ieee_peer_getpfc = get_peer_pfc,
	.ieee_setapp = dcb_ieee_setapp,
	.ieee_delapp = dcb_ieee_delapp,
	.getdcbx = get_dcbx,
};

static ssize_t peer_pfc_store(struct device *dev, struct device_attribute *attr, const char *text,
			      size_t n)
{
	struct lab_nic *nic = dev_get_drvdata(dev);
	int r = kstrtou8(text, 0, &nic->peer_pfc.pfc_en);

	if (r < 0)
		return r;
	nic->peer_pfc.pfc_cap = IEEE_8021QAZ_MAX_TCS;
	nic->has_peer = true;
	return n;
}

static DEVICE_ATTR_WO(peer_pfc);

static struct attribute *attributes[] = {&dev_attr_peer_pfc.attr, NULL};
const struct attribute_group dcb_group = {.name = "lab", .attrs = attributes};
