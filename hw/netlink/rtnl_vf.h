/* SPDX-License-Identifier: Apache-2.0 */
/* rtnl_vf.h - the state and settings of VFs in a PF's link message. Pure.
 *
 * Requested for one PF at a time, because the kernel queries the PF's driver about each VF while it
 * holds the RTNL. Wire facts: linux/include/uapi/linux/if_link.h (IFLA_VFINFO_LIST),
 * rtnl_fill_vf() in linux/net/core/rtnetlink.c. */
#pragma once

#include <netlink/msg.h>

#include "attachment.h"
#include "model.h"

/* Requests a PF's link with its VFs. NULL when out of memory, else the caller frees with
 * nlmsg_free(). */
struct nl_msg *rtnl_get_vfs(int ifindex);

/* settings: a digest of all settings of the VF made through its PF, never 0. */
typedef int rtnl_vf_fn(int vf, enum vf_link, uint64_t settings, void *arg);

/* Calls fn for each VF whose link state is reported. A negative return of fn stops the iteration
 * and is returned; otherwise the number of VFs. -EPROTO: another type of message. A list of more
 * than 64 KiB (about 200 VFs) exceeds an attribute's length: older kernels send it anyway, and only
 * its start can be read. */
int rtnl_decode_vfs(const struct nlmsghdr *, rtnl_vf_fn *fn, void *arg);

/* --- a VF's settings -------------------------------------------------------------------------- */

/* Settings of a VF that are made through its PF. rtnl_get_vfs() requests the current ones.
 *
 * Wire facts: linux/include/uapi/linux/if_link.h (IFLA_VFINFO_LIST); rtnl_fill_vfinfo(),
 * do_setvfinfo() in linux/net/core/rtnetlink.c. GUIDs are in host order there. */

/* Sets the settings of `want` that are in `fields`. VF_MAX_RATE alone keeps the minimum;
 * VF_MIN_RATE also sends want->max_rate, because the kernel sets both. NULL when out of memory,
 * else the caller frees with nlmsg_free(). */
struct nl_msg *rtnl_set_vf(int pf_ifindex, int vf, const struct vf_settings *want, unsigned fields);

/* Decodes the settings of one VF from an RTM_NEWLINK of its PF. Settings that the driver does not
 * report, or that are malformed, are not in ret->fields. -ENODEV: no such VF in it, -EPROTO:
 * another type of message; *ret is untouched then. Reads a list of more than 64 KiB, whose length
 * does not fit its attribute, to its end. */
int rtnl_decode_vf(const struct nlmsghdr *, int vf, struct vf_settings *ret);
