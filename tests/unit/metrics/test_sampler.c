// SPDX-License-Identifier: Apache-2.0
/* The sampler in a loop: when it samples, what it publishes, and how it ends. The pool of workers
 * has one thread here, which a test can block, so that a sample stays in flight as long as the test
 * needs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "cleanup.h"
#include "diagnosis_report.h"
#include "fake_packet_port.h"
#include "loop_helpers.h"
#include "packet_ports.h"
#include "page_text.h"
#include "report_reader.h"
#include "sampler.h"
#include "sysfs_tree.h"
#include "test_group.h"
#include "tmptree.h"

#define HOUR_MS		3600000
/* minimum interval between two judged samples, unless a link has changed */
#define JUDGED_EVERY_NS 500000000
#define CNP_SENT	"roce_cnp_sent_packets_total{device=\"%s\",port=\"1\",source=\"hw\"} %s\n"

struct fixture {
	uv_loop_t loop;
	char *tree;
	struct hw hw;
	struct inventory inventory;
	struct self_counters self;
	struct sampler *sampler;
	struct page *page; /* the last published page, NULL = none yet */
	unsigned described, published;
	unsigned wanted; /* see until_published() */
	unsigned judged;
	enum port_watch watch;	      /* of the first port in the last report */
	bool has_marks;		      /* no port lacks the series of marks */
	struct packet_ports *packets; /* NULL = no packets are counted */
	struct fake_packet_ports fake;
	const struct thresholds *limits; /* NULL = nothing is judged */
	bool port_counters;
	bool wants_no_page;
	unsigned pageless;	/* samples without a page */
	uv_timer_t marking;	/* its data is NULL unless a test marks packets */
	unsigned long received; /* packets */
	/* A worker that blocks until let_go(). */
	uv_work_t blocker;
	uv_sem_t go;
	bool blocked;
};

static void describe(struct self_metrics *m, void *arg)
{
	struct fixture *f = arg;

	m->inventory_generation = 1000 + ++f->described;
}

static void on_page(struct page *page, void *arg)
{
	struct fixture *f = arg;

	page_unref(f->page);
	f->page = page ? page_ref(page) : NULL;
	f->pageless += !page;
	f->published++;
}

/* Called before the page of the same sample is published. */
static void on_diagnosed(const struct diagnosis_report *report, void *arg)
{
	struct fixture *f = arg;

	assert_true(f->judged <= f->published);
	assert_true(report->n_ports > 0);
	assert_string_equal(report->ports[0].device, "mlx5_0");
	f->watch = report->ports[0].watch;
	f->has_marks = true;
	for (size_t i = 0; i < report->n_ports; i++) {
		const struct undecided_list *u = report->ports[i].undecided;

		for (size_t k = 0; u && k < u->n; k++)
			f->has_marks &= u->items[k].missing != SERIES_CE;
	}
	f->judged++;
}

static void add_device(struct fixture *f, const char *name, const char *value)
{
	char path[128];

	snprintf(path, sizeof(path), "class/infiniband/%s/ports/1/hw_counters/np_cnp_sent", name);
	tmptree_write(f->tree, path, "%s\n", value);
}

static void scan_tree(struct fixture *f)
{
	struct scan scan;

	hw_scan(&f->hw, SCAN_ALL, &scan);
	inventory_apply(&f->inventory, &scan, 1);
	scan_done(&scan);
}

static struct packet_view *view_packets(void *arg)
{
	return packet_ports_view(((struct fixture *)arg)->packets);
}

static bool wants_page(void *arg)
{
	return !((struct fixture *)arg)->wants_no_page;
}

