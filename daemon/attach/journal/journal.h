/* journal.h - what must not be forgotten while a device is away: one small file per device in
 * <state-dir>/devices/, named by the function (or resource and ID of a shared slot).
 *
 * A file is two blocks of JOURNAL_BLOCK bytes, written in turn, so that one is whole whatever
 * happens: "rocelet-journal VERSION SERIAL LENGTH CRC32\n", then the record as JSON, then newlines;
 * the checksum is of what stands before it and of the record. The valid block with the higher
 * serial counts. A file appears whole, with room for both blocks, so what was once begun can be
 * written on when the disk is full; writing in place then costs one block and one flush. A device
 * that came back leaves a record of state free, without all that was known of it: that always fits.
 * Those of functions that are gone are removed at the next start, all of them at a clean end.
 *
 * Synchronous; called from workers, never twice at once for one device. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "attachment.h"
#include "err.h"

#define JOURNAL_BLOCK	16384
#define JOURNAL_VERSION 1

/* --- pure ------------------------------------------------------------------------------------- */

/* One block; -EMSGSIZE when the record does not fit, -EINVAL when it cannot be true and so would
 * not be read again (record_json.h), -ENOMEM. */
int journal_encode(uint8_t block[JOURNAL_BLOCK], uint64_t serial, const struct attach_record *,
		   struct err *);
/* The newer valid block of a file's bytes. *ret_serial: of the block. -ENODATA: empty, nothing was
 * ever written. -EBADMSG: no block is valid, or a valid one holds nonsense. -EPROTONOSUPPORT: from
 * a newer rocelet. The message says what is wrong, not which file. */
int journal_decode(const uint8_t *, size_t len, struct attach_record *ret, uint64_t *ret_serial,
		   struct err *);
/* The serial of the newer valid block alone, whatever its record says; 0 = no block is valid.
 * -EPROTONOSUPPORT. */
int journal_serial(const uint8_t *, size_t len, uint64_t *ret, struct err *);

/* --- files ------------------------------------------------------------------------------------ */

struct journal;

/* Makes the folder (0700); a link in its place is not followed (-ENOTDIR). 1: it can be read, but
 * not written, and the sentence says why. -EROFS, -ENOSPC ...: there is none, and none can be made.
 */
int journal_open(struct journal **ret, const char *state_dir, struct err *);
/* The same for one who only looks: nothing is made, written, renamed or removed. */
int journal_look(struct journal **ret, const char *state_dir, struct err *);
void journal_close(struct journal *);
/* Its folder was removed, or is another one by now: what is written is not found again. */
bool journal_is_gone(const struct journal *);

/* Writes and, if durable, waits until it is on the disk; a record that is not durable survives our
 * death but not the machine's (the first one of a device always does). The key is the record's. A
 * failed write leaves what was there before. -EPROTONOSUPPORT: a newer rocelet's file is left
 * alone; -EMSGSIZE, -EINVAL: see journal_encode(); -ENOENT: journal_is_gone(), whatever was
 * written. Without a journal (NULL), or one that is only looked at: -EROFS for what is about to be
 * away; what is on its way back goes unwritten. */
int journal_write(struct journal *, const struct attach_record *, bool durable, struct err *);
/* Every record whose state is not free. A file that cannot be understood is told to `bad` (with a
 * sentence that names it; key: the device that its name tells) and set aside as FILE.bad; one from
 * a newer version stays untouched and is told, too. Files of state free are told to `fn` as well,
 * and removed when it returns > 0. A negative return ends the walk. */
typedef int journal_fn(const struct attach_record *, void *arg);
typedef void journal_bad_fn(const char *key, const struct err *, void *arg);
int journal_each(struct journal *, journal_fn *, journal_bad_fn *, void *arg, struct err *);
/* Removes every record of state free: at the end, when nothing will be written any more. */
void journal_sweep(struct journal *);
/* There is a file of this device, of whatever state, or one that was set aside. */
bool journal_has(const char *state_dir, const struct attach_record *);
/* The file's name for a device: a function's bus name, or "resource id" of a shared slot; what does
 * not belong into a file's name is '_', and a long one ends with its checksum. */
#define JOURNAL_KEY_SIZE 208
void journal_key(const struct attach_record *, char key[JOURNAL_KEY_SIZE]);
