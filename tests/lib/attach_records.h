/* SPDX-License-Identifier: Apache-2.0 */
/* attach_records.h - records of attachments for tests. */
#pragma once

#include "attachment.h"

/* Gives every member a different value, as far as its type allows. */
void attach_record_fill(struct attach_record *);
/* Gives every member a random value of its type, including invalid ones, and texts of any bytes and
 * length. Bytes of an address beyond its family's length are 0. */
void attach_record_random(struct attach_record *, unsigned seed);
