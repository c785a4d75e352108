// SPDX-License-Identifier: Apache-2.0
#include "ctl_args.h"

#include <ctype.h>
#include <getopt.h>
#include <stdint.h>
#include <stdlib.h>

#include "cause.h"
#include "cleanup.h"
#include "client.h"
#include "ctl_config_map.h"
#include "listing.h"
#include "moment_text.h"
#include "packet_row.h"
#include "search.h"
#include "suggest.h"
#include "trouble_word.h"
#include "utf8.h"

#define FLAGS_MAX 64
#define GIVEN_MAX 128
#define WAIT_MS	  5000
/* Value that getopt_long(3) returns for the first flag of the table. */
#define OPT_FIRST 256

/* A flag on the command line. Commands may have different flags of the same name, and the command
 * may follow the flag, so the flag is resolved later. */
struct given {
	const struct ctl_flag *flag; /* any flag of this name, of any command */
	const char *value;
};

struct command_line {
	struct option known[FLAGS_MAX + 1];
	char letters[FLAGS_MAX * 2 + 2];
	struct given given[GIVEN_MAX];
	size_t n_given;
};

/* --- known flags ------------------------------------------------------------------------------ */

static bool ctl_args_is_known(const struct command_line *l, size_t n, const char *name)
{
	return any_of(n, i, strcmp(l->known[i].name, name) == 0);
}

/* True if the command has this flag, or has no flag of this name. */
static bool is_variant_of(const struct ctl_flag *flag, int command)
{
	return command < 0 || ctl_flag_is_of(flag, (enum ctl_command)command) ||
	       !ctl_flag_find((enum ctl_command)command, flag->name, strlen(flag->name));
}

static void add_letter(struct command_line *l, const struct ctl_flag *flag)
{
	size_t n = strlen(l->letters);

	if (flag->letter)
		snprintf(l->letters + n, sizeof(l->letters) - n, "%c%s", flag->letter,
			 flag->type == TYPE_NONE ? "" : ":");
}

/* Lists each name once for getopt_long(3). If commands differ in whether the flag has a value,
 * `command` decides; -1: no command. */
static void list_flags(struct command_line *l, int command)
{
	const struct ctl_flag *flag;
	size_t n = 0;

	strcpy(l->letters, ":");
	for (size_t i = 0; (flag = ctl_flag(i)) && n < FLAGS_MAX; i++) {
		if (ctl_args_is_known(l, n, flag->name) || !is_variant_of(flag, command))
			continue;
		l->known[n++] = (struct option){
			flag->name, flag->type == TYPE_NONE ? no_argument : required_argument, NULL,
			OPT_FIRST + (int)i};
		add_letter(l, flag);
	}
}

static const struct ctl_flag *ctl_args_flag_of(int option)
{
	const struct ctl_flag *flag;

	if (option >= OPT_FIRST)
		return ctl_flag((size_t)option - OPT_FIRST);
	for (size_t i = 0; (flag = ctl_flag(i)); i++)
		if (flag->letter == option)
			break;
	return flag;
}

/* getopt_long(3) has left the unknown flag before optind, or in optopt if it is a letter. */
static int ctl_args_unknown_flag(const struct command_line *l, char *argv[], struct err *e)
{
	const char *names[FLAGS_MAX], *word = argv[optind - 1], *near;
	size_t n = 0;

	if (optopt > 0 && optopt < OPT_FIRST)
		return err_set(e, -EINVAL, "unknown flag -%c; --help lists the flags", optopt);
	for (; l->known[n].name; n++)
		names[n] = l->known[n].name;
	near = suggest(word + 2, strcspn(word + 2, "="), names, n);
	return err_set(e, -EINVAL,
		       near ? "unknown flag %.60s; did you mean --%s?"
			    : "unknown flag %.60s; --help lists the flags",
		       word, near);
}

static int take_flags(struct command_line *l, int argc, char *argv[], struct err *e)
{
	int option;

	optind = 0; /* reset getopt, also after another command line */
	opterr = 0;
	while ((option = getopt_long(argc, argv, l->letters, l->known, NULL)) != -1) {
		if (option == ':')
			return err_set(e, -EINVAL, "%.60s needs a value", argv[optind - 1]);
		if (option == '?')
			return ctl_args_unknown_flag(l, argv, e);
		if (l->n_given == GIVEN_MAX)
			return err_set(e, -EINVAL, "too many options");
		l->given[l->n_given++] = (struct given){ctl_args_flag_of(option), optarg};
	}
	return 0;
}

/* --- values of flags -------------------------------------------------------------------------- */

