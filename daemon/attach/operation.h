/* operation.h - work on one device: attach, return, check, announce. On workers, one for a device
 * at a time and WORKING_MAX in all; an IPAM plugin between two visits. */
#pragma once

#include "engine_state.h"

enum operation_kind { OP_ATTACH, OP_RETURN, OP_CHECK, OP_ANNOUNCE };

/* How it has ended. The record is as true as the device by then, but for its state, which is the
 * loop's. */
struct operation_end {
	enum operation_kind kind;
	int result;	  /* -ECANCELED: an attach that is not wanted any more (why) */
	const char *step; /* with which it ended, or failed */
	struct err err;
	bool untouched; /* of an attach that failed: nothing was changed */
	unsigned drift; /* that a check has found */
	bool repaired;
};

/* Each of them: nothing is under way for it yet. False: out of memory, nothing has changed, and a
 * tick is due. The state becomes attaching or returning. */
bool operation_attach(struct attach_engine *, struct attachment *);
bool operation_return(struct attach_engine *, struct attachment *, const char *why);
/* The same, of what an attach has begun: before those that have not begun. */
bool operation_undo(struct attach_engine *, struct attachment *, const char *why);
/* All that is left of a return is to note that it is free. */
bool operation_forget(struct attach_engine *, struct attachment *, const char *why);
bool operation_check(struct attach_engine *, struct attachment *, bool repair);
bool operation_announce(struct attach_engine *, struct attachment *);
/* Paused ones that are due go on; the others say when. */
void operations_continue(struct attach_engine *);
/* Ends those that no worker has; the others end themselves. Returns go on to their end, unless they
 * wait for a plugin: nobody may come after us. */
void operations_close(struct attach_engine *);
/* The engine goes on without its journal until another one is open; closed when no worker writes
 * to it any more. */
void operations_leave_journal(struct attach_engine *);
