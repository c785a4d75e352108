/* api_text.h - documents too large to be one tree of JSON values. Pure. */
#pragma once

#include <jansson.h>

#include "page.h"

/* Appends and takes the value; NULL is out of memory and fails the text. */
void api_add_json(struct text *, json_t *);