static int ctl_args_read_number(long *ret, const struct ctl_flag *flag, const char *text,
				struct err *e)
{
	char *end;

	*ret = strtol(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end || *ret > flag->max)
		return err_set(e, -EINVAL, "--%s %.60s: not a number, or more than %ld", flag->name,
			       text, flag->max);
	/* Reject 0: it is a mistake. */
	return flag->type == TYPE_COUNT && *ret == 0
		       ? err_set(e, -EINVAL, "--%s: must be at least 1", flag->name)
		       : 0;
}

static int ctl_args_add_ip(struct ctl_args *a, const char *text, struct err *e)
{
	if (a->n_ips == CTL_IPS_MAX)
		return err_set(e, -EINVAL, "--ip: more than %d addresses", CTL_IPS_MAX);
	a->ips[a->n_ips++] = text;
	return 0;
}

/* Checks that the word is one of the choices. what: the flag or command, for the message. */
static int check_choice(const char *what, const char *choices, const char *word, struct err *e)
{
	char text[128] = "", choice[32];

	if (ctl_choice_has(choices, word))
		return 0;
	while (ctl_choice_next(&choices, choice, sizeof(choice)))
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s",
			 text[0] ? ", " : "", choice);
	return err_set(e, -EINVAL, "%s %.60s: not one of %s", what, word, text);
}

static int take_value(struct ctl_args *a, const struct ctl_flag *flag, const char *value,
		      struct err *e)
{
	const char *formats = ctl_command_row(a->command)->formats;
	void *field = (char *)a + flag->offset;
	char name[32];

	snprintf(name, sizeof(name), "--%s", flag->name);
	if (flag->type == TYPE_NONE)
		*(bool *)field = true;
	else if (flag->type == TYPE_NUMBER || flag->type == TYPE_COUNT)
		return ctl_args_read_number(field, flag, value, e);
	else if (flag->type == TYPE_IP)
		return ctl_args_add_ip(a, value, e);
	else
		*(const char **)field = value;
	if (flag->type == TYPE_CHOICE)
		return check_choice(name, flag->value, value, e);
	return flag->type == TYPE_FORMAT ? check_choice("-o", formats, value, e) : 0;
}

static int take_values(struct ctl_args *a, const struct command_line *l, struct err *e)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < l->n_given; i++) {
		const char *name = l->given[i].flag->name;
		const struct ctl_flag *flag = ctl_flag_find(a->command, name, strlen(name));

		if (!flag)
			return err_set(e, -EINVAL, "%s has no flag --%s",
				       ctl_command_row(a->command)->name, name);
		r = take_value(a, flag, l->given[i].value, e);
	}
	return r;
}

/* --- words ------------------------------------------------------------------------------------ */

static int find_command(const char *word, struct err *e)
{
	const char *names[N_CTL_COMMANDS], *near;
	int command = ctl_command_find(word);

	if (command >= 0)
		return command;
	for (int i = 0; i < N_CTL_COMMANDS; i++)
		names[i] = ctl_command_row((enum ctl_command)i)->name;
	near = suggest(word, strlen(word), names, N_CTL_COMMANDS);
	return err_set(e, -EINVAL,
		       near ? "unknown command \"%.60s\"; did you mean \"%s\"?"
			    : "unknown command \"%.60s\"; --help lists the commands",
		       word, near);
}

/* True for NAMESPACE/NAME; "mlx5_0/1" is a port. */
static bool is_pod(const char *word)
{
	const char *slash = strchr(word, '/');

	return slash && slash != word && slash[1] &&
	       slash[1 + strspn(slash + 1, "0123456789")] != '\0';
}

/* The argument may name a device or a pod. */
static bool ctl_args_may_be_pod(enum ctl_command command)
{
	return command == CTL_EXPLAIN || command == CTL_DIAGNOSE ||
	       (ctl_command_row(command)->listing && ctl_command_row(command)->type == TYPE_DEVICE);
}

static int ctl_args_take_word(struct ctl_args *a, const struct ctl_command_row *row,
			      const char *word, struct err *e)
{
	bool is_device = row->type == TYPE_DEVICE;
	bool is_named_as_pod = is_device && ctl_args_may_be_pod(a->command) &&
			       (is_pod(word) || a->namespace);

	if (is_device && a->command == CTL_EXPLAIN &&
	    (cause_by_name(word) >= 0 || trouble_row_find(word)))
		a->cause = word;
	else if (row->type == TYPE_POD || is_named_as_pod)
		a->pod = word;
	else if (is_device) {
		a->device = word;
		a->is_word = row->listing != NULL;
	} else if (row->type == TYPE_FILE)
		a->file = word;
	else if (row->type == TYPE_CHOICE)
		return check_choice(row->name, row->word, a->choice = word, e);
	else if (row->type == TYPE_COMMAND)
		return a->topic = find_command(word, e);
	return 0;
}

