/* SPDX-License-Identifier: Apache-2.0 */
/* option_value.h - reads, checks, prints and describes the value of one option, by its type. Pure,
 * except that a relative path is printed below the current folder. */
#pragma once

#include "option_table.h"

/* Sets a value as spelt on the command line; *o is untouched on failure. -EINVAL with a message. */
int option_set(struct options *o, const struct option_def *, const char *value, struct err *);
/* Sets the option to a value of the config file, where paths must be absolute. *ret_key: the wrong
 * key of an object; NULL: the whole value. */
int option_set_json(struct options *o, const struct option_def *, const struct json_t *value,
		    const char **ret_key, struct err *);
/* Returns the value as in a config file; NULL: it is an action, or out of memory. */
struct json_t *option_value_json(const struct options *, const struct option_def *);
/* Returns the JSON Schema of its values. */
struct json_t *option_schema(const struct option_def *);
