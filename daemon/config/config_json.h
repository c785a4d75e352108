/* SPDX-License-Identifier: Apache-2.0 */
/* config_json.h - parses the configuration file as JSON. Pure: text in, a value out.
 *
 * Invalid JSON gets one message with file and line. A file in the format of another device plugin,
 * without our own "pools", is read as by encoding/json (Go): the last of duplicate keys counts, and
 * invalid UTF-8 is accepted; both cause warnings. Comments are keys, so that a commented file stays
 * valid JSON for jq and for tools that create or store ConfigMaps. */
#pragma once

#include <stddef.h>

#include "err.h"
#include "options.h"

struct json_t;

/* A key for comments, in any object and with any value. */
#define CONFIG_COMMENT "_comment"
/* A top-level key for editors. */
#define CONFIG_SCHEMA  "$schema"

/* Returns an object, which the caller owns (json_decref), without comments, "$schema" and keys
 * whose value is null, except inside values that are passed on unchanged ("ipam",
 * "additionalInfo"); NULL with -EINVAL and a message 'file:line: ...' on failure. warn NULL: no
 * warnings. */
struct json_t *config_json(const char *text, size_t len, const char *name, options_warn_fn *warn,
			   void *arg, struct err *);

/* Returns the (last) value of a key, NULL = absent or null; *ret_key as spelt in the file. */
const struct json_t *json_find(const struct json_t *object, const char *name, const char **ret_key);
/* Replaces control characters and invalid UTF-8 with '?'. */
void text_printable(char *text);

/* --- the line of a value ---------------------------------------------------------------------- */

/* jansson reports lines of syntax errors only. Pure; accepts any bytes, but the result only makes
 * sense for JSON. */

/* One step of the path from the top of the text to a value; lives on the stack. */
struct json_place {
	const struct json_place *up; /* NULL = the top */
	const char *key;	     /* of an object; NULL = element `index` of a list */
	size_t index;
};

/* Maximum number of steps that json_line() follows. */
#define JSON_PLACE_MAX 16

/* Returns the line (from 1) of the key, or of the element's first character. If the path does not
 * exist, the line of its longest existing prefix; 0 = none. place NULL: the top. */
unsigned json_line(const char *text, size_t len, const struct json_place *);
