#include "ctl_args.h"

#include <getopt.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "cleanup.h"
#include "ctl_config_map.h"
#include "suggest.h"
#include "utf8.h"

#define BIT(command) (1u << (command))
#define ANY	     (~0u)

enum option_kind { OPT_SWITCH, OPT_WORD, OPT_NUMBER, OPT_BOX, OPT_IP };

#define WORD(name, commands)   #name, offsetof(struct ctl_args, name), 0, OPT_WORD, commands
#define SWITCH(name, commands) #name, offsetof(struct ctl_args, name), 0, OPT_SWITCH, commands
#define NUMBER(name, max, commands)                                                                \
#name, offsetof(struct ctl_args, name), max, OPT_NUMBER, commands
#define BOX(name, max) #name, offsetof(struct ctl_args, name), max, OPT_BOX, BIT(CTL_SNIFF)
#define SECONDS_MAX    86400

#define WITH_POD                                                                                   \
	(BIT(CTL_ATTACH) | BIT(CTL_EVENTS) | BIT(CTL_QPS) | BIT(CTL_WATCH) | BIT(CTL_SNIFF) |      \
	 BIT(CTL_DIAGNOSE))

static const struct ctl_option {
	const char *name;
	size_t offset; /* in struct ctl_args: a bool, const char * or long */
	long max;
	enum option_kind kind;
	unsigned commands; /* to which it belongs */
} options[] = {
	{WORD(socket, ANY)},
	{SWITCH(json, ANY)},
	{WORD(netns, BIT(CTL_ATTACH) | BIT(CTL_SNIFF))},
	{WORD(pod, WITH_POD)},
	{WORD(interface, BIT(CTL_ATTACH))},
	{"ip", 0, 0, OPT_IP, BIT(CTL_ATTACH)},
	{WORD(mac, BIT(CTL_ATTACH))},
	{NUMBER(vlan, 1000000, BIT(CTL_ATTACH))},
	{NUMBER(mtu, 1000000, BIT(CTL_ATTACH))},
	{"soft-roce", offsetof(struct ctl_args, soft_roce), 0, OPT_SWITCH, BIT(CTL_ATTACH)},
	{SWITCH(force, BIT(CTL_DETACH))},
	{SWITCH(fix, BIT(CTL_DOCTOR))},
	{WORD(device, BIT(CTL_EVENTS) | BIT(CTL_QPS) | BIT(CTL_WATCH))},
	{NUMBER(limit, 1000000, BIT(CTL_EVENTS) | BIT(CTL_QPS))},
	{NUMBER(flows, 65536, BIT(CTL_PCAP) | BIT(CTL_SNIFF))},
	{BOX(seconds, SECONDS_MAX)},
	{BOX(packets, CTL_BOX_MAX)},
	{BOX(bytes, CTL_BOX_MAX)},
	{WORD(write, BIT(CTL_SNIFF) | BIT(CTL_DIAGNOSE))},
	{WORD(top, BIT(CTL_QPS))},
	{WORD(configmap, BIT(CTL_SUGGEST))},
	{WORD(output, BIT(CTL_SUPPORT_BUNDLE) | BIT(CTL_DIAGNOSE))},
	{WORD(replay, BIT(CTL_DIAGNOSE))},
	{"record", offsetof(struct ctl_args, record), SECONDS_MAX, OPT_BOX, BIT(CTL_DIAGNOSE)},
	{WORD(config, BIT(CTL_SUPPORT_BUNDLE))},
	{"state-dir", offsetof(struct ctl_args, state_dir), 0, OPT_WORD, BIT(CTL_SUPPORT_BUNDLE)},
};

/* What getopt_long(3) returns for the first of them. */
#define OPT_FIRST  256
/* --help, --version and the end of the list. */
#define OPT_OTHERS 3

static void list_options(struct option ret[ARRAY_SIZE(options) + OPT_OTHERS])
{
	size_t n = 0;

	ret[n++] = (struct option){"help", no_argument, NULL, 'h'};
	ret[n++] = (struct option){"version", no_argument, NULL, 'V'};
	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		ret[n++] = (struct option){options[i].name,
					   options[i].kind == OPT_SWITCH ? no_argument
									 : required_argument,
					   NULL, OPT_FIRST + (int)i};
	ret[n] = (struct option){0};
}

