// SPDX-License-Identifier: Apache-2.0
#include "question.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "client.h"
#include "ctl_document.h"
#include "ctl_table.h"
#include "json_text.h"

/* --- the reply -------------------------------------------------------------------------------- */

void question_complain(const struct ctl *c, const struct client_answer *a, const json_t *document)
{
	const char *sentence = json_string_value(json_object_get(document, "error"));

	fputs("rocectl: ", c->err);
	a->body[strcspn(a->body, "\r\n")] = '\0';
	if (sentence || a->body[0])
		table_put(sentence ? sentence : a->body, c->err);
	else
		fprintf(c->err, "the daemon answers with status %u", a->status);
	fputc('\n', c->err);
}

enum ctl_exit question_no_answer(const struct ctl *c, const struct err *e)
{
	fprintf(c->err, "rocectl: %s%s\n", e->msg,
		e->code == -ETIMEDOUT ? "; rocelet hangs or is busy (--timeout N waits longer)"
				      : "");
	return CTL_NO_DAEMON;
}

enum ctl_exit question_ask(const struct ctl *c, const char *path, const char *body, json_t **ret)
{
	return question_ask_within(
		c, path, body, body ? ctl_args_long_wait_ms(c->args) : ctl_args_wait_ms(c->args),
		ret);
}

enum ctl_exit question_ask_within(const struct ctl *c, const char *path, const char *body,
				  uint64_t wait_ms, json_t **ret)
{
	struct client_answer a = {0};
	struct err e = {0};
	json_t *document;

	*ret = NULL;
	if (client_ask(&a, c->args->socket, path, body, wait_ms, &e) < 0)
		return question_no_answer(c, &e);
	document = json_text_load(a.body, a.len, 0, NULL);
	if (a.status == 200 && document) {
		*ret = document;
		free(a.body);
		return CTL_OK;
	}
	if (document && ctl_args_want_document(c->args))
		ctl_document_put(document, c->args->format, c->out);
	question_complain(c, &a, document);
	json_decref(document);
	free(a.body);
	return CTL_NO;
}

json_t *question_ask_quietly(const struct ctl *c, const char *path, bool *ret_no_daemon)
{
	struct client_answer a = {0};
	json_t *document = NULL;
	struct err e = {0};

	if (*ret_no_daemon)
		return NULL;
	if (client_ask(&a, c->args->socket, path, NULL, ctl_args_wait_ms(c->args), &e) < 0) {
		question_no_answer(c, &e);
		*ret_no_daemon = true;
	} else if (a.status == 200) {
		document = json_text_load(a.body, a.len, 0, NULL);
	}
	free(a.body);
	return document;
}

enum ctl_exit question_no_memory(const struct ctl *c)
{
	fputs("rocectl: out of memory\n", c->err);
	return CTL_NO;
}

/* --- the path ----------------------------------------------------------------------------------
 */

/* Percent-encodes a query's value (RFC 3986 section 2.1). */
static void put_escaped(FILE *f, const char *s)
{
	for (; *s; s++) {
		if ((*s >= '0' && *s <= '9') || (*s >= 'a' && *s <= 'z') ||
		    (*s >= 'A' && *s <= 'Z') || strchr("-._~", *s))
			fputc(*s, f);
		else
			fprintf(f, "%%%02X", (unsigned char)*s);
	}
}

static void put_param(FILE *f, char *before, const char *name, const char *value)
{
	if (!value)
		return;
	fprintf(f, "%c%s=", *before, name);
	put_escaped(f, value);
	*before = '&';
}

char *question_path_with(const struct ctl_args *a, const char *path, const char *limit)
{
	char *text = NULL, before = strchr(path, '?') ? '&' : '?';
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	fputs(path, f);
	put_param(f, &before, "device", a->device);
	put_param(f, &before, "pod", a->pod);
	put_param(f, &before, "since", a->since);
	put_param(f, &before, "until", a->until);
	put_param(f, &before, "limit", limit);
	put_param(f, &before, "top", a->top);
	fclose(f);
	return text;
}

char *question_path(const struct ctl_args *a, const char *path)
{
	char limit[24];

	snprintf(limit, sizeof(limit), "%ld", a->limit);
	return question_path_with(a, path, a->limit >= 0 ? limit : NULL);
}
