/* diagnosis_wing.c - what the sampler's diagnosis says: to the API, and as events. */
#include "daemon.h"
#include "diagnosis_report.h"
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
}