static const struct {
	const char *name;
	const char *takes; /* what its word is; NULL: it has none */
} commands[N_CTL_COMMANDS] = {
	[CTL_HELP] = {"help", NULL},
	[CTL_VERSION] = {"version", NULL},
	[CTL_PODS] = {"pods", NULL},
	[CTL_DEVICES] = {"devices", NULL},
	[CTL_ATTACH] = {"attach", "device"},
	[CTL_DETACH] = {"detach", "device"},
	[CTL_EXPLAIN] = {"explain", "device"},
	[CTL_DOCTOR] = {"doctor", NULL},
	[CTL_READY] = {"ready", NULL},
	[CTL_EVENTS] = {"events", NULL},
	[CTL_PCAP] = {"pcap", "file"},
	[CTL_SNIFF] = {"sniff", "device"},
	[CTL_QPS] = {"qps", NULL},
	[CTL_WATCH] = {"watch", NULL},
	[CTL_SUGGEST] = {"suggest", NULL},
	[CTL_SUPPORT_BUNDLE] = {"support-bundle", NULL},
	[CTL_DIAGNOSE] = {"diagnose", "device"},
};

static int read_number(long *ret, const struct ctl_option *o, const char *text, struct err *e)
{
	char *end;

	*ret = strtol(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end || *ret > o->max)
		return err_set(e, -EINVAL, "--%s %.60s: not a number, or more than %ld", o->name,
			       text, o->max);
	/* A box of nothing is a slip. */
	return o->kind == OPT_BOX && *ret == 0
		       ? err_set(e, -EINVAL, "--%s 0: nothing to do", o->name)
		       : 0;
}

static int add_ip(struct ctl_args *a, const char *text, struct err *e)
{
	if (a->n_ips == CTL_IPS_MAX)
		return err_set(e, -EINVAL, "--ip: more than %d addresses", CTL_IPS_MAX);
	a->ips[a->n_ips++] = text;
	return 0;
}

static int take_option(struct ctl_args *a, const struct ctl_option *o, const char *value,
		       struct err *e)
{
	void *field = (char *)a + o->offset;

	switch (o->kind) {
	case OPT_SWITCH:
		*(bool *)field = true;
		break;
	case OPT_WORD:
		*(const char **)field = value;
		break;
	case OPT_NUMBER:
	case OPT_BOX:
		return read_number(field, o, value, e);
	case OPT_IP:
		return add_ip(a, value, e);
	}
	return 0;
}

static int find_command(struct ctl_args *a, const char *word, struct err *e)
{
	const char *names[N_CTL_COMMANDS], *near;
	char all[192] = "";

	for (size_t i = 0; i < N_CTL_COMMANDS; i++) {
		names[i] = commands[i].name;
		if (strcmp(word, names[i]) == 0) {
			a->command = (enum ctl_command)i;
			return 0;
		}
	}
	near = suggest(word, strlen(word), names, N_CTL_COMMANDS);
	if (near)
		return err_set(e, -EINVAL, "%.60s is no command (did you mean %s?)", word, near);
	for (size_t i = 0; i < N_CTL_COMMANDS; i++)
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s", i ? ", " : "",
			 names[i]);
	return err_set(e, -EINVAL, "%.60s is no command; there are %s", word, all);
}

/* What is left once the options are out. */
static int take_words(struct ctl_args *a, char *words[], size_t n, struct err *e)
{
	const char *takes;
	int r;

	if (n == 0)
		return err_set(e, -EINVAL, "which command? --help lists them");
	r = find_command(a, words[0], e);
	if (r < 0)
		return r;
	takes = commands[a->command].takes;
	if (takes && n < 2 && a->command != CTL_DIAGNOSE) /* which is of all devices then */
		return err_set(e, -EINVAL, "%s: which %s?", words[0], takes);
	if (a->command == CTL_PCAP)
		a->file = words[1];
	else if (takes && n > 1)
		a->device = words[1];
	if (n > (takes ? 2 : 1))
		return err_set(e, -EINVAL, "%s: %.60s is too much", words[0], words[takes ? 2 : 1]);
	return 0;
}

