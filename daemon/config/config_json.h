/* config_json.h - the configuration file's text as JSON. Pure: text in, a value out.
 *
 * What is no JSON gets one sentence with file and line. A file of the peers' grammars that has none
 * of our own "pools" is read as their encoding/json (Go) reads it: of a key that stands twice the
 * last counts, a byte that is no UTF-8 stands for itself; both are warned about. Comments are keys:
 * so a commented file is still JSON, for jq, for what makes ConfigMaps, and for those that keep it.
 */
#pragma once

#include <stddef.h>

#include "err.h"
#include "options.h"

struct json_t;

/* A key of any object, of any value: a comment. */
#define CONFIG_COMMENT "_comment"

/* An object, which the caller owns (json_decref), without comments and without keys whose value is
 * null, but for those in what is handed on as it stands ("ipam", "additionalInfo"); NULL with
 * -EINVAL and a sentence, 'file:line: ...'. warn NULL: somebody else tells the warnings. */
struct json_t *config_json(const char *text, size_t len, const char *name, options_warn_fn *warn,
			   void *arg, struct err *);

/* The (last) value of a key, NULL = absent or null; *ret_key as the file spells it. */
const struct json_t *json_find(const struct json_t *object, const char *name, const char **ret_key);
/* Replaces control characters and broken UTF-8 with '?'. */
void text_printable(char *text);

/* --- on which line does a value stand? -------------------------------------------------------- */

/* jansson tells lines of syntax
 * errors only. Pure; any bytes are fine, of a text that is no JSON the answer is just useless. */

/* One step of the way from the top of the text to a value; lives on the stack. */
struct json_place {
	const struct json_place *up; /* NULL = from the top */
	const char *key;	     /* of an object; NULL = element `index` of a list */
	size_t index;
};

/* Most steps that json_line() follows. */
#define JSON_PLACE_MAX 16

/* Line (from 1) of the key, or of the element's first character; where the way cannot be followed
 * to its end, of the last step that could; 0 = of none. NULL is the top. */
unsigned json_line(const char *text, size_t len, const struct json_place *);
