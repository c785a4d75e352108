// SPDX-License-Identifier: Apache-2.0
/* The environment that a runtime passes to the CNI plugin. */
#include "shim_env.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cleanup.h"
#include "test_group.h"

#define HUGE_ARG 5000

static const char *const env_names[] = {"CNI_COMMAND", "CNI_CONTAINERID", "CNI_NETNS",
					"CNI_IFNAME",  "CNI_PATH",	  "CNI_ARGS"};

/* Sets a complete environment with the value of one variable changed; NULL = unset. */
static void env_set(const char *command, const char *name, const char *value)
{
	const char *const values[] = {command, "some-id",      "/run/netns/a",
				      "net1",  "/opt/cni/bin", ""};

	unsetenv("CNI_NETNS_OVERRIDE");
	for (size_t i = 0; i < ARRAY_SIZE(env_names); i++)
		setenv(env_names[i], values[i], 1);
	if (name && value)
		setenv(name, value, 1);
	else if (name)
		unsetenv(name);
}

static void env_refused(const char *command, const char *name, const char *value, const char *msg)
{
	struct shim_env env = {.verb = N_SHIM_VERBS};
	struct shim_error e = {0};

	env_set(command, name, value);
	assert_int_equal(shim_env_read(&env, &e), -EPROTO);
	assert_int_equal(e.code, SHIM_ENV);
	assert_non_null(strstr(e.msg, msg));
	assert_int_equal(env.verb, N_SHIM_VERBS);
}

static void env_taken(const char *command, const char *name, const char *value, enum shim_verb verb)
{
	struct shim_error e = {0};
	struct shim_env env;

	env_set(command, name, value);
	assert_int_equal(shim_env_read(&env, &e), 0);
	assert_int_equal(env.verb, verb);
	assert_non_null(env.args);
}

static void test_needs_of_verbs(void **state)
{
	(void)state;
	for (size_t i = 1; i <= 4; i++) {
		char missing[80];

		snprintf(missing, sizeof(missing), "required env variables [%s] missing",
			 env_names[i]);
		env_refused("ADD", env_names[i], NULL, missing);
		env_refused("CHECK", env_names[i], "", missing);
	}
	env_taken("DEL", "CNI_NETNS", NULL, SHIM_DEL);
	env_refused("DEL", "CNI_PATH", NULL, "[CNI_PATH]");
	env_taken("GC", "CNI_CONTAINERID", NULL, SHIM_GC);
	env_taken("STATUS", "CNI_IFNAME", "a/b", SHIM_STATUS);
	env_refused("STATUS", "CNI_PATH", NULL, "[CNI_PATH]");
	env_taken("VERSION", "CNI_PATH", NULL, SHIM_VERSION_VERB);
	env_taken("ADD", "CNI_ARGS", NULL, SHIM_ADD);
	env_taken("add", NULL, NULL, SHIM_UNKNOWN);
}

static void test_all_missing_variables_are_listed(void **state)
{
	struct shim_error e = {0};
	struct shim_env env;

	(void)state;
	env_set("ADD", "CNI_PATH", NULL);
	unsetenv("CNI_NETNS");
	unsetenv("CNI_IFNAME");
	assert_int_equal(shim_env_read(&env, &e), -EPROTO);
	assert_string_equal(e.msg,
			    "required env variables [CNI_NETNS,CNI_IFNAME,CNI_PATH] missing");
}

static void test_values(void **state)
{
	const char *const ids[] = {"some-%%id", "-a", ".a", "a/b", "a b", "\xc3\xa4"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		env_refused("DEL", "CNI_CONTAINERID", ids[i], "invalid characters in containerID");
	env_refused("ADD", "CNI_IFNAME", "1234567890123456", "too long");
	env_refused("ADD", "CNI_IFNAME", ".", "is . or ..");
	env_refused("ADD", "CNI_IFNAME", "..", "is . or ..");
	env_refused("ADD", "CNI_IFNAME", "a:b", "contains /");
	env_refused("ADD", "CNI_IFNAME", "a\tb", "whitespace");
	env_taken("ADD", "CNI_IFNAME", "123456789012345", SHIM_ADD);
	env_taken("ADD", "CNI_CONTAINERID", "9a_B.c-d", SHIM_ADD);
}

static void test_netns_override(void **state)
{
	const struct {
		const char *value;
		bool is;
	} rows[] = {{"1", true}, {"TRUE", true}, {"true", true}, {"0", false}, {"yes", false}};
	struct shim_error e = {0};
	struct shim_env env;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		env_set("ADD", NULL, NULL);
		setenv("CNI_NETNS_OVERRIDE", rows[i].value, 1);
		assert_int_equal(shim_env_read(&env, &e), 0);
		assert_int_equal(env.netns_override, rows[i].is);
	}
	unsetenv("CNI_NETNS_OVERRIDE");
}

static void test_cni_args(void **state)
{
	const char *const good[] = {"",
				    "IgnoreUnknown=1;A=b",
				    "A=b;IgnoreUnknown=TRUE",
				    "IP=192.0.2.9/24;MAC=",
				    "IgnoreUnknown=fAlSe;GUID=x",
				    "K8S_POD_NAME=a;K8S_POD_UID=d"};
	const char *const bad[] = {"A=b",
				   "IP=1=2",
				   "IgnoreUnknown=maybe",
				   "IP",
				   "IgnoreUnknown=0;A=b",
				   ";",
				   "IP=1;",
				   "IgnoreUnknown=1;;A=b",
				   "IPX=1",
				   "I=1",
				   "IgnoreUnknown=1;IP=1=2"};
	struct shim_error e;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		assert_int_equal(shim_env_check_args(good[i], &e), 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		e = (struct shim_error){0};
		assert_int_equal(shim_env_check_args(bad[i], &e), -EPROTO);
		assert_int_equal(e.code, SHIM_ENV);
		assert_memory_equal(e.msg, "ARGS: ", 6);
	}
}

/* The error quotes only the beginning of a long pair. */
static void test_long_args(void **state)
{
	char args[HUGE_ARG + 1];
	struct shim_error e = {0};

	(void)state;
	memset(args, 'x', HUGE_ARG);
	args[HUGE_ARG] = '\0';
	assert_int_equal(shim_env_check_args(args, &e), -EPROTO);
	assert_true(strlen(e.msg) < 200);
}

static void env_netns(const char *path, bool override, int wanted)
{
	const struct shim_env env = {.netns = path, .netns_override = override};
	struct shim_error e = {0};

	assert_int_equal(shim_env_check_netns(&env, &e), wanted);
	assert_int_equal(e.code, wanted ? SHIM_NETNS : 0);
}

static void test_netns(void **state)
{
	(void)state;
	env_netns("/proc/self/ns/net", true, 0);
	env_netns("/proc/self/ns/net", false, -EPROTO);
	env_netns("/proc/self/ns/mnt", true, -EPROTO);
	env_netns("/dev/null", true, -EPROTO);
	env_netns("/etc/passwd", true, -EPROTO);
	env_netns("/nowhere", true, -EPROTO);
}

TEST_GROUP(shim_env)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_needs_of_verbs),
		cmocka_unit_test(test_all_missing_variables_are_listed),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_netns_override),
		cmocka_unit_test(test_cni_args),
		cmocka_unit_test(test_long_args),
		cmocka_unit_test(test_netns),
	};

	return test_group_run(tests, NULL, NULL);
}
