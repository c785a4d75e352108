/* scenario_keys.h - keys of a JSON object into the fields of a struct, by a table. Pure. */
#pragma once

#include "scenario_port.h"

enum key_type { KEY_TEXT, KEY_BOOL, KEY_U8, KEY_U32, KEY_U64, KEY_OBJECT };

struct key {
	const char *name;
	size_t offset, size; /* of the field; size of texts */
	/* Whatever is no plain field. False: the value is of a wrong type. */
	bool (*read)(struct scenario_port *, const json_t *, const struct scenario_complaints *);
	enum key_type type;
	uint32_t seen; /* of settings: the part that is seen with it */
};

/* Those of the table go to `base` or their reader; others are skipped by name (NULL-terminated
 * list, or NULL) or complained of. ret_seen, or NULL: gets the parts of settings that were told. */
void keys_read(struct scenario_port *, void *base, const json_t *object, const struct key *,
	       size_t n, const char *const *skip, uint32_t *ret_seen,
	       const struct scenario_complaints *);
/* False: no text, or too long; null leaves the field as it is. */
bool key_read_text(char *field, size_t size, const json_t *);
