/* SPDX-License-Identifier: Apache-2.0 */
/* ctl_complete.h - shell completion. The shells' scripts call `rocectl __complete WORD...`, so that
 * the commands are listed here only. Pure. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "ctl_commands.h"

/* The kind of candidates for the last word. */
struct ctl_completion {
	enum ctl_type type;	  /* TYPE_NONE: nothing */
	enum ctl_command command; /* that has the argument or flag; CTL_HELP: none is given yet */
	bool flags;		  /* complete to the command's flags instead */
	const char *choices;	  /* for TYPE_CHOICE and TYPE_FORMAT */
	const char *before;	  /* prefix of the word that is kept, such as "--pod=" */
	size_t before_len;
	const char *socket; /* of the daemon to query */
};

/* Finds the kind of candidates for the last of the words after "rocectl", which may be incomplete.
 * Borrows the words. */
void ctl_complete(struct ctl_completion *ret, int n, char *const words[]);
/* Prints the candidates from the table, one per line: the word, a tab, its help. The line ":files"
 * makes the shell complete file names. */
void ctl_complete_put(const struct ctl_completion *, FILE *);
/* Path of the daemon's document with further candidates; NULL = none. */
const char *ctl_complete_source(const struct ctl_completion *);
/* Prints the names in the document, except names that a shell would interpret. */
void ctl_complete_put_live(const struct ctl_completion *, const json_t *document, FILE *);
/* Prints the script for "bash", "zsh" or "fish". */
void ctl_completion_script(const char *shell, FILE *);
