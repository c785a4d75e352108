/* SPDX-License-Identifier: Apache-2.0 */
/* reservations.h - tracks which IDs are allocated: first reserved by Allocate, then listed by the
 * kubelet for a container. Pure; time is an argument.
 *
 * Allocate does not name the container, and the kubelet does not report the release of a device.
 * The kubelet's list of containers' devices shows both. Allocate makes a reservation. The
 * reservation ends when a list that was requested long enough after the Allocate does not contain
 * the ID: the kubelet adds a device to its list only after our answer. Allocate may name a reserved
 * or held ID again, for a container that gets the device of an init container of the same pod.
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
 * does. The kubelet removes a device from its list before it allocates it again, so the device has
 * no owner now: the entry has no pod until a later list names one. -ENOMEM changes nothing. */
int reservations_add(struct reservations *, const char *resource, const char *id, uint64_t now_ms);
/* Records that a container with this ID waits to be started, so the ID is allocated even if we have
 * no reservation (after a restart). If it is in the list already, only the start time is new.
 * -ENOMEM changes nothing. */
int reservations_note_start(struct reservations *, const char *resource, const char *id,
			    uint64_t now_ms);
/* Records that the container does not wait any more. */
void reservations_note_end(struct reservations *, const char *resource, const char *id);
/* True if this list of the kubelet has no pod for an allocated ID that may belong to an init
 * container: the caller should read the checkpoint. */
bool reservations_need_checkpoint(const struct reservations *, const struct pod_list *);
/* Applies a new list of containers' devices, requested at asked_ms. Also applies the kubelet's
 * checkpoint, which was read after that and reduced to existing pods (empty = not read). 1:
 * something changed. -ENOMEM changes nothing. A list of source POD_SOURCE_NONE, or one requested
 * before the last one applied, changes nothing. */
int reservations_apply(struct reservations *, const struct pod_list *,
		       const struct pod_list *checkpoint, uint64_t asked_ms);
/* Returns the earliest time at which a list shows the outcome of the oldest reservation: the caller
 * should request a list then. UINT64_MAX: nothing is reserved. */
uint64_t reservations_request_at(const struct reservations *);
enum reservation_state reservations_state(const struct reservations *, const char *resource,
					  const char *id);
/* Like reservations_state(), for a caller that queries many IDs in their order; see
 * pod_list_find_next(). */
enum reservation_state reservations_state_next(const struct reservations *, const char *resource,
					       const char *id, size_t *at);
/* Returns all reserved or allocated devices, sorted; entries that are only reserved have no pod.
 * Borrowed until the next change. The source is that of the last list. */
const struct pod_list *reservations_list(const struct reservations *);
/* Returns the generation, which is incremented by every change of the list, except of its times. */
uint64_t reservations_generation(const struct reservations *);
