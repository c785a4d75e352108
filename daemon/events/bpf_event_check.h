/* bpf_event_check.h - whether bytes from the ring are an event of our programs. Pure. */
#pragma once

#include <stddef.h>

#include "bpf_event.h"

/* 0: the version is ours, the size is that of the kind, all texts are terminated and all
 * enumerations of our own within their range; -EBADMSG otherwise. Numbers of the kernel's
 * (states, statuses, reasons) may be any. */
int bpf_event_check(const void *data, size_t size);
