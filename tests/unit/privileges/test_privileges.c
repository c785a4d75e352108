// SPDX-License-Identifier: Apache-2.0
/* Dropped privileges: each test drops them in a child, which then tries to use them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cleanup.h"
#include "privileges.h"
#include "syscalls.h"
#include "test_group.h"

#define ALL_CALLS (CALLS_ALWAYS | CALLS_BPF | CALLS_ATTACH)

/* Runs the function in a child; returns its exit status, which identifies the failed condition; 0 =
 * all held. */
static int status_of(void (*child)(void))
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		child();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

#define HOLDS(condition)                                                                           \
	do                                                                                         \
		if (!(condition))                                                                  \
			_exit(__LINE__ % 200 + 1);                                                 \
	while (0)

static bool fails_with(long r, int error)
{
	return r == -1 && errno == error;
}

static void skip_without(bool can)
{
	if (!can) {
		print_message("skipped: needs root, and a build without a sanitizer\n");
		skip();
	}
}

static void filter_briefly(void)
{
	struct err e;

	HOLDS(privileges_filter_calls(ALL_CALLS, SECCOMP_ON, &e) == 0);
}

static bool can_filter(void)
{
	return status_of(filter_briefly) == 0;
}

/* --- capabilities ----------------------------------------------------------------------------- */

#define KEPT (UINT64_C(1) << CAP_NET_ADMIN | UINT64_C(1) << CAP_SETPCAP)

/* A value of proc(5)'s status; UINT64_MAX: no such line. */
static uint64_t status_line(const char *key)
{
	FILE *f = fopen("/proc/thread-self/status", "re");
	uint64_t value = UINT64_MAX;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, key, strlen(key)) == 0)
			value = strtoull(line + strlen(key), NULL, 16);
	if (f)
		fclose(f);
	return value;
}

static void drop(void)
{
	struct err e;

	HOLDS(privileges_drop_capabilities(KEPT, &e) == 0);
	HOLDS(privileges_effective() == KEPT);
	HOLDS(status_line("CapEff:") == KEPT);
	HOLDS(status_line("CapPrm:") == KEPT);
	HOLDS(status_line("CapBnd:") == KEPT);
	HOLDS(status_line("CapInh:") == 0);
	HOLDS(status_line("CapAmb:") == 0);
	HOLDS(status_line("NoNewPrivs:") == 1);
	HOLDS(fails_with(sethostname("x", 1), EPERM)); /* CAP_SYS_ADMIN */
	HOLDS(fails_with(setpriority(0, 0, -20), EACCES));
}

static void *drop_in_thread(void *arg)
{
	(void)arg;
	HOLDS(status_line("CapEff:") == KEPT);
	HOLDS(status_line("NoNewPrivs:") == 1);
	return NULL;
}

static void drop_then_thread(void)
{
	pthread_t thread;

	drop();
	HOLDS(pthread_create(&thread, NULL, drop_in_thread, NULL) == 0);
	pthread_join(thread, NULL);
}

static void drop_then_exec(void)
{
	char *args[] = {(char *)"sh", (char *)"-c",
			(char *)"grep -qx 'CapEff:\t0000000000001100' /proc/self/status", NULL};

	drop();
	execv("/bin/sh", args);
	_exit(255);
}

/* A capability that was dropped cannot be kept. */
static void drop_twice(void)
{
	struct err e;

	drop();
	HOLDS(privileges_drop_capabilities(UINT64_MAX, &e) == 0);
	HOLDS(privileges_effective() == KEPT);
	HOLDS(privileges_drop_capabilities(0, &e) == 0);
	HOLDS(privileges_effective() == 0);
	HOLDS(status_line("CapBnd:") == 0);
	HOLDS(privileges_drop_capabilities(0, &e) == 0);
}

static void test_capabilities_are_dropped_from_all_sets(void **state)
{
	(void)state;
	skip_without(getuid() == 0);
	assert_int_equal(status_of(drop), 0);
	assert_int_equal(status_of(drop_twice), 0);
}

static void test_threads_and_programs_get_no_more(void **state)
{
	(void)state;
	skip_without(getuid() == 0);
	assert_int_equal(status_of(drop_then_thread), 0);
	assert_int_equal(status_of(drop_then_exec), 0);
}

/* --- system calls ----------------------------------------------------------------------------- */

