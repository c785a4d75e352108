// SPDX-License-Identifier: Apache-2.0
/* The table of queue pairs, from events and dumps. */
#include "qp_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>

#include "cleanup.h"
#include "faults.h"
#include "qp_words.h"
#include "test_group.h"

enum { STATE = 1, PORT = 1 << 5, AV = 1 << 7, MTU = 1 << 8, PEER = 1 << 20 };
enum { INIT = 1, RTR, RTS };

static struct bpf_event_qp event(const char *device, uint32_t qpn, enum bpf_qp_change change,
				 uint64_t time_ns)
{
	struct bpf_event_qp e = {.qpn = qpn, .change = change, .type = QP_TYPE_RC};

	e.head.kind = BPF_EVENT_QP;
	e.head.pid = 4711;
	e.head.cgroup = 99;
	e.head.time_ns = time_ns;
	strcpy(e.head.comm, "python3");
	strcpy(e.device, device);
	return e;
}

static const struct qp *create(struct qp_table *t, const char *device, uint32_t qpn, uint64_t ns)
{
	struct bpf_event_qp e = event(device, qpn, BPF_QP_CREATED, ns);

	return qp_table_event(t, &e);
}

static const struct qp *move(struct qp_table *t, const char *device, uint32_t qpn, uint32_t state,
			     uint64_t ns)
{
	struct bpf_event_qp e = event(device, qpn, BPF_QP_MODIFIED, ns);

	e.attr_mask = STATE;
	e.state = state;
	return qp_table_event(t, &e);
}

static const struct qp *destroy(struct qp_table *t, const char *device, uint32_t qpn, uint64_t ns)
{
	struct bpf_event_qp e = event(device, qpn, BPF_QP_DESTROYED, ns);

	return qp_table_event(t, &e);
}

static void assert_order(const struct qp_table *t)
{
	for (size_t i = 1; i < t->n; i++)
		assert_true(qp_compare(t->items[i - 1], t->items[i]->device, t->items[i]->qpn) < 0);
}

static void test_the_states_of_a_queue_pair(void **state)
{
	struct bpf_event_qp rtr = event("rxe_a", 17, BPF_QP_MODIFIED, 20);
	struct qp_table t = {0};
	const struct qp *qp;

	(void)state;
	qp = create(&t, "rxe_a", 17, 10);
	assert_int_equal(qp->state, QP_STATE_RESET);
	assert_int_equal(qp->peer_qpn, QP_UNKNOWN);
	assert_int_equal(qp->timeout, -1);
	assert_int_equal(qp->flow_label, -1);
	rtr.attr_mask = STATE | PEER | AV | MTU | PORT;
	rtr.state = RTR;
	rtr.peer_qpn = 18;
	rtr.path_mtu = 5;
	rtr.port = 1;
	rtr.traffic_class = 106;
	rtr.flow_label = 0x12345;
	rtr.timeout = 14; /* not in the mask, so it is ignored */
	rtr.peer_gid[15] = 2;
	rtr.head.pid = 1; /* another process may modify a queue pair */
	qp = qp_table_event(&t, &rtr);
	assert_int_equal(qp->state, RTR);
	assert_int_equal(qp->peer_qpn, 18);
	assert_int_equal(qp->path_mtu, 4096);
	assert_int_equal(qp->traffic_class, 106);
	assert_int_equal(qp->flow_label, 0x12345);
	assert_int_equal(qp->timeout, -1);
	assert_int_equal(qp->pid, 4711);
	assert_int_equal(qp->created_ns, 10);
	assert_int_equal(qp->changed_ns, 20);
	qp = destroy(&t, "rxe_a", 17, 30);
	assert_int_equal(qp->peer_qpn, 18);
	assert_int_equal(t.n, 0);
	assert_null(qp_table_find(&t, "rxe_a", 17));
	assert_null(destroy(&t, "rxe_a", 17, 31));
	qp_table_done(&t);
}

/* A failed call changes nothing. */
static void test_failed_calls(void **state)
{
	struct bpf_event_qp e = event("rxe_a", 17, BPF_QP_CREATED, 1);
	struct qp_table t = {0};

	(void)state;
	e.result = -ENOMEM;
	assert_null(qp_table_event(&t, &e));
	assert_int_equal(t.n + t.generation, 0);
	qp_table_done(&t);
}

