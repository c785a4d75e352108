// SPDX-License-Identifier: Apache-2.0
/* qp_wiring.c - the modules for waiting event clients, the owners of processes, and queue pairs,
 * and their connections. */
#include "bpf_source.h"
#include "daemon.h"
#include "event_watch.h"
#include "events.h"
#include "holders.h"
#include "live_watch.h"
#include "node.h"
#include "owners.h"
#include "qps.h"
#include "self_metrics.h"

/* Maximum age of the sums per port: old failures must be dropped even if the table is unchanged. */
#define QP_PORTS_NS UINT64_C(10000000000)

void daemon_event(struct daemon *d, const struct event *event)
{
	events_add(&d->events, event);
	event_watch_wake(d->event_watch);
	live_watch_event(d->live_watch);
}

static void qp_wiring_on_event(const struct event *event, void *arg)
{
	daemon_event(arg, event);
}

static void qp_wiring_on_named(const struct process_owner *owners, size_t n, void *arg)
{
	const struct daemon *d = arg;

	qps_named(d->qps, owners, n);
}

static const struct sandbox_list *known_pods(void *arg)
{
	const struct daemon *d = arg;

	return holders_sandboxes(d->holders);
}

/* --- sources of queue pairs ------------------------------------------------------------------- */

/* True if events keep the table current, which needs all three programs. */
static bool has_events(void *arg)
{
	const struct daemon *d = arg;

	return bpf_source_runs(d->bpf, "qp_created") && bpf_source_runs(d->bpf, "qp_modified") &&
	       bpf_source_runs(d->bpf, "qp_destroyed");
}

/* --- for the routes --------------------------------------------------------------------------- */

static void qp_sources_read(struct qp_sources *ret, struct qps_status *ret_status, void *arg)
{
	const struct daemon *d = arg;

	qps_get_sources(d->qps, ret, ret_status);
}

/* While queue pairs are not read. */
static void qp_sources_missing(struct qp_sources *ret, struct qps_status *ret_status, void *arg)
{
	const struct daemon *d = arg;

	*ret = (struct qp_sources){.sandboxes = known_pods(arg)};
	*ret_status = (struct qps_status){.given_up = true};
	snprintf(ret_status->error, sizeof(ret_status->error), "%s", d->qps_error.msg);
}

static int qp_wiring_refresh(void (*done)(uint64_t now_ms, void *done_arg), void *done_arg,
			     void *arg)
{
	struct daemon *d = arg;

	return qps_refresh(d->qps, done, done_arg);
}

/* --- modules ---------------------------------------------------------------------------------- */

int event_watch_start(struct daemon *d, struct err *e)
{
	int r = event_watch_open(&d->event_watch, &d->loop, &d->events, e);

	if (r == 0)
		d->routes.event_watch = d->event_watch;
	return r;
}

void event_watch_stop(struct daemon *d)
{
	d->routes.event_watch = NULL;
	event_watch_close(d->event_watch);
	d->event_watch = NULL;
}

int owners_start(struct daemon *d, struct err *e)
{
	const struct owners_hooks hooks = {
		.named = qp_wiring_on_named,
		.event = qp_wiring_on_event,
		.sandboxes = known_pods,
		.arg = d,
	};

	return owners_open(&d->owners, &d->loop, &d->hw, &hooks, e);
}

void owners_stop(struct daemon *d)
{
	owners_close(d->owners);
	d->owners = NULL;
}

int qps_start(struct daemon *d, struct err *e)
{
	const struct qps_hooks hooks = {
		.sandboxes = known_pods,
		.packets = packet_wiring_view,
		.events = has_events,
		.arg = d,
	};
	int r = d->hw.live ? qps_open(&d->qps, &d->loop, &d->hw, node_inventory(d->node), d->owners,
				      &hooks, e)
			   : err_set(e, -EOPNOTSUPP, "the sysfs root is not this kernel's");

	if (r < 0)
		d->qps_error = *e;
	d->routes.qp_hooks = r < 0 ? (struct qp_hooks){.fill = qp_sources_missing, .arg = d}
				   : (struct qp_hooks){.fill = qp_sources_read,
						       .refresh = qp_wiring_refresh,
						       .arg = d};
	return r;
}

void qps_stop(struct daemon *d)
{
	qps_close(d->qps); /* closing completes pending requests, which use the table */
	qp_ports_done(&d->qp_ports);
	d->routes.qp_hooks = (struct qp_hooks){0};
	d->qps = NULL;
}

void qp_wiring_describe(struct daemon *d, struct self_metrics *m)
{
	const bool watched[N_QP_FAILURE_SOURCES] = {
		[QP_FAILS_BY_EVENT] = bpf_source_runs(d->bpf, "qp_error"),
		[QP_FAILS_BY_MOVE] = has_events(d),
		[QP_FAILS_BY_COMPLETION] = bpf_source_runs(d->bpf, "soft_completion"),
	};

	if (!d->qps)
		return;
	qps_update(d->qps);
	qp_summary_build(&m->qps, qps_table(d->qps), has_events(d), qps_failures(d->qps));
	qp_summary_watch(&m->qps, &node_inventory(d->node)->host, watched);
}

/* NULL: there are no events, so the table is only read on request and not current; or out of
 * memory. */
const struct qp_ports *qp_wiring_ports(void *arg)
{
	struct daemon *d = arg;
	const struct qp_table *table = d->qps && has_events(d) ? qps_table(d->qps) : NULL;
	uint64_t now_ns = uv_hrtime();

	if (!table)
		return NULL;
	if (d->qp_ports_ns && d->qp_ports_generation == table->generation &&
	    now_ns - d->qp_ports_ns < QP_PORTS_NS)
		return &d->qp_ports;
	qp_ports_done(&d->qp_ports);
	d->qp_ports_ns = 0;
	if (qp_ports_build(&d->qp_ports, table, now_ns) < 0)
		return NULL;
	d->qp_ports_ns = now_ns;
	d->qp_ports_generation = table->generation;
	return &d->qp_ports;
}
