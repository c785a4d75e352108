/* owners.h - which pods processes belong to, in the loop: each is asked once, on a worker, and
 * known for a while; an event waits for the answer, but not for long. */
#pragma once

#include "err.h"
#include "event.h"
#include "hw.h"
#include "known_owners.h"

struct uv_loop_s;
struct owners;

struct owners_hooks {
	/* Those that could be asked, sorted by pid; borrowed for the call. */
	void (*named)(const struct process_owner *, size_t n, void *arg);
	/* What owners_tell() was given; its pod is in it where that is known. */
	void (*event)(const struct event *, void *arg);
	/* The pods that are known; NULL: none. */
	const struct sandbox_list *(*sandboxes)(void *arg);
	void *arg;
};

/* hw must outlive it. */
int owners_open(struct owners **ret, struct uv_loop_s *, const struct hw *,
		const struct owners_hooks *, struct err *);
/* Of the process whose cgroup an event has named, 0 = none did; borrowed for the moment. NULL: it
 * is being asked. */
const struct process_owner *owners_find(struct owners *, uint32_t pid, uint64_t cgroup);
/* Tells the event, with the pod of that process where it has one: at once, or as soon as the
 * process could be asked, or after 500 ms. pid 0 is the kernel's: at once. */
void owners_tell(struct owners *, uint32_t pid, uint64_t cgroup, const struct event *);
/* At once, with the pod of this uid. */
void owners_tell_pod(struct owners *, const char *pod_uid, const struct event *);
/* Events that wait are told. NULL is fine; gone when the loop has run out of handles. */
void owners_close(struct owners *);
