/* SPDX-License-Identifier: Apache-2.0 */
/* name_list.h - lists names in a text of limited size; those that do not fit are counted: "a, b and
 * 3 more". */
#pragma once

#include <stddef.h>

struct name_list {
	char *text; /* the caller's; terminated, and complete after every name */
	size_t size, len;
	size_t n, named; /* names in all, and in the text */
};

/* An empty list in a text of at least NAME_LIST_LEAST bytes. */
#define NAME_LIST_LEAST 32
struct name_list name_list_in(char *text, size_t size);
void name_list_add(struct name_list *, const char *name);
