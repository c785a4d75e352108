// SPDX-License-Identifier: Apache-2.0
/* The document of /api/v1/agent, with working and failed parts. */
#include "api_agent.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <jansson.h>

#include "cleanup.h"
#include "test_group.h"

static json_t *agent_of(const struct agent_input *s)
{
	size_t len;
	char *text = api_agent(s, &len);
	json_t *document = text ? json_loads(text, 0, NULL) : NULL;

	assert_non_null(document);
	free(text);
	return document;
}

/* Asserts that the part works: 1, 0, or -1 for null. */
static void assert_part(const json_t *document, const char *name, int works, const char *what,
			const char *why)
{
	json_t *part;
	size_t i;

	json_array_foreach (json_object_get(document, "parts"), i, part) {
		const json_t *w = json_object_get(part, "works");
		const char *reason = json_string_value(json_object_get(part, "why"));

		if (strcmp(json_string_value(json_object_get(part, "name")), name) != 0)
			continue;
		assert_int_equal(json_is_null(w) ? -1 : json_is_true(w), works);
		assert_string_equal(json_string_value(json_object_get(part, "what")), what);
		assert_string_equal(reason ? reason : "", why);
		return;
	}
	fail_msg("no part %s", name);
}

static const struct api_bpf no_bpf;

static void test_a_daemon_that_only_observes(void **state)
{
	const struct source_state sources[N_SOURCES] = {
		[SOURCE_NETLINK] = {.used = true, .read_ms = 9600},
		[SOURCE_ETHTOOL] = {.used = true, .errors = 3}};
	const struct agent_input s = {.now_ms = 10000,
				      .sample_ms = 9600,
				      .every_ms = 1000,
				      .samples = 12,
				      .samples_late = 1,
				      .sources = sources,
				      .bpf = &no_bpf};
	json_t *document = agent_of(&s), *list = json_object_get(document, "sources");

	(void)state;
	assert_part(document, "sampling", 1, "every 1 s, 12 taken, 1 skipped", "");
	assert_part(document, "kubelet", -1, "no pool is configured", "");
	assert_part(document, "attach engine", -1, "this daemon attaches no devices", "");
	assert_part(document, "configuration", 1, "in use", "");
	assert_part(document, "privileges", 1, "no required capability is missing", "");
	assert_part(document, "BPF", -1, "switched off", "");
	assert_int_equal(json_array_size(list), 2);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(list, 0), "ageMs")),
			 400);
	assert_true(json_is_null(json_object_get(json_array_get(list, 1), "ageMs")));
	json_decref(document);
}

static void test_parts_that_do_not_work(void **state)
{
	struct resource_info resources[2] = {{.name = "a", .registration = REGISTRATION_DONE},
					     {.name = "b", .error = "refused"}};
	const struct resource_table table = {.resources = resources, .n_resources = 2};
	struct attach_counters counters = {.in_pod = 2,
					   .bad = 1,
					   .cri_open = true,
					   .journal_error = "disk full",
					   .view_error = "/proc is not the host's"};
	const struct config_state config = {.error = {.code = -22, .msg = "line 3: no such key"}};
	const struct missing_capability lack = {.name = "CAP_BPF", .stops = "BPF programs"};
	const struct job_status job = {.text = "the sample of counters", .for_ms = 47000};
	const struct api_bpf_program programs[] = {{"cq_event", "raw_tp", NULL},
						   {"qp_modify", "none", "no BTF"},
						   {"ingress", "none", ""}};
	const struct api_bpf bpf = {.on = true, .programs = programs, .n_programs = 3};
	const struct agent_input s = {.now_ms = 60000,
				      .sample_ms = 13000,
				      .every_ms = 1000,
				      .resources = &table,
				      .counters = &counters,
				      .config = &config,
				      .missing = &lack,
				      .n_missing = 1,
				      .jobs = &job,
				      .n_jobs = 1,
				      .bpf = &bpf};
	json_t *document = agent_of(&s);

	(void)state;
	assert_part(document, "sampling", 0, "every 1 s, 0 taken, 0 skipped",
		    "the sample of counters has been running for 47 s");
	assert_part(document, "kubelet", 0, "1 of 2 resources are registered", "refused");
	assert_part(document, "attach engine", 0, "2 in pods, 0 attaching, 0 returning, 1 failed",
		    "/proc is not the host's");
	assert_part(document, "journal", 0, "not writable", "disk full");
	assert_part(document, "container runtime", 0, "not found yet", "");
	assert_part(document, "configuration", 0, "the file is rejected", "line 3: no such key");
	assert_part(document, "privileges", 0, "1 missing", "BPF programs");
	assert_part(document, "BPF cq_event", 1, "attached (raw_tp)", "");
	assert_part(document, "BPF qp_modify", 0, "not attached", "no BTF");
	assert_part(document, "BPF ingress", -1, "not attached", "");
	json_decref(document);
}

static void test_a_configuration_that_lacks_something(void **state)
{
	struct missing_plugin lack = {"a/b", "no IPAM plugin"};
	struct config_state config = {.lacks = &lack, .n_lacks = 1};
	const struct agent_input s = {.config = &config, .bpf = &no_bpf};
	json_t *document = agent_of(&s);

	(void)state;
	assert_part(document, "configuration", 0, "1 of its pools cannot be used",
		    "a/b: no IPAM plugin");
	json_decref(document);
	config = (struct config_state){.beside = "/etc has a, and no b"};
	document = agent_of(&s);
	assert_part(document, "configuration", 0, "there is no file", "/etc has a, and no b");
	json_decref(document);
}

TEST_GROUP(api_agent)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_daemon_that_only_observes),
		cmocka_unit_test(test_parts_that_do_not_work),
		cmocka_unit_test(test_a_configuration_that_lacks_something),
	};

	return test_group_run(tests, NULL, NULL);
}
