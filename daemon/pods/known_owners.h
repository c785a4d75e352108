/* known_owners.h - what processes said when they were asked whose they are, for a while: one that
 * makes and kills queue pairs in a loop is asked once. Pure; bounded; time is an argument. */
#pragma once

#include "model.h"
#include "sandbox.h"

/* Whose a process is. */
struct process_owner {
	uint32_t pid;
	uint64_t cgroup;	    /* that an event named for it, 0 = none */
	char comm[16];		    /* "" = unknown */
	char pod_uid[POD_UID_SIZE]; /* "" = of no pod */
};

#define KNOWN_OWNERS_MAX 256
/* A pid that is given again within this, to a process of the same cgroup, is another one unseen. */
#define KNOWN_OWNER_MS	 10000

struct known_owners {
	struct {
		struct process_owner owner;
		uint64_t asked_ms;
	} items[KNOWN_OWNERS_MAX];
	size_t n;
};

/* NULL: not known, or too long ago. */
const struct process_owner *known_owners_find(const struct known_owners *, uint32_t pid,
					      uint64_t cgroup, uint64_t now_ms);
/* In the place of what was known of that pid, or of what was asked longest ago. */
void known_owners_keep(struct known_owners *, const struct process_owner *, uint64_t now_ms);
