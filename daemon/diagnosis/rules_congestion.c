// SPDX-License-Identifier: Apache-2.0
/* Rules for congestion, and for congestion control that does not work. */
#include <math.h>
#include <string.h>

#include "cleanup.h"
#include "rules.h"
#include "search.h"

/* Least marks a second that are congestion. */
#define LEAST_MARKS    10
/* Least number of samples with marks in the last ten seconds, if samples are shorter than SHORT_S:
 * congestion control that works gets marks in bursts. */
#define MARKED_SAMPLES 3
#define SHORT_S	       3

/* --- congestion control ----------------------------------------------------------------------- */

enum rule_answer rule_notification_point_off(const struct rule_input *in, struct finding *f)
{
	double ce = rate_of(in, SERIES_CE);

	if (is_soft_roce(in->port))
		return cannot_decide(f, "soft-RoCE has no notification point");
	if (!(ce >= limit(in, LIMIT_marks_unanswered)))
		return ANSWER_NO;
	if (in->mean[SIGNAL_CNP_SENT] > 0)
		return ANSWER_NO;
	f->severity = SEVERITY_WARNING;
	f->since_ms = window_silent(in->window, in->timeline, SIGNAL_CNP_SENT, SIGNAL_CE_SHARE,
				    in->span_ms[SPAN_LATELY]);
	show(f, "roce_ecn_ce_received_packets_total", "1/s", ce,
	     threshold(in, LIMIT_marks_unanswered));
	show(f, "roce_cnp_sent_packets_total", "1/s", in->mean[SIGNAL_CNP_SENT], 0);
	return ANSWER_YES;
}

enum rule_answer rule_reaction_point_off(const struct rule_input *in, struct finding *f)
{
	double ignored = tally_rate(in, TALLY_CNP_IGNORED);

	if (!(ignored >= limit(in, LIMIT_cnp_ignored)))
		return ANSWER_NO;
	f->since_ms = in->history->tally[TALLY_CNP_IGNORED].since_ms;
	f->severity = SEVERITY_WARNING;
	show(f, "roce_cnp_ignored_packets_total", "1/s", rate_of(in, SERIES_CNP_IGNORED),
	     threshold(in, LIMIT_cnp_ignored));
	show(f, "roce_cnp_handled_packets_total", "1/s", rate_of(in, SERIES_CNP_HANDLED),
	     (double)NAN);
	return ANSWER_YES;
}

/* --- congestion ------------------------------------------------------------------------------- */

static bool marks(const struct rule_input *in, double least)
{
	double share = in->marked, level = in->marked_by_cnp ? least * in->packets_received : least;
	enum signal counted = in->marked_by_cnp ? SIGNAL_CNP_SENT : SIGNAL_CE_SHARE;

	return share >= least && in->packets_received >= threshold(in, LIMIT_congestion_packets) &&
	       share * in->packets_received >= LEAST_MARKS &&
	       window_count(in->window, in->timeline, counted, in->span_ms[SPAN_RECENT], level) >=
		       (in->interval_s < SHORT_S ? MARKED_SAMPLES : 2);
}

static void show_marks(const struct rule_input *in, struct finding *f, enum threshold reached)
{
	double share = in->marked;

	grade(f, share, threshold(in, LIMIT_ce_share_critical));
	if (in->marked_by_cnp)
		f->signal = SIGNAL_CNP_SENT;
	show(f,
	     in->marked_by_cnp
		     ? "CNPs sent per packet received: a lower bound of the share marked CE"
		     : "share of packets that arrive marked CE",
	     "ratio", share,
	     limit_of(in, f, SEVERITY_CRITICAL, threshold(in, reached),
		      threshold(in, LIMIT_ce_share_critical)));
}

enum rule_answer rule_incast(const struct rule_input *in, struct finding *f)
{
	const struct observed_qps *q = &in->port->qps;

