/* record_json.h - a record of the journal as JSON, and back. Pure.
 *
 * Numbers of 64 bits are texts ("0x1f"), addresses and prefixes as people write them. A key that is
 * missing stands for zero and an unknown one is passed over, so records of older versions can be
 * read. */
#pragma once

#include <jansson.h>

#include "attachment.h"
#include "err.h"

/* -EINVAL: a string of the record is no UTF-8. -ENOMEM. */
int record_encode(json_t **ret, const struct attach_record *);
/* -EBADMSG, with a sentence that names the key: not a record, or one that cannot be true. */
int record_decode(struct attach_record *ret, const json_t *, struct err *);
