// SPDX-License-Identifier: Apache-2.0
#include "ctl_help.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "client.h"
#include "ctl_args.h"
#include "ctl_examples.h"
#include "listing.h"
#include "version.h"

#define WIDTH	       100
#define FLAG_COLUMN    32 /* column of a flag's description */
#define BRIEF_COLUMN   28
#define WORST_FIRST    "Tables list the worst first; --sort-by COLUMN sorts by another column."
#define EXAMPLE_COLUMN 44 /* column of an example's description */

static const char what_it_is[] =
	"rocectl shows what rocelet does on this node, and sends it requests. It uses the daemon's socket, which only root can open; pcap, sniff and diagnose --replay need no daemon.";
static const char what_a_device_is[] =
	"DEVICE is a bus name (0000:03:00.2, or short 03:00.2), or the name of a netdev or RDMA device. For a device in a pod, use its names on the host.";
static const char what_lists_do[] =
	"Commands that list rows print a table (-o table), a table with more columns (-o wide), the daemon's document (-o json, -o yaml; docs/reference/rocectl.md describes its keys), or names for other commands (-o name; events have none). Flags that select or sort rows work with all of these formats. Colours are only for terminals; NO_COLOR disables them.";

static const struct {
	const char *status, *means;
} exits[] = {
	{"0", "success; no problem found"},
	{"1",
	 "the daemon rejected the request, doctor found a problem, or a file or the output is incomplete"},
	{"2", "invalid command line"},
	{"3", "no daemon serves the socket, or it does not answer in time"},
	{"4",
	 "diagnose: the worst verdict or trouble of a pod's device is a warning, or the link of a pod's port is down"},
	{"5", "diagnose: a verdict or trouble of a pod's device is critical"},
};

/* --- text ------------------------------------------------------------------------------------- */

/* Writes words in lines of at most WIDTH characters, indented to column `at`; the cursor is already
 * there. */
static void put_wrapped(const char *text, size_t at, FILE *f)
{
	size_t used = at;

	while (*text) {
		size_t len = strcspn(text, " ");

		if (used > at && used + 1 + len > WIDTH) {
			fprintf(f, "\n%*s", (int)at, "");
			used = at;
		}
		used += len + (used > at);
		fprintf(f, "%s%.*s", used > at + len ? " " : "", (int)len, text);
		text += len + (text[len] == ' ');
	}
	fputc('\n', f);
}

/* " word description"; a long word has its own line. */
static void put_entry(const char *word, size_t column, const char *text, FILE *f)
{
	size_t len = strlen(word) + 2;

	fprintf(f, "  %s", word);
	if (len + 2 > column) {
		fputc('\n', f);
		len = 0;
	}
	fprintf(f, "%*s", (int)(column - len), "");
	put_wrapped(text, column, f);
}

/* Writes "pods", "explain DEVICE", "diagnose [DEVICE]". */
static void command_usage(const struct ctl_command_row *row, char *ret, size_t size)
{
	snprintf(ret, size, row->word ? row->optional ? "%s [%s]" : "%s %s" : "%s", row->name,
		 row->word);
}

/* The formats of -o for this command, or the name of the flag's value. */
static const char *ctl_value_of(const struct ctl_flag *flag, const struct ctl_command_row *row)
{
	return flag->type == TYPE_FORMAT && row ? row->formats : flag->value;
}

/* Writes "-o, --output table|wide". */
static void flag_usage(const struct ctl_flag *flag, const struct ctl_command_row *row, char *ret,
		       size_t size)
{
	const char *value = ctl_value_of(flag, row);
	char letter[8] = "    ";

	if (flag->letter)
		snprintf(letter, sizeof(letter), "-%c, ", flag->letter);
	snprintf(ret, size, "%s--%s%s%s", letter, flag->name, value ? " " : "", value ? value : "");
}

static bool ctl_is_of_all(const struct ctl_flag *flag)
{
	return flag->commands == ~0u;
}

static bool has_own_flags(enum ctl_command command)
{
	const struct ctl_flag *flag;

	for (size_t i = 0; (flag = ctl_flag(i)); i++)
		if (!ctl_is_of_all(flag) && ctl_flag_is_of(flag, command))
			return true;
	return false;
}

/* --- --help ----------------------------------------------------------------------------------- */

