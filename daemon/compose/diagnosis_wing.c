/* diagnosis_wing.c - what the sampler's diagnosis says: to the API, and as events; and what it was
 * told, to who records that or follows the node. */
#include "cleanup.h"
#include "daemon.h"
#include "diagnosis_report.h"
#include "live_watch.h"
#include "routes_ports.h"
#include "sample_watch.h"
#include "verdict_event.h"

/* Until the devices have been looked for, nobody is told that nothing is wrong with them. */
void diagnosis_wing_tell(const struct diagnosis_report *report, void *arg)
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
	vf_wing_sampled(d, report->now_ms);
}

/* --- for who records -------------------------------------------------------------------------- */

bool diagnosis_wing_wants_line(void *arg)
{
	const struct daemon *d = arg;

	return sample_watch_wants(d->sample_watch);
}

void diagnosis_wing_line(const char *line, void *arg)
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

/* --- for who follows -------------------------------------------------------------------------- */

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
