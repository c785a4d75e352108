/* One port in one sample: every rule, and what its latch makes of it. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "cleanup.h"
#include "diagnosis_state.h"

/* Of what is critical, from which the onsets of a warning raise it. */
#define NEAR_CRITICAL 0.5

#define USUAL_CONFIDENCE 0.8

/* --- when it began, and with what ------------------------------------------------------------- */

/* Bytes are no trouble. */
static bool can_move_first(enum signal s)
{
	return s < SIGNAL_BYTES_RECEIVED;
}

/* Of the series that a signal is made of, the one that moves most now; else its usual name. */
static const char *mover_name(const struct rates *r, enum signal s)
{
	static const struct {
		enum signal signal;
		enum series series;
	} parts[] = {{SIGNAL_PHY_ERRORS, SERIES_SYMBOL_ERRORS},
		     {SIGNAL_PHY_ERRORS, SERIES_CRC_ERRORS},
		     {SIGNAL_PHY_ERRORS, SERIES_UNCORRECTABLE},
		     {SIGNAL_CNP_RECEIVED, SERIES_CNP_RECEIVED},
		     {SIGNAL_CNP_RECEIVED, SERIES_CNP_HANDLED},
		     {SIGNAL_CNP_RECEIVED, SERIES_CNP_IGNORED},
		     {SIGNAL_NAK, SERIES_SEQUENCE_NAK},
		     {SIGNAL_NAK, SERIES_IMPLIED_NAK},
		     {SIGNAL_TIMEOUTS, SERIES_ACK_TIMEOUTS},
		     {SIGNAL_TIMEOUTS, SERIES_SOFT_TIMEOUTS},
		     {SIGNAL_NOT_READY, SERIES_RNR_NAK},
		     {SIGNAL_NOT_READY, SERIES_WQE_MISSING},
		     {SIGNAL_NOT_READY, SERIES_RNR_NAK_SENT},
		     {SIGNAL_FAILED, SERIES_RETRIES_EXCEEDED},
		     {SIGNAL_FAILED, SERIES_RNR_EXCEEDED},
		     {SIGNAL_FAILED, SERIES_CQE_ERRORS},
		     {SIGNAL_FAILED, SERIES_CQE_ERRORS_RESP}};
	const char *name = signal_name(s);
	float most = 0;

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (parts[i].signal == s && r->rate[parts[i].series] > most) {
			most = r->rate[parts[i].series];
			name = series_name(parts[i].series);
		}
	return name;
}

static void find_first_mover(struct verdict *v, const struct rule_input *in)
{
	uint64_t first = 0, back_ms = in->span_ms[SPAN_BACK];

	v->first_moved = "";
	if (in->history->flap_ms[0] && in->now_ms - in->history->flap_ms[0] < back_ms) {
		first = in->history->flap_ms[0];
		v->first_moved = "roce_phy_link_down_total";
	}
	/* Signals stand in causal order: an earlier one is not displaced by one of the same moment.
	 */
	for (int s = 0; s < N_SIGNALS && can_move_first((enum signal)s); s++) {
		uint64_t since = window_since(in->window, in->timeline, (enum signal)s, back_ms,
					      in->span_ms[SPAN_LULL]);

		if (!since)
			continue;
		if (first && since == first)
			v->others_moved = true;
		if (first && since >= first)
			continue;
		first = since;
		v->others_moved = false;
		v->first_moved = mover_name(in->rates, (enum signal)s);
	}
}

static uint64_t onset_of(const struct finding *f, const struct latch *l,
			 const struct rule_input *in)
{
	uint64_t since = f->since_ms, back_ms = in->span_ms[SPAN_BACK];
	uint64_t lull_ms = in->span_ms[SPAN_LULL];

	if (!since && f->has_signal)
		since = window_since(in->window, in->timeline, f->signal, back_ms, lull_ms);

	/* An excursion that fills the whole look back began at an unknown time, before it was one.
	 */
	return since && since < l->bad_since_ms && in->now_ms - since < back_ms - lull_ms
		       ? since
		       : l->bad_since_ms;
}