static void calls_are_refused(void)
{
	filter_briefly();
	HOLDS(status_line("Seccomp:") == 2);
	HOLDS(fails_with(sethostname("x", 1), ENOSYS));
	HOLDS(fails_with(umount2("/nowhere", 0), ENOSYS));
	HOLDS(fails_with(unshare(CLONE_NEWUSER), ENOSYS));
	HOLDS(fails_with(socket(AF_VSOCK, SOCK_STREAM, 0), ENOSYS));
	HOLDS(fails_with(mount("none", "/nowhere", "tmpfs", 0, NULL), ENOSYS));
	HOLDS(fails_with(setns(-1, CLONE_NEWNS), ENOSYS));
	HOLDS(fails_with(setns(-1, 0), ENOSYS));
	HOLDS(fails_with(syscall(SYS_io_uring_setup, 1, NULL), ENOSYS));
}

/* The calls reach the kernel. */
static void calls_are_allowed(void)
{
	filter_briefly();
	HOLDS(fails_with(setns(-1, CLONE_NEWNET), EBADF));
	HOLDS(mount(NULL, "/nowhere", NULL, MS_REC | MS_SLAVE, NULL) < 0 && errno != ENOSYS);
	HOLDS(mount("tmpfs", "/nowhere", "tmpfs", MS_NODEV | MS_NOEXEC | MS_NOSUID, NULL) < 0 &&
	      errno != ENOSYS);
	HOLDS(socket(AF_NETLINK, SOCK_RAW, 0) >= 0);
	HOLDS(open("/proc/self/status", O_RDONLY) >= 0);
}

static void a_thread_is_refused(void)
{
	filter_briefly();
	HOLDS(status_line("Seccomp:") == 2);
	HOLDS(fails_with(sethostname("x", 1), ENOSYS));
}

static void *refused_thread(void *arg)
{
	(void)arg;
	HOLDS(fails_with(sethostname("x", 1), ENOSYS));
	return NULL;
}

static void filter_then_thread(void)
{
	pthread_t thread;

	a_thread_is_refused();
	HOLDS(pthread_create(&thread, NULL, refused_thread, NULL) == 0);
	pthread_join(thread, NULL);
}

static void a_fatal_call(void)
{
	const struct rlimit none = {0, 0};

	setrlimit(RLIMIT_CORE, &none);
	filter_briefly();
	/* with invalid magic numbers, so that it would have no effect */
	syscall(SYS_reboot, 0, 0, 0, NULL);
}

static void exec_shell(unsigned calls)
{
	char *args[] = {(char *)"sh", (char *)"-c", (char *)"cat /proc/self/comm | grep -q cat",
			NULL};
	struct err e;

	HOLDS(privileges_filter_calls(calls, SECCOMP_ON, &e) == 0);
	execv("/bin/sh", args);
	_exit(errno);
}

static void exec_plugin(void)
{
	exec_shell(ALL_CALLS);
}

static void exec_without_plugins(void)
{
	exec_shell(CALLS_ALWAYS | CALLS_BPF);
}

static void only_logged(void)
{
	struct err e;

	HOLDS(privileges_filter_calls(ALL_CALLS, SECCOMP_LOG, &e) == 0);
	HOLDS(fails_with(umount2("/nowhere", 0), ENOENT) || errno == EPERM);
}

static void not_filtered(void)
{
	struct err e;

	HOLDS(privileges_filter_calls(ALL_CALLS, SECCOMP_OFF, &e) == 0);
	HOLDS(status_line("Seccomp:") == 0);
}

static void test_unlisted_calls_are_refused(void **state)
{
	(void)state;
	skip_without(getuid() == 0 && can_filter());
	assert_int_equal(status_of(calls_are_refused), 0);
	assert_int_equal(status_of(calls_are_allowed), 0);
	assert_int_equal(status_of(filter_then_thread), 0);
}

static void test_fatal_calls_end_the_process(void **state)
{
	(void)state;
	skip_without(getuid() == 0 && can_filter());
	assert_int_equal(status_of(a_fatal_call), -SIGSYS);
}

static void test_programs_run_only_where_plugins_may(void **state)
{
	(void)state;
	skip_without(getuid() == 0 && can_filter());
	assert_int_equal(status_of(exec_plugin), 0);
	assert_int_equal(status_of(exec_without_plugins), ENOSYS);
}

static void test_the_filter_can_log_or_be_off(void **state)
{
	(void)state;
	skip_without(getuid() == 0 && can_filter());
	assert_int_equal(status_of(only_logged), 0);
	assert_int_equal(status_of(not_filtered), 0);
}

