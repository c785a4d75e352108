/* rtnl_vf_admin.h - settings of a VF that are made through its PF, as messages and as values. Pure:
 * bytes in, values out. The request for what they are is rtnl_get_vfs() in rtnl_vf.h.
 *
 * Wire facts: linux/include/uapi/linux/if_link.h (IFLA_VFINFO_LIST); rtnl_fill_vfinfo(),
 * do_setvfinfo() in linux/net/core/rtnetlink.c. GUIDs are in host order there. */
#pragma once

#include <netlink/msg.h>

#include "attachment.h"

/* Sets the fields of `want` that are among `fields`. A lone VF_MAX_RATE leaves the minimum as it
 * is; VF_MIN_RATE takes want->max_rate along, because the kernel sets both. NULL when out of
 * memory, else the caller frees with nlmsg_free(). */
struct nl_msg *rtnl_set_vf(int pf_ifindex, int vf, const struct vf_settings *want, unsigned fields);

/* What an RTM_NEWLINK about a PF tells of one of its VFs. Fields that its driver does not tell, and
 * that are of the wrong size or form, are not in ret->fields. -ENODEV: no such VF in it, -EPROTO:
 * another type of message; *ret is untouched then. A list of more than 64 KiB, whose length does
 * not fit its attribute, is read to its end. */
int rtnl_decode_vf(const struct nlmsghdr *, int vf, struct vf_settings *ret);