/* Prints the command's flags, without those that every command has; command -1: only those. */
static void ctl_help_put_flags(int command, FILE *f)
{
	const struct ctl_command_row *row = command < 0
						    ? NULL
						    : ctl_command_row((enum ctl_command)command);
	const struct ctl_flag *flag;
	char usage[96];

	for (size_t i = 0; (flag = ctl_flag(i)); i++) {
		if (ctl_is_of_all(flag) != (command < 0))
			continue;
		if (command >= 0 && !ctl_flag_is_of(flag, (enum ctl_command)command))
			continue;
		flag_usage(flag, row, usage, sizeof(usage));
		put_entry(usage, FLAG_COLUMN, flag->help, f);
	}
}

static void ctl_help_put_columns(const struct listing *l, bool wide, const char *before, FILE *f)
{
	for (size_t i = 0; i < l->n_columns; i++) {
		if (l->columns[i].wide != wide)
			continue;
		fprintf(f, "%s%s", before, l->columns[i].head);
		before = " ";
	}
}

/* Prints aliases and examples of a command. */
static void ctl_help_put_examples(const struct ctl_command_row *row, int command, FILE *f)
{
	const struct ctl_example *example;
	char line[160];

	if (row->aliases) {
		const char *aliases = row->aliases, *before = "\nAlso: ";

		for (char name[32]; ctl_choice_next(&aliases, name, sizeof(name)); before = ", ")
			fprintf(f, "%s%s", before, name);
		fputc('\n', f);
	}
	fputs("\nExamples:\n", f);
	for (size_t i = 0; (example = ctl_example(i)); i++) {
		if ((int)example->command != command)
			continue;
		snprintf(line, sizeof(line), "rocectl %s", example->line);
		put_entry(line, EXAMPLE_COLUMN, example->what, f);
	}
}

static void help_of(int command, FILE *f)
{
	const struct ctl_command_row *row = ctl_command_row((enum ctl_command)command);
	char usage[64];

	command_usage(row, usage, sizeof(usage));
	fprintf(f, "rocectl %s%s\n\n", usage,
		has_own_flags((enum ctl_command)command) ? " [FLAG]..." : "");
	put_wrapped(row->brief, 0, f);
	if (row->text) {
		fputc('\n', f);
		put_wrapped(row->text, 0, f);
	}
	if (row->listing) {
		ctl_help_put_columns(row->listing, false, "\nColumns: ", f);
		ctl_help_put_columns(row->listing, true, "\nWith -o wide also: ", f);
		fputs(row->listing->level ? "\n" WORST_FIRST "\n" : "\n", f);
	}
	if (row->type == TYPE_DEVICE) {
		fputc('\n', f);
		put_wrapped(what_a_device_is, 0, f);
	}
	ctl_help_put_examples(row, command, f);
	if (has_own_flags((enum ctl_command)command))
		fputs("\nFlags:\n", f);
	ctl_help_put_flags(command, f);
	fputs("\nFlags of every command:\n", f);
	ctl_help_put_flags(-1, f);
}

static void help_of_all(FILE *f)
{
	char usage[64], line[80];

	put_wrapped(what_it_is, 0, f);
	fputc('\n', f);
	for (int i = 0; i < N_CTL_COMMANDS; i++) {
		command_usage(ctl_command_row((enum ctl_command)i), usage, sizeof(usage));
		snprintf(line, sizeof(line), "rocectl %s", usage);
		put_entry(line, BRIEF_COLUMN + 6, ctl_command_row((enum ctl_command)i)->brief, f);
	}
	fputs("\n`rocectl COMMAND --help` lists the flags of a command. Flags of every command:\n",
	      f);
	ctl_help_put_flags(-1, f);
	fputc('\n', f);
	put_wrapped(what_a_device_is, 0, f);
	fputc('\n', f);
	put_wrapped(what_lists_do, 0, f);
	fputs("\nExits with\n", f);
	for (size_t i = 0; i < ARRAY_SIZE(exits); i++)
		put_entry(exits[i].status, 6, exits[i].means, f);
}

void ctl_help(int command, FILE *f)
{
	if (command < 0)
		help_of_all(f);
	else
		help_of(command, f);
}

/* --- the manual ------------------------------------------------------------------------------- */

/* Escapes text so that roff prints it literally: minus signs, and '.' or '\'' at the start of a
 * line (groff_char(7)). */
