// SPDX-License-Identifier: Apache-2.0
/* config_schema_parts.c - converts the parsers' tables into schema objects. Pure. */
#include <string.h>

#include "cleanup.h"
#include "config_schema.h"

/* The key that had no shape. Only a test reads it. */
static const char *missing;

void config_schema_begin(void)
{
	missing = NULL;
}

const char *config_schema_missing(void)
{
	return missing;
}

json_t *config_schema_json(const char *text)
{
	return json_loads(text, JSON_DECODE_ANY, NULL);
}

json_t *config_schema_words(const char *const *words, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, json_string(words[i]));
	return json_pack("{s:o}", "enum", list);
}

json_t *config_schema_integer(double min, double max)
{
	return json_pack("{s:s, s:I, s:I}", "type", "integer", "minimum", (json_int_t)min,
			 "maximum", (json_int_t)max);
}

json_t *config_schema_list(json_t *items, unsigned least)
{
	json_t *list = json_pack("{s:s, s:o}", "type", "array", "items", items);

	if (least > 0)
		json_object_set_new(list, "minItems", json_integer(least));
	return list;
}

json_t *config_schema_either(json_t *a, json_t *b)
{
	return json_pack("{s:[o, o]}", "anyOf", a, b);
}

json_t *config_schema_object(void)
{
	return json_pack("{s:s, s:{s:b}, s:b}", "type", "object", "properties", CONFIG_COMMENT, 1,
			 "additionalProperties", 0);
}

void config_schema_property(json_t *object, const char *key, json_t *value)
{
	json_object_set_new(json_object_get(object, "properties"), key, value);
}

void config_schema_require(json_t *object, const char *key)
{
	json_t *required = json_object_get(object, "required");

	if (!required) {
		required = json_array();
		json_object_set_new(object, "required", required);
	}
	json_array_append_new(required, json_string(key));
}

/* Shapes of readers that all tables share. */
static const struct config_schema_shape common_shapes[] = {
	{parse_bool, NULL, SCHEMA_BOOL, NULL},
	{parse_words, NULL, SCHEMA_WORDS, NULL},
};

static const struct config_schema_shape *
config_schema_find(const struct parse_key *key, const struct config_schema_shape *shapes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (shapes[i].read ? shapes[i].read == key->read
				   : shapes[i].key && strcmp(shapes[i].key, key->name) == 0)
			return &shapes[i];
	return NULL;
}

json_t *config_schema_table(const struct parse_key *keys, size_t n,
			    const struct config_schema_shape *shapes, size_t n_shapes)
{
	json_t *object = config_schema_object();

	for (size_t i = 0; i < n; i++) {
		const struct config_schema_shape *s = config_schema_find(&keys[i], shapes,
									 n_shapes);

		if (!s)
			s = config_schema_find(&keys[i], common_shapes, ARRAY_SIZE(common_shapes));
		if (s)
			config_schema_property(object, keys[i].name,
					       s->json ? config_schema_json(s->json)
						       : s->make(&keys[i]));
		else
			missing = keys[i].name;
	}
	return object;
}
