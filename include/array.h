/* SPDX-License-Identifier: Apache-2.0 */
/* array.h - appends to plain arrays that are filled once and then read. */
#pragma once

#include <stdlib.h>
#include <string.h>

/* Makes room for element n of an array that holds n. The capacity doubles at powers of two, so an
 * array allocated elsewhere must have room up to the next power of two. The new element is zeroed.
 * Returns the array, NULL when out of memory (the old one stays valid). */
static inline void *array_room(void *array, size_t n, size_t size)
{
	if ((n & (n - 1)) == 0) {
		size_t room = n ? 2 * n : 1;

		array = reallocarray(array, room, size);
		if (!array)
			return NULL;
	}
	memset((char *)array + n * size, 0, size);
	return array;
}

/* Index of the first of n sorted elements that does not satisfy is_less, an expression of the index
 * variable `i`; n if all do. */
#define lower_bound(n, i, is_less)                                                                 \
	({                                                                                         \
		size_t low_ = 0, high_ = (n);                                                      \
		while (low_ < high_) {                                                             \
			const size_t i = low_ + (high_ - low_) / 2;                                \
			if (is_less)                                                               \
				low_ = (i) + 1;                                                    \
			else                                                                       \
				high_ = i;                                                         \
		}                                                                                  \
		low_;                                                                              \
	})

/* Appends a zeroed element to array `a` with count `n`. Returns a pointer to it, NULL when out of
 * memory. */
#define array_push(a, n)                                                                           \
	({                                                                                         \
		void *grown_ = array_room((a), (n), sizeof(*(a)));                                 \
		if (grown_)                                                                        \
			(a) = grown_;                                                              \
		grown_ ? &(a)[(n)++] : NULL;                                                       \
	})