/* --- what is said ----------------------------------------------------------------------------- */

static bool is_management(const struct port_observation *o)
{
	return o->management && !(o->qps.known && o->qps.count > 0);
}

static enum severity capped(const struct cause_row *row, const struct rule_input *in,
			    enum severity s)
{
	bool cap = is_management(in->port) ||
		   (row->needs_congestion_control && in->limits->expected == CC_UNKNOWN);

	return cap && s > SEVERITY_INFO ? SEVERITY_INFO : s;
}

static void copy_pods(struct verdict *v, const struct port_observation *o)
{
	v->n_pods = (uint32_t)o->n_pods;
	for (size_t i = 0; i < o->n_pods && i < VERDICT_PODS_MAX; i++)
		v->pods[i] = o->pods[i];
}

static void judge_refresh(struct verdict *v, const struct cause_row *row, const struct latch *l,
			  const struct rule_input *in, const struct finding *f)
{
	enum severity s = capped(row, in, f->severity);
	const struct port_observation *subject = f->subject ? f->subject : in->port;

	if (s == SEVERITY_WARNING && !(f->near < NEAR_CRITICAL) &&
	    latch_onsets(l, in->now_ms) >= in->limits->value[LIMIT_escalation_onsets])
		s = SEVERITY_CRITICAL;
	if (s > v->severity) {
		if (v->severity)
			v->change = VERDICT_SEVERITY;
		v->severity = s;
	}
	v->confidence = f->confidence;
	v->clearing_ms = 0;
	v->remark = f->why;
	v->management = is_management(in->port);
	if (v->management)
		v->severity = SEVERITY_INFO;
	v->n_evidence = f->n_evidence;
	memcpy(v->evidence, f->evidence, f->n_evidence * sizeof(f->evidence[0]));
	/* Whom it concerned stays known when the pod has gone. */
	if (subject->n_pods)
		copy_pods(v, subject);
	if (in->port->qps.peer[0])
		memcpy(v->peer, in->port->qps.peer, sizeof(v->peer));
}

static int judge_apply(struct diagnosis *d, struct watched_port *p, enum cause c,
		       struct rule_input *in, const struct finding *f, enum latch_step step)
{
	const struct cause_row *row = cause_row(c);
	struct latch *l = &p->latch[c];
	struct verdict *v;

	if (step == LATCH_CLEARED || step == LATCH_UNSEEN) {
		verdicts_close(d, p, c, step == LATCH_UNSEEN ? CLOSE_UNSEEN : CLOSE_CLEARED);
		return 0;
	}
	if (step == LATCH_OPENED) {
		v = verdicts_add(d, p, in->port, c);
		if (!v) {
			latch_close(l); /* the next sample tries again */
			return -ENOMEM;
		}
		v->onset_ms = onset_of(f, l, in);
		v->onset_unix_ms = in->all->unix_ms > in->now_ms - v->onset_ms
					   ? in->all->unix_ms - (in->now_ms - v->onset_ms)
					   : 0;
		find_first_mover(v, in);
		judge_refresh(v, row, l, in, f);
	} else if (latch_is_open(l)) {
		v = verdicts_find(d, p->id, c);
		if (v && l->sight == SIGHT_YES)
			judge_refresh(v, row, l, in, f);
		else if (v && l->clear_ms && !v->clearing_ms)
			v->clearing_ms = in->now_ms - l->clear_ms;
	}
	return 0;
}

/* --- the rules -------------------------------------------------------------------------------- */

/* Of one for each priority or lane any will do. */
static bool judge_is_seen(const struct rates *r, enum series s)
{
	int first = series_number(s);

	if (first < 0)
		return !isnan(r->rate[s]);
	for (int i = 0; i < SETTINGS_PRIOS; i++)
		if (!isnan(r->rate[(int)s + i]))
			return true;
	return false;
}

