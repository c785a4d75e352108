// SPDX-License-Identifier: Apache-2.0
#include "scenario_keys.h"

#include <stdio.h>
#include <string.h>

#include "json_text.h"
#include "search.h"

bool key_read_text(char *field, size_t size, const json_t *v)
{
	const char *text = json_string_value(v);

	if (!json_is_null(v) && (!text || strlen(text) >= size))
		return false;
	memset(field, 0, size);
	if (!text)
		return true; /* null: unknown from now on */
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
	return find_first(keys, n, i, strcmp(keys[i].name, name) == 0);
}

static bool is_one_of(const char *name, const char *const *list)
{
	for (; list && *list; list++)
		if (strcmp(*list, name) == 0)
			return true;
	return false;
}

void keys_read(struct scenario_port *p, void *base, const json_t *object, const struct key *keys,
	       size_t n, const char *const *skip, uint32_t *ret_seen)
{
	const struct scenario_complaints *c = p->complaints;
	const char *name;
	json_t *v;

	json_object_foreach ((json_t *)object, name, v) {
		const struct key *k = scenario_keys_find_key(keys, n, name);

		if (!k && !is_one_of(name, skip))
			c->report(MISTAKE_UNKNOWN_KEY, name, c->arg);
		if (!k)
			continue;
		if (k->read ? k->read(p, v) : read_field(base, k, v)) {
			if (ret_seen)
				*ret_seen |= k->seen;
		} else {
			c->report(MISTAKE_WRONG_TYPE, name, c->arg);
		}
	}
}

static json_t *key_json(const void *base, const struct key *k)
{
	const void *field = (const char *)base + k->offset;

	switch (k->type) {
	case KEY_TEXT:
		return json_text(field);
	case KEY_BOOL:
		return json_boolean(*(const bool *)field);
	case KEY_U8:
		return json_integer(*(const uint8_t *)field);
	case KEY_U32:
		return json_integer(*(const uint32_t *)field);
	case KEY_U64:
		return json_integer((json_int_t) * (const uint64_t *)field);
	case KEY_OBJECT:
		break;
	}
	return NULL;
}

bool keys_write(json_t *object, const struct port_observation *o, const void *base,
		const struct key *keys, size_t n, uint32_t seen)
{
	bool ok = true;

	for (size_t i = 0; i < n; i++) {
		const struct key *k = &keys[i];

		if ((k->seen & ~seen) || (!k->write && k->type == KEY_OBJECT))
			continue;
		ok &= json_object_set_new(object, k->name,
					  k->write ? k->write(o) : key_json(base, k)) == 0;
	}
	return ok;
}

json_t *scenario_keys_whole(json_t *object, bool ok)
{
	if (ok)
		return object;
	json_decref(object);
	return NULL;
}
