/* observe.h - what the engine notes of the world before it decides. */
#pragma once

#include "engine_state.h"

/* What the lists, the inventory and the namespaces say of each attachment, and which devices belong
 * into which pods now. -ENOMEM: nothing can be decided. */
int engine_observe(struct attach_engine *, const struct attach_view *);
/* Of devices in their pods, what the inventory shows of them. */
void observe_netdevs(struct attach_engine *);

/* view.c: do we see the host? needed: something is attached, or is to be; only then what is missing
 * is told. */
bool engine_sees(struct attach_engine *, bool needed);

/* namespaces.c: do the pods' namespaces live? Sets attachment.life from what can be seen at once; a
 * worker searches for what is not where it was, and for processes in those whose sandbox the
 * runtime's list does not call ready (attachment.use). */
void namespaces_look(struct attach_engine *);
void namespaces_search(struct attach_engine *);