static void open_sampler(struct fixture *f, uint32_t interval_ms)
{
	const struct sampler_opts opts = {.interval_ms = interval_ms,
					  .counters.port_counters = f->port_counters,
					  .limits = f->limits};
	const struct sampler_hooks hooks = {.describe = describe,
					    .packets = view_packets,
					    .wants_page = wants_page,
					    .diagnosed = f->limits ? on_diagnosed : NULL,
					    .done = on_page,
					    .arg = f};
	struct err e = {0};

	assert_int_equal(sampler_open(&f->sampler, &f->loop, &f->hw, &f->inventory, &f->self, &opts,
				      &hooks, &e),
			 0);
}

static void close_sampler(struct fixture *f)
{
	sampler_close(f->sampler);
	f->sampler = NULL;
}

/* --- a busy worker ---------------------------------------------------------------------------- */

static void wait_on_worker(uv_work_t *work)
{
	uv_sem_wait(&((struct fixture *)work->data)->go);
}

static void on_let_go(uv_work_t *work, int status)
{
	((struct fixture *)work->data)->blocked = false;
	assert_int_equal(status, 0);
}

static void block_worker(struct fixture *f)
{
	f->blocker.data = f;
	f->blocked = true;
	assert_int_equal(uv_queue_work(&f->loop, &f->blocker, wait_on_worker, on_let_go), 0);
}

static void let_go(struct fixture *f)
{
	uv_sem_post(&f->go);
}

/* --- setup ------------------------------------------------------------------------------------ */

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->tree = tmptree_new();
	f->hw = sysfs_tree_open(f->tree);
	assert_int_equal(uv_loop_init(&f->loop), 0);
	assert_int_equal(uv_sem_init(&f->go, 0), 0);
	add_device(f, "mlx5_0", "42");
	scan_tree(f);
	*state = f;
	return 0;
}

/* Asserts that the test has left nothing open. */
static int teardown(void **state)
{
	struct fixture *f = *state;

	sampler_close(f->sampler);
	packet_ports_close(f->packets);
	if (f->marking.data)
		uv_close((uv_handle_t *)&f->marking, NULL);
	if (f->blocked) /* the test failed before let_go() */
		let_go(f);
	assert_int_equal(loop_end(&f->loop), 0);
	fake_packet_ports = NULL;
	uv_sem_destroy(&f->go);
	page_unref(f->page);
	inventory_done(&f->inventory);
	hw_close(&f->hw);
	tmptree_free(f->tree);
	free(f);
	return 0;
}

/* --- waiting ---------------------------------------------------------------------------------- */

static bool is_published(void *arg)
{
	const struct fixture *f = arg;

	return f->published >= f->wanted;
}

static void until_published(struct fixture *f, unsigned n)
{
	f->wanted = n;
	assert_true(loop_until(&f->loop, is_published, f, PATIENCE_MS));
}

static bool shows(const struct fixture *f, const char *fmt, const char *device, const char *value)
{
	AUTO_FREE char *text = page_text(f->page, METRICS_PROMETHEUS, NULL);
	char line[128];

	snprintf(line, sizeof(line), fmt, device, value);
	return strstr(text, line) != NULL;
}

/* --- tests ------------------------------------------------------------------------------------ */

static void test_a_wake_publishes_a_page(void **state)
{
	struct fixture *f = *state;

	open_sampler(f, HOUR_MS);
	sampler_wake(f->sampler);
	until_published(f, 1);
	assert_true(shows(f, CNP_SENT, "mlx5_0", "42"));
	/* The daemon's state is requested before the sample, and its result counted afterwards. */
	assert_true(shows(f, "rocelet_inventory_generation %s%s\n", "", "1001"));
	assert_int_equal(f->self.samples, 1);
}

/* The next sample copies from the last page; older pages are released. */
static void test_the_sampler_keeps_one_page(void **state)
{
	struct fixture *f = *state;
	struct page *first;

	open_sampler(f, HOUR_MS);
	sampler_wake(f->sampler);
	until_published(f, 1);
	first = page_ref(f->page);
	assert_int_equal(first->refs, 3);
	sampler_wake(f->sampler);
	until_published(f, 2);
	assert_int_equal(first->refs, 1);
	assert_true(shows(f, CNP_SENT, "mlx5_0", "42"));
	page_unref(first);
}

