/* function_files.h - what sysfs knows and does about one function. Internal to attach/.
 *
 * Every call refuses what is no bus name with -EINVAL: it becomes part of a path. */
#pragma once

#include "hw.h"

/* Is it on its bus? */
bool function_is_there(const struct hw *, const char *function);
/* The inode of its folder; 0: it is not there. */
uint64_t function_folder(const struct hw *, const char *function);
/* Its folder has that entry: "net", "infiniband" are there as long as it has such a device, in
 * whichever namespace (linux/drivers/base/core.c, class_dir). */
bool function_has(const struct hw *, const char *function, const char *entry);
/* The index of its first netdev if that is in the host's namespace; 0: it is not, or nobody can
 * tell. */
int function_ifindex(const struct hw *, const char *function);
/* How many such devices it has, negative errno: nobody can tell. */
int function_count(const struct hw *, const char *function, const char *entry);
/* Its netdevs in the host, but for representors of its VFs and SFs ("pf0vf3"). */
int function_own_netdevs(const struct hw *, const char *function);
/* Its PF's bus name and its own number there; "" and 0: it has no PF. */
int function_pf(const struct hw *, const char *function, char ret_pf[DEV_ID_SIZE], int *ret_vf);
/* Is it VF number vf of pf? Quicker than asking for both. */
bool function_is_vf_of(const struct hw *, const char *function, const char *pf, int vf);
/* PCI vendor and device, or -errno. */
int function_ids(const struct hw *, const char *function, uint16_t *ret_vendor,
		 uint16_t *ret_device);
/* Its RDMA device's name, as far as it can be seen from here; "" = none. */
int function_rdma(const struct hw *, const char *function, char ret[RDMA_NAME_SIZE]);
/* Its driver leaves it, or the one that fits takes it. Either is fine when it is so already.
 * The kernel answers when it is done. */
int function_unbind(const struct hw *, const char *function, struct err *);
int function_bind(const struct hw *, const char *function, struct err *);
