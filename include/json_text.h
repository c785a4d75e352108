/* json_text.h - any bytes as a JSON string, and numbers that say nothing when they are 0. Pure. */
#pragma once

#include <jansson.h>
#include <stdint.h>

/* null for NULL and "", else the text, with U+FFFD for each byte that belongs to no character. NULL
 * when out of memory. */
json_t *json_text(const char *s);
/* null for 0. NULL when out of memory. */
json_t *json_above_zero(uint64_t n);
