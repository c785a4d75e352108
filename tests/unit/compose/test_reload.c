// SPDX-License-Identifier: Apache-2.0
/* Reloads the configuration of a running daemon: signals, edits, ConfigMaps, and invalid files. */
#include <limits.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon_child.h"
#include "loop_helpers.h"
#include "sysfs_tree.h"
#include "test_group.h"
#include "tmptree.h"

#define POOL(name, pf)                                                                             \
	"{\"resourceName\": \"" name "\", \"selectors\": {\"pfNames\": [\"" pf "\"]}}"
#define ONE "{\"pools\": [" POOL("one", "ens1np0") "]}\n"
#define TWO "{\"pools\": [" POOL("one", "ens1np0") ",\n" POOL("two", "ens2np0") "]}\n"

static char *tree; /* not on the stack, where the child's leak check misses it */
static char socket_path[PATH_MAX], answer[1 << 20];
static pid_t pid;

static const char *in_tree(const char *name)
{
	static char paths[2][PATH_MAX];
	static unsigned i;

	i ^= 1;
	snprintf(paths[i], PATH_MAX, "%s/%s", tree, name);
	return paths[i];
}

/* Two PFs with a VF each; the configuration is c/config.json. */
static void start(void)
{
	static char config[PATH_MAX], sys[PATH_MAX], run[PATH_MAX], kubelet[PATH_MAX];
	static char *argv[] = {(char *)"rocelet",
			       (char *)"--config",
			       config,
			       (char *)"--sysfs-root",
			       sys,
			       (char *)"--run-dir",
			       run,
			       (char *)"--kubelet-dir",
			       kubelet,
			       (char *)"--listen",
			       (char *)"127.0.0.1:0",
			       (char *)"--settle-ms",
			       (char *)"5",
			       NULL};

	snprintf(config, sizeof(config), "%s/c/config.json", tree);
	snprintf(sys, sizeof(sys), "%s/sys", tree);
	snprintf(run, sizeof(run), "%s/run", tree);
	snprintf(kubelet, sizeof(kubelet), "%s/kubelet", tree);
	snprintf(socket_path, sizeof(socket_path), "%s/run/rocelet.sock", tree);
	setenv("BUS", "1", 1);
	sysfs_tree_generate(sys, 2, 2);
	unsetenv("BUS");
	tmptree_write(tree, "kubelet/device-plugins/keep", "\n");
	pid = daemon_start_argv(argv, in_tree("log"));
	http_get_until(socket_path, "/metrics", "200 OK", answer, sizeof(answer));
}

static int set_up(void **state)
{
	(void)state;
	tree = tmptree_new();
	tmptree_write(tree, "sys/keep", "\n");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	assert_int_equal(daemon_stop(pid, SIGTERM), 0);
	tmptree_free(tree);
	return 0;
}

static void until_served(const char *resource, bool served)
{
	uint64_t deadline = monotonic_ms() + PATIENCE_MS;
	char name[128];

	snprintf(name, sizeof(name), "kubelet/device-plugins/rocelet.dev_%s.sock", resource);
	while ((access(in_tree(name), F_OK) == 0) != served) {
		if (monotonic_ms() > deadline)
			fail_msg("%s is%s served", resource, served ? " not" : " still");
		poll(NULL, 0, 5);
	}
}

static void until_reloads(const char *result, unsigned n)
{
	char expected[128];

	snprintf(expected, sizeof(expected), "rocelet_config_reloads_total{result=\"%s\"} %u\n",
		 result, n);
	http_get_until(socket_path, "/metrics", expected, answer, sizeof(answer));
}

static bool log_has(const char *text)
{
	static char log[1 << 20];
	FILE *f = fopen(in_tree("log"), "re");
	size_t n = f ? fread(log, 1, sizeof(log) - 1, f) : 0;

	log[n] = '\0';
	if (f)
		fclose(f);
	return strstr(log, text) != NULL;
}

static void until_log(const char *text)
{
	uint64_t deadline = monotonic_ms() + PATIENCE_MS;

	while (!log_has(text)) {
		if (monotonic_ms() > deadline)
			fail_msg("the log does not contain \"%s\"", text);
		poll(NULL, 0, 5);
	}
}

