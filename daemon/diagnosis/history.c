// SPDX-License-Identifier: Apache-2.0
#include "history.h"

#include <math.h>
#include <string.h>

#include "cleanup.h"
#include "fnv.h"

/* Smoothing time of the PHY's rate. */
#define PHY_SECONDS    60.0
/* Counters below this rate (1/s) are not compared. */
#define JUDGED_RATE    100
/* Share of the line rate: with more bytes than this, there must be packets. */
#define MOVING_SHARE   0.01
/* Reports of the link going down that are closer together than this are one event. */
#define ONE_FALL_MS    10000
/* Share of RDMA's bytes: smaller differences occur because counters are read one after another. */
#define OUTSIDE_AT_ALL 0.005
#define BALANCE_FAST_S 3.0
#define HITS	       60.0
#define TALLY_S	       10.0
#define FLOW_SLOW_S    60.0
#define RISING	       1.5F
#define USUAL_S	       3600.0
/* Errors further apart than this belong to different runs. */
#define ERRORS_MS      60000

static bool history_is_down(enum port_state s)
{
	return s != PORT_UNKNOWN && s != PORT_ACTIVE && s != PORT_ACTIVE_DEFER;
}

/* The link-down counter and the port state may report the same event in different samples: true if
 * it has been counted. */
static bool was_just_counted(const struct history *h, uint64_t now_ms, double interval_s)
{
	double lately_ms = fmax(ONE_FALL_MS, 1500 * interval_s);

	return h->state == PORT_UNKNOWN ||
	       (h->flap_ms[0] && (double)(now_ms - h->flap_ms[0]) < lately_ms);
}

static void update_link(struct history *h, const struct port_observation *o, const struct rates *r,
			const struct thresholds *t, uint64_t now_ms, double interval_s)
{
	bool down = history_is_down(o->state);
	bool settled = history_is_settled(h, t, now_ms);

	h->changed = h->state != PORT_UNKNOWN &&
		     (history_is_down(h->state) != down || h->rate_bps != o->rate_bps);
	/* Link-down events of a port that has never been active are ignored. */
	h->went_down = settled && !o->admin_down && (h->was_active || o->was_active || !down) &&
		       (r->rate[SERIES_LINK_DOWN] > 0 ||
			(down && !h->down && h->was_active &&
			 !was_just_counted(h, now_ms, interval_s)));
	if (h->went_down) {
		memmove(&h->flap_ms[1], &h->flap_ms[0], sizeof(h->flap_ms) - sizeof(h->flap_ms[0]));
		h->flap_ms[0] = now_ms;
		h->flap_counted = r->rate[SERIES_LINK_DOWN] > 0;
	}
	if (down && !h->down)
		h->down_ms = now_ms;
	else if (!down)
		h->down_ms = 0;
	h->down = down;
	h->was_active |= o->was_active || (o->state != PORT_UNKNOWN && !down);
	h->state = o->state;
	h->rate_bps = o->rate_bps;
	if (settled && !down && o->rate_bps > h->best_rate_bps)
		h->best_rate_bps = o->rate_bps;
}

static uint64_t holder_of(const struct port_observation *o)
{
	const struct observed_pod *pod = o->pods;
	uint64_t digest;

	if (o->n_pods == 0 || pod->ended)
		return 0;
	digest = fnv1a(FNV1A_START, pod->namespace, strlen(pod->namespace) + 1);
	return fnv1a(digest, pod->name, strlen(pod->name));
}

static void update_holder(struct history *h, const struct port_observation *o,
			  const struct thresholds *t, uint64_t now_ms)
{
	uint64_t holder = holder_of(o);
	double watched_ms = (double)(now_ms - h->first_seen_ms);

	if (holder != h->holder) {
		/* After a start of rocelet, the pod may be an old one; the previous state of its
		 * port is known from the netdev. */
		h->up_in_pod = h->was_active && watched_ms <= 1000 * t->value[LIMIT_settle_seconds];
		h->off_ms = 0;
		h->holder = holder;
	}
	h->up_in_pod |= o->state != PORT_UNKNOWN && !h->down;
	if (!holder || !o->admin_down || !h->down)
		h->off_ms = 0;
	else if (!h->off_ms)
		h->off_ms = now_ms;
}

