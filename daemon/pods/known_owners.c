// SPDX-License-Identifier: Apache-2.0
#include "known_owners.h"

const struct process_owner *known_owners_find(const struct known_owners *os, uint32_t pid,
					      uint64_t cgroup, uint64_t now_ms)
{
	for (size_t i = 0; i < os->n; i++) {
		const struct process_owner *o = &os->items[i].owner;

		if (o->pid == pid && o->cgroup == cgroup &&
		    now_ms - os->items[i].asked_ms < KNOWN_OWNER_MS)
			return o;
	}
	return NULL;
}

static size_t slot_for(struct known_owners *os, uint32_t pid)
{
	size_t oldest = 0;

	for (size_t i = 0; i < os->n; i++) {
		if (os->items[i].owner.pid == pid)
			return i;
		if (os->items[i].asked_ms < os->items[oldest].asked_ms)
			oldest = i;
	}
	return os->n < KNOWN_OWNERS_MAX ? os->n++ : oldest;
}

void known_owners_keep(struct known_owners *os, const struct process_owner *owner, uint64_t now_ms)
{
	size_t slot = slot_for(os, owner->pid);

	os->items[slot].owner = *owner;
	os->items[slot].asked_ms = now_ms;
}
