/* The whole daemon over a small tree: starts, serves, and stops cleanly on a signal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "log.h"
#include "loop.h"
#include "pool_config.h"
#include "tmptree.h"

#define PATIENCE_MS 10000

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static char
	*tree; /* of the running test; not on the stack, where the child's leak check misses it */

static void make_tree(const char *dir)
{
	tmptree_write(dir, "class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n");
	tmptree_write(dir, "class/infiniband/mlx5_0/ports/1/link_layer", "Ethernet\n");
	tmptree_write(dir, "class/infiniband/mlx5_0/ports/1/hw_counters/np_cnp_sent", "42\n");
	tmptree_write(dir, "class/infiniband/mlx5_0/node_guid", "0002:c903:0000:0001\n");
	tmptree_write(dir, "kubelet/device-plugins/keep", "\n");
}

static void set_options(struct options *o, const char *dir)
{
	options_defaults(o);
	snprintf(o->sysfs_root, sizeof(o->sysfs_root), "%s", dir);
	snprintf(o->run_dir, sizeof(o->run_dir), "%s/run", dir);
	snprintf(o->kubelet_dir, sizeof(o->kubelet_dir), "%s/kubelet", dir);
	strcpy(o->listen, "127.0.0.1:0");
	o->sample_interval_ms = 50;
}

/* Without resources to offer. */
static int run(const struct options *o, struct err *e)
{
	static char *argv[] = {(char *)"rocelet", NULL};
	struct pool_config none = {0};
	const struct launch launch = {o, &none, 1, argv};

	return loop_run(&launch, e);
}

static pid_t start(const struct options *o)
{
	pid_t pid = fork();
	struct err e = {0};

	assert_true(pid >= 0);
	if (pid > 0)
		return pid;
	log_init(LOG_LVL_ERROR, LOG_FORMAT_TEXT);
	exit(run(o, &e) == 0
		     ? 0
		     : 1); /* not _exit(): the leak check of sanitizer builds runs at exit */
}

static int connect_unix(const char *path)
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

/* The whole answer to GET url; "" when nobody answers. */
static void get(const char *socket_path, const char *url, char *ret, size_t size)
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

/* Asks again until the answer contains `wanted`. */
static void get_until(const char *socket_path, const char *url, const char *wanted, char *ret,
		      size_t size)
{
	uint64_t deadline = now_ms() + PATIENCE_MS;

	do {
		get(socket_path, url, ret, size);
		if (strstr(ret, wanted))
			return;
		poll(NULL, 0, 5);
	} while (now_ms() < deadline);
	fail_msg("%s never had '%s', last answer:\n%s", url, wanted, ret);
}

static int stop(pid_t pid, int signum)
{
	int status;

	assert_int_equal(kill(pid, signum), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static char answer[1024 * 1024];

static void test_the_daemon_serves_what_it_sees_and_stops_cleanly(void **state)
{
	static struct options o;
	char path[256];
	pid_t pid;
	(void)state;

	tree = tmptree_new();
	make_tree(tree);
	set_options(&o, tree);
	pid = start(&o);
	snprintf(path, sizeof(path), "%s/run/rocelet.sock", tree);
	get_until(path, "/healthz", "200 OK", answer, sizeof(answer));
	get_until(path, "/readyz", "200 OK", answer, sizeof(answer));
	get_until(path, "/metrics",
		  "roce_cnp_sent_packets_total{device=\"mlx5_0\",port=\"1\"} 42\n", answer,
		  sizeof(answer));
	assert_non_null(strstr(answer, "rocelet_build_info{version=\"" ROCELET_VERSION "\"} 1\n"));
	get_until(path, "/api/v1/devices", "mlx5_0", answer, sizeof(answer));
	get_until(path, "/api/v1/config", "sample-interval", answer, sizeof(answer));
	snprintf(path, sizeof(path), "%s/kubelet/device-plugins/rocelet-metrics.sock", tree);
	get_until(path, "/metrics", "roce_cnp_sent_packets_total", answer, sizeof(answer));
	assert_int_equal(stop(pid, SIGTERM), 0);
	assert_int_equal(connect_unix(path), -1);
	tmptree_free(tree);
}

static void test_a_new_value_reaches_the_page_with_the_next_sample(void **state)
{
	static struct options o;
	char path[256];
	pid_t pid;
	(void)state;

	tree = tmptree_new();
	make_tree(tree);
	set_options(&o, tree);
	pid = start(&o);
	snprintf(path, sizeof(path), "%s/run/rocelet.sock", tree);
	get_until(path, "/metrics",
		  "roce_cnp_sent_packets_total{device=\"mlx5_0\",port=\"1\"} 42\n", answer,
		  sizeof(answer));
	tmptree_write(tree, "class/infiniband/mlx5_0/ports/1/hw_counters/np_cnp_sent", "43\n");
	get_until(path, "/metrics",
		  "roce_cnp_sent_packets_total{device=\"mlx5_0\",port=\"1\"} 43\n", answer,
		  sizeof(answer));
	assert_int_equal(stop(pid, SIGINT), 0);
	tmptree_free(tree);
}

static void test_a_root_that_is_not_there_is_one_sentence(void **state)
{
	static struct options o;
	struct err e = {0};
	(void)state;

	set_options(&o, "/nonexistent");
	assert_true(run(&o, &e) < 0);
	assert_non_null(strstr(e.msg, "/nonexistent"));
}

static void test_a_port_in_use_stops_the_start_cleanly(void **state)
{
	static struct options o;
	struct err e = {0};
	(void)state;

	tree = tmptree_new();
	make_tree(tree);
	set_options(&o, tree);
	strcpy(o.listen, "127.0.0.1:not-a-port");
	log_init(LOG_LVL_ERROR, LOG_FORMAT_TEXT);
	assert_true(run(&o, &e) < 0);
	assert_non_null(strstr(e.msg, "not-a-port"));
	tmptree_free(tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_daemon_serves_what_it_sees_and_stops_cleanly),
		cmocka_unit_test(test_a_new_value_reaches_the_page_with_the_next_sample),
		cmocka_unit_test(test_a_root_that_is_not_there_is_one_sentence),
		cmocka_unit_test(test_a_port_in_use_stops_the_start_cleanly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
