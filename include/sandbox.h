/* sandbox.h - the pods' sandboxes, as the container runtime tells. Plain data. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SANDBOX_ID_SIZE	     72
#define SANDBOX_NETNS_SIZE   128
/* A longer annotation is kept as its first SANDBOX_NETWORKS_MAX + 1 bytes: by that length whoever
 * reads it sees that it is too long. */
#define SANDBOX_NETWORKS_MAX 65536

struct sandbox {
	char id[SANDBOX_ID_SIZE];
	char namespace[64], pod[256], uid[40];
	uint32_t attempt;
	bool ready;
	int64_t created_ns; /* unix time, 0 = unknown */
	/* In loop time: the answer that showed it first; and when it was made, by the clock as it
	 * was then: 0 = the runtime tells no time, or one to come, since the clock was set back. */
	uint64_t seen_ms, made_ms;
	/* From here on: details, asked of each sandbox by itself. */
	bool detailed; /* they are known */
	bool host_network;
	bool user_namespace;		/* of its own: hostUsers: false */
	char netns[SANDBOX_NETNS_SIZE]; /* path, "" = none or not told */
	char *networks; /* the annotation rocelet.dev/networks; NULL = none; owned */
};

/* Of one that is not in the list any more. The list may have been cut short, and it comes back: it
 * is as old as it was. */
struct sandbox_date {
	char id[SANDBOX_ID_SIZE];
	uint64_t seen_ms, made_ms;
};

/* More than a node has pods. */
#define SANDBOX_DATES_MAX 512

/* Sorted by (namespace, pod, uid, attempt, id). Owns its arrays; zero-initialised it is the list
 * that is not known. */
struct sandbox_list {
	struct sandbox *items;
	size_t n;
	bool known; /* the runtime has been asked and answers: what is not in the list is gone */
	uint64_t asked_ms;	   /* loop time at which it was asked, 0 = never */
	struct sandbox_date *left; /* the last ones that left it, the newest last; NULL = none */
	size_t n_left;
};

void sandbox_list_done(struct sandbox_list *);
void sandbox_list_sort(struct sandbox_list *);
/* When each was seen first: then, if `before` has or had it, or now. Both sorted; takes what
 * `before` knows of those that left it. unix_ns: the same moment as the runtime tells time. */
void sandbox_list_date(struct sandbox_list *, struct sandbox_list *before, uint64_t now_ms,
		       int64_t unix_ns);
/* By the attempts of one pod, and the order in which different pods' were seen; only of those that
 * one answer has shown first, by when the runtime says that it made them. */
bool sandbox_is_younger(const struct sandbox *, const struct sandbox *than);
/* Both sorted. */
bool sandbox_list_equal(const struct sandbox_list *, const struct sandbox_list *);
/* Borrowed; NULL = none. */
const struct sandbox *sandbox_find(const struct sandbox_list *, const char *id);
/* One of the pod with this uid: all name the same pod. */
const struct sandbox *sandbox_of_pod(const struct sandbox_list *, const char *uid);

/* What tells that the list may have changed. */
enum cri_hints { CRI_HINTS_NONE, CRI_HINTS_CONTAINERD, CRI_HINTS_CRI };

/* How asking the runtime goes. */
struct cri_status {
	char socket[108]; /* in use, "" = none found yet */
	char runtime[64]; /* "containerd 1.7.24", "" = not told yet */
	enum cri_hints hints;
	uint64_t asked, failed, events;
	char error[256]; /* why the last question failed, "" = it did not */
};
