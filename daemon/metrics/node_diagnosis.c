// SPDX-License-Identifier: Apache-2.0
#include "node_diagnosis.h"

#include <stdlib.h>
#include <string.h>

#include "rules.h"
#include "scenario_write.h"

struct node_diagnosis {
	struct port_observer *observer;
	struct diagnosis *engine;
	struct bursts *bursts;
	struct diagnosis_report reports[2]; /* while one is being read, the other one is made */
	unsigned made;			    /* index of the last one made */
	struct observation seen; /* borrowed from the observer: the last judged observation */
	bool unreported;	 /* no memory for the report of that observation */
};

struct node_diagnosis *node_diagnosis_new(const struct thresholds *limits)
{
	struct node_diagnosis *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->observer = port_observer_new();
	n->bursts = bursts_new(limits);
	if (n->observer && n->bursts && diagnosis_new(&n->engine, limits) == 0)
		return n;
	node_diagnosis_free(n);
	return NULL;
}

void node_diagnosis_free(struct node_diagnosis *n)
{
	if (!n)
		return;
	port_observer_free(n->observer);
	diagnosis_free(n->engine);
	bursts_free(n->bursts);
	for (unsigned i = 0; i < 2; i++)
		diagnosis_report_done(&n->reports[i]);
	free(n);
}

void node_diagnosis_follow(struct node_diagnosis *n, const struct thresholds *limits)
{
	diagnosis_set_thresholds(n->engine, limits);
	bursts_set_thresholds(n->bursts, limits);
}

/* --- bursts ----------------------------------------------------------------------------------- */

static bool node_diagnosis_shows(const struct diagnosis *d, const struct port_watched *p,
				 enum signal first, enum signal last)
{
	for (int s = (int)first; s <= (int)last; s++)
		if (window_get(&p->window, diagnosis_timeline(d), (enum signal)s, 0) > 0)
			return true;
	return false;
}

static unsigned reasons_of(const struct diagnosis *d, const struct port_watched *p)
{
	return (node_diagnosis_shows(d, p, SIGNAL_PAUSE_RECEIVED, SIGNAL_PAUSE_SENT) ? BURST_PAUSED
										     : 0) |
	       (node_diagnosis_shows(d, p, SIGNAL_CE_SHARE, SIGNAL_CNP_RECEIVED) ? BURST_MARKED
										 : 0) |
	       (node_diagnosis_shows(d, p, SIGNAL_DISCARDS, SIGNAL_TIMEOUTS) ? BURST_LOST : 0);
}

static bool node_diagnosis_find_watched(const struct diagnosis *d, const struct sampled_port *p,
					size_t *hint, struct port_watched *ret)
{
	size_t n = diagnosis_n_ports(d);

	for (size_t i = 0; i < n; i++) {
		diagnosis_port(d, (*hint + i) % n, ret);
		if (ret->port != p->port || strcmp(ret->device, p->device) != 0)
			continue;
		*hint += i + 1;
		return true;
	}
	return false;
}

/* Selects the ports for burst sampling until the next sample. */
static void choose_bursts(struct node_diagnosis *n, const struct sample *s)
{
	struct port_watched watched;
	size_t hint = 0;

	if (bursts_follow(n->bursts, s) < 0)
		return;
	for (size_t i = 0; i < s->n_ports; i++)
		if (s->ports[i].port &&
		    node_diagnosis_find_watched(n->engine, &s->ports[i], &hint, &watched))
			bursts_want(n->bursts, i,
				    watched.watch == WATCH_JUDGED || watched.watch == WATCH_WARMING
					    ? reasons_of(n->engine, &watched)
					    : 0,
				    s->taken_ms);
	bursts_admit(n->bursts, s->taken_ms);
}

struct bursts *node_diagnosis_bursts(struct node_diagnosis *n)
{
	return n->bursts;
}

void node_diagnosis_add_reading(struct node_diagnosis *n, const struct sample *s, size_t port,
				unsigned asked, uint64_t now_ns)
{
	double value[N_SERIES];
	const struct port_observation *o = port_observer_reread(n->observer, s, port, value);

	if (o)
		bursts_add_reading(n->bursts, port, value, port_line(o), o->mtu, asked, now_ns);
}

/* --- samples ---------------------------------------------------------------------------------- */

/* Observes and judges a sample. False: out of memory, there is no observation. */
static bool judge_sample(struct node_diagnosis *n, const struct sample *s,
			 const struct observer_inputs *inputs)
{
	struct observer_inputs all = *inputs;

	if (bursts_follow(n->bursts, s) == 0)
		all.bursts = n->bursts;
	if (port_observer_observe(n->observer, s, &all, &n->seen) < 0)
		return false;
	/* If out of memory, some ports are not judged. */
	diagnosis_tick(n->engine, &n->seen);
	choose_bursts(n, s);
	return true;
}

/* Judges a sample and makes the report. If a report failed, the next call retries it without
 * judging: the engine must never be more than one sample ahead of the last report, because that
 * report borrows its windows. */
const struct diagnosis_report *node_diagnosis_judge(struct node_diagnosis *n,
						    const struct sample *s,
						    const struct observer_inputs *inputs,
						    bool counters)
{
	struct diagnosis_report *report = &n->reports[1 - n->made];

	if (!n->unreported && !judge_sample(n, s, inputs))
		return NULL;
	n->unreported = diagnosis_report_make(report, n->engine) < 0 ||
			(counters && diagnosis_report_keep_counters(report, &n->seen) < 0);
	if (n->unreported)
		return NULL;
	memcpy(report->sources, n->seen.sources, sizeof(report->sources));
	n->made = 1 - n->made;
	return report;
}

char *node_diagnosis_line(const struct node_diagnosis *n)
{
	json_auto_t *line = n->seen.now_ms ? scenario_line(&n->seen) : NULL;

	return line ? json_dumps(line, JSON_COMPACT) : NULL;
}
