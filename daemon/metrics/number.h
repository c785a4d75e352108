/* SPDX-License-Identifier: Apache-2.0 */
/* number.h - prints numbers into text with enough room. Fast, because a page is mostly numbers.
 * Pure. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "sample.h"

#define NUMBER_MAX 32 /* maximum number of bytes that each of these writes */

/* Prints v. All functions that print return the number of bytes written, and write no NUL. */
size_t number_u64(char *dst, uint64_t v);
/* Prints v / 10^digits with as many decimals as needed, at most `digits` (up to 9). */
size_t number_decimal(char *dst, uint64_t v, unsigned digits);
/* Returns a reading's value in the base unit: seconds, bytes, ratio. */
double number_in_base_unit(uint64_t v, enum unit);
/* Prints number_in_base_unit(). */
size_t number_reading(char *dst, uint64_t v, enum unit);
