/* SPDX-License-Identifier: Apache-2.0 */
/* owners.h - finds the pods of processes from the loop: each process is looked up once, on a
 * worker, and cached. An event waits for the result, up to a deadline. */
#pragma once

#include "err.h"
#include "event.h"
#include "hw.h"
#include "known_owners.h"

struct uv_loop_s;
struct owners;

struct owners_hooks {
	/* The processes that could be looked up, sorted by pid; borrowed for the call. */
	void (*named)(const struct process_owner *, size_t n, void *arg);
	/* The event passed to owners_deliver(), with its pod if known. */
	void (*event)(const struct event *, void *arg);
	/* Returns the known pods; NULL: none. */
	const struct sandbox_list *(*sandboxes)(void *arg);
	void *arg;
};

/* hw must outlive it. */
int owners_open(struct owners **ret, struct uv_loop_s *, const struct hw *,
		const struct owners_hooks *, struct err *);
/* Returns the pod of a process; cgroup: from the event that named it, 0 = none. Borrowed until the
 * next call. NULL: a lookup is under way. */
const struct process_owner *owners_find(struct owners *, uint32_t pid, uint64_t cgroup);
/* Delivers the event, with the pod of that process if it has one: at once, when the process has
 * been looked up, or after 500 ms. pid 0 is the kernel: at once. */
void owners_deliver(struct owners *, uint32_t pid, uint64_t cgroup, const struct event *);
/* Delivers the event at once, with the pod of this uid. */
void owners_deliver_to_pod(struct owners *, const char *pod_uid, const struct event *);
/* Delivers waiting events. NULL is fine; freed when the loop has no handles left. */
void owners_close(struct owners *);
