#include "ctl_args.h"

#include <getopt.h>
#include <stdint.h>
#include <stdlib.h>

#include "cleanup.h"
#include "suggest.h"
#include "utf8.h"

#define BIT(command) (1u << (command))
#define ANY	     (~0u)

enum {
	OPT_SOCKET = 256,
	OPT_JSON,
	OPT_NETNS,
	OPT_POD,
	OPT_INTERFACE,
	OPT_IP,
	OPT_MAC,
	OPT_VLAN,
	OPT_MTU,
	OPT_SOFT_ROCE,
	OPT_FORCE,
	OPT_FIX,
	OPT_DEVICE,
	OPT_LIMIT,
	OPT_FLOWS,
	OPT_SECONDS,
	OPT_PACKETS,
	OPT_BYTES,
	OPT_WRITE,
	OPT_TOP,
};

static const struct option options[] = {
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, 'V'},
	{"socket", required_argument, NULL, OPT_SOCKET},
	{"json", no_argument, NULL, OPT_JSON},
	{"netns", required_argument, NULL, OPT_NETNS},
	{"pod", required_argument, NULL, OPT_POD},
	{"interface", required_argument, NULL, OPT_INTERFACE},
	{"ip", required_argument, NULL, OPT_IP},
	{"mac", required_argument, NULL, OPT_MAC},
	{"vlan", required_argument, NULL, OPT_VLAN},
	{"mtu", required_argument, NULL, OPT_MTU},
	{"soft-roce", no_argument, NULL, OPT_SOFT_ROCE},
	{"force", no_argument, NULL, OPT_FORCE},
	{"fix", no_argument, NULL, OPT_FIX},
	{"device", required_argument, NULL, OPT_DEVICE},
	{"limit", required_argument, NULL, OPT_LIMIT},
	{"flows", required_argument, NULL, OPT_FLOWS},
	{"seconds", required_argument, NULL, OPT_SECONDS},
	{"packets", required_argument, NULL, OPT_PACKETS},
	{"bytes", required_argument, NULL, OPT_BYTES},
	{"write", required_argument, NULL, OPT_WRITE},
	{"top", required_argument, NULL, OPT_TOP},
	{0},
};

/* Which commands an option belongs to. */
static unsigned commands_of(int option)
{
	switch (option) {
	case OPT_INTERFACE:
	case OPT_IP:
	case OPT_MAC:
	case OPT_VLAN:
	case OPT_MTU:
	case OPT_SOFT_ROCE:
		return BIT(CTL_ATTACH);
	case OPT_NETNS:
		return BIT(CTL_ATTACH) | BIT(CTL_SNIFF);
	case OPT_POD:
		return BIT(CTL_ATTACH) | BIT(CTL_EVENTS) | BIT(CTL_QPS) | BIT(CTL_WATCH) |
		       BIT(CTL_SNIFF);
	case OPT_FLOWS:
		return BIT(CTL_PCAP) | BIT(CTL_SNIFF);
	case OPT_SECONDS:
	case OPT_PACKETS:
	case OPT_BYTES:
	case OPT_WRITE:
		return BIT(CTL_SNIFF);
	case OPT_FORCE:
		return BIT(CTL_DETACH);
	case OPT_FIX:
		return BIT(CTL_DOCTOR);
	case OPT_DEVICE:
		return BIT(CTL_EVENTS) | BIT(CTL_QPS) | BIT(CTL_WATCH);
	case OPT_LIMIT:
		return BIT(CTL_EVENTS) | BIT(CTL_QPS);
	case OPT_TOP:
		return BIT(CTL_QPS);
	}
	return ANY;
}

static const struct {
	const char *name;
	const char *takes; /* what its word is; NULL: it has none */
} commands[N_CTL_COMMANDS] = {
	[CTL_HELP] = {"help", NULL},	       [CTL_VERSION] = {"version", NULL},
	[CTL_PODS] = {"pods", NULL},	       [CTL_DEVICES] = {"devices", NULL},
	[CTL_ATTACH] = {"attach", "device"},   [CTL_DETACH] = {"detach", "device"},
	[CTL_EXPLAIN] = {"explain", "device"}, [CTL_DOCTOR] = {"doctor", NULL},
	[CTL_EVENTS] = {"events", NULL},       [CTL_PCAP] = {"pcap", "file"},
	[CTL_SNIFF] = {"sniff", "device"},     [CTL_QPS] = {"qps", NULL},
	[CTL_WATCH] = {"watch", NULL},
};

static int read_upto(long *ret, long max, const char *name, const char *text, struct err *e)
{
	char *end;

	*ret = strtol(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end || *ret > max)
		return err_set(e, -EINVAL, "--%s %.60s: not a number, or more than %ld", name, text,
			       max);
	return 0;
}

static int read_number(long *ret, const char *name, const char *text, struct err *e)
{
	return read_upto(ret, 1000000, name, text, e);
}

/* A box of nothing is a slip. */
static int read_box(long *ret, long max, const char *name, const char *text, struct err *e)
{
	int r = read_upto(ret, max, name, text, e);

	return r == 0 && *ret == 0 ? err_set(e, -EINVAL, "--%s 0: nothing to do", name) : r;
}