/* --- the lists -------------------------------------------------------------------------------- */

static bool has_call(const char *name)
{
	for (size_t i = 0; i < n_syscalls_allowed; i++)
		if (strcmp(syscalls_allowed[i].name, name) == 0)
			return true;
	return false;
}

static bool is_a_call(const char *name)
{
	return seccomp_syscall_resolve_name_arch(SCMP_ARCH_X86_64, name) >= 0 ||
	       seccomp_syscall_resolve_name_arch(SCMP_ARCH_AARCH64, name) >= 0;
}

/* Unknown to Debian 12's libseccomp: left out there, and answered with ENOSYS. */
static bool is_new(const char *name)
{
	return strcmp(name, "fchmodat2") == 0;
}

static void test_every_name_is_a_system_call(void **state)
{
	(void)state;
	for (size_t i = 0; i < n_syscalls_allowed; i++) {
		const char *name = syscalls_allowed[i].name;

		if (!is_a_call(name) && !is_new(name))
			fail_msg("no architecture has %s", name);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(name, syscalls_allowed[k].name);
	}
	for (size_t i = 0; i < n_syscalls_fatal; i++) {
		assert_true(is_a_call(syscalls_fatal[i]));
		assert_false(has_call(syscalls_fatal[i]));
	}
	for (size_t i = 0; i < n_syscalls_conditional; i++) {
		assert_true(is_a_call(syscalls_conditional[i].name));
		assert_false(has_call(syscalls_conditional[i].name));
	}
}

/* Of two equivalent calls arm64 has only the newer one. */
static void test_arm64_has_an_equivalent_for_each(void **state)
{
	static const char *const pairs[][2] = {
		{"open", "openat"},
		{"stat", "newfstatat"},
		{"lstat", "newfstatat"},
		{"access", "faccessat"},
		{"readlink", "readlinkat"},
		{"mkdir", "mkdirat"},
		{"rmdir", "unlinkat"},
		{"unlink", "unlinkat"},
		{"rename", "renameat"},
		{"chmod", "fchmodat"},
		{"getdents", "getdents64"},
		{"dup2", "dup3"},
		{"pipe", "pipe2"},
		{"eventfd", "eventfd2"},
		{"poll", "ppoll"},
		{"select", "pselect6"},
		{"epoll_wait", "epoll_pwait"},
		{"fork", "clone"},
		{"epoll_create", "epoll_create1"},
		{"inotify_init", "inotify_init1"},
		{"mknod", "mknodat"},
		{"link", "linkat"},
		{"symlink", "symlinkat"},
		{"chown", "fchownat"},
		{"lchown", "fchownat"},
		{"utime", "utimensat"},
		{"utimes", "utimensat"},
		{"vfork", "clone"},
		{"creat", "openat"},
		{"getpgrp", "getpgid"},
		{"alarm", "setitimer"},
		{"time", "clock_gettime"},
		{"pause", "ppoll"},
		{"arch_prctl", "prctl"},
	};

	(void)state;
	for (size_t i = 0; i < n_syscalls_allowed; i++) {
		const char *name = syscalls_allowed[i].name, *other = NULL;

		if (seccomp_syscall_resolve_name_arch(SCMP_ARCH_AARCH64, name) >= 0 || is_new(name))
			continue;
		for (size_t k = 0; k < ARRAY_SIZE(pairs); k++)
			other = strcmp(pairs[k][0], name) == 0 ? pairs[k][1] : other;
		if (!other || !has_call(other) ||
		    seccomp_syscall_resolve_name_arch(SCMP_ARCH_AARCH64, other) < 0)
			fail_msg("arm64 has nothing for %s", name);
	}
}

TEST_GROUP(privileges)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_capabilities_are_dropped_from_all_sets),
		cmocka_unit_test(test_threads_and_programs_get_no_more),
		cmocka_unit_test(test_unlisted_calls_are_refused),
		cmocka_unit_test(test_fatal_calls_end_the_process),
		cmocka_unit_test(test_programs_run_only_where_plugins_may),
		cmocka_unit_test(test_the_filter_can_log_or_be_off),
		cmocka_unit_test(test_every_name_is_a_system_call),
		cmocka_unit_test(test_arm64_has_an_equivalent_for_each),
	};

	return test_group_run(tests, NULL, NULL);
}
