// SPDX-License-Identifier: Apache-2.0
/* Input of the rules, from one sample and the window before it. */
#include <math.h>
#include <string.h>

#include "cleanup.h"
#include "rules.h"

/* HEADER_BYTES: bytes of a RoCEv2 packet besides its payload (BTH, UDP, IPv4, Ethernet, ICRC).
 * WIRE_BYTES adds FCS, gap and preamble. */
#define HEADER_BYTES 58
#define WIRE_BYTES   82

#define CONTRADICTION_SHARE 0.1
/* Share of the bytes received: other traffic below this does not explain drops. */
#define FOREIGN_SHARE	    0.01

void spans_make(uint64_t ret[N_SPANS], const struct timeline *t, uint64_t gap_ms)
{
#define X(name, ms, rows) ret[SPAN_##name] = timeline_span(t, ms, rows, gap_ms);
	SPAN_LIST(X)
#undef X
}

double port_line(const struct port_observation *o)
{
	bool down = o->state != PORT_UNKNOWN && o->state != PORT_ACTIVE &&
		    o->state != PORT_ACTIVE_DEFER;

	return down ? 0 : (double)o->rate_bps / 8;
}

/* Returns the part of the line that roce_bytes_total can show: sources that count frames include
 * headers. */
static double most_of_line(const struct port_observation *o, double line)
{
	double mtu = o->mtu ? o->mtu : 4096;
	bool frames = strcmp(o->bytes_source, "ethtool") == 0 ||
		      strcmp(o->bytes_source, "netlink") == 0 ||
		      strcmp(o->bytes_source, "netdev") == 0 || strcmp(o->bytes_source, "bpf") == 0;

	return line * (mtu + (frames ? HEADER_BYTES : 0)) / (mtu + WIRE_BYTES);
}

const struct pause_way pause_received = {SERIES_PAUSE_RECEIVED,	     SERIES_GLOBAL_PAUSE_RECEIVED,
					 SERIES_BYTES_SENT,	     SERIES_PRIORITY_SENT,
					 SERIES_PFC_FRAMES_RECEIVED, SERIES_GLOBAL_FRAMES_RECEIVED};
const struct pause_way pause_sent = {SERIES_PAUSE_SENT,	     SERIES_GLOBAL_PAUSE_SENT,
				     SERIES_BYTES_RECEIVED,  SERIES_PRIORITY_RECEIVED,
				     SERIES_PFC_FRAMES_SENT, SERIES_GLOBAL_FRAMES_SENT};

double pause_bytes(const struct rates *r, const struct pause_way *way, int priority)
{
	double bytes = priority < 0 ? (double)NAN
				    : (double)r->rate[(int)way->priority_bytes + priority];

	return isnan(bytes) ? (double)r->rate[way->bytes] : bytes;
}

struct paused paused_most(const struct rates *r, enum series first)
{
	struct paused most = {(double)NAN, -1};

	for (int p = 0; p < SETTINGS_PRIOS; p++) {
		double share = (double)r->rate[(int)first + p];

		if (isnan(share) || share <= most.share)
			continue;
		most.share = fmin(share, 1);
		most.priority = p;
	}
	return most;
}

static bool contradicts(const struct rates *r, enum series pause, enum series bytes, double line)
{
	for (int p = 0; p < SETTINGS_PRIOS; p++)
		if ((double)r->rate[(int)pause + p] >= 0.99 && line > 0 &&
		    rates_together(r, (enum series)((int)pause + p),
				   (enum series)((int)bytes + p)) &&
		    (double)r->rate[(int)bytes + p] > CONTRADICTION_SHARE * line)
			return true;
	return false;
}

bool pause_contradicts(const struct rates *r, double line)
{
	return contradicts(r, SERIES_PAUSE_SENT, SERIES_PRIORITY_RECEIVED, line) ||
	       contradicts(r, SERIES_PAUSE_RECEIVED, SERIES_PRIORITY_SENT, line);
}

