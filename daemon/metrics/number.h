/* number.h - prints numbers into text that is already made room for. Fast, because a page is mostly
 * numbers. Pure. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "sample.h"

#define NUMBER_MAX 32 /* bytes any of these may write */

/* All return the number of bytes written; nothing is terminated. */
size_t number_u64(char *dst, uint64_t v);
/* v / 10^digits with as many decimals as it takes, at most `digits` (up to 9). */
size_t number_decimal(char *dst, uint64_t v, unsigned digits);
/* A reading's value in the base unit: seconds, bytes, ratio. */
size_t number_reading(char *dst, uint64_t v, enum unit);
