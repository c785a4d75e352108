// SPDX-License-Identifier: Apache-2.0
/* Queue pairs in the loop: events, pods found in a synthetic /proc, and reported failures. */
#include "qps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <fcntl.h>
#include <unistd.h>
#include <uv.h>

#include "api_qps.h"
#include "host_builder.h"
#include "loop_helpers.h"
#include "owners.h"
#include "test_group.h"
#include "tmptree.h"

#define UID "8dbc5577-d0e2-4706-8787-57d52c03ddf2"

struct world {
	uv_loop_t loop;
	char *dir;
	struct hw hw;
	struct inventory inventory;
	struct sandbox pod;
	struct sandbox_list pods;
	struct owners *owners;
	struct qps *qps;
	bool events;
	struct event last;
	unsigned n_events, n_done;
};

static void on_event(const struct event *e, void *arg)
{
	struct world *w = arg;

	w->last = *e;
	w->n_events++;
}

static void on_named(const struct process_owner *owners, size_t n, void *arg)
{
	qps_named(((struct world *)arg)->qps, owners, n);
}

static const struct sandbox_list *known_pods(void *arg)
{
	return &((struct world *)arg)->pods;
}

static bool events_come(void *arg)
{
	return ((struct world *)arg)->events;
}

static void put_process(struct world *w, unsigned pid, const char *cgroup)
{
	char path[64];

	snprintf(path, sizeof(path), "%u/cgroup", pid);
	tmptree_write(w->dir, path, "%s", cgroup);
	snprintf(path, sizeof(path), "%u/comm", pid);
	tmptree_write(w->dir, path, "python3\n");
}

static struct world *start(void)
{
	struct world *w = calloc(1, sizeof(*w));
	const struct owners_hooks owners_hooks = {
		.named = on_named, .event = on_event, .sandboxes = known_pods, .arg = w};
	const struct qps_hooks hooks = {.sandboxes = known_pods, .events = events_come, .arg = w};
	struct err e;

	w->dir = tmptree_new();
	w->hw = (struct hw){.sys_fd = -1, .dev_fd = -1, .live = true};
	w->hw.proc_fd = open(w->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	put_process(w, 4711, "0::/kubepods/burstable/pod" UID "/x\n");
	build_rdma(&w->inventory.host, "rxe_a", "0000:03:00.2");
	strcpy(w->pod.namespace, "train");
	strcpy(w->pod.pod, "job-7");
	strcpy(w->pod.uid, UID);
	w->pods = (struct sandbox_list){.items = &w->pod, .n = 1, .known = true};
	w->events = true;
	assert_int_equal(uv_loop_init(&w->loop), 0);
	assert_int_equal(owners_open(&w->owners, &w->loop, &w->hw, &owners_hooks, &e), 0);
	assert_int_equal(qps_open(&w->qps, &w->loop, &w->hw, &w->inventory, w->owners, &hooks, &e),
			 0);
	return w;
}

static void stop(struct world *w)
{
	qps_close(w->qps);
	owners_close(w->owners);
	assert_int_equal(loop_end(&w->loop), 0);
	close(w->hw.proc_fd);
	host_done(&w->inventory.host);
	tmptree_free(w->dir);
	free(w);
}

static bool has_read(void *arg)
{
	struct world *w = arg;
	struct qp_sources sources;
	struct qps_status status;

	qps_get_sources(w->qps, &sources, &status);
	return status.read_ms || status.error[0];
}

/* Waits for the first dump, whose result depends on this machine. */
static struct world *start_read(void)
{
	struct world *w = start();

	assert_true(loop_until(&w->loop, has_read, w, PATIENCE_MS));
	return w;
}

static struct bpf_event_qp qp_event(uint32_t qpn, enum bpf_qp_change change, uint32_t pid)
{
	struct bpf_event_qp e = {.qpn = qpn, .change = change, .type = QP_TYPE_RC};

