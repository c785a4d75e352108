/* SPDX-License-Identifier: Apache-2.0 */
/* known_owners.h - a cache of the pods of processes, so that a process that creates and destroys
 * queue pairs in a loop is looked up only once. Pure; bounded; time is an argument. */
#pragma once

#include "model.h"
#include "sandbox.h"

/* The pod of a process. */
struct process_owner {
	uint32_t pid;
	uint64_t cgroup;	    /* from the event that named the process, 0 = none */
	char comm[16];		    /* "" = unknown */
	char pod_uid[POD_UID_SIZE]; /* "" = not in a pod */
};

#define KNOWN_OWNERS_MAX 256
/* Lifetime of an entry. A pid that is reused within this time, by a process of the same cgroup, is
 * not noticed. */
#define KNOWN_OWNER_MS	 10000

struct known_owners {
	struct {
		struct process_owner owner;
		uint64_t asked_ms;
	} items[KNOWN_OWNERS_MAX];
	size_t n;
};

/* NULL: not cached, or expired. */
const struct process_owner *known_owners_find(const struct known_owners *, uint32_t pid,
					      uint64_t cgroup, uint64_t now_ms);
/* Replaces the entry of the same pid, else the oldest entry. */
void known_owners_keep(struct known_owners *, const struct process_owner *, uint64_t now_ms);
