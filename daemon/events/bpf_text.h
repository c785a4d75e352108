/* bpf_text.h - what BPF events say, in words. Pure.
 *
 * Queue pairs' own events (BPF_EVENT_QP, BPF_EVENT_QP_FAILED) are told by who knows them, see
 * qp_table.h; here they have a line only. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "bpf_event.h"
#include "event.h"

/* One line without a newline, for log and watch. The event must have passed bpf_event_check(). */
void bpf_event_line(const struct bpf_event *, char *buf, size_t size);

/* Whether it is one for the ring of events; then *ret is it, but for its pod. Times are now_ms
 * (unix). Not for it: queue pairs, moves of netdevs, connections that were made. */
bool bpf_event_tell(const struct bpf_event *, uint64_t now_ms, struct event *ret);
