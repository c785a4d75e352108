/* SPDX-License-Identifier: Apache-2.0 */
/* config_good.h - the text of the last good configuration file, in the state folder (config.good).
 * All functions block.
 *
 * The file is a line "rocelet-config 1 DIGEST LENGTH" followed by the text. It is read like any
 * input: a regular file of our own user that others cannot write, of at most the size of a
 * configuration, whose digest is right. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "config_file.h"
#include "err.h"

#define CONFIG_GOOD_FILE "config.good"

/* Reads it, and when it was written. -ENOENT: there is none. -EPERM, -EFBIG, -EBADMSG, -errno with
 * a message; *ret is untouched then. */
int config_good_read(struct config_file *ret, uint64_t *ret_unix_ms, const char *state_dir,
		     struct err *);
/* Replaces it, with mode 0600, so that it is complete after a crash at any time; a file with the
 * same text keeps its time. Creates the folder, mode 0700, if it does not exist. If the file cannot
 * be written, it is removed: an older configuration is not the last one. */
int config_good_write(const char *state_dir, const char *text, size_t len, struct err *);
/* Removes it, if it exists. */
int config_good_remove(const char *state_dir, struct err *);
