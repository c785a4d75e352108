// SPDX-License-Identifier: Apache-2.0
/* The built-in page and runbook are complete and load nothing from elsewhere; their policies allow
 * exactly their own scripts and styles. */
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

#include "cause.h"
#include "faults.h"
#include "memory.h"
#include "test_group.h"
#include "web_page.h"

/* With a terminating NUL. */
static char *unpacked(const struct web_page *page)
{
	char *bytes = web_page_unpack(page), *text = calloc(1, page->len + 1);

	assert_non_null(bytes);
	assert_non_null(text);
	memcpy(text, bytes, page->len);
	free(bytes);
	return text;
}

static void assert_whole(const char *text, const struct web_page *page)
{
	assert_int_equal(strlen(text), page->len);
	assert_memory_equal(text, "<!DOCTYPE html>", 15);
	assert_string_equal(text + page->len - strlen("</html>\n"), "</html>\n");
}

static void the_page_is_complete(void **state)
{
	char *text = unpacked(&web_page);

	(void)state;
	assert_whole(text, &web_page);
	assert_non_null(strstr(text, "uPlot"));
	assert_non_null(strstr(text, "Permission is hereby granted")); /* uPlot's licence */
	free(text);
}

static void assert_loads_nothing(const struct web_page *page)
{
	static const char *const loaders[] = {
		"src=\"", "<link rel=\"stylesheet", "@import", "href=\"/", "href=\"http", "<base"};
	char *text = unpacked(page);

	for (size_t i = 0; i < sizeof(loaders) / sizeof(loaders[0]); i++)
		if (strstr(text, loaders[i]))
			fail_msg("%s", loaders[i]);
	free(text);
}

static void the_page_loads_nothing(void **state)
{
	(void)state;
	assert_loads_nothing(&web_page);
	assert_loads_nothing(&web_runbook);
	assert_loads_nothing(&web_no_cause);
}

/* Fails unless the policy has the digest of the bytes between the two pointers. */
static void assert_digest(const struct web_page *page, const char *from, const char *to)
{
	char wanted[160];
	unsigned char digest[32];
	gnutls_datum_t in = {digest, sizeof(digest)}, out = {0};

	assert_int_equal(memory_start_tls(), 0);
	assert_int_equal(gnutls_hash_fast(GNUTLS_DIG_SHA256, from, (size_t)(to - from), digest), 0);
	assert_int_equal(gnutls_base64_encode2(&in, &out), 0);
	snprintf(wanted, sizeof(wanted), "'sha256-%.*s'", (int)out.size, (const char *)out.data);
	gnutls_free(out.data);
	if (!strstr(page->policy, wanted))
		fail_msg("%s is not in %s", wanted, page->policy);
}

/* The policy has the digests of all n elements of this kind. */
static void assert_allowed(const struct web_page *page, const char *text, const char *tag, int n)
{
	char open[16], close[16], source[16];
	const char *from = text;

	snprintf(open, sizeof(open), "<%s>", tag);
	snprintf(close, sizeof(close), "</%s>", tag);
	snprintf(source, sizeof(source), "%s-src", tag);
	assert_non_null(strstr(page->policy, source));
	for (int i = 0; i < n; i++) {
		const char *to;

		from = strstr(from, open);
		assert_non_null(from);
		from += strlen(open);
		to = strstr(from, close);
		assert_non_null(to);
		assert_digest(page, from, to);
	}
	assert_null(strstr(from, open));
}

static void the_policy_matches_the_page(void **state)
{
	static const char *const words[] = {"default-src 'none'", "connect-src 'self'",
					    "frame-ancestors 'none'", "base-uri 'none'",
					    "form-action 'none'"};
	char *text = unpacked(&web_page);

	(void)state;
	assert_allowed(&web_page, text, "script", 2);
	assert_allowed(&web_page, text, "style", 1);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		assert_non_null(strstr(web_page.policy, words[i]));
	assert_null(strstr(web_page.policy, "unsafe"));
	free(text);
}

