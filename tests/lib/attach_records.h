/* attach_records.h - records of attachments for tests. */
#pragma once

#include "attachment.h"

/* Every member of it has a value that no other one has, as far as its form allows. */
void attach_record_fill(struct attach_record *);
