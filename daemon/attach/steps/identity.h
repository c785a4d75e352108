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
/* The netdev is in a namespace that is not the record's, under a mark that is not the record's
 * either: another attachment has been made since, and the record (of a restored folder, of another
 * rocelet) is stale. A mark alone proves nothing, a pod could have written it: in its own
 * namespace, or in the host, the netdev is the record's whatever its mark says. False also where it
 * cannot be seen. */
bool identity_is_superseded(struct step_run *);
/* The decision about the boot; a record that does not tell learns it. Pure. */
bool identity_is_of_another_boot(char was[BOOT_ID_SIZE], const char *now, bool marked_or_away);
