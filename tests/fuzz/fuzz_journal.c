// SPDX-License-Identifier: Apache-2.0
/* Any bytes as a journal file: an error, or a record that is equal when it is written and read
 * again. Also as the record of a block with a valid checksum.
 *
 * proves: daemon/attach/journal
 * when: core 2
 * when: turns 4
 * when: soak 120 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "journal.h"
#include "record_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void write_again(const struct attach_record *r)
{
	static uint8_t block[JOURNAL_BLOCK];
	static struct attach_record again;
	uint64_t serial;

	switch (journal_encode(block, 1, r, NULL)) {
	case 0:
		break;
	case -EMSGSIZE:
		return;
	default:
		abort();
	}
	memset(&again, 0, sizeof(again));
	if (journal_decode(block, sizeof(block), &again, &serial, NULL) < 0 || serial != 1 ||
	    memcmp(&again, r, sizeof(again)) != 0)
		abort();
}

static void as_record(const uint8_t *data, size_t n)
{
	static struct attach_record r;
	struct err e = {0};
	json_t *o = json_loadb((const char *)data, n, 0, NULL);

	if (!o)
		return;
	if (record_decode(&r, o, &e) == 0)
		write_again(&r);
	else if (e.code >= 0 || e.msg[0] == '\0')
		abort();
	json_decref(o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct attach_record r;
	struct err e = {0};
	uint64_t serial;

	as_record(data, n);
	if (journal_decode(data, n, &r, &serial, &e) == 0)
		write_again(&r);
	else if (e.code >= 0 || e.msg[0] == '\0')
		abort();
	return 0;
}
