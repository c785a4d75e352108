/* failing_malloc.h - every allocation of a call made to fail, one after the other.
 *
 * Included by one file of a test program, whose malloc it replaces; not under a sanitizer, which
 * brings its own: then CAN_FAIL is not defined. */
#pragma once

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && defined(__GLIBC__)
#define CAN_FAIL 1

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

/* cmocka is included already. */

/* glibc's own, under the names it keeps for those who replace them. */
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void __libc_free(void *);

static long allocations_left = -1; /* until the one that fails; < 0: none fails */
static bool counting;
static long live; /* allocated while counting, and not freed */

static bool fails(void)
{
	return allocations_left >= 0 && allocations_left-- == 0;
}

void *malloc(size_t n)
{
	void *p = fails() ? NULL : __libc_malloc(n);

	live += counting && p;
	return p;
}

void *calloc(size_t n, size_t size)
{
	void *p = fails() ? NULL : __libc_calloc(n, size);

	live += counting && p;
	return p;
}

void *realloc(void *old, size_t n)
{
	void *p = fails() ? NULL : __libc_realloc(old, n);

	live += counting && p && !old;
	return p;
}

void free(void *p)
{
	live -= counting && p;
	__libc_free(p);
}

/* 0 or -ENOMEM, with everything freed again. */
typedef int attempt_fn(void);

/* Fails the first allocation, then the second, ... until there are no more to fail; how many. The C
 * library gets over some of them. */
static inline unsigned fail_each_allocation(attempt_fn *attempt)
{
	bool reached = true;
	unsigned n;
	int r = 0;

	for (n = 0; reached; n++) {
		live = 0;
		counting = true;
		allocations_left = n;
		r = attempt();
		reached = allocations_left < 0;
		allocations_left = -1;
		counting = false;
		assert_int_equal(live, 0);
		assert_true(r == 0 || (reached && r == -ENOMEM));
		assert_true(n < 10000);
	}
	assert_int_equal(r, 0);
	return n - 1;
}
#endif