/* Names come from pods, so the page's own code must not turn text into markup. */
static void text_is_never_markup(void **state)
{
	static const char *const ways[] = {"innerHTML",	     "outerHTML", "insertAdjacentHTML",
					   "document.write", "eval(",	  "new Function"};
	char *text = unpacked(&web_page);

	(void)state;
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (strstr(text, ways[i]))
			fail_msg("%s", ways[i]);
	free(text);
}

/* The headings that verdicts link to. */
static void each_cause_has_a_heading(void **state)
{
	char *text = unpacked(&web_runbook);

	(void)state;
	assert_whole(text, &web_runbook);
	assert_allowed(&web_runbook, text, "style", 1);
	assert_allowed(&web_runbook, text, "script", 1); /* theme, open causes */
	assert_non_null(strstr(web_runbook.policy, "connect-src 'self';"));
	assert_null(strstr(web_runbook.policy, "unsafe"));
	for (int c = 0; c < N_CAUSES; c++) {
		char heading[80];

		snprintf(heading, sizeof(heading), "<h2 id=\"%s\">",
			 cause_row((enum cause)c)->name);
		if (!strstr(text, heading))
			fail_msg("%s", heading);
	}
	free(text);
}

/* Every link within the document leads to an element of it. */
static void assert_anchored(const char *text)
{
	static const char link[] = "href=\"#";

	for (const char *at = text; (at = strstr(at, link)); at++) {
		const char *name = at + sizeof(link) - 1;
		char id[80];

		snprintf(id, sizeof(id), "id=\"%.*s\"", (int)strcspn(name, "\""), name);
		if (!strstr(text, id))
			fail_msg("no %s", id);
	}
}

/* /runbook/WORD for the reasons that rocectl prints, and /runbook/ALERT; the anchor of an alert is
 * in lower case. */
static void reasons_and_alerts_have_documents(void **state)
{
	static const char *const names[] = {"link_down", "port_down",	"no_driver",
					    "node_held", "RoceletDown", "RoceletLinkDown"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct web_page *page = web_cause(names[i]);
		char heading[80], *text;

		assert_non_null(page);
		text = unpacked(page);
		assert_whole(text, page);
		assert_allowed(page, text, "style", 1);
		assert_loads_nothing(page);
		snprintf(heading, sizeof(heading), "<h1 id=\"%s\">", names[i]);
		assert_non_null(strstr(text, heading));
		assert_null(strstr(text, "href=\"#/"));
		assert_anchored(text);
		free(text);
	}
	assert_ptr_equal(web_cause("roceletdown"), web_cause("RoceletDown"));
}

/* /runbook/CAUSE has one heading and its text, and no links into the whole runbook. */
static void each_cause_has_a_document(void **state)
{
	(void)state;
	for (int c = 0; c < N_CAUSES; c++) {
		const char *name = cause_row((enum cause)c)->name;
		const struct web_page *page = web_cause(name);
		char heading[80], *text;

		assert_non_null(page);
		text = unpacked(page);
		assert_whole(text, page);
		assert_allowed(page, text, "style", 1);
		assert_loads_nothing(page);
		snprintf(heading, sizeof(heading), "<h1 id=\"%s\">", name);
		assert_non_null(strstr(text, heading));
		assert_non_null(
			strstr(text, "<p id=\"ruled-out-if\"><strong><a href=\"#ruled-out-if\">"));
		assert_null(strstr(text, "href=\"#/"));
		assert_anchored(text);
		assert_null(strstr(text, "<h2"));
		free(text);
	}
	assert_null(web_cause("none"));
	assert_null(web_cause(""));
}

static void without_memory(void **state)
{
	(void)state;
	faults_alloc(0);
	assert_null(web_page_unpack(&web_page));
	assert_true(faults_end());
}

TEST_GROUP(web_page)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_page_is_complete),
		cmocka_unit_test(the_page_loads_nothing),
		cmocka_unit_test(the_policy_matches_the_page),
		cmocka_unit_test(text_is_never_markup),
		cmocka_unit_test(each_cause_has_a_heading),
		cmocka_unit_test(each_cause_has_a_document),
		cmocka_unit_test(reasons_and_alerts_have_documents),
		cmocka_unit_test(without_memory),
	};

	return test_group_run(tests, NULL, NULL);
}
