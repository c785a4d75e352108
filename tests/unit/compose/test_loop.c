// SPDX-License-Identifier: Apache-2.0
/* The whole daemon over a small sysfs tree: it starts, serves, and stops cleanly on a signal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <signal.h>

#include "daemon_child.h"
#include "log.h"
#include "loop.h"
#include "pool_config.h"
#include "test_group.h"
#include "tmptree.h"
#include "version.h"

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

/* Starts it with no pools. */
static pid_t start(const struct options *o)
{
	static char *argv[] = {(char *)"rocelet", NULL};
	struct pool_config none = {0};
	const struct launch launch = {.options = o, .pools = &none, .argc = 1, .argv = argv};

	return daemon_start(&launch, NULL);
}

static int run(const struct options *o, struct err *e)
{
	static char *argv[] = {(char *)"rocelet", NULL};
	struct pool_config none = {0};
	const struct launch launch = {.options = o, .pools = &none, .argc = 1, .argv = argv};

	return loop_run(&launch, e);
}

static char answer[1024 * 1024];

static void test_the_daemon_serves_its_devices_and_stops_cleanly(void **state)
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
	http_get_until(path, "/healthz", "200 OK", answer, sizeof(answer));
	http_get_until(path, "/readyz", "200 OK", answer, sizeof(answer));
	http_get_until(
		path, "/metrics",
		"roce_cnp_sent_packets_total{device=\"mlx5_0\",port=\"1\",source=\"hw\"} 42\n",
		answer, sizeof(answer));
	assert_non_null(
		strstr(answer, "rocelet_build_info{version=\"" ROCELET_VERSION "\",revision=\""));
	http_get_until(path, "/api/v1/devices", "mlx5_0", answer, sizeof(answer));
	http_get_until(path, "/api/v1/config", "sample-interval", answer, sizeof(answer));
	snprintf(path, sizeof(path), "%s/kubelet/device-plugins/rocelet-metrics.sock", tree);
	http_get_until(path, "/metrics", "roce_cnp_sent_packets_total", answer, sizeof(answer));
	assert_int_equal(daemon_stop(pid, SIGTERM), 0);
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
	http_get_until(
		path, "/metrics",
		"roce_cnp_sent_packets_total{device=\"mlx5_0\",port=\"1\",source=\"hw\"} 42\n",
		answer, sizeof(answer));
	tmptree_write(tree, "class/infiniband/mlx5_0/ports/1/hw_counters/np_cnp_sent", "43\n");
	http_get_until(
		path, "/metrics",
		"roce_cnp_sent_packets_total{device=\"mlx5_0\",port=\"1\",source=\"hw\"} 43\n",
		answer, sizeof(answer));
	assert_int_equal(daemon_stop(pid, SIGINT), 0);
	tmptree_free(tree);
}

/* A change in configfs causes no event. */
static void test_a_changed_port_setting_is_shown(void **state)
{
	static const char tos[] = "kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos";
	static struct options o;
	char path[256];
	pid_t pid;
	(void)state;

	tree = tmptree_new();
	make_tree(tree);
	tmptree_write(tree, tos, "106\n");
	set_options(&o, tree);
	pid = start(&o);
	snprintf(path, sizeof(path), "%s/run/rocelet.sock", tree);
	http_get_until(path, "/api/v1/devices", "\"rdmaCm\":{\"type\":null,\"tos\":106}", answer,
		       sizeof(answer));
	/* A tree has neither netlink nor a PCI bus. */
	assert_non_null(strstr(answer, "\"pfc\":null"));
	assert_non_null(strstr(answer, "\"pcie\":null"));
	tmptree_write(tree, tos, "104\n");
	http_get_until(path, "/api/v1/devices", "\"tos\":104}", answer, sizeof(answer));
	assert_int_equal(daemon_stop(pid, SIGTERM), 0);
	tmptree_free(tree);
}

static void test_a_missing_root_is_an_error(void **state)
{
	static struct options o;
	struct err e = {0};
	(void)state;

	set_options(&o, "/nonexistent");
	assert_true(run(&o, &e) < 0);
	assert_non_null(strstr(e.msg, "/nonexistent"));
}

TEST_GROUP(loop)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_daemon_serves_its_devices_and_stops_cleanly),
		cmocka_unit_test(test_a_new_value_reaches_the_page_with_the_next_sample),
		cmocka_unit_test(test_a_changed_port_setting_is_shown),
		cmocka_unit_test(test_a_missing_root_is_an_error),
	};

	return test_group_run(tests, NULL, NULL);
}
