/* ctl_complete.h - what may come next on a command line. The shells' scripts ask
 * `rocectl __complete WORD...`, so that only this knows what there is. Pure. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "ctl_commands.h"

/* Of what the last word is the beginning. */
struct ctl_completion {
	enum ctl_type type;	  /* TYPE_NONE: of nothing that is known */
	enum ctl_command command; /* whose word or flag it is, where `type` is not TYPE_COMMAND */
	bool flags;		  /* its flags, not `type` */
	const char *choices;	  /* of TYPE_CHOICE and TYPE_FORMAT */
	const char *before;	  /* what stands before it in the word, as "--pod=" */
	size_t before_len;
	const char *socket; /* the daemon to be asked */
};

/* words: behind "rocectl", the last of them unfinished. Borrows from them. */
void ctl_complete(struct ctl_completion *ret, int n, char *const words[]);
/* What is in the table: a candidate a line, a tabulator, and what it is. Names of files are the
 * shell's own business: the line ":files". */
void ctl_complete_put(const struct ctl_completion *, FILE *);
/* The daemon's document that has more of them; NULL = none has. */
const char *ctl_complete_source(const struct ctl_completion *);
/* The names in it, but for those that a shell would not leave as they are. */
void ctl_complete_put_live(const struct ctl_completion *, const json_t *document, FILE *);
/* The script of "bash", "zsh" or "fish". */
void ctl_completion_script(const char *shell, FILE *);
