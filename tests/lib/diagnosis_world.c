// SPDX-License-Identifier: Apache-2.0
#include "diagnosis_world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MTU	     4096
#define WIRE_BYTES   82
#define HEADER_BYTES 58

/* --- ports ------------------------------------------------------------------------------------ */

void world_init(struct world *w, size_t n, uint64_t seed)
{
	*w = (struct world){.n = n,
			    .now_ms = 1000000,
			    .random = seed * 2654435761u + 1,
			    .noise = 0.03,
			    .capacity = 0.98};
	w->ports = calloc(n, sizeof(*w->ports));
	w->observed = calloc(n, sizeof(*w->observed));
	for (size_t i = 0; i < n; i++) {
		struct world_port *p = &w->ports[i];

		port_observation_init(&p->o);
		snprintf(p->o.device, sizeof(p->o.device), "mlx5_%zu", i);
		strcpy(p->o.driver, "mlx5");
		strcpy(p->o.bytes_source, "sysfs");
		p->o.state = PORT_ACTIVE;
		p->o.link_layer = LINK_ETHERNET;
		p->o.rate_bps = (uint64_t)(WORLD_LINE * 8);
		p->o.mtu = MTU;
		p->o.qps = (struct observed_qps){.known = true, .count = 8, .peers = 4};
		p->settings = (struct port_settings){.seen = SETTINGS_PFC,
						     .pfc = 1 << WORLD_PRIORITY};
		for (int s = 0; s < N_SERIES; s++)
			p->o.value[s] = 0;
		/* Optional counters are switched off by default. */
		p->o.value[SERIES_OPTIONAL_CE] = p->o.value[SERIES_OPTIONAL_CNP_SENT] =
			p->o.value[SERIES_OPTIONAL_CNP_RECEIVED] = (double)NAN;
	}
}

void world_done(struct world *w)
{
	free(w->ports);
	free(w->observed);
	*w = (struct world){0};
}

double world_random(struct world *w)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return (double)(w->random >> 11) / 9007199254740992.0;
}

void world_traffic(struct world_port *p, double received, double sent)
{
	p->rate[SERIES_BYTES_RECEIVED] = received;
	p->rate[SERIES_BYTES_SENT] = sent;
	p->rate[SERIES_PACKETS_RECEIVED] = received / MTU;
	p->rate[SERIES_PACKETS_SENT] = sent / MTU;
	p->rate[SERIES_PRIORITY_RECEIVED + WORLD_PRIORITY] = received * (1 + HEADER_BYTES / 4096.0);
	p->rate[SERIES_PRIORITY_SENT + WORLD_PRIORITY] = sent * (1 + HEADER_BYTES / 4096.0);
	p->rate[SERIES_PHY_BYTES] = received * (1 + WIRE_BYTES / 4096.0);
}

/* A random number of events with this expectation. */
static double by_chance(struct world *w, double expected)
{
	double n = -1, product = 1, least = exp(-expected);

	/* The sum of twelve uniform numbers approximates a normal distribution. */
	if (expected > 30) {
		double sum = -6;

		for (int i = 0; i < 12; i++)
			sum += world_random(w);
		return fmax(0, round(expected + sum * sqrt(expected)));
	}
	for (; product > least; n++)
		product *= world_random(w);
	return n;
}

/* Counters of rare events grow by whole numbers. */
static double grown(struct world *w, enum series s, double rate, double seconds, double ebb)
{
	double moved = rate * seconds * (series_kind(s) == SERIES_SECONDS ? 1 : ebb);

	if (w->poisson && series_kind(s) == SERIES_EVENTS && moved > 0 && moved < 1e5)
		return by_chance(w, moved);
	if (rate >= 100 || moved == 0 || series_kind(s) != SERIES_EVENTS)
		return moved;
	return floor(moved) + (world_random(w) < moved - floor(moved));
}

