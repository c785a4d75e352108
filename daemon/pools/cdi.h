/* SPDX-License-Identifier: Apache-2.0 */
/* cdi.h - names of the Container Device Interface: kinds "vendor/class" and devices
 * "vendor/class=name". Pure. Naming rules: "Kind" and "CDI Devices" in the specification. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "pool_config.h"

/* A kind, '=', a pool's name, '-' and a bus name. */
#define CDI_NAME_SIZE (RESOURCE_NAME_SIZE + 64 + DEV_ID_SIZE)

/* "intel.com/net-pci", as in sriov-network-device-plugin ("net-sf", "net-accel" by type); shared
 * pools: "rdma/net-rdma". False: the pool does not use CDI, or its prefix is not a valid vendor
 * name (these start with a letter, while DNS names may start with a digit). */
bool cdi_kind(const struct pool *, char ret[RESOURCE_NAME_SIZE]);
/* The device's name within its kind: the bus name, with the pool's name in front if other pools may
 * have the same function. False: not a valid CDI name. */
bool cdi_device(const struct pool *, const char *function, char ret[CDI_NAME_SIZE]);
