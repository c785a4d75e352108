/* SPDX-License-Identifier: Apache-2.0 */
/* config_file.h - reads the configuration file once for all parsers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

/* Maximum size: that of a ConfigMap. */
#define CONFIG_FILE_MAX (1024 * 1024)

#define CONFIG_GROUP_SIZE 64

/* All zero: a missing file. */
struct config_file {
	char *text; /* heap; NULL = no file; NUL-terminated, though it may contain NULs */
	size_t len;
	/* Set by options_load(): the group that applies ("" = none), and whether the file has
	 * groups with "match". */
	char group[CONFIG_GROUP_SIZE];
	bool can_match;
};

/* Reads a regular file, through any symlinks; a FIFO or a device is not read. *ret is one
 * consistent version of the file, even if the path is switched to another file at the same time (a
 * ConfigMap's update): a file that is modified during the read is read again. Negative errno with a
 * message, among them -ENOENT, and -EAGAIN for a file that keeps changing; *ret is untouched
 * then. */
int config_file_read(struct config_file *ret, const char *path, struct err *);
void config_file_done(struct config_file *);
/* Reads stdin to its end. -EFBIG, -errno with a message; *ret is untouched then. */
int config_file_read_stdin(struct config_file *ret, struct err *);
/* Returns a hash of the text, to detect changes; 0 = no file. */
uint64_t config_file_digest(const struct config_file *);
