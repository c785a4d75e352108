// SPDX-License-Identifier: Apache-2.0
#include "ctl_commands.h"

#include <string.h>

#include "cleanup.h"
#include "client.h"
#include "ctl_args.h"
#include "listings.h"
#include "packet_row.h"
#include "top_view.h"

#define BIT(command) (1u << (command))
#define ANY	     (~0u)
#define CHOSEN	     (BIT(CTL_PODS) | BIT(CTL_DEVICES) | BIT(CTL_PORTS) | BIT(CTL_EVENTS) | BIT(CTL_QPS))
#define LISTINGS     (CHOSEN | BIT(CTL_RESOURCES))
#define DOCUMENTS                                                                                  \
	(BIT(CTL_STATUS) | BIT(CTL_EXPLAIN) | BIT(CTL_DIAGNOSE) | BIT(CTL_DOCTOR) |                \
	 BIT(CTL_ATTACH) | BIT(CTL_DETACH) | BIT(CTL_PCAP) | BIT(CTL_SNIFF) | BIT(CTL_WATCH) |     \
	 BIT(CTL_READY) | BIT(CTL_SUGGEST) | BIT(CTL_VERSION))
#define OF_POD		     (CHOSEN | BIT(CTL_WATCH) | BIT(CTL_DIAGNOSE) | BIT(CTL_ATTACH) | BIT(CTL_SNIFF))
#define FORMATS_OF_LISTINGS  "table|wide|json|yaml|name"
#define FORMATS_OF_DOCUMENTS "text|json|yaml"
/* Commands that query the daemon. */
#define ASKS		     (~(BIT(CTL_PCAP) | BIT(CTL_COMPLETION) | BIT(CTL_HELP) | BIT(CTL_VERSION)))

#define SECONDS_MAX 86400
#define BOX_MAX	    1000000000000 /* packets or bytes to sniff */

#define FIELD(name) offsetof(struct ctl_args, name)

