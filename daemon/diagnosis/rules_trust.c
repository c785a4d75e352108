// SPDX-License-Identifier: Apache-2.0
/* Rules that check whether the counters are plausible and the NIC works. */
#include <math.h>
#include <string.h>

#include "cleanup.h"
#include "search.h"

#include "rules.h"

/* Least time in seconds for which counters contradict each other, or do not move. */
#define CONTRADICTION_S 10
#define STUCK_S		10

static enum rule_answer rule_stuck(struct finding *f, enum severity severity, const char *why)
{
	f->severity = severity;
	f->why = why;
	f->at_once = true;
	return ANSWER_YES;
}

/* Returns the time of the first of the samples that these seconds cover. */
static uint64_t rule_first_of(const struct rule_input *in, double seconds)
{
	return in->now_ms - (uint64_t)(1000 * fmax(seconds - in->interval_s, 0));
}

static bool has_vfs(const struct rule_input *in)
{
	return any_of(in->all->n_ports, i,
		      in->all->ports[i].parent[0] &&
			      strcmp(in->all->ports[i].parent, in->port->function) == 0);
}

enum rule_answer rule_nic_stuck(const struct rule_input *in, struct finding *f)
{
	const struct observed_health *h = &in->port->health;

	if (h->unreachable)
		return rule_stuck(f, SEVERITY_CRITICAL,
				  "the function no longer responds on the bus");
	if (h->driverless && in->settled)
		return rule_stuck(f, SEVERITY_CRITICAL, "the function has no RDMA device");
	if (h->devlink_error[0])
		return rule_stuck(f, SEVERITY_CRITICAL,
				  "a devlink health reporter is in state error");
	if (in->history->commands_fail)
		return rule_stuck(f, SEVERITY_WARNING, "firmware commands fail");
	if (in->history->stuck_s < STUCK_S && (in->history->frozen_s < STUCK_S || has_vfs(in)))
		return ANSWER_NO;
	show(f, "roce_bytes_total", "B/s",
	     rate_of(in, SERIES_BYTES_RECEIVED) + rate_of(in, SERIES_BYTES_SENT), (double)NAN);
	show(f, "roce_packets_total", "1/s",
	     rate_of(in, SERIES_PACKETS_RECEIVED) + rate_of(in, SERIES_PACKETS_SENT), (double)NAN);
	show(f, "not moving for", "s", fmax(in->history->stuck_s, in->history->frozen_s), STUCK_S);
	f->since_ms = rule_first_of(in, fmax(in->history->stuck_s, in->history->frozen_s));
	return rule_stuck(f, SEVERITY_WARNING, "counters do not move while traffic flows");
}

/* Detects a reset of the NIC. One event is enough: the kernel's watchdog waits for seconds, and a
 * healthy NIC has none. */
enum rule_answer rule_nic_reset(const struct rule_input *in, struct finding *f)
{
	double timeouts = rate_of(in, SERIES_TX_TIMEOUTS);
	double reports = rate_of(in, SERIES_HEALTH_REPORTS);

	if (isnan(timeouts) && isnan(reports))
		return cannot_decide(f,
				     "no BPF program watches transmit timeouts and driver reports");
	if (!(timeouts > 0) && !(reports > 0))
		return ANSWER_NO;
	f->severity = SEVERITY_WARNING;
	f->at_once = true;
	f->why = timeouts > 0 ? "a transmit queue of its netdev hung for seconds"
			      : "its driver reported an error to devlink";
	show(f, "roce_nic_faults_total{kind=\"tx_timeout\"}", "", timeouts * in->interval_s, 0);
	show(f, "roce_nic_faults_total{kind=\"health_report\"}", "", reports * in->interval_s, 0);
	return ANSWER_YES;
}

/* Detects missing device nodes. Without the node of its uverbs device no pod can use the port. issm
 * and umad serve subnet management, which some NICs do not support, so umad is info only. */