static int missing_series(const struct cause_row *row, const struct rates *r)
{
	for (unsigned i = 0; i < row->n_needs; i++)
		if (!judge_is_seen(r, row->needs[i]))
			return (int)row->needs[i];
	return -1;
}

static enum sight judge_look(const struct cause_row *row, struct latch *l, struct rule_input *in,
			     struct finding *f)
{
	enum sight sight;

	l->missing = -1;
	if (!row->rule)
		return cannot_decide(f, "only a sum over all nodes tells: see the fleet queries");
	if (row->needs_congestion_control &&
	    (in->limits->expected == CC_PFC_ONLY || in->limits->expected == CC_LOSSY))
		return SIGHT_NO;
	l->missing = (short)missing_series(row, in->rates);
	if (l->missing >= 0)
		return cannot_decide(f, "is not visible");
	in->open = latch_is_open(l);
	sight = row->rule(in, f);
	return sight == SIGHT_NO && row->needs_traffic && in->idle ? SIGHT_QUIET : sight;
}

/* Much traffic, room on the line, and nothing that is ever a sign of trouble: everything must have
 * been seen. */
static bool is_clear(const struct rule_input *in)
{
	for (int s = SIGNAL_PAUSE_RECEIVED; s < SIGNAL_FAILED; s++)
		if (s != SIGNAL_CNP_SENT && !(in->mean[s] == 0))
			return false;
	return !(in->mean[SIGNAL_PHY_ERRORS] > 0) &&
	       fmax(in->mean[SIGNAL_BYTES_RECEIVED], in->mean[SIGNAL_BYTES_SENT]) >
		       in->limits->value[LIMIT_clear_bytes] &&
	       in->use_received < in->limits->value[LIMIT_clear_utilisation] &&
	       in->use_sent < in->limits->value[LIMIT_clear_utilisation];
}

/* Evidence is left as it is: n_evidence says how much of it there is. */
static void begin_finding(struct finding *f, const struct cause_row *row)
{
	f->severity = SEVERITY_INFO;
	f->confidence = USUAL_CONFIDENCE;
	f->near = (double)NAN;
	f->yields = f->at_once = false;
	f->why = NULL;
	f->subject = NULL;
	f->signal = row->signal;
	f->has_signal = row->has_signal;
	f->since_ms = 0;
	f->n_evidence = 0;
}

int judge_port(struct diagnosis *d, const struct observation *all, size_t port,
	       struct watched_port *p)
{
	const struct cause_row *rows = cause_row((enum cause)0);
	struct rule_input in;
	struct finding f;
	int r = 0;

	rule_input_make(&in, all, port, &d->limits, &p->rates, &p->history, &p->window,
			&d->timeline, d->span_ms, p->interval_s);
	in.loads = d->loads;
	in.siblings = &d->siblings;
	if (!is_clear(&in))
		p->clear_ms = 0;
	else if (!p->clear_ms)
		p->clear_ms = d->now_ms;
	for (int c = 0; c < N_CAUSES; c++) {
		const struct cause_row *row = &rows[c];
		struct latch *l = &p->latch[c];
		enum latch_step step;
		enum sight sight;

		begin_finding(&f, row);
		sight = judge_look(row, l, &in, &f);
		l->why = sight == SIGHT_UNKNOWN ? f.why : NULL;
		if (latch_rests(l, sight))
			continue;
		step = latch_update(l, row, &d->limits, sight, f.at_once, d->now_ms,
				    (uint64_t)(p->interval_s * 1000));
		if (c == CAUSE_APPLICATION_ERROR && sight == SIGHT_YES)
			p->history.errors.told = true;
		if (sight == SIGHT_YES)
			l->yields = f.yields;
		if (judge_apply(d, p, (enum cause)c, &in, &f, step) < 0)
			r = -ENOMEM;
	}
	return r;
}
