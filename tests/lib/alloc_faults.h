/* alloc_faults.h - lets one allocation of the code under test fail: malloc, calloc, realloc,
 * reallocarray, strdup and strndup as our own objects call them. Libraries are not affected. */
#pragma once

#include <stdbool.h>

/* The n-th allocation from now on fails, once. */
void alloc_fail_at(unsigned n);
/* Whether it did; nothing fails any more. */
bool alloc_fail_end(void);
