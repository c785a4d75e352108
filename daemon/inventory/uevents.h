/* SPDX-License-Identifier: Apache-2.0 */
/* uevents.h - hot-plug events of PCI, auxiliary, net and infiniband devices, through libudev. The
 * events are only hints. */
#pragma once

#include <stdbool.h>

#include "err.h"

struct uv_loop_s;
struct uevents;
struct self_counters;

/* `parts`: enum scan_part bits that may have changed. `lost`: events were dropped, so anything may
 * have changed. */
typedef void uevents_hint_fn(unsigned parts, bool lost, void *arg);

/* Starts to receive events: with kernel_source directly from the kernel, otherwise from udev, after
 * its rules have run. */
int uevents_open(struct uevents **ret, struct uv_loop_s *, bool kernel_source,
		 unsigned buffer_bytes, struct self_counters *, uevents_hint_fn *, void *arg,
		 struct err *);
/* Closes the socket. May be NULL. The loop frees the object once its handle has closed. */
void uevents_close(struct uevents *);

/* True if udevd is running on this machine, i.e. its control socket exists. Only then its source
 * delivers events. */
bool uevents_udev_runs(void);
