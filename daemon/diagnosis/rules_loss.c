/* Packets that were lost, or came in another order than they were sent in. */
#include <math.h>

#include "rules.h"

/* For how long there must be no sign of loss before packets out of order are called reordered. */
#define STEADY_MS 30000
#define LULL_MS	  5000
/* And how even the traffic has to be. */
#define STEADY	  0.3

/* Packets of the flow that was hit: a reader sends few, and its answers are lost. */
static double packets_of(const struct rule_input *in)
{
	return fmax(in->packets_sent, in->packets_received);
}

enum sight rule_packet_loss(const struct rule_input *in, struct finding *f)
{
	double factor = in->limits->expected == CC_LOSSY ? threshold(in, LIMIT_lossy_factor) : 1;
	double naks = in->mean[SIGNAL_NAK], packets = packets_of(in), ratio = naks / packets;

	if (isnan(naks))
		return cannot_decide(f, "NAKs received are not counted");
	if (naks == 0)
		return SIGHT_NO;
	if (isnan(ratio))
		return cannot_decide(f, "neither packets nor bytes are counted");
	if (!(ratio >= limit(in, LIMIT_loss_ratio_warning) * factor) ||
	    !sustained(in, SIGNAL_NAK, limit(in, LIMIT_least_events) * 1000 / RECENT_MS))
		return SIGHT_NO;
	f->severity = severity_by(ratio, 0, threshold(in, LIMIT_loss_ratio_critical) * factor);
	f->why = "this requester's packets are lost on the path or at the peer, whose numbers tell "
		 "which";
	show(f, "sequence and implied NAKs for each packet", "ratio", ratio,
	     factor * threshold(in, f->severity == SEVERITY_CRITICAL ? LIMIT_loss_ratio_critical
								     : LIMIT_loss_ratio_warning));
	show(f, "roce_sequence_nak_received_total", "1/s", rate_of(in, SERIES_SEQUENCE_NAK),
	     (double)NAN);
	show(f, "roce_implied_nak_total", "1/s", rate_of(in, SERIES_IMPLIED_NAK), (double)NAN);
	show(f, "roce_ack_timeouts_total", "1/s", in->mean[SIGNAL_TIMEOUTS], (double)NAN);
	show(f, "PHY errors here", "1/s", in->mean[SIGNAL_PHY_ERRORS], 0);
	return SIGHT_YES;
}

static double lately(const struct rule_input *in, enum signal s)
{
	return window_mean(in->window, in->timeline, s, STEADY_MS);
}

/* Nothing but packets out of order, for the whole time and at an even rate. */
static bool is_steady(const struct rule_input *in)
{
	double bytes = lately(in, SIGNAL_BYTES_RECEIVED);
	uint64_t since = window_since(in->window, in->timeline, SIGNAL_OUT_OF_SEQUENCE,
				      2 * STEADY_MS, LULL_MS);
	unsigned moved = window_count(in->window, in->timeline, SIGNAL_BYTES_RECEIVED, STEADY_MS,
				      0);
	unsigned hit = window_count(in->window, in->timeline, SIGNAL_OUT_OF_SEQUENCE, STEADY_MS, 0);

	return since && in->now_ms - since >= STEADY_MS &&
	       in->now_ms - in->history->watched_ms >= STEADY_MS && hit * 2 >= moved &&
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
