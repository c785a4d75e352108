// SPDX-License-Identifier: Apache-2.0
/* What is a secret, and that it is removed from all texts. */
#include "secrets.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "test_group.h"

static void test_names(void **state)
{
	static const char *const secret[] = {
		"password",   "etcd_password", "Passwd",	"passphrase", "clientSecret",
		"TOKEN",      "token-file",    "api_key",	"key",	      "etcd_key_file",
		"privateKey", "credentials",   "Authorization", "Set-Cookie", "pass",
		"db_pass",    "PWD",	       "psk",		"auth",	      "--pass"};
	static const char *const open[] = {"pKeys",  "pkey",	  "name",	"resourceName",
					   "subnet", "selectors", "bytes",	"",
					   "bypass", "author",	  "passthrough"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(secret); i++)
		if (!secret_name(secret[i], strlen(secret[i])))
			fail_msg("%s", secret[i]);
	for (size_t i = 0; i < ARRAY_SIZE(open); i++)
		if (secret_name(open[i], strlen(open[i])))
			fail_msg("%s", open[i]);
}

static char *cleaned(struct secrets *s, const char *text)
{
	json_t *document = json_loads(text, 0, NULL);
	char *clean;

	assert_non_null(document);
	assert_int_equal(secrets_learn(s, document), 0);
	assert_int_equal(secrets_scrub(s, document), 0);
	clean = json_dumps(document, JSON_COMPACT);
	json_decref(document);
	return clean;
}

static void assert_document(const char *text, const char *expected)
{
	struct secrets s = {0};
	AUTO_FREE char *clean = cleaned(&s, text);

	assert_string_equal(clean, expected);
	secrets_done(&s);
}

static void test_documents(void **state)
{
	(void)state;
	assert_document("{\"a\":1,\"password\":\"hunter2\",\"b\":null}",
			"{\"a\":1,\"password\":\"(masked)\",\"b\":null}");
	assert_document("{\"token\":null,\"key\":true,\"pin\":{\"secret\":5}}",
			"{\"token\":null,\"key\":true,\"pin\":{\"secret\":\"(masked)\"}}");
	assert_document("[{\"keys\":[{\"x\":\"abcd\"},\"efgh\"]},\"see abcd, efgh\"]",
			"[{\"keys\":\"(masked)\"},\"see (masked), (masked)\"]");
	/* The journal's records contain an IPAM configuration as a string. */
	assert_document(
		"{\"ipam\":\"{\\\"type\\\":\\\"x\\\",\\\"password\\\":\\\"a\\\\\\\"bc\\\"}\",\"why\":"
		"\"not a\\\"bc\"}",
		"{\"ipam\":\"{\\\"type\\\":\\\"x\\\",\\\"password\\\":\\\"(masked)\\\"}\",\"why\":\"not "
		"(masked)\"}");
	assert_document(
		"[{\"name\":\"DB_PASSWORD\",\"value\":\"abcd\"},{\"name\":\"x\",\"value\":\"y\"}]",
		"[{\"name\":\"DB_PASSWORD\",\"value\":\"(masked)\"},{\"name\":\"x\",\"value\":\"y\"}]");
	assert_document(
		"[\"--user\",\"ann\",\"--password\",\"abcd\",\"--token=efgh\",\"x\"]",
		"[\"--user\",\"ann\",\"--password\",\"(masked)\",\"--token=(masked)\",\"x\"]");
	/* A short secret is masked only as the value of its own key. */
	assert_document("{\"token\":\"ab\",\"name\":\"abbey\"}",
			"{\"token\":\"(masked)\",\"name\":\"abbey\"}");
}

static void assert_text(const char *text, const char *expected)
{
	const struct secrets s = {.values = (char *[]){(char *)"hunter2", (char *)"hunter2000"},
				  .n = 2};
	AUTO_FREE char *clean = secrets_scrub_text(&s, text);

	assert_string_equal(clean, expected);
}

static void test_texts(void **state)
{
	(void)state;
	assert_text("", "");
	assert_text("a key of the file is unknown", "a key of the file is unknown");
	assert_text("roce_bytes_total{device=\"mlx5_0\"} 5",
		    "roce_bytes_total{device=\"mlx5_0\"} 5");
	assert_text("xhunter2y hunter2000", "x(masked)y (masked)");
	assert_text("password=abc&x=1 pass: ok", "password=(masked)&x=1 pass: (masked)");
	assert_text("{\"etcd_password\": \"abc\", \"a\": 1}",
		    "{\"etcd_password\": \"(masked)\", \"a\": 1}");
	assert_text("\\\"token\\\":\\\"abc\\\"}", "\\\"token\\\":\\\"(masked)\\\"}");
	assert_text("Authorization: Bearer ab.c-d\nnext", "Authorization: Bearer (masked)\nnext");
	assert_text("sent Basic dXNlcg== there", "sent Basic (masked) there");
	assert_text("https://user:pw@host/x@y https://host/a@b",
		    "https://(masked)@host/x@y https://host/a@b");
	assert_text("https://user:pa/ss@host http://h:80/x", "https://(masked)@host http://h:80/x");
	assert_text("-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----\nrest",
		    "(masked)\nrest");
	assert_text("-----BEGIN PRIVATE KEY-----\nMII", "(masked)");
	assert_text("secret=", "secret=");
	assert_text("token", "token");
}

TEST_GROUP(secrets)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_documents),
		cmocka_unit_test(test_texts),
	};

	return test_group_run(tests, NULL, NULL);
}
