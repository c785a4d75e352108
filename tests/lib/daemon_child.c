// SPDX-License-Identifier: Apache-2.0
#include "daemon_child.h"
#include "loop_helpers.h"

#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "config_file.h"
#include "log.h"
#include "options.h"
#include "pool_config.h"

uint64_t monotonic_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* exit() and not _exit(): the leak check of sanitizer builds runs at exit. */
static void run(const struct launch *l)
{
	struct err e = {0};

	exit(loop_run(l, &e) == 0 ? 0 : 1);
}

static void log_to(const char *path)
{
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;

	log_init(path ? LOG_LVL_INFO : LOG_LVL_ERROR, LOG_FORMAT_TEXT);
	if (fd < 0)
		return;
	dup2(fd, STDERR_FILENO);
	close(fd);
}

pid_t daemon_start(const struct launch *l, const char *log)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid > 0)
		return pid;
	log_to(log);
	run(l);
	return 0;
}

static void on_warning(const char *sentence, void *arg)
{
	(void)arg;
	log_warn("test", 0, "%s", sentence);
}

static void run_argv(char *const argv[])
{
	static struct options options;
	static struct pool_config pools;
	struct launch launch = {.options = &options, .pools = &pools, .argv = argv};
	struct config_file file = {0};
	enum option_action action;
	struct err e = {0};

	while (argv[launch.argc])
		launch.argc++;
	if (options_load(&options, &action, &file, launch.argc, argv, on_warning, NULL, &e) < 0 ||
	    pool_config_load(&pools, &file, &options, on_warning, NULL, &e) < 0) {
		log_error("test", 0, "%s", e.msg);
		exit(2);
	}
	launch.config_digest = config_file_digest(&file);
	memcpy(launch.group, file.group, sizeof(launch.group));
	launch.can_match = file.can_match;
	config_file_done(&file);
	run(&launch);
}

pid_t daemon_start_argv(char *const argv[], const char *log)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid > 0)
		return pid;
	log_to(log);
	run_argv(argv);
	return 0;
}

int daemon_stop(pid_t pid, int signum)
{
	int status;

	assert_int_equal(kill(pid, signum), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int connect_unix(const char *path)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	snprintf(to.sun_path, sizeof(to.sun_path), "%s", path);
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0)
		return fd;
	close(fd);
	return -1;
}

void http_get(const char *socket_path, const char *url, char *ret, size_t size)
{
	char request[128];
	size_t n = 0;
	ssize_t r;
	int fd = connect_unix(socket_path);

	ret[0] = '\0';
	if (fd < 0)
		return;
	snprintf(request, sizeof(request),
		 "GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", url);
	assert_int_equal(write(fd, request, strlen(request)), strlen(request));
	while (n + 1 < size && (r = read(fd, ret + n, size - n - 1)) > 0)
		n += (size_t)r;
	ret[n] = '\0';
	close(fd);
}

void http_get_until(const char *socket_path, const char *url, const char *wanted, char *ret,
		    size_t size)
{
	uint64_t deadline = monotonic_ms() + PATIENCE_MS;

	do {
		http_get(socket_path, url, ret, size);
		if (strstr(ret, wanted))
			return;
		poll(NULL, 0, 5);
	} while (monotonic_ms() < deadline);
	fail_msg("%s never had '%s', last answer:\n%s", url, wanted, ret);
}
