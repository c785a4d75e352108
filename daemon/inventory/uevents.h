/* uevents.h - hot-plug events of PCI, auxiliary, net and infiniband devices, through libudev. Hints
 * only. */
#pragma once

#include <stdbool.h>

#include "err.h"

struct uv_loop_s;
struct uevents;
struct self_counters;

/* `parts`: enum scan_part bits that may have changed. `lost`: events were dropped, anything may
 * have changed. */
typedef void uevents_hint_fn(unsigned parts, bool lost, void *arg);

/* kernel_source: take them straight from the kernel instead of after udev's rules. */
int uevents_open(struct uevents **ret, struct uv_loop_s *, bool kernel_source,
		 unsigned buffer_bytes, struct self_counters *, uevents_hint_fn *, void *arg,
		 struct err *);
/* NULL is fine. Freed by the loop once its handle has closed. */
void uevents_close(struct uevents *);

/* udev runs on this machine (its control socket is there), so its source carries events. */
bool uevents_udev_runs(void);
