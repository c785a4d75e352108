/* json_out.h - JSON straight into text, member by member, for documents of thousands of rows: a
 * tree of values costs ten times as much. Pure.
 *
 * key is a plain word, or NULL for what is outermost or stands in an array. What runs out of memory
 * fails the text. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "page.h"

/* Zero-initialised it is empty. */
struct json_out {
	struct text text;
	bool comma; /* before what comes next */
};

/* bracket: '{' or '[', and its counterpart. */
void json_out_open(struct json_out *, const char *key, char bracket);
void json_out_close(struct json_out *, char bracket);
void json_out_null(struct json_out *, const char *key);
void json_out_bool(struct json_out *, const char *key, bool);
void json_out_number(struct json_out *, const char *key, uint64_t);
/* The number where it is known, else null. */
void json_out_known(struct json_out *, const char *key, bool is_known, uint64_t);
/* With four digits; null for what is no number. */
void json_out_real(struct json_out *, const char *key, double);
/* A counter: whole where it is whole, up to 2^53. */
void json_out_counter(struct json_out *, const char *key, double);
/* As json_text(): null for "", and U+FFFD for what is no UTF-8. */
void json_out_text(struct json_out *, const char *key, const char *);
/* Takes the value; NULL is out of memory. */
void json_out_value(struct json_out *, const char *key, json_t *);