/* Returns the sum of the visible rates of the list; NaN if none is visible. */
static double rule_input_sum_of(const struct rates *r, const enum series *list, size_t n)
{
	double sum = (double)NAN;

	for (size_t i = 0; i < n; i++)
		if (!isnan(r->rate[list[i]]))
			sum = (isnan(sum) ? 0 : sum) + (double)r->rate[list[i]];
	return sum;
}

#define SUM_OF(r, ...)                                                                             \
	rule_input_sum_of(r, (const enum series[]){__VA_ARGS__},                                   \
			  sizeof((const enum series[]){__VA_ARGS__}) / sizeof(enum series))

static double packets_or_estimate(double packets, double bytes, unsigned mtu)
{
	return isnan(packets) ? bytes / (mtu ? mtu : 4096) : packets;
}

uint8_t rdma_priorities(const struct port_observation *o)
{
	uint8_t pfc = o->settings && (o->settings->seen & SETTINGS_PFC) ? o->settings->pfc : 0;

	return pfc ? pfc : 0xff;
}

/* True if other priorities carry enough traffic for the drops to be theirs. */
static bool has_foreign_traffic(const struct rates *r, uint8_t priorities)
{
	double own = 0, foreign = 0;

	for (int p = 0; p < SETTINGS_PRIOS; p++) {
		double bytes = (double)r->rate[SERIES_PRIORITY_RECEIVED + p];

		if (bytes > 0)
			*(priorities & 1 << p ? &own : &foreign) += bytes;
	}
	return foreign > FOREIGN_SHARE * (own + foreign);
}

void rates_of_rdma(struct rates *r, uint8_t priorities)
{
	static const enum series of_priorities[] = {
		SERIES_PAUSE_RECEIVED,	SERIES_PAUSE_SENT, SERIES_PFC_FRAMES_RECEIVED,
		SERIES_PFC_FRAMES_SENT, SERIES_NO_BUFFER,  SERIES_HOST_BUFFER,
		SERIES_HOST_CONGESTION, SERIES_HOST_MARKED};
	float *dropped = &r->rate[SERIES_DISCARDS_RECEIVED];
	double gaps = (double)r->rate[SERIES_OUT_OF_SEQUENCE];

	if (priorities == 0xff)
		return;
	for (int p = 0; p < SETTINGS_PRIOS; p++)
		for (size_t i = 0; !(priorities & 1 << p) && i < ARRAY_SIZE(of_priorities); i++) {
			float *rate = &r->rate[(int)of_priorities[i] + p];

			if (of_priorities[i] >= SERIES_NO_BUFFER &&
			    of_priorities[i]<SERIES_HOST_MARKED && * rate> 0)
				*dropped = fmaxf(*dropped - *rate, 0);
			*rate = NAN;
		}
	/* Each dropped RDMA packet leaves a sequence gap, so there are no more RDMA drops than
	 * gaps. */
	if (*dropped > 0 && gaps >= 0 && gaps < (double)*dropped &&
	    has_foreign_traffic(r, priorities))
		*dropped = (float)gaps;
}

static double discards_of(const struct rates *r)
{
	double sum = 0, port = (double)r->rate[SERIES_DISCARDS_RECEIVED];

	for (int s = SERIES_NO_BUFFER; s <= SERIES_HOST_CONGESTION_LAST; s++)
		sum += isnan(r->rate[s]) ? 0 : (double)r->rate[s];
	/* Drops of a priority are included in those of the port. */
	return isnan(port) ? (sum > 0 ? sum : port) : fmax(sum, port);
}

/* Returns the share of the packets received that the fabric marked; excludes marks made by this
 * NIC. */
static double share_of_marks(const struct rates *r, double packets)
{
	double ce = (double)r->rate[SERIES_CE];
	enum series of = isnan(r->rate[SERIES_PACKETS_RECEIVED]) ? SERIES_BYTES_RECEIVED
								 : SERIES_PACKETS_RECEIVED;

	for (int s = SERIES_HOST_MARKED; s <= SERIES_HOST_MARKED_LAST; s++)
		if (r->rate[s] > 0)
			ce = rates_together(r, SERIES_CE, (enum series)s)
				     ? fmax(ce - (double)r->rate[s], 0)
				     : (double)NAN;
	if (ce == 0)
		return 0;
	/* Marks without packets are contradictory, so the share is unknown. */
	if (!rates_together(r, SERIES_CE, of) || packets == 0)
		return (double)NAN;
	return ce > packets ? 1 : ce / packets;
}