static void test_pages_are_rendered_on_demand(void **state)
{
	struct fixture *f = *state;
	struct page *first;

	open_sampler(f, HOUR_MS);
	sampler_wake(f->sampler);
	until_published(f, 1);
	first = page_ref(f->page);
	f->wants_no_page = true;
	sampler_wake(f->sampler);
	until_published(f, 2);
	assert_int_equal(f->pageless, 1);
	assert_null(f->page);
	assert_int_equal(first->refs, 1); /* the sampler keeps no reference, either */
	page_unref(first);
	f->wants_no_page = false;
	sampler_wake(f->sampler);
	until_published(f, 3);
	assert_true(shows(f, CNP_SENT, "mlx5_0", "42"));
}

static bool is_judged_healthy(void *arg)
{
	return ((struct fixture *)arg)->watch == WATCH_JUDGED;
}

static void test_samples_are_judged(void **state)
{
	struct fixture *f = *state;
	struct thresholds limits;

	thresholds_init(&limits);
	f->limits = &limits;
	open_sampler(f, 10);
	until_published(f, 3);
	assert_true(f->judged > 0);
	assert_int_equal(f->watch, WATCH_WARMING);
	assert_true(shows(f, "roce_diagnosis_onsets_total{cause=\"%s\"} %s\n", "packet_loss", "0"));
	limits.value[LIMIT_warming_seconds] = 0;
	sampler_judge_by(f->sampler, &limits);
	assert_true(loop_until(&f->loop, is_judged_healthy, f, PATIENCE_MS));
}

/* A reader whose work ends at let_go(). */
struct slow_reader {
	struct report_reader reader;
	struct fixture *f;
	pthread_t loop;
	bool waits, on_loop, got_report, done;
	unsigned described; /* samples begun when it ended */
};

static void read_slowly(struct report_reader *reader, const struct diagnosis_report *report)
{
	struct slow_reader *r = (struct slow_reader *)reader; /* its first member */

	r->got_report = report && report->n_ports > 0;
	r->on_loop = pthread_equal(pthread_self(), r->loop);
	if (r->waits && !r->on_loop)
		uv_sem_wait(&r->f->go);
}

static void on_read_slowly(struct report_reader *reader)
{
	struct slow_reader *r = (struct slow_reader *)reader;

	r->described = r->f->described;
	r->done = true;
}

static struct slow_reader slow_reader(struct fixture *f, bool waits)
{
	return (struct slow_reader){.reader = {.read = read_slowly, .done = on_read_slowly},
				    .f = f,
				    .loop = pthread_self(),
				    .waits = waits};
}

static bool is_read_slowly(void *arg)
{
	return ((struct slow_reader *)arg)->done;
}

static bool has_turned_often(void *arg)
{
	return ++*(unsigned *)arg > 20;
}

/* The loop keeps running while a report is read; a sample requested meanwhile follows. */
static void test_a_report_is_read_beside_the_loop(void **state)
{
	struct fixture *f = *state;
	struct slow_reader first = slow_reader(f, true), second = slow_reader(f, false);
	struct thresholds limits;
	unsigned turns = 0;

	thresholds_init(&limits);
	f->limits = &limits;
	open_sampler(f, HOUR_MS);
	sampler_wake(f->sampler);
	until_published(f, 1);
	sampler_read_report(f->sampler, &first.reader);
	sampler_read_report(f->sampler, &second.reader);
	sampler_wake(f->sampler);
	assert_true(loop_until(&f->loop, has_turned_often, &turns, PATIENCE_MS));
	assert_int_equal(f->described, 1);
	assert_false(first.done || second.done);
	let_go(f);
	assert_true(loop_until(&f->loop, is_read_slowly, &second, PATIENCE_MS));
	assert_true(first.done && first.got_report && second.got_report);
	assert_false(first.on_loop || second.on_loop);
	assert_int_equal(first.described, 1);
	until_published(f, 2);
}

