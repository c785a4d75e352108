/* SPDX-License-Identifier: Apache-2.0 */
/* observe.h - collects the engine's input before it decides. */
#pragma once

#include "engine_state.h"

/* Updates every attachment from the lists and the namespaces, and computes which devices belong
 * into which pods. -ENOMEM: nothing can be decided. */
int engine_observe(struct attach_engine *, const struct attach_view *);
/* Compares devices in pods with the previous inventory; requests a check of those that have
 * changed. */
void observe_netdevs(struct attach_engine *);

/* Is the host visible? needed: something is attached or desired; only then missing parts
 * are reported. */
bool engine_sees(struct attach_engine *, bool needed);

/* namespaces.c: do the pods' namespaces exist? namespaces_check() sets attachment.life from what is
 * visible at once. namespaces_search() starts a worker that searches for namespaces that are not at
 * their paths, and for processes in those whose sandbox the runtime does not list as ready
 * (attachment.use). */
void namespaces_check(struct attach_engine *);
void namespaces_search(struct attach_engine *);
