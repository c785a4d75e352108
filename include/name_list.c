// SPDX-License-Identifier: Apache-2.0
#include "name_list.h"

#include <stdio.h>
#include <string.h>

#define NAME_LIST_MORE	    " and %zu more"
/* Of the longest number. */
#define NAME_LIST_MORE_SIZE sizeof(" and 18446744073709551615 more")

struct name_list name_list_in(char *text, size_t size)
{
	text[0] = '\0';
	return (struct name_list){.text = text, .size = size};
}

/* Once a name does not fit, no other is added: the names in the text are the first ones. */
void name_list_add(struct name_list *l, const char *name)
{
	const char *comma = l->n ? ", " : "";
	const size_t needed = strlen(comma) + strlen(name);

	if (l->named == l->n++ && l->len + needed + NAME_LIST_MORE_SIZE <= l->size) {
		l->len += (size_t)snprintf(l->text + l->len, l->size - l->len, "%s%s", comma, name);
		l->named++;
		return;
	}
	snprintf(l->text + l->len, l->size - l->len, l->named ? NAME_LIST_MORE : "%zu",
		 l->n - l->named);
}
