// SPDX-License-Identifier: Apache-2.0
/* BPF's counts of soft-RoCE ports as input of diagnosis. */
#include "port_packets.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "cleanup.h"
#include "test_group.h"

enum { SOFT, OTHER_SOFT, NIC, N_PORTS };

struct fixture {
	struct port_observation ports[N_PORTS];
	struct packet_port watched[N_PORTS];
	struct roce_counts counts[N_PORTS][N_ROCE_DIRECTIONS];
	struct packet_sample packets;
	struct event_summary events;
};

static void add_port(struct fixture *f, size_t i, const char *device, const char *driver)
{
	port_observation_init(&f->ports[i]);
	strcpy(f->ports[i].device, device);
	strcpy(f->ports[i].driver, driver);
	f->watched[i] = (struct packet_port){.device_port = 1, .hook = PACKET_HOOK_TCX};
	strcpy(f->watched[i].device, device);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	add_port(f, SOFT, "rxe_a", "rxe");
	add_port(f, OTHER_SOFT, "rxe_b", "rxe");
	add_port(f, NIC, "mlx5_0", "mlx5_core");
	f->packets = (struct packet_sample){
		.ports = f->watched, .counts = f->counts, .n_ports = N_PORTS};
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

static const double *apply(struct fixture *f, size_t port)
{
	port_packets_set(f->ports, N_PORTS, &f->packets, &f->events);
	return f->ports[port].value;
}

static unsigned known(const struct port_observation *o)
{
	unsigned n = 0;

	for (int s = 0; s < N_SERIES; s++)
		n += !isnan(o->value[s]);
	return n;
}

static void assert_value(const double value[N_SERIES], enum series s, double wanted)
{
	assert_float_equal(value[s], wanted, 0);
}

static void test_packets(void **state)
{
	struct fixture *f = *state;
	struct roce_counts *in = &f->counts[SOFT][ROCE_RECEIVED];
	struct roce_counts *out = &f->counts[SOFT][ROCE_SENT];
	const double *v;

	*in = (struct roce_counts){.packets = 100, .bytes = 1000, .cnp = 3};
	in->traffic_class[26 << 2 | 3] = 5;
	in->traffic_class[3] = 6;
	in->traffic_class[26 << 2 | 2] = 50;
	in->syndromes[ROCE_SYN_SEQUENCE] = 7;
	in->syndromes[ROCE_SYN_RNR] = 8;
	in->syndromes[ROCE_SYN_REMOTE_ACCESS] = 9;
	in->syndromes[ROCE_SYN_INVALID_REQUEST] = 10;
	*out = (struct roce_counts){.packets = 200, .bytes = 2000, .cnp = 4};
	out->traffic_class[3] = 1000;
	out->syndromes[ROCE_SYN_SEQUENCE] = 1000;
	out->syndromes[ROCE_SYN_RNR] = 18;
	out->syndromes[ROCE_SYN_REMOTE_ACCESS] = 19;
	v = apply(f, SOFT);
	assert_value(v, SERIES_PACKETS_RECEIVED, 100);
	assert_value(v, SERIES_PACKETS_SENT, 200);
	assert_value(v, SERIES_BYTES_RECEIVED, 1000);
	assert_value(v, SERIES_BYTES_SENT, 2000);
	assert_value(v, SERIES_CE, 11);
	assert_value(v, SERIES_CNP_RECEIVED, 3);
	assert_value(v, SERIES_CNP_SENT, 4);
	assert_value(v, SERIES_SEQUENCE_NAK, 7);
	assert_value(v, SERIES_RNR_NAK, 8);
	assert_value(v, SERIES_RNR_NAK_SENT, 18);
	assert_value(v, SERIES_ACCESS_ERRORS, 9);
	assert_value(v, SERIES_ACCESS_ERRORS_RESP, 19);
	assert_value(v, SERIES_INVALID_REQUESTS, 10);
	assert_int_equal(known(&f->ports[SOFT]), 13);
	assert_string_equal(f->ports[SOFT].bytes_source, "bpf");
}

/* All counters are 0 before the first packet. */
static void test_quiet_from_the_start(void **state)
{
	struct fixture *f = *state;

	assert_value(apply(f, OTHER_SOFT), SERIES_CE, 0);
	assert_value(f->ports[OTHER_SOFT].value, SERIES_ACCESS_ERRORS, 0);
}

static void test_own_source_of_bytes(void **state)
{
	struct fixture *f = *state;

	strcpy(f->ports[SOFT].bytes_source, "netlink");
	apply(f, SOFT);
	assert_string_equal(f->ports[SOFT].bytes_source, "netlink");
}

/* The kernel sees only few of a NIC's packets, so BPF's counts are not the NIC's. */
static void test_not_of_nics(void **state)
{
	struct fixture *f = *state;

	f->watched[NIC].visible = PACKET_VISIBLE_YES;
	f->ports[NIC].value[SERIES_CE] = 42;
	assert_value(apply(f, NIC), SERIES_CE, 42);
	assert_int_equal(known(&f->ports[NIC]), 1);
	assert_string_equal(f->ports[NIC].bytes_source, "");
}

static void assert_unknown(struct fixture *f)
{
	apply(f, SOFT);
	assert_int_equal(known(&f->ports[SOFT]), 0);
	assert_true(known(&f->ports[OTHER_SOFT]) > 0);
	f->watched[SOFT] = f->watched[OTHER_SOFT];
	strcpy(f->watched[SOFT].device, "rxe_a");
	assert_value(apply(f, SOFT), SERIES_CE, 0);
}

/* Ports that were watched before become unknown, not 0. */
static void test_unwatched_ports_are_unknown(void **state)
{
	struct fixture *f = *state;

	apply(f, SOFT);
	f->watched[SOFT].hook = PACKET_HOOK_NONE;
	assert_unknown(f);
	f->watched[SOFT].error = -ENOSPC;
	assert_unknown(f);
	f->watched[SOFT].visible = PACKET_VISIBLE_NO;
	assert_unknown(f);
	f->watched[SOFT].role = PACKET_MIRROR;
	assert_unknown(f);
	strcpy(f->watched[SOFT].device, "gone");
	assert_unknown(f);
	port_packets_set(f->ports, N_PORTS, NULL, NULL);
	assert_int_equal(known(&f->ports[SOFT]), 0);
}

static void test_xdp_counts_received_packets_only(void **state)
{
	struct fixture *f = *state;

	f->watched[SOFT].hook = PACKET_HOOK_XDP;
	assert_value(apply(f, SOFT), SERIES_CE, 0);
	assert_true(isnan(f->ports[SOFT].value[SERIES_PACKETS_SENT]));
	assert_true(isnan(f->ports[SOFT].value[SERIES_ACCESS_ERRORS_RESP]));
}

static void test_events(void **state)
{
	struct fixture *f = *state;
	struct bpf_soft_device *d = &f->events.soft[0];

	f->packets.n_ports = 0;
	strcpy(d->key.device, "rxe_b");
	d->counts.n[BPF_SOFT_RETRANSMIT_TIMEOUT] = 3;
	d->counts.n[BPF_SOFT_RNR_TIMEOUT] = 4;
	d->counts.n[BPF_SOFT_ICRC] = 5;
	strcpy(f->events.soft[1].key.device, "mlx5_0");
	f->events.n_soft = 2;
	f->events.soft_watched[BPF_SOFT_RETRANSMIT_TIMEOUT] = true;
	assert_value(apply(f, OTHER_SOFT), SERIES_SOFT_TIMEOUTS, 3);
	assert_int_equal(known(&f->ports[OTHER_SOFT]), 1);
	f->events.soft_watched[BPF_SOFT_ICRC] = true;
	assert_value(apply(f, OTHER_SOFT), SERIES_ICRC_ERRORS, 5);
	assert_int_equal(known(&f->ports[SOFT]) + known(&f->ports[NIC]), 0);
}

TEST_GROUP(port_packets)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_packets, setup, teardown),
		cmocka_unit_test_setup_teardown(test_quiet_from_the_start, setup, teardown),
		cmocka_unit_test_setup_teardown(test_own_source_of_bytes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_not_of_nics, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unwatched_ports_are_unknown, setup, teardown),
		cmocka_unit_test_setup_teardown(test_xdp_counts_received_packets_only, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_events, setup, teardown),
	};

	return test_group_run(tests, NULL, NULL);
}
