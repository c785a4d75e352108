// SPDX-License-Identifier: Apache-2.0
/* Rules of pause: storms, slow receivers, paused senders. The direction decides: sent pause means
 * that this host cannot receive more; received pause means that the network cannot. */
#include <math.h>

#include "rules.h"

/* A shorter sample alone does not prove a storm. */
#define WHOLE_SAMPLE_S 0.5

/* --- storms ----------------------------------------------------------------------------------- */

struct direction {
	const struct pause_way *way;
	const char *pause_name, *bytes_name, *global_name;
};

static const struct direction sent = {
	&pause_sent,
	"roce_pfc_pause_seconds_total{direction=\"sent\",priority=\"#\"}",
	"roce_priority_bytes_total{direction=\"received\",priority=\"#\"}",
	"roce_pause_seconds_total{direction=\"sent\"}",
};

static const struct direction received = {
	&pause_received,
	"roce_pfc_pause_seconds_total{direction=\"received\",priority=\"#\"}",
	"roce_priority_bytes_total{direction=\"sent\",priority=\"#\"}",
	"roce_pause_seconds_total{direction=\"received\"}",
};

/* Longest pause of one frame, in bits of the line: 65,535 quanta of 512 bit times (IEEE
 * 802.1Qbb). */
#define FRAME_BITS (65535.0 * 512)

/* Returns the upper bound of the pause time if the driver counts frames but no time. */
static double most_by_frames(const struct rule_input *in, const struct direction *d, int priority)
{
	double frames = rate_of(in, priority < 0 ? d->way->global_frames
						 : (enum series)((int)d->way->frames + priority));

	return frames * FRAME_BITS / (8 * in->line);
}

/* Returns the series of pause time; priority -1: of the whole link. */
static enum series pause_series(const struct direction *d, int priority)
{
	return priority < 0 ? d->way->global : (enum series)((int)d->way->pause + priority);
}

static bool pause_stalls(const struct rule_input *in, const struct direction *d, int priority,
			 double share)
{
	return share >= limit(in, LIMIT_storm_share) &&
	       pause_bytes(in->rates, d->way, priority) <=
		       ceiling(in, LIMIT_storm_bytes) * in->line;
}

/* Seconds without movement in burst reads; NaN: no burst was read. */
static double pause_stalled_s(const struct rule_input *in, const struct direction *d)
{
	return d == &sent ? in->port->stalled_sent_s : in->port->stalled_received_s;
}

static enum rule_answer storm(const struct rule_input *in, struct finding *f,
			      const struct direction *d)
{
	bool seen = false;

	if (!in->judgeable)
		return cannot_decide(f, "the link is not up, or was not in the whole sample");
	if (in->line == 0)
		return cannot_decide(f, "the port's rate is not visible");
	/* Ignores a stall that is longer than the port has been watched. */
	if (pause_stalled_s(in, d) >= threshold(in, LIMIT_storm_burst_seconds) &&
	    1000 * pause_stalled_s(in, d) <= (double)(in->now_ms - in->history->first_seen_ms)) {
		f->severity = SEVERITY_CRITICAL;
		f->at_once = true;
		f->why = "seen by burst readings";
		show(f, "longest pause without any traffic", "s", pause_stalled_s(in, d),
		     threshold(in, LIMIT_storm_burst_seconds));
		return ANSWER_YES;
	}
	for (int p = -1; p < SETTINGS_PRIOS; p++) {
		double share = rate_of(in, pause_series(d, p));
		/* A failed read does not mean that the driver lacks the counter. */
		bool by_frames = isnan(share) && isnan(in->rates->last[pause_series(d, p)]);

		if (by_frames)
			share = most_by_frames(in, d, p);
		seen |= !isnan(share);
		if (!pause_stalls(in, d, p, share))
			continue;
		f->severity = SEVERITY_CRITICAL;
		f->at_once = in->interval_s >= WHOLE_SAMPLE_S && !by_frames;
		if (by_frames)
			f->why =
				"this driver counts pause frames only: no traffic passes, and the frames suffice to pause the whole sample";
		show_numbered(f, p < 0 ? d->global_name : d->pause_name, p, "ratio", fmin(share, 1),
			      threshold(in, LIMIT_storm_share));
		show_numbered(f, d->bytes_name, p, "B/s", pause_bytes(in->rates, d->way, p),
			      threshold(in, LIMIT_storm_bytes) * in->line);
		return ANSWER_YES;
	}
	return seen ? ANSWER_NO : cannot_decide(f, "no pause time is visible");
}