static void test_readers_of_a_closed_sampler_get_no_report(void **state)
{
	struct fixture *f = *state;
	struct slow_reader first = slow_reader(f, true), second = slow_reader(f, false);

	open_sampler(f, HOUR_MS);
	sampler_read_report(f->sampler, &first.reader);
	sampler_read_report(f->sampler, &second.reader);
	close_sampler(f);
	assert_true(second.done && !second.got_report && !first.done);
	let_go(f);
	assert_true(loop_until(&f->loop, is_read_slowly, &first, PATIENCE_MS));
	assert_false(first.got_report); /* no sample was taken */
}

static bool are_counted(void *arg)
{
	return ((struct fixture *)arg)->fake.open == 1;
}

static bool has_marks(void *arg)
{
	return ((struct fixture *)arg)->has_marks;
}

/* Marks come from the packets of the same sample, as soft-RoCE itself does not count them. */
static void test_packets_are_judged(void **state)
{
	static const struct packet_ports_opts opts = {.memory_budget = 1 << 20,
						      .retry_ms = HOUR_MS};
	struct packet_wanted wanted = {
		.port = {.nsid = NSID_HOST, .ifindex = 2, .device = "mlx5_0", .device_port = 1}};
	const struct packet_plan plan = {&wanted, 1};
	struct fixture *f = *state;
	struct thresholds limits;
	struct err e = {0};

	tmptree_write(f->tree, "class/infiniband/mlx5_0/parent", "eth0\n");
	scan_tree(f);
	fake_packet_ports = &f->fake;
	assert_int_equal(packet_ports_open(&f->packets, &f->loop, &f->hw, &opts, &e), 0);
	packet_ports_follow(f->packets, &plan);
	assert_true(loop_until(&f->loop, are_counted, f, PATIENCE_MS));
	thresholds_init(&limits);
	f->limits = &limits;
	open_sampler(f, 10);
	assert_true(loop_until(&f->loop, has_marks, f, PATIENCE_MS));
}

/* The page has the verdicts of the last report, even if this sample was not judged. Repeated if the
 * test itself was delayed for too long. */
static void test_samples_of_a_storm_are_not_judged(void **state)
{
	struct fixture *f = *state;
	struct thresholds limits;
	unsigned judged, tries = 0;
	uint64_t start_ns;
	char name[32];

	thresholds_init(&limits);
	f->limits = &limits;
	open_sampler(f, HOUR_MS);
	sampler_wake(f->sampler);
	until_published(f, 1);
	assert_int_equal(f->judged, 1);
	/* Tries again if the test was delayed by other processes. */
	do {
		assert_true(tries++ < 1000);
		judged = f->judged;
		start_ns = uv_hrtime();
		for (int i = 0; i < 3; i++) {
			/* New devices do not cause an extra judgement, either. */
			snprintf(name, sizeof(name), "mlx5_%u", f->published);
			add_device(f, name, "43");
			scan_tree(f);
			sampler_wake(f->sampler);
			until_published(f, f->published + 1);
		}
	} while (uv_hrtime() - start_ns >= JUDGED_EVERY_NS);
	assert_true(f->judged <= judged + 1);
	assert_true(shows(f, "roce_diagnosis_onsets_total{cause=\"%s\"} %s\n", "packet_loss", "0"));
}

static void write_counter(const struct fixture *f, const char *name, unsigned long value)
{
	char path[128];

	snprintf(path, sizeof(path), "class/infiniband/mlx5_0/ports/1/%s", name);
	tmptree_write(f->tree, path, "%lu\n", value);
}

