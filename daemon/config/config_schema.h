/* SPDX-License-Identifier: Apache-2.0 */
/* config_schema.h - the JSON Schema (draft 2020-12) of the configuration file, for editors and for
 * checks without a node. Pure.
 *
 * It is generated from the parsers' tables: every key of a table is in the schema, and
 * config_schema_missing() reports a reader without a shape. The schema is as strict as
 * `--check-config --strict`: unknown keys are invalid. Rules that concern several values or the
 * node are checked by the parsers only. Keys must be spelt as documented. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pool_parse.h"

/* Returns the schema as text; heap, NULL if out of memory. */
char *config_schema_text(void);

/* --- for the files with tables ----------------------------------------------------------- */

/* The schema of the values that a reader accepts, or, if read is NULL, of the key `key`. It is the
 * text `json`, or the result of make(). */
struct config_schema_shape {
	parse_read_fn *read;
	const char *key;
	const char *json;
	json_t *(*make)(const struct parse_key *);
};

/* A non-empty text; a list of them. */
#define SCHEMA_WORD  "{\"type\": \"string\", \"minLength\": 1}"
#define SCHEMA_WORDS "{\"type\": \"array\", \"items\": " SCHEMA_WORD "}"
/* The names of a resource, and "additionalInfo". */
#define SCHEMA_NAME                                                                                \
	"{\"type\": \"string\", \"maxLength\": 63, \"pattern\": "                                  \
	"\"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$\"}"
#define SCHEMA_PREFIX                                                                              \
	"{\"type\": \"string\", \"maxLength\": 244, \"pattern\": "                                 \
	"\"^([a-z0-9]([a-z0-9-]*[a-z0-9])?([.][a-z0-9]([a-z0-9-]*[a-z0-9])?)*)?$\"}"
#define SCHEMA_EXTRA                                                                               \
	"{\"type\": \"object\", \"additionalProperties\": {\"type\": \"object\", "                 \
	"\"additionalProperties\": {\"type\": \"string\"}}}"
#define SCHEMA_ANY  "true"
#define SCHEMA_BOOL "{\"type\": \"boolean\"}"

/* All return a new value, or NULL if out of memory. They take ownership of json_t arguments, and
 * return NULL if one is NULL. */
json_t *config_schema_json(const char *text);
json_t *config_schema_words(const char *const *words, size_t n);
json_t *config_schema_integer(double min, double max);
json_t *config_schema_list(json_t *items, unsigned least);
json_t *config_schema_either(json_t *, json_t *);
/* An object that allows only comments, and one with the keys of a table. */
json_t *config_schema_object(void);
json_t *config_schema_table(const struct parse_key *, size_t n, const struct config_schema_shape *,
			    size_t n_shapes);
void config_schema_property(json_t *object, const char *key, json_t *value);
/* Requires the key in the object. */
void config_schema_require(json_t *object, const char *key);
/* Resets config_schema_missing(). */
void config_schema_begin(void);
/* Returns a key whose reader had no shape since config_schema_begin(); NULL: none. */
const char *config_schema_missing(void);

/* The parts, by the files that read them. */
json_t *config_schema_of_options(void);	 /* options_print.c: an object */
json_t *config_schema_of_match(void);	 /* groups.c */
json_t *config_schema_of_native(void);	 /* pool_config_native.c: a pool */
json_t *config_schema_of_resource(void); /* pool_config_peers.c: of resourceList, of configList */
json_t *config_schema_of_shared(void);
/* pool_config_selectors.c: the value of "selectors" with these keys; a key without a name ends the
 * table */
json_t *config_schema_of_selectors(const struct parse_key *);
json_t *config_schema_of_network(void); /* network_keys.c: a pool's "network" */
/* pool_config_network.c: adds "network", "softRoce", "interface" and "clean" */
void config_schema_add_network(json_t *object);
