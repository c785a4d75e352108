/* SPDX-License-Identifier: Apache-2.0 */
/* cri_hints.h - chooses the events to subscribe to, and the changes to wait for after an event.
 * Pure.
 *
 * Events arrive before the list shows the change. Observed with containerd 1.6.20: the sandbox is
 * in the list, with its network namespace, 1 to 5 ms after its /tasks/start; its first container is
 * created 6 ms after that and starts another 60 ms later. The list shows the sandbox as not ready
 * 30 to 50 ms after its /tasks/exit, and 6 to 25 ms after its /tasks/delete. It leaves the list up
 * to 1 ms after its /containers/delete. So the list is queried repeatedly until it shows the
 * change, for at most a second, because the events of containers look the same as those of
 * sandboxes. */
#pragma once

#include "cri.h"
#include "cri_wire.h"

/* Return the event source to try first, and the next one if that ended at once or does not exist.
 * containerd sends its own events to every subscriber, and so does CRI-O. containerd sends CRI
 * events to every subscriber only since 2.0; before, it sends each event to a single subscriber, so
 * the kubelet would miss events that we receive. */
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
/* Waits for any change of the list, for one second. */
void cri_await_anything(struct cri_await *, uint64_t now_ms);
/* Call after a query: returns the pause before the next one; 0 = nothing is awaited any more. */
uint32_t cri_await_pause(struct cri_await *, const struct sandbox_list *, uint64_t now_ms);
