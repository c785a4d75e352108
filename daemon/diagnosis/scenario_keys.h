/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_keys.h - reads the keys of a JSON object into the fields of a struct, and writes them,
 * with one table. Pure. */
#pragma once

#include "scenario_port.h"

enum key_type { KEY_TEXT, KEY_BOOL, KEY_U8, KEY_U32, KEY_U64, KEY_OBJECT };

struct key {
	const char *name;
	size_t offset, size; /* of the field; size: for texts only */
	/* Reader for values that are no plain field. Returns false if the value has a wrong
	 * type. */
	bool (*read)(struct scenario_port *, const json_t *);
	/* Writer for such values. NULL, and KEY_OBJECT: the key is another name of an earlier one,
	 * and is not written. */
	json_t *(*write)(const struct port_observation *);
	enum key_type type;
	uint32_t seen; /* the bit to set when this key occurs, without which it is not written */
};

/* Reads the keys of the table into `base` or by their reader. Keys in `skip` (NULL-terminated, or
 * NULL) are ignored, unknown keys and wrong types reported to p->complaints. ret_seen, or NULL:
 * gets the `seen` bits of the keys read. */
void keys_read(struct scenario_port *, void *base, const json_t *object, const struct key *,
	       size_t n, const char *const *skip, uint32_t *ret_seen);
/* Adds the keys to the object from `base` or by their writer, but not those whose `seen` bit is not
 * set. Returns false if out of memory. */
bool keys_write(json_t *object, const struct port_observation *, const void *base,
		const struct key *, size_t n, uint32_t seen);
/* Copies a JSON text into the field; null clears it. Returns false if the value is no text or too
 * long. */
bool key_read_text(char *field, size_t size, const json_t *);
/* Returns the object if ok; otherwise frees it and returns NULL. */
json_t *scenario_keys_whole(json_t *object, bool ok);
