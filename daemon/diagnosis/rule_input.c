/* What rules read, made of one sample and the window before it. */
#include <math.h>
#include <string.h>

#include "rules.h"

/* Bytes of a RoCEv2 packet beside its payload: BTH, UDP, IPv4, Ethernet, ICRC; and what frames take
 * beyond those, FCS, gap and preamble. */
#define HEADER_BYTES 58
#define WIRE_BYTES   82

#define CONTRADICTION_SHARE 0.1

double port_line(const struct port_observation *o)
{
	bool down = o->state != PORT_UNKNOWN && o->state != PORT_ACTIVE &&
		    o->state != PORT_ACTIVE_DEFER;

	return down ? 0 : (double)o->rate_bps / 8;
}

/* Sources that count frames see more of the line than those that count payload. */
static double most_of_line(const struct port_observation *o, double line)
{
	double mtu = o->mtu ? o->mtu : 4096;
	bool frames = strcmp(o->bytes_source, "ethtool") == 0 ||
		      strcmp(o->bytes_source, "netlink") == 0 ||
		      strcmp(o->bytes_source, "netdev") == 0 || strcmp(o->bytes_source, "bpf") == 0;

	return line * (mtu + (frames ? HEADER_BYTES : 0)) / (mtu + WIRE_BYTES);
}

const struct pause_way pause_received = {SERIES_PAUSE_RECEIVED, SERIES_GLOBAL_PAUSE_RECEIVED,
					 SERIES_BYTES_SENT, SERIES_PRIORITY_SENT};
const struct pause_way pause_sent = {SERIES_PAUSE_SENT, SERIES_GLOBAL_PAUSE_SENT,
				     SERIES_BYTES_RECEIVED, SERIES_PRIORITY_RECEIVED};

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

/* The sum of those that are seen; NaN if none is. */
static double sum_of(const struct rates *r, const enum series *list, size_t n)
{
	double sum = (double)NAN;

	for (size_t i = 0; i < n; i++)
		if (!isnan(r->rate[list[i]]))
			sum = (isnan(sum) ? 0 : sum) + (double)r->rate[list[i]];
	return sum;
}

#define SUM_OF(r, ...)                                                                             \
	sum_of(r, (const enum series[]){__VA_ARGS__},                                              \
	       sizeof((const enum series[]){__VA_ARGS__}) / sizeof(enum series))

static double packets_or_estimate(double packets, double bytes, unsigned mtu)
{
	return isnan(packets) ? bytes / (mtu ? mtu : 4096) : packets;
}

static double discards_of(const struct rates *r)
{
	double sum = 0, port = (double)r->rate[SERIES_DISCARDS_RECEIVED];

	for (int s = SERIES_NO_BUFFER; s <= SERIES_HOST_CONGESTION_LAST; s++)
		sum += isnan(r->rate[s]) ? 0 : (double)r->rate[s];
	/* Drops of a priority are drops of the port, too. */
	return isnan(port) ? (sum > 0 ? sum : port) : fmax(sum, port);
}

void signals_make(double ret[N_SIGNALS], const struct rates *r, bool soft_roce, unsigned mtu)
{
	double bytes = (double)r->rate[SERIES_BYTES_RECEIVED];
	double packets = packets_or_estimate((double)r->rate[SERIES_PACKETS_RECEIVED], bytes, mtu);
	double ce = (double)r->rate[SERIES_CE];
	double cnp = (double)r->rate[SERIES_CNP_RECEIVED];

	ret[SIGNAL_PHY_ERRORS] = SUM_OF(r, SERIES_SYMBOL_ERRORS, SERIES_CRC_ERRORS,
					SERIES_UNCORRECTABLE);
	ret[SIGNAL_PAUSE_RECEIVED] = paused_most(r, SERIES_PAUSE_RECEIVED).share;
	ret[SIGNAL_PAUSE_SENT] = paused_most(r, SERIES_PAUSE_SENT).share;
	ret[SIGNAL_CE_SHARE] = ce == 0 ? 0 : ce > packets ? 1 : ce / packets;
	ret[SIGNAL_CNP_SENT] = (double)r->rate[SERIES_CNP_SENT];
	ret[SIGNAL_CNP_RECEIVED] = isnan(cnp) ? SUM_OF(r, SERIES_CNP_HANDLED, SERIES_CNP_IGNORED)
					      : cnp;
	ret[SIGNAL_DISCARDS] = discards_of(r);
	ret[SIGNAL_OUT_OF_SEQUENCE] = (double)r->rate[SERIES_OUT_OF_SEQUENCE];
	ret[SIGNAL_NAK] = SUM_OF(r, SERIES_SEQUENCE_NAK, SERIES_IMPLIED_NAK);
	/* soft-RoCE counts sequence NAKs among its "timeouts". */
	ret[SIGNAL_TIMEOUTS] =
		(double)r->rate[soft_roce ? SERIES_SOFT_TIMEOUTS : SERIES_ACK_TIMEOUTS];
	ret[SIGNAL_NOT_READY] = SUM_OF(r, SERIES_RNR_NAK, SERIES_WQE_MISSING, SERIES_RNR_NAK_SENT);
	ret[SIGNAL_FAILED] = SUM_OF(r, SERIES_RETRIES_EXCEEDED, SERIES_RNR_EXCEEDED,
				    SERIES_CQE_ERRORS, SERIES_CQE_ERRORS_RESP);
	ret[SIGNAL_BYTES_RECEIVED] = bytes;
	ret[SIGNAL_BYTES_SENT] = (double)r->rate[SERIES_BYTES_SENT];
}

