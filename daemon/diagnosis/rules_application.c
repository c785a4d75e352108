// SPDX-License-Identifier: Apache-2.0
/* Rules for faults of the application, its peers and its addresses. */
#include <math.h>

#include "search.h"

#include "rules.h"

static bool a_pod_ended(const struct port_observation *o)
{
	return any_of(o->n_pods, i, o->pods[i].ended);
}

/* Returns the queue pairs that failed in the present run of failures; NaN: not counted. */
static double exceeded_lately(const struct rule_input *in, double exceeded)
{
	const struct failure_run *r = &in->history->not_ready;
	bool lately = r->last_ms && in->now_ms - r->last_ms < in->span_ms[SPAN_LATELY];

	return lately && !a_pod_ended(in->port) ? r->count : exceeded;
}

enum rule_answer rule_receiver_not_ready(const struct rule_input *in, struct finding *f)
{
	static const char uncounted[] =
		"neither RNR NAKs nor missing receive work requests are counted";
	/* When a pod ends, its receives disappear before its peers stop sending. */
	double counted = rate_of(in, SERIES_RNR_EXCEEDED);
	double exceeded = counted > 0 && a_pod_ended(in->port) ? 0 : counted,
	       rate = in->mean[SIGNAL_NOT_READY];
	double missing = fmax(rate_of(in, SERIES_WQE_MISSING), rate_of(in, SERIES_RNR_NAK_SENT));

	if (isnan(rate) && isnan(exceeded))
		return cannot_decide(f, uncounted);
	if (!(exceeded > 0) && !sustained(in, SIGNAL_NOT_READY, limit(in, LIMIT_not_ready_rate)))
		return no_sign(f, isnan(rate) ? uncounted : NULL);
	f->at_once = exceeded > 0;
	f->severity = exceeded > 0 ? SEVERITY_CRITICAL : SEVERITY_WARNING;
	f->why = missing > 0 && !(rate_of(in, SERIES_RNR_NAK) >= missing)
			 ? "cause: this host's application"
			 : "cause: the peer's application";
	show(f, "roce_rnr_nak_received_total", "1/s", rate_of(in, SERIES_RNR_NAK),
	     threshold(in, LIMIT_not_ready_rate));
	show(f, "roce_receive_wqe_missing_total", "1/s", rate_of(in, SERIES_WQE_MISSING),
	     threshold(in, LIMIT_not_ready_rate));
	show(f, "roce_rnr_retries_exceeded_total", "", exceeded_lately(in, exceeded), 0);
	return ANSWER_YES;
}

/* Milliseconds since queue pairs failed because retries ran out; UINT64_MAX: not recently. */
static uint64_t since_failed(const struct rule_input *in)
{
	uint64_t failed_ms = in->history->failed.last_ms;

	return failed_ms && in->now_ms - failed_ms < in->span_ms[SPAN_LATELY]
		       ? in->now_ms - failed_ms
		       : UINT64_MAX;
}

/* True if there was practically no traffic in the last seconds. */
static bool traffic_stopped(const struct rule_input *in)
{
	double bytes = window_mean(in->window, in->timeline, SIGNAL_BYTES_SENT,
				   in->span_ms[SPAN_LULL]) +
		       window_mean(in->window, in->timeline, SIGNAL_BYTES_RECEIVED,
				   in->span_ms[SPAN_LULL]);

	return bytes < threshold(in, LIMIT_utilisation_idle) * in->most;
}

/* Sets when the fault began: at the first of the timeouts that made the queue pairs fail; if none
 * is visible, at the first failure. */
static void set_since_failures(const struct rule_input *in, struct finding *f)
{
	f->since_ms = window_since_at(in->window, in->timeline, SIGNAL_TIMEOUTS,
				      in->span_ms[SPAN_BACK], in->span_ms[SPAN_LULL],
				      in->history->failed.last_ms);
	if (f->since_ms)
		return;
	f->since_ms = in->history->failed.first_ms;
	f->since_exact = true;
}

