/* json_text.h - any bytes as a JSON string. Pure. */
#pragma once

#include <jansson.h>

/* null for NULL and "", else the text, with U+FFFD for each byte that belongs to no character. NULL
 * when out of memory. */
json_t *json_text(const char *s);
