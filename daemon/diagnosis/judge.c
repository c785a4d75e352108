// SPDX-License-Identifier: Apache-2.0
/* Applies all rules to one port of one sample, and updates its latches and verdicts. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "cleanup.h"
#include "diagnosis_state.h"
#include "search.h"

/* A value above this share of the critical limit lets repeated warnings escalate to critical. */
#define NEAR_CRITICAL 0.5

/* Sampling intervals until a rule can find a fault: a rate needs two samples, and a rule may need
 * two rates. */
#define FIRST_SAMPLES 2.5

/* --- onset and first mover -------------------------------------------------------------------- */

/* True for every signal except traffic, which alone is no symptom. */
static bool can_move_first(enum signal s)
{
	return s < SIGNAL_BYTES_RECEIVED;
}

/* Returns the name of the signal's series with the highest rate; if none moves, that of its main
 * series. */
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
	v->has_signal = false;
	if (in->history->flap_ms[0] && in->now_ms - in->history->flap_ms[0] < back_ms) {
		first = in->history->flap_ms[0];
		v->first_moved = in->history->flap_counted ? series_name(SERIES_LINK_DOWN)
							   : "roce_port_state";
	}
	/* Signals are in causal order: of two that began at the same time, keep the first. */
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
		v->first_signal = (enum signal)s;
		v->has_signal = true;
	}
}

static uint64_t onset_of(const struct finding *f, const struct latch *l,
			 const struct rule_input *in)
{
	uint64_t since = f->since_ms, back_ms = in->span_ms[SPAN_BACK];
	uint64_t lull_ms = in->span_ms[SPAN_LULL];

	if (f->since_exact)
		return since;
	if (!since && f->has_signal)
		since = window_since(in->window, in->timeline, f->signal, back_ms, lull_ms);

	/* If the signal moved during the whole span that is searched, its beginning is unknown. */
	if (!since || in->now_ms - since >= back_ms - lull_ms)
		since = l->bad_since_ms;
	/* A rule may decide yes only after the last of the events that it counts. */
	if (f->last_ms && f->last_ms < since)
		since = f->last_ms;
	return since < l->bad_since_ms ? since : l->bad_since_ms;
}

/* True if the fault may be older than the daemon: the port was in the daemon's first sample, and
 * the fault was found as soon as the port had rates, or as soon as its link was judged. */
static bool began_before_start(const struct diagnosis *d, const struct rule_input *in,
			       uint64_t onset_ms)
{
	double soon_ms = FIRST_SAMPLES * (double)timeline_interval(in->timeline);
	double after_ms = (double)onset_ms - (double)in->history->first_seen_ms;
	double settle_ms = 1000 * threshold(in, LIMIT_settle_seconds);

	return in->history->first_seen_ms == d->first_ms &&
	       (after_ms <= soon_ms || (after_ms >= settle_ms && after_ms <= settle_ms + soon_ms));
}

/* --- verdicts --------------------------------------------------------------------------------- */

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

/* Sets which pods cause the fault: those of the port that the rule names. Without any, the verdict
 * keeps its previous ones, which have ended. */
static void judge_set_culprits(struct verdict *v, const struct port_observation *o)
{
	if (!o || o->n_pods == 0)
		return;
	for (v->n_culprits = 0; v->n_culprits < o->n_pods && v->n_culprits < VERDICT_CULPRITS_MAX;
	     v->n_culprits++)
		v->culprits[v->n_culprits] = o->pods[v->n_culprits];
}

static void judge_add_affected(struct verdict *v, const struct port_observation *o)
{
	const uint32_t known = v->n_pods < VERDICT_PODS_MAX ? v->n_pods : VERDICT_PODS_MAX;

	for (size_t i = 0; i < o->n_pods; i++) {
		/* A pod may have several VFs. */
		if (verdict_is_culprit(v, o->pods[i].namespace, o->pods[i].name) ||
		    any_of(known, k,
			   strcmp(v->pods[k].name, o->pods[i].name) == 0 &&
				   strcmp(v->pods[k].namespace, o->pods[i].namespace) == 0))
			continue;
		if (v->n_pods < VERDICT_PODS_MAX)
			v->pods[v->n_pods] = o->pods[i];
		v->n_pods++;
	}
}

/* Sets which pods the fault affects: those of the port, and those of its VFs if these share what is
 * at fault, but none that causes it. Without any, the verdict keeps its previous ones, which have
 * ended. */
static void judge_set_affected(struct verdict *v, const struct cause_row *row,
			       const struct rule_input *in)
{
	const struct port_observation *own = in->port;
	bool shared = row->concerns_vfs && own->function[0] && !own->parent[0];
	uint32_t before = v->n_pods;

	v->n_pods = 0;
	judge_add_affected(v, own);
	for (size_t i = 0; shared && i < in->all->n_ports; i++)
		if (in->all->ports[i].port == own->port &&
		    strcmp(in->all->ports[i].parent, own->function) == 0)
			judge_add_affected(v, &in->all->ports[i]);
	if (v->n_pods == 0)
		v->n_pods = before;
}

