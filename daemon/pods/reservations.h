/* reservations.h - which IDs are given away: reserved by Allocate, then held by a container as the
 * kubelet tells. Pure; time is an argument.
 *
 * The kubelet says neither for which container it allocates nor when a device comes back, but its
 * list of containers' devices tells both. A reservation is made by Allocate. It ends when a list
 * that was asked for long enough after it does not name the ID: the kubelet enters a device into
 * its list only when it has our answer. Allocate may name a reserved or held ID once more, for a
 * container that gets what an init container of the same pod had.
 *
 * The list does not name init containers. Their devices stay reserved for as long as the kubelet's
 * checkpoint names a pod for them; that pod stands in our list, by its uid. The checkpoint is not
 * believed more than that: it is behind the kubelet's mind. */
#pragma once

#include <stdint.h>

#include "pod_devices.h"

/* From Allocate until the kubelet's list is sure to tell what became of it. */
#define RESERVATION_GRACE_MS 2000

struct reservations;

enum reservation_state { RESERVATION_FREE, RESERVATION_RESERVED, RESERVATION_HELD };

struct reservations *reservations_new(void);
void reservations_free(struct reservations *);

/* Allocated now, or again; the time is in the list for as long as the ID is. The kubelet takes a
 * device out of its list before it allocates it again: the container that held it until now is
 * disproved, and the entry names no pod until a list that was asked for later does. -ENOMEM changes
 * nothing. */
int reservations_add(struct reservations *, const char *resource, const char *id, uint64_t now_ms);
/* A container that waits to be started has it, so it was given away, whether we remember or not. Of
 * what stands in the list already only that is new. -ENOMEM changes nothing. */
int reservations_note_start(struct reservations *, const char *resource, const char *id,
			    uint64_t now_ms);
/* It does not wait any more. */
void reservations_note_end(struct reservations *, const char *resource, const char *id);
/* Something that was given away is named for nobody by this list of the kubelet: the checkpoint may
 * tell. */
bool reservations_lacks(const struct reservations *, const struct pod_list *);
/* A new list of what containers hold, asked for at asked_ms; and the kubelet's checkpoint, of pods
 * that still are, read after that (empty = not read). True: something changed. -ENOMEM changes
 * nothing. A list of source POD_SOURCE_NONE says nothing, and one that was asked for before the
 * last is out of date: both change nothing. */
int reservations_apply(struct reservations *, const struct pod_list *,
		       const struct pod_list *checkpoint, uint64_t asked_ms);
/* From when on a list can tell what became of the oldest reservation: ask for one then. UINT64_MAX:
 * nothing is reserved. */
uint64_t reservations_ask_at(const struct reservations *);
enum reservation_state reservations_state(const struct reservations *, const char *resource,
					  const char *id);
/* The same for who asks about many in their order, see pod_list_find_next(). */
enum reservation_state reservations_state_next(const struct reservations *, const char *resource,
					       const char *id, size_t *at);
/* Everything that is reserved or held, sorted; those only reserved have no pod. Borrowed until the
 * next change. Its source is that of the last list. */
const struct pod_list *reservations_list(const struct reservations *);
/* Grows with every change of the list; times are none. */
uint64_t reservations_generation(const struct reservations *);