/* What is no text cannot be said in an order, and must not be left out of it. */
static int check_words(const struct ctl_args *a, struct err *e)
{
	const struct {
		const char *name, *value;
	} words[] = {
		{"the device", a->device},     {"--netns", a->netns}, {"--pod", a->pod},
		{"--interface", a->interface}, {"--mac", a->mac},
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!utf8_is_name(words[i].value, SIZE_MAX))
			return err_set(e, -EINVAL, "%s is no text", words[i].name);
	for (size_t i = 0; i < a->n_ips; i++)
		if (!utf8_is_name(a->ips[i], SIZE_MAX))
			return err_set(e, -EINVAL, "--ip is no text");
	return 0;
}

static int check_diagnose(struct ctl_args *a, struct err *e)
{
	if ((a->replay || a->record) && (a->device || a->pod))
		return err_set(e, -EINVAL, "diagnose: a scenario is %s as a whole",
			       a->replay ? "replayed" : "recorded");
	if (a->replay && a->record)
		return err_set(e, -EINVAL, "diagnose: give --replay or --record, not both");
	if (a->write && !a->record)
		return err_set(e, -EINVAL, "diagnose: --write is where --record goes");
	if (a->output && strcmp(a->output, "json") != 0 && strcmp(a->output, "text") != 0)
		return err_set(e, -EINVAL, "diagnose: -o %.60s: neither json nor text", a->output);
	a->json |= a->output && strcmp(a->output, "json") == 0;
	return 0;
}

static int check_whole(struct ctl_args *a, const unsigned *seen, size_t n, struct err *e)
{
	for (size_t i = 0; i < n; i++)
		if (!(options[seen[i]].commands & BIT(a->command)))
			return err_set(e, -EINVAL, "--%s is no option of %s", options[seen[i]].name,
				       commands[a->command].name);
	if (a->command == CTL_ATTACH && !a->netns == !a->pod)
		return err_set(e, -EINVAL, "attach: give either --netns or --pod");
	if (a->command == CTL_SNIFF && a->netns && a->pod)
		return err_set(e, -EINVAL, "sniff: give --netns or --pod, not both");
	if (a->configmap && !config_map_name_is_valid(a->configmap))
		return err_set(e, -EINVAL, "--configmap %.60s: not [NAMESPACE/]NAME", a->configmap);
	if (a->command == CTL_DIAGNOSE)
		return check_diagnose(a, e);
	if (a->command == CTL_ATTACH || a->command == CTL_DETACH)
		return check_words(a, e);
	return 0;
}

/* getopt_long(3) has left it behind optind, or in optopt if it is a letter. */
static int unknown_option(const struct option *known, char *argv[], struct err *e)
{
	const char *names[ARRAY_SIZE(options) + OPT_OTHERS], *word = argv[optind - 1], *near;
	size_t n = 0;

	if (optopt > 0 && optopt < OPT_FIRST)
		return err_set(e, -EINVAL, "-%c is no option; --help lists them", optopt);
	for (; known[n].name; n++)
		names[n] = known[n].name;
	near = suggest(word + 2, strcspn(word + 2, "="), names, n);
	return err_set(e, -EINVAL,
		       near ? "%.60s is no option (did you mean --%s?)"
			    : "%.60s is no option; --help lists them",
		       word, near);
}

/* Which of the list a single letter stands for. */
static int short_option(const char *name)
{
	int i = 0;

	while (strcmp(options[i].name, name) != 0)
		i++;
	return OPT_FIRST + i;
}

