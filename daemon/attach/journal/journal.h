/* SPDX-License-Identifier: Apache-2.0 */
/* journal.h - the state of a device that must survive a restart while the device is in a pod or in
 * transit: one small file per device in <state-dir>/devices/, named after the function, or after
 * resource and ID of a shared slot.
 *
 * A file has two blocks of JOURNAL_BLOCK bytes, written in turn, so that one of them is always
 * valid: "rocelet-journal VERSION SERIAL LENGTH CRC32\n", then the record as JSON, then newlines.
 * The checksum covers the line before it and the record. The valid block with the higher serial
 * counts. A file is created with room for both blocks, so that it can be written even when the disk
 * is full; a write in place costs one block and one flush. A returned device leaves a record of
 * state free without the original state; such a record always fits. The next start removes it if
 * the function does not exist any more, and a clean exit removes all of them.
 *
 * Synchronous; called from workers, never concurrently for one device. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "attachment.h"
#include "err.h"

#define JOURNAL_BLOCK	16384
#define JOURNAL_VERSION 1

/* --- pure ------------------------------------------------------------------------------------- */

/* Encodes one block; -EMSGSIZE: the record does not fit; -EINVAL: it is impossible and would be
 * rejected when read (record_json.h); -ENOMEM. */
int journal_encode(uint8_t block[JOURNAL_BLOCK], uint64_t serial, const struct attach_record *,
		   struct err *);
/* Decodes the newer valid block of a file's bytes. *ret_serial: its serial. -ENODATA: empty, never
 * written. -EBADMSG: no block is valid, or the record in a valid one is not. -EPROTONOSUPPORT: from
 * a newer rocelet. The message gives the reason, without the file's name. */
int journal_decode(const uint8_t *, size_t len, struct attach_record *ret, uint64_t *ret_serial,
		   struct err *);
/* Returns the serial of the newer valid block without decoding its record; 0 = no block is valid.
 * -EPROTONOSUPPORT. */
int journal_serial(const uint8_t *, size_t len, uint64_t *ret, struct err *);

/* --- files ------------------------------------------------------------------------------------ */

struct journal;

/* Creates the folder (0700) if it does not exist; a link in its place is not followed (-ENOTDIR).
 * Returns 1 if the journal is readable but not writable; the message gives the reason. -EROFS,
 * -ENOSPC ...: there is no folder, and it cannot be created. */
int journal_open(struct journal **ret, const char *state_dir, struct err *);
/* Opens it read-only: nothing is created, written, renamed or removed. */
int journal_open_existing(struct journal **ret, const char *state_dir, struct err *);
void journal_close(struct journal *);
/* True if the folder was removed or replaced: the next start would not find the records. */
bool journal_is_removed(const struct journal *);

/* Writes the record and, if durable, waits until it is on the disk. A record that is not durable
 * survives our exit but not a crash of the machine (the first one of a device is always durable).
 * The key is the record's. A failed write leaves the previous record. -EPROTONOSUPPORT: a newer
 * rocelet's file is left alone; -EMSGSIZE, -EINVAL: see journal_encode(); -ENOENT:
 * journal_is_removed(), even if the write itself succeeded. Without a journal (NULL), or with a
 * read-only one: -EROFS for a device that leaves the host; 0 for a return, which then has no
 * record. */
int journal_write(struct journal *, const struct attach_record *, bool durable, struct err *);
/* Writes, flushes and removes a file of the size of a record, to find out whether a folder that has
 * failed can be written again. */
int journal_probe(struct journal *, struct err *);
/* Calls fn for every record; a return > 0 removes the file, a negative one ends the walk. A file
 * that cannot be decoded is passed to `bad` (with a message that names it; key: the device, from
 * the file's name) and renamed to FILE.bad; a file of a newer version is passed to `bad`, too, but
 * not renamed. */
typedef int journal_fn(const struct attach_record *, void *arg);
typedef void journal_bad_fn(const char *key, const struct err *, void *arg);
int journal_each(struct journal *, journal_fn *, journal_bad_fn *, void *arg, struct err *);
/* Removes every record of state free: at the exit, when nothing more will be written. */
void journal_sweep(struct journal *);
/* Does the device have a file, of whatever state, or one that was renamed to FILE.bad? */
bool journal_has(const char *state_dir, const struct attach_record *);
/* Returns the name of a device's file: a function's bus name, or "resource id" of a shared slot.
 * Characters that do not belong into a file name become '_', and a long name ends with its
 * checksum. */
#define JOURNAL_KEY_SIZE 208
void journal_key(const struct attach_record *, char key[JOURNAL_KEY_SIZE]);