enum rule_answer rule_pause_storm_source(const struct rule_input *in, struct finding *f)
{
	double errors = rate_of(in, SERIES_STORM_ERRORS);
	double warnings = rate_of(in, SERIES_STORM_WARNINGS);

	if (!(errors > 0) && !(warnings > 0))
		return storm(in, f, &sent);
	f->severity = SEVERITY_CRITICAL;
	f->at_once = true;
	f->why = errors > 0 ? "the NIC has stopped pausing and drops packets from now on"
			    : "the NIC warns that its host has not accepted data for a long time";
	show(f, "roce_pause_storms_total{severity=\"error\"}", "", errors * in->interval_s, 0);
	show(f, "roce_pause_storms_total{severity=\"warning\"}", "", warnings * in->interval_s, 0);
	return ANSWER_YES;
}

enum rule_answer rule_pause_storm_victim(const struct rule_input *in, struct finding *f)
{
	return storm(in, f, &received);
}

/* --- slow receivers --------------------------------------------------------------------------- */

static bool drops_on_arrival(const struct rule_input *in)
{
	const struct certainty beyond = {.least = limit(in, LIMIT_least_events) / LEAST_S,
					 .share = limit(in, LIMIT_discard_ratio),
					 .far = INFINITY};
	double share;

	return in->mean[SIGNAL_DISCARDS] > 0 &&
	       certain_rate(in, SIGNAL_DISCARDS, &beyond, &share) > 0;
}

/* Packets that this NIC marked because its host is slow, as a share of those received. */
static double marked_here(const struct rule_input *in)
{
	return tally_rate(in, TALLY_HOST_MARKED) / in->packets_received;
}

/* True if no priority is lossless: then there is no pause of a priority, and NICs do not count it.
 */
static bool pfc_is_off(const struct port_observation *o)
{
	return o->settings && (o->settings->seen & SETTINGS_PFC) && o->settings->pfc == 0;
}

/* Returns what could show a slow receiver and is not visible; NULL: nothing. */
static const char *unseen_of_receiver(const struct rule_input *in)
{
	if (isnan(in->mean[SIGNAL_PAUSE_SENT]) && !pfc_is_off(in->port))
		return "no pause time is visible";
	return isnan(in->mean[SIGNAL_DISCARDS]) ? "no discards are visible" : NULL;
}

/* Finds a host that does not keep up with arrivals although the line is not full. */
static enum rule_answer slow_receiver(const struct rule_input *in, struct finding *f)
{
	double paused = in->mean[SIGNAL_PAUSE_SENT];
	bool marks = marked_here(in) >= limit(in, LIMIT_ce_share_warning) &&
		     in->packets_received >= threshold(in, LIMIT_congestion_packets);
	bool pauses = sustained(in, SIGNAL_PAUSE_SENT, limit(in, LIMIT_pause_sent_warning));