/* True if a is more than `times` b, and large enough to compare. */
static bool exceeds(const struct rates *r, enum series a, enum series b, double times)
{
	return r->rate[a] >= JUDGED_RATE && rates_together(r, a, b) &&
	       (double)r->rate[a] > times * (double)r->rate[b];
}

static bool differ(const struct rates *r, enum series a, enum series b, double times)
{
	return exceeds(r, a, b, times) || exceeds(r, b, a, times);
}

static bool counters_disagree(const struct rates *r, double times)
{
	/* Each CNP answers a mark, and each handled CNP was received; 1.2 allows for counters that
	 * are read one after another. */
	return (exceeds(r, SERIES_CNP_SENT, SERIES_CE, 1.2) &&
		cnps_of_marks(r) > 1.2 * (double)r->rate[SERIES_CE]) ||
	       exceeds(r, SERIES_CNP_HANDLED, SERIES_CNP_RECEIVED, 1.2) ||
	       differ(r, SERIES_OPTIONAL_CE, SERIES_CE, times) ||
	       differ(r, SERIES_OPTIONAL_CNP_SENT, SERIES_CNP_SENT, times) ||
	       differ(r, SERIES_OPTIONAL_CNP_RECEIVED, SERIES_CNP_RECEIVED, times);
}

/* True if RDMA bytes move without packets, or packets without bytes. */
static bool is_stalled(const struct rates *r, double line)
{
	double bytes = (double)r->rate[SERIES_BYTES_RECEIVED] + (double)r->rate[SERIES_BYTES_SENT];
	double packets = (double)r->rate[SERIES_PACKETS_RECEIVED] +
			 (double)r->rate[SERIES_PACKETS_SENT];

	return rates_together(r, SERIES_BYTES_RECEIVED, SERIES_PACKETS_RECEIVED) &&
	       rates_together(r, SERIES_BYTES_SENT, SERIES_PACKETS_SENT) &&
	       ((packets == 0 && line > 0 && bytes > MOVING_SHARE * line) ||
		(bytes == 0 && packets > 10 * JUDGED_RATE));
}

/* True if RDMA bytes and packets do not move while the lossless priorities carry traffic. That
 * traffic is RDMA unless it belongs to a VF, which the rule checks. */
static bool is_frozen(const struct port_observation *o, const struct rates *r, double line)
{
	uint8_t pfc = o->settings && (o->settings->seen & SETTINGS_PFC) ? o->settings->pfc : 0;
	double bytes = 0;

	if (!o->qps.known || o->qps.count == 0 || line == 0 ||
	    r->rate[SERIES_BYTES_RECEIVED] != 0 || r->rate[SERIES_BYTES_SENT] != 0 ||
	    r->rate[SERIES_PACKETS_RECEIVED] != 0 || r->rate[SERIES_PACKETS_SENT] != 0)
		return false;
	for (int p = 0; p < SETTINGS_PRIOS; p++)
		if (pfc & 1 << p)
			bytes += (double)(r->rate[SERIES_PRIORITY_RECEIVED + p] +
					  r->rate[SERIES_PRIORITY_SENT + p]);
	return bytes > MOVING_SHARE * line;
}

static void update_trust(struct history *h, const struct port_observation *o, const struct rates *r,
			 const struct thresholds *t, double interval_s, bool pause_contradicts)
{
	double line = (double)o->rate_bps / 8;

	h->commands_fail = h->command_failures < o->health.command_failures && h->watched_ms;
	h->command_failures = o->health.command_failures;
	h->packets_moved |= r->rate[SERIES_PACKETS_RECEIVED] + r->rate[SERIES_PACKETS_SENT] > 0;
	h->frozen_s = h->packets_moved && is_frozen(o, r, line) ? h->frozen_s + interval_s : 0;
	h->stuck_s = h->packets_moved && is_stalled(r, line) ? h->stuck_s + interval_s : 0;
	h->disagree_s = pause_contradicts || counters_disagree(r, t->value[LIMIT_counters_disagree])
				? h->disagree_s + interval_s
				: 0;
	h->above_line_rate = r->ignored != h->ignored;
	h->ignored = r->ignored;
}

