/* alloc_faults.c - the linker leads calls here (--wrap). */
#include "alloc_faults.h"

#include <stdlib.h>

static unsigned left;
static bool failed;

void alloc_fail_at(unsigned n)
{
	left = n;
	failed = false;
}

bool alloc_fail_end(void)
{
	left = 0;
	return failed;
}

static bool fails(void)
{
	if (left == 0 || --left > 0)
		return false;
	failed = true;
	return true;
}

#define WRAP(name, parameters, arguments)                                                          \
	void *__real_##name parameters;                                                            \
	void *__wrap_##name parameters;                                                            \
	void *__wrap_##name parameters                                                             \
	{                                                                                          \
		return fails() ? NULL : __real_##name arguments;                                   \
	}

WRAP(malloc, (size_t n), (n))
WRAP(calloc, (size_t n, size_t size), (n, size))
WRAP(realloc, (void *p, size_t n), (p, n))
WRAP(reallocarray, (void *p, size_t n, size_t size), (p, n, size))
WRAP(strdup, (const char *s), (s))
WRAP(strndup, (const char *s, size_t n), (s, n))
