// SPDX-License-Identifier: Apache-2.0
/* Faults of NICs that BPF reports, as input of diagnosis. */
#include "port_faults.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "test_group.h"

enum { FIRST, SECOND, SOFT, UNSEEN, N_PORTS };

static struct port_observation ports[N_PORTS];
static struct event_summary events;

static int setup(void **state)
{
	static const char *const names[N_PORTS] = {"mlx5_0", "mlx5_1", "rxe0", "mlx5_2"};
	(void)state;

	for (size_t i = 0; i < N_PORTS; i++) {
		port_observation_init(&ports[i]);
		strcpy(ports[i].device, names[i]);
	}
	strcpy(ports[SOFT].driver, "rxe");
	memset(&events, 0, sizeof(events));
	events.n_nics = 3;
	for (size_t i = 0; i < 3; i++)
		events.nics[i] = (struct event_nic){.faults = {i, 10 + i}};
	strcpy(events.nics[0].device, "mlx5_0");
	strcpy(events.nics[1].device, "mlx5_1");
	strcpy(events.nics[2].device, "rxe0");
	events.faults_watched[NIC_FAULT_TX_TIMEOUT] = true;
	events.faults_watched[NIC_FAULT_HEALTH_REPORT] = true;
	return 0;
}

static double value(size_t port, enum series s)
{
	return ports[port].value[s];
}

static void each_port_has_its_devices_counts(void **state)
{
	(void)state;

	port_faults_set(ports, N_PORTS, &events);
	assert_float_equal(value(FIRST, SERIES_TX_TIMEOUTS), 0, 0);
	assert_float_equal(value(SECOND, SERIES_TX_TIMEOUTS), 1, 0);
	assert_float_equal(value(SECOND, SERIES_HEALTH_REPORTS), 11, 0);
	assert_true(isnan(value(SOFT, SERIES_TX_TIMEOUTS)));
	assert_true(isnan(value(UNSEEN, SERIES_TX_TIMEOUTS)));
}

/* Faults that were watched before become unknown, not 0. */
static void unwatched_faults_are_unknown(void **state)
{
	(void)state;

	port_faults_set(ports, N_PORTS, &events);
	events.faults_watched[NIC_FAULT_TX_TIMEOUT] = false;
	port_faults_set(ports, N_PORTS, &events);
	assert_true(isnan(value(SECOND, SERIES_TX_TIMEOUTS)));
	assert_float_equal(value(SECOND, SERIES_HEALTH_REPORTS), 11, 0);
	port_faults_set(ports, N_PORTS, NULL);
	assert_true(isnan(value(SECOND, SERIES_HEALTH_REPORTS)));
}

TEST_GROUP(port_faults)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(each_port_has_its_devices_counts, setup),
		cmocka_unit_test_setup(unwatched_faults_are_unknown, setup),
	};

	return test_group_run(tests, NULL, NULL);
}