int ctl_args_parse(struct ctl_args *ret, int argc, char *argv[], struct err *e)
{
	struct ctl_args a = {.socket = CTL_SOCKET,
			     .vlan = -1,
			     .mtu = -1,
			     .limit = -1,
			     .flows = 10,
			     .seconds = 10,
			     .packets = 1000000,
			     .bytes = 1000000000};
	struct option known[ARRAY_SIZE(options) + OPT_OTHERS];
	unsigned seen[CTL_IPS_MAX * 2];
	size_t n = 0;
	int option, r;

	list_options(known);
	optind = 0; /* begins anew, also after another command line */
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":hVo:", known, NULL)) != -1) {
		if (option == ':')
			return err_set(e, -EINVAL, "%.60s needs a value", argv[optind - 1]);
		if (option == '?')
			return unknown_option(known, argv, e);
		if (option == 'h' || option == 'V') {
			*ret = a;
			ret->command = option == 'h' ? CTL_HELP : CTL_VERSION;
			return 0;
		}
		if (option == 'o')
			option = short_option("output");
		if (n == ARRAY_SIZE(seen))
			return err_set(e, -EINVAL, "too many options");
		seen[n] = (unsigned)(option - OPT_FIRST);
		r = take_option(&a, &options[seen[n++]], optarg, e);
		if (r < 0)
			return r;
	}
	r = take_words(&a, argv + optind, (size_t)(argc - optind), e);
	if (r == 0)
		r = check_whole(&a, seen, n, e);
	if (r == 0)
		*ret = a;
	return r;
}

void ctl_args_help(FILE *f)
{
	fputs("rocectl - what rocelet does on this node\n\n"
	      "  rocectl pods                    which container has which device\n"
	      "  rocectl devices                 all devices, and why each is free, taken or not "
	      "offered\n"
	      "  rocectl explain DEVICE          the same of one\n"
	      "  rocectl events                  what happened [--pod [NS/]NAME] [--device DEVICE] "
	      "[--limit N]\n"
	      "  rocectl watch                   the same as it happens [--pod [NS/]NAME] [--device "
	      "DEVICE]\n"
	      "  rocectl qps                     queue pairs, whose they are and their traffic [--pod] "
	      "[--device]\n"
	      "                                  [--limit N] [--top ce|cnp|naks|retransmissions|rtt|"
	      "packets]\n"
	      "  rocectl doctor                  what is wrong, and what would help [--fix]\n"
	      "  rocectl ready                   is it ready, and if not, why; in a pod: is it the "
	      "pod's own\n"
	      "  rocectl suggest                 a configuration that suits this node, with reasons "
	      "[--configmap [NS/]NAME]\n"
	      "  rocectl support-bundle          what a stranger needs to see of this node, without "
	      "secrets, as FILE.tar.gz\n"
	      "                                  [-o FILE | -o -] [--config FILE] [--state-dir DIR]\n"
	      "  rocectl attach DEVICE           into a pod: --netns PATH | --pod [NS/]NAME\n"
	      "                                  [--interface net1] [--ip A/L]... [--mac M] [--vlan "
	      "N]\n"
	      "                                  [--mtu N] [--soft-roce]\n"
	      "  rocectl detach DEVICE           back into the host; [--force] takes it from a pod "
	      "that the kubelet gave it to\n"
	      "  rocectl pcap FILE               what a capture says of RoCE; - is stdin [--flows 10]\n"
	      "  rocectl sniff DEVICE            the same of what passes now: [--seconds 10] [--packets "
	      "1000000]\n"
	      "                                  [--bytes 1000000000] [--write FILE.pcap] [--netns "
	      "PATH |\n"
	      "                                  --pod [NS/]NAME] [--flows 10]; needs root\n"
	      "  rocectl diagnose [DEVICE]       what is wrong with RDMA here, and what to do [--pod "
	      "[NS/]NAME] [-o json];\n"
	      "                                  with --replay FILE, in a recorded scenario; --record "
	      "SECONDS\n"
	      "                                  [--write FILE.jsonl] records one\n\n"
	      "DEVICE is a bus name (0000:03:00.2), the name of a netdev or of an RDMA device.\n\n"
	      "  --socket PATH   of the daemon (" CTL_SOCKET ")\n"
	      "  --json          what the daemon answers, as it is; pcap, sniff: the same as a document\n"
	      "  --help, --version\n\n"
	      "exits with 0: done, nothing is wrong; 1: the daemon says no, doctor found something, a "
	      "capture could\nnot be read to its end, or the output not be written; 2: wrong command line; 3: no daemon;\n"
	      "4: diagnose warns; 5: diagnose finds something critical\n",
	      f);
}
