// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <string.h>

#include "layout.h"
#include "test_group.h"

static uint32_t slot(struct layout *l, enum source source, enum dict_place place, const char *name)
{
	struct meaning m[DICT_MEANINGS];
	size_t n = dict_lookup(place, NIC_MLX5, name, m);

	return layout_slot(l, source, name, m, n);
}

static uint32_t hw(struct layout *l, const char *name)
{
	return slot(l, SOURCE_SYSFS, DICT_HW, name);
}

static void set(struct layout *l, uint32_t slot_index, uint64_t raw)
{
	struct widen *cell = &l->cells[layout_cell(l, slot_index)];

	cell->raw = raw;
	cell->ok = true;
}

/* NULL = none; valid until the next call. */
static const struct reading *find(const struct layout *l, const char *family, const char *labels)
{
	static struct reading r;
	struct reading_pos pos = {0};

	while (layout_next(l, &pos, &r))
		if (!strcmp(r.family->name, family) && !strcmp(r.labels, labels))
			return &r;
	return NULL;
}

static size_t list(const struct layout *l, struct reading *ret)
{
	struct reading_pos pos = {0};
	size_t n = 0;

	while (layout_next(l, &pos, &ret[n]))
		n++;
	return n;
}

static void vendor_counters_of_one_meaning_are_added(void **state)
{
	struct layout l = {0};
	uint32_t handled, ignored;
	const struct reading *r;

	(void)state;
	layout_port(&l, "mlx5_0", 1);
	handled = hw(&l, "rp_cnp_handled");
	ignored = hw(&l, "rp_cnp_ignored");
	assert_int_equal(layout_finish(&l), 0);
	set(&l, handled, 40);
	set(&l, ignored, 2);
	layout_evaluate(&l);
	r = find(&l, "roce_cnp_received_packets_total", "");
	assert_int_equal(r->value, 42);
	assert_int_equal(r->state, READING_OK);
	assert_int_equal(find(&l, "roce_cnp_handled_packets_total", "")->value, 40);
	/* If one part is missing, the sum is absent. */
	l.cells[layout_cell(&l, ignored)].ok = false;
	layout_evaluate(&l);
	r = find(&l, "roce_cnp_received_packets_total", "");
	assert_int_equal(r->state, READING_ABSENT);
	assert_int_equal(find(&l, "roce_cnp_handled_packets_total", "")->state, READING_OK);
	layout_done(&l);
}

static void bytes_have_one_source(void **state)
{
	struct layout l = {0};
	uint32_t uni, multi, port_rx, port_tx;

	(void)state;
	layout_port(&l, "mlx5_0", 1);
	port_rx = slot(&l, SOURCE_SYSFS, DICT_PORT, "port_rcv_data");
	port_tx = slot(&l, SOURCE_SYSFS, DICT_PORT, "port_xmit_data");
	uni = slot(&l, SOURCE_ETHTOOL, DICT_ETHTOOL, "rx_vport_rdma_unicast_bytes");
	multi = slot(&l, SOURCE_ETHTOOL, DICT_ETHTOOL, "rx_vport_rdma_multicast_bytes");
	assert_int_equal(layout_finish(&l), 0);
	set(&l, uni, 100);
	set(&l, multi, 1);
	set(&l, port_rx, 7);
	set(&l, port_tx, 7);
	layout_evaluate(&l);
	assert_int_equal(find(&l, "roce_bytes_total", "direction=\"received\"")->value, 101);
	/* The better source has no counter of sent bytes: absent is better than a mixture of
	 * sources. */
	assert_null(find(&l, "roce_bytes_total", "direction=\"sent\""));
	assert_string_equal(l.ports[0].bytes_source, "ethtool");
	layout_done(&l);
}

static void port_counters_are_the_last_resort(void **state)
{
	struct layout l = {0};
	uint32_t rx;
	const struct reading *r;

	(void)state;
	layout_port(&l, "mlx5_0", 1);
	rx = slot(&l, SOURCE_SYSFS, DICT_PORT, "port_rcv_data");
	assert_int_equal(layout_finish(&l), 0);
	set(&l, rx, 7);
	layout_evaluate(&l);
	r = find(&l, "roce_bytes_total", "direction=\"received\"");
	assert_int_equal(r->value, 7);
	assert_int_equal(r->unit, UNIT_WORDS);
	assert_string_equal(l.ports[0].bytes_source, "sysfs");
	assert_non_null(find(&l, "roce_port_counters_total", "name=\"port_rcv_data\""));
	layout_done(&l);
}