/* --- RDMA bytes outside the lossless priorities ----------------------------------------------- */

static void smooth(double *mean, double now, double interval_s, double over_s)
{
	*mean += (now - *mean) * interval_s / (interval_s + over_s);
}

/* Returns the highest possible rate in this interval: after a failed read, all bytes since the last
 * read may have moved in it. 0 = unknown. */
static double history_burst(const struct rates *r, enum series s, double interval_s)
{
	double moved = (double)r->rate[s] * (double)r->span_s[s];

	return isnan(moved) ? 0 : moved / interval_s;
}

/* Adds a sample: the RDMA bytes minus the bytes of the lossless priorities. Other traffic may use
 * these priorities, too, so a positive difference is certainly RDMA outside them. */
static void update_balance(struct balance *b, const struct rates *r, enum series bytes,
			   enum series first, uint8_t pfc, double line, uint64_t now_ms,
			   double interval_s)
{
	double all = (double)r->rate[bytes], outside = all, usual;
	double burst = history_burst(r, bytes, interval_s);

	for (int p = 0; p < SETTINGS_PRIOS; p++)
		if (pfc & 1 << p)
			outside -= rates_together(r, bytes, (enum series)((int)first + p))
					   ? (double)r->rate[(int)first + p]
					   : (double)NAN;
	if (isnan(outside)) {
		/* Only one of the two reads succeeded; the next rate of the other one includes the
		 * bytes of this sample. */
		b->peak = fmax(b->peak, burst);
		return;
	}
	usual = b->slow_all > 0 ? b->slow_outside / b->slow_all * all : outside;
	smooth(&b->noise, fabs(outside - usual), interval_s, BALANCE_SLOW_S);
	smooth(&b->weight, 1, interval_s, BALANCE_SLOW_S);
	smooth(&b->outside, outside, interval_s, BALANCE_FAST_S);
	smooth(&b->all, all, interval_s, BALANCE_FAST_S);
	smooth(&b->slow_outside, outside, interval_s, BALANCE_SLOW_S);
	smooth(&b->slow_all, all, interval_s, BALANCE_SLOW_S);
	smooth(&b->above, fmax(outside, 0), interval_s, BALANCE_SLOW_S);
	if (b->samples == 0)
		b->peak = line; /* earlier traffic is unknown */
	b->peak = fmax(burst, b->peak * BALANCE_SLOW_S / (interval_s + BALANCE_SLOW_S));
	b->samples++;
	if (outside > OUTSIDE_AT_ALL * all && !b->since_ms)
		b->since_ms = now_ms;
	else if (outside <= OUTSIDE_AT_ALL * all && b->missed)
		b->since_ms = 0;
	b->missed = outside <= OUTSIDE_AT_ALL * all;
	b->hits = b->hits * (1 - 1 / HITS) + !b->missed;
}

static void update_balances(struct history *h, const struct port_observation *o,
			    const struct rates *r, uint64_t now_ms, double interval_s)
{
	double line = (double)o->rate_bps / 8;
	uint8_t pfc = o->settings && (o->settings->seen & SETTINGS_PFC) ? o->settings->pfc : 0;

	if (!pfc) {
		h->sent = h->received = (struct balance){0};
		return;
	}
	update_balance(&h->sent, r, SERIES_BYTES_SENT, SERIES_PRIORITY_SENT, pfc, line, now_ms,
		       interval_s);
	update_balance(&h->received, r, SERIES_BYTES_RECEIVED, SERIES_PRIORITY_RECEIVED, pfc, line,
		       now_ms, interval_s);
}

/* --- events and packets ----------------------------------------------------------------------- */

static double of_priorities(const struct rates *r, enum series first)
{
	double sum = (double)NAN;

	for (int p = 0; p < SETTINGS_PRIOS; p++)
		if (!isnan(r->rate[(int)first + p]))
			sum = (isnan(sum) ? 0 : sum) + (double)r->rate[(int)first + p];
	return sum;
}

