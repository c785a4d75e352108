// SPDX-License-Identifier: Apache-2.0
/* accept.c - parses Accept and Accept-Encoding: lists of elements, each with parameters. */
#include "accept.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

/* Weights are integers in thousandths, the highest precision that RFC 9110 section 12.4.2 permits.
 */
#define Q_MAX 1000

struct span {
	const char *s;
	size_t len;
};

struct element {
	struct span name, version;
	int q; /* 0 = not acceptable */
};

static bool accept_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static struct span trim_blanks(const char *s, const char *end)
{
	while (s < end && accept_is_blank(*s))
		s++;
	while (end > s && accept_is_blank(end[-1]))
		end--;
	return (struct span){s, (size_t)(end - s)};
}

/* Removes the text before the next `sep` from *p and returns it; separators in quoted strings are
 * ignored. False at the end. */
static bool next_part(struct span *p, char sep, struct span *ret)
{
	const char *s = p->s, *end = p->s + p->len;
	bool quoted = false;

	if (p->len == 0)
		return false;
	for (; s < end && (quoted || *s != sep); s++) {
		if (*s == '"')
			quoted = !quoted;
		else if (quoted && *s == '\\' && s + 1 < end)
			s++;
	}
	*ret = trim_blanks(p->s, s);
	if (s < end)
		s++;
	*p = (struct span){s, (size_t)(end - s)};
	return true;
}

static bool span_is(struct span a, const char *word)
{
	return a.len == strlen(word) && strncasecmp(a.s, word, a.len) == 0;
}

/* Parses a weight, such as "0", "0.75" or "1.000"; malformed text counts as 0. */
static int parse_q(struct span v)
{
	int q, scale = Q_MAX / 10;
	size_t i;

	if (v.len == 0 || v.len > 5 || (v.s[0] != '0' && v.s[0] != '1') ||
	    (v.len > 1 && v.s[1] != '.'))
		return 0;
	q = (v.s[0] - '0') * Q_MAX;
	for (i = 2; i < v.len; i++, scale /= 10) {
		if (v.s[i] < '0' || v.s[i] > '9')
			return 0;
		q += (v.s[i] - '0') * scale;
	}
	return q <= Q_MAX ? q : 0;
}

static struct span strip_quotes(struct span v)
{
	if (v.len >= 2 && v.s[0] == '"' && v.s[v.len - 1] == '"')
		return (struct span){v.s + 1, v.len - 2};
	return v;
}

static void take_parameter(struct element *e, struct span param)
{
	struct span name;

	if (!next_part(&param, '=', &name))
		return;
	param = strip_quotes(trim_blanks(param.s, param.s + param.len));
	if (span_is(name, "version"))
		e->version = param;
	if (span_is(name, "q"))
		e->q = parse_q(param);
}

static bool next_element(struct span *list, struct element *ret)
{
	struct span text, param;

	if (!next_part(list, ',', &text))
		return false;
	*ret = (struct element){.q = Q_MAX};
	if (!next_part(&text, ';', &ret->name))
		return true; /* an empty element is ignored, RFC 9110 section 5.6.1 */
	while (next_part(&text, ';', &param))
		take_parameter(ret, param);
	return true;
}

static struct span span_of(const char *header)
{
	return (struct span){header, strlen(header)};
}

/* True if the element accepts the only version that we write, 1.0.0. An element without a version
 * accepts all. */
static bool accepts_openmetrics(const struct element *e)
{
	return span_is(e->name, "application/openmetrics-text") &&
	       (e->version.len == 0 || span_is(e->version, "1.0.0"));
}

/* Returns how specific a range is that matches text/plain, 0 = it does not: the most specific one
 * decides, RFC 9110 section 12.5.1. */
static int plain_text_specificity(struct span name)
{
	if (span_is(name, "text/plain"))
		return 3;
	if (span_is(name, "text/*"))
		return 2;
	return span_is(name, "*/*") ? 1 : 0;
}

enum metrics_format accept_metrics(const char *accept)
{
	struct span list = span_of(accept);
	int openmetrics_q = 0, text_q = 0, most_specific = 1, specificity;
	struct element e;

	while (next_element(&list, &e)) {
		if (accepts_openmetrics(&e) && e.q > openmetrics_q)
			openmetrics_q = e.q;
		specificity = plain_text_specificity(e.name);
		if (specificity > most_specific || (specificity == most_specific && e.q > text_q)) {
			most_specific = specificity;
			text_q = e.q;
		}
	}
	return openmetrics_q > 0 && openmetrics_q >= text_q ? METRICS_OPENMETRICS
							    : METRICS_PROMETHEUS;
}

const char *accept_content_type(enum metrics_format format)
{
	if (format == METRICS_OPENMETRICS)
		return "application/openmetrics-text; version=1.0.0; charset=utf-8";
	return "text/plain; version=0.0.4; charset=utf-8";
}

bool accept_gzip(const char *accept_encoding)
{
	struct span list = span_of(accept_encoding);
	int named_q = -1, any_q = 0;
	struct element e;

	while (next_element(&list, &e)) {
		if (span_is(e.name, "gzip") || span_is(e.name, "x-gzip"))
			named_q = e.q > named_q ? e.q : named_q;
		else if (span_is(e.name, "*"))
			any_q = e.q;
	}
	return named_q >= 0 ? named_q > 0 : any_q > 0;
}

bool accept_html(const char *accept)
{
	struct span list = span_of(accept);
	struct element e;

	while (next_element(&list, &e))
		if (span_is(e.name, "text/html") && e.q > 0)
			return true;
	return false;
}
