/* SPDX-License-Identifier: Apache-2.0 */
/* identity.h - checks whether a device is still the one that the record describes, in this boot.
 *
 * A reboot undoes all changes to a device, and an administrator may have set it up again since. So
 * a record of another boot is used only to release addresses and to report the owner, and nothing
 * is written to the function. Each boot and each change of the bus may assign bus names again. So
 * within one boot, too, nothing is written to another device, or to a recreated one. Internal to
 * attach/. */
#pragma once

#include "step_run.h"

/* Records the boot and the function's identity. For a VF, the PF must have been looked up. */
void identity_note(struct step_run *);
/* 0: it is the same device; unknown compares equal. 1: the record is of another boot, or the
 * function was removed and recreated (sriov_numvfs was written). A record without a boot ID (an
 * older rocelet's) counts as of this boot if the netdev has our mark or is not in the host, which
 * only this boot can have caused; the result is stored in the record. -ESTALE: another device has
 * its bus name. -ENODATA: the boot ID cannot be read. */
int identity_check(struct step_run *);
/* True if the netdev is in another namespace than the record's, and has another mark: then another
 * attachment was made since, and the record (of a restored folder, or of another rocelet) is stale.
 * A mark alone proves nothing, because a pod could have written it: in the record's namespace, or
 * in the host, the netdev belongs to the record whatever its mark is. Also false if the netdev is
 * not visible. */
bool identity_is_superseded(struct step_run *);
/* Decides whether the record is of another boot; sets `was` if it is empty. Pure. */
bool identity_is_of_another_boot(char was[BOOT_ID_SIZE], const char *now, bool marked_or_away);
