/* Packets that were lost, or came in another order than they were sent in. */
#include <math.h>

#include "rules.h"

/* How even the traffic has to be for packets out of order to be called reordered. */
#define STEADY 0.3

/* One kind of event that a lost packet makes. */
struct loss {
	enum signal signal;
	double rate, share;
};

/* What takes packets from a flow that goes on: a time-out on a port where nothing passes is a
 * peer's or a job's end. */
static struct loss find_loss(const struct rule_input *in, double factor)
{
	struct loss nak = {.signal = SIGNAL_NAK}, out = {.signal = SIGNAL_TIMEOUTS};
	const struct certainty beyond = {.least = limit(in, LIMIT_least_events) / LEAST_S,
					 .share = limit(in, LIMIT_loss_ratio_warning) * factor,
					 .far = limit(in, LIMIT_loss_ratio_critical) * factor};

	if (in->mean[SIGNAL_NAK] > 0)
		nak.rate = certain_rate(in, SIGNAL_NAK, &beyond, &nak.share);
	if (in->mean[SIGNAL_TIMEOUTS] > 0 && !is_still(in))
		out.rate = certain_rate(in, SIGNAL_TIMEOUTS, &beyond, &out.share);
	return out.rate > 0 && !(nak.rate > 0 && nak.share >= out.share) ? out : nak;
}

enum sight rule_packet_loss(const struct rule_input *in, struct finding *f)
{
	double factor = in->limits->expected == CC_LOSSY ? threshold(in, LIMIT_lossy_factor) : 1;
	double critical = threshold(in, LIMIT_loss_ratio_critical) * factor;
	double naks = in->mean[SIGNAL_NAK], timeouts = in->mean[SIGNAL_TIMEOUTS];
	struct loss loss;

	if (isnan(naks) && isnan(timeouts))
		return cannot_decide(f, "neither NAKs nor timeouts are counted");
	if (!(naks > 0) && timeouts > 0 && is_still(in))
		return cannot_decide(
			f, "timeouts while nothing passes: a peer that is gone, or a path "
			   "that loses everything");
	if (isnan(in->packets_sent) && isnan(in->packets_received) && (naks > 0 || timeouts > 0))
		return cannot_decide(f, "neither packets nor bytes are counted");
	loss = find_loss(in, factor);
	if (!(loss.rate > 0))
		return isnan(naks) ? cannot_decide(f, "NAKs received are not counted") : SIGHT_NO;
	grade(f, loss.share, critical);
	f->signal = loss.signal;
	/* So does a peer that is gone look, until its queue pairs give up. */
	f->yields = loss.signal == SIGNAL_TIMEOUTS;
	f->why = loss.signal == SIGNAL_NAK
			 ? "this requester's packets are lost on the path or at the peer, whose "
			   "numbers tell which"
			 : "seen by timeouts: the last packets of messages, or all of some queue "
			   "pairs, are lost on the path or at the peer, or their answers are";
	show(f,
	     loss.signal == SIGNAL_NAK ? "sequence and implied NAKs for each packet"
				       : "timeouts for each packet",
	     "ratio", loss.share,
	     f->severity == SEVERITY_CRITICAL ? critical
					      : factor * threshold(in, LIMIT_loss_ratio_warning));
	show(f, "roce_sequence_nak_received_total", "1/s", rate_of(in, SERIES_SEQUENCE_NAK),
	     (double)NAN);
	show(f, "roce_implied_nak_total", "1/s", rate_of(in, SERIES_IMPLIED_NAK), (double)NAN);
	show(f, "roce_ack_timeouts_total", "1/s", in->mean[SIGNAL_TIMEOUTS], (double)NAN);
	show(f, "PHY errors here", "1/s", in->mean[SIGNAL_PHY_ERRORS], 0);
	return SIGHT_YES;
}

static double lately(const struct rule_input *in, enum signal s)
{
	return window_mean(in->window, in->timeline, s, in->span_ms[SPAN_STEADY]);
}

/* Nothing but packets out of order, for the whole time and at an even rate. */
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

enum sight rule_reordering(const struct rule_input *in, struct finding *f)
{
	double oos = in->mean[SIGNAL_OUT_OF_SEQUENCE], naks, timeouts;

	if (isnan(in->packets_received))
		return cannot_decide(f, "packets received are not counted");
	if (oos == 0 || !(oos >= limit(in, LIMIT_reordering_ratio) * in->packets_received))
		return SIGHT_NO;
	naks = lately(in, SIGNAL_NAK);
	timeouts = lately(in, SIGNAL_TIMEOUTS);
	if (isnan(naks) || isnan(timeouts))
		return cannot_decide(f, "NAKs or timeouts are not counted: loss or reordering");
	if (naks > 0 || timeouts > 0 || !is_steady(in))
		return SIGHT_NO;
	f->severity = SEVERITY_INFO;
	f->why = "or loss, where the peers receive sequence NAKs: their numbers tell";
	show(f, "packets out of sequence for each received", "ratio", oos / in->packets_received,
	     threshold(in, LIMIT_reordering_ratio));
	show(f, "NAKs here in 30 s", "1/s", naks, 0);
	show(f, "timeouts here in 30 s", "1/s", timeouts, 0);
	show(f, "received, share of what the line can carry", "ratio", in->use_received,
	     (double)NAN);
	return SIGHT_YES;
}