struct observation world_step(struct world *w, uint64_t ms)
{
	w->now_ms += ms;
	for (size_t i = 0; i < w->n; i++) {
		struct world_port *p = &w->ports[i];
		double ebb = 1 + w->noise * (2 * world_random(w) - 1);

		for (int s = 0; s < N_SERIES; s++) {
			if (p->rate[s] == 0)
				continue;
			if (series_kind((enum series)s) == SERIES_GAUGE)
				p->o.value[s] = p->rate[s];
			else
				p->o.value[s] += grown(w, (enum series)s, p->rate[s],
						       (double)ms / 1000, ebb);
		}
		p->o.settings = &p->settings;
		w->observed[i] = p->o;
	}
	return (struct observation){.now_ms = w->now_ms,
				    .unix_ms = 1700000000000 + w->now_ms,
				    .ports = w->observed,
				    .n_ports = w->n};
}

/* --- patterns of healthy nodes ---------------------------------------------------------------- */

static double line_of(const struct world *w)
{
	return w->capacity * WORLD_LINE * MTU / (MTU + WIRE_BYTES);
}

/* Alternates a second of communication and a second of computation. */
static void training(struct world *w, uint64_t second)
{
	for (size_t i = 0; i < w->n; i++) {
		struct world_port *p = &w->ports[i];
		double rate = second % 2 ? 0 : line_of(w), packets = rate / MTU;

		world_traffic(p, rate, rate);
		p->rate[SERIES_CE] = 0.003 * packets;
		p->rate[SERIES_CNP_SENT] = p->rate[SERIES_CNP_RECEIVED] =
			p->rate[SERIES_CNP_HANDLED] = 0.001 * packets;
		p->rate[SERIES_PAUSE_SENT + WORLD_PRIORITY] = 0.0005;
		p->rate[SERIES_PAUSE_RECEIVED + WORLD_PRIORITY] = 0.0005;
		p->rate[SERIES_CORRECTED_BITS] = 4e5;
	}
}

/* Reads and writes of varying size, and a few events. */
static void storage(struct world *w, uint64_t second)
{
	for (size_t i = 0; second % 7 == 0 && i < w->n; i++) {
		struct world_port *p = &w->ports[i];
		double share = 0.1 + 0.6 * world_random(w);

		world_traffic(p, share * line_of(w), (0.8 - share) * line_of(w));
		p->rate[SERIES_CE] = 0.001 * p->rate[SERIES_PACKETS_RECEIVED];
		p->rate[SERIES_CNP_SENT] = 0.3 * p->rate[SERIES_CE];
		p->rate[SERIES_OUT_OF_SEQUENCE] = 0.3;
		p->rate[SERIES_RNR_NAK] = 0.5;
		p->rate[SERIES_ACK_TIMEOUTS] = 0.01;
		p->rate[SERIES_DISCARDS_RECEIVED] = 0.002;
		p->rate[SERIES_SYMBOL_ERRORS] = 0.01;
	}
}

/* Five minutes of writing at full speed in every quarter of an hour. */
static void checkpoints(struct world *w, uint64_t second)
{
	for (size_t i = 0; i < w->n; i++)
		world_traffic(&w->ports[i], 0.02 * line_of(w),
			      second % 900 < 300 ? line_of(w) : 0.1 * line_of(w));
}

/* Probes, and occasionally a short session. */
static void idle(struct world *w, uint64_t second)
{
	for (size_t i = 0; i < w->n; i++)
		world_traffic(&w->ports[i], second % 600 == 0 ? 0.3 * line_of(w) : 9856, 9856);
}

const struct world_pattern world_patterns[WORLD_PATTERNS] = {
	{"training", training},
	{"storage", storage},
	{"checkpoints", checkpoints},
	{"idle", idle},
};

/* --- verdicts --------------------------------------------------------------------------------- */

const struct verdict *world_verdict(const struct diagnosis *d, const char *device, enum cause c)
{
	size_t n;
	const struct verdict *v = diagnosis_verdicts(d, &n);

	for (size_t i = 0; i < n; i++)
		if (v[i].cause == c && v[i].opened_ms && !v[i].explained &&
		    strcmp(v[i].device, device) == 0)
			return &v[i];
	return NULL;
}

size_t world_n_verdicts(const struct diagnosis *d)
{
	size_t n, reported = 0;
	const struct verdict *v = diagnosis_verdicts(d, &n);

	for (size_t i = 0; i < n; i++)
		reported += v[i].opened_ms && !v[i].explained;
	return reported;
}
