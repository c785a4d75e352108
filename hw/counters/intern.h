/* intern.h - one copy of each string, with a pointer that stays put until intern_done(). */
#pragma once

#include <stddef.h>

/* Zero-initialised it is empty. */
struct intern {
	char **slots; /* open addressing, a power of two */
	size_t n, cap;
};

/* NULL when out of memory. */
const char *intern(struct intern *, const char *s);
void intern_done(struct intern *);
