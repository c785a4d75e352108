// SPDX-License-Identifier: Apache-2.0
#include "node_problem.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "json_text.h"
#include "utf8.h"

/* The level of a verdict (enum severity). */
#define LEVEL_WARNING  2
#define LEVEL_CRITICAL 3

/* Prints one line, truncated to NODE_PROBLEM_LINE bytes between characters; invalid UTF-8 and
 * control characters become '?'. */
__attribute__((format(printf, 3, 4))) static enum node_problem
node_problem_print(FILE *f, enum node_problem status, const char *fmt, ...)
{
	char line[512];
	size_t n = 0, len;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	line[strcspn(line, "\r\n")] = '\0';
	for (const char *at = line; *at; at += len) {
		bool bad = (unsigned char)*at < ' ' || *at == 0x7f || utf8_char(at) == 0;

		len = bad ? 1 : utf8_char(at);
		if (n + len > NODE_PROBLEM_LINE)
			break;
		fprintf(f, "%.*s", (int)len, bad ? "?" : at);
		n += len;
	}
	fputc('\n', f);
	return status;
}

/* --- rdma ------------------------------------------------------------------------------------- */

static json_int_t node_problem_number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static const char *node_problem_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

/* Returns the first of the worst verdicts or troubles of at least the level `least`; NULL: none.
 * *ret_n: the number of these. */
static const json_t *node_problem_worst(const json_t *verdicts, json_int_t least, size_t *ret_n)
{
	const json_t *worst = NULL;
	json_t *v;
	size_t i;

	*ret_n = 0;
	json_array_foreach ((json_t *)verdicts, i, v) {
		json_int_t level = node_problem_number(v, "level");

		if (level < least)
			continue;
		++*ret_n;
		if (!worst || level > node_problem_number(worst, "level"))
			worst = v;
	}
	return worst;
}

/* Counts RoCE ports, and how many of them have been judged. */
static void node_problem_count(const json_t *ports, size_t *ret_n, size_t *ret_judged)
{
	json_t *port;
	size_t i;

	*ret_n = *ret_judged = 0;
	json_array_foreach ((json_t *)ports, i, port) {
		const char *watch = node_problem_text(port, "watch");

		*ret_n += strcmp(watch, "not applicable") != 0;
		*ret_judged += strcmp(watch, "judged") == 0 || strcmp(watch, "down") == 0;
	}
}

/* Prints the trouble of a pod's device that is no verdict. */
static enum node_problem node_problem_trouble(const json_t *worst, size_t n, FILE *f)
{
	char more[32] = "";

	if (n > 1)
		snprintf(more, sizeof(more), ", and %zu more", n - 1);
	return node_problem_print(
		f, NODE_PROBLEM_YES, "%s (%s) of %s%s", node_problem_text(worst, "word"),
		node_problem_text(worst, "severity"), node_problem_text(worst, "device"), more);
}

/* Prints the result, which is Unknown if no port has been judged. Some unjudged ports are normal,
 * because new VFs need time, so the line only has their number. */
static enum node_problem node_problem_show(const json_t *document, bool warnings, FILE *f)
{
	const json_int_t least = warnings ? LEVEL_WARNING : LEVEL_CRITICAL;
	size_t n_bad, n_troubles, n_ports, n_judged;
	const json_t *worst = node_problem_worst(json_object_get(document, "verdicts"), least,
						 &n_bad);
	const json_t *trouble = node_problem_worst(json_object_get(document, "troubles"), least,
						   &n_troubles);

	if (worst && n_bad > 1)
		return node_problem_print(f, NODE_PROBLEM_YES, "%s (%s) on %s/%lld, and %zu more",
					  node_problem_text(worst, "cause"),
					  node_problem_text(worst, "severity"),
					  node_problem_text(worst, "device"),
					  (long long)node_problem_number(worst, "port"), n_bad - 1);
	if (worst)
		return node_problem_print(f, NODE_PROBLEM_YES, "%s (%s) on %s/%lld",
					  node_problem_text(worst, "cause"),
					  node_problem_text(worst, "severity"),
					  node_problem_text(worst, "device"),
					  (long long)node_problem_number(worst, "port"));
	if (trouble)
		return node_problem_trouble(trouble, n_troubles, f);
	node_problem_count(json_object_get(document, "ports"), &n_ports, &n_judged);
	if (n_ports == 0)
		return node_problem_print(f, NODE_PROBLEM_UNKNOWN, "no RoCE port is known");
	if (n_judged == 0)
		return node_problem_print(f, NODE_PROBLEM_UNKNOWN,
					  "none of %zu RoCE ports judged yet", n_ports);
	return node_problem_print(f, NODE_PROBLEM_OK, "no such verdict on %zu of %zu RoCE ports%s",
				  n_judged, n_ports,
				  n_judged < n_ports ? "; others not judged yet" : "");
}

enum node_problem node_problem_rdma(const char *socket, uint64_t wait_ms, bool warnings, FILE *f)
{
	struct client_answer a = {0};
	json_t *document;
	struct err e = {0};
	enum node_problem r;

	if (client_ask(&a, socket, "/api/v1/diagnosis", NULL, wait_ms, &e) < 0)
		return node_problem_print(f, NODE_PROBLEM_UNKNOWN, "%s", e.msg);
	document = json_text_load(a.body, a.len, 0, NULL);
	if (a.status == 200 && json_is_object(document))
		r = node_problem_show(document, warnings, f);
	else if (json_is_string(json_object_get(document, "error")))
		r = node_problem_print(f, NODE_PROBLEM_UNKNOWN, "%s",
				       node_problem_text(document, "error"));
	else
		r = node_problem_print(f, NODE_PROBLEM_UNKNOWN, "rocelet answers with status %u",
				       a.status);
	json_decref(document);
	free(a.body);
	return r;
}

/* --- rocelet ---------------------------------------------------------------------------------- */

/* Checks the daemon. If it hangs or does not run, that is a problem, not Unknown. */
enum node_problem node_problem_rocelet(const char *socket, uint64_t wait_ms, FILE *f)
{
	static const char not_ready[] = "not ready: ";
	struct client_answer a = {0};
	struct err e = {0};
	enum node_problem r;

	if (client_ask(&a, socket, "/readyz", NULL, wait_ms, &e) < 0)
		return node_problem_print(f, NODE_PROBLEM_YES, "%s", e.msg);
	if (a.status == 200)
		r = node_problem_print(f, NODE_PROBLEM_OK, "rocelet is ready");
	else
		r = node_problem_print(f, NODE_PROBLEM_YES, "%s",
				       strncmp(a.body, not_ready, strlen(not_ready)) == 0
					       ? a.body + strlen(not_ready)
					       : a.body);
	free(a.body);
	return r;
}
