/* SPDX-License-Identifier: Apache-2.0 */
/* function_files.h - the sysfs files of one function. Internal to attach/.
 *
 * Every call rejects (-EINVAL) what is not a bus name, because the name becomes part of a path. */
#pragma once

#include "hw.h"

/* Is it on its bus? */
bool function_is_there(const struct hw *, const char *function);
/* The inode of its folder; 0: the function does not exist. */
uint64_t function_folder(const struct hw *, const char *function);
/* Does its folder have that entry? "net" and "infiniband" exist as long as it has such a device, in
 * any namespace (linux/drivers/base/core.c, class_dir). */
bool function_has(const struct hw *, const char *function, const char *entry);
/* The ifindex of its first netdev, if that is in the host's namespace; 0: it is not, or unknown. */
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
/* PCI vendor and device, or -errno. */
int function_ids(const struct hw *, const char *function, uint16_t *ret_vendor,
		 uint16_t *ret_device);
/* The name of its RDMA device, if visible from here; "" = none. */
int function_rdma(const struct hw *, const char *function, char ret[RDMA_NAME_SIZE]);
/* Unbinds its driver, or binds the matching one. Success if that is done already. Returns when the
 * kernel has finished. */
int function_unbind(const struct hw *, const char *function, struct err *);
int function_bind(const struct hw *, const char *function, struct err *);
