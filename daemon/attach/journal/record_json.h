/* record_json.h - a record of the journal as JSON, and back; plans compared. Pure.
 *
 * Numbers of 64 bits are texts ("0x1f"), addresses and prefixes as people write them; a text that
 * is no UTF-8 (a name or an alias may be any bytes) is {"hex": "6eff"}. A key that is missing
 * stands for zero and an unknown one is passed over, so records of older versions can be read. What
 * is encoded can be decoded, and is equal. */
#pragma once

#include <jansson.h>

#include "attachment.h"
#include "err.h"

/* -EINVAL, with a sentence: the record cannot be true, and would be refused when it is read.
 * -ENOMEM.
 */
int record_encode(json_t **ret, const struct attach_record *, struct err *);
/* -EBADMSG, with a sentence that names the key: not a record, or one that cannot be true. */
int record_decode(struct attach_record *ret, const json_t *, struct err *);
/* The same interface is wanted: all that a record holds of a plan is equal but `in_host` and
 * `clean`, for which nothing is attached again. Out of memory: false. */
bool plan_equal(const struct net_plan *, const struct net_plan *);
