/* world_trouble.h - what befalls the node of attach_world.h besides pods: what pods leave behind,
 * administrators, lost files, paths that go, reboots, a young kubelet, a second daemon. The engine
 * is told as of everything else: world_show_*().
 */
#pragma once

#include "attach_world.h"

/* While no daemon runs: a VF that is away has no record any more. What its administrator had set
 * nobody knows then; it is to come back with a driver's defaults. */
void world_lose_record(struct world *, unsigned i);
/* While a daemon runs: the journal's folder is removed, with all records; false: a pod has taken
 * the mark of its device away, and nothing would tell of that any more if the daemon died now. */
bool world_remove_journal(struct world *);
/* All that is away. */
bool world_is_on_record(struct world *);
/* The pod that has it takes our mark away; false: there is none, or nothing but that tells of it.
 */
bool world_unmark(struct world *, unsigned i);
/* The pod that has it gives its netdev the name of another VF, or of the PF; false: there is none.
 */
bool world_rename(struct world *, unsigned i, const char *name);
/* The netdev is another one, with another index: a driver was bound again, or it was moved. */
void world_renumber(struct world *, unsigned i);
/* The node is started anew, and a daemon on it: pods have no sandbox any more, devices are as
 * drivers start them, and as the administrator has set them up by now. */
void world_reboot(struct world *, uint16_t vlan);
/* The namespace lives on, but its path is gone; or it is there again. blind: a search cannot look
 * everywhere. */
void world_move(struct world *, uint64_t ns, bool moved, bool blind);
/* The pod that has it leaves these on its netdev, and an interface on top of it; false: no pod has
 * it. */
bool world_leave(struct world *, unsigned i, uint8_t traces, bool upper);
/* Another daemon is started in the same folder, which the one that lives has. */
void world_start_another(struct world *);
/* An administrator takes the netdev out of its pod, into the host, as it is. */
void world_take_out(struct world *, unsigned i);
/* An administrator sets up a VF that nobody has; false: somebody has it. */
bool world_set_up(struct world *, unsigned i, uint16_t vlan);
/* The kubelet has been started anew, and names only some of what it will name. */
void world_show_young(struct world *, unsigned known_vfs);

/* Nobody has it and it may be given to anybody, as far as the daemon knows. */
bool world_is_offered(const struct world *, unsigned i);
/* It is as its administrator left it. */
bool world_is_unused(struct world *, unsigned i);