static void test_an_edit(void **state)
{
	(void)state;
	tmptree_write(tree, "c/config.json", ONE);
	start();
	until_served("one", true);
	tmptree_write(tree, "c/config.json", TWO);
	until_served("two", true);
	until_served("one", true);
	http_get_until(socket_path, "/api/v1/config", "\"two\"", answer, sizeof(answer));
	tmptree_write(tree, "c/new", ONE);
	assert_int_equal(rename(in_tree("c/new"), in_tree("c/config.json")), 0);
	until_served("two", false);
	until_served("one", true);
	http_get(socket_path, "/api/v1/config", answer, sizeof(answer));
	assert_null(strstr(answer, "\"two\""));
	http_get_until(socket_path, "/api/v1/devices", "rocelet.dev/one", answer, sizeof(answer));
	assert_true(log_has("rocelet.dev/two is not configured any more"));
	until_reloads("failed", 0);
}

/* Edits may go unnoticed, for example on a network file system. */
static void test_sighup_reloads(void **state)
{
	(void)state;
	tmptree_write(tree, "c/config.json", ONE);
	start();
	until_served("one", true);
	until_reloads("ok", 0);
	assert_int_equal(kill(pid, SIGHUP), 0);
	until_reloads("ok", 1);
	assert_int_equal(kill(pid, SIGHUP), 0);
	until_reloads("ok", 2);
	until_served("one", true);
	assert_false(log_has("withdrawing"));
}

static void swap_data(const char *version)
{
	unlink(in_tree("c/..data_tmp"));
	tmptree_link(tree, "c/..data_tmp", version);
	assert_int_equal(rename(in_tree("c/..data_tmp"), in_tree("c/..data")), 0);
}

static void test_a_config_map(void **state)
{
	(void)state;
	tmptree_write(tree, "c/..v1/config.json", ONE);
	tmptree_write(tree, "c/..v2/config.json", TWO);
	tmptree_link(tree, "c/..data", "..v1");
	tmptree_link(tree, "c/config.json", "..data/config.json");
	start();
	until_served("one", true);
	until_served("two", false);
	swap_data("..v2");
	until_served("two", true);
	swap_data("..v1");
	until_served("two", false);
	until_served("one", true);
}

static void test_a_bad_file(void **state)
{
	(void)state;
	tmptree_write(tree, "c/config.json", TWO);
	start();
	until_served("two", true);
	tmptree_write(
		tree, "c/config.json",
		"{\"pools\": [" POOL(
			"one",
			"ens1np0") ",\n\n{\"resourceName\": \"three\", \"selectors\": {\"pfNames\": 7}}]}\n");
	until_reloads("failed", 1);
	until_log("config.json:3: \"pfNames\"");
	until_log("keeping the configuration in use");
	until_served("two", true);
	http_get_until(socket_path, "/api/v1/config", "\"two\"", answer, sizeof(answer));
	/* The file is missing, for a moment or permanently. */
	tmptree_remove(tree, "c/config.json");
	until_reloads("failed", 2);
	until_log("config.json: No such file or directory");
	until_served("two", true);
	tmptree_write(tree, "c/config.json", ONE);
	until_served("two", false);
	until_served("one", true);
}

static void test_options_that_need_a_restart(void **state)
{
	(void)state;
	tmptree_write(tree, "c/config.json", ONE);
	start();
	until_served("one", true);
	tmptree_write(
		tree, "c/config.json",
		"{\"resource-prefix\": \"other.example\", \"sample-interval\": 7,\n\"pools\": [" POOL(
			"one", "ens1np0") ", " POOL("two", "ens2np0") "]}\n");
	until_log("take effect with the next start: ");
	until_log("sample-interval");
	until_log("resource-prefix");
	until_served("two", true); /* with the current prefix */
	until_served("one", true);
	assert_false(log_has("withdrawing"));
}

TEST_GROUP(reload)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_an_edit, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_sighup_reloads, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_config_map, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_bad_file, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_options_that_need_a_restart, set_up,
						tear_down),
	};

	return test_group_run(tests, NULL, NULL);
}