void signals_make(double ret[N_SIGNALS], const struct rates *r, bool soft_roce, unsigned mtu)
{
	double bytes = (double)r->rate[SERIES_BYTES_RECEIVED];
	double packets = packets_or_estimate((double)r->rate[SERIES_PACKETS_RECEIVED], bytes, mtu);
	double cnp = (double)r->rate[SERIES_CNP_RECEIVED];

	/* One damaged frame increments each of these, so take the maximum. */
	ret[SIGNAL_PHY_ERRORS] = fmax(
		fmax((double)r->rate[SERIES_SYMBOL_ERRORS], (double)r->rate[SERIES_CRC_ERRORS]),
		(double)r->rate[SERIES_UNCORRECTABLE]);
	ret[SIGNAL_PAUSE_RECEIVED] = paused_most(r, SERIES_PAUSE_RECEIVED).share;
	ret[SIGNAL_PAUSE_SENT] = paused_most(r, SERIES_PAUSE_SENT).share;
	ret[SIGNAL_CE_SHARE] = share_of_marks(r, packets);
	ret[SIGNAL_CNP_SENT] = cnps_of_marks(r);
	ret[SIGNAL_CNP_RECEIVED] = isnan(cnp) ? SUM_OF(r, SERIES_CNP_HANDLED, SERIES_CNP_IGNORED)
					      : cnp;
	ret[SIGNAL_DISCARDS] = discards_of(r);
	ret[SIGNAL_OUT_OF_SEQUENCE] = (double)r->rate[SERIES_OUT_OF_SEQUENCE];
	ret[SIGNAL_NAK] = SUM_OF(r, SERIES_SEQUENCE_NAK, SERIES_IMPLIED_NAK);
	/* soft-RoCE counts sequence NAKs among its "timeouts". */
	ret[SIGNAL_TIMEOUTS] =
		(double)r->rate[soft_roce ? SERIES_SOFT_TIMEOUTS : SERIES_ACK_TIMEOUTS];
	/* A missing receive WQE also sends an RNR NAK, so take the maximum. */
	ret[SIGNAL_NOT_READY] = fmax(
		fmax((double)r->rate[SERIES_RNR_NAK], (double)r->rate[SERIES_WQE_MISSING]),
		(double)r->rate[SERIES_RNR_NAK_SENT]);
	ret[SIGNAL_FAILED] = SUM_OF(r, SERIES_RETRIES_EXCEEDED, SERIES_RNR_EXCEEDED,
				    SERIES_CQE_ERRORS, SERIES_CQE_ERRORS_RESP);
	ret[SIGNAL_BYTES_RECEIVED] = bytes;
	ret[SIGNAL_BYTES_SENT] = (double)r->rate[SERIES_BYTES_SENT];
}

/* Returns the recent share of packets marked CE: the mean, weighted by the bytes of each sample. */
static double recent_ce_share(const struct rule_input *in)
{
	double marked = 0, bytes = 0;

	if (!(in->mean[SIGNAL_CE_SHARE] > 0))
		return in->mean[SIGNAL_CE_SHARE];
	for (unsigned back = 0; window_reaches(in->timeline, back, in->span_ms[SPAN_RECENT]);
	     back++) {
		double share = window_get(in->window, in->timeline, SIGNAL_CE_SHARE, back);
		double weight = window_get(in->window, in->timeline, SIGNAL_BYTES_RECEIVED, back);

		if (isnan(share) || isnan(weight))
			continue;
		marked += share * weight;
		bytes += weight;
	}
	return bytes > 0 ? marked / bytes : in->mean[SIGNAL_CE_SHARE];
}

/* Packets a second: bytes divided by the recent packet size. */
static double recent_packets(const struct rule_input *in, enum signal bytes,
			     const struct flow *flow)
{
	double size = flow_size(flow, false);

	if (isnan(in->mean[bytes]))
		return flow_packets(flow);
	return size > 0 ? in->mean[bytes] / size
			: packets_or_estimate((double)NAN, in->mean[bytes], in->port->mtu);
}

