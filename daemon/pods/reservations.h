/* SPDX-License-Identifier: Apache-2.0 */
/* reservations.h - which IDs are allocated: reserved by Allocate, then held by a container in the
 * kubelet's list. Pure; time is an argument.
 *
 * Allocate does not name the container, and the kubelet does not report the return of a device; its
 * list of containers' devices shows both. Allocate makes a reservation. It ends when a list
 * requested long enough after it does not contain the ID: the kubelet adds a device to its list
 * only after our answer. Allocate may name a reserved or held ID again, for a container that gets
 * the device of an init container of the same pod.
 *
 * The list does not contain init containers. Their devices stay reserved as long as the kubelet's
 * checkpoint has a pod for them; our list contains that pod with its uid. The checkpoint is used
 * for nothing else, because it lags behind the kubelet's state. */
#pragma once

#include <stdint.h>

#include "pod_devices.h"

/* Time from Allocate until the kubelet's list is certain to show its outcome. */
#define RESERVATION_GRACE_MS 2000

struct reservations;

enum reservation_state { RESERVATION_FREE, RESERVATION_RESERVED, RESERVATION_HELD };

struct reservations *reservations_new(void);
void reservations_free(struct reservations *);

/* Records an Allocate, or a repeated one, with its time, which stays in the list as long as the ID
 * does. The kubelet removes a device from its list before it allocates it again, so the previous
 * holder no longer has it: the entry has no pod until a list requested later names one. -ENOMEM
 * changes nothing. */
int reservations_add(struct reservations *, const char *resource, const char *id, uint64_t now_ms);
/* Records that a container with this ID waits to be started, so the ID is allocated even if we have
 * no reservation (after a restart). If it is in the list already, only the start time is new.
 * -ENOMEM changes nothing. */
int reservations_note_start(struct reservations *, const char *resource, const char *id,
			    uint64_t now_ms);
/* The container does not wait any more. */
void reservations_note_end(struct reservations *, const char *resource, const char *id);
/* True if this list of the kubelet has no pod for an allocated ID that may be an init container's:
 * consult the checkpoint. */
bool reservations_lacks(const struct reservations *, const struct pod_list *);
/* Applies a new list of what containers hold, requested at asked_ms, and the kubelet's checkpoint,
 * reduced to existing pods and read after that (empty = not read). 1: something changed. -ENOMEM
 * changes nothing. A list of source POD_SOURCE_NONE, or one requested before the last one applied,
 * changes nothing. */
int reservations_apply(struct reservations *, const struct pod_list *,
		       const struct pod_list *checkpoint, uint64_t asked_ms);
/* The earliest time at which a list shows the outcome of the oldest reservation: request one then.
 * UINT64_MAX: nothing is reserved. */
uint64_t reservations_ask_at(const struct reservations *);
enum reservation_state reservations_state(const struct reservations *, const char *resource,
					  const char *id);
/* As reservations_state(), for a caller that queries many IDs in their order; see
 * pod_list_find_next(). */
enum reservation_state reservations_state_next(const struct reservations *, const char *resource,
					       const char *id, size_t *at);
/* Everything that is reserved or held, sorted; entries that are only reserved have no pod. Borrowed
 * until the next change. Its source is that of the last list. */
const struct pod_list *reservations_list(const struct reservations *);
/* Incremented by every change of the list, except of its times. */
uint64_t reservations_generation(const struct reservations *);
