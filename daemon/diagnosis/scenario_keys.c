#include "scenario_keys.h"

#include <stdio.h>
#include <string.h>

bool key_read_text(char *field, size_t size, const json_t *v)
{
	const char *text = json_string_value(v);

	if (!json_is_null(v) && (!text || strlen(text) >= size))
		return false;
	memset(field, 0, size);
	if (!text)
		return true; /* unknown from now on */
	snprintf(field, size, "%s", text);
	return true;
}

static bool read_field(void *base, const struct key *k, const json_t *v)
{
	void *field = (char *)base + k->offset;
	double n = json_number_value(v);

	switch (k->type) {
	case KEY_TEXT:
		return key_read_text(field, k->size, v);
	case KEY_BOOL:
		if (!json_is_boolean(v) && !json_is_number(v))
			return false;
		*(bool *)field = json_is_true(v) || n > 0;
		return true;
	case KEY_U8:
		if (!json_is_number(v) || !(n >= 0 && n <= UINT8_MAX))
			return false;
		*(uint8_t *)field = (uint8_t)n;
		return true;
	case KEY_U32:
		if (!json_is_number(v) || !(n >= 0 && n <= UINT32_MAX))
			return false;
		*(uint32_t *)field = (uint32_t)n;
		return true;
	case KEY_U64:
		if (!json_is_number(v) || !(n >= 0 && n < 1e18))
			return false;
		*(uint64_t *)field = (uint64_t)n;
		return true;
	case KEY_OBJECT:
		break;
	}
	return false;
}

static const struct key *scenario_keys_find_key(const struct key *keys, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(keys[i].name, name) == 0)
			return &keys[i];
	return NULL;
}

static bool is_one_of(const char *name, const char *const *list)
{
	for (; list && *list; list++)
		if (strcmp(*list, name) == 0)
			return true;
	return false;
}

void keys_read(struct scenario_port *p, void *base, const json_t *object, const struct key *keys,
	       size_t n, const char *const *skip, uint32_t *ret_seen,
	       const struct scenario_complaints *c)
{
	const char *name;
	json_t *v;

	json_object_foreach ((json_t *)object, name, v) {
		const struct key *k = scenario_keys_find_key(keys, n, name);

		if (!k && !is_one_of(name, skip))
			c->tell(MISTAKE_UNKNOWN_KEY, name, c->arg);
		if (!k)
			continue;
		if (k->read ? k->read(p, v, c) : read_field(base, k, v)) {
			if (ret_seen)
				*ret_seen |= k->seen;
		} else {
			c->tell(MISTAKE_WRONG_TYPE, name, c->arg);
		}
	}
}
