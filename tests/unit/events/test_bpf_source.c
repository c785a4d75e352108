// SPDX-License-Identifier: Apache-2.0
/* BPF programs as a user without permission, and as root on the running kernel: each is loaded or
 * has an error, they follow the loaded modules, and everything is freed. A scenario of the lab
 * tests their events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <bpf/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#include "bpf_source.h"
#include "log.h"
#include "self_counters.h"
#include "test_group.h"

#define NOBODY 65534

static void on_event(const struct bpf_event *e, void *arg)
{
	(void)e, (void)arg;
}

static void on_programs(void *arg)
{
	unsigned *n = arg;

	++*n;
}

/* Returns the line of a failed check, 0 = none. */
#define EXPECT(what)                                                                               \
	if (!(what))                                                                               \
	return __LINE__ & 0x7f

static int check_without_permission(void)
{
	unsigned n_changes = 0;
	const struct bpf_source_hooks hooks = {on_event, on_programs, &n_changes};
	const struct bpf_program_status *status = NULL;
	struct bpf_soft_device soft;
	struct bpf_source *b = NULL;
	struct self_counters self = {0};
	struct err e = {0};
	uv_loop_t loop;

	EXPECT(getuid() != 0 || setresuid(NOBODY, NOBODY, NOBODY) == 0);
	EXPECT(uv_loop_init(&loop) == 0);
	EXPECT(bpf_source_open(&b, &loop, &self, &hooks, &e) == 0);
	EXPECT(bpf_source_programs(b, &status) == N_BPF_POINTS);
	bpf_source_follow(b, &(struct bpf_presence){true, true, true});
	for (unsigned i = 0; i < N_BPF_POINTS; i++)
		EXPECT(strcmp(status[i].hook, "none") == 0 &&
		       strstr(status[i].error, "not permitted"));
	EXPECT(strcmp(status[0].name, "netdev_moves") == 0);
	EXPECT(bpf_source_soft_counts(b, &soft, 1) == 0);
	bpf_source_close(b);
	EXPECT(uv_run(&loop, UV_RUN_DEFAULT) == 0);
	EXPECT(uv_loop_close(&loop) == 0);
	return 0;
}