/* Adds the number of onsets within an hour to the evidence: it made the verdict critical. */
static void show_onsets(struct verdict *v, unsigned onsets, double least)
{
	if (v->n_evidence < EVIDENCE_MAX)
		v->evidence[v->n_evidence++] = (struct evidence){
			"onsets of this fault within an hour", "", onsets, least, -1, NULL};
}

/* Converts a monotonic time to Unix time; 0 = unknown. */
static uint64_t judge_unix(const struct rule_input *in, uint64_t ms)
{
	return in->all->unix_ms > in->now_ms - ms ? in->all->unix_ms - (in->now_ms - ms) : 0;
}

/* The same number, or two numbers as ratios to their limits, can be compared; else the first one is
 * kept. NULL: none. */
static bool is_as_bad(const struct evidence *now, const struct evidence *worst, bool less_is_worse)
{
	double a, b;

	if (!now || !worst)
		return !worst;
	a = now->value;
	b = worst->value;
	if (now->threshold > 0 && worst->threshold > 0) {
		a /= now->threshold;
		b /= worst->threshold;
	} else if (strcmp(now->name, worst->name) != 0) {
		return false;
	}
	return less_is_worse ? a <= b : a >= b;
}

/* Keeps the evidence of the sample in which the fault was worst; of several equally bad samples,
 * that of the latest. */
static void judge_keep_worst(struct verdict *v, const struct cause_row *row, enum severity s)
{
	const struct evidence *now = evidence_main(v->evidence, v->n_evidence, row->less_is_worse);
	const struct evidence *worst = evidence_main(v->worst.evidence, v->worst.n_evidence,
						     row->less_is_worse);

	if (s < v->worst.severity ||
	    (s == v->worst.severity && !is_as_bad(now, worst, row->less_is_worse)))
		return;
	v->worst.severity = s;
	v->worst.n_evidence = v->n_evidence;
	memcpy(v->worst.evidence, v->evidence, v->n_evidence * sizeof(v->evidence[0]));
}

/* Lowers the severity to that of a sample without the fault. */
static void judge_ease(struct verdict *v, const struct cause_row *row, const struct rule_input *in,
		       const struct finding *f)
{
	enum severity s = capped(row, in, f->severity);

	if (row->severity_now && s < v->severity)
		v->severity = s;
}

static void judge_refresh(struct verdict *v, const struct cause_row *row, const struct latch *l,
			  const struct rule_input *in, const struct finding *f)
{
	enum severity s = capped(row, in, f->severity);
	double escalation = in->limits->value[LIMIT_escalation_onsets];
	unsigned onsets = latch_onsets(l, in->now_ms);
	bool escalates = s == SEVERITY_WARNING && !(f->near < NEAR_CRITICAL) &&
			 onsets >= escalation;

	if (escalates)
		s = SEVERITY_CRITICAL;
	if (s > v->severity) {
		if (v->severity)
			v->change = VERDICT_SEVERITY;
		v->severity = s;
	}
	if (row->severity_now)
		v->severity = s;
	v->clearing_ms = v->over_ms = 0;
	v->remark = f->why;
	v->management = is_management(in->port);
	if (v->management)
		v->severity = SEVERITY_INFO;
	v->n_evidence = f->n_evidence;
	memcpy(v->evidence, f->evidence, f->n_evidence * sizeof(f->evidence[0]));
	if (escalates && !v->management)
		show_onsets(v, onsets, escalation);
	evidence_sort(v->evidence, v->n_evidence, row->less_is_worse);
	judge_keep_worst(v, row, f->severity);
	v->last_ms = f->last_ms ? f->last_ms : in->now_ms;
	v->last_unix_ms = judge_unix(in, v->last_ms);
	judge_set_culprits(v, f->culprit);
	judge_set_affected(v, row, in);
	if (in->port->qps.peer[0])
		memcpy(v->peer, in->port->qps.peer, sizeof(v->peer));
}

static int judge_apply(struct diagnosis *d, struct watched_port *p, enum cause c,
		       struct rule_input *in, const struct finding *f, enum latch_step step)
{
	const struct cause_row *row = cause_row(c);
	struct latch *l = latches_find(&p->latches, c);
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
		v->before_start = began_before_start(d, in, v->onset_ms);
		if (v->before_start)
			v->onset_ms = in->history->first_seen_ms;
		v->onset_unix_ms = judge_unix(in, v->onset_ms);
		find_first_mover(v, in);
		judge_refresh(v, row, l, in, f);
	} else if (latch_is_open(l)) {
		v = verdicts_find(d, p->id, c);
		if (v && l->answer != ANSWER_YES && !v->over_ms)
			v->over_ms = in->now_ms;
		if (v && l->answer == ANSWER_YES)
			judge_refresh(v, row, l, in, f);
		else if (v)
			judge_ease(v, row, in, f);
		if (v && l->answer != ANSWER_YES && l->clear_ms && !v->clearing_ms)
			v->clearing_ms = in->now_ms - l->clear_ms;
	}
	return 0;
}