/* Marks a tenth of the packets that the port receives. */
static void on_marking(uv_timer_t *timer)
{
	struct fixture *f = timer->data;

	f->received += 1000;
	write_counter(f, "counters/port_rcv_packets", f->received);
	write_counter(f, "hw_counters/np_ecn_marked_roce_packets", f->received / 10);
}

static bool is_judged_again(void *arg)
{
	return ((struct fixture *)arg)->judged == 2;
}

/* Judged without waiting for JUDGED_EVERY_NS. */
static void test_a_failing_link_is_judged_at_once(void **state)
{
	struct fixture *f = *state;
	struct thresholds limits;

	thresholds_init(&limits);
	f->limits = &limits;
	tmptree_write(f->tree, "class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n");
	scan_tree(f);
	open_sampler(f, HOUR_MS);
	sampler_wake(f->sampler);
	until_published(f, 1);
	tmptree_write(f->tree, "class/infiniband/mlx5_0/ports/1/state", "1: DOWN\n");
	scan_tree(f);
	sampler_wake(f->sampler);
	assert_true(loop_until(&f->loop, is_judged_again, f, PATIENCE_MS));
}

static bool is_read_often(void *arg)
{
	const struct fixture *f = arg;

	/* The peak's value depends on which of the two files is read before it changes. */
	return f->self.burst_reads >= 10 && f->self.burst_reads > f->self.samples &&
	       shows(f, "roce_ecn_ce_peak_ratio{device=\"%s\",port=\"1\"} %s", "mlx5_0", "");
}

static void start_marking(struct fixture *f)
{
	f->marking.data = f;
	on_marking(&f->marking);
	scan_tree(f);
	assert_int_equal(uv_timer_init(&f->loop, &f->marking), 0);
	assert_int_equal(uv_timer_start(&f->marking, on_marking, 5, 5), 0);
	f->port_counters = true;
}

static void test_a_port_with_marks_is_read_often(void **state)
{
	struct fixture *f = *state;
	struct thresholds limits;

	thresholds_init(&limits);
	f->limits = &limits;
	start_marking(f);
	open_sampler(f, 200);
	assert_true(loop_until(&f->loop, is_read_often, f, PATIENCE_MS));
}

static bool is_read(void *arg)
{
	return ((struct fixture *)arg)->self.burst_reads >= 10;
}

/* Even if several samples fall into the pause between two reads, as after a slow read. */
static void test_samples_do_not_postpone_reads_of_single_ports(void **state)
{
	struct fixture *f = *state;
	struct thresholds limits;

	thresholds_init(&limits);
	f->limits = &limits;
	start_marking(f);
	open_sampler(f, 5);
	assert_true(loop_until(&f->loop, is_read, f, PATIENCE_MS));
}

static void test_a_page_without_diagnosis(void **state)
{
	struct fixture *f = *state;

	open_sampler(f, HOUR_MS);
	sampler_wake(f->sampler);
	until_published(f, 1);
	assert_false(shows(f, "roce_diagnosis%s%s", "", ""));
}

static void test_no_sample_before_the_interval_has_elapsed(void **state)
{
	struct fixture *f = *state;
	int wait_ms;

	open_sampler(f, HOUR_MS);
	uv_run(&f->loop, UV_RUN_NOWAIT);
	assert_int_equal(f->described, 0);
	/* the time until the next timer */
	wait_ms = uv_backend_timeout(&f->loop);
	assert_true(wait_ms > HOUR_MS - PATIENCE_MS && wait_ms <= HOUR_MS);
	sampler_wake(f->sampler);
	until_published(f, 1);
	assert_true(uv_backend_timeout(&f->loop) > HOUR_MS - 2 * PATIENCE_MS);
}

static void test_each_interval_has_one_sample(void **state)
{
	struct fixture *f = *state;
	uint64_t start_ms;

	uv_update_time(&f->loop);
	start_ms = uv_now(&f->loop);
	open_sampler(f, 10);
	until_published(f, 5);
	assert_true(uv_now(&f->loop) - start_ms >= 50);
	assert_true(f->described >= 5);
}

