/* config_json.h - the configuration file's text as JSON. Pure: text in, a value out.
 *
 * What is no JSON gets one sentence with file and line. A file of the peers' grammars that has none
 * of our own "pools" is read as their encoding/json (Go) reads it: of a key that stands twice the
 * last counts, a byte that is no UTF-8 stands for itself; both are warned about. */
#pragma once

#include <stddef.h>

#include "err.h"
#include "options.h"

struct json_t;

/* An object, which the caller owns (json_decref); NULL with -EINVAL and a sentence, 'file:line:
 * ...'. warn NULL: somebody else tells the warnings. */
struct json_t *config_json(const char *text, size_t len, const char *name, options_warn_fn *warn,
			   void *arg, struct err *);