static const struct ctl_flag flags[] = {
	{"output", 'o', TYPE_FORMAT, "FORMAT", FIELD(format), 0, LISTINGS | DOCUMENTS,
	 "how it is shown"},
	{"output", 'o', TYPE_FILE, "FILE", FIELD(output), 0, BIT(CTL_SUPPORT_BUNDLE),
	 "the archive; - is stdout"},
	{"no-headers", 0, TYPE_NONE, NULL, FIELD(no_headers), 0, LISTINGS | BIT(CTL_PCAP),
	 "no line of headings"},
	{"columns", 0, TYPE_COLUMNS, "COLUMN,...", FIELD(columns), 0, LISTINGS,
	 "only these columns, in this order; HEAD:PATH is a value of the document (-o json)"},
	{"sort-by", 0, TYPE_COLUMN, "COLUMN", FIELD(sort_by), 0, LISTINGS,
	 "by this column, numbers as numbers; -COLUMN: the largest first"},
	{"sort-by", 0, TYPE_CHOICE, TOP_SORTS, FIELD(top_sort), 0, BIT(CTL_TOP),
	 "what it begins with; the key s changes it"},
	{"field-selector", 0, TYPE_SELECTOR, "COLUMN=TEXT", FIELD(selector), 0, LISTINGS,
	 "only rows with that; also COLUMN!=TEXT, several with commas"},
	{"watch", 'w', TYPE_NONE, NULL, FIELD(watch), 0, LISTINGS,
	 "and, until Ctrl-C, rows that are new or have changed, each second"},
	{"namespace", 'n', TYPE_NAMESPACE, "NAMESPACE", FIELD(namespace), 0, OF_POD,
	 "of this Kubernetes namespace: of the pod, or all of its pods"},
	{"pod", 0, TYPE_POD, "[NS/]NAME", FIELD(pod), 0, OF_POD, "of this pod"},
	{"device", 0, TYPE_DEVICE, "DEVICE", FIELD(device), 0, CHOSEN | BIT(CTL_WATCH),
	 "of this device"},
	{"limit", 0, TYPE_NUMBER, "N", FIELD(limit), 1000000,
	 BIT(CTL_EVENTS) | BIT(CTL_QPS) | BIT(CTL_PCAP),
	 "so many at most: the newest events, the first queue pairs or packets"},
	{"top", 0, TYPE_CHOICE, "ce|cnp|naks|retransmissions|rtt|packets", FIELD(top), 0,
	 BIT(CTL_QPS), "those with most of it first"},
	{"replay", 0, TYPE_FILE, "FILE", FIELD(replay), 0, BIT(CTL_DIAGNOSE),
	 "in a recorded scenario, not on this node; - is stdin"},
	{"record", 0, TYPE_COUNT, "SECONDS", FIELD(record), SECONDS_MAX, BIT(CTL_DIAGNOSE),
	 "record such a scenario"},
	{"write", 0, TYPE_FILE, "FILE", FIELD(write), 0, BIT(CTL_DIAGNOSE) | BIT(CTL_SNIFF),
	 "where what is recorded goes"},
	{"trace", 0, TYPE_FILE, "FILE", FIELD(trace), 0, BIT(CTL_DIAGNOSE),
	 "with --record: also write the recording as a trace for ui.perfetto.dev"},
	{"undecided", 0, TYPE_NONE, NULL, FIELD(undecided), 0, BIT(CTL_DIAGNOSE),
	 "also list the causes that cannot be decided here, with the reason"},
	{"severity", 0, TYPE_CHOICE, "warning|critical", FIELD(severity), 0, BIT(CTL_NODE_PROBLEM),
	 "the least severity of a verdict that counts, critical unless given"},
	{"fix", 0, TYPE_NONE, NULL, FIELD(fix), 0, BIT(CTL_DOCTOR),
	 "set right what can be, and tell what is left"},
	{"configmap", 0, TYPE_TEXT, "[NS/]NAME", FIELD(configmap), 0, BIT(CTL_SUGGEST),
	 "as a ConfigMap"},
	{"merge", 0, TYPE_FILE, "DIR", FIELD(merge), 0, BIT(CTL_SUGGEST),
	 "merge the suggestions of nodes, DIR/NODE.json, into one file with groups"},
	{"config", 0, TYPE_FILE, "FILE", FIELD(config), 0, BIT(CTL_SUPPORT_BUNDLE),
	 "the configuration file, /etc/rocelet/config.json unless given"},
	{"state-dir", 0, TYPE_FILE, "DIR", FIELD(state_dir), 0, BIT(CTL_SUPPORT_BUNDLE),
	 "the state folder, the daemon's unless given"},
	{"netns", 0, TYPE_FILE, "PATH", FIELD(netns), 0, BIT(CTL_ATTACH) | BIT(CTL_SNIFF),
	 "in this network namespace, as /run/netns/NAME"},
	{"interface", 0, TYPE_TEXT, "NAME", FIELD(interface), 0, BIT(CTL_ATTACH),
	 "its name there, net1 unless given"},
	{"ip", 0, TYPE_IP, "ADDRESS/LENGTH", FIELD(ips), 0, BIT(CTL_ATTACH),
	 "an address; up to eight times"},
	{"mac", 0, TYPE_TEXT, "MAC", FIELD(mac), 0, BIT(CTL_ATTACH), "its MAC address"},
	{"vlan", 0, TYPE_NUMBER, "N", FIELD(vlan), 1000000, BIT(CTL_ATTACH), "its VLAN"},
	{"mtu", 0, TYPE_NUMBER, "N", FIELD(mtu), 1000000, BIT(CTL_ATTACH), "its MTU"},
	{"soft-roce", 0, TYPE_NONE, NULL, FIELD(soft_roce), 0, BIT(CTL_ATTACH),
	 "with an rxe device on it"},
	{"force", 0, TYPE_NONE, NULL, FIELD(force), 0, BIT(CTL_DETACH),
	 "also one that the kubelet gave to a pod"},
	{"flows", 0, TYPE_NUMBER, "N", FIELD(flows), 65536, BIT(CTL_PCAP) | BIT(CTL_SNIFF),
	 "so many of those with most trouble, 10 unless given"},
	{"seconds", 0, TYPE_COUNT, "N", FIELD(seconds), SECONDS_MAX, BIT(CTL_SNIFF),
	 "until so many have passed, 10 unless given"},
	{"packets", 0, TYPE_NONE, NULL, FIELD(packet_list), 0, BIT(CTL_PCAP),
	 "each RoCE packet in a line, not their sum; with -o json an object in a line"},
	{"only", 0, TYPE_CHOICE, PACKET_SIGNS, FIELD(only), 0, BIT(CTL_PCAP),
	 "of those, CNPs, packets marked CE, answers that are no ACK, wrong ICRCs"},
	{"flow", 0, TYPE_TEXT, "ADDRESS,ADDRESS,QPN", FIELD(flow), 0, BIT(CTL_PCAP),
	 "of those, the ones from or to these addresses and to this queue pair; any of the three"},
	{"packets", 0, TYPE_COUNT, "N", FIELD(packets), BOX_MAX, BIT(CTL_SNIFF),
	 "or so many have come, 1000000 unless given"},
	{"bytes", 0, TYPE_COUNT, "N", FIELD(bytes), BOX_MAX, BIT(CTL_SNIFF),
	 "or so many bytes, 1000000000 unless given"},
	{"json", 0, TYPE_NONE, NULL, FIELD(json), 0, LISTINGS | DOCUMENTS, "the same as -o json"},
	{"timeout", 0, TYPE_COUNT, "SECONDS", FIELD(timeout), SECONDS_MAX, ASKS,
	 "wait so long for an answer of the daemon: 5 s unless given, 45 s for requests that change something"},
	{"socket", 0, TYPE_FILE, "PATH", FIELD(socket), 0, ANY,
	 "of the daemon, " CLIENT_SOCKET " unless given"},
	{"help", 'h', TYPE_NONE, NULL, FIELD(help), 0, ANY, "of the command, or of all"},
	{"version", 'V', TYPE_NONE, NULL, FIELD(version), 0, ANY, "which rocectl this is"},
};

