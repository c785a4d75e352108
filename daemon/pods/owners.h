/* SPDX-License-Identifier: Apache-2.0 */
/* owners.h - finds the pods of processes for callers on the loop: each process is looked up once,
 * on a worker, and the result is cached. An event waits for the result, up to a deadline. */
#pragma once

#include "err.h"
#include "event.h"
#include "hw.h"
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
/* Lifetime of an entry. If a process of the same cgroup reuses a pid within this time, this is not
 * detected. */
#define KNOWN_OWNER_MS	 10000

/* The cache, so that a process that creates and destroys queue pairs in a loop is looked up only
 * once. */
struct known_owners {
	struct {
		struct process_owner owner;
		uint64_t found_ms;
	} items[KNOWN_OWNERS_MAX];
	size_t n;
};

struct uv_loop_s;
struct owners;

struct owners_hooks {
	/* Reports the processes that could be looked up, sorted by pid; borrowed for the call. */
	void (*named)(const struct process_owner *, size_t n, void *arg);
	/* Reports the event that was passed to owners_deliver(), with its pod if known. */
	void (*event)(const struct event *, void *arg);
	/* Returns the known pods; NULL: none. */
	const struct sandbox_list *(*sandboxes)(void *arg);
	void *arg;
};

/* Opens the lookups of owners. hw must outlive the result. */
int owners_open(struct owners **ret, struct uv_loop_s *, const struct hw *,
		const struct owners_hooks *, struct err *);
/* Returns the pod of a process; cgroup: from the event that named it, 0 = none. Borrowed until the
 * next call. NULL: a lookup is running. */
const struct process_owner *owners_find(struct owners *, uint32_t pid, uint64_t cgroup);
/* Delivers the event with the pod of that process, if it has one: at once if the process is cached,
 * else when the lookup has ended, at the latest after 500 ms. pid 0 is the kernel: delivers at
 * once. */
void owners_deliver(struct owners *, uint32_t pid, uint64_t cgroup, const struct event *);
/* Delivers the event at once, with the pod of this uid. */
void owners_deliver_to_pod(struct owners *, const char *pod_uid, const struct event *);
/* Delivers waiting events. May be NULL. The object is freed when the loop has no handles left. */
void owners_close(struct owners *);
