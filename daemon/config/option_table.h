/* SPDX-License-Identifier: Apache-2.0 */
/* option_table.h - the table of all options, for the files that implement options.h. Pure. */
#pragma once

#include "options.h"

enum option_type {
	OPT_TEXT,
	OPT_BOOL,
	OPT_NUMBER,
	OPT_SECONDS,
	OPT_CHOICE,
	OPT_LIST,
	OPT_THRESHOLDS,
	OPT_ACTION
};

/* Options whose value is the mount point of a host file system. */
enum option_mount {
	MOUNT_NONE,
	MOUNT_OPTIONAL, /* a warning if there is no such folder */
	MOUNT_NEEDED	/* an error: the daemon does not start without it */
};

struct option_def {
	const char *name;	    /* flag without "--", and key of the config file */
	const char *arg;	    /* placeholder of its value in --help, NULL = no value */
	size_t offset;		    /* offset in struct options; OPT_ACTION: the action */
	const char *def;	    /* default, as on the command line */
	double min, max;	    /* OPT_NUMBER, OPT_SECONDS */
	const char *const *choices; /* OPT_CHOICE, NULL-terminated; the index is stored */
	const char *help;
	enum option_type type;
	bool flag_only; /* not a key of the config file */
	bool key_only;	/* not a flag */
	bool followed;	/* a running daemon applies a change when it reloads the file */
	bool netdevs;	/* OPT_LIST: the items are names of netdevs */
	bool grants;	/* OPT_LIST: the items are those of ipam_grants.h */
	enum option_mount mount;
};

extern const struct option_def option_table[];
extern const size_t n_options;

/* Returns the option of that name, of `len` bytes; NULL: there is none. */
const struct option_def *option_find(const char *name, size_t len);
/* Returns the known name most similar to a misspelt one; NULL: none. keys: only keys of the config
 * file. */
const char *option_suggest(const char *name, size_t len, bool keys);
