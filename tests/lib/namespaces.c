// SPDX-License-Identifier: Apache-2.0
#include "namespaces.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const char *refusal = "namespaces_enter() was not called"; /* NULL = entered */

static const char *enter(void)
{
	if (unshare(CLONE_NEWNET) < 0)
		return errno == EPERM ? "a network namespace of its own needs root"
				      : "no network namespaces here";
	if (system("ip link add near0 type veth peer name far0 2>/dev/null && "
		   "ip link delete near0") != 0)
		return "this kernel has no veth devices";
	return NULL;
}

const char *namespaces_enter(void)
{
	refusal = enter();
	return refusal;
}

bool namespaces_entered(void)
{
	return !refusal;
}

void namespaces_need(void)
{
	if (namespaces_entered())
		return;
	print_message("skipped: %s\n", refusal);
	skip();
}

const char *namespaces_enter_pids(void)
{
	int status = 0;
	pid_t child;

	if (unshare(CLONE_NEWPID | CLONE_NEWNS) < 0)
		return "a PID namespace of its own needs root";
	child = fork();
	if (child < 0)
		return "no process can be made";
	if (child > 0) {
		waitpid(child, &status, 0);
		_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128);
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("proc", "/proc", "proc", 0, NULL) < 0)
		return "/proc cannot be mounted here";
	return NULL;
}

static void *make(void *arg)
{
	int *fd = arg;

	*fd = unshare(CLONE_NEWNET) < 0 ? -1
					: open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	return NULL;
}

int namespace_new(void)
{
	pthread_t thread;
	int fd = -1;

	assert_int_equal(pthread_create(&thread, NULL, make, &fd), 0);
	pthread_join(thread, NULL);
	assert_true(fd >= 0);
	return fd;
}

void namespace_run(int netns_fd, const char *fmt, ...)
{
	char command[512];
	int status = -1;
	va_list ap;
	pid_t child;

	va_start(ap, fmt);
	vsnprintf(command, sizeof(command), fmt, ap);
	va_end(ap);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		if (netns_fd >= 0 && setns(netns_fd, CLONE_NEWNET) < 0)
			_exit(126);
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	if (status != 0)
		fail_msg("failed: %s", command);
}
