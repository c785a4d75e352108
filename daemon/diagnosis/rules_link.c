// SPDX-License-Identifier: Apache-2.0
/* Rules of the port's own link: whether it is up, was ever up, and damages bits. */
#include <math.h>
#include <string.h>

#include "rules.h"

/* A port counts as in use for this time after its last pod or traffic: jobs end with their link. */
#define USED_MS	    (3600 * UINT64_C(1000))
/* The period in which gpud counts flaps. */
#define FLAPS_MS    (12 * 3600 * UINT64_C(1000))
/* The PHY receives idle symbols and their errors, too: count at least this share of the line as
 * bits received. */
#define LEAST_SHARE 0.5

/* True if the link went down and is up again, but an address has moved to another GID index. */
static bool returned_changed(const struct rule_input *in)
{
	return in->port->gid_moved &&
	       history_flaps(in->history, in->now_ms, in->span_ms[SPAN_LATELY]) > 0;
}

/* True if the port is that of a VF and the PF's port is active. If the link goes down, the ports of
 * the VFs may show it before the PF's port does. */
static bool has_pf_with_link(const struct rule_input *in)
{
	for (size_t i = 0; in->port->parent[0] && i < in->all->n_ports; i++) {
		const struct port_observation *pf = &in->all->ports[i];

		if (strcmp(pf->function, in->port->parent) == 0 && pf->port == in->port->port)
			return pf->visible && pf->state == PORT_ACTIVE;
	}
	return false;
}

/* Grades a link that is down, or was. If its port is in use, it is critical while it is down,
 * because jobs fail within seconds, and if it goes down repeatedly. A port without use is a
 * warning. */
static void grade_link(const struct rule_input *in, struct finding *f, double down_s,
		       unsigned flaps)
{
	const struct history *h = in->history;
	bool used = h->used_ms && in->now_ms - h->used_ms < USED_MS;
	bool fails = flaps >= threshold(in, LIMIT_flaps_critical) ||
		     (h->down && down_s >= threshold(in, LIMIT_down_critical_seconds));

	f->severity = used && fails ? SEVERITY_CRITICAL : SEVERITY_WARNING;
	f->near = used ? (double)NAN : 0;
}

enum rule_answer rule_link_flap(const struct rule_input *in, struct finding *f)
{
	const struct history *h = in->history;
	double down_s = h->down_ms ? (double)(in->now_ms - h->down_ms) / 1000 : 0;
	double critical_s = threshold(in, LIMIT_down_critical_seconds);
	unsigned flaps = history_flaps(h, in->now_ms, FLAPS_MS);
	bool repeats;

	grade_link(in, f, down_s, flaps);
	if (in->port->state == PORT_UNKNOWN && isnan(rate_of(in, SERIES_LINK_DOWN)))
		return cannot_decide(f, "the port's state is not visible");
	if (in->port->admin_down || !in->settled)
		return ANSWER_NO;
	if (!h->went_down && !(h->down && h->was_active) && !returned_changed(in))
		return ANSWER_NO;
	/* It went down at least once, even if that was before rocelet watched its link. */
	if (h->down && flaps == 0)
		flaps = 1;
	f->at_once = !has_pf_with_link(in);
	f->since_ms = h->down_ms ? h->down_ms : h->flap_ms[0];
	f->since_exact = true;
	if (in->port->gid_moved)
		f->why =
			"an address moved to another GID index: existing queue pairs use the old one";
	f->last_ms = h->down_ms ? 0 : h->flap_ms[0];
	repeats = f->severity == SEVERITY_CRITICAL && flaps >= threshold(in, LIMIT_flaps_critical);
	/* The limits are those that made it critical. Otherwise one event is enough for a warning.
	 */
	if (h->down_ms)
		show(f, "link down for", "s", down_s,
		     f->severity == SEVERITY_CRITICAL && !repeats && critical_s > 0 ? critical_s
										    : (double)NAN);
	show(f, "times the link went down in 12 h", "", flaps,
	     repeats	  ? threshold(in, LIMIT_flaps_critical)
	     : h->down_ms ? (double)NAN
			  : 1);
	show_word(f, "roce_port_state", in->port->state, port_state_name(in->port->state));
	return ANSWER_YES;
}

/* Finds a pod's port that is down although no link is down. This is normal for a moment while the
 * pod starts or ends, and for longer before the start, while its images are pulled. */
enum rule_answer rule_port_off(const struct rule_input *in, struct finding *f)
{
	const struct history *h = in->history;
	double off_s = h->off_ms ? (double)(in->now_ms - h->off_ms) / 1000 : 0;
	double limit_s = threshold(in, h->up_in_pod ? LIMIT_port_off_seconds
						    : LIMIT_port_unused_seconds);

