// SPDX-License-Identifier: Apache-2.0
/* diagnosis_wiring.c - publishes the results of the sampler's diagnosis, to the API and as events;
 * and its inputs, to clients that record or follow the node. */
#include "cleanup.h"
#include "counters_watch.h"
#include "daemon.h"
#include "diagnosis_report.h"
#include "live_watch.h"
#include "routes_ports.h"
#include "sample_watch.h"
#include "verdict_event.h"

/* Before the first scan of the devices, no report is published: it would say that there are no
 * problems. */
void diagnosis_wiring_publish(const struct diagnosis_report *report, void *arg)
{
	struct daemon *d = arg;

	if (!d->page_counts)
		return;
	d->routes.diagnosis = report;
	for (size_t i = 0; i < report->n_verdicts; i++) {
		struct event event;

		if (verdict_event(&report->verdicts[i], report->unix_ms, &event))
			daemon_event(d, &event);
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

	sample_watch_tell(d->sample_watch, line);
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
	int r = live_watch_open(&d->live_watch, &d->loop, routes_live_look, &d->routes, e);

	if (r == 0)
		d->routes.live_watch = d->live_watch;
	return r;
}

void live_watch_stop(struct daemon *d)
{
	d->routes.live_watch = NULL;
	live_watch_close(take_ptr(d->live_watch));
}
