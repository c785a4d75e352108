/* SPDX-License-Identifier: Apache-2.0 */
/* route.h - a path, its handler and the parameters that its query may have. The index at /api/v1,
 * the check of queries and the OpenAPI document are made from the table of routes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "http.h"

struct routes;

#define ROUTE_KEYS_MAX 10

/* A parameter of a query. */
struct route_key {
	const char *name;
	const char *type; /* of JSON Schema: "string", "integer" */
	const char *what;
	const char *example; /* as it is in a query; NULL: none */
	/* Possible values, separated by '|'; NULL: any. */
	const char *words;
	bool is_required;
};

struct route {
	const char *path;
	void (*answer)(struct routes *, const struct http_request *, struct http_reply *);
	const char *type;		       /* name in schema.h; NULL: not part of the API */
	const char *what;		       /* description of the document, for the index */
	struct route_key keys[ROUTE_KEYS_MAX]; /* those with a name */
};

/* All paths that answer GET. */
const struct route *routes_table(size_t *ret_n);
/* True if the path is part of the API: it returns JSON and rejects unknown parameters. */
bool route_is_api(const struct route *);
/* -EINVAL if the query has a parameter that is unknown, given twice or none of its words, or lacks
 * a required one; the message names it and lists what is possible. */
int route_check_query(const struct route *, const struct http_request *, struct err *);
/* The document of /api/v1: node, version, start time, and every path with its parameters. Heap;
 * NULL if out of memory. */
char *route_index(const struct routes *, uint64_t now_ms, size_t *ret_len);
