/* SPDX-License-Identifier: Apache-2.0 */
/* steps.h - attach and return, step by step, on a worker thread. Synchronous, no loop, no log.
 *
 * Each step can be repeated, after a crash at any instruction and after a partial run. The return
 * can start from any state that an attach has left. After each step, the record matches the
 * device. */
#pragma once

#include "attach_status.h"
#include "attachment.h"
#include "err.h"
#include "hw.h"
#include "journal.h"

/* In the order of execution. The worker does not run IPAM: the engine runs its plugin between two
 * jobs. Without a plugin, one job runs all steps. */
enum attach_step {
	STEP_RECORD,	/* record the device's current state, on the disk */
	STEP_ADMIN,	/* settings through the PF */
	STEP_MOVE,	/* netdev into the pod: name, alias, MTU, MAC, all in one request */
	STEP_IPAM,	/* run by the engine */
	STEP_CONFIGURE, /* sysctls, addresses, routes, up */
	STEP_RDMA,	/* move or create the RDMA device */
	STEP_VERIFY,	/* read back and compare */
	STEP_DONE,	/* record: in the pod */
	N_ATTACH_STEPS
};

enum return_step {
	BACK_RECORD, /* check: the same device, in this boot? record: returning */
	BACK_RDMA,   /* return or delete the RDMA device */
	BACK_MOVE,   /* find the netdev, move it to the host: name, alias, MTU, flags */
	BACK_ADMIN,  /* restore settings of the PF, MAC, up or down */
	BACK_RENEW,  /* a new netdev, if the pod has left something on this one */
	BACK_IPAM,   /* run by the engine */
	BACK_VERIFY, /* check: in the host and clean? */
	BACK_DONE,   /* record: free */
	N_RETURN_STEPS
};

const char *attach_step_name(enum attach_step); /* "record", ... */
const char *return_step_name(enum return_step); /* "back-record", ... */
/* True for bookkeeping that does not change the device; it is run for a record of another boot,
 * too. */
bool return_step_settles(enum return_step);

/* The input and output of a job; owned by the caller. */
struct attach_job {
	const struct hw *hw;
	struct journal *journal;
	struct attach_record record;
	bool is_return;
	/* Set for a return that has failed for long: if the device is in a namespace that cannot be
	 * entered and is not removed, the function gets a new netdev. */
	bool may_replace;
	bool settle_only; /* the record does not match the device: nothing is written to it */
	bool superseded;  /* because another pod has the device (identity.h) */
	int next;	  /* enum attach_step or return_step; the run begins here */
	int at;		  /* the running step, for other threads; atomic */
	unsigned drift;	  /* bits of attach_status.h: the differences found by a check */
	unsigned left;	  /* bits of drift that a repair could not fix */
	/* Why the function got a new netdev, and what differed, as text ("tcx program, rings"; "" =
	 * nothing, or unknown). In an attach: DIRTY, with what was stacked on the old one, or
	 * UNKNOWN. */
	enum renewal renewal;
	char traces[ATTACH_LEFT_SIZE];
	/* Device nodes ("uverbs3") that containers of other pods may open: a new soft-RoCE device
	 * gets another number. Borrowed. */
	const char (*taken)[CHARDEV_NAME_SIZE];
	size_t n_taken;
	struct err err; /* of the failed step `next` */
};

/* Runs steps from job->next up to, not including, the step of the IPAM plugin or the end. Returns 0
 * when it has reached that step (see job->next), or the failed step's error, which is also in
 * job->err. -ENOENT, at any step: the network namespace was removed.
 *
 * STEP_RECORD, in state free: fills record.origin and owner.netns (its path is given; ino 0 = not
 * identified yet), sets the state to attaching and increments the serial. If the record cannot be
 * written, it stays free, and nothing has been changed. Rejects (-EBUSY) a device that is not in
 * the host as expected. In any other state the origin is kept: the device's current state may be
 * our own work. A device that is returning or bad is rejected (-EBUSY).
 *
 * A device without a netdev (plan.no_netdev): steps that need a netdev are omitted. The pod's
 * namespace is recorded, because the attachment ends together with it. -EBUSY: it has a netdev, or
 * no driver.
 *
 * A failed attach is undone by a return with the same record (not needed if the record is free). A
 * failed return is run again from its first step, as often as needed; -EUCLEAN: the device is in
 * the host, but not in its original state. A return that cannot write the journal continues up to
 * the last step. A return succeeds without doing anything if the function has left the bus, was
 * attached in another boot, or has been attached to another pod. -ESTALE: another device has its
 * bus name, and nothing was written to it. */
int attach_run(struct attach_job *);

/* Reads back an attachment in its pod: sets `drift`, changes nothing. repair: fixes the
 * differences, except GUIDs, and sets `left` to those that remain. VF_MAC: the PF's or the
 * interface's own MAC. -ENOENT: its namespace was removed; -ENODEV: the device is not in it. */
int attach_check(struct attach_job *, bool repair);

/* Announces the addresses to the neighbours. -EAGAIN: the interface has no carrier yet. */
int attach_announce(struct attach_job *);
