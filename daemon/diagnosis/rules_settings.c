// SPDX-License-Identifier: Apache-2.0
/* Rules of settings that do not match the traffic, the peer or the siblings. */
#include <math.h>
#include <string.h>

#include "rules.h"

static bool rule_is_seen(const struct port_settings *s, enum settings_part part)
{
	return s && (s->seen & part);
}

/* --- PCIe ------------------------------------------------------------------------------------- */

static bool is_less(const struct pcie_link *l)
{
	return l->width < l->max_width || l->mt_s < l->max_mt_s;
}

enum rule_answer rule_pcie_degraded(const struct rule_input *in, struct finding *f)
{
	const struct port_settings *s = in->port->settings;
	bool own = rule_is_seen(s, SETTINGS_PCIE);
	bool bridge = rule_is_seen(s, SETTINGS_PCIE_SEGMENT) && s->segment[0];
	const struct pcie_link *l;

	if (!own && !bridge)
		return cannot_decide(f, "PCIe width and speed are not visible");
	if (own && is_less(&s->pcie)) {
		l = &s->pcie;
	} else if (bridge && is_less(&s->segment_link)) {
		l = &s->segment_link;
		f->why = "the bottleneck is a bridge above the function";
	} else {
		return ANSWER_NO;
	}
	f->severity = SEVERITY_WARNING;
	show(f, "PCIe lanes", "", l->width, l->max_width);
	show(f, "PCIe rate per lane", "MT/s", l->mt_s, l->max_mt_s);
	return ANSWER_YES;
}

/* --- priority of the traffic ------------------------------------------------------------------ */

/* NOISE_KNOWN: samples after which the noise is known. LEAST_HITS: least number of samples with
 * bytes outside the lossless priorities. */
#define NOISE_KNOWN  10
#define LEAST_HITS   1.9
/* RDMA and priority counters may be read this many seconds apart. NOISE_*: share of the noise that
 * is left in a mean over seconds, and over a minute. */
#define READ_APART_S 0.05
#define NOISE_FAST   1.0
#define NOISE_SLOW   0.2
/* A share that noise cannot cause. */
#define CLEARLY	     0.2

static bool is_outside(const struct rule_input *in, const struct balance *b)
{
	double share = limit(in, LIMIT_outside_lossless);
	double least = limit(in, LIMIT_outside_lossless_bytes);
	double noise = b->weight > 0 ? b->noise / b->weight : 0;

	/* A difference between the two reads is not traffic of another priority. */
	if (b->hits < LEAST_HITS || b->above * BALANCE_SLOW_S < READ_APART_S * b->peak)
		return false;
	if (b->samples < NOISE_KNOWN)
		return b->outside >= least && b->outside >= CLEARLY * b->all &&
		       b->slow_outside >= CLEARLY * b->slow_all;
	return (b->outside >= least && b->outside >= share * b->all + NOISE_FAST * noise) ||
	       (b->slow_outside >= least &&
		b->slow_outside >= share * b->slow_all + NOISE_SLOW * noise);
}

/* Shows RDMA bytes outside the lossless priorities, over seconds or, if only they are above the
 * limit, over a minute. Bytes per priority include headers and other traffic, so the difference may
 * be negative. */
static void show_outside(const struct rule_input *in, struct finding *f, const char *name,
			 const struct balance *b)
{
	double share = threshold(in, LIMIT_outside_lossless);
	bool slow = b->outside < share * b->all && b->slow_outside >= share * b->slow_all;

	show(f, name, "B/s", fmax(slow ? b->slow_outside : b->outside, 0),
	     share * (slow ? b->slow_all : b->all));
}

/* Shows the busiest lossy priority; its bytes may include other traffic. */
static void show_priority(const struct rule_input *in, struct finding *f, enum series first,
			  const char *name)
{
	double most = 0;
	int used = -1;

	for (int p = 0; p < SETTINGS_PRIOS; p++) {
		double bytes = rate_of(in, (enum series)((int)first + p));

		if (in->port->settings->pfc & 1 << p || !(bytes > most))
			continue;
		most = bytes;
		used = p;
	}
	if (used >= 0)
		show_numbered(f, name, used, "B/s", most, (double)NAN);
}

enum rule_answer rule_wrong_priority(const struct rule_input *in, struct finding *f)
{
	const struct balance *out = &in->history->sent, *back = &in->history->received;
	bool sends, receives;