static void test_the_inventory_is_followed_and_only_when_it_changed(void **state)
{
	struct fixture *f = *state;

	open_sampler(f, HOUR_MS);
	sampler_wake(f->sampler);
	until_published(f, 1);
	add_device(f, "mlx5_1", "43");
	sampler_wake(f->sampler);
	until_published(f, 2);
	assert_false(shows(f, CNP_SENT, "mlx5_1", "43")); /* not read yet */
	scan_tree(f);
	sampler_wake(f->sampler);
	until_published(f, 3);
	assert_true(shows(f, CNP_SENT, "mlx5_1", "43"));
	assert_true(shows(f, CNP_SENT, "mlx5_0", "42"));
}

static void test_requests_during_a_sample_cause_one_more(void **state)
{
	struct fixture *f = *state;

	open_sampler(f, HOUR_MS);
	block_worker(f);
	for (int i = 0; i < 100; i++)
		sampler_wake(f->sampler);
	assert_int_equal(f->described, 1);
	let_go(f);
	until_published(f, 2);
	uv_run(&f->loop, UV_RUN_NOWAIT);
	assert_int_equal(f->described, 2);
}

static bool two_are_late(void *arg)
{
	return ((struct fixture *)arg)->self.samples_late >= 2;
}

static void test_ticks_during_a_sample_are_skipped_and_counted(void **state)
{
	struct fixture *f = *state;

	open_sampler(f, 1);
	block_worker(f);
	assert_true(loop_until(&f->loop, two_are_late, f, PATIENCE_MS));
	assert_int_equal(f->described, 1);
	assert_int_equal(f->published, 0);
	let_go(f);
	until_published(f, 1);
}

static void test_closing_with_a_sample_in_flight_publishes_nothing_more(void **state)
{
	struct fixture *f = *state;

	open_sampler(f, HOUR_MS);
	block_worker(f);
	sampler_wake(f->sampler);
	sampler_wake(f->sampler); /* does not start another sample */
	close_sampler(f);
	/* the sampler's timer has closed, the sample is still queued */
	uv_run(&f->loop, UV_RUN_NOWAIT);
	assert_true(f->blocked);
	let_go(f);
	uv_run(&f->loop, UV_RUN_DEFAULT);
	assert_int_equal(f->published, 0);
	assert_int_equal(f->described, 1);
	assert_int_equal(f->self.samples, 1);
}

static void test_closing_without_a_sample_is_clean(void **state)
{
	struct fixture *f = *state;

	open_sampler(f, HOUR_MS);
	close_sampler(f);
	sampler_close(NULL);
}

TEST_GROUP(sampler)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_wake_publishes_a_page, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_sampler_keeps_one_page, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pages_are_rendered_on_demand, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_report_is_read_beside_the_loop, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_readers_of_a_closed_sampler_get_no_report,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_samples_are_judged, setup, teardown),
		cmocka_unit_test_setup_teardown(test_packets_are_judged, setup, teardown),
		cmocka_unit_test_setup_teardown(test_samples_of_a_storm_are_not_judged, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_a_failing_link_is_judged_at_once, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_a_port_with_marks_is_read_often, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_samples_do_not_postpone_reads_of_single_ports,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_page_without_diagnosis, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_sample_before_the_interval_has_elapsed,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_each_interval_has_one_sample, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_the_inventory_is_followed_and_only_when_it_changed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_requests_during_a_sample_cause_one_more, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_ticks_during_a_sample_are_skipped_and_counted,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_closing_with_a_sample_in_flight_publishes_nothing_more, setup,
			teardown),
		cmocka_unit_test_setup_teardown(test_closing_without_a_sample_is_clean, setup,
						teardown),
	};

	setenv("UV_THREADPOOL_SIZE", "1", 1);
	return test_group_run(tests, NULL, NULL);
}
