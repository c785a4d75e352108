/* SPDX-License-Identifier: Apache-2.0 */
/* bpf_event_check.h - validates bytes from the ring buffer as an event of our programs. Pure. */
#pragma once

#include <stddef.h>

#include "bpf_event.h"

/* 0: the version is ours, the size matches the kind, all strings are terminated and our own enums
 * are in range; otherwise -EBADMSG. The kernel's numbers (states, statuses, reasons) are not
 * checked. */
int bpf_event_check(const void *data, size_t size);