/* Parses the words that remain after the flags: the command and its argument. */
static int take_words(struct ctl_args *a, char *words[], size_t n, struct err *e)
{
	const struct ctl_command_row *row = ctl_command_row(a->command);
	bool given_pod = a->pod != NULL, given_device = a->device != NULL;
	size_t most = row->word ? 2 : 1;
	int r = n > 1 && row->word ? ctl_args_take_word(a, row, words[1], e) : 0;

	if (r < 0)
		return r;
	if (n == 2 && row->word && row->listing && (given_pod || given_device))
		return err_set(e, -EINVAL, "%s: give %.60s or --%s, not both", row->name, words[1],
			       given_pod ? "pod" : "device");
	if (row->word && !row->optional && n < 2 &&
	    !(ctl_args_may_be_pod(a->command) && (a->pod || a->device)))
		return err_set(e, -EINVAL, "%s: %s is missing; see --help", row->name, row->word);
	if (n > most)
		return err_set(e, -EINVAL,
			       row->word ? "%s takes one argument, got \"%.60s\" as well"
					 : "%s takes no arguments, got \"%.60s\"",
			       row->name, words[most]);
	return 0;
}

/* --- the whole command line ------------------------------------------------------------------- */

/* Rejects invalid UTF-8: JSON cannot encode it, and a name without it would be another name. */
static int check_texts(const struct ctl_args *a, struct err *e)
{
	const struct {
		const char *name, *value;
	} texts[] = {
		{"the device", a->device},     {"--netns", a->netns}, {"--pod", a->pod},
		{"--interface", a->interface}, {"--mac", a->mac},     {"--namespace", a->namespace},
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (!utf8_is_name(texts[i].value, SIZE_MAX))
			return err_set(e, -EINVAL, "%s is not valid UTF-8", texts[i].name);
	for (size_t i = 0; i < a->n_ips; i++)
		if (!utf8_is_name(a->ips[i], SIZE_MAX))
			return err_set(e, -EINVAL, "--ip is not valid UTF-8");
	return 0;
}

/* The daemon computes the moment, because its clock decides. */
static int check_moment(const char *flag, const char *text, struct err *e)
{
	uint64_t ms;

	if (!text || moment_text(text, 0, 0, &ms))
		return 0;
	return err_set(e, -EINVAL, "--%s %.60s: not " MOMENT_TEXT_FORMS, flag, text);
}

static int check_diagnose(const struct ctl_args *a, struct err *e)
{
	if ((a->replay || a->record) && (a->device || a->pod))
		return err_set(e, -EINVAL,
			       "diagnose: a scenario is %s for all devices, not for one",
			       a->replay ? "replayed" : "recorded");
	if (a->replay && a->record)
		return err_set(e, -EINVAL, "diagnose: give --replay or --record, not both");
	if (a->undecided && a->ended)
		return err_set(e, -EINVAL, "diagnose: give --undecided or --ended, not both");
	if (a->replay && a->format && strcmp(a->format, "yaml") == 0)
		return err_set(e, -EINVAL, "diagnose: a replay is printed as text or json");
	return 0;
}

static int check_packets(const struct ctl_args *a, struct err *e)
{
	struct packet_filter filter = {.only = NULL};

	if (a->packet_list && a->format && strcmp(a->format, "yaml") == 0)
		return err_set(e, -EINVAL, "pcap: packets are listed as text or json");
	return a->flow ? packet_filter_flow(&filter, a->flow, e) : 0;
}

static int check_whole(const struct ctl_args *a, struct err *e)
{
	const struct listing *listing = ctl_command_row(a->command)->listing;

	if (a->command == CTL_ATTACH && !a->netns == !a->pod)
		return err_set(e, -EINVAL, "attach: give either --netns or --pod");
	if (a->command == CTL_SNIFF && a->netns && a->pod)
		return err_set(e, -EINVAL, "sniff: give --netns or --pod, not both");
	if ((a->command == CTL_ATTACH || a->command == CTL_SNIFF ||
	     (ctl_args_may_be_pod(a->command) && !listing)) &&
	    a->namespace && !a->pod)
		return err_set(e, -EINVAL, "--namespace needs --pod");
	if (a->configmap && !config_map_name_is_valid(a->configmap))
		return err_set(e, -EINVAL, "--configmap %.60s: not [NAMESPACE/]NAME", a->configmap);
	if (a->watch && a->format && strcmp(a->format, "yaml") == 0)
		return err_set(e, -EINVAL,
			       "--watch cannot print YAML; use -o json, one line per row");
	if (listing && listing_check(listing, a->sort_by, a->selector, a->columns, e) < 0)
		return e->code;
	if (check_moment("since", a->since, e) < 0 || check_moment("until", a->until, e) < 0)
		return e->code;
	if (a->command == CTL_DIAGNOSE && check_diagnose(a, e) < 0)
		return e->code;
	if (a->command == CTL_PCAP && check_packets(a, e) < 0)
		return e->code;
	return check_texts(a, e);
}

/* --- flags without effect --------------------------------------------------------------------- */

static bool is_no_table(const struct ctl_args *a)
{
	bool is_table = !a->format || strcmp(a->format, "table") == 0 ||
			strcmp(a->format, "wide") == 0;

	return !is_table && (ctl_command_row(a->command)->listing || a->packet_list);
}

static bool is_summary(const struct ctl_args *a)
{
	return a->command == CTL_PCAP && !a->packet_list;
}

static bool is_packet_list(const struct ctl_args *a)
{
	return a->packet_list;
}

static bool is_json_as_configmap(const struct ctl_args *a)
{
	return a->configmap && a->format && strcmp(a->format, "json") == 0;
}

static bool is_merge(const struct ctl_args *a)
{
	return a->merge != NULL;
}

static bool is_replay(const struct ctl_args *a)
{
	return a->replay != NULL;
}

static bool is_record(const struct ctl_args *a)
{
	return a->record > 0;
}

static bool is_diagnose_without_record(const struct ctl_args *a)
{
	return a->command == CTL_DIAGNOSE && !a->record;
}

static bool is_diagnose_of_now(const struct ctl_args *a)
{
	return a->command == CTL_DIAGNOSE && !a->ended;
}

static bool is_cause(const struct ctl_args *a)
{
	return a->cause != NULL;
}

static bool is_sniff_of_host(const struct ctl_args *a)
{
	return a->command == CTL_SNIFF && !a->pod;
}

static bool is_problem_of_rocelet(const struct ctl_args *a)
{
	return a->command == CTL_NODE_PROBLEM && strcmp(a->choice, "rocelet") == 0;
}

/* What a command does may depend on some of its flags, and then it does not use others. Instead of
 * ignoring these, rocectl rejects them. */
static const struct unused_flags {
	bool (*is)(const struct ctl_args *);
	const char *flags; /* separated by '|' */
	const char *why;
} unused[] = {
	{is_no_table, "columns|no-headers", "is only for tables"},
	{is_summary, "limit|no-headers", "needs --packets"},
	{is_packet_list, "flows", "is not used with --packets"},
	{is_json_as_configmap, "configmap", "is always YAML"},
	{is_merge, "timeout", "is not used with --merge"},
	{is_replay, "undecided|ended|timeout", "is not used with --replay"},
	{is_record, "undecided|ended|output|json", "is not used with --record"},
	{is_diagnose_without_record, "write|trace", "needs --record"},
	{is_diagnose_of_now, "since|until", "needs --ended"},
	{is_cause, "device|pod|namespace|timeout", "is not used with a cause"},
	{is_sniff_of_host, "timeout", "needs --pod"},
	{is_problem_of_rocelet, "severity", "is only for rdma"},
};

static int ctl_args_check_unused(const struct ctl_args *a, const struct command_line *l,
				 struct err *e)
{
	for (const struct unused_flags *row = unused; row < unused + ARRAY_SIZE(unused); row++) {
		for (size_t i = 0; row->is(a) && i < l->n_given; i++) {
			const char *name = l->given[i].flag->name;

			if (ctl_choice_has(row->flags, name))
				return err_set(e, -EINVAL, "%s: --%s %s",
					       ctl_command_row(a->command)->name, name, row->why);
		}
	}
	return 0;
}

/* True for an address without its domain, 03:00.2, as lspci(8) prints it for PCI domain 0. */
static bool is_short_address(const char *s)
{
	static const char form[] = "xx:xx.7";

	for (size_t i = 0; i < sizeof(form) - 1; i++) {
		bool fits = form[i] == 'x'   ? isxdigit((unsigned char)s[i]) != 0
			    : form[i] == '7' ? s[i] >= '0' && s[i] <= '7'
					     : s[i] == form[i];

		if (!fits)
			return false;
	}
	return s[sizeof(form) - 1] == '\0';
}

static void complete_device(struct ctl_args *a)
{
	if (!a->device || !is_short_address(a->device))
		return;
	snprintf(a->device_text, sizeof(a->device_text), "0000:%s", a->device);
	for (char *c = a->device_text; *c; c++)
		*c = (char)tolower(*c);
}

static int complete_pod(struct ctl_args *a, struct err *e)
{
	size_t len = a->namespace ? strlen(a->namespace) : 0;
	const char *slash = a->pod ? strchr(a->pod, '/') : NULL;

	if (!a->pod || !a->namespace)
		return 0;
	if (slash && ((size_t)(slash - a->pod) != len || memcmp(a->pod, a->namespace, len) != 0))
		return err_set(e, -EINVAL, "--pod %.60s is not in namespace %.60s", a->pod,
			       a->namespace);
	if (!slash && snprintf(a->pod_text, sizeof(a->pod_text), "%s/%s", a->namespace, a->pod) >=
			      (int)sizeof(a->pod_text))
		return err_set(e, -EINVAL, "--pod and --namespace are too long for names");
	return 0;
}

/* Copies the arguments. Pointers into their own buffers then point into the copy's. */
static void ctl_args_settle(struct ctl_args *ret, const struct ctl_args *a)
{
	*ret = *a;
	if (a->device_text[0])
		ret->device = ret->device_text;
	if (a->pod_text[0])
		ret->pod = ret->pod_text;
}

static bool has_given(const struct command_line *l, const char *name)
{
	return any_of(l->n_given, i, strcmp(l->given[i].flag->name, name) == 0);
}

/* Parses the words of a command line with --help: a command, or nothing. Other words, and values of
 * flags, are not checked. */
static int parse_help(struct ctl_args *a, char *words[], size_t n, struct err *e)
{
	a->command = CTL_HELP;
	if (n > 0 && strcmp(words[0], "help") == 0) {
		words++;
		n--;
	}
	if (n > 0)
		a->topic = find_command(words[0], e);
	return n > 0 && a->topic < 0 ? a->topic : 0;
}

static int parse_command(struct ctl_args *a, const struct command_line *l, char *words[], size_t n,
			 struct err *e)
{
	int r = n == 0 ? err_set(e, -EINVAL, "no command given; see --help")
		       : find_command(words[0], e);

	if (r < 0)
		return r;
	a->command = (enum ctl_command)r;
	r = take_values(a, l, e);
	if (r == 0)
		r = take_words(a, words, n, e);
	if (r < 0 || a->command == CTL_HELP)
		return r < 0 ? r : 0;
	if (a->json)
		a->format = "json";
	a->packet_list |= a->only || a->flow;
	complete_device(a);
	r = complete_pod(a, e);
	if (r == 0)
		r = ctl_args_check_unused(a, l, e);
	return r == 0 ? check_whole(a, e) : r;
}

/* Finds the first word that is a command. A word before it may be a flag's value, but values rarely
 * have a command's name. */
static int command_among(int argc, char *argv[])
{
	int command = -1;

	for (int i = 1; command < 0 && i < argc; i++)
		command = ctl_command_find(argv[i]);
	return command;
}

int ctl_args_parse(struct ctl_args *ret, int argc, char *argv[], struct err *e)
{
	struct ctl_args a = {.socket = CLIENT_SOCKET,
			     .topic = -1,
			     .vlan = -1,
			     .mtu = -1,
			     .limit = -1,
			     .flows = 10,
			     .seconds = 10,
			     .packets = 1000000,
			     .bytes = 1000000000};
	struct command_line line = {0};
	int r;

	list_flags(&line, command_among(argc, argv));
	r = take_flags(&line, argc, argv, e);
	if (r < 0)
		return r;
	argv += optind;
	argc -= optind;
	if (has_given(&line, "help"))
		r = parse_help(&a, argv, (size_t)argc, e);
	else if (has_given(&line, "version"))
		a.command = CTL_VERSION;
	else
		r = parse_command(&a, &line, argv, (size_t)argc, e);
	if (r == 0)
		ctl_args_settle(ret, &a);
	return r;
}

bool ctl_args_want_document(const struct ctl_args *a)
{
	return a->format && (strcmp(a->format, "json") == 0 || strcmp(a->format, "yaml") == 0);
}

uint64_t ctl_args_wait_ms(const struct ctl_args *a)
{
	return a->timeout > 0 ? (uint64_t)a->timeout * 1000 : WAIT_MS;
}

uint64_t ctl_args_long_wait_ms(const struct ctl_args *a)
{
	return a->timeout > 0 ? (uint64_t)a->timeout * 1000 : CLIENT_WAIT_MS;
}