	if (h->holder && in->port->state == PORT_UNKNOWN)
		return cannot_decide(f, "the port's state is not visible");
	if (!h->off_ms || off_s < limit_s)
		return ANSWER_NO;
	f->severity = h->up_in_pod ? SEVERITY_WARNING : SEVERITY_INFO;
	f->since_ms = h->off_ms;
	f->since_exact = true;
	f->why = in->port->link_disabled ? "its PF keeps it down: the VF link state is \"disable\""
		 : !h->up_in_pod	 ? "it has never been up since the pod got it"
					 : NULL;
	show(f, "down for", "s", off_s, limit_s);
	show_word(f, "roce_port_state", in->port->state, port_state_name(in->port->state));
	return ANSWER_YES;
}

enum rule_answer rule_port_never_up(const struct rule_input *in, struct finding *f)
{
	if (in->port->state == PORT_UNKNOWN)
		return cannot_decide(f, "the port's state is not visible");
	if (in->port->state != PORT_DOWN || in->history->was_active || in->port->admin_down ||
	    !in->settled)
		return ANSWER_NO;
	f->severity = SEVERITY_INFO;
	f->since_ms = in->history->down_ms;
	f->since_exact = f->since_ms;
	show_word(f, "roce_port_state", in->port->state, port_state_name(in->port->state));
	return ANSWER_YES;
}

/* Shows the lane with the most errors. */
static void show_lane(const struct rule_input *in, struct finding *f)
{
	double most = 0, sum = 0;
	int lane = 0;

	for (int i = 0; i < SERIES_LANE_ERRORS_LAST - SERIES_LANE_ERRORS + 1; i++) {
		double errors = rate_of(in, (enum series)(SERIES_LANE_ERRORS + i));

		if (!(errors > 0))
			continue;
		sum += errors;
		if (errors > most) {
			most = errors;
			lane = i;
		}
	}
	if (sum > 0)
		show_numbered(f, "roce_phy_lane_errors_total{lane=\"#\"}, share of all", lane,
			      "ratio", most / sum, (double)NAN);
}

/* Judges packets that a correct frame delivered damaged. unseen: as for no_sign(). */
static enum rule_answer judge_icrc(const struct rule_input *in, struct finding *f,
				   const char *unseen)
{
	double icrc = tally_rate(in, TALLY_ICRC);

	if (!(icrc >= limit(in, LIMIT_least_events)))
		return no_sign(f, unseen);
	f->since_ms = in->history->tally[TALLY_ICRC].since_ms;
	f->severity = SEVERITY_WARNING;
	f->why =
		"packets with a correct frame checksum are corrupted: faulty memory of a switch or NIC";
	show(f, "roce_icrc_errors_total", "1/s", icrc, threshold(in, LIMIT_least_events));
	return ANSWER_YES;
}

/* Errors beyond chance per bit received over a span. */
static double error_ratio(const struct rule_input *in, enum span span)
{
	uint64_t span_ms = in->span_ms[span];
	double seconds, seen;
	double errors = window_sum(in->window, in->timeline, SIGNAL_PHY_ERRORS, span_ms, &seconds);
	double bytes = window_sum(in->window, in->timeline, SIGNAL_BYTES_RECEIVED, span_ms, &seen);
	/* Include traffic that is not RDMA. */
	double bits = 8 *
		      fmax(bytes, seconds * fmax(in->history->phy_rate, LEAST_SHARE * in->line));

	if (errors < limit(in, LIMIT_least_events) || bits == 0)
		return 0;
	return beyond_chance(errors) / bits;
}

enum rule_answer rule_bad_link(const struct rule_input *in, struct finding *f)
{
	static const char no_phy[] = "no counter of PHY errors is visible";
	uint64_t lately_ms = in->span_ms[SPAN_LATELY];
	double errors = window_mean(in->window, in->timeline, SIGNAL_PHY_ERRORS, lately_ms);
	double ratio, warning = limit(in, LIMIT_bit_errors_warning);

