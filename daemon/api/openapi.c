// SPDX-License-Identifier: Apache-2.0
#include "openapi.h"

#include <jansson.h>

#include "api_attachments.h"
#include "route.h"
#include "schema.h"

static json_t *openapi_content(const char *type)
{
	return json_pack("{s{so}}", "application/json", "schema", schema_of_type(type));
}

static json_t *openapi_response(const char *what, const char *type)
{
	return json_pack("{ss so}", "description", what, "content", openapi_content(type));
}

static json_t *openapi_parameters(const struct route *route)
{
	json_t *list = json_array();

	for (size_t i = 0; i < ROUTE_KEYS_MAX && route->keys[i].name; i++)
		json_array_append_new(list,
				      json_pack("{ss ss ss s{ss}}", "name", route->keys[i].name,
						"in", "query", "description", route->keys[i].what,
						"schema", "type", route->keys[i].type));
	return list;
}

static json_t *openapi_path(const struct route *route)
{
	return json_pack("{s{ss so s{so so}}}", "get", "summary", route->what, "parameters",
			 openapi_parameters(route), "responses", "200",
			 openapi_response(route->what, route->type), "default",
			 openapi_response("error, with the reason", "Error"));
}

static json_t *openapi_paths(void)
{
	json_t *paths = json_object();
	size_t n;
	const struct route *table = routes_table(&n);

	for (size_t i = 0; i < n; i++)
		if (route_is_api(&table[i]))
			json_object_set_new(paths, table[i].path, openapi_path(&table[i]));
	return paths;
}

static json_t *openapi_schemas(void)
{
	const struct schema_object *object;
	json_t *schemas = json_object();

	for (size_t i = 0; (object = schema_object(i)); i++)
		json_object_set_new(schemas, object->name, schema_of_object(object));
	return schemas;
}

char *openapi_text(size_t *ret_len)
{
	return api_print(
		json_pack(
			"{ss s{ss ss ss} so s{so}}", "openapi", "3.1.0", "info", "title", "rocelet",
			"description",
			"Unknown values are null, never 0 or \"\". A key that ends in Ms is a time of the node's monotonic clock or a duration; only startedMs is Unix time.",
			"version", "1", "paths", openapi_paths(), "components", "schemas",
			openapi_schemas()),
		ret_len);
}
