/* SPDX-License-Identifier: Apache-2.0 */
/* ino_set.h - a set of inode numbers, for walks over many inodes. */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* Zero-initialised it is empty; release with free(slots). 0 is not a valid inode. */
struct ino_set {
	uint64_t *slots; /* linear probing, at most half full */
	size_t n, room;	 /* room: a power of two, or 0 */
};

static inline uint64_t *ino_set_slot(uint64_t *slots, size_t room, uint64_t ino)
{
	size_t i = (size_t)((ino * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (room - 1);

	while (slots[i] && slots[i] != ino)
		i = (i + 1) & (room - 1);
	return &slots[i];
}

static inline bool ino_set_has(const struct ino_set *s, uint64_t ino)
{
	return s->room && *ino_set_slot(s->slots, s->room, ino) == ino;
}

static inline int ino_set_grow(struct ino_set *s)
{
	size_t room = s->room ? 2 * s->room : 64;
	uint64_t *slots = calloc(room, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < s->room; i++)
		if (s->slots[i])
			*ino_set_slot(slots, room, s->slots[i]) = s->slots[i];
	free(s->slots);
	s->slots = slots;
	s->room = room;
	return 0;
}

/* Returns 1 if added, 0 if it was in the set, -ENOMEM. */
static inline int ino_set_add(struct ino_set *s, uint64_t ino)
{
	if (ino_set_has(s, ino))
		return 0;
	if (2 * (s->n + 1) > s->room && ino_set_grow(s) < 0)
		return -ENOMEM;
	*ino_set_slot(s->slots, s->room, ino) = ino;
	s->n++;
	return 1;
}
