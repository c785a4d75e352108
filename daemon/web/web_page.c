// SPDX-License-Identifier: Apache-2.0
/* web_page.c - the documents' headers and unpacking; document.py generates the bytes in
 * web_document.h. */
#include "web_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

#include "cleanup.h"
#include "web_document.h"

#define NODE_MARK "@NODE@" /* in runbook.html, for the node's name */

#define GZIP_WINDOW (15 + 16) /* zlib.h: add 16 for the gzip format */

/* no-cache: another version of rocelet at this address may have another page. */
#define HEADERS(policy)                                                                            \
	"Content-Security-Policy", policy, "X-Content-Type-Options", "nosniff", "Referrer-Policy", \
		"no-referrer", "Cache-Control", "no-cache", "Vary", "Accept-Encoding"

#define PACKED "Content-Encoding", "gzip"

static const char *const page_headers[] = {HEADERS(WEB_POLICY), NULL};
static const char *const page_packed_headers[] = {HEADERS(WEB_POLICY), PACKED, NULL};
static const char *const runbook_headers[] = {HEADERS(RUNBOOK_POLICY), NULL};

const struct web_page web_page = {web_packed, sizeof(web_packed), WEB_LEN,
				  WEB_POLICY, page_headers,	  page_packed_headers};
const struct web_page web_runbook = {runbook_packed, sizeof(runbook_packed), RUNBOOK_LEN,
				     RUNBOOK_POLICY, runbook_headers,	     NULL};
const struct web_page web_no_cause = {no_cause_packed, sizeof(no_cause_packed), NO_CAUSE_LEN,
				      RUNBOOK_POLICY,  runbook_headers,		NULL};

/* Documents of one section have the style sheet of the whole runbook, and therefore its policy. */
#define CAUSE_PAGE(name, length)                                                                   \
	{#name,                                                                                    \
	 {cause_##name##_packed, sizeof(cause_##name##_packed), length, RUNBOOK_POLICY,            \
	  runbook_headers, NULL}},

static const struct {
	const char *name;
	struct web_page page;
} sections[] = {WEB_SECTIONS(CAUSE_PAGE)};

const struct web_page *web_cause(const char *name)
{
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		if (strcasecmp(sections[i].name, name) == 0)
			return &sections[i].page;
	return NULL;
}

static int unpack(z_stream *z)
{
	int r = inflateInit2(z, GZIP_WINDOW);

	if (r != Z_OK)
		return r;
	r = inflate(z, Z_FINISH);
	inflateEnd(z);
	return r;
}

char *web_page_unpack(const struct web_page *page)
{
	char *text = malloc(page->len);
	z_stream z = {.next_in = (Bytef *)page->packed,
		      .avail_in = (uInt)page->packed_len,
		      .next_out = (Bytef *)text,
		      .avail_out = (uInt)page->len};

	if (text && unpack(&z) == Z_STREAM_END)
		return text;
	free(text);
	return NULL;
}

static void put_html(const char *text, FILE *f)
{
	for (; *text; text++) {
		if (*text == '&')
			fputs("&amp;", f);
		else if (*text == '<')
			fputs("&lt;", f);
		else
			fputc(*text, f);
	}
}

char *web_page_of_node(const struct web_page *page, const char *node, size_t *ret_len)
{
	AUTO_FREE char *bytes = web_page_unpack(page);
	const char *at = bytes, *end, *mark;
	char *text = NULL;
	FILE *f = bytes ? open_memstream(&text, ret_len) : NULL;

	if (!f)
		return NULL;
	end = bytes + page->len;
	while ((mark = memmem(at, (size_t)(end - at), NODE_MARK, strlen(NODE_MARK)))) {
		fwrite(at, 1, (size_t)(mark - at), f);
		put_html(node, f);
		at = mark + strlen(NODE_MARK);
	}
	fwrite(at, 1, (size_t)(end - at), f);
	if (fclose(f) == 0)
		return text;
	free(text);
	return NULL;
}
