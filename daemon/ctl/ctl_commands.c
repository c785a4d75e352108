// SPDX-License-Identifier: Apache-2.0
#include "ctl_commands.h"

#include <string.h>

#include "cleanup.h"
#include "client.h"
#include "ctl_args.h"
#include "listings.h"
#include "packet_row.h"
#include "search.h"
#include "top_view.h"

#define BIT(command) (1u << (command))
#define ANY	     (~0u)
#define CHOSEN	     (BIT(CTL_PODS) | BIT(CTL_DEVICES) | BIT(CTL_PORTS) | BIT(CTL_EVENTS) | BIT(CTL_QPS))
#define LISTINGS     (CHOSEN | BIT(CTL_RESOURCES))
#define DOCUMENTS                                                                                  \
	(BIT(CTL_STATUS) | BIT(CTL_EXPLAIN) | BIT(CTL_DIAGNOSE) | BIT(CTL_DOCTOR) |                \
	 BIT(CTL_ATTACH) | BIT(CTL_DETACH) | BIT(CTL_PCAP) | BIT(CTL_SNIFF) | BIT(CTL_WATCH) |     \
	 BIT(CTL_READY) | BIT(CTL_SUGGEST) | BIT(CTL_VERSION))
#define OF_POD		     (OF_DEVICE | BIT(CTL_ATTACH) | BIT(CTL_SNIFF))
#define OF_DEVICE	     (CHOSEN | BIT(CTL_WATCH) | BIT(CTL_DIAGNOSE) | BIT(CTL_EXPLAIN))
#define FORMATS_WITHOUT_NAME "table|wide|json|yaml" /* of a list whose rows have no names */
#define FORMATS_OF_LISTINGS  FORMATS_WITHOUT_NAME "|name"
#define FORMATS_OF_DOCUMENTS "text|json|yaml"
/* Commands that query the daemon. */
#define QUERIES		     (~(BIT(CTL_PCAP) | BIT(CTL_COMPLETION) | BIT(CTL_HELP) | BIT(CTL_VERSION)))

#define SECONDS_MAX 86400
#define BOX_MAX	    1000000000000 /* packets or bytes to sniff */

#define FIELD(name) offsetof(struct ctl_args, name)