static double greater(const struct rates *r, enum series a, enum series b)
{
	return fmax((double)r->rate[a], (double)r->rate[b]);
}

/* True if the rate of the last seconds is clearly above that of the last minute. */
static bool is_rising(const struct tally_sum *t)
{
	return t->sum[0] * t->seconds[1] > RISING * t->sum[1] * t->seconds[0];
}

static void update_tallies(struct history *h, const struct rates *r, uint64_t now_ms,
			   double interval_s)
{
	const double now[N_TALLIES] = {
		[TALLY_CNP_IGNORED] = (double)r->rate[SERIES_CNP_IGNORED],
		[TALLY_ICRC] = (double)r->rate[SERIES_ICRC_ERRORS],
		[TALLY_PCIE_OVERFLOW] = (double)r->rate[SERIES_PCIE_OVERFLOW],
		[TALLY_GLOBAL_FRAMES] = greater(r, SERIES_GLOBAL_FRAMES_SENT,
						SERIES_GLOBAL_FRAMES_RECEIVED),
		[TALLY_GLOBAL_PAUSE] = greater(r, SERIES_GLOBAL_PAUSE_SENT,
					       SERIES_GLOBAL_PAUSE_RECEIVED),
		[TALLY_HOST_MARKED] = of_priorities(r, SERIES_HOST_MARKED),
		[TALLY_SLOW_RESTARTS] = (double)r->rate[SERIES_SLOW_RESTARTS],
		/* A link that is down corrects no bits; that does not mean that it has no
		 * errors. */
		[TALLY_CORRECTED] = h->down || h->changed ? (double)NAN
							  : (double)r->rate[SERIES_CORRECTED_BITS],
	};
	const double kept[2] = {TALLY_S / (TALLY_S + interval_s),
				FLOW_SLOW_S / (FLOW_SLOW_S + interval_s)};

	for (int i = 0; i < N_TALLIES; i++) {
		struct tally_sum *t = &h->tally[i];

		t->now = (float)now[i];
		if (isnan(now[i]))
			continue;
		if (now[i] > 0 && !is_rising(t))
			t->since_ms = now_ms;
		for (int k = 0; k < 2; k++) {
			t->sum[k] = (float)(kept[k] * (double)t->sum[k] + now[i] * interval_s);
			t->seconds[k] = (float)(kept[k] * (double)t->seconds[k] + interval_s);
			if ((double)t->sum[k] < 1e-6)
				t->sum[k] = 0;
		}
	}
}

/* Updates the usual rate. The usual rate follows a decrease at once and an increase slowly, so that
 * wear is compared with the best value. */
static void update_usual(struct history *h, double interval_s)
{
	double now = history_corrected(h);

	if (isnan(now))
		return;
	if (!h->usual_known || now < h->corrected_usual)
		h->corrected_usual = now;
	else
		smooth(&h->corrected_usual, now, interval_s, USUAL_S);
	h->usual_known = true;
}

static void update_failures(struct failure_run *f, float rate, uint64_t now_ms, double interval_s)
{
	if (!(rate > 0))
		return;
	if (!f->last_ms || now_ms - f->last_ms > ERRORS_MS)
		*f = (struct failure_run){.first_ms = now_ms};
	f->count += (double)rate * interval_s;
	f->last_ms = now_ms;
}

static void update_errors(struct error_run *e, const struct rates *r, uint64_t now_ms,
			  double interval_s)
{
	static const enum series all[] = {SERIES_ACCESS_ERRORS, SERIES_ACCESS_ERRORS_RESP,
					  SERIES_INVALID_REQUESTS, SERIES_LENGTH_ERRORS};
	enum series found = SERIES_ACCESS_ERRORS;
	double rate = 0;

	e->seen = false;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		e->seen |= !isnan(r->rate[all[i]]);
		if ((double)r->rate[all[i]] > rate) {
			found = all[i];
			rate = (double)r->rate[found];
		}
	}
	if (!(rate > 0))
		return;
	if (!e->last_ms || now_ms - e->last_ms > ERRORS_MS)
		*e = (struct error_run){.first_ms = now_ms, .seen = true};
	e->last_ms = now_ms;
	e->n++;
	e->reported = false;
	e->count += rate * interval_s;
	e->series = found;
}

