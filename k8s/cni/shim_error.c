// SPDX-License-Identifier: Apache-2.0
#include "shim_error.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "json_text.h"

static void shim_append(char *to, size_t size, const char *fmt, va_list ap)
{
	size_t n = strlen(to);

	vsnprintf(to + n, size - n, fmt, ap);
}

int shim_fail(struct shim_error *e, json_int_t code, const char *fmt, ...)
{
	va_list ap;

	*e = (struct shim_error){.code = code};
	va_start(ap, fmt);
	shim_append(e->msg, sizeof(e->msg), fmt, ap);
	va_end(ap);
	return -EPROTO;
}

int shim_details(struct shim_error *e, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	shim_append(e->details, sizeof(e->details), fmt, ap);
	va_end(ap);
	return -EPROTO;
}

/* Replaces a text by a shorter one, in place. */
static void shim_reword(char *text, const char *phrase, const char *instead)
{
	size_t n = strlen(phrase), m = strlen(instead);

	for (char *at = strcasestr(text, phrase); at; at = strcasestr(at, phrase)) {
		memmove(at + m, at + n, strlen(at + n) + 1);
		for (size_t i = 0; i < m; i++)
			at[i] = instead[i];
	}
}

/* Makes the message one line. In JSON a line feed is printed as "\n", so a line feed before "ot
 * found" would yield "not found" again. */
static void shim_clean(char *text)
{
	for (char *c = text; *c != '\0'; c++)
		if (iscntrl((unsigned char)*c))
			*c = ' ';
	shim_reword(text, "no such file or directory", "ENOENT");
	shim_reword(text, "not found", "absent");
}

char *shim_error_text(struct shim_error *e)
{
	json_t *doc = json_object();
	char *text = NULL;

	shim_clean(e->msg);
	shim_clean(e->details);
	if (json_object_set_new(doc, "code", json_integer(e->code)) == 0 &&
	    json_object_set_new(doc, "msg", json_text(e->msg[0] ? e->msg : "unknown error")) == 0 &&
	    (e->details[0] == '\0' ||
	     json_object_set_new(doc, "details", json_text(e->details)) == 0))
		text = json_dumps(doc, JSON_INDENT(4));
	json_decref(doc);
	return text;
}

const char *shim_errno(int code)
{
	const char *name = strerrorname_np(code < 0 ? -code : code);

	return name ? name : "unknown error";
}