	if (in->limits->expected == CC_LOSSY)
		return ANSWER_NO;
	if (!rule_is_seen(in->port->settings, SETTINGS_PFC))
		return cannot_decide(f, "the lossless priorities are not visible");
	if (in->port->settings->pfc == 0)
		return cannot_decide(f, "no priority is lossless");
	if (out->samples + back->samples == 0)
		return cannot_decide(f, "bytes of the lossless priorities are not visible");
	sends = is_outside(in, out);
	receives = is_outside(in, back);
	if (!sends && !receives)
		return ANSWER_NO;
	f->severity = SEVERITY_WARNING;
	f->since_ms = sends ? out->since_ms : back->since_ms;
	f->why =
		sends ? "sent by this host; the class of queue pairs unknown to the kernel (DevX) is not visible"
		      : "received: the peer uses this priority, or this port does not trust DSCP";
	if (sends)
		show_outside(in, f, "RDMA bytes sent outside the lossless priorities", out);
	if (receives)
		show_outside(in, f, "RDMA bytes received outside the lossless priorities", back);
	if (sends)
		show_priority(
			in, f, SERIES_PRIORITY_SENT,
			"roce_priority_bytes_total{direction=\"sent\",priority=\"#\"}, all traffic");
	else
		show_priority(
			in, f, SERIES_PRIORITY_RECEIVED,
			"roce_priority_bytes_total{direction=\"received\",priority=\"#\"}, all traffic");
	show_priorities(f, "lossless priorities of this port", in->port->settings->pfc);
	if (rule_is_seen(in->port->settings, SETTINGS_DSCP))
		show_word(f, "trust", in->port->settings->dscp_trusted,
			  in->port->settings->dscp_trusted ? "dscp" : "pcp");
	return ANSWER_YES;
}

/* --- agreement with peer and siblings --------------------------------------------------------- */

enum rule_answer rule_pfc_mismatch(const struct rule_input *in, struct finding *f)
{
	const struct port_settings *s = in->port->settings;
	const struct sibling_group *g = siblings_of(in->siblings, in->port);
	int others;

	if (in->limits->expected == CC_LOSSY)
		return ANSWER_NO;
	if (!rule_is_seen(s, SETTINGS_PFC))
		return cannot_decide(f, "the lossless priorities are not visible");
	others = g ? siblings_agree(&g->pfc, s->pfc) : -1;
	if (!rule_is_seen(s, SETTINGS_PEER_PFC) && others < 0)
		return cannot_decide(
			f, "the settings of the switch (DCBX) and of siblings are unknown");
	f->severity = SEVERITY_WARNING;
	if (rule_is_seen(s, SETTINGS_PEER_PFC) && s->peer_pfc != s->pfc) {
		show_priorities(f, "lossless priorities of the switch port", s->peer_pfc);
		f->why = "the switch port has other lossless priorities";
	} else if (others >= 0 && others != s->pfc) {
		show_priorities(f, "lossless priorities of all siblings", (unsigned)others);
		f->why = "all siblings have other lossless priorities";
	} else {
		return ANSWER_NO;
	}
	show_priorities(f, "lossless priorities of this port", s->pfc);
	return ANSWER_YES;
}

enum rule_answer rule_mtu_mismatch(const struct rule_input *in, struct finding *f)
{
	const struct sibling_group *g = siblings_of(in->siblings, in->port);
	unsigned mtu = in->port->mtu;
	int others;
	uint32_t path = in->port->qps.known ? in->port->qps.path_mtu : 0;

	if (!mtu)
		return cannot_decide(f, "the MTU of the port and of its netdev are not visible");
	f->severity = SEVERITY_WARNING;
	if (path > mtu) {
		show(f, "largest path MTU of queue pairs", "B", path, mtu);
		f->why = "queue pairs send larger packets than the port accepts now";
		return ANSWER_YES;
	}
	others = g ? siblings_agree(&g->mtu, mtu) : -1;
	if (others < 0 || others == (int)mtu)
		return path || others >= 0
			       ? ANSWER_NO
			       : cannot_decide(
					 f,
					 "the path MTUs of queue pairs are not visible (BPF reads them, with the overlay native), and no two siblings have one MTU");
	f->severity = SEVERITY_INFO;
	show(f, "RoCE MTU of the port", "B", mtu, others);
	f->why = "all siblings have another MTU";
	return ANSWER_YES;
}
