// SPDX-License-Identifier: Apache-2.0
/* Which failures are reported, with which text, and how often. */
#include "qp_failures.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "event_ring.h"
#include "test_group.h"

static struct qp failed_qp(uint32_t status, int event)
{
	struct qp qp;

	qp_init(&qp, "rxe_a", 17);
	qp.failed = true;
	qp.failed_status = status;
	qp.failed_event = event;
	return qp;
}

static void assert_message(struct qp_failures *f, const struct qp *qp, uint64_t now_ms,
			   const char *message)
{
	struct event e;
	bool detailed;

	qp_failures_report(f, qp, now_ms, &e, &detailed);
	assert_string_equal(e.message, message);
	assert_string_equal(e.reason, "QueuePairFailed");
	assert_int_equal(e.type, EVENT_WARNING);
}

static void test_messages_of_failures(void **state)
{
	static const uint8_t ip4[16] = {[10] = 0xff, [11] = 0xff, [12] = 10, 9, 0, 2};
	static const uint8_t ip6[16] = {0xfd, [15] = 2};
	struct qp_failures *f = calloc(1, sizeof(*f));
	struct qp qp = failed_qp(12, -1);

	(void)state;
	assert_message(
		f, &qp, 0,
		"QP 17 on rxe_a: the peer does not respond (down, unreachable, or packets are lost) (RETRY_EXC_ERR)");
	memcpy(qp.peer_gid, ip4, sizeof(ip4));
	qp.peer_qpn = 18;
	qp.pid = 4711;
	strcpy(qp.comm, "python3");
	assert_message(
		f, &qp, 0,
		"QP 17 on rxe_a to 10.9.0.2 QP 18: the peer does not respond (down, unreachable, or packets are lost) (RETRY_EXC_ERR); python3, pid 4711");
	qp = failed_qp(0, 1);
	memcpy(qp.peer_gid, ip6, sizeof(ip6));
	qp.pid = 7;
	assert_message(
		f, &qp, 0,
		"QP 17 on rxe_a to fd00::2: fatal error of the queue pair on the device (QP_FATAL); pid 7");
	qp = failed_qp(0, -1);
	qp.peer_qpn = 18;
	assert_message(f, &qp, 0,
		       "QP 17 on rxe_a to QP 18: moved to the error state by the kernel "
		       "(MOVED_TO_ERR)");
	qp = failed_qp(99, -1);
	assert_message(f, &qp, 0, "QP 17 on rxe_a: unknown reason (UNKNOWN_ERR)");
	free(f);
}

static void test_events_that_are_failures(void **state)
{
	struct bpf_event_qp_failed e = {.event = -1};
	static const bool fatal[20] = {[0] = true, [1] = true,	[2] = true, [3] = true,
				       [7] = true, [14] = true, [19] = true};

	(void)state;
	for (e.status = 1; e.status < 22; e.status++)
		assert_int_equal(qp_failure_is_one(&e), e.status != QP_STATUS_FLUSHED);
	e.status = 0;
	for (e.event = -1; e.event < 20; e.event++)
		assert_int_equal(qp_failure_is_one(&e), e.event >= 0 && fatal[e.event]);
}

static void test_moves_to_the_error_state(void **state)
{
	struct bpf_event_qp e = {.change = BPF_QP_MODIFIED, .attr_mask = 1, .state = QP_STATE_ERR};
	struct qp qp = failed_qp(0, -1);

	(void)state;
	assert_true(qp_failure_is_move(&qp, &e));
	e.head.pid = 4711; /* modified by its owner */
	assert_false(qp_failure_is_move(&qp, &e));
	e.head.pid = 0;
	e.state = 3;
	assert_false(qp_failure_is_move(&qp, &e));
	e.state = QP_STATE_ERR;
	e.attr_mask = 2;
	assert_false(qp_failure_is_move(&qp, &e));
	e.attr_mask = 1;
	qp.kernel = true; /* owned by the kernel */
	assert_false(qp_failure_is_move(&qp, &e));
}

