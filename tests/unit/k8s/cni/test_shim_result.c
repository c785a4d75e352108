// SPDX-License-Identifier: Apache-2.0
/* Results of the CNI plugin in the format of each version, merged with previous results of a
 * chain. */
#include "shim_result.h"

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

static json_t *doc_of(const char *text)
{
	json_t *doc = json_loads(text, 0, NULL);

	if (!doc)
		fail_msg("%s", text);
	return doc;
}

static json_t *read_of(const char *text, const char *version)
{
	struct shim_error e = {0};
	json_t *source = doc_of(text),
	       *result = shim_result_read(source, version, "prevResult", &e);

	if (!result)
		fail_msg("%s", e.msg);
	json_decref(source);
	return result;
}

static void check_equal(json_t *is, const char *wanted)
{
	json_t *to_be = doc_of(wanted);
	AUTO_FREE char *text = json_dumps(is, JSON_COMPACT);

	if (!json_equal(is, to_be))
		fail_msg("%s", text);
	json_decref(is);
	json_decref(to_be);
}

static void check_written(const char *result, const char *version, const char *wanted)
{
	struct shim_error e = {0};
	json_t *r = read_of(result, "1.1.0"), *written = shim_result_write(r, version, &e);

	if (!written)
		fail_msg("%s", e.msg);
	check_equal(written, wanted);
	json_decref(r);
}

#define WHOLE                                                                                      \
	"{\"interfaces\": [{\"name\": \"net1\", \"mac\": \"00:11:22:33:44:55\", \"mtu\": 1500, "   \
	"\"sandbox\": \"/s\", \"pciID\": \"0000:03:00.2\", \"socketPath\": \"/v\"}], "             \
	"\"ips\": [{\"interface\": 0, \"address\": \"1.2.3.30/24\", \"gateway\": \"1.2.3.1\"}, "   \
	"{\"interface\": -1, \"address\": \"abcd::1/64\"}], "                                      \
	"\"routes\": [{\"dst\": \"15.5.6.0/24\", \"gw\": \"15.5.6.8\", \"mtu\": 9000}, "           \
	"{\"dst\": \"1111::/80\"}], \"dns\": {\"domain\": \"d\"}}"

static void test_versions(void **state)
{
	static const char *const old[] = {"0.1.0", "0.2.0"};
	static const char *const middle[] = {"0.3.0", "0.3.1", "0.4.0"};
	char wanted[1024];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(old); i++) {
		snprintf(
			wanted, sizeof(wanted),
			"{\"cniVersion\": \"%s\", \"dns\": {\"domain\": \"d\"}, "
			"\"ip4\": {\"ip\": \"1.2.3.30/24\", \"gateway\": \"1.2.3.1\", "
			"\"routes\": [{\"dst\": \"15.5.6.0/24\", \"gw\": \"15.5.6.8\"}]}, "
			"\"ip6\": {\"ip\": \"abcd::1/64\", \"routes\": [{\"dst\": \"1111::/80\"}]}}",
			old[i]);
		check_written(WHOLE, old[i], wanted);
	}
	for (size_t i = 0; i < ARRAY_SIZE(middle); i++) {
		snprintf(wanted, sizeof(wanted),
			 "{\"cniVersion\": \"%s\", \"interfaces\": [{\"name\": \"net1\", "
			 "\"mac\": \"00:11:22:33:44:55\", \"sandbox\": \"/s\"}], "
			 "\"ips\": [{\"version\": \"4\", \"interface\": 0, "
			 "\"address\": \"1.2.3.30/24\", \"gateway\": \"1.2.3.1\"}, "
			 "{\"version\": \"6\", \"address\": \"abcd::1/64\"}], "
			 "\"routes\": [{\"dst\": \"15.5.6.0/24\", \"gw\": \"15.5.6.8\", "
			 "\"mtu\": 9000}, {\"dst\": \"1111::/80\"}], \"dns\": {\"domain\": \"d\"}}",
			 middle[i]);
		check_written(WHOLE, middle[i], wanted);
	}
	check_written("{\"interfaces\": [{\"name\": \"a\", \"mtu\": 9000}]}", "1.0.0",
		      "{\"cniVersion\": \"1.0.0\", \"interfaces\": [{\"name\": \"a\", "
		      "\"mtu\": 9000}]}");
}

/* dns is printed up to 0.4.0 even when it is empty. */
static void test_an_empty_result(void **state)
{
	struct shim_error e = {0};
	json_t *empty = read_of("{}", "1.1.0");

	(void)state;
	check_written("{}", "0.4.0", "{\"cniVersion\": \"0.4.0\", \"dns\": {}}");
	check_written("{}", "1.1.0", "{\"cniVersion\": \"1.1.0\"}");
	check_written("{\"ips\": [{\"address\": \"1.2.3.4/24\"}]}", "0.2.0",
		      "{\"cniVersion\": \"0.2.0\", \"ip4\": {\"ip\": \"1.2.3.4/24\"}, "
		      "\"dns\": {}}");
	assert_null(shim_result_write(empty, "0.2.0", &e));
	assert_int_equal(e.code, SHIM_INTERNAL);
	assert_non_null(strstr(e.msg, "no valid IP addresses"));
	json_decref(empty);
}

