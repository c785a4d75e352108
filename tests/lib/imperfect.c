// SPDX-License-Identifier: Apache-2.0
#include "imperfect.h"

#include <math.h>

#define BEGIN_MS 1000000

void imperfect_init(struct imperfect *i, uint64_t seed, const struct imperfections *how,
		    double noise)
{
	*i = (struct imperfect){.how = *how, .noise = noise};
	world_init(&i->w, 1, seed);
	i->w.poisson = true;
	for (int warm = 0; warm < 8; warm++) /* small seeds yield similar first numbers */
		world_random(&i->w);
}

void imperfect_done(struct imperfect *i)
{
	world_done(&i->w);
}

double imperfect_seconds(const struct imperfect *i)
{
	return (double)(i->w.now_ms - BEGIN_MS) / 1000;
}

static enum counter_group group_of(int s)
{
	if (s >= SERIES_PAUSE_RECEIVED && s <= SERIES_PAUSE_SENT_LAST)
		return GROUP_PAUSE;
	if (s >= SERIES_PRIORITY_RECEIVED && s <= SERIES_HOST_MARKED_LAST)
		return GROUP_PRIORITY;
	if ((s >= SERIES_CORRECTED_BITS && s <= SERIES_PHY_BYTES) ||
	    (s >= SERIES_LANE_ERRORS && s <= SERIES_LANE_ERRORS_LAST))
		return GROUP_PHY;
	if (s >= SERIES_GLOBAL_PAUSE_RECEIVED && s <= SERIES_STORM_ERRORS)
		return GROUP_PAUSE;
	if ((s >= SERIES_PCIE_STALLED_READ && s <= SERIES_PCIE_OVERFLOW) ||
	    s == SERIES_BUFFER_PASSED)
		return GROUP_HOST;
	if (s >= SERIES_OPTIONAL_CE && s <= SERIES_OPTIONAL_CNP_RECEIVED)
		return GROUP_OPTIONAL;
	if (s >= SERIES_CE && s <= SERIES_CNP_IGNORED)
		return GROUP_CNP;
	if (s >= SERIES_OUT_OF_SEQUENCE && s <= SERIES_IMPLIED_NAK)
		return GROUP_NAK;
	return GROUP_RDMA;
}

/* Applies `noise` times every limit in docs/reference/diagnosis.md. If two counters share a limit,
 * each one gets the full amount. */
void imperfect_background(struct imperfect *i)
{
	struct world_port *p = &i->w.ports[0];
	double n = i->noise, received = p->rate[SERIES_PACKETS_RECEIVED];
	double sent = p->rate[SERIES_PACKETS_SENT], most = fmax(received, sent);

	if (n == 0)
		return;
	/* 3 in 10 s if there are enough packets: a NAK needs a packet that arrived. */
	p->rate[SERIES_SEQUENCE_NAK] = n * fmin(fmax(1e-6 * most, 0.3), 1e-4 * most);
	p->rate[SERIES_ACK_TIMEOUTS] = n * fmax(1e-6 * most, 0.3);
	p->rate[SERIES_OUT_OF_SEQUENCE] = n * 1e-5 * received;
	p->rate[SERIES_DISCARDS_RECEIVED] = n * fmax(1e-6 * received, 0.3);
	p->rate[SERIES_RNR_NAK] = n * 10;
	p->rate[SERIES_WQE_MISSING] = n * 10;
	if (!i->unmarked) {
		p->rate[SERIES_CE] = n * 0.01 * received;
		p->rate[SERIES_CNP_SENT] = 0.3 * p->rate[SERIES_CE];
		p->rate[SERIES_CNP_RECEIVED] = p->rate[SERIES_CNP_HANDLED] = n * 0.01 * sent;
	}
	p->rate[SERIES_CNP_IGNORED] = n;
	p->rate[SERIES_SYMBOL_ERRORS] = n * 1e-12 * 8 * WORLD_LINE; /* idle symbols, too */
	p->rate[SERIES_ICRC_ERRORS] = n * 3;
	p->rate[SERIES_GLOBAL_PAUSE_SENT] = n * 0.001 * world_random(&i->w);
	p->rate[SERIES_PAUSE_SENT + WORLD_PRIORITY] = 2 * n * 0.01 * world_random(&i->w);
	p->rate[SERIES_PAUSE_RECEIVED + WORLD_PRIORITY] = 2 * n * 0.01 * world_random(&i->w);
	p->rate[SERIES_PCIE_STALLED_WRITE] = n * 0.1;
	/* TCP on another priority does not affect RDMA. */
	p->rate[SERIES_PRIORITY_RECEIVED] = n * 1e9 * world_random(&i->w);
	p->rate[SERIES_PRIORITY_SENT] = n * 1e9 * world_random(&i->w);
}

/* How a group is read in this sample, and how long before its end. */
struct read_of_group {
	bool failed, zero;
	double early_s;
};

static void spoil(struct imperfect *i, struct port_observation *o)
{
	struct read_of_group reads[N_GROUPS];

	for (int g = 0; g < N_GROUPS; g++)
		reads[g] = (struct read_of_group){world_random(&i->w) < i->how.failed_read ||
							  i->how.missing & 1u << g,
						  world_random(&i->w) < i->how.zero_read,
						  i->how.skew_s * world_random(&i->w)};
	for (int s = 0; s < N_SERIES; s++) {
		const struct read_of_group *r = &reads[group_of(s)];
		enum series_kind kind = series_kind((enum series)s);

		if (r->failed)
			o->value[s] = (double)NAN;
		else if (kind == SERIES_GAUGE)
			continue;
		else if (r->zero)
			o->value[s] = 0;
		else if (kind == SERIES_BYTES)
			o->value[s] = fmax(0, o->value[s] - r->early_s * i->w.ports[0].rate[s]);
	}
}

/* Advances to the end of the current second at most. */
static struct observation step_on(struct imperfect *i, uint64_t ms)
{
	uint64_t into = (i->w.now_ms - BEGIN_MS) % 1000, rest = 1000 - into;

	if (into == 0) {
		if (i->traffic)
			i->traffic(&i->w, (i->w.now_ms - BEGIN_MS) / 1000);
		imperfect_background(i);
	}
	if (i->disturb)
		i->disturb(i, i->arg);
	return world_step(&i->w, ms < rest ? ms : rest);
}

struct observation imperfect_step(struct imperfect *i)
{
	double ms = 1000.0 * i->how.interval_s;
	uint64_t end;
	struct observation o;

	/* Shorter and longer equally often: 2^-1 to 2^1. */
	if (i->how.uneven)
		ms *= exp2(2 * world_random(&i->w) - 1);
	for (end = i->w.now_ms + (uint64_t)ms; i->w.now_ms < end;)
		o = step_on(i, end - i->w.now_ms);
	spoil(i, &i->w.observed[0]);
	return o;
}
