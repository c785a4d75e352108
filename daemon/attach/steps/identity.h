/* identity.h - is it the device that the record is of, and is what was done to it still so?
 *
 * A boot ends everything that was done to a device, and an administrator may have set it up anew
 * since: such a record tells what to settle with others (addresses, who had it), and nothing is
 * written to the function. Bus names are given anew by each boot and whenever the bus changes:
 * within one boot, too, nothing is restored to another device, or to one that was made anew.
 * Internal to attach/. */
#pragma once

#include "step_run.h"

/* Into the record: the boot, and who the function is. Of a VF: its PF has been looked for. */
void identity_note(struct step_run *);
/* 0: it is; what cannot be seen does not differ. 1: it was in another boot, or the function has
 * left the bus since and is a new one (sriov_numvfs written). A record that does not tell the boot
 * (an older rocelet's) is of this one if the netdev bears our mark or is not in the host, which
 * only this one can have brought about; the record tells from then on. -ESTALE: another device has
 * its bus name. -ENODATA: the boot cannot be read. */
int identity_check(struct step_run *);
/* The decision about the boot; a record that does not tell learns it. Pure. */
bool identity_is_of_another_boot(char was[BOOT_ID_SIZE], const char *now, bool marked_or_away);