	if (isnan(paused) && isnan(in->mean[SIGNAL_DISCARDS]))
		return cannot_decide(f, "neither pause time nor discards are visible");
	if (!in->judgeable)
		return cannot_decide(f, "the link is not up, or was not in the whole sample");
	if (!pauses && !marks && !drops_on_arrival(in))
		return no_sign(f, unseen_of_receiver(in));
	if (isnan(in->use_received))
		return cannot_decide(f, "the utilization of the line is not visible");
	if (in->use_received >= fmin(ceiling(in, LIMIT_slow_receiver_utilisation), 1) ||
	    in->use_received >= 0.98)
		return ANSWER_NO;
	f->severity = SEVERITY_WARNING;
	if (!pauses)
		f->signal = SIGNAL_DISCARDS;
	if (!pauses && marks)
		grade(f, marked_here(in), threshold(in, LIMIT_ce_share_critical));
	if (pauses)
		grade(f, paused, threshold(in, LIMIT_pause_sent_critical));
	f->why = pauses	 ? "it pauses the switch (direction: sent)"
		 : marks ? "the NIC itself marks packets because its host is slow"
			 : "packets are dropped on arrival";
	if (pauses)
		show_numbered(f, sent.pause_name, in->pause_sent.priority, "ratio", paused,
			      limit_of(in, f, SEVERITY_CRITICAL,
				       threshold(in, LIMIT_pause_sent_warning),
				       threshold(in, LIMIT_pause_sent_critical)));
	show(f, "received, share of the line's capacity", "ratio", in->use_received,
	     threshold(in, LIMIT_slow_receiver_utilisation));
	if (marks)
		show(f, "packets marked by this NIC, share of those received", "ratio",
		     marked_here(in),
		     limit_of(in, f, SEVERITY_CRITICAL, threshold(in, LIMIT_ce_share_warning),
			      threshold(in, LIMIT_ce_share_critical)));
	if (rate_of(in, SERIES_BUFFER_PASSED) > 0)
		show(f, "roce_buffer_threshold_passed_total", "1/s",
		     rate_of(in, SERIES_BUFFER_PASSED), (double)NAN);
	if (in->mean[SIGNAL_DISCARDS] > 0)
		show(f, "discards on arrival", "1/s", in->mean[SIGNAL_DISCARDS],
		     pauses || marks ? (double)NAN
				     : threshold(in, LIMIT_discard_ratio) * in->packets_received);
	return ANSWER_YES;
}

/* Returns the greatest of the four PCIe stall counters; NaN: none is visible. */
static double pcie_stalled(const struct rule_input *in)
{
	return fmax(
		fmax(rate_of(in, SERIES_PCIE_STALLED_READ), rate_of(in, SERIES_PCIE_STALLED_WRITE)),
		fmax(rate_of(in, SERIES_PCIE_SECONDS_READ),
		     rate_of(in, SERIES_PCIE_SECONDS_WRITE)));
}

static bool link_is_narrow(const struct rule_input *in)
{
	const struct port_settings *s = in->port->settings;

	return s && (((s->seen & SETTINGS_PCIE_SEGMENT) && s->segment[0]) ||
		     ((s->seen & SETTINGS_PCIE) &&
		      (s->pcie.width < s->pcie.max_width || s->pcie.mt_s < s->pcie.max_mt_s)));
}

enum rule_answer rule_slow_receiver_pcie(const struct rule_input *in, struct finding *f)
{
	double stalled = pcie_stalled(in), overflow = tally_rate(in, TALLY_PCIE_OVERFLOW);
	double least = limit(in, LIMIT_least_events) / LEAST_S;
	enum rule_answer answer;

	if (overflow >= least) {
		grade(f, overflow, threshold(in, LIMIT_pcie_overflow_critical));
		f->since_ms = in->history->tally[TALLY_PCIE_OVERFLOW].since_ms;
		show(f, "roce_pcie_overflow_packets_total", "1/s", overflow,
		     limit_of(in, f, SEVERITY_CRITICAL, least,
			      threshold(in, LIMIT_pcie_overflow_critical)));
		return ANSWER_YES;
	}
	if (isnan(stalled) && !link_is_narrow(in))
		return cannot_decide(f, "no PCIe stall counter is visible");
	answer = slow_receiver(in, f);
	if (answer != ANSWER_YES)
		return answer;
	if (!(stalled >= limit(in, LIMIT_pcie_stalled)) && !link_is_narrow(in))
		return ANSWER_NO;
	if (!isnan(stalled))
		show(f, "time during which the NIC waits for PCIe", "ratio", stalled,
		     threshold(in, LIMIT_pcie_stalled));
	if (link_is_narrow(in))
		f->why =
			"the PCIe link is narrower or slower than both of its ends support, and the host pauses, drops or marks";
	return ANSWER_YES;
}