/* One application's queue pairs fail in a loop for an hour; another application's failure is still
 * listed. */
static void test_a_flood(void **state)
{
	struct qp_failures *f = calloc(1, sizeof(*f));
	struct qp other = failed_qp(13, -1), qp = failed_qp(12, -1);
	struct event_ring ring;
	struct event e;
	uint64_t n_detailed = 0;
	bool detailed;

	(void)state;
	assert_int_equal(event_ring_init(&ring), 0);
	strcpy(other.pod_uid, "other");
	qp_failures_report(f, &other, 0, &e, &detailed);
	event_ring_add(&ring, &e);
	for (uint64_t ms = 0; ms < 3600000; ms += 36) {
		qp.qpn++;
		qp_failures_report(f, &qp, ms, &e, &detailed);
		n_detailed += detailed;
		event_ring_add(&ring, &e);
	}
	assert_int_equal(n_detailed, QP_FAILURE_BURST + 3600000 / QP_FAILURE_PAUSE_MS - 1);
	assert_int_equal(ring.n, n_detailed + 2);
	assert_non_null(strstr(event_ring_at(&ring, 0)->message, "RNR_RETRY_EXC_ERR"));
	assert_string_equal(
		event_ring_at(&ring, ring.n - 1)->message,
		"queue pairs on rxe_a fail repeatedly: the peer does not respond (down, unreachable, or packets are lost) (RETRY_EXC_ERR)");
	assert_int_equal(event_ring_at(&ring, ring.n - 1)->count, 100000 - n_detailed);
	assert_int_equal(f->n_counts, 2);
	assert_int_equal(f->counts[1].n, 100000);
	event_ring_done(&ring);
	free(f);
}

/* After a long time without failures the first few are described in detail again. */
static void test_a_new_burst_is_detailed_again(void **state)
{
	struct qp_failures *f = calloc(1, sizeof(*f));
	struct qp qp = failed_qp(12, -1);
	unsigned n_detailed = 0;
	struct event e;
	bool detailed;

	(void)state;
	for (int i = 0; i < 20; i++)
		qp_failures_report(f, &qp, 0, &e, &detailed);
	assert_false(detailed);
	for (int i = 0; i < 20; i++) {
		qp_failures_report(f, &qp, UINT64_C(1) << 40, &e, &detailed);
		n_detailed += detailed;
	}
	assert_int_equal(n_detailed, QP_FAILURE_BURST);
	free(f);
}

static void test_bounded(void **state)
{
	struct qp_failures *f = calloc(1, sizeof(*f));
	struct qp qp = failed_qp(12, -1);
	uint64_t sum = 0;
	struct event e;
	bool detailed;

	(void)state;
	for (uint32_t i = 0; i < 1000; i++) {
		snprintf(qp.device, sizeof(qp.device), "mlx5_%u", i);
		snprintf(qp.pod_uid, sizeof(qp.pod_uid), "%u", i);
		qp_failures_report(f, &qp, i, &e, &detailed);
		assert_true(detailed); /* the first of its kind */
	}
	assert_int_equal(f->n_kinds, QP_FAILURE_KINDS);
	assert_int_equal(f->n_counts, QP_FAILURE_KINDS);
	for (size_t i = 0; i < f->n_counts; i++)
		sum += f->counts[i].n;
	assert_int_equal(sum, 1000);
	assert_string_equal(f->counts[QP_FAILURE_KINDS - 1].device, "other");
	free(f);
}

TEST_GROUP(qp_failures)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_messages_of_failures),
		cmocka_unit_test(test_events_that_are_failures),
		cmocka_unit_test(test_moves_to_the_error_state),
		cmocka_unit_test(test_a_flood),
		cmocka_unit_test(test_a_new_burst_is_detailed_again),
		cmocka_unit_test(test_bounded),
	};

	return test_group_run(tests, NULL, NULL);
}
