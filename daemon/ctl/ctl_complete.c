// SPDX-License-Identifier: Apache-2.0
#include "ctl_complete.h"

#include <string.h>

#include "client.h"
#include "ctl_args.h"
#include "listing.h"

/* --- the kind of candidates ------------------------------------------------------------------- */

/* Finds the flag of a word such as "--pod", "--pod=x" or "-n"; of any command if command is -1. */
static const struct ctl_flag *ctl_flag_of(const char *word, int command)
{
	size_t len = strcspn(word, "=");
	const struct ctl_flag *flag;

	for (size_t i = 0; (flag = ctl_flag(i)); i++) {
		bool is_long = strncmp(word, "--", 2) == 0 && strlen(flag->name) == len - 2 &&
			       memcmp(word + 2, flag->name, len - 2) == 0;
		bool is_short = flag->letter && word[0] == '-' && word[1] == flag->letter &&
				!word[2];

		if ((is_long || is_short) &&
		    (command < 0 || ctl_flag_is_of(flag, (enum ctl_command)command)))
			return flag;
	}
	return NULL;
}

static bool takes_next(const char *word, int command)
{
	const struct ctl_flag *flag = word[0] == '-' ? ctl_flag_of(word, command) : NULL;

	return flag && flag->type != TYPE_NONE && !strchr(word, '=');
}

struct read {
	int command;
	int n_words; /* including the command */
	const char *socket;
};

/* Parses the words before the last one. */
static void read_words(struct read *r, int n, char *const words[])
{
	for (int i = 0; i < n - 1; i++) {
		if (takes_next(words[i], r->command)) {
			if (strcmp(words[i], "--socket") == 0 && i + 1 < n - 1)
				r->socket = words[i + 1];
			i++;
		} else if (words[i][0] != '-' || words[i][1] == '\0') {
			if (r->n_words++ == 0)
				r->command = ctl_command_find(words[i]);
		} else if (strncmp(words[i], "--socket=", 9) == 0) {
			r->socket = words[i] + 9;
		}
	}
}

static void want_flag(struct ctl_completion *ret, const struct ctl_flag *flag)
{
	const struct ctl_command_row *row = ctl_command_row(ret->command);

	ret->type = flag->type;
	ret->choices = flag->type == TYPE_FORMAT ? row->formats : flag->value;
}

static void want_word(struct ctl_completion *ret, const struct read *r)
{
	const struct ctl_command_row *row = ctl_command_row(ret->command);

	if (r->n_words == 0)
		ret->type = TYPE_COMMAND;
	if (r->n_words != 1 || r->command < 0)
		return;
	ret->type = row->type;
	ret->choices = row->word;
}

void ctl_complete(struct ctl_completion *ret, int n, char *const words[])
{
	const char *last = n > 0 ? words[n - 1] : "";
	const struct ctl_flag *flag = NULL;
	struct read r = {.command = -1, .socket = CLIENT_SOCKET};

	read_words(&r, n, words);
	*ret = (struct ctl_completion){.command = r.command < 0 ? CTL_HELP
								: (enum ctl_command)r.command,
				       .before = "",
				       .socket = r.socket};
	if (n > 1 && takes_next(words[n - 2], r.command))
		flag = ctl_flag_of(words[n - 2], r.command);
	if (!flag && strncmp(last, "--", 2) == 0 && strchr(last, '=')) {
		flag = ctl_flag_of(last, r.command);
		ret->before = last;
		ret->before_len = strcspn(last, "=") + 1;
	}
	if (flag)
		want_flag(ret, flag);
	else if (last[0] == '-')
		ret->flags = true;
	else
		want_word(ret, &r);
}

/* --- candidates from the table ---------------------------------------------------------------- */

static void ctl_put(const struct ctl_completion *c, const char *word, const char *what, FILE *f)
{
	fprintf(f, "%.*s%s\t%s\n", (int)c->before_len, c->before, word, what);
}

