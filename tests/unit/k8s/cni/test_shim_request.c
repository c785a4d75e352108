// SPDX-License-Identifier: Apache-2.0
/* The request of the CNI plugin to the daemon. */
#include "shim_call.h"

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

#define MIB ((size_t)1 << 20)

static const struct shim_env request_env = {.command = "ADD",
					    .container_id = "c1",
					    .netns = "/run/netns/a",
					    .ifname = "net1",
					    .args = "IP=x",
					    .path = "/opt/cni/bin"};

static json_t *request_of(const struct shim_env *env, enum shim_verb verb, const json_t *config)
{
	struct shim_error e = {0};
	AUTO_FREE char *text = shim_request(env, verb, config, &e);

	if (!text)
		fail_msg("%s", e.msg);
	assert_true(strlen(text) <= SHIM_REQUEST_MAX);
	return json_loads(text, 0, NULL);
}

static void request_refused(const struct shim_env *env, enum shim_verb verb, const json_t *config,
			    int code)
{
	struct shim_error e = {0};

	assert_null(shim_request(env, verb, config, &e));
	assert_int_equal(e.code, code);
}

static json_t *long_text(size_t len)
{
	AUTO_FREE char *text = malloc(len + 1);

	memset(text, 'x', len);
	text[len] = '\0';
	return json_string(text);
}

static void test_members(void **state)
{
	json_t *config = json_pack("{ss sb}", "name", "n", "trust", 1);
	json_t *is = request_of(&request_env, SHIM_ADD, config);
	json_t *to_be = json_pack("{ss ss ss ss ss ss sO}", "command", "ADD", "containerID", "c1",
				  "netns", "/run/netns/a", "ifname", "net1", "args", "IP=x", "path",
				  "/opt/cni/bin", "config", config);

	(void)state;
	assert_true(json_equal(is, to_be));
	json_decref(is);
	is = request_of(&request_env, SHIM_DEL, config); /* the DEL of the same attachment */
	assert_string_equal(json_string_value(json_object_get(is, "command")), "DEL");
	json_decref(is);
	json_decref(to_be);
	json_decref(config);
}

/* The daemon reads at most 1 MiB: a longer DEL is sent without its optional members, a longer ADD
 * fails. */
static void test_cuts(void **state)
{
	const struct {
		const char *member;
		bool has_device, has_other;
	} rows[] = {
		{"prevResult", true, true},
		{"unknown", true, false},
		{"ipam", false, false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_t *config = json_pack("{ss ss ss si so}", "name", "n", "type", "sriov",
					   "deviceID", "d", "other", 1, rows[i].member,
					   long_text(MIB));
		json_t *is = request_of(&request_env, SHIM_DEL, config);
		const json_t *cut = json_object_get(is, "config");

		assert_string_equal(json_string_value(json_object_get(cut, "name")), "n");
		assert_int_equal(json_object_get(cut, "deviceID") != NULL, rows[i].has_device);
		assert_int_equal(json_object_get(cut, "other") != NULL, rows[i].has_other);
		assert_null(json_object_get(cut, rows[i].member));
		assert_non_null(json_object_get(config, rows[i].member));
		request_refused(&request_env, SHIM_ADD, config, SHIM_DECODE);
		json_decref(is);
		json_decref(config);
	}
}

/* It leaves out an overlong network name and the variables that a DEL does not need. */
static void test_the_shortest_request_of_a_del(void **state)
{
	AUTO_FREE char *long_path = malloc(MIB + 1);
	struct shim_env env = request_env;
	json_t *config = json_pack("{so ss}", "name", long_text(300), "type", "sriov");
	json_t *is;

	(void)state;
	memset(long_path, 'p', MIB);
	long_path[MIB] = '\0';
	env.path = env.args = env.netns = long_path;
	is = request_of(&env, SHIM_DEL, config);
	assert_null(json_object_get(json_object_get(is, "config"), "name"));
	assert_non_null(json_object_get(json_object_get(is, "config"), "type"));
	assert_string_equal(json_string_value(json_object_get(is, "netns")), "");
	assert_string_equal(json_string_value(json_object_get(is, "path")), "");
	assert_string_equal(json_string_value(json_object_get(is, "containerID")), "c1");
	json_decref(is);
	env.container_id = long_path; /* nothing more can be left out */
	request_refused(&env, SHIM_DEL, config, SHIM_DECODE);
	json_decref(config);
}

static void test_invalid_utf8(void **state)
{
	struct shim_env env = request_env;
	json_t *config = json_object(), *is;

	(void)state;
	env.path = "\xff";
	request_refused(&env, SHIM_ADD, config, SHIM_ENV);
	is = request_of(&env, SHIM_DEL, config);
	assert_string_equal(json_string_value(json_object_get(is, "path")), "");
	json_decref(is);
	json_decref(config);
}

TEST_GROUP(shim_request)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_cuts),
		cmocka_unit_test(test_the_shortest_request_of_a_del),
		cmocka_unit_test(test_invalid_utf8),
	};

	return test_group_run(tests, NULL, NULL);
}