/* Runs in a child process, which drops its privileges permanently. */
static void without_permission_each_program_has_an_error(void **state)
{
	pid_t pid = fork();
	int status;
	(void)state;

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(check_without_permission());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

struct rig {
	uv_loop_t loop;
	struct self_counters self;
	struct bpf_source *b;
	unsigned n_changes;
	const struct bpf_program_status *programs;
};

static void rig_open(struct rig *r)
{
	const struct bpf_source_hooks hooks = {on_event, on_programs, &r->n_changes};
	struct err e = {0};

	assert_int_equal(uv_loop_init(&r->loop), 0);
	assert_int_equal(bpf_source_open(&r->b, &r->loop, &r->self, &hooks, &e), 0);
	assert_int_equal(bpf_source_programs(r->b, &r->programs), N_BPF_POINTS);
}

static void rig_close(struct rig *r)
{
	bpf_source_close(r->b);
	assert_int_equal(uv_run(&r->loop, UV_RUN_DEFAULT), 0);
	assert_int_equal(uv_loop_close(&r->loop), 0);
}

static void wait_changes(struct rig *r, unsigned n)
{
	while (r->n_changes < n)
		assert_true(uv_run(&r->loop, UV_RUN_ONCE) != 0);
}

static void skip_without_maps(void)
{
	struct bpf_maps maps;
	struct err e = {0};

	if (bpf_maps_open(&maps, &e) < 0) {
		print_message("skipped: %s\n", e.msg);
		skip();
	}
	bpf_maps_close(&maps);
}

static void every_soft_device_is_read_once(void **state)
{
	enum { DEVICES = 300 };
	static struct bpf_soft_device soft[BPF_SOFT_DEVICES_MAX];
	bool seen[DEVICES] = {false};
	struct bpf_maps maps;
	struct err e = {0};
	(void)state;

	skip_without_maps();
	assert_int_equal(bpf_maps_open(&maps, &e), 0);
	assert_int_equal(bpf_maps_soft_counts(&maps, soft, BPF_SOFT_DEVICES_MAX), 0);
	for (unsigned i = 0; i < DEVICES; i++) {
		struct bpf_soft_counts counts = {.n = {i}};
		struct bpf_soft_key key = {0};

		snprintf(key.device, sizeof(key.device), "rxe%u", i);
		assert_int_equal(bpf_map_update_elem(maps.soft_counts_fd, &key, &counts, 0), 0);
	}
	assert_int_equal(bpf_maps_soft_counts(&maps, soft, 7), 7);
	assert_int_equal(bpf_maps_soft_counts(&maps, soft, BPF_SOFT_DEVICES_MAX), DEVICES);
	for (unsigned i = 0; i < DEVICES; i++) {
		unsigned device = (unsigned)strtoul(soft[i].key.device + 3, NULL, 10);

		assert_in_range(device, 0, DEVICES - 1);
		assert_int_equal(soft[i].counts.n[0], device);
		assert_false(seen[device]);
		seen[device] = true;
	}
	bpf_maps_close(&maps);
}

/* True if a program of the host group has an error that may be temporary. */
static bool may_be_temporary(const struct bpf_maps *maps)
{
	struct bpf_program_status status[N_BPF_POINTS];
	bool passes = false;

	bpf_loaded_free(bpf_group_load(BPF_GROUP_HOST, maps, status));
	for (unsigned i = 0; i < N_BPF_POINTS; i++)
		if (bpf_points[i].group == BPF_GROUP_HOST && strcmp(status[i].hook, "none") == 0)
			passes |= status[i].may_be_temporary;
	return passes;
}

static void a_lack_of_descriptors_is_retried(void **state)
{
	struct rlimit before, none = {0};
	struct bpf_maps maps;
	struct err e = {0};
	bool passes;
	(void)state;

	skip_without_maps();
	assert_int_equal(bpf_maps_open(&maps, &e), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none.rlim_max = before.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	passes = may_be_temporary(&maps);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_true(passes);
	assert_false(may_be_temporary(&maps));
	bpf_maps_close(&maps);
}

static bool waits_for_devices(const struct bpf_program_status *s)
{
	return strcmp(s->hook, "none") == 0 && strncmp(s->error, "there are no", 12) == 0;
}

static void programs_follow_the_loaded_modules(void **state)
{
	struct rig r = {0};
	(void)state;

	skip_without_maps();
	rig_open(&r);
	wait_changes(&r, 1);
	for (unsigned i = 0; i < N_BPF_POINTS; i++)
		if (bpf_points[i].group == BPF_GROUP_HOST)
			assert_true(strcmp(r.programs[i].hook, "none") != 0 ||
				    (*r.programs[i].error && !waits_for_devices(&r.programs[i])));
		else
			assert_true(waits_for_devices(&r.programs[i]));

	bpf_source_follow(r.b, &(struct bpf_presence){.rdma_devices = true, .soft_devices = true});
	wait_changes(&r, 2);
	for (unsigned i = 0; i < N_BPF_POINTS; i++)
		assert_int_equal(waits_for_devices(&r.programs[i]),
				 bpf_points[i].group == BPF_GROUP_CM);

	bpf_source_follow(r.b, &(struct bpf_presence){0});
	wait_changes(&r, 3);
	for (unsigned i = 0; i < N_BPF_POINTS; i++)
		assert_int_equal(waits_for_devices(&r.programs[i]),
				 bpf_points[i].group != BPF_GROUP_HOST);
	bpf_source_follow(r.b, &(struct bpf_presence){0});
	rig_close(&r);
	assert_int_equal(r.n_changes, 3);
}

static void the_source_can_be_closed_while_programs_are_loaded(void **state)
{
	struct rig r = {0};
	(void)state;

	skip_without_maps();
	rig_open(&r);
	rig_close(&r);
	assert_int_equal(r.n_changes, 0);
}

static void no_source_has_no_programs(void **state)
{
	const struct bpf_program_status *status;
	struct bpf_soft_device soft;
	(void)state;

	assert_int_equal(bpf_source_programs(NULL, &status), 0);
	assert_int_equal(bpf_source_soft_counts(NULL, &soft, 1), 0);
	bpf_source_follow(NULL, &(struct bpf_presence){0});
	bpf_source_close(NULL);
}

/* Checks that every program of the table is in its group's object. */
static void every_program_of_the_table_exists(void **state)
{
	(void)state;

	for (unsigned i = 0; i < N_BPF_POINTS; i++) {
		size_t size = 0;
		const char *elf = bpf_group_elf(bpf_points[i].group, &size);

		assert_non_null(bpf_points[i].functions[0]);
		for (int h = 0; h < BPF_POINT_HOOKS && bpf_points[i].hooks[h].program; h++) {
			const char *name = bpf_points[i].hooks[h].program;

			assert_non_null(memmem(elf, size, name, strlen(name) + 1));
			name = bpf_points[i].hooks[h].returned;
			if (name)
				assert_non_null(memmem(elf, size, name, strlen(name) + 1));
		}
	}
}

TEST_GROUP(bpf_source)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_permission_each_program_has_an_error),
		cmocka_unit_test(programs_follow_the_loaded_modules),
		cmocka_unit_test(the_source_can_be_closed_while_programs_are_loaded),
		cmocka_unit_test(every_soft_device_is_read_once),
		cmocka_unit_test(a_lack_of_descriptors_is_retried),
		cmocka_unit_test(no_source_has_no_programs),
		cmocka_unit_test(every_program_of_the_table_exists),
	};

	log_init(LOG_LVL_ERROR, LOG_FORMAT_TEXT);
	return test_group_run(tests, NULL, NULL);
}
