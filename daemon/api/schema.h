/* SPDX-License-Identifier: Apache-2.0 */
/* schema.h - the members of each document of the API: names, types, whether null. Pure.
 *
 * The OpenAPI document is generated from it. Tests validate every document that they render against
 * it: no member may be missing, unknown or of another type. */
#pragma once

#include <jansson.h>

/* An object: its members in the order of the document, "name:type name:type".
 *
 *   s text, t a time in UTC (RFC 3339), i an integer, n a number, b a boolean, * anything
 *   Name another object, [T] a list of T, {T} an object with any names and values T
 * T? T or null; T|U either; name~:T the member may be missing */
struct schema_object {
	const char *name;
	const char *members;
};

/* The i-th object; NULL after the last. */
const struct schema_object *schema_object(size_t i);
/* JSON Schema (2020-12) of a type as above; new reference. NULL: out of memory, or not a valid
 * type. */
json_t *schema_of_type(const char *type);
/* JSON Schema of an object; new reference. */
json_t *schema_of_object(const struct schema_object *);
