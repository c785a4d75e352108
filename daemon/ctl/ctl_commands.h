/* SPDX-License-Identifier: Apache-2.0 */
/* ctl_commands.h - the table of rocectl's commands and flags. The parser, --help, shell completion
 * and the manual are made from it. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct listing;

enum ctl_command {
	CTL_STATUS,
	CTL_PODS,
	CTL_RESOURCES,
	CTL_DEVICES,
	CTL_PORTS,
	CTL_TOP,
	CTL_EXPLAIN,
	CTL_EVENTS,
	CTL_WATCH,
	CTL_QPS,
	CTL_DIAGNOSE,
	CTL_DOCTOR,
	CTL_READY,
	CTL_ALIVE,
	CTL_NODE_PROBLEM,
	CTL_SUGGEST,
	CTL_SUPPORT_BUNDLE,
	CTL_ATTACH,
	CTL_DETACH,
	CTL_PCAP,
	CTL_SNIFF,
	CTL_COMPLETION,
	CTL_HELP,
	CTL_VERSION,
	N_CTL_COMMANDS
};

/* Type of a flag's value or of a command's argument: determines parsing and completion. */
enum ctl_type {
	TYPE_NONE, /* a switch; a command without argument */
	TYPE_TEXT,
	TYPE_NUMBER,  /* 0 to max */
	TYPE_COUNT,   /* 1 to max */
	TYPE_IP,      /* may be repeated */
	TYPE_CHOICE,  /* one of the words in `value` */
	TYPE_FORMAT,  /* an output format of the command */
	TYPE_COLUMN,  /* a column of the command's listing */
	TYPE_COLUMNS, /* several columns, separated by commas */
	TYPE_SELECTOR,
	TYPE_DEVICE,
	TYPE_POD,
	TYPE_NAMESPACE,
	TYPE_FILE,
	TYPE_COMMAND,
};

struct ctl_flag {
	const char *name;
	char letter; /* short form, '\0' = none */
	enum ctl_type type;
	const char *value; /* name of the value in the help; for TYPE_CHOICE the words, "a|b|c" */
	size_t offset;	   /* of the field in struct ctl_args, a bool, long or const char * */
	long max;
	unsigned commands; /* commands that have the flag, one bit each */
	const char *help;
};

struct ctl_command_row {
	const char *name, *brief;
	const char *aliases;	       /* other names, "a|b|c"; NULL = none */
	const char *text;	       /* further help, in sentences; NULL = none */
	const char *word;	       /* name of its argument; NULL = none */
	enum ctl_type type;	       /* of the word */
	bool optional;		       /* the argument may be omitted */
	const struct listing *listing; /* NULL = none */
	const char *formats; /* for -o, "a|b|c", the first is the default; NULL = only one */
};

const struct ctl_command_row *ctl_command_row(enum ctl_command);
/* The command with this name or alias; -1 = none. */
int ctl_command_find(const char *name);
/* The i-th flag; NULL after the last. */
const struct ctl_flag *ctl_flag(size_t i);
bool ctl_flag_is_of(const struct ctl_flag *, enum ctl_command);
/* A command's flag by its long name; NULL = it has no such flag. */
const struct ctl_flag *ctl_flag_find(enum ctl_command, const char *name, size_t len);
/* True if "a|b|c" contains the word. */
bool ctl_choice_has(const char *choices, const char *word);
/* Copies the next word of "a|b|c" to ret and advances *choices; false: there is no more. */
bool ctl_choice_next(const char **choices, char *ret, size_t size);
