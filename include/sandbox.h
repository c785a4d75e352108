/* SPDX-License-Identifier: Apache-2.0 */
/* sandbox.h - the pods' sandboxes as listed by the container runtime. Plain data. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SANDBOX_ID_SIZE	     72
#define SANDBOX_NETNS_SIZE   128
/* Only the first SANDBOX_NETWORKS_MAX + 1 bytes of a longer annotation are kept: the length then
 * shows that it exceeds the limit. */
#define SANDBOX_NETWORKS_MAX 65536

struct sandbox {
	char id[SANDBOX_ID_SIZE];
	char namespace[64], pod[256], uid[40];
	uint32_t attempt;
	bool ready;
	int64_t created_ns; /* unix time, 0 = unknown */
	/* Loop times. seen_ms: the first answer that listed the sandbox. made_ms: its creation time
	 * converted with the clock at that moment; 0 = the runtime reports no time, or one in the
	 * future because the clock was set back. */
	uint64_t seen_ms, made_ms;
	/* The following members are details, requested for each sandbox separately. */
	bool detailed; /* the details are known */
	bool host_network;
	bool user_namespace;		/* the pod has its own user namespace (hostUsers: false) */
	char netns[SANDBOX_NETNS_SIZE]; /* path, "" = none or not reported */
	char *networks; /* value of the annotation rocelet.dev/networks; NULL = none; owned */
};

/* Times of a sandbox that is no longer listed. If it reappears (the list may have been truncated),
 * it keeps its age. */
struct sandbox_date {
	char id[SANDBOX_ID_SIZE];
	uint64_t seen_ms, made_ms;
};

/* Exceeds the number of pods on a node. */
#define SANDBOX_DATES_MAX 512

/* Sorted by (namespace, pod, uid, attempt, id). Owns its arrays; zero-initialised it is an unknown
 * list. */
struct sandbox_list {
	struct sandbox *items;
	size_t n;
	bool known;	   /* the runtime answered: sandboxes that are not listed no longer exist */
	uint64_t asked_ms; /* loop time of the request, 0 = never */
	struct sandbox_date *left; /* recently removed, newest last; NULL = none */
	size_t n_left;
};

void sandbox_list_done(struct sandbox_list *);
void sandbox_list_sort(struct sandbox_list *);
/* Sets seen_ms and made_ms: from `before` if the sandbox is or was listed there, else from now.
 * Both sorted; moves the list `left` out of `before`. unix_ns: the current time on the runtime's
 * clock. */
void sandbox_list_date(struct sandbox_list *, struct sandbox_list *before, uint64_t now_ms,
		       int64_t unix_ns);
/* True if a sandbox is younger than the other one. Sandboxes of one pod are compared by attempt,
 * others by the time they were first listed. If one answer listed both first, they are compared by
 * the runtime's creation time. */
bool sandbox_is_younger(const struct sandbox *, const struct sandbox *than);
/* Finds a sandbox by id; borrowed; NULL = none. */
const struct sandbox *sandbox_find(const struct sandbox_list *, const char *id);
/* Returns any sandbox of the pod with this uid, or NULL; borrowed. */
const struct sandbox *sandbox_of_pod(const struct sandbox_list *, const char *uid);

/* Source of the hints that the list may have changed. */
enum cri_hints { CRI_HINTS_NONE, CRI_HINTS_CONTAINERD, CRI_HINTS_CRI };

/* Status of the connection to the runtime. */
struct cri_status {
	char socket[108]; /* the socket in use, "" = none found yet */
	char runtime[64]; /* "containerd 1.7.24", "" = unknown yet */
	enum cri_hints hints;
	uint64_t asked, failed, events;
	char error[256]; /* why the last request failed, "" = it succeeded */
};
