/* SPDX-License-Identifier: Apache-2.0 */
/* bpf_words.h - names of the kernel's numbers in BPF events: enum ib_event_type
 * (linux/include/rdma/ib_verbs.h), rdma_cm_event_type (rdma_cm.h), ib_cm_rej_reason (ib_cm.h).
 * Pure. An unknown number has a generic name. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "bpf_event.h"

/* Events of enum ib_event_type that change a port's verdict. */
enum { PORT_EVENT_FATAL = 8, PORT_EVENT_ACTIVE = 9, PORT_EVENT_DOWN = 10, PORT_EVENT_GID = 18 };

const char *ib_event_words(__u32 event);
const char *cm_event_words(__u32 event);
/* Returns a reason in the style of Kubernetes; *ret_warning is only set if it is a warning. */
const char *port_event_reason(__u32 event, bool *ret_warning);
/* Prints an IPv6 address, or an IPv4 address if it is mapped. */
void bpf_address_text(const __u8 address[16], char *buf, size_t size);
/* Returns the label of an enum ib_cm_rej_reason, such as "invalid_service_id"; "other" for a number
 * without a name. */
const char *cm_reject_label(int reason);
/* Returns the reason as text, such as "no process listens on that port". */
const char *cm_reject_meaning(int reason);
