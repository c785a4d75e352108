/* SPDX-License-Identifier: Apache-2.0 */
/* world_trouble.h - disturbs the node of attach_world.h: residual state of pods, administrators,
 * lost files, changed paths, reboots, a restarted kubelet, a second daemon. Call world_show_*()
 * afterwards to show the change to the engine. */
#pragma once

#include "attach_world.h"

/* While no daemon runs: deletes the record of an attached VF. The administrator's settings are lost
 * with it; the VF must return with the driver's defaults. */
void world_lose_record(struct world *, unsigned i);
/* While a daemon runs: removes the journal's folder with all records. False: not done, because a
 * pod has removed the alias of its device, and if the daemon died now, nothing would identify that
 * device. */
bool world_remove_journal(struct world *);
/* Every attached device has a record. */
bool world_is_on_record(struct world *);
/* The device's pod removes our alias; false: no pod has it, or it has no record, so only the alias
 * identifies it. */
bool world_unmark(struct world *, unsigned i);
/* The device's pod renames its netdev to the name of another VF or of the PF; false: no pod has
 * it. */
bool world_rename(struct world *, unsigned i, const char *name);
/* The netdev gets a new index, as after rebinding its driver or moving it. */
void world_renumber(struct world *, unsigned i);
/* Reboots the node and starts a daemon: there are no sandboxes, and devices have their driver's
 * defaults and the administrator's VLAN. */
void world_reboot(struct world *, uint16_t vlan);
/* Removes the path of a living namespace, or restores it. blind: searches cannot read all
 * processes. */
void world_move(struct world *, uint64_t ns, bool moved, bool blind);
/* The device's pod leaves residual state on its netdev, and, if upper, an interface on top of it;
 * false: no pod has it. */
bool world_leave(struct world *, unsigned i, uint8_t traces, bool upper);
/* Starts a second daemon with the state folder of the running one. */
void world_start_another(struct world *);
/* An administrator moves the netdev unchanged from its pod to the host. */
void world_take_out(struct world *, unsigned i);
/* An administrator sets the VLAN of an unused VF; false: in use. */
bool world_set_up(struct world *, unsigned i, uint16_t vlan);
/* Shows the list of a restarted kubelet that lists only some of its pods yet. */
void world_show_young(struct world *, unsigned known_vfs);

/* True if the daemon offers the VF as free. */
bool world_is_offered(const struct world *, unsigned i);
/* True if the VF has exactly the administrator's settings. */
bool world_is_unused(struct world *, unsigned i);
