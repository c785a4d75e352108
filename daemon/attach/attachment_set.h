/* SPDX-License-Identifier: Apache-2.0 */
/* attachment_set.h - the attachments: one for each device that is in a pod, attaching, returning or
 * bad, and (state free) for each failed attach. Used on the loop's thread only; a worker gets
 * copies. */
#pragma once

#include "attach_status.h"
#include "err.h"
#include "inventory.h"
#include "netns.h"

/* No deadline. */
#define NEVER UINT64_MAX

static inline uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Number of tries of a return before -EAGAIN (the kernel still uses the device) is reported as a
 * problem. Each try takes seconds. */
#define RETURN_TRIES_QUIET 5

struct operation;
struct pod_device;

struct attachment {
	struct attachment *next; /* in attachments.dropped */
	struct attach_record record;
	struct operation *op; /* running or queued, NULL = none */
	const char *step;     /* of the operation, "record"; NULL = none */
	unsigned n_requests;  /* number of requests that wait for the operation */
	bool awaited;	      /* a container waits for it */
	const char *why;      /* why to return the device or undo the attach; NULL = do neither */
	struct attach_status status;
	uint64_t since_ms; /* loop time of the last change of state */
	uint64_t began_us; /* start of the operation that changes the state */

	/* --- the attach */
	struct err failure;  /* of the last attach; code 0 = none. Cleared by a new try */
	unsigned n_failed;   /* consecutive failed attaches to this sandbox */
	uint64_t again_ms;   /* next try after a failed attach */
	uint64_t ending_ms;  /* the attach waits since then, because its pod seems to end; 0 = no */
	uint32_t timeout_ms; /* from the pool */
	bool dry_logged;     /* dry run: the action was logged */
	bool ipam_asked;     /* ADD was called, so an address may be allocated */
	char *ipam_answer; /* the plugin's result of ADD; heap. NULL: none, or a restart lost it */
	unsigned ipam_tries;

	/* --- in its pod */
	bool announced;
	bool repair;		    /* repair drift (from the pool) */
	bool check_now, repair_now; /* requested */
	unsigned drift;
	unsigned n_checks;  /* completed checks */
	struct err checked; /* result of the last check; code 0: the comparison was completed */
	uint64_t check_ms;  /* next periodic check */
	uint64_t digest;    /* of the netdev in the pod when last scanned, 0 = not scanned yet */

	/* --- return */
	struct err problem; /* of the last return or check */
	unsigned tries;
	uint64_t retry_ms;    /* next try while the state is bad; NEVER = the state is not bad */
	bool interrupted;     /* rocelet was stopped during the operation */
	bool lost;	      /* state bad: the record is unreadable or has no original state */
	bool superseded;      /* result of the operation: another pod has the device */
	enum renewal renewal; /* result of the operation */
	char left[ATTACH_LEFT_SIZE];

	/* --- does its pod still exist? */
	bool was_ready;	      /* the runtime has reported the sandbox as ready */
	uint64_t missed_ms;   /* since when the sandbox is not in the runtime's list, or is not
			       * ready; 0 = it is ready, or unknown */
	uint64_t unheld_ms;   /* since when the device is missing from the kubelet's list; 0 = it is
			       * in the list */
	uint64_t confirm_ms;  /* only a list requested after that time confirms the owner; 0 = no
			       * confirmation needed */
	enum netns_life life; /* result of the last search for the owner's namespace */
	uint64_t search_ms;   /* next search for the namespace; 0 = not searched yet */
	enum netns_use use;   /* of that namespace, determined after missed_ms */
	unsigned user_pid;    /* a process in the namespace, 0 = none found */
	uint64_t use_ms;      /* next search for such processes */
	unsigned n_uses;      /* completed searches since missed_ms */
};

struct attachments {
	struct attachment **items;
	size_t n;
	struct attachment *dropped; /* kept until the published list does not refer to them */
	struct attach_list list;    /* as published; owned */
	bool changed;		    /* since the list was published */
};

/* Find the attachment of a device: a function, or a slot of a shared pool. NULL: none. */
struct attachment *attachments_find(const struct attachments *, const struct attach_record *);
struct attachment *attachments_of_function(const struct attachments *, const char *function);
struct attachment *attachments_of_id(const struct attachments *, const char *resource,
				     const char *id);
/* Adds an attachment with this record and its state. NULL: out of memory. */
struct attachment *attachments_add(struct attachments *, const struct attach_record *,
				   uint64_t now_ms);
/* Removes an attachment, which must be free and have no operation. It is freed after the next
 * attachments_publish(). */
void attachments_drop(struct attachments *, struct attachment *);
/* Changes the state. A transition that is not allowed is a bug: it aborts the process. */
void attachments_move(struct attachments *, struct attachment *, enum attach_state,
		      uint64_t now_ms);
/* Rebuilds the published list. -ENOMEM keeps the previous one. */
int attachments_publish(struct attachments *);
void attachments_done(struct attachments *);

/* True in state free, if neither an operation nor a request is left. */
bool attachment_is_idle(const struct attachment *);
/* True if the last return failed, also while it is retried. The first few -EAGAIN
 * (RETURN_TRIES_QUIET) do not count. */
bool attachment_has_problem(const struct attachment *);
const struct attach_status *attachment_status(struct attachment *);
/* True if the kubelet has granted the device to its pod: DOOR_NATIVE, or DOOR_CNI with a
 * resource. */
bool attachment_is_granted(const struct attachment *);
/* Finds the attachment of DOOR_CNI of this container and interface, except in state free. */
struct attachment *attachments_of_container(const struct attachments *, const char *container,
					    const char *ifname);
/* Is the entry of the kubelet's list for this pod? */
bool held_by(const struct pod_device *, const struct attach_owner *);
/* Is the device a macvlan or ipvlan, i.e. not the function itself? */
bool record_is_stacked(const struct attach_record *);
/* The function's netdev. NULL: unknown, or the device is a macvlan or ipvlan. */
const struct netdev *record_netdev(const struct attach_record *, const struct host *);
