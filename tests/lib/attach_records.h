/* attach_records.h - records of attachments for tests. */
#pragma once

#include "attachment.h"

/* Every member of it has a value that no other one has, as far as its form allows. */
void attach_record_fill(struct attach_record *);
/* Every member anything that its type holds, texts of any bytes and any length that fits; some of
 * them nothing that a device could be. Prefixes are in their one form: nothing behind the address.
 */
void attach_record_random(struct attach_record *, unsigned seed);