	e.head.kind = BPF_EVENT_QP;
	e.head.pid = pid;
	e.head.time_ns = uv_hrtime();
	e.head.cgroup = 7;
	strcpy(e.head.comm, "python3");
	strcpy(e.device, "rxe_a");
	return e;
}

static void create(struct world *w, uint32_t qpn, uint32_t pid)
{
	struct bpf_event_qp e = qp_event(qpn, BPF_QP_CREATED, pid);

	qps_event(w->qps, &e.head);
}

static void break_qp(struct world *w, uint32_t qpn, uint32_t status)
{
	struct bpf_event_qp_failed e = {.qpn = qpn, .status = status, .event = -1};

	e.head.kind = BPF_EVENT_QP_FAILED;
	e.head.time_ns = uv_hrtime();
	strcpy(e.device, "rxe_a");
	qps_event(w->qps, &e.head);
}

static bool has_event(void *arg)
{
	return ((struct world *)arg)->n_events > 0;
}

static bool is_named(void *arg)
{
	const struct qp *qp = qp_table_find(qps_table(((struct world *)arg)->qps), "rxe_a", 17);

	return qp && qp->owner_known;
}

static void test_a_failure_names_its_pod(void **state)
{
	struct world *w = start_read();

	(void)state;
	create(w, 17, 4711);
	assert_true(loop_until(&w->loop, is_named, w, PATIENCE_MS));
	break_qp(w, 17, 12);
	assert_int_equal(w->n_events, 1); /* without a delay */
	assert_string_equal(w->last.namespace, "train");
	assert_string_equal(w->last.pod, "job-7");
	assert_string_equal(w->last.device, "0000:03:00.2");
	assert_non_null(strstr(w->last.message, "QP 17 on rxe_a: the peer does not respond"));
	assert_non_null(strstr(w->last.message, "python3, pid 4711"));
	assert_true(w->last.first_ms > 0);
	break_qp(w, 17, 5);  /* completions of its other requests */
	break_qp(w, 17, 12); /* the peer's completion */
	assert_int_equal(w->n_events, 1);
	assert_int_equal(qps_failures(w->qps)->counts[0].n, 1);
	stop(w);
}

/* A failed queue pair is not added to the table, because it would never be removed again. */
static void test_a_failed_queue_pair_that_is_not_in_the_table(void **state)
{
	struct world *w = start_read();
	size_t n = qps_table(w->qps)->n;

	(void)state;
	break_qp(w, 17, 12);
	assert_int_equal(w->n_events, 1);
	assert_non_null(strstr(w->last.message, "QP 17 on rxe_a"));
	assert_int_equal(qps_table(w->qps)->n, n);
	stop(w);
}

/* It failed before its owner had been looked up. */
static void test_a_failure_waits_for_its_pod(void **state)
{
	struct world *w = start_read();

	(void)state;
	create(w, 17, 4711);
	break_qp(w, 17, 13);
	assert_int_equal(w->n_events, 0);
	assert_true(loop_until(&w->loop, has_event, w, PATIENCE_MS));
	assert_string_equal(w->last.pod, "job-7");
	stop(w);
}

static void test_a_process_that_has_ended(void **state)
{
	struct world *w = start_read();

	(void)state;
	create(w, 17, 4712);
	break_qp(w, 17, 13);
	assert_true(loop_until(&w->loop, has_event, w, PATIENCE_MS));
	assert_string_equal(w->last.pod, "");
	assert_non_null(strstr(w->last.message, "pid 4712"));
	stop(w);
}

static void test_without_a_runtime_the_uid_is_reported(void **state)
{
	struct world *w = start_read();

	(void)state;
	w->pods.n = 0;
	create(w, 17, 4711);
	assert_true(loop_until(&w->loop, is_named, w, PATIENCE_MS));
	break_qp(w, 17, 12);
	assert_string_equal(w->last.pod, "");
	assert_non_null(strstr(w->last.message, "; pod " UID));
	stop(w);
}

/* The pid now belongs to a process in another cgroup. */
static void test_a_reused_pid(void **state)
{
	struct world *w = start_read();
	struct bpf_event_qp e;

	(void)state;
	create(w, 17, 4711);
	assert_true(loop_until(&w->loop, is_named, w, PATIENCE_MS));
	put_process(w, 4711, "0::/system.slice/x.service\n");
	/* the event has the same cgroup, so the owner is not looked up again */
	create(w, 18, 4711);
	assert_string_equal(qp_table_find(qps_table(w->qps), "rxe_a", 18)->pod_uid, UID);
	e = qp_event(17, BPF_QP_CREATED, 4711);
	e.head.cgroup = 8;
	qps_event(w->qps, &e.head);
	assert_false(is_named(w));
	assert_true(loop_until(&w->loop, is_named, w, PATIENCE_MS));
	assert_string_equal(qp_table_find(qps_table(w->qps), "rxe_a", 17)->pod_uid, "");
	stop(w);
}

static void test_an_error_state_set_by_the_kernel(void **state)
{
	struct world *w = start_read();
	struct bpf_event_qp e = qp_event(17, BPF_QP_MODIFIED, 4711);

	(void)state;
	create(w, 17, 4711);
	assert_true(loop_until(&w->loop, is_named, w, PATIENCE_MS));
	e.attr_mask = 1;
	e.state = QP_STATE_ERR;
	qps_event(w->qps, &e.head); /* requested by its owner */
	assert_int_equal(w->n_events, 0);
	e.head.pid = 0;
	qps_event(w->qps, &e.head);
	assert_int_equal(w->n_events, 1);
	assert_non_null(strstr(w->last.message, "MOVED_TO_ERR"));
	stop(w);
}

/* Thousands of failures at once are all reported, even beyond the table's size. */
static bool are_reported(void *arg)
{
	return ((struct world *)arg)->n_events == 5000;
}

static void test_a_flood_of_failures(void **state)
{
	struct world *w = start_read();

	(void)state;
	for (uint32_t i = 0; i < 5000; i++) {
		struct bpf_event_qp gone = qp_event(17, BPF_QP_DESTROYED, 4711);

		create(w, 17, 10000 + i);
		break_qp(w, 17, 12);
		qps_event(w->qps, &gone.head);
	}
	assert_int_equal(qps_table(w->qps)->n, 0);
	assert_true(loop_until(&w->loop, are_reported, w, PATIENCE_MS));
	assert_non_null(strstr(w->last.message, "repeatedly"));
	stop(w);
}

static void on_done(uint64_t now_ms, void *arg)
{
	(void)now_ms;
	((struct world *)arg)->n_done++;
}

static bool is_done(void *arg)
{
	return ((struct world *)arg)->n_done == 2;
}

static bool has_done(void *arg)
{
	return ((struct world *)arg)->n_done > 0;
}

static void test_refresh(void **state)
{
	/* the first dump is running, so that both requests wait for it */
	struct world *w = start();

	(void)state;
	assert_int_equal(qps_refresh(w->qps, on_done, w), 0); /* with events the table is current */
	w->events = false;
	assert_int_equal(qps_refresh(w->qps, on_done, w), 1);
	assert_int_equal(qps_refresh(w->qps, on_done, w), 1);
	assert_int_equal(w->n_done, 0);
	assert_true(loop_until(&w->loop, has_done, w, PATIENCE_MS));
	assert_in_range(w->n_done, 1, 2); /* one per iteration; a delayed loop may run two */
	assert_true(loop_until(&w->loop, is_done, w, PATIENCE_MS));
	/* the last read, or attempt, was just now */
	assert_int_equal(qps_refresh(w->qps, on_done, w), 0);
	stop(w);
}

/* Without events an old table is read again; the loop's clock is set forward for one request. */
static void test_an_old_table_is_read_again(void **state)
{
	struct world *w = start_read();

	(void)state;
	w->events = false;
	assert_int_equal(qps_refresh(w->qps, on_done, w), 0);
	w->loop.time += 61000;
	assert_int_equal(qps_refresh(w->qps, on_done, w), 1);
	assert_true(loop_until(&w->loop, has_done, w, PATIENCE_MS));
	stop(w);
}

static void test_closing_ends_a_refresh(void **state)
{
	struct world *w = start();
	unsigned *n = &w->n_done;

	(void)state;
	create(w, 17, 4711);
	break_qp(w, 17, 12);
	w->events = false;
	assert_int_equal(qps_refresh(w->qps, on_done, w), 1);
	qps_close(w->qps);
	assert_int_equal(*n, 1);
	w->qps = NULL;
	stop(w);
}

static void test_null_is_accepted(void **state)
{
	(void)state;
	qps_event(NULL, NULL);
	qps_update(NULL);
	qps_named(NULL, NULL, 0);
	qps_close(NULL);
}

TEST_GROUP(qps)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_failure_names_its_pod),
		cmocka_unit_test(test_a_failure_waits_for_its_pod),
		cmocka_unit_test(test_a_failed_queue_pair_that_is_not_in_the_table),
		cmocka_unit_test(test_a_process_that_has_ended),
		cmocka_unit_test(test_without_a_runtime_the_uid_is_reported),
		cmocka_unit_test(test_a_reused_pid),
		cmocka_unit_test(test_an_error_state_set_by_the_kernel),
		cmocka_unit_test(test_a_flood_of_failures),
		cmocka_unit_test(test_refresh),
		cmocka_unit_test(test_an_old_table_is_read_again),
		cmocka_unit_test(test_closing_ends_a_refresh),
		cmocka_unit_test(test_null_is_accepted),
	};

	return test_group_run(tests, NULL, NULL);
}
