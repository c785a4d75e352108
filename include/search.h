/* SPDX-License-Identifier: Apache-2.0 */
/* search.h - linear searches in arrays, as expressions. lower_bound() of array.h searches sorted
 * ones. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* True if an index `i` below n satisfies `is`, an expression of that variable. */
#define any_of(n, i, is)                                                                           \
	({                                                                                         \
		bool any_ = false;                                                                 \
		for (size_t i = 0; !any_ && (i) < (n); (i)++)                                      \
			any_ = (is);                                                               \
		any_;                                                                              \
	})

/* The first of n elements of the array whose index `i` satisfies `is`; NULL if none does. */
#define find_first(array, n, i, is)                                                                \
	({                                                                                         \
		__typeof__((array)[0]) *found_ = NULL;                                             \
		for (size_t i = 0; !found_ && (i) < (n); (i)++)                                    \
			if (is)                                                                    \
				found_ = &(array)[(i)];                                            \
		found_;                                                                            \
	})