void rule_input_make(struct rule_input *in, const struct observation *all, size_t port,
		     const struct port_load *loads, const struct thresholds *limits,
		     const struct rates *rates, const struct history *history,
		     const struct window *window, const struct timeline *timeline,
		     const uint64_t span_ms[N_SPANS], double interval_s)
{
	double idle;

	memset(in, 0, sizeof(*in));
	in->port = &all->ports[port];
	in->all = all;
	in->loads = loads;
	in->limits = limits;
	in->rates = rates;
	in->history = history;
	in->window = window;
	in->timeline = timeline;
	in->span_ms = span_ms;
	in->now_ms = all->now_ms;
	in->interval_s = interval_s;
	in->settled = history_is_settled(history, limits, in->now_ms);
	in->judgeable = !history->down && !history->changed;
	in->line = port_line(in->port);
	in->most = most_of_line(in->port, in->line);
	idle = in->most > 0 ? limits->value[LIMIT_utilisation_idle] * in->most : (double)NAN;
	in->pause_received = paused_most(rates, SERIES_PAUSE_RECEIVED);
	in->pause_sent = paused_most(rates, SERIES_PAUSE_SENT);
	window_means(window, timeline, span_ms[SPAN_RECENT], in->mean);
	in->mean[SIGNAL_CE_SHARE] = recent_ce_share(in);
	in->use_received = in->most > 0 ? loads[port].wire_received / in->most : (double)NAN;
	in->use_sent = in->most > 0 ? loads[port].wire_sent / in->most : (double)NAN;
	in->packets_received = recent_packets(in, SIGNAL_BYTES_RECEIVED, &history->flow_received);
	in->packets_sent = recent_packets(in, SIGNAL_BYTES_SENT, &history->flow_sent);
	in->marked_by_cnp = isnan(in->mean[SIGNAL_CE_SHARE]) && in->mean[SIGNAL_CNP_SENT] >= 0 &&
			    isnan(rate_of(in, SERIES_CE));
	in->marked = !in->marked_by_cnp ? in->mean[SIGNAL_CE_SHARE]
		     : in->packets_received > 0
			     ? fmin(in->mean[SIGNAL_CNP_SENT] / in->packets_received, 1)
			     : (double)NAN;
	/* Of the port itself, without its VFs. */
	in->idle = !(in->mean[SIGNAL_BYTES_RECEIVED] >= idle ||
		     in->mean[SIGNAL_BYTES_SENT] >= idle) &&
		   (in->line > 0 || history->down);
}

bool sustained(const struct rule_input *in, enum signal s, double least)
{
	return in->mean[s] >= least && in->mean[s] > 0 &&
	       window_count(in->window, in->timeline, s, in->span_ms[SPAN_RECENT], least) >= 2;
}

bool is_still(const struct rule_input *in)
{
	double bytes = fmax(rate_of(in, SERIES_BYTES_RECEIVED), rate_of(in, SERIES_BYTES_SENT));

	return bytes <= threshold(in, LIMIT_utilisation_idle) * in->most;
}

double beyond_chance(double events)
{
	return fmax(events - CHANCE * sqrt(events), 0);
}

/* Returns the packets of the busier direction in the span. With RDMA READ the requester sends few
 * packets; the losses are among the responses that it receives. */
static double packets_over(const struct rule_input *in, enum span span)
{
	double received = flow_size(&in->history->flow_received, span != SPAN_RECENT);
	double sent = flow_size(&in->history->flow_sent, span != SPAN_RECENT), seconds;
	double mtu = in->port->mtu ? in->port->mtu : 4096, ms = (double)in->span_ms[span], most;

	most = fmax(
		window_sum(in->window, in->timeline, SIGNAL_BYTES_RECEIVED, (uint64_t)ms,
			   &seconds) /
			(received > 0 ? received : mtu),
		window_sum(in->window, in->timeline, SIGNAL_BYTES_SENT, (uint64_t)ms, &seconds) /
			(sent > 0 ? sent : mtu));
	return seconds > 0 && most > 0 ? most
				       : fmax(flow_packets(&in->history->flow_received),
					      flow_packets(&in->history->flow_sent)) *
						 ms / 1000;
}

