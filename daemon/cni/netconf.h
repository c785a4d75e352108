/* SPDX-License-Identifier: Apache-2.0 */
/* netconf.h - converts a CNI network configuration, with the keys of sriov-cni, ib-sriov-cni,
 * rdma-cni, host-device and our own, into a plan. Pure.
 *
 * Keys are translated to our spelling and then read by the table in network_keys.h, like those of
 * pools, annotations and admin requests. If a setting occurs several times, the last one is used,
 * in this order: configuration, MAC and GUID in CNI_ARGS, args.cni, runtimeConfig.
 *
 * Keys by purpose:
 * - device: the first of deviceID, pciBusID, runtimeConfig.deviceID, device, hwaddr, kernelpath.
 * - settings: vlan, vlanQoS, vlanProto, mac, spoofchk, trust, link_state, min_tx_rate, max_tx_rate,
 *   guid; also every key of an admin request, and softRoce.
 * - bandwidth of runtimeConfig: egressRate sets maxTxRate. An ingressRate is rejected (code 2),
 *   because a VF cannot limit what it receives.
 * - ipam: the daemon runs the plugin (daemon/attach/ipam), and passes runtimeConfig.ips and
 *   ipRanges, args.cni.ips, and IP and GATEWAY of CNI_ARGS to it. Without ipam, runtimeConfig.ips
 *   are the interface's addresses.
 * - rdmaIsolation, and type rdma: the node must be in exclusive RDMA mode, in which an RDMA device
 *   follows its netdev; in shared mode every namespace sees the device (code 7).
 *
 * pkey and vfioPciMode are accepted and have no effect: ib-kubernetes evaluates pkey itself, and
 * the device's driver replaces vfioPciMode. Keys of other plugins are ignored. */
#pragma once

#include "cni.h"

enum netconf_by { NETCONF_BY_NAME, NETCONF_BY_ADDRESS, NETCONF_BY_PATH };

struct netconf {
	/* The type is "rdma". rdma-cni runs after the plugin that attached the device; if that
	 * plugin was rocelet, it has also moved the RDMA device. */
	bool only_rdma;
	bool rdma_isolation; /* the RDMA device must be in the pod's namespace alone */
	char device[256];    /* "" = no device is named */
	enum netconf_by by;
	struct net_plan plan; /* including ifname */
};

/* Converts the configuration. -EINVAL with code 2 or 7 and a message that names the key. */
int netconf_read(struct netconf *ret, const struct cni_request *, struct cni_error *);
/* Returns the type in "ipam", "" = none. Borrowed. */
const char *netconf_ipam_type(const struct cni_request *);
