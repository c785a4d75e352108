/* SPDX-License-Identifier: Apache-2.0 */
/* vf_admin.h - the settings of a VF that its PF keeps. Internal to attach/. */
#pragma once

#include "step_run.h"

#define VF_GUIDS (VF_NODE_GUID | VF_PORT_GUID)

/* The settings that the plan requires; `fields` 0: none. */
struct vf_settings vf_admin_planned(const struct attach_record *);
/* The settings that must not change while the device is in its pod: the plan's settings, and
 * otherwise the original VLAN, spoofchk and trust, which isolate pods. The MAC may be the pod's own
 * choice. */
struct vf_settings vf_admin_kept(const struct attach_record *);
/* Finds the PF in the host. -ESTALE: it is not the original one. -ENODEV: it was removed, or is in
 * another namespace. */
int vf_admin_find_pf(struct step_run *);
/* Reads the current settings. -ENODEV: the PF, or the VF on it, was removed. */
int vf_admin_read(struct step_run *, struct vf_settings *ret);
/* Returns the settings (enum vf_field) that differ from the original ones. If the PF had set no
 * MAC, a MAC that was not set for the pod does not count: before Linux 6.12, igb reports the MAC
 * that the VF's driver has sent, and clearing it would remove the VF's filter until the driver
 * sends it again. The VF's own MAC does not count either; the driver sends it after ours was
 * cleared. Pure. */
unsigned vf_admin_changed(const struct attach_record *, const struct vf_settings *is);
/* Writes the settings. A driver reads new GUIDs only when it is bound, so for GUIDs it is unbound
 * and bound again, and this waits for the netdev. */
int vf_admin_write(struct step_run *, const struct vf_settings *);
/* Waits for the netdev after the driver was bound again. */
int vf_admin_wait_for_netdev(struct step_run *);
