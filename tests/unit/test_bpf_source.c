/* BPF programs as a user who may not load any: listed as not loaded, and nothing left behind. What
 * they do where they are allowed is a scenario of the lab. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#include "bpf_source.h"
#include "log.h"
#include "self_counters.h"

#define NOBODY 65534

static void on_event(const struct bpf_event *e, void *arg)
{
	(void)e, (void)arg;
}

/* 0, or the line that was not as expected. */
#define EXPECT(what)                                                                               \
	if (!(what))                                                                               \
	return __LINE__ & 0x7f

static int refused(void)
{
	const struct bpf_program_status *status = NULL;
	struct bpf_source *b = NULL;
	struct self_counters self = {0};
	struct err e = {0};
	uv_loop_t loop;

	log_init(LOG_LVL_ERROR, LOG_FORMAT_TEXT);
	EXPECT(getuid() != 0 || setresuid(NOBODY, NOBODY, NOBODY) == 0);
	EXPECT(uv_loop_init(&loop) == 0);
	EXPECT(bpf_source_open(&b, &loop, &self, on_event, NULL, &e) == 0);
	EXPECT(bpf_source_programs(b, &status) == 1);
	EXPECT(strcmp(status->name, "netdev_moves") == 0 && strcmp(status->hook, "none") == 0);
	bpf_source_close(b);
	EXPECT(uv_run(&loop, UV_RUN_DEFAULT) == 0);
	EXPECT(uv_loop_close(&loop) == 0);
	return 0;
}

/* In a process of its own, which gives up its privileges for good. */
static void a_refused_program_is_listed_as_not_loaded(void **state)
{
	pid_t pid = fork();
	int status;
	(void)state;

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(refused());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void no_source_has_no_programs(void **state)
{
	const struct bpf_program_status *status;
	(void)state;

	assert_int_equal(bpf_source_programs(NULL, &status), 0);
	bpf_source_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_refused_program_is_listed_as_not_loaded),
		cmocka_unit_test(no_source_has_no_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
