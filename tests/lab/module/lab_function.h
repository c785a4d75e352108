/* SPDX-License-Identifier: Apache-2.0 */
/* lab_function.h - a NIC for the lab that has what no emulated one has: RDMA counters, ethtool
 * statistics, DCB settings, pause, a devlink health reporter and links that can degrade. It carries
 * no packets.
 *
 * It sits on functions of an emulated NIC under the names of two drivers, mlx5_core and bnxt_en,
 * without knowing their counters: a player writes the files of the function's folder `lab` in
 * sysfs.
 *
 *   names   lines "hw NAME" or "eth NAME": the counters it has; before `device`
 *   device  a name: creates a netdev and an RDMA device with one port
 *   script  what its counters do in one step (lab_script.h); appended to those before
 *   beat    1: each read of this function's RDMA counters is a step of all functions
 *   step    the number of steps so far; can be polled
 *   fault   a text: a report of the health reporter with it
 *   hang    anything: the netdev's transmit queue stops, until the kernel requests its reset
 *   link    the PCIe link: "WIDTH MAX_WIDTH SPEED MAX_SPEED", speeds as in LNKSTA
 *   gone    1: the function does not answer on the bus
 *   peer_pfc  a mask of the priorities that are lossless at the switch port */
#pragma once

#include <linux/etherdevice.h>
#include <linux/pci.h>
#include <net/dcbnl.h>
#include <net/devlink.h>

#include "lab_counters.h"
#include "lab_script.h"

struct lab_rdma;

struct lab_nic {
	struct pci_dev *pci;
	struct net_device *netdev; /* NULL: not created yet */
	struct lab_rdma *rdma;	   /* the same */
	struct devlink_health_reporter *reporter;

	/* Settings of the netdev. */
	struct ieee_ets ets;
	struct ieee_pfc pfc, peer_pfc;
	bool has_peer;
	u32 speed; /* Mbit/s */
	bool pause_receives, pause_sends;

	struct lab_counters hw, eth;
	struct lab_script script;
	bool beats;
	bool plugged; /* the link's other end is connected */
};

static inline struct lab_nic *nic_of(const struct net_device *netdev)
{
	return *(struct lab_nic **)netdev_priv(netdev);
}

extern const struct attribute_group counters_group, health_group, config_space_group, netdev_group;
