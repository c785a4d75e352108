/* SPDX-License-Identifier: Apache-2.0 */
/* cri.h - queries the pods' sandboxes from the container runtime.
 *
 * ListPodSandbox is authoritative. PodSandboxStatus(verbose) is called once per sandbox for its
 * details, which do not change. It is repeated while a sandbox has no network namespace yet. Events
 * only trigger queries: those of containerd's own event service (any number of subscribers), or
 * those of CRI's GetContainerEvents, if it sends all events to every subscriber (containerd >= 2,
 * CRI-O with pod events). After an event, the list is queried until it shows the change
 * (cri_hints.h). The list is also polled: every second while a caller waits (cri_expect()),
 * otherwise every 30 s, or every 10 s if the runtime sends no events. */
#pragma once

#include <stdint.h>

#include "err.h"
#include "sandbox.h"

struct uv_loop_s;
struct cri;

/* Called after every query with the last known list, borrowed. asked_ms: loop time at which the
 * query was sent, so earlier changes are in the list. 0: the query failed; `known` is false once
 * the runtime has not answered for CRI_DOUBT_MS. */
#define CRI_DOUBT_MS 5000
typedef void cri_fn(const struct sandbox_list *, uint64_t asked_ms, void *arg);

/* Starts the queries. socket: NULL or "" tries those of containerd, CRI-O, k3s and RKE2, k0s and
 * MicroK8s in turn, repeatedly until one of them has returned a list; from then on only that socket
 * is used. The list is queried at once, and whenever the socket is created again. */
int cri_open(struct cri **ret, struct uv_loop_s *, const char *socket, cri_fn *, void *arg,
	     struct err *);
/* Requests a query, because the list may have changed. Calls before the query is sent are combined
 * into one. */
void cri_refresh(struct cri *);
/* True while a caller waits for a sandbox: polls more often. */
void cri_expect(struct cri *, bool);
const struct sandbox_list *cri_sandboxes(const struct cri *);
void cri_status(const struct cri *, struct cri_status *ret);
/* May be NULL. The object is freed when the loop has no handles left. */
void cri_close(struct cri *);