static void test_sorted(void **state)
{
	struct qp_table t = {0};

	(void)state;
	srand(7);
	for (int i = 0; i < 3000; i++) {
		const char *device = rand() & 1 ? "mlx5_0" : "mlx5_1";
		uint32_t qpn = (uint32_t)rand() % 256;

		if (rand() % 3)
			assert_non_null(create(&t, device, qpn, 1));
		else
			destroy(&t, device, qpn, 1);
		if (i % 100 == 0)
			assert_order(&t);
	}
	assert_order(&t);
	for (size_t i = 0; i < t.n; i++)
		assert_int_equal(qp_table_index(&t, t.items[i]->device, t.items[i]->qpn), i);
	qp_table_done(&t);
}

static void test_bounded(void **state)
{
	struct qp_table t = {0};

	(void)state;
	for (uint32_t i = 0; i < QP_TABLE_MAX; i++)
		assert_non_null(create(&t, "rxe_a", i, 1));
	assert_null(create(&t, "rxe_a", QP_TABLE_MAX, 1));
	assert_int_equal(t.dropped, 1);
	assert_non_null(create(&t, "rxe_a", 5, 2)); /* already in the table */
	destroy(&t, "rxe_a", 5, 3);
	assert_non_null(create(&t, "rxe_a", QP_TABLE_MAX, 4));
	qp_table_done(&t);
}

static void test_a_reused_number(void **state)
{
	struct bpf_event_qp_failed failure = {.qpn = 17, .status = 12, .event = -1};
	struct process_owner owner = {.pid = 4711, .pod_uid = "u"};
	struct qp_table t = {0};
	const struct qp *qp;
	bool first;

	(void)state;
	strcpy(failure.device, "rxe_a");
	create(&t, "rxe_a", 17, 10);
	qp_table_name(&t, &owner, 1);
	assert_non_null(qp_table_failed(&t, &failure, &first));
	assert_true(first);
	qp = qp_table_failed(&t, &failure, &first);
	assert_false(first);
	assert_string_equal(qp->pod_uid, "u");
	qp = create(&t, "rxe_a", 17, 20); /* the destruction of the previous one was not reported */
	assert_string_equal(qp->pod_uid, "");
	assert_false(qp->owner_known);
	assert_false(qp->failed);
	qp_table_done(&t);
}

static void test_reset_clears_a_failure(void **state)
{
	struct bpf_event_qp_failed failure = {.qpn = 17, .event = 1};
	struct qp_table t = {0};
	const struct qp *qp;
	bool first;

	(void)state;
	strcpy(failure.device, "rxe_a");
	/* queue pairs that are not in the table are not added */
	assert_null(qp_table_failed(&t, &failure, &first));
	assert_int_equal(t.n, 0);
	create(&t, "rxe_a", 17, 4);
	qp = qp_table_failed(&t, &failure, &first);
	assert_int_equal(qp->failed_event, 1);
	qp = move(&t, "rxe_a", 17, QP_STATE_RESET, 5);
	assert_false(qp->failed);
	assert_int_equal(qp->failed_event, -1);
	qp_table_failed(&t, &failure, &first);
	assert_true(first);
	qp_table_done(&t);
}

/* --- dumps ------------------------------------------------------------------------------------ */

static struct nldev_qp entry(const char *device, uint32_t qpn, uint32_t state, uint32_t pid)
{
	struct nldev_qp d = {.qpn = qpn,
			     .peer_qpn = NLDEV_QP_UNKNOWN,
			     .type = QP_TYPE_RC,
			     .state = state,
			     .pid = pid};

	strcpy(d.device, device);
	return d;
}

static void test_a_dump_replaces(void **state)
{
	const struct nldev_qp list[] = {entry("rxe_b", 3, RTS, 5), entry("rxe_a", 17, RTS, 4711),
					entry("rxe_a", 17, RTS, 4711), entry("rxe_a", 1, INIT, 0)};
	struct qp_table t = {0};
	const struct qp *qp;

	(void)state;
	create(&t, "rxe_a", 17, 10);
	create(&t, "rxe_a", 18, 10); /* destroyed without an event */
	qp_table_dump_begins(&t);
	assert_int_equal(qp_table_replace(&t, list, ARRAY_SIZE(list), 20), 0);
	assert_int_equal(t.n, 3);
	assert_order(&t);
	qp = qp_table_find(&t, "rxe_a", 17);
	assert_int_equal(qp->state, RTS);
	assert_int_equal(qp->created_ns, 10); /* values from events are kept */
	assert_string_equal(qp->comm, "python3");
	assert_int_equal(qp_table_find(&t, "rxe_b", 3)->pid, 5);
	/* the array can still grow */
	for (uint32_t i = 100; i < 120; i++)
		assert_non_null(create(&t, "rxe_a", i, 30));
	assert_order(&t);
	qp_table_done(&t);
}

