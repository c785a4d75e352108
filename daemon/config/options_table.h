/* options_table.h - what the files behind options.h share: the table, and setting one option from
 * text. For nobody else. Pure. */
#pragma once

#include <stddef.h>

#include "options.h"

enum option_type { OPT_TEXT, OPT_BOOL, OPT_NUMBER, OPT_SECONDS, OPT_CHOICE, OPT_LIST, OPT_ACTION };

struct option_def {
	const char *name;	    /* flag without "--", and key of the config file */
	const char *arg;	    /* placeholder in --help, NULL = takes none */
	size_t offset;		    /* into struct options; OPT_ACTION: the action */
	const char *def;	    /* as it would be written on the command line */
	double min, max;	    /* OPT_NUMBER, OPT_SECONDS */
	const char *const *choices; /* OPT_CHOICE, NULL-terminated; the index is stored */
	const char *help;
	enum option_type type;
	bool flag_only; /* not a key of the config file */
	bool netdevs;	/* OPT_LIST: the items are names of netdevs */
};

extern const struct option_def option_table[];
extern const size_t n_options; /* OPTIONS_MAX at most */
#define OPTIONS_MAX 64

/* NULL: there is no such option. */
const struct option_def *option_find(const char *name, size_t len);
/* Takes a value as the command line spells it. -EINVAL and what is wrong with it; *o is untouched
 * then. */
int option_set(struct options *o, const struct option_def *, const char *value, struct err *);
/* Appends to a list. -EINVAL: full, or the item is empty, too long or not of the list's kind. */
int option_list_add(struct option_list *, const struct option_def *, const char *item, size_t len,
		    struct err *);