enum rule_answer rule_slow_receiver_nic_cache(const struct rule_input *in, struct finding *f)
{
	double qps = fmax(rate_of(in, SERIES_QPS),
			  in->port->qps.known ? in->port->qps.count : (double)NAN);
	double mrs = rate_of(in, SERIES_MRS), least = limit(in, LIMIT_nic_cache_objects);
	enum rule_answer answer;

	if (isnan(qps) && isnan(mrs))
		return cannot_decide(f, "queue pairs and memory regions are not counted");
	if (!(qps >= least) && !(mrs >= least))
		return no_sign(f, isnan(qps)   ? "queue pairs are not counted"
				  : isnan(mrs) ? "memory regions are not counted"
					       : NULL);
	if (pcie_stalled(in) >= threshold(in, LIMIT_pcie_stalled))
		return ANSWER_NO;
	answer = slow_receiver(in, f);
	if (answer != ANSWER_YES)
		return answer;
	show(f, "roce_resource_active{kind=\"qp\"}", "", qps,
	     threshold(in, LIMIT_nic_cache_objects));
	show(f, "roce_resource_active{kind=\"mr\"}", "", mrs,
	     threshold(in, LIMIT_nic_cache_objects));
	return ANSWER_YES;
}

enum rule_answer rule_slow_receiver(const struct rule_input *in, struct finding *f)
{
	return slow_receiver(in, f);
}

/* --- pause of the whole link ------------------------------------------------------------------ */

static bool carries_rdma(const struct rule_input *in)
{
	return in->mean[SIGNAL_BYTES_RECEIVED] + in->mean[SIGNAL_BYTES_SENT] > 0 ||
	       (in->port->qps.known && in->port->qps.count > 0) || rate_of(in, SERIES_QPS) > 1;
}

/* Share of the limit that the recent mean must reach, besides the present sample. */
#define MOSTLY 0.7

static double recently(const struct rule_input *in, enum tally t)
{
	const struct tally_sum *sum = &in->history->tally[t];

	return sum->seconds[0] > 0 ? (double)(sum->sum[0] / sum->seconds[0]) : 0;
}

enum rule_answer rule_global_pause(const struct rule_input *in, struct finding *f)
{
	double out = rate_of(in, SERIES_GLOBAL_PAUSE_SENT);
	double back = rate_of(in, SERIES_GLOBAL_PAUSE_RECEIVED);
	double seconds = fmax(out, back);
	double frames = fmax(rate_of(in, SERIES_GLOBAL_FRAMES_SENT),
			     rate_of(in, SERIES_GLOBAL_FRAMES_RECEIVED));

	if (isnan(seconds) && isnan(frames))
		return cannot_decide(f, "no counter of IEEE 802.3x pause is visible");
	if (!in->judgeable)
		return cannot_decide(f, "the link is not up, or was not in the whole sample");
	if (!(seconds >= limit(in, LIMIT_global_pause) &&
	      recently(in, TALLY_GLOBAL_PAUSE) >= MOSTLY * limit(in, LIMIT_global_pause)) &&
	    !(isnan(seconds) &&
	      tally_rate(in, TALLY_GLOBAL_FRAMES) >= limit(in, LIMIT_global_pause_frames)))
		return ANSWER_NO;
	if (!carries_rdma(in))
		return ANSWER_NO;
	f->severity = SEVERITY_WARNING;
	f->why = out > 0 && back > 0 ? "both directions: this host and the network are too slow"
		 : out > 0	     ? "sent: this host cannot receive at the arrival rate"
		 : back > 0	     ? "received: the network cannot carry what this port sends"
				     : NULL;
	show(f, sent.global_name, "ratio", out, threshold(in, LIMIT_global_pause));
	show(f, received.global_name, "ratio", back, threshold(in, LIMIT_global_pause));
	show(f, "roce_pause_frames_total", "1/s", frames, threshold(in, LIMIT_global_pause_frames));
	return ANSWER_YES;
}