static void test_older_results_are_read(void **state)
{
	(void)state;
	check_equal(read_of("{\"ip4\": {\"ip\": \"1.2.3.4/24\", \"gateway\": \"1.2.3.1\", "
			    "\"routes\": [{\"dst\": \"0.0.0.0/0\"}]}, \"ip6\": null}",
			    "0.2.0"),
		    "{\"interfaces\": [], \"ips\": [{\"address\": \"1.2.3.4/24\", "
		    "\"gateway\": \"1.2.3.1\"}], \"routes\": [{\"dst\": \"0.0.0.0/0\"}], "
		    "\"dns\": {}}");
	/* Members that are not in the specification, and empty ones. */
	check_equal(read_of("{\"interfaces\": [{\"name\": \"a\", \"mac\": \"\", \"x\": 1}], "
			    "\"ips\": null, \"dns\": {\"search\": [], \"domain\": \"\"}, \"y\": 2}",
			    "0.4.0"),
		    "{\"interfaces\": [{\"name\": \"a\"}], \"ips\": [], \"routes\": [], "
		    "\"dns\": {}}");
}

static void test_invalid_results(void **state)
{
	const struct {
		const char *text, *version, *msg;
	} rows[] = {
		{"[]", "1.0.0", "prevResult: not an object"},
		{"{\"ips\": {}}", "1.0.0", "prevResult: ips: not a list"},
		{"{\"ips\": [1]}", "1.0.0", "prevResult: ips: not an object"},
		{"{\"ips\": [{}]}", "1.0.0", "\"address\" is missing"},
		{"{\"ips\": [{\"address\": 1}]}", "1.0.0", "\"address\" is of a wrong type"},
		{"{\"interfaces\": [{\"mac\": \"x\"}]}", "0.4.0", "\"name\" is missing"},
		{"{\"interfaces\": [{\"name\": \"x\", \"mtu\": \"9\"}]}", "1.1.0",
		 "\"mtu\" is of a wrong type"},
		{"{\"routes\": [{\"gw\": \"x\"}]}", "1.0.0", "\"dst\" is missing"},
		{"{\"dns\": {\"search\": [1]}}", "1.0.0", "\"search\" is of a wrong type"},
		{"{\"dns\": []}", "1.0.0", "not an object"},
		{"{\"ip4\": []}", "0.2.0", "not an object"},
		{"{\"ip4\": {\"gateway\": \"x\"}}", "0.1.0", "\"ip\" is missing"},
		{"{\"ip6\": {\"ip\": \"x\", \"gateway\": 1}}", "0.1.0",
		 "\"gateway\" is of a wrong type"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct shim_error e = {0};
		json_t *source = json_loads(rows[i].text, 0, NULL);

		assert_null(shim_result_read(source, rows[i].version, "prevResult", &e));
		assert_int_equal(e.code, SHIM_DECODE);
		if (!strstr(e.msg, rows[i].msg))
			fail_msg("%s: %s", rows[i].text, e.msg);
		json_decref(source);
	}
}

static json_t *chained(const char *ours, const char *previous)
{
	struct shim_error e = {0};
	json_t *result = read_of(ours, "1.1.0"), *before = read_of(previous, "1.0.0");

	assert_int_equal(shim_result_chain(result, before, &e), 0);
	json_decref(before);
	return result;
}

/* The previous plugin's entries come first, and the indices in ours are shifted. */
static void test_chains(void **state)
{
	(void)state;
	check_equal(
		chained("{\"interfaces\": [{\"name\": \"net1\"}], "
			"\"ips\": [{\"interface\": 0, \"address\": \"2.2.2.2/24\"}, "
			"{\"address\": \"3.3.3.3/24\"}]}",
			"{\"interfaces\": [{\"name\": \"br0\"}, {\"name\": \"eth0\", "
			"\"sandbox\": \"/s\"}], \"ips\": [{\"interface\": 1, "
			"\"address\": \"1.1.1.1/24\"}], \"dns\": {\"domain\": \"d\"}}"),
		"{\"interfaces\": [{\"name\": \"br0\"}, {\"name\": \"eth0\", "
		"\"sandbox\": \"/s\"}, {\"name\": \"net1\"}], "
		"\"ips\": [{\"interface\": 1, \"address\": \"1.1.1.1/24\"}, "
		"{\"interface\": 2, \"address\": \"2.2.2.2/24\"}, "
		"{\"address\": \"3.3.3.3/24\"}], \"routes\": [], \"dns\": {\"domain\": \"d\"}}");
}

static void test_chains_merged_by_the_daemon(void **state)
{
	static const char whole[] = "{\"interfaces\": [{\"name\": \"eth0\", \"sandbox\": \"/s\"}, "
				    "{\"name\": \"net1\"}], \"ips\": [{\"interface\": 1, "
				    "\"address\": \"1.1.1.1/24\"}]}";

	(void)state;
	check_equal(chained(whole, "{\"interfaces\": [{\"name\": \"eth0\", \"sandbox\": \"/s\"}]}"),
		    "{\"interfaces\": [{\"name\": \"eth0\", \"sandbox\": \"/s\"}, "
		    "{\"name\": \"net1\"}], \"ips\": [{\"interface\": 1, "
		    "\"address\": \"1.1.1.1/24\"}], \"routes\": [], \"dns\": {}}");
	/* The same name in another sandbox is a different interface. */
	assert_int_equal(3, ({
				 json_t *r = chained(whole, "{\"interfaces\": [{\"name\": "
							    "\"net1\", \"sandbox\": \"/t\"}]}");
				 size_t n = json_array_size(json_object_get(r, "interfaces"));

				 json_decref(r);
				 n;
			 }));
}

TEST_GROUP(shim_result)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_an_empty_result),
		cmocka_unit_test(test_older_results_are_read),
		cmocka_unit_test(test_invalid_results),
		cmocka_unit_test(test_chains),
		cmocka_unit_test(test_chains_merged_by_the_daemon),
	};

	return test_group_run(tests, NULL, NULL);
}
