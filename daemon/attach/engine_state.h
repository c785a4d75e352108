/* engine_state.h - what the files behind engine.h share. For nobody else.
 *
 * Everything here is the loop's; a worker sees only the job of its operation. Nothing waits for a
 * timer of its own: each thing that is due at some time is looked at in the engine's one tick. */
#pragma once

#include <uv.h>

#include "attach_ops.h"
#include "engine.h"
#include "ipam.h"
#include "reconcile.h"

/* No deadline. */
#define NEVER		  UINT64_MAX
/* How many devices of sandboxes with the host's network are remembered, "<sandbox> <id>". */
#define HOST_NETWORKS_MAX 32
#define HOST_NETWORK_SIZE (SANDBOX_ID_SIZE + PLUGIN_ID_SIZE)
/* How long a start waits for the runtime's list. */
#define ENGINE_START_MS	  3000
/* Out of memory: the next try. */
#define ENGINE_MEMORY_MS  1000

struct order_waiter;
struct early_order;

/* A return tries so often, for seconds each, before what the kernel has not let go is trouble. */
#define RETURN_PATIENCE 5

/* One device on its way or in a pod, or (state free) one that could not be brought there. */
struct attachment {
	struct attachment *next; /* of those that were dropped */
	struct attach_engine *engine;
	struct attach_record record;
	struct operation *op;	     /* under way or queued, NULL = none */
	struct order_waiter *orders; /* who waits for its end */
	/* What reconcile said of an attach under way, or why it is returned; NULL = nothing. */
	const char *why;
	/* Of the attach; code 0 = it did not fail. Kept until it is tried again or not wanted. */
	struct err failure;
	struct err trouble; /* of the last return or check */
	bool interrupted;   /* by our death */
	bool lost;	    /* nobody knows what it was like: its journal cannot be read, or tells
			       nothing of it; state bad */
	bool ipam_asked;    /* an address may have been given */
	bool announced;
	enum renewal renewal; /* of the return that is about to end */
	char left[ATTACH_LEFT_SIZE];
	bool repair;		    /* what differs is set right */
	bool check_now, repair_now; /* as soon as it can be */
	bool told_dry;
	unsigned tries, ipam_tries, drift;
	unsigned n_failed;    /* attaches in a row, into this sandbox */
	enum netns_life life; /* of the owner's namespace, as last looked at */
	uint64_t search_ms;   /* not before that it is searched for again, 0 = it was not yet */
	uint64_t since_ms;    /* loop time of the last change of state */
	uint64_t retry_ms;    /* a bad one is tried again, NEVER = it is not bad */
	uint64_t again_ms;    /* one that could not be attached is tried again */
	uint64_t check_ms;    /* the next check */
	uint64_t unheld_ms;   /* since when the kubelet's list does not name it, 0 = it does */
	uint64_t doubt_ms;    /* who has it must be asked again since then, 0 = it need not */
	uint64_t began_us;    /* of the operation that changes the state */
	uint64_t digest;      /* of its netdev as last seen in the pod, 0 = not seen yet */
	uint32_t timeout_ms;  /* of the pool */
	struct attach_status status;
};

enum operation_kind { OP_ATTACH, OP_RETURN, OP_CHECK, OP_ANNOUNCE };

struct journal_walk;
struct namespace_search;

struct attach_engine {
	uv_loop_t *loop;
	const struct hw *hw;
	const struct inventory *inventory;
	const struct attach_ops *ops;
	struct attach_hooks hooks;
	char *state_dir, *cni_path, *cri_socket;
	bool dry_run;
	/* Those that an event has told of, the newest in place of the oldest. */
	char told_host_network[HOST_NETWORKS_MAX][HOST_NETWORK_SIZE];
	unsigned n_told_host_network;

	struct journal *journal; /* NULL: could not be opened yet */
	struct journal_walk *walk;
	struct namespace_search *search; /* NULL: none is under way */
	struct cri *cri;
	uint64_t cri_silent_ms; /* since when the runtime's list is not known, 0 = it is */
	uint64_t cri_asked_ms;	/* when the runtime was asked what is known of it now, 0 = never */
	struct attachment **items;
	size_t n;
	struct attachment *dropped;  /* the list that others have may still name them */
	struct desired_list desired; /* of the last decision; its pools may be gone */
	struct operation *queue, *paused;
	unsigned n_working;
	struct attach_gate *gates;
	struct early_order *early; /* attach orders that wait for something to be known */
	struct attach_list list;   /* as others have it; owned */