static void man_text(const char *text, FILE *f)
{
	if (*text == '.' || *text == '\'')
		fputs("\\&", f);
	for (; *text; text++) {
		if (*text == '-' || *text == '\\')
			fputc('\\', f);
		fputc(*text == '\\' ? 'e' : *text, f);
	}
}

static void man_line(const char *before, const char *text, const char *after, FILE *f)
{
	fputs(before, f);
	man_text(text, f);
	fputs(after, f);
}

static void man_flags(int command, FILE *f)
{
	const struct ctl_command_row *row = command < 0
						    ? NULL
						    : ctl_command_row((enum ctl_command)command);
	const struct ctl_flag *flag;

	for (size_t i = 0; (flag = ctl_flag(i)); i++) {
		const char *value = ctl_value_of(flag, row);
		char letter[8] = "";

		if (ctl_is_of_all(flag) != (command < 0) ||
		    (command >= 0 && !ctl_flag_is_of(flag, (enum ctl_command)command)))
			continue;
		if (flag->letter)
			snprintf(letter, sizeof(letter), "-%c", flag->letter);
		fputs(".TP\n", f);
		if (flag->letter)
			man_line("\\fB", letter, "\\fR, ", f);
		man_line("\\fB\\-\\-", flag->name, "\\fR", f);
		if (value)
			man_line(" \\fI", value, "\\fR", f);
		man_line("\n", flag->help, "\n", f);
	}
}

static void man_examples(enum ctl_command command, FILE *f)
{
	const struct ctl_example *example;

	fputs(".PP\nExamples:\n", f);
	for (size_t i = 0; (example = ctl_example(i)); i++) {
		if (example->command != command)
			continue;
		man_line(".TP\nrocectl ", example->line, "\n", f);
		man_line("", example->what, "\n", f);
	}
}

static void man_command(enum ctl_command command, FILE *f)
{
	const struct ctl_command_row *row = ctl_command_row(command);

	man_line(".SS \"", row->name, "", f);
	if (row->word)
		man_line(row->optional ? " [\\fI" : " \\fI", row->word,
			 row->optional ? "\\fR]" : "\\fR", f);
	fputs("\"\n", f);
	man_line("", row->brief, ".\n", f);
	if (row->text)
		man_line("", row->text, "\n", f);
	if (row->listing) {
		ctl_help_put_columns(row->listing, false, ".PP\nColumns: ", f);
		ctl_help_put_columns(row->listing, true, ".\nWith \\fB\\-o wide\\fR also: ", f);
		fputs(row->listing->level ? ".\n.PP\n" WORST_FIRST "\n" : ".\n", f);
	}
	man_flags((int)command, f);
	man_examples(command, f);
}

void ctl_man(FILE *f)
{
	fputs(".TH ROCECTL 8 \"\" \"rocelet " ROCELET_VERSION "\"\n.SH NAME\n"
	      "rocectl \\- show what rocelet does on this node\n.SH SYNOPSIS\n"
	      ".B rocectl\n.I COMMAND\n.RI [ FLAG ]...\n.SH DESCRIPTION\n",
	      f);
	man_line("", what_it_is, "\n.PP\n", f);
	man_line("", what_a_device_is, "\n.PP\n", f);
	man_line("", what_lists_do, "\n.SH COMMANDS\n", f);
	for (int i = 0; i < N_CTL_COMMANDS; i++)
		man_command((enum ctl_command)i, f);
	fputs(".SH \"FLAGS OF EVERY COMMAND\"\n", f);
	man_flags(-1, f);
	fputs(".SH \"EXIT STATUS\"\n", f);
	for (size_t i = 0; i < ARRAY_SIZE(exits); i++) {
		man_line(".TP\n", exits[i].status, "\n", f);
		man_line("", exits[i].means, "\n", f);
	}
	fputs(".SH ENVIRONMENT\n.TP\nNO_COLOR\nif it is not empty, colours are disabled\n"
	      ".TP\nPOD_NAMESPACE, POD_NAME\nthe pod from which\n.B ready\naccepts an answer\n"
	      ".SH FILES\n.TP\n" CLIENT_SOCKET "\nthe daemon's socket\n"
	      ".SH \"SEE ALSO\"\n.BR rocelet (8)\n",
	      f);
}
