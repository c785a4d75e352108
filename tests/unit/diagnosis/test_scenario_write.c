// SPDX-License-Identifier: Apache-2.0
/* Written observations are equal when they are read back. */
#include "scenario_write.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "scenario.h"
#include "test_group.h"

#define PORTS_MAX 5
#define PODS_MAX  3

static uint64_t seed = 7;

/* A pseudo-random number below n, the same in every run. */
static uint32_t pick(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

static bool coin(void)
{
	return pick(2) == 0;
}

static void pick_text(char *ret, size_t size)
{
	static const char letters[] = "abc-0:./\"\\ _";
	size_t n = pick(4) == 0 ? 0 : pick((uint32_t)size);

	memset(ret, 0, size);
	for (size_t i = 0; i < n; i++)
		ret[i] = letters[pick(sizeof(letters) - 1)];
}

struct drawn {
	struct port_observation ports[PORTS_MAX];
	struct observed_pod pods[PORTS_MAX][PODS_MAX];
	struct port_settings settings[PORTS_MAX];
	struct observation o;
};

static void pick_link(struct pcie_link *l)
{
	static const uint32_t rates[] = {2500, 5000, 8000, 16000, 32000, 64000};

	*l = (struct pcie_link){rates[pick(6)], rates[pick(6)], (uint8_t)(1 << pick(5)), 16};
}

static void pick_settings(struct port_settings *s)
{
	memset(s, 0, sizeof(*s));
	s->seen = pick(2 * SETTINGS_PCIE_SEGMENT) & ~(uint32_t)SETTINGS_ETS;
	if (s->seen & SETTINGS_DSCP) {
		s->dscp_trusted = coin();
		for (int i = 0; i < N_DSCP; i++)
			s->dscp_priority[i] = coin() ? NO_PRIORITY : (uint8_t)pick(8);
	}
	s->pfc = s->seen & SETTINGS_PFC ? (uint8_t)pick(256) : 0;
	s->peer_pfc = s->seen & SETTINGS_PEER_PFC ? (uint8_t)pick(256) : 0;
	s->pause_receives = (s->seen & SETTINGS_PAUSE) && coin();
	s->pause_sends = (s->seen & SETTINGS_PAUSE) && coin();
	s->dcbx = s->seen & SETTINGS_DCBX ? (uint8_t)pick(256) : 0;
	s->cm_roce_v2 = (s->seen & SETTINGS_CM_TYPE) && coin();
	s->cm_tos = s->seen & SETTINGS_CM_TOS ? (uint8_t)pick(256) : 0;
	if (s->seen & SETTINGS_PCIE)
		pick_link(&s->pcie);
	if ((s->seen & SETTINGS_PCIE_SEGMENT) && coin()) {
		pick_text(s->segment, sizeof(s->segment));
		pick_link(&s->segment_link);
	}
}

static void pick_qps(struct observed_qps *q)
{
	*q = (struct observed_qps){.known = coin()};
	if (!q->known)
		return;
	q->count = pick(100000);
	q->peers = pick(100);
	q->not_ect = pick(10);
	q->path_mtu = 256u << pick(5);
	q->labels_known = coin();
	q->one_label = q->labels_known ? pick(100) : 0;
	q->failures_known = coin();
	if (!q->failures_known)
		return;
	q->failed = pick(9);
	q->failed_peers = pick(9);
	pick_text(q->peer, sizeof(q->peer));
}

static void pick_values(double value[N_SERIES])
{
	for (int i = 0; i < N_SERIES; i++) {
		double v = (double)pick(1u << 30) * (double)(1u << pick(20));

		if (coin())
			value[i] = (double)NAN;
		else if (series_kind((enum series)i) == SERIES_EVENTS)
			value[i] = v;
		else
			value[i] = v / 1e6;
	}
}

static void pick_port(struct drawn *d, size_t i)
{
	struct port_observation *o = &d->ports[i];

	port_observation_init(o);
	snprintf(o->device, sizeof(o->device), "mlx5_%zu", i);
	o->port = 1 + pick(2);
	pick_text(o->netdev, sizeof(o->netdev));
	pick_text(o->function, sizeof(o->function));
	pick_text(o->parent, sizeof(o->parent));
	pick_text(o->driver, sizeof(o->driver));
	pick_text(o->bytes_source, sizeof(o->bytes_source));
	o->visible = coin();
	o->management = coin();
	o->admin_down = coin();
	o->link_disabled = coin();
	o->was_active = coin();
	o->gid_moved = coin();
	o->state = (enum port_state)pick(PORT_ACTIVE_DEFER + 1);
	o->link_layer = coin() ? LINK_INFINIBAND : LINK_ETHERNET;
	o->rate_bps = (uint64_t)pick(5) * 100000000000;
	o->mtu = 256u << pick(5);
	pick_values(o->value);
	pick_qps(&o->qps);
	pick_text(o->health.devlink_error, sizeof(o->health.devlink_error));
	pick_text(o->health.restricted, sizeof(o->health.restricted));
	o->health.unreachable = coin();
	o->health.driverless = coin();
	o->health.command_failures = pick(1000);
	if (coin())
		o->stalled_received_s = pick(1000) / 1e3;
	if (coin())
		o->stalled_sent_s = pick(1000) / 1e3;
	o->n_pods = pick(PODS_MAX + 1);
	for (size_t k = 0; k < o->n_pods; k++) {
		pick_text(d->pods[i][k].namespace, sizeof(d->pods[i][k].namespace));
		pick_text(d->pods[i][k].name, sizeof(d->pods[i][k].name));
		d->pods[i][k].ended = coin();
	}
	o->pods = d->pods[i];
	pick_settings(&d->settings[i]);
	o->settings = coin() ? &d->settings[i] : NULL;
}

/* t: a multiple of 1 ms, like the clock's values. */
static void draw(struct drawn *d, uint64_t t_ms)
{
	memset(d, 0, sizeof(*d));
	d->o.ports = d->ports;
	d->o.n_ports = PORTS_MAX;
	d->o.now_ms = t_ms;
	d->o.unix_ms = coin() ? 1764000000123 + t_ms : 0;
	d->o.partial = coin();
	for (size_t i = 0; i < PORTS_MAX; i++)
		pick_port(d, i);
	for (int i = 0; i < N_SOURCES; i++)
		if (coin())
			d->o.sources[i] = (struct source_state){true, i, t_ms - pick(1000)};
}

static void assert_same_number(double read, double written)
{
	assert_true(isnan(written) ? isnan(read) : read == written);
}

static void assert_same_port(const struct port_observation *read,
			     const struct port_observation *written)
{
	assert_string_equal(read->device, written->device);
	assert_int_equal(read->port, written->port);
	assert_string_equal(read->netdev, written->netdev);
	assert_string_equal(read->function, written->function);
	assert_string_equal(read->parent, written->parent);
	assert_string_equal(read->driver, written->driver);
	assert_string_equal(read->bytes_source, written->bytes_source);
	assert_int_equal(read->visible, written->visible);
	assert_int_equal(read->management, written->management);
	assert_int_equal(read->admin_down, written->admin_down);
	assert_int_equal(read->link_disabled, written->link_disabled);
	assert_int_equal(read->was_active, written->was_active);
	assert_int_equal(read->gid_moved, written->gid_moved);
	assert_int_equal(read->state, written->state);
	assert_int_equal(read->link_layer, written->link_layer);
	assert_int_equal(read->rate_bps, written->rate_bps);
	assert_int_equal(read->mtu, written->mtu);
	for (int i = 0; i < N_SERIES; i++)
		assert_same_number(read->value[i], written->value[i]);
	assert_same_number(read->stalled_received_s, written->stalled_received_s);
	assert_same_number(read->stalled_sent_s, written->stalled_sent_s);
	assert_memory_equal(&read->qps, &written->qps, sizeof(written->qps));
	assert_memory_equal(&read->health, &written->health, sizeof(written->health));
	assert_int_equal(read->n_pods, written->n_pods);
	for (size_t i = 0; i < written->n_pods; i++)
		assert_memory_equal(&read->pods[i], &written->pods[i], sizeof(written->pods[i]));
	assert_int_equal(!read->settings, !written->settings);
	if (written->settings)
		assert_memory_equal(read->settings, written->settings, sizeof(*written->settings));
}

static void put_line(FILE *f, const struct observation *o)
{
	json_t *line = scenario_line(o);

	assert_non_null(line);
	assert_int_equal(json_dumpf(line, f, JSON_COMPACT), 0);
	fputc('\n', f);
	json_decref(line);
}

static void complain(const char *message, void *arg)
{
	(void)arg;
	fail_msg("%s", message);
}

static void read_back(FILE *file, const struct drawn *written, size_t n)
{
	struct thresholds limits;
	struct observation o;
	struct scenario *s;
	struct err e = {0};

	thresholds_init(&limits);
	rewind(file);
	assert_int_equal(scenario_open(&s, file, "F", &limits, complain, NULL, &e), 0);
	for (size_t k = 0; k < n; k++) {
		const struct observation *wanted = &written[k].o;

		assert_int_equal(scenario_next(s, &o, &e), 1);
		assert_int_equal(o.now_ms, wanted->now_ms + SCENARIO_BASE_MS);
		assert_int_equal(o.unix_ms, wanted->unix_ms);
		assert_int_equal(o.partial, wanted->partial);
		assert_int_equal(o.n_ports, wanted->n_ports);
		for (size_t i = 0; i < wanted->n_ports; i++)
			assert_same_port(&o.ports[i], &wanted->ports[i]);
		for (int i = 0; i < N_SOURCES; i++)
			if (wanted->sources[i].used) {
				assert_true(o.sources[i].used);
				assert_int_equal(o.now_ms - o.sources[i].read_ms,
						 wanted->now_ms - wanted->sources[i].read_ms);
			}
	}
	assert_int_equal(scenario_next(s, &o, &e), 0);
	scenario_free(s);
}

/* Also if a later line removes values of an earlier one. */
static void written_scenarios_are_read_back(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 100; round++) {
		static struct drawn written[3];
		FILE *file = tmpfile();

		assert_non_null(file);
		fputs("{\"scenario\":\"x\"}\n", file);
		for (size_t k = 0; k < ARRAY_SIZE(written); k++) {
			draw(&written[k], 2000 + 1000 * k + pick(500));
			for (size_t i = 0; k > 0 && i < PORTS_MAX; i++)
				written[k].ports[i].port = written[0].ports[i].port;
			put_line(file, &written[k].o);
		}
		read_back(file, written, ARRAY_SIZE(written));
		fclose(file);
	}
}

TEST_GROUP(scenario_write)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(written_scenarios_are_read_back),
	};

	return test_group_run(tests, NULL, NULL);
}
