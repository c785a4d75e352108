/* SPDX-License-Identifier: Apache-2.0 */
/* qps.h - keeps the table of queue pairs up to date on the loop, from BPF events and RDMA netlink
 * dumps, with pods by the processes' cgroups. Sends an event when a queue pair fails.
 *
 * A dump is requested at the start, after lost events, and, if no events are available, when a
 * client requests the table. Flows are read only when a client requests the table. Each process is
 * looked up once, with its first queue pair. */
#pragma once

#include "bpf_event.h"
#include "hw.h"
#include "inventory.h"
#include "owners.h"
#include "qp_failures.h"
#include "qp_flows.h"
#include "sandbox.h"

struct uv_loop_s;
struct owners;
struct packet_view;
struct qps;

struct qps_hooks {
	/* Returns the known pods; NULL: none. */
	const struct sandbox_list *(*sandboxes)(void *arg);
	/* Returns a view of the counted flows, which qps releases; NULL: none are counted. */
	struct packet_view *(*packets)(void *arg);
	/* True if BPF events report every change now. */
	bool (*events)(void *arg);
	void *arg;
};

/* Opens the table. hw, inventory and owners must outlive the result; owners delivers the events of
 * failures. */
int qps_open(struct qps **ret, struct uv_loop_s *, const struct hw *, const struct inventory *,
	     struct owners *, const struct qps_hooks *, struct err *);
/* Stores the owners that were looked up; for owners_hooks.named. qps may be NULL. */
void qps_named(struct qps *, const struct process_owner *, size_t n);
/* Requests a dump if needed. Call when BPF programs may have been loaded or unloaded. qps may be
 * NULL. */
void qps_update(struct qps *);
/* Applies an event; ignores events of other kinds. NULL: events were lost. qps may be NULL. */
void qps_event(struct qps *, const struct bpf_event *);
/* Returns the data for qp_hooks of routes.h. */
void qps_get_sources(const struct qps *, struct qp_sources *ret, struct qps_status *ret_status);
int qps_refresh(struct qps *, void (*done)(uint64_t now_ms, void *arg), void *arg);
/* Returns the table; borrowed. */
const struct qp_table *qps_table(const struct qps *);
const struct qp_failures *qps_failures(const struct qps *);
/* Completes pending refreshes, and closes the object, which is freed when the loop has no handles
 * left. May be NULL. */
void qps_close(struct qps *);
