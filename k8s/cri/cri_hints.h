/* SPDX-License-Identifier: Apache-2.0 */
/* cri_hints.h - chooses the events to subscribe to, and the changes to wait for after an event.
 * Pure.
 *
 * Events arrive before the list shows the change. Observed with containerd 1.6.20 in a pod's life:
 * /tasks/start of the sandbox, 1 to 5 ms later it is in the list, with its network namespace; its
 * first container is created 6 ms after that and starts another 60 ms later. /tasks/exit of the
 * sandbox, 30 to 50 ms later the list shows it as not ready (/tasks/delete comes in between, 6 to
 * 25 ms before that). /containers/delete of the sandbox up to 1 ms before it leaves the list. So
 * the list is queried repeatedly until it shows the change, for at most a second, because the
 * events of containers look the same as those of sandboxes. */
#pragma once

#include "cri.h"
#include "cri_wire.h"

/* The event source to try first, and the next one if it ended at once or does not exist.
 * containerd's own events go to any number of subscribers. So do CRI-O's; containerd's events by
 * CRI only since 2.0: before, each event goes to a single subscriber, so we would take events from
 * the kubelet. */
enum cri_hints cri_hints_first(const struct cri_version *);
enum cri_hints cri_hints_next(const struct cri_version *, enum cri_hints);

#define CRI_AWAITED_MAX 32

struct cri_awaited {
	char id[SANDBOX_ID_SIZE]; /* "" = any sandbox */
	enum cri_event_kind kind;
	uint64_t until_ms;
};

struct cri_await {
	struct cri_awaited items[CRI_AWAITED_MAX];
	size_t n;
	uint32_t pause_ms;
};

/* Returns whether the list has to be queried. is_asking: a running query may return a sandbox that
 * is not in the list yet. */
bool cri_await_event(struct cri_await *, const struct cri_event *, const struct sandbox_list *,
		     bool is_asking, uint64_t now_ms);
/* Expects any change of the list within the next second. */
void cri_await_anything(struct cri_await *, uint64_t now_ms);
/* Call after a query: returns the pause before the next one; 0 = nothing is awaited any more. */
uint32_t cri_await_pause(struct cri_await *, const struct sandbox_list *, uint64_t now_ms);
