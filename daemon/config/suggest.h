/* suggest.h - "did you mean": the known word nearest to a misspelt one. Pure. */
#pragma once

#include <stddef.h>

/* The word at the least edit distance, if that is small against the word's length; NULL otherwise.
 * Borrowed. */
const char *suggest(const char *word, size_t len, const char *const *known, size_t n);