#define NO_WORD	   .type = TYPE_NONE
#define THE_DEVICE .type = TYPE_DEVICE, .word = "DEVICE"
#define LISTS(l)   .listing = &(l), .formats = FORMATS_OF_LISTINGS
#define A_DOCUMENT .formats = FORMATS_OF_DOCUMENTS

static const struct ctl_command_row rows[N_CTL_COMMANDS] = {
	[CTL_STATUS] = {.name = "status",
			.aliases = "st",
			NO_WORD,
			.brief = "the state of rocelet and of the network, on one screen",
			.text = "Exits with 1 when something is wrong with either.",
			A_DOCUMENT},
	[CTL_PODS] = {.name = "pods",
		      .aliases = "pod|po",
		      NO_WORD,
		      .brief = "which container has which device",
		      LISTS(listing_pods)},
	[CTL_RESOURCES] =
		{.name = "resources",
		 .aliases = "resource|res",
		 NO_WORD,
		 .brief =
			 "what the kubelet is offered: how many, healthy, given, free, and whether it knows",
		 LISTS(listing_resources)},
	[CTL_DEVICES] = {.name = "devices",
			 .aliases = "device|dev",
			 NO_WORD,
			 .brief = "all devices, and why each is free, taken or not offered",
			 LISTS(listing_devices)},
	[CTL_PORTS] = {.name = "ports",
		       .aliases = "port",
		       NO_WORD,
		       .brief = "RDMA ports: link, whose they are, and what diagnosis says of each",
		       LISTS(listing_ports)},
	[CTL_TOP] =
		{.name = "top",
		 NO_WORD,
		 .brief =
			 "ports live: rates against the link, pause, CE, CNP, loss, verdicts, the last minutes",
		 .text = "On a terminal until q is pressed; ? shows the keys. Elsewhere one text, and the end."},
	[CTL_EXPLAIN] = {.name = "explain",
			 THE_DEVICE,
			 .brief = "who has DEVICE, or why no pod gets it, in a sentence",
			 A_DOCUMENT},
	[CTL_EVENTS] = {.name = "events",
			.aliases = "event|ev",
			NO_WORD,
			.brief = "what happened, oldest first",
			LISTS(listing_events)},
	[CTL_WATCH] = {.name = "watch",
		       NO_WORD,
		       .brief = "follow events as they happen",
		       .text = "Until Ctrl-C or the daemon's end; with -o json one object a line.",
		       .formats = "text|json"},
	[CTL_QPS] = {.name = "qps",
		     .aliases = "qp",
		     NO_WORD,
		     .brief = "queue pairs, whose they are and the traffic of their flows",
		     LISTS(listing_qps)},
	[CTL_DIAGNOSE] =
		{.name = "diagnose",
		 .aliases = "diag|diagnosis",
		 THE_DEVICE,
		 .optional = true,
		 .brief = "what is wrong with RDMA here, and what to do",
		 .text = "Each verdict has what it rests on, whose pods it concerns, what to do, and what would show that it is something else. "
			 "Exits with 4 when the worst is a warning, with 5 when something is critical.",
		 A_DOCUMENT},
	[CTL_DOCTOR] =
		{.name = "doctor",
		 NO_WORD,
		 .brief = "what is wrong with rocelet's own work, and what would help",
		 .text = "Exits with 1 when something is. What is wrong with the network is in `rocectl diagnose`.",
		 A_DOCUMENT},
	[CTL_READY] = {.name = "ready",
		       NO_WORD,
		       .brief = "is it ready, and if not, why; in a pod: is it the pod's own",
		       .text = "Exits with 1 when it is not.",
		       A_DOCUMENT},
	[CTL_ALIVE] =
		{.name = "alive",
		 NO_WORD,
		 .brief = "fails only if the daemon hangs; for liveness probes",
		 .text = "Exits with 1 only when the daemon accepts a connection and does not answer "
			 "within 20 s. A socket that no process serves is no reason for a restart: "
			 "that exits with 0, and says so on stderr."},
	[CTL_NODE_PROBLEM] =
		{.name = "node-problem",
		 .type = TYPE_CHOICE,
		 .word = "rdma|rocelet",
		 .brief = "a check for node-problem-detector: of RDMA's verdicts, or of rocelet",
		 .text = "Prints one line of at most 80 bytes. Exits with 0 if there is no problem, with 1 if there is one, and with 2 if it is unknown; "
			 "waits 3 s for the daemon. A daemon that does not answer is unknown to rdma, and the problem to rocelet."},
	[CTL_SUGGEST] = {.name = "suggest",
			 NO_WORD,
			 .brief = "a configuration that suits this node, with reasons",
			 .formats = "json|yaml"},
	[CTL_SUPPORT_BUNDLE] =
		{.name = "support-bundle",
		 NO_WORD,
		 .brief =
			 "what a helper without a login needs to know of this node, without secrets, in one archive",
		 .text = "A new file rocelet-support-DATE-TIME.tar.gz in the current folder, or what -o names."},
	[CTL_ATTACH] = {.name = "attach",
			THE_DEVICE,
			.brief = "put it into a pod or a network namespace",
			.text = "Give --pod or --netns. What is not given stays as it is.",
			A_DOCUMENT},
	[CTL_DETACH] = {.name = "detach",
			THE_DEVICE,
			.brief = "take it back into the host, and clean it",
			A_DOCUMENT},
	[CTL_PCAP] =
		{.name = "pcap",
		 .type = TYPE_FILE,
		 .word = "FILE",
		 .brief = "what a capture says of RoCE; - is stdin",
		 .text = "Reads pcap and pcapng and needs no daemon. --only and --flow list packets, as --packets.",
		 A_DOCUMENT},
	[CTL_SNIFF] = {.name = "sniff",
		       THE_DEVICE,
		       .brief = "what live traffic says of RoCE, in the next seconds; needs root",
		       A_DOCUMENT},
	[CTL_COMPLETION] =
		{.name = "completion",
		 .type = TYPE_CHOICE,
		 .word = "bash|zsh|fish",
		 .brief = "what makes a shell complete commands, flags, devices and pods",
		 .text = "bash: `source <(rocectl completion bash)`. zsh: `rocectl completion zsh >\"${fpath[1]}/_rocectl\"`. "
			 "fish: `rocectl completion fish >~/.config/fish/completions/rocectl.fish`. The Debian package has them in place."},
	[CTL_HELP] = {.name = "help",
		      .type = TYPE_COMMAND,
		      .word = "COMMAND",
		      .optional = true,
		      .brief = "of a command, or of all"},
	[CTL_VERSION] = {.name = "version", NO_WORD, .brief = "which rocectl this is", A_DOCUMENT},
};

