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

enum { FIRST, SECOND, SOFT, VIRTUAL, N_PORTS };

static struct port_observation ports[N_PORTS];
static struct event_summary events;

static int setup(void **state)
{
	static const char *const names[N_PORTS] = {"mlx5_0", "mlx5_1", "rxe0", "siw0"};
	static const char *const functions[N_PORTS] = {"0000:03:00.0", "0000:03:00.1",
						       "0000:03:00.0", ""};
	(void)state;

	for (size_t i = 0; i < N_PORTS; i++) {
		port_observation_init(&ports[i]);
		strcpy(ports[i].device, names[i]);
		strcpy(ports[i].function, functions[i]);
	}
	strcpy(ports[SOFT].driver, "rxe");
	memset(&events, 0, sizeof(events));
	events.tally.n_nics = 1;
	events.tally.nics[0] = (struct bpf_nic){.device = "0000:03:00.1", .n = {1, 11}};
	events.faults_watched[NIC_FAULT_TX_TIMEOUT] = true;
	events.faults_watched[NIC_FAULT_HEALTH_REPORT] = true;
	return 0;
}

static double value(size_t port, enum series s)
{
	return ports[port].value[s];
}

static void each_port_has_its_functions_counts(void **state)
{
	(void)state;

	port_faults_set(ports, N_PORTS, &events);
	assert_float_equal(value(FIRST, SERIES_TX_TIMEOUTS), 0, 0);
	assert_float_equal(value(SECOND, SERIES_TX_TIMEOUTS), 1, 0);
	assert_float_equal(value(SECOND, SERIES_HEALTH_REPORTS), 11, 0);
	assert_true(isnan(value(SOFT, SERIES_TX_TIMEOUTS)));
	assert_true(isnan(value(VIRTUAL, SERIES_TX_TIMEOUTS)));
}

/* A pod may give its device the name of a device of the host. */
static void a_name_is_not_an_identity(void **state)
{
	(void)state;

	events.n_nics = 2;
	strcpy(events.nics[0].device, "mlx5_0");
	strcpy(events.nics[1].device, "mlx5_1");
	events.nics[0].faults[NIC_FAULT_TX_TIMEOUT] = 7;
	strcpy(ports[SECOND].device, "mlx5_0");
	port_faults_set(ports, N_PORTS, &events);
	assert_float_equal(value(FIRST, SERIES_TX_TIMEOUTS), 0, 0);
	assert_float_equal(value(SECOND, SERIES_TX_TIMEOUTS), 1, 0);
}

/* More NICs had faults than are counted. */
static void faults_that_were_not_counted_are_unknown(void **state)
{
	(void)state;

	events.tally.nics_full = true;
	port_faults_set(ports, N_PORTS, &events);
	assert_true(isnan(value(FIRST, SERIES_TX_TIMEOUTS)));
	assert_float_equal(value(SECOND, SERIES_TX_TIMEOUTS), 1, 0);
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
		cmocka_unit_test_setup(each_port_has_its_functions_counts, setup),
		cmocka_unit_test_setup(a_name_is_not_an_identity, setup),
		cmocka_unit_test_setup(faults_that_were_not_counted_are_unknown, setup),
		cmocka_unit_test_setup(unwatched_faults_are_unknown, setup),
	};

	return test_group_run(tests, NULL, NULL);
}
