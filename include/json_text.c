// SPDX-License-Identifier: Apache-2.0
#include "json_text.h"

#include <stdlib.h>
#include <string.h>

#include "utf8.h"

/* --- parsing ---------------------------------------------------------------------------------- */

/* An allocation has failed in this thread since json_text_watch(). */
static _Thread_local bool allocation_failed;

static void *checked_malloc(size_t size)
{
	void *memory = malloc(size);

	allocation_failed |= !memory;
	return memory;
}

/* Runs before main(), because a value must be freed by the allocator that made it. */
__attribute__((constructor)) static void check_allocations(void)
{
	json_set_alloc_funcs(checked_malloc, free);
}

void json_text_watch(void)
{
	allocation_failed = false;
}

bool json_text_failed(void)
{
	return allocation_failed;
}

json_t *json_text_load(const char *text, size_t len, size_t flags, json_error_t *ret_where)
{
	json_t *value;

	json_text_watch();
	value = json_loadb(text, len, flags, ret_where);
	if (!allocation_failed)
		return value;
	json_decref(value);
	if (ret_where)
		ret_where->text[0] = '\0';
	return NULL;
}

/* True if memory ran out: jansson leaves the error text empty for most of its failed allocations.
 */
bool json_text_no_memory(const json_error_t *where)
{
	return where->text[0] == '\0' || json_error_code(where) == json_error_out_of_memory;
}

/* --- texts ------------------------------------------------------------------------------------ */

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

static char *repaired(const char *s)
{
	char *copy = malloc(strlen(s) * (sizeof(replacement) - 1) + 1), *out = copy;
	size_t n;

	if (!copy)
		return NULL;
	while (*s != '\0') {
		n = utf8_char(s);
		if (n > 0) {
			memcpy(out, s, n);
			out += n;
			s += n;
		} else {
			memcpy(out, replacement, sizeof(replacement) - 1);
			out += sizeof(replacement) - 1;
			s++;
		}
	}
	*out = '\0';
	return copy;
}

static bool is_valid(const char *s)
{
	size_t n;

	while ((n = utf8_char(s)) > 0)
		s += n;
	return *s == '\0';
}

json_t *json_text(const char *s)
{
	json_t *value;
	char *copy;

	if (!s || s[0] == '\0')
		return json_null();
	if (is_valid(s))
		return json_string_nocheck(s);
	copy = repaired(s);
	value = copy ? json_string_nocheck(copy) : NULL;
	free(copy);
	return value;
}

json_t *json_above_zero(uint64_t n)
{
	return n ? json_integer((json_int_t)n) : json_null();
}

json_t *json_push(json_t *list, json_t *item)
{
	if (json_array_append_new(list, item) == 0)
		return list;
	json_decref(list);
	return NULL;
}