static const struct ctl_flag flags[] = {
	{"output", 'o', TYPE_FORMAT, "FORMAT", FIELD(format), 0, LISTINGS | DOCUMENTS,
	 "output format"},
	{"output", 'o', TYPE_FILE, "FILE", FIELD(output), 0, BIT(CTL_SUPPORT_BUNDLE),
	 "write the archive to FILE; - is stdout"},
	{"no-headers", 0, TYPE_NONE, NULL, FIELD(no_headers), 0, LISTINGS | BIT(CTL_PCAP),
	 "omit the line of headings"},
	{"columns", 0, TYPE_COLUMNS, "COLUMN,...", FIELD(columns), 0, LISTINGS,
	 "print only these columns, in this order; HEAD:PATH adds a value of the document (-o json)"},
	{"sort-by", 0, TYPE_COLUMN, "COLUMN", FIELD(sort_by), 0, LISTINGS,
	 "sort by this column, numbers by value; -COLUMN: largest first"},
	{"sort-by", 0, TYPE_CHOICE, TOP_SORTS, FIELD(top_sort), 0, BIT(CTL_TOP),
	 "initial order; the key s changes it"},
	{"field-selector", 0, TYPE_SELECTOR, "COLUMN=TEXT", FIELD(selector), 0, LISTINGS,
	 "print only rows that match; also COLUMN!=TEXT; separate several with commas"},
	{"watch", 'w', TYPE_NONE, NULL, FIELD(watch), 0, LISTINGS,
	 "check every second until Ctrl-C, and print rows that are new or have changed"},
	{"namespace", 'n', TYPE_NAMESPACE, "NAMESPACE", FIELD(namespace), 0, OF_POD,
	 "Kubernetes namespace of the pod; without --pod: select all its pods"},
	{"pod", 0, TYPE_POD, "[NS/]NAME", FIELD(pod), 0, OF_POD, "select this pod"},
	{"device", 0, TYPE_DEVICE, "DEVICE", FIELD(device), 0, OF_DEVICE, "select this device"},
	{"limit", 0, TYPE_NUMBER, "N", FIELD(limit), 1000000,
	 BIT(CTL_EVENTS) | BIT(CTL_QPS) | BIT(CTL_PCAP),
	 "print at most N: the newest events, the first queue pairs or packets"},
	{"since", 0, TYPE_TEXT, "TIME", FIELD(since), 0, BIT(CTL_EVENTS) | BIT(CTL_DIAGNOSE),
	 "select what was since 10m or 1d ago, 02:10 (UTC) or 2026-11-30T02:10:00Z; with diagnose also what has ended"},
	{"until", 0, TYPE_TEXT, "TIME", FIELD(until), 0, BIT(CTL_EVENTS) | BIT(CTL_DIAGNOSE),
	 "select what began until then; a time of day is the first one after --since"},
	{"top", 0, TYPE_CHOICE, "ce|cnp|naks|retransmissions|rtt|packets", FIELD(top), 0,
	 BIT(CTL_QPS), "sort by this value, largest first"},
	{"replay", 0, TYPE_FILE, "FILE", FIELD(replay), 0, BIT(CTL_DIAGNOSE),
	 "diagnose a recorded scenario instead of this node; - is stdin"},
	{"record", 0, TYPE_COUNT, "SECONDS", FIELD(record), SECONDS_MAX, BIT(CTL_DIAGNOSE),
	 "record a scenario for SECONDS"},
	{"write", 0, TYPE_FILE, "FILE", FIELD(write), 0, BIT(CTL_DIAGNOSE) | BIT(CTL_SNIFF),
	 "write the recording to FILE"},
	{"trace", 0, TYPE_FILE, "FILE", FIELD(trace), 0, BIT(CTL_DIAGNOSE),
	 "with --record: also write a trace for ui.perfetto.dev to FILE"},
	{"undecided", 0, TYPE_NONE, NULL, FIELD(undecided), 0, BIT(CTL_DIAGNOSE),
	 "also list the causes that cannot be decided here, with the reason"},
	{"ended", 0, TYPE_NONE, NULL, FIELD(ended), 0, BIT(CTL_DIAGNOSE),
	 "list the verdicts that ended in the last hour"},
	{"severity", 0, TYPE_CHOICE, "warning|critical", FIELD(severity), 0, BIT(CTL_NODE_PROBLEM),
	 "lowest severity that counts as a problem; default critical"},
	{"fix", 0, TYPE_NONE, NULL, FIELD(fix), 0, BIT(CTL_DOCTOR),
	 "repair what can be repaired, and report the rest"},
	{"configmap", 0, TYPE_TEXT, "[NS/]NAME", FIELD(configmap), 0, BIT(CTL_SUGGEST),
	 "print it as a ConfigMap"},
	{"merge", 0, TYPE_FILE, "DIR", FIELD(merge), 0, BIT(CTL_SUGGEST),
	 "merge the suggestions of nodes, DIR/NODE.json, into one file with groups"},
	{"config", 0, TYPE_FILE, "FILE", FIELD(config), 0, BIT(CTL_SUPPORT_BUNDLE),
	 "configuration file; default /etc/rocelet/config.json"},
	{"state-dir", 0, TYPE_FILE, "DIR", FIELD(state_dir), 0, BIT(CTL_SUPPORT_BUNDLE),
	 "state folder; default: the daemon's"},
	{"netns", 0, TYPE_FILE, "PATH", FIELD(netns), 0, BIT(CTL_ATTACH) | BIT(CTL_SNIFF),
	 "network namespace, for example /run/netns/NAME"},
	{"interface", 0, TYPE_TEXT, "NAME", FIELD(interface), 0, BIT(CTL_ATTACH),
	 "name of the interface in the namespace; default net1"},
	{"ip", 0, TYPE_IP, "ADDRESS/LENGTH", FIELD(ips), 0, BIT(CTL_ATTACH),
	 "add this address; up to eight times"},
	{"mac", 0, TYPE_TEXT, "MAC", FIELD(mac), 0, BIT(CTL_ATTACH), "set this MAC address"},
	{"vlan", 0, TYPE_NUMBER, "N", FIELD(vlan), 1000000, BIT(CTL_ATTACH), "set this VLAN"},
	{"mtu", 0, TYPE_NUMBER, "N", FIELD(mtu), 1000000, BIT(CTL_ATTACH), "set this MTU"},
	{"soft-roce", 0, TYPE_NONE, NULL, FIELD(soft_roce), 0, BIT(CTL_ATTACH),
	 "also create a soft-RoCE (rxe) device on it"},
	{"force", 0, TYPE_NONE, NULL, FIELD(force), 0, BIT(CTL_DETACH),
	 "also detach a device that the kubelet has allocated to a pod"},
	{"flows", 0, TYPE_NUMBER, "N", FIELD(flows), 65536, BIT(CTL_PCAP) | BIT(CTL_SNIFF),
	 "print the N flows with the most problems; default 10"},
	{"seconds", 0, TYPE_COUNT, "N", FIELD(seconds), SECONDS_MAX, BIT(CTL_SNIFF),
	 "stop after N seconds; default 10"},
	{"packets", 0, TYPE_NONE, NULL, FIELD(packet_list), 0, BIT(CTL_PCAP),
	 "list the RoCE packets instead of a summary, one per line; with -o json one object per line"},
	{"only", 0, TYPE_CHOICE, PACKET_SIGNS, FIELD(only), 0, BIT(CTL_PCAP),
	 "list only CNPs, packets marked CE, NAKs (answers other than ACK) or packets with a wrong ICRC"},
	{"flow", 0, TYPE_TEXT, "ADDRESS,ADDRESS,QPN", FIELD(flow), 0, BIT(CTL_PCAP),
	 "list only packets from or to these addresses and to this queue pair; each of the three is optional"},
	{"packets", 0, TYPE_COUNT, "N", FIELD(packets), BOX_MAX, BIT(CTL_SNIFF),
	 "stop after N packets; default 1000000"},
	{"bytes", 0, TYPE_COUNT, "N", FIELD(bytes), BOX_MAX, BIT(CTL_SNIFF),
	 "stop after N bytes; default 1000000000"},
	{"json", 0, TYPE_NONE, NULL, FIELD(json), 0, LISTINGS | DOCUMENTS, "same as -o json"},
	{"timeout", 0, TYPE_COUNT, "SECONDS", FIELD(timeout), SECONDS_MAX, QUERIES,
	 "how long to wait for the daemon's answer; default 5, 45 for requests that change something, 20 for alive"},
	{"socket", 0, TYPE_FILE, "PATH", FIELD(socket), 0, ANY,
	 "socket of the daemon; default " CLIENT_SOCKET},
	{"help", 'h', TYPE_NONE, NULL, FIELD(help), 0, ANY,
	 "print the help of the command, or an overview"},
	{"version", 'V', TYPE_NONE, NULL, FIELD(version), 0, ANY, "print the version of rocectl"},
};

