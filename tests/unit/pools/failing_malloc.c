// SPDX-License-Identifier: Apache-2.0
/* features.h defines __GLIBC__, which the header needs */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs four of the above first */
#include <cmocka.h>

#include "failing_malloc.h"

#ifdef CAN_FAIL

/* glibc's own, under the names it keeps for programs that replace them. */
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void __libc_free(void *);

void *malloc(size_t n);
void *calloc(size_t n, size_t size);
void *realloc(void *old, size_t n);
void free(void *p);

static long allocations_left = -1; /* allocations until the one that fails; < 0: none fails */
static bool counting;
static long n_allocated; /* allocations since counting began that are not freed */

static bool fails(void)
{
	return allocations_left >= 0 && allocations_left-- == 0;
}

void *malloc(size_t n)
{
	void *p = fails() ? NULL : __libc_malloc(n);

	n_allocated += counting && p;
	return p;
}

void *calloc(size_t n, size_t size)
{
	void *p = fails() ? NULL : __libc_calloc(n, size);

	n_allocated += counting && p;
	return p;
}

void *realloc(void *old, size_t n)
{
	void *p = fails() ? NULL : __libc_realloc(old, n);

	n_allocated += counting && p && !old;
	return p;
}

void free(void *p)
{
	n_allocated -= counting && p;
	__libc_free(p);
}

unsigned fail_each_allocation(attempt_fn *attempt)
{
	bool reached = true;
	unsigned n;
	int r = 0;

	for (n = 0; reached; n++) {
		n_allocated = 0;
		counting = true;
		allocations_left = n;
		r = attempt();
		reached = allocations_left < 0;
		allocations_left = -1;
		counting = false;
		assert_int_equal(n_allocated, 0);
		assert_true(r == 0 || (reached && r == -ENOMEM));
		assert_true(n < 10000);
	}
	assert_int_equal(r, 0);
	return n - 1;
}
#endif
