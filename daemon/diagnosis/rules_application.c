/* The application, and the peers it talks to. */
#include <math.h>

#include "rules.h"

enum sight rule_receiver_not_ready(const struct rule_input *in, struct finding *f)
{
	double exceeded = rate_of(in, SERIES_RNR_EXCEEDED), rate = in->mean[SIGNAL_NOT_READY];
	double missing = fmax(rate_of(in, SERIES_WQE_MISSING), rate_of(in, SERIES_RNR_NAK_SENT));

	if (isnan(rate) && isnan(exceeded))
		return cannot_decide(f, "neither RNR NAKs nor missing receive work requests are "
					"counted");
	if (!(exceeded > 0) && !sustained(in, SIGNAL_NOT_READY, limit(in, LIMIT_not_ready_rate)))
		return SIGHT_NO;
	f->at_once = exceeded > 0;
	f->severity = exceeded > 0 ? SEVERITY_CRITICAL : SEVERITY_WARNING;
	f->why = missing > 0 && !(rate_of(in, SERIES_RNR_NAK) >= missing)
			 ? "it is this host's application"
			 : "it is the peer's application";
	show(f, "roce_rnr_nak_received_total", "1/s", rate_of(in, SERIES_RNR_NAK),
	     threshold(in, LIMIT_not_ready_rate));
	show(f, "roce_receive_wqe_missing_total", "1/s", rate_of(in, SERIES_WQE_MISSING),
	     threshold(in, LIMIT_not_ready_rate));
	show(f, "roce_rnr_retries_exceeded_total", "1/s", exceeded, 0);
	return SIGHT_YES;
}

/* Milliseconds since queue pairs died because retries ran out; UINT64_MAX: not lately. */
static uint64_t since_failed(const struct rule_input *in)
{
	uint64_t failed_ms = in->history->failed_ms;

	return failed_ms && in->now_ms - failed_ms < in->span_ms[SPAN_LATELY]
		       ? in->now_ms - failed_ms
		       : UINT64_MAX;
}

static bool a_pod_ended(const struct port_observation *o)
{
	for (size_t i = 0; i < o->n_pods; i++)
		if (o->pods[i].ended)
			return true;
	return false;
}

/* Nothing to speak of has passed for seconds. */
static bool traffic_stopped(const struct rule_input *in)
{
	double bytes = window_mean(in->window, in->timeline, SIGNAL_BYTES_SENT,
				   in->span_ms[SPAN_LULL]) +
		       window_mean(in->window, in->timeline, SIGNAL_BYTES_RECEIVED,
				   in->span_ms[SPAN_LULL]);

	return bytes < threshold(in, LIMIT_utilisation_idle) * in->most;
}

static void show_failures(const struct rule_input *in, struct finding *f)
{
	const struct observed_qps *q = &in->port->qps;

	show(f, "roce_transport_retries_exceeded_total", "1/s",
	     rate_of(in, SERIES_RETRIES_EXCEEDED), 0);
	show(f, "roce_ack_timeouts_total", "1/s", in->mean[SIGNAL_TIMEOUTS], (double)NAN);
	if (!q->failures_known)
		return;
	show(f, "queue pairs that failed", "", q->failed, (double)NAN);
	show(f, "peers of those", "", q->failed_peers, (double)NAN);
}

enum sight rule_job_ended(const struct rule_input *in, struct finding *f)
{
	if (since_failed(in) == UINT64_MAX || !a_pod_ended(in->port))
		return SIGHT_NO;
	f->severity = SEVERITY_INFO;
	f->at_once = true;
	show_failures(in, f);
	return SIGHT_YES;
}

/* One peer of several: it is gone. All at once: their job may be ending, which its pod will tell.
 */
enum sight rule_peer_gone(const struct rule_input *in, struct finding *f)
{
	const struct observed_qps *q = &in->port->qps;
	uint64_t since = since_failed(in);
	bool one = q->failures_known && q->failed_peers == 1 && q->peers > 1;
	bool goes_on = since >= in->span_ms[SPAN_LULL] - 1 && !traffic_stopped(in) &&
		       !(q->failures_known && q->failed_peers > 1);

	if (since == UINT64_MAX || a_pod_ended(in->port))
		return SIGHT_NO;
	if (!one && !goes_on && since < in->span_ms[SPAN_STEADY])
		return SIGHT_NO;
	f->severity = SEVERITY_WARNING;
	f->at_once = true;
	f->confidence = one ? 0.9 : goes_on ? 0.8 : 0.5;
	if (!one && !goes_on)
		f->why = "all peers at once: the path is dead for this port, or their job ended";
	show_failures(in, f);
	return SIGHT_YES;
}

enum sight rule_application_error(const struct rule_input *in, struct finding *f)
{
	static const enum series errors[] = {SERIES_ACCESS_ERRORS, SERIES_ACCESS_ERRORS_RESP,
					     SERIES_INVALID_REQUESTS, SERIES_LENGTH_ERRORS};
	bool seen = false;

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		double rate = rate_of(in, errors[i]);

		seen |= !isnan(rate);
		if (rate > 0)
			show(f, series_name(errors[i]), "1/s", rate, 0);
	}
	if (!seen)
		return cannot_decide(f,
				     "no counter of access, length or request errors is visible");
	if (f->n_evidence == 0)
		return SIGHT_NO;
	f->severity = SEVERITY_WARNING;
	f->at_once = true;
	return SIGHT_YES;
}
