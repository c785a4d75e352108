/* rtnl_vf.h - what a PF's link message tells about its VFs. Pure.
 *
 * Asked for one PF at a time, because the kernel then asks the PF's driver about each VF while it
 * holds the RTNL. Wire facts: linux/include/uapi/linux/if_link.h (IFLA_VFINFO_LIST),
 * rtnl_fill_vf() in linux/net/core/rtnetlink.c. */
#pragma once

#include <netlink/msg.h>

#include "attachment.h"
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

/* --- a VF's settings -------------------------------------------------------------------------- */

/* Settings of a VF that are made through its PF. The request for what they are is rtnl_get_vfs().
 *
 * Wire facts: linux/include/uapi/linux/if_link.h (IFLA_VFINFO_LIST); rtnl_fill_vfinfo(),
 * do_setvfinfo() in linux/net/core/rtnetlink.c. GUIDs are in host order there. */

/* Sets the fields of `want` that are among `fields`. A lone VF_MAX_RATE leaves the minimum as it
 * is; VF_MIN_RATE takes want->max_rate along, because the kernel sets both. NULL when out of
 * memory, else the caller frees with nlmsg_free(). */
struct nl_msg *rtnl_set_vf(int pf_ifindex, int vf, const struct vf_settings *want, unsigned fields);

/* What an RTM_NEWLINK about a PF tells of one of its VFs. Fields that its driver does not tell, and
 * that are of the wrong size or form, are not in ret->fields. -ENODEV: no such VF in it, -EPROTO:
 * another type of message; *ret is untouched then. A list of more than 64 KiB, whose length does
 * not fit its attribute, is read to its end. */
int rtnl_decode_vf(const struct nlmsghdr *, int vf, struct vf_settings *ret);
