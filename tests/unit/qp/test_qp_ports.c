// SPDX-License-Identifier: Apache-2.0
/* Sums of the queue pairs of each port. */
#include "cleanup.h"
#include "qp_ports.h"
#include "test_group.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SECOND UINT64_C(1000000000)

/* A table of queue pairs in the order in which they were added. */
struct rows {
	struct qp qps[16];
	struct qp *items[16];
	struct qp_table table;
};

static struct qp *add(struct rows *r, const char *device, uint32_t port, const char *peer)
{
	struct qp *qp = &r->qps[r->table.n];

	qp_init(qp, device, 100 + (uint32_t)r->table.n);
	qp->type = QP_TYPE_RC;
	qp->port = port;
	if (peer) {
		memset(qp->peer_gid + 10, 0xff, 2);
		memcpy(qp->peer_gid + 12, peer, 4);
	}
	r->items[r->table.n] = qp;
	r->table.items = r->items;
	r->table.n++;
	return qp;
}

static void test_sums(void **state)
{
	struct rows r = {0};
	struct qp_ports p = {0};
	const struct observed_qps *q;

	(void)state;
	add(&r, "a", 1, NULL)->type = QP_TYPE_GSI;
	add(&r, "a", 1, "\x0a\x09\x00\x02")->traffic_class = 106; /* ECT(0) */
	add(&r, "a", 1, "\x0a\x09\x00\x02")->traffic_class = 104; /* not ECT */
	r.qps[1].path_mtu = 1024;
	r.qps[2].path_mtu = 4096;
	add(&r, "a", 1, "\x0a\x09\x00\x03"); /* with an unknown traffic class */
	add(&r, "a", 2, "\x0a\x09\x00\x02")->traffic_class = 2;
	add(&r, "a", 0, NULL);
	add(&r, "b", 1, "\x0a\x09\x00\x02");
	assert_int_equal(qp_ports_build(&p, &r.table, SECOND), 0);
	assert_int_equal(p.n, 4);

	q = qp_ports_find(&p, "a", 1);
	assert_non_null(q);
	assert_true(q->known);
	assert_int_equal(q->count, 3);
	assert_int_equal(q->peers, 2);
	assert_int_equal(q->not_ect, 1);
	assert_int_equal(q->path_mtu, 4096);
	assert_false(q->failures_known);
	assert_int_equal(qp_ports_find(&p, "a", 2)->peers, 1);
	/* not known: 0 not-ECT queue pairs would be a guess */
	assert_false(qp_ports_find(&p, "b", 1)->known);
	assert_null(qp_ports_find(&p, "b", 2));
	assert_null(qp_ports_find(&p, "c", 1));
	assert_null(qp_ports_find(&p, "0", 1));
	qp_ports_done(&p);
}

/* Peer 2 has three queue pairs with one label; 3: two labels; 4: four with labels derived by the
 * driver; 5: one label is unknown. */
static void test_flow_labels(void **state)
{
	static const struct {
		const char *peer;
		int label;
	} qps[] = {{"\x0a\x09\x00\x02", 77}, {"\x0a\x09\x00\x02", 77}, {"\x0a\x09\x00\x02", 77},
		   {"\x0a\x09\x00\x03", 77}, {"\x0a\x09\x00\x03", 78}, {"\x0a\x09\x00\x04", 0},
		   {"\x0a\x09\x00\x04", 0},  {"\x0a\x09\x00\x04", 0},  {"\x0a\x09\x00\x04", 0},
		   {"\x0a\x09\x00\x05", 77}, {"\x0a\x09\x00\x05", -1}, {"\x0a\x09\x00\x05", 77},
		   {"\x0a\x09\x00\x05", 77}};
	struct rows r = {0};
	struct qp_ports p = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(qps); i++)
		add(&r, "a", 1, qps[i].peer)->flow_label = qps[i].label;
	add(&r, "b", 1, "\x0a\x09\x00\x05");
	assert_int_equal(qp_ports_build(&p, &r.table, SECOND), 0);
	assert_true(qp_ports_find(&p, "a", 1)->labels_known);
	assert_int_equal(qp_ports_find(&p, "a", 1)->one_label, 3);
	assert_int_equal(qp_ports_find(&p, "a", 1)->peers, 4);
	assert_false(qp_ports_find(&p, "b", 1)->labels_known);
	qp_ports_done(&p);
}

static struct qp *fail_at(struct qp *qp, uint64_t ns)
{
	qp->failed = true;
	qp->changed_ns = ns;
	return qp;
}

static void test_failures(void **state)
{
	struct rows r = {0};
	struct qp_ports p = {0};
	const struct observed_qps *q;

	(void)state;
	fail_at(add(&r, "a", 1, "\x0a\x09\x00\x02"), 10 * SECOND);
	fail_at(add(&r, "a", 1, "\x0a\x09\x00\x02"), 20 * SECOND);
	add(&r, "a", 1, "\x0a\x09\x00\x03");
	assert_int_equal(qp_ports_build(&p, &r.table, 30 * SECOND), 0);
	q = qp_ports_find(&p, "a", 1);
	assert_true(q->failures_known);
	assert_int_equal(q->failed, 2);
	assert_int_equal(q->failed_peers, 1);
	assert_string_equal(q->peer, "10.9.0.2");
	assert_int_equal(q->peers, 2);
	qp_ports_done(&p);

	/* With several failed peers none is named; a failure is reported for a minute. */
	fail_at(&r.qps[2], 25 * SECOND);
	assert_int_equal(qp_ports_build(&p, &r.table, 30 * SECOND), 0);
	assert_int_equal(p.items[0].qps.failed_peers, 2);
	assert_string_equal(p.items[0].qps.peer, "");
	qp_ports_done(&p);
	assert_int_equal(qp_ports_build(&p, &r.table, 81 * SECOND), 0);
	assert_int_equal(p.items[0].qps.failed, 1);
	assert_string_equal(p.items[0].qps.peer, "10.9.0.3");
	qp_ports_done(&p);
	assert_int_equal(qp_ports_build(&p, &r.table, 86 * SECOND), 0);
	assert_false(p.items[0].qps.failures_known);
	qp_ports_done(&p);
}

static void test_copies(void **state)
{
	struct rows r = {0};
	struct qp_ports p = {0}, copy = {0};
	const struct qp_ports none = {0};

	(void)state;
	add(&r, "a", 1, NULL);
	assert_int_equal(qp_ports_build(&p, &r.table, SECOND), 0);
	assert_int_equal(qp_ports_copy(&copy, &p), 0);
	qp_ports_done(&p);
	assert_int_equal(qp_ports_find(&copy, "a", 1)->count, 1);
	assert_int_equal(qp_ports_copy(&copy, &none), 0);
	assert_null(qp_ports_find(&copy, "a", 1));
	qp_ports_done(&copy);
}

TEST_GROUP(qp_ports)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_flow_labels),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_copies),
	};

	return test_group_run(tests, NULL, NULL);
}
