/* array.h - growing a plain array by one, for arrays that are filled once and then read. */
#pragma once

#include <stdlib.h>
#include <string.h>

/* Makes room for element n of an array that holds n; doubles at powers of two, so an array of other
 * make needs room for the next power of two. The new element is zeroed. Returns the array, NULL when out of memory (the old one stays valid). */
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

/* Appends a zeroed element to array `a` with count `n`; a pointer to it, NULL when out of memory.
 */
#define array_push(a, n)                                                                           \
	({                                                                                         \
		void *grown_ = array_room((a), (n), sizeof(*(a)));                                 \
		if (grown_)                                                                        \
			(a) = grown_;                                                              \
		grown_ ? &(a)[(n)++] : NULL;                                                       \
	})
