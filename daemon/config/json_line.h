/* json_line.h - on which line of a JSON text does a value stand? jansson tells lines of syntax
 * errors only. Pure; any bytes are fine, of a text that is no JSON the answer is just useless. */
#pragma once

#include <stddef.h>

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