/* The queue pairs of a device that was not dumped are kept. */
static void test_a_dump_of_some_devices(void **state)
{
	const struct nldev_qp list[] = {entry("rxe_b", 3, RTS, 4711)};
	const char devices[][RDMA_NAME_SIZE] = {"rxe_b"};
	struct qp_table t = {0};

	(void)state;
	create(&t, "rxe_a", 17, 10);
	create(&t, "rxe_b", 2, 10);
	create(&t, "rxe_c", 1, 10);
	assert_int_equal(qp_table_replace_some(&t, list, 1, 20, devices, 1), 0);
	assert_int_equal(t.n, 3);
	assert_order(&t);
	assert_non_null(qp_table_find(&t, "rxe_a", 17));
	assert_null(qp_table_find(&t, "rxe_b", 2));
	assert_non_null(qp_table_find(&t, "rxe_b", 3));
	assert_non_null(qp_table_find(&t, "rxe_c", 1));
	assert_int_equal(qp_table_replace_some(&t, NULL, 0, 20, NULL, 0), 0);
	assert_int_equal(t.n, 3);
	qp_table_done(&t);
}

static void test_events_during_a_dump(void **state)
{
	const struct nldev_qp list[] = {entry("rxe_a", 1, RTS, 5), entry("rxe_a", 2, RTS, 5),
					entry("rxe_a", 3, RTS, 5)};
	struct qp_table t = {0};

	(void)state;
	create(&t, "rxe_a", 1, 10);
	create(&t, "rxe_a", 2, 10);
	qp_table_dump_begins(&t);
	destroy(&t, "rxe_a", 1, 25); /* destroyed after the dump has read it */
	move(&t, "rxe_a", 2, QP_STATE_ERR, 25);
	create(&t, "rxe_a", 4, 25); /* created after the dump has passed */
	assert_int_equal(qp_table_replace(&t, list, ARRAY_SIZE(list), 20), 0);
	assert_null(qp_table_find(&t, "rxe_a", 1));
	assert_int_equal(qp_table_find(&t, "rxe_a", 2)->state, QP_STATE_ERR);
	assert_int_equal(qp_table_find(&t, "rxe_a", 3)->state, RTS);
	assert_non_null(qp_table_find(&t, "rxe_a", 4));
	assert_false(t.dumping);
	qp_table_done(&t);
}

/* While the kernel destroys a queue pair, a dump may still contain it. */
static void test_a_queue_pair_that_is_being_destroyed(void **state)
{
	const struct nldev_qp list[] = {entry("rxe_a", 1, RTS, 5), entry("rxe_a", 2, RTS, 5)};
	const uint64_t late = 25 + QP_DESTROYING_NS;
	struct qp_table t = {0};

	(void)state;
	create(&t, "rxe_a", 1, 10);
	destroy(&t, "rxe_a", 1, 25);
	destroy(&t, "rxe_a", 2, 25);
	create(&t, "rxe_a", 2, 26); /* created again with the same number */
	qp_table_dump_begins(&t);
	assert_int_equal(qp_table_replace(&t, list, ARRAY_SIZE(list), 30), 0);
	assert_null(qp_table_find(&t, "rxe_a", 1));
	assert_non_null(qp_table_find(&t, "rxe_a", 2));
	qp_table_dump_begins(&t);
	assert_int_equal(qp_table_replace(&t, list, ARRAY_SIZE(list), late), 0);
	/* counts as a new one, whose creation was not reported */
	assert_non_null(qp_table_find(&t, "rxe_a", 1));
	qp_table_done(&t);
}

static void test_too_much_during_a_dump(void **state)
{
	struct qp_table t = {0};

	(void)state;
	create(&t, "rxe_a", 1, 10);
	qp_table_dump_begins(&t);
	for (uint32_t i = 0; i < 2 * QP_DESTROYED_MAX; i++)
		destroy(&t, "rxe_b", i, 11);
	assert_int_equal(qp_table_replace(&t, NULL, 0, 10), -EAGAIN);
	assert_int_equal(t.n, 1);
	qp_table_dump_begins(&t);
	assert_int_equal(qp_table_replace(&t, NULL, 0, 20), 0);
	assert_int_equal(t.n, 0);
	qp_table_done(&t);
}

/* The number belongs to another process now, without an event. */
static void test_a_dump_of_another_process(void **state)
{
	const struct nldev_qp other = entry("rxe_a", 17, RTS, 6000);
	const struct process_owner owner = {.pid = 4711, .pod_uid = "u"};
	struct qp_table t = {0};

	(void)state;
	create(&t, "rxe_a", 17, 10);
	qp_table_name(&t, &owner, 1);
	assert_int_equal(qp_table_replace(&t, &other, 1, 20), 0);
	assert_int_equal(t.items[0]->pid, 6000);
	assert_string_equal(t.items[0]->pod_uid, "");
	qp_table_done(&t);
}

