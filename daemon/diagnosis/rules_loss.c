// SPDX-License-Identifier: Apache-2.0
/* Rules of lost and reordered packets. */
#include <math.h>

#include "rules.h"

/* Largest deviation from the mean for traffic to count as steady. */
#define STEADY 0.3

/* Loss as seen by one kind of event. */
struct loss {
	enum signal signal;
	double rate, share;
};

/* Finds loss in continuing traffic. Timeouts on an idle port mean that a peer or a job ended. A
 * peer that exits causes timeouts with any traffic, so a few are usual. A NAK needs a packet that
 * arrived, so a healthy port with few packets has few NAKs. */
static struct loss find_loss(const struct rule_input *in, double factor)
{
	struct loss nak = {.signal = SIGNAL_NAK}, out = {.signal = SIGNAL_TIMEOUTS};
	struct certainty beyond = {.least = limit(in, LIMIT_least_events) / LEAST_S,
				   .share = limit(in, LIMIT_loss_ratio_warning) * factor,
				   .far = limit(in, LIMIT_loss_ratio_critical) * factor};

	if (in->mean[SIGNAL_NAK] > 0)
		nak.rate = certain_rate(in, SIGNAL_NAK, &beyond, &nak.share);
	beyond.usual = beyond.least / 3;
	if (in->mean[SIGNAL_TIMEOUTS] > 0 && !is_still(in))
		out.rate = certain_rate(in, SIGNAL_TIMEOUTS, &beyond, &out.share);
	return out.rate > 0 && !(nak.rate > 0 && nak.share >= out.share) ? out : nak;
}

enum rule_answer rule_packet_loss(const struct rule_input *in, struct finding *f)
{
	double factor = in->limits->expected == CC_LOSSY ? threshold(in, LIMIT_lossy_factor) : 1;
	double critical = threshold(in, LIMIT_loss_ratio_critical) * factor;
	double naks = in->mean[SIGNAL_NAK], timeouts = in->mean[SIGNAL_TIMEOUTS];
	struct loss loss;

	if (isnan(naks) && isnan(timeouts))
		return cannot_decide(f, "neither NAKs nor timeouts are counted");
	if (!(naks > 0) && timeouts > 0 && is_still(in))
		return cannot_decide(
			f, "timeouts without traffic: a peer is down, or a path loses all packets");
	if (isnan(in->packets_sent) && isnan(in->packets_received) && (naks > 0 || timeouts > 0))
		return cannot_decide(f, "neither packets nor bytes are counted");
	loss = find_loss(in, factor);
	if (!(loss.rate > 0))
		return isnan(naks)
			       ? cannot_decide(f, "NAKs received are not counted")
			       : no_sign(f, isnan(timeouts)
						    ? "timeouts are not counted; there are no NAKs"
						    : NULL);
	grade(f, loss.share, critical);
	f->signal = loss.signal;
	/* A peer that is down has the same symptoms until its queue pairs fail. */
	f->yields = loss.signal == SIGNAL_TIMEOUTS;
	f->why =
		loss.signal == SIGNAL_NAK
			? "packets of this requester are lost on the path or at the peer; the peer's counters show which"
			: "seen by timeouts: the last packets of messages, all packets of some queue pairs, or their responses are lost on the path or at the peer";
	show(f,
	     loss.signal == SIGNAL_NAK ? "sequence and implied NAKs per packet"
				       : "timeouts per packet",
	     "ratio", loss.share,
	     limit_of(in, f, SEVERITY_CRITICAL, factor * threshold(in, LIMIT_loss_ratio_warning),
		      critical));
	show(f, "roce_sequence_nak_received_total", "1/s", rate_of(in, SERIES_SEQUENCE_NAK),
	     (double)NAN);
	show(f, "roce_implied_nak_total", "1/s", rate_of(in, SERIES_IMPLIED_NAK), (double)NAN);
	show(f, "roce_ack_timeouts_total", "1/s", in->mean[SIGNAL_TIMEOUTS], (double)NAN);
	show(f, "PHY errors here", "1/s", in->mean[SIGNAL_PHY_ERRORS], 0);
	return ANSWER_YES;
}

static double lately(const struct rule_input *in, enum signal s)
{
	return window_mean(in->window, in->timeline, s, in->span_ms[SPAN_STEADY]);
}

/* True if packets arrived out of order during the whole span, at a steady rate of traffic. */
static bool is_steady(const struct rule_input *in)
{
	double bytes = lately(in, SIGNAL_BYTES_RECEIVED);
	uint64_t steady_ms = in->span_ms[SPAN_STEADY];
	uint64_t since = window_since(in->window, in->timeline, SIGNAL_OUT_OF_SEQUENCE,
				      2 * steady_ms, in->span_ms[SPAN_LULL]);
	unsigned moved = window_count(in->window, in->timeline, SIGNAL_BYTES_RECEIVED, steady_ms,
				      0);
	unsigned hit = window_count(in->window, in->timeline, SIGNAL_OUT_OF_SEQUENCE, steady_ms, 0);

	return since && in->now_ms - since >= steady_ms &&
	       in->now_ms - in->history->watched_ms >= steady_ms && hit * 2 >= moved &&
	       fabs(in->mean[SIGNAL_BYTES_RECEIVED] - bytes) <= STEADY * bytes;
}

enum rule_answer rule_reordering(const struct rule_input *in, struct finding *f)
{
	double oos = in->mean[SIGNAL_OUT_OF_SEQUENCE], naks, timeouts;

	if (isnan(in->packets_received))
		return cannot_decide(f, "packets received are not counted");
	if (oos == 0 || !(oos >= limit(in, LIMIT_reordering_ratio) * in->packets_received))
		return ANSWER_NO;
	naks = lately(in, SIGNAL_NAK);
	timeouts = lately(in, SIGNAL_TIMEOUTS);
	if (isnan(naks) || isnan(timeouts))
		return cannot_decide(f, "loss or reordering: NAKs or timeouts are not counted");
	if (naks > 0 || timeouts > 0 || !is_steady(in))
		return ANSWER_NO;
	f->severity = SEVERITY_INFO;
	f->why = "may be loss: check the peers' counters of sequence NAKs received";
	show(f, "packets out of sequence per packet received", "ratio", oos / in->packets_received,
	     threshold(in, LIMIT_reordering_ratio));
	show(f, "NAKs here in 30 s", "1/s", naks, 0);
	show(f, "timeouts here in 30 s", "1/s", timeouts, 0);
	show(f, "received, share of the line's capacity", "ratio", in->use_received, (double)NAN);
	return ANSWER_YES;
}
