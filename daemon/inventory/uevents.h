/* SPDX-License-Identifier: Apache-2.0 */
/* uevents.h - hot-plug events of PCI, auxiliary, net and infiniband devices, through libudev. Hints
 * only. */
#pragma once

#include <stdbool.h>

#include "err.h"

struct uv_loop_s;
struct uevents;
struct self_counters;

/* `parts`: enum scan_part bits that may have changed. `lost`: events were dropped, so anything may
 * have changed. */
typedef void uevents_hint_fn(unsigned parts, bool lost, void *arg);

/* kernel_source: receive events from the kernel directly, not from udev after its rules. */
int uevents_open(struct uevents **ret, struct uv_loop_s *, bool kernel_source,
		 unsigned buffer_bytes, struct self_counters *, uevents_hint_fn *, void *arg,
		 struct err *);
/* NULL is fine. Freed by the loop once its handle has closed. */
void uevents_close(struct uevents *);

/* Is udevd running on this machine (its control socket exists)? If so, its source delivers
 * events. */
bool uevents_udev_runs(void);
