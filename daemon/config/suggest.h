/* SPDX-License-Identifier: Apache-2.0 */
/* suggest.h - "did you mean": finds the known word most similar to a misspelt one. Pure. */
#pragma once

#include <stddef.h>

/* Returns the word at the least edit distance, if that is small relative to the word's length;
 * otherwise NULL. Borrowed. */
const char *suggest(const char *word, size_t len, const char *const *known, size_t n);