static int add_ip(struct ctl_args *a, const char *text, struct err *e)
{
	if (a->n_ips == CTL_IPS_MAX)
		return err_set(e, -EINVAL, "--ip: more than %d addresses", CTL_IPS_MAX);
	a->ips[a->n_ips++] = text;
	return 0;
}

static int take_option(struct ctl_args *a, int option, const char *value, struct err *e)
{
	switch (option) {
	case OPT_SOCKET:
		a->socket = value;
		break;
	case OPT_JSON:
		a->json = true;
		break;
	case OPT_NETNS:
		a->netns = value;
		break;
	case OPT_POD:
		a->pod = value;
		break;
	case OPT_INTERFACE:
		a->interface = value;
		break;
	case OPT_IP:
		return add_ip(a, value, e);
	case OPT_MAC:
		a->mac = value;
		break;
	case OPT_VLAN:
		return read_number(&a->vlan, "vlan", value, e);
	case OPT_MTU:
		return read_number(&a->mtu, "mtu", value, e);
	case OPT_SOFT_ROCE:
		a->soft_roce = true;
		break;
	case OPT_FORCE:
		a->force = true;
		break;
	case OPT_FIX:
		a->fix = true;
		break;
	case OPT_DEVICE:
		a->device = value;
		break;
	case OPT_LIMIT:
		return read_number(&a->limit, "limit", value, e);
	case OPT_FLOWS:
		return read_upto(&a->flows, 65536, "flows", value, e);
	case OPT_SECONDS:
		return read_box(&a->seconds, 86400, "seconds", value, e);
	case OPT_PACKETS:
		return read_box(&a->packets, CTL_BOX_MAX, "packets", value, e);
	case OPT_BYTES:
		return read_box(&a->bytes, CTL_BOX_MAX, "bytes", value, e);
	case OPT_WRITE:
		a->write = value;
		break;
	case OPT_TOP:
		a->top = value;
		break;
	}
	return 0;
}

static const char *option_name(int option)
{
	for (size_t i = 0; options[i].name; i++)
		if (options[i].val == option)
			return options[i].name;
	return "";
}

static int find_command(struct ctl_args *a, const char *word, struct err *e)
{
	const char *names[N_CTL_COMMANDS], *near;
	char all[160] = "";

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
	if (takes && n < 2)
		return err_set(e, -EINVAL, "%s: which %s?", words[0], takes);
	if (a->command == CTL_PCAP)
		a->file = words[1];
	else if (takes)
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

static int check_whole(const struct ctl_args *a, const unsigned *seen, size_t n, struct err *e)
{
	for (size_t i = 0; i < n; i++)
		if (!(commands_of((int)seen[i]) & BIT(a->command)))
			return err_set(e, -EINVAL, "--%s is no option of %s",
				       option_name((int)seen[i]), commands[a->command].name);
	if (a->command == CTL_ATTACH && !a->netns == !a->pod)
		return err_set(e, -EINVAL, "attach: give either --netns or --pod");
	if (a->command == CTL_SNIFF && a->netns && a->pod)
		return err_set(e, -EINVAL, "sniff: give --netns or --pod, not both");
	if (a->command == CTL_ATTACH || a->command == CTL_DETACH)
		return check_words(a, e);
	return 0;
}

/* getopt_long(3) has left it behind optind, or in optopt if it is a letter. */
static int unknown_option(char *argv[], struct err *e)
{
	const char *names[ARRAY_SIZE(options)], *word = argv[optind - 1], *near;
	size_t n = 0;

	if (optopt > 0 && optopt < OPT_SOCKET)
		return err_set(e, -EINVAL, "-%c is no option; --help lists them", optopt);
	for (; options[n].name; n++)
		names[n] = options[n].name;
	near = suggest(word + 2, strcspn(word + 2, "="), names, n);
	return err_set(e, -EINVAL,
		       near ? "%.60s is no option (did you mean --%s?)"
			    : "%.60s is no option; --help lists them",
		       word, near);
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
	unsigned seen[CTL_IPS_MAX * 2];
	size_t n = 0;
	int option, r;

	optind = 0; /* begins anew, also after another command line */
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":hV", options, NULL)) != -1) {
		if (option == ':')
			return err_set(e, -EINVAL, "%.60s needs a value", argv[optind - 1]);
		if (option == '?')
			return unknown_option(argv, e);
		if (option == 'h' || option == 'V') {
			*ret = a;
			ret->command = option == 'h' ? CTL_HELP : CTL_VERSION;
			return 0;
		}
		if (n == ARRAY_SIZE(seen))
			return err_set(e, -EINVAL, "too many options");
		seen[n++] = (unsigned)option;
		r = take_option(&a, option, optarg, e);
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
	      "                                  --pod [NS/]NAME] [--flows 10]; needs root\n\n"
	      "DEVICE is a bus name (0000:03:00.2), the name of a netdev or of an RDMA device.\n\n"
	      "  --socket PATH   of the daemon (" CTL_SOCKET ")\n"
	      "  --json          what the daemon answers, as it is; pcap, sniff: the same as a document\n"
	      "  --help, --version\n\n"
	      "exits with 0: done, nothing is wrong; 1: the daemon says no, doctor found something, a "
	      "capture could\nnot be read to its end, or the output not be written; 2: wrong command line; 3: no daemon\n",
	      f);
}
