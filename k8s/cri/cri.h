/* cri.h - the pods' sandboxes, asked of the container runtime.
 *
 * ListPodSandbox is the truth, PodSandboxStatus(verbose) tells the details of each sandbox once
 * (they do not change in a sandbox's life, but a sandbox without a namespace yet is asked again).
 * Events are hints to ask: containerd's own event service (any number of subscribers), CRI's
 * GetContainerEvents where one subscriber does not take another's events (containerd >= 2, CRI-O
 * with pod events). After a hint the list is asked until it shows what the hint was about
 * (cri_hints.h). Beside that it is asked every second while somebody waits (cri_expect()), else
 * every 30 s, and every 10 s where no events are to be had. */
#pragma once

#include <stdint.h>

#include "err.h"
#include "sandbox.h"

struct uv_loop_s;
struct cri;

/* After every question: the list that is known now, borrowed. asked_ms: loop time at which the
 * question was sent, so that everything before it is in the list; 0: it was not answered, and
 * `known` is false once the runtime has been silent for CRI_DOUBT_MS. */
#define CRI_DOUBT_MS 5000
typedef void cri_fn(const struct sandbox_list *, uint64_t asked_ms, void *arg);

/* socket: NULL or "" probes /run/containerd/containerd.sock, then /var/run/crio/crio.sock, and
 * again until one has told its list; from then on it is that one alone. Asks at once and whenever
 * the socket is made anew. */
int cri_open(struct cri **ret, struct uv_loop_s *, const char *socket, cri_fn *, void *arg,
	     struct err *);
/* The list may have changed: asks soon. Every request made before the question is sent is answered
 * by it. */
void cri_refresh(struct cri *);
/* Somebody waits for a sandbox: ask often until told otherwise. */
void cri_expect(struct cri *, bool);
const struct sandbox_list *cri_sandboxes(const struct cri *);
void cri_status(const struct cri *, struct cri_status *ret);
/* NULL is fine. Gone when the loop has run out of handles. */
void cri_close(struct cri *);
