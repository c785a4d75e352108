/* SPDX-License-Identifier: Apache-2.0 */
/* stacked.h - a macvlan or ipvlan on a shared function, for one pod. Internal to attach/. */
#pragma once

#include "step_run.h"

/* Records the parent netdev. -EEXIST: the pod has an interface of that name. `seen` must be the
 * function's netdev. */
int stacked_fill(struct step_run *);
/* Creates the netdev in the pod and records its id. 1: it existed already, and may have been
 * changed since. */
int stacked_make(struct step_run *);
/* Checks that none of these addresses is in use on the network: brings the macvlan (`seen`) up and
 * probes for PROBE_MS. -EADDRINUSE: the message names the address and the MAC. Does nothing for an
 * ipvlan, which cannot receive the answer (the kernel itself rejects an address of another ipvlan
 * on the same netdev). Addresses that cannot be probed count as free. */
#define PROBE_MS 30
int stacked_probe(struct step_run *, const struct ip_prefix *, size_t n);
/* Deletes the netdev, which is found by its id in any namespace and under any name. -EAGAIN: it is
 * in a namespace that cannot be entered. Without BPF, the netdev is found by its name in its pod,
 * and elsewhere by our mark, which its pod can remove. */
int stacked_delete(struct step_run *);