	if (!in->settled)
		return cannot_decide(f, "the link may still be training");
	if (isnan(errors))
		return isnan(rate_of(in, SERIES_ICRC_ERRORS)) ? cannot_decide(f, no_phy)
							      : judge_icrc(in, f, no_phy);
	if (errors == 0)
		return judge_icrc(in, f, NULL);
	if (in->line == 0 && in->history->phy_rate == 0)
		return cannot_decide(f, "neither the bits received nor the port's rate is visible");
	ratio = fmax(error_ratio(in, SPAN_RECENT), error_ratio(in, SPAN_LATELY));
	if (ratio < warning)
		ratio = error_ratio(in, SPAN_LONG);
	if (ratio < warning ||
	    window_count(in->window, in->timeline, SIGNAL_PHY_ERRORS, lately_ms, 0) < 2)
		return judge_icrc(in, f, NULL);
	grade(f, ratio, threshold(in, LIMIT_bit_errors_critical));
	show(f, "errors not corrected by FEC per bit received", "ratio", ratio,
	     limit_of(in, f, SEVERITY_CRITICAL, threshold(in, LIMIT_bit_errors_warning),
		      threshold(in, LIMIT_bit_errors_critical)));
	show(f, "roce_phy_symbol_errors_total", "1/s", rate_of(in, SERIES_SYMBOL_ERRORS),
	     (double)NAN);
	show(f, "roce_phy_crc_errors_total", "1/s", rate_of(in, SERIES_CRC_ERRORS), (double)NAN);
	if (rate_of(in, SERIES_UNCORRECTABLE) > 0)
		show(f, "roce_phy_fec_blocks_total{kind=\"uncorrectable\"}", "1/s",
		     rate_of(in, SERIES_UNCORRECTABLE), (double)NAN);
	show_lane(in, f);
	if (rate_of(in, SERIES_CORRECTED_BITS) > 0 && in->line > 0)
		show(f, "bits corrected by FEC, share of the line", "ratio",
		     rate_of(in, SERIES_CORRECTED_BITS) / (8 * in->line), (double)NAN);
	return ANSWER_YES;
}

/* Returns the highest rate of FEC-corrected bits on other ports of the same driver and speed; NaN:
 * fewer than two of them count it. */
static double corrected_by_others(const struct rule_input *in)
{
	double most = (double)NAN;
	unsigned n = 0;

	for (size_t i = 0; i < in->all->n_ports; i++) {
		const struct port_observation *o = &in->all->ports[i];

		if (o == in->port || o->rate_bps != in->port->rate_bps ||
		    strcmp(o->driver, in->port->driver) != 0 || isnan(in->loads[i].corrected))
			continue;
		most = fmax(most, in->loads[i].corrected);
		n++;
	}
	return n >= 2 ? most : (double)NAN;
}

/* Detects a rise of the bits that FEC corrects. FEC still repairs everything: an optic or cable
 * wears out long before the first packet is damaged. With PAM4 some bits are always corrected, so
 * only a rise counts. */
enum rule_answer rule_pre_fec_errors(const struct rule_input *in, struct finding *f)
{
	double bits = history_corrected(in->history), line_bits = 8 * in->line;
	double factor = limit(in, LIMIT_pre_fec_factor), usual = in->history->corrected_usual;
	double others;

	if (isnan(rate_of(in, SERIES_CORRECTED_BITS)))
		return cannot_decide(f, "bits corrected by FEC are not counted");
	if (!in->settled || isnan(bits) || in->line == 0)
		return cannot_decide(f, "not watched for a minute yet, or the rate is not visible");
	if (in->history->down || bits < limit(in, LIMIT_pre_fec_info) * line_bits)
		return ANSWER_NO;
	others = corrected_by_others(in);
	/* A value that all ports share is normal for this kind of link. */
	if (bits < factor * (isnan(others) ? usual : others))
		return ANSWER_NO;
	f->severity = bits >= threshold(in, LIMIT_pre_fec_warning) * line_bits ? SEVERITY_WARNING
									       : SEVERITY_INFO;
	f->why = isnan(others) ? "it increased on this port" : "similar ports have far fewer";
	show(f, "bits corrected by FEC, share of the line", "ratio", bits / line_bits,
	     limit_of(in, f, SEVERITY_WARNING, threshold(in, LIMIT_pre_fec_info),
		      threshold(in, LIMIT_pre_fec_warning)));
	show(f, "usual on this port", "ratio", usual / line_bits, (double)NAN);
	if (!isnan(others))
		show(f, "highest of its siblings", "ratio", others / line_bits, (double)NAN);
	show_lane(in, f);
	return ANSWER_YES;
}

/* Detects a link that is slower than before, or than its siblings. A VF has its PF's rate, and
 * soft-RoCE its netdev's, so neither is judged. */
enum rule_answer rule_link_degraded(const struct rule_input *in, struct finding *f)
{
	const struct port_observation *o = in->port;
	uint64_t before = in->history->best_rate_bps;
	uint64_t others = siblings_rate(in->siblings, o);

	if (o->rate_bps == 0)
		return in->history->down ? ANSWER_NO
					 : cannot_decide(f, "the port's rate is not visible");
	if (in->history->down || !in->settled || o->parent[0] || is_soft_roce(o))
		return ANSWER_NO;
	if (o->rate_bps >= before && !others)
		return ANSWER_NO;
	f->severity = o->rate_bps < before ? SEVERITY_WARNING : SEVERITY_INFO;
	f->why = o->rate_bps < before ? "it was faster earlier"
				      : "all other ports of its driver on this node are faster";
	show(f, "roce_port_rate_bytes_per_second", "B/s", (double)o->rate_bps / 8,
	     (double)(o->rate_bps < before ? before : others) / 8);
	return ANSWER_YES;
}