/* Shares of samples with much traffic count more. */
static double recent_ce_share(const struct rule_input *in)
{
	double marked = 0, bytes = 0;

	if (!(in->mean[SIGNAL_CE_SHARE] > 0))
		return in->mean[SIGNAL_CE_SHARE];
	for (unsigned back = 0; back < 10; back++) {
		double share = window_get(in->window, in->timeline, SIGNAL_CE_SHARE, back);
		double weight = window_get(in->window, in->timeline, SIGNAL_BYTES_RECEIVED, back);

		if (isnan(share) || isnan(weight))
			continue;
		marked += share * weight;
		bytes += weight;
	}
	return bytes > 0 ? marked / bytes : in->mean[SIGNAL_CE_SHARE];
}

/* Packets of the size that they have now. */
static double recent_packets(const struct rule_input *in, enum signal bytes, enum series packets)
{
	double now = rate_of(in, packets);
	double now_bytes = rate_of(in, bytes == SIGNAL_BYTES_SENT ? SERIES_BYTES_SENT
								  : SERIES_BYTES_RECEIVED);

	if (now > 0 && now_bytes > 0)
		return in->mean[bytes] * now / now_bytes;
	return isnan(in->mean[bytes])
		       ? now
		       : packets_or_estimate((double)NAN, in->mean[bytes], in->port->mtu);
}

void rule_input_make(struct rule_input *in, const struct observation *all, size_t port,
		     const struct thresholds *limits, const struct rates *rates,
		     const struct history *history, const struct window *window,
		     const struct timeline *timeline, double interval_s)
{
	memset(in, 0, sizeof(*in));
	in->port = &all->ports[port];
	in->all = all;
	in->limits = limits;
	in->rates = rates;
	in->history = history;
	in->window = window;
	in->timeline = timeline;
	in->now_ms = all->now_ms;
	in->interval_s = interval_s;
	in->settled = history_is_settled(history, limits, in->now_ms);
	in->judgeable = !history->down && !history->changed;
	in->line = port_line(in->port);
	in->most = most_of_line(in->port, in->line);
	in->pause_received = paused_most(rates, SERIES_PAUSE_RECEIVED);
	in->pause_sent = paused_most(rates, SERIES_PAUSE_SENT);
	window_means(window, timeline, RECENT_MS, in->mean);
	in->mean[SIGNAL_CE_SHARE] = recent_ce_share(in);
	in->use_received = in->most > 0 ? in->mean[SIGNAL_BYTES_RECEIVED] / in->most : (double)NAN;
	in->use_sent = in->most > 0 ? in->mean[SIGNAL_BYTES_SENT] / in->most : (double)NAN;
	in->packets_received = recent_packets(in, SIGNAL_BYTES_RECEIVED, SERIES_PACKETS_RECEIVED);
	in->packets_sent = recent_packets(in, SIGNAL_BYTES_SENT, SERIES_PACKETS_SENT);
	in->idle = !(in->use_received >= limits->value[LIMIT_utilisation_idle] ||
		     in->use_sent >= limits->value[LIMIT_utilisation_idle]) &&
		   (in->line > 0 || history->down);
}

bool sustained(const struct rule_input *in, enum signal s, double least)
{
	return in->mean[s] >= least && in->mean[s] > 0 &&
	       window_count(in->window, in->timeline, s, RECENT_MS, least) >= 2;
}

void show_numbered(struct finding *f, const char *name, int number, const char *unit, double value,
		   double threshold)
{
	if (f->n_evidence < EVIDENCE_MAX)
		f->evidence[f->n_evidence++] = (struct evidence){name, unit, value, threshold,
								 number};
}

void show(struct finding *f, const char *name, const char *unit, double value, double threshold)
{
	show_numbered(f, name, -1, unit, value, threshold);
}

enum sight cannot_decide(struct finding *f, const char *why)
{
	f->why = why;
	return SIGHT_UNKNOWN;
}

enum severity severity_by(double value, double warning, double critical)
{
	return value >= critical  ? SEVERITY_CRITICAL
	       : value >= warning ? SEVERITY_WARNING
				  : SEVERITY_INFO;
}
