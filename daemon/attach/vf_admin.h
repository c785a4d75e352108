/* vf_admin.h - the settings of a VF that its PF keeps. Internal to attach/. */
#pragma once

#include "work.h"

#define VF_GUIDS (VF_NODE_GUID | VF_PORT_GUID)

/* What the plan wants of them; `fields` 0: nothing. */
struct vf_settings vf_admin_wanted(const struct attach_record *);
/* As they are. -ENODEV: the PF, or the VF on it, is gone. */
int vf_admin_read(struct work *, struct vf_settings *ret);
/* Sets them. GUIDs: a driver takes new ones only when it takes the VF, so it is taken from it and
 * given back, and its netdev waited for. */
int vf_admin_write(struct work *, const struct vf_settings *);
