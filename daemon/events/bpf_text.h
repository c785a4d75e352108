/* SPDX-License-Identifier: Apache-2.0 */
/* bpf_text.h - BPF events as text. Pure.
 *
 * Events of queue pairs (BPF_EVENT_QP, BPF_EVENT_QP_FAILED) are made by qps.c, which knows more
 * about them, see qp_table.h; here they only have a line. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "bpf_event.h"
#include "event.h"

/* One line without a newline, for the log and for watching. The event must have passed
 * bpf_event_check(). */
void bpf_event_line(const struct bpf_event *, char *buf, size_t size);

/* Should the event be in the event ring? If so, *ret is it, without its pod. Its times are now_ms
 * (unix). False for queue pairs, moves of netdevs, successful connections. */
bool bpf_event_to_event(const struct bpf_event *, uint64_t now_ms, struct event *ret);