static void show_failures(const struct rule_input *in, struct finding *f)
{
	const struct observed_qps *q = &in->port->qps;

	f->last_ms = in->history->failed.last_ms;
	show(f, "roce_transport_retries_exceeded_total", "", in->history->failed.count, 0);
	show(f, "roce_ack_timeouts_total", "1/s", in->mean[SIGNAL_TIMEOUTS], (double)NAN);
	if (!q->failures_known)
		return;
	show(f, "queue pairs that failed", "", q->failed, (double)NAN);
	show(f, "peers of these queue pairs", "", q->failed_peers, (double)NAN);
}

static bool gid_moved_lately(const struct rule_input *in)
{
	uint64_t moved_ms = in->history->gid_ms;

	return moved_ms && in->now_ms - moved_ms < 2 * in->span_ms[SPAN_LATELY];
}

/* Detects a moved GID. Queue pairs hold an index into the GID table. After a move, the old index
 * has another address or none, and responses from the peers are lost. */
enum rule_answer rule_gid_moved(const struct rule_input *in, struct finding *f)
{
	bool failed = since_failed(in) != UINT64_MAX;

	if (!gid_moved_lately(in) || a_pod_ended(in->port))
		return ANSWER_NO;
	if (!failed && !sustained(in, SIGNAL_TIMEOUTS, 0))
		return no_sign(f, isnan(in->mean[SIGNAL_TIMEOUTS]) &&
						  isnan(rate_of(in, SERIES_RETRIES_EXCEEDED))
					  ? "neither timeouts nor failed queue pairs are counted"
					  : NULL);
	f->severity = SEVERITY_WARNING;
	f->at_once = failed;
	if (failed)
		set_since_failures(in, f);
	show_failures(in, f);
	return ANSWER_YES;
}

enum rule_answer rule_job_ended(const struct rule_input *in, struct finding *f)
{
	if (since_failed(in) == UINT64_MAX || !a_pod_ended(in->port))
		return ANSWER_NO;
	f->severity = SEVERITY_INFO;
	f->at_once = true;
	set_since_failures(in, f);
	show_failures(in, f);
	return ANSWER_YES;
}

/* If one of several peers failed, that peer is down. If all peers failed at once, their job may be
 * ending; the state of this port's pod will show that. */
enum rule_answer rule_peer_gone(const struct rule_input *in, struct finding *f)
{
	const struct observed_qps *q = &in->port->qps;
	uint64_t since = since_failed(in);
	bool one = q->failures_known && q->failed_peers == 1 && q->peers > 1;
	bool goes_on = since >= in->span_ms[SPAN_LULL] - 1 && !traffic_stopped(in) &&
		       !(q->failures_known && q->failed_peers > 1);

	if (since == UINT64_MAX || a_pod_ended(in->port) || gid_moved_lately(in))
		return ANSWER_NO;
	/* The evidence that opened the verdict (traffic, a single peer) may be missing by now; keep
	 * an open verdict open. */
	if (!one && !goes_on && !in->open && since < in->span_ms[SPAN_STEADY])
		return ANSWER_NO;
	f->severity = SEVERITY_WARNING;
	f->at_once = true;
	set_since_failures(in, f);
	if (!one && !goes_on)
		f->why = "all peers at once: this port has no path to them, or their job ended";
	show_failures(in, f);
	return ANSWER_YES;
}

/* True if the end of the pod may have caused the error, which may come up to a second before the
 * runtime reports the end. Continued traffic, a second error, or half a minute without such a
 * report rule this out. */
static bool is_teardown(const struct rule_input *in)
{
	const struct error_run *e = &in->history->errors;
	bool again = e->n > 1, goes_on = e->last_ms < in->now_ms && !is_still(in);

	if (a_pod_ended(in->port))
		return true;
	return in->port->n_pods > 0 && !again && !goes_on &&
	       in->now_ms - e->last_ms < in->span_ms[SPAN_STEADY];
}

enum rule_answer rule_application_error(const struct rule_input *in, struct finding *f)
{
	const struct error_run *e = &in->history->errors;

	if (!e->seen)
		return cannot_decide(f,
				     "no counter of access, length or request errors is visible");
	if (!e->last_ms || e->reported || is_teardown(in))
		return ANSWER_NO;
	f->severity = SEVERITY_WARNING;
	f->at_once = true;
	f->since_ms = e->first_ms;
	f->last_ms = e->last_ms;
	show(f, series_name(e->series), "", e->count, 0);
	return ANSWER_YES;
}
