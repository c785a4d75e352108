/* stacked.h - a macvlan or ipvlan on a shared function, for one pod. Internal to attach/. */
#pragma once

#include "step_run.h"

/* Into the record: the netdev below it. -EEXIST: the pod has an interface of that name. `seen` is
 * the function's netdev. */
int stacked_fill(struct step_run *);
/* It is in the pod, and the record knows which one it is. 1: it was there already, and may have
 * been changed since. */
int stacked_make(struct step_run *);
/* None of these addresses is in use on its network: a macvlan, `seen`, is brought up and asks, for
 * PROBE_MS. -EADDRINUSE names which and by which MAC. An ipvlan cannot hear the answer (the kernel
 * itself refuses an address of another ipvlan on the same netdev); what cannot be asked is taken to
 * be free. */
#define PROBE_MS 30
int stacked_probe(struct step_run *, const struct ip_prefix *, size_t n);
/* It exists nowhere any more: found in whichever namespace and under whichever name, by its id, and
 * deleted. -EAGAIN: it is in a namespace that cannot be entered. Where no BPF program can be run,
 * it is found in its pod, and elsewhere by our mark, which its pod can remove. */
int stacked_delete(struct step_run *);