static void test_a_kernel_user(void **state)
{
	struct nldev_qp own = entry("mlx5_0", 1, RTS, 0);
	struct qp_table t = {0};

	(void)state;
	own.type = QP_TYPE_GSI;
	strcpy(own.owner, "a name that is longer than comm");
	assert_int_equal(qp_table_replace(&t, &own, 1, 20), 0);
	assert_true(t.items[0]->kernel);
	assert_true(t.items[0]->owner_known);
	assert_string_equal(t.items[0]->comm, "a name that is ");
	qp_table_done(&t);
}

static void test_a_dump_larger_than_the_table(void **state)
{
	struct nldev_qp *list = calloc(QP_TABLE_MAX + 10, sizeof(*list));
	struct qp_table t = {0};

	(void)state;
	for (uint32_t i = 0; i < QP_TABLE_MAX + 10; i++)
		list[i] = entry("mlx5_0", i, RTS, 1);
	assert_int_equal(qp_table_replace(&t, list, QP_TABLE_MAX + 10, 20), 0);
	assert_int_equal(t.n, QP_TABLE_MAX);
	assert_int_equal(t.dropped, 10);
	free(list);
	qp_table_done(&t);
}

static void test_owners(void **state)
{
	const struct process_owner owners[] = {{.pid = 1, .pod_uid = "a"},
					       {.pid = 4711, .pod_uid = "b"}};
	struct qp_table t = {0};

	(void)state;
	create(&t, "rxe_a", 1, 1);
	qp_table_name(&t, owners, 1);
	assert_false(t.items[0]->owner_known);
	qp_table_name(&t, owners, 2);
	assert_string_equal(t.items[0]->pod_uid, "b");
	create(&t, "rxe_a", 2, 1);
	qp_table_name_one(&t, t.items[1], &owners[0]);
	assert_string_equal(t.items[1]->pod_uid, "a");
	qp_table_done(&t);
}

static void test_without_memory(void **state)
{
	const struct nldev_qp d = entry("rxe_a", 17, RTS, 1);
	struct qp_table t = {0};

	(void)state;
	for (long i = 0; i < 4; i++) {
		faults_alloc(i);
		qp_table_event(&t, &(struct bpf_event_qp){.qpn = 1, .device = "rxe_a"});
		qp_table_replace(&t, &d, 1, 20);
		faults_end();
	}
	qp_table_done(&t);
}

static void test_names_of_types_and_states(void **state)
{
	(void)state;
	assert_string_equal(qp_type_name(2), "RC");
	assert_string_equal(qp_type_name(4), "UD");
	assert_string_equal(qp_type_name(8), "RAW_PACKET");
	assert_string_equal(qp_type_name(10), "XRC_TGT");
	assert_string_equal(qp_type_name(0xff), "DRIVER");
	assert_string_equal(qp_type_name(6), "unknown");
	assert_string_equal(qp_type_name(UINT32_MAX), "unknown");
	assert_string_equal(qp_state_name(3), "RTS");
	assert_string_equal(qp_state_name(6), "ERR");
	assert_string_equal(qp_state_name(7), "unknown");
	assert_string_equal(wc_status_name(12), "RETRY_EXC_ERR");
	assert_string_equal(wc_status_name(21), "GENERAL_ERR");
	assert_string_equal(wc_status_name(22), "UNKNOWN_ERR");
	assert_string_equal(ib_event_name(1), "QP_FATAL");
	assert_string_equal(ib_event_name(19), "WQ_FATAL");
	assert_string_equal(ib_event_name(-1), "UNKNOWN_EVENT");
}

TEST_GROUP(qp_table)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_states_of_a_queue_pair),
		cmocka_unit_test(test_failed_calls),
		cmocka_unit_test(test_sorted),
		cmocka_unit_test(test_bounded),
		cmocka_unit_test(test_a_reused_number),
		cmocka_unit_test(test_reset_clears_a_failure),
		cmocka_unit_test(test_a_dump_replaces),
		cmocka_unit_test(test_a_dump_of_some_devices),
		cmocka_unit_test(test_events_during_a_dump),
		cmocka_unit_test(test_a_queue_pair_that_is_being_destroyed),
		cmocka_unit_test(test_too_much_during_a_dump),
		cmocka_unit_test(test_a_dump_of_another_process),
		cmocka_unit_test(test_a_kernel_user),
		cmocka_unit_test(test_a_dump_larger_than_the_table),
		cmocka_unit_test(test_owners),
		cmocka_unit_test(test_without_memory),
		cmocka_unit_test(test_names_of_types_and_states),
	};

	return test_group_run(tests, NULL, NULL);
}
