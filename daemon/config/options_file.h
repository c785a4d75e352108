/* SPDX-License-Identifier: Apache-2.0 */
/* options_file.h - reads options from the text of the config file, for options.c. */
#pragma once

#include "options.h"

/* Reads the options of the top level, and then those of the group that applies, which it sets in
 * *file. sysfs_flag: the value of that flag, "" = not given. *o is untouched on failure. */
int options_read_file(struct options *o, const char *sysfs_flag, struct config_file *file,
		      options_warn_fn *, void *arg, struct err *);
/* Prefixes the message with the place of the key: in the group if the group has the key, else at
 * the top level. If the file does not have it, with the flag. below: a key of the key's object, or
 * NULL. */
int options_wrap_key(struct err *, const char *name, const struct config_file *, const char *key,
		     const char *below);
/* Checks that tls-cert and tls-key are given together. */
int options_check_pair(const struct options *, const struct config_file *, struct err *);
