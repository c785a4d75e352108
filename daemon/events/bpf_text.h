/* SPDX-License-Identifier: Apache-2.0 */
/* bpf_text.h - prints BPF events, and converts them to events of the API. Pure.
 *
 * Events of queue pairs (BPF_EVENT_QP, BPF_EVENT_QP_FAILED) are converted by qps.c, which has more
 * data about them (qp_table.h); here they are only printed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "bpf_event.h"
#include "event.h"

/* Prints the event as one line without a newline. The event must have passed bpf_event_check(). */
void bpf_event_line(const struct bpf_event *, char *buf, size_t size);

/* Converts the event for the event ring, without its pod; its times are now_ms (unix). False: it is
 * not for the ring (queue pairs, moves of netdevs, successful connections). */
bool bpf_event_to_event(const struct bpf_event *, uint64_t now_ms, struct event *ret);
