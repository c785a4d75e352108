/* steps.h - attach and return, step by step, on a worker thread. Synchronous, no loop, no log.
 *
 * Each step can be run again after a crash at any instruction, and after having been half done; the
 * return can start from whatever an attach has left. A step leaves the record as true as the
 * device. */
#pragma once

#include "attach_status.h"
#include "attachment.h"
#include "err.h"
#include "hw.h"
#include "journal.h"

/* In their order. IPAM is not a step of the worker: the engine runs its plugin between two. */
enum attach_step {
	STEP_RECORD,	/* look at the device as it is, write it down, on the disk */
	STEP_ADMIN,	/* settings through the PF */
	STEP_MOVE,	/* netdev into the pod: name, alias, MTU, MAC, all in one request */
	STEP_IPAM,	/* the engine's */
	STEP_CONFIGURE, /* sysctls, addresses, routes, up */
	STEP_RDMA,	/* RDMA device moved or made */
	STEP_VERIFY,	/* read back */
	STEP_DONE,	/* written down: in the pod */
	N_ATTACH_STEPS
};

enum return_step {
	BACK_RECORD, /* is it the device that was attached, in this boot? written down: returning */
	BACK_RDMA,   /* RDMA device back, or deleted */
	BACK_MOVE, /* found wherever it is; down, into the host: its own name, no alias, MTU, MAC */
	BACK_ADMIN,  /* settings as they were */
	BACK_RENEW,  /* a new netdev, if the pod has left something on this one */
	BACK_IPAM,   /* the engine's */
	BACK_VERIFY, /* in the host, clean */
	BACK_DONE,   /* written down: free */
	N_RETURN_STEPS
};

const char *attach_step_name(enum attach_step); /* "record", ... */
const char *return_step_name(enum return_step); /* "back-record", ... */
/* It does nothing to the device, and is run for a record of another boot as well. */
bool return_step_settles(enum return_step);

/* What a job works on: the caller's, until it is done. */
struct attach_job {
	const struct hw *hw;
	struct journal *journal;
	struct attach_record record;
	bool is_return;
	/* Of a return that was in vain for long: what is in a namespace that nobody can enter, and
	 * that something keeps, is answered with a new netdev. */
	bool insist;
	bool settle_only; /* the record is not of this device as it is: nothing is written to it */
	bool superseded;  /* that is so because another pod has it (identity.h) */
	int next;	  /* enum attach_step or return_step; run continues from here */
	int at;		  /* the one that is being run, for others to read meanwhile; atomic */
	unsigned drift;	  /* bits of attach_status.h that a check found different */
	unsigned left;	  /* those of them that a repair could not set right */
	/* Why the function has got a new netdev, and what was not as before, in words ("tcx
	 * program, rings"; "" = nothing, or nobody knows). Of an attach: DIRTY, what sat on the old
	 * one, or UNKNOWN. */
	enum renewal renewal;
	char traces[ATTACH_LEFT_SIZE];
	/* Device nodes ("uverbs3") that containers of other pods may open: a soft-RoCE device that
	 * is made gets another number. Borrowed. */
	const char (*taken)[CHARDEV_NAME_SIZE];
	size_t n_taken;
	struct err err; /* of the step `next`, which failed */
};

/* Runs steps from job->next up to, not including, the engine's own step or the end. Returns 0 when
 * it got so far (job->next tells which), or the failed step's error in job->err. A network
 * namespace that is gone is -ENOENT, at whatever step.
 *
 * STEP_RECORD: from state free, fills record.origin and owner.netns (its path is given; ino 0 = not
 * identified yet), makes the state attaching and the serial one more; if that cannot be written the
 * record is free as before, and nothing has been changed. It refuses (-EBUSY) a device that is not
 * in the host as expected. In any other state the origin is left alone: what the device looks like
 * by then may be our own work. A device that is returning or bad is refused (-EBUSY).
 *
 * An attach that fails is undone by a return with the same record (of a free one: none). A return
 * that fails is run again from its first step, as often as it takes; -EUCLEAN: it is in the host,
 * but not as it was. One that cannot write the journal goes on until the last step. A function that
 * has left the bus has nothing to return, which is success; neither has one that was attached in
 * another boot, or that another pod has by now. -ESTALE: another device has its bus name, and
 * nothing was written to that. */
int attach_run(struct attach_job *);

/* Read-back of an attachment that is in its pod: sets `drift`, changes nothing; repair: sets right
 * what differs, but for GUIDs, and looks again what is `left`. VF_MAC: the PF's or the interface's
 * own. -ENOENT: its namespace is gone, -ENODEV: the device is not in it. */
int attach_check(struct attach_job *, bool repair);

/* Tells the neighbours. -EAGAIN: the interface has no carrier yet. */
int attach_announce(struct attach_job *);