	uv_timer_t timer;
	bool list_changed; /* to be told at the next tick */
	bool journal_read, wants_journal, ready, closing, closed;
	bool checking;	  /* one of them is compared with its plan */
	bool expecting;	  /* the runtime was told that somebody waits */
	bool blind;	  /* what there is cannot be told from what is hidden */
	bool view_needed; /* something waits for a look at the host */
	uint64_t view_ms; /* of the next one */
	uint64_t opened_ms;
	uint64_t done_ms;    /* the last step of any attach or return */
	uint64_t look_ms;    /* the last look at everything */
	uint64_t ask_ms;     /* of the last question on behalf of a gate */
	uint64_t whose_ms;   /* of the last one on behalf of a new sandbox */
	uint64_t journal_ms; /* not before that the journal is tried again */
	uint64_t serial;     /* highest of all records */
	struct attach_counters counters;
};

/* --- engine.c --------------------------------------------------------------------------------- */

/* The next tick, in which everything is decided anew, is not later than that. */
void engine_wake(struct attach_engine *, uint64_t in_ms);
void engine_decide_soon(struct attach_engine *);
/* Asks the kubelet and the runtime. */
void engine_ask(struct attach_engine *);
/* Frees what is left once nothing runs any more. */
void engine_release_if_done(struct attach_engine *);
static inline uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* --- attachments.c: the set of them ----------------------------------------------------------- */

/* Whose device this is; a function, or one slot of a shared pool. NULL: nobody's. */
struct attachment *attachment_find(const struct attach_engine *, const struct attach_record *);
struct attachment *attachment_of_function(const struct attach_engine *, const char *function);
struct attachment *attachment_of_id(const struct attach_engine *, const char *resource,
				    const char *id);
/* Of this record, in the record's state; NULL: out of memory. */
struct attachment *attachment_new(struct attach_engine *, const struct attach_record *);
/* It must be free, and nothing may work on it. */
void attachment_drop(struct attachment *);
/* Any other than an allowed move is a bug of ours. */
void attachment_become(struct attachment *, enum attach_state);
/* Nothing works on it, nothing is left of it. */
bool attachment_is_idle(const struct attachment *);
bool record_is_stacked(const struct attach_record *);
/* Its netdev; NULL: not known, or it is a stacked one, which is not among the host's. */
const struct netdev *attachment_netdev(const struct attachment *);
/* As far as there has been a look. */
bool attachment_is_off_the_bus(const struct attachment *);
bool plan_equal(const struct net_plan *, const struct net_plan *);
/* Makes the list anew that others have; -ENOMEM: it stays as it was. */
int attachments_publish(struct attach_engine *);
/* All of them. */
void attachments_free(struct attach_engine *);

/* --- decide.c: what is to be done now --------------------------------------------------------- */

/* False: nothing can be decided yet. */
bool engine_decide(struct attach_engine *, const struct attach_view *);
/* When time alone may change the decision. */
uint64_t decide_deadline(const struct attach_engine *);
/* It is a container of that pod. */
bool held_by(const struct pod_device *, const struct attach_owner *);
/* NULL: the resource is not offered. */
const struct pool *view_pool(const struct attach_view *, const char *resource);

struct attach_record desired_record(const struct attach_engine *, const struct desired *);
/* What the pool says of everything that is attached from it. */
void follow_pool(struct attachment *, const struct desired *);
/* True, and said once, in a daemon that only says what it would do. why: NULL is fine. */
bool only_say(struct attachment *, const char *what, const char *why);

/* --- view.c: do we see the host? ------------------------------------------------------------- */

/* needed: something is attached, or is to be; only then what is missing is told. */
bool engine_sees(struct attach_engine *, bool needed);
/* Why nothing can be ordered, or 0. */
int engine_refuse_blind(const struct attach_engine *, struct err *);

/* --- namespaces.c: do they live? -------------------------------------------------------------- */

/* What can be seen at once: sets attachment.life. */
void namespaces_look(struct attach_engine *);
/* On a worker, for what is not where it was. */
void namespaces_search(struct attach_engine *);
uint64_t namespaces_deadline(const struct attach_engine *);

