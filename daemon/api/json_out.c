// SPDX-License-Identifier: Apache-2.0
#include "json_out.h"

#include <math.h>
#include <string.h>

#include "json_text.h"
#include "number.h"

static void json_out_begin_value(struct json_out *o, const char *key)
{
	if (o->comma)
		text_add(&o->text, ",", 1);
	o->comma = true;
	if (!key)
		return;
	text_add(&o->text, "\"", 1);
	text_add(&o->text, key, strlen(key));
	text_add(&o->text, "\":", 2);
}

static void word(struct json_out *o, const char *key, const char *value)
{
	json_out_begin_value(o, key);
	text_add(&o->text, value, strlen(value));
}

void json_out_open(struct json_out *o, const char *key, char bracket)
{
	json_out_begin_value(o, key);
	text_add(&o->text, &bracket, 1);
	o->comma = false;
}

void json_out_close(struct json_out *o, char bracket)
{
	text_add(&o->text, &bracket, 1);
	o->comma = true;
}

void json_out_null(struct json_out *o, const char *key)
{
	word(o, key, "null");
}

void json_out_bool(struct json_out *o, const char *key, bool value)
{
	word(o, key, value ? "true" : "false");
}

void json_out_number(struct json_out *o, const char *key, uint64_t n)
{
	char *at;

	json_out_begin_value(o, key);
	at = text_reserve(&o->text, NUMBER_MAX);
	if (at)
		o->text.len += number_u64(at, n);
}

void json_out_reading(struct json_out *o, const char *key, uint64_t v, enum unit unit)
{
	char *at;

	json_out_begin_value(o, key);
	at = text_reserve(&o->text, NUMBER_MAX);
	if (at)
		o->text.len += number_reading(at, v, unit);
}

void json_out_known(struct json_out *o, const char *key, bool is_known, uint64_t n)
{
	if (is_known)
		json_out_number(o, key, n);
	else
		json_out_null(o, key);
}

void json_out_real(struct json_out *o, const char *key, double v)
{
	if (!isfinite(v)) {
		json_out_null(o, key);
		return;
	}
	json_out_begin_value(o, key);
	if (v == 0) /* the most frequent value: skip the conversion */
		text_add(&o->text, "0", 1);
	else
		text_addf(&o->text, "%.4g", v);
}

void json_out_counter(struct json_out *o, const char *key, double v)
{
	if (v >= 0 && v < 0x1p53 && v == (double)(uint64_t)v) {
		json_out_number(o, key, (uint64_t)v);
		return;
	}
	if (!isfinite(v)) {
		json_out_null(o, key);
		return;
	}
	json_out_begin_value(o, key);
	text_addf(&o->text, "%.12g", v);
}

/* A json_dump_callback_t. */
static int append_text(const char *s, size_t n, void *text)
{
	text_add(text, s, n);
	return ((struct text *)text)->failed ? -1 : 0;
}

void json_out_value(struct json_out *o, const char *key, json_t *value)
{
	json_out_begin_value(o, key);
	if (!value ||
	    json_dump_callback(value, append_text, &o->text,
			       JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(9)) < 0)
		o->text.failed = true;
	json_decref(value);
}

/* True if no character needs an escape. */
static bool json_out_is_plain(const char *s)
{
	for (; *s != '\0'; s++)
		if (*s < ' ' || *s > '~' || *s == '"' || *s == '\\')
			return false;
	return true;
}

static void quoted(struct json_out *o, const char *key, const char *s)
{
	json_out_begin_value(o, key);
	text_add(&o->text, "\"", 1);
	text_add(&o->text, s, strlen(s));
	text_add(&o->text, "\"", 1);
}

void json_out_text(struct json_out *o, const char *key, const char *s)
{
	if (s[0] == '\0')
		json_out_null(o, key);
	else if (json_out_is_plain(s))
		quoted(o, key, s);
	else
		json_out_value(o, key, json_text(s));
}