static void outranked_counters_are_not_read(void **state)
{
	struct layout l = {0};
	struct reading readings[3];
	uint32_t own, vport;

	(void)state;
	layout_port(&l, "mlx5_0", 1);
	own = hw(&l, "out_of_sequence");
	vport = hw(&l, "vport_out_of_sequence");
	layout_port(&l, "mlx5_0", 2);
	hw(&l, "vport_out_of_sequence");
	assert_int_equal(layout_finish(&l), 0);
	assert_int_equal(layout_cell(&l, own), 0);
	assert_int_equal(layout_cell(&l, vport), NO_SLOT);
	assert_int_equal(l.n_cells, 2);
	assert_string_equal(layout_cell_name(&l, 0), "out_of_sequence");
	assert_string_equal(layout_cell_name(&l, 1), "vport_out_of_sequence");
	assert_int_equal(list(&l, readings), 2);
	assert_int_equal(readings[1].port, 1);
	layout_done(&l);
}

static void readings_are_in_order(void **state)
{
	struct reading readings[11];
	struct layout l = {0};

	(void)state;
	for (uint32_t port = 1; port <= 2; port++) {
		layout_port(&l, "mlx5_0", port);
		hw(&l, "rx_write_requests");
		hw(&l, "rx_read_requests");
		hw(&l, "zz_unknown");
		hw(&l, "aa_unknown");
		hw(&l, "np_ecn_marked_roce_packets");
	}
	assert_int_equal(layout_finish(&l), 0);
	assert_int_equal(l.n_readings, 10);
	assert_int_equal(list(&l, readings), 10);
	for (size_t i = 1; i < l.n_readings; i++) {
		const struct reading *a = &readings[i - 1], *b = &readings[i];
		size_t fa = dict_family_index(a->family), fb = dict_family_index(b->family);

		assert_true(fa <= fb);
		assert_true(fa < fb || a->port <= b->port);
		assert_true(fa < fb || a->port < b->port || strcmp(a->labels, b->labels) < 0);
	}
	layout_done(&l);
}

static void an_empty_layout_is_fine(void **state)
{
	struct layout l = {0};

	(void)state;
	assert_int_equal(layout_finish(&l), 0);
	layout_evaluate(&l);
	assert_int_equal(l.n_readings, 0);
	assert_null(find(&l, "roce_bytes_total", ""));
	layout_done(&l);
}

static void make(struct layout *l, const char *const *names, uint32_t *ret)
{
	layout_port(l, "mlx5_0", 1);
	for (size_t i = 0; names[i]; i++)
		ret[i] = hw(l, names[i]);
	assert_int_equal(layout_finish(l), 0);
}

static void history_outlives_a_layout(void **state)
{
	static const char *const before[] = {"out_of_buffer", "rx_read_requests", "np_cnp_sent",
					     NULL};
	static const char *const after[] = {"np_cnp_sent", "out_of_buffer", NULL};
	struct layout a = {0}, b = {0};
	uint32_t sa[3], sb[2];

	(void)state;
	make(&a, before, sa);
	set(&a, sa[0], UINT32_MAX);
	set(&a, sa[1], 1);
	set(&a, sa[2], 1);
	layout_evaluate(&a);
	set(&a, sa[0], 4);
	layout_evaluate(&a);
	a.ports[0].resets = 3;
	a.ports[0].has_moved = true;
	make(&b, after, sb);
	assert_int_equal(layout_inherit(&b, &a, SOURCE_SYSFS), 1); /* rx_read_requests */
	layout_done(&a);
	set(&b, sb[0], 1);
	set(&b, sb[1], 5);
	layout_evaluate(&b);
	assert_int_equal(widen_value(&b.cells[layout_cell(&b, sb[1])]), (UINT64_C(1) << 32) + 5);
	assert_int_equal(b.ports[0].resets, 3);
	assert_true(b.ports[0].has_moved);
	set(&b, sb[0], 0);
	layout_evaluate(&b);
	assert_int_equal(b.ports[0].resets, 3);
	set(&b, sb[0], 0); /* a 0 counts when it is read twice */
	layout_evaluate(&b);
	assert_int_equal(b.ports[0].resets, 4);
	layout_done(&b);
}

