/* SPDX-License-Identifier: Apache-2.0 */
/* record_json.h - a record of the journal as JSON, and back; comparison of plans. Pure.
 *
 * Numbers of 64 bits are texts ("0x1f"), addresses and prefixes have their usual notation; a text
 * that is not UTF-8 (a name or an alias may be any bytes) is {"hex": "6eff"}. A missing key means
 * zero and an unknown one is ignored, so records of older versions can be read. Decoding an encoded
 * record gives an equal one. */
#pragma once

#include <jansson.h>

#include "attachment.h"
#include "err.h"

/* Encodes a record. -EINVAL, with a message: it is impossible, and would be rejected when it is
 * read. -ENOMEM. */
int record_encode(json_t **ret, const struct attach_record *, struct err *);
/* Decodes a record. -EBADMSG, with a message that names the key: it is not a record, or an
 * impossible one. */
int record_decode(struct attach_record *ret, const json_t *, struct err *);
/* Do both plans require the same interface? Compares everything that a record holds of a plan,
 * except `in_host` and `clean`, whose changes need no new attach. Out of memory: false. */
bool plan_equal(const struct net_plan *, const struct net_plan *);
