/* SPDX-License-Identifier: Apache-2.0 */
/* operation.h - work on one device: attach, return, check, announce. Runs on workers, one operation
 * per device and WORKING_MAX in all; an IPAM plugin runs between two jobs. */
#pragma once

#include "engine_state.h"

enum operation_kind { OP_ATTACH, OP_RETURN, OP_CHECK, OP_ANNOUNCE };

/* How an operation has ended. The attachment's record then matches the device, except for the
 * state, which the loop sets. */
struct operation_end {
	enum operation_kind kind;
	int result;	  /* -ECANCELED: the attach is not desired any more (why) */
	const char *step; /* the last step, or the failed one */
	struct err err;
	bool untouched; /* failed attach: nothing was changed */
	unsigned drift; /* found by a check */
	bool repaired;
};

/* Each of these requires that the device has no operation yet. False: out of memory, nothing has
 * changed, and a tick is scheduled. attach and return set the state to attaching or returning. */
bool operation_attach(struct attach_engine *, struct attachment *);
bool operation_return(struct attach_engine *, struct attachment *, const char *why);
/* Undoes an attach that was started: returns the device, from the head of the queue. */
bool operation_undo(struct attach_engine *, struct attachment *, const char *why);
/* Runs only the last step of a return: records the device as free. */
bool operation_forget(struct attach_engine *, struct attachment *, const char *why);
bool operation_check(struct attach_engine *, struct attachment *, bool repair);
bool operation_announce(struct attach_engine *, struct attachment *);
/* Continues operations whose pause is over, and schedules a tick for the others. */
void operations_continue(struct attach_engine *);
/* Ends waiting operations at once, and running ones after their current job. Only returns continue
 * to their end, unless they wait for a plugin: rocelet may not be started again. */
void operations_close(struct attach_engine *);
/* Lets the engine continue without its journal until another one is open. Closes the old journal
 * when no worker writes to it any more. */
void operations_leave_journal(struct attach_engine *);
/* Closes a journal that the engine has replaced, unless a worker still writes to it. */
void operations_close_unused(const struct attach_engine *, struct journal *);
