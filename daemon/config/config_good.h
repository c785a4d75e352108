/* SPDX-License-Identifier: Apache-2.0 */
/* config_good.h - the last good configuration file, kept in the state folder (config.good), so that
 * a restart with a wrong file does not take the devices of a node away. Both functions block.
 *
 * The file is a line "rocelet-config 1 DIGEST LENGTH" followed by the text. It is read like any
 * input: a regular file of our own user that others cannot write, of at most the size of a
 * configuration, whose digest is right. The parsers check its text as at any start. */
#pragma once

#include <stddef.h>

#include "config_file.h"
#include "err.h"

#define CONFIG_GOOD_FILE "config.good"

/* Reads it. -ENOENT: there is none. -EPERM, -EFBIG, -EBADMSG, -errno with a message; *ret is
 * untouched then. */
int config_good_read(struct config_file *ret, const char *state_dir, struct err *);
/* Replaces it, with mode 0600, so that it is complete after a crash at any time. text NULL: removes
 * it. Creates the folder, mode 0700, if it does not exist. */
int config_good_write(const char *state_dir, const char *text, size_t len, struct err *);