static void ctl_put_flags(const struct ctl_completion *c, FILE *f)
{
	const struct ctl_flag *flag;

	for (size_t i = 0; (flag = ctl_flag(i)); i++)
		if (ctl_flag_is_of(flag, c->command))
			fprintf(f, "--%s\t%s\n", flag->name, flag->help);
}

static void put_commands(const struct ctl_completion *c, FILE *f)
{
	for (int i = 0; i < N_CTL_COMMANDS; i++)
		ctl_put(c, ctl_command_row((enum ctl_command)i)->name,
			ctl_command_row((enum ctl_command)i)->brief, f);
}

static void put_choices(const struct ctl_completion *c, FILE *f)
{
	const char *choices = c->choices;
	char word[32];

	while (choices && ctl_choice_next(&choices, word, sizeof(word)))
		ctl_put(c, word, "", f);
}

static void ctl_put_columns(const struct ctl_completion *c, const char *after, FILE *f)
{
	const struct listing *l = ctl_command_row(c->command)->listing;
	char word[64];

	for (size_t i = 0; l && i < l->n_columns; i++) {
		snprintf(word, sizeof(word), "%s%s", l->columns[i].head, after);
		ctl_put(c, word, "", f);
	}
}

void ctl_complete_put(const struct ctl_completion *c, FILE *f)
{
	if (c->flags) {
		ctl_put_flags(c, f);
		return;
	}
	switch (c->type) {
	case TYPE_COMMAND:
		put_commands(c, f);
		break;
	case TYPE_CHOICE:
	case TYPE_FORMAT:
		put_choices(c, f);
		break;
	case TYPE_COLUMN:
	case TYPE_COLUMNS:
		ctl_put_columns(c, "", f);
		break;
	case TYPE_SELECTOR:
		ctl_put_columns(c, "=", f);
		break;
	case TYPE_FILE:
		fputs(":files\n", f);
		break;
	case TYPE_NONE:
	case TYPE_TEXT:
	case TYPE_NUMBER:
	case TYPE_COUNT:
	case TYPE_IP:
	case TYPE_DEVICE:
	case TYPE_POD:
	case TYPE_NAMESPACE:
		break;
	}
}

/* --- candidates from the daemon --------------------------------------------------------------- */

const char *ctl_complete_source(const struct ctl_completion *c)
{
	if (c->flags)
		return NULL;
	if (c->type == TYPE_DEVICE)
		return "/api/v1/devices";
	return c->type == TYPE_POD || c->type == TYPE_NAMESPACE ? "/api/v1/pods" : NULL;
}

/* The shell treats a completed name as typed, so the name must not contain shell syntax. */
static bool is_safe(const char *name)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				   "_.:/@+-";

	return name && name[0] != '\0' && name[0] != '-' && name[strspn(name, safe)] == '\0';
}

static void put_name(const struct ctl_completion *c, const char *name, const char *what, FILE *f)
{
	if (is_safe(name))
		ctl_put(c, name, is_safe(what) ? what : "", f);
}

static const char *ctl_complete_text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static void put_names_of(const struct ctl_completion *c, const json_t *list, const char *what,
			 FILE *f)
{
	json_t *item;
	size_t i;

	json_array_foreach ((json_t *)list, i, item) {
		put_name(c, ctl_complete_text_of(item, "name"), what, f);
	}
}

static void put_device(const struct ctl_completion *c, const json_t *device, FILE *f)
{
	const char *id = ctl_complete_text_of(device, "id");

	put_name(c, id, ctl_complete_text_of(device, "kind"), f);
	put_names_of(c, json_object_get(device, "netdevs"), id, f);
	put_names_of(c, json_object_get(device, "rdma"), id, f);
}

static void put_pod(const struct ctl_completion *c, const json_t *pod, FILE *f)
{
	const char *namespace = ctl_complete_text_of(pod, "namespace"),
		   *name = ctl_complete_text_of(pod, "name");
	char whole[512];

	snprintf(whole, sizeof(whole), "%s/%s", namespace ? namespace : "", name ? name : "");
	if (c->type == TYPE_NAMESPACE)
		put_name(c, namespace, "", f);
	else if (namespace && name)
		put_name(c, whole, "", f);
}