	if (!marks(in, limit(in, LIMIT_incast_ce_share)))
		return ANSWER_NO;
	if (!q->known)
		return cannot_decide(f, "the number of peers is not visible");
	if (isnan(in->use_received))
		return cannot_decide(f, "the utilization of the line is not visible");
	if (!(in->use_received >= limit(in, LIMIT_incast_utilisation)) ||
	    q->peers < limit(in, LIMIT_incast_peers) ||
	    in->mean[SIGNAL_PAUSE_SENT] >= ceiling(in, LIMIT_pause_sent_warning))
		return ANSWER_NO;
	show_marks(in, f, LIMIT_incast_ce_share);
	show(f, "received, share of the line's capacity", "ratio", in->use_received,
	     threshold(in, LIMIT_incast_utilisation));
	show(f, "peers", "", q->peers, threshold(in, LIMIT_incast_peers));
	show(f, "roce_pfc_pause_seconds_total{direction=\"sent\"}", "ratio",
	     in->mean[SIGNAL_PAUSE_SENT], threshold(in, LIMIT_pause_sent_warning));
	return ANSWER_YES;
}

/* Finds a sender that is slowed by CNPs from its peers, or by pause in spite of CNPs. */
static enum rule_answer slowed_sender(const struct rule_input *in, struct finding *f)
{
	double cnp = in->mean[SIGNAL_CNP_RECEIVED], share = cnp / in->packets_sent;
	double paused = in->mean[SIGNAL_PAUSE_RECEIVED];
	bool late = cnp > threshold(in, LIMIT_cnp_silent) &&
		    sustained(in, SIGNAL_PAUSE_RECEIVED, limit(in, LIMIT_pause_received_warning));

	if (!late && (!(share >= limit(in, LIMIT_cnp_share)) ||
		      in->packets_sent < threshold(in, LIMIT_congestion_packets) ||
		      !sustained(in, SIGNAL_CNP_RECEIVED, LEAST_MARKS)))
		return ANSWER_NO;
	f->severity = late ? SEVERITY_WARNING : SEVERITY_INFO;
	f->signal = late ? SIGNAL_PAUSE_RECEIVED : SIGNAL_CNP_RECEIVED;
	f->why = late ? "seen by the sender: it receives CNPs, and PFC stops it nevertheless"
		 : is_soft_roce(in->port)
			 ? "seen by the sender: its peers send CNPs, which soft-RoCE ignores"
			 : "seen by the sender: CNPs from its peers slow it down";
	show(f, "CNPs received for each packet sent", "ratio", share,
	     threshold(in, LIMIT_cnp_share));
	show(f, "roce_pfc_pause_seconds_total{direction=\"received\"}", "ratio", paused,
	     limit_of(in, f, SEVERITY_WARNING, (double)NAN,
		      threshold(in, LIMIT_pause_received_warning)));
	return ANSWER_YES;
}

/* Judges the port as a sender. Returns no with what its receiving side, or its sending side, cannot
 * see. */
static enum rule_answer judge_sender(const struct rule_input *in, struct finding *f)
{
	bool no_marks = isnan(in->marked), no_cnps = isnan(in->mean[SIGNAL_CNP_RECEIVED]);

	if (no_marks && no_cnps)
		return cannot_decide(f, "neither marks nor notifications are counted");
	if (slowed_sender(in, f) == ANSWER_YES)
		return ANSWER_YES;
	return no_sign(f, no_marks  ? "marks are not counted; CNPs from peers show no congestion"
			  : no_cnps ? "CNPs received are not counted; no marks arrive"
				    : NULL);
}

enum rule_answer rule_fabric_congestion(const struct rule_input *in, struct finding *f)
{
	if (!in->judgeable)
		return cannot_decide(f, "the link is not up, or was not in the whole sample");
	if (!marks(in, limit(in, LIMIT_ce_share_warning)))
		return judge_sender(in, f);
	show_marks(in, f, LIMIT_ce_share_warning);
	show(f, "received, share of the line's capacity", "ratio", in->use_received, (double)NAN);
	if (in->port->qps.known)
		show(f, "peers", "", in->port->qps.peers, (double)NAN);
	f->why =
		in->use_received < 0.9
			? "the receiver's line is not full: the queue is inside the fabric (uneven paths, oversubscription)"
			: NULL;
	return ANSWER_YES;
}

