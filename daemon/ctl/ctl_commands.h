/* ctl_commands.h - the one table of rocectl's commands and flags. The parser, --help, the
 * completion of shells and the manual are made from it. Pure. */
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

/* What the value of a flag, or the word behind a command, is: how it is read and completed. */
enum ctl_type {
	TYPE_NONE, /* a switch; a command without a word */
	TYPE_TEXT,
	TYPE_NUMBER, /* 0 to max */
	TYPE_COUNT,  /* 1 to max */
	TYPE_IP,     /* may be given several times */
	TYPE_CHOICE, /* one of the words in `value` */
	TYPE_FORMAT, /* how the command can show its document */
	TYPE_COLUMN, /* of the command's listing */
	TYPE_SELECTOR,
	TYPE_DEVICE,
	TYPE_POD,
	TYPE_NAMESPACE,
	TYPE_FILE,
	TYPE_COMMAND,
};

struct ctl_flag {
	const char *name;
	char letter; /* of the short form, '\0' = none */
	enum ctl_type type;
	const char *value; /* what help calls it; of TYPE_CHOICE the words, "a|b|c" */
	size_t offset;	   /* of its field in struct ctl_args: bool, long or const char * */
	long max;
	unsigned commands; /* to which it belongs, a bit each */
	const char *help;
};

struct ctl_command_row {
	const char *name, *brief;
	const char *text;   /* what else is to be known, sentences; NULL = nothing */
	const char *word;   /* what help calls the word that follows; NULL = there is none */
	enum ctl_type type; /* of that */
	bool optional;	    /* it may be left out */
	const struct listing *listing; /* NULL = it shows none */
	const char *formats; /* of -o, "a|b|c", the first unless said otherwise; NULL = one */
};

const struct ctl_command_row *ctl_command_row(enum ctl_command);
/* The command of this name, -1 = there is none. */
int ctl_command_find(const char *name);
/* The i-th flag, NULL behind the last. */
const struct ctl_flag *ctl_flag(size_t i);
bool ctl_flag_is_of(const struct ctl_flag *, enum ctl_command);
/* The flag of a command by its long name; NULL = it has none of that name. */
const struct ctl_flag *ctl_flag_find(enum ctl_command, const char *name, size_t len);
/* "a|b|c" has this word. */
bool ctl_choice_has(const char *choices, const char *word);
/* Puts the next word of "a|b|c" into ret; false: there is no more. *choices is moved on. */
bool ctl_choice_next(const char **choices, char *ret, size_t size);
