/* SPDX-License-Identifier: Apache-2.0 */
/* engine_state.h - shared by the files that implement engine.h; internal to them.
 *
 * The loop owns everything here; a worker sees only the job of its operation. Nothing has a timer
 * of its own: all deadlines are handled in the engine's one tick. */
#pragma once

#include <uv.h>

#include "attach_ops.h"
#include "attachment_set.h"
#include "desired.h"
#include "engine.h"
#include "timer.h"
#include "waiters.h"

/* Maximum number of stored host-network devices, each as "<sandbox> <id>". */
#define HOST_NETWORKS_MAX 32
#define HOST_NETWORK_SIZE (SANDBOX_ID_SIZE + PLUGIN_ID_SIZE)
/* How long a start waits for the runtime's list. */
#define ENGINE_START_MS	  3000
/* Pause before the next try when out of memory. */
#define ENGINE_MEMORY_MS  1000

struct ipam_request;
struct journal_walk;
struct namespace_search;
struct operation_end;

/* The current pools and allocations; borrowed until the next iteration of the loop. */
struct attach_view {
	const struct pools *pools;
	const struct pod_list *held; /* includes reservations */
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
	const struct pools *pools; /* NULL: not known yet */
	bool dry_run;
	uint32_t cni_add_ms, cni_early_ms, cni_wait_ms;
	/* Host-network devices that were reported by an event; the newest overwrites the oldest. */
	char reported_host_network[HOST_NETWORKS_MAX][HOST_NETWORK_SIZE];
	unsigned n_reported_host_network;

	struct journal *journal; /* NULL: not open */
	struct journal_walk *walk;
	struct journal *probed; /* a worker tries to write there (journal_heal.h); NULL: none */
	uint64_t probe_ms;	/* earliest time of the next try */
	struct namespace_search *search; /* NULL: none is running */
	uint64_t cri_silent_ms; /* since when the runtime's list is unknown, 0 = it is known */
	struct attachments all;
	struct desired_list
		desired;	/* from the last decision; its pointers to pools may be invalid */
	struct waiters waiters; /* containers and admin requests */
	unsigned n_gates;	/* number of waiting containers */
	unsigned n_early;	/* requests that wait until their attach can begin */

	struct operation *queue, *paused;
	struct ipam_request *ipam_requests; /* running (ipam_requests.h) */
	unsigned n_ipam_requests;
	unsigned n_working;
	unsigned n_moving; /* operations that attach or return */
	unsigned n_stuck;  /* operations on hanging workers, not counted in n_working */
	/* Called at the end of an operation, to handle its result. */
	void (*ended)(struct attach_engine *, struct attachment *, const struct operation_end *);

	struct timer tick;
	uint64_t tick_ms; /* of the next tick, NEVER = none */
	bool ticking;
	bool journal_read, wants_journal, ready, closing, closed;
	bool remake;	     /* the journal's folder was removed: write all records again */
	unsigned n_checking; /* running checks, except those that hang */
	bool expecting;	     /* the runtime is polled more often, for a new sandbox */
	bool blind;	     /* parts of the host are hidden from us, or this is not known yet */
	uint64_t view_ms;    /* when the view is checked next */
	uint64_t opened_ms;
	uint64_t done_ms;	/* the last step of any attach or return */
	uint64_t full_check_ms; /* the last full check */
	uint64_t lists_ms;   /* the last request for new lists on behalf of a waiting container */
	uint64_t journal_ms; /* earliest time of the next try to open the journal */
	uint64_t serial;     /* the highest serial of all records */
	struct attach_counters counters;
};

static inline uint64_t engine_now(const struct attach_engine *e)
{
	return uv_now(e->loop);
}

/* Makes the next tick, which decides everything again, run at that loop time at the latest. */
void engine_tick_at(struct attach_engine *, uint64_t at_ms);
/* As engine_tick_at(), in the next iteration of the loop. */
void engine_soon(struct attach_engine *);
/* Requests new lists from the kubelet and the runtime. */
void engine_request_lists(struct attach_engine *);
/* The current pools and allocations; false: not known yet. */
bool engine_view(const struct attach_engine *, struct attach_view *ret);
const struct sandbox_list *engine_sandboxes(const struct attach_engine *);
/* Frees the engine once it is closed and no worker uses it. */
void engine_release_if_done(struct attach_engine *);
/* NULL: the resource is not offered. */
const struct pool *view_pool(const struct attach_view *, const char *resource);
/* -EAGAIN: parts of the host are hidden from us; the message names them. */
int engine_check_visible(const struct attach_engine *, struct err *);