enum rule_answer rule_no_device_node(const struct rule_input *in, struct finding *f)
{
	const struct observed_health *h = &in->port->health;

	if ((!h->no_uverbs && !h->no_umad) || in->port->state != PORT_ACTIVE || !in->settled)
		return ANSWER_NO;
	f->severity = h->no_uverbs ? SEVERITY_WARNING : SEVERITY_INFO;
	f->why = h->no_uverbs ? "uverbs: no pod can open the device" : "umad";
	return ANSWER_YES;
}

enum rule_answer rule_function_restricted(const struct rule_input *in, struct finding *f)
{
	if (!in->port->health.restricted[0])
		return ANSWER_NO;
	f->severity = SEVERITY_INFO;
	f->at_once = true;
	return ANSWER_YES;
}

/* True if at least two counters of the same events can be compared. */
static bool can_compare(const struct rule_input *in)
{
	static const enum series pairs[][2] = {
		{SERIES_CNP_SENT, SERIES_CE},
		{SERIES_CNP_HANDLED, SERIES_CNP_RECEIVED},
		{SERIES_OPTIONAL_CE, SERIES_CE},
		{SERIES_OPTIONAL_CNP_SENT, SERIES_CNP_SENT},
		{SERIES_OPTIONAL_CNP_RECEIVED, SERIES_CNP_RECEIVED},
	};
	bool pause = !isnan(in->pause_sent.share) || !isnan(in->pause_received.share);

	return pause ||
	       any_of(ARRAY_SIZE(pairs), i,
		      !isnan(rate_of(in, pairs[i][0])) && !isnan(rate_of(in, pairs[i][1])));
}

enum rule_answer rule_contradicting_counters(const struct rule_input *in, struct finding *f)
{
	if (in->history->disagree_s < CONTRADICTION_S)
		return no_sign(f, can_compare(in)
					  ? NULL
					  : "no two counters of the same events are visible");
	f->severity = SEVERITY_WARNING;
	f->since_ms = rule_first_of(in, in->history->disagree_s);
	show(f, "roce_ecn_ce_received_packets_total", "1/s", rate_of(in, SERIES_CE), (double)NAN);
	show(f, "roce_cnp_sent_packets_total", "1/s", rate_of(in, SERIES_CNP_SENT), (double)NAN);
	show(f, "roce_cnp_received_packets_total", "1/s", rate_of(in, SERIES_CNP_RECEIVED),
	     (double)NAN);
	show(f, "roce_cnp_handled_packets_total", "1/s", rate_of(in, SERIES_CNP_HANDLED),
	     (double)NAN);
	show_numbered(f, "roce_pfc_pause_seconds_total{direction=\"sent\",priority=\"#\"}",
		      in->pause_sent.priority, "ratio", in->pause_sent.share, (double)NAN);
	show(f, "contradicting for", "s", in->history->disagree_s, CONTRADICTION_S);
	return ANSWER_YES;
}

/* Detects missing or implausible counters. A source belongs to the node, so it is reported for
 * physical functions, not for each VF. */
enum rule_answer rule_blind_spot(const struct rule_input *in, struct finding *f)
{
	double stale = threshold(in, LIMIT_stale_source_seconds);

	f->severity = SEVERITY_INFO;
	if (in->history->above_line_rate) {
		show(f, "rates above the line's capacity", "", in->rates->ignored, 0);
		f->why = "impossible rates were ignored";
		return ANSWER_YES;
	}
	if (in->port->parent[0])
		return ANSWER_NO;
	for (int s = 0; s < N_SOURCES; s++) {
		const struct source_state *source = &in->all->sources[s];
		double age = ((double)in->now_ms - (double)source->read_ms) / 1000;

		if (!source->used || age <= stale ||
		    (!source->read_ms && in->now_ms - in->history->first_seen_ms < 1000 * stale))
			continue;
		show(f, "rocelet_source_age_seconds", "s", age, stale);
		f->why = "a source of counters delivers no values";
		return ANSWER_YES;
	}
	return ANSWER_NO;
}
