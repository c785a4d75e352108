/* qps.h - the table of queue pairs in the loop: fed by BPF events and RDMA netlink's dumps, named
 * by the processes' cgroups, and telling when a queue pair fails.
 *
 * A dump is asked for at the start, after events were lost, and where no events come when somebody
 * asks what there is; flows are read only then, too. A process is asked for its pod once, when its
 * first queue pair is seen. */
#pragma once

#include "bpf_event.h"
#include "hw.h"
#include "inventory.h"
#include "known_owners.h"
#include "qp_failures.h"
#include "qp_flows.h"
#include "sandbox.h"

struct uv_loop_s;
struct owners;
struct packet_view;
struct qps;

struct qps_hooks {
	/* The pods that are known; NULL: none. */
	const struct sandbox_list *(*sandboxes)(void *arg);
	/* Where flows are counted, to be put back; NULL: nowhere. */
	struct packet_view *(*packets)(void *arg);
	/* Does BPF tell of every change now? */
	bool (*events)(void *arg);
	void *arg;
};

/* hw, inventory and owners must outlive it; owners tells which queue pair has failed. */
int qps_open(struct qps **ret, struct uv_loop_s *, const struct hw *, const struct inventory *,
	     struct owners *, const struct qps_hooks *, struct err *);
/* For owners_hooks. NULL is fine. */
void qps_named(struct qps *, const struct process_owner *, size_t n);
/* Programs may have come or gone. NULL is fine. */
void qps_look(struct qps *);
/* Those of other kinds are left alone. NULL: some were lost. qps may be NULL. */
void qps_event(struct qps *, const struct bpf_event *);
/* As qp_hooks of routes.h. */
void qps_tell(const struct qps *, struct qp_sources *ret, struct qps_status *ret_status);
int qps_refresh(struct qps *, void (*done)(uint64_t now_ms, void *arg), void *arg);
/* Owned by it. */
const struct qp_table *qps_table(const struct qps *);
const struct qp_failures *qps_failures(const struct qps *);
/* NULL is fine. Whoever waits for a refresh is told; gone when the loop has run out of handles. */
void qps_close(struct qps *);
