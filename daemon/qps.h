/* qps.h - the table of queue pairs in the loop: fed by BPF events and RDMA netlink's dumps, named by
 * the processes' cgroups, and telling when a queue pair fails.
 *
 * A dump is asked for at the start, after events were lost, and where no events come when somebody
 * asks what there is. A process is asked for its pod once, when its first queue pair is seen; a
 * failure waits for that, but not for long. */
#pragma once

#include "bpf_event.h"
#include "event.h"
#include "hw.h"
#include "inventory.h"
#include "qp_failures.h"
#include "sandbox.h"

struct uv_loop_s;
struct qps;
struct qps_status;

struct qps_hooks {
	void (*event)(const struct event *, void *arg); /* a queue pair has failed */
	/* The pods that are known; NULL: none. */
	const struct sandbox_list *(*sandboxes)(void *arg);
	void *arg;
};

/* hw and inventory must outlive it. events: BPF tells of every change. */
int qps_open(struct qps **ret, struct uv_loop_s *, const struct hw *, const struct inventory *,
	     bool events, const struct qps_hooks *, struct err *);
/* Those of other kinds are left alone. NULL: some were lost. qps may be NULL. */
void qps_event(struct qps *, const struct bpf_event *);
/* Owned by it. */
const struct qp_table *qps_table(const struct qps *);
const struct qp_failures *qps_failures(const struct qps *);
void qps_tell_status(const struct qps *, struct qps_status *ret);
/* As qp_hooks.refresh of routes.h. */
int qps_refresh(struct qps *, void (*done)(uint64_t now_ms, void *arg), void *arg);
/* NULL is fine. Whoever waits for a refresh is told; gone when the loop has run out of handles. */
void qps_close(struct qps *);