/* Updates the mean packet size, which keeps its value while no packets pass. */
static void update_flow(struct flow *f, const struct rates *r, enum series bytes,
			enum series packets, double interval_s)
{
	const double weight[2] = {interval_s / (interval_s + TALLY_S),
				  interval_s / (interval_s + FLOW_SLOW_S)};
	double b = (double)r->rate[bytes], p = (double)r->rate[packets];

	if (!isnan(p)) {
		f->sum += (p - f->sum) * weight[0];
		f->seconds += (1 - f->seconds) * weight[0];
	}
	if (!(p > 0) || !(b > 0) || !rates_together(r, bytes, packets))
		return;
	for (int i = 0; i < 2; i++) {
		f->bytes[i] += (b - f->bytes[i]) * weight[i];
		f->packets[i] += (p - f->packets[i]) * weight[i];
	}
}

void history_update(struct history *h, const struct port_observation *o, const struct rates *r,
		    const struct thresholds *t, uint64_t now_ms, double interval_s,
		    bool pause_contradicts)
{
	double phy = (double)r->rate[SERIES_PHY_BYTES], bytes;

	if (!h->first_seen_ms)
		h->first_seen_ms = now_ms;
	update_link(h, o, r, t, now_ms, interval_s);
	update_holder(h, o, t, now_ms);
	update_trust(h, o, r, t, interval_s, pause_contradicts);
	update_balances(h, o, r, now_ms, interval_s);
	update_errors(&h->errors, r, now_ms, interval_s);
	bytes = (double)(r->rate[SERIES_BYTES_RECEIVED] + r->rate[SERIES_BYTES_SENT]);
	if (!isnan(bytes))
		smooth(&h->minute, bytes, interval_s, FLOW_SLOW_S);
	if (o->gid_moved)
		h->gid_ms = now_ms;
	update_tallies(h, r, now_ms, interval_s);
	update_usual(h, interval_s);
	update_flow(&h->flow_sent, r, SERIES_BYTES_SENT, SERIES_PACKETS_SENT, interval_s);
	update_flow(&h->flow_received, r, SERIES_BYTES_RECEIVED, SERIES_PACKETS_RECEIVED,
		    interval_s);
	h->queue_pairs_failed = r->rate[SERIES_RETRIES_EXCEEDED] > 0;
	update_failures(&h->failed, r->rate[SERIES_RETRIES_EXCEEDED], now_ms, interval_s);
	update_failures(&h->not_ready, r->rate[SERIES_RNR_EXCEEDED], now_ms, interval_s);
	if (!isnan(phy))
		h->phy_rate += (phy - h->phy_rate) * fmin(1, interval_s / PHY_SECONDS);
	if (!h->watched_ms) {
		h->watched_ms = now_ms;
		h->samples = 0;
	}
	h->samples++;
}

double history_corrected(const struct history *h)
{
	const struct tally_sum *t = &h->tally[TALLY_CORRECTED];

	return (double)t->seconds[1] >= FLOW_SLOW_S / 2 ? (double)(t->sum[1] / t->seconds[1])
							: (double)NAN;
}

double flow_size(const struct flow *f, bool over_a_minute)
{
	return f->packets[over_a_minute] > 0 ? f->bytes[over_a_minute] / f->packets[over_a_minute]
					     : (double)NAN;
}

double flow_packets(const struct flow *f)
{
	return f->seconds > 0 ? f->sum / f->seconds : (double)NAN;
}

unsigned history_flaps(const struct history *h, uint64_t now_ms, uint64_t span_ms)
{
	unsigned n = 0;

	while (n < HISTORY_FLAPS && h->flap_ms[n] && now_ms - h->flap_ms[n] < span_ms)
		n++;
	return n;
}