const struct ctl_command_row *ctl_command_row(enum ctl_command command)
{
	return &rows[command];
}

int ctl_command_find(const char *name)
{
	for (int i = 0; i < N_CTL_COMMANDS; i++)
		if (strcmp(rows[i].name, name) == 0 ||
		    (rows[i].aliases && ctl_choice_has(rows[i].aliases, name)))
			return i;
	return -1;
}

const struct ctl_flag *ctl_flag(size_t i)
{
	return i < ARRAY_SIZE(flags) ? &flags[i] : NULL;
}

bool ctl_flag_is_of(const struct ctl_flag *flag, enum ctl_command command)
{
	return (flag->commands & BIT(command)) != 0;
}

const struct ctl_flag *ctl_flag_find(enum ctl_command command, const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		if (ctl_flag_is_of(&flags[i], command) && strlen(flags[i].name) == len &&
		    memcmp(flags[i].name, name, len) == 0)
			return &flags[i];
	return NULL;
}

bool ctl_choice_next(const char **choices, char *ret, size_t size)
{
	size_t len = strcspn(*choices, "|");

	if (len == 0)
		return false;
	snprintf(ret, size, "%.*s", (int)len, *choices);
	*choices += len + ((*choices)[len] == '|');
	return true;
}

bool ctl_choice_has(const char *choices, const char *word)
{
	char choice[32];

	while (ctl_choice_next(&choices, choice, sizeof(choice)))
		if (strcmp(choice, word) == 0)
			return true;
	return false;
}
