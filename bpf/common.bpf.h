/* common.bpf.h - the ring buffer to the daemon, and the count of what did not fit. */
#pragma once

#include <linux/bpf.h>

#include "bpf_event.h"

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 * 1024);
} events SEC(".maps");

/* Events lost because the ring was full: the daemon looks again when it grows. */
__u64 dropped;

/* Room for one event, zeroed but for its version and kind; NULL (and counted) when the ring is
 * full. */
static __always_inline struct bpf_event *event_reserve(enum bpf_event_kind kind)
{
	struct bpf_event *e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);

	if (!e) {
		__sync_fetch_and_add(&dropped, 1);
		return NULL;
	}
	__builtin_memset(e, 0, sizeof(*e));
	e->version = BPF_EVENT_VERSION;
	e->kind = kind;
	return e;
}