/* Detects restarts at a low rate. A queue pair restarts at a low rate after idling. For a job with
 * bursts this costs bandwidth and looks like congestion, but is caused by a setting. */
enum rule_answer rule_slow_restarts(const struct rule_input *in, struct finding *f)
{
	double restarts = tally_rate(in, TALLY_SLOW_RESTARTS);

	if (isnan(restarts))
		return cannot_decide(f, "slow restarts are not counted");
	if (!(restarts >= limit(in, LIMIT_slow_restart_rate)))
		return ANSWER_NO;
	f->severity = SEVERITY_INFO;
	f->since_ms = in->history->tally[TALLY_SLOW_RESTARTS].since_ms;
	show(f, "roce_slow_restarts_total", "1/s", restarts,
	     threshold(in, LIMIT_slow_restart_rate));
	if (rate_of(in, SERIES_SLOW_RESTART_CNPS) > 0)
		show(f, "roce_slow_restart_cnp_packets_total", "1/s",
		     rate_of(in, SERIES_SLOW_RESTART_CNPS), (double)NAN);
	return ANSWER_YES;
}

/* --- noisy VF --------------------------------------------------------------------------------- */

/* Returns the VF of this PF with the most traffic, and its bytes a second; those of the whole port;
 * the number of VFs with traffic; and the highest share of packets marked CE. */
static const struct port_observation *busiest_vf(const struct rule_input *in, double *ret_bytes,
						 double *ret_all, unsigned *ret_active,
						 double *ret_ce)
{
	const struct port_observation *busiest = NULL;
	size_t self = (size_t)(in->port - in->all->ports);

	*ret_bytes = *ret_active = 0;
	*ret_all = in->loads[self].bytes;
	*ret_ce = in->mean[SIGNAL_CE_SHARE];
	for (size_t i = 0; i < in->all->n_ports; i++) {
		const struct port_observation *o = &in->all->ports[i];
		double bytes = in->loads[i].bytes;

		if (!o->parent[0] || strcmp(o->parent, in->port->function) != 0 || !(bytes > 0))
			continue;
		*ret_all = (isnan(*ret_all) ? 0 : *ret_all) + bytes;
		*ret_active += bytes > threshold(in, LIMIT_utilisation_idle) * in->line;
		*ret_ce = fmax(*ret_ce, in->loads[i].ce_share);
		if (bytes > *ret_bytes) {
			*ret_bytes = bytes;
			busiest = o;
		}
	}
	return busiest;
}

/* Returns the limit for one VF's share of the traffic. While the verdict is open, the limit is half
 * as high, but still above a fair share. */
static double neighbour_limit(const struct rule_input *in, unsigned active)
{
	double fair = 1 / (double)active, most = fmax(threshold(in, LIMIT_neighbour_share), fair);

	return in->open ? fmax(limit(in, LIMIT_neighbour_share), (fair + most) / 2) : most;
}

enum rule_answer rule_noisy_neighbour(const struct rule_input *in, struct finding *f)
{
	const struct port_observation *vf;
	double bytes, all, ce, paused, use;
	unsigned active;

	if (in->port->parent[0] || !in->port->function[0])
		return ANSWER_NO;
	vf = busiest_vf(in, &bytes, &all, &active, &ce);
	paused = fmax(in->mean[SIGNAL_PAUSE_SENT], in->mean[SIGNAL_PAUSE_RECEIVED]);
	/* The PF itself may be idle while its VFs have traffic. */
	if (active == 0 && in->idle)
		return ANSWER_NO_TRAFFIC;
	if (!vf || active < 2 || bytes < neighbour_limit(in, active) * all)
		return ANSWER_NO;
	if (isnan(ce) && isnan(paused))
		return cannot_decide(f, "it is not visible whether the port is congested");
	use = in->use_received;
	/* Marks on a port that is neither full nor paused are caused elsewhere. */
	if (!(paused >= limit(in, LIMIT_pause_sent_warning)) &&
	    !(ce >= limit(in, LIMIT_ce_share_warning) &&
	      use >= threshold(in, LIMIT_slow_receiver_utilisation)))
		return no_sign(f, isnan(ce)	  ? "marks are not counted"
				  : isnan(paused) ? "no pause time is visible"
						  : NULL);
	f->severity = SEVERITY_WARNING;
	f->culprit = vf;
	show(f, "bytes of one VF, share of the port", "ratio", bytes / all,
	     neighbour_limit(in, active));
	show(f, "share of packets that arrive marked CE", "ratio", ce,
	     threshold(in, LIMIT_ce_share_warning));
	show(f, "received, share of the line's capacity", "ratio", use,
	     threshold(in, LIMIT_slow_receiver_utilisation));
	show(f, "roce_pfc_pause_seconds_total", "ratio", paused,
	     threshold(in, LIMIT_pause_sent_warning));
	show(f, "VFs with traffic", "", active, 2);
	return ANSWER_YES;
}

