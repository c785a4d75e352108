// SPDX-License-Identifier: Apache-2.0
/* The visible parts of the host, and the message for each missing part. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cleanup.h"
#include "host_view.h"
#include "namespaces.h"
#include "test_group.h"
#include "tmptree.h"

static const char *alone; /* why we could not hide the other processes; NULL = hidden */

static void test_missing_parts_of_the_view(void **state)
{
	static const struct {
		struct host_view view;
		int code;
		const char *words;
	} cases[] = {
		{{.first_pids = true, .runtime_pid = -1}, 0, ""},
		{{.first_pids = true, .own_mounts = true}, 0, ""},
		{{.runtime_pid = 17}, 0, ""}, /* a node inside a container (such as kind) */
		{{.runtime_pid = 0}, -ESRCH, "hostPID: true"},
		{{.runtime_pid = -1}, -EAGAIN, "hostPID: true"},
		{{.first_pids = true, .process_error = EACCES}, -EACCES, "CAP_SYS_PTRACE"},
		{{.first_pids = true, .own_mounts = true, .root_error = EACCES},
		 -EACCES,
		 "mountPropagation: HostToContainer\" on /run/netns"},
		{{.first_pids = true, .own_mounts = true, .root_error = EACCES, .follows = true},
		 0,
		 ""},
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err e = {0};

		assert_int_equal(host_view_judge(&cases[i].view, &e), cases[i].code);
		if (cases[i].code && !strstr(e.msg, cases[i].words))
			fail_msg("\"%s\" without %s", e.msg, cases[i].words);
	}
}

/* As in a container without the host's PID namespace; but the runtime may be in that container,
 * too. */
static void test_without_the_hosts_processes(void **state)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	char *folder = tmptree_new();
	struct host_view v;
	struct err e = {0};
	struct hw hw;
	AUTO_FD fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	(void)state;

	if (alone) {
		tmptree_free(folder);
		skip();
	}
	assert_int_equal(hw_open(&hw, folder, folder, "/proc", &e), 0);
	host_view_read(&hw, "", &v);
	assert_false(v.first_pids);
	assert_int_equal(v.runtime_pid, -1);
	assert_int_equal(v.process_error, 0);
	assert_false(v.own_mounts);
	snprintf(at.sun_path, sizeof(at.sun_path), "%s/runtime", folder);
	host_view_read(&hw, at.sun_path, &v);
	assert_int_equal(v.runtime_pid, -1);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(fd, 4), 0);
	host_view_read(&hw, at.sun_path, &v);
	assert_int_equal(v.runtime_pid, getpid());
	assert_int_equal(host_view_judge(&v, &e), 0);
	hw_close(&hw);
	tmptree_free(folder);
}

static void test_without_proc(void **state)
{
	const struct hw blind = {.sys_fd = -1, .dev_fd = -1, .proc_fd = -1, .live = true};
	struct host_view v;
	struct err e = {0};
	(void)state;

	host_view_read(&blind, "", &v);
	assert_true(host_view_judge(&v, &e) < 0);
}

TEST_GROUP(host_view)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_missing_parts_of_the_view),
		cmocka_unit_test(test_without_the_hosts_processes),
		cmocka_unit_test(test_without_proc),
	};

	alone = namespaces_enter_pids();
	return test_group_run(tests, NULL, NULL);
}
