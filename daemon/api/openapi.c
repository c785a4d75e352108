// SPDX-License-Identifier: Apache-2.0
#include "openapi.h"

#include <ctype.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* The words of a list that '|' separates. */
static json_t *openapi_words(const char *words)
{
	json_t *list = json_array();

	while (*words) {
		size_t n = strcspn(words, "|");

		json_array_append_new(list, json_stringn(words, n));
		words += n + (words[n] == '|');
	}
	return list;
}

/* An integer of a query is an integer in the document, too. */
static json_t *openapi_example(const struct route_key *key)
{
	return strcmp(key->type, "integer") == 0 ? json_integer(strtoll(key->example, NULL, 10))
						 : json_string(key->example);
}

static json_t *openapi_parameter(const struct route_key *key)
{
	json_t *p = json_pack("{ss ss ss s{ss}}", "name", key->name, "in", "query", "description",
			      key->what, "schema", "type", key->type);

	if (key->words)
		json_object_set_new(json_object_get(p, "schema"), "enum",
				    openapi_words(key->words));
	if (key->is_required)
		json_object_set_new(p, "required", json_true());
	if (key->example)
		json_object_set_new(p, "example", openapi_example(key));
	return p;
}

static json_t *openapi_parameters(const struct route *route)
{
	json_t *list = json_array();

	for (size_t i = 0; i < ROUTE_KEYS_MAX && route->keys[i].name; i++)
		json_array_append_new(list, openapi_parameter(&route->keys[i]));
	return list;
}

/* "/api/v1/diagnosis/sample": getDiagnosisSample */
static void openapi_operation(const struct route *route, char *ret, size_t size)
{
	const char *path = route->path + strlen("/api/v1");
	size_t len = (size_t)snprintf(ret, size, "get%s", *path ? "" : "Index");
	bool begins = true;

	for (; *path && *path != '.' && len + 1 < size; path++) {
		if (*path == '/')
			begins = true;
		else {
			ret[len++] = (char)(begins ? toupper((unsigned char)*path) : *path);
			begins = false;
		}
	}
	ret[len] = '\0';
}

static json_t *openapi_path(const struct route *route)
{
	char operation[64];

	openapi_operation(route, operation, sizeof(operation));
	return json_pack("{s{ss ss so s{so s{ss} so}}}", "get", "operationId", operation, "summary",
			 route->what, "parameters", openapi_parameters(route), "responses", "200",
			 openapi_response(route->what, route->type), "304", "description",
			 "the client has this document (If-None-Match); no body", "default",
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

/* What the TCP port may require (access.h). The keys are named after the options. */
static json_t *openapi_schemes(void)
{
	return json_pack(
		"{s{ss ss ss} s{ss ss ss}}", "token", "type", "http", "scheme", "bearer",
		"description",
		"a token of --auth-token-file, if the daemon has one; not on unix sockets",
		"password", "type", "http", "scheme", "basic", "description",
		"a name and password of --basic-auth-file, if the daemon has one; not on unix sockets");
}

/* Neither of them, for a daemon without these files and for its sockets, or either. */
static json_t *openapi_security(void)
{
	return json_pack("[{} {s[]} {s[]}]", "token", "password");
}

char *openapi_text(size_t *ret_len)
{
	return api_print(
		json_pack(
			"{ss s{ss ss ss} s[{ss ss}] so so s{so so}}", "openapi", "3.1.0", "info",
			"title", "rocelet", "description",
			"Unknown values are null, never 0 or \"\". A key that ends in Ms is a time of the node's monotonic clock or a duration; only startedMs is Unix time. "
			"POST is not described: attach, detach and doctor/fix work only on /run/rocelet/rocelet.sock and for root, and give 405 elsewhere (docs/reference/rocectl.md). "
			"`rocectl status` and `rocectl ports` combine several of these documents and have none of their own.",
			"version", "1", "servers", "url", "http://127.0.0.1:9907", "description",
			"the node's daemon; over /run/rocelet/rocelet.sock, too", "paths",
			openapi_paths(), "security", openapi_security(), "components", "schemas",
			openapi_schemas(), "securitySchemes", openapi_schemes()),
		ret_len);
}