/* True if the events exceed, beyond chance, both `far` times the packets and `usual` times the
 * seconds. False if no packets were counted: lost packets without traffic contradict each other. */
static bool is_far(const struct certainty *c, double events, double seconds, double packets)
{
	double root = sqrt(events);

	return packets > 0 && root - sqrt(c->far * packets) >= CHANCE / 2 &&
	       root - sqrt(c->usual * seconds) >= CHANCE_FAR / 2;
}

double certain_rate(const struct rule_input *in, enum signal s, const struct certainty *c,
		    double *ret_share)
{
	/* samples: how many samples of `span` need events; goes_on: if this span has no event, the
	 * fault has ended. */
	static const struct {
		enum span span, goes_on;
		unsigned samples;
	} spans[] = {{SPAN_RECENT, SPAN_RECENT, 2},
		     {SPAN_LATELY, SPAN_RECENT, 3},
		     {SPAN_MINUTES, SPAN_RECENT, 3},
		     {SPAN_LONG, SPAN_LATELY, 3}};

	for (size_t i = 0; i < ARRAY_SIZE(spans); i++) {
		uint64_t ms = in->span_ms[spans[i].span];
		unsigned samples = window_count(in->window, in->timeline, s, ms, 0);
		double seconds, sum, sure, packets;

		if (window_count(in->window, in->timeline, s, in->span_ms[spans[i].goes_on], 0) ==
		    0)
			return 0;
		if (samples < spans[i].samples)
			continue;
		sum = window_sum(in->window, in->timeline, s, ms, &seconds);
		if (!(seconds > 0))
			continue;
		sure = beyond_chance(sum);
		packets = packets_over(in, spans[i].span);
		if (samples >= FAR_SAMPLES && is_far(c, sum, seconds, packets))
			sure = sum;
		else if (sure < c->least * seconds || sure < c->share * packets)
			continue;
		*ret_share = packets > 0 ? sure / packets : (double)NAN;
		return sure / seconds;
	}
	return 0;
}

double tally_rate(const struct rule_input *in, enum tally tally)
{
	const struct tally_sum *t = &in->history->tally[tally];
	double now = (double)t->now, s = in->interval_s, most;

	if (isnan(now) || (now == 0 && t->sum[1] == 0))
		return now;
	most = beyond_chance(now * s) / s;
	for (int i = 0; i < 2; i++)
		most = fmax(most, beyond_chance((double)t->sum[i]) / (double)t->seconds[i]);
	return most;
}

void show_numbered(struct finding *f, const char *name, int number, const char *unit, double value,
		   double threshold)
{
	if (f->n_evidence < EVIDENCE_MAX)
		f->evidence[f->n_evidence++] = (struct evidence){name,	    unit,   value,
								 threshold, number, NULL};
}

void show(struct finding *f, const char *name, const char *unit, double value, double threshold)
{
	show_numbered(f, name, -1, unit, value, threshold);
}

void show_word(struct finding *f, const char *name, double value, const char *word)
{
	show(f, name, "", value, (double)NAN);
	if (f->n_evidence > 0)
		f->evidence[f->n_evidence - 1].word = word;
}

void show_priorities(struct finding *f, const char *name, unsigned mask)
{
	show(f, name, EVIDENCE_PRIORITIES, mask, (double)NAN);
}

enum rule_answer cannot_decide(struct finding *f, const char *why)
{
	f->why = why;
	return ANSWER_UNDECIDED;
}

enum rule_answer no_sign(struct finding *f, const char *why)
{
	f->unseen = why != NULL;
	f->why = why;
	return ANSWER_NO;
}

void grade(struct finding *f, double value, double critical)
{
	f->severity = severity_by(value, 0, critical);
	f->near = value / critical;
}

enum severity severity_by(double value, double warning, double critical)
{
	return value >= critical  ? SEVERITY_CRITICAL
	       : value >= warning ? SEVERITY_WARNING
				  : SEVERITY_INFO;
}
