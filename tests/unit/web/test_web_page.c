/* The page as it is built in: whole, with nothing from elsewhere, and its policy lets run what is
 * in it and nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "faults.h"
#include "memory.h"
#include "web_page.h"

/* Terminated. */
static char *unpacked(void)
{
	char *bytes = web_page_unpack(), *text = calloc(1, web_page.len + 1);

	assert_non_null(bytes);
	assert_non_null(text);
	memcpy(text, bytes, web_page.len);
	free(bytes);
	return text;
}

static void it_is_whole(void **state)
{
	char *text = unpacked();

	(void)state;
	assert_int_equal(strlen(text), web_page.len);
	assert_memory_equal(text, "<!DOCTYPE html>", 15);
	assert_string_equal(text + web_page.len - strlen("</html>\n"), "</html>\n");
	assert_non_null(strstr(text, "uPlot"));
	assert_non_null(strstr(text, "Permission is hereby granted")); /* its licence */
	free(text);
}

static void nothing_comes_from_elsewhere(void **state)
{
	static const char *const loaders[] = {
		"src=\"", "<link rel=\"stylesheet", "@import", "href=\"/", "href=\"http", "<base"};
	char *text = unpacked();

	(void)state;
	for (size_t i = 0; i < sizeof(loaders) / sizeof(loaders[0]); i++)
		if (strstr(text, loaders[i]))
			fail_msg("%s", loaders[i]);
	free(text);
}

/* The one element of this kind is what the policy's digest is of. */
static void assert_allowed(const char *text, const char *tag)
{
	char open[16], close[16], wanted[160];
	const char *from, *to;
	unsigned char digest[32];
	gnutls_datum_t in = {digest, sizeof(digest)}, out = {0};

	snprintf(open, sizeof(open), "<%s>", tag);
	snprintf(close, sizeof(close), "</%s>", tag);
	from = strstr(text, open);
	assert_non_null(from);
	from += strlen(open);
	to = strstr(from, close);
	assert_non_null(to);
	assert_null(strstr(to, open));
	assert_int_equal(memory_start_tls(), 0);
	assert_int_equal(gnutls_hash_fast(GNUTLS_DIG_SHA256, from, (size_t)(to - from), digest), 0);
	assert_int_equal(gnutls_base64_encode2(&in, &out), 0);
	snprintf(wanted, sizeof(wanted), "%s-src 'sha256-%.*s'", tag, (int)out.size,
		 (const char *)out.data);
	gnutls_free(out.data);
	if (!strstr(web_page.policy, wanted))
		fail_msg("%s is not in %s", wanted, web_page.policy);
}

static void its_policy_is_of_it(void **state)
{
	static const char *const words[] = {"default-src 'none'", "connect-src 'self'",
					    "frame-ancestors 'none'", "base-uri 'none'",
					    "form-action 'none'"};
	char *text = unpacked();

	(void)state;
	assert_allowed(text, "script");
	assert_allowed(text, "style");
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		assert_non_null(strstr(web_page.policy, words[i]));
	assert_null(strstr(web_page.policy, "unsafe"));
	free(text);
}

/* Names come from pods: the page's own code has no way to make markup of text. */
static void text_is_never_markup(void **state)
{
	static const char *const ways[] = {"innerHTML",	     "outerHTML", "insertAdjacentHTML",
					   "document.write", "eval(",	  "new Function"};
	char *text = unpacked();

	(void)state;
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (strstr(text, ways[i]))
			fail_msg("%s", ways[i]);
	free(text);
}

static void without_memory(void **state)
{
	(void)state;
	faults_alloc(0);
	assert_null(web_page_unpack());
	assert_true(faults_end());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_whole),
		cmocka_unit_test(nothing_comes_from_elsewhere),
		cmocka_unit_test(its_policy_is_of_it),
		cmocka_unit_test(text_is_never_markup),
		cmocka_unit_test(without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
