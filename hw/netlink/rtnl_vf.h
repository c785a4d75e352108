/* rtnl_vf.h - what a PF's link message tells about its VFs. Pure.
 *
 * Asked for one PF at a time, because the kernel then asks the PF's driver about each VF while it
 * holds the RTNL. Wire facts: linux/include/uapi/linux/if_link.h (IFLA_VFINFO_LIST),
 * rtnl_fill_vf() in linux/net/core/rtnetlink.c. */
#pragma once

#include <netlink/msg.h>

#include "model.h"

/* NULL when out of memory, else the caller frees with nlmsg_free(). */
struct nl_msg *rtnl_get_vfs(int ifindex);

/* settings: a digest of all that is set for the VF through its PF, never 0. */
typedef int rtnl_vf_fn(int vf, enum vf_link, uint64_t settings, void *arg);

/* Calls fn for each VF whose link state is told. A negative return of fn ends the walk and is
 * returned; otherwise the number of VFs. -EPROTO: another type of message. A list of more than
 * 64 KiB, which some 200 VFs make, does not fit an attribute's length: older kernels send it all
 * the same, and only its start can be read. */
int rtnl_decode_vfs(const struct nlmsghdr *, rtnl_vf_fn *fn, void *arg);
