/* SPDX-License-Identifier: Apache-2.0 */
/* failing_malloc.h - fails each allocation of a call, one after the other. failing_malloc.c
 * replaces malloc of this program; not under a sanitizer, which brings its own: then CAN_FAIL is
 * not defined. */
#pragma once

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && defined(__GLIBC__)
#define CAN_FAIL 1

/* Returns 0 or -ENOMEM, with everything freed again. */
typedef int attempt_fn(void);

/* Fails the first allocation, then the second, ... until there are no more to fail; returns how
 * many there are. The C library survives some failures. Asserts that nothing leaks. */
unsigned fail_each_allocation(attempt_fn *attempt);
#endif
