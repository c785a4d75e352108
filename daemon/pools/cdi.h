/* cdi.h - names of the Container Device Interface: kinds "vendor/class" and devices
 * "vendor/class=name". Pure. Rules of names: the specification's "Kind" and "CDI Devices". */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "pool_config.h"

/* A kind, '=', a pool's name, '-' and a bus name. */
#define CDI_NAME_SIZE (RESOURCE_NAME_SIZE + 64 + DEV_ID_SIZE)

/* "intel.com/net-pci" as sriov-network-device-plugin has it ("net-sf", "net-accel" by type);
 * shared pools: "rdma/net-rdma". False: the pool has no CDI, or its prefix is no vendor name (they
 * start with a letter, DNS names may start with a digit). */
bool cdi_kind(const struct pool *, char ret[RESOURCE_NAME_SIZE]);
/* The device's name within its kind: the bus name, after the pool's name where other pools may have
 * the same function. False: CDI does not allow such a name. */
bool cdi_device(const struct pool *, const char *function, char ret[CDI_NAME_SIZE]);
