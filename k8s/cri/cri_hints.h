/* cri_hints.h - which events are asked of which runtime, and which sandboxes they make us wait for.
 * Pure.
 *
 * A hint comes before the list shows what it is about. Seen with containerd 1.6.20, a pod's life:
 * /tasks/start of the sandbox, 1 to 5 ms later it is in the list, with its network namespace; its
 * first container is created 6 ms after that and starts 60 ms after that. /tasks/exit of the
 * sandbox, 30 to 50 ms later the list says that it is not ready (/tasks/delete lies in between, 6
 * to 25 ms before). /containers/delete of the sandbox up to 1 ms before it leaves the list. Hence
 * the list is asked again until it shows what the event says, for a second at most: containers
 * start, too, and cannot be told from sandboxes. */
#pragma once

#include "cri.h"
#include "cri_wire.h"

/* What to ask first, and what next when that has ended at once or is not there. containerd's own
 * events go to any number of subscribers. So do those of CRI-O; containerd's by CRI only since 2.0:
 * before, each event goes to one of the subscribers, and the kubelet might be another. */
enum cri_hints cri_hints_first(const struct cri_version *);
enum cri_hints cri_hints_next(const struct cri_version *, enum cri_hints);

#define CRI_AWAITED_MAX 32

struct cri_awaited {
	char id[SANDBOX_ID_SIZE]; /* "" = anything */
	enum cri_event_kind kind;
	uint64_t until_ms;
};

struct cri_await {
	struct cri_awaited items[CRI_AWAITED_MAX];
	size_t n;
	uint32_t pause_ms;
};

/* Whether the list has to be asked for. is_asking: an answer is under way that may name a sandbox
 * that the list does not. */
bool cri_await_event(struct cri_await *, const struct cri_event *, const struct sandbox_list *,
		     bool is_asking, uint64_t now_ms);
/* The list may change in any way within the next second. */
void cri_await_anything(struct cri_await *, uint64_t now_ms);
/* After an answer: how long to wait before it is asked again; 0 = nothing is awaited any more. */
uint32_t cri_await_pause(struct cri_await *, const struct sandbox_list *, uint64_t now_ms);
