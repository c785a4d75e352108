/* SPDX-License-Identifier: Apache-2.0 */
/* json_text.h - strict parsing of JSON, JSON strings from arbitrary bytes, and null for 0, which
 * means unknown. Pure. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* json_loadb() that also fails with NULL and an empty error text if an allocation of its text
 * buffer failed. jansson ignores those and truncates the name or string (lex_save() in
 * jansson/src/load.c), so that a list under that name would read as absent. */
json_t *json_text_load(const char *text, size_t len, size_t flags, json_error_t *ret_where);
/* Detect lack of memory while a document is built from many values: json_text_failed() returns
 * whether an allocation of jansson has failed in this thread since json_text_watch() or
 * json_text_load(). */
void json_text_watch(void);
bool json_text_failed(void);
/* Whether json_text_load() failed because memory ran out. */
bool json_text_no_memory(const json_error_t *);
/* null for NULL and "", else the text with each byte that is not valid UTF-8 replaced by U+FFFD.
 * NULL when out of memory. */
json_t *json_text(const char *s);
/* Appends the item and returns the list; takes ownership of both. NULL if either is NULL, or when
 * out of memory. */
json_t *json_push(json_t *list, json_t *item);
/* null for 0. NULL when out of memory. */
json_t *json_above_zero(uint64_t n);
