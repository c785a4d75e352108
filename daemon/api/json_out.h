/* SPDX-License-Identifier: Apache-2.0 */
/* json_out.h - writes JSON directly into text, member by member, for documents of thousands of
 * rows: a tree of values costs ten times the time and memory. Pure.
 *
 * key needs no escaping, and is NULL for the outermost value and for array elements. text.failed is
 * set if out of memory. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "page.h"
#include "sample.h"

/* All zero: empty. */
struct json_out {
	struct text text;
	bool comma; /* needed before the next value */
};

/* bracket: '{' or '[' to open, '}' or ']' to close. */
void json_out_open(struct json_out *, const char *key, char bracket);
void json_out_close(struct json_out *, char bracket);
void json_out_null(struct json_out *, const char *key);
void json_out_bool(struct json_out *, const char *key, bool);
void json_out_number(struct json_out *, const char *key, uint64_t);
/* The number if it is known, else null. */
void json_out_known(struct json_out *, const char *key, bool is_known, uint64_t);
/* The number with four significant digits; null if it is not finite. */
void json_out_real(struct json_out *, const char *key, double);
/* A reading, converted exactly to its base unit. */
void json_out_reading(struct json_out *, const char *key, uint64_t, enum unit);
/* Whole numbers up to 2^53 without a fraction, other values with 12 digits; null if not finite. */
void json_out_counter(struct json_out *, const char *key, double);
/* As json_text(): null for "", U+FFFD for invalid UTF-8. */
void json_out_text(struct json_out *, const char *key, const char *);
/* Takes ownership of the value; NULL means out of memory. */
void json_out_value(struct json_out *, const char *key, json_t *);
