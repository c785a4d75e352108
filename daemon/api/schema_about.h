/* SPDX-License-Identifier: Apache-2.0 */
/* schema_about.h - what each member of the API's documents means, and its words if they are a
 * closed set. The words come from the functions that render them. Pure. */
#pragma once

#include <stddef.h>

struct schema_about {
	/* "Object.member", or "member" for all objects without an entry of their own. */
	const char *member;
	const char *what;
	/* The i-th word; "" or NULL: there is none with this number. NULL: any text. */
	const char *(*word)(int);
	int n_words; /* numbers that may have a word */
};

/* NULL: the member is not described. */
const struct schema_about *schema_about(const char *object, const char *member);
/* The i-th row; NULL after the last. */
const struct schema_about *schema_about_row(size_t i);
