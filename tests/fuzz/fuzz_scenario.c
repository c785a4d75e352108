// SPDX-License-Identifier: Apache-2.0
/* Any bytes as a scenario file: times increase, names are terminated, and verdicts are only of
 * ports that the file has.
 *
 * proves: daemon/diagnosis
 * when: turns 4
 * when: soak 120 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnosis_json.h"
#include "scenario.h"

static void complain(const char *message, void *arg)
{
	(void)arg;
	if (strncmp(message, "F: ", 3) != 0)
		abort();
}

static void check_verdicts(const struct diagnosis *d, const struct observation *o)
{
	size_t n;
	const struct verdict *v = diagnosis_verdicts(d, &n);

	for (size_t i = 0; i < n; i++) {
		if ((unsigned)v[i].cause >= N_CAUSES || v[i].n_evidence > EVIDENCE_MAX ||
		    v[i].severity < SEVERITY_INFO || v[i].severity > SEVERITY_CRITICAL ||
		    v[i].onset_ms > o->now_ms ||
		    strnlen(v[i].device, sizeof(v[i].device)) == sizeof(v[i].device))
			abort();
		if (v[i].symptoms & CAUSE_BIT(v[i].cause))
			abort();
	}
	if (diagnosis_n_ports(d) > SCENARIO_PORTS_MAX)
		abort();
}

static void check_observation(const struct observation *o, uint64_t last_ms)
{
	if (o->now_ms < last_ms || o->n_ports > SCENARIO_PORTS_MAX)
		abort();
	for (size_t i = 0; i < o->n_ports; i++)
		if (!o->ports[i].device[0] || memchr(o->ports[i].driver, 0, 32) == NULL)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	FILE *file = n ? fmemopen((void *)data, n, "r") : NULL;
	struct scenario *s = NULL;
	struct diagnosis_report report = {0};
	struct diagnosis *d = NULL;
	struct thresholds limits;
	struct observation o;
	struct err e = {0};
	uint64_t last_ms = 0;

	thresholds_init(&limits);
	if (file && scenario_open(&s, file, "F", &limits, complain, NULL, &e) == 0 &&
	    diagnosis_new(&d, &limits) == 0) {
		while (scenario_next(s, &o, &e) > 0) {
			check_observation(&o, last_ms);
			last_ms = o.now_ms;
			if (diagnosis_tick(d, &o) < 0)
				abort();
			check_verdicts(d, &o);
		}
		scenario_sum_up(s);
		if (diagnosis_report_make(&report, d) == 0)
			json_decref(diagnosis_json(&report));
		diagnosis_report_done(&report);
	}
	diagnosis_free(d);
	scenario_free(s);
	if (file)
		fclose(file);
	return 0;
}
