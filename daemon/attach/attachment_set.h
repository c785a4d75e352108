/* attachment_set.h - the set of attachments: one for each device that is on its way or in a pod,
 * and (state free) for each that could not be brought there. Of the loop; a worker sees copies
 * only. */
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

/* A return tries so often, for seconds each, before what the kernel has not let go is trouble. */
#define RETURN_PATIENCE 5

struct operation;
struct pod_device;

struct attachment {
	struct attachment *next; /* of those that were dropped */
	struct attach_record record;
	struct operation *op; /* under way or queued, NULL = none */
	const char *step;     /* of it, "record"; NULL = none */
	unsigned n_orders;    /* that wait for its end */
	bool awaited;	      /* a container does */
	/* Why it is returned, or an attach under way is to be undone; NULL = it is not. */
	const char *why;
	/* Of the attach; code 0 = it did not fail. Kept until it is tried again or not wanted. */
	struct err failure;
	struct err trouble; /* of the last return or check */
	bool interrupted;   /* by our death */
	bool lost;	    /* nobody knows what it was like: its journal cannot be read, or tells
			       nothing of it; state bad */
	bool ipam_asked;    /* an address may have been given */
	bool announced;
	bool superseded;      /* of the return that is about to end: another pod has it */
	enum renewal renewal; /* of the attach or return that is about to end */
	char left[ATTACH_LEFT_SIZE];
	bool repair;		    /* what differs is set right */
	bool check_now, repair_now; /* as soon as it can be */
	bool told_dry;
	unsigned tries, ipam_tries, drift;
	unsigned n_failed;    /* attaches in a row, into this sandbox */
	enum netns_life life; /* of the owner's namespace, as last looked at */
	uint64_t search_ms;   /* not before that it is searched for again, 0 = it was not yet */
	uint64_t missed_ms;   /* since when the runtime's list does not call its sandbox ready, 0 =
				 it does, or is not known */
	enum netns_use use;   /* of that namespace, since then */
	unsigned user_pid;    /* the process that was found in it, 0 = none */
	uint64_t use_ms;      /* not before that it is asked again */
	unsigned n_uses;      /* answers since then */
	uint64_t since_ms;    /* loop time of the last change of state */
	uint64_t retry_ms;    /* a bad one is tried again, NEVER = it is not bad */
	uint64_t again_ms;    /* one that could not be attached is tried again */
	uint64_t ending_ms;   /* not attached since then, its pod seems to end; 0 = it does not */
	uint64_t check_ms;    /* the next check */
	uint64_t unheld_ms;   /* since when the kubelet's list does not name it, 0 = it does */
	uint64_t doubt_ms;    /* who has it must be asked again since then, 0 = it need not */
	uint64_t began_us;    /* of the operation that changes the state */
	uint64_t digest;      /* of its netdev as last seen in the pod, 0 = not seen yet */
	uint32_t timeout_ms;  /* of the pool */
	struct attach_status status;
};

struct attachments {
	struct attachment **items;
	size_t n;
	struct attachment *dropped; /* the list that others have may still name them */
	struct attach_list list;    /* as others have it; owned */
	bool changed;		    /* since that list was made */
};

/* Whose device this is; a function, or one slot of a shared pool. NULL: nobody's. */
struct attachment *attachments_find(const struct attachments *, const struct attach_record *);
struct attachment *attachments_of_function(const struct attachments *, const char *function);
struct attachment *attachments_of_id(const struct attachments *, const char *resource,
				     const char *id);
/* Of this record, in the record's state; NULL: out of memory. */
struct attachment *attachments_add(struct attachments *, const struct attach_record *,
				   uint64_t now_ms);
/* It must be free, and nothing may work on it. */
void attachments_drop(struct attachments *, struct attachment *);
/* Any other than an allowed move is a bug of ours. */
void attachments_move(struct attachments *, struct attachment *, enum attach_state,
		      uint64_t now_ms);
/* Makes the list anew that others have; -ENOMEM: it stays as it was. */
int attachments_publish(struct attachments *);
void attachments_done(struct attachments *);

/* Nothing works on it, nothing is left of it. */
bool attachment_is_idle(const struct attachment *);
/* Its return has failed, and not only because the kernel takes its time; also of one that is tried
 * again. */
bool attachment_is_in_trouble(const struct attachment *);
const struct attach_status *attachment_status(struct attachment *);
/* A container of that pod holds it. */
bool held_by(const struct pod_device *, const struct attach_owner *);
/* A macvlan's or ipvlan's: it is not the function itself. */
bool record_is_stacked(const struct attach_record *);
/* Its netdev; NULL: not known, or it is a stacked one, which is not among the host's. */
const struct netdev *record_netdev(const struct attach_record *, const struct host *);