void ctl_complete_put_live(const struct ctl_completion *c, const json_t *document, FILE *f)
{
	json_t *item;
	size_t i;

	json_array_foreach (json_object_get(document, "devices"), i, item) {
		put_device(c, item, f);
	}
	json_array_foreach (json_object_get(document, "pods"), i, item) {
		put_pod(c, item, f);
	}
}

/* --- scripts ---------------------------------------------------------------------------------- */

/* bash splits words at colons, which device names contain: remove the part up to the word's last
 * colon from the candidates. */
static const char bash_script[] =
	"# bash completion for rocectl\n"
	"_rocectl() {\n"
	"\tlocal line=${COMP_LINE:0:COMP_POINT} breaks=${COMP_WORDBREAKS//[!:=]/} word candidate words\n"
	"\tread -ra words <<<\"$line\"\n"
	"\t[[ $line == *[[:space:]] ]] && words+=('')\n"
	"\tword=${words[${#words[@]} - 1]}\n"
	"\tCOMPREPLY=()\n"
	"\twhile IFS=$'\\t' read -r candidate _; do\n"
	"\t\tif [[ $candidate == :files ]]; then\n"
	"\t\t\tcompopt -o default\n"
	"\t\t\treturn\n"
	"\t\tfi\n"
	"\t\t[[ $candidate == \"$word\"* ]] && COMPREPLY+=(\"$candidate\")\n"
	"\tdone < <(\"${words[0]}\" __complete \"${words[@]:1}\" 2>/dev/null)\n"
	"\t[[ -z $breaks ]] || COMPREPLY=(\"${COMPREPLY[@]#\"${word%\"${word##*[$breaks]}\"}\"}\")\n"
	"\t[[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace\n"
	"\treturn 0\n"
	"}\n"
	"complete -F _rocectl rocectl\n";

static const char zsh_script[] =
	"#compdef rocectl\n"
	"# zsh completion for rocectl\n"
	"_rocectl() {\n"
	"\tlocal line candidate\n"
	"\tlocal -a candidates\n"
	"\twhile IFS= read -r line; do\n"
	"\t\tif [[ $line == :files ]]; then\n"
	"\t\t\t_files\n"
	"\t\t\treturn\n"
	"\t\tfi\n"
	"\t\tcandidate=${line%%$'\\t'*}\n"
	"\t\tcandidates+=(\"${candidate//:/\\\\:}:${line#*$'\\t'}\")\n"
	"\tdone < <(\"${words[1]}\" __complete \"${(@)words[2,CURRENT]}\" 2>/dev/null)\n"
	"\t_describe -V rocectl candidates\n"
	"}\n"
	"if [[ $funcstack[1] == _rocectl ]]; then\n"
	"\t_rocectl \"$@\"\n"
	"else\n"
	"\tcompdef _rocectl rocectl\n"
	"fi\n";

static const char fish_script[] =
	"# fish completion for rocectl\n"
	"function __rocectl_complete\n"
	"\tset -l words (commandline -opc) (commandline -ct)\n"
	"\tset -l candidates ($words[1] __complete $words[2..-1] 2>/dev/null)\n"
	"\tif test \"$candidates\" = :files\n"
	"\t\t__fish_complete_path (commandline -ct)\n"
	"\telse\n"
	"\t\tprintf '%s\\n' $candidates\n"
	"\tend\n"
	"end\n"
	"complete -c rocectl -f -a '(__rocectl_complete)'\n";

void ctl_completion_script(const char *shell, FILE *f)
{
	fputs(strcmp(shell, "bash") == 0  ? bash_script
	      : strcmp(shell, "zsh") == 0 ? zsh_script
					  : fish_script,
	      f);
}