/* --- orphans.c: what nobody remembers --------------------------------------------------------- */

/* What bears our mark, and nothing is known of it, becomes bad and lost. */
void take_orphans(struct attach_engine *, const struct attach_view *);
/* A lost one that is seen: is free, belongs to the pod that runs with it, or is returned. */
void settle_lost(struct attachment *, const struct attach_view *);

/* --- operation.c: one device's work ----------------------------------------------------------- */

/* Out of memory: tried again by the next decision. */
void attachment_attach(struct attachment *);
void attachment_return(struct attachment *, const char *why);
/* What is left of its return is to note that it is free. False: out of memory. */
bool attachment_forget(struct attachment *, const char *why);
void attachment_check(struct attachment *, bool repair);
void attachment_announce(struct attachment *);
/* As many as there is room for. */
void operations_pump(struct attach_engine *);
/* Paused ones that are due go on. */
void operations_continue(struct attach_engine *);
uint64_t operations_deadline(const struct attach_engine *);
/* Ends those that no worker has; the others end themselves. */
void operations_close(struct attach_engine *);
/* "record", NULL = none. */
const char *operation_step(const struct operation *);

/* --- outcome.c: what an operation's end means ------------------------------------------------- */

void outcome_attached(struct attachment *);
/* The attach failed and is to be undone; or, nothing was changed: it is free again. */
void outcome_failed(struct attachment *, const char *step, const struct err *);
void outcome_unchanged(struct attachment *);
void outcome_returned(struct attachment *);
void outcome_stuck(struct attachment *, const struct err *);
/* Of one that is bad, or was so before it was tried again: not only that the kernel takes its time.
 */
bool outcome_is_trouble(const struct attachment *);
void outcome_checked(struct attachment *, int result, unsigned drift, bool repaired,
		     const struct err *);
/* Bad ones that are due are tried again. */
void outcome_retry(struct attach_engine *);
uint64_t outcome_deadline(const struct attach_engine *);

/* --- upkeep.c: of devices that are in their pod ----------------------------------------------- */

void upkeep(struct attach_engine *);
uint64_t upkeep_deadline(const struct attach_engine *);

/* --- gate.c ----------------------------------------------------------------------------------- */

/* Answers those that can be. view NULL: nothing is known. */
void gates_look(struct attach_engine *, const struct attach_view *);
/* Asks everybody who may know more, now and then. */
void gates_ask(struct attach_engine *);
uint64_t gates_deadline(const struct attach_engine *);
bool gates_await(const struct attach_engine *, const struct attach_record *);
void gates_close(struct attach_engine *);

/* --- orders.c --------------------------------------------------------------------------------- */

/* Those that its state answers; all of them when the engine closes. */
void orders_tell(struct attachment *);
/* Those that came before everything was known; all of them end when the engine closes. */
void orders_continue(struct attach_engine *);
uint64_t orders_deadline(const struct attach_engine *);

/* --- order_checks.c ----------------------------------------------------------------------------
 */

/* -EBUSY: it has VFs or a macvlan, is shared and a slot is given away, or carries the node's
 * default route. -ENOMEM. */
int order_check_unused(const struct attach_engine *, const struct attach_view *,
		       const char *function, struct err *);

/* --- engine_start.c: the journal of the life before ------------------------------------------- */

/* Opens it, if need be (otherwise only when there is one), and reads it on a worker; journal_read
 * is false until that is done. */
void journal_begin(struct attach_engine *, bool needed);

/* --- attach_events.c -------------------------------------------------------------------------- */

/* One sentence to whoever shows events, and into the log; a may be NULL. */
__attribute__((format(printf, 5, 6))) void engine_event(struct attach_engine *, enum event_type,
							const char *reason,
							const struct attach_record *,
							const char *fmt, ...);
/* "rocelet.dev/roce 0000:03:00.2", "pod a/b" */
#define DEVICE_TEXT_SIZE (RESOURCE_NAME_SIZE + PLUGIN_ID_SIZE)
const char *device_text(const struct attach_record *, char text[DEVICE_TEXT_SIZE]);
#define OWNER_TEXT_SIZE 400
const char *owner_text(const struct attach_owner *, char text[OWNER_TEXT_SIZE]);