/* --- a paused sender -------------------------------------------------------------------------- */

static double factor_of(const struct rule_input *in)
{
	return in->limits->expected == CC_PFC_ONLY ? threshold(in, LIMIT_pfc_only_factor) : 1;
}

/* Finds pause of a sender that no CNPs slowed down before. */
static enum rule_answer paused_in_silence(const struct rule_input *in, struct finding *f)
{
	double paused = in->mean[SIGNAL_PAUSE_RECEIVED], cnp = in->mean[SIGNAL_CNP_RECEIVED];

	if (!in->judgeable)
		return cannot_decide(f, "the link is not up, or was not in the whole sample");
	if (isnan(paused))
		return no_sign(f, pfc_is_off(in->port) ? NULL : "no pause time is visible");
	if (!sustained(in, SIGNAL_PAUSE_RECEIVED, limit(in, LIMIT_pause_received) * factor_of(in)))
		return ANSWER_NO;
	if (isnan(cnp) && in->limits->expected != CC_PFC_ONLY)
		return cannot_decide(f, "CNPs received are not counted");
	if (cnp >= ceiling(in, LIMIT_cnp_silent))
		return ANSWER_NO;
	f->severity = in->limits->expected != CC_UNKNOWN &&
				      paused >= threshold(in, LIMIT_pause_received_warning) *
							factor_of(in)
			      ? SEVERITY_WARNING
			      : SEVERITY_INFO;
	show_numbered(f, received.pause_name, in->pause_received.priority, "ratio", paused,
		      factor_of(in) * limit_of(in, f, SEVERITY_WARNING,
					       threshold(in, LIMIT_pause_received),
					       threshold(in, LIMIT_pause_received_warning)));
	show(f, "roce_cnp_received_packets_total", "1/s", cnp, threshold(in, LIMIT_cnp_silent));
	if (rate_of(in, SERIES_DISCARDS_SENT) > 0)
		show(f, "roce_port_discards_total{direction=\"sent\"}", "1/s",
		     rate_of(in, SERIES_DISCARDS_SENT), (double)NAN);
	return ANSWER_YES;
}

enum rule_answer rule_paused_by_network(const struct rule_input *in, struct finding *f)
{
	enum rule_answer answer = paused_in_silence(in, f);

	if (answer == ANSWER_YES)
		f->why =
			"possible causes: a congested port elsewhere (head-of-line blocking), or PFC thresholds below those of ECN; one node alone cannot distinguish them";
	return answer;
}

enum rule_answer rule_not_ecn_capable(const struct rule_input *in, struct finding *f)
{
	const struct observed_qps *q = &in->port->qps;
	const struct port_settings *s = in->port->settings;
	bool cm = s && (s->seen & SETTINGS_CM_TOS) && (s->cm_tos & 3) == 0 && s->cm_tos != 0;
	enum rule_answer paused;

	if (!q->known && !cm)
		return cannot_decide(
			f,
			"traffic classes of queue pairs are not visible (BPF reads them, with the overlay native)");
	if (q->known ? q->not_ect == 0 : !cm)
		return ANSWER_NO;
	paused = paused_in_silence(in, f);
	if (paused != ANSWER_YES && in->limits->expected != CC_DCQCN)
		return paused;
	f->severity = paused == ANSWER_YES ? SEVERITY_WARNING : SEVERITY_INFO;
	f->why = NULL;
	if (q->known)
		show(f, "queue pairs with ECN bits 00", "", q->not_ect, 0);
	else
		show(f, "rdma_cm's default type of service", "", s->cm_tos, (double)NAN);
	return ANSWER_YES;
}