#define NO_WORD	   .type = TYPE_NONE
#define THE_DEVICE .type = TYPE_DEVICE, .word = "DEVICE"
#define LISTS(l)   .listing = &(l), .formats = FORMATS_OF_LISTINGS
#define A_DOCUMENT .formats = FORMATS_OF_DOCUMENTS

static const struct ctl_command_row rows[N_CTL_COMMANDS] = {
	[CTL_STATUS] =
		{.name = "status",
		 .aliases = "st",
		 NO_WORD,
		 .brief = "print the state of rocelet and of the network on one screen",
		 .text = "Exits with 1 if either has a problem. -o wide adds what the verdicts mean.",
		 .formats = "text|wide|json|yaml"},
	[CTL_PODS] = {.name = "pods",
		      .aliases = "pod|po",
		      .type = TYPE_POD,
		      .word = "POD",
		      .optional = true,
		      .brief = "list containers, their devices and their health",
		      LISTS(listing_pods)},
	[CTL_RESOURCES] =
		{.name = "resources",
		 .aliases = "resource|res|pool|pools",
		 NO_WORD,
		 .brief =
			 "list resources: healthy, allocated and free devices, and the registration with the kubelet",
		 LISTS(listing_resources)},
	[CTL_DEVICES] = {.name = "devices",
			 .aliases = "device|dev",
			 .type = TYPE_DEVICE,
			 .word = "DEVICE|POD",
			 .optional = true,
			 .brief = "list devices, and why each is free, allocated or not offered",
			 LISTS(listing_devices)},
	[CTL_PORTS] = {.name = "ports",
		       .aliases = "port",
		       .type = TYPE_DEVICE,
		       .word = "DEVICE|POD",
		       .optional = true,
		       .brief = "list RDMA ports: link, owner, health",
		       LISTS(listing_ports)},
	[CTL_TOP] =
		{.name = "top",
		 NO_WORD,
		 .brief =
			 "watch ports live: share of the link in use, pause, CE, CNP, loss, verdicts, the last minutes",
		 .text = "On a terminal it runs until q is pressed; ? shows the keys. Elsewhere it prints one screen and exits."},
	[CTL_EXPLAIN] =
		{.name = "explain",
		 .type = TYPE_DEVICE,
		 .word = "DEVICE|POD|CAUSE",
		 .brief =
			 "print which pod has a device or why no pod gets it, or what the cause of a verdict means",
		 .text = "A device is named by its bus address, netdev, RDMA device, port (mlx5_0/1) or GUID, a pod as NAMESPACE/NAME, or by its name, uid or address if no other pod has that.",
		 A_DOCUMENT},
	[CTL_EVENTS] = {.name = "events",
			.aliases = "event|ev",
			.type = TYPE_DEVICE,
			.word = "DEVICE|POD",
			.optional = true,
			.brief = "list events, oldest first",
			.listing = &listing_events,
			.formats = FORMATS_WITHOUT_NAME},
	[CTL_WATCH] =
		{.name = "watch",
		 NO_WORD,
		 .brief = "follow events as they happen",
		 .text = "Runs until Ctrl-C or until the daemon stops; -o json prints one object per line.",
		 .formats = "text|json"},
	[CTL_QPS] = {.name = "qps",
		     .aliases = "qp",
		     .type = TYPE_DEVICE,
		     .word = "DEVICE|POD",
		     .optional = true,
		     .brief = "list queue pairs, their owners and the traffic of their flows",
		     LISTS(listing_qps)},
	[CTL_DIAGNOSE] =
		{.name = "diagnose",
		 .aliases = "diag|diagnosis",
		 .type = TYPE_DEVICE,
		 .word = "DEVICE|POD",
		 .optional = true,
		 .brief = "print what is wrong with RDMA on this node, and what to do",
		 .text = "Each verdict comes with its evidence, the pods that it affects, advice, and what would rule it out. "
			 "Also lists other problems of pods' devices (health, attachment, registration) and, if a pod is given, its last events. "
			 "Exits with 4 if the worst is a warning, with 5 if it is critical; --since and --until also with 1 if nothing is known to have been wrong, but part of that time is not known.",
		 A_DOCUMENT},
	[CTL_DOCTOR] =
		{.name = "doctor",
		 NO_WORD,
		 .brief =
			 "print problems of rocelet itself, then those of this host, and what helps",
		 .text = "Exits with 1 if rocelet itself has one; problems of the host do not change the status. For problems of the network use `rocectl diagnose`.",
		 A_DOCUMENT},
	[CTL_READY] =
		{.name = "ready",
		 NO_WORD,
		 .brief =
			 "check whether rocelet is ready, and print why not; in a pod, another pod's rocelet counts as not ready",
		 .text = "Exits with 1 if it is not.",
		 A_DOCUMENT},
	[CTL_ALIVE] =
		{.name = "alive",
		 NO_WORD,
		 .brief = "fail only if the daemon hangs; for liveness probes",
		 .text = "Exits with 1 only if the daemon accepts a connection and does not answer "
			 "within 20 s. A socket that no process serves is no reason for a restart: "
			 "it exits with 0, and reports this on stderr."},
	[CTL_NODE_PROBLEM] =
		{.name = "node-problem",
		 .type = TYPE_CHOICE,
		 .word = "rdma|rocelet",
		 .brief = "check for node-problem-detector: verdicts on RDMA, or rocelet itself",
		 .text = "Prints one line of at most 80 bytes. Exits with 0 if there is no problem, with 1 if there is one, and with 2 if it is unknown; "
			 "waits 3 s for the daemon. If the daemon does not answer, `rdma` is unknown, and `rocelet` has a problem."},
	[CTL_SUGGEST] = {.name = "suggest",
			 NO_WORD,
			 .brief = "print a configuration that suits this node, with reasons",
			 .formats = "json|yaml"},
	[CTL_SUPPORT_BUNDLE] =
		{.name = "support-bundle",
		 NO_WORD,
		 .brief =
			 "collect what remote support needs to know about this node, without secrets, in one archive",
		 .text = "Writes a new file rocelet-support-DATE-TIME.tar.gz in the current folder, or the file that -o names."},
	[CTL_ATTACH] =
		{.name = "attach",
		 THE_DEVICE,
		 .brief = "move a device into a pod or a network namespace",
		 .text = "Give --pod or --netns. Settings that are not given stay as they are.",
		 A_DOCUMENT},
	[CTL_DETACH] = {.name = "detach",
			THE_DEVICE,
			.brief = "return a device to the host, and clean it",
			A_DOCUMENT},
	[CTL_PCAP] =
		{.name = "pcap",
		 .type = TYPE_FILE,
		 .word = "FILE",
		 .brief = "summarize the RoCE packets of a capture; - is stdin",
		 .text = "Reads pcap and pcapng, and needs no daemon. --only and --flow list packets, like --packets.",
		 A_DOCUMENT},
	[CTL_SNIFF] =
		{.name = "sniff",
		 THE_DEVICE,
		 .brief = "capture for some seconds, and summarize the RoCE packets; needs root",
		 A_DOCUMENT},
	[CTL_COMPLETION] =
		{.name = "completion",
		 .type = TYPE_CHOICE,
		 .word = "bash|zsh|fish",
		 .brief =
			 "print a script that lets a shell complete commands, flags, devices and pods",
		 .text = "bash: `source <(rocectl completion bash)`. zsh: `rocectl completion zsh >\"${fpath[1]}/_rocectl\"`. "
			 "fish: `rocectl completion fish >~/.config/fish/completions/rocectl.fish`. The Debian package installs all three."},
	[CTL_HELP] = {.name = "help",
		      .type = TYPE_COMMAND,
		      .word = "COMMAND",
		      .optional = true,
		      .brief = "print the help of a command, or an overview"},
	[CTL_VERSION] = {.name = "version",
			 NO_WORD,
			 .brief = "print the version of rocectl",
			 A_DOCUMENT},
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
	return find_first(flags, ARRAY_SIZE(flags), i,
			  ctl_flag_is_of(&flags[i], command) && strlen(flags[i].name) == len &&
				  memcmp(flags[i].name, name, len) == 0);
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
