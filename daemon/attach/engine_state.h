/* engine_state.h - what the files behind engine.h share. For nobody else.
 *
 * Everything here is the loop's; a worker sees only the job of its operation. Nothing waits for a
 * timer of its own: what is due at some time is looked at in the engine's one tick. */
#pragma once

#include <uv.h>

#include "attach_ops.h"
#include "attachment_set.h"
#include "desired.h"
#include "due.h"
#include "engine.h"
#include "waiters.h"

/* How many devices of sandboxes with the host's network are remembered, "<sandbox> <id>". */
#define HOST_NETWORKS_MAX 32
#define HOST_NETWORK_SIZE (SANDBOX_ID_SIZE + PLUGIN_ID_SIZE)
/* How long a start waits for the runtime's list. */
#define ENGINE_START_MS	  3000
/* Out of memory: the next try. */
#define ENGINE_MEMORY_MS  1000

struct journal_walk;
struct namespace_search;
struct operation_end;

/* Borrowed until the loop goes on. */
struct attach_view {
	const struct pools *pools;
	const struct pod_list *held; /* with reservations */
};

struct attach_engine {
	uv_loop_t *loop;
	const struct hw *hw;
	const struct inventory *inventory;
	const struct attach_ops *ops;
	struct attach_hooks hooks;
	char *state_dir;
	struct ipam_host ipam_host;
	struct holders *holders;   /* NULL: closing */
	const struct pools *pools; /* NULL: not decided yet */
	bool dry_run;
	/* Those that an event has told of, the newest in place of the oldest. */
	char told_host_network[HOST_NETWORKS_MAX][HOST_NETWORK_SIZE];
	unsigned n_told_host_network;

	struct journal *journal; /* NULL: could not be opened yet */
	struct journal_walk *walk;
	struct namespace_search *search; /* NULL: none is under way */
	uint64_t cri_silent_ms;		 /* since when the runtime's list is not known, 0 = it is */
	struct attachments all;
	struct desired_list desired; /* of the last decision; its pools may be gone */
	struct waiters waiters;	     /* containers and people */
	unsigned n_gates;	     /* of them containers */
	unsigned n_early;	     /* orders that wait for something to be known */

	struct operation *queue, *paused;
	unsigned n_working;
	unsigned n_stuck; /* beside them, on workers that do not come back */
	/* What an operation's end means is the engine's business. */
	void (*ended)(struct attach_engine *, struct attachment *, const struct operation_end *);

	struct due tick;
	uint64_t due_ms; /* NEVER = nothing is */
	bool ticking;
	bool journal_read, wants_journal, ready, closing, closed;
	bool remake;	  /* the journal's folder is gone: all that is away is to be written anew */
	bool checking;	  /* one of them is compared with its plan */
	bool expecting;	  /* the runtime was told that somebody waits */
	bool blind;	  /* what there is cannot be told from what is hidden */
	uint64_t view_ms; /* of the next one */
	uint64_t opened_ms;
	uint64_t done_ms;    /* the last step of any attach or return */
	uint64_t look_ms;    /* the last look at everything */
	uint64_t ask_ms;     /* of the last question on behalf of a container that waits */
	uint64_t journal_ms; /* not before that the journal is tried again */
	uint64_t serial;     /* highest of all records */
	struct attach_counters counters;
};

static inline uint64_t engine_now(const struct attach_engine *e)
{
	return uv_now(e->loop);
}

/* The next tick, in which everything is decided anew, is not later than that (loop time). */
void engine_due(struct attach_engine *, uint64_t at_ms);
/* As soon as the loop goes on. */
void engine_soon(struct attach_engine *);
/* The kubelet and the runtime are asked. */
void engine_ask(struct attach_engine *);
/* What is offered and who holds what, as of now; false: not decided yet. */
bool engine_view(const struct attach_engine *, struct attach_view *ret);
const struct sandbox_list *engine_sandboxes(const struct attach_engine *);
/* Frees it once it is closed and no worker has anything of it. */
void engine_release_if_done(struct attach_engine *);
/* NULL: the resource is not offered. */
const struct pool *view_pool(const struct attach_view *, const char *resource);
/* -EAGAIN: the host cannot be seen; why, in words. */
int engine_refuse_blind(const struct attach_engine *, struct err *);