static void a_reset_counts_for_its_own_port(void **state)
{
	struct layout l = {0};
	uint32_t one, two;

	(void)state;
	layout_port(&l, "mlx5_0", 1);
	one = hw(&l, "np_cnp_sent");
	layout_port(&l, "mlx5_1", 1);
	two = hw(&l, "np_cnp_sent");
	assert_int_equal(layout_finish(&l), 0);
	set(&l, one, 9);
	set(&l, two, 9);
	layout_evaluate(&l);
	set(&l, two, 1);
	layout_evaluate(&l);
	assert_int_equal(l.ports[0].resets, 0);
	assert_int_equal(l.ports[1].resets, 1);
	layout_done(&l);
}

static void a_constant_is_always_present(void **state)
{
	struct layout l = {0};
	struct meaning m[DICT_MEANINGS];
	struct reading readings[2];

	(void)state;
	dict_lookup(DICT_OPTIONAL, NIC_MLX5, "cc_rx_ce_pkts", m);
	layout_port(&l, "mlx5_0", 1);
	layout_constant(&l, SOURCE_NETLINK, m->family, m->labels, 1);
	assert_int_equal(layout_finish(&l), 0);
	layout_evaluate(&l);
	assert_int_equal(list(&l, readings), 1);
	assert_int_equal(readings[0].state, READING_OK);
	assert_int_equal(readings[0].value, 1);
	layout_done(&l);
}

/* Ports with the same counters share everything but their values. */
static void ports_of_one_kind_have_one_shape(void **state)
{
	struct reading readings[5];
	uint32_t slots[3];
	struct layout l = {0};

	(void)state;
	for (uint32_t port = 0; port < 3; port++) {
		layout_port(&l, "mlx5_0", port + 1);
		slots[port] = hw(&l, "np_cnp_sent");
		if (port == 1)
			hw(&l, "out_of_buffer");
	}
	assert_int_equal(layout_finish(&l), 0);
	assert_int_equal(l.n_shapes, 2);
	assert_int_equal(l.places[0].shape, l.places[2].shape);
	for (uint32_t port = 0; port < 3; port++)
		set(&l, slots[port], 10 + port);
	layout_trim(&l);
	layout_evaluate(&l);
	assert_int_equal(list(&l, readings), 4);
	for (uint32_t port = 0; port < 3; port++) {
		assert_int_equal(readings[port].port, port);
		assert_int_equal(readings[port].value, 10 + port);
		assert_int_equal(readings[port].state, READING_OK);
	}
	assert_int_equal(readings[3].state, READING_ABSENT);
	layout_done(&l);
}

static void readings_of_one_port(void **state)
{
	static const char *const devices[] = {"a", "b", "c"};
	struct layout l = {0};
	struct reading_pos pos = {.port = 1, .one_port = true};
	struct reading r;
	size_t n = 0;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		layout_port(&l, devices[i], 1);
		hw(&l, "np_cnp_sent");
		hw(&l, "out_of_sequence");
		if (i == 1)
			hw(&l, "rnr_nak_retry_err");
	}
	assert_int_equal(layout_finish(&l), 0);
	while (layout_next(&l, &pos, &r)) {
		assert_int_equal(r.port, 1);
		n++;
	}
	assert_int_equal(n, 3);
	pos = (struct reading_pos){.port = 3, .one_port = true};
	assert_false(layout_next(&l, &pos, &r));
	layout_done(&l);
}

TEST_GROUP(layout)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vendor_counters_of_one_meaning_are_added),
		cmocka_unit_test(bytes_have_one_source),
		cmocka_unit_test(port_counters_are_the_last_resort),
		cmocka_unit_test(outranked_counters_are_not_read),
		cmocka_unit_test(readings_are_in_order),
		cmocka_unit_test(readings_of_one_port),
		cmocka_unit_test(an_empty_layout_is_fine),
		cmocka_unit_test(history_outlives_a_layout),
		cmocka_unit_test(a_reset_counts_for_its_own_port),
		cmocka_unit_test(a_constant_is_always_present),
		cmocka_unit_test(ports_of_one_kind_have_one_shape),
	};

	return test_group_run(tests, NULL, NULL);
}
