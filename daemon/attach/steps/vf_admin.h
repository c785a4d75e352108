/* vf_admin.h - the settings of a VF that its PF keeps. Internal to attach/. */
#pragma once

#include "step_run.h"

#define VF_GUIDS (VF_NODE_GUID | VF_PORT_GUID)

/* What the plan wants of them; `fields` 0: nothing. */
struct vf_settings vf_admin_wanted(const struct attach_record *);
/* What nobody else is to change while the device is in its pod: that, and where the plan says
 * nothing of what keeps pods apart, VLAN, spoofchk and trust, as it was before. The MAC may be the
 * pod's own choice. */
struct vf_settings vf_admin_kept(const struct attach_record *);
/* Looks for the PF in the host, and whether it is the one that it was (-ESTALE). -ENODEV: it is
 * gone, or somewhere else. */
int vf_admin_find_pf(struct step_run *);
/* As they are. -ENODEV: the PF, or the VF on it, is gone. */
int vf_admin_read(struct step_run *, struct vf_settings *ret);
/* Which of them (enum vf_field) are not as they were. Where the PF had set no MAC, one that was not
 * set for the pod is none of ours: before Linux 6.12 igb shows what the VF's driver has told it,
 * and "none" there would take the VF's filter away until its driver tells it again. Nor is the VF's
 * own, told after ours was taken back. Pure. */
unsigned vf_admin_changed(const struct attach_record *, const struct vf_settings *is);
/* Sets them. GUIDs: a driver takes new ones only when it takes the VF, so it is taken from it and
 * given back, and its netdev waited for. */
int vf_admin_write(struct step_run *, const struct vf_settings *);
/* After its driver has taken the function anew. */
int vf_admin_wait_for_netdev(struct step_run *);
