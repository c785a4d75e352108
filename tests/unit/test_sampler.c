/* The sampler on a loop, over a tree of files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "hw.h"
#include "loop_helpers.h"
#include "sampler.h"
#include "tmptree.h"

#define PATIENCE_MS 20000
#define HOUR_MS	    3600000
#define N_DEVICES   8
#define N_FILES	    400

struct fixture {
	char *tree;
	struct hw hw;
	struct rdma_dev devs[N_DEVICES];
	struct rdma_port ports[N_DEVICES];
	struct inventory inventory;
	struct self_counters self;
	uv_loop_t loop;
	struct sampler *sampler;
	unsigned n_done, wanted;
	size_t page_bytes;
	uint64_t ended_ns;
	uint64_t gaps_ns, samples_ns; /* between samples, and in them */
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->tree = tmptree_new();
	for (int i = 0; i < N_DEVICES; i++) {
		snprintf(f->devs[i].name, sizeof(f->devs[i].name), "mlx5_%d", i);
		f->devs[i].nsid = NSID_HOST;
		f->devs[i].n_ports = 1;
		f->devs[i].ports = &f->ports[i];
		f->ports[i].num = 1;
		for (int k = 0; k < N_FILES; k++) {
			char path[128];

			snprintf(path, sizeof(path),
				 "class/infiniband/mlx5_%d/ports/1/hw_counters/counter_%d", i, k);
			tmptree_write(f->tree, path, "%d\n", k);
		}
	}
	f->inventory.host = (struct host){.rdma = f->devs, .n_rdma = N_DEVICES};
	f->inventory.generation = 1;
	assert_int_equal(hw_open(&f->hw, f->tree, "/dev", "/proc", NULL), 0);
	assert_int_equal(uv_loop_init(&f->loop), 0);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	sampler_close(f->sampler);
	assert_int_equal(loop_end(&f->loop), 0);
	hw_close(&f->hw);
	tmptree_free(f->tree);
	free(f);
	return 0;
}

static void describe(struct self_metrics *m, void *arg)
{
	struct fixture *f = arg;

	if (!f->ended_ns)
		return;
	f->gaps_ns += uv_hrtime() - f->ended_ns;
	f->samples_ns += m->sample_us * 1000;
}

/* As a storm of changes would: the next sample is wanted as soon as one is there. */
static void on_page(struct page *p, void *arg)
{
	struct fixture *f = arg;

	f->page_bytes = p->text.len;
	f->ended_ns = uv_hrtime();
	if (++f->n_done < f->wanted) {
		f->inventory.generation++;
		sampler_wake(f->sampler);
	}
}

static bool has_all(void *arg)
{
	const struct fixture *f = arg;

	return f->n_done >= f->wanted;
}

static void open_sampler(struct fixture *f, uint32_t interval_ms)
{
	const struct sampler_opts opts = {.interval_ms = interval_ms};
	const struct sampler_hooks hooks = {.describe = describe, .done = on_page, .arg = f};

	assert_int_equal(sampler_open(&f->sampler, &f->loop, &f->hw, &f->inventory, &f->self, &opts,
				      &hooks, NULL),
			 0);
}

static void a_wake_samples_at_once(void **state)
{
	struct fixture *f = *state;

	open_sampler(f, HOUR_MS);
	f->wanted = 1;
	sampler_wake(f->sampler);
	assert_true(loop_until(&f->loop, has_all, f, PATIENCE_MS));
	assert_true(f->page_bytes > N_DEVICES * N_FILES);
	assert_int_equal(f->self.samples, 1);
}

static void the_timer_samples_again_and_again(void **state)
{
	struct fixture *f = *state;

	open_sampler(f, 10);
	f->wanted = 1;
	assert_true(loop_until(&f->loop, has_all, f, PATIENCE_MS));
	f->n_done = 0; /* without a wake */
	assert_true(loop_until(&f->loop, has_all, f, PATIENCE_MS));
}

/* Laying out and sampling take half of a core at most, whatever happens. A millisecond per round is
 * what timers round away. */
static void a_storm_of_wakes_leaves_pauses(void **state)
{
	struct fixture *f = *state;

	open_sampler(f, HOUR_MS);
	f->wanted = 20;
	sampler_wake(f->sampler);
	assert_true(loop_until(&f->loop, has_all, f, PATIENCE_MS));
	assert_true(f->samples_ns > 0);
	assert_true(f->gaps_ns + 20 * 1000000 >= f->samples_ns);
}

static void closing_with_a_sample_in_flight_is_clean(void **state)
{
	struct fixture *f = *state;

	open_sampler(f, HOUR_MS);
	f->wanted = 1;
	sampler_wake(f->sampler);
	sampler_wake(f->sampler); /* and one more is wanted */
	sampler_close(f->sampler);
	f->sampler = NULL;
	uv_run(&f->loop, UV_RUN_DEFAULT);
	assert_int_equal(f->n_done, 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		T(a_wake_samples_at_once),
		T(the_timer_samples_again_and_again),
		T(a_storm_of_wakes_leaves_pauses),
		T(closing_with_a_sample_in_flight_is_clean),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
