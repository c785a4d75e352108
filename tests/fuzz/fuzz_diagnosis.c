// SPDX-License-Identifier: Apache-2.0
/* The engine with any sequence of samples: ports appear and disappear, counters change arbitrarily,
 * and time jumps. Verdicts are only of existing ports, end when the port is removed, and are never
 * their own symptom.
 *
 * The first byte of a sample is the time that has passed, the second a mask of the present ports;
 * changes follow until a byte of 0xff: series, port and kind of change, value.
 *
 * proves: daemon/diagnosis
 * when: turns 4
 * when: soak 120 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diagnosis_json.h"

#define PORTS	   3
/* Samples without a port after which its verdicts must be closed. */
#define GONE_AFTER 3

struct input {
	const uint8_t *at, *end;
};

static uint8_t take(struct input *in)
{
	return in->at < in->end ? *in->at++ : 0xff;
}

static struct port_settings settings;

/* Sets a counter, or moves it a little, far or back, or makes it unreadable; or changes the port's
 * state or settings. */
static void change(struct port_observation *o, uint8_t series, uint8_t how, uint8_t by)
{
	double *v = &o->value[series % N_SERIES];

	switch (how % 8) {
	case 0:
		*v = by;
		break;
	case 1:
		*v += by;
		break;
	case 2:
		*v += by * 1e8;
		break;
	case 3:
		*v -= by;
		break;
	case 4:
		*v = (double)NAN;
		break;
	case 5:
		*v = ldexp(1, by);
		break;
	case 6:
		o->rate_bps = by * UINT64_C(1000000000);
		o->state = (enum port_state)(series % 6);
		o->qps = (struct observed_qps){
			.known = by & 1, .count = by, .peers = series, .not_ect = by & 2};
		break;
	case 7:
		o->settings = by & 1 ? &settings : NULL;
		settings.seen = series;
		settings.pfc = by;
		o->management = by & 2;
		o->visible = by & 12;
		o->health.command_failures += by & 16;
		break;
	}
}

static void check(const struct diagnosis *d, const struct observation *o, const unsigned *absent)
{
	size_t n;
	const struct verdict *v = diagnosis_verdicts(d, &n);

	for (size_t i = 0; i < n; i++) {
		unsigned port = (unsigned)(v[i].device[0] - 'a');

		if ((unsigned)v[i].cause >= N_CAUSES || v[i].onset_ms > o->now_ms ||
		    port >= PORTS || v[i].n_evidence > EVIDENCE_MAX ||
		    (v[i].symptoms & CAUSE_BIT(v[i].cause)))
			abort();
		if (v[i].opened_ms && absent[port] >= GONE_AFTER)
			abort();
		if (v[i].management && v[i].severity > SEVERITY_INFO &&
		    v[i].change == VERDICT_OPENED)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct diagnosis_report report = {0};
	struct input in = {data, data + size};
	struct port_observation ports[PORTS], seen[PORTS];
	unsigned absent[PORTS] = {0};
	struct observation o = {.now_ms = 1000000};
	struct thresholds limits;
	struct diagnosis *d;

	thresholds_init(&limits);
	limits.expected = (enum congestion_control)(take(&in) % N_CC);
	if (diagnosis_new(&d, &limits) < 0)
		return 0;
	for (int i = 0; i < PORTS; i++) {
		port_observation_init(&ports[i]);
		ports[i].device[0] = (char)('a' + i);
		ports[i].state = PORT_ACTIVE;
		ports[i].rate_bps = 100000000000;
	}
	while (in.at < in.end) {
		uint64_t before_ms = o.now_ms;
		uint8_t which, series;

		o.now_ms += 100 * take(&in);
		which = take(&in);
		while (in.at < in.end && (series = take(&in)) != 0xff) {
			uint8_t how = take(&in);

			change(&ports[how >> 3 & 1], series, how, take(&in));
		}
		o.ports = seen;
		o.n_ports = 0;
		for (int i = 0; i < PORTS; i++)
			if (which & 1 << i)
				seen[o.n_ports++] = ports[i];
		o.partial = which & 0x80;
		if (diagnosis_tick(d, &o) < 0)
			abort();
		/* A sample at the time of the previous one is skipped. */
		for (int i = 0; i < PORTS && o.now_ms > before_ms; i++)
			absent[i] = which & 1 << i ? 0 : absent[i] + !o.partial;
		check(d, &o, absent);
	}
	if (diagnosis_report_make(&report, d) == 0)
		json_decref(diagnosis_json(&report));
	diagnosis_report_done(&report);
	diagnosis_free(d);
	return 0;
}