/* --- the rules -------------------------------------------------------------------------------- */

/* True if the series is visible. If it exists per priority or lane, one visible number is
 * enough. */
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

/* Applies a rule. *ret_missing: a required series that is not visible; -1: none. */
static enum rule_answer judge_apply_rule(const struct cause_row *row, struct rule_input *in,
					 struct finding *f, int *ret_missing)
{
	enum rule_answer answer;

	*ret_missing = -1;
	if (!row->rule)
		return cannot_decide(
			f,
			"no node can decide it alone: the alert RoceletCnpLost compares the sums of all nodes");
	if (row->needs_congestion_control &&
	    (in->limits->expected == CC_PFC_ONLY || in->limits->expected == CC_LOSSY))
		return ANSWER_NO;
	*ret_missing = missing_series(row, in->rates);
	if (*ret_missing >= 0)
		return cannot_decide(f, "is not visible");
	answer = row->rule(in, f);
	return answer == ANSWER_NO && row->needs_traffic && in->idle ? ANSWER_NO_TRAFFIC : answer;
}

/* True if the port carries much traffic, the line has room, and every symptom from pause to RNR
 * NAKs (without CNPs sent) is visible and 0. PHY errors must be 0 or invisible. */
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

/* Resets the finding for the next rule. The old evidence is not cleared: n_evidence is the number
 * of valid entries. */
static void begin_finding(struct finding *f, const struct cause_row *row)
{
	f->severity = SEVERITY_INFO;
	f->near = (double)NAN;
	f->yields = f->at_once = f->unseen = false;
	f->why = NULL;
	f->culprit = NULL;
	f->signal = row->signal;
	f->has_signal = row->has_signal;
	f->since_ms = f->last_ms = 0;
	f->since_exact = false;
	f->n_evidence = 0;
}

/* Applies a rule's answer to its latch and verdict. -ENOMEM: the next sample tries again. */
static int judge_latch(struct diagnosis *d, struct watched_port *p, enum cause c,
		       struct rule_input *in, const struct finding *f, enum rule_answer answer)
{
	const struct cause_row *row = cause_row(c);
	struct latch *l = latches_find(&p->latches, c);
	enum latch_step step;

	if (!l && answer != ANSWER_YES)
		return 0;
	if (!l)
		l = latches_wake(&p->latches, c);
	if (!l)
		return -ENOMEM;
	if (latch_rests(l, answer)) {
		latches_settle(&p->latches, l, d->now_ms);
		return 0;
	}
	step = latch_update(l, row, &d->limits, answer, f->at_once, d->now_ms,
			    (uint64_t)(p->interval_s * 1000));
	if (c == CAUSE_APPLICATION_ERROR && answer == ANSWER_YES)
		p->history.errors.reported = true;
	if (answer == ANSWER_YES)
		l->yields = f->yields;
	return judge_apply(d, p, c, in, f, step);
}

static enum severity judge_held(struct diagnosis *d, const struct watched_port *p, enum cause c)
{
	const struct verdict *v = verdicts_find(d, p->id, c);

	return v ? v->worst.severity : SEVERITY_NONE;
}

int judge_port(struct diagnosis *d, const struct observation *all, size_t port,
	       struct watched_port *p)
{
	struct undecided undecided[N_CAUSES];
	size_t n_undecided = 0;
	struct rates *rates = port_rates_again(&p->rates, &d->rates, p->interval_s);
	struct rule_input in;
	struct finding f;
	int r = 0;

	if (rates == &d->rates)
		rates_of_rdma(rates, rdma_priorities(&all->ports[port]));
	rule_input_make(&in, all, port, d->loads, &d->limits, rates, &p->history, &p->window,
			&d->timeline, d->span_ms, p->interval_s);
	in.siblings = &d->siblings;
	if (!is_clear(&in))
		p->clear_ms = 0;
	else if (!p->clear_ms)
		p->clear_ms = d->now_ms;
	for (int c = 0; c < N_CAUSES; c++) {
		const struct cause_row *row = cause_row((enum cause)c);
		const struct latch *l = latches_find(&p->latches, (enum cause)c);
		enum rule_answer answer;
		int missing;

		begin_finding(&f, row);
		in.open = l && latch_is_open(l);
		in.held = in.open ? judge_held(d, p, (enum cause)c) : SEVERITY_NONE;
		answer = judge_apply_rule(row, &in, &f, &missing);
		if (answer == ANSWER_UNDECIDED || (f.unseen && !in.open))
			undecided[n_undecided++] = (struct undecided){f.why, (enum cause)c,
								      missing};
		if (judge_latch(d, p, (enum cause)c, &in, &f, answer) < 0)
			r = -ENOMEM;
	}
	if (undecided_set(&d->undecided, &p->undecided, undecided, n_undecided) < 0)
		r = -ENOMEM;
	return r;
}
