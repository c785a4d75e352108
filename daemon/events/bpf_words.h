/* bpf_words.h - the kernel's numbers in BPF events as words: enum ib_event_type
 * (linux/include/rdma/ib_verbs.h), rdma_cm_event_type (rdma_cm.h), ib_cm_rej_reason (ib_cm.h).
 * Pure. An unknown number has a word that says so. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "bpf_event.h"

/* enum ib_event_type: those that ports are judged by. */
enum { PORT_EVENT_FATAL = 8, PORT_EVENT_ACTIVE = 9, PORT_EVENT_DOWN = 10, PORT_EVENT_GID = 18 };

const char *ib_event_words(__u32 event);
const char *cm_event_words(__u32 event);
/* A reason in Kubernetes' manner; *ret_warning is only set where it is one. */
const char *port_event_reason(__u32 event, bool *ret_warning);
/* IPv6, or IPv4 where it is mapped. */
void bpf_address_text(const __u8 address[16], char *buf, size_t size);
/* enum ib_cm_rej_reason as a label, "invalid_service_id"; "other" for a number without a name. */
const char *cm_reject_label(int reason);
/* The same for a person: "nobody listens on that port". */
const char *cm_reject_meaning(int reason);
