/* utf8.h - makes any bytes fit for a JSON string. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* How many bytes the well-formed character at s has (RFC 3629: no surrogates, nothing overlong);
 * 0 = s does not start with one. s is terminated. */
size_t utf8_char(const char *s);
bool utf8_valid(const char *s);
/* A copy with U+FFFD for each byte that belongs to no character; heap, NULL when out of memory. */
char *utf8_repair(const char *s);