/* --- one path for many queue pairs ------------------------------------------------------------ */

#define ONE_PATH_MIN 8

/* True for drivers that derive the UDP source port from the flow label; unknown for others. */
static bool sends_by_label(const char *driver)
{
	static const char *const drivers[] = {"mlx5", "irdma", "hns"};

	return any_of(ARRAY_SIZE(drivers), i, strncmp(driver, drivers[i], strlen(drivers[i])) == 0);
}

/* Detects queue pairs that share one path of the fabric. Info only: one node cannot see the
 * fabric's paths. */
enum rule_answer rule_one_path(const struct rule_input *in, struct finding *f)
{
	const struct observed_qps *q = &in->port->qps;

	if (!sends_by_label(in->port->driver))
		return cannot_decide(f, "it is not known how this driver chooses UDP source ports");
	if (!q->labels_known)
		return cannot_decide(
			f,
			"flow labels of queue pairs are not visible (BPF reads them, with the overlay native)");
	if (in->idle || q->one_label < ONE_PATH_MIN)
		return ANSWER_NO;
	f->severity = SEVERITY_INFO;
	show(f, "queue pairs to one peer with one flow label", "", q->one_label, ONE_PATH_MIN);
	return ANSWER_YES;
}

/* --- rail behind its siblings ----------------------------------------------------------------- */

/* BEHIND: share of the other rails' traffic below which a rail is behind. ALIKE: how equal the
 * others must be. BUSY: their least utilization. RAILS_MIN: least number of rails. */
#define BEHIND	  0.5
#define ALIKE	  0.75
#define BUSY	  0.05
#define RAILS_MIN 4
#define RAILS_S	  120

/* True if another signal moves, which would explain why the rail is behind. */
static bool has_symptoms(const struct rule_input *in)
{
	for (int s = SIGNAL_PHY_ERRORS; s < SIGNAL_BYTES_RECEIVED; s++)
		if (s != SIGNAL_CNP_SENT && in->mean[s] > 0)
			return true;
	return false;
}

enum rule_answer rule_rail_behind(const struct rule_input *in, struct finding *f)
{
	const struct sibling_group *g = siblings_of(in->siblings, in->port);
	double own = in->history->minute;

	if (in->port->parent[0] || in->port->management || in->history->down)
		return ANSWER_NO;
	if (!g || g->carried.n < RAILS_MIN)
		return cannot_decide(f, "fewer than three siblings to compare with");
	if (isnan(in->mean[SIGNAL_BYTES_RECEIVED]) && isnan(in->mean[SIGNAL_BYTES_SENT]))
		return cannot_decide(f, "bytes are not counted");
	if (in->now_ms - in->history->watched_ms < 1000 * RAILS_S ||
	    g->carried.most < BUSY * in->line || g->carried.second < ALIKE * g->carried.most ||
	    own > g->carried.least || own >= BEHIND * g->carried.second || has_symptoms(in))
		return ANSWER_NO;
	f->severity = SEVERITY_INFO;
	f->yields = true;
	f->why =
		"possible causes: the path, the peer, the job; one node alone cannot distinguish them";
	show(f, "roce_bytes_total, over a minute", "B/s", own, BEHIND * g->carried.second);
	show(f, "lowest of its siblings", "B/s", g->carried.second, (double)NAN);
	return ANSWER_YES;
}
