/* config_file.h - the bytes of the configuration file, read once for all who parse them. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "err.h"

/* Largest file that is read: what a ConfigMap can hold. */
#define CONFIG_FILE_MAX (1024 * 1024)

/* Zero-initialised it is the file that is not there. */
struct config_file {
	char *text; /* heap; NULL = there is no file; terminated, though it may contain zeros */
	size_t len;
};

/* A regular file, through any symlinks; of a FIFO or a device nothing is read. All of *ret stems
 * from one version of the file: the path may be switched to another file meanwhile (a ConfigMap's
 * update), and a file that is written to while it is read is read again. Negative errno and a
 * sentence; -ENOENT, and -EAGAIN for a file that does not stop changing; *ret is untouched then. */
int config_file_read(struct config_file *ret, const char *path, struct err *);
void config_file_done(struct config_file *);
/* Of the text, to see whether it is another one; 0 = there is no file. */
uint64_t config_file_digest(const struct config_file *);
