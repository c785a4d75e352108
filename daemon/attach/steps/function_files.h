/* SPDX-License-Identifier: Apache-2.0 */
/* function_files.h - the sysfs files of one function. Internal to attach/.
 *
 * Every call rejects (-EINVAL) an invalid bus name, because the name becomes part of a path. */
#pragma once

#include "hw.h"

/* True if the function is on its bus. */
bool function_is_on_bus(const struct hw *, const char *function);
/* Returns the inode of the function's folder; 0: it does not exist. */
uint64_t function_folder(const struct hw *, const char *function);
/* Does the function's folder have that entry? "net" and "infiniband" exist as long as the function
 * has such a device, in any namespace (linux/drivers/base/core.c, class_dir). */
bool function_has(const struct hw *, const char *function, const char *entry);
/* Returns the ifindex of the function's first netdev in the host's namespace; 0: there is none, or
 * it is unknown. */
int function_ifindex(const struct hw *, const char *function);
/* Returns the number of the function's devices of one kind ("net", "infiniband"); negative errno:
 * unknown. */
int function_count(const struct hw *, const char *function, const char *entry);
/* Returns the number of the function's netdevs in the host, without representors of its VFs and SFs
 * ("pf0vf3"). */
int function_own_netdevs(const struct hw *, const char *function);
/* Finds the function's PF and its VF number there; "" and 0: it has no PF. */
int function_pf(const struct hw *, const char *function, char ret_pf[DEV_ID_SIZE], int *ret_vf);
/* True if the function is VF number vf of pf. Faster than function_pf(). */
bool function_is_vf_of(const struct hw *, const char *function, const char *pf, int vf);
/* Reads the PCI IDs of vendor and device. Returns 0 or -errno. */
int function_ids(const struct hw *, const char *function, uint16_t *ret_vendor,
		 uint16_t *ret_device);
/* Finds the name of the function's RDMA device, if it is visible from here; "" = none. */
int function_rdma(const struct hw *, const char *function, char ret[RDMA_NAME_SIZE]);
/* Unbinds the function's driver, or binds the matching one, and waits until the kernel has
 * finished. Success if that is done already. */
int function_unbind(const struct hw *, const char *function, struct err *);
int function_bind(const struct hw *, const char *function, struct err *);
