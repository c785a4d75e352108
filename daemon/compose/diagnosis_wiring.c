// SPDX-License-Identifier: Apache-2.0
/* diagnosis_wiring.c - publishes the results of the sampler's diagnosis to the API and as events,
 * and its inputs to clients that record or follow the node. */
#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "counters_watch.h"
#include "daemon.h"
#include "diagnosis_report.h"
#include "inventory.h"
#include "live_watch.h"
#include "routes_ports.h"
#include "sample_watch.h"
#include "unix_time.h"
#include "verdict_event.h"
#include "verdict_pods.h"

/* --- readiness -------------------------------------------------------------------------------- */

/* Shorter interruptions are not reported, such as a restart of the kubelet or an upgrade. */
#define REPORT_AFTER_MS 15000
/* Pause between two reports, if the reason changes. */
#define REPORT_PAUSE_MS 60000

static void ready_report(struct daemon *d, enum event_type type, const char *reason,
			 const char *text)
{
	struct event event = {.type = type};

	snprintf(event.reason, sizeof(event.reason), "%s", reason);
	event.first_ms = event.last_ms = unix_ms();
	snprintf(event.message, sizeof(event.message), "%.*s", (int)(sizeof(event.message) - 1),
		 text);
	event.message[strcspn(event.message, "\n")] = '\0';
	daemon_event(d, &event);
}

/* Ends the state "not ready", and reports that if it was reported. */
static void ready_again(struct daemon *d)
{
	if (d->not_ready.reported[0])
		ready_report(d, EVENT_NORMAL, "Ready", "ready again");
	d->not_ready = (struct not_ready){.since_ms = 0};
}

/* The first reason, and how many others there are. */
static void ready_report_reasons(struct daemon *d, const struct readiness *reasons)
{
	const char *first = reasons->text + strlen(READINESS_MARK);
	char text[256];
	int n = (int)strcspn(first, "\n");

	if (reasons->n > 1)
		snprintf(text, sizeof(text), "%.*s (and %u more: see /readyz)", n < 200 ? n : 200,
			 first, reasons->n - 1);
	else
		snprintf(text, sizeof(text), "%.*s", n, first);
	ready_report(d, EVENT_WARNING, "NotReady", text);
}

/* Sends an event when the daemon is not ready, with the first reason of /readyz, and when it is
 * ready again. So the log and `rocectl events` show the same as the probe. */
void ready_wiring_check(struct daemon *d, uint64_t now_ms)
{
	struct not_ready *n = &d->not_ready;
	struct readiness reasons;

	readiness_read(&reasons, &d->routes);
	/* Reasons of other kinds have events of their own (reload.c, and the engine's). */
	if (reasons.kinds & ~(1u << READINESS_SERVE))
		return;
	if (reasons.n == 0) {
		ready_again(d);
		return;
	}
	if (n->since_ms == 0)
		n->since_ms = now_ms;
	if (now_ms - n->since_ms < REPORT_AFTER_MS || strcmp(n->reported, reasons.text) == 0 ||
	    (n->reported[0] && now_ms - n->reported_ms < REPORT_PAUSE_MS))
		return;
	memcpy(n->reported, reasons.text, sizeof(n->reported));
	n->reported_ms = now_ms;
	ready_report_reasons(d, &reasons);
}

/* Adds the event with all pods of the verdict. */
static void add_verdict_event(struct daemon *d, const struct diagnosis_report *report,
			      const struct verdict *v, struct event *event)
{
	const struct verdict_holders holders = {report, d->routes.resources,
						&d->routes.inventory->host};
	struct text others = {0};

	verdict_pods_others(&holders, v, &others);
	text_add(&others, "", 1);
	event->other_pods = others.failed ? NULL : others.data;
	daemon_event(d, event);
	text_done(&others);
}

/* Publishes nothing before the first scan of the devices, because that report would have no
 * problems. */
void diagnosis_wiring_publish(const struct diagnosis_report *report, void *arg)
{
	struct daemon *d = arg;

	if (!d->page_counts)
		return;
	d->routes.diagnosis = report;
	for (size_t i = 0; i < report->n_verdicts; i++) {
		struct event event;

		if (verdict_event(&report->verdicts[i], report->verdicts, report->n_verdicts,
				  report->unix_ms, &event))
			add_verdict_event(d, report, &report->verdicts[i], &event);
	}
	live_watch_sample(d->live_watch);
	attach_wiring_sampled(d, report->now_ms);
	config_checks_again(d, report->now_ms);
	ready_wiring_check(d, report->now_ms);
}

/* --- recording -------------------------------------------------------------------------------- */

bool diagnosis_wiring_wants_line(void *arg)
{
	const struct daemon *d = arg;

	return sample_watch_wants(d->sample_watch);
}

void diagnosis_wiring_line(const char *line, void *arg)
{
	struct daemon *d = arg;

	sample_watch_notify(d->sample_watch, line);
}

int sample_watch_start(struct daemon *d, struct err *e)
{
	int r = sample_watch_open(&d->sample_watch, &d->loop, e);

	if (r == 0)
		d->routes.sample_watch = d->sample_watch;
	return r;
}

void sample_watch_stop(struct daemon *d)
{
	d->routes.sample_watch = NULL;
	sample_watch_close(d->sample_watch);
	d->sample_watch = NULL;
}

/* --- counters of single ports ----------------------------------------------------------------- */

size_t diagnosis_wiring_wants_ports(struct port_name *ret, void *arg)
{
	struct daemon *d = arg;

	return counters_watch_ports(d->counters_watch, uv_now(&d->loop), ret);
}

void diagnosis_wiring_ports_read(const struct port_counters_set *set, void *arg)
{
	struct daemon *d = arg;

	counters_watch_deliver(d->counters_watch, set);
}

int counters_watch_start(struct daemon *d, struct err *e)
{
	int r = counters_watch_open(&d->counters_watch, &d->loop, e);

	if (r == 0)
		d->routes.counters_watch = d->counters_watch;
	return r;
}

void counters_watch_stop(struct daemon *d)
{
	d->routes.counters_watch = NULL;
	counters_watch_close(take_ptr(d->counters_watch));
}

/* --- following -------------------------------------------------------------------------------- */

int live_watch_start(struct daemon *d, struct err *e)
{
	int r = live_watch_open(&d->live_watch, &d->loop, routes_live_input, &d->routes, e);

	if (r == 0)
		d->routes.live_watch = d->live_watch;
	return r;
}

void live_watch_stop(struct daemon *d)
{
	d->routes.live_watch = NULL;
	live_watch_close(take_ptr(d->live_watch));
}
