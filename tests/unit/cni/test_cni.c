// SPDX-License-Identifier: Apache-2.0
/* Requests as rocelet-cni sends them, and the texts of answers. The rows are those of libcni's
 * pkg/skel/skel_test.go and pkg/types/args_test.go. */
#include "cni.h"

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

static int parse_text(struct cni_request *r, const char *text, struct cni_error *e)
{
	*e = (struct cni_error){.code = CNI_OK};
	return cni_request_parse(r, text, strlen(text), e);
}

#define CONFIG "\"config\": {\"name\": \"n\"}"

static void test_invalid_requests(void **state)
{
	static const struct {
		const char *text;
		int code;
		const char *words;
	} rows[] = {
		{"", 6, "JSON"},
		{"[]", 6, "JSON"},
		{"{\"command\": \"ADD\", " CONFIG "}", 4, "CNI_CONTAINERID"},
		{"{\"command\": \"NOPE\", " CONFIG "}", 4, "unknown CNI_COMMAND: NOPE"},
		{"{\"command\": \"ADD\", \"containerID\": \"some-%%container-id\", " CONFIG "}", 4,
		 "invalid characters in containerID"},
		{"{\"command\": \"ADD\", \"containerID\": \"c\", " CONFIG "}", 4, "CNI_NETNS"},
		{"{\"command\": \"ADD\", \"containerID\": \"c\", \"netns\": \"/n\", " CONFIG "}", 4,
		 "CNI_IFNAME"},
		{"{\"command\": \"DEL\", \"containerID\": \"c\", \"ifname\": \"sixteencharacter\", " CONFIG
		 "}",
		 4, "ifname"},
		{"{\"command\": \"DEL\", \"containerID\": \"c\", \"ifname\": \"..\", " CONFIG "}",
		 4, "."},
		{"{\"command\": \"DEL\", \"containerID\": \"c\", \"ifname\": \"a/b\", " CONFIG "}",
		 4, "/"},
		{"{\"command\": \"DEL\", \"containerID\": \"c\", \"ifname\": \"a b\", " CONFIG "}",
		 4, "whitespace"},
		{"{\"command\": \"DEL\", \"containerID\": 5, " CONFIG "}", 6, "containerID"},
		{"{\"command\": \"ADD\", \"containerID\": \"c\", \"ifname\": \"a\", \"netns\": "
		 "\"n\", " CONFIG "}",
		 8, "begins with /"},
		{"{\"command\": \"CHECK\", \"containerID\": \"c\", \"ifname\": \"a\", "
		 "\"netns\": \"/n\", \"args\": \"A\", " CONFIG "}",
		 4, "CNI_ARGS"},
		{"{\"command\": \"STATUS\"}", 6, "configuration"},
		{"{\"command\": \"STATUS\", \"config\": {}}", 7, "missing network name"},
		{"{\"command\": \"STATUS\", \"config\": {\"name\": \"te%%st\"}}", 7,
		 "invalid characters"},
	};
	struct cni_request r;
	struct cni_error e;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(parse_text(&r, rows[i].text, &e), -EINVAL);
		if ((int)e.code != rows[i].code || !strstr(e.err.msg, rows[i].words))
			fail_msg("%s: %d, %s", rows[i].text, (int)e.code, e.err.msg);
	}
}

/* A DEL repeats the keys of its ADD, which may have been rejected for one that a DEL does not
 * read. */
static void test_a_del_needs_container_and_interface_only(void **state)
{
	static const char *const rest[] = {
		"\"config\": {}",
		"\"config\": {\"name\": 7}",
		"\"config\": {\"name\": \"te%%st\"}, \"args\": \"A\"",
		"\"config\": {}, \"netns\": \"relative\", \"args\": 5",
		"\"config\": {}, \"args\": \"GUID=00112233445566778899aabbccddeeff00112233\"",
	};
	struct cni_request r;
	struct cni_error e;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rest); i++) {
		AUTO_FREE char *text = NULL;

		assert_true(asprintf(&text,
				     "{\"command\": \"DEL\", \"containerID\": \"c\", \"ifname\": "
				     "\"net1\", %s}",
				     rest[i]) > 0);
		if (parse_text(&r, text, &e) < 0)
			fail_msg("%s: %s", rest[i], e.err.msg);
		assert_string_equal(r.owner.sandbox, "c");
		assert_string_equal(r.ifname, "net1");
		cni_request_done(&r);
	}
}

static void test_a_request_is_parsed(void **state)
{
	struct cni_request r;
	struct cni_error e;

	(void)state;
	assert_int_equal(
		parse_text(&r,
			   "{\"command\": \"ADD\", \"containerID\": \"c1\", \"netns\": "
			   "\"/run/netns/a\", \"ifname\": \"eth0\", \"path\": \"/opt\", \"args\": "
			   "\"IgnoreUnknown=1;K8S_POD_NAMESPACE=ns;K8S_POD_NAME=p;K8S_POD_UID=u;"
			   "K8S_POD_INFRA_CONTAINER_ID=c1;MAC=02:00:00:00:00:01;IP=1=2;\", " CONFIG
			   ", \"later\": 5}",
			   &e),
		0);
	assert_int_equal(r.command, CNI_ADD);
	assert_int_equal(r.owner.door, DOOR_CNI);
	assert_string_equal(r.owner.sandbox, "c1");
	assert_string_equal(r.owner.namespace, "ns");
	assert_string_equal(r.owner.pod, "p");
	assert_string_equal(r.owner.uid, "u");
	assert_string_equal(r.owner.netns.path, "/run/netns/a");
	assert_string_equal(r.owner.network, "n");
	assert_string_equal(r.ifname, "eth0");
	assert_string_equal(r.mac, "02:00:00:00:00:01");
	cni_request_done(&r);
}

static void check_answer(enum cni_command command, const char *msg, const char *expected)
{
	struct cni_error e = {.code = CNI_FAILED};
	AUTO_FREE char *text = NULL;

	snprintf(e.err.msg, sizeof(e.err.msg), "%s", msg);
	text = cni_answer_error(command, &e);
	assert_string_equal(text, expected);
}

/* Runtimes treat a DEL's error with one of these phrases as success. */
static void test_phrases_replaced_in_errors_of_del(void **state)
{
	(void)state;
	check_answer(CNI_DEL, "x: Not Found: No such file or directory, not found",
		     "{\"error\":{\"code\":100,\"msg\":\"x: missing: the path is missing, "
		     "missing\",\"details\":\"\"}}");
	check_answer(CNI_ADD, "not found",
		     "{\"error\":{\"code\":100,\"msg\":\"not found\",\"details\":\"\"}}");
}

TEST_GROUP(cni)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_invalid_requests),
		cmocka_unit_test(test_a_del_needs_container_and_interface_only),
		cmocka_unit_test(test_a_request_is_parsed),
		cmocka_unit_test(test_phrases_replaced_in_errors_of_del),
	};

	return test_group_run(tests, NULL, NULL);
}
