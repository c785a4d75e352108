// SPDX-License-Identifier: Apache-2.0
/* The whole daemon in its own network namespace: configured netdevs are watched, listed and
 * counted, unless disabled. Needs root. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs those above first */
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon_child.h"
#include "namespaces.h"
#include "pool_config.h"
#include "test_group.h"
#include "tmptree.h"

static char *tree; /* of the running test */
static struct options options;
static char answer[1024 * 1024], socket_path[256], log_path[256];

static int setup(void **state)
{
	struct options *o = &options;

	(void)state;
	tree = tmptree_new();
	tmptree_write(tree, "kubelet/device-plugins/keep", "\n");
	options_defaults(o);
	snprintf(o->run_dir, sizeof(o->run_dir), "%s/run", tree);
	snprintf(o->state_dir, sizeof(o->state_dir), "%s/state", tree);
	snprintf(o->kubelet_dir, sizeof(o->kubelet_dir), "%s/kubelet", tree);
	snprintf(socket_path, sizeof(socket_path), "%s/run/rocelet.sock", tree);
	snprintf(log_path, sizeof(log_path), "%s/log", tree);
	o->listen[0] = '\0';
	o->sample_interval_ms = 50;
	strcpy(o->mirrors.items[o->mirrors.n++], "mir0");
	strcpy(o->mirrors.items[o->mirrors.n++], "gone0");
	if (namespaces_entered())
		namespace_run(-1, "ip link add mir0 up type veth peer name far0");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	if (namespaces_entered())
		namespace_run(-1, "ip link delete mir0");
	tmptree_free(tree);
	return 0;
}

static pid_t start(void)
{
	static char *argv[] = {(char *)"rocelet", NULL};
	struct pool_config none = {0};
	const struct launch launch = {.options = &options, .pools = &none, .argc = 1, .argv = argv};

	return daemon_start(&launch, log_path);
}

static void test_a_mirror_is_watched_and_a_missing_one_is_listed(void **state)
{
	pid_t pid;

	(void)state;
	namespaces_need();
	pid = start();
	http_get_until(socket_path, "/api/v1/config", "\"hook\": \"xdp\"", answer, sizeof(answer));
	assert_non_null(strstr(answer, "\"netdev\": \"mir0\""));
	assert_non_null(strstr(answer, "\"error\": \"No such device\""));
	http_get_until(socket_path, "/metrics", "rocelet_bpf_ports{hook=\"xdp\"} 1\n", answer,
		       sizeof(answer));
	assert_int_equal(daemon_stop(pid, SIGTERM), 0);
	namespace_run(-1, "! ip link show dev mir0 | grep -q xdp");
}

static void test_a_mirror_created_later_is_watched(void **state)
{
	pid_t pid;

	(void)state;
	namespaces_need();
	pid = start();
	http_get_until(socket_path, "/metrics", "rocelet_bpf_ports{hook=\"none\"} 1\n", answer,
		       sizeof(answer));
	namespace_run(-1, "ip link add gone0 up type veth peer name far1");
	http_get_until(socket_path, "/metrics", "rocelet_bpf_ports{hook=\"xdp\"} 2\n", answer,
		       sizeof(answer));
	namespace_run(-1, "ip link delete gone0");
	http_get_until(socket_path, "/metrics", "rocelet_bpf_ports{hook=\"none\"} 1\n", answer,
		       sizeof(answer));
	assert_int_equal(daemon_stop(pid, SIGTERM), 0);
}

static void test_a_dry_run_only_logs(void **state)
{
	pid_t pid;

	(void)state;
	namespaces_need();
	options.dry_run = true;
	pid = start();
	http_get_until(socket_path, "/readyz", "200 OK", answer, sizeof(answer));
	http_get_until(socket_path, "/api/v1/config", "\"ports\": []", answer, sizeof(answer));
	assert_int_equal(daemon_stop(pid, SIGTERM), 0);
	namespace_run(-1, "grep -q 'dry run: would count the RoCE packets of mir0 (mirror)' %s",
		      log_path);
}

static void test_without_bpf_nothing_is_watched(void **state)
{
	pid_t pid;

	(void)state;
	namespaces_need();
	options.no_bpf = true;
	pid = start();
	http_get_until(socket_path, "/api/v1/config", "\"bpf\": null", answer, sizeof(answer));
	http_get_until(socket_path, "/metrics", "rocelet_build_info", answer, sizeof(answer));
	assert_null(strstr(answer, "rocelet_bpf_ports"));
	assert_int_equal(daemon_stop(pid, SIGTERM), 0);
}

TEST_GROUP(packet_wiring)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_a_mirror_is_watched_and_a_missing_one_is_listed),
		TEST(test_a_mirror_created_later_is_watched),
		TEST(test_a_dry_run_only_logs),
		TEST(test_without_bpf_nothing_is_watched),
	};

	namespaces_enter();
	return test_group_run(tests, NULL, NULL);
}
