/* SPDX-License-Identifier: Apache-2.0 */
/* json_text.h - parses JSON strictly, makes JSON strings from arbitrary bytes, and null from 0,
 * where 0 means unknown. Pure. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* Like json_loadb(), but also fails, with NULL and an empty error text, if an allocation of the
 * text buffer failed. jansson ignores such a failure and truncates the name or string (lex_save()
 * in jansson/src/load.c). A list with a truncated name would seem absent. */
json_t *json_text_load(const char *text, size_t len, size_t flags, json_error_t *ret_where);
/* Detect that memory runs out while a document is built from many values. json_text_failed()
 * returns whether an allocation of jansson has failed in this thread since json_text_watch() or
 * json_text_load(). */
void json_text_watch(void);
bool json_text_failed(void);
/* True if json_text_load() failed because memory ran out. */
bool json_text_no_memory(const json_error_t *);
/* Makes null from NULL and "", else a string of the text with each byte that is not valid UTF-8
 * replaced by U+FFFD. NULL when out of memory. */
json_t *json_text(const char *s);
/* Appends the item and returns the list; takes ownership of both. NULL if either is NULL, or when
 * out of memory. */
json_t *json_push(json_t *list, json_t *item);
/* Makes null from 0, else the number. NULL when out of memory. */
json_t *json_above_zero(uint64_t n);
