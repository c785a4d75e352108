/* json_text.h - text into JSON values and any bytes as a JSON string; numbers that say nothing when
 * they are 0. Pure. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* json_loadb(), but for failed allocations: jansson ignores those of its text buffer, and cuts a
 * name or string then, so that a list under that name reads as absent (lex_save() in
 * jansson/src/load.c). NULL with an empty error text instead, as for other failed allocations. */
json_t *json_text_load(const char *text, size_t len, size_t flags, json_error_t *ret_where);
/* For who makes a document of many values: json_text_watch() before, and then whether an allocation
 * of jansson's has failed in this thread. json_text_load() begins to watch, too. */
void json_text_watch(void);
bool json_text_failed(void);
/* That is why it was NULL. */
bool json_text_no_memory(const json_error_t *);
/* null for NULL and "", else the text, with U+FFFD for each byte that belongs to no character. NULL
 * when out of memory. */
json_t *json_text(const char *s);
/* null for 0. NULL when out of memory. */
json_t *json_above_zero(uint64_t n);
